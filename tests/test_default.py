from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from canonym import Concept, InvalidInput, Linker, Name, default
from canonym.types import Record


def small_icd10cm() -> Iterator[Record]:
    yield Concept("ICD10CM:I21", "Acute myocardial infarction", source="ICD-10-CM")
    yield Name("infarction of heart", "ICD10CM:I21")
    yield Concept("ICD10CM:E11", "Type 2 diabetes mellitus", source="ICD-10-CM")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(default, "read_icd10cm", small_icd10cm)
    return tmp_path / "cache"


def test_the_default_is_built_once_and_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[str] = []
    linker = Linker.default(progress=lambda *report: stages.append(report[0]))
    assert linker.link(["type 2 diabetes mellitus"])[0].id == "ICD10CM:E11"
    assert linker.info()["encoders"][0]["name"] == "default"
    assert "reading ICD-10-CM" in stages
    (folder,) = cache.iterdir()

    def never() -> Iterator[Record]:
        raise AssertionError("the kept index should have been opened")

    monkeypatch.setattr(default, "read_icd10cm", never)
    again = Linker.default()
    assert again.folder == folder
    assert again.fingerprint == linker.fingerprint


def test_a_damaged_copy_is_made_again(cache: Path) -> None:
    before = Linker.default().fingerprint
    (folder,) = cache.iterdir()
    (folder / "terminology.db").unlink()
    again = Linker.default()
    assert again.fingerprint == before
    assert again.link(["infarction of heart"])[0].id == "ICD10CM:I21"


def test_another_model_or_package_gets_another_copy(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Linker.default()
    monkeypatch.setattr(default, "version", lambda name: f"{name} of tomorrow")
    Linker.default()
    assert len(list(cache.iterdir())) == 2


def test_a_cache_that_cannot_be_written_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(InvalidInput, match="set CANONYM_CACHE"):
        Linker.default()
