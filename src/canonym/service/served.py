"""The indexes that are served: opened once, and opened again when their folder is replaced."""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from canonym.errors import CanonymError, InvalidInput, Mismatch, ReadError
from canonym.exchange.fhir import code_system
from canonym.indexes.prefixes import Prefixes
from canonym.io.files import MANIFEST, cache_folder, write_folder
from canonym.linker import Linker
from canonym.linking.judge import JUDGE
from canonym.linking.named import index_folder
from canonym.service.examples import examples_of
from canonym.service.problems import Problem
from canonym.terminology.hierarchy import edges_up
from canonym.text import normalise, normalise_all
from canonym.types import Concept, Name

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_MOST_NAMED = 1000
_FOLLOWED = (MANIFEST, JUDGE)
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.0)  # seconds between attempts


class Opened:
    """A linker, and what the service looks up beside linking."""

    def __init__(self, linker: Linker) -> None:
        self.linker = linker
        self.terminology = linker.terminology
        self.prefixes = _open_prefixes(linker)
        self.languages = self.terminology.languages()
        named = {tag: n for tag, n in self.languages.items() if tag}
        self.language = max(named, key=named.__getitem__) if named else "en"
        # Opens and maps what the first mention of all would otherwise wait for.
        linker.link(["a first mention"])

    @functools.cached_property
    def types(self) -> dict[str, int]:
        """Numbers of concepts by type."""
        return self.terminology.types()

    @functools.cached_property
    def inner(self) -> npt.NDArray[np.bool_]:
        """Which concepts others stand below, ``(n_concepts,)`` bool."""
        return self.terminology.with_children()

    @functools.cached_property
    def examples(self) -> list[str]:
        """A few names to begin with."""
        return examples_of(self.linker)

    def label(self, id: str) -> str:
        """Return the label of a concept; of an id beyond the terminology, the id."""
        known = self.terminology.resolve(id)
        return self.terminology.concept(known).label if known else id

    def id_of(self, spelling: str) -> str | None:
        """Return the id of the only concept that an id names, however it is written."""
        ids = self.terminology.find_ids(spelling.strip())
        return ids[0] if len(ids) == 1 else None

    def ancestors(self, id: str) -> list[str]:
        """Return the ids of what stands above a concept, the nearest first."""
        return [*edges_up(id, self.terminology.parents)][1:]

    def is_below(self, id: str, other: str) -> bool:
        """Tell whether a concept stands below another one, however far."""
        return other in self.ancestors(id)

    def path(self, id: str) -> list[str]:
        """Return the ids from the top of the hierarchy down to a concept, by its first parents."""
        path = [id]
        while parents := [
            parent for parent in self.terminology.parents(path[0]) if parent not in path
        ]:
            path.insert(0, parents[0])
        return path

    def names(self, id: str) -> list[Name]:
        """Return the names of a concept, the added ones last."""
        added = (name for name in self.linker.synonyms if name.concept_id == id)
        return [*self.terminology.names(id), *added]

    def search(self, prefix: str, limit: int) -> list[tuple[Concept, str]]:
        """Return concepts with a name that begins with a prefix, and that name.

        The concepts whose id the prefix is come first, in any spelling, but after concepts that are
        called like that. Then come names as `Prefixes.find` orders them.
        """
        own = self._of_id(prefix)
        # A name that is verbatim a code without its prefix goes first: "C3" is a protein.
        texts = self._called(prefix) if own and ":" not in prefix else {}
        texts = {**texts, **{id_: label for id_, label in own.items() if id_ not in texts}}
        form = normalise(prefix)
        if form:
            for name in self.linker.synonyms:
                if normalise(name.text).startswith(form):
                    texts.setdefault(name.concept_id, name.text)
            self._add_names(form, limit, texts)
        return [(self.terminology.concept(id_), text) for id_, text in texts.items()][:limit]

    def matching(self, words: str, n: int) -> Iterator[tuple[Concept, str]]:
        """Yield concepts that `search` finds, then those with a name of all words, in any order."""
        seen = set()
        for concept, text in self.search(words, n):
            seen.add(concept.id)
            yield concept, text
        for name in self.terminology.search(words):
            if name.concept_id not in seen:
                yield self.terminology.concept(name.concept_id), name.text

    def matches(self, words: str) -> npt.NDArray[np.bool_]:
        """Mark all concepts that `matching` finds, ``(n_concepts,)`` bool."""
        form = normalise(words)
        rows = [*self.terminology.words.find(words)]
        ids = [*self._of_id(words)]
        if form:
            rows += self.prefixes.find(form, self.terminology.n_names, self._form)
            added = (name for name in self.linker.synonyms if normalise(name.text).startswith(form))
            ids += [name.concept_id for name in added]
        marked = np.zeros(self.terminology.n_concepts, dtype=np.bool_)
        marked[self.terminology.concept_of_row()[np.asarray(rows, dtype=np.intp)]] = True
        ordinals = map(self.terminology.ordinal, ids)
        marked[[ordinal for ordinal in ordinals if ordinal is not None]] = True
        return marked

    @functools.cached_property
    def systems(self) -> dict[str, str]:
        """Prefixes of ids by the addresses of their code systems."""
        return {code_system(prefix): prefix for prefix in self.terminology.prefixes()}

    def named(self, name: str) -> list[str]:
        """Return the ids of the concepts with a name, up to case and punctuation."""
        return list(self._called(name))

    def _called(self, name: str) -> dict[str, str]:
        """Return the ids of the concepts with a name, and how it is written."""
        form = normalise(name)
        added = [synonym for synonym in self.linker.synonyms if normalise(synonym.text) == form]
        rows = self.prefixes.find(form, _MOST_NAMED, self._form) if form else []
        stored = (
            synonym
            for synonym in self.terminology.names_at(rows)
            if normalise(synonym.text) == form
        )
        return {synonym.concept_id: synonym.text for synonym in (*added, *stored)}

    def _of_id(self, text: str) -> dict[str, str]:
        """Return the concepts that an id names, or one that stands beside a label; by label."""
        ids = self.terminology.find_ids(text.strip())
        if not ids and (code := self.terminology.find_codes([text]).get(text)) is not None:
            ids = tuple(concept.id for concept in self.terminology.concepts_at(code.concepts))
        return {id_: self.terminology.concept(id_).label for id_ in ids}

    def _add_names(self, form: str, limit: int, names: dict[str, str]) -> None:
        """Add concepts by their names; twice as many names are read until there are enough."""
        n_rows = 4 * limit
        while True:
            rows = self.prefixes.find(form, n_rows, self._form)
            for name in self.terminology.names_at(rows):
                names.setdefault(name.concept_id, name.text)
            if len(names) >= limit or len(rows) < n_rows:
                return
            n_rows *= 2

    def _form(self, row: int) -> str:
        return normalise(self.terminology.names_at([row])[0].text)


class Served:
    """One index, under a name. Requests use it through `use`.

    `advice` says how all values of a filter are listed, in the words of who serves it.
    """

    def __init__(
        self,
        name: str,
        folder: Path | None,
        advice: str = "GET /v1/terminologies lists all",
        second_look: str = "",
    ) -> None:
        self.name = name
        self._advice = advice
        self._second_look = second_look
        self._index = folder
        self._folder = None if folder is None else index_folder(folder)
        self._lock = threading.Lock()
        self._opened: Opened | None = None
        self._known: tuple[tuple[int, int], ...] | None = None

    @property
    def opened(self) -> Opened:
        """The index as it was opened last."""
        assert self._opened is not None, "indexes are opened before requests are answered"
        return self._opened

    @property
    def is_open(self) -> bool:
        """Whether the index was opened."""
        return self._opened is not None

    def open(self) -> None:
        """Open the index, or open it again if its folder was replaced.

        What cannot be opened is an error the first time; later the old index stays in use.
        """
        with self._lock:
            known = self._identity()
            if self._opened is not None and known in (None, self._known):
                return
            try:
                opened = Opened(self._load())
                opened.linker.pipeline.second_look = self._second_look or None
            except (CanonymError, OSError):
                if self._opened is None:
                    raise
                self._known = known
                _log.exception("the new index %s cannot be opened; the old one stays", self.name)
                return
            if self._opened is not None:
                _log.info("the index %s was replaced and is open again", self.name)
            self._opened, self._known = opened, known

    def _load(self) -> Linker:
        """Open the linker; a packaged one may be built, but only the first time."""
        if self._index is None:
            return Linker.default()
        index = self._index if self._opened is None else self._folder
        return Linker.load(index or self._index)

    def _identity(self) -> tuple[tuple[int, int], ...] | None:
        """Tell one state of the folder from another; None while there is none, between two."""
        if self._folder is None:
            return None
        stamps = []
        for name in _FOLLOWED:
            with contextlib.suppress(OSError):
                status = (self._folder / name).stat()
                stamps.append((status.st_ino, status.st_mtime_ns))
            if not stamps:
                return None
        return tuple(stamps)

    def use(self, work: Callable[[Opened], _T]) -> _T:
        """Do some work that only reads, with the newest index.

        Where the index is replaced in the midst of it, the work is done again.
        """
        while True:
            result = self._attempt(work)
            if self._identity() in (None, self._known):
                return result

    def change(self, work: Callable[[Opened], _T]) -> _T:
        """Do some work that changes the index."""
        try:
            return self._attempt(work)
        except OSError as error:
            detail = f"the folder of {self.name} cannot be written to: nothing was changed"
            raise Problem(HTTPStatus.CONFLICT, detail) from error

    def _attempt(self, work: Callable[[Opened], _T]) -> _T:
        """Do some work with the newest index; what fails while that is replaced is tried again.

        What is wrong is said in the words of the service, with no path.
        """
        for pause in _PAUSES:
            try:
                if self._identity() not in (None, self._known):
                    self.open()
                return work(self.opened)
            except (Mismatch, ReadError, OSError):
                if not pause or self._folder is None or self._identity() == self._known:
                    raise
                time.sleep(pause)
            except InvalidInput as error:
                message = re.sub(r"List all with .*", self._advice, str(error)).rstrip()
                raise InvalidInput(message.replace("terminology.db", self.name)) from error
        raise AssertionError("the last pause is none")


def find_served(indexes: Mapping[str, Served], name: str | None) -> Served:
    """Return the index of that name; where there is one index only, it needs no name."""
    if name is None and len(indexes) == 1:
        return next(iter(indexes.values()))
    if name is None or name not in indexes:
        problem = "none is named" if name is None else f"there is no terminology {name!r:.80}"
        status = HTTPStatus.UNPROCESSABLE_ENTITY if name is None else HTTPStatus.NOT_FOUND
        raise Problem(
            status, f"{problem}; there are {', '.join(indexes)}", terminologies=[*indexes]
        )
    return indexes[name]


def _open_prefixes(linker: Linker) -> Prefixes:
    """Open the sorted names of a terminology; the cache keeps them, where that is possible."""
    terminology = linker.terminology
    folder = cache_folder() / f"prefixes-{terminology.digest[:16]}"
    with contextlib.suppress(CanonymError):
        return Prefixes.load(folder, n_rows=terminology.n_names)
    texts = (text for batch in terminology.iter_texts() for text in batch)
    prefixes = Prefixes.build(normalise_all(texts), terminology.scope_of_row() == 0)
    with contextlib.suppress(OSError, InvalidInput):  # a place that cannot be written to
        folder.parent.mkdir(parents=True, exist_ok=True)
        with write_folder(folder) as partial:
            prefixes.save(partial)
    return prefixes
