"""The operations: each takes a question and returns a resource, of the indexes that are served."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.exchange.fhir import code_system, system_prefix
from canonym.exchange.mappings import local_id
from canonym.io.curies import split_id, usual
from canonym.service.agents.tools import mapped_ids
from canonym.service.fhir.questions import Question
from canonym.service.problems import Problem
from canonym.service.served import Opened, Served
from canonym.text import normalise
from canonym.types import Concept

Resource = dict[str, Any]
Indexes = Mapping[str, Served]

MOST = 1000
"""Concepts of an expansion."""

_FURTHEST = 10_000
_IMPLICIT = ("?fhir_vs", "/vs")  # of the value set of all codes of a system


class System(NamedTuple):
    """A code system: the index that has it, and the prefix of its ids."""

    served: Served
    prefix: str


def find_system(indexes: Indexes, address: str, version: str = "") -> System:
    """Find the code system with an address, in the version that is asked for, if any.

    Where there is none, say which systems, or which versions of this one, there are.
    """
    versions: set[str] = set()
    for served in indexes.values():
        prefix = served.use(lambda opened: opened.systems.get(address))
        if prefix is not None:
            known = {known for _, known in served.use(lambda o: o.terminology.sources())}
            if version in ("", *known):
                return System(served, prefix)
            versions |= known
    if versions:
        named = ", ".join(filter(None, sorted(versions))) or "without a version"
        raise _not_found(f"{address} is here {named}, not {version:.80}")
    known_systems = [s for served in indexes.values() for s in served.use(lambda o: [*o.systems])]
    raise _not_found(
        f"there is no code system {address:.200}; there are {', '.join(known_systems[:20])}"
    )


def _not_found(detail: str) -> Problem:
    return Problem(HTTPStatus.NOT_FOUND, detail)


# --- looking up -----------------------------------------------------------------------------------

LOOKUP = frozenset({"code", "system", "version", "coding", "property", "displayLanguage"})
VALIDATE = frozenset({"url", "system", "code", "version", "display", "coding"})


def lookup(indexes: Indexes, question: Question, *, r5: bool) -> Resource:
    """Answer ``CodeSystem/$lookup``."""
    coding = question.coding("coding", "code", "system")
    system = find_system(indexes, coding.system, coding.version)

    def work(opened: Opened) -> Resource:
        concept = _concept(opened, system.prefix, coding.code)
        if isinstance(concept, str):
            raise _not_found(concept)
        properties = {*question.texts("property")}
        members = [
            _value("name", "String", system.served.name),
            _value("version", "String", concept.version),
            _value("display", "String", concept.label or concept.id),
            *([_value("definition", "String", concept.definition)] if r5 else []),
        ]
        if not properties or "designation" in properties:
            language = question.text("displayLanguage")
            members += _designations(opened, concept, language)
        members += [
            {
                "name": "property",
                "part": [_value("code", "Code", code), _value("value", kind, value)],
            }
            for code, kind, value in _properties(opened, concept, r5=r5)
            if not properties or code in properties
        ]
        return _parameters(members)

    return system.served.use(work)


def _concept(opened: Opened, prefix: str, code: str) -> Concept | str:
    """Return the concept with a code, as it is written or with its prefix; else what is wrong."""
    id_ = _id(prefix, code)
    known = opened.terminology.resolve(id_)
    if known is None:
        return f"there is no code {code:.200}"
    if known != id_:
        return f"the code {code:.200} was merged into {local_id(known)}"
    return opened.terminology.concept(known)


def _id(prefix: str, code: str) -> str:
    return code if not prefix or split_id(code)[0] == prefix else f"{prefix}:{code}"


def _designations(opened: Opened, concept: Concept, language: str) -> Iterator[Resource]:
    for name in opened.names(concept.id):
        if name.text != concept.label and (not language or name.language == language):
            yield {
                "name": "designation",
                "part": [
                    *([_value("language", "Code", name.language)] if name.language else []),
                    _value("use", "Coding", {"system": "urn:canonym:scope", "code": name.scope}),
                    _value("value", "String", name.text),
                ],
            }


def _properties(opened: Opened, concept: Concept, *, r5: bool) -> Iterator[tuple[str, str, Any]]:
    terminology = opened.terminology
    yield "inactive", "Boolean", concept.deprecated
    if concept.definition and not r5:  # where it is no parameter
        yield "definition", "String", concept.definition
    for code, ids in (
        ("parent", terminology.parents(concept.id)),
        ("child", terminology.children(concept.id)),
        ("replaced-by", concept.replaced_by),
    ):
        yield from ((code, "Code", local_id(id_)) for id_ in ids)
    yield from (("type", "String", type_) for type_ in concept.types)
    yield from ((xref.kind, "String", xref.target) for xref in terminology.xrefs(concept.id))


def validate_code(indexes: Indexes, question: Question, *, r5: bool) -> Resource:  # noqa: ARG001
    """Answer ``CodeSystem/$validate-code``."""
    coding = question.coding("coding", "code", "url", "system")
    system = find_system(indexes, coding.system, coding.version)

    def work(opened: Opened) -> Resource:
        concept = _concept(opened, system.prefix, coding.code)
        if isinstance(concept, str):
            return _validated(False, concept)
        names = {normalise(name.text) for name in opened.names(concept.id)}
        display = _value("display", "String", concept.label or concept.id)
        if coding.display and normalise(coding.display) not in names:
            return _validated(False, f"{coding.display!r:.200} is no name of this code", display)
        inactive = "the code is not in use any more" if concept.deprecated else ""
        return _validated(True, inactive, display)

    return system.served.use(work)


def _validated(result: bool, message: str, *members: Resource) -> Resource:
    said = _value("message", "String", message)
    return _parameters([_value("result", "Boolean", result), said, *members])


# --- expanding ------------------------------------------------------------------------------------

EXPAND = frozenset({"url", "filter", "count", "offset", "activeOnly"})


def expand(indexes: Indexes, question: Question, *, r5: bool) -> Resource:  # noqa: ARG001
    """Answer ``ValueSet/$expand``, of the value set of all codes of a system."""
    url = question.text("url")
    bare, _, version = url.partition("|")
    address = next((bare.removesuffix(end) for end in _IMPLICIT if bare.endswith(end)), "")
    if not address:
        raise InvalidInput(
            f"url is {url!r:.200}; the address of a code system and ?fhir_vs are expected"
        )
    system = find_system(indexes, address, version)
    filter_, offset = question.text("filter"), question.number("offset", 0, _FURTHEST)
    paged = question.number("count", MOST + 1, MOST + 1)
    active = question.flag("activeOnly")

    def work(opened: Opened) -> tuple[list[Concept], int]:
        terminology, members = opened.terminology, _members(opened, system.prefix, active=active)
        if not filter_:
            ordinals = np.flatnonzero(members)
            return terminology.concepts_at(ordinals[offset : offset + paged]), len(ordinals)
        members &= opened.matches(filter_)
        passing = (
            concept
            for concept, _ in opened.matching(filter_, offset + paged)
            if members[terminology.ordinal(concept.id)]
        )
        return [*islice(passing, offset, offset + paged)], int(members.sum())

    concepts, total = system.served.use(work)
    if len(concepts) > MOST:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"there are more than {MOST:,} codes; give count, of at most {MOST:,}, and offset",
            issue="too-costly",
        )
    parameters = [_value("filter", "String", filter_)] if filter_ else []
    parameters += [_value("activeOnly", "Boolean", True)] if active else []
    return {
        "resourceType": "ValueSet",
        "url": url,
        "status": "active",
        "expansion": {
            "identifier": f"urn:uuid:{uuid.uuid4()}",
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "total": total,
            "offset": offset,
            **({"parameter": parameters} if parameters else {}),
            "contains": [
                {
                    "system": address,
                    **({"inactive": True} if concept.deprecated else {}),
                    "code": local_id(concept.id),
                    "display": concept.label or concept.id,
                }
                for concept in concepts
            ],
        },
    }


def _members(opened: Opened, prefix: str, *, active: bool) -> npt.NDArray[np.bool_]:
    """Mark the concepts of the code system whose ids have a prefix, ``(n_concepts,)`` bool."""
    terminology = opened.terminology
    others = {*opened.systems.values()} - {prefix}
    members = np.ones(terminology.n_concepts, dtype=np.bool_)
    if others and prefix:
        members = terminology.with_prefix(f"{prefix}:")
    elif others:  # ids without a prefix are those that no other system has
        members[:] = ~np.any([terminology.with_prefix(f"{other}:") for other in others], axis=0)
    return members & ~terminology.deprecated() if active else members


# --- translating ----------------------------------------------------------------------------------

TRANSLATE = frozenset(
    {
        *("code", "system", "coding", "targetsystem"),  # of R4
        *("sourceCode", "sourceSystem", "sourceCoding", "targetSystem"),  # of R5
    }
)


def translate(indexes: Indexes, question: Question, *, r5: bool) -> Resource:
    """Answer ``ConceptMap/$translate`` by alternative ids and cross-references."""
    source = (
        question.coding("sourceCoding", "sourceCode", "sourceSystem", "system")
        if r5
        else question.coding("coding", "code", "system")
    )
    target = question.text("targetSystem" if r5 else "targetsystem").partition("|")[0]
    prefix = system_prefix(source.system)  # the system may be named in cross-references only
    if prefix is None:
        prefix = find_system(indexes, source.system, source.version).prefix
    mapped = mapped_ids(indexes, {_id(prefix, source.code): None})
    matches = [
        _match(coding, mapping.how == "alternative id", mapping.label, r5=r5)
        for mapping in mapped
        if (coding := _coding(mapping.id)) != source[:2] and target in ("", coding[0])
    ]
    said = "" if matches else "no terminology here states a code for it"
    return _validated(bool(matches), said, *matches)


def _coding(id: str) -> tuple[str, str]:
    prefix, code = split_id(id)
    known = usual(id)[0]
    return code_system(prefix if known == prefix.upper() else known), code


def _match(coding: tuple[str, str], same: bool, label: str | None, *, r5: bool) -> Resource:
    relation = "equivalent" if same else "related-to" if r5 else "relatedto"
    concept = {"system": coding[0], "code": coding[1], **({"display": label} if label else {})}
    return {
        "name": "match",
        "part": [
            _value("relationship" if r5 else "equivalence", "Code", relation),
            _value("concept", "Coding", concept),
        ],
    }


def _value(name: str, kind: str, value: Any) -> Resource:
    return {"name": name, f"value{kind}": value}


def _parameters(members: list[Resource]) -> Resource:
    # No value of FHIR is an empty text.
    filled = [member for member in members if member.get("valueString") != ""]
    return {"resourceType": "Parameters", "parameter": filled}
