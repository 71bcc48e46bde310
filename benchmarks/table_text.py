"""Tables in Markdown: lines of cells, and the templates of ``tables.toml`` filled with results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from string import Formatter
from typing import Any

from record import RESULTS

Row = Mapping[str, Any]


def result_of(name: str) -> Any:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def is_measured(name: str) -> bool:
    return (RESULTS / f"{name}.json").exists()


# --- templates ------------------------------------------------------------------------------------


class Template(Formatter):
    """Fills the templates of ``tables.toml`` with the values of a row.

    A name may have points; ``{a of b}`` is a quotient. ``!p`` is a share in percent, ``!i`` a value
    with its interval, ``!c`` a text that is safe in a cell. `missing` stands for what is not there.
    """

    def __init__(self, missing: Any = None) -> None:
        self._missing = missing

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Row) -> Any:
        """Return the value of a field, and its name."""
        if field_name in kwargs:
            return kwargs[field_name], field_name
        part, of, whole = field_name.partition(" of ")
        if of and part in kwargs:
            return kwargs[part] / kwargs[whole], field_name
        try:
            return super().get_field(field_name, args, kwargs)
        except KeyError:
            if self._missing is None:
                raise
            return self._missing, field_name

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Return a value as it is shown."""
        if conversion == "p":
            return 100 * value
        if conversion == "i":
            return f"{value['value']:.1f} [{value['low']:.1f}, {value['high']:.1f}]"
        return escaped(value) if conversion == "c" else super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Return a value in its format; a word that stands for a missing one has none."""
        if isinstance(value, str) and value == self._missing:
            return value
        return super().format_field(value, format_spec)


def escaped(text: str) -> str:
    """Return a text as a cell of a table."""
    plain = " ".join(text.split()).replace("|", "\\|")
    return plain.replace("<", "&lt;").replace("[", "\\[")


def table_of(head: str, cells: Iterable[Iterable[str]], *, numbers: int = 0) -> str:
    """Return a table with a head as ``| a | b |``, whose last columns are `numbers`."""
    lines = [head, "|---" * (head.count("|") - 1 - numbers) + "|--:" * numbers + "|"]
    lines += [f"| {' | '.join(line)} |" for line in cells]
    return "\n".join(lines) + "\n"


def by_template(name: str, table: Row) -> str:
    """Fill a table of ``tables.toml``."""
    fill = partial(Template(table.get("missing")).vformat, table.get("text", ""), ())
    if "text" in table:
        return fill(_named_values(table)).removeprefix("\n")
    rows = _rows(result_of(table.get("result", name.replace("-", "_"))), table)
    if "cell" in table:
        return crossed(rows, table)
    fill = partial(Template(table.get("missing")).vformat, table["row"], ())
    return "\n".join([table["head"].strip(), *map(fill, rows)]) + "\n"


def _named_values(table: Row) -> dict[str, Any]:
    """Return whole results and single rows by the names that a text has for them."""
    values = {name: result_of(name) for name in table.get("results", ())}
    for name in table.get("values", ()):
        for row in result_of(name)["rows"]:
            other = "" if row["metric"] == "accuracy@1" else f" ({row['metric']})"
            values[f"{row['name']}{other}"] = row
    for name, key in table.get("by", {}).items():
        values |= {row[key]: row for row in result_of(name)["rows"]}
    return values


def _rows(result: Row, table: Row) -> list[dict[str, Any]]:
    rows = result[table.get("rows", "rows")]
    if isinstance(rows, dict):
        rows = [{"name": name, **row} for name, row in rows.items()]
    names, further = table.get("names", {}), table.get("further", {})
    return [
        {
            key: names.get(value, value) if isinstance(value, str) else value
            for key, value in row.items()
        }
        | {k: v for key, of in further.items() for k, v in of.get(row[key], {}).items()}
        for row in rows
        if all(row[key] == value for key, value in table.get("where", {}).items())
    ]


def crossed(rows: Sequence[Row], table: Row, further: Iterable[Iterable[str]] = ()) -> str:
    """Return a line for each value of one key and a column for each of another."""
    line, column, missing = table["line"], table["column"], table.get("missing")
    fill = Template(missing).vformat
    columns = table.get("columns") or list(dict.fromkeys(row[column] for row in rows))
    lines = []
    for value in dict.fromkeys(row[line] for row in rows):
        own = {row[column]: row for row in rows if row[line] == value}
        first = next(iter(own.values()))
        cells = (fill(table["cell"], (), own.get(name, {})) for name in columns)
        lines.append([fill(table["start"], (), first), *cells])
    head = fill(table["head"], (), rows[0])
    numbers = len(columns) + head.count(" | ")
    return table_of(f"| {' | '.join([head, *columns])} |", [*lines, *further], numbers=numbers)
