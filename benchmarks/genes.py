"""What a preferred species does for names of genes that are no name of the index.

The protein-coding genes of human and mouse are indexed without the column of other designations.
One of these is asked for each of 1,500 genes of either species, with that species as the preference
and without one. An ortholog is a gene of the other species with the same symbol but for its case.

    python benchmarks/genes.py
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from canonym import Linker, import_terminology
from record import data_folder, parser, rows_of, save_rows

FILES = {
    "human": "genes/Homo_sapiens.protein-coding.gene_info.gz",
    "mouse": "genes/Mus_musculus.protein-coding.gene_info.gz",
}
N = 1500
_OTHER = "Other_designations"
Gene = Mapping[str, str]


def measure(linker: Linker, genes: Sequence[Gene], prefer: Sequence[str]) -> dict[str, float]:
    """Return the shares of first candidates that are right, and that are the ortholog instead."""
    draw = random.Random(1)
    mentions = [draw.choice(row[_OTHER].split("|")) for row in genes]
    right = orthologs = 0
    links = linker.link(mentions, prefer=prefer, min_confidence=0, k=1)
    for row, link in zip(genes, links, strict=True):
        if link.candidates:
            first = link.candidates[0]
            is_right = first.id == f"NCBIGene:{row['GeneID']}"
            right += is_right
            orthologs += not is_right and first.label.lower() == row["Symbol"].lower()
    return {"right": right / len(genes), "ortholog": orthologs / len(genes)}


def measured(paths: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
    """Index both species without other designations, and ask for these."""
    tables = {species: rows_of(path) for species, path in paths.items()}
    bare = [{**row, _OTHER: "-"} for rows in tables.values() for row in rows]
    with TemporaryDirectory() as scratch:
        source = Path(scratch) / "genes.gene_info"
        lines = ("\t".join(cells) + "\n" for cells in (bare[0], *(row.values() for row in bare)))
        source.write_text("".join(lines), encoding="utf-8")
        linker = Linker.build(import_terminology(source, Path(scratch) / "genes.db"))
        for species, rows in tables.items():
            genes = random.Random(1).sample([row for row in rows if row[_OTHER] != "-"], N)
            for prefer in ((), (species,)):
                row = {"genes of": species, "prefer": "".join(prefer)}
                yield row | measure(linker, genes, prefer)


if __name__ == "__main__":
    parser(__doc__).parse_args()
    files = {species: data_folder() / file for species, file in FILES.items()}
    save_rows("genes", measured(files), data=list(files.values()))
