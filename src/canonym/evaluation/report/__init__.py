"""Reports of an evaluation: one content, laid out as a page, as tables of a terminal, as JSON.

`summarise` gathers what a report shows, `make_page` and `tables` lay it out and decide nothing.
"""

from __future__ import annotations

from canonym.evaluation.error_kinds import (
    LabelledConcept,
    WrongAnswer,
    find_wrong_answers,
)
from canonym.evaluation.report.page import make_page, write_page
from canonym.evaluation.report.summary import ErrorCount, LeftOut, Summary, summarise
from canonym.evaluation.report.terminal import PlainTable, tables

__all__ = [
    "ErrorCount",
    "LabelledConcept",
    "LeftOut",
    "PlainTable",
    "Summary",
    "WrongAnswer",
    "find_wrong_answers",
    "make_page",
    "summarise",
    "tables",
    "write_page",
]
