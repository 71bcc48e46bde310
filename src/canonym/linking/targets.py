"""Targets of a search: names of the terminology or of training mentions, or means of concepts.

======  ==============================================  ======================================
target  whose names                                     compared with the mention
======  ==============================================  ======================================
O-T     the terminology's (the ontology's)              each name
O-C     the terminology's                               each concept: the mean of its names
D-T     those of training mentions (annotated data)     each name
D-C     those of training mentions                      each concept
OD-T    both                                            each name
OD-C    both                                            each concept
======  ==============================================  ======================================

A search may have two steps, such as ``D-T + OD-T``. Concepts of the first step count where they
are similar enough; otherwise the second step decides. The first step is D-T or D-C, the second
O-T, O-C, OD-T or OD-C.

References
----------
Xu and Bethard (2021), Triplet-Trained Vector Space and Sieve-Based Search Improve Biomedical
Concept Normalization, tables 1 and 2.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from canonym.errors import InvalidInput


class Target(NamedTuple):
    """One of `TARGETS`: the names of a `part`, O, D or OD; averaged if `by_concept`."""

    name: str
    part: str
    by_concept: bool


TARGETS: dict[str, Target] = {
    f"{part}-{kind}": Target(f"{part}-{kind}", part, kind == "C")
    for part in ("O", "D", "OD")
    for kind in ("T", "C")
}
"""Every target by its name."""

SEARCHES: tuple[str, ...] = (
    *TARGETS,
    *(
        f"{first} + {second}"
        for first, second in itertools.product(("D-T", "D-C"), ("O-T", "O-C", "OD-T", "OD-C"))
    ),
)
"""Every search: the six targets, and the eight searches of two steps."""


def parse_search(written: str) -> tuple[Target, ...]:
    """Read one of `SEARCHES`, in any case and with any spaces: the targets of its steps.

    Raises
    ------
    InvalidInput
        If there is no such search.
    """
    names = [name.strip().upper() for name in str(written).split("+")]
    if " + ".join(names) not in SEARCHES:
        raise InvalidInput(
            f"there is no search {written!r}; there are {', '.join(TARGETS)}, and sieves of a D "
            "and an O or OD target, such as 'D-T + OD-T'"
        )
    return tuple(TARGETS[name] for name in names)
