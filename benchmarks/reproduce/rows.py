"""Rows of an experiment run: linking, relatedness, similarity of concepts, relations, NIL."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from canonym.corpora.cadec import read_folds
from canonym.errors import InvalidInput
from canonym.evaluation.pairs import read_pairs, relatedness
from canonym.evaluation.protocols import Protocol, choose_protocol
from canonym.evaluation.questions import read_corrections
from canonym.evaluation.run import Run, evaluate_corpus
from canonym.evaluation.slices import Figure
from canonym.io.files import file_digest
from canonym.linking.build import similarity_of
from canonym.terminology import Terminology
from canonym.types import Document, Encoder, Relation
from reproduce.data import NotHereError, Shelf
from reproduce.folds import FoldRuns, evaluate_folds
from reproduce.measures.mcsm import mcsm
from reproduce.measures.relations import (
    choose_triplets,
    evaluate_relations,
    finetuned,
    frozen,
)
from reproduce.models import resolve, with_options
from reproduce.results import Measured, Outcome, SampleRuns, leave_out, measure_nil

Models: TypeAlias = Mapping[str, str | Encoder | Sequence[str | Encoder]]
"""For encoders of a file: an encoder, the folder of one, or one for each sample."""

Row: TypeAlias = Mapping[str, Any]


def run_row(row: Row, shelf: Shelf, models: Models) -> Outcome:
    """Run one row of an experiment.

    `models` replaces encoders by name; the row is run with each of several samples.
    """
    names = [_read_as(resolve(name, models), row) for name in row.get("encoders", ())]
    counts = {len(one) for one in names if _is_list(one)}
    if not counts:
        return _run(row, shelf, names)
    if len(counts) > 1:
        raise InvalidInput(
            f"the models of the row {row['name']!r} have different numbers of samples"
        )
    runs: list[Any] = [
        _run(row, shelf, [one[sample] if _is_list(one) else one for one in names])
        for sample in range(counts.pop())
    ]
    if any(isinstance(run, FoldRuns) for run in runs):
        raise InvalidInput(f"the row {row['name']!r} has folds and its models samples: choose one")
    return runs[0] if len(runs) == 1 else SampleRuns(tuple(runs))


def _read_as(given: Any, row: Row) -> Any:
    """Return the description of an encoder, or of each sample, with the options of a row."""
    for option in ("pooling", "similarity"):
        given = with_options(given, f"{option}={row[option]}") if option in row else given
    return given


def _is_list(one: Any) -> bool:
    return isinstance(one, Sequence) and not isinstance(one, str)


def _run(row: Row, shelf: Shelf, names: Sequence[Any]) -> Run | FoldRuns | Measured:
    return TASKS[row.get("task", "link")](row, shelf, names)


# --- linking --------------------------------------------------------------------------------------


def _link(row: Row, shelf: Shelf, names: Sequence[Any]) -> Run | FoldRuns:
    for setting in ("weights", "search"):
        if isinstance(row.get(setting), Mapping):
            chosen, note = _choose(row, shelf, names, setting)
            found = _link({**row, setting: chosen}, shelf, names)
            return replace(found, notes=(*found.notes, note)) if isinstance(found, Run) else found
    options = _options(row, shelf, names)
    if row.get("format") == "folds":
        shelf.check(row["corpus"])
        sources = row.get("terminology")
        return evaluate_folds(
            read_folds(shelf.data / row["corpus"]),
            terminology=shelf.terminology(sources) if sources else None,
            files=shelf.files(row["corpus"]),
            **options,
        )
    return _evaluate(row, shelf, shelf.terminology(row["terminology"]), options)


def _options(row: Row, shelf: Shelf, names: Sequence[Any]) -> dict[str, Any]:
    corrections, search = row.get("corrections"), row.get("search")
    precision = row.get("precision", "fp32")
    if corrections:
        shelf.check(corrections)
    return {
        "encoders": [shelf.encoder(name, precision=precision) for name in names],
        "weights": row.get("weights"),
        "indexed": shelf.indexing(names, search, precision=precision),
        "protocol": _protocol(row),
        "part": row.get("part", "test"),
        "metrics": tuple(row["published"]),
        "types": row.get("types", ()),
        "corrections": read_corrections(shelf.data / corrections) if corrections else None,
        **{key: row[key] for key in ("seed", "k") if key in row},
    }


def _protocol(row: Row) -> Protocol:
    variant = {key: row[key] for key in ("split", "same", "glosses") if key in row}
    if row.get("search") and row.get("glosses"):
        raise InvalidInput(f"the row {row['name']!r} has a search, which knows no glosses")
    chosen = choose_protocol(row["protocol"], **variant)
    # The mean of a concept's names is no name that could be read leniently.
    return replace(chosen, readings=chosen.readings[-2:]) if row.get("search") else chosen


def _evaluate(row: Row, shelf: Shelf, terminology: Terminology, options: dict[str, Any]) -> Run:
    part, before, notes = _parts(row, shelf, terminology)
    found = evaluate_corpus(
        part,
        terminology=terminology,
        training=before if row.get("training", True) else (),
        files=shelf.files(row["corpus"]),
        **options,
    )
    return replace(found, notes=notes)


def _parts(
    row: Row, shelf: Shelf, terminology: Terminology
) -> tuple[tuple[Document, ...], tuple[Document, ...], tuple[str, ...]]:
    """Return the part of a corpus that a row asks, the parts before it, and remarks."""
    name, format_ = row["corpus"], row.get("format", "pubtator")
    (train, dev, test), notes = shelf.corpus(name, format_, terminology=terminology)
    if row.get("part") != "dev":
        return test, (*train, *dev), notes
    if not dev:
        raise NotHereError(f"{name} has no dev part")
    return dev, train, notes


def _choose(row: Row, shelf: Shelf, names: Sequence[Any], setting: str) -> tuple[Any, str]:
    """Choose a setting on the dev part: the search, or the weight of the last encoder."""
    if row.get("format") == "folds" or row.get("part") == "dev":
        raise InvalidInput(
            f"the row {row['name']!r} cannot choose {setting} on its dev part: a test part to be "
            "measured is expected"
        )
    tried: Sequence[Any] = row[setting]["dev"]
    if setting == "weights":
        tried = [[*[1.0] * (len(names) - 1), float(weight)] for weight in tried]
    metric = next(iter(row["published"]))
    best, chosen = -math.inf, tried[0]
    for value in tried:
        run = _link({**row, "part": "dev", setting: value}, shelf, names)
        found = run.value(metric, reading=row.get("reading")) if isinstance(run, Run) else -math.inf
        if found > best:
            best, chosen = found, value
    named = f"the weight {chosen[-1]:g}" if setting == "weights" else f"the search {chosen}"
    return chosen, f"{named} was chosen on the dev part, with {100 * best:.1f} there"


# --- vectors alone --------------------------------------------------------------------------------


def _one_encoder(row: Row, shelf: Shelf, names: Sequence[Any]) -> Encoder:
    if len(names) != 1:
        raise InvalidInput(f"the task {row['task']!r} is for one encoder; {len(names)} are named")
    return shelf.encoder(names[0], precision=row.get("precision", "fp32"))


def _relatedness(row: Row, shelf: Shelf, names: Sequence[Any]) -> Measured:
    shelf.check(row["pairs"])
    pairs = read_pairs(shelf.data / row["pairs"])
    encoders = [shelf.encoder(name, precision=row.get("precision", "fp32")) for name in names]
    found = relatedness(encoders, pairs, weights=row.get("weights"), rng=row.get("seed", 0))
    remarks = (f"{found.missing:,} pairs have a term without a vector",) if found.missing else ()
    figure = Figure("all", "", "spearman", found.n, found.rho, found.low, found.high)
    return Measured("relatedness", (figure,), remarks=remarks, data=_digests(row, shelf))


def _mcsm(row: Row, shelf: Shelf, names: Sequence[Any]) -> Measured:
    terminology = shelf.terminology(row["terminology"])
    options = {key: row[key] for key in ("types", "k") if key in row}
    found = measure_mcsm(terminology, _one_encoder(row, shelf, names), **options)
    return replace(found, data=_digests(row, shelf))


def measure_mcsm(
    terminology: Terminology, encoder: Encoder, *, types: Sequence[str] = (), k: int = 40
) -> Measured:
    """Measure how often the `k` nearest labels of a terminology are of the same semantic type.

    With `types` there are only the concepts of these.
    """
    wanted = frozenset(types)
    concepts = [
        concept
        for concept in terminology.iter_concepts()
        if concept.label and (not wanted or wanted.intersection(concept.types))
    ]
    if wanted and not concepts:
        raise InvalidInput(f"no concept has the type {' or '.join(types)}")
    vectors = _dense(encoder, [concept.label for concept in concepts])
    found = mcsm(vectors, [c.types for c in concepts], k=k, of=wanted or None)
    if not found.scores:
        raise InvalidInput("no concept of the terminology has a semantic type")
    figures = [
        Figure("all", "", name, found.n[name], value, math.nan, math.nan)
        for name, value in found.scores.items()
    ]
    mean = sum(found.scores.values()) / len(found.scores)
    figures.append(Figure("all", "", "mean", len(concepts), mean, math.nan, math.nan))
    remark = f"of at most {found.maximum:.2f}, with {found.k} neighbours"
    return Measured("mcsm", tuple(figures), remarks=(remark,))


def _relations(row: Row, shelf: Shelf, names: Sequence[Any]) -> Measured:
    terminology = shelf.terminology(row["terminology"])
    options = {key: row[key] for key in ("most", "epochs", "learning_rate") if key in row}
    encoder = _one_encoder(row, shelf, names)
    found = measure_relations(
        terminology,
        shelf.relations(row["relations"], terminology),
        encoder,
        fresh=(lambda: shelf.fresh_encoder(names[0])) if row.get("finetuned") else None,
        seed=row.get("seed", 0),
        **options,
    )
    return replace(found, data=_digests(row, shelf))


def measure_relations(
    terminology: Terminology,
    relations: Iterable[Relation],
    encoder: Encoder,
    *,
    fresh: Callable[[], Any] | None = None,
    most: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Measured:
    """Measure how well the relation of two concepts is told from the vectors of their labels.

    With `most` half of the triplets are turned around, and no relation has more. `fresh` makes an
    encoder that is trained along; `options` are those of `frozen` or `finetuned`.
    """
    given = list(dict.fromkeys(relations))
    labels = {c.id: c.label for c in terminology.iter_concepts() if c.label}
    named = [one for one in given if one.head in labels and one.tail in labels]
    kept = named if most is None else choose_triplets(named, most=most, rng=seed)
    ids = list(dict.fromkeys(id_ for one in kept for id_ in (one.head, one.tail)))
    if fresh is not None:
        fit = finetuned(fresh, labels, **options)
    else:
        vectors = _dense(encoder, [labels[id_] for id_ in ids])
        # The published rate suits vectors as BERT gives them, with columns near 1.
        vectors = vectors * vectors.shape[1] ** 0.5
        fit = frozen(dict(zip(ids, vectors, strict=True)), **options)
    found = evaluate_relations(fit, kept, by="pair", seed=seed)
    figure = Figure("all", "", "accuracy", found.n_test, found.accuracy, found.low, found.high)
    remarks = [f"the commonest relation alone has {100 * found.majority:.1f}"]
    remarks.append(f"{len({one.relation for one in kept}):,} relations of {len(kept):,} triplets")
    if found.mistakes:
        (right, wrong), n = next(iter(found.mistakes.items()))
        remarks.append(f"the commonest mistake is {wrong} for {right}, {n:,} of {found.n_test:,}")
    if len(named) < len(given):
        remarks.append(
            f"{len(given) - len(named):,} of {len(given):,} triplets, with a concept that the "
            "terminology does not have, were left out"
        )
    details = {"majority": found.majority, "chance": found.chance, "n_train": found.n_train}
    return Measured("relations", (figure,), "%", tuple(remarks), details=details)


def _dense(encoder: Encoder, texts: Sequence[str]) -> Any:
    vectors = encoder.encode(texts)
    if not isinstance(vectors, np.ndarray):
        raise InvalidInput("this task is for dense vectors; character n-grams give sparse ones")
    return vectors


def _digests(row: Row, shelf: Shelf) -> dict[str, str]:
    """Return the digests of the files of pairs, names and relations that a row reads."""
    sources = [row.get("pairs", ""), *row.get("terminology", ()), *row.get("relations", ())]
    tables = [source if isinstance(source, Mapping) else {"file": source} for source in sources]
    names = dict.fromkeys(
        table[key] for table in tables for key in ("file", "trees") if key in table
    )
    return {name: file_digest(shelf.data / name) for name in names if (shelf.data / name).is_file()}


# --- NIL ------------------------------------------------------------------------------------------


def _nil(row: Row, shelf: Shelf, names: Sequence[Any]) -> Measured:
    terminology = shelf.terminology(row["terminology"])
    seed = row.get("seed", 0)
    options = _options({**row, "published": {}}, shelf, names)
    options["protocol"] = replace(options["protocol"], keep="all")
    share = row.get("absent", 0.0)
    remarks: tuple[str, ...] = ()
    part, before, notes = _parts(row, shelf, terminology)
    searched = terminology
    if share:
        searched, n = leave_out(terminology, part, share=share, seed=seed)
        remarks = (f"{n:,} concepts of the mentions were taken out of the terminology",)
    run = evaluate_corpus(
        part, terminology=searched, training=before, files=shelf.files(row["corpus"]), **options
    )
    found = measure_nil(
        run,
        searched,
        reading=row.get("reading"),
        n_dev=row.get("n_dev", 100),
        repetitions=row.get("repetitions", 20),
        seed=seed,
        by_distance=[similarity_of(one) for one in options["encoders"]] == ["euclidean"],
    )
    return replace(found, remarks=(*found.remarks, *remarks, *notes))


TASKS: dict[str, Callable[[Row, Shelf, Sequence[Any]], Run | FoldRuns | Measured]] = {
    "link": _link,
    "relatedness": _relatedness,
    "mcsm": _mcsm,
    "relations": _relations,
    "nil": _nil,
}
"""How rows of each task are run."""
