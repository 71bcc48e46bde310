"""Published tables run again: the paper's number, ours, its interval, and the difference."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from canonym.encoders import path_of
from canonym.errors import InvalidInput
from reproduce.data import NotHereError, Shelf
from reproduce.files import EXPERIMENTS, Experiment, read_experiment
from reproduce.models import read_models
from reproduce.needs import lacking
from reproduce.results import Outcome
from reproduce.rows import Models, run_row
from reproduce.table import ReproducedRow, Table, against, reproduced_rows


def reproduce(
    experiment: str | Path | Experiment,
    *,
    data: str | Path | None = None,
    folder: str | Path = EXPERIMENTS,
    models: Models | None = None,
    rows: Sequence[str] = (),
    shelf: Shelf | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    save: Callable[[Table], None] | None = None,
) -> Table:
    """Run an experiment and put ours beside the published numbers.

    `data` is the folder of corpora and terminologies, ``$CANONYM_DATA`` by default. `models` maps
    encoders of the file to an encoder, the folder of one, or those of several samples. Only `rows`
    are run if there are some. `progress` takes each row before it is run, the number of rows done,
    and of all; `save` takes the table so far after each row. A row whose data or model is not here
    has its problem instead of a number.
    """
    if not isinstance(experiment, Experiment):
        experiment = read_experiment(experiment, folder=folder)
    shelf = shelf or Shelf(data_folder(data))
    chosen = choose_rows(experiment, rows)
    runs: dict[str, Outcome] = {}
    problems: dict[str, str] = {}
    entries: dict[str, list[ReproducedRow]] = {}
    table = Table(experiment, (), runs)
    for number, row in enumerate(chosen):
        name = row["name"]
        if progress is not None:
            progress(name, number, len(chosen))
        try:
            _check_trained(row, experiment, shelf, models or {})
            runs[name] = run_row(row, shelf, models or {})
        except NotHereError as error:
            problems[name] = str(error)
        # An earlier row may be compared with this one.
        for other in chosen[: number + 1]:
            if name in (other["name"], other.get("against")):
                entries[other["name"]] = _entries(other, runs, problems)
        ready = [entry for other in chosen for entry in entries.get(other["name"], ())]
        table = Table(experiment, tuple(ready), runs)
        if save is not None:
            save(table)
    return table


def _check_trained(
    row: Mapping[str, Any], experiment: Experiment, shelf: Shelf, models: Models
) -> None:
    """Raise an error if a model of the experiment that a row names is not trained."""
    untrained = set(experiment.models) - set(models)
    missing = [name for name in map(path_of, row.get("encoders", ())) if name in untrained]
    if not missing:
        return
    settings = read_models(experiment.models)
    if lacks := lacking(settings[missing[0]], settings, shelf, models):
        raise NotHereError(f"not here: needs {', '.join(name for _, name in lacks)}")
    raise NotHereError(
        f"the model {missing[0]!r} is trained by the experiment, and is not there yet: name a "
        "folder for models"
    )


def _entries(
    row: Mapping[str, Any], runs: Mapping[str, Outcome], problems: Mapping[str, str]
) -> list[ReproducedRow]:
    """Put a row beside the published numbers, and beside the row that it is against if that ran."""
    name, other = row["name"], row.get("against", "")
    both = name in runs and other in runs
    compared = against(row, runs[name], runs[other], seed=row.get("seed", 0)) if both else None
    return reproduced_rows(row, runs.get(name), problem=problems.get(name, ""), compared=compared)


def data_folder(given: str | Path | None) -> Path:
    """Return the folder of the corpora: `given`, or ``$CANONYM_DATA``."""
    named = given or os.environ.get("CANONYM_DATA")
    if not named or not Path(named).is_dir():
        raise InvalidInput(
            f"the data folder {str(named or '')!r} is not there; set CANONYM_DATA to the folder of "
            "the corpora"
        )
    return Path(named)


def choose_rows(experiment: Experiment, rows: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of these names, all where none is named."""
    known = [row["name"] for row in experiment.rows]
    unknown = [name for name in rows if name not in known]
    if unknown:
        raise InvalidInput(f"there is no row {unknown[0]!r}; there are {', '.join(known)}")
    return [row for row in experiment.rows if not rows or row["name"] in rows]
