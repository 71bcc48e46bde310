"""Models that an experiment trains; ``experiments/README.md`` has their settings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from canonym.encoders import path_of
from canonym.errors import InvalidInput
from canonym.training.loop.settings import FitSettings
from canonym.training.recipes import (
    RECIPES,
    loop_keys,
    module_keys,
    objective_keys,
    recipe_class,
)

WORD_VECTORS = "word-vectors"
"""The recipe that trains vectors of words."""

_HAS_NO_SIMILARITY = {WORD_VECTORS, "few-shot"}
_COMMON = {"recipe", "encoder", "seed", "samples"}
_DATA = {
    *("corpus", "corpora", "format", "part", "types", "corrections", "preparation", "distinct"),
    "dev",
}
_OF_A_CORPUS = {"corpus", "format", "types", "corrections"}
_SOURCES = {
    "biosyn": {"terminology", "recall"},
    "triplet": {"terminology"},
    "dilbert": {"terminology", "hierarchy"},
    "coder": {"terminology", "relations", "held_out"},
    "few-shot": {"groups", "concepts", "try_hidden"},
}


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """A model of an experiment, with the settings of the model that it is ``like``."""

    name: str
    settings: dict[str, Any]

    @property
    def recipe(self) -> str:
        """The recipe, by its name."""
        return str(self.settings["recipe"])

    @property
    def encoder(self) -> str:
        """The start of training with its options; empty for word vectors."""
        return str(self.settings.get("encoder", ""))

    @property
    def start(self) -> str:
        """The name of the start, without options."""
        return path_of(self.encoder)

    @property
    def described(self) -> dict[str, Any]:
        """The settings by which a trained model is recognised."""
        searched = {} if self.recipe in _HAS_NO_SIMILARITY else {"similarity": self.similarity}
        return {**searched, **{name: v for name, v in self.settings.items() if name != "samples"}}

    @property
    def similarity(self) -> str:
        """How the trained vectors are searched, ``"auto"`` as the recipe has it."""
        return str(self.settings.get("similarity", "auto"))

    @property
    def samples(self) -> int:
        """How many are trained."""
        return int(self.settings.get("samples", 1))

    def seed(self, sample: int) -> int:
        """Return the seed of a sample."""
        return int(self.settings.get("seed", 0)) + sample

    def chosen(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the settings of these names, as far as they are given."""
        return {name: self.settings[name] for name in names if name in self.settings}

    def loop(self, sample: int) -> FitSettings:
        """Return the settings of the loop: the paper's where the table says nothing."""
        paper = dict(recipe_class(self.recipe).fit_settings)
        given = {**paper, **self.chosen(loop_keys(self.recipe)), "seed": self.seed(sample)}
        bound = self.settings.get("max_names") or given.get("max_steps")
        if bound and "epochs" not in (self.settings if "max_names" in self.settings else given):
            given["epochs"] = bound
        return FitSettings(**given)

    def options(self) -> dict[str, Any]:
        """Return the settings of the recipe's class."""
        return self.chosen(_class_options(self.recipe))

    def encoder_options(self) -> dict[str, Any]:
        """Return the settings of the encoder: the paper's where the table says nothing."""
        paper = dict(recipe_class(self.recipe).encoder_settings)
        return {**paper, **self.chosen(module_keys(self.recipe))}


def read_models(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, ModelSettings]:
    """Check the models of an experiment and resolve ``like``."""
    found = {name: ModelSettings(name, _resolved(name, tables, ())) for name in tables}
    for model in found.values():
        _check(model, found)
    return found


def resolve(spec: str, known: Mapping[str, Any]) -> Any:
    """Return the encoder that a row or a model names, with its options: one of `known`, or itself.

    Values of `known` are descriptions, encoders, or a sequence of them, one a sample.
    """
    name = path_of(spec)
    options = spec[len(name) + 1 :]
    if name not in known:
        return spec
    return with_options(known[name], options) if options else known[name]


def with_options(known: Any, options: str) -> Any:
    """Put options behind the description of an encoder, or of each sample."""
    if isinstance(known, str):
        return f"{known},{options}"
    if isinstance(known, Sequence):
        return [with_options(one, options) for one in known]
    raise InvalidInput(
        f"an encoder in memory cannot take the options {options!r}; name its folder instead"
    )


def in_order(models: Mapping[str, ModelSettings], wanted: Iterable[str]) -> list[str]:
    """Return models and those that they begin with, each after the one that it begins with."""
    order: dict[str, None] = {}

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise InvalidInput(f"the models begin with each other: {' → '.join((*above, name))}")
        if name in models and name not in order:
            add(models[name].start, (*above, name))
            order[name] = None

    for name in wanted:
        add(name, ())
    return list(order)


def _resolved(
    name: str, tables: Mapping[str, Mapping[str, Any]], above: tuple[str, ...]
) -> dict[str, Any]:
    if name in above:
        raise InvalidInput(f"the models are like each other: {' → '.join((*above, name))}")
    if name not in tables:
        raise InvalidInput(f"the model {above[-1]!r} is like {name!r}, which is no model")
    own = dict(tables[name])
    like = own.pop("like", None)
    return own if like is None else {**_resolved(str(like), tables, (*above, name)), **own}


def _check(model: ModelSettings, models: Mapping[str, ModelSettings]) -> None:
    what = f"the model {model.name!r}"
    recipe = model.settings.get("recipe")
    if recipe not in {*RECIPES, WORD_VECTORS}:
        known = ", ".join((*RECIPES, WORD_VECTORS))
        raise InvalidInput(f"{what} has the recipe {recipe!r}; there are {known}")
    needed, known_settings = _settings_of(str(recipe), model.settings)
    unknown = sorted(set(model.settings) - known_settings)
    if unknown:
        raise InvalidInput(f"{what}: {recipe} has no setting {unknown[0]!r}")
    missing = [name for name in needed if name not in model.settings]
    if missing:
        raise InvalidInput(f"{what} has no {missing[0]!r}")
    for name, least in (("samples", 1), ("seed", 0)):
        value = model.settings.get(name, least)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InvalidInput(f"{what}: {name} is {value!r}; a number from {least} is expected")
    if model.settings.get("part", "train") not in {"train", "train+dev"}:
        raise InvalidInput(
            f"{what} is trained on the part {model.settings['part']!r}; 'train' or 'train+dev' is "
            "expected"
        )
    if model.start != model.encoder and recipe != "few-shot":
        raise InvalidInput(
            f"{what} begins with {model.encoder!r}; options behind the name are for few-shot, and "
            f"{recipe} has settings for them, such as pooling"
        )
    _check_corpora(what, model.settings)
    start = models.get(model.start)
    if start is not None and start.samples not in {1, model.samples}:
        raise InvalidInput(
            f"{what} has {model.samples} samples, and {start.name!r}, which it begins with, has "
            f"{start.samples}"
        )


def _check_corpora(what: str, given: Mapping[str, Any]) -> None:
    if "corpora" not in given:
        return
    if alone := sorted({"corpus", "dev", "types", "corrections"} & set(given)):
        raise InvalidInput(f"{what} has corpora, and beside them {alone[0]!r}, which is of one")
    several = given["corpora"]
    if (
        not isinstance(several, list)
        or not several
        or not all(isinstance(one, Mapping) and "corpus" in one for one in several)
    ):
        raise InvalidInput(f"{what}: corpora is {several!r}; tables with a corpus are expected")
    for one in several:
        if not isinstance(one["corpus"], str):
            raise InvalidInput(
                f"{what} has a corpus {one['corpus']!r}: the name of one of the folder is expected"
            )
    if unknown := sorted({name for one in several for name in one} - _OF_A_CORPUS):
        raise InvalidInput(f"{what}: a corpus has no setting {unknown[0]!r}")


def _settings_of(recipe: str, given: Mapping[str, Any]) -> tuple[tuple[str, ...], set[str]]:
    """Return the settings that a recipe needs, and all that it has."""
    if recipe == WORD_VECTORS:
        from reproduce.word_vectors import train_word_vectors

        options = set(inspect.signature(train_word_vectors).parameters)
        return ("text",), {"recipe", "text", "seed", "samples"} | options - {"progress", "texts"}
    known = {*_COMMON, *_SOURCES[recipe], *loop_keys(recipe), *_class_options(recipe)}
    known |= set(module_keys(recipe))
    if recipe == "few-shot":
        return ("encoder", "groups"), known
    needed: tuple[str, ...] = ("encoder", "terminology")
    if recipe in {"biosyn", "dilbert"}:
        needed = (*needed, "corpora" if "corpora" in given else "corpus")
    return needed, known | {"similarity"} | ({"preparation"} if recipe == "coder" else _DATA)


def _class_options(recipe: str) -> list[str]:
    return [*objective_keys(recipe), *(["relation_weighing"] if recipe == "coder" else [])]
