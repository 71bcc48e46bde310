from __future__ import annotations

import gc
import json
import shutil
import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonym import Concept, InvalidInput, Linker, Name, ReadError, Terminology
from canonym.cli import main
from canonym.linking import default
from canonym.terminology.overlay import OVERLAY
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
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data, with a small ICD-10-CM as the packaged one."""
    monkeypatch.setenv("CANONYM_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(icd10cm, "read_icd10cm", small_icd10cm)
    return tmp_path / "data"


def upgrade(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install another ICD-10-CM."""
    monkeypatch.setattr(default, "version", lambda name: f"{name} of tomorrow")


def test_the_default_is_built_once_and_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linker = Linker.default()
    assert linker.link(["type 2 diabetes mellitus"])[0].id == "ICD10CM:E11"
    assert linker.info()["encoders"][0]["name"] == "default"
    assert linker.folder == home / "indexes" / "icd10cm"

    def never(**_: object) -> Iterator[Record]:
        raise AssertionError("the kept index should have been opened")

    monkeypatch.setattr(icd10cm, "read_icd10cm", never)
    assert Linker.default().fingerprint == Linker.load("icd10cm").fingerprint == linker.fingerprint


def test_progress_rises_from_nothing_to_the_whole(home: Path) -> None:
    reports: list[tuple[str, int, int]] = []
    Linker.default(progress=lambda *report: reports.append(report))
    assert home.is_dir()
    assert {(stage, total) for stage, _, total in reports} == {("Preparing ICD-10-CM", 1000)}
    parts = [done for _, done, _ in reports]
    assert all(before <= after for before, after in pairwise(parts))
    assert (parts[0], parts[-1]) == (0, 1000)


@pytest.mark.usefixtures("home")
def test_every_stage_of_a_build_has_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    stages: set[str] = set()
    move = default._Whole._move

    def noted(whole: default._Whole, stage: str, part: float) -> None:
        stages.add(stage)
        move(whole, stage, part)

    monkeypatch.setattr(default._Whole, "_move", noted)
    Linker.default()
    assert stages == set(default._SHARES)


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_afterwards_as_before(home: Path, collecting: bool) -> None:
    try:
        (gc.enable if collecting else gc.disable)()
        Linker.default()
        assert gc.isenabled() == collecting
        assert home.is_dir()
    finally:
        gc.enable()


def test_a_damaged_copy_is_made_again(home: Path) -> None:
    before = Linker.default()
    before.synonyms.add("the big one", "ICD10CM:I21")
    (home / "indexes" / "icd10cm" / "terminology.db").unlink()
    again = Linker.default()
    assert again.fingerprint == before.fingerprint
    links = again.link(["infarction of heart", "the big one"])
    assert [link.id for link in links] == ["ICD10CM:I21"] * 2


@pytest.mark.usefixtures("home")
def test_an_upgrade_builds_anew_and_keeps_what_was_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    linker = Linker.default()
    linker.synonyms.update([Name("the big one", "ICD10CM:I21")], [("sugar", "ICD10CM:E11")])
    linker.pipeline.names.overlay.note({("the big one", "ICD10CM:I21"): "reviewed by Ada"})

    def next_year(*, everyday: bool = False) -> Iterator[Record]:
        yield from small_icd10cm(everyday=everyday)
        yield Concept("ICD10CM:J45", "Asthma", source="ICD-10-CM")

    monkeypatch.setattr(icd10cm, "read_icd10cm", next_year)
    assert Linker.default().terminology.n_concepts == 2
    upgrade(monkeypatch)
    new = Linker.default()
    assert new.folder == linker.folder
    links = new.link(["asthma", "the big one"])
    assert [link.id for link in links] == ["ICD10CM:J45", "ICD10CM:I21"]
    assert [name.text for name in new.synonyms] == ["the big one"]
    assert new.synonyms.forbidden == (("sugar", "ICD10CM:E11"),)
    notes = new.pipeline.names.overlay.notes()
    assert notes == {("the big one", "ICD10CM:I21"): "reviewed by Ada"}
    new.synonyms.remove("the big one", "ICD10CM:I21")
    assert not len(Linker.default().synonyms)


def test_damaged_synonyms_are_not_lost_without_a_word(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Linker.default().synonyms.add("the big one", "ICD10CM:I21")
    overlay = home / "indexes" / "icd10cm" / OVERLAY
    connection = sqlite3.connect(overlay)
    connection.execute("UPDATE synonyms SET name = 'the small one'")
    connection.commit()
    connection.close()
    upgrade(monkeypatch)
    with pytest.raises(ReadError, match="its content is not what its digest says"):
        Linker.default()
    assert overlay.is_file()


def test_an_index_of_the_user_in_its_place_is_left_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "indexes" / "icd10cm"
    folder.parent.mkdir(parents=True)
    Linker.build(Terminology.build([Concept("X:1", "cold")]), folder=folder, encoders=["chargrams"])
    upgrade(monkeypatch)
    assert Linker.default().link(["cold"])[0].id == "X:1"


def test_a_process_that_was_slower_opens_what_the_other_one_built(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Linker.default().synonyms.add("the big one", "ICD10CM:I21")
    folder, ready = home / "indexes" / "icd10cm", tmp_path / "ready"
    folder.rename(ready)

    def overtaken(**options: bool) -> Iterator[Record]:
        yield from small_icd10cm(**options)
        shutil.copytree(ready, folder)

    monkeypatch.setattr(icd10cm, "read_icd10cm", overtaken)
    assert [name.text for name in Linker.default().synonyms] == ["the big one"]
    assert [place.name for place in folder.parent.iterdir()] == ["icd10cm"]


def test_a_data_folder_that_cannot_be_written_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CANONYM_DATA_HOME", str(tmp_path / "file" / "data"))
    with pytest.raises(InvalidInput, match="set CANONYM_DATA_HOME"):
        Linker.default()


def test_everyday_names_can_be_left_out(home: Path) -> None:
    with_them, without = Linker.default(), Linker.default(everyday=False)
    names = sorted(place.name for place in (home / "indexes").iterdir())
    assert names == ["icd10cm", "icd10cm-official"]
    known = {name.source for name in with_them.terminology.iter_names()}
    assert known == {"", SOURCE}
    assert {name.source for name in without.terminology.iter_names()} == {""}
    # Nothing but names of what there is.
    assert with_them.terminology.n_concepts == without.terminology.n_concepts == 2
    link = with_them.link(["heart attack"])[0]
    assert (link.id, link.candidates[0].sieve) == ("ICD10CM:I21", "verbatim")


def test_the_command_leaves_them_out(home: Path) -> None:
    asked = ["link", "heart attack", "--format", "jsonl", "--quiet"]
    sieves = []
    for more in ([], ["--no-everyday"], ["--no-everyday", "--index", "icd10cm"]):
        answer = CliRunner().invoke(main, [*asked, *more])
        assert answer.exit_code == 0, answer.output
        sieves.append(json.loads(answer.output)["candidates"][0]["sieve"])
    assert sieves == ["verbatim", "search", "search"]
    refused = CliRunner().invoke(main, [*asked, "--no-everyday", "--index", str(home)])
    assert refused.exit_code == 2
    assert "leave it out where --index names something else" in refused.output


def test_links_have_a_confidence_from_the_first_call(packaged: Path) -> None:
    folder = packaged / "indexes" / "icd10cm"
    surest, least = (link.confidence for link in Linker(folder).link(["heart attack", "asdfghjkl"]))
    assert surest is not None
    assert least is not None
    assert surest > 0.9 > 0.1 > least
