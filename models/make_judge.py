"""Fit the judges that come with canonym (`canonym.linking.judge`), from many domains.

Eleven terminologies are asked what they answer themselves, once with all names and once with one
name a concept: names that are taken out, as they stand, misspelt or written otherwise; concepts
that are taken out; siblings that nothing is called; names of several concepts; phrases that stand
for nothing; names of another terminology. Then come the mentions of four corpora, with the same
phrases and names beside them, and names of nine languages with an index of English ones. All but
the last are asked with several choices of encoders, of which the slow one has fewer names. Each
domain weighs the same. Three jobs are asked to measure by.

The judge of known encoders learns from the default encoder and the multilingual one, that of any
encoders from all.

    python -m models.make_judge [--observed FOLDER] [--keep-curves] [-o FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import functools
import gzip
import json
import math
import multiprocessing
import os
import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.corpora.cadec import read_folds, read_mention_table
from canonym.linking.evidence import (
    BY_RELATIONS,
    BY_SIMILARITIES,
    CONDITIONS,
    EVIDENCE,
    evidence_of,
)
from canonym.linking.fitting import annotated_documents, judged
from canonym.linking.hits import LOOKED_AT
from canonym.linking.judge import (
    ANY,
    COMES_ALONG,
    OF_ANY,
    SHIPPED,
    Bound,
    Judge,
    fit_judge,
)
from canonym.ranking.additive_model import AdditiveModel, Curve
from canonym.terminology import read_records
from canonym.terminology.readers.babelon import read_babelon
from canonym.terminology.readers.icd10cm import read_icd10cm
from canonym.text import normalise
from canonym.text.qualifiers import BROADER
from canonym.types import Concept, Document, Link, Mention, Name, Record
from models.questions import (
    misspelt,
    noise,
    noted,
    phrases,
    reworded,
    sibling_of,
    unrelated_phrases,
)
from models.sources import SOURCES
from models.suite import MESH
from models.translations import is_held_out
from models.unrelated import unrelated

N = 700
"""Names of a terminology that are taken out; there are half as many of the other kinds."""

WEIGHTS: Mapping[str, float] = {
    **{"mention": 1.0, "taken out": 0.35, "as it stands": 0.25, "misspelt": 0.1},
    **{"absent": 0.1, "sibling": 0.05, "stranger": 0.12, "another domain": 0.08},
    **{"homonym": 0.02, "reworded": 0.05, "noted": 0.05},
}
"""The share of each kind of question in a domain; nothing is learned from others."""

FORMS = ("all names", "one name")
CORPORA: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "NCBI disease": ("ncbi-disease", "MEDIC", ()),
    "BC5CDR disease": ("bc5cdr", "MEDIC", ("Disease",)),
    "BC5CDR chemical": ("bc5cdr", "chemicals", ("Chemical",)),
}
ILLS = ("phenotypes", "diseases", "MEDIC", "ICD-10-CM")
"""Terminologies of what a patient has."""

PATIENTS = "patients' words"
JOBS = ("uk-biobank", "clinical-phenotypes", "adverse-effects")
LANGUAGES: Mapping[str, str] = {
    **{tag: f"hp-{tag}.babelon.tsv.gz" for tag in ("de", "es", "fr", "it", "ja", "pt", "zh")},
    **{tag: f"hp-{tag}.synonyms.tsv.gz" for tag in ("cs", "tr")},
}

RAISING, LOWERING = ("letters decide", CONDITIONS[0]), ("contradicts", *CONDITIONS[1:])
"""What bounds a probability from below, and from above."""

_EVEN, _DOUBT, _FEW, _STEPS = 0.5, 0.2, 5, 20  # bounds are multiples of a twentieth
_MOST_CONCEPTS = 20_000
_FEW_CONCEPTS = 4_000  # of a terminology whose names are read by a transformer
_MOST_OTHERS, _MOST_STRANGERS, _MOST_HOMONYMS = 300, 500, 150
_UNSEEN = 200  # unrelated strings of each kind, to measure by
_LACKING = ("absent", "sibling")
_SHORTEST = 7  # characters of a name that is misspelt


KNOWN = ("default", "multilingual")
"""The encoders that a judge knows."""


class Choice(NamedTuple):
    """Encoders that are searched together; with `few` names, and one of each concept."""

    encoders: tuple[str, ...]
    few: bool = False

    @property
    def name(self) -> str:
        """The encoders, with a sign between them."""
        return " + ".join(self.encoders)

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in which terminologies are asked."""
        return FORMS[1:] if self.few else FORMS


CHOICES = (
    Choice(KNOWN[:1]),
    Choice(("default", "contextual"), few=True),
    Choice(("default", "chargrams")),
)


class Question(NamedTuple):
    """A text, the id of its concept (none: ``""``), and a kind of `WEIGHTS`."""

    text: str
    id: str
    kind: str


class Observations(NamedTuple):
    """Evidence ``(n, d)``, whether each link is right, and the kind of its question, ``(n,)``."""

    evidence: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    kind: npt.NDArray[np.str_]

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """The weight of each link; all together 1."""
        weights = np.zeros(len(self.right))
        for kind in set(self.kind):
            of_kind = self.kind == kind
            weights[of_kind] = WEIGHTS.get(str(kind), 0.0) / of_kind.sum()
        return np.asarray(weights / weights.sum())


# --- terminologies --------------------------------------------------------------------------------

Concepts = dict[str, tuple[Concept, list[Name]]]


def terminologies(data: Path) -> dict[str, Callable[[], Iterator[Record]]]:
    """Return what reads each terminology."""

    def of(source: str) -> Callable[[], Iterator[Record]]:
        return lambda: read_records(data / SOURCES[source])

    def mesh(letters: str) -> Callable[[], Iterator[Record]]:
        return lambda: _branches(data, letters)

    return {
        "anatomy": of("UBERON"),
        "phenotypes": of("HPO 2014"),
        "diseases": of("DOID 2015"),
        "MEDIC": of("MEDIC 2012"),
        "drugs": of("DrugBank"),
        "chemicals": mesh("D"),
        "organisms": mesh("B"),
        "procedures": mesh("E"),
        "processes": mesh("G"),
        "mind and society": mesh("FIMN"),
        "ICD-10-CM": lambda: read_icd10cm(everyday=True),
    }


OTHER = {
    **dict.fromkeys(("anatomy", "phenotypes", "diseases", "procedures"), "drugs"),
    **dict.fromkeys(("processes", "mind and society"), "drugs"),
    **dict.fromkeys(("drugs", "chemicals", "MEDIC", "ICD-10-CM"), "organisms"),
    "organisms": "procedures",
}


def _branches(data: Path, letters: str) -> Iterator[Record]:
    ids = set()
    for record in read_records(
        data / SOURCES["MeSH 2024"], **MESH, trees=str(data / SOURCES["MeSH trees"])
    ):
        if isinstance(record, Concept) and set(letters) & set(record.types):
            ids.add(record.id)
            yield record
        elif isinstance(record, Name) and record.concept_id in ids:
            yield record


def concepts_of(records: Iterable[Record], most: int | None = _MOST_CONCEPTS) -> Concepts:
    """Return concepts in use with their names, `most` of them."""
    concepts: Concepts = {}
    for record in records:
        if isinstance(record, Concept) and not record.deprecated:
            concepts[record.id] = (record, [])
        elif isinstance(record, Name) and record.concept_id in concepts:
            concepts[record.concept_id][1].append(record)
    ids = sorted(concepts, key=lambda id_: zlib.crc32(id_.encode()))[:most]
    return {id_: concepts[id_] for id_ in ids}


def questions_of(
    concepts: Concepts, form: str, others: Sequence[str], rng: random.Random, *, ill: bool = False
) -> tuple[list[Record], list[Question]]:
    """Return the records of a terminology without what is taken out, and its questions.

    What is `ill` is asked with how bad it is as well.
    """
    ids = list(concepts)
    rng.shuffle(ids)
    owners: dict[str, set[str]] = {}
    for id_, (concept, names) in concepts.items():
        for text in (concept.label, *(name.text for name in names)):
            owners.setdefault(normalise(text), set()).add(id_)
    absent = ids[: max(20, min(N // 2, len(ids) // 12))]
    questions = [
        Question(text, "", "absent")
        for id_ in absent
        for text in [rng.choice([concepts[id_][0].label, *(n.text for n in concepts[id_][1])])]
        if len(owners[normalise(text)]) == 1
    ]
    out: dict[str, str] = {}
    most = min(N, len(ids) // 6) if form == FORMS[0] else N
    for id_ in ids[len(absent) :]:
        concept, names = concepts[id_]
        own = [
            name.text
            for name in names
            if normalise(name.text) != normalise(concept.label)
            and len(owners[normalise(name.text)]) == 1
        ]
        if own and len(out) < most:
            text = rng.choice(own)
            out[id_] = normalise(text)
            questions.append(Question(text, id_, "taken out"))
    records: list[Record] = []
    there: list[tuple[str, str]] = []
    for id_ in sorted(set(ids) - set(absent)):
        concept, names = concepts[id_]
        records.append(Concept(id_, concept.label, types=concept.types))
        there.append((concept.label, id_))
        for name in names if form == FORMS[0] else ():
            if normalise(name.text) != out.get(id_):
                records.append(Name(name.text, id_, scope=name.scope))
                there.append((name.text, id_))
    rng.shuffle(there)
    known = {normalise(text) for text, _ in there}
    half = N // 2
    questions += [Question(text, id_, "as it stands") for text, id_ in there[:half]]
    edited = ((misspelt(text, rng), id_) for text, id_ in there[half:] if len(text) >= _SHORTEST)
    questions += _unknown(edited, known, "misspelt", half)
    siblings = ((sibling_of(text, rng) or text, "") for text, _ in reversed(there))
    questions += _unknown(siblings, known, "sibling", half // 2)
    questions += homonyms(there)
    questions += written_otherwise(there, known, random.Random(form), ill=ill)
    return records, questions + nothing(others, known, rng)


def written_otherwise(
    names: Iterable[tuple[str, str]], known: set[str], rng: random.Random, *, ill: bool
) -> list[Question]:
    """Return names in other words of the same meaning, and with a detail where they are `ill`."""
    pairs = list(names)
    changed = ((reworded(text, rng) or text, id_) for text, id_ in pairs)
    questions = _unknown(changed, known, "reworded", N // 2)
    if ill:
        detailed = ((noted(text, rng), id_) for text, id_ in reversed(pairs))
        questions += _unknown(detailed, known, "noted", N // 2)
    return questions


def homonyms(names: Iterable[tuple[str, str]]) -> list[Question]:
    """Return names of several concepts, of which one is meant, for `_MOST_HOMONYMS` names."""
    owners: dict[str, list[str]] = {}
    for text, id_ in names:
        of_name = owners.setdefault(normalise(text), [])
        if id_ not in of_name:
            of_name.append(id_)
    shared = [(text, ids) for text, ids in owners.items() if len(ids) > 1][:_MOST_HOMONYMS]
    return [Question(text, id_, "homonym") for text, ids in shared for id_ in ids]


def nothing(others: Sequence[str], known: set[str], rng: random.Random) -> list[Question]:
    """Return strings that name nothing in a terminology of `known` names, in normal form."""
    strings = rng.sample(unrelated_phrases(400, seed=1), _MOST_STRANGERS)
    questions = [Question(text, "", "stranger") for text in strings]
    for kind, of_kind in unrelated(_UNSEEN, seed=3).items():
        questions += [Question(text, "", kind) for text in of_kind]
    names_of_others = ((text, "") for text in rng.sample(others, min(len(others), 400)))
    return questions + _unknown(names_of_others, known, "another domain", _MOST_OTHERS)


def _unknown(
    pairs: Iterable[tuple[str, str]], known: set[str], kind: str, most: int
) -> list[Question]:
    """Return questions, `most` of them, whose texts are no names."""
    fresh = (Question(*pair, kind) for pair in pairs if normalise(pair[0]) not in known)
    return [question for question, _ in zip(fresh, range(most), strict=False)]


def ask(linker: Linker, questions: Sequence[Question]) -> Observations:
    """Link questions, and compare the links with the answers; a question has one id or several."""
    links = linker.link([question.text for question in questions], k=LOOKED_AT, context=False)
    judgements = (
        (part, part.candidates[0].id in question.id.split("|") and not link.parts, question.kind)
        for question, link in zip(questions, links, strict=True)
        for part in link.parts or (link,)
        if part.candidates
    )
    return observed(linker, judgements)


def observed(linker: Linker, judgements: Iterable[tuple[Link, bool, str]]) -> Observations:
    """Return what links show, but for those of ids.

    What lacks its concept in a terminology may still be a case of a broader one that is there: such
    a link is neither right nor wrong.
    """
    by_name = [
        (link, right, kind)
        for link, right, kind in judgements
        if link.candidates[0].sieve != "id"
        and not (kind in _LACKING and any(step.name == BROADER for step in link.steps))
    ]
    vocabulary = linker.pipeline.vocabulary
    return Observations(
        np.array([evidence_of(link, vocabulary) for link, _, _ in by_name]),
        np.array([right for _, right, _ in by_name], dtype=bool),
        np.array([kind for _, _, kind in by_name]),
    )


# --- all domains ----------------------------------------------------------------------------------


def observe(data: Path, choice: Choice) -> Iterator[tuple[str, str, Observations]]:
    """Yield each domain and form with what was observed; ``"dev"`` is a form that none learns."""
    readers = terminologies(data)

    def built(records: Iterable[Record]) -> Linker:
        return Linker.build(Terminology.build(records), encoders=list(choice.encoders))

    def others(of: str) -> list[str]:
        return [concept.label for concept, _ in concepts_of(readers[OTHER[of]]()).values()]

    for name, read in readers.items():
        concepts = concepts_of(read(), _FEW_CONCEPTS if choice.few else _MOST_CONCEPTS)
        for form in choice.forms:
            records, questions = questions_of(
                concepts, form, others(name), random.Random(f"{name} {form}"), ill=name in ILLS
            )
            yield name, form, ask(built(records), questions)
    for of in () if choice.few else ("MEDIC", "chemicals"):
        for form in FORMS:
            records = list(readers[of]())
            if form == FORMS[1]:
                records = [record for record in records if not isinstance(record, Name)]
            linker = built(records)
            strange = ask(linker, nothing(others(of), known_to(linker), random.Random(form)))
            for corpus, (folder, target, types) in CORPORA.items():
                for part in ("train", "dev") if target == of else ():
                    documents = read_pubtator(data / folder / f"{part}.pubtator")
                    seen = observed(linker, mentions(linker, documents, types))
                    seen = together(seen, strange)
                    yield corpus, form if part == "train" else f"dev, {form}", seen
    yield from observe_patients(data, built, others("MEDIC"))
    for job in JOBS:
        linker = built(job_records(data, job, few=choice.few))
        with (data / "jobs" / job / "mentions.tsv").open(encoding="utf-8", newline="") as lines:
            rows = csv.DictReader(lines, delimiter="\t")
            questions = [Question(row["mention"], row["ids"], "mention") for row in rows]
        questions += nothing(others("anatomy"), known_to(linker), random.Random(job))
        # None learns from them: they have ids where a name is not the concept that was wanted.
        yield job, f"dev, {FORMS[0]}", ask(linker, questions)


def known_to(linker: Linker) -> set[str]:
    """Return the names of a linker in normal form."""
    return {normalise(name.text) for name in linker.terminology.iter_names()}


def job_records(data: Path, job: str, *, few: bool) -> list[Record]:
    """Return the terminology of a job; of `few` concepts those that are asked, and some others."""
    folder, records = data / "jobs" / job, dict[str, list[Record]]()
    with gzip.open(folder / "terms.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            of_concept = records.setdefault(row["id"], [])
            name = Name(row["name"], row["id"], scope=row["scope"] or "exact")
            of_concept.append(name if of_concept else Concept(row["id"], row["name"]))
    with (folder / "mentions.tsv").open(encoding="utf-8", newline="") as lines:
        asked = {
            id_ for row in csv.DictReader(lines, delimiter="\t") for id_ in row["ids"].split("|")
        }
    by_chance = sorted(records, key=lambda id_: zlib.crc32(id_.encode()))
    kept = {*by_chance[:_FEW_CONCEPTS], *asked} if few else {*records}
    return [record for id_, of_concept in records.items() if id_ in kept for record in of_concept]


def together(*parts: Observations) -> Observations:
    """Return observations one after the other."""
    return Observations(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def mentions(
    linker: Linker, corpus: Iterable[Document | Mention], types: Sequence[str]
) -> Iterator[tuple[Link, bool, str]]:
    """Yield the links of annotated mentions, and whether each is right."""
    pipeline = replace(linker.pipeline, judge=None)
    documents, find = annotated_documents(pipeline.terminology, corpus, types)
    for document, links in pipeline.link_documents(documents, {"k": LOOKED_AT}):
        for mention, link in zip(document.mentions, links, strict=True):
            gold = [find(id_) or "" for id_ in mention.ids]
            yield from (
                (part, right, "mention") for part, right in judged(link, gold, mention.rule)
            )


def patients(
    data: Path, built: Callable[[Iterable[Record]], Linker]
) -> tuple[Linker, dict[str, list[Question]]]:
    """Return a linker of what patients say, and what is asked: half to learn from, half as dev."""
    folds = list(read_folds(data / "cadec"))
    records: dict[str, list[Record]] = {}
    for mention in chain.from_iterable(
        read_mention_table(fold.targets) for fold in folds if fold.targets
    ):
        for id_ in mention.ids[:1]:
            of_concept = records.setdefault(id_, [])
            of_concept.append(Name(mention.text, id_) if of_concept else Concept(id_, mention.text))
    asked = {mention.text: mention.ids[0] for fold in folds for mention in fold.test if mention.ids}
    questions = {
        form: [
            Question(text, id_, "mention")
            for text, id_ in sorted(asked.items())
            if zlib.crc32(text.encode()) % 2 == place
        ]
        for place, form in enumerate((FORMS[0], "dev"))
    }
    return built(chain.from_iterable(records.values())), questions


def observe_patients(
    data: Path, built: Callable[[Iterable[Record]], Linker], others: Sequence[str]
) -> Iterator[tuple[str, str, Observations]]:
    """Yield what is observed of patients' words, with what names nothing beside them."""
    linker, of_forms = patients(data, built)
    for form, questions in of_forms.items():
        strange = nothing(others, known_to(linker), random.Random(form))
        yield PATIENTS, form, ask(linker, [*questions, *strange])


def observe_languages(data: Path) -> Iterator[tuple[str, str, Observations]]:
    """Yield translated names, asked of English ones, with phrases that stand for nothing."""
    concepts = concepts_of(read_records(data / SOURCES["HPO 2014"]), most=None)
    records: list[Record] = []
    for id_, (concept, names) in concepts.items():
        records += [Concept(id_, concept.label), *(Name(n.text, id_, scope=n.scope) for n in names)]
    linker = Linker.build(Terminology.build(records), encoders=list(KNOWN))
    strange = [text.strip() for text in (*phrases("foreign"), *noise(40, seed=2))]
    for tag, file in LANGUAGES.items():
        # The multilingual encoder has not read the names of these concepts.
        translated = [
            Question(name.text, name.concept_id, "taken out")
            for name in read_babelon(data / "multilingual" / "hpo" / file)
            if isinstance(name, Name)
            and name.concept_id in concepts
            and is_held_out(name.concept_id)
        ]
        random.Random(1).shuffle(translated)
        questions = translated[: N // 2]
        questions += [Question(text, "", "stranger") for text in strange]
        yield f"language {tag}", FORMS[0], ask(linker, questions)


# --- the judge ------------------------------------------------------------------------------------


def fit(
    observations: Mapping[tuple[str, str], Observations], names: Sequence[str] = BY_SIMILARITIES
) -> Judge:
    """Fit a judge of some evidence to domains in their forms; those of ``dev`` are left out."""
    learned = {
        (domain, form): seen
        for (domain, form), seen in of_judge(observations, names).items()
        if not form.startswith("dev")
    }
    weights = [
        seen.weights / sum(other == domain for other, _ in learned)
        for (domain, _), seen in learned.items()
    ]
    every = np.concatenate(weights)
    taught = every > 0
    seen = together(*learned.values())
    judge = fit_judge(
        seen.evidence[taught],
        seen.right[taught],
        source=COMES_ALONG,
        names=names,
        weights=every[taught] / every[taught].mean(),
    )
    return replace(judge, bounds=bounds_of(judge, seen))


def of_judge(
    observations: Mapping[tuple[str, str], Observations], names: Sequence[str]
) -> dict[tuple[str, str], Observations]:
    """Return what a judge of some evidence learns from.

    One that looks at similarities learns from the encoders that it will know.
    """
    by_any = "similarity" not in names
    return {key: seen for key, seen in observations.items() if by_any or is_known(key[1])}


def bounds_of(judge: Judge, seen: Observations) -> tuple[Bound, ...]:
    """Return what bounds the curves of a judge, by the links of which each condition holds.

    A bound is the share of these links that are right; where it is one from above, of those that
    the curves call likelier than not. What people wrote and all other questions are looked at by
    themselves, and the more careful share counts: a wrong answer that looks certain is worse than
    doubt. An answer that is there is in doubt at worst, and not NIL. Few links tell nothing, and
    are as likely to be right as wrong.
    """
    said = replace(judge, bounds=()).predict(seen.evidence)
    bounds = []
    for condition in (*RAISING, *LOWERING):
        holds = seen.evidence[:, EVIDENCE.index(condition)] > 0
        told = holds & ((said >= _EVEN) | (condition in RAISING))
        shares = [
            float(seen.right[of_kind].mean())
            for of_kind in (told & (seen.kind == "mention"), told & (seen.kind != "mention"))
            if of_kind.sum() >= _FEW
        ]
        share = min(shares, default=_EVEN)
        span = (
            (math.floor(share * _STEPS) / _STEPS, 1.0)
            if condition in RAISING
            else (0.0, max(math.ceil(share * _STEPS) / _STEPS, _DOUBT))
        )
        bounds.append(Bound(condition, *span, int(told.sum()), int(seen.right[told].sum())))
    return tuple(bounds)


def is_known(form: str) -> bool:
    """Tell whether the similarities of the encoders of a form are known."""
    return form.rpartition(", ")[2] in (KNOWN[0], " + ".join(KNOWN))


def observations_in(folder: Path | None, data: Path) -> dict[tuple[str, str], Observations]:
    """Return all observations, kept in a folder or read from there."""
    if folder is not None and (folder / "domains.json").is_file():
        keys = json.loads((folder / "domains.json").read_text(encoding="utf-8"))
        arrays = [np.load(folder / f"{n}.npz") for n in range(len(keys))]
        return {
            (domain, form): Observations(*(of[name] for name in Observations._fields))
            for (domain, form), of in zip(keys, arrays, strict=True)
        }
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        of_choices = pool.map(functools.partial(_observed_with, data), (*CHOICES, None))
        observations = {key: seen for of_choice in of_choices for key, seen in of_choice.items()}
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for n, seen in enumerate(observations.values()):
            np.savez(folder / f"{n}.npz", **seen._asdict())
        keys = json.dumps(list(observations))
        (folder / "domains.json").write_text(keys, encoding="utf-8")
    return observations


def _observed_with(data: Path, choice: Choice | None) -> dict[tuple[str, str], Observations]:
    """Return what is observed with a choice of encoders, or across languages."""
    observations = {}
    all_seen = observe_languages(data) if choice is None else observe(data, choice)
    encoders = " + ".join(KNOWN) if choice is None else choice.name
    for domain, form, seen in all_seen:
        name = f"{form}, {encoders}"
        print(
            f"{domain}, {name}: {len(seen.right):,} links, {seen.right.mean():.3f} right",
            flush=True,
        )
        observations[domain, name] = seen
    return observations


def main() -> None:
    """Observe, fit and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CANONYM_DATA"))
    parser.add_argument("--observed", type=Path, help="keep observations in this folder")
    parser.add_argument("--keep-curves", action="store_true", help="learn the bounds alone")
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED.parent, help="a folder")
    options = parser.parse_args()
    for path in (SHIPPED, OF_ANY):
        if not path.is_file():  # indexes open with one, whatever it says
            level = [Curve(name, (0.0,), (0.0,), 0.0) for name in (*BY_SIMILARITIES, ANY)]
            Judge(AdditiveModel(level), 0, 0, COMES_ALONG).save(path)
    observations = observations_in(options.observed, options.data)
    for path, names in ((SHIPPED, BY_SIMILARITIES), (OF_ANY, BY_RELATIONS)):
        before = Judge.load(path)
        if options.keep_curves and before is not None:
            seen = together(*of_judge(observations, names).values())
            judge = replace(before, bounds=bounds_of(before, seen))
        else:
            judge = fit(observations, names)
        judge.save(options.output / path.name)
        print(f"{path.name}: {judge.n:,} links, {judge.n_right:,} of them right")


if __name__ == "__main__":
    main()
