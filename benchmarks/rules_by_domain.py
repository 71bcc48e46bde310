"""What each rule before the search gains and loses, domain by domain.

The same mentions are linked with all rules, and with one left out. A mention counts as gained if
its first candidate is right with the rule alone, as lost if it is right without the rule alone.

- **Names held out** of the development suite (`models.suite`) equal no other name of their concept
  but for case, punctuation and order: there, sieves cannot gain.
- **Names of other terminologies**: labels of UBERON and HPO in MeSH, by their cross-references.
- **Mentions** of the development parts of corpora with their abstracts, and of patients.

Two encoders are asked for, as what ships has read all of these names and mentions:

    python -m models.make_default --teacher MINILM --hold-out -o held-out
    python -m models.make_default --teacher MINILM --part train -o train
    python benchmarks/rules_by_domain.py --names held-out --mentions train
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import checkout  # noqa: F401
from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.corpora.cadec import read_folds, read_mention_table
from canonym.encoders import make_encoder
from canonym.linking import search
from canonym.mentions import prepare
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from canonym.types import Concept, Document, Mention, Xref
from domains import terminology
from models.mixture import mixture_files
from models.sources import SOURCES, read_mesh
from models.suite import MESH, Domain, read_suite
from record import data_folder, save

MEDIC = "medic-2012/medic_06Jul2012.txt"


class Case(NamedTuple):
    """Documents whose mentions are asked of a terminology, and the right ids of each mention."""

    name: str
    kind: str
    documents: list[Document]
    gold: list[frozenset[str]]
    terminology: Terminology


# --- mentions and names ---------------------------------------------------------------------------


def suite(data: Path) -> Iterator[Case]:
    """Yield the domains of the development suite."""
    for domain in read_suite(data):
        yield _names(domain.name, "names held out", domain.questions, terminology(domain))


def other_labels(data: Path) -> Iterator[Case]:
    """Yield labels of UBERON and HPO with one cross-reference to MeSH, which is the right one."""
    mesh = Terminology.build(
        read_records(data / SOURCES["MeSH 2024"], **MESH, trees=str(data / SOURCES["MeSH trees"]))
    )
    with gzip.open(data / SOURCES["MeSH trees"], "rt", encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        trees = {row["tree_number"]: row["descriptor_ui"] for row in rows}
    for source in ("UBERON", "HPO 2014"):
        labels: dict[str, str] = {}
        targets: dict[str, set[str]] = {}
        for record in read_records(data / SOURCES[source]):
            if isinstance(record, Concept) and not record.deprecated:
                labels[record.id] = record.label
            elif isinstance(record, Xref) and record.target.upper().startswith(("MESH:", "MSH:")):
                number = record.target.partition(":")[2]
                targets.setdefault(record.concept_id, set()).add(trees.get(number, number))
        pairs = [
            (labels[id_], f"MESH:{next(iter(found))}")
            for id_, found in targets.items()
            if id_ in labels and len(found) == 1
        ]
        pairs = [pair for pair in pairs if mesh.resolve(pair[1])]
        yield _names(f"{source.split()[0]} in MeSH", "names of others", pairs, mesh)


def mentions(data: Path) -> Iterator[Case]:
    """Yield mentions of diseases and chemicals with their abstracts, and of patients."""
    diseases = Terminology.build(read_records(data / MEDIC))
    chemicals = Terminology.build(read_mesh(data))
    for name, corpus, type_, asked in (
        ("diseases, NCBI", "ncbi-disease", "", diseases),
        ("diseases, BC5CDR", "bc5cdr", "Disease", diseases),
        ("chemicals, BC5CDR", "bc5cdr", "Chemical", chemicals),
    ):
        ids, documents, gold = ConceptIds(asked), [], []
        for document in read_pubtator(data / corpus / "dev.pubtator"):
            kept = tuple(one for one in document.mentions if not type_ or one.type == type_)
            documents.append(replace(document, mentions=kept))
            gold += [frozenset(filter(None, map(ids.find, one.ids))) for one in kept]
        yield Case(name, "mentions", documents, gold, asked)
    folds = list(read_folds(data / "cadec"))
    targets = chain.from_iterable(read_mention_table(one.targets) for one in folds if one.targets)
    pairs = [(one.text, one.ids[0]) for one in chain.from_iterable(one.test for one in folds)]
    names = dict.fromkeys((one.text, id_) for one in targets for id_ in one.ids[:1])
    yield _names("patients' words", "mentions", pairs, _of_pairs(list(names)))


def _of_pairs(names: list[tuple[str, str]]) -> Terminology:
    return terminology(Domain("", [], names))


def _names(name: str, kind: str, pairs: Sequence[tuple[str, str]], asked: Terminology) -> Case:
    documents = [Document("", "", (Mention(text),)) for text, _ in pairs]
    return Case(name, kind, documents, [frozenset([id_]) for _, id_ in pairs], asked)


# --- rules ----------------------------------------------------------------------------------------


def _nothing(*_: Any, **__: Any) -> dict[str, str]:
    return {}


RULES: Mapping[str, tuple[Callable[[], Any] | None, Mapping[str, Any]]] = {
    "all sieves": (None, {"sieves": []}),
    "sieve `verbatim`": (None, {"sieves": ["normalised", "reordered"]}),
    "sieve `normalised`": (None, {"sieves": ["verbatim", "reordered"]}),
    "sieve `reordered`": (None, {"sieves": ["verbatim", "normalised"]}),
    "odd plurals yield": (lambda: patch.object(search, "_are_odd", lambda *_: False), {}),
    "spelling": (None, {"spelling": False}),
    "composites": (None, {"composites": False}),
    "findings": (lambda: patch.object(prepare, "finding_name", lambda _: ""), {}),
    "abbreviations": (lambda: patch.object(prepare, "expand", lambda text, _: text), {}),
    "glosses": (lambda: patch("canonym.linking.pipeline.find_aliases", _nothing), {}),
}
"""What leaves a rule out, and the settings without it."""
_OF_TEXTS = ("abbreviations", "glosses")


def right(case: Case, encoder: Any, **options: Any) -> list[bool]:
    """Tell for each mention whether its first candidate is right."""
    linker = Linker.build(case.terminology, encoders=[encoder], **options)
    links = chain.from_iterable(of for _, of in linker.link_documents(case.documents, k=1))
    return [
        bool(gold & {one.id for part in (link.parts or (link,)) for one in part.candidates[:1]})
        for link, gold in zip(links, case.gold, strict=True)
    ]


def main() -> None:
    """Leave each rule out on each case, and write what it gains and loses."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--names", required=True, metavar="FOLDER", help="encoder for names")
    parser.add_argument("--mentions", required=True, metavar="FOLDER", help="and for mentions")
    options, data, rows = parser.parse_args(), data_folder(), []
    cases = chain(suite(data), other_labels(data), mentions(data))
    for case in cases:
        encoder = make_encoder(options.mentions if case.kind == "mentions" else options.names)
        with_all = right(case, encoder)
        n = len(with_all)
        print(f"{case.name}: {100 * sum(with_all) / n:.1f} of {n:,}", flush=True)
        for rule, (left_out, given) in RULES.items():
            if rule in _OF_TEXTS and not any(one.text for one in case.documents):
                continue
            if left_out is None:
                without = right(case, encoder, **given)
            else:
                with left_out():
                    without = right(case, encoder, **given)
            gained = sum(a and not b for a, b in zip(with_all, without, strict=True))
            lost = sum(b and not a for a, b in zip(with_all, without, strict=True))
            rows.append(
                {"case": case.name, "kind": case.kind, "n": n, "rule": rule}
                | {"accuracy@1": round(100 * sum(with_all) / n, 1), "gained": gained, "lost": lost}
            )
            print(f"  {rule}: + {gained} - {lost}", flush=True)
    files = [data / file for file in mixture_files(()).values()]
    save("rules-by-domain", {"rows": rows}, packages=("numpy",), data=files)


if __name__ == "__main__":
    main()
