"""Damage to files: bytes changed at random, and content changed with its form kept.

Every function takes a `random.Random` and changes nothing but what it returns, so that a seed and a
number are all it takes to make an input again.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Change = Callable[[Random, bytes], bytes]

_LONGEST = 1 << 16  # bytes of an input
_NUMBER = re.compile(rb"-?\d+")
_WORD = re.compile(rb"[\w:.#-]+|[^\w\s]|\s")
_NUMBERS = (
    *(b"-1", b"0", b"1", b"255", b"65536", b"2147483647", b"2147483648", b"4294967296"),
    *(b"9223372036854775807", b"9223372036854775808", b"99999999999999999999999", b"1e400"),
    *(b"-1e400", b"nan", b"1.5", b"0x10", b"1_0", b"1e9", "²".encode(), "٣".encode(), b"9" * 5000),
)
_INTEGERS = (0, 1, -1, 2, 255, 60_000, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 40, (1 << 63) - 1)
TOKENS = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\r", b"\r\n", b"\n\n"),
    *(b"\t", b"|", b"||", b'"', b'""', b"\\", b"\\u", b"\\ud800", b"'", b"$", b"#", b",", b";"),
    *(b"<", b">", b"</", b"<!--", b"]]>", b"<![CDATA[", b"&amp;", b"&x;", b"&#0;", b"&#55296;"),
    *(b"<?xml version='1.0' encoding='utf-16'?>", b"<!DOCTYPE a [<!ENTITY x 'y'>]>", b"xmlns:"),
    *(b"[", b"]", b"{", b"}", b"[]", b"{}", b"null", b"true", b"NaN", b"Infinity", b"\xe2\x80\xa8"),
    *(b"\xc2\x85", b"\xf0\x9f\xa6\xb4", b"\x0b", b"\x1c", b"\xef\xbf\xbf", b"%00", b"NIL", b"-1"),
)
"""Pieces that mean something in one format or another."""


# --- bytes ----------------------------------------------------------------------------------------


def mutate(rng: Random, content: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Change bytes in one to several places; `others` are spliced in."""
    for _ in range(1 + int(rng.expovariate(0.8))):
        changed = rng.choice(_CHANGES)(rng, content)
        content = (_splice(rng, changed, others) if rng.random() < 0.05 else changed)[:_LONGEST]
    return content


def _place(rng: Random, content: bytes) -> int:
    return rng.randrange(len(content) + 1)


def _slice(rng: Random, content: bytes) -> tuple[int, int]:
    start = _place(rng, content)
    return start, min(len(content), start + int(rng.expovariate(1 / 12)) + 1)


def _flip(rng: Random, content: bytes) -> bytes:
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]


def _overwrite(rng: Random, content: bytes) -> bytes:
    start, end = _slice(rng, content)
    filler = bytes([rng.choice((0, 255, 127, 128, rng.randrange(256)))]) * (end - start)
    return content[:start] + filler + content[end:]


def _insert(rng: Random, content: bytes) -> bytes:
    at = _place(rng, content)
    return content[:at] + rng.randbytes(1 + int(rng.expovariate(0.3))) + content[at:]


def _insert_token(rng: Random, content: bytes) -> bytes:
    at = _place(rng, content)
    words = _WORD.findall(content[max(0, at - 400) : at + 400]) or TOKENS
    token = rng.choice(TOKENS if rng.random() < 0.6 else words)
    times = rng.choice((1, 1, 1, 1, 2, 50, 3000))
    return content[:at] + token * min(times, _LONGEST // len(token)) + content[at:]


def _replace_word(rng: Random, content: bytes) -> bytes:
    words = list(_WORD.finditer(content[:_LONGEST]))
    if not words:
        return content
    one, other = rng.choice(words), rng.choice(words)
    return content[: one.start()] + other[0] + content[one.end() :]


def _replace_number(rng: Random, content: bytes) -> bytes:
    numbers = list(_NUMBER.finditer(content[:_LONGEST]))
    if not numbers:
        return content
    one = rng.choice(numbers)
    return content[: one.start()] + rng.choice(_NUMBERS) + content[one.end() :]


def _delete(rng: Random, content: bytes) -> bytes:
    start, end = _slice(rng, content)
    return content[:start] + content[end:]


def _duplicate(rng: Random, content: bytes) -> bytes:
    start, end = _slice(rng, content)
    return content[:end] + content[start:end] * rng.choice((1, 1, 2, 100)) + content[end:]


def _truncate(rng: Random, content: bytes) -> bytes:
    return content[: _place(rng, content)]


def _swap(rng: Random, content: bytes) -> bytes:
    (a, b), (c, d) = sorted((_slice(rng, content), _slice(rng, content)))
    if b > c:
        return content
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def _lines(rng: Random, content: bytes) -> bytes:
    """Drop, repeat or move a line."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    line = lines.pop(rng.randrange(len(lines)))
    at = rng.randrange(len(lines) + 1)
    lines[at:at] = [line] * rng.choice((0, 1, 2))
    return b"".join(lines)


def _replace_integer(rng: Random, content: bytes) -> bytes:
    """Change a binary number of four or eight bytes, mostly everywhere that it occurs."""
    width = rng.choice((4, 8))
    at = width * rng.randrange(len(content) // width + 1)
    old = content[at : at + width]
    new = rng.choice(_INTEGERS).to_bytes(8, "little", signed=True)[:width]
    if len(old) < width or rng.random() < 0.3:
        return content[:at] + new + content[at + width :]
    return content.replace(old, new)


_CHANGES: tuple[Change, ...] = (
    _replace_integer,
    *(_flip, _flip, _overwrite, _insert, _insert_token, _insert_token, _replace_word),
    *(_replace_number, _replace_number, _delete, _delete, _duplicate, _truncate, _swap, _lines),
)


def _splice(rng: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others) if others else content
    start, end = sorted((_place(rng, other), _place(rng, other)))
    at = _place(rng, content)
    return content[:at] + other[start:end] + content[at:]


# --- JSON -----------------------------------------------------------------------------------------


def mutate_json(rng: Random, content: bytes) -> bytes:
    """Change a value or a key of JSON, of the whole content or of one line."""
    try:
        return _dumped(_changed(rng, json.loads(content)))
    except ValueError:
        lines = content.split(b"\n")
        at = rng.randrange(len(lines))
        try:
            lines[at] = _dumped(_changed(rng, json.loads(lines[at])))
        except ValueError:
            return mutate(rng, content)
        return b"\n".join(lines)


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def odd(rng: Random) -> Any:
    """Return a value that few readers expect."""
    return rng.choice(
        (
            *(None, True, False, 0, -1, 1, 2, 1 << 31, 1 << 63, -(1 << 63) - 1, 10**400, 0.5),
            *(float("nan"), float("inf"), -0.0, 1e308, "", " ", "x", "\ud800", "\0", "1", "-1"),
            *("9" * 5000, "../x", "/", "a/b", [], {}, [[]], [None], {"": None}, {"a": {}}, [0]),
            *([1, 2, 3], ["x"], [["x", "y"]], "[" * 3000),
        )
    )


def _changed(rng: Random, value: Any) -> Any:
    inner = isinstance(value, dict | list) and bool(value)
    if not inner or rng.random() < 0.1:
        return odd(rng)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = rng.choice(keys)
    how = rng.random()
    if how < 0.1:
        del value[key]
    elif how < 0.15 and isinstance(value, dict):
        value[str(odd(rng))] = value.pop(key)
    elif how < 0.2 and isinstance(value, list):
        value.insert(key, value[rng.choice(keys)])
    elif how < 0.25:
        value[key] = value[rng.choice(keys)]
    else:
        value[key] = _changed(rng, value[key])
    return value


# --- SQLite ---------------------------------------------------------------------------------------


def mutate_sqlite(rng: Random, content: bytes) -> bytes:
    """Change a cell of a database, or drop a row or a table."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(content)
        connection.execute("PRAGMA journal_mode = OFF")
        listed = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        table = rng.choice([name for (name,) in listed])
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = rng.choice(columns)
        order = f"ORDER BY 1, 2 LIMIT 1 OFFSET {rng.randrange(4)}" if len(columns) > 1 else ""
        how = rng.random()
        if how < 0.05:
            connection.execute(f"DROP TABLE {table}")
        elif how < 0.15:
            connection.execute(
                f"DELETE FROM {table} WHERE {column} IN (SELECT {column} FROM {table} {order})"
            )
        else:
            connection.execute(
                f"UPDATE {table} SET {column} = ? WHERE {column} IN (SELECT "
                f"{column} FROM {table} {order})",
                (_cell(rng),),
            )
        connection.commit()
        return connection.serialize()
    except sqlite3.Error:
        return mutate(rng, content)
    finally:
        connection.close()


def _cell(rng: Random) -> Any:
    value = odd(rng)
    if isinstance(value, list | dict):
        return json.dumps(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass") if "\ud800" in value else value
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return rng.randbytes(3)
    return value


# --- compressed -----------------------------------------------------------------------------------


def _zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("inside.txt"), content)
    return packed.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda content: gzip.compress(content, mtime=0),
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zip": _zipped,
}
"""Compressions by the ends of file names."""


def mutate_member(rng: Random, content: bytes) -> bytes:
    """Change a file inside a zip archive, mostly one of XML, and pack it again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice([each for each in members if each.endswith((".xml", ".rels"))])
    members[name] = mutate(rng, members[name])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for each, inside in members.items():
            archive.writestr(zipfile.ZipInfo(each), inside)
    return packed.getvalue()


def mutate_packed(rng: Random, content: bytes) -> bytes:
    """Change plain content, pack it, and mostly change what came out."""
    packed = rng.choice(list(PACKERS.values()))(mutate(rng, content))
    return packed if rng.random() < 0.2 else mutate(rng, packed)
