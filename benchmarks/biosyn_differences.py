"""Differences of our preparation of mentions from the files that BioSyn's authors released.

    python benchmarks/biosyn_differences.py [--list]

Counts by category, with their effect on accuracy, go to ``results/biosyn-differences.json``.
``--list`` prints the mentions themselves.

==============================  ==================================================================
category                        difference
==============================  ==================================================================
parts of the annotators         the corpus names the parts in a seventh column, which the release
                                follows; we split by the text
not split by the release        our rules split, theirs did not
not split by ours               theirs split, ours did not
split otherwise                 both split, into other parts
abbreviation written out        the release has a long form that Ab3P does not find here
abbreviation left               ours has a long form, the release the short one
spelling                        single words differ
other                           anything else
==============================  ==================================================================
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from canonym.evaluation.metrics import columns
from canonym.evaluation.questions import Question
from canonym.evaluation.run import Run
from record import data_folder, parser, save
from reproduce.run import reproduce

CORPORA = {
    "NCBI disease, TF-IDF": "ncbi-disease",
    "BC5CDR disease, TF-IDF": "bc5cdr",
}


def main() -> None:
    """Compare both corpora, write the counts, print the rest."""
    arguments = parser(__doc__)
    arguments.add_argument("--list", action="store_true", help="print every differing mention")
    options = arguments.parse_args()
    logging.disable(logging.WARNING)
    data = data_folder()
    folder = Path(__file__).parent / "reproduce" / "experiments"
    rows = list(CORPORA)
    ours = reproduce("biosyn-table-2", data=data, folder=folder, rows=rows)
    theirs = reproduce("biosyn-released-files", data=data, folder=folder, rows=rows)
    result: dict[str, Any] = {}
    for row, corpus in CORPORA.items():
        annotated = _annotated_parts(data / corpus / "test.pubtator")
        one, other = ours.runs[row], theirs.runs[row]
        found = list(_differences(one, other, annotated))
        categories = Counter(category for category, *_ in found)
        changes = Counter(
            (category, "gained" if right else "lost")
            for category, _, _, right, was in found
            if right != was
        )
        result[corpus] = {
            "mentions": len(one.questions),
            "released": len(other.questions),
            "different": len(found),
            "accuracy": round(100 * one.value("accuracy@1"), 2),
            "accuracy_released": round(100 * other.value("accuracy@1"), 2),
            "categories": {
                name: {
                    "mentions": count,
                    "right_only_in_ours": changes[name, "gained"],
                    "right_only_in_theirs": changes[name, "lost"],
                }
                for name, count in categories.most_common()
            },
            "right_differently_though_prepared_alike": _others(one, other, found),
            "corpus_digest": one.fingerprints["corpus"]["digest"],
            "released_digest": other.fingerprints["corpus"]["digest"],
            "terminology_digest": one.fingerprints["terminology"]["digest"],
        }
        if options.list:
            for category, question, released, right, was in found:
                mark = "=" if right == was else "+" if right else "-"
                mention = question.mention
                print(
                    f"{corpus}\t{mark}\t{category}\t{mention.document_id}\t{mention.start}\t"
                    f"{mention.text}\t{'|'.join(question.parts)}\t{'|'.join(released.parts)}"
                )
    save("biosyn-differences", {"corpora": result}, packages=["pyab3p"])


def _right(run: Run) -> dict[tuple[str, Any, Any], tuple[Question, bool]]:
    right = columns(run.scored["lenient"], "accuracy@1")[:, 0]
    return {
        (q.mention.document_id, q.mention.start, q.mention.end): (q, bool(value))
        for q, value in zip(run.questions, right, strict=True)
    }


def _differences(
    ours: Run, theirs: Run, annotated: set[tuple[str, int, int]]
) -> Iterator[tuple[str, Question, Question, bool, bool]]:
    released = _right(theirs)
    for key, (question, right) in _right(ours).items():
        other, was = released[key]
        if question.parts != other.parts:
            yield _category(question, other, key in annotated), question, other, right, was


def _others(ours: Run, theirs: Run, found: list[Any]) -> int:
    """Count mentions that are prepared alike and right in one run only: their names differ."""
    different = {id(question) for _, question, *_ in found}
    released = _right(theirs)
    return sum(
        right != released[key][1]
        for key, (question, right) in _right(ours).items()
        if id(question) not in different
    )


def _category(ours: Question, theirs: Question, annotated: bool) -> str:
    if annotated:
        return "parts of the annotators"
    if len(ours.parts) > 1 or len(theirs.parts) > 1:
        if len(theirs.parts) == 1:
            return "not split by the release"
        return "not split by ours" if len(ours.parts) == 1 else "split otherwise"
    words, other = ours.text.split(), theirs.text.split()
    if len(words) < len(other):
        return "abbreviation written out"
    if len(words) > len(other):
        return "abbreviation left"
    return "spelling" if len(set(words) ^ set(other)) <= 2 else "other"


def _annotated_parts(path: Path) -> set[tuple[str, int, int]]:
    """Return the mentions that have a seventh column."""
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if len(cells) == 7 and "|" in cells[6]:
            found.add((cells[0], int(cells[1]), int(cells[2])))
    return found


if __name__ == "__main__":
    main()
