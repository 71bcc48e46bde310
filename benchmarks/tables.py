"""Write the tables of results into README and docs: ``python benchmarks/tables.py``.

A table stands between ``<!-- results: NAME -->`` and ``<!-- end of results -->``. The macro NAME of
``tables.md.jinja`` writes it; without one NAME is an experiment, whose table has a line per
published number, with ours beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Undefined

from canonym.evaluation.statistics import wilson
from canonym.linking.judge import shipped_judge
from canonym.training.watched import watched_tables
from record import RESULTS, ROOT
from reproduce.coverage import read_coverage
from reproduce.files import read_experiment
from reproduce.table import rank_systems

_PLACE = re.compile(
    r"(?P<start><!-- results: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end of results -->)", re.DOTALL
)
_SEARCH = re.compile(r"(?P<corpus>\w+) dev, trained on (?P<names>[^,]+), (?P<search>.+)")

Row = Mapping[str, Any]


# --- what is shown --------------------------------------------------------------------------------


@cache
def result_of(name: str) -> Any:
    """Return a result."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def named(*results: str) -> dict[str, Row]:
    """Return the rows of results by name, with the metric in brackets if it is not accuracy@1."""
    return {
        row["name"] + ("" if row["metric"] == "accuracy@1" else f" ({row['metric']})"): row
        for result in results
        for row in result_of(result)["rows"]
    }


def shown_encoders(result: str, what: str) -> list[Row]:
    """Return the rows of a result, without those of an encoder made again with another seed."""
    return [row for row in result_of(result)[what] if not row["encoder"].startswith("seed")]


def best_annotators() -> list[list[Row]]:
    """Return the rows of canonym and of each tool beside it, the best links first."""
    groups = grouped(result_of("annotate")["rows"], "annotator").values()
    return sorted(groups, key=lambda rows: -sum(row["links"]["F1"] for row in rows))


def matches() -> Iterator[Row]:
    """Yield the sums of the two corpora that are linked to MEDIC both, then all rows."""
    rows = result_of("match")["rows"]
    groups: dict[tuple[str, bool], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["terminology"], row["context"]), []).append(row)
    for (terminology, context), group in groups.items():
        if {row["input"] for row in group} == {"NCBI disease", "BC5CDR disease"}:
            pooled: dict[str, Any] = {"input": "both corpora", "terminology": terminology}
            for kind in ("all", "distinct"):
                n, said, right = (
                    sum(row[kind][what] for row in group) for what in ("cases", "matches", "right")
                )
                pooled[kind] = {
                    "precision": [100 * value for value in wilson(right, said)],
                    "coverage": [100 * said / n],
                }
            yield {**pooled, "context": context}
    yield from rows


def ranked_searches() -> Iterator[tuple[str, str, list[float], float]]:
    """Yield the names trained on, a search, its accuracy on each corpus, and its average rank."""
    trained: dict[str, dict[str, dict[str, float]]] = {}
    for row in result_of("triplet-train")["rows"]:
        if match := _SEARCH.fullmatch(row["name"]):
            by_corpus = trained.setdefault(match["names"], {})
            by_corpus.setdefault(match["corpus"], {})[match["search"]] = row["value"]
    for names, figures in trained.items():
        for search, rank in rank_systems(figures).items():
            yield names, search, [of_corpus[search] for of_corpus in figures.values()], rank


def tables_of_watched(
    result: str, model: str, ends: bool
) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield the watched mentions of a model with the names nearest to each, a column an epoch.

    With `ends` there are two columns, what is not trained and what was saved.
    """
    facts = result_of(result)["trained"][model]
    for mention, columns, rows in watched_tables(facts["measured"], facts["kept"]):
        saved = next((n for n, name in enumerate(columns) if "kept" in name), len(columns) - 1)
        shown = (0, saved) if ends else range(len(columns))
        yield mention, [columns[n] for n in shown], [[row[n] for n in shown] for row in rows]


def coverage_items() -> list[Row]:
    """Return what the five papers have, and where it is here."""
    return [item._asdict() for item in read_coverage()]


# --- how it is shown ------------------------------------------------------------------------------


def number(value: Any, form: str = ".1f", missing: str | None = None) -> str:
    """Return a number in a format; `missing` stands for what is not there."""
    if missing is not None and isinstance(value, Undefined):
        return missing
    return format(value, form)


def percent(share: float, digits: int = 1) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{digits}f}"


def interval(row: Row) -> str:
    """Return a value with its bounds."""
    return f"{row['value']:.1f} [{row['low']:.1f}, {row['high']:.1f}]"


def short(value: float) -> str:
    """Return three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def cell(text: str) -> str:
    """Return a text as a cell of a table."""
    plain = " ".join(text.split()).replace("|", "\\|")
    return plain.replace("<", "&lt;").replace("[", "\\[")


def evidence(shown: str) -> str:
    """Return a test, a result or a page as the coverage of the papers has it."""
    file, _, test = shown.partition("::")
    if test:
        return f"`{Path(file).name}::{test}`"
    if shown.startswith("docs/methods/"):
        return f"[page]({Path(shown).name})"
    return f"`{shown}`"


def grouped(rows: Iterable[Row], key: str) -> dict[Any, list[Row]]:
    """Return rows by the value of a key, in order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


@cache
def _macros() -> Any:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    for function in (number, percent, interval, short, cell, evidence):
        environment.filters[function.__name__] = function
    environment.filters["by"] = grouped
    for called in (
        *(result_of, named, shown_encoders, best_annotators, matches, ranked_searches),
        *(tables_of_watched, coverage_items, shipped_judge, read_experiment),
    ):
        environment.globals[called.__name__] = called
    return environment.get_template("tables.md.jinja").module


def macro_of(table: str) -> Callable[[], str] | None:
    """Return what writes a table, None for one of an experiment."""
    return getattr(_macros(), table.replace("-", "_"), None)


def table_of(name: str) -> str:
    """Return a table by the name that a page has for it."""
    macro = macro_of(name)
    return str(macro() if macro else _macros().experiment(name))


def filled(text: str) -> str:
    """Return a page with its tables filled from the present results."""
    return _PLACE.sub(lambda place: place["start"] + table_of(place["name"]) + place["end"], text)


if __name__ == "__main__":
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
