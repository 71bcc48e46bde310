"""Counts and oddities of a corpus, listed and never corrected; duplicate documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from canonym.corpora.gold import NO_CONCEPT
from canonym.errors import InvalidInput
from canonym.types import Document, Mention


@dataclass(frozen=True, slots=True)
class Census:
    """Counts and oddities of a corpus."""

    # Duplicates included. Mentions without documents count by the document ids that they name.
    n_documents: int
    n_mentions: int
    types: dict[str, int]  # mentions per type
    prefixes: dict[str, int]  # gold ids per prefix, ``""`` for ids without one
    n_composite: int  # mentions that stand for several concepts at once
    n_nil: int  # for none
    n_unknown: int  # without a gold id
    duplicates: list[Duplicate] = field(default_factory=list)
    # Mentions whose offsets are no span of the text.
    outside: list[Mention] = field(default_factory=list)
    # Mentions of one document whose spans share a character.
    overlaps: list[tuple[Mention, Mention]] = field(default_factory=list)
    # Mentions with the document, span and type of an earlier one.
    repeated: list[Mention] = field(default_factory=list)

    def oddities(self) -> list[str]:
        """Return a sentence for each oddity; empty for a tidy corpus."""
        said = [
            f"{len(copy.ids)} documents are the same ({', '.join(dict.fromkeys(copy.ids))}): "
            f"{'same' if copy.same_text else 'different'} text, "
            f"{'same' if copy.same_mentions else 'different'} mentions"
            for copy in self.duplicates
        ]
        if len(self.prefixes) > 1:
            prefixes = ", ".join(f"{key or 'none'} {n:,}" for key, n in self.prefixes.items())
            said.append(f"the gold ids have several prefixes: {prefixes}")
        for what, mentions in (
            ("mentions have offsets outside of their text", self.outside),
            ("pairs of mentions overlap", [first for first, _ in self.overlaps]),
            ("mentions repeat the span and type of another", self.repeated),
        ):
            if mentions:
                first = mentions[0]
                said.append(
                    f"{len(mentions):,} {what}, the first is {first.text[:60]!r} at "
                    f"{first.start}-{first.end} of document {first.document_id!r}"
                )
        return said


def by_document(
    items: Iterable[Document | Mention],
) -> tuple[list[Document], dict[str, list[Mention]]]:
    """Return the documents of a corpus, and its other mentions by the document that they name."""
    documents: list[Document] = []
    loose: dict[str, list[Mention]] = {}
    for item in items:
        if isinstance(item, Document):
            documents.append(item)
        else:
            loose.setdefault(item.document_id, []).append(item)
    return documents, loose


def take_census(items: Iterable[Document | Mention]) -> Census:
    """Count the content of a corpus and list its oddities.

    Parameters
    ----------
    items : iterable of Document or Mention
        From a reader.

    Returns
    -------
    Census
        Mentions without offsets cannot overlap, repeat or lie outside.

    Raises
    ------
    InvalidInput
        If there is neither a document nor a mention.

    Examples
    --------
    >>> take_census([Mention("hip", ids=("D1",)), Mention("leg", ids=("OMIM:2",))]).prefixes
    {'': 1, 'OMIM': 1}
    """
    documents, loose = by_document(items)
    if not documents and not loose:
        raise InvalidInput("the corpus is empty: it has neither documents nor mentions")
    groups: list[Sequence[Mention]] = [document.mentions for document in documents]
    groups.extend(loose.values())
    mentions = [mention for group in groups for mention in group]
    ids = [id_ for mention in mentions for id_ in mention.ids if id_.lower() not in NO_CONCEPT]
    overlaps, repeated = [], []
    for group in groups:
        crossing, again = _crossings(group)
        overlaps += crossing
        repeated += again
    return Census(
        n_documents=len(documents) + sum(1 for id_ in loose if id_),
        n_mentions=len(mentions),
        types=dict(Counter(mention.type for mention in mentions)),
        prefixes=dict(Counter(id_.partition(":")[0] if ":" in id_ else "" for id_ in ids)),
        n_composite=sum(m.rule == "all" and len(m.ids) > 1 for m in mentions),
        n_nil=sum(m.rule == "nil" for m in mentions),
        n_unknown=sum(m.rule != "nil" and not m.ids for m in mentions),
        duplicates=duplicates(documents),
        outside=[m for d in documents for m in d.mentions if _is_outside(m, d.text)],
        overlaps=overlaps,
        repeated=repeated,
    )


def _is_outside(mention: Mention, text: str) -> bool:
    if mention.start is None or mention.end is None:
        return False
    return not 0 <= mention.start < mention.end <= len(text)


def _crossings(mentions: Sequence[Mention]) -> tuple[list[tuple[Mention, Mention]], list[Mention]]:
    """Find the overlapping pairs and the repeated mentions of one document."""
    met: set[tuple[int, int, str]] = set()
    spans: list[tuple[int, int, int]] = []
    repeated = []
    for i, mention in enumerate(mentions):
        if mention.start is None or mention.end is None:
            continue
        key = (mention.start, mention.end, mention.type)
        if key in met:
            repeated.append(mention)
        else:
            met.add(key)
            spans.append((mention.start, mention.end, i))
    spans.sort()
    pairs = []
    running: list[tuple[int, int]] = []  # end and place of the spans that are still open
    for start, end, i in spans:
        running = [(other_end, j) for other_end, j in running if other_end > start]
        pairs += [(mentions[j], mentions[i]) for _, j in running]
        running.append((end, i))
    return pairs, repeated


# --- duplicates -----------------------------------------------------------------------------------


class Duplicate(NamedTuple):
    """Documents that a corpus has more than once.

    ``ids`` are their ids: one id several times, or several ids with one text. ``places`` are their
    positions in the corpus, from 0. ``same_text`` and ``same_mentions`` tell whether they agree in
    their texts, and in the spans and ids of their mentions.
    """

    ids: tuple[str, ...]
    places: tuple[int, ...]
    same_text: bool
    same_mentions: bool


def duplicates(documents: Iterable[Document]) -> list[Duplicate]:
    """Find the documents that a corpus has more than once: same id, or same text.

    White space and case are ignored in texts; empty texts are not compared. In the order of their
    first places; documents that agree in both appear once.
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
    """Keep the first of the documents with the same id; documents without an id are all kept.

    `duplicates` lists the ones that this drops.
    """
    first: dict[str | int, Document] = {}
    for number, document in enumerate(documents):
        first.setdefault(document.id or number, document)
    return list(first.values())
