from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonym import Concept, InvalidInput, Linker, Name
from canonym.cli import main
from canonym.linking import default
from canonym.terminology.readers import icd10cm
from canonym.terminology.readers.everyday import SOURCE, read_everyday
from canonym.types import Record


def small_icd10cm(*, everyday: bool = False) -> Iterator[Record]:
    yield Concept("ICD10CM:I21", "Acute myocardial infarction", source="ICD-10-CM")
    yield Name("infarction of heart", "ICD10CM:I21")
    yield Concept("ICD10CM:E11", "Type 2 diabetes mellitus", source="ICD-10-CM")
    if everyday:
        yield from read_everyday(known={"ICD10CM:I21", "ICD10CM:E11"})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(icd10cm, "read_icd10cm", small_icd10cm)
    return tmp_path / "cache"


def test_the_default_is_built_once_and_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[str] = []
    linker = Linker.default(progress=lambda *report: stages.append(report[0]))
    assert linker.link(["type 2 diabetes mellitus"])[0].id == "ICD10CM:E11"
    assert linker.info()["encoders"][0]["name"] == "default"
    assert "reading ICD-10-CM" in stages
    (folder,) = cache.iterdir()

    def never(**_: object) -> Iterator[Record]:
        raise AssertionError("the kept index should have been opened")

    monkeypatch.setattr(icd10cm, "read_icd10cm", never)
    again = Linker.default()
    assert again.folder == folder
    assert again.fingerprint == linker.fingerprint


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_afterwards_as_before(cache: Path, collecting: bool) -> None:
    try:
        (gc.enable if collecting else gc.disable)()
        Linker.default()
        assert gc.isenabled() == collecting
        assert cache.is_dir()
    finally:
        gc.enable()


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


def test_everyday_names_can_be_left_out(cache: Path) -> None:
    with_them, without = Linker.default(), Linker.default(everyday=False)
    assert len(list(cache.iterdir())) == 2
    known = {name.source for name in with_them.terminology.iter_names()}
    assert known == {"", SOURCE}
    assert {name.source for name in without.terminology.iter_names()} == {""}
    # Nothing but names of what there is.
    assert with_them.terminology.n_concepts == without.terminology.n_concepts == 2
    found = with_them.link(["heart attack"])[0]
    assert (found.id, found.candidates[0].sieve) == ("ICD10CM:I21", "verbatim")


def test_the_command_leaves_them_out(cache: Path) -> None:
    asked = ["link", "heart attack", "--format", "jsonl", "--quiet"]
    sieves = []
    for more in ([], ["--no-everyday"]):
        found = CliRunner().invoke(main, [*asked, *more])
        assert found.exit_code == 0, found.output
        sieves.append(json.loads(found.output)["candidates"][0]["sieve"])
    assert sieves == ["verbatim", "search"]
    refused = CliRunner().invoke(main, [*asked, "--no-everyday", "--index", str(cache)])
    assert refused.exit_code == 2
    assert "leave it out where --index names something else" in refused.output
