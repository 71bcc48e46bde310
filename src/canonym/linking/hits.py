"""Hits of strings, kept as numbers until links are made of them."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from canonym.linking.names import Filter, Names
from canonym.linking.settings import IDS, SIEVES
from canonym.mentions.contrasts import NOTHING
from canonym.mentions.opposites import KINDS, SMALL
from canonym.mentions.prepared import Part, Use
from canonym.mentions.shorthand import parts_of_the_body
from canonym.ranking.letters import gain, most_gain
from canonym.regex import regex
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy, edges_up
from canonym.text.characters import n_letters
from canonym.text.memo import strong_forms
from canonym.text.qualifiers import BROADER
from canonym.text.words import forms_of, words_of_kind
from canonym.types import CORRECTION, Against, Candidate, Concept, Link, Mention, Name, Step

if TYPE_CHECKING:
    from canonym.linking.search import BatchHits

_NEAR = 0.9  # from this score on a hit of a search is a rival of the first
_REMEMBERED = 10_000  # concepts, and as many names
_MOST_KNOWN = 2_000  # strings with hits, some 2 kB each; the older half makes room
_Record = TypeVar("_Record", Concept, Name)
_DENIES = regex(r"[,;]\s*no\b|\b(?:no|not|without)(?: [^\s,;]+){1,5}[,;]", re.IGNORECASE)

SIEVE_STEPS: Mapping[str, tuple[str, ...]] = {IDS: (), **{s.name: s.steps for s in SIEVES}}
"""The steps of normalisation of every sieve; ids have none."""

NEAR = 0.9
"""From this score on what a search finds may be an item of a list; chosen like
`canonym.linking.decision.INVERTED`."""

PREFERRED = "preferred"
"""The name among the evidence of what a caller prefers, which counts before all else."""


class ConceptHit(NamedTuple):
    """A concept found for a string, as numbers.

    `concept` is its ordinal and `row` its best row, −1 where the mean of its names was found.
    `scores` holds what each scorer gave that row; `found_by` is a sieve, ``"search"`` or a target.
    The choice between homonyms adds `evidence`. `against` is what speaks against the name of the
    row.
    """

    concept: int
    row: int
    score: float
    scores: dict[str, float]
    found_by: str
    evidence: dict[str, float] = {}  # noqa: RUF012  # never changed
    against: Against = NOTHING


_FITS = 0.9  # what is likelier is hardly ever several things

EVEN = 0.5
"""A link is likelier right than wrong from here on."""

NameOf = Callable[[ConceptHit], Name]
"""Gives the name that matched."""


class NamesOfHits(Protocol):
    """What a decision asks of the names of a terminology."""

    def name(self, hit: ConceptHit) -> Name:
        """Return the name that matched."""
        ...

    def texts(self, hit: ConceptHit) -> Sequence[str]:
        """Return the names of the concept."""
        ...

    @property
    def concepts(self) -> ConceptTable:
        """The concepts of the terminology."""
        ...

    def allows(self, concept: int) -> bool:
        """Tell whether the filter of a call leaves a concept."""
        ...


class StringHits(NamedTuple):
    """The hits of a string, best first, and the sieve that decided, or ``"search"``.

    `reason` says why there are none, or none that may be taken. `tied` are all concepts of the best
    hit's name, if several. `steps` lead from the string to what the sieve knows.
    """

    hits: tuple[ConceptHit, ...]
    sieve: str
    reason: str = ""
    tied: tuple[ConceptHit, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def score(self) -> float:
        """Score of the best hit, −inf without one."""
        return self.hits[0].score if self.hits else float("-inf")


class Draft(NamedTuple):
    """A link before homonyms and the judge: hits are numbers still.

    `string` is what was looked up in the end, `forbidden` are concepts that the mention does not
    stand for. A composite mention has `parts`, and no hits itself.
    """

    mention: Mention
    string: str
    hits: tuple[ConceptHit, ...] = ()
    nil: bool = False
    reason: str = ""
    steps: tuple[Step, ...] = ()
    parts: tuple[Draft, ...] = ()
    tied: tuple[ConceptHit, ...] = ()
    forbidden: frozenset[int] = frozenset()
    status: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """Score of the best hit, −inf without one."""
        return self.hits[0].score if self.hits else float("-inf")

    @property
    def whole_or_parts(self) -> tuple[Draft, ...]:
        """The parts of a composite mention, or the draft itself."""
        return self.parts or (self,)


class ConceptTable:
    """Concepts and names of a terminology by number, remembered; and its hierarchy."""

    def __init__(self, terminology: Terminology) -> None:
        self.terminology = terminology
        self._known: dict[int, Concept] = {}
        self._names: dict[int, Name] = {}

    def __getitem__(self, ordinal: int) -> Concept:
        known = self._known.get(ordinal)
        return known or _read(self._known, ordinal, self.terminology.concepts_at)

    def name(self, row: int) -> Name:
        """Return the name of a row of the terminology."""
        return self._names.get(row) or _read(self._names, row, self.terminology.names_at)

    def read_names(self, rows: Iterable[int]) -> None:
        """Read the names of rows of the terminology in one query."""
        new = [row for row in dict.fromkeys(rows) if row not in self._names]
        if new:
            _remember(self._names, dict(zip(new, self.terminology.names_at(new), strict=True)))

    def read_ahead(self, hits: Sequence[ConceptHit]) -> None:
        """Read the concepts of hits, and their names in the terminology, in one query each."""
        concepts = {hit.concept for hit in hits if hit.concept not in self._known}
        n = self.terminology.n_names
        if concepts:
            described = self.terminology.concepts_at([*concepts])
            _remember(self._known, dict(zip(concepts, described, strict=True)))
        self.read_names(hit.row for hit in hits if 0 <= hit.row < n)

    def are_kin(self, concept: int, others: Iterable[int]) -> bool:
        """Tell whether a concept is one of others, or above or below one of them."""
        id, ids = self[concept].id, [self[other].id for other in others]
        above = self._above(id)
        return any(other in above or id in self._above(other) for other in ids)

    def is_above(self, concept: int, other: int) -> bool:
        """Tell whether a concept stands above another."""
        return concept != other and self[concept].id in self._above(self[other].id)

    def _above(self, id: str) -> dict[str, int]:
        """Return a concept and the concepts above it."""
        return edges_up(id, self.terminology.parents)

    @functools.cached_property
    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy, read once; None where the terminology has none."""
        if not self.terminology.n_relations:
            return None
        hierarchy = Hierarchy.from_terminology(self.terminology)
        return hierarchy if hierarchy.n_edges else None


def _read(
    known: dict[int, _Record], number: int, read: Callable[[Sequence[int]], list[_Record]]
) -> _Record:
    (record,) = read([number])
    _remember(known, {number: record})
    return record


def _remember(known: dict[int, _Record], records: Mapping[int, _Record]) -> None:
    if len(known) + len(records) > _REMEMBERED:
        known.clear()
    known.update(itertools.islice(records.items(), _REMEMBERED))


class KnownHits:
    """Hits of strings that were looked up before: real streams repeat.

    They hold for the names of one moment, a filter and numbers of hits; with others they are
    forgotten.
    """

    def __init__(self) -> None:
        self._known: tuple[
            Names | None,
            Filter | None,
            tuple[int, int],
            dict[frozenset[int], dict[str, StringHits]],
        ]
        self._known = (None, None, (0, 0), {})

    def of(
        self, names: Names, row_filter: Filter, k: tuple[int, int], forbidden: frozenset[int]
    ) -> dict[str, StringHits]:
        """Return the hits by string, to be added to; `k` are the hits to find, and enough of them.

        None of `forbidden` is among them. See `canonym.linking.pipeline.Pipeline.find`.
        """
        before, also, numbers, hits = self._known
        if before is not names or also is not row_filter or numbers != k:
            hits = {}
        elif sum(len(of_group) for of_group in [*hits.values()]) > _MOST_KNOWN:
            hits = {
                group: dict(list(of_group.items())[len(of_group) // 2 :])
                for group, of_group in [*hits.items()]
            }
        self._known = (names, row_filter, k, hits)
        return hits.setdefault(forbidden, {})


def near_rivals(hits: Sequence[ConceptHit]) -> Sequence[ConceptHit]:
    """Return the first of the hits of a search and those of nearly its score."""
    for n, hit in enumerate(hits):
        if hit.score < _NEAR:
            return hits[: max(n, 1)]
    return hits


def at_most(hit: ConceptHit, score: float) -> ConceptHit:
    """Return a hit that scores no more than that."""
    return hit if hit.score <= score else hit._replace(score=score)


def ahead(
    best: ConceptHit, beside: Iterable[ConceptHit], hits: Iterable[ConceptHit]
) -> tuple[ConceptHit, ...]:
    """Return the best hit, those beside it, and the others; each concept once, scores falling."""
    by_concept: dict[int, ConceptHit] = {}
    for hit in (best, *beside, *hits):
        by_concept.setdefault(hit.concept, at_most(hit, best.score))
    return tuple(by_concept.values())


def since_split(steps: Sequence[Step]) -> Iterator[Step]:
    """Give the steps of an item since its list was split, the last step first."""
    return itertools.takewhile(lambda step: step.name not in _SPLIT, reversed(steps))


# --- kin ------------------------------------------------------------------------------------------

KIN = "kin"
"""The name among the evidence of what says all that the best hit does, and is above or below it."""

SIDE = "side"
"""Name of the step from a concept to the one below it that is on the side of the mention."""

_NEARLY = 0.05  # less than that behind the first a hit of a search is nearly as near
_UNSAID = KINDS | SMALL
_SIDES = frozenset(["left", "right", "bilateral", "both"])
_LETTERS = {"L": "left", "(L)": "left", "R": "right", "(R)": "right"}
_NO_SIDE = regex(rf"\b(?:left|right)[\s-]+(?:{forms_of('word behind no side')})\b", re.IGNORECASE)
_SPLIT = ("composite", "list")
_UNSPECIFIED = "unspecified"
_LEVELS = 3  # below a concept; a classification has its sides there
_MOST = 400  # concepts below one that are looked at


def among_kin(draft: Draft, names: NamesOfHits) -> Draft:
    """Put the hits of a draft in order among those above and below them."""
    return with_side(with_kin(draft, names), names)


def with_kin(draft: Draft, names: NamesOfHits) -> Draft:
    """Put a concept before one below it whose name says more, and mark what is no rival.

    "Mooren's corneal ulcer" stands above that of the left eye, and *Mooren ulcer* names no eye.
    ICD-10-CM calls a category and its only kind alike, and either is meant.
    """
    if draft.parts:
        return draft._replace(parts=tuple(with_kin(part, names) for part in draft.parts))
    name, concepts = names.name, names.concepts
    searched = draft.hits[:1] != () and draft.hits[0].found_by == "search"
    near = [hit for hit in draft.hits[:LOOKED_AT] if searched or hit.score == draft.score]
    if len(near) < 2 or not concepts.terminology.n_relations:
        return draft
    if searched and not _UNSAID.issuperset(near[0].against.left_over):
        return draft
    said, *words = (
        frozenset(form.split())
        for form in strong_forms([draft.string, *(name(hit).text for hit in near)])
    )
    kin = [*zip(near, words, strict=True)]
    best, own = kin[0]
    said -= _UNSAID
    general = [
        (hit, less)
        for hit, less in kin[1:]
        if searched
        and hit.score >= best.score - _NEARLY
        and said <= less < own
        and concepts.is_above(hit.concept, best.concept)
    ]
    if general:
        first = best, own = min(general, key=lambda pair: len(pair[1]))
        behind = ((at_most(hit, best.score), more) for hit, more in kin if hit is not best)
        kin = [first, *behind]
    marked = (
        hit._replace(evidence={**hit.evidence, KIN: 1.0})
        if (not searched or said <= own <= more) and concepts.are_kin(best.concept, [hit.concept])
        else hit
        for hit, more in kin[1:]
    )
    return draft._replace(hits=(best, *marked, *draft.hits[len(near) :]))


def with_side(draft: Draft, names: NamesOfHits) -> Draft:
    """Put the concept of the side that a mention says before the one above it, which says none.

    No name has all words of *L ankle sprain*, and so it is "Sprain of ankle". A classification has
    sides below: "Sprain of unspecified ligament of left ankle". Of those the one is meant that says
    most of the mention and nothing else, but for what is unspecified. Where two say as much, as the
    right breast of a woman and of a man do, it stays as it is.
    """
    if draft.parts:
        return draft._replace(parts=tuple(with_side(part, names) for part in draft.parts))
    if draft.nil or not draft.hits:
        return draft
    # What stands before a list was split speaks of the sides of the other items too.
    own = (step.before for step in since_split(draft.steps))
    texts = (draft.mention.text, draft.string, *own)
    letter = _LETTERS.get(draft.mention.text.split()[-1], "")
    sides = _SIDES & _words(_NO_SIDE.sub(" ", " ".join((*texts, letter))).replace("-", " "))
    best, concepts = draft.hits[0], names.concepts
    if len(sides) != 1:
        return draft
    (side,) = ("bilateral" if side == "both" else side for side in sides)
    above = concepts[best.concept]
    said = _words(" ".join((*texts, above.label)))
    if side in _words(above.label) or side in _words(names.name(best).text):
        return draft
    roots = [above.id]
    if _words(above.label) & {*_SIDES, _UNSPECIFIED}:  # of another side, or of none
        roots += concepts.terminology.parents(above.id)
    below = _below(roots, concepts) if concepts.terminology.n_relations else ()
    sided = [
        (ordinal, label, words) for ordinal, label in below if side in (words := _words(label))
    ]
    if not sided:  # or a candidate is called as what was found, but for the side
        rivals = ((hit.concept, concepts[hit.concept].label) for hit in draft.hits[1:])
        called = _words(above.label) | {side}
        sided = [(*hit, called) for hit in rivals if _words(hit[1]) == called]
    plain = [hit for hit in sided if not hit[2] - said - _unspecified(hit[1]) - {side}]
    if not plain and len(sided) == 1 and concepts.is_above(best.concept, sided[0][0]):
        # The only one on this side is "Otalgia, left ear"; beside a tumor of the brain is a kidney.
        plain = sided if sided[0][2] <= said | parts_of_the_body() | {side} else []
    mentioned = _words(draft.mention.text)
    shared = [(len(words & mentioned), len(words & said)) for *_, words in plain]
    plain = [hit for hit, n in zip(plain, shared, strict=True) if n == max(shared)]
    if not plain or not all(concepts.is_above(plain[0][0], hit[0]) for hit in plain[1:]):
        return draft
    ordinal, label, _ = plain[0]
    if ordinal in draft.forbidden or not names.allows(ordinal):
        return draft
    # The matched name stays that of the concept above, without the side among what is left over.
    left_over = tuple(word for word in best.against.left_over if word not in sides)
    against = best.against._replace(left_over=left_over, relation="close")
    first = best._replace(concept=ordinal, against=against)
    behind = best._replace(evidence={**best.evidence, KIN: 1.0})
    others = (behind, *(hit for hit in draft.hits[1:] if hit.concept != ordinal))
    steps = (*draft.steps, Step(SIDE, above.label, label))
    return draft._replace(hits=(first, *others), steps=steps)


def _words(text: str) -> frozenset[str]:
    return frozenset(strong_forms([text])[0].split())


def _unspecified(label: str) -> frozenset[str]:
    """Return the words of a label that say nothing, with the noun that it leaves unspecified.

    That is "ligament" in "unspecified ligament of ankle", and nothing in "unspecified traumatic
    cataract".
    """
    words = [*strong_forms([label])[0].split(), "of"]
    triples = zip(words, words[1:], words[2:], strict=False)
    nouns = (noun for before, noun, behind in triples if (before, behind) == (_UNSPECIFIED, "of"))
    return frozenset((_UNSPECIFIED, "side", *_UNSAID, *nouns))


def _below(ids: Sequence[str], concepts: ConceptTable) -> Iterator[tuple[int, str]]:
    """Yield the ordinals and labels of the concepts below some, level after level."""
    terminology, seen, level = concepts.terminology, {*ids}, [*ids]
    for _ in range(_LEVELS):
        children = (child for parent in level for child in terminology.children(parent))
        level = [child for child in dict.fromkeys(children) if child not in seen]
        seen.update(level)
        if len(seen) > _MOST:
            return
        for child in level:
            if (ordinal := terminology.ordinal(child)) is not None:
                yield ordinal, concepts[ordinal].label


# --- close hits -----------------------------------------------------------------------------------

LOOKED_AT = 8
"""Nearest concepts that are found at least and looked at most, so that k changes no order."""


def by_letters(
    nearest: dict[str, list[ConceptHit]],
    known: Container[str],
    names: Names,
    concepts: ConceptTable,
) -> None:
    """Put the hits of strings that no sieve knows in order by their letters too.

    Only hits nearly as near as the first are looked at; see `canonym.ranking.letters`. Scores fall:
    a hit that goes behind another gets at most its score.
    """
    strings = [text for text, hits in nearest.items() if len(hits) > 1 and text not in known]
    near: list[tuple[str, str, list[ConceptHit]]] = []
    for string, form in zip(strings, strong_forms(strings), strict=True):
        hits = nearest[string]
        least = hits[0].score - most_gain(form)
        close = [hit for hit in hits[:LOOKED_AT] if hit.score > least]
        if len(close) > 1 and all(hit.row >= 0 for hit in close):  # no means of names
            near.append((string, form, close))
    for string, form, close in near:
        texts = [
            (concepts if hit.row < names.n_base else names).name(hit.row).text for hit in close
        ]
        gains = [gain(form, text) for text in strong_forms(texts)]
        if any(gains):
            rest = nearest[string][len(close) :]
            nearest[string] = _ordered(close, gains, rest)


def _ordered(
    close: list[ConceptHit], gains: list[float], rest: list[ConceptHit]
) -> list[ConceptHit]:
    order = sorted(range(len(close)), key=lambda at: -(close[at].score + gains[at]))
    ordered: list[ConceptHit] = []
    for hit in (*(close[at] for at in order), *rest):
        ordered.append(at_most(hit, ordered[-1].score) if ordered else hit)
    return ordered


def is_name(part: Part, hits_of: Mapping[str, StringHits]) -> bool:
    """Tell whether a sieve knows a string in one of its writings."""
    lists = _DENIES.search(part.text) is not None  # *cough, no fever* is more than a cough
    sieved = (step for step in part.ways(Use.KNOWN) if not (lists and step.name == BROADER))
    read = (step.after for step in (*part.ways(Use.NEAR, Use.GLOSS), *sieved))
    texts = (part.text, *read, *(stated.text for stated in part.stated[:2]))
    if any(hits_of[text].sieve in SIEVE_STEPS for text in texts):
        return True
    return meant_guess(part, hits_of) is not None


def meant_guess(part: Part, hits_of: Mapping[str, StringHits]) -> str | None:
    """Return the first guess that a sieve knows, None where such guesses name other concepts."""
    guesses = (step.after for step in part.ways(Use.SOLE) if step.name == CORRECTION)
    known = [text for text in guesses if hits_of[text].sieve in SIEVE_STEPS]
    concepts = {hit.concept for text in known for hit in hits_of[text].hits[:1]}
    return known[0] if len(concepts) == 1 else None


def link_of(draft: Draft, batch: BatchHits) -> Link:
    """Turn numbers into what a caller receives."""
    candidates = []
    for hit in draft.hits:
        concept, name = batch.concepts[hit.concept], batch.name(hit)
        candidates.append(
            Candidate(
                concept.id,
                concept.label,
                hit.score,
                name.text,
                name.scope,
                concept.types,
                hit.found_by,
                hit.scores,
                hit.evidence,
                hit.against,
            )
        )
    return Link(
        draft.mention,
        tuple(candidates),
        draft.nil,
        draft.reason,
        draft.string,
        draft.steps,
        tuple(link_of(part, batch) for part in draft.parts),
        status=draft.status,
    )


def undivided(links: Iterable[Link]) -> list[Link]:
    """Return the links that are not divided, and the parts of the others, in order."""
    return [part for link in links for part in link.parts or (link,)]


def may_be_clauses(link: Link) -> bool:
    """Tell whether a link may say several things: no name is sure to fit it whole.

    Of *hypertension due to pheochromocytoma* a search may find the second alone.
    """
    if is_likely(link) and (not link.candidates or link.candidates[0].sieve in SIEVE_STEPS):
        return False
    relations = words_of_kind("word of a relation")
    is_open = any(word in relations and len(word) > 2 for word in link.left_over)
    return is_open or (link.confidence or 0.0) < _FITS


def may_be_parts(link: Link) -> bool:
    """Tell whether a link may say several things, or leaves over what may be another."""
    return may_be_clauses(link) or any(step.name == BROADER for step in link.steps)


def is_likely(link: Link) -> bool:
    """Tell whether a link is likelier right than wrong, as far as anybody can tell."""
    return link.confidence is None or link.confidence > EVEN


def why_none(plain: str, shortest: int) -> str:
    """Return why nothing was found for a normal form; shorter ones are not searched for."""
    if not plain:
        return "nothing to look up: no letters or digits are left"
    if n_letters(plain) < shortest:
        return f"no name is {plain!r}, and {len(plain)} characters are too few to search with"
    return "no name has anything in common with it"
