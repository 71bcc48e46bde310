"""What the training of an experiment costs: names through the encoder, and the rate of others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from canonym.training.loop.checkpoints import list_checkpoints
from canonym.training.recipes import objective_keys
from reproduce.data import Shelf
from reproduce.files import Experiment
from reproduce.history import training_facts
from reproduce.models import ModelSettings
from reproduce.needs import lacking
from reproduce.training import annotated, model_folders

NO_ENCODER = ("word-vectors", "few-shot")
"""Recipes that train no encoder of names."""


class Cost(NamedTuple):
    """A model: what is left to do, and the names through its encoder.

    `names` is an upper bound for all its samples, of which `left` are still to come; None where it
    cannot be told before the data are here, or no encoder is trained.
    """

    model: ModelSettings
    state: str
    names: int | None
    left: int | None


def cost_of(
    model: ModelSettings,
    models: Mapping[str, ModelSettings],
    *,
    experiment: Experiment,
    folder: str | Path,
    shelf: Shelf,
    given: Mapping[str, Any],
) -> Cost:
    """Return the cost of a model, as far as settings and data tell."""
    places = model_folders(folder, experiment, model)
    done = sum(place.exists() for place in places)
    lacks = [kind for kind, _ in lacking(model, models, shelf, given)]
    names = _names(model, None if "data" in lacks else shelf)
    left = None if names is None else names * (len(places) - done) // len(places)
    if done == len(places):
        return Cost(model, "trained", names, 0)
    if lacks:
        return Cost(model, f"waits for {len(lacks)} that are missing", names, left)
    begun = [place.with_name(f"{place.name}.checkpoints") for place in places]
    steps = [found[0].name for found in map(list_checkpoints, begun) if found]
    state = f"goes on from {steps[0]}" if steps else "to be trained"
    return Cost(model, f"{state}, {done} of {len(places)} done" if done else state, names, left)


def measured_rate(experiment: Experiment, models: Mapping[str, Any], folder: str | Path) -> float:
    """Return the names a second of the models that are trained already; 0 without one."""
    there = {
        name: [str(place) for place in places]
        for name, model in models.items()
        for places in [model_folders(folder, experiment, model)]
        if model.recipe not in NO_ENCODER and all(place.exists() for place in places)
    }
    facts = training_facts(there).values()
    seconds = sum(one["seconds"] for one in facts)
    return sum(one["names"] for one in facts) / seconds if seconds else 0.0


def _names(model: ModelSettings, shelf: Shelf | None) -> int | None:
    """Return the most names that training sends through the encoder; None if nobody knows."""
    if model.recipe in NO_ENCODER:
        return None
    options = {name: one.default for name, one in objective_keys(model.recipe).items()}
    options |= model.options()
    loop = model.loop(0)
    if loop.max_names:
        return model.samples * loop.max_names
    per_step = 2 * options["batch_size"] * loop.accumulation
    if model.recipe in {"coder", "triplet"} and loop.max_steps:
        return model.samples * loop.max_steps * per_step
    if shelf is None or model.recipe == "coder":
        return None
    terminology = shelf.terminology(model.settings["terminology"])
    mentions = sum(
        not corpus.get("types") or mention.type in corpus["types"]
        for corpus in annotated(model.settings)
        for document in _documents(corpus, model, shelf, terminology)
        for mention in document.mentions
    )
    if model.recipe == "biosyn":
        epoch = mentions * (2 + options["k"]) + terminology.n_names
    elif model.recipe == "triplet":
        share = options["share"] if mentions else 0
        epoch = round(2 * (1 + share) * terminology.n_names)
    else:
        parents, siblings = (
            options["n_relatives"] if kind in options["strategy"] else 0
            for kind in ("parents", "siblings")
        )
        n_triplets = (options["n_positives"] + parents) * (options["n_negatives"] + siblings)
        epoch = 3 * mentions * n_triplets
    return model.samples * loop.n_epochs * epoch


def _documents(corpus: Mapping[str, Any], model: ModelSettings, shelf: Shelf, terms: Any) -> Any:
    parts, _ = shelf.corpus(corpus["corpus"], corpus.get("format", "pubtator"), terminology=terms)
    both = model.settings.get("part") == "train+dev"
    return (*parts.train, *parts.dev) if both else parts.train
