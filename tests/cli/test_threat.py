"""``threat``: what an anonymised table tells about a person, through the command line."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from tests.cli.test_longitudinal import write
from tests.conftest import Glasshouse

ATTRIBUTES = [
    {"name": "nat", "values": ["M", "J", "C", "I"]},
    {"name": "zip", "values": ["45501", "45502", "55503", "55504", "66601", "77701"]},
]
HORIZONTAL = {
    "name": "Table I(b)",
    "attributes": ATTRIBUTES,
    "sensitive": {"name": "disease"},
    "groups": [
        {"sensitive": ["Heart", "Flu"], "generalised": [["M", "J"], "4550*"]},
        {"sensitive": ["Flu", "Stomach"], "generalised": ["J", "5550*"]},
        {"sensitive": ["HIV", "Diabetes"], "generalised": [["C", "J"], "66601"]},
        {"sensitive": ["Flu", "Heart"], "generalised": [["I", "M"], "77701"]},
    ],
}
VERTICAL = HORIZONTAL | {
    "name": "Table I(c)",
    "groups": [
        {"sensitive": ["Heart", "Flu"], "rows": [["J", "45502"], ["M", "45501"]]},
        {"sensitive": ["Flu", "Stomach"], "rows": [["J", "55504"], ["J", "55503"]]},
        {"sensitive": ["HIV", "Diabetes"], "rows": [["J", "66601"], ["C", "66601"]]},
        {"sensitive": ["Flu", "Heart"], "rows": [["M", "77701"], ["I", "77701"]]},
    ],
}
"""Boreale, Corradi and Viscardi 2020, Table I; the domain is what the original holds."""
PEOPLE = {
    "nat": ["M", "J", "J", "J", "C", "J", "I", "M"],
    "zip": ["45501", "45502", "55503", "55504", "66601", "66601", "77701", "77701"],
    "disease": ["Heart", "Flu", "Flu", "Stomach", "HIV", "Diabetes", "Flu", "Heart"],
}
KNOWN = ("-q", "nat", "-q", "zip", "-s", "disease")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("horizontal.json").write_text(json.dumps(HORIZONTAL))
    Path("vertical.json").write_text(json.dumps(VERTICAL))
    write("people.csv", PEOPLE)
    groups = ["1", "1", "2", "2", "3", "3", "4", "4"]
    write("groups.csv", PEOPLE | {"group": groups})
    write("known.csv", {"nat": PEOPLE["nat"], "zip": PEOPLE["zip"], "group": groups})
    write("secret.csv", {"group": groups, "disease": PEOPLE["disease"], "count": ["1"] * 8})


def answer(glasshouse: Glasshouse, *arguments: object) -> dict[str, Any]:
    outcome = glasshouse("threat", *arguments, "--json")
    assert outcome.code == 0, outcome.error
    document: dict[str, Any] = json.loads(outcome.out)
    return document


@pytest.mark.parametrize(
    ("language", "who", "sentence"),
    [
        (
            "en",
            "knows who is in the table",
            "guesses at their disease are right in {share}",
        ),
        (
            "pt-BR",
            "sabe quem está na tabela",
            "acerta-se o valor de disease em {share}",
        ),
    ],
)
def test_the_table_on_the_terminal_and_the_sentence_say_one_figure(
    glasshouse: Glasshouse, language: str, who: str, sentence: str
) -> None:
    """Guesses among equally likely values are drawn at random; that all of them are lucky is not told there."""
    asked = ("threat", "horizontal.json", "--original", "people.csv")
    shown = glasshouse(*asked, "--lang", language)
    measured = json.loads(glasshouse(*asked, "--json").out)["measures"]["attacker"]
    (row,) = [line for line in shown.out.splitlines() if line.startswith(who)]
    right, _ = re.findall(r"[\d.,]+", row.removeprefix(who))
    share = float(right.replace(",", "."))
    assert share == pytest.approx(100 * measured["global_threat_random_ties"], abs=0.01)
    told = f"{share:.1f}".replace(".", "," if "," in right else ".")
    assert sentence.format(share=f"{told}%") in " ".join(shown.out.split())


def test_the_victim_of_the_paper(glasshouse: Glasshouse) -> None:
    victim = ("--know", "nat=M", "--know", "zip=45501")
    horizontal = answer(glasshouse, "horizontal.json", *victim)
    assert horizontal["exact"]["attacker"]["Heart"] == "7/12"
    assert horizontal["exact"]["learner"]["Heart"] == "693/1909"
    assert horizontal["beliefs"]["random_worlds"]["Heart"] == 0.5
    vertical = answer(glasshouse, "vertical.json", *victim)
    assert vertical["exact"]["attacker"]["Heart"] == "2/3"
    partly = answer(glasshouse, "horizontal.json", "--know", "nat=M")
    assert partly["exact"]["attacker"]["Heart"] == "6/11"


def test_what_JSON_says_of_the_prior_stays(glasshouse: Glasshouse) -> None:
    odd = HORIZONTAL | {"sensitive": {"name": "disease", "alpha": {"Heart": 5}}}
    Path("odd.json").write_text(json.dumps(odd))
    victim = ("--know", "nat=M", "--know", "zip=45501")
    plain = answer(glasshouse, "odd.json", *victim)["exact"]["learner"]
    assert answer(glasshouse, "odd.json", *victim, "--beta", 1)["exact"]["learner"] == plain
    assert answer(glasshouse, "odd.json", *victim, "--alpha", 1)["exact"]["learner"] != plain
    sixth = answer(glasshouse, "horizontal.json", *victim, "--learner", 6)
    assert sixth["method"] == "enumeration"
    assert sixth["beliefs"]["learner_mean"]["Heart"] == pytest.approx(0.336346684, abs=1e-8)


def test_an_original_in_another_order_is_recognised(glasshouse: Glasshouse) -> None:
    many = {name: values * 5 for name, values in PEOPLE.items()}
    write("many.csv", many)
    made = glasshouse("anonymise", "many.csv", *KNOWN, "--k", 3, "--out", "made")
    assert made.code == 0, made.error
    plain = answer(glasshouse, "made/release.csv", *KNOWN, "--original", "many.csv")
    folder = answer(glasshouse, "made")
    assert plain["measures"]["attacker"] == folder["measures"]["attacker"]
    original = answer(glasshouse, "horizontal.json", "--original", "people.csv")
    assert original["method"] == "enumeration"


def test_every_form_of_the_same_release_says_the_same(glasshouse: Glasshouse) -> None:
    victim = ("--know", "nat=M", "--know", "zip=45501")
    of_json = answer(glasshouse, "vertical.json", *victim)["exact"]
    one = answer(glasshouse, "groups.csv", *KNOWN, "--group", "group", *victim)["exact"]
    two = answer(
        glasshouse, "known.csv", "--sensitive-table", "secret.csv", *KNOWN, "--group", "group",
        *victim,
    )["exact"]  # fmt: skip
    assert of_json == one == two


def test_a_release_is_weighed_against_its_original(glasshouse: Glasshouse) -> None:
    arguments = ("groups.csv", *KNOWN, "--group", "group", "--original", "people.csv")
    document = answer(glasshouse, *arguments)
    measures = document["measures"]
    assert measures["records"] == 8
    assert measures["baseline"] == 3 / 8
    chances = [2 / 3, 2 / 3, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 5 / 9, 5 / 9]  # of the truth, by hand
    assert measures["attacker"]["threatened"] == 8
    assert measures["attacker"]["absolute_error"] == pytest.approx(2 * sum(1 - p for p in chances))
    assert measures["random_worlds"]["absolute_error"] == pytest.approx(8)
    assert document["method"] == "enumeration"
    outcome = glasshouse("threat", *arguments, "--out", "run", "--per-record", "risks.parquet")
    assert outcome.code == 0, outcome.error
    assert "These figures are exact (enumeration)" in " ".join(outcome.out.split())
    assert pyarrow.parquet.read_table("risks.parquet").num_rows == 8
    again = glasshouse("threat", "--study", "run/study.toml", "--out", "again")
    assert again.code == 0, again.error
    for name in ("results.parquet", "report.html"):
        assert Path("again", name).read_bytes() == Path("run", name).read_bytes()


@pytest.mark.parametrize("method", [("--k", 2), ("--method", "anatomy", "--l", 2)])
def test_a_folder_of_anonymise_is_threatened(
    glasshouse: Glasshouse, method: tuple[object, ...]
) -> None:
    many = {name: values * 20 for name, values in PEOPLE.items()}
    write("many.csv", many)
    made = glasshouse("anonymise", "many.csv", *KNOWN, *method, "--out", "made")
    assert made.code == 0, made.error
    document = answer(glasshouse, "made", "--sweeps", 400)
    assert document["measures"]["records"] == 160
    if method[0] == "--k":
        assert document["method"] == "closed form"
    else:
        assert document["sampling"]["chains"] == 4
        assert document["sampling"]["stopped"] in ("precision", "sweeps")


def test_suppressed_records_can_be_anybodys(glasshouse: Glasshouse) -> None:
    lonely = {name: [*values * 20, "x"] for name, values in PEOPLE.items()}
    write("lonely.csv", lonely)
    options = ("--k", 5, "--suppression", 0.05, "--out", "made")
    assert glasshouse("anonymise", "lonely.csv", *KNOWN, *options).code == 0
    document = answer(glasshouse, "made")
    assert document["suppressed"] == 1
    classes = json.loads(Path("made/manifest.json").read_text())["classes"]
    assert document["groups"] == classes, "what is suppressed is no class"
    assert document["measures"]["records"] == 161
    outcome = glasshouse("threat", "made", "--per-record", "r.parquet")
    assert outcome.code == 0, outcome.error
    assert "1 suppressed record is counted among them" in " ".join(outcome.out.split())
    records = pyarrow.parquet.read_table("r.parquet")
    assert sorted(records["record"].to_pylist()) == list(range(1, 162))


def test_a_release_without_its_suppressed_records_says_how_to_ask(glasshouse: Glasshouse) -> None:
    rows = [f"{20 + place % 4},{'FM'[place % 2]},{'ab'[place // 8 % 2]}" for place in range(48)]
    Path("people.csv").write_text("\n".join(["age,sex,ill", *rows, "97,F,c"]) + "\n")
    words = ["people.csv", "-q", "age", "-q", "sex", "-s", "ill", "--k", "3"]
    for option, code in (("--drop-suppressed", 2), ("--keep-suppressed", 0)):
        made = glasshouse("anonymise", *words, "--suppression", "0.1", option, "--out", option[2:])
        assert made.code == 0, made.error
        asked = glasshouse("threat", option[2:])
        assert asked.code == code, asked.error
        assert ("without --drop-suppressed" in asked.error) == (code == 2)


def test_a_sampled_run_is_resumed_to_the_same_end(
    glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    from glasshouse import checkpoint

    generator = np.random.default_rng(5)
    size = 400
    write(
        "many.csv",
        {
            "age": [str(age) for age in generator.integers(20, 30, size)],
            "ill": [str(ill) for ill in generator.integers(0, 5, size)],
        },
    )
    known = ("-q", "age", "-s", "ill")
    assert glasshouse("anonymise", "many.csv", *known, "--method", "anatomy", "--l", 3,
                      "--out", "made").code == 0  # fmt: skip
    options = ("made", "--sweeps", 300, "--precision", 1e-9)
    whole = glasshouse("threat", *options, "--out", "whole")
    assert whole.code == 0, whole.error
    assert "not reached" in " ".join(whole.out.split()) or "R-hat" in whole.out
    save, times = checkpoint.Checkpoint.save_state, 0

    def stop_after_two(self: checkpoint.Checkpoint, arrays: Any) -> None:
        nonlocal times
        save(self, arrays)
        times += 1
        if times == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Checkpoint, "save_state", stop_after_two)
        stopped = glasshouse("threat", *options, "--out", "parted")
    assert stopped.code == 130
    assert "--resume goes on from here" in stopped.error
    again = glasshouse("threat", *options, "--out", "parted", "--resume")
    assert again.code == 0, again.error
    assert Path("parted/results.parquet").read_bytes() == Path("whole/results.parquet").read_bytes()
    longer = ("made", "--sweeps", 600, "--precision", 1e-9, "--out", "parted", "--overwrite")
    further = glasshouse("threat", *longer, "--resume", "--json")
    assert further.code == 0, further.error
    assert json.loads(further.out)["sampling"]["sweeps"] == 600
    assert "--resume --overwrite" in further.error


def anatomised(glasshouse: Glasshouse, size: int = 120) -> None:
    """A release in the folder ``made`` that has to be sampled."""
    rng = random.Random(5)
    write(
        "many.csv",
        {
            "age": [str(rng.randrange(20, 30)) for _ in range(size)],
            "ill": [str(rng.randrange(5)) for _ in range(size)],
        },
    )
    options = ("-q", "age", "-s", "ill", "--method", "anatomy", "--l", 3, "--out", "made")
    assert glasshouse("anonymise", "many.csv", *options).code == 0


def test_every_sampled_figure_says_how_sure_it_is(glasshouse: Glasshouse) -> None:
    anatomised(glasshouse)
    options = ("made", "--sweeps", 400, "--precision", 1e-9, "--exceeds", 1.2)
    outcome = glasshouse("threat", *options, "--out", "run", "--per-record", "r.parquet", "--json")
    assert outcome.code == 0, outcome.error
    document = json.loads(outcome.out)
    told = document["measures"]["uncertainty"]
    for name in ("gt_attacker", "rgt", "highest_ti", "ti_above_1.2_of_all", "rf_bounded"):
        assert all(told[name][what] is not None for what in ("error", "rhat", "ess")), name
    assert document["measures"]["share_above_of_all"]["1.2"] == told["ti_above_1.2_of_all"]["value"]
    for own in document["sampling"]["aggregates"]:
        assert 0 <= own["weiss"] <= 1
        assert own["geweke"] >= 0
    report = Path("run/report.html").read_text(encoding="utf-8")
    for text in ("Weiß, p", "Geweke, |z|", "Draw by draw", "Batch by batch", "skewness of log₂ Ti"):
        assert text in report, text
    assert "more than 1.2 times as sure" in report
    assert "relative_threat_error" in pyarrow.parquet.read_table("r.parquet").column_names
    assert "exceeds = 1.2" in Path("run/study.toml").read_text()
    shown = glasshouse("threat", *options)
    assert " ± " in shown.out
    victim = answer(glasshouse, "made", "--sweeps", 400, "--know", "age=21")
    assert all(own["error"] > 0 for own in victim["relative_threat"].values())
    asked = glasshouse("threat", "made", "--sweeps", 400, "--know", "age=21", "--out", "one")
    assert asked.code == 0, asked.error
    assert "±" in Path("one/report.html").read_text(encoding="utf-8")
    assert "relative_threat_error" in pyarrow.parquet.read_table("one/results.parquet").column_names


def test_exact_figures_are_called_exact(glasshouse: Glasshouse) -> None:
    arguments = ("groups.csv", *KNOWN, "--group", "group", "--original", "people.csv")
    document = answer(glasshouse, *arguments, "--out", "run")
    assert document["measures"]["exact"] is True
    assert document["measures"]["uncertainty"] is None
    report = Path("run/report.html").read_text(encoding="utf-8")
    assert ">exact<" in report.replace(" ", "").replace("\n", "")


def test_both_languages_tell_the_same(glasshouse: Glasshouse) -> None:
    arguments = ("groups.csv", *KNOWN, "--group", "group", "--original", "people.csv")
    foreign = glasshouse("threat", *arguments, "--lang", "pt-BR")
    foreign_json = glasshouse("threat", *arguments, "--json", "--lang", "pt-BR")
    wrong = glasshouse("threat", "groups.csv", "-q", "nat", "--lang", "pt-BR")
    english_json = glasshouse("threat", *arguments, "--json")
    assert foreign.code == english_json.code == 0
    said = " ".join(foreign.out.split())
    assert "sabe quem está na tabela" in said
    assert "Estes números são exatos (enumeração)" in said
    assert "75,0% dos casos" in said
    assert "-s COLUMN" in wrong.error
    assert "informe" in wrong.error
    assert foreign_json.out == english_json.out, "what programs read is the same in every language"


def test_the_report_on_a_victim_names_no_value(glasshouse: Glasshouse) -> None:
    victim = ("horizontal.json", "--know", "nat=M", "--know", "zip=45501")
    outcome = glasshouse("threat", *victim, "--out", "run")
    assert outcome.code == 0, outcome.error
    assert "“Heart” with a probability of 58.3%" in " ".join(outcome.out.split())
    for name in ("report.html", "report.json"):
        content = Path("run", name).read_text(encoding="utf-8")
        assert not [value for value in (*PEOPLE["disease"], "45501") if value in content]
    assert "Heart" in pyarrow.parquet.read_table("run/results.parquet")["sensitive"].to_pylist()


def test_without_an_original_people_are_averaged_and_told_everywhere(
    glasshouse: Glasshouse,
) -> None:
    """Six people alike with two illnesses, and one other: (6 · ½ + 1) / 7."""
    many = {"age": ["20"] * 6 + ["30"], "ill": ["flu", "HIV"] * 3 + ["cold"]}
    write("dup.csv", many | {"g": ["1", "1", "2", "2", "3", "3", "4"]})
    question = ("dup.csv", "-q", "age", "-s", "ill", "--group", "g")
    document = answer(glasshouse, *question)
    assert document["averages"]["attacker"]["mean_highest"] == pytest.approx(4 / 7)
    assert document["averages"]["learner"]["mean_highest"] == pytest.approx(0.4531, abs=1e-4)
    shown = glasshouse("threat", *question, "--out", "run")
    said = " ".join(shown.out.split())
    assert "gives the likeliest ill a probability of 57.1%;" in said
    assert "only studies the population, of 45.3%." in said
    assert "sure of the likeliest value, on average" in said
    assert "knows who is in the table 57.1%" in said
    frame = pyarrow.parquet.read_table("run/results.parquet").to_pylist()
    told = {row["adversary"]: row["mean_highest"] for row in frame}
    assert told["attacker"] == pytest.approx(4 / 7)


def test_the_two_tables_of_a_release_say_what_its_folder_says(glasshouse: Glasshouse) -> None:
    anatomised(glasshouse)
    limits = ("--sweeps", 400, "--precision", 1e-9, "--seed", 3)
    tables = ("made/quasi_identifiers.csv", "--sensitive-table", "made/sensitive.csv")
    roles = ("-q", "age", "-s", "ill", "--group", "group")
    plain = answer(glasshouse, *tables, *roles, *limits)["averages"]["attacker"]
    folder = answer(glasshouse, "made", *limits)
    figures = {own["name"]: own for own in folder["sampling"]["aggregates"]}
    assert folder["sampling"]["seed"] == 3, "chains of a folder have a seed of their own"
    assert plain["mean_highest"] == pytest.approx(
        figures["attacker_success"]["value"], abs=5 * plain["error"]
    )


def test_exact_beliefs_are_shown_exact_whatever_reading_is_asked_for(
    glasshouse: Glasshouse,
) -> None:
    document = answer(glasshouse, "horizontal.json", "--know", "nat=M", "--learner", 6)
    for who, ratios in document["exact"].items():
        for value, written in ratios.items():
            assert document["beliefs"][who][value] == pytest.approx(float(Fraction(written)))
    assert document["method"] == "enumeration"
    assert document["relative_threat"]["Heart"]["error"] is None


def test_a_hierarchy_is_the_domain_of_a_vertical_release(glasshouse: Glasshouse) -> None:
    write("kg.csv", {"age": ["20", "21", "30", "31"], "ill": ["flu", "HIV", "flu", "flu"],
                     "g": ["1", "1", "2", "2"]})  # fmt: skip
    write("ko.csv", {"age": ["20", "21", "30", "31"], "ill": ["flu", "HIV", "flu", "flu"]})
    rows = [(str(age), f"{age // 10}0s", "*") for age in range(20, 40)]
    for name, separator in (("semi.csv", ";"), ("comma.csv", ","), ("tab.tsv", "\t")):
        Path(name).write_text("".join(separator.join(row) + "\n" for row in rows))
    question = ("kg.csv", "-q", "age", "-s", "ill", "--group", "g", "--know", "age=20")

    def learner(*options: object) -> str:
        ratio = answer(glasshouse, *question, *options)["exact"]["learner"]["HIV"]
        assert isinstance(ratio, str)
        return ratio

    given = learner("--values", "age=20..39")
    assert given != learner()
    assert learner("--hierarchy", "age=semi.csv") == given
    original = ("--original", "ko.csv")
    assert learner(*original, "--domain", "released", "--hierarchy", "age=comma.csv") == given
    assert learner(*original, "--hierarchy", "age=comma.csv") == learner(), (
        "observed is the default"
    )
    for name in ("semi.csv", "comma.csv", "tab.tsv"):
        assert learner("--values", f"age={name}") == given, name
    Path("headed.csv").write_text("age,label\n" + "".join(f"{row[0]},{row[1]}\n" for row in rows))
    assert learner("--values", "age=headed.csv") == given


def test_values_with_commas_are_whole_lines(glasshouse: Glasshouse) -> None:
    write("towns.csv", {"town": ["Rio, RJ", "Lins, SP"], "ill": ["flu", "HIV"], "g": ["1"] * 2})
    Path("domain.csv").write_text("Rio, RJ\nLins, SP\nRecife, PE\n")
    question = ("towns.csv", "-q", "town", "-s", "ill", "--group", "g")
    found = glasshouse("threat", *question, "--values", "town=domain.csv", "--json")
    assert found.code == 0, found.error


def test_a_missing_value_is_called_empty(glasshouse: Glasshouse) -> None:
    write("miss.csv", {"sex": ["", "F", "F"], "ill": ["", "flu", "flu"], "g": ["1", "1", "2"]})
    question = ("miss.csv", "-q", "sex", "-s", "ill", "--group", "g", "--know", "sex=")
    outcome = glasshouse("threat", *question)
    assert outcome.code == 0, outcome.error
    assert "(empty)" in outcome.out
    assert "“”" not in outcome.out
    foreign = glasshouse("threat", *question, "--lang", "pt-BR")
    assert "(vazio)" in foreign.out


def test_domains_are_observed_released_or_given(glasshouse: Glasshouse) -> None:
    ages = {"age": [str(20 + 2 * (i % 10)) for i in range(60)], "ill": ["flu", "HIV", "none"] * 20}
    write("ages.csv", ages)
    known = ("-q", "age", "-s", "ill")
    made = glasshouse("anonymise", "ages.csv", *known, "--k", 8, "--out", "made")
    assert made.code == 0, made.error

    def learner(*options: object) -> float:
        found = answer(glasshouse, "made", *options)["measures"]["learner"]["absolute_error"]
        assert isinstance(found, float)
        return found

    observed = learner("--domain", "observed")
    assert learner() == observed
    assert learner("--domain", "released") == pytest.approx(observed), "suggested from the original"
    noted = " ".join(glasshouse("threat", "made", "--domain", "released").error.split())
    assert 'note: the hierarchies of "age" were made of the values of the original' in noted
    assert "--values gives another" in noted
    assert "note" not in glasshouse("threat", "made", "--values", "age=20..39").error
    Path("domain.csv").write_text("age\n" + "".join(f"{age}\n" for age in range(20, 40)))
    in_file = learner("--values", "age=domain.csv")
    assert in_file == pytest.approx(learner("--values", "age=20..39"))
    arguments = ("made/release.csv", *known, "--original", "ages.csv")
    Path("levels.csv").write_text("".join(f"{age};*\n" for age in range(20, 40)))
    by_hand = glasshouse("threat", *arguments, "--domain", "released", "--json")
    assert by_hand.code == 2
    assert "--values age=LOW..HIGH" in by_hand.error
    given = answer(glasshouse, *arguments, "--domain", "released", "--values", "age=20..39")
    assert given["measures"]["learner"]["absolute_error"] == pytest.approx(in_file)
    saved = glasshouse("threat", "made", "--values", "age=domain.csv", "--out", "run")
    assert saved.code == 0, saved.error
    again = answer(glasshouse, "--study", "run/study.toml")
    assert again["measures"]["learner"]["absolute_error"] == pytest.approx(in_file)


def test_help_says_what_options_do(glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = " ".join(glasshouse("threat", "--help-all").out.replace("│", " ").split())
    assert "@FILE" not in text
    assert "What all random numbers follow from" in text
    assert "COL=LOW..HIGH|FILE" in text
    assert "--exceeds" in text


BAD = {
    "nothing": ((), "name the release"),
    "no columns": (("groups.csv",), "-q COLUMN"),
    "no secret": (("groups.csv", "-q", "nat"), "-s COLUMN"),
    "no such column": (("groups.csv", "-q", "natt", "-s", "disease"), 'did you mean "nat"'),
    "no such file": (("grops.csv", *KNOWN), "grops.csv"),
    "alpha": (("horizontal.json", "--know", "nat=M", "--alpha", 0), "above 0"),
    "beta": (("horizontal.json", "--know", "nat=M", "--beta", "nat=-1"), "above 0"),
    "beta of nothing": (("horizontal.json", "--know", "nat=M", "--beta", "nut=1"), '"nut"'),
    "no number": (("horizontal.json", "--know", "nat=M", "--beta", "much"), '"much"'),
    "not compatible": (("horizontal.json", "--know", "nat=C", "--know", "zip=77701"), "group"),
    "no such value": (("horizontal.json", "--know", "nat=Q"), '"Q"'),
    "nobody is known": (("horizontal.json",), "--original FILE"),
    "other original": (
        ("groups.csv", *KNOWN, "--group", "group", "--original", "others.csv"),
        "other",
    ),
    "no group": (("known.csv", *KNOWN, "--sensitive-table", "secret.csv"), "--group COLUMN"),
    "groups of other sizes": (
        ("known.csv", *KNOWN, "--sensitive-table", "more.csv", "--group", "group"),
        "group",
    ),
    "no JSON": (("broken.json", "--know", "nat=M"), "JSON"),
    "known twice": (("horizontal.json", "--know", "nat=M", "--know", "nat=J"), "given twice"),
    "roles of JSON": (("horizontal.json", "-q", "nat", "--know", "nat=M"), "leave out -q"),
    "hierarchy of nothing": (("groups.csv", *KNOWN, "--hierarchy", "foo=people.csv"), "-q foo"),
    "excluded": (("horizontal.json", "--know", "nat!=M"), "say what is known"),
    "resume": (("groups.csv", *KNOWN, "--group", "group", "--resume"), "--resume needs the --out"),
    "no folder": ((".",), "a folder without a release"),
    "a huge count": (
        ("known.csv", *KNOWN, "--sensitive-table", "huge.csv", "--group", "group"),
        'huge.csv: "count" holds "1000000000000"',
    ),
    "names twice": (("twice.json", "--know", "nat=M"), 'two attributes are called "nat"'),
    "exceeds": (("groups.csv", *KNOWN, "--group", "group", "--exceeds", 0), "--exceeds is 0"),
    "domain": (("groups.csv", *KNOWN, "--domain", "known"), "'observed' or 'released'"),
    "values of nothing": (("groups.csv", *KNOWN, "--values", "nut=1..2"), "-q nut"),
    "values without a file": (("groups.csv", *KNOWN, "--values", "nat=none.csv"), "none.csv"),
    "values upside down": (("groups.csv", *KNOWN, "--values", "zip=9..2"), "LOW..HIGH"),
    "values of no form": (("groups.csv", *KNOWN, "--values", "zip"), "COLUMN=LOW..HIGH"),
    "values that lack one": (
        ("groups.csv", *KNOWN, "--group", "group", "--values", "zip=45501..45502"),
        "not in the domain",
    ),
    "an empty domain": (
        ("groups.csv", *KNOWN, "--group", "group", "--values", "nat=empty.csv"),
        "empty.csv",
    ),
    "a group that is known": (
        ("groups.csv", *KNOWN, "--group", "nat"),
        "--group nat: it is a quasi-identifier too",
    ),
    "a group that is sensitive": (
        ("groups.csv", *KNOWN, "--group", "disease"),
        "--group disease: it is sensitive too",
    ),
    "a quasi-identifier twice": (
        ("groups.csv", *KNOWN, "-q", "nat", "--group", "group", "--original", "people.csv"),
        'column "nat" is given twice',
    ),
    "known and sensitive": (
        ("groups.csv", *KNOWN, "-s", "nat", "--group", "group", "--original", "people.csv"),
        'column "nat" is a quasi-identifier and also sensitive',
    ),
    "sensitive twice": (
        ("groups.csv", *KNOWN, "-s", "disease", "--group", "group", "--original", "people.csv"),
        "a sensitive attribute is given twice",
    ),
    "JSON in order": (
        ("horizontal.json", "--original", "people.csv", "--in-order"),
        "leave out --in-order",
    ),
    "JSON is generalised": (
        ("horizontal.json", "--know", "nat=M", "--generalised"),
        "leave out --generalised",
    ),
    "JSON with a hierarchy": (
        ("horizontal.json", "--know", "nat=M", "--hierarchy", "nat=people.csv"),
        "leave out --hierarchy",
    ),
    "in order of nothing": (
        ("groups.csv", *KNOWN, "--group", "group", "--in-order"),
        "--in-order compares the release with its original",
    ),
    "in another order": (
        ("groups.csv", *KNOWN, "--group", "group", "--original", "turned.csv", "--in-order"),
        'record 1 of turned.csv: "nat" is "J", but groups.csv has "M"',
    ),
    "in another order, two tables": (
        (
            "known.csv",
            *KNOWN,
            "--sensitive-table",
            "secret.csv",
            "--group",
            "group",
            "--original",
            "turned.csv",
            "--in-order",
        ),
        'record 1 of turned.csv: "nat" is "J", but known.csv has "M"',
    ),
    "a row that the original lacks": (
        ("groups.csv", *KNOWN, "--group", "group", "--original", "moved.csv"),
        'row 7 of groups.csv: "nat" is "I", but no record of moved.csv has that',
    ),
    "a row that the original lacks, two tables": (
        (
            "known.csv",
            *KNOWN,
            "--sensitive-table",
            "secret.csv",
            "--group",
            "group",
            "--original",
            "moved.csv",
        ),
        'row 7 of known.csv: "nat" is "I", but no record of moved.csv has that',
    ),
    "no hierarchy": (
        ("groups.csv", *KNOWN, "--group", "group", "--hierarchy", "nat=crooked.csv"),
        "crooked.csv",
    ),
    "learner": (("horizontal.json", "--know", "nat=M", "--learner", 7), "--learner is 7"),
    "time limit": (
        ("horizontal.json", "--know", "nat=M", "--time-limit", 0),
        "--time-limit is 0; give a number above 0",
    ),
    "burn-in": (
        ("horizontal.json", "--know", "nat=M", "--burn-in", -1),
        "--burn-in is -1; sampling needs at least 0",
    ),
    "precision": (
        ("horizontal.json", "--know", "nat=M", "--precision", "nan"),
        "--precision is nan; give a finite number above 0",
    ),
    "records of one victim": (
        (
            "groups.csv",
            *KNOWN,
            "--group",
            "group",
            "--original",
            "people.csv",
            "--know",
            "nat=M",
            "--per-record",
            "r.csv",
        ),
        "--per-record is about all records, and --know about one victim",
    ),
    "values of JSON": (
        ("horizontal.json", "--know", "nat=M", "--values", "nat=1..2"),
        "leave out --values",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_questions_that_make_no_sense_are_one_line(
    glasshouse: Glasshouse, arguments: tuple[object, ...], message: str
) -> None:
    write("others.csv", PEOPLE | {"disease": ["other"] * 8})
    write(
        "turned.csv", {name: values[::-1][2:] + values[::-1][:2] for name, values in PEOPLE.items()}
    )
    write("moved.csv", PEOPLE | {"nat": ["M", "J", "J", "J", "C", "J", "M", "M"]})
    Path("crooked.csv").write_text("M;Asia;*\nJ;*\n")
    write("more.csv", {"group": ["1"] * 9, "disease": ["Flu"] * 9, "count": ["1"] * 9})
    write("huge.csv", {"group": ["1"], "disease": ["Flu"], "count": ["1000000000000"]})
    Path("twice.json").write_text(json.dumps(HORIZONTAL | {"attributes": [ATTRIBUTES[0]] * 2}))
    Path("empty.csv").write_text("nat\n")
    Path("broken.json").write_text("{")
    out = () if "--resume" in arguments else ("--out", "run")
    outcome = glasshouse("threat", *arguments, *out)
    assert outcome.code == 2, outcome.error
    assert message in outcome.error
    assert outcome.error.count("\n") == 1
    assert not Path("run").exists()
