"""Tags of languages, in the form of BCP 47."""

from __future__ import annotations

from collections.abc import Callable

from canonym.errors import InvalidInput
from canonym.io.packaged import packaged_rows

_CODES = [*packaged_rows(__file__)]

OF_UMLS = {code: tag for tag, code, _ in _CODES}
"""Tag of a language by its code in UMLS (``LAT``)."""

OF_OMOP = {number: tag for tag, _, number in _CODES if number}
"""Tag of a language by its ``language_concept_id`` in OMOP."""


def check_language(tag: object, error: Callable[[str], Exception] = InvalidInput) -> None:
    """Refuse a language that is no well-formed tag; an empty one stands for an unknown language.

    A reader gives the `error` that names its file and line.
    """
    if tag != "" and not (isinstance(tag, str) and _is_tag(tag)):
        raise error(
            f"the language is {tag!r:.80}; a tag of BCP 47 is expected, such as en or pt-BR"
        )


def _is_tag(tag: str) -> bool:
    first, *others = tag.split("-")
    is_sound = all(part.isalnum() and len(part) <= 8 for part in others) and tag.isascii()
    is_language = first.isalpha() and 2 <= len(first) <= 8
    return is_sound and (is_language or (first in ("x", "i") and others != []))
