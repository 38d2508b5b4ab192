"""Data full of marker values, and where to look for them: in everything that a run lets out."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from glasshouse.language import speaking
from glasshouse.report import archive
from glasshouse.report.html import to_html
from glasshouse.report.pdf import content_of
from tests.conftest import Outcome

MARK = "zq"
"""What every value of the data holds, and nothing else of what Glasshouse says."""
RARE, FEW, SMALLEST = 3, 7, 10
"""How many people have a rare value, how many one that is nearly so, and from how many on a report may show them."""


@dataclass(frozen=True)
class People:
    """A table whose every value is a marker."""

    columns: dict[str, list[str]]
    """The columns and their values."""
    rare: frozenset[str]
    """The values of ``district`` that few people have."""

    def write(self, name: str) -> Path:
        """Write it as CSV."""
        path = Path(name)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows(zip(*self.columns.values(), strict=True))
        return path

    def without(self, *names: str) -> People:
        """Return it without some columns."""
        kept = {name: own for name, own in self.columns.items() if name not in names}
        return People(kept, self.rare)

    def part(self, records: int) -> People:
        """Return its first records."""
        return People({name: own[:records] for name, own in self.columns.items()}, self.rare)


def people(seed: int, *, records: int = 60) -> People:
    """Draw people: two districts with many of them, one with seven, one with three; illnesses common and rare."""
    drawn = random.Random(seed)
    district = [f"{MARK}DistrictA"] * (records // 2)
    district += [f"{MARK}DistrictB"] * (records - len(district) - RARE - FEW)
    district += [f"{MARK}DistrictRare"] * RARE + [f"{MARK}DistrictFew"] * FEW
    illnesses = [f"{MARK}Ill{place}" for place in range(4)]
    secret = drawn.choices(illnesses[:3], [4, 4, 2], k=records - RARE) + [illnesses[3]] * RARE
    columns = {
        "id": [f"{MARK}Id{place:04d}" for place in range(records)],
        "age": [f"{MARK}Age{drawn.randrange(6)}" for _ in range(records)],
        "sex": [f"{MARK}{drawn.choice('FM')}" for _ in range(records)],
        "district": district,
        "ill": secret,
        "note": [f"{MARK}Note{place}" for place in range(records)],
    }
    return People(columns, frozenset({f"{MARK}DistrictRare", f"{MARK}DistrictFew"}))


def let_out(folder: Path) -> dict[str, str]:
    """Return what a run lets out in files, as text by name: HTML, JSON (with the data of pictures), paper, manifest."""
    pages = archive.from_json((folder / "report.json").read_text(encoding="utf-8"), "report.json")
    texts = {
        name: (folder / name).read_text(encoding="utf-8")
        for name in ("report.html", "report.json", "manifest.json")
    }
    for code, page in pages.items():
        with speaking(code):
            content = json.dumps(content_of(page), ensure_ascii=False)
            texts[f"report.pdf in {code}"] = content.replace("\u200b", "")
            if code != "en":
                texts[f"report.html in {code}"] = to_html(page)
    return texts


def found_in(texts: Mapping[str, str], markers: frozenset[str] | None = None) -> dict[str, str]:
    """Return where markers are, and what stands around the first one.

    Args:
        texts: Where to look.
        markers: What to look for; None: for any marker.
    """
    found = {}
    for name, text in texts.items():
        folded = text.casefold()
        places = [folded.find(marker.casefold()) for marker in markers or {MARK}]
        hits = [place for place in places if place >= 0]
        if hits:
            found[name] = " ".join(text[max(0, min(hits) - 60) : min(hits) + 60].split())
    return found


def fingerprints(folder: Path) -> frozenset[str]:
    """Return the fingerprints of what a run read, as its manifest has them."""
    return frozenset(re.findall(r"[0-9a-f]{64}", (folder / "manifest.json").read_text()))


def logs(outcome: Outcome) -> dict[str, str]:
    """Return what a command printed."""
    return {"standard output": outcome.out, "standard error": outcome.error}
