"""Notes in too few words: *CKD 3* is a stage, and *tension HA* a headache.

Alone a number or an abbreviation of several readings says nothing certain. With the words beside it
one of the readings may be a name, which a sieve has to know.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from canonym.mentions.clinical import CAPITALS, usual_reading
from canonym.mentions.readings import readings_of
from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.regex import regex
from canonym.rules import shipped
from canonym.text.shape import ALNUM, LETTERS, shape_of
from canonym.text.words import words_of_kind

_NUMBERED = regex(r"(?P<name>[^\W\d_].+?)(?<![ ,])[ ,]+(?P<number>[1-9][a-c]?|I{1,3}[abc]?|I?V|VI)")
_NAMES = [rule.form for rule in shipped().of_kind("name with a number")]
_LEAST = 3  # letters of a word that may tell a reading, and of a clipped one
_MOST_CLIPPED, _MOST_PHRASES = 3, 64
_LONGEST_NUMBER = 4  # characters: IIIa
_MOST = 2  # abbreviations without one usual reading in a mention


def in_full(text: str) -> Iterator[str]:
    """Yield what a terse mention may mean in full, none where it is not terse.

    >>> list(in_full("CKD 3"))[:2]
    ['chronic kidney disease stage 3', 'chronic kidney disease type 3']
    >>> list(in_full("tension HA"))
    ['tension headache', 'tension hemophilia A', 'tension hyaluronic acid', 'tension hepatitis A']
    >>> list(in_full("tension headache")), list(in_full("HA"))
    ([], [])
    """
    last = text.rpartition(" ")[2].rpartition(",")[2]
    numbered = _NUMBERED.fullmatch(text) if len(last) <= _LONGEST_NUMBER else None
    counts = words_of_kind("word before a number")
    if numbered and counts.isdisjoint(shape_of(numbered["name"]).words[-1:]):
        name = usual_reading(numbered["name"]) or numbered["name"]
        yield from (form.replace("N", numbered["number"]).replace("X", name) for form in _NAMES)
    shorts = [short for short in CAPITALS.findall(text) if not usual_reading(short)]
    shorts = [short for short in shorts if readings_of(short)]
    if not 0 < len(shorts) <= _MOST:
        return
    beside = any(len(word) >= _LEAST and word not in shorts for word in LETTERS.findall(text))
    for readings in itertools.product(*map(readings_of, shorts)) if beside else ():
        phrase = text
        for short, reading in zip(shorts, readings, strict=True):
            phrase = re.sub(rf"\b{short}\b", reading, phrase)
        yield usual_reading(phrase) or phrase


def unclipped(text: str, completions: Callable[[str], Sequence[str]]) -> Iterator[str]:
    """Yield what a mention with clipped words may mean: *bact pneum* is bacterial pneumonia.

    `completions` gives the words that an unknown one begins. Beside them stands a whole word. Three
    letters are a word only in shorthand, which has no small words.

    >>> words = {"bact": ["bacterial", "bacteremia"], "pneum": ["pneumonia"]}
    >>> list(unclipped("Bact pneum, left", lambda word: words.get(word.lower(), ())))
    ['bacterial pneumonia, left', 'bacteremia pneumonia, left']
    >>> list(unclipped("Bact", lambda word: words.get(word.lower(), ())))
    []
    """
    words = [word for word in ALNUM.finditer(text) if word[0].isalpha()]  # no part of "D-Pen2"
    if len(words) < 2:
        return
    choices = [(word, completions(word[0])) for word in words]
    least = _LEAST + (not FUNCTION_WORDS.isdisjoint(word[0].lower() for word in words))
    clipped = [(word, known) for word, known in choices if known and len(word[0]) >= least]
    if not 0 < len(clipped) <= _MOST_CLIPPED:
        return
    for known in itertools.islice(
        itertools.product(*(known for _, known in clipped)), _MOST_PHRASES
    ):
        phrase, end = "", 0
        for (word, _), whole in zip(clipped, known, strict=True):
            phrase += text[end : word.start()] + whole
            end = word.end() + (text[word.end() : word.end() + 1] == ".")
        yield phrase + text[end:]
