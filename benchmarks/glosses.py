"""Mentions that explain each other in brackets: how often they mean the same, and the gain.

The training and development parts of BC5CDR and NCBI disease, each with the mentions of the other
part as names, in BioSyn's protocol: how many mentions are looked up by their gloss, and how many of
those are right before and afterwards. The encoder has read neither part.

    python -m models.make_default --part none -o names
    python benchmarks/glosses.py --encoder names
"""

from __future__ import annotations

import json

from canonym import Terminology
from canonym.encoders import make_encoder
from canonym.evaluation.dictionary import as_explained, build_dictionary
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import make_questions
from canonym.terminology.ids import ConceptIds
from canonym.types import Encoder
from inputs import MEDIC, documents_of, part_of, terminology_of
from models.sources import read_mesh
from record import data_folder, save, unread_encoder

PARTS = {"train": "dev", "dev": "train"}
CORPORA = (("bc5cdr", "Disease"), ("bc5cdr", "Chemical"), ("ncbi-disease", ""))


def count(
    encoder: Encoder, terminology: Terminology, corpus: str, type_: str, part: str
) -> dict[str, int]:
    """Ask a part with and without glosses, with the mentions of the other part as names."""
    asked = make_questions(
        documents_of(corpus, part),
        ConceptIds(terminology),
        choose_protocol("biosyn", glosses=True),
        training=documents_of(corpus, PARTS[part]),
        types=(type_,) if type_ else (),
    )
    dictionary = build_dictionary(terminology, asked.learned, encoders=[encoder])
    explained = as_explained(asked, dictionary).questions
    pairs = [
        pair
        for pair in zip(asked.questions, explained, strict=True)
        if pair[0].parts != pair[1].parts
    ]
    strings = {question.parts[0] for pair in pairs for question in pair}
    names = dictionary.find_names(strings, 1) if strings else {}
    right = [
        tuple(bool(set(names[question.parts[0]][0].ids) & question.concepts) for question in pair)
        for pair in pairs
    ]
    lost, gained = right.count((True, False)), right.count((False, True))
    return {"changed": len(pairs), "found": gained, "lost": lost}


def main() -> None:
    """Ask both parts, and write the counts."""
    encoder, data = make_encoder(unread_encoder(__doc__)), data_folder()
    diseases, chemicals = terminology_of(MEDIC), Terminology.build(read_mesh(data))
    result = {
        " ".join(filter(None, (corpus, type_, part))): count(
            encoder, chemicals if type_ == "Chemical" else diseases, corpus, type_, part
        )
        for corpus, type_ in CORPORA
        for part in PARTS
    }
    print(json.dumps(result, indent=1))
    files = [part_of(corpus, part) for corpus in ("bc5cdr", "ncbi-disease") for part in PARTS]
    save("glosses", {"parts": result}, packages=["numpy"], data=[data / MEDIC, *files])


if __name__ == "__main__":
    main()
