"""What an experiment needs, and what of it is not here: files, encoders and packages."""

from __future__ import annotations

import importlib.util
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from canonym.encoders import SHIPPED, encoder_kinds, path_of
from canonym.encoders.hub import HUB_NAME, find_model
from canonym.errors import CanonymError
from reproduce.data import Shelf
from reproduce.files import Experiment
from reproduce.models import WORD_VECTORS, ModelSettings, read_models

_OF_MODELS = ("corpus", "corpora", "corrections", "groups", "hierarchy", "relations", "terminology")
_OF_ROWS = ("corpus", "corrections", "pairs", "relations", "terminology")
_IN_TABLES = ("file", "trees", "replaced", "corpus", "corrections")
_NO_FILES = ("scratch", "terminology")
_TORCH = ("torch", "transformers", "accelerate")

Thing: TypeAlias = tuple[str, str]
"""Its kind, ``"data"``, ``"encoder"`` or ``"package"``, and its name."""

_TORCH_EXTRA: Thing = ("package", "canonym[torch]")


@dataclass(frozen=True, slots=True)
class Need:
    """A thing that rows need, and whether it is here."""

    kind: str
    name: str
    rows: tuple[str, ...]
    here: bool


def needs(
    experiment: Experiment, shelf: Shelf, given: Container[str] = (), rows: Iterable[str] = ()
) -> list[Need]:
    """Return all that rows of an experiment need, in their order; `given` encoders are here."""
    models, chosen = read_models(experiment.models), set(rows)
    of_rows: dict[Thing, list[str]] = {}
    for row in experiment.rows:
        if not chosen or row["name"] in chosen:
            for thing in dict.fromkeys(_of_row(row, models, given)):
                of_rows.setdefault(thing, []).append(row["name"])
    return [
        Need(kind, name, tuple(names), _is_here(kind, name, shelf))
        for (kind, name), names in of_rows.items()
    ]


def lacking(
    model: ModelSettings,
    models: Mapping[str, ModelSettings],
    shelf: Shelf,
    given: Container[str] = (),
) -> list[Thing]:
    """Return what a model needs that is not here, that of what it begins with first.

    `models` are all of the experiment, `given` the names of those that need no training.
    """
    things = dict.fromkeys(_of_model(model, models, given))
    return [(kind, name) for kind, name in things if not _is_here(kind, name, shelf)]


def _of_row(
    row: Mapping[str, Any], models: Mapping[str, ModelSettings], given: Container[str]
) -> Iterator[Thing]:
    for key in _OF_ROWS:
        yield from (("data", name) for name in _files(row.get(key, ())))
    for name in map(path_of, row.get("encoders", ())):
        if name in models and name not in given:
            yield from _of_model(models[name], models, given)
        else:
            yield from _of_encoder(name, given)


def _of_model(
    model: ModelSettings, models: Mapping[str, ModelSettings], given: Container[str]
) -> Iterator[Thing]:
    start = model.start
    if start in models and start not in given:
        yield from _of_model(models[start], models, given)
    elif start not in {"", *_NO_FILES}:
        yield from _of_encoder(start, given)
    for key in (*_OF_MODELS, "text"):
        yield from (("data", name) for name in _files(model.settings.get(key, ())))
    if model.recipe != WORD_VECTORS:
        yield _TORCH_EXTRA


def _of_encoder(name: str, given: Container[str]) -> Iterator[Thing]:
    built_in = {*SHIPPED, "chargrams", "universal"}
    if name.partition(":")[0] not in built_in and name not in given:
        yield ("encoder", name)
        if HUB_NAME.fullmatch(name):
            yield _TORCH_EXTRA


def _files(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        if given not in _NO_FILES:
            yield given
    elif isinstance(given, Mapping):
        for key in _IN_TABLES:
            yield from _files(given.get(key, ()))
    else:
        for one in given:
            yield from _files(one)


def _is_here(kind: str, name: str, shelf: Shelf) -> bool:
    if kind == "data":
        return (shelf.data / name).exists()
    if kind == "package":
        return all(map(importlib.util.find_spec, _TORCH))
    before, colon, behind = name.partition(":")
    has_kind = colon and before in {"hf", *encoder_kinds()}
    place = shelf.placed(behind if has_kind else name)
    if before == "hf" or Path(place).exists():
        return True
    try:
        find_model(place, local_files_only=True)
    except CanonymError:
        return False
    return True
