"""Survey weights: a record of weight w counts as w records would, and a class stands for the sum of its weights."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata.survey_weights import SurveyWeights
from glasshouse.mitigation import KAnonymity, compare_utility, quality, recode
from glasshouse.mitigation.criteria import Criterion, EstimatedKMap
from glasshouse.mitigation.information_loss import Recoding, loss, weighted_classes
from glasshouse.mitigation.utility import column_costs
from glasshouse.table import EncodedTable, read
from tests.mitigation.test_population import AGES, LABELS, SEXES, WIDTHS, hierarchies

Record = tuple[str, str, int]
RECORDS = st.lists(
    st.tuples(st.sampled_from(AGES), st.sampled_from(SEXES), st.integers(1, 9)),
    min_size=2,
    max_size=9,
)


def table_of(records: list[Record], *, scale: int = 1) -> EncodedTable:
    """Return a table; with a scale, the weights have decimals."""
    ages, sexes, weights = zip(*records, strict=True)
    ill = [str(int(age) % 2) for age in ages]
    written = [f"{weight / scale:.2f}" for weight in weights]
    columns = {"age": ages, "sex": sexes, "ill": ill, "w": written}
    return read(
        pa.table({name: list(column) for name, column in columns.items()}),
        quasi_identifiers=["age", "sex"],
        sensitive=["ill"],
        also=["w"],
    )


def repeated(records: list[Record]) -> list[Record]:
    return [record for record in records for _ in range(record[2])]


def least_loss(records: list[Record], k: int, limit: int, *, by_weight: bool) -> float | None:
    """Return the least loss of all nodes, each record counted by its weight; None: there is no solution."""
    losses = []
    for levels in product(range(3), range(2)):
        classes = [
            (LABELS["age", age, levels[0]], LABELS["sex", sex, levels[1]])
            for age, sex, _ in records
        ]
        sizes: Counter[tuple[str, str]] = Counter()
        for label, (_, _, weight) in zip(classes, records, strict=True):
            sizes[label] += weight if by_weight else 1
        removed = [sizes[label] < k for label in classes]
        if sum(removed) > limit or all(removed):
            continue
        sums = [
            sum(
                weight * (WIDTHS[name][-1] if gone else WIDTHS[name][level])
                for (_, _, weight), gone in zip(records, removed, strict=True)
            )
            for name, level in zip(("age", "sex"), levels, strict=True)
        ]
        people = sum(weight for *_, weight in records)
        losses.append(loss(sums, domains=[6, 2], records=people))
    return min(losses, default=None)


@settings(max_examples=15, deadline=None)
@given(RECORDS, st.integers(2, 12), st.sampled_from([0.0, 0.3, 0.6]), st.booleans())
def test_the_optimum_with_weights_is_that_of_brute_force(
    records: list[Record], k: int, share: float, by_weight: bool
) -> None:
    table = table_of(records, scale=4)
    weights = SurveyWeights.of(table, "w")
    k = k if by_weight else min(k, 3)
    criterion: Criterion = EstimatedKMap(k, "w") if by_weight else KAnonymity(k)
    limit = int(Fraction(str(share)) * len(records))
    # weights are quarters, so that k people are four times as many of them
    best = least_loss(records, 4 * k if by_weight else k, limit, by_weight=by_weight)
    arguments = {
        "hierarchies": hierarchies(),
        "criteria": [criterion],
        "suppression": share,
        "survey_weights": weights,
    }
    if best is None:
        with pytest.raises(StudyError):
            recode(table, **arguments)  # type: ignore[arg-type]
        return
    recoding = recode(table, **arguments)  # type: ignore[arg-type]
    assert recoding.optimal
    assert recoding.loss == pytest.approx(best, abs=1e-9)
    assert quality(table, recoding, hierarchies(), weights=weights).loss == recoding.loss
    counted = weighted_classes(recoding, weights)
    if by_weight:
        assert counted.fewest >= k
        assert counted.highest <= Fraction(1, k)
    people = [Fraction(weight, 4) for *_, weight in records]
    assert counted.people == sum(people)
    released = list(zip(*(labels(recoding, name) for name in ("age", "sex")), strict=True))
    rows = [i for i in range(len(records)) if not recoding.suppressed[i]]
    sums: Counter[tuple[str, str]] = Counter()
    for i in rows:
        sums[released[i]] += people[i]  # type: ignore[assignment]
    assert counted.fewest == min(sums.values())
    risk = sum(min(Fraction(1), 1 / Fraction(sums[released[i]])) for i in rows)
    assert counted.average == risk / len(rows)


def labels(recoding: Recoding, name: str) -> list[str]:
    column = recoding.released[name]
    return [column.values[int(code)].as_py() for code in column.codes]


@settings(max_examples=15, deadline=None)
@given(RECORDS)
def test_a_record_costs_as_much_as_its_weight_of_records(records: list[Record]) -> None:
    once, often = table_of(records), table_of(repeated(records))
    times = np.repeat(np.arange(len(records)), [weight for *_, weight in records])
    recoding = recode(once, hierarchies=hierarchies(), criteria=[KAnonymity(2)], suppression=0.4)
    release = recoding.release(once)
    weights = SurveyWeights.of(once, "w").people
    many = release.of_records(times)
    weighed = compare_utility(once, release, hierarchies=hierarchies(), weights=weights)
    counted = compare_utility(often, many, hierarchies=hierarchies())
    assert weighed.distances.mean_single == pytest.approx(counted.distances.mean_single)
    assert weighed.distances.mean_pair == pytest.approx(counted.distances.mean_pair)
    costs = column_costs(once, release, hierarchies=hierarchies(), weights=weights)
    plain = column_costs(often, many, hierarchies=hierarchies())
    for cost, other in zip(costs.columns, plain.columns, strict=True):
        assert cost.error == pytest.approx(other.error)
        assert (cost.mean is None) == (other.mean is None)
        if cost.mean is not None and other.mean is not None:
            assert cost.mean == pytest.approx(other.mean)
            assert cost.variance == pytest.approx(other.variance)


def test_weights_that_stand_for_nobody_are_refused() -> None:
    table = table_of([("20", "f", 0), ("21", "m", 2)])
    with pytest.raises(DataError, match=r'record 1: the survey weight in column "w" is 0'):
        SurveyWeights.of(table, "w")
    few = table_of([("20", "f", 1), ("21", "m", 2)])
    with pytest.raises(StudyError, match="stands for 3 people, so no class can stand for 4"):
        recode(
            few,
            hierarchies=hierarchies(),
            criteria=[EstimatedKMap(4, "w")],
            survey_weights=SurveyWeights.of(few, "w"),
        )
    for objective in ("discernibility", "average_class_size"):
        with pytest.raises(StudyError, match="knows no survey weights"):
            recode(
                few,
                hierarchies=hierarchies(),
                criteria=[KAnonymity(2)],
                objective=objective,
                survey_weights=SurveyWeights.of(few, "w"),
            )
