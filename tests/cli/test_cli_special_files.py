"""Pipes, sockets, devices and links in a circle, where a file or folder is expected."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from canonym import Concept, Linker, Name, Terminology
from tests.cli.running import command, run
from tests.conftest import clean_environment

TABLE = "id\tname\nX:1\tmyocardial infarction\nX:2\tflu\n"
COMMANDS = (
    "import {} -o made.db",
    "import --format table {} -o made.db",
    "index {} -o made -e chargrams",
    "index t.tsv -o made -e chargrams --mentions {}",
    "index t.tsv -o made -e {}",
    "index t.db -o made -e chargrams --reuse {}",
    "index --verify {}",
    "info {}",
    "link --index {} flu",
    "link --index index --file {}",
    "link --index index --ids {} flu",
    "annotate --index {} t.tsv",
    "annotate --index index {}",
    "terminology show {} X:1",
    "terminology lint {}",
    "terminology diff {} t.db",
    "terminology diff t.db {}",
    "terminology export {} -o made.tsv",
    "map {} t.db -o made.tsv",
    "evaluate {} --index index",
    "evaluate t.tsv --index {}",
    "synonyms list -i {}",
    "synonyms import {} -i index",
    "review import {} -i index",
    "review export 1 -o made.sssom.tsv --reviews {}",
    "serve --index {} --port 0",
    "serve --index index --reviews {} --port 0",
    "serve --index index --keys {} --port 0",
    "mcp --index {}",
    "train subword {} -o made",
    "train confidence {} --index index",
    "train biosyn --plan {} -o made",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("special")
    (folder / "t.tsv").write_text(TABLE)
    records = [Concept("X:1", "Myocardial infarction"), Name("flu", "X:2"), Concept("X:2", "flu")]
    terminology = Terminology.build(records, folder / "t.db")
    Linker.build(terminology, encoders=["chargrams"], folder=folder / "index")
    return folder


def make(kind: str, path: Path) -> None:
    """Make a special file, or a link to one."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(path.name)  # the path of a socket has to be short
    else:
        path.symlink_to(path.name if kind == "circle" else "/dev/zero")


@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "circle"])
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_what_is_no_file_is_refused_at_once(
    kind: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    path = place / f"a-{kind}"
    make(kind, path)
    before = path.lstat().st_ino
    for words in COMMANDS:
        result = run(*words.format(path.name).split(), code=2)
        assert "Error: " in result.output, words
        assert path.lstat().st_ino == before, words
    assert not list(place.glob("made*"))


def test_a_pipe_named_to_another_process_is_refused(place: Path) -> None:
    os.mkfifo(place / "waiting")
    for words in ("info waiting", "link --index waiting flu"):
        done = subprocess.run(
            command(*words.split()),
            cwd=place,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
        )
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["checksums.sha256", "overlay.db", "terminology.db"])
def test_a_pipe_inside_an_index_is_refused(name: str, place: Path, tmp_path: Path) -> None:
    index = shutil.copytree(place / "index", tmp_path / "index")
    (index / name).unlink(missing_ok=True)
    os.mkfifo(index / name)
    for words in ("link -i INDEX flu", "info INDEX", "index --verify INDEX"):
        result = run(*words.replace("INDEX", str(index)).split(), code=2)
        assert name in result.output or "INDEX" in words


def test_an_error_of_the_index_does_not_name_the_text(place: Path) -> None:
    os.mkfifo(place / "no-index")
    for text in (str(place / "t.tsv"), "-"):
        result = run("annotate", "-i", place / "no-index", text, input="flu", code=2)
        assert f"{place / 'no-index'}: is a pipe" in result.stderr
