"""Sentences of assess that compare: the direction agrees with the figures, which share a unit and are those computed.

Every sentence is made of arbitrary figures, in every language, and read back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import cast
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glasshouse.language import LANGUAGES, speaking, translated
from glasshouse.microdata import Assessment, Attack, Leakage, Sweep, assess, sweep
from glasshouse.microdata.assessment import Advice
from glasshouse.microdata.parts import Best, Family, FamilyPart
from glasshouse.report.assess import charts, family, family_charts, findings, front, sets
from glasshouse.report.assess.charts import Influence
from glasshouse.report.page import Finding
from glasshouse.study.policy import OPEN_DATA
from glasshouse.table import read
from tests.report.reading import telling, tries

UP = re.compile(
    r"\bup from\b|\brose\b|\bcontra\b|\bsubiu\b|sem esse conhecimento, em|\brises\b|\bsobe\b"
)
DOWN = re.compile(r"\bfall from\b|\bfell\b|\bcairiam\b|\bcaiu\b")
SAME = re.compile(
    r"no better|no more than without|as without|hardly chang|nothing changed|stays at|não acerta mais|"
    r"não mais do que isso|o mesmo que|quase não mud|nada mudou|continua em|with or without|com ou sem|whatever|"
    r"qualquer que seja"
)
FIGURE = re.compile(
    r"([<>] ?|less than |menos de |more than |mais de )?([0-9][0-9.,]*[0-9]|[0-9])( ?%)?"
)


@dataclass(frozen=True)
class Figure:
    """A number of a sentence, and between what it may be."""

    low: Fraction
    high: Fraction
    per_cent: bool
    text: str

    def holds(self, value: Fraction) -> bool:
        return self.low <= value <= self.high


def figures(sentence: str, code: str) -> list[Figure]:
    """Return the numbers of a sentence with decimals or per cent, as a reader understands them."""
    found = []
    for match in FIGURE.finditer(sentence):
        bound, digits, sign = match[1] or "", match[2], match[3]
        plain = (
            digits.replace(",", "") if code == "en" else digits.replace(".", "").replace(",", ".")
        )
        whole, point, decimals = plain.partition(".")
        if not (sign or point):
            continue
        value, half = Fraction(plain), Fraction(1, 2 * 10 ** len(decimals))
        if whole in ("0", "100") and not decimals:
            half = Fraction(0)  # none is none, all is all
        low, high = value - half, value + half
        if bound.startswith(("<", "less", "menos")):
            low, high = Fraction(0), value
        elif bound:
            low, high = value, Fraction(100)
        found.append(Figure(low, high, bool(sign), match[0]))
    return found


def assert_it_says(sentence: str, code: str, *values: Fraction) -> None:
    """Hold a sentence against the figures that it is to tell, in its order, in per cent or points."""
    told = figures(sentence, code)
    assert len(told) == len(values), sentence
    assert len({figure.per_cent for figure in told}) <= 1, f"one unit: {sentence}"
    for figure, value in zip(told, values, strict=True):
        assert figure.holds(100 * value), f"{float(100 * value)} in: {sentence}"


def assert_its_direction(
    sentence: str, before: Fraction, after: Fraction, told: tuple[str, str]
) -> None:
    """Hold the words that compare against the figures: those printed, and those computed."""
    rises, falls, same = (bool(words.search(sentence)) for words in (UP, DOWN, SAME))
    assert rises + falls + same == 1, sentence
    assert same == (told[0] == told[1]), f"{told} in: {sentence}"
    if rises:
        assert before < after, sentence
    if falls:
        assert before > after, sentence


def chances() -> st.SearchStrategy[Fraction]:
    near = st.integers(1, 10**6).map(lambda n: Fraction(n, 10**6 + n))
    return st.one_of(
        st.fractions(0, 1, max_denominator=10**5), near, st.sampled_from([Fraction(0), Fraction(1)])
    )


def leakages() -> st.SearchStrategy[Leakage]:
    close = st.tuples(chances(), st.integers(0, 30)).map(
        lambda pair: Leakage(pair[0], min(Fraction(1), pair[0] + Fraction(pair[1], 10**6)))
    )
    apart = st.tuples(chances(), chances()).map(lambda pair: Leakage(min(pair), max(pair)))
    return st.one_of(close, apart)


PEOPLE = pa.table({"age": list("aabbcc"), "sex": list("FMFMFM"), "ill": list("yynnny")})
NAMING, INFERRING = assess(
    read(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["ill"])
).attacks


def attack_of(base: Attack, guess: Leakage, certain: int, records: int = 1000) -> Attack:
    share = Leakage(Fraction(0), Fraction(certain, records))
    return replace(base, probabilistic=guess, deterministic=share, certain=certain, records=records)


def said(sentence: str) -> list[str]:
    return [match[0] for match in FIGURE.finditer(sentence) if match[3]]


@tries(
    "assess",
    "learns the {secret} of {people} with certainty",
    "certain of anybody's {secret}",
    "correct guesses at {secret}, without these facts and with them; certain: {certain}",
)
@settings(max_examples=50)
@given(guess=leakages(), certain=st.integers(0, 1000))
def test_a_guess_at_a_secret(guess: Leakage, certain: int) -> None:
    attack = attack_of(INFERRING, guess, certain)
    shares = [Fraction(certain, 1000)] if certain else []
    for code in LANGUAGES:
        with telling(code):
            sentence = findings._inferring_sentence(attack, NAMING, "student")
            tile = front._given_away([attack], "student")
            same = len(set(said(sentence)[len(shares) :])) == 1
            told = [guess.posterior] if same else [guess.posterior, guess.prior]
            assert_it_says(sentence, code, *shares, *told)
            both = said(sentence)[len(shares) :]
            assert_its_direction(sentence, guess.prior, guess.posterior, (both[0], both[-1]))
            sure = Fraction(certain, 1000)
            values = [sure, guess.posterior] if same else [guess.prior, guess.posterior, sure]
            assert_it_says(f"{tile.figure} {tile.sentence}", code, *values)


@tries("assess", "and who guesses no better")
@settings(max_examples=50)
@given(guess=leakages(), certain=st.integers(0, 999))
def test_who_can_be_named(guess: Leakage, certain: int) -> None:
    attack = attack_of(NAMING, guess, certain)
    shares = [Fraction(certain, 1000)] if certain else []
    for code in LANGUAGES:
        with telling(code):
            sentence = findings.naming_sentence(attack, "student")
            enough = findings._already(attack, "student").sentence
            tile = front._at_risk(attack, "student")
            for told, values in ((sentence, shares), (enough, []), (tile.sentence, [])):
                once = re.search(r"(?:once in|1 de cada) ([0-9.,]+)", told)
                if once is None:
                    likely = [] if told is tile.sentence and not certain else [guess.posterior]
                    assert_it_says(told, code, *values, *likely)
                else:
                    count = int(re.sub("[.,]", "", once[1].rstrip(".,")))
                    assert abs(1 / guess.posterior - count) <= Fraction(1, 2)
                    assert guess.posterior < Fraction(1, 100)
            assert bool(SAME.search(sentence)) == (certain == 0 == guess.additive)


@tries("assess", "do no better", "within {count} guesses in {after}")
@settings(max_examples=50)
@given(guess=leakages())
def test_several_datasets_and_several_guesses(guess: Leakage) -> None:
    first = attack_of(NAMING, Leakage(Fraction(0), guess.prior), 0)
    last = replace(attack_of(NAMING, Leakage(Fraction(0), guess.posterior), 0), datasets=("a", "b"))
    bands = [
        (1, Fraction(0), Fraction(0), guess.prior, 1),
        (3, Fraction(0), Fraction(0), guess.posterior, 1),
    ]
    for code in LANGUAGES:
        with telling(code):
            grown = findings._grown(replace(first, datasets=("a",)), last).sentence
            title = charts._grown([[first], [last]])
            tries = [
                findings.gained(
                    [replace(base, gain=guess)], subject="student", currency=None, tries=2
                ).sentence
                for base in (NAMING, INFERRING)
            ]
            before_and_after = charts._given_away([attack_of(NAMING, guess, 0)])
            band = front._band_title(bands)
            both = said(grown)
            told = [guess.prior] if SAME.search(grown) else [guess.prior, guess.posterior]
            assert_it_says(grown, code, *told)
            assert bool(SAME.search(grown)) == (len(both) == 1)
            for sentence in tries:
                same = bool(SAME.search(sentence))
                assert_it_says(sentence, code, guess.posterior, *([] if same else [guess.prior]))
                figures_told = said(sentence)
                assert_its_direction(
                    sentence, guess.prior, guess.posterior, (figures_told[0], figures_told[-1])
                )
            for sentence in (title, before_and_after, band):
                assert_it_says(sentence, code, guess.prior, guess.posterior)


@tries("assess", "rises from {prior}")
@settings(max_examples=50)
@given(guess=leakages(), money=st.booleans())
def test_what_guesses_are_worth(guess: Leakage, money: bool) -> None:
    worth = Leakage(1000 * guess.prior, 1000 * guess.posterior)
    for code in LANGUAGES:
        with telling(code):
            sentences = [
                findings.gained(
                    [replace(base, gain=worth)],
                    subject="student",
                    currency="€" if money else None,
                    tries=None,
                ).sentence
                for base in (NAMING, INFERRING)
            ]
            prior, posterior = findings._worths(worth, "€" if money else None)
            for sentence in sentences:
                assert prior in sentence
                assert_its_direction(sentence, worth.prior, worth.posterior, (prior, posterior))


@tries("assess", "Without {attribute}, correct", "would hardly change correct")
@settings(max_examples=50)
@given(guess=leakages(), secret=st.booleans())
@example(guess=Leakage(Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**9)), secret=False)
def test_leaving_out_one_attribute(guess: Leakage, secret: bool) -> None:
    influence = Influence("age", Fraction(1, 2), guess.additive, guess.posterior)
    target = "ill" if secret else None
    advice = Advice(
        "leave-out", ("sex",), ("age",), target, guess.posterior, guess.prior, meets=False
    )
    for code in LANGUAGES:
        with telling(code):
            title = charts._influence_title({target: [influence]})
            action = front._action(advice, None, OPEN_DATA).change
            with patch.object(charts, "influences", return_value={None: (influence, influence)}):
                leaving = charts.influence_findings(cast("Sweep", SimpleNamespace(total=1000)))
            for finding in leaving:
                printed = said(finding.sentence)
                assert_it_says(
                    finding.sentence, code, *[guess.posterior, guess.prior][: len(printed)]
                )
                if len(printed) == 2:
                    assert_its_direction(
                        finding.sentence, guess.posterior, guess.prior, (printed[0], printed[1])
                    )
            if said(title):
                assert_it_says(title, code, guess.posterior, guess.prior)
                assert len(set(said(title))) == 2, "what hardly changes is said so"
            assert_it_says(action, code, guess.posterior, guess.prior)


@tries(
    "assess",
    "helps most",
    "exactly: {before}",
    "No two facts reveal more",
)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_findings_of_random_tables_read_back(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 200))
    table = pa.table(
        {
            name: random.integers(0, int(random.integers(1, 9)), size).astype(str)
            for name in ("a", "b", "c")
        }
    )
    swept = sweep(read(table, quasi_identifiers=["a", "b", "c"]))
    outcome = Assessment.of_sweep(swept)
    after = {attack.quasi_identifiers: attack.probabilistic.posterior for attack in outcome.attacks}
    whole = after[("a", "b", "c")]
    least = min(after[pair] for pair in (("a", "b"), ("a", "c"), ("b", "c")))
    worst = max(risk for known, risk in after.items() if len(known) == 2)
    for code in LANGUAGES:
        with telling(code):
            leaving = charts.influence_findings(swept)
            pairs = sets.pairs_figure(outcome)
            told = findings.findings(outcome, sweep=swept)
            for finding in leaving:
                printed = said(finding.sentence)
                assert_it_says(finding.sentence, code, *[whole, least][: len(printed)])
                if len(printed) == 2:
                    assert_its_direction(finding.sentence, whole, least, (printed[0], printed[1]))
            if pairs is not None:
                assert_it_says(" ".join(pairs.chart["title"]["text"]), code, worst)
            for finding in told:
                assert "of every" not in finding.sentence
                assert "em cada" not in finding.sentence


# Parts side by side


def family_of(leakages: list[Leakage], *, ordered: bool, by: str | None = None) -> Family:
    """Return parts of a thousand people each, of whom a guess at who it is, and at a secret, is right so often."""
    parts = tuple(
        FamilyPart(
            f"part {'abcdef'[place]}",
            1000,
            tuple(Best(target, 1, ("age",), guess) for target in (None, "ill")),
            {None: 1.0, "ill": 1.0},
        )
        for place, guess in enumerate(leakages)
    )
    return Family(("age",), ("ill",), ordered, parts, by)


def many(least: int) -> st.SearchStrategy[list[Leakage]]:
    return st.lists(leakages(), min_size=least, max_size=4)


def points(sentence: str, code: str) -> list[Figure]:
    """The numbers of points, outside brackets."""
    outside = re.sub(r"\([^()]*→[^()]*\)", "", sentence)
    return [figure for figure in figures(outside, code) if not figure.per_cent]


@tries(
    "assess",
    "adds most to right guesses",
    "adds to right guesses at {goal} differs",
    "What is added to right guesses differs",
    "gives away more than another",
)
@settings(max_examples=50)
@given(guesses=many(2), by=st.sampled_from([None, "race"]))
def test_the_part_where_most_is_added(guesses: list[Leakage], by: str | None) -> None:
    releases = family_of(guesses, ordered=False, by=by)
    added = sorted(guess.additive for guess in guesses)
    in_order = [added[0], added[-1]] if by else [added[-1], added[0]]
    for code in LANGUAGES:
        with telling(code):
            sentence = family.family_findings(releases, exact=True)[0].sentence
            title = family_charts._finding(
                releases, family_charts.part_guesses(releases, None), "part"
            )
            if added[0] == added[-1]:
                continue
            for told in (sentence, title):
                printed = points(told, code)
                assert [
                    figure.holds(100 * value)
                    for figure, value in zip(printed, in_order, strict=True)
                ] == [True] * 2
                if added[-1] - added[0] >= Fraction(1, 10**5):
                    assert printed[0].text != printed[1].text, told
            assert ("part a" in sentence) == (
                by is None and guesses[0].additive in (added[0], added[-1])
            )


@tries(
    "assess",
    "hardly changed: {after}",
    "rose from {before}",
    "fell from {before}",
    "The largest step was",
    "the facts add {points}",
    "add as much as",
)
@settings(max_examples=50)
@given(guesses=many(2))
def test_what_changed_from_the_first_part_to_the_last(guesses: list[Leakage]) -> None:
    releases = family_of(guesses, ordered=True)
    first, last = guesses[0].additive, guesses[-1].additive
    steps = [b.additive - a.additive for a, b in pairwise(guesses)]
    for code in LANGUAGES:
        with telling(code):
            finding = family.family_findings(releases, exact=True)[0]
            title = family_charts._time_finding(releases, None)
            before, after = (
                family_charts.part_guesses(releases, None)[place].points for place in (0, -1)
            )
            rises, falls = (bool(words.search(finding.sentence)) for words in (UP, DOWN))
            assert rises == (first < last and before != after), finding.sentence
            assert falls == (first > last and before != after), finding.sentence
            printed = points(finding.sentence, code)
            in_order = [first, last][-len(printed) :]
            assert [
                figure.holds(100 * value) for figure, value in zip(printed, in_order, strict=True)
            ] == [True] * len(printed)
            more, less = (
                ("more than in", "less than in")
                if code == "en"
                else ("a mais do que", "a menos do que")
            )
            assert (more in title) == (first < last)
            assert (less in title) == (first > last)
            if finding.meaning:
                up = re.search(r"\bup\b|\balta\b|\baumento\b", finding.meaning) is not None
                assert points(finding.meaning, code)[0].holds(100 * max(map(abs, steps)))
                assert up == (max(steps, key=abs) > 0) or -max(steps, key=abs) in steps


@tries("assess", "already gives half or more", "already give half or more")
@settings(max_examples=50)
@given(guesses=many(1))
def test_the_first_screen_of_parts(guesses: list[Leakage]) -> None:
    releases = family_of(guesses, ordered=False)
    before = [guess.prior for guess in guesses]
    chances_after = [guess.posterior for guess in guesses]
    low, high = min(chances_after), max(chances_after)
    for code in LANGUAGES:
        with telling(code):
            summary = family._summary(releases, "part")
            tiles = family._tiles(releases, "part")
            priors = family._small_set(
                releases, None, family_charts.part_guesses(releases, None), "part"
            )
            printed = said(summary)
            assert_it_says(summary, code, *[low, high][: len(printed)])
            assert_it_says(tiles[0].figure, code, *[low, high][: len(said(tiles[0].figure))])
            assert_half_is_half(guesses, code)
            for finding in priors:
                if min(before) > 0 and max(before) < 1:
                    told = said(finding.sentence)
                    assert_it_says(finding.sentence, code, *[min(before), max(before)][: len(told)])


def assert_half_is_half(guesses: list[Leakage], code: str) -> None:
    """Hold what a smaller set is said to give against the figures of every part."""
    parts = tuple(
        FamilyPart(
            f"part {'abcdef'[place]}",
            1000,
            tuple(
                Best(None, size, known, leakage)
                for size, known, leakage in (
                    (1, ("age",), Leakage(guess.prior, (guess.prior + guess.posterior) / 2)),
                    (2, ("age", "sex"), guess if place < 2 else Leakage(guess.prior, Fraction(1))),
                )
            ),
            {None: 1.0},
        )
        for place, guess in enumerate(guesses)
    )
    releases = Family(("age", "sex"), (), False, parts)
    half = [
        2 * best[0].leakage.additive >= best[1].leakage.additive > 0
        for best in (part.of(None) for part in parts)
    ]
    with speaking(code):
        guessed = family_charts.part_guesses(releases, None)
        sentence = family._small_set(releases, None, guessed, "part")[:1]
        tiles = family._tiles(releases, "part")
    words = re.compile(r"half or more|metade ou mais|pelo menos metade")
    said_so = [finding.sentence for finding in sentence if words.search(finding.sentence)]
    assert bool(said_so) == (2 * sum(half) > len(half)), (sentence, half)
    tile = [tile.sentence for tile in tiles if words.search(tile.sentence)]
    assert bool(tile) == bool(said_so)
    for told in (*said_so, *tile):
        counts = [int(count) for count in re.findall("[0-9]+", told)]
        assert set(counts) <= {2, sum(half), len(half)}, told


@pytest.mark.parametrize("sign", [1, -1])
@tries("assess", "better protected")
def test_whether_larger_parts_give_away_more(sign: int) -> None:
    words = {
        "en": ("more", "less"),
        "pt-BR": ("revelar mais|revelam mais", "revelar menos|revelam menos"),
    }
    for code in LANGUAGES:
        with telling(code):
            for bound, *both in family.DEGREES:
                more, less = (translated(template, people="p", parts="q") for template in both)
                assert re.search(words[code][0], more.rpartition(":")[2]), bound
                assert re.search(words[code][1], less.rpartition(":")[2]), bound
    for sizes in ((1000, 2000, 3000), (2000, 1000, 2000)):
        parts = [
            FamilyPart(
                f"part {place}",
                size,
                (Best(None, 1, ("age",), Leakage(Fraction(1, 10), Fraction(2 + place, 10))),),
                {None: 1.0},
            )
            for place, size in enumerate(sizes[::sign])
        ]
        releases = Family(("age",), (), False, tuple(parts))
        for code in LANGUAGES:
            with telling(code):
                (finding,) = family._by_number(releases, None, "person", "part", of=3)
                tends = re.search(r"give away more|revelar mais|revelam mais", finding.sentence)
                assert bool(tends) == (sign > 0 and sizes[0] == 1000), finding.sentence


def test_the_reader_of_sentences_finds_a_wrong_one() -> None:
    with pytest.raises(AssertionError, match="one unit"):
        assert_it_says("10.0% instead of 3.5", "en", Fraction(1, 10), Fraction(35, 1000))
    with pytest.raises(AssertionError):
        assert_its_direction(
            "in 1.0% of cases, up from 2.0%", Fraction(2, 100), Fraction(1, 100), ("1.0%", "2.0%")
        )
    assert_it_says(
        "acerta em 99,99% dos casos, contra < 0,1%",
        "pt-BR",
        Fraction(9999, 10000),
        Fraction(1, 10**6),
    )
    assert isinstance(findings.findings(Assessment(6, (NAMING,)))[0], Finding)


@tries("assess", "{people} are too few")
@settings(max_examples=20)
@given(records=st.integers(1, 30))
def test_too_few_people_for_a_rule(records: int) -> None:
    for code in LANGUAGES:
        with telling(code):
            few = front.too_few(records, OPEN_DATA, "student")
            assert (few is None) == (records >= 20)
            if few is not None:
                told = [int(figure) for figure in re.findall(r"[0-9]+", few.sentence)]
                assert told == [records, 20]
                assert not few.command
