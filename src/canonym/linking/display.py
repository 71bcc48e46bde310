"""The description of a linker: whole, in a few words for consoles, and as a fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from canonym.io.files import MANIFEST, file_digest
from canonym.linking.judge import Judge
from canonym.terminology import Terminology
from canonym.terminology.overlay import OverlayContent


def describe(
    folder: Path,
    manifest: Mapping[str, Any],
    terminology: Terminology,
    content: OverlayContent,
    judge: Judge | None,
) -> dict[str, Any]:
    """Describe an index with what was added to it; see `canonym.Linker.info`."""
    added = {"synonyms": len(content.synonyms), "forbidden pairs": len(content.forbidden)}
    sources = [" ".join(filter(None, pair)) for pair in terminology.sources()]
    return {
        "folder": str(folder),
        "fingerprint": index_fingerprint(folder, content, judge),
        **{key: manifest[key] for key in ("format", "encoders", "settings")},
        **({"fusion": manifest["fusion"]} if "fusion" in manifest else {}),
        **({"added": added} if any(added.values()) else {}),
        **({"confidence": judge.facts()} if judge else {}),
        "terminology": {
            **manifest["terminology"],
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
        "encoders": " + ".join(encoder["name"] for encoder in info["encoders"]) or "none",
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
