"""What BC5CDR holds: table 3 of Miftahutdinov et al. (2021), as annotated and as prepared.

Shares of all three parts together, in percent; sizes of the refined test part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from canonym.corpora.concept_files import read_concepts
from canonym.corpora.pubtator import read_pubtator
from canonym.types import Document, Mention
from record import data_folder, parser, save
from reproduce.measures.corpus_statistics import describe_corpus
from reproduce.splits import read_official


def main() -> None:
    """Count, and save the result."""
    data = data_folder()
    annotated = read_official(data / "bc5cdr", read_pubtator)
    prepared = read_official(data / "biosyn-processed" / "bc5cdr-disease", read_concepts)
    rows = [
        {"of": "diseases as annotated", **_facts(*(_of(part, "Disease") for part in annotated))},
        {"of": "chemicals as annotated", **_facts(*(_of(part, "Chemical") for part in annotated))},
        {"of": "diseases as BioSyn prepares them", **_facts(*prepared)},
    ]
    folders = [data / "bc5cdr", data / "biosyn-processed" / "bc5cdr-disease"]
    files = [path for folder in folders for path in sorted(folder.iterdir())]
    save("corpus_statistics", {"rows": rows}, packages=(), data=files)


def _of(documents: Iterable[Document], type_: str) -> list[Mention]:
    return [one for document in documents for one in document.mentions if one.type == type_]


def _facts(
    train: Sequence[Mention], dev: Sequence[Mention], test: Sequence[Mention]
) -> dict[str, float]:
    whole = describe_corpus((*train, *dev, *test))
    unseen = describe_corpus(test, training=(*train, *dev)).unseen
    return {
        "numeral": round(100 * whole.with_numeral, 2),
        "punctuation": round(100 * whole.with_punctuation, 2),
        "characters": round(whole.characters.mean, 2),
        "refined": len(unseen.mentions) if unseen else 0,
    }


if __name__ == "__main__":
    parser(__doc__).parse_args()
    main()
