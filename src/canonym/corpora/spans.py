"""Mentions in several pieces: "pain in the left and right knee" holds "pain in the ... right knee".

A mention has one start and one end. Where a corpus marks several pieces, the text of the mention is
the pieces in order with a space between, and its offsets run from the first piece to the last: the
text between them is then not the mention's text, which is how such a mention is recognised.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from canonym.corpora.annotations import span_problem
from canonym.errors import InvalidInput
from canonym.types import Mention

__all__ = ["PIECES", "join_pieces", "mention_pieces", "pieces_problem"]

PIECES: tuple[str, ...] = ("join", "cover")
"""What a mention in pieces becomes: its pieces, or the whole stretch that covers them."""

Piece = tuple[int, int]


def pieces_problem(text: str, pieces: Sequence[Piece], written: str | None = None) -> str | None:
    """Say what is wrong with the pieces of one mention, or None when they are sound.

    Parameters
    ----------
    text : str
        The document's text.
    pieces : sequence of (int, int)
        Half-open code-point offsets, in rising order.
    written : str, optional
        The mention as the annotation writes it: the pieces, or all from the first to the last.
        Differences in white space alone are forgiven.

    Returns
    -------
    str or None
        The problem as a sentence without its full stop.
    """
    if not pieces:
        return "the mention has no offsets"
    if len(pieces) == 1:
        return span_problem(text, *pieces[0], written)
    for start, end in pieces:
        problem = span_problem(text, start, end)
        if problem:
            return problem
    for (start, end), (next_start, next_end) in itertools.pairwise(pieces):
        if next_start < end:
            return f"the pieces {start}-{end} and {next_start}-{next_end} of one mention overlap"
    if written is not None:
        found = join_pieces(text, pieces)
        cover = join_pieces(text, pieces, how="cover")
        if _solid(written) not in (_solid(found), _solid(cover)):
            return (
                f"the pieces {', '.join(f'{start}-{end}' for start, end in pieces)} hold "
                f"{found[:60]!r}, the annotation says {written[:60]!r}: offsets count code points "
                "from 0"
            )
    return None


def join_pieces(text: str, pieces: Sequence[Piece], *, how: str = "join") -> str:
    """Return the text of a mention in pieces.

    Parameters
    ----------
    text : str
        The document's text.
    pieces : sequence of (int, int)
        Half-open code-point offsets, in rising order.
    how : str
        One of `PIECES`.

    Raises
    ------
    InvalidInput
        If `how` is unknown.

    Examples
    --------
    >>> join_pieces("left and right knee", [(0, 4), (15, 19)])
    'left knee'
    """
    if how not in PIECES:
        raise InvalidInput(f"pieces={how!r} is not known; use one of {', '.join(PIECES)}")
    if how == "cover":
        return text[pieces[0][0] : pieces[-1][1]]
    return " ".join(text[start:end] for start, end in pieces)


def mention_pieces(text: str, mention: Mention) -> list[Piece]:
    """Return the pieces of a mention, the inverse of `join_pieces`.

    Parameters
    ----------
    text : str
        The document's text.
    mention : Mention
        With offsets.

    Returns
    -------
    list of (int, int)
        One piece where the text between the offsets is the mention's text, else as few as hold its
        words. A word that occurs several times is taken where it comes first, the last word where
        the mention ends.

    Raises
    ------
    InvalidInput
        If the mention has no offsets, or its words do not stand between them in order.
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
        found = end - len(word) if last else text.find(word, at, end)
        if found < at or not text.startswith(word, found):
            return []
        gap = text[pieces[-1][1] : found] if pieces else ""
        if pieces and re.fullmatch(r"\s+", gap):
            pieces[-1] = (pieces[-1][0], found + len(word))
        else:
            pieces.append((found, found + len(word)))
        at = found + len(word)
    return pieces


def _solid(text: str) -> str:
    return "".join(text.split())
