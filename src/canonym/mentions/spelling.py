"""Correct words that a terminology does not know towards words that it does.

The vocabulary is the terminology's own, so a correction never leads away from its names.
Rules are careful: a wrong correction costs more than a missed one.
"""

from __future__ import annotations

import contextlib
import functools
import heapq
import itertools
import operator
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.io.arrays import ArrayWriter, open_array
from canonym.io.streams import open_text
from canonym.mentions.contrasts import affix_contrast
from canonym.mentions.english import is_english
from canonym.mentions.near_words import NearWords, signature
from canonym.mentions.slips import sound, undoubled
from canonym.text import PLAIN, normalise, normalise_all
from canonym.text.memo import strong_forms
from canonym.text.shape import ALNUM, LETTERS
from canonym.text.words import words_of_kind

_PREFIX = 2  # letters by which words are looked up
_SHORTEST = 7
# Shorter words are too near to one another to be corrected; they are guessed, if the rest decides.
_GUESSED, _GUESSED_ALONE, _MOST_GUESSES = 4, 5, 5
# A clipped word has as many letters, begins no more words than that, and is read as these few.
_CLIPPED, _MOST_BEGUN, _MOST_COMPLETIONS = 3, 3_000, 8
_RAREST = 2
_COMMON = 2  # names with a word, one of which may be taken out
_CLEARLY = 3
# Letters of an unknown word that stands alone, and the names that the word meant has at least. In a
# terminology of few words hardly any is a slip away from another.
_SUPPORT = ((7, 2), (0, 3))
_FEW_WORDS = 1_000
_COUNTING = 250  # bytes a word while words are counted
_CLEAR = 9  # letters of a word that may mean one of a single name
_AUDIBLE = 5  # sounds of a word that stands alone
_BLOCK = 1 << 16  # words written at once
_POSSESSIVE = ("'s", "\u2019s")
_ARRAYS = {
    "letters": np.uint8,
    "starts": np.int64,
    "counts": np.int32,
    "signatures": np.uint32,
}


class _Word(NamedTuple):
    """A word as it is looked up; whether the terminology has it or its singular, in two names.

    What is no word counts as known.
    """

    plain: str
    is_known: bool
    is_common: bool


class Speller:
    """Words of a terminology, and the nearest of them to a word it does not have.

    Safe to use from several threads; opens memory-mapped. Of the arrays, ``letters`` (uint8) are
    the words in UTF-8 one after the other, sorted; ``starts`` (int64) their places; ``counts``
    (int32) how many names have the word; ``signatures`` (uint32) which letters it has.

    A word is corrected when all of this holds: the terminology has neither it nor its singular; it
    has at least seven letters, no digit, and is not in capitals; it is no word of everyday English
    (`canonym.mentions.english`); one known word that at least two names have is a single edit away,
    or the most frequent of several is three times as frequent as the next. Two edits turned
    *tolerance* into *torrance* and *nephrotoxicity* into *neurotoxicity* in real mentions, and five
    letters *areas* into *arias*. D'Souza & Ng (2015) correct from a fixed list instead; see
    `read_spelling_list`.
    """

    def __init__(self, arrays: dict[str, npt.NDArray[Any]], folder: Path = Path()) -> None:
        self._arrays, self._folder = arrays, folder
        # Single items of a view are plain integers and bytes, and cost a tenth of an array's.
        self._letters, self._starts = arrays["letters"].data, arrays["starts"].data
        self._counts = arrays["counts"].data
        self._corrected = functools.lru_cache(maxsize=100_000)(self._correct_word)
        self._read = functools.lru_cache(maxsize=100_000)(self._reading)
        self._near = functools.lru_cache(maxsize=10_000)(self._likely)
        self._meant = functools.lru_cache(maxsize=10_000)(self._meanings)
        self._sound = functools.lru_cache(maxsize=100_000)(self._is_sound)
        self._prefixed = functools.lru_cache(maxsize=100_000)(self._with_prefix)

    @classmethod
    def build(cls, names: Iterable[str]) -> Speller:
        """Collect the words of all names."""
        counts: Counter[str] = Counter()
        for name in normalise_all(names, PLAIN):
            counts.update(set(name.split()))
        return cls.of_counts(counts)

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], *, of_letters: bool = True) -> Speller:
        """Keep counted words, if need be those of letters alone."""
        arrays = _arrays_of(_sorted_words(counts, of_letters))
        arrays["starts"] = np.concatenate([np.zeros(1, dtype=np.int64), arrays["starts"]])
        return cls(arrays)

    def __len__(self) -> int:
        return len(self._counts)

    def _word(self, place: int) -> bytes:
        return self._letters[self._starts[place] : self._starts[place + 1]].tobytes()

    def __contains__(self, word: str) -> bool:
        return self._place(word) is not None

    def _place(self, word: str) -> int | None:
        encoded = word.encode("utf-8", "surrogatepass")
        low, high, _ = self._prefixed(word[:_PREFIX], 0, len(self))
        place = bisect_left(range(high), encoded, low, high, key=self._word)
        return place if place < high and self._word(place) == encoded else None

    def beginning(self, start: str) -> Iterator[tuple[str, int]]:
        """Yield the words that begin so, sorted, with the number of names that have each."""
        first = start.encode("utf-8", "surrogatepass")
        for place in range(bisect_left(range(len(self)), first, key=self._word), len(self)):
            word = self._word(place)
            if not word.startswith(first):
                break
            yield word.decode("utf-8", "replace"), self._counts[place]

    def knows_all(self, text: str) -> bool:
        """Tell whether a text has known words and numbers only: it is right as it is written."""
        return all(map(self._sound, ALNUM.findall(text)))

    def _is_sound(self, token: str) -> bool:
        return (token.isalpha() or token.isdecimal()) and self._read(token).is_known

    def correct(self, text: str) -> str:
        """Return the text with unknown words corrected, or the same text.

        >>> speller = Speller.build(["Myocardial infarction", "Myocardial rupture"])
        >>> speller.correct("acute myocardail infarction")
        'acute myocardial infarction'
        """
        words = LETTERS.findall(text)
        alone = len(words) == 1
        if not any(self._corrected(word, alone) for word in words):
            return text
        return LETTERS.sub(lambda match: self._corrected(match[0], alone) or match[0], text)

    def _with_prefix(self, text: str, low: int, high: int) -> tuple[int, int, int]:
        """Return where words with a prefix lie, among others, and the names that have it alone."""
        prefix = text.encode("utf-8", "surrogatepass")
        low = bisect_left(range(high), prefix, low, high, key=self._word)
        high = bisect_left(range(high), prefix + b"\xff", low, high, key=self._word)
        is_word = low < high and self._word(low) == prefix
        return low, high, self._counts[low] if is_word else 0

    def guesses(self, text: str) -> tuple[str, ...]:
        """Return possible meanings of a text with one unknown word, its long words corrected.

        A guess counts only where it is, as a whole, a name. The word has at least four letters,
        five where it stands alone. It is replaced by known ones that are a single edit away and
        begin alike, or else by those that sound alike, frequent ones first; or by those of a single
        name, if it has nine letters or they sound alike. No guesses if all words are known or
        several are not.

        >>> names = ["Heart attack", "Heart failure", "Panic attack", "Hemorrhage", "No hemorrhage"]
        >>> speller = Speller.build(names)
        >>> speller.guesses("hart attack")
        ('heart attack',)
        >>> speller.guesses("hart atack")
        ()
        >>> speller.guesses("hemmorhage")
        ('hemorrhage',)
        """
        words = LETTERS.findall(text)
        unknown = [place for place, word in enumerate(words) if not self._read(word).is_known]
        if len(unknown) != 1:
            return ()
        start, end = next(itertools.islice(LETTERS.finditer(text), unknown[0], None)).span()
        word = self._read(text[start:end]).plain
        alone = len(words) == 1
        if text[end : end + 2] in _POSSESSIVE and f"{word}s" in self:
            return ()  # *Alper's* is "Alpers", and no slip of "Alder"
        # A part of a code is no word: "hb" of "hb123" is followed by a digit.
        is_part = any(map(str.isalnum, text[max(0, start - 1) : start] + text[end : end + 1]))
        least = _GUESSED_ALONE if alone else _GUESSED
        if is_part or len(word) < least or _is_code(text[start:end]):
            return ()
        likely = self._meant(word, alone)
        if not (likely or alone) and word.endswith("s"):  # "alzhiemers disease"
            likely = self._meant(word[:-1], alone)
        return tuple(text[:start] + known + text[end:] for known in likely[:_MOST_GUESSES])

    def completions(self, written: str) -> tuple[str, ...]:
        """Return the known words that an unknown one begins, those of most names first.

        None of a word of capitals or of everyday English, and of one that begins too many, or such
        as exclude each other: *hyp* may be hypertension or hypotension.

        >>> speller = Speller.build(["Viral infection", "Ear infection", "Infectious arthritis"])
        >>> speller.completions("infect"), speller.completions("infection")
        (('infection', 'infectious'), ())
        """
        word, is_known, _ = self._read(written)
        if is_known or len(word) < _CLIPPED or _is_code(written) or is_english(word):
            return ()
        if word in words_of_kind("beginning of contraries"):
            return ()
        low, high, _ = self._prefixed(word, 0, len(self))
        if not 0 < high - low <= _MOST_BEGUN:
            return ()
        counts = self._arrays["counts"][low:high]
        order = np.lexsort((np.arange(high - low), -counts))[:_MOST_COMPLETIONS]
        return tuple(self._decoded(low + place) for place in order.tolist())

    def _meanings(self, word: str, alone: bool) -> tuple[str, ...]:
        """Return the known words that an unknown one may mean, the likeliest first."""
        near = tuple(known for _, known in self._near(word, alone))
        return near or self._sounding_alike(word, alone) or self._rarely(word)

    def _reading(self, written: str) -> _Word:
        plain = normalise(written, PLAIN)
        forms = dict.fromkeys((plain, *strong_forms([written])[0].split()))
        places = [place for form in forms if (place := self._place(form)) is not None]
        counts = [self._counts[place] for place in places]
        is_known = bool(places) or LETTERS.fullmatch(plain) is None
        return _Word(plain, is_known, max(counts, default=0) >= _COMMON)

    def vocabulary_coverage(self, text: str) -> float:
        """Return the share of the letters of a text in words that at least two names have.

        A name that is taken out of a terminology has its words in others; a text without a word
        has nothing unknown.

        >>> speller = Speller.build(["Heart attack", "Heart failure", "Panic attack"])
        >>> speller.vocabulary_coverage("heart attacks"), speller.vocabulary_coverage("heart race")
        (1.0, 0.5555555555555556)
        """
        words = [form for form in LETTERS.findall(text) if len(form) > 1]
        known = sum(len(word) for word in words if self._read(word).is_common)
        return known / sum(map(len, words)) if words else 1.0

    def _correct_word(self, written: str, alone: bool) -> str | None:
        word, is_known, _ = self._read(written)
        if is_known or len(word) < _SHORTEST or _is_code(written) or is_english(word):
            return None
        ranked = self._near(word, alone)
        if not ranked or (len(ranked) > 1 and ranked[0][0] < _CLEARLY * ranked[1][0]):
            return None
        return ranked[0][1]

    def _likely(self, word: str, alone: bool) -> list[tuple[int, str]]:
        """Return the words that a slip may have turned into an unknown one, frequent ones first.

        A slip at the beginning is rare, and another beginning makes another word: nstemi is not
        stemi. What is a word but for its last letter has an ending, or a letter glued on: that
        letter is neither taken away nor another one. Where nothing stands beside the word, only a
        word of more names is likelier than one that the terminology does not have. A letter that
        should stand twice is the likeliest slip: a concusion is not a contusion.
        """
        least = self._least(word) if alone else _RAREST
        near = self._of_same_sense(word, self._frequent.one_edit_from(word))
        likely = [pair for pair in near if pair[0] >= least]
        plain = undoubled(word)
        return [pair for pair in likely if undoubled(pair[1]) == plain] or likely

    def _of_same_sense(
        self, word: str, near: Sequence[tuple[int, str]]
    ) -> Iterator[tuple[int, str]]:
        """Leave out the words with a contrary prefix, and what a word with an ending is without."""
        stem = word[:-1]
        ends = bool(near) and stem in self
        for count, known in near:
            has_other_end = ends and (known == stem or known[:-1] == stem)
            if not has_other_end and affix_contrast(word, known) is None:
                yield count, known

    def _least(self, word: str) -> int:
        """Return the names that a word must have to be what an unknown one alone stands for."""
        if len(self) < _FEW_WORDS:
            return _RAREST
        return next(names for letters, names in _SUPPORT if len(word) >= letters)

    @functools.cached_property
    def _frequent(self) -> NearWords:
        """The words that a correction may choose."""
        frequent = np.flatnonzero(self._arrays["counts"] >= _RAREST)
        return NearWords(self._arrays, frequent, self._decoded)

    @functools.cached_property
    def _rare(self) -> NearWords:
        """The words of one name, which may be misspelt there."""
        rare = np.flatnonzero(self._arrays["counts"] < _RAREST)
        return NearWords(self._arrays, rare, self._decoded)

    def _sounding_alike(self, word: str, alone: bool) -> tuple[str, ...]:
        """Return the words that sound like one that is not English, frequent ones first."""
        if len(sound(word)) < (_AUDIBLE if alone else _AUDIBLE - 1) or is_english(word):
            return ()
        near = self._of_same_sense(word, self._frequent.sounding_like(word))
        return tuple(known for _, known in near)

    def _rarely(self, word: str) -> tuple[str, ...]:
        """Return what a word may mean among those of one name, which are near to many others.

        It is long, or they sound alike.
        """
        if len(word) < _SHORTEST or is_english(word):
            return ()
        near = self._of_same_sense(word, self._rare.one_edit_from(word))
        return tuple(
            known for _, known in near if len(word) >= _CLEAR or sound(word) == sound(known)
        )

    def _decoded(self, place: int) -> str:
        try:
            return self._word(place).decode()
        except UnicodeDecodeError as error:
            problem = f"holds a word that is no text ({error}); build the index again"
            raise ReadError(self._folder / "letters.npy", problem) from error

    def words(self) -> Iterator[tuple[bytes, int]]:
        """Yield every word in UTF-8, sorted, with the number of names that have it."""
        for place, count in enumerate(self._arrays["counts"].tolist()):
            yield self._word(place), count

    def save(self, folder: Path) -> None:
        """Write one ``.npy`` file per array to an existing folder."""
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", self._arrays[name])

    @classmethod
    def load(cls, folder: Path) -> Speller:
        """Open a saved speller, memory-mapped."""
        try:
            arrays = {name: open_array(folder / f"{name}.npy") for name in _ARRAYS}
            if any(arrays[name].dtype != dtype for name, dtype in _ARRAYS.items()):
                raise ValueError("an array is of another type")
            n, starts = len(arrays["counts"]), arrays["starts"]
            shapes = {name: array.shape for name, array in arrays.items()}
            expected = {"letters": (starts[-1],), "starts": (n + 1,)}
            if shapes != {"counts": (n,), "signatures": (n,), **expected}:
                raise ValueError("the arrays do not belong together")
            if starts[0] or (np.diff(starts) < 1).any():  # no word is empty
                raise ValueError("the places of words do not rise from 0")
        except (OSError, ValueError, TypeError, IndexError) as error:
            raise ReadError(folder, f"cannot be opened ({error}); build the index again") from error
        return cls(arrays, folder)


class SpellerWriter:
    """Counts words and writes the speller, so that one pass over the names can serve other ends.

    What is counted takes about `memory` bytes. Beyond it, words wait in files of the folder. With
    `of_letters` other words are left out.
    """

    def __init__(self, folder: Path, memory: int, *, of_letters: bool = True) -> None:
        self._folder, self._of_letters = folder, of_letters
        self._most = memory // _COUNTING
        self._counts: Counter[str] = Counter()
        self._files: list[Path] = []
        self._further: list[Iterable[tuple[bytes, int]]] = []

    def add(self, names: Iterable[str], times: int = 1) -> None:
        """Count the words of names in `canonym.text.PLAIN` form."""
        counts = self._counts
        for name in names:
            words = set(name.split())
            counts.update(words if times == 1 else dict.fromkeys(words, times))
        self._keep_small()

    def _keep_small(self) -> None:
        """Set the words aside where they take more memory than they may."""
        if len(self._counts) <= self._most:
            return
        path = self._folder / f"words-{len(self._files)}"
        words = _sorted_words(self._counts, self._of_letters)
        with path.open("wb") as stream:
            stream.writelines(b"%b %d\n" % pair for pair in words)
        self._files.append(path)
        self._counts.clear()

    def add_words(self, words: Iterable[tuple[bytes, int]]) -> None:
        """Count words that are sorted, as `Speller.words` gives them."""
        self._further.append(words)

    def finish(self) -> None:
        """Write the files that `Speller.save` would write."""
        with contextlib.ExitStack() as stack:
            runs = [stack.enter_context(path.open("rb")) for path in self._files]
            further = (map(_read_word, run) for run in runs)
            counted = _sorted_words(self._counts, self._of_letters)
            every = heapq.merge(counted, *further, *self._further)
            summed = (
                (word, sum(count for _, count in same))
                for word, same in itertools.groupby(every, key=operator.itemgetter(0))
            )
            words = (pair for pair in summed if pair[1])
            files = {
                name: stack.enter_context(ArrayWriter(self._folder / f"{name}.npy", dtype))
                for name, dtype in _ARRAYS.items()
            }
            files["starts"].add(np.zeros(1))
            while block := list(itertools.islice(words, _BLOCK)):
                arrays = _arrays_of(block)
                arrays["starts"] += files["letters"].n_rows
                for name, array in arrays.items():
                    files[name].add(array)
        for path in self._files:
            path.unlink()


def _sorted_words(counts: Mapping[str, int], of_letters: bool) -> list[tuple[bytes, int]]:
    words = (word for word in counts if not of_letters or LETTERS.fullmatch(word))
    return sorted((word.encode(), counts[word]) for word in words)


def _read_word(line: bytes) -> tuple[bytes, int]:
    word, _, count = line.rpartition(b" ")
    return word, int(count)


def _arrays_of(words: Sequence[tuple[bytes, int]]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of words in order; of ``starts`` those of the words that follow."""
    return {
        "letters": np.frombuffer(b"".join(word for word, _ in words), dtype=np.uint8),
        "starts": np.cumsum([len(word) for word, _ in words], dtype=np.int64),
        "counts": np.array([count for _, count in words], dtype=np.int32),
        "signatures": np.array([signature(word) for word, _ in words], dtype=np.uint32),
    }


def _is_code(word: str) -> bool:
    """Tell whether the capitals of a word are those of a code or short form: *NSTEMI*, *hProt*.

    >>> [_is_code(word) for word in ("MELAS", "cFLIP", "vitaminD", "McArdle", "Fever", "fever")]
    [True, True, True, False, False, False]
    """
    if word[1:] == word[1:].lower():
        return False
    capitals = [letter.isupper() for letter in word]
    return not capitals[0] or capitals[-1] or (True, True) in itertools.pairwise(capitals)


def read_spelling_list(path: str | Path) -> dict[str, str]:
    """Read corrections, ``wrong||right`` a line, as in the list of the NCBI disease corpus."""
    corrections: dict[str, str] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            wrong, mark, right = (part.strip() for part in line.partition("||"))
            if not line.strip():
                continue
            if not mark or not wrong or not right or "||" in right:
                problem = f"{line.strip()!r:.80} is not of the form wrong||right"
                raise ReadError(path, problem, line=number)
            corrections[wrong] = right
    return corrections
