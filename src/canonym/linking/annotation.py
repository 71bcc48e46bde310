"""Texts to links: names are found in documents, then linked with the document as their context."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from canonym.errors import InvalidInput
from canonym.indexes.ivf import silent
from canonym.linking.build import Progress, phrases_of
from canonym.linking.links import LinkOptions, Links, check_abbreviations
from canonym.linking.pipeline import Pipeline, Request
from canonym.linking.spans import TextNames
from canonym.mentions.abbreviations import expand, find_abbreviations
from canonym.mentions.documents import text_batches
from canonym.rules import using
from canonym.types import USUAL_READING, Document, Link

_log = logging.getLogger(__name__)


class Annotator:
    """Finds and links the mentions of texts, with the pipeline of an index."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._names = pipeline.text_names

    def open(self, progress: Progress | None = None) -> None:
        """Make texts readable; an index without the sieve `reordered` has its names read for it."""
        if self._names is None:
            if not self._pipeline.sieves:
                raise InvalidInput(
                    "the index was built without sieves, which find names in texts: build it "
                    "again with one, such as 'reordered'"
                )
            _log.info("the index has no filter of phrases: it is made now, and not kept")
            self._names = TextNames(
                phrases_of(self._pipeline.terminology, self._pipeline.sieves, progress or silent),
                helped=self._pipeline.preparation.speller is not None,
            )

    def link(
        self,
        texts: Iterable[Document],
        options: LinkOptions,
        abbreviations: Mapping[str, str] | None,
    ) -> Iterator[tuple[Document, Links]]:
        """Yield documents with the mentions that were found in their texts, and their links."""
        request, forms = self._pipeline.request(**options), check_abbreviations(abbreviations)
        batches = text_batches(texts, mentions=request.batch)
        return chain.from_iterable(self.batch(batch, request, forms) for batch in batches)

    def batch(
        self, documents: Sequence[Document], request: Request, abbreviations: Mapping[str, str]
    ) -> Iterator[tuple[Document, Links]]:
        """Find and link the mentions of a batch, against the names of one moment."""
        self.open()
        engine = self._pipeline.settings["abbreviations"]
        own = [find_abbreviations(document.text, engine=engine) for document in documents]
        forms = [{**of_text, **abbreviations} for of_text in own]
        assert self._names is not None
        with using(self._pipeline.book):
            read = self._names.mark(documents, forms, self._pipeline.batch(request.filter))
        marked = [document for document, _ in read]
        defined = [{**of_text, **of} for (_, of_text), of in zip(read, own, strict=True)]
        linked = self._pipeline.link_batch(marked, request, abbreviations, defined)
        for (document, links), stated in zip(linked, forms, strict=True):
            typed = Links(_typed(_guessed(link, stated)) for link in links if not link.nil)
            yield replace(document, mentions=tuple(link.mention for link in typed)), typed


def _guessed(link: Link, stated: Mapping[str, str]) -> Link:
    """Tell what canonym reads an abbreviation as from what the text or the caller says it is."""
    steps = tuple(
        step._replace(name="space" if "\n" in step.before else USUAL_READING)
        if step.name == "abbreviation" and expand(step.before, stated) != step.after
        else step
        for step in link.steps
    )
    return replace(link, steps=steps, parts=tuple(_guessed(part, stated) for part in link.parts))


def _typed(link: Link) -> Link:
    """Give a mention the type of its concept, a composite one that of its first part."""
    best = link.parts[0] if link.parts else link
    types = best.candidates[0].types if best.candidates else ()
    return replace(link, mention=replace(link.mention, type=types[0])) if types else link
