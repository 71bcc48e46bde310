"""Mentions of diseases and chemicals, found by words that are weighed by their rarity.

Distinct mentions of the development parts with one gold concept, by the nearest name alone, without
sieves and preparation: among the names of MEDIC or MeSH, and with the names of the train part's
mentions beside them. The encoder has read the train parts. And 3,000 codes that are made up, each
of which is a word of one name, as *CB0751* of *neuron CB0751 of the human*: are they found there?

    python -m models.make_default --teacher MINILM --part train -o train
    python benchmarks/rarity.py --encoder train
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from canonym import Terminology
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from canonym.types import Concept, Name, Record
from inputs import MEDIC, documents_of, nearest_name_linker, part_of
from models.sources import read_mesh
from record import data_folder, parser, printed, save

CORPORA = (("ncbi-disease", ""), ("bc5cdr", "Disease"), ("bc5cdr", "Chemical"))
KEYS = {f"rarity {rarity}": rarity for rarity in (0, 0.25, 0.5, 1)}


def pairs(corpus: str, part: str, type_: str, ids: ConceptIds) -> Iterator[tuple[str, str]]:
    """Yield distinct mentions with the one concept that each is annotated with."""
    seen = {
        (mention.text, ids.find(mention.ids[0])): True
        for document in documents_of(corpus, part, type=type_)
        for mention in document.mentions
        if len(mention.ids) == 1
    }
    yield from ((text, id_) for text, id_ in seen if id_)


def share_right(records: list[Record], encoder: str, asked: list[tuple[str, str]]) -> float:
    """Return the share of mentions whose nearest name is one of their concept, in percent."""
    linker = nearest_name_linker(Terminology.build(records), [encoder])
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


def measured(encoder: str, records: Mapping[str, list[Record]]) -> Iterator[dict[str, Any]]:
    """Yield the share that is right of each corpus, with and without the mentions of its train."""
    for corpus, type_ in CORPORA:
        names = records["chemicals" if type_ == "Chemical" else "diseases"]
        ids = ConceptIds(Terminology.build(names))
        known = [Name(text, id_) for text, id_ in pairs(corpus, "train", type_, ids)]
        asked = list(pairs(corpus, "dev", type_, ids))
        for what, also in (("dictionary alone", []), ("with mentions", known)):
            yield {"corpus": corpus, "type": type_, "names": what, "n": len(asked)} | {
                key: share_right([*names, *also], f"{encoder},rarity={rarity}", asked)
                for key, rarity in KEYS.items()
            }


def main() -> None:
    """Measure each corpus and rarity, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--encoder", required=True, metavar="FOLDER")
    options, data = arguments.parse_args(), data_folder()
    records = {"diseases": list(read_records(data / MEDIC)), "chemicals": list(read_mesh(data))}
    rows = printed(measured(options.encoder, records))
    of_codes = {key: codes(f"default,rarity={rarity}") for key, rarity in KEYS.items()}
    of_codes["character n-grams"] = codes("chargrams")
    means = {key: round(float(np.mean([row[key] for row in rows])), 2) for key in KEYS}
    print(of_codes, means, sep="\n")
    files = [part_of(corpus, part) for corpus, _ in CORPORA for part in ("train", "dev")]
    save(
        "rarity",
        {"means": means, "codes": of_codes, "rows": rows},
        packages=("numpy",),
        data=dict.fromkeys([data / MEDIC, *files]),
    )


if __name__ == "__main__":
    main()
