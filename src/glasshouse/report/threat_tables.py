"""The figures of an anonymised table and how well each is known, as tables of the report."""

from __future__ import annotations

import numpy as np

from glasshouse.groups import Measures, Sampled
from glasshouse.groups.sampling_results import Aggregate
from glasshouse.report.page import Cell, Column, Group, Section, Table
from glasshouse.report.threat_charts import ADVERSARIES
from glasshouse.report.words import percentage


def measures_section(measures: Measures) -> Section:
    """Return the figures of the table, each with its error; what is not sampled is exact."""
    columns = (
        Column("Somebody who"),
        Column("best guess right, ties counting", numeric=True),
        Column("ties at random", numeric=True),
        Column("absolute error (ABS)", numeric=True),
        Column("undecided", numeric=True),
    )
    rows = tuple(
        (
            Cell(ADVERSARIES[name]),
            Cell(
                f"{float(threat.share):.6f}{_plus(measures, f'gt_{name}')}", exact=str(threat.share)
            ),
            Cell(f"{threat.share_at_random:.6f}{_plus(measures, f'gt_{name}_random_ties')}"),
            Cell(f"{threat.absolute_error:,.2f}{_plus(measures, f'abs_{name}')}"),
            Cell(f"{threat.undecided:,}"),
        )
        for name, threat in measures.adversaries().items()
    )
    cells = tuple(
        (Cell(name), Cell(value), Cell(_error_of(measures, figure)))
        for name, value, figure in (*_further(measures), *_faithful(measures))
    )
    heads = (Column("Measure"), Column("value", numeric=True), Column("error", numeric=True))
    return Section(
        "The figures", tables=(Table(columns, (Group(rows),)), Table(heads, (Group(cells),)))
    )


def _further(measures: Measures) -> list[tuple[str, str, str]]:
    """Return what else holds for the table: its title, its value, and its name among the sampled figures."""
    shape = measures.histogram()
    found = [
        ("most frequent value", f"{float(measures.baseline):.6f}", ""),
        ("relative global threat (RGT)", f"{measures.relative_global_threat:.6f}", "rgt"),
        (
            "highest relative threat (Ti) of a threatened record",
            f"{measures.highest_relative:.4f}",
            "highest_ti",
        ),
        (
            "highest relative threat (Ti) of any record",
            f"{float(measures.relative.max()):.4f}",
            "highest_ti_of_all",
        ),
        ("mean of log₂ Ti of threatened records", f"{shape.mean:.4f}", "log2_ti_attacker_mean"),
        ("skewness of log₂ Ti", f"{shape.skewness:.4f}", "log2_ti_attacker_skewness"),
    ]
    for limit in measures.thresholds:
        found += [
            (
                f"records with a relative threat above {limit:g}",
                percentage(measures.share_above(limit, threatened=False)),
                f"ti_above_{limit:g}_of_all",
            ),
            (
                f"threatened records with a relative threat above {limit:g}",
                percentage(measures.share_above(limit)),
                f"ti_above_{limit:g}",
            ),
        ]
    return found


def _faithful(measures: Measures) -> list[tuple[str, str, str]]:
    own = measures.faithfulness
    if own is None:
        return []
    return [
        ("relative faithfulness (RF, equation 21)", f"{own.published:.4f}", "rf"),
        ("relative faithfulness, bounded", f"{own.bounded:.4f}", "rf_bounded"),
    ]


def _error_of(measures: Measures, figure: str) -> str:
    """Say the error of a figure; that of faithfulness is of its points and of the chains."""
    faithful = measures.faithfulness
    if faithful is not None and figure in ("rf", "rf_bounded"):
        both = faithful.published_error if figure == "rf" else faithful.bounded_error
        return f"{both:.2g}"
    if figure in measures.figures:
        return f"{measures.figures[figure].error:.2g}"
    return "exact" if measures.is_exact or not figure else "not estimated"


def _plus(measures: Measures, figure: str) -> str:
    """Say the error behind a number that has one."""
    own = measures.figures.get(figure)
    return "" if own is None else f" ± {own.error:.2g}"


def sampling_section(sampled: Sampled) -> Section:
    """Return how sure the sampler is of each figure."""
    columns = (
        Column("Figure"),
        *(
            Column(title, numeric=True)
            for title in (
                *("value", "Monte-Carlo error", "R-hat", "effective draws", "Geweke, |z|"),
                "Weiß, p",
            )
        ),
    )
    tables = [Table(columns, (Group(tuple(map(_row, sampled.aggregates))),), "Draw by draw")]
    if sampled.figures:
        batches = Table(
            (*columns[:4], Column("effective batches", numeric=True)),
            (Group(tuple(_row(each)[:5] for each in sampled.figures)),),
            "Batch by batch",
        )
        tables.append(batches)
    return Section(
        "How sure the sampler is",
        f"{sampled.chains} chains, {sampled.burn_in:,} sweeps before anything is recorded, {sampled.sweeps:,} after; "
        f"stopped by {sampled.stopped}. R-hat above 1.01 draw by draw means that chains disagree; batches are few, and "
        "their R-hat is rough. Geweke’s test passes up to 2, the Weiß test from 0.05 on; both look at one chain at a "
        "time, and a chain that is stuck passes them: trust R-hat.",
        tuple(tables),
        sampled.warnings,
    )


def _row(each: Aggregate) -> tuple[Cell, ...]:
    return (
        Cell(figure_title(each.name)),
        Cell(_number(each.value, ",.6g")),
        Cell(_number(each.error, ".2g")),
        Cell(_number(each.rhat, ".4f")),
        Cell(_number(each.ess, ",.0f")),
        Cell(_number(each.geweke, ".2f")),
        Cell(_number(each.weiss, ".3f")),
    )


def _number(value: float, form: str) -> str:
    return "–" if np.isnan(value) else format(value, form)


FIGURES = {
    "attacker_success": "mean greatest probability, attacker",
    "learner_success": "mean greatest probability, learner",
    "gt_attacker": "best guess right, attacker (GT_A)",
    "gt_learner": "best guess right, learner (GT_L)",
    "gt_attacker_random_ties": "best guess right, attacker, ties at random",
    "gt_learner_random_ties": "best guess right, learner, ties at random",
    "abs_attacker": "absolute error, attacker (ABS_A)",
    "abs_learner": "absolute error, learner (ABS_L)",
    "rgt": "relative global threat (RGT)",
    "highest_ti": "highest relative threat (Ti) of a threatened record",
    "highest_ti_of_all": "highest relative threat (Ti) of any record",
    "log2_ti_attacker_mean": "mean of log₂ Ti, threatened by the attacker",
    "log2_ti_attacker_skewness": "skewness of log₂ Ti, threatened by the attacker",
    "log2_ti_learner_mean": "mean of log₂ Ti, threatened by the learner",
    "log2_ti_learner_skewness": "skewness of log₂ Ti, threatened by the learner",
    "rf": "relative faithfulness (equation 21), of the chains alone",
    "rf_bounded": "relative faithfulness, bounded, of the chains alone",
}
"""What each sampled figure is, in plain words."""


def figure_title(name: str) -> str:
    """Return what a sampled figure is, in plain words.

    >>> figure_title("ti_above_2_of_all")
    'records with a relative threat above 2'
    """
    if name.startswith("ti_above_") and name.endswith("_of_all"):
        limit = name.removeprefix("ti_above_").removesuffix("_of_all")
        return f"records with a relative threat above {limit}"
    if name.startswith("ti_above_"):
        limit = name.removeprefix("ti_above_")
        return f"threatened records with a relative threat above {limit}"
    return FIGURES[name]
