"""The figures of an anonymised table and how well each is known, as tables of the report."""

from __future__ import annotations

from glasshouse.groups import Measures, Sampled
from glasshouse.groups.estimates import Aggregate, figure_title
from glasshouse.language import exactly, marked, number, text, translated
from glasshouse.report.groups.words import adversary_label, error_text, figure_text, plus_minus
from glasshouse.report.page import Cell, Column, Group, Section, Table


def measures_section(measures: Measures) -> Section:
    """Return the figures of the table, each with its error; what is not sampled is exact."""
    columns = (
        Column(text("Somebody who")),
        Column(text("best guess right, ties counting"), numeric=True),
        Column(text("ties at random"), numeric=True),
        Column(text("absolute error (ABS)"), numeric=True),
        Column(text("undecided"), numeric=True),
    )
    rows = tuple(
        (
            Cell(adversary_label(name)),
            Cell(
                _with_error(measures, number(threat.share, ".6g"), f"gt_{name}"),
                exact=exactly(threat.share),
            ),
            Cell(
                _with_error(
                    measures, number(threat.share_at_random, ".6g"), f"gt_{name}_random_ties"
                )
            ),
            Cell(_with_error(measures, number(threat.absolute_error, ",.2f"), f"abs_{name}")),
            Cell(number(threat.undecided)),
        )
        for name, threat in measures.adversaries().items()
    )
    cells = tuple(
        (Cell(name), Cell(value), Cell(_error_of(measures, figure)))
        for name, value, figure in (*_further(measures), *_above(measures), *_faithful(measures))
    )
    heads = (
        Column(text("Measure")),
        Column(text("value"), numeric=True),
        Column(text("error"), numeric=True),
    )
    return Section(
        text("The figures"),
        tables=(Table(columns, (Group(rows),)), Table(heads, (Group(cells),))),
    )


def _further(measures: Measures) -> list[tuple[str, str, str]]:
    """Return what else holds for the table: its title, its value, and its name among the sampled figures."""
    shape = measures.histogram()
    return [
        (text("most frequent value"), number(measures.baseline, ".6f"), ""),
        (figure_title("rgt"), number(measures.relative_global_threat, ".6f"), "rgt"),
        (
            figure_title("highest_ti"),
            figure_text(measures.highest_relative, ",.4g"),
            "highest_ti",
        ),
        (
            figure_title("highest_ti_of_all"),
            figure_text(float(measures.relative.max()), ",.4g"),
            "highest_ti_of_all",
        ),
        (
            text("mean of log₂ Ti of threatened records"),
            figure_text(shape.mean, ".4g"),
            "log2_ti_attacker_mean",
        ),
        (
            text("skewness of log₂ Ti"),
            figure_text(shape.skewness, ".4g"),
            "log2_ti_attacker_skewness",
        ),
    ]


def _above(measures: Measures) -> list[tuple[str, str, str]]:
    """Return the shares of records above each threshold, in the units of the other shares of the table."""
    found = []
    for limit in measures.thresholds:
        for name, threatened in (
            (f"ti_above_{limit:g}_of_all", False),
            (f"ti_above_{limit:g}", True),
        ):
            share = measures.share_above(limit, threatened=threatened)
            found.append((figure_title(name), number(share, ".6f"), name))
    return found


def _faithful(measures: Measures) -> list[tuple[str, str, str]]:
    own = measures.faithfulness
    if own is None:
        return []
    return [
        (text("relative faithfulness (RF, equation 21)"), number(own.published, ".4g"), "rf"),
        (text("relative faithfulness, bounded"), number(own.bounded, ".4g"), "rf_bounded"),
    ]


def _error_of(measures: Measures, figure: str) -> str:
    """Say the error of a figure; that of faithfulness is of its points and of the chains."""
    faithful = measures.faithfulness
    if faithful is not None and figure in ("rf", "rf_bounded"):
        return error_text(faithful.published_error if figure == "rf" else faithful.bounded_error)
    if figure in measures.figures:
        return error_text(measures.figures[figure].error)
    return text("exact") if measures.is_exact or not figure else text("not estimated")


def _with_error(measures: Measures, value: str, figure: str) -> str:
    """Say the error behind a number that has one."""
    own = measures.figures.get(figure)
    return plus_minus(value, None if own is None else own.error)


def sampling_section(sampled: Sampled) -> Section:
    """Return how sure the sampler is of each figure."""
    titles = (
        text("value"),
        text("Monte-Carlo error"),
        text("R-hat"),
        text("effective draws"),
        text("Geweke, |z|"),
        text("Weiß, p"),
    )
    columns = (Column(text("Figure")), *(Column(title, numeric=True) for title in titles))
    rows = tuple(map(_row, sampled.aggregates))
    tables = [Table(columns, (Group(rows),), text("Draw by draw"))]
    if sampled.figures:
        batches = Table(
            (*columns[:4], Column(text("effective batches"), numeric=True)),
            (Group(tuple(_row(each)[:5] for each in sampled.figures)),),
            text("Batch by batch"),
        )
        tables.append(batches)
    return Section(
        text("How sure the sampler is"),
        f"{_run(sampled)} {_how_to_read()}",
        tuple(tables),
        sampled.warnings,
    )


_STOPPED = {
    "precision": marked(
        "{chains} chains, {burn_in} sweeps before anything is recorded, {sweeps} after; stopped as the precision was "
        "reached."
    ),
    "sweeps": marked(
        "{chains} chains, {burn_in} sweeps before anything is recorded, {sweeps} after; stopped at the limit of sweeps."
    ),
    "time": marked(
        "{chains} chains, {burn_in} sweeps before anything is recorded, {sweeps} after; stopped at the limit of time."
    ),
}


def _run(sampled: Sampled) -> str:
    return translated(
        _STOPPED[sampled.stopped.value],
        chains=sampled.chains,
        burn_in=sampled.burn_in,
        sweeps=sampled.sweeps,
    )


def _how_to_read() -> str:
    return text(
        "R-hat above 1.01 draw by draw means that chains disagree; batches are few, and their R-hat is rough. Geweke’s "
        "test passes up to 2, the Weiß test from 0.05 on; both look at one chain at a time, and a chain that is stuck "
        "passes them: trust R-hat."
    )


def _row(each: Aggregate) -> tuple[Cell, ...]:
    return (
        Cell(figure_title(each.name)),
        Cell(figure_text(each.value, ",.6g")),
        Cell(error_text(each.error)),
        Cell(figure_text(each.rhat, ".4f")),
        Cell(figure_text(each.ess, ",.0f")),
        Cell(figure_text(each.geweke, ".2f")),
        Cell(figure_text(each.weiss, ".3f")),
    )
