"""What a recoding costs, against ARX's figures and by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import StudyError
from glasshouse.mitigation.criteria import DistinctDiversity, KAnonymity
from glasshouse.mitigation.global_recoding import recode
from glasshouse.mitigation.hierarchies import Hierarchy, read_hierarchy, suppression_only
from glasshouse.mitigation.information_loss import (
    OBJECTIVES,
    Quality,
    Recoding,
    class_size_loss,
    discernibility_loss,
    granularity_loss,
    loss,
    quality,
)
from glasshouse.table import EncodedColumn, EncodedTable, read

Shared = Callable[[str], Path]

AGES = Hierarchy(
    "age",
    (("20", "20-29", "*"), ("25", "20-29", "*"), ("30", "30-39", "*"), ("35", "30-39", "*")),
)
SEXES = Hierarchy("sex", (("f", "*"), ("m", "*")))
HIERARCHIES = {"age": AGES, "sex": SEXES}
SIX = read(
    pa.table({"age": ["20", "25", "30", "35", "35", "35"], "sex": list("ffmmmf")}),
    quasi_identifiers=["age", "sex"],
)


@pytest.mark.parametrize("case", ["k5_s0", "k5_s0.04", "k5_distinct_l3_s0.04"])
def test_adult_as_arx_measures_it(shared: Shared, case: str) -> None:
    golden = json.loads(shared("golden/mitigation.json").read_text())
    names = golden["meta"]["qids"]
    table = read(shared("data/arx/adult.csv"), quasi_identifiers=names, also=["occupation"])
    hierarchies = {
        name: read_hierarchy(shared(f"data/arx/adult_hierarchy_{name}.csv"), column=name)
        for name in names
    }
    diversity = [DistinctDiversity(3, "occupation")] if "l3" in case else []
    found = recode(
        table,
        hierarchies=hierarchies,
        criteria=[KAnonymity(5), *diversity],
        suppression=0 if case == "k5_s0" else 0.04,
    )
    own = quality(table, found, hierarchies)
    expected = golden["global_recoding"][case]["quality"]
    assert own.loss == found.loss
    assert own.discernibility == pytest.approx(expected["discernibility"], abs=1e-12)
    assert own.average_class_size == pytest.approx(expected["average_class_size"], abs=1e-12)
    for measure in ("granularity", "non_uniform_entropy"):
        whole = expected[measure]["arithmetic_mean"]
        assert getattr(own, measure) == pytest.approx(whole, abs=1e-10)
        for name, value in expected[measure]["per_attribute"].items():
            assert getattr(own.attributes[name], measure) == pytest.approx(value, abs=1e-10)


def recoded(suppression: float = 0.2, **options: Any) -> Recoding:
    return recode(
        SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(2)], suppression=suppression, **options
    )


def test_six_people_by_hand() -> None:
    """Decades of age and the sex are told of five records; the sixth is suppressed.

    Ages: two records lose one bit each, as 20 and 25 are as frequent; of the thirties one (30) loses log₂ 4 bits and
    three (35) lose log₂ 4/3. A single suppressed record tells nothing more. The six ages have
    6 log₂ 6 − 3 log₂ 3 bits, the six sexes 6.
    """
    own = quality(SIX, recoded(), HIERARCHIES)
    assert own.loss == pytest.approx(((1 + 4 / 9) * (1 + 1 / 6)) ** 0.5 - 1)
    assert own.attributes["age"].granularity == pytest.approx(1 - 4 / 9)
    assert own.attributes["sex"].granularity == pytest.approx(1 - 1 / 6)
    lost = 2 + 2 + 3 * log2(4 / 3)
    bits = 6 * log2(6) - 3 * log2(3)
    assert own.attributes["age"].non_uniform_entropy == pytest.approx(1 - lost / bits)
    assert own.attributes["sex"].non_uniform_entropy == 1
    assert own.non_uniform_entropy == pytest.approx(1 - lost / (bits + 6))
    least = 1 + 1 + 1 + 4 + 1
    assert own.discernibility == pytest.approx(1 - (4 + 9 + 6 - least) / (36 - least))
    assert own.average_class_size == pytest.approx(1 - (5 / 2 - 6 / 5) / (6 - 6 / 5))


def test_an_untouched_table_loses_nothing() -> None:
    own = quality(SIX, recode(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(1)]), HIERARCHIES)
    assert own.to_dict() == {
        "loss": 0,
        "granularity": 1,
        "non_uniform_entropy": 1,
        "discernibility": 1,
        "average_class_size": 1,
        "attributes": {
            name: {"granularity": 1, "non_uniform_entropy": 1} for name in ("age", "sex")
        },
    }
    assert own.to_frame().column_names == ["attribute", "granularity", "non_uniform_entropy"]
    assert own.to_frame()["attribute"].to_pylist() == ["age", "sex"]


def test_nothing_is_left_when_all_are_alike() -> None:
    found = recode(SIX, hierarchies=HIERARCHIES, criteria=[KAnonymity(6)])
    own = quality(SIX, found, HIERARCHIES)
    assert own.loss == pytest.approx(1)
    for measure in OBJECTIVES[1:]:
        assert getattr(own, measure) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_is_made_least_is_what_is_measured(objective: str) -> None:
    found = recoded(objective=objective)
    own = quality(SIX, found, HIERARCHIES)
    measured = own.loss if objective == "loss" else 1 - getattr(own, objective)
    assert found.loss == pytest.approx(measured, abs=1e-12)
    others = [quality(SIX, recoded(objective=each), HIERARCHIES) for each in OBJECTIVES]
    assert measured <= min(_measure(each, objective) for each in others) + 1e-12


def _measure(own: Quality, objective: str) -> float:
    return own.loss if objective == "loss" else 1 - float(getattr(own, objective))


def test_records_at_different_levels_are_measured_too() -> None:
    """Locally recoded: one of the twenties is told as such, the thirties are told in full, two are suppressed.

    Prasser, Bild and Kuhn 2016: first those at level 1 or above (20, 25 and a 35) lose the bits between their values
    and their decades, then those at the root (20 and a 35) lose those between their decades and nothing.
    """
    texts = ["*", "20-29", "30", "35", "35", "*"]
    found = locally(SIX, "age", texts, [True, False, False, False, False, True])
    own = quality(SIX, found, {"age": AGES})
    assert own.loss == pytest.approx((2 / 4 + 3 * 1 / 4 + 2 - 6 / 4) / (6 - 6 / 4))
    bits = 6 * log2(6) - 3 * log2(3)
    assert own.attributes["age"].non_uniform_entropy == pytest.approx(1 - (2 + 2) / bits)
    assert own.average_class_size == pytest.approx(1 - max(0, 4 / 3 - 6 / 4))


def locally(table: EncodedTable, name: str, texts: list[str], suppressed: list[bool]) -> Recoding:
    released = read(pa.table({name: texts})).column(name)
    classes = len({text for text, gone in zip(texts, suppressed, strict=True) if not gone})
    return Recoding(
        method="by hand",
        quasi_identifiers=(name,),
        heights=None,
        suppressed=np.array(suppressed),
        released={name: EncodedColumn(name, released.codes, released.values)},
        classes=classes,
        loss=0.0,
        optimal=False,
        bound=None,
    )


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 6)), min_size=1, max_size=4),
    st.integers(1, 20),
    st.data(),
)
def test_losses_of_shares_grow_with_shares_and_stay_in_range(
    parts: list[tuple[int, int]], records: int, data: st.DataObject
) -> None:
    domains = [domain for _, domain in parts]
    sums = [records * min(own, domain) for own, domain in parts]
    raised = data.draw(st.integers(0, len(parts) - 1))
    higher = list(sums)
    higher[raised] = records * domains[raised]
    weights = data.draw(
        st.none() | st.lists(st.integers(1, 3), min_size=len(parts), max_size=len(parts))
    )
    for measure in (loss, granularity_loss):
        low = measure(sums, domains=domains, records=records, weights=weights)
        high = measure(higher, domains=domains, records=records, weights=weights)
        assert -1e-12 <= low <= high + 1e-9 <= 1 + 2e-9


def test_the_loss_of_an_attribute_is_cut_after_ten_decimals() -> None:
    assert loss([10 + 3 * 1], domains=[10], records=10) == pytest.approx(0.0333333333, abs=1e-15)


def test_without_any_released_class_all_is_lost() -> None:
    before, none = np.array([1, 2, 3]), np.zeros(0, np.int64)
    assert discernibility_loss(before, none) == 1
    assert class_size_loss(before, none) == 1


def test_a_recoding_of_another_table_is_refused() -> None:
    with pytest.raises(StudyError, match="is not the table that was recoded"):
        quality(SIX.of_records(np.array([0, 1])), recoded(), HIERARCHIES)


def test_a_missing_hierarchy_is_named() -> None:
    with pytest.raises(StudyError, match='"age" has no hierarchy; there are hierarchies of "sex"'):
        quality(SIX, recoded(), {"sex": suppression_only(SIX.column("sex"))})
