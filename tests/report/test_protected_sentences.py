"""Every sentence that compares, of a protected release and of runs: its direction and its figures are true."""

from __future__ import annotations

import json
import random
import re
import shlex
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.language import LANGUAGES, percentage
from glasshouse.measures.compared_runs import (
    AssessedRuns,
    Change,
    ComparedAttack,
    ComparedGuess,
    ComparedRun,
    MeasuredRuns,
)
from glasshouse.measures.verdict import Decision
from glasshouse.microdata import Attack, Leakage, assess
from glasshouse.mitigation import Comparison
from glasshouse.mitigation.comparison import ComparedRelease
from glasshouse.report import archive
from glasshouse.report.anonymise.front import ladder_figure, risk_tiles
from glasshouse.report.anonymise.page import (
    _cost_sentence,
    _grouped,
    guesses_change,
    protection_findings,
)
from glasshouse.report.attacks import release_severity
from glasshouse.report.compare.figures import FiguresTold, label
from glasshouse.report.compare.guesses import _changed as _guess_changed
from glasshouse.report.compare.page import (
    HEIGHT,
    LETTER,
    LINE,
    WIDTH,
    choice,
    choice_sentence,
    comparison_findings,
    frontier_figure,
    labels_beside,
    recommendation,
    tiles,
)
from glasshouse.report.compare.runs import _best_title, _changed
from glasshouse.report.page import Severity
from glasshouse.study.policy import POLICIES
from glasshouse.table import read
from tests.cli.test_longitudinal import write
from tests.conftest import Glasshouse
from tests.report.reading import telling, tries
from tests.report.test_anonymise import QUESTION

FIGURE = re.compile(
    r"(< |> |less than |menos de |more than |mais de )?([0-9]+(?:[.,][0-9]+)?)%", re.IGNORECASE
)
FALLS = {"en": "down from", "pt-BR": "menos do que"}
RISES = {"en": "up from", "pt-BR": "mais do que"}
SAME = {"en": ("as before", "as in the original"), "pt-BR": ("como antes", "como no original")}


def figures(sentence: str) -> list[str]:
    """Return the percentages of a sentence, in their order."""
    return [match[0] for match in FIGURE.finditer(sentence)]


def assert_said(figure: str, value: Fraction) -> None:
    """Make sure that a percentage, read back, is the value to the precision with which it is printed."""
    match = FIGURE.fullmatch(figure)
    assert match is not None, figure
    bound, digits = match[1], match[2].replace(",", ".")
    read_back = Fraction(digits) / 100
    if bound and bound.lower() in ("< ", "less than ", "menos de "):
        assert 0 < value < read_back
    elif bound:
        assert read_back < value < 1
    else:
        precision = Fraction(1, 100 * 10 ** len(digits.partition(".")[2]))
        assert abs(value - read_back) <= precision / 2, (figure, float(value))


def assert_direction(sentence: str, before: Fraction, after: Fraction, code: str) -> None:
    """Make sure that a sentence says the figures after and before, and that it went up or down as they do."""
    said = figures(sentence)
    assert_said(said[0], after)
    falls, rises = FALLS[code] in sentence, RISES[code] in sentence
    if falls or rises:
        assert_said(said[1], before)
        assert said[0] != said[1]
        assert falls == (after < before)
        assert rises == (after > before)
    else:
        assert any(word in sentence for word in SAME[code])
        assert_said(said[0], before)


def share(chance: random.Random) -> Fraction:
    """Return a share; some are nothing, all, tiny or nearly all."""
    return chance.choice(
        (
            Fraction(0),
            Fraction(1),
            Fraction(chance.randrange(1, 1000), 1000),
            Fraction(chance.randrange(1, 1000), 10**6),
            1 - Fraction(chance.randrange(1, 1000), 10**6),
            Fraction(1, 3) + Fraction(chance.randrange(9), 10**4),
        )
    )


BASE = assess(
    read(
        pa.table({"age": list("1122"), "ill": list("abab")}),
        quasi_identifiers=["age"],
        sensitive=["ill"],
    ),
    drop_suppressed=False,
).attacks


def attack(chance: random.Random, *, secret: bool, records: int = 1000) -> Attack:
    """Return an attack that succeeds as chance has it."""
    certain = chance.choice((0, 0, 1, chance.randrange(records + 1), records))
    known = Fraction(certain, records)
    guess = max(known, share(chance))
    return replace(
        BASE[1 if secret else 0],
        records=records,
        certain=certain,
        deterministic=Leakage(Fraction(0), known),
        probabilistic=Leakage(min(guess, Fraction(1, 5)), guess),
    )


@tries("anonymise", "down from {before}", "up from {before}", seeds=60)
def test_guesses_rise_and_fall_as_their_figures_do(seed: int) -> None:
    chance = random.Random(seed)
    for secret in (False, True):
        before, after = attack(chance, secret=secret), attack(chance, secret=secret)
        chances = before.probabilistic.posterior, after.probabilistic.posterior
        for code in LANGUAGES:
            with telling(code):
                assert_direction(guesses_change(before, after), *chances, code)


@tries(
    "compare",
    *("became easier to identify {many}.", "became easier to infer the {secret}."),
    *("became harder to identify {many}.", "became harder to infer the {secret}."),
    "({counted_before})",
    seeds=60,
)
def test_what_became_of_runs_is_what_the_figures_say(seed: int) -> None:
    chance = random.Random(seed)
    secret = chance.random() < 0.5
    before, after = attack(chance, secret=secret), attack(chance, secret=secret)
    if chance.random() < 0.3:
        after = before
    line: Any = SimpleNamespace(attacks=(before, after), secret=before.secret)
    for code in LANGUAGES:
        with telling(code):
            sentence = _changed(line, ("first", "last"), after, "person").sentence
            head, guess, certain = re.split(
                r"(?<=[.]) (?=[^0-9]|[0-9.,]+%|[<>])", sentence, maxsplit=2
            )
            assert_direction(
                guess, before.probabilistic.posterior, after.probabilistic.posterior, code
            )
            if before.certain or after.certain:
                assert_direction(
                    certain, before.deterministic.posterior, after.deterministic.posterior, code
                )
            directions = {
                word
                for part in (guess, certain)
                for word, phrase in (("falls", FALLS[code]), ("rises", RISES[code]))
                if phrase in part
            }
            words = {
                "en": {"easier": {"rises"}, "harder": {"falls"}, "both ways": {"rises", "falls"}},
                "pt-BR": {
                    "mais fácil": {"rises"},
                    "mais difícil": {"falls"},
                    "dois sentidos": {"rises", "falls"},
                },
            }[code]
            said = [way for word, way in words.items() if word in head and "as easy" not in head]
            assert directions == (said[0] if said else set())


@tries(
    "compare",
    *("became easier to guess", "became harder to guess"),
    "without exact knowledge",
    seeds=120,
)
def test_what_became_of_other_guesses_is_what_the_figures_say(seed: int) -> None:
    chance = random.Random(seed)
    kind = seed % 3
    runs = tuple(
        ComparedRun(name, "assess", 1000, {}, {}, "person", None) for name in ("first", "last")
    )
    chances = [(share(chance), share(chance)) for _ in runs]
    chances = [(max(guess, sure), sure) for guess, sure in chances]
    if chance.random() < 0.3:
        chances[1] = chances[0]
    errors = [(Fraction(500), Fraction(chance.randrange(10**6), 997)) for _ in runs]
    guess = ComparedGuess(
        secret=("ill",) if kind else (),
        quasi_identifiers=("age",),
        records=(1000, chance.choice((1000, 5))),
        guesses=tuple(Leakage(Fraction(0), one) for one, _ in chances),
        surely=tuple(Leakage(Fraction(0), sure) for _, sure in chances),
        within="10%" if kind == 1 else "",
        errors=tuple(errors) if kind == 1 else (),
        nearly=chance.random() < 0.5,
    )
    outcome = AssessedRuns(runs, (), (), ())
    (before, sure_before), (after, sure) = chances
    rises = (after > before, sure > sure_before)
    falls = (after < before, sure < sure_before)
    for code in LANGUAGES:
        with telling(code):
            sentence = _guess_changed(guess, outcome, 1).sentence
            head, body, *rest = re.split(r"(?<=[.]) (?=[A-Z])", sentence)
            said = figures(body)
            for figure, value in zip(said, (after, before, sure, sure_before), strict=True):
                assert_said(figure, value)
            words = {
                "en": ("easier", "harder", "both ways", "as easy"),
                "pt-BR": ("mais fácil", "mais difícil", "dois sentidos", "tão fácil"),
            }[code]
            (way,) = (place for place, word in enumerate(words) if word in head)
            seen = said[0] != said[1] or said[2] != said[3]
            if not seen:
                assert way == 3
            else:
                assert way == (2 if any(rises) and any(falls) else 0 if any(rises) else 1)
            assert len(rest) == (kind == 1 and guess.records[1] == 1000)
            for off in rest:
                numbers = re.findall(r"[0-9][0-9.,]*[0-9]|[0-9]", off)
                written = [
                    Fraction(
                        one.replace(",", "")
                        if code == "en"
                        else one.replace(".", "").replace(",", ".")
                    )
                    for one in numbers
                ]
                for value, (_, error) in zip(written, reversed(errors), strict=True):
                    assert abs(value - error) <= error / 1000


def _ranked(sentence: str) -> list[tuple[str, str]]:
    """Return the percentages of a sentence, each with what stands in brackets after it."""
    return [
        (match[0], re.match(r" \(([^)]*)\)", sentence[match.end() :])[1])  # type: ignore[index]
        for match in FIGURE.finditer(sentence)
    ]


@tries("compare", "From the least to the most exposed", seeds=40)
def test_runs_on_people_stand_in_the_order_of_their_figures(seed: int) -> None:
    chance = random.Random(seed)
    ranked = ("record",) if seed % 4 == 3 else ("pseudonym", "guess")
    names = (*(f"{word}: {number}" for number in (1, 2) for word in ranked), "targets: 2")
    told = [float(share(chance)) for _ in range(2)]
    values = [{name: chance.choice((*told, float(share(chance)))) for name in names} for _ in "abc"]
    runs = tuple(
        ComparedRun(name, "assess", 1000, {}, summary, "person", None, person=("cpf",))
        for name, summary in zip("abc", values, strict=True)
    )
    outcome = MeasuredRuns(runs)
    words = {
        "pseudonym": {"en": "is certain of the pseudonym", "pt-BR": "tem certeza do pseudônimo"},
        "guess": {"en": "guesses the pseudonym right", "pt-BR": "acerta o pseudônimo"},
        "record": {"en": "finds one that can only be", "pt-BR": "encontra um que só pode ser"},
    }
    for code in LANGUAGES:
        with telling(code):
            sentences = [
                finding.sentence
                for finding in FiguresTold(outcome).findings()
                if finding.sentence.startswith({"en": "From the least", "pt-BR": "Da menos"}[code])
            ]
            for word in ranked:
                chances = {run.name: Fraction(run.summary[f"{word}: 2"] or 0) for run in runs}
                in_order = [sentence for sentence in sentences if words[word][code] in sentence]
                if len(set(chances.values())) == 1:
                    assert in_order == []
                    continue
                (sentence,) = in_order
                order = []
                for written, group in _ranked(sentence):
                    together = re.findall("“(.)”", group)
                    for run in together:
                        assert_said(written, chances[run])
                    assert len({chances[run] for run in together}) == 1
                    order.append(chances[together[0]])
                assert order == sorted(set(chances.values()))


@tries("compare", "differ most with {count} columns", seeds=40)
def test_where_runs_differ_most_is_where_their_figures_do(seed: int) -> None:
    chance = random.Random(seed)
    lines = [
        ComparedAttack(
            ("ill",) if secret else (),
            size,
            tuple(attack(chance, secret=secret) for _ in range(3)),
        )
        for secret in (False, True)
        for size in (2, 3)
    ]
    runs = tuple(
        ComparedRun(name, "assess", 1000, {}, {}, "person", None) for name in ("a", "b", "c")
    )
    outcome = AssessedRuns(runs, (), (), tuple(lines))
    gaps = {
        abs(line.attacks[0].probabilistic.posterior - other.probabilistic.posterior)
        for line in lines
        for other in line.attacks[1:]
    }
    line, place = outcome.most_different
    pair = [line.attacks[entry].probabilistic.posterior for entry in (0, place)]
    assert abs(pair[0] - pair[1]) == max(gaps)
    for code in LANGUAGES:
        with telling(code):
            title = _best_title(outcome)
            for said, value in zip(figures(title), pair, strict=True):
                assert_said(said, value)
            assert f"“{'abc'[place]}”" in title
            assert str(line.size) in title


PEOPLE = re.compile(r"([0-9.,]+) (?:of|de) ([0-9.,]+) \w+ \(([<>]? ?[0-9.,]+%)\)")


def whole(number: str) -> int:
    return int(re.sub("[.,]", "", number))


@cache
def protected() -> Any:
    table = pa.table({"age": list("1122"), "ill": list("abab")})
    return gh.anonymise(table, quasi_identifiers=["age"], sensitive=["ill"], k=2).outcome


@tries(
    "anonymise",
    "before and after protection; by always saying",
    "before and after protection; correct",
    seeds=40,
)
def test_what_a_protection_changed_is_what_the_outcome_says(seed: int) -> None:
    chance = random.Random(seed)
    records = chance.choice((1000, 980))
    before = [attack(chance, secret=secret) for secret in (False, True)]
    after = [attack(chance, secret=secret, records=records) for secret in (False, True)]
    if chance.random() < 0.2:
        after = before
    outcome = protected()
    outcome = replace(
        outcome,
        before=replace(outcome.before, attacks=tuple(before)),
        after=replace(outcome.after, attacks=tuple(after)),
    )
    for code in LANGUAGES:
        with telling(code):
            findings = protection_findings(outcome)
            shown = list(risk_tiles(outcome.pairs, "person"))
            naming, inferring = findings[0], findings[1]
            for number, everybody, said in PEOPLE.findall(naming.sentence):
                both = {(entry.certain, entry.records) for entry in (before[0], after[0])}
                assert (whole(number), whole(everybody)) in both
                assert_said(said, Fraction(whole(number), whole(everybody)))
            guesses = [
                re.split(r"(?<=[.]) ", finding.sentence)[-1] for finding in (naming, inferring)
            ]
            for place, guess in enumerate(guesses):
                pair = before[place].probabilistic.posterior, after[place].probabilistic.posterior
                assert_direction(guess, *pair, code)
            assert ("obody" in naming.sentence or "inguém" in naming.sentence) == (
                after[0].certain == 0
            )
            assert naming.severity == release_severity(after[0], after[0].probabilistic.posterior)
            if after[0].certain > 100:
                assert naming.severity == Severity.HIGH
            first = before[0].certain or after[0].certain
            measure = "deterministic" if first else "probabilistic"
            said_before, said_after = figures(shown[0].figure)
            assert_said(said_before, getattr(before[0], measure).posterior)
            assert_said(said_after, getattr(after[0], measure).posterior)
            assert [said_before, said_after] == shown[0].figure.split(" → ")
            assert_said(figures(shown[1].figure)[1], after[1].probabilistic.posterior)
            assert_said(figures(shown[1].sentence)[0], after[1].probabilistic.prior)


@tries(
    "anonymise",
    "metric below {bound}",
    "A group reveals no more about a person than",
    seeds=30,
)
def test_what_is_lost_and_what_groups_tell_is_what_came_out(seed: int) -> None:
    chance = random.Random(seed)
    loss = share(chance)
    metric, bound = sorted((share(chance), share(chance)), reverse=True)
    diverse, most = chance.randrange(2, 9), share(chance)
    for code in LANGUAGES:
        with telling(code):
            content = {"parameters": {}, "bound": float(bound), "loss": float(metric)}
            cost = _cost_sentence(content, percentage(loss))
            group = _grouped({"sensitive": "ill", "l": diverse, "most_frequent": most}).sentence
            # the sentence's, not a figure's
            below = cost.replace("less than ", "").replace("menos de ", "")
            for said, value in zip(figures(below), (loss, bound, metric), strict=True):
                assert_said(said, value)
            assert_said(figures(group)[0], most)
            assert str(diverse) in group


# The steps to a release


def people(seed: int, records: int = 60) -> dict[str, list[str]]:
    chance = random.Random(seed)
    return {
        "age": [str(chance.randrange(20, 40)) for _ in range(records)],
        "sex": [chance.choice("FM") for _ in range(records)],
        "town": [chance.choice(("Nice", "Paris", "Lyon")) for _ in range(records)],
        "ill": [chance.choice("abc") for _ in range(records)],
    }


HOWS: tuple[dict[str, Any], ...] = (
    {"k": 3},
    {"k": 3, "recoding": "local"},
    {"k": 3, "recoding": "local", "suppression": 0.1},
    {"k": 3, "recoding": "mondrian"},
)
KNOWN = ("age", "sex", "town")


def ladder(seed: int, how: dict[str, Any]) -> tuple[dict[str, list[str]], Any]:
    columns = people(seed)
    run = gh.anonymise(pa.table(columns), quasi_identifiers=KNOWN, sensitive=["ill"], **how)
    return columns, run


@pytest.mark.parametrize("how", HOWS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_each_step_to_a_release_is_what_counting_gives(seed: int, how: dict[str, Any]) -> None:
    columns, run = ladder(seed, how)
    released = {
        name: [column.values[int(code)].as_py() for code in column.codes]
        for name in KNOWN
        for column in [run.release.column(name)]
    }
    hidden = [set(row) == {"*"} for row in zip(*released.values(), strict=True)]
    hidden = hidden if run.outcome.suppressed else [False] * len(hidden)
    table = dict(columns)
    for rung in run.outcome.ladder:
        if rung.column is not None:
            pairs = zip(columns[rung.column], released[rung.column], hidden, strict=True)
            table[rung.column] = [old if out else new for old, new, out in pairs]
        rows = [
            row
            for row, out in zip(
                zip(*(table[name] for name in KNOWN), strict=True), hidden, strict=True
            )
            if not (out and rung.suppressed)
        ]
        naming = rung.assessment.attacks[0]
        assert naming.probabilistic.posterior == Fraction(len(set(rows)), len(rows))
        assert naming.certain == sum(rows.count(row) == 1 for row in rows)
    first, last = run.outcome.ladder[0], run.outcome.ladder[-1]
    assert (first.assessment, first.loss) == (run.outcome.before, 0.0)
    assert (last.assessment, last.loss) == (run.outcome.after, run.outcome.loss)
    losses = [rung.loss for rung in run.outcome.ladder]
    assert losses == sorted(losses)


def test_where_values_are_generalised_alike_so_are_those_that_are_suppressed_later() -> None:
    columns = people(1)
    columns["sex"][:2] = ["X", "X"]  # they would have to be generalised away
    run: Any = gh.anonymise(
        pa.table(columns), quasi_identifiers=KNOWN, sensitive=["ill"], k=4, suppression=0.2
    )
    *steps, last = run.outcome.ladder
    assert last.suppressed == run.outcome.suppressed > 0
    generalised = steps[-1].assessment
    assert generalised.records == run.outcome.records
    heights = run.outcome.heights
    assert [step.column for step in steps[1:]] == sorted(
        (name for name in KNOWN if heights[name]),
        key=lambda name: -run.outcome.quality.attributes[name].granularity,
    )
    assert generalised.attacks[0].classes >= last.assessment.attacks[0].classes


@tries("anonymise", "The step that protects most", seeds=4)
def test_the_step_that_protects_most_is_the_one_with_the_greatest_fall(seed: int) -> None:
    _, run = ladder(seed, HOWS[seed % len(HOWS)])
    guesses = [rung.assessment.attacks[0].probabilistic.posterior for rung in run.outcome.ladder]
    falls = [before - after for before, after in pairwise(guesses)]
    place = falls.index(max(falls))
    assert guesses[place + 1] < guesses[place]
    for code in LANGUAGES:
        with telling(code):
            figure = ladder_figure(run.outcome)
            lines = figure.chart["title"]["text"]
            title = lines if isinstance(lines, str) else " ".join(lines)
            before, after = figures(title)
            assert_said(before, guesses[place])
            assert_said(after, guesses[place + 1])
            assert ("fall" in title) == (code == "en")


# Versions to choose from


def release(
    chance: random.Random, name: str, *, distance: float, single: bool = False
) -> ComparedRelease:
    naming, inferring = attack(chance, secret=False), attack(chance, secret=True)
    smallest = 1 if naming.certain else chance.randrange(2, 20)
    sizes = replace(naming.class_sizes) if naming.certain else naming.class_sizes
    utility: Any = SimpleNamespace(
        distances=SimpleNamespace(mean_pair=None if single else distance, mean_single=distance),
        queries=SimpleNamespace(median=distance),
        prediction=None,
    )
    return ComparedRelease(
        name=name,
        records=1000,
        suppressed=0,
        classes=naming.classes,
        highest=Fraction(1, smallest),
        average=naming.probabilistic.posterior,
        naming=replace(naming, class_sizes=sizes),
        inferring=(inferring,),
        population_uniques=None,
        loss=distance,
        detail_lost=distance,
        utility=utility,
    )


def comparison(seed: int) -> Comparison:
    chance = random.Random(seed)
    versions = chance.randrange(1, 6)
    distances = [chance.choice((0.0, 0.001, chance.random() / 3)) for _ in range(versions)]
    single = seed % 4 == 1
    return Comparison(
        release(chance, "original", distance=0.0, single=single),
        tuple(
            release(chance, f"k = {place + 2}", distance=distance, single=single)
            for place, distance in enumerate(distances)
        ),
    )


@tries("compare", "the average risk is {after}", "least is lost in", seeds=60)
def test_the_version_to_choose_is_not_beaten_and_its_figures_are_its_own(seed: int) -> None:
    outcome = comparison(seed)
    chosen = choice(outcome, POLICIES["open-data"])
    rows = {row.name: row for row in outcome.releases}
    best = rows[chosen.release.name]
    same = [row for row in outcome.releases if row.beats(best)]
    assert not same or chosen.meets  # what beats it must fail the rule, and so is no choice
    least = min(outcome.releases, key=lambda row: row.detail_lost)
    for code in LANGUAGES:
        with telling(code):
            finding = recommendation(outcome, chosen)
            sentence = choice_sentence(outcome, chosen)
            shown = tiles(outcome, chosen)
            first, *following = re.split(r"(?<=[.]) (?=The next|A versão seg)", finding.sentence)
            assert f"“{best.name}”" in first
            assert_direction(first, outcome.original.risk, best.risk, code)
            assert_said(figures(first)[-1], Fraction(best.detail_lost))
            for said in following:
                stricter = rows[re.findall("“(.*?)”", said)[0]]
                assert stricter.risk < best.risk
                risk, lost = figures(said)
                assert_said(risk, stricter.risk)
                assert_said(lost, Fraction(stricter.detail_lost))
                assert risk != figures(first)[0]
            assert ("hoose" in sentence or "scolha" in sentence) == (
                chosen.meets and len(outcome.releases) > 1
            )
            cost = shown[-1]
            assert_said(cost.figure, Fraction(best.detail_lost))
            if figures(cost.sentence):
                assert_said(figures(cost.sentence)[0], Fraction(least.detail_lost))
                assert figures(cost.sentence)[0] != cost.figure


@tries("compare", "harder to guess who it is", "keeps the most detail", "is beaten by", seeds=60)
def test_what_is_said_of_versions_is_true_of_their_figures(seed: int) -> None:
    outcome = comparison(seed)
    rows = {row.name: row for row in outcome.releases}
    most = {"en": "keeps the most detail", "pt-BR": "é a que mantém mais detalhe"}
    beaten = {"en": "is beaten by", "pt-BR": "é superada por"}
    no_harder = {"en": "harder to guess who it is", "pt-BR": "dificulta"}
    better = {
        "en": "No other version protects better",
        "pt-BR": "Nenhuma outra versão protege mais",
    }
    for code in LANGUAGES:
        with telling(code):
            findings = comparison_findings(outcome, QUESTION)
            for finding in findings[1:]:
                sentence = finding.sentence
                names = re.findall("“(k = .*?)”", sentence)
                if most[code] in sentence:
                    assert all(
                        rows[names[0]].detail_lost <= row.detail_lost for row in rows.values()
                    )
                    assert any(
                        rows[names[0]].detail_lost < row.detail_lost for row in rows.values()
                    )
                    assert_said(figures(sentence)[0], Fraction(rows[names[0]].detail_lost))
                if beaten[code] in sentence:
                    worse, best = (rows[name] for name in names)
                    assert best.beats(worse)
                    good, bad = figures(sentence)
                    assert_said(good, Fraction(best.detail_lost))
                    assert_said(bad, Fraction(worse.detail_lost))
                    assert good != bad
                if no_harder[code] in sentence:
                    lowest = min(row.naming.probabilistic.posterior for row in rows.values())
                    before = outcome.original.naming.probabilistic.posterior
                    first, last = figures(sentence)
                    told = (last, first) if len(rows) == 1 else (first, last)
                    assert_said(told[0], before)
                    assert_said(told[1], lowest)
                    assert lowest >= before or told[0] == told[1]
                if better[code] in sentence:
                    named = rows[names[0]].naming.probabilistic.posterior
                    assert all(named <= row.naming.probabilistic.posterior for row in rows.values())
                    guess = re.split(r"(?<=[.]) ", sentence)[-2]
                    assert_direction(
                        guess, outcome.original.naming.probabilistic.posterior, named, code
                    )


def test_every_change_has_its_words() -> None:
    from glasshouse.report.compare import guesses, runs

    assert set(runs._HEADS) == set(guesses._HEADS) == set(Change)


@pytest.mark.parametrize("seed", range(40))
def test_names_of_versions_overlap_neither_each_other_nor_marks(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randrange(2, 7)
    lefts = sorted(chance.uniform(5, WIDTH * 0.9) for _ in range(count))
    tops = sorted(chance.uniform(HEIGHT * 0.15, HEIGHT) for _ in range(count))
    spots, names = (
        list(zip(lefts, tops, strict=True)),
        [f"k = {2**place}" for place in range(count)],
    )
    if not labels_beside(spots, names):  # they are numbered where there is no room
        names = [str(place) for place in range(count)]
    boxes = [(x - 5, y - 5, x + 5, y + 5) for x, y in spots]
    for (x, y), name, (dx, dy, align) in zip(
        spots, names, labels_beside(spots, names), strict=True
    ):
        width = LETTER * len(name)
        start = x + dx - {"left": 0.0, "center": width / 2, "right": width}[align]
        boxes.append((start, y + dy - LINE / 2, start + width, y + dy + LINE / 2))
    for place, (left, top, right, bottom) in enumerate(boxes):
        for number, other in enumerate(boxes[place + 1 :], place + 1):
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
            assert apart or number < count  # two marks may well be in one place


def test_beaten_versions_are_hollow_and_the_line_leaves_them_out() -> None:
    hollow = 0
    for outcome in map(comparison, range(12)):
        drawn = frontier_figure(outcome, choice(outcome, QUESTION.policy)).chart
        for panel in drawn["hconcat"]:
            line, *marks = panel["layer"]
            risks = [value["risk"] for value in drawn["datasets"][line["data"]["name"]]]
            assert all(before > after for before, after in pairwise(risks))
            for mark in marks:
                values = drawn["datasets"][mark["data"]["name"]]
                if mark["mark"]["type"] == "point" and not mark["mark"]["filled"]:
                    rows = [row for row in outcome.releases if row.name in map(_name, values)]
                    assert all(any(other.beats(row) for other in outcome.releases) for row in rows)
                    hollow += len(rows)
    assert hollow


def _name(value: dict[str, Any]) -> str:
    return str(value["name"])


# What to do


@pytest.mark.parametrize(
    "how",
    [("--k", "2"), ("--k", "2", "--recoding", "local"), ("--method", "anatomy", "--l", "2")],
    ids=str,
)
def test_the_commands_of_a_protected_release_do_what_they_say(
    how: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    glasshouse: Glasshouse,
) -> None:
    monkeypatch.chdir(tmp_path)
    write("people.csv", people(5, 400))
    words = [word for name in KNOWN for word in ("-q", name)]
    made = glasshouse("anonymise", "people.csv", *words, "-s", "ill", *how, "--out", "run")
    assert made.code == 0, made.error
    page = archive.from_json(Path("run/report.json").read_text(encoding="utf-8"), "page")["en"]
    commands = [action.command for action in page.actions if action.command]
    assert commands
    for command in commands:
        name, *typed = shlex.split(command)
        assert name == "glasshouse"
        outcome = glasshouse(*typed, "--overwrite", "--json")
        assert outcome.code == 0, outcome.error
        measured = {
            (entry["measure"], entry["of"]): entry["value"]
            for entry in json.loads(outcome.out)["verdict"]["conditions"]
        }
        assert measured["smallest-class", None] >= 11
        assert measured["best-guess", None] <= 0.05
        if "--t" in typed:
            assert measured["inference-added", "ill"] <= 0.05


def test_a_rule_of_ones_own_is_asked_for_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, glasshouse: Glasshouse
) -> None:
    monkeypatch.chdir(tmp_path)
    write("people.csv", {"age": list("112233"), "ill": list("aabbab")})
    Path("rule.toml").write_text(
        'name = "certain"\n[[conditions]]\nmeasure = "inference-certain"\nat_most = 0\n',
        encoding="utf-8",
    )
    words = ("anonymise", "people.csv", "-q", "age", "-s", "ill", "--policy", "rule.toml")
    assert glasshouse(*words, "--k", "2", "--out", "run").code == 0
    page = archive.from_json(Path("run/report.json").read_text(encoding="utf-8"), "page")["en"]
    assert page.actions[0].sentence.startswith("Use the rule's own limits: glasshouse protect")
    typed = shlex.split(page.actions[0].command)[1:]
    assert typed[-4:-2] == ["--policy", "rule.toml"]
    outcome = glasshouse(*typed, "--json")
    assert json.loads(outcome.out)["verdict"]["decision"] == Decision.MEETS.value


def test_the_command_of_the_version_to_choose_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, glasshouse: Glasshouse
) -> None:
    monkeypatch.chdir(tmp_path)
    write("people.csv", people(6, 400))
    words = [word for name in KNOWN for word in ("-q", name)]
    made = glasshouse("compare", "people.csv", *words, "-s", "ill", "--k", "2,12", "--out", "run")
    assert made.code == 0, made.error
    page = archive.from_json(Path("run/report.json").read_text(encoding="utf-8"), "page")["en"]
    first = page.actions[0]
    assert first.meets == (page.ruling is not None and page.ruling.decision == Decision.MEETS)
    outcome = glasshouse(*shlex.split(first.command)[1:], "--json")
    assert outcome.code == 0, outcome.error
    after = json.loads(outcome.out)["after"]
    risks = [after[0]["probabilistic"]["posterior"]]
    risks += [
        entry[kind]["posterior"] - entry[kind]["prior"]
        for entry in after[1:]
        for kind in ("probabilistic", "deterministic")
    ]
    assert_said(figures(first.change)[1], Fraction(str(max(risks))))


@tries("compare", "this got worse", "this got better", "is no worse and no better", seeds=30)
def test_what_got_worse_or_better_between_runs_is_what_their_figures_say(seed: int) -> None:
    chance = random.Random(seed)
    names = ("attacker", "relative_global_threat", "share_twice")
    values = [{name: float(share(chance)) for name in names} for _ in range(2)]
    if seed % 5 == 0:
        values[1] = values[0]
    runs = tuple(
        ComparedRun(name, "threat", 1000, {}, summary, "person", None)
        for name, summary in zip(("first", "last"), values, strict=True)
    )
    outcome = MeasuredRuns(runs)
    for code in LANGUAGES:
        with telling(code):
            findings = FiguresTold(outcome).findings()
            labels = {label(outcome, name): name for name in names}
            worse = {"en": "this got worse", "pt-BR": "piorou"}[code]
            better = {"en": "this got better", "pt-BR": "melhorou"}[code]
            for finding in findings:
                rises = worse in finding.sentence
                if not rises and better not in finding.sentence:
                    assert all(values[0][name] == values[1][name] for name in names) or (
                        "in both" in finding.sentence or finding.severity == Severity.NOTE
                    )
                    continue
                for change in finding.figure.split("; "):
                    name = labels[change.rpartition(": ")[0].rpartition(": ")[0] or change]
                    before, after = Fraction(values[0][name]), Fraction(values[1][name])
                    said_after, said_before = figures(change)
                    assert said_after != said_before
                    assert_said(said_after, after)
                    assert_said(said_before, before)
                    assert (after > before) == rises
