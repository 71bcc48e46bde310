"""Short names of organisms: *H. pylori*, *Staph. aureus*, *E coli*, *S.aureus*, *C. diff*.

A short name is an initial or the beginning of a genus, and an epithet. Its genera are those that
stand before the epithet in the names of a terminology, and those of well-known organisms. Where the
text around writes the genus out, that decides. Several genera stay several.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from canonym.mentions.spelling import Speller, SpellerWriter
from canonym.regex import GAP, regex
from canonym.rules import current, once_a_book
from canonym.text import PLAIN, normalise, normalise_all
from canonym.text.memo import Remembered
from canonym.text.words import ends_as, words_of_kind
from canonym.types import Step

GENUS = "genus"
"""Name of the step from a short name of an organism to one with its genus."""

BINOMIALS = "binomials"
"""Folder of an index with the binomials in its names."""

# --- what binomials look like ---------------------------------------------------------------------

# Names of diseases, of parts of the body and of substances are Latin too: "acne vulgaris" is not an
# organism, "Artemisia vulgaris" is. Endings of both are rules, and words that end otherwise.
_LEAST_STEM = 2  # letters before the ending of a genus or an epithet


_MOST_GENERA = 6
_LEAST_CLIPPED = 4
# After a full stop or a single letter any word may be an epithet, or the beginning of one.
_SHORT_NAME = regex(
    r"(?<![\w.])(?:(?P<initial>[a-z])(?P<stop>\. ?| )|(?P<clipped>[a-z]{2,9})\. ?"
    r"|(?P<word>[a-z]{4,9}) )(?P<epithet>[a-z]{3,})(?!\w)",
    re.IGNORECASE,
)
_BETWEEN = regex(rf"{GAP}(?:[,;/+&]|\band\b|\bor\b)(?:\s*\b(?:and|or)\b)?\s*")
_LONGEST = 200


@once_a_book
def _usual() -> Mapping[str, Sequence[str]]:
    """Return the genera of well-known organisms by their epithets, in small letters."""
    usual: dict[str, list[str]] = {}
    for rule in current().of_kind("organism"):
        genus, epithet = rule.form.lower().split()
        usual.setdefault(epithet, []).append(genus)
    return usual


@once_a_book
def _well_known_genera() -> frozenset[str]:
    return frozenset(genus for genera in _usual().values() for genus in genera)


# --- binomials of a terminology -------------------------------------------------------------------


class Binomials:
    """The genera that stand before each epithet in the names of a terminology.

    They are kept like the words of a speller, as "epithet genus" with the number of names.
    """

    def __init__(self, words: Speller) -> None:
        self._words = words

    @classmethod
    def build(cls, names: Iterable[str]) -> Binomials:
        """Collect the binomials of all names."""
        counts = Counter(pairs_in(normalise_all(names, PLAIN)))
        return cls(Speller.of_counts(counts, of_letters=False))

    def genera(self, epithet: str, beginning: str = "") -> list[str]:
        """Return the genera that begin so, the most frequent first.

        >>> Binomials.build(["Helicobacter pylori", "Escherichia coli"]).genera("pylori", "h")
        ['helicobacter']
        """
        pairs = sorted(
            self._words.beginning(f"{epithet} {beginning}"), key=lambda pair: (-pair[1], pair[0])
        )
        return [pair.partition(" ")[2] for pair, _ in pairs]

    @classmethod
    def load(cls, folder: Path) -> Binomials:
        """Open what `BinomialsWriter` wrote, memory-mapped."""
        return cls(Speller.load(folder))


class BinomialsWriter(SpellerWriter):
    """Collects binomials and writes them, so that one pass over the names can serve other ends."""

    def __init__(self, folder: Path, memory: int) -> None:
        super().__init__(folder, memory, of_letters=False)

    def add(self, names: Iterable[str], times: int = 1) -> None:
        """Collect the binomials of names in `canonym.text.PLAIN` form."""
        for pair in pairs_in(names):
            self._counts[pair] += times
        self._keep_small()


def pairs_in(names: Iterable[str]) -> list[str]:
    """Return the binomials of names in `PLAIN` form, each as "epithet genus".

    >>> pairs_in(["gastritis by helicobacter pylori", "acne vulgaris"])
    ['pylori helicobacter']
    """
    # The words of all names in one list, and a number for each: the loop runs outside Python.
    words = " \n ".join(names).split(" ")
    kinds = np.frombuffer(bytes(map(_kinds().__getitem__, words)), dtype=np.uint8)
    places = np.flatnonzero(kinds[:-1] & _IS_GENUS & (kinds[1:] >> 1)).tolist()
    return [f"{words[place + 1]} {words[place]}" for place in places]


_IS_GENUS, _IS_EPITHET = 1, 2
_NO_LAST = frozenset("bcdfhjkpqtuvwyz0123456789.,;:()[]-")  # letters in which neither ends


def _kind(word: str) -> int:
    """Tell whether a word may be a genus, an epithet or both."""
    if word[-1:] in _NO_LAST and word not in _usual():
        return 0
    is_latin = word.isascii() and word.isalpha() and word.islower()
    kind = 0
    for bit, name, known in (
        (_IS_GENUS, "a genus", _well_known_genera()),
        (_IS_EPITHET, "an epithet", _usual()),
    ):
        may_be = word in words_of_kind(name) or (
            is_latin and ends_as(word, f"ending of {name}", _LEAST_STEM)
        )
        is_other = word in words_of_kind(f"not {name}") or ends_as(word, f"no ending of {name}")
        if word in known or (may_be and not is_other):
            kind |= bit
    return kind


@once_a_book
def _kinds() -> Remembered[int]:
    return Remembered(_kind)


# --- mentions -------------------------------------------------------------------------------------


class _Short(NamedTuple):
    """A short name in a mention: where it is, and the names with a genus that it may stand for."""

    start: int
    end: int
    names: list[str]


def genus_steps(
    text: str, binomials: Binomials | None = None, around: Sequence[str] = ()
) -> tuple[Step, ...]:
    """Return the steps from a mention with short names of organisms to those with the genus.

    Where one short name may stand for several, well-known organisms come first, and then those of
    more names of the terminology. `around` are texts that may write the genus out.

    >>> [step.after for step in genus_steps("H. pylori gastritis")]
    ['Helicobacter pylori gastritis']
    >>> genus_steps("hepatitis B virus")
    ()
    """
    # Few texts have any organism, and this tells quickly.
    words = text.lower().split()
    may_have = "." in text or 1 in map(len, words) or _has_epithet(words)
    if not may_have or len(text) > _LONGEST:
        return ()
    short = [piece for piece in _short_names(text, binomials, around) if piece.names]
    if not short:
        return ()
    if len(short) > 1:
        short = [piece._replace(names=piece.names[:1]) for piece in short]
    written = [text]
    for start, end, names in reversed(short):
        written = [
            f"{reading[:start]}{name}{reading[end:]}" for name in names for reading in written
        ]
    return tuple(Step(GENUS, text, reading) for reading in written)


def _has_epithet(words: Iterable[str]) -> bool:
    return max(map(_kinds().__getitem__, words), default=0) >= _IS_EPITHET


def organisms_in(text: str) -> tuple[str, ...]:
    """Return the short names in a text that lists nothing else, none for any other text.

    >>> organisms_in("E. coli, S.aureus and K. pneumoniae"), organisms_in("E. coli and fever")
    (('E. coli', 'S.aureus', 'K. pneumoniae'), ())
    """
    if text.count(".") < 2 or len(text) > _LONGEST:
        return ()
    pieces = tuple(_BETWEEN.split(text))
    return tuple(dict.fromkeys(pieces)) if len(pieces) > 1 and all(map(_epithet, pieces)) else ()


def _epithet(text: str) -> str:
    """Return the epithet of a text that is a short name alone, "" for any other text."""
    match = _SHORT_NAME.fullmatch(text) if "." in text and text[1:].islower() else None
    return match["epithet"] if match and text[0].isupper() else ""


def organism_of(text: str, steps: Sequence[Step]) -> Organism | None:
    """Return the organism of a text that is a short name alone, with the genera of its steps.

    >>> organism_of("H. pylori", ())
    Organism(initial='h', epithet='pylori', genera=())
    >>> organism_of("T. bili", ()), organism_of("H. pylori gastritis", ())
    (None, None)
    """
    genera = [step.after.lower().split() for step in steps if step.name == GENUS]
    if genera:
        epithet = genera[0][-1]
        alone = all(len(words) == 2 for words in genera)
        names = tuple(words[0] for words in genera)
        return Organism(names[0][0], epithet, names) if alone else None
    epithet = _epithet(text) if text[1:2] == "." else ""
    if not epithet or not _kinds()[epithet] & _IS_EPITHET:
        return None
    is_clear = epithet in _usual() or len(epithet) > _LEAST_CLIPPED
    return Organism(text[0].lower(), epithet, ()) if is_clear else None


class Organism(NamedTuple):
    """The initial and the epithet of an organism, and its genera where they are known."""

    initial: str
    epithet: str
    genera: tuple[str, ...]

    def may_be(self, name: str) -> bool:
        """Tell whether a name may be of this organism: it has the genus or the bare epithet.

        >>> organism = Organism("k", "pneumoniae", ("klebsiella",))
        >>> [organism.may_be(name) for name in ("Klebsiella sp.", "Streptococcus pneumoniae")]
        [True, False]
        """
        words = normalise(name).split()
        if not set(self.genera).isdisjoint(words):
            return True
        before = [words[at - 1] if at else "" for at, w in enumerate(words) if w == self.epithet]
        return any(
            not _kinds()[word] & _IS_GENUS or (not self.genera and word[0] == self.initial)
            for word in before
        )


def _short_names(text: str, binomials: Binomials | None, around: Sequence[str]) -> Iterator[_Short]:
    for match in _SHORT_NAME.finditer(text):
        genus = match["initial"] or match["clipped"] or match["word"]
        epithet = match["epithet"].lower()
        if not _is_short_genus(match):
            continue
        names = _genera(genus.lower(), epithet, binomials)
        if match["word"] is None and names == []:
            names = _clipped(genus.lower(), epithet)
        named = _written_out(genus, epithet, names, around)
        spelt = list(dict.fromkeys(name.capitalize() for name in named))[:_MOST_GENERA]
        yield _Short(match.start(), match.end(), spelt)


def _is_short_genus(match: re.Match[str]) -> bool:
    """Tell whether what stands before an epithet may be short for a genus."""
    initial = match["initial"]
    if initial is None or "." in match["stop"]:
        return True
    if initial in "aA":  # "a major problem"
        epithet = match["epithet"].lower()
        return any(genus[0] == "a" for genus in _usual().get(epithet, ()))
    before = match.string[: match.start()].rstrip().rpartition(" ")[2].lower()
    return before not in words_of_kind("before a letter") and (initial.isupper() or not before)


def _genera(genus: str, epithet: str, binomials: Binomials | None) -> list[str]:
    """Return the binomials that a short genus and an epithet may stand for."""
    names: list[str] = []
    # "K. pneumonia" and "H. influenza" have lost a letter.
    for form in (epithet, f"{epithet}e") if epithet.endswith("a") else (epithet,):
        if _kinds()[form] & _IS_EPITHET:
            genera = [
                candidate for candidate in _usual().get(form, ()) if candidate.startswith(genus)
            ]
            genera += binomials.genera(form, genus) if binomials is not None else []
            names += [f"{candidate} {form}" for candidate in genera]
    # A genus that is written out is not short for another one.
    return [] if any(name.startswith(f"{genus} ") for name in names) else names


def _clipped(genus: str, epithet: str) -> list[str]:
    """Return the well-known organism whose epithet is cut short, as in "C. diff"."""
    if len(epithet) < _LEAST_CLIPPED:
        return []
    forms = [form for form in _usual() if form.startswith(epithet) and form != epithet]
    names = {
        form: [candidate for candidate in _usual()[form] if candidate.startswith(genus)]
        for form in forms
    }
    named = [f"{candidate} {form}" for form, genera in names.items() for candidate in genera]
    return named if sum(map(bool, names.values())) == 1 else []


def _written_out(genus: str, epithet: str, names: list[str], around: Sequence[str]) -> list[str]:
    """Return the names whose genus the surroundings write out; all of them where they do not."""
    for text in filter(None, around):
        whole = re.search(rf"(?<!\w)({genus}[a-z]+)\s+{epithet}(?!\w)", text, re.IGNORECASE)
        if whole is not None:
            return [f"{whole[1].lower()} {epithet}"]
        words = set(normalise(text).split()) if len(names) > 1 else set()
        named = [name for name in names if name.split()[0] in words]
        if named:
            return named
    return names
