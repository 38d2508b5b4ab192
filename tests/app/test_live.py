"""Explore sets, people and what if: every figure is the outcome's own, and what was tried can be undone."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from glasshouse import study as studies
from glasshouse.app.acts import advised_by
from glasshouse.app.guard import Session
from glasshouse.app.sets import AssessedSets
from glasshouse.app.verdict import on_screen
from glasshouse.app.workspace import AppWorkspace
from glasshouse.disclosure import show_cells_from, smallest_cell
from glasshouse.language import LANGUAGES, percentage, speaking
from glasshouse.microdata import Assessment
from glasshouse.report.attacks import exact_figure
from glasshouse.report.discretion import ratio
from glasshouse.runs import Run, run
from glasshouse.runs.run import write_run
from glasshouse.study.anonymise import AnonymiseStudy
from glasshouse.study.protect import ProtectStudy
from tests.app.live import HOST, KNOWN, browsing, make_run, study, write_people
from tests.conftest import Glasshouse

OWN = f"http://{HOST}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("app")


@pytest.fixture(scope="module")
def assessed(folder: Path) -> Run[Any, Any]:
    return make_run(folder)


@pytest.fixture(scope="module")
def app(folder: Path, assessed: Run[Any, Any]) -> Iterator[tuple[Any, str, Session]]:
    with browsing(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(app: tuple[Any, str, Session]) -> Any:
    return app[0]


@pytest.fixture(scope="module")
def here(app: tuple[Any, str, Session]) -> str:
    return app[1]


@pytest.fixture(scope="module")
def sets(client: Any, folder: Path) -> AssessedSets:
    workspace = AppWorkspace([folder])
    return AssessedSets(workspace.run(workspace.identifier(folder / "run")))


def words(answer: Any) -> str:
    """Return what a page says, on one line."""
    assert answer.status_code == 200, answer.text
    content = re.sub(r"<[^>]+>", " ", answer.text.partition("<main>")[2])
    return re.sub(r"\s+", " ", html.unescape(content))


def rows(answer: Any) -> list[list[str]]:
    """Return the rows of the table of sets, or of steps."""
    table = answer.text.partition('id="found"' if "found" in answer.text else 'id="steps"')[2]
    table = re.sub(r' <span class="ratio">.*?</span>', "", table)
    return [
        [html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in cells]
        for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)
        if (
            cells := re.findall(
                r"<t[hd] ?(?:scope=\"row\"|class=\"number\"[^>]*)?>(.*?)</t[hd]>", row, re.DOTALL
            )
        )
        and 'scope="row"' in row
    ]


# --- Explore ---


def test_a_stored_run_gives_back_its_attacks_exactly(
    assessed: Run[Any, Any], sets: AssessedSets
) -> None:
    assert sets.assessment.attacks == assessed.outcome.attacks
    assert sets.assessment.exposures == assessed.outcome.exposures
    assert sets.assessment.exact
    assert len(sets) == 2 ** len(KNOWN) - 1


def test_weighted_figures_are_read_back_as_what_they_are_not_exact(tmp_path: Path) -> None:
    content = [row + ",2.5\n" for row in ("30,f,flu", "30,f,cold", "31,m,flu")]
    (tmp_path / "people.csv").write_text(
        "age,sex,ill,weight\n" + "".join(content) + "31,m,gout,7\n"
    )
    adversary = {
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["ill"],
        "prior_weight": "weight",
    }
    outcome = make_run(tmp_path, adversary=adversary).outcome
    again = Assessment.from_frame(outcome.to_frame())
    assert not again.exact
    for attack, stored in zip(outcome.attacks, again.attacks, strict=True):
        assert float(stored.probabilistic.posterior) == float(attack.probabilistic.posterior)


def test_every_choice_of_chips_shows_what_the_run_found(
    client: Any, here: str, assessed: Run[Any, Any]
) -> None:
    for mask in range(1, 2 ** len(KNOWN)):
        ticked = [place for place in range(len(KNOWN)) if mask >> place & 1]
        page = words(client.get(f"{here}/explore", params={"know": ticked}))
        known = tuple(KNOWN[place] for place in ticked)
        attacks = [one for one in assessed.outcome.attacks if one.quasi_identifiers == known]
        assert len(attacks) == 2
        for attack in attacks:
            assert exact_figure(attack) in page
            assert percentage(attack.deterministic.posterior) in page
        assert f"in {percentage(attacks[0].probabilistic.posterior)} of cases" in page
        assert shlex.join([part for name in known for part in ("-q", name)]) in page


def test_sets_are_filtered_sorted_and_paged(client: Any, here: str, sets: AssessedSets) -> None:
    everything = [sets.get(mask) for mask in range(1, 16)]
    for most, place, over in product((None, 2), (None, 0), (None, 20)):
        query = {"most": most or "", "with": "" if place is None else place, "over": over or ""}
        answer = client.get(f"{here}/explore", params={**query, "sort": "-risk"})
        wanted = [
            one
            for one in everything
            if one is not None
            and (most is None or one.size <= most)
            and (place is None or KNOWN[place] in one.attributes)
            and (over is None or one.risk > Fraction(over, 100))
        ]
        wanted.sort(key=lambda one: -one.risk)
        assert [row[2] for row in rows(answer)] == [percentage(one.risk) for one in wanted]
        assert f"{len(wanted)} of 15 sets" in words(answer)
    rising = client.get(f"{here}/explore", params={"sort": "size"})
    sizes = [int(row[1]) for row in rows(rising)]
    assert sizes == sorted(sizes)
    nothing = client.get(f"{here}/explore", params={"over": 99.5})
    assert "No set is like that" in words(nothing)


def test_two_sets_are_pinned_and_the_first_gives_way_to_a_third(client: Any, here: str) -> None:
    page = client.get(f"{here}/explore", params={"pin": [1, 3, 7]}).text
    compared = page.partition('id="compared"')[2].partition("</section>")[0]
    assert [f">{names}</th>" in compared for names in ("age", "age, sex", "age, sex, city")] == [
        *(False, True, True)
    ]


@pytest.mark.parametrize(
    "query",
    [
        *("know=99&know=x&know=-1", "pin=9999999999&pin=16", "sort=nothing", "over=nan&most=0"),
        *("page=0", "page=77", "picture=../x", "with=4", "over=1e400", "most=²"),
    ],
)
def test_an_address_that_makes_no_sense_is_no_trouble(client: Any, here: str, query: str) -> None:
    assert client.get(f"{here}/explore?{query}").status_code == 200


def test_pictures_are_drawn_where_they_are_asked_for(client: Any, here: str) -> None:
    assert "<figure" not in client.get(f"{here}/explore?know=0").text
    page = client.get(f"{here}/explore?know=0&picture=pairs").text
    assert "<figure" in page
    assert 'style="' not in page, "the policy of the pages allows no styles of their own"


def test_a_set_that_was_not_assessed_is_answered_by_a_command(tmp_path: Path) -> None:
    make_run(tmp_path, subsets=["max:1"])
    with browsing(tmp_path) as (client, here, _):
        page = words(client.get(f"{here}/explore?know=0&know=1"))
    assert "this set was not assessed" in page
    assert "glasshouse assess people.csv -q age -q sex -s ill --subsets full" in page


# --- People ---


def test_few_people_are_shown_to_the_analyst_alone(
    client: Any, here: str, assessed: Run[Any, Any]
) -> None:
    exposures = assessed.outcome.exposures
    place = next(place for place, one in enumerate(exposures) if one.column == "city")
    city = dict(zip(exposures[place].values, exposures[place].records, strict=True))
    assert 0 < city["hamlet"] < smallest_cell()
    shared = words(client.get(f"{here}/people", params={"column": place}))
    assert "hamlet" not in shared
    assert "analyst’s view" not in shared
    exact = words(client.get(f"{here}/people", params={"column": place, "exact": 1}))
    assert f"hamlet {city['hamlet']} " in exact
    assert "The analyst’s view" in exact


def test_of_people_the_first_column_of_which_something_is_shown_is_chosen(tmp_path: Path) -> None:
    men = [("m", 1000 + one if one < 40 else one % 40) for one in range(250)]
    rows = [*men, *(("f", 7 * one % 220) for one in range(150)), *[("f", 999)] * 30]
    lines = (
        f"t{place % 9 if place < 36 else 'own'},{sex},{age}"
        for place, (sex, age) in enumerate(rows)
    )
    (tmp_path / "people.csv").write_text("\n".join(["town,sex,age", *lines, ""]))
    make_run(tmp_path, adversary={"quasi_identifiers": ("town", "sex", "age")})
    with browsing(tmp_path) as (client, here, _):
        for query, shown in (("?column=0", "town"), ("", "sex")):
            answer = client.get(f"{here}/people{query}")
            assert re.findall(r"selected>(\w+)", answer.text) == [shown]
            assert ("Nothing can be shown" in words(answer)) == (shown == "town")


def test_a_run_without_such_figures_says_so(
    tmp_path: Path, folder: Path, assessed: Run[Any, Any]
) -> None:
    make_run(tmp_path)
    (tmp_path / "run" / "exposures.parquet").unlink()
    with browsing(tmp_path) as (client, here, _):
        assert "By value it is not known" in words(client.get(f"{here}/people"))


# --- What if ---


def command(answer: Any) -> list[str]:
    """Return the command that a page says gives the same."""
    found = re.search(
        r'<details class="command"[^>]*>.*?<code>(.*?)</code>', answer.text, re.DOTALL
    )
    assert found is not None
    return shlex.split(html.unescape(found[1]))


@pytest.mark.parametrize("moves", ["0.2", "0.1-2.1-k.3-r.400", "0.2-3.1-k.4-l.2-r.100"])
def test_a_step_has_the_figures_of_the_release_that_its_command_makes(
    client: Any,
    here: str,
    folder: Path,
    moves: str,
    glasshouse: Glasshouse,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = client.get(f"{here}/what-if", params={"moves": moves})
    monkeypatch.chdir(folder)
    words_typed = command(answer)[1:-2]
    outcome = glasshouse(*words_typed, "--json")
    assert outcome.code == 0, outcome.error
    document = json.loads(outcome.out)
    page = words(answer)
    naming, inferring = document["after"]
    assert "Not possible" not in page
    for figure in (
        share(naming["probabilistic"]["posterior"]),
        share(inferring["probabilistic"]["posterior"]),
        share(inferring["deterministic"]["posterior"]),
        share(document["detail_lost"]),
        f"Records removed 0 {document['suppressed']} ",
    ):
        assert figure in page


def share(value: float) -> str:
    return percentage(Fraction(str(value)))


def test_steps_are_added_and_undone(client: Any, here: str) -> None:
    first = client.get(f"{here}/what-if", params={"level-0": 1, "k": 1, "l": 1, "removed": 0})
    moves = re.search(r'name="moves" value="([^"]*)"', first.text)
    assert moves is not None
    assert moves[1] == "0.1"
    query = {"moves": "0.1", "level-0": 1, "level-2": 1, "k": 3, "l": 1, "removed": "2.5"}
    second = client.get(f"{here}/what-if", params=query)
    assert 'name="moves" value="0.1-2.1-k.3-r.25"' in second.text
    assert len(rows(second)) == 5
    undo = re.search(r'id="undo" href="([^"]*)"', second.text)
    assert undo is not None
    assert undo[1] == "?moves=0.1-2.1-k.3"
    back = client.get(f"{here}/what-if{undo[1]}")
    assert 'name="removed" min="0" max="100" step="0.1" value="0"' in back.text
    assert rows(back) == rows(second)[1:]
    assert words(client.get(f"{here}/what-if", params=query)) == words(second), "a reload"


def test_many_steps_keep_where_they_lead(client: Any, here: str) -> None:
    moves = "-".join(["3.1", *(f"k.{count}" for count in range(2, 60))])
    page = client.get(f"{here}/what-if", params={"moves": moves}).text
    assert 'name="k" min="1" max="9999999" step="1" value="59"' in page
    assert 'name="level-3" min="0" max="1" step="1" value="1"' in page


def test_what_is_not_possible_says_why(client: Any, here: str) -> None:
    page = words(client.get(f"{here}/what-if", params={"moves": "k.8"}))
    found = re.search(r"Not possible: (\d+) people are in groups that do not have 8 alike", page)
    assert found is not None
    allow = words(client.get(f"{here}/what-if", params={"moves": "k.8-r.1000"}))
    assert f"Records removed 0 {found[1]} " in allow
    nobody = words(client.get(f"{here}/what-if", params={"moves": "k.241"}))
    assert "nobody’s record would be left" in nobody


@pytest.mark.parametrize(
    "query", ["moves=9.1-0.77-k.x-z.2-.-", "level-0=99&k=-1&removed=1/0", "l=²"]
)
def test_moves_that_make_no_sense_are_left_out(client: Any, here: str, query: str) -> None:
    answer = client.get(f"{here}/what-if?{query}")
    assert "Nothing was tried yet" in words(answer)


def posted(app: tuple[Any, str, Session], action: str, moves: str = "", **entries: str) -> Any:
    client, here, session = app
    headers = {"origin": OWN, "sec-fetch-site": "same-origin"}
    data = {"csrf": session.form_token, "moves": moves, **entries}
    return client.post(f"{here}/{action}", data=data, headers=headers, follow_redirects=False)


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were asked for, none of which is carried out."""
    commands: list[list[str]] = []

    def submit(self: Any, title: str, arguments: list[str], **options: Any) -> Any:
        commands.append(arguments)
        return type("Job", (), {"identifier": "1"})

    monkeypatch.setattr("glasshouse.app.jobs.Jobs.submit", submit)
    return commands


def test_a_version_and_the_search_for_the_best_become_jobs(
    app: tuple[Any, str, Session], submitted: list[list[str]]
) -> None:
    assert posted(app, "what-if/release", "0.1-k.2-r.500").headers["location"] == "/job/1"
    assert posted(app, "what-if/best").headers["location"] == "/job/1"
    release, best = (studies.load_study(Path(arguments[2])) for arguments in submitted)
    assert isinstance(release, AnonymiseStudy)
    assert [arguments[0] for arguments in submitted] == ["anonymise", "protect"]
    assert release.protection.levels == {"age": 1, "sex": 0, "city": 0, "job": 0}
    assert (release.protection.k, release.protection.suppression) == (2, 0.5)
    assert best.policy == release.policy
    refused = posted(app, "what-if/release", "k.240")
    assert refused.status_code == 422
    assert len(submitted) == 2


def test_advice_is_tried_and_made_as_its_command_says(
    app: tuple[Any, str, Session],
    assessed: Run[Any, Any],
    submitted: list[list[str]],
    glasshouse: Glasshouse,
    folder: Path,
) -> None:
    client, here, _ = app
    page = client.get(here).text
    (tried,) = set(re.findall(rf'href="({here}/what-if\?leave=[^"]*)">Try it<', page))
    answer = client.get(html.unescape(tried))
    left = re.findall("leave=([a-z]+)", tried)
    assert left
    assert answer.text.count("the column is left out") >= len(left)
    assert f'href="{tried}"' in page.partition('id="tools"')[2].partition("</div>")[0], "first, too"
    place = next(i for i, one in enumerate(assessed.page.actions) if "anonymise" in one.command)
    assert posted(app, "make", act=str(place)).headers["location"] == "/job/1"
    study = studies.load_study(Path(submitted[0][2]))
    assert isinstance(study, AnonymiseStudy)
    assert study.adversary.quasi_identifiers == tuple(n for n in KNOWN if n not in left)
    glasshouse(*submitted[0][:-4], "--out", folder / "made")
    typed = [*shlex.split(assessed.page.actions[place].command)[1:-1], folder / "typed"]
    typed[1] = folder / "people.csv"
    glasshouse(*typed)
    made, written = ((folder / name / "release.csv").read_bytes() for name in ("made", "typed"))
    assert made == written
    for act in ("9", "x", "", "-1"):
        assert posted(app, "make", act=act).status_code == 422
    assert posted(app, "again").headers["location"] == "/job/1"
    assert submitted[-1][0] == "assess"
    asked: Any = studies.load_study(Path(submitted[-1][2]))
    assert asked.adversary == assessed.question.adversary


def test_a_command_that_the_study_does_not_say_has_no_button(
    folder: Path, assessed: Run[Any, Any]
) -> None:
    question = assessed.question
    (action,) = (one for one in assessed.page.actions if "anonymise" in one.command)
    assert advised_by(action, question) is not None
    for command in ("--k 1 --keep ill", "--k 2", "; rm -rf .", "'"):
        altered = replace(action, command=action.command.replace("--k 1", command))
        assert advised_by(altered, question) is None
    assert advised_by(replace(action, command="glasshouse protect x"), question) is None


def test_a_run_is_asked_again_with_changes(app: tuple[Any, str, Session], folder: Path) -> None:
    client, _, _ = app
    place = posted(app, "change").headers["location"]
    page = words(client.get(place))
    assert (
        "Whom could someone who knows age, sex, city and job identify, and what would she learn about ill"
        in page
    )
    assert "The run was asked with more" not in page
    command = "glasshouse assess people.csv -q age -q sex -q city -q job -s ill --out run"
    assert command in page
    assert place.partition("/adversary")[0] in client.get("/").text, "begun, and not asked yet"


def test_the_command_that_asks_by_group_asks_the_same(
    app: tuple[Any, str, Session], folder: Path
) -> None:
    client, address, _ = app
    answer = client.get(f"{address}/groups")
    asked = " ".join(f"-q {name}" for name in KNOWN) + " -s ill --by age --out run-by-age"
    assert f"glasshouse assess people.csv {asked}" in html.unescape(answer.text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_verdict_on_a_screen_names_no_options(
    language: str, folder: Path, assessed: Run[Any, Any]
) -> None:
    known = {"quasi_identifiers": KNOWN[:2], "sensitive": ["ill"]}
    asked = study(folder / "people.csv", adversary=known, drop=[KNOWN[2]], subsets=["full"])
    with speaking(language):
        page = run(asked).page
    assert page.ruling is not None
    assert "--drop" in " ".join(page.ruling.coverage)
    shown = on_screen(page).ruling
    assert shown is not None
    assert "--" not in " ".join(shown.coverage)
    assert len(shown.coverage) == len(page.ruling.coverage)
    assert {*shown.swatches} <= {*shown.coverage}, "each keeps its colour"


def test_another_rule_can_be_tried(client: Any, here: str, app: Any, submitted: Any) -> None:
    page = words(client.get(f"{here}/what-if?moves=0.1&rule=internal"))
    assert "“internal use” conditions" in page
    assert "--policy internal" in page
    assert "rule=internal" in client.get(f"{here}/what-if?moves=0.1&rule=internal").text
    posted(app, "what-if/best", rule="internal")
    posted(app, "what-if/release", "0.1", rule="internal")
    assert [studies.load_study(Path(one[2])).policy.name for one in submitted] == ["internal"] * 2
    assert "open data" in words(client.get(f"{here}/what-if?moves=0.1&rule=mine"))


def test_the_base_rate_is_on_every_gauge_and_colour_is_what_the_release_adds(
    client: Any, here: str, sets: AssessedSets
) -> None:
    page = client.get(f"{here}/what-if?moves=0.9-1.1-2.9-3.1").text
    page = client.get(f"{here}/what-if?leave=age&leave=sex&leave=city&leave=job").text
    gauges = re.findall(r'<div class="gauge (\w+).*?<span>(.*?)</span>', page, re.DOTALL)
    secret = sets.whole.attacks[1].probabilistic.prior
    assert gauges[1][0] == "low", "a guess that is right without the release worries nobody"
    assert f"{percentage(secret)} without knowing anything" in gauges[1][1]


def test_the_form_of_a_law_is_one_click_away(app: tuple[Any, str, Session]) -> None:
    pytest.importorskip("typst", reason="needs typst (extra pdf)")
    client, here, _ = app
    assert f'href="{here}/form/dpia.docx" download' in client.get(here).text
    answer = client.get(f"{here}/form/dpia.docx")
    assert answer.content[:2] == b"PK"
    assert client.get(f"{here}/form/ripd.pdf?language=pt-BR").content[:5] == b"%PDF-"
    for name in ("dpia.exe", "x.docx", "%2e%2e%2fx.docx"):
        assert client.get(f"{here}/form/{name}").status_code in (404, 422)


def test_a_huge_number_is_no_number(client: Any, here: str) -> None:
    assert "Nothing was tried yet" in words(client.get(f"{here}/what-if?removed=1e999999999"))


def test_data_outside_of_the_folders_is_not_opened(tmp_path: Path) -> None:
    make_run(tmp_path)
    (tmp_path / "inside").mkdir()
    (tmp_path / "run").rename(tmp_path / "inside" / "run")
    with browsing(tmp_path / "inside") as (client, here, _):
        answer = client.get(f"{here}/what-if")
    assert answer.status_code == 422
    assert "not in a folder that the app was started with" in answer.text
    assert str(tmp_path) not in answer.text


def test_data_that_has_changed_is_told(tmp_path: Path) -> None:
    make_run(tmp_path)
    with (tmp_path / "people.csv").open("a") as file:
        file.write("30,f,north,cook,flu\n")
    with browsing(tmp_path) as (client, here, _):
        assert "has changed since this run" in client.get(f"{here}/what-if").text


def test_all_three_screens_speak_portuguese(client: Any, here: str) -> None:
    client.cookies.set("language", "pt-BR")
    try:
        pages = [
            words(client.get(f"{here}/{address}"))
            for address in ("explore?know=0&pin=1", "people", "what-if?moves=0.1-k.241")
        ]
    finally:
        client.cookies.delete("language")
    assert "Quem conhece age" in pages[0]
    assert "Quem pode ser identificado, segundo o valor" in pages[1]
    assert "Não é possível" in pages[2]
    for page in pages:
        assert not re.search(r"\b(the|guesses|knows|records|of)\b", page), page


def test_columns_are_called_as_the_report_calls_them(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "people.csv", tmp_path)
    content = (tmp_path / "people.csv").read_text().replace("job,", "kind_of_job,", 1)
    (tmp_path / "people.csv").write_text(content)
    adversary = {"quasi_identifiers": ["age", "kind_of_job"], "sensitive": ["ill"]}
    labels = {"pt-BR": {"age": "idade", "ill": "doença"}}
    make_run(tmp_path, adversary=adversary, labels=labels)
    with browsing(tmp_path) as (client, here, _):
        for language, names in {"en": ("age", "ill"), "pt-BR": ("idade", "doença")}.items():
            client.cookies.set("language", language)
            for screen in ("/explore?know=0&know=1", "/people", "/what-if?moves=0.1"):
                page = words(client.get(here + screen)).partition("glasshouse a")[0]
                assert "kind of job" in page
                assert names[0] in page
            page = words(client.get(f"{here}/explore?know=0&know=1"))
            assert f"infer {names[1]}" in page or f"inferir {names[1]}" in page


def test_a_run_about_people_with_several_records_has_no_screens_of_single_ones(
    tmp_path: Path,
) -> None:
    rows = "".join(f"p{i % 20},{'FM'[i % 2]},{i * 7 % 5}\n" for i in range(60))
    (tmp_path / "people.csv").write_text(f"patient,sex,ward\n{rows}")
    make_run(
        tmp_path,
        adversary={"quasi_identifiers": ["sex", "ward"]},
        person=["patient"],
        subsets=["full"],
    )
    with browsing(tmp_path) as (client, here, _):
        page = client.get(here).text
        assert f"{here}/export" in page
        for screen in ("explore", "people", "what-if"):
            assert f"{here}/{screen}" not in page
            answer = client.get(f"{here}/{screen}")
            assert answer.status_code == 422
            assert "several records each" in answer.text


# --- Exactly ---


def test_every_screen_of_figures_gives_their_ratios_definitions_and_command(
    client: Any, here: str, assessed: Run[Any, Any], sets: AssessedSets
) -> None:
    for screen, query in {
        "": "",
        "/explore": "?know=0&know=1",
        "/people": "?exact=1",
        "/what-if": "?moves=0.1",
    }.items():
        answer = client.get(here + screen + query)
        page = answer.text
        panel = page.partition('<details id="exactly"')[2].partition("</details>")[0]
        assert "glasshouse assess" in panel or "glasshouse anonymise" in panel
        assert "Records whose secret the adversary infers with probability 1" in panel
        beside = [html.unescape(one) for one in re.findall(r'class="ratio">([^<]+)<', page)]
        for exact, _ in re.findall(r'<td class="number" title="([^"]+)">(.*?)</td>', page):
            assert html.unescape(exact) in beside, screen
    panel = words(client.get(here)).replace(" ,", ",").partition("Exact ratios")[2]
    naming = sets.whole.naming
    named = naming.deterministic.posterior
    assert f"people who can be identified for certain: {percentage(named)}, {ratio(named)}" in panel


def test_what_if_judges_every_condition_that_the_verdict_judges(
    client: Any, here: str, assessed: Run[Any, Any]
) -> None:
    (judged,) = re.findall(r"fails \d of the (\d) “open data” conditions", words(client.get(here)))
    (tried,) = re.findall(
        r"fails \d of the (\d) “open data” conditions", words(client.get(f"{here}/what-if"))
    )
    assert judged == tried == "6"


def test_damaged_figures_are_told_in_a_line(
    folder: Path, assessed: Run[Any, Any], tmp_path: Path
) -> None:
    copied = shutil.copytree(folder, tmp_path / "given", ignore=shutil.ignore_patterns("glass*"))
    for name in ("exposures.parquet", "results.parquet"):
        for content in (b"PAR1 nothing PAR1", b"", None):
            path = copied / "run" / name
            if content is None:
                pa.parquet.write_table(pa.table({"quasi_identifiers": [1]}), path)
            else:
                path.write_bytes(content)
            with browsing(copied) as (client, here, _):
                for screen in ("explore", "people"):
                    answer = client.get(f"{here}/{screen}")
                    assert answer.status_code == 422
                    assert (
                        content is None or f"{name} is damaged; run the study again" in answer.text
                    )
                assert client.get(here).status_code == client.get("/").status_code == 200


# --- What has changed since ---


def test_a_verdict_says_that_its_file_or_its_study_has_changed(
    folder: Path, assessed: Run[Any, Any], tmp_path: Path
) -> None:
    copied = shutil.copytree(folder, tmp_path / "given", ignore=shutil.ignore_patterns("glass*"))
    data, written = copied / "people.csv", copied / "run" / "study.toml"
    written.write_text(written.read_text().replace(str(folder), str(copied)))
    with browsing(copied) as (client, here, _):
        assert "since" not in words(client.get(here))
        content = data.read_bytes()
        data.write_bytes(content.replace(b"gout", b"cold"))
        for screen in ("", "/export", "/explore", "/people", "/groups"):
            page = words(client.get(here + screen))
            assert "people.csv has changed since this run was made." in page
            assert "ask again before you rely on it" in page
            assert f'action="{here}/again"' in client.get(here + screen).text
        of_script = {"sec-fetch-dest": "empty"}  # a chip is answered without looking at the file
        assert "has changed" not in client.get(f"{here}/explore", headers=of_script).text
        data.write_bytes(content)
        assert "has changed" not in words(client.get(here))
        written.write_text(written.read_text().replace('"job",', ""))
    with browsing(copied) as (client, here, _):
        assert "The study of this run has changed" in words(client.get(here))
        data.unlink()
        assert "people.csv is not where it was" in words(client.get(here))


def test_values_are_grouped_otherwise_in_place_and_counted(
    app: tuple[Any, str, Session], submitted: list[list[str]]
) -> None:
    client, here, _ = app
    page = client.get(f"{here}/what-if?group-0=intervals:10,20&weight-2=2.5&moves=0.1").text
    assert "--hierarchy age=intervals:10,20 --level age=1" in page
    assert re.search(r"30-39: ≈ \d+0 · 40-49: ≈ \d+0", page), (
        "with how many records are in each group"
    )
    assert page.count('name="group-0" value="intervals:10,20"') == 4, (
        "every form of the page has it"
    )
    assert "?moves=0.1" not in page, "nor is it lost by a step back"
    asked = {"group-0": "intervals:10,20", "weight-2": "2.5"}
    posted(app, "what-if/best", **asked)
    means = studies.load_study(Path(submitted[-1][2])).means  # type: ignore[attr-defined]
    assert (means.hierarchies, means.importance) == ({"age": "intervals:10,20"}, {"city": 2.5})
    for rule in ("/etc/passwd", "nonsense", "intervals:x", "cep"):
        answer = client.get(f"{here}/what-if?group-0={rule}")
        assert (answer.status_code, answer.text.count('role="alert"')) == (200, 1), rule
        refused = posted(app, "what-if/release", "0.1", **{**asked, "group-0": rule})
        assert refused.status_code == 422, "and nothing else is made"
    assert 'role="alert"' not in client.get(f"{here}/what-if").text


def test_groups_are_moved_and_named_in_place_and_no_count_can_be_subtracted(
    app: tuple[Any, str, Session], submitted: list[list[str]]
) -> None:
    client, here, _ = app
    shown = client.get(f"{here}/what-if?edit=0").text
    drawn = re.findall('name="drawn" value="([^"]*)"', shown)
    edges = re.findall('name="edge" min="30" max="70" step="1" value="([^"]*)"', shown)
    assert drawn == [f"intervals:edges={','.join(edges)}"], (
        "nothing was changed, nor is it asked for"
    )
    assert "--hierarchy" not in client.get(f"{here}/what-if?edit=0&drawn={drawn[0]}").text
    moved = {
        "edit": "0",
        "drawn": drawn[0],
        "edge": ["50", "40", "40"],
        "name": ["", "a", "b", "c,d"],
    }
    page = client.get(f"{here}/what-if", params=moved).text
    assert "age=intervals:edges=40,50:names=,c%2Cd,a" in html.unescape(page)
    assert "--level age=1" in page, "and it is shown in them"
    editor = page.partition('class="editor"')[2].partition("</fieldset>")[0]
    assert re.findall('<td class="number">([^<]*)', editor) == ["≈ 100", "≈ 60", "≈ 80"]
    split = client.get(f"{here}/what-if", params={**moved, "split": "0"}).text
    assert "intervals:edges=35,40,50" in split
    joined = client.get(f"{here}/what-if", params={**moved, "join": "0"}).text
    assert "intervals:edges=50:names=,a" in joined
    towns = client.get(f"{here}/what-if?edit=2").text
    assert "hamlet" not in towns, "fewer than ten live there"
    assert re.findall('<th scope="row">([^<]*)</th><td class="number">([^<]*)', towns)[:3] == [
        *(("north", "≈ 130"), ("south", "≈ 100"), ("every other value", "fewer than 10")),
    ]
    into = {"edit": "2", "drawn": "-", "name": ["main", "main", ""]}
    assert "city=groups:main=" in client.get(f"{here}/what-if", params=into).text
    refused = client.get(f"{here}/what-if", params={"group-2": f"groups:x={'y' * 2000}"}).text
    assert "is too long" in refused, "it is not cut, as it would then be another rule"
    for wrong in (
        {"edit": "99"},
        {"edit": "x", "drawn": "-"},
        {**moved, "edge": ["1e999999999", "x", "9" * 5000]},
    ):
        assert client.get(f"{here}/what-if", params=wrong).status_code == 200


def test_the_original_stands_beside_the_version_and_no_record_of_a_person_is_shown(
    app: tuple[Any, str, Session],
) -> None:
    client, here, _ = app
    page = client.get(f"{here}/what-if?beside=yes&moves=0.1-3.1").text
    table = page.partition('class="invented"')[2].partition("</table>")[0]
    assert re.search("<span>[0-9]+ →</span> [0-9]+-[0-9]+", table)
    assert "hamlet" not in table
    before = smallest_cell()
    show_cells_from(250)
    try:
        page = client.get(f"{here}/what-if?beside=yes&moves=0.1").text
    finally:
        show_cells_from(before)
    table = page.partition('class="invented"')[2].partition("</table>")[0]
    assert set(re.findall("<td>(?:<span>)?([^< ]*)", table)) <= {
        "00",
        "x",
        "xxxxx",
        "xxxxxx",
        "xxxx",
    }
    pairs = page.partition('class="pairs"')[2].partition("</table>")[0]
    assert "<rect x=" not in pairs.replace('class="few" x=', ""), "every bar is hidden"
    assert 'class="few"' in pairs


def test_a_locked_column_stays_as_it_is_in_the_version_that_is_found(
    app: tuple[Any, str, Session], submitted: list[list[str]]
) -> None:
    posted(app, "what-if/best", "2.1", **{"lock-1": "yes", "lock-2": "yes", "weight-3": "2"})
    asked = studies.load_study(Path(submitted[-1][2]))
    protection = asked.protection  # type: ignore[attr-defined]
    assert (protection.method, protection.levels) == ("policy", {"sex": 0, "city": 1})
    assert protection.importance == {"job": 2.0}
    outcome: Any = run(asked).outcome
    assert (outcome.heights["sex"], outcome.heights["city"]) == (0, 1)


def test_each_version_is_a_point_that_leads_to_it(tmp_path: Path) -> None:
    write_people(tmp_path / "people.csv", 1500)
    content = {
        "datasets": [{"path": tmp_path / "people.csv"}],
        "adversary": {"quasi_identifiers": KNOWN, "sensitive": ["ill"]},
    }
    write_run(run(studies.validated(ProtectStudy, content, "protect")), tmp_path / "run")
    with browsing(tmp_path) as (client, here, _):
        front = client.get(here).text.partition('id="front-title"')[2].partition("</figure>")[0]
        points = re.findall('<a href="([^"]+)" aria-label="([^"]+)"', front)
        assert len({place for place, _ in points}) == len(points) > 2
        for address, words in points:
            told, _, figures = words.partition(": ")
            assert re.fullmatch("[0-9.]+% of the detail is lost, [0-9.]+% right guesses", figures)
            assert told in front.partition("<figcaption>")[2]
            assert client.get(address).status_code == 200
