"""From the hits of a mention and its parts to one draft: whole, split, or NIL."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import NamedTuple, Protocol

from canonym.errors import InvalidInput
from canonym.linking.search import ConceptHit, Draft, StringHits, at_most
from canonym.linking.settings import SIEVES
from canonym.mentions.findings import finding_name
from canonym.mentions.glosses import LEAST_GAIN, is_code_for
from canonym.mentions.lists import is_code, items_of, may_hold_joints
from canonym.mentions.prepare import Part, Prepared
from canonym.text import UNORDERED, explain, normalise
from canonym.types import Document, Mention, Name, Step


class Names(Protocol):
    """What a decision asks of the names of a terminology."""

    def name(self, hit: ConceptHit) -> Name:
        """Return the name that matched."""
        ...

    def texts(self, hit: ConceptHit) -> Sequence[str]:
        """Return the names of the concept."""
        ...


SPLIT_MARGIN = 0.02
"""By so much less than the whole a part may score; chosen on the train parts of two corpora."""

NEAR = 0.9
"""From this score on what a search finds may be an item of a list; chosen like `INVERTED`."""

INVERTED = 0.95
"""So near is a name to two others with a comma between them where these are one name, inverted.

Chosen on pairs and triples of mentions of the train and dev parts of two corpora, and on names of
seven terminologies that were taken out.
"""

_HOLDS = 0.8  # a name that holds others is nearer than this
_CONJUNCTIONS = frozenset(["and", "or"])
_COMBINED = frozenset(
    ["combination", "drug", "combined", "regimen", "mixture", "product", "fixed", "dose", "with"]
)
"""Words of a name that holds others and says no more: "telmisartan amlodipine combination"."""

_SIEVE_STEPS = {sieve.name: sieve.steps for sieve in SIEVES}


def as_mention(given: str | Mention | None) -> Mention:
    """Take a string for a mention of that text, and a missing value of pandas for an empty one.

    Anything else but a mention is refused.
    """
    if isinstance(given, Mention):
        return given
    if isinstance(given, str):
        return Mention(given)
    if is_missing(given):
        return Mention("")
    raise InvalidInput(
        f"a mention is a string or a Mention, not {type(given).__name__} ({given!r:.80})"
    )


def is_missing(given: object) -> bool:
    """Tell whether something is None, NaN, or the NA or NaT of pandas."""
    if given is None or (isinstance(given, Real) and given != given):
        return True
    return type(given).__name__ in {"NAType", "NaTType"}


def as_documents(mentions: Iterable[str | Mention | None]) -> Iterator[Document]:
    """Return a document without a text for each mention; refuse what is no list."""
    if isinstance(mentions, str) or not isinstance(mentions, Iterable):
        what = "one string" if isinstance(mentions, str) else type(mentions).__name__
        raise InvalidInput(
            f"{what} was given ({mentions!r:.80}); expected a list of mentions: link([name])"
        )
    return (Document("", "", (as_mention(mention),)) for mention in mentions)


def as_texts(given: Iterable[str | Document]) -> Iterator[Document]:
    """Return a document for each text; refuse what is no list of texts or documents."""
    if isinstance(given, str | Document) or not isinstance(given, Iterable):
        raise InvalidInput(
            f"{given!r:.80} is no list: annotate_documents takes a list of texts or documents, "
            "and annotate takes one"
        )
    return map(as_text, given)


def as_text(given: str | Document) -> Document:
    """Return a text as a document without mentions; those that a document has are left out."""
    if isinstance(given, Document) and isinstance(given.text, str):
        return replace(given, mentions=())
    if isinstance(given, str):
        return Document("", given)
    raise InvalidInput(f"a text is a string or a Document, not {type(given).__name__}")


def parts_of(prepared: Prepared) -> Iterator[Part]:
    """Yield everything to look up: the whole, its parts if there are several, and all items."""
    yield prepared.whole
    if len(prepared.parts) > 1:
        yield from prepared.parts
    for item in prepared.items:
        yield from parts_of(item)


def listed_of(prepared: Prepared) -> Iterator[Part]:
    """Yield what a mention lists, once that is known."""
    yield from prepared.listed
    for item in prepared.items:
        yield from listed_of(item)


def names_of(prepared: Prepared) -> Iterator[str]:
    """Yield what is looked up in the sieves alone: whether a mention lists it depends on that."""
    for name in prepared.names.values():
        yield from (*name.texts, *name.looked_up)
    for item in prepared.items:
        yield from names_of(item)


def divide(prepared: Prepared, found: Mapping[str, StringHits], names: Names) -> Prepared:
    """Return a mention with what it lists, by the names that sieves know.

    A mention that a sieve knows is no list. Between separators that stand in names as well, all
    that is listed is a name; between others, anything. Where the syntax of a composite mention
    gives names too, as in "breast and ovarian cancer", these count.
    """
    if not prepared.may_list:
        return prepared
    items = tuple(divide(item, found, names) for item in prepared.items)
    if prepared.is_cut:
        return prepared._replace(items=items)
    if _is_name(prepared.whole, found):
        if items and prepared.is_sure and _only_reads_alike(prepared, found, names):
            return prepared._replace(items=items)
        return prepared._replace(items=(), listing=None, names={})
    if items and (prepared.is_sure or _are_mostly_names(items, found)):
        return prepared._replace(items=items)
    return _with_listed(prepared, found)


def _only_reads_alike(prepared: Prepared, found: Mapping[str, StringHits], names: Names) -> bool:
    """Tell whether a sieve knows a list only because it reads no separators.

    "migraine; headache" are two names, though "migraine headache" is one.
    """
    hits = found[prepared.whole.text].hits[:1]
    known = all(_is_name(item.whole, found) for item in prepared.items)
    return known and not any(items_of(names.name(hit).text) for hit in hits)


def _are_mostly_names(items: Sequence[Prepared], found: Mapping[str, StringHits]) -> bool:
    """Tell whether lines are items of a list, and not a name that was wrapped."""
    known = sum(bool(item.listed) or _is_name(item.whole, found) for item in items)
    capital = all(item.text[:1].isupper() for item in items)
    return 2 * known > len(items) or (capital and known > 0) or all(is_code(i.text) for i in items)


def _with_listed(prepared: Prepared, found: Mapping[str, StringHits]) -> Prepared:
    """Add the names that a mention lists, none where it does not."""
    whole = prepared.whole
    listing, names = prepared.listing, prepared.names
    prepared = prepared._replace(items=(), names={})
    if listing is None:
        return prepared
    if len(prepared.parts) > 1 and all(_is_name(part, found) for part in prepared.parts):
        return prepared
    cut = listing.cut(lambda text: _is_name(names[text], found))
    if cut is None:
        return prepared
    steps = (*whole.steps, Step("list", whole.text, " | ".join(cut.names)))
    listed = tuple(names[name]._replace(steps=steps) for name in cut.names)
    return prepared._replace(listed=listed, is_near=cut.is_near)


def _is_name(part: Part, found: Mapping[str, StringHits]) -> bool:
    """Tell whether a sieve knows a string in one of its writings."""
    texts = (*part.texts, *(step.after for step in part.rewrites))
    if any(found[text].sieve in _SIEVE_STEPS for text in texts):
        return True
    return sum(found[text].sieve in _SIEVE_STEPS for text in part.guesses) == 1


def decide(
    mention: Mention,
    prepared: Prepared,
    found: Mapping[str, StringHits],
    min_score: float | None,
    forbidden: frozenset[int],
    names: Names,
) -> Draft:
    """Decide for one mention, by the hits of every string of `parts_of`.

    What a mention lists (`divide`) is the answer. A composite mention is split when no sieve knows
    the whole, and no part scores less than it by `SPLIT_MARGIN`. Parts that are all the same
    concept are one: "stage II and III cancer". Best hits below `min_score` are NIL.
    """

    def part_of(part: Part) -> Draft:
        own = replace(mention, text=part.text, ids=())
        return _one(own, part, found, min_score, forbidden, names)

    if prepared.items:
        drafts = (
            decide(
                replace(mention, text=item.text, ids=()), item, found, min_score, forbidden, names
            )
            for item in prepared.items
        )
        parts = tuple(part for draft in drafts for part in draft.whole_or_parts)
        return _listing(mention, prepared, parts)
    whole = _one(mention, prepared.whole, found, min_score, forbidden, names)
    listed = tuple(map(part_of, prepared.listed))
    if len(prepared.parts) < 2 or found[whole.string].sieve != "search":
        is_list = bool(listed) and _is_list(whole, listed, prepared, names)
        return _listing(mention, prepared, listed) if is_list else whole
    parts = tuple(map(part_of, prepared.parts))
    least = min(part.score for part in parts)
    if listed and least < NEAR and _is_list(whole, listed, prepared, names):
        return _listing(mention, prepared, listed)
    if _are_one_concept(parts) or least <= whole.score - SPLIT_MARGIN:
        return whole
    return _divided(mention, prepared, parts)


def _is_list(whole: Draft, listed: Sequence[Draft], prepared: Prepared, names: Names) -> bool:
    """Tell whether a mention lists names, by what a search finds for the whole.

    It does not where a name holds the whole: "cisplatin/paclitaxel regimen". Two names with a comma
    between them may be an inverted name, which comes near one of another concept. Where not all are
    names, a list is nearest to one of them, and each of them is nearer to its own.
    """
    concepts = [part.hits[0].concept if part.hits else None for part in listed]
    best = whole.hits[0] if whole.hits else None
    among = best is not None and best.concept in concepts
    if best is not None and not among and best.score >= _HOLDS:
        if _is_held(best, listed, names):
            return False
        if prepared.listing is not None and prepared.listing.is_pair:
            words, own = _words(prepared.whole.text), _words(names.name(best).text)
            if best.score >= INVERTED or (words <= own and len(own - words) < 2):
                return False
    if not prepared.is_near:
        return True
    least = min(part.score for part in listed)
    return among and len({*concepts}) == len(concepts) and least >= NEAR and least > whole.score


def _words(text: str) -> frozenset[str]:
    return frozenset(normalise(text, UNORDERED).split()) - _CONJUNCTIONS


def _is_held(hit: ConceptHit, listed: Sequence[Draft], names: Names) -> bool:
    """Tell whether a name of a concept holds names of all that is listed, and no more.

    "L-DOPA/benserazide" is what "benserazide, levodopa drug combination" names.
    """
    of_parts = [
        {_words(part.string), *map(_words, names.texts(part.hits[0]))} if part.hits else set()
        for part in listed
    ]
    for text in names.texts(hit):
        words = _words(text)
        if not (may_hold_joints(text) or "-" in text or words & _COMBINED):
            continue  # "lung cancer" does not hold "lung and cancer"
        held = [[own for own in of_part if own and own <= words] for of_part in of_parts]
        if all(held) and words <= _COMBINED.union(*itertools.chain.from_iterable(held)):
            return True
    return False


def _listing(mention: Mention, prepared: Prepared, parts: tuple[Draft, ...]) -> Draft:
    """Return the parts of a list, or the first where all are one concept: "HTN; hypertension"."""
    if _are_one_concept(parts):
        return parts[0]._replace(mention=mention)
    return _divided(mention, prepared, parts)


def _are_one_concept(parts: Sequence[Draft]) -> bool:
    concepts = {None if part.nil or not part.hits else part.hits[0].concept for part in parts}
    return len(concepts) == 1 and None not in concepts


def _divided(mention: Mention, prepared: Prepared, parts: tuple[Draft, ...]) -> Draft:
    nil = all(part.nil for part in parts)
    reason = "no part was found" if nil else ""
    whole = prepared.whole
    return Draft(mention, whole.text, nil=nil, reason=reason, steps=whole.steps, parts=parts)


def _one(
    mention: Mention,
    part: Part,
    found: Mapping[str, StringHits],
    min_score: float | None,
    forbidden: frozenset[int],
    names: Names,
) -> Draft:
    best = _best(part, found, names)
    string, hits = best.string, best.hits
    reason = hits.reason
    if not reason and min_score is not None and hits.score < min_score:
        reason = f"the best score, {hits.score:.3f}, is below {min_score:g}"
    # How the string got the form in which a sieve knows it.
    forms = _SIEVE_STEPS.get(hits.sieve, ())
    steps = (*part.steps, *best.steps, *(explain(string, forms) if forms else ()))
    tied = hits.tied if hits.hits else ()
    return Draft(
        mention, string, hits.hits, bool(reason), reason, steps, tied=tied, forbidden=forbidden
    )


class _Best(NamedTuple):
    """The string of a part that was found best, its hits, and the steps from the part's text."""

    string: str
    hits: StringHits
    steps: tuple[Step, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether a sieve knows the string."""
        return self.hits.sieve in _SIEVE_STEPS


def _best(part: Part, found: Mapping[str, StringHits], names: Names) -> _Best:
    """Choose between the strings of a part: the better found, on a tie the given one.

    Where no sieve knows the mention, the first rewrite that a sieve knows counts, and else the only
    guess at a misspelling that one knows. A gloss counts where it is found better, or where the
    mention is but a code for it and sieves know both: a document that writes "myotonic dystrophy
    (DM)" means no other *DM*.
    """
    best = _Best(part.text, found[part.text])
    for step in part.alternatives:
        if found[step.after].score > best.hits.score:
            best = _Best(step.after, found[step.after], (step,))
    is_known = best.is_known
    if not is_known:
        best = _rewritten(part, best, found, names)
    for text in part.glosses:
        known_gloss = found[text].sieve in _SIEVE_STEPS and is_code_for(part.text, text)
        better = found[text].score > best.hits.score + LEAST_GAIN
        if known_gloss if is_known else better:
            best = _Best(text, found[text], (Step("gloss", part.text, text),))
    return best


def _rewritten(part: Part, best: _Best, found: Mapping[str, StringHits], names: Names) -> _Best:
    """Return the first rewrite that a sieve knows, or the only such guess, or else the same.

    The name of a finding does not count where the name that a search finds says the same in plain
    words: a terminology may have "increased blood pressure" beside "hypertension".
    """
    for step in part.rewrites:
        known = _Best(step.after, found[step.after], (step,))
        if known.is_known and not (step.name == "finding" and _says_the_same(best, step, names)):
            return known._replace(hits=_before(known.hits, best.hits))
    guesses = [text for text in part.guesses if found[text].sieve in _SIEVE_STEPS]
    if len(guesses) == 1 and found[guesses[0]].score > best.hits.score:
        step = Step("spelling", part.text, guesses[0])
        return _Best(guesses[0], _before(found[guesses[0]], best.hits), (step,))
    return best


def _says_the_same(best: _Best, finding: Step, names: Names) -> bool:
    """Tell whether the nearest name is the finding in plain words."""
    return any(finding_name(names.name(hit).text) == finding.after for hit in best.hits.hits[:1])


def _before(known: StringHits, searched: StringHits) -> StringHits:
    """Return what a sieve knows, and then what a search found, as many hits as that.

    A string that is a mention of the batch too was searched with: that does not count here.
    """
    sieved = [hit for hit in known.hits if hit.found_by == known.sieve]
    taken = {hit.concept for hit in sieved}
    further = (at_most(hit, known.score) for hit in searched.hits if hit.concept not in taken)
    n = max(len(searched.hits), len(sieved))
    return known._replace(hits=tuple([*sieved, *further][:n]))
