"""Recipes: the five papers by name, and the parts of a training run.

A recipe is a class of objectives. It carries its `paper` and the settings of that:
``fit_settings`` for the loop, ``encoder_settings`` for the encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from canonym.encoders import make_encoder
from canonym.errors import InvalidInput, NotTrained, ReadError
from canonym.evaluation.run import corpus_digest
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.training.keys import Key, keys_of, published_plan
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.residual_head import ResidualModule
from canonym.training.modules.scratch import new_module
from canonym.training.modules.transformer import NameModule
from canonym.training.objective import Trainable
from canonym.training.papers import BatchHard, BioSyn, Coder, Dilbert, FewShot
from canonym.training.sampling.mentions import training_mentions
from canonym.training.sampling.name_table import NameTable, names_below
from canonym.types import Document, Relation

RECIPES: dict[str, type[Any]] = {
    "biosyn": BioSyn,
    "triplet": BatchHard,
    "dilbert": Dilbert,
    "coder": Coder,
    "few-shot": FewShot,
}
"""Recipes by name."""

SCRATCH = "scratch"
_PROTOCOL = {"biosyn": "biosyn", "none": "plain"}


def recipe_class(name: str) -> Any:
    """Return the class of a recipe's objectives."""
    if name not in RECIPES:
        raise InvalidInput(f"there is no recipe {name!r}; there are {', '.join(RECIPES)}")
    return RECIPES[name]


# --- keys of a plan -------------------------------------------------------------------------------


@cache
def objective_keys(recipe: str) -> Mapping[str, Key]:
    """Return the keys of a recipe's objective."""
    made, paper = recipe_class(recipe), published_plan(recipe)
    drawn = keys_of(made.from_groups, paper) if recipe == "few-shot" else {}
    return drawn | keys_of(made, paper)


@cache
def module_keys(recipe: str) -> Mapping[str, Key]:
    """Return the keys of the encoder that a recipe trains."""
    module = ResidualModule if recipe == "few-shot" else new_module
    return keys_of(module, published_plan(recipe))


@cache
def loop_keys(recipe: str) -> Mapping[str, Key]:
    """Return the keys of the training loop."""
    return keys_of(FitSettings, published_plan(recipe))


# --- parts of a run -------------------------------------------------------------------------------


def open_trainable(
    spec: str,
    *,
    names: Callable[[], Iterable[str]],
    pooling: str = "auto",
    max_length: int = 25,
    seed: int = 0,
    **sizes: Any,
) -> NameModule:
    """Open the transformer that a recipe starts from.

    `spec` is a Hugging Face or sentence-transformers folder, a model of the hub that is in the
    local cache, ``"hf:NAME"`` to download one, or ``"scratch"`` for one of random weights: `names`
    returns the names that its tokenizer is trained on, `sizes` are those of `new_module`.
    """
    if spec == SCRATCH:
        used_pooling = "mean" if pooling == "auto" else pooling
        return new_module(names(), pooling=used_pooling, max_length=max_length, seed=seed, **sizes)
    online = spec.startswith("hf:")
    place = spec.removeprefix("hf:").removeprefix("transformer:")
    try:
        return NameModule.read(
            place, pooling=pooling, max_length=max_length, local_files_only=not online
        )
    except ReadError as error:
        raise ReadError(
            error.path,
            f"{error.problem}; this recipe trains a transformer: give the folder of one, or "
            f"{SCRATCH!r} to begin with nothing",
        ) from error


def open_head(spec: str, *, seed: int, **options: Any) -> ResidualModule:
    """Put a `ResidualModule` with `options` on the encoder that `spec` describes."""
    try:
        return ResidualModule(make_encoder(spec), seed=seed, **options)
    except NotTrained as error:
        raise InvalidInput(
            f"{spec!r} is fitted to each terminology; a head goes on an encoder of dense vectors "
            "that is not trained"
        ) from error


def mentions_of(
    documents: Sequence[Document],
    terminology: Terminology,
    *,
    preparation: str,
    types: Sequence[str] = (),
    corrections: Mapping[str, str] | None = None,
) -> tuple[tuple[tuple[str, frozenset[str]], ...], dict[str, int]]:
    """Return training mentions prepared as names are, and how many were left out and why."""
    if not documents:
        return (), {}
    names = training_mentions(
        documents,
        terminology,
        protocol=_PROTOCOL[preparation],
        types=types,
        corrections=corrections,
    )
    return names.pairs, names.dropped


def build_objective(
    recipe: str,
    terminology: Terminology | None,
    *,
    mentions: Sequence[tuple[str, frozenset[str]]] = (),
    preparation: str = "none",
    relations: Sequence[Relation] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    trainable: Trainable | None = None,
    seed: int = 0,
    **options: Any,
) -> Any:
    """Make the objective of a recipe; `options` are those of its class.

    `relations` are for CODER, those of the terminology by default. `groups`, names of every
    high-level concept, `trainable`, the head, and `seed`, of the names drawn, are for few-shot.
    """
    made = recipe_class(recipe)
    if recipe == "few-shot":
        if groups is None or not isinstance(trainable, ResidualModule):
            raise InvalidInput("few-shot needs names of high-level concepts, and a head to train")
        rng = np.random.default_rng([seed, 1])
        return made.from_groups(groups, trainable.inputs, rng, **options)
    if terminology is None:
        raise InvalidInput(f"{recipe} trains on the names of a terminology: give one")
    if recipe == "coder":
        return made.from_terminology(terminology, relations, preparation=preparation, **options)
    if recipe != "triplet" and not mentions:
        raise InvalidInput(f"{recipe} trains on mentions: give an annotated corpus")
    return made.from_terminology(terminology, mentions, preparation=preparation, **options)


def group_names(
    terminology: Terminology, top: str, *, n_concepts: int | None = None, allow_cycles: bool = False
) -> dict[str, list[str]]:
    """Group the labels of a terminology by the child of `top` that they are below."""
    table = NameTable.from_terminology(terminology, scopes=("label",))
    hierarchy = Hierarchy.from_terminology(terminology)
    return names_below(table, hierarchy, top, n_concepts=n_concepts, allow_cycles=allow_cycles)


def data_digests(
    terminology: Terminology, *, corpus: Sequence[Document] = (), dev: Sequence[Document] = ()
) -> dict[str, str]:
    """Return the digests that tell a run's data from any other."""
    digests = {"terminology": terminology.digest}
    parts = {"corpus": corpus, "dev": dev}
    return digests | {name: corpus_digest(part) for name, part in parts.items() if part}
