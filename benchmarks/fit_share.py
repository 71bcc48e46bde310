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

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from canonym import Terminology
from canonym.encoders import make_encoder
from canonym.encoders.hashing import float_table
from canonym.encoders.subword import Subword
from canonym.terminology.ids import ConceptIds
from canonym.text import PLAIN, normalise, normalise_all
from canonym.training.subword.fit_subword import fit_subword
from canonym.types import Float32Array
from inputs import DISEASES, MEDIC, documents_of, terminology_of
from models.suite import read_suite
from record import data_folder, parser, save_rows

DOMAINS = ("anatomy", "phenotypes", "organisms", "mind and society")
SHARES = (0.0, 0.3, 0.5, 0.7)
STEPS = 2000  # as `canonym train subword` takes
_BLOCK = 1000


class Asked(NamedTuple):
    """Strings with the ids one of which is right."""

    name: str
    texts: list[str]
    right: list[frozenset[str]]


def unknown_mentions(medic: Terminology) -> list[Asked]:
    """Return the distinct mentions of diseases that are no name."""
    ids = ConceptIds(medic)
    known = set(normalise_all((text for texts in medic.iter_texts() for text in texts), PLAIN))
    asked = []
    for name, (corpus, type_) in DISEASES.items():
        pairs = {
            (mention.text, frozenset(filter(None, map(ids.find, mention.ids))))
            for document in documents_of(corpus, "dev", type=type_)
            for mention in document.mentions
        }
        own = sorted(pair for pair in pairs if pair[1] and normalise(pair[0]) not in known)
        asked.append(Asked(name, [text for text, _ in own], [gold for _, gold in own]))
    return asked


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
) -> Iterator[dict[str, Any]]:
    """Fit an encoder to names, and ask it with each share of the start."""
    number = {owner: at for at, owner in enumerate(dict.fromkeys(owners))}
    concepts = np.array([number[owner] for owner in owners], dtype=np.int32)
    fitted = fit_subword(names, concepts, start=start, steps=STEPS, quantise=False)
    first = float_table(start.table, start.scale)
    for strings in asked:
        row: dict[str, Any] = {"asked": strings.name, "n": len(strings.texts)}
        row["start"] = accuracy(start, names, owners, strings)
        for share in SHARES:
            table = fitted.table + np.float32(share) * (first - fitted.table)
            mixed = Subword(table, **start.options()).quantised()
            row[f"share {share}"] = accuracy(mixed, names, owners, strings)
        yield row


def measured(of_names: str, of_mentions: str) -> Iterator[dict[str, Any]]:
    """Fit to MEDIC and to each domain."""
    medic = terminology_of(MEDIC)
    names = [text for texts in medic.iter_texts() for text in texts]
    ids = [concept.id for concept in medic.iter_concepts()]
    owners = [ids[row] for row in medic.concept_of_row().tolist()]
    yield from measure(_opened(of_mentions), names, owners, unknown_mentions(medic))
    for domain in read_suite(data_folder()):
        if domain.name in DOMAINS:
            texts, right = zip(*domain.questions, strict=True)
            asked = Asked(domain.name, [*texts], [frozenset([id_]) for id_ in right])
            names, owners = map(list, zip(*domain.names, strict=True))
            yield from measure(_opened(of_names), names, owners, [asked])


def _opened(what: str) -> Subword:
    encoder = make_encoder(what)
    if not isinstance(encoder, Subword):
        raise SystemExit(f"{what}: a subword encoder is expected")
    return encoder


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--names", required=True, metavar="FOLDER", help="encoder for names")
    arguments.add_argument("--mentions", required=True, metavar="FOLDER", help="and for mentions")
    options = arguments.parse_args()
    rows = measured(options.names, options.mentions)
    save_rows("fit_share", rows, data=[data_folder() / MEDIC])
