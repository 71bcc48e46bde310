"""Pasted input: a name, a list of names, cells of a spreadsheet, or a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from canonym.errors import InvalidInput
from canonym.regex import regex
from canonym.review.table import clean
from canonym.text.shape import shape_of

KINDS = ("auto", "names", "text")
"""How a person may say that it is to be read."""

_LONGEST_NAME = 10_000
_WORDS_OF_A_SENTENCE = 16
_FEW_WORDS = 4
_STOP = regex(r"\w{3}[)\"”’]?[.!?](\s+[A-Z“\"(]|\s*$)")
_OF_SENTENCES = {
    "he", "she", "they", "was", "were", "is", "are", "has", "had", "denies", "denied", "presents",
    "presented", "complains", "reports",
}  # fmt: skip
_OF_NAMES = (
    *("mention", "term", "diagnos", "name", "text", "label"),
    *("condition", "finding", "symptom"),
)
_OF_OTHERS = {"id", "ids", "code", "n", "count", "number", "row", "nr", "no", "#"}


class Pasted(NamedTuple):
    """What was pasted, as it was read."""

    kind: str  # "nothing", "name", "names" or "text"
    text: str = ""  # where it is one
    rows: tuple[str, ...] = ()  # the name of each row, empty where it has none
    # Different names in their order, and how often each was there.
    names: dict[str, int] = {}  # noqa: RUF012 - nobody changes it
    columns: tuple[str, ...] = ()  # of the cells; empty where a line is a name
    column: int = 0  # the place of the column with the names
    header: bool = True  # whether the first row of the cells names the columns

    @property
    def n_rows(self) -> int:
        """How many rows have a name."""
        return sum(self.names.values())


def read_pasted(
    given: str, kind: str = "auto", column: str = "", *, header: bool = False
) -> Pasted:
    """Read what was pasted as `kind` says, or as what it looks like.

    Cells may be known to have a `header`, as those of a file do. A name that is far too long for
    one is an `InvalidInput`.
    """
    text = clean(given).replace("\r\n", "\n").replace("\r", "\n")
    every = text.split("\n")
    filled = [n for n, line in enumerate(every) if line.strip()]
    if not filled:
        return Pasted("nothing")
    lines = [every[n] for n in filled]
    are_rows = _are_rows(lines)
    # More than a third of the lines of a text are sentences; cells are none.
    may_be_text = kind != "names" and not are_rows
    if kind == "text" or (may_be_text and 3 * sum(map(_is_sentence, lines)) > len(lines)):
        return Pasted("text", text)
    every = every[filled[0] : filled[-1] + 1]
    if are_rows:
        return _cells(every, column, header=header)
    rows = _names(every)
    return Pasted("name" if len(lines) == 1 else "names", "", rows, _count(rows))


def _are_rows(lines: Sequence[str]) -> bool:
    """Tell whether lines are rows with tabs between their cells; in one line it may be a space."""
    apart = any("\t" in line.strip() for line in lines)
    return apart and len(lines) > 1 and all("\t" in line for line in lines)


def _is_sentence(line: str) -> bool:
    words = line.split(None, _WORDS_OF_A_SENTENCE)
    if len(words) < _FEW_WORDS:
        return False
    return (
        len(words) > _WORDS_OF_A_SENTENCE
        or bool(_STOP.search(line))
        or (len(words) > _FEW_WORDS and not _OF_SENTENCES.isdisjoint(shape_of(line).words))
    )


def _names(texts: Sequence[str]) -> tuple[str, ...]:
    for n, text in enumerate(texts, start=1):
        if len(text) > _LONGEST_NAME:
            raise InvalidInput(
                f"line {n} has {len(text):,} characters, and a name has at most {_LONGEST_NAME:,}; "
                "read it as a text"
            )
    return tuple(" ".join(text.split()) for text in texts)


def _count(rows: Sequence[str]) -> dict[str, int]:
    return dict(Counter(filter(None, rows)))


def _cells(lines: Sequence[str], column: str, *, header: bool) -> Pasted:
    rows = [[cell.strip() for cell in line.split("\t")] for line in lines]
    width = max(map(len, rows))
    first = rows[0]
    header = header or (len(rows) > 1 and all(first) and any(map(_is_header, first)))
    columns = tuple(
        first[n] if header and n < len(first) else f"column {n + 1}" for n in range(width)
    )
    body = [[*row, *[""] * (width - len(row))] for row in rows[header:]]
    at = int(column) if column.isdecimal() and int(column) < width else _guess(columns, body)
    names = _names([row[at] for row in body])
    return Pasted("names", "", names, _count(names), columns, at, header)


def _is_of_names(column: str) -> bool:
    return any(word in column.lower() for word in _OF_NAMES)


def _is_header(cell: str) -> bool:
    lower = cell.lower()
    of_counts = lower.startswith("freq") and lower.replace("_", "").isalnum()
    return lower in _OF_OTHERS or of_counts or "concept" in lower or _is_of_names(cell)


def _guess(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the column that is called like names, or else the one with the most letters."""
    for n, column in enumerate(columns):
        if _is_of_names(column):
            return n
    few = rows[:100]
    letters = [sum(map(str.isalpha, "".join(row[n] for row in few))) for n in range(len(columns))]
    return letters.index(max(letters))
