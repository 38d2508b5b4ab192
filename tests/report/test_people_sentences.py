"""Sentences about people with several records, close guesses and adversaries: each says the figures of the outcome."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

import glasshouse as gh
from glasshouse.language import LANGUAGES
from glasshouse.language.current import speaking
from glasshouse.measures import measures
from glasshouse.microdata.assessment import CataloguedAttacks
from glasshouse.microdata.people import assess_people
from glasshouse.report.assess.adversaries import worst_sentence
from glasshouse.report.assess.closeness import closeness_findings
from glasshouse.report.assess.front import tiles
from glasshouse.report.assess.knowledge import knowledge_findings, knowledge_tiles
from glasshouse.report.assess.people import people_findings
from glasshouse.study.adversaries import chosen_adversaries
from glasshouse.study.assess import AssessStudy
from glasshouse.table import read
from tests.report.reading import assert_it_says, tries

UP_FROM = {"en": "up from", "pt-BR": ", contra"}


@tries(
    "assess",
    "guesses the {secret} {tolerance}",
    "on average, down from {before}",
    "without these facts and with them; exactly right: {exact}",
    seeds=40,
)
def test_a_close_guess_is_told_with_the_figures_of_the_outcome(seed: int) -> None:
    random = np.random.default_rng(seed)
    numbers = random.integers(0, (2, 9, 40)[seed % 3], 12) * (1 if seed % 4 else 100)
    known = np.zeros(12, int) if seed % 5 == 0 else random.integers(0, 1 + seed % 6, 12)
    table = read(
        pa.table({"q": known.astype(str), "x": numbers.astype(str)}),
        quasi_identifiers=["q"],
        sensitive=["x"],
    )
    assessment = gh.assess(table, within={"x": str(seed % 4)}).outcome
    (close,) = assessment.close
    row = close.row_of(("q",))
    guess, certainty = close.guess(row), close.certainty(row)
    certain = Fraction(int(close.certain[row]), close.records)
    for language in LANGUAGES:
        with speaking(language):
            sentence = closeness_findings(assessment, "person")[0].sentence
            (given_away,) = (
                tile for tile in tiles(assessment, subject="person") if "→" in tile.figure
            )
        exact = assessment.attacks[-1].probabilistic
        assert_it_says(given_away.figure, guess.prior, guess.posterior)
        assert_it_says(given_away.sentence.split(";")[1], exact.prior, exact.posterior)
        assert (UP_FROM[language] in sentence) == (guess.posterior > guess.prior)
        figures = [guess.posterior] + [guess.prior] * (guess.posterior > guess.prior)
        if guess.additive == 0 == certainty.additive and certain:
            figures = []  # one guess is close for everybody
        elif certain:
            figures.append(certain)
        assert_it_says(sentence, *figures)


@tries("assess", "Found with certainty: {before}", seeds=30)
def test_what_leaving_out_the_pseudonym_gives_is_what_the_outcome_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(40), 1 + seed % 3)
    columns = {"who": who, "place": random.integers(0, 3 + 4 * seed, len(who))}
    frame = pa.table({name: values.astype(str) for name, values in columns.items()})
    outcome = gh.assess(frame, quasi_identifiers=["place"], person=["who"], knows=1)
    result = outcome.outcome.curve[-1]
    for language in LANGUAGES:
        with speaking(language):
            actions = outcome.page.actions
        leave_out = [action.change for action in actions if "→" in action.change]
        assert bool(leave_out) == (result.certainty.posterior > 0)
        for effect in leave_out:
            assert_it_says(effect, result.certainty.posterior, result.unlinked)


@tries("assess", "With the same knowledge", seeds=30)
def test_what_is_learned_of_a_person_is_told_with_the_figures_of_the_outcome(seed: int) -> None:
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(12), 1 + seed % 3)
    secret = random.integers(0, 1 + seed % 3, 12) if seed % 2 else (np.arange(12) == 0).astype(int)
    place = np.zeros(len(who), int) if seed % 5 == 0 else random.integers(0, 2 + seed, len(who))
    columns = {
        "who": who,
        "place": place,
        "mind": secret[who],
        "icd": random.integers(0, 2, len(who)) if seed % 4 else (place == 1).astype(int),
    }
    table = read(
        pa.table({name: values.tolist() for name, values in columns.items()}),
        quasi_identifiers=["place"],
        also=["who", "mind", "icd"],
    )
    outcome = assess_people(table, "who", knows=1, secrets=["mind", "other icd"])
    study: Any = SimpleNamespace(subject="person", knows=1)
    chances = {"“mind”": outcome.curve[-1].secrets["mind"]}
    for one in outcome.curve[-1].another.values():
        chances[" icd"] = one.guess, one.certainty
    for language in LANGUAGES:
        with speaking(language):
            sentences = [finding.sentence for finding in people_findings(outcome, study)]
        for name, (guess, certainty) in chances.items():
            learned = guess.posterior > guess.prior
            (sentence,) = (sentence for sentence in sentences if name in sentence)
            assert (UP_FROM[language] in sentence) == learned
            figures = [guess.posterior, *([guess.prior] if learned else [])]
            if learned or certainty.additive > 0:
                figures.append(certainty.posterior)
            assert_it_says(sentence, *figures)


def test_no_measure_tells_how_few_have_no_other_record() -> None:
    records = [1] * 3 + [2] * 47 + [3] * 50
    who = [person for person, count in enumerate(records) for _ in range(count)]
    table = read(
        pa.table({"who": who, "place": [0] * len(who), "icd": [one % 2 for one in who]}),
        quasi_identifiers=["place"],
        also=["who", "icd"],
    )
    outcome = assess_people(table, "who", knows=2, secrets=["other icd"])
    assert [result.another["other icd"].targets for result in outcome.curve] == [97, 50]
    measured = measures(outcome, AssessStudy.model_construct())
    of_secret = {(one.records, one.people) for one in measured if one.of == "other icd"}
    assert of_secret == {(1, "~100"), (2, "50")}, "of 100 people 97 have two records or more"


WAYS: tuple[dict[str, dict[str, str]], ...] = (
    {"about": {"age": "±1"}},
    {"about": {"town": "90%"}},
    {"likely": {"age": "50%"}},
    {"about": {"age": "±0"}, "likely": {"town": "25%"}},
)


@tries(
    "assess",
    "Knowing all of it exactly, she would",
    "and guesses it no better than somebody who knows nothing about them",
    "by someone who knows nothing and by someone who knows {how}",
    seeds=40,
)
def test_what_is_learned_without_exact_knowledge_is_told_with_its_figures(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = {
        "age": random.integers(0, (3, 9, 30)[seed % 3], 12),
        "town": random.integers(0, 2 + seed % 2, 12),
        "ill": np.zeros(12, int) if seed % 7 == 0 else random.integers(0, 2 + seed % 3, 12),
    }
    table = read(
        pa.table({name: values.astype(str) for name, values in columns.items()}),
        quasi_identifiers=["age", "town"],
        sensitive=["ill"],
    )
    way: dict[str, Any] = WAYS[seed % 4]
    assessment = gh.assess(table, **way).outcome
    known = assessment.inexact
    asked = [
        Fraction(written[:-1]) / 100
        for of in way.values()
        for written in of.values()
        if "%" in written
    ]
    exact = assessment.attacks[-2:]
    for language in LANGUAGES:
        with speaking(language):
            findings = knowledge_findings(assessment, "person")
            (given_away,) = (
                tile for tile in knowledge_tiles(assessment, "person") if "→" in tile.figure
            )
        ill = known.targets[1]
        after = (ill.mixed or ill.chances(known.whole))[0]
        assert_it_says(given_away.figure, ill.before[0], after)
        for place, (finding, target) in enumerate(zip(findings, known.targets, strict=True)):
            guess, certain, nearly = target.mixed or target.chances(known.whole)
            learned = guess > target.before[0]
            assert (UP_FROM[language] in finding.sentence) == (bool(place) and learned)
            assert_it_says(
                finding.sentence,
                *asked,
                nearly if known.errs else certain,
                guess,
                *([target.before[0]] if place and learned else []),
                exact[place].deterministic.posterior,
                exact[place].probabilistic.posterior,
            )


@tries("assess", "none identifies people better", seeds=12)
def test_the_adversary_who_is_told_names_people_as_well_as_any_other(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = ("age", "sex", "town")
    table = read(
        pa.table({name: random.integers(0, 2 + seed % 3, 9).astype(str) for name in columns}),
        quasi_identifiers=columns,
    )
    by_set = {attack.quasi_identifiers: attack for attack in gh.assess(table).outcome.attacks}
    knowledge = [("age",), ("sex", "town"), columns if seed % 2 else ("age",)]
    adversaries = chosen_adversaries(["br"])[:3]
    assessment: Any = SimpleNamespace(
        known_sets=[
            CataloguedAttacks(adversary.name, (by_set[known],))
            for adversary, known in zip(adversaries, knowledge, strict=True)
        ]
    )
    study: Any = SimpleNamespace(adversaries=adversaries)
    most = max(by_set[known].probabilistic.posterior for known in knowledge)
    for language in LANGUAGES:
        with speaking(language):
            sentence = worst_sentence(assessment, study)
        assert_it_says(sentence, most)
        named = [
            by_set[known].probabilistic.posterior
            for adversary, known in zip(adversaries, knowledge, strict=True)
            if adversary.title[language] in sentence
        ]
        assert named == [most]
