"""Cells of kinds that came out wrong, with what clinicians would read in them, by ICD-10-CM.

``siblings.tsv`` was written, with its answers, before canonym was asked: rows *looked at* were read
afterwards and their kinds mended, those of the other sets were not until the figures of their
first run were taken. An answer is the parts of a cell, each with the codes of which any is right, a
category or what is below it, and the flags that it has: ``J45:family``. What ``!`` stands before
must not be said for sure, and ``NIL`` stands for a word that means nothing. A cell is right if all
of its parts are; a part is wrong and sure where none of that kind was expected and its confidence
is high. Codes of a history of the patient or the family say their flag themselves.

    python benchmarks/siblings.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from canonym import Link, Linker
from inputs import linked_list
from record import parser, save

SURE = 0.85
HISTORY = ("Z8", "Z9", "I25.2")


class Part(NamedTuple):
    """A code and its flags; of an answer, or of what is expected, where codes have bars between."""

    codes: str
    flags: frozenset[str]


def main() -> None:
    """Link each cell, and count by set and kind."""
    counts: dict[tuple[str, str], list[int]] = {}
    for row, link in linked_list(Linker.default(), "siblings", keep_negated=True):
        right, wrong = outcome(link, row["expected"], lenient=row["kind"] == "care")
        for kind in (row["kind"], "all"):
            of_kind = counts.setdefault((row["set"], kind), [0, 0, 0])
            of_kind[0] += 1
            of_kind[1] += right
            of_kind[2] += wrong
    outcomes = [
        {
            "set": of_set,
            **dict(zip(("cells", "right", "wrong and sure"), counts[of_set, "all"], strict=True)),
            "of kinds": {kind: n for (other, kind), n in counts.items() if other == of_set},
        }
        for of_set, kind in counts
        if kind == "all"
    ]
    for row in outcomes:
        print(*row.values(), sep="\t")
    save("siblings", {"outcomes": outcomes}, packages=["simple-icd-10-cm"])


def outcome(link: Link, expected: str, *, lenient: bool) -> tuple[bool, int]:
    """Return whether all parts of a cell are right, and how many answers are wrong and sure."""
    parts = [
        Part(codes, frozenset(filter(None, flags.split(","))))
        for codes, _, flags in (part.partition(":") for part in expected.split(" ; "))
    ]
    wanted = [part for part in parts if not part.codes.startswith("!") and part.codes != "NIL"]
    barred = [part.codes.removeprefix("!") for part in parts if part.codes.startswith("!")]
    answers = [*answered(link)]
    right = all(
        any(is_right(answer, part, lenient) for answer, _ in answers) or "NIL" in part.codes
        for part in wanted
    )
    sure = [answer for answer, confidence in answers if confidence >= SURE]
    said = any(
        not answer.flags & {"negated", "family"} and is_among(answer.codes, codes)
        for answer in sure
        for codes in barred
        if not any(is_below(answer.codes, part.codes) for part in wanted)
    )
    wrong = sum(
        not any(is_right(answer, part, lenient) for part in (*wanted, *parts)) for answer in sure
    )
    return right and not said, wrong


def answered(link: Link) -> Iterator[tuple[Part, float]]:
    """Yield the code and the flags of each concept of a link, with its confidence."""
    for part in link.parts or (link,):
        if part.id:
            yield Part(part.id.partition(":")[2], frozenset(part.status)), part.confidence or 0.0


def is_right(answer: Part, expected: Part, lenient: bool) -> bool:
    """Tell whether an answer has one of the codes and the flags that are expected."""
    if expected.codes != "*" and not is_among(answer.codes, expected.codes.removeprefix("!")):
        return False
    own = {"historical", "family"} if answer.codes.startswith(HISTORY) else set[str]()
    return lenient or answer.flags | own == expected.flags | own


def is_among(code: str, codes: str) -> bool:
    """Tell whether a code is one of several with bars between, below one, or above."""
    return any(
        code.startswith(other) or (other.startswith(code) and len(code) > 2) or _holds(code, other)
        for other in codes.split("|")
    )


def is_below(code: str, codes: str) -> bool:
    """Tell whether a code is one of several with bars between, or below one."""
    return any(code.startswith(other) for other in codes.split("|"))


def _holds(code: str, other: str) -> bool:
    """Tell whether one of two codes is a block, as E08-E13 is, that holds the other."""
    blocks: Sequence[tuple[str, str]] = ((code, other), (other, code))
    return any(
        first <= inner[:3] <= last
        for block, inner in blocks
        for first, dash, last in (block.partition("-"),)
        if dash
    )


if __name__ == "__main__":
    parser(__doc__).parse_args()
    main()
