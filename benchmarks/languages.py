"""Names of the Human Phenotype Ontology in other languages, searched among its English ones.

For each encoder and language, accuracy@1 and @5 of up to `--most` translations of concepts whose
translations the multilingual encoder has not read, one in ten; "different" leaves out those that
are written as an English name of their concept. Czech and Turkish have synonyms only, the others
official labels. Then one term in every language, with the English name that each finds.

    python benchmarks/languages.py [--encoder NAME=WHAT]... [--term HP:0000016] [--most 2000]

WHAT is as `canonym index --encoder` takes it, such as a folder that `canonym train` wrote.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from canonym import Linker, Terminology
from canonym.terminology.readers.babelon import read_babelon
from canonym.terminology.readers.obo import read_obo
from canonym.types import Concept, Name, Record
from inputs import HPO as ENGLISH
from models.make_judge import LANGUAGES as FILES
from models.translations import is_held_out
from record import data_folder, parser, save_rows
from reproduce.measures.crosslingual import crosslingual

ENCODERS = {"character n-grams": "chargrams", "default": "default", "multilingual": "multilingual"}
K = (1, 5)


def english_names(data: Path) -> Iterator[Record]:
    """Yield the English names of 2014, and labels that only the translations have."""
    known = set()
    for record in read_obo(data / ENGLISH):
        if isinstance(record, Concept):
            known.add(record.id)
        yield record
    for file in FILES.values():
        for record in read_babelon(data / "multilingual" / "hpo" / file):
            if isinstance(record, Concept) and record.label and record.id not in known:
                known.add(record.id)
                yield record


def translations(data: Path, english: Iterable[Record]) -> Iterator[tuple[str, list[Name]]]:
    """Yield each language with the names that concepts with an English name have there."""
    known = {one.id for one in english if isinstance(one, Concept)}
    for tag, file in FILES.items():
        records = read_babelon(data / "multilingual" / "hpo" / file)
        yield tag, [one for one in records if isinstance(one, Name) and one.concept_id in known]


def unread(names: Iterable[Name], most: int) -> list[Name]:
    """Draw names of concepts whose translations the multilingual encoder has not read."""
    held_out = [name for name in names if is_held_out(name.concept_id)]
    random.Random(1).shuffle(held_out)
    return held_out[:most]


def terminology(data: Path, *, most: int, term: str) -> Terminology:
    """Return all English names, and a draw of names in other languages that has the term's."""
    english = list(english_names(data))
    drawn: list[Name] = []
    for _, names in translations(data, english):
        drawn += [*unread(names, most), *(name for name in names if name.concept_id == term)]
    return Terminology.build([*english, *drawn])


def measure(linker: Linker, term: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each language."""
    names = {name.language: name.text for name in linker.terminology.names(term)}
    for language in [tag for tag in linker.terminology.languages() if tag in FILES]:
        crossings = crosslingual(linker, languages=[language, "en"], k=K)
        crossing = next(one for one in crossings if one.source == language)
        row: dict[str, Any] = {"language": language, "n": crossing.n, "same": crossing.n_same}
        for k in K:
            row[f"accuracy@{k}"] = crossing.accuracy[k].value
            row[f"different@{k}"] = crossing.different[k].value
        if language in names:
            filters = linker.pipeline.filters.choose(languages=["en"])
            hits = linker.pipeline.nearest([names[language]], 1, filters)[names[language]]
            nearest = linker.terminology.names_at([hit.row for hit in hits])
            row |= {"term": names[language], "nearest": [name.text for name in nearest]}
        yield row


def main() -> None:
    """Measure each encoder, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--encoder", action="append", default=[], metavar="NAME=WHAT")
    arguments.add_argument("--term", default="HP:0000016")
    arguments.add_argument("--most", type=int, default=2000)
    options, data = arguments.parse_args(), data_folder()
    encoders = dict(one.split("=", 1) for one in options.encoder) or ENCODERS
    searched = terminology(data, most=options.most, term=options.term)
    rows = (
        {"encoder": name, **row}
        for name, what in encoders.items()
        for row in measure(Linker.build(searched, encoders=[what]), options.term)
    )
    files = [data / "multilingual" / "hpo" / file for file in FILES.values()]
    save_rows("languages", rows, data=[data / ENGLISH, *files])


if __name__ == "__main__":
    main()
