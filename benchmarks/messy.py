"""A list of 300 diagnoses as clinics write them, linked as `canonym link` does by default.

``messy.tsv`` was written, with its codes, before canonym was asked. Where a coder may choose
between codes, any of them is right; `J45.90*` is each code below, `I21*@historical` such a code
where the link has this status, and `+` stands between the parts of a list, all of which have to be
right. A category is right where its unspecified code is (E11 for E11.9). What is above the right
code in another way is less exact, and a row without a code is right if it gets none.

    python benchmarks/messy.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase

from canonym import Link, Linker
from inputs import linked_list
from record import parser, save
from siblings import Part, answered

SURE = 0.6
UNSPECIFIED = "09"


def outcome(link: Link, codes: str) -> str:
    """Return what a row's link is worth."""
    answers = [part for part, _ in answered(link)]
    if not codes:
        return "wrong" if answers else "right without a code"
    if not answers:
        return "missed"
    grades = [grade(answers, wanted) for wanted in codes.split(" + ")]
    if len(grades) > 1 and len(answers) < len(grades):
        grades.append("missed")
    return next(worst for worst in ("wrong", "missed", "less exact", "right") if worst in grades)


def grade(answers: list[Part], wanted: str) -> str:
    """Return how near any answer is to one of the codes that are wanted."""
    grades = {
        one
        for code, flags in answers
        for pattern, _, needed in (choice.partition("@") for choice in wanted.split())
        if not needed or needed in flags
        for one in nearness(code, pattern)
    }
    return next((one for one in ("right", "less exact") if one in grades), "wrong")


def nearness(code: str, pattern: str) -> Iterator[str]:
    """Yield whether a code is right, or above what is."""
    first, _, last = code.partition("-")
    rest = pattern.removesuffix("*").removeprefix(code)
    above = pattern.startswith(code) or first <= pattern[:3] <= last
    if fnmatchcase(code, pattern) or (above and not rest.strip(UNSPECIFIED + ".")):
        yield "right"
    elif above:
        yield "less exact"


def main() -> None:
    """Link, count, print and save."""
    rows = linked_list(Linker.default(), "messy")
    outcomes = [outcome(link, row["codes"]) for row, link in rows]
    wrong = [
        (
            round(link.confidence or 0, 3),
            row["written"],
            row["codes"],
            " + ".join(part.codes for part, _ in answered(link)),
        )
        for (row, link), worth in zip(rows, outcomes, strict=True)
        if worth == "wrong"
    ]
    for confidence, *texts in sorted(wrong, key=lambda row: -row[0]):
        print(*texts, confidence, sep="\t")
    surely = sum(confidence >= SURE for confidence, *_ in wrong)
    result = {"rows": len(rows), **Counter(outcomes), f"wrong at {SURE} or more": surely}
    print(result)
    save("messy", {"outcomes": result}, packages=["simple-icd-10-cm"])


if __name__ == "__main__":
    parser(__doc__).parse_args()
    main()
