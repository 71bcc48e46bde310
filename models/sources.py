"""The open terminologies that the default encoder is trained on."""

from __future__ import annotations

import csv
import gzip
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from canonym.errors import ReadError
from canonym.terminology.readers.ctd import read_ctd
from canonym.terminology.readers.drugbank import read_drugbank_vocabulary
from canonym.terminology.readers.icd10cm import read_icd10cm
from canonym.terminology.readers.medic import read_medic
from canonym.terminology.readers.obo import read_obo
from canonym.terminology.readers.table import read_table
from canonym.terminology.replaced import read_replaced, with_replaced
from canonym.types import Concept, Name, Record
from models.relation_tables import read_relation_table
from models.synonyms import SynonymPool, icd_variants

__all__ = [
    "PASSAGES",
    "SOURCES",
    "read_consumer_names",
    "read_mesh",
    "read_passages",
    "read_pool",
]

SOURCES: dict[str, str] = {
    "MeSH 2024": "mesh-2024/terms.tsv.gz",
    "MeSH trees": "mesh-2024/trees.tsv.gz",
    "MeSH actions": "mesh-2024/pharmacological-actions.tsv.gz",
    "MeSH supplementary": "mesh-supplementary/scr_names.tsv.gz",
    "MeSH replaced": "mesh-supplementary/promoted_c2d.tsv",
    "CTD 2017": "ctd-diseases-2017/CTD_diseases.tsv.gz",
    "MEDIC 2012": "medic-2012/medic_06Jul2012.txt",
    "DOID 2015": "doid/HumanDO-2015-05-14.obo.gz",
    "HPO 2014": "hpo/hp-2014-11-14.obo.gz",
    "DrugBank": "drugbank-vocabulary/drugbank_vocabulary.csv.gz",
    "MedQuAD": "medquad-synonyms/names.tsv.gz",
    "indications": "relations/drugbank-doid-indications.tsv.gz",
    "classes": "relations/drugcentral-drug-to-class.tsv.gz",
}
"""Files of the data folder, by source. ICD-10-CM comes with an installed package."""

PASSAGES = "text/medquad.txt.xz"
"""Questions and answers about health, in the data folder."""

_RELATIONS: dict[str, dict[str, Any]] = {
    "MeSH actions": {
        "head": "DescriptorUI",
        "tail": "PharmActionUI",
        "relation": "has_action",
        "head_prefix": "MESH:",
        "tail_prefix": "MESH:",
    },
    "indications": {
        "head": "drugbank_id",
        "tail": "doid_code",
        "relation": "indicated_for",
        "head_prefix": "DRUGBANK:",
    },
    "classes": {
        "head": "drugbank_id",
        "tail": "class_id",
        "relation": "in_class",
        "head_prefix": "DRUGBANK:",
        "tail_prefix": "MESH:",
    },
}
_PREFIXES = {
    "MSH": "MESH",
    "MeSH": "MESH",
    "UMLS_CUI": "UMLS",
    "ICD-10": "ICD10CM",
    "ICD10": "ICD10CM",
}
# Chemicals outnumber diseases several times over; most users look for diseases.
_OTHER = 0.3


def read_consumer_names(path: Path) -> Iterator[Record]:
    """Read MedQuAD's table of topics, their names and their UMLS ids.

    Topics without an id are pages of advice, and those with a dash are about a part of a concept
    ("Hip fracture - discharge"): both are left out. The ids are not passed on, since a page on the
    vaccine has the id of the disease.

    Yields
    ------
    Concept or Name
    """
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            id_, topic, name = row["umls_cuis"], row["focus"], row["name"]
            if not id_ or " - " in topic or " - " in name:
                continue
            concept_id = f"MEDQUAD:{topic.casefold()}"
            yield Concept(concept_id, topic)
            yield Name(name, concept_id)


def _with_variants(records: Iterable[Record]) -> Iterator[Record]:
    for record in records:
        yield record
        if isinstance(record, Concept):
            yield from (Name(text, record.id) for text in icd_variants(record.label))
        elif isinstance(record, Name):
            yield from (replace(record, text=text) for text in icd_variants(record.text))


def read_mesh(data: Path) -> Iterator[Record]:
    """Read the descriptors and supplementary concepts of MeSH under `data`."""
    replaced = read_replaced(data / SOURCES["MeSH replaced"], prefix="MESH:")
    descriptors = read_table(
        data / SOURCES["MeSH 2024"],
        id_column="descriptor_ui",
        name_column="term",
        label_column="descriptor_name",
        trees=data / SOURCES["MeSH trees"],
        prefix="MESH:",
    )
    supplementary = read_table(
        data / SOURCES["MeSH supplementary"], id_column="scr_id", name_column="name", prefix="MESH:"
    )
    return with_replaced(chain(descriptors, supplementary), replaced)


def read_passages(data: Path) -> tuple[Path, list[str]]:
    """Read the consumer health text under `data`.

    Returns
    -------
    Path
        The file.
    list of str
        Its questions and answers.

    Raises
    ------
    ReadError
        If it is missing or damaged.
    """
    path = data / PASSAGES
    try:
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            return path, [line.strip() for line in stream]
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise ReadError(path, f"lines of text packed with xz are expected ({error})") from error


def read_pool(
    data: Path,
    *,
    everyday: Sequence[Record] = (),
    log: Callable[[str], None] | None = None,
) -> SynonymPool:
    """Read all sources under `data`, and ICD-10-CM, and join their concepts.

    Parameters
    ----------
    data : Path
        The folder with the files of `SOURCES`.
    everyday : sequence of Record
        Names that ICD-10-CM lacks, of its concepts.
    log : callable, optional
        Called with a line of text for each step.
    """
    pool = SynonymPool()
    paths = {name: data / path for name, path in SOURCES.items()}
    say = log or (lambda _: None)
    # MeSH first: its ids are what CTD and MEDIC use, its weight that of the chemicals.
    pool.add("MeSH", read_mesh(data), weight=_OTHER)
    pool.add("MeSH", read_ctd(paths["CTD 2017"]))
    pool.add("MeSH", read_medic(paths["MEDIC 2012"]))
    pool.add("ICD-10-CM", _with_variants(read_icd10cm()))
    if everyday:
        pool.add("everyday", everyday, exclusive=False)
    pool.add("DOID", read_obo(paths["DOID 2015"]))
    pool.add("HPO", read_obo(paths["HPO 2014"]))
    pool.add("DrugBank", read_drugbank_vocabulary(paths["DrugBank"]), weight=_OTHER)
    pool.add("MedQuAD", read_consumer_names(paths["MedQuAD"]), exclusive=False)
    for source, columns in _RELATIONS.items():
        pool.add(source, read_relation_table(paths[source], **columns))
    say(f"{pool.join_xrefs(_PREFIXES):,} concepts joined by references")
    say(f"{pool.join_names():,} concepts joined by names")
    return pool
