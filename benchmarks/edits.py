"""Names with one edit: those that change the meaning, and those that do not.

    python benchmarks/edits.py                  4,400 edits of each sort, of four terminologies
    python benchmarks/edits.py --draws 400 --seed 7

An edit that changes the meaning (another side, number, sign, letter, a negation, a prefix, an
amount, a unit, a relative, a likeness) must not leave the concept of the name certain: a confidence
of 0.95 or more without a status, a mapping as equal, or a link that is accepted unseen. An edit
that keeps it (case, marks around, a dash, a word for the class, a possessive, a plural, British
spelling, order at a comma) must not take a link that was at 0.95 or more below that, nor give
another concept. A concept whose other names have the new words as well is drawn again, and so is a
name that is a list. ``edits.toml`` has the edits.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from canonym import Link, Linker
from canonym.exchange.auto_accept import can_auto_accept
from canonym.exchange.mappings import mappings_of
from canonym.text import STRONG, normalise
from inputs import terminology_called
from record import parser, save, settings_of

SOURCES = ("HPO", "DOID", "MEDIC", "UBERON")
SURE = 0.95
Edit = Callable[[str, random.Random], Iterator[str]]
Put = Callable[[re.Match[str], random.Random], str]


def _swapped(pairs: str) -> Edit:
    """Return an edit that puts the other word of a pair in the place of one."""
    other: dict[str, list[str]] = defaultdict(list)
    for pair in pairs.split():
        first, second = pair.split("/")
        other[first].append(second)
        other[second].append(first)

    def edit(name: str, rng: random.Random) -> Iterator[str]:
        places = [m for m in re.finditer(r"[A-Za-z]+", name) if m[0].lower() in other]
        if places:
            match = rng.choice(places)
            word = rng.choice(other[match[0].lower()])
            word = word.capitalize() if match[0].istitle() else word
            yield name[: match.start()] + word + name[match.end() :]

    return edit


def _replaced(pattern: str, put: Put) -> Edit:
    expression = re.compile(pattern)

    def edit(name: str, rng: random.Random) -> Iterator[str]:
        matches = list(expression.finditer(name))
        if matches:
            match = rng.choice(matches)
            yield name[: match.start()] + put(match, rng) + name[match.end() :]

    return edit


def _formed(*forms: str) -> Edit:
    def edit(name: str, rng: random.Random) -> Iterator[str]:
        yield rng.choice(forms).format(name)

    return edit


def _other_of(*texts: str) -> Put:
    return lambda match, rng: rng.choice([text for text in texts if text != match[0]])


PUT: Mapping[str, Put] = {
    "another number": lambda match, rng: str(int(match[0]) + rng.choice((1, 2, 3, 10))),
    "another letter": _other_of(*"ABCDEFGH"),
    "another numeral": _other_of("I", "II", "III", "IV", "V", "VI", "VII"),
    "a prefix": lambda match, rng: (
        rng.choice(("non-", "pseudo-", "pre-", "anti-", "post-", "para")) + match[0]
    ),
    "the opposite sign": lambda match, _: {
        "+": "-", "positive": "negative", "negative": "positive"}[match[0]],
    "a sign": lambda _, rng: rng.choice("+-"),
    "a possessive": lambda match, _: "" if match[0] == "'s" else f"{match[0]}'s",
}  # fmt: skip
BRITISH = (
    ("hemo", "haemo"), ("hema", "haema"), ("ischem", "ischaem"), ("edema", "oedema"),
    ("esoph", "oesoph"), ("anemia", "anaemia"), ("tumor", "tumour"), ("fetal", "foetal"),
    ("leukemia", "leukaemia"), ("diarrhea", "diarrhoea"), ("pedia", "paedia"),
)  # fmt: skip


def _british(name: str, rng: random.Random) -> Iterator[str]:
    known = [pair for pair in BRITISH if re.search(rf"(?<![AOaoc]){pair[0]}", name)]
    if known:
        yield name.replace(*rng.choice(known), 1)


def _inverted(name: str, _: random.Random) -> Iterator[str]:
    words = name.split()
    if 2 <= len(words) <= 3 and name.replace(" ", "").isalpha() and words[0] != "Type":
        yield f"{' '.join(words[1:])}, {words[0]}"


WHOLE: Mapping[str, Edit] = {
    "small letters": lambda name, _: iter([name.lower()]),
    "capitals": lambda name, _: iter([name.upper()] if len(name) > 8 else ()),
    "British spelling": _british,
    "order at a comma": _inverted,
}
"""Edits of the whole name."""


def _edit(described: Mapping[str, Any]) -> Edit:
    """Return an edit of ``edits.toml``."""
    if "swapped" in described:
        return _swapped(described["swapped"])
    if "forms" in described:
        return _formed(*described["forms"])
    if "text" in described:
        return _replaced(described["pattern"], lambda *_: described["text"])
    put = described["put"]
    return WHOLE[put] if put in WHOLE else _replaced(described["pattern"], PUT[put])


EDITS = {
    sort: {kind: _edit(described) for kind, described in edits.items()}
    for sort, edits in settings_of(__file__).items()
}
"""Edits by what they do to the meaning, and by kind."""


def drawn(
    sort: str, names: Sequence[tuple[str, str]], n: int, rng: random.Random
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the kind of an edit, the name, its concept, the edited name; as many of each kind."""
    words = defaultdict(set)
    for name, id_ in names:
        words[id_].update(normalise(name, STRONG).split())
    for kind, edit in EDITS[sort].items():
        left = -(-n // len(EDITS[sort]))
        for name, id_ in rng.sample(names, len(names)):
            if not left:
                break
            for edited in edit(name, rng):
                new, old = (set(normalise(text, STRONG).split()) for text in (edited, name))
                # A concept with other names for both says as much of either.
                is_meant = sort == "changes" and new - old and new - old <= words[id_]
                if edited != name and not is_meant and ";" not in name:
                    left -= 1
                    yield kind, name, id_, edited


def is_certain(link: Link, id_: str) -> bool:
    """Tell whether a link says that a concept is meant, of the patient, and no doubt is left."""
    if link.nil or link.id != id_ or link.status:
        return False
    equal = any(mapping.relation == "equal" for mapping in mappings_of(link))
    confidence = link.confidence or 0.0
    return confidence >= SURE or (equal and confidence > 0.9) or can_auto_accept(link)


def wrong_of(sort: str, before: Link, after: Link, id_: str) -> str:
    """Return what is wrong with the link of an edited name, empty where nothing is."""
    if sort == "changes":
        return "certain" if is_certain(after, id_) else ""
    if before.nil or (before.confidence or 0) < SURE:
        return ""
    confidence = 0.0 if after.nil else after.confidence or 0.0
    if after.id not in (before.id, None) and confidence > 0.5:
        return "another"
    return "fell" if confidence < SURE else ""


def main() -> None:
    """Draw, edit, link and count."""
    arguments = parser(__doc__)
    arguments.add_argument("--draws", type=int, default=4400)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--show", type=int, default=3, help="edits of each kind to print")
    arguments.add_argument("--no-save", action="store_true")
    options = arguments.parse_args()
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    rng = random.Random(options.seed)
    for source in SOURCES:
        linker = Linker.build(terminology_called(source))
        names = [(name.text, name.concept_id) for name in linker.terminology.iter_names()]
        for sort in EDITS:
            draws = [*drawn(sort, names, options.draws // len(SOURCES), rng)]
            before = linker.link([name for _, name, _, _ in draws])
            after = linker.link([edited for *_, edited in draws])
            for (kind, name, id_, edited), plain, link in zip(draws, before, after, strict=True):
                row, wrong = counts[sort, kind], wrong_of(sort, plain, link, id_)
                row["n"] += 1
                if wrong:
                    row[wrong] += 1
                    if row[wrong] <= options.show:
                        where = f"{source} {sort} {kind}: {wrong}"
                        print(f"{where}: {name!r} -> {edited!r} {link.id} {link.confidence:.3f}")
    rows = [{"sort": sort, "kind": kind, **row} for (sort, kind), row in counts.items()]
    print(*rows, sep="\n")
    for sort, wrong in (("changes", "certain"), ("keeps", "fell"), ("keeps", "another")):
        of_sort = [row for row in rows if row["sort"] == sort]
        total, n = (sum(row.get(key, 0) for row in of_sort) for key in (wrong, "n"))
        print(f"{sort}: {wrong} {total} of {n}")
    if not options.no_save:
        save("edits", {"seed": options.seed, "rows": rows}, packages=("numpy",))


if __name__ == "__main__":
    main()
