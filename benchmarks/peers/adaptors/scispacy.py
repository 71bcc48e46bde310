"""scispaCy's candidate generator, without its recogniser: nearest names by character 3-grams.

Candidates are ranked as its linker ranks them, by the most similar name, and none is refused.
"""

from __future__ import annotations

from typing import Any

REQUIREMENTS = ["scispacy==0.6.2"]
PACKAGES = ["scispacy", "nmslib-metabrainz"]

K = 30
"""Names looked up for a mention: the default of its linker."""


def build(names: list[tuple[str, str]]) -> Any:
    """Make its knowledge base and index; the first name of a concept is its canonical one."""
    from scispacy import candidate_generation
    from scispacy.linking_utils import Entity, KnowledgeBase

    # It refuses newer versions of scipy, which cannot save its vectors. Nothing is saved here.
    candidate_generation.scipy_supports_sparse_float16 = lambda: True
    of_concept: dict[str, list[str]] = {}
    for text, id_ in names:
        of_concept.setdefault(id_, []).append(text)
    base = KnowledgeBase([Entity(id_, texts[0], texts) for id_, texts in of_concept.items()])
    aliases, vectorizer, index = candidate_generation.create_tfidf_ann_index(None, base)
    index.setQueryTimeParams({"efSearch": 200})  # as it does where it loads an index
    return candidate_generation.CandidateGenerator(index, vectorizer, aliases, base)


def candidates(index: Any, mentions: list[str]) -> list[Any]:
    """Return the concepts of each mention, the most similar name first."""
    found = []
    for concepts in index(mentions, K):
        ranked = sorted(concepts, key=lambda one: -max(one.similarities))
        found.append([(_nearest(one), one.concept_id) for one in ranked])
    return found


def _nearest(concept: Any) -> str:
    pairs = zip(concept.similarities, concept.aliases, strict=True)
    return max(pairs, key=lambda pair: pair[0])[1]
