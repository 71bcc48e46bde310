"""Records of a terminology: concepts, names, relations, cross-references."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SCOPES", "Concept", "Name", "Record", "Relation", "Xref"]


SCOPES: tuple[str, ...] = ("label", "exact", "abbreviation", "narrow", "broad", "related")
"""Scopes of a name, from the most to the least trusted."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One concept of a terminology.

    Parameters
    ----------
    id : str
        A CURIE where the source has a prefix (``"MESH:D009203"``).
    label : str
        The preferred name; it becomes a name row of scope ``label``. May be empty when the reader
        yields the label later as a `Name` of scope ``label``.
    definition : str
        Free text, may be empty.
    types : tuple of str
        Semantic types or categories of the source.
    source, version : str
        The source terminology (``"MeSH"``) and its version (``"2024"``).
    deprecated : bool
        Whether the source has retired the concept.
    replaced_by : tuple of str
        Ids that the source names as successors.
    """

    id: str
    label: str = ""
    definition: str = ""
    types: tuple[str, ...] = ()
    source: str = ""
    version: str = ""
    deprecated: bool = False
    replaced_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a concept.

    Parameters
    ----------
    text : str
        The name as the source writes it.
    concept_id : str
        The concept.
    scope : str
        One of `SCOPES`.
    language : str
        BCP 47 tag, ``"en"`` by default; empty when the source does not say.
    source : str
        The vocabulary that contributed the name (``SAB`` in UMLS), may be empty.
    """

    text: str
    concept_id: str
    scope: str = "exact"
    language: str = "en"
    source: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed edge ``head --relation--> tail``; ``is_a`` edges make the hierarchy."""

    head: str
    relation: str
    tail: str


@dataclass(frozen=True, slots=True)
class Xref:
    """Another identifier of a concept.

    ``kind="xref"`` points into another terminology; ``kind="alternative"`` is a further id of the
    same concept in the same terminology (OBO ``alt_id``, MEDIC's ``|``-joined ids): looking it up
    finds the concept.
    """

    concept_id: str
    target: str
    kind: str = "xref"


Record = Concept | Name | Relation | Xref
"""What every terminology reader yields."""
