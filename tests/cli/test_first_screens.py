"""What a first screen says to somebody who has not seen the tool: what may go out, what not, why, and what is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glasshouse.report import Page, archive
from tests.cli.test_longitudinal import write
from tests.conftest import Glasshouse

PEOPLE = {
    "age": [str(20 + place % 4) for place in range(96)],
    "sex": ["FM"[place // 4 % 2] for place in range(96)],
    "town_of_birth": [["Natal", "Recife"][place // 8 % 2] for place in range(96)],
    "illness": [["none", "flu", "none"][place % 3] for place in range(96)],
    "shoe_size": [str(36 + place % 5) for place in range(96)],
}
KNOWN = ("-q", "age", "-q", "sex", "-q", "town_of_birth", "-s", "illness")
LANGUAGES = ("en", "pt-BR")


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("people.csv", PEOPLE)


def report_of(run: str, language: str = "en") -> Page:
    """Return the report of a run."""
    return archive.from_json(Path(run, "report.json").read_text(encoding="utf-8"), run)[language]


def front(run: str, language: str = "en") -> tuple[str, list[str], list[str]]:
    """Return the sentence of a first screen, what its verdict says, and the titles of its figures."""
    page = report_of(run, language)
    assert page.ruling is not None
    return page.first_sentence, list(page.ruling.coverage), [tile.title for tile in page.tiles]


@pytest.mark.parametrize("command", [("anonymise", "--k", "4"), ("protect",)])
def test_a_protected_file_says_which_columns_it_does_not_have(
    command: tuple[str, ...], glasshouse: Glasshouse
) -> None:
    for language, words in zip(
        LANGUAGES, ("Not in the release: ", "Fora da base publicada: "), strict=True
    ):
        made = glasshouse(
            *("--lang", language, command[0], "people.csv", *KNOWN, *command[1:]),
            *("--out", language),
        )
        assert made.code == 0, made.error
        assert f"{words}shoe size." in front(language, language)[1]
        assert f"{words}shoe size." in " ".join(made.out.split())


def test_sentences_of_a_verdict_have_words_for_bounds_and_say_what_its_colour_means(
    glasshouse: Glasshouse,
) -> None:
    for language, colours, limit in (
        ("en", ("Red (✗)", "Grey (?)", "Amber (!)"), "at least 11"),
        ("pt-BR", ("Vermelho (✗)", "Cinza (?)", "Amarelo (!)"), "no mínimo 11"),
    ):
        shown = glasshouse("--lang", language, "assess", "people.csv", *KNOWN, "--out", language)
        assert shown.code == 0, shown.error
        _, said, _ = front(language, language)
        assert not any(sign in sentence for sentence in said for sign in "≤≥")
        assert limit in said[0]
        assert any(colour in said[0] for colour in colours)


def test_columns_of_a_verdict_have_the_names_of_sentences_but_for_those_to_be_typed(
    glasshouse: Glasshouse,
) -> None:
    glasshouse("assess", "people.csv", *KNOWN, "--out", "run")
    _, said, _ = front("run")
    assert "Assumed known to the adversary: age, sex and town of birth." in said
    assert 'Not looked at: "shoe_size". Say what each is: -q, -s, --drop or --ignore.' in said


def test_who_is_in_a_file_is_never_judged_as_a_whole_but_what_fails_is_no_longer_grey(
    glasshouse: Glasshouse,
) -> None:
    write("few.csv", {name: values[:30] for name, values in PEOPLE.items()})
    asked = ("membership", "few.csv", "--population", "people.csv", "-q", "age", "-q", "sex")
    shown = glasshouse(*asked, "--out", "run")
    assert shown.code == 0, shown.error
    page = report_of("run")
    assert page.ruling is not None
    assert page.ruling.headline == "Do not publish as it is"
    assert page.ruling.decision in ("restricted", "do-not-publish")
    assert any(sentence.startswith("Not measured here (") for sentence in page.ruling.coverage)
    verdict = json.loads(glasshouse(*asked, "--json").out)["verdict"]
    assert (verdict["decision"], verdict["meets"]) == ("not-judged", False)
    assert glasshouse("check", "run").code == 4


def test_a_title_stands_for_one_thing_in_all_reports(glasshouse: Glasshouse) -> None:
    glasshouse("assess", "people.csv", *KNOWN, "--out", "assessed")
    glasshouse("anonymise", "people.csv", *KNOWN, "--k", "4", "--out", "protected")
    glasshouse("threat", "protected", "--out", "threatened")
    titles = {
        run: set(front(run)[2]) - {"Who is at risk"}
        for run in ("assessed", "protected", "threatened")
    }
    assert "What is learned" in titles["assessed"]
    assert "What can still be learned" in titles["protected"]
    assert "What being in it adds" in titles["threatened"]
    assert not titles["assessed"] & titles["protected"] | titles["protected"] & titles["threatened"]
