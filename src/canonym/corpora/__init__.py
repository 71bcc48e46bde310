"""Corpora: one reader per format of annotated text, and tables of mentions."""

from __future__ import annotations

from canonym.corpora.delimited import MentionTable, TableRow, parse_table, read_table
from canonym.corpora.jsonl import read_jsonl_documents, read_jsonl_mentions
from canonym.corpora.pubtator import read_pubtator, write_pubtator

__all__ = [
    "MentionTable",
    "TableRow",
    "parse_table",
    "read_jsonl_documents",
    "read_jsonl_mentions",
    "read_pubtator",
    "read_table",
    "write_pubtator",
]
