"""The multilingual encoder that comes with canonym, and where its commands point to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from canonym import Linker, Terminology
from canonym.cli import main
from canonym.encoders import make_encoder
from canonym.types import Concept, Name, Record

ENGLISH = ("Hearing impairment", "Kidney stones", "Fever", "Breast cancer", "Short stature")
OTHERS = {
    "es": ("Pérdida de audición", "Piedras en los riñones", "Fiebre", "Cáncer de mama"),
    "fr": ("Perte auditive", "Calculs rénaux", "Fièvre", "Cancer du sein"),
    "pt": ("Perda auditiva", "Pedras nos rins", "Febre", "Câncer de mama"),
    "ja": ("難聴", "腎結石", "発熱", "乳癌"),
    "zh": ("听力损失", "肾结石", "发热", "乳腺癌"),
}


@pytest.mark.parametrize("language", OTHERS)
def test_names_in_other_languages_are_nearest_to_their_english_name(language: str) -> None:
    encoder = make_encoder("multilingual")
    english = np.asarray(encoder.encode(list(ENGLISH)))
    found = np.asarray(encoder.encode(list(OTHERS[language]))) @ english.T
    assert found.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_an_index_finds_them_and_records_the_encoder(tmp_path: Path) -> None:
    records = [Concept(f"X:{n}", label) for n, label in enumerate(ENGLISH)]
    linker = Linker.build(
        Terminology.build(records), encoders=["multilingual"], folder=tmp_path / "index"
    )
    assert [link.id for link in linker.link(["Cáncer de mama", "発熱"])] == ["X:3", "X:2"]
    assert [one["name"] for one in linker.info()["encoders"]] == ["multilingual"]


@pytest.mark.parametrize(("encoder", "told"), [("default", True), ("multilingual", False)])
def test_the_index_command_points_to_it(tmp_path: Path, encoder: str, told: bool) -> None:
    path = tmp_path / "names.db"
    records: list[Record] = [Concept("X:1", "Fever"), Name("Fieber", "X:1", language="de-AT")]
    Terminology.build(records, path).close()
    folder = str(tmp_path / "index")
    result = CliRunner().invoke(main, ["index", str(path), "-o", folder, "--encoder", encoder])
    assert result.exit_code == 0, result.output
    assert ("Names in de are found by their letters alone" in result.stderr) == told
