"""As many names as wanted, with the lengths and words of real ones, and a terminology of them.

Names of MeSH, its supplementary concepts, CTD and MEDIC are real up to their number. Beyond that,
the first words of one name go before the last words of another.

    python benchmarks/recombined.py 2000000 names.tsv
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path

from canonym.terminology.readers.medic import read_medic
from canonym.types import Name
from inputs import CTD, MEDIC, MESH
from record import data_folder, parser, rows_of

FILES = (*(MESH, "mesh-supplementary/scr_names.tsv.gz", CTD, MEDIC),)
PER_CONCEPT, TYPES = 6, 20  # one to six names: the mean, 3.5, is that of UMLS


def real_names(data: Path) -> list[str]:
    """Return the distinct names of four terminologies."""
    return list(dict.fromkeys(_read_names(data)))


def _read_names(data: Path) -> Iterator[str]:
    mesh, supplementary, ctd, medic = (data / file for file in FILES)
    for path, column in ((mesh, "term"), (supplementary, "name")):
        yield from (row[column] for row in rows_of(path))
    with gzip.open(ctd, "rt", encoding="utf-8") as stream:
        for line in stream:
            if not line.startswith("#"):
                fields = line.rstrip("\n").split("\t")
                yield from filter(None, [fields[0], *fields[7].split("|")])
    yield from (record.text for record in read_medic(medic) if isinstance(record, Name))


def recombined(names: list[str], n: int) -> Iterator[str]:
    """Yield `n` distinct names: real ones in a random order, then joined parts of two."""
    rng = random.Random(1)
    names = list(names)
    rng.shuffle(names)
    yield from names[:n]
    found = set(names[:n])
    while len(found) < n:
        head, tail = rng.choice(names).split(), rng.choice(names).split()
        cut = rng.randint(1, len(head)), rng.randint(0, len(tail) - 1)
        name = " ".join(head[: cut[0]] + tail[cut[1] :])
        if name not in found:
            found.add(name)
            yield name


def write_table(path: Path, n: int) -> None:
    """Write a table that `canonym import` takes as it is: `n` names, one to six per concept."""
    rng = random.Random(2)
    concept = left = 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write("id\tname\tpreferred\ttype\n")
        for name in recombined(real_names(data_folder()), n):
            preferred = "N" if left else "Y"
            if not left:
                concept, left = concept + 1, rng.randint(1, PER_CONCEPT)
            left -= 1
            stream.write(f"X:{concept:07d}\t{name}\t{preferred}\tT{concept % TYPES}\n")


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("names", type=int)
    arguments.add_argument("table", type=Path)
    options = arguments.parse_args()
    write_table(options.table, options.names)
