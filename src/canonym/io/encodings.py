"""Encodings: their names, and which one a text is in.

Text of today is UTF-8, and spreadsheets of western Europe save CSV in Windows-1252. Bytes that are
UTF-8 are hardly ever anything else, so these two need no statistics of letters: what is not UTF-8
is Windows-1252, unless most of it is UTF-8. That is a damaged file or a mixture, and is refused.
"""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any, NamedTuple

from canonym.errors import InvalidInput, ReadError
from canonym.regex import regex

WINDOWS = "cp1252"
"""Encoding of text that is not UTF-8."""

BOMS: tuple[tuple[bytes, str], ...] = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, and the encodings they announce."""

_MARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_SURROGATE = regex(r"[\ud800-\udfff]")
_NOT_UTF8 = regex("[\udc80-\udcff]")  # bytes that were escaped
_LEAST_SHARE = 4  # broken bytes for each character in UTF-8, so that a text is Windows-1252
_CHOOSE = "repair the file, or pass encoding=... (often 'utf-8' or 'cp1252')"


class Marked(NamedTuple):
    """An encoding, and whether a byte order mark comes first."""

    encoding: str = "utf-8"
    mark: bool = False


def check_encoding(name: str, *, argument: str = "encoding") -> None:
    """Refuse what is no name of an encoding."""
    try:
        " ".encode(name)
    except (LookupError, ValueError) as error:
        raise InvalidInput(
            f"{argument}={name!r} is not known: use a name such as 'utf-8' or 'latin-1'"
        ) from error


def without_mark(name: str) -> Marked:
    """Split a name such as ``utf-8-sig`` into the encoding and its byte order mark."""
    plain = codecs.lookup(name).name
    return Marked(_MARKED[plain], mark=True) if plain in _MARKED else Marked(name)


class Evidence:
    """What the bytes of a text, taken block by block, say about its encoding."""

    def __init__(self) -> None:
        self.n_characters = 0  # beyond ASCII, in UTF-8
        self.n_broken = 0  # bytes that are no UTF-8
        self.line = 1  # of the first of these, once there is one
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def add(self, block: bytes, *, final: bool = False) -> None:
        """Look at the next bytes."""
        if block.isascii() and not final and not self._decoder.getstate()[0]:
            self.line += 0 if self.n_broken else block.count(b"\n")
            return
        text = self._decoder.decode(block, final)
        if not self.n_broken:
            match = _NOT_UTF8.search(text)
            self.line += text.count("\n", 0, match.start() if match else len(text))
        broken = len(text) - len(text.encode("utf-32-le", "ignore")) // 4  # faster than a pattern
        self.n_broken += broken
        self.n_characters += len(text) - len(text.encode("ascii", "ignore")) - broken

    def encoding(self, path: str | Path) -> str:
        """Return ``utf-8`` or `WINDOWS`; a text that is hardly either is a `ReadError`."""
        if not self.n_broken:
            return "utf-8"
        if self.n_characters * _LEAST_SHARE <= self.n_broken:
            return WINDOWS
        raise ReadError(
            path,
            f"the line is not UTF-8, but the file has characters in UTF-8 ({self.n_characters:,}, "
            f"and broken bytes: {self.n_broken:,}), so it is damaged or mixes two encodings: "
            f"{_CHOOSE}",
            line=self.line,
        )


class GuessingDecoder(codecs.IncrementalDecoder):
    """Decodes UTF-8, or Windows-1252 where the first character beyond ASCII is no UTF-8.

    For text that arrives bit by bit and cannot be looked at beforehand; up to there both are the
    same. `encoding` is the one in use, and `check` tells at the end whether it was the right one.
    """

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self.encoding = "utf-8"
        self._ascii = True
        self._evidence = Evidence()
        self._decoder: Any = codecs.getincrementaldecoder("utf-8")()

    def decode(self, input: Any, final: bool = False) -> str:
        """Decode the next bytes."""
        if self.encoding == "utf-8":
            try:
                text = str(self._decoder.decode(input, final))
            except UnicodeDecodeError as error:
                if not (self._ascii and error.object[: error.start].isascii()):
                    raise
                self.encoding = WINDOWS
                self._decoder = codecs.getincrementaldecoder(WINDOWS)()
                input = error.object
            else:
                self._ascii = self._ascii and text.isascii()
                self._evidence.line += text.count("\n")
                return text
        self._evidence.add(input, final=final)
        return str(self._decoder.decode(input, final))

    def check(self, path: str | Path) -> None:
        """Raise a `ReadError` where most of the text was UTF-8 after all."""
        self._evidence.encoding(path)


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which neither UTF-8 nor a tokenizer takes, by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)
