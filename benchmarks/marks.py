"""How many marks of `canonym annotate` are right on descriptions of trials, by a drawn sample.

``python benchmarks/marks.py --draw before.tsv --seed 11`` annotates 2,000 paragraphs with ICD-10-CM
and draws 200 of the marks; the sheet shows each in its text. A person fills the last column in.
``python benchmarks/marks.py before=before.tsv after=after.tsv --save`` counts.

The protocol of a judge, who does not look up which version a mark is of:

- A mark is right (``1``) where its words mean the concept in this text. A code for an encounter or
  a state stands for the treatment or the event itself: *chemotherapy* is Z51.11.
- It is wrong (``0``) where the words mean something else: a verb, an organism, a test, a protein.
- It is wrong where it is half of a longer phrase for which the terminology has another concept:
  *edema* in *macular edema*, *infection* in *HIV infection*, *tumor* in *tumor necrosis factor*.
- It is right where the text says more than the concept and the terminology has nothing for that:
  *solid tumor*, *severe pain*.
- Status counts for nothing: *no fever* is fever.

Sheets hold the texts, so they are no part of the repository; the results have the counts.
"""

from __future__ import annotations

import csv
import json
import lzma
import random
from pathlib import Path
from typing import Any

from canonym import Linker
from inputs import percents
from record import data_folder, parser, save

_COLUMNS = ("paragraph", "start", "end", "id", "label", "text", "right")
_LEAST = 200  # characters of a paragraph
_PARAGRAPHS, _MARKS, _AROUND = 2_000, 200, 70


def paragraphs() -> list[tuple[int, str]]:
    """Return 2,000 paragraphs with their numbers, always the same."""
    with lzma.open(data_folder() / "text" / "ctgov.txt.xz", "rt", encoding="utf-8") as lines:
        texts = [line.rstrip("\n") for line in lines]
    numbers = [number for number, text in enumerate(texts) if len(text) >= _LEAST]
    random.Random(2).shuffle(numbers)
    return [(number, texts[number]) for number in sorted(numbers[-_PARAGRAPHS:])]


def draw(path: Path, seed: int) -> None:
    """Write a sheet with drawn marks, to be judged."""
    drawn = paragraphs()
    annotated = Linker.default().annotate_documents([text for _, text in drawn])
    rows = []
    for (number, text), (_, links) in zip(drawn, annotated, strict=True):
        for link in links:
            start, end = link.mention.start or 0, link.mention.end or 0
            before, after = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
            shown = f"{before}[{text[start:end]}]{after}"
            rows.append((number, start, end, "|".join(link.ids), link.label or "", shown, ""))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter="\t")
        writer.writerows([_COLUMNS, *random.Random(seed).sample(rows, _MARKS)])


def count(path: Path) -> dict[str, Any]:
    """Return how many marks of a judged sheet are right."""
    with path.open(encoding="utf-8", newline="") as stream:
        verdicts = [row["right"] for row in csv.DictReader(stream, delimiter="\t")]
    if not set(verdicts) <= {"0", "1"}:
        raise SystemExit(f"{path}: the column 'right' is not filled in; expected 0 or 1")
    right, n = verdicts.count("1"), len(verdicts)
    share = percents(right, n)
    return {"marks": n, "right": right, "precision": share[0], "95 %": share[1:]}


def main() -> None:
    """Draw marks, or count judged ones."""
    arguments = parser(__doc__)
    arguments.add_argument("sheets", nargs="*", metavar="NAME=SHEET")
    arguments.add_argument("--draw", type=Path, metavar="SHEET")
    arguments.add_argument("--seed", type=int, default=13)
    arguments.add_argument("--save", action="store_true")
    given = arguments.parse_args()
    if given.draw:
        draw(given.draw, given.seed)
    rows = [
        {"marks of": name, **count(Path(sheet))}
        for name, sheet in (pair.split("=", 1) for pair in given.sheets)
    ]
    for row in rows:
        print(json.dumps(row))
    if given.save:
        data = [data_folder() / "text" / "ctgov.txt.xz"]
        save("marks", {"paragraphs": _PARAGRAPHS, "rows": rows}, packages=["numpy"], data=data)


if __name__ == "__main__":
    main()
