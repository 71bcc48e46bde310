"""``canonym link -o FOLDER/``: messages, exit codes, and runs that are stopped from outside."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from canonym import Concept, Linker, Terminology
from canonym.bulk import link_files

from .running import command, run


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bulk") / "index"
    terminology = Terminology.build([Concept("X:1", "Gout"), Concept("X:2", "Heart attack")])
    Linker.build(terminology, encoders=["chargrams"]).save(folder)
    return folder


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text("id,dx\n" + "".join(f"{n:03},gout {n}\n" for n in range(120)), encoding="utf-8")
    return path


def arguments(source: Path, target: Path, index: Path, *more: str) -> list[str]:
    return [
        "link", "--file", str(source), "-o", f"{target}/", "--index", str(index), "--column", "dx",
        "--workers", "1", "--format-option", "shard-rows=3", *more,
    ]  # fmt: skip


def test_a_run_says_what_it_has_written(visits: Path, tmp_path: Path, index: Path) -> None:
    result = run(*arguments(visits, tmp_path / "out", index))
    assert result.output == f"40 of 40 parts are in {tmp_path / 'out'}; 120 rows in all.\n"
    assert pq.read_table(tmp_path / "out").column("id").to_pylist()[7] == "007"
    again = run(*arguments(visits, tmp_path / "out", index, "--resume"))
    assert "40 of 40 parts" in again.output
    assert "40 of them from before" in again.output


@pytest.mark.parametrize(
    "words",
    [
        ["link", "visits.csv", "-o", "out/", "--column", "dx"],
        ["link", "visits.csv", "-o", "out", "--engine", "local", "-c", "dx", "--workers", "1"],
        pytest.param(
            ["link", "-f", "visits.csv", "-c", "dx", "--engine", "local", "out"],
            marks=pytest.mark.slow,
        ),
        ["bulk", "visits.csv", "out", "--column", "dx", "--workers", "1"],
        pytest.param(
            ["bulk", "--column=dx", "visits.csv", "--retries", "1", "out"], marks=pytest.mark.slow
        ),
        pytest.param(
            ["bulk", "-c", "dx", "--workers", "1", "-v", "visits.csv", "--overwrite", "out"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_source_and_the_folder_need_no_flags(
    visits: Path, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words, "--index", index, "--shard-rows", "60")
    assert "2 of 2 parts are in out; 120 rows in all.\n" in result.output
    assert ("`canonym bulk` is `canonym link --engine local` now." in result.stderr) == (
        words[0] == "bulk"
    )
    assert pq.read_table(tmp_path / "out").column_names[:2] == ["id", "dx"]
    assert visits.exists()


def test_a_further_word_is_no_place(visits: Path, tmp_path: Path, index: Path) -> None:
    refused = run(*arguments(visits, tmp_path / "out", index, "gout"), code=2)
    assert (
        "gout is one place too many for a source and a folder: files are named by a"
        in refused.output
    )
    assert not (tmp_path / "out").exists()


def test_options_of_the_link_change_it(visits: Path, tmp_path: Path, index: Path) -> None:
    run(*arguments(visits, tmp_path / "out", index, "--min-score", "0.99"))
    reasons = pq.read_table(tmp_path / "out").column("canonym_reason").to_pylist()
    assert all(re.fullmatch(r"the best score, [\d.]+, is below 0.99", each) for each in reasons)


def test_only_some_concepts_are_found(visits: Path, tmp_path: Path, index: Path) -> None:
    (tmp_path / "ids").write_text("X:2\n")
    run(*arguments(visits, tmp_path / "out", index, "--ids", str(tmp_path / "ids")))
    assert set(pq.read_table(tmp_path / "out").column("canonym_id").to_pylist()) <= {"X:2", None}
    for option, value in (("--source", "MSH"), ("--language", "de"), ("--type", "T047")):
        told = run(*arguments(visits, tmp_path / "new", index, option, value), code=2).output
        assert value in told
        assert not (tmp_path / "new").exists()
    (tmp_path / "ids").write_text("")
    empty = ("--ids", str(tmp_path / "ids"))
    assert "is empty" in run(*arguments(visits, tmp_path / "new", index, *empty), code=2).output


def test_the_surroundings_of_a_row_can_be_ignored(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    for name, more in (("with", ()), ("without", ("--no-context",))):
        run(*arguments(visits, tmp_path / name, index, *more))
        job = json.loads((tmp_path / name / "_canonym" / "job.json").read_text())
        assert job["settings"]["context"] is (name == "with")


def test_a_part_that_fails_gives_code_3_and_is_tried_again(tmp_path: Path, index: Path) -> None:
    path = tmp_path / "b.parquet"
    pq.write_table(pa.table({"dx": [f"gout {n}" for n in range(12)]}), path, row_group_size=3)
    content = path.read_bytes()
    whole, stat = bytearray(content), path.stat()
    start = pq.ParquetFile(path).metadata.row_group(2).column(0).dictionary_page_offset
    whole[start : start + 20] = b"\xff" * 20
    path.write_bytes(whole)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    result = run(*arguments(path, tmp_path / "out", index), code=3)
    assert f"3 of 4 parts are in {tmp_path / 'out'}" in result.output
    assert f"part-000002: {path}: the Parquet file is damaged" in result.output
    assert "1 part is missing, see" in result.output
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    # The other parts are of the file as it was.
    refused = run(*arguments(path, tmp_path / "out", index, "--resume"), code=2)
    assert "b.parquet has other content" in refused.output
    path.write_bytes(whole)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    run(*arguments(path, tmp_path / "out", index, "--resume"), code=3)
    path.write_bytes(content)
    run(*arguments(path, tmp_path / "out", index, "--overwrite"))
    assert pq.read_table(tmp_path / "out").num_rows == 12
    assert not (tmp_path / "out/_canonym/failed").exists()


def test_messages_speak_of_options(visits: Path, tmp_path: Path, index: Path) -> None:
    run(*arguments(visits, tmp_path / "out", index))
    refused = run(*arguments(visits, tmp_path / "out", index), code=2)
    assert "holds a finished output: pass --overwrite to replace it" in refused.output
    other = run(*arguments(visits, tmp_path / "out", index, "--resume", "--type", "t"), code=2)
    assert "or pass --overwrite instead of --resume to start over" in other.output
    visits.write_bytes(b"PAR1")
    visits.rename(tmp_path / "visits.parquet")
    broken = run(*arguments(tmp_path / "visits.parquet", tmp_path / "new", index), code=2)
    assert "is no whole Parquet file" in broken.output
    assert not (tmp_path / "new").exists()


def begun(visits: Path, target: Path, index: Path, *more: str) -> subprocess.Popen[str]:
    """Start a run in a process of its own, and wait until it has made a part."""
    process = subprocess.Popen(
        command(*arguments(visits, target, index, *more)), text=True, stderr=subprocess.PIPE
    )
    while not list(target.glob("_canonym/part-*.json")):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.001)
    return process


def test_a_run_that_is_killed_goes_on_without_doing_anything_again(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    process = begun(visits, tmp_path / "out", index)
    process.kill()
    process.communicate()
    records = list((tmp_path / "out/_canonym").glob("part-*.json"))
    assert 0 < len(records) < 40
    made = {path: path.stat() for path in records}
    made |= {
        path: path.stat()
        for record in records
        if (path := tmp_path / "out" / f"{record.stem}.parquet")
    }
    run(*arguments(visits, tmp_path / "out", index, "--resume"))
    for path, before in made.items():
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    link_files(visits, tmp_path / "whole", "dx", index, workers=1, shard_rows=3)
    for path in (tmp_path / "whole").glob("*.parquet"):
        assert path.read_bytes() == (tmp_path / "out" / path.name).read_bytes()
    left = [path.name for path in (tmp_path / "out").iterdir() if path.suffix != ".parquet"]
    assert left == ["_canonym"]


def test_a_target_has_one_writer_and_ctrl_c_ends_it_cleanly(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    process = begun(visits, tmp_path / "out", index, "--workers", "2")
    second = run(*arguments(visits, tmp_path / "out", index, "--resume"), code=2)
    assert "another process is writing" in second.output
    process.send_signal(signal.SIGINT)
    assert re.search(r"^Stopped\.$", process.communicate(timeout=60)[1], re.MULTILINE)
    assert process.returncode == 130
    names = [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
    assert all(".partial-" in name for name in names)
    run(*arguments(visits, tmp_path / "out", index, "--resume"))
    assert pq.read_table(tmp_path / "out").num_rows == 120


def test_a_disk_that_is_full_is_told_once(visits: Path, tmp_path: Path, index: Path) -> None:
    limited = (
        "import resource as r, sys\n"
        "from canonym.cli import main\n"
        "r.setrlimit(r.RLIMIT_FSIZE, (40_000, r.RLIM_INFINITY))\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "finally:\n"  # what measures coverage writes more at the end
        "    r.setrlimit(r.RLIMIT_FSIZE, (r.RLIM_INFINITY, r.RLIM_INFINITY))\n"
    )
    given = arguments(visits, tmp_path / "out", index, "--format-option", "shard-rows=2")
    rows = [os.urandom(20_000).hex() for _ in range(2)]
    visits.write_text("dx\na\nb\n" + "\n".join(rows) + "\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", limited, *given], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "part-000001.parquet: File too large" in done.stderr
    assert f"kept in {tmp_path / 'out'}; the same command with --resume goes on" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in (tmp_path / "out").glob("*part*")] == ["part-000000.parquet"]
