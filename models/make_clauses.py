"""Fit what tells several things from one name (`canonym.linking.clauses`), from many domains.

Each terminology of ``make_judge.py`` is asked for names that were taken out of it and that have
several clauses; and for cells that list two or three of its names, one of which was taken out. The
ways to write them are the first of ``benchmarks/ways.tsv``, for what a patient has, and the
plain ones below. The mentions of the train parts of corpora and patients' words are single names
too, and the cells of ``benchmarks/siblings.tsv`` that were read are what their answers say.

Of four mentions three are single names. What both readings get right, or neither, counts less than
a third, and what only the wrong one gets right nothing.

    python -m models.make_clauses [--data FOLDER] [-o FILE]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.io.files import write_file
from canonym.linking.clauses import EVIDENCE, SHIPPED, evidence_of_clauses
from canonym.linking.division import Proposal, proposals
from canonym.linking.hits import undivided
from canonym.linking.judge import ANY
from canonym.mentions.clauses import all_clauses
from canonym.ranking.additive_model import Curve, fit_additive_model
from canonym.terminology.ids import ConceptIds
from canonym.text import normalise
from canonym.types import Concept, Link, Name, Record
from models import make_judge as asked

N_TAKEN, N_SHORT, N_KNOWN = 2_500, 700, 1_500
"""Names of a terminology that are taken out, with clauses and without; and others in cells."""

DRAWS, PLAIN_DRAWS = 4, 48
"""Cells of each way, and of each plain way."""

PLAIN = (
    *("A, B", "A and B", "A; B", "A/B", "A & B", "A. B", "A + B", "A, B and C", "A, B, C"),
    *("A - B", "A with B", "A, B/C", "A plus B", "A or B"),
)
SINGLE, NEITHER = 0.75, 0.3
WAYS = Path(__file__).parents[1] / "benchmarks" / "ways.tsv"
CELLS = WAYS.with_name("siblings.tsv")
_FEWEST = 50  # fewer of a domain weigh less
_MOST_WORDS = 4  # of a name in a cell
_LETTER = re.compile(r"((?<![A-Za-z'])[ABC](?![A-Za-z']|/P))")


class Question(NamedTuple):
    """A text, and the things in it, each by the ids of which any is right."""

    text: str
    things: tuple[frozenset[str], ...]


class Seen(NamedTuple):
    """What clauses show, whether they are several things, and whether that reading is right.

    `is_clear` is None where both readings are right, or neither is.
    """

    domain: str
    evidence: list[float]
    are_several: bool
    is_clear: bool | None


def clauses_of(linker: Linker, texts: Sequence[str]) -> Iterator[tuple[int, Proposal]]:
    """Yield the mentions that may be several things, by place, with their clauses."""
    seen = dict[str, Proposal]()

    def kept(links: Sequence[Link], *how: object) -> list[Link]:
        found = proposals(links, *how[:2])  # type: ignore[arg-type]
        seen.update((links[one.at].mention.text, one) for one in found)
        return list(links)

    with patch("canonym.linking.pipeline.by_clause", kept):
        linker.link(texts, min_confidence=0)
    yield from ((n, seen[text]) for n, text in enumerate(texts) if text in seen)


def seen_of(domain: str, linker: Linker, questions: Sequence[Question]) -> Iterator[Seen]:
    """Yield what the clauses of questions show."""
    for n, proposal in clauses_of(linker, [question.text for question in questions]):
        things = questions[n].things
        whole, told = (
            all(any(part.id in ids for part in undivided(links)) for ids in things)
            for links in ([proposal.whole], proposal.told)
        )
        are_several = len(things) > 1
        is_clear = None if whole == told else told == are_several
        evidence = evidence_of_clauses(proposal.whole, proposal.told, proposal.joints[1:])
        yield Seen(domain, evidence.tolist(), are_several, is_clear)


# --- questions ------------------------------------------------------------------------------------


def taken_out(
    concepts: asked.Concepts, rng: random.Random
) -> tuple[list[Record], dict[str, str], dict[str, str]]:
    """Return records without the names that are asked for, and these: with clauses, and short."""
    owners: dict[str, set[str]] = {}
    for id_, (concept, names) in concepts.items():
        for text in (concept.label, *(name.text for name in names)):
            owners.setdefault(normalise(text), set()).add(id_)
    out, short, records = dict[str, str](), dict[str, str](), list[Record]()
    ids = list(concepts)
    rng.shuffle(ids)
    for id_ in ids:
        concept, names = concepts[id_]
        texts = dict.fromkeys([concept.label, *(name.text for name in names)])
        own = [text for text in texts if len(owners[normalise(text)]) == 1]
        cut = [text for text in own if has_clauses(text)]
        plain = [text for text in own[1:] if is_short(text)]
        if cut and len(texts) > 1 and len(out) < N_TAKEN:
            out[id_] = rng.choice(cut)
        elif plain and len(short) < N_SHORT:
            short[id_] = rng.choice(plain)
        gone = normalise(out.get(id_) or short.get(id_) or "")
        label, *others = [text for text in texts if normalise(text) != gone] or [concept.label]
        records.append(Concept(id_, label, types=concept.types))
        records += [Name(text, id_) for text in others]
    return records, out, short


def has_clauses(text: str) -> bool:
    """Tell whether clauses may be cut from a name."""
    return len(all_clauses(text)) > 1


def is_short(text: str) -> bool:
    """Tell whether a name may stand in a cell with others."""
    return len(text.split()) <= _MOST_WORDS and not has_clauses(text)


def cells(
    ways: Iterable[tuple[str, int]],
    known: Sequence[tuple[str, str]],
    unknown: Sequence[tuple[str, str]],
    rng: random.Random,
) -> Iterator[Question]:
    """Yield cells with names, one of them unknown."""
    for cell, draws in ways:
        letters = sorted(set(_LETTER.findall(cell)))
        for _ in range(draws if len(letters) > 1 else 0):
            own = {letter: rng.choice(known) for letter in letters}
            own[rng.choice(letters)] = rng.choice(unknown)
            text = "".join(own.get(piece, (piece,))[0] for piece in _LETTER.split(cell))
            yield Question(text, tuple(frozenset([id_]) for _, id_ in own.values()))


def single(text: str, id_: str) -> Question:
    """Return a single name."""
    return Question(text, (frozenset([id_]),))


def cells_read() -> Iterator[Question]:
    """Yield the cells of notes that were read, with the codes of their parts."""
    ids = [concept.id for concept in Linker.default().terminology.iter_concepts()]
    with CELLS.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="\t") if row["set"] == "looked at"]
    for row in rows:
        parts = (part.partition(":")[0].split("|") for part in row["expected"].split(" ; "))
        prefixes = [
            tuple(f"ICD10CM:{code}" for code in codes)
            for codes in parts
            if not codes[0].startswith("!") and codes[0] not in ("NIL", "*")
        ]
        things = tuple(frozenset(id_ for id_ in ids if id_.startswith(of)) for of in prefixes)
        if things:
            yield Question(row["written"].replace("\\n", "\n"), things)


def first_ways() -> list[str]:
    """Return the ways to write names in a cell that were read, where all names may be linked."""
    with WAYS.open(encoding="utf-8", newline="") as lines:
        return [
            row["cell"].replace("\\n", "\n").replace("\\t", "\t")
            for row in csv.DictReader(lines, delimiter="\t")
            if row["set"] == "first" and "any" not in row["says"].split()
        ]


def observe(data: Path) -> Iterator[Seen]:
    """Yield what is seen in each domain."""
    readers = asked.terminologies(data)
    for domain, read in readers.items():
        rng = random.Random(domain)
        concepts = asked.concepts_of(read())
        records, out, short = taken_out(concepts, rng)
        linker = Linker.build(Terminology.build(records))
        yield from seen_of(domain, linker, [single(text, id_) for id_, text in out.items()])
        labels = ((concept.label, id_) for id_, (concept, _) in concepts.items())
        known = [it for it in labels if it[1] not in out and is_short(it[0])][:N_KNOWN]
        unknown = [(text, id_) for id_, text in short.items()]
        ways = [(cell, PLAIN_DRAWS) for cell in PLAIN]
        ways += [(cell, DRAWS) for cell in first_ways()] if domain in asked.ILLS else []
        if known and unknown:
            yield from seen_of(domain, linker, [*cells(ways, known, unknown, rng)])
    for corpus, (folder, target, types) in asked.CORPORA.items():
        linker = Linker.build(Terminology.build(readers[target]()))
        find, golds = ConceptIds(linker.terminology).find, dict[str, Question]()
        for document in read_pubtator(data / folder / "train.pubtator"):
            for mention in document.mentions:
                gold = [*filter(None, map(find, mention.ids))]
                if len(gold) == len(mention.ids) == 1 and (not types or mention.type in types):
                    golds[mention.text] = single(mention.text, gold[0])
        yield from seen_of(corpus, linker, [*golds.values()])
    linker, questions = asked.patients(data, lambda of: Linker.build(Terminology.build(of)))
    learned = [single(question.text, question.id) for question in questions[asked.FORMS[0]]]
    yield from seen_of(asked.PATIENTS, linker, learned)
    yield from seen_of("cells", Linker.default(), [*cells_read()])


# --- the curves -----------------------------------------------------------------------------------


def weights_of(seen: Sequence[Seen]) -> np.ndarray:
    """Return the weight of each: domains weigh the same, and single names what is told above."""
    each = {None: NEITHER, True: 1.0, False: 0.0}
    weights = np.array([each[one.is_clear] for one in seen])
    domains = np.array([one.domain for one in seen])
    several = np.array([one.are_several for one in seen])
    for is_several, share in ((True, 1 - SINGLE), (False, SINGLE)):
        for domain in set(domains):
            of_domain = (domains == domain) & (several == is_several)
            weights[of_domain] /= max(weights[of_domain].sum(), _FEWEST)
        weights[several == is_several] *= share / weights[several == is_several].sum()
    return np.asarray(weights * len(seen))


def fit(seen: Sequence[Seen]) -> tuple[Curve, ...]:
    """Fit curves; a single name is a second candidate of which nothing is known."""
    weights = weights_of(seen)
    features = np.full((len(seen), 2, len(EVIDENCE) + 1), np.nan)
    features[:, 0, :-1] = [one.evidence for one in seen]
    features[:, 0, -1] = 1.0
    several = np.array([one.are_several for one in seen])
    gold, taught = np.stack([several, ~several], axis=1), weights > 0
    model = fit_additive_model(
        features[taught], gold[taught], (*EVIDENCE, ANY), weights=weights[taught], knots=6
    )
    return model.curves


def main() -> None:
    """Observe, fit and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("CANONYM_DATA"))
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED, help="a file")
    options = parser.parse_args()
    seen = [*observe(options.data)]
    content = {
        "n": len(seen),
        "n_several": sum(one.are_several for one in seen),
        "curves": [curve._asdict() for curve in fit(seen)],
    }
    with write_file(options.output) as partial:
        partial.write_text(f"{json.dumps(content, indent=1)}\n", encoding="ascii", newline="\n")
    print(f"{len(seen):,} mentions, {content['n_several']:,} of them of several things")


if __name__ == "__main__":
    main()
