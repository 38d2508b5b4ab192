"""One person of whom some records are known, against the obvious: every choice of everybody's records, in fractions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from glasshouse.conditions import Condition, parse_condition
from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import histories
from glasshouse.microdata.individual import PersonTarget, Target, target
from glasshouse.microdata.people import assess_people
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Record = dict[str, str]
SECRETS = ("any icd=F*", "sum price", "count", "most icd", "mind", "other icd")


def made_up(seed: int, *, gaps: bool = False) -> tuple[EncodedTable, dict[str, list[Record]]]:
    """Return a small table, and its records by person; with gaps, diagnoses and minds are missing of some."""
    random = np.random.default_rng(seed)
    persons, most = int(random.integers(1, 7)), int(random.integers(1, 6))
    who = random.permutation(np.repeat(np.arange(persons), random.integers(1, most + 1, persons)))
    mind = random.integers(0, 3, persons)
    columns = {
        "who": who,
        "place": random.integers(0, random.integers(1, 5), len(who)),
        "day": random.integers(0, random.integers(1, 4), len(who)),
        "mind": mind[who],
        "icd": random.choice(["F32", "F41", "I10", "J00"], len(who)),
        "price": random.integers(0, 4, len(who)) / 2,
    }
    texts = {name: [str(value) for value in values.tolist()] for name, values in columns.items()}
    if gaps:
        texts["icd"] = ["" if code == "J00" else code for code in texts["icd"]]
        texts["mind"] = ["" if value == "0" else value for value in texts["mind"]]
    people: dict[str, list[Record]] = defaultdict(list)
    for row in zip(*texts.values(), strict=True):
        record = dict(zip(texts, row, strict=True))
        people[record["who"]].append(record)
    rest = ["who", "mind", "icd", "price"]
    return read(pa.table(texts), quasi_identifiers=["place", "day"], also=rest), people


def described(seed: int, people: Mapping[str, list[Record]]) -> list[str]:
    """Return what is known of some records of one person: exactly, or not quite, or of one column only."""
    random = np.random.default_rng([seed, 1])
    history = people[random.choice(sorted(people))]
    number = int(random.integers(1, min(4, len(history)) + 1))
    known = []
    for place in random.choice(len(history), number, replace=False).tolist():
        record, how = history[place], int(random.integers(0, 6)) if seed % 3 else 0
        at, day = record["place"], record["day"]
        known.append(
            [
                f"place={at},day={day}",
                f"place={at}",
                f"day={day}",
                f"place={at},1,day={day}",
                f"day={day}..2",
                f"place!={int(at) + 1},day<={day}",
            ][how]
        )
    return known


def fits(known: Sequence[Condition], record: Record) -> bool:
    return all(condition.holds(record[condition.column]) for condition in known)


def secret_of(history: Sequence[Record], name: str, order: Sequence[str]) -> str:
    """Return a secret of a person, by its definition; ``order`` is that in which diagnoses appear in the release."""
    icd = [record["icd"] for record in history]
    if name == "any icd=F*":
        return "yes" if any(code.startswith("F") for code in icd) else "no"
    if name == "sum price":
        return str(sum((Fraction(record["price"]) for record in history), Fraction(0)))
    if name == "most icd":
        told = [code for code in order if code and code in icd]
        return max(told, key=lambda code: (icd.count(code), -order.index(code)), default="")
    return str(len(history)) if name == "count" else history[0]["mind"]


def plain(name: str, value: str) -> str:
    return str(Fraction(value)) if name == "sum price" else value


Beliefs = dict[str, tuple[Fraction, Fraction]]


def obvious(
    people: Mapping[str, list[Record]], known: Sequence[str], order: Sequence[str]
) -> tuple[dict[str, Fraction], dict[str, Beliefs]]:
    """Return how likely each person is the one, and what is believed of each secret, by enumerating everything."""
    facts = [[parse_condition(fact) for fact in split(written)] for written in known]
    number = len(known)
    chances: dict[str, Fraction] = {}
    before: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    after: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for who, history in people.items():
        if len(history) < number:
            continue
        choices = list(combinations(range(len(history)), number))
        for name in SECRETS[:-1]:
            before[name][secret_of(history, name, order)] += Fraction(1)
        for chosen in choices:
            does_fit = any(
                all(fits(one, history[place]) for one, place in zip(facts, way, strict=True))
                for way in permutations(chosen)
            )
            chance = Fraction(int(does_fit), len(choices))
            chances[who] = chances.get(who, Fraction(0)) + chance
            for name in SECRETS[:-1]:
                after[name][secret_of(history, name, order)] += chance
            rest = [record for place, record in enumerate(history) if place not in chosen]
            for record in rest:
                before["other icd"][record["icd"]] += Fraction(1, len(choices) * len(rest))
                after["other icd"][record["icd"]] += chance / len(rest)
    total = sum(chances.values(), Fraction(0))
    beliefs = {}
    for name in before:
        before[name].pop("", None)  # what is missing is not learned
        after[name].pop("", None)
        whole, part = (sum(of[name].values(), Fraction(0)) for of in (before, after))
        if part:
            beliefs[name] = {
                value: (chance / whole, after[name][value] / part)
                for value, chance in before[name].items()
            }
    return {who: chance / total for who, chance in chances.items() if chance}, beliefs


def split(written: str) -> list[str]:
    """Return the facts of a record, by hand."""
    place, _, day = written.partition(",day")
    return [place, f"day{day}"] if day else [written]


@pytest.mark.parametrize("seed", range(examples(10_000, one_of=80)))
def test_chances_are_those_of_all_choices_of_records(seed: int) -> None:
    table, people = made_up(seed)
    known = described(seed, people)
    order = table.column("icd").values.to_pylist()
    chances, beliefs = obvious(people, known, order)
    outcome = target(table, person="who", known=known, sensitive=list(SECRETS))
    assert outcome.candidates == len(chances)
    assert outcome.records == sum(len(history) >= len(known) for history in people.values())
    assert outcome.naming.prior == Fraction(1, outcome.records)
    assert outcome.naming.posterior == max(chances.values())
    assert outcome.certain == (len(chances) == 1)
    assert set(outcome.unlearned) == set(SECRETS) - set(beliefs)
    for secret in outcome.secrets:
        (name,) = secret.secret
        found = {plain(name, str(value)): chances for value, *chances in secret.values}
        assert found == {value: list(pair) for value, pair in beliefs[name].items()}, name
        assert secret.best[1] == max(after for _, after in beliefs[name].values())
    positions = table.column("who").values.take(
        pa.array(table.column("who").codes[outcome.candidate_records])
    )
    assert set(positions.to_pylist()) == set(chances)
    assert isinstance(outcome, PersonTarget)
    assert (outcome.histories.people, outcome.histories.records) == (len(people), table.records)


@pytest.mark.parametrize("seed", range(examples(400, one_of=10)))
def test_what_is_missing_of_people_who_fit_is_not_learned(seed: int) -> None:
    table, people = made_up(seed, gaps=True)
    known = described(seed, people)
    outcome = target(table, person="who", known=known, sensitive=list(SECRETS))
    _, beliefs = obvious(people, known, table.column("icd").values.to_pylist())
    measured = {
        secret.sensitive: {
            plain(secret.sensitive, str(belief.value)): (belief.prior, belief.posterior)
            for belief in secret.values
        }
        for secret in outcome.secrets
    }
    assert measured == beliefs
    assert set(outcome.unlearned) == set(SECRETS) - set(beliefs)
    number = len(known)
    minds = [history[0]["mind"] for history in people.values() if len(history) >= number]
    for secret in outcome.secrets:
        if secret.sensitive == "mind":
            assert secret.missing == minds.count("")


@pytest.mark.parametrize("seed", range(examples(200, one_of=10)))
def test_on_average_over_everybody_it_is_what_assess_tells(seed: int) -> None:
    table, people = made_up(seed)
    longest = max(map(len, people.values()))
    number = 1 + seed % min(3, longest)
    swept = assess_people(table, "who", knows=number, secrets=list(SECRETS))
    result = swept.results[-1]
    sums: dict[str, Fraction] = defaultdict(Fraction)
    seen: dict[tuple[str, ...], Target] = {}
    for history in people.values():
        choices = list(combinations(history, number))
        for chosen in choices:
            known = tuple(sorted(f"place={one['place']},day={one['day']}" for one in chosen))
            if known not in seen:
                seen[known] = target(table, person="who", known=known, sensitive=list(SECRETS))
            outcome, chance = seen[known], Fraction(1, len(choices) * result.targets)
            sums["guessing"] += chance * outcome.naming.posterior
            sums["certain"] += chance * outcome.certain
            sums["evenly"] += chance / outcome.candidates
            for secret in outcome.secrets:
                if secret.another and len(history) == number:
                    continue  # who has no other record is not asked
                among = (
                    result.another[secret.sensitive].targets if secret.another else result.targets
                )
                share = Fraction(1, len(choices) * among)
                sums[secret.sensitive] += share * secret.guess.posterior
                sums[f"{secret.sensitive} certain"] += share * secret.certain
    assert sums["guessing"] == result.guessing.posterior
    assert sums["certain"] == result.certainty.posterior
    assert sums["evenly"] == result.evenly
    learned = dict(result.secrets)
    learned |= {name: (one.guess, one.certainty) for name, one in result.another.items()}
    for name, (guess, certainty) in learned.items():
        assert sums[name] == guess.posterior, name
        assert sums[f"{name} certain"] == certainty.posterior, name
        assert next(iter(seen.values())).records == result.targets


VISITS: dict[str, list[Any]] = {
    "cpf": list("aaabbbccddde"),
    "clinic": list("NNSNSSNSNNSS"),
    "day": [1, 2, 3, 1, 3, 3, 1, 2, 1, 2, 2, 3],
    "icd": "F32 I10 J00 I10 J00 J00 F20 I10 I10 J00 I10 F41".split(),
}


def visits(**columns: list[Any]) -> EncodedTable:
    return read(pa.table(VISITS | columns), name="visits")


def asked(*known: Any, secrets: Sequence[str] = (), table: EncodedTable | None = None) -> Target:
    return target(table or visits(), person="cpf", known=known, sensitive=secrets)


def test_what_is_known_twice_needs_two_records() -> None:
    once, twice = asked("clinic=S,day=3"), asked("clinic=S,day=3", "clinic=S,day=3")
    assert (once.candidates, once.naming.posterior) == (3, Fraction(1, 2))  # 1/3, 2/3 and 1
    assert (twice.candidates, twice.certain, twice.records) == (1, True, 4)
    assert asked("clinic=N", "clinic=N").candidates == 2


def test_a_record_that_fits_two_of_the_known_ones_counts_for_one() -> None:
    assert asked("clinic=S,N", "day=1").candidates == 4
    outcome = asked("clinic=S", "clinic=N,S", "day=3")
    assert outcome.candidates == 1, "the only record of a on day 3 is also the only one at S"


def test_records_are_said_in_several_ways() -> None:
    first, *others = (
        asked({"clinic": "N", "day": 1}, {"clinic": ["S"]}),
        asked("clinic=N,day=1", "clinic=S"),
        asked(["clinic=N", "day=1"], ["clinic=S"]),
        asked([parse_condition("clinic=N"), "day=1"], parse_condition("clinic=S")),
    )
    assert all(other == first for other in others)
    assert isinstance(first, PersonTarget)
    assert first.histories.known == (("clinic", "day"), ("clinic",))
    assert first.known == ("clinic", "day")


def test_a_person_may_be_told_by_several_columns() -> None:
    by_month = target(visits(month=list("112112111122")), person=["cpf", "month"], known=["day=3"])
    assert isinstance(by_month, PersonTarget)
    assert by_month.histories.people == 8


def test_whose_is_missing_is_nobodys() -> None:
    outcome = asked("clinic=S", table=visits(cpf=[*"aaabbbccddd", None]))
    assert outcome.records == 4
    assert [(step.before, step.after) for step in outcome.steps] == [(12, 11)]


def test_suppressed_records_fit_only_where_no_other_does() -> None:
    clinic, day = list("NNSNSSNSNN*S"), [*map(str, VISITS["day"][:10]), "*", "3"]
    outcome = asked("clinic=N,day=2", "clinic=S,day=2", table=visits(clinic=clinic, day=day))
    assert (outcome.candidates, outcome.suppressed) == (1, 0), "d, by the suppressed record"
    outcome = asked("clinic=N,day=1", "clinic=S,day=2", table=visits(clinic=clinic, day=day))
    assert (outcome.candidates, outcome.suppressed) == (1, 1), "c; d only by that record"


def test_plain_values_tell_of_people() -> None:
    content = asked("clinic=N,day=1", "clinic=S", secrets=["any icd=F*", "other icd"]).to_dict()
    figures = {name: content[name] for name in ("people", "records", "targets", "candidates")}
    assert figures == {"people": 5, "records": 12, "targets": 4, "candidates": 4}
    assert content["person"] == ["cpf"]
    assert content["known_records"] == [["clinic", "day"], ["clinic"]]
    person, another = content["secrets"]
    assert {value["value"] for value in person["values"]} == {"yes", "no"}
    assert (another["without_another"], another["candidates_without"]) == (1, 1)


def test_nothing_is_learned_of_another_record_that_nobody_has() -> None:
    outcome = asked("clinic=N,day=1", "clinic=S,day=2", secrets=["other icd"])
    assert outcome.unlearned == (), "d has a third record"
    outcome = asked(*["clinic=S,day=3"] * 2, "clinic=N", secrets=["other icd", "count"])
    assert outcome.unlearned == ("other icd",)
    assert outcome.secret("count").best == ("3", Fraction(1))


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (["clinic=N"] * 4, "nobody has 4 records: the longest history has 3; give at most 3"),
        (["clinic=X", "day=1"], 'the value "X" does not occur in column "clinic" of visits'),
        (["clinic=N,day=3"], 'nobody in visits has all of "clinic", "day"'),
        (["clinic=N"] * 3, "nobody in visits has 3 different records that fit what is known"),
        (["town=N"], 'column "town"'),
        (["cilnic=N"], 'did you mean "clinic"'),
        (["clinic"], "is not of the form COLUMN=VALUE"),
        ([], "needs something that is known"),
        ({"clinic": "N"}, "give a list of the records that are known"),
    ],
)
def test_a_mistake_is_one_line(known: Any, reason: str) -> None:
    with pytest.raises((DataError, StudyError)) as refused:
        target(visits(), person="cpf", known=known)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ({"sensitive": ["clinic"]}, "is known about the target and also a secret"),
        ({"sensitive": ["icd"]}, "is not the same in all records of a person"),
        ({"sensitive": [["icd", "day"]]}, "is a single one"),
        ({"prior_weight": "day"}, "leave out `prior_weight`"),
        ({"population": visits()}, "leave out `population`"),
        ({"fraction": 0.5}, "leave out `fraction`"),
    ],
)
def test_what_does_not_go_with_people_is_refused(question: Any, reason: str) -> None:
    with pytest.raises(StudyError, match=reason):
        target(visits(), person="cpf", known=["clinic=N"], **question)


def test_records_that_fit_in_too_many_ways_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "MOST_STEPS", 3)
    with pytest.raises(StudyError, match="in too many ways to be counted; say more about each"):
        asked("clinic=N,S", "day=1..3")
    monkeypatch.setattr(histories, "MOST_COUNTS", 3)
    with pytest.raises(StudyError, match="in too many ways to be counted; say more about each"):
        asked("clinic=N,S", "day=1..3")
    with pytest.raises(StudyError, match="21 records of the person are known; give at most 20"):
        target(
            read(pa.table({"who": ["a"] * 30, "at": ["x"] * 30})),
            person="who",
            known=["at=x"] * 21,
        )


def test_long_histories_are_counted_together() -> None:
    random = np.random.default_rng(5)
    who = np.repeat(np.arange(200), 100)
    table = read(
        pa.table({"who": who.tolist(), "at": random.integers(0, 3, len(who)).tolist()}),
        name="long",
    )
    outcome = target(table, person="who", known=["at=0,1", "at=1,2", "at=0,2", "at=0..2"])
    assert outcome.candidates == 200
    assert outcome.naming.posterior > Fraction(1, 200)


def test_counts_beyond_64_bits_are_exact() -> None:
    places = ["x"] * 200 + ["y"] * 100
    columns = {"who": ["a"] * 300 + ["b"] * 301, "at": [*places, *places, "z"]}
    known = ["at=x"] * 12 + ["at=y"] * 8
    outcome = target(read(pa.table(columns)), person="who", known=known, sensitive=["other at"])
    first, second = Fraction(1, comb(300, 20)), Fraction(1, comb(301, 20))
    assert outcome.naming.posterior == first / (first + second)
    share = (first * Fraction(188, 280) + second * Fraction(188, 281)) / (first + second)
    assert outcome.secret("other at").best == ("x", share)


def test_the_risk_that_scikit_mobility_tells_is_that_of_the_worst_records(
    shared: Callable[[str], Path],
) -> None:
    """LocationAttack(2) on privacy_toy.csv of scikit-mobility: the largest of 1 / people who fit (golden case A2)."""
    (golden,) = (
        case
        for case in json.loads(shared("golden/people.json").read_text())["cases"]
        if case["id"] == "A2"
    )
    table = read(pa.table(golden["table"]))
    places = defaultdict(list)
    for who, place in zip(*golden["table"].values(), strict=True):
        places[who].append(place)
    for who, expected in golden["expect"]["luckiest per person"].items():
        fewest = min(
            target(table, person="uid", known=[f"place={place}" for place in chosen]).candidates
            for chosen in combinations(places[who], 2)
        )
        assert Fraction(1, fewest) == Fraction(expected), who
