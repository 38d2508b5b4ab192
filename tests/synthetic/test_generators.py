"""What every generator promises: sizes, seeds, schema, order and refusals."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse import synthetic
from glasshouse.errors import StudyError
from glasshouse.synthetic import stream
from glasshouse.synthetic.draws import whole_sizes
from glasshouse.synthetic.stream import dealt

NAMES = ("school-census", "outpatient", "population", "visits")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("records", [1, 2, 10, 1_000, 100_000])
def test_the_number_of_records_is_exact(name: str, records: int) -> None:
    assert sum(batch.num_rows for batch in synthetic.batches(name, records=records)) == records


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_records_and_another_seed_others(name: str) -> None:
    first, again, other = (synthetic.table(name, records=500, seed=seed) for seed in (7, 7, 8))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_text_in_the_order_of_the_roles_and_never_missing(name: str) -> None:
    made = synthetic.generator(name)
    table = synthetic.table(name, records=1_000)
    table.validate(full=True)
    assert table.schema.equals(made.schema)
    person = (made.person,) if made.person else ()
    assert tuple(table.column_names) == person + made.quasi_identifiers + made.sensitive
    for column in table.columns:
        assert column.type == pa.dictionary(pa.int32(), pa.string())
        assert column.null_count == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_can_be_drawn_without_the_batches_before_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "BATCH_RECORDS", 1_000)
    made = synthetic.generator(name)
    *_, last = made.batches(5_000, seed=3)
    world = made.world(5_000, np.random.default_rng(np.random.SeedSequence(3, spawn_key=(0,))))
    positions = dealt(5_000, together=made.together, batch=4, batches=5)
    drawn = world.draw(
        positions, np.random.default_rng(np.random.SeedSequence(3, spawn_key=(1, 4)))
    )
    for column in made.columns:
        alone = world.labels[column].take(pa.array(drawn[column])).to_pylist()
        assert sorted(alone) == sorted(last.column(column).to_pylist())


@pytest.mark.parametrize(("name", "place"), [("school-census", "school"), ("outpatient", "age")])
def test_every_batch_is_a_cross_section(
    name: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "BATCH_RECORDS", 10_000)
    parts = [
        set(batch.column(place).to_pylist()) for batch in synthetic.batches(name, records=50_000)
    ]
    assert len(parts) == 5
    assert min(map(len, parts)) > 0.9 * len(set.union(*parts))


@pytest.mark.parametrize("records", [0, -1, 1.5, True, "10", 10**9])
def test_an_impossible_number_of_records_is_refused_in_one_line(records: int) -> None:
    with pytest.raises(StudyError, match=r"school-census makes 1 to 50,000,000 records, not"):
        synthetic.batches("school-census", records=records)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "x"])
def test_an_impossible_seed_is_refused_in_one_line(seed: int) -> None:
    with pytest.raises(StudyError, match="the seed is a whole number from 0 on, not"):
        synthetic.table("outpatient", records=1, seed=seed)


def test_an_unknown_name_is_refused_with_the_near_one() -> None:
    with pytest.raises(StudyError, match='did you mean "school-census"'):
        synthetic.generator("school_census")


@given(
    records=st.integers(1, 500),
    together=st.integers(1, 20),
    parts=st.integers(1, 9),
)
def test_dealing_gives_every_position_to_one_part_in_ascending_order(
    records: int, together: int, parts: int
) -> None:
    hands = [
        dealt(records, together=together, batch=part, batches=parts).tolist()
        for part in range(parts)
    ]
    assert all(hand == sorted(hand) for hand in hands)
    assert sorted(chain(*hands)) == list(range(records))


@given(weights=st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=40), extra=st.integers(0, 500))
def test_whole_sizes_are_positive_and_sum_to_the_total(weights: list[float], extra: int) -> None:
    sizes = whole_sizes(np.array(weights), total=len(weights) + extra)
    assert sizes.min() >= 1
    assert sizes.sum() == len(weights) + extra
