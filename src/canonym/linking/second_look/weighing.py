"""The probabilities of candidates, given what the judge had said and what a second look chose.

It is Bayes' rule. Before the choice, the first candidate is right with the confidence of the judge.
Where it is wrong, the right one is among the others in so many cases, at each rank in so many: that
was measured with questions of many terminologies (``models/make_second_look.py``). How far a
chooser is to be believed it shows itself, by its answers to questions whose answer is known
(`canonym.linking.second_look.controls`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.io.files import load_json

SHIPPED = Path(__file__).parents[2] / "models" / "second-look.json"
"""What was measured: `Elsewhere`."""

_DECIMALS, _LEAST = 6, 1e-3  # nothing is certain


class Reliability(NamedTuple):
    """What a chooser does with questions whose answer is known.

    Attributes
    ----------
    finds : float
        How likely it chooses the right candidate where that is there.
    abstains : float
        How likely it says that none is meant where the right candidate is not there.
    gives_up : float
        How likely it says so where it is there and was not chosen.
    """

    finds: float
    abstains: float
    gives_up: float

    @classmethod
    def shown(cls, present: Iterable[tuple[int | None, int]], absent: Iterable[int | None]) -> Self:
        """Return what answers show: places that were chosen, and right ones where these are there.

        Counts begin at one of each (Laplace), so that few answers say little.
        """
        pairs, places = list(present), list(absent)
        wrong = [chosen for chosen, right in pairs if chosen != right]
        return cls(
            (len(pairs) - len(wrong) + 1) / (len(pairs) + 2),
            (sum(place is None for place in places) + 1) / (len(places) + 2),
            (sum(place is None for place in wrong) + 1) / (len(wrong) + 2),
        )


class Elsewhere(NamedTuple):
    """Where the right candidate is when it is not the first.

    `reached` is how often it is among the others, at rising values of `confidence`, with straight
    lines between them; `ranks` how often it is the second, the third … Choosers err where the judge
    does: `alike` is the share of wrong choices that are its first candidate, and `trust`, from 0 to
    1, how much an answer about an unsure mention says beside one about a name.
    """

    confidence: tuple[float, ...]
    reached: tuple[float, ...]
    ranks: tuple[float, ...]
    alike: float = 0.0
    trust: float = 1.0

    @classmethod
    @functools.cache
    def shipped(cls) -> Elsewhere:
        """Return what comes with canonym."""
        try:
            content: dict[str, Any] = load_json(SHIPPED)
            at, reached, ranks = (tuple(map(float, content[name])) for name in cls._fields[:3])
            return cls(at, reached, ranks, float(content["alike"]), float(content["trust"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ReadError(SHIPPED, f"is damaged ({error}); install canonym again") from error


def weighed(
    confidence: float,
    n: int,
    place: int | None,
    reliability: Reliability,
    elsewhere: Elsewhere | None = None,
) -> npt.NDArray[np.float64]:
    """Return how likely each of `n` candidates is right, ``(n,)``, once one or none was chosen.

    Notes
    -----
    ``P(c | a) ∝ P(c) P(a | c)^t`` with the trust ``t``. A chooser finds the right candidate, or
    gives up, or takes another one; where none is right it abstains, or takes any.
    """
    elsewhere = elsewhere or Elsewhere.shipped()
    before = prior(confidence, n, elsewhere)
    missed = 1 - reliability.finds
    if place is None:
        likely = np.full(n + 1, missed * reliability.gives_up)
        likely[n] = reliability.abstains
    else:
        alike = elsewhere.alike if n > 1 else 1.0
        share = alike if place == 0 else (1 - alike) / max(n - 1, 1)
        likely = np.full(n + 1, missed * (1 - reliability.gives_up) * share)
        likely[place] = reliability.finds
        likely[n] = (1 - reliability.abstains) * share
    after = before * likely**elsewhere.trust
    likely = np.round(after[:n] / after.sum(), _DECIMALS)
    return np.asarray(np.clip(likely, _LEAST, 1 - _LEAST))


def prior(confidence: float, n: int, elsewhere: Elsewhere) -> npt.NDArray[np.float64]:
    """Return how likely each of `n` candidates is right, and none of them, ``(n + 1,)``."""
    wrong = 1 - confidence
    reached = wrong * float(np.interp(confidence, elsewhere.confidence, elsewhere.reached))
    others = reached * np.array(elsewhere.ranks[: n - 1])
    return np.array([confidence, *others, wrong - others.sum()])
