"""The rule book: what words, short forms, cues and phrases mean, as rows of data.

A rule is a row of a table in a folder of its language. It has an `id`, a `kind`, the `form` that it
is about and what that `means`, and an `example` of it beside a `counter`-example, which looks like
one and is none. `canonym.mentions` asks the book for the rows of a kind and makes of them what it
looks texts up in. Nothing else knows how a row is written.

An institution adds rows of its own in the same columns, kept beside its index. A row of the kind
``off`` switches a rule off. Which book counts is a matter of the linker that is at work: it says so
by `using`, and everything below asks `current`.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from canonym.errors import InvalidInput, ReadError

REQUIRED = ("id", "kind", "form", "example")
SET = "set"
"""The kind of a row that names words, for ``{name}`` in the forms of the rows below it."""

OFF = "off"
"""The kind of a row that switches off the rule whose id is its form."""

_Table = TypeVar("_Table")
_Given = ParamSpec("_Given")


class Rule(NamedTuple):
    """A row of the book.

    `form` is what is written, `means` what that says. `where` limits it to places, `beside` are the
    beginnings of words of which one stands in the same text, `unless` those that forbid it. `share`
    is how often the form was meant so, on average over the `n` collections of real notes that
    `source` names.
    """

    id: str
    kind: str
    form: str
    means: str = ""
    where: str = ""
    beside: Sequence[str] = ()
    unless: str = ""
    share: float | None = None
    n: int = 0
    example: str = ""
    counter: str = ""
    source: str = ""


COLUMNS = Rule._fields
"""The columns of a table of rules, of which `REQUIRED` must be filled in every row."""


def phrase_expression(form: str) -> str:
    """Return the expression of a phrase: choices in round brackets, 0 a digit, * up to six words.

    >>> phrase_expression("no (known |)history of")
    'no\\\\s+(?:known\\\\s+|)history\\\\s+of'
    """
    written = form.strip().replace(".", r"\.").replace("(", "(?:").replace("0", r"\d")
    written = written.replace(" *", r"(?:\s+[\w'&/%+-]+){0,6}")
    return re.sub(" +", r"\\s+", written)


FLAGS = ("negated", "historical", "hypothetical", "family", "uncertain")
"""What a cue may say of a mention, in the order in which a mention has it."""

_FREE = (
    "part of the body|organism|operation|reading|one of several|no usual reading|result|"
    "shorthand|in blood|measured|in urine|inflamed|specimen|ordinary word|qualifying word|"
    "species|opposite|species of a name|prefix|wording|drug form|salt|named by its salt|"
    "part of a composite|health|lasting|lead-in|tag|finding|altered|title of a section|relation|"
    "heading of its items|spread"
)
KINDS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("cue", "turn", "no cue"), frozenset(FLAGS)),
    "sign": frozenset((*FLAGS, "present")),
    **dict.fromkeys(_FREE.split("|"), frozenset()),
}
"""What rules of each kind may mean, any text where there is nothing."""

_REACHES = ("sentence", "clause", "next", "opening", "last", "predicate", "head")
PLACES: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("before", "after"), _REACHES),
    "lists": ("none", "before", "after", "before,after"),
}
"""Where a cue may stand and how far it reaches, as ``before:sentence lists:none``."""


class Book:
    """The rules of a language, with those of an institution and without those switched off.

    A link that crosses to another process takes along what is `opening` them there.
    """

    opening: tuple[Callable[..., Book], tuple[Any, ...]] | None = None

    def __reduce__(self) -> tuple[Callable[..., Book], tuple[Any, ...]]:
        return self.opening or (shipped, ())

    def __init__(self, rules: Iterable[Rule]) -> None:
        rows = list(rules)
        self.off = frozenset(rule.form for rule in rows if rule.kind == OFF)
        self._of_kind: dict[str, list[Rule]] = {}
        for rule in rows:
            if rule.id not in self.off and rule.kind != OFF:
                self._of_kind.setdefault(rule.kind, []).append(rule)
        self.tables = _Tables()
        self.tables.book = self

    def of_kind(self, kind: str) -> Sequence[Rule]:
        """Return the rules of a kind, in the order of the book."""
        return self._of_kind.get(kind, ())

    @property
    def rules(self) -> Iterator[Rule]:
        """Every rule that counts."""
        return (rule for rules in self._of_kind.values() for rule in rules)

    def with_rules(self, rules: Iterable[Rule]) -> Book:
        """Return the book with further rules, which go before its own."""
        return Book((*rules, *self.rules))


class _Tables(dict[Callable[[], Any], Any]):
    """What functions make while a book counts, each made once, by the function."""

    book: Book

    def __missing__(self, make: Callable[[], Any]) -> Any:
        with using(self.book):
            return self.setdefault(make, make())


# --- the book that counts -------------------------------------------------------------------------


@functools.cache
def shipped(language: str = "en") -> Book:
    """Return the book of a language that comes with canonym."""
    files = sorted((Path(__file__).parent / language).glob("*.tsv"))
    return Book(rule for file in files for rule in _parsed(file.read_text("utf-8"), file))


_current: ContextVar[Book | None] = ContextVar("book", default=None)


def current() -> Book:
    """Return the book of the linker that is at work, or the one that comes with canonym."""
    return _current.get() or shipped()


@contextlib.contextmanager
def using(book: Book) -> Iterator[None]:
    """Let a book count inside a ``with`` block, in this thread."""
    before = _current.set(book)
    try:
        yield
    finally:
        _current.reset(before)


def once_a_book(make: Callable[[], _Table]) -> Callable[[], _Table]:
    """Let a function without arguments be called once for each book, as `functools.cache` does."""

    @functools.wraps(make)
    def table() -> _Table:
        # Asked some twenty times a mention: a call of `current` would double what it takes.
        return (_current.get() or shipped()).tables[make]  # type: ignore[no-any-return]

    return table


def any_of(kind: str, places: Collection[str] = ("",)) -> str:
    """Return what rules of a kind may say in some places, as part of an expression."""
    rules = (rule for rule in current().of_kind(kind) if rule.where in places)
    return f"(?:{'|'.join(phrase_expression(rule.form) for rule in rules)})"


def remembered(maxsize: int) -> Callable[[Callable[_Given, _Table]], Callable[_Given, _Table]]:
    """Let a function remember its last results, for each book apart, as `functools.lru_cache`."""

    def decorate(function: Callable[_Given, _Table]) -> Callable[_Given, _Table]:
        make = functools.partial(functools.lru_cache(maxsize), function)

        @functools.wraps(function)
        def ask(*args: _Given.args, **options: _Given.kwargs) -> _Table:
            tables = (_current.get() or shipped()).tables
            return tables[make](*args, **options)  # type: ignore[no-any-return]

        return ask

    return decorate


# --- rules of an institution ----------------------------------------------------------------------


def read_rules(path: Path, acts: Callable[[Rule, str], bool]) -> list[Rule]:
    """Read a table of an institution, and refuse rows that contradict themselves.

    `acts` tells whether a rule has its effect on a text, see `canonym.mentions.effects.acts`.

    Raises
    ------
    ReadError
        If a row lacks a column, has an unknown kind or an id twice, no effect on its example or one
        on its counter-example.
    """
    try:
        rules = list(_parsed(path.read_text("utf-8-sig"), path))
    except UnicodeDecodeError as error:
        raise ReadError(path, f"a table of rules is UTF-8; {error}") from error
    ids = {rule.id for rule in shipped().rules if rule.kind in KINDS}  # others hold everywhere
    for line, rule in enumerate(rules, start=2):
        if problem := _problem(rule, ids):
            raise ReadError(path, problem, line=line)
        ids.add(rule.id)
    with using(shipped().with_rules(rules)):
        for line, rule in enumerate(rules, start=2):
            if problem := "" if rule.kind == OFF else contradiction(rule, acts):
                raise ReadError(path, problem, line=line)
    return rules


def contradiction(rule: Rule, acts: Callable[[Rule, str], bool]) -> str:
    """Return how a rule contradicts itself while a book with it counts, "" where it does not."""
    try:
        if not acts(rule, rule.example):
            return f"the rule {rule.id!r} has no effect on its example, {rule.example!r}"
        if rule.counter and acts(rule, rule.counter):
            return f"the rule {rule.id!r} acts on its counter-example, {rule.counter!r}"
    except InvalidInput as error:
        return str(error)
    return ""


def _problem(rule: Rule, ids: Collection[str]) -> str:
    """Return what is wrong with a row beside those that were read before, "" where nothing is."""
    if rule.kind == OFF:
        return "" if rule.form in ids else f"there is no rule {rule.form!r} to switch off"
    if rule.id in ids:
        return f"a rule with the id {rule.id!r} is there already"
    if rule.kind not in KINDS:
        return f"the kind is {rule.kind!r}; expected one of {', '.join((*KINDS, OFF))}"
    if KINDS[rule.kind] and not KINDS[rule.kind].issuperset(rule.means.split()):
        expected = ", ".join(sorted(KINDS[rule.kind]))
        return f"the rule {rule.id!r} means {rule.means!r}; expected {expected}"
    if rule.kind == "cue":
        places = [place.partition(":") for place in rule.where.split()]
        if not places or any(reach not in PLACES.get(side, ()) for side, _, reach in places):
            return f"the rule {rule.id!r} stands {rule.where!r}; expected as in 'before:sentence'"
    if rule.kind == "sign":  # it is written as it stands
        return ""
    if not any(map(str.isalnum, rule.form)):
        return f"the form of {rule.id!r} is {rule.form!r}; expected words"
    try:
        re.compile(phrase_expression(rule.form))
    except re.error as error:
        return f"the form of {rule.id!r} is {rule.form!r}, which cannot be read: {error}"
    return ""


def _parsed(text: str, path: Path) -> Iterator[Rule]:
    rows = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(rows, [])
    if unknown := set(header) - set(COLUMNS):
        raise ReadError(path, f"unknown columns {', '.join(sorted(unknown))}", line=1)
    if missing := [column for column in REQUIRED if column not in header]:
        raise ReadError(path, f"the column {missing[0]!r} is missing", line=1)
    words: dict[str, str] = {}  # by the name of their set
    for line, cells in enumerate(rows, start=2):
        if len(cells) != len(header) and any(cells):
            raise ReadError(path, f"{len(cells)} columns; expected {len(header)}", line=line)
        values: dict[str, Any] = {
            column: cell.strip() for column, cell in zip(header, cells, strict=False) if cell
        }
        if values.get("kind") == SET:
            words[values["form"]] = f"({values['means']})"
        elif values:
            yield _rule(values, words, path, line)


def _rule(values: dict[str, Any], words: Mapping[str, str], path: Path, line: int) -> Rule:
    for column in REQUIRED:
        if not values.get(column) and not (values.get("kind") == OFF and column == "example"):
            raise ReadError(path, f"the column {column!r} is empty", line=line)
    for column in {"form", "means"}.intersection(values):
        if "{" in (text := values[column]):
            values[column] = re.sub(r"\{(\w+)\}", lambda name: words.get(name[1], name[0]), text)
    for column, read in (("share", float), ("n", int), ("beside", str.split)):
        if column in values:
            try:
                values[column] = read(values[column])
            except ValueError:
                problem = f"the column {column!r} is {values[column]!r}; expected a number"
                raise ReadError(path, problem, line=line) from None
    return Rule(**{"source": path.name, **values})
