"""Tables of an id and a mention, and folders of folds."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.corpora.cadec import Fold, read_folds, read_mention_table
from canonym.errors import ReadError
from canonym.types import Mention


def written(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def test_two_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "x.txt", "1\tbit drowsy\r\n\n2|3\t hip pain \n-1\tfoo\n")
    assert list(read_mention_table(path, type="ADR")) == [
        Mention("bit drowsy", type="ADR", ids=("1",)),
        Mention("hip pain", type="ADR", ids=("2", "3"), rule="all"),
        Mention("foo", type="ADR", rule="nil"),
    ]


def test_three_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "x.txt", "1\tDrowsy\tbit drowsy\n")
    assert list(read_mention_table(path)) == [Mention("bit drowsy", ids=("1",))]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("1\ta\n1 b\n", 2, "1 columns"),
        ("1\ta\n1\tb\tc\n", 2, "3 columns"),
        ("1\ta\tb\tc\n", 1, "4 columns"),
        ("1\ta\n\tb\n", 2, "empty"),
        ("1\ta\n1\t \n", 2, "empty"),
        ("\n", None, "no mention"),
    ],
)
def test_bad_tables(tmp_path: Path, content: str, line: int | None, message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        list(read_mention_table(written(tmp_path / "x.txt", content)))
    assert caught.value.line == line


def test_folders_of_folds(tmp_path: Path) -> None:
    for n in (10, 2):
        for part in ("train", "test", "standard", "validation"):
            written(tmp_path / f"CADEC_{n}" / f"{part}.txt", f"{n}\t{part}\n")
    written(tmp_path / "readme.txt", "about")
    first, second = read_folds(tmp_path)
    assert [first.name, second.name] == ["CADEC_2", "CADEC_10"]
    assert first == Fold(
        "CADEC_2",
        train=(Mention("train", ids=("2",)),),
        dev=(Mention("validation", ids=("2",)),),
        test=(Mention("test", ids=("2",)),),
        targets=tmp_path / "CADEC_2" / "standard.txt",
    )


def test_files_of_folds(tmp_path: Path) -> None:
    for n in (0, 1):
        for part in ("train", "test"):
            written(tmp_path / f"Ask.fold-{n}.{part}.txt", f"{n}\tname\t{part}\n")
    folds = list(read_folds(tmp_path, type="ADR"))
    assert [fold.name for fold in folds] == ["Ask.fold-0", "Ask.fold-1"]
    assert folds[1].test == (Mention("test", type="ADR", ids=("1",)),)
    assert folds[1].targets is None


def test_bad_folds(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no folder"):
        list(read_folds(tmp_path / "none"))
    with pytest.raises(ReadError, match="no fold"):
        list(read_folds(tmp_path))
    written(tmp_path / "a" / "train.txt", "1\tx\n")
    with pytest.raises(ReadError, match="fold a has no file of test"):
        list(read_folds(tmp_path))
    written(tmp_path / "a" / "test.txt", "1\tx\n")
    written(tmp_path / "b" / "a" / "test.txt", "1\tx\n")
    with pytest.raises(ReadError, match="second file of test mentions for the fold a"):
        list(read_folds(tmp_path))


def test_cadec(data: Path) -> None:
    folds = list(read_folds(data / "cadec"))
    assert [len(fold.test) for fold in folds] == [504, 459, 424, 397, 375]
    assert [len(fold.train) for fold in folds] == [1655, 1700, 1735, 1762, 1784]
    assert all(fold.targets is not None for fold in folds)
    assert folds[0].test[0].ids[0].isdecimal()
