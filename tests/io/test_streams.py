"""Opening files: compression, encodings, guards."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import zipfile
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.io import streams
from canonym.io.streams import members, open_bytes, open_text
from canonym.io.workbooks import workbook_suffix

TEXT = "id\tname\nMESH:D009203\tMyocardial Infarction\nMESH:D005334\tFièvre\n"
LINES = TEXT.splitlines(keepends=True)


def lines_of(path: Path, **options: object) -> list[str]:
    with open_text(path, **options) as stream:  # type: ignore[arg-type]
        return list(stream)


def problem_of(path: Path, **options: object) -> ReadError:
    with pytest.raises(ReadError) as caught:
        lines_of(path, **options)
    assert caught.value.path == path
    return caught.value


def written(folder: Path, content: bytes | str, name: str = "names.tsv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def zipped(path: Path, files: dict[str, bytes], **options: int) -> Path:
    with zipfile.ZipFile(path, "w", **options) as archive:  # type: ignore[arg-type]
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def in_zip(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("names.tsv", content)
    return buffer.getvalue()


COMPRESS = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zip": in_zip,
}


# --- what is read ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", COMPRESS)
def test_every_compression_gives_the_same_lines_whatever_the_suffix(
    tmp_path: Path, kind: str
) -> None:
    path = written(tmp_path, COMPRESS[kind](TEXT.encode()), "names.txt")
    assert lines_of(path) == LINES
    with open_bytes(path) as source:
        assert source.read() == TEXT.encode()


def test_several_gzip_parts_in_one_file_are_read_on(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(b"a\n") + gzip.compress(b"b\n"), "parts.gz")
    assert lines_of(path) == ["a\n", "b\n"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_announces_the_encoding(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, TEXT.encode(encoding))
    assert lines_of(path) == LINES
    assert lines_of(path, encoding="latin-1") == LINES


def test_a_big_endian_mark_is_known(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xfe\xff" + TEXT.encode("utf-16-be"))
    with open_text(path) as stream:
        assert list(stream) == LINES
        assert stream.encoding == "utf-16-be"


def test_another_encoding_can_be_chosen(tmp_path: Path) -> None:
    assert lines_of(written(tmp_path, TEXT.encode("cp1252")), encoding="cp1252") == LINES


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("block", [16, 17, 18, 19, 1 << 20])
def test_line_ends_of_all_systems_at_every_block_border(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, block: int
) -> None:
    monkeypatch.setattr("canonym.io.streams._BLOCK", block)
    path = written(tmp_path, TEXT.replace("\n", end).encode())
    assert lines_of(path) == LINES
    path.write_bytes((TEXT + "\nlast").replace("\n", end).encode())
    assert lines_of(path) == [*LINES, "\n", "last"]


def test_lines_are_numbered_and_can_be_taken_one_by_one(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    with open_text(path) as stream:
        assert (stream.line, next(stream), stream.line) == (0, LINES[0], 1)
        assert stream.error("odd").line == 1
        assert list(stream) == LINES[1:]
        assert stream.line == 3


def test_a_line_may_be_exactly_as_long_as_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_LINE", 100)
    path = written(tmp_path, "a" * 100 + "\n" + "b" * 100)
    assert lines_of(path) == ["a" * 100 + "\n", "b" * 100]


# --- what is refused ------------------------------------------------------------------------------


def test_missing_folder_and_empty_files(tmp_path: Path) -> None:
    assert "no such file" in problem_of(tmp_path / "absent.tsv").problem
    assert "is a folder" in problem_of(tmp_path).problem
    empty = tmp_path / "empty.tsv"
    empty.touch()
    assert "is empty" in problem_of(empty).problem
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "pipe" in problem_of(pipe).problem
    with pytest.raises(ReadError, match="is no path"):
        lines_of(tmp_path / "a\0b")


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, TEXT, "secret.tsv")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert "Permission denied" in problem_of(path).problem


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "zip"])
def test_nothing_inside_a_compressed_file(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, COMPRESS[kind](b""), "names")
    assert "holds nothing" in problem_of(path).problem
    with pytest.raises(ReadError, match="holds nothing"), open_bytes(path):
        pass


def test_a_byte_order_mark_alone_is_nothing(tmp_path: Path) -> None:
    assert "holds nothing" in problem_of(written(tmp_path, b"\xef\xbb\xbf")).problem


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "zip"])
def test_a_truncated_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "names"
    whole = COMPRESS[kind](os.urandom(5000).hex().encode() + b"\n")
    path.write_bytes(whole[: len(whole) // 2])
    problem = problem_of(path).problem
    assert "too early" in problem or "damaged" in problem


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "zip"])
def test_a_corrupt_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "names"
    whole = bytearray(COMPRESS[kind](random.Random(1).randbytes(5000).hex().encode() + b"\n"))
    middle = len(whole) // 2
    whole[middle : middle + 40] = bytes(40)
    path.write_bytes(whole)
    assert "again" in problem_of(path).problem


def test_a_wrong_encoding_names_line_and_byte(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT.encode("latin-1"))
    error = problem_of(path)
    assert error.line == 3
    assert "byte 0xe8" in error.problem
    assert "encoding=" in error.problem


@pytest.mark.parametrize("block", [16, 20, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_is_right_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, end: str
) -> None:
    monkeypatch.setattr("canonym.io.streams._BLOCK", block)
    path = tmp_path / "names.tsv"
    for bad, phrase in ((b"\xff", "not UTF-8"), (b"\0", "NUL")):
        path.write_bytes(f"ab{end}".encode() * 33 + b"abc" + bad + f"{end}x{end}".encode())
        error = problem_of(path)
        assert error.line == 34
        assert phrase in error.problem


def test_a_text_that_ends_within_a_character(tmp_path: Path) -> None:
    assert problem_of(written(tmp_path, b"a\nfi\xc3")).line == 2


def test_an_endless_line_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_LINE", 1000)
    path = written(tmp_path, b"short\n" + b"a" * 3000)
    error = problem_of(path)
    assert error.line == 2
    assert "1,000" in error.problem


@pytest.mark.no_cover
def test_a_compression_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_FREE_BYTES", 1 << 20)
    bomb = b"a\n" * (2 << 20)
    for kind in ("gz", "xz", "bz2", "zip"):
        path = tmp_path / f"bomb.{kind}"
        path.write_bytes(COMPRESS[kind](bomb))
        assert "bomb" in problem_of(path).problem
    small = tmp_path / "small.gz"
    small.write_bytes(gzip.compress(b"a\n" * 1000))
    assert len(lines_of(small)) == 1000


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    for options in ({"encoding": "utf-9"}, {"encoding": "hex"}):
        with pytest.raises(InvalidInput, match=str(next(iter(options.values())))):
            lines_of(path, **options)
    assert "no zip archive" in problem_of(path, member="a").problem


@pytest.mark.parametrize("magic", streams._FOREIGN)
def test_foreign_formats_are_named(tmp_path: Path, magic: bytes) -> None:
    path = written(tmp_path, magic + b"rest", "names")
    assert streams._FOREIGN[magic] in problem_of(path).problem


# --- zip archives ---------------------------------------------------------------------------------


def test_a_zip_with_several_members_lists_them(tmp_path: Path) -> None:
    files = {"a.tsv": b"a\n", "folder/b.tsv": b"b\n", "__MACOSX/a.tsv": b"?", ".DS_Store": b"?"}
    path = zipped(tmp_path / "two.zip", files)
    assert members(path) == ("a.tsv", "folder/b.tsv")
    problem = problem_of(path).problem
    assert "2 members" in problem
    assert "folder/b.tsv" in problem
    assert lines_of(path, member="folder/b.tsv") == ["b\n"]
    assert "no member 'c'" in problem_of(path, member="c").problem
    many = zipped(tmp_path / "many.zip", {f"{i}.tsv": b"x" for i in range(25)})
    assert "and 5 more" in problem_of(many).problem


def test_members_of_something_else(tmp_path: Path) -> None:
    assert members(written(tmp_path, TEXT)) == ()


def test_a_zip_without_files_and_an_office_document(tmp_path: Path) -> None:
    path = zipped(tmp_path / "none.zip", {})
    assert "without files" in problem_of(path).problem
    office = zipped(tmp_path / "sheet.xlsx", {"[Content_Types].xml": b"", "xl/a.xml": b""})
    assert "Office" in problem_of(office).problem


def test_an_encrypted_and_an_unknown_member(tmp_path: Path) -> None:
    path = zipped(tmp_path / "names.zip", {"names.tsv": TEXT.encode()})
    whole = bytearray(path.read_bytes())
    directory = whole.index(b"PK\x01\x02")
    whole[directory + 8] |= 1
    path.write_bytes(whole)
    assert "encrypted" in problem_of(path).problem
    whole[directory + 8] &= 0xFE
    whole[directory + 10] = 99  # a compression method that nobody has
    path.write_bytes(whole)
    assert "cannot be read" in problem_of(path).problem


def test_a_member_without_a_name_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "text")
    whole = path.read_bytes()
    at = whole.index(b"PK\x01\x02") + 28  # the length of the name in the list of members
    path.write_bytes(whole[:at] + b"\0\0\1\0" + whole[at + 4 :])
    assert members(path) == ()
    with pytest.raises(ReadError, match="is a zip archive without files"), open_text(path):
        pass


def test_a_member_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("é", "text")
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))
    assert workbook_suffix(path) is None
    with pytest.raises(ReadError, match="is a damaged zip archive"):
        members(path)
