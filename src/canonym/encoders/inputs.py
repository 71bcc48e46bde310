"""Checks of names and options, for every encoder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput

_LONGEST_GRAM = 100


def checked_names(names: Iterable[str]) -> list[str]:
    """Return `names` as a list; raise `InvalidInput` unless they are a collection of strings."""
    if isinstance(names, str | bytes):
        raise InvalidInput(
            f"a list of names is expected, found one {type(names).__name__} ({names[:40]!r}); "
            "put it in a list"
        )
    try:
        listed = list(names)
    except TypeError as error:
        raise InvalidInput(
            f"a list of names is expected, found {type(names).__name__}; pass a list of strings"
        ) from error
    if not set(map(type, listed)) <= {str}:
        for place, name in enumerate(listed):
            if not isinstance(name, str):
                raise InvalidInput(
                    f"name {place} is {name!r} ({type(name).__name__}), a string is expected; "
                    "leave missing names out or pass ''"
                )
    return listed


def distinct_names(names: Sequence[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the distinct names in order of appearance, and the place of each name among them."""
    places: dict[str, int] = {}
    place_of = np.fromiter(
        (places.setdefault(name, len(places)) for name in names), np.int64, count=len(names)
    )
    return list(places), place_of


def check_option(what: str, value: Any, allowed: Sequence[str]) -> None:
    """Raise `InvalidInput` when an option is none of the values it can take."""
    if value not in allowed:
        raise InvalidInput(f"{what}={value!r} is not known; choose one of {', '.join(allowed)}")


def check_grams(n_min: int, n_max: int, *, least: int = 1) -> None:
    """Raise `InvalidInput` unless ``least <= n_min <= n_max <= 100``, in whole numbers."""
    check_count("n_min", n_min, least=least)
    check_count("n_max", n_max, least=least)
    if n_min > n_max:
        raise InvalidInput(f"n_min={n_min} is larger than n_max={n_max}; swap them")
    if n_max > _LONGEST_GRAM:
        raise InvalidInput(f"n_max={n_max}: at most {_LONGEST_GRAM} characters are expected")


def check_count(what: str, value: Any, *, least: int = 1) -> None:
    """Raise `InvalidInput` when an option is no whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(f"{what}={value!r}: a whole number of at least {least} is expected")
