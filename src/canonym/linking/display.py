"""The description of a linker: whole, in a few words for consoles, and as a fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from canonym.io.files import MANIFEST, file_digest
from canonym.linking.judge import Judge
from canonym.linking.overlay import OverlayContent


def describe(linker: Any, content: OverlayContent) -> dict[str, Any]:
    """Describe a `canonym.Linker` with what was added to it; see `canonym.Linker.info`."""
    added = {"synonyms": len(content.synonyms), "forbidden pairs": len(content.forbidden)}
    sources = [" ".join(filter(None, pair)) for pair in linker.terminology.sources()]
    return {
        "folder": str(linker.folder),
        "fingerprint": linker.fingerprint,
        **{key: linker.manifest[key] for key in ("format", "encoders", "settings")},
        **({"fusion": linker.manifest["fusion"]} if "fusion" in linker.manifest else {}),
        **({"added": added} if any(added.values()) else {}),
        **({"confidence": linker.judge.facts()} if linker.judge else {}),
        "terminology": {
            **linker.manifest["terminology"],
            "sources": [source for source in sources if source],
        },
    }


def index_facts(info: Mapping[str, Any]) -> dict[str, str]:
    """Return terminology, concepts, names, and encoders, from `Linker.info`."""
    terminology = info["terminology"]
    return {
        "terminology": " + ".join(terminology["sources"]) or info["folder"],
        "concepts": f"{terminology['n_concepts']:,}",
        "names": f"{terminology['n_names']:,}",
        "encoders": " + ".join(one["name"] for one in info["encoders"]) or "none",
    }


def index_fingerprint(folder: Path, content: OverlayContent, judge: Judge | None) -> str:
    """Hash the manifest of an index, what was added to it, and what was fitted to it."""
    digest = file_digest(folder / MANIFEST)
    if content == OverlayContent() and judge is None:
        return digest
    names = [[name.text, name.concept_id, name.language] for name in content.synonyms]
    fitted = judge and judge.to_dict()
    whole = json.dumps([digest, names, content.forbidden, fitted])
    return hashlib.sha256(whole.encode("ascii")).hexdigest()
