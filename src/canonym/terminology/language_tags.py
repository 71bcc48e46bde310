"""Tags of languages, in the form of BCP 47."""

from __future__ import annotations

import re

from canonym.errors import InvalidInput
from canonym.regex import regex

_TAG = regex(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*|[xi](-[A-Za-z0-9]{1,8})+", re.ASCII)


def check_language(tag: object) -> None:
    """Refuse a language that is no well-formed tag; an empty one stands for an unknown language."""
    if tag != "" and not (isinstance(tag, str) and _TAG.fullmatch(tag)):
        raise InvalidInput(
            f"the language is {tag!r:.80}; a tag of BCP 47 is expected, such as en or pt-BR"
        )
