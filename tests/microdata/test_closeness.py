"""Close guesses against the obvious: every guess that can be the best one is tried, in fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from glasshouse.errors import DataError
from glasshouse.microdata import attack
from glasshouse.microdata.closeness import Closeness, close_guesses
from glasshouse.qif import GainFunction, GVulnerability, Prior
from glasshouse.study.assess import Tolerance
from glasshouse.table import EncodedTable, read
from tests.examples import examples

TOLERANCES = (
    Tolerance(Fraction(0), is_share=False),
    Tolerance(Fraction(3, 2), is_share=False),
    Tolerance(Fraction(40), is_share=False),
    Tolerance(Fraction(1, 10), is_share=True),
    Tolerance(Fraction(1, 2), is_share=True),
    Tolerance(Fraction(99, 100), is_share=True),
)


def made_up(seed: int, records: int, attributes: int) -> EncodedTable:
    random = np.random.default_rng(seed)
    columns = {
        f"q{place}": random.integers(0, random.integers(1, 5), records).tolist()
        for place in range(attributes)
    }
    kinds = (
        random.integers(-12, 13, records),
        random.integers(0, 4, records),
        random.integers(100, 300, records) / 10,
    )
    columns["x"] = [str(value) for value in kinds[seed % 3].tolist()]
    return read(pa.table(columns), quasi_identifiers=[*columns][:-1], sensitive=["x"])


def close_to(value: Fraction, tolerance: Tolerance) -> tuple[Fraction, Fraction]:
    room = tolerance.amount * (abs(value) if tolerance.is_share else 1)
    return value - room, value + room


def obvious(
    table: EncodedTable, known: tuple[str, ...], tolerance: Tolerance
) -> tuple[Fraction, Fraction, Fraction]:
    """Return a close guess, certainty and the mean error, by the definitions."""
    column = table.column("x")
    numbers = [Fraction(written) for written in column.values.to_pylist()]
    codes = [table.column(name).codes.tolist() for name in known]
    classes = defaultdict(list)
    for value, *facts in zip(column.codes.tolist(), *codes, strict=True):
        classes[tuple(facts)].append(numbers[value])
    close = certain = off = Fraction(0)
    for values in classes.values():
        spans = [close_to(value, tolerance) for value in values]
        guesses = {end for span in spans for end in span}
        best = max(sum(low <= guess <= high for low, high in spans) for guess in guesses)
        close += best
        certain += best if best == len(values) else 0
        off += min(sum(abs(value - guess) for value in values) for guess in values)
    return close / table.records, certain / table.records, off / table.records


def measured(result: Closeness, row: int) -> tuple[Fraction, Fraction, Fraction]:
    guess, certainty = result.guess(row), result.certainty(row)
    return guess.posterior, certainty.posterior, result.mean_error(row)[1]


@pytest.mark.hypothesis
def test_every_subset_agrees_with_trying_every_guess() -> None:
    for seed in range(examples(10_000, one_of=100)):
        table = made_up(seed, records=3 + seed % 16, attributes=1 + seed % 4)
        tolerance = TOLERANCES[seed // 3 % len(TOLERANCES)]
        swept = close_guesses(table, "x", tolerance)
        assert len(swept.masks) == 2 ** len(table.quasi_identifiers) - 1
        for row, mask in enumerate(swept.masks.tolist()):
            assert measured(swept, row) == obvious(table, swept.names(mask), tolerance), seed
        before = swept.guess().prior, swept.certainty().prior, swept.mean_error()[0]
        assert before == obvious(table, (), tolerance), seed


def test_subsets_that_are_named_have_the_figures_of_the_sweep() -> None:
    table = made_up(4, records=60, attributes=4)
    names = table.quasi_identifiers
    chosen = [subset for size in (1, 3) for subset in combinations(names, size)]
    for tolerance in TOLERANCES:
        every = close_guesses(table, "x", tolerance)
        some = close_guesses(table, "x", tolerance, subsets=chosen)
        few = close_guesses(table, "x", tolerance, subsets="max:2")
        by_names = {every.names(mask): row for row, mask in enumerate(every.masks.tolist())}
        for result in (some, few):
            for row, mask in enumerate(result.masks.tolist()):
                assert measured(result, row) == measured(every, by_names[result.names(mask)])


def test_what_is_written_down_is_read_again() -> None:
    table = made_up(2, 30, 3)
    for subsets in ("all", [("q2", "q0"), ("q1",)]):
        result = close_guesses(table, "x", TOLERANCES[3], subsets=subsets)
        (again,) = Closeness.from_sums(result.to_sums(), result.quasi_identifiers)
        assert again.to_dict() == result.to_dict()
        for row, mask in enumerate(result.masks.tolist()):
            assert again.row_of(result.names(mask)) == row
            assert measured(again, row) == measured(result, row)
            assert again.mean_error(row) == result.mean_error(row)
            assert again.certainty(row) == result.certainty(row)


def test_a_tolerance_of_nothing_is_the_exact_guess() -> None:
    table = made_up(7, records=80, attributes=3)
    exact = attack(table, sensitive="x")
    result = close_guesses(table, "x", TOLERANCES[0])
    assert result.guess() == exact.probabilistic
    assert int(result.certain[-1]) == exact.certain


def test_knowing_more_never_makes_a_guess_less_close() -> None:
    table = made_up(5, records=120, attributes=4)
    result = close_guesses(table, "x", TOLERANCES[3])
    rows = {mask: row for row, mask in enumerate(result.masks.tolist())}
    for mask, row in rows.items():
        for less, lower in rows.items():
            if less & mask == less:
                assert result.close[lower] <= result.close[row]
                assert result.certain[lower] <= result.certain[row]
                assert result.off[lower] >= result.off[row]


def test_what_is_missing_is_not_guessed() -> None:
    people = pa.table({"sex": ["F", "F", "M"], "income": ["10", "", "20"]})
    table = read(people, quasi_identifiers=["sex"], sensitive=["income"])
    result = close_guesses(table, "income", TOLERANCES[3])
    assert (result.records, int(result.certain[-1])) == (2, 2)


def test_what_is_no_number_is_refused_in_one_line() -> None:
    people = pa.table({"sex": ["F", "F", "M"], "income": ["10", "much", "20"]})
    table = read(people, quasi_identifiers=["sex"], sensitive=["income"])
    with pytest.raises(DataError, match='record 2: "much" in column "income" is not a number'):
        close_guesses(table, "income", TOLERANCES[3])


def test_numbers_of_too_many_digits_are_refused() -> None:
    people = pa.table({"sex": ["F", "M"], "income": ["1", "9" * 30]})
    table = read(people, quasi_identifiers=["sex"], sensitive=["income"])
    with pytest.raises(DataError, match="too many digits"):
        close_guesses(table, "income", TOLERANCES[3])


def test_the_gain_of_qif_gives_the_same_figures() -> None:
    table = made_up(10, records=14, attributes=1)
    numbers = [Fraction(written) for written in table.column("x").values.to_pylist()]
    counts = np.bincount(table.column("x").codes).tolist()
    prior = Prior([Fraction(count, 14) for count in counts], numbers)
    for tolerance in TOLERANCES:
        gain = GainFunction.close(numbers, within=tolerance.amount, share=tolerance.is_share)
        expected = close_guesses(table, "x", tolerance).guess().prior
        assert GVulnerability(gain).prior(prior) == expected
