"""Output files that survive being stopped: what is kept, resumed and refused."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io import journal as journal_module
from canonym.io.journal import Journal
from canonym.jobs.input import Entry
from canonym.rules import shipped
from canonym.types import Candidate, Document, Link, Mention
from tests.cli.running import link


class Linker:
    """Links a mention to itself; stops at `stop_at`."""

    def __init__(self) -> None:
        self.stop_at: str | None = None
        self.error: BaseException = KeyboardInterrupt()
        self.fingerprint = "f1"
        self.encoder_names = ("default",)
        self.pipeline = SimpleNamespace(book=shipped())
        self.linked: list[str] = []

    def link_stream(self, mentions: Iterable[Mention], **_: Any) -> Iterator[Link]:
        for mention in mentions:
            if mention.text == self.stop_at:
                raise self.error
            self.linked.append(mention.text)
            yield Link(
                mention, tuple(Candidate(f"X:{i}", mention.text, 1.0, "n") for i in range(3))
            )

    def link_documents(self, documents: Iterable[Document], **options: Any) -> Iterator[Any]:
        return ((one, list(self.link_stream(one.mentions, **options))) for one in documents)


@pytest.fixture
def linker(monkeypatch: pytest.MonkeyPatch) -> Linker:
    fake = Linker()
    monkeypatch.setattr("canonym.cli.named_indexes.open_linker", lambda *_, **__: fake)
    return fake


@pytest.fixture
def names(tmp_path: Path) -> Path:
    file = tmp_path / "names.txt"
    file.write_text("".join(f"name {i}\n" for i in range(20)))
    return file


def linked(out: Path, *arguments: str, code: int = 0) -> str:
    """Link the names to a file; return what is said."""
    place = ("--file", str(out.with_name("names.txt")), "-o", str(out))
    return link(*place, *arguments, code=code).stderr


def stopped(linker: Linker, out: Path, *arguments: str) -> None:
    """Stop a run before the thirteenth name."""
    linker.stop_at = "name 12"
    linked(out, *arguments, code=130)
    linker.stop_at = None


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl"])
@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (OSError(28, "No space left on device"), 1)]
)
def test_a_stopped_run_is_resumed_to_the_same_bytes(
    linker: Linker, names: Path, tmp_path: Path, suffix: str, error: BaseException, code: int
) -> None:
    whole, out = tmp_path / f"whole{suffix}", tmp_path / f"out{suffix}"
    linked(whole, "-k", "3")
    linker.stop_at, linker.error = "name 12", error
    said = linked(out, "-k", "3", code=code)
    assert "12 mentions, is kept" in said
    assert "--resume" in said
    assert not out.exists()
    linker.stop_at = None
    linker.linked.clear()
    assert "Continuing after 12 mentions" in linked(out, "-k", "3", "--resume")
    assert linker.linked == [f"name {i}" for i in range(12, 20)]
    assert out.read_bytes() == whole.read_bytes()
    assert {file.name for file in tmp_path.iterdir()} == {names.name, out.name, whole.name}


@pytest.mark.usefixtures("names")
def test_what_was_written_after_the_last_record_is_cut(linker: Linker, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.csv", tmp_path / "out.csv"
    linked(whole)
    stopped(linker, out)
    partial = tmp_path / "out.csv.partial"
    partial.write_bytes(partial.read_bytes() + b"13,half a li")
    linked(out, "--resume")
    assert out.read_bytes() == whole.read_bytes()


def test_documents_are_resumed(linker: Linker, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.pubtator"
    documents = (f"{i}|t|name{i}\n{i}\t0\t5\tname{i}\tT\tD\n\n" for i in range(1, 9))
    corpus.write_text("0|t|none\n\n" + "".join(documents))
    whole, out = tmp_path / "whole.tsv", tmp_path / "out.tsv"
    link("--file", corpus, "-o", whole)
    linker.stop_at = "name5"
    link("--file", corpus, "-o", out, code=130)
    linker.stop_at = None
    link("--file", corpus, "-o", out, "--resume")
    assert out.read_bytes() == whole.read_bytes()


def test_a_table_is_resumed(linker: Linker, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("n,dx\n" + "".join(f"{i},name {i}\n" for i in range(9)))
    whole, out = tmp_path / "whole.csv", tmp_path / "out.csv"
    arguments = ("--file", str(file), "--column", "dx")
    link(*arguments, "-o", whole)
    linker.stop_at = "name 5"
    link(*arguments, "-o", out, code=130)
    linker.stop_at = None
    link(*arguments, "-o", out, "--resume")
    assert out.read_bytes() == whole.read_bytes()
    # A cell that is not linked is part of the input all the same.
    linker.stop_at = "name 5"
    arguments = (*arguments, "--overwrite")
    link(*arguments, "-o", out, code=130)
    file.write_text(file.read_text().replace("2,name 2", "7,name 2"))
    linker.stop_at = None
    assert "the input has changed" in link(*arguments, "-o", out, "--resume", code=2).stderr


@pytest.mark.usefixtures("names")
def test_with_nothing_to_resume_it_starts(tmp_path: Path, linker: Linker) -> None:
    out = tmp_path / "out.tsv"
    linked(out, "--resume")
    assert len(out.read_text().splitlines()) == 21
    assert "is finished: there is nothing to do" in linked(out, "--resume")
    linked(out, "--overwrite")
    assert linker.linked == [f"name {i}" for i in range(20)] * 2


@pytest.mark.usefixtures("names")
def test_a_run_without_resume_starts_over(linker: Linker, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    stopped(linker, out)
    partial = tmp_path / "out.tsv.partial"
    kept = partial.read_text()
    assert "pass --resume to go on, or --overwrite to start over" in linked(out, code=2)
    assert partial.read_text() == kept
    assert "is discarded" in linked(out, "--overwrite")
    assert len(out.read_text().splitlines()) == 21


def test_a_run_that_fails_at_once_leaves_nothing(
    linker: Linker, names: Path, tmp_path: Path
) -> None:
    linker.stop_at = "name 0"
    assert "is kept" not in linked(tmp_path / "out.tsv", code=130)
    assert [file.name for file in tmp_path.iterdir()] == [names.name]


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("-k", "2"), "another -k"),
        (("--min-score", "0.5"), "another --min-score"),
        (("--type", "A"), "another --type:"),
        (("--format", "csv"), "another --format"),
        (("--explain",), "another --explain"),
    ],
)
def test_other_options_are_refused(
    linker: Linker, tmp_path: Path, change: tuple[str, ...], problem: str
) -> None:
    stopped(linker, tmp_path / "out.tsv")
    assert problem in linked(tmp_path / "out.tsv", "--resume", *change, code=2)
    assert (tmp_path / "out.tsv.partial").exists()


@pytest.mark.usefixtures("names")
def test_another_index_is_refused(linker: Linker, tmp_path: Path) -> None:
    stopped(linker, tmp_path / "out.tsv")
    linker.fingerprint = "f2"
    assert "another index" in linked(tmp_path / "out.tsv", "--resume", code=2)


def test_another_input_is_refused(linker: Linker, names: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    stopped(linker, out)
    text = names.read_text()
    names.write_text(text.replace("name 3\n", "NAME 3\n"))
    assert "the input has changed within the 12" in linked(out, "--resume", code=2)
    names.write_text("name 0\n")
    assert "the input has only 1" in linked(out, "--resume", code=2)
    names.write_text(text + "name 20\n")  # what comes after may have changed
    linked(out, "--resume")
    assert len(out.read_text().splitlines()) == 22


@pytest.mark.usefixtures("linker", "names")
@pytest.mark.parametrize(
    ("name", "arguments"), [("x.parquet", ()), ("x.txt", ("--format", "table"))]
)
def test_formats_that_cannot_be_cut_are_refused(
    tmp_path: Path, name: str, arguments: tuple[str, ...]
) -> None:
    said = linked(tmp_path / name, "--resume", *arguments, code=2)
    assert "one of the formats tsv, csv, jsonl, pubtator" in said


# --- the journal itself ---------------------------------------------------------------------------


def entry(text: str) -> Entry:
    return Entry(Mention(text))


def begun(tmp_path: Path, n: int = 3) -> Path:
    """Leave a run that was stopped after `n` items of two bytes."""
    journal = Journal(tmp_path / "out", {"k": 1}, resume=False)
    for i in range(n):
        journal.begin()
        journal.stream.write(f"{i}\n")
        journal.done(entry(str(i)), 1)
    assert journal.stop() == n
    return tmp_path / "out.partial.json"


def test_a_record_is_written_every_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "_INTERVAL", 0.0)
    journal = Journal(tmp_path / "out", {}, resume=False)
    for i in range(3):
        journal.begin()
        journal.stream.write("é\n")
        journal.done(entry("é"), 2)
        record = json.loads((tmp_path / "out.partial.json").read_text())
        assert (record["bytes"], record["items"], record["links"]) == (3 * i + 3, i + 1, 2 * i + 2)
    journal.finish()
    assert (tmp_path / "out").read_text() == "é\né\né\n"
    assert [f.name for f in tmp_path.iterdir()] == ["out"]


def test_an_item_that_is_half_written_is_not_recorded(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "out", {}, resume=False)
    journal.begin()
    journal.stream.write("a\n")
    journal.done(entry("a"), 1)
    journal.save()
    journal.begin()
    journal.stream.write("half")
    assert journal.stop() == 1
    again = Journal(tmp_path / "out", {}, resume=True)
    assert again.skip(entry("a"))
    assert not again.skip(entry("b"))
    again.finish()
    assert (tmp_path / "out").read_text() == "a\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("not json", "is damaged"),
        ("[]", "is damaged"),
        ('{"settings": {}}', "is damaged"),
        ("[" * 5000, "is damaged .*nested too deeply"),
        *(
            (json.dumps({"settings": {"k": 1}, "input": "", **counts}), "no whole number")
            for counts in (
                {"bytes": -1, "items": 1, "links": 1},
                {"bytes": -(10**20), "items": 1, "links": 1},
                {"bytes": math.inf, "items": 1, "links": 1},
                {"bytes": 6, "items": math.inf, "links": 1},
                {"bytes": 6, "items": 1, "links": 1.5},
            )
        ),
    ],
)
def test_a_damaged_record_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    begun(tmp_path).write_text(content)
    with pytest.raises(ReadError, match=problem):
        Journal(tmp_path / "out", {"k": 1}, resume=True)


def test_an_output_shorter_than_recorded_is_refused(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "out.partial").write_text("0")
    with pytest.raises(ReadError, match="has 1 bytes where 6 were recorded"):
        Journal(tmp_path / "out", {"k": 1}, resume=True)
    (tmp_path / "out.partial").unlink()
    with pytest.raises(ReadError, match="has 0 bytes"):
        Journal(tmp_path / "out", {"k": 1}, resume=True)


def test_being_stopped_while_skipping_keeps_the_record(tmp_path: Path) -> None:
    record = begun(tmp_path)
    before = record.read_text()
    journal = Journal(tmp_path / "out", {"k": 1}, resume=True)
    assert journal.skip(entry("0"))
    assert journal.stop() == 3
    assert record.read_text() == before


def test_settings_are_compared(tmp_path: Path) -> None:
    begun(tmp_path)
    with pytest.raises(Mismatch, match="another k"):
        Journal(tmp_path / "out", {"k": 2}, resume=True)


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    journal = Journal(tmp_path / "out", {}, resume=False)
    with pytest.raises(InvalidInput, match="another process is writing"):
        Journal(tmp_path / "out", {}, resume=False)
    journal.stop()


def test_a_file_that_another_run_has_just_finished_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Journal(tmp_path / "out", {}, resume=False)
    first.stream.write("whole\n")
    lock = journal_module.lock

    def wait(stream: Any, path: Path) -> None:
        """Get the lock when the first run, which has it, is done."""
        first.finish()
        lock(stream, path)

    monkeypatch.setattr(journal_module, "lock", wait)
    with pytest.raises(InvalidInput, match="another process has just written"):
        Journal(tmp_path / "out", {}, overwrite=True, resume=False)
    assert (tmp_path / "out").read_text() == "whole\n"


def test_an_output_that_appears_meanwhile_is_left_alone(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "out", {}, resume=False)
    (tmp_path / "out").write_text("of another process")
    with pytest.raises(InvalidInput, match="was written by another process meanwhile"):
        journal.finish()
    journal.stop()
    assert (tmp_path / "out").read_text() == "of another process"


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize("step", ["both names", "a record"])
@pytest.mark.parametrize("flag", ["--resume", "--overwrite"])
def test_a_run_killed_in_its_last_step_is_finished(
    linker: Linker, tmp_path: Path, step: str, flag: str
) -> None:
    out = tmp_path / "out.tsv"
    partial, record = tmp_path / "out.tsv.partial", tmp_path / "out.tsv.partial.json"
    linked(out)
    whole = out.read_bytes()
    if step == "both names":  # a file gets its second name before it loses the first
        partial.hardlink_to(out)
    record.write_text("{}")
    linker.linked.clear()
    with (tmp_path / "copy").open("wb") as copy, out.open("rb") as opened:
        said = linked(out, flag)
        copy.write(opened.read())  # of the file as it was before
    assert ("is finished" in said) is (flag == "--resume")
    assert bool(linker.linked) is (flag == "--overwrite")
    assert out.read_bytes() == (tmp_path / "copy").read_bytes() == whole
    assert not partial.exists()
    assert not record.exists()
