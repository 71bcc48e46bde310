"""What `rules.py` asks: mentions, lists, drugs, names, pairs and texts, with what is right.

Everything is in the data folder or beside this file. A document asks each of its texts once.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from bare_names import is_right as is_bare_right
from canonym import Linker, Terminology
from canonym.corpora.cadec import read_folds
from canonym.linking.decision import NEGATED
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from canonym.text.memo import strong_forms
from canonym.types import Concept, Document, Link, Mention, Name, Record
from contrasts import NEGATIONS, draw, exact_ids, living, open_source
from domains import names_of, patients
from flags import read_sentences
from inputs import documents_of, is_sure, rows_beside, terminology_of, without
from models.make_judge import JOBS
from models.sources import SOURCES, read_mesh
from models.suite import Domain, _chosen, _domain
from record import rows_of, settings_of
from siblings import outcome

ICD, HPO, MEDIC, DRUGS = "ICD-10-CM", "HPO", "MEDIC", "DrugBank"
FILES = {HPO: SOURCES["HPO 2014"], MEDIC: SOURCES["MEDIC 2012"], DRUGS: SOURCES["DrugBank"]}
CORPORA = (
    ("NCBI disease", "ncbi-disease", "", MEDIC),
    ("BC5CDR diseases", "bc5cdr", "Disease", MEDIC),
    ("BC5CDR chemicals", "bc5cdr", "Chemical", "MeSH"),
)
PAIRS = (HPO, ICD, MEDIC, DRUGS, "genes")
_TEXTS = 120  # documents of a corpus whose names are looked for
_NAMES = 250  # of each kind of changed names
_NEGATED = 60
_HELD_OUT = 600
_REWORDED = 30  # names of a form
FORMS = settings_of(__file__)
_DENIED = re.compile(r"(?i)\b(?:no|not|without|absen\w+)\b")

Right = Callable[[Link], bool]
_Open = Callable[[str, Callable[[], Terminology]], Linker]


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


# --- corpora --------------------------------------------------------------------------------------


def corpora(data: Path, linkers: Mapping[str, Linker]) -> Iterator[Question]:
    """Yield the development parts of corpora, and names in some of their texts."""
    for source, folder, type_, index in CORPORA:
        ids = ConceptIds(linkers[index].terminology)
        for n, document in enumerate(documents_of(folder, "dev", type=type_)):
            mentions = document.mentions
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


# --- jobs -----------------------------------------------------------------------------------------


def jobs(data: Path, linkers: Mapping[str, Linker]) -> Iterator[Question]:
    """Yield the mentions of three jobs that people did by hand.

    Terminologies that stand beside each other have twins: any concept of the same label is right.
    """
    for job in JOBS:
        labels = [
            (concept.id, concept.label) for concept in linkers[job].terminology.iter_concepts()
        ]
        forms = strong_forms([label for _, label in labels])
        form_of = {id: form for (id, _), form in zip(labels, forms, strict=True)}
        twins: dict[str, set[str]] = {}
        for id, form in form_of.items():
            twins.setdefault(form, set()).add(id)
        rows = {row["mention"]: row for row in rows_of(data / "jobs" / job / "mentions.tsv")}
        for text, row in rows.items():
            ids = row["ids"].split("|")
            same = [id for own in ids if own in form_of for id in twins[form_of[own]]]
            yield from _alone("jobs", job, job, [(text, is_among([*ids, *same]))])


def _job(data: Path, name: str) -> Terminology:
    by_concept: dict[str, list[Record]] = {}
    for row in rows_of(data / "jobs" / name / "terms.tsv.gz"):
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
        pairs = ((row["name"], _in_families(row)) for row in rows_beside(name))
        yield from _alone("lists", name, ICD, pairs)
    bare = ((row["name"], _is_bare(row["code"])) for row in rows_beside("bare_names"))
    yield from _alone("lists", "bare_names", ICD, bare)
    for name in ("noted", "misspelt"):
        rows = rows_beside(name)
        for index in dict.fromkeys(row["terminology"] for row in rows):
            own = [row for row in rows if row["terminology"] == index]
            yield from _alone("lists", name, index, _as_meant(linkers[index], own))
    statuses = rows_beside("statuses")
    for index in (ICD, HPO, MEDIC):
        pairs = _as_meant(linkers[index], statuses)
        yield from _alone("lists", f"statuses, {index}", index, pairs)
    cells = rows_beside("siblings")
    for of_set in dict.fromkeys(row["set"] for row in cells):
        own = ((_lines(row["written"]), _is_cell(row)) for row in cells if row["set"] == of_set)
        yield from _alone("cells", of_set, ICD, own)
    for sentence in read_sentences("flag_sentences"):
        document = Document("", sentence.text, (sentence.mention,))
        yield Question("sentences", "flag_sentences", "", document, (), "flags", sentence.flags)


def _in_families(row: Mapping[str, str]) -> Right:
    families = tuple(row["families"].split())
    return lambda link: any(
        part.candidates[0].id.removeprefix("ICD10CM:").startswith(families)
        for part in (link.parts or (link,))
        if part.candidates
    )


def _lines(written: str) -> str:
    return written.replace("\\n", "\n")


def _is_cell(row: Mapping[str, str]) -> Right:
    """Return what tells whether all parts of a cell are right, those that it denies as well."""
    lenient = row["kind"] == "care"

    def kept(link: Link) -> Link:
        return replace(link, nil=False) if link.reason == NEGATED else link

    def right(link: Link) -> bool:
        link = replace(link, parts=tuple(map(kept, link.parts))) if link.parts else kept(link)
        return outcome(link, row["expected"], lenient=lenient)[0]

    return right


def _is_bare(code: str) -> Right:
    return lambda link: bool(link.candidates) and is_bare_right(link, code)


def _as_meant(linker: Linker, rows: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, Right]]:
    """Yield what is written with what is right: the concept of what is meant, and its flags.

    What is meant and not surely linked is left out.
    """
    meant = linker.link([row["meant"] for row in rows])
    for row, link in zip(rows, meant, strict=True):
        if link.id and is_sure(link):
            flags = row.get("flags")
            yield row["written"], _says(link.id, None if flags is None else flags.split())


def _says(id: str, flags: Sequence[str] | None) -> Right:
    """Return what tells whether a link is a concept with flags, or a concept that says them."""
    is_it = is_among([id])
    named = {"historical": "personal history", "family": "family history"}

    def right(link: Link) -> bool:
        part = (link.parts or (link,))[0]
        if is_it(link) and (flags is None or sorted(part.status) == sorted(flags)):
            return True
        says = named.get(" ".join(flags or ()))
        label = part.candidates[0].label.lower() if part.candidates else ""
        return says is not None and not part.status and label.startswith((says, "old "))

    return right


# --- drugs ----------------------------------------------------------------------------------------


def drugs(data: Path, linker: Linker) -> Iterator[Question]:
    """Yield drug products and the drugs of trials, to be found in DrugBank.

    Right for a trial is the drug that its only term of MeSH names.
    """
    products = rows_beside("drug_products")
    yield from _alone("drugs", "products", DRUGS, _as_meant(linker, products))
    rows = rows_of(data / "clinical-trials" / "trials.tsv.gz")
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
    for joint in FORMS["joints"]:
        rows = zip(drawn()[:40], drawn()[:40], strict=True)
        pairs = [(joint.join(row), are_all(of_text[row[0]] | of_text[row[1]])) for row in rows]
        yield from _alone("names", f"two, joined by {joint!r}", HPO, pairs)
    for form in FORMS["with_ids"]:
        texts = drawn()[:40]
        pairs = [
            (form.format(name=text, id=min(of_text[text])), is_among(of_text[text]))
            for text in texts
        ]
        yield from _alone("names", "beside their ids", HPO, pairs)


def reworded(linkers: Mapping[str, Linker]) -> Iterator[Question]:
    """Yield names of ICD-10-CM in other words of classifications, organisms by initials, and names
    with letters that a wrong encoding spoils.
    """
    rng = random.Random(2)
    for pattern, form in FORMS["reworded"].items():
        owners: dict[str, set[str]] = {}
        expression = re.compile(pattern, re.IGNORECASE)
        for name in living(linkers[ICD].terminology):
            if match := expression.fullmatch(name.text):
                owners.setdefault(form.format(*match.groups()), set()).add(name.concept_id)
        texts = rng.sample(sorted(owners), min(_REWORDED, len(owners)))
        pairs = [(text, is_among(owners[text])) for text in texts]
        yield from _alone("names", "in other words of classifications", ICD, pairs)
    short: dict[str, set[str]] = {}
    for concept in linkers["MeSH"].terminology.iter_concepts():
        if "B" in concept.types and (match := _BINOMIAL.fullmatch(concept.label)):
            short.setdefault(f"{match[1]}. {match[2]}", set()).add(concept.id)
    pairs = [(text, is_among(short[text])) for text in rng.sample(sorted(short), _NAMES)]
    yield from _alone("names", "organisms by their initials", "MeSH", pairs)
    misread = []
    for name in living(linkers[MEDIC].terminology) + living(linkers[HPO].terminology):
        if not name.text.isascii():
            text = name.text.encode().decode("cp1252", "replace")
            index = HPO if name.concept_id.startswith("HP:") else MEDIC
            misread.append((index, text, is_among([name.concept_id])))
    for index, text, right in misread[:_NAMES]:
        yield from _alone("names", "misread", index, [(text, right)])


_BINOMIAL = re.compile(r"([A-Z])[a-z]{3,} ([a-z]{5,})")


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
    return rng.choice(FORMS["noted"]).format(text.lower())


_CHANGES: Mapping[str, Callable[[str, random.Random], str]] = {
    "as written": lambda text, _: text,
    "in capitals": lambda text, _: text.upper(),
    "with a slip": _slip,
    "with a space left out": _glued,
    "inverted": _inverted,
    "as notes have them": _noted,
}


def held_out(data: Path, source: str) -> Domain:
    """Return names of a terminology that were taken out, and those that stay."""
    records = list(read_records(data / FILES[source]))
    out = {record.id for record in records if isinstance(record, Concept) and _chosen(record.id)}
    return _domain(source, iter(records), frozenset(out))


# --- pairs ----------------------------------------------------------------------------------------


def pairs(folder: Path, linkers: dict[str, Linker], open_linker: _Open) -> Iterator[Question]:
    """Yield names that differ from another concept's by a sign, a number, an opposite word …

    Their concept is there, or was taken out; then any exact match is wrong. So it is for a name
    behind a negation.
    """
    for source in PAIRS:
        terminology = cache(partial(open_source, source))
        asked, denied = _drawn(folder / f"pairs-{source}.json", source, terminology)
        if source not in linkers:
            linkers[source] = open_linker(source, terminology)
        present = ((text, is_among(ids)) for text, ids in asked)
        yield from _alone("pairs", f"{source}, present", source, present)
        absent, gone = f"{source}, absent", {id for _, ids in asked for id in ids}
        linkers[absent] = open_linker(absent, partial(_without, terminology, gone))
        yield from _alone("pairs", absent, absent, ((text, _is_not_exact) for text, _ in asked))
        negated = ((text, _is_not_exact) for text in denied)
        yield from _alone("pairs", f"{source}, negated", source, negated)


def _drawn(
    path: Path, source: str, terminology: Callable[[], Terminology]
) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """Return the names that are asked with their concepts, and names behind a negation."""
    if not path.is_file():
        rng = random.Random(f"0 {source}")
        names = living(terminology())
        asked = [(pair.asked, sorted(pair.ids)) for pair in draw(names, rng)]
        plain = [name.text for name in names if len(name.text) > 3]
        plain = [text for text in plain if not _DENIED.search(text)]
        denied = [rng.choice(NEGATIONS).format(text) for text in rng.sample(plain, _NEGATED)]
        path.write_text(json.dumps([asked, denied]), encoding="utf-8")
    asked, denied = json.loads(path.read_text(encoding="utf-8"))
    return asked, denied


def _without(terminology: Callable[[], Terminology], gone: set[str]) -> Terminology:
    return without(terminology(), gone, deprecated=False)


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

    linkers = {
        ICD: Linker.load(Linker.default().folder),
        "MeSH": open_linker("MeSH", lambda: Terminology.build(read_mesh(data))),
        "CADEC": open_linker("CADEC", lambda: names_of(patients(data))),
    }
    for name, file in FILES.items():
        linkers[name] = open_linker(name, partial(terminology_of, file))
    for job in JOBS:
        linkers[job] = open_linker(job, partial(_job, data, job))
    questions = [
        *corpora(data, linkers),
        *jobs(data, linkers),
        *lists(linkers),
        *drugs(data, linkers[DRUGS]),
        *names(linkers),
        *reworded(linkers),
    ]
    for source, group in ((HPO, "names"), (DRUGS, "drugs")):
        domain, name = held_out(data, source), f"{source}, held out"
        linkers[name] = open_linker(name, partial(names_of, domain))
        asked = ((text, is_among([id])) for text, id in domain.questions[:_HELD_OUT])
        questions += _alone(group, name, name, asked)
    questions += pairs(folder, linkers, open_linker)
    return Asked(questions, linkers)
