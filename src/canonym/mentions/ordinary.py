"""Words of everyday English that name a concept in a list, and mostly something else in a text.

*Cold*, *growth* or *sugar* in a list of complaints is a disease. In a text it is more often the
weather, a hormone or a food. They are rules of the kind "ordinary word" of the book; words that say
how, when or in whom, and not what, are of the kind "qualifying word".
"""

from __future__ import annotations

from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.rules import current, once_a_book
from canonym.text import STRONG, normalise


@once_a_book
def qualifying_forms() -> tuple[str, ...]:
    """Return the normal forms of words beside a name that make no other name of it."""
    rules = current().of_kind("qualifying word")
    words = (*(rule.form for rule in rules), *FUNCTION_WORDS, *map(str, range(100)))
    single = {form for form in _ordinary() if " " not in form}
    return tuple(sorted(single | {normalise(word, STRONG) for word in words}))


def is_ordinary(text: str) -> bool:
    """Tell whether a text is an ordinary word, or a few, whatever its inflection.

    What is written in capitals is an abbreviation.

    >>> [is_ordinary(text) for text in ("cold", "Changes", "follow-up", "COLD", "fever")]
    [True, True, True, False, False]
    """
    return not text.isupper() and normalise(text, STRONG) in _ordinary()


@once_a_book
def _ordinary() -> frozenset[str]:
    return frozenset(normalise(rule.form, STRONG) for rule in current().of_kind("ordinary word"))
