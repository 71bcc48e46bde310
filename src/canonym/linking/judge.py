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
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import open_sealed, sealed, write_file
from canonym.io.numbers import rounded, sigmoid
from canonym.linking.hits import KIN, LOOKED_AT, PREFERRED, since_split
from canonym.linking.languages import SEVERAL
from canonym.linking.settings import IDS, SIEVES
from canonym.mentions.doubts import bounded
from canonym.ranking.additive_model import AdditiveModel, Curve, fit_additive_model
from canonym.ranking.letters import gain
from canonym.text import PLAIN, STRONG, UNORDERED, normalise
from canonym.text.memo import strong_forms
from canonym.text.qualifiers import BROADER, QUALIFIERS, bare_name
from canonym.text.short_forms import as_meant, is_short_form
from canonym.types import (
    SCOPES,
    Candidate,
    Link,
)

FloatArray = npt.NDArray[np.float64]

ANY = "any"
"""The feature that every link has and NIL lacks."""

JUDGE = "judge.json"
"""Name of the file in the folder of an index whose judge was adapted."""

NONSENSE = 0.15
"""A link that is less likely to be right is NIL, unless a caller wants another number.

Chosen on development parts by ``benchmarks/judge.py``: more would lose more right links than the
nonsense that it catches is worth."""

LETTERED = 0.5
"""A name that letters chose (`canonym.ranking.letters`) is never less likely than this: encoders
find the rejected names as near. Of 503 such names, 487 were right, of the rarer kinds 13 of 19."""

COMES_ALONG, MENTIONS = "many terminologies", "annotated mentions"
"""What a judge learned from."""

SHIPPED = Path(__file__).parents[1] / "models" / JUDGE
"""The judge that comes with canonym, of encoders that it knows."""

OF_ANY = SHIPPED.with_name("judge-of-any.json")
"""The judge that comes with canonym, of any encoders."""

_ENCODERS = (("default",), ("multilingual",), ("default", "multilingual"))  # which it knows
_FORMAT = 1
_FEATURE_DECIMALS = 5  # similarities are good to the sixth, and differ by processor beyond it
_LOGIT_DECIMALS = 6
_USUAL_LEAD = 0.07  # in the middle fifth of what the shipped judge learned from
_USUAL_RELATIVE_LEAD = 0.18
_KNOTS, _SMOOTHNESS = 6, 1.0
_LEAST_ROOM, _LEAST_SIMILARITY = 1e-3, 1e-6
_RIDGE, _RIDGE_TO_START = 0.1, 1.0  # the price of leaving nothing, or a judge that knows much
_FEWEST = 20
_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, OverflowError, OSError, InvalidInput)


# --- evidence ------------------------------------------------------------------------------------

_SIEVES = ("verbatim", "normalised", "reordered")
_BARE = "reordered"  # what a name without its qualifiers counts as: all its words are there
_KNOWING = frozenset(sieve.name for sieve in SIEVES)

EVIDENCE: tuple[str, ...] = (
    *("similarity", "lead", "agreement", *_SIEVES, "shared", "alone", "contradicts"),
    *("words of the mention in the name", "words of the name in the mention", "letters"),
    *("words", "length", "digits", "short form", "words of the name"),
    *("words left over", "words missing", "narrower or close", "letters decide"),
    *("scope", "label"),
    *("known letters", "all known", "unknown letters", "corrected", "cut apart", "broader"),
    *("similarity across languages", "lead across languages", "density"),
    *("rise", "relative lead"),
)
"""Everything that a judge may look at, see `evidence_of`."""

_RELATIONS = ("rise", "relative lead")
_SIMILARITIES = (*EVIDENCE[:2], "similarity across languages", "lead across languages")
BY_SIMILARITIES = tuple(name for name in EVIDENCE if name not in _RELATIONS)
BY_RELATIONS = tuple(name for name in EVIDENCE if name not in _SIMILARITIES)
"""What the judge of known encoders looks at, and that of any."""

# Longer strings, and more words that differ, tell no more.
_MOST_WORDS, _MOST_NAME_WORDS, _MOST_LETTERS = 8, 10, 40
_MOST_LEFT, _MOST_MISSING = 5, 6
# What says nothing of a name in another language than the mention.
_OF_ONE_LANGUAGE = (
    *("similarity", "lead", "words of the mention in the name", "words of the name in the mention"),
    *("letters", "words left over", "words missing", "narrower or close", "letters decide"),
    *("known letters", "all known", "unknown letters"),
)
# Steps to another text, but for its spelling.
_REWRITTEN = (
    *("entities", "markup", "encoding", "abbreviation", "trial field", "drug line", "genus"),
    *("shorthand", "gloss", "finding", "space", "status", QUALIFIERS, BROADER),
)


_SPELT = tuple(name for name in STRONG if name in (*PLAIN, "possessive", "spelling"))


class Vocabulary(NamedTuple):
    """What a judge knows of a terminology and its encoders.

    `coverage` gives the share of a text in words that the terminology has, `density` is the
    logarithm of the number of names that a concept has on average, `background` is a similarity
    that other things have as well (`canonym.linking.background`). Similarities are cosines, or of
    the form ``1 / (1 + d)`` where they are `euclidean`.
    """

    coverage: Callable[[str], float]
    density: float
    background: float = 0.0
    euclidean: bool = False

    def distance(self, similarity: float) -> float:
        """Return how far a similarity is from that of the same name, as cosines are."""
        if self.euclidean:  # the square of a distance is to a cosine as 2 to what it lacks of 1
            return (1 / max(similarity, _LEAST_SIMILARITY) - 1) ** 2 / 2
        return max(1.0 - similarity, 0.0)


def rivals(link: Link) -> list[Candidate]:
    """Return the candidates behind the best one, without those that give way to it, and its kin."""
    best, *others = link.candidates
    wish = best.context.get(PREFERRED, 0.0)
    return [
        other
        for other in others
        if KIN not in other.context and other.context.get(PREFERRED, wish) >= wish
    ]


def _hides_rivals(link: Link) -> bool:
    """Tell whether kin come behind what a search found, and hide what comes behind them."""
    return link.candidates[0].sieve not in _KNOWING and any(
        KIN in other.context for other in link.candidates[1:2]
    )


def signs_of(link: Link) -> dict[str, float]:
    """Return what scores and sieves show of an undivided link with up to two candidates.

    The score of the best candidate; its margin to the second concept (the score, without one); the
    share of scorers that prefer it to the second (1 for a sieve, or without a second); one number
    per sieve, 1 if it decided; whether the second concept has the name too; whether there is no
    second; and whether its name contradicts the mention. Concepts that a caller prefers less than
    the best one, and that are called like it, are passed over.
    """
    best, others = link.candidates[0], rivals(link)
    sieved = best.sieve in _KNOWING
    sieve = _BARE if best.sieve == "bare" else best.sieve
    score = best.score
    if _is_spelt_otherwise(link):
        sieve, score = "verbatim", 1.0
    hidden = _hides_rivals(link)
    margin = best.score - others[0].score if others else best.score
    return {
        "score": score,
        "margin": _USUAL_LEAD if hidden else margin,
        "agreement": 1.0 if sieved or hidden or not others else _agreement(best, others[0]),
        **{name: float(sieve == name) for name in _SIEVES},
        "shared": float(sieved and bool(others) and _same_name(best, others[0])),
        "alone": float(not others and not hidden),
        "contradicts": float(bool(best.against.contradictions)),
    }


def evidence_of(link: Link, vocabulary: Vocabulary) -> FloatArray:
    """Return `EVIDENCE` of an undivided link with a candidate, ``(len(EVIDENCE),)`` float64.

    To the signs of `signs_of`, with similarities in the place of scores, comes what the string
    that was looked up and the name found have in common: the words of each that the other has, as a
    share; Dice's coefficient of their 3-grams; what is left over and missing; whether letters
    decided between near names (`canonym.ranking.letters`); what kind of string it is, and what
    preparing it took; how many of its letters are in words of the terminology; and the density of
    that. NaN: unknown. Of a link that a sieve made, no second candidate is looked at unless it has
    the name too: often none was searched for. Of a link that only encoders of several languages
    made, words and letters tell nothing, and similarities have a scale of their own.

    Notes
    -----
    With the similarities ``s₁``, ``s₂`` and ``s₈`` of the first, second and eighth candidate and
    the background ``b`` the relative lead is ``(s₁ − s₂) / (1 − s₈)``, and the rise
    ``1 − (1 − s₁) / √((1 − s₈)(1 − b))``, from 0 to 1 (the same name): what is near may be one of
    many that are, and still not be what has nothing in common. An eighth below the background is
    taken to have that. Where vectors are compared by Euclidean distance, half its square stands for
    ``1 − s``.
    """
    best, others = link.candidates[0], rivals(link)
    signs = signs_of(link)
    room, distance = _room(link, vocabulary), vocabulary.distance
    away = math.sqrt(room * distance(vocabulary.background))
    is_spelt = best.sieve == "normalised" and signs["verbatim"] == 1  # see `_is_spelt_otherwise`
    text = best.name if is_spelt else link.searched or link.mention.text
    form, name = normalise(text), normalise(as_meant(best.name, text))
    words, name_words = set(form.split()), set(name.split())
    grams, name_grams = _grams(form), _grams(name)
    both = len(words & name_words)
    known = vocabulary.coverage(text if is_spelt else _as_written(link))
    steps = {step.name for step in link.steps}
    lead = best.score - others[0].score if others else 1.0
    ahead = distance(others[0].score) - distance(best.score) if others else 1.0
    relative_lead = min(ahead / room, 1.0)
    if best.sieve in _KNOWING:  # nothing else was looked for
        lead, signs["alone"] = math.nan, 0.0
    elif _hides_rivals(link):
        lead, relative_lead = _USUAL_LEAD, _USUAL_RELATIVE_LEAD
    elif others and _bare_form(best.name) == _bare_form(others[0].name):
        signs["agreement"], is_shared = 1.0, _same_words(best.name, others[0].name)
        # "Asthma NOS" is no rival of "Asthma", and what comes behind is not known.
        signs["shared"], lead = float(is_shared), math.nan if is_shared else _USUAL_LEAD
        relative_lead = _USUAL_RELATIVE_LEAD
    values = {
        **signs,
        "similarity": signs["score"],
        "lead": lead,
        "rise": 1.0 - min(distance(signs["score"]) / away, 1.0),
        "relative lead": lead if math.isnan(lead) else relative_lead,
        "words of the mention in the name": both / max(len(words), 1),
        "words of the name in the mention": both / max(len(name_words), 1),
        "letters": 2 * len(grams & name_grams) / max(len(grams) + len(name_grams), 1),
        "words": min(len(words), _MOST_WORDS),
        "length": min(len(form), _MOST_LETTERS),
        "digits": any(map(str.isdigit, form)),
        "short form": is_short_form(text),
        "words of the name": min(len(name.split()), _MOST_NAME_WORDS),
        "words left over": min(len(best.against.left_over), _MOST_LEFT),
        "words missing": min(len(best.against.missing), _MOST_MISSING),
        "narrower or close": best.against.relation in ("narrower", "close", "related"),
        "letters decide": 0.0 if best.sieve in _KNOWING else gain(*strong_forms([text, best.name])),
        "scope": SCOPES.index(best.scope),
        "label": best.name == best.label,
        "known letters": known,
        "all known": known == 1,
        "unknown letters": (1 - known) * len(form.replace(" ", "")),
        "corrected": "correction" in steps,
        "cut apart": "space" in steps,
        "broader": BROADER in steps,
        "similarity across languages": math.nan,
        "lead across languages": math.nan,
        "density": vocabulary.density,
    }
    asked = [encoder for encoder, part in best.parts.items() if part]
    if asked and SEVERAL.issuperset(asked):
        values |= dict.fromkeys(_OF_ONE_LANGUAGE, math.nan)
        values |= {"similarity across languages": best.score, "lead across languages": lead}
    return np.array([values[name] for name in EVIDENCE], dtype=np.float64)


def _room(link: Link, vocabulary: Vocabulary) -> float:
    """Return how far the eighth candidate is from the same name.

    In a short list the eighth may be anything, and the background counts.
    """
    eighth = link.candidates[LOOKED_AT - 1 :][:1]
    floor = max(vocabulary.background, *(candidate.score for candidate in eighth), 0.0)
    return max(vocabulary.distance(floor), _LEAST_ROOM)


def _is_spelt_otherwise(link: Link) -> bool:
    """Tell whether a mention is the name but for British spelling or a possessive."""
    best, text = link.candidates[0], link.searched or link.mention.text
    return best.sieve == "normalised" and normalise(text, _SPELT) == normalise(best.name, _SPELT)


def _same_name(best: Candidate, second: Candidate) -> bool:
    """Tell whether a sieve found the second by the same name, and not by a part of the mention."""
    if second.sieve != best.sieve:
        return False
    if best.sieve == "bare":  # "X, unspecified" is what X means rather than "X (moderate)"
        return _is_narrower(second.name) <= _is_narrower(best.name)
    return _same_words(best.name, second.name)


def _is_narrower(name: str) -> bool:
    return (bare := bare_name(name)) is not None and bare.is_narrower


def _bare_form(name: str) -> str:
    """Return the normal form of a name without its qualifiers."""
    bare = bare_name(name)
    return strong_forms([name if bare is None else bare.text])[0]


def _same_words(name: str, other: str) -> bool:
    return normalise(name, UNORDERED) == normalise(other, UNORDERED)


def _agreement(best: Candidate, second: Candidate) -> float:
    """Return the share of encoders that prefer the best; of those that were asked."""
    asked = [name for name, part in best.parts.items() if part or second.parts.get(name)]
    ahead = sum(best.parts[name] > second.parts.get(name, -math.inf) for name in asked)
    return ahead / len(asked) if asked else 1.0


def _as_written(link: Link) -> str:
    """Return the mention before its spelling was corrected: what is corrected looks known."""
    texts = (step.after for step in since_split(link.steps) if step.name in _REWRITTEN)
    return next(texts, link.mention.text)


def _grams(text: str) -> set[str]:
    framed = f" {text} "
    return {framed[place : place + 3] for place in range(len(framed) - 2)}


# --- the judge -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judge:
    """Curves over some of `EVIDENCE`, fitted to `n` links, of which `n_right` were right.

    `source` is what it learned from: `COMES_ALONG` or `MENTIONS`.
    """

    model: AdditiveModel
    n: int
    n_right: int
    source: str

    def facts(self) -> str:
        """Say in words what it learned from."""
        if self.source == COMES_ALONG:
            return f"learned from {self.source}"
        return f"adapted to {self.n:,} links of {self.source}"

    @functools.cached_property
    def n_candidates(self) -> int:
        """The number of candidates of a link that it looks at."""
        return LOOKED_AT if _RELATIONS[0] in self.model.names else 2

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
        by_letters = evidence[:, EVIDENCE.index("letters decide")] > 0
        return np.where(by_letters, np.maximum(probabilities, LETTERED), probabilities)

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
                probabilities[n] = bounded(links[n], probability)
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
            judge = cls(AdditiveModel(curves), n, n_right, source)
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
    return Judge(model, len(is_right), int(is_right.sum()), source)


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
    least: float,
    k: int,
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


def _graded(link: Link, confidence: float | None, least: float, k: int) -> Link:
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
