"""The encoding of a text: found, or refused where it is hardly any."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.io import streams
from canonym.io.encodings import GuessingDecoder, Marked, check_encoding, without_mark
from canonym.io.streams import TextStream, detect_encoding, open_text

GERMAN = "Nr;Diagnose\r\n1;Menière-Krankheit\r\n2;Gürtelrose\r\n"


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("cp1252", "cp1252"),
    ],
)
@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_the_encodings_of_spreadsheets_are_found(
    tmp_path: Path, encoding: str, found: str, packed: type[bytes]
) -> None:
    path = written(tmp_path, packed(GERMAN.encode(encoding)))
    assert detect_encoding(path) == found
    with open_text(path, encoding=found) as lines:
        assert "".join(lines) == GERMAN.replace("\r\n", "\n")
        assert lines.marked == (encoding in {"utf-8-sig", "utf-16"})


def test_ascii_is_utf8_and_a_binary_file_is_left_to_its_reader(tmp_path: Path) -> None:
    assert detect_encoding(written(tmp_path, b"id,name\n")) == "utf-8"
    assert detect_encoding(written(tmp_path, b"\xe9\0\xe9")) == "utf-8"


@pytest.mark.parametrize("block", [1, 2, 3, 1 << 20])
def test_one_broken_byte_in_utf8_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(streams, "_BLOCK", block)
    path = written(tmp_path, "a\né\nü\n".encode() + b"M\xe9ni\n" + "à\n".encode())
    with pytest.raises(ReadError) as caught:
        detect_encoding(path)
    assert caught.value.line == 4
    assert "characters in UTF-8 (3, and broken bytes: 1)" in str(caught.value)


def test_a_broken_byte_before_all_utf8_is_refused_too(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="line 1"):
        detect_encoding(written(tmp_path, b"M\xe9ni\n" + "à\n".encode() * 3))


def test_a_character_cut_at_the_end_is_a_broken_one(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="broken bytes: 1"):
        detect_encoding(written(tmp_path, "éé".encode()[:-1]))


def test_two_letters_that_happen_to_be_utf8_do_not_hide_windows_1252(tmp_path: Path) -> None:
    text = "«CAFÉ» été à Genève, Zürich, Köln"  # É» are the bytes of a letter in UTF-8
    assert detect_encoding(written(tmp_path, text.encode("cp1252"))) == "cp1252"


def test_what_is_no_encoding_is_refused() -> None:
    for name in ("klingon", "base64", "utf\0", "undefined"):
        with pytest.raises(InvalidInput, match="is not known"):
            check_encoding(name)


def test_a_name_tells_of_its_mark() -> None:
    assert without_mark("UTF-8-SIG") == Marked("utf-8", mark=True)
    assert without_mark("utf_16") == Marked("utf-16-le", mark=True)
    assert without_mark("latin-1") == Marked("latin-1")


# --- text that arrives bit by bit -----------------------------------------------------------------


def arriving(content: bytes) -> TextStream:
    return TextStream(Path("standard input"), io.BytesIO(content), None, 100)  # type: ignore[arg-type]


@pytest.mark.parametrize("block", [16, 17, 18, 19, 1 << 20])
def test_a_stream_turns_to_windows_1252_where_it_is_no_utf8(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(streams, "_BLOCK", block)
    stream = arriving(GERMAN.encode("cp1252"))
    assert "".join(stream) == GERMAN.replace("\r\n", "\n")
    assert stream.encoding == "cp1252"


def test_a_stream_of_utf8_stays_so() -> None:
    stream = arriving(GERMAN.encode())
    assert "".join(stream) == GERMAN.replace("\r\n", "\n")
    assert stream.encoding == "utf-8"
    assert "".join(arriving(GERMAN.encode("utf-16"))) == GERMAN.replace("\r\n", "\n")


def test_a_stream_of_utf8_with_a_broken_byte_is_refused() -> None:
    with pytest.raises(ReadError, match="line 2: the line is not UTF-8"):
        list(arriving("é\n".encode() + b"\xe9\n"))


def test_a_stream_that_was_utf8_after_all_is_refused_at_its_end() -> None:
    stream = arriving(b"a\n\xe9\n" + "é\n".encode() * 2)
    assert next(stream) == "a\n"
    with pytest.raises(ReadError, match=r"line 2: .* broken bytes: 1"):
        list(stream)


def test_bytes_that_neither_has_are_refused() -> None:
    decoder = GuessingDecoder()
    with pytest.raises(UnicodeDecodeError, match="charmap"):
        decoder.decode(b"\x81 ")


# --- line ends ------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [16, 17, 18, 19, 1 << 20])
def test_line_ends_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(streams, "_BLOCK", block)
    lines = ["first line\r\n", "\n", "of a Mac\r", "\r\n", "and the very last one"]
    path = written(tmp_path, "".join(lines).encode())
    with open_text(path, keep_ends=True) as stream:
        assert list(stream) == lines
        assert stream.line == 5
