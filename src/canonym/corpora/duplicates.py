"""Documents that a corpus holds more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from canonym.types import Document

__all__ = ["Duplicate", "drop_duplicates", "duplicates"]


class Duplicate(NamedTuple):
    """Documents that are there more than once.

    Attributes
    ----------
    ids : tuple of str
        Their ids; the same id several times, or several ids with the same text.
    places : tuple of int
        Their positions in the corpus, from 0.
    same_text, same_mentions : bool
        Whether they agree in their texts, and in the spans and ids of their mentions.
    """

    ids: tuple[str, ...]
    places: tuple[int, ...]
    same_text: bool
    same_mentions: bool


def duplicates(documents: Iterable[Document]) -> list[Duplicate]:
    """Find the documents that are there more than once: same id, or same text.

    White space and case are ignored in the comparison of texts; empty texts are not compared.

    Returns
    -------
    list of Duplicate
        In the order of their first places; documents that agree in both appear once.
    """
    corpus = list(documents)
    by_id: dict[str, list[int]] = {}
    by_text: dict[str, list[int]] = {}
    texts = [" ".join(document.text.lower().split()) for document in corpus]
    for i, document in enumerate(corpus):
        by_id.setdefault(document.id, []).append(i)
        if texts[i]:
            by_text.setdefault(texts[i], []).append(i)
    groups = {tuple(places) for places in (*by_id.values(), *by_text.values()) if len(places) > 1}
    return [
        Duplicate(
            tuple(corpus[i].id for i in places),
            places,
            len({texts[i] for i in places}) == 1,
            len({_annotated(corpus[i]) for i in places}) == 1,
        )
        for places in sorted(groups)
    ]


def _annotated(document: Document) -> Hashable:
    counts = Counter((m.start, m.end, m.text, m.ids, m.rule) for m in document.mentions)
    return frozenset(counts.items())


def drop_duplicates(documents: Iterable[Document]) -> list[Document]:
    """Keep the first of the documents with the same id; see `duplicates` for what this drops.

    Those without an id, such as what a table of mentions makes, are all kept.
    """
    first: dict[str | int, Document] = {}
    for number, document in enumerate(documents):
        first.setdefault(document.id or number, document)
    return list(first.values())
