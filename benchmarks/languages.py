"""Names of the Human Phenotype Ontology in other languages, searched among its English ones.

For each encoder and language, accuracy@1 and @5 of up to `--most` official translations of labels;
"different" leaves out those that are written as an English name of their concept. Then one term in
every language, with the English name that each finds.

    python benchmarks/languages.py [--encoder NAME=WHAT]... [--term HP:0001250] [--most 1000]

WHAT is as `canonym index --encoder` takes it, such as a folder that `canonym train` wrote.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from canonym import Linker, Name, Terminology
from canonym.evaluation.similarity.crosslingual import crosslingual
from canonym.terminology.readers.obo import read_obo
from record import data_folder, save

LANGUAGES = ("de", "es", "fr", "it", "ja", "pt", "zh")
ENCODERS = {"character n-grams": "chargrams"}
ENGLISH = "hpo/hp-2014-11-14.obo.gz"
K = (1, 5)


def translations(path: Path, language: str) -> Iterator[Name]:
    """Yield the official translations of labels in a Babelon table."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            official = row["translation_status"] == "OFFICIAL" and row["translation_value"]
            if official and row["predicate_id"] == "rdfs:label":
                yield Name(row["translation_value"], row["subject_id"], language=language)


def terminology(data: Path, *, most: int, term: str) -> Terminology:
    """Return all English names, and a draw of names in other languages that has the term's."""
    english = list(read_obo(data / ENGLISH))
    known = {one.concept_id for one in english if isinstance(one, Name)}
    drawn: list[Name] = []
    for language in LANGUAGES:
        path = data / "multilingual" / "hpo" / f"hp-{language}.babelon.tsv.gz"
        found = [one for one in translations(path, language) if one.concept_id in known]
        random.Random(1).shuffle(found)
        drawn += sorted(found, key=lambda one: one.concept_id != term)[:most]
    return Terminology.build([*english, *drawn])


def measure(linker: Linker, term: str) -> list[dict[str, Any]]:
    """Return a row for each language."""
    names = {one.language: one.text for one in linker.terminology.names(term)}
    rows = []
    for language in [tag for tag in linker.terminology.languages() if tag in LANGUAGES]:
        crossings = crosslingual(linker, languages=[language, "en"], k=K)
        found = next(one for one in crossings if one.source == language)
        row: dict[str, Any] = {"language": language, "n": found.n, "same": found.n_same}
        for k in K:
            row[f"accuracy@{k}"] = found.accuracy[k].value
            row[f"different@{k}"] = found.different[k].value
        if language in names:
            filters = linker.pipeline.filters.choose(languages=["en"])
            hits = linker.pipeline.nearest([names[language]], 1, filters)[names[language]]
            nearest = linker.terminology.names_at([hit.row for hit in hits])
            row |= {"term": names[language], "nearest": [one.text for one in nearest]}
        rows.append(row)
    return rows


def main() -> None:
    """Measure each encoder, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--encoder", action="append", default=[], metavar="NAME=WHAT")
    parser.add_argument("--term", default="HP:0001250")
    parser.add_argument("--most", type=int, default=1000)
    options = parser.parse_args()
    encoders = dict(one.split("=", 1) for one in options.encoder) or ENCODERS
    data = data_folder()
    searched = terminology(data, most=options.most, term=options.term)
    rows = []
    for name, what in encoders.items():
        linker = Linker.build(searched, encoders=[what])
        for row in measure(linker, options.term):
            rows.append({"encoder": name, **row})
            print(*(f"{v:.3f}" if isinstance(v, float) else v for v in rows[-1].values()))
    save("languages", {"rows": rows}, packages=("numpy", "torch"), data=[data / ENGLISH])


if __name__ == "__main__":
    main()
