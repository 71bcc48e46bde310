"""Write the tables of results into README and methods pages: ``python benchmarks/tables.py``.

A table stands between ``<!-- results: NAME -->`` and ``<!-- end of results -->``. Where NAME is an
experiment, it has a line per published number, with ours from ``results/NAME.json``, or without
where there is no such file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from canonym.evaluation.error_kinds import ERROR_KINDS
from reproduce.files import read_experiment

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
    fitted = found["fitted to MEDIC, seed 0"]["8 bits"]
    together = {
        row["name"]: row["value"]
        for experiment in ("default", "marginal")
        for row in _result(experiment)["rows"]
    }
    corpora = ("NCBI disease", "BC5CDR disease")

    def measured(kind: str) -> list[float]:
        return [together[f"{corpus}{kind}"] for corpus in corpora]

    rows = {
        "default model, BioSyn's protocol": measured(""),
        "… and its re-ranker (`--reranker default`)": measured(", re-ranked"),
        "with the contextual encoder (extra `onnx`)": measured(", both encoders"),
        "… and the re-ranker for the two": measured(", both encoders, re-ranked"),
        "… by all names of a concept": measured(", both encoders, by all names"),
        "… and the other mentions of a document (`--order marginal`)": measured(
            ", both encoders, by all names and the document"
        ),
        "`canonym fit --start none` on MEDIC": [fitted[c]["merged"] for c in _CORPORA],
        "BioSyn, as published": [91.1, 93.2],
        "default model, dictionary without mentions": measured(", dictionary alone"),
        "… and its re-ranker, the same": measured(", dictionary alone, re-ranked"),
        "both encoders and their re-ranker, the same": measured(
            ", dictionary alone, both encoders, re-ranked"
        ),
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
    encoding = _result("subword_speed")["names a second"]
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
        "encode names with the default model": f"{encoding['median']:,.0f} a second",
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows.items())]) + "\n"


_KINDS = {
    "default": "",
    "default, re-ranked": ", re-ranked",
    "both": ", both encoders",
    "both, re-ranked": ", both encoders, re-ranked",
}

_READINGS = ("lenient", "strict")

_ORDERS = (("", ""), (", by all names", ", by all names"))


def _told(one: dict[str, float]) -> str:
    return f"{one['value']:.1f} [{one['low']:.1f}, {one['high']:.1f}]"


def _reranked() -> str:
    """Return test figures of every kind of scorer, with intervals."""
    return _by_kind(_result("default"), _KINDS)


def _marginal() -> str:
    """Return what it is worth to go by all names of a concept, with its intervals."""
    found = _result("marginal")
    kinds = {"default": "", "contextual": ", contextual", "both": ", both encoders"}
    pairs = [
        (f"{kind}{what}", suffix + after)
        for kind, suffix in kinds.items()
        for what, after in _ORDERS
    ]
    table = _by_kind(found, dict(pairs))
    rows = {row["name"]: row for row in found["rows"]}
    cells = [rows.get("BC5CDR chemicals" + suffix) for _, suffix in pairs]
    table += f"| BC5CDR chemicals | {' | '.join(_told(one) if one else '' for one in cells)} |\n"
    return table


def _collective() -> str:
    """Return what it is worth to look at the other mentions of a document, with intervals."""
    found = _result("marginal")
    kinds = {
        f"{kind}, {what}": suffix + after
        for kind, suffix in (("default", ""), ("both", ", both encoders"))
        for what, after in (
            ("by all names", ", by all names"),
            ("and the document", ", by all names and the document"),
        )
    }
    table = _by_kind(found, kinds)
    rows = {row["name"]: row for row in found["rows"]}
    cells = [_told(rows["BC5CDR chemicals" + suffix]) for suffix in kinds.values()]
    return table + f"| BC5CDR chemicals | {' | '.join(cells)} |\n"


def _dev_orders() -> str:
    """Return what orders are worth on development parts: the means of six figures."""
    found = {name: one for name, one in _result("dev_orders").items() if "default" in name}
    lines = [f"| | {' | '.join(found)} |", "|---" * (len(found) + 1) + "|"]
    for order in next(iter(found.values())):
        cells = [f"{one[order]['mean'][kind]:.1f}" for one in found.values() for kind in _READINGS]
        pairs = [" / ".join(cells[n : n + 2]) for n in range(0, len(cells), 2)]
        lines.append(f"| {order} | {' | '.join(pairs)} |")
    return "\n".join(lines) + "\n"


def _orders() -> str:
    """Return what each order is worth as a linker uses it."""
    found = _result("orders")
    orders = tuple(found["default"])
    lines = [f"| | {' | '.join(orders)} |", "|---" * (len(orders) + 1) + "|"]
    for kind in ("default", "both"):
        for corpus, called in (
            ("ncbi-disease", "NCBI disease"),
            ("bc5cdr", "BC5CDR disease"),
            ("everyday names", "of 104 everyday names, ICD-10-CM"),
        ):
            values = [found[kind][order][corpus] for order in orders]
            cells = [f"{one:.1f}" if isinstance(one, float) else str(one) for one in values]
            lines.append(f"| {kind}: {called} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _by_kind(found: dict[str, Any], kinds: dict[str, str]) -> str:
    """Return a table of two corpora by slice; `kinds` are columns, and what follows their rows."""
    rows = {row["name"]: row for row in found["rows"] if row["metric"] == "accuracy@1"}
    lines = [f"| | {' | '.join(kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    for corpus in ("NCBI disease", "BC5CDR disease"):
        for what, part in (
            (f"{corpus}, BioSyn's protocol", ""),
            ("the very concept first", None),
            ("mentions that train and dev do not have", ", unseen"),
            ("refined", ", refined"),
            ("dictionary alone", ", dictionary alone"),
        ):
            cells = [
                rows[corpus + kind]["strict"] if part is None else rows[corpus + part + kind]
                for kind in kinds.values()
            ]
            lines.append(f"| {what} | {' | '.join(map(_told, cells))} |")
    return "\n".join(lines) + "\n"


def _glosses() -> str:
    """Return what glosses change, in BioSyn's protocol."""
    diseases, chemicals = _result("default"), _result("bc5cdr-chemical")
    pairs = [
        (corpus, kind, diseases, corpus + suffix)
        for corpus in ("NCBI disease", "BC5CDR disease")
        for kind, suffix in _KINDS.items()
        if kind != "both"
    ]
    pairs += [
        ("BC5CDR chemicals", kind, chemicals, name)
        for kind, name in (
            ("default", "default encoder"),
            ("both", "default and contextual encoder"),
        )
    ]
    lines = ["| | | without | with glosses |", "|---|---|---|---|"]
    for corpus, kind, result, name in pairs:
        rows = {row["name"]: row for row in result["rows"] if row["metric"] == "accuracy@1"}
        cells = [
            f"{_told(rows[one])} / {rows[one]['strict']['value']:.1f}"
            for one in (name, f"{name}, glosses")
        ]
        lines.append(f"| {corpus} | {kind} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _nil() -> str:
    """Return what thresholds for NIL give, by DILBERT's protocol."""
    found = {(row["name"], row["metric"]): row["value"] for row in _result("default")["rows"]}
    lines = ["| | three of DILBERT | most right | learned | never NIL |", "|---|---|---|---|---|"]
    diseases = {
        "": "default, by similarity",
        ", re-ranked": "default, re-ranked, by confidence",
        ", both encoders, re-ranked": "both, re-ranked, by confidence",
    }
    for what, rows, kinds in (
        ("as annotated", "NIL of BC5CDR disease, as annotated", diseases),
        (
            "a quarter of the concepts taken out",
            "NIL of BC5CDR disease, a quarter of the concepts taken out",
            diseases,
        ),
        (
            "interventions of trials",
            "NIL of interventions of trials",
            diseases | {", both encoders": "both, by similarity"},
        ),
    ):
        for kind, by in kinds.items():
            name = f"{rows}{kind}"
            theirs, most, learned, never = (
                ", ".join(f"{found[name, one]:.1f}" for one in group)
                for group in (
                    ("false-positive", "true-positive", "weighted"),
                    ("most-right",),
                    ("learned",),
                    ("never",),
                )
            )
            lines.append(f"| {what}: {by} | {theirs} | {most} | {learned} | {never} |")
    return "\n".join(lines) + "\n"


def _rerankers() -> str:
    """Return what the re-rankers are worth on the parts that they are fitted to."""
    found = _result("rerankers")

    def cell(one: dict[str, dict[str, float]]) -> str:
        before, after = (
            f"{one[when]['lenient']:.1f} / {one[when]['strict']:.1f}"
            for when in ("before", "after")
        )
        return f"{before} → {after}"

    single, both = found["default"], found["default+contextual"]
    lines = ["| | default | both |", "|---|---|---|"]
    for name, one in single.items():
        if isinstance(one, dict):
            other = cell(both[name]) if name in both else ""
            lines.append(f"| {name} | {cell(one)} | {other} |")
    return "\n".join(lines) + "\n"


def _variants() -> str:
    """Return what each choice in the recipe of the default encoder is worth."""
    found = _result("default-encoder/variants")["variants"]
    columns = ("ncbi-disease", "bc5cdr-disease", "chemicals")
    lines = [
        "| | NCBI disease | BC5CDR disease | BC5CDR chemicals | mean | everyday names | slips |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        pairs = [
            " / ".join(f"{one[f'{corpus}, {kind}']['strings']:.1f}" for kind in ("merged", "alone"))
            for corpus in columns
        ]
        slips = sum(one[f"{corpus}, with slips"]["strings"] for corpus in columns[:2]) / 2
        lay = f"{one['everyday names']['top-1']:.1f}"
        cells = (*pairs, f"{one['mean']['strings']:.2f}", lay, f"{slips:.1f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _seeds() -> str:
    """Return figures of three seeds: the mean, and the least and the most."""
    found = {row["name"]: row["value"] for row in _result("default-seeds")["rows"]}
    kinds = ("default", "default by all names", "contextual", "both encoders", "both by all names")
    lines = [f"| | {' | '.join(kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    for what in dict.fromkeys(name.rsplit(", ", 2)[0] for name in found):
        cells = []
        for kind in kinds:
            three = [found[f"{what}, {kind}, seed {seed}"] for seed in range(3)]
            cells.append(f"{sum(three) / 3:.1f} ({min(three):.1f}–{max(three):.1f})")
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _errors() -> str:
    """Return where the errors lie that are left, by kind and by the place of what is right."""
    systems = _result("error_kinds")["systems"]
    found = {tuple(name.split(", ", 1)): one for name, one in systems.items()}
    kinds = [kind for kind in ERROR_KINDS if any(one["kinds"].get(kind) for one in found.values())]
    places = ("second", "third to fifth", "sixth to 20", "not among 20")
    names = [f"{corpus.upper().removesuffix('-DISEASE')}, {system}" for corpus, system in found]
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(found) + 1) + "|"]

    def line(what: str, value: Callable[[dict[str, Any]], int]) -> None:
        lines.append(f"| {what} | {' | '.join(str(value(one)) for one in found.values())} |")

    line("wrong", lambda one: one["wrong"])
    for kind in kinds:
        line(kind, lambda one, kind=kind: one["kinds"].get(kind, 0))
    for place in places:
        line(f"right concept {place}", lambda one, place=place: one["places"].get(place, 0))
    line("string is known from training mentions", lambda one: one["known strings"])
    return "\n".join(lines) + "\n"


_TABLES = {
    "errors": _errors,
    "glosses": _glosses,
    "seeds": _seeds,
    "variants": _variants,
    "accuracy": _accuracy,
    "speed": _speed,
    "reranked": _reranked,
    "marginal": _marginal,
    "orders": _orders,
    "collective": _collective,
    "dev_orders": _dev_orders,
    "rerankers": _rerankers,
    "thresholds": _nil,
}


def _experiment(name: str) -> str:
    experiment = read_experiment(name, folder=ROOT / "benchmarks" / "reproduce" / "experiments")
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
    pages = [*(ROOT / "docs" / "methods").glob("*.md"), *(ROOT / "docs" / "models").glob("*.md")]
    for page in (ROOT / "README.md", *sorted(pages)):
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
