"""Explanations: why a mention was linked as it was, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from canonym.mentions.effects import rules_behind
from canonym.rules import shipped, using
from canonym.text import PLAIN, STRONG, UNORDERED, normalise
from canonym.types import OPEN, SECOND_LOOK, Against, Candidate, Link

_ID = "id"
_SIEVES = {
    _ID: "the mention is an id of the concept",
    "verbatim": "the name is the same but for case, accents and punctuation",
    "normalised": "the normal forms are the same",
    "reordered": "the normal forms have the same words",
    "bare": "the name without its qualifiers has the same words",
    "search": "no name has the same normal form; the most similar one",
    **{
        f"{part}-{kind}": f"no name has the same normal form; the most similar {what} of {whose}"
        for part, whose in (
            ("O", "the terminology"),
            ("D", "the training mentions"),
            ("OD", "the terminology and the training mentions"),
        )
        for kind, what in (("T", "name"), ("C", "mean of a concept's names"))
    },
}
_REASONS = 4
_RULES = 3  # of the book, by their ids
_FORMS = {"verbatim": PLAIN, "reordered": UNORDERED, "bare": UNORDERED}


def explain(link: Link) -> list[str]:
    """Explain a link, one line a fact, or each part of a composite mention.

    The facts are the steps of preparation that changed something, with the ids of the rules that
    made them, the name that matched, both normal forms, the sieve that decided, the scores, and, if
    the link has two candidates or more, the runner-up and the margin.
    """
    with using(link.book or shipped()):
        return list(_lines(link))


def _lines(link: Link) -> Iterator[str]:
    for step in link.steps:
        rules = rules_behind(step)
        by = f" (by {', '.join(rules[:_RULES])})" if rules else ""
        if step.name == SECOND_LOOK:
            yield f"second look: {step.after}, where the judge had {step.before}"
        elif step.name in OPEN:
            yield f"{step.before!r} {OPEN[step.name]}: {step.after}{by}"
        else:
            yield f"step: {step.name} turned {step.before!r} into {step.after!r}{by}"
    if link.parts:
        yield f"composite: {len(link.parts)} parts"
        for part in link.parts:
            yield from (f"{part.mention.text!r}: {line}" for line in _lines(part))
        return
    if link.searched != link.mention.text:
        yield f"looked up: {link.searched!r}"
    if link.status:
        yield f"status: {', '.join(link.status)}"
    if link.nil:
        yield f"no concept: {link.reason}"
    if not link.candidates:
        return
    best = link.candidates[0]
    if best.sieve == _ID:
        yield from _id_lines(best)
    else:
        yield f"matched name: {best.name!r} ({best.scope})"
        forms = _FORMS.get(best.sieve, STRONG)
        searched = normalise(link.searched or link.mention.text, forms)
        name_form = normalise(best.name, forms)
        yield f"normal forms: {searched!r} of the mention, {name_form!r} of the name"
        yield f"sieve: {best.sieve} ({_SIEVES.get(best.sieve, 'a normal form is shared')})"
    yield from _against(best.against)
    scores = ", ".join(f"{name} {score:.4f}" for name, score in best.parts.items())
    yield f"score: {best.score:.4f}" + (f" ({scores})" if scores else "")
    if link.confidence is not None:
        yield f"confidence: {link.confidence:.3f}"
    if link.margin is None:
        yield "runner-up: none"
        return
    second = link.candidates[1]
    yield (
        f"runner-up: {second.id} {second.label!r} by {second.name!r} {second.score:.4f}; "
        f"margin {link.margin:.4f}"
    )
    if best.context and second.context:
        n = sum(bool(candidate.context) for candidate in link.candidates)
        yield (
            f"context: {n} concepts are called {best.name!r}; rather than {second.id} by "
            f"{_gains(best.context, second.context)}"
        )


def _against(against: Against) -> Iterator[str]:
    for kind, mention, name in against.contradictions:
        yield f"contradiction: {kind}, {mention!r} of the mention, {name!r} of the name"
    for words, what in (
        (against.left_over, "words of the mention that the name lacks"),
        (against.missing, "words of the name that the mention lacks"),
    ):
        if words:
            yield f"{what}: {', '.join(words)}"
    if against.relation != "equal":
        yield f"relation: the concept is {against.relation} at most"


def _id_lines(best: Candidate) -> Iterator[str]:
    """Explain a concept that was found by its id."""
    yield f"id: {best.id}, which is {best.name!r}"
    remark = "" if best.score >= 1 else "; the words beside it are not a name of the concept"
    yield f"sieve: {best.sieve} ({_SIEVES[_ID]}{remark})"


def _gains(best: Mapping[str, float], second: Mapping[str, float]) -> str:
    gains = {name: worth - second.get(name, 0.0) for name, worth in best.items()}
    most = sorted(gains, key=lambda name: (-abs(gains[name]), name))[:_REASONS]
    return ", ".join(f"{name} {gains[name]:+.2f}" for name in most)
