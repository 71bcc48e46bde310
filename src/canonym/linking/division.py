"""The items of a mention: by the names that sieves know, and by what the judge says of clauses.

*OCD with tics*, *croup, infant crying lots* and *FB in eye - grinding metal* say several things,
and what stands between them stands in names as well. Where sieves do not know all of them, and no
name is sure to fit, the clauses are linked each by itself, and a judge of its own tells what is
likelier: several things, or one name (`canonym.linking.clauses`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from canonym.linking.clauses import how_several
from canonym.linking.hits import (
    EVEN,
    SIEVE_STEPS,
    NamesOfHits,
    StringHits,
    is_likely,
    is_name,
    may_be_clauses,
    undivided,
)
from canonym.linking.settings import IDS
from canonym.mentions.clauses import all_clauses, secondary
from canonym.mentions.cues import STATES, find_cues
from canonym.mentions.english import LEAST, is_english
from canonym.mentions.flags import FLAGS, consistent
from canonym.mentions.lists import (
    holds_all,
    is_code,
    items_of,
    may_stand_alone,
    qualifies,
    words_of,
)
from canonym.mentions.phrasings import WORDING
from canonym.mentions.prepared import Prepared
from canonym.mentions.told import flags_around, status_of_listed
from canonym.text.qualifiers import BROADER, without_heading
from canonym.text.shape import LETTERS
from canonym.text.words import words_of_kind
from canonym.types import USUAL_READING, Document, Link, Mention, Step

_OF_NOTES = frozenset([USUAL_READING, "shorthand"])  # steps
_EDGES = " ,;:()-\u2013\u2014"
_DETAIL = 2  # words of a clause that may be a detail alone: "type II", "left eye"


def divide(prepared: Prepared, hits_of: Mapping[str, StringHits], names: NamesOfHits) -> Prepared:
    """Return a mention that may list names with those that it lists, by what sieves know.

    A mention that a sieve knows is no list. Between separators that stand in names as well, all
    that is listed is a name; between others, anything. Where the syntax of a composite mention
    gives names too, as in "breast and ovarian cancer", these count.
    """
    items = tuple(
        divide(item, hits_of, names) if item.may_list else item for item in prepared.items
    )
    if prepared.is_cut:
        return prepared._replace(items=items)
    if hits_of[prepared.whole.text].sieve == IDS:
        return prepared._replace(items=(), listing=None, names={})  # "M10.9 | gout" is one thing
    if is_name(prepared.whole, hits_of):
        if items and prepared.is_sure and _only_reads_alike(prepared, hits_of, names):
            return prepared._replace(items=items)
        return prepared._replace(items=(), listing=None, names={})
    if items and (prepared.is_sure or _are_items(items, hits_of)):
        return prepared._replace(items=items)
    return _with_listed(prepared, hits_of)


def _only_reads_alike(
    prepared: Prepared, hits_of: Mapping[str, StringHits], names: NamesOfHits
) -> bool:
    """Tell whether a sieve knows a list only because it reads no separators.

    "migraine; headache" are two names, though "migraine headache" is one.
    """
    hits = hits_of[prepared.whole.text].hits[:1]
    known = all(is_name(item.whole, hits_of) for item in prepared.items)
    return known and not any(items_of(names.name(hit).text) for hit in hits)


def _are_items(items: Sequence[Prepared], hits_of: Mapping[str, StringHits]) -> bool:
    """Tell whether lines or clauses are items of a list, and not a name with a break in it."""
    unknown = [
        item for item in items if not (item.items or item.listed or is_name(item.whole, hits_of))
    ]
    if any(qualifies(item.text) for item in items[1:] if not item.whole.stated):
        return False  # "asthma - allergic"
    return not unknown or (len(unknown) == len(items) and all(is_code(it.text) for it in unknown))


def _is_remark(text: str) -> bool:
    """Tell whether a text has words of everyday English alone, and short ones."""
    return all(len(word) < LEAST or is_english(word) for word in text.split()) and text.islower()


def _with_listed(prepared: Prepared, hits_of: Mapping[str, StringHits]) -> Prepared:
    """Add the names that a mention lists, none where it does not."""
    whole = prepared.whole
    listing, names = prepared.listing, prepared.names
    prepared = prepared._replace(items=(), names={})
    if listing is None:
        return prepared
    if len(prepared.parts) > 1 and all(is_name(part, hits_of) for part in prepared.parts):
        return prepared
    listed = listing.cut(lambda text: is_name(names[text], hits_of))
    if listed is None:
        return prepared
    steps = (*whole.steps, Step("list", whole.text, " | ".join(listed)))
    said = status_of_listed(whole, [listing.places.get(name) for name in listed])
    parts = (
        part._replace(steps=steps, status=part.status if part.stated else own)
        for part, own in zip(map(names.__getitem__, listed), said, strict=True)
    )
    return prepared._replace(listed=tuple(parts))


# --- clauses --------------------------------------------------------------------------------------


class Proposal(NamedTuple):
    """The clauses of a link, each linked by itself, and what stands before each.

    `at` and `place` are the link, and the part of it, that may be divided: `whole`.
    """

    at: int
    place: int
    whole: Link
    told: tuple[Link, ...]
    joints: tuple[str, ...]


def by_parts(
    links: Sequence[Link],
    documents: Sequence[Document],
    link_all: Callable[[Sequence[Document]], Iterable[Link]],
    read: Callable[[Sequence[str]], Sequence[Sequence[Link]]],
    least: float,
) -> list[Link]:
    """Return links, with those of their clauses or of the names within them where these fit better.

    See `by_clause` and `with_names_within`.
    """
    return with_names_within(by_clause(links, documents, link_all, least), read, least)


def by_clause(
    links: Sequence[Link],
    documents: Iterable[Document],
    link_all: Callable[[Sequence[Document]], Iterable[Link]],
    least: float,
) -> list[Link]:
    """Return links, with those of their clauses where these are several things, and not one name.

    `documents` are those of the links, in order; `link_all` links the mentions of further ones.
    What is less likely than `least` would be NIL.
    """
    read = dict[tuple[int, int], list[Link]]()
    for proposal in proposals(links, documents, link_all):
        whole, told, place = proposal.whole, proposal.told, (proposal.at, proposal.place)
        listed = _with_details(told, proposal.joints) if any(map(_tells, told)) else []
        if not may_be_clauses(whole):
            if all(map(_tells, told)) and told[0].id == whole.id:
                read[place] = [_at_most(whole.confidence, it) for it in told]
            continue
        is_nil = (whole.confidence or 0.0) < least
        is_left = "not" in proposal.joints and not all(map(_tells, told))  # "rash not documented"
        if not listed or is_left or _are_held(whole, told):
            continue
        likelihood = how_several(whole, told, proposal.joints[1:]) if len(listed) > 1 else 0.0
        if likelihood > EVEN:
            doubted = _doubted(told, proposal.joints)
            parts = (_at_even(it) if it.mention in doubted else it for it in listed)
            read[place] = [_times(part, likelihood, least) for part in parts]
        elif (known := _known_alone(whole, told)) and (is_nil or _leaves_rest(whole, known, told)):
            is_all = all(map(_is_known, told))  # "overdose, SI", of which the second is unsure
            read[place] = list(map(_at_even, told)) if is_all else [known]
        elif known and not proposal.joints[1] and _is_rest_unsaid(whole, told):
            read[place] = [replace(known, confidence=whole.confidence)]
    cut = {at for at, _ in read}
    return [_listed(link, at, read) if at in cut else link for at, link in enumerate(links)]


def proposals(
    links: Sequence[Link],
    documents: Iterable[Document],
    link_all: Callable[[Sequence[Document]], Iterable[Link]],
) -> Iterator[Proposal]:
    """Yield the links that may say several things, with their clauses; see `by_clause`."""
    owners = [document for document in documents for _ in document.mentions]
    unsure = {
        (at, place): clauses
        for at, link in enumerate(links)
        for place, part in enumerate(undivided([link]))
        if [it.sieve for it in part.candidates[:1]] != [IDS]
        and (clauses := (_clauses if may_be_clauses(part) else _denied_rest)(link.mention, part))
    }
    if not unsure:
        return
    caused = {place: _caused(clauses) for place, clauses in unsure.items()}
    asked = [
        replace(owners[at], mentions=(*(it for it, _ in clauses), *caused[at, place].values()))
        for (at, place), clauses in unsure.items()
    ]
    linked = iter(link_all(asked))
    for (at, place), clauses in unsure.items():
        told = [next(linked) for _ in clauses]
        for n in caused[at, place]:
            told[n] = _named_by_cause(told[n], next(linked))
        whole, joints = undivided([links[at]])[place], tuple(joint for _, joint in clauses)
        yield Proposal(at, place, whole, tuple(told), joints)


def _known_alone(whole: Link, clauses: Sequence[Link]) -> Link | None:
    """Return the only clause that names something, with the others left over.

    It is as likely as the whole, and as not.
    """
    known = [clause for clause in clauses if _tells(clause)]
    if len(known) != 1 or not _is_known(known[0]):
        return None
    left_over = Step(BROADER, whole.mention.text, known[0].mention.text)
    confidence = max(whole.confidence or 0.0, EVEN)
    return replace(known[0], confidence=confidence, steps=(left_over, *known[0].steps))


def _leaves_rest(whole: Link, known: Link, clauses: Sequence[Link]) -> bool:
    """Tell whether the only clause that names something is likelier than a link of the whole.

    It is where the whole is of that concept too, contradicts what another clause says, as in *chest
    pain, noncardiac*, or says nothing of most of the mention: "nerve damage from alcohol" of *head
    injury, ETOH*.
    """
    if known.id == whole.id or not whole.candidates:
        return True
    best, rest = whole.candidates[0], [it.mention.text for it in clauses if not _tells(it)]
    denied = [words_of(contradiction.mention) for contradiction in best.against.contradictions]
    is_most = 2 * len(known.mention.text.split()) >= len(whole.mention.text.split())
    said = words_of(best.name)
    is_elsewhere = said.isdisjoint(words_of(known.mention.text))
    return (is_most and is_elsewhere and not is_likely(whole)) or any(
        words and words <= words_of(text) for words in denied for text in rest
    )


def _is_rest_unsaid(whole: Link, clauses: Sequence[Link]) -> bool:
    """Tell whether an unlikely link says no word of what is behind the first clause.

    Then the clause is the better link, as likely as that was: *pneumonia, IV abx, O2*.
    """
    rest = " ".join(clause.mention.text for clause in clauses[1:])
    best = [words_of(candidate.name) for candidate in whole.candidates[:1]]
    is_unsaid = all(words_of(rest).isdisjoint(said) for said in best)
    return _tells(clauses[0]) and is_unsaid and not is_likely(whole)


def _are_held(whole: Link, clauses: Sequence[Link]) -> bool:
    """Tell whether the name of a link holds its clauses: "cisplatin/paclitaxel regimen"."""
    best = [candidate.name for candidate in whole.candidates[:1]]
    return holds_all(best, ((clause.mention.text, *_names_of(clause)) for clause in clauses))


def _names_of(clause: Link) -> Iterator[str]:
    for candidate in clause.candidates[:1]:
        yield from (candidate.name, candidate.label)


def _caused(clauses: Sequence[tuple[Mention, str]]) -> dict[int, Mention]:
    """Return the clauses that something caused, by place, as names may say that: *secondary X*."""
    named = ((n, secondary(clauses[n][0].text, joint)) for n, (_, joint) in enumerate(clauses[1:]))
    return {n: replace(clauses[n][0], text=name) for n, name in named if name}


def _named_by_cause(clause: Link, caused: Link) -> Link:
    """Return a clause as what something caused, where a sieve knows a name that says so."""
    if not (_is_told(caused) and _is_known(caused)):
        return clause
    step = Step(WORDING, clause.mention.text, caused.mention.text)
    return replace(caused, mention=clause.mention, steps=(step, *caused.steps))


def _doubted(clauses: Sequence[Link], joints: Sequence[str]) -> list[Mention]:
    """Return what an unknown clause governs, of which nobody can tell what it says."""
    apart = words_of_kind("conjunction")  # they govern nothing; "research on cancer" does
    return [
        clause.mention
        for before, clause, joint in zip(clauses, clauses[1:], joints[1:], strict=False)
        if LETTERS.search(joint) and joint.lower() not in apart and not _tells(before)
    ]


def _times(link: Link, likelihood: float, least: float) -> Link:
    """Return a link that is right only where something else is so, and each of its parts.

    It is not NIL for that alone.
    """
    own = link.confidence or 0.0
    confidence = max(own * likelihood, min(own, least))
    parts = tuple(_times(part, likelihood, least) for part in link.parts)
    return replace(link, confidence=confidence, parts=parts)


def _at_even(link: Link) -> Link:
    return _at_most(EVEN, link)


def _at_most(most: float | None, link: Link) -> Link:
    """Return a link that is so likely at most, where a judge tells, and so is each of its parts."""
    confidence = link.confidence if most is None else min(link.confidence or 0.0, most)
    return replace(
        link, confidence=confidence, parts=tuple(_at_most(most, it) for it in link.parts)
    )


def _denied_rest(mention: Mention, part: Link) -> list[tuple[Mention, str]]:
    """Return a name and what is denied behind it, where it is left over: *cancer, no mets*.

    *Without* says of what kind a thing is.
    """
    for step in () if STATES.intersection(part.status) else part.steps:
        name, rest = step.after.strip(_EDGES), step.before.removeprefix(step.after).strip(_EDGES)
        cue = next(iter(find_cues(rest)), None) if step.name == BROADER and name else None
        if not cue or cue.start or "negated" not in cue.rule.flags:
            continue
        if rest.split()[0].lower() not in words_of_kind("joint of a name"):
            own = replace(mention, ids=(), flags=part.status)
            return [(replace(own, text=text), "") for text in (name, rest)]
    return []


def _clauses(mention: Mention, part: Link) -> list[tuple[Mention, str]]:
    """Return the clauses of a part of a mention, and what stands between each and the one before.

    Their flags are what the whole says of each. What has one clause alone is none.
    """
    text, own = " ".join(mention.text.split()), " ".join(part.mention.text.split())
    spans, end = list[tuple[int, int]](), text.find(own)
    for clause in all_clauses(without_heading(own)) if end >= 0 else ():
        start = text.index(clause, end)
        end = start + len(clause)
        spans.append((start, end - clause.endswith(":")))
    if len(spans) < 2:
        return []
    marked = text  # "no gout. asthma" denies one, whatever letter begins the other
    apart = (". ", " - ", " \u2013 ") if text.endswith("?") else (". ",)  # "itching - thrush?"
    for _, end in spans:
        marked = f"{marked[:end]};{marked[end + 1 :]}" if text.startswith(apart, end) else marked
    flags = (consistent((*(mention.flags or ()), *said)) for said in flags_around(marked, spans))
    ends = [spans[0][0], *(end for _, end in spans)]
    return [
        (replace(mention, text=text[start:end], ids=(), flags=said), text[last:start].strip(" ,"))
        for last, (start, end), said in zip(ends, spans, flags, strict=False)
    ]


def _with_details(clauses: Sequence[Link], joints: Sequence[str]) -> list[Link]:
    """Return clauses with those that are a detail of the one before them left over there.

    What a detail is left over of may be another thing, so that it is as likely as not: *goiter,
    multinodular*. Where one is an adjective, short ones that nothing fits are: *carcinoma, squamous
    cell, oral*. A heading is none: *gout. M: asthma*.
    """
    adjectives = [qualifies(it.mention.text) and not it.status for it in clauses]
    told = list[Link]()
    behind = (*joints[1:], "")  # what stands behind each
    for clause, is_adjective, joint in zip(clauses, adjectives, behind, strict=True):
        is_detail = is_adjective or _is_detail(clause, is_inverted=any(adjectives[1:]))
        if not told or told[-1].parts or not is_detail or joint.startswith(":"):
            told.append(clause)
        else:
            name = told[-1].mention.text
            left_over = Step(BROADER, f"{name}, {clause.mention.text}", name)
            told[-1] = replace(_at_even(told[-1]), steps=(left_over, *told[-1].steps))
    return told


def _is_detail(clause: Link, *, is_inverted: bool) -> bool:
    """Tell whether a clause only says more of the one before: *type II*, *not at target*."""
    text = clause.mention.text
    if _tells(clause):
        return False
    if clause.status:
        return _is_remark(text)
    return len(text.split()) <= _DETAIL and (is_inverted or not may_stand_alone(text))


def _tells(clause: Link) -> bool:
    """Tell whether a clause names something that is likelier right than wrong."""
    return any(map(_is_told, undivided([clause])))


def _is_known(clause: Link) -> bool:
    """Tell whether a clause is one name that a sieve knows, however sure that is."""
    return not clause.parts and [it.sieve in SIEVE_STEPS for it in clause.candidates[:1]] == [True]


def _is_told(link: Link) -> bool:
    return bool(link.candidates) and is_likely(link)


def with_names_within(
    links: Sequence[Link],
    read: Callable[[Sequence[str]], Sequence[Sequence[Link]]],
    least: float,
) -> list[Link]:
    """Return links, with the names that stand in what nothing is likely to fit as a whole.

    `read` finds and links the names of texts: *ganglion L wrist, aspirated*. Each is as likely as
    not at most, for nobody tells what the rest says.
    """
    texts = {
        at: " ".join(link.mention.text.split())
        for at, link in enumerate(links)
        if not all(map(is_likely, undivided([link]))) and " " in link.mention.text.strip()
    }
    names = dict(zip(texts, read([*texts.values()]), strict=True)) if texts else {}
    return [
        _with_names(link, at, texts[at], names[at], least) if names.get(at) else link
        for at, link in enumerate(links)
    ]


def _with_names(link: Link, at: int, text: str, names: Sequence[Link], least: float) -> Link:
    parts, read, end = undivided([link]), dict[tuple[int, int], list[Link]](), 0
    for place, part in enumerate(parts):
        own = " ".join(part.mention.text.split())
        begin = text.find(own, end)
        if begin < 0 or STATES.intersection(part.status):
            continue  # "no sepsis from pneumonia"
        end = begin + len(own)
        within = [name for name in names if begin <= (name.mention.start or 0) < end]
        is_nil = (part.confidence or 0.0) < least
        if further := _beside_known(part, own, within):
            read[at, place] = [part, *(_named_in(part, name) for name in further)]
            continue
        is_told = is_nil and (len(parts) > 1 or _are_told(within, text))
        if within and (is_told or _are_several(part, within, text)):
            said = " ".join(name.mention.text for name in within)
            first, *others = (_named_in(part, name) for name in within)
            steps = (Step(BROADER, own, said), *first.steps)
            read[at, place] = [replace(first, steps=steps), *others]
    return _listed(link, at, read) if read else link


def _named_in(part: Link, name: Link) -> Link:
    """Return a name that stands in a part, as likely as not at most; what holds there holds for it.

    Its place in the text is that of the part.
    """
    flags = consistent((*name.status, *(part.mention.flags or ())))
    return replace(
        name,
        mention=replace(part.mention, text=name.mention.text, ids=(), flags=flags),
        confidence=min(name.confidence or 0.0, EVEN),
        parts=tuple(_named_in(part, it) for it in name.parts),
        status=flags,
    )


def _beside_known(part: Link, text: str, names: Sequence[Link]) -> list[Link]:
    """Return the names in what is left over of the only known clause of a note."""
    known = [step.after for step in part.steps[:1] if (step.name, step.before) == (BROADER, text)]
    steps = {step.name for link in (part, *names) for step in link.steps}
    if not known or is_likely(part) or not steps & _OF_NOTES:
        return []
    return [name for name in names if name.mention.text not in known[0] and name.id != part.id]


def _are_told(names: Sequence[Link], text: str) -> bool:
    """Tell whether a text tells of names: of several, of their status, or of one that leads a list.

    What only shares a word with another thing is none of these, *Cancer Street*, nor are
    alternatives and what is joined: *stroke or sepsis of unknown kind*, *head and neck*.
    """
    if any(name.status for name in names):
        return True
    if len(names) > 1:
        return words_of_kind("conjunction").isdisjoint(_between(names, text))
    return "," in text and [name.mention.start for name in names] == [0]


def _are_several(whole: Link, names: Sequence[Link], text: str) -> bool:
    """Tell whether an unlikely link is several things.

    Hardly any name has three others that are most of its words: *hernia gout psoriasis*. Of fewer
    names a judge tells in notes, which have short forms.
    """
    if is_likely(whole) or not whole.candidates or len(names) < 2:
        return False
    n_named = sum(len(name.mention.text.split()) for name in names)
    if len(names) > 2 and 2 * n_named > len(whole.mention.text.split()):
        return words_of_kind("conjunction").isdisjoint(_between(names, text))
    steps = {step.name for link in (whole, *names) for step in link.steps}
    return bool(steps & _OF_NOTES) and how_several(whole, names, _between(names, text)) > EVEN


def _between(names: Sequence[Link], text: str) -> list[str]:
    """Return what stands between the names of a text."""
    places = [(name.mention.start or 0, name.mention.end or 0) for name in names]
    return [text[end:start].strip() for (_, end), (start, _) in itertools.pairwise(places)]


def _listed(whole: Link, at: int, read: Mapping[tuple[int, int], Sequence[Link]]) -> Link:
    """Return a link with clauses in the place of what they were; it is graded as its parts are."""
    items = [
        item
        for place, part in enumerate(undivided([whole]))
        for item in read.get((at, place), (part,))
    ]
    if len(items) == 1:
        return replace(items[0], mention=whole.mention)
    text, is_below = " ".join(whole.mention.text.split()), False
    for place, item in enumerate(items):
        items[place] = _at_even(item) if is_below else item
        # Nobody can tell what an unknown heading says: "Negative findings: fever".
        is_below = is_below or (f"{item.mention.text}: " in text and not _tells(item))
    parts = tuple(undivided(items))
    said = {flag for part in parts for flag in part.status}
    status = tuple(flag for flag in FLAGS if flag in said)
    steps = (Step("list", whole.mention.text, " | ".join(item.mention.text for item in items)),)
    return replace(
        whole, candidates=(), nil=False, reason="", steps=steps, parts=parts, status=status
    )
