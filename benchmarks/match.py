"""How often ``"match": true`` of the reconciliation service is right, and how often it is said.

Mentions of diseases are sent to the service in batches, as OpenRefine sends the cells of a column.
They are sent twice: alone, and with their abstract as the property `context`. A case is right if
its match is annotated. A mention of several concepts, or of none, is never right, and an annotated
concept that the terminology lacks is wrong too. Distinct cases differ in text or annotation.

    python benchmarks/match.py --choose   the least confidence and margin, on dev parts, printed
    python benchmarks/match.py            test parts and other inputs, to ``results/match.json``

The encoder has read the train and dev parts, and the judge learned from train parts. Test parts
played no part in anything. The other inputs are labels of the Human Phenotype Ontology and the
Disease Ontology, whose cross-references to MeSH are the gold, and the conditions of trials. There
the gold are the MeSH terms that a program gave to the whole trial.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fastapi.testclient import TestClient

from canonym import Linker, Terminology
from canonym.exchange import auto_accept
from canonym.service import Settings, create_app
from canonym.terminology.formats import read_terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.terminology.ids import ConceptIds
from inputs import (
    DISEASES,
    DOID,
    HPO,
    MEDIC,
    MESH,
    PARTS,
    TREES,
    documents_of,
    percents,
    without_gold,
)
from record import data_folder, parser, printed, rows_of, save

TRIALS = "clinical-trials/trials.tsv.gz"
CONFIDENCES = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
MARGINS = (0.0, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08)
_BATCH = 500


class Case(NamedTuple):
    """A cell, the text around it, and the ids one of which is right; none for several or NIL."""

    text: str
    context: str
    gold: frozenset[str]
    annotated: tuple[str, ...]


class Answer(NamedTuple):
    """What the service says to a cell: the id of the match, if there is one.

    `margin` is what the similarity of the nearest other candidate lacks to 1.
    """

    match: str | None = None
    verbatim: bool = False
    confidence: float | None = None
    margin: float = 1.0


# --- cases ----------------------------------------------------------------------------------------


def cases_of(name: str, part: str, ids: ConceptIds) -> list[Case]:
    """Return the mentions of a part of a corpus."""
    corpus, type_ = DISEASES[name]
    cases = []
    for document in documents_of(corpus, part, type=type_):
        for mention in document.mentions:
            gold = {ids.find(id_) or f"unknown:{id_}" for id_ in mention.ids}
            several = mention.rule == "all" and len(gold) > 1
            right = frozenset() if several or mention.rule == "nil" else frozenset(gold)
            cases.append(Case(mention.text, document.text, right, tuple(sorted(gold))))
    return cases


def labels_of(file: str, mesh: Terminology) -> list[Case]:
    """Return the labels of concepts with cross-references to MeSH."""
    terminology, gold = without_gold(file, mesh)
    return [
        Case(terminology.concept(id_).label, "", frozenset(of), tuple(sorted(of)))
        for id_, of in gold.items()
    ]


def conditions_of(path: Path, mesh: Terminology) -> list[Case]:
    """Return the condition of each trial that has one, and MeSH terms."""
    by_label = {concept.label: concept.id for concept in mesh.iter_concepts()}
    cases = []
    for row in rows_of(path):
        terms = [by_label[one] for one in row["condition_mesh"].split("|") if one in by_label]
        if terms and "|" not in row["conditions"]:
            cases.append(Case(row["conditions"], "", frozenset(terms), tuple(terms)))
    return cases


# --- asking ---------------------------------------------------------------------------------------


def ask(client: TestClient, cells: Sequence[tuple[str, str]]) -> Iterator[Answer]:
    """Send cells with their contexts, and yield what is said to each."""
    for start in range(0, len(cells), _BATCH):
        queries = {}
        for n, (text, context) in enumerate(cells[start : start + _BATCH]):
            queries[f"q{n}"] = {"query": text}
            if context:
                queries[f"q{n}"]["properties"] = [{"pid": "context", "v": context}]
        answer = client.post("/reconcile/index", data={"queries": json.dumps(queries)})
        answer.raise_for_status()
        yield from (_read(answer.json()[key]["result"]) for key in queries)


def _read(candidates: list[dict[str, Any]]) -> Answer:
    features = [{one["id"]: one["value"] for one in found["features"]} for found in candidates]
    if not candidates or not candidates[0]["match"]:
        return Answer()
    best, *others = features
    nearest = max((one.get("similarity", 0.0) for one in others), default=0.0)
    return Answer(candidates[0]["id"], bool(best["exact"]), best.get("confidence"), 1 - nearest)


def answers_of(
    client: TestClient, cases: Iterable[Case], *, with_context: bool
) -> list[tuple[Case, Answer]]:
    """Return each case with its answer; equal cells are sent once."""
    asked = [(one.text, one.context if with_context else "") for one in cases]
    cells = [*dict.fromkeys(asked)]
    found = dict(zip(cells, ask(client, cells), strict=True))
    return [(case, found[cell]) for case, cell in zip(cases, asked, strict=True)]


def serving(index: Path, **settings: Any) -> TestClient:
    """Return a client of the service, with a large enough body for abstracts."""
    app = create_app(Settings(index=(f"index={index}",), max_body=100_000_000, **settings))
    return TestClient(app, "http://localhost")


# --- counting -------------------------------------------------------------------------------------


def is_right(case: Case, answer: Answer) -> bool:
    """Tell whether a match is annotated."""
    return answer.match in case.gold


def figures(pairs: Sequence[tuple[Case, Answer]]) -> dict[str, Any]:
    """Return precision and coverage of matches, with Wilson's intervals, in percent."""
    said = [(case, answer) for case, answer in pairs if answer.match]
    right = sum(is_right(case, answer) for case, answer in said)
    found: dict[str, Any] = {"cases": len(pairs), "matches": len(said), "right": right}
    for name, n, of in (("precision", right, len(said)), ("coverage", len(said), len(pairs))):
        found[name] = percents(n, of, digits=2)
    found["verbatim"] = sum(answer.verbatim for _, answer in said)
    return found


def distinct(pairs: Iterable[tuple[Case, Answer]]) -> list[tuple[Case, Answer]]:
    """Return the first of all pairs with one text, but for case, and one annotation."""
    first: dict[Any, tuple[Case, Answer]] = {}
    for case, answer in pairs:
        first.setdefault((case.text.casefold(), case.gold, case.annotated), (case, answer))
    return [*first.values()]


def both(pairs: Sequence[tuple[Case, Answer]]) -> dict[str, Any]:
    """Return figures of all mentions and of distinct ones."""
    return {"all": figures(pairs), "distinct": figures(distinct(pairs))}


def kinds_of_error(
    pairs: Iterable[tuple[Case, Answer]], everywhere: Iterable[Case], tree: Hierarchy
) -> dict[str, int]:
    """Count wrong matches by what was annotated instead.

    A text that is annotated with the match elsewhere in the corpus means different things to the
    annotators. `tree` tells which of two MeSH concepts is the broader one.
    """
    elsewhere = {(case.text.casefold(), id_) for case in everywhere for id_ in case.gold}
    counts: Counter[str] = Counter()
    for case, answer in pairs:
        if answer.match and not is_right(case, answer):
            counts[_kind(case, answer.match, elsewhere, tree)] += 1
    return dict(counts.most_common())


def _kind(case: Case, match: str, elsewhere: set[tuple[str, str]], tree: Hierarchy) -> str:
    if not case.gold:
        return "several concepts or none annotated"
    if all(one.startswith("unknown:") for one in case.gold):
        return "the annotated concept is not in the terminology"
    if (case.text.casefold(), match) in elsewhere:
        return "the text is annotated with the match elsewhere"
    if any(one in tree and match in tree.ancestors(one) for one in case.gold):
        return "the annotated concept is narrower"
    if match in tree and not case.gold.isdisjoint(tree.ancestors(match)):
        return "the annotated concept is broader"
    return "another concept"


# --- the two uses ---------------------------------------------------------------------------------


def choose(index: Path, terminology: Terminology) -> None:
    """Print precision and coverage on dev parts by the least confidence, and by the margin."""
    ids = ConceptIds(terminology)
    parts = {name: cases_of(name, "dev", ids) for name in DISEASES}
    least, margin = auto_accept.LEAST_CONFIDENCE, auto_accept.LEAST_MARGIN
    bounds = [(one, margin) for one in CONFIDENCES] + [(least, one) for one in MARGINS]
    auto_accept.LEAST_MARGIN = 0.0
    with serving(index, match_confidence=0.0) as client:
        for name, cases in parts.items():
            for context in (False, True):
                pairs = answers_of(client, cases, with_context=context)
                for bound in bounds:
                    row = both([(case, _bounded(one, *bound)) for case, one in pairs])
                    shown = "  ".join(
                        f"{kind}: {one['precision'][0]:.1f} % of {one['coverage'][0]:.1f} %"
                        for kind, one in row.items()
                    )
                    print(f"{name:14} {context!s:5} {bound} {shown}", flush=True)


def _bounded(answer: Answer, least: float, margin: float) -> Answer:
    """Return an answer, or no match where its confidence or its margin is too small."""
    unsure = answer.confidence is not None and answer.confidence < least
    return Answer() if unsure or answer.margin < margin else answer


def measure_corpus(
    client: TestClient, name: str, terminology: Terminology, tree: Hierarchy, part: str
) -> list[dict[str, Any]]:
    """Return the rows of a part of a corpus: alone, and with the abstract."""
    ids = ConceptIds(terminology)
    parts = {one: cases_of(name, one, ids) for one in PARTS}
    everywhere = [case for cases in parts.values() for case in cases]
    rows = []
    for context in (False, True):
        pairs = answers_of(client, parts[part], with_context=context)
        wrong = kinds_of_error(pairs, everywhere, tree)
        rows.append({"input": name, "context": context, **both(pairs), "wrong": wrong})
    return rows


def measure(indexes: dict[str, Path], terminologies: dict[str, Terminology]) -> None:
    """Measure test parts and other inputs, and save."""
    data, mesh = data_folder(), terminologies["MeSH 2024"]
    tree = Hierarchy.from_terminology(mesh)
    others = {
        "HPO labels": labels_of(HPO, mesh),
        "DOID labels": labels_of(DOID, mesh),
        "conditions of trials": conditions_of(data / TRIALS, mesh),
    }
    rows: list[dict[str, Any]] = []
    for name, terminology in terminologies.items():
        head, n = {"terminology": name}, len(rows)
        with serving(indexes[name]) as client:
            corpora = [*DISEASES] if name == "MEDIC 2012" else ["BC5CDR disease"]
            for corpus in corpora:
                rows += [
                    head | row for row in measure_corpus(client, corpus, terminology, tree, "test")
                ]
            for what, cases in others.items() if terminology is mesh else ():
                pairs = answers_of(client, cases, with_context=False)
                wrong = kinds_of_error(pairs, cases, tree)
                rows.append(head | {"input": what, "context": False, **both(pairs), "wrong": wrong})
        printed(rows[n:])
    result = {
        "least confidence": auto_accept.LEAST_CONFIDENCE,
        "least margin": auto_accept.LEAST_MARGIN,
        "rows": rows,
    }
    files = [data / one for one in (MEDIC, MESH, TREES, HPO, DOID, TRIALS)]
    save("match", result, packages=["numpy"], data=files)


def main() -> None:
    """Build the indexes, then choose or measure."""
    arguments = parser(__doc__)
    arguments.add_argument("--choose", action="store_true", help="print figures of dev parts")
    chosen = arguments.parse_args().choose
    data = data_folder()
    terminologies = {"MEDIC 2012": read_terminology(data / MEDIC)}
    if not chosen:
        trees = data / TREES
        terminologies["MeSH 2024"] = read_terminology(data / MESH, trees=trees, prefix="MESH:")
    linkers = {name: Linker.build(terminology) for name, terminology in terminologies.items()}
    indexes = {name: linker.folder for name, linker in linkers.items()}
    if chosen:
        choose(indexes["MEDIC 2012"], terminologies["MEDIC 2012"])
    else:
        measure(indexes, terminologies)


if __name__ == "__main__":
    main()
