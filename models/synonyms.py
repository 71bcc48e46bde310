"""Groups of synonyms from many terminologies, and further ways to write their names.

Terminologies overlap: the heart attack of MeSH is that of ICD-10-CM under other names.
`SynonymPool` joins concepts where the terminologies or the names agree, but never two concepts that
one terminology keeps apart. Joined concepts share their names as positives. Separate ones are hard
negatives of each other only within a terminology.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.text import STRONG, UNORDERED, normalise_all
from canonym.text.memo import MemoNormaliser
from canonym.types import Concept, Int32Array, Name, Record, Relation, Xref

# Marks of a residual class: the name means no more than the words before them.
_RESIDUE = re.compile(
    r"(?:,?\s*\b(?:nos|unspecified|not otherwise specified)|,\s*unspecified(?:\s[\w/-]+){1,3}"
    r"|\s*\((?:disorder|disease|finding|nos)\))\s*$|^unspecified\s+",
    re.IGNORECASE,
)
_PARENTHESES = re.compile(r"\s*\([^()\d]*\)")
_BRACKETS = re.compile(r"^([^\[\]]+?)\s*\[([A-Za-z][^\[\]]*)\](?:\s*|(\s[^\[\]]+))$")
_SHORTEST_WORD = 3
# Longer names have swaps in too many places, and few of them are ever looked up.
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
    """Yield other ways to write a name by the conventions of ICD-10-CM (guidelines, I.A.7).

    Square brackets enclose synonyms, parentheses optional words.

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
        # The synonym replaces all words before it, or only the last one.
        kept = [] if initials.casefold() == synonym.casefold() else words[:-1]
        yield " ".join((*kept, synonym)) + after


class WordSwaps:
    """Words that can stand for one another, mined from groups of synonyms.

    Two words are a swap if names of one concept differ in just these words, and names of different
    concepts of one source do so less often: kidney and renal, but not acute and chronic. A swap
    has to be seen in `least` concepts, which are at least `share` of all sightings and `rate` of
    the concepts that have the rarer word. `sources` are bits of the sources of each concept.
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
        # Names that become equal without one word, by the remaining words.
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
        """Return `name` with one word swapped, the swaps seen in most concepts first."""
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


SCOPES = frozenset({"label", "exact", "abbreviation", "narrow"})
# Shorter strings are abbreviations more often than not, and those mean many things.
_SHORTEST = 5


class Synonyms(NamedTuple):
    """Names, the concept of each, and of each concept its sources as bits and its weight.

    Names are distinct within a concept after normalisation. Heavier concepts are drawn more often.
    """

    names: list[str]
    concepts: Int32Array
    sources: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]

    @property
    def n_concepts(self) -> int:
        """Number of concepts."""
        return len(self.sources)


class SynonymPool:
    """Collects terminologies and joins their concepts into groups of synonyms.

    >>> pool = SynonymPool()
    >>> bit = pool.add("a", [Concept("A:1", "Myocardial Infarction"), Name("heart attack", "A:1")])
    >>> other = [Concept("B:1", "myocardial infarction"), Name("cardiac infarct", "B:1")]
    >>> bit = pool.add("b", other)
    >>> pool.join_names()
    1
    >>> sorted(pool.synonyms().names)
    ['Myocardial Infarction', 'cardiac infarct', 'heart attack']
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._parents: list[int] = []
        self._sources: list[int] = []
        self._exclusive: list[int] = []
        self._weights: list[float] = []
        self._labels: list[str] = []
        self._names: list[tuple[str, int]] = []
        self._xrefs: list[tuple[int, str]] = []
        self._bits: dict[str, int] = {}
        self._relations: list[tuple[str, str]] = []
        self._given: dict[int, int] = {}
        self._definitions: list[tuple[str, int]] = []
        self._left_out: set[int] = set()

    def add(
        self,
        source: str,
        records: Iterable[Record],
        *,
        weight: float = 1.0,
        exclusive: bool = True,
        scopes: Iterable[str] = SCOPES,
    ) -> int:
        """Add a terminology and return its bit in `Synonyms.sources`.

        Files that share ids are added under one `source`. A concept in several files has the
        largest `weight`. Concepts of an `exclusive` source are never joined with each other. Names
        of other scopes than `scopes` are no synonyms.
        """
        bit = self._bits.setdefault(source, 1 << len(self._bits))
        taken = frozenset(scopes)
        for record in records:
            if isinstance(record, Relation):
                self._relations.append((record.head, record.tail))
                continue
            id_ = record.id if isinstance(record, Concept) else record.concept_id
            number = self._number(id_, weight)
            if isinstance(record, Xref):
                if record.kind == "alternative":
                    # Another id of the same concept, even in an exclusive source.
                    self._unite(self._root(number), self._root(self._number(record.target, weight)))
                else:
                    self._xrefs.append((number, record.target))
            elif isinstance(record, Name):
                if record.scope in taken and record.language in ("en", ""):
                    self._names.append((record.text, number))
            elif not record.deprecated:
                self._labels[number] = self._labels[number] or record.label
                self._names.append((record.label, number))
                if record.definition:
                    self._definitions.append((record.definition, number))
            root = self._root(number)
            self._sources[root] |= bit
            self._weights[root] = max(self._weights[root], weight)
            if exclusive:
                self._exclusive[root] |= bit
        return bit

    def __contains__(self, id: str) -> bool:
        """Whether a terminology has the concept, and it is not left out."""
        number = self._numbers.get(id)
        return number is not None and self._root(number) not in self._left_out

    def join_xrefs(self, prefixes: dict[str, str] | None = None) -> int:
        """Join concepts that refer to one another or to the same id; return how many.

        `prefixes` renames the prefixes of references (``MSH`` → ``MESH``).
        """
        known = prefixes or {}
        joined = 0
        met: dict[str, int] = {}
        for number, target in self._xrefs:
            prefix, colon, rest = target.partition(":")
            target = f"{known.get(prefix, prefix)}{colon}{rest}"
            other = self._numbers.get(target)
            if other is None:
                # An unknown id: concepts that both refer to it are the same.
                other = met.setdefault(target, number)
            joined += self._join(number, other)
        return joined

    def join_names(self) -> int:
        """Join concepts whose names agree, labels first; return how many.

        Names are compared in their `canonym.text.UNORDERED` form. A string of two concepts of one
        source is ambiguous and joins nothing.
        """
        normal = MemoNormaliser(UNORDERED)
        labels: dict[str, list[int]] = {}
        for number, form in enumerate(normal(self._labels)):
            if len(form) >= _SHORTEST:
                labels.setdefault(form, []).append(number)
        joined = sum(
            self._join(numbers[0], other) for numbers in labels.values() for other in numbers[1:]
        )
        texts = [text for text, _ in self._names]
        # A residual class (NOS, unspecified) is the concept of its name without the mark, unless
        # another concept has that very name.
        for forms in (normal(texts), normal(map(without_residue, texts))):
            for (_, number), form in zip(self._names, forms, strict=True):
                joined += sum(self._join(other, number) for other in labels.get(form, ()))
        return joined

    def leave_out(self, ids: Iterable[str]) -> int:
        """Keep concepts, those joined with them and all their names out of `synonyms`.

        Call it after the concepts are joined. Returns the number of joined concepts left out.
        """
        known = (self._numbers[id_] for id_ in ids if id_ in self._numbers)
        self._left_out.update(map(self._root, known))
        return len(self._left_out)

    def synonyms(self) -> Synonyms:
        """Return every name with the number of its joined concept.

        The weight of a concept is multiplied by its number of sources: people look for what many
        terminologies have.
        """
        numbers = self._given = {}
        names, concepts = [], []
        seen: set[tuple[str, int]] = set()
        forms = list(normalise_all(text for text, _ in self._names))
        # Another concept may share a name with one that is left out.
        unknown = {
            form
            for (_, number), form in zip(self._names, forms, strict=True)
            if self._root(number) in self._left_out
        }
        for (text, number), form in zip(self._names, forms, strict=True):
            root = self._root(number)
            if not form or (form, root) in seen or form in unknown:
                continue
            seen.add((form, root))
            names.append(text)
            concepts.append(numbers.setdefault(root, len(numbers)))
        roots = list(numbers)
        sources = [self._sources[root] for root in roots]
        weights = [
            self._weights[root] * bits.bit_count()
            for root, bits in zip(roots, sources, strict=True)
        ]
        return Synonyms(
            names,
            np.array(concepts, dtype=np.int32),
            np.array(sources, dtype=np.int64),
            np.array(weights, dtype=np.float64),
        )

    def concept_of(self, id: str) -> int | None:
        """Return the number that `synonyms` last gave to a concept; None if it gave none."""
        number = self._numbers.get(id)
        return None if number is None else self._given.get(self._root(number))

    def related(self) -> Int32Array:
        """Return pairs of related concepts by the numbers that `synonyms` last gave: ``(n, 2)``."""
        numbers = {(self.concept_of(head), self.concept_of(tail)) for head, tail in self._relations}
        pairs = sorted((a, b) for a, b in numbers if a is not None and b is not None and a != b)
        return np.array(pairs, dtype=np.int32).reshape(-1, 2)

    def definitions(self) -> list[tuple[str, int]]:
        """Return definitions, each with the number that `synonyms` last gave to its concept."""
        found = [(text, self._given.get(self._root(number))) for text, number in self._definitions]
        return [(text, number) for text, number in dict.fromkeys(found) if number is not None]

    def _number(self, id_: str, weight: float) -> int:
        number = self._numbers.setdefault(id_, len(self._parents))
        if number == len(self._parents):
            self._parents.append(number)
            self._sources.append(0)
            self._exclusive.append(0)
            self._weights.append(weight)
            self._labels.append("")
        self._weights[number] = max(self._weights[number], weight)
        return number

    def _root(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number

    def _join(self, one: int, other: int) -> bool:
        one, other = self._root(one), self._root(other)
        if one == other or self._exclusive[one] & self._exclusive[other]:
            return False
        self._unite(one, other)
        return True

    def _unite(self, one: int, other: int) -> None:
        low, high = sorted((one, other))
        if low == high:
            return
        self._parents[high] = low
        self._sources[low] |= self._sources[high]
        self._exclusive[low] |= self._exclusive[high]
        self._weights[low] = max(self._weights[low], self._weights[high])


def add_variants(synonyms: Synonyms, *, most: int = 2, least_weight: float = 1.0) -> Synonyms:
    """Add other ways to write the names: without residue, and with one word swapped.

    The `most` swaps seen in most concepts are taken for a name. Concepts of a weight below
    `least_weight` stay as they are.
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
