"""Spans of mentions, also in several pieces.

"pain in the left and right knee" holds "pain in the ... right knee". A mention has one start and
one end. The text of a mention in several pieces is the pieces in order with a space between, and
its offsets run from the first piece to the last. Such a mention is recognised because the text
between its offsets is not its own text.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from canonym.corpora.transliteration import is_transliteration
from canonym.errors import InvalidInput
from canonym.types import Mention

PIECES: tuple[str, ...] = ("join", "cover")
"""Treatments of a mention in pieces: join its pieces, or take the stretch that covers them."""

Piece = tuple[int, int]

_DIGITS = 18  # of the largest offset, so that every one fits into 64 bits


def whole_number(written: str) -> int | None:
    """Return an offset that is written in a file; None for what is none, or is endless."""
    return int(written) if written.isdecimal() and len(written) <= _DIGITS else None


def span_problem(text: str, start: int, end: int, written: str | None = None) -> str | None:
    """Describe the problem of a span in a text, or return None for a sound one.

    `written` is the mention as the annotation writes it. Differences in white space alone are
    allowed, for some tools collapse it, and copies in ASCII, as of
    `canonym.corpora.transliteration`.
    """
    if not 0 <= start < end <= len(text):
        return f"offsets {start}-{end} are no span of the text, which has {len(text):,} code points"
    held = text[start:end]
    if written is not None and not is_transliteration(held, written):
        return (
            f"offsets {start}-{end} hold {held[:60]!r}, the annotation says {written[:60]!r}: "
            "offsets count code points from 0"
        )
    return None


def pieces_problem(text: str, pieces: Sequence[Piece], written: str | None = None) -> str | None:
    """Describe the problem of the pieces of one mention, in rising order, or return None.

    `written` is the mention as the annotation writes it: the pieces, or all from the first to the
    last. Differences in white space alone, and copies in ASCII, are allowed.
    """
    if not pieces:
        return "the mention has no offsets"
    if len(pieces) == 1:
        return span_problem(text, *pieces[0], written)
    for start, end in pieces:
        if problem := span_problem(text, start, end):
            return problem
    for (start, end), (next_start, next_end) in itertools.pairwise(pieces):
        if next_start < end:
            return f"the pieces {start}-{end} and {next_start}-{next_end} of one mention overlap"
    if written is not None:
        joined = join_pieces(text, pieces)
        cover = join_pieces(text, pieces, how="cover")
        if not any(is_transliteration(_solid(form), _solid(written)) for form in (joined, cover)):
            return (
                f"the pieces {', '.join(f'{start}-{end}' for start, end in pieces)} hold "
                f"{joined[:60]!r}, the annotation says {written[:60]!r}: offsets count code points "
                "from 0"
            )
    return None


def join_pieces(text: str, pieces: Sequence[Piece], *, how: str = "join") -> str:
    """Return the text of a mention in pieces, in rising order; `how` is one of `PIECES`."""
    if how == "cover":
        return text[pieces[0][0] : pieces[-1][1]]
    return " ".join(text[start:end] for start, end in pieces)


def mention_pieces(text: str, mention: Mention) -> list[Piece]:
    """Return the pieces of a mention with offsets, the inverse of `join_pieces`.

    That is one piece where the text between the offsets is the mention's text, else as few as hold
    its words. A word that occurs several times is taken at its first place, the last word at the
    end.
    """
    if mention.start is None or mention.end is None:
        raise InvalidInput(
            f"mention {mention.text[:60]!r} of document {mention.document_id!r} has no offsets, "
            "which the format needs; write JSONL instead"
        )
    start, end = mention.start, mention.end
    problem = span_problem(text, start, end)
    if problem is None and text[start:end].split() == mention.text.split():
        return [(start, end)]
    pieces = [] if problem else _find_words(text, start, end, mention.text.split())
    if not pieces or pieces[0][0] != start or pieces[-1][1] != end:
        raise InvalidInput(
            f"mention {mention.text[:60]!r} of document {mention.document_id!r}: "
            + (problem or f"offsets {start}-{end} hold {text[start:end][:60]!r}")
        )
    return pieces


def _find_words(text: str, start: int, end: int, words: Sequence[str]) -> list[Piece]:
    pieces: list[Piece] = []
    at = start
    for i, word in enumerate(words):
        last = i == len(words) - 1
        place = end - len(word) if last else text.find(word, at, end)
        if place < at or not text.startswith(word, place):
            return []
        gap = text[pieces[-1][1] : place] if pieces else ""
        if gap.isspace():
            pieces[-1] = (pieces[-1][0], place + len(word))
        else:
            pieces.append((place, place + len(word)))
        at = place + len(word)
    return pieces


def _solid(text: str) -> str:
    return "".join(text.split())
