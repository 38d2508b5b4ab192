"""All subsets against the obvious: one attack per subset, record by record. The sweep's slow, plain twin is here."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse import synthetic
from glasshouse.errors import BudgetError, StudyError
from glasshouse.microdata import (
    Assessment,
    Sweep,
    assess,
    attacks,
    shapley_values,
    sweep,
    sweep_kernel,
    sweep_steps,
)
from glasshouse.microdata.lattice import MOST_ATTRIBUTES, largest_size
from glasshouse.microdata.leakage import SIZE_BINS
from glasshouse.study.assess import MOST_SWEPT
from glasshouse.table import EncodedTable, codes, read
from tests.examples import IS_THOROUGH, examples

Row = tuple[int, ...]


def twin(rows: list[Row], attributes: int, secrets: int) -> dict[tuple[int, ...], Any]:
    """Count classes, sizes, most frequent values and success of every subset, with dictionaries."""
    expected = {}
    for size in range(1, attributes + 1):
        for chosen in combinations(range(attributes), size):
            classes: dict[Row, list[Row]] = {}
            for row in rows:
                classes.setdefault(tuple(row[i] for i in chosen), []).append(row)
            expected[chosen] = (
                Counter(_bin(len(members)) for members in classes.values()),
                sum(
                    (Counter({_bin(len(members)): len(members)}) for members in classes.values()),
                    Counter(),
                ),
                [_secret(classes, attributes + s) for s in range(secrets)],
            )
    return expected


def _bin(size: int) -> int:
    return max(i for i, least in enumerate(SIZE_BINS) if size >= least)


def _secret(classes: dict[Row, list[Row]], column: int) -> tuple[int, Counter[int]]:
    most, success = 0, Counter[int]()
    for members in classes.values():
        best = max(Counter(row[column] for row in members).values())
        most += best
        success[10 * best // len(members)] += len(members)
    return most, success


def as_table(rows: list[Row], attributes: int) -> EncodedTable:
    names = [f"q{i}" if i < attributes else f"s{i - attributes}" for i in range(len(rows[0]))]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return read(
        pa.table(columns), quasi_identifiers=names[:attributes], sensitive=names[attributes:]
    )


def check(outcome: Sweep, rows: list[Row], attributes: int, secrets: int) -> None:
    expected = twin(rows, attributes, secrets)
    chosen = [tuple(i for i in range(attributes) if (int(m) >> i) & 1) for m in outcome.masks]
    for row, subset in enumerate(chosen):
        sizes, records, inferred = expected[subset]
        assert outcome.classes[row].tolist() == [sizes[b] for b in range(10)]
        assert outcome.class_records[row].tolist() == [records[b] for b in range(10)]
        for s, (most, success) in enumerate(inferred):
            assert outcome.most[row, s] == most
            assert outcome.success[row, s].tolist() == [success[b] for b in range(11)]


TABLES = st.tuples(st.integers(1, 5), st.integers(0, 2), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(
        st.just(shape[:2]),
        st.lists(
            st.tuples(*[st.integers(0, shape[2] - 1)] * sum(shape[:2])), min_size=1, max_size=60
        ),
    )
)


@settings(max_examples=examples(400))
@given(TABLES)
def test_every_subset_equals_brute_force(drawn: tuple[tuple[int, int], list[Row]]) -> None:
    (attributes, secrets), rows = drawn
    outcome = sweep(as_table(rows, attributes), threads=1)
    assert len(outcome.masks) == 2**attributes - 1
    check(outcome, rows, attributes, secrets)


@settings(max_examples=examples(100))
@given(TABLES, st.integers(1, 4))
def test_touched_cells_equal_brute_force_also_with_limited_sizes(
    drawn: tuple[tuple[int, int], list[Row]], largest: int
) -> None:
    """Many attributes keep only the cells that are touched; forced here on small tables, with little room."""
    (attributes, secrets), rows = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep_steps, "DENSE_ATTRIBUTES", 0)
        patch.setattr(sweep_steps, "HASHED_CELLS", 32)
        outcome = sweep(as_table(rows, attributes), subsets=f"max:{largest}", threads=1)
    assert len(outcome.masks) == sweep_steps.number_of_subsets(attributes, min(largest, attributes))
    check(outcome, rows, attributes, secrets)


def random_rows(seed: int, records: int, sizes: list[int]) -> list[Row]:
    generator = np.random.default_rng(seed)
    columns = [(size * generator.random(records) ** 2).astype(int).tolist() for size in sizes]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("limit", ["all", "max:2"])
def test_larger_tables_with_large_and_merged_classes(limit: str) -> None:
    rows = random_rows(1, 5_000, [2, 3, 2, 40, 700, 3, 2])
    check(sweep(as_table(rows, 5), subsets=limit), rows, 5, 2)


def test_more_bits_than_a_word_holds() -> None:
    rows = random_rows(2, 600, [500] * 9 + [3, 300])
    check(sweep(as_table(rows, 9), subsets="max:3"), rows, 9, 2)


def test_a_secret_with_thousands_of_values() -> None:
    rows = random_rows(3, 6_000, [20, 30, 5, 60, 5_000])
    check(sweep(as_table(rows, 4)), rows, 4, 1)


def test_listed_subsets_equal_the_rows_of_all() -> None:
    table = as_table(random_rows(4, 500, [3, 4, 5, 3]), 3)
    everything, some = sweep(table), sweep(table, subsets=[["q2", "q0"], ["q1"]])
    assert some.to_frame().to_pylist() == [
        row for row in everything.to_frame().to_pylist() if row["subset"] in (0b010, 0b101)
    ]


def students(records: int) -> EncodedTable:
    generator = synthetic.generator("school-census")
    return read(
        synthetic.table(generator.name, records=records, seed=3),
        quasi_identifiers=generator.quasi_identifiers[:9],
        sensitive=generator.sensitive,
    )


@pytest.fixture(scope="module")
def census() -> EncodedTable:
    return students(20_000)


def test_threads_order_and_chunks_do_not_change_a_byte(
    census: EncodedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sweep(census, threads=1).to_frame()
    assert sweep(census, threads=3).to_frame().equals(first)
    monkeypatch.setattr(sweep_steps, "CHUNK_RECORDS", 777)
    monkeypatch.setattr(sweep_steps, "BUNDLES", 5)
    monkeypatch.setattr(
        sweep_steps, "refinement_order", lambda _, names: list(range(len(names)))[::-1]
    )
    assert sweep(census, threads=2).to_frame().equals(first)


def test_a_small_memory_goes_over_the_disk_with_the_same_bytes(
    census: EncodedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished: dict[int, Any] = {}
    whole = sweep(census, on_step=lambda step, rows: finished.update({step: rows})).to_frame()
    monkeypatch.setattr(sweep_steps, "CHUNK_RECORDS", 777)
    monkeypatch.setattr(sweep_steps._Steps, "_fitting", lambda *_: 6_000)
    assert sweep(census, threads=2, memory=1 << 40).to_frame().equals(whole)
    some = {step: finished[step] for step in (0, 1, 2)}
    assert sweep(census, memory=1 << 40, finished=some).to_frame().equals(whole)


def test_codes_on_disk_have_the_same_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    made = synthetic.generator("school-census")
    frame = synthetic.table(made.name, records=6_000, seed=3)
    batches = pa.Table.from_batches(frame.to_batches(max_chunksize=1_000))
    roles: dict[str, Any] = {
        "quasi_identifiers": made.quasi_identifiers[:7],
        "sensitive": made.sensitive,
    }
    whole = sweep(read(frame, **roles)).to_frame()
    monkeypatch.setattr(codes, "BLOCK_RECORDS", 500)
    monkeypatch.setattr(sweep_steps, "CHUNK_RECORDS", 777)
    table = read(batches, memory=1, **roles)
    assert all(codes.mapping(column.codes) is not None for column in table.columns.values())
    assert sweep(table).to_frame().equals(whole)
    monkeypatch.setattr(sweep_steps._Steps, "_fitting", lambda *_: 2_000)
    assert sweep(table, memory=1 << 40).to_frame().equals(whole)


@settings(max_examples=examples(60))
@given(TABLES, st.integers(1, 40))
def test_the_whole_set_is_the_same_in_slices(
    drawn: tuple[tuple[int, int], list[Row]], most_records: int
) -> None:
    (attributes, _), rows = drawn
    table = as_table(rows, attributes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attacks, "BLOCK_RECORDS", 16)
        sliced = assess(table, most_records=most_records).attacks
    assert sliced == (whole := assess(table).attacks)
    assert [a.class_sizes.smallest for a in sliced] == [a.class_sizes.smallest for a in whole]


def test_a_value_with_more_records_than_fit_is_counted_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half of all records have one value of every attribute, the first included: they are merged while gathered."""
    rows = random_rows(6, 4_000, [900, 3, 3, 2]) + [(0, 1, 2, 0)] * 3_000
    monkeypatch.setattr(sweep_steps, "CHUNK_RECORDS", 777)
    monkeypatch.setattr(sweep_steps._Steps, "_fitting", lambda *_: 2_000)
    check(sweep(as_table(rows, 3), memory=1 << 40), rows, 3, 1)


Partition = tuple[Any, Any]


def hash_partitions(
    packing: sweep_steps.Packing, prefix: Sequence[int], records: Any, counts: Any, number: int
) -> list[Partition]:
    """Send every record to one of some partitions by its values of a prefix, as a cluster would."""
    by_record = records.reshape(-1, packing.words)
    key = np.zeros(len(by_record), np.uint64)
    for field in packing.attributes[list(prefix)]:
        value = (by_record[:, field["word"]] >> field["shift"]) & field["mask"]
        key = (key ^ value) * np.uint64(0x9E3779B97F4A7C15)
    to = (key >> np.uint64(40)) % np.uint64(number)
    return [(by_record[to == n].ravel(), counts[to == n]) for n in range(number)]


def partitioned_sums(
    table: EncodedTable, *, partitions: int, by_pairs: Sequence[int] = (), largest: int = 99
) -> dict[int, Any]:
    """Return the sums of all subsets, swept partition by partition; some first attributes with prefixes of two."""
    names, secrets = table.quasi_identifiers, table.sensitive
    columns = [table.column(name) for name in names]
    hidden = [table.column(name) for name in secrets]
    packing = sweep_steps.plan_packing(columns, hidden)
    records = sweep_steps.packed(packing, columns, hidden, 0, table.records)
    counts = np.ones(table.records, np.int32)
    sums: dict[int, Any] = {}
    for root in range(len(names)):
        later = list(range(root + 1, len(names)))
        tasks: list[tuple[list[int], list[int]]] = [([root], later)]
        if root in by_pairs:
            tasks = [([root], [])] + [([root, q], [r for r in later if r > q]) for q in later]
        left: list[Partition] = []
        for prefix, rest in tasks:
            for some in hash_partitions(packing, prefix, records, counts, partitions):
                before = [array.copy() for array in some]
                given = pickle.loads(pickle.dumps((packing, prefix, rest, *some)))
                limit = largest - len(prefix)
                if limit < 0:
                    continue
                rows, *merged = sweep_steps.sweep_partition(*given, largest=limit)
                assert rows.dtype == np.int64
                assert all(map(np.array_equal, given[3:], before))
                for mask, row in zip(
                    sweep_steps.partition_masks(prefix, rest, limit).tolist(), rows, strict=True
                ):
                    sums[mask] = sums.get(mask, 0) + row
                left.append((merged[0], merged[1]))
        if root not in by_pairs:  # a prefix of two is left out with both of its attributes
            records = np.concatenate([some for some, _ in left])
            counts = np.concatenate([some for _, some in left])
    return sums


@settings(max_examples=examples(100))
@given(TABLES, st.integers(1, 4), st.sets(st.integers(0, 4)), st.integers(1, 5))
def test_the_rows_of_hash_partitions_add_up_to_those_of_the_table(
    drawn: tuple[tuple[int, int], list[Row]], partitions: int, by_pairs: set[int], largest: int
) -> None:
    (attributes, _), rows = drawn
    table = as_table(rows, attributes)
    largest = min(largest, attributes)
    masks, sums = sweep_steps.sums_of_all_subsets(
        table,
        quasi_identifiers=table.quasi_identifiers,
        sensitive=table.sensitive,
        largest=largest,
        threads=1,
    )
    added = partitioned_sums(
        table, partitions=partitions, by_pairs=sorted(by_pairs), largest=largest
    )
    assert sorted(added) == sorted(masks.tolist())
    for mask, row in zip(masks.tolist(), sums, strict=True):
        assert added[mask].tolist() == row.tolist()


def test_partitions_of_a_census_give_every_integer_of_its_sweep(census: EncodedTable) -> None:
    """By the first attribute, and, where that has a value with most of the records, by two."""
    masks, sums = sweep_steps.sums_of_all_subsets(
        census,
        quasi_identifiers=census.quasi_identifiers,
        sensitive=census.sensitive,
        largest=9,
        threads=2,
    )
    for partitions, by_pairs in ((4, ()), (16, (0, 3, 5))):
        added = partitioned_sums(census, partitions=partitions, by_pairs=by_pairs)
        assert [added[mask].tolist() for mask in masks.tolist()] == sums.tolist()


def test_a_memory_below_the_codes_is_refused_before_it_starts(census: EncodedTable) -> None:
    with pytest.raises(BudgetError, match=r"take [\d,]+ MiB already; a sweep needs .* not 64"):
        sweep(census, memory=64 << 20)


MEMORY_SCRIPT = """
import resource, sys
from glasshouse import synthetic
from glasshouse.microdata.lattice import sweep
from glasshouse.table import read
made = synthetic.generator("school-census")
table = read(sys.argv[1], quasi_identifiers=made.quasi_identifiers[2:], sensitive=made.sensitive)
budget = int(float(sys.argv[2]) * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
sweep(table, memory=budget, threads=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / budget)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux reports it")
def test_the_peak_stays_within_the_memory(tmp_path: Path) -> None:
    path = synthetic.write("school-census", records=2_000_000, path=tmp_path / "census.parquet")
    script = [sys.executable, "-c", MEMORY_SCRIPT, str(path), "1.15"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert float(done.stdout) <= 1.1


def test_an_interrupted_sweep_goes_on_where_it_stopped(census: EncodedTable) -> None:
    finished: dict[int, Any] = {}
    whole = sweep(census, on_step=lambda step, rows: finished.update({step: rows})).to_frame()
    assert sorted(finished) == list(range(9))
    for known in ([0], [0, 1, 2], list(range(9))):
        rest = {step: finished[step] for step in known}
        assert sweep(census, finished=rest).to_frame().equals(whole)


def test_progress_ends_at_one(census: EncodedTable) -> None:
    seen: list[float] = []
    sweep(census, on_progress=lambda progress: seen.append(progress.done))
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)


def test_the_assessment_of_a_sweep_is_that_of_single_attacks(census: EncodedTable) -> None:
    known = census.quasi_identifiers
    subsets = [known[:1], known[2:5], known]
    single = assess(census, subsets=subsets).attacks
    swept = sweep(census).attacks()
    by_subset = {(a.quasi_identifiers, a.secret): a for a in swept}
    for attack in single:
        assert by_subset[attack.quasi_identifiers, attack.secret] == attack


def test_too_many_subsets_are_refused_with_what_fits() -> None:
    table = as_table(random_rows(5, 10, [2] * 26), 26)
    with pytest.raises(BudgetError, match="26 quasi-identifiers have 67,108,863 subsets; a sweep"):
        sweep(table)
    with pytest.raises(BudgetError, match=r"1,048,575 subsets; .* max:3 fits"):
        sweep(table, quasi_identifiers=[f"q{i}" for i in range(20)], memory=2 << 20)


@settings(max_examples=examples(100))
@given(TABLES, st.integers(1, 70), st.integers(1, 5))
def test_more_records_than_cells_can_count_are_counted(
    drawn: tuple[tuple[int, int], list[Row]], counted: int, largest: int
) -> None:
    """Cells hold few records here: they are added up on the way, and larger parts go by longer prefixes."""
    (attributes, secrets), rows = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep_steps, "COUNTED", counted)
        outcome = sweep(as_table(rows, attributes), subsets=f"max:{largest}", threads=1)
    check(outcome, rows, attributes, secrets)


@pytest.mark.parametrize(("records", "counted"), [(2_000, 50), (20_000, 3_000), (20_000, 9_000)])
def test_a_census_of_more_records_than_cells_count_has_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch, records: int, counted: int
) -> None:
    table = students(records)
    whole = sweep(table).to_frame()
    monkeypatch.setattr(sweep_steps, "COUNTED", counted)
    assert sweep(table, threads=2).to_frame().equals(whole)
    monkeypatch.setattr(sweep_steps, "CHUNK_RECORDS", 777)
    monkeypatch.setattr(sweep_steps._Steps, "_fitting", lambda *_: table.records // 3)
    assert sweep(table, memory=1 << 40).to_frame().equals(whole)


@pytest.mark.parametrize("times", [1, 3, 100_000_000, 3_000_000_000])
def test_records_that_stand_for_billions_are_counted_in_64_bits(times: int) -> None:
    """Every record of a table so many times: classes are so many times as large, and nothing overflows."""
    rows = random_rows(7, 200, [3, 4, 2, 3])
    table = as_table(rows, 3)
    columns = [table.column(name) for name in ("q0", "q1", "q2")]
    packing = sweep_steps.plan_packing(columns, [table.column("s0")])
    records = sweep_steps.packed(packing, columns, [table.column("s0")], 0, 200)
    counts = np.full(200, times, np.int64)
    found, left, left_counts = sweep_steps.sweep_partition(packing, [0], [1, 2], records, counts)
    assert int(left_counts.sum(dtype=np.int64)) == 200 * times
    assert len(left) < 200
    expected = twin(rows, 3, 1)
    for mask, row in zip(sweep_steps.partition_masks([0], [1, 2], 2), found, strict=True):
        chosen = tuple(i for i in range(3) if (mask >> i) & 1)
        classes = Counter(tuple(row[i] for i in chosen) for row in rows)
        assert int(row[:10].sum()) == len(classes)
        certain, most = row[sweep_kernel.SECRETS : sweep_kernel.SECRETS + 2].tolist()
        assert certain + most == times * expected[chosen][2][0][0]
        if times > 1000:
            assert int(row[sweep_kernel.SECRETS - 1]) == 200 * times


@pytest.mark.parametrize("subsets", ["some", "max:", "max:0", "max:x", ""])
def test_subsets_are_all_or_a_largest_size(census: EncodedTable, subsets: str) -> None:
    with pytest.raises(StudyError, match="neither all, nor max:K"):
        sweep(census, subsets=subsets)


def shaped_census() -> EncodedTable:
    made = synthetic.generator("school-census")
    table = synthetic.table(made.name, records=100_000, seed=7)
    return read(table, quasi_identifiers=made.quasi_identifiers[3:], sensitive=made.sensitive)


def shaped_outpatient() -> EncodedTable:
    made = synthetic.generator("outpatient")
    table = synthetic.table(made.name, records=100_000, seed=7)
    fourth = pa.array(np.arange(100_000) % 4)
    return read(
        table.append_column("fourth", fourth),
        quasi_identifiers=[*made.quasi_identifiers, "fourth"],
        sensitive=made.sensitive,
    )


def shaped_by_chance() -> EncodedTable:
    generator = np.random.default_rng(7)
    sizes = [2, 3, 5, 9, 30, 100, 1_000, 20_000, 2, 50]
    columns = {
        f"c{i}": (size * generator.random(40_000) ** 3).astype(int) for i, size in enumerate(sizes)
    }
    names = list(columns)
    return read(pa.table(columns), quasi_identifiers=names[:8], sensitive=names[8:])


@pytest.mark.parametrize("make", [shaped_census, shaped_outpatient, shaped_by_chance])
def test_every_subset_equals_the_group_by_of_a_database(make: Callable[[], EncodedTable]) -> None:
    table = make()
    outcome = sweep(table)
    connection = duckdb.connect(config={"threads": 2})
    names = [*table.quasi_identifiers, *table.sensitive]
    codes = pa.table({f"c{i}": table.column(name).codes for i, name in enumerate(names)})
    connection.register("codes", codes)
    assert len(outcome.masks) == 255
    rows = [*range(255)] if IS_THOROUGH else [*range(0, 255, 3), 254]
    for row, mask in zip(rows, outcome.masks[rows].tolist(), strict=True):
        known = ", ".join(f"c{i}" for i in range(8) if (mask >> i) & 1)
        for s in range(len(table.sensitive)):
            counts = f"select {known}, count(*) as n from codes group by {known}, c{8 + s}"
            classes = f"select sum(n) as size, max(n) as most from ({counts}) group by {known}"
            found = connection.sql(
                "select count(*), count(*) filter (size = 1), sum(most), "
                f"sum(size) filter (size = most), sum(size) filter (size >= 1000) from ({classes})"
            ).fetchall()[0]
            assert [int(value or 0) for value in found] == [
                int(outcome.classes[row].sum()),
                int(outcome.uniques[row]),
                int(outcome.most[row, s]),
                int(outcome.certain[row, s]),
                int(outcome.class_records[row, -1]),
            ]


@settings(max_examples=examples(60))
@given(TABLES, st.integers(0, 2**32))
def test_a_weighted_sweep_is_that_of_weighted_attacks(
    drawn: tuple[tuple[int, int], list[Row]], seed: int
) -> None:
    (attributes, secrets), rows = drawn
    weights = np.random.default_rng(seed).integers(1, 100, len(rows)) / 4
    names = [f"q{i}" for i in range(attributes)]
    wanted = [f"s{i}" for i in range(secrets)]
    columns: dict[str, Any] = dict(zip([*names, *wanted], zip(*rows, strict=True), strict=True))
    table = read(
        pa.table(columns | {"w": weights}),
        quasi_identifiers=names,
        sensitive=wanted,
        prior_weight="w",
    )
    swept = sweep(table)
    single = assess(table, subsets=[swept.names(mask) for mask in swept.masks.tolist()])
    assert Assessment.of_sweep(swept) == single
    for secret in (None, *wanted):
        shares = [v.value for v in shapley_values(swept).values if v.sensitive == secret]
        whole = [a for a in single.attacks if (a.sensitive or None) == secret][-1]
        assert sum(shares) == whole.probabilistic.additive


def test_the_subsets_that_fit_a_time_are_the_small_ones_and_the_whole_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("glasshouse.microdata.lattice.SUBSET_SECONDS", 0.05)
    columns = {f"c{i}": [j >> i & 1 for j in range(40)] for i in range(6)}
    secret = {"s": [str(j % 3) if j % 5 else None for j in range(40)], "t": list("ab" * 20)}
    table = read(pa.table(columns | secret), quasi_identifiers=list(columns), sensitive=["s", "t"])
    swept = sweep(table, subsets="within:1")
    chosen = [(name,) for name in columns]
    assert swept.to_frame() == sweep(table, subsets=[*chosen, tuple(columns)]).to_frame()
    assert swept.known["s"].records == 32
    assert len(swept.known["s"].masks) == 7
    assert sweep(table, subsets="within:100").to_frame() == sweep(table).to_frame()
    with pytest.raises(StudyError, match="neither all"):
        sweep(table, subsets="within:0")


def test_the_largest_sets_that_fit_a_time_depend_on_its_length_and_on_the_data_alone() -> None:
    sizes = [largest_size("within:60", 20, 10**power) for power in (3, 5, 6, 7, 9)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    assert largest_size("within:600", 20, 10**6) > largest_size("within:60", 20, 10**6)
    assert largest_size("within:60", 24, 10**6) == 3
    assert MOST_SWEPT == MOST_ATTRIBUTES
