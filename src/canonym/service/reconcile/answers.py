"""From queries to candidates: search, weigh conditions, say what may be accepted unseen."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from canonym.exchange.auto_accept import can_auto_accept, is_by_id, is_verbatim
from canonym.mentions.flags import FLAGS
from canonym.service.reconcile.properties import concepts_with
from canonym.service.reconcile.queries import Condition, Query
from canonym.service.served import Opened
from canonym.terminology.readers.everyday import SOURCE as EVERYDAY
from canonym.types import Link, Mention

_WITHOUT_PROPERTY = 0.8  # what is left of a score for each wish that others meet
_WITHOUT_TYPE = 0.95  # OpenRefine wishes for the first type it guessed, unless told otherwise
_LEAST = 10  # candidates that are looked at, so that a homonym is seen
_MOST_WISHED = 1000
_LONGEST_DESCRIPTION = 200
_Concepts = Callable[[Condition], set[str]]
_Certain = Callable[[Link], bool]


class Restriction(NamedTuple):
    """Concepts that may be found: with one of these types, and one of these ids unless None."""

    types: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing may be found."""
        return self.ids == ()


class Wish(NamedTuple):
    """A condition that candidates had better meet, and the concepts that do."""

    feature: str
    meets: Callable[[str, Sequence[str]], bool]
    restriction: Restriction
    cost: float = _WITHOUT_PROPERTY


class Plan(NamedTuple):
    """What a query asks for: a hard restriction, concepts to leave out, and wishes."""

    query: Query
    hard: Restriction
    barred: frozenset[str]
    wishes: tuple[Wish, ...]


@dataclass
class Found:
    """A candidate of a query: its score from 0 to 100, and what speaks for it.

    `asked` tells whether an id or conditions alone ask for it, and no name. `exact` tells whether
    its name or id is verbatim that of the query, and not of a part of it.
    """

    id: str
    score: float
    name: str = ""
    asked: bool = False
    exact: bool = False
    features: dict[str, float | bool] = field(default_factory=dict)


# --- from queries to candidates -------------------------------------------------------------------


def answer(
    opened: Opened, queries: Sequence[Query | None], match_confidence: float
) -> tuple[list[list[dict[str, Any]]], list[Link]]:
    """Return the candidates of every query, best first, and the links that they come from."""
    concepts = functools.cache(functools.partial(concepts_with, opened))
    plans = [None if query is None else _plan(opened, query, concepts) for query in queries]
    links = _link(opened, plans)
    added = {(name.text, name.concept_id) for name in opened.linker.synonyms}
    certain = functools.partial(
        can_auto_accept, least=match_confidence, added=added, is_below=opened.is_below
    )
    answers = [
        [] if plan is None else _candidates(opened, plan, links[place], certain)
        for place, plan in enumerate(plans)
    ]
    return answers, [link for of_query in links.values() for restricted, link in of_query]


def _plan(opened: Opened, query: Query, concepts: _Concepts) -> Plan:
    required = [
        condition
        for condition in query.conditions
        if condition.required and condition.quantifier != "none"
    ]
    wishes = [
        _wish(condition, concepts) for condition in query.conditions if not condition.required
    ]
    folded = {type_.casefold() for type_ in opened.types}
    known = tuple(type_ for type_ in query.types if type_.casefold() in folded)
    types: tuple[str, ...] = ()
    if query.type_strict == "should" and known:
        has_type = functools.partial(_has_type, known)
        wishes.append(Wish("type", has_type, Restriction(known), _WITHOUT_TYPE))
    elif query.type_strict == "all" and query.types:
        required.append(Condition("type", query.types, required=True, quantifier="all"))
    elif query.type_strict == "any":
        types = known
    sets = [concepts(condition) for condition in required]
    if query.type_strict == "any" and query.types and not known:
        sets.append(set())
    ids = tuple(sorted(set.intersection(*sets))) if sets else None
    barred = [
        concepts(condition) for condition in query.conditions if condition.quantifier == "none"
    ]
    return Plan(query, Restriction(types, ids), frozenset().union(*barred), tuple(wishes))


def _wish(condition: Condition, concepts: _Concepts) -> Wish:
    ids = concepts(condition)
    few = tuple(sorted(ids)) if len(ids) <= _MOST_WISHED else ()
    return Wish(condition.property, lambda id_, _: id_ in ids, Restriction((), few))


def _has_type(hard_types: Sequence[str], _id: str, types: Sequence[str]) -> bool:
    return bool({type_.casefold() for type_ in hard_types} & {type_.casefold() for type_ in types})


# --- linking --------------------------------------------------------------------------------------


def _link(opened: Opened, plans: Sequence[Plan | None]) -> dict[int, list[tuple[bool, Link]]]:
    """Return the links of every query, and whether each was restricted to a wish.

    Names with the same restriction are linked together.
    """
    together: dict[Restriction, list[tuple[int, bool, Mention, int]]] = defaultdict(list)
    for place, plan in enumerate(plans):
        if plan is not None and plan.query.names:
            for restriction, wished in _restrictions(plan):
                together[restriction] += [
                    (place, wished, Mention(name, context=plan.query.context), plan.query.limit)
                    for name in plan.query.names
                ]
    linked: dict[int, list[tuple[bool, Link]]] = defaultdict(list)
    for restriction, several in together.items():
        links = opened.linker.link(
            [mention for _, _, mention, _ in several],
            k=max([_LEAST, *(limit for *_, limit in several)]),
            types=restriction.types,
            ids=restriction.ids or (),
        )
        for (place, wished, _, _), link in zip(several, links, strict=True):
            linked[place].append((wished, link))
    return linked


def _restrictions(plan: Plan) -> Iterator[tuple[Restriction, bool]]:
    """Yield the hard restriction, and those that find what meets the wishes within it."""
    if plan.hard.is_empty:
        return
    yield plan.hard, False
    for wish in plan.wishes:
        types, ids = wish.restriction
        if plan.hard.ids is not None and ids is not None:
            ids = tuple(sorted(set(ids) & set(plan.hard.ids)))
        narrowed = Restriction(types or plan.hard.types, plan.hard.ids if ids is None else ids)
        if not narrowed.is_empty and narrowed != plan.hard:
            yield narrowed, True


# --- weighing -------------------------------------------------------------------------------------


def _candidates(
    opened: Opened, plan: Plan, links: Sequence[tuple[bool, Link]], certain: _Certain
) -> list[dict[str, Any]]:
    concepts = _found(opened, plan, links)
    types = {concept.id: opened.terminology.concept(concept.id).types for concept in concepts}
    allowed = [
        concept
        for concept in concepts
        if concept.id not in plan.barred
        and (not plan.hard.types or _has_type(plan.hard.types, concept.id, types[concept.id]))
    ]
    sure = {link.candidates[0].id for wished, link in links if not wished and certain(link)}
    met = _weigh(plan, allowed, types, sure)
    ranked = sorted(allowed, key=lambda concept: -concept.score)
    matches = {concept.id for concept in allowed if concept.asked and concept.id in met}
    matches.update(_certain(links, met, certain))
    described = [_described(opened, concept) for concept in ranked[: plan.query.limit]]
    for first, best in zip(described[:1], ranked, strict=False):
        first["match"] = matches == {best.id} and _is_sound(opened, best)
    return described


def _certain(links: Sequence[tuple[bool, Link]], met: set[str], certain: _Certain) -> Iterator[str]:
    """Yield the concepts that a link names for certain, among those that conditions leave."""
    for wished, link in links:
        left = tuple(candidate for candidate in link.candidates if candidate.id in met)
        # The confidence is that of the first of all candidates.
        same = not wished and left[:1] == link.candidates[:1]
        narrowed = replace(link, candidates=left, confidence=link.confidence if same else None)
        if certain(narrowed):
            yield left[0].id


def _is_sound(opened: Opened, concept: Found) -> bool:
    """Tell whether a concept is in use, and its name more than an everyday one."""
    sources = {name.source for name in opened.names(concept.id) if name.text == concept.name}
    return sources != {EVERYDAY} and not opened.terminology.concept(concept.id).deprecated


def _found(opened: Opened, plan: Plan, links: Sequence[tuple[bool, Link]]) -> list[Found]:
    """Return all candidates, each with its best score."""
    if not plan.query.names and not plan.query.ids:  # conditions alone ask for concepts
        wished = (id_ for wish in plan.wishes for id_ in wish.restriction.ids or ())
        ids = plan.hard.ids if plan.hard.ids is not None else sorted(set(wished))
        return [Found(id_, 100.0, asked=True) for id_ in ids]
    by_id = {concept.id: concept for concept in _by_id(opened, plan)}
    for _, link in links:
        for concept in _of_link(link):
            if concept.id not in by_id or by_id[concept.id].score < concept.score:
                by_id[concept.id] = concept
    return [*by_id.values()]


def _by_id(opened: Opened, plan: Plan) -> Iterator[Found]:
    """Yield the concepts that are asked for by an id; an id in the place of a name is linked."""
    for id_ in plan.query.ids:
        known = opened.id_of(id_)
        if known and not plan.hard.is_empty and (plan.hard.ids is None or known in plan.hard.ids):
            yield Found(known, 100.0, asked=True, features={"exact": True})


def _of_link(link: Link) -> Iterator[Found]:
    for part in link.parts:
        for inner in _of_link(part):
            inner.exact = False  # a part of a name is not the name
            yield inner
    for place, candidate in enumerate(link.candidates):
        exact = is_verbatim(link, candidate) or is_by_id(link, candidate)
        parts = {"similarity": candidate.score} | candidate.parts
        features: dict[str, float | bool] = {n: round(float(part), 4) for n, part in parts.items()}
        features["exact"] = exact
        if candidate.against.contradictions:
            features["contradicts"] = True
        if place == 0 and link.confidence is not None:
            features["confidence"] = round(link.confidence, 4)
        features |= dict.fromkeys(link.status, True)
        score = 100 * min(1.0, max(0.0, float(candidate.score)))
        yield Found(candidate.id, score, candidate.name, exact=exact, features=features)


def _weigh(
    plan: Plan, concepts: Sequence[Found], types: dict[str, tuple[str, ...]], sure: Container[str]
) -> set[str]:
    """Lower the scores of candidates that do not meet wishes which others do.

    A name that is verbatim, or of a concept that is `sure` without the wishes, outweighs a wish for
    a type, unless one of that type has the name too. Returns the ids of those that meet all such
    wishes.
    """
    met = {concept.id for concept in concepts}
    exact = {
        concept.id for concept in concepts if concept.exact or concept.asked or concept.id in sure
    }
    for wish in plan.wishes:
        meeting = {concept.id for concept in concepts if wish.meets(concept.id, types[concept.id])}
        for concept in concepts:
            concept.features[wish.feature] = concept.id in meeting
        if not meeting:
            continue
        if wish.feature == "type" and not meeting & exact:
            meeting |= exact
        for concept in concepts:
            concept.score *= 1.0 if concept.id in meeting else wish.cost
        met &= meeting
    return met


def _described(opened: Opened, answer: Found) -> dict[str, Any]:
    concept = opened.terminology.concept(answer.id)
    also = f"also called {answer.name}" if answer.name not in ("", concept.label) else ""
    about = concept.definition[:_LONGEST_DESCRIPTION] or also
    said = ", ".join(flag for flag in FLAGS if answer.features.get(flag))
    return {
        "id": answer.id,
        "name": concept.label,
        "score": round(answer.score, 2),
        "match": False,
        "type": [{"id": type_, "name": type_} for type_ in concept.types],
        "description": "; ".join(filter(None, (said, about))),
        "features": [
            {"id": id_, "name": id_.replace("_", " "), "value": value}
            for id_, value in answer.features.items()
        ],
    }
