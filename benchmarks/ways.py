"""Ways to write two or three names in a cell, crossed with names of ICD-10-CM.

``ways.tsv`` has cells with *A*, *B* and *C* for names, and what each says of them, in the order in
which they stand: ``present``, a flag, or ``any`` where it may be argued. The set *first* was read
afterwards, and its kinds mended; the *second* was written then, and its own figures taken first. Of
each cell 24 draws of names are linked. A cell is right if each of its names is found as it says; it
is certain and wrong where one is said otherwise with a high confidence.

    python benchmarks/ways.py
"""

from __future__ import annotations

import random
import re

from canonym import Link, Linker
from inputs import rows_beside
from record import parser, save, settings_of
from siblings import answered

SURE, DRAWS = 0.85, 24
NAMES = {name: tuple(codes) for name, codes in settings_of(__file__).items()}
_LETTER = re.compile(r"(?<![A-Za-z'])[ABC](?![A-Za-z']|/P)")


def main() -> None:
    """Link all draws of each way, count by set and kind, print and save."""
    linker, counts = Linker.default(), dict[tuple[str, str], list[int]]()
    for row in rows_beside("ways"):
        cell, says = row["cell"].replace("\\n", "\n").replace("\\t", "\t"), row["says"].split()
        letters, rng = _LETTER.findall(cell), random.Random(cell)
        draws = [dict(zip("ABC", rng.sample([*NAMES], 3), strict=True)) for _ in range(DRAWS)]
        cells = [_LETTER.sub(lambda match, own=own: own[match[0]], cell) for own in draws]
        of_kind = counts.setdefault((row["set"], row["kind"]), [0, 0, 0])
        for own, link in zip(draws, linker.link(cells, keep_negated=True), strict=True):
            outcomes = [outcome(link, own[a], b) for a, b in zip(letters, says, strict=True)]
            right = all(is_right for is_right, _ in outcomes)
            of_kind[0] += 1
            of_kind[1] += right
            of_kind[2] += not right and any(is_wrong for _, is_wrong in outcomes)
    keys = ("set", "kind", "cells", "right", "certain and wrong")
    outcomes = [dict(zip(keys, (*key, *n), strict=True)) for key, n in counts.items()]
    for outcome_of_kind in outcomes:
        print(*outcome_of_kind.values(), sep="\t")
    save("ways", {"outcomes": outcomes}, packages=["simple-icd-10-cm"])


def outcome(link: Link, name: str, says: str) -> tuple[bool, bool]:
    """Return whether a name is found as a cell says it, and whether it is otherwise for sure.

    Codes of a history say so themselves, and what may come may have any flag.
    """
    if says == "any":
        return True, False
    parts = [*answered(link)]
    own = [(part, sure) for part, sure in parts if part.codes.startswith(NAMES[name])]
    flags = frozenset[str]() if says == "present" else frozenset((says,))
    is_right = any(
        part.flags == flags or (says == "hypothetical" and bool(part.flags)) for part, _ in own
    )
    if says in ("historical", "family", "hypothetical"):
        is_right = is_right or any(part.codes.startswith("Z") for part, _ in parts)
    return is_right, any(sure >= SURE and part.flags != flags for part, sure in own)


if __name__ == "__main__":
    parser(__doc__).parse_args()
    main()
