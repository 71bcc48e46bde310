"""Corpora, terminologies and encoders of published tables, as their files name them."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from canonym.corpora.concepts import read_concepts
from canonym.corpora.pubtator import read_pubtator
from canonym.corpora.splits import Parts, read_official
from canonym.corpora.trials import read_trials_table
from canonym.encoders import make_encoder
from canonym.encoders.devices import bf16_pays
from canonym.errors import InvalidInput, MissingExtra, NotTrained
from canonym.evaluation.dictionary import Dictionary, build_dictionary
from canonym.evaluation.relation_tables import read_relation_table
from canonym.evaluation.searches import build_target_dictionary, reweighed
from canonym.evaluation.silver import silver_conditions, silver_interventions
from canonym.terminology import Terminology, read_records
from canonym.types import Concept, Document, Encoder, Mention, Record, Relation

__all__ = ["NotHereError", "Shelf"]

_TRIALS = {"trials": silver_conditions, "trial-interventions": silver_interventions}
_REMEMBERED = 4
_OPEN = 8
_MOST_BATCHES, _WORTH_KEEPING = 20, 1_000


class NotHereError(Exception):
    """A file, a model or a package that a row needs is not on this machine."""


class Shelf:
    """Corpora and terminologies of one reproduction, each read once.

    The last dictionaries are kept as well: rows often differ in the mentions that they ask, and not
    in the names that are searched, which take long to encode.

    Parameters
    ----------
    data : Path
        The folder that all paths are relative to.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self._corpora: dict[tuple[str, str], Parts[Document]] = {}
        self._terminologies: dict[str, Terminology] = {}
        self._dictionaries: dict[Hashable, Dictionary] = {}
        self._encoders: dict[tuple[str, str], Encoder] = {}

    def corpus(
        self, name: str, format: str, *, terminology: Terminology | None = None
    ) -> tuple[Parts[Document], tuple[str, ...]]:
        """Read the official parts of a corpus, and what is to be said of it.

        Clinical trials (the format ``"trials"``) are labelled with concepts of `terminology`, and
        are a test part alone.
        """
        if format in _TRIALS and terminology is not None:
            self.check(name)
            found = _TRIALS[format](read_trials_table(self.data / name), terminology)
            return Parts((), (), found.documents), tuple(found.remarks)
        readers = {"pubtator": _read_pubtator, "concept": _read_concepts}
        if format not in readers:
            known = ", ".join((*readers, "folds", *_TRIALS))
            raise InvalidInput(f"the format {format!r} is none of {known}")
        if (name, format) not in self._corpora:
            self.check(name)
            self._corpora[name, format] = read_official(self.data / name, readers[format])
        return self._corpora[name, format], ()

    def files(self, name: str) -> list[Path]:
        """Return the files of a corpus, those of sub-folders included, sorted."""
        place = self.data / name
        return sorted(f for f in place.rglob("*") if f.is_file()) if place.is_dir() else [place]

    def terminology(self, sources: Sequence[str | Mapping[str, Any]]) -> Terminology:
        """Read the files of a terminology, one after the other."""
        key = json.dumps(sources, sort_keys=True)
        if key not in self._terminologies:
            records = [self._records(source) for source in sources]
            self._terminologies[key] = Terminology.build(itertools.chain.from_iterable(records))
        return self._terminologies[key]

    def check(self, name: str) -> None:
        """Raise `NotHereError` unless the data folder has a file or folder of that name."""
        if not (self.data / name).exists():
            raise NotHereError(f"{name} is not in the data folder {self.data.name}")

    def relations(
        self, sources: Sequence[str | Mapping[str, Any]], terminology: Terminology
    ) -> list[Relation]:
        """Read relations: ``"terminology"``, tables, or files of a terminology that has some."""
        found: list[Relation] = []
        for source in sources:
            if source == "terminology":
                found += terminology.iter_relations()
            elif not isinstance(source, str) and "head" in source:
                options = dict(source)
                self.check(options["file"])
                found += read_relation_table(self.data / options.pop("file"), **options)
            else:
                found += (r for r in self._records(source) if isinstance(r, Relation))
        return found

    def encoder(self, given: str | Encoder, *, precision: str = "fp32") -> Encoder:
        """Open an encoder; the last ones stay open, and remember what they encoded.

        Parameters
        ----------
        given : str or Encoder
            As `canonym.encoders.make_encoder` takes it; an open one is returned as it is.
        precision : str
            ``"bf16"`` lets a transformer compute with half as many bits where that is faster, which
            it is on few CPUs; elsewhere it computes in float32.

        Raises
        ------
        NotHereError
            If it is not on this machine.
        """
        if not isinstance(given, str):
            return given
        key = (given, precision)
        if key not in self._encoders:
            while len(self._encoders) >= _OPEN:
                del self._encoders[next(iter(self._encoders))]
            encoder: Any = _open_encoder(given)
            if precision == "bf16" and hasattr(encoder, "set_dtype") and bf16_pays(encoder.device):
                encoder.set_dtype("bfloat16")
            self._encoders[key] = _remembering(encoder)
        return copy.copy(self._encoders[key])

    def indexing(
        self,
        names: Sequence[str | Encoder],
        search: str | None = None,
        *,
        precision: str = "fp32",
    ) -> Callable[..., Dictionary]:
        """Return what makes dictionaries with encoders of these names, and remembers some."""

        def indexed(
            terminology: Terminology, learned: tuple[tuple[str, str], ...], **options: Any
        ) -> Dictionary:
            weights = options.pop("weights")
            what = (tuple(names), precision, search, options["as_written"])
            key = (terminology.digest, learned, *what)
            if key not in self._dictionaries:
                while len(self._dictionaries) >= _REMEMBERED:
                    del self._dictionaries[next(iter(self._dictionaries))]
                self._dictionaries[key] = (
                    build_dictionary(terminology, learned, **options)
                    if search is None
                    else build_target_dictionary(terminology, learned, search=search, **options)
                )
            found = self._dictionaries[key]
            return found if weights is None else reweighed(found, weights)

        return indexed

    def _records(self, source: str | Mapping[str, Any]) -> Iterator[Record]:
        if isinstance(source, str):
            source = {"file": source}
        options = dict(source)
        for key in ("file", "trees", "replaced"):
            if key in options:
                self.check(options[key])
                options[key] = self.data / options[key]
        wanted = frozenset(options.pop("types", ()))
        found = read_records(options.pop("file"), **options)
        return _of_types(found, wanted) if wanted else found


def _of_types(records: Iterator[Record], wanted: frozenset[str]) -> Iterator[Record]:
    """Keep the concepts that have one of some types, or none with "", and what belongs to them."""
    kept: set[str] = set()
    for record in records:
        if isinstance(record, Concept):
            if wanted.intersection(record.types or ("",)):
                kept.add(record.id)
            fits = record.id in kept
        elif isinstance(record, Relation):
            fits = record.head in kept and record.tail in kept
        else:
            fits = record.concept_id in kept
        if fits:
            yield record


def _open_encoder(given: str | Encoder) -> Encoder:
    if not isinstance(given, str):
        return given
    try:
        return make_encoder(given)
    except (InvalidInput, MissingExtra) as error:
        raise NotHereError(f"the encoder {given!r} cannot be opened: {error}") from error


def _remembering(encoder: Encoder) -> Encoder:
    """Let an encoder remember batches of names: rows search the same ones again and again."""
    try:
        encoder.encode([""])
    except NotTrained:  # each dictionary fits it anew
        return encoder
    encode, known = encoder.encode, dict[bytes, Any]()

    def remembered(names: Sequence[str]) -> Any:
        key = hashlib.sha256("\n".join(names).encode("utf-8", "surrogatepass")).digest()
        if len(names) < _WORTH_KEEPING:
            return encode(names)
        if key not in known:
            while len(known) >= _MOST_BATCHES:
                del known[next(iter(known))]
            known[key] = encode(names)
        return known[key]

    kept: Any = copy.copy(encoder)
    kept.encode = remembered
    found: Encoder = kept
    return found


def _read_pubtator(path: Path) -> list[Document]:
    return list(read_pubtator(path))


def _read_concepts(path: Path) -> list[Document]:
    documents: dict[str, list[Mention]] = {}
    for mention in read_concepts(path):
        documents.setdefault(mention.document_id, []).append(mention)
    return [Document(id_, "", tuple(mentions)) for id_, mentions in documents.items()]
