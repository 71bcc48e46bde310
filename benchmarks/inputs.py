"""What scripts ask with: files of the data folder, lists beside this file, mentions of corpora."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.evaluation.statistics import wilson
from canonym.io.curies import usual
from canonym.terminology import read_records
from canonym.types import Document, Encoder, Link, Mention, Record, Xref
from record import data_folder, rows_of

CTD = "ctd-diseases-2017/CTD_diseases.tsv.gz"
DOID = "doid/HumanDO-2015-05-14.obo.gz"
DRUGBANK = "drugbank-vocabulary/drugbank_vocabulary.csv.gz"
HPO = "hpo/hp-2014-11-14.obo.gz"
MEDIC = "medic-2012/medic_06Jul2012.txt"
MESH, TREES = "mesh-2024/terms.tsv.gz", "mesh-2024/trees.tsv.gz"
UBERON = "uberon/uberon.obo.gz"
TERMINOLOGIES: dict[str, tuple[str, dict[str, Any]]] = {
    "CTD": (CTD, {}),
    "DOID": (DOID, {}),
    "DrugBank": (DRUGBANK, {}),
    "HPO": (HPO, {}),
    "ICD-10-CM": ("icd10cm", {}),
    "MEDIC": (MEDIC, {}),
    "MeSH": (MESH, {"prefix": "MESH:"}),
    "UBERON": (UBERON, {}),
}
"""Files by the name of a terminology, and the options of their readers."""

PARTS = ("train", "dev", "test")
DISEASES = {"NCBI disease": ("ncbi-disease", ""), "BC5CDR disease": ("bc5cdr", "Disease")}
"""Corpora of diseases: their folder, and the type of their mentions."""
SURE = 0.8
"""The confidence from which a link of a list counts as sure."""


def beside(name: str) -> Path:
    """Return a list that stands beside this file, by its name without the ending."""
    return Path(__file__).with_name(f"{name}.tsv")


def rows_beside(name: str) -> list[dict[str, str]]:
    """Return the rows of a list beside this file."""
    return rows_of(beside(name))


def linked_list(
    linker: Linker, name: str, column: str = "written", **options: Any
) -> list[tuple[dict[str, str], Link]]:
    """Return the rows of a list beside this file, each with the link of a column.

    A line break is written ``\\n`` there.
    """
    rows = rows_beside(name)
    links = linker.link([row[column].replace("\\n", "\n") for row in rows], **options)
    return list(zip(rows, links, strict=True))


def terminology_of(file: str, **options: Any) -> Terminology:
    """Read a terminology of the data folder, or ``icd10cm``."""
    place = file if file == "icd10cm" else data_folder() / file
    return Terminology.build(read_records(place, **options))


def terminology_called(name: str) -> Terminology:
    """Read one of `TERMINOLOGIES`."""
    file, options = TERMINOLOGIES[name]
    return terminology_of(file, **options)


def without(terminology: Terminology, ids: set[str], *, deprecated: bool = True) -> Terminology:
    """Return a terminology without some concepts, and without deprecated ones if told so."""
    concepts = [concept for concept in terminology.iter_concepts() if concept.id not in ids]
    return Terminology.build(
        record
        for concept in concepts
        if deprecated or not concept.deprecated
        for record in (concept, *terminology.names(concept.id))
    )


def without_gold(file: str, mesh: Terminology) -> tuple[Terminology, dict[str, set[str]]]:
    """Return a terminology without its cross-references to MeSH, and these.

    They are by concept; deprecated concepts have none.
    """
    gold: dict[str, set[str]] = defaultdict(set)
    kept: list[Record] = []
    for record in read_records(data_folder() / file):
        target = usual(record.target) if isinstance(record, Xref) else ("", "")
        if isinstance(record, Xref) and target[0] == "MESH":
            if mesh.resolve(f"MESH:{target[1]}"):
                gold[record.concept_id].add(f"MESH:{target[1]}")
        else:
            kept.append(record)
    terminology = Terminology.build(kept)
    retired = {concept.id for concept in terminology.iter_concepts() if concept.deprecated}
    return terminology, {id_: ids for id_, ids in gold.items() if id_ not in retired}


def part_of(corpus: str, part: str) -> Path:
    """Return the file of a part of a corpus."""
    return data_folder() / corpus / f"{part}.pubtator"


def documents_of(corpus: str, *parts: str, type: str = "") -> list[Document]:
    """Read parts of a corpus; with a type there are only the mentions of this one."""
    documents = [doc for part in parts for doc in read_pubtator(part_of(corpus, part))]
    if not type:
        return documents
    return [
        replace(document, mentions=tuple(m for m in document.mentions if m.type == type))
        for document in documents
    ]


def texts_of(documents: Iterable[Document]) -> list[str]:
    """Return the texts of all mentions, as often as they occur."""
    return [mention.text for document in documents for mention in document.mentions]


def linked_mentions(
    linker: Linker, documents: Iterable[Document], **options: Any
) -> list[tuple[Mention, Link]]:
    """Link the mentions of documents, and return each with its link."""
    return [
        pair
        for document, links in linker.link_documents(documents, **options)
        for pair in zip(document.mentions, links, strict=True)
    ]


def nearest_name_linker(terminology: Terminology, encoders: Sequence[str | Encoder]) -> Linker:
    """Return a linker that searches for the nearest name, without sieves and preparation."""
    return Linker.build(terminology, encoders=encoders, sieves=[], spelling=False, composites=False)


def are_right(linker: Linker, asked: Sequence[tuple[str, Container[str]]]) -> list[bool]:
    """Tell of each string whether its first candidate is one of the right concepts."""
    links = linker.link([text for text, _ in asked], k=1)
    return [
        bool(link.candidates) and link.candidates[0].id in right
        for link, (_, right) in zip(links, asked, strict=True)
    ]


def is_sure(link: Link) -> bool:
    """Tell whether a link is stated, with a confidence of `SURE` or more."""
    return not link.nil and (link.confidence or 0) >= SURE


def percents(n: int, of: int, digits: int = 1) -> list[float]:
    """Return a share with its interval by Wilson, in percent; nothing where there is no whole."""
    return [round(100 * value, digits) for value in wilson(n, of)] if of else []
