"""By which chances the values of a column were released: as a text says it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from glasshouse.errors import ContradictionError


@dataclass(frozen=True)
class ColumnChances:
    """The chances by which a column was released at random."""

    written: str
    """As a study writes it."""
    law: str
    """``response``: the truth with a chance, else any other value alike; ``pram``: kept with a chance, else drawn anew
    as frequent as in the release; ``swap``: exchanged with a chance for the value of another record of its group;
    ``matrix``: by a file."""
    chance: Fraction | None = None
    """The chance of the truth, of being kept, or of being swapped."""
    within: tuple[str, ...] = ()
    """The columns by which records are grouped that values are swapped between; none: between all records."""
    path: str | None = None
    """The file: true values in the first column, released ones in the first line, chances between."""


def parse_noise(name: str, written: str) -> ColumnChances:
    """Return by which chances a column was released, as a text says it.

    Args:
        name: The column, for messages.
        written: ``response:0.8``, ``pram:0.8``, ``swap:0.1``, ``swap:0.1,within=region+sex``, or ``@FILE``.

    Raises:
        ContradictionError: It is none of them.

    >>> parse_noise("ill", "response:0.8").chance, parse_noise("ill", "@chances.csv").path
    (Fraction(4, 5), 'chances.csv')
    >>> parse_noise("ill", "swap:0.1,within=region+sex").within
    ('region', 'sex')
    """
    plain = written.strip()
    if plain.startswith("@") and plain[1:].strip():
        return ColumnChances(plain, "matrix", path=plain[1:].strip())
    law, _, rest = plain.partition(":")
    chance, by, groups = rest.partition(",within=")
    within = tuple(column.strip() for column in groups.split("+")) if by else ()
    try:
        number = Fraction(chance)
    except (ValueError, ZeroDivisionError):
        number = Fraction(-1)
    misgrouped = bool(by) and (law != "swap" or "" in within)
    if law not in ("response", "pram", "swap") or not 0 <= number <= 1 or misgrouped:
        raise ContradictionError(
            '`noise` "{name}={written}" is none of {name}=response:0.8 (the truth, else any other value), '
            "{name}=pram:0.8 (kept, else drawn anew), {name}=swap:0.1,within=COLUMN (exchanged within a group) and "
            "{name}=@FILE (chances)",
            name=name,
            written=written,
        )
    return ColumnChances(plain, law, number, within=within)
