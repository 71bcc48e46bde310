"""Outputs destroy nothing: inputs, folders of canonym, other outputs, and files that exist."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from canonym.linker import Linker
from canonym.terminology import Terminology
from tests.cli.running import command, run
from tests.conftest import clean_environment

pytestmark = pytest.mark.usefixtures("here")

TABLE = "id,name,type\nD:1,Heart attack,a\nD:1,Infarction,a\nD:2,Hip fracture,b\nD:2,Broken hip,b\n"
CORPUS = "1|t|broken hip\n1|a|\n1\t0\t10\tbroken hip\tb\tD:2\n\n"
GROUPS = {
    "a": ["heart attack", "infarction", "cardiac infarct", "hart attack"],
    "b": ["hip fracture", "broken hip", "hip broke", "fracture of hip"],
}
HEAD = ("--groups", "g.json", "--set", "names=2", "--set", "hidden=4", "--epochs", "1")
HEAD = (*HEAD, "--device", "cpu")
FIT = ("--start", "none", "--steps", "2", "--dimensions", "4", "--held-out", "0")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "x.csv").write_text(TABLE)
    (folder / "names.txt").write_text("broken hip\n" * 6)
    (folder / "g.json").write_text(json.dumps(GROUPS))
    (folder / "ids.txt").write_text("D:2\n")
    (folder / "c.pubtator").write_text(CORPUS)
    run("import", folder / "x.csv", "-o", folder / "x.db", "-q")
    run("index", folder / "x.db", "-o", folder / "ix", "-e", "chargrams", "-q")
    run("train", "subword", folder / "x.db", "-o", folder / "enc", "-q", *FIT)
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of what was made."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    Path("symbolic.txt").symlink_to("names.txt")
    Path("hard.tsv").hardlink_to("names.txt")
    Path("index-link").symlink_to("ix")
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


LINK = ("link", "-i", "ix", "-f", "names.txt")
EVALUATE = ("evaluate", "c.pubtator", "-i", "ix", "-p", "raw")
WRITERS = {  # every command that writes, without its output
    "link.tsv": (*LINK, "-o"),
    "link.parquet": (*LINK, "-o"),
    "report.html": (*EVALUATE, "--html"),
    "report.json": (*EVALUATE, "--json"),
    "import.db": ("import", "x.csv", "-o"),
    "index": ("index", "x.db", "-e", "chargrams", "-o"),
    "fit": ("train", "subword", "x.db", *FIT, "-o"),
    "diff.tsv": ("terminology", "diff", "x.db", "x.db", "-o"),
    "trained": ("train", "few-shot", "-t", "x.db", "-e", "default", *HEAD, "-o"),
}
NEEDS = {"trained": "torch", "link.parquet": "pyarrow"}


def writer(output: str) -> tuple[str, ...]:
    """Return the arguments of the command that writes an output, or skip it."""
    if output in NEEDS:
        pytest.importorskip(NEEDS[output])
    return WRITERS[output]


# --- inputs and folders of canonym ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((*EVALUATE, "--html", "c.pubtator"), "is an input as well"),
        ((*EVALUATE, "--json", "./c.pubtator"), "is an input as well"),
        ((*EVALUATE, "--json", "ix"), "is an input as well"),
        ((*EVALUATE, "--compare", "hard.tsv", "--json", "hard.tsv"), "is an input as well"),
        ((*EVALUATE, "--html", "new", "--json", "./new"), "two files are expected"),
        ((*LINK, "-o", "names.txt", "--format", "tsv"), "is an input as well"),
        ((*LINK, "-o", "symbolic.txt", "--format", "tsv"), "is an input as well"),
        ((*LINK, "-o", "hard.tsv"), "is an input as well"),
        ((*LINK, "--ids", "ids.txt", "-o", "ids.txt", "--format", "csv"), "is an input as well"),
        ((*LINK, "-o", "ix/terminology.db", "--format", "tsv"), "is a file of the input"),
        ((*LINK, "-o", "index-link/new.tsv"), "lies in"),
        ((*LINK, "-o", "enc/new.tsv"), "lies in"),
        (("import", "x.csv", "-o", "x.csv"), "is an input as well"),
        (("import", "x.csv", "-o", "ix/terminology.db"), "lies in"),
        (("index", "x.db", "-o", "x.db"), "is an input as well"),
        (("index", "ix/terminology.db", "-o", "ix"), "holds the input"),
        (("index", "x.db", "-e", "enc", "-o", "enc"), "is an input as well"),
        (("index", "x.db", "-e", "enc", "-o", "ix/new"), "lies in"),
        (("train", "subword", "x.db", "--start", "enc", "-o", "enc"), "is an input as well"),
        (("terminology", "diff", "x.db", "x.db", "-o", "x.db"), "is an input as well"),
    ],
)
def test_what_a_command_uses_is_no_output(
    arguments: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    before = content(tmp_path)
    for more in ((), ("--overwrite",)):
        assert problem in run(*arguments, *more, code=2).stderr
    assert content(tmp_path) == before


def test_the_files_of_an_unfinished_output_are_no_input() -> None:
    shutil.copy("names.txt", "out.tsv.partial")
    arguments = ("link", "-i", "ix", "-f", "out.tsv.partial", "-o", "out.tsv", "--overwrite")
    assert "is written meanwhile" in run(*arguments, code=2).stderr
    assert Path("out.tsv.partial").read_bytes() == Path("names.txt").read_bytes()


def test_standard_input_is_no_output() -> None:
    with Path("names.txt").open() as stream:
        arguments = command("link", "-i", "ix", "-o", "names.txt", "--format", "tsv", "--overwrite")
        done = subprocess.run(arguments, stdin=stream, capture_output=True, text=True, check=False)
    assert (done.returncode, "is standard input as well" in done.stderr) == (2, True)
    assert Path("names.txt").read_text() == "broken hip\n" * 6


def test_a_device_is_no_output() -> None:
    arguments = (*LINK, "-o", "/dev/full", "--format", "tsv", "--overwrite")
    assert "is a device or a pipe" in run(*arguments, code=2).stderr
    assert Path("/dev/full").is_char_device()


# --- what exists ----------------------------------------------------------------------------------


@pytest.mark.parametrize("output", WRITERS)
def test_an_output_that_exists_is_replaced_with_overwrite_alone(
    output: str, tmp_path: Path
) -> None:
    arguments = (*writer(output), output)
    run(*arguments, "-q")
    edited = tmp_path / output
    edited = edited / "canonym.json" if edited.is_dir() else edited
    whole = edited.read_bytes()
    edited.write_bytes(b"edited")
    refused = run(*arguments, code=2).stderr
    assert f"{output} exists already; choose another name, or replace it with --over" in refused
    assert edited.read_bytes() == b"edited"
    run(*arguments, "--overwrite", "-q")
    assert edited.read_bytes() != b"edited"
    assert len(edited.read_bytes()) == pytest.approx(len(whole), rel=0.1)
    assert not [path for path in tmp_path.iterdir() if "partial" in path.name]


def test_a_finished_output_is_not_resumed() -> None:
    run(*LINK, "-o", "out.tsv")
    before = Path("out.tsv").read_bytes()
    for more in (("--resume",), ("--resume", "--overwrite")):
        assert "nothing to do" in run(*LINK, "-o", "out.tsv", *more).stderr
    assert Path("out.tsv").read_bytes() == before


def test_a_training_killed_while_it_removed_its_checkpoints_is_tidied() -> None:
    train = ("train", "few-shot", "-e", "default", "-t", "x.db", "--top", "D:0", "-o", "enc")
    kept, rest = Path("kept/best-0001"), Path("enc.checkpoints/best-0001")
    for folder in (kept, rest):
        folder.mkdir(parents=True)
    kept_there = ("--set", "checkpoints=kept", "--set", "keep_checkpoints=true")
    result = run(*train, "--resume", *kept_there)
    assert "nothing to do" in result.stderr
    assert kept.is_dir()
    assert "nothing to do" in run(*train, "--resume").stderr
    assert not rest.parent.exists()


# --- two processes --------------------------------------------------------------------------------

TOGETHER = """
import os, sys, time
from pathlib import Path
from canonym.cli import main
from canonym.io import files

sync = files._sync
def wait(path):
    Path(f"ready-{os.getpid()}").touch()
    deadline = time.monotonic() + 60
    while len(list(Path().glob("ready-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.001)
    sync(path)
files._sync = wait
main(sys.argv[1:])
"""


def together(*arguments: str) -> list[tuple[int, str]]:
    """Run a command in two processes, which meet before their outputs get their names."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(2)
    ]
    errors = [process.communicate()[1] for process in both]
    for ready in Path().glob("ready-*"):
        ready.unlink()
    return sorted(zip((process.returncode for process in both), errors, strict=True))


_LONG = ("fit", "report.json")


@pytest.mark.parametrize(
    "output",
    ["import.db", "index", *(pytest.param(name, marks=pytest.mark.slow) for name in _LONG)],
)
def test_of_two_processes_one_writes_the_output(output: str, tmp_path: Path) -> None:
    arguments = (*writer(output), output)
    (won, _), (lost, message) = together(*arguments)
    assert (won, lost) == (0, 2), message
    assert f"{output} was written by another process meanwhile" in message
    assert "--overwrite" in message
    whole = content(tmp_path / output)
    both = together(*arguments, "--overwrite")
    assert [code for code, _ in both] == [0, 0], both
    assert content(tmp_path / output).keys() == whole.keys()
    if output == "index":
        assert Linker.load(output).link(["broken hip"])[0].ids == ("D:2",)
    if output == "import.db":
        assert Terminology(output).n_concepts == 2
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_of_two_trainings_one_writes_the_encoder(tmp_path: Path) -> None:
    (won, _), (lost, message) = together(*writer("trained"), "trained")
    assert (won, lost) == (0, 2), message
    # The slower one is told at its first checkpoint, or of the encoder where the other is done.
    assert re.search(r"trained(?:\.checkpoints/step-0+1)? was written by another process", message)
    assert (tmp_path / "trained" / "canonym.json").is_file()
    assert not (tmp_path / "trained.checkpoints").exists()


# --- a disk that is full or read-only -------------------------------------------------------------


@pytest.mark.parametrize("output", WRITERS)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_full_disk_is_the_machine_and_names_the_output(
    output: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (*writer(output), output)

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    stderr = run(*arguments, "-q", code=1).stderr
    # The first file that a training writes is a checkpoint.
    assert re.search(rf"Error: {output}(\.checkpoints\S*)?: {os.strerror(number)}", stderr)
    assert not (tmp_path / output).exists()


@pytest.mark.parametrize("output", WRITERS)
def test_a_protected_folder_is_the_machine_and_names_the_output(
    output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (*writer(output), output)
    monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)
    assert f"Error: {output}: Permission denied" in run(*arguments, code=1).stderr


@pytest.mark.parametrize("output", WRITERS)
def test_a_folder_that_is_a_file_is_refused(output: str) -> None:
    output = f"names.txt/{output}"
    arguments = (*writer(Path(output).name), output)
    assert f"{output}: the folder names.txt does not exist" in run(*arguments, code=2).stderr


LIMITED = """
import resource, sys
from canonym.cli import main

resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "output",
    [
        *("link.tsv", "import.db", "index", "report.html", "fit"),
        pytest.param("trained", marks=pytest.mark.slow),
    ],
)
def test_a_file_that_cannot_grow_is_the_machine_and_names_the_output(
    output: str, tmp_path: Path
) -> None:
    pytest.importorskip("resource")
    Path("names.txt").write_text("broken hip\n" * 3000)
    arguments = [sys.executable, "-c", LIMITED, *writer(output), output, "-q"]
    # Coverage could not write its own file either.
    environment = clean_environment()
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert f"Error: {output}" in done.stderr
    assert not (tmp_path / output).exists()


def test_standard_output_that_is_full_is_named() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command(*LINK), stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, b"standard output: No space left" in done.stderr) == (1, True)


def test_a_folder_whose_writer_was_killed_between_two_renames_is_there() -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()

    def move_away(folder: str) -> None:
        Path(folder).rename(f".{folder}.replaced-{dead.pid}-00ff")

    uses = {
        "ix": (
            ("link", "broken hip", "--index", "ix"),
            ("info", "ix"),
            ("synonyms", "list", "--index", "ix"),
            ("index", "--verify", "ix"),
            ("index", "x.db", "-o", "new", "-e", "chargrams", "--fold", "ix"),
        ),
        "enc": (
            ("info", "enc"),
            ("index", "--verify", "enc"),
            ("index", "x.db", "-o", "newer", "-e", "enc"),
            ("train", "subword", "x.db", "-o", "more", "--start", "enc", *FIT[2:4], *FIT[6:]),
        ),
    }
    for folder, commands in uses.items():
        for arguments in commands:
            move_away(folder)
            run(*arguments)
            assert Path(folder).is_dir(), arguments
    # It stands in the way of a new one, before anything takes time.
    for folder, maker in (("ix", ("index", "x.db")), ("enc", ("train", "subword", "x.db", *FIT))):
        move_away(folder)
        assert f"-o {folder} exists already" in run(*maker, "-o", folder, code=2).output
