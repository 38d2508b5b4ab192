"""A set of published tables, as a frozen model of ``study.toml``: what was published of whom, and how it was protected.

Everything that is published is a window: a count that is shown is one number, a suppressed one is what the study says
that suppressed means, a rounded one whatever rounds to it. The model knows nothing of what follows from the windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from math import exp, inf, sqrt
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    model_validator,
)

from glasshouse.errors import ContradictionError
from glasshouse.language import either, text, unknown_name
from glasshouse.study.entry import ADVERSARY, entry
from glasshouse.study.question import Dataset, Dialect, Model, Question

MARK = "*"
"""What stands for a suppressed number where a study has none."""
MOST_VALUES = 100_000
"""No attribute has more values."""
MOST_DIGITS = 50
"""No number of noise is larger, or smaller, than so many digits tell."""
MOST_EPSILON = 100
"""An ε above it is as good as no noise."""
SIGMAS = (Fraction(1, 100), Fraction(1000))
"""Between these lies the σ that is worked out: less is no noise, and more takes long."""
MOST_BASE = 1000
"""To multiples of no more counts are rounded at random."""
ROUNDED_OFF = Fraction(1, 1000)
"""The chances of a true count may miss 1 by what their decimals were rounded, but never by more than this."""

Name = Annotated[str, Field(min_length=1)]
Value = StrictInt | StrictFloat | str
"""A value of an attribute."""
Window = tuple[StrictInt, StrictInt]


def _decimal(written: object) -> object:
    """Return a number as it is written, so that 0.1 stays a tenth."""
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        return written
    try:
        exact = Decimal(str(written))
    except InvalidOperation:
        raise ContradictionError(
            "{given} is not a number; write it with a point before the decimals",
            given=repr(written),
        ) from None
    if not exact.is_finite():
        raise ContradictionError("{given} is not a finite number", given=repr(written))
    return str(written)


Exact = Annotated[str, BeforeValidator(_decimal)]
"""A decimal number, exactly as written."""


def _in_order(window: Window) -> Window:
    if window[0] > window[1]:
        raise ContradictionError(
            "the window from {low} to {high} is empty; give the least first",
            low=window[0],
            high=window[1],
        )
    return window


def _natural(window: Window) -> Window:
    if window[0] < 0:
        raise ContradictionError(
            "no count is below 0, as in {low} to {high}", low=window[0], high=window[1]
        )
    return _in_order(window)


Counts = Annotated[Window, AfterValidator(_natural)]
"""The least and the greatest that a count can be."""


class NumberInterval(Model):
    """Numbers of an attribute from one on, up to another."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    least: StrictInt | StrictFloat | None = Field(default=None, alias="from")
    """The first; unset: from the lowest."""
    most: StrictInt | StrictFloat | None = Field(default=None, alias="to")
    """The last; unset: up to the highest."""

    def holds(self, value: Value) -> bool:
        """Tell whether a number lies in it."""
        if isinstance(value, str):
            return False
        low = -inf if self.least is None else self.least
        return low <= value <= (inf if self.most is None else self.most)


Where = dict[Name, Value | NumberInterval | tuple[Value, ...]]
"""Of whom something is said: by attribute a value, several, or an interval; of nobody else in particular."""


class PublishedAttribute(Model):
    """What is told of a person in the tables."""

    values: tuple[Value, ...] | None = None
    """All that it can be."""
    range: Annotated[Window, AfterValidator(_in_order)] | None = None
    """Or whole numbers, from the first to the last."""

    @model_validator(mode="after")
    def _has_values_once(self) -> Self:
        if (self.values is None) == (self.range is None):
            raise ContradictionError("an attribute has either values or a range; give one of them")
        if self.values is not None and len(set(self.values)) < max(len(self.values), 1):
            raise ContradictionError("an attribute has at least one value, and each once")
        if len(self.domain) > MOST_VALUES:
            raise ContradictionError(
                "an attribute has {count} values, more than {most}; publish it in bands",
                count=len(self.domain),
                most=MOST_VALUES,
            )
        return self

    @property
    def domain(self) -> tuple[Value, ...]:
        """All values, in their order."""
        if self.values is not None:
            return self.values
        low, high = self.range or (0, 0)
        return tuple(range(low, min(high, low + MOST_VALUES) + 1))

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers."""
        return not any(isinstance(value, str) for value in self.domain)


class KnownPeople(Model):
    """What is known of the people beside the tables."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    where: Where
    """Of whom."""
    at_least: StrictInt = Field(default=1, ge=0, alias="at least")
    """So many there are at least."""
    at_most: StrictInt | None = Field(default=None, ge=0, alias="at most")
    """And at most; unset: any number."""


class CountRounding(Model):
    """How counts were rounded."""

    base: StrictInt = Field(ge=2)
    """To multiples of what."""
    how: Literal["nearest", "random", "down"]
    """To the nearest, to one of the two around it by chance, or down."""
    zeros: Literal["rounded", "true"] = "rounded"
    """Whether a zero may be a small number, or is none."""
    below: StrictInt | None = Field(default=None, ge=0)
    """Counts up to this became 0 before the others were rounded."""

    def window(self, count: int) -> Window:
        """Return what rounds to a count.

        >>> CountRounding(base=5, how="nearest").window(10), CountRounding(base=3, how="random").window(0)
        ((8, 12), (0, 2))
        >>> small = CountRounding(base=5, how="nearest", below=7)  # OpenSAFELY
        >>> small.window(0), small.window(10)
        ((0, 7), (8, 12))
        """
        if count % self.base:
            raise ContradictionError(
                "{count} is not a multiple of {base}, to which counts were rounded",
                count=count,
                base=self.base,
            )
        if not count and self.zeros == "true":
            return 0, 0
        reach = {
            "nearest": (self.base // 2,) * 2,
            "random": (self.base - 1,) * 2,
            "down": (0, self.base - 1),
        }
        down, up = reach[self.how]
        low, high = max(0, count - down), count + up
        if self.below is None:
            return low, high
        return (0, max(high, self.below)) if not count else (max(low, self.below + 1), high)


def _positive(written: object) -> object:
    """Return a number above 0 as it is written, so that it stays exact: 0.1, or 1/10."""
    try:
        written_out = "" if isinstance(written, bool) else str(written)
        is_sane = "/" in written_out or abs(Decimal(written_out).adjusted()) < MOST_DIGITS
        exact = Fraction(written_out) if is_sane else None
    except (ValueError, ZeroDivisionError, InvalidOperation, OverflowError):
        exact = None
    if exact is None:
        raise ContradictionError("{given} is not a number, such as 0.5 or 1/2", given=repr(written))
    if exact <= 0:
        raise ContradictionError("noise needs a number above 0, not {given}", given=str(written))
    return str(written)


Positive = Annotated[str, BeforeValidator(_positive)]
"""A number above 0, exactly as written."""
_SCALES = {
    "geometric": ("epsilon", "ratio"),
    "gaussian": ("sigma", "rho"),
    "table": ("path", "rows"),
    "rounding": ("base",),
}
"""By what each noise is described, by one of these."""
_EXAMPLES = {
    "geometric": "geometric:epsilon=1",
    "gaussian": "gaussian:sigma=1",
    "table": "ptable.txt",
    "rounding": "rounding:base=3",
}
"""How each is written in one text."""


class CountNoise(Model):
    """The chances by which counts were changed before they were published."""

    law: Literal["geometric", "gaussian", "table", "rounding"]
    """Two-sided geometric (Laplace on whole numbers), discrete Gaussian, a perturbation table, or random rounding."""
    epsilon: Positive | None = None
    """The ε of geometric noise."""
    ratio: Positive | None = None
    """Or how much less likely each further step is, e^−ε, which may be exact: 1/2."""
    sigma: Positive | None = None
    """The σ of Gaussian noise."""
    rho: Positive | None = None
    """Or its ρ: 1 / 2σ²."""
    path: Path | None = None
    """The file of a perturbation table, as ptable writes it for τ-ARGUS: columns i, j and p."""
    rows: tuple[tuple[StrictInt, StrictInt, Positive], ...] | None = None
    """Or its rows: a true count, what it is published as, and the chance."""
    base: Annotated[StrictInt, Field(ge=2, le=MOST_BASE)] | None = None
    """To multiples of what counts were rounded at random, up as often as leaves their mean."""
    least: StrictInt | None = None
    """What stands for noisy counts below it, where they were clamped; unset: they were not."""

    @model_validator(mode="after")
    def _is_one_noise(self) -> Self:
        names = _SCALES[self.law]
        given = {
            name
            for names_of_law in _SCALES.values()
            for name in names_of_law
            if getattr(self, name) is not None
        }
        if len(given) != 1 or not given <= set(names):
            raise ContradictionError(
                "{law} noise is described by {scales}: give one of them, as in {example}",
                law=self.law,
                scales=either(names),
                example=_EXAMPLES[self.law],
            )
        if self.ratio is not None and Fraction(self.ratio) >= 1:
            raise ContradictionError(
                "the ratio of geometric noise is e^−ε, below 1, not {given}", given=self.ratio
            )
        if self.epsilon is not None and Fraction(self.epsilon) > MOST_EPSILON:
            raise ContradictionError(
                "an ε of {given} is as good as no noise; give one up to {most}",
                given=self.epsilon,
                most=MOST_EPSILON,
            )
        scale = Fraction(self.sigma or 1) ** 2 if self.rho is None else 1 / (2 * Fraction(self.rho))
        if not SIGMAS[0] ** 2 <= scale <= SIGMAS[1] ** 2:
            raise ContradictionError(
                "Gaussian noise is worked out for a σ from {least} to {most}; give another",
                least=str(float(SIGMAS[0])),
                most=int(SIGMAS[1]),
            )
        if self.is_bounded and self.least is not None:
            raise ContradictionError(
                "a perturbation table, or rounding, says itself what comes out; leave out least"
            )
        if self.rows is not None:
            self._check_rows()
        return self

    def _check_rows(self) -> None:
        decimals: dict[int, list[str]] = {}
        for true, shown, chance in self.rows or ():
            if true < 0 or shown < 0:
                raise ContradictionError("a perturbation table has counts from 0 on, not below")
            decimals.setdefault(true, []).append(chance)
        if set(decimals) != set(range(len(decimals))):
            missing = next(count for count in range(len(decimals) + 1) if count not in decimals)
            raise ContradictionError(
                "a perturbation table has a row for every true count from 0 on; {count} has none",
                count=missing,
            )
        for true, chances in decimals.items():
            total = sum(map(Fraction, chances), Fraction(0))
            if abs(total - 1) > _rounded_off(chances):
                raise ContradictionError(
                    "the chances of a true count of {count} add up to {total}, not to 1",
                    count=true,
                    total=f"{float(total):.9g}",
                )

    @property
    def is_bounded(self) -> bool:
        """Whether a published count says for certain between what the true one lies."""
        return self.law in ("table", "rounding")

    @property
    def step(self) -> Fraction | float:
        """How much less likely each further step of geometric noise is."""
        return (
            exp(-float(Fraction(self.epsilon or 1))) if self.ratio is None else Fraction(self.ratio)
        )

    @property
    def deviation(self) -> float:
        """The σ of Gaussian noise."""
        if self.sigma is not None:
            return float(Fraction(self.sigma))
        return 1 / sqrt(2 * float(Fraction(self.rho or 1)))

    @property
    def chances(self) -> dict[int, dict[int, Fraction]]:
        """The chances of a perturbation table by the true and the published count; each row adds up to 1."""
        return _chances(self.rows or ())

    def window(self, count: int) -> Window | None:
        """Return between what the true count lies by noise with a bound; None: this cannot come out of it.

        >>> rows = [(0, 0, "1"), (1, 0, "0.5"), (1, 2, "0.5"), (2, 0, "1/4"), (2, 2, "1/2"), (2, 4, "1/4")]
        >>> noise = CountNoise(law="table", rows=rows)
        >>> noise.window(0), noise.window(9), noise.window(1)
        ((0, 2), (7, 11), (3, 3))
        >>> CountNoise(law="rounding", base=3).window(6)
        (4, 8)
        """
        if self.base is not None:
            low, high = max(0, count - self.base + 1), count + self.base - 1
            return None if count % self.base else (low, high)
        chances = self.chances
        last = max(chances)
        moves = [shown - last for shown in chances[last]]
        true = [at for at, row in chances.items() if at < last and count in row]
        true += [count - move for move in moves if count - move >= last]
        return (min(true), max(true)) if true else None


@lru_cache(maxsize=16)
def _chances(rows: tuple[tuple[int, int, str], ...]) -> dict[int, dict[int, Fraction]]:
    table: dict[int, dict[int, Fraction]] = {}
    for true, shown, chance in rows:
        row = table.setdefault(true, {})
        row[shown] = row.get(shown, Fraction(0)) + Fraction(chance)
    return {
        true: {shown: chance / sum(row.values()) for shown, chance in row.items()}
        for true, row in table.items()
    }


def _rounded_off(chances: list[str]) -> Fraction:
    """Return by how much chances may miss 1, as they were rounded to so many decimals.

    >>> _rounded_off(["0.333", "0.333", "0.333"]), _rounded_off(["1/3", "1/2"]), _rounded_off(["1", "1"])
    (Fraction(1, 1000), Fraction(0, 1), Fraction(0, 1))
    """
    if any("/" in chance for chance in chances):
        return Fraction(0)
    places = max(-int(Decimal(chance).as_tuple().exponent) for chance in chances)
    if places < 1:
        return Fraction(0)
    return min(ROUNDED_OFF, Fraction(len(chances), 2 * 10**places))


def _spelled_out(noise: object) -> object:
    """Return noise that is written in one text, geometric:epsilon=1 or the file of a perturbation table, by entry."""
    if isinstance(noise, Path):
        return {"law": "table", "path": noise}
    if not isinstance(noise, str):
        return noise
    law, _, scales = noise.partition(":")
    if law not in ("geometric", "gaussian", "rounding"):
        if "=" in noise and not Path(noise).exists():
            raise ContradictionError(
                "{given} is not a noise; write geometric:epsilon=1, gaussian:sigma=2, rounding:base=3, or the file of "
                "a perturbation table",
                given=repr(noise),
            )
        return {"law": "table", "path": Path(noise)}
    entries: dict[str, object] = {"law": law}
    for part in filter(None, scales.split(",")):
        name, _, value = part.partition("=")
        name, value = name.strip(), value.strip()
        whole = name in ("least", "base") and value.lstrip("-").isdecimal()
        entries[name] = int(value) if whole else value
    return entries


Noise = Annotated[CountNoise, BeforeValidator(_spelled_out)]
"""Noise, by its entries or in one text."""


def _marked(published: object) -> object:
    return MARK if published is None else published


Published = Annotated[StrictInt | Counts | str, BeforeValidator(_marked)]
"""A count, its window, or a mark that it is suppressed."""


def _marked_rows(rows: object) -> object:
    """Return rows with a mark where the last entry is nothing: TOML has no null."""
    if not isinstance(rows, list | tuple):
        return rows
    return [
        (*row[:-1], _marked(row[-1])) if isinstance(row, list | tuple) and row else row
        for row in rows
    ]


class Statistic(Model):
    """One published figure of some people."""

    where: Where = Field(default_factory=dict)
    """Of whom; empty: of all in the table."""
    count: Published | None = None
    """How many they are."""
    of: Name | None = None
    """The numeric attribute that the others are about."""
    sum: Exact | tuple[Exact, Exact] | None = None
    """Its sum, or between what it lies."""
    mean: Exact | tuple[Exact, Exact] | None = None
    """Its mean, or between what it lies."""
    median: Exact | tuple[Exact, Exact] | None = None
    """Its median, or between what it lies; of an even number of people that between the middle two."""
    percent: Exact | tuple[Exact, Exact] | None = None
    """How many of a hundred in `within` they are."""
    within: Where | None = None
    """Of whom the percentage is taken."""
    unit: Exact | None = None
    """What the sum, the mean, the median or the percentage was rounded to; unset: it is exact."""

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        figures = [
            name for name in ("sum", "mean", "median", "percent") if getattr(self, name) is not None
        ]
        if not figures and self.count is None:
            raise ContradictionError(
                "a statistic has a count, sum, mean, median or percent; give one"
            )
        for name in figures:
            if name != "percent" and self.of is None:
                raise ContradictionError('a {name} needs "of": the attribute it is of', name=name)
        if self.percent is not None and self.within is None:
            raise ContradictionError('a percent needs "within": of whom it is taken')
        return self

    def interval(self, name: str) -> tuple[Fraction, Fraction]:
        """Return between what a sum, mean, median or percentage lies."""
        published = getattr(self, name)
        if isinstance(published, tuple):
            low, high = (Fraction(end) for end in published)
            if low > high:
                raise ContradictionError(
                    "the window from {low} to {high} is empty; give the least first",
                    low=published[0],
                    high=published[1],
                )
            return low, high
        half = Fraction(self.unit or 0) / 2
        return Fraction(published) - half, Fraction(published) + half


class PublishedTable(Model):
    """One published table, or some figures that were published together."""

    id: Name | None = None
    """What results call it; unset: by its file or its place."""
    by: tuple[Name, ...] = ()
    """The attributes that it crosses."""
    rows: Annotated[
        tuple[tuple[StrictInt | StrictFloat | str | Counts, ...], ...] | None,
        BeforeValidator(_marked_rows),
    ] = None
    """Per combination its values and the count, its window, or a mark that it is suppressed."""
    path: Path | None = None
    """Or the file that holds it, long or wide; in ``study.toml`` relative to the folder of the study."""
    dialect: Dialect = Dialect()
    """How the file is written down, where it is delimited text."""
    totals: Literal["everything", "shown"] | None = entry("What totals in the files are of.")
    """Of everything, or of what is shown."""
    complete: StrictBool = True
    """Whether nobody has a combination that is not in it."""
    statistics: tuple[Statistic, ...] = ()
    """Figures of groups of people."""
    suppressed: Counts | None = entry("Between what a suppressed count lies.", "LOW HIGH")
    rounding: CountRounding | None = None
    """How its counts were rounded."""
    within: StrictInt | None = Field(default=None, ge=0)
    """How far a count may be from the true one, where it was perturbed."""
    noise: Noise | None = entry(
        "The noise in its counts: geometric:epsilon=1, gaussian:sigma=2 (after a comma least=0, if clamped), "
        "rounding:base=3 (at random), or the file of a perturbation table.",
        "NOISE",
        python='"geometric:epsilon=1"; "gaussian:rho=0.05,least=0"; "rounding:base=3"; "ptable.txt"',
    )
    where: Where = Field(default_factory=dict)
    """The part of the people that it is about; empty: all."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.rows is not None and self.path is not None:
            raise ContradictionError("a table has rows or a path; give one of them")
        if self.rows is not None and not self.by:
            raise ContradictionError('a table with rows needs "by": the attributes of its columns')
        if self.rows is None and self.path is None and not self.statistics:
            raise ContradictionError("a table has rows, a path or statistics; give one of them")
        for row in self.rows or ():
            if len(row) != len(self.by) + 1:
                raise ContradictionError(
                    "a row has {count} entries instead of {expected}: a value for each attribute, then the count",
                    count=len(row),
                    expected=len(self.by) + 1,
                )
        if sum(one is not None for one in (self.rounding, self.within, self.noise)) > 1:
            raise ContradictionError(
                'counts are rounded or perturbed: give "rounding", "within" or "noise", or windows'
            )
        return self

    @property
    def is_bounded(self) -> bool:
        """Whether its counts say for certain between what the true ones lie: not with noise that goes any far."""
        return self.noise is None or self.noise.is_bounded

    @property
    def is_window(self) -> bool:
        """Whether that is known already: a perturbation table may still have to be read."""
        return self.noise is None or self.noise.rows is not None or self.noise.base is not None

    def window(self, published: int | Window | str, *, absent: bool = False) -> Window:
        """Return between what a published count lies.

        Raises:
            ContradictionError: It is suppressed, and the table does not say what that means.
        """
        if isinstance(published, tuple):
            return published
        if isinstance(published, str):
            if self.suppressed is None:
                raise ContradictionError(
                    'table "{table}": "{mark}" stands for a suppressed count; say between what it lies, such as '
                    "suppressed = [1, 4]",
                    table=self.id,
                    mark=published,
                )
            return self.suppressed
        if published < 0:
            raise ContradictionError(
                'table "{table}": {count} is not a count', table=self.id, count=published
            )
        if self.noise is not None:
            between = self.noise.window(published)
            if between is None and self.noise.base is not None:
                raise ContradictionError(
                    "{count} is not a multiple of {base}, to which counts were rounded",
                    count=published,
                    base=self.noise.base,
                )
            if between is None:
                raise ContradictionError(
                    'table "{table}": {count} cannot come out of its perturbation table; is it the one that was used?',
                    table=self.id,
                    count=published,
                )
            return between
        if self.rounding is not None and not (absent and self.rounding.zeros == "true"):
            return self.rounding.window(published)
        reach = self.within or 0
        return max(0, published - reach), published + reach


class TablesStudy(Question):
    """Which tables were published of the same people, and what is asked of them."""

    command: Literal["tables"] = "tables"
    """The command that answers it."""
    name: str | None = None
    """What the set of tables is called."""
    people: StrictInt | Counts | None = entry(
        "How many people they are of, if that is known.", "N", python="180; (170, 190)"
    )
    """A number, or between what it lies; unset: the tables say so."""
    attributes: dict[Name, PublishedAttribute] = Field(default_factory=dict)
    """What is told of a person; unset: as the files of the tables say."""
    impossible: tuple[Where, ...] = ()
    """Combinations that nobody can have."""
    known: tuple[KnownPeople, ...] = ()
    """What is known beside the tables."""
    tables: tuple[PublishedTable, ...] = Field(min_length=1)
    """What was published."""
    quasi_identifiers: tuple[Name, ...] = ()
    """What the adversary knows of a person; unset: all but what is sensitive."""
    sensitive: tuple[Name, ...] = entry(
        "A column that she wants to learn.", "COL", panel=ADVERSARY, default=()
    )
    rare: StrictInt | None = entry(
        "Up to how many people a combination is rare.",
        "N",
        unless="below the smallest cell",
        ge=1,
    )
    population: Dataset | None = entry(
        "Other people's records, for what anybody could guess.", "FILE"
    )
    """They have the same attributes."""
    areas: Dataset | None = entry(
        "Which area lies in which: a column per level, the smallest areas first.", "FILE"
    )
    """Its columns are named as in the tables; each smallest area is solved by itself as far as that goes."""
    time_limit: StrictFloat = entry(
        "CPU seconds after which it stops; what is proved by then is shown, with exit code 3.",
        "SECONDS",
        unless="60",
        default=60.0,
        gt=0,
    )
    memory: StrictInt = Field(default=2 << 30, ge=64 << 20)
    """How many bytes cells and rows may take."""
    counting: StrictBool = True
    """Whether the files that fit are counted, where that is possible."""

    def abridged(self) -> Self:
        """Return the study without what was published: a report tells of no cell, and of no value."""
        tables = tuple(
            table.model_copy(update={"rows": None, "statistics": (), "where": {}})
            for table in self.tables
        )
        nothing: Mapping[str, object] = {"attributes": {}, "known": (), "impossible": ()}
        return self.model_copy(update={**nothing, "tables": tables})

    @model_validator(mode="before")
    @classmethod
    def _tables_have_names(cls, content: Any) -> Any:
        """Give every table a name: its file's, or by its place."""
        if not isinstance(content, dict) or not isinstance(content.get("tables"), list | tuple):
            return content
        tables = [
            {"id": Path(str(table["path"])).stem if table.get("path") else f"T{place}"} | table
            if isinstance(table, dict) and table.get("id") is None
            else table
            for place, table in enumerate(content["tables"], start=1)
        ]
        return content | {"tables": tables}

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        names = [table.id for table in self.tables]
        for name in names:
            if names.count(name) > 1:
                raise ContradictionError(
                    'table "{table}" is given twice; give each its own id', table=name
                )
        if not self.attributes:
            if any(table.path is None for table in self.tables):
                raise ContradictionError(
                    '"attributes" is missing; say what each attribute can be, as [attributes.sex] values = ["F", "M"]'
                )
            return self
        for place, where in self._conditions():
            for attribute, condition in where.items():
                self._check_condition(place, attribute, condition)
        for table in self.tables:
            self._check_table(table)
        for name in (*self.quasi_identifiers, *self.sensitive):
            self._check_attribute(text("the study"), name)
        for name in self.sensitive:
            if name in self.quasi_identifiers:
                raise ContradictionError('"{name}" is known and sensitive; choose one', name=name)
        return self

    def _conditions(self) -> Iterator[tuple[str, Where]]:
        """Yield every condition of the study with where it stands."""
        for where in self.impossible:
            yield '"impossible"', where
        for known in self.known:
            yield '"known"', known.where
        for table in self.tables:
            place = text('table "{table}"', table=table.id)
            yield place, table.where
            for statistic in table.statistics:
                yield place, statistic.where
                yield place, statistic.within or {}

    def _check_attribute(self, place: str, name: str) -> None:
        if name not in self.attributes:
            raise ContradictionError(
                unknown_name(
                    "attribute", name, text("attributes ({place})", place=place), self.attributes
                )
            )

    def _check_condition(self, place: str, name: str, condition: object) -> None:
        self._check_attribute(place, name)
        attribute = self.attributes[name]
        if isinstance(condition, NumberInterval):
            if not attribute.is_numeric:
                raise ContradictionError(
                    '{place}: "{name}" has values that are not numbers, so that it has no from and to',
                    place=place,
                    name=name,
                )
            return
        for value in condition if isinstance(condition, tuple) else (condition,):
            if value not in attribute.domain:
                raise ContradictionError(
                    '{place}: {value} is not a value of "{name}"; correct it, or add it to the attribute',
                    place=place,
                    value=repr(value),
                    name=name,
                )

    def _check_table(self, table: PublishedTable) -> None:
        place = text('table "{table}"', table=table.id)
        for name in table.by:
            self._check_attribute(place, name)
        if len(set(table.by)) < len(table.by):
            raise ContradictionError('{place}: an attribute stands twice in "by"', place=place)
        combinations = set()
        for row in table.rows or ():
            for name, value in zip(table.by, row, strict=False):
                self._check_condition(place, name, value)
            if row[:-1] in combinations:
                raise ContradictionError(
                    "{place}: the combination {row} stands twice", place=place, row=list(row[:-1])
                )
            combinations.add(row[:-1])
            if isinstance(row[-1], float):
                raise ContradictionError(
                    "{place}: {count} is not a count", place=place, count=repr(row[-1])
                )
            if table.is_window:
                table.window(row[-1])
        for statistic in table.statistics:
            if statistic.count is not None and table.is_window:
                table.window(statistic.count)
            for name in ("sum", "mean", "median", "percent"):
                if getattr(statistic, name) is not None:
                    statistic.interval(name)
            if statistic.of is not None:
                self._check_attribute(place, statistic.of)
                if not self.attributes[statistic.of].is_numeric:
                    raise ContradictionError(
                        '{place}: "{name}" is not a number, so that it has no sum, mean or median',
                        place=place,
                        name=statistic.of,
                    )
