"""From the hits of a mention and its parts to one draft: whole, split, or NIL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from numbers import Real
from typing import NamedTuple

from canonym.errors import InvalidInput
from canonym.linking.search import ConceptHit, Draft, StringHits, at_most
from canonym.linking.settings import SIEVES
from canonym.mentions.abbreviations import stands_for_itself
from canonym.mentions.findings import finding_name
from canonym.mentions.glosses import LEAST_GAIN, is_code_for
from canonym.mentions.prepare import SHORT_FORM, Part, Prepared
from canonym.text import explain
from canonym.types import Document, Mention, Name, Step

NameOf = Callable[[ConceptHit], Name]
"""Gives the name that matched."""

NamesOf = Callable[[ConceptHit], Iterable[str]]
"""Gives all names of the concept."""

SPLIT_MARGIN = 0.02
"""By so much less than the whole a part may score; chosen on the train parts of two corpora."""

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


def parts_of(prepared: Prepared) -> tuple[Part, ...]:
    """Return everything to look up: the whole, and its parts if there are several."""
    return (prepared.whole, *prepared.parts) if len(prepared.parts) > 1 else (prepared.whole,)


def decide(
    mention: Mention,
    prepared: Prepared,
    found: Mapping[str, StringHits],
    min_score: float | None,
    forbidden: frozenset[int],
    name: NameOf,
    names_of: NamesOf,
) -> Draft:
    """Decide for one mention, by the hits of every string of `parts_of`.

    The mention is split when no sieve knows the whole, no part scores less than it by
    `SPLIT_MARGIN`, and the parts are not all the same concept. Best hits below `min_score` are NIL.
    """
    whole = _one(mention, prepared.whole, found, min_score, forbidden, name, names_of)
    if len(prepared.parts) < 2 or found[whole.string].sieve != "search":
        return whole
    parts = tuple(
        _one(
            replace(mention, text=part.text, ids=()),
            part,
            found,
            min_score,
            forbidden,
            name,
            names_of,
        )
        for part in prepared.parts
    )
    concepts = {None if part.nil or not part.hits else part.hits[0].concept for part in parts}
    if len(concepts) == 1 and None not in concepts:
        return whole  # "stage II and III cancer" is one concept
    if min(part.score for part in parts) <= whole.score - SPLIT_MARGIN:
        return whole
    nil = all(part.nil for part in parts)
    return Draft(
        mention,
        whole.string,
        nil=nil,
        reason="no part was found" if nil else "",
        steps=prepared.whole.steps,
        parts=parts,
    )


def _one(
    mention: Mention,
    part: Part,
    found: Mapping[str, StringHits],
    min_score: float | None,
    forbidden: frozenset[int],
    name: NameOf,
    names_of: NamesOf,
) -> Draft:
    best = _best(part, found, name, names_of)
    string, hits = best.string, best.hits
    reason = hits.reason
    if not reason and min_score is not None and hits.score < min_score:
        reason = f"the best score, {hits.score:.3f}, is below {min_score:g}"
    # How the string got the form in which a sieve knows it.
    forms = _SIEVE_STEPS.get(hits.sieve, ())
    made = (*part.steps, *best.steps)
    if any(step.name == SHORT_FORM for step in best.steps):  # it stands as it was written
        made = tuple(step for step in part.steps if step.name != "abbreviation")
    steps = (*made, *(explain(string, forms) if forms else ()))
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


def _best(part: Part, found: Mapping[str, StringHits], name: NameOf, names_of: NamesOf) -> _Best:
    """Choose between the strings of a part: the better found, on a tie the given one.

    Where no sieve knows the mention, glued words are taken apart before a misspelling is corrected.
    Then the first rewrite that a sieve knows counts, and else the only guess that one knows. A
    gloss counts where it is found better, or where the mention is but a code for it and sieves know
    both: a document that writes "myotonic dystrophy (DM)" means no other *DM*.
    """
    best = _Best(part.text, found[part.text])
    apart = None if best.is_known else _known_apart(part, found)
    for step in () if apart else part.alternatives:
        if found[step.after].score > best.hits.score:
            best = _Best(step.after, found[step.after], (step,))
    is_known = best.is_known
    if apart:
        best = apart._replace(hits=_before(apart.hits, best.hits))
    elif not is_known:
        best = _rewritten(part, best, found, name, names_of)
    for text in part.glosses:
        known_gloss = found[text].sieve in _SIEVE_STEPS and is_code_for(part.text, text)
        better = found[text].score > best.hits.score + LEAST_GAIN
        if known_gloss if is_known else better:
            best = _Best(text, found[text], (Step("gloss", part.text, text),))
    return best


def _known_apart(part: Part, found: Mapping[str, StringHits]) -> _Best | None:
    """Return the text with spaces put in, if a sieve knows it so: a slip is less likely."""
    spaced = (step for step in (*part.alternatives, *part.rewrites) if step.name == "space")
    known = (_Best(step.after, found[step.after], (step,)) for step in spaced)
    return next((best for best in known if best.is_known), None)


def _rewritten(
    part: Part,
    best: _Best,
    found: Mapping[str, StringHits],
    name: NameOf,
    names_of: NamesOf,
) -> _Best:
    """Return the first rewrite that a sieve knows, or the only such guess, or else the same.

    The name of a finding does not count where the name that a search finds says the same in plain
    words: a terminology may have "increased blood pressure" beside "hypertension".
    """
    for step in part.rewrites:
        known = _Best(step.after, found[step.after], (step,))
        if not known.is_known:
            continue
        if step.name == SHORT_FORM:
            counts = _stands(step, known.hits, names_of)
        else:
            counts = step.name != "finding" or not _says_the_same(best, step, name)
        if counts:
            return known._replace(hits=_before(known.hits, best.hits))
    guesses = [text for text in part.guesses if found[text].sieve in _SIEVE_STEPS]
    if len(guesses) == 1 and found[guesses[0]].score > best.hits.score:
        step = Step("spelling", part.text, guesses[0])
        return _Best(guesses[0], _before(found[guesses[0]], best.hits), (step,))
    return best


def _stands(short_form: Step, hits: StringHits, names_of: NamesOf) -> bool:
    """Tell whether a short form is verbatim a name, and means a concept that has it."""
    return hits.sieve == SIEVES[0].name and any(
        stands_for_itself(short_form.after, short_form.before, names_of(hit))
        for hit in hits.hits
        if hit.found_by == hits.sieve
    )


def _says_the_same(best: _Best, finding: Step, name: NameOf) -> bool:
    """Tell whether the nearest name is the finding in plain words."""
    return any(finding_name(name(hit).text) == finding.after for hit in best.hits.hits[:1])


def _before(known: StringHits, searched: StringHits) -> StringHits:
    """Return what a sieve knows, and then what a search found, as many hits as that.

    A string that is a mention of the batch too was searched with: that does not count here.
    """
    sieved = [hit for hit in known.hits if hit.found_by == known.sieve]
    taken = {hit.concept for hit in sieved}
    further = (at_most(hit, known.score) for hit in searched.hits if hit.concept not in taken)
    n = max(len(searched.hits), len(sieved))
    return known._replace(hits=tuple([*sieved, *further][:n]))
