"""QuickUMLS with its defaults, on an index of our names instead of UMLS.

It stands behind an empty English pipeline of spaCy, for the model that it asks for is a download,
and so are the stop words of NLTK: spaCy's take their place. So words have no parts of speech.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

REQUIREMENTS = ["quickumls==1.4.2"]
PACKAGES = ["quickumls", "spacy"]


def build(names: list[tuple[str, str]]) -> Any:
    """Write the two databases of QuickUMLS, all names preferred, as nearly all of UMLS are."""
    import spacy

    kept = TemporaryDirectory()
    atexit.register(kept.cleanup)
    folder = Path(kept.name)
    words = folder / "nltk" / "corpora" / "stopwords" / "english"
    words.parent.mkdir(parents=True)
    words.write_text("\n".join(sorted(spacy.blank("en").Defaults.stop_words)), encoding="utf-8")
    os.environ["NLTK_DATA"] = str(folder / "nltk")  # read when nltk is imported

    from quickumls import QuickUMLS
    from quickumls.install import parse_and_encode_ngrams

    rows = [(text, id_, ["T047"], 1) for text, id_ in names]
    simstring, types = folder / "umls-simstring.db", folder / "cui-semtypes.db"
    parse_and_encode_ngrams(rows, str(simstring), str(types), "unqlite")
    (folder / "database_backend.flag").write_text("unqlite")
    (folder / "language.flag").write_text("ENG")
    return spacy.blank("en"), QuickUMLS(str(folder), spacy_component=True)


def candidates(index: Any, mentions: list[str]) -> list[Any]:
    """Return the matches of the best part of each mention."""
    pipeline, matcher = index
    found = []
    for mention in mentions:
        parts = matcher._match(pipeline(mention))  # what its component for spaCy calls
        found.append([(one["term"], one["cui"]) for one in parts[0]] if parts else [])
    return found


def annotate(index: Any, text: str) -> list[tuple[int, int, str]]:
    """Return the names in a text: start, end and concept."""
    pipeline, matcher = index
    best = [parts[0] for parts in matcher._match(pipeline(text))]
    return [(match["start"], match["end"], match["cui"]) for match in best]
