"""Folders of ACRO and of SACRO's viewer: ``results.json`` with the outputs of a session, each table as a CSV file.

Read are tables of frequencies, as windows: a redacted cell is below the threshold of the session's ``config.json``, and
none or more where zeros are redacted, too; a rounded one is near its multiple. ACRO computes margins of what is shown
then, so that they tell nothing more. Of models their degrees of freedom are read. Whatever is no table of frequencies
is named, and not read.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from math import floor, isfinite
from pathlib import Path
from typing import Any

from glasshouse.errors import DataError

RESULTS = "results.json"
"""The file by which such a folder is known."""
CONFIG = "config.json"
"""The file with the rule of the session."""
MARGIN = "All"
"""What a margin is called."""
THRESHOLD = 10
"""Counts below it are redacted, unless the session says otherwise."""
BASE = 5
"""To multiples of it counts are rounded, unless the output says otherwise."""
_WITHHELD = ("DONT_RELEASE", "DO_NOT_RELEASE", "session_summary")
"""What the names of files have that are for the checker and never go out."""


@dataclass(frozen=True)
class AcroFolder:
    """What a folder of ACRO holds."""

    tables: tuple[Mapping[str, Any], ...]
    """Its tables of frequencies, as the tables of a plan."""
    attributes: Mapping[str, Mapping[str, Any]]
    """The attributes that they cross, as those of a plan."""
    margins_of_shown: tuple[str, ...]
    """The tables whose margins are totals of what is shown."""
    left_out: tuple[str, ...]
    """The outputs that are no tables of frequencies, such as means, regressions and plots."""
    freedom: Mapping[str, int | None]
    """The models, and how many degrees of freedom each has; None: it does not say."""


def is_acro(folder: Path) -> bool:
    """Tell whether a folder is one of ACRO."""
    return (folder / RESULTS).is_file()


def acro_folder(folder: Path) -> AcroFolder:
    """Read a folder of ACRO.

    Raises:
        DataError: It is not laid out as ACRO does.
    """
    content = _json(folder / RESULTS)
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, dict) or not results:
        raise _malformed(folder)
    window = _window(folder)
    tables: list[dict[str, Any]] = []
    left_out: list[str] = []
    margins: list[str] = []
    freedom: dict[str, int | None] = {}
    for uid, result in results.items():
        if not isinstance(result, dict) or not isinstance(result.get("files"), list):
            raise _malformed(folder)
        names = [str(file.get("name")) for file in result["files"] if isinstance(file, dict)]
        if any(mark in name for mark in _WITHHELD for name in (uid, *names)):
            continue
        if result.get("type") == "regression":
            freedom[uid] = _freedom(result)
        by = _attributes(result)
        if by is None or len(names) != 1:
            left_out.append(uid)
            continue
        is_redacted, base = _is_redacted(result), _base(folder, result)
        path = folder / Path(names[0]).name
        table = _table(path, by, is_whole=not is_redacted and base is None)
        if table is None:
            left_out.append(uid)
            continue
        rows, statistics = table
        if is_redacted and all(row[-1] != "*" for row in rows):
            # ACRO 1.0 takes records out: where it shows zeros, redacted counts are zeros, too
            rows = [[*row[:-1], row[-1] or [0, window[1]]] for row in rows]
        tables.append({"id": uid, "by": by, "rows": rows, "statistics": statistics})
        if base is not None:
            tables[-1]["rounding"] = {"base": base, "how": "nearest"}
        if any(row[-1] == "*" for row in rows):
            tables[-1]["suppressed"] = window
        if (is_redacted or base is not None) and _has_margins(path):
            margins.append(uid)
    if not tables:
        raise DataError(
            '"{folder}" holds no table of frequencies; means, regressions and plots cannot be put together with others',
            folder=folder,
        )
    domains: dict[str, dict[str, None]] = {}
    for one in tables:
        for row in one["rows"]:
            for name, value in zip(one["by"], row, strict=False):
                domains.setdefault(name, {})[value] = None
    attributes = {name: {"values": list(values)} for name, values in domains.items()}
    return AcroFolder(tuple(tables), attributes, tuple(margins), tuple(left_out), freedom)


def _malformed(folder: Path) -> DataError:
    return DataError('"{folder}": results.json is not one of ACRO', folder=folder)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise _malformed(path.parent) from None


def _window(folder: Path) -> tuple[int, int]:
    """Return between what a redacted count lies, by the rule of the session."""
    rule = _rule(folder)
    threshold = rule.get("safe_threshold", THRESHOLD)
    zeros = rule.get("zeros_are_disclosive", True)
    if type(threshold) is not int or threshold < 1:
        raise _malformed(folder)
    return (0 if zeros else 1), max(threshold - 1, 1)


def _rule(folder: Path) -> Mapping[str, Any]:
    """Return the rule of the session."""
    config = _json(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    return config if isinstance(config, dict) else {}


def _is_redacted(result: Mapping[str, Any]) -> bool:
    """Tell whether cells of an output were redacted, also as older versions say so."""
    properties = result.get("properties")
    if isinstance(properties, dict) and properties.get("mitigation") is not None:
        return bool(properties["mitigation"] == "suppress")
    summaries = [
        file.get("sdc", {}).get("summary", {})
        for file in result["files"]
        if isinstance(file, dict) and isinstance(file.get("sdc"), dict)
    ]
    return any(isinstance(one, dict) and one.get("suppressed") is True for one in summaries)


def _base(folder: Path, result: Mapping[str, Any]) -> int | None:
    """Return to multiples of what the counts of an output were rounded; None: they were not."""
    properties = result.get("properties")
    if not isinstance(properties, dict) or properties.get("mitigation") != "round":
        return None
    base = properties.get("round_base", _rule(folder).get("safe_round_base", BASE))
    if type(base) is not int or base < 1:
        raise _malformed(folder)
    return base if base > 1 else None


def _freedom(result: Mapping[str, Any]) -> int | None:
    """Return how many degrees of freedom a model has; None: it does not say."""
    properties = result.get("properties")
    written = properties.get("dof") if isinstance(properties, dict) else None
    if isinstance(written, bool) or not isinstance(written, int | float) or not isfinite(written):
        return None
    return floor(written)


def _attributes(result: Mapping[str, Any]) -> list[str] | None:
    """Return the attributes that a table of frequencies crosses; None: it is something else, or does not say so."""
    if result.get("type") != "table":
        return None
    fair = result.get("fair")
    if isinstance(fair, dict) and fair.get("statbarn") is not None:
        names = fair.get("independent")
        is_table = fair["statbarn"] == "Frequencies" and isinstance(names, list)
        return [str(name) for name in names] if is_table and names else None
    return _of_command(str(result.get("command")))


def _of_command(command: str) -> list[str] | None:
    """Return the attributes of a call of ``crosstab`` without values.

    >>> _of_command('safe = acro.crosstab([df.year, df["sex"]], df.grant)')
    ['year', 'sex', 'grant']
    >>> _of_command("acro.crosstab(df.year, df.grant, values=df.inc, aggfunc='mean')")
    """
    try:
        calls = [node for node in ast.walk(ast.parse(command)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError):
        return None
    for call in calls:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "crosstab":
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if {"values", "aggfunc"} & given.keys():
            return None
        axes = [*call.args[:2], *(given[name] for name in ("index", "columns") if name in given)]
        names = [_named(part) for axis in axes for part in getattr(axis, "elts", [axis])]
        return [name for name in names if name] if len(axes) == 2 and all(names) else None
    return None


def _named(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return None


def _lines(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))
    except (OSError, ValueError, csv.Error):
        raise DataError("{file}: cannot be read as a table of ACRO", file=path.name) from None


def _has_margins(path: Path) -> bool:
    lines = _lines(path)
    return any(line[:1] == [MARGIN] for line in lines) or any(MARGIN in line for line in lines[:3])


def _table(
    path: Path, by: Sequence[str], *, is_whole: bool
) -> tuple[list[list[Any]], list[dict[str, Any]]] | None:
    """Return the rows of a table and its margins, as a plan has them; None: it does not hold counts.

    The columns of several attributes have as many lines of names, and a line with the names of the rows.

    Args:
        path: The file of the table.
        by: The attributes that it crosses.
        is_whole: Whether margins are those of everybody, and not of what is shown.
    """
    lines = _lines(path)
    heads = next(
        (
            number
            for number in range(len(by))
            if lines[number : number + 1]
            and lines[number][: len(by) - max(number, 1)] == list(by[: len(by) - max(number, 1)])
        ),
        None,
    )
    if heads is None:
        return None
    across = max(heads, 1)
    down = len(by) - across
    columns = list(zip(*(line[down:] for line in lines[:across]), strict=False))
    rows: list[list[Any]] = []
    statistics: list[dict[str, Any]] = []
    for line in lines[heads + 1 :]:
        if len(line) != down + len(columns):
            return None
        for column, written in zip(columns, line[down:], strict=True):
            values = [*line[:down], *column]
            count = _count(written)
            if count is None:
                return None
            if MARGIN not in values:
                rows.append([*values, count])
            elif is_whole and count != "*":
                where = {
                    name: value
                    for name, value in zip(by, values, strict=True)
                    if value not in (MARGIN, "")
                }
                statistics.append({"where": where, "count": count})
    return (rows, statistics) if rows else None


def _count(written: str) -> int | str | None:
    """Return a count, the mark of a redacted one, or None: it is no count.

    >>> _count("23.0"), _count(""), _count("2.5")
    (23, '*', None)
    """
    if not written:
        return "*"
    plain = written.removesuffix(".0")
    return int(plain) if plain.isdecimal() else None


# -- what is written -------------------------------------------------------------------------------------------------


def acro_results(
    tables: Sequence[Mapping[str, Any]], *, status: str, summary: str, moment: str, version: str
) -> Iterator[tuple[str, str]]:
    """Yield the files of a folder as ACRO writes it, which its viewer opens: tables, ``results.json``, and digests.

    Args:
        tables: Tables with rows, as those of a plan; a count that is none is written as redacted.
        status: ``pass``, ``fail`` or ``review``.
        summary: What the check says of all of them.
        moment: When it was made.
        version: The version of ours.
    """
    results: dict[str, Any] = {}
    files: dict[str, str] = {}
    for table in tables:
        uid = str(table["id"])
        file = f"{hashlib.sha256(uid.encode()).hexdigest()[:8]}_0.csv"
        files[file] = _wide(table["by"], table["rows"])
        is_redacted = any(type(row[-1]) is not int for row in table["rows"])
        base = (table.get("rounding") or {}).get("base")
        mitigation = {"mitigation": "suppress" if is_redacted else "none"}
        if base is not None:
            mitigation = {"mitigation": "round", "round_base": base}
        results[uid] = {
            "uid": uid,
            "status": status,
            "type": "table",
            "properties": {"method": "crosstab", **mitigation},
            "files": [{"name": file, "sdc": {"summary": {}, "cells": {}}}],
            "outcome": {},
            "command": "",
            "summary": summary,
            "timestamp": moment,
            "comments": [],
            "exception": "",
            "fair": {"statbarn": "Frequencies", "independent": list(table["by"])},
        }
    document = {"version": version, "tool": {"name": "Glasshouse"}, "results": results}
    files[RESULTS] = json.dumps(document, indent=4, ensure_ascii=False)
    yield from files.items()
    for name, content in files.items():
        yield f"checksums/{name}.txt", hashlib.sha256(content.encode()).hexdigest()


def _wide(by: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table with the last attribute as columns, as pandas writes a crosstab."""
    columns = list(dict.fromkeys(row[-2] for row in rows))
    lines = list(dict.fromkeys(tuple(row[:-2]) for row in rows))
    counts = {tuple(row[:-1]): row[-1] if type(row[-1]) is int else "" for row in rows}
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*by[:-1], *columns])
    writer.writerows([*line, *(counts.get((*line, one), 0) for one in columns)] for line in lines)
    return text.getvalue()
