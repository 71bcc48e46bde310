"""flashtext, which finds names in a text as they are written, in any case."""

from __future__ import annotations

from typing import Any

REQUIREMENTS = ["flashtext==2.7"]
PACKAGES = ["flashtext"]


def build(names: list[tuple[str, str]]) -> Any:
    """Add all names; the first concept of a name remains."""
    from flashtext import KeywordProcessor

    processor = KeywordProcessor()
    for text, id_ in reversed(names):
        if text.strip():
            processor.add_keyword(text, id_)
    return processor


def annotate(index: Any, text: str) -> list[tuple[int, int, str]]:
    """Return the names in a text: start, end and concept."""
    names = index.extract_keywords(text, span_info=True)
    return [(start, end, id_) for id_, start, end in names]
