"""What is kept on disk: for later runs, shared by threads, never lost where nothing can be kept."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

import pytest

from canonym.linking.second_look.kept import ANSWERS, VECTORS, Kept


def test_answers_are_there_in_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "new" / "answers.db"
    kept = Kept(path)
    kept.add({"a": 3})
    kept.add({"b": None})
    kept.add({"a": 1})  # the first answer stays
    again = Kept(path).of(["a", "b", "c"])
    assert again["a"] == 3
    assert again["b"] is None
    assert again.keys() == {"a", "b"}


def test_many_keys_are_looked_up_together(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "answers.db")
    keys = [f"key {n}" for n in range(1201)]
    kept.add({key: n % 10 for n, key in enumerate(keys)})
    assert [kept.of(keys)[key] for key in keys] == [n % 10 for n in range(1201)]


def test_the_oldest_answers_make_room(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "answers.db", ANSWERS._replace(most=5))
    for n in range(9):
        kept.add({str(n): n})
    assert kept.of(map(str, range(9))).keys() == {"4", "5", "6", "7", "8"}


def test_threads_and_connections_add_at_once(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    several = [Kept(path), Kept(path)]

    def add(start: int) -> None:
        for n in range(start, start + 25):
            several[n % 2].add({str(n): n})

    threads = [threading.Thread(target=add, args=(start,)) for start in range(0, 100, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {int(key): one for key, one in several[0].of(map(str, range(100))).items()} == {
        n: n for n in range(100)
    }


def test_what_cannot_be_written_is_remembered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING):
        kept = Kept(tmp_path / "file" / "answers.db")
    assert "answers are not kept" in caplog.text
    kept.add({"a": 0})
    assert kept.of(["a"])["a"] == 0


def test_a_damaged_file_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "answers.db"
    path.write_bytes(b"not a database, but long enough to be looked at " * 40)
    with caplog.at_level(logging.WARNING):
        kept = Kept(path)
    assert "cannot be used" in caplog.text
    kept.add({"a": 0})
    assert path.read_bytes().startswith(b"not a database")


def test_what_fails_later_is_told_and_no_answer_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept(tmp_path / "answers.db")
    kept.add({"a": 1})
    kept._file.close()  # as a full disk does, it fails from now on
    with caplog.at_level(logging.WARNING):
        kept.add({"b": 2})
        other = Kept(tmp_path / "answers.db")
        other._file.close()
        assert other.of(["a"]) == {}
    assert "answers are not kept" in caplog.text
    assert kept.of(["b"])["b"] == 2
    assert Kept(tmp_path / "answers.db").of(["a"])["a"] == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_a_connection_of_its_own(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "answers.db")
    kept.add({"a": 1})
    before = kept._file
    child = os.fork()
    if child == 0:
        own = kept._file is not before and kept.of(["a"])["a"] == 1
        kept.add({"b": 2})
        os._exit(0 if own else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert kept.of(["a", "b"]).keys() == {"a", "b"}


def test_vectors_are_kept_beside_answers(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    Kept(path).add({"a": 1})
    vectors = Kept(path, VECTORS)
    assert vectors.of(["a"]) == {}
    vectors.add({})
    vectors.add({"a": b"1234", "b": b"5678"})
    assert Kept(path, VECTORS).of(["a", "b"]) == {"a": b"1234", "b": b"5678"}
    assert Kept(path).of(["a"]) == {"a": 1}
