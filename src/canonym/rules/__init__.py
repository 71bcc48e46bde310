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
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from importlib import resources
from pathlib import Path
from typing import NamedTuple, TypeVar

from canonym.errors import InvalidInput, ReadError

COLUMNS = (
    *("id", "kind", "form", "means", "where", "beside", "unless", "share", "n"),
    *("example", "counter", "source"),
)
"""The columns of a table of rules, of which `REQUIRED` must be filled in every row."""

REQUIRED = ("id", "kind", "form", "example")
OFF = "off"
"""The kind of a row that switches off the rule whose id is its form."""

_Table = TypeVar("_Table")


class Rule(NamedTuple):
    """A row of the book.

    `form` is what is written, `means` what that says. `where` limits it to places, `beside` are the
    beginnings of words of which one stands in the same text, `unless` those that forbid it. `share`
    is how often the form was meant so among `n` places of real notes, which `source` names.
    """

    id: str
    kind: str
    form: str
    means: str = ""
    where: str = ""
    beside: tuple[str, ...] = ()
    unless: str = ""
    share: float | None = None
    n: int = 0
    example: str = ""
    counter: str = ""
    source: str = ""


class Kind(NamedTuple):
    """How rows of a kind are read: the expression of a form, and the words that it may mean.

    It may mean any text where there are no such words.
    """

    expression: Callable[[str], str]
    means: frozenset[str] = frozenset()
    ignores_case: bool = True


def _word(form: str) -> str:
    return rf"(?<![^\W_]){re.escape(form)}(?![^\W_])"


def _symbol(form: str) -> str:
    """Return the expression of a short form, which no sign makes another of: *A-V*, *CP+*."""
    return rf"(?<![\w/+&.-]){re.escape(form)}(?![\w/+&-])"


def phrase_expression(form: str) -> str:
    """Return the expression of a phrase with choices in round brackets; 0 is any digit.

    >>> phrase_expression("no (known |)history of")
    'no\\\\s+(?:known\\\\s+|)history\\\\s+of'
    """
    written = form.strip().replace(".", r"\.").replace("(", "(?:").replace("0", r"\d")
    return re.sub(" +", r"\\s+", written)


def _phrase(form: str) -> str:
    return rf"(?<!\w)(?:{phrase_expression(form)})(?!\w)"


FLAGS = ("negated", "historical", "hypothetical", "family", "uncertain")
"""What a cue may say of a mention, in the order in which a mention has it."""

KINDS: Mapping[str, Kind] = {
    "cue": Kind(_phrase, frozenset(FLAGS)),
    "turn": Kind(_phrase, frozenset(FLAGS)),
    "no cue": Kind(_phrase),
    "reading": Kind(_symbol, ignores_case=False),
    "one of several": Kind(_symbol, ignores_case=False),
    "shorthand": Kind(_symbol),
    "ordinary word": Kind(_word),
}
"""Every kind of rule that `canonym.mentions` asks for."""


class Book:
    """The rules of a language, with those of an institution and without those switched off."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        rows = list(rules)
        off = {rule.form for rule in rows if rule.kind == OFF}
        self.off = frozenset(off)
        self._of_kind: dict[str, list[Rule]] = {}
        for rule in rows:
            if rule.id not in off and rule.kind != OFF:
                self._of_kind.setdefault(rule.kind, []).append(rule)
        self._tables: dict[object, object] = {}

    def of_kind(self, kind: str) -> Sequence[Rule]:
        """Return the rules of a kind, in the order of the book."""
        return self._of_kind.get(kind, ())

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of which the book has rules."""
        return [*self._of_kind]

    @property
    def rules(self) -> Iterator[Rule]:
        """Every rule that counts."""
        return (rule for rules in self._of_kind.values() for rule in rules)

    def table(self, make: Callable[[Book], _Table]) -> _Table:
        """Return what a function makes of the book, made once."""
        if make not in self._tables:
            self._tables[make] = make(self)
        return self._tables[make]  # type: ignore[return-value]

    def with_rules(self, rules: Iterable[Rule]) -> Book:
        """Return the book with further rules, which go before its own."""
        return Book((*rules, *self.rules))


# --- the book that counts -------------------------------------------------------------------------


@functools.cache
def shipped(language: str = "en") -> Book:
    """Return the book of a language that comes with canonym."""
    folder = resources.files("canonym.rules") / language
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".tsv")), key=str)
    return Book(
        rule for file in files for rule in _parsed(file.read_text("utf-8"), Path(str(file)))
    )


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


def of_book(make: Callable[[Book], _Table]) -> Callable[[], _Table]:
    """Turn a function of a book into one that returns its result for the book that counts."""

    @functools.wraps(make)
    def table() -> _Table:
        return current().table(make)

    return table  # type: ignore[return-value]


# --- rules of an institution ----------------------------------------------------------------------


def read_rules(path: Path) -> list[Rule]:
    """Read a table of an institution, and refuse rows that contradict themselves.

    Raises
    ------
    ReadError
        If a row lacks a column, has an unknown kind, an example in which its form does not stand, a
        counter-example in which it does, or a pattern that may take for ever.
    """
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(path, f"a table of rules is UTF-8; {error}") from error
    rules = list(_parsed(text, path))
    seen: set[str] = set()
    known = {rule.id for rule in shipped().rules}
    for line, rule in enumerate(rules, start=2):
        problem = _problem(rule, known)
        if rule.id in seen:
            problem = f"the id {rule.id!r} stands twice"
        if problem:
            raise ReadError(path, problem, line=line)
        seen.add(rule.id)
    return rules


def _problem(rule: Rule, known: Iterable[str]) -> str:
    """Return what is wrong with a row, "" where nothing is."""
    if rule.kind == OFF:
        return "" if rule.form in known else f"there is no rule {rule.form!r} to switch off"
    if rule.kind not in KINDS:
        return f"the kind is {rule.kind!r}; expected one of {', '.join((*KINDS, OFF))}"
    return contradiction(rule)


def contradiction(rule: Rule) -> str:
    """Return how a row contradicts itself, "" where it does not."""
    kind = KINDS[rule.kind]
    if kind.means and (unknown := set(rule.means.split()) - kind.means):
        expected = ", ".join(sorted(kind.means))
        return f"the rule {rule.id!r} means {', '.join(sorted(unknown))}; expected {expected}"
    expression = kind.expression(rule.form)
    pattern = re.compile(expression, re.IGNORECASE if kind.ignores_case else 0)
    if pattern.search(rule.example) is None:
        return (
            f"the example of {rule.id!r}, {rule.example!r}, does not have its form, {rule.form!r}"
        )
    if rule.counter and pattern.search(rule.counter) is not None:
        return f"the counter-example of {rule.id!r}, {rule.counter!r}, has its form, {rule.form!r}"
    return ""


def _parsed(text: str, path: Path) -> Iterator[Rule]:
    rows = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(rows, [])
    if unknown := set(header) - set(COLUMNS):
        raise ReadError(path, f"unknown columns {', '.join(sorted(unknown))}", line=1)
    if missing := [column for column in REQUIRED if column not in header]:
        raise ReadError(path, f"the column {missing[0]!r} is missing", line=1)
    for line, cells in enumerate(rows, start=2):
        if not any(cells):
            continue
        if len(cells) != len(header):
            problem = f"{len(cells)} columns; expected {len(header)}"
            raise ReadError(path, problem, line=line)
        values = dict(zip(header, map(str.strip, cells), strict=True))
        yield _rule(values, path, line)


def _rule(values: dict[str, str], path: Path, line: int) -> Rule:
    for column in REQUIRED:
        if not values[column] and not (values["kind"] == OFF and column == "example"):
            raise ReadError(path, f"the column {column!r} is empty", line=line)
    share, n = values.get("share", ""), values.get("n", "")
    try:
        numbers = {"share": float(share) if share else None, "n": int(n) if n else 0}
    except ValueError:
        problem = f"share is {share!r} and n is {n!r}; expected numbers"
        raise ReadError(path, problem, line=line) from None
    texts = {key: value for key, value in values.items() if key not in ("share", "n", "beside")}
    beside = tuple(values.get("beside", "").split())
    return Rule(
        **{**texts, **numbers, "beside": beside, "source": values.get("source") or path.name}
    )  # type: ignore[arg-type]
