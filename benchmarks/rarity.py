"""Mentions of diseases and chemicals, found by words that are weighed by their rarity.

Distinct mentions of the development parts with one gold concept, by the nearest name alone, without
sieves and preparation: among the names of MEDIC or MeSH, and with the names of the train part's
mentions beside them. The encoder has read the train parts. And 3,000 codes that are made up, each
of which is a word of one name, as *CB0751* of *neuron CB0751 of the human*: are they found there?

    python -m models.make_default --teacher MINILM --part train -o train
    python benchmarks/rarity.py --encoder train
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import checkout  # noqa: F401
from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from canonym.types import Concept, Name, Record
from models.sources import read_mesh
from record import data_folder, save

MEDIC = "medic-2012/medic_06Jul2012.txt"
CORPORA = (("ncbi-disease", ""), ("bc5cdr", "Disease"), ("bc5cdr", "Chemical"))
RARITIES = (0, 0.25, 0.5, 1)


def pairs(path: Path, type_: str, ids: ConceptIds) -> Iterator[tuple[str, str]]:
    """Yield distinct mentions with the one concept that each is annotated with."""
    seen = {}
    for document in read_pubtator(path):
        for mention in document.mentions:
            if len(mention.ids) == 1 and (not type_ or mention.type == type_):
                seen[mention.text, ids.find(mention.ids[0])] = True
    yield from ((text, id_) for text, id_ in seen if id_)


def share_right(records: list[Record], encoder: str, asked: list[tuple[str, str]]) -> float:
    """Return the share of mentions whose nearest name is one of their concept, in percent."""
    terminology = Terminology.build(records)
    options: dict[str, Any] = {"sieves": [], "spelling": False, "composites": False}
    linker = Linker.build(terminology, encoders=[encoder], **options)
    links = linker.link([text for text, _ in asked], k=1, context=False)
    right = [link.id == gold for link, (_, gold) in zip(links, asked, strict=True)]
    return round(100 * float(np.mean(right)), 2)


def codes(encoder: str) -> float:
    """Return the share of codes that find the one name with them, in percent."""
    rng = random.Random(0)
    starts = ("CB", "AN", "IL", "KCN", "ABT-", "MK-", "SLC", "rs")
    kinds = ("inhibitor", "protein", "neuron", "gene", "receptor")
    asked = sorted({f"{rng.choice(starts)}{rng.randint(10, 9999)}" for _ in range(3500)})[:3000]
    records: list[Record] = [
        Concept(f"X:{n}", f"{rng.choice(kinds)} {code} of the human")
        for n, code in enumerate(asked)
    ]
    return share_right(records, encoder, [(code, f"X:{n}") for n, code in enumerate(asked)])


def main() -> None:
    """Measure each corpus and rarity, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--encoder", required=True, metavar="FOLDER")
    options, data = parser.parse_args(), data_folder()
    diseases, chemicals = list(read_records(data / MEDIC)), list(read_mesh(data))
    rows: list[dict[str, Any]] = []
    files = [data / MEDIC]
    for corpus, type_ in CORPORA:
        records = chemicals if type_ == "Chemical" else diseases
        ids = ConceptIds(Terminology.build(records))
        train, dev = (data / corpus / f"{part}.pubtator" for part in ("train", "dev"))
        files += [train, dev]
        known = [Name(text, id_) for text, id_ in pairs(train, type_, ids)]
        asked = list(pairs(dev, type_, ids))
        for names, also in (("dictionary alone", []), ("with mentions", known)):
            row: dict[str, Any] = {"corpus": corpus, "type": type_, "names": names}
            row["n"] = len(asked)
            for rarity in RARITIES:
                spec = f"{options.encoder},rarity={rarity}"
                row[f"rarity {rarity}"] = share_right([*records, *also], spec, asked)
            rows.append(row)
            print(*row.values(), flush=True)
    of_codes = {f"rarity {rarity}": codes(f"default,rarity={rarity}") for rarity in RARITIES}
    of_codes["character n-grams"] = codes("chargrams")
    print(of_codes)
    keys = [f"rarity {rarity}" for rarity in RARITIES]
    means = {key: round(float(np.mean([row[key] for row in rows])), 2) for key in keys}
    print(means)
    save(
        "rarity",
        {"means": means, "codes": of_codes, "rows": rows},
        packages=("numpy",),
        data=dict.fromkeys(files),
    )


if __name__ == "__main__":
    main()
