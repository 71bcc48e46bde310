"""Measure what a second look has to know (`canonym.linking.second_look.weighing`).

The questions are those of ``make_judge.py`` about which its judge is not sure. They tell how often
the right concept is among the other candidates where the first is wrong, and at which rank. The
contextual encoder answers some of them, which tells how much less its answers say about unsure
mentions than about names: it errs where the judge does. The three jobs are left out.

    python -m models.make_second_look [--observed FOLDER] [-o FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.io.files import write_file
from canonym.linking.links import contexts_of
from canonym.linking.second_look import is_unsure, open_second_look
from canonym.linking.second_look.questions import N_CHOICES, Choice, Question, question_of
from canonym.linking.second_look.weighing import SHIPPED, Elsewhere, weighed
from canonym.terminology.ids import ConceptIds
from canonym.types import Document, Mention, Record
from models import make_judge as asked

EDGES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Between these confidences a number is measured."""

SHARES = tuple(n / 20 for n in range(2, 21))
"""Which are tried for `Elsewhere.trust`."""

LEAST = 1e-3  # nothing is certain
N_ASKED, SEED = 150, 0  # questions of a domain that the contextual encoder answers
N_OF_KIND = {
    "mention": asked.N,
    "taken out": asked.N,
    "sibling": 175,
    "stranger": 500,
    "homonym": 150,
}
"""How many questions of a kind a domain has, where that is not half of `N`."""


class Asked(NamedTuple):
    """A question, how sure the judge is of its first choice, the right choices, and its kind."""

    question: Question
    confidence: float
    right: list[int]
    kind: str

    @classmethod
    def from_list(cls, content: list[Any]) -> Asked:
        """Return what was written as JSON."""
        (written, read, context, choices), *rest = content
        shown = tuple(Choice(a, tuple(b), tuple(c)) for a, b, c in choices)
        return cls(Question(written, read, context, shown), *rest)


# --- questions ------------------------------------------------------------------------------------


def unsure(
    linker: Linker, questions: Sequence[asked.Question], documents: Sequence[Document] = ()
) -> list[Asked]:
    """Return the questions about which the judge of a linker is not sure."""
    of_texts = [Document("", "", (Mention(question.text),)) for question in questions]
    options: Any = {"k": N_CHOICES, "min_confidence": 0, "context": bool(documents)}
    own = documents or of_texts
    links = [link for _, of_one in linker.link_documents(own, **options) for link in of_one]
    of_links = [replace(link, parts=()) for link in links]
    return [
        Asked(
            question_of(link, context, linker.terminology),
            link.confidence,
            [
                place
                for place, candidate in enumerate(link.candidates)
                if candidate.id in question.id.split("|")
            ],
            question.kind,
        )
        for question, link, context in zip(
            questions, links, contexts_of(of_links, own), strict=True
        )
        if not link.parts and link.confidence is not None and is_unsure(link, link.confidence)
    ]


def observe(data: Path) -> Iterator[tuple[str, list[Asked]]]:
    """Yield each domain with what is asked about it."""
    readers = asked.terminologies(data)

    def others(of: str) -> list[str]:
        other = asked.concepts_of(readers[asked.OTHER[of]]())
        return [concept.label for concept, _ in other.values()]

    for name, read in readers.items():
        concepts = asked.concepts_of(read())
        for form in asked.FORMS:
            records, questions = asked.questions_of(
                concepts,
                form,
                others(name),
                random.Random(f"{name} {form}"),
                ill=name in asked.ILLS,
            )
            yield name, unsure(built(records), questions)
    for of in ("MEDIC", "chemicals"):
        linker = built(readers[of]())
        for corpus, (folder, target, types) in asked.CORPORA.items():
            for part in ("train", "dev") if target == of else ():
                documents = list(read_pubtator(data / folder / f"{part}.pubtator"))
                own, questions = single(documents, types, ConceptIds(linker.terminology).find)
                yield corpus, unsure(linker, questions, own)
    linker, of_forms = asked.patients(data, built)
    for questions in of_forms.values():
        yield asked.PATIENTS, unsure(linker, questions)
    for job in asked.JOBS:
        linker = built(asked.job_records(data, job, few=False))
        with (data / "jobs" / job / "mentions.tsv").open(encoding="utf-8", newline="") as lines:
            rows = csv.DictReader(lines, delimiter="\t")
            questions = [asked.Question(row["mention"], row["ids"], "mention") for row in rows]
        yield job, unsure(linker, questions)


def built(records: Iterable[Record]) -> Linker:
    """Return a linker of the default encoder."""
    return Linker.build(Terminology.build(records))


def single(
    documents: Iterable[Document], types: Sequence[str], find: Callable[[str], str | None]
) -> tuple[list[Document], list[asked.Question]]:
    """Return documents with the mentions that stand for one concept, and what is asked of each."""
    own, questions = [], []
    for document in documents:
        mentions = tuple(
            one
            for one in document.mentions
            if len(one.ids) == 1 and one.type in (types or [one.type])
        )
        own.append(Document(document.id, document.text, mentions))
        questions += [
            asked.Question(one.text, find(one.ids[0]) or "", "mention") for one in mentions
        ]
    return own, questions


def questions_in(folder: Path | None, data: Path) -> dict[str, list[Asked]]:
    """Return all that is asked, kept in a folder or read from there."""
    path = folder and folder / "asked.json"
    if path and path.is_file():
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {domain: [Asked.from_list(one) for one in rows] for domain, rows in kept.items()}
    domains: dict[str, list[Asked]] = {}
    for domain, of_domain in observe(data):
        domains.setdefault(domain, []).extend(of_domain)
        reached = np.mean([bool(one.right) for one in of_domain])
        first = np.mean([0 in one.right for one in of_domain])
        print(
            f"{domain}: {len(of_domain):,} unsure, {first:.3f} right, {reached:.3f} among ten",
            flush=True,
        )
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(domains), encoding="utf-8")
    return domains


# --- what is measured -----------------------------------------------------------------------------


class Seen(NamedTuple):
    """The confidence of n questions, the place of the right choice or `N_CHOICES`, the weight."""

    confidence: npt.NDArray[np.float64]
    right: npt.NDArray[np.intp]
    weight: npt.NDArray[np.float64]

    @classmethod
    def of(cls, questions: Sequence[Asked]) -> Seen:
        """Return what is seen of the questions of a domain, whose weights sum to 1."""
        weight = np.array(
            [
                asked.WEIGHTS.get(one.kind, 0.0) / N_OF_KIND.get(one.kind, asked.N // 2)
                for one in questions
            ]
        )
        return cls(
            np.array([one.confidence for one in questions]),
            np.array([min(one.right, default=N_CHOICES) for one in questions]),
            weight / weight.sum(),
        )


def elsewhere(domains: Sequence[Seen]) -> Elsewhere:
    """Return where the right candidate is when it is not the first; each domain weighs the same."""
    seen = Seen(*(np.concatenate(arrays) for arrays in zip(*domains, strict=True)))
    wrong, there = seen.right > 0, (seen.right > 0) & (seen.right < N_CHOICES)
    bins = np.digitize(seen.confidence, EDGES)
    at, reached = [], []
    for number in range(len(EDGES) + 1):
        here = (bins == number) & wrong
        at.append(float(np.average(seen.confidence[here], weights=seen.weight[here])))
        reached.append(float(np.average(there[here], weights=seen.weight[here])))
    ranks = np.bincount(seen.right[there], weights=seen.weight[there], minlength=N_CHOICES)[1:]
    lists = [tuple(np.round(one, 4).tolist()) for one in (at, reached, ranks / ranks.sum())]
    return Elsewhere(lists[0], lists[1], lists[2])


def judged(domains: Mapping[str, list[Asked]], measured: Elsewhere, data: Path) -> Elsewhere:
    """Add what the choices of the contextual encoder tell about unsure mentions.

    It is trusted as far as that does no harm. It knows little that the default encoder does not:
    others are no worse.
    """
    look = open_second_look("contextual")
    known = Linker.build(Terminology.build(asked.terminologies(data)["MEDIC"]()))
    reliability = look.reliability(known.pipeline)
    pairs = []
    for domain, questions in domains.items():
        rng = np.random.default_rng(SEED)
        weight = Seen.of(questions).weight
        drawn = rng.choice(len(questions), N_ASKED, p=weight, replace=False)
        answers = look.ask([questions[n].question for n in drawn])
        pairs += [(questions[n], answer.place) for n, answer in zip(drawn, answers, strict=True)]
        print(f"{domain}: asked {len(drawn):,}", flush=True)
    wrong = [place for one, place in pairs if place not in one.right]
    measured = measured._replace(alike=round(wrong.count(0) / len(wrong), 2))
    before = sum(_loss(one.confidence, 0 in one.right) for one, _ in pairs) / len(pairs)
    harmless = []
    for trust in SHARES:
        loss = 0.0
        for one, place in pairs:
            n = len(one.question.choices)
            likely = weighed(one.confidence, n, place, reliability, measured._replace(trust=trust))
            chosen = place if place and likely[place] > likely[0] else 0
            loss += _loss(likely[chosen], chosen in one.right) / len(pairs)
        print(f"trust {trust}: loss {loss:.4f}, {before:.4f} before")
        harmless += [trust] if loss <= before else []
    return measured._replace(trust=max(harmless))


def _loss(likely: float, right: bool) -> float:
    bounded = min(max(likely, LEAST), 1 - LEAST)
    return -math.log(bounded if right else 1 - bounded)


def main() -> None:
    """Ask, measure and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CANONYM_DATA"))
    parser.add_argument("--observed", type=Path, help="keep questions in this folder")
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED.parent, help="a folder")
    options = parser.parse_args()
    domains = questions_in(options.observed, options.data)
    learned = {name: of for name, of in domains.items() if name not in asked.JOBS}
    measured = elsewhere([Seen.of(questions) for questions in learned.values()])
    measured = judged(learned, measured, options.data)
    with write_file(options.output / SHIPPED.name) as partial:
        partial.write_text(json.dumps(measured._asdict(), indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
