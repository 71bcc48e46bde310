"""Write the tables of results into README and methods pages: ``python benchmarks/tables.py``.

A table stands between ``<!-- results: NAME -->`` and ``<!-- end of results -->``. Where NAME is an
experiment, it has a line per published number, with ours from ``results/NAME.json``, or without
where there is no such file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from canonym.evaluation.experiment_files import read_experiment

__all__ = ["filled"]

ROOT = Path(__file__).parents[1]
_PLACE = re.compile(
    r"(?P<start><!-- results: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end of results -->)", re.DOTALL
)
_CORPORA = ("ncbi-disease test", "bc5cdr-disease test")


def _result(name: str) -> Any:
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def _accuracy() -> str:
    found = _result("subword_accuracy")
    default = found["default, 8 bits"]
    fitted = found["fitted to MEDIC, seed 0"]["8 bits"]
    together = {row["name"]: row["value"] for row in _result("default")["rows"]}
    corpora = ("NCBI disease", "BC5CDR disease")
    both = [together[f"{c}, both encoders"] for c in corpora]
    ordered = [together[f"{c}, both encoders, re-ranked"] for c in corpora]
    rows = {
        "default model, BioSyn's protocol": [default[c]["merged"] for c in _CORPORA],
        "with the contextual encoder (extra `onnx`)": both,
        "… and the re-ranker for the two": ordered,
        "`canonym fit --start none` on MEDIC": [fitted[c]["merged"] for c in _CORPORA],
        "BioSyn, as published": [91.1, 93.2],
        "default model, dictionary without mentions": [default[c]["alone"] for c in _CORPORA],
    }
    lines = ["| | NCBI disease | BC5CDR disease |", "|---|---|---|"]
    for name, (ncbi, bc5cdr) in rows.items():
        lines.append(f"| {name} | {ncbi:.1f} | {bc5cdr:.1f} |")
    everyday = _result("everyday_accuracy")
    lines.append("")
    lines.append(
        f"Of {everyday['names']} everyday names that were written apart from those that come with "
        f"canonym, {everyday['with everyday names, top-1'][0]:.0f} % have the right ICD-10-CM "
        f"family first and {everyday['with everyday names, top-5'][0]:.0f} % among the first five "
        f"(`--no-everyday`: {everyday['without, top-1'][0]:.0f} and "
        f"{everyday['without, top-5'][0]:.0f} %)."
    )
    return "\n".join(lines) + "\n"


def _speed() -> str:
    imports = _result("import_speed")
    opening = _result("open_speed")
    linking = _result("linking_speed")
    encoding = _result("subword_accuracy")["speed"]
    mesh, many = imports["mesh_2024"]["import"], imports["made_up"]["import"]
    opened = opening["median"]
    rows = {
        "import MeSH 2024, 263,936 terms": f"{mesh['seconds']:.1f} s",
        f"import {many['names']:,} made-up names": f"{many['seconds']:.0f} s, "
        f"{many['peak_megabytes']:.0f} MB of memory",
        f"open an index of {opening['names']:,} names": f"{opened['load_seconds']:.2f} s, "
        f"{opened['resident_megabytes']:.0f} MB of memory in all",
        f"link {linking['mentions']:,} mentions to MEDIC by character n-grams, {linking['k']} "
        "candidates each": f"{linking['mentions_per_second']['canonym']:,.0f} mentions a second",
        "… beside scikit-learn's `TfidfVectorizer`, dense, one mention at a time": (
            f"canonym is {linking['ratio']:.0f} times as fast"
        ),
        "… beside the same, 64 mentions at a time": (
            f"canonym is {linking['ratio_generous']:.1f} times as fast"
        ),
        "encode names with the default model": f"{encoding['names a second']:,} a second",
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows.items())]) + "\n"


_TABLES = {"accuracy": _accuracy, "speed": _speed}


def _experiment(name: str) -> str:
    experiment = read_experiment(name, folder=ROOT / "benchmarks" / "experiments")
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    run = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    ours = {(row["name"], row["metric"]): row for row in run}
    lines = [
        "| | metric | paper | ours | interval | against another row |",
        "|---|---|---|---|---|---|",
    ]
    for row in experiment.rows:
        for metric, published in row["published"].items():
            paper = published if isinstance(published, str) else f"{published:g}"
            cells = _ours(ours.get((row["name"], metric)))
            lines.append(f"| {row['name']} | {metric} | {paper} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _ours(row: dict[str, Any] | None) -> tuple[str, str, str]:
    if row is None or row["value"] is None:
        return "not run yet", "", ""
    digits = 1 if row["unit"] == "%" else 2
    value = f"{row['value']:.{digits}f}"
    interval = ""
    if row["low"] is not None:
        interval = f"{row['low']:.{digits}f}–{row['high']:.{digits}f}"
    other = row.get("against")
    if not other:
        return value, interval, ""
    tests = f", p = {other['mcnemar']['p']:.3f}" if other["mcnemar"] else ""
    return value, interval, f"{100 * other['difference']['value']:+.1f} to {other['name']}{tests}"


def filled(text: str) -> str:
    """Return a page with its tables of results as the results are now."""

    def table(place: re.Match[str]) -> str:
        name = place["name"]
        content = _TABLES[name]() if name in _TABLES else _experiment(name)
        return place["start"] + content + place["end"]

    return _PLACE.sub(table, text)


if __name__ == "__main__":
    for page in (ROOT / "README.md", *sorted((ROOT / "docs" / "methods").glob("*.md"))):
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
