"""Published tables run again: the paper's number, ours, its interval, and the difference.

What is run is described in files; see `canonym.evaluation.experiment_files`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput
from canonym.evaluation.experiment_files import EXPERIMENTS, Experiment, read_experiment
from canonym.evaluation.measured import Outcome
from canonym.evaluation.reproduced import ReproducedRow, against, reproduced_rows
from canonym.evaluation.shelf import NotHereError, Shelf
from canonym.evaluation.tasks import Models, run_row

__all__ = ["ReproducedRow", "Table", "choose_rows", "data_folder", "reproduce"]


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
        cache, or of one that the file trains (`canonym.training.experiments`), or the folders of
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
