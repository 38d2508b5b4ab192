"""``tables``: who can be read out of published tables together, with a proof that anybody can check."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from glasshouse.disclosure import smallest_cell
from glasshouse.errors import DataError, StudyError
from glasshouse.language import unknown_name
from glasshouse.runs.folder import PROOFS
from glasshouse.runs.run import Resources, Run
from glasshouse.solvers import SolverBudget
from glasshouse.sources import open_source
from glasshouse.study.tables import TablesStudy, Value
from glasshouse.tabulation import (
    TablesOutcome,
    contradicting_tables,
    noise_exposure,
    published,
    table_exposure,
    tables_audit,
)
from glasshouse.tabulation.layout import with_rows
from glasshouse.tabulation.proof import VERIFIER, proof_of
from glasshouse.tabulation.verifier import Refused, verify

PROOF, CHECKER, REASONS = PROOFS
"""The proof of a run, the file that checks it by itself, and why somebody is certain, for the publisher."""
_READING, _AUDIT = 0.9, 0.1
"""The part of the time that all tables and each of them may take, and what their audit may take of it at most."""


def answer(study: TablesStudy, *, resources: Resources) -> Run[TablesStudy, TablesOutcome]:
    """Put the tables together and tell who is certain, what is possible, and how far everything goes.

    Args:
        study: What is asked.
        resources: What there is to work with.

    Raises:
        DataError: A file is not laid out as the study says.
        StudyError: The study does not fit the files, or lacks what a mark or a total means.
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
    outcome = table_exposure(
        published(whole),
        rare=study.rare or smallest_cell() - 1 or 1,
        sensitive=study.sensitive,
        quasi_identifiers=study.quasi_identifiers,
        population=_population(whole),
        seconds=study.time_limit * _READING,
        memory=memory,
        counting=study.counting,
        on_progress=resources.on_progress,
    )

    outcome = replace(outcome, noise=noise_exposure(whole))
    if outcome.status == "infeasible":
        contradiction = contradicting_tables(whole, seconds=budget.left, memory=memory)
        outcome = replace(outcome, contradiction=contradiction)
    elif outcome.bounds.certain_persons:
        seconds = min(budget.left, study.time_limit * _AUDIT)
        audit = tables_audit(
            whole, outcome.bounds, rare=outcome.rare, seconds=seconds, memory=memory
        )
        outcome = replace(outcome, audit=audit)

    def write_proof(folder: Path) -> None:
        written = json.dumps(proof_of(outcome.bounds), ensure_ascii=False)
        (folder / PROOF).write_text(written + "\n", encoding="utf-8")
        shutil.copyfile(VERIFIER, folder / CHECKER)
        if outcome.audit is not None:
            written = json.dumps(outcome.audit.for_publisher(), ensure_ascii=False, indent=1)
            (folder / REASONS).write_text(written + "\n", encoding="utf-8")

    return Run(study, outcome, write_files=write_proof)


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
        proof = json.loads((folder / PROOF).read_text(encoding="utf-8"))
        return verify(proof)
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
