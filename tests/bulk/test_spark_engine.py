"""Bulk runs and data frames with Spark in its local mode."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from canonym import InvalidInput, Linker
from canonym.bulk import job as job_module
from canonym.bulk import link_files, link_schema, link_table
from canonym.bulk.sources import find_files, plan
from canonym.bulk.spark_engine import check_spark
from canonym.integrations.spark import link_column

pyspark = pytest.importorskip("pyspark", reason="needs pyspark: pip install 'canonym[spark]'")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Spark itself, about sockets and newer pandas
    pytest.mark.skipif(
        not (os.environ.get("JAVA_HOME") or shutil.which("java")), reason="Spark needs Java"
    ),
]
MENTIONS = ["heart attack", None, "brest cancre", "", "breast and ovarian cancer"]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = pyspark.sql.SparkSession.builder.master("local[2]")
    for name, value in (("ui.enabled", "false"), ("sql.shuffle.partitions", "2")):
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def test_spark_writes_the_same_bytes_and_sets_aside_what_fails(
    visits: Path, tmp_path: Path, index: Path, session: Any
) -> None:
    text = visits.read_text(encoding="utf-8")
    visits.write_text(text.replace("\n012,", "\n012,one cell too many,"), encoding="utf-8")
    done: list[int] = []
    one, two = (
        link_files(
            visits, tmp_path / engine, "dx", index, engine=engine, workers=1, shard_rows=5,
            progress=lambda _stage, n, _total: done.append(n),
        )
        for engine in ("local", "spark")
    )  # fmt: skip
    assert one == two
    assert [failure.part for failure in two.failures] == ["part-000002"]
    assert parts(tmp_path / "spark") == parts(tmp_path / "local")
    assert done[:5] == [5, 10, 15, 20, 23]
    assert done[-1] == 23
    assert session.range(3).count() == 3  # the session of the caller goes on


def test_an_index_that_is_deleted_meanwhile_ends_a_run_with_spark(
    visits: Path, tmp_path: Path, own_index: Path, session: Any
) -> None:
    def delete(_stage: str, _done: int, _total: int) -> None:
        if own_index.exists():
            own_index.rename(tmp_path / "elsewhere")

    with pytest.raises(InvalidInput, match="the index is gone, or this machine cannot see it"):
        link_files(
            visits, tmp_path / "out", "dx", own_index, engine="spark", shard_rows=1, progress=delete
        )
    assert session.range(3).count() == 3


def test_a_full_disk_crosses_from_spark_with_its_path(visits: Path, session: Any) -> None:
    _, (shard, *_) = plan(find_files(str(visits)), 23)
    full = OSError(errno.ENOSPC, "No space left on device", "/x")
    sent = session.sparkContext.parallelize([0]).map(lambda _: job_module.Outcome(shard, stop=full))
    stop = sent.collect()[0].stop
    assert isinstance(stop, OSError)
    assert (stop.errno, stop.strerror, stop.filename) == (full.errno, full.strerror, "/x")


def test_a_column_of_a_data_frame_gets_the_links_of_its_rows(session: Any, index: Path) -> None:
    frame = session.createDataFrame(list(enumerate(MENTIONS)), "n int, dx string").repartition(3)
    linked = link_column(frame, "dx", index=index, min_score=0.4)
    assert linked.columns == ["n", "dx", *link_schema().names]
    table = pa.table({"n": pa.array(range(5), pa.int32()), "dx": MENTIONS})
    expected = link_table(Linker.load(index), table, "dx", min_score=0.4).to_pylist()
    found = [row.asDict() for row in linked.orderBy("n").collect()]
    assert found == expected
    assert found[0]["canonym_id"] == "X:1"
    few = link_column(frame, "dx", index=index, columns=["id"])
    assert few.orderBy("n").first().canonym_id == "X:1"


def test_a_frame_that_cannot_be_linked_is_refused_before_it_is_read(
    session: Any, index: Path
) -> None:
    frame = session.createDataFrame([(1, "gout")], "n int, dx string")
    for given, column, message in (
        (frame, "dy", "there is no column 'dy'; the columns are: 'n', 'dx'"),
        (frame, "n", "the column 'n' holds int32; expected strings"),
        (frame.withColumnRenamed("n", "canonym_id"), "dx", "has the column 'canonym_id' already"),
        ("table", "dx", "str was given; expected a pyspark.sql.DataFrame"),
    ):
        with pytest.raises(InvalidInput) as caught:
            link_column(given, column, index)
        assert message in str(caught.value)


def test_spark_without_java_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InvalidInput, match="the engine spark needs Java 17 or newer"):
        check_spark(None)


def test_a_master_that_does_not_answer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="nothing answers at the address spark://127"):
        check_spark("spark://127.0.0.1:1")
