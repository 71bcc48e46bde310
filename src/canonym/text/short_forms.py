"""Short forms that stand for something else in another text: "DM", "MENs", "WT1"."""

from __future__ import annotations

from canonym.text import PLAIN, normalise
from canonym.text.shape import ALNUM
from canonym.text.words import bracket_at_end

SHORT = 5
"""Characters of the longest word whose case counts."""

_LONGEST = 10


def is_short_form(text: str) -> bool:
    """Tell whether a word is one of those short forms that stand for something else elsewhere.

    >>> [is_short_form(text) for text in ("DM", "MENs", "WT1", "AIDS", "Flu")]
    [True, True, True, False, False]
    """
    bare = text[:-1] if text[-1:] == "s" and text[:-1].isupper() else text
    if not bare.isupper() or len(bare) > SHORT + 1:
        return False
    return len(bare) < 4 or not bare.isalpha()


def own_short_form(name: str) -> str:
    """Return the short form by which a name explains itself at its end, "" without one.

    >>> own_short_form("Heart failure with preserved ejection fraction [HFpEF]")
    'HFpEF'
    >>> own_short_form("Elevated C-reactive protein (CRP)")
    ''
    """
    whole, short = bracket_at_end(name)
    if sum(map(str.isupper, short)) < 2 or len(short) > _LONGEST:
        return ""
    # A sign at the end says something more: "(ER-)" is a state.
    is_word = short.replace("-", "").isalnum() and short[-1].isalnum() and whole[-1:].isalnum()
    return short if is_word and spelt_by(short, whole) == whole else ""


def as_meant(name: str, text: str) -> str:
    """Return the short form of a name where a text is that, and else the name.

    >>> as_meant("Heart failure with preserved ejection fraction [HFpEF]", "hfpef")
    'HFpEF'
    """
    short = own_short_form(name)
    return short if short and normalise(short, PLAIN) == normalise(text, PLAIN) else name


def spelt_by(short: str, text: str) -> str | None:
    """Return the shortest end of a text whose letters spell a short form; None without one.

    Its first letter begins a word (Schwartz and Hearst 2003).

    >>> spelt_by("CRP", "elevated C-reactive protein")
    'C-reactive protein'
    """
    # Words whose initials spell the short form beat the shortest match, which for HH would be
    # "hemochromatosis" of "hereditary hemochromatosis".
    letters = [character.lower() for character in short if character.isalnum()]
    starts = [match.start() for match in ALNUM.finditer(text)][-len(letters) :]
    if [text[start].lower() for start in starts] == letters:
        return text[starts[0] :].strip()
    place = len(text)
    for i in range(len(short) - 1, -1, -1):
        letter = short[i].lower()
        if not letter.isalnum():
            continue
        place -= 1
        while place >= 0 and (
            text[place].lower() != letter or (i == 0 and place > 0 and text[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return None
    return text[place:].strip()
