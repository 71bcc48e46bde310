"""Small HTML tables, which notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table"]


def html_table(
    rows: Iterable[Sequence[object]], head: Sequence[str] = (), *, below: str = ""
) -> str:
    """Return an HTML table, everything in it escaped; without a head, rows begin with theirs."""

    def row(cells: Iterable[object], tags: Iterable[str]) -> str:
        inner = "".join(
            f'<{tag} style="text-align: left">{escape(str(cell))}</{tag}>'
            for cell, tag in zip(cells, tags, strict=True)
        )
        return f"<tr>{inner}</tr>"

    top = f"<thead>{row(head, ['th'] * len(head))}</thead>" if head else ""
    first = "td" if head else "th"
    body = "".join(row(cells, [first, *["td"] * (len(cells) - 1)]) for cells in rows)
    after = f"<p>{escape(below)}</p>" if below else ""
    return f"<table>{top}<tbody>{body}</tbody></table>{after}"
