"""Further ways to write a name: learned from the names, or conventions of a classification."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["WordSwaps", "icd_variants", "without_residue"]

# What a classification writes to say that a name means no more than it says.
_RESIDUE = re.compile(
    r"(?:,?\s*\b(?:nos|unspecified|not otherwise specified)|,\s*unspecified(?:\s[\w/-]+){1,3}"
    r"|\s*\((?:disorder|disease|finding|nos)\))\s*$|^unspecified\s+",
    re.IGNORECASE,
)
_PARENTHESES = re.compile(r"\s*\([^()\d]*\)")
_BRACKETS = re.compile(r"^([^\[\]]+?)\s*\[([A-Za-z][^\[\]]*)\](?:\s*|(\s[^\[\]]+))$")
_SHORTEST_WORD = 3
_MOST_WORDS = 5


def without_residue(name: str) -> str:
    """Cut off marks of residual classes: NOS, unspecified, unspecified organism, (disorder).

    >>> without_residue("Fracture of hip NOS"), without_residue("Unspecified fever")
    ('Fracture of hip', 'fever')
    """
    while True:
        shorter = _RESIDUE.sub("", name)
        if shorter == name or not shorter.strip():
            return name
        name = shorter


def icd_variants(name: str) -> Iterator[str]:
    """Yield what the conventions of ICD let a name stand for.

    Square brackets enclose synonyms, parentheses words that may be there or not [1]_.

    References
    ----------
    .. [1] ICD-10-CM Official Guidelines for Coding and Reporting, section I.A.7.

    Examples
    --------
    >>> list(icd_variants("Varicella [chickenpox]"))
    ['Varicella', 'chickenpox']
    >>> list(icd_variants("hypertension (arterial) (benign)"))
    ['hypertension']
    """
    bare = _PARENTHESES.sub("", name).strip()
    if bare and bare != name:
        yield bare
    brackets = _BRACKETS.match(bare)
    if brackets:
        before, synonym, after = brackets.groups(default="")
        yield before + after
        words = before.split()
        initials = "".join(word[0] for word in words)
        # What the synonym is of: all that stands before it, or only the last word.
        kept = [] if initials.casefold() == synonym.casefold() else words[:-1]
        yield " ".join((*kept, synonym)) + after


class WordSwaps:
    """Words that can stand for one another, mined from groups of synonyms.

    Two words are a swap where names of one concept differ in just these words, and that happens
    more often than names of *different* concepts of one source differing in just them: kidney and
    renal are, acute and chronic are not.

    Parameters
    ----------
    words : sequence of tuple of str
        The words of each name, in any order that is the same for all.
    concepts : (n,) int
        The concept of each name.
    sources : (n_concepts,) int, optional
        Bits of the sources of each concept; by default all are of one source.
    least : int
        Concepts in which a swap has to be seen.
    share : float
        Least share of the concepts among all sightings.
    rate : float
        Least number of those concepts by the number of concepts that have the rarer word at all.
    """

    def __init__(
        self,
        words: Sequence[tuple[str, ...]],
        concepts: npt.NDArray[np.integer],
        sources: npt.NDArray[np.integer] | None = None,
        *,
        least: int = 2,
        share: float = 0.7,
        rate: float = 0.05,
    ) -> None:
        # The names that become equal without one word, by what is left.
        frames: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
        for name, concept in zip(words, concepts.tolist(), strict=True):
            if 2 <= len(name) <= _MOST_WORDS:
                for place, word in enumerate(name):
                    if len(word) >= _SHORTEST_WORD and word.isalpha():
                        frames[name[:place] + name[place + 1 :]].append((word, concept))
        same = Counter(
            pair for pairs in _pairs_by_concept(frames.values()).values() for pair in pairs
        )
        seen = {
            (word, concept)
            for name, concept in zip(words, concepts.tolist(), strict=True)
            if len(name) <= _MOST_WORDS
            for word in name
        }
        having = Counter(word for word, _ in seen)
        self.counts = {
            (one, other): n
            for (one, other), n in same.items()
            if n >= max(least, rate * min(having[one], having[other]))
        }
        contrast = self._contrasts(frames.values(), sources)
        self.swaps: dict[str, list[str]] = defaultdict(list)
        by_count = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        for (one, other), n in by_count:
            if n >= share * (n + contrast[one, other]):
                self.swaps[one].append(other)
                self.swaps[other].append(one)

    def variants(self, name: str) -> list[str]:
        """Return `name`, its words separated by spaces, with one word swapped in each way.

        The swaps seen in most concepts come first.
        """
        words = name.split(" ")
        found = [
            (-self.counts[min(word, other), max(word, other)], place, other)
            for place, word in enumerate(words)
            for other in self.swaps.get(word, ())
            if other not in words
        ]
        return [
            " ".join((*words[:place], other, *words[place + 1 :]))
            for _, place, other in sorted(found)
        ]

    def _contrasts(
        self,
        frames: Iterable[list[tuple[str, int]]],
        sources: npt.NDArray[np.integer] | None,
    ) -> Counter[tuple[str, str]]:
        partners: dict[str, set[str]] = defaultdict(set)
        for one, other in self.counts:
            partners[one].add(other)
        bits = None if sources is None else sources.tolist()
        found: Counter[tuple[str, str]] = Counter()
        for frame in frames:
            concepts_of: dict[str, set[int]] = defaultdict(set)
            for word, concept in frame:
                concepts_of[word].add(concept)
            for one, those in concepts_of.items():
                for other in partners.get(one, set()) & concepts_of.keys():
                    # Different concepts, neither of which has both words.
                    left, right = those - concepts_of[other], concepts_of[other] - those
                    if bits is None:
                        found[one, other] += bool(left and right)
                    else:
                        found[one, other] += any(bits[a] & bits[b] for a in left for b in right)
        return found


def _pairs_by_concept(
    frames: Iterable[list[tuple[str, int]]],
) -> dict[int, set[tuple[str, str]]]:
    pairs: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for frame in frames:
        if len(frame) < 2:
            continue
        by_concept: dict[int, set[str]] = defaultdict(set)
        for word, concept in frame:
            by_concept[concept].add(word)
        for concept, words in by_concept.items():
            ordered = sorted(words)
            for place, one in enumerate(ordered):
                pairs[concept].update((one, other) for other in ordered[place + 1 :])
    return pairs
