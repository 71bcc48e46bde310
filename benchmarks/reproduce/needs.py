"""What a model needs that is not here: files of the data folder, and what it begins with."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from reproduce.data import NotHereError, Shelf
from reproduce.models import ModelSettings

_OF_FILES = ("corpus", "corpora", "corrections", "groups", "hierarchy", "relations", "terminology")
_IN_TABLES = ("file", "trees", "replaced", "corpus", "corrections")
_NO_FILES = ("scratch", "terminology")


def lacking(
    model: ModelSettings,
    models: Mapping[str, ModelSettings],
    shelf: Shelf,
    given: Container[str] = (),
) -> list[str]:
    """Return the files and encoders that are not here, those of what it begins with first.

    `models` are all of the experiment, `given` the names of those that need no training.
    """
    lacks: list[str] = []
    start = model.start
    if start in models and start not in given:
        lacks += lacking(models[start], models, shelf, given)
    elif start and start not in _NO_FILES and start not in given:
        try:
            shelf.encoder(start)
        except NotHereError:
            lacks.append(start)
    wanted = (name for key in (*_OF_FILES, "text") for name in _files(model.settings.get(key, ())))
    lacks += [name for name in wanted if not (shelf.data / name).exists()]
    return [*dict.fromkeys(lacks)]


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
