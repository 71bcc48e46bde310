"""pyahocorasick: names of three characters or more in any case, the longest first."""

from __future__ import annotations

from typing import Any

REQUIREMENTS = ["pyahocorasick==2.3.1"]
PACKAGES = ["pyahocorasick"]

Span = tuple[int, int, str]


def build(names: list[tuple[str, str]]) -> Any:
    """Make an automaton of all names; the first concept of a name remains."""
    from ahocorasick import Automaton

    automaton = Automaton()
    for text, id_ in reversed(names):
        lower = text.lower()
        if len(lower) > 2:
            automaton.add_word(lower, (len(lower), id_))
    automaton.make_automaton()
    return automaton


def annotate(index: Any, text: str) -> list[Span]:
    """Return the names in a text that are whole words: start, end and concept."""
    # A letter whose small form is longer would move what is behind it.
    lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    spans = []
    for last, (length, id_) in index.iter(lower):
        start, end = last + 1 - length, last + 1
        inside = lower[start - 1 : start].isalnum() or lower[end : end + 1].isalnum()
        if not inside:
            spans.append((start, end, id_))
    return _longest(spans)


def _longest(spans: list[Span]) -> list[Span]:
    """Return the longest of spans that overlap, the left one of equal ones."""
    apart: list[Span] = []
    for start, end, id_ in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if all(end <= other[0] or other[1] <= start for other in apart):
            apart.append((start, end, id_))
    return sorted(apart)
