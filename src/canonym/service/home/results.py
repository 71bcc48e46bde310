"""Answers of the home page: links of a name, of a list, or of a text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from canonym.errors import InvalidInput
from canonym.export.rows import RowMaker, guarded, number
from canonym.linker import unread
from canonym.service.home.answers import Views, summary
from canonym.service.home.pasted import Pasted
from canonym.service.rest import LONGEST_TEXT, check_readable
from canonym.service.served import Opened
from canonym.service.state import State
from canonym.types import Document, Link

MOST_CHARACTERS = 1_000_000
"""Characters that the page sends at most; what is longer is for the page of reviews."""

_K = 10  # candidates that are looked at, so that a homonym is seen
_SHOWN = 100  # names of a list, and different ones of a text
_COPIED = ("mention", "code", "id", "label", "confidence", "status", "left_over")
_AROUND = 100  # characters before and after a mention, for its review


def results_of(opened: Opened, name: str, state: State, pasted: Pasted) -> dict[str, Any]:
    """Return what the page shows, by the kind of what was pasted."""
    sources = [" ".join(pair).strip() for pair in opened.terminology.sources() if any(pair)]
    shown: dict[str, Any] = {
        "kind": pasted.kind,
        "source": ", ".join(sources),
        "n_concepts": opened.terminology.n_concepts,
    }
    if pasted.kind == "nothing":
        return {**shown, "examples": opened.examples}
    views = Views(opened, name, state.settings.match_confidence)
    if pasted.kind == "text":
        links = _annotated(opened, pasted.text)
        more = _of_text(views, pasted.text, links)
    else:
        texts = [*islice(pasted.names, _SHOWN)]
        links = list(opened.linker.link(texts, k=_K))
        more = _of_names(views, pasted, links)
        more["unread"] = [link.mention.text for link in unread(opened.linker, links)]
    state.metrics.count_links(name, links)
    return {**shown, **more}


def _annotated(opened: Opened, text: str) -> list[Link]:
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            f"the text has {len(text):,} characters, and {LONGEST_TEXT:,} are read here; "
            "`canonym annotate` reads longer ones"
        )
    check_readable(opened)
    return list(opened.linker.annotate(Document("", text), k=_K))


def cells_of(opened: Opened, pasted: Pasted, most: int) -> str:
    """Return the links as cells with tabs between them, a row for each that was pasted.

    What is more than `most` rows is refused (`InvalidInput`).
    """
    if pasted.kind == "text":
        links = _annotated(opened, pasted.text)
    elif len(pasted.rows) > most:
        raise InvalidInput(
            f"{len(pasted.rows):,} rows are too many to be copied here, where {most:,} are taken: "
            "make a review of them, or use `canonym link --file`"
        )
    else:
        links = list(opened.linker.link(pasted.rows, k=_K))
    maker = RowMaker(keys=_COPIED, k=1, one_row=True)
    rows = [maker.names, *(row for link in links for row in maker.rows(link))]
    return "\n".join("\t".join(map(_cell, row)) for row in rows)


def _cell(value: str | float | None) -> str:
    return guarded(" ".join(value.split())) if isinstance(value, str) else number(value)


# --- names ----------------------------------------------------------------------------------------


def _of_names(views: Views, pasted: Pasted, links: Sequence[Link]) -> dict[str, Any]:
    rows = [views.link(link, n=pasted.names[link.mention.text]) for link in links]
    more = {
        "rows": rows,
        "summary": summary(rows),
        "n_rows": pasted.n_rows,
        "n_names": len(pasted.names),
        "columns": list(enumerate(pasted.columns)),
        "column": pasted.column,
        "review": {
            "name": _title([*islice(pasted.names, 1)], len(pasted.names)),
            "column": pasted.columns[pasted.column] if pasted.columns else "",
            "before": "" if pasted.header or not pasted.columns else "\t".join(pasted.columns),
        },
    }
    if pasted.kind == "name":
        (row,) = rows
        ids = {candidate["id"] for candidate in (row["best"], *row["others"]) if candidate}
        more["beginning"] = views.beginning(links[0].mention.text, ids)
    return more


def _title(names: Sequence[str], n: int) -> str:
    first = names[0][:80] if names else ""
    return first if n < 2 else f"{first} and {n - 1:,} more"


# --- texts ----------------------------------------------------------------------------------------


def _of_text(views: Views, text: str, links: Sequence[Link]) -> dict[str, Any]:
    """Return the text in pieces, each with the place of its row, and a row for each mention.

    What is written alike and means the same has one row.
    """
    places: dict[tuple[object, ...], int] = {}
    counts: dict[int, int] = {}
    first: list[Link] = []
    pieces: list[tuple[str, int | None]] = []
    at = 0
    for link in links:
        start, end = link.mention.start or 0, link.mention.end or 0
        key = (link.mention.text.lower(), link.ids, link.status)
        place = places.setdefault(key, len(places))
        if place == len(first):
            first.append(link)
        counts[place] = counts.get(place, 0) + 1
        pieces += [(text[at:start], None), (text[start:end], place)]
        at = end
    pieces.append((text[at:], None))
    rows = [views.link(link, n=counts[n]) for n, link in enumerate(first[:_SHOWN])]
    return {
        "rows": rows,
        "summary": summary(rows),
        "pieces": [(piece, place) for piece, place in pieces if piece],
        "n_rows": len(links),
        "n_names": len(first),
        "review": {
            "name": _title([" ".join(text[:60].split())], 1),
            "column": "mention",
            "context": "context",
            "table": _table(text, links),
        },
    }


def _table(text: str, links: Sequence[Link]) -> str:
    """Return the mentions of a text as cells, each with what stands around it."""
    rows = ["mention\tcontext"]
    for link in links:
        start, end = link.mention.start or 0, link.mention.end or 0
        around = text[max(0, start - _AROUND) : end + _AROUND]
        rows.append("\t".join(" ".join(cell.split()) for cell in (text[start:end], around)))
    return "\n".join(rows)
