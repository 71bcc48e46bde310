"""What a model of an experiment is trained with: trainable, objective, dev score, digests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from canonym.errors import InvalidInput, MissingExtra, NotTrained, ReadError
from canonym.evaluation.questions import read_corrections
from canonym.io.files import file_digest
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.training.dev_score import DevAccuracy
from canonym.training.modules.transformer import NameModule
from canonym.training.papers.coder import Weighing
from canonym.training.recipes import build_objective, data_digests, open_head, open_trainable
from canonym.training.sampling.few_names import read_groups
from canonym.training.sampling.mentions import training_mentions
from reproduce.data import NotHereError, Shelf
from reproduce.groups import largest_groups, read_tree_groups
from reproduce.models import AVERAGE, WORD_VECTORS, ModelSettings

__all__ = ["TrainingParts", "open_parts", "open_start", "open_text_files"]

_T = TypeVar("_T")
_PREPARATION = {
    **dict.fromkeys(("biosyn", "dilbert"), "biosyn"),
    **dict.fromkeys(("triplet", "coder"), "none"),
}
_PROTOCOL = {"biosyn": "biosyn", "none": "plain"}


@dataclass
class TrainingParts:
    """The parts of a run.

    Attributes
    ----------
    digests : dict of str to str
        Of the data.
    trainable, objective
        As `canonym.training.loop.fit.fit` takes them; None where only digests were wanted.
    dev_score, dev_name
        What is measured between epochs, and what it is called.
    counts : dict of str to object
        What there is to train on.
    """

    digests: dict[str, str]
    trainable: Any = None
    objective: Any = None
    dev_score: Callable[[Any], float] | None = None
    dev_name: str = "dev"
    counts: dict[str, Any] = field(default_factory=dict)


def open_text_files(model: ModelSettings, shelf: Shelf) -> list[Path]:
    """Return the files of running text that word vectors are made of.

    Raises
    ------
    NotHereError
        If one is not in the data folder.
    """
    for name in model.settings["text"]:
        shelf.check(name)
    return [shelf.data / name for name in model.settings["text"]]


def open_start(model: ModelSettings, spec: str) -> NameModule:
    """Open a transformer that is there.

    Raises
    ------
    NotHereError
        If it is not.
    """
    options = model.chosen(("pooling", "max_length"))
    return _opened(lambda: open_trainable(spec, names=tuple, **options), spec)


def open_parts(model: ModelSettings, sample: int, shelf: Shelf, spec: str | None) -> TrainingParts:
    """Read the data of a model, and make what it is trained with.

    Parameters
    ----------
    model : ModelSettings
        Of `reproduce.models.read_models`.
    sample : int
        From 0.
    shelf : Shelf
        Reads corpora and terminologies.
    spec : str, optional
        What training begins with; without it only the data is read and its digests are taken.

    Raises
    ------
    NotHereError
        If data or the encoder is not here.
    InvalidInput
        If a setting does not fit, or there is nothing to train on.
    """
    if model.recipe == AVERAGE:
        return TrainingParts({})  # nothing is read but the two
    if model.recipe == WORD_VECTORS:
        texts = open_text_files(model, shelf)
        return TrainingParts({path.name: file_digest(path) for path in texts})
    if model.recipe == "few-shot":
        return _few_shot(model, sample, shelf, spec)
    return _names(model, sample, shelf, spec)


# --- a head ---------------------------------------------------------------------------------------


def _few_shot(model: ModelSettings, sample: int, shelf: Shelf, spec: str | None) -> TrainingParts:
    given = model.settings["groups"]
    source = {"file": given} if isinstance(given, str) else dict(given)
    shelf.check(source["file"])
    path = shelf.data / source.pop("file")
    parts = TrainingParts({"groups": file_digest(path)})
    if spec is None:
        return parts
    groups = read_tree_groups(path, **source) if source else read_groups(path)
    options = model.options()
    groups = largest_groups(groups, model.settings.get("concepts"), least=2 * options.get("n", 15))
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


def _opened(open_encoder: Callable[[], _T], spec: str) -> _T:
    try:
        return open_encoder()
    except (InvalidInput, MissingExtra, NotTrained, ReadError) as error:
        raise NotHereError(f"{spec!r} cannot be trained: {error}") from error


# --- an encoder of names --------------------------------------------------------------------------


def _names(model: ModelSettings, sample: int, shelf: Shelf, spec: str | None) -> TrainingParts:
    given = model.settings
    terminology = shelf.terminology(given["terminology"])
    corpora = [_Corpus(one, model.name, shelf, terminology) for one in _annotated(given)]
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
            digests[f"relations of {name}"] = file_digest(shelf.data / name)
    parts = TrainingParts(digests)
    if spec is None:
        return parts
    preparation = given.get("preparation", _PREPARATION[model.recipe])
    parts.counts = {"concepts": terminology.n_concepts, "names": terminology.n_names}
    mentions = _mentions(corpora, terminology, preparation, parts, bool(given.get("distinct")))
    parts.trainable = _transformer(model, sample, spec, terminology)
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
                types=corpus.types,
                corrections=corpus.corrections,
            )
    return parts


def _annotated(given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the settings of every corpus that a model is trained on."""
    if "corpora" not in given:
        return [given] if "corpus" in given else []
    shared = {name: given[name] for name in ("format", "part") if name in given}
    return [{**shared, **one} for one in given["corpora"]]


class _Corpus:
    """What is trained on, and what says which epoch is kept; never the test part."""

    def __init__(
        self, given: Mapping[str, Any], model: str, shelf: Shelf, terminology: Terminology
    ) -> None:
        parts, _ = shelf.corpus(
            given["corpus"], given.get("format", "pubtator"), terminology=terminology
        )
        self.types: tuple[str, ...] = tuple(given.get("types", ()))
        self.documents, self.dev = parts.train, parts.dev if given.get("dev") else ()
        if given.get("part") == "train+dev":
            self.documents = (*parts.train, *parts.dev)
            if self.dev:
                raise InvalidInput(
                    f"the model {model!r} cannot be trained on its dev part and kept by it"
                )
        self.corrections: Mapping[str, str] | None = None
        self.digests: dict[str, str] = {}
        if "corrections" in given:
            shelf.check(given["corrections"])
            place = shelf.data / given["corrections"]
            self.corrections = read_corrections(place)
            self.digests["corrections"] = file_digest(place)


def _mentions(
    corpora: Iterable[_Corpus],
    terminology: Terminology,
    preparation: str,
    parts: TrainingParts,
    distinct: bool,
) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the mentions of all corpora, and count them and those left out."""
    mentions: list[tuple[str, frozenset[str]]] = []
    dropped: Counter[str] = Counter()
    for corpus in corpora:
        found = training_mentions(
            corpus.documents,
            terminology,
            protocol=_PROTOCOL[preparation],
            types=corpus.types,
            corrections=corpus.corrections,
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


def _relations(
    model: ModelSettings, shelf: Shelf, terminology: Terminology, options: dict[str, Any]
) -> Any:
    """Return relations for CODER, and bring its options to the form of its class."""
    if model.recipe != "coder":
        return None
    for name in ("weighing", "relation_weighing"):
        if name in options:
            options[name] = Weighing(**options[name])
    if "relations" not in model.settings:
        return None
    options["strict"] = False
    return shelf.relations(model.settings["relations"], terminology)


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
