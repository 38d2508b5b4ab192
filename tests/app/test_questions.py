"""Questions that one form each asks, and the ledger: declared fields, one line where something is wrong, and a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import StudyError
from glasshouse.language import text
from tests.app.live import HOST, browsing

pytest.importorskip("starlette.testclient", reason="needs starlette (extra app)")
from glasshouse.app import questions
from glasshouse.app.guard import Form
from glasshouse.app.server import see

ONE = "sex,ill,count\nf,flu,12\nf,cold,3\nm,flu,9\nm,cold,1\n"
TOWNS = "town,count\nnorth,120\nsouth,115\n"
PEOPLE = "age,sex,ill\n" + "".join(
    f"{30 + i % 9},{'fm'[i % 2]},{'ab'[i % 3 % 2]}\n" for i in range(60)
)
FORMS = ("tables", "synthetic", "threat", "totals")


class Asker:
    """Somebody who has entered the app."""

    def __init__(self, client: Any, token: str, folder: Path) -> None:
        self.client, self._token, self._folder = client, token, folder
        self.workspace = client.app._app._app.state.workspace

    def get(self, address: str, **entries: Any) -> Any:
        return self.client.get(address, params=entries)

    def post(self, address: str, files: Any = None, **entries: Any) -> Any:
        return self.client.post(
            address,
            data={"csrf": self._token, **entries},
            files=files,
            headers={"origin": f"http://{HOST}"},
            follow_redirects=False,
        )

    def file(self, name: str, content: str = "") -> str:
        path = self._folder / name
        if content:
            path.write_text(content, encoding="utf-8")
        self.workspace.entries(fresh=True)
        return str(self.workspace.identifier(path))


@pytest.fixture
def asker(tmp_path: Path) -> Iterator[Asker]:
    with browsing(tmp_path) as (client, _, session):
        yield Asker(client, session.form_token, tmp_path)


def said(answer: Any) -> str:
    """Return what a page says is wrong."""
    (line,) = re.findall(r'role="alert">([^<]*)<', answer.text)
    return str(line)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, str]]:
    """What is put into the queue: studies, and commands."""
    studies: list[tuple[Any, str]] = []

    def submit(_request: Any, study: Any, *, command: str, **_about: str) -> Any:
        studies.append((study, command))
        return see("/job/0")

    monkeypatch.setattr(questions, "submit_study", submit)
    return studies


def test_every_question_is_a_card_and_a_form_with_one_way_on(asker: Asker) -> None:
    cards = asker.get("/further").text
    for word in (*FORMS, "deter"):
        assert f'href="/{word}"' in cards
        page = asker.get(f"/{word}").text
        assert page.count('class="main"') == 1, word
        for field in re.findall(r'<(?:input|select) id="([^"]+)"', page):
            assert f'for="{field}"' in page, field
    assert asker.get("/nothing").status_code == 404


def test_published_tables_become_the_study_that_the_command_line_makes(
    asker: Asker, asked: list[tuple[Any, str]]
) -> None:
    one, two = asker.file("one.csv", ONE), asker.file("towns.csv", TOWNS)
    entries = {
        "people": "25",
        "suppressed": "1 4",
        "totals": "shown",
        "sensitive": "ill",
        "rare": "3",
    }
    assert asker.post("/tables", tables=[one, two], **entries).status_code == 303
    ((study, command),) = asked
    assert [table.path.name for table in study.tables] == ["one.csv", "towns.csv"]
    assert {table.suppressed for table in study.tables} == {(1, 4)}
    assert (study.people, study.rare, study.sensitive) == (25, 3, ("ill",))
    assert command == (
        "glasshouse tables one.csv towns.csv --people 25 --suppressed 1 4 --totals shown -s ill --rare 3 --out run"
    )


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        ({"tables": ""}, "choose a file or a run first"),
        ({"people": "some"}, "“some” is not what"),
        ({"suppressed": "1"}, "“1” is not what"),
        ({"suppressed": "4 1"}, "the window from 4 to 1 is empty"),
        ({"noise": "gaussian:loud=1"}, "loud"),
        ({"tables": "0" * 20}, "there is no such file or run"),
    ],
)
def test_what_cannot_be_is_said_above_the_form_which_keeps_what_was_written(
    asker: Asker, asked: list[tuple[Any, str]], entries: dict[str, str], line: str
) -> None:
    given = {"tables": asker.file("one.csv", ONE), "sensitive": "ill", **entries}
    answer = asker.post("/tables", **given)
    assert answer.status_code == 422
    assert line in said(answer)
    assert 'value="ill"' in answer.text
    assert asked == []


def test_a_synthetic_file_is_held_against_the_people_it_was_made_from(
    asker: Asker, asked: list[tuple[Any, str]]
) -> None:
    made, real = asker.file("made.csv", PEOPLE), asker.file("real.csv", PEOPLE)
    other = asker.file("others.csv", PEOPLE)
    asker.post("/synthetic", release=made, trained_on=real, holdout=other, sensitive="ill")
    ((study, command),) = asked
    assert (study.trained_on.place.name, study.holdout.place.name) == ("real.csv", "others.csv")
    assert study.adversary.quasi_identifiers == ("age", "sex"), "as the app suggests"
    assert (
        command
        == "glasshouse assess made.csv --trained-on real.csv --holdout others.csv -s ill --out run"
    )
    for rest in ({"holdout": other}, {}):
        answer = asker.post("/synthetic", release=made, **rest)
        assert "the file of real people that it was made from" in said(answer)
    assert len(asked) == 1, "without them nothing would be held against anybody"


def test_a_copy_from_elsewhere_is_asked_about(asker: Asker, asked: list[tuple[Any, str]]) -> None:
    assert asker.post("/tables", files={"file": ("x.csv", ONE.encode())}).status_code == 303
    assert asked[0][0].tables[0].path.parent.name == "files"


def test_a_file_outside_of_the_folders_that_is_typed_is_refused(asker: Asker) -> None:
    answer = asker.post("/tables", tables=asker.file("one.csv", ONE), noise="/etc/passwd")
    assert answer.status_code == 422
    assert "is not in the folders" in said(answer)


def test_an_answer_is_a_file_of_the_folders_or_nothing(asker: Asker) -> None:
    entry = questions.AskedEntry("release", "file", says="The file")
    assert entry.answer(asker.workspace, Form([("release", "")])) is None
    assert [*entry.typed(None)] == []
    number = questions.AskedEntry("people", "number", questions.TABLES)
    with pytest.raises(StudyError, match="is not what"):
        number.answer(asker.workspace, Form([("people", "1e9")]))
    assert number.label == text("How many people they are of, if that is known.").removesuffix(".")


def test_an_output_that_discloses_cannot_be_accepted_and_one_that_does_not_begins_the_ledger(
    asker: Asker, tmp_path: Path
) -> None:
    small, towns = asker.file("one.csv", ONE), asker.file("towns.csv", TOWNS)
    page = asker.get("/ledger", output=small, people="25").text
    assert "Do not publish as it is" in page
    assert "certain" in page
    assert 'name="accept"' not in page
    assert "glasshouse check one.csv --people 25 --ledger ledger" in page
    assert 'name="reasons"' in page
    reasons = asker.get("/ledger", output=small, people="25", reasons="yes")
    assert "attachment" in reasons.headers["content-disposition"]
    assert reasons.json()["verdict"] == "discloses"
    assert reasons.json()["reasons"], "what becomes certain is in the publisher's file"
    own = tmp_path / "glasshouse-app" / "ledger"
    page = asker.get("/ledger", output=towns).text
    assert 'name="accept"' in page
    assert 'name="reasons"' not in page
    assert not own.exists(), "to look changes nothing"
    page = asker.post("/ledger", output=small, people="25", accept="yes").text
    assert "Nothing went out yet" in page, "what does not pass is not added, whoever asks"
    page = asker.post("/ledger", output=towns, accept="yes").text
    assert "Added to the ledger." in page
    assert ">towns</th>" in asker.get("/ledger").text
    again = asker.get("/ledger", output=towns)
    assert again.status_code == 422
    assert 'the ledger has an output "towns"' in again.text.replace("&#34;", '"')
    assert "chain.txt" not in asker.get("/").text


def test_a_ledger_of_the_folders_can_be_chosen_and_a_damaged_one_is_one_line(
    asker: Asker, tmp_path: Path
) -> None:
    from glasshouse.runs.ledger import Ledger

    table = tmp_path / "towns.csv"
    towns = asker.file("towns.csv", TOWNS)
    Ledger(tmp_path / "released").add(table)
    theirs = asker.file("released")
    page = asker.get("/ledger", ledger=theirs).text
    assert f'value="{theirs}" selected>released<' in page
    assert ">towns</th>" in page
    assert str(tmp_path) not in page
    entry = next((tmp_path / "released").glob("0*.json"))
    entry.write_text(entry.read_text().replace("north", "nowhere"))
    for answer in (
        asker.get("/ledger", ledger=theirs),
        asker.get("/ledger", ledger=theirs, output=towns),
    ):
        assert answer.status_code == 422
        assert str(tmp_path) not in answer.text
