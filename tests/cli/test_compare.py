"""``compare`` with runs of the same command: this year against last, before and after."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from glasshouse.language import LANGUAGES, speaking
from glasshouse.measures.compared_runs import AssessedRuns, MeasuredRuns
from glasshouse.report import Page, Provenance, archive
from glasshouse.report.compare.figures import FiguresTold
from glasshouse.report.compare.runs import assessed_page, side_by_side_findings
from glasshouse.report.page import Severity
from glasshouse.runs.compare import side_by_side, stored_assessment, stored_runs
from tests.cli.test_longitudinal import write
from tests.conftest import Glasshouse
from tests.report.snapshots import assert_snapshot

PROVENANCE = Provenance("1.0", "", ())
KNOWN = ("day_of_birth", "month_of_birth", "gender", "school")
LAST = {"age": list("1122334"), "sex": list("FFMMFMF"), "ill": list("aabbaba")}
THIS = {"age": list("12345677"), "sex": list("FMFMFMFM"), "ill": list("abababaa")}


@pytest.fixture(autouse=True)
def years(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("last.csv", LAST)
    write("this.csv", THIS)


def assess(glasshouse: Glasshouse, file: str, out: str, *options: object) -> None:
    known = () if "-q" in options else ("-q", "age", "-q", "sex")
    outcome = glasshouse("assess", file, *known, *options, "--out", out)
    assert outcome.code == 0, outcome.error


def both(glasshouse: Glasshouse) -> AssessedRuns:
    assess(glasshouse, "last.csv", "y2018", "-s", "ill")
    assess(glasshouse, "this.csv", "y2019", "-s", "ill")
    return compared("y2018", "y2019")


def compared(*folders: str) -> AssessedRuns:
    outcome = side_by_side([Path(folder) for folder in folders])
    assert isinstance(outcome, AssessedRuns)
    return outcome


def test_two_years_of_a_census_end_to_end(glasshouse: Glasshouse) -> None:
    options = [part for name in KNOWN for part in ("-q", name)]
    posteriors: dict[str, list[dict[str, Any]]] = {}
    for year, records in ((2018, 2000), (2019, 3000)):
        made = glasshouse(
            "synth", "school-census", "--records", records, "--seed", year, "--out", f"{year}.csv"
        )
        assert made.code == 0, made.error
        run = ("assess", f"{year}.csv", *options, "-s", "disability", "--subject", "student")
        posteriors[str(year)] = json.loads(glasshouse(*run, "--json").out)["results"]
        assert glasshouse(*run, "--out", f"run{year}").code == 0
    shown = glasshouse("compare", "run2018", "run2019", "--out", "changes")
    assert shown.code == 0, shown.error
    said = " ".join(shown.out.split())
    assert "From “run2018” to “run2019” it became" in said
    assert "do not have the same number of records: “run2018” 2,000; “run2019” 3,000" in said
    document = json.loads(glasshouse("compare", "run2018", "run2019", "--json").out)
    naming, inferring = document["largest_common"]
    assert naming["sensitive"] is None
    assert inferring["sensitive"] == "disability"
    assert len(document["best_by_size"]) == 2 * len(KNOWN)
    for place, results in enumerate(posteriors.values()):
        whole = next(each for each in results if len(each["quasi_identifiers"]) == 4)
        assert naming["runs"][place]["posterior"] == whole["probabilistic"]["posterior"]
        assert naming["runs"][place]["certain"] == whole["deterministic"]["records"]
    first, last = (each["posterior"] for each in naming["runs"])
    assert naming["differences"] == [
        {"points": pytest.approx(100 * (last - first)), "factor": pytest.approx(last / first)}
    ]
    frame = pq.read_table("changes/results.parquet").to_pylist()
    assert len(frame) == 2 * (2 + 2 * len(KNOWN))
    assert {row["run"] for row in frame} == {"run2018", "run2019"}
    pages = archive.from_json(Path("changes/report.json").read_text(), "report.json")
    assert set(pages) == set(LANGUAGES)
    assert pages["pt-BR"].title == "Comparação de avaliações"
    assert len(pages["en"].pictures) == 2
    assert all(figure.table is not None for figure in pages["en"].pictures)
    assert "run2018: 2018.csv" in Path("changes/report.html").read_text()
    manifest = json.loads(Path("changes/manifest.json").read_text())
    assert (manifest["command"], manifest["report"]["language"]) == ("compare", "en")


def test_stored_ratios_are_exact(glasshouse: Glasshouse) -> None:
    outcome = both(glasshouse)
    naming, inferring = outcome.largest
    assert [attack.probabilistic.posterior for attack in naming.attacks] == [
        Fraction(5, 7),
        Fraction(1),
    ]
    assert [attack.certain for attack in naming.attacks] == [3, 8]
    assert naming.differences() == [(Fraction(2, 7), Fraction(7, 5))]
    assert inferring.secret == ("ill",)
    runs = stored_runs([Path("y2018")])
    assert stored_assessment(Path("y2018"), runs[0]) == outcome.assessments[0]


def test_what_is_said_of_two_years(glasshouse: Glasshouse) -> None:
    outcome = both(glasshouse)
    assert_snapshot("side-by-side-worse", lambda: side_by_side_findings(outcome))
    turned = compared("y2019", "y2018")
    assert_snapshot("side-by-side-better", lambda: side_by_side_findings(turned))


def title(page: Page, place: int) -> str:
    own = page.pictures[place].chart["title"]["text"]
    return own if isinstance(own, str) else " ".join(own)


def test_the_titles_of_pictures_say_what_differs(glasshouse: Glasshouse) -> None:
    for file, out in (("last.csv", "y2018"), ("this.csv", "y2019"), ("last.csv", "again")):
        assess(glasshouse, file, out, "-s", "ill", "--subsets", "all")
    page = assessed_page(compared("y2018", "y2019"), provenance=PROVENANCE, command="")
    assert title(page, 0) == (
        "Guesses at who it is are right in 71.4% of cases in “y2018”, and in 100% in “y2019”"
    )
    assert title(page, 1) == (
        "Guesses at who it is differ most with 1 column known: right in 57.1% of cases in "
        "“y2018”, and in 87.5% in “y2019”"
    )
    same = assessed_page(compared("y2018", "again"), provenance=PROVENANCE, command="")
    assert title(same, 0) == (
        "Guesses at who it is are right in 71.4% of cases in “again”, as in “y2018”"
    )
    assert (
        title(same, 1)
        == "With the best set of each size an adversary does equally well in every run"
    )


def test_the_run_that_differs_most_is_named_wherever_it_stands(glasshouse: Glasshouse) -> None:
    assess(glasshouse, "last.csv", "one", "-s", "ill", "--subsets", "all")
    assess(glasshouse, "this.csv", "two", "-s", "ill", "--subsets", "all")
    assess(glasshouse, "last.csv", "three", "-s", "ill", "--subsets", "all")
    page = assessed_page(compared("one", "two", "three"), provenance=PROVENANCE, command="")
    assert title(page, 1).endswith("in “two”")


def test_what_is_the_same_is_said_to_be(glasshouse: Glasshouse) -> None:
    assess(glasshouse, "last.csv", "one", "-s", "ill")
    assess(glasshouse, "last.csv", "two", "-s", "ill")
    outcome = compared("one", "two")
    assert_snapshot("side-by-side-same", lambda: side_by_side_findings(outcome))
    assert any("read the same files" in each.sentence for each in side_by_side_findings(outcome))


def test_other_quasi_identifiers_and_secrets_are_fine_and_said(glasshouse: Glasshouse) -> None:
    assess(glasshouse, "last.csv", "both", "-s", "ill")
    assess(glasshouse, "last.csv", "fewer", "-q", "sex")
    assess(glasshouse, "last.csv", "other", "-q", "age", "--subsets", "full")
    outcome = compared("both", "fewer")
    assert [line.attacks[0].quasi_identifiers for line in outcome.largest] == [("sex",)]
    assert_snapshot("side-by-side-other-knowledge", lambda: side_by_side_findings(outcome))
    nothing = compared("fewer", "other")
    assert not nothing.largest[0].same_knowledge
    sentences = [finding.sentence for finding in side_by_side_findings(nothing)]
    assert any("no set of quasi-identifiers in common" in sentence for sentence in sentences)
    page = assessed_page(nothing, provenance=PROVENANCE, command="")
    assert page.front is None
    assert not page.figures, "no picture puts the one beside the other"
    for code in LANGUAGES:
        with speaking(code):
            told = glasshouse("compare", "fewer", "other", "--out", f"out-{code}")
        assert told.code == 0
        assert not {"▲", "▼"} & set(told.out), "nothing got better or worse of what is not compared"
    some = glasshouse("compare", "both", "fewer").out
    assert "▼" in some
    assert "best set of each size" not in some, "these sets are of different columns"


def test_three_runs_are_each_against_the_first(glasshouse: Glasshouse) -> None:
    both(glasshouse)
    assess(glasshouse, "last.csv", "again", "-s", "ill")
    outcome = glasshouse("compare", "y2018", "y2019", "again")
    assert outcome.code == 0, outcome.error
    said = " ".join(outcome.out.split())
    assert "From “y2018” to “y2019”" in said
    assert "In “again” it is as easy to identify people as in “y2018”" in said


def test_collections_are_compared_with_as_many_datasets(glasshouse: Glasshouse) -> None:
    write("a.csv", {"id": list("123"), "age": list("112")})
    write("b.csv", {"id": list("123"), "age": list("223")})
    assess(glasshouse, "a.csv", "single", "-q", "age")
    joined = glasshouse("assess", "a.csv", "b.csv", "--id", "id", "-q", "age", "--out", "joined")
    assert joined.code == 0, joined.error
    outcome = compared("single", "joined")
    assert {len(attack.datasets) for attack in outcome.largest[0].attacks} == {1}


def test_terms_of_deterrence_side_by_side(glasshouse: Glasshouse) -> None:
    assert glasshouse("deter", "--out", "before").code == 0
    assert glasshouse("deter", "--penalty", 30000, "--out", "after").code == 0
    outcome = side_by_side([Path("before"), Path("after")])
    assert isinstance(outcome, MeasuredRuns)
    assert_snapshot("side-by-side-deter", lambda: FiguresTold(outcome).findings())
    found = FiguresTold(outcome).findings()
    assert [finding.severity for finding in found] == [Severity.NOTE]
    assert "size from which on she does not begin: 19 (before: 45)" in found[0].sentence
    shown = glasshouse("compare", "before", "after", "--out", "changes")
    assert shown.code == 0, shown.error
    assert "▼" in shown.out
    document = json.loads(glasshouse("compare", "before", "after", "--json").out)
    assert document["figures"]["no_attack"] == [45, 19]
    worse = side_by_side([Path("after"), Path("before")])
    assert isinstance(worse, MeasuredRuns)
    assert FiguresTold(worse).findings()[0].severity == Severity.MODERATE


def test_what_cannot_be_compared_is_one_line(glasshouse: Glasshouse) -> None:
    both(glasshouse)
    assert glasshouse("deter", "--out", "terms").code == 0
    protect = ("anonymise", "last.csv", "-q", "age", "-q", "sex", "--k", 2, "--out", "protected")
    assert glasshouse(*protect).code == 0
    asked = glasshouse("target", "last.csv", "--know", "age=1", "-s", "ill", "--out", "person")
    assert asked.code == 0, asked.error
    membership = ("membership", "last.csv", "-q", "age")
    write("town.csv", {"age": [*LAST["age"], "1"]})
    person = ("--population", "town.csv", "--know", "age=1", "--out", "register")
    assert glasshouse(*membership, *person).code == 0
    assert glasshouse(*membership, "--fraction", 0.5, "--out", "sampled").code == 0
    assert glasshouse("compare", "y2018", "y2019", "--out", "changes").code == 0
    write("parts.csv", LAST | {"state": list("aaaabbb")})
    assess(glasshouse, "parts.csv", "parts", "--by", "state")
    Path("nothing").mkdir()
    for folder, damaged in (
        ("torn", "results.parquet"),
        ("cut", "study.toml"),
        ("bent", "manifest.json"),
    ):
        shutil.copytree("y2018", folder)
        Path(folder, damaged).write_text("?")
    shutil.copytree("y2018", "bare")
    Path("bare/results.parquet").unlink()
    for arguments, message in (
        (("y2018", "terms"), "is a run of assess, “terms” one of deter"),
        (("y2018", "protected"), "is a run of assess, “protected” one of anonymise"),
        (("y2018", "nothing"), "“nothing” is a folder without a run"),
        (("y2018", "nosuch"), 'there is no folder "nosuch"; name the folder of a run'),
        (
            ("y2018", "torn"),
            "“torn” is a damaged run: results.parquet is missing or cannot be read",
        ),
        (
            ("y2018", "bare"),
            "“bare” is a damaged run: results.parquet is missing or cannot be read",
        ),
        (("y2018", "cut"), "“cut” is a damaged run: study.toml is missing or cannot be read"),
        (("y2018", "bent"), "“bent” is a damaged run: manifest.json is missing or cannot be read"),
        (("y2018",), "name two runs or more"),
        (("y2018", "y2018"), "“y2018” is there twice"),
        (("person",), "name two runs or more"),
        (("register", "sampled"), "the runs have no figure in common"),
        (("changes", "changes"), "runs of compare cannot be put side by side"),
        (("parts", "y2018"), "an assessment of parts"),
        (("y2018", "y2019", "--predict", "ill"), "leave out --predict"),
        (("y2018", "y2019", "--out", "y2018"), "y2018"),
    ):
        outcome = glasshouse("compare", *arguments)
        assert outcome.code == 2, arguments
        assert message in outcome.error
        assert outcome.error.count("\n") == 1


def test_one_person_before_and_after(glasshouse: Glasshouse) -> None:
    before = {"age": list("11112222"), "sex": list("FFMMFFMM"), "ill": list("abababab")}
    write("before.csv", before)
    write("after.csv", before | {"age": ["*"] * 8})
    for name in ("before", "after"):
        person = ("--know", "age=1", "--know", "sex=F", "-s", "ill", "--out", name)
        asked = glasshouse("target", f"{name}.csv", *person)
        assert asked.code == 0, asked.error
    document = json.loads(glasshouse("compare", "before", "after", "--json").out)
    assert document["figures"] == {
        "candidates": [2, 4],
        "naming": [0.5, 0.25],
        "inferring: ill": [0.5, 0.5],
    }
    shown = glasshouse("compare", "before", "after", "--out", "changes")
    assert shown.code == 0, shown.error
    told = " ".join(shown.out.split())
    assert (
        "From “before” to “after” this got better: chance that a guess at the person’s record"
        in told
    )
    assert "is right: 25.0% (before: 50.0%)" in told
    report = Path("changes/report.html").read_text()
    assert "fewer than 10" in report
    assert "more than 10.0%" in report
    assert "right: more than 10.0% in both, as far as is shown here" in report
    assert "25.0%" not in report, "it would tell how many records fit"
    asked = glasshouse(
        *("target", "before.csv", "--know", "age=2", "-s", "ill", "--out", "another")
    )
    assert asked.code == 0, asked.error
    told = " ".join(glasshouse("compare", "before", "another").out.split())
    assert "do not assume that the adversary knows the same" in told


def test_who_is_in_before_and_after(glasshouse: Glasshouse) -> None:
    ages = [str(age) for age in range(20)]
    write("town.csv", {"age": [age for age in ages for _ in range(2)]})
    write("before.csv", {"age": ages[:10] * 2})
    write("after.csv", {"age": ages})
    for name in ("before", "after"):
        question = ("membership", f"{name}.csv", "-q", "age")
        asked = glasshouse(*question, "--population", "town.csv", "--out", name)
        assert asked.code == 0, asked.error
        sampled = glasshouse(*question, "--fraction", 0.5, "--out", f"{name}-sampled")
        assert sampled.code == 0, sampled.error
    document = json.loads(glasshouse("compare", "before", "after", "--json").out)
    figures = document["figures"]
    assert (figures["certain"], figures["certainly_in"]) == ([1, 0], [20, 0])
    assert (figures["delta_max"], figures["delta_min"]) == ([1, 0.5], [0, 0.5])
    told = " ".join(glasshouse("compare", "before", "after").out.split())
    assert "this got better: people for whom it is certain whether they are in: 0% (before:" in told
    document = json.loads(glasshouse("compare", "before-sampled", "after-sampled", "--json").out)
    assert document["figures"]["uniques"] == [0, 20]
    assert document["figures"]["journalist"] == [0.25, 0.5]


def test_parts_before_and_after(glasshouse: Glasshouse) -> None:
    people = {
        "state": ["SP"] * 20 + ["RJ"] * 20 + ["AC"] * 2,
        "age": [str(i % 10) for i in range(40)] + ["1", "2"],
        "sex": ["F", "M"] * 21,
        "ill": [*["a"] * 10, *["b"] * 10, *list("ab") * 11],
    }
    write("before.csv", people)
    write("after.csv", people | {"age": ["0"] * 20 + people["age"][20:]})
    for name in ("before", "after"):
        known = ("-q", "age", "-q", "sex", "-s", "ill", "--by", "state", "--out", name)
        asked = glasshouse("assess", f"{name}.csv", *known)
        assert asked.code == 0, asked.error
    document = json.loads(glasshouse("compare", "before", "after", "--json").out)
    figures = document["figures"]
    assert figures["naming: SP"] == [0.5, 0.1]
    assert figures["naming: RJ"] == [0.5, 0.5]
    assert figures["naming: AC"] == [1, 1]
    assert figures["inferring ill: SP"] == [0.5, 0.5]
    assert figures["inferring ill: RJ"] == [1, 1]
    shown = glasshouse("compare", "before", "after", "--out", "changes")
    assert shown.code == 0, shown.error
    told = " ".join(shown.out.split())
    assert "this got better: SP: correct identifications: 10.0% (before: 50.0%)" in told
    assert "AC: correct identifications" in told
    assert "Parts are compared by the best set of 2 columns in each of them." in told
    report = Path("changes/report.html").read_text()
    assert "right guesses at the ill" in report
    assert "this got better: SP: correct identifications: 10.0% (before: 50.0%)" in report
    assert "AC: " not in report, "two people are too few to be shown"
    assert "fewer than 10 people in one of the runs are not shown" in report
    whole = glasshouse("assess", "before.csv", "-q", "age", "-s", "ill", "--out", "whole")
    assert whole.code == 0
    mixed = glasshouse("compare", "before", "whole")
    assert mixed.code == 2
    assert "is an assessment of parts (--by or --each), and others are of whole" in mixed.error


def test_runs_are_compared_in_portuguese(glasshouse: Glasshouse) -> None:
    both(glasshouse)
    outcome = glasshouse("compare", "y2018", "y2019", "--lang", "pt-BR", "--out", "changes")
    assert outcome.code == 0, outcome.error
    assert "De “y2018” para “y2019”, ficou mais fácil identificar" in " ".join(outcome.out.split())
    assert '<html lang="pt-BR">' in Path("changes/report.html").read_text()


PEOPLE = {
    "age": [str(20 + 7 * i % 40) for i in range(60)],
    "sex": ["F", "M", "F"] * 20,
    "city": ["Rio", "Lima"] * 30,
    "ill": ["flu", "cold", "hiv", "none", "flu"] * 12,
}
WHO = ("-q", "age", "-q", "sex", "-q", "city", "-s", "ill")


def versions_of(glasshouse: Glasshouse, *options: object) -> dict[str, dict[str, Any]]:
    outcome = glasshouse("compare", "people.csv", *WHO, *options, "--json")
    assert outcome.code == 0, outcome.error
    return {row["name"]: row for row in json.loads(outcome.out)["releases"]}


def typed_again(report: str) -> list[str]:
    command = re.search(r"glasshouse compare [^<]*", Path(report, "report.html").read_text())
    assert command is not None
    return shlex.split(html.unescape(command[0]))[1:]


def test_what_local_recoding_leaves_certain_stands_beside_what_global_does(
    glasshouse: Glasshouse,
) -> None:
    write("people.csv", PEOPLE)
    options = ("--k", "4", "--recoding", "global,local", "--effort", "fast", "--suppression", 0.05)
    rows = versions_of(glasshouse, *options)
    assert list(rows) == ["original", "k = 4, global", "k = 4, local"]
    for name, recoding in (("k = 4, global", ()), ("k = 4, local", ("--effort", "fast"))):
        way = ("--recoding", "local", *recoding) if recoding else ()
        alone = ("anonymise", "people.csv", *WHO, "--k", 4, "--suppression", 0.05, *way, "--json")
        document = json.loads(glasshouse(*alone).out)
        row = rows[name]
        assert (row["loss"], row["suppressed"]) == (document["loss"], document["suppressed"])
        assert row["levels"] == document["heights"]
        assert row["attacks"] == document["after"]
    shown = glasshouse("compare", "people.csv", *WHO, *options, "--out", "run")
    assert shown.code == 0, shown.error
    assert "What happens to each column" in shown.out
    assert "of detail kept" in Path("run/report.html").read_text()
    again = glasshouse(*typed_again("run"), "--json")
    assert again.code == 0, again.error
    assert {row["name"]: row for row in json.loads(again.out)["releases"]} == rows


def test_means_and_random_changes_are_measured_beside_recoding(glasshouse: Glasshouse) -> None:
    write("people.csv", PEOPLE)
    options = (
        *("--k", "3,4", "--method", "k-anonymity,microaggregation,perturbation"),
        *("--aggregate", "age", "--perturb", "age=noise:0.5", "--suppression", "0.1"),
    )
    rows = versions_of(glasshouse, *options)
    assert list(rows)[1:] == [
        *("k = 3", "k = 4"),
        *("microaggregation, k = 3", "microaggregation, k = 4", "perturbation"),
    ]
    changes = (
        ("microaggregation", "--k", "3", "--aggregate", "age"),
        (*("perturbation", "--perturb", "age=noise:0.5"),),
    )
    for method, *typed in changes:
        alone = glasshouse("anonymise", "people.csv", *WHO, "--method", method, *typed, "--json")
        name = next(name for name in rows if name.startswith(method))
        assert rows[name]["attacks"] == json.loads(alone.out)["after"], "knowing how it was changed"
        assert rows[name]["loss"] is None, "it is no other’s"
        assert 0 < rows[name]["pair_distance"] < 1
    means = rows["microaggregation, k = 4"]["column_costs"]["columns"][0]
    assert means["mean"][0] == pytest.approx(means["mean"][1]), "means keep totals"
    assert rows["perturbation"]["highest_risk"] is None
    shown = glasshouse("compare", "people.csv", *WHO, *options, "--out", "run")
    assert shown.code == 0, shown.error
    again = glasshouse(*typed_again("run"), "--json")
    assert [row["name"] for row in json.loads(again.out)["releases"]] == list(rows)


def test_a_sample_counts_for_all_that_it_was_drawn_from(glasshouse: Glasshouse) -> None:
    write("people.csv", {name: values * 5 for name, values in PEOPLE.items()})
    rows = versions_of(glasshouse, "--sample", "0.2,1")
    assert rows["perturbation, sample = 1"]["pair_distance"] == 0
    small = rows["perturbation, sample = 0.2"]
    assert small["records"] == 60
    assert 0 < small["pair_distance"] < 0.5, "it is not taken for four fifths suppressed"


def test_versions_are_compared_by_the_population_behind_them(glasshouse: Glasshouse) -> None:
    write("people.csv", PEOPLE)
    write("town.csv", {name: PEOPLE[name] * 2 for name in ("age", "sex", "city")})
    behind = ("--k-map", "4,8", "--population", "town.csv", "--presence", "0:0.6")
    rows = versions_of(glasshouse, *behind)
    assert list(rows)[1:] == [
        "k-map = 4, presence = 0:0.6",
        "k-map = 8, presence = 0:0.6",
    ]
    assert rows["k-map = 8, presence = 0:0.6"]["highest_risk"] <= 1 / 4
    shown = glasshouse("compare", "people.csv", *WHO, *behind, "--out", "run")
    assert shown.code == 0, shown.error
    again = glasshouse(*typed_again("run"), "--json")
    assert {row["name"]: row for row in json.loads(again.out)["releases"]} == rows


def test_what_says_nothing_to_any_version_is_refused(glasshouse: Glasshouse) -> None:
    write("people.csv", PEOPLE)
    for options, message in (
        (("--k", "4", "--effort", "fast"), "--effort says nothing without --recoding local"),
        (("--k-map", "4", "--recoding", "global,local"), "--k-map"),
        (("--k", "4", "--recoding", "global,lokal"), "should be 'global', 'local' or 'mondrian'"),
        (("--k", "4", "--suppression", "0,x"), '--suppression "x" is not a number'),
        (
            ("--method", "k-anonymity,microaggregation", "--k", "4", "--highest-risk", "0.2"),
            "microaggregation takes no --highest-risk",
        ),
    ):
        outcome = glasshouse("compare", "people.csv", *WHO, *options)
        assert outcome.code == 2, options
        assert message in outcome.error, outcome.error
        assert outcome.error.count("\n") == 1


def test_the_command_of_a_comparison_reads_the_file_as_it_is_written(
    glasshouse: Glasshouse,
) -> None:
    rows = zip(*([name, *values] for name, values in PEOPLE.items()), strict=True)
    content = "\r\n".join(";".join(row) for row in rows).replace("city", "município")
    Path("people.csv").write_bytes(content.encode("latin-1"))
    known = ("-q", "age", "-q", "sex", "-q", "município", "-s", "ill")
    read = ("--encoding", "latin-1", "--separator", ";", "--missing", "ill=none")
    outcome = glasshouse("compare", "people.csv", *known, *read, "--k", "2,4", "--out", "run")
    assert outcome.code == 0, outcome.error
    again = glasshouse(*typed_again("run"), "--json")
    assert again.code == 0, again.error
    first = glasshouse("compare", "people.csv", *known, *read, "--k", "2,4", "--json")
    assert json.loads(again.out) == json.loads(first.out)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Change the release until it meets the rule in: "),
        ("pt-BR", "Mude a base até que ela atenda à regra em: "),
    ],
)
def test_what_to_do_about_runs_names_the_conditions_that_are_not_met(
    glasshouse: Glasshouse, tmp_path: Path, language: str, said: str
) -> None:
    rows = "".join(f"{age // 2},{'FM'[age % 2]},{age % 3}\n" for age in range(40, 120))
    (tmp_path / "people.csv").write_text(f"age,sex,ill\n{rows}", encoding="utf-8")
    for name, known in (("one", ("-q", "age")), ("two", ("-q", "age", "-q", "sex"))):
        asked = ("assess", tmp_path / "people.csv", *known, "-s", "ill", "--out", tmp_path / name)
        assert glasshouse(*asked).code == 0
    runs = (tmp_path / "one", tmp_path / "two", "--out", tmp_path / "both", "--lang", language)
    assert glasshouse("compare", *runs).code == 0
    content = (tmp_path / "both" / "report.json").read_text(encoding="utf-8")
    page = archive.from_json(content, "report")[language]
    (action,) = page.actions
    assert action.sentence.startswith(said)
    assert page.ruling is not None
    failed = [
        row[0].text
        for group in page.ruling.conditions.groups
        for row in group.rows
        if row[-1].mark == "✗"
    ]
    assert len(failed) > 4
    assert all(name in action.sentence for name in failed[:4])
