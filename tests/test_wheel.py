"""The wheel, not the tree: what is in it, and that it runs on its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import clean_environment, made_once

ROOT = Path(__file__).parents[1]
LARGEST = 60_000_000


def _run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**clean_environment(), **environment},
        timeout=180,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built once for all workers."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    (built,) = made_once(tmp_path_factory, "wheel", _build).glob("canonym-*.whl")
    return built


def _build(folder: Path) -> None:
    _run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT),
        cwd=folder,
    )


def test_contents(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    packed = {name for name in names if ".dist-info/" not in name}
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "canonym").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == source
    assert "canonym/py.typed" in packed
    assert any(name.startswith("canonym/models/default/") for name in packed)
    assert {Path(name).name for name in names if "/licenses/" in name} == {"LICENSE", "NOTICE"}


def test_it_runs_without_the_source_tree(wheel: Path, tmp_path: Path, packaged: Path) -> None:
    target = tmp_path / "installed"
    _run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
        *("--target", target, wheel),
        cwd=tmp_path,
    )
    alone = {"PYTHONPATH": str(target), "CANONYM_DATA_HOME": str(packaged)}
    where = _run(
        sys.executable, "-c", "import canonym; print(canonym.__file__)", cwd=tmp_path, **alone
    )
    assert Path(where.strip()) == target / "canonym" / "__init__.py"
    said = _run(sys.executable, "-m", "canonym", "--version", cwd=tmp_path, **alone)
    assert said.split()[-1] == wheel.name.split("-")[1]
    linked = _run(
        *(sys.executable, "-m", "canonym", "link", "--format", "tsv", "-k", "1"),
        *("heart attack", "type 2 diabetes", "broken hip"),
        cwd=tmp_path,
        **alone,
    )
    for family, line in zip(("I21", "E11", "S72"), linked.splitlines()[1:], strict=True):
        assert f"ICD10CM:{family}" in line


def test_readers_beside_the_wheel_join_it(wheel: Path, tmp_path: Path, packaged: Path) -> None:
    source = shutil.copytree(ROOT / "benchmarks" / "reproduce" / "readers", tmp_path / "readers")
    target = tmp_path / "installed"
    _run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
        *("--no-build-isolation", "--target", target, wheel, source),
        cwd=tmp_path,
    )
    trial = tmp_path / "trial.xml"
    trial.write_text(
        "<clinical_study><id_info><nct_id>NCT1</nct_id></id_info><brief_title>A</brief_title>"
        "<condition>heart attack</condition></clinical_study>"
    )
    linked = _run(
        *(sys.executable, "-m", "canonym", "link", "--file", trial, "--format", "tsv"),
        cwd=tmp_path,
        PYTHONPATH=str(target),
        CANONYM_DATA_HOME=str(packaged),
    )
    assert "NCT1" in linked
    assert "ICD10CM:I21" in linked
