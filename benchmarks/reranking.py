"""Is the first candidate right more often when annotated mentions taught the order?

The re-ranker of an index of MEDIC, default encoder, is fitted to the train part of NCBI disease or
of BC5CDR disease and tried on its dev part: the share of links, or of the parts of composite ones,
whose first candidate is right, of all mentions and of those whose text the train part does not
have. Beside it stands what both ways of linking take, one after the other. Test parts are not
touched.

    canonym train default --part none -o names-alone
    python benchmarks/reranking.py --encoder names-alone
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym import Document, Linker
from canonym.corpora import read_pubtator
from canonym.linking.fitting import asked_of, judged
from canonym.terminology.formats import import_terminology
from record import chosen_encoder, data_folder, save


def tried(linker: Linker, documents: list[Document], seen: set[str]) -> dict[str, Any]:
    """Link documents, and count what is right."""
    asked, find = asked_of(linker.terminology, documents, ())
    right: list[tuple[bool, bool]] = []
    start = time.perf_counter()
    for document, links in linker.link_documents(asked, k=2):
        for mention, link in zip(document.mentions, links, strict=True):
            gold = [find(id_) or "" for id_ in mention.ids]
            if not any(gold):
                continue
            right += (
                (true, mention.text.lower() not in seen)
                for _, true in judged(link, gold, mention.rule)
            )
    seconds = time.perf_counter() - start
    table = np.array(right)
    return {
        "links": len(table),
        "right": round(100 * float(table[:, 0].mean()), 2),
        "unseen": int(table[:, 1].sum()),
        "right_of_unseen": round(100 * float(table[table[:, 1], 0].mean()), 2),
        "seconds": round(seconds, 2),
    }


def main() -> None:
    """Index, fit, link, print and save."""
    encoder = chosen_encoder(__doc__)
    data = data_folder()
    medic = data / "medic-2012" / "medic_06Jul2012.txt"
    result: dict[str, Any] = {}
    files = [medic]
    with TemporaryDirectory() as scratch:
        terminology = import_terminology(medic, Path(scratch) / "terminology.db")
        linker = Linker.build(terminology, encoders=[encoder], folder=Path(scratch) / "index")
        for name, wanted in (("ncbi-disease", None), ("bc5cdr", "Disease")):
            documents = {}
            for part in ("train", "dev"):
                path = next((data / name).glob(f"*{part}*"))
                files.append(path)
                documents[part] = [
                    replace(
                        document,
                        mentions=tuple(m for m in document.mentions if wanted in {None, m.type}),
                    )
                    for document in read_pubtator(path)
                ]
            seen = {m.text.lower() for document in documents["train"] for m in document.mentions}
            linker.reranker = None
            before = tried(linker, documents["dev"], seen)
            start = time.perf_counter()
            held_out = linker.fit_reranker(documents["train"])
            seconds = time.perf_counter() - start
            after = tried(linker, documents["dev"], seen)
            result[name] = {
                "before": before,
                "after": after,
                "times_as_long": round(after["seconds"] / before["seconds"], 2),
                "fitted_in_seconds": round(seconds, 1),
                "held_out": {key: round(value, 4) for key, value in held_out.items()},
            }
    print(json.dumps(result, indent=1))
    path = save("reranking", result, packages=["numpy", "scipy"], data=files)
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
