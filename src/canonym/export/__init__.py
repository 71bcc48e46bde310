"""Links written out: TSV, CSV, JSON lines, Parquet; and as mappings: SSSOM, Usagi, OMOP, FHIR.

In TSV, CSV and Parquet a row is a candidate. A composite mention has rows for each of its parts,
and a mention for which no concept fits has one row without an id. `COLUMNS` names the columns. In
JSON lines an object is a mention, with its candidates best first. `guarded` keeps spreadsheets from
taking a text for a formula.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from canonym.export.arrow import ParquetWriter, links_to_arrow
from canonym.export.rows import COLUMNS, guarded, link_to_json, link_to_rows, links_to_rows
from canonym.export.writers import (
    FORMATS,
    DelimitedWriter,
    JsonLinesWriter,
    LinkWriter,
    format_of,
    write_links,
)

if TYPE_CHECKING:
    from canonym.export.fhir import ConceptMapWriter
    from canonym.export.mappings import Origin
    from canonym.export.omop import SourceMapWriter, UsagiWriter
    from canonym.export.sssom import SssomWriter

__all__ = [
    "COLUMNS",
    "FORMATS",
    "ConceptMapWriter",
    "DelimitedWriter",
    "JsonLinesWriter",
    "LinkWriter",
    "Origin",
    "ParquetWriter",
    "SourceMapWriter",
    "SssomWriter",
    "UsagiWriter",
    "format_of",
    "guarded",
    "link_to_json",
    "link_to_rows",
    "links_to_arrow",
    "links_to_rows",
    "write_links",
]

_MAPPINGS = {
    "ConceptMapWriter": "fhir",
    "Origin": "mappings",
    "SourceMapWriter": "omop",
    "SssomWriter": "sssom",
    "UsagiWriter": "omop",
}


def __getattr__(name: str) -> Any:
    # A table of links needs none of the formats of mappings.
    if name not in _MAPPINGS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MAPPINGS[name]}"), name)
    globals()[name] = value
    return value
