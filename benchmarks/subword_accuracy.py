"""Accuracy of the subword encoder, and its loss by 8 bits.

Accuracy is BioSyn's: a mention is right when the nearest name has any of the gold's ids, a
composite mention when each of its parts is right. Mentions and dictionaries are those of BioSyn's
authors: ``merged`` has the names of the training and development mentions, ``alone`` does not. The
default encoder has read the development parts, so it is measured on the test parts alone.
``--choosing`` is one of ``python -m models.make_default --part train``, measured on the
development parts, and each ``--again`` one of another seed. ``--fit`` fits one to the names of
MEDIC in the dictionary alone, as ``canonym train subword --start none`` does. Everyday names are
looked up among all names of ICD-10-CM; one is right when the first code, or one of the first five,
belongs to an accepted family (``everyday_names.tsv``).

    python benchmarks/subword_accuracy.py [--choosing FOLDER] [--again FOLDER]... [--fit]
"""

from __future__ import annotations

import copy
import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np

from canonym.corpora.concept_files import mention_parts, read_concepts
from canonym.encoders import load_encoder, make_encoder
from canonym.encoders.subword import Subword
from canonym.terminology.readers.icd10cm import read_icd10cm
from canonym.training.subword.fit_subword import fit_subword
from canonym.types import Concept, Name
from inputs import beside, rows_beside
from record import data_folder, parser, save

CORPORA = ("ncbi-disease", "bc5cdr-disease")


Dictionary = tuple[list[str], list[set[str]]]
"""Names, and the ids of each."""

Asked = list[tuple[list[str], frozenset[str]]]
"""The parts of each mention, and its ids."""


def read_dictionary(path: Path) -> Dictionary:
    """Return the names of a dictionary ``id|id||name`` and the ids of each."""
    names, ids = [], []
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            written, _, name = line.rstrip("\n").partition("||")
            names.append(name)
            ids.append(set(written.split("|")))
    return names, ids


def nearest(strings: list[str], names: list[str], encoder: Subword, vectors: Any) -> list[int]:
    """Return the row of the nearest name for each string, the first of equals.

    The string itself is before names that the encoder takes for the same, such as its plural.
    """
    own = {name: row for row, name in reversed(list(enumerate(names)))}
    rows: list[int] = []
    for start in range(0, len(strings), 256):
        block = strings[start : start + 256]
        found = (encoder.encode(block) @ vectors.T).argmax(axis=1)
        rows += [own.get(text, int(row)) for text, row in zip(block, found, strict=True)]
    return rows


def read_asked(path: Path) -> Asked:
    """Return the mentions of a prepared file."""
    return [(list(mention_parts(one)), frozenset(one.ids)) for one in read_concepts(path)]


def shares(
    encoder: Subword, vectors: Any, dictionary: Dictionary, asked: Asked
) -> dict[str, float]:
    """Return the shares of mentions, and of distinct ones, whose parts are right, in percent."""
    parts = sorted({part for own, _ in asked for part in own})
    names, ids = dictionary
    near = dict(zip(parts, nearest(parts, names, encoder, vectors), strict=True))
    right = [all(ids[near[part]] & gold for part in own) for own, gold in asked]
    strings = {(tuple(own), gold): good for (own, gold), good in zip(asked, right, strict=True)}
    return {
        "mentions": round(100 * float(np.mean(right)), 2),
        "strings": round(100 * float(np.mean(list(strings.values()))), 2),
    }


def accuracy(encoder: Subword, folder: Path, dictionary: str, split: str) -> float:
    """Return acc@1 in percent."""
    names = read_dictionary(folder / f"{dictionary}_dictionary.txt.gz")
    fitted = copy.copy(encoder).fit(names[0])
    asked = read_asked(folder / f"{split}.concept")
    return shares(fitted, fitted.encode(names[0]), names, asked)["mentions"]


def accuracies(encoder: Subword, data: Path, splits: list[str]) -> dict[str, Any]:
    """Return the accuracy on each corpus, split and dictionary."""
    # The dictionary for a split has the mentions of the splits before it merged in.
    return {
        f"{corpus} {split}": {
            kind: accuracy(encoder, data / "biosyn-processed" / corpus, dictionary, split)
            for kind, dictionary in (("merged", split), ("alone", "train"))
        }
        for corpus in CORPORA
        for split in splits
    }


def everyday(encoder: Subword) -> dict[str, Any]:
    """Look up everyday names in ICD-10-CM."""
    codes, names = [], []
    for record in read_icd10cm():
        if isinstance(record, Concept):
            codes.append(record.id.removeprefix("ICD10CM:"))
            names.append(record.label)
        elif isinstance(record, Name):
            codes.append(record.concept_id.removeprefix("ICD10CM:"))
            names.append(record.text)
    encoder = copy.copy(encoder).fit(names)
    vectors = encoder.encode(names)
    asked = rows_beside("everyday_names")
    first = five = 0
    wrong = {}
    for row in asked:
        scores = (encoder.encode([row["name"]]) @ vectors.T)[0]
        best: dict[str, float] = {}
        for place in np.argsort(-scores)[:100]:
            best.setdefault(codes[place], float(scores[place]))
        # Of equals the more general code first, as the linker does by label and id.
        ranked = sorted(best, key=lambda code: (-round(best[code], 6), len(code), code))[:5]
        accepted = tuple(row["families"].split())
        right = [code.startswith(accepted) for code in ranked]
        first += right[0]
        five += any(right)
        if not right[0]:
            wrong[row["name"]] = ranked[0]
    return {
        "names": len(asked),
        "top-1": round(100 * first / len(asked), 1),
        "top-5": round(100 * five / len(asked), 1),
        "first code of the others": wrong,
    }


def opened(folder: Path) -> Subword:
    """Open an encoder that `models.make_default` made."""
    encoder = load_encoder(folder)
    assert isinstance(encoder, Subword)
    return encoder


def main() -> None:
    """Measure and write the result."""
    arguments = parser(__doc__)
    arguments.add_argument("--choosing", type=Path, help="has read the training parts alone")
    arguments.add_argument("--again", type=Path, action="append", default=[], help="another seed")
    arguments.add_argument("--fit", action="store_true", help="also fit to MEDIC alone")
    options = arguments.parse_args()
    data = data_folder()
    folder = data / "biosyn-processed"
    names, ids = read_dictionary(folder / "ncbi-disease" / "train_dictionary.txt.gz")
    default = make_encoder("default")
    assert isinstance(default, Subword)
    result: dict[str, Any] = {
        "default, 8 bits": accuracies(default, data, ["test"]),
        "everyday names": everyday(default),
    }
    print(result, flush=True)
    if options.choosing:
        result["made from the training parts"] = accuracies(opened(options.choosing), data, ["dev"])
    for folder_again in options.again:
        again = opened(folder_again)
        seed = again.trained["seed"]
        result[f"made with seed {seed}"] = accuracies(again, data, ["test"])
        print(result[f"made with seed {seed}"], flush=True)
    if options.fit:
        numbers: dict[str, int] = {}
        concepts = [numbers.setdefault("|".join(sorted(those)), len(numbers)) for those in ids]
        began = time.perf_counter()
        exact = fit_subword(names, concepts, quantise=False)
        seconds = round(time.perf_counter() - began)
        result["fitted to MEDIC, seed 0"] = {
            "seconds": seconds,
            "float32": accuracies(exact, data, ["dev", "test"]),
            "8 bits": accuracies(exact.quantised(), data, ["dev", "test"]),
        }
        print(result["fitted to MEDIC, seed 0"], flush=True)
    files = [
        folder / corpus / file
        for corpus in CORPORA
        for split in ("train", "dev", "test")
        for file in (f"{split}.concept", f"{split}_dictionary.txt.gz")
    ]
    save(
        "subword_accuracy",
        result,
        packages=["numpy", "scipy"],
        data=[beside("everyday_names"), *files],
    )


if __name__ == "__main__":
    main()
