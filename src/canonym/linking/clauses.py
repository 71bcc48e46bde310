"""Tell how likely the clauses of a mention are several things, and not one name that says much.

*OCD with tics* is two things and *mitral stenosis with insufficiency* one name. A sum of curves
tells, over what the whole and its clauses show when each is linked by itself (`EVIDENCE`). It
learned from names of many terminologies that were taken out of them, and from names of theirs
written together in one cell (``models/make_clauses.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.io.files import load_json
from canonym.io.numbers import rounded, sigmoid
from canonym.linking.hits import SIEVE_STEPS, is_likely
from canonym.mentions.lists import words_of
from canonym.mentions.shorthand import write_out
from canonym.ranking.additive_model import AdditiveModel, Curve
from canonym.types import Link

SHIPPED = Path(__file__).parents[1] / "models" / "clauses.json"
"""The curves that come with canonym."""

EVIDENCE = (
    *("confidence of the whole", "confidence of the clauses", "known", "words of the longest"),
    *("status", "held", "left over", "one concept", "signs", "words between", "sides"),
)
"""What the curves look at, see `evidence_of_clauses`."""

_MOST_WORDS, _MOST_LEFT = 8, 5  # more tell no more
_DECIMALS = 5
_SIDES = frozenset(["left", "right"])


def evidence_of_clauses(
    whole: Link, clauses: Sequence[Link], joints: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return `EVIDENCE` of a link and the links of its clauses, ``(len(EVIDENCE),)``.

    The confidence of the whole, and the mean of the clauses; the share of clauses that sieves know,
    or that are lists; the words of the longest clause, at most 8; whether a clause has a status;
    the share of clauses with a word in the best name of the whole; what that name leaves over, at
    most 5 words; whether all are likely one concept; the shares of the `joints`, what stands
    between clauses, that are signs but commas, and single words; and whether their sides differ.
    """
    best = whole.candidates[:1]
    name = frozenset[str]().union(*(words_of(candidate.name) for candidate in best))
    joints = [joint.strip() for joint in joints]
    sides = {_SIDES & words_of(write_out(clause.mention.text)) for clause in clauses}
    values = (
        whole.confidence or 0.0,
        _share([clause.confidence or 0.0 for clause in clauses]),
        _share([bool(clause.parts) or _is_known(clause) for clause in clauses]),
        min(max(len(clause.mention.text.split()) for clause in clauses), _MOST_WORDS),
        any(clause.status for clause in clauses),
        _share([not name.isdisjoint(words_of(clause.mention.text)) for clause in clauses]),
        min(*(len(candidate.against.left_over) for candidate in best), _MOST_LEFT, _MOST_LEFT),
        all(map(is_likely, clauses)) and len({clause.id for clause in clauses}) == 1,
        _share([joint != "" and not joint[0].isalnum() for joint in joints]),
        _share([joint.isalpha() for joint in joints]),
        len(sides - {frozenset()}) > 1,
    )
    return rounded(values, _DECIMALS)


def how_several(whole: Link, clauses: Sequence[Link], joints: Sequence[str]) -> float:
    """Return how likely the clauses of a link are several things, and not one name.

    >>> from canonym import Linker
    >>> cut, one = Linker.default().link(["bronchitis with pyrexia", "asthma with exacerbation"])
    >>> [part.mention.text for part in cut.parts], one.parts
    (['bronchitis', 'pyrexia'], ())
    """
    model = _shipped()
    evidence = [*evidence_of_clauses(whole, clauses, joints), 1.0]
    one_name = sum(curve.missing for curve in model.curves)
    worth = model.worth(np.array(evidence)).sum() - one_name
    return float(sigmoid(rounded(worth, _DECIMALS)))


def _share(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)


def _is_known(clause: Link) -> bool:
    return bool(clause.candidates) and clause.candidates[0].sieve in SIEVE_STEPS


@functools.cache
def _shipped() -> AdditiveModel:
    try:
        curves = [Curve.from_dict(curve) for curve in load_json(SHIPPED)["curves"]]
        model = AdditiveModel(curves)
    except (OSError, ValueError, TypeError, LookupError, InvalidInput) as error:
        raise ReadError(SHIPPED, f"is damaged ({error}); install canonym again") from error
    if model.names[:-1] != EVIDENCE:
        raise ReadError(SHIPPED, "is of another version; install canonym again")
    return model
