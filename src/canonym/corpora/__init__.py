"""Corpora: one reader per format of annotated text, and tables of mentions."""

from __future__ import annotations

from canonym.corpora.bioc import read_bioc, write_bioc
from canonym.corpora.brat import brat_annotations, read_brat
from canonym.corpora.cadec import Fold, read_folds, read_mention_table
from canonym.corpora.census import Census, drop_duplicates, duplicates, take_census
from canonym.corpora.concept_files import mention_parts, read_concepts
from canonym.corpora.jsonl import (
    read_jsonl_documents,
    read_jsonl_mentions,
    write_jsonl_documents,
    write_jsonl_mentions,
)
from canonym.corpora.pubtator import read_pubtator, write_pubtator
from canonym.corpora.tables import (
    MentionTable,
    TableRow,
    parse_table,
    read_annotated_table,
    read_table,
)

__all__ = [
    "Census",
    "Fold",
    "MentionTable",
    "TableRow",
    "brat_annotations",
    "drop_duplicates",
    "duplicates",
    "mention_parts",
    "parse_table",
    "read_annotated_table",
    "read_bioc",
    "read_brat",
    "read_concepts",
    "read_folds",
    "read_jsonl_documents",
    "read_jsonl_mentions",
    "read_mention_table",
    "read_pubtator",
    "read_table",
    "take_census",
    "write_bioc",
    "write_jsonl_documents",
    "write_jsonl_mentions",
    "write_pubtator",
]
