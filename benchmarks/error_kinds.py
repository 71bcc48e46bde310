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

from canonym import Terminology
from canonym.corpora import read_pubtator
from canonym.evaluation.error_kinds import ERROR_KINDS, WrongAnswer, find_wrong_answers
from canonym.evaluation.questions import read_corrections
from canonym.evaluation.run import evaluate_corpus
from canonym.terminology import read_records
from record import data_folder, save

CORPORA: dict[str, dict[str, Any]] = {
    "ncbi-disease": {"corrections": "medic-2012/ncbi-spell-check.txt"},
    "bc5cdr": {"types": ["Disease"]},
}
SYSTEMS: dict[str, dict[str, Any]] = {
    "default": {"encoders": ["default"]},
}
PARTS = ("train", "dev", "test")


def place_of(wrong: WrongAnswer) -> str:
    """Return where the right concept was found."""
    if wrong.place is None:
        return "not among 20"
    return "second" if wrong.place <= 2 else "third to fifth" if wrong.place <= 5 else "sixth to 20"


def main() -> None:
    """Evaluate, sort the errors, and write the counts."""
    data = data_folder()
    medic = data / "medic-2012" / "medic_06Jul2012.txt"
    terminology = Terminology.build(read_records(medic))
    files, result = [medic], {}
    for corpus, given in CORPORA.items():
        documents = {
            part: list(read_pubtator(data / corpus / f"{part}.pubtator")) for part in PARTS
        }
        files += [data / corpus / f"{part}.pubtator" for part in PARTS]
        options = dict(given)
        if "corrections" in given:
            options["corrections"] = read_corrections(data / given["corrections"])
        for system, asked in SYSTEMS.items():
            run = evaluate_corpus(
                documents["test"],
                terminology=terminology,
                training=[*documents["train"], *documents["dev"]],
                protocol="biosyn",
                **options,
                **asked,
            )
            wrong = find_wrong_answers(run, "strict")
            known = {text for text, _ in run.learned}
            kinds = Counter(one.kind for one in wrong)
            result[f"{corpus}, {system}"] = {
                "mentions": len(run.questions),
                "wrong": len(wrong),
                "strings": len({(one.searched, one.gold) for one in wrong}),
                "kinds": {kind: kinds[kind] for kind in ERROR_KINDS if kinds[kind]},
                "places": dict(Counter(map(place_of, wrong)).most_common()),
                "known strings": sum(one.searched in known for one in wrong),
            }
            print(corpus, system, json.dumps(result[f"{corpus}, {system}"]), flush=True)
    save("error_kinds", {"systems": result}, packages=["numpy"], data=files)


if __name__ == "__main__":
    main()
