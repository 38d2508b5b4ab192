"""Attacks against the obvious: exact Bayes on small tables by the QIF package, one record at a time."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import assess, attack, explain
from glasshouse.microdata.attack_kernels import record_numbers
from glasshouse.microdata.leakage import SIZE_BINS, ClassSizes
from glasshouse.qif.capacity import multiplicative_bayes_capacity
from glasshouse.qif.cooccurrence import CoOccurrence
from glasshouse.qif.gain import GainFunction
from glasshouse.qif.measures import BayesVulnerability, Certainty, GVulnerability, Measure, Tries
from glasshouse.table import partition as partition_module
from glasshouse.table import read
from glasshouse.table.partition import partition

Row = tuple[str, str, str, str]
NAMES = ("a", "b", "c", "secret")
SMALL = st.sampled_from("xyz")
ROWS = st.lists(st.tuples(SMALL, SMALL, SMALL, st.sampled_from("pqrs")), min_size=1, max_size=6)
KNOWN = st.sets(st.sampled_from(NAMES[:3])).map(sorted)
WEIGHTS = st.integers(1, 5)


def as_table(rows: list[Row], weights: list[int] | None = None) -> pa.Table:
    columns: dict[str, Any] = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    return pa.table(columns if weights is None else columns | {"w": weights})


def observed(row: Row, known: list[str]) -> tuple[str, ...]:
    return tuple(row[NAMES.index(name)] for name in known)


def bayes(
    rows: list[Row], known: list[str], weights: list[int] | None = None, *, naming: bool = False
) -> CoOccurrence:
    secrets: list[Any] = list(range(len(rows))) if naming else [row[3] for row in rows]
    return CoOccurrence.from_records(
        secrets, [observed(row, known) for row in rows], weights=weights
    )


def both(measure: Measure, steps: CoOccurrence) -> tuple[Any, Any]:
    return measure.prior(steps.prior()), measure.posterior(steps.prior(), steps.channel())


@given(ROWS, KNOWN, st.booleans())
def test_attacks_equal_exact_bayes(rows: list[Row], known: list[str], naming: bool) -> None:
    steps = bayes(rows, known, naming=naming)
    outcome = attack(
        read(as_table(rows)), quasi_identifiers=known, sensitive=None if naming else "secret"
    )
    chance, certainty = outcome.probabilistic, outcome.deterministic
    assert (chance.prior, chance.posterior) == both(BayesVulnerability(), steps)
    assert (certainty.prior, certainty.posterior) == both(Certainty(), steps)
    assert outcome.certain == certainty.posterior * len(rows)


@given(
    ROWS.flatmap(
        lambda rows: st.tuples(
            st.just(rows), st.lists(WEIGHTS, min_size=len(rows), max_size=len(rows))
        )
    ),
    KNOWN,
    st.booleans(),
)
def test_record_weights_are_a_prior(
    drawn: tuple[list[Row], list[int]], known: list[str], naming: bool
) -> None:
    rows, weights = drawn
    steps = bayes(rows, known, weights, naming=naming)
    table = read(as_table(rows, weights))
    outcome = attack(
        table, quasi_identifiers=known, sensitive=None if naming else "secret", prior_weight="w"
    )
    chance, certainty = outcome.probabilistic, outcome.deterministic
    assert (chance.prior, chance.posterior) == both(BayesVulnerability(), steps)
    assert (certainty.prior, certainty.posterior) == both(Certainty(), steps)


@given(ROWS, KNOWN, st.integers(1, 5), st.booleans())
def test_several_tries(rows: list[Row], known: list[str], k: int, naming: bool) -> None:
    steps = bayes(rows, known, naming=naming)
    secret = None if naming else "secret"
    outcome = attack(read(as_table(rows)), quasi_identifiers=known, sensitive=secret, gain=Tries(k))
    assert outcome.gain is not None
    assert (outcome.gain.prior, outcome.gain.posterior) == both(Tries(k), steps)


@given(
    ROWS,
    KNOWN,
    st.lists(st.lists(st.integers(-4, 9), min_size=4, max_size=4), min_size=1, max_size=4),
    WEIGHTS,
)
def test_any_gain_function(
    rows: list[Row], known: list[str], matrix: list[list[int]], denominator: int
) -> None:
    steps = bayes(rows, known)
    present = ["pqrs".index(str(value)) for value in steps.secrets]
    exact = [[Fraction(row[i], denominator) for i in present] for row in matrix]
    gain = GainFunction(exact, secrets=steps.secrets)
    outcome = attack(read(as_table(rows)), quasi_identifiers=known, sensitive="secret", gain=gain)
    assert outcome.gain is not None
    assert (outcome.gain.prior, outcome.gain.posterior) == both(GVulnerability(gain), steps)


@given(ROWS, KNOWN)
def test_float_arithmetic_agrees_with_exact(rows: list[Row], known: list[str]) -> None:
    steps = bayes(rows, known)
    outcome = attack(read(as_table(rows)), quasi_identifiers=known, sensitive="secret")
    floats: Any = BayesVulnerability().posterior(
        steps.prior().to_float(), steps.channel().to_float()
    )
    assert abs(floats - outcome.probabilistic.posterior) < 1e-12


@given(ROWS, KNOWN, st.sampled_from(NAMES[:3]), st.booleans())
def test_knowing_more_never_lowers_success(
    rows: list[Row], known: list[str], more: str, naming: bool
) -> None:
    table, secret = read(as_table(rows)), None if naming else "secret"
    less = attack(table, quasi_identifiers=known, sensitive=secret)
    full = attack(table, quasi_identifiers=[*known, *({more} - set(known))], sensitive=secret)
    for before, after in (
        (less.probabilistic, full.probabilistic),
        (less.deterministic, full.deterministic),
    ):
        assert before.prior == after.prior
        assert before.prior <= before.posterior <= after.posterior


@given(ROWS, KNOWN)
def test_certainty_is_at_most_the_chance_of_a_right_guess_and_leakage_at_most_capacity(
    rows: list[Row], known: list[str]
) -> None:
    table = read(as_table(rows))
    for outcome in assess(table, subsets=[known], sensitive=["secret"]).attacks:
        assert outcome.deterministic.posterior <= outcome.probabilistic.posterior
        steps = bayes(rows, known, naming=not outcome.secret)
        factor = outcome.probabilistic.multiplicative
        assert factor is not None
        assert outcome.capacity == multiplicative_bayes_capacity(steps.channel())
        assert factor <= outcome.capacity


@given(ROWS, KNOWN)
def test_a_joint_secret_is_the_pair_as_one_attribute(rows: list[Row], known: list[str]) -> None:
    table = as_table(rows)
    pairs = table.append_column("pair", pa.array([f"{row[2]}|{row[3]}" for row in rows]))
    joint = attack(read(table), quasi_identifiers=known, sensitive=["c", "secret"])
    single = attack(read(pairs), quasi_identifiers=known, sensitive="pair")
    assert joint.secret == ("c", "secret")
    assert (joint.probabilistic, joint.deterministic) == (
        single.probabilistic,
        single.deterministic,
    )


def test_worth_of_a_joint_secret_is_given_by_pairs() -> None:
    table = read(as_table([("x", "x", "y", "p"), ("x", "x", "z", "q")]))
    outcome = attack(
        table, quasi_identifiers=["a"], sensitive=["c", "secret"], gain={("y", "p"): 3, "*": 1}
    )
    assert outcome.gain is not None
    assert (outcome.gain.prior, outcome.gain.posterior) == (Fraction(3, 2), Fraction(3, 2))


@pytest.mark.parametrize("columns", [1, 2, 9, 40])
@pytest.mark.parametrize("slots", [0, 1 << 22])
def test_classes_are_found_whatever_the_width_of_the_key(
    monkeypatch: pytest.MonkeyPatch, columns: int, slots: int
) -> None:
    """40 columns of 200 values do not fit 64 bits: classes are numbered anew on the way."""
    monkeypatch.setattr(partition_module, "_DIRECT_SLOTS", slots)
    generator = np.random.default_rng(5)
    rows = generator.integers(0, 200, (300, columns))[generator.integers(0, 300, 2_000)]
    table = read(pa.table({f"q{i}": rows[:, i] for i in range(columns)}))
    classes = partition(table, list(table.columns))
    _, numbers, sizes = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    assert sorted(classes.sizes) == sorted(sizes)
    assert len(set(zip(classes.numbers, numbers, strict=True))) == classes.classes
    assert np.array_equal(classes.numbers[classes.order], np.sort(classes.numbers))
    assert classes.uniques == np.count_nonzero(sizes == 1)


def test_decimal_weights_are_exact() -> None:
    table = read(pa.table({"q": ["x", "x", "y"], "w": ["0.1", "0.2", "0.7"]}))
    outcome = attack(table, quasi_identifiers=["q"], prior_weight="w")
    assert outcome.probabilistic.prior == Fraction(7, 10)
    assert outcome.probabilistic.posterior == Fraction(9, 10)


PLAIN = st.from_regex(r"\A\+?([0-9]{1,5}\.?[0-9]{0,5}|\.[0-9]{1,5})\Z")
EXPONENTS = st.sampled_from(["", "", "", "e0", "E3", "e+2", "e-4", "E-12"])
SPACES = st.sampled_from(["", "", " ", "  ", "\t", "\u00a0"])
NUMBERS = st.builds(lambda a, plain, e, b: a + plain + e + b, SPACES, PLAIN, EXPONENTS, SPACES)


@given(st.lists(NUMBERS, min_size=1, max_size=5))
@example([".0", "\t0E-12  "])
def test_numbers_become_integers_by_the_smallest_scale(texts: list[str]) -> None:
    table = read(pa.table({"q": texts, "w": texts}))
    exact = [Fraction(text.strip()) for text in texts]
    scale = lcm(*(number.denominator for number in exact))
    if max(exact) * scale * len(texts) > (1 << 63) // 16:
        with pytest.raises(DataError, match="too many digits"):
            record_numbers(table, "w", "weight")
        return
    found, found_scale = record_numbers(table, "w", "weight")
    assert found_scale == scale
    assert found.tolist() == [number * scale for number in exact]


LONG = {
    "zeros at the end": (["0.5" + 40 * "0", "2.0"], [1, 4], 2),
    "zeros at the beginning": ([40 * "0" + "3", "0.25"], [12, 1], 4),
    "many decimals": (["0.000000000931322574615478515625", "0"], [1, 0], 1 << 30),
    "many decimals of all": (["1e-30", "3e-30"], [1, 3], 10**30),
    "more than 64 bits on the way": (["1e15", "0.03125"], [32 * 10**15, 1], 32),
    "a large integer": (["144115188075855872", "0"], [1 << 57, 0], 1),
}


@pytest.mark.parametrize("case", LONG)
def test_numbers_of_many_digits_are_exact_as_well(case: str) -> None:
    texts, integers, scale = LONG[case]
    found, found_scale = record_numbers(read(pa.table({"w": texts})), "w", "weight")
    assert (found.tolist(), found_scale) == (integers, scale)


@pytest.mark.parametrize(
    "texts",
    [
        ["9223372036854775808", "1"],
        ["9e18", "1"],
        ["1e99", "1e-99"],
        ["1e123", "1"],
        ["1e99999999", "1"],
    ],
)
def test_numbers_beyond_64_bits_are_refused(texts: list[str]) -> None:
    with pytest.raises(DataError, match="too many digits"):
        record_numbers(read(pa.table({"w": texts})), "w", "weight")


@pytest.mark.parametrize("text", ["1.2.3", "1e", "1e+", "e5", ".", "+", "1 2", "١", "--1"])
def test_what_only_looks_like_a_number_is_named_with_its_record(text: str) -> None:
    table = read(pa.table({"w": ["1", "2.5", text, "worse"]}))
    with pytest.raises(DataError) as refusal:
        record_numbers(table.of_records(np.array([1, 2, 3])), "w", "weight")
    assert f'record 3: weight "{text}" in column "w" is not a number from 0 on' in str(
        refusal.value
    )


@pytest.mark.parametrize("weight", ["-1", "many", "", "nan", "1/0"])
def test_a_weight_that_is_not_a_number_from_zero_on_is_named(weight: str) -> None:
    table = read(pa.table({"q": ["x", "y"], "w": ["1", weight]}))
    with pytest.raises(
        DataError, match=r'record 2: weight ".*" in column "w" is not a number from'
    ):
        attack(table, quasi_identifiers=["q"], prior_weight="w")


def test_somebody_must_weigh_something() -> None:
    table = read(pa.table({"q": ["x", "y"], "w": [0, 0]}))
    with pytest.raises(DataError, match='every weight in column "w" is 0'):
        attack(table, quasi_identifiers=["q"], prior_weight="w")


def test_it_is_said_where_nobody_weighs_something() -> None:
    table = read(pa.table({"q": ["x", "y", "z"], "s": ["a", "b", ""], "w": [0, 0, 3]}))
    with pytest.raises(DataError, match="is 0 in the 2 records that are left, without those that"):
        attack(table, quasi_identifiers=["q"], sensitive="s", prior_weight="w")


def test_weights_of_records_that_were_left_out_do_not_count() -> None:
    table = read(pa.table({"q": ["x", "y", "z"], "w": ["1", "9", "many"]}))
    outcome = attack(table.of_records(np.array([0])), quasi_identifiers=["q"], prior_weight="w")
    assert outcome.probabilistic.prior == 1


def test_weights_with_too_many_digits_are_refused() -> None:
    table = read(pa.table({"q": ["x", "y"], "w": ["1e18", "0.001"]}))
    with pytest.raises(DataError, match="too many digits"):
        attack(table, quasi_identifiers=["q"], prior_weight="w")


def test_a_worth_for_an_unknown_value_is_refused() -> None:
    table = read(as_table([("x", "x", "x", "p")]))
    with pytest.raises(
        StudyError, match=r'value "P" is not in column "secret" .* did you mean "p"'
    ):
        attack(table, quasi_identifiers=["a"], sensitive="secret", gain={"P": 1})


def test_a_worth_must_cover_every_value() -> None:
    table = read(as_table([("x", "x", "x", "p"), ("x", "x", "x", "q")]))
    with pytest.raises(StudyError, match='no worth is given for "q" of "secret"'):
        attack(table, quasi_identifiers=["a"], sensitive="secret", gain={"p": 1})


def test_a_gain_function_must_know_every_value() -> None:
    table = read(as_table([("x", "x", "x", "p")]))
    with pytest.raises(
        StudyError, match=r'no column for "p" of "secret", and value "P" is not .* did you mean "p"'
    ):
        attack(table, quasi_identifiers=["a"], sensitive="secret", gain=GainFunction.bayes("P"))


def test_re_identification_takes_no_worth() -> None:
    with pytest.raises(StudyError, match="re-identification takes a number of tries"):
        attack(read(as_table([("x", "x", "x", "p")])), quasi_identifiers=["a"], gain={"*": 1})


def test_a_missing_column_is_named() -> None:
    with pytest.raises(DataError, match='column "aa" is not in the frame'):
        attack(read(as_table([("x", "x", "x", "p")])), quasi_identifiers=["aa"])


def test_one_record_is_known_before_and_after() -> None:
    outcome = attack(read(as_table([("x", "x", "x", "p")])), quasi_identifiers=["a"])
    assert outcome.deterministic.prior == outcome.deterministic.posterior == 1
    assert outcome.deterministic.additive == 0


def test_the_frame_has_a_row_per_attack() -> None:
    table = read(
        as_table([("x", "x", "x", "p"), ("y", "x", "x", "q")]),
        quasi_identifiers=["a", "b"],
        sensitive=["secret"],
    )
    frame = assess(table, subsets=[["b"], ["a", "b"]]).to_frame()
    assert frame.column("quasi_identifiers").to_pylist() == [["b"]] * 2 + [["a", "b"]] * 2
    assert frame.column("sensitive").to_pylist() == [None, "secret"] * 2
    assert frame.column("probabilistic_posterior").to_pylist() == [0.5, 0.5, 1.0, 1.0]
    assert frame.column("gain_posterior").null_count == 4
    assert frame.column("capacity").to_pylist() == [1.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize("secret", [[], ["secret", "secret"]])
def test_a_secret_needs_attributes_each_once(secret: list[str]) -> None:
    with pytest.raises(StudyError, match="a secret needs at least one"):
        attack(read(as_table([("x", "x", "x", "p")])), quasi_identifiers=["a"], sensitive=secret)


def test_what_is_no_gain_is_refused() -> None:
    table = read(as_table([("x", "x", "x", "p")]))
    known: Any = {"quasi_identifiers": ["a"], "sensitive": "secret"}
    wrong: Any = 3
    with pytest.raises(StudyError, match="a gain is a gain function"):
        attack(table, **known, gain=wrong)
    with pytest.raises(StudyError, match="a gain of nan"):
        attack(table, **known, gain={"p": float("nan")})
    with pytest.raises(StudyError, match="which is none of the secrets"):
        assess(table, subsets=[["a"]], sensitive=["secret"], gains={("other",): Tries(2)})
    with pytest.raises(StudyError, match="there is nothing to assess"):
        assess(table, subsets=[])


def test_forty_values_are_explained_and_no_more() -> None:
    tables = [
        read(pa.table({"age": list(range(number))}), quasi_identifiers=["age"])
        for number in (40, 41)
    ]
    assert len(explain(tables[0]).to_dict()["observations"]) == 40
    with pytest.raises(StudyError, match="small data"):
        explain(tables[1])


@pytest.mark.parametrize(
    ("classes", "records", "least", "smallest", "is_exact"),
    [
        (1, 7, None, 7, True),  # one class from 5 to 9
        (2, 10, None, 5, True),  # all of the least size
        (2, 13, None, 5, False),  # 5 and 8, or 6 and 7
        (2, 13, 6, 6, True),  # it was seen
        (3, 12, None, 5, False),  # neighbourhoods, which share records
        (3, 12, 6, 6, True),
    ],
)
def test_the_smallest_class_is_exact_where_its_bin_leaves_one_size_or_it_was_seen(
    classes: int, records: int, least: int | None, smallest: int, is_exact: bool
) -> None:
    place = SIZE_BINS.index(5)
    counts, sizes = [0] * len(SIZE_BINS), [0] * len(SIZE_BINS)
    counts[place], sizes[place] = classes, records
    counts[-1], sizes[-1] = 1, 5_000
    found = ClassSizes(tuple(counts), tuple(sizes), least)
    assert (found.smallest, found.is_exact) == (smallest, is_exact)
