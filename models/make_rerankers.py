"""Fit the shipped re-rankers: ``python -m models.make_rerankers``.

A re-ranker that is fitted to mentions its encoders have read trusts them too much. So the dev parts
of NCBI disease and BC5CDR disease are looked up with encoders that have read the train parts
(--train), and the train parts with encoders that have read the dev parts (--dev, optional). Every
distinct string of a document is looked up in MEDIC three times: with the mentions of the other part
as names as in BioSyn's protocol, without them, and as a linker does with its sieves. Accuracy is
predicted for a fifth of the strings from the others. Test parts are not touched.

For both encoders together the train parts were tried as well, with a contextual encoder of the dev
parts. The mean of six dev figures was 90.4 instead of 90.7 %: NCBI disease 0.5 better, BC5CDR
disease 0.6 worse where training mentions are names.
"""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click
import numpy as np

from canonym import Document, Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import Dictionary, build_dictionary
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.questions import QuestionSet, make_questions, read_corrections
from canonym.evaluation.reranked import annotations_of, compare_documents
from canonym.linking.features import (
    AnnotationCounts,
    Compared,
    FloatArray,
    candidate_features,
    feature_names,
)
from canonym.linking.fitting import (
    ObservedDraft,
    empty_pools,
    fill_pool,
    observe_drafts,
)
from canonym.linking.reranker import (
    Reranker,
    shipped_file,
)
from canonym.linking.search import BatchHits, Draft
from canonym.ranking.additive_model import fit_additive_model
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from canonym.types import Encoder
from models.run import CONTEXT, Command
from models.sources import SOURCES
from record import RESULTS, save
from reproduce.data import Shelf

FOLDS = 5
OTHER = {"train": "dev", "dev": "train"}
CORPORA: dict[str, dict[str, Any]] = {
    "ncbi-disease": {"corrections": "medic-2012/ncbi-spell-check.txt"},
    "bc5cdr": {"types": ["Disease"]},
}
MEDIC = SOURCES["MEDIC 2012"]
_KNOTS, _RIDGE, _SMOOTHNESS = 8, 30.0, 8.0  # chosen on dev parts by cross-validation


class TrainingExample(NamedTuple):
    """A string of a document with its hits, the right concepts and past annotations.

    The string stands there `times` times; the example counts as `weight` mentions.
    """

    compared: Compared
    gold: frozenset[str]
    annotations: AnnotationCounts
    times: int = 1
    weight: float = 1.0

    @property
    def draft(self) -> Draft:
        """The string with its hits."""
        return self.compared.candidates.drafts[0]

    @property
    def found(self) -> BatchHits:
        """All that was found beside it."""
        return self.compared.candidates.found

    @property
    def ids(self) -> list[str]:
        """The concepts of the hits."""
        return [self.found.concepts[hit.concept].id for hit in self.draft.hits]

    def features(self, encoders: Sequence[str]) -> FloatArray:
        """Return the features of the hits, one row each."""
        return candidate_features(self.compared, self.annotations, encoders)


class LookedUp(NamedTuple):
    """An example, and for each hit the ids that have its name."""

    example: TrainingExample
    concepts_named: tuple[frozenset[str], ...]

    @property
    def fold(self) -> int:
        """The fifth of the strings it is in, the same under every condition."""
        return fold_of(self.example.draft.string)


def fold_of(text: str) -> int:
    """Return the fold of a string."""
    return zlib.crc32(text.encode()) % FOLDS


def training_examples(dictionary: Dictionary, questions: QuestionSet) -> list[TrainingExample]:
    """Return every distinct string of a document once, with its most frequent annotation."""
    gold: dict[tuple[str, int], Counter[frozenset[str]]] = {}
    for question in questions.questions:
        for text in question.parts:
            gold.setdefault((text, question.document), Counter())[question.concepts] += 1
    documents = compare_documents(dictionary, questions)
    annotations = annotations_of(questions)
    examples = []
    for (text, place), times in gold.items():
        compared = documents[place][text]
        if len(compared.candidates):
            right = times.most_common(1)[0][0]
            examples.append(TrainingExample(compared, right, annotations, times.total()))
    return weighed(examples)


def weighed(examples: Sequence[TrainingExample]) -> list[TrainingExample]:
    """Let a string that stands n times in all documents count ⌈√n⌉ times altogether."""
    total: Counter[str] = Counter()
    for one in examples:
        total[one.draft.string] += one.times
    return [
        one._replace(weight=one.times * math.ceil(math.sqrt(n)) / n)
        for one in examples
        for n in [total[one.draft.string]]
    ]


def fit_examples(examples: Sequence[TrainingExample], encoders: Sequence[str]) -> Reranker:
    """Fit a re-ranker that knows no annotations."""
    pools = empty_pools(len(examples), encoders)
    for row, one in enumerate(examples):
        right = [id_ in one.gold for id_ in one.ids]
        fill_pool(pools, row, one.features(encoders), right)
    model = fit_additive_model(
        pools.features,
        pools.right,
        feature_names(encoders),
        there=pools.filled,
        weights=[one.weight for one in examples],
        knots=_KNOTS,
        smoothness=_SMOOTHNESS,
        ridge=_RIDGE,
    )
    return Reranker(model, AnnotationCounts(), tuple(encoders))


def in_dictionary(
    terminology: Terminology,
    documents: list[Document],
    training: list[Document],
    encoders: Sequence[Encoder],
    *,
    options: dict[str, Any],
) -> list[LookedUp]:
    """Look strings up as BioSyn's protocol does, with the mentions of other documents as names."""
    ids = ConceptIds(terminology)
    protocol = choose_protocol("biosyn")
    questions = make_questions(documents, ids, protocol, training=training, **options)
    dictionary = build_dictionary(terminology, questions.learned, encoders=encoders)
    return [
        LookedUp(
            one,
            tuple(
                frozenset(dictionary.concepts_named(one.found.name(hit).text))
                for hit in one.draft.hits
            ),
        )
        for one in training_examples(dictionary, questions)
    ]


def read_parts(data: Path, corpus: str) -> dict[str, list[Document]]:
    """Read the train and dev parts of a corpus."""
    return {part: list(read_pubtator(data / corpus / f"{part}.pubtator")) for part in OTHER}


def look_up(
    linker: Linker, encoders: Sequence[Encoder], data: Path, corpus: str, read: str
) -> dict[str, list[LookedUp]]:
    """Look up the part that the encoders have not read, in all three ways."""
    documents, given = read_parts(data, corpus), CORPORA[corpus]
    part, options = OTHER[read], dict(given)
    if "corrections" in given:
        options["corrections"] = read_corrections(data / given["corrections"])
    found = {}
    for condition, training in (("with mentions", documents[read]), ("dictionary alone", [])):
        found[f"{corpus} {part}, {condition}"] = in_dictionary(
            linker.terminology, documents[part], training, encoders, options=options
        )
    linked = as_linked(linker, documents[part], given.get("types", ()))
    return found | {f"{corpus} {part}, as linked": linked}


def as_linked(linker: Linker, documents: list[Document], types: Sequence[str]) -> list[LookedUp]:
    """Look mentions up as a linker does.

    Parts of a composite are left out: annotators do not say which of its concepts each stands for.
    """
    gold: dict[tuple[str, int], Counter[frozenset[str]]] = {}
    drafts: dict[tuple[str, int], ObservedDraft] = {}
    for one in observe_drafts(linker.pipeline, documents, types=types):
        if one.annotated:
            where = one.draft.string, one.document
            gold.setdefault(where, Counter())[one.gold] += 1
            drafts.setdefault(where, one)
    examples = []
    for where, times in gold.items():
        one, right = drafts[where], times.most_common(1)[0][0]
        none = AnnotationCounts()
        examples.append(TrainingExample(one.compared, right, none, times.total()))
    return [LookedUp(one, tuple(frozenset([id_]) for id_ in one.ids)) for one in weighed(examples)]


def accuracy(found: Sequence[LookedUp], order: Sequence[int]) -> dict[str, float]:
    """Return the percentages of occurrences whose chosen hit is right."""
    times = np.array([one.example.times for one in found], dtype=np.float64)
    chosen = list(zip(found, order, strict=True))
    right = {
        "lenient": [bool(one.concepts_named[i] & one.example.gold) for one, i in chosen],
        "strict": [one.example.ids[i] in one.example.gold for one, i in chosen],
    }
    return {
        reading: round(100 * float(np.average(each, weights=times)), 2)
        for reading, each in right.items()
    }


def first_of(one: LookedUp, reranker: Reranker) -> int:
    """Return the place of the hit that a re-ranker puts first."""
    example = one.example
    features = example.features(reranker.encoders)
    (best,) = reranker.order_hits(example.compared.candidates, features, 1)
    return [hit.concept for hit in example.draft.hits].index(best.hits[0].concept)


def cross_validate(
    conditions: Mapping[str, list[LookedUp]], by_fold: Sequence[Reranker]
) -> dict[str, dict[str, Any]]:
    """Predict every fifth of the strings from the others."""
    return {
        name: {
            "strings": len({one.example.draft.string for one in found}),
            "before": accuracy(found, [0] * len(found)),
            "after": accuracy(found, [first_of(one, by_fold[one.fold]) for one in found]),
        }
        for name, found in conditions.items()
    }


def _encoders(option: str, pairs: Sequence[str]) -> dict[str, str]:
    named = dict(pair.partition("=")[::2] for pair in pairs)
    if not all(named.values()):
        raise InvalidInput(f"--{option} {' '.join(pairs)}: NAME=FOLDER is expected")
    return named


@click.command(cls=Command, context_settings=CONTEXT)
@click.option(
    "--train",
    multiple=True,
    required=True,
    metavar="NAME=FOLDER",
    help="An encoder that has read the train parts alone. Can be repeated.",
)
@click.option(
    "--dev",
    multiple=True,
    metavar="NAME=FOLDER",
    help="The same encoder, made from the dev parts alone. Can be repeated.",
)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False),
    envvar="CANONYM_DATA",
    required=True,
    metavar="FOLDER",
    help="The terminologies and corpora.  [default: $CANONYM_DATA]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Folder of the two files. By default the shipped files are replaced, and the accuracy "
    "goes into benchmarks/results/rerankers.json.",
)
def main(train: tuple[str, ...], dev: tuple[str, ...], data: str, output: str | None) -> None:
    """Fit the shipped re-ranker of one or several encoders.

    \b
      python -m models.make_default --part train -o default-train
      python -m models.make_default --part dev -o default-dev
      python -m models.make_contextual --part train --neighbours default-train -e student -o taught
      python -m models.make_rerankers --train default=default-train --dev default=default-dev
      python -m models.make_rerankers --train default=default-train --train contextual=taught
    """
    place = Path(data)
    named = {"train": _encoders("train", train), "dev": _encoders("dev", dev)}
    names = tuple(named["train"])
    if tuple(named["dev"]) not in {(), names}:
        raise InvalidInput(
            f"--dev names {', '.join(named['dev'])}; none or {', '.join(names)} in this order is "
            "expected, as --train does"
        )
    shelf = Shelf(place)  # keeps vectors
    terminology = Terminology.build(read_records(place / MEDIC))
    conditions: dict[str, list[LookedUp]] = {}
    with ExitStack() as stack:
        linkers: dict[str, Linker] = {}
        for read in [part for part in OTHER if named[part]]:
            encoders = [shelf.encoder(spec) for spec in named[read].values()]
            folder = Path(stack.enter_context(TemporaryDirectory())) / "index"
            linkers[read] = Linker.build(terminology, encoders=encoders, folder=folder)
            for corpus in CORPORA:
                conditions |= look_up(linkers[read], encoders, place, corpus, read)
        called = linkers["train"].encoder_names
        every = [one for found in conditions.values() for one in found]
        by_fold = [
            fit_examples([one.example for one in every if one.fold != fold], called)
            for fold in range(FOLDS)
        ]
        worth = cross_validate(conditions, by_fold)
    fitted = fit_examples([one.example for one in every], called).renamed(names)
    path = shipped_file(names)
    path = Path(output) / path.name if output else path
    path.parent.mkdir(parents=True, exist_ok=True)
    fitted.save(path)
    result = {path.stem: {"digest": fitted.digest, "lessons": len(every), **worth}}
    click.echo(json.dumps(result, indent=1))
    if not output:
        _save(place, result)


def _save(data: Path, result: dict[str, Any]) -> None:
    files = [data / corpus / f"{part}.pubtator" for corpus in CORPORA for part in OTHER]
    written = RESULTS / "rerankers.json"
    before = json.loads(written.read_text(encoding="utf-8")) if written.is_file() else {}
    kept = {name: one for name, one in before.items() if "default" in name}
    save("rerankers", kept | result, packages=["numpy", "scipy"], data=[data / MEDIC, *files])


if __name__ == "__main__":
    main()
