"""The description of a linker in a few words, for consoles and notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def index_facts(info: Mapping[str, Any]) -> dict[str, str]:
    """Return terminology, concepts, names, encoders and order, from `Linker.info`."""
    terminology = info["terminology"]
    return {
        "terminology": " + ".join(terminology["sources"]) or info["folder"],
        "concepts": f"{terminology['n_concepts']:,}",
        "names": f"{terminology['n_names']:,}",
        "encoders": " + ".join(one["name"] for one in info["encoders"]) or "none",
        "order": info["order"],
    }
