"""Linking columns of large tables: one Arrow function that every engine drives."""

from __future__ import annotations

from canonym.bulk.batch import link_batch, link_schema, link_table

__all__ = ["link_batch", "link_schema", "link_table"]
