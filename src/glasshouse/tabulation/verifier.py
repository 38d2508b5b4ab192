"""Checks proofs about published tables in whole numbers, by line: ``python verify.py < proof.json``; needs only Python.
A proof has windows on sums of people, files of counts, steps and claims; combinations that no zero or impossibility
rules out, and their classes (which no row tells apart), are made anew. Steps: ["sum", [[row, multiplier], …]] narrows
classes; ["cases", class, k, below, above] rules out at most k, or more; ["strike", n, case, steps] a way to a median.
Claims: [least, most, are they proved, shown by files (four)]; the last line is of several areas together."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any

Row = tuple[dict[int, int], "int | None", "int | None", Any]

class Refused(Exception):  # noqa: N818 - it is no error of the program
    """The proof does not hold."""
def digest(proof: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps({n: proof[n] for n in proof if n != "seal"}, sort_keys=True).encode()).hexdigest()
def _combinations(published: dict[str, Any]) -> list[tuple[int, ...]]:
    zeros = [row["terms"][0][0] for row in published["rows"] if row["high"] == 0 and row["case"] is None
             and [term[1:] for term in row["terms"]] == [[None, 1]]]
    names, cells = list[str](), [tuple[int, ...]()]
    for name, values in published["attributes"].items():
        names.append(name)
        ruled_out: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
        for where in published["impossible"] + zeros:
            if (name in where or len(names) == 1) and set(where) <= set(names):
                ruled_out.setdefault(tuple(map(names.index, where)), set()).update(product(*where.values()))
        cells = [(*cell, code) for cell in cells for code in range(len(values))]
        for places, out in ruled_out.items():
            cells = [cell for cell in cells if tuple(cell[place] for place in places) not in out]
    return cells
def rebuilt(published: dict[str, Any]) -> tuple[int, list[Row]]:
    cells, domains, names = _combinations(published), published["attributes"], list(published["attributes"])
    columns: list[dict[int, Fraction]] = [{} for _ in cells]
    for number, row in enumerate(published["rows"]):
        for where, attribute, factor in row["terms"]:
            tests = [(names.index(name), set(codes)) for name, codes in where.items()]
            for cell, column in zip(cells, columns, strict=True):
                if all(cell[place] in codes for place, codes in tests):
                    value = Fraction(str(domains[attribute][cell[names.index(attribute)]])) if attribute else 1
                    column[number] = column.get(number, Fraction(0)) + factor * value
    rows: list[Row] = [({}, row["low"], row["high"], row["case"] and tuple(row["case"])) for row in published["rows"]]
    classes = dict.fromkeys(tuple((row, value) for row, value in column.items() if value) for column in columns)
    for number, row, value in ((at, *entry) for at, entries in enumerate(classes) for entry in entries):
        rows[row][0][number] = value.numerator if value.denominator == 1 else value  # type: ignore[assignment]
    return len(classes), rows
class Argument:
    def __init__(self, rows: list[Row], classes: int) -> None:
        self.rows, self.low, self.high = rows, [0] * classes, list[int | None]([None]) * classes
        self.held, self.cases = set[tuple[int, int]](), {row[3] for row in rows if row[3]}
    def is_refuted(self, steps: list[Any], row: Row | None = None, case: tuple[int, int] | None = None) -> bool:
        kept = self.rows, self.low[:], self.high[:], set(self.held), set(self.cases)
        self.rows, self.held = [*self.rows, row] if row else self.rows, self.held | ({case} if case else set())
        closed = self.is_closed(([["sum", [[len(self.rows) - 1, 1 if row[1] is None else -1]]]] if row else []) + steps)
        self.rows, self.low, self.high, self.held, self.cases = kept
        return closed
    def is_closed(self, steps: list[Any]) -> bool:
        for kind, first, *rest in steps:
            closed = kind == "sum" and self.is_broken(first)
            if kind == "cases":
                rows: list[Row] = [({first: 1}, None, rest[0], None), ({first: 1}, rest[0] + 1, None, None)]
                below, above = map(self.is_refuted, rest[1:], rows)
                closed = below and above  # else what is not refuted holds
                self.low[first] = max(self.low[first], rest[0] + 1) if below else self.low[first]
                self.high[first] = min(h, rest[0]) if (h := self.high[first]) is not None and above else h
            if kind == "strike" and self.is_refuted(rest[1], case=(first, rest[0])):
                self.cases.discard((first, rest[0]))
                self.held |= left if len(left := {case for case in self.cases if case[0] == first}) == 1 else set()
                closed = not left
            if closed:
                return True
        return False
    def is_broken(self, terms: list[list[int]]) -> bool:
        total, ceiling = dict[int, int](), 0
        for number, multiplier in terms:
            coefficients, low, high, case = self.rows[number]
            end = high if multiplier > 0 else low
            if type(multiplier) is not int or number < 0 or end is None or (case and case not in self.held):
                raise Refused(f"row {number} cannot be used so")
            ceiling += multiplier * end
            for place, coefficient in coefficients.items():
                total[place] = total.get(place, 0) + multiplier * coefficient
        ends = {place: self.low[place] if factor > 0 else self.high[place] for place, factor in total.items() if factor}
        free = [place for place, end in ends.items() if end is None]
        whole = sum(total[place] * end for place, end in ends.items() if end is not None)
        for place in (free or ends) if len(free) < 2 else ():
            factor, old = total[place], self.high[place]
            rest = ceiling - whole + factor * (ends[place] or 0)
            self.low[place] = max(self.low[place], -(rest // -factor)) if factor < 0 else self.low[place]
            self.high[place] = old if factor < 0 else rest // factor if old is None else min(rest // factor, old)
        return (not free and whole > ceiling) or any(self.low[p] > h for p in ends if (h := self.high[p]) is not None)
def _sum(coefficients: dict[int, int], counts: dict[int, int]) -> int:
    return sum(coefficient * counts.get(place, 0) for place, coefficient in coefficients.items())
def _is_met(rows: list[Row], counts: dict[int, int]) -> bool:
    cases: dict[Any, bool] = {None: True}
    for total, low, high, case in ((_sum(row[0], counts), *row[1:]) for row in rows):
        cases[case] = cases.get(case, True) and (low is None or low <= total) and (high is None or total <= high)
    return cases.pop(None) and all(any(cases[one] for one in cases if one[0] == case[0]) for case in cases)
def verify(proof: dict[str, Any], *kept: dict[int, Any]) -> dict[str, int]:
    """Check a proof; return how many claims there are and how many are certified, or raise Refused."""
    if proof.get("seal") != digest(proof):
        raise Refused("it was changed after it was written: the seal does not fit")
    classes, rows = rebuilt(proof["published"])
    is_closed = (argument := Argument(rows, classes)).is_closed(proof["steps"])
    if is_closed != bool(proof["contradiction"]) or len(proof["claims"]) != classes:
        raise Refused("the steps prove something else")
    if proof["contradiction"] is not None:
        return {"claims": 1, "certified": int(is_closed)}
    files = [{int(place): count for place, count in file.items()} for file in proof["files"]]
    if not all(min(file.values(), default=0) >= 0 and _is_met(rows, file) for file in files):
        raise Refused("a file of counts does not meet what was published")
    for number, (least, most, *flags) in enumerate(proof["claims"]):
        shown, high = {file.get(number, 0) for file in files}, argument.high[number]
        holds = [argument.low[number] >= least, high is not None and high <= most, least in shown, most in shown]
        if len(flags) != 4 or any(claimed and not held for claimed, held in zip(flags, holds, strict=True)):
            raise Refused(f"what is claimed of class {number} is not proved")
    area = next(iter(proof["published"]["attributes"]), None)
    for place, row in enumerate(proof["published"]["rows"] if kept else ()):
        if row["low"] is row["high"] is None:
            plain = [[{name: where[name] for name in where if name != area}, *rest] for where, *rest in row["terms"]]
            kept[0][place] = plain, [_sum(rows[place][0], file) for file in files]
    return {"claims": 4 * classes, "certified": sum(sum(claim[2:]) for claim in proof["claims"])}
def check(lines: Iterable[str]) -> dict[str, int]:
    """Check all lines: every file meets what was published of several areas beside the first files of the others."""
    checked, beyond = {"claims": 0, "certified": 0}, list[dict[int, Any]]()
    for proof in map(json.loads, lines):
        if "area" not in proof:
            beyond.append({})
            checked = {name: number + checked[name] for name, number in verify(proof, beyond[-1]).items()}
        elif proof["seal"] != digest(proof) or proof["proofs"] != len(beyond):
            raise Refused("an area is missing, or what was published of several was changed")
        for row in proof.get("rows", ()):
            terms, totals = zip(*(beyond[number].pop(place) for number, place in row["parts"]), strict=True)
            base = sum(one[0] for one in totals if one)
            fits = [_is_met([({0: 1}, row["low"], row["high"], None)], {0: base - t[0] + n}) for t in totals for n in t]
            if any(one != row["terms"] for one in terms) or (fits and not all([*fits, *totals])):
                raise Refused("files of areas do not meet what was published of several")
    if not beyond or any(beyond):
        raise Refused("a proof is missing")
    return checked
if __name__ == "__main__":
    try:
        print(check(sys.stdin))
    except (Refused, KeyError, IndexError, TypeError, ValueError, AttributeError) as fault:
        sys.exit(f"refused: {fault}")
