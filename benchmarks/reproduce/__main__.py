"""``python -m reproduce NAME``: published tables beside our figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from canonym.cli.failures import printable
from canonym.cli.output import print_table
from canonym.cli.progress import counter, note, stages
from canonym.cli.verbosity import with_verbosity
from canonym.errors import InvalidInput
from canonym.evaluation.report.summary import plain
from canonym.io.files import write_file
from models.run import CONTEXT, Command
from record import result_text, stamps
from reproduce.data import Shelf
from reproduce.files import EXPERIMENTS, Experiment, read_experiment
from reproduce.history import training_facts
from reproduce.run import data_folder, reproduce
from reproduce.table import ReproducedRow, Table
from reproduce.training import train_models

_FILE = click.Path()


@with_verbosity
@click.command(cls=Command, context_settings=CONTEXT)
@click.argument("name", required=False)
@click.option("--list", "list_", is_flag=True, help="List the experiments.")
@click.option("--data", type=_FILE, metavar="FOLDER", help="The corpora.  [default: $CANONYM_DATA]")
@click.option(
    "--folder",
    type=_FILE,
    metavar="FOLDER",
    help="The experiments.  [default: benchmarks/reproduce/experiments]",
)
@click.option(
    "--row", "rows", multiple=True, metavar="NAME", help="Only this row. Can be repeated."
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME=FOLDER",
    help="The folder of a model that a row names, or that training begins with. Can be repeated.",
)
@click.option(
    "--models",
    "trained",
    type=_FILE,
    metavar="FOLDER",
    help="Folder of the models that the experiment trains. Missing ones are trained first; a run "
    "that was stopped goes on.",
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
    "--json", "json_", type=_FILE, metavar="FILE", help="Write the table as JSON, one row a line."
)
def main(
    name: str | None,
    list_: bool,
    data: str | None,
    folder: str | None,
    rows: tuple[str, ...],
    models: tuple[str, ...],
    trained: str | None,
    only_trained: bool,
    device: str,
    json_: str | None,
) -> None:
    """Run the experiment NAME and put the published numbers beside ours.

    NAME is an experiment of the folder, without its ending, or a TOML file.

    \b
      python -m reproduce --list
      python -m reproduce biosyn-table-2 --data corpora --json table.json
      python -m reproduce few-shot-train --data corpora --models models
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
    if only_trained and not trained:
        raise InvalidInput("--only-trained looks into a folder of models; name it with --models")
    experiment = read_experiment(name, folder=place)
    shelf = Shelf(data_folder(data))
    known: dict[str, Any] = dict(pairs)
    if trained and experiment.models:
        known |= _train(
            experiment,
            trained,
            shelf=shelf,
            rows=rows,
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
        )
    if json_:
        with write_file(json_) as partial:
            header = plain({**table.header(), **stamps()})
            content: dict[str, Any] = {"rows": [plain(row.to_dict()) for row in table.rows]}
            if trained:
                content["trained"] = plain(training_facts(known))
            text = result_text(header, content)
            partial.write_text(text, encoding="utf-8", newline="\n")
    _print(table)


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


def _print(table: Table) -> None:
    columns, right = _columns(table)
    print_table(
        columns,
        [_cells(row, columns) for row in table.rows],
        right=right,
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


def _columns(table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that are not empty, and those of numbers."""
    columns = (
        *("row", "metric", "reading", "n", "folds", "samples", "paper", "ours", "sd"),
        *("interval", "difference", "agrees", "against", "by", "p"),
    )
    some = {"folds", "samples", "sd", "against", "by", "p"}
    cells = [_all_cells(row) for row in table.rows]
    shown = tuple(
        column
        for column in columns
        if column not in some or any(row[column] != "–" for row in cells)
    )
    words = {"row", "metric", "reading", "agrees", "against"}
    return shown, tuple(column for column in shown if column not in words)


def _cells(row: ReproducedRow, columns: tuple[str, ...]) -> list[str]:
    cells = _all_cells(row)
    return [cells[column] for column in columns]


def _all_cells(row: ReproducedRow) -> dict[str, str]:
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
        "agrees": {True: "yes", False: "no", None: "–"}[row.agrees],
        "against": other.name if other else "–",
        "by": by,
        "p": f"{(other.test or other.difference).p:.3f}" if other else "–",
    }


if __name__ == "__main__":
    main()
