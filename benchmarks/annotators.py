"""Dictionary annotators, each run in a process of its own: names and texts in, spans and ids out.

The process may be of another Python, without canonym, so that nothing of it is imported here. It
reads JSON from standard input, ``{"names": [[name, id], …], "texts": […]}``, the names of a concept
behind its label, and writes ``{"spans": [[[start, end, id], …], …], "seconds": …, "version": …}``;
the seconds of the processor are those of the texts alone.

    python annotators.py gilda < given.json
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

Names = list[tuple[str, str]]
Span = tuple[int, int, str]
Annotate = Callable[[str], list[Span]]


def gilda(names: Names) -> Annotate:
    """The annotator of gilda, with a grounder of the names."""
    from gilda.ner import annotate

    from peers.adaptors.gilda import build

    grounder = build(names)
    grounder.gilda_disambiguators = {}  # its models are a download, and are of other names

    def spans(text: str) -> list[Span]:
        found = []
        for one in annotate(text, grounder=grounder):
            term = one.matches[0].term
            found.append((one.start, one.end, f"{term.db}:{term.id}"))
        return found

    return spans


def flashtext(names: Names) -> Annotate:
    """Names as they are written, in any case, by flashtext."""
    from flashtext import KeywordProcessor

    processor = KeywordProcessor()
    for text, id_ in reversed(names):  # the first concept of a name remains
        if text.strip():
            processor.add_keyword(text, id_)

    def spans(text: str) -> list[Span]:
        found = processor.extract_keywords(text, span_info=True)
        return [(start, end, id_) for id_, start, end in found]

    return spans


def ahocorasick(names: Names) -> Annotate:
    """Names of three characters or more in any case, the longest first, by pyahocorasick."""
    from ahocorasick import Automaton

    automaton = Automaton()
    for text, id_ in reversed(names):
        lower = text.lower()
        if len(lower) > 2:
            automaton.add_word(lower, (len(lower), id_))
    automaton.make_automaton()

    def spans(text: str) -> list[Span]:
        lower = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
        found = []
        for last, (length, id_) in automaton.iter(lower):
            start, end = last + 1 - length, last + 1
            inside = lower[start - 1 : start].isalnum() or lower[end : end + 1].isalnum()
            if not inside:
                found.append((start, end, id_))
        return longest(found)

    return spans


def quickumls(names: Names) -> Annotate:
    """QuickUMLS with its defaults, behind an empty English pipeline of spaCy."""
    from peers.adaptors.quickumls import build

    pipeline, matcher = build(names)

    def spans(text: str) -> list[Span]:
        best = [parts[0] for parts in matcher._match(pipeline(text))]
        return [(one["start"], one["end"], one["cui"]) for one in best]

    return spans


def longest(found: list[Span]) -> list[Span]:
    """Return the longest of spans that overlap, the left one of equal ones."""
    chosen: list[Span] = []
    for start, end, id_ in sorted(found, key=lambda one: (one[0] - one[1], one[0])):
        if all(end <= other[0] or other[1] <= start for other in chosen):
            chosen.append((start, end, id_))
    return sorted(chosen)


ANNOTATORS: dict[str, tuple[Callable[[Names], Annotate], str]] = {
    "gilda": (gilda, "gilda"),
    "flashtext": (flashtext, "flashtext"),
    "pyahocorasick": (ahocorasick, "pyahocorasick"),
    "QuickUMLS": (quickumls, "quickumls"),
}
"""By name: what makes an annotator of names, and the package."""


def main(name: str) -> None:
    """Annotate the texts that are given with one annotator."""
    make, package = ANNOTATORS[name]
    given = json.load(sys.stdin)
    spans = make([(text, id_) for text, id_ in given["names"]])
    began = time.process_time()
    found = [spans(text) for text in given["texts"]]
    seconds = time.process_time() - began
    print(json.dumps({"spans": found, "seconds": seconds, "version": version(package)}))


if __name__ == "__main__":
    main(sys.argv[1])
