"""Signs, comparisons, primes and numbers of a text, which its normal form loses."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable

from canonym.regex import regex
from canonym.rules import shipped
from canonym.text.characters import dashes, entities, ions, quotes, signs, width
from canonym.text.memo import LONGEST_STRING
from canonym.text.shape import WORD
from canonym.text.words import forms_of
from canonym.types import Contradiction

_LEVELS = forms_of("level of a symbol")
# A comparison with the words on its sides, which stand in an order.
_COMPARISON = regex(r"(?:(?<![^\W\d_])([^\W\d_]+)\s*)?(<=|>=|≤|≥|[<>])(?=\s*([^\W\d_]*))")
_PRIME = regex(r"(?<!\d)(?:\d+(?:'+|\")|\d*(?<![^\W\d_])[A-Za-z]'(?=[-\s,)\]]|$))")
_QUOTED = regex(r"(?<!\w)([\"'])([^\"']{1,200})\1(?!\w)")  # the second is no prime: "type 2"
_LOOSE_SIGN = regex(
    r"\+{1,4}(?=[\s,;)]|$)|\+/-|±|(?<=\d[pq])-(?!\w)"
    r"|(?<!\w)(?:[A-Za-z]{1,6}\d{1,3}|(?![IVX]+ )[A-Z]{2,6}) -$"
    r"|(?<=[A-Z] \d)-(?=\s|$)|\(\s*(?:\+-|-)\s*\)"
    rf"|(?<=[A-Z]\d)(?:{_LEVELS})\b"
)
DECIMAL = regex(r"(?<!\d)\d+(?:[.,]\d+)+|(?<![\w.])\.\d+")
"""A number with a point, which may stand first."""

_THOUSANDS = regex(r"(?<=\d),(?=\d{3}(?!\d))")
_RATIO = regex(r"\b\d+:\d+\b|\b[A-Z]/[A-Z](?=\sratio\b)")
ARROWS = {
    **dict.fromkeys("↑⇧⬆▲▴", " increased "),
    **dict.fromkeys("↓⇩⬇▼▾", " decreased "),
    "♂": " male ",
    "♀": " female ",
}
_ARROW_WORDS = str.maketrans(ARROWS)
_MINUS = regex(r"(?<=[^\W_])\u2212(?=[^\W\d_])")
_MARKED = regex(
    r"[+<>≤≥±%'\"&:\u2032\u2033\u207a\u207b\u2019\u02b9`↑⇧⬆▲▴↓⇩⬇▼▾♂♀\u2212]|[-–](?![\w(])|\(\s*-|-ve\b"
    r"|positive|negative|\d[.,]\d|(?<![\w.])\.\d|/\w ratio"
    rf"|\d(?:{_LEVELS})\b",
    re.I,
)
# A plus, or a minus, behind a symbol. A hyphen before letters joins words.
_SIGNED = regex(r"(?<![^\W_])([^\W_]+) ?(\+|[-\u2212](?![^\W\d_]))")
_EQUAL_SIGNS = {
    **{"+-": "±", "+/-": "±", "≤": "<=", "≥": ">="},
    **{"+": "positive", "-": "negative"},
    **{rule.form: rule.means for rule in shipped().of_kind("level of a symbol")},
}
_SIGN_WORDS = ("positive", "negative")


def marks(text: str) -> tuple[tuple[str, str], ...]:
    """Return the signs, comparisons, primes and percentages of a text, which its normal form loses.

    Sorted pairs of a kind and a value; the sign of a symbol and *positive* or *negative* are equal.

    >>> marks("(+)-menthol"), marks("5'-nucleotidase"), marks("HER2+") == marks("HER2 positive")
    ((('sign', 'positive'),), (('prime', "5'"),), True)
    """
    return _marks_of(text) if len(text) <= LONGEST_STRING else _marks_of.__wrapped__(text)


@functools.lru_cache(maxsize=1 << 16)
def _marks_of(text: str) -> tuple[tuple[str, str], ...]:
    if _MARKED.search(text) is None:
        return ()
    values = [("sign", ARROWS[sign].strip()) for sign in text if sign in ARROWS]
    text = _MINUS.sub(" negative ", text)
    text = signs(ions(width(dashes(quotes(entities(text))))))
    values += [("sign", word) for word in WORD.findall(text.lower()) if word in _SIGN_WORDS]
    bare = _QUOTED.sub(r"\2", text)
    loose = [written.strip("()").split()[-1] for written in _LOOSE_SIGN.findall(bare)]
    values += [("sign", _EQUAL_SIGNS.get(sign, sign)) for sign in loose]
    decimals = DECIMAL.findall(_THOUSANDS.sub("", bare))
    values += [("number", f"0{number}" if number[0] == "." else number) for number in decimals]
    values += [("ratio", ratio) for ratio in _RATIO.findall(bare)]
    for before, sign, behind in _COMPARISON.findall(bare):
        values.append(("comparison", _EQUAL_SIGNS.get(sign, sign)))
        if before and behind and sign in "<>":
            values.append(("order", f"{before}{sign}{behind}".lower()))
    values += [("prime", prime.lower()) for prime in _PRIME.findall(bare)]
    amounts = bare.split("%")[:-1]
    values += [("percent", "%") for text in amounts if text[-2:].rstrip()[-1:].isdecimal()]
    return tuple(sorted(values))


def opposed_signs(text: str, other: str) -> bool:
    """Tell whether a symbol has a plus in one text and a minus in the other.

    >>> opposed_signs("GEFS-4", "GEFS+ 4"), opposed_signs("Na-K pump", "Na+K+ pump")
    (True, False)
    """
    if "+" not in text and "+" not in other:
        return False
    here, there = _SIGNED.findall(text.lower()), _SIGNED.findall(other.lower())
    opposed = {(symbol, sign != "+") for symbol, sign in there}
    return any((symbol, sign == "+") in opposed for symbol, sign in here)


def mark_contrasts(mention: str, name: str) -> tuple[list[str], list[str], list[Contradiction]]:
    """Return the signs that only the mention or only the name has, and those that contradict."""
    own, others = marks(mention), marks(name)
    opposed = opposed_signs(mention, name)
    if own == others and not opposed:
        return [], [], []
    here, there = Counter(own), Counter(others)
    left, missing = [*(here - there).elements()], [*(there - here).elements()]
    kinds = dict.fromkeys(kind for kind, _ in [*left, *missing])
    contradictions = [
        Contradiction(kind, _joined(left, kind), _joined(missing, kind))
        for kind in kinds
        # A name with a sign more is another form of the same; all else makes another thing.
        if kind != "sign" or (_joined(left, kind) and _joined(missing, kind))
    ]
    if opposed and not contradictions:
        contradictions = [
            Contradiction("sign", "-", "+") if "+" in name else Contradiction("sign", "+", "-")
        ]
    return (
        [value for kind, value in left if kind == "sign"],
        [value for kind, value in missing if kind == "sign"],
        contradictions,
    )


def _joined(values: Iterable[tuple[str, str]], kind: str) -> str:
    return " ".join(value for of, value in values if of == kind)


def with_arrows_spelt(text: str) -> str:
    """Return a text with words in place of arrows."""
    return text if text.isascii() else text.translate(_ARROW_WORDS)
