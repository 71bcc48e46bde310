"""What an encoder that is fitted to a terminology learns and forgets, by the share of the start.

- **Names**: an encoder is fitted to the names of a domain of the development suite, and asked for
  those that are held out.
- **Mentions**: an encoder is fitted to the names of MEDIC, and asked for the distinct mentions of
  the development parts that are no name. It has read those of the train parts.

The nearest name counts, without sieves and preparation.

    python -m models.make_default --teacher MINILM --hold-out -o held-out
    python -m models.make_default --teacher MINILM --part train -o train
    python benchmarks/fit_share.py --names held-out --mentions train
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import checkout  # noqa: F401
from canonym import Terminology
from canonym.corpora import read_pubtator
from canonym.encoders import make_encoder
from canonym.encoders.hashing import float_table
from canonym.encoders.subword import Subword
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from canonym.text import PLAIN, normalise, normalise_all
from canonym.training.subword.fit_subword import fit_subword
from canonym.types import Float32Array
from models.suite import read_suite
from record import data_folder, save

DOMAINS = ("anatomy", "phenotypes", "organisms", "mind and society")
CORPORA = {"NCBI disease": ("ncbi-disease", ""), "BC5CDR disease": ("bc5cdr", "Disease")}
MEDIC = "medic-2012/medic_06Jul2012.txt"
SHARES = (0.0, 0.3, 0.5, 0.7)
STEPS = 2000  # as `canonym train subword` takes
_BLOCK = 1000


class Asked(NamedTuple):
    """Strings with the ids one of which is right."""

    name: str
    texts: list[str]
    right: list[frozenset[str]]


def mentions(data: Path, medic: Terminology) -> list[Asked]:
    """Return the distinct mentions of diseases that are no name."""
    ids = ConceptIds(medic)
    known = set(normalise_all((text for texts in medic.iter_texts() for text in texts), PLAIN))
    found = []
    for name, (corpus, type_) in CORPORA.items():
        pairs = {
            (one.text, frozenset(filter(None, map(ids.find, one.ids))))
            for document in read_pubtator(data / corpus / "dev.pubtator")
            for one in document.mentions
            if not type_ or one.type == type_
        }
        kept = sorted(one for one in pairs if one[1] and normalise(one[0]) not in known)
        found.append(Asked(name, [text for text, _ in kept], [gold for _, gold in kept]))
    return found


def accuracy(encoder: Subword, names: list[str], owners: list[str], asked: Asked) -> float:
    """Return the share of strings whose nearest name is one of a right concept."""

    def encode(texts: list[str]) -> Float32Array:
        return encoder.encode(list(normalise_all(texts, encoder.steps)))

    vectors, queries = encode(names), encode(asked.texts)
    starts = range(0, len(queries), _BLOCK)
    nearest = [(queries[at : at + _BLOCK] @ vectors.T).argmax(axis=1) for at in starts]
    hits = zip(np.concatenate(nearest).tolist(), asked.right, strict=True)
    return round(100 * float(np.mean([owners[row] in right for row, right in hits])), 1)


def measure(
    start: Subword, names: list[str], owners: list[str], asked: list[Asked]
) -> list[dict[str, Any]]:
    """Fit an encoder to names, and ask it with each share of the start."""
    number = {owner: at for at, owner in enumerate(dict.fromkeys(owners))}
    concepts = np.array([number[owner] for owner in owners], dtype=np.int32)
    fitted = fit_subword(names, concepts, start=start, steps=STEPS, quantise=False)
    first = float_table(start.table, start.scale)
    rows = []
    for one in asked:
        row: dict[str, Any] = {"asked": one.name, "n": len(one.texts)}
        row["start"] = accuracy(start, names, owners, one)
        for share in SHARES:
            mixed = Subword(
                fitted.table + np.float32(share) * (first - fitted.table), **start.options()
            )
            row[f"share {share}"] = accuracy(mixed.quantised(), names, owners, one)
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    """Fit to each domain and to MEDIC, and write what is found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--names", required=True, metavar="FOLDER", help="encoder for names")
    parser.add_argument("--mentions", required=True, metavar="FOLDER", help="and for mentions")
    options, data = parser.parse_args(), data_folder()
    medic = Terminology.build(read_records(data / MEDIC))
    names = [text for texts in medic.iter_texts() for text in texts]
    ids = [one.id for one in medic.iter_concepts()]
    owners = [ids[row] for row in medic.concept_of_row().tolist()]
    rows = measure(_opened(options.mentions), names, owners, mentions(data, medic))
    for domain in read_suite(data):
        if domain.name in DOMAINS:
            asked = Asked(
                domain.name,
                [text for text, _ in domain.questions],
                [frozenset([id_]) for _, id_ in domain.questions],
            )
            texts, of = [text for text, _ in domain.names], [id_ for _, id_ in domain.names]
            rows += measure(_opened(options.names), texts, of, [asked])
    save("fit_share", {"rows": rows}, packages=("numpy",), data=[data / MEDIC])


def _opened(what: str) -> Subword:
    encoder = make_encoder(what)
    if not isinstance(encoder, Subword):
        raise SystemExit(f"{what}: a subword encoder is expected")
    return encoder


if __name__ == "__main__":
    main()
