"""Evaluation of a system on annotated documents, from documents to figures.

Examples
--------
>>> from canonym import Concept, Document, Mention, Name, Terminology
>>> terminology = Terminology.build(
...     [Concept("MESH:D1", "Myocardial infarction"), Concept("MESH:D2", "Migraine")]
... )
>>> mention = Mention("Migraines", 0, 9, ids=("D2",))
>>> document = Document("7", "Migraines are frequent.", (mention,))
>>> run = evaluate_corpus([document], terminology=terminology, protocol="biosyn")
>>> run.value("accuracy@1")
1.0
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import (
    Dictionary,
    FoundConcept,
    FoundName,
    as_explained,
    build_dictionary,
)
from canonym.evaluation.metrics import columns
from canonym.evaluation.outcomes import RankedAnswer, ScoredMention, answers_of_link, read_answers
from canonym.evaluation.protocols import Protocol, choose_protocol
from canonym.evaluation.questions import Dropped, Question, QuestionSet, make_questions
from canonym.evaluation.slices import (
    LINKER_METRICS,
    METRICS_SHOWN,
    Figure,
    explain_readings,
    figures,
)
from canonym.evaluation.software import software_of
from canonym.io.files import file_digest
from canonym.io.processes import Reopened, check_workers, ordered_map
from canonym.linker import Linker
from canonym.linking.links import check_options
from canonym.mentions.abbreviations import find_abbreviations
from canonym.mentions.documents import check_document
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds, IdCensus
from canonym.text import biosyn_normal
from canonym.types import Document, Encoder

_log = logging.getLogger(__name__)
_SHARES = 4  # parts of the strings for each process, which take different times
_Hits: TypeAlias = dict[str, tuple[tuple[FoundName, ...], tuple[FoundConcept, ...]]]


class EvaluationOptions(TypedDict, total=False):
    """Further options of `evaluate_corpus`. Every key is optional."""

    weights: Sequence[float] | None
    split: str | None
    same: str | None
    types: Sequence[str]
    corrections: Mapping[str, str] | None
    files: Sequence[str | Path]
    abbreviations: str
    metrics: Sequence[str]
    k: int
    seed: int
    min_confidence: float | None
    keep_negated: bool
    prefer: Sequence[str]
    second_look: str | None
    workers: int
    indexed: Callable[..., Dictionary]


@dataclass(frozen=True, slots=True)
class _Settings:
    """The same options with their defaults."""

    weights: Sequence[float] | None = None
    split: str | None = None
    same: str | None = None
    types: Sequence[str] = ()
    corrections: Mapping[str, str] | None = None
    files: Sequence[str | Path] = ()
    abbreviations: str = "auto"
    metrics: Sequence[str] = ()
    k: int = 20
    seed: int = 0
    min_confidence: float | None = None
    keep_negated: bool = False
    prefer: Sequence[str] = ()
    second_look: str | None = None
    workers: int = 1
    indexed: Callable[..., Dictionary] = build_dictionary

    def __post_init__(self) -> None:
        check_options({"k": self.k, "seed": self.seed, "prefer": self.prefer})
        check_options({"min_confidence": self.min_confidence, "keep_negated": self.keep_negated})
        check_options({"second_look": self.second_look})
        object.__setattr__(self, "workers", check_workers(self.workers))


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of an evaluation.

    Parameters
    ----------
    protocol : Protocol
        Its rules are ``protocol.rules``.
    part : str
        The evaluated part of the corpus, such as ``"test"``.
    questions : tuple of Question
        In the order of the corpus.
    answers : tuple of tuple of RankedAnswer
        One per part of each question.
    scored : dict of str to tuple of ScoredMention
        By reading. Published numbers compare with the first reading.
    dropped : tuple of Dropped
        Mentions without a question, by reason.
    ids : IdCensus
        How the gold ids were understood.
    headline : tuple of Figure
        Figures of all readings on the slices that separate systems.
    fingerprints : dict
        Identities of corpus, terminology, index and encoders, with the seed and the versions of
        the software. ``"abbreviations"`` is the engine that found them; None without texts.
    seconds : dict of str to float
        Time of ``"preparing"``, ``"indexing"``, ``"linking"`` and ``"evaluating"``.
    concept_ids : ConceptIds
        Finds the concepts of further ids, such as those of another tool.
    learned : tuple of (str, str)
        Names that training mentions added to the terminology, with the id of their concept.
    notes : tuple of str
        Further remarks, such as on the order of the candidates.
    """

    protocol: Protocol
    part: str
    questions: tuple[Question, ...]
    answers: tuple[tuple[RankedAnswer, ...], ...]
    scored: dict[str, tuple[ScoredMention, ...]]
    dropped: tuple[Dropped, ...]
    ids: IdCensus
    headline: tuple[Figure, ...]
    fingerprints: dict[str, Any]
    seconds: dict[str, float]
    concept_ids: ConceptIds
    learned: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def remarks(self) -> list[str]:
        """Sentences that a reader of the figures has to know."""
        left_out = [f"{len(d.mentions):,} mentions {d.reason} were left out" for d in self.dropped]
        return [*explain_readings(self.headline), *self.notes, *left_out, *self.ids.remarks()]

    def figure(self, metric: str, *, reading: str | None = None, slice: str = "all") -> Figure:
        """Return a figure of the headline, of the first reading by default.

        Raises
        ------
        InvalidInput
            If the headline has no such figure.
        """
        reading = reading or self.protocol.readings[0]
        for figure in self.headline:
            if (figure.slice, figure.reading, figure.metric) == (slice, reading, metric):
                return figure
        raise InvalidInput(
            f"the headline has no {metric!r} of {slice!r} in the reading {reading!r}; it has "
            + ", ".join(dict.fromkeys(figure.metric for figure in self.headline))
        )

    def value(self, metric: str, *, reading: str | None = None, slice: str = "all") -> float:
        """Return the value of `figure`."""
        return self.figure(metric, reading=reading, slice=slice).value

    def mentions(self, k: int = 5) -> list[dict[str, Any]]:
        """Return one plain dict per question: the mention, its gold ids, and the candidates."""
        right = {
            name: columns(scored, "accuracy@1")[:, 0].astype(bool).tolist()
            for name, scored in self.scored.items()
        }
        return [
            {
                "document": question.mention.document_id,
                "start": question.mention.start,
                "end": question.mention.end,
                "mention": question.mention.text,
                "type": question.mention.type,
                "gold": [sorted(part) for part in question.gold],
                "right": {name: values[i] for name, values in right.items()},
                "parts": [
                    {
                        "searched": answer.searched,
                        "nil": answer.nil,
                        "concepts": [concept._asdict() for concept in answer.concepts[:k]],
                    }
                    for answer in answers
                ],
            }
            for i, (question, answers) in enumerate(zip(self.questions, self.answers, strict=True))
        ]

    def to_dict(self, *, mentions: bool = False, seconds: bool = False) -> dict[str, Any]:
        """Return the run as plain dicts and lists, ready for JSON.

        Parameters
        ----------
        mentions : bool
            Whether to add questions and answers, mention by mention.
        seconds : bool
            Whether to add the times. They differ from run to run, nothing else does.
        """
        return {
            "protocol": self.protocol.to_dict(),
            "part": self.part,
            "n": len(self.questions),
            "dropped": {reason: len(some) for reason, some in self.dropped},
            "ids": self.ids.to_dict(),
            "remarks": self.remarks,
            "headline": [figure.to_dict() for figure in self.headline],
            "fingerprints": self.fingerprints,
            **({"mentions": self.mentions()} if mentions else {}),
            **({"seconds": dict(self.seconds)} if seconds else {}),
        }


def evaluate_corpus(
    documents: Iterable[Document],
    *,
    terminology: Terminology | None = None,
    encoders: Sequence[str | Encoder] = ("chargrams",),
    linker: Linker | None = None,
    protocol: str | Protocol = "biosyn",
    part: str = "test",
    training: Iterable[Document] = (),
    **options: Unpack[EvaluationOptions],
) -> Run:
    """Evaluate a system on an annotated corpus.

    Parameters
    ----------
    documents : iterable of Document
        The evaluated part of the corpus.
    terminology : Terminology, optional
        The target of linking; that of `linker` by default.
    encoders : sequence of str or Encoder
        See `canonym.linker.Linker.build`. No encoder at all is verbatim look-up. Under ``raw`` a
        linker brings its own.
    linker : Linker, optional
        Evaluated unchanged under ``raw``; the other protocols index their own names.
    protocol : str or Protocol
        A key of `canonym.evaluation.protocols.PROTOCOLS`.
    part : str
        Name of the part for the report.
    training : iterable of Document
        The parts before this one: train for dev, train and dev for test.
    weights : sequence of float, optional
        One per encoder, see `canonym.linker.Linker.build`.
    split, same : str, optional
        Variants, see `canonym.evaluation.protocols.choose_protocol`.
    types : sequence of str
        Only mentions of these types.
    corrections : mapping of str to str, optional
        Corrections of misspelt words in prepared strings, as BioSyn has for NCBI disease.
    files : sequence of path
        Files of the corpus; their digests go into the fingerprints.
    abbreviations : str
        The engine that finds abbreviations in a document, ``"auto"`` by default.
    metrics : sequence of str
        Further names of `canonym.evaluation.metrics` for the headline.
    k : int
        Number of candidates, 20 by default.
    seed : int
        Of the bootstrap, 0 by default.
    min_confidence, keep_negated, prefer, second_look
        Under ``raw``: as `canonym.LinkOptions` has them, with the same defaults.
    workers : int
        Processes that search; 1 by default, 0 for one per core. The run is the same.
    indexed : callable
        Makes the dictionary. A caller of several evaluations can cache some.

    Returns
    -------
    Run
        Questions, scored mentions, figures, and everything that was dropped.

    Raises
    ------
    InvalidInput
        If there is nothing to evaluate, neither terminology nor linker, or no such variant.
    """
    settings, began = _Settings(**options), time.perf_counter()
    seconds: dict[str, float] = {}

    def stop(stage: str) -> None:
        seconds[stage] = time.perf_counter() - began - sum(seconds.values())

    rules = choose_protocol(protocol, split=settings.split, same=settings.same)
    if terminology is None:
        if linker is None:
            raise InvalidInput("neither a terminology nor a linker was given; one is needed")
        terminology = linker.terminology
    for name in ("prefer", "second_look"):
        if getattr(settings, name) and rules.prepared:
            raise InvalidInput(f"{name} goes with the protocol 'raw', not with {rules.name!r}")
    corpus, before = (list(map(check_document, part)) for part in (documents, training))
    ids = ConceptIds(terminology)
    question_set = _ask(corpus, before, ids, rules, settings)
    stop("preparing")
    if rules.prepared:
        dictionary = settings.indexed(
            terminology,
            question_set.learned,
            encoders=encoders,
            weights=settings.weights,
            as_written=rules.as_written,
        )
        stop("indexing")
        answered = _search(dictionary, question_set, settings)
    else:
        used = linker or Linker.build(
            terminology,
            encoders=encoders,
            weights=settings.weights,
            abbreviations=settings.abbreviations,
        )
        stop("indexing")
        answered = _link(used, terminology, corpus, question_set, settings)
    stop("linking")
    _log.info("linked %s mentions by the protocol %s", len(question_set.questions), rules.name)
    scored, headline = _score(answered, rules, settings)
    stop("evaluating")
    return Run(
        *(rules, part, answered.question_set.questions, answered.answers, scored),
        *(question_set.dropped, ids.census(), headline),
        _identify(corpus, before, terminology, answered, rules, settings),
        seconds,
        ids,
        question_set.learned,
    )


class _Answered(NamedTuple):
    """Answers to questions, and how many concepts have each string as a name."""

    question_set: QuestionSet
    answers: tuple[tuple[RankedAnswer, ...], ...]
    named: dict[str, int]
    linker: Linker


def _ask(
    corpus: Sequence[Document],
    before: Sequence[Document],
    ids: ConceptIds,
    protocol: Protocol,
    settings: _Settings,
) -> QuestionSet:
    question_set = make_questions(
        corpus,
        ids,
        protocol,
        training=before,
        types=settings.types,
        corrections=settings.corrections,
        engine=settings.abbreviations,
    )
    if not question_set.questions:
        raise InvalidInput(
            f"the protocol {protocol.name!r} leaves no mention to evaluate: {question_set.left_out}"
        )
    return question_set


def _search(dictionary: Dictionary, question_set: QuestionSet, settings: _Settings) -> _Answered:
    """Look the strings of questions up in a dictionary."""
    question_set = as_explained(question_set, dictionary)
    questions = question_set.questions
    answers = _answers(dictionary, questions, settings.k, workers=settings.workers)
    texts = {text for question in questions for text in (*question.parts, question.text)}
    named = {text: len(dictionary.concepts_named(text)) for text in texts}
    return _Answered(question_set, answers, named, dictionary.linker)


def _answers(
    dictionary: Dictionary, questions: Sequence[Question], k: int, *, workers: int
) -> tuple[tuple[RankedAnswer, ...], ...]:
    """Rank names and concepts of every part of each question, in that many processes."""
    strings = list(dict.fromkeys(text for question in questions for text in question.parts))
    n = _SHARES * workers if workers > 1 else 1
    hits: _Hits = {}
    for of_share in ordered_map(
        _Find(dictionary, k), (strings[number::n] for number in range(n)), workers=workers
    ):
        hits |= of_share
    return tuple(
        tuple(RankedAnswer(text, *hits[text]) for text in question.parts) for question in questions
    )


class _Find:
    """Looks strings up in a dictionary, in whatever process it is called."""

    def __init__(self, dictionary: Dictionary, k: int) -> None:
        self._dictionary = Reopened(dictionary)
        self._k = k

    def __call__(self, strings: Sequence[str]) -> _Hits:
        return self._dictionary.value.find(strings, self._k)


def _link(
    linker: Linker,
    terminology: Terminology,
    corpus: Sequence[Document],
    question_set: QuestionSet,
    settings: _Settings,
) -> _Answered:
    """Link the mentions that have a question, in their documents."""
    waiting = deque(question.mention for question in question_set.questions)
    documents = []
    for document in corpus:
        # Questions have the order of the corpus, so identity tells which mentions have one.
        mentions = tuple(
            waiting.popleft() for mention in document.mentions if waiting and mention is waiting[0]
        )
        documents.append(replace(document, mentions=mentions))
    linked = linker.link_documents(
        documents,
        k=settings.k,
        min_confidence=settings.min_confidence,
        keep_negated=settings.keep_negated,
        prefer=settings.prefer,
        second_look=settings.second_look,
        workers=settings.workers,
    )
    answers = tuple(answers_of_link(link) for _, links in linked for link in links)
    named = _count_concepts(terminology, question_set.questions)
    return _Answered(question_set, answers, named, linker)


def _count_concepts(terminology: Terminology, questions: Sequence[Question]) -> dict[str, int]:
    """Count the concepts that have each question's text as a name."""
    owners: dict[str, set[int]] = {question.text: set() for question in questions}
    texts = chain.from_iterable(terminology.iter_texts())
    for text, concept in zip(texts, terminology.concept_of_row().tolist(), strict=True):
        normal = biosyn_normal(text)
        if normal in owners:
            owners[normal].add(concept)
    return {text: len(concepts) for text, concepts in owners.items()}


def _score(
    answered: _Answered, protocol: Protocol, settings: _Settings
) -> tuple[dict[str, tuple[ScoredMention, ...]], tuple[Figure, ...]]:
    """Score the answers in every reading, and return the figures of the headline."""
    questions, answers = answered.question_set.questions, answered.answers
    scored = {
        reading: read_answers(questions, answers, reading, concepts_named=answered.named)
        for reading in protocol.readings
    }
    shown = METRICS_SHOWN if protocol.prepared else LINKER_METRICS
    metrics = tuple(dict.fromkeys((*shown, *settings.metrics)))
    return scored, figures(scored, metrics=metrics, seed=settings.seed)


# --- identities -----------------------------------------------------------------------------------


def corpus_digest(documents: Iterable[Document]) -> str:
    """Hash the content of documents with SHA-256: ids, texts, and all fields of mentions."""
    digest = hashlib.sha256()
    for document in documents:
        mentions = [
            [m.text, m.start, m.end, m.type, list(m.ids), m.rule] for m in document.mentions
        ]
        line = json.dumps([document.id, document.text, mentions], ensure_ascii=True)
        digest.update(line.encode("ascii") + b"\n")
    return digest.hexdigest()


def _identify(
    corpus: Sequence[Document],
    before: Sequence[Document],
    terminology: Terminology,
    answered: _Answered,
    protocol: Protocol,
    settings: _Settings,
) -> dict[str, Any]:
    linker = answered.linker
    engine = _engine([*corpus, *before], linker, protocol, settings)
    return {
        "corpus": {
            "digest": corpus_digest(corpus),
            "documents": len(corpus),
            "training_digest": corpus_digest(before) if before else None,
            "training_documents": len(before),
            "types": list(settings.types),
            "files": {Path(file).name: file_digest(file) for file in settings.files},
        },
        "terminology": {
            "digest": terminology.digest,
            "n_concepts": terminology.n_concepts,
            "n_names": terminology.n_names,
        },
        "index": {
            "fingerprint": linker.fingerprint,
            "terminology_digest": linker.terminology.digest,
            "encoders": linker.manifest["encoders"],
            "settings": linker.settings,
        },
        "learned": len(answered.question_set.learned),
        "corrections": len(settings.corrections or {}),
        "abbreviations": engine,
        "k": settings.k,
        "seed": settings.seed,
        "min_confidence": settings.min_confidence,
        "keep_negated": settings.keep_negated,
        "prefer": list(settings.prefer),
        **({"second look": settings.second_look} if settings.second_look else {}),
        "software": software_of(linker, engine),
    }


def _engine(
    documents: Iterable[Document], linker: Linker, protocol: Protocol, settings: _Settings
) -> str | None:
    """Return the engine that found the abbreviations of the documents; None where none did."""
    has_text = any(document.text for document in documents)
    if protocol.split == "file" or protocol.as_written or not has_text:
        return None
    engine = settings.abbreviations if protocol.prepared else linker.settings["abbreviations"]
    return find_abbreviations("", engine=engine).engine
