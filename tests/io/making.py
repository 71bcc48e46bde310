"""Workbooks made for tests."""

from __future__ import annotations

import itertools
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl

_NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0"'
    for prefix in ("office", "table", "text", "style", "drawing")
)
_CALCEXT = 'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'


def make_xlsx(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    """Write a workbook; a text that begins with = is a formula without a value."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    workbook.save(path)
    return path


def make_ods(path: Path, sheets: Mapping[str, str], *, hidden: str = "") -> Path:
    """Write a spreadsheet whose sheets have these rows in XML; `hidden` names one."""
    tables = "".join(
        f'<table:table table:name="{name}" table:style-name="{"h" if name == hidden else "v"}">'
        f"{rows}</table:table>"
        for name, rows in sheets.items()
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_NAMES} {_CALCEXT}>'
        '<office:automatic-styles><style:style style:name="h" style:family="table">'
        '<style:table-properties table:display="false"/></style:style></office:automatic-styles>'
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr(
            "META-INF/manifest.xml",
            '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        archive.writestr("Pictures/x.png", b"a picture")
    return path


def ods_row(*texts: str, repeated: int = 1, more: str = "") -> str:
    """Return a row of text cells, empty for ""; `more` are cells in XML."""
    cells = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
        if text
        else "<table:table-cell/>"
        for text in texts
    )
    repeats = f' table:number-rows-repeated="{repeated}"' if repeated > 1 else ""
    return f"<table:table-row{repeats}>{cells}{more}</table:table-row>"


def edited(path: Path, part: str, *replacements: tuple[str, str]) -> Path:
    """Replace strings in a part of a workbook; each has to be there."""
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    # Written by lxml or without it.
    text = parts[part].decode().replace(" />", "/>").replace("<v></v>", "<v/>")
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (parts | {part: text.encode()}).items():
            archive.writestr(name, content)
    return path


def part_of(path: Path, part: str) -> str:
    """Return a part of a workbook."""
    with zipfile.ZipFile(path) as archive:
        return archive.read(part).decode()


def with_shared_texts(path: Path) -> Path:
    """Let the texts of a workbook's first sheet stand in a part of their own, as Excel writes."""
    sheet, relations = "xl/worksheets/sheet1.xml", "xl/_rels/workbook.xml.rels"
    texts = re.findall("<is><t>(.*?)</t></is>", part_of(path, sheet))
    number = itertools.count()
    shared = re.sub(
        "<is><t>.*?</t></is>", lambda _: f"<v>{next(number)}</v>", part_of(path, sheet)
    ).replace('t="inlineStr"', 't="s"')
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
    relation = f'<Relationship Id="s" Target="sharedStrings.xml" Type="{kind}"/></Relationships>'
    edited(path, relations, ("</Relationships>", relation))
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    items = "".join(f"<si><t>{text}</t></si>" for text in texts)
    parts |= {sheet: shared.encode(), "xl/sharedStrings.xml": f"<sst>{items}</sst>".encode()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path
