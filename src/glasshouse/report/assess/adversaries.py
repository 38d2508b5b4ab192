"""The adversaries of a catalogue: who she is, what of the release she knows, what she achieves, and what says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from glasshouse.language import text, text_for
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.assessment import CataloguedAttacks
from glasshouse.report.cells import NOTHING, cell_table, percent_cell
from glasshouse.report.labels import column_labels
from glasshouse.report.page import Cell, Section, Table
from glasshouse.report.words import enumeration, percentages
from glasshouse.study.adversaries import CatalogueAdversary, in_words, meaning_in_words
from glasshouse.study.assess import AssessStudy


def adversaries_section(assessment: Assessment, study: AssessStudy | None) -> Section | None:
    """Return what each adversary of a catalogue achieves, the worst first; nothing where none was asked for."""
    if study is None or not assessment.known_sets:
        return None
    figures = figures_table(assessment, study)
    return Section(
        text("Who could know it"), worst_sentence(assessment, study), (figures,), is_open=True
    )


def sources_section(assessment: Assessment, study: AssessStudy | None) -> Section | None:
    """Return in which columns was found what each adversary knows, and what makes it plausible that she does."""
    if study is None or not assessment.known_sets:
        return None
    return Section(
        text("What was found in which column, and what makes it plausible"),
        tables=(_sources_table(assessment, study),),
    )


def worst_sentence(assessment: Assessment, study: AssessStudy) -> str:
    """Say who of a catalogue names people best, and with what."""
    worst, adversary = next(iter(_by_risk(assessment, study)))
    (share,) = percentages(worst.attacks[0].probabilistic.posterior)
    return text_for(
        len(assessment.known_sets),
        "{adversary} was considered: with {known}, a guess at who it is would be right in {share} of cases.",
        "Of the {count} adversaries considered, none identifies people better than this one: {adversary}. "
        "With {known}, a guess at who it is would be right in {share} of cases.",
        adversary=in_words(adversary.title),
        known=enumeration(worst.attacks[0].quasi_identifiers),
        share=share,
    )


def figures_table(assessment: Assessment, study: AssessStudy, *, short: bool = False) -> Table:
    """Return what each adversary knows of the release, and what she achieves with it, the worst first.

    Args:
        assessment: What came out.
        study: Who was asked for.
        short: Whether what she knows is left out, as on a terminal, where the table before it tells it.
    """
    secrets = [attack.secret for attack in assessment.known_sets[0].attacks if attack.secret]
    numbers = [text("Identified for certain"), text("Guess at who it is")]
    numbers += [
        text("Guess at {secret}", secret=enumeration(["+".join(secret)])) for secret in secrets
    ]
    titles = [text("Adversary"), *([] if short else [text("What she knows about the release")])]
    return cell_table(
        titles,
        numbers,
        [
            (
                adversary.name if short else Cell(in_words(adversary.title), mark=adversary.name),
                *([] if short else [column_labels(one.attacks[0].quasi_identifiers)]),
                percent_cell(one.attacks[0].deterministic.posterior),
                percent_cell(one.attacks[0].probabilistic.posterior),
                *(_guess(one.attacks, secret) for secret in secrets),
            )
            for one, adversary in _by_risk(assessment, study)
        ],
    )


def columns_in_words(adversary: CatalogueAdversary) -> str:
    """Say in which columns was found what an adversary knows: ``date of birth → nasc``."""
    return "; ".join(
        f"{meaning_in_words(meaning)} → {column_labels(names)}"
        for meaning, names in adversary.columns.items()
    )


def placing_table(adversaries: Iterable[CatalogueAdversary]) -> Table:
    """Return what was found of what each adversary knows, and what was not: for a terminal."""
    return cell_table(
        (text("adversary"), text("what she knows, and where it is"), text("no column found for")),
        (),
        [(one.name, columns_in_words(one), missing_in_words(one)) for one in adversaries],
        text("What the adversaries of the catalogue know"),
    )


def missing_in_words(adversary: CatalogueAdversary) -> str:
    """Say what an adversary knows and the release was not found to hold."""
    return ", ".join(map(meaning_in_words, adversary.missing)) or NOTHING.text


def _sources_table(assessment: Assessment, study: AssessStudy) -> Table:
    return cell_table(
        (
            text("Adversary"),
            text("What she knows, and where it is"),
            text("No column found for"),
            text("What makes it plausible"),
        ),
        (),
        [
            (
                adversary.name,
                columns_in_words(adversary),
                missing_in_words(adversary),
                " ".join(filter(None, (f"{in_words(adversary.source)}.", adversary.url))),
            )
            for _, adversary in _by_risk(assessment, study)
        ],
    )


def _by_risk(
    assessment: Assessment, study: AssessStudy
) -> list[tuple[CataloguedAttacks, CatalogueAdversary]]:
    adversaries: Mapping[str, CatalogueAdversary] = {one.name: one for one in study.adversaries}
    sets = sorted(
        assessment.known_sets,
        key=lambda one: one.attacks[0].probabilistic.posterior,
        reverse=True,
    )
    return [(one, adversaries[one.adversary]) for one in sets]


def _guess(attacks: Sequence[Attack], secret: tuple[str, ...]) -> Cell:
    guess = next((one.probabilistic for one in attacks if one.secret == secret), None)
    if guess is None:
        return NOTHING
    before, after = percentages(guess.prior, guess.posterior)
    return Cell(f"{before} → {after}")
