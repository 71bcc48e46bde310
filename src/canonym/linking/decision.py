"""From the hits of a mention and its parts to one draft: whole, split, or NIL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from canonym.linking.hits import (
    NEAR,
    SIEVE_STEPS,
    ConceptHit,
    Draft,
    NameOf,
    NamesOfHits,
    StringHits,
    at_most,
    meant_guess,
    near_rivals,
)
from canonym.linking.settings import IDS, SIEVES
from canonym.mentions.abbreviations import stands_for_itself
from canonym.mentions.aliases import LEAST_GAIN, is_code_for
from canonym.mentions.binomials import GENUS, organism_of
from canonym.mentions.contrasts import apart_by
from canonym.mentions.drug_lines import is_same_line
from canonym.mentions.flags import FLAGS, consistent
from canonym.mentions.lists import holds_all, words_of
from canonym.mentions.measurements import finding_name
from canonym.mentions.opposites import SMALL
from canonym.mentions.phrasings import WORDING
from canonym.mentions.prepared import ABBREVIATION, DRUG_LINE, SHORT_FORM, TOLD, Part, Prepared, Use
from canonym.mentions.status import (
    Stated,
    said_by,
    spoken_of,
    status_beside_code,
    unsaid_operation,
    without_sign,
)
from canonym.text import explain
from canonym.text.characters import greek
from canonym.text.memo import strong_forms
from canonym.text.qualifiers import BROADER, QUALIFIERS, bare_name, without_lead_in
from canonym.types import CORRECTION, ONE_OF_SEVERAL, USUAL_READING, Mention, Step

SPLIT_MARGIN = 0.02
"""By so much less than the whole a part may score; chosen on the train parts of two corpora."""

NEGATED = "the mention is negated"
"""The reason of a mention that is NIL because its words say that it is not so."""

INVERTED = 0.95
"""So near is a name to two others with a comma between them where these are one name, inverted.

Chosen on pairs and triples of mentions of the train and dev parts of two corpora, and on names of
seven terminologies that were taken out.
"""

_HOLDS = 0.8  # a name that holds others is nearer than this
_REWORDED = SIEVES[1]  # a name in other words is as near as one in another normal form


class LookedUp(NamedTuple):
    """A mention with the hits of each of its strings, and the concepts that it may not find."""

    prepared: Prepared
    hits_of: Mapping[str, StringHits]
    forbidden: frozenset[int]


def decide(
    mention: Mention,
    prepared: Prepared,
    hits_of: Mapping[str, StringHits],
    forbidden: frozenset[int],
    names: NamesOfHits,
    min_score: float | None,
    *,
    keep_negated: bool = False,
) -> Draft:
    """Decide for one mention, by the hits of every string of `strings_of`.

    What a mention lists (`divide`) is the answer. A composite mention is split when no sieve knows
    the whole, and no part scores less than it by `SPLIT_MARGIN`. Parts that are all the same
    concept are one: "stage II and III cancer". Best hits below `min_score` are NIL, and so is what
    is negated, unless with `keep_negated`.
    """
    how = hits_of, forbidden, names, min_score

    def part_of(part: Part) -> Draft:
        own = replace(mention, text=part.text, ids=())
        return _one(own, part, *how, keep_negated)

    if prepared.items:
        drafts = (
            decide(replace(mention, text=text, ids=()), item, *how, keep_negated=keep_negated)
            for text, item in ((without_sign(item.text), item) for item in prepared.items)
        )
        parts = tuple(part for draft in drafts for part in draft.whole_or_parts)
        return _listing(mention, prepared, parts)
    whole = _one(mention, prepared.whole, *how, keep_negated)
    listed = tuple(map(part_of, prepared.listed))
    hits = hits_of.get(whole.string)  # a name that says the status of a concept is known
    if len(prepared.parts) < 2 or hits is None or hits.sieve != "search":
        is_list = bool(listed) and _is_list(whole, listed, prepared, names)
        return _listing(mention, prepared, listed) if is_list else whole
    line = any(step.name == DRUG_LINE for step in prepared.parts[0].steps)
    if line and _is_line(_Best(prepared.whole.text, hits_of[prepared.whole.text]), names.name):
        return whole
    parts = tuple(map(part_of, prepared.parts))
    least = min(part.score for part in parts)
    if listed and least < NEAR and _is_list(whole, listed, prepared, names):
        return _listing(mention, prepared, listed)
    if _are_one_concept(parts) or least <= whole.score - SPLIT_MARGIN:
        return whole
    return _divided(mention, prepared, parts)


def _is_list(whole: Draft, listed: Sequence[Draft], prepared: Prepared, names: NamesOfHits) -> bool:
    """Tell whether a mention lists names, by what a search finds for the whole.

    It does not where a name holds the whole: "cisplatin/paclitaxel regimen". Two names with a comma
    between them may be an inverted name, which comes near one of another concept.
    """
    concepts = [part.hits[0].concept if part.hits else None for part in listed]
    best = whole.hits[0] if whole.hits else None
    among = best is not None and best.concept in concepts
    if best is None or among or best.score < _HOLDS:
        return True
    if holds_all(
        names.texts(best),
        ((it.string, *names.texts(it.hits[0])) if it.hits else () for it in listed),
    ):
        return False
    if prepared.listing is None or not prepared.listing.is_pair:
        return True
    words, own = words_of(prepared.whole.text), words_of(names.name(best).text)
    return not (words <= own and (best.score >= INVERTED or len(own - words) < 2))


def _listing(mention: Mention, prepared: Prepared, parts: tuple[Draft, ...]) -> Draft:
    """Return the parts of a list, or the first where all are one concept: "HTN; hypertension"."""
    is_one = _are_one_concept(parts) and len({part.status for part in parts}) == 1
    if is_one and min(part.score for part in parts) >= NEAR:
        return parts[0]._replace(mention=mention)
    return _divided(mention, prepared, parts)


def _are_one_concept(parts: Sequence[Draft]) -> bool:
    concepts = {part.hits[0].concept if part.hits else None for part in parts}
    return len(concepts) == 1 and None not in concepts


def _divided(mention: Mention, prepared: Prepared, parts: tuple[Draft, ...]) -> Draft:
    nil = all(part.nil for part in parts)
    negated = NEGATED if all("negated" in part.status for part in parts) else ""
    said = {flag for part in parts for flag in part.status}
    return Draft(
        mention,
        prepared.whole.text,
        nil=nil,
        reason=(negated or "no part was found") if nil else "",
        steps=_stated_steps(prepared.whole),
        parts=parts,
        status=tuple(flag for flag in FLAGS if flag in said),
    )


def _one(
    mention: Mention,
    part: Part,
    hits_of: Mapping[str, StringHits],
    forbidden: frozenset[int],
    names: NamesOfHits,
    min_score: float | None,
    keep_negated: bool,
) -> Draft:
    best = _stated(part, hits_of, names) or _best(part, hits_of, names)
    hits = best.hits
    string = next((step.after for step in hits.steps if step.name == "space"), best.string)
    flags = () if mention.flags is None else mention.flags
    is_told = part.told != () and (
        any(step.name == TOLD for step in best.steps)
        # "neg H. pylori test", for which a search finds the germ
        or (not best.is_known and not said_by(_nearest(best, names.name)))
    )
    told = part.told if is_told else ()
    said = (*part.status, *told) if best.left is None else best.left
    if hits.sieve == IDS and not said:
        said = status_beside_code(string)
    status = consistent((*flags, *said))
    reason = NEGATED if "negated" in status and not keep_negated else hits.reason
    if not reason and "historical" in part.status and not best.is_known:
        reason = unsaid_operation(part.text, _nearest(best, names.name))
    if not reason and min_score is not None and hits.score < min_score:
        reason = f"the best score, {hits.score:.3f}, is below {min_score:g}"
    # How the string got the form in which a sieve knows it.
    forms = SIEVE_STEPS.get(hits.sieve, ())
    before = _stated_steps(part) if best.left is None else part.steps
    as_written = tuple(step for step in part.steps if step.name != ABBREVIATION)
    if as_written != part.steps and any(step.name == SHORT_FORM for step in best.steps):
        before, best = as_written, best._replace(steps=())
    forms_of = explain(string, forms) if forms else ()
    steps = (*before, *best.steps, *hits.steps, *forms_of)
    tied = hits.tied if hits.hits else ()
    draft = Draft(mention, string, hits.hits, bool(reason), reason, steps, tied=tied)
    return draft._replace(forbidden=forbidden, status=status)


def _stated_steps(part: Part) -> tuple[Step, ...]:
    """Return the steps to the text of a part, with that which took its words of status off."""
    off = [Step("status", stated.text, part.text) for stated in part.stated[:1]]
    return (*part.steps, *off)


class _Best(NamedTuple):
    """The string of a part that was found best, its hits, and the steps from the part's text.

    `left` is what a string that says the status of the mention itself leaves unsaid, else None.
    """

    string: str
    hits: StringHits
    steps: tuple[Step, ...] = ()
    left: tuple[str, ...] | None = None

    @property
    def is_known(self) -> bool:
        """Whether a sieve knows the string."""
        return self.hits.sieve in SIEVE_STEPS


def _stated(part: Part, hits_of: Mapping[str, StringHits], names: NamesOfHits) -> _Best | None:
    """Return the mention with its words of status where that is a name which says the same.

    A sieve knows it, as written or in another wording. Or a search finds such a name for it: of the
    concept that a sieve knows without those words, or of any, if no sieve does.
    """
    core, name = hits_of[part.text], names.name
    for stated in part.stated:
        hits = hits_of[stated.text]
        if hits.sieve in SIEVE_STEPS and _says(stated, hits, name):
            known = hits._replace(hits=_before(hits, core).hits)
            return _Best(stated.text, known, _wording(part, stated), stated.left)
    if not part.stated:
        return None
    written = part.stated[0]
    hits = hits_of[written.text]
    if core.sieve in SIEVE_STEPS:
        return _stated_of_concept(part, hits_of, names) if core.hits else None
    if hits.score <= core.score or not _says(written, hits, name):
        return None
    # *no JVD* is not an "Acquired absence of the uterus", however near that name lies.
    shared = words_of(part.text) & words_of(name(hits.hits[0]).text)
    is_guess = not shared or _best(part, hits_of, names).is_known
    return None if is_guess else _Best(written.text, hits, (), written.left)


def _stated_of_concept(
    part: Part, hits_of: Mapping[str, StringHits], names: NamesOfHits
) -> _Best | None:
    """Return the name that says the status of a concept: *hx gout*, "Personal history of gout"."""
    core, written = hits_of[part.text], part.stated[0]
    own = set(strong_forms(names.texts(core.hits[0])))
    hits = (hit for stated in part.stated[:2] for hit in hits_of[stated.text].hits)
    for hit in (hit for hit in hits if hit.concept != core.hits[0].concept):
        text = names.name(hit).text
        if said_by(text) == written.says and not own.isdisjoint(strong_forms(spoken_of(text))):
            name, score = _REWORDED.name, _REWORDED.score
            hit = hit._replace(score=score, found_by=name, scores={name: score})
            known = _before(StringHits((hit,), name), core)
            return _Best(text, known, (Step(WORDING, written.text, text),), written.left)
    return None


def _wording(part: Part, stated: Stated) -> tuple[Step, ...]:
    """Return the step from a mention to a name that says its status."""
    written = part.stated[0].text
    if stated.text == written:
        return ()
    return (Step("status" if stated.left else WORDING, written, stated.text),)


def _says(stated: Stated, hits: StringHits, name: NameOf) -> bool:
    """Tell whether the best name says a status in its own words."""
    return any(said_by(name(hit).text) == stated.says for hit in hits.hits[:1])


def _best(part: Part, hits_of: Mapping[str, StringHits], names: NamesOfHits) -> _Best:
    """Choose between the readings of a part: the better found, on a tie the earlier one.

    An id is what it says. Where no sieve knows the mention, the first reading that one knows
    counts, and else the only guess that one knows. A gloss counts where it is found better, or
    where the mention is a mere code for it and sieves know both: "myotonic dystrophy (DM)" leaves
    no other *DM*.
    """
    name = names.name
    written = best = _Best(part.text, hits_of[part.text])
    if best.hits.sieve == IDS:
        return best
    if not written.is_known and (organism := _organism(part, hits_of)):
        return organism
    # A sieve that knows the text as it is decides: "Unspecified asthma" may be a name.
    for step in () if best.is_known else part.ways(Use.NEAR):
        other = _Best(step.after, hits_of[step.after], _way_to(step, part))
        if _may_replace(other.steps, written, name) and _is_better(other, best, name):
            best = other
    is_known = best.is_known
    if not is_known:
        best = _rewritten(part, best, hits_of, names)
    for text in (step.after for step in part.ways(Use.GLOSS)):
        known_gloss = hits_of[text].sieve in SIEVE_STEPS and is_code_for(part.text, text)
        better = hits_of[text].score > best.hits.score + LEAST_GAIN
        if known_gloss if is_known else better:
            best = _Best(text, hits_of[text], (Step("gloss", part.text, text),))
    return best if best.is_known else _other_organism(part, best, name)


def _is_better(other: _Best, best: _Best, name: NameOf) -> bool:
    """Tell whether a reading counts rather than what is best so far."""
    step = other.steps[-1].name
    is_nearer = other.hits.score > best.hits.score
    if step == "greek":
        # An encoder passes over a letter that no name is written with.
        nearest = _nearest(best, name)
        return is_nearer or nearest.isascii() or greek(nearest) == nearest
    if best.is_known:  # and what means more is no better
        return is_nearer and other.is_known and step != BROADER
    # "gastrointestinal (GI) bleeding" says a word twice, "patient with gout" is about a gout.
    is_noted = step == QUALIFIERS and without_lead_in(best.string) != best.string
    if step == ABBREVIATION or is_noted:
        return True
    if step == USUAL_READING and not _has_short_form(best, other, name):
        return True
    return is_nearer or (step in (QUALIFIERS, BROADER, "space") and other.is_known)


def _organism(part: Part, hits_of: Mapping[str, StringHits]) -> _Best | None:
    """Return the organism of a short name, if sieves know any; several are tied."""
    known = [
        (step, hits_of[step.after])
        for step in part.ways(Use.NEAR)
        if step.name == GENUS and hits_of[step.after].sieve in SIEVE_STEPS
    ]
    if not known:
        return None
    known.sort(key=lambda pair: -pair[1].score)
    step, hits = known[0]
    if len(known) == 1:
        return _Best(step.after, hits, (step,))
    sieved: dict[int, ConceptHit] = {}
    for _, hits in known:
        for hit in (*hits.hits, *hits.tied):
            if hit.found_by == hits.sieve:
                sieved.setdefault(hit.concept, hit)
    tied = tuple(sieved.values())
    further = (at_most(hit, tied[-1].score) for hit in hits.hits if hit.concept not in sieved)
    n = max(len(hits_of[part.text].hits), *(len(hits.hits) for _, hits in known))
    merged = hits._replace(
        hits=(*tied, *further)[:n], tied=tied if len(tied) > 1 else (), reason=""
    )
    return _Best(step.after, merged, (step,))


def _other_organism(part: Part, best: _Best, name: NameOf) -> _Best:
    """Leave out what a search finds for the short name of an organism and is no such organism.

    *H. pylori* is near *Pylorus* in letters alone.
    """
    organism = organism_of(part.text, part.ways(Use.NEAR))
    if organism is None:
        return best
    fitting = tuple(hit for hit in best.hits.hits if organism.may_be(name(hit).text))
    if len(fitting) == len(best.hits.hits):
        return best
    reason = "" if fitting else f"no name has the genus or the epithet of {part.text!r}"
    return best._replace(hits=best.hits._replace(hits=fitting, reason=reason, tied=()))


def _may_replace(way: Iterable[Step], written: _Best, name: NameOf) -> bool:
    """Tell whether the name in a drug line may replace the line as it is written.

    It may not where the line is a name, or has the drug and the amount of the name found for it:
    some terminologies have "ibuprofen 600 MG Oral Tablet" beside "ibuprofen".
    """
    if all(step.name not in (DRUG_LINE, GENUS) for step in way):
        return True
    return not written.is_known and not _is_line(written, name)


def _is_line(written: _Best, name: NameOf) -> bool:
    """Tell whether the nearest name is the same drug line."""
    return any(is_same_line(name(hit).text, written.string) for hit in written.hits.hits[:1])


def _way_to(step: Step, part: Part) -> tuple[Step, ...]:
    """Return the steps from the text of a part to a reading, the last of which is known."""
    way = [step]
    known = part.ways(Use.NEAR, Use.KNOWN) if step.before != part.text else ()
    for before in reversed(known):
        if way[0].before != part.text and before.after == way[0].before:
            way.insert(0, before)
    return tuple(way)


def _has_short_form(best: _Best, read: _Best, name: NameOf) -> bool:
    """Tell whether the nearest name has one of the short forms that a reading writes out.

    Else an encoder passed over them: "HTN, uncontrolled" is no "uncontrolled rage".
    """
    step = read.steps[-1]
    short = words_of(step.before) - words_of(step.after)
    return not short.isdisjoint(words_of(_nearest(best, name)))


def _rewritten(
    part: Part, best: _Best, hits_of: Mapping[str, StringHits], names: NamesOfHits
) -> _Best:
    """Return the first reading that a sieve knows, or such a guess, or else the same.

    The name of a finding does not count where the name that a search finds says the same in plain
    words: a terminology may have "increased blood pressure" beside "hypertension".
    """
    readings = _known_readings(part, hits_of)
    for step in part.ways(Use.KNOWN):
        known = _Best(step.after, hits_of[step.after], _way_to(step, part))
        if not known.is_known:
            continue
        if step.name == SHORT_FORM:
            counts = _stands(step, known.hits, names)
        elif step.name == USUAL_READING:
            counts = len(readings) == 1
        elif known.steps[0].name == BROADER:
            counts = _is_case(part, known, best, names)
        else:
            finding = finding_name(_nearest(best, names.name))
            other = step.name == "finding" and finding == step.after
            counts = not other or known.hits.hits[0].concept == best.hits.hits[0].concept
        if counts:
            return known._replace(hits=_before(known.hits, best.hits))
    guess = meant_guess(part, hits_of)
    if guess is not None and hits_of[guess].score > best.hits.score:
        step = Step(CORRECTION, part.text, guess)
        return _Best(guess, _before(hits_of[guess], best.hits), (step,))
    read = Step(ONE_OF_SEVERAL, part.text, " | ".join(readings.values()))
    return best._replace(steps=(*best.steps, read)) if len(readings) > 1 else best


def _is_case(part: Part, known: _Best, best: _Best, names: NamesOfHits) -> bool:
    """Tell whether a mention is a case of what is known without its details.

    It is not where a near name says such a detail and most of the rest, or the nearest one
    something else than the rest; nor where the concept is called after the opposite detail.
    """
    name, plain = names.name, words_of(known.steps[0].after)
    rest = part.text.partition(known.steps[0].after)[2]
    details, is_beside = words_of(part.text) - plain, rest[:2].strip().isalnum()
    called = [words_of(text) for hit in known.hits.hits[:1] for text in names.texts(hit)]
    if any(apart_by(details, own - plain) for own in called):
        return False
    near = [hit for hit in near_rivals(best.hits.hits) if not hit.against.contradictions]
    for place, said in enumerate(words_of(name(hit).text) - SMALL for hit in near):
        is_most = any(2 * len(own & said) > len(own) for own in (plain, *called))
        if details & said and (is_most or (is_beside and not place)):
            return False
    if not near or near[0].score < NEAR or near[0].concept == known.hits.hits[0].concept:
        return True
    return (bare := bare_name(name(near[0]).text)) is not None and words_of(bare.text) == plain


def _known_readings(part: Part, hits_of: Mapping[str, StringHits]) -> dict[int, str]:
    """Return the readings that sieves know, the first of each concept."""
    read = (step.after for step in part.ways(Use.KNOWN) if step.name == USUAL_READING)
    known = [text for text in read if hits_of[text].sieve in SIEVE_STEPS]
    return {hits_of[text].hits[0].concept: text for text in reversed(known)}


def _stands(short_form: Step, hits: StringHits, names: NamesOfHits) -> bool:
    """Tell whether a short form is verbatim a name, and means a concept that has it."""
    return hits.sieve == SIEVES[0].name and any(
        stands_for_itself(short_form.after, short_form.before, names.texts(hit))
        for hit in hits.hits
        if hit.found_by == hits.sieve
    )


def _nearest(best: _Best, name: NameOf) -> str:
    """Return the name that is nearest to a string, "" without one."""
    return name(best.hits.hits[0]).text if best.hits.hits else ""


def _before(known: StringHits, searched: StringHits) -> StringHits:
    """Return what a sieve knows, and then what a search found, as many hits as that.

    A string that is a mention of the batch too was searched with: that does not count here.
    """
    sieved = [hit for hit in known.hits if hit.found_by == known.sieve]
    taken = {hit.concept for hit in sieved}
    further = (at_most(hit, known.score) for hit in searched.hits if hit.concept not in taken)
    n = max(len(searched.hits), len(sieved))
    return known._replace(hits=tuple([*sieved, *further][:n]))
