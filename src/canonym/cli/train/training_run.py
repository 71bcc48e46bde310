"""A training run from the command line: read, sample, train, and write the encoder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from canonym.cli.annotated import open_corpus
from canonym.cli.description import print_facts
from canonym.cli.named_indexes import open_terminologies
from canonym.cli.progress import note, stages
from canonym.cli.verbosity import is_quiet
from canonym.errors import InvalidInput
from canonym.io.files import MANIFEST, file_digest
from canonym.io.places import check_distinct, check_outputs

if TYPE_CHECKING:
    from canonym.terminology import Terminology
    from canonym.training.plan import TrainingSpec
    from canonym.types import Document, Record


class Parts(NamedTuple):
    """The parts of a run, for `canonym.training.loop.fit.fit`, and counts to print."""

    trainable: Any
    objective: Any
    dev_score: Callable[[Any], float] | None
    dev_name: str
    digests: dict[str, str]
    counts: dict[str, Any]


def run_training(spec: TrainingSpec) -> None:
    """Read, sample, train, and write the encoder; or show what would be sampled."""
    from canonym.cli.output import print_table
    from canonym.training.loop.checkpoints import begin, remove_checkpoints
    from canonym.training.loop.save import inference_of, save_trained
    from canonym.training.plan import repeated_plan
    from canonym.training.watched import watched_tables

    checkpoints = _checkpoint_folder(spec)
    if _is_finished(spec) and not spec.dry_run:
        note(f"{spec.output} is finished: there is nothing to do.")
        # A kill may have left some of them.
        remove_checkpoints(checkpoints, keep=spec.keep_checkpoints)
        return
    _check(spec)
    if not spec.dry_run and _has_encoder(spec):  # it is replaced, and stands there until then
        begin(checkpoints)
    with stages(unit="") as report:
        parts = prepare(spec, stage=partial(report, done=0, total=None))
    if spec.dry_run:
        _show_samples(spec, parts)
        return
    fitted = _fit(spec, parts)
    if os.environ.get("RANK", "0") != "0":  # `accelerate launch` starts several; the first writes
        return
    save_trained(
        spec.output,
        parts.trainable,
        fitted,
        paper=parts.objective.paper,
        data=parts.counts,
        dev=parts.dev_name,
        plan=repeated_plan(spec),
        overwrite=spec.overwrite,
        **inference_of(parts.objective, spec.similarity),
    )
    remove_checkpoints(checkpoints, keep=spec.keep_checkpoints)
    if not is_quiet():
        facts: dict[str, Any] = {"encoder": spec.output, "steps": fitted.steps}
        facts["names"] = f"{fitted.names:,} through the encoder"
        facts["epochs"] = len(fitted.epochs)
        if fitted.kept is not None:
            score = fitted.epochs[fitted.kept].dev
            facts["kept"] = f"epoch {fitted.kept + 1}, {parts.dev_name} {score:.4f}"
        recalls = [found["recall"] for found in fitted.measured if "recall" in found]
        for part in recalls[0] if recalls else ():
            shares = [f"{100 * one[part]:.1f}" for one in (recalls[0], recalls[-1])]
            facts[f"{part} candidates"] = f"right for {' %, at the end '.join(shares)} %"
        print_facts({**facts, "time": f"{fitted.seconds:.0f} s"})
        for table in watched_tables(fitted.measured, fitted.kept):
            for place, column in enumerate(table.columns):  # long names need the width of a line
                names = [(f"{rank}", row[place]) for rank, row in enumerate(table.rows, start=1)]
                print_table(("", column), names, title=table.mention)


def _checkpoint_folder(spec: TrainingSpec) -> Path:
    output = Path(spec.output)
    return Path(spec.checkpoints or output.with_name(f"{output.name}.checkpoints"))


def _check(spec: TrainingSpec) -> None:
    """Refuse what cannot work before anything takes time."""
    if not spec.encoder:
        raise InvalidInput("no encoder to begin with: name one with -e, or in the plan")
    if not (spec.terminologies or spec.recipe == "few-shot"):
        raise InvalidInput(f"{spec.recipe} trains on a terminology: name one with -t")
    folder = _checkpoint_folder(spec)
    if not spec.dry_run:
        config = (spec.corrections, spec.relations, spec.groups, spec.dev)
        inputs = (spec.encoder, *spec.terminologies, *spec.corpora, *config)
        check_outputs(
            {"-o": spec.output}, inputs, overwrite=spec.overwrite, folder=True, touched=[folder]
        )
        # A resumed run goes on with its log.
        check_outputs({"log": spec.log}, inputs, overwrite=spec.overwrite or spec.resume)
        check_distinct({"-o": spec.output, "log": spec.log})
    if spec.loop.patience and not spec.dev and spec.recipe != "few-shot":
        raise InvalidInput("early_stopping goes by the score of a --dev corpus; name one")
    if spec.recipe == "few-shot" and bool(spec.top) == bool(spec.groups):
        raise InvalidInput("name the high-level concepts: either --top or --groups")
    if not spec.terminologies and (spec.top or spec.dev):
        raise InvalidInput(
            f"{'--top' if spec.top else '--dev'} needs a terminology: name one with --terminology"
        )
    if not (spec.resume or spec.dry_run) and any(folder.glob("**/step-*")):
        raise InvalidInput(
            f"{folder} holds checkpoints of a run; go on with --resume, or remove the folder or "
            "name another with --set checkpoints=FOLDER"
        )


def _is_finished(spec: TrainingSpec) -> bool:
    """Tell whether the run that is resumed has written its encoder."""
    from canonym.training.loop.checkpoints import BEGUN, list_checkpoints

    folder = _checkpoint_folder(spec)
    left = (folder / BEGUN).exists() or list_checkpoints(folder)  # more epochs may be wanted
    return spec.resume and not left and _has_encoder(spec)


def _has_encoder(spec: TrainingSpec) -> bool:
    return (Path(spec.output) / MANIFEST).is_file()


def prepare(spec: TrainingSpec, *, stage: Callable[[str], None]) -> Parts:
    """Read the files, open the encoder, and make the objective; `stage` gets what begins."""
    from canonym.evaluation.questions import read_corrections
    from canonym.training.recipes import SCRATCH, build_objective, data_digests, mentions_of
    from canonym.training.sampling.relations import read_relations

    stage("Reading the corpora" if spec.corpora or spec.dev else "Reading")
    corrections = read_corrections(spec.corrections) if spec.corrections else None
    corpus = read_documents(spec.corpora, format=spec.format)
    dev = read_documents([spec.dev], format=spec.format) if spec.dev else []
    stage("Reading the terminology")
    terminology = open_terminologies(spec.terminologies) if spec.terminologies else _of_groups(spec)
    counts: dict[str, Any] = {"concepts": terminology.n_concepts, "names": terminology.n_names}
    prepared = partial(
        mentions_of,
        terminology=terminology,
        preparation=spec.preparation,
        types=spec.types,
        corrections=corrections,
    )
    mentions, dropped = prepared(corpus)
    further: dict[str, Any] = {}
    if spec.recipe == "biosyn":  # counts the candidates of dev mentions, if not all are composite
        with contextlib.suppress(InvalidInput):
            further["dev"] = prepared(dev)[0]
    if corpus:
        counts["mentions"] = len(mentions)
    counts |= {f"left out {reason}": n for reason, n in dropped.items()}
    stage("Opening the encoder")
    if spec.encoder == SCRATCH and not spec.objective.get("cosine_scale", spec.recipe != "biosyn"):
        note("WARNING: inner products of random weights teach little: add --set cosine_scale=20")
    trainable = _open_trainable(spec, terminology)
    stage(f"Collecting {terminology.n_names:,} names of {terminology.n_concepts:,} concepts")
    objective = build_objective(
        spec.recipe,
        terminology,
        mentions=mentions,
        preparation=spec.preparation,
        relations=None if spec.relations is None else read_relations(spec.relations),
        groups=_groups(spec, terminology),
        trainable=trainable,
        seed=spec.loop.seed,
        **spec.objective,
        **further,
    )
    stage("Taking digests of the data")
    digests = data_digests(terminology, corpus=corpus, dev=dev)
    for what in ("corrections", "relations", "groups"):
        if (path := getattr(spec, what)) is not None:
            digests[what] = file_digest(path)
    score, name = _dev_score(spec, terminology, objective, corpus, dev, corrections, trainable)
    return Parts(trainable, objective, score, name, digests, counts)


def _open_trainable(spec: TrainingSpec, terminology: Terminology) -> Any:
    from canonym.training.recipes import open_head, open_trainable

    if spec.recipe == "few-shot":
        return open_head(spec.encoder, seed=spec.loop.seed, **spec.module)
    return open_trainable(
        spec.encoder,
        names=lambda: [text for texts in terminology.iter_texts() for text in texts],
        seed=spec.loop.seed,
        **spec.module,
    )


def _of_groups(spec: TrainingSpec) -> Terminology:
    """Return the names of --groups as a terminology, where no other is named."""
    from canonym.terminology import Terminology
    from canonym.training.sampling.few_names import read_groups
    from canonym.types import Concept, Name

    def records() -> Iterator[Record]:
        for concept, names in read_groups(spec.groups or "").items():
            yield Concept(concept)
            yield from (Name(name, concept) for name in names)

    return Terminology.build(records())


def _groups(spec: TrainingSpec, terminology: Terminology) -> dict[str, list[str]] | None:
    from canonym.training.recipes import group_names
    from canonym.training.sampling.few_names import read_groups

    if spec.groups is not None:
        return read_groups(spec.groups)
    if spec.top is None:
        return None
    return group_names(
        terminology, spec.top, n_concepts=spec.concepts, allow_cycles=spec.allow_cycles
    )


def _dev_score(
    spec: TrainingSpec,
    terminology: Terminology,
    objective: Any,
    corpus: Sequence[Document],
    dev: Sequence[Document],
    corrections: Any,
    trainable: Any,
) -> tuple[Callable[[Any], float] | None, str]:
    from canonym.linking.build import encoder_steps
    from canonym.training.dev_score import DevAccuracy
    from canonym.training.loop.save import inference_of

    if dev:
        score = DevAccuracy(
            dev,
            terminology,
            training=corpus,
            types=spec.types,
            corrections=corrections,
            steps=encoder_steps(getattr(trainable, "base", None)),
            searched=lambda: inference_of(objective, spec.similarity),
            notice=lambda text: note(f"Note: {text}."),
        )
        return score, "dev accuracy@1"
    if spec.recipe == "few-shot":
        return objective.validation_score, "validation score"
    return None, "dev"


def read_documents(paths: Sequence[str], *, format: str | None) -> list[Document]:
    """Read annotated corpora one after the other."""
    return [document for path in paths for document in open_corpus(path, format=format).documents]


def _fit(spec: TrainingSpec, parts: Parts) -> Any:
    from canonym.training.loop.fit import fit
    from canonym.training.loop.reports import FitProgress

    def each_epoch(entry: Mapping[str, Any]) -> None:
        dev = "" if entry["dev"] is None else f", {parts.dev_name} {entry['dev']:.4f}"
        lead = f"Epoch {entry['epoch'] + 1}, step {entry['step']:,}: mean loss "
        rate = f" ({speed[-1]:,.0f} names/s)" if speed else ""
        note(f"{lead}{entry['mean_loss']:.4f}{dev}{rate}")

    def progress(now: FitProgress) -> None:
        speed[:] = [now.names_per_second]
        report("Training", now.step, now.total)

    speed: list[float] = []
    with stages(unit={"Training": "steps", "Sampling": "names"}) as report:
        return fit(
            parts.trainable,
            parts.objective,
            settings=spec.loop,
            dev_score=parts.dev_score,
            checkpoints=_checkpoint_folder(spec),
            checkpoint_every=spec.checkpoint_every,
            resume=spec.resume,
            data=parts.digests,
            device=spec.device,
            log=spec.log,
            tensorboard=spec.tensorboard,
            progress=progress,
            sampling=partial(report, "Sampling"),
            each_epoch=each_epoch,
            notice=lambda text: note(f"Note: {text}."),
        )


def _show_samples(spec: TrainingSpec, parts: Parts) -> None:
    """Sample the first epoch and print what is in it."""
    import numpy as np

    from canonym.cli.output import print_table
    from canonym.cli.train.plan_examples import COLUMNS, examples
    from canonym.io.devices import torch_device
    from canonym.training.loop.fit import make_step

    loop, objective = spec.loop, parts.objective
    with stages() as report:
        report("Sampling", 0, None)
        step = make_step(parts.trainable, objective, loop)
        step.report = partial(report, "Sampling")
        step.to(torch_device(spec.device))
        plan = objective.plan(step.encode, 0, np.random.default_rng([loop.seed, 0]))
    n_batches = objective.n_batches(plan)
    steps = -(-n_batches // loop.accumulation)
    total = min(steps * loop.n_epochs, loop.max_steps or steps * loop.n_epochs)
    settings = {k: "not set" if v is None else v for k, v in objective.settings.items()}
    print_facts(
        {
            "recipe": spec.recipe,
            **{name.replace("_", " "): value for name, value in parts.counts.items()},
            **{name.replace("_", " "): value for name, value in settings.items()},
            "batches": f"{n_batches:,} in the first epoch",
            "steps": f"{steps:,} in the first epoch, {total:,} in all"
            + (f", or {loop.max_names:,} names" if loop.max_names else ""),
        }
    )
    print_table(COLUMNS[objective.name], examples(objective, plan), title="First examples")
