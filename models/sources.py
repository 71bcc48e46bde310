"""The open terminologies and texts that the shipped encoders learn from."""

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
from canonym.io.streams import open_text
from canonym.terminology.readers.ctd import read_ctd
from canonym.terminology.readers.drugbank import read_drugbank_vocabulary
from canonym.terminology.readers.icd10cm import read_icd10cm
from canonym.terminology.readers.medic import read_medic
from canonym.terminology.readers.obo import read_obo
from canonym.terminology.readers.table import read_table
from canonym.terminology.replaced import read_replaced, with_replaced
from canonym.types import Concept, Name, Record, Relation
from models.synonyms import SCOPES, SynonymPool, icd_variants

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
    "UBERON": "uberon/uberon.obo.gz",
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
# MeSH's trees of other domains are smaller than that of the chemicals, and as much looked for as
# diseases: anatomy, organisms, procedures, behaviour, processes, society, people, health care.
_BROAD = frozenset("ABEFGIMN")


def read_consumer_names(path: Path) -> Iterator[Record]:
    """Read MedQuAD's table of topics and their names.

    Topics without a UMLS id are advice, and those with a dash are about a part of a concept
    ("Hip fracture - discharge"): both are left out.
    """
    # The ids are not passed on: a page on a vaccine has the id of the disease.
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
        tree_types=True,
        prefix="MESH:",
    )
    supplementary = read_table(
        data / SOURCES["MeSH supplementary"], id_column="scr_id", name_column="name", prefix="MESH:"
    )
    return with_replaced(chain(descriptors, supplementary), replaced)


def read_relation_table(
    path: str | Path,
    *,
    head: str,
    tail: str,
    relation: str,
    relation_column: bool = False,
    head_prefix: str = "",
    tail_prefix: str = "",
    delimiter: str = "\t",
) -> Iterator[Relation]:
    """Read relations from a table with a header, plain or compressed.

    `relation` is the name of the relation, or with `relation_column` the column that holds it.
    Rows with an empty id are left out.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.tsv"
    ...     _ = path.write_text("drug\\tdisease\\nD1\\tC2\\n")
    ...     list(read_relation_table(path, head="drug", tail="disease", relation="treats"))
    [Relation(head='D1', relation='treats', tail='C2')]
    """
    with open_text(path) as lines:
        header = next(iter(lines), "").rstrip("\r\n").split(delimiter)
        wanted = [head, tail, *([relation] if relation_column else [])]
        missing = [name for name in wanted if name not in header]
        if missing:
            raise ReadError(
                path, f"there is no column {missing[0]!r}; there are {', '.join(header)}", line=1
            )
        places = [header.index(name) for name in wanted]
        for number, line in enumerate(lines, start=2):
            cells = line.rstrip("\r\n").split(delimiter)
            if not line.strip():
                continue
            if len(cells) <= max(places):
                raise ReadError(
                    path,
                    f"{len(cells)} cells; at least {max(places) + 1} are expected",
                    line=number,
                )
            found = [cells[place].strip() for place in places]
            if found[0] and found[1]:
                name = found[2] if relation_column else relation
                yield Relation(head_prefix + found[0], name, tail_prefix + found[1])


def read_passages(data: Path) -> tuple[Path, list[str]]:
    """Read the consumer health text under `data`: its file, and its questions and answers."""
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
    more: Sequence[tuple[str, Record]] = (),
    held_out: Iterable[str] = (),
    log: Callable[[str], None] | None = None,
) -> SynonymPool:
    """Read all sources under `data`, and ICD-10-CM, and join their concepts.

    `everyday` are further names of concepts of ICD-10-CM, `more` records of a source, `held_out`
    the ids of concepts to leave out; `log` takes a line of text a step.
    """
    pool = SynonymPool()
    paths = {name: data / path for name, path in SOURCES.items()}
    say = log or (lambda _: None)
    # MeSH first: CTD and MEDIC use its ids, and its weight is that of the chemicals.
    mesh = list(read_mesh(data))
    pool.add("MeSH", mesh, weight=_OTHER)
    broad = (one for one in mesh if isinstance(one, Concept) and _BROAD & {*one.types})
    pool.add("MeSH", broad)
    pool.add("MeSH", read_ctd(paths["CTD 2017"]))
    pool.add("MeSH", read_medic(paths["MEDIC 2012"]))
    pool.add("ICD-10-CM", _with_variants(read_icd10cm()))
    if everyday:
        pool.add("everyday", everyday, exclusive=False)
    pool.add("DOID", read_obo(paths["DOID 2015"]))
    pool.add("HPO", read_obo(paths["HPO 2014"]))
    # What UBERON calls related are Latin names and adjectives.
    pool.add("UBERON", read_obo(paths["UBERON"]), scopes=SCOPES | {"related"})
    pool.add("DrugBank", read_drugbank_vocabulary(paths["DrugBank"]), weight=_OTHER)
    pool.add("MedQuAD", read_consumer_names(paths["MedQuAD"]), exclusive=False)
    for source in dict.fromkeys(source for source, _ in more):
        pool.add(source, (record for of, record in more if of == source))
    for source, columns in _RELATIONS.items():
        pool.add(source, read_relation_table(paths[source], **columns))
    say(f"{pool.join_xrefs(_PREFIXES):,} concepts joined by references")
    say(f"{pool.join_names():,} concepts joined by names")
    if n_out := pool.leave_out(held_out):
        say(f"{n_out:,} concepts held out")
    return pool
