"""Documents checked at the door, what they hold and their offsets, and dealt out in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Integral

from canonym.errors import InvalidInput
from canonym.types import Document, Mention

_PER_MENTION = 200  # characters of a text


def check_document(document: object) -> Document:
    """Return a document that can be linked.

    Where there is a text, offsets lie in it. The text at the offsets may differ from the mention:
    that of a mention in pieces does, see `canonym.corpora.offsets`.

    Raises
    ------
    InvalidInput
        If it is no `Document` of `Mention` objects, a text is no string, or offsets are no span.
    """
    if not isinstance(document, Document):
        raise InvalidInput(
            f"a document is a Document, not {type(document).__name__} ({document!r:.80})"
        )
    text = document.text
    if not isinstance(text, str) or isinstance(document.mentions, str):
        raise InvalidInput(f"document {document.id!r:.80} needs a string as text, and mentions")
    for mention in document.mentions:
        check_mention(mention)
        start, end = mention.start, mention.end
        if text and start is not None and end is not None and not 0 <= start <= end <= len(text):
            raise InvalidInput(
                f"document {document.id!r:.80}: offsets {start}-{end} of the mention "
                f"{mention.text!r:.80} are no span of the text, which has {len(text):,} code "
                "points; offsets count from 0, and may be None"
            )
    return document


def check_mention(mention: object) -> None:
    """Refuse what is no `Mention`, a text that is no string, and offsets that are no numbers."""
    if not isinstance(mention, Mention):
        raise InvalidInput(
            f"a mention of a document is a Mention, not {type(mention).__name__} ({mention!r:.80})"
        )
    if not isinstance(mention.text, str) or not isinstance(mention.context, str):
        raise InvalidInput(
            f"text and context of a mention are strings, not those of {mention!r:.160}"
        )
    if not (
        (mention.start is None or isinstance(mention.start, Integral))
        and (mention.end is None or isinstance(mention.end, Integral))
    ):
        raise InvalidInput(f"offsets of a mention are whole numbers, not those of {mention!r:.160}")


def batches_of(documents: Iterable[Document], *, mentions: int) -> Iterator[list[Document]]:
    """Return lists of whole documents, each with that many mentions or a few more."""
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise InvalidInput(f"documents are {documents!r:.80}; expected a list of Document")
    return _batches(
        map(check_document, documents), mentions, lambda document: max(len(document.mentions), 1)
    )


def text_batches(documents: Iterable[Document], *, mentions: int) -> Iterator[list[Document]]:
    """Return lists of documents, each with text for about that many mentions."""
    return _batches(
        documents, mentions * _PER_MENTION, lambda document: len(document.text) + _PER_MENTION
    )


def _batches(
    documents: Iterable[Document], least: int, size: Callable[[Document], int]
) -> Iterator[list[Document]]:
    """Yield lists of documents of at least that size together, but for the last one."""
    batch: list[Document] = []
    n = 0
    for document in documents:
        batch.append(document)
        n += size(document)
        if n >= least:
            yield batch
            batch, n = [], 0
    if batch:
        yield batch
