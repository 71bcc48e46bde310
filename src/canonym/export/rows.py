"""Links flattened into rows, one a candidate, and into JSON objects, one a mention."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from canonym.errors import InvalidInput
from canonym.io.curies import split_id
from canonym.types import Link

RESULT_COLUMNS: tuple[str, ...] = (
    "part", "rank", "id", "label", "score", "name", "scope", "sieve", "types", "margin",
    "confidence", "nil", "reason", "searched", "status", "code", "left_over",
)  # fmt: skip
"""Columns of the result."""

COLUMNS: tuple[str, ...] = ("row", "document", "start", "end", "type", "mention", *RESULT_COLUMNS)
"""Columns of a row: the mention, then the result. See ``docs/formats/links.md``."""

DIGITS = 6
"""Digits of written scores."""

JOINED_BY = "|"
"""What joins several values in one cell."""

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a cell begins that a spreadsheet may take for a formula."""

STATUSES_JOINED_BY = ","
"""What joins the statuses of a mention, since those of parts in one row are joined otherwise."""

_PREFIX = "canonym_"
_OF_CONCEPTS = ("id", "code", "label", "name", "scope", "sieve")


def number(value: float | None) -> str:
    """Write a number with six digits, nothing for None."""
    return "" if value is None else f"{value:.{DIGITS}g}"


def guarded(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet may take for a formula.

    >>> guarded("=1+1"), guarded("hip")
    ("'=1+1", 'hip')
    """
    return f"'{text}" if text.startswith(FORMULAS) else text


def unguarded(text: str) -> str:
    """Undo `guarded`."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULAS) else text


def prefixed(name: str) -> str:
    """Return the name of a result column beside the columns of an input table."""
    return _PREFIX + name


def check_unique(columns: Sequence[str] | None) -> None:
    """Refuse an input table with two columns of one name, where names are keys."""
    doubles = sorted({name for name in columns or () if list(columns or ()).count(name) > 1})
    if doubles:
        raise InvalidInput(
            f"the input has several columns named {doubles[0]!r}, which only TSV and CSV can hold: "
            "rename them or write TSV or CSV"
        )


def checked_columns(names: Sequence[str], known: Sequence[str] = COLUMNS) -> tuple[str, ...]:
    """Return names that are `known`, with or without their prefix; refuse others, and one twice."""
    if isinstance(names, str):
        raise InvalidInput(f"columns is {names!r:.80}; expected a list, such as ['id', 'code']")
    keys = [name.strip().removeprefix(_PREFIX) for name in names]
    for key in keys:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise InvalidInput(f"columns: there is no column {key!r:.60} of links; {hint}")
    if not keys or len(set(keys)) < len(keys):
        raise InvalidInput(f"columns is {list(names)!r:.80}; expected some columns, each once")
    return tuple(keys)


class RowMaker:
    """Turns links into rows: one a candidate, at most `k`, or with `one_row` one a mention.

    `keys` are of `COLUMNS`, by default all, beside the `columns` of a table without those of the
    mention; with `explain` an explanation comes last. `names` are those of their columns, which the
    table may not have (`InvalidInput`). The first link has the `number`.
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        *,
        keys: Sequence[str] = (),
        k: int | None = None,
        explain: bool = False,
        one_row: bool = False,
        number: int = 1,
    ) -> None:
        whole = COLUMNS if columns is None else ("row", *RESULT_COLUMNS)
        self.keys = (*(keys or whole), *(["explanation"] if explain else ()))
        self.names = self.keys if columns is None else tuple(map(prefixed, self.keys))
        check_free(columns or (), self.names)
        self._k, self._one_row, self._number = k, one_row, number

    def rows(self, link: Link, explanation: str = "") -> Iterator[list[Any]]:
        """Yield the rows of the next link."""
        number, self._number = self._number, self._number + 1
        for row in link_to_rows(link, number, k=self._k, one_row=self._one_row):
            row["explanation"] = explanation
            yield [row[key] for key in self.keys]


def check_free(columns: Sequence[object], added: Sequence[str]) -> None:
    """Refuse an input table that has a column with the name of one that is added."""
    taken = [name for name in added if name in columns]
    if taken:
        raise InvalidInput(
            f"the input has the column {taken[0]!r} already, which the result needs: rename it or "
            "link the original table"
        )


def links_to_rows(links: Iterable[Link], *, k: int | None = None) -> list[dict[str, Any]]:
    """Flatten links into one dict a candidate.

    Parameters
    ----------
    links : iterable of Link
        Any number.
    k : int, optional
        Most candidates of a mention, all by default.

    Returns
    -------
    list of dict
        With the keys `COLUMNS`. ``row`` numbers the links from 1, ``rank`` the candidates from 1;
        ``part`` is the text of the part for composite mentions and empty otherwise; ``types`` is a
        list. A mention without a concept has one row whose ``rank``, ``id`` and ``label`` are None.
    """
    return [
        row for number, link in enumerate(links, start=1) for row in link_to_rows(link, number, k=k)
    ]


def link_to_rows(
    link: Link, number: int, *, k: int | None = None, one_row: bool = False
) -> Iterator[dict[str, Any]]:
    """Flatten one link, the `number`-th; see `links_to_rows`.

    With `one_row` the best candidates of the parts of a composite mention share a row.
    """
    mention = link.mention
    head = {
        "row": number,
        "document": mention.document_id,
        "start": mention.start,
        "end": mention.end,
        "type": mention.type,
        "mention": mention.text,
    }
    if link.parts and one_row:
        yield {**head, **_together(link)}
        return
    for part in link.parts or (link,):
        text = part.mention.text if link.parts else ""
        yield from ({**head, **result} for result in _results(part, text, k))


def _together(link: Link) -> dict[str, Any]:
    """Join the results of the parts; a part without a concept leaves an empty place among others.

    The numbers are those of the least sure part.
    """
    parts = [result for part in link.parts for result in _results(part, part.mention.text, 1)]

    def least(key: str) -> Any:
        return min((part[key] for part in parts if part[key] is not None), default=None)

    row: dict[str, Any] = {
        key: JOINED_BY.join(part[key] or "" for part in parts)
        for key in ("part", "searched", "status", *_OF_CONCEPTS)
    }
    if not any(part["id"] for part in parts):  # no separators either
        row |= dict.fromkeys(_OF_CONCEPTS)
    if not any(part["status"] for part in parts):
        row["status"] = ""
    reasons = [link.reason, *(part["reason"] for part in parts)]
    return row | {
        "rank": least("rank"),
        "score": least("score"),
        "margin": least("margin"),
        "confidence": _rounded(link.confidence),
        "types": list(dict.fromkeys(type_ for part in parts for type_ in part["types"])),
        "nil": link.nil,
        "reason": "; ".join(dict.fromkeys(filter(None, reasons))),
        "left_over": " ".join(link.left_over),
    }


def _results(link: Link, part: str, k: int | None) -> Iterator[dict[str, Any]]:
    last = {
        "nil": link.nil,
        "reason": link.reason,
        "searched": link.searched,
        "status": STATUSES_JOINED_BY.join(link.status),
    }
    left_over = " ".join(link.left_over)
    if link.nil or not link.candidates:
        # Rejected candidates have no rows: who reads the ids alone is not misled.
        yield {**dict.fromkeys(RESULT_COLUMNS), "part": part, "types": [], **last, "left_over": ""}
        return
    for rank, candidate in enumerate(link.candidates[:k], start=1):
        yield {
            "part": part,
            "rank": rank,
            "id": candidate.id,
            "label": candidate.label,
            "score": round(candidate.score, DIGITS),
            "name": candidate.name,
            "scope": candidate.scope,
            "sieve": candidate.sieve,
            "types": list(candidate.types),
            "margin": _rounded(link.margin) if rank == 1 else None,
            "confidence": _rounded(link.confidence) if rank == 1 else None,
            **last,
            "reason": candidate.against.reason,
            "code": split_id(candidate.id)[1],
            "left_over": left_over if rank == 1 else "",
        }


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, DIGITS)


def link_to_json(link: Link, *, k: int | None = None) -> dict[str, Any]:
    """Return a link as the object of a JSON line.

    It is `Link.to_dict` with ``margin`` added, at most `k` candidates, and numbers rounded to six
    digits.
    """
    whole = link.to_dict()
    candidates = whole.pop("candidates")[:k]
    parts = whole.pop("parts")
    for candidate in candidates:
        candidate["score"] = round(candidate["score"], DIGITS)
        candidate["types"] = list(candidate["types"])
        for some in ("parts", "worth"):
            if some in candidate:
                candidate[some] = {key: round(x, DIGITS) for key, x in candidate[some].items()}
    whole["margin"] = _rounded(link.margin)
    whole["confidence"] = _rounded(link.confidence)
    whole["candidates"] = candidates
    whole["parts"] = [link_to_json(part, k=k) for part in link.parts] if parts else []
    return whole
