"""Blocks of Adult, and tables of them: who lives next door to whom is drawn, what is published is not."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

COLUMNS = {"sex": 9, "income": 14, "race": 8, "marital": 5, "age": 0, "education": 3, "work": 1}
DOMAINS = {
    "age": ("<25", "25-34", "35-44", "45-54", "55-64", "65+"),
    "education": ("school", "HS-grad", "some", "bachelor", "higher", "assoc", "other"),
    "work": ("private", "self", "government", "none"),
    "marital": ("single", "married", "formerly"),
}


@dataclass(frozen=True)
class Block:
    """Some people of Adult, and what each attribute can be."""

    domains: dict[str, tuple[str, ...]]
    records: tuple[tuple[str, ...], ...]
    seed: int


@cache
def _people(path: Path) -> tuple[dict[str, str], ...]:
    people = []
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 15:
            people.append(_seen(fields))
    return tuple(people)


def _seen(fields: list[str]) -> dict[str, str]:
    age = int(fields[0])
    band = sum(age >= start for start in (25, 35, 45, 55, 65))
    education = {
        "HS-grad": 1,
        "Some-college": 2,
        "Bachelors": 3,
        "Masters": 4,
        "Doctorate": 4,
        "Prof-school": 4,
    }
    level = education.get(fields[3], 5 if fields[3].startswith("Assoc") else 0)
    work = (
        0
        if fields[1] == "Private"
        else 1
        if fields[1].startswith("Self")
        else 2
        if "gov" in fields[1]
        else 3
    )
    marital = 0 if fields[5] == "Never-married" else 1 if fields[5].startswith("Married") else 2
    return {
        "sex": fields[9],
        "income": fields[14].rstrip("."),
        "race": fields[8],
        "marital": DOMAINS["marital"][marital],
        "age": DOMAINS["age"][band],
        "education": DOMAINS["education"][level],
        "work": DOMAINS["work"][work],
    }


def adult_block(path: Path, attributes: int, people: int, seed: int) -> Block:
    """Draw a block: so many people, seen by so many attributes."""
    everybody = _people(path)
    names = list(COLUMNS)[:attributes]
    drawn = random.Random(f"{attributes} {people} {seed}").sample(everybody, people)
    domains = {
        name: DOMAINS.get(name) or tuple(sorted({person[name] for person in everybody}))
        for name in names
    }
    return Block(domains, tuple(tuple(one[name] for name in names) for one in drawn), seed)


def plan_of(block: Block, kind: str = "exact") -> dict[str, Any]:
    """Return tables of a block: about half of them of three attributes, pairs inside a triple left out."""
    rng = random.Random(block.seed)
    names = list(block.domains)
    triples = list(combinations(names, 3))
    rng.shuffle(triples)
    chosen: list[tuple[str, ...]] = list(triples[: max(1, len(names) // 2)])
    pairs = [
        pair for pair in combinations(names, 2) if not any(set(pair) <= set(t) for t in chosen)
    ]
    rng.shuffle(pairs)
    chosen += pairs[: 8 - len(chosen)]
    tables = []
    for number, by in enumerate(chosen):
        counts = Counter(
            tuple(record[names.index(name)] for name in by) for record in block.records
        )
        table: dict[str, Any] = {"id": f"T{number}", "by": list(by)}
        if kind == "suppressed":
            table["suppressed"] = [1, 2]
        elif kind == "rounded":
            table["rounding"] = {"base": 5, "how": "nearest"}
        elif kind == "within":
            table["within"] = 1
        table["rows"] = [
            [*key, _published(counts[key], kind, rng)]
            for key in product(*(block.domains[name] for name in by))
        ]
        tables.append(table)
    attributes = {name: {"values": list(values)} for name, values in block.domains.items()}
    return {"people": len(block.records), "attributes": attributes, "tables": tables}


def _published(count: int, kind: str, rng: random.Random) -> int | None:
    if kind == "suppressed":
        return None if 1 <= count <= 2 else count
    if kind == "rounded":
        return (count + 2) // 5 * 5
    return max(0, count + rng.randint(-1, 1)) if kind == "within" else count
