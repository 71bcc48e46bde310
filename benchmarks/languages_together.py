"""The default, multilingual and universal encoders, alone and in one index, in many languages.

Translations of HPO's concepts that the multilingual encoder has not read are asked of an index of
English names. English is asked in three ways: names of HPO that are taken out of the index, and the
distinct mentions of two development parts in MEDIC, which both encoders have read.

    python benchmarks/languages_together.py
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

import checkout  # noqa: F401
from canonym import Linker, Terminology
from canonym.terminology import read_records
from canonym.terminology.readers.babelon import read_babelon
from canonym.types import Concept, Name
from domains import terminology
from fit_share import CORPORA, MEDIC, mentions
from languages import ENGLISH, FILES, english_names
from models.suite import read_suite
from models.translations import is_held_out
from record import data_folder, save

ENCODERS = {
    "default": ("default",),
    "multilingual": ("multilingual",),
    "both": ("default", "multilingual"),
    "universal": ("universal",),
    "multilingual and universal": ("multilingual", "universal"),
    "all three": ("default", "multilingual", "universal"),
}
_MOST = 400  # names of a language


def translations(data: Path, known: set[str]) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """Return names of each language whose concepts are held out, with their concepts."""
    found = {}
    for tag, file in FILES.items():
        names = [
            (one.text, frozenset([one.concept_id]))
            for one in read_babelon(data / "multilingual" / "hpo" / file)
            if isinstance(one, Name) and one.concept_id in known and is_held_out(one.concept_id)
        ]
        random.Random(1).shuffle(names)
        found[tag] = names[:_MOST]
    return found


def accuracy(linker: Linker, asked: list[tuple[str, frozenset[str]]]) -> float:
    """Return the share of strings whose first candidate is right."""
    links = linker.link([text for text, _ in asked], k=1)
    right = [
        bool(link.candidates) and link.candidates[0].id in gold
        for link, (_, gold) in zip(links, asked, strict=True)
    ]
    return round(100 * float(np.mean(right)), 1)


def main() -> None:
    """Ask each index in each language, print and save."""
    data = data_folder()
    english = list(english_names(data))
    known = {one.id for one in english if isinstance(one, Concept)}
    domain = next(one for one in read_suite(data) if one.name == "phenotypes")
    medic = Terminology.build(read_records(data / MEDIC))
    diseases = {
        f"English, {one.name}": list(zip(one.texts, one.right, strict=True))
        for one in mentions(data, medic)
    }
    phenotypes = [(text, frozenset([id_])) for text, id_ in domain.questions]
    cases = (
        (Terminology.build(english), translations(data, known)),
        (terminology(domain), {"English, names of HPO": phenotypes}),
        (medic, diseases),
    )
    rows: list[dict[str, Any]] = []
    for searched, asked in cases:
        for name, encoders in ENCODERS.items():
            linker = Linker.build(searched, encoders=encoders)
            for what, strings in asked.items():
                row = {"asked": what, "n": len(strings), "encoder": name}
                rows.append(row | {"accuracy@1": accuracy(linker, strings)})
                print(*rows[-1].values(), flush=True)
    files = [data / "multilingual" / "hpo" / file for file in FILES.values()]
    corpora = [data / corpus / "dev.pubtator" for corpus, _ in CORPORA.values()]
    save(
        "languages_together",
        {"rows": rows},
        packages=("numpy",),
        data=[data / ENGLISH, *files, data / MEDIC, *corpora],
    )


if __name__ == "__main__":
    main()
