"""Mentions that explain each other: "ammonium acetate (NH4Ac)", "PG-9 (3alpha-tropyl …)".

No rule of letters finds that *NH4Ac* is short for *ammonium acetate* or that *SC-48334* is a code
for *N-butyl-deoxynojirimycin*; where both are mentions, the brackets prove it. The result is one
more string to look up, which counts where it is found better.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from canonym.regex import regex
from canonym.types import Mention

LEAST_GAIN = 1e-4
"""Least lead of a alias over the mention that it explains: more than rounding."""

Aliases = dict[tuple[str, str], str]
"""Text and type of a mention, and the text of the mention that explains it."""

# A string of so few characters explains nothing: three letters have many meanings.
_SHORT = 5
_WINDOW = 20  # characters on each side of a mention in which a bracket opens or closes
# One word with a capital or a digit, or letters and a number: NH4Ac, SM-5887, Zyban, CP 93129. Of
# words in brackets that look otherwise a quarter are something else ("hypertension (stroke)").
_CODE = regex(r"(?=.*[A-Z0-9])\S+|[A-Za-z]{1,5} \d+")


def is_code_for(text: str, alias: str) -> bool:
    """Tell whether a mention looks like a code or short form of its longer alias.

    >>> is_code_for("DM", "myotonic dystrophy"), is_code_for("hypertension", "high blood pressure")
    (True, False)
    """
    return len(text) < len(alias) and _CODE.fullmatch(text) is not None


def find_aliases(
    mentions: Iterable[Mention], text: str, *, defined: Container[str] = ()
) -> Aliases:
    """Find mentions in brackets right behind another mention of their type.

    By text and type of a mention, the text of the other one, for both of them: where one looks like
    a code or a short form, and the other is longer than a short form. The first pair of a document
    holds. Mentions without offsets are passed over, and so are short forms in `defined`.

    >>> text = "Pretreatment with ammonium acetate (NH4Ac) alone"
    >>> mentions = [Mention("ammonium acetate", 18, 34), Mention("NH4Ac", 36, 41)]
    >>> find_aliases(mentions, text)[("NH4Ac", "")]
    'ammonium acetate'
    """
    aliases: Aliases = {}
    placed = [(m.start, m.end, m) for m in mentions if m.start is not None and m.end is not None]
    # Of mentions that end at one place the longest stands before the bracket.
    placed.sort(key=lambda span: (span[0], -span[1]))
    ending: dict[tuple[int, str], str] = {}
    for _, stop, mention in placed:
        ending.setdefault((stop, mention.type), mention.text)
    for start, stop, mention in placed:
        window, behind = text[max(0, start - _WINDOW) : start], text[stop : stop + _WINDOW]
        before = window.rstrip()
        if not before.endswith(("(", "[")) or not behind.lstrip().startswith(tuple(")],;:=")):
            continue
        end = start - len(window) + len(before[:-1].rstrip())
        other = ending.get((end, mention.type), mention.text)
        if (
            other != mention.text
            and not (mention.text in defined or other in defined)
            and (_CODE.fullmatch(mention.text) or _CODE.fullmatch(other))
        ):
            for explained, by in ((mention.text, other), (other, mention.text)):
                if len(by.replace(" ", "")) > _SHORT:
                    aliases.setdefault((explained, mention.type), by)
    return aliases
