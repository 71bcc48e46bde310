"""Small files in the formats of the open terminologies."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from canonym.types import Concept, Name, Record, Relation
from models import sources
from models.sources import SOURCES
from tests.tables import tables

FILES = tables(__file__)["files"]

PASSAGES = """What is (are) myocardial infarction ?
Myocardial infarction (MI) is a condition in which the heart lacks blood. It is treated at once.
Fevers are the most common of complaints, and nobody knows them by that name alone.
"""
TITLE = "{id}|t|{text}\n{id}|a|It was seen.\n"
NCBI = {
    "train": [
        ("1", "Infarcted hearts hurt.", (0, 16, "SpecificDisease", "D009203")),
        ("2", "Heart attack and heart attack.", (0, 12, "SpecificDisease", "D009203")),
        ("3", "Nonsense here.", (0, 8, "SpecificDisease", "D999999")),
    ],
    "dev": [("4", "A coronary infarct.", (2, 18, "SpecificDisease", "D009203"))],
    "test": [("5", "Secret words.", (0, 12, "SpecificDisease", "D009203"))],
}
BC5CDR = {
    "train": [
        ("6", "Cardiac death of tissue.", (0, 13, "Disease", "D009203")),
        ("7", "Abate tablets.", (0, 13, "Chemical", "D000002")),
    ],
    "dev": [("8", "Nothing new: heart attack.", (13, 25, "Disease", "D009203"))],
    "test": [("9", "Hidden thing.", (0, 12, "Disease", "D009203"))],
}


def write_sources(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files under a folder, and let ICD-10-CM be as small."""
    for source, path in SOURCES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        content = FILES[source].encode()
        file.write_bytes(gzip.compress(content) if path.endswith(".gz") else content)

    def read_icd10cm() -> Iterator[Record]:
        yield Concept("ICD10CM:I21", "Acute MI [heart attack]")
        yield Concept("ICD10CM:R50", "Fever of other origin")
        yield Name("Fever NOS", "ICD10CM:R50")
        yield Name("Pyrexia (persistent)", "ICD10CM:R50")
        yield Relation("ICD10CM:R50", "is_a", "ICD10CM:18")

    monkeypatch.setattr(sources, "read_icd10cm", read_icd10cm)


def write_corpora(folder: Path) -> None:
    """Write the parts of two corpora of a few mentions, and text, beside the files."""
    text = folder / sources.PASSAGES
    text.parent.mkdir()
    text.write_bytes(lzma.compress(PASSAGES.encode()))
    trials = "Patients with heart failure were asked to walk. Heart failure hurts them.\n"
    text.with_name("ctgov.txt.xz").write_bytes(lzma.compress(trials.encode() * 20))
    for name, parts in (("ncbi-disease", NCBI), ("bc5cdr", BC5CDR)):
        (folder / name).mkdir()
        for part, documents in parts.items():
            lines = []
            for id_, text, (start, end, type_, concept) in documents:
                mention = text[start:end]
                lines.append(TITLE.format(id=id_, text=text))
                lines.append(f"{id_}\t{start}\t{end}\t{mention}\t{type_}\t{concept}\n\n")
            (folder / name / f"{part}.pubtator").write_text("".join(lines), encoding="utf-8")
    words = folder / "medic-2012" / "ncbi-spell-check.txt"
    words.write_text("seceret||secret\n", encoding="utf-8")
