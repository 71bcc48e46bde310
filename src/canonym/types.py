"""The nouns of canonym: what goes in, what comes out, and the arrays in between.

Inside the library names and concepts are rows of arrays; the objects of this module exist at the
edges, in what a reader yields and in what a caller receives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = [
    "SCOPES",
    "Candidate",
    "Concept",
    "Document",
    "Float32Array",
    "Hits",
    "Int32Array",
    "Link",
    "Mention",
    "Name",
    "Record",
    "Relation",
    "SparseVectors",
    "Step",
    "Xref",
]

Int32Array = npt.NDArray[np.int32]
Float32Array = npt.NDArray[np.float32]

SCOPES: tuple[str, ...] = ("label", "exact", "abbreviation", "narrow", "broad", "related")
"""Scopes of a name, from the most to the least trusted."""


# --- what a terminology is made of ----------------------------------------------------------------


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


# --- what is linked -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of text that names a concept.

    Parameters
    ----------
    text : str
        The span as it stands in the document.
    start, end : int, optional
        Half-open code-point offsets in the document's text.
    type : str
        The annotated entity type, may be empty.
    ids : tuple of str
        Gold ids as the corpus writes them, empty when unknown. How several ids combine is in
        `rule`.
    rule : str
        ``"any"``: each id alone is right; ``"all"``: the mention is composite and stands for every
        id.
    document_id : str
        The document the mention is from, may be empty.
    context : str
        Text around the mention where there is no document (a column of a table), may be empty.
    """

    text: str
    start: int | None = None
    end: int | None = None
    type: str = ""
    ids: tuple[str, ...] = ()
    rule: str = "any"
    document_id: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its mentions; offsets of the mentions point into `text`."""

    id: str
    text: str
    mentions: tuple[Mention, ...] = ()


class Step(NamedTuple):
    """One thing that preparation did to a mention: which step, what it saw, what it left."""

    name: str
    before: str
    after: str


# --- arrays in between ----------------------------------------------------------------------------


class Hits(NamedTuple):
    """Nearest rows of a batch of queries.

    ``rows`` is ``(n, k)`` int32 and ``scores`` ``(n, k)`` float32, falling; larger is better.
    Places that could not be filled hold row −1 and score −inf.
    """

    rows: Int32Array
    scores: Float32Array


class SparseVectors(NamedTuple):
    """A batch of sparse vectors in compressed rows.

    Vector ``i`` has the values ``data[indptr[i]:indptr[i + 1]]`` (float32) in the columns
    ``indices[indptr[i]:indptr[i + 1]]`` (int32, rising); ``n_columns`` is its width.
    """

    indptr: npt.NDArray[np.int64]
    indices: Int32Array
    data: Float32Array
    n_columns: int

    @property
    def n_rows(self) -> int:
        """Number of vectors."""
        return len(self.indptr) - 1


@runtime_checkable
class Encoder(Protocol):
    """Turns strings into vectors: one method, and a folder to be saved in."""

    def encode(self, names: Sequence[str]) -> Float32Array | SparseVectors:
        """Encode `names`: ``(n, d)`` float32, or `SparseVectors` of ``n`` rows."""
        ...


# --- what comes out -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept proposed for a mention.

    Parameters
    ----------
    id, label : str
        The concept and its preferred name.
    score : float
        Similarity; larger is better. 1.0 is a verbatim match.
    name : str
        The name of the concept that matched best.
    scope : str
        The scope of that name.
    types : tuple of str
        Semantic types of the concept.
    sieve : str
        Which sieve found it: ``"verbatim"``, ``"normalised"`` or ``"search"``.
    parts : dict of str to float
        What each scorer gave this concept's best name, by encoder.
    """

    id: str
    label: str
    score: float
    name: str
    scope: str = "exact"
    types: tuple[str, ...] = ()
    sieve: str = "search"
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """The decision for one mention.

    Parameters
    ----------
    mention : Mention
        What was asked.
    candidates : tuple of Candidate
        Ranked concepts, best first. Empty when nothing was found or the mention is composite.
    nil : bool
        Whether canonym decided that no concept fits.
    reason : str
        Why NIL, empty otherwise.
    searched : str
        The string that was looked up in the end.
    steps : tuple of Step
        What preparation did to get there.
    parts : tuple of Link
        For a composite mention, one link per part.
    """

    mention: Mention
    candidates: tuple[Candidate, ...] = ()
    nil: bool = False
    reason: str = ""
    searched: str = ""
    steps: tuple[Step, ...] = ()
    parts: tuple[Link, ...] = ()

    @property
    def id(self) -> str | None:
        """Id of the best candidate, or None for NIL and for composite mentions."""
        return None if self.nil or not self.candidates else self.candidates[0].id

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the decision: one, one per part of a composite mention, or none for NIL."""
        if self.parts:
            return tuple(id_ for part in self.parts for id_ in part.ids)
        return () if self.id is None else (self.id,)

    @property
    def label(self) -> str | None:
        """Preferred name of the best candidate, or None."""
        return None if self.nil or not self.candidates else self.candidates[0].label

    @property
    def score(self) -> float | None:
        """Score of the best candidate, or None when there is none."""
        return self.candidates[0].score if self.candidates else None

    @property
    def margin(self) -> float | None:
        """Score of the best candidate minus the runner-up's, or None without a runner-up."""
        if len(self.candidates) < 2:
            return None
        return self.candidates[0].score - self.candidates[1].score

    def to_dict(self) -> dict[str, Any]:
        """Return the link as plain dicts and lists, ready for JSON."""
        return {
            "mention": self.mention.text,
            "start": self.mention.start,
            "end": self.mention.end,
            "type": self.mention.type,
            "document": self.mention.document_id,
            "ids": list(self.ids),
            "nil": self.nil,
            "reason": self.reason,
            "searched": self.searched,
            "steps": [step._asdict() for step in self.steps],
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "parts": [part.to_dict() for part in self.parts],
        }
