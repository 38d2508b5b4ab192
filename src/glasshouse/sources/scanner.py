"""An independent count of the records in delimited text, and the place of the first fault.

The parser proper is Arrow's. This scanner walks the same bytes with a small state machine (RFC 4180) that
knows nothing of values: it says where records end, how many there are, and on which line the first one is
malformed. A table is accepted only if both agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numba import njit
from numpy.typing import NDArray

NO_QUOTE = -1
"""In place of the quote's byte: there is no such character."""

ANY_FIELDS = 0
"""In place of the expected number of fields: any number is right."""


class Fault(IntEnum):
    """What can be wrong with a record."""

    NONE = 0
    FIELDS = 1
    """It has another number of fields than expected."""
    BLANK = 2
    """It is a blank line among records of several fields."""
    AFTER_QUOTE = 3
    """Text follows the quote that closes a field."""
    UNCLOSED = 4
    """A quote opens a field and nothing closes it."""


@dataclass(frozen=True)
class Scan:
    """What one block of text holds."""

    length: int
    """The length of the part that ends with a complete record."""
    records: int
    """The number of complete records in it; blank lines that are no records do not count."""
    fields: int
    """The number of fields of the last record seen."""
    line: int
    """The number of the line after that part."""
    blank_line: int
    """The first of the blank lines that come last so far, or 0."""
    fault: Fault
    """The first fault, at which the scan stopped."""
    fault_line: int
    """The line of that fault."""


def scan(
    block: bytes,
    *,
    separator: int,
    quote: int,
    fields: int = ANY_FIELDS,
    line: int = 1,
    blank_line: int = 0,
    limit: int = 0,
    final: bool = False,
) -> Scan:
    r"""Find the complete records in a block of UTF-8 text that begins with a record.

    Args:
        block: The text.
        separator: The byte between fields.
        quote: The byte around fields, or `NO_QUOTE`.
        fields: How many fields each record must have, or `ANY_FIELDS`.
        line: The number of the block's first line.
        blank_line: What the block before said of blank lines.
        limit: Stop after so many records; 0: do not.
        final: Whether the file ends here, so that the last record needs no line break.

    >>> scan(b'a,b\n"x\n,y",2\n3', separator=ord(","), quote=ord('"')).records
    2
    """
    data = np.frombuffer(block, np.uint8)
    length, records, count, next_line, blank, fault, fault_line = _scan(
        data, separator, quote, fields, line, blank_line, limit, final
    )
    return Scan(length, records, count, next_line, blank, Fault(fault), fault_line)


_FIELD_START, _PLAIN, _QUOTED, _CLOSED = 0, 1, 2, 3
_NONE, _FIELDS, _BLANK, _AFTER_QUOTE, _UNCLOSED = (int(fault) for fault in Fault)
_LINE_FEED, _RETURN = 10, 13


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _scan(
    data: NDArray[np.uint8],
    separator: int,
    quote: int,
    expected: int,
    line: int,
    blank_line: int,
    limit: int,
    final: bool,
) -> tuple[int, int, int, int, int, int, int]:
    size = data.size
    special = np.zeros(256, np.bool_)
    special[_LINE_FEED] = special[_RETURN] = special[separator] = True
    records = 0
    start = 0  # of the current record
    start_line = line
    quote_line = line
    fields = 1
    place = _FIELD_START
    last_fields = 0
    i = 0
    while i < size or (final and start < size):
        byte = int(data[i]) if i < size else _LINE_FEED
        if place == _QUOTED:
            if i >= size:
                return start, records, fields, line, blank_line, _UNCLOSED, quote_line
            if byte == quote:
                place = _CLOSED
            elif byte == _LINE_FEED or (
                byte == _RETURN and i + 1 < size and data[i + 1] != _LINE_FEED
            ):
                line += 1
            i += 1
            continue
        if byte == separator:
            fields += 1
            place = _FIELD_START
            i += 1
            continue
        if byte in (_LINE_FEED, _RETURN):
            end = i + 1
            if byte == _RETURN:
                if end == size and not final:
                    break  # whether a line feed follows is not known yet
                if end < size and data[end] == _LINE_FEED:
                    end += 1
            line += 1
            if i == start and expected != 1:  # a blank line
                if blank_line == 0:
                    blank_line = start_line
            else:
                if blank_line != 0:
                    return start, records, fields, line, blank_line, _BLANK, blank_line
                last_fields = fields
                if expected != 0 and fields != expected:
                    return start, records, fields, line, blank_line, _FIELDS, start_line
                records += 1
            i = end
            start = min(end, size)
            start_line = line
            fields = 1
            place = _FIELD_START
            if limit != 0 and records == limit:
                break
            continue
        if place == _CLOSED:
            if byte != quote:
                return start, records, fields, line, blank_line, _AFTER_QUOTE, line
            place = _QUOTED  # a doubled quote stands for itself
        elif place == _FIELD_START and byte == quote:
            place = _QUOTED
            quote_line = line
        else:
            place = _PLAIN
            while i + 1 < size and not special[data[i + 1]]:
                i += 1
        i += 1
    return start, records, last_fields, start_line, blank_line, _NONE, 0
