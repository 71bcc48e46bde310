"""How long does it take to teach an index a synonym, and to take it away again?

MEDIC of 2012 with the default encoder: a name is added, found, forbidden, allowed and removed,
with nothing else in the overlay and with a thousand and ten thousand names in it; each time also
until a second linker that has the index open finds it. What linking costs with an overlay is
measured beside what it costs without.

    python benchmarks/synonym_overlay.py
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym import Linker, Name
from canonym.terminology.formats import import_terminology
from record import data_folder, save

REPEATS = 30
SIZES = (0, 1_000, 10_000)


def timed(action: Callable[[], Any]) -> float:
    """Return milliseconds."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1e3


def measure(linker: Linker, reader: Linker, ids: list[str]) -> dict[str, Any]:
    """Teach one name after the other and take it away again."""
    found: dict[str, list[float]] = {}

    def note(what: str, action: Callable[[], Any]) -> None:
        found.setdefault(what, []).append(timed(action))

    for turn in range(REPEATS):
        name, id_ = f"quuxian malady {turn}", ids[turn * 37 % len(ids)]
        note("add", lambda name=name, id_=id_: linker.add_synonym(name, id_))
        note("find", lambda name=name: linker.link([name]))
        note("find in another linker", lambda name=name: reader.link([name]))
        assert reader.link([name])[0].id == id_
        note("forbid", lambda name=name, id_=id_: linker.forbid(name, id_))
        assert reader.link([name])[0].id != id_
        note("allow", lambda name=name, id_=id_: linker.allow(name, id_))
        note("remove", lambda name=name, id_=id_: linker.remove_synonym(name, id_))
        note("find no more", lambda name=name: reader.link([name]))
        assert reader.link([name])[0].candidates[0].sieve == "search"
    return {
        what: {
            "median_ms": round(float(np.median(values)), 2),
            "most_ms": round(float(np.max(values)), 2),
        }
        for what, values in found.items()
    }


def mentions_per_second(linker: Linker, asked: list[str]) -> float:
    """Return how many mentions are linked in a second."""
    linker.link(asked[:64])
    return round(len(asked) / (timed(lambda: linker.link(asked)) / 1e3))


def main() -> None:
    """Build, measure, print and save."""
    source = data_folder() / "medic-2012" / "medic_06Jul2012.txt"
    result: dict[str, Any] = {"sizes": {}}
    with TemporaryDirectory() as scratch:
        terminology = import_terminology(source, Path(scratch) / "medic.db")
        linker = Linker.build(terminology, folder=Path(scratch) / "index")
        reader = Linker.load(Path(scratch) / "index")
        concepts = [concept.id for concept in terminology.iter_concepts()]
        texts = [text for batch in terminology.iter_texts() for text in batch]
        asked = [f"{text} unspecified" for text in texts[:: len(texts) // 500]][:500]
        result["names"] = terminology.n_names
        result["mentions_per_second_without"] = mentions_per_second(linker, asked)
        for size in SIZES:
            there = len(linker.synonyms())
            more = [
                Name(f"made-up name {n} {texts[n * 7 % len(texts)]}", concepts[n % len(concepts)])
                for n in range(there, size)
            ]
            took = timed(lambda more=more: linker.add_synonyms(more)) if more else 0.0
            taken = timed(lambda: reader.link(["heart attack"]))
            result["sizes"][str(size)] = {
                "add_all_ms": round(took, 1),
                "taken_in_ms": round(taken, 1),
                "mentions_per_second": mentions_per_second(linker, asked) if size else None,
                **measure(linker, reader, concepts),
            }
    print(json.dumps(result, indent=1))
    path = save("synonym_overlay", result, packages=["numpy"], data=[source])
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
