"""A component of spaCy that links entities, or finds the names of a terminology itself.

``nlp.add_pipe("canonym", config={"index": "doid-index"})`` adds it; the extra is ``text``. Every
entity gets the id of its concept as ``ent.kb_id_``, and its link as ``ent._.canonym``. What the
text says of it is ``ent._.canonym_status``, such as ``("family",)``, and ``ent._.canonym_negated``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from canonym.errors import require
from canonym.linker import Linker
from canonym.mentions.flags import consistent, with_flags
from canonym.rules import using
from canonym.types import Candidate, Document, Link, Mention, Step

NAME = "canonym"
"""The name of the component, of its extension and of what it keeps in ``doc.user_data``."""

DEFAULTS: dict[str, Any] = {
    "index": None,
    "annotate": False,
    "spans_key": "",
    "labels": [],
    "label": "CONCEPT",
    "options": {},
}
"""The configuration of the component; see `LinkEntities`."""

STATUS, NEGATED = f"{NAME}_status", f"{NAME}_negated"
"""The names of the extensions that tell what the text says of an entity, in English."""

_ASSIGNED = [
    *("doc.ents", "token.ent_kb_id"),
    *(f"span._.{name}" for name in (NAME, STATUS, NEGATED)),
]


class LinkEntities:
    """Links the entities of documents; a component of spaCy.

    A saved pipeline keeps the path of the index, and not the index.

    Parameters
    ----------
    index : str, optional
        A folder made by ``canonym index``; ICD-10-CM by default.
    annotate : bool
        Whether names of the terminology are found in the text too, see `canonym.Linker.annotate`.
        They are added where no entity is.
    spans_key : str
        Link, and add to, this group of ``doc.spans`` instead of ``doc.ents``.
    labels : sequence of str
        Link only entities with these labels; all by default.
    label : str
        Label of what is found, where its concept has no type.
    options : mapping
        As `canonym.Linker.link` takes them, such as ``{"k": 3, "types": ["Disease"]}``.

    Raises
    ------
    ReadError
        If the index cannot be opened.
    InvalidInput
        If an option is unknown or out of range.
    """

    def __init__(
        self,
        index: str | None = None,
        *,
        annotate: bool = False,
        spans_key: str = "",
        labels: Sequence[str] = (),
        label: str = "CONCEPT",
        options: Mapping[str, Any] = {},  # never changed
    ) -> None:
        self._linker = Linker.default() if index is None else Linker.load(index)
        self._annotate, self._key, self._labels, self._label = annotate, spans_key, labels, label
        self._options: Any = dict(options)
        self._linker.pipeline.request(**self._options)  # a wrong option is reported now

    def __call__(self, doc: Any) -> Any:
        """Link the entities of one document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 128) -> Iterator[Any]:
        """Link the entities of a stream of documents, in batches."""
        from spacy.util import minibatch

        for docs in minibatch(stream, size=batch_size):
            documents = [self._document(doc) for doc in docs]
            linked = [
                self._flagged(document, links)
                for document, links in self._linker.link_documents(documents, **self._options)
            ]
            further_links: list[Any] = [()] * len(docs)
            if self._annotate:
                annotated = self._linker.annotate_documents(documents, **self._options)
                further_links = [links for _, links in annotated]
            for doc, of_mentions, further in zip(docs, linked, further_links, strict=True):
                self._write(doc, of_mentions, further)
                yield doc

    def _flagged(self, document: Document, links: Iterable[Link]) -> list[Link]:
        """Give links the status of the text, by the rules of the index."""
        with using(self._linker.pipeline.book):
            return [*map(_with_status, links, with_flags(document.text, document.mentions))]

    def _spans(self, doc: Any) -> list[Any]:
        return [*(doc.spans.get(self._key, ()) if self._key else doc.ents)]

    def _links(self, span: Any) -> bool:
        return not self._labels or span.label_ in self._labels

    def _document(self, doc: Any) -> Document:
        mentions = tuple(
            Mention(span.text, span.start_char, span.end_char, span.label_)
            for span in self._spans(doc)
            if self._links(span)
        )
        return Document("", doc.text, mentions)

    def _write(self, doc: Any, of_mentions: Iterable[Link], of_text: Iterable[Link]) -> None:
        """Put the links of a document's spans, and of the names found, into it."""
        from spacy.tokens import Span

        links_of = doc.user_data.setdefault(NAME, {})
        spans: list[Any] = []
        taken: set[int] = set()
        links = iter(of_mentions)
        for span in self._spans(doc):
            taken.update(range(span.start, span.end))
            if self._links(span):
                link = next(links)
                links_of[_place(span)] = link.to_dict()
                span = Span(doc, span.start, span.end, label=span.label, kb_id=_kb_id(link))
            spans.append(span)
        for link in of_text:
            mention = link.mention
            label = mention.type or self._label
            span = doc.char_span(
                mention.start, mention.end, label=label, kb_id=_kb_id(link), alignment_mode="expand"
            )
            if taken.isdisjoint(range(span.start, span.end)):
                spans.append(span)
                taken.update(range(span.start, span.end))
                links_of[_place(span)] = link.to_dict()
        if self._key:
            doc.spans[self._key] = sorted(spans)
        else:
            doc.ents = sorted(spans)


@cache
def register() -> Any:
    """Tell spaCy of the component, and return its factory.

    An installed canonym needs no call: spaCy finds the component by its name.

    Raises
    ------
    MissingExtra
        Without spaCy (extra ``text``).
    """
    require("spacy", "a component of spaCy", "text")
    from spacy.language import Language
    from spacy.tokens import Span

    if not Span.has_extension(NAME):
        Span.set_extension(NAME, getter=_link_of)
        Span.set_extension(STATUS, getter=_status_of)
        Span.set_extension(NEGATED, getter=lambda span: "negated" in _status_of(span))

    def make(
        nlp: Any,  # noqa: ARG001  # spaCy gives both
        name: str,  # noqa: ARG001
        index: str | None,
        annotate: bool,
        spans_key: str,
        labels: list[str],
        label: str,
        options: dict[str, Any],
    ) -> LinkEntities:
        return LinkEntities(
            index,
            annotate=annotate,
            spans_key=spans_key,
            labels=labels,
            label=label,
            options=options,
        )

    return Language.factory(NAME, default_config=DEFAULTS, assigns=_ASSIGNED, func=make)


def __getattr__(name: str) -> Any:
    # The entry point: spaCy is imported when it asks for the factory.
    if name == "factory":
        return register()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _kb_id(link: Link) -> str:
    """Return the id of a link, those of a composite one with a bar between, "" for NIL."""
    return "|".join(link.ids)


def _place(span: Any) -> str:
    return f"{span.start_char}-{span.end_char}"


def _link_of(span: Any) -> Link | None:
    """Return the link of a span, None where it has none."""
    content = span.doc.user_data.get(NAME, {}).get(_place(span))
    return None if content is None else _as_link(content)


def _status_of(span: Any) -> tuple[str, ...]:
    """Return what the text says of a span, nothing where it has no link."""
    link = _link_of(span)
    return () if link is None else link.status


def _with_status(link: Link, flagged: Mention) -> Link:
    """Add to what an entity says of itself what its sentence says."""
    status = consistent((*(flagged.flags or ()), *link.status))
    return replace(link, mention=flagged, status=status)


def _as_link(content: Mapping[str, Any]) -> Link:
    """Make a link of what `canonym.types.Link.to_dict` gave: plain values can be saved."""
    mention = Mention(
        content["mention"],
        content["start"],
        content["end"],
        content["type"],
        document_id=content["document"],
    )
    return Link(
        mention,
        tuple(map(Candidate.from_dict, content["candidates"])),
        content["nil"],
        content["reason"],
        content["searched"],
        tuple(Step(**step) for step in content["steps"]),
        tuple(_as_link(part) for part in content["parts"]),
        content["confidence"],
        tuple(content.get("status", ())),
    )
