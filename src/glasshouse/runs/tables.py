"""``tables``: who can be read out of published tables together, with a proof that anybody can check."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from glasshouse.disclosure import smallest_cell
from glasshouse.errors import DataError, StudyError
from glasshouse.language import unknown_name
from glasshouse.runs.folder import PROOFS
from glasshouse.runs.run import Resources, Run, run_key
from glasshouse.solvers import SolverBudget
from glasshouse.sources import open_source
from glasshouse.study.tables import TablesStudy, Value
from glasshouse.tabulation import (
    AreaBounds,
    AreaTables,
    CellBounds,
    TablesOutcome,
    contradicting_areas,
    contradicting_tables,
    noise_exposure,
    published,
    table_exposure,
    tables_advice,
    tables_audit,
)
from glasshouse.tabulation.geography import nesting_of
from glasshouse.tabulation.layout import with_rows
from glasshouse.tabulation.proof import VERIFIER, proof_of
from glasshouse.tabulation.verifier import Refused, check

PROOF, CHECKER, REASONS = PROOFS
"""The proof of a run, the file that checks it by itself, and why somebody is certain, for the publisher."""
_READING, _AUDIT, _ADVICE = 0.9, 0.1, 0.2
"""The part of the time that all tables and each of them may take, and what their audit and advice may take at most."""


def checkpoint_key(study: TablesStudy) -> str:
    """Return the digest that finished parts must agree with."""
    return run_key(study)


def answer(study: TablesStudy, *, resources: Resources) -> Run[TablesStudy, TablesOutcome]:
    """Put the tables together and tell who is certain, what is possible, and how far everything goes.

    Args:
        study: What is asked.
        resources: What there is to work with.

    Raises:
        DataError: A file is not laid out as the study says.
        StudyError: The study does not fit the files, lacks what a mark or a total means, or there is nothing to resume.
        BudgetError: The combinations do not fit the memory.
    """
    try:
        whole = with_rows(study)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise StudyError(str(fault["msg"]).removeprefix("Value error, ")) from None
    if whole.people is None and not any(table.is_bounded for table in whole.tables):
        raise StudyError(
            "noise without a bound leaves open how many people the tables are of; say so with `people`"
        )
    memory = resources.memory or study.memory
    budget = SolverBudget(study.time_limit, memory)
    if resources.checkpoint is not None:
        resources.checkpoint.open(resume=resources.resume)
    asked: dict[str, Any] = {
        "rare": study.rare or smallest_cell() - 1 or 1,
        "sensitive": study.sensitive,
        "quasi_identifiers": study.quasi_identifiers,
        "population": _population(whole),
        "seconds": study.time_limit * _READING,
        "memory": memory,
        "kept": resources.checkpoint,
        "on_progress": resources.on_progress,
    }
    read = published(whole) if study.areas is None else AreaTables(whole, nesting_of(whole))
    outcome = table_exposure(read, counting=study.counting, **asked)
    outcome = replace(outcome, noise=noise_exposure(whole))
    if outcome.status == "infeasible":
        limits: dict[str, Any] = {"seconds": budget.left, "memory": memory}
        contradiction = (
            contradicting_areas(outcome.bounds, **limits)
            if isinstance(outcome.bounds, AreaBounds)
            else contradicting_tables(whole, **limits)
        )
        outcome = replace(outcome, contradiction=contradiction)
    elif outcome.bounds.certain_persons or any(one.certain_at_most for one in outcome.secrets):
        seconds = min(budget.left, study.time_limit * _AUDIT)
        audit = tables_audit(
            whole,
            outcome.bounds,
            rare=outcome.rare,
            secrets={one.attribute: one.known for one in outcome.secrets},
            seconds=seconds,
            memory=memory,
        )
        outcome = replace(outcome, audit=audit)
        if outcome.rare_persons:
            seconds = min(budget.left, study.time_limit * _ADVICE)
            advice = tables_advice(
                whole, outcome.bounds, rare=outcome.rare, seconds=seconds, memory=memory
            )
            outcome = replace(outcome, advice=advice)

    def write_proof(folder: Path) -> None:
        with (folder / PROOF).open("w", encoding="utf-8") as file:
            for proof in proofs_of(outcome.bounds):
                file.write(json.dumps(proof, ensure_ascii=False) + "\n")
        shutil.copyfile(VERIFIER, folder / CHECKER)
        if outcome.audit is not None:
            told = outcome.audit.for_publisher()
            told["advice"] = [one.for_publisher() for one in outcome.advice]
            written = json.dumps(told, ensure_ascii=False, indent=1)
            (folder / REASONS).write_text(written + "\n", encoding="utf-8")

    return Run(study, outcome, write_files=write_proof)


def proofs_of(bounds: CellBounds) -> Iterator[dict[str, Any]]:
    """Yield the proof of all tables; or of areas, that of each."""
    if isinstance(bounds, AreaBounds):
        yield from bounds.proofs()
    else:
        yield proof_of(bounds)


def _population(study: TablesStudy) -> dict[str, list[Value]] | None:
    """Return other people's values, as the attributes of the tables write them."""
    if study.population is None:
        return None
    source = open_source(study.population.path, dialect=study.population.dialect)
    columns: dict[str, list[Value]] = {name: [] for name in study.attributes}
    for name in columns:
        if name not in source.columns:
            raise DataError(unknown_name("column", name, source.name, source.columns))
    for batch in source.batches(list(columns)):
        for name, attribute in study.attributes.items():
            labels = {str(value): value for value in attribute.domain}
            written = batch.column(name).to_pylist()
            columns[name] += [labels.get(value, value) for value in written]
    return columns


def checked_proof(folder: Path) -> dict[str, int]:
    """Check the proof of a run in whole numbers; return how many claims there are, and how many have a certificate.

    Raises:
        DataError: There is none, it does not hold, or it is not about what the study says.
    """
    try:
        with (folder / PROOF).open(encoding="utf-8") as lines:
            return check(lines)
    except OSError:
        raise DataError(
            '"{folder}" holds no proof; give the folder of a run of glasshouse tables',
            folder=folder,
        ) from None
    except Refused as fault:
        raise DataError(
            "{folder}: the proof is refused: {reason}", folder=folder, reason=fault
        ) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise DataError("{folder}: the proof is refused: it is not whole", folder=folder) from None
