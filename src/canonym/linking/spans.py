"""Names in running text: the longest stretches of words that are names of the terminology.

1. **Read** (`canonym.text.running`): every word of a text once, in normal form.
2. **Look**: stretches of words whose sum is that of a name (`canonym.indexes.phrase_filter`), in
   many texts at once.
3. **Confirm**: the sieves know the stretch, under the filters of the call; so what is found is
   found by `canonym.Linker.link` too.
4. **Judge**: words that only look like names, commas and brackets inside a stretch.
5. **Choose** between stretches that overlap: the longest, the most trusted, the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.indexes import BoolArray
from canonym.indexes.phrase_filter import PHRASES, PhraseFilter, WordNumbers
from canonym.io.time_limit import check_time
from canonym.linking.names import Filter, Names
from canonym.linking.search import BatchHits, sift
from canonym.mentions.abbreviations import expand
from canonym.mentions.composites import composites_ending, split_composite
from canonym.mentions.english import is_ordinary, qualifying_forms
from canonym.mentions.false_names import (
    beside,
    is_out_of_order,
    looks_alike,
    section_titles,
)
from canonym.mentions.flags import with_flags
from canonym.mentions.readings import clinical_readings, has_several
from canonym.mentions.shorthand import diabetes_phrases
from canonym.text import PLAIN, STRONG, UNORDERED, normalise, normalise_all
from canonym.text.running import (
    BREAK,
    NO_BREAK,
    PARAGRAPH,
    TextReader,
    Words,
    broken_words,
    with_brackets,
)
from canonym.text.short_forms import SHORT, is_short_form
from canonym.types import EVERYDAY, Document, Mention, Name

_REMEMBERED = 100_000  # strings
_COMPOSITE = -1  # in place of the number of a sieve
_PREFIXES = ("non-", "non ", "sub-")  # what follows is denied
_NO_LIMIT = 255  # of a word that may stand in every name: of, the

Places = npt.NDArray[np.intp]


class Stretch(NamedTuple):
    """A stretch of a text that may be a name.

    `text` is written there, `string` is it with its abbreviations written out, and `breaks` tells
    whether a comma, a bracket or another end of phrases is inside. A `half` is beside a word with
    which it stands in some name: *edema* in *macular edema*.
    """

    start: int
    end: int
    text: str
    string: str
    breaks: bool
    half: bool = False


class Marks(NamedTuple):
    """The mentions in a text, in their order, and the readings of abbreviations that they need."""

    mentions: tuple[Mention, ...]
    readings: Mapping[str, str]


class _Reading(NamedTuple):
    """Words of the document at a place, with the long forms of abbreviations.

    Where some around a gloss are read, `cut` are before it.
    """

    document: int
    words: Words
    cut: int
    forms: Mapping[str, str]


class TextNames:
    """Finds the names of an index in texts; `find` is the whole way."""

    def __init__(self, phrases: PhraseFilter, *, helped: bool) -> None:
        self._helped = helped  # a search without any help is what a paper describes
        self._phrases = phrases
        self._reader = TextReader()
        self._numbers = WordNumbers()
        self._extra: tuple[Names | None, list[PhraseFilter]] = (None, [])
        self._known: tuple[Names | None, Filter | None, dict[str, _Known | None]]
        self._known = (None, None, {})

    def mark(
        self,
        documents: Sequence[Document],
        abbreviations: Sequence[Mapping[str, str]],
        batch: BatchHits,
    ) -> list[tuple[Document, Mapping[str, str]]]:
        """Return documents with the mentions in their texts, and the readings that these need.

        A reading is what a clinical abbreviation stands for, but for `abbreviations`, or a word
        that the end of a line has broken.
        """
        readings = [
            {
                short: reading
                for short, reading in (clinical_readings(text) | broken_words(text)).items()
                if self._helped and short not in of_text
            }
            for text, of_text in zip((it.text for it in documents), abbreviations, strict=True)
        ]
        marks = self.find(documents, abbreviations, readings, batch)
        return [
            (replace(document, mentions=of.mentions), of.readings)
            for document, of in zip(documents, marks, strict=True)
        ]

    def read(
        self, texts: Sequence[str], abbreviations: Mapping[str, str], batch: BatchHits
    ) -> tuple[list[Document], list[Mapping[str, str]]]:
        """Return texts with the mentions in them and their flags, and the readings of each."""
        documents, forms = [Document("", text) for text in texts], [abbreviations] * len(texts)
        marked = self.mark(documents, forms, batch)
        flagged = [replace(it, mentions=with_flags(it.text, it.mentions)) for it, _ in marked]
        return flagged, [readings for _, readings in marked]

    def find(
        self,
        documents: Sequence[Document],
        abbreviations: Sequence[Mapping[str, str]],
        readings: Sequence[Mapping[str, str]],
        batch: BatchHits,
    ) -> list[Marks]:
        """Return the mentions of each document.

        Its `abbreviations` always stand for their long forms, those of `readings` for themselves
        as well.
        """
        stretches = self._look(documents, abbreviations, readings, batch.names)
        known = self._known_of(batch)
        self._confirm({stretch.string for of in stretches for stretch in of}, known, batch)
        composites = [
            [*_composites(document.text, of, forms, known)]
            for document, of, forms in zip(documents, stretches, abbreviations, strict=True)
        ]
        self._confirm_composites([stretch for of in composites for stretch in of], known, batch)
        marked = [
            self._choose(document, [*_as_read(of, read), *more], known, batch)
            for document, of, more, read in zip(
                documents, stretches, composites, readings, strict=True
            )
        ]
        return [_marks(*row) for row in zip(documents, marked, readings, strict=True)]

    # --- look -----------------------------------------------------------------------------------

    def _look(
        self,
        documents: Sequence[Document],
        abbreviations: Sequence[Mapping[str, str]],
        readings: Sequence[Mapping[str, str]],
        names: Names,
    ) -> list[list[Stretch]]:
        """Return the stretches of each document that may be names."""
        every = [*self._readings(documents, abbreviations, readings)]
        turns = [
            turn
            for reading in every
            for turn in _turns(documents[reading.document].text, reading.words)
        ]
        read = [reading.words for reading in every]
        firsts, lasts, halves = self._stretches(read, turns, self._all_filters(names))
        stretches = [[*_diabetes(document.text)] for document in documents]
        begin = 0
        for place, words, cut, forms in every:
            stop = begin + len(words.starts)
            here = slice(*np.searchsorted(firsts, (begin, stop)).tolist())
            text = documents[place].text
            columns = (firsts[here].tolist(), lasts[here].tolist(), halves[here].tolist())
            stretches[place].extend(
                _stretch(text, words, first - begin, last - begin, forms)._replace(half=half)
                for first, last, half in zip(*columns, strict=True)
                if not cut or first - begin < cut <= last - begin
            )
            begin = stop
        return stretches

    def _readings(
        self,
        documents: Sequence[Document],
        abbreviations: Sequence[Mapping[str, str]],
        readings: Sequence[Mapping[str, str]],
    ) -> Iterator[_Reading]:
        """Yield the words of each document, and those around each gloss in it."""
        for place, document in enumerate(documents):
            forms, text = abbreviations[place], document.text
            words = self._reader.read(text, forms)
            yield _Reading(place, words, 0, forms)
            if forms:
                for around, cut in self._reader.around_glosses(text, words, forms):
                    yield _Reading(place, around, cut, forms)
            if readings[place]:
                forms = {**readings[place], **forms}
                yield _Reading(place, self._reader.read(text, forms), 0, forms)

    def _stretches(
        self, read: Sequence[Words], turns: Sequence[bool], filters: Sequence[PhraseFilter]
    ) -> tuple[Places, Places, BoolArray]:
        """Return the first and last words of all stretches whose sum is a name's, and the halves.

        Words are numbered through all texts. A stretch grows word by word while all its words are
        in some name that is long enough.
        """
        forms = [form for words in read for form in words.forms]
        numbers, lengths, limits = self._columns(forms, filters)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(numbers, dtype=np.uint64)])
        length = np.concatenate([[0], np.cumsum(lengths)])
        breaks = np.array([kind for words in read for kind in words.breaks], dtype=np.intp)
        ends = np.append(breaks == PARAGRAPH, True)
        firsts = np.flatnonzero((limits > 0) & (lengths > 0))
        lasts, most = firsts, limits[firsts]
        ranges: list[tuple[Places, Places]] = []
        while len(firsts):
            whole = lengths[lasts] > 0  # a name does not end with "of"
            asked = sums[lasts[whole] + 1] - sums[firsts[whole]]
            named = filters[0].has(asked)
            if lasts is firsts:
                named &= ~filters[0].too_general(asked)
            for phrases in filters[1:]:
                named |= phrases.has(asked)
            ranges.append((firsts[whole][named], lasts[whole][named]))
            going = ~ends[lasts + 1]
            firsts, lasts, most = firsts[going], lasts[going] + 1, most[going]
            most = np.minimum(most, limits[lasts])
            going = length[lasts + 1] - length[firsts] <= most
            firsts, lasts, most = firsts[going], lasts[going], most[going]
        if not ranges:
            return firsts, firsts, np.zeros(0, dtype=np.bool_)
        firsts, lasts = (np.concatenate(column) for column in zip(*ranges, strict=True))
        order = np.argsort(firsts, kind="stable")
        firsts, lasts = firsts[order], lasts[order]
        joined = self._joined(numbers, lengths, (breaks != NO_BREAK) | np.array(turns), filters[0])
        return firsts, lasts, joined[firsts] | joined[lasts + 1]

    def _joined(
        self,
        numbers: npt.NDArray[np.uint64],
        lengths: Places,
        ends: BoolArray,
        phrases: PhraseFilter,
    ) -> BoolArray:
        """Tell which words stand behind one with which they stand in some name.

        One more is at the end. Words that say how, when or in whom make no other name.
        """
        counts = (lengths > 0) & ~np.isin(numbers, self._numbers.of(qualifying_forms()))
        joined = phrases.has_pair(numbers[:-1] + numbers[1:])
        joined &= ~ends[1:] & counts[:-1] & counts[1:]
        return np.concatenate([[False], joined, [False]])

    def _columns(
        self, forms: Sequence[str], filters: Sequence[PhraseFilter]
    ) -> tuple[npt.NDArray[np.uint64], Places, Places]:
        """Return the number, the length and the limit of every word of the texts.

        The limit is the length of the longest name with the word, 0 where no name has it.
        """
        places = {form: place for place, form in enumerate(dict.fromkeys(forms))}
        words = [form.split() for form in places]
        lengths = np.array([len(of_form) for of_form in words], dtype=np.intp)
        owners = np.repeat(np.arange(len(words)), lengths)
        of_word = self._numbers.of([word for of_form in words for word in of_form])
        longest = np.zeros(len(of_word), dtype=np.uint8)
        for phrases in filters:
            longest = np.maximum(longest, phrases.limits(of_word))
        numbers = np.zeros(len(words), dtype=np.uint64)
        np.add.at(numbers, owners, of_word)
        limits = np.full(len(words), _NO_LIMIT, dtype=np.intp)
        np.minimum.at(limits, owners, longest)
        at = np.fromiter(map(places.__getitem__, forms), dtype=np.intp, count=len(forms))
        return numbers[at], lengths[at], limits[at]

    def _all_filters(self, names: Names) -> list[PhraseFilter]:
        """Return the filter of the terminology, and that of names beside it as they are now."""
        if self._extra[0] is not names:
            texts = names.extra_texts()
            forms = list(normalise_all(texts, UNORDERED))
            self._extra = (names, [PhraseFilter.build([forms])] if texts else [])
        return [self._phrases, *self._extra[1]]

    # --- confirm --------------------------------------------------------------------------------

    def _known_of(self, batch: BatchHits) -> dict[str, _Known | None]:
        """Return the strings that were looked up among the names of one moment with a filter."""
        names, row_filter, known = self._known
        if names is not batch.names or row_filter is not batch.filter or len(known) > _REMEMBERED:
            known = {}
            self._known = (batch.names, batch.filter, known)
        return known

    def _confirm(
        self, strings: set[str], known: dict[str, _Known | None], batch: BatchHits
    ) -> None:
        """Look strings up in the sieves, each once."""
        filters = [
            batch.names.filter(batch.filter, step, by_name=True) for step in batch.search.steps
        ]
        new = sorted(strings - known.keys())
        plain = dict(zip(new, normalise_all(new, PLAIN), strict=True))
        sifted = sift(plain, batch.sieves, batch.names, filters, batch.concepts)
        scopes = filters[0].ties.scope_of_row
        for string in new:
            sieve, pairs = sifted.get(string, (None, []))
            of = None
            if sieve is not None:
                concepts = tuple(concept for concept, _ in pairs)
                of = _Known(concepts, int(scopes[pairs[0][1]]), batch.sieves.index(sieve))
            known[string] = of  # at once: other threads may be reading

    def _confirm_composites(
        self, stretches: Sequence[Stretch], known: dict[str, _Known | None], batch: BatchHits
    ) -> None:
        """Know those composite mentions whose parts are all names."""
        split = {stretch.string: split_composite(stretch.string) for stretch in stretches}
        split = {string: parts for string, parts in split.items() if len(parts) > 1}
        self._confirm({part for parts in split.values() for part in parts}, known, batch)
        for string, parts in split.items():
            whole = [of for part in parts if (of := known[part]) is not None]
            shared = not any(part in string for part in parts[:-1])
            if shared and len(whole) == len(parts) and known.get(string) is None:
                concepts = tuple(concept for of in whole for concept in of.concepts)
                known[string] = _Known(concepts, max(of.scope for of in whole), _COMPOSITE)

    # --- judge and choose -----------------------------------------------------------------------

    def _choose(
        self,
        document: Document,
        stretches: Sequence[Stretch],
        known: Mapping[str, _Known | None],
        batch: BatchHits,
    ) -> list[Stretch]:
        """Return the names among stretches that overlap, from left to right.

        A short form that the text does not define counts where another name of its concept does.
        """
        ranked = sorted(
            (
                -(stretch.end - stretch.start),
                _is_unlikely(stretch),
                of.scope,
                stretch.start,
                stretch,
            )
            for stretch in stretches
            if (of := known.get(stretch.string)) is not None
        )
        taken = bytearray(len(document.text) if ranked else 0)
        for start, end in section_titles(document.text) if ranked else ():
            taken[start:end] = b"\1" * (end - start)
        marked: list[Stretch] = []
        alone: list[Stretch] = []
        for *_, stretch in ranked:
            if not any(taken[stretch.start : stretch.end]) and self._is_name(
                stretch, document, known, batch
            ):
                taken[stretch.start : stretch.end] = b"\1" * (stretch.end - stretch.start)
                (alone if self._is_undefined(stretch, known, batch) else marked).append(stretch)
        if alone:
            said = {concept for stretch in marked for concept in _concepts(known, stretch.string)}
            marked += [
                stretch
                for stretch in alone
                if not said.isdisjoint(_concepts(known, stretch.string))
            ]
        return sorted(marked)

    def _is_name(
        self,
        stretch: Stretch,
        document: Document,
        known: Mapping[str, _Known | None],
        batch: BatchHits,
    ) -> bool:
        check_time()
        of = known[stretch.string]
        assert of is not None
        forbidden = batch.names.forbidden_for(stretch.text) | batch.names.forbidden_for(
            stretch.string
        )
        if forbidden.issuperset(of.concepts):
            return False
        if of.sieve == _COMPOSITE:
            return True
        if all(map(_is_for_lists, self._names_of(stretch.string, of, batch))):
            return False
        before = document.text[max(stretch.start - 5, 0) : stretch.start].lower()
        if before.endswith(_PREFIXES) and not before[:-4].isalnum():
            return False
        if self._is_ordinary(stretch, of, batch) or (
            stretch.half and not self._is_taught(stretch, of, batch)
        ):
            return False
        if stretch.breaks and not self._has_breaks(
            stretch.string, self._texts(stretch.string, of, batch)
        ):
            return False
        if batch.sieves[of.sieve].steps == UNORDERED and is_out_of_order(stretch.text):
            return False
        if (
            len(stretch.text) > SHORT + 1
            or stretch.string != stretch.text
            or self._is_taught(stretch, of, batch)
        ):
            return True
        if len(stretch.text) < 2 or not any(map(str.isalpha, stretch.text)):
            return False
        around = beside(document.text, stretch.start, stretch.end)
        return not looks_alike(stretch.text, self._texts(stretch.string, of, batch), around)

    def _is_undefined(
        self, stretch: Stretch, known: Mapping[str, _Known | None], batch: BatchHits
    ) -> bool:
        of = known[stretch.string]
        short = stretch.string == stretch.text and is_short_form(stretch.text)
        return short and of is not None and not self._is_taught(stretch, of, batch)

    def _is_ordinary(self, stretch: Stretch, of: _Known, batch: BatchHits) -> bool:
        """Tell whether a word means something else in most texts, and is no label."""
        if (
            stretch.string != stretch.text
            or not is_ordinary(stretch.text)
            or self._is_taught(stretch, of, batch)
        ):
            return False
        form = normalise(stretch.text, STRONG)
        return not any(
            name.scope == "label" and normalise(name.text, STRONG) == form
            for name in self._names_of(stretch.string, of, batch)
        )

    def _is_taught(self, stretch: Stretch, of: _Known, batch: BatchHits) -> bool:
        """Tell whether a name was added, or learned from a training mention: it always counts."""
        n = batch.names.n_base
        return batch.names.n_rows > n and any(
            row >= n for row in self._rows(stretch.string, of, batch)
        )

    def _has_breaks(self, string: str, names: Sequence[str]) -> bool:
        """Tell whether a name has its words in the order of a string, and its commas there."""
        words = _said(self._reader.read(string))
        return any(words == _said(read) for read in map(self._reader.read, names))

    def _texts(self, string: str, of: _Known, batch: BatchHits) -> list[str]:
        return [name.text for name in self._names_of(string, of, batch)]

    def _names_of(self, string: str, of: _Known, batch: BatchHits) -> list[Name]:
        """Return the names that the sieve found for a string."""
        if of.names is None:
            of.names = [batch.names.name(row) for row in self._rows(string, of, batch)]
        return of.names

    def _rows(self, string: str, of: _Known, batch: BatchHits) -> list[int]:
        if of.rows is None:
            form = next(normalise_all([string], batch.sieves[of.sieve].steps))
            of.rows = batch.names.find(of.sieve, [form])[0].tolist()
        return of.rows


class _Known:
    """What the sieves know of a string: concepts, the scope of the best name, and the sieve."""

    __slots__ = ("concepts", "names", "rows", "scope", "sieve")

    def __init__(self, concepts: tuple[int, ...], scope: int, sieve: int) -> None:
        self.concepts, self.scope, self.sieve = concepts, scope, sieve
        self.rows: list[int] | None = None
        self.names: list[Name] | None = None


def _is_for_lists(name: Name) -> bool:
    """Tell whether a name stands for something else than its concept, which a list lets pass."""
    return name.scope == "related" and name.source == EVERYDAY


def _stretch(
    text: str, words: Words, first: int, last: int, abbreviations: Mapping[str, str]
) -> Stretch:
    check_time()
    start, end = with_brackets(text, words.starts[first], words.ends[last])
    written = text[start:end]
    string = expand(written, abbreviations) if abbreviations else written
    return Stretch(start, end, written, string, BREAK in words.breaks[first + 1 : last + 1])


def open_text_names(folder: Path, *, helped: bool) -> TextNames | None:
    """Open what finds names in texts in the folder of an index; None without."""
    phrases = folder / PHRASES
    return TextNames(PhraseFilter.load(phrases), helped=helped) if phrases.is_dir() else None


def _marks(document: Document, marked: Sequence[Stretch], readings: Mapping[str, str]) -> Marks:
    mentions = (
        Mention(stretch.text, stretch.start, stretch.end, document_id=document.id)
        for stretch in marked
    )
    long_forms = [stretch.string for stretch in marked if stretch.string != stretch.text]
    used = (short for short, text in readings.items() if any(text in form for form in long_forms))
    return Marks(tuple(mentions), {short: readings[short] for short in used})


def _as_read(stretches: Iterable[Stretch], readings: Mapping[str, str]) -> Iterator[Stretch]:
    """Leave out abbreviations of several readings for which the text has chosen one."""
    for stretch in stretches:
        if not (
            stretch.string == stretch.text
            and stretch.text in readings
            and has_several(stretch.text)
        ):
            yield stretch


def _is_unlikely(stretch: Stretch) -> bool:
    """Tell whether a short form is left as it is, or something longer is not."""
    return (stretch.string == stretch.text) == is_short_form(stretch.text)


def _diabetes(text: str) -> Iterator[Stretch]:
    """Yield the types of diabetes in a text, by their names in full."""
    for start, end, name in diabetes_phrases(text):
        yield Stretch(start, end, text[start:end], name, False)


def _turns(text: str, words: Words) -> Iterator[bool]:
    """Tell which words begin with a capital behind one that does not, as a new item of a list."""
    small = False
    for start in words.starts:
        yield small and text[start].isupper() and text[start + 1 : start + 2].islower()
        small = text[start].islower()


def _said(words: Words) -> list[tuple[str, int]]:
    """Return words with what stands before each, but for an "of" at the end."""
    said = list(zip(words.forms, words.breaks, strict=True))
    while said and not said[-1][0]:
        said.pop()
    return said


def _composites(
    text: str,
    stretches: Sequence[Stretch],
    abbreviations: Mapping[str, str],
    known: Mapping[str, _Known | None],
) -> Iterator[Stretch]:
    """Yield stretches that may be composite mentions, as "breast and ovarian cancer"."""
    for stretch in stretches:
        if known[stretch.string] is not None and " " in stretch.text:
            for start in composites_ending(text, stretch.start):
                written = text[start : stretch.end]
                string = expand(written, abbreviations) if abbreviations else written
                yield Stretch(start, stretch.end, written, string, False)


def _concepts(known: Mapping[str, _Known | None], string: str) -> tuple[int, ...]:
    of = known[string]
    return () if of is None else of.concepts
