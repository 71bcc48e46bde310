"""``canonym reproduce``: published tables beside what comes out here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from canonym.evaluation.experiments import ReproducedRow, Table

__all__ = ["reproduce"]

_FILE = click.Path()


@click.command()
@click.argument("name", required=False)
@click.option("--list", "list_", is_flag=True, help="List the experiments there are.")
@click.option("--data", type=_FILE, metavar="FOLDER", help="The corpora.  [default: $CANONYM_DATA]")
@click.option(
    "--folder",
    type=_FILE,
    metavar="FOLDER",
    help="The experiments.  [default: benchmarks/experiments]",
)
@click.option(
    "--row", "rows", multiple=True, metavar="NAME", help="Only this row. Can be repeated."
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME=FOLDER",
    help="Where a model that a row names is. Can be repeated.",
)
@click.option("--json", "json_", type=_FILE, metavar="FILE", help="Write the table as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
def reproduce(
    name: str | None,
    list_: bool,
    data: str | None,
    folder: str | None,
    rows: tuple[str, ...],
    models: tuple[str, ...],
    json_: str | None,
    quiet: bool,
) -> None:
    """Run the experiment NAME and put the published numbers beside ours.

    NAME is an experiment of the folder, without its ending, or a TOML file.

    \b
      canonym reproduce --list
      canonym reproduce biosyn-table-2 --data corpora --json table.json
    """
    import json
    from pathlib import Path

    from canonym.errors import InvalidInput
    from canonym.evaluation.experiment_files import EXPERIMENTS
    from canonym.evaluation.experiments import reproduce as run_experiment
    from canonym.evaluation.report.facts import plain
    from canonym.files import write_file

    place = Path(folder) if folder else EXPERIMENTS
    if list_:
        _list(place)
        return
    if not name:
        raise InvalidInput("name an experiment, or say --list to see which there are")
    pairs = dict(model.partition("=")[::2] for model in models)
    if not all(pairs.values()):
        raise InvalidInput(f"--model {models[-1]}: NAME=FOLDER is expected")
    if json_ and not Path(json_).absolute().parent.is_dir():
        raise InvalidInput(f"{json_} cannot be written: there is no such folder")
    table = run_experiment(name, data=data, folder=place, models=pairs, rows=rows)
    if json_:
        with write_file(json_) as partial:
            text = json.dumps(plain(table.to_dict()), indent=1, allow_nan=False)
            partial.write_text(text + "\n", encoding="utf-8", newline="\n")
    _print(table, quiet=quiet)


def _list(folder: object) -> None:
    from pathlib import Path

    from canonym.cli.tables import print_table
    from canonym.errors import InvalidInput
    from canonym.evaluation.experiment_files import read_experiment

    files = sorted(Path(str(folder)).glob("*.toml"))
    if not files:
        raise InvalidInput(
            f"{folder} holds no experiments; name the folder that does with --folder"
        )
    print_table(
        ("name", "rows", "title"),
        [(one.name, f"{len(one.rows)}", one.title) for one in map(read_experiment, files)],
        right=("rows",),
    )


def _print(table: Table, *, quiet: bool) -> None:
    from canonym.cli.failures import printable
    from canonym.cli.progress import note
    from canonym.cli.tables import print_table

    columns: tuple[str, ...]
    columns = ("row", "metric", "reading", "n", "paper", "ours", "interval", "difference", "agrees")
    rows = [_cells(row) for row in table.rows]
    if any(row.folds for row in table.rows):
        columns = (*columns[:4], "folds", *columns[4:6], "sd", *columns[6:])
        for cells, row in zip(rows, table.rows, strict=True):
            cells.insert(4, f"{row.folds}" if row.folds else "–")
            cells.insert(7, "–" if row.sd is None else f"{row.sd:.1f}")
    print_table(columns, rows, right=columns[3:-1], title=table.experiment.title)
    note(printable(f"Published: {table.experiment.source}."), quiet=quiet)
    for text in _notes(table):
        note(printable(f"Note: {text}."), quiet=quiet)


def _notes(table: Table) -> list[str]:
    """Return what is to be said of the rows, each once with the rows that it is said of."""
    said: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for text in filter(None, (row.problem, row.caveat, *row.remarks)):
            said.setdefault(text.rstrip("."), {})[row.name] = None
    names = {row.name for row in table.rows}
    return [text if of.keys() == names else f"{'; '.join(of)}: {text}" for text, of in said.items()]


def _cells(row: ReproducedRow) -> list[str]:
    agrees = {True: "yes", False: "no", None: "–"}[row.agrees]
    interval = "–"
    if row.low is not None and row.high is not None:
        interval = f"[{row.low:.1f}, {row.high:.1f}]"
    return [
        row.name,
        row.metric,
        row.reading or "–",
        "–" if row.n is None else f"{row.n:,}",
        "–" if row.published is None else f"{row.published:.1f}",
        "not run" if row.value is None else f"{row.value:.1f}",
        interval,
        "–" if row.difference is None else f"{row.difference:+.1f}",
        agrees,
    ]
