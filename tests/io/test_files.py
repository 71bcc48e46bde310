"""Files and folders that are whole or absent, manifests, leftovers."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io import files
from canonym.io.files import (
    MANIFEST,
    cache_folder,
    data_folder,
    file_digest,
    read_manifest,
    remove_leftovers,
    write_file,
    write_folder,
    write_manifest,
)


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


# --- files ----------------------------------------------------------------------------------------


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with write_file(path) as partial:
        partial.write_text("new")
        assert partial.parent == tmp_path
        assert not path.exists()
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def fail_while_writing(path: Path) -> None:
    with write_file(path) as partial:
        partial.write_text("half")
        raise KeyError("of the block")


def test_a_block_that_raises_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    for target in (path, tmp_path / "b.txt"):
        with pytest.raises(KeyError, match="of the block"):
            fail_while_writing(target)
    assert (path.read_text(), names(tmp_path)) == ("old", ["a.txt"])


def test_a_file_that_was_never_written_is_an_error_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), write_file(tmp_path / "a.txt"):
        pass
    assert names(tmp_path) == []


def test_what_cannot_be_written_is_refused_before_the_block(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    for path, options, message in (
        (tmp_path / "a.txt", {"overwrite": False}, "exists already; choose another file name"),
        (tmp_path, {}, "is a folder; a file name is expected"),
        (tmp_path / "none" / "a.txt", {}, "none does not exist; create it first"),
    ):
        with pytest.raises(InvalidInput, match=message), write_file(path, **options):
            pytest.fail("the block must not run")


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    if not links:  # as on file systems without them
        monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "a.txt"
    with write_file(path, overwrite=False) as partial:
        partial.write_text("first")
    assert (path.read_text(), names(tmp_path)) == ("first", ["a.txt"])
    path.unlink()

    def both() -> None:
        with write_file(path, overwrite=False) as partial:
            partial.write_text("second")
            path.write_text("of another process")

    with pytest.raises(InvalidInput, match="was written by another process meanwhile"):
        both()
    assert (path.read_text(), names(tmp_path)) == ("of another process", ["a.txt"])


def test_an_error_names_the_file_that_it_is_about(tmp_path: Path) -> None:
    def failed(error: Exception) -> OSError:
        with pytest.raises(OSError) as raised, write_file(tmp_path / "a.txt"):
            raise error
        return raised.value

    path = str(tmp_path / "a.txt")
    assert failed(OSError(errno.ENOSPC, "full")).filename == path
    assert (
        str(failed(OSError(errno.ENOSPC, "full"))) == f"[Errno {errno.ENOSPC}] full: {str(path)!r}"
    )
    assert failed(OSError("12 requested and 0 written")).filename == path
    assert failed(OSError(errno.EACCES, "no", "input.txt")).filename == "input.txt"
    assert failed(BrokenPipeError(errno.EPIPE, "gone")).filename is None
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    assert (failed(full).errno, failed(full).filename) == (errno.ENOSPC, path)


# --- folders --------------------------------------------------------------------------------------


def save(folder: Path, text: str, *, overwrite: bool = False) -> None:
    with write_folder(folder, overwrite=overwrite) as partial:
        (partial / "deep").mkdir()
        (partial / "deep" / "data.txt").write_text(text, encoding="utf-8")
        write_manifest(partial, kind="thing", format_number=3, content={"text": text})


def test_a_folder_appears_when_it_is_complete(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    save(folder, "new")
    assert (folder / "deep" / "data.txt").read_text() == "new"
    assert names(tmp_path) == ["saved"]
    with pytest.raises(InvalidInput, match="exists already; choose another folder name"):
        save(folder, "newer")
    save(folder, "newer", overwrite=True)
    assert (folder / "deep" / "data.txt").read_text() == "newer"
    assert names(tmp_path) == ["saved"]


def test_an_empty_folder_may_be_replaced_and_a_strangers_not(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    save(folder, "new", overwrite=True)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    (tmp_path / "file").touch()
    for stranger in (tmp_path / "photos", tmp_path / "file"):
        with pytest.raises(InvalidInput, match="was not written by canonym"):
            save(stranger, "new", overwrite=True)
    assert names(tmp_path / "photos") == ["cat.jpg"]


def test_a_folder_whose_block_raises_leaves_the_old_one(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    save(folder, "old")
    with pytest.raises(TypeError, match="str"):
        save(folder, 5, overwrite=True)  # type: ignore[arg-type]
    assert (folder / "deep" / "data.txt").read_text() == "old"
    assert names(tmp_path) == ["saved"]


def test_a_folder_that_cannot_be_put_in_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Path.rename

    def refuse_the_new_one(self: Path, target: Path) -> Path:
        if (self / "deep" / "data.txt").read_text() == "new":
            raise PermissionError
        return plain(self, target)

    monkeypatch.setattr(Path, "rename", refuse_the_new_one)
    folder = tmp_path / "saved"
    with pytest.raises(PermissionError):
        save(folder, "new")
    assert names(tmp_path) == []
    save(folder, "old")
    with pytest.raises(PermissionError):
        save(folder, "new", overwrite=True)
    assert names(tmp_path) == ["saved"]
    assert (folder / "deep" / "data.txt").read_text() == "old"


def test_folders_that_cannot_be_opened_are_not_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.open

    def refuse(path: Path, *rest: int) -> int:
        if Path(path).is_dir():
            raise PermissionError
        return plain(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    save(tmp_path / "saved", "new")
    assert names(tmp_path) == ["saved"]


# --- leftovers ------------------------------------------------------------------------------------


def test_leftovers_of_dead_processes_are_removed_and_others_kept(tmp_path: Path) -> None:
    dead, alive = dead_process(), os.getpid()
    (tmp_path / f".a.txt.partial-{dead}-00ff").touch()
    (tmp_path / f".a.txt.partial-{dead}-00aa").mkdir()
    (tmp_path / f".a.txt.partial-{dead}-00aa" / "data").touch()
    kept = [
        f".a.txt.partial-{alive}-00ff",  # being written at this moment
        f".b.txt.partial-{dead}-00ff",  # another file's
        ".a.txt.partial-notes",  # nobody's we know
    ]
    for name in kept:
        (tmp_path / name).touch()
    with write_file(tmp_path / "a.txt") as partial:
        partial.touch()
    assert names(tmp_path) == sorted([*kept, "a.txt"])
    remove_leftovers(tmp_path / "missing" / "a.txt")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_leftover_is_not_of_a_process_that_began_later(tmp_path: Path) -> None:
    left = tmp_path / f".a.txt.partial-{os.getpid()}-00ff"
    left.touch()
    os.utime(left, (1_000_000_000, 1_000_000_000))
    with write_file(tmp_path / "a.txt") as partial:
        partial.touch()
    assert names(tmp_path) == ["a.txt"]


def test_leftovers_are_found_whatever_the_name(tmp_path: Path) -> None:
    (tmp_path / f".a[1].txt.partial-{dead_process()}-00ff").touch()
    with write_file(tmp_path / "a[1].txt") as partial:
        partial.touch()
    assert names(tmp_path) == ["a[1].txt"]
    save(tmp_path / "b[1]", "old")
    (tmp_path / "b[1]").rename(tmp_path / f".b[1].replaced-{dead_process()}-00ff")
    assert files.restored(tmp_path / "b[1]").is_dir()


def test_a_folder_is_never_half_removed(tmp_path: Path) -> None:
    code = (
        "import os, shutil, signal, sys; from pathlib import Path; from canonym.io import files; "
        "shutil.rmtree = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL); "
        "files.remove_folder(Path(sys.argv[1]))"
    )
    save(tmp_path / "saved", "old")
    save(tmp_path / "other", "old")
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "saved")], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [name.partition("-")[0] for name in names(tmp_path)] == [".saved.partial", "other"]
    files.remove_leftovers_in(tmp_path)
    assert names(tmp_path) == ["other"]
    files.remove_folder(tmp_path / "other")
    files.remove_folder(tmp_path / "other")  # gone already
    assert names(tmp_path) == []


KILL_BETWEEN = """
import os, signal, sys
from pathlib import Path
from canonym.io.files import write_folder, write_manifest
target = Path(sys.argv[1])
plain = Path.rename
def rename(self, to):
    if to == target:
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, to)
Path.rename = rename
with write_folder(target, overwrite=True) as partial:
    write_manifest(partial, kind="thing", format_number=1, content={})
"""


@pytest.mark.parametrize("by", ["opening", "writing"])
def test_a_kill_between_the_two_renames_loses_nothing(tmp_path: Path, by: str) -> None:
    folder = tmp_path / "saved"
    save(folder, "old")
    killed = subprocess.run([sys.executable, "-c", KILL_BETWEEN, str(folder)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not folder.exists()
    if by == "opening":
        read_manifest(folder, kind="thing", newest=3)
        assert (folder / "deep" / "data.txt").read_text() == "old"
    with pytest.raises(InvalidInput, match="exists already"):
        save(folder, "new")
    assert (folder / "deep" / "data.txt").read_text() == "old"
    save(folder, "new", overwrite=True)
    assert names(tmp_path) == ["saved"]


@pytest.mark.parametrize("looks", range(1, 6))
def test_a_folder_that_another_process_replaces_just_now_is_replaced_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    folder, exists = tmp_path / "saved", Path.exists
    save(folder, "old")
    left = [looks]

    def away_after_the_look(path: Path, **options: bool) -> bool:
        found = exists(path, **options)
        left[0] -= path == folder
        if path == folder and not left[0]:
            folder.rename(tmp_path / "moved")
        return found

    monkeypatch.setattr(Path, "exists", away_after_the_look)
    save(folder, "new", overwrite=True)
    assert (folder / "deep" / "data.txt").read_text() == "new"


def test_a_folder_being_replaced_by_someone_alive_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / f".saved.replaced-{os.getpid()}-00ff").mkdir()
    with pytest.raises(ReadError, match="no such folder"):
        read_manifest(tmp_path / "saved", kind="thing", newest=3)
    assert names(tmp_path) == [f".saved.replaced-{os.getpid()}-00ff"]


def test_a_process_of_another_user_counts_as_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert files._alive(1)
    monkeypatch.setattr(os, "name", "nt")
    assert files._alive(dead := 2**22 + 1), dead


def test_a_leftover_that_cannot_be_removed_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leftover = tmp_path / f".a.txt.partial-{dead_process()}-00ff"
    leftover.touch()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "unlink", refuse)
    remove_leftovers(tmp_path / "a.txt")
    assert leftover.exists()


# --- manifests ------------------------------------------------------------------------------------


def test_a_manifest_says_what_the_folder_is(tmp_path: Path) -> None:
    save(tmp_path / "saved", "häh?")
    content = read_manifest(tmp_path / "saved", kind="thing", newest=3)
    assert content == {
        "kind": "thing",
        "format": 3,
        "text": "häh?",
        "files": {"deep/data.txt": 5},
    }


def test_two_saves_give_the_same_bytes(tmp_path: Path) -> None:
    save(tmp_path / "a", "text")
    save(tmp_path / "b", "text")
    first, second = (tmp_path / each / MANIFEST for each in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().endswith(b"}\n")


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such folder; expected a saved thing"):
        read_manifest(tmp_path / "missing", kind="thing", newest=3)
    with pytest.raises(ReadError, match=r"not a saved thing: there is no canonym\.json in it"):
        read_manifest(tmp_path, kind="thing", newest=3)


def test_other_kinds_and_newer_formats(tmp_path: Path) -> None:
    save(tmp_path / "saved", "text")
    with pytest.raises(Mismatch, match="saved holds a thing, a linker is expected"):
        read_manifest(tmp_path / "saved", kind="linker", newest=3)
    with pytest.raises(Mismatch, match=r"newer canonym \(format 3, this version reads up to 2\)"):
        read_manifest(tmp_path / "saved", kind="thing", newest=2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"kind": "thing", "format": 3}',
        '{"kind": "thing", "format": "new", "files": {}}',
        '{"kind": "thing", "format": null, "files": {}}',
        '{"kind": "thing", "format": 3, "files": {"a": "large"}}',
        '{"kind": "thing", "format": 3, "files": [1]}',
        "[" * 5000,
        "\udcff",
    ],
)
def test_damaged_manifests(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ReadError, match="the manifest is damaged"):
        read_manifest(tmp_path, kind="thing", newest=3)


def test_missing_and_truncated_files(tmp_path: Path) -> None:
    save(tmp_path / "saved", "text")
    data = tmp_path / "saved" / "deep" / "data.txt"
    data.write_text("te")
    with pytest.raises(ReadError, match="has 2 bytes where 4 were written"):
        read_manifest(tmp_path / "saved", kind="thing", newest=3)
    data.unlink()
    with pytest.raises(ReadError, match="this file of the saved folder is missing"):
        read_manifest(tmp_path / "saved", kind="thing", newest=3)


def test_a_manifest_does_not_depend_on_other_manifests(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("old and longer than the new one will be " * 9)
    write_manifest(tmp_path, kind="thing", format_number=1, content={})
    assert json.loads((tmp_path / MANIFEST).read_text())["files"] == {}


# --- digests and the cache ------------------------------------------------------------------------


def test_the_digest_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc" * 100_000)
    assert file_digest(tmp_path / "a") == hashlib.sha256(b"abc" * 100_000).hexdigest()


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("CANONYM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "canonym"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "canonym"
    assert not (tmp_path / "mine").exists()


def test_the_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CANONYM_DATA_HOME", str(tmp_path / "mine"))
    assert data_folder() == tmp_path / "mine"
    monkeypatch.delenv("CANONYM_DATA_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "canonym"
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert data_folder() == tmp_path / "home" / ".local" / "share" / "canonym"
    assert not (tmp_path / "mine").exists()
