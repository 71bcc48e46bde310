"""Outcomes of linking: candidates, and the decision for a mention."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from canonym.types.annotations import Mention, Step
from canonym.types.html import html_table

__all__ = [
    "SIMILARITIES",
    "Against",
    "Candidate",
    "ConceptMapping",
    "Contradiction",
    "Link",
    "links_html",
]

SIMILARITIES: tuple[str, ...] = ("cosine", "inner", "euclidean")
"""How the vectors of an encoder are compared: by cosine, inner product or Euclidean distance."""
_HEAD = ("mention", "id", "label", "score", "matched name")
_EDGES = ",;:.()[]-\u2013"  # signs at the ends of a word that say nothing


class Contradiction(NamedTuple):
    """What a mention says and a name excludes.

    Parameters
    ----------
    kind : str
        ``"number"``, ``"letter"``, ``"side"``, ``"opposite"``, ``"prefix"``, ``"sign"``,
        ``"comparison"``, ``"prime"``, ``"percent"``, ``"ratio"``, ``"negation"``, ``"order"``,
        ``"species"``, ``"specimen"``, ``"karyotype"``, ``"case"`` or ``"head"``.
    mention, name : str
        The words or signs of both; empty where one says nothing.
    """

    kind: str
    mention: str
    name: str


class Against(NamedTuple):
    """What speaks against a candidate: its matched name beside the mention.

    Parameters
    ----------
    left_over : tuple of str
        Words of the mention, in normal form, that nothing in the name accounts for.
    missing : tuple of str
        Words of the name that the mention lacks.
    contradictions : tuple of Contradiction
        What excludes each other. A candidate with any is never an exact match.
    relation : str
        What the concept can be to the mention: ``"equal"``, where all words are accounted for;
        ``"broader"`` or ``"narrower"``, where only one of them has more; ``"close"``, where both
        have words of their own; ``"related"`` with a contradiction.
    """

    left_over: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    relation: str = "equal"

    @property
    def reason(self) -> str:
        """What the name contradicts, in words; empty where nothing does."""
        return "; ".join(
            f"contradicts the mention by {kind}: {mention!r}, not {name!r}"
            for kind, mention, name in self.contradictions
        )

    @classmethod
    def from_dict(cls, whole: dict[str, Any]) -> Against:
        """Return what `to_dict` returned as it was."""
        return cls(
            tuple(whole["left_over"]),
            tuple(whole["missing"]),
            tuple(Contradiction(**fields) for fields in whole["contradictions"]),
            whole["relation"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists, ready for JSON."""
        return {
            "left_over": list(self.left_over),
            "missing": list(self.missing),
            "contradictions": [contradiction._asdict() for contradiction in self.contradictions],
            "relation": self.relation,
        }


_NOTHING = Against()


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
        The name of the concept that matched best; its label where the mean of its names did.
    scope : str
        The scope of that name.
    types : tuple of str
        Semantic types of the concept.
    sieve : str
        What found it: ``"id"`` where the mention is an id of the concept, a sieve (``"verbatim"``,
        ``"normalised"``, ``"reordered"``, ``"bare"``), ``"search"``, or the step of a search that
        looks at something else than the terminology's names (``"D-T"``, see
        `canonym.linking.settings`).
    parts : dict of str to float
        What each scorer gave this concept's best name, by encoder.
    context : dict of str to float
        What each kind of evidence around the mention adds, where several concepts have the name and
        that decided between them; see `canonym.linking.homonyms.Homonyms`. ``kin`` is 1 for a
        concept above or below the best one that has its name too, and is no rival of it.
    against : Against
        What speaks against it, see `canonym.mentions.contrasts`. Of what a search found, the first
        and its near rivals have it, and all where one of these contradicts.
    """

    id: str
    label: str
    score: float
    name: str
    scope: str = "exact"
    types: tuple[str, ...] = ()
    sieve: str = "search"
    parts: dict[str, float] = field(default_factory=dict)
    context: dict[str, float] = field(default_factory=dict)
    against: Against = _NOTHING

    @classmethod
    def from_dict(cls, whole: dict[str, Any]) -> Candidate:
        """Return a candidate from what `to_dict` returned."""
        against = whole.get("against", {})
        return cls(
            **{
                **whole,
                "types": tuple(whole["types"]),
                "against": Against.from_dict(against) if against else _NOTHING,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the candidate as a plain dict, ready for JSON, without what is not known of it."""
        whole: dict[str, Any] = {
            "id": self.id,
            "label": self.label,
            "score": self.score,
            "name": self.name,
            "scope": self.scope,
            "types": self.types,
            "sieve": self.sieve,
            "parts": dict(self.parts),
        }
        if self.context:
            whole["context"] = dict(self.context)
        if self.against != _NOTHING:
            whole["against"] = self.against.to_dict()
        return whole


@dataclass(frozen=True, slots=True)
class Link:
    """The decision for one mention.

    Parameters
    ----------
    mention : Mention
        The mention that was linked.
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
    confidence : float, optional
        The probability that the best candidate is right, where the linker has learned to tell; of a
        composite mention that of its least sure part.
    status : tuple of str
        What the mention says of itself ("no fever", "h/o asthma", "r/o PE"), or the flags that it
        came with, of `canonym.mentions.flags.FLAGS`: ``"negated"``, ``"historical"``,
        ``"hypothetical"``, ``"family"``, ``"uncertain"``. The candidates are those of the mention
        without these words. Empty where a name says it itself ("Family history of gout"). Of a
        composite mention all that its parts have.
    book : canonym.rules.Book, optional
        The rules of the linker, where an institution has its own; explanations name them.
    """

    mention: Mention
    candidates: tuple[Candidate, ...] = ()
    nil: bool = False
    reason: str = ""
    searched: str = ""
    steps: tuple[Step, ...] = ()
    parts: tuple[Link, ...] = ()
    confidence: float | None = None
    status: tuple[str, ...] = ()
    book: Any = field(default=None, compare=False, repr=False)

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

    @property
    def left_over(self) -> tuple[str, ...]:
        """Words of the mention that its concept does not account for; none where it has none.

        A composite mention has the texts of the parts without a concept among them.
        """
        if self.parts:
            texts = ((part.mention.text,) if part.nil else part.left_over for part in self.parts)
            return tuple(dict.fromkeys(word for words in texts for word in words if self.ids))
        if self.id is None:
            return ()
        words = list(self.candidates[0].against.left_over)
        for step in reversed([step for step in self.steps if step.name == "broader"]):
            after = {"", *(word.strip(_EDGES) for word in step.after.lower().split())}
            before = (word.strip(_EDGES) for word in step.before.split())
            words[:0] = [word for word in before if word.lower() not in after]
        return tuple(dict.fromkeys(words))

    def explain(self) -> list[str]:
        """Say why the mention was linked so, a fact a line: ``print(*link.explain(), sep="\\n")``.

        It is what ``canonym link --explain`` prints.
        """
        # Nouns know nothing of the rooms above them: what explains is asked for when it is needed.
        explanation = importlib.import_module("canonym.linking.explanation")
        lines: list[str] = explanation.explain(self)
        return lines

    def __str__(self) -> str:
        if self.parts:
            answer = ", ".join(self.ids) or "NIL"
        elif self.id is None:
            answer = f"NIL ({self.reason})" if self.reason else "NIL"
        else:
            answer = f"{self.id} ({self.label})" if self.label else self.id
        return f"{self.mention.text!r} -> {answer}"

    def __repr__(self) -> str:
        score = "" if self.id is None else f", score {self.score:.3f}"
        return f"<Link {self}{score}>"

    def _repr_html_(self) -> str:
        return links_html([self])

    def _cells(self) -> tuple[str, ...]:
        """Cells of a table, below `_HEAD`."""
        if self.parts:
            return self.mention.text, ", ".join(self.ids) or "NIL", "", "", ""
        if self.id is None:
            return self.mention.text, "NIL", self.reason, "", ""
        best = self.candidates[0]
        return self.mention.text, best.id, best.label, f"{best.score:.3f}", best.name

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
            "status": list(self.status),
            "searched": self.searched,
            "confidence": self.confidence,
            "steps": [step._asdict() for step in self.steps],
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "parts": [part.to_dict() for part in self.parts],
        }


class ConceptMapping(NamedTuple):
    """Two concepts of two terminologies that are the same.

    Parameters
    ----------
    left, right : str
        Their ids.
    confidence : float
        The probability that they are the same.
    score : float
        The largest similarity of their names.
    how : str
        ``"name"`` where they share one, else ``"xref"`` or ``"similarity"``.
    name : str
        The name that they share, as the left side writes it, may be empty.
    relation : str
        What the right concept is to the left one: ``"equal"``, ``"close"``, ``"broader"``,
        ``"narrower"`` or ``"related"``.
    """

    left: str
    right: str
    confidence: float
    score: float
    how: str
    name: str = ""
    relation: str = "equal"


def links_html(links: Iterable[Link], *, below: str = "") -> str:
    """Return an HTML table of links, one a row, with a line of text below it."""
    return html_table([link._cells() for link in links], _HEAD, below=below)
