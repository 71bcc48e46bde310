"""Linking columns of large tables: one Arrow function that every engine drives."""

from __future__ import annotations

from canonym.bulk.batch import link_batch, link_schema, link_table
from canonym.bulk.runner import Failure, Summary, link_files

__all__ = ["Failure", "Summary", "link_batch", "link_files", "link_schema", "link_table"]
