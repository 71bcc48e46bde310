"""The manifests of both versions: what the service offers, and where."""

from __future__ import annotations

from typing import Any

from canonym import __version__
from canonym.service.served import Opened
from canonym.service.state import State

_BATCH = 500
_MOST_TYPES = 20
_WIDTH, _HEIGHT = 400, 240


def manifest_02(name: str, url: str, opened: Opened, state: State) -> dict[str, Any]:
    """Return the manifest of 0.2 of the service at an address."""

    def suggest(kind: str) -> dict[str, str]:
        return {
            "service_url": url,
            "service_path": f"/suggest/{kind}",
            "flyout_service_url": url,
            "flyout_service_path": f"/flyout/{kind}?id=${{id}}",
        }

    base = url.rpartition("/reconcile/")[0]
    return {
        "versions": ["0.2"],
        **_shared(name, opened, state),
        "identifierSpace": f"{base}/v1/concepts/",
        "schemaSpace": f"{base}/v1/terminologies",
        "view": {"url": f"{url}/view?id={{{{id}}}}"},
        "preview": {"url": f"{url}/preview?id={{{{id}}}}", "width": _WIDTH, "height": _HEIGHT},
        "suggest": {kind: suggest(kind) for kind in ("entity", "type", "property")},
        "extend": {
            "propose_properties": {"service_url": url, "service_path": "/extend/propose"},
            "property_settings": [_LIMIT | {"help_text": _HELP, "label": "Limit"}],
        },
    }


def manifest_10(name: str, url: str, opened: Opened, state: State) -> dict[str, Any]:
    """Return the manifest of 1.0-draft of the service at an address."""
    return {
        "versions": ["1.0-draft"],
        **_shared(name, opened, state),
        "lang": opened.language,
        "view": {"url": f"{url}/view?id={{id}}"},
        "preview": {"width": _WIDTH, "height": _HEIGHT},
        "suggest": {"entity": True, "type": True, "property": True},
        "extend": {
            "proposeProperties": True,
            "propertySettings": [_LIMIT | {"helpText": _HELP, "id": "limit", "name": "Limit"}],
        },
        "standardizedScore": True,
    }


_LIMIT = {"name": "limit", "type": "number", "default": 0}
_HELP = "Most values of a concept; 0 for all."


def _shared(name: str, opened: Opened, state: State) -> dict[str, Any]:
    types = sorted(opened.types, key=lambda type_: (-opened.types[type_], type_))[:_MOST_TYPES]
    key = {"type": "apiKey", "name": "X-API-Key", "in": "header"}
    return {
        "name": f"canonym: {name}",
        "serviceVersion": __version__,
        "defaultTypes": [{"id": type_, "name": type_} for type_ in types],
        "batchSize": min(_BATCH, state.settings.max_batch),
        **({"authentication": key} if state.access.keys else {}),
    }
