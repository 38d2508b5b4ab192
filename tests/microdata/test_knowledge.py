"""Knowledge that is not exact against its definition: every value that can be held, in fractions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.errors import DataError, StudyError
from glasshouse.language import speaking
from glasshouse.microdata import assess
from glasshouse.microdata.knowledge import InexactKnowledge, inexact_knowledge
from glasshouse.qif import BayesVulnerability, Channel, Prior
from glasshouse.study.assess import parse_precision
from glasshouse.table import EncodedTable, read
from tests.examples import IS_THOROUGH, examples

Kernel = Callable[[str], dict[object, Fraction]]
NEARLY = Fraction(19, 20)
ROUNDS = 10_000 if IS_THOROUGH else 240
DAYS = ("2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-04")
MATRIX: dict[str, dict[object, Fraction]] = {
    "0": {"x": Fraction(1, 2), "y": Fraction(1, 4), "z": Fraction(1, 4)},
    "1": {"x": Fraction(1, 10), "z": Fraction(9, 10)},
    "2": {"y": Fraction(1)},
}


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernel") / "kernel.csv"
    path.write_text("is,x,y,z\n0,0.5,1/4,0.25\n1,0.1,,0.9\n2,0,1,0\n")
    return path


def kernel(written: str, values: list[str]) -> Kernel:
    """Return what is held for a value, with its chances, by the definitions."""
    precision = parse_precision("q", written)
    if precision.off is not None and not precision.in_days:
        off = int(precision.off)
        share = Fraction(1, 2 * off + 1)

        def window(value: str) -> dict[object, Fraction]:
            if not value:
                return {value: Fraction(1)}
            return {int(value) + step: share for step in range(-off, off + 1)}

        return window
    if precision.off is not None:
        days = int(precision.off)

        def around(value: str) -> dict[object, Fraction]:
            near = np.datetime64(value) + np.arange(-days, days + 1)
            return {str(day): Fraction(1, len(near)) for day in near}

        return around
    if precision.kernel:
        return MATRIX.__getitem__
    domain = sorted(set(values) - {"", "*"})
    right = precision.right or Fraction(0)
    if len(domain) <= 1:
        return lambda value: {value: Fraction(1)}
    wrong = (1 - right) / (len(domain) - 1)

    def mistaken(value: str) -> dict[object, Fraction]:
        if value not in domain:
            return {value: Fraction(1)}
        return {other: right if other == value else wrong for other in domain}

    return mistaken


def obvious(
    columns: Mapping[str, list[str]], about: Mapping[str, str], known: tuple[str, ...], secret: str
) -> tuple[Fraction, Fraction, Fraction]:
    """Return a right guess, certainty and what is nearly sure, by the definitions, of who has the secret."""
    records = [record for record, told in enumerate(columns[secret or "s"]) if told or not secret]
    kernels = [
        kernel(about[name], columns[name])
        if name in about
        else (lambda value: {value: Fraction(1)})
        for name in known
    ]
    joint: dict[object, dict[object, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for record in records:
        aim = columns[secret][record] if secret else record
        held = [one(columns[name][record]) for name, one in zip(known, kernels, strict=True)]
        for seen in product(*(chances.items() for chances in held)):
            share = Fraction(1, len(records))
            for _, chance in seen:
                share *= chance
            if share:
                joint[tuple(value for value, _ in seen)][aim] += share
    guess = certain = nearly = Fraction(0)
    for chances in joint.values():
        best, total = max(chances.values()), sum(chances.values(), Fraction(0))
        guess += best
        certain += total if len(chances) == 1 else 0
        nearly += total if best >= NEARLY * total else 0
    return guess, certain, nearly


def made_up(seed: int) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    random = np.random.default_rng(seed)
    records, attributes = int(random.integers(1, 14)), int(random.integers(1, 5))
    names = tuple(f"q{place}" for place in range(attributes))
    columns = {
        name: random.integers(0, random.integers(1, 4), records).astype(str).tolist()
        for name in names
    }
    columns["s"] = random.integers(0, random.integers(1, 4), records).astype(str).tolist()
    return columns, names


def answered(
    columns: Mapping[str, list[str]],
    names: tuple[str, ...],
    about: Mapping[str, str],
    likely: Mapping[str, str] | None = None,
) -> InexactKnowledge:
    table = read(pa.table(dict(columns)), quasi_identifiers=names, sensitive=["s"])
    return inexact_knowledge(table, about, likely=likely)


def assert_all_agree(
    columns: Mapping[str, list[str]], names: tuple[str, ...], about: Mapping[str, str]
) -> None:
    result = answered(columns, names, about)
    assert len(result.masks) == (2 ** len(about) - 1) * 2 ** (len(names) - len(about))
    for target in result.targets:
        for row, mask in enumerate(result.masks):
            expected = obvious(columns, about, result.names(mask), target.sensitive or "")
            assert target.chances(row) == expected, (about, result.names(mask), target.sensitive)


@pytest.mark.hypothesis
@pytest.mark.parametrize("part", range(8))
def test_every_subset_agrees_with_the_definition(part: int, matrix: Path) -> None:
    for seed in range(part, ROUNDS, 8):
        columns, names = made_up(seed)
        random = np.random.default_rng(seed)
        records = len(columns["s"])
        ways = {
            0: ("±0", "±1", "±2", "±4"),
            1: ("50%", "60%", "90%", "99%", "100%"),
            2: (f"@{matrix}",),
        }
        kinds = (0, 1, 0, 1, 2, -1, -1, -1)[seed % 8]
        number = 1 if kinds >= 0 else min(len(names), 2 + seed % 2)
        about = {}
        for name in random.permutation(names)[:number].tolist():
            kind = kinds if kinds >= 0 else int(random.integers(0, 3))
            about[name] = str(random.choice(ways[kind]))
            if kind == 0:
                columns[name] = random.integers(-3, (2, 9)[seed % 2], records).astype(str).tolist()
        assert_all_agree(columns, names, about)


def test_larger_classes_agree_too() -> None:
    for seed in range(6):
        random = np.random.default_rng(seed)
        columns = {
            "age": random.integers(0, 30, 60).astype(str).tolist(),
            "a": random.integers(0, 3, 60).astype(str).tolist(),
            "b": random.integers(0, 2, 60).astype(str).tolist(),
            "s": (random.random(60) < 0.03).astype(int).astype(str).tolist(),
        }
        assert_all_agree(columns, ("age", "a", "b"), {"age": "±3"})
        assert_all_agree(columns, ("age", "a", "b"), {"a": "97%"})
        assert_all_agree(columns, ("age", "a", "b"), {"age": "±2", "a": "95%"})


def test_dates_are_near_each_other_by_the_calendar() -> None:
    columns = {"birth": [*DAYS, DAYS[2]], "s": list("abcabc")}
    for written in ("±0d", "+-1d", "±2d"):
        assert_all_agree(columns, ("birth",), {"birth": written})


def test_missing_values_have_no_neighbours() -> None:
    columns = {"age": ["1", "", "2", "", "9"], "a": list("xyxyx"), "s": list("abbaa")}
    assert_all_agree(columns, ("age", "a"), {"age": "±3"})


@pytest.mark.parametrize("seed", range(examples(400, one_of=10)))
def test_what_is_missing_is_mistaken_for_no_value(seed: int) -> None:
    random = np.random.default_rng(seed)
    records = int(random.integers(1, 12))
    columns = {
        "town": random.choice(["A", "B", "C", "", "*"], records).tolist(),
        "place": random.choice(["N", "S", "", "T"], records).tolist(),
        "a": random.choice(list("xy"), records).tolist(),
        "b": random.choice(list("xy"), records).tolist(),
        "s": random.choice(list("uvw"), records).tolist(),
    }
    right = ("90%", "60%", "100%")[seed % 3]
    assert_all_agree(columns, ("town", "a", "b"), {"town": right})
    assert_all_agree(columns, ("town", "place", "a"), {"town": right, "place": "95%"})


def test_a_town_that_is_missing_is_known_to_be() -> None:
    naming, _ = answered(
        {"town": ["A", "B", ""], "s": list("xyz")}, ("town",), {"town": "90%"}
    ).targets
    assert naming.chances(0)[:2] == (Fraction(14, 15), Fraction(1, 3))


@pytest.mark.parametrize(
    ("numbers", "written", "guess"),
    [
        (["1.5", "2.0"], "±0.5", Fraction(8, 11)),
        (["1.5", "2.0"], "±0.1", Fraction(1)),
        (["1.8", "2.2"], "±0.3", Fraction(11, 14)),
        (["1.50", "2.00"], "±0.5", Fraction(8, 11)),  # a file that writes a zero more says no more
        (["0.125", "0.126"], "±0.001", Fraction(4, 6)),
        (["10", "20"], "±10", Fraction(31, 42)),
    ],
)
def test_steps_are_decimals(numbers: list[str], written: str, guess: Fraction) -> None:
    """Of two people, the windows of 2k + 1 steps that lie d steps apart overlap in 2k + 1 - d."""
    naming, _ = answered({"x": numbers, "s": list("uv")}, ("x",), {"x": written}).targets
    assert naming.chances(0)[0] == guess


def test_steps_that_are_too_small_are_said_as_decimals() -> None:
    with pytest.raises(StudyError, match=r"has steps of 0\.00000001$"):
        answered({"x": ["0.00000001", "2"], "s": list("uv")}, ("x",), {"x": "±0.000000001"})


@pytest.mark.parametrize("written", ["±0", "100%"])
def test_knowing_exactly_has_the_figures_of_the_attacks(written: str) -> None:
    for seed in range(12):
        columns, names = made_up(seed)
        result = answered(columns, names, {names[0]: written})
        table = read(pa.table(dict(columns)), quasi_identifiers=names, sensitive=["s"])
        sets = [result.names(mask) for mask in result.masks]
        exactly = {
            (attack.quasi_identifiers, attack.secret): attack
            for attack in assess(table, subsets=sets).attacks
        }
        for target in result.targets:
            for row, known in enumerate(sets):
                attack = exactly[known, target.secret]
                assert target.guess(row) == attack.probabilistic
                assert target.certainty(row) == attack.deterministic


def test_wider_can_tell_more() -> None:
    """±2 is no ±1 with noise: three secrets in five places, of which a wider window holds more of one kind."""
    columns = {"x": list("12345"), "s": list("ABCAB")}
    near, far = (answered(columns, ("x",), {"x": written}) for written in ("±1", "±2"))
    assert near.targets[1].guess().posterior == Fraction(7, 15)
    assert far.targets[1].guess().posterior == Fraction(12, 25)


def test_wider_never_names_more() -> None:
    random = np.random.default_rng(3)
    columns = {"x": random.integers(0, 40, 20).astype(str).tolist(), "s": ["0"] * 20}
    named = [
        answered(columns, ("x",), {"x": f"±{off}"}).targets[0].guess().posterior
        for off in range(12)
    ]
    assert named == sorted(named, reverse=True)


def test_what_is_likely_is_the_sum_over_what_she_may_have(matrix: Path) -> None:
    for seed in range(40):
        columns, names = made_up(seed)
        about = [{}, {names[-1]: "80%"}, {names[0]: f"@{matrix}"}, {names[0]: "±1"}][seed % 4]
        likely = dict(zip(names, ("50%", "0.9", "0%"), strict=False))
        result = answered(columns, names, about, likely)
        for target in result.targets:
            totals = [Fraction(0)] * 3
            for having in product((False, True), repeat=len(likely)):
                share, known = Fraction(1), [name for name in names if name not in likely]
                for has, (name, written) in zip(having, likely.items(), strict=True):
                    chance = {"50%": Fraction(1, 2), "0.9": Fraction(9, 10), "0%": Fraction(0)}[
                        written
                    ]
                    share *= chance if has else 1 - chance
                    known += [name] * has
                chances = obvious(columns, about, tuple(known), target.sensitive or "")
                totals = [total + share * one for total, one in zip(totals, chances, strict=True)]
            assert target.mixed is not None
            assert target.mixed[:2] == tuple(totals[:2])
            if result.errs:
                assert target.mixed[2] == totals[2]


@pytest.mark.parametrize(
    ("about", "likely"),
    [
        ({"q0": "±1"}, {}),
        ({"q0": "90%", "q1": "±2"}, {"q2": "30%"}),
        ({}, {"q1": "50%"}),
    ],
)
def test_what_is_written_down_is_read_again(about: dict[str, str], likely: dict[str, str]) -> None:
    columns = {
        "q0": list("1223344512"),
        "q1": list("0101123012"),
        "q2": list("aabbccabca"),
        "x": list("ynynynyyny"),
        "z": list("kkllmmkklm"),
    }
    table = read(pa.table(columns), quasi_identifiers=["q0", "q1", "q2"], sensitive=["x", "z"])
    secrets = [("x",), ("x", "z")]
    result = inexact_knowledge(table, about, likely=likely, secrets=secrets)
    again = InexactKnowledge.from_sums(
        result.to_sums(),
        about=about,
        likely=likely,
        quasi_identifiers=["q0", "q1", "q2"],
        secrets={"+".join(secret): secret for secret in secrets},
    )
    assert again == result


def test_sets_that_are_named_have_the_figures_of_all() -> None:
    columns, names = made_up(10)
    table = read(pa.table(dict(columns)), quasi_identifiers=names, sensitive=["s"])
    every = inexact_knowledge(table, {names[0]: "±1"})
    some = inexact_knowledge(table, {names[0]: "±1"}, subsets=[names, names[:1], names[1:2]])
    assert [some.names(mask) for mask in some.masks] == [names[:1], names]
    for target, same in zip(some.targets, every.targets, strict=True):
        for row, mask in enumerate(some.masks):
            assert target.chances(row) == same.chances(every.row_of(some.names(mask)))


def test_sets_that_would_take_long_are_left_out_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("glasshouse.microdata.knowledge.MOST_LOOKS", 10)
    columns, names = made_up(10)
    table = read(pa.table(dict(columns)), quasi_identifiers=names, sensitive=["s"])
    about = {names[0]: "±1", names[1]: "±1"}
    outcome = gh.assess(table, about=about)
    known = outcome.outcome.inexact
    assert [known.names(mask) for mask in known.masks] == [names]
    assert known.skipped == known.to_dict()["skipped"] > 0
    for language, words in (("en", "were left out"), ("pt-BR", "ficaram de fora")):
        with speaking(language):
            assert any(
                words in note and f"{known.skipped} " in note
                for section in outcome.page.sections
                for note in (section.intro, *section.notes)
            )


@pytest.mark.parametrize("seed", range(examples(200, one_of=10)))
def test_a_missing_secret_is_left_out(seed: int, matrix: Path) -> None:
    """What may be held is of the whole release; what is missing of a town and of a secret may meet or not."""
    random = np.random.default_rng(seed)
    records = int(random.integers(2, 12))
    columns = {
        "town": random.choice(["A", "B", "C", ""], records).tolist(),
        "place": random.choice(["N", "S", "T", "*"], records).tolist(),
        "age": random.choice(["1", "2", "3", "9"], records).tolist(),
        "code": random.choice(["0", "1", "2"], records).tolist(),
        "s": ["u", *random.choice(["u", "v", ""], records - 2).tolist(), ""],
    }
    naming, secret = answered(columns, ("age",), {"age": "±1"}).targets
    assert (naming.records, secret.records) == (records, records - columns["s"].count(""))
    towns = {"town": ("90%", "60%", "100%")[seed % 3]}
    assert_all_agree(columns, ("age", "town"), {"age": "±1"})
    assert_all_agree(columns, ("town", "age"), towns)
    assert_all_agree(columns, ("town", "place"), towns | {"place": "95%"})
    assert_all_agree(columns, ("town", "code"), towns | {"code": f"@{matrix}"})


def test_the_channels_of_qif_have_the_same_vulnerability() -> None:
    ages, towns = [25, 26, 40, 26], list("ABCA")
    columns = {"age": [*map(str, ages)], "town": towns, "s": list("yyny")}
    for name, written, channel in (
        ("age", "±1", Channel.around([25, 26, 40], 1)),
        ("town", "90%", Channel.mistaken("ABC", Fraction(9, 10))),
    ):
        values = ages if name == "age" else towns
        rows = [[channel[value, shown] for shown in channel.outputs] for value in values]
        naming = answered(columns, (name,), {name: written}).targets[0]
        assert naming.guess().posterior == BayesVulnerability().posterior(
            Prior([Fraction(1, 4)] * 4), Channel(rows)
        )


def table_of(**columns: list[str]) -> EncodedTable:
    return read(pa.table(columns), quasi_identifiers=[*columns])


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"town": "±2"}, '"A" in column "town" is not a number'),
        ({"age": "±2d"}, '"30" in column "age" is not a date'),
        ({"town": "10%"}, "a blind guess is right more often"),
        ({"age": "±0.5"}, "smaller steps than the column has"),
        ({"twon": "90%"}, "twon"),
    ],
)
def test_what_makes_no_sense_is_said(about: dict[str, str], message: str) -> None:
    table = table_of(age=["30", "31", "32"], town=["A", "B", "C"])
    with pytest.raises((DataError, StudyError), match=message):
        inexact_knowledge(table, about)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("is,A,B\nA,0.5,0.6\nB,0,1\n", 'the chances of "A" add up to 11/10, not to 1'),
        ("is,A,B\nA,1,0\n", '"B" in column "town" has no row'),
        ("is,A,B\nA,1,0\nB,2,-1\n", "is not a chance"),
        ("is,A\nA,1\nA,1\n", "is there twice"),
    ],
)
def test_a_kernel_that_is_none_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "kernel.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        inexact_knowledge(table_of(town=["A", "B"]), {"town": f"@{path}"})
