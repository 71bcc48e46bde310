"""Fit the judge that comes with canonym (`canonym.linking.judge`), from many domains.

Eleven terminologies are asked what they answer themselves, once with all names and once with one
name a concept: names that are taken out, as they stand or misspelt; concepts that are taken out;
siblings that nothing is called; phrases that stand for nothing; names of another terminology. Then
come the mentions of four corpora, with the same phrases and names beside them, and names of nine
languages with an index of English ones. Each domain weighs the same, a corpus twice.

    python -m models.make_judge [--observed FOLDER] [-o FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.corpora.cadec import read_folds, read_mention_table
from canonym.linking.calibration import misspelt, noise, phrases, unrelated_phrases
from canonym.linking.fitting import annotated_documents, judged
from canonym.linking.judge import ANY, COMES_ALONG, EVIDENCE, SHIPPED, Judge, evidence_of, fit_judge
from canonym.mentions.contrasts import sibling_of
from canonym.ranking.additive_model import AdditiveModel, Curve
from canonym.terminology import read_records
from canonym.terminology.readers.babelon import read_babelon
from canonym.terminology.readers.icd10cm import read_icd10cm
from canonym.text import normalise
from canonym.types import Concept, Document, Link, Mention, Name, Record
from models.sources import SOURCES
from models.suite import MESH
from models.translations import is_held_out
from models.unrelated import unrelated

N = 700
"""Names of a terminology that are taken out; there are half as many of the other kinds."""

WEIGHTS: Mapping[str, float] = {
    **{"mention": 1.0, "taken out": 0.45, "as it stands": 0.1, "misspelt": 0.1},
    **{"absent": 0.1, "sibling": 0.05, "stranger": 0.12, "another domain": 0.08},
}
"""The share of each kind of question in a domain; nothing is learned from others."""

FORMS = ("all names", "one name")
CORPORA: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "NCBI disease": ("ncbi-disease", "MEDIC", ()),
    "BC5CDR disease": ("bc5cdr", "MEDIC", ("Disease",)),
    "BC5CDR chemical": ("bc5cdr", "chemicals", ("Chemical",)),
}
PATIENTS = "patients' words"
BILINGUAL = ("default", "multilingual")
LANGUAGES: Mapping[str, str] = {
    **{tag: f"hp-{tag}.babelon.tsv.gz" for tag in ("de", "es", "fr", "it", "ja", "pt", "zh")},
    **{tag: f"hp-{tag}.synonyms.tsv.gz" for tag in ("cs", "tr")},
}

_MOST_CONCEPTS = 20_000
_MOST_OTHERS, _MOST_STRANGERS = 300, 500
_UNSEEN = 200  # unrelated strings of each kind, to measure by
_SHORTEST = 7  # characters of a name that is misspelt
_CORPUS_WEIGHT = 2.0


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


_OTHER = {
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
    concepts: Concepts, form: str, others: Sequence[str], rng: random.Random
) -> tuple[list[Record], list[Question]]:
    """Return the records of a terminology without what is taken out, and its questions."""
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
    return records, questions + nothing(others, known, rng)


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
    """Link questions, and compare the links with the answers."""
    links = linker.link([question.text for question in questions], k=2, context=False)
    judgements = (
        (part, part.candidates[0].id == question.id and not link.parts, question.kind)
        for question, link in zip(questions, links, strict=True)
        for part in link.parts or (link,)
        if part.candidates
    )
    return observed(linker, judgements)


def observed(linker: Linker, judgements: Iterable[tuple[Link, bool, str]]) -> Observations:
    """Return what links show, but for those of ids."""
    by_name = [judgement for judgement in judgements if judgement[0].candidates[0].sieve != "id"]
    vocabulary = linker.pipeline.vocabulary
    return Observations(
        np.array([evidence_of(link, vocabulary) for link, _, _ in by_name]),
        np.array([right for _, right, _ in by_name], dtype=bool),
        np.array([kind for _, _, kind in by_name]),
    )


# --- all domains ----------------------------------------------------------------------------------


def observe(data: Path) -> Iterator[tuple[str, str, Observations]]:
    """Yield each domain and form with what was observed; ``"dev"`` is a form that none learns."""
    readers = terminologies(data)
    for name, read in readers.items():
        concepts = concepts_of(read())
        others = [concept.label for concept, _ in concepts_of(readers[_OTHER[name]]()).values()]
        for form in FORMS:
            records, questions = questions_of(
                concepts, form, others, random.Random(f"{name} {form}")
            )
            yield name, form, ask(Linker.build(Terminology.build(records)), questions)
    yield from observe_corpora(data)
    yield from observe_patients(data)
    yield from observe_languages(data)


def observe_corpora(data: Path) -> Iterator[tuple[str, str, Observations]]:
    """Yield the mentions of corpora, and what names nothing in their terminologies."""
    readers = terminologies(data)
    for of in ("MEDIC", "chemicals"):
        others = [concept.label for concept, _ in concepts_of(readers[_OTHER[of]]()).values()]
        for form in FORMS:
            records = list(readers[of]())
            if form == FORMS[1]:
                records = [record for record in records if not isinstance(record, Name)]
            linker = Linker.build(Terminology.build(records))
            known = {normalise(name.text) for name in linker.terminology.iter_names()}
            strange = ask(linker, nothing(others, known, random.Random(form)))
            for corpus, (folder, target, types) in CORPORA.items():
                for part in ("train", "dev") if target == of else ():
                    documents = read_pubtator(data / folder / f"{part}.pubtator")
                    seen = observed(linker, mentions(linker, documents, types))
                    seen = together(seen, strange)
                    yield corpus, form if part == "train" else f"dev, {form}", seen


def together(*parts: Observations) -> Observations:
    """Return observations one after the other."""
    return Observations(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def mentions(
    linker: Linker, corpus: Iterable[Document | Mention], types: Sequence[str]
) -> Iterator[tuple[Link, bool, str]]:
    """Yield the links of annotated mentions, and whether each is right."""
    pipeline = replace(linker.pipeline, judge=None)
    documents, find = annotated_documents(pipeline.terminology, corpus, types)
    for document, links in pipeline.link_documents(documents, {"k": 2}):
        for mention, link in zip(document.mentions, links, strict=True):
            gold = [find(id_) or "" for id_ in mention.ids]
            yield from (
                (part, right, "mention") for part, right in judged(link, gold, mention.rule)
            )


def observe_patients(data: Path) -> Iterator[tuple[str, str, Observations]]:
    """Yield what patients say of their complaints: half to learn from, half as a dev part."""
    folds = list(read_folds(data / "cadec"))
    records: dict[str, list[Record]] = {}
    for mention in chain.from_iterable(
        read_mention_table(fold.targets) for fold in folds if fold.targets
    ):
        for id_ in mention.ids[:1]:
            of_concept = records.setdefault(id_, [])
            of_concept.append(Name(mention.text, id_) if of_concept else Concept(id_, mention.text))
    linker = Linker.build(Terminology.build(chain.from_iterable(records.values())))
    known = {normalise(name.text) for name in linker.terminology.iter_names()}
    others = [
        concept.label for concept, _ in concepts_of(terminologies(data)["organisms"]()).values()
    ]
    asked = {mention.text: mention.ids[0] for fold in folds for mention in fold.test if mention.ids}
    for form, place in ((FORMS[0], 0), ("dev", 1)):
        questions = [
            Question(text, id_, "mention")
            for text, id_ in sorted(asked.items())
            if zlib.crc32(text.encode()) % 2 == place
        ]
        questions += nothing(others, known, random.Random(form))
        yield PATIENTS, form, ask(linker, questions)


def observe_languages(data: Path) -> Iterator[tuple[str, str, Observations]]:
    """Yield translated names, asked of English ones, with phrases that stand for nothing."""
    concepts = concepts_of(read_records(data / SOURCES["HPO 2014"]), most=None)
    records: list[Record] = []
    for id_, (concept, names) in concepts.items():
        records += [Concept(id_, concept.label), *(Name(n.text, id_, scope=n.scope) for n in names)]
    linker = Linker.build(Terminology.build(records), encoders=list(BILINGUAL))
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


def fit(observations: Mapping[tuple[str, str], Observations]) -> Judge:
    """Fit a judge to domains in their forms; those of ``dev`` are left out."""
    learned = {key: seen for key, seen in observations.items() if not key[1].startswith("dev")}
    weights = [
        seen.weights
        * (_CORPUS_WEIGHT if domain in (*CORPORA, PATIENTS) else 1)
        / sum(other == domain for other, _ in learned)
        for (domain, _), seen in learned.items()
    ]
    every = np.concatenate(weights)
    taught = every > 0
    return fit_judge(
        np.concatenate([seen.evidence for seen in learned.values()])[taught],
        np.concatenate([seen.right for seen in learned.values()])[taught],
        source=COMES_ALONG,
        weights=every[taught] / every[taught].mean(),
    )


def observations_in(folder: Path | None, data: Path) -> dict[tuple[str, str], Observations]:
    """Return all observations, kept in a folder or read from there."""
    if folder is not None and (folder / "domains.json").is_file():
        keys = json.loads((folder / "domains.json").read_text(encoding="utf-8"))
        arrays = [np.load(folder / f"{n}.npz") for n in range(len(keys))]
        return {
            (domain, form): Observations(*(of[name] for name in Observations._fields))
            for (domain, form), of in zip(keys, arrays, strict=True)
        }
    observations = {}
    for domain, form, seen in observe(data):
        print(f"{domain}, {form}: {len(seen.right):,} links, {seen.right.mean():.3f} right")
        observations[domain, form] = seen
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for n, seen in enumerate(observations.values()):
            np.savez(folder / f"{n}.npz", **seen._asdict())
        keys = json.dumps(list(observations))
        (folder / "domains.json").write_text(keys, encoding="utf-8")
    return observations


def main() -> None:
    """Observe, fit and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CANONYM_DATA"))
    parser.add_argument("--observed", type=Path, help="keep observations in this folder")
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED)
    options = parser.parse_args()
    if not SHIPPED.is_file():  # indexes open with one, whatever it says
        level = [Curve(name, (0.0,), (0.0,), 0.0) for name in (*EVIDENCE, ANY)]
        Judge(AdditiveModel(level), 0, 0, COMES_ALONG).save(SHIPPED)
    judge = fit(observations_in(options.observed, options.data))
    judge.save(options.output)
    print(f"{options.output}: {judge.n:,} links, {judge.n_right:,} of them right")


if __name__ == "__main__":
    main()
