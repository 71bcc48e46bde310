"""Settings of an index: its sieves, what a search looks at, and all others.

The targets of a search are names of the terminology or of training mentions, or means of concepts.

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
Concept Normalization, tables 1 and 2, eqs. 7 and 8.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any, NamedTuple, TypedDict

from canonym.errors import InvalidInput
from canonym.mentions.abbreviations import ENGINES
from canonym.text import PLAIN, STRONG, UNORDERED
from canonym.text.qualifiers import bare_name
from canonym.text.short_forms import own_short_form
from canonym.text.spaces import joined


class Sieve(NamedTuple):
    """A way of finding a mention without similarity.

    `steps` normalise both sides; `score` is what its candidates get. A `bare` sieve has the names
    without their qualifiers, those that have any (`canonym.text.qualifiers`). One that is `joined`
    compares without spaces (`canonym.text.spaces`).
    """

    name: str
    steps: tuple[str, ...]
    score: float
    bare: bool = False
    joined: bool = False

    def looked_up(self, forms: Sequence[str]) -> Sequence[str]:
        """Return what normal forms are looked up by."""
        return joined(forms) if self.joined else forms

    def of_names(
        self, names: Sequence[str], normalise: Callable[[list[str]], Iterable[str]]
    ) -> list[str]:
        """Return the forms of names, by what normalises their text; "" leaves a name out."""
        if not self.bare:
            return list(normalise(list(names)))
        bare = [bare_name(name) for name in names]
        forms = iter(normalise([name.text for name in bare if name is not None]))
        return ["" if name is None else next(forms) for name in bare]


def for_texts(names: Sequence[str], bare: Sequence[str]) -> list[str]:
    """Return the bare forms of names without short forms, which texts explain themselves."""
    return [
        "" if form and own_short_form(name) else form
        for name, form in zip(names, bare, strict=True)
    ]


IDS = "id"
"""The sieve before all others: a mention that is an id, looked up in the terminology itself."""

SIEVES = (
    Sieve("verbatim", PLAIN, 1.0, joined=True),
    Sieve("normalised", STRONG, 0.99, joined=True),
    Sieve("reordered", UNORDERED, 0.98),
    Sieve("bare", UNORDERED, 0.97, bare=True),
)
"""Tried in this order, after `IDS`; the first that finds anything decides."""


# --- targets --------------------------------------------------------------------------------------


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


# --- settings -------------------------------------------------------------------------------------


class Settings(TypedDict, total=False):
    """How a linker prepares and looks up mentions; stored with its index.

    Attributes
    ----------
    spelling : bool
        Whether unknown words are corrected from the terminology's vocabulary; true by default.
    composites : bool
        Whether composite mentions are split; true by default.
    trials : bool
        Whether doses, forms and arms are cleaned off, as for fields of clinical trials; false by
        default.
    abbreviations : str
        Engine for the abbreviations of a document: ``"auto"`` (the default), ``"ab3p"`` or
        ``"schwartz-hearst"``.
    min_length : int
        Strings shorter than this, in normal form, are looked up but not searched: similarity says
        nothing about two letters. 3 by default; an ideograph counts for three.
    sieves : sequence of str
        Which of `SIEVES` go before the search; all by default. Ids are looked up with any of them.
    search : str
        What is searched, one of `canonym.linking.settings.SEARCHES`: ``"O-T"``, the names of the
        terminology, by default, and ``"D-T + OD-T"`` where training mentions are given.
    search_threshold : float
        In a search of two steps, the least score that the first step decides with; 0.95 by default.
    """

    spelling: bool
    composites: bool
    trials: bool
    abbreviations: str
    min_length: int
    sieves: Sequence[str]
    search: str
    search_threshold: float


def complete(settings: Settings) -> dict[str, Any]:
    """Return the settings with every default filled in.

    Raises
    ------
    InvalidInput
        If there is no such setting, sieve, search or engine, or a number is out of range.
    """
    whole: dict[str, Any] = {
        "spelling": True,
        "composites": True,
        "trials": False,
        "abbreviations": "auto",
        "min_length": 3,
        "sieves": [sieve.name for sieve in SIEVES],
        "search": "O-T",
        "search_threshold": 0.95,
    }
    unknown = [name for name in settings if name not in whole]
    if unknown:
        raise InvalidInput(f"there is no setting {unknown[0]!r}; there are {', '.join(whole)}")
    whole.update(settings)
    whole["sieves"] = [sieve.name for sieve in chosen_sieves(whole["sieves"])]
    whole["search"] = " + ".join(target.name for target in parse_search(whole["search"]))
    shortest, threshold = whole["min_length"], whole["search_threshold"]
    if not isinstance(shortest, Integral) or shortest < 0:
        raise InvalidInput(f"min_length is {shortest!r}; expected a number of characters")
    if not isinstance(threshold, int | float) or not -1 <= threshold <= 1:
        raise InvalidInput(
            f"search_threshold is {threshold!r}; a cosine is expected, a number from -1 to 1"
        )
    if whole["abbreviations"] not in ENGINES:
        raise InvalidInput(
            f"there is no engine {whole['abbreviations']!r} for abbreviations; there are "
            f"{', '.join(ENGINES)}"
        )
    return whole


def chosen_sieves(names: Sequence[str]) -> list[Sieve]:
    """Return the sieves of these names, in the order of `SIEVES`.

    Raises
    ------
    InvalidInput
        If there is no such sieve.
    """
    known = [sieve.name for sieve in SIEVES]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidInput(f"there is no sieve {unknown[0]!r}; there are {', '.join(known)}")
    return [sieve for sieve in SIEVES if sieve.name in names]
