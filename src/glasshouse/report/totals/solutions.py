"""One group of records and totals in sentences: where its records can be, and what is proved of it."""

from __future__ import annotations

from math import floor, log10

from glasshouse.language import marked, text, translated
from glasshouse.totals import Solution

MOST_DIGITS = 15
"""A number with more digits is not written out."""
UNMET = {
    "records added": marked(
        "No allocation meets the totals: they hold more than all records together. Some records are not published, or "
        "the totals are of other records."
    ),
    "records left out": marked(
        "No allocation meets the totals: the records add up to more than they do. The totals leave out some records, "
        'for which the instance needs a bin of its own ("NONE"), or are of other records.'
    ),
    "rounding": marked(
        "No allocation meets the totals, though the sums of all records do. The totals were rounded in another way "
        "than the instance says, or are of other records."
    ),
}
"""What it means that no allocation meets the totals, by what the sums say."""


def solution_sentences(found: Solution, *, with_shares: bool = True) -> list[str]:
    """Say what all valid allocations of a group have in common, and what of it is proved.

    Args:
        found: What was found.
        with_shares: Whether they stand below a table that has places, and shares in brackets.
    """
    if found.reason is not None:
        return [translated(UNMET[found.reason])]
    if not found.proved:
        return _at_a_limit(found)
    if found.status == "unique":
        return [text("The place of every record is certain: only one allocation meets the totals.")]
    records = len(found.feasible_bins)
    certain = text(
        "The place of {linked} of {records} records is certain.",
        linked=found.linked,
        records=records,
    )
    if found.allocations is None:
        return [
            certain,
            text(
                "It is proved that each record can be in each place that is shown, and in no other. How many "
                "allocations meet the totals was not counted: they are too many for the limits."
            ),
        ]
    return [certain, _allocations(found.allocations, with_shares=with_shares)]


def _digits(count: int) -> int:
    """Return how many digits a number has; writing it out is too long for Python beyond 4,300 of them.

    >>> _digits(10**30 - 1), _digits(10**30), len(str(10**30))
    (30, 31, 31)
    """
    digits = floor(log10(count))
    while count >= int(10**digits):
        digits += 1
    return digits


def _allocations(count: int, *, with_shares: bool) -> str:
    """Say how many allocations there are; of very many only how long their number is (--json has all its digits)."""
    if count < 10**MOST_DIGITS and with_shares:
        return text(
            "{allocations} allocations meet the totals; in brackets, the share of them that has the record in that "
            "place.",
            allocations=count,
        )
    if count < 10**MOST_DIGITS:
        return text("{allocations} allocations meet the totals.", allocations=count)
    digits = _digits(count)
    if with_shares:
        return text(
            "So many allocations meet the totals that their number has {digits} digits; in brackets, the share of "
            "them that has the record in that place.",
            digits=digits,
        )
    return text(
        "So many allocations meet the totals that their number has {digits} digits.", digits=digits
    )


def _at_a_limit(found: Solution) -> list[str]:
    records, places, _ = found.instance.size
    shown = sum(len(bins) for bins in found.feasible_bins)
    said = [
        text("The limit was met before everything was decided."),
        text(
            "Proved: no record is in a place that is not shown for it ({ruled_out} of {pairs} pairs of a record and a "
            "place are ruled out).",
            ruled_out=records * places - shown,
            pairs=records * places,
        ),
        text("Not proved: that each record can be in each place that is shown for it."),
    ]
    if found.witness is None:
        said.append(text("Not proved either: that any allocation meets the totals."))
    else:
        single = sum(len(bins) == 1 for bins in found.feasible_bins)
        said.append(
            text(
                "Proved, too: some allocation meets the totals. The place of {single} of {records} records, those with "
                "one place left, is therefore certain.",
                single=single,
                records=records,
            )
        )
    return said
