"""Bulk runs of this machine: the same bytes, resumed, retried, refused."""

from __future__ import annotations

import contextlib
import errno
import json
import multiprocessing
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from canonym import InvalidInput, Linker
from canonym.bulk import Summary, link_files, link_schema, link_table
from canonym.bulk import job as job_module
from canonym.bulk.sources import Shard, find_files, plan, read_shard
from canonym.bulk.target import open_target
from canonym.errors import Mismatch, ReadError
from canonym.io import journal as journal_module
from tests.linkers import contents


def link(source: Path, target: Path, index: Path, **options: Any) -> Summary:
    """Link in this process, five rows a part, unless told otherwise."""
    return link_files(
        source, target, options.pop("column", "dx"), index,
        **{"workers": 1, "shard_rows": 5, **options},
    )  # fmt: skip


def record(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_parts_hold_the_rows_of_the_input_and_their_links(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    summary = link(visits, tmp_path / "out", index)
    assert summary == (5, 23, 0, ())
    layout, (whole,) = plan(find_files(str(visits)), 100)
    expected = link_table(Linker.load(index), read_shard(whole, layout), "dx")
    assert pq.read_table(tmp_path / "out").equals(expected)
    assert expected.column("id")[7].as_py() == "007"
    assert expected.column("canonym_ids")[3].as_py() == ["X:2", "X:3"]
    assert pq.read_table(tmp_path / "out" / "part-000004.parquet").num_rows == 3
    assert expected.schema.names == ["id", "dx", "note", *link_schema().names]


def test_parts_hold_the_columns_that_are_asked_for(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    link(visits, tmp_path / "out", index, columns=["code", "id"])
    assert pq.read_table(tmp_path / "out").schema.names == [
        *("id", "dx", "note"), "canonym_code", "canonym_id",
    ]  # fmt: skip
    assert record(tmp_path / "out/_canonym/part-000001.json")["linked"] == 3
    with pytest.raises(Mismatch, match="columns"):
        link(visits, tmp_path / "out", index, columns=["code"], resume=True)


def test_records_tell_what_the_parts_hold(visits: Path, tmp_path: Path, index: Path) -> None:
    link(visits, tmp_path / "out", index, min_score=0.5)
    of_part = record(tmp_path / "out/_canonym/part-000001.json")
    assert of_part["input"] == {"file": "visits.csv", "first row": 5, "rows": 5}
    assert (of_part["rows"], of_part["linked"], of_part["empty"]) == (5, 3, 1)
    part = (tmp_path / "out/part-000001.parquet").read_bytes()
    assert of_part["output"]["bytes"] == len(part)
    settings = of_part["settings"]
    assert settings["index"] == Linker.load(index).fingerprint
    assert (settings["column"], settings["min_score"], settings["shard_rows"]) == ("dx", 0.5, 5)
    manifest = record(tmp_path / "out/_canonym/manifest.json")
    assert [each["output"]["file"] for each in manifest["parts"]] == sorted(
        path.name for path in (tmp_path / "out").glob("*.parquet")
    )
    assert (manifest["rows"], manifest["settings"]) == (23, settings)


def test_several_processes_write_the_same_bytes_as_one_and_one_that_is_killed_is_replaced(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    killed = []

    def kill_one(_stage: str, _done: int, _total: int) -> None:
        if not killed:
            (child, *_) = multiprocessing.active_children()
            killed.append(child)
            os.kill(child.pid or 0, signal.SIGKILL)

    link(visits, tmp_path / "one", index, shard_rows=2)
    summary = link(
        visits, tmp_path / "two", index, shard_rows=2, workers=2, batch=3, progress=kill_one
    )
    assert killed
    assert summary == (12, 23, 0, ())
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert not multiprocessing.active_children()


def test_a_shard_whose_process_ends_every_time_is_set_aside(
    visits: Path, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from canonym.io import processes

    class Mortal(processes.Worker[Shard, Any]):
        """A process that ends at the third part."""

        def do(self, item: Shard) -> Any:
            if item.number != 2:
                return self._task(item)
            self._start()
            self._process.kill()
            return super().do(item)

    monkeypatch.setattr(processes, "Worker", Mortal)
    summary = link(visits, tmp_path / "out", index, workers=2, retries=1)
    (failure,) = summary.failures
    assert failure.part == "part-000002"
    assert "the process that linked it ended (code -9)" in failure.problem
    assert record(tmp_path / "out/_canonym/failed/part-000002.json")["attempts"] == 2
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 4
    assert not (tmp_path / "out/_canonym/manifest.json").exists()


# --- going on -------------------------------------------------------------------------------------


def stopped(visits: Path, target: Path, index: Path, **options: Any) -> None:
    """Leave a run after three parts."""

    def stop(_stage: str, done: int, _total: int) -> None:
        if done == 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        link(visits, target, index, progress=stop, **options)


def test_a_run_that_is_resumed_makes_what_is_missing_and_nothing_else(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    link(visits, tmp_path / "whole", index)
    stopped(visits, tmp_path / "out", index)
    made = {path: path.stat() for path in (tmp_path / "out").rglob("part-*")}
    assert len(made) == 6
    assert not (tmp_path / "out/_canonym/manifest.json").exists()
    assert link(visits, tmp_path / "out", index, resume=True).kept == 3
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    for path, before in made.items():
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_finished_run_is_not_done_again(visits: Path, tmp_path: Path, index: Path) -> None:
    link(visits, tmp_path / "out", index)
    before = {path: path.stat().st_ino for path in (tmp_path / "out").rglob("*.*")}
    assert link(visits, tmp_path / "out", index, resume=True) == (5, 23, 5, ())
    assert {path: path.stat().st_ino for path in (tmp_path / "out").rglob("*.*")} == before


def test_a_part_that_is_damaged_or_not_recorded_is_made_again(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    link(visits, tmp_path / "out", index)
    whole = contents(tmp_path / "out")
    (tmp_path / "out/part-000001.parquet").write_bytes(b"PAR1")
    other = bytearray((tmp_path / "out/part-000002.parquet").read_bytes())
    other[len(other) // 2] ^= 1  # of the same size
    (tmp_path / "out/part-000002.parquet").write_bytes(other)
    (tmp_path / "out/_canonym/part-000003.json").unlink()
    (tmp_path / "out/_canonym/part-000004.json").write_text("{", encoding="utf-8")
    assert link(visits, tmp_path / "out", index, resume=True).kept == 1
    assert contents(tmp_path / "out") == whole


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({"shard_rows": 6}, "shard_rows"),
        ({"column": "note", "min_score": 0.5}, "column, another min_score"),
        ({"context_column": "note"}, "context_column"),
    ],
)
def test_a_run_with_other_settings_is_not_resumed(
    visits: Path, tmp_path: Path, index: Path, options: dict[str, Any], changed: str
) -> None:
    stopped(visits, tmp_path / "out", index)
    before = contents(tmp_path / "out")
    with pytest.raises(Mismatch, match=f"was begun with another {changed}: use the same"):
        link(visits, tmp_path / "out", index, resume=True, **options)
    assert contents(tmp_path / "out") == before


def test_a_run_with_another_index_is_not_resumed(
    visits: Path, tmp_path: Path, index: Path, own_index: Path
) -> None:
    stopped(visits, tmp_path / "out", index)
    with pytest.raises(Mismatch, match="was begun with another index"):
        link(visits, tmp_path / "out", own_index, resume=True)


def test_a_run_with_other_input_is_not_resumed(visits: Path, tmp_path: Path, index: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    one, two = folder / "a.csv", folder / "b.csv"
    one.write_bytes(visits.read_bytes())
    stopped(folder, tmp_path / "out", index)

    def problem() -> str:
        with pytest.raises(Mismatch) as caught:
            link(folder, tmp_path / "out", index, resume=True)
        return str(caught.value).partition("was begun: ")[2]

    text = one.read_text(encoding="utf-8")
    one.write_text(text + "x,gout,y\n", encoding="utf-8")
    assert problem().startswith(f"a.csv has {len(text) + 9:,} bytes and had {len(text):,}")
    one.rename(two)
    assert problem().startswith("a.csv is gone")
    one.write_text(text, encoding="utf-8")
    assert problem().startswith("b.csv is new")


def test_other_content_of_the_same_size_and_time_is_not_resumed(
    visits: Path, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonym.bulk.sources._BLOCK", 1 << 14)
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    text = visits.read_text(encoding="utf-8")
    small.write_text(text, encoding="utf-8")
    rows = "".join(f"{n},gout,{'x' * 100_000}\n" for n in range(20))
    large.write_text(f"id,dx,note\n{rows}", encoding="utf-8")
    for source in (small, large):
        out = tmp_path / source.stem
        stopped(source, out, index)
        before, stat = source.read_bytes(), source.stat()
        for at in (12, len(before) // 63 * 20, len(before) - 2):
            source.write_bytes(before[:at] + b"?" + before[at + 1 :])
            os.utime(source, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            with pytest.raises(Mismatch, match=rf"{source.name} has other content of the same"):
                link(source, out, index, resume=True)
        source.write_bytes(before)
    os.utime(large, ns=(1, 1))  # of which not all bytes are looked at
    with pytest.raises(Mismatch, match=r"large\.csv was written again"):
        link(large, tmp_path / "large", index, resume=True)
    os.utime(small, ns=(1, 1))
    assert link(small, tmp_path / "small", index, resume=True).kept == 3


def test_a_damaged_record_of_the_job_is_told(visits: Path, tmp_path: Path, index: Path) -> None:
    stopped(visits, tmp_path / "out", index)
    path = tmp_path / "out/_canonym/job.json"
    for text in ("{", '{"format": 1}', path.read_text(encoding="utf-8").replace("dx", "dy")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ReadError, match=r"job\.json: is damaged"):
            link(visits, tmp_path / "out", index, resume=True)


def test_overwrite_removes_the_parts_of_the_earlier_run(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    link(visits, tmp_path / "whole", index)
    link(visits, tmp_path / "out", index, shard_rows=2)
    link(visits, tmp_path / "out", index, overwrite=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


# --- trouble --------------------------------------------------------------------------------------


def test_a_broken_row_costs_its_part_alone(visits: Path, tmp_path: Path, index: Path) -> None:
    lines = visits.read_text(encoding="utf-8").replace("\n007,", "\n007,one cell too many,")
    visits.write_text(lines, encoding="utf-8")
    (failure,) = link(visits, tmp_path / "out", index).failures
    problem = "visits.csv, line 17: the row has 4 cells, and the header has 3"
    assert failure.part == "part-000001"
    assert failure.problem.endswith(problem)
    told = record(tmp_path / "out/_canonym/failed/part-000001.json")
    assert told["error"].endswith(problem)
    assert told["attempts"] == 1  # it is the same every time
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 4


def test_a_failure_by_chance_is_tried_again_and_leaves_no_trace(
    visits: Path, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link(visits, tmp_path / "whole", index)
    tried: list[int] = []

    def flaky(shard: Shard, layout: Any) -> Any:
        tried.append(shard.number)
        if shard.number in (1, 3) and tried.count(shard.number) < 3:
            raise OSError(errno.EIO, "the network is down")
        return read_shard(shard, layout)

    monkeypatch.setattr(job_module, "read_shard", flaky)
    failed = link(visits, tmp_path / "out", index, retries=1).failures
    assert [failure.part for failure in failed] == ["part-000001", "part-000003"]
    assert tried == [0, 1, 2, 3, 4, 1, 3]
    assert "the network is down" in failed[0].problem
    assert link(visits, tmp_path / "out", index, resume=True) == (5, 23, 3, ())
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_an_unforeseen_error_is_set_aside_with_its_kind(
    visits: Path, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "read_shard", lambda *_: {}["key"])
    failures = link(visits, tmp_path / "out", index, retries=0).failures
    assert {failure.problem for failure in failures} == {"KeyError: 'key'"}


def test_a_full_disk_ends_the_run_and_what_is_done_is_kept(
    visits: Path, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = job_module.write_file
    calls = []

    @contextlib.contextmanager
    def full(path: Path) -> Any:
        calls.append(path)
        with write(path) as partial:
            yield partial
            if len(calls) == 3:
                raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(job_module, "write_file", full)
    with pytest.raises(OSError, match="No space left") as caught:
        link(visits, tmp_path / "out", index)
    assert caught.value.filename == str(tmp_path / "out/part-000002.parquet")
    assert sorted(path.name for path in (tmp_path / "out").glob("*part*")) == [
        "part-000000.parquet", "part-000001.parquet",
    ]  # fmt: skip
    monkeypatch.undo()
    assert link(visits, tmp_path / "out", index, resume=True).kept == 2


def test_an_index_that_is_deleted_meanwhile_ends_the_run(
    visits: Path, tmp_path: Path, own_index: Path
) -> None:
    def delete(_stage: str, _done: int, _total: int) -> None:
        own_index.rename(tmp_path / "elsewhere")

    with pytest.raises(ReadError, match="the index is gone, or this machine cannot see it"):
        link(visits, tmp_path / "out", own_index, progress=delete)
    (tmp_path / "elsewhere").rename(own_index)
    assert link(visits, tmp_path / "out", own_index, resume=True).kept == 1


@pytest.mark.parametrize(
    ("gone", "message"), [(True, "the index is gone"), (False, "build the index again")]
)
def test_an_index_that_vanishes_while_it_is_opened_is_gone_and_not_damaged(
    visits: Path,
    tmp_path: Path,
    index: Path,
    monkeypatch: pytest.MonkeyPatch,
    gone: bool,
    message: str,
) -> None:
    folder = shutil.copytree(index, tmp_path / "index")

    def reopened(_: Any) -> Linker:
        if gone:
            folder.rename(tmp_path / "elsewhere")
        raise ReadError(folder / "speller", "cannot be opened; build the index again")

    monkeypatch.setattr(job_module, "reopened", reopened)
    with pytest.raises(ReadError, match=message):
        link(visits, tmp_path / "out", folder)


def test_an_index_that_changes_meanwhile_ends_the_run(
    visits: Path, tmp_path: Path, own_index: Path
) -> None:
    def change(_stage: str, _done: int, _total: int) -> None:
        Linker.load(own_index).synonyms.add("podagra", "Y:1")

    with pytest.raises(Mismatch, match="holds another index than when the job began"):
        link(visits, tmp_path / "out", own_index, progress=change)


# --- what is refused ------------------------------------------------------------------------------


def test_a_target_that_is_written_is_refused_to_another_run(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    with (
        open_target(tmp_path / "out", resume=False, overwrite=False),
        pytest.raises(InvalidInput, match="another process is writing"),
    ):
        link(visits, tmp_path / "out", index)
    assert not (tmp_path / "out").exists()


def test_a_target_that_another_run_has_just_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "lock", lambda stream, _: Path(stream.name).unlink())
    with (
        pytest.raises(InvalidInput, match="another process has just written"),
        open_target(tmp_path / "out", resume=False, overwrite=False),
    ):
        pass


def test_targets_that_would_be_lost_are_refused(visits: Path, tmp_path: Path, index: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").touch()
    for overwrite in (False, True):
        with pytest.raises(InvalidInput, match="was not written by canonym and is left alone"):
            link(visits, mine, index, overwrite=overwrite)
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]
    with pytest.raises(InvalidInput, match="is a file; the name of a folder is expected"):
        link(visits, visits, index, overwrite=True)
    with pytest.raises(InvalidInput, match=r"the folder .*none does not exist; create it first"):
        link(visits, tmp_path / "none" / "out", index)
    with pytest.raises(InvalidInput, match=r"lies in .*: write elsewhere"):
        link(visits, tmp_path, index)
    stopped(visits, tmp_path / "out", index)
    with pytest.raises(InvalidInput, match="an interrupted run has done: pass resume=True to go"):
        link(visits, tmp_path / "out", index)
    link(visits, tmp_path / "out", index, resume=True)
    with pytest.raises(InvalidInput, match="a finished output: pass overwrite=True to replace it"):
        link(visits, tmp_path / "out", index)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": "dy"}, "there is no column 'dy'; the columns are: 'id', 'dx', 'note'"),
        ({"context_column": "dy"}, "there is no column 'dy'"),
        ({"engine": "dask"}, "engine is 'dask'; expected one of local, ray, spark"),
        ({"address": "host:1"}, "address is that of a cluster: it goes with the engines ray and"),
        ({"workers": -1}, "workers is -1; expected a number of processes, at most 256"),
        ({"shard_rows": 1.5}, "shard_rows is 1.5; expected a whole number, at least 1"),
        ({"retries": -1}, "retries is -1; expected a whole number, at least 0"),
        ({"k": 0}, "k is 0"),
        ({"types": ["nonsense"]}, "nonsense"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_and_leave_nothing(
    visits: Path, tmp_path: Path, index: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        link(visits, tmp_path / "out", index, **options)
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_column_of_the_result_in_the_input_is_refused(tmp_path: Path, index: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("dx,canonym_id\ngout,1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="the input has the column 'canonym_id' already"):
        link(path, tmp_path / "out", index)


def test_a_column_of_numbers_in_parquet_is_refused(tmp_path: Path, index: Path) -> None:
    pq.write_table(pa.table({"dx": [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(InvalidInput, match="the column 'dx' holds int64; expected strings"):
        link(tmp_path / "a.parquet", tmp_path / "out", index)
    assert not (tmp_path / "out").exists()
