"""What a preference does where a mention is a name of several concepts.

Mentions of the development parts of NCBI disease and BC5CDR are looked up by the sieves alone, in
MEDIC and in MeSH 2024 with supplementary concepts. Counted are those of which several concepts have
the name and one of these is annotated: how often is it first without a context, with it, and with
a preference beside both? A part of a composite mention counts by itself.

    python benchmarks/preferences.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from canonym import Document, Linker, Terminology
from canonym.linking.fitting import annotated_documents
from canonym.linking.homonyms import MOST_TIED
from canonym.linking.links import LinkOptions
from homonyms import terminologies
from inputs import documents_of, linked_mentions, part_of
from record import parser, save_rows

Find = Callable[[str], str | None]
ASKED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("medic", "ncbi-disease", "", ("MESH:", "OMIM:")),
    ("medic", "bc5cdr", "Disease", ("MESH:", "OMIM:")),
    ("mesh with supplementary", "bc5cdr", "Disease", ("C", "D")),
    ("mesh with supplementary", "bc5cdr", "Chemical", ("C", "D")),
)
"""Terminology, corpus, type of the mentions, and what is preferred: a prefix, or a tree of MeSH."""


def first_right(
    linker: Linker, asked: Sequence[Document], find: Find, options: LinkOptions
) -> list[bool | None]:
    """Tell of each mention, or part, whether its first candidate is annotated.

    None is one whose best name is not of several concepts, or of none that is annotated.
    """
    found: list[bool | None] = []
    for mention, link in linked_mentions(linker, asked, **{**options, "k": MOST_TIED}):
        gold = {id_ for each in mention.ids if (id_ := find(each))}
        for part in link.parts or (link,):
            tied = {one.id for one in part.candidates if one.score == part.score}
            possible = len(tied) > 1 and tied & gold
            found.append(part.id in gold if possible else None)
    return found


def measure(
    linker: Linker, documents: Sequence[Document], preferences: Sequence[str]
) -> dict[str, Any]:
    """Count the first candidates that are right among the tied mentions that can be."""
    asked, find = annotated_documents(linker.terminology, documents, ())
    ways: dict[str, LinkOptions] = {"no preference": {}}
    ways |= {one: {"prefer": [one]} for one in preferences}
    right, n = {}, 0
    for context in (False, True):
        for name, options in ways.items():
            found = first_right(linker, asked, find, {**options, "context": context})
            kept = [one for one in found if one is not None]
            right[f"{name}, {'with' if context else 'without'} context"] = sum(kept)
            n = len(kept)
    return {"tied": n, "right": right}


def measured(known: Mapping[str, Terminology]) -> Iterator[dict[str, Any]]:
    """Measure each terminology and corpus."""
    linkers = {name: Linker.build(known[name], encoders=[]) for name, *_ in ASKED}
    for name, corpus, type_, preferences in ASKED:
        row = measure(linkers[name], documents_of(corpus, "dev", type=type_), preferences)
        yield {"terminology": name, "corpus": corpus, "type": type_ or None, **row}


if __name__ == "__main__":
    parser(__doc__).parse_args()
    opened = list(terminologies())
    files = [path for *_, paths in opened for path in paths]
    files += [part_of(corpus, "dev") for _, corpus, *_ in ASKED]
    terms = {name: terminology for name, terminology, _ in opened}
    save_rows("preferences", measured(terms), data=list(dict.fromkeys(files)))
