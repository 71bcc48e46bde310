"""The vocabularies of the Comparative Toxicogenomics Database: diseases and chemicals."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import parsedate
from pathlib import Path

from canonym.io.streams import TextStream, open_text
from canonym.io.tables import column_places, filled_parts, full_rows, split_rows
from canonym.terminology.readers.omim import title_names
from canonym.types import Concept, Name, Record, Relation, Xref

_KINDS = ("Disease", "Chemical")


def read_ctd(path: str | Path, *, version: str | None = None) -> Iterator[Record]:
    """Read ``CTD_diseases`` or ``CTD_chemicals``, as TSV or CSV.

    Columns are found by the names in the ``# Fields:`` line, so that files of all years are read.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed.
    version : str, optional
        The version to record; by default the day in the ``# Report created:`` line.

    Yields
    ------
    Concept, Name, Relation or Xref
        Row by row, the concept first.

    Raises
    ------
    ReadError
        If the ``# Fields:`` line or a column is missing, or a row has another number of cells.

    Notes
    -----
    An ``AltDiseaseIDs`` entry of MeSH or OMIM is another id of the same concept; one of the Disease
    Ontology (``DO:DOID:1287``) is a cross-reference. Slim mappings of diseases are their types. A
    title that OMIM includes in an entry (``SMALL TOE SYNDROME, INCLUDED``) means another entity; it
    is a ``narrow`` name without the word.

    References
    ----------
    Davis AP et al. Comparative Toxicogenomics Database. http://ctdbase.org/downloads/
    """
    with open_text(path) as stream:
        names, delimiter, created = _header(stream)
        kind = next((kind for kind in _KINDS if f"{kind}Name" in names), None)
        if kind is None:
            raise stream.error(
                f"the fields {', '.join(names)[:80]!r} are not those of CTD_diseases or "
                "CTD_chemicals"
            )
        column_places(stream, names, [f"{kind}ID", "Synonyms", "ParentIDs"])
        split = split_rows(stream, delimiter=delimiter, quoted=delimiter == ",")
        # The header ends with an empty comment.
        rows = (cells for cells in split if len(cells) > 1 or cells[0].strip("# "))
        for cells in full_rows(stream, len(names), rows):
            row = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
            yield from _row(stream, kind, row, created if version is None else version)


def _header(stream: TextStream) -> tuple[list[str], str, str]:
    """Names of the columns, what separates them, and the day of the report."""
    created, announced = "", False
    for line in stream:
        text = line.strip()
        bare = text.lstrip("# ")
        if bare.startswith("Report created:") and (day := parsedate(bare.partition(":")[2])):
            created = "{}-{:02}-{:02}".format(*day)
        if announced or bare.startswith(("DiseaseName", "ChemicalName")):
            delimiter = "\t" if "\t" in bare else ","
            return [name.strip() for name in bare.split(delimiter)], delimiter, created
        announced = text.lower() == "# fields:"
        if text and not text.startswith("#"):
            break
    raise stream.error("no '# Fields:' line before the rows: a CTD file was expected")


def _row(stream: TextStream, kind: str, row: dict[str, str], version: str) -> Iterator[Record]:
    id_, label = row[f"{kind}ID"], row[f"{kind}Name"]
    if not id_:
        raise stream.error(f"the {kind}ID of {label!r} is empty")
    types = tuple(dict.fromkeys(filled_parts(row.get("SlimMappings", ""))))
    yield Concept(id_, label, row.get("Definition", ""), types, "CTD", version)
    columns = ("Synonyms", "MESHSynonyms", "CTDCuratedSynonyms")
    written = [filled_parts(row.get(column, "")) for column in columns]
    synonyms = [text for texts in written for text in texts if text != label]
    of_omim = kind == "Disease"
    names = title_names(synonyms, label) if of_omim else dict.fromkeys(synonyms, "exact")
    for text, scope in names.items():
        yield Name(text, id_, scope)
    for parent in dict.fromkeys(filled_parts(row.get("ParentIDs", ""))):
        yield Relation(id_, "is_a", parent)
    for other in dict.fromkeys(filled_parts(row.get("AltDiseaseIDs", ""))):
        if other.startswith("DO:"):
            yield Xref(id_, other.removeprefix("DO:"))
        else:
            yield Xref(id_, other, "alternative")
    for column, prefix in (
        ("CasRN", "CAS"),
        ("PubChemCID", "PUBCHEM.COMPOUND"),
        ("DTXSID", "COMPTOX"),
        ("InChIKey", "INCHIKEY"),
        ("DrugBankIDs", "DRUGBANK"),
    ):
        for other in dict.fromkeys(filled_parts(row.get(column, ""))):
            # Some columns of some years carry the prefix already.
            yield Xref(id_, f"{prefix}:{other.split(':', 1)[-1]}")
