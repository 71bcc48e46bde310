"""``--device`` of index, link and evaluate."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from canonym.io import devices
from canonym.io.devices import DEVICE
from tests.cli.running import run
from tests.encoders.conftest import make_tiny_bert

torch = pytest.importorskip("torch")

CORPUS = "1|t|Heart attack.\n1|a|\n1\t0\t12\tHeart attack\tDisease\tX:1\n\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A terminology, a corpus, a transformer, and an index that has no transformer."""
    folder = tmp_path_factory.mktemp("device")
    (folder / "names.obo").write_text(
        "[Term]\nid: X:1\nname: heart attack\n\n[Term]\nid: X:2\nname: flu\n"
    )
    (folder / "corpus.pubtator").write_text(CORPUS)
    make_tiny_bert(folder / "bert")
    run("index", "-q", folder / "names.obo", "-o", folder / "plain", "-e", "chargrams")
    return folder


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The devices that are asked for, on a machine that seems to have a GPU; all are the CPU."""
    asked: list[str] = []

    def torch_device(name: str) -> Any:
        asked.append(os.environ.get(DEVICE, "auto") if name == "auto" else name)
        return torch.device("cpu")

    monkeypatch.setattr(devices, "torch_device", torch_device)
    monkeypatch.setattr("canonym.encoders.transformer.torch_device", torch_device)
    return asked


def test_every_command_computes_on_the_device_that_it_is_told(
    files: Path, moved: list[str], tmp_path: Path
) -> None:
    index = str(tmp_path / "index")
    on = ["--device", "cuda:1"]
    run("index", "-q", files / "names.obo", "-o", index, "-e", files / "bert", *on)
    assert "X:1" in run("link", "--index", index, "heart attack", *on).stdout
    for protocol in ("raw", "biosyn"):
        arguments = [str(files / "corpus.pubtator"), "--index", index, "--protocol", protocol]
        run("evaluate", "-q", *arguments, *on)
    assert len(moved) > 6
    assert set(moved) == {"cuda:1"}
    moved.clear()
    run("link", "--index", index, "heart attack")
    assert moved == ["auto"]  # nothing is left of it


def test_the_cpu_is_used_where_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv(DEVICE, "cpu")
    assert devices.torch_device("auto") == torch.device("cpu")
    monkeypatch.setenv(DEVICE, "auto")
    assert devices.torch_device("auto") == torch.device("cuda")


@pytest.mark.parametrize(
    "arguments",
    [
        ["link", "--index", "plain", "flu"],
        ["index", "names.obo", "-o", "new", "-e", "chargrams"],
        ["evaluate", "corpus.pubtator", "--index", "plain", "--protocol", "raw"],
    ],
)
def test_encoders_that_are_no_transformers_take_no_device(
    files: Path, moved: list[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(files)
    result = run(*arguments, "--device", "cuda", code=2)
    assert (
        "--device cuda is for transformers and exact indexes, and the encoders here are others"
        in result.stderr
    )
    assert moved == ["cuda"]
    assert not Path("new").exists()
    run(*arguments, "--device", "cpu")
    shutil.rmtree("new", ignore_errors=True)


def test_an_exact_index_is_searched_on_the_device(
    files: Path, moved: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("canonym.indexes.exact.FEWEST", 1)
    monkeypatch.setattr("canonym.indexes.gpu.torch_device", devices.torch_device)
    index = str(tmp_path / "index")
    run("index", "-q", files / "names.obo", "-o", index, "-e", "default")
    expected = run("link", "--index", index, "flus").stdout
    assert "X:2" in expected
    assert moved == []
    assert run("link", "--index", index, "flus", "--device", "cuda").stdout == expected
    assert moved == ["cuda", "cuda"]  # checked, and used


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_device_that_is_not_there_is_refused(files: Path) -> None:
    result = run("link", "--index", files / "plain", "flu", "--device", "cuda:7", code=2)
    assert "Error: --device cuda:7 cannot be used here (" in result.stderr
    assert DEVICE not in os.environ
    unknown = run("link", "flu", "--device", "gpu", code=2)
    assert "'gpu' is none of auto, cpu, cuda, cuda:N and mps" in unknown.stderr


@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no GPU")
def test_a_gpu_gives_the_links_of_the_cpu(files: Path, tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    run("index", "-q", files / "names.obo", "-o", index, "-e", files / "bert")
    both = [run("link", "--index", index, "flus", "--device", one) for one in ("cpu", "cuda")]
    assert [line.stdout.split("\t")[1] for line in both] == ["X:2"] * 2
