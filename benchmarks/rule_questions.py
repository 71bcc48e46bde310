"""What `rules.py` asks: mentions, lists, drugs, names, pairs of names and texts, with what is right.

Everything is in the data folder or beside this file. A document asks each of its texts once.
"""

from __future__ import annotations

import csv
import gzip
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import checkout  # noqa: F401
from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.corpora.cadec import read_folds, read_mention_table
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from canonym.types import Concept, Document, Link, Mention, Name, Record
from bare_names import is_right as is_bare_right
from bare_names import read_names as read_bare_names
from contrasts import NEGATIONS, draw, exact_ids, living, open_source, without
from domains import terminology as terminology_of
from flags import read_sentences
from models.sources import SOURCES, read_mesh
from models.suite import Domain, read_suite

HERE = Path(__file__).parent
SURE = 0.8
ICD, HPO, MEDIC, DRUGS = "ICD-10-CM", "HPO", "MEDIC", "DrugBank"
FILES = {HPO: SOURCES["HPO 2014"], MEDIC: SOURCES["MEDIC 2012"], DRUGS: SOURCES["DrugBank"]}
CORPORA = (
    ("NCBI disease", "ncbi-disease", "", MEDIC),
    ("BC5CDR diseases", "bc5cdr", "Disease", MEDIC),
    ("BC5CDR chemicals", "bc5cdr", "Chemical", "MeSH"),
)
JOBS = ("uk-biobank", "clinical-phenotypes", "adverse-effects")
PAIRS = (HPO, ICD, MEDIC, DRUGS, "genes")
_TEXTS = 120  # documents of a corpus whose names are looked for
_NAMES = 250  # of each kind of changed names
_NEGATED = 60
_DENIED = re.compile(r"(?i)\b(?:no|not|without|absen\w+)\b")

Right = Callable[[Link], bool]


class Question(NamedTuple):
    """A document to link with a linker, and what is right of each of its mentions.

    `way` is how: its mentions are linked, or its names are found in its text, or its sentence gives
    a mention flags. `gold` are then the spans with the right ids of each, or the flags.
    """

    group: str
    source: str
    linker: str
    document: Document
    rights: tuple[Right, ...] = ()
    way: str = "mentions"
    gold: Any = None


class Asked(NamedTuple):
    """Questions, and the linkers by name that are asked."""

    questions: list[Question]
    linkers: dict[str, Linker]


def is_among(ids: Iterable[str]) -> Right:
    """Return what tells whether the first candidate of a link, or of a part, is among ids."""
    gold = frozenset(ids)

    def right(link: Link) -> bool:
        parts = link.parts or (link,)
        return any(part.candidates[0].id in gold for part in parts if part.candidates)

    return right


def are_all(ids: Iterable[str]) -> Right:
    """Return what tells whether a link has these concepts, and no other."""
    gold = frozenset(ids)
    return lambda link: frozenset(link.ids) == gold


def _alone(
    group: str, source: str, linker: str, pairs: Iterable[tuple[str, Right]]
) -> Iterator[Question]:
    for text, right in pairs:
        yield Question(group, source, linker, Document("", "", (Mention(text),)), (right,))


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


# --- corpora --------------------------------------------------------------------------------------


def corpora(data: Path, linkers: Mapping[str, Linker]) -> Iterator[Question]:
    """Yield the development parts of corpora, and names in some of their texts."""
    for source, folder, type_, index in CORPORA:
        ids = ConceptIds(linkers[index].terminology)
        for n, document in enumerate(read_pubtator(data / folder / "dev.pubtator")):
            mentions = [m for m in document.mentions if not type_ or m.type == type_]
            golds = [frozenset(filter(None, map(ids.find, mention.ids))) for mention in mentions]
            first: dict[str, int] = {}
            for at, mention in enumerate(mentions):
                first.setdefault(mention.text, at)
            asked = replace(document, mentions=tuple(mentions[at] for at in first.values()))
            rights = tuple(is_among(golds[at]) for at in first.values())
            if asked.mentions:
                yield Question("corpora", source, index, asked, rights)
            if n < _TEXTS and index == MEDIC:
                spans = {
                    (m.start, m.end): is_among(gold)
                    for m, gold in zip(mentions, golds, strict=True)
                }
                text = replace(document, mentions=())
                yield Question("texts", f"{source}, texts", index, text, (), "texts", spans)
    folds = list(read_folds(data / "cadec"))
    pairs = dict.fromkeys(
        (m.text, m.ids[0]) for m in chain.from_iterable(fold.test for fold in folds)
    )
    yield from _alone("corpora", "CADEC", "CADEC", ((text, is_among([id])) for text, id in pairs))


def _cadec(data: Path) -> Terminology:
    folds = list(read_folds(data / "cadec"))
    targets = chain.from_iterable(read_mention_table(fold.targets) for fold in folds if fold.targets)
    names = dict.fromkeys((m.text, id) for m in targets for id in m.ids[:1])
    return terminology_of(Domain("", [], list(names)))


# --- jobs -----------------------------------------------------------------------------------------


def jobs(data: Path) -> Iterator[Question]:
    """Yield the mentions of three jobs that people did by hand."""
    for job in JOBS:
        rows = _table(data / "jobs" / job / "mentions.tsv")
        rows = list({row["mention"]: row for row in rows}.values())
        pairs = ((row["mention"], is_among(row["ids"].split("|"))) for row in rows)
        yield from _alone("jobs", job, job, pairs)


def _job(data: Path, name: str) -> Terminology:
    with gzip.open(data / "jobs" / name / "terms.tsv.gz", "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    by_concept: dict[str, list[Record]] = {}
    for row in rows:
        records = by_concept.setdefault(row["id"], [])
        records.append(
            Name(row["name"], row["id"], scope=row["scope"])
            if records
            else Concept(row["id"], row["name"])
        )
    return Terminology.build(chain.from_iterable(by_concept.values()))


# --- our own lists --------------------------------------------------------------------------------


def lists(linkers: Mapping[str, Linker]) -> Iterator[Question]:
    """Yield the lists beside this file."""
    for name in ("everyday_names", "everyday_held_out", "everyday_patients"):
        pairs = ((row["name"], _in_families(row)) for row in _table(HERE / f"{name}.tsv"))
        yield from _alone("lists", name, ICD, pairs)
    bare = ((name, _is_bare(code)) for name, code in read_bare_names())
    yield from _alone("lists", "bare_names", ICD, bare)
    for name in ("noted", "misspelt"):
        rows = _table(HERE / f"{name}.tsv")
        for index in dict.fromkeys(row["terminology"] for row in rows):
            own = [row for row in rows if row["terminology"] == index]
            yield from _alone("lists", name, index, _as_meant(linkers[index], own))
    statuses = _table(HERE / "statuses.tsv")
    yield from _alone("lists", "statuses", ICD, _as_meant(linkers[ICD], statuses))
    for sentence in read_sentences():
        document = Document("", sentence.text, (sentence.mention,))
        yield Question("sentences", "flag_sentences", "", document, (), "flags", sentence.flags)


def _in_families(row: Mapping[str, str]) -> Right:
    families = tuple(row["families"].split())
    return lambda link: any(
        part.candidates[0].id.removeprefix("ICD10CM:").startswith(families)
        for part in (link.parts or (link,))
        if part.candidates
    )


def _is_bare(code: str) -> Right:
    return lambda link: bool(link.candidates) and is_bare_right(link, code)


def _as_meant(
    linker: Linker, rows: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, Right]]:
    """Yield what is written with what is right: the concept of what is meant, and its flags.

    What is meant and not surely linked is left out.
    """
    meant = linker.link([row["meant"] for row in rows])
    for row, link in zip(rows, meant, strict=True):
        if link.id and not link.nil and (link.confidence or 0) >= SURE:
            flags = row.get("flags")
            yield row["written"], _says(link.id, None if flags is None else flags.split())


def _says(id: str, flags: Sequence[str] | None) -> Right:
    is_it = is_among([id])

    def right(link: Link) -> bool:
        part = (link.parts or (link,))[0]
        return is_it(link) and (flags is None or sorted(part.status) == sorted(flags))

    return right


# --- drugs ----------------------------------------------------------------------------------------


def drugs(data: Path, linker: Linker) -> Iterator[Question]:
    """Yield drug products and the drugs of trials, to be found in DrugBank.

    Right for a trial is the drug that its only term of MeSH names.
    """
    products = _table(HERE / "drug_products.tsv")
    yield from _alone("drugs", "products", DRUGS, _as_meant(linker, products))
    with gzip.open(data / "clinical-trials/trials.tsv.gz", "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = dict.fromkeys(
        (row["interventions"].partition(":")[2], row["intervention_mesh"])
        for row in rows
        if row["interventions"].startswith("Drug:") and "|" not in row["interventions"]
    )
    pairs = {pair: None for pair in pairs if pair[1] and "|" not in pair[1]}
    ids: dict[str, set[str]] = {}
    for name in living(linker.terminology):
        ids.setdefault(name.text.casefold(), set()).add(name.concept_id)
    known = [(text, ids[term.casefold()]) for text, term in pairs if term.casefold() in ids]
    yield from _alone("drugs", "trials", DRUGS, ((text, is_among(own)) for text, own in known))


# --- names ----------------------------------------------------------------------------------------


def names(linkers: Mapping[str, Linker]) -> Iterator[Question]:
    """Yield names of HPO that were taken out, and others as people change them."""
    linker = linkers[HPO]
    of_text: dict[str, set[str]] = {}
    for name in living(linker.terminology):
        of_text.setdefault(name.text, set()).add(name.concept_id)
    known = sorted(text for text, ids in of_text.items() if len(ids) == 1 and len(text) > 3)
    rng = random.Random(1)

    def drawn() -> list[str]:
        return rng.sample(known, _NAMES)

    for kind, change in _CHANGES.items():
        pairs = [(change(text, rng), is_among(of_text[text])) for text in drawn()]
        yield from _alone("names", kind, HPO, pairs)
    for joint in (", ", " and ", "; ", "/", "\n", " & ", " with ", ". "):
        rows = zip(drawn()[:40], drawn()[:40], strict=True)
        pairs = [(joint.join(row), are_all(of_text[row[0]] | of_text[row[1]])) for row in rows]
        yield from _alone("names", f"two, joined by {joint!r}", HPO, pairs)
    for form in _WITH_IDS:
        texts = drawn()[:40]
        pairs = [
            (form.format(name=text, id=min(of_text[text])), is_among(of_text[text]))
            for text in texts
        ]
        yield from _alone("names", "beside their ids", HPO, pairs)


def _slip(text: str, rng: random.Random) -> str:
    letters = [at for at in range(1, len(text)) if text[at].isalpha()]
    at = rng.choice(letters)
    new = rng.choice((text[at] * 2, "", rng.choice("aeiourst")))
    return text[:at] + new + text[at + 1 :]


def _glued(text: str, rng: random.Random) -> str:
    spaces = [match.start() for match in re.finditer(" ", text)]
    at = rng.choice(spaces or [len(text)])
    return text[:at] + text[at + 1 :]


def _inverted(text: str, _: random.Random) -> str:
    words = text.split()
    return f"{words[-1]}, {' '.join(words[:-1])}" if len(words) > 1 else text


def _noted(text: str, rng: random.Random) -> str:
    forms = (
        "severe {}", "{}, mild", "{} x3 days", "pt with {}", "{} (disorder)", "{}, unspecified",
        "1. {}", "recurrent {}", "{} NOS", "left {}", "bilateral {}", "{} since 2019", "Dx: {}",
        "{} on exertion", "<b>{}</b>", "{}&nbsp;", "my {}",
    )  # fmt: skip
    return rng.choice(forms).format(text.lower())


_CHANGES: Mapping[str, Callable[[str, random.Random], str]] = {
    "as written": lambda text, _: text,
    "in capitals": lambda text, _: text.upper(),
    "with a slip": _slip,
    "with a space left out": _glued,
    "inverted": _inverted,
    "as notes have them": _noted,
}
_WITH_IDS = ("{id} {name}", "{name} ({id})", "{id}", "{id} - {name}")


def _read(file: Path) -> Terminology:
    return Terminology.build(read_records(file))


def held_out(data: Path) -> tuple[Domain, Domain]:
    """Return names of phenotypes and of drugs that were taken out, and those that stay."""
    domains = {domain.name: domain for domain in _first(read_suite(data), 4)}
    return domains["phenotypes"], domains["drugs"]


def _first(domains: Iterator[Domain], n: int) -> Iterator[Domain]:
    for _ in range(n):
        yield next(domains)


# --- pairs ----------------------------------------------------------------------------------------


def pairs(
    data: Path,
    linkers: dict[str, Linker],
    open_linker: Callable[[str, Callable[[], Terminology]], Linker],
) -> Iterator[Question]:
    """Yield names that differ from another concept's by a sign, a number, an opposite word …

    Their concept is there, or was taken out; then any exact match is wrong. So it is for a name
    behind a negation.
    """
    for source in PAIRS:
        rng = random.Random(f"0 {source}")
        terminology = open_source(source, data)
        every = living(terminology)
        drawn = draw(every, rng)
        if source not in linkers:
            linkers[source] = open_linker(source, partial(_same, terminology))
        present = ((pair.asked, is_among(pair.ids)) for pair in drawn)
        yield from _alone("pairs", f"{source}, present", source, present)
        absent, gone = f"{source}, absent", {id for pair in drawn for id in pair.ids}
        linkers[absent] = open_linker(absent, partial(without, terminology, gone))
        asked = ((pair.asked, _is_not_exact) for pair in drawn)
        yield from _alone("pairs", absent, absent, asked)
        plain = [name.text for name in every if len(name.text) > 3 and not _DENIED.search(name.text)]
        denied = [rng.choice(NEGATIONS).format(text) for text in rng.sample(plain, _NEGATED)]
        asked = ((text, _is_not_exact) for text in denied)
        yield from _alone("pairs", f"{source}, negated", source, asked)


def _same(terminology: Terminology) -> Terminology:
    return terminology


def _is_not_exact(link: Link) -> bool:
    return not exact_ids(link)


# --- all ------------------------------------------------------------------------------------------


def read_all(data: Path, folder: Path) -> Asked:
    """Return all questions, and the linkers, whose indexes stay in a folder."""

    def open_linker(name: str, read: Callable[[], Terminology]) -> Linker:
        index = folder / re.sub(r"\W+", "-", name)
        if not index.is_dir():
            print(f"index {name}", flush=True)
            Linker.build(read(), folder=index)
        return Linker.load(index)

    phenotypes, medicines = held_out(data)
    linkers = {
        ICD: Linker.load(Linker.default().folder),
        "MeSH": open_linker("MeSH", lambda: Terminology.build(read_mesh(data))),
        "CADEC": open_linker("CADEC", lambda: _cadec(data)),
        "held out": open_linker("held out", lambda: terminology_of(phenotypes)),
        "drugs held out": open_linker("drugs held out", lambda: terminology_of(medicines)),
    }
    for name, file in FILES.items():
        linkers[name] = open_linker(name, partial(_read, data / file))
    for job in JOBS:
        linkers[job] = open_linker(job, partial(_job, data, job))
    questions = [
        *corpora(data, linkers),
        *jobs(data),
        *lists(linkers),
        *drugs(data, linkers[DRUGS]),
        *names(linkers),
    ]
    for domain, name in ((phenotypes, "held out"), (medicines, "drugs held out")):
        asked = ((text, is_among([id])) for text, id in domain.questions[:600])
        group = "names" if name == "held out" else "drugs"
        questions += _alone(group, f"{domain.name}, held out", name, asked)
    questions += pairs(data, linkers, open_linker)
    return Asked(questions, linkers)
