"""Short forms that stand for something else in another text: "DM", "MENs", "WT1"."""

from __future__ import annotations

SHORT = 5
"""Characters of the longest word whose case counts."""


def is_short_form(text: str) -> bool:
    """Tell whether a word is one of those short forms that stand for something else elsewhere.

    >>> [is_short_form(text) for text in ("DM", "MENs", "WT1", "AIDS", "Flu")]
    [True, True, True, False, False]
    """
    bare = text[:-1] if text[-1:] == "s" and text[:-1].isupper() else text
    if not bare.isupper() or len(bare) > SHORT + 1:
        return False
    return len(bare) < 4 or not bare.isalpha()
