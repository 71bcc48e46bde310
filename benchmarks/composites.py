"""When to split a mention of several concepts: by how much less its parts may score.

Disease mentions whose syntax allows a split, and that no sieve knows whole, are linked with several
margins. A mention is right if its links are exactly the annotated concepts: one of a mention with
one id, all of a composite. The margin was chosen on the train parts, with an encoder of the
development parts; for the development parts the encoder has read the train parts.

    python benchmarks/composites.py --train TRAIN --dev DEV
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest.mock import patch

from canonym import Document, Linker
from canonym.encoders import make_encoder
from canonym.linking import decision
from canonym.terminology.ids import ConceptIds
from inputs import DISEASES, MEDIC, documents_of, linked_mentions, part_of, terminology_of
from record import data_folder, parser, save_rows

MARGINS = (-0.1, -0.05, -0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.1)


def exact(linker: Linker, documents: Sequence[Document], margin: float) -> list[tuple[bool, bool]]:
    """Tell of each mention whether it was split, and whether its links are what was annotated."""
    find, outcomes = ConceptIds(linker.terminology).find, []
    with patch.object(decision, "SPLIT_MARGIN", margin):
        for mention, link in linked_mentions(linker, documents, k=1):
            gold = {find(id_) for id_ in mention.ids}
            answered = set(link.ids)
            several = mention.rule == "all"
            right = answered == gold if several else len(answered) == 1 and answered <= gold
            outcomes.append((bool(link.parts), right))
    return outcomes


def measured(encoders: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Link both parts of both corpora with all margins, by the encoder that has not read a part."""
    medic = terminology_of(MEDIC)
    for part, encoder in encoders.items():
        linker = Linker.build(medic, encoders=[make_encoder(encoder)])
        for corpus, type_ in DISEASES.values():
            documents = documents_of(corpus, part, type=type_)
            by_margin = {margin: exact(linker, documents, margin) for margin in MARGINS}
            mentions = zip(*by_margin.values(), strict=True)
            ever = [any(is_split for is_split, _ in outcomes) for outcomes in mentions]
            for margin, outcomes in by_margin.items():
                own = [outcome for outcome, could in zip(outcomes, ever, strict=True) if could]
                split, right = (sum(values) for values in zip(*own, strict=True))
                row = {"corpus": corpus, "part": part, "margin": margin, "n": len(own)}
                yield row | {"split": split, "right": right}


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--train", required=True, metavar="FOLDER", help="has read train parts")
    arguments.add_argument("--dev", required=True, metavar="FOLDER", help="has read dev parts")
    options = arguments.parse_args()
    rows = measured({"train": options.dev, "dev": options.train})
    files = [part_of(corpus, part) for part in ("train", "dev") for corpus, _ in DISEASES.values()]
    save_rows("composites", rows, data=[data_folder() / MEDIC, *files])
