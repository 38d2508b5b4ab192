"""The release that a study of ``threat`` is about, and the table behind it: read from whatever form they have."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.errors import DataError, StudyError, quoted
from glasshouse.groups import (
    Release,
    from_anatomy,
    from_generalised,
    from_group_column,
    from_json,
)
from glasshouse.groups.release import Number
from glasshouse.language import text
from glasshouse.progress import OnProgress
from glasshouse.runs.anonymise import release_order
from glasshouse.runs.domains import domains_of, hierarchies_of, observed_columns
from glasshouse.runs.reading import one_each, prepared
from glasshouse.study import Dataset, Study, validated
from glasshouse.study.threat import ThreatStudy
from glasshouse.table import EncodedTable, Step, read

JSON_FORM = ".json"


def read_original(
    study: ThreatStudy, *, on_progress: OnProgress | None = None
) -> tuple[tuple[Step, ...], EncodedTable | None]:
    """Read the original, and leave out of it what was not protected; None: the study names none.

    Raises:
        DataError: The data is malformed.
        StudyError: The question does not fit the data.
    """
    if study.original is None:
        return (), None
    known, wanted = study.quasi_identifiers, study.sensitive
    if study.release.path.suffix.lower() == JSON_FORM:
        release = _read(study, None)
        known = tuple(attribute.name for attribute in release.attributes)
        wanted = release.sensitive.names
    if not known or not wanted:
        raise StudyError(
            text("say what an adversary can know, and what she wants to infer: -q and -s")
        )
    content: dict[str, Any] = {
        "datasets": (study.original,),
        "adversary": {
            "quasi_identifiers": known,
            "sensitive": wanted,
            "identifier": study.identifier,
        },
        "treatment": study.treatment,
        "seed": study.seed,
    }
    question = validated(Study, content, study.command)
    single = one_each(next(prepared(question, on_progress=on_progress)), seed=study.seed)
    return single.steps, single.table


def read_release(study: ThreatStudy, original: EncodedTable | None) -> Release:
    """Read the release, of whatever form it is, under the prior of the study.

    Args:
        study: What is asked.
        original: The table behind the release, whose values are the observed domain; None: not given.

    Raises:
        DataError: The data is malformed, or the release has a value that the original lacks.
        StudyError: The question does not fit the data.
    """
    return _with_prior(study, _read(study, original))


def _with_prior(study: ThreatStudy, release: Release) -> Release:
    """Return the release under the prior that the study gives, if it gives one."""
    if study.alpha is None and study.beta is None and not study.betas:
        return release
    betas: dict[str, Number | dict[str, Number]] = {}
    for attribute in release.attributes:
        own: dict[str, Number] = dict(zip(attribute.values, attribute.beta, strict=True))
        betas[attribute.name] = own if study.beta is None else study.beta
    betas.update(study.betas)
    alpha: Number | dict[str, Number] = dict(
        zip(release.sensitive.values, release.sensitive.alpha, strict=True)
    )
    return release.with_prior(alpha=alpha if study.alpha is None else study.alpha, beta=betas)


def _read(study: ThreatStudy, original: EncodedTable | None) -> Release:
    """Read the release, of whatever form it is."""
    dataset = study.release
    if dataset.path.suffix.lower() == JSON_FORM:
        try:
            return from_json(dataset.path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(
                text("{file}: cannot be read ({reason})", file=dataset.path.name, reason=error)
            ) from None
    if not study.quasi_identifiers:
        raise StudyError(text("say what an adversary can know: -q COLUMN, once or more"))
    hierarchies = hierarchies_of(study)
    domains = domains_of(study, original, hierarchies)
    if study.sensitive_table is not None:
        table = _table(dataset, study.quasi_identifiers, (), study.group)
        _check_observed(study, table, original)
        return from_anatomy(
            table,
            _table(study.sensitive_table, (), (), None),
            group=study.group or "group",
            quasi_identifiers=study.quasi_identifiers,
            values=study.sensitive or None,
            domains=domains,
        )
    if not study.sensitive:
        raise StudyError(text("say what she wants to infer: -s COLUMN"))
    table = _table(dataset, study.quasi_identifiers, study.sensitive, study.group)
    is_vertical = study.group is not None and not study.generalised
    if is_vertical:
        _check_observed(study, table, original)
    if study.shuffled and original is not None and table.records == original.records:
        table = table.of_records(np.argsort(release_order(original, seed=study.seed)))
    if study.group is not None and is_vertical:
        return from_group_column(table, group=study.group, domains=domains)
    return from_generalised(
        table,
        group=study.group,
        domains=domains,
        hierarchies=hierarchies,
    )


def _check_observed(study: ThreatStudy, table: EncodedTable, original: EncodedTable | None) -> None:
    """Make sure that the values of a vertical release are in the original where that is the domain.

    Raises:
        DataError: One is not: which row, and which column.
    """
    if original is None:
        return
    for name in observed_columns(study, original):
        known = set(original.column(name).values.to_pylist())
        column = table.column(name)
        texts = column.values.to_pylist()
        strange = np.array([own not in known for own in texts], np.bool_)[column.codes]
        if strange.any():
            row = int(np.argmax(strange))
            raise DataError(
                text(
                    'row {row} of {release}: "{column}" is {value}, but no record of {original} has that; give the '
                    "table that the release was made of",
                    row=row + 1,
                    release=table.name,
                    column=name,
                    value=quoted([texts[int(column.codes[row])]]),
                    original=original.name,
                )
            )


def _table(
    dataset: Dataset,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...],
    group: str | None,
) -> EncodedTable:
    return read(
        dataset.path,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        also=() if group is None else (group,),
        dialect=dataset.dialect,
        types=dataset.types,
        name=dataset.name,
    )
