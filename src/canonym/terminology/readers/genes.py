"""Genes: ``gene_info`` of NCBI, and the complete set of HGNC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from canonym.io.streams import open_text
from canonym.io.tables import column_places, filled_parts, full_rows, split_rows
from canonym.types import Concept, Name, Record, Xref

_HUMAN = "9606"
_PLACEHOLDER = "NEWENTRY"
_NCBI = ("tax_id", "GeneID", "Symbol", "Synonyms")
_HGNC = ("hgnc_id", "symbol", "status", "alias_symbol", "prev_symbol")
_NCBI_NAMES = {
    "description": "exact",
    "Full_name_from_nomenclature_authority": "exact",
    "Synonyms": "exact",
    "Other_designations": "related",
}
_HGNC_NAMES = dict.fromkeys(
    ("name", "alias_symbol", "alias_name", "prev_symbol", "prev_name"), "exact"
)
_HGNC_XREFS = {"entrez_id": "NCBIGene", "ensembl_gene_id": "ENSEMBL", "omim_id": "OMIM"}
_PREFIXES = {"MIM": "OMIM", "ENSEMBL": "ENSEMBL"}


def read_genes(path: str | Path, *, version: str = "") -> Iterator[Record]:
    """Read ``gene_info`` of NCBI Gene, of any species, or ``hgnc_complete_set`` of HGNC.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed; its header tells which of the two it is.
    version : str
        The version to record; the files do not say.

    Yields
    ------
    Concept, Name or Xref
        Row by row, the concept first. The symbol is the label. Types are the kind of gene and the
        species, as ``NCBITaxon:9606``.

    Raises
    ------
    ReadError
        If a column is missing, a row has another number of cells, or an id is empty.

    Notes
    -----
    Full names, aliases and previous symbols are exact names, NCBI's other designations, which are
    those of proteins, are ``related``. Withdrawn entries of HGNC are deprecated concepts. NCBI's
    placeholders (``NEWENTRY``) are left out.

    References
    ----------
    NCBI Gene. https://www.ncbi.nlm.nih.gov/gene · HGNC. https://www.genenames.org/download/
    """
    with open_text(path) as stream:
        table = split_rows(stream, delimiter="\t", quoted=False)
        header = [name.strip().lstrip("#") for name in next(table, [])]
        of_hgnc = "hgnc_id" in header
        column_places(stream, header, _HGNC if of_hgnc else _NCBI)
        for cells in full_rows(stream, len(header), table):
            # A dash is NCBI's empty cell; HGNC puts cells of several values in quotes.
            values = (cell.strip().strip('"') for cell in cells)
            row = {
                name: "" if value == "-" else value
                for name, value in zip(header, values, strict=True)
            }
            if not row["hgnc_id" if of_hgnc else "GeneID"]:
                raise stream.error("the id of the gene is empty")
            yield from (_of_hgnc if of_hgnc else _of_ncbi)(row, version)


def _of_ncbi(row: Mapping[str, str], version: str) -> Iterator[Record]:
    id_, label = f"NCBIGene:{row['GeneID']}", row["Symbol"]
    if label in ("", _PLACEHOLDER):
        return
    types = tuple(filter(None, (row.get("type_of_gene", ""), f"NCBITaxon:{row['tax_id']}")))
    yield Concept(id_, label, types=types, source="NCBI Gene", version=version)
    yield from _names(id_, label, row, _NCBI_NAMES)
    for other in dict.fromkeys(filled_parts(row.get("dbXrefs", ""))):
        prefix, _, local = other.partition(":")
        if local.lower().startswith(f"{prefix.lower()}:"):  # HGNC:HGNC:5
            prefix, _, local = local.partition(":")
        yield Xref(id_, f"{_PREFIXES.get(prefix.upper(), prefix)}:{local}")


def _of_hgnc(row: Mapping[str, str], version: str) -> Iterator[Record]:
    id_, label = row["hgnc_id"], row["symbol"]
    types = tuple(filter(None, (row.get("locus_group", ""), f"NCBITaxon:{_HUMAN}")))
    withdrawn = row["status"].lower() != "approved"
    yield Concept(id_, label, types=types, source="HGNC", version=version, deprecated=withdrawn)
    yield from _names(id_, label, row, _HGNC_NAMES)
    for column, prefix in _HGNC_XREFS.items():
        for other in dict.fromkeys(filled_parts(row.get(column, ""))):
            yield Xref(id_, f"{prefix}:{other}")


def _names(
    id_: str, label: str, row: Mapping[str, str], columns: Mapping[str, str]
) -> Iterator[Name]:
    names: dict[str, str] = {}
    for column, scope in columns.items():
        for text in filled_parts(row.get(column, "")):
            names.setdefault(text, scope)
    names.pop(label, None)
    yield from (Name(text, id_, scope) for text, scope in names.items())
