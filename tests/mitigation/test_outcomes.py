"""What public functions return: plain values and frames of every result, and outcomes that hold no record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from glasshouse import mitigation
from glasshouse.measures.anonymise import measured
from glasshouse.measures.compared_runs import (
    AssessedRuns,
    ComparedRun,
    compare_assessments,
    compare_figures,
)
from glasshouse.microdata import assess
from glasshouse.mitigation import (
    Anonymisation,
    Comparison,
    Hierarchy,
    KAnonymity,
    Recoding,
)
from glasshouse.report.anonymise.page import protection_findings
from glasshouse.study.anonymise import GROUP
from glasshouse.table import EncodedTable, read

PEOPLE = read(
    pa.table(
        {
            "age": ["20", "20", "21", "30", "31", "32", "40", "41"],
            "sex": list("fmfmfmfm"),
            "ill": list("abcabcab"),
        }
    ),
    quasi_identifiers=["age", "sex"],
    sensitive=["ill"],
    name="people",
)


def hierarchies() -> dict[str, Hierarchy]:
    return {name: mitigation.suggest(PEOPLE.column(name)) for name in ("age", "sex")}


def recoded() -> Recoding:
    return mitigation.recode(PEOPLE, hierarchies=hierarchies(), criteria=[KAnonymity(2)])


def anonymised(**parameters: Any) -> Anonymisation:
    return Anonymisation.of_recoding(
        PEOPLE, recoded(), hierarchies(), method="k-anonymity", parameters={"k": 2} | parameters
    )


def blanked(sex: str) -> Anonymisation:
    """Return six people of whom the last two do not tell their age in the release, and these their sex."""
    rows = {"age": ["1", "1", "2", "2", "3", "4"], "sex": list("fffmmm"), "ill": list("aababb")}
    table = read(pa.table(rows), quasi_identifiers=["age", "sex"], sensitive=["ill"])
    released = read(pa.table({"age": list("1122**"), "sex": list(sex)}))
    recoding = Recoding(
        method="local",
        quasi_identifiers=("age", "sex"),
        heights=None,
        suppressed=np.zeros(6, np.bool_),
        released={name: released.column(name) for name in ("age", "sex")},
        classes=3,
        loss=0.5,
        optimal=False,
    )
    suggested = {name: mitigation.suggest(table.column(name)) for name in ("age", "sex")}
    return Anonymisation.of_recoding(
        table, recoding, suggested, method="k-anonymity", parameters={"k": 2}
    )


def test_blank_cells_are_judged_by_who_takes_them_for_any_value_too() -> None:
    outcome = blanked("ff**mm")  # the first two agree with nobody else, all others with each other
    assert outcome.matched is not None
    naming, guess = outcome.matched.attacks
    assert naming.probabilistic.posterior == Fraction(2, 6) * Fraction(1, 2) + Fraction(4, 6) / 4
    assert guess.probabilistic.posterior == Fraction(2, 6) + Fraction(4, 6) * Fraction(3, 4)
    assert (outcome.after.attacks[1].certain, guess.certain) == (4, 2)
    assert outcome.to_dict()["after_matching"] == [one.to_dict() for one in (naming, guess)]
    sentences = [finding.sentence for finding in protection_findings(outcome)]
    assert any("takes a blank cell for any value" in one for one in sentences)

    def judged(of: Anonymisation) -> dict[str, Fraction]:
        return {one.measure: one.value for one in measured(of) if one.knows is None}

    assert judged(outcome)["best-guess"] == Fraction(1, 2)
    assert judged(replace(outcome, after=outcome.matched, matched=outcome.after)) == judged(outcome)
    assert judged(replace(outcome, after=outcome.matched, matched=None)) != judged(outcome)


def test_blank_cells_that_are_too_many_to_match_are_said_to_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("glasshouse.microdata.neighbourhoods.MOST_LOOKUPS", 0)
    outcome = blanked("ff**mm")
    assert outcome.matched is None
    assert outcome.to_dict()["after_matching"] is None
    sentences = [finding.sentence for finding in protection_findings(outcome)]
    assert any("was not looked at" in one for one in sentences)
    assert "after_matching" not in anonymised().to_dict()


def test_a_column_that_is_blank_for_everybody_is_left_out_and_not_matched() -> None:
    assert anonymised().matched is None
    outcome = blanked("******")
    assert outcome.matched is not None  # by the age
    assert outcome.matched.attacks[0].class_sizes.smallest == 4


def grouped() -> Anonymisation:
    anatomy = mitigation.anatomise(PEOPLE, l=2)
    release = anatomy.one_table(PEOPLE, group=GROUP)
    return Anonymisation.of_groups(PEOPLE, release, anatomy, parameters={"l": 2})


def compared() -> Comparison:
    original = mitigation.compare_release(PEOPLE, PEOPLE, name="original", loss=0.0)
    release = mitigation.compare_release(PEOPLE, recoded().release(PEOPLE), name="k = 2")
    return Comparison(original, (release,))


def runs() -> list[ComparedRun]:
    return [
        ComparedRun(name, "assess", 8, {"people.csv": name}, {"exposed": 1.0}, "person", None)
        for name in ("before", "after")
    ]


def side_by_side() -> AssessedRuns:
    release = recoded().release(PEOPLE)
    return compare_assessments(runs(), [assess(PEOPLE), assess(release)])


RESULTS: dict[str, Callable[[], Any]] = {
    "Anatomy": lambda: mitigation.anatomise(PEOPLE, l=2),
    "Anonymisation": anonymised,
    "Anonymisation by groups": grouped,
    "AssessedRuns": side_by_side,
    "Attained": lambda: mitigation.attained(PEOPLE),
    "Attained without secrets": lambda: mitigation.attained(PEOPLE, sensitive=[]),
    "ComparedAttack": lambda: side_by_side().largest[0],
    "ComparedRelease": lambda: compared().releases[0],
    "Comparison": compared,
    "MarginalDistances": lambda: compared().releases[0].utility.distances,
    "MeasuredRuns": lambda: compare_figures(runs()),
    "Prediction": lambda: mitigation.compare_utility(PEOPLE, PEOPLE, target="ill").prediction,
    "Quality": lambda: mitigation.quality(PEOPLE, recoded(), hierarchies()),
    "QueryError": lambda: compared().releases[0].utility.queries,
    "Recoding": recoded,
    "Utility": lambda: compared().releases[0].utility,
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_plain_values_and_a_frame(name: str) -> None:
    result = RESULTS[name]()
    assert type(result).__name__ == name.partition(" ")[0]
    assert json.loads(json.dumps(result.to_dict()))
    frame = result.to_frame()
    assert isinstance(frame, pa.Table)
    assert frame.num_rows > 0


def held(value: object) -> Iterator[object]:
    """Yield everything that an outcome is made of."""
    yield value
    if is_dataclass(value):
        for field in fields(value):
            yield from held(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from held(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from held(part)


@pytest.mark.parametrize("name", ["Anonymisation", "Anonymisation by groups", "Comparison"])
def test_an_outcome_holds_figures_and_no_record(name: str) -> None:
    parts = list(held(RESULTS[name]()))
    assert len(parts) > 100
    assert not any(isinstance(part, EncodedTable | np.ndarray | pa.Array) for part in parts)


def test_what_is_asked_of_a_protection_is_told_in_order() -> None:
    plain = anonymised(recoding="global").to_dict()
    assert list(plain) == [
        *("method", "parameters", "heights", "suppressed", "classes", "loss", "detail_lost"),
        *("optimal", "bound"),
        *("quality", "attained", "suggested_hierarchies", "hierarchies", "columns_left_out"),
        *("before", "after", "records_read", "records_released"),
    ]
    assert plain["suggested_hierarchies"] == ["age", "sex"]
    weighed = anonymised(objective="loss", importance={"age": 2.0})
    assert weighed.to_dict()["objective"] == weighed.objective_value
    by_groups = grouped().to_dict()
    assert "bound" not in by_groups
    assert (by_groups["loss"], by_groups["optimal"], by_groups["heights"]) == (None, None, None)


def test_a_manifest_says_what_later_commands_need() -> None:
    facts = anonymised().manifest(release="release.csv", hierarchies={"age": "abc"})
    assert facts["quasi_identifiers"] == ["age", "sex"]
    assert (facts["release"], facts["group"], facts["shuffled"]) == ("release.csv", None, True)
    assert "bound" not in facts
    kept = grouped().manifest(release="release.csv", hierarchies={})
    assert (kept["group"], kept["classes"], kept["sensitive"]) == (GROUP, 4, ["ill"])
