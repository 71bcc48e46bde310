"""Statements of what the service can do, which clients of FHIR ask for first."""

from __future__ import annotations

from datetime import UTC, datetime

from canonym import __version__
from canonym.service.fhir.answers import EXPAND, Indexes, Resource

OPERATIONS = {
    "CodeSystem": ("lookup", "validate-code"),
    "ValueSet": ("expand",),
    "ConceptMap": ("translate",),
}
"""Operations by the type of resource that they are called on."""

_RELEASES = {False: "4.0.1", True: "5.0.0"}


def capabilities(address: str, *, r5: bool) -> Resource:
    """Return the CapabilityStatement of the service at an address."""
    return {
        **_head("CapabilityStatement", address),
        "fhirVersion": _RELEASES[r5],
        "format": ["json"],
        "rest": [
            {
                "mode": "server",
                "resource": [
                    {
                        "type": type_,
                        "operation": [
                            {
                                "name": name,
                                "definition": "http://hl7.org/fhir/OperationDefinition/"
                                f"{type_}-{name}",
                            }
                            for name in names
                        ],
                    }
                    for type_, names in OPERATIONS.items()
                ],
            }
        ],
    }


def terminology_capabilities(indexes: Indexes, address: str, *, r5: bool) -> Resource:
    """Return the TerminologyCapabilities: code systems with their versions."""
    systems: dict[str, set[str]] = {}
    for served in indexes.values():
        versions = {version for _, version in served.use(lambda o: o.terminology.sources())}
        for system in served.use(lambda o: [*o.systems]):
            systems.setdefault(system, versions - {""})
    return {
        **_head("TerminologyCapabilities", address),
        "codeSystem": [
            {
                "uri": system,
                **({"content": "complete"} if r5 else {}),
                **({"version": [{"code": v} for v in sorted(versions)]} if versions else {}),
            }
            for system, versions in systems.items()
        ],
        "expansion": {"paging": True, "parameter": [{"name": name} for name in sorted(EXPAND)]},
        "translation": {"needsMap": False},
    }


def _head(type_: str, address: str) -> Resource:
    return {
        "resourceType": type_,
        "status": "active",
        "date": datetime.now(UTC).date().isoformat(),
        "kind": "instance",
        "software": {"name": "canonym", "version": __version__},
        "implementation": {"description": "Terminologies served by canonym", "url": address},
    }
