"""Links as a FHIR ConceptMap, of R4 or R5, in JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any

from canonym.exchange.mappings import Codes, Mapping, Origin, local_id, mappings_of
from canonym.export.rows import number
from canonym.io.curies import namespace, split_id
from canonym.io.encodings import without_surrogates
from canonym.types import Link

_SYSTEMS = {
    "SNOMEDCT": "http://snomed.info/sct",
    "LOINC": "http://loinc.org",
    "RXNORM": "http://www.nlm.nih.gov/research/umls/rxnorm",
    "UMLS": "http://www.nlm.nih.gov/research/umls",
    "ICD10CM": "http://hl7.org/fhir/sid/icd-10-cm",
    "MEDDRA": "https://www.meddra.org",
    "HP": "http://human-phenotype-ontology.org",
    "OMOP": "https://fhir-terminology.ohdsi.org",
}
# What the concept is to the text, in R4 and in R5.
_RELATIONS = {
    "equal": ("equal", "equivalent"),
    "equivalent": ("equivalent", "equivalent"),
    "broader": ("wider", "source-is-narrower-than-target"),
    "narrower": ("narrower", "source-is-broader-than-target"),
    "close": ("inexact", "related-to"),
    "related": ("relatedto", "related-to"),
}
# What nobody looked at is neither the same to the letter, nor known to overlap.
_UNREVIEWED = {"equal": "equivalent", "close": "related"}

DECISION = "urn:canonym:decision"
"""Address of the extension that tells who decided what, on a target, or an element without one."""


def code_system(prefix: str) -> str:
    """Return the address of the code system whose ids have a prefix.

    >>> code_system("SNOMEDCT"), code_system("DOID")
    ('http://snomed.info/sct', 'http://purl.obolibrary.org/obo/doid.owl')
    """
    if prefix in _SYSTEMS:
        return _SYSTEMS[prefix]
    base = namespace(prefix) if prefix else "urn:canonym:local"
    obo = base.removesuffix(f"{prefix}_")
    return f"{obo}{prefix.lower()}.owl" if obo != base and prefix else base.rstrip(":/")


def system_prefix(system: str) -> str | None:
    """Return the prefix of the ids of a well-known code system, by its address.

    >>> system_prefix("http://loinc.org"), system_prefix("http://example.org")
    ('LOINC', None)
    """
    return next((prefix for prefix, address in _SYSTEMS.items() if address == system), None)


class ConceptMapWriter:
    """Writes a ConceptMap when it is closed: an element a text, a group a code system.

    The code of a text is that of `codes`, else the text itself. A text that is a name of the
    concept, or surely means it, is equivalent to it. What is only similar to one is related to it,
    with score and confidence in the comment. Of several links of a text to a concept the surest is
    written. What people decided has the relation that they gave, and the extension `DECISION`.

    Parameters
    ----------
    stream : text stream
        Target.
    origin : Origin
        Tool, index and day.
    version : str
        ``"R4"`` or ``"R5"``.
    url : str
        Address of the map; by default one with the fingerprint of the index.
    title : str
        Title of the map.
    codes : Codes
        Where codes are.
    """

    def __init__(
        self,
        stream: IO[str],
        origin: Origin,
        *,
        version: str = "R4",
        url: str = "",
        title: str = "",
        codes: Codes = Codes(),  # noqa: B008 - it cannot be changed
    ) -> None:
        self._stream = stream
        self._origin = origin
        self._r5 = version == "R5"
        self._url = url or f"urn:canonym:links:{origin.fingerprint}"
        self._title = title
        self._codes = codes
        self._groups: dict[str, dict[tuple[str, str], dict[str, Mapping]]] = {}
        self._others: dict[tuple[str, str], list[Mapping]] = {}  # without a concept, or refused

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:  # noqa: ARG002
        """Take one link; explanations have no place here."""
        text = link.mention.text.strip()
        self.add(self._codes.code(text, cells), text, list(mappings_of(link)))

    def add(self, code: str, text: str, claims: Sequence[Mapping]) -> None:
        """Take what is claimed of a text with its code."""
        key = (without_surrogates(code), without_surrogates(text))
        mapped = [claim for claim in claims if claim.candidate and claim.relation != "refused"]
        others = [claim for claim in claims if claim not in mapped and claim.verdict]
        self._others.setdefault(key, []).extend(others)
        for claim in mapped or claims[:1]:
            best = claim.candidate if mapped else None
            prefix = split_id(best.id)[0] if best else self._origin.prefixes[0]
            targets = self._groups.setdefault(code_system(prefix), {}).setdefault(key, {})
            if best and claim.certainty > targets.setdefault(best.id, claim).certainty:
                targets[best.id] = claim

    def close(self) -> None:
        """Write the resource."""
        origin = self._origin
        groups = []
        for system, elements in self._groups.items():
            group: dict[str, Any] = {"target": system}
            known = origin.source_version if system == code_system(origin.prefixes[0]) else ""
            if known:
                group |= {"target": f"{system}|{known}"} if self._r5 else {"targetVersion": known}
            mapped = [self._element(*key, targets) for key, targets in elements.items()]
            groups.append(group | {"element": mapped})
        content: dict[str, Any] = {
            "resourceType": "ConceptMap",
            "url": self._url,
            "name": "CanonymLinks",
            "title": self._title,
            "status": "draft",
            "experimental": True,
            "date": origin.date,
            "description": f"Links made by {origin.tool}",
            "group": groups,
        }
        filled = {key: value for key, value in content.items() if value not in ("", [])}
        self._stream.write(json.dumps(filled, ensure_ascii=False, indent=1) + "\n")

    def _element(self, code: str, text: str, targets: dict[str, Mapping]) -> dict[str, Any]:
        element: dict[str, Any] = {"code": code, "display": text}
        others = self._others.get((code, text), ())
        if targets:
            element["target"] = [self._target(id_, claim) for id_, claim in targets.items()]
        elif self._r5:
            element["noMap"] = True
        else:
            element["target"] = [{"equivalence": "unmatched"}]
        decisions = [_decision(claim) for claim in others]
        return {"extension": decisions, **element} if decisions else element

    def _target(self, id_: str, claim: Mapping) -> dict[str, Any]:
        label = claim.candidate.label if claim.candidate else ""
        known = claim.supported
        if claim.verdict is None or claim.verdict.is_unseen:
            known = _UNREVIEWED.get(known, known)
        target = {
            "code": local_id(id_),
            "display": label,
            "relationship" if self._r5 else "equivalence": _RELATIONS[known][self._r5],
            "comment": claim.verdict.comment if claim.verdict else claim.evidence,
        }
        filled = {key: without_surrogates(value) for key, value in target.items() if value}
        return {"extension": [_decision(claim)], **filled} if claim.verdict else filled


def _decision(claim: Mapping) -> dict[str, Any]:
    """Return the extension with what was decided; nothing in it is lost by a version of FHIR."""
    verdict = claim.verdict
    assert verdict is not None, "only what people decided has it"
    facts = {
        "kind": verdict.kind,
        "id": claim.candidate.id if claim.candidate else "",
        "relation": verdict.relation if claim.candidate else "",
        "by": verdict.who,
        "at": verdict.moment,
        "comment": verdict.comment,
        "context": verdict.context,
        "index": verdict.fingerprint,
        "confidence": number(claim.confidence),
    }
    parts = [
        {"url": key, "valueString": without_surrogates(value)}
        for key, value in facts.items()
        if value
    ]
    return {"url": DECISION, "extension": parts}
