"""Texts as one HTML page in which the mentions are marked, with their concepts and statuses.

The page needs no other file: no network, no script, no font.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import IO

from canonym.types import Document, Link

_HEAD = Path(__file__).with_suffix(".html")  # the page up to its first section
_COLOURS = 8


class TextPageWriter:
    """Writes documents as sections of one page; every type has a colour, of `_COLOURS`."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._colours: dict[str, int] = {}
        self._labels: dict[str, str] = {}
        self._stream.write(_HEAD.read_text(encoding="utf-8"))

    def write(self, document: Document, links: Iterable[Link]) -> None:
        """Write a text with its links, which have places in it and do not overlap."""
        text, end = document.text, 0
        pieces = []
        for link in links:
            mention = link.mention
            if mention.start is None or mention.end is None or mention.start < end:
                continue
            pieces.append(escape(text[end : mention.start]))
            pieces.append(self._mark(link, text[mention.start : mention.end]))
            end = mention.end
        pieces.append(escape(text[end:]))
        heading = f"<h2>{escape(document.id)}</h2>\n" if document.id else ""
        self._stream.write(f"<section>\n{heading}<p>{''.join(pieces)}</p>\n</section>\n")

    def close(self) -> None:
        """Write the legend and the end of the page."""
        types = "".join(
            f' <mark class="t{colour}">{escape(type_)}</mark>'
            for type_, colour in self._colours.items()
            if type_
        )
        concepts = "".join(
            f"<li><b>{escape(id_)}</b> {escape(label)}</li>\n"
            for id_, label in sorted(self._labels.items())
        )
        legend = f"<p>Types:{types}</p>\n" if types else ""
        legend += f"<h2>Concepts</h2>\n<ul>\n{concepts}</ul>\n" if concepts else ""
        self._stream.write(f"<footer>\n{legend}</footer>\n</body>\n</html>\n")

    def _mark(self, link: Link, text: str) -> str:
        type_ = link.mention.type
        self._labels.update((of.id, of.label or "") for of in link.parts or (link,) if of.id)
        colour = self._colours.setdefault(type_, len(self._colours) % _COLOURS)
        status = "".join(f"<em>{escape(flag)}</em>" for flag in link.status)
        kind = f"t{colour} status" if status else f"t{colour}"
        return (
            f'<mark class="{kind}" title="{escape(_title(link))}">{escape(text)}'
            f"<small>{escape(' + '.join(link.ids))}</small>{status}</mark>"
        )


def _title(link: Link) -> str:
    """Return the labels of a link, its type and its confidence, for whoever points at it."""
    parts: Sequence[Link] = link.parts or (link,)
    labels = " + ".join(part.label or "" for part in parts)
    facts = [labels, link.mention.type]
    if link.confidence is not None:
        facts.append(f"confidence {link.confidence:.2f}")
    return "\n".join(filter(None, facts))
