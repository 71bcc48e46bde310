"""Words of English that deny, join or qualify; those that exclude each other are rules too."""

from __future__ import annotations

from canonym.rules import shipped
from canonym.text.words import words_of_kind

PRIVATIVE = words_of_kind("privative prefix")
"""Prefixes that make another thing of the word behind them: a denial, half of it, before it."""

NUMBER_WORDS = {rule.form: rule.means for rule in shipped().of_kind("number word")}
"""Numbers in words."""

GREEK = {rule.form: rule.means for rule in shipped().of_kind("greek letter")}
"""Greek letters, and the Latin ones that stand for them."""

NEGATIONS = words_of_kind("negation")
"""Words that deny what follows."""

PRIVATION = words_of_kind("privation")
"""Words by which a concept itself is that something is not there."""

SMALL = words_of_kind("small word")
"""Words that join others and say nothing themselves."""

UNSPECIFIED = frozenset({"unspecified", "nos", "nec"})
"""Words by which a terminology says that nothing more is known."""

TAGS = UNSPECIFIED | words_of_kind("tag word")
"""What a terminology adds to a name: these, and tags of SNOMED CT, which stand in brackets."""

IMPLIED = frozenset({"mellitus", "pectoris"})
"""Words that nobody says: *type 2 diabetes* is *type 2 diabetes mellitus*."""

KINDS = IMPLIED | {"disease", "disorder", "syndrome", "condition"}
"""Words that a name may have more than a mention: *Crohn* is *Crohn disease*."""

QUALIFIERS = words_of_kind("detail")
"""Words of severity, course, side and origin: they say which kind of a concept it is."""

ORDINARY = words_of_kind("word like a symbol")
"""Words of every text that are spelt like symbols in capitals."""
