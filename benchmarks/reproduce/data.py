"""Corpora, terminologies and encoders of published tables, as their files name them.

Clinical trials have silver labels: conditions and interventions with the MeSH terms that a program
gave them. A trial lists conditions and terms, but not which term is meant by which condition, so
only trials with one condition are taken. Any of the trial's terms is right. A condition that is a
name of a concept already is left out, since most terms were assigned by such names, and so is a
repeated one. Interventions are searched in a terminology of drugs that lacks many of them, to
measure NIL.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from canonym.corpora.concept_files import read_concepts
from canonym.corpora.pubtator import read_pubtator
from canonym.encoders import make_encoder, path_of
from canonym.encoders.batches import bf16_pays
from canonym.encoders.hub import Comparison
from canonym.encoders.inputs import check_option
from canonym.errors import InvalidInput, MissingExtra, NotTrained
from canonym.evaluation.dictionary import Dictionary, build_dictionary
from canonym.terminology import Terminology, read_records
from canonym.terminology.ids import ConceptIds
from canonym.text import biosyn_normal
from canonym.training.sampling.relations import read_relations
from canonym.types import (
    SIMILARITIES,
    Concept,
    Document,
    Encoder,
    Mention,
    Record,
    Relation,
)
from models.sources import read_relation_table
from reproduce.dictionaries import build_target_dictionary, reweighed
from reproduce.readers.clinical_notes import read_mcn, read_share
from reproduce.readers.mantra import read_mantra
from reproduce.readers.tac import read_tac
from reproduce.readers.trials import Trial, read_trials_table
from reproduce.splits import Parts, read_official
from reproduce.trials import read_trial_fields

DRUG_TYPES: frozenset[str] = frozenset({"Biological", "Combination Product", "Drug"})
"""Types of interventions that are drugs."""


class SilverMentions(NamedTuple):
    """Documents of one mention each, and how many trials were left out, by reason."""

    documents: tuple[Document, ...]
    dropped: dict[str, int]
    kind: str

    @property
    def remarks(self) -> list[str]:
        """The counts, as sentences."""
        left_out = [
            f"{n:,} trials {reason} were left out" for reason, n in self.dropped.items() if n
        ]
        return [f"{len(self.documents):,} {self.kind} with silver labels", *left_out]


def silver_conditions(trials: Iterable[Trial], terminology: Terminology) -> SilverMentions:
    """Make mentions with concepts of the conditions of trials.

    Two people annotated DILBERT's test set. These labels are silver: what NLM assigns is
    incomplete (Miftahutdinov et al. 2021, section 3), and some are wrong or broader.
    """
    ids = ConceptIds(terminology)
    label_of: dict[str, str] = {}
    for concept in terminology.iter_concepts():
        label_of.setdefault(biosyn_normal(concept.label), concept.id)
    names = {biosyn_normal(name.text) for name in terminology.iter_names()}
    several, unknown, known = reasons = (
        "with several conditions or none",
        "without a term that the terminology has",
        "whose condition is a name of a concept already",
    )

    def label(trial: Trial) -> Mention | str:
        concepts = [ids.find(id_) for id_ in trial.condition_ids]
        concepts += [label_of.get(biosyn_normal(name)) for name in trial.condition_names]
        own = tuple(dict.fromkeys(id_ for id_ in concepts if id_ is not None))
        text = trial.conditions[0].text if len(trial.conditions) == 1 else ""
        if not biosyn_normal(text):
            return several
        if not own:
            return unknown
        if biosyn_normal(text) in names:
            return known
        return Mention(text, 0, len(text), "Condition", own, document_id=trial.document.id)

    return _silver(trials, label, reasons, "condition")


def silver_interventions(trials: Iterable[Trial], terminology: Terminology) -> SilverMentions:
    """Make mentions of the interventions of trials that are drugs, with concepts or without.

    A term of NLM stands for the concepts that have its name. A mention has no ids if no term is a
    name of the terminology; one whose own text is a name is left out then. NLM's program overlooks
    some concepts: these are noise (Miftahutdinov et al. 2021, sections 3 and 5.4).
    """
    having: dict[str, dict[str, None]] = {}
    for name in terminology.iter_names():
        having.setdefault(biosyn_normal(name.text), {})[name.concept_id] = None
    several, no_drug, overlooked = reasons = (
        "with several interventions or none",
        "whose intervention is no drug",
        "whose intervention is a name although its terms are none",
    )

    def label(trial: Trial) -> Mention | str:
        named = (having.get(biosyn_normal(name), {}) for name in trial.intervention_names)
        ids = tuple(dict.fromkeys(id_ for concepts in named for id_ in concepts))
        mention = trial.interventions[0] if len(trial.interventions) == 1 else None
        if mention is None or not biosyn_normal(mention.text):
            return several
        if mention.type not in DRUG_TYPES:
            return no_drug
        if not ids and biosyn_normal(mention.text) in having:
            return overlooked
        rule = "any" if ids else "nil"
        text, id_ = mention.text, trial.document.id
        return Mention(text, 0, len(text), mention.type, ids, rule, document_id=id_)

    return _silver(trials, label, reasons, "intervention")


def _silver(
    trials: Iterable[Trial],
    label: Callable[[Trial], Mention | str],
    reasons: Sequence[str],
    kind: str,
) -> SilverMentions:
    """Make a document of each trial; `label` gives its mention, or why it is left out."""
    repeated = f"whose {kind} an earlier one has"
    dropped = dict.fromkeys((*reasons, repeated), 0)
    met: set[str] = set()
    documents = []
    for trial in trials:
        mention = label(trial)
        if isinstance(mention, str):
            dropped[mention] += 1
        elif (normal := biosyn_normal(mention.text)) in met:
            dropped[repeated] += 1
        else:
            met.add(normal)
            documents.append(Document(trial.document.id, mention.text, (mention,)))
    if not documents:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in dropped.items() if n)
        raise InvalidInput(f"the trials leave no {kind} to ask about: {reasons or 'there is none'}")
    return SilverMentions(tuple(documents), dropped, f"{kind}s")


_TRIALS = {"trials": silver_conditions, "trial-interventions": silver_interventions}
_SIMILARITY = re.compile(r",similarity=(\w+)")
_REMEMBERED = 4
_OPEN = 8
_MOST_BATCHES, _WORTH_KEEPING = 20, 1_000


class NotHereError(Exception):
    """A file, a model or a package that a row needs is not on this machine."""


class Shelf:
    """Corpora and terminologies under the folder `data`, each read once.

    The last dictionaries are kept as well: rows often differ in their mentions and not in the names
    that are searched, which take long to encode.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self._corpora: dict[tuple[str, str], Parts[Document]] = {}
        self._terminologies: dict[str, Terminology] = {}
        self._dictionaries: dict[Hashable, Dictionary] = {}
        self._encoders: dict[tuple[str, str], Encoder] = {}

    def placed(self, spec: str) -> str:
        """Return a description of an encoder by its folder among the checkpoints, if it is there.

        ``checkpoints`` of the data folder has them by the last part of their name.
        """
        name = path_of(spec)
        place = self.data / "checkpoints" / name.rpartition("/")[2]
        return f"{place}{spec[len(name) :]}" if place.exists() else spec

    def corpus(
        self, name: str, format: str, *, terminology: Terminology | None = None
    ) -> tuple[Parts[Document], tuple[str, ...]]:
        """Read the official parts of a corpus, and remarks.

        Clinical trials are labelled with concepts of `terminology` and have only a test part.
        """
        if format in _TRIALS and terminology is not None:
            self.check(name)
            found = _TRIALS[format](read_trials_table(self.data / name), terminology)
            return Parts((), (), found.documents), tuple(found.remarks)
        if format == "mantra":  # a file, all of which is for the test
            self.check(name)
            return Parts((), (), tuple(read_mantra(self.data / name))), ()
        if format not in _READERS:
            known = ", ".join((*_READERS, "folds", "mantra", *_TRIALS))
            raise InvalidInput(f"the format {format!r} is none of {known}")
        if (name, format) not in self._corpora:
            self.check(name)
            self._corpora[name, format] = read_official(self.data / name, _READERS[format])
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
        """Read relations: ``"terminology"``, tables, or files of a terminology that has some.

        ``consider`` is left out: in OBO it names what may replace an obsolete term.
        """
        found: list[Relation] = []
        for source in sources:
            if source == "terminology":
                found += terminology.iter_relations()
            elif not isinstance(source, str) and "head" in source:
                options = dict(source)
                self.check(options["file"])
                found += read_relation_table(self.data / options.pop("file"), **options)
            elif not isinstance(source, str) and source.get("format") == "relations":
                self.check(source["file"])
                found += read_relations(self.data / source["file"])
            else:
                found += (r for r in self._records(source) if isinstance(r, Relation))
        return [one for one in found if one.relation != "consider"]

    def encoder(self, given: str | Encoder, *, precision: str = "fp32") -> Encoder:
        """Open an encoder, as `make_encoder` does; the last ones stay open and keep vectors.

        With ``"bf16"`` a transformer computes in bfloat16 where that is faster. Descriptions that
        differ in their similarity alone share an encoder and its vectors.
        """
        if not isinstance(given, str):
            return given
        given = self.placed(given)
        similarity = _SIMILARITY.search(given)
        key = (_SIMILARITY.sub(",normalise=false", given), precision)
        if key not in self._encoders:
            while len(self._encoders) >= _OPEN:
                del self._encoders[next(iter(self._encoders))]
            encoder: Any = _open_encoder(key[0])
            if precision == "bf16" and hasattr(encoder, "set_dtype") and bf16_pays(encoder.device):
                encoder.set_dtype("bfloat16")
            self._encoders[key] = _remembering(encoder)
        shared: Any = copy.copy(self._encoders[key])
        if similarity:
            check_option("similarity", similarity[1], SIMILARITIES)
            shared.compare_by(Comparison(similarity[1], normalise=False, sparse_weight=0.0))
        return shared

    def fresh_encoder(self, given: str | Encoder) -> Encoder:
        """Open an encoder that the caller may train: nobody else has it."""
        return _open_encoder(self.placed(given)) if isinstance(given, str) else copy.deepcopy(given)

    def indexing(
        self,
        names: Sequence[str | Encoder],
        search: str | None = None,
        *,
        precision: str = "fp32",
    ) -> Callable[..., Dictionary]:
        """Return a function that makes dictionaries with these encoders and keeps the last ones."""

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
    """Keep concepts of some types ("" for none), with their names, references and relations."""
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
    """Let an encoder keep the vectors of large batches: many rows search the same names."""
    try:
        encoder.encode([""])
    except NotTrained:  # each dictionary fits it
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


def _read_concepts(path: Path) -> list[Document]:
    documents: dict[str, list[Mention]] = {}
    for mention in read_concepts(path):
        documents.setdefault(mention.document_id, []).append(mention)
    return [Document(id_, "", tuple(mentions)) for id_, mentions in documents.items()]


_READERS: Mapping[str, Callable[[Path], Iterable[Document]]] = {
    "pubtator": read_pubtator,
    "concept": _read_concepts,
    "mcn": read_mcn,
    "share": read_share,
    "tac": read_tac,
    "trial-fields": read_trial_fields,
}
"""Formats of a corpus with official parts: a file for each, or a folder."""
