"""Names with a space left out, with and without the comparison of names but for their spaces.

Two thousand names of several words are drawn from each of five terminologies, one space of each is
left out, and they are linked to their own terminology: with the second word in small letters as it
was, and with a capital. Counted are the names whose concept comes first, those that a sieve knows,
and those of them whose concept is another one (a name that differs in case alone has two).

    python benchmarks/spaces.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np

from canonym import Linker, Terminology
from inputs import TERMINOLOGIES, terminology_of
from models.suite import MESH
from record import data_folder, parser, printed, save

ASKED = 2_000
SOURCES = ("MEDIC", "HPO", "UBERON", "DrugBank", "MeSH")
_WORDS = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)+")


def concepts_of_names(terminology: Terminology) -> dict[str, set[str]]:
    """Return the concepts of every name of five to sixty characters."""
    concepts: dict[str, set[str]] = {}
    for name in terminology.iter_names():
        if 5 <= len(name.text) <= 60:
            concepts.setdefault(name.text, set()).add(name.concept_id)
    return concepts


def glued(name: str, rng: np.random.Generator, *, capital: bool) -> str:
    """Leave one space of a name out."""
    words = name.split(" ")
    at = int(rng.integers(len(words) - 1))
    second = words[at + 1]
    second = second[0].upper() + second[1:] if capital else second
    return " ".join([*words[:at], words[at] + second, *words[at + 2 :]])


def counted(linker: Linker, texts: list[str], right: list[set[str]]) -> dict[str, int]:
    """Link texts, and count."""
    links = linker.link(texts, k=1)
    first = [link.id in concepts for link, concepts in zip(links, right, strict=True)]
    known = [
        all(
            part.candidates and part.candidates[0].sieve != "search"
            for part in link.parts or [link]
        )
        for link in links
    ]
    wrong = sum(sure and not good for sure, good in zip(known, first, strict=True))
    return {"first": sum(first), "known by a sieve": sum(known), "of these wrong": wrong}


def measured() -> Iterator[dict[str, Any]]:
    """Link the names of each terminology with and without the rule."""
    for source in SOURCES:
        options = MESH if source == "MeSH" else {}
        terminology = terminology_of(TERMINOLOGIES[source][0], **options)
        linker = Linker.build(terminology)
        concepts = concepts_of_names(terminology)
        names = sorted(name for name in concepts if _WORDS.fullmatch(name))
        rng = np.random.default_rng(0)
        drawn = [names[at] for at in rng.choice(len(names), ASKED, replace=False)]
        right = [concepts[name] for name in drawn]
        for capital in (False, True):
            texts = [glued(name, rng, capital=capital) for name in drawn]
            counts = counted(linker, texts, right)
            with patch("canonym.linking.search.is_spaced", lambda *_: False):
                before = counted(Linker.load(linker.folder), texts, right)
            yield {"terminology": source, "capital": capital, "with": counts, "without": before}


if __name__ == "__main__":
    parser(__doc__).parse_args()
    files = [data_folder() / TERMINOLOGIES[source][0] for source in SOURCES]
    save("spaces", {"names": ASKED, "rows": printed(measured())}, packages=["numpy"], data=files)
