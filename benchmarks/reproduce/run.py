"""Rows of a published table beside ours, and one row of ours against another."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym.errors import InvalidInput
from canonym.evaluation.folds import FoldRuns
from canonym.evaluation.metrics import columns
from canonym.evaluation.run import Run
from canonym.evaluation.slices import DRAWS, slices
from canonym.evaluation.statistics import Difference, McNemar, mcnemar, paired_bootstrap
from reproduce.data import NotHereError, Shelf
from reproduce.files import EXPERIMENTS, Experiment, read_experiment
from reproduce.results import Measured, Outcome, SampleRuns
from reproduce.rows import Models, run_row

# --- reproduced ---


class Against(NamedTuple):
    """One row of ours against another, on the same mentions.

    Attributes
    ----------
    name : str
        The other row.
    difference : Difference
        This row minus the other, by paired bootstrap.
    test : McNemar or None
        Exact test; None where a metric is more than right and wrong.
    """

    name: str
    difference: Difference
    test: McNemar | None

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison ready for JSON."""
        return {
            "name": self.name,
            "difference": self.difference._asdict(),
            "mcnemar": self.test._asdict() if self.test else None,
        }


@dataclass(frozen=True, slots=True)
class ReproducedRow:
    """One number of a published table, and ours.

    Parameters
    ----------
    name, metric, reading : str
        The row, the metric and the reading of the answers.
    published : float, optional
        In `unit`; None where nothing was published.
    value, low, high : float, optional
        Ours in `unit` with its 95 % interval; None where the row could not be run, or has no
        interval. Of folds and samples it is their mean and its t interval.
    n : int, optional
        Mentions asked, of all folds together; or whatever else is counted.
    folds : int, optional
        Folds of a cross-validation; None where there are none.
    sd : float, optional
        Standard deviation of folds, samples or repetitions, in `unit`.
    allowed : float, optional
        The most that ours may differ, in `unit`.
    problem : str
        Why the row could not be run, empty if it was.
    caveat : str
        What forbids a strict comparison, may be empty.
    remarks : tuple of str
        What a reader of the number has to know, such as the mentions that were left out.
    samples : int, optional
        Samples of a model that the row was run with; None for one.
    unit : str
        ``"%"``, or empty for a number that is no share.
    against : Against, optional
        The comparison with another row, in the row's first metric.
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
    samples: int | None = None
    unit: str = "%"
    against: Against | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the published number."""
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
        names = ("name", "metric", "reading", "n", "folds", "samples", "published", "value", "sd")
        rest = ("low", "high", "unit", "difference", "allowed", "agrees", "problem", "caveat")
        found = {name: getattr(self, name) for name in (*names, *rest)}
        compared = {"against": self.against.to_dict()} if self.against else {}
        return {**found, "remarks": list(self.remarks), **compared}


def reproduced_rows(
    row: Mapping[str, Any],
    outcome: Outcome | None,
    *,
    problem: str = "",
    compared: Against | None = None,
) -> list[ReproducedRow]:
    """Put what was found for a row beside its published numbers, one entry per metric.

    Parameters
    ----------
    row : mapping of str to object
        Its settings.
    outcome : Outcome, optional
        None where it could not be run.
    problem : str
        Why it could not.
    compared : Against, optional
        Of its first metric.
    """
    found = []
    for place, (metric, number) in enumerate(row["published"].items()):
        about = {
            "allowed": row.get("difference"),
            "problem": problem,
            "caveat": row.get("caveat", ""),
            "against": None if place else compared,
        }
        published = float(number) if isinstance(number, int | float) else None
        reading = row.get("reading", "")
        ours: dict[str, Any] = {"reading": reading}
        if outcome is not None:
            ours = _ours(outcome, metric, reading, row.get("slice", "all"))
        found.append(ReproducedRow(row["name"], metric, published=published, **ours, **about))
    return found


def _ours(outcome: Outcome, metric: str, reading: str, slice: str) -> dict[str, Any]:
    if slice != "all" and not isinstance(outcome, Run):
        raise InvalidInput(f"the slice {slice!r} is of a row of linking, without folds or samples")
    if isinstance(outcome, FoldRuns | SampleRuns):
        return _mean(outcome, metric, reading)
    if isinstance(outcome, Run):
        figure = outcome.figure(metric, reading=reading or None, slice=slice)
    else:
        figure = outcome.figure(metric, reading=reading or None)
    unit, deviation = "%", None
    if isinstance(outcome, Measured):
        unit, deviation = outcome.unit, outcome.sd.get(metric)
    factor = 100 if unit == "%" else 1
    return {
        "reading": figure.reading,
        "unit": unit,
        "n": figure.n,
        "value": factor * figure.value,
        "low": None if math.isnan(figure.low) else factor * figure.low,
        "high": None if math.isnan(figure.high) else factor * figure.high,
        "sd": None if deviation is None else factor * deviation,
        "remarks": tuple(outcome.remarks),
    }


def _mean(outcome: FoldRuns | SampleRuns, metric: str, reading: str) -> dict[str, Any]:
    spread = outcome.spread(metric, reading=reading or None)
    first = outcome.runs[0]
    unit = first.unit if isinstance(first, Measured) else "%"
    factor = 100 if unit == "%" else 1
    found = {
        "reading": reading or (first.protocol.readings[0] if isinstance(first, Run) else ""),
        "unit": unit,
        "value": factor * spread.mean,
        "low": factor * spread.low,
        "high": factor * spread.high,
        "sd": factor * spread.sd,
    }
    if isinstance(outcome, SampleRuns):
        n = first.figure(metric, reading=reading or None).n
        return {**found, "n": n, "samples": spread.n, "remarks": tuple(outcome.remarks)}
    remarks = tuple(
        f"fold {fold}: {remark}"
        for fold, run in zip(outcome.names, outcome.runs, strict=True)
        for remark in run.remarks
    )
    return {**found, "n": outcome.n, "folds": spread.n, "remarks": remarks}


def against(row: Mapping[str, Any], first: Outcome, second: Outcome, *, seed: int = 0) -> Against:
    """Compare a row with the one that its ``against`` names, in its first metric.

    Parameters
    ----------
    row : mapping of str to object
        The row's settings.
    first, second : Outcome
        What was found for the row, and for the other.
    seed : int
        Of the bootstrap.

    Raises
    ------
    InvalidInput
        If they are no runs of linking over the same mentions.

    References
    ----------
    Miftahutdinov et al. (2021), section 5.5: McNemar's test at a level of 0.05.
    """
    metric, reading = next(iter(row["published"])), row.get("reading")
    sides = [_columns(one, metric, reading, row.get("slice", "all")) for one in (first, second)]
    asked = [_mentions(one) for one in (first, second)]
    if sides[0] is None or sides[1] is None or asked[0] != asked[1]:
        raise InvalidInput(
            f"the row {row['name']!r} cannot be compared with {row['against']!r}: two rows of "
            "linking that ask the same mentions are expected"
        )
    ours, theirs = sides
    difference = paired_bootstrap(ours, theirs, draws=DRAWS, rng=seed)
    plain = all(np.isin(side[:, 0], [0, 1]).all() and (side[:, 1] == 1).all() for side in sides)
    test = mcnemar(ours[:, 0], theirs[:, 0]) if plain else None
    return Against(row["against"], difference, test)


def _columns(outcome: Outcome, metric: str, reading: str | None, slice: str) -> Any:
    if isinstance(outcome, FoldRuns):
        parts = [_columns(run, metric, reading, slice) for run in outcome.runs]
        return np.concatenate(parts)
    if not isinstance(outcome, Run):
        return None
    cases = outcome.scored[reading or outcome.protocol.readings[0]]
    (rows,) = (one.rows for one in slices(cases) if one.name == slice)
    return columns(cases, metric)[rows]


def _mentions(outcome: Outcome) -> Sequence[Any]:
    if isinstance(outcome, FoldRuns):
        return [mention for run in outcome.runs for mention in _mentions(run)]
    return [one.mention for one in outcome.questions] if isinstance(outcome, Run) else []


# --- experiments ---
# MODULE: Published tables run again: the paper's number, ours, its interval, and the difference.
#
# What is run is described in files; see `reproduce.files`.


@dataclass(frozen=True, slots=True)
class Table:
    """An experiment, its rows beside the published numbers, and the runs they are from by row."""

    experiment: Experiment
    rows: tuple[ReproducedRow, ...]
    runs: dict[str, Outcome]

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
    models: Models | None = None,
    rows: Sequence[str] = (),
    shelf: Shelf | None = None,
    progress: Callable[[str, int, int], None] | None = None,
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
    models : mapping of str to str, Encoder or sequence of these, optional
        What to use for an encoder of the file: the folder of a model that is not in the local
        cache, or of one that the file trains (`reproduce.trained`), or the folders of
        its samples.
    rows : sequence of str
        Only these rows; all by default.
    shelf : Shelf, optional
        With corpora and terminologies that were read before.
    progress : callable, optional
        Told each row before it is run, the number of rows done, and of all.

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
    shelf = shelf or Shelf(data_folder(data))
    chosen = choose_rows(experiment, rows)
    trained = set(experiment.models) - set(models or {})
    runs: dict[str, Outcome] = {}
    problems: dict[str, str] = {}
    for number, row in enumerate(chosen):
        if progress is not None:
            progress(row["name"], number, len(chosen))
        missing = [name for name in row.get("encoders", ()) if name in trained]
        if missing:
            problems[row["name"]] = (
                f"the model {missing[0]!r} is trained by the experiment, and is not there yet: "
                "name a folder for models"
            )
            continue
        try:
            runs[row["name"]] = run_row(row, shelf, models or {})
        except NotHereError as error:
            problems[row["name"]] = str(error)
    found: list[ReproducedRow] = []
    for row in chosen:
        name, other = row["name"], row.get("against", "")
        both = name in runs and other in runs
        compared = against(row, runs[name], runs[other], seed=row.get("seed", 0)) if both else None
        problem = problems.get(name, "")
        found += reproduced_rows(row, runs.get(name), problem=problem, compared=compared)
    return Table(experiment, tuple(found), runs)


def data_folder(given: str | Path | None) -> Path:
    """Return the folder of the corpora: `given`, or what ``CANONYM_DATA`` says.

    Raises
    ------
    InvalidInput
        If it is not there.
    """
    named = given or os.environ.get("CANONYM_DATA")
    if not named or not Path(named).is_dir():
        raise InvalidInput(
            f"the data folder {str(named or '')!r} is not there; set CANONYM_DATA to the folder of "
            "the corpora"
        )
    return Path(named)


def choose_rows(experiment: Experiment, rows: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of these names, all where none is named.

    Raises
    ------
    InvalidInput
        If there is no such row.
    """
    known = [row["name"] for row in experiment.rows]
    unknown = [name for name in rows if name not in known]
    if unknown:
        raise InvalidInput(f"there is no row {unknown[0]!r}; there are {', '.join(known)}")
    return [row for row in experiment.rows if not rows or row["name"] in rows]
