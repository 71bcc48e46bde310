"""The manifest of an index: what it has to hold before a linker relies on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import MANIFEST, read_manifest
from canonym.linking.extra_names import INDEXES
from canonym.linking.settings import Settings, complete
from canonym.types import SIMILARITIES


def read_index_manifest(folder: Path, *, newest: int) -> dict[str, Any]:
    """Read the manifest of an index; see `canonym.io.files.read_manifest`.

    Raises
    ------
    ReadError
        If a part of it is missing, or is not what it has to be.
    Mismatch
        If an earlier version wrote it, whose names are looked up otherwise.
    """
    content = read_manifest(folder, kind="linker", newest=newest)
    if content["format"] != newest:
        raise Mismatch(
            f"{folder} was built by an earlier canonym (format {content['format']}, this version "
            f"writes {newest}), which looks names up otherwise; build the index again"
        )
    check_index_manifest(folder / MANIFEST, content)
    return content


def check_index_manifest(path: Path, content: Mapping[str, Any]) -> None:
    """Refuse a manifest with parts that are missing, or are not what they have to be."""
    for key, (expected, fits) in _PARTS.items():
        if key in content and fits(content[key]):
            continue
        if key not in content and key in _OPTIONAL:
            continue
        state = f"is {content[key]!r:.80}" if key in content else "is missing"
        raise ReadError(
            path,
            f"the manifest is damaged: {key!r} {state}, expected {expected}; build the index again",
        )
    n = len(content["encoders"])
    if (path.parent / f"encoder-{n}").exists():
        raise ReadError(
            path,
            f"the manifest is damaged: it names {n} encoders and the folder has more; build the "
            "index again",
        )


def _is_terminology(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("digest"), str)
        and all(_is_count(value.get(key)) for key in ("n_concepts", "n_names"))
    )


def _are_encoders(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(encoder, dict) and _fits(encoder) for encoder in value
    )


def _fits(encoder: Mapping[str, Any]) -> bool:
    weight, index, steps = (encoder.get(key) for key in ("weight", "index", "steps"))
    background = encoder.get("background")
    return (
        isinstance(encoder.get("name"), str)
        and isinstance(weight, int | float)
        and 0 <= weight <= sys.float_info.max
        and isinstance(index, str)
        and index in INDEXES
        and _are_texts(steps)
        and isinstance(background, int | float)
        and 0 <= background < 1
        and encoder.get("similarity", "cosine") in SIMILARITIES
    )


def _are_settings(value: Any) -> bool:
    if not isinstance(value, dict) or not _are_texts(value.get("sieves")):
        return False
    if not all(type(value.get(key)) is bool for key in ("spelling", "composites", "trials")):
        return False
    if type(value.get("min_length")) is not int:
        return False
    try:
        # Settings that this version does not know are of no account.
        known = {key: value[key] for key in Settings.__annotations__}
        complete(Settings(**known))  # type: ignore[typeddict-item]
    except (InvalidInput, TypeError, KeyError):
        return False
    return True


def _are_mentions(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and {"given", "names"} <= value.keys()
        and all(map(_is_count, value.values()))
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_fusion(value: Any) -> bool:
    return value in ("exact", "union")


_PARTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "terminology": ("its digest and its numbers of concepts and names", _is_terminology),
    "encoders": ("a list with name, weight, index and steps of each", _are_encoders),
    "settings": ("every setting of the index, with a value that it can have", _are_settings),
    "fusion": ("'exact' or 'union'", _is_fusion),
    "mentions": ("the numbers of training mentions and names", _are_mentions),
}
_OPTIONAL = {"mentions", "fusion"}
