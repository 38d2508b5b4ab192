"""How a published table lies in its file: long, with a row per combination; or wide, with one attribute as columns.

Nothing is guessed that changes an answer: what a mark of suppression means and what totals are of is said by the study,
or asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from pydantic import ValidationError

from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted
from glasshouse.sources import open_source
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.grids import cells_of
from glasshouse.study.tables import (
    CountNoise,
    PublishedAttribute,
    PublishedTable,
    TablesStudy,
    Value,
)
from glasshouse.tabulation.pages import common_bands, table_on_page, values_in_band

MARKS = frozenset(
    {"", "*", "**", "c", "x", "X", "-", ".", "..", "...", ":", "[x]", "[c]", "s", "n/a"}
)
"""What stands in the place of a suppressed count; so does a bound such as <5."""
TOTALS = frozenset({"total", "totals", "all", "sum", "todos", "todas", "ambos", "tudo"})
"""What a row or a column of totals is called."""
_Row = tuple[tuple[str, ...], str]


def with_rows(
    study: TablesStudy, *, known: Mapping[str, PublishedAttribute] | None = None
) -> TablesStudy:
    """Return a study whose tables hold the rows of their files; attributes that it lacks are those of the files.

    Args:
        study: The study.
        known: Attributes of other tables of the same people: values of the files are added to theirs.

    Raises:
        DataError: A file is not laid out as the study says, or holds what is no count.
        StudyError: It has totals, and the study does not say of what; or the study does not fit the files.
    """
    study = _with_noise(study)
    if all(table.path is None for table in study.tables):
        return study
    read = {
        place: _laid_out(table)
        for place, table in enumerate(study.tables)
        if table.path is not None
    }
    domains = _domains(study.attributes, read.values(), known or {})
    labels = {
        name: {str(value): value for value in attribute.domain}
        for name, attribute in domains.items()
    }
    tables = [
        _with_rows(table, *read[place], labels)
        if place in read
        else table.model_dump(by_alias=True)
        for place, table in enumerate(study.tables)
    ]
    content = study.model_dump(by_alias=True) | {
        "tables": tables,
        "attributes": {name: one.model_dump() for name, one in domains.items()},
    }
    return TablesStudy.model_validate(content)


def _with_noise(study: TablesStudy) -> TablesStudy:
    """Return a study whose perturbation tables hold the rows of their files."""
    read: dict[Path, CountNoise] = {}
    tables = []
    for table in study.tables:
        noise = table.noise
        if noise is not None and noise.path is not None:
            if noise.path not in read:
                read[noise.path] = perturbation_of(noise.path)
            noise = read[noise.path]
        tables.append(table.model_copy(update={"noise": noise}))
    return study.model_copy(update={"tables": tuple(tables)})


def perturbation_of(path: Path) -> CountNoise:
    """Read a perturbation table as ptable writes it for τ-ARGUS, SAS or a data frame: columns i, j (or v) and p.

    Rows of the same i and j, as a modified table has them, are added up. Where there is no p, it is what lies between
    p_int_lb and p_int_ub.

    Raises:
        DataError: The columns are others, a cell is no number, or the chances of a count do not add up to 1.
    """
    source = open_source(path)
    columns = {name.strip().casefold(): name for name in source.columns}
    has_chance = "p" in columns or {"p_int_lb", "p_int_ub"} <= columns.keys()
    if "i" not in columns or not has_chance or not {"j", "v"} & columns.keys():
        raise DataError(
            "{file}: has the columns {columns}; a perturbation table has i (the true count), j (the published one) and "
            "p (the chance), as ptable writes it",
            file=source.name,
            columns=quoted(source.columns),
        )
    rows: list[tuple[int, int, str]] = []
    for batch in source.batches(list(source.columns)):
        read = {name: batch.column(column).to_pylist() for name, column in columns.items()}
        for line in range(batch.num_rows):
            cells = {name: str(values[line]).strip() for name, values in read.items()}
            if cells.get("type", "all") not in ("all", ""):
                raise DataError(
                    "{file}: is a perturbation table for amounts (type {type}); one for counts is needed",
                    file=source.name,
                    type=cells["type"],
                )
            rows += _chance(cells, source.name)
    try:
        return CountNoise.model_validate({"law": "table", "rows": rows})
    except ValidationError as error:
        reason = str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ")
        raise DataError("{file}: {reason}", file=source.name, reason=reason) from None


def _chance(cells: Mapping[str, str], file: str) -> list[tuple[int, int, str]]:
    """Return one line of a perturbation table; nothing: its chance is 0."""
    try:
        true = Fraction(cells["i"])
        shown = Fraction(cells["j"]) if "j" in cells else true + Fraction(cells["v"])
        chance = (
            Decimal(cells["p"])
            if "p" in cells
            else Decimal(cells["p_int_ub"]) - Decimal(cells["p_int_lb"])
        )
        if not chance.is_finite() or chance < 0 or true.denominator * shown.denominator != 1:
            raise ValueError
    except (ValueError, ZeroDivisionError, InvalidOperation):
        raise DataError(
            "{file}: a perturbation table has whole numbers in i and j, and chances from 0 to 1 in p; one of its lines "
            "has not",
            file=file,
        ) from None
    return [(int(true), int(shown), f"{chance:f}")] if chance else []


def _laid_out(table: PublishedTable) -> tuple[tuple[str, ...], list[_Row]]:
    """Return the attributes of a table in a file, and per combination of labels what is published.

    Where it does not lie so that its first line names its columns, it is read as a page, with titles and footnotes.
    """
    try:
        return _listed(table)
    except DataError as fault:
        if table.path is None or not table.dialect.header or table.dialect.names:
            raise
        try:
            cells = cells_of(table.path, dialect=table.dialect)
            return table_on_page(cells, table.by, TOTALS, file=table.path.name)
        except DataError:
            if len(table.by) > 1:
                raise
            raise fault from None


def _listed(table: PublishedTable) -> tuple[tuple[str, ...], list[_Row]]:
    """Return them of a table whose first line names its columns."""
    source = open_source(table.path, dialect=table.dialect)
    columns = list(source.columns)
    if isinstance(source, DelimitedFile) and source.title_lines:
        raise DataError("{file}: begins with a title", file=source.name)
    by = table.by or tuple(columns[:-1])
    rows: list[_Row] = []
    across = [name for name in by if name not in columns]
    down = [name for name in by if name in columns]
    rest = [column for column in columns if column not in by]
    if len(across) > 1 or not by or (not across and len(rest) != 1):
        raise DataError(
            "{file}: has the columns {columns}; a long table has those of `by` and one of counts, a wide one all of "
            "`by` but one, whose values are the other columns",
            file=source.name,
            columns=quoted(columns),
        )
    for batch in source.batches(columns):
        values = {name: batch.column(name).to_pylist() for name in columns}
        for record in range(batch.num_rows):
            key = {name: values[name][record] for name in down}
            for column in rest:
                labels = key | dict.fromkeys(across, column)
                rows.append((tuple(labels[name] for name in by), values[column][record]))
    return by, rows


def _domains(
    attributes: Mapping[str, PublishedAttribute],
    read: Iterable[tuple[tuple[str, ...], list[_Row]]],
    known: Mapping[str, PublishedAttribute],
) -> dict[str, PublishedAttribute]:
    labels: dict[str, dict[str, None]] = {}
    for by, rows in read:
        for key, _ in rows:
            for name, label in zip(by, key, strict=True):
                if label.casefold() not in TOTALS:
                    labels.setdefault(name, {})[label] = None
    of_files = {}
    for name, written_values in labels.items():
        values = common_bands(written_values) if name not in known else None
        values = written_values if values is None else values
        before = known[name].domain if name in known else ()
        written = {str(value) for value in before}
        of_files[name] = PublishedAttribute(
            values=(*before, *(value for value in values if value not in written))
        )
    return of_files | dict(attributes)


def _with_rows(
    table: PublishedTable,
    by: tuple[str, ...],
    rows: Sequence[_Row],
    labels: Mapping[str, Mapping[str, Value]],
) -> dict[str, object]:
    cells: list[tuple[list[tuple[Value, ...]], int | str]] = []
    statistics: list[dict[str, object]] = [
        one.model_dump(by_alias=True) for one in table.statistics
    ]
    for key, published in rows:
        is_total = [
            label.casefold() in TOTALS and label not in labels[name]
            for name, label in zip(by, key, strict=True)
        ]
        count = _count(table, published)
        if any(is_total):
            if table.totals is None:
                raise StudyError(
                    'table "{table}" has totals; say what they are of: totals = "everything", or "shown"',
                    table=table.id,
                )
            if table.totals == "everything":
                where = {
                    name: _values(table, name, label, labels)
                    for name, label, total in zip(by, key, is_total, strict=True)
                    if not total
                }
                statistics.append({"where": _where(where), "count": count})
            continue
        cells.append(
            (
                [_values(table, name, label, labels) for name, label in zip(by, key, strict=True)],
                count,
            )
        )
    content = table.model_dump(by_alias=True) | {"path": None, "by": by}
    if all(len(values) == 1 for key, _ in cells for values in key):
        plain = [[*(value for (value,) in key), count] for key, count in cells]
        return content | {"rows": plain, "statistics": statistics}
    # A band that is several values is a figure of a group; what the table leaves out is then not taken for nobody.
    statistics += [
        {"where": _where(dict(zip(by, key, strict=True))), "count": count} for key, count in cells
    ]
    return content | {"statistics": statistics}


def _where(values: Mapping[str, tuple[Value, ...]]) -> dict[str, object]:
    """Return of whom a figure is, by value, or by several."""
    return {name: those[0] if len(those) == 1 else those for name, those in values.items()}


def _values(
    table: PublishedTable, name: str, label: str, labels: Mapping[str, Mapping[str, Value]]
) -> tuple[Value, ...]:
    """Return the values of an attribute that a label stands for: itself, or those in its band."""
    if label in labels[name]:
        return (labels[name][label],)
    values = values_in_band(label, labels[name])
    if values is None:
        raise StudyError(
            'table "{table}": {value} is not a value of "{name}"; correct it, or add it to the attribute',
            table=table.id,
            value=repr(label),
            name=name,
        )
    return values


def _count(table: PublishedTable, published: str) -> int | str:
    """Return a count, or the mark that stands for it."""
    written = published.strip()
    plain = written.replace(table.dialect.thousands or ",", "")
    is_below = plain.startswith("-") and not table.is_bounded
    if plain.removeprefix("-" if is_below else "").isdecimal():
        return int(plain)
    if written.casefold() in MARKS or written.startswith(("<", "≤")):
        return written or "*"
    raise DataError(
        'table "{table}": "{given}" is neither a count nor a mark of suppression such as * or <5',
        table=table.id,
        given=written,
    )
