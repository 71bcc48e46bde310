"""Published tables beside our figures: what is needed, the training, the rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from canonym.cli.failures import printable
from canonym.cli.options import several
from canonym.cli.output import print_table
from canonym.cli.progress import counter, note, stages
from canonym.cli.verbosity import with_verbosity
from canonym.encoders import path_of
from canonym.errors import InvalidInput
from canonym.evaluation.report.summary import plain
from canonym.io.files import write_file
from models.run import CONTEXT, Command
from record import result_text, stamps
from reproduce.cost import NO_ENCODER, Cost, cost_of, measured_rate
from reproduce.data import Shelf
from reproduce.files import EXPERIMENTS, Experiment, read_experiment
from reproduce.history import training_facts
from reproduce.models import in_order, read_models
from reproduce.needs import needs
from reproduce.run import choose_rows, data_folder, reproduce
from reproduce.table import ReproducedRow, Table
from reproduce.tools import TOOLS, tool
from reproduce.training import train_models

_FILE = click.Path()
_WRITTEN_OUT = ("biosyn", "refined", "zero-shot")

_SOMETIMES = {"folds", "samples", "sd", "p to paper", "against", "by", "p"}
"""Columns that are left out where no row fills them."""

_WORDS = {"row", "metric", "reading", "agrees", "against"}
"""Columns that hold no numbers."""


@with_verbosity
@click.command(cls=Command, context_settings=CONTEXT)
@click.argument("name", required=False)
@click.option("--list", "list_", is_flag=True, help="List the experiments and the other commands.")
@click.option("--data", type=_FILE, metavar="FOLDER", help="The corpora.  [default: $CANONYM_DATA]")
@click.option(
    "--folder",
    type=_FILE,
    metavar="FOLDER",
    help="The experiments.  [default: benchmarks/reproduce/experiments]",
)
@several("--row", "rows", metavar="NAME", help="Only this row.")
@several(
    "--model",
    "models",
    metavar="NAME=FOLDER",
    help="The folder of a model that a row names, or that training begins with.",
)
@click.option(
    "--models",
    "trained",
    type=_FILE,
    metavar="FOLDER",
    default="trained",
    show_default=True,
    help="Folder of the models that the experiment trains. Missing ones are trained first; a run "
    "that was stopped goes on.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Run nothing: say what is missing and what training costs. Ends with 1 if something is "
    "missing.",
)
@click.option(
    "--only-trained",
    is_flag=True,
    help="Train nothing; rows whose model is missing are left out.",
)
@click.option(
    "--device", default="auto", show_default=True, help="To train on: cpu, cuda, cuda:1, mps."
)
@click.option(
    "--json",
    "json_",
    type=_FILE,
    metavar="FILE",
    help="Write the table as JSON, one row a line, after each row. `left` names rows to come.",
)
def main(
    name: str | None,
    list_: bool,
    data: str | None,
    folder: str | None,
    rows: tuple[str, ...],
    models: tuple[str, ...],
    trained: str,
    check: bool,
    only_trained: bool,
    device: str,
    json_: str | None,
) -> None:
    """Run the experiment NAME and put the published numbers beside ours.

    NAME is an experiment of the folder, without its ending, or a TOML file.

    \b
      python benchmarks/reproduce --list
      python benchmarks/reproduce biosyn-table-2 --data corpora --json table.json
      python benchmarks/reproduce few-shot-train --data corpora --models models
      python benchmarks/reproduce biosyn-published --data corpora --check
    """
    place = Path(folder) if folder else EXPERIMENTS
    if list_:
        _list(place)
        return
    if not name:
        raise InvalidInput("name an experiment, or say --list to see the names")
    pairs = dict(model.partition("=")[::2] for model in models)
    if not all(pairs.values()):
        raise InvalidInput(f"--model {models[-1]}: NAME=FOLDER is expected")
    if json_ and not Path(json_).absolute().parent.is_dir():
        raise InvalidInput(f"{json_} cannot be written: there is no such folder")
    experiment = read_experiment(name, folder=place)
    asked = [row["name"] for row in choose_rows(experiment, rows)]
    if check:
        # Without a folder nothing is here, and that can be said.
        empty = data or os.environ.get("CANONYM_DATA") or "corpora"
        _check(experiment, Shelf(Path(empty)), pairs, rows, trained)
        return
    shelf = Shelf(data_folder(data))
    known: dict[str, Any] = dict(pairs)
    missing = [need for need in needs(experiment, shelf, pairs, rows) if not need.here]
    blocked = {row for need in missing for row in need.rows}
    if missing:
        note(f"{len(blocked)} rows cannot be run: --check says what they need.")
    possible = [name for name in asked if name not in blocked]
    if experiment.models and possible:
        known |= _train(
            experiment,
            trained,
            shelf=shelf,
            rows=possible,
            given=pairs,
            only_trained=only_trained,
            device=device,
        )
    with counter("Rows", unit="rows", total=None) as show:
        table = reproduce(
            experiment,
            data=shelf.data,
            models=known,
            rows=rows,
            shelf=shelf,
            progress=lambda _name, done, _total: show(done),
            save=(lambda table: _write(json_, table, asked, known)) if json_ else None,
        )
    _print(table)


def _write(path: str, table: Table, asked: Sequence[str], models: Mapping[str, Any]) -> None:
    """Write a table, and the names of the rows that are still to come."""
    done = {row.name for row in table.rows}
    content: dict[str, Any] = {"rows": [plain(row.to_dict()) for row in table.rows]}
    if table.experiment.models:
        content["trained"] = plain(training_facts(models))
    if left := [name for name in asked if name not in done]:
        content["left"] = left
    with write_file(path) as partial:
        text = result_text(plain({**table.header(), **stamps()}), content)
        partial.write_text(text, encoding="utf-8", newline="\n")


def _check(
    experiment: Experiment,
    shelf: Shelf,
    given: Mapping[str, str],
    rows: Sequence[str],
    folder: str,
) -> None:
    """Print what rows need, and what the training of their models costs."""
    listed = needs(experiment, shelf, given, rows)
    print_table(
        ("", "name", "rows", "here"),
        [
            (need.kind, need.name, f"{len(need.rows)}", "yes" if need.here else "missing")
            for need in listed
        ],
        right=("rows",),
        title=experiment.title,
    )
    models = read_models(experiment.models)
    named = [
        path_of(spec)
        for row in choose_rows(experiment, rows)
        for spec in row.get("encoders", ())
        if path_of(spec) not in given
    ]
    costs = [
        cost_of(
            models[name],
            models,
            experiment=experiment,
            folder=folder,
            shelf=shelf,
            given=given,
        )
        for name in in_order(models, named)
    ]
    if costs:
        print_table(
            ("model", "recipe", "names, at most", "state"),
            [
                (
                    cost.model.name,
                    cost.model.recipe,
                    "–" if cost.names is None else f"{cost.names:,}",
                    cost.state,
                )
                for cost in costs
            ],
            right=("names, at most",),
            title="Models, and the names that go through their encoders",
        )
    note(_hours(costs, measured_rate(experiment, models, folder)))
    if any(row.get("protocol") in _WRITTEN_OUT for row in choose_rows(experiment, rows)):
        note(_abbreviations())
    missing = [need for need in listed if not need.here]
    note(f"Missing in {shelf.data}: {len(missing)} of {len(listed)}." if missing else "All here.")
    if any(need.kind == "encoder" for need in missing):
        note(
            f"An encoder is found in {shelf.data / 'checkpoints'} by the last part of its name, in "
            "the local cache of Hugging Face, or where --model NAME=FOLDER says."
        )
    if missing:
        raise SystemExit(1)


def _abbreviations() -> str:
    """Return a sentence on the program that finds abbreviations."""
    if find_spec("pyab3p"):
        return "Abbreviations are written out by Ab3P, as in BioSyn's paper."
    return (
        "Abbreviations are written out by rules, for Ab3P is not installed: pip install "
        "'canonym[text]' brings it."
    )


def _hours(costs: Sequence[Cost], rate: float) -> str:
    """Return a sentence on the time of the training."""
    known = [cost.left for cost in costs if cost.left is not None]
    unknown = sum(cost.left is None and cost.model.recipe not in NO_ENCODER for cost in costs)
    if not known and not unknown:
        return "No transformer is trained. Hours on a GPU: unknown, for nobody measured them."
    names = f"At most {sum(known):,} names are left to train on"
    if unknown and sum(known):
        names += f", besides those of {unknown} models whose data are missing"
    elif unknown:
        names = f"Names cannot be counted, for the data of {unknown} models are missing"
    if not rate:
        return (
            f"{names}. Hours on a GPU: unknown, for no result file has its rate. Once a model is "
            "trained here, its rate is taken."
        )
    hours = sum(known) / rate / 3600
    return (
        f"{names}: {hours:,.1f} hours, at {rate:,.0f} names a second of the models trained already."
    )


def _train(experiment: Experiment, folder: str, **options: Any) -> Any:
    """Train missing models, and return the folders of all."""
    with stages(unit="steps") as report:
        return train_models(
            experiment,
            folder,
            progress=lambda name, now: report(name, now.step, now.total),
            notice=lambda text: note(f"{printable(text)}."),
            **options,
        )


def _list(folder: Path) -> None:
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise InvalidInput(
            f"{folder} holds no experiments; name the folder that does with --folder"
        )
    print_table(
        ("name", "rows", "title"),
        [(one.name, f"{len(one.rows)}", one.title) for one in map(read_experiment, files)],
        right=("rows",),
    )
    print_table(
        ("command", "what it does"),
        [(name, tool(name).get_short_help_str(limit=100)) for name in TOOLS],
    )


def _print(table: Table) -> None:
    cells = [_cells(row) for row in table.rows]
    shown = [
        column
        for column in cells[0]
        if column not in _SOMETIMES or any(row[column] != "–" for row in cells)
    ]
    print_table(
        shown,
        [[row[column] for column in shown] for row in cells],
        right=[column for column in shown if column not in _WORDS],
        title=table.experiment.title,
    )
    note(printable(f"Published: {table.experiment.source}."))
    for text in _notes(table):
        note(printable(f"Note: {text}."))


def _notes(table: Table) -> list[str]:
    """Return problems, caveats and remarks, each once with the names of its rows."""
    notes: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for text in filter(None, (row.problem, row.caveat, *row.remarks)):
            notes.setdefault(text.rstrip("."), {})[row.name] = None
    names = {row.name for row in table.rows}
    return [
        text if of.keys() == names else f"{'; '.join(of)}: {text}" for text, of in notes.items()
    ]


def _cells(row: ReproducedRow) -> dict[str, str]:
    """Return what a table may show of a row, by the names of its columns."""
    # A share is a percentage; a correlation of 0.55 needs its second digit.
    digits = 1 if row.unit == "%" else 2

    def shown(number: float | None, form: str = "") -> str:
        return "–" if number is None else f"{number:{form}.{digits}f}"

    other = row.against
    by = "–"
    if other:
        bounds = f"[{100 * other.difference.low:+.1f}, {100 * other.difference.high:+.1f}]"
        by = f"{100 * other.difference.value:+.1f} {bounds}"
    return {
        "row": row.name,
        "metric": row.metric,
        "reading": row.reading or "–",
        "n": "–" if row.n is None else f"{row.n:,}",
        "folds": f"{row.folds}" if row.folds else "–",
        "samples": f"{row.samples}" if row.samples else "–",
        "paper": shown(row.published),
        "ours": "not run" if row.value is None else shown(row.value),
        "sd": shown(row.sd),
        "interval": "–" if row.low is None else f"[{shown(row.low)}, {shown(row.high)}]",
        "difference": shown(row.difference, "+"),
        "p to paper": "–" if row.p_published is None else f"{row.p_published:.3f}",
        "agrees": {True: "yes", False: "no", None: "–"}[row.agrees],
        "against": other.name if other else "–",
        "by": by,
        "p": f"{(other.test or other.difference).p:.3f}" if other else "–",
    }
