"""Candidates of a link in a better order: as annotated mentions taught it, or by all their names.

See `canonym.candidate_features` for what tells candidates apart, and
`canonym.ranking.rerank.Reranker` for the model.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.candidate_features import COMPANY, feature_names, features_of, marginals_of
from canonym.closeness import MARGINAL
from canonym.decisions import Decisions
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.files import write_file
from canonym.ranking.pooling import COSINE_SCALE
from canonym.ranking.rerank import Curve, Reranker
from canonym.types import Link

__all__ = ["COLLECTIVE", "POOL", "RERANKER", "Reranking"]

RERANKER = "reranker.json"
"""Name of the file in the folder of an index."""

COLLECTIVE = "collective"
"""What the order by all names and by the other mentions of a document is called."""

POOL = 20
"""Candidates that are put in a new order."""

SIMILARITY = "similarity"
"""What a candidate's score was before, among its parts."""

_FORMAT = 5
# The features of what is fitted to nothing, by the name of the order.
_BY_NAMES = {MARGINAL: (MARGINAL,), COLLECTIVE: (MARGINAL, COMPANY)}
_MANY = 20.0  # log(1 + n) of more mentions than any document has
_FOUND = 1000.0  # worth of a candidate that was found by the mention itself: all of it


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

    @property
    def by_names(self) -> bool:
        """Whether it is what `unfitted` returns."""
        return self.model.names in _BY_NAMES.values()

    def facts(self) -> dict[str, Any]:
        """Return which order it is, or what it was fitted to, for a description of the index."""
        unfitted = [order for order, names in _BY_NAMES.items() if names == self.model.names]
        if unfitted:
            return {"order": unfitted[0]}
        return {
            "features": len(self.model.curves),
            "decisions": sum(sum(of.values()) for of in self.decisions.pairs.values()),
        }

    def features(self, link: Link) -> npt.NDArray[np.float64]:
        """Return the features of the candidates of a link."""
        if self.by_names:
            company = [one.near.get(COMPANY, math.nan) for one in link.candidates]
            columns = {MARGINAL: marginals_of(link), COMPANY: np.array(company, dtype=np.float64)}
            return np.stack([columns[name] for name in self.model.names], axis=1)
        return features_of(link, self.decisions, self.encoders)

    @classmethod
    def unfitted(cls, order: str, encoders: Sequence[str]) -> Reranking:
        """Return what orders candidates by all their names together, and was fitted to nothing.

        Parameters
        ----------
        order : str
            ``"marginal"``: shares are marginal probabilities, those of BioSyn among the candidates
            (`canonym.ranking.pooling.marginal_score`). ``"collective"``: the same times 1 + n for
            the n other mentions of the document that have the concept first (`canonym.company`).
            What is found by the mention itself stays first.
        encoders : sequence of str
            The scorers of the index.
        """
        curves = {
            MARGINAL: Curve(MARGINAL, (-2.0, 2.0), (-2 * COSINE_SCALE, 2 * COSINE_SCALE), _FOUND),
            COMPANY: Curve(COMPANY, (0.0, _MANY), (0.0, _MANY), 0.0),
        }
        chosen = [curves[name] for name in _BY_NAMES[order]]
        return cls(Reranker(chosen), Decisions(), tuple(encoders))

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
        names = self.model.names if self.by_names else feature_names(encoders)
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
        if written != (_FORMAT, tuple(encoders)) or model.names not in {
            feature_names(encoders),
            *_BY_NAMES.values(),
        }:
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
