"""Candidates of a link in a better order, as annotated mentions taught it.

The features are what is at hand anyway: what each scorer said, how name and label look beside the
mention, what kind of name it is, and what annotators decided before. See
`canonym.ranking.rerank.Reranker` for the model.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.closeness import DEPTH, MEAN, SECOND, WIDTH
from canonym.decisions import Decisions
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.files import write_file
from canonym.ranking.overlap import Overlap, overlap, type_words
from canonym.ranking.rerank import Curve, Reranker
from canonym.settings import SIEVES
from canonym.text import STRONG, normalise
from canonym.types import SCOPES, Candidate, Link

__all__ = ["POOL", "RERANKER", "Reranking", "feature_names", "features_of"]

RERANKER = "reranker.json"
"""Name of the file in the folder of an index."""

POOL = 20
"""Candidates that are put in a new order."""

SIMILARITY = "similarity"
"""What a candidate's score was before, among its parts."""

_FORMAT = 3
_SIEVES = {sieve.name: float(len(SIEVES) - place) for place, sieve in enumerate(SIEVES)}
_COUNTS = (
    "decisions",
    "share of decisions",
    "decisions for the concept",
    "decisions for the name",
    "share of decisions with its prefix",
)
_NAMES = ("names", "second name", "second name behind the best", "second name behind the first")
_KINDS = ("depth", "depth below the first", "type is the mention's")
_SCORER = ("", " behind the best", " mean", " mean behind the best")


def feature_names(encoders: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the features that `features_of` finds, in their order."""
    scorers = (f"{name}{rest}" for name in encoders for rest in _SCORER)
    return (
        *("score", "score behind the best", "place", "sieve", "scope"),
        *("name is the label", "name is the mention"),
        *(f"{part} of the name" for part in Overlap._fields),
        *(f"{part} of the label" for part in Overlap._fields),
        *("concepts of that name", *_COUNTS, *_NAMES, *_KINDS, *scorers),
    )


def features_of(
    link: Link, decisions: Decisions, encoders: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return what tells candidates apart.

    Parameters
    ----------
    link : Link
        Undivided, its candidates with `Candidate.near`.
    decisions : Decisions
        What annotators decided before, this mention left out.
    encoders : sequence of str
        The scorers, whose parts a candidate has.

    Returns
    -------
    ndarray, shape (n, len(feature_names(encoders))), float64
        NaN where something is not known.
    """
    mention, candidates = normalise(link.searched, STRONG), link.candidates
    called = type_words((link.mention.type,))
    names = [_normal(one.name) for one in candidates]
    owners = Counter(names)
    best = max((one.score for one in candidates), default=0.0)
    said = [_said(one, encoders) for one in candidates]
    most = [_highest(row[column] for row in said) for column in range(2 * len(encoders))]
    seconds = [one.near.get(SECOND, math.nan) for one in candidates]
    highest = _highest(seconds)
    depths = [one.near.get(DEPTH, math.nan) for one in candidates]
    rows = []
    for place, (one, name) in enumerate(zip(candidates, names, strict=True)):
        label = _normal(one.label)
        as_name = overlap(mention, name)
        scorers: list[float] = []
        for column, value in enumerate(said[place]):
            scorers += (value, value - most[column])
        rows.append(
            [
                one.score,
                one.score - best,
                math.log1p(place),
                _SIEVES.get(one.sieve, 0.0),
                float(SCOPES.index(one.scope)),
                float(name == label),
                float(name == mention),
                *as_name,
                *(as_name if name == label else overlap(mention, label)),
                math.log(owners[name]),
                *decisions.look(mention, one.id, name),
                math.log(one.near[WIDTH]) if WIDTH in one.near else math.nan,
                seconds[place],
                seconds[place] - highest,
                seconds[place] - one.score,
                depths[place],
                depths[place] - depths[0],
                float(bool(called & type_words(one.types))) if called and one.types else math.nan,
                *scorers,
            ]
        )
    return np.array(rows, dtype=np.float64).reshape(len(candidates), len(feature_names(encoders)))


def _highest(values: Iterable[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _said(one: Candidate, encoders: Sequence[str]) -> list[float]:
    """Return, by encoder, the score of a concept's best name and the mean of its names."""
    found = []
    for name in encoders:
        found.append(one.near.get(name, one.parts.get(name, math.nan)))
        found.append(one.near.get(name + MEAN, math.nan))
    return found


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
        return features_of(link, self.decisions, self.encoders)

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
                    near={},
                )
            )
        return replace(link, candidates=tuple(ranked))

    @property
    def digest(self) -> str:
        """SHA-256 of the curves."""
        content = json.dumps([curve._asdict() for curve in self.model.curves])
        return hashlib.sha256(content.encode("ascii")).hexdigest()

    def renamed(self, encoders: Sequence[str]) -> Reranking:
        """Return the same for encoders of other names, in the order of the old ones.

        Raises
        ------
        InvalidInput
            If there are not as many.
        """
        if len(encoders) != len(self.encoders):
            raise InvalidInput(
                f"{len(encoders)} names were given for {len(self.encoders)} encoders; one for each "
                "is expected"
            )
        names = feature_names(encoders)
        curves = [c._replace(name=name) for c, name in zip(self.model.curves, names, strict=True)]
        return Reranking(Reranker(curves), self.decisions, tuple(encoders))

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
                decisions.count(text, {str(id_): int(n) for id_, n in of.items()})
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
