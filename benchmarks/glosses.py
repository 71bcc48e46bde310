"""Mentions that explain each other in brackets: how often they mean the same, and the gain.

The training and development parts of BC5CDR and NCBI disease, each with the mentions of the other
part as names, in BioSyn's protocol: how many mentions are looked up by their gloss, and how many of
those are right before and afterwards. The encoder has read neither part.

    python -m models.make_default --part none -o names
    python benchmarks/glosses.py --encoder names
"""

from __future__ import annotations

import json
from typing import Any

import record  # noqa: F401  # finds the models
from canonym import Terminology
from canonym.corpora import read_pubtator
from canonym.encoders import make_encoder
from canonym.evaluation.dictionary import as_explained, build_dictionary
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import make_questions
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from models.sources import read_mesh
from record import chosen_encoder, data_folder, save

MEDIC = "medic-2012/medic_06Jul2012.txt"
PARTS = {"train": "dev", "dev": "train"}


def main() -> None:
    """Ask both parts with and without, and write the counts."""
    encoder, data = make_encoder(chosen_encoder(__doc__)), data_folder()
    diseases = Terminology.build(read_records(data / MEDIC))
    chemicals = Terminology.build(read_mesh(data))
    result: dict[str, Any] = {}
    for corpus, types, terminology in (
        ("bc5cdr", ("Disease",), diseases),
        ("bc5cdr", ("Chemical",), chemicals),
        ("ncbi-disease", (), diseases),
    ):
        for part, other in PARTS.items():
            asked = make_questions(
                read_pubtator(data / corpus / f"{part}.pubtator"),
                ConceptIds(terminology),
                choose_protocol("biosyn", glosses=True),
                training=list(read_pubtator(data / corpus / f"{other}.pubtator")),
                types=types,
            )
            dictionary = build_dictionary(terminology, asked.learned, encoders=[encoder])
            pairs = [
                (before, after)
                for before, after in zip(
                    asked.questions, as_explained(asked, dictionary).questions, strict=True
                )
                if before.parts != after.parts
            ]
            strings = {one.parts[0] for pair in pairs for one in pair}
            found = dictionary.find_names(strings, 1) if strings else {}
            right = [
                tuple(bool(set(found[one.parts[0]][0].ids) & one.concepts) for one in pair)
                for pair in pairs
            ]
            result[f"{' '.join((corpus, *types))} {part}"] = {
                "changed": len(pairs),
                "found": right.count((False, True)),
                "lost": right.count((True, False)),
            }
    print(json.dumps(result, indent=1))
    files = [data / c / f"{part}.pubtator" for c in ("bc5cdr", "ncbi-disease") for part in PARTS]
    save("glosses", {"parts": result}, packages=["numpy"], data=[data / MEDIC, *files])


if __name__ == "__main__":
    main()
