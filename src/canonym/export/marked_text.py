"""Texts as one HTML page in which the mentions are marked, with their concepts and statuses.

The page needs no other file: no network, no script, no font.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import IO

from canonym.types import Document, Link

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Marked texts</title>
<style>
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem; background: #fff; color: #1b1f24;
  font: 1.0625rem/2.3 system-ui, sans-serif; overflow-wrap: anywhere; }
h1, h2, footer { line-height: 1.3; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 0; }
p { margin: .5rem 0; white-space: pre-wrap; }
mark { padding: .25em .4em; border-radius: .35em; color: inherit; background: #dbe7ff;
  line-height: 1; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
mark small { margin-left: .4em; font-size: .72em; font-weight: 600; }
mark em { margin-left: .4em; padding: .1em .4em; border-radius: .3em; font-size: .72em;
  font-style: normal; font-weight: 600; background: #1b1f24; color: #fff; }
mark.status { outline: 1px dashed #57606a; }
.t1 { background: #dff3d8; } .t2 { background: #fde8c4; } .t3 { background: #f6d9ea; }
.t4 { background: #d3f0ee; } .t5 { background: #e9defb; } .t6 { background: #f4ecb0; }
.t7 { background: #fbdcd6; }
footer { margin-top: 2rem; font-size: .875rem; }
footer ul { margin: .5rem 0; padding-left: 1.2rem; line-height: 1.5; }
</style>
</head>
<body>
<h1>Marked texts</h1>
"""
_COLOURS = 8


class TextPageWriter:
    """Writes documents as sections of one page; every type has a colour, of `_COLOURS`."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._colours: dict[str, int] = {}
        self._labels: dict[str, str] = {}
        self._stream.write(_HEAD)

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
