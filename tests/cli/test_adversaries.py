"""``assess --adversary``: who knows what, by a catalogue, and what she achieves with it."""

from __future__ import annotations

import csv
import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

from glasshouse.language import LANGUAGES
from glasshouse.report.archive import from_json
from glasshouse.study import load_study
from glasshouse.study.adversaries import (
    COUNTRIES,
    IMPLIED,
    MEANINGS,
    catalogue,
    chosen_adversaries,
)
from glasshouse.study.assess import AssessStudy
from glasshouse.table.profiles import MEANING_WORDS, meaning_of, meaning_of_name, profile
from tests.conftest import Glasshouse

NAMES = ("DT_NASC", "SEXO", "MUNICIPIO", "BAIRRO", "v12", "DIAGNOSTICO")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small hospital file."""
    chance = random.Random(7)
    rows = [
        (
            f"{chance.randint(1, 28):02d}/0{chance.randint(1, 9)}/19{chance.randint(50, 59)}",
            chance.choice("MF"),
            chance.choice(["Betim", "Contagem"]),
            chance.choice("ABC"),
            chance.choice("xyz"),
            chance.choice(["F32", "I10"]),
        )
        for _ in range(60)
    ]
    path = tmp_path / "patients.csv"
    with path.open("w", newline="") as opened:
        csv.writer(opened).writerows([NAMES, *rows])
    return path


def test_every_adversary_has_words_in_every_language_and_a_source_with_an_address() -> None:
    assert {one.name.partition("/")[0] for one in catalogue().values()} == set(COUNTRIES)
    for one in catalogue().values():
        assert set(one.title) == set(one.source) == set(LANGUAGES)
        assert all([*one.title.values(), *one.source.values()])
        assert one.url.startswith("https://")
        assert set(one.knows) <= set(MEANINGS)
        assert not one.columns


def test_the_page_lists_the_whole_catalogue() -> None:
    page = (Path(__file__).parents[2] / "docs" / "quasi-identifiers.md").read_text(encoding="utf-8")
    for one in catalogue().values():
        assert f"| `{one.name}` | {one.title['en']} | {', '.join(one.knows)} |" in page
        assert f"[{one.source['en']}]({one.url})" in page
    assert all(f"`{meaning}`" in page for meaning in MEANINGS)


def test_every_meaning_is_recognised_by_some_name() -> None:
    recognised = {*MEANING_WORDS, "birth-date", "birth-month", "birth-day", "care-date"}
    assert recognised == set(MEANINGS)
    assert {*IMPLIED, *(one for many in IMPLIED.values() for one in many)} <= set(MEANINGS)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("DT_NASC", "birth-date"),
        ("data de nascimento", "birth-date"),
        ("nasc_mes", "birth-month"),
        ("municipio_nascimento", "birthplace"),
        ("faixa_etaria", "age"),
        ("estado_civil", "marital-status"),
        ("UF", "state"),
        ("MUNIC_RES", "municipality"),
        ("DT_INTER", "care-date"),
        ("CBO", "occupation"),
        ("birth_weight", ""),
        ("inter", "care-date"),
        ("v12", ""),
    ],
)
def test_names_of_columns_say_what_they_mean(name: str, meaning: str) -> None:
    assert meaning_of_name(name) == meaning


def test_values_say_what_a_column_means_where_its_name_does_not(tmp_path: Path) -> None:
    from glasshouse.table import read

    path = tmp_path / "coded.csv"
    path.write_text("v1,v2,born\nM,30130-010,1980\nF,35716-180,1991\n")
    assert [*map(meaning_of, profile(read(path)))] == ["sex", "postcode", "birth-year"]


def test_an_adversary_knows_the_columns_that_hold_what_she_knows(
    glasshouse: Glasshouse, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    answer = glasshouse(
        "assess", str(file), "--adversary", "br/voter-roll", "-s", "DIAGNOSTICO", "--out", str(out)
    )
    assert answer.code == 0
    assert "date of birth → DT_NASC" in answer.out
    assert "marital status" in answer.out  # for which there is no column
    study = load_study(out / "study.toml")
    assert isinstance(study, AssessStudy)
    assert study.adversary.quasi_identifiers == ("DT_NASC", "SEXO", "MUNICIPIO")
    assert study.adversaries[0].title["pt-BR"].startswith("Um partido")
    assert "Um partido" not in (out / "study.toml").read_text(encoding="utf-8")


def test_the_figures_of_an_adversary_are_those_of_her_set_in_the_sweep(
    glasshouse: Glasshouse, file: Path
) -> None:
    chosen = [word for name in ("br", "us/voter-roll") for word in ("--adversary", name)]
    answer = glasshouse("assess", str(file), *chosen, "-s", "DIAGNOSTICO", "--json")
    content = json.loads(answer.out)
    outcome = content.get("outcome", content)
    swept = {(tuple(one["quasi_identifiers"]), one["sensitive"]): one for one in outcome["results"]}
    assert len(outcome["adversaries"]) > 5
    for known in outcome["adversaries"]:
        for attack in known["results"]:
            same = swept[tuple(attack["quasi_identifiers"]), attack["sensitive"]]
            assert attack["probabilistic"]["posterior"] == same["probabilistic"]["posterior"]


def test_sets_that_no_sweep_had_are_attacked_apart(glasshouse: Glasshouse, file: Path) -> None:
    def figures(*subsets: str) -> list[float]:
        answer = glasshouse("assess", str(file), "--adversary", "br", *subsets, "--json")
        content = json.loads(answer.out)
        outcome = content.get("outcome", content)
        return [one["results"][0]["probabilistic"]["posterior"] for one in outcome["adversaries"]]

    assert figures("--subsets", "full") == figures() == figures("--subsets", "max:1")


def test_the_report_tells_who_knows_what_and_where_that_is_written(
    glasshouse: Glasshouse, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    glasshouse("assess", str(file), "--adversary", "br", "-s", "DIAGNOSTICO", "--out", str(out))
    pages = from_json((out / "report.json").read_text(encoding="utf-8"), "report.json")
    for language, words in (
        ("en", "none identifies people better"),
        ("pt-BR", "nenhum identifica"),
    ):
        (section,) = [one for one in pages[language].sections if one.is_open]
        assert words in section.intro
        (figures,) = section.tables
        guesses = [Fraction(row[3].exact or "0") for row in figures.groups[0].rows]
        assert guesses == sorted(guesses, reverse=True)
        told = [
            cell.text
            for section in pages[language].sections
            for table in section.tables
            for group in table.groups
            for row in group.rows
            for cell in row
        ]
        assert "https://www.planalto.gov.br/ccivil_03/leis/l9096.htm" in " ".join(told)


def test_a_catalogue_of_ones_own_may_name_columns(
    glasshouse: Glasshouse, file: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        '[aunt]\ntitle = "An aunt"\nknows = ["sex", "v12", "shoe"]\nsource = "family"\n'
    )
    out = tmp_path / "run"
    answer = glasshouse("assess", str(file), "--adversary", str(mine), "--out", str(out))
    assert answer.code == 0
    study = load_study(out / "study.toml")
    assert isinstance(study, AssessStudy)
    (aunt,) = study.adversaries
    assert aunt.columns == {"sex": ("SEXO",), "v12": ("v12",)}
    assert aunt.missing == ("shoe",)
    again = glasshouse("assess", "--study", str(out / "study.toml"), "--json")
    assert again.code == 0


def test_what_she_wants_to_learn_is_not_what_she_knows(
    glasshouse: Glasshouse, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    glasshouse(
        "assess", str(file), "--adversary", "br/neighbour", "-s", "BAIRRO", "--out", str(out)
    )
    study = load_study(out / "study.toml")
    assert isinstance(study, AssessStudy)
    assert study.adversary.quasi_identifiers == ("SEXO", "MUNICIPIO")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--adversary", "br/voter-rol"), "did you mean br/voter-roll"),
        (("--adversary", "neighbor"), "did you mean us/neighbour, eu/neighbour or br/neighbour?"),
        (("--adversary", "mars/voter-roll"), "br/voter-roll"),
        (("--adversary", "nobody"), "say all, br, eu, us, the name of a TOML file, or one of docs"),
        (("--adversary", "nobody.toml"), "nobody.toml"),
        (("--adversary", "br/public-payroll"), "no column"),
        (("--adversary", "br", "--by", "SEXO"), "--by"),
    ],
)
def test_what_cannot_be_asked_of_the_catalogue_is_said_in_one_line(
    glasshouse: Glasshouse, file: Path, words: tuple[str, ...], fault: str
) -> None:
    answer = glasshouse("assess", str(file), *words)
    assert answer.code == 2
    assert fault in answer.error
    assert answer.error.strip().count("\n") == 0
    assert sum(name in answer.error for name in catalogue()) <= 3


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('title = "nobody"\n', "title"),
        ('[aunt]\ntitle = "An aunt"\nknows = "sex"\nsource = "family"\n', '"knows"'),
        ('[aunt]\ntitle = "An aunt"\nknows = ["sex"]\n', '"source" is missing'),
        ("[aunt]\nshoe = 1\n", '"title" is missing'),
        ("", "mine.toml: holds no adversary"),
    ],
)
def test_what_is_wrong_with_a_catalogue_is_said_in_one_line(
    glasshouse: Glasshouse, file: Path, tmp_path: Path, content: str, fault: str
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(content)
    answer = glasshouse("assess", str(file), "--adversary", str(mine))
    assert answer.code == 2
    assert fault in answer.error
    assert answer.error.strip().count("\n") == 0


def test_inspect_tells_who_could_know_how_much(glasshouse: Glasshouse, file: Path) -> None:
    said = " ".join(glasshouse("inspect", str(file)).out.split())
    assert "Of the adversaries in the catalogue, these could know most" in said
    known = json.loads(glasshouse("inspect", str(file), "--json").out)["adversaries"]
    assert known["br/voter-roll"] == ["DT_NASC", "SEXO", "MUNICIPIO"]
    assert "br/public-payroll" not in known


def test_countries_and_names_can_be_mixed() -> None:
    names = [one.name for one in chosen_adversaries(["us/school", "br", "br/school"])]
    assert names[0] == "us/school"
    assert len(names) == len(set(names)) > 5
