"""Options and mentions that a caller gives, and the links it receives, which turn into tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from operator import length_hint
from typing import Any, TypedDict, TypeVar, overload

from canonym.errors import InvalidInput, check_types
from canonym.io.processes import check_workers
from canonym.linking.names import MOST, SPECIES
from canonym.mentions.sentences import sentence_of
from canonym.rules import Book, shipped
from canonym.text.memo import LONGEST_STRING
from canonym.types import NO_ANSWER, SECOND_LOOK, Document, Link, Mention
from canonym.types.links import links_html

_SHOWN = 20  # rows in a notebook
_MOST_KNOWN = 1_500  # mentions, some 4 kB each; the older half makes room

BATCH = 1024
"""Mentions handled at once, unless a call says otherwise."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


class LinkOptions(TypedDict, total=False):
    """How mentions are linked in one call. Every key is optional.

    Attributes
    ----------
    k : int
        Candidates per mention, at least 1; 5 by default.
    types, sources, languages : sequence of str
        Only concepts of these types and sources, and names of these languages. Filters hold before
        ranking.
    ids : iterable of str
        Only these concepts.
    prefer : sequence of str
        Of concepts that share a name, one that meets the first preference goes first, then one
        that meets the second. Each is a type, a source, a prefix of ids with its colon
        (``"MESH:"``) or a species (``"human"``). A near concept that meets one also goes before
        one with a nearer name, if the label of one is a name of the other. ``"species"`` are those
        that the text names,
        which go before all. The context decides between those that are equal in this.
    min_score : float or None
        From -1 to 1. Mentions whose best candidate scores less are NIL; the candidates are still
        returned.
    min_confidence : float or None
        Mentions whose link is right with a smaller probability are NIL; the candidates are still
        returned. By default 0.15 (`canonym.linking.judge.NONSENSE`) where the index has a judge,
        see `canonym.Linker.fit_confidence`; 0 makes none NIL.
    keep_negated : bool
        Whether a mention that says of itself that it is negated ("no fever", "asthma - neg") has a
        concept, with the status ``"negated"``; by default it is NIL. See `canonym.types.Link`.
    seed : int or None
        Break ties between equal scores at random, as Xu & Bethard (2021) do, the same way for the
        same seed. By default the more trusted scope goes first (a label), then the
        concepts with the prefix of most ids, then the id.
    context : bool
        Whether the surroundings of a mention choose between concepts of the same name; true by
        default. Not with a seed.
    separator : str or None
        What parts the names of a mention that lists several, such as ``";"``. Mentions are cut
        there, whatever the terminology knows. By default they are cut at semicolons, line ends,
        numbers and bullets where the whole is no name; see `canonym.mentions.lists`.
    second_look : str or None
        Who chooses among the first candidates of a mention where the judge is not sure: an encoder
        (``"contextual"``), a folder or ``"hf:OWNER/MODEL"`` of a cross-encoder, or a language model
        (``"llama3.2@http://localhost:11434/v1"``); see the guide to second looks.
    batch : int
        Mentions handled at once, 1,024 by default.
    workers : int
        Processes that link; 1 by default, 0 for one per core. The links are the same. A batch goes
        to one process, so that a second one helps with more than one batch.
    """

    k: int
    types: Sequence[str]
    sources: Sequence[str]
    languages: Sequence[str]
    ids: Iterable[str]
    prefer: Sequence[str]
    min_score: float | None
    min_confidence: float | None
    keep_negated: bool
    seed: int | None
    context: bool
    separator: str | None
    second_look: str | None
    batch: int
    workers: int


DEFAULTS: Mapping[str, Any] = {
    "k": 5,
    "types": (),
    "sources": (),
    "languages": (),
    "ids": (),
    "prefer": (),
    "min_score": None,
    "min_confidence": None,
    "keep_negated": False,
    "seed": None,
    "context": True,
    "separator": None,
    "second_look": None,
    "batch": BATCH,
    "workers": 1,
}
"""The default of each of `LinkOptions`."""


def shows_options(**defaults: Any) -> Callable[[_Function], _Function]:
    """Let ``help`` and notebooks show the options that a function takes, and what they mean.

    `defaults` are those of further options, and those that differ from `DEFAULTS`.
    """

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in {**DEFAULTS, **defaults}.items()
        ]
        shown = signature.replace(parameters=[*own, *options])
        function.__signature__ = shown  # type: ignore[attr-defined]
        *_, meanings = inspect.cleandoc(LinkOptions.__doc__ or "").partition("Attributes\n")
        function.__doc__ = f"{inspect.getdoc(function)}\n\nOther Parameters\n------{meanings}"
        return function

    return decorate


def check_options(options: LinkOptions) -> dict[str, Any]:
    """Return the options of a call with every default filled in.

    Raises
    ------
    InvalidInput
        If there is no such option, or a value is out of range or of another type.
    """
    whole = dict(DEFAULTS)
    unknown = [name for name in options if name not in whole]
    if unknown:
        raise InvalidInput(f"there is no option {unknown[0]!r}; there are {', '.join(whole)}")
    whole.update(options)
    for name, what in (("k", "candidates"), ("batch", "mentions")):
        if not _is_whole(whole[name]) or whole[name] < 1:
            raise InvalidInput(
                f"{name} is {whole[name]!r}; expected a number of {what}, at least 1"
            )
    check_workers(whole["workers"])
    seed = whole["seed"]
    if seed is not None and (not _is_whole(seed) or seed < 0):
        raise InvalidInput(f"seed is {seed!r}; expected a whole number, at least 0")
    for name in ("min_score", "min_confidence"):
        value = whole[name]
        if not isinstance(value, Real | None) or isinstance(value, bool):
            raise InvalidInput(f"{name} is {value!r}; expected a number")
    least = whole["min_score"]
    if least is not None and not -1 <= least <= 1:
        raise InvalidInput(f"min_score is {least}; a score is expected, a number from -1 to 1")
    flags = {name: whole[name] for name in ("context", "keep_negated")}
    check_types(bool, "True or False", **flags)
    check_types(str | None, "a string", second_look=whole["second_look"])
    _check_separator(whole["separator"])
    for name in ("types", "sources", "languages", "ids", "prefer"):
        if isinstance(whole[name], str) or not isinstance(whole[name], Iterable):
            raise InvalidInput(f"{name} is {whole[name]!r:.80}; expected a list of strings")
        whole[name] = tuple(whole[name])
        strange = [value for value in whole[name] if not isinstance(value, str)]
        if strange:
            raise InvalidInput(f"{name}: {strange[0]!r:.80} is no string; strings are expected")
    _check_preferences(whole["prefer"], context=whole["context"] and seed is None)
    return whole


def recorded(fingerprint: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what links depend on, JSON-able: the version, an index, and options that matter."""
    from canonym import __version__

    settings = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if name not in ("batch", "workers")
    }
    return {"canonym": __version__, "index": fingerprint, **settings}


def _check_separator(separator: object) -> None:
    """Refuse what parts nothing, or everything."""
    if separator is None:
        return
    if not isinstance(separator, str) or not separator or separator.isalnum():
        raise InvalidInput(
            f"separator is {separator!r:.80}; expected what stands between names, such as ';'"
        )


def _check_preferences(prefer: Sequence[str], *, context: bool) -> None:
    """Refuse too many preferences, and species of the text where no text is looked at."""
    if len(prefer) > MOST:
        raise InvalidInput(f"{len(prefer)} preferences were given; at most {MOST} are expected")
    if SPECIES in prefer and not context:
        raise InvalidInput(
            "the preference 'species' is for the species that a text names, but the context of "
            "mentions is left out; leave that preference out too, or name a species"
        )


def _is_whole(value: object) -> bool:
    """Tell whether a value is a whole number; a bool is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_abbreviations(abbreviations: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return short forms and their long forms; refuse anything but a mapping of strings."""
    if abbreviations is None:
        return {}
    if not isinstance(abbreviations, Mapping) or not all(
        isinstance(form, str) for pair in abbreviations.items() for form in pair
    ):
        raise InvalidInput(
            f"abbreviations is {abbreviations!r:.80}; expected a mapping of short forms to long "
            "forms, such as {'HA': 'heart attack'}"
        )
    return abbreviations


# --- what is linked ------------------------------------------------------------------------------


def as_mention(value: str | Mention | None) -> Mention:
    """Take a string for a mention of that text, and a missing value of pandas for an empty one.

    Anything else but a mention is refused.
    """
    if isinstance(value, Mention):
        return value
    if isinstance(value, str):
        return Mention(value)
    if is_missing(value):
        return Mention("")
    raise InvalidInput(
        f"a mention is a string or a Mention, not {type(value).__name__} ({value!r:.80})"
    )


def is_missing(value: object) -> bool:
    """Tell whether something is None, NaN, or the NA or NaT of pandas."""
    if value is None or (isinstance(value, Real) and value != value):
        return True
    return type(value).__name__ in {"NAType", "NaTType"}


class Counted(Iterator[Any]):
    """An iterator and how many items it has, 0 where nobody knows: its `operator.length_hint`."""

    def __init__(self, items: Iterable[Any], n: int) -> None:
        self._items, self._n = iter(items), n

    def __next__(self) -> Any:
        return next(self._items)

    def __length_hint__(self) -> int:
        return self._n


def as_documents(mentions: Iterable[str | Mention | None]) -> Iterator[Document]:
    """Return a document without a text for each mention; refuse what is no list."""
    if isinstance(mentions, str) or not isinstance(mentions, Iterable):
        what = "one string" if isinstance(mentions, str) else type(mentions).__name__
        raise InvalidInput(
            f"{what} was given ({mentions!r:.80}); expected a list of mentions: link([name])"
        )
    documents = (Document("", "", (as_mention(mention),)) for mention in mentions)
    return Counted(documents, length_hint(mentions))


def as_texts(value: Iterable[str | Document]) -> Iterator[Document]:
    """Return a document for each text; refuse what is no list of texts or documents."""
    if isinstance(value, str | Document) or not isinstance(value, Iterable):
        raise InvalidInput(
            f"{value!r:.80} is no list: annotate_documents takes a list of texts or documents, "
            "and annotate takes one"
        )
    return map(as_text, value)


def as_text(value: str | Document) -> Document:
    """Return a text as a document without mentions; those that a document has are left out."""
    if isinstance(value, Document) and isinstance(value.text, str):
        return replace(value, mentions=())
    if isinstance(value, str):
        return Document("", value)
    raise InvalidInput(f"a text is a string or a Document, not {type(value).__name__}")


def contexts_of(links: Sequence[Link], documents: Iterable[Document]) -> list[str]:
    """Return the text around the mention of each link without parts, and of each part of another.

    `documents` are those of the links, in order. It is the context of a mention, or a piece of the
    text of its document.
    """
    texts = (document.text for document in documents for _ in document.mentions)
    pairs = [(link, _around(link.mention, text)) for link, text in zip(links, texts, strict=True)]
    return [around for link, around in pairs for _ in link.parts or (link,)]


def _around(mention: Mention, text: str) -> str:
    return mention.context or (text and sentence_of(text, mention.text, start=mention.start)[1])


def with_book(links: Iterable[Link], book: Book) -> Iterator[Link]:
    """Return links that know the rules of an institution, as far as a book has any."""
    return iter(links) if book is shipped() else (replace(link, book=book) for link in links)


def unanswered(link: Link) -> str:
    """Return why a second look told nothing of a link, or of a part of it; "" where it did."""
    steps = (step for part in (link, *link.parts) for step in part.steps)
    said = (step.after for step in steps if step.name == SECOND_LOOK)
    lacking = (after for after in said if after.startswith(NO_ANSWER))
    return next(lacking, "").removeprefix(NO_ANSWER)


# --- links ---------------------------------------------------------------------------------------


class Links(Sequence[Link]):
    """Links in the order of their mentions.

    Parameters
    ----------
    links : iterable of Link
        One per mention.
    """

    def __init__(self, links: Iterable[Link]) -> None:
        self._links = tuple(links)

    @overload
    def __getitem__(self, place: int) -> Link: ...

    @overload
    def __getitem__(self, place: slice) -> Links: ...

    def __getitem__(self, place: int | slice) -> Link | Links:
        return Links(self._links[place]) if isinstance(place, slice) else self._links[place]

    def __len__(self) -> int:
        return len(self._links)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Links) and self._links == other._links

    __hash__ = None  # type: ignore[assignment]  # candidates hold dicts

    def __repr__(self) -> str:
        lines = [f"  {link}" for link in self._links[:10]]
        if len(self) > 10:
            lines.append(f"  … {len(self) - 10:,} more")
        return "\n".join([f"<{len(self):,} links>", *lines])

    def _repr_html_(self) -> str:
        more = len(self) - _SHOWN
        below = f"… {more:,} more of {len(self):,} links" if more > 0 else ""
        return links_html(self._links[:_SHOWN], below=below)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one nested dict per link, ready for JSON; see `canonym.types.Link.to_dict`."""
        return [link.to_dict() for link in self._links]

    def to_arrow(self) -> Any:
        """Return a flat `pyarrow.Table`, one row per candidate.

        Raises
        ------
        MissingExtra
            Without pyarrow (extra ``tables``).
        """
        from canonym.export import links_to_arrow

        return links_to_arrow(self._links)

    def to_pandas(self) -> Any:
        """Return the table of `to_arrow` as a `pandas.DataFrame`.

        Raises
        ------
        MissingExtra
            Without pandas.
        """
        from canonym.errors import require

        require("pandas", "a pandas table")
        return self.to_arrow().to_pandas()


class KnownLinks:
    """Links of mentions that are a text and nothing else, for mentions that come again.

    They hold for the names of one moment and one request; with others they are forgotten.
    """

    def __init__(self) -> None:
        self._known: tuple[object, Any, dict[str, Links]] = (None, None, {})

    def of(self, names: object, request: Any) -> dict[str, Links]:
        """Return the links by text, to be added to; see `canonym.linking.pipeline.Request`."""
        before, other, links = self._known
        if before is not names or not _are_alike(request, other):
            links = {}
        elif len(links) > _MOST_KNOWN:  # other threads may be reading the full table
            links = dict(list(links.items())[_MOST_KNOWN // 2 :])
        self._known = names, request, links
        return links


def _are_alike(request: Any, other: Any) -> bool:
    """Tell whether two calls ask for the same, with the same filter and judge."""
    if other is None or request.filter is not other.filter or request.judge is not other.judge:
        return False
    same = {name: getattr(other, name) for name in ("filter", "judge", "n_documents")}
    return bool(request._replace(**same) == other)


class Repeats:
    """The documents of a batch, with the links that are known; `new` are the others, each once."""

    def __init__(self, documents: Sequence[Document], known: dict[str, Links]) -> None:
        self._documents, self._known = documents, known
        self._texts = [_only_text(document) for document in documents]
        self._links: dict[str, Links | None] = {}
        self.new: list[Document] = []
        for document, text in zip(documents, self._texts, strict=True):
            if text is None:
                self.new.append(document)
            elif text not in self._links:
                self._links[text] = links = known.get(text)
                if links is None:
                    self.new.append(document)

    def links(self, of_new: Iterable[Links]) -> Iterator[tuple[Document, Links]]:
        """Yield all documents with their links, from those of the new ones."""
        following = iter(of_new)
        for document, text in zip(self._documents, self._texts, strict=True):
            links = None if text is None else self._links[text]
            if links is None:
                links = next(following)
                if text is not None:
                    self._links[text] = links
                    if len(text) <= LONGEST_STRING:
                        self._known[text] = links
            yield document, links


def _only_text(document: Document) -> str | None:
    """Return the text of a mention that is alone and has nothing else; None of any other."""
    if document.text or len(document.mentions) != 1:
        return None
    mention = document.mentions[0]
    return mention.text if mention == Mention(mention.text) else None
