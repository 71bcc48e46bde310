"""From the candidates of a mention and its parts to one link: whole, split, or NIL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from canonym.errors import InvalidInput
from canonym.linking.lookup import Answer
from canonym.linking.settings import SIEVES
from canonym.mentions.glosses import LEAST_GAIN
from canonym.mentions.prepare import Part, Prepared
from canonym.text import explain
from canonym.types import Link, Mention, Step

__all__ = ["as_mention", "decide", "parts_of"]

_SIEVE_STEPS = {sieve.name: sieve.steps for sieve in SIEVES}


def as_mention(given: str | Mention) -> Mention:
    """Take a string for a mention of that text; anything but a string or mention is refused."""
    if isinstance(given, Mention):
        return given
    if isinstance(given, str):
        return Mention(given)
    raise InvalidInput(
        f"a mention is a string or a Mention, not {type(given).__name__} ({given!r:.80})"
    )


def parts_of(prepared: Prepared) -> tuple[Part, ...]:
    """Return everything that has to be looked up: the whole, and its parts if there are several."""
    return (prepared.whole, *prepared.parts) if len(prepared.parts) > 1 else (prepared.whole,)


def _best(part: Part, answers: Mapping[str, Answer]) -> tuple[str, Answer]:
    """Choose between the strings of a part: the better found, on a tie the given.

    What explains a mention, and what it may be misspelt for, counts where no sieve knows the
    mention itself; the latter where a sieve knows one guess and no other.
    """
    texts = (part.text, *part.alternatives)
    best = max(((text, answers[text]) for text in texts), key=lambda pair: pair[1].score)
    if best[1].sieve not in _SIEVE_STEPS:
        known = [text for text in part.guesses if answers[text].sieve in _SIEVE_STEPS]
        if len(known) == 1 and answers[known[0]].score > best[1].score:
            best = known[0], answers[known[0]]
        for text in part.glosses:
            if answers[text].score > best[1].score + LEAST_GAIN:
                best = text, answers[text]
    return best


def decide(
    mention: Mention,
    prepared: Prepared,
    answers: Mapping[str, Answer],
    min_score: float | None,
) -> Link:
    """Decide for one mention.

    Parameters
    ----------
    mention : Mention
        What was asked.
    prepared : Prepared
        Its strings.
    answers : mapping of str to Answer
        The candidates of every string of `parts_of`.
    min_score : float or None
        Best candidates that score less are NIL.

    Returns
    -------
    Link
        Split into parts when no sieve knows the whole, every part scores better than it, and the
        parts are not all the same concept.
    """
    whole = _one(mention, prepared.whole, answers, min_score)
    if len(prepared.parts) < 2 or answers[whole.searched].sieve != "search":
        return whole
    parts = tuple(
        _one(replace(mention, text=part.text, ids=()), part, answers, min_score)
        for part in prepared.parts
    )
    ids = {part.id for part in parts}
    if len(ids) == 1 and None not in ids:
        return whole  # "stage II and III cancer" is one concept
    weakest = min(part.score if part.score is not None else float("-inf") for part in parts)
    if weakest <= (whole.score if whole.score is not None else float("-inf")):
        return whole
    return Link(
        mention,
        nil=all(part.nil for part in parts),
        reason="no part was found" if all(part.nil for part in parts) else "",
        searched=whole.searched,
        steps=prepared.whole.steps,
        parts=parts,
    )


def _one(
    mention: Mention, part: Part, answers: Mapping[str, Answer], min_score: float | None
) -> Link:
    text, answer = _best(part, answers)
    reason = answer.reason
    if not reason and min_score is not None and answer.score < min_score:
        reason = f"the best score, {answer.score:.3f}, is below {min_score:g}"
    steps = part.steps
    if text in part.guesses:
        steps = (*steps, Step("spelling", part.text, text))
    if text in part.glosses:
        steps = (*steps, Step("gloss", part.text, text))
    # What brought the string to the form in which a sieve knows it.
    forms = _SIEVE_STEPS.get(answer.sieve, ())
    steps = (*steps, *explain(text, forms)) if forms else steps
    return Link(mention, answer.candidates, bool(reason), reason, text, steps)
