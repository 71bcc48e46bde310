"""Linking in several processes, each with the same index mapped into its memory.

A process gets whole batches, the same as one process would make, and returns their links. It opens
the index by the path of its folder, and sees what is added to the index before each batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from canonym.errors import InvalidInput, Mismatch
from canonym.io.processes import Reopened, check_workers, ordered_map
from canonym.linking.build import Progress
from canonym.linking.judge import Judge
from canonym.linking.links import LinkOptions, Links, as_texts, check_abbreviations, check_options
from canonym.linking.pipeline import Pipeline, Request
from canonym.mentions.documents import batches_of, text_batches
from canonym.mentions.flags import with_flags
from canonym.rules import Book, using
from canonym.types import Document

if TYPE_CHECKING:
    from canonym.linking.annotation import Annotator


class OpenIndex(Protocol):
    """An index that is open, and opens itself again where it is unpickled: `canonym.Linker`."""

    folder: Path
    manifest: dict[str, Any]
    pipeline: Pipeline
    annotator: Annotator
    judge: Judge | None


def link_in_processes(
    linker: OpenIndex,
    documents: Iterable[Document],
    options: LinkOptions,
    abbreviations: Mapping[str, str] | None = None,
    *,
    in_texts: bool = False,
) -> Iterator[tuple[Document, Links]]:
    """Yield each document with its links, in order.

    With `in_texts` the links are those of the names in the text of each document.
    """
    workers = check_workers(options.get("workers", 1))
    task = _LinkBatch(linker, options, abbreviations, in_texts)
    batches = text_batches if in_texts else batches_of
    sent, waiting = tee(batches(documents, mentions=task.request.batch))
    linked = ordered_map(task, sent, workers=workers)
    return (
        pair
        for links, batch in zip(linked, waiting, strict=False)
        for pair in zip(batch, links, strict=True)
    )


def annotate_texts(
    linker: OpenIndex,
    documents: Iterable[str | Document],
    options: LinkOptions,
    abbreviations: Mapping[str, str] | None,
    progress: Progress | None,
) -> Iterator[tuple[Document, Links]]:
    """Find and link the mentions of texts; see `canonym.Linker.annotate_documents`."""
    whole: dict[str, Any] = {"k": 1, **options}
    if whole.pop("flags", None) is not None:  # of before: taken for one release
        warnings.warn("flags has no effect: every mention has its status", DeprecationWarning, 3)
    if whole.get("separator") is not None:
        raise InvalidInput("a separator parts the names of a mention: it goes with link")
    link_options = cast("LinkOptions", whole)
    linker.annotator.open(progress)
    texts = as_texts(documents)
    if link_options.get("workers", 1) == 1:
        linked: Iterator[tuple[Document, Links]] = linker.annotator.link(
            texts, link_options, abbreviations
        )
    else:
        annotated = link_in_processes(linker, texts, link_options, abbreviations, in_texts=True)
        linked = (
            (replace(document, mentions=tuple(link.mention for link in links)), links)
            for document, links in annotated
        )
    book = linker.pipeline.book
    return (_flagged(document, links, book) for document, links in linked)


def _flagged(document: Document, links: Links, book: Book) -> tuple[Document, Links]:
    """Give the mentions of a document their flags, by the rules of an index."""
    with using(book):
        mentions = with_flags(document.text, document.mentions)
    pairs = zip(links, mentions, strict=True)
    return replace(document, mentions=mentions), Links(
        replace(link, mention=mention, status=mention.flags or ()) for link, mention in pairs
    )


class _LinkBatch:
    """Links a batch in whatever process it is called, with the judge of the first one."""

    def __init__(
        self,
        linker: OpenIndex,
        options: LinkOptions,
        abbreviations: Mapping[str, str] | None,
        in_texts: bool,
    ) -> None:
        self._linker = Reopened(linker)
        self._built = linker.manifest
        self._judge = linker.judge
        self._options = check_options(options)
        self._abbreviations = check_abbreviations(abbreviations)
        self._in_texts = in_texts

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "request"}

    @cached_property
    def request(self) -> Request:
        """The options of the call, checked against the index."""
        linker = self._linker.value
        if linker.manifest != self._built:
            raise Mismatch(
                f"{linker.folder} was replaced by another index while it was open; open it again"
            )
        linker.judge = self._judge
        return linker.pipeline.request(**self._options)

    def __call__(self, documents: Sequence[Document]) -> list[Links]:
        linker = self._linker.value
        link = linker.annotator.batch if self._in_texts else linker.pipeline.link_batch
        return [links for _, links in link(documents, self.request, self._abbreviations)]
