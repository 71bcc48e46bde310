"""Names as notes write them, or as people misspell them, beside the same names in plain words.

``noted.tsv`` has phrases of notes and lists of problems with what they mean, written for this
measurement: who has it, how bad it is, since when, short forms that the phrase explains itself,
numbers without their kind, salts of drugs. Counted is how many are linked to the concept of the
plain name, how many of them with a confidence of at least 0.8, and how many are as sure of another
concept. Plain names that are not linked surely themselves are left out. `misspelt` counts its own
list in the same way.

    python benchmarks/noted.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from canonym import Linker
from inputs import DRUGBANK, HPO, is_sure, rows_beside, terminology_of
from record import data_folder, parser, save

ICD = "ICD-10-CM"


def count(name: str, files: Mapping[str, str], *, surely_meant: bool) -> dict[str, dict[str, int]]:
    """Return how much of a list has the concept of what it means, by terminology.

    With `surely_meant` what is meant has to be linked surely itself, or it is left out.
    """
    rows = rows_beside(name)
    counts = {}
    for terminology in (ICD, *files):
        is_icd = terminology == ICD
        linker = Linker.default() if is_icd else Linker.build(terminology_of(files[terminology]))
        own = [row for row in rows if row["terminology"] == terminology]
        counts[terminology] = _counted(linker, own, surely_meant=surely_meant)
    return counts


def _counted(
    linker: Linker, rows: Sequence[Mapping[str, str]], *, surely_meant: bool
) -> dict[str, int]:
    meant = linker.link([row["meant"] for row in rows])
    pairs = [
        (row["written"], link.id)
        for row, link in zip(rows, meant, strict=True)
        if (link.id and is_sure(link)) or not surely_meant
    ]
    links = linker.link([text for text, _ in pairs])
    same = [link.id == id for link, (_, id) in zip(links, pairs, strict=True)]
    sure = [is_sure(link) for link in links]
    return {
        "phrases" if surely_meant else "names": len(pairs),
        "same concept": sum(same),
        "surely": sum(a and b for a, b in zip(same, sure, strict=True)),
        "surely another": sum(b and not a for a, b in zip(same, sure, strict=True)),
    }


if __name__ == "__main__":
    parser(__doc__).parse_args()
    result = count("noted", {"HPO": HPO, "DrugBank": DRUGBANK}, surely_meant=True)
    print(result)
    data = [data_folder() / file for file in (HPO, DRUGBANK)]
    save("noted", result, packages=["simple-icd-10-cm"], data=data)
