"""The file beside an index: what is written, who sees it, and what goes wrong."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.linking.overlay import ADDED, Overlay, OverlayContent
from canonym.types import Name


def added(*texts: str, id_: str = "X:1") -> OverlayContent:
    return OverlayContent(tuple(Name(text, id_, source=ADDED) for text in texts))


def barred(*pairs: tuple[str, str]) -> OverlayContent:
    return OverlayContent(forbidden=pairs)


@pytest.fixture
def overlay(tmp_path: Path) -> Overlay:
    return Overlay(tmp_path / "overlay.db")


def test_what_is_written_is_read_and_each_only_once(overlay: Overlay) -> None:
    assert overlay.read() == OverlayContent()
    assert not overlay.path.exists()
    assert overlay.write(added("a", "b")) == added("a", "b")
    assert overlay.write(added("b", "c")) == added("c")
    assert overlay.write(barred(("m", "X:2"), ("l", "X:1"))) == barred(("m", "X:2"), ("l", "X:1"))
    assert overlay.read() == added("a", "b", "c")._replace(forbidden=(("l", "X:1"), ("m", "X:2")))
    assert overlay.remove(added("b", "z")) == added("b")
    assert overlay.remove(added("b")) == OverlayContent()
    assert overlay.read().synonyms == added("a", "c").synonyms


def test_pairs_are_the_same_by_their_normal_form(overlay: Overlay) -> None:
    overlay.write(barred(("Heart attacks", "X:1")))
    assert overlay.write(barred(("heart attack", "X:1"))) == OverlayContent()
    assert overlay.remove(barred(("heart attack", "X:2"))) == OverlayContent()
    assert overlay.remove(barred(("HEART attack", "X:1"))) == barred(("Heart attacks", "X:1"))


def test_content_is_the_same_object_until_something_changes(overlay: Overlay) -> None:
    assert overlay.read() is overlay.read()
    overlay.write(added("a"))
    first = overlay.read()
    assert overlay.read() is first
    overlay.write(added("a"))  # nothing new
    assert overlay.read() is first
    Overlay(overlay.path).write(added("b"))
    assert overlay.read().synonyms == added("a", "b").synonyms
    overlay.path.unlink()
    assert overlay.read() == OverlayContent()


def test_another_file_in_its_place_is_another_overlay(overlay: Overlay) -> None:
    for texts in (("a", "b"), ("y", "z"), ("a",)):
        overlay.path.unlink(missing_ok=True)  # as many changes as before, often at the same place
        for text in texts:
            Overlay(overlay.path).write(added(text))
        assert overlay.read() == added(*texts)


def test_writers_do_not_lose_what_others_write(overlay: Overlay) -> None:
    def write(number: int) -> None:
        for each in range(5):
            Overlay(overlay.path).write(added(f"t{number} {each}"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    code = (
        "import sys; from pathlib import Path; from canonym.linking.overlay import *; "
        "from canonym.types import Name; overlay = Overlay(Path(sys.argv[1])); "
        "[overlay.write(OverlayContent((Name(f'p {n}', 'X:1'),))) for n in range(5)]"
    )
    for thread in threads:
        thread.start()
    subprocess.run([sys.executable, "-c", code, str(overlay.path)], check=True, timeout=60)
    for thread in threads:
        thread.join()
    assert {name.text for name in overlay.read().synonyms} == {
        *(f"t{number} {each}" for number in range(3) for each in range(5)),
        *(f"p {n}" for n in range(5)),
    }


def test_a_writer_waits_so_long(overlay: Overlay, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay.write(added("a"))
    monkeypatch.setattr("canonym.linking.overlay._PATIENCE", 0.05)
    other = sqlite3.connect(overlay.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InvalidInput, match="written to by another process"):
        overlay.write(added("b"))
    assert overlay.read() == added("a")  # readers need not wait
    other.execute("ROLLBACK")
    other.close()
    assert overlay.write(added("b")) == added("b")


def test_a_change_is_whole_or_absent(overlay: Overlay) -> None:
    overlay.write(added("a"))
    wrong = Name("c", None)  # type: ignore[arg-type]
    with pytest.raises(ReadError):
        overlay.write(OverlayContent((Name("b", "X:1"), wrong)))
    assert overlay.read() == added("a")


def test_a_copy_is_as_it_was(overlay: Overlay, tmp_path: Path) -> None:
    overlay.copy(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    overlay.write(added("a"))
    overlay.copy(tmp_path / "copy.db")
    overlay.write(added("b"))
    assert Overlay(tmp_path / "copy.db").read() == added("a")


def test_other_files_are_refused(overlay: Overlay, tmp_path: Path) -> None:
    overlay.path.write_bytes(b"")
    assert overlay.read() == OverlayContent()  # about to be made
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE x (y)")
    with pytest.raises(ReadError, match="not a file of added"):
        Overlay(tmp_path / "other.db").read()
    (tmp_path / "text.db").write_text("no database, but long enough to be taken for one" * 50)
    with pytest.raises(ReadError, match="is damaged"):
        Overlay(tmp_path / "text.db").read()
    with sqlite3.connect(tmp_path / "newer.db") as newer:
        newer.execute(f"PRAGMA application_id = {0x63616F32}")
        newer.execute("CREATE TABLE x (y)")
    with pytest.raises(Mismatch, match="newer canonym"):
        Overlay(tmp_path / "newer.db").read()
    with pytest.raises(OSError, match="unable to open"):
        Overlay(tmp_path / "missing" / "overlay.db").write(added("a"))
