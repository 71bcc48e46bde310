"""The judge: the probability that the best candidate of a link is right.

A sum of curves over what the link shows (`evidence_of`), which explains itself feature by feature.
Two come with canonym, taught by mentions and by questions of many terminologies
(``models/make_judge.py``), so that no index has to be. One knows the similarities of the encoders
that come with canonym. The other knows any encoder by how the similarities of a string's candidates
lie to one another, which means the same with all. `canonym.Linker.fit_confidence` adapts them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import open_sealed, sealed, write_file
from canonym.io.numbers import rounded, sigmoid
from canonym.linking.evidence import (
    BY_RELATIONS,
    BY_SIMILARITIES,
    EVIDENCE,
    RELATIONS,
    FloatArray,
    Vocabulary,
    conditions_of,
    evidence_of,
    signs_of,
)
from canonym.linking.hits import LOOKED_AT
from canonym.linking.settings import IDS
from canonym.ranking.additive_model import AdditiveModel, Curve, fit_additive_model
from canonym.types import Link

ANY = "any"
"""The feature that every link has and NIL lacks."""

JUDGE = "judge.json"
"""Name of the file in the folder of an index whose judge was adapted."""

NONSENSE = 0.15
"""A link that is less likely to be right is NIL, unless a caller wants another number.

Chosen on development parts by ``benchmarks/judge.py``: more would lose more right links than the
nonsense that it catches is worth."""

COMES_ALONG, MENTIONS = "many terminologies", "annotated mentions"
"""What a judge learned from."""

SHIPPED = Path(__file__).parents[1] / "models" / JUDGE
"""The judge that comes with canonym, of encoders that it knows."""

OF_ANY = SHIPPED.with_name("judge-of-any.json")
"""The judge that comes with canonym, of any encoders."""

_ENCODERS = (("default",), ("multilingual",), ("default", "multilingual"))  # which it knows
_FORMAT = 2
_FEATURE_DECIMALS = 5  # similarities are good to the sixth, and differ by processor beyond it
_LOGIT_DECIMALS = 6
_KNOTS, _SMOOTHNESS = 6, 1.0
_RIDGE, _RIDGE_TO_START = 0.1, 1.0  # the price of leaving nothing, or a judge that knows much
_FEWEST = 20
_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, OverflowError, OSError, InvalidInput)


class Bound(NamedTuple):
    """What a probability is at least and at most where a condition holds, one of `EVIDENCE`.

    It was learned from `n` links of which that held, and of which `n_right` were right: what seldom
    holds bends no curve.
    """

    condition: str
    least: float
    most: float
    n: int
    n_right: int

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Bound:
        """Return a bound from what `_asdict` returned."""
        bound = cls(
            str(fields["condition"]),
            float(fields["least"]),
            float(fields["most"]),
            int(fields["n"]),
            int(fields["n_right"]),
        )
        if bound.condition not in EVIDENCE or not 0 <= bound.least <= bound.most <= 1:
            raise ValueError(f"{bound.condition!r:.40} bounds by {bound.least} and {bound.most}")
        return bound


@dataclass(frozen=True)
class Judge:
    """Curves over some of `EVIDENCE`, fitted to `n` links, of which `n_right` were right.

    `source` is what it learned from: `COMES_ALONG` or `MENTIONS`. What the curves say keeps within
    the `bounds`, of which a later one counts before an earlier one.
    """

    model: AdditiveModel
    n: int
    n_right: int
    source: str
    bounds: tuple[Bound, ...] = ()

    def facts(self) -> str:
        """Say in words what it learned from."""
        if self.source == COMES_ALONG:
            return f"learned from {self.source}"
        return f"adapted to {self.n:,} links of {self.source}"

    @functools.cached_property
    def n_candidates(self) -> int:
        """The number of candidates of a link that it looks at."""
        return LOOKED_AT if RELATIONS[0] in self.model.names else 2

    @functools.cached_property
    def _columns(self) -> list[int]:
        return [EVIDENCE.index(name) for name in self.model.names[:-1]]

    def predict(self, evidence: FloatArray) -> FloatArray:
        """Return probabilities, ``(n,)`` float64 in (0, 1), for the evidence of n links."""
        there = np.ones((len(evidence), 1))
        rows = np.concatenate([steady(evidence[:, self._columns]), there], axis=1)
        worth = self.model.worth(rows)
        # The worth of NIL is that of knowing nothing.
        nothing = sum(curve.missing for curve in self.model.curves)
        logits = rounded(worth.sum(axis=1) - nothing, _LOGIT_DECIMALS)
        # No probability is certain after n observations (Laplace).
        least = 1 / (self.n + 2)
        probabilities = np.clip(sigmoid(logits), least, 1 - least)
        for bound in self.bounds:
            holds = evidence[:, EVIDENCE.index(bound.condition)] > 0
            bounded = np.clip(probabilities, bound.least, bound.most)
            probabilities = np.where(holds, bounded, probabilities)
        return np.asarray(probabilities)

    def most(self, link: Link) -> float:
        """Return what the probability of a link is at most, whatever speaks for it."""
        holds = {**signs_of(link), **conditions_of(link)}
        return min((b.most for b in self.bounds if holds.get(b.condition)), default=1.0)

    def of(self, links: Sequence[Link], vocabulary: Vocabulary) -> list[float | None]:
        """Return the probability that the best candidate of each is right, None without one.

        There is nothing to learn about an id: its score is shared by the concepts that have it.
        """
        judged = [
            n for n, link in enumerate(links) if link.candidates and link.candidates[0].sieve != IDS
        ]
        probabilities: list[float | None] = [
            self._of_id(link) if link.candidates else None for link in links
        ]
        if judged:
            evidence = np.array([evidence_of(links[n], vocabulary) for n in judged])
            for n, probability in zip(judged, self.predict(evidence).tolist(), strict=True):
                probabilities[n] = probability
        return probabilities

    def _of_id(self, link: Link) -> float:
        best = link.candidates[0].score
        equal = sum(
            candidate.sieve == IDS and candidate.score == best for candidate in link.candidates
        )
        return min(best / max(equal, 1), 1 - 1 / (self.n + 2))

    def to_dict(self) -> dict[str, Any]:
        """Return what was fitted as plain lists and numbers."""
        return {
            "format": _FORMAT,
            "source": self.source,
            "n": self.n,
            "n_right": self.n_right,
            "curves": [curve._asdict() for curve in self.model.curves],
            "bounds": [bound._asdict() for bound in self.bounds],
        }

    def save(self, path: Path) -> None:
        """Write a JSON file that appears whole or not at all."""
        with write_file(path) as partial:
            text = json.dumps(sealed(self.to_dict()), indent=1)
            partial.write_text(f"{text}\n", encoding="ascii", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Judge | None:
        """Read what `save` wrote; None where there is nothing.

        Raises
        ------
        ReadError
            If the file is damaged.
        Mismatch
            If it was written by another version of canonym.
        """
        try:
            content = open_sealed(path.read_text(encoding="ascii"))
            curves = [Curve.from_dict(curve) for curve in content["curves"]]
            n, n_right = int(content["n"]), int(content["n_right"])
            source = content["source"]
            if not 0 <= n_right <= n or source not in (COMES_ALONG, MENTIONS):
                raise ValueError(f"{n_right} of {n} links of {source!r:.40} are right")
            bounds = tuple(Bound.from_dict(bound) for bound in content.get("bounds", ()))
            judge = cls(AdditiveModel(curves), n, n_right, source, bounds)
            names = judge.model.names
            known = content["format"] == _FORMAT and names[-1:] == (ANY,)
            known = known and names[:-1] in (BY_SIMILARITIES, BY_RELATIONS)
        except FileNotFoundError:
            return None
        except _DAMAGE as error:
            raise ReadError(
                path, f"is damaged ({error}); fit the confidence again, or remove the file"
            ) from error
        if not known:
            raise Mismatch(
                f"{path} was written by another version of canonym; remove it and fit it again"
            )
        return judge


def shipped_judge(encoders: Sequence[str]) -> Judge:
    """Open the judge that comes with canonym for these encoders, by name."""
    return _opened(SHIPPED if tuple(encoders) in _ENCODERS else OF_ANY)


@functools.cache
def _opened(path: Path) -> Judge:
    judge = Judge.load(path)
    if judge is None:
        raise ReadError(path, "is missing; install canonym again")
    return judge


def open_judge(folder: Path, encoders: Sequence[str]) -> Judge:
    """Open the judge of an index: its own, or the shipped one.

    Raises
    ------
    ReadError, Mismatch
        As `Judge.load` does.
    """
    return Judge.load(folder / JUDGE) or shipped_judge(encoders)


def fit_judge(
    evidence: npt.ArrayLike,
    right: npt.ArrayLike,
    *,
    source: str,
    names: Sequence[str] = BY_SIMILARITIES,
    start: Judge | None = None,
    weights: npt.ArrayLike | None = None,
    fewest: int = _FEWEST,
) -> Judge:
    """Fit a judge to the evidence of n links, ``(n, len(EVIDENCE))``, and whether each is right.

    `names` are those of the evidence to look at, or those of `start`, where its curves begin; a few
    links change them little. `weights` ``(n,)`` is the number of links that each counts as. See
    `canonym.ranking.additive_model.fit_additive_model`: NIL is a second candidate of every link,
    of which nothing is known.

    Raises
    ------
    InvalidInput
        If there are fewer links than `fewest`.
    """
    rows, is_right = steady(evidence), np.asarray(right, dtype=np.bool_)
    if len(is_right) < fewest:
        raise InvalidInput(
            f"{len(is_right):,} links are too few to fit a confidence to; at least {fewest} "
            "annotated mentions with candidates are expected"
        )
    chosen = tuple(names) if start is None else start.model.names[:-1]
    both = np.full((len(rows), 2, len(chosen) + 1), np.nan)
    both[:, 0, :-1] = rows[:, [EVIDENCE.index(name) for name in chosen]]
    both[:, 0, -1] = 1.0
    model = fit_additive_model(
        both,
        np.stack([is_right, ~is_right], axis=1),
        (*chosen, ANY),
        weights=weights,
        knots=_KNOTS,
        smoothness=_SMOOTHNESS,
        ridge=_RIDGE_TO_START if start else _RIDGE,
        start=start.model if start else None,
    )
    bounds = start.bounds if start else ()
    return Judge(model, len(is_right), int(is_right.sum()), source, bounds)


def steady(evidence: npt.ArrayLike) -> FloatArray:
    """Return evidence as judges take it, those that learn and those that are asked.

    All of it goes through here, so that none carries what a processor rounds otherwise.
    """
    return rounded(evidence, _FEATURE_DECIMALS)


def check_confidence(least: float | None) -> float:
    """Return the least confidence of a call: that of the caller, or the usual one.

    Raises
    ------
    InvalidInput
        If it is no probability.
    """
    if least is None:
        return NONSENSE
    if not 0 <= least <= 1:
        raise InvalidInput(
            f"min_confidence is {least}; a probability is expected, a number from 0 to 1"
        )
    return least


def graded(
    links: Sequence[Link],
    parts: Iterable[Link],
    confidences: Iterable[float | None],
    least: float = 0.0,
    k: int | None = None,
) -> list[Link]:
    """Return links with their confidence and k candidates, NIL where the confidence is low.

    `parts` are the undivided links and the parts of the others, in order, and `confidences` those
    of each. A composite link is as certain as the least certain of its parts.
    """
    sure = map(_graded, parts, confidences, repeat(least), repeat(k))
    return [
        _whole(link, list(islice(sure, len(link.parts)))) if link.parts else next(sure)
        for link in links
    ]


def _graded(link: Link, confidence: float | None, least: float, k: int | None) -> Link:
    """Return an undivided link with its confidence, NIL where that is low."""
    low = confidence is not None and confidence < least and not link.nil
    return replace(
        link,
        candidates=link.candidates[:k],
        nil=link.nil or low,
        reason=f"the confidence, {confidence:.3f}, is below {least:g}" if low else link.reason,
        confidence=confidence,
    )


def _whole(link: Link, parts: Sequence[Link]) -> Link:
    """Return a composite link with its graded parts."""
    known = [part.confidence for part in parts if part.confidence is not None]
    nil = all(part.nil for part in parts)
    reasons = "; ".join(dict.fromkeys(part.reason for part in parts))
    reason = (link.reason or reasons) if nil else ""
    confidence = min(known) if known else None
    return replace(link, parts=tuple(parts), nil=nil, reason=reason, confidence=confidence)
