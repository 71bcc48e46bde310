"""The formats that can be imported, by name."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from canonym.types import Record

__all__ = ["FORMATS", "Format"]

_RESERVED = ("format", "output", "overwrite", "progress")  # options of `import_terminology`


@dataclass(frozen=True, slots=True)
class Format:
    """A format and its reader.

    Parameters
    ----------
    name : str
        How it is called in ``format=...`` and ``--format``.
    reader : str
        ``"module:function"``; the module is imported when the reader is needed.
    title : str
        One line that says what it is.
    expects : str
        What to point at.
    """

    name: str
    reader: str
    title: str
    expects: str

    def load(self) -> Callable[..., Iterator[Record]]:
        """Import the reader: a function of a path and of keyword-only options."""
        module, _, function = self.reader.partition(":")
        reader: Callable[..., Iterator[Record]] = getattr(importlib.import_module(module), function)
        return reader

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """Options of the reader by name, as the docstring of the reader explains them."""
        return {
            name: parameter
            for name, parameter in inspect.signature(self.load()).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in _RESERVED
        }


_HERE = "canonym.terminology.readers"
FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (
        Format("obo", f"{_HERE}.obo:read_obo", "ontology in OBO format 1.0 to 1.4", "an .obo file"),
        Format(
            "owl",
            f"{_HERE}.owl:read_owl",
            "OWL ontology or SKOS thesaurus (needs the extra 'owl')",
            "a file of RDF/XML, Turtle, N-Triples or JSON-LD",
        ),
        Format(
            "mesh",
            f"{_HERE}.mesh:read_mesh_xml",
            "MeSH descriptors or supplementary concepts in XML",
            "desc*.xml or supp*.xml",
        ),
        Format(
            "ctd",
            f"{_HERE}.ctd:read_ctd",
            "diseases or chemicals of the Comparative Toxicogenomics Database",
            "CTD_diseases or CTD_chemicals, .tsv or .csv",
        ),
        Format(
            "medic",
            f"{_HERE}.medic:read_medic",
            "dictionary of lines id||name: MEDIC, or one of BioSyn",
            "a text file",
        ),
        Format(
            "drugbank",
            f"{_HERE}.drugbank:read_drugbank_vocabulary",
            "DrugBank open vocabulary",
            "'drugbank vocabulary.csv'",
        ),
        Format(
            "icd10cm",
            f"{_HERE}.icd10cm:read_icd10cm",
            "ICD-10-CM, which comes with canonym",
            "nothing: the word icd10cm",
        ),
        Format(
            "umls",
            f"{_HERE}.umls:read_umls",
            "UMLS Metathesaurus in Rich Release Format",
            "the folder with MRCONSO.RRF",
        ),
        Format(
            "rxnorm",
            f"{_HERE}.rxnorm:read_rxnorm",
            "RxNorm in Rich Release Format",
            "the folder with RXNCONSO.RRF",
        ),
        Format(
            "snomed",
            f"{_HERE}.snomed:read_snomed",
            "SNOMED CT in Release Format 2",
            "the unpacked release, with sct2_Concept_Snapshot_*.txt",
        ),
        Format(
            "athena",
            f"{_HERE}.athena:read_athena",
            "OMOP vocabularies as Athena delivers them",
            "the folder with CONCEPT.csv",
        ),
        Format(
            "meddra",
            f"{_HERE}.meddra:read_meddra",
            "MedDRA in its ASCII distribution",
            "the folder with llt.asc",
        ),
        Format(
            "table",
            f"{_HERE}.table:read_table",
            "any table with a column of ids and one of names",
            "a .tsv, .csv or .parquet file",
        ),
    )
}
"""Formats by name."""
