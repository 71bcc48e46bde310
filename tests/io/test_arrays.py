"""Arrays written block by block are those that NumPy would write."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.io.arrays import ArrayWriter, let_go, new_array, open_array, scratch_arrays
from canonym.io.sizes import parse_size


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32])
@pytest.mark.parametrize(("n", "row"), [(0, ()), (5, ()), (5, (3,)), (0, (3,)), (12_345, (2, 2))])
def test_blocks_make_the_bytes_of_the_whole(
    tmp_path: Path, n: int, row: tuple[int, ...], dtype: type
) -> None:
    whole = np.random.default_rng(0).integers(0, 100, size=(n, *row)).astype(dtype)
    np.save(tmp_path / "whole.npy", whole)
    with ArrayWriter(tmp_path / "blocks.npy", dtype, row) as writer:
        writer.add(whole[: n // 3])
        writer.add(whole[n // 3 :][::1])
        writer.close()
    assert writer.n_rows == n
    assert (tmp_path / "blocks.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_blocks_of_another_order_and_type_are_turned(tmp_path: Path) -> None:
    whole = np.arange(6, dtype=np.int64).reshape(2, 3)
    with ArrayWriter(tmp_path / "blocks.npy", np.int32, (2,)) as writer:
        writer.add(whole.T)
    assert open_array(tmp_path / "blocks.npy").tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_new_array_is_zero_and_written_through_memory(tmp_path: Path) -> None:
    array = new_array(tmp_path / "new.npy", (3, 2), np.int32)
    assert not array.any()
    array[1] = 7
    assert open_array(tmp_path / "new.npy").tolist() == [[0, 0], [7, 7], [0, 0]]


def test_scratch_arrays_go_whatever_happens(tmp_path: Path) -> None:
    def use() -> None:
        with scratch_arrays(tmp_path) as empty:
            one, other = empty((2,), np.int32), empty((2,), np.int32)
            one[:], other[:] = 1, 2
            assert (one.tolist(), other.tolist()) == ([1, 1], [2, 2])
            raise KeyError

    with pytest.raises(KeyError):
        use()
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_an_error_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(number: int) -> None:
        def allocate(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "posix_fallocate", allocate, raising=False)

    fail(errno.ENOSPC)
    with pytest.raises(OSError, match="No space left"):
        new_array(tmp_path / "new.npy", (3,), np.int32)
    fail(errno.EOPNOTSUPP)  # a file system that cannot say
    assert new_array(tmp_path / "new.npy", (3,), np.int32).tolist() == [0, 0, 0]


@pytest.mark.parametrize("size", ["", "GB", "four GB", "-1GB", "0", "0.1B", "4 gigabytes", True])
def test_what_is_no_size_is_refused(size: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"memory is .*; expected a size such as '4GB' or '500MB'"
    ):
        parse_size(size, "memory")


def test_what_is_let_go_is_read_again(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(5_000))
    array = open_array(tmp_path / "a.npy")
    let_go(array)
    let_go(np.arange(3))  # which is no file
    assert (array == np.arange(5_000)).all()
