"""An independent count of the records in delimited text, and the place of the first fault.

The parser proper is Arrow's. This scanner walks the same bytes with a small state machine (RFC 4180) that
knows nothing of values: it says where records end, how many there are, and on which line the first one is
malformed. A table is accepted only if both agree.

The state machine is compiled for large files only, so that a first look at a small one compiles nothing. Most of a
small file is nothing but records of the right number of fields, and is found to be by whole arrays (`_well_formed`);
the state machine walks what is left: the last record, or the first that is malformed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers, Words

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
    passes_blanks: bool = False,
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
        passes_blanks: Whether blank lines may stand among records of several fields.

    >>> scan(b'a,b\n"x\n,y",2\n3', separator=ord(","), quote=ord('"')).records
    2
    """
    grammar = (separator, quote, fields)
    so_far = Scan(0, 0, 0, line, blank_line, Fault.NONE, 0)
    if limit or not _compiled.cache_info().currsize:
        if fields != ANY_FIELDS and not limit and not blank_line:
            length, records = _well_formed(block, *grammar, final=final)
            line += _line_breaks(block, length)
            so_far = Scan(length, records, fields if records else 0, line, 0, Fault.NONE, 0)
        end = so_far.length + _WALKED
        is_all = end >= len(block)
        part = block[so_far.length : end]
        ends, blanks = final and is_all, passes_blanks
        so_far = _walked_on(_walk, part, so_far, grammar, limit, final=ends, passes_blanks=blanks)
        if is_all or so_far.fault or (limit and so_far.records == limit):
            return so_far
    rest = np.frombuffer(block, np.uint8)[so_far.length :]
    return _walked_on(
        _compiled(), rest, so_far, grammar, limit, final=final, passes_blanks=passes_blanks
    )


def scan_lines(
    block: bytes, *, separator: int, quote: int, fields: int, line: int = 1
) -> Scan | None:
    r"""Count the records in a block that begins with one, where nothing is out of place.

    All fields are counted, but not those of each record: that is left to the parser, which refuses a record that has
    another number of them.

    Returns:
        What the block holds; none if it is for `scan` to say.

    >>> scan_lines(b'a,b\n1,"2\n"\n3', separator=ord(","), quote=ord('"'), fields=2).records
    2
    """
    data = np.frombuffer(block, np.uint8)
    feeds = _places(data, _LINE_FEED)
    separators = _places(data, separator)
    edges = feeds | separators
    if b"\r" in block:
        returns = _places(data, _RETURN)
        if (returns & ~_one_before(feeds, data.size)).any():
            return None
        edges |= returns
    ends = feeds
    if quote != NO_QUOTE and quote in block:
        quotes = _places(data, quote)
        inside = _odd_so_far(quotes)
        edges |= quotes
        misplaced = (quotes & inside & ~_one_behind(edges)) | (
            quotes & ~inside & ~_one_before(edges, data.size)
        )
        if misplaced.any():
            return None
        ends, separators = feeds & ~inside, separators & ~inside
    words = np.flatnonzero(ends)
    if not words.size:
        return None
    last = int(words[-1])
    length = 64 * last + int(ends[last]).bit_length()
    separators[last] &= np.uint64((1 << (length - 64 * last)) - 1)
    feeds[last] &= np.uint64((1 << (length - 64 * last)) - 1)
    records, between, lines = (
        int(np.bitwise_count(places[: last + 1]).sum(dtype=np.int64))
        for places in (ends, separators, feeds)
    )
    if between != records * (fields - 1):
        return None
    return Scan(length, records, fields, line + lines, 0, Fault.NONE, 0)


def _places(data: NDArray[np.uint8], byte: int) -> Words:
    """Return where a byte stands, a bit for each place, 64 in a word."""
    places = np.zeros(-(-data.size // 64), "<u8")
    places.view(np.uint8)[: -(-data.size // 8)] = np.packbits(data == byte, bitorder="little")
    return places


def _odd_so_far(places: Words) -> Words:
    """Return for each place whether their number up to there is odd."""
    odd = places.copy()
    for distance in (1, 2, 4, 8, 16, 32):
        odd ^= odd << np.uint64(distance)
    before = np.bitwise_xor.accumulate(odd >> np.uint64(63))[:-1]
    odd[1:] ^= -before  # all bits of a word, or none
    return odd


def _one_behind(places: Words) -> Words:
    """Return what is right behind these places, and the first one."""
    behind = places << np.uint64(1)
    behind[1:] |= places[:-1] >> np.uint64(63)
    behind[:1] |= np.uint64(1)
    return behind


def _one_before(places: Words, size: int) -> Words:
    """Return what is right before these places, and the last one."""
    before = places >> np.uint64(1)
    before[:-1] |= places[1:] << np.uint64(63)
    before[-1:] |= np.uint64(1 << ((size - 1) % 64))
    return before


_WALKED = 1 << 16
"""So much of what is not well-formed is walked without being compiled."""
_FIELD_START, _PLAIN, _QUOTED, _CLOSED = 0, 1, 2, 3
_NONE, _FIELDS, _BLANK, _AFTER_QUOTE, _UNCLOSED = (int(fault) for fault in Fault)
_LINE_FEED, _RETURN = 10, 13


def _walked_on(
    machine: Callable[..., Any],
    data: NDArray[np.uint8] | bytes,
    before: Scan,
    grammar: tuple[int, int, int],
    limit: int,
    *,
    final: bool,
    passes_blanks: bool,
) -> Scan:
    """Return what the state machine finds behind what was scanned so far."""
    left = limit - before.records if limit else 0
    length, records, count, line, blank_line, fault, fault_line = machine(
        data, *grammar, before.line, before.blank_line, left, final, passes_blanks
    )
    return Scan(
        *(before.length + length, before.records + records, count or before.fields),
        *(line, blank_line, Fault(fault), fault_line),
    )


def _well_formed(
    block: bytes, separator: int, quote: int, fields: int, *, final: bool
) -> tuple[int, int]:
    """Return how much of a block, from its beginning, is records of so many fields, and how many these are.

    It may be less than there is: what cannot be told at a glance is left to the state machine.
    """
    data = np.frombuffer(block, np.uint8)
    if not final and block.endswith(b"\r"):
        data = data[:-1]  # whether a line feed follows is not known yet
    breaks = data == _LINE_FEED
    if b"\r" in block:
        returns = data == _RETURN
        returns[:-1] &= ~breaks[1:]  # with a line feed it is one line break, which ends there
        breaks |= returns
    marks = np.flatnonzero(breaks | (data == separator))
    if quote != NO_QUOTE and bytes([quote]) in block:
        marks = _outside_quotes(data, marks, separator, quote)
    ends = breaks[marks[: len(marks) // fields * fields]].reshape(-1, fields)
    is_regular = ends[:, -1] & ~ends[:, :-1].any(axis=1)
    records = len(ends) if is_regular.all() else int(np.argmin(is_regular))
    return (int(marks[records * fields - 1]) + 1 if records else 0), records


def _outside_quotes(
    data: NDArray[np.uint8], marks: Integers, separator: int, quote: int
) -> Integers:
    """Return the separators and line breaks that stand in no quotes, up to the first quote that is out of place.

    A quote opens and the next one closes; a doubled one closes and opens again. Only at the edge of a field, or
    beside another, is a quote in its place.
    """
    is_quote = data == quote
    quotes = np.flatnonzero(is_quote)
    may_be_beside = np.zeros(256, np.bool_)
    may_be_beside[[_LINE_FEED, _RETURN, separator, quote]] = True
    opening, closing = quotes[::2], quotes[1::2]
    misplaced: Flags = np.zeros(len(quotes), np.bool_)
    misplaced[::2] = (opening > 0) & ~may_be_beside[data[opening - 1]]
    behind = np.minimum(closing + 1, len(data) - 1)
    misplaced[1::2] = ~may_be_beside[data[behind]]
    if misplaced.any():
        marks = marks[: np.searchsorted(marks, quotes[np.argmax(misplaced)])]
    parity = np.cumsum(is_quote, dtype=np.uint8) & 1  # so few bits tell odd from even
    outside: Integers = marks[parity[marks] == 0]
    return outside


def _line_breaks(block: bytes, length: int) -> int:
    feeds, returns, both = (block.count(end, 0, length) for end in (b"\n", b"\r", b"\r\n"))
    return feeds + returns - both


@cache
def _compiled() -> Callable[..., Any]:
    """Return the state machine, compiled; where numba has done so before, from its cache."""
    from glasshouse.compiled import compiled  # Numba is not loaded for small files

    return compiled(_walk)


def _walk(  # noqa: C901
    data: NDArray[np.uint8] | bytes,
    separator: int,
    quote: int,
    expected: int,
    line: int,
    blank_line: int,
    limit: int,
    final: bool,
    passes_blanks: bool = False,
) -> tuple[int, int, int, int, int, int, int]:
    size = len(data)
    special = np.zeros(256, np.bool_)
    special[_LINE_FEED] = special[_RETURN] = special[separator] = True
    inside = np.zeros(256, np.bool_)
    inside[_LINE_FEED] = inside[_RETURN] = inside[quote] = True
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
            else:
                while i + 1 < size and not inside[data[i + 1]]:
                    i += 1
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
                if passes_blanks:
                    blank_line = 0
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
