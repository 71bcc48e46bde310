"""Models of an experiment, trained before its rows are run.

`train_models` writes each model to ``FOLDER/EXPERIMENT-MODEL``, samples with their number behind.
``canonym.json`` in it has the settings, the digests of the data and the start. A folder with the
same is used again; another one is a `Mismatch`. A stopped run goes on from its checkpoints.
"""

from __future__ import annotations

import csv
import functools
import json
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from canonym.encoders import path_of
from canonym.errors import InvalidInput, Mismatch, MissingExtra, NotTrained, ReadError
from canonym.evaluation.questions import read_corrections
from canonym.io import files
from canonym.io.streams import open_text
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.training.dev_score import DevAccuracy
from canonym.training.loop.fit import Fitted, fit
from canonym.training.loop.reports import FitProgress
from canonym.training.loop.save import inference_of, save_trained
from canonym.training.papers.coder import Weighing
from canonym.training.recipes import (
    build_objective,
    data_digests,
    group_names,
    open_head,
    open_trainable,
    recipe_class,
)
from canonym.training.sampling.few_names import read_groups
from canonym.training.sampling.mentions import training_mentions
from reproduce.data import NotHereError, Shelf
from reproduce.files import Experiment
from reproduce.measures.relations import is_test_pair
from reproduce.models import (
    WORD_VECTORS,
    ModelSettings,
    in_order,
    read_models,
    resolve,
)
from reproduce.run import choose_rows
from reproduce.widths import fit_widths

_STEPS = 100
"""Between checkpoints."""

TrainingProgress = Callable[[str, FitProgress], None]
"""Takes the folder of a model and the progress of its training."""


@dataclass
class _Trainer:
    """Settings that the models of an experiment share."""

    folder: Path
    experiment: Experiment
    models: dict[str, ModelSettings]
    given: Mapping[str, Any]
    shelf: Shelf
    device: str
    progress: TrainingProgress | None
    notice: Callable[[str], None]

    def start(self, model: ModelSettings, sample: int) -> tuple[str, str | None]:
        """Return what a model begins with, and the digest of its manifest if it is one of ours."""
        name = model.start
        if name in self.models and name not in self.given:
            parent = self.models[name]
            folders = model_folders(self.folder, self.experiment, parent)
            place = folders[sample if parent.samples > 1 else 0]
            spec = resolve(model.encoder, {name: str(place)})
            return spec, files.file_digest(place / files.MANIFEST)
        return self.shelf.placed(str(resolve(model.encoder, self.given))), None


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
    """Train the missing models that rows of an experiment name, and return their folders.

    `given` replaces encoders of the file by name; a given model is not trained. With
    `only_trained` nothing is trained. `notice` takes a line for each model: trained, used again, or
    left out. A model of several samples has a list of folders.
    """
    folder, given = Path(folder), given or {}
    models = read_models(experiment.models)
    wanted = dict.fromkeys(
        path_of(spec) for row in choose_rows(experiment, rows) for spec in row.get("encoders", ())
    )
    order = in_order(models, [name for name in wanted if name not in given])
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; a folder for models is expected")
    trainer = _Trainer(folder, experiment, models, given, shelf, device, progress, notice)
    found: dict[str, str | list[str]] = {}
    for name in order:
        model = models[name]
        if name in given:
            continue
        if model.start in models and model.start not in {**found, **given}:
            notice(f"{name} begins with {model.start}, which is not there")
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
    spec, start = trainer.start(model, sample)
    settings = {**model.described, "seed": model.seed(sample)}
    asked: dict[str, Any] = {"settings": settings, "start": start}
    if place.exists():
        asked["data"] = open_parts(model, sample, trainer.shelf, None).digests
        _check_same(place, asked)
        trainer.notice(f"{place} is used again")
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    trainer.notice(f"Training {place}")
    if model.recipe == WORD_VECTORS:
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
        difference = "its manifest has no settings of an experiment"
    else:
        sides = [
            {"start": one.get("start"), **one["settings"], **one["data"]} for one in (there, wanted)
        ]
        difference = "; ".join(
            f"{name} is {sides[0].get(name, 'not given')!r} there and "
            f"{sides[1].get(name, 'not given')!r} here"
            for name in {**sides[0], **sides[1]}
            if sides[0].get(name) != sides[1].get(name)
        )
    raise Mismatch(
        f"{place} holds a model that was trained otherwise ({difference}); remove it, or name "
        "another folder for models"
    )


def _train(
    trainer: _Trainer,
    model: ModelSettings,
    sample: int,
    place: Path,
    spec: str,
    asked: dict[str, Any],
) -> None:
    checkpoints = place.with_name(f"{place.name}.checkpoints")
    report = trainer.progress

    def train(one: ModelSettings, folder: Path) -> tuple[TrainingParts, Fitted]:
        parts = open_parts(one, sample, trainer.shelf, spec, notice=trainer.notice)
        asked["data"] = parts.digests
        return parts, fit(
            parts.trainable,
            parts.objective,
            settings=one.loop(sample),
            dev_score=parts.dev_score,
            checkpoints=folder,
            checkpoint_every=_STEPS,
            resume=any(folder.glob("step-*")),
            data={**parts.digests, **({"start": asked["start"]} if asked["start"] else {})},
            device=trainer.device,
            progress=None if report is None else lambda now: report(place.name, now),
            notice=trainer.notice,
        )

    def train_width(width: int) -> tuple[TrainingParts, Fitted]:
        checkpoints.mkdir(exist_ok=True)
        one = ModelSettings(model.name, {**model.settings, "hidden": width})
        return train(one, checkpoints / f"hidden-{width}")

    tried: dict[str, float] = {}
    if widths := model.settings.get("try_hidden"):
        parts, fitted, tried = fit_widths(widths, train_width)
    else:
        parts, fitted = train(model, checkpoints)
    save_trained(
        place,
        parts.trainable,
        fitted,
        paper=recipe_class(model.recipe).paper,
        data=parts.counts,
        asked=asked,
        dev=parts.dev_name,
        **inference_of(parts.objective, model.similarity),
        tried=tried,
    )
    shutil.rmtree(checkpoints, ignore_errors=True)


def _train_words(
    trainer: _Trainer, model: ModelSettings, sample: int, place: Path, asked: dict[str, Any]
) -> None:
    from reproduce.word_vectors import train_word_vectors

    options = {n: v for n, v in model.settings.items() if n not in {"recipe", "text", "samples"}}
    texts = open_text_files(model, trainer.shelf)
    asked["data"] = {path.name: files.file_digest(path) for path in texts}
    encoder = train_word_vectors(texts, **{**options, "seed": model.seed(sample)})
    with files.write_folder(place) as partial:
        encoder.save(partial)
        content = {"encoder": "static", "training": {"asked": asked}}
        files.write_manifest(partial, kind="encoder", format_number=1, content=content)


_T = TypeVar("_T")
_PREPARATION = {
    **dict.fromkeys(("biosyn", "dilbert"), "biosyn"),
    **dict.fromkeys(("triplet", "coder"), "none"),
}
_PROTOCOL = {"biosyn": "biosyn", "none": "plain"}


@dataclass
class TrainingParts:
    """The parts of a run, as `canonym.training.loop.fit.fit` takes them.

    Without a start only `digests` of the data are there.
    """

    digests: dict[str, str]
    trainable: Any = None
    objective: Any = None
    dev_score: Callable[[Any], float] | None = None
    dev_name: str = "dev"
    counts: dict[str, Any] = field(default_factory=dict)


def open_text_files(model: ModelSettings, shelf: Shelf) -> list[Path]:
    """Return the files of running text that word vectors are made of."""
    for name in model.settings["text"]:
        shelf.check(name)
    return [shelf.data / name for name in model.settings["text"]]


def open_parts(
    model: ModelSettings,
    sample: int,
    shelf: Shelf,
    spec: str | None,
    *,
    notice: Callable[[str], None] = warnings.warn,
) -> TrainingParts:
    """Read the data of a model and make the parts of its run.

    `spec` is the encoder that training begins with; without it only digests are taken. `notice`
    takes what the dev score has to say.
    """
    if model.recipe == WORD_VECTORS:
        texts = open_text_files(model, shelf)
        return TrainingParts({path.name: files.file_digest(path) for path in texts})
    if model.recipe == "few-shot":
        return _few_shot(model, sample, shelf, spec)
    return _names(model, sample, shelf, spec, notice)


def _few_shot(model: ModelSettings, sample: int, shelf: Shelf, spec: str | None) -> TrainingParts:
    options = model.options()
    digest, read = _groups(model, shelf)
    parts = TrainingParts({"groups": digest})
    if spec is None:
        return parts
    groups = largest_groups(read(), model.settings.get("concepts"), least=2 * options.get("n", 15))
    head = {"hidden": 9600, "dropout": 0.5, "width": None, **model.encoder_options()}
    parts.trainable = _opened(lambda: open_head(spec, seed=model.seed(sample), **head), spec)
    parts.objective = build_objective(
        "few-shot",
        None,
        groups=groups,
        trainable=parts.trainable,
        seed=model.seed(sample),
        **options,
    )
    parts.dev_score, parts.dev_name = parts.objective.validation_score, "validation score"
    parts.counts = {"concepts": len(groups), "names": sum(map(len, groups.values()))}
    return parts


def _groups(model: ModelSettings, shelf: Shelf) -> tuple[str, Callable[[], dict[str, list[str]]]]:
    """Return the digest of the groups of a model, and a function that reads them."""
    given = model.settings["groups"]
    source = {"file": given} if isinstance(given, str) else dict(given)
    shelf.check(source["file"])
    top, each = source.pop("top", None), source.pop("each", None)
    if top or each:
        terminology = shelf.terminology([source])
        if top:
            return terminology.digest, functools.partial(group_names, terminology, top)
        return terminology.digest, functools.partial(_names_of_each, terminology)
    path = shelf.data / source.pop("file")
    read = functools.partial(read_tree_groups if source else read_groups, path, **source)
    return files.file_digest(path), read


def _names_of_each(terminology: Terminology) -> dict[str, list[str]]:
    return {
        one.id: [name.text for name in terminology.names(one.id)]
        for one in terminology.iter_concepts()
    }


def _opened(open_encoder: Callable[[], _T], spec: str) -> _T:
    try:
        return open_encoder()
    except (InvalidInput, MissingExtra, NotTrained, ReadError) as error:
        raise NotHereError(f"{spec!r} cannot be trained: {error}") from error


def _names(
    model: ModelSettings,
    sample: int,
    shelf: Shelf,
    spec: str | None,
    notice: Callable[[str], None],
) -> TrainingParts:
    given = model.settings
    terminology = shelf.terminology(given["terminology"])
    corpora = [_Corpus(one, model.name, shelf, terminology) for one in annotated(given)]
    documents = [document for corpus in corpora for document in corpus.documents]
    digests = data_digests(
        terminology, corpus=documents, dev=[d for corpus in corpora for d in corpus.dev]
    )
    for corpus in corpora:
        digests |= corpus.digests
    options = model.options()
    if "hierarchy" in given:
        hierarchy = shelf.terminology(given["hierarchy"])
        digests["hierarchy"] = hierarchy.digest
        options["hierarchy"] = Hierarchy.from_terminology(hierarchy)
    for source in given.get("relations", ()):
        name = source if isinstance(source, str) else source["file"]
        if name != "terminology":
            shelf.check(name)
            digests[f"relations of {name}"] = files.file_digest(shelf.data / name)
    parts = TrainingParts(digests)
    if spec is None:
        return parts
    preparation = given.get("preparation", _PREPARATION[model.recipe])
    parts.counts = {"concepts": terminology.n_concepts, "names": terminology.n_names}
    mentions = _mentions(corpora, terminology, preparation, parts, bool(given.get("distinct")))
    parts.trainable = _transformer(model, sample, spec, terminology)
    if given.get("recall"):
        options["dev"] = _held_out(corpora, terminology, preparation)
    parts.objective = build_objective(
        model.recipe,
        terminology,
        mentions=mentions,
        preparation=preparation,
        relations=_relations(model, shelf, terminology, options),
        **options,
    )
    for corpus in corpora:
        if corpus.dev:
            parts.dev_name = "dev accuracy@1"
            parts.dev_score = DevAccuracy(
                corpus.dev,
                terminology,
                training=corpus.documents,
                **corpus.options,
                searched=lambda: inference_of(parts.objective, model.similarity),
                notice=notice,
            )
    return parts


def annotated(given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the settings of every training corpus."""
    if "corpora" not in given:
        return [given] if "corpus" in given else []
    shared = {name: given[name] for name in ("format", "part") if name in given}
    return [{**shared, **one} for one in given["corpora"]]


class _Corpus:
    """The training documents of a corpus, and its dev part if that chooses the epoch.

    The `options` are those by which mentions of both are read.
    """

    def __init__(
        self, given: Mapping[str, Any], model: str, shelf: Shelf, terminology: Terminology
    ) -> None:
        parts, _ = shelf.corpus(
            given["corpus"], given.get("format", "pubtator"), terminology=terminology
        )
        self.documents, self.dev = parts.train, parts.dev if given.get("dev") else ()
        self.held_out = parts.dev
        if given.get("part") == "train+dev":
            self.documents, self.held_out = (*parts.train, *parts.dev), ()
            if self.dev:
                raise InvalidInput(
                    f"the model {model!r} cannot be trained on its dev part and kept by it"
                )
        self.options: dict[str, Any] = {"types": tuple(given.get("types", ()))}
        self.digests: dict[str, str] = {}
        if "corrections" in given:
            shelf.check(given["corrections"])
            place = shelf.data / given["corrections"]
            self.options["corrections"] = read_corrections(place)
            self.digests["corrections"] = files.file_digest(place)


def _mentions(
    corpora: Iterable[_Corpus],
    terminology: Terminology,
    preparation: str,
    parts: TrainingParts,
    distinct: bool,
) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the mentions of all corpora; count them and those left out."""
    mentions: list[tuple[str, frozenset[str]]] = []
    dropped: Counter[str] = Counter()
    for corpus in corpora:
        found = training_mentions(
            corpus.documents,
            terminology,
            protocol=_PROTOCOL[preparation],
            **corpus.options,
            distinct=distinct,
        )
        mentions += found.pairs
        dropped.update(found.dropped)
    if mentions:
        kept = tuple(dict.fromkeys(mentions)) if distinct else tuple(mentions)
        parts.counts["mentions"] = len(kept)
        parts.counts |= {f"left out {reason}": n for reason, n in dropped.items()}
        return kept
    return ()


def _held_out(
    corpora: Iterable[_Corpus], terminology: Terminology, preparation: str
) -> list[tuple[str, frozenset[str]]]:
    """Return the distinct mentions of dev parts that nothing is trained on."""
    return [
        pair
        for corpus in corpora
        if corpus.held_out
        for pair in training_mentions(
            corpus.held_out,
            terminology,
            protocol=_PROTOCOL[preparation],
            **corpus.options,
            distinct=True,
        ).pairs
    ]


def _relations(
    model: ModelSettings, shelf: Shelf, terminology: Terminology, options: dict[str, Any]
) -> Any:
    """Return relations for CODER, and bring its options to the form of its class."""
    if model.recipe != "coder":
        return None
    for name in ("weighing", "relation_weighing"):
        if name in options:
            options[name] = Weighing(**options[name])
    if not {"relations", "held_out"} & set(model.settings):
        return None
    options["strict"] = False
    found = shelf.relations(model.settings.get("relations", ["terminology"]), terminology)
    held_out = model.settings.get("held_out", False)
    return [one for one in found if not (held_out and is_test_pair(one))]


def _transformer(model: ModelSettings, sample: int, spec: str, terminology: Terminology) -> Any:
    options = model.encoder_options()
    reading = {name: options.pop(name) for name in ("pooling", "max_length") if name in options}
    return _opened(
        lambda: open_trainable(
            spec,
            names=lambda: [text for texts in terminology.iter_texts() for text in texts],
            seed=model.seed(sample),
            **options,
            **reading,
        ),
        spec,
    )


def read_tree_groups(
    path: str | Path, *, letters: str, name: str = "descriptor_name", number: str = "tree_number"
) -> dict[str, list[str]]:
    """Group names by the category that their tree number begins with, such as ``C14``.

    Fivez et al. (2021), section 2.3, have the children of a concept of SNOMED CT, which needs a
    licence.
    """
    groups: dict[str, dict[str, None]] = {}
    with open_text(path) as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        missing = [column for column in (name, number) if column not in (rows.fieldnames or ())]
        if missing:
            raise ReadError(path, f"there is no column {missing[0]!r}", line=1)
        for row in rows:
            category, point, _ = (row[number] or "").strip().partition(".")
            if point and category.startswith(letters):
                groups.setdefault(category, {})[row[name]] = None
    if not groups:
        raise ReadError(path, f"no tree number begins with {letters!r}")
    return {category: list(names) for category, names in sorted(groups.items())}


def largest_groups(
    groups: dict[str, list[str]], n: int | None, *, least: int
) -> dict[str, list[str]]:
    """Keep the groups with the most names, and of these the names that are in one only."""
    chosen = sorted(groups, key=lambda name: -len(set(groups[name])))[:n]
    owners: dict[str, set[str]] = {}
    for concept in chosen:
        for name in groups[concept]:
            owners.setdefault(name.lower(), set()).add(concept)
    kept = {
        concept: [name for name in groups[concept] if len(owners[name.lower()]) == 1]
        for concept in groups
        if concept in chosen
    }
    found = {concept: names for concept, names in kept.items() if len(set(names)) >= least}
    if len(found) < 2:
        raise InvalidInput(
            f"{len(found)} of {len(groups)} concepts have {least} names of their own; at least two "
            "are needed to tell one from another"
        )
    return found
