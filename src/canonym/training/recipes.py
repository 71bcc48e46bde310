"""Ways of training by name: what each is made of, and how it is put together from its parts.

A recipe is a class of objectives with the paper's settings (``fit_settings`` for the loop,
``encoder_settings`` for the encoder). What is common to all is made here: the encoder, the training
mentions, the digests of the data.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from canonym.encoders import make_encoder
from canonym.errors import InvalidInput, NotTrained, ReadError
from canonym.evaluation.run import corpus_digest
from canonym.terminology import Terminology
from canonym.training.modules.residual import ResidualModule
from canonym.training.modules.scratch import new_module
from canonym.training.modules.transformer import NameModule
from canonym.training.objective import Trainable
from canonym.training.sampling.mentions import training_mentions
from canonym.training.sampling.names import NameTable
from canonym.types import Document, Relation

__all__ = [
    "PAPERS",
    "RECIPES",
    "build_objective",
    "data_digests",
    "mentions_of",
    "open_trainable",
    "recipe_class",
]

RECIPES: dict[str, str] = {
    "biosyn": "canonym.training.papers.biosyn:BioSyn",
    "triplet": "canonym.training.papers.triplet_search:BatchHard",
    "dilbert": "canonym.training.papers.dilbert:Dilbert",
    "coder": "canonym.training.papers.coder:Coder",
    "few-shot": "canonym.training.papers.few_shot:FewShot",
}
"""Names of recipes, and where their classes are."""

PAPERS: dict[str, str] = {
    "biosyn": "Sung et al. (2020), BioSyn",
    "triplet": "Xu and Bethard (2021), triplet search",
    "dilbert": "Miftahutdinov et al. (2021), DILBERT",
    "coder": "Yuan et al. (2020), CODER",
    "few-shot": "Fivez et al. (2021), few-shot names",
}

SCRATCH = "scratch"
_PROTOCOL = {"biosyn": "biosyn", "none": "plain"}


def recipe_class(name: str) -> Any:
    """Return the class of a recipe's objectives; this imports it.

    Raises
    ------
    InvalidInput
        If there is no such recipe.
    """
    if name not in RECIPES:
        raise InvalidInput(f"there is no recipe {name!r}; there are {', '.join(RECIPES)}")
    module, _, attribute = RECIPES[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def open_trainable(
    spec: str,
    *,
    names: Callable[[], Iterable[str]],
    pooling: str = "auto",
    max_length: int = 25,
    seed: int = 0,
    sizes: Mapping[str, Any] | None = None,
) -> NameModule:
    """Open the transformer that a recipe starts from.

    Parameters
    ----------
    spec : str
        A Hugging Face or sentence-transformers folder, a model of the hub that is in the local
        cache, ``"hf:NAME"`` to download one, or ``"scratch"`` for a small one of random weights.
    names : callable
        Returns the names that the tokenizer of one from scratch is trained on.
    pooling, max_length
        Those of `canonym.training.modules.transformer.NameModule`.
    seed : int
        Of the weights of one from scratch.
    sizes : mapping of str to object, optional
        ``width``, ``layers``, ``heads`` and ``vocabulary`` of one from scratch.

    Raises
    ------
    InvalidInput
        If nothing of that name is here, or it is no transformer.
    """
    if spec == SCRATCH:
        chosen = "mean" if pooling == "auto" else pooling
        return new_module(
            names(), pooling=chosen, max_length=max_length, seed=seed, **dict(sizes or {})
        )
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


def mentions_of(
    documents: Sequence[Document],
    terminology: Terminology,
    *,
    preparation: str,
    types: Sequence[str] = (),
    corrections: Mapping[str, str] | None = None,
) -> tuple[tuple[tuple[str, frozenset[str]], ...], dict[str, int]]:
    """Return training mentions prepared as names are, and how many were left out and why.

    Parameters
    ----------
    documents : sequence of Document
        The training part; nothing comes of an empty one.
    terminology : Terminology
        The concepts.
    preparation : str
        A key of `canonym.training.sampling.names.PREPARATIONS`.
    types, corrections
        Those of `canonym.training.sampling.mentions.training_mentions`.
    """
    if not documents:
        return (), {}
    found = training_mentions(
        documents,
        terminology,
        protocol=_PROTOCOL[preparation],
        types=types,
        corrections=corrections,
    )
    return found.pairs, found.dropped


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
    """Make the objective of a recipe.

    Parameters
    ----------
    recipe : str
        A key of `RECIPES`.
    terminology : Terminology, optional
        The names, and the hierarchy; few-shot needs none.
    mentions : sequence of (str, frozenset of str)
        As `mentions_of` returns them.
    preparation : str
        A key of `canonym.training.sampling.names.PREPARATIONS`.
    relations : sequence of Relation, optional
        For CODER; those of the terminology by default.
    groups : mapping of str to sequence of str, optional
        For few-shot: names of every high-level concept.
    trainable : Trainable, optional
        For few-shot: the head.
    seed : int
        Of the names that few-shot draws.
    **options
        Those of the class.

    Returns
    -------
    Objective
        For `canonym.training.loop.fit.fit`.

    Raises
    ------
    InvalidInput
        If something is missing that the recipe needs, or an option is out of range.
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
    """Group the labels of a terminology by the children of a concept that they are below.

    Parameters
    ----------
    terminology : Terminology
        With a hierarchy.
    top : str
        The concept whose children are the high-level ones.
    n_concepts : int, optional
        Only those with the most names.
    allow_cycles : bool
        Whether the hierarchy may have cycles.
    """
    from canonym.terminology.hierarchy import Hierarchy
    from canonym.training.sampling.names import names_below

    table = NameTable.from_terminology(terminology, scopes=("label",))
    hierarchy = Hierarchy.from_terminology(terminology)
    return names_below(table, hierarchy, top, n_concepts=n_concepts, allow_cycles=allow_cycles)


def open_head(
    spec: str, *, hidden: int, dropout: float, width: int | None, seed: int
) -> ResidualModule:
    """Put a head to be trained on the encoder that `spec` describes, see `make_encoder`."""
    try:
        base = make_encoder(spec)
        return ResidualModule(base, hidden=hidden, dropout=dropout, width=width, seed=seed)
    except NotTrained as error:
        raise InvalidInput(
            f"{spec!r} is fitted to each terminology anew; a head goes on an encoder of dense "
            "vectors that stays as it is"
        ) from error


def data_digests(
    terminology: Terminology, *, corpus: Sequence[Document] = (), dev: Sequence[Document] = ()
) -> dict[str, str]:
    """Return the digests that tell a run's data from any other."""
    found = {"terminology": terminology.digest}
    if corpus:
        found["corpus"] = corpus_digest(corpus)
    if dev:
        found["dev"] = corpus_digest(dev)
    return found
