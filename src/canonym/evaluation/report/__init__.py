"""Reports of an evaluation: as one HTML page, as tables for a terminal, as JSON.

`summarise` gathers the content of a report; `make_page` and `tables` only lay it out.
"""

from __future__ import annotations

from canonym.evaluation.report.page import make_page, write_page
from canonym.evaluation.report.summary import summarise
from canonym.evaluation.report.terminal import tables

__all__ = ["make_page", "summarise", "tables", "write_page"]
