"""Groups of synonyms with further ways to write them, mined from the groups themselves."""

from __future__ import annotations

import numpy as np

from canonym.text import STRONG
from canonym.text.memo import MemoNormaliser
from canonym.training.synonyms import Synonyms
from canonym.training.variants import WordSwaps, without_residue

__all__ = ["add_variants"]

# Longer names have swaps in too many places, and few of them are ever looked up.
_MOST_WORDS = 5


def add_variants(synonyms: Synonyms, *, most: int = 2, least_weight: float = 1.0) -> Synonyms:
    """Add other ways to write the names: without residue, and with words swapped.

    Parameters
    ----------
    synonyms : Synonyms
        Groups of synonyms; the swaps are mined from them, see `canonym.training.variants`.
    most : int
        Most swaps taken for one name, those first that are seen most.
    least_weight : float
        Concepts of a smaller weight are left as they are.

    Returns
    -------
    Synonyms
        The same concepts, with more names.
    """
    ordered = MemoNormaliser(STRONG)(map(without_residue, synonyms.names))
    finish = MemoNormaliser(("fillers", "order"))
    words = [tuple(form.split(" ")) for form in finish(ordered)]
    swaps = WordSwaps(words, synonyms.concepts, synonyms.sources)
    names, concepts = list(synonyms.names), synonyms.concepts.tolist()
    known = set(zip(ordered, concepts, strict=True))
    plain = MemoNormaliser(STRONG)(synonyms.names)
    known_plain = set(zip(plain, concepts, strict=True))
    for form, concept in zip(ordered, synonyms.concepts.tolist(), strict=True):
        if synonyms.weights[concept] < least_weight or form.count(" ") >= _MOST_WORDS:
            continue
        found = [form] if (form, concept) not in known_plain else []
        for text in (*found, *swaps.variants(form)[:most]):
            if text in found or (text, concept) not in known:
                known.add((text, concept))
                known_plain.add((text, concept))
                names.append(text)
                concepts.append(concept)
    return synonyms._replace(names=names, concepts=np.array(concepts, dtype=np.int32))
