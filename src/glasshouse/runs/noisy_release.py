"""A table of counts with noise: drawn, assessed as it is released, and kept with its hash."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from glasshouse.errors import DataError, StudyError
from glasshouse.mitigation.noisy_counts import noisy_counts
from glasshouse.runs.run import Resources, Run
from glasshouse.runs.tables import answer
from glasshouse.study.tables import PublishedTable, TablesStudy, Value
from glasshouse.tabulation import TablesOutcome
from glasshouse.tabulation.layout import perturbation_of, with_rows

RELEASE = "release.csv"
"""The file of the release in the folder of its run."""
TOTAL = "total"
"""What stands in a column of a total of all its values."""
COUNT = "count"
"""The column of counts."""
MOST_COMBINATIONS = 1_000_000
"""A table with more combinations gets no noise, as each of them needs some."""


def released_with_noise(study: TablesStudy) -> TablesStudy:
    """Return the study of a release: its one table with the counts as they were drawn, and nothing of the true ones.

    Combinations that the table leaves out are nobody's, and get noise as well: else their absence would tell that.

    Args:
        study: The table with the true counts, in a file or in rows, and the noise to draw.

    Raises:
        DataError: A count is suppressed.
        StudyError: It has more than one table, no noise, too many combinations; or OpenDP is not installed.
    """
    noise = study.tables[0].noise
    if len(study.tables) != 1 or noise is None:
        raise StudyError(
            "noise is added to one table of counts at a time; name its file, and the noise"
        )
    if noise.path is not None:
        noise = perturbation_of(noise.path)
    # True counts are read without the noise: what is true need not be able to come out of it.
    plain = study.tables[0].model_copy(update={"noise": None})
    whole = with_rows(study.model_copy(update={"tables": (plain,)}))
    [table] = whole.tables
    cells = _cells(table, [whole.attributes[name].domain for name in table.by])
    keys = [*cells, *range(len(table.statistics))]
    true = [*cells.values(), *(_plain(table, one.count) for one in table.statistics)]
    drawn = dict(zip(keys, noisy_counts(true, noise), strict=True))
    noisy = {
        "id": table.id,
        "by": table.by,
        "rows": [(*key, count) for key, count in drawn.items() if isinstance(key, tuple)],
        "statistics": [
            one.model_copy(update={"count": drawn[place]}).model_dump(by_alias=True)
            for place, one in enumerate(table.statistics)
        ],
        "noise": noise.model_dump(),
        "where": table.where,
    }
    return TablesStudy.model_validate(whole.model_dump(by_alias=True) | {"tables": [noisy]})


def answer_release(
    study: TablesStudy, *, resources: Resources, **_: Any
) -> Run[TablesStudy, TablesOutcome]:
    """Assess a release that `released_with_noise` made, and have its folder hold its file and the hash of it."""
    run = answer(study, resources=resources)
    content = release_file(study.tables[0])
    digest = hashlib.sha256(content).hexdigest()
    return replace(
        run,
        manifest={**run.manifest, "release": RELEASE, "sha256": digest},
        write_files=_also(run.write_files, content),
    )


def release_file(table: PublishedTable) -> bytes:
    """Return a table of counts as it is released, long: its columns, and the counts in the last one."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.by, COUNT])
    writer.writerows(table.rows or ())
    for one in table.statistics:
        writer.writerow([*(one.where.get(name, TOTAL) for name in table.by), one.count])
    return text.getvalue().encode()


def _also(write_files: Callable[[Path], None] | None, content: bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        if write_files is not None:
            write_files(folder)
        (folder / RELEASE).write_bytes(content)

    return write


def _cells(table: PublishedTable, domains: list[tuple[Value, ...]]) -> dict[tuple[Any, ...], int]:
    """Return the true count of every combination."""
    if prod(map(len, domains)) > MOST_COMBINATIONS:
        raise StudyError(
            'table "{table}" has {count} combinations, too many for noise in each; publish fewer columns, or bands',
            table=table.id,
            count=prod(map(len, domains)),
        )
    counts = dict.fromkeys(product(*domains), 0) if table.complete else {}
    return counts | {row[:-1]: _plain(table, row[-1]) for row in table.rows or ()}


def _plain(table: PublishedTable, count: object) -> int:
    if not isinstance(count, int) or count < 0:
        raise DataError(
            'table "{table}": {count} is not a count that noise can be added to; give the true counts',
            table=table.id,
            count=repr(count),
        )
    return count
