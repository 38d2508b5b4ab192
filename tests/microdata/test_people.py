"""People with several records against the obvious: every choice of events of everybody, in fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pyarrow as pa
import pytest

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import attack, people_kernel
from glasshouse.microdata import people as microdata_people
from glasshouse.microdata.leakage import Leakage
from glasshouse.microdata.people import Knowing, People, assess_people
from glasshouse.qif import BayesVulnerability, Certainty, Channel, Prior
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Events = dict[int, list[tuple[str, ...]]]


def made_up(seed: int, persons: int = 7, most: int = 6) -> EncodedTable:
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(persons), random.integers(1, most + 1, persons))
    random.shuffle(who)
    mind = random.integers(0, 3, persons)
    return read(
        pa.table(
            {
                "who": who.tolist(),
                "place": random.integers(0, 2 + seed % 4, len(who)).tolist(),
                "day": random.integers(0, 1 + seed % 3, len(who)).tolist(),
                "mind": mind[who].tolist(),
                "icd": random.choice(["F32", "I10", "J00"], len(who)).tolist(),
            }
        ),
        quasi_identifiers=["place", "day"],
        also=["who", "mind", "icd"],
    )


def records(table: EncodedTable, *names: str) -> list[tuple[str, ...]]:
    columns = [table.column(name) for name in names]
    texts = [column.values.to_pylist() for column in columns]
    codes = [column.codes.tolist() for column in columns]
    return [
        tuple(text[code] for text, code in zip(texts, row, strict=True))
        for row in zip(*codes, strict=True)
    ]


def varied(seed: int) -> EncodedTable:
    """Return a small table: few people or many, histories of the same length or not, coarse facts or fine ones."""
    random = np.random.default_rng(seed)
    persons, most = int(random.integers(1, 8)), int(random.integers(1, 6))
    sizes = random.integers(1, most + 1, persons) if seed % 3 else np.full(persons, most)
    who = np.repeat(np.arange(persons), sizes)
    mind = random.integers(0, random.integers(1, 4), persons)
    shuffled = random.permutation(len(who))
    columns = {
        "who": who[shuffled],
        "place": random.integers(0, random.integers(1, 7), len(who)),
        "day": random.integers(0, random.integers(1, 4), len(who)),
        "mind": mind[who[shuffled]],
        "icd": random.integers(0, random.integers(1, 4), len(who)),
    }
    return read(
        pa.table({name: values.tolist() for name, values in columns.items()}),
        quasi_identifiers=["place", "day"],
        also=["who", "mind", "icd"],
    )


def obvious(
    table: EncodedTable, known: int | None, secret: dict[str, object]
) -> dict[str, Fraction]:
    """Return every measure by its definition; None: all events are known, and that they are all."""
    events = defaultdict(list)
    for (who,), facts in zip(records(table, "who"), records(table, "place", "day"), strict=True):
        events[who].append(facts)
    alone = {
        facts for facts, count in Counter(records(table, "place", "day")).items() if count == 1
    }
    targets = [who for who in events if len(events[who]) >= (known or 1)]
    joint: dict[tuple[tuple[str, ...], ...], dict[str, Fraction]] = defaultdict(
        lambda: defaultdict(Fraction)
    )
    singled = Fraction(0)
    for who in targets:
        choices = list(combinations(sorted(events[who]), known or len(events[who])))
        chance = Fraction(1, len(targets) * len(choices))
        for sight in choices:
            joint[sight][who] += chance
            singled += chance * int(any(facts in alone for facts in sight))
    fewest: dict[str, int] = {}
    most: dict[str, int] = {}
    sums: dict[str, Fraction] = defaultdict(Fraction)
    for row in joint.values():
        sums["guessing"] += max(row.values())
        sums["certain"] += sum(row.values()) if len(row) == 1 else 0
        sums["evenly"] += sum(row.values(), Fraction(0)) / len(row)
        by_value: dict[object, Fraction] = defaultdict(Fraction)
        for who, chance in row.items():
            fewest[who] = min(len(row), fewest.get(who, len(row)))
            most[who] = max(len(row), most.get(who, 0))
            by_value[secret[who]] += chance
        sums["secret"] += max(by_value.values())
        sums["secret certain"] += sum(by_value.values()) if len(by_value) == 1 else 0
    number = len(targets)
    return dict(sums) | {
        "before": Fraction(1, number),
        "luckiest": sum((Fraction(1, count) for count in fewest.values()), Fraction(0)) / number,
        "unluckiest": sum((Fraction(1, count) for count in most.values()), Fraction(0)) / number,
        "some": Fraction(sum(count == 1 for count in fewest.values())),
        "any": Fraction(sum(count == 1 for count in most.values())),
        "unlinked": singled,
        "secret before": Fraction(max(Counter(secret[who] for who in targets).values()), number),
    }


def obvious_another(table: EncodedTable, known: int) -> dict[str, Fraction | int]:
    """Return what is learned of ``icd`` in another event than the known ones, by its definition."""
    events = defaultdict(list)
    for who, *event in records(table, "who", "place", "day", "icd"):
        events[who].append(tuple(event))
    targets = [who for who in events if len(events[who]) > known]
    joint: dict[object, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    before: dict[str, Fraction] = defaultdict(Fraction)
    for who in targets:
        choices = list(combinations(range(len(events[who])), known))
        for chosen in choices:
            sight = tuple(sorted(events[who][place][:2] for place in chosen))
            rest = [event for place, event in enumerate(events[who]) if place not in chosen]
            chance = Fraction(1, len(targets) * len(choices) * len(rest))
            for *_, icd in rest:
                joint[sight][icd] += chance
                before[icd] += chance
    return {
        "targets": len(targets),
        "before": max(before.values()),
        "guess": sum((max(row.values()) for row in joint.values()), Fraction(0)),
        "certain": sum((sum(row.values()) for row in joint.values() if len(row) == 1), Fraction(0)),
    }


def measured_another(result: Knowing) -> dict[str, Fraction | int]:
    (one,) = result.another.values()
    return {
        "targets": one.targets,
        "before": one.guess.prior,
        "guess": one.guess.posterior,
        "certain": one.certainty.posterior,
    }


def measured(result: Knowing) -> dict[str, Fraction | None]:
    ((guess, certainty),) = result.secrets.values()
    return {
        "before": result.guessing.prior,
        "guessing": result.guessing.posterior,
        "certain": result.certainty.posterior,
        "evenly": result.evenly,
        "luckiest": result.luckiest,
        "unluckiest": result.unluckiest,
        "some": None if result.some is None else Fraction(result.some),
        "any": None if result.any is None else Fraction(result.any),
        "unlinked": result.unlinked,
        "secret": guess.posterior,
        "secret before": guess.prior,
        "secret certain": certainty.posterior,
    }


def minds(table: EncodedTable) -> dict[str, object]:
    return {row[0]: row[1] for row in records(table, "who", "mind")}


@pytest.mark.hypothesis
def test_every_measure_agrees_with_every_choice_of_events() -> None:
    for seed in range(examples(10_000, one_of=100)):
        table = varied(seed)
        outcome = assess_people(table, "who", secrets=["mind", "other icd"])
        everything = assess_people(table, "who", knows="all", secrets=["mind"])
        for result in (*outcome.results, *everything.results):
            assert measured(result) == obvious(table, result.events, minds(table)), seed
            assert result.margin is None
        for result in outcome.results:
            if result.events is not None and result.events < outcome.longest:
                assert measured_another(result) == obvious_another(table, result.events), seed
            else:
                assert not result.another


def test_what_another_event_says_is_an_estimate_where_choices_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(microdata_people, "DRAWS", 4000)
    table = made_up(6, persons=30, most=8)
    exact = assess_people(table, "who", secrets=["other icd"]).results
    monkeypatch.setattr(microdata_people, "MOST_SIGHTS", 10)
    rough = assess_people(table, "who", secrets=["other icd"]).results
    for one, other in zip(exact, rough, strict=True):
        (truth,), (estimate,) = one.another.values(), other.another.values()
        assert truth.margin is None
        assert estimate.margin is not None
        assert other.margin is None
        assert estimate.guess.prior == truth.guess.prior
        assert abs(truth.guess.posterior - estimate.guess.posterior) <= estimate.margin
        assert abs(truth.certainty.posterior - estimate.certainty.posterior) <= estimate.margin


@pytest.mark.hypothesis
def test_intervals_of_estimates_hold() -> None:
    """Of 100 seeds and five measures at most two intervals of 99.9% may miss."""
    names = ("guessing", "certain", "evenly", "secret", "secret certain")
    missed, seeds = 0, examples(100, one_of=10)
    table = made_up(8, persons=40, most=6)
    exact = measured(assess_people(table, "who", knows=2, secrets=["mind"]).results[-1])
    for seed in range(seeds):
        rough = assess_people(
            table, "who", knows=2, secrets=["mind"], most_steps=10, seed=seed
        ).results[-1]
        assert rough.margin is not None
        assert rough.margin < Fraction(7, 1000)
        estimate = measured(rough)
        missed += sum(abs(exact[name] - estimate[name]) > rough.margin for name in names)  # type: ignore[operator]
    assert missed <= 2


def test_secrets_of_a_person_are_made_of_the_records() -> None:
    table = made_up(3)
    rows = records(table, "who", "icd")
    by_person: dict[str, list[str]] = defaultdict(list)
    for who, icd in rows:
        by_person[who].append(icd)
    ill: dict[str, object] = {
        who: any(code.startswith("F") for code in codes) for who, codes in by_person.items()
    }
    visits: dict[str, object] = {who: len(codes) for who, codes in by_person.items()}
    for asked, values in (("any icd=F*", ill), ("count", visits)):
        (_, result, *_) = assess_people(table, "who", knows=2, secrets=[asked]).results
        assert measured(result) == obvious(table, 2, values)


def test_ties_that_doubles_cannot_tell_are_settled_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the events of either show N, of people with two and with four."""
    table = read(
        pa.table({"who": list("aabbbb"), "place": list("NSNNTT"), "mind": list("xxyyyy")}),
        quasi_identifiers=["place"],
        also=["who", "mind"],
    )
    (result,) = assess_people(table, "who", knows=1, secrets=["mind"]).results
    assert measured(result)["secret"] == Fraction(3, 4)
    monkeypatch.setattr(microdata_people, "_settle", lambda *_: None)
    (unsettled,) = assess_people(table, "who", knows=1, secrets=["mind"]).results
    assert measured(unsettled)["secret"] == Fraction(1, 2)


def laws(outcome: People) -> None:
    for result in outcome.results:
        guess, certain = result.guessing.posterior, result.certainty.posterior
        assert certain <= result.evenly <= guess
        assert result.luckiest is not None
        assert result.unluckiest is not None
        assert result.unluckiest <= result.evenly <= result.luckiest
        assert result.some is not None
        assert result.any is not None
        assert Fraction(result.any, result.targets) <= certain
        assert certain <= Fraction(result.some, result.targets)
        assert result.unlinked <= certain  # who is singled out by one record is by all


@pytest.mark.parametrize("seed", range(5))
def test_the_laws_hold(seed: int) -> None:
    table = made_up(seed, persons=15, most=5)
    laws(assess_people(table, "who"))
    # of people with the same number of events everything grows with m, and with what is known of each
    same = read(
        pa.table(
            {
                "who": [who for who in range(12) for _ in range(4)],
                "place": np.random.default_rng(seed).integers(0, 4, 48).tolist(),
                "day": np.random.default_rng(seed + 9).integers(0, 2, 48).tolist(),
            }
        ),
        quasi_identifiers=["place", "day"],
        also=["who"],
    )
    whole = assess_people(same, "who", subsets=[["place"], ["place", "day"]])
    less, more = whole.results[:4], whole.results[4:]
    for curve in (less, more):
        for fewer, further in pairwise(curve):
            assert fewer.guessing.posterior <= further.guessing.posterior
            assert fewer.certainty.posterior <= further.certainty.posterior
    for one, other in zip(less, more, strict=True):
        assert one.guessing.posterior <= other.guessing.posterior
        assert one.certainty.posterior <= other.certainty.posterior


def test_one_known_event_of_people_with_as_many_is_inference_of_the_pseudonym() -> None:
    who = [person for person in range(9) for _ in range(3)]
    place = np.random.default_rng(2).integers(0, 5, len(who)).tolist()
    table = read(
        pa.table({"who": who, "place": place}), quasi_identifiers=["place"], sensitive=["who"]
    )
    inference = attack(table, sensitive="who")
    (result, *_) = assess_people(table, "who", knows=1).results
    assert result.guessing == inference.probabilistic
    assert result.certainty.posterior == inference.deterministic.posterior


def test_one_record_each_is_naming_records() -> None:
    place = np.random.default_rng(4).integers(0, 9, 20).tolist()
    table = read(
        pa.table({"who": [*range(20)], "place": place}), quasi_identifiers=["place"], also=["who"]
    )
    (result,) = assess_people(table, "who").results
    assert result.guessing == attack(table).probabilistic
    (everything,) = assess_people(table, "who", knows="all").results
    assert everything.guessing == result.guessing
    assert everything.unlinked == result.unlinked == result.certainty.posterior


def test_knowing_all_tells_how_many_there_are() -> None:
    """Google's example: 1 foo, 2 bar, 3 foo and bar; with both events of the third nobody else fits."""
    table = read(
        pa.table({"id": [1, 2, 3, 3], "what": ["foo", "bar", "foo", "bar"]}),
        quasi_identifiers=["what"],
        also=["id"],
    )
    one, two = assess_people(table, "id").results
    assert (one.targets, str(one.certainty.posterior)) == (3, "0")
    assert (two.targets, str(two.certainty.posterior)) == (1, "1")
    (everything,) = assess_people(table, "id", knows="all").results
    assert everything.certainty.posterior == 1


def test_a_pseudonym_that_changes_is_a_person_a_month() -> None:
    table = read(
        pa.table({"who": list("aaaabb"), "month": [1, 1, 2, 2, 1, 1], "place": list("NSNTNS")}),
        quasi_identifiers=["place"],
        also=["who", "month"],
    )
    assert assess_people(table, "who").people == 2
    outcome = assess_people(table, ["who", "month"])
    assert (outcome.people, outcome.longest) == (3, 2)


def test_without_a_pseudonym_a_record_weighs_by_its_person() -> None:
    table = read(
        pa.table({"who": list("aabc"), "place": list("NSNN"), "icd": list("xyzz")}),
        quasi_identifiers=["place"],
        also=["who", "icd"],
    )
    outcome = assess_people(table, "who", secrets=["icd"], unlinked=True)
    naming, certain = outcome.record_guess[""]
    # of N the record of b or of c, 1 each of 3; of S that of a, one half
    assert (naming.posterior, certain.posterior) == (Fraction(1, 2), Fraction(1, 6))
    guess, sure = outcome.record_guess["icd"]
    assert (guess.prior, guess.posterior) == (Fraction(2, 3), Fraction(5, 6))
    assert sure.posterior == Fraction(1, 6)


def test_what_takes_too_many_steps_is_an_estimate_that_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(microdata_people, "DRAWS", 4000)
    table = made_up(6, persons=30, most=8)
    exact = assess_people(table, "who", secrets=["mind"]).results[1:]
    rough = assess_people(table, "who", secrets=["mind"], most_steps=10).results[1:]
    again = assess_people(table, "who", secrets=["mind"], most_steps=10).results[1:]
    assert rough == again
    for one, other in zip(exact, rough, strict=True):
        assert other.margin is not None
        assert other.margin < Fraction(1, 10)
        assert (other.some, other.luckiest) == (None, None)
        assert other.unlinked == one.unlinked
        for name in ("guessing", "certain", "evenly", "secret", "secret certain"):
            truth, estimate = measured(one)[name], measured(other)[name]
            assert truth is not None
            assert estimate is not None
            assert abs(truth - estimate) <= other.margin


def test_chances_are_compared_in_128_bits_where_doubles_are_too_near() -> None:
    large = comb(60, 29)
    for left, right in ((large, large), (large - 1, large), (large, large - 1), (7, large)):
        is_less = people_kernel.is_less_of(left, large, right, large - 3)
        assert is_less == (Fraction(left, large) < Fraction(right, large - 3))


def test_more_events_than_anybody_has_are_refused() -> None:
    with pytest.raises(StudyError, match="nobody has 9 records: the longest history has"):
        assess_people(made_up(1), "who", knows=9)


def test_a_column_that_differs_within_a_person_is_no_secret_of_the_person() -> None:
    with pytest.raises(StudyError, match='"icd" is not the same in all records of a person'):
        assess_people(made_up(1), "who", secrets=["icd"])


def test_the_hint_channel_of_qif_gives_the_same_figures() -> None:
    table = varied(7)
    histories: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for who, *facts in records(table, "who", "place", "day"):
        histories[who].append(tuple(facts))
    for result in assess_people(table, "who").results:
        targets = {who: one for who, one in histories.items() if len(one) >= (result.events or 0)}
        channel = Channel.hints(targets, known=result.events or 0)
        prior = Prior.uniform(targets)
        assert BayesVulnerability().posterior(prior, channel) == result.guessing.posterior
        assert Certainty().posterior(prior, channel) == result.certainty.posterior


def with_gaps(seed: int, *, one_each: bool = False) -> EncodedTable:
    """Return a small table in which secrets are missing, by the empty value and by a code of the file."""
    random = np.random.default_rng(seed)
    persons = int(random.integers(2, 8))
    sizes = np.ones(persons, np.int64) if one_each else random.integers(1, 5, persons)
    who = np.repeat(np.arange(persons), sizes)
    mind = random.choice(["x", "y", ""], persons)
    mind[0] = "x"
    told = np.where(
        random.random(len(who)) < 0.2, "", mind[who]
    )  # one record may lack what another tells
    told[0] = "x"
    icd = random.choice(["F", "I", "", "9"], len(who))
    icd[:2] = "F"
    frame = {
        "who": who.tolist(),
        "place": random.integers(0, 3, len(who)).tolist(),
        "mind": told.tolist(),
        "icd": icd.tolist(),
    }
    table = read(pa.table(frame), quasi_identifiers=["place"], also=["who", "mind", "icd"])
    return replace(table, missing_codes={"icd": frozenset({"9"})})


def is_told(table: EncodedTable, value: str) -> bool:
    return table.missing_is_a_value or value not in ("", "9")


def learned_by_brute_force(
    table: EncodedTable, known: int | None, secret: dict[str, str]
) -> dict[str, Fraction] | None:
    """Return what is learned of a secret of each person among those who have it, choice by choice."""
    events: dict[str, list[str]] = defaultdict(list)
    for who, place in records(table, "who", "place"):
        events[who].append(place)
    targets = [who for who in secret if known is None or len(events[who]) >= known]
    if not targets:
        return None
    joint: dict[object, Counter[str]] = defaultdict(Counter)
    for who in targets:
        choices = [events[who]] if known is None else list(combinations(events[who], known))
        for chosen in choices:
            joint[tuple(sorted(chosen))][secret[who]] += Fraction(1, len(targets) * len(choices))  # type: ignore[assignment]
    return {
        "before": Fraction(max(Counter(secret[who] for who in targets).values()), len(targets)),
        "guess": Fraction(sum(max(row.values()) for row in joint.values())),
        "certain": Fraction(sum(sum(row.values()) for row in joint.values() if len(row) == 1)),
    }


def person_secrets(table: EncodedTable, column: str) -> dict[str, str]:
    """Return the most frequent value of each person that is told, of several the first of the release."""
    order = table.column(column).values.to_pylist()
    by_person: dict[str, list[str]] = defaultdict(list)
    for who, value in records(table, "who", column):
        if is_told(table, value):
            by_person[who].append(value)
    return {
        who: max(values, key=lambda value: (values.count(value), -order.index(value)))
        for who, values in by_person.items()
    }


def shown(guess: Leakage, certainty: Leakage) -> dict[str, Fraction]:
    return {"before": guess.prior, "guess": guess.posterior, "certain": certainty.posterior}


@pytest.mark.parametrize("as_value", [False, True])
@pytest.mark.parametrize("seed", range(examples(300, one_of=10)))
def test_what_is_missing_of_a_person_is_not_learned(seed: int, as_value: bool) -> None:
    table = replace(with_gaps(seed), missing_is_a_value=as_value)
    names = ["most mind", "most icd"] if as_value else ["mind", "most icd"]
    for knows in (None, "all"):
        outcome = assess_people(table, "who", knows=knows, secrets=names)
        for result in outcome.results:
            for name in names:
                secret = person_secrets(table, name.rpartition(" ")[2])
                expected = learned_by_brute_force(table, result.events, secret)
                learned = result.secrets.get(name)
                assert (learned and shown(*learned)) == expected
    gaps = Counter(value for row in records(table, "icd") for value in row if value in ("", "9"))
    assert outcome.missing.get("icd", 0) == (0 if as_value else sum(gaps.values()))


@pytest.mark.parametrize("as_value", [False, True])
@pytest.mark.parametrize("seed", range(examples(300, one_of=10)))
def test_what_is_missing_in_another_record_is_not_learned(seed: int, as_value: bool) -> None:
    table = replace(with_gaps(seed), missing_is_a_value=as_value)
    events: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for who, place, icd in records(table, "who", "place", "icd"):
        events[who].append((place, icd))
    outcome = assess_people(table, "who", secrets=["other icd"])
    for result in outcome.results:
        assert result.events is not None
        joint: dict[object, Counter[str]] = defaultdict(Counter)
        before: Counter[str] = Counter()
        asked = set()
        for who, all_of in events.items():
            choices = list(combinations(range(len(all_of)), result.events))
            for chosen in choices:
                rest = [event for place, event in enumerate(all_of) if place not in chosen]
                sight = tuple(sorted(all_of[place][0] for place in chosen))
                for _, icd in rest:
                    if is_told(table, icd):
                        chance = Fraction(1, len(choices) * len(rest))
                        joint[sight][icd] += chance  # type: ignore[assignment]
                        before[icd] += chance  # type: ignore[assignment]
                        asked.add(who)
        whole = Fraction(sum(before.values()))
        one = result.another.get("other icd")
        if not asked:
            assert one is None
            continue
        assert one is not None
        assert one.targets == len(asked)
        assert shown(one.guess, one.certainty) == {
            "before": max(before.values()) / whole,
            "guess": sum(max(row.values()) for row in joint.values()) / whole,
            "certain": sum(sum(row.values()) for row in joint.values() if len(row) == 1) / whole,
        }


@pytest.mark.parametrize("as_value", [False, True])
@pytest.mark.parametrize("seed", range(examples(300, one_of=10)))
def test_people_with_one_record_are_as_records(seed: int, as_value: bool) -> None:
    """One record each: with a pseudonym, without one, and with all of them it is the plain attack."""
    table = replace(with_gaps(seed, one_each=True), missing_is_a_value=as_value)
    for name in ("mind", "icd"):
        plain = attack(table, sensitive=name)
        expected = {
            "before": plain.probabilistic.prior,
            "guess": plain.probabilistic.posterior,
            "certain": plain.deterministic.posterior,
        }
        for knows in (1, "all"):
            (result,) = assess_people(table, "who", knows=knows, secrets=[name]).results
            assert shown(*result.secrets[name]) == expected
        unlinked = assess_people(table, "who", knows=1, secrets=[name], unlinked=True)
        assert shown(*unlinked.record_guess[name]) == expected
        told = sum(is_told(table, value) for (value,) in records(table, name))
        assert unlinked.known_of.get(name, table.records) == told


def test_an_estimate_of_another_record_leaves_out_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(microdata_people, "DRAWS", 4000)
    table = with_gaps(12)
    exact = assess_people(table, "who", knows=1, secrets=["other icd"]).results[0]
    monkeypatch.setattr(microdata_people, "MOST_SIGHTS", 1)
    rough = assess_people(table, "who", knows=1, secrets=["other icd"]).results[0]
    truth, estimate = exact.another["other icd"], rough.another["other icd"]
    assert estimate.margin is not None
    assert estimate.guess.prior == truth.guess.prior
    assert abs(truth.guess.posterior - estimate.guess.posterior) <= estimate.margin
    assert abs(truth.certainty.posterior - estimate.certainty.posterior) <= estimate.margin


def test_a_secret_that_is_missing_of_everybody_is_refused() -> None:
    table = read(
        pa.table({"who": list("aab"), "place": list("NSN"), "mind": ["", "", ""]}),
        quasi_identifiers=["place"],
        also=["who", "mind"],
    )
    for asked in ({"secrets": ["mind"]}, {"secrets": ["mind"], "unlinked": True}):
        with pytest.raises(DataError, match="missing in all 3 records"):
            assess_people(table, "who", **asked)
