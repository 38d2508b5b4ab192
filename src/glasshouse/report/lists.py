"""Names in a row, as a sentence has them."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.language import text, text_for

MOST_NAMED = 3
"""How many datasets are all named."""


def joined(parts: Sequence[str]) -> str:
    """Join parts of a sentence as they stand.

    >>> joined([]), joined(["a_1"]), joined(["a_1", "b"]), joined(["a_1", "b", "c"])
    ('', 'a_1', 'a_1 and b', 'a_1, b and c')
    """
    if len(parts) < 2:
        return "".join(parts)
    return text("{first} and {last}", first=", ".join(parts[:-1]), last=parts[-1])


def either(parts: Sequence[str]) -> str:
    """Join parts of a sentence of which one will do.

    >>> either(["a"]), either(["a", "b"]), either(["a", "b", "c"])
    ('a', 'a or b', 'a, b or c')
    """
    if len(parts) < 2:
        return "".join(parts)
    return text("{first} or {last}", first=", ".join(parts[:-1]), last=parts[-1])


def listed(datasets: Sequence[str]) -> str:
    """Name datasets, or the first of many.

    >>> listed(["a.csv"]), listed(["a.csv", "b.csv"]), listed(list("abc")), listed(list("abcde"))
    ('a.csv', 'a.csv and b.csv', 'a, b and c', 'a and 4 further datasets')
    """
    if len(datasets) > MOST_NAMED:
        return text_for(
            len(datasets) - 1,
            "{first} and {count} further dataset",
            "{first} and {count} further datasets",
            first=datasets[0],
        )
    return joined(datasets)
