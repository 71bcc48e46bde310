"""XML and JSON files, read record by record with their lines."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from canonym.errors import ReadError
from canonym.io import xml
from canonym.io.xml import read_json, read_numbered_elements, read_prolog


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_elements_know_their_line_and_all_their_text(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '<?xml version="1.0"?>\n<!DOCTYPE a SYSTEM "none.dtd">\n<a>x\n'
        '<r i="1">one<b>two</b>three<c/>four &amp; five</r>\n<n>skipped</n>\n<r/>\n</a>',
    )
    first, second = read_numbered_elements(path, ("r",))
    assert (first.line, second.line) == (4, 6)
    assert first.attrib == {"i": "1"}
    assert "".join(first.itertext()) == "onetwothreefour & five"
    assert first[0].tail == "three"
    assert second.text is None


def test_a_short_entity_is_its_text(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text('<!DOCTYPE a [<!ENTITY x "y">]><a><b>&x;-&#228;</b></a>')
    assert [element.text for element in read_numbered_elements(path, ("b",))] == ["y-ä"]


def test_memory_holds_one_record(tmp_path: Path) -> None:
    path = tmp_path / "many.xml.gz"
    with gzip.open(path, "wt") as stream:
        stream.write("<a>" + "<r>some text of a record</r>" * 60_000 + "</a>")
    tracemalloc.start()
    n = sum(1 for _ in read_numbered_elements(path, ("r",)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n == 60_000
    assert peak < 8_000_000


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("<a>\n<r>\n", 3, "ends too early"),
        ("<a>\n<r></b></a>", 2, "malformed"),
        ('<!DOCTYPE a [\n<!ENTITY x "&y;">]>\n<a>&x;</a>', 2, "entity 'x'"),
        ('<?xml version="1.0" encoding="martian"?><a/>', 1, "malformed"),
    ],
)
def test_bad_xml(tmp_path: Path, content: str, line: int, message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        list(read_numbered_elements(written(tmp_path, content), ("r",)))
    assert caught.value.line == line


def test_one_json_value_or_many(tmp_path: Path) -> None:
    assert list(read_json(written(tmp_path, '\ufeff{"a":\n 1}\n'))) == [({"a": 1}, 1)]
    assert list(read_json(written(tmp_path, '\n{"a":\n1}\n\n[2]\n3'))) == [
        ({"a": 1}, 2),
        ([2], 5),
        (3, 6),
    ]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ('{"a": 1}\n{"a" 1}', 2, "no JSON"),
        ("[" * 200_000, 1, "no JSON"),
        (b'{"a":\n"\xe4"}', 2, "0xe4"),
    ],
)
def test_bad_json(tmp_path: Path, content: str | bytes, line: int, message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        list(read_json(written(tmp_path, content)))
    assert caught.value.line == line


def test_a_prolog_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml, "_MAX_PROLOG", 1 << 17)
    path = written(tmp_path, "<?xml version='1.0'?>" + " " * (1 << 18) + "<a/>")
    with pytest.raises(ReadError, match="no root element"):
        read_prolog(path)


def test_the_prolog(tmp_path: Path) -> None:
    path = written(tmp_path, '<!DOCTYPE a SYSTEM "http://x.org/a.dtd">\n<a b="c"><d/></a>')
    assert read_prolog(path) == ("a", "http://x.org/a.dtd")
