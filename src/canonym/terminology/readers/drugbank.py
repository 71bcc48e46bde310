"""The DrugBank open vocabulary (CSV)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from canonym.io.streams import open_text
from canonym.io.tables import column_places, filled_parts, full_rows, split_rows
from canonym.types import Concept, Name, Record, Xref

_XREFS = {"CAS": "CAS", "UNII": "UNII", "Standard InChI Key": "INCHIKEY"}


def read_drugbank_vocabulary(path: str | Path, *, version: str = "") -> Iterator[Record]:
    """Read ``drugbank vocabulary.csv``, the part of DrugBank that is in the public domain.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed.
    version : str
        The version to record; the file does not say.

    Yields
    ------
    Concept, Name or Xref
        Row by row, the concept first. A synonym equal to the common name is left out: the label is
        a name already.

    Raises
    ------
    ReadError
        If a column is missing, a row has another number of cells, or an id is empty.

    References
    ----------
    DrugBank Open Data. https://go.drugbank.com/releases/latest#open-data
    """
    with open_text(path) as stream:
        table = split_rows(stream)
        header = [name.strip() for name in next(table, [])]
        columns = ["DrugBank ID", "Accession Numbers", "Common name", "Synonyms"]
        id_at, accessions_at, name_at, synonyms_at = column_places(stream, header, columns)
        xrefs = [(header.index(name), prefix) for name, prefix in _XREFS.items() if name in header]
        for cells in full_rows(stream, len(header), table):
            bare, label = cells[id_at].strip(), cells[name_at].strip()
            if not bare:
                raise stream.error(f"the DrugBank ID of {label!r} is empty")
            id_ = f"DRUGBANK:{bare}"
            yield Concept(id_, label, source="DrugBank", version=version)
            for text in dict.fromkeys(filled_parts(cells[synonyms_at], " | ")):
                if text != label:
                    yield Name(text, id_)
            for accession in dict.fromkeys(filled_parts(cells[accessions_at], " | ")):
                if accession != bare:
                    yield Xref(id_, f"DRUGBANK:{accession}", "alternative")
            for column, prefix in xrefs:
                if cells[column].strip():
                    yield Xref(id_, f"{prefix}:{cells[column].strip()}")
