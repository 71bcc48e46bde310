"""Mentions found in text, and linked: canonym beside dictionary annotators with the same names.

The abstracts alone are given. A span is right if an annotated mention has its offsets; a link is
right if its span is, and its ids are the gold ones (one of them, where each alone is right). NCBI
disease and the diseases of BC5CDR are annotated with MEDIC, and both types of BC5CDR with the
branches C, D and F03 of MeSH 2024 and its supplementary concepts. Choices were made on
the training and development parts. Each annotator runs in a process, all in turn; time is that of
the processor for the texts, the best run counts.

    python benchmarks/annotate.py                        # canonym alone, on the development parts
    python benchmarks/annotate.py --part test --python PYTHON_WITH_GILDA --python ANOTHER --save

Each annotator of `annotators.py` is run by the first Python that has it.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from annotators import ANNOTATORS
from canonym import Concept, Linker, Name, Terminology
from canonym.terminology.ids import ConceptIds
from canonym.terminology.readers.table import read_table
from canonym.types import Document, Record, Xref
from inputs import MEDIC, MESH, TREES, documents_of, terminology_of
from record import data_folder, parser, save

TASKS = (
    ("NCBI disease", "MEDIC", "ncbi-disease", ()),
    ("BC5CDR disease", "MEDIC", "bc5cdr", ("Disease",)),
    ("BC5CDR", "MeSH", "bc5cdr", ("Disease", "Chemical")),
)
"""Name, terminology, folder of the corpus, and the types that are annotated."""

_BRANCHES = ("C", "D", "F03")
_HEADS = ("Diseases", "Disorders", "Infections", "Injuries", "Neoplasms")
_CANONYM = """
import json, sys, time
from canonym import Linker
linker = Linker.load(sys.argv[1])
texts = json.load(sys.stdin)["texts"]
next(linker.annotate_documents(texts[:1]))  # libraries are imported
began = time.process_time()
found = [links for _, links in linker.annotate_documents(texts)]
seconds = time.process_time() - began
spans = [[[one.mention.start, one.mention.end, *one.ids] for one in links] for links in found]
print(json.dumps({"spans": spans, "seconds": seconds}))
"""


class Gold(NamedTuple):
    """The ids of an annotated mention, and whether it stands for all of them."""

    ids: frozenset[str]
    all_of_them: bool

    def has(self, ids: Sequence[str]) -> bool:
        """Tell whether ids are right."""
        found = set(ids)
        return bool(found) and (found == self.ids if self.all_of_them else found <= self.ids)


def mesh() -> Iterator[Record]:
    """Yield the diseases and chemicals of MeSH, with the chemicals that are supplementary concepts.

    The heads of branches have no number in the data: those count that are called after diseases.
    """
    data, more = data_folder(), data_folder() / "mesh-supplementary"
    with gzip.open(data / TREES, "rt", encoding="utf-8") as lines:
        cells = [line.rstrip("\n").split("\t") for line in lines]
    numbered = {f"MESH:{row[0]}" for row in cells}
    wanted = {f"MESH:{row[0]}" for row in cells if row[2].startswith(_BRANCHES)}
    records = list(read_table(data / MESH, prefix="MESH:"))
    for record in records:
        heads = isinstance(record, Concept) and record.id not in numbered
        if heads and record.label.endswith(_HEADS):
            wanted.add(record.id)
    for record in records:
        if isinstance(record, Concept | Name):
            id_ = record.id if isinstance(record, Concept) else record.concept_id
            if id_ in wanted:
                yield record
    yield from read_table(more / "scr_names.tsv.gz", prefix="MESH:")
    for line in (more / "promoted_c2d.tsv").read_text(encoding="utf-8").splitlines():
        old, new, *_ = line.split("\t")
        if f"MESH:{new}" in wanted:
            yield Xref(f"MESH:{new}", f"MESH:{old}", "alternative")


def names_of(terminology: Terminology) -> list[tuple[str, str]]:
    """Return every name with its concept, the label of a concept first."""
    found = []
    for concept in terminology.iter_concepts():
        texts = [name.text for name in terminology.names(concept.id)]
        found += [(text, concept.id) for text in dict.fromkeys([concept.label, *texts])]
    return found


def gold_of(document: Document, types: Sequence[str], ids: ConceptIds) -> dict[Any, Gold]:
    """Return the annotated mentions of a document by their offsets."""
    return {
        (one.start, one.end): Gold(
            frozenset(ids.find(id_) or id_ for id_ in one.ids), one.rule == "all"
        )
        for one in document.mentions
        if not types or one.type in types
    }


def scores(spans: Sequence[Any], gold: Sequence[dict[Any, Gold]]) -> dict[str, Any]:
    """Compare the spans of each document with the annotated ones; percentages."""
    n_found = sum(map(len, spans))
    n_gold = sum(map(len, gold))
    right = linked = 0
    for found, annotated in zip(spans, gold, strict=True):
        for start, end, *ids in found:
            one = annotated.get((start, end))
            right += one is not None
            linked += one is not None and one.has(ids)
    return {"spans": _figures(right, n_found, n_gold), "links": _figures(linked, n_found, n_gold)}


def _figures(right: int, n_found: int, n_gold: int) -> dict[str, float]:
    precision, recall = right / max(n_found, 1), right / n_gold
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    named = {"precision": precision, "recall": recall, "F1": f1}
    return {name: round(100 * value, 1) for name, value in named.items()}


def run(command: Sequence[str], given: str, *, ours: bool) -> dict[str, Any] | None:
    """Run an annotator with one thread; None where it is not installed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    if not ours:
        environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, input=given, capture_output=True, text=True, env=environment)
    if "ModuleNotFoundError" in done.stderr:
        return None
    if done.returncode:
        raise SystemExit(f"{command[-1]} failed: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def commands(index: Path, pythons: Sequence[str]) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each annotator with the command lines that may run it."""
    yield "canonym", [[sys.executable, "-c", _CANONYM, str(index)]]
    worker = str(Path(__file__).with_name("annotators.py"))
    for name in ANNOTATORS:
        yield name, [[python, worker, name] for python in pythons]


def measure(part: str, pythons: Sequence[str], repeats: int, scratch: Path) -> list[dict[str, Any]]:
    """Run all annotators on all tasks, in turn."""
    made = {"MEDIC": terminology_of(MEDIC), "MeSH": Terminology.build(mesh())}
    for name, terminology in made.items():
        Linker.build(terminology, folder=scratch / name)
    rows = []
    for task, dictionary, corpus, types in TASKS:
        documents = documents_of(corpus, part)
        texts = [document.text for document in documents]
        megabytes = sum(len(text.encode()) for text in texts) / 1e6
        ids = ConceptIds(made[dictionary])
        gold = [gold_of(document, types, ids) for document in documents]
        given = json.dumps({"names": names_of(made[dictionary]), "texts": texts})
        best: dict[str, dict[str, Any]] = {}
        for _ in range(repeats):
            for name, tried in commands(scratch / dictionary, pythons):
                every = (run(one, given, ours=name == "canonym") for one in tried)
                found = next((one for one in every if one is not None), None)
                if found and found["seconds"] < best.get(name, found)["seconds"] + 1e-9:
                    best[name] = found
        for name, found in best.items():
            row = {"task": task, "dictionary": dictionary, "annotator": name}
            row |= {"version": found["version"]} if "version" in found else {}
            row |= scores(found["spans"], gold)
            row["MB/s"] = round(megabytes / found["seconds"], 2)
            print(json.dumps(row), flush=True)
            rows.append(row)
    return rows


def main() -> None:
    """Measure, and write the result if asked to."""
    arguments = parser(__doc__)
    arguments.add_argument("--part", choices=("train", "dev", "test"), default="dev")
    arguments.add_argument("--python", action="append", default=[], help="has annotators")
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--save", action="store_true")
    given = arguments.parse_args()
    with TemporaryDirectory() as scratch:
        rows = measure(given.part, given.python, given.repeats, Path(scratch))
    if given.save:
        data = data_folder()
        corpora = [data / corpus / f"{given.part}.pubtator" for _, _, corpus, _ in TASKS[:2]]
        names = [data / "medic-2012" / "medic_06Jul2012.txt", data / "mesh-2024" / "terms.tsv.gz"]
        result = {"part": given.part, "rows": rows}
        save("annotate", result, packages=["numpy"], data=[*corpora, *names])


if __name__ == "__main__":
    main()
