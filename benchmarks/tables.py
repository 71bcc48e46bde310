"""Write the tables of results into README and docs: ``python benchmarks/tables.py``.

A table stands between ``<!-- results: NAME -->`` and ``<!-- end of results -->``. ``tables.toml``
says what most of them are filled with; `_TABLES` has those that are computed. If NAME is an
experiment, the table has a line per published number, with ours beside it if
``results/NAME.json`` exists.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from canonym.evaluation.statistics import wilson
from canonym.linking.judge import Bound, shipped_judge
from canonym.training.watched import watched_tables
from reproduce.coverage import counts_table, items_table, read_coverage
from reproduce.files import read_experiment
from reproduce.table import rank_systems
from table_text import Row, by_template, crossed, escaped, is_measured, result_of, table_of

__all__ = ["filled"]

ROOT = Path(__file__).parents[1]
_PLACE = re.compile(
    r"(?P<start><!-- results: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end of results -->)", re.DOTALL
)
_CORPORA = ("NCBI disease", "BC5CDR disease")
_NOT_MEASURED = "Not measured yet.\n"


# --- accuracy -------------------------------------------------------------------------------------


def _annotate() -> str:
    """Return spans and links of annotators, the best tool beside canonym first."""
    rows: dict[str, dict[str, Row]] = {}
    for row in result_of("annotate")["rows"]:
        rows.setdefault(row["annotator"], {})[f"{row['task']}, {row['dictionary']}"] = row
    tasks = [*rows["canonym"]]

    def cells(name: str) -> Iterator[str]:
        yield name
        for task in tasks:
            row = rows[name][task]
            yield f"{row['spans']['F1']} / {row['links']['F1']}"
        yield ", ".join(f"{rows[name][task]['MB/s']:g}" for task in tasks)

    order = sorted(rows, key=lambda name: -sum(row["links"]["F1"] for row in rows[name].values()))
    return table_of(f"| | {' | '.join(tasks)} | MB a second |", map(cells, order))


def _match() -> str:
    """Return precision and coverage of matches of the reconciliation service."""
    rows = result_of("match")["rows"]

    def cells(row: Row) -> Iterator[str]:
        yield from (row["input"], row["terminology"], "yes" if row["context"] else "no")
        for kind in ("all", "distinct"):
            value, low, high = row[kind]["precision"]
            yield f"{value:.1f} % ({low:.1f}–{high:.1f})"
            yield f"{row[kind]['coverage'][0]:.1f} %"

    head = (
        "| cells | terminology | context | precision | coverage | distinct: precision | coverage |"
    )
    return table_of(head, map(cells, [*_pooled_matches(rows), *rows]))


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
    result = result_of("flags")
    figures = result["apart"]

    def cells(flag: str) -> Iterator[str]:
        of = figures[flag]
        yield from (f"`{flag}`", f"{of['right'] + of['missed']}")
        for kind in ("precision", "recall"):
            yield "{:.0f} % ({:.0f}–{:.0f})".format(*of[kind])

    flags = ("negated", "historical", "hypothetical", "family", "uncertain")
    right, least, most = figures["all flags right"]
    n, cost = figures["sentences"], result["cost"]["seconds a megabyte"]
    natural = result["natural"]
    return table_of("| flag | mentions | precision | recall |", map(cells, flags), numbers=3) + (
        f"\nAll flags are right in {right:.0f} % ({least:.0f}–{most:.0f}) of {n} sentences, and in "
        f"{natural['all flags right'][0]:.0f} % of {natural['sentences']} that were written to be "
        f"neither easy nor hard, in their usual proportions. Flags cost {cost:.0f} s of one "
        "processor for a megabyte of notes with a mention in each "
        "sentence.\n"
    )


def _contrasts_by_kind() -> str:
    """Return how many minimal pairs of each kind are told apart."""
    rows = [row for row in result_of("contrasts")["rows"] if row["kind"] != "all"]
    of_pair = {(row["kind"], row["system"], row["question"]): row for row in rows}
    systems = dict.fromkeys(row["system"] for row in rows)
    columns = [(system, question) for system in systems for question in ("present", "absent")]

    def cells(kind: str) -> Iterator[str]:
        yield from (kind, f"{of_pair[kind, 'canonym', 'present']['n']:,}")
        yield from (f"{of_pair[kind, *column]['percent']:.1f}" for column in columns)

    kinds = [kind for kind, *asked in of_pair if asked == ["canonym", "present"]]
    head = f"| right, % | pairs | {' | '.join(map(', '.join, columns))} |"
    return table_of(head, map(cells, kinds), numbers=1 + len(columns))


def _languages() -> str:
    """Return how often names in other languages find their concept by its English names."""
    rows = result_of("languages")["rows"]
    table = {"line": "encoder", "column": "language", "head": "accuracy@1, %"}
    accuracies = crossed(rows, table | {"start": "{encoder}", "cell": "{accuracy@1!p:.1f}"})
    terms = (
        (f"{row['term']} ({row['language']})", row["encoder"], ", ".join(row["nearest"]) or "none")
        for row in rows
        if "term" in row
    )
    return f"{accuracies}\n" + table_of("| one term | encoder | nearest English name |", terms)


def _domains(name: str) -> str:
    """Return the accuracy of encoders on the domains of the development suite."""
    means, rows = (
        [row for row in result_of(name)[key] if not row["encoder"].startswith("seed")]
        for key in ("means", "rows")
    )
    table = {"line": "domain", "column": "encoder", "head": "accuracy@1, % | n"}
    table |= {"start": "{domain} | {n:,}", "cell": "{accuracy@1:.1f}"}
    below = (
        (what, f"{means[0]['n']:,}", *(f"{row[key]:.1f}" for row in means))
        for key, what in (("accuracy@1", "mean"), ("accuracy@5", "mean, among five"))
    )
    return crossed(rows, table, below)


def _neighbours() -> str:
    """Return the nearest names of chosen terms, by encoder."""
    rows = result_of("neighbours")["rows"]
    cells = (
        (term, row["encoder"], "; ".join(name for name, _ in row["nearest"][term]))
        for term in rows[0]["nearest"]
        for row in rows
    )
    return table_of("| term | encoder | nearest names, the first ones |", cells)


def _rules(*, change: bool) -> str:
    """Return what each mechanism changes, or the mechanisms that change nothing."""
    rows = [row for row in result_of("rules")["rows"] if bool(row["changed"]) is change]

    def cells(row: Row) -> Iterator[str]:
        yield f"`{row['rule']}`" + (f": {escaped(row['says'])}" if row["says"] else "")
        if not change:
            yield from (f"{row['documents']:,}", f"{row['lines']}")
            return
        for key in ("changed", "gained", "lost", "avoided", "made"):
            yield f"{row[key] or ''}"
        yield "" if row["processor %"] is None else f"{row['processor %']:.1f}"
        yield f"*{escaped(row['samples'][0])}*" if row["samples"] else ""

    if not change:
        return table_of("| mechanism | tells of | lines |", map(cells, rows), numbers=2)
    heads = "changed | gained | lost | avoided | made | processor, % | for example"
    table = table_of(f"| mechanism | {heads} |", map(cells, rows), numbers=7)
    return table.replace("--:|\n", "---|\n", 1)  # the example is no number


def _judge_bounds() -> str:
    """Return what bounds a confidence, and how many links say so."""

    def cells(bound: Bound) -> Iterator[str]:
        span = f"at least {bound.least:g}" if bound.least else f"at most {bound.most:g}"
        yield from (bound.condition, span, f"{bound.n_right:,} of {bound.n:,}")

    bounds = shipped_judge(["default"]).bounds
    return table_of("| where | confidence | right |", map(cells, bounds), numbers=2)


def _second_look() -> str:
    rows = result_of("second_look")["rows"]
    lines, before = [], rows[0]
    for row in rows:
        if not row["second look"]:
            before = row
            continue
        changes = (f"{before[key]} → {row[key]}" for key in ("right", "ece", "right where sure"))
        lines.append((row["job"], f"{row['n']}", f"{100 * row['finds']:.0f} %", *changes))
    return table_of("| list | names | finds | right | ECE | right where sure |", lines, numbers=5)


def _outside() -> str:
    names = (
        *("HPO, later names", "ICD-9-CM, long", "ICD-9-CM, short", "ICD-10 of the WHO"),
        *("MONDO", "DOID, later names", "ChEBI"),
    )
    result = result_of("outside")
    bands = [band["from"] for band in result[names[0]]["bands"]]
    heads = [f"{low:g} to {high:g}" for low, high in zip(bands, (1, *bands), strict=False)]

    def cells(name: str) -> Iterator[str]:
        row = result[name]
        yield from (name, f"{row['names']:,}")
        for band in row["bands"]:
            yield f"{100 * band['right'] / band['links']:.1f} % of {band['links']:,}"
        yield f"{row['nil']:,}"

    head = f"| | names | {' | '.join(heads)} | NIL |"
    return table_of(head, map(cells, names), numbers=2 + len(bands))


# --- other tools ----------------------------------------------------------------------------------


def _tools() -> str:
    """Return accuracy of other tools and of canonym on the same mentions and names."""
    kinds = ("all", "unseen mention")
    lines, failures = [], ""
    for row in result_of("peers")["rows"]:
        if "error" in row:
            failures += f"- {row['peer']}: `{row['error']}`\n"
        cells = [row["peer"]]
        for corpus in _CORPORA:
            figures = row["accuracy"].get(corpus, {})
            for kind in kinds:
                both = (figures.get(f"{reading}, {kind}") for reading in ("lenient", "strict"))
                cells.append(
                    " / ".join(f"{100 * figure['value']:.1f}" if figure else "–" for figure in both)
                )
        if row["accuracy"]:
            lines.append(cells)
    head = "| | NCBI disease | unseen mentions | BC5CDR disease | unseen mentions |"
    return table_of(head, lines) + (failures and f"\nWhat failed:\n\n{failures}")


def _tools_speed(result: str) -> str:
    """Return times and memory of other tools and of canonym, from one run."""
    run = result_of(result)
    rows = {row["peer"]: row for row in run["rows"] if "single" in row}
    base = rows.get("sentence-transformers, FAISS flat")

    def cells(name: str) -> Iterator[str]:
        row = rows[name]
        unknown, single = row["unknown"]["per_second"], row["single"]
        yield from (name, f"{row['build_seconds']:,.1f}")
        yield f"{_short(row['distinct']['per_second'])}, {_short(unknown)}"
        yield _short(unknown / base["unknown"]["per_second"]) if base else "–"
        yield f"{_short(single['p50_ms'])}, {_short(single['p99_ms'])} ({single['mentions']:,})"
        yield _short(row["peak_megabytes"])

    head = "| | build, s | together, a second: all, unknown | × | one, ms: p50, p99 | memory, MB |"
    size = f"of about {run['limit']} mentions" if run["limit"] else "of all mentions"
    threads = f"{run['threads']} thread{'s' * (run['threads'] > 1)}"
    ran = f"{run['turns']} turns with batches {size}, {threads}, {run['names']:,} names."
    return f"{table_of(head, map(cells, rows), numbers=5)}\n{ran}\n"


def _short(number: float) -> str:
    """Return three digits, or all before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


# --- speed, load and damage -----------------------------------------------------------------------


def _speed_line() -> str:
    opening, encoding = result_of("open_speed"), result_of("subword_speed")["names a second"]
    tools = {row["peer"]: row["unknown"]["per_second"] for row in result_of("peers_speed")["rows"]}
    ours = tools["canonym, base install"]
    theirs = max(rate for name, rate in tools.items() if "FAISS" in name)
    return (
        "**Speed**, on two cores, of mentions that equal no name, many at a time: the base install "
        f"links {ours / theirs:.1f} times as many a second as the fastest way with "
        f"all-MiniLM-L6-v2 and FAISS, and {ours / tools['rapidfuzz']:.1f} times as many as "
        f"rapidfuzz. It opens an index of {opening['names']:,} names in "
        f"{opening['median']['load_seconds']:.2f} s with "
        f"{opening['median']['resident_megabytes']:.0f} MB of memory. "
        f"The default encoder encodes {encoding['median']:,.0f} names a second.\n"
    )


def _dilbert_speed() -> str:
    """Return the speed that DILBERT's section 5.5 has, beside ours for as many names."""
    row = next(row for row in result_of("scaling")["names"] if row["names"] == 500_000)
    contextual = result_of("contextual_speed")["8 bits, ONNX"]["names a second"]
    hours = 10_000_000 / row["per_second"] / 3600
    minutes = f"{500_000 / contextual / 60:.1f} minutes"
    ours = f"{row['index_seconds']:.0f} seconds with index"
    lines = (
        ("vectors of 500,000 names", "7 minutes", ours, minutes),
        ("10 million mentions among them", "3 hours", f"{hours:.1f} hours", "not measured"),
    )
    systems = "default encoder, two cores | contextual encoder, a core"
    return table_of(f"| | paper, BioBERT on a TITAN X | {systems} |", lines, numbers=3)


def _scaling_mentions() -> str:
    """Return times of bulk runs, and those that follow from them."""
    result = result_of("scaling")
    lines = [
        (f"{row['mentions']:,}", f"{row['different']:,}", f"{row['seconds']:,.0f} s",
         f"{row['per_second']:,.0f}")
        for row in result["mentions"]
    ]  # fmt: skip
    for row in result["projected"]:
        rate = row["mentions"] / (60 * row["minutes"])
        cells = (f"{row['mentions']:,}", f"{row['different']:,}", f"{row['minutes']:,.0f} min")
        lines.append((*cells, f"{rate:,.0f}, projected; {row['core_hours']:,.1f} core hours"))
    return table_of("| mentions | different | time | mentions a second |", lines)


def _service() -> str:
    """Return what the service does under load."""
    if not is_measured("service_load"):
        return _NOT_MEASURED
    result = result_of("service_load")
    single, both = result["singles"], result["batches"]
    batches = [row for row in both["rounds"] if row["kind"] == "batches"]
    batch = sorted(batches, key=lambda row: row["mentions_per_second"])[len(batches) // 2]
    rows = {
        f"one mention, {single['clients']} clients": single,
        f"{both['size']} mentions, {both['clients']['batches']} clients": batch,
    }
    for row in result["autocomplete"]["rows"]:
        rows[f"a letter of a name, typists: {row['typists']}"] = row

    def cells(name: str) -> Iterator[str]:
        row = rows[name]
        yield from (name, f"{row['requests_per_second']:,.0f}")
        yield "" if "typists" in row else f"{row['mentions_per_second']:,.0f}"
        yield from (f"{row[key]:,.1f} ms" for key in ("p50", "p95", "p99"))
        yield f"{sum(row['errors'].values())}"

    shares = sorted(row["client_share"] for row in rows.values())
    head = "| each request has | requests/s | mentions/s | p50 | p95 | p99 | errors |"
    return table_of(head, map(cells, rows), numbers=6) + (
        f"\nIn turn on one server, batches link {both['times_faster']} times as many "
        "mentions a second as single ones. "
        f"In {result['seconds']:,.0f} seconds of single mentions the memory changed by "
        f"{single['megabytes_grown']:+,.0f} MB. "
        f"The clients took {shares[0]:.0%} to {shares[-1]:.0%} of a core.\n"
    )


def _fuzz() -> str:
    result = result_of("fuzz")
    readers = result["readers"].values()
    fewest, slowest = min(r["inputs"] for r in readers), max(r["slowest_seconds"] for r in readers)
    read, refused = (sum(reader[what] for reader in readers) for what in ("read", "refused"))
    return (
        f"{result['inputs']:,} damaged inputs for {len(readers)} readers, at least {fewest:,} for "
        f"each: {read:,} were read, {refused:,} refused with a message, and "
        f"{result['faults']:,} were faults. The slowest took {slowest:.1f} s.\n"
    )


def _hostile() -> str:
    """Return what hostile requests got."""
    result = result_of("hostile")
    kinds = ("2xx", "4xx", "503", "no answer")
    lines = (
        (family, *(f"{n:,}" for n in (sum(got.values()), *(got.get(kind, 0) for kind in kinds))))
        for family, got in sorted(result["answers"].items())
    )
    most = max(server["memory_most"] for server in result["servers"]) / 1e6
    faults = sum(result["faults"].values()) or "no"
    head = "| | requests | taken | refused | overload | no answer |"
    return (
        f"{table_of(head, lines, numbers=5)}\n"
        f"{result['requests']:,} requests, {faults} faults; {result['pages_in_a_browser']} "
        f"pages were opened in a browser. A server held at most {most:,.0f} MB.\n"
    )


# --- the five papers ------------------------------------------------------------------------------

_SEARCH = re.compile(r"(?P<corpus>\w+) dev, trained on (?P<names>[^,]+), (?P<search>.+)")


def _search_ranks() -> str:
    """Return accuracy and average rank of each search, for each set of names trained on."""
    trained: dict[str, dict[str, dict[str, float]]] = {}
    for row in result_of("triplet-train")["rows"]:
        if match := _SEARCH.fullmatch(row["name"]):
            by_corpus = trained.setdefault(match["names"], {})
            by_corpus.setdefault(match["corpus"], {})[match["search"]] = row["value"]
    corpora = [*next(iter(trained.values()))]
    cells = (
        (names, search, *(f"{of[search]:.1f}" for of in figures.values()), f"{rank:g}")
        for names, figures in trained.items()
        for search, rank in rank_systems(figures).items()
    )
    head = f"| trained on | search | {' | '.join(corpora)} | average rank |"
    return table_of(head, cells, numbers=len(corpora) + 1)


def _watched(result: str, model: str, *, ends: bool = False) -> str:
    """Return the names nearest to the watched mentions of a model, a table for each.

    With `ends` there are two columns, what is not trained and what was saved.
    """
    facts = result_of(result).get("trained", {}).get(model, {}) if is_measured(result) else {}
    if "measured" not in facts:
        return _NOT_MEASURED
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
    if not is_measured("few-shot-curve"):
        return _NOT_MEASURED
    result = result_of("few-shot-curve")
    rows, trained = {row["name"]: row for row in result["rows"]}, result.get("trained", {})
    kinds = {"1 name": "names-1"} | {f"{n} names": f"names-{n}" for n in (2, 5, 10, 15)}
    kinds["deep averaging network, 15 names"] = "dan"

    def cells(name: str) -> Iterator[str]:
        yield name
        for test in ("MayoSRS", "UMNSRS similarity"):
            row = rows[f"{test}: {name}"]
            yield f"{row['value']:.2f} ({row['low']:.2f}–{row['high']:.2f})"
        seconds = trained.get(kinds[name], {}).get("seconds")
        yield "" if seconds is None else f"{seconds:,.0f}"

    tried = trained.get("dan", {}).get("hidden", {})
    scores = (f"{int(width):,} columns {score:.3f}" for width, score in tried.items())
    told = f"\nValidation score of the averaging network: {', '.join(scores)}.\n" if tried else ""
    head = "| | MayoSRS | UMNSRS similarity | seconds to train |"
    return table_of(head, map(cells, kinds), numbers=3) + told


def _biosyn_recall() -> str:
    """Return how many mentions of the dev parts have a right candidate, by epochs trained."""
    alphas = {
        "": "half by the encoder",
        "-sparse": "by n-grams alone",
        "-dense": "all by the encoder",
    }
    corpora = {"ncbi": "NCBI disease", "bc5cdr": "BC5CDR disease"}
    trained = result_of("biosyn-weak")["trained"]
    recalls = {
        f"{corpus}, {how}": trained[f"{name}{suffix}"]["recall"]["dev"]
        for name, corpus in corpora.items()
        for suffix, how in alphas.items()
    }
    epochs = range(max(map(len, recalls.values())))
    cells = (
        (name, *(f"{100 * shares[n]:.1f} %" if n < len(shares) else "–" for n in epochs))
        for name, shares in recalls.items()
    )
    head = " | ".join(["before", *(f"after {n}" for n in epochs[1:])])
    return table_of(f"| candidates | {head} |", cells, numbers=len(epochs))


def _experiment(name: str) -> str:
    experiment = read_experiment(name)
    ours = {(row["name"], row["metric"]): row for row in result_of(name)["rows"]}
    cells = (
        (
            row["name"],
            metric,
            published if isinstance(published, str) else f"{published:g}",
            *_ours(ours.get((row["name"], metric))),
        )
        for row in experiment.rows
        for metric, published in row["published"].items()
    )
    return table_of("| | metric | paper | ours | interval | against another row |", cells)


def _ours(row: Row | None) -> tuple[str, str, str]:
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


def _items(paper: str) -> str:
    return items_table(read_coverage(), paper)


_TABLES: dict[str, Callable[[], str]] = {
    name: partial(by_template, name, table)
    for name, table in tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    ).items()
} | {
    "annotate": _annotate,
    "biosyn-recall": _biosyn_recall,
    "biosyn-watched": partial(_watched, "biosyn-candidates", "alpha-0-5"),
    "contrasts-by-kind": _contrasts_by_kind,
    "coverage": lambda: counts_table(read_coverage()),
    "coverage-biosyn": partial(_items, "BioSyn"),
    "coverage-coder": partial(_items, "CODER"),
    "coverage-dilbert": partial(_items, "DILBERT"),
    "coverage-few-shot-names": partial(_items, "Few-shot names"),
    "coverage-triplet-search": partial(_items, "Triplet search"),
    "dilbert-speed": _dilbert_speed,
    "domains": partial(_domains, "domains"),
    "domains-rarity": partial(_domains, "domains-rarity"),
    "few-shot-training": _few_shot_training,
    "few-shot-watched": partial(_watched, "few-shot-curve", "names-15", ends=True),
    "flags": _flags,
    "fuzz": _fuzz,
    "hostile": _hostile,
    "judge-bounds": _judge_bounds,
    "languages": _languages,
    "match": _match,
    "neighbours": _neighbours,
    "outside": _outside,
    "rules": partial(_rules, change=True),
    "rules-idle": partial(_rules, change=False),
    "scaling-mentions": _scaling_mentions,
    "search-ranks": _search_ranks,
    "second-look": _second_look,
    "service": _service,
    "speed-line": _speed_line,
    "tools": _tools,
    "tools-at-their-best": partial(_tools_speed, "peers_speed"),
    "tools-speed": partial(_tools_speed, "peers"),
}


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
