"""Links written out: TSV, CSV, JSON lines and Parquet.

In TSV, CSV and Parquet a row is a candidate. A composite mention has rows for each of its parts,
and a mention for which no concept fits has one row without an id. `COLUMNS` names the columns. In
JSON lines an object is a mention, with its candidates best first. `guarded` keeps spreadsheets from
taking a text for a formula. `canonym.exchange` writes mappings.
"""

from __future__ import annotations

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

__all__ = [
    "COLUMNS",
    "FORMATS",
    "DelimitedWriter",
    "JsonLinesWriter",
    "LinkWriter",
    "ParquetWriter",
    "format_of",
    "guarded",
    "link_to_json",
    "link_to_rows",
    "links_to_arrow",
    "links_to_rows",
    "write_links",
]
