"""Names with one edit: those that change the meaning, and those that do not.

    python benchmarks/edits.py                  4,400 edits of each sort, of four terminologies
    python benchmarks/edits.py --draws 400 --seed 7

An edit that changes the meaning (another side, number, sign, letter, a negation, a prefix, an
amount, a unit, a relative, a likeness) must not leave the concept of the name certain: a confidence
of 0.95 or more without a status, a mapping as equal, or a link that is accepted unseen. An edit
that keeps it (case, marks around, a dash, a word for the class, a possessive, a plural, British
spelling, order at a comma) must not take a link that was at 0.95 or more below that, nor give
another concept. A concept whose other names have the new words as well is drawn again, and so is a
name that is a list.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from canonym import Link, Linker, Terminology
from canonym.exchange.auto_accept import can_auto_accept
from canonym.exchange.mappings import mappings_of
from canonym.terminology.formats import read_terminology
from canonym.text import STRONG, normalise
from record import data_folder, save

SOURCES = {
    "HPO": "hpo/hp-2014-11-14.obo.gz",
    "DOID": "doid/HumanDO-2015-05-14.obo.gz",
    "MEDIC": "medic-2012/medic_06Jul2012.txt",
    "UBERON": "uberon/uberon.obo.gz",
}
SURE = 0.95
Edit = Callable[[str, random.Random], Iterator[str]]


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


def _replaced(pattern: str, put: Callable[[re.Match[str], random.Random], str]) -> Edit:
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


def _other_number(match: re.Match[str], rng: random.Random) -> str:
    return str(int(match[0]) + rng.choice((1, 2, 3, 10)))


def _other_letter(match: re.Match[str], rng: random.Random) -> str:
    return rng.choice([letter for letter in "ABCDEFGH" if letter != match[0]])


def _other_roman(match: re.Match[str], rng: random.Random) -> str:
    return rng.choice([n for n in ("I", "II", "III", "IV", "V", "VI", "VII") if n != match[0]])


def _prefixed(match: re.Match[str], rng: random.Random) -> str:
    return rng.choice(("non-", "pseudo-", "pre-", "anti-", "post-", "para")) + match[0]


CHANGING: dict[str, Edit] = {
    "side": _swapped(
        "left/right anterior/posterior upper/lower medial/lateral proximal/distal "
        "inferior/superior dorsal/ventral internal/external"
    ),
    "opposite": _swapped(
        "acute/chronic benign/malignant increased/decreased high/low dominant/recessive "
        "hypoplasia/hyperplasia congenital/acquired primary/secondary male/female large/small "
        "elevated/reduced short/long wide/narrow maternal/paternal early/late with/without"
    ),
    "number": _replaced(r"(?<![\w.#])\d{1,3}(?![\w.])", _other_number),
    "glued number": _replaced(r"(?<=[A-Za-z])\d{1,2}(?!\w)", _other_number),
    "roman": _replaced(r"(?<![\w-])(?:I{1,3}|IV|VI{0,2})(?![\w-])", _other_roman),
    "letter": _replaced(r"(?<=[a-z] )[A-H](?!\w)", _other_letter),
    "sign": _replaced(r"(?<=\w)\+(?![a-z])|(?<=\w )positive|(?<=\w )negative", lambda m, _: {
        "+": "-", "positive": "negative", "negative": "positive"}[m[0]]),
    "added sign": _replaced(r"(?:(?<=[A-Z]\d)|(?<!NOS)(?<=[A-Z]{2}))(?=$|\s(?!\d))",
                            lambda _, rng: rng.choice("+-")),
    "negation": _formed("no {}", "absence of {}", "denies {}", "{} ruled out", "without {}",
                        "negative for {}", "no evidence of {}"),
    "prefix": _replaced(r"(?<![\w-])[a-z]{6,}$", _prefixed),
    "hyper": _replaced(r"(?i)(?<![\w-])hyper(?=\w{4})", lambda m, _: f"{m[0][:2]}po"),
    "hypo": _replaced(r"(?i)(?<![\w-])hypo(?=\w{4})", lambda m, _: f"{m[0][:2]}per"),
    "family": _formed("family history of {}", "mother has {}", "father with {}", "FHx {}"),
    "like": _replaced(r"(?<=[a-z])(?= (?:syndrome|disease)\b)", lambda *_: "-like"),
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


KEEPING: dict[str, Edit] = {
    "small letters": lambda name, _: iter([name.lower()]),
    "capitals": lambda name, _: iter([name.upper()] if len(name) > 8 else ()),
    "quotes": _formed('"{}"', "'{}'", "“{}”"),
    "brackets": _formed("({})", "[{}]"),
    "spaces": _formed("  {} ", "{}\u00a0", "\t{}"),
    "stop": _formed("{}.", "{};", "{},", "- {}", "* {}", "{}:"),
    "dash behind": _formed("{} -", "{}-", "{} –"),
    "class": _swapped("disease/disorder"),
    "possessive": _replaced(r"(?<=[a-z])'s(?= )|\b[A-Z][a-z]+[b-rt-z](?= (?:disease|syndrome)$)",
                            lambda m, _: "" if m[0] == "'s" else f"{m[0]}'s"),
    "plural": _replaced(r"(?<=[a-z]{3}[bcdfglmnprtv])$", lambda *_: "s"),
    "british": _british,
    "hyphen": _replaced(r"(?<=[a-z])-(?=[a-z]{3})", lambda *_: " "),
    "order": _inverted,
}  # fmt: skip


def drawn(
    edits: dict[str, Edit], names: Sequence[tuple[str, str]], n: int, rng: random.Random
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the kind of an edit, the name, its concept, the edited name; as many of each kind."""
    words = defaultdict(set)
    for name, id_ in names:
        words[id_].update(normalise(name, STRONG).split())
    for kind, edit in edits.items():
        left = -(-n // len(edits))
        for name, id_ in rng.sample(names, len(names)):
            if not left:
                break
            for edited in edit(name, rng):
                other = set(normalise(edited, STRONG).split()) - set(
                    normalise(name, STRONG).split()
                )
                # A concept with other names for both says as much of either.
                is_meant = edits is CHANGING and other and other <= words[id_]
                if edited != name and not is_meant and ";" not in name:
                    left -= 1
                    yield kind, name, id_, edited


def is_certain(link: Link, id_: str) -> bool:
    """Tell whether a link says that a concept is meant, of the patient, and no doubt is left."""
    if link.nil or link.id != id_ or link.status:
        return False
    equal = any(mapping.relation == "equal" for mapping in mappings_of(link))
    return (
        (link.confidence or 0.0) >= SURE
        or (equal and (link.confidence or 0) > 0.9)
        or can_auto_accept(link)
    )


def main() -> None:
    """Draw, edit, link and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=4400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=3, help="edits of each kind to print")
    parser.add_argument("--no-save", action="store_true")
    arguments = parser.parse_args()
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    rng = random.Random(arguments.seed)
    for source, path in SOURCES.items():
        read = read_terminology(str(data_folder() / path))
        linker = Linker.build(read if isinstance(read, Terminology) else Terminology.build(read))
        names = [(name.text, name.concept_id) for name in linker.terminology.iter_names()]
        for sort, edits in (("changes", CHANGING), ("keeps", KEEPING)):
            draws = [*drawn(edits, names, arguments.draws // len(SOURCES), rng)]
            before = linker.link([name for _, name, _, _ in draws])
            after = linker.link([edited for *_, edited in draws])
            for (kind, name, id_, edited), plain, link in zip(draws, before, after, strict=True):
                row = counts[sort, kind]
                row["n"] += 1
                if sort == "changes":
                    bad = "certain" if is_certain(link, id_) else ""
                elif plain.nil or (plain.confidence or 0) < SURE:
                    bad = ""
                elif (
                    link.id not in (plain.id, None)
                    and not link.nil
                    and (link.confidence or 0) > 0.5
                ):
                    bad = "another"
                else:
                    bad = "" if not link.nil and (link.confidence or 0) >= SURE else "fell"
                row[bad] += bool(bad)
                if bad and row[bad] <= arguments.show:
                    where = f"{source} {sort} {kind}: {bad}"
                    print(f"{where}: {name!r} -> {edited!r} {link.id} {link.confidence:.3f}")
    rows = [{"sort": sort, "kind": kind, **row} for (sort, kind), row in counts.items()]
    for row in rows:
        row.pop("", None)
        print(row)
    for sort, bad in (("changes", "certain"), ("keeps", "fell"), ("keeps", "another")):
        of_sort = [row for row in rows if row["sort"] == sort]
        total, n = (sum(row.get(key, 0) for row in of_sort) for key in (bad, "n"))
        print(f"{sort}: {bad} {total} of {n}")
    if not arguments.no_save:
        save("edits", {"seed": arguments.seed, "rows": rows}, packages=("numpy",))


if __name__ == "__main__":
    main()
