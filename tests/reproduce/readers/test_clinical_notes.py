"""MCN (n2c2 2019, track 3) and ShARe/CLEF eHealth 2013: notes, and annotations beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.types import Document, Mention
from reproduce.readers.clinical_notes import read_mcn, read_share

NOTE = "Pain in the left arm and leg.\r\nNo häm. Fell.\n"
SECOND = "Rash\n"
MCN = {
    "train/train_note/7.txt": NOTE,
    "train/train_norm/7.norm": (
        "N000||C0030196||0||16||25||28\nN001||CUI-less||34||37\n\nN002||unk||39||43\n"
    ),
    "train/train_note/3.txt": SECOND,
    "train/train_norm/3.norm": "N000||C0015230||0||4",
    "train/train_file_list.txt": "7\n3\n",
    "train/train_norm.txt": "C0030196\nCUI-less\nunk\nC0015230\n",
}
SHARE = {
    "ALLREPORTS/7.txt": NOTE,
    "ALLREPORTS/3-ECHO_REPORT.txt": SECOND,
    "pipe/7.pipe.txt": (
        "7.txt||Disease_Disorder||C0030196||25||28||0||16\n"
        "7.txt||Disease_Disorder||CUI-less||34||37\n"
    ),
    "pipe/3-ECHO_REPORT.pipe.txt": "",
}
PAIN = Mention("Pain in the left leg", 0, 28, "", ("C0030196",), "any", "7")
Reader = Callable[..., Iterator[Document]]


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode())
    return folder


def test_a_release_of_mcn_is_read_in_the_order_of_its_list(tmp_path: Path) -> None:
    assert list(read_mcn(written(tmp_path, MCN) / "train")) == [
        Document(
            "7",
            NOTE,
            (
                PAIN,
                Mention("häm", 34, 37, "", (), "nil", "7"),
                Mention("Fell", 39, 43, "", (), "any", "7"),
            ),
        ),
        Document("3", SECOND, (Mention("Rash", 0, 4, "", ("C0015230",), "any", "3"),)),
    ]


def test_without_a_list_notes_come_by_name(tmp_path: Path) -> None:
    written(tmp_path, MCN)
    (tmp_path / "train/train_file_list.txt").unlink()
    assert [document.id for document in read_mcn(tmp_path)] == ["3", "7"]


def test_share_is_read_with_types_and_reports_without_mentions(tmp_path: Path) -> None:
    type_ = "Disease_Disorder"
    assert list(read_share(written(tmp_path, SHARE))) == [
        Document("3-ECHO_REPORT", SECOND),
        Document(
            "7",
            NOTE,
            (
                Mention("Pain in the left leg", 0, 28, type_, ("C0030196",), "any", "7"),
                Mention("häm", 34, 37, type_, (), "nil", "7"),
            ),
        ),
    ]


def test_one_pipe_file_may_hold_several_reports(tmp_path: Path) -> None:
    files = {"7.txt": NOTE, "3.txt": SECOND}
    lines = "7.txt||Disease_Disorder||C1||0||4\n3.txt||Disease_Disorder||C2||0||4\n"
    written(tmp_path, {**files, "all.pipe": lines})
    for place in (tmp_path, tmp_path / "all.pipe"):
        assert [(d.id, d.mentions[0].ids) for d in read_share(place)] == [
            ("7", ("C1",)),
            ("3", ("C2",)),
        ]


def test_one_file_has_its_note_beside_it(tmp_path: Path) -> None:
    written(tmp_path, {"7.txt": NOTE, "7.norm": "N000||C0030196||0||16||25||28\n"})
    assert next(read_mcn(tmp_path / "7.norm")).mentions == (PAIN,)
    assert next(read_mcn(tmp_path / "7.norm", pieces="cover")).mentions[0].text == NOTE[:28]
    written(tmp_path, MCN)
    with pytest.raises(ReadError, match=r"no file 7\.txt is in .*train_norm"):
        list(read_mcn(tmp_path / "train/train_norm/7.norm"))


@pytest.mark.parametrize(
    ("read", "line", "message"),
    [
        (read_mcn, "N001||C1||0", "'id..cui..start..end.* was expected, found 'N001"),
        (read_mcn, "N001||C1", "was expected"),
        (read_mcn, "N001||C1||0||4||5", "was expected"),
        (read_mcn, "N001||C1||0||x", "was expected"),
        (read_mcn, f"N001||C1||0||{'9' * 5000}", "was expected"),
        (read_mcn, "N001||C1||0||99", "0-99 are no span"),
        (read_mcn, "N001||C1||0||9||5||12", "overlap"),
        (read_share, "7.txt||C1||0||4", "'file..type..cui..start..end.* was expected"),
        (read_share, "||Disease_Disorder||C1||0||4", "was expected"),
        (read_share, "7.txt||Disease_Disorder||C1||4||4", "no span"),
    ],
)
def test_bad_lines(tmp_path: Path, read: Reader, line: str, message: str) -> None:
    good = "N000||C1||0||4" if read is read_mcn else "7.txt||Disease_Disorder||C1||0||4"
    ending = "norm" if read is read_mcn else "pipe"
    written(tmp_path, {"7.txt": NOTE, f"7.{ending}": f"{good}\n{line}\n"})
    with pytest.raises(ReadError, match=message) as caught:
        list(read(tmp_path))
    assert (caught.value.line, caught.value.path.name) == (2, f"7.{ending}")


@pytest.mark.parametrize(
    ("read", "files", "message"),
    [
        (read_mcn, {"7.norm": "N0||C1||0||4"}, r"no file 7\.txt"),
        (read_mcn, {"7.norm": "N0||C1||0||4", "a/7.txt": NOTE, "b/7.txt": NOTE}, "2 files 7"),
        (read_mcn, {"a/7.norm": "", "b/7.norm": "", "7.txt": NOTE}, "annotates '7', as"),
        (read_mcn, {"7.norm": "", "7.txt": NOTE, "x_file_list.txt": "8"}, "names '8'"),
        (read_mcn, {"7.txt": NOTE}, r"no file that ends in \.norm"),
        (read_share, {"7.txt": NOTE}, r"ends in \.pipe or \.pipe\.txt"),
        (read_share, {"8.pipe": "7.txt||D||C1||0||4"}, r"no file 7\.txt"),
        (
            read_share,
            {"7.txt": NOTE, "7.pipe": "", "8.pipe": "7.txt||D||C1||0||4"},
            "annotates '7', as",
        ),
    ],
)
def test_bad_releases(tmp_path: Path, read: Reader, files: dict[str, str], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        list(read(written(tmp_path, files)))


@pytest.mark.parametrize("read", [read_mcn, read_share])
def test_unknown_options_and_places(tmp_path: Path, read: Reader) -> None:
    with pytest.raises(InvalidInput, match="'x'"):
        list(read(tmp_path, pieces="x"))
    with pytest.raises(ReadError, match="no such file"):
        list(read(tmp_path / "none"))
