"""What canonym reads short forms as, beside what they mean in real notes.

Three collections of notes say how often a short form has each sense (``abbreviations`` of the
shared data). Counted are the forms with one dominant sense, whose mean share is at least 0.9, where
it is a concept of medicine: a name in one of the shared terminologies, or words of such names of
which at least one is not everyday English. The book agrees where its usual reading is the same, has
the sense as one of several, lacks the form, or says another reading. Counted also are the readings
that it gives without a sign for them, and how many of these have a share under a half.

    python benchmarks/short_forms.py --before ../another-checkout/src
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from canonym.mentions.clinical import text_readings, usual_reading
from canonym.mentions.english import is_english
from canonym.mentions.readings import has_several, has_usual, readings_of
from canonym.terminology import read_records
from canonym.text import UNORDERED, normalise_all
from inputs import DOID, DRUGBANK, HPO, MESH, TREES, UBERON
from processes import run_python
from record import data_folder, parser, save

DOMINANT, HALF = 0.9, 0.5
NOTES = ("clinic-notes.csv", "discharge-summaries.csv", "sign-out-notes.tsv")
TERMINOLOGIES = (HPO, DOID, UBERON, DRUGBANK)
_FORM = re.compile(r"[a-z]{2,8}")
_SMALL = frozenset(["a", "and", "by", "due", "for", "in", "of", "on", "the", "to", "with"])
# Words of one meaning in these senses.
_ALIKE = {
    **{"distension": "distention", "venous": "vein", "arterial": "artery"},
    **{"ethanol": "alcohol", "idiopathic": "immune", "acetylsalicylic": "aspirin"},
}
_BEGINNING = 4  # letters by which words are compared


class Sense(NamedTuple):
    """What a short form means in notes: in these words, in this share of `n` collections."""

    texts: tuple[str, ...]
    share: float
    n: int


def senses_of(folder: Path) -> dict[str, list[Sense]]:
    """Return the senses of every short form in notes, the most frequent first."""
    rows: dict[str, dict[str, list[tuple[str, str, float]]]] = {}
    for file in NOTES:
        with (folder / file).open(encoding="utf-8", newline="") as stream:
            for row in csv.reader(stream, delimiter="\t"):
                if row[0] != "abbreviation":
                    cui = row[3] if len(row) > 3 else ""
                    of_file = rows.setdefault(row[0].lower(), {}).setdefault(file, [])
                    of_file.append((row[1], cui, float(row[-1])))
    return {short: _grouped(of_short) for short, of_short in rows.items()}


def _grouped(of_short: dict[str, list[tuple[str, str, float]]]) -> list[Sense]:
    """Return senses by mean share; those of one concept, or in much the same words, are one."""
    groups: list[tuple[list[str], set[str], list[float]]] = []
    for text, cui, share in (row for of_file in of_short.values() for row in of_file):
        for texts, cuis, shares in groups:
            if cui in cuis or any(is_same(text, other) for other in texts):
                texts.append(text)
                cuis.update(filter(None, [cui]))
                shares.append(share)
                break
        else:
            groups.append(([text], {cui} if len(cui) > 2 else set(), [share]))
    n = len(of_short)
    senses = [Sense(tuple(dict.fromkeys(t)), round(sum(s) / n, 3), n) for t, _, s in groups]
    return sorted(senses, key=lambda sense: -sense.share)


def _beginnings(text: str) -> set[str]:
    plain = re.sub(r"\(.*?\)|'s\b", "", text.lower()).replace("post-", "post").replace("-", " ")
    words = re.findall(r"\w+", plain)
    return {_ALIKE.get(word, word)[:_BEGINNING] for word in words if word not in _SMALL}


def is_same(text: str, other: str) -> bool:
    """Tell whether two phrases have most of their words in common, by how these begin.

    >>> is_same("polycystic ovary syndrome", "polycystic ovarian syndrome")
    True
    >>> is_same("chronic liver disease", "chronic lung disease")
    False
    """
    a, b = _beginnings(text), _beginnings(other)
    if not a or not b:
        return False
    shared = len(a & b)
    return shared / min(len(a), len(b)) > 2 / 3 and shared / max(len(a), len(b)) >= HALF


class Concepts:
    """Tells whether a phrase is a concept of medicine, by the names of the shared terminologies."""

    def __init__(self, folder: Path) -> None:
        texts = sorted(set(_names(folder)))
        self._forms = set(normalise_all(texts, UNORDERED))
        self._words = {word for text in texts for word in re.findall(r"[a-z]+", text.lower())}

    def has(self, sense: Sense) -> bool:
        """Tell whether a sense is a name, or words of names that are not all everyday English."""
        plain = [re.sub(r"\s*\(.*?\)", "", text).strip() for text in sense.texts]
        if not self._forms.isdisjoint(normalise_all(plain, UNORDERED)):
            return True
        words = [word for word in re.findall(r"[a-z]+", plain[0].lower()) if word not in _SMALL]
        known = all(word in self._words for word in words)
        return known and not all(is_english(word) for word in words if len(word) > 3)


def _names(folder: Path) -> Iterator[str]:
    """Yield names of findings, diseases, drugs, parts, organisms and procedures."""
    for file in TERMINOLOGIES:
        for record in read_records(folder / file):
            yield getattr(record, "label", "") or getattr(record, "text", "")
    with gzip.open(folder / TREES, "rt", encoding="utf-8") as stream:
        medical = {row[0] for row in csv.reader(stream, delimiter="\t") if row[1][:1] in "ABCDEFG"}
    with gzip.open(folder / MESH, "rt", encoding="utf-8") as stream:
        yield from (row[1] for row in csv.reader(stream, delimiter="\t") if row[0] in medical)


def read_as(short: str) -> tuple[list[str], list[str]]:
    """Return what the book reads a form as, the usual reading first, and that without any sign."""
    forms = dict.fromkeys((short.upper(), short, short.title()))
    if short.endswith("s"):
        forms[f"{short[:-1].upper()}s"] = None
    without: list[str] = []
    beside: list[str] = []
    for form in forms:
        if not has_several(form):
            without += filter(None, [usual_reading(form), text_readings().get(form, "")])
        framed = [usual_reading(frame.format(form)) for frame in ("elevated {}", "{} knee")]
        beside += [
            re.sub(r"^elevated | knee$", "", text)
            for text in framed
            if text and form not in text.split()
        ]
    usual = [*without, *beside]
    several = [reading for form in forms for reading in readings_of(form)[:1] if has_usual(form)]
    return list(dict.fromkeys([*usual, *several])), list(dict.fromkeys(usual))


def measure() -> dict[str, object]:
    """Count agreement with the notes and readings with a small share."""
    folder = data_folder()
    senses = senses_of(folder / "abbreviations")
    concepts = Concepts(folder)
    kinds: dict[str, list[str]]
    kinds = {kind: [] for kind in ("agree", "one of several", "lack", "say another")}
    small, n_usual = [], 0
    for short, of_short in sorted(senses.items()):
        if _FORM.fullmatch(short) is None:
            continue
        readings, usual = read_as(short)
        if usual:
            n_usual += 1
            shares = [s.share for s in of_short if _means(s.texts, usual)]
            if sum(shares) < HALF:
                small.append(short)
        best = of_short[0]
        if best.share >= DOMINANT and concepts.has(best):
            kinds[_kind(short, best, readings)].append(short)
    return {
        **{kind: len(shorts) for kind, shorts in kinds.items()},
        "usual readings": n_usual,
        "with a share under a half": len(small),
        "small": " ".join(small),
        "another": " ".join(kinds["say another"]),
    }


def _kind(short: str, sense: Sense, readings: Sequence[str]) -> str:
    """Return how the book takes a form with one dominant sense."""
    if _means(sense.texts, readings[:1]):
        return "agree"
    if not has_usual(short.upper()) and _means(sense.texts, readings_of(short.upper())):
        return "one of several"
    return "say another" if readings else "lack"


def _means(texts: Iterable[str], readings: Sequence[str]) -> bool:
    return any(is_same(text, reading) for text in texts for reading in readings)


def main() -> None:
    """Measure this checkout, and another one before it; print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--before", type=Path, help="src of a checkout to compare with")
    arguments.add_argument("--print", action="store_true", help="print the counts as JSON only")
    options = arguments.parse_args()
    now = measure()
    if options.print:
        print(json.dumps(now))
        return
    result: dict[str, object] = {}
    if options.before is not None:
        result["before"] = json.loads(run_python(__file__, "--print", source=options.before))
    result["now"] = now
    print(json.dumps(result, indent=1))
    files = [data_folder() / "abbreviations" / file for file in NOTES]
    print(f"saved {save('short_forms', result, packages=[], data=files).name}")


if __name__ == "__main__":
    main()
