"""Experiments: published tables described in TOML files, as ``experiments/README.md`` says."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput, ReadError
from canonym.evaluation.slices import HEADLINE_SLICES

EXPERIMENTS = Path(__file__).parent / "experiments"
"""Where experiments are looked for by name."""

_SHARED = {
    *("corpus", "format", "types", "part", "terminology", "protocol", "split", "same", "encoders"),
    *("weights", "corrections", "pooling", "precision", "reading", "slice", "difference", "caveat"),
    *("seed", "k", "training", "glosses", "published", "similarity"),
    *("task", "search", "pairs", "relations", "epochs", "absent", "n_dev", "repetitions"),
    *("most", "finetuned", "learning_rate"),
}
_PRECISIONS = ("fp32", "bf16")
_OWN = {"name", "against"}
_NEEDED = {
    "link": ("corpus", "terminology", "protocol"),
    "relatedness": ("pairs", "encoders"),
    "mcsm": ("terminology", "encoders"),
    "relations": ("terminology", "relations", "encoders"),
    "nil": ("corpus", "terminology", "protocol", "encoders"),
}


@dataclass(frozen=True, slots=True)
class Experiment:
    """A published table: its name, title, source, the settings of its rows and of its models."""

    name: str
    title: str
    source: str
    rows: tuple[dict[str, Any], ...]
    models: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_experiment(name: str | Path, *, folder: str | Path = EXPERIMENTS) -> Experiment:
    """Read an experiment: a TOML file, or the name of one of `folder` without its ending."""
    path = Path(name) if Path(name).suffix == ".toml" else Path(folder) / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in Path(folder).glob("*.toml"))) or "none"
        raise InvalidInput(f"there is no experiment {str(name)!r}; {folder} has {known}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ReadError(path, f"is no TOML ({error})") from error
    rows, models = content.pop("row", []), content.pop("model", {})
    title, source = content.pop("title", path.stem), content.pop("source", "")
    if not rows or not isinstance(rows, list):
        raise ReadError(path, "has no [[row]]: nothing would be run")
    if not isinstance(models, dict) or not all(isinstance(one, dict) for one in models.values()):
        raise ReadError(path, "model is no group of [model.NAME] tables")
    rows = [one for row in rows for one in _each(row)]
    names = [row.get("name") for row in rows]
    whole = [{**content, **_resolved(path, row, rows, ())} for row in rows]
    for row in whole:
        _check_row(path, row, names, models)
    return Experiment(path.stem, title, source, tuple(whole), models)


def _each(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows that a row with several searches stands for."""
    search = row.get("search")
    if not isinstance(search, dict) or "each" not in search:
        return [row]
    return [{**row, "name": f"{row.get('name')}, {one}", "search": one} for one in search["each"]]


def _resolved(
    path: Path, row: dict[str, Any], rows: list[dict[str, Any]], above: tuple[str, ...]
) -> dict[str, Any]:
    """Give a row the settings of the row that it is like; what that one is against is its own."""
    own = {name: value for name, value in row.items() if name != "like"}
    if "like" not in row:
        return own
    other = next((one for one in rows if one.get("name") == row["like"]), None)
    if other is None or row["like"] in above:
        what = "which is no row" if other is None else "and so in a circle to itself"
        raise ReadError(path, f"the row {row.get('name')!r} is like {row['like']!r}, {what}")
    found = _resolved(path, other, rows, (*above, row["like"]))
    found.pop("against", None)
    return {**found, **own}


def _check_row(
    path: Path, row: dict[str, Any], names: list[Any], models: Mapping[str, Any]
) -> None:
    unknown = sorted(set(row) - _SHARED - _OWN)
    if unknown:
        raise ReadError(path, f"there is no setting {unknown[0]!r}")
    if row.get("slice", "all") not in HEADLINE_SLICES:
        raise ReadError(
            path, f"there is no slice {row['slice']!r}; there are {', '.join(HEADLINE_SLICES)}"
        )
    if row.get("precision", "fp32") not in _PRECISIONS:
        raise ReadError(
            path, f"precision is {row['precision']!r}; there are {', '.join(_PRECISIONS)}"
        )
    task = row.get("task", "link")
    if task not in _NEEDED:
        raise ReadError(path, f"there is no task {task!r}; there are {', '.join(_NEEDED)}")
    needed = [key for key in ("name", *_NEEDED[task], "published") if not _has(row, key)]
    for spec in row.get("encoders", ()):
        name, _, options = spec.partition(",")
        if name in models and "similarity=" in options:
            raise ReadError(
                path,
                f"the row {row.get('name', '?')!r} has the encoder {spec!r}; how a model of the "
                f"file is searched is saved with it: set similarity in [model.{name}], or, to "
                "compare one search with another, in the row",
            )
    if row.get("format") == "folds" and "terminology" in needed:
        needed.remove("terminology")
    if needed:
        raise ReadError(path, f"the row {row.get('name', '?')!r} has no {needed[0]!r}")
    if "against" in row and row["against"] not in names:
        raise ReadError(
            path, f"the row {row['name']!r} is against {row['against']!r}, which is no row"
        )


def _has(row: dict[str, Any], key: str) -> bool:
    return bool(row.get(key)) if key == "published" else key in row
