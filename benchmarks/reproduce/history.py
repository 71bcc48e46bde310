"""What the models of an experiment took and measured while they were trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from canonym.errors import ReadError
from canonym.io.files import read_manifest


def training_facts(models: Mapping[str, str | Sequence[str]]) -> dict[str, dict[str, Any]]:
    """Return seconds, steps and names of trained models, the mean of samples.

    Of the first sample there is what else it tells: ``hidden`` with the scores of the widths tried,
    ``recall`` of its candidates by epochs trained, and ``measured``, with the names nearest to
    watched mentions, with ``kept``, the epoch that was saved.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, places in models.items():
        folders = [places] if isinstance(places, str) else list(places)
        facts = [one for one in map(_facts, folders) if "seconds" in one]
        if len(facts) < len(folders) or not facts:
            continue  # given by hand, or word vectors, which say nothing
        entry: dict[str, Any] = {
            key: round(mean(one[key] for one in facts), 3) for key in ("seconds", "steps", "names")
        }
        first = facts[0]
        measured = first.get("measured", [])
        if recalls := [one["recall"] for one in measured if "recall" in one]:
            entry["recall"] = {part: [one[part] for one in recalls] for part in recalls[0]}
        if "tried_hidden" in first:
            entry["hidden"] = first["tried_hidden"]
        if any("nearest" in one for one in measured):
            entry["kept"] = first["kept_epoch"]
            entry["measured"] = [
                {key: one[key] for key in ("reference", "nearest") if key in one}
                for one in measured
            ]
        found[name] = entry
    return found


def _facts(folder: str) -> dict[str, Any]:
    """Return what a manifest says of the training; nothing where there is none."""
    try:
        return dict(read_manifest(Path(folder), kind="encoder", newest=1).get("training") or {})
    except ReadError:
        return {}
