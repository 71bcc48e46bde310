"""What a search looks at: the names of the terminology, those of training mentions, or both; names
one by one, or the mean of each concept's.

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

A sieve has two steps, such as ``D-T + OD-T``: what the first finds counts where it is similar
enough, else what the second finds. The first is D-T or D-C, the second O-T, O-C, OD-T or OD-C.

References
----------
Xu and Bethard (2021), Triplet-Trained Vector Space and Sieve-Based Search Improve Biomedical
Concept Normalization, tables 1 and 2.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from canonym.errors import InvalidInput

__all__ = ["SEARCHES", "TARGETS", "Target", "parse_search"]


class Target(NamedTuple):
    """One of `TARGETS`.

    `name` is what it is called, `part` whose names it has (``"O"``, ``"D"`` or ``"OD"``), and
    `by_concept` whether they are averaged.
    """

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
"""Every search there is: the six targets, and the eight sieves of two steps."""


def parse_search(written: str) -> tuple[Target, ...]:
    """Read a search: the targets of its one or two steps.

    Parameters
    ----------
    written : str
        One of `SEARCHES`, in any case and with any spaces.

    Raises
    ------
    InvalidInput
        If there is no such search.

    Examples
    --------
    >>> [target.name for target in parse_search("d-t+od-c")]
    ['D-T', 'OD-C']
    """
    names = [name.strip().upper() for name in str(written).split("+")]
    if " + ".join(names) not in SEARCHES:
        raise InvalidInput(
            f"there is no search {written!r}; there are {', '.join(TARGETS)}, and sieves of a D "
            "and an O or OD target, such as 'D-T + OD-T'"
        )
    return tuple(TARGETS[name] for name in names)
