"""Hostile files for uploads: bombs, entities, workbooks and tables that claim too much."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Mapping
from functools import cache

from record import settings_of

HTML = "<script>hostile(1)</script>"

_PARTS = settings_of(__file__)
_LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)
_OUTSIDE = '<!DOCTYPE x [<!ENTITY i SYSTEM "file:///etc/passwd">]>'


def _cell(text: str) -> str:
    return f'<c t="inlineStr"><is><t>{text}</t></is></c>'


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Return an archive of files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # A reader of .ods looks for its kind where an archive begins.
            kind = zipfile.ZIP_STORED if name == "mimetype" else None
            archive.writestr(name, content, kind)
    return stream.getvalue()


def workbook(rows: str, before: str = "", more: Mapping[str, bytes] | None = None) -> bytes:
    """Return an .xlsx with a sheet of that XML."""
    return zipped({**_filled("x.xlsx", rows, before), **(more or {})})


def opendocument(rows: str, before: str = "") -> bytes:
    """Return an .ods with a table of that XML."""
    return zipped(_filled("x.ods", rows, before))


def _filled(kind: str, rows: str, before: str) -> dict[str, str]:
    return {name: text.format(rows=rows, before=before) for name, text in _PARTS[kind].items()}


def _odd_cell(columns: int, text: str) -> str:
    repeated = f'table:number-columns-repeated="{columns}"'
    return f"<table:table-cell {repeated}><text:p>{text}</text:p></table:table-cell>"


@cache
def bombs() -> dict[str, tuple[bytes, str]]:
    """Return files by name, and what may come back; most are bad."""
    head, row = f"<row>{_cell('mention')}</row>", f"<row>{_cell('cold')}</row>"
    ods_row = "<table:table-row>{0}</table:table-row>"
    good, odd = workbook(head + row), ods_row.format(_odd_cell(1, "mention"))
    spaces = b" " * 80_000_000
    far = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c></row>'
    nested = zipped({"../../../tmp/hostile": b"x", "inner.zip": good})
    return {
        "fine.xlsx": (good, "2xx"),
        "fine.ods": (opendocument(odd + ods_row.format(_odd_cell(1, "cold"))), "2xx"),
        "fine.csv": (b"mention,context\ncold,in winter\n", "2xx"),
        "bomb.xlsx": (workbook(head + row + " " * 80_000_000), "4xx"),
        "more.xlsx": (workbook(head + row, more={"xl/media/x.bin": spaces}), "any"),
        "cell.xlsx": (workbook(head + f"<row>{_cell('x' * 100_000_000)}</row>"), "4xx"),
        "far.xlsx": (workbook(head + far), "any"),
        "laughs.xlsx": (workbook(head + f"<row>{_cell('&i;')}</row>", _LAUGHS), "4xx"),
        "outside.xlsx": (workbook(head + f"<row>{_cell('&i;')}</row>", _OUTSIDE), "4xx"),
        "number.xlsx": (workbook(head + '<row><c t="s"><v>99999999999</v></c></row>'), "any"),
        "deep.xlsx": (workbook(head + "<row>" * 100_000), "4xx"),
        "cut.xlsx": (good[:-200], "4xx"),
        "empty.xlsx": (b"", "4xx"),
        "text.xlsx": (b"mention\ncold\n", "2xx"),
        "nested.xlsx": (nested, "4xx"),
        "ole.xlsx": (b"\xd0\xcf\x11\xe0" + b"\0" * 5000, "4xx"),
        "columns.ods": (opendocument(odd + ods_row.format(_odd_cell(2_000_000_000, "x"))), "any"),
        "header.ods": (opendocument(ods_row.format(_odd_cell(2_000_000_000, "x"))), "any"),
        "rows.ods": (
            opendocument(
                odd
                + f'<table:table-row table:number-rows-repeated="2000000000">{_odd_cell(1, "x")}'
                "</table:table-row>"
            ),
            "any",
        ),
        "laughs.ods": (opendocument(odd + ods_row.format(_odd_cell(1, "&i;")), _LAUGHS), "4xx"),
        "outside.ods": (opendocument(odd + ods_row.format(_odd_cell(1, "&i;")), _OUTSIDE), "4xx"),
        "bomb.ods": (opendocument(odd + " " * 80_000_000), "4xx"),
        "bomb.gz": (gzip.compress(spaces), "any"),
        "bomb.csv.gz": (gzip.compress(b"mention\n" + spaces), "any"),
        "bomb.csv": (gzip.compress(b"mention\n" + spaces), "any"),
        "wide.csv": (b",".join([b"a"] * 2_000_000) + b"\n" + b"," * 1_999_999 + b"\n", "any"),
        "long.csv": (b"mention\n" + b"x" * 9_000_000, "any"),
        "rows.csv": (b"mention,b\n" + b"x,1\n" * 200_001, "4xx"),
        "lines.txt": (b"x\n" * 200_001, "4xx"),
        "blank.txt": (b"\n" * 9_000_000, "any"),
        "quote.csv": (b'mention,b\n"' + b"x,\n" * 1_000_000, "any"),
        "nul.csv": (b"mention,b\n\0\0,\0\n" * 1000, "any"),
        "utf16.csv": ("mention,b\ncold,1\n".encode("utf-16")[:-1], "any"),
        "latin.csv": (b"mention,b\ncaf\xe9,1\n", "2xx"),
        "image.png": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "any"),
        "macro.xlsm": (workbook(head + row), "any"),
        "page.html": (HTML.encode(), "any"),
    }
