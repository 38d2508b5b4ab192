"""What the app shows and opens: only what is in the given folders, without a path, in the reader's language."""

from __future__ import annotations

import html
import json
import os
import re
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import DataError

testclient = pytest.importorskip("starlette.testclient", reason="needs starlette (extra app)")
from glasshouse.app import server  # noqa: E402 - it needs the extra
from glasshouse.app.drafts import Draft, study_of  # noqa: E402
from glasshouse.app.guard import Session  # noqa: E402
from glasshouse.app.workspace import AppWorkspace  # noqa: E402
from tests.conftest import Glasshouse  # noqa: E402

HOST = "127.0.0.1:8000"


class Reader:
    """Somebody who has entered the app."""

    def __init__(self, folder: Path) -> None:
        self.session = Session()
        app = server.application([folder], hosts=(HOST,), session=self.session)
        self.client = testclient.TestClient(app, base_url=f"http://{HOST}", follow_redirects=False)
        self.client.get("/enter", params={"token": self.session.launch})

    def get(self, address: str) -> Any:
        return self.client.get(address)

    def post(self, address: str, files: Any = None, **entries: Any) -> Any:
        data = {"csrf": self.session.form_token} | entries
        headers = {"origin": f"http://{HOST}"}
        return self.client.post(address, data=data, files=files, headers=headers)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "people.csv").write_text("age,city\n" + "41,Recife\n" * 30, encoding="utf-8")
    (tmp_path / "secret.csv").write_text("pin\nzyzzyva\n", encoding="utf-8")
    return folder


@pytest.fixture
def reader(folder: Path) -> Reader:
    return Reader(folder)


def test_the_first_page_lists_what_is_there_by_names_that_tell_no_path(
    reader: Reader, folder: Path
) -> None:
    home = reader.get("/")
    assert home.status_code == 200
    assert "people.csv" in home.text
    assert str(folder) not in home.text
    assert str(folder.parent) not in home.text


def test_what_the_app_writes_is_for_its_owner_only(reader: Reader, folder: Path) -> None:
    home = folder / "glasshouse-app"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "key").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "address",
    [
        "/file/../secret.csv",
        "/file/%2e%2e%2fsecret.csv",
        "/file/..%2f..%2fetc%2fpasswd",
        "/run/%2e%2e",
        "/run/%2e%2e/report.html",
        "/draft/..%2f..%2fkey",
        "/job/..%2f..%2fkey",
        "/look/../app.py",
        "/static/../server.py",
        "/file/00000000000000000000",
    ],
)
def test_no_address_leads_out_of_the_folders(reader: Reader, address: str) -> None:
    answer = reader.get(address)
    assert answer.status_code in (404, 422)
    assert "zyzzyva" not in answer.text
    assert "root:" not in answer.text


def test_a_link_out_of_the_folders_is_not_followed(reader: Reader, folder: Path) -> None:
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "away").symlink_to(folder.parent, target_is_directory=True)
    workspace = AppWorkspace([folder])
    assert [entry.name for entry in workspace.files()] == ["people.csv"]
    for path in (folder / "link.csv", folder.parent / "secret.csv"):
        answer = reader.get(f"/file/{workspace.identifier(path)}")
        assert answer.status_code == 422
        assert "zyzzyva" not in answer.text


def test_a_file_that_became_a_link_is_refused_when_it_is_opened(folder: Path) -> None:
    workspace = AppWorkspace([folder])
    (entry,) = workspace.files()
    entry.path.unlink()
    entry.path.symlink_to(folder.parent / "secret.csv")
    with pytest.raises(DataError, match=r"people\.csv is not there any more"):
        workspace.entry(entry.identifier)


def test_addresses_stay_when_the_app_is_started_again(folder: Path) -> None:
    before, after = (AppWorkspace([folder]).files()[0].identifier for _ in range(2))
    assert before == after


def test_a_plan_cannot_name_files_outside_of_the_folders(reader: Reader, folder: Path) -> None:
    plan = f'command = "assess"\ndatasets = [{{ path = "{folder.parent / "secret.csv"}" }}]\n'
    plan += '[adversary]\nquasi_identifiers = ["pin"]\n'
    answer = reader.post("/totals", files={"file": ("plan.toml", plan.encode())})
    assert answer.status_code == 422
    workspace = AppWorkspace([folder])
    with pytest.raises(DataError, match="not in the folders"):
        workspace.check_inside([folder.parent / "secret.csv"])


@pytest.mark.parametrize(
    "report",
    [
        '{"pages": [1]}',
        '{"pages": 3}',
        '{"pages": "x", "ruling": "y"}',
        '{"pages": {"en": {"title": 4}}}',
        '{"pages": {"en": {"title": "T", "ruling": "x"}}}',
        "[" * 100_000,
        "{",
    ],
)
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_foreign_or_damaged_report_takes_down_no_page(
    reader: Reader, folder: Path, report: str, is_ours: bool
) -> None:
    run = folder / "theirs"
    run.mkdir()
    (run / "report.json").write_text(report)
    (run / "report.html").touch()
    if is_ours:
        (run / "manifest.json").write_text("[" * 100_000)
    home = reader.get("/")
    assert home.status_code == 200
    assert "people.csv" in home.text
    is_told = is_ours and '"T"' not in report
    assert ("cannot be read" in home.text) == is_told
    identifier = AppWorkspace([folder]).identifier(run)
    for screen in ("", "/explore", "/people", "/what-if", "/export", "/release", "/groups"):
        assert reader.get(f"/run/{identifier}{screen}").status_code == 422, screen
    for address in ("/compare", "/threat"):
        assert reader.get(address).status_code == 200


def test_work_under_way_is_not_offered_and_uploads_are_told_from_originals(
    reader: Reader, folder: Path
) -> None:
    partial = folder / "glasshouse-app" / "runs" / "people-protect.partial" / "versions" / "alike"
    partial.mkdir(parents=True)
    for name in ("report.json", "manifest.json", "2-00000003.arrow"):
        (partial / name).write_text("{}")
    (partial.parents[1] / "2-00000003.arrow").touch()
    reader.post("/upload", files={"file": ("people.csv", b"a\n1\n")})
    home = reader.get("/").text
    assert "partial" not in home
    assert ".arrow" not in home
    assert home.count(">people.csv</a>") == 2
    assert home.count("a copy in the app") == 1


def test_files_are_found_by_a_part_of_their_names(reader: Reader, folder: Path) -> None:
    for number in range(40):
        (folder / f"população {number}.csv").touch()
    home = reader.get("/").text
    assert home.count('href="/file/') == 30
    assert "11 further files" in home
    assert "0 B" in home
    home = reader.get("/?find=POPULACAO 39").text
    assert home.count('href="/file/') == 1
    assert "No file has “x”" in reader.get("/?find=x").text


@pytest.mark.parametrize("name", ["", "runs", "files"])
def test_a_folder_that_somebody_else_laid_out_is_refused(tmp_path: Path, name: str) -> None:
    given, target = tmp_path / "given", tmp_path / "target"
    target.mkdir(mode=0o755)
    (given / "glasshouse-app").mkdir(parents=True)
    place = given / "glasshouse-app" / name
    if not name:
        place.rmdir()
    place.symlink_to(target, target_is_directory=True)
    with pytest.raises(DataError, match="is a link, or is not yours"):
        AppWorkspace([given])
    assert stat.S_IMODE(target.stat().st_mode) == 0o755


def test_a_release_that_is_a_link_is_not_handed_out(reader: Reader, folder: Path) -> None:
    run = folder / "run"
    run.mkdir()
    (run / "report.json").write_text('{"pages": {"en": {"title": "T"}}}')
    (run / "manifest.json").write_text('{"release": "release.csv"}')
    (run / "release.csv").symlink_to(folder.parent / "secret.csv")
    answer = reader.get(f"/run/{AppWorkspace([folder]).identifier(run)}/release")
    assert answer.status_code == 422
    assert "zyzzyva" not in answer.text


def test_a_choice_that_cannot_be_is_refused_where_it_was_made(reader: Reader, folder: Path) -> None:
    runs = []
    for name, command in (("a", "assess"), ("b", "threat")):
        run = folder / name
        run.mkdir()
        (run / "report.json").write_text('{"pages": {"en": {"title": "T"}}}')
        (run / "manifest.json").write_text(json.dumps({"command": command}))
        runs.append(AppWorkspace([folder]).identifier(run))
    alone = reader.post("/compare", run=runs[:1])
    assert alone.status_code == 422
    assert "Choose two runs or more" in alone.text
    assert f'value="{runs[0]}" checked' in alone.text
    unlike = reader.post("/compare", run=runs)
    assert (
        "Only runs of the same command can be compared; these are of assess, threat." in unlike.text
    )
    assert unlike.text.count(" checked") == 2


def test_an_error_has_the_way_back(reader: Reader, folder: Path) -> None:
    file = AppWorkspace([folder]).files()[0].identifier
    before = f"http://{HOST}/draft/0/roles?a=b"
    answer = reader.client.get("/run/0/explore", headers={"referer": before})
    assert 'href="/draft/0/roles?a=b"' in answer.text
    for away in ("http://evil.example/x", f"http://{HOST}//evil.example", "x"):
        assert "evil" not in reader.client.get("/run/0", headers={"referer": away}).text
    draft = reader.post(f"/file/{file}/draft").headers["location"].removesuffix("/roles")
    assert f'href="{draft}/adversary"' in reader.get(f"{draft}/nothing").text, "the steps are there"
    (folder / "people.csv").unlink()
    assert "people.csv is not there any more" in reader.get(f"{draft}/adversary").text


def test_what_is_removed_is_gone_from_the_disk(reader: Reader, folder: Path) -> None:
    place = folder / "glasshouse-app"
    reader.post("/upload", files={"file": ("copy.csv", b"age\n1\n" * 40)})
    workspace = AppWorkspace([folder])
    upload = workspace.identifier(place / "files" / "copy.csv")
    theirs = workspace.identifier(folder / "people.csv")
    draft = reader.post(f"/file/{upload}/draft").headers["location"].split("/")[2]
    run = place / "runs" / "old"
    run.mkdir()
    (run / "report.json").write_text('{"pages": {"en": {"title": "T"}}}')
    (run / "manifest.json").write_text("{}")
    things = {
        f"/keep/run/{workspace.identifier(run)}": run,
        f"/keep/draft/{draft}": place / "drafts" / f"{draft}.json",
        f"/keep/file/{upload}": place / "files" / "copy.csv",
    }
    for address in things:
        assert reader.post(address, name="Mine <b>", note="For the minister").status_code == 303
    home = reader.get("/").text
    assert home.count("Mine &lt;b&gt;") == home.count("For the minister") == 3
    for address, path in things.items():
        assert "gone from the disk" in reader.get(address).text
        assert reader.post(address).status_code == 303
        assert path.exists(), "without the tick nothing is removed"
        assert reader.post(address, remove="yes").headers["location"] == "/"
        assert not path.exists()
        assert reader.get(address).status_code == 422
    assert json.loads((place / "notes.json").read_text()) == {}
    assert reader.post(f"/keep/file/{theirs}", remove="yes").status_code == 422
    assert (folder / "people.csv").exists()
    for address in ("/keep/key/0", "/keep/draft/..%2fkey", "/keep/file/0", "/keep/job/0"):
        assert reader.post(address, remove="yes").status_code in (404, 422)


def test_a_file_of_very_many_columns_is_refused_in_a_line(reader: Reader, folder: Path) -> None:
    wide = ",".join(f"c{i}" for i in range(5_000))
    (folder / "wide.csv").write_text(f"{wide}\n{wide}\n")
    (file,) = (e.identifier for e in AppWorkspace([folder]).files() if e.name == "wide.csv")
    answer = reader.get(f"/file/{file}")
    assert answer.status_code == 422
    assert "5,000 columns" in answer.text


def test_an_upload_is_kept_under_its_bare_name_and_never_replaces_another(
    reader: Reader, folder: Path
) -> None:
    for name, status in (("../../../up.csv", 303), ("up.csv", 422), ("..", 422)):
        answer = reader.post("/upload", files={"file": (name, b"a\n1\n")})
        assert answer.status_code == status, name
    place = folder / "glasshouse-app" / "files" / "up.csv"
    assert place.read_bytes() == b"a\n1\n"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert list((folder / "glasshouse-app" / "uploads").iterdir()) == []


def test_a_file_that_cannot_be_read_is_one_line_without_a_path(
    reader: Reader, folder: Path
) -> None:
    (folder / "broken.parquet").write_bytes(b"PAR1 nothing PAR1")
    (identifier,) = (e.identifier for e in AppWorkspace([folder]).files() if "broken" in e.name)
    answer = reader.get(f"/file/{identifier}")
    assert answer.status_code == 422
    (line,) = re.findall(r'<p role="alert">([^<]*)</p>', answer.text)
    assert "broken.parquet" in line
    assert str(folder) not in answer.text


def test_language_and_theme_change_in_place(reader: Reader) -> None:
    answer = reader.post("/settings", language="pt-BR", back="/compare")
    assert (answer.status_code, answer.headers["location"]) == (303, "/compare")
    assert '<html lang="pt-BR">' in reader.get("/compare").text
    reader.post("/settings", theme="dark")
    page = reader.get("/").text
    assert "/look/dark.css" in page
    sheet = reader.get("/look/dark.css").text
    assert "prefers-color-scheme" not in sheet
    assert "color-scheme: dark" in sheet


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example", "/\\evil.example", ""])
def test_nobody_is_sent_elsewhere(reader: Reader, back: str) -> None:
    assert reader.post("/settings", language="en", back=back).headers["location"] == "/"


def test_every_page_is_there_and_holds_no_inline_code(reader: Reader) -> None:
    for address in ("/", "/compare", "/threat", "/totals", "/app.js", "/look/auto.css", "/none"):
        answer = reader.get(address)
        assert answer.status_code == (404 if address == "/none" else 200), address
        assert not re.search(r"\sstyle=|\son\w+=|<script>", answer.text)
        assert "http" not in answer.text.replace("http-equiv", "") or address == "/app.js"


def test_roles_that_cannot_be_are_said_to_be_wrong(reader: Reader, folder: Path) -> None:
    file = AppWorkspace([folder]).files()[0].identifier
    draft = reader.post(f"/file/{file}/draft").headers["location"]
    answer = reader.post(draft, **{"role-0": "out", "role-1": "nonsense"})
    assert answer.status_code == 200
    assert 'role="alert"' in answer.text
    assert reader.post(draft, **{"role-0": "known"}).status_code == 303


def test_a_draft_becomes_the_command_that_anybody_could_type(reader: Reader, folder: Path) -> None:
    file = AppWorkspace([folder]).files()[0].identifier
    draft = reader.post(f"/file/{file}/draft").headers["location"].removesuffix("/roles")
    reader.post(f"{draft}/roles", **{"role-0": "known", "role-1": "sensitive"})
    page = reader.post(f"{draft}/adversary", known=["0"], tries="3", policy="internal").text
    command = "glasshouse assess people.csv -q age -s city --tries 3 --policy internal --out run"
    assert command in page


CLINIC = "patient,birth_date,sex,postcode\n" + "".join(
    f"p{i},19{30 + i % 60}-0{1 + i % 9}-1{i % 9},{'FM'[i % 2]},1000-{100 + i % 40}\n"
    for i in range(90)
)


def test_a_code_of_people_is_said_to_tell_them_apart(reader: Reader, folder: Path) -> None:
    (folder / "clinic.csv").write_text(CLINIC.replace("patient,", "patient_id,"), encoding="utf-8")
    file = next(e for e in AppWorkspace([folder]).files() if e.name == "clinic.csv").identifier
    page = reader.get(f"/file/{file}").text
    assert page.count("choose “Dropped” if it will not be published") == 1


def test_a_persona_says_what_the_file_has_of_what_she_knows_and_what_it_lacks(
    reader: Reader, folder: Path, glasshouse: Glasshouse
) -> None:
    roles = {"role-0": "identifier", "role-1": "known", "role-2": "known", "role-3": "known"}
    address, question = drafted(reader, folder, CLINIC, **roles)
    page = reader.get(address).text
    card = html.unescape(page.partition("<h2>A neighbour</h2>")[2].partition("</li>")[0])
    assert "In this file: birth date (to half a year, by the age), sex, postcode." in card
    assert "Not in this file: household, nationality." in card
    page = reader.post(address, persona="neighbour").text
    assert 'id="found-of"' in page
    assert "Not in this file: household, nationality." in page.partition('id="found-of"')[2]
    study = question()
    assert study.adversary.quasi_identifiers == ("birth_date", "sex", "postcode")
    assert study.about == {"birth_date": "±183d"}
    said = glasshouse(
        "assess", folder / "unsure.csv", "--adversary", "eu/neighbour", "--id", "patient"
    )
    assert "household, nationality" in said.out
    page = reader.post(address, persona="insurer", **{"about-0": "±183d"}).text
    assert question().about == {}, "who knows the date itself knows it exactly"
    reader.post("/settings", language="pt-BR", back="/")
    assert "Não há neste arquivo" in reader.get(address).text


def test_people_with_several_records_and_guesses_that_are_close_are_asked_for_in_plain_words(
    reader: Reader, folder: Path
) -> None:
    rows = "".join(f"p{i % 20},{'FM'[i % 2]},{1000 + 10 * i}\n" for i in range(60))
    (folder / "visits.csv").write_text(f"patient,sex,income\n{rows}")
    file = next(e for e in AppWorkspace([folder]).files() if e.name == "visits.csv").identifier
    draft = reader.post(f"/file/{file}/draft").headers["location"].removesuffix("/roles")
    roles = {"role-0": "identifier", "role-1": "known", "role-2": "sensitive"}
    reader.post(f"{draft}/roles", **roles)
    page = reader.post(f"{draft}/adversary", known="0", **{"within-0": "10%"}).text
    assert "How close a guess of income need be" in page
    assert "-q sex -s income --id patient --within income=10%" in page
    page = reader.post(f"{draft}/adversary", known="0", **{"within-0": "near"}).text
    assert "“near” is neither a share such as 10% nor an amount such as 5." in page
    page = reader.post(f"{draft}/adversary", known="0", several="yes", records="0", tries="3").text
    assert "patient says whose a record is" in page
    assert "who knows sex of all records of a person?" in page
    assert "-q sex -s income --person patient --knows all --out run" in page
    workspace = AppWorkspace([folder])
    content = json.loads((workspace.drafts() / f"{draft.rpartition('/')[2]}.json").read_text())
    question = study_of(workspace, Draft(**{**content, "known": ("sex",), "years": ()}))
    assert (question.person, question.knows) == (("patient",), "all")
    asked = {"known": "0", "several": "yes", "records": "2", "unlinked": "yes"}
    page = reader.post(f"{draft}/adversary", **asked).text
    assert "--person patient --knows 2 --unlinked --out run" in page
    assert "must be the same in all records" not in page
    content = json.loads((workspace.drafts() / f"{draft.rpartition('/')[2]}.json").read_text())
    question = study_of(workspace, Draft(**{**content, "known": ("sex",), "years": ()}))
    assert question.unlinked


def drafted(
    reader: Reader, folder: Path, content: str, **roles: str
) -> tuple[str, Callable[[], Any]]:
    """Begin a draft of a file with these roles; return its address, and how to have the study that it stands for."""
    (folder / "unsure.csv").write_text(content, encoding="utf-8")
    file = next(e for e in AppWorkspace([folder]).files() if e.name == "unsure.csv").identifier
    draft = reader.post(f"/file/{file}/draft").headers["location"].removesuffix("/roles")
    reader.post(f"{draft}/roles", **roles)

    def question() -> Any:
        workspace = AppWorkspace([folder])
        content = json.loads((workspace.drafts() / f"{draft.rpartition('/')[2]}.json").read_text())
        known = content["known"] and tuple(content["known"])
        return study_of(workspace, Draft(**{**content, "known": known, "years": ()}))

    return f"{draft}/adversary", question


UNSURE = "birth,age,sex,income\n" + "".join(
    f"{13 + i % 15}/0{1 + i % 9}/1980,{20 + i % 9},{'FM'[i % 2]},{1000 + 10 * i}\n"
    for i in range(60)
)
KNOWN_OF = {"role-0": "known", "role-1": "known", "role-2": "known", "role-3": "sensitive"}


def test_what_she_does_not_know_exactly_is_asked_for_and_written_into_the_study(
    reader: Reader, folder: Path
) -> None:
    address, question = drafted(reader, folder, UNSURE, **KNOWN_OF)
    page = reader.get(address).text
    assert "How well she knows age" in page
    assert 'id="tries"' in page
    unsure = {"about-1": "+-2", "about-0": "±7d", "likely-2": "50%", "within-0": "5"}
    page = reader.post(address, known=["0", "1", "2"], tries="3", **unsure).text
    command = "--date birth=dd/mm/yyyy --within income=5 --likely sex=50% --about 'birth=±7d' --about age=+-2 --out run"
    assert html.escape(command) in page.replace("&#39;", "&#x27;")
    assert 'id="tries"' not in page  # she has one guess then
    assert '<details id="unsure" open>' in page
    study = question()
    assert study.about == {"birth": "±7d", "age": "+-2"}
    assert study.likely == {"sex": "50%"}
    assert (study.within, study.adversary.gain.tries) == ({"income": "5"}, None)
    assert study.datasets[0].date == {"birth": "dd/mm/yyyy"}
    page = reader.post(
        address, known=["2"], **unsure
    ).text  # of what she does not know nothing is asked
    assert "--about" not in page
    assert question().about == {}
    reader.post("/settings", language="pt-BR", back="/")
    assert "Quão bem ele conhece age" in reader.post(address, known=["1"], **unsure).text


@pytest.mark.parametrize(
    ("name", "written", "line"),
    [
        ("about-1", "two", "“two” is none of ±2 (or +-2), ±7d for dates, and 90%."),
        ("about-1", "150%", "“150%” is none of"),
        ("about-1", "@/etc/passwd", "“@/etc/passwd” is none of"),
        ("likely-2", "often", "“often” is not a chance from 0% to 100%, such as 50%."),
        ("within-0", "near", "“near” is neither a share such as 10% nor an amount such as 5."),
    ],
)
def test_what_cannot_be_is_said_at_the_field(
    reader: Reader, folder: Path, name: str, written: str, line: str
) -> None:
    address, _ = drafted(reader, folder, UNSURE, **KNOWN_OF)
    asked = {name: written}
    answer = reader.post(address, known=["0", "1", "2"], go="yes", **asked)
    assert answer.status_code == 200  # nothing was begun
    ((place, said),) = re.findall(
        r'<input id="([^"]*)"[^>]*aria-invalid="true" aria-describedby="trouble">.*?role="alert" id="trouble">([^<]*)<',
        answer.text,
        re.DOTALL,
    )
    assert place == name
    assert line in said
    assert answer.text.count('role="alert"') == 1


def test_what_a_missing_value_is_can_be_chosen(reader: Reader, folder: Path) -> None:
    address, question = drafted(reader, folder, UNSURE, **KNOWN_OF)
    assert "matches every value" in reader.get(address).text
    page = reader.post(address, known=["1", "2"], missing_as="matches").text
    assert "--missing-as matches" in page
    assert question().missing_as == "matches"
    page = reader.post(address, known=["1", "2"], missing_as="matches", tries="3", go="yes").text
    assert "goes with one guess by exact knowledge" in page
    reader.post(address, known=["1", "2"], missing_as="anything")
    assert question().missing_as == "value"


def test_nothing_unsure_is_asked_where_people_are_counted(reader: Reader, folder: Path) -> None:
    address, question = drafted(reader, folder, UNSURE, **KNOWN_OF | {"role-3": "identifier"})
    page = reader.post(address, known=["0", "1"], several="yes", **{"about-1": "±2"}).text
    assert "How well she knows" not in page
    assert "--about" not in page
    assert question().about == {}


def test_a_look_at_the_first_records_does_not_pass_for_the_whole_file(
    reader: Reader, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasshouse.runs.reading.FIRST_RECORDS", 29)
    file = AppWorkspace([folder]).files()[0].identifier
    page = reader.get(f"/file/{file}").text
    assert "From its first 29 records; the file has more." in page
    assert "29 and more" in page
    monkeypatch.undo()
    os.utime(folder / "people.csv", (1, 1))  # which makes it another file
    assert "the file has more" not in reader.get(f"/file/{file}").text


def test_dates_are_one_fact_and_further_years_join_by_who_a_person_is(
    reader: Reader, folder: Path
) -> None:
    for year in ("2018", "2019"):
        rows = "".join(f"p{i},{1 + i % 28},{1 + i % 12},F\n" for i in range(40))
        (folder / f"{year}.csv").write_text(f"pupil_id,day_of_birth,month_of_birth,sex\n{rows}")
    first, second = (
        next(e.identifier for e in AppWorkspace([folder]).files() if e.name == name)
        for name in ("2018.csv", "2019.csv")
    )
    draft = reader.post(f"/file/{first}/draft").headers["location"].removesuffix("/roles")
    roles = {"role-0": "identifier", "role-1": "known", "role-2": "known", "role-3": "known"}
    reader.post(f"{draft}/roles", year=second, **roles)
    page = reader.post(f"{draft}/adversary", known=["0", "1", "2"], together="yes").text
    command = (
        "assess 2018.csv 2019.csv -q sex --fact birth=day_of_birth,month_of_birth --id pupil_id"
    )
    assert command in page
    assert "3 sets of these columns" in page
    reader.post(f"{draft}/roles", year=second, **roles | {"role-0": "out"})
    page = reader.get(f"{draft}/adversary").text
    assert "assess 2018.csv 2019.csv -q" in page
    assert "--each --out run" in page


def test_what_a_job_said_is_told_without_paths(reader: Reader, folder: Path) -> None:
    job = folder / "glasshouse-app" / "jobs" / "123abc"
    job.mkdir()
    content = {
        "identifier": "123abc",
        "title": "T",
        "arguments": ["assess"],
        "created": time.time(),
    }
    content |= {"out": str(folder / "none"), "pid": 1, "shown_command": ""}
    (job / "job.json").write_text(json.dumps(content))
    (job / "stderr").write_text(f"glasshouse: {folder}/people.csv: no column x; name another\n")
    page = reader.get("/job/123abc").text
    assert "people.csv: no column x; name another" in page
    assert str(folder) not in page
    assert reader.get("/job/123abc/events").text == "data: failed   over\n\n"


def test_decisions_have_the_signs_of_the_report() -> None:
    from glasshouse.report.page import SIGNS

    assert {decision.value: sign for decision, sign in SIGNS.items()} == server.SIGNS


def test_a_port_that_is_taken_is_one_line() -> None:
    with server.listener(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        with pytest.raises(DataError, match="is taken"):
            server.listener(listening.getsockname()[1])


def test_without_the_extra_one_line_says_what_to_install(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "glasshouse.app.server")
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    outcome = glasshouse("app", "--no-browser")
    assert outcome.code == 2
    assert "pip install 'glasshouse[app]'" in outcome.error
