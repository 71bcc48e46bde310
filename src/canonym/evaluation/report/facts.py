"""Facts as a page and as JSON write them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["flatten", "plain"]


def flatten(found: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Return nested facts as pairs of a name and a value, in the order in which they stand.

    Parameters
    ----------
    found : mapping of str to object
        Facts by name; a fact may be a mapping, or a list of mappings, itself.
    before : str
        What every name begins with.

    Examples
    --------
    >>> flatten({"corpus": {"n_documents": 1000}, "types": [], "weights": [{"a": 1}]})
    [('corpus, n documents', '1,000'), ('types', '–'), ('weights 1, a', '1')]
    """
    pairs: list[tuple[str, str]] = []
    for key, value in found.items():
        name = f"{before}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            pairs += flatten(value, f"{name}, ")
        elif isinstance(value, list | tuple) and any(isinstance(one, Mapping) for one in value):
            for number, one in enumerate(value, start=1):
                pairs += flatten(one, f"{name} {number}, ") if isinstance(one, Mapping) else []
        else:
            pairs.append((name, _shown(value)))
    return pairs


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value)) or "–"
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def plain(value: Any) -> Any:
    """Return dicts, lists, strings and numbers for JSON; None for a number that is not finite."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
