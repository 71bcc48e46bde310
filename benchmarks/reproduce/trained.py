"""Models of an experiment, trained before its rows are run, and known again when they are there.

`train_models` writes each model to ``FOLDER/EXPERIMENT-MODEL``, each of several samples with its
number behind. ``canonym.json`` in it says what was asked for: settings, digests of the data, and
the model it began with. A folder that says the same is used as it is; one that says something else
is a `Mismatch`. A run that was stopped goes on from its checkpoints, which stand beside.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput, Mismatch
from canonym.io import files
from canonym.training.loop.fit import fit
from canonym.training.loop.progress import FitProgress
from canonym.training.loop.save import save_trained
from canonym.training.modules.transformer import average_weights
from canonym.training.recipes import PAPERS
from reproduce.data import NotHereError, Shelf
from reproduce.files import Experiment
from reproduce.models import (
    AVERAGE,
    WORD_VECTORS,
    ModelSettings,
    in_order,
    read_models,
)
from reproduce.parts import open_parts, open_start, open_text_files
from reproduce.run import choose_rows

__all__ = ["TrainingProgress", "model_folders", "train_models"]

_STEPS = 100
"""Between checkpoints."""

TrainingProgress = Callable[[str, FitProgress], None]
"""Told the folder of a model and where its training stands."""


@dataclass
class _Trainer:
    """What all models of an experiment are trained with."""

    folder: Path
    experiment: Experiment
    models: dict[str, ModelSettings]
    given: Mapping[str, Any]
    shelf: Shelf
    device: str
    progress: TrainingProgress | None
    notice: Callable[[str], None]

    def start(self, name: str, sample: int) -> tuple[str, str | None]:
        """Return where an encoder is, and the digest of its manifest if it is one of ours."""
        if name in self.models and name not in self.given:
            parent = self.models[name]
            folders = model_folders(self.folder, self.experiment, parent)
            place = folders[sample if parent.samples > 1 else 0]
            return str(place), files.file_digest(place / files.MANIFEST)
        return str(self.given.get(name, name)), None


def model_folders(
    folder: str | Path, experiment: Experiment, model: ModelSettings
) -> tuple[Path, ...]:
    """Return the folders of the samples of a model, whether they are there or not."""
    place = Path(folder) / f"{experiment.name}-{model.name}"
    if model.samples == 1:
        return (place,)
    return tuple(place.with_name(f"{place.name}-{n + 1}") for n in range(model.samples))


def train_models(
    experiment: Experiment,
    folder: str | Path,
    *,
    shelf: Shelf,
    rows: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
    only_trained: bool = False,
    device: str = "auto",
    progress: TrainingProgress | None = None,
    notice: Callable[[str], None] = warnings.warn,
) -> dict[str, str | list[str]]:
    """Train the models that rows of an experiment name, as far as they are not there.

    Parameters
    ----------
    experiment : Experiment
        With `models`.
    folder : str or Path
        Where models are, and are written to; made if it is missing.
    shelf : Shelf
        Reads corpora and terminologies.
    rows : sequence of str
        Only for these rows; all by default.
    given : mapping of str to object, optional
        What to use for an encoder of the file; a model that is given is not trained.
    only_trained : bool
        Train nothing: find what is there.
    device : str
        As torch names it, or ``"auto"``.
    progress : callable, optional
        See `TrainingProgress`.
    notice : callable
        Told what is trained, what is used again, and what is left out because its data is not here.

    Returns
    -------
    dict of str to str or list of str
        The folder of every model that the rows name and that is there now, or the folders of its
        samples; for `reproduce.run.reproduce`.

    Raises
    ------
    InvalidInput
        If a model cannot be trained as it is described, or there is no such row.
    Mismatch
        If a folder holds a model that was trained otherwise.
    """
    folder, given = Path(folder), given or {}
    models = read_models(experiment.models)
    wanted = dict.fromkeys(
        name for row in choose_rows(experiment, rows) for name in row.get("encoders", ())
    )
    order = in_order(models, [name for name in wanted if name not in given])
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; a folder for models is expected")
    if not only_trained:
        folder.mkdir(parents=True, exist_ok=True)
    trainer = _Trainer(folder, experiment, models, given, shelf, device, progress, notice)
    found: dict[str, str | list[str]] = {}
    for name in order:
        model = models[name]
        if name in given:
            continue
        lacking = [one for one in model.parents if one in models and one not in {**found, **given}]
        if lacking:
            notice(f"{name} begins with {lacking[0]}, which is not there")
            continue
        places = model_folders(folder, experiment, model)
        try:
            for sample, place in enumerate(places):
                _find_or_train(trainer, model, sample, place, only_trained=only_trained)
        except NotHereError as error:
            notice(f"{name}: {error}")
            continue
        found[name] = [str(p) for p in places] if model.samples > 1 else str(places[0])
    return {name: places for name, places in found.items() if name in wanted}


def _find_or_train(
    trainer: _Trainer, model: ModelSettings, sample: int, place: Path, *, only_trained: bool
) -> None:
    if only_trained and not place.exists():
        raise NotHereError(f"{place} is not trained yet")
    spec, start = trainer.start(model.encoder, sample)
    described = {name: value for name, value in model.settings.items() if name != "samples"}
    asked: dict[str, Any] = {"settings": {**described, "seed": model.seed(sample)}, "start": start}
    if model.recipe == AVERAGE:
        other, asked["other"] = trainer.start(str(model.settings["other"]), sample)
    if place.exists():
        asked["data"] = open_parts(model, sample, trainer.shelf, None).digests
        _check_same(place, asked)
        trainer.notice(f"{place} is used again")
        return
    trainer.notice(f"Training {place}")
    if model.recipe == AVERAGE:
        _average(model, place, spec, other, asked)
    elif model.recipe == WORD_VECTORS:
        _train_words(trainer, model, sample, place, asked)
    else:
        _train(trainer, model, sample, place, spec, asked)


def _check_same(place: Path, asked: dict[str, Any]) -> None:
    manifest = files.read_manifest(place, kind="encoder", newest=1)
    there = (manifest.get("training") or {}).get("asked")
    wanted = json.loads(json.dumps(asked))
    if there == wanted:
        return
    if not isinstance(there, dict):
        told = "it says nothing of an experiment"
    else:
        sides = [
            {name: one.get(of) for name, of in (("start", "start"), ("content of other", "other"))}
            | {**one["settings"], **one["data"]}
            for one in (there, wanted)
        ]
        told = "; ".join(
            f"{name} is {sides[0].get(name, 'not given')!r} there and "
            f"{sides[1].get(name, 'not given')!r} here"
            for name in {**sides[0], **sides[1]}
            if sides[0].get(name) != sides[1].get(name)
        )
    raise Mismatch(
        f"{place} holds a model that was trained otherwise ({told}); remove it, or name another "
        "folder for models"
    )


def _train(
    trainer: _Trainer,
    model: ModelSettings,
    sample: int,
    place: Path,
    spec: str,
    asked: dict[str, Any],
) -> None:
    parts = open_parts(model, sample, trainer.shelf, spec)
    asked["data"] = parts.digests
    checkpoints = place.with_name(f"{place.name}.checkpoints")
    report = trainer.progress
    fitted = fit(
        parts.trainable,
        parts.objective,
        settings=model.loop(sample),
        dev_score=parts.dev_score,
        checkpoints=checkpoints,
        checkpoint_every=_STEPS,
        resume=any(checkpoints.glob("step-*")),
        data={**parts.digests, **({"start": asked["start"]} if asked["start"] else {})},
        device=trainer.device,
        progress=None if report is None else lambda now: report(place.name, now),
        notice=trainer.notice,
    )
    save_trained(
        place,
        parts.trainable,
        fitted,
        paper=PAPERS[model.recipe],
        data=parts.counts,
        asked=asked,
        dev=parts.dev_name,
    )
    shutil.rmtree(checkpoints, ignore_errors=True)


def _average(
    model: ModelSettings, place: Path, spec: str, other: str, asked: dict[str, Any]
) -> None:
    asked["data"] = {}
    one, second = (open_start(model, folder) for folder in (spec, other))
    average_weights(one, second, share=float(model.settings["share"]))
    encoder: Any = one.to_encoder()
    with files.write_folder(place) as partial:
        encoder.save(partial)
        content = {"encoder": "transformer", "training": {"asked": asked}}
        files.write_manifest(partial, kind="encoder", format_number=1, content=content)


def _train_words(
    trainer: _Trainer, model: ModelSettings, sample: int, place: Path, asked: dict[str, Any]
) -> None:
    from canonym.training.modules.word_vectors import train_word_vectors

    options = {n: v for n, v in model.settings.items() if n not in {"recipe", "text", "samples"}}
    texts = open_text_files(model, trainer.shelf)
    asked["data"] = {path.name: files.file_digest(path) for path in texts}
    encoder = train_word_vectors(texts, **{**options, "seed": model.seed(sample)})
    with files.write_folder(place) as partial:
        encoder.save(partial)
        content = {"encoder": "static", "training": {"asked": asked}}
        files.write_manifest(partial, kind="encoder", format_number=1, content=content)
