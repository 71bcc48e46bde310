"""The items of a mention: by the names that sieves know, and by what the judge says of clauses.

*OCD with tics*, *R ear infection, L ear clear* and *FB in eye - grinding metal* say several things,
and what stands between them stands in names as well. Where sieves do not know all of them, and a
link is likelier wrong than right, its clauses are linked each by itself (`by_clause`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from canonym.linking.hits import (
    EVEN,
    NEAR,
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
from canonym.mentions.english import LEAST, is_english
from canonym.mentions.flags import FLAGS, consistent
from canonym.mentions.lists import is_code, items_of, may_stand_alone, qualifies, words_of
from canonym.mentions.phrasings import WORDING
from canonym.mentions.prepared import Prepared
from canonym.mentions.told import flags_around, status_of_listed
from canonym.text.qualifiers import BROADER, without_heading
from canonym.text.shape import LETTERS
from canonym.text.words import words_of_kind
from canonym.types import Document, Link, Mention, Step

_LONG = 6  # letters of a word that another may hold
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
    if items and (prepared.is_sure or _are_items(prepared, items, hits_of)):
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


def _are_items(
    prepared: Prepared, items: Sequence[Prepared], hits_of: Mapping[str, StringHits]
) -> bool:
    """Tell whether lines or clauses are items of a list, and not a name with a break in it."""
    unknown = [
        item for item in items if not (item.items or item.listed or is_name(item.whole, hits_of))
    ]
    if any(qualifies(item.text) for item in items[1:] if not item.whole.stated):
        return False  # "asthma - allergic"
    if not unknown:
        return True
    if len(unknown) == len(items):
        return all(is_code(item.text) for item in unknown)
    if hits_of[prepared.whole.text].score >= NEAR:
        return False
    # "not at target" denies nothing that anybody has.
    remarks = (_is_remark(item.whole.text) for item in unknown if item.whole.status)
    return not any(remarks) and all(may_stand_alone(item.text) for item in unknown)


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
    cut = listing.cut(lambda text: is_name(names[text], hits_of))
    if cut is None:
        return prepared
    steps = (*whole.steps, Step("list", whole.text, " | ".join(cut.names)))
    said = status_of_listed(whole, [listing.places.get(name) for name in cut.names])
    listed = tuple(
        part._replace(steps=steps, status=part.status if part.stated else own)
        for part, own in zip(map(names.__getitem__, cut.names), said, strict=True)
    )
    return prepared._replace(listed=listed, is_near=cut.is_near)


# --- clauses --------------------------------------------------------------------------------------


def by_clause(
    links: Sequence[Link],
    documents: Iterable[Document],
    link_all: Callable[[Sequence[Document]], Iterable[Link]],
    least: float,
) -> list[Link]:
    """Return links, with those of their clauses where these are likelier right than the whole.

    `documents` are those of the links, in order; `link_all` links the mentions of further ones.
    What is less likely than `least` would be NIL.
    """
    owners = [document for document in documents for _ in document.mentions]
    unsure = {
        (at, place): clauses
        for at, link in enumerate(links)
        for place, part in enumerate(undivided([link]))
        if may_be_clauses(part)
        and not (link.parts and part.status)
        and [it.sieve for it in part.candidates[:1]] != [IDS]
        and (clauses := _clauses(link.mention, part.mention.text))
    }
    if not unsure:
        return list(links)
    caused = {place: _caused(clauses) for place, clauses in unsure.items()}
    asked = [
        replace(owners[at], mentions=(*(it for it, _ in clauses), *caused[at, place].values()))
        for (at, place), clauses in unsure.items()
    ]
    linked = iter(link_all(asked))
    read = dict[tuple[int, int], list[Link]]()
    for (at, place), clauses in unsure.items():
        whole = undivided([links[at]])[place]
        told = [next(linked) for _ in clauses]
        for n in caused[at, place]:
            told[n] = _named_by_cause(told[n], next(linked))
        listed = _with_details(told) if any(map(_tells, told)) else []
        may_be = len(listed) > 1 or (whole.confidence or 0.0) < least
        may_be = may_be and (not is_likely(whole) or all(map(_tells, told)))
        if listed and may_be and not _are_one(whole, listed):
            doubted = _doubted(told, [joint for _, joint in clauses])
            read[at, place] = [_at_even(it) if it.mention in doubted else it for it in listed]
    cut = {at for at, _ in read}
    return [_listed(link, at, read) if at in cut else link for at, link in enumerate(links)]


def _caused(clauses: Sequence[tuple[Mention, str]]) -> dict[int, Mention]:
    """Return the clauses that something caused, by place, as names may say that: *secondary X*."""
    named = ((n, secondary(clauses[n][0].text, joint)) for n, (_, joint) in enumerate(clauses[1:]))
    return {n: replace(clauses[n][0], text=name) for n, name in named if name}


def _named_by_cause(clause: Link, caused: Link) -> Link:
    """Return a clause as what something caused, where a sieve knows a name that says so."""
    is_known = _is_told(caused) and caused.candidates[0].sieve in SIEVE_STEPS
    if not is_known or caused.parts:
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


def _at_even(link: Link) -> Link:
    """Return a link that is as likely as not at most, and so is each of its parts."""
    confidence = min(link.confidence or 0.0, EVEN)
    return replace(link, confidence=confidence, parts=tuple(map(_at_even, link.parts)))


def _clauses(mention: Mention, part: str) -> list[tuple[Mention, str]]:
    """Return the clauses of a part of a mention, and what stands between each and the one before.

    Their flags are what the whole says of each. What has one clause alone is none.
    """
    text, part = " ".join(mention.text.split()), " ".join(part.split())
    spans, end = list[tuple[int, int]](), text.find(part)
    for clause in all_clauses(without_heading(part)) if end >= 0 else ():
        start = text.index(clause, end)
        end = start + len(clause)
        spans.append((start, end - clause.endswith(":")))
    if len(spans) < 2:
        return []
    marked = text  # "no gout. asthma" denies one, whatever letter begins the other
    for _, end in spans:
        marked = f"{marked[:end]};{marked[end + 1 :]}" if text.startswith(". ", end) else marked
    flags = (consistent((*(mention.flags or ()), *said)) for said in flags_around(marked, spans))
    ends = [spans[0][0], *(end for _, end in spans)]
    return [
        (replace(mention, text=text[start:end], ids=(), flags=said), text[last:start].strip(" ,"))
        for last, (start, end), said in zip(ends, spans, flags, strict=False)
    ]


def _with_details(clauses: Sequence[Link]) -> list[Link]:
    """Return clauses with those that are a detail of the one before them left over there.

    What a detail is left over of may be another thing, so that it is as likely as not: *goiter,
    multinodular*. Where one is an adjective, short ones that nothing fits are: *carcinoma, squamous
    cell, oral*.
    """
    adjectives = [qualifies(it.mention.text) and not it.status for it in clauses]
    told = list[Link]()
    for clause, is_adjective in zip(clauses, adjectives, strict=True):
        is_detail = is_adjective or _is_detail(clause, is_inverted=any(adjectives[1:]))
        if not told or told[-1].parts or not is_detail:
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


def _is_told(link: Link) -> bool:
    return bool(link.candidates) and is_likely(link)


def _are_one(whole: Link, clauses: Sequence[Link]) -> bool:
    """Tell whether clauses share a word, or one name or concept is near to all of them.

    *viral/bacterial pneumonia* shares one, and *hip fracture in osteoporosis* is one name.
    """
    if len({clause.status for clause in clauses}) > 1 or len(clauses) < 2:
        return False
    if qualifies(clauses[0].mention.text) and not (clauses[0].status or _tells(clauses[0])):
        return True
    if len({clause.id for clause in clauses}) == 1 and not any(clause.parts for clause in clauses):
        return True  # half a name each
    near = frozenset[str]().union(*(words_of(it.name) for it in whole.candidates[:1]))
    written = [words_of(clause.mention.text) for clause in clauses]
    if is_likely(whole) and all(_share(words, near) for words in written):
        return True
    parts = [words_of(" ".join((clause.mention.text, *_names_of(clause)))) for clause in clauses]
    own = [part.difference(*(o for o in parts if o is not part)) for part in parts]
    return all(_share(words, near) for words in own)


def _share(words: frozenset[str], near: frozenset[str]) -> bool:
    """Tell whether texts share a word, or one has it in another: *postmastectomy*."""
    long = [word for word in words if len(word) >= _LONG]
    return not words.isdisjoint(near) or any(word in other for word in long for other in near)


def _names_of(clause: Link) -> Iterable[str]:
    told = (part.candidates[0] for part in undivided([clause]) if _is_told(part))
    return (f"{candidate.name} {candidate.label}" for candidate in told)


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
