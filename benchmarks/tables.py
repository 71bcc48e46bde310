"""Write the tables of results into README and docs: ``python benchmarks/tables.py``.

A table stands between ``<!-- results: NAME -->`` and ``<!-- end of results -->``. If NAME is an
experiment, the table has a line per published number, with ours beside it if
``results/NAME.json`` exists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from canonym.evaluation.statistics import wilson
from canonym.training.watched import watched_tables
from reproduce.coverage import counts_table, items_table, read_coverage
from reproduce.files import read_experiment
from reproduce.table import rank_systems

__all__ = ["filled"]

ROOT = Path(__file__).parents[1]
_PLACE = re.compile(
    r"(?P<start><!-- results: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end of results -->)", re.DOTALL
)
_CORPORA = ("NCBI disease", "BC5CDR disease")


def _result(name: str) -> Any:
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def _values(*experiments: str) -> dict[str, float]:
    """Return accuracy@1 of every row of some experiments."""
    rows = (row for name in experiments for row in _result(name)["rows"])
    return {row["name"]: row["value"] for row in rows if row["metric"] == "accuracy@1"}


def _table(rows: dict[str, list[float]]) -> str:
    lines = [f"| | {' | '.join(_CORPORA)} |", "|---|---|---|"]
    lines += [f"| {name} | {ncbi:.1f} | {bc5cdr:.1f} |" for name, (ncbi, bc5cdr) in rows.items()]
    return "\n".join(lines) + "\n"


def _peers() -> str:
    """Return canonym beside simple methods and published systems."""
    values = _values("biosyn-train", "biosyn-table-2", "default")

    def measured(kind: str) -> list[float]:
        return [values[f"{corpus}{kind}"] for corpus in _CORPORA]

    rows = {
        "verbatim match": measured(", verbatim"),
        **_other_tools("rapidfuzz", "text2term", "scispaCy, candidate generator"),
        "all-MiniLM-L6-v2, untrained": measured(", untrained"),
        "**canonym**, default encoder": measured(""),
        "**canonym**, with the contextual encoder": measured(", both encoders"),
        **_PUBLISHED,
    }
    return _table(rows)


def _other_tools(*names: str) -> dict[str, list[float]]:
    """Return accuracy of other tools, of those that were measured on both corpora."""
    measured = {row["peer"]: row["accuracy"] for row in _result("peers")["rows"]}
    return {
        name: [100 * measured[name][corpus]["lenient, all"]["value"] for corpus in _CORPORA]
        for name in names
        if len(measured.get(name, ())) == len(_CORPORA)
    }


# Table 2 of Sung et al. (2020), table 1 of Liu et al. (2021), the BioSyn repository.
_PUBLISHED = {
    "BioSyn (2020)": [91.1, 93.2],
    "SapBERT (2021)": [92.0, 93.5],
    "BioSyn trained from SapBERT (2021)": [92.4, 93.5],
}


def _accuracy() -> str:
    """Return every setting of the shipped encoders, under BioSyn's protocol."""
    fitted = _result("subword_accuracy")["fitted to MEDIC, seed 0"]["8 bits"]
    values = _values("default")

    def measured(kind: str) -> list[float]:
        return [values[f"{corpus}{kind}"] for corpus in _CORPORA]

    rows = {
        "default encoder": measured(""),
        "default and contextual encoder": measured(", both encoders"),
        "`canonym train subword --start none` on MEDIC": [
            fitted[f"{part} test"]["merged"] for part in ("ncbi-disease", "bc5cdr-disease")
        ],
        "default encoder, dictionary alone": measured(", dictionary alone"),
        "both encoders, dictionary alone": measured(", dictionary alone, both encoders"),
    }
    return _table(rows)


def _everyday() -> str:
    titles = {"with everyday names": "with everyday names", "without": "without everyday names"}
    lines = [
        "| everyday names, ICD-10-CM | names | right family first | among five "
        "| searched, first | among five |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for row in _result("everyday_accuracy")["rows"]:
        name = f"{row['list']}, {titles[row['linker']]}"
        kinds = ("top-1", "top-5", "searched, top-1", "searched, top-5")
        cells = [f"{row[kind][0]:.0f} %" for kind in kinds]
        cells[2] += f" of {row['searched']}"
        lines.append(f"| {name} | {row['names']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _speed_line() -> str:
    opening, encoding = _result("open_speed"), _result("subword_speed")["names a second"]
    opened = opening["median"]
    tools = {row["peer"]: row for row in _result("peers_speed")["rows"]}
    rates = {name: row["unknown"]["per_second"] for name, row in tools.items()}
    ours = rates["canonym, base install"]
    theirs = max(rate for name, rate in rates.items() if "FAISS" in name)
    return (
        "**Speed**, on two cores, of mentions that equal no name, many at a time: the base install "
        f"links {ours / theirs:.1f} times as many a second as the fastest way with "
        f"all-MiniLM-L6-v2 and FAISS, and {ours / rates['rapidfuzz']:.1f} times as many as "
        f"rapidfuzz. It opens an index of {opening['names']:,} names in "
        f"{opened['load_seconds']:.2f} s with {opened['resident_megabytes']:.0f} MB of memory. "
        f"The default encoder encodes {encoding['median']:,.0f} names a second.\n"
    )


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


def _annotate() -> str:
    """Return spans and links of annotators, the best tool beside canonym first."""
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for row in _result("annotate")["rows"]:
        task = f"{row['task']}, {row['dictionary']}"
        rows.setdefault(row["annotator"], {})[task] = row
    tasks = [*rows["canonym"]]
    lines = [f"| | {' | '.join(tasks)} | MB a second |", "|---" * (len(tasks) + 2) + "|"]
    order = sorted(rows, key=lambda name: -sum(one["links"]["F1"] for one in rows[name].values()))
    for name in order:
        cells = [
            f"{rows[name][one]['spans']['F1']} / {rows[name][one]['links']['F1']}" for one in tasks
        ]
        speed = ", ".join(f"{rows[name][one]['MB/s']:g}" for one in tasks)
        lines.append(f"| {name} | {' | '.join(cells)} | {speed} |")
    return "\n".join(lines) + "\n"


def _fuzz() -> str:
    found = _result("fuzz")
    readers = found["readers"].values()
    fewest = min(one["inputs"] for one in readers)
    slowest = max(one["slowest_seconds"] for one in readers)
    return (
        f"{found['inputs']:,} damaged inputs for {len(readers)} readers, at least {fewest:,} for "
        f"each: {sum(one['read'] for one in readers):,} were read, "
        f"{sum(one['refused'] for one in readers):,} refused with a message, and "
        f"{found['faults']:,} were faults. The slowest took {slowest:.1f} s.\n"
    )


_KINDS = {
    "default": "",
    "both": ", both encoders",
}


def _hostile() -> str:
    """Return what hostile requests got."""
    result = _result("hostile")
    kinds = ("2xx", "4xx", "503", "no answer")
    lines = ["| | requests | taken | refused | overload | no answer |", "|---|--:|--:|--:|--:|--:|"]
    for family, found in sorted(result["answers"].items()):
        cells = [f"{sum(found.values()):,}", *(f"{found.get(kind, 0):,}" for kind in kinds)]
        lines.append(f"| {family} | {' | '.join(cells)} |")
    most = max(server["memory_most"] for server in result["servers"]) / 1e6
    faults = sum(result["faults"].values()) or "no"
    return (
        "\n".join(lines)
        + f"\n\n{result['requests']:,} requests, {faults} faults; {result['pages_in_a_browser']} "
        f"pages were opened in a browser. A server held at most {most:,.0f} MB.\n"
    )


def _service() -> str:
    """Return what the service does under load."""
    if not (ROOT / "benchmarks" / "results" / "service_load.json").exists():
        return "Not measured yet.\n"
    result = _result("service_load")
    single, typed = result["singles"], result["autocomplete"]["rows"]
    both = result["batches"]
    batches = [row for row in both["rounds"] if row["kind"] == "batches"]
    batch = sorted(batches, key=lambda row: row["mentions_per_second"])[len(batches) // 2]
    rows = {
        f"one mention, {single['clients']} clients": single,
        f"{both['size']} mentions, {both['clients']['batches']} clients": batch,
        **{f"a letter of a name, typists: {row['typists']}": row for row in typed},
    }
    lines = [
        "| each request has | requests/s | mentions/s | p50 | p95 | p99 | errors |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, row in rows.items():
        mentions = "" if "typists" in row else f"{row['mentions_per_second']:,.0f}"
        times = " | ".join(f"{row[key]:,.1f} ms" for key in ("p50", "p95", "p99"))
        rate, errors = f"{row['requests_per_second']:,.0f}", sum(row["errors"].values())
        lines.append(f"| {name} | {rate} | {mentions} | {times} | {errors} |")
    shares = sorted(row["client_share"] for row in rows.values())
    return (
        "\n".join(lines)
        + f"\n\nIn turn on one server, batches link {both['times_faster']} times as many "
        "mentions a second as single ones. "
        f"In {result['seconds']:,.0f} seconds of single mentions the memory changed by "
        f"{single['megabytes_grown']:+,.0f} MB. "
        f"The clients took {shares[0]:.0%} to {shares[-1]:.0%} of a core.\n"
    )


def _told(one: dict[str, float]) -> str:
    return f"{one['value']:.1f} [{one['low']:.1f}, {one['high']:.1f}]"


def _card() -> str:
    """Return test figures of the shipped encoders, with intervals."""
    return _by_kind(_result("default"), _KINDS)


def _contextual() -> str:
    """Return accuracy of both shipped encoders, alone and together."""
    values = _values("default")
    kinds = {
        "contextual alone": ", contextual",
        "default alone": "",
        "both": ", both encoders",
    }
    lines = [f"| | {' | '.join(kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    for corpus in _CORPORA:
        for part in ("", ", unseen"):
            cells = [f"{values[corpus + part + kind]:.1f}" for kind in kinds.values()]
            lines.append(f"| {corpus}{part} | {' | '.join(cells)} |")
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


def _match() -> str:
    """Return precision and coverage of matches of the reconciliation service."""
    lines = [
        "| cells | terminology | context | precision | coverage | distinct: precision | coverage |",
        "|---" * 7 + "|",
    ]
    rows = _result("match")["rows"]
    for row in [*_pooled_matches(rows), *rows]:
        cells = [row["input"], row["terminology"], "yes" if row["context"] else "no"]
        for kind in ("all", "distinct"):
            value, low, high = row[kind]["precision"]
            cells += [f"{value:.1f} % ({low:.1f}–{high:.1f})", f"{row[kind]['coverage'][0]:.1f} %"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _pooled_matches(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the sums of the two corpora, which are linked to MEDIC both."""
    keys = ("terminology", "context")
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    for key, group in groups.items():
        if {row["input"] for row in group} == set(_CORPORA):
            pooled: dict[str, Any] = {"input": "both corpora", **dict(zip(keys, key, strict=True))}
            for kind in ("all", "distinct"):
                n, said, right = (
                    sum(row[kind][what] for row in group) for what in ("cases", "matches", "right")
                )
                pooled[kind] = {
                    "precision": [100 * value for value in wilson(right, said)],
                    "coverage": [100 * said / n],
                }
            yield pooled


def _flags() -> str:
    """Return precision and recall of flags, on the sentences that no rule was mended with."""
    result = _result("flags")
    figures = result["apart"]
    right, least, most = figures["all flags right"]
    n, cost = figures["sentences"], result["cost"]["seconds a megabyte"]
    lines = ["| flag | mentions | precision | recall |", "|---|--:|--:|--:|"]
    for flag in ("negated", "historical", "hypothetical", "family", "uncertain"):
        of = figures[flag]
        cells = ("{:.0f} % ({:.0f}–{:.0f})".format(*of[kind]) for kind in ("precision", "recall"))
        lines.append(f"| `{flag}` | {of['right'] + of['missed']} | {' | '.join(cells)} |")
    lines += [
        "",
        f"All flags are right in {right:.0f} % ({least:.0f}–{most:.0f}) of {n} sentences. Flags "
        f"cost {cost:.0f} s of one processor for a megabyte of notes with a mention in each "
        "sentence.",
    ]
    return "\n".join(lines) + "\n"


def _glosses() -> str:
    """Return the gain by glosses, in BioSyn's protocol."""
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


def _mapping() -> str:
    """Return precision and recall of the Disease Ontology mapped to MeSH."""
    lines = ["| | pairs | judged | precision | recall | F1 |", "|---|---|---|---|---|---|"]
    for row in _result("mapping")["rows"]:
        cells = f"{row['pairs']:,} | {row['judged']:,}"
        shares = " | ".join(f"{100 * row[key]:.1f}" for key in ("precision", "recall", "f1"))
        lines.append(f"| {row['system']} | {cells} | {shares} |")
    return "\n".join(lines) + "\n"


def _mapping_nobody() -> str:
    """Return what is mapped where no concept has a partner."""
    lines = [
        "| no concept has a partner | concepts | mapped | as the same | of 0.85 or more |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in _result("mapping")["nobody"]:
        same = f"{row['exact']:,} ({100 * row['exact share']:.2f} %)"
        lines.append(
            f"| {row['question']} | {row['concepts']:,} | {row['pairs']:,} | {same} | "
            f"{row['of 0.85 or more']:,} |"
        )
    return "\n".join(lines) + "\n"


def _contrasts(by: str) -> str:
    """Return how many minimal pairs are told apart, by kind of contrast or by terminology."""
    result = _result("contrasts")
    questions = ("present", "absent", "negated", "kept")
    rows = [row for row in result["rows"] if (row["kind"] == "all") == (by == "all")]
    systems = list(dict.fromkeys(row["system"] for row in rows))
    if by == "all":
        lines = [f"| right, % | {' | '.join(questions)} |", "|---|" + "--:|" * len(questions)]
        for system in systems:
            own = {row["question"]: row["percent"] for row in rows if row["system"] == system}
            cells = [f"{own[name]:.1f}" if name in own else "–" for name in questions]
            lines.append(f"| {system} | {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"
    columns = [(system, name) for system in systems for name in questions[:2]]
    head = " | ".join(f"{system}, {name}" for system, name in columns)
    lines = [f"| right, % | pairs | {head} |", "|---|--:|" + "--:|" * len(columns)]
    shown = [row for row in rows if row["system"] == "canonym" and row["question"] == "present"]
    for row in shown:
        own = {(r["system"], r["question"]): r for r in rows if r["kind"] == row["kind"]}
        cells = " | ".join(f"{own[column]['percent']:.1f}" for column in columns)
        lines.append(f"| {row['kind']} | {row['n']:,} | {cells} |")
    return "\n".join(lines) + "\n"


def _nil() -> str:
    """Return accuracy with thresholds for NIL, by DILBERT's protocol."""
    found = {(row["name"], row["metric"]): row["value"] for row in _result("default")["rows"]}
    lines = ["| | three of DILBERT | most right | learned | never NIL |", "|---|---|---|---|---|"]
    diseases = {
        "": "default, by similarity",
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


def _tools() -> str:
    """Return accuracy of other tools and of canonym on the same mentions and names."""
    kinds = [f"{reading}, {of}" for of in ("all", "unseen mention") for reading in _READINGS]
    lines = [
        "| | NCBI disease | unseen mentions | BC5CDR disease | unseen mentions |",
        "|---|---|---|---|---|",
    ]
    failures = ""
    for row in _result("peers")["rows"]:
        if "error" in row:
            failures += f"- {row['peer']}: `{row['error']}`\n"
        cells = []
        for corpus in _CORPORA:
            found = row["accuracy"].get(corpus, {})
            told = [f"{100 * found[kind]['value']:.1f}" if kind in found else "–" for kind in kinds]
            cells += [f"{told[0]} / {told[1]}", f"{told[2]} / {told[3]}"]
        if row["accuracy"]:
            lines.append(f"| {row['peer']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n" + (failures and f"\nWhat failed:\n\n{failures}")


_READINGS = ("lenient", "strict")


def _tools_speed(result: str = "peers") -> str:
    """Return times and memory of other tools and of canonym, from one run."""
    lines = [
        "| | build, s | together, a second: all, unknown | × | one, ms: p50, p99 | memory, MB |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    run = _result(result)
    rows = {row["peer"]: row for row in run["rows"] if "single" in row}
    base = rows.get("sentence-transformers, FAISS flat")
    for name, row in rows.items():
        rates = [row[kind]["per_second"] for kind in ("distinct", "unknown")]
        single = row["single"]
        cells = [
            f"{row['build_seconds']:,.1f}",
            ", ".join(map(_short, rates)),
            _short(rates[1] / base["unknown"]["per_second"]) if base else "–",
            f"{_short(single['p50_ms'])}, {_short(single['p99_ms'])} ({single['mentions']:,})",
            _short(row["peak_megabytes"]),
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    size = f"of about {run['limit']} mentions" if run["limit"] else "of all mentions"
    threads = f"{run['threads']} thread{'s' * (run['threads'] > 1)}"
    ran = f"{run['turns']} turns with batches {size}, {threads}, {run['names']:,} names."
    return "\n".join(lines) + f"\n\n{ran}\n"


def _short(number: float) -> str:
    """Return three digits, or all before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _products() -> str:
    rows = _result("products")["rows"]
    lines = ["| names | engine | one query | of 256 together |", "|--:|---|--:|--:|"]
    lines += [
        f"| {row['rows']:,} | {row['engine']} | {row['one, ms']:.2f} | {row['of 256, ms']:.3f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _sparse() -> str:
    lines = ["| names | engine | one query | of 256 together | MiB |", "|--:|---|--:|--:|--:|"]
    lines += [
        f"| {row['rows']:,} | {row['engine']} | {row['one, ms']:.2f} | {row['of 256, ms']:.3f} "
        f"| {row['peak MiB']:.0f} |"
        for row in _result("sparse")["rows"]
    ]
    return "\n".join(lines) + "\n"


def _languages() -> str:
    """Return how often names in other languages find their concept by its English names."""
    rows = _result("languages")["rows"]
    tags = list(dict.fromkeys(row["language"] for row in rows))
    lines = [f"| accuracy@1, % | {' | '.join(tags)} |", "|---" + "|--:" * len(tags) + "|"]
    for name in dict.fromkeys(row["encoder"] for row in rows):
        found = {row["language"]: row for row in rows if row["encoder"] == name}
        cells = (f"{100 * found[tag]['accuracy@1']:.1f}" for tag in tags)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| one term | encoder | nearest English name |", "|---|---|---|"]
    for row in rows:
        if "term" in row:
            nearest = ", ".join(row["nearest"]) or "none"
            lines.append(f"| {row['term']} ({row['language']}) | {row['encoder']} | {nearest} |")
    return "\n".join(lines) + "\n"


def _domains(name: str = "domains") -> str:
    """Return the accuracy of encoders on the domains of the development suite."""
    result = _result(name)
    result = {key: [row for row in rows if not row["encoder"].startswith("seed")]
              for key, rows in result.items() if key in ("means", "rows")}  # fmt: skip
    names = [row["encoder"] for row in result["means"]]
    lines = [
        f"| accuracy@1, % | n | {' | '.join(names)} |",
        "|---" + "|--:" * (len(names) + 1) + "|",
    ]
    for domain in dict.fromkeys(row["domain"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["domain"] == domain]
        cells = (f"{row['accuracy@1']:.1f}" for row in rows)
        lines.append(f"| {domain} | {rows[0]['n']:,} | {' | '.join(cells)} |")
    for key, what in (("accuracy@1", "mean"), ("accuracy@5", "mean, among five")):
        cells = (f"{row[key]:.1f}" for row in result["means"])
        lines.append(f"| {what} | {result['means'][0]['n']:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _unread() -> str:
    """Return what encoders find in terminologies that none of them has read."""
    rows = _result("unread_terminologies")["rows"]
    names = list(dict.fromkeys(row["encoder"] for row in rows))
    lines = [
        f"| right first, % | n | {' | '.join(names)} |",
        "|---" + "|--:" * (len(names) + 1) + "|",
    ]
    for name in dict.fromkeys(row["terminology"] for row in rows):
        own = [row for row in rows if row["terminology"] == name]
        cells = " | ".join(f"{row['accuracy@1']:.1f}" for row in own)
        lines.append(f"| {name} | {own[0]['n']:,} | {cells} |")
    return "\n".join(lines) + "\n"


def _everyday_languages() -> str:
    """Return how many of forty everyday names of each language find their concept."""
    rows = _result("everyday_languages")["rows"]
    tags = list(dict.fromkeys(row["language"] for row in rows))
    lines = [f"| of {rows[0]['n']} | {' | '.join(tags)} |", "|---" + "|--:" * len(tags) + "|"]
    for name in dict.fromkeys(row["encoder"] for row in rows):
        cells = [str(row["found"]) for row in rows if row["encoder"] == name]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _by_language(result: str, key: str) -> str:
    """Return what encoders find alone and in one index, by language."""
    rows = _result(result)["rows"]
    names = list(dict.fromkeys(row["encoder"] for row in rows))
    lines = [
        f"| right first, % | n | {' | '.join(names)} |",
        "|---" + "|--:" * (len(names) + 1) + "|",
    ]
    for asked in dict.fromkeys(row[key] for row in rows):
        own = [row for row in rows if row[key] == asked]
        cells = [f"{row['accuracy@1']:.1f}" for row in own]
        lines.append(f"| {asked} | {own[0]['n']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _findings() -> str:
    """Return how many findings in plain words are found, with their names and without."""
    lines = ["| right first | n | without | with |", "|---|--:|--:|--:|"]
    lines += [
        f"| {row['terminology']}, `{row['encoder']}` "
        f"| {row['n']} | {row['without']} | {row['with']} |"
        for row in _result("findings")["rows"]
    ]
    return "\n".join(lines) + "\n"


def _neighbours() -> str:
    """Return the nearest names of chosen terms, by encoder."""
    rows = _result("neighbours")["rows"]
    lines = ["| term | encoder | nearest names, the first ones |", "|---|---|---|"]
    lines += [
        f"| {term} | {row['encoder']} | {'; '.join(name for name, _ in row['nearest'][term])} |"
        for term in rows[0]["nearest"]
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _kills() -> str:
    lines = [
        "| command | kills | at a system call | nothing written | as before | begun | whole "
        "| anything wrong |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in _result("kills")["commands"].items():
        found = [row["found"].get(kind, 0) for kind in ("none", "old", "begun", "new")]
        cells = [row["kills"], row["at a system call"], *found, row["problems"]]
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _review_kills() -> str:
    rows = ["| killed | acknowledged | kills | unanswered | of these written | anything wrong |"]
    rows.append("|---|---|---|---|---|---|")
    for name, row in _result("review_kills")["killed"].items():
        keys = ("acknowledged", "kills", "without an answer", "of these written", "problems")
        rows.append(f"| {name} | {' | '.join(str(row[key]) for key in keys)} |")
    return "\n".join(rows) + "\n"


def _unknown() -> str:
    lines = [
        "| terminology | one, ms: before, now | together, a second: before, now |",
        "|---|---|---|",
    ]
    for row in _result("unknown_mentions")["rows"]:
        before, now = row["before"], row["now"]
        lines.append(
            f"| {row['terminology']} "
            f"| {before['p50_ms']:.1f}, {now['p50_ms']:.1f} ({row['single, times faster']:.1f} ×) "
            f"| {before['per_second']:.0f}, {now['per_second']:.0f} "
            f"({row['batch, times faster']:.1f} ×) |"
        )
    return "\n".join(lines) + "\n"


def _ivf() -> str:
    """Return times and recall of lists beside the exact search, by number of names."""
    lines = [
        "| names | lists, of them looked at | recall@1: all, unknown | recall@10 | exact, ms "
        "| ivf, ms | build, s |",
        "|---" * 7 + "|",
    ]
    for row in _result("ivf")["sizes"]:
        recalls = [100 * row[f"{who}mention_recall_at_1"] for who in ("", "unknown_")]
        times = [row[f"{kind}_ms"] for kind in ("exact", "ivf")]
        cells = [
            f"{row['names']:,}",
            f"{row['lists']:,}, {row['probes']:,}",
            ", ".join(f"{one:.1f} %" for one in recalls),
            f"{100 * row['mention_recall_at_10']:.1f} %",
            *(f"{one['single']:.1f}, {one['batch']:.1f}" for one in times),
            ", ".join(f"{one:.0f}" for one in row["build_seconds"].values()),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _scaling_names() -> str:
    """Return memory and times by number of names."""
    lines = [
        "| names | kind | import, index (processor) | memory of index | index on disk | opens "
        "| memory of linking | one mention | a thousand |",
        "|---" * 9 + "|",
    ]
    for row in _result("scaling")["names"]:
        cells = [
            f"{row['names']:,}",
            row["kind"],
            f"{row['import_processor_seconds']:,.0f} s, {row['index_processor_seconds']:,.0f} s",
            f"{row['index_peak_megabytes']:,} MB",
            f"{row['index_megabytes']:,} MB",
            f"{row['open_seconds']:.2f} s",
            f"{row['linking_megabytes']:,} MB",
            f"{row['p50_ms']:.1f} ms",
            f"{row['per_second']:,.0f} a second",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _scaling_machine() -> str:
    """Return how fast the machine of the measurement was."""
    seconds = _result("scaling")["loop_seconds"]
    return f"This machine adds up ten million numbers in {seconds:.1f} s (`s += i` in Python).\n"


def _scaling_mentions() -> str:
    """Return times of bulk runs, and those that follow from them."""
    result = _result("scaling")
    lines = ["| mentions | different | time | mentions a second |", "|---|---|---|---|"]
    for row in result["mentions"]:
        cells = [f"{row['mentions']:,}", f"{row['different']:,}", f"{row['seconds']:,.0f} s"]
        lines.append(f"| {' | '.join(cells)} | {row['per_second']:,.0f} |")
    for row in result["projected"]:
        seconds = 60 * row["minutes"]
        cells = [f"{row['mentions']:,}", f"{row['different']:,}", f"{row['minutes']:,.0f} min"]
        rate = f"{row['mentions'] / seconds:,.0f}, projected; {row['core_hours']:,.1f} core hours"
        lines.append(f"| {' | '.join(cells)} | {rate} |")
    return "\n".join(lines) + "\n"


def _scaling_workers() -> str:
    """Return how much faster more workers are."""
    lines = ["| workers | times as fast as one |", "|---|---|"]
    rows = _result("scaling")["workers"]
    lines += [f"| {row['workers']} | {row['times_faster']:.2f} |" for row in rows]
    return "\n".join(lines) + "\n"


_SEARCH = re.compile(r"(?P<corpus>\w+) dev, trained on (?P<names>[^,]+), (?P<search>.+)")


def _search_ranks() -> str:
    """Return accuracy and average rank of each search, for each set of names trained on."""
    trained: dict[str, dict[str, dict[str, float]]] = {}
    for row in _result("triplet-train")["rows"]:
        if found := _SEARCH.fullmatch(row["name"]):
            by_corpus = trained.setdefault(found["names"], {})
            by_corpus.setdefault(found["corpus"], {})[found["search"]] = row["value"]
    lines = []
    for names, figures in trained.items():
        if not lines:
            lines = [f"| trained on | search | {' | '.join(figures)} | average rank |"]
            lines.append("|---|---|" + "--:|" * (len(figures) + 1))
        for search, rank in rank_systems(figures).items():
            cells = " | ".join(f"{found[search]:.1f}" for found in figures.values())
            lines.append(f"| {names} | {search} | {cells} | {rank:g} |")
    return "\n".join(lines) + "\n"


def _watched(result: str, model: str, *, ends: bool = False) -> str:
    """Return the names nearest to the watched mentions of a model, a table for each.

    With `ends` there are two columns, what is not trained and what was saved.
    """
    path = ROOT / "benchmarks" / "results" / f"{result}.json"
    facts = _result(result).get("trained", {}).get(model, {}) if path.exists() else {}
    if "measured" not in facts:
        return "Not measured yet.\n"
    tables = []
    for mention, columns, rows in watched_tables(facts["measured"], facts["kept"]):
        saved = next((n for n, name in enumerate(columns) if "kept" in name), len(columns) - 1)
        shown = (0, saved) if ends else range(len(columns))
        lines = [[f"*{mention}*", *(columns[n] for n in shown)], ["---"] * (len(shown) + 1)]
        lines += [[str(rank), *(row[n] for n in shown)] for rank, row in enumerate(rows, start=1)]
        tables.append("\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n")
    return "\n".join(tables)


def _few_shot_training() -> str:
    """Return correlation and time by the number of names, the head beside an averaging network."""
    if not (ROOT / "benchmarks" / "results" / "few-shot-curve.json").exists():
        return "Not measured yet.\n"
    result = _result("few-shot-curve")
    rows = {row["name"]: row for row in result["rows"]}
    kinds = {"1 name": "names-1"} | {f"{n} names": f"names-{n}" for n in (2, 5, 10, 15)}
    kinds["deep averaging network, 15 names"] = "dan"
    lines = ["| | MayoSRS | UMNSRS similarity | seconds to train |", "|---|--:|--:|--:|"]
    for name, model in kinds.items():
        both = [rows[f"{test}: {name}"] for test in ("MayoSRS", "UMNSRS similarity")]
        cells = [f"{row['value']:.2f} ({row['low']:.2f}–{row['high']:.2f})" for row in both]
        seconds = result.get("trained", {}).get(model, {}).get("seconds")
        cells.append("" if seconds is None else f"{seconds:,.0f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    tried = result.get("trained", {}).get("dan", {}).get("hidden", {})
    scores = (f"{int(width):,} columns {score:.3f}" for width, score in tried.items())
    told = f"\nValidation score of the averaging network: {', '.join(scores)}.\n" if tried else ""
    return "\n".join(lines) + "\n" + told


def _fit_share() -> str:
    """Return what fitted encoders find, by the share of the encoder that they start from."""
    rows = _result("fit_share")["rows"]
    keys = [key for key in rows[0] if key.startswith("share ")]
    heads = [key.replace("share ", "").rstrip("0").rstrip(".") or "0" for key in keys]
    lines = [
        f"| found first, % | n | not fitted | {' | '.join(f'share {one}' for one in heads)} |",
        "|---" + "|--:" * (len(keys) + 2) + "|",
    ]
    for row in rows:
        cells = [f"{row[key]:.1f}" for key in ("start", *keys)]
        lines.append(f"| {row['asked']} | {row['n']:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _rules_asked() -> str:
    """Return what is asked, and how much of it is right with all mechanisms."""
    lines = ["| | asked | right, % | wrong at 0.9 or more |", "|---|--:|--:|--:|"]
    for row in _result("rules")["groups"]:
        right = 100 * row["right"] / row["n"]
        head = f"| {row['group']}: {_escaped(row['source'])} | {row['n']:,} | {right:.1f} |"
        lines.append(f"{head} {row['sure and wrong']} |")
    return "\n".join(lines) + "\n"


def _rules(*, change: bool) -> str:
    """Return what each mechanism changes, or the mechanisms that change nothing."""
    rows = [row for row in _result("rules")["rows"] if bool(row["changed"]) is change]
    if not change:
        lines = ["| mechanism | tells of | lines |", "|---|--:|--:|"]
        lines += [f"| {_rule(row)} | {row['documents']:,} | {row['lines']} |" for row in rows]
        return "\n".join(lines) + "\n"
    heads = "changed | gained | lost | avoided | made | processor, % | for example"
    lines = [f"| mechanism | {heads} |", "|---|--:|--:|--:|--:|--:|--:|---|"]
    for row in rows:
        counts = [row[key] or "" for key in ("changed", "gained", "lost", "avoided", "made")]
        share = "" if row["processor %"] is None else f"{row['processor %']:.1f}"
        example = f"*{_escaped(row['samples'][0])}*" if row["samples"] else ""
        cells = " | ".join(map(str, (*counts, share, example)))
        lines.append(f"| {_rule(row)} | {cells} |")
    return "\n".join(lines) + "\n"


def _rule(row: dict[str, Any]) -> str:
    return f"`{row['rule']}`" + (f": {_escaped(row['says'])}" if row["says"] else "")


def _escaped(text: str) -> str:
    """Return a text as a cell of a table."""
    plain = " ".join(text.split()).replace("|", "\\|")
    return plain.replace("<", "&lt;").replace("[", "\\[")


_JUDGED = (
    *("right links lost", "lost, taken out", "lost, misspelt"),
    *("NIL, noise", "NIL, other languages", "NIL, English", "NIL, another domain"),
)


def _judge() -> str:
    lines = [
        f"| domain | names | ECE | {' | '.join(_JUDGED)} |",
        "|---|---|--:|" + "--:|" * len(_JUDGED),
    ]
    for row in _result("judge")["rows"]:
        form = row["form"].removeprefix("dev, ").removeprefix("dev").partition(" ")[0]
        cells = [row["domain"], form, f"{row['ece']:.3f}", *_judged(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _judge_cuts() -> str:
    head = [f"| NIL below | {' | '.join(_JUDGED)} |", "|--:|" + "--:|" * len(_JUDGED)]
    rows = _result("judge")["means"]
    lines = [
        f"| {row['cut']:g} | {' | '.join(_judged(row))} |"
        for row in rows
        if row["encoders"] == "default"
    ]
    return "\n".join([*head, *lines]) + "\n"


def _judge_encoders() -> str:
    figures = ("ece", "right from 0.95", *_JUDGED)
    lines = [
        f"| encoders | sets | ECE | {' | '.join(figures[1:])} |",
        "|---|--:|" + "--:|" * len(figures),
    ]
    result = _result("judge")
    for row in result["means"]:
        if row["cut"] == result["cut"]:
            cells = [row["encoders"], str(row["sets"]), f"{row['ece']:.3f}"]
            cells += [f"{row['right from 0.95']:.1f}", *_judged(row)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _second_look() -> str:
    lines = [
        "| list | names | finds | right | ECE | right where sure |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    before: dict[str, Any] = {}
    for row in _result("second_look")["rows"]:
        if not row["second look"]:
            before = row
            continue
        changes = [f"{before[key]} → {row[key]}" for key in ("right", "ece", "right where sure")]
        finds = f"{100 * row['finds']:.0f} %"
        lines.append(f"| {' | '.join([row['job'], str(row['n']), finds, *changes])} |")
    return "\n".join(lines) + "\n"


def _outside() -> str:
    sources = {name: _result("outside")[name] for name in _OUTSIDE}
    bands = [band["from"] for band in sources[_OUTSIDE[0]]["bands"]]
    heads = [f"{low:g} to {high:g}" for low, high in zip(bands, (1, *bands), strict=False)]
    lines = [f"| | names | {' | '.join(heads)} | NIL |", "|---|--:|" + "--:|" * (len(bands) + 1)]
    for name, row in sources.items():
        cells = [
            f"{100 * band['right'] / band['links']:.1f} % of {band['links']:,}"
            for band in row["bands"]
        ]
        lines.append(f"| {name} | {row['names']:,} | {' | '.join(cells)} | {row['nil']:,} |")
    return "\n".join(lines) + "\n"


def _judged(row: dict[str, Any]) -> list[str]:
    return [f"{row[key]:.1f}" if key in row else "" for key in _JUDGED]


_OUTSIDE = (
    *("HPO, later names", "ICD-9-CM, long", "ICD-9-CM, short", "ICD-10 of the WHO"),
    *("MONDO", "DOID, later names", "ChEBI"),
)

_RELATION_SOURCES = {
    "is_a": "MeSH, CTD, Disease Ontology, HPO, UBERON",
    "indicated_for": "DrugBank drugs and diseases",
    "has_action": "MeSH, DrugCentral",
}


def _relation_classes() -> str:
    lines = ["| relation | from | triplets between named concepts |", "|---|---|--:|"]
    for row in _result("relation_classes")["rows"]:
        source = _RELATION_SOURCES.get(row["relation"], "UBERON")
        lines.append(f"| `{row['relation']}` | {source} | {row['triplets']:,} |")
    return "\n".join(lines) + "\n"


def _dilbert_speed() -> str:
    """Return the speed that DILBERT's section 5.5 has, beside ours for as many names."""
    row = next(row for row in _result("scaling")["names"] if row["names"] == 500_000)
    contextual = _result("contextual_speed")["8 bits, ONNX"]["names a second"]
    hours = 10_000_000 / row["per_second"] / 3600
    return (
        "| | paper, BioBERT on a TITAN X | default encoder, two cores | contextual encoder, a core "
        "|\n"
        "|---|--:|--:|--:|\n"
        f"| vectors of 500,000 names | 7 minutes | {row['index_seconds']:.0f} seconds with index "
        f"| {500_000 / contextual / 60:.1f} minutes |\n"
        f"| 10 million mentions among them | 3 hours | {hours:.1f} hours | not measured |\n"
    )


def _relatives() -> str:
    kinds = ("parent", "child", "sibling", "ancestor", "descendant", "elsewhere")
    lines = [f"| wrong concepts | {' | '.join(kinds)} | all |", f"|---|{'--:|' * 7}"]
    for row in _result("relatives")["rows"]:
        cells = [f"{row[kind]} ({100 * row[kind] / row['wrong']:.0f} %)" for kind in kinds]
        lines.append(f"| {row['system']} | {' | '.join(cells)} | {row['wrong']} |")
    return "\n".join(lines) + "\n"


def _biosyn_recall() -> str:
    """Return how many mentions of the dev parts have a right candidate, by epochs trained."""
    alphas = {
        "": "half by the encoder",
        "-sparse": "by n-grams alone",
        "-dense": "all by the encoder",
    }
    corpora = {"ncbi": "NCBI disease", "bc5cdr": "BC5CDR disease"}
    trained = _result("biosyn-weak")["trained"]
    found = {
        f"{corpus}, {how}": trained[f"{name}{suffix}"]["recall"]["dev"]
        for name, corpus in corpora.items()
        for suffix, how in alphas.items()
    }
    epochs = range(max(map(len, found.values())))
    names = ["before", *(f"after {n}" for n in epochs[1:])]
    lines = [f"| candidates | {' | '.join(names)} |", f"|---|{'--:|' * len(names)}"]
    for name, shares in found.items():
        cells = [f"{100 * shares[n]:.1f} %" if n < len(shares) else "–" for n in epochs]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_TABLES = {
    "accuracy": _accuracy,
    "biosyn-recall": _biosyn_recall,
    "card": _card,
    "contextual": _contextual,
    "coverage": lambda: counts_table(read_coverage()),
    "coverage-biosyn": lambda: items_table(read_coverage(), "BioSyn"),
    "coverage-coder": lambda: items_table(read_coverage(), "CODER"),
    "coverage-dilbert": lambda: items_table(read_coverage(), "DILBERT"),
    "coverage-few-shot-names": lambda: items_table(read_coverage(), "Few-shot names"),
    "coverage-triplet-search": lambda: items_table(read_coverage(), "Triplet search"),
    "biosyn-watched": lambda: _watched("biosyn-candidates", "alpha-0-5"),
    "everyday": _everyday,
    "few-shot-training": _few_shot_training,
    "few-shot-watched": lambda: _watched("few-shot-curve", "names-15", ends=True),
    "findings": _findings,
    "flags": _flags,
    "fuzz": _fuzz,
    "glosses": _glosses,
    "hostile": _hostile,
    "ivf": _ivf,
    "kills": _kills,
    "review-kills": _review_kills,
    "domains": _domains,
    "domains-rarity": partial(_domains, "domains-rarity"),
    "unread": _unread,
    "languages": _languages,
    "languages-together": partial(_by_language, "languages_together", "asked"),
    "icd10-languages": partial(_by_language, "icd10_languages", "language"),
    "everyday-languages": _everyday_languages,
    "contrasts": partial(_contrasts, "all"),
    "contrasts-by-kind": partial(_contrasts, "kind"),
    "mapping": _mapping,
    "mapping-nobody": _mapping_nobody,
    "match": _match,
    "products": _products,
    "scaling-machine": _scaling_machine,
    "scaling-mentions": _scaling_mentions,
    "scaling-names": _scaling_names,
    "scaling-workers": _scaling_workers,
    "search-ranks": _search_ranks,
    "service": _service,
    "sparse": _sparse,
    "neighbours": _neighbours,
    "unknown": _unknown,
    "annotate": _annotate,
    "dilbert-speed": _dilbert_speed,
    "relation-classes": _relation_classes,
    "relatives": _relatives,
    "peers": _peers,
    "speed": _speed,
    "speed-line": _speed_line,
    "judge": _judge,
    "judge-cuts": _judge_cuts,
    "judge-encoders": _judge_encoders,
    "second-look": _second_look,
    "outside": _outside,
    "rules": partial(_rules, change=True),
    "rules-asked": _rules_asked,
    "rules-idle": partial(_rules, change=False),
    "fit-share": _fit_share,
    "thresholds": _nil,
    "tools": _tools,
    "tools-speed": _tools_speed,
    "tools-at-their-best": lambda: _tools_speed("peers_speed"),
}


def _experiment(name: str) -> str:
    experiment = read_experiment(name, folder=ROOT / "benchmarks" / "reproduce" / "experiments")
    ours = {(row["name"], row["metric"]): row for row in _result(name)["rows"]}
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
    test = other["mcnemar"] or (other["difference"] if row.get("samples") else None)
    shown = f", p = {test['p']:.3f}" if test else ""
    return value, interval, f"{100 * other['difference']['value']:+.1f} to {other['name']}{shown}"


def filled(text: str) -> str:
    """Return a page with its tables filled from the present results."""

    def table(place: re.Match[str]) -> str:
        name = place["name"]
        content = _TABLES[name]() if name in _TABLES else _experiment(name)
        return place["start"] + content + place["end"]

    return _PLACE.sub(table, text)


if __name__ == "__main__":
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
