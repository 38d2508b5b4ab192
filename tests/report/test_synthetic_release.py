"""What is said of a synthetic release has the figures of its outcome, in both languages."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa

import glasshouse as gh
from glasshouse.language import LANGUAGES, percentage, speaking
from glasshouse.microdata.memorisation import TOLERANCE
from glasshouse.report.words import in_words, percentages
from tests.report.reading import tries

COLUMNS = ("age", "town", "ill")


def file_of(rows: np.ndarray) -> pa.Table:
    return pa.table({name: rows[:, i].astype(str) for i, name in enumerate(COLUMNS)})


@tries("assess", "Copies of fewer than about", "No more than {tolerance} is shown", seeds=12)
def test_bounds_and_what_could_be_missed_are_those_of_the_outcome(seed: int) -> None:
    random = np.random.default_rng(seed)
    people, others, made = (random.integers(0, (40, 12, 2), (300, 3)) for _ in range(3))
    made[: 40 * (seed % 3)] = people[: 40 * (seed % 3)]
    run = gh.assess(
        file_of(made),
        trained_on=file_of(people),
        holdout=file_of(others),
        quasi_identifiers=list(COLUMNS[:2]),
        sensitive=["ill"],
    )
    remembered = run.outcome.remembered
    for language in LANGUAGES:
        with speaking(language):
            said = [finding.sentence for finding in run.page.findings]
            missed = [remembered.missed_copies, remembered.missed_otherwise]
            assert any(all(percentage(one) in sentence for one in missed) for sentence in said)
            main = said[0]
            if remembered.has_copies:
                assert percentage(remembered.copied) in main
            elif remembered.remembers:
                assert percentage(remembered.at_least) in main
            else:
                assert percentage(TOLERANCE) in main
                assert percentage(remembered.at_least) in main


@tries("assess", "more often than chance explains", seeds=3)
def test_a_bound_too_small_to_show_is_said_to_be_that(seed: int) -> None:
    records = 2000 + 1000 * seed
    people, others, made = np.arange(3 * records).reshape(3, records)
    made[:5] = people[:5]
    files = [
        pa.table({"key": one.astype(str), "one": ["1"] * records}) for one in (made, people, others)
    ]
    run = gh.assess(
        files[0], trained_on=files[1], holdout=files[2], quasi_identifiers=["key", "one"]
    )
    remembered = run.outcome.remembered
    assert remembered.has_copies
    assert 0 < remembered.copied < 1 / 1000
    for language, word in {"en": "as they are in 5 of 100", "pt-BR": "em 5 de 100"}.items():
        with speaking(language):
            said = run.page.findings[0].sentence
            figures = [*percentages(Fraction(5, records), Fraction(0))]
            figures.append(in_words(percentage(remembered.copied)))
            assert all(figure in said for figure in figures), figures
        assert word in said
        assert "At least" not in said
        assert "No mínimo" not in said
