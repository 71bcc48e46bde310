"""Mentions found in text, and linked: canonym beside dictionary annotators with the same names.

The abstracts alone are given. A span is right if an annotated mention has its offsets; a link is
right if its span is, and its ids are the gold ones (one of them, where each alone is right). NCBI
disease and the diseases of BC5CDR are annotated with MEDIC, and both types of BC5CDR with the
branches C, D and F03 of MeSH 2024 and its supplementary concepts. Choices were made on
the training and development parts. Each annotator runs in a process, all in turn; time is that of
the processor for the texts, the best run counts.

    python benchmarks/annotate.py                        # canonym alone, on the development parts
    python benchmarks/annotate.py --part test --tools gilda flashtext pyahocorasick QuickUMLS --save

Other tools run in environments of their own, which are made at the first run (`peers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from canonym import Concept, Linker, Name, Terminology
from canonym.terminology.ids import ConceptIds
from canonym.terminology.readers.table import read_table
from canonym.types import Document, Record, Xref
from inputs import MEDIC, MESH, PARTS, TREES, documents_of, part_of, terminology_of
from peers.processes import ADAPTORS, PeerProcess, peer_cache
from processes import run_script
from record import data_folder, parser, printed, rows_of, save

TASKS = (
    ("NCBI disease", "MEDIC", "ncbi-disease", ()),
    ("BC5CDR disease", "MEDIC", "bc5cdr", ("Disease",)),
    ("BC5CDR", "MeSH", "bc5cdr", ("Disease", "Chemical")),
)
"""Name, terminology, folder of the corpus, and the types that are annotated."""

TOOLS = ("gilda", "flashtext", "pyahocorasick", "QuickUMLS")
"""Adaptors of `peers` that annotate texts."""

_BRANCHES = ("C", "D", "F03")
_HEADS = ("Diseases", "Disorders", "Infections", "Injuries", "Neoplasms")
_CANONYM = """
import json, sys, time
from canonym import Linker
linker = Linker.load(sys.argv[1])
texts = json.load(sys.stdin)
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
    places = [(f"MESH:{row['descriptor_ui']}", row["tree_number"]) for row in rows_of(data / TREES)]
    numbered = {id_ for id_, _ in places}
    wanted = {id_ for id_, number in places if number.startswith(_BRANCHES)}
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


def measure(part: str, tools: Sequence[str], repeats: int) -> Iterator[dict[str, Any]]:
    """Run all annotators on all tasks, in turn."""
    made = {"MEDIC": terminology_of(MEDIC), "MeSH": Terminology.build(mesh())}
    linkers = {name: Linker.build(terminology) for name, terminology in made.items()}
    for task, dictionary, corpus, types in TASKS:
        documents = documents_of(corpus, part)
        texts = [document.text for document in documents]
        megabytes = sum(len(text.encode()) for text in texts) / 1e6
        ids = ConceptIds(made[dictionary])
        gold = [gold_of(document, types, ids) for document in documents]
        index = linkers[dictionary].folder
        ours = partial(run_script, _CANONYM, index, entered=texts, OMP_NUM_THREADS="1")
        ways: dict[str, Callable[[], dict[str, Any]]] = {"canonym": ours}
        versions: dict[str, str] = {}
        with ExitStack() as running:
            for name in tools:
                peer = PeerProcess(ADAPTORS / f"{name.lower()}.py", peer_cache(), threads=1)
                running.callback(peer.close)
                built = peer.ask("build", names=names_of(made[dictionary]), settings={})
                versions[name] = built["versions"][name.lower()]
                ways[name] = partial(peer.ask, "annotate", texts=texts)
            runs = [{name: way() for name, way in ways.items()} for _ in range(repeats)]
        for name in ways:
            best = min((of_turn[name] for of_turn in runs), key=lambda run: run["seconds"])
            row = {"task": task, "dictionary": dictionary, "annotator": name}
            row |= {"version": versions[name]} if name in versions else {}
            row |= scores(best["spans"], gold)
            yield row | {"MB/s": round(megabytes / best["seconds"], 2)}


def main() -> None:
    """Measure, and write the result if asked to."""
    arguments = parser(__doc__)
    arguments.add_argument("--part", choices=PARTS, default="dev")
    arguments.add_argument("--tools", nargs="*", choices=TOOLS, default=[], help="beside canonym")
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--save", action="store_true")
    options = arguments.parse_args()
    rows = printed(measure(options.part, options.tools, options.repeats))
    if options.save:
        corpora = [part_of(corpus, options.part) for _, _, corpus, _ in TASKS[:2]]
        files = [*corpora, *(data_folder() / file for file in (MEDIC, MESH))]
        save("annotate", {"part": options.part, "rows": rows}, packages=["numpy"], data=files)


if __name__ == "__main__":
    main()
