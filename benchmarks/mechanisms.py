"""The mechanisms that read mentions and texts, and how to switch each of them off.

A mechanism is a function, a method, a pattern or a number of the package. Its id is the place where
it stands: ``mentions.terse.in_full`` is the function of that name in ``canonym.mentions.terse``.
Switched off, it gives what stands beside its id in `_TABLE`, and all modules that have it get that.
Nothing in the package knows of this.

Normal forms (`canonym.text.STEPS`) are made with an index, and are no part of the table; what they
bring is counted by the sieves that use them.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np

import canonym
from canonym.linking.names import Names
from canonym.mentions import drug_lines, spelling
from canonym.mentions.contrasts import NOTHING
from canonym.mentions.status import Stated, Status
from canonym.regex import _Regex
from canonym.rules import shipped

_TABLE = """
text.markup.named_characters        same
text.markup.untagged                same
text.markup.unquoted                same
text.markup.well_read               same
text.codes._beside                  list
text.short_forms.as_meant           same
text.short_forms.own_short_form     text
text.short_forms.spelt_by           none
text.short_forms.is_short_form      false
text.qualifiers.qualified           none
text.qualifiers.without_details     tuple
text.qualifiers.without_lead_in     same
text.qualifiers.without_brackets    same
text.qualifiers.bare_name           none
text.qualifiers.is_rest             false
text.qualifiers.is_unspecified      false
text.qualifiers.is_finding          false
text.qualifiers._nec                none
text.qualifiers._nos                none
text.qualifiers._END                pattern   *unspecified* at the end
text.qualifiers._FRONT              pattern   *other or unspecified* in front
text.qualifiers._MEASURED           pattern   how long, how often, how much, since when
text.qualifiers._ELSEWHERE          pattern   *in diseases classified elsewhere*
text.qualifiers._NOT_ELSEWHERE      pattern   *not elsewhere classified*
text.qualifiers._NO_MENTION         pattern   *without mention of* something, taken off
text.qualifiers._DETAIL             pattern   how bad and where, in front
text.qualifiers._DETAIL_BEHIND      pattern   how bad, where and when, behind
mentions.abbreviations.find_abbreviations       dict
mentions.abbreviations.without_own_short_forms  same_and_text
mentions.abbreviations.stands_for_itself        false
mentions.abbreviations._without_gloss           same
mentions.abbreviations._join                    sum
mentions.additions.names_another         false
mentions.additions._says_more            false
mentions.additions._is_ill               false
mentions.additions._is_malignant         false
mentions.additions._is_of_disease        false
mentions.additions.label_contrasts       yields
mentions.additions.behavior_contrasts    yields
mentions.aliases.find_aliases            dict
mentions.aliases.is_code_for             false
mentions.binomials.genus_steps           tuple
mentions.binomials.organisms_in          tuple
mentions.binomials.organism_of           none
mentions.binomials._clipped              list
mentions.binomials._written_out          third
mentions.binomials.Binomials.genera      list
mentions.clinical.usual_reading          text
mentions.clinical.text_readings          dict
mentions.composites.split_composite      alone
mentions.composites._split_numbers       none
mentions.composites._split_hanging       none
mentions.composites._split_object        none
mentions.composites._split_subject       none
mentions.composites._split_shared_start  none
mentions.composites._share_site          others_and_last
mentions.composites._shared_start        text
mentions.composites._says_how            false
mentions.composites._SPREAD              pattern   a cancer metastatic to sites is several concepts
mentions.composites._hide                second
mentions.composites.hide_one_things      same
mentions.composites.is_quality           false
mentions.composites.composites_ending    yields
mentions.contrasts.against               nothing
mentions.marks.marks                     tuple
mentions.contrasts.differs_in_meaning    false
mentions.contrasts.apart_by              none
mentions.contrasts.affix_contrast        none
mentions.contrasts._ends_small           false
mentions.contrasts._is_plural_of_symbol  false
mentions.contrasts._glued                same
mentions.marks.with_arrows_spelt         same
mentions.marks.opposed_signs             false
mentions.compare.moved                   yields
mentions.contrasts._lettered             same
mentions.contrasts._of_words             list
mentions.contrasts._of_negation          yields
mentions.contrasts._of_specimens         yields
mentions.contrasts._of_head              yields
mentions.contrasts._is_inflected         false
mentions.contrasts._group_contrast       none
mentions.contrasts._symbol_contrast      none
mentions.cues.find_cues                  list
mentions.cues._is_glued                  false
mentions.dimensions.dimension_contrasts  yields
mentions.doubts.bounded                  second
mentions.doubts.CONTRADICTED             1.0
mentions.doubts.UNUSUAL                  1.0
mentions.doubts.USUAL                    1.0
mentions.doubts.BESIDE                   1.0
mentions.doubts.ANOTHER                  1.0
mentions.doubts.FAR_SLIP                 1.0
mentions.doubts.LONE_SLIP                1.0
mentions.doubts.SAME_WORDS               0.0
mentions.doubts._is_rest                 false
mentions.doubts._loses_item              false
mentions.doubts._is_another              false
mentions.doubts._leaves_short_form       false
mentions.doubts._is_likely               true
mentions.doubts._has_same_words          false
mentions.drug_lines.drug_line            none
mentions.drug_lines.without_salt         same
mentions.drug_lines.is_same_line         false
mentions.drug_lines._with_forms          tuple
mentions.drug_lines._dosed_pieces        as_list
mentions.drug_lines._names_in            bare
mentions.drug_lines._shows_dose          false
mentions.drug_lines._BRAND               pattern   a brand in square brackets
mentions.drug_lines._MAKER               pattern   the maker of a drug
mentions.drug_lines._DICTIONARY          pattern   a dictionary code behind a drug
mentions.drug_lines._SCHEDULED           pattern   how often it is taken, at the end
mentions.english.is_english              false
mentions.false_names.looks_alike         false
mentions.false_names.is_out_of_order     false
mentions.flags.consistent                as_tuple
mentions.flags._Sentence._signs          yields
mentions.flags._Sentence._reaches_on     true
mentions.flags._Sentence._reaches_back   true
mentions.glued.readings                  tuple
mentions.glued.without_gaps              same
mentions.inflection.are_inflected        false
mentions.letter_case.case_contrasts      yields
mentions.letter_case.last_capital_contrasts  yields
mentions.letter_case.sentence_case       same
mentions.letter_case._is_acronym         false
mentions.letter_case._is_short_word      false
mentions.letter_case._is_word            false
mentions.letter_case._is_other_symbol    false
mentions.lists.items_of                  none
mentions.lists._numbered                 no_pieces
mentions.lists._bulleted                 no_pieces
mentions.lists._lines                    no_pieces
mentions.lists._semicolons               no_pieces
mentions.lists.without_number            same
mentions.lists.listing_of                none
mentions.lists.holds_all                 false
mentions.lists.is_code                   false
mentions.lists.Listing._with_ends        yields
mentions.lists.Listing._with_starts      yields
mentions.lists.Listing._may_be_code      false
mentions.lists.Listing.is_inverted       false
mentions.lists.Listing.is_pair           false
mentions.lists._HYPHENED                 pattern   two drugs with a hyphen between them
mentions.lists._LIKE_ID                  pattern   codes in a row
mentions.measurements.finding_name       text
mentions.measurements.measurement_name   text
mentions.measurements._INFLAMMATION      pattern   *inflammation of the skin* is a dermatitis
mentions.near_words.NearWords.one_edit_from  list
mentions.near_words.NearWords.sounding_like  list
mentions.ordinary.is_ordinary            false
mentions.ordinary.qualifying_forms       tuple
mentions.phrasings.phrasings             tuple
mentions.prepare._greek                  none
mentions.prepare._other_forms            tuple
mentions.prepare._SYMBOL                 pattern   *TLR-9* may be written TLR9
mentions.prepare.Preparation._broader    tuple
mentions.prepare.Preparation._of_line    two_tuples
mentions.readings.readings_of            tuple
mentions.readings.clinical_readings      dict
mentions.readings.has_usual              true
mentions.readings.has_several            false
mentions.readings._choose                text
mentions.shorthand.write_out             same
mentions.shorthand.hide_shorthand        same
mentions.shorthand.diabetes_name         text
mentions.shorthand.diabetes_phrases      yields
mentions.shorthand._DOTTED               pattern   *U.T.I.* is UTI
mentions.shorthand._HISTORY              pattern   *Hx-gout* is a history
mentions.slips.is_likely_slip            true
mentions.slips.sounds_like               false
mentions.slips._is_meant                 false
mentions.slips._may_be_contrary          false
mentions.slips._is_other_kind            false
mentions.slips._is_other_chemical        false
mentions.slips._is_likely_edit           true
mentions.slips._have_other_vowels        false
mentions.species.species_of              none
mentions.species.species_in              list
mentions.specimens.specimen_of           text
mentions.spelling.Speller.correct        same
mentions.spelling.Speller.guesses        tuple
mentions.spelling.Speller.take_apart     apart
mentions.spelling.Speller.without_gaps   same
mentions.spelling.Speller.completions    tuple
mentions.spelling.Speller.knows_all      false
mentions.spelling.Speller._sounding_alike  tuple
mentions.spelling.Speller._rarely        tuple
mentions.spelling.Speller._of_same_sense  third_iter
mentions.spelling.ends_in_sign           false
mentions.spelling._is_code               false
mentions.status.read_status              status
mentions.status.split_statuses           alone
mentions.status.status_beside_code       tuple
mentions.status.wordings                 stated
mentions.status.without_plus             text
mentions.status.positive                 positive
mentions.status.said_by                  tuple
mentions.status.spoken_of                alone
mentions.status._ends_inside             false
mentions.status._counts_before           false
mentions.status._counts_after            false
mentions.status._unbracketed             same
mentions.status._NOT_FREE                pattern   who is not pain free has pain
mentions.status._SCREENED                pattern   *screening for* something
mentions.status._NITRIC_OXIDE            pattern   *NO synthase* is no negation
mentions.terse.in_full                   yields
mentions.terse.unclipped                 yields
mentions.terse._NUMBERED                 pattern   *CKD 3* is stage 3, or type 3
mentions.word_order.order_contrasts      yields
mentions.word_order._of_relation         yields
mentions.word_order._of_couples          yields
mentions.word_order._are_moved           false
linking.codes.find_coded                 dict
linking.codes._with_labels               dict
linking.codes._is_below                  false
linking.decision.divide                  same
linking.decision.SPLIT_MARGIN            0.0
linking.decision._only_reads_alike       false
linking.decision._are_mostly_names       false
linking.hits.meant_guess                none
linking.decision._is_list                true
linking.decision._are_one_concept        false
linking.decision._stated                 none
linking.decision._stated_of_concept      none
linking.decision._organism               none
linking.decision._other_organism         second
linking.decision._may_replace            true
linking.decision._is_line                false
linking.decision._has_short_form         false
linking.decision._known_apart            none
linking.decision._keeps_order            true
linking.decision._rewritten              second
linking.decision._is_case                true
linking.decision._known_readings         dict
linking.decision._stands                 false
linking.decision._before                 same
linking.hits.with_kin                    same
linking.hits.with_side                    same
linking.hits.by_letters                  none
linking.homonyms.find_homonyms           as_list_of
linking.homonyms.beside_readings         same
linking.homonyms._found_by_short_form    same
linking.homonyms.Homonyms.choose         third_list
linking.homonyms._Page._kinships         zeros
linking.homonyms._Page._similarities     two_zeros
linking.homonyms._Page._shared_types     third_zeros
linking.judge.LETTERED                   0.0
linking.judge._hides_rivals              false
linking.judge._as_written                written
linking.search._are_odd                  false
linking.search._barest                   same
linking.search._are_singular             true
linking.search.CONTRADICTED              0.0
linking.search.BatchHits.one_of_several  tuple
linking.search.BatchHits.weigh           third_list
linking.spans._PREFIX                    pattern   what follows *non-* is denied
linking.spans._composites                yields
linking.spans._diabetes                  yields
linking.spans._turns                     no_turns
linking.spans._is_for_lists              false
linking.spans._is_unlikely               false
linking.spans._as_read                   same
linking.spans.TextNames._joined          no_joints
linking.spans.TextNames._is_ordinary     false
linking.spans.TextNames._is_undefined    false
linking.spans.TextNames._has_breaks      true
ranking.letters.gain                     zero
sieve.verbatim                           sieve
sieve.normalised                         sieve
sieve.reordered                          sieve
sieve.bare                               sieve
"""

_PATTERN = "(?!)"


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _nothing_of(make: Callable[[], Any]) -> Callable[..., Any]:
    return lambda *_, **__: make()


OFF: Mapping[str, Callable[..., Any]] = {
    "same": lambda text, *_, **__: text,
    "second": lambda _, text, *__, **___: text,
    "third": lambda _, __, names, *___: names,
    "third_list": lambda _, __, hits, *___, **____: list(hits),
    "third_iter": lambda _, __, near: iter(near),
    "third_zeros": lambda _, __, tied: [0.0] * len(tied),
    "zeros": lambda _, tied: [0.0] * len(tied),
    "two_zeros": lambda _, __, ___, tied: ([0.0] * len(tied), [0.0] * len(tied)),
    "alone": lambda text: (text,),
    "as_list": lambda text: [text],
    "as_list_of": lambda drafts, *_: list(drafts),
    "as_tuple": lambda flags: tuple(dict.fromkeys(flags)),
    "others_and_last": lambda others, last: [*others, last],
    "same_and_text": lambda text: (text, ""),
    "sum": lambda left, right: left + right,
    "bare": lambda piece: [drug_lines._bare(piece)],
    "status": lambda text, *_: Status(text),
    "stated": lambda text, status: (Stated(text, status.flags),),
    "positive": lambda text, _: (Stated(text, ("positive",)),),
    "written": lambda link: link.mention.text,
    "apart": _nothing_of(spelling.Apart),
    "yields": _nothing_of(lambda: iter(())),
    "no_turns": lambda _, words: iter([False] * len(words.starts)),
    "no_joints": lambda _, numbers, *__: np.zeros(len(numbers) + 1, dtype=np.bool_),
    "no_pieces": _always(((), False)),
    "nothing": _always(NOTHING),
    "text": _always(""),
    "none": _always(None),
    "false": _always(False),
    "true": _always(True),
    "zero": _always(0.0),
    "tuple": _always(()),
    "two_tuples": _always(((), ())),
    "list": _nothing_of(list),
    "dict": _nothing_of(dict),
}
"""What a function gives that is switched off, by the word in `_TABLE`."""

# What a method is given comes behind the object itself.
_OF_METHODS = {"same": "second"}
_FLAG_OF = {
    "_negated": "negated",
    "_past": "historical",
    "_hypothetical": "hypothetical",
    "_family": "family",
    "_uncertain": "uncertain",
}
# What tells that a number, a table or what changes its arguments may count.
_WATCHED = {
    "mentions.doubts": "mentions.doubts.bounded",
    "linking.decision.SPLIT_MARGIN": "linking.decision._are_one_concept",
    "linking.hits.by_letters": "ranking.letters.gain",
    "linking.judge.LETTERED": "ranking.letters.gain",
    "linking.search.CONTRADICTED": "mentions.contrasts.against",
    "linking.search._are_singular": "linking.search._are_odd",
    "mentions.clinical.text_readings": "mentions.readings.readings_of",
    "mentions.ordinary.qualifying_forms": "linking.spans.TextNames._joined",
}


# Tables that are made once, of what may be switched off.
class Mechanism(NamedTuple):
    """A mechanism: its id, what it gives where it is off, and what it does in words.

    `watched` is the mechanism that tells for which strings it may count: its own id, mostly.
    """

    id: str
    off: str
    says: str
    watched: str
    n_lines: int

    @property
    def code(self) -> CodeType | None:
        """The code of a function, None for anything else."""
        if self.is_constant or self.off in ("pattern", "sieve"):
            return None
        code: CodeType = _function(_value(self.id)).__code__
        return code

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return self.off[0].isdigit()


@functools.cache
def modules() -> tuple[ModuleType, ...]:
    """Import and return all modules that may hold a mechanism."""
    parts = ("text", "mentions", "linking", "ranking", "terminology")
    packages = [importlib.import_module(f"canonym.{part}") for part in parts]
    inner = [
        importlib.import_module(f"{package.__name__}.{info.name}")
        for package in packages
        for info in pkgutil.iter_modules(package.__path__)
    ]
    return (canonym, *packages, *inner)


@functools.cache
def mechanisms() -> tuple[Mechanism, ...]:
    """Return all mechanisms, in the order of the table."""
    return tuple(_read(line) for line in _TABLE.strip().splitlines())


def _read(line: str) -> Mechanism:
    id, off, *words = line.split(maxsplit=2)
    says, n_lines = words[0] if words else "", 0
    if off not in ("pattern", "sieve") and not off[0].isdigit():
        function = _function(_value(id))
        says = says or (inspect.getdoc(function) or "").split("\n")[0].rstrip(".")
        n_lines = len(inspect.getsource(function).splitlines())
    elif off == "sieve":
        says = f"what the sieve `{id.partition('.')[2]}` knows"
    else:
        n_lines = 1
    watched = _WATCHED.get(id, id)
    if id.startswith("mentions.doubts.") and off[0].isdigit():
        watched = _WATCHED["mentions.doubts"]
    return Mechanism(id, off, says, watched, n_lines)


def _function(value: Any) -> Any:
    if isinstance(value, property):
        value = value.fget
    return inspect.unwrap(value)


def _owner(id: str) -> tuple[Any, str]:
    """Return the module or class of a mechanism, and its name there."""
    *path, name = id.split(".")
    if path[-1].lstrip("_")[0].isupper():
        return getattr(importlib.import_module(".".join(["canonym", *path[:-1]])), path[-1]), name
    return importlib.import_module(".".join(["canonym", *path])), name


def _value(id: str) -> Any:
    owner, name = _owner(id)
    return inspect.getattr_static(owner, name)


# --- caches ---------------------------------------------------------------------------------------


@functools.cache
def _memories() -> tuple[Any, ...]:
    """Return what remembers results of functions that may depend on a mechanism."""
    leaves = ("canonym.text.words", "canonym.text", "canonym.text.transliterate")
    values = (
        value
        for module in modules()
        for value in vars(module).values()
        if hasattr(value, "cache_clear") and value.__module__ not in leaves
    )
    memories = {id(value): value for value in values if value.cache_parameters()["maxsize"]}
    return tuple(memories.values())


def forget() -> None:
    """Let functions know nothing of what they were asked."""
    for memory in _memories():
        memory.cache_clear()
    shipped().tables.clear()


# --- switching ------------------------------------------------------------------------------------


class _Never:
    """A pattern that matches nothing."""

    pattern = _PATTERN

    def search(self, *_: Any) -> None:
        return None

    match = fullmatch = search

    def finditer(self, *_: Any) -> Iterator[Any]:
        return iter(())

    def findall(self, *_: Any) -> list[Any]:
        return []

    def sub(self, _: Any, text: str, *__: Any) -> str:
        return text

    def split(self, text: str, *_: Any, **__: Any) -> list[str]:
        return [text]


class _Watched:
    """A pattern that tells when it matches."""

    def __init__(self, pattern: _Regex, tell: Callable[[], None]) -> None:
        self.pattern, self._own, self._tell = pattern.pattern, pattern, tell

    def __getattr__(self, name: str) -> Any:
        method, off = getattr(self._own, name), getattr(_Never(), name)

        def watched(*args: Any, **options: Any) -> Any:
            result = method(*args, **options)
            if name == "finditer":
                result = list(result)
                if result:
                    self._tell()
                return iter(result)
            if result != off(*args, **options):
                self._tell()
            return result

        return watched


_SIEVES = ("verbatim", "normalised", "reordered", "bare")


def replacement(mechanism: Mechanism) -> Any:
    """Return what stands in the place of a mechanism that is off."""
    if mechanism.is_constant:
        return float(mechanism.off)
    if mechanism.off == "pattern":
        return _Never()
    value = _value(mechanism.id)
    function = OFF[_off_of(mechanism)]
    return property(function) if isinstance(value, property) else function


def _off_of(mechanism: Mechanism) -> str:
    owner, _ = _owner(mechanism.id)
    return (
        _OF_METHODS.get(mechanism.off, mechanism.off) if inspect.isclass(owner) else mechanism.off
    )


def _watching(mechanism: Mechanism, tell: Callable[[Any], None]) -> Any:
    """Return a mechanism that tells when it gives something else than where it is off."""
    value = _value(mechanism.id)
    if mechanism.off == "pattern":
        return _Watched(value, lambda: tell(None))
    function = value.fget if isinstance(value, property) else value
    off, yields = OFF[_off_of(mechanism)], _yields(function)

    @functools.wraps(function)
    def watched(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        other = off(*args, **options)
        if yields:
            result, other = list(result), list(other)
        if not _equal(result, other):
            tell(result)
        return iter(result) if yields else result

    return property(watched) if isinstance(value, property) else watched


def _yields(function: Any) -> bool:
    return str(inspect.unwrap(function).__annotations__.get("return", "")).startswith("Iterator")


def _equal(result: Any, other: Any) -> bool:
    if isinstance(result, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(result, other))
    return bool(result == other)


def _with(value: Any, old: Any, new: Any) -> Any:
    """Return what a name of a module holds, with something else in the place of a function."""
    if value is old:
        return new
    if type(value) is tuple and any(_holds(item, old) for item in value):
        return tuple(_with(item, old, new) for item in value)
    return value


def _holds(value: Any, old: Any) -> bool:
    return value is old or (type(value) is tuple and any(item is old for item in value))


def _replace(id: str, new: Any, undo: list[Callable[[], None]]) -> None:
    """Put something in the place of a mechanism, in all modules that have it."""
    owner, name = _owner(id)
    old = inspect.getattr_static(owner, name)
    alone = inspect.isclass(owner) or isinstance(old, float)
    for holder in (owner,) if alone else modules():
        names = [name] if alone else list(vars(holder))
        for key in names:
            value = vars(holder)[key]
            held = new if alone else _with(value, old, new)
            if held is not value:
                setattr(holder, key, held)
                undo.append(functools.partial(setattr, holder, key, value))


def _replace_sieve(number: int | None, tell: Callable[[int], None], undo: list[Any]) -> None:
    """Let a sieve know nothing, or tell of all sieves what they know."""
    find = Names.find

    def other(self: Any, sieve: int, forms: Any) -> Any:
        rows = find(self, sieve, forms)
        if sieve == number:
            return [of_form[:0] for of_form in rows]
        if any(map(len, rows)):
            tell(sieve)
        return rows

    Names.find = other  # type: ignore[method-assign]
    undo.append(functools.partial(setattr, Names, "find", find))


@contextmanager
def switched_off(mechanism: Mechanism) -> Iterator[None]:
    """Leave a mechanism out."""
    undo: list[Callable[[], None]] = []
    if mechanism.off == "sieve":
        number = _SIEVES.index(mechanism.id.partition(".")[2])
        _replace_sieve(number, lambda _: None, undo)
    else:
        _replace(mechanism.id, replacement(mechanism), undo)
    forget()
    shipped().tables.clear()
    try:
        yield
    finally:
        for step in reversed(undo):
            step()
        forget()
        shipped().tables.clear()


@contextmanager
def watched(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell the id of each mechanism that gives something else than where it is off."""
    undo: list[Callable[[], None]] = []
    every = mechanisms()
    beside: dict[str, list[str]] = {}
    for mechanism in every:
        if mechanism.watched != mechanism.id:
            beside.setdefault(mechanism.watched, []).append(mechanism.id)

    def teller(mechanism: Mechanism) -> Callable[[Any], None]:
        ids = (mechanism.id, *beside.get(mechanism.id, ()))

        def told(result: Any) -> None:
            for id in ids:
                tell(id)
            if mechanism.id == "mentions.cues.find_cues":
                for cue in result:
                    for name, flag in _FLAG_OF.items():
                        if flag in (*cue.rule.flags, *cue.rule.ends):
                            tell(f"mentions.cues.{name}")

        return told

    makers = {f"mentions.cues.{name}" for name in _FLAG_OF}
    for mechanism in every:
        own = mechanism.watched == mechanism.id and mechanism.off != "sieve"
        if own and mechanism.id not in makers:
            _replace(mechanism.id, _watching(mechanism, teller(mechanism)), undo)
    _replace_sieve(None, lambda number: tell(f"sieve.{_SIEVES[number]}"), undo)
    forget()
    try:
        yield
    finally:
        for step in reversed(undo):
            step()
        forget()
