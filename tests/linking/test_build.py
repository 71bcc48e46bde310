"""Vectors that are made in a process beside this one are those that would be made here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym.encoders import save_encoder
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.indexes.verbatim import VerbatimWriter
from canonym.io.files import n_cores
from canonym.linker import Linker
from canonym.linking import build as building
from canonym.linking.build import EncodingProcess
from canonym.terminology import Terminology
from canonym.types import Concept, Name
from tests.linkers import contents


@pytest.fixture
def terminology(tmp_path: Path) -> Terminology:
    records = []
    for number, word in enumerate(("fever", "cough", "asthma", "heart attack", "broken hip")):
        records += [Concept(f"X:{number}", word), Name(f"{word} of the child", f"X:{number}")]
    return Terminology.build(records, tmp_path / "x.db")


def _small() -> Subword:
    table = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    return Subword(table).quantised()


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_MANY", 10)
    monkeypatch.setattr(building, "n_cores", lambda: 2)


def _build(terminology: Terminology, folder: Path, **options: Any) -> dict[str, bytes]:
    Linker.build(terminology, folder=folder, encoders=[_small()], **options)
    return contents(folder)


@pytest.fixture
def here(terminology: Terminology, tmp_path: Path) -> dict[str, bytes]:
    """The linker as it is built without another process."""
    return _build(terminology, tmp_path / "here")


@pytest.mark.usefixtures("many")
def test_lists_are_made_in_another_process_too(terminology: Terminology, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    beside = _build(
        terminology, tmp_path / "beside", kind="ivf", progress=lambda *now: told.append(now)
    )
    assert {"index-0/centres.npy", "index-0/recall.json"} <= set(beside)
    for stage in ("centres", "lists", "recall"):
        done = [now[1:] for now in told if now[0] == stage]
        assert done[-1][0] == done[-1][1] > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "_MANY", 11)
        assert _build(terminology, tmp_path / "here", kind="ivf") == beside


@pytest.mark.usefixtures("many")
def test_another_process_makes_the_same_bytes(
    terminology: Terminology, here: dict[str, bytes], tmp_path: Path
) -> None:
    told: list[tuple[str, int, int]] = []
    beside = _build(terminology, tmp_path / "beside", progress=lambda *now: told.append(now))
    assert beside == here
    assert [now for now in told if "vectors" in now[0]] == [
        ("subword vectors", 0, 10),
        ("subword vectors", 10, 10),
    ]


@pytest.mark.usefixtures("many")
def test_a_process_that_fails_is_done_without(
    terminology: Terminology,
    here: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing = tmp_path / "python"
    failing.write_text("#!/bin/sh\nexit 3\n")
    failing.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(failing))
    assert _build(terminology, tmp_path / "beside") == here


@pytest.mark.usefixtures("many")
def test_a_build_that_ends_early_leaves_no_process(
    terminology: Terminology, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[EncodingProcess] = []
    start = EncodingProcess.__init__

    def remember(self: EncodingProcess, *given: Any) -> None:
        start(self, *given)
        started.append(self)

    def stop(stage: str, _done: int, _total: int) -> None:
        if stage == "normal forms":
            raise KeyboardInterrupt

    monkeypatch.setattr(EncodingProcess, "__init__", remember)
    with pytest.raises(KeyboardInterrupt):
        _build(terminology, tmp_path / "beside", progress=stop)
    assert not (tmp_path / "beside").exists()
    (one,) = started
    assert one._process.returncode is not None


def test_the_process_ends_with_the_one_that_started_it(
    terminology: Terminology, tmp_path: Path
) -> None:
    save_encoder(_small(), tmp_path / "encoder")
    for alive in (False, True):
        place = tmp_path / f"index-{alive}"
        place.mkdir()
        paths = [str(path) for path in (terminology.path, place, tmp_path / "encoder")]
        command = [sys.executable, "-m", "canonym.linking.build", *paths, "exact", "1000000"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as one:
            assert one.stdin is not None
            if not alive:  # as the system does when a process is killed
                one.stdin.close()
            assert one.wait(60) == (0 if alive else 1)
        assert (place / "vectors.npy").exists() is alive


@pytest.mark.usefixtures("many")
def test_only_many_names_and_encoders_of_one_core_are_worth_a_process(
    terminology: Terminology, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert EncodingProcess.is_worth_it(terminology, "subword")
    assert not EncodingProcess.is_worth_it(terminology, "transformer")
    monkeypatch.setattr(building, "n_cores", lambda: 1)
    assert not EncodingProcess.is_worth_it(terminology, "subword")
    monkeypatch.setattr(building, "n_cores", lambda: 2)
    monkeypatch.setattr(building, "_MANY", 11)
    assert not EncodingProcess.is_worth_it(terminology, "subword")


def test_a_terminology_is_copied_where_it_cannot_be_linked(
    terminology: Terminology,
    here: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    assert _build(terminology, tmp_path / "there") == here
    copy = tmp_path / "there" / "terminology.db"
    assert not copy.samefile(terminology.path)


def test_cores_are_those_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 4}, raising=False)
    assert n_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert n_cores() == (os.cpu_count() or 1)


def test_what_the_process_does(
    terminology: Terminology, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_encoder(_small(), tmp_path / "encoder")
    (tmp_path / "index").mkdir()
    paths = [str(terminology.path), str(tmp_path / "index"), str(tmp_path / "encoder")]
    paths += ["exact", "1000000"]
    assert building.main(paths) == 0
    assert capsys.readouterr().out == "subword vectors 0 10\nsubword vectors 10 10\n"
    made = np.load(tmp_path / "index" / "vectors.npy")
    assert np.array_equal(made, _small().encode([n.text for n in terminology.iter_names()]))


def test_the_memory_changes_the_blocks_and_not_a_byte(
    terminology: Terminology, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    finish = VerbatimWriter.finish

    def remember(self: VerbatimWriter, memory: int) -> None:
        given.append(memory)
        finish(self, memory)

    monkeypatch.setattr(VerbatimWriter, "finish", remember)
    found = []
    for number, memory in enumerate(("1GB", "1.5KB", 2)):
        Linker.build(
            terminology,
            folder=tmp_path / str(number),
            encoders=[_small(), "chargrams"],
            kind="ivf",
            memory=memory,
        )
        found.append(contents(tmp_path / str(number)))
    assert found[0] == found[1] == found[2]
    assert given[::4] == [500_000_000, 750, 1]  # two processes may sort at the same time
    with pytest.raises(InvalidInput, match="memory is '4 names'; expected a size such as '4GB'"):
        Linker.build(terminology, memory="4 names")


def test_the_process_says_by_its_status_that_something_is_wrong(tmp_path: Path) -> None:
    paths = [str(tmp_path / "none.db"), str(tmp_path), str(tmp_path)]
    assert building.main([*paths, "exact", "1000000"]) == 1


def test_many_names_get_an_index_of_lists(
    terminology: Terminology, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kind(given: str) -> str:
        linker = Linker.build(
            terminology, folder=tmp_path / "x", overwrite=True, encoders=[_small()], kind=given
        )
        return str(linker.manifest["encoders"][0]["index"])

    assert [kind("auto"), kind("ivf"), kind("exact")] == ["exact", "ivf", "exact"]
    monkeypatch.setattr(building, "IVF_FROM", 10)
    assert [kind("auto"), kind("exact")] == ["ivf", "exact"]
    with pytest.raises(InvalidInput, match="kind is 'hnsw'; expected one of auto, exact, ivf"):
        kind("hnsw")
