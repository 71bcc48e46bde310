"""The development suite of nine domains, and patients' words: encoders beside one another.

`models.suite` holds one concept in ten out of the training of an encoder, and asks for them by a
name. Patients' words are the mentions of CADEC that are no name verbatim, asked of its concepts.
Each encoder is asked alone, without sieves and preparation: the share of questions whose nearest
name is one of the right concept, and that with it among five concepts.

    python benchmarks/domains.py --encoder "before=FOLDER" --encoder "balanced=FOLDER" \\
        --encoder "all-MiniLM-L6-v2, untrained=FOLDER"

Make an encoder for it with ``python -m models.make_default --hold-out``. What ships has read the
concepts that are held out here. Several encoders with ``+`` between them are searched together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from canonym import Terminology
from canonym.corpora.cadec import read_folds, read_mention_table
from canonym.text import UNORDERED, normalise_all
from canonym.types import Concept, Mention, Name, Record
from inputs import nearest_name_linker, percents
from models.mixture import mixture_files
from models.suite import Domain, read_suite
from record import data_folder, parser, save

ENCODERS = ("character n-grams=chargrams",)
K = 5
FIGURES = ("accuracy@1", f"accuracy@{K}")


def patients(data: Path) -> Domain:
    """Return the mentions of CADEC that are no name, and the names of all its concepts."""
    folds = list(read_folds(data / "cadec"))
    targets = chain.from_iterable(
        read_mention_table(fold.targets) for fold in folds if fold.targets
    )
    names = _pairs(targets)
    mentions = _pairs(chain.from_iterable(fold.test for fold in folds))
    known = set(normalise_all((text for text, _ in names), UNORDERED))
    forms = normalise_all((text for text, _ in mentions), UNORDERED)
    asked = [pair for pair, form in zip(mentions, forms, strict=True) if form not in known]
    return Domain("patients' words", asked, names)


def _pairs(mentions: Iterable[Mention]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((one.text, id_) for one in mentions for id_ in one.ids[:1]))


def domains(data: Path) -> Iterator[Domain]:
    """Yield all domains."""
    yield from read_suite(data)
    yield patients(data)


def names_of(domain: Domain) -> Terminology:
    """Return the names of a domain."""
    records: dict[str, list[Record]] = {}
    for text, id_ in domain.names:
        of_concept = records.setdefault(id_, [])
        of_concept.append(Name(text, id_) if of_concept else Concept(id_, text))
    return Terminology.build(record for group in records.values() for record in group)


def measure(domain: Domain, names: Terminology, encoders: list[str]) -> dict[str, Any]:
    """Ask the encoders for the questions of a domain."""
    links = nearest_name_linker(names, encoders).link([text for text, _ in domain.questions], k=K)
    places = [
        next((at for at, candidate in enumerate(link.candidates) if candidate.id == gold), K)
        for link, (_, gold) in zip(links, domain.questions, strict=True)
    ]
    n = len(places)
    first, *interval = percents(sum(place == 0 for place in places), n)
    return {
        "domain": domain.name,
        "n": n,
        "accuracy@1": first,
        "interval": interval,
        f"accuracy@{K}": round(100 * sum(place < K for place in places) / n, 1),
    }


def main() -> None:
    """Measure each encoder, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--encoder", action="append", default=[], metavar="NAME=WHAT")
    arguments.add_argument("--name", default="domains", help="of the result")
    options, data = arguments.parse_args(), data_folder()
    described = [one.partition("=") for one in (*ENCODERS, *options.encoder)]
    rows: list[dict[str, Any]] = []
    for domain in domains(data):
        names = names_of(domain)
        for name, _, what in described:
            rows.append({"encoder": name, **measure(domain, names, what.split("+"))})
            print(*rows[-1].values(), flush=True)
    means = []
    for name, _, _ in described:
        own = [row for row in rows if row["encoder"] == name]
        mean = {key: round(float(np.mean([row[key] for row in own])), 2) for key in FIGURES}
        means.append({"encoder": name, "n": sum(row["n"] for row in own), **mean})
        print(*means[-1].values())
    files = [data / file for file in mixture_files(()).values()]
    save(options.name, {"means": means, "rows": rows}, packages=("numpy",), data=files)


if __name__ == "__main__":
    main()
