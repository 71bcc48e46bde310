"""The probability that the best candidate of a link is right."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, Mismatch, NotTrained, ReadError
from canonym.io.files import open_sealed, sealed, write_file
from canonym.io.numbers import rounded
from canonym.linking.settings import IDS, SIEVES
from canonym.ranking.probability import Isotonic, Logistic, fit_isotonic, fit_platt, sigmoid
from canonym.text import normalise
from canonym.text.qualifiers import BROADER, QUALIFIERS
from canonym.types import Link

CONFIDENCE = "confidence.json"
"""Name of the file in the folder of an index."""

METHODS: tuple[str, ...] = ("isotonic", "platt")
"""Ways of fitting, see `usual_method`."""

_SIEVES = ("verbatim", "normalised", "reordered")
_BARE = "reordered"  # what a name without its qualifiers counts as: all its words are there
_KNOWING = frozenset(sieve.name for sieve in SIEVES)
_BEFORE = ("score", "margin", "agreement", *_SIEVES, "shared", "alone", "similarity")
_WORDS = ("covered", "covering", "letters", "words", "known", "all known")

FEATURES: tuple[str, ...] = (*_BEFORE, "contradicts")
"""Features of a link, see `confidence_features`."""

WIDE_FEATURES: tuple[str, ...] = (*FEATURES, *_WORDS)
"""The same, what the string that was looked up shares with the name found, and the words that the
terminology knows."""

_FEATURE_DECIMALS = 5
"""Of features, before a model is fitted to them and before it is asked.

Similarities are good to the sixth decimal, and differ from processor to processor beyond it. No
threshold means more than the fourth."""

_LOGIT_DECIMALS = 6
"""Of log-odds: links that are alike share a place of the rising function."""

CONTRADICTED = 0.5
"""A candidate whose name contradicts the mention is never more likely than this."""

# By the number of the format; files of the first two are still read.
_FORMATS = {2: _BEFORE, 4: (*_BEFORE, *_WORDS), 5: FEATURES, 6: WIDE_FEATURES}
_SPLIT = ("composite", "list")
# Steps to another text, but for its spelling.
_REWRITTEN = (
    *("entities", "markup", "encoding", "abbreviation", "trial field", "drug line", "genus"),
    *("shorthand", "gloss", "finding", "space", "status", QUALIFIERS, BROADER),
)

KnownShare = Callable[[str], float]
"""Gives the share of a text in words that a terminology has."""


def confidence_features(
    link: Link, which: tuple[str, ...] = FEATURES, known_share: KnownShare | None = None
) -> npt.NDArray[np.float64]:
    """Return the features of an undivided link, with two candidates if there are so many.

    An array of ``len(which)`` float64; `which` are names of `WIDE_FEATURES`: the score of the best
    candidate; its margin to the second concept (the score, without one); the share of scorers that
    prefer it to the second (1 for a sieve, or without a second); one number per sieve, 1 if it
    decided; whether a sieve found the second as well; whether there is no second; the similarity of
    the best, which is not its score where a re-ranker put it first; and whether its name
    contradicts the mention. The wide ones go on with the share of the words of the string looked up
    that the name has, and the other way round; Dice's coefficient of their 3-grams; the number of
    words, up to eight; the share of the mention in words that the terminology knows by
    `known_share`, and whether it is all of it.
    """
    best, *others = link.candidates
    sieved = best.sieve in _KNOWING
    sieve = _BARE if best.sieve == "bare" else best.sieve
    agreement = 1.0
    if others and best.parts and not sieved:
        second = others[0].parts
        # Encoders that were not asked for this mention have nothing to say.
        asked = [name for name, part in best.parts.items() if part or second.get(name)]
        if asked:
            ahead = sum(best.parts[name] > second.get(name, -math.inf) for name in asked)
            agreement = ahead / len(asked)
    values = {
        "score": best.score,
        "margin": best.score - others[0].score if others else best.score,
        "agreement": agreement,
        **{name: float(sieve == name) for name in _SIEVES},
        "shared": float(sieved and bool(others) and others[0].sieve == best.sieve),
        "alone": float(not others),
        "similarity": best.similarity,
        "contradicts": float(bool(best.against.contradictions)),
    }
    if not values.keys() >= set(which):
        known = 1.0 if known_share is None else known_share(_as_written(link))
        shared = _shared(link.searched or link.mention.text, best.name)
        values |= zip(_WORDS, (*shared, known, float(known == 1)), strict=True)
    return np.array([values[name] for name in which])


def _of_id(link: Link) -> float:
    """Return how probable it is that the first of the concepts that an id may mean is right."""
    best = link.candidates[0].score
    return best / sum(
        candidate.sieve == IDS and candidate.score == best for candidate in link.candidates
    )


def _as_written(link: Link) -> str:
    """Return the mention before its spelling was corrected: what is corrected looks known."""
    steps = itertools.takewhile(lambda step: step.name not in _SPLIT, reversed(link.steps))
    texts = (step.after for step in steps if step.name in _REWRITTEN)
    return next(texts, link.mention.text)


def _shared(text: str, name: str) -> list[float]:
    """Return what two strings have in common, the first by its own length."""
    one, other = normalise(text), normalise(name)
    words, others = set(one.split()), set(other.split())
    grams, beside = _grams(one), _grams(other)
    both = len(words & others)
    return [
        both / max(len(words), 1),
        both / max(len(others), 1),
        2 * len(grams & beside) / max(len(grams) + len(beside), 1),
        float(min(len(words), 8)),
    ]


def _grams(text: str) -> set[tuple[str, ...]]:
    framed = f" {text} "
    return set(zip(framed, framed[1:], framed[2:], strict=False))


@dataclass(frozen=True)
class Confidence:
    """A fitted confidence: a logistic regression, and an isotonic one of its log-odds.

    It was fitted to `n` links, of which `n_right` were right, by their `features`: to those of
    `annotated` mentions, or to those of a terminology that asked itself.
    """

    logistic: Logistic
    isotonic: Isotonic | None
    n: int
    n_right: int
    features: tuple[str, ...] = FEATURES
    annotated: bool = True

    @property
    def method(self) -> str:
        """One of `METHODS`."""
        return "platt" if self.isotonic is None else "isotonic"

    def facts(self) -> dict[str, str]:
        """Return the method, and how many links it was fitted to."""
        what = "links of annotated mentions" if self.annotated else "questions about its own names"
        return {"method": self.method, "fitted to": f"{self.n:,} {what}"}

    def predict(self, features: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return probabilities, ``(n,)`` float64 in (0, 1), for the features of n links."""
        logits = _logits(self.logistic, steady(features))
        found = sigmoid(logits) if self.isotonic is None else self.isotonic.predict(logits)
        # Clip to [1/(n+2), 1 − 1/(n+2)] (Laplace).
        least = 1 / (self.n + 2)
        return np.clip(found, least, 1 - least)

    def of(
        self, links: Sequence[Link], known_share: KnownShare | None = None
    ) -> list[float | None]:
        """Return the probability that the best candidate of each is right, None without one.

        `known_share` comes with the index; without it all words count as known. An id has nothing
        to learn from: its score is shared among the concepts that have it.
        """
        known = [
            confidence_features(link, self.features, known_share)
            for link in links
            if link.candidates and link.candidates[0].sieve != IDS
        ]
        found = iter(self.predict(np.array(known)).tolist() if known else ())
        return [
            None
            if not link.candidates
            else self._clipped(_of_id(link))
            if link.candidates[0].sieve == IDS
            else _bounded(link, next(found))
            for link in links
        ]

    def _clipped(self, probability: float) -> float:
        return min(probability, 1 - 1 / (self.n + 2))

    def grade(
        self,
        links: Sequence[Link],
        min_confidence: float | None,
        k: int,
        known_share: KnownShare | None = None,
    ) -> list[Link]:
        """Return links with their confidence and k candidates, NIL where the confidence is low.

        Links have two candidates, if there are so many. A composite link is as certain as the
        least certain of its parts.
        """
        parts = [part for link in links for part in (link.parts or (link,))]
        graded = iter(self.of(parts, known_share))
        return [
            _whole(link, [_graded(part, next(graded), min_confidence, k) for part in link.parts])
            if link.parts
            else _graded(link, next(graded), min_confidence, k)
            for link in links
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return what was fitted as plain lists and numbers."""
        content: dict[str, Any] = {
            "format": next(n for n, names in _FORMATS.items() if names == self.features),
            "features": self.features,
            "weights": self.logistic.weights.tolist(),
            "intercept": self.logistic.intercept,
            "n": self.n,
            "n_right": self.n_right,
            "annotated": self.annotated,
        }
        if self.isotonic is not None:
            content["knots"] = self.isotonic.knots.tolist()
            content["values"] = self.isotonic.values.tolist()
        return content

    def save(self, path: Path) -> None:
        """Write a JSON file that appears whole or not at all."""
        with write_file(path) as partial:
            partial.write_text(
                json.dumps(sealed(self.to_dict()), indent=1) + "\n", encoding="ascii"
            )

    @classmethod
    def load(cls, path: Path) -> Confidence | None:
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
            features = _FORMATS.get(content["format"], ())
            known = features != () and tuple(content["features"]) == features
            weights = np.array(content["weights"], dtype=np.float64)
            logistic = Logistic(weights, float(content["intercept"]))
            isotonic = None
            if "knots" in content:
                isotonic = Isotonic(*(np.array(content[key], float) for key in ("knots", "values")))
            n, n_right = int(content["n"]), int(content["n_right"])
            annotated = bool(content.get("annotated", True))
            found = cls(logistic, isotonic, n, n_right, features, annotated)
            if known and not _is_sound(found):
                raise ValueError("numbers are missing, or are none")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
            raise ReadError(
                path, f"is damaged ({error}); fit the confidence again, or remove the file"
            ) from error
        if not known:
            raise Mismatch(
                f"{path} was written by another version of canonym; remove it and fit it again"
            )
        return found


def _bounded(link: Link, probability: float) -> float:
    contradicted = bool(link.candidates[0].against.contradictions)
    return min(probability, CONTRADICTED) if contradicted else probability


def _graded(link: Link, found: float | None, min_confidence: float | None, k: int) -> Link:
    """Return an undivided link with its confidence, NIL where that is low."""
    low = found is not None and min_confidence is not None and found < min_confidence
    low = low and not link.nil
    return replace(
        link,
        candidates=link.candidates[:k],
        nil=link.nil or low,
        reason=f"the confidence, {found:.3f}, is below {min_confidence:g}" if low else link.reason,
        confidence=found,
    )


def _whole(link: Link, parts: Sequence[Link]) -> Link:
    """Return a composite link with its graded parts."""
    known = [part.confidence for part in parts if part.confidence is not None]
    nil = all(part.nil for part in parts)
    reason = (link.reason or _reasons(parts)) if nil else ""
    confidence = min(known) if known else None
    return replace(link, parts=tuple(parts), nil=nil, reason=reason, confidence=confidence)


def _is_sound(found: Confidence) -> bool:
    """Tell whether there is a finite number for everything, and the knots rise."""
    weights, intercept = found.logistic
    knots, values = found.isotonic or (np.zeros(1), np.zeros(1))
    return (
        weights.shape == (len(found.features),)
        and knots.shape == values.shape == (knots.size,)
        and knots.size > 0
        and all(np.isfinite(part).all() for part in (weights, intercept, knots, values))
        and bool((np.diff(knots) >= 0).all())
        and 0 <= found.n_right <= found.n
    )


class Observed(NamedTuple):
    """Features ``(n, d)`` of links, whether each is right, and the document of each."""

    features: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    document: npt.NDArray[np.int64]


def fit_model(
    features: npt.ArrayLike,
    right: npt.ArrayLike,
    *,
    method: str = METHODS[0],
    fewest: int = 20,
    features_of: tuple[str, ...] = FEATURES,
) -> Confidence:
    """Fit a confidence to the features of n links, and whether each is right.

    `features_of` names the columns: `FEATURES` or `WIDE_FEATURES`.

    ``"platt"`` is a logistic regression of the features; ``"isotonic"`` a rising function of the
    odds that it gives. See `canonym.ranking.probability.fit_platt`.

    Raises
    ------
    InvalidInput
        If there is no such method, or there are fewer links than `fewest`.
    """
    x, y = np.asarray(features, dtype=np.float64), np.asarray(right, dtype=np.bool_)
    if method not in METHODS:
        raise InvalidInput(f"there is no method {method!r}; there are {', '.join(METHODS)}")
    if len(y) < fewest:
        raise InvalidInput(
            f"{len(y):,} links are too few to fit a confidence to; at least {fewest} annotated "
            "mentions with candidates are expected"
        )
    x = steady(x)
    logistic = fit_platt(x, y)
    isotonic = fit_isotonic(_logits(logistic, x), y) if method == "isotonic" else None
    return Confidence(logistic, isotonic, len(y), int(y.sum()), features_of)


def steady(features: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return features as models take them, those that are learned and those that are asked.

    Every feature goes through here, so none of them carries what a processor rounds otherwise.
    """
    return rounded(features, _FEATURE_DECIMALS)


def _logits(model: Logistic, features: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return rounded(model.logit(features), _LOGIT_DECIMALS)


def usual_method(from_mentions: bool) -> str:
    """Return one of `METHODS`: steps for mentions, and a smooth curve without any.

    The few hundred names that an index takes out make steps so wide that thresholds between 0.25
    and 0.35 mean the same.
    """
    return METHODS[0] if from_mentions else METHODS[1]


def check_confidence(confidence: Confidence | None, least: float | None) -> None:
    """Refuse a least confidence that is no probability, or without a fitted confidence."""
    if least is None:
        return
    if not 0 <= least <= 1:
        raise InvalidInput(
            f"min_confidence is {least}; a probability is expected, a number from 0 to 1"
        )
    if confidence is None:
        raise NotTrained(
            "the index does not know how sure its links are, which min_confidence goes by; let it "
            "learn that first: Linker.fit_confidence(), or `canonym fit-confidence --index FOLDER`"
        )


def _reasons(parts: Sequence[Link]) -> str:
    return "; ".join(dict.fromkeys(part.reason for part in parts))
