"""Errors that are left on the test parts, by kind.

The shipped encoders, in BioSyn's protocol, the very concept first: wrong mentions by
kind of error (`canonym.evaluation.error_kinds`), by the place of the right concept among 20
candidates, and whether the string was a mention of the training or development part. Nothing is
chosen by it.

    python benchmarks/error_kinds.py
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from canonym.evaluation.error_kinds import ERROR_KINDS, WrongAnswer, find_wrong_answers
from canonym.evaluation.questions import read_corrections
from canonym.evaluation.run import evaluate_corpus
from inputs import MEDIC, PARTS, documents_of, part_of, terminology_of
from record import data_folder, parser, save

CORPORA: dict[str, dict[str, Any]] = {
    "ncbi-disease": {"corrections": "medic-2012/ncbi-spell-check.txt"},
    "bc5cdr": {"types": ["Disease"]},
}
SYSTEM = "default"


def place_of(wrong: WrongAnswer) -> str:
    """Return where the right concept was found."""
    if wrong.place is None:
        return "not among 20"
    return "second" if wrong.place <= 2 else "third to fifth" if wrong.place <= 5 else "sixth to 20"


def main() -> None:
    """Evaluate, sort the errors, and write the counts."""
    parser(__doc__).parse_args()
    data, result = data_folder(), {}
    terminology = terminology_of(MEDIC)
    for corpus, options in CORPORA.items():
        corrections = options.get("corrections")
        run = evaluate_corpus(
            documents_of(corpus, "test"),
            terminology=terminology,
            training=documents_of(corpus, "train", "dev"),
            protocol="biosyn",
            types=options.get("types", ()),
            corrections=read_corrections(data / corrections) if corrections else None,
            encoders=[SYSTEM],
        )
        wrong = find_wrong_answers(run, "strict")
        known = {text for text, _ in run.learned}
        kinds = Counter(answer.kind for answer in wrong)
        counts = {
            "mentions": len(run.questions),
            "wrong": len(wrong),
            "strings": len({(answer.searched, answer.gold) for answer in wrong}),
            "kinds": {kind: kinds[kind] for kind in ERROR_KINDS if kinds[kind]},
            "places": dict(Counter(map(place_of, wrong)).most_common()),
            "known strings": sum(answer.searched in known for answer in wrong),
        }
        result[f"{corpus}, {SYSTEM}"] = counts
        print(corpus, json.dumps(counts), flush=True)
    files = [part_of(corpus, part) for corpus in CORPORA for part in PARTS]
    save("error_kinds", {"systems": result}, packages=["numpy"], data=[data / MEDIC, *files])


if __name__ == "__main__":
    main()
