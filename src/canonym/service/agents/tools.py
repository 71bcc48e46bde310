"""The tools: each takes what a call holds and returns its answer, of the indexes that are served.

"None" is an answer here and no error: agents would otherwise try again, or make up a code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

from canonym.exchange.mappings import mappings_of
from canonym.io.curies import split_id
from canonym.service.agents import schemas
from canonym.service.rest import check_readable, describe_concept
from canonym.service.schemas import ConceptAnswer, FoundAnswer, Given
from canonym.service.served import Opened, Served, find_served
from canonym.types import Concept, Link, Mention

Indexes = Mapping[str, Served]

_CONSIDERED = 3  # concepts beside the best
_NO_CONCEPT = "no concept fits"


class Tool(NamedTuple):
    """A function for agents, and what describes it."""

    title: str
    description: str
    call: type[Given]
    answer: type[Any]
    run: Callable[[Indexes, Any], Any]


# --- linking --------------------------------------------------------------------------------------


def link(indexes: Indexes, call: schemas.LinkCall) -> schemas.LinkAnswer:
    """Link names to concepts."""
    served = find_served(indexes, call.terminology)
    mentions = [Mention(name, context=call.context) for name in call.names]
    links = served.use(
        lambda opened: opened.linker.link(mentions, k=1 + _CONSIDERED, types=call.types)
    )
    shown = [schemas.Linked(**_decision(link)) for link in links]
    return schemas.LinkAnswer(terminology=served.name, links=shown)


def annotate(indexes: Indexes, call: schemas.AnnotateCall) -> schemas.AnnotateAnswer:
    """Find names in a text, and link them."""
    served = find_served(indexes, call.terminology)

    def work(opened: Opened) -> list[Link]:
        check_readable(opened)
        return [*opened.linker.annotate(call.text, types=call.types)]

    shown = [
        schemas.Marked(**_decision(link) | {"start": link.mention.start, "end": link.mention.end})
        for link in served.use(work)
    ]
    return schemas.AnnotateAnswer(terminology=served.name, links=shown)


def _decision(link: Link) -> dict[str, Any]:
    """Return the members of a `schemas.Linked`."""
    best = None if link.id is None else link.candidates[0]
    mapping = next(mappings_of(link), None) if best else None
    others = link.candidates[1:] if best else link.candidates
    return {
        "name": link.mention.text,
        "nil": not link.ids,
        "reason": "" if link.ids else link.reason or _NO_CONCEPT,
        "id": link.id,
        "label": link.label,
        "matched": best and best.name,
        "confidence": link.confidence if link.ids else None,
        "relation": mapping and mapping.supported,
        "status": [*link.status],
        "left_over": [*link.left_over],
        "considered": [
            {"id": other.id, "label": other.label, "name": other.name}
            for other in others[:_CONSIDERED]
        ],
        "parts": [_decision(part) for part in link.parts],
    }


# --- looking up -----------------------------------------------------------------------------------


def concept(indexes: Indexes, call: schemas.ConceptCall) -> schemas.ConceptFound:
    """Describe a concept."""
    served = find_served(indexes, call.terminology)

    def work(opened: Opened) -> schemas.ConceptFound:
        ids = opened.terminology.find_ids(call.id.strip())
        if len(ids) == 1:
            concept = ConceptAnswer(terminology=served.name, **describe_concept(opened, ids[0]))
            return schemas.ConceptFound(terminology=served.name, concept=concept, reason="")
        reason = (
            f"it may be {' or '.join(ids[:10])}; write it with its prefix"
            if ids
            else f"{served.name} has no concept with this id"
        )
        return schemas.ConceptFound(terminology=served.name, concept=None, reason=reason)

    return served.use(work)


def search(indexes: Indexes, call: schemas.SearchCall) -> schemas.SearchAnswer:
    """Find concepts by words of their names."""
    served = find_served(indexes, call.terminology)

    def work(opened: Opened) -> list[FoundAnswer]:
        hits = opened.linker.search(call.words, k=call.limit, types=call.types)
        return [FoundAnswer.model_validate(hit, from_attributes=True) for hit in hits]

    return schemas.SearchAnswer(terminology=served.name, concepts=served.use(work))


# --- codes ----------------------------------------------------------------------------------------


def map_code(indexes: Indexes, call: schemas.MapCall) -> schemas.MapAnswer:
    """Find the ids that terminologies state for an id; nothing is concluded from names."""
    id_ = call.id.strip()
    concepts, exact = _meant(indexes, id_)
    ids = {concept.id for concept in concepts}
    if len(ids) > 1 and not exact:
        reason = f"it may be {' or '.join(sorted(ids))}; write it with its prefix"
        return schemas.MapAnswer(id=call.id, concepts=concepts, mapped=[], reason=reason)
    mapped = mapped_ids(indexes, dict.fromkeys([id_, *sorted(ids)]))
    # Another spelling of an id is no other id.
    mapped = [
        mapping for mapping in mapped if mapping.id != id_ and (exact or mapping.id not in ids)
    ]
    targets = [m for m in mapped if call.to is None or _is_of(indexes, call.to, m.id)]
    if targets:
        reason = ""
    elif mapped:
        prefixes = sorted({split_id(mapping.id)[0] or "(no prefix)" for mapping in mapped})
        reason = f"no id of {call.to} is stated for it, only of {', '.join(prefixes)}"
    elif concepts:
        reason = "the terminology has the id and states no other for it"
    else:
        reason = f"no concept or cross-reference of {', '.join(indexes)} has this id"
    return schemas.MapAnswer(id=call.id, concepts=concepts, mapped=targets, reason=reason)


def _meant(indexes: Indexes, id: str) -> tuple[list[schemas.Meant], bool]:
    """Look for concepts with an id as it is written, which is told, or else in other spellings."""

    def concept(opened: Opened, *, exact: bool) -> Concept | None:
        known = opened.terminology.resolve(id) if exact else opened.id_of(id)
        return None if known is None else opened.terminology.concept(known)

    for exact in (True, False):
        concepts = {
            name: served.use(partial(concept, exact=exact)) for name, served in indexes.items()
        }
        meant = [
            schemas.Meant(terminology=name, **asdict(concept))
            for name, concept in concepts.items()
            if concept
        ]
        if meant:
            return meant, exact
    return [], False


def mapped_ids(indexes: Indexes, same: Mapping[str, None]) -> list[schemas.Mapped]:
    """Return what all terminologies state of the concept with these ids."""
    stated = [
        (target, name, of, how)
        for name, served in indexes.items()
        for target, (of, how) in served.use(partial(_stated, same=same)).items()
    ]
    labels = _labels(indexes, {target for target, *_ in stated})
    return [
        schemas.Mapped(id=target, label=labels.get(target), stated_by=name, of=of, how=how)
        for target, name, of, how in stated
    ]


def _stated(opened: Opened, same: Mapping[str, None]) -> dict[str, tuple[str, str]]:
    """Return ids, the concept that a terminology states each of, and how."""
    terminology = opened.terminology
    stated: dict[str, tuple[str, str]] = {}
    for known in filter(terminology.resolve, same):
        concept = terminology.concept(known).id
        stated.setdefault(concept, (concept, "alternative id"))
        for target in terminology.related(concept, "maps_to"):
            stated.setdefault(target, (concept, "maps_to"))
        for xref in terminology.xrefs(concept):
            how = "alternative id" if xref.kind == "alternative" else "cross-reference"
            stated.setdefault(xref.target, (concept, how))
    for known in same:
        for concept in terminology.with_xref(known):
            stated.setdefault(concept, (concept, "cross-reference"))
    return stated


def _labels(indexes: Indexes, ids: set[str]) -> dict[str, str]:
    def work(opened: Opened) -> dict[str, str]:
        return {id_: opened.label(id_) for id_ in ids if opened.terminology.resolve(id_)}

    return {id_: label for served in indexes.values() for id_, label in served.use(work).items()}


def _is_of(indexes: Indexes, to: str, id: str) -> bool:
    """Tell whether an id has a prefix, or is one of a terminology that is served under a name."""
    if split_id(id)[0].casefold() == to.rstrip(":").casefold():
        return True
    return to in indexes and indexes[to].use(lambda o: o.terminology.resolve(id)) is not None


TOOLS = {
    "link": Tool(
        "Link names to concepts",
        "Find the concept that each name stands for: a disease, drug, gene, finding, as people "
        "write it. A name without a concept has nil and a reason: report that, and make up no id.",
        schemas.LinkCall,
        schemas.LinkAnswer,
        link,
    ),
    "annotate": Tool(
        "Find concepts in a text",
        "Find the names of the terminology in a text, with their places, concepts and status: "
        "negated, historical, hypothetical, family, uncertain.",
        schemas.AnnotateCall,
        schemas.AnnotateAnswer,
        annotate,
    ),
    "concept": Tool(
        "Describe a concept",
        "Look an id up: label, names, definition, types, parents, children, ids elsewhere. Null "
        "where the terminology has no such id: use it to check an id.",
        schemas.ConceptCall,
        schemas.ConceptFound,
        concept,
    ),
    "search": Tool(
        "Search names",
        "Find concepts whose names have all words, in any order. For browsing; `link` decides.",
        schemas.SearchCall,
        schemas.SearchAnswer,
        search,
    ),
    "map_code": Tool(
        "Map an id to other terminologies",
        "Find the ids elsewhere that the terminologies state for an id: alternative ids and "
        "cross-references, either way. Nothing is concluded from names.",
        schemas.MapCall,
        schemas.MapAnswer,
        map_code,
    ),
}
"""All tools by name."""
