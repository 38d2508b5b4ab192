"""What to know of an assessment in whatever form it is told: in notes, each a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from glasshouse.language import printable, text
from glasshouse.measures.first_look import FirstLook
from glasshouse.microdata import Assessment, Family, People, SyntheticRelease
from glasshouse.report.attacks import subsets_sentence
from glasshouse.report.first_look import owner_sentence, person_sentence, repeated_sentence
from glasshouse.study.assess import AssessStudy


def notes(
    outcome: Assessment | Family | People | SyntheticRelease,
    study: AssessStudy,
    looks: Sequence[FirstLook],
) -> Iterator[str]:
    """Yield where a record may not be a person, what tells nobody or everybody apart, and which sets were left out."""
    if isinstance(outcome, People | SyntheticRelease) or study.group is not None:
        return
    yield from _person_notes(looks)
    if isinstance(outcome, Assessment) and not study.links:
        yield from _column_notes(outcome)
        yield from _subsets_note(outcome, study)


def _subsets_note(outcome: Assessment, study: AssessStudy) -> Iterator[str]:
    """Yield which sets were assessed, where these are not all."""
    if sentence := subsets_sentence(outcome, study):
        yield text("note: {note}", note=f"{sentence[:1].lower()}{sentence[1:]}")


def _column_notes(assessment: Assessment) -> Iterator[str]:
    """Say of single attributes that tell nobody apart, or everybody."""
    last = assessment.attacks[-1].datasets
    for attack in assessment.attacks:
        single = not attack.secret and len(attack.quasi_identifiers) == 1
        if attack.datasets != last or not single or attack.records == 1:
            continue
        name = printable(attack.quasi_identifiers[0])
        if attack.classes == 1:
            yield text('note: column "{name}" holds one value only; it adds nothing', name=name)
        elif attack.uniques == attack.records:
            yield text(
                'note: every record has its own value of column "{name}": it identifies by itself',
                name=name,
            )


def _person_notes(looks: Sequence[FirstLook]) -> Iterator[str]:
    """Say where a record may not be a person."""
    for one in looks:
        sentences = (owner_sentence(one.owner), person_sentence(one) or repeated_sentence(one))
        for sentence in filter(None, sentences):
            yield text("note: {note}", note=f"{sentence[:1].lower()}{sentence[1:]}")
