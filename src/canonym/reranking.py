"""Candidates of a link in a better order, as annotated mentions taught it.

The features are what is at hand anyway: what each scorer said, how name and label look beside the
mention, what kind of name it is, and what annotators decided before. See
`canonym.ranking.rerank.Reranker` for the model.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.files import write_file
from canonym.ranking.overlap import Overlap, overlap
from canonym.ranking.rerank import Curve, Reranker
from canonym.settings import SIEVES
from canonym.text import STRONG, normalise
from canonym.types import SCOPES, Candidate, Link

__all__ = ["POOL", "RERANKER", "Decisions", "Reranking", "feature_names", "features_of"]

RERANKER = "reranker.json"
"""Name of the file in the folder of an index."""

POOL = 20
"""Candidates that are put in a new order."""

SIMILARITY = "similarity"
"""What a candidate's score was before, among its parts."""

_FORMAT = 1
_SIEVES = {sieve.name: float(len(SIEVES) - place) for place, sieve in enumerate(SIEVES)}
_COUNTS = ("decisions", "share of decisions", "decisions for the concept")


@dataclass
class Decisions:
    """How often annotators gave a text a concept.

    Attributes
    ----------
    pairs : dict of str to Counter of str
        Ids by normal form of the mention.
    concepts : Counter of str
        Ids.
    """

    pairs: dict[str, Counter[str]] = field(default_factory=dict)
    concepts: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, ids: Iterable[str], times: int = 1) -> None:
        """Count a decision; a negative number takes it back."""
        of = self.pairs.setdefault(normalise(text, STRONG), Counter())
        for id_ in ids:
            of[id_] += times
            self.concepts[id_] += times

    def look(self, text: str, id: str) -> tuple[float, float, float]:
        """Return what is known of a text in normal form and a concept.

        Returns
        -------
        tuple of float
            ``log(1 + n)`` of the decisions for the two; their share of the decisions for the text,
            NaN where there are none; ``log(1 + n)`` of the decisions for the concept.
        """
        of = self.pairs.get(text, _NONE)
        whole = sum(of.values())
        share = of[id] / whole if whole else math.nan
        return math.log1p(of[id]), share, math.log1p(self.concepts[id])


_NONE: Counter[str] = Counter()


def feature_names(encoders: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the features that `features_of` finds, in their order."""
    scorers = (f"{name}{rest}" for name in encoders for rest in ("", " behind the best"))
    return (
        *("score", "score behind the best", "place", "sieve", "scope", "name is the label"),
        *(f"{part} of the name" for part in Overlap._fields),
        *(f"{part} of the label" for part in Overlap._fields),
        *("concepts of that name", *_COUNTS, *scorers),
    )


def features_of(
    searched: str, candidates: Sequence[Candidate], decisions: Decisions, encoders: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return what tells candidates apart.

    Parameters
    ----------
    searched : str
        The string that was looked up.
    candidates : sequence of Candidate
        Best first.
    decisions : Decisions
        What annotators decided before, this mention left out.
    encoders : sequence of str
        The scorers, whose parts a candidate has.

    Returns
    -------
    ndarray, shape (n, len(feature_names(encoders))), float64
        NaN where something is not known.
    """
    mention = normalise(searched, STRONG)
    names = [_normal(one.name) for one in candidates]
    owners = Counter(names)
    best = max((one.score for one in candidates), default=0.0)
    most = {
        name: max((one.parts.get(name, -math.inf) for one in candidates), default=-math.inf)
        for name in encoders
    }
    rows = []
    for place, (one, name) in enumerate(zip(candidates, names, strict=True)):
        label = _normal(one.label)
        as_name = overlap(mention, name)
        scorers: list[float] = []
        for encoder in encoders:
            part = one.parts.get(encoder, math.nan)
            scorers += (part, part - most[encoder])
        rows.append(
            [
                one.score,
                one.score - best,
                math.log1p(place),
                _SIEVES.get(one.sieve, 0.0),
                float(SCOPES.index(one.scope)),
                float(name == label),
                *as_name,
                *(as_name if name == label else overlap(mention, label)),
                math.log(owners[name]),
                *decisions.look(mention, one.id),
                *scorers,
            ]
        )
    return np.array(rows, dtype=np.float64).reshape(len(candidates), len(feature_names(encoders)))


@functools.lru_cache(maxsize=1 << 15)  # the same names are candidates again and again
def _normal(text: str) -> str:
    return normalise(text, STRONG)


@dataclass(frozen=True)
class Reranking:
    """A fitted re-ranker with what it knows of earlier decisions.

    Parameters
    ----------
    model : Reranker
        Of the features.
    decisions : Decisions
        Those it was fitted to.
    encoders : tuple of str
        The scorers of the index.
    """

    model: Reranker
    decisions: Decisions
    encoders: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        """Return what it was fitted to, for a description of the index."""
        return {
            "features": len(self.model.curves),
            "decisions": sum(sum(of.values()) for of in self.decisions.pairs.values()),
        }

    def features(self, link: Link) -> npt.NDArray[np.float64]:
        """Return the features of the candidates of a link."""
        return features_of(link.searched, link.candidates, self.decisions, self.encoders)

    def apply(self, link: Link, k: int) -> Link:
        """Put the candidates of a link, or those of its parts, in a new order.

        Parameters
        ----------
        link : Link
            With `POOL` candidates, where there are so many.
        k : int
            Candidates kept.

        Returns
        -------
        Link
            Scores are shares of the candidates, which sum to 1; what they were before stands among
            the parts, as ``"similarity"``. Equal shares keep their order.
        """
        if link.parts:
            return replace(link, parts=tuple(self.apply(part, k) for part in link.parts))
        if not link.candidates:
            return link
        worth = self.model.worth(self.features(link))
        scores = worth.sum(axis=1)
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        order = np.argsort(-shares, kind="stable").tolist()
        ranked = []
        for rank, place in enumerate(order[:k]):
            one = link.candidates[place]
            ranked.append(
                replace(
                    one,
                    score=float(shares[place]),
                    parts={SIMILARITY: one.score, **one.parts},
                    worth=self.model.named(worth[place]) if rank < 2 else {},
                )
            )
        return replace(link, candidates=tuple(ranked))

    def save(self, path: Path) -> None:
        """Write a JSON file that appears whole or not at all."""
        content = {
            "format": _FORMAT,
            "encoders": self.encoders,
            "curves": [curve._asdict() for curve in self.model.curves],
            "decisions": {
                text: {id_: n for id_, n in sorted(of.items()) if n}
                for text, of in sorted(self.decisions.pairs.items())
                if any(of.values())
            },
        }
        with write_file(path) as partial:
            text = json.dumps(content, ensure_ascii=False)
            partial.write_text(text + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path, *, encoders: Sequence[str]) -> Reranking | None:
        """Read what `save` wrote; None where there is nothing.

        Raises
        ------
        ReadError
            If the file is damaged.
        Mismatch
            If it was written by another version of canonym, or for other encoders.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            written = content["format"], tuple(content["encoders"])
            model = Reranker([_curve(curve) for curve in content["curves"]])
            decisions = Decisions()
            for text, of in content["decisions"].items():
                decisions.pairs[text] = Counter({str(id_): int(n) for id_, n in of.items()})
                decisions.concepts.update(decisions.pairs[text])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, InvalidInput) as error:
            raise ReadError(
                path, f"is damaged ({error}); fit the re-ranker again, or remove the file"
            ) from error
        if written != (_FORMAT, tuple(encoders)) or model.names != feature_names(encoders):
            raise Mismatch(
                f"{path} was written by another version of canonym, or for other encoders; fit "
                "the re-ranker again, or remove the file"
            )
        return cls(model, decisions, tuple(encoders))


def _curve(given: dict[str, Any]) -> Curve:
    return Curve(
        str(given["name"]),
        tuple(map(float, given["knots"])),
        tuple(map(float, given["values"])),
        float(given["missing"]),
    )
