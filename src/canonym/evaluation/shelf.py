"""Corpora, terminologies and encoders of published tables, as their files name them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from canonym.corpora.concepts import read_concepts
from canonym.corpora.mention_tables import read_folds
from canonym.corpora.pubtator import read_pubtator
from canonym.corpora.splits import Parts, read_official
from canonym.encoders import make_encoder
from canonym.errors import InvalidInput, MissingExtra
from canonym.evaluation.dictionary import Dictionary, build_dictionary
from canonym.evaluation.folds import FoldRuns, evaluate_folds
from canonym.evaluation.outcome import Run
from canonym.evaluation.preparation import read_corrections
from canonym.evaluation.run import evaluate_corpus
from canonym.terminology import Terminology, read_records
from canonym.types import Concept, Document, Encoder, Mention, Record, Relation

__all__ = ["NotHereError", "Shelf"]

_REMEMBERED = 4


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

    def run(self, row: Mapping[str, Any], models: Mapping[str, str | Encoder]) -> Run | FoldRuns:
        """Run one row of an experiment; see `canonym.evaluation.experiment_files`.

        Raises
        ------
        NotHereError
            If a file or a model is not here.
        InvalidInput
            If the row cannot be run wherever it is.
        """
        part = row.get("part", "test")
        corrections = row.get("corrections")
        options: dict[str, Any] = {
            "encoders": [_open_encoder(models.get(name, name)) for name in row.get("encoders", ())],
            "weights": row.get("weights"),
            "indexed": self._indexing(row.get("encoders", ())),
            "protocol": row["protocol"],
            "part": part,
            "metrics": tuple(row["published"]),
            "types": row.get("types", ()),
            "corrections": read_corrections(self.data / corrections) if corrections else None,
            **{key: row[key] for key in ("split", "same", "seed", "k") if key in row},
        }
        if row.get("format") == "folds":
            self.check(row["corpus"])
            names = row.get("terminology")
            return evaluate_folds(
                read_folds(self.data / row["corpus"]),
                terminology=self.terminology(names) if names else None,
                files=sorted(f for f in (self.data / row["corpus"]).rglob("*") if f.is_file()),
                **options,
            )
        parts = self.corpus(row["corpus"], row.get("format", "pubtator"))
        return evaluate_corpus(
            parts.dev if part == "dev" else parts.test,
            terminology=self.terminology(row["terminology"]),
            training=parts.train if part == "dev" else (*parts.train, *parts.dev),
            files=sorted(file for file in (self.data / row["corpus"]).iterdir() if file.is_file()),
            **options,
        )

    def corpus(self, name: str, format: str) -> Parts[Document]:
        """Read the official parts of a corpus."""
        readers = {"pubtator": _read_pubtator, "concept": _read_concepts}
        if format not in readers:
            raise InvalidInput(f"the format {format!r} is none of {', '.join(readers)}, folds")
        if (name, format) not in self._corpora:
            self.check(name)
            self._corpora[name, format] = read_official(self.data / name, readers[format])
        return self._corpora[name, format]

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

    def _indexing(self, names: Sequence[str]) -> Callable[..., Dictionary]:
        """Return what makes dictionaries with encoders of these names, and remembers some."""

        def indexed(
            terminology: Terminology, learned: tuple[tuple[str, str], ...], **options: Any
        ) -> Dictionary:
            weights = tuple(options["weights"] or ())
            key = (terminology.digest, learned, tuple(names), weights, options["as_written"])
            if key not in self._dictionaries:
                while len(self._dictionaries) >= _REMEMBERED:
                    del self._dictionaries[next(iter(self._dictionaries))]
                self._dictionaries[key] = build_dictionary(terminology, learned, **options)
            return self._dictionaries[key]

        return indexed

    def _records(self, source: str | Mapping[str, Any]) -> Iterator[Record]:
        if isinstance(source, str):
            source = {"file": source}
        options = dict(source)
        for key in ("file", "trees"):
            if key in options:
                self.check(options[key])
                options[key] = self.data / options[key]
        wanted = frozenset(options.pop("types", ()))
        found = read_records(options.pop("file"), **options)
        return _of_types(found, wanted) if wanted else found


def _of_types(records: Iterator[Record], wanted: frozenset[str]) -> Iterator[Record]:
    """Keep the concepts that have one of some types, and what belongs to them."""
    kept: set[str] = set()
    for record in records:
        if isinstance(record, Concept):
            if wanted.intersection(record.types):
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


def _read_pubtator(path: Path) -> list[Document]:
    return list(read_pubtator(path))


def _read_concepts(path: Path) -> list[Document]:
    documents: dict[str, list[Mention]] = {}
    for mention in read_concepts(path):
        documents.setdefault(mention.document_id, []).append(mention)
    return [Document(id_, "", tuple(mentions)) for id_, mentions in documents.items()]
