"""Published tables run again: the paper's number, ours, its interval, and the difference.

What is run is described in files; see `canonym.evaluation.experiment_files`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canonym.corpora.concepts import read_concepts
from canonym.corpora.pubtator import read_pubtator
from canonym.corpora.splits import Parts, read_official
from canonym.encoders import make_encoder
from canonym.errors import InvalidInput, MissingExtra
from canonym.evaluation.experiment_files import EXPERIMENTS, Experiment, read_experiment
from canonym.evaluation.outcome import Run
from canonym.evaluation.preparation import read_corrections
from canonym.evaluation.run import evaluate_corpus
from canonym.terminology import Terminology, read_records
from canonym.types import Document, Encoder, Mention

__all__ = ["ReproducedRow", "Table", "reproduce"]


@dataclass(frozen=True, slots=True)
class ReproducedRow:
    """One number of a published table, and ours.

    Parameters
    ----------
    name, metric, reading : str
        The row, the metric and the reading of the answers.
    published : float, optional
        In percent; None where nothing was published.
    value, low, high : float, optional
        Ours in percent with its 95 % interval; None where the row could not be run.
    n : int, optional
        Mentions asked.
    allowed : float, optional
        The most that ours may differ, in points.
    problem : str
        Why the row could not be run, empty if it was.
    caveat : str
        What forbids a strict comparison, may be empty.
    """

    name: str
    metric: str
    reading: str
    published: float | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    allowed: float | None = None
    problem: str = ""
    caveat: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus the published number, in points."""
        if self.value is None or self.published is None:
            return None
        return self.value - self.published

    @property
    def agrees(self) -> bool | None:
        """Whether the difference is within what is allowed; None where that cannot be said."""
        if self.difference is None or self.allowed is None:
            return None
        # A published number is rounded; what differs by the bound exactly still agrees.
        return abs(self.difference) <= self.allowed + 1e-9

    def to_dict(self) -> dict[str, Any]:
        """Return the row ready for JSON."""
        names = ("name", "metric", "reading", "n", "published", "value", "low", "high")
        rest = ("difference", "allowed", "agrees", "problem", "caveat")
        return {name: getattr(self, name) for name in (*names, *rest)}


@dataclass(frozen=True, slots=True)
class Table:
    """An experiment, its rows beside the published numbers, and the runs they are from."""

    experiment: Experiment
    rows: tuple[ReproducedRow, ...]
    runs: dict[str, Run]

    def to_dict(self) -> dict[str, Any]:
        """Return the table ready for JSON; a rerun gives the same."""
        return {
            "name": self.experiment.name,
            "title": self.experiment.title,
            "source": self.experiment.source,
            "rows": [row.to_dict() for row in self.rows],
            "runs": {name: run.to_dict() for name, run in self.runs.items()},
        }


def reproduce(
    experiment: str | Path | Experiment,
    *,
    data: str | Path | None = None,
    folder: str | Path = EXPERIMENTS,
    models: Mapping[str, str | Encoder] | None = None,
    rows: Sequence[str] = (),
) -> Table:
    """Run an experiment and put ours beside what was published.

    Parameters
    ----------
    experiment : str, Path or Experiment
        As `read_experiment` takes it, or read already.
    data : str or Path, optional
        Folder of the corpora and terminologies; the environment variable ``CANONYM_DATA`` by
        default.
    folder : str or Path
        Where experiments are.
    models : mapping of str to str or Encoder, optional
        What to use for an encoder of the file, such as the folder of a model that is not in the
        local cache.
    rows : sequence of str
        Only these rows; all by default.

    Returns
    -------
    Table
        A row whose data or model is not here is in it with its problem, and without a number.

    Raises
    ------
    InvalidInput
        If there is no such experiment or row, or no data folder.
    """
    if not isinstance(experiment, Experiment):
        experiment = read_experiment(experiment, folder=folder)
    named = data or os.environ.get("CANONYM_DATA")
    if not named or not Path(named).is_dir():
        raise InvalidInput(
            f"the data folder {str(named or '')!r} is not there; set CANONYM_DATA to the folder of "
            "the corpora"
        )
    known = [row["name"] for row in experiment.rows]
    unknown = [name for name in rows if name not in known]
    if unknown:
        raise InvalidInput(f"there is no row {unknown[0]!r}; there are {', '.join(known)}")
    shelf = _Shelf(Path(named))
    found: list[ReproducedRow] = []
    runs: dict[str, Run] = {}
    for row in experiment.rows:
        if rows and row["name"] not in rows:
            continue
        problem = ""
        try:
            runs[row["name"]] = shelf.run(row, models or {})
        except _NotHereError as error:
            problem = str(error)
        found += [
            _reproduced(row, metric, number, runs.get(row["name"]), problem)
            for metric, number in row["published"].items()
        ]
    return Table(experiment, tuple(found), runs)


def _reproduced(
    row: Mapping[str, Any], metric: str, number: Any, run: Run | None, problem: str
) -> ReproducedRow:
    published = float(number) if isinstance(number, int | float) else None
    reading = row.get("reading", "")
    about = {
        "allowed": row.get("difference"),
        "problem": problem,
        "caveat": row.get("caveat", ""),
    }
    if run is None:
        return ReproducedRow(row["name"], metric, reading, published, **about)
    figure = run.figure(metric, reading=reading or None)
    percent = (100 * figure.value, 100 * figure.low, 100 * figure.high)
    return ReproducedRow(
        row["name"], metric, figure.reading, published, *percent, figure.n, **about
    )


class _NotHereError(Exception):
    """A file, a model or a package that a row needs is not on this machine."""


class _Shelf:
    """Corpora and terminologies of one reproduction, each read once."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self._corpora: dict[tuple[str, str], Parts[Document]] = {}
        self._terminologies: dict[tuple[str, ...], Terminology] = {}

    def run(self, row: Mapping[str, Any], models: Mapping[str, str | Encoder]) -> Run:
        parts = self.corpus(row["corpus"], row.get("format", "pubtator"))
        part = row.get("part", "test")
        before = parts.train if part == "dev" else (*parts.train, *parts.dev)
        corrections = row.get("corrections")
        optional = {key: row[key] for key in ("split", "same", "seed", "k") if key in row}
        return evaluate_corpus(
            parts.dev if part == "dev" else parts.test,
            terminology=self.terminology(row["terminology"]),
            encoders=[_open_encoder(models.get(name, name)) for name in row.get("encoders", ())],
            weights=row.get("weights"),
            protocol=row["protocol"],
            part=part,
            training=before,
            types=row.get("types", ()),
            corrections=read_corrections(self.data / corrections) if corrections else None,
            files=sorted(file for file in (self.data / row["corpus"]).iterdir() if file.is_file()),
            **optional,
        )

    def corpus(self, name: str, format: str) -> Parts[Document]:
        readers = {"pubtator": _read_pubtator, "concept": _read_concepts}
        if format not in readers:
            raise InvalidInput(f"the format {format!r} is none of {', '.join(readers)}")
        if (name, format) not in self._corpora:
            self.check(name)
            self._corpora[name, format] = read_official(self.data / name, readers[format])
        return self._corpora[name, format]

    def terminology(self, names: Sequence[str]) -> Terminology:
        key = tuple(names)
        if key not in self._terminologies:
            for name in names:
                self.check(name)
            records = (read_records(self.data / name) for name in key)
            self._terminologies[key] = Terminology.build(itertools.chain.from_iterable(records))
        return self._terminologies[key]

    def check(self, name: str) -> None:
        if not (self.data / name).exists():
            raise _NotHereError(f"{name} is not in the data folder {self.data.name}")


def _open_encoder(given: str | Encoder) -> Encoder:
    if not isinstance(given, str):
        return given
    try:
        return make_encoder(given)
    except (InvalidInput, MissingExtra) as error:
        raise _NotHereError(f"the encoder {given!r} cannot be opened: {error}") from error


def _read_pubtator(path: Path) -> list[Document]:
    return list(read_pubtator(path))


def _read_concepts(path: Path) -> list[Document]:
    documents: dict[str, list[Mention]] = {}
    for mention in read_concepts(path):
        documents.setdefault(mention.document_id, []).append(mention)
    return [Document(id_, "", tuple(mentions)) for id_, mentions in documents.items()]
