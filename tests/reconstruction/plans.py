"""Plans for tests: a synthetic month, and a few records and totals."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from glasshouse.reconstruction import load_plan
from glasshouse.study.totals import TotalsStudy
from glasshouse.synthetic.trade import write_trade

PLAN = Path(__file__).parents[2] / "examples" / "trade" / "study.toml"
GOOD = [("good", "1.0", ""), ("good", "2.0", "")]
GOOD_TOTALS = [("good", "a", "1"), ("good", "b", "2")]


def trade_plan(folder: Path, *, budget: Mapping[str, float], **month: Any) -> TotalsStudy:
    """The example plan, on a month of its own."""
    write_trade(folder / "month", **month)
    (folder / "study.toml").write_bytes(PLAN.read_bytes())
    plan = load_plan(folder / "study.toml")
    return changed(plan, budget={**plan.budget.model_dump(), **budget})


def changed(plan: TotalsStudy, **update: Any) -> TotalsStudy:
    return TotalsStudy.model_validate({**plan.model_dump(), **update})


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def rewrite(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def tiny_plan(
    folder: Path,
    records: Sequence[tuple[str, str, str]],
    totals: Sequence[tuple[str, str, str]],
    **more: Any,
) -> TotalsStudy:
    """Records (group, value, weight) and totals (group, bin, value) as a plan with one measure."""
    write(
        folder / "records.csv",
        ["id", "group", "value"],
        [(f"r{i}", g, v) for i, (g, v, _) in enumerate(records)],
    )
    write(folder / "totals.csv", ["group", "bin", "value"], totals)
    write(folder / "register.csv", ["entity", "bin"], [(f"e{i}", b) for i, b in enumerate("aabc")])
    content = {
        "publications": {
            "records": {
                "path": folder / "records.csv",
                "identifier": "id",
                "measures": {"value": "value"},
            },
            "totals": {"path": folder / "totals.csv", "measures": {"value": "value"}},
            "register": {"path": folder / "register.csv"},
        },
        "measures": {"value": {"decimals": 1}},
        "rounding": "sum",
        "none_bin": False,
        "entities": {"publication": "register", "keys": {"bin": "bin"}, "entity": "entity"},
        "phases": [
            {
                "name": "only",
                "packages": "records",
                "bins": "totals",
                "bin": ["bin"],
                "keys": {"group": "group"},
            }
        ],
        **more,
    }
    return TotalsStudy.model_validate(content)


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def register_rows(plan: TotalsStudy, rows: Sequence[tuple[str, str]]) -> None:
    """Write another register: entities and their bins."""
    path = plan.publications["register"].path
    write(path, ["entity", "bin"], rows)
