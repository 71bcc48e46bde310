"""One evaluation from documents to figures, with everything that identifies it.

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
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import canonym
from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import Dictionary, as_explained, build_dictionary
from canonym.evaluation.figures import LINKER_METRICS, METRICS_SHOWN, figures
from canonym.evaluation.outcome import Run
from canonym.evaluation.outcomes import Answer, answers_of_link, read_answers
from canonym.evaluation.protocols import Protocol, choose_protocol
from canonym.evaluation.questions import Asked, Question, ask
from canonym.evaluation.reranked import RerankedDictionary, check_ordering
from canonym.io.files import file_digest
from canonym.linker import Linker
from canonym.linking.reranker import Reranker
from canonym.mentions.abbreviations import find_abbreviations
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds
from canonym.text import biosyn_normal
from canonym.types import Document, Encoder

__all__ = ["Run", "corpus_digest", "evaluate_corpus"]


def evaluate_corpus(
    documents: Iterable[Document],
    *,
    terminology: Terminology | None = None,
    encoders: Sequence[str | Encoder] = ("chargrams",),
    weights: Sequence[float] | None = None,
    linker: Linker | None = None,
    protocol: str | Protocol = "biosyn",
    split: str | None = None,
    same: str | None = None,
    part: str = "test",
    training: Iterable[Document] = (),
    types: Sequence[str] = (),
    corrections: Mapping[str, str] | None = None,
    files: Sequence[str | Path] = (),
    abbreviations: str = "auto",
    metrics: Sequence[str] = (),
    k: int = 20,
    seed: int = 0,
    min_score: float | None = None,
    order: str | Path | Reranker = "nearest",
    context: bool = True,
    indexed: Callable[..., Dictionary] = build_dictionary,
) -> Run:
    """Evaluate on an annotated corpus.

    Parameters
    ----------
    documents : iterable of Document
        The evaluated part of the corpus.
    terminology : Terminology, optional
        What is linked to; that of `linker` by default.
    encoders, weights
        As `canonym.linker.Linker.build` takes them; no encoder at all is verbatim look-up. Not
        used under ``raw`` with a linker.
    linker : Linker, optional
        Evaluated as it is under ``raw``; the other protocols index their own names.
    protocol : str or Protocol
        A key of `canonym.evaluation.protocols.PROTOCOLS`.
    split, same : str, optional
        Variants, see `canonym.evaluation.protocols.choose_protocol`.
    part : str
        What to call `documents` in the report.
    training : iterable of Document
        The parts that come before: train for dev, train and dev for test.
    types : sequence of str
        Only mentions of these types.
    corrections : mapping of str to str, optional
        Words that are spelt otherwise in prepared strings, as BioSyn does for NCBI disease.
    files : sequence of path
        Files of the corpus, whose digests become part of the fingerprints.
    abbreviations : str
        What finds the abbreviations of a document.
    metrics : sequence of str
        Names of `canonym.evaluation.metrics` that the headline has beside its own.
    k : int
        Candidates wanted.
    seed : int
        Of the bootstrap.
    min_score : float, optional
        Under ``raw``: mentions whose best candidate scores less are NIL.
    order : str, Path or Reranker
        Of the nearest concepts, under protocols other than ``raw``; as
        `canonym.linking.reranker.open_order` takes it. A fitted one knows the training mentions
        as earlier annotations, where the protocol has them as names.
    context : bool
        Whether that order looks at the other mentions of a document.
    indexed : callable
        Makes the dictionary; a caller of several evaluations may remember some.

    Returns
    -------
    Run
        Questions, cases, figures, and everything that was dropped.

    Raises
    ------
    InvalidInput
        If there is nothing to evaluate, neither terminology nor linker, or no such variant.
    """
    chosen = choose_protocol(protocol, split=split, same=same)
    if terminology is None:
        if linker is None:
            raise InvalidInput("neither a terminology nor a linker was given; one is needed")
        terminology = linker.terminology
    check_ordering(order, chosen)
    clock = _Clock()
    corpus, before = list(documents), list(training)
    ids = ConceptIds(terminology)
    asked = ask(
        corpus,
        ids,
        chosen,
        training=before,
        types=types,
        corrections=corrections,
        engine=abbreviations,
    )
    if not asked.questions:
        told = ", ".join(f"{count:,} {reason}" for reason, count in asked.counts().items() if count)
        raise InvalidInput(f"the protocol {chosen.name!r} leaves no mention to evaluate: {told}")
    clock.stop("preparing")
    ranked: Dictionary | RerankedDictionary | None = None
    if chosen.prepared:
        dictionary = indexed(
            terminology,
            asked.learned,
            encoders=encoders,
            weights=weights,
            as_written=chosen.as_written,
        )
        used = dictionary.linker
        clock.stop("indexing")
        asked = as_explained(asked, dictionary)
        ranked = (
            dictionary
            if order == "nearest"
            else RerankedDictionary.open(order, dictionary, asked, context=context)
        )
        answers = (
            ranked.answers(asked, k)
            if isinstance(ranked, RerankedDictionary)
            else _search(ranked, asked, k)
        )
        texts = {text for one in asked.questions for text in (*one.parts, one.text)}
        named = {text: len(dictionary.concepts_named(text)) for text in texts}
    else:
        used = linker or Linker.build(
            terminology, encoders=encoders, weights=weights, abbreviations=abbreviations
        )
        clock.stop("indexing")
        answers = _link(used, corpus, asked, k=k, min_score=min_score)
        named = _count_concepts(terminology, asked.questions)
    clock.stop("linking")
    cases = {
        reading: read_answers(asked.questions, answers, reading, concepts_named=named)
        for reading in chosen.readings
    }
    shown = METRICS_SHOWN if chosen.prepared else LINKER_METRICS
    headline = figures(cases, metrics=tuple(dict.fromkeys((*shown, *metrics))), seed=seed)
    clock.stop("evaluating")
    fingerprints = {
        "corpus": {
            "digest": corpus_digest(corpus),
            "documents": len(corpus),
            "training_digest": corpus_digest(before) if before else None,
            "training_documents": len(before),
            "types": list(types),
            "files": {Path(file).name: file_digest(file) for file in files},
        },
        **_identify(terminology, used),
        "learned": len(asked.learned),
        "corrections": len(corrections or {}),
        "abbreviations": _engine(abbreviations),
        "k": k,
        "seed": seed,
        "min_score": min_score,
        "reranker": ranked.digest if isinstance(ranked, RerankedDictionary) else None,
        "version": canonym.__version__,
    }
    return Run(
        chosen,
        part,
        asked.questions,
        answers,
        cases,
        asked.dropped,
        ids.census(),
        headline,
        fingerprints,
        clock.seconds,
        ids,
        asked.learned,
        ranked.notes if isinstance(ranked, RerankedDictionary) else (),
    )


def corpus_digest(documents: Iterable[Document]) -> str:
    """Hash the content of documents with SHA-256: ids, texts, and all that mentions have."""
    digest = hashlib.sha256()
    for document in documents:
        mentions = [
            [m.text, m.start, m.end, m.type, list(m.ids), m.rule] for m in document.mentions
        ]
        line = json.dumps([document.id, document.text, mentions], ensure_ascii=True)
        digest.update(line.encode("ascii") + b"\n")
    return digest.hexdigest()


class _Clock:
    """Adds up the seconds between one stop and the next, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def stop(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = now - self._last
        self._last = now


def _search(dictionary: Dictionary, asked: Asked, k: int) -> tuple[tuple[Answer, ...], ...]:
    found = dictionary.find([text for one in asked.questions for text in one.parts], k)
    return tuple(tuple(Answer(text, *found[text]) for text in one.parts) for one in asked.questions)


def _link(
    linker: Linker, corpus: Sequence[Document], asked: Asked, *, k: int, min_score: float | None
) -> tuple[tuple[Answer, ...], ...]:
    """Link the mentions that are asked, in their documents."""
    waiting = deque(question.mention for question in asked.questions)
    documents = []
    for document in corpus:
        # Questions keep the order of the corpus, so that they can be dealt out again by identity.
        wanted = tuple(
            waiting.popleft() for mention in document.mentions if waiting and mention is waiting[0]
        )
        documents.append(replace(document, mentions=wanted))
    return tuple(
        answers_of_link(link)
        for _, links in linker.link_documents(documents, k=k, min_score=min_score)
        for link in links
    )


def _count_concepts(terminology: Terminology, questions: Sequence[Question]) -> dict[str, int]:
    """Count the concepts that have each question's text as a name."""
    owners: dict[str, set[int]] = {question.text: set() for question in questions}
    concepts = iter(terminology.concept_of_row().tolist())
    for texts in terminology.iter_texts():
        for text, concept in zip(texts, concepts, strict=False):
            normal = biosyn_normal(text)
            if normal in owners:
                owners[normal].add(concept)
    return {text: len(found) for text, found in owners.items()}


def _identify(terminology: Terminology, linker: Linker) -> dict[str, Any]:
    return {
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
    }


def _engine(abbreviations: str) -> str:
    """Return the engine that finds abbreviations, whatever chose it."""
    return find_abbreviations("", engine=abbreviations).engine
