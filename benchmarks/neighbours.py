"""Nearest names before and after a training, and pictures of both.

The labels of diseases of MeSH that are nearest to "pufferfish poisoning" and "angina", by encoder
(table 7 of Yuan et al. 2020, CODER, has them over ICD-9-CM). With `--pictures` the names of MeSH
are laid out by t-SNE, coloured by concept and by branch (its figures 2 and 3).

    python benchmarks/neighbours.py --encoder untrained=FOLDER --encoder matrix=FOLDER \\
        [--term TERM]... [--pictures FOLDER]
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from canonym import Terminology
from canonym.encoders import make_encoder
from canonym.indexes.exact import Exact
from canonym.types import Encoder
from inputs import MESH, TREES, terminology_of
from record import data_folder, parser, save
from reproduce.measures.pictures import choose_names, make_picture, write_picture

TERMS = ("pufferfish poisoning", "angina")
BRANCHES = ("A", "B", "C", "D", "E", "F")
PICTURES: dict[str, Sequence[str]] = {"concept": ("C",), "type": BRANCHES}
K = 5


def nearest(encoder: Encoder, texts: Sequence[str], names: Sequence[str]) -> list[list[list[Any]]]:
    """Return the nearest names of every text, each with its cosine."""
    table, asked = (np.asarray(encoder.encode(list(which))) for which in (names, texts))
    hits = Exact.build(table).search(asked, K)
    return [
        [[names[row], round(score, 3)] for row, score in zip(*found, strict=True)]
        for found in zip(hits.rows.tolist(), hits.scores.tolist(), strict=True)
    ]


def draw(encoder: Encoder, called: str, mesh: Terminology, folder: Path) -> None:
    """Write a picture of names by concept, and one of labels by branch of MeSH."""
    folder.mkdir(parents=True, exist_ok=True)
    for by, types in PICTURES.items():
        shown = choose_names(mesh, by=by, types=types)
        picture = make_picture(shown, encoder.encode([one.name for one in shown]), by=by)
        write_picture(picture, folder / f"{called}-{by}.svg", title=f"{called}, by {by}")


def main() -> None:
    """Write the nearest names of every encoder, and its pictures."""
    arguments = parser(__doc__)
    arguments.add_argument("--encoder", action="append", required=True, metavar="NAME=FOLDER")
    arguments.add_argument("--term", action="append", help="instead of CODER's two")
    arguments.add_argument("--pictures", type=Path, metavar="FOLDER", help="where pictures go")
    options = arguments.parse_args()
    encoders = dict(one.partition("=")[::2] for one in options.encoder)
    if not all(encoders.values()):
        arguments.error("--encoder: NAME=FOLDER is expected")
    terms, data = options.term or list(TERMS), data_folder()
    mesh = terminology_of(MESH, format="table", prefix="MESH:", trees=data / TREES, tree_types=True)
    labels = [one.label for one in mesh.iter_concepts() if "C" in one.types and one.label]
    rows = []
    for called, folder in encoders.items():
        encoder = make_encoder(folder)
        names = nearest(encoder, terms, labels)
        rows.append({"encoder": called, "nearest": dict(zip(terms, names, strict=True))})
        print(rows[-1], flush=True)
        if options.pictures:
            draw(encoder, called, mesh, options.pictures)
    result = {"labels": len(labels), "rows": rows}
    save("neighbours", result, packages=["torch", "transformers"], data=[data / MESH, data / TREES])


if __name__ == "__main__":
    main()
