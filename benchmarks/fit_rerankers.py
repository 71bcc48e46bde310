"""Fit the re-rankers that come with canonym, and say what they are worth.

A re-ranker fitted to mentions that its encoders know trusts them too much: the dev parts of NCBI
disease and BC5CDR disease are looked up with encoders that have read the train parts alone
(--train), and, where --dev names some, the train parts with encoders that have read the dev parts
alone. Every distinct string of a document is looked up in MEDIC three times: with the mentions of
the other part as names, as BioSyn's protocol has it, without them, and as a linker does with its
sieves. What the re-ranker is worth is predicted for a fifth of the strings from the others. Test
parts are not touched.

    canonym train default --part train -o default-train
    canonym train default --part dev -o default-dev
    canonym train contextual --part train --neighbours default-train --encoder FOLDER \\
        -o contextual-train
    python benchmarks/fit_rerankers.py --train default=default-train --dev default=default-dev
    python benchmarks/fit_rerankers.py --train default=default-train \\
        --train contextual=contextual-train

For both encoders together the train parts were tried as well, with a contextual encoder of the dev
parts: of the six figures of the dev parts the mean was 90.4 instead of 90.7 %, NCBI disease by 0.5
better and BC5CDR disease by 0.6 worse where training mentions are names.

Beside the re-ranker goes the confidence of what it puts first, fitted to the mentions as a linker
finds them, ordered by re-rankers that do not know their strings. Both are written to
``src/canonym/models/rerankers``, and what they are worth into ``results/rerankers.json``.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from canonym import Document, Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.evaluation.dictionary import build_dictionary
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import make_questions, read_corrections
from canonym.linking.confidence import confidence_features, fit_model
from canonym.linking.features import Decisions, with_closeness, with_company
from canonym.linking.fitting import asked_of, judged, observe_links
from canonym.linking.reranker import POOL, Reranker, confidence_beside, shipped_file
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from canonym.types import Encoder, Link
from models.lessons import Lesson, fit_to_questions, lessons_of, weighed
from record import data_folder, save
from reproduce.data import Shelf

FOLDS = 5
PARTS = ("train", "dev")
OTHER = {"train": "dev", "dev": "train"}
CORPORA: dict[str, dict[str, Any]] = {
    "ncbi-disease": {"corrections": "medic-2012/ncbi-spell-check.txt"},
    "bc5cdr": {"types": ["Disease"]},
}
MEDIC = "medic-2012/medic_06Jul2012.txt"


def fold_of(text: str) -> int:
    """Return which fifth of the strings one is in."""
    return zlib.crc32(text.encode()) % FOLDS


class Asked(NamedTuple):
    """A part of a question: its lesson, and the ids of each candidate's name."""

    lesson: Lesson
    carried: tuple[frozenset[str], ...]

    @property
    def fold(self) -> int:
        """Which fifth of the strings it is in, under every condition the same."""
        return fold_of(self.lesson.link.searched)


def in_dictionary(
    terminology: Terminology,
    documents: list[Document],
    training: list[Document],
    encoders: Sequence[Encoder],
    *,
    options: dict[str, Any],
) -> list[Asked]:
    """Look strings up as BioSyn's protocol does, with the mentions of other documents as names."""
    ids = ConceptIds(terminology)
    asked = make_questions(documents, ids, choose_protocol("biosyn"), training=training, **options)
    dictionary = build_dictionary(terminology, asked.learned, encoders=encoders)
    return [
        Asked(
            lesson,
            tuple(frozenset(dictionary.concepts_named(c.name)) for c in lesson.link.candidates),
        )
        for lesson in lessons_of(dictionary, asked)
    ]


def documents_of(data: Path, corpus: str) -> dict[str, list[Document]]:
    """Read the parts of a corpus."""
    return {part: list(read_pubtator(data / corpus / f"{part}.pubtator")) for part in PARTS}


def looked_up(
    linker: Linker, encoders: Sequence[Encoder], data: Path, corpus: str, read: str
) -> dict[str, list[Asked]]:
    """Look the part that encoders have not read up, in all three ways."""
    documents, given = documents_of(data, corpus), CORPORA[corpus]
    part, options = OTHER[read], dict(given)
    if "corrections" in given:
        options["corrections"] = read_corrections(data / given["corrections"])
    found = {}
    for what, training in (("with mentions", documents[read]), ("dictionary alone", [])):
        found[f"{corpus} {part}, {what}"] = in_dictionary(
            linker.terminology, documents[part], training, encoders, options=options
        )
    asked = as_linked(linker, documents[part], given.get("types", ()))
    return found | {f"{corpus} {part}, as linked": asked}


def as_linked(linker: Linker, documents: list[Document], types: Sequence[str]) -> list[Asked]:
    """Look mentions up as a linker does.

    Parts of a composite are left out: annotators do not say which of its concepts each stands for.
    """
    gold: dict[tuple[str, int], Counter[frozenset[str]]] = {}
    links: dict[tuple[str, int], Link] = {}
    for one in observe_links(linker, documents, types=types):
        if one.decided:
            where = one.link.searched, one.document
            gold.setdefault(where, Counter())[one.gold] += 1
            links.setdefault(where, one.link)
    lessons = [
        Lesson(links[where], times.most_common(1)[0][0], Decisions(), times.total())
        for where, times in gold.items()
    ]
    return [
        Asked(one, tuple(frozenset([c.id]) for c in one.link.candidates))
        for one in weighed(lessons)
    ]


def right(asked: Sequence[Asked], order: Sequence[int]) -> dict[str, float]:
    """Return the percentages of occurrences whose chosen candidate is right."""
    times = np.array([one.lesson.times for one in asked], dtype=np.float64)
    strict = [
        a.lesson.link.candidates[i].id in a.lesson.gold for a, i in zip(asked, order, strict=True)
    ]
    lenient = [bool(a.carried[i] & a.lesson.gold) for a, i in zip(asked, order, strict=True)]
    return {
        "lenient": round(100 * float(np.average(lenient, weights=times)), 2),
        "strict": round(100 * float(np.average(strict, weights=times)), 2),
    }


def sureness(
    linker: Linker,
    documents: list[Document],
    types: Sequence[str],
    by_fold: Sequence[Reranker],
) -> tuple[list[Any], list[bool]]:
    """Return what confidence is taken from, and whether links are right, for every mention."""
    features, judgements = [], []
    asked, find = asked_of(linker.terminology, documents, types)
    for document, links in linker.link_documents(asked, k=POOL):
        together = with_company([with_closeness(linker.lookup, link) for link in links])
        for mention, link in zip(document.mentions, together, strict=True):
            gold = [find(id_) or "" for id_ in mention.ids]
            for part, _ in judged(link, gold, mention.rule):
                ordered = by_fold[fold_of(part.searched)].apply(part, 2)
                split = replace(link, parts=(ordered,)) if link.parts else ordered
                for one, true in judged(split, gold, mention.rule):
                    features.append(confidence_features(one))
                    judgements.append(true)
    return features, judgements


def first_of(asked: Asked, reranking: Reranker) -> int:
    """Return the place of the candidate that a re-ranker puts first."""
    known = replace(reranking, decisions=asked.lesson.decisions)
    chosen = known.apply(asked.lesson.link, 1).candidates[0].id
    return [one.id for one in asked.lesson.link.candidates].index(chosen)


def cross_validated(
    conditions: dict[str, list[Asked]], by_fold: Sequence[Reranker]
) -> dict[str, dict[str, Any]]:
    """Predict every fifth of the strings from the others."""
    order = {name: [0] * len(asked) for name, asked in conditions.items()}
    for fold, fitted in enumerate(by_fold):
        for name, asked in conditions.items():
            for place, one in enumerate(asked):
                if one.fold == fold:
                    order[name][place] = first_of(one, fitted)
    return {
        name: {
            "strings": len({one.lesson.link.searched for one in asked}),
            "before": right(asked, [0] * len(asked)),
            "after": right(asked, order[name]),
        }
        for name, asked in conditions.items()
    }


def main() -> None:
    """Look up, fit, and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for part in PARTS:
        what = f"an encoder that has read the {part} part alone"
        parser.add_argument(
            f"--{part}", action="append", default=[], metavar="NAME=SPEC", help=what
        )
    parser.add_argument("--output", type=Path, help="another folder for the re-ranker")
    arguments = parser.parse_args()
    data = data_folder()
    shelf = Shelf(data)  # remembers vectors
    named = {part: dict(one.split("=", 1) for one in getattr(arguments, part)) for part in PARTS}
    names = tuple(named["train"])
    if not names or tuple(named["dev"]) not in {(), names}:
        raise SystemExit("--train names encoders, and --dev none or the same in the same order")
    terminology = Terminology.build(read_records(data / MEDIC))
    conditions: dict[str, list[Asked]] = {}
    with ExitStack() as stack:
        linkers: dict[str, Linker] = {}
        for read in [part for part in PARTS if named[part]]:
            encoders = [shelf.encoder(spec) for spec in named[read].values()]
            folder = Path(stack.enter_context(TemporaryDirectory())) / "index"
            linkers[read] = Linker.build(terminology, encoders=encoders, folder=folder)
            for corpus in CORPORA:
                conditions |= looked_up(linkers[read], encoders, data, corpus, read)
        called = linkers["train"].encoder_names
        every = [one for asked in conditions.values() for one in asked]
        by_fold = [
            fit_to_questions([one.lesson for one in every if one.fold != fold], called)
            for fold in range(FOLDS)
        ]
        worth = cross_validated(conditions, by_fold)
        features, judgements = [], []
        for read, linker in linkers.items():
            for corpus, given in CORPORA.items():
                documents = documents_of(data, corpus)[OTHER[read]]
                found = sureness(linker, documents, given.get("types", ()), by_fold)
                features += found[0]
                judgements += found[1]
    fitted = fit_to_questions([one.lesson for one in every], called).renamed(names)
    sure = fit_model(np.array(features), np.array(judgements))
    path = shipped_file(names)
    path = arguments.output / path.name if arguments.output else path
    path.parent.mkdir(parents=True, exist_ok=True)
    fitted.save(path)
    sure.save(confidence_beside(path))
    result = {path.stem: {"digest": fitted.digest, "lessons": len(every), **worth}}
    print(json.dumps(result, indent=1))
    if not arguments.output:
        files = [data / corpus / f"{part}.pubtator" for corpus in CORPORA for part in PARTS]
        written = Path(__file__).parent / "results" / "rerankers.json"
        before = json.loads(written.read_text(encoding="utf-8")) if written.is_file() else {}
        kept = {name: one for name, one in before.items() if "default" in name}
        packages = ["numpy", "scipy"]
        save("rerankers", kept | result, packages=packages, data=[data / MEDIC, *files])


if __name__ == "__main__":
    main()
