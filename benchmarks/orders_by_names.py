"""Orders of candidates, asked for names of the terminology itself: can an index choose its order?

In each domain of the development suite one name of every drawn concept is taken out and asked for,
with each order. The same is done with the names of concepts that the encoder has not read.

    python -m models.make_default --teacher MINILM --hold-out -o held-out
    python benchmarks/orders_by_names.py --names held-out
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import checkout  # noqa: F401
from canonym import Linker
from canonym.linking.reranker import open_order
from canonym.text import normalise
from domains import terminology
from languages_together import accuracy
from models.mixture import mixture_files
from models.suite import Domain, read_suite
from record import data_folder, save

ORDERS = ("nearest", "marginal", "fitted")
_MOST = 1000  # names that are taken out


def without_some(domain: Domain) -> Domain:
    """Take one name of each of a thousand concepts out, and return it as a question."""
    unread = {id_ for _, id_ in domain.questions}
    of_concept: dict[str, list[str]] = {}
    for text, id_ in domain.names:
        of_concept.setdefault(id_, []).append(text)
    rng = random.Random(0)
    drawn = [id_ for id_ in of_concept if id_ not in unread]
    rng.shuffle(drawn)
    questions: list[tuple[str, str]] = []
    for id_ in drawn:
        text = rng.choice(of_concept[id_])
        forms = {normalise(one) for one in of_concept[id_]}
        if len(forms) > 1 and len(questions) < _MOST:
            questions.append((text, id_))
    gone = {(normalise(text), id_) for text, id_ in questions}
    names = [(text, id_) for text, id_ in domain.names if (normalise(text), id_) not in gone]
    return Domain(domain.name, questions, names)


def measure(domain: Domain, what: str, encoder: str) -> Iterator[dict[str, object]]:
    """Yield the accuracy of each order."""
    linker = Linker.build(terminology(domain), encoders=[encoder])
    asked = [(text, frozenset([id_])) for text, id_ in domain.questions]
    shipped = open_order("fitted", ["default"])
    assert shipped is not None
    with TemporaryDirectory() as folder:
        fitted = Path(folder) / "fitted.json"
        shipped.renamed(linker.encoder_names).save(fitted)
        for order in ORDERS:
            linker.use_order(fitted if order == "fitted" else order)
            row = {"domain": domain.name, "asked": what, "n": len(asked), "order": order}
            yield row | {"accuracy@1": accuracy(linker, asked)}


def main() -> None:
    """Ask every domain, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--names", required=True, help="encoder that has not read the questions")
    encoder = parser.parse_args().names
    data = data_folder()
    rows = []
    for domain in read_suite(data):
        for asked, what in ((domain, "unread concepts"), (without_some(domain), "own names")):
            for row in measure(asked, what, encoder):
                rows.append(row)
                print(*row.values(), flush=True)
    save(
        "orders_by_names",
        {"rows": rows},
        packages=("numpy",),
        data=[data / file for file in mixture_files(()).values()],
    )


if __name__ == "__main__":
    main()
