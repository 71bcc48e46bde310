"""Published tables run again: the paper's number, ours, its interval, and the difference.

What is run is described in files; see `canonym.evaluation.experiment_files`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput
from canonym.evaluation.experiment_files import EXPERIMENTS, Experiment, read_experiment
from canonym.evaluation.folds import FoldRuns
from canonym.evaluation.outcome import Run
from canonym.evaluation.shelf import NotHereError, Shelf
from canonym.types import Encoder

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
        Ours in percent with its 95 % interval; None where the row could not be run. Of folds it is
        their mean and its t interval.
    n : int, optional
        Mentions asked, of all folds together.
    folds : int, optional
        Folds of a cross-validation; None where there are none.
    sd : float, optional
        Standard deviation of the folds, in points.
    allowed : float, optional
        The most that ours may differ, in points.
    problem : str
        Why the row could not be run, empty if it was.
    caveat : str
        What forbids a strict comparison, may be empty.
    remarks : tuple of str
        What a reader of the number has to know, such as the mentions that were left out.
    """

    name: str
    metric: str
    reading: str
    published: float | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    folds: int | None = None
    sd: float | None = None
    allowed: float | None = None
    problem: str = ""
    caveat: str = ""
    remarks: tuple[str, ...] = ()

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
        names = ("name", "metric", "reading", "n", "folds", "published", "value", "sd")
        rest = ("low", "high", "difference", "allowed", "agrees", "problem", "caveat")
        found = {name: getattr(self, name) for name in (*names, *rest)}
        return {**found, "remarks": list(self.remarks)}


@dataclass(frozen=True, slots=True)
class Table:
    """An experiment, its rows beside the published numbers, and the runs they are from by row."""

    experiment: Experiment
    rows: tuple[ReproducedRow, ...]
    runs: dict[str, Run | FoldRuns]

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
    shelf = Shelf(Path(named))
    found: list[ReproducedRow] = []
    runs: dict[str, Run | FoldRuns] = {}
    for row in experiment.rows:
        if rows and row["name"] not in rows:
            continue
        problem = ""
        try:
            runs[row["name"]] = shelf.run(row, models or {})
        except NotHereError as error:
            problem = str(error)
        found += [
            _reproduced(row, metric, number, runs.get(row["name"]), problem)
            for metric, number in row["published"].items()
        ]
    return Table(experiment, tuple(found), runs)


def _reproduced(
    row: Mapping[str, Any], metric: str, number: Any, run: Run | FoldRuns | None, problem: str
) -> ReproducedRow:
    published = float(number) if isinstance(number, int | float) else None
    reading = row.get("reading", "")
    about: dict[str, Any] = {
        "allowed": row.get("difference"),
        "problem": problem,
        "caveat": row.get("caveat", ""),
    }
    if run is None:
        return ReproducedRow(row["name"], metric, reading, published, **about)
    if isinstance(run, FoldRuns):
        return _reproduced_folds(row["name"], metric, reading, published, run, about)
    about["remarks"] = tuple(run.remarks)
    figure = run.figure(metric, reading=reading or None)
    percent = (100 * figure.value, 100 * figure.low, 100 * figure.high)
    return ReproducedRow(
        row["name"], metric, figure.reading, published, *percent, figure.n, **about
    )


def _reproduced_folds(
    name: str,
    metric: str,
    reading: str,
    published: float | None,
    found: FoldRuns,
    about: Mapping[str, Any],
) -> ReproducedRow:
    spread = found.spread(metric, reading=reading or None)
    return ReproducedRow(
        name,
        metric,
        reading or found.runs[0].protocol.readings[0],
        published,
        100 * spread.mean,
        100 * spread.low,
        100 * spread.high,
        found.n,
        spread.n,
        100 * spread.sd,
        remarks=tuple(
            f"fold {fold}: {remark}"
            for fold, run in zip(found.names, found.runs, strict=True)
            for remark in run.remarks
        ),
        **about,
    )
