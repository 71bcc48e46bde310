"""When to split a mention of several concepts: by how much less its parts may score.

Disease mentions whose syntax allows a split, and that no sieve knows whole, are linked with several
margins. A mention is right if its links are exactly the annotated concepts: one of a mention with
one id, all of a composite. The margin was chosen on the train parts, with an encoder of the
development parts; for the development parts the encoder has read the train parts.

    python benchmarks/composites.py --train TRAIN --dev DEV
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from unittest.mock import patch

from canonym import Document, Linker, Terminology
from canonym.encoders import make_encoder
from canonym.linking import decision
from canonym.terminology import read_records
from canonym.terminology.ids import ConceptIds
from homonyms import documents_of
from record import data_folder, save

MEDIC = "medic-2012/medic_06Jul2012.txt"
CORPORA = (("ncbi-disease", None), ("bc5cdr", "Disease"))
MARGINS = (-0.1, -0.05, -0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.1)


def exact(linker: Linker, documents: Sequence[Document], margin: float) -> list[tuple[bool, bool]]:
    """Tell of each mention whether it was split, and whether its links are what was annotated."""
    find, found = ConceptIds(linker.terminology).find, []
    with patch.object(decision, "SPLIT_MARGIN", margin):
        for document, links in linker.link_documents(documents, k=1):
            for mention, link in zip(document.mentions, links, strict=True):
                gold = {find(id_) for id_ in mention.ids}
                answered = set(link.ids)
                several = mention.rule == "all"
                right = answered == gold if several else len(answered) == 1 and answered <= gold
                found.append((bool(link.parts), right))
    return found


def main() -> None:
    """Link both parts of both corpora with all margins, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--train", required=True, metavar="FOLDER", help="has read the train parts")
    parser.add_argument("--dev", required=True, metavar="FOLDER", help="has read the dev parts")
    options, data, rows = parser.parse_args(), data_folder(), []
    medic = Terminology.build(read_records(data / MEDIC))
    files = [data / MEDIC]
    for part, encoder in (("train", options.dev), ("dev", options.train)):
        linker = Linker.build(medic, encoders=[make_encoder(encoder)])
        for corpus, type_ in CORPORA:
            files.append(data / corpus / f"{part}.pubtator")
            documents = documents_of(files[-1], type_)
            by_margin = {margin: exact(linker, documents, margin) for margin in MARGINS}
            ever = [any(one[place][0] for one in by_margin.values())
                    for place in range(len(by_margin[0.0]))]  # fmt: skip
            for margin, found in by_margin.items():
                kept = [one for one, could in zip(found, ever, strict=True) if could]
                split, right = (sum(values) for values in zip(*kept, strict=True))
                rows.append(
                    {"corpus": corpus, "part": part, "margin": margin, "n": len(kept)}
                    | {"split": split, "right": right}
                )
                print(*rows[-1].values(), flush=True)
    save("composites", {"rows": rows}, packages=("numpy",), data=files)


if __name__ == "__main__":
    main()
