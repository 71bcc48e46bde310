"""Decisions and mappings, exchanged with other programs: SSSOM, Usagi, OMOP and FHIR.

A mapping is a text, or a concept, and the concept that it means. What may be accepted unseen, what
people decided, and the concepts that two terminologies share stand here too.
"""

from __future__ import annotations

from canonym.exchange.fhir import ConceptMapWriter
from canonym.exchange.mappings import Origin
from canonym.exchange.omop import SourceMapWriter, UsagiWriter
from canonym.exchange.sssom import SssomWriter

__all__ = ["ConceptMapWriter", "Origin", "SourceMapWriter", "SssomWriter", "UsagiWriter"]
