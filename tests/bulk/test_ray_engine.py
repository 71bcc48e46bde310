"""Bulk runs with Ray: the same bytes, whatever is killed."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym import InvalidInput
from canonym.bulk import link_files

ray = pytest.importorskip("ray", reason="needs ray: pip install 'canonym[ray]'")
psutil = pytest.importorskip("psutil", reason="needs psutil, which comes with accelerate")

QUIET = pytest.mark.filterwarnings("ignore")  # of Ray itself, about sockets and its own options


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "[::1]:1"])
def test_an_address_where_nothing_answers_is_refused_within_seconds(
    visits: Path, tmp_path: Path, index: Path, address: str
) -> None:
    began = time.monotonic()
    with pytest.raises(InvalidInput) as caught:
        link_files(visits, tmp_path / "out", "dx", index, engine="ray", address=address)
    assert f"nothing answers at the address {address}" in str(caught.value)
    assert time.monotonic() - began < 20
    assert not (tmp_path / "out").exists()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster of two machines of one core each; this process belongs to the first."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    cluster = Cluster(initialize_head=True, connect=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def workers() -> list[Any]:
    """Processes of Ray, below this one, that do or wait for tasks; without its agents."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.cmdline()[0].startswith(("ray::attempt", "ray::IDLE")):
                found.append(process)
        except (psutil.Error, IndexError):
            continue
    return found


@QUIET
@pytest.mark.slow
def test_a_worker_and_a_machine_that_are_killed_change_nothing(
    visits: Path, tmp_path: Path, index: Path, cluster: Any
) -> None:
    link_files(visits, tmp_path / "one", "dx", index, workers=1, shard_rows=1)
    killed: list[int] = []

    def kill(_stage: str, done: int, _total: int) -> None:
        if done == 2:
            killed.extend(process.pid for process in workers())
            for process in workers():
                process.kill()
        elif done == 8:
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

    address = cluster.address
    summary = link_files(
        visits, tmp_path / "ray", "dx", index, engine="ray", address=address, shard_rows=1,
        progress=kill, retries=5,
    )  # fmt: skip
    assert killed
    assert not cluster.worker_nodes
    assert summary == (23, 23, 0, ())
    assert parts(tmp_path / "ray") == parts(tmp_path / "one")
    assert ray.is_initialized()  # what the caller has begun goes on


@QUIET
def test_ray_of_this_machine_writes_the_same_bytes_and_sets_aside_what_fails(
    visits: Path, tmp_path: Path, index: Path
) -> None:
    text = visits.read_text(encoding="utf-8")
    visits.write_text(text.replace("\n012,", "\n012,one cell too many,"), encoding="utf-8")
    one, two = (
        link_files(visits, tmp_path / engine, "dx", index, engine=engine, workers=1, shard_rows=5)
        for engine in ("local", "ray")
    )
    assert one == two
    assert [failure.part for failure in two.failures] == ["part-000002"]
    assert parts(tmp_path / "ray") == parts(tmp_path / "local")
    assert not ray.is_initialized()


def test_an_address_without_a_port_is_left_to_the_engine() -> None:
    from canonym.bulk.addresses import check_reachable

    for address in ("auto", "yarn", "local[2]", "k8s://https://host"):
        check_reachable(address, "host:1")


def test_one_of_several_addresses_has_to_answer() -> None:
    from canonym.bulk.addresses import check_reachable

    with socket.create_server(("127.0.0.1", 0)) as server:
        check_reachable(f"spark://127.0.0.1:1,127.0.0.1:{server.getsockname()[1]}", "host:1")
    with pytest.raises(InvalidInput, match="expected one such as host:1 of a cluster"):
        check_reachable("spark://127.0.0.1:1,127.0.0.1:2", "host:1")
