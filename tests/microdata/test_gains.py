"""Every aim under every prior against exact Bayes on small tables; and files of gains and priors."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import Attack, Leakage, assess, attack, attack_kernels
from glasshouse.microdata.gains import (
    Gain,
    RecordWorth,
    read_gain_matrix,
    read_prior,
    sum_of_ratios,
    with_abstaining,
)
from glasshouse.qif import CoOccurrence, GainFunction, Prior, Tries
from glasshouse.qif.capacity import additive_capacity, multiplicative_bayes_capacity
from glasshouse.qif.channel import Channel
from glasshouse.qif.measures import BayesVulnerability, Certainty, GVulnerability, Measure
from glasshouse.study import Dialect
from glasshouse.table import EncodedTable, read

Row = tuple[str, str, int]
"""What is known of a person, the secret, and the weight of the record."""

VALUES = "pqrs"
ROWS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from(VALUES), st.integers(0, 3)),
    min_size=1,
    max_size=8,
).filter(lambda rows: any(weight for _, _, weight in rows))
PARTS = st.lists(st.integers(0, 4), min_size=4, max_size=4)
NUMBERS = st.builds(Fraction, st.integers(-6, 9), st.integers(1, 4))
WORTHS = st.lists(NUMBERS.map(abs), min_size=4, max_size=4)
MATRICES = st.lists(st.lists(NUMBERS, min_size=4, max_size=4), min_size=1, max_size=4)


def as_table(rows: list[Row]) -> EncodedTable:
    known, secrets, weights = zip(*rows, strict=True)
    return read(pa.table({"known": known, "secret": secrets, "w": weights}))


def by_value(numbers: list[Any], values: tuple[Any, ...]) -> dict[Any, Any]:
    return {value: numbers[VALUES.index(value)] for value in values}


class Bayes:
    """The same question to the QIF package: prior and channel of the records that weigh anything."""

    def __init__(self, rows: list[Row], parts: list[int] | None) -> None:
        known, secrets, weights = zip(*(row for row in rows if row[2]), strict=True)
        steps = CoOccurrence.from_records(secrets, known, weights=weights)
        self.values, self.channel, self.pi = steps.secrets, steps.channel(), steps.prior()
        self.given: dict[Any, Fraction] | None = None
        own = by_value(parts or [0] * 4, self.values)
        if sum(own.values()):
            self.given = {value: Fraction(n, sum(own.values())) for value, n in own.items()}
            self.pi = Prior.of(self.given)

    def leakage(self, measure: Measure) -> Leakage:
        prior, posterior = measure.prior(self.pi), measure.posterior(self.pi, self.channel)
        assert isinstance(prior, Fraction)
        assert isinstance(posterior, Fraction)
        return Leakage(prior, posterior)

    def chances(self) -> dict[Any, list[Fraction]]:
        """Per observation, the joint probabilities of it and each value."""
        return {
            y: [Fraction(self.pi[x]) * Fraction(self.channel[x, y]) for x in self.values]
            for y in self.channel.outputs
        }


def ask(rows: list[Row], bayes: Bayes, gain: Gain | None = None) -> Attack:
    return attack(
        as_table(rows),
        quasi_identifiers=["known"],
        sensitive="secret",
        prior_weight="w",
        prior=bayes.given,
        gain=gain,
    )


@given(ROWS, PARTS)
def test_one_guess_and_certainty_under_any_prior_and_weights(
    rows: list[Row], parts: list[int]
) -> None:
    bayes = Bayes(rows, parts)
    outcome = ask(rows, bayes)
    assert outcome.probabilistic == bayes.leakage(BayesVulnerability())
    assert outcome.deterministic == bayes.leakage(Certainty())
    assert outcome.probabilistic.additive >= 0


@given(ROWS, PARTS)
def test_records_are_counted_by_their_chance(rows: list[Row], parts: list[int]) -> None:
    bayes = Bayes(rows, parts)
    outcome = ask(rows, bayes)
    success = [0] * 11
    chances = bayes.chances()
    for known, secret, weight in rows:
        joint = chances.get(known, [Fraction(0)])
        chance = max(joint) / sum(joint) if any(joint) else 0
        is_possible = weight > 0 and bool(joint[bayes.values.index(secret)])
        success[floor(10 * chance) if chance < 1 or is_possible else 0] += 1
    assert list(outcome.success) == success
    assert outcome.certain == success[-1]


@given(ROWS, PARTS, st.integers(1, 5))
def test_tries_under_any_prior_and_weights(rows: list[Row], parts: list[int], k: int) -> None:
    bayes = Bayes(rows, parts)
    assert ask(rows, bayes, Tries(k)).gain == bayes.leakage(Tries(k))


@pytest.mark.parametrize("tries", [1, 2, 5, 40, 300])
@pytest.mark.parametrize("factor", [1, 3, 0.1])
def test_the_best_values_of_large_classes_are_the_first_of_a_sorted_list(
    tries: int, factor: float
) -> None:
    """2,000 records, 7 classes, 300 values, many of them equally frequent: of these she names those met first."""
    generator = np.random.default_rng(tries)
    order = generator.permutation(2_000).astype(np.uint32)
    starts = np.array([0, 1, 3, 10, 500, 500, 900, 2_000])
    codes = (300 * generator.random(2_000) ** 2).astype(np.uint16)
    weights = generator.integers(0, 4, 2_000)
    expected = np.zeros(300, np.int64)
    for begin, end in itertools.pairwise(starts):
        count: Counter[int] = Counter()
        for record in order[begin:end]:
            if weights[record]:
                count[int(codes[record])] += int(weights[record])
        for code in sorted(count, key=lambda code: -count[code])[:tries]:
            expected[code] += count[code]
    picked = attack_kernels.best_values(order, starts, codes, weights, np.full(300, factor), tries)
    assert picked.tolist() == expected.tolist()


@pytest.mark.parametrize("tries", [1, 2, 5, 40, 600])
@pytest.mark.parametrize("most", [2, 1_000_000])
def test_the_heaviest_records_of_large_classes_are_the_last_of_a_sorted_list(
    tries: int, most: int
) -> None:
    generator = np.random.default_rng(tries)
    order = generator.permutation(2_000).astype(np.uint32)
    starts = np.array([0, 1, 3, 10, 500, 500, 900, 2_000])
    weights = generator.integers(0, most, 2_000)
    best = [
        sum(sorted(weights[order[begin:end]].tolist())[-tries:])
        for begin, end in itertools.pairwise(starts)
    ]
    assert attack_kernels.heaviest_records(order, starts, weights, tries) == sum(best)


@given(ROWS, PARTS, WORTHS)
def test_worth_under_any_prior_and_weights(
    rows: list[Row], parts: list[int], numbers: list[Fraction]
) -> None:
    bayes = Bayes(rows, parts)
    worth = by_value(numbers, bayes.values)
    outcome = ask(rows, bayes, worth)
    assert outcome.gain == bayes.leakage(GVulnerability(GainFunction.worth(worth)))
    factor = outcome.gain.multiplicative
    assert outcome.capacity is not None
    assert factor is None or factor <= outcome.capacity


@given(ROWS, PARTS, MATRICES, st.booleans())
def test_gain_matrices_under_any_prior_and_weights(
    rows: list[Row], parts: list[int], matrix: list[list[Fraction]], abstains: bool
) -> None:
    bayes = Bayes(rows, parts)
    chosen = [list(by_value(row, bayes.values).values()) for row in matrix]
    gain = GainFunction(chosen, secrets=bayes.values)
    gain = with_abstaining(gain) if abstains else gain
    outcome = ask(rows, bayes, gain)
    assert outcome.gain == bayes.leakage(GVulnerability(gain))
    assert outcome.gain.additive >= 0
    assert outcome.gain.prior >= 0 or not abstains


@given(ROWS, PARTS)
def test_capacities_are_those_of_the_channel(rows: list[Row], parts: list[int]) -> None:
    bayes = Bayes(rows, parts)
    outcome = ask(rows, bayes)
    everyone = Prior.uniform(bayes.values)
    assert outcome.capacity == multiplicative_bayes_capacity(bayes.channel)
    assert outcome.additive_capacity == additive_capacity(everyone, bayes.channel)
    factor = outcome.probabilistic.multiplicative
    assert factor is not None
    assert factor <= outcome.capacity
    assert outcome.probabilistic.additive <= outcome.additive_capacity


def names_of_records(rows: list[Row]) -> tuple[Prior, Channel]:
    """Prior and channel of an adversary who re-identifies: the secret is the record."""
    whole = sum(weight for _, _, weight in rows)
    pi = Prior([Fraction(weight, whole) for _, _, weight in rows])
    return pi, Channel.deterministic(lambda i: rows[i][0], inputs=range(len(rows)))


@given(ROWS, st.integers(1, 9))
def test_re_identification_with_weights_of_zero(rows: list[Row], k: int) -> None:
    pi, channel = names_of_records(rows)
    outcome = attack(as_table(rows), quasi_identifiers=["known"], prior_weight="w", gain=Tries(k))
    for found, measure in (
        (outcome.probabilistic, BayesVulnerability()),
        (outcome.deterministic, Certainty()),
        (outcome.gain, Tries(k)),
    ):
        assert found == Leakage(
            Fraction(measure.prior(pi)), Fraction(measure.posterior(pi, channel))
        )
    possible = Counter(known for known, _, weight in rows if weight)
    assert outcome.certain == sum(size == 1 for size in possible.values())
    assert outcome.capacity == multiplicative_bayes_capacity(channel)
    assert outcome.additive_capacity == additive_capacity(Prior.uniform(channel.inputs), channel)


@given(ROWS, st.lists(st.sampled_from(["0", "1", "2.5", "10"]), min_size=8, max_size=8))
def test_worth_of_records(rows: list[Row], worths: list[str]) -> None:
    pi, channel = names_of_records(rows)
    texts = worths[: len(rows)]
    known, _, weights = zip(*rows, strict=True)
    table = read(pa.table({"known": known, "w": weights, "worth": texts}))
    gain = RecordWorth("worth")
    outcome = attack(table, quasi_identifiers=["known"], prior_weight="w", gain=gain)
    measure = GVulnerability(GainFunction.worth(dict(enumerate(map(Fraction, texts)))))
    assert outcome.gain == Leakage(
        Fraction(measure.prior(pi)), Fraction(measure.posterior(pi, channel))
    )
    factor = outcome.gain.multiplicative
    assert outcome.capacity is not None
    assert factor is None or factor <= outcome.capacity


def test_worth_of_records_without_weights() -> None:
    table = read(pa.table({"q": ["x", "x", "y"], "worth": [1, 5, 0.5]}))
    outcome = attack(table, quasi_identifiers=["q"], gain=RecordWorth("worth"))
    assert outcome.gain == Leakage(Fraction(5, 3), Fraction(11, 6))


def test_a_group_that_alone_matters_is_one_of_weight_zero_for_all_others() -> None:
    """To infer whether somebody is ill, of women only: the men weigh nothing."""
    table = read(
        pa.table(
            {
                "sex": ["F", "F", "F", "M", "M"],
                "town": ["A", "B", "B", "A", "B"],
                "ill": ["yes", "no", "yes", "no", "no"],
                "women": [1, 1, 1, 0, 0],
            }
        )
    )
    outcome = attack(table, quasi_identifiers=["town"], sensitive="ill", prior_weight="women")
    women = attack(table.of_records(np.arange(3)), quasi_identifiers=["town"], sensitive="ill")
    assert outcome.probabilistic == women.probabilistic == Leakage(Fraction(2, 3), Fraction(2, 3))
    assert outcome.deterministic == women.deterministic
    assert outcome.capacity == women.capacity


def test_a_class_of_weight_zero_is_not_certain() -> None:
    table = read(pa.table({"q": ["x", "y", "y"], "s": ["a", "b", "b"], "w": [1, 0, 0]}))
    for secret in (None, "s"):
        outcome = attack(table, quasi_identifiers=["q"], sensitive=secret, prior_weight="w")
        assert outcome.certain == 1
        assert outcome.deterministic.posterior == 1


@pytest.fixture(scope="module")
def large() -> EncodedTable:
    """30,000 records, 300 classes, a secret of 100 values that are far from equally frequent."""
    generator = np.random.default_rng(11)
    secret = (100 * generator.random(30_000) ** 3).astype(int)
    known = (secret * generator.integers(1, 4, 30_000) + generator.integers(0, 9, 30_000)) % 300
    return read(pa.table({"known": known, "secret": secret}))


def test_what_is_decided_in_doubles_is_exact_to_the_last_digits(large: EncodedTable) -> None:
    values = [str(value) for value in large.column("secret").values.to_pylist()]
    whole = sum(range(1, len(values) + 1))
    prior = {value: Fraction(i, whole) for i, value in enumerate(values, start=1)}
    outcome = attack(large, quasi_identifiers=["known"], sensitive="secret", prior=prior)
    pairs = Counter(
        zip(
            large.column("known").codes.tolist(), large.column("secret").codes.tolist(), strict=True
        )
    )
    totals = Counter(large.column("secret").codes.tolist())
    chance: dict[int, Fraction] = {}
    share: dict[int, Fraction] = {}
    for (known, value), count in pairs.items():
        own = Fraction(count, totals[value])
        share[known] = max(share.get(known, own), own)
        chance[known] = max(chance.get(known, Fraction(0)), prior[values[value]] * own)
    assert outcome.capacity == sum(share.values())
    assert outcome.probabilistic.posterior == sum(chance.values())
    assert "capacity" not in repr(outcome)  # whose digits may be too many to print


def test_an_assessment_takes_a_prior_per_secret(large: EncodedTable) -> None:
    prior = {"0": 0.5, "*": 0.5}
    known = [("known",), ()]
    outcome = assess(large, subsets=known, sensitive=["secret"], priors={("secret",): prior})
    naming, inferring, _, blind = outcome.attacks
    alone = attack(large, quasi_identifiers=["known"], sensitive="secret", prior=prior)
    assert inferring == alone
    assert naming == attack(large, quasi_identifiers=["known"])
    assert blind.probabilistic == Leakage(Fraction(1, 2), Fraction(1, 2))
    assert blind.capacity == 1
    assert blind.additive_capacity == 0


def test_weights_priors_gains_and_joint_secrets_are_the_same_in_slices() -> None:
    generator = np.random.default_rng(3)
    sizes = {"a": 9, "b": 5, "ill": 3, "poor": 2, "w": 4, "worth": 6}
    table = read(pa.table({name: generator.integers(0, n, 400) for name, n in sizes.items()}))
    words: dict[str, Any] = {
        "subsets": [["a", "b"], ["b"]],
        "sensitive": ["ill", ("ill", "poor")],
        "gains": {
            (): RecordWorth("worth"),
            ("ill",): GainFunction.worth({"0": 1, "1": 5, "2": 3}),
            ("ill", "poor"): Tries(2),
        },
        "priors": {("ill",): {"0": 0.5, "1": 0.3, "2": 0.2}},
        "prior_weight": "w",
    }
    whole = assess(table, **words).attacks
    assert assess(table, most_records=60, **words).attacks == whole


def test_others_share_what_is_left_equally() -> None:
    table = as_table([("x", "p", 1), ("x", "q", 1), ("y", "q", 1), ("y", "r", 1)])
    known: Any = {"quasi_identifiers": ["known"], "sensitive": "secret"}
    shared = attack(table, **known, prior={"p": 0.2, "*": 0.8})
    named = attack(table, **known, prior={"p": 0.2, "q": 0.4, "r": Fraction(2, 5)})
    assert shared == named


def test_impossible_values_leave_certainty() -> None:
    table = as_table([("x", "p", 1), ("x", "q", 1), ("y", "q", 1), ("y", "q", 1)])
    outcome = attack(
        table, quasi_identifiers=["known"], sensitive="secret", prior={"p": 0.0, "q": 1.0}
    )
    assert outcome.deterministic == Leakage(Fraction(1), Fraction(1))
    assert (
        outcome.certain == 3
    )  # the record with p cannot be the target's, and she would be wrong about it


def test_a_probability_too_small_for_doubles_is_possible_still() -> None:
    table = as_table([("x", "p", 1), ("x", "q", 1)])
    tiny = Fraction(1, 10**400)
    outcome = attack(
        table, quasi_identifiers=["known"], sensitive="secret", prior={"p": tiny, "q": 1 - tiny}
    )
    assert outcome.certain == 0
    assert outcome.probabilistic == Leakage(1 - tiny, 1 - tiny)


PRIOR_FAULTS: dict[str, tuple[Any, str]] = {
    "a value is missing": ({"p": 1}, 'no probability is given for "q" of "secret"; give one'),
    "a value is unknown": ({"p": 0.5, "Q": 0.5}, 'for "q" .* value "Q" .* did you mean "q"'),
    "values are unknown": (
        {"P": 0.5, "Q": 0.5},
        'no probability is given for "p", "q" .* values "P", "Q" are not .* did you mean "p", "q"',
    ),
    "the sum": ({"p": 0.5, "q": 0.4}, 'the prior on "secret" adds up to 0.9, not to 1'),
    "the sum, nearly": ({"p": 0.5, "q": 0.5 + 1e-16, "*": 1e-17}, "adds up to 1000"),
    "below 0": ({"p": -0.5, "q": 1.5}, 'the probability of "p" of "secret" is −0.5; it must be'),
    "above 1": ({"p": 1.5, "q": 0}, 'the probability of "p" of "secret" is 1.5; it must be'),
    "no number": ({"p": "half", "q": 0.5}, "a probability of half is not a number"),
    "nothing left": ({"p": 0.5, "q": 0.25, "*": 0.25}, 'nothing is left for "\\*"'),
    "no mapping": ([0.5, 0.5], "is a probability per value, not"),
}


@pytest.mark.parametrize("fault", PRIOR_FAULTS)
def test_a_prior_that_is_none(fault: str) -> None:
    prior, message = PRIOR_FAULTS[fault]
    table = as_table([("x", "p", 1), ("x", "q", 1)])
    with pytest.raises(StudyError, match=message) as refusal:
        attack(table, quasi_identifiers=["known"], sensitive="secret", prior=prior)
    assert "\n" not in str(refusal.value)


def test_a_prior_on_what_weighs_nothing_is_refused() -> None:
    table = as_table([("x", "p", 1), ("x", "q", 0)])
    known: Any = {"quasi_identifiers": ["known"], "sensitive": "secret", "prior_weight": "w"}
    with pytest.raises(
        StudyError, match='prior gives "q" of "secret" a probability, but no record'
    ):
        attack(table, **known, prior={"p": 0.5, "q": 0.5})
    assert attack(table, **known, prior={"p": 1}).probabilistic.prior == 1


def test_re_identification_takes_no_prior_on_a_secret() -> None:
    table = as_table([("x", "p", 1)])
    with pytest.raises(StudyError, match="re-identification takes no prior on a secret"):
        attack(table, quasi_identifiers=["known"], prior={"p": 1})
    with pytest.raises(StudyError, match="re-identification takes no prior on a secret"):
        assess(table, subsets=[["known"]], sensitive=["secret"], priors={(): {"p": 1}})
    with pytest.raises(StudyError, match=r"a prior is given for .* none of the secrets"):
        assess(table, subsets=[["known"]], sensitive=["secret"], priors={("w",): {"1": 1}})


def test_gains_that_do_not_fit_are_refused() -> None:
    table = as_table([("x", "p", 1), ("x", "q", 1)])
    known: Any = {"quasi_identifiers": ["known"], "sensitive": "secret"}
    with pytest.raises(
        StudyError, match='for re-identification; give a worth per value of "secret"'
    ):
        attack(table, **known, gain=RecordWorth("w"))
    with pytest.raises(StudyError, match='value "r" is not in column "secret"'):
        attack(table, **known, gain=GainFunction.bayes("pqr"))
    with pytest.raises(StudyError, match='"p" of "secret" is given twice'):
        attack(table, **known, gain={"p": 1, "q": 1, Letter(): 2})
    with pytest.raises(DataError, match='record 1: worth "x" in column "known" is not a number'):
        attack(table, quasi_identifiers=["known"], gain=RecordWorth("known"))
    with pytest.raises(StudyError, match="too many digits to be added"):
        attack(table, **known, gain={"p": 1e-30, "*": 1e30})


class Letter:
    """Something that is no text but is written like a value."""

    def __str__(self) -> str:
        return "p"


def test_worth_and_weights_of_too_many_digits_are_refused() -> None:
    table = read(pa.table({"q": ["x"], "w": ["1000000001"], "v": ["1000000001"]}))
    with pytest.raises(StudyError, match='worth in column "v", have too many digits'):
        attack(table, quasi_identifiers=["q"], prior_weight="w", gain=RecordWorth("v"))


def test_numbers_name_values_that_are_numbers() -> None:
    table = read(pa.table({"q": ["x", "x"], "s": [1, 2]}))
    outcome = attack(table, quasi_identifiers=["q"], sensitive="s", gain={1: 3, 2: 5})
    assert outcome.gain == Leakage(Fraction(5, 2), Fraction(5, 2))


def test_booleans_name_values_of_a_column_of_booleans() -> None:
    table = read(pa.table({"q": ["x", "x", "y"], "s": [True, False, True], "t": ["a", "b", "a"]}))
    for worth in ({True: 10, False: 2}, {"True": 10, "False": 2}):
        outcome = attack(table, quasi_identifiers=["q"], sensitive="s", gain=worth)
        assert outcome.gain == Leakage(Fraction(20, 3), Fraction(20, 3))
    joint = attack(
        table, quasi_identifiers=["q"], sensitive=("s", "t"), gain={(True, "a"): 10, "*": 2}
    )
    assert joint.gain == Leakage(Fraction(20, 3), Fraction(20, 3))


def test_a_factor_of_nothing_or_of_a_loss_says_nothing() -> None:
    for prior in (0, -1):
        leakage = Leakage(Fraction(prior), Fraction(1))
        assert leakage.multiplicative is None
        assert leakage.additive == 1 - prior


def test_abstaining_is_added_once() -> None:
    bet = GainFunction([[-1, 2]], guesses=["bet"], secrets="pq")
    careful = with_abstaining(bet)
    assert careful.guesses == ("bet", "abstain")
    assert careful.matrix.tolist() == [[-1, 2], [0, 0]]
    assert with_abstaining(careful) == careful
    with pytest.raises(StudyError, match='the action "abstain" gains or loses something'):
        with_abstaining(GainFunction([[1, 0]], guesses=["abstain"], secrets="pq"))


def written(folder: Path, text: str) -> Path:
    path = folder / "file.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_gain_matrix_is_read_exactly(tmp_path: Path) -> None:
    path = written(tmp_path, "action;p;q\nbet;0.1;-2e-1\nabstain;0;1/3\n")
    gain = read_gain_matrix(path)
    assert gain == GainFunction(
        [[Fraction(1, 10), Fraction(-1, 5)], [Fraction(0), Fraction(1, 3)]],
        guesses=["bet", "abstain"],
        secrets=["p", "q"],
    )


def test_a_gain_matrix_of_any_kind_of_file(tmp_path: Path) -> None:
    path = tmp_path / "gains.parquet"
    pyarrow.parquet.write_table(pa.table({"action": ["bet"], "p": [0.5], "q": [-1]}), path)
    gain = read_gain_matrix(path)
    assert (gain["bet", "p"], gain["bet", "q"]) == (Fraction(1, 2), -1)
    spaced = written(tmp_path, "action, p \n bet , 7\n")
    assert read_gain_matrix(spaced, dialect=Dialect(strip=True))["bet", "p"] == 7


def test_a_gain_matrix_of_a_joint_secret_joins_the_values(tmp_path: Path) -> None:
    people = pa.table(
        {"q": ["x", "x", "y"], "ill": ["yes", "no", "no"], "school": ["public", "state", "state"]}
    )
    known: Any = {"quasi_identifiers": ["q"], "sensitive": ["ill", "school"]}
    gain = read_gain_matrix(written(tmp_path, "action,yes+public,*\nbet,10,-1\nstay,0,0\n"))
    outcome = attack(read(people), **known, gain=gain)
    assert outcome.gain == Leakage(Fraction(8, 3), Fraction(9, 3))
    pairs: dict[Any, int] = {("yes", "public"): 1, ("no", "state"): 2}
    joined: dict[Any, int] = {"yes+public": 1, "no+state": 2}
    by_pair = attack(read(people), **known, gain=pairs)
    assert by_pair.gain == attack(read(people), **known, gain=joined).gain
    with pytest.raises(StudyError, match=r'"yes\+public" of "ill", "school" is given twice'):
        attack(read(people), **known, gain=pairs | joined)


def test_joined_names_that_could_be_two_values_are_not_taken() -> None:
    people = read(pa.table({"q": ["x", "x"], "a": ["1", "1+2"], "b": ["2+3", "3"]}))
    known: Any = {"quasi_identifiers": ["q"], "sensitive": ["a", "b"]}
    with pytest.raises(StudyError, match=r'value "1\+2\+3" is not in'):
        attack(people, **known, gain={"1+2+3": 1, "*": 0})
    exact = attack(people, **known, gain={("1", "2+3"): 1, "*": 0})
    assert exact.gain == Leakage(Fraction(1, 2), Fraction(1, 2))


MATRIX_FAULTS = {
    "not a number": ("action,p\nbet,much\n", 'action "bet" in column "p" is "much", which is not'),
    "not finite": ("action,p\nbet,1/0\n", 'is "1/0", which is not a number'),
    "too many digits": ("action,p\nbet,1e-1000\n", 'in column "p" has too many digits; round it'),
    "far too many": (f"action,p\nbet,{'1' * 5_000}\n", "has too many digits; round it"),
    "an empty cell": ("action,p,q\nbet,1,\n", 'in column "q" is "", which is not a number'),
    "an action twice": ("action,p\nbet,1\nbet,2\n", 'action "bet" is there twice'),
    "an action without name": ("action,p\nbet,1\n,2\n", "action 2 has no name"),
    "no value": ("action\nbet\n", "has one column only; a gain matrix has"),
    "no action": ("action,p\n", "has a header but no records"),
    "a value twice": ("action,p,p\nbet,1,2\n", "have no name, or the same as another"),
}


@pytest.mark.parametrize("fault", MATRIX_FAULTS)
def test_a_file_that_is_no_gain_matrix(fault: str, tmp_path: Path) -> None:
    text, message = MATRIX_FAULTS[fault]
    with pytest.raises(DataError, match=message) as refusal:
        read_gain_matrix(written(tmp_path, text))
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).startswith("file.csv")


def test_a_frame_without_actions_is_no_gain_matrix(tmp_path: Path) -> None:
    path = tmp_path / "gains.parquet"
    pyarrow.parquet.write_table(pa.table({"action": pa.array([], pa.string()), "p": []}), path)
    with pytest.raises(DataError, match="has no actions"):
        read_gain_matrix(path)


def test_a_prior_is_read_exactly(tmp_path: Path) -> None:
    path = written(tmp_path, "value,probability\np,0.1\n,1/3\n*,17/30\n")
    prior = read_prior(path)
    assert prior == {"p": Fraction(1, 10), "": Fraction(1, 3), "*": Fraction(17, 30)}
    table = read(pa.table({"q": ["x", "x", "y"], "s": ["p", None, "r"]}))
    table = replace(table, missing_is_a_value=True)
    outcome = attack(table, quasi_identifiers=["q"], sensitive="s", prior=prior)
    assert outcome.probabilistic == Leakage(Fraction(17, 30), Fraction(9, 10))


PRIORS_FAULTS = {
    "one column": ("value\np\n", "has 1 columns; a prior has two"),
    "a value twice": ("value,probability\np,0.5\np,0.5\n", 'value "p" is there twice'),
    "not a number": ("value,probability\np,half\n", 'the probability of "p" is "half", which is'),
}


@pytest.mark.parametrize("fault", PRIORS_FAULTS)
def test_a_file_that_is_no_prior(fault: str, tmp_path: Path) -> None:
    text, message = PRIORS_FAULTS[fault]
    with pytest.raises(DataError, match=message):
        read_prior(written(tmp_path, text))


def test_the_outcome_says_its_capacity() -> None:
    outcome = attack(as_table([("x", "p", 1), ("y", "q", 1)]), quasi_identifiers=["known"])
    content = outcome.to_dict()
    assert content["capacity"] == 2.0
    assert list(content).index("capacity") == list(content).index("probabilistic") + 1


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 9))))
def test_a_sum_of_ratios_is_exact(ratios: list[tuple[int, int]]) -> None:
    numerators, denominators = [n for n, _ in ratios], [d for _, d in ratios]
    assert sum_of_ratios(numerators, denominators) == sum(Fraction(n, d) for n, d in ratios)
