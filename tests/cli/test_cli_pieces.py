"""The default linker, counted items, and progress that nobody watches."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from canonym.cli.input import Input, count_items
from canonym.cli.progress import counter, stages
from tests.cli.running import run


def test_without_an_index_the_default_linker_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    from canonym.linker import Linker
    from canonym.types import Link, Mention

    class Default:
        def info(self) -> dict[str, Any]:
            return {"fingerprint": "x"}

        def link_stream(self, mentions: Any, **_: Any) -> Any:
            return (Link(Mention("default was here")) for _ in mentions)

    def default(*, everyday: bool, progress: Any) -> Default:
        assert everyday
        progress("reading", 0, 1)
        return Default()

    monkeypatch.setattr(Linker, "default", staticmethod(default))
    assert "default was here" in run("link", "x").stdout


def test_items_are_counted_where_that_is_cheap(tmp_path: Path) -> None:
    documents, names = Input(iter(()), documents=True, kind="pubtator"), Input(iter(()))
    file = tmp_path / "x.txt"
    file.write_text("1|t|a\n1|a|b\n\n2|t|c\n")
    assert count_items(str(file), documents) == 2
    assert count_items(str(file), names) == 4
    file.write_text('{"text": 1}\n{"text": 2}\n')
    assert count_items(str(file), documents) == 2
    packed = tmp_path / "x.txt.gz"
    packed.write_bytes(gzip.compress(b"a\n"))
    assert count_items(str(packed), names) is None
    assert count_items("-", names) is None
    assert count_items(None, names) is None
    assert count_items(str(tmp_path), documents._replace(kind="brat")) is None


def test_progress_is_hidden_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with counter("Counting", unit="sheep") as report:
        report(1)
    with stages() as staged:
        staged("Sleeping", 1, 2)
    assert capsys.readouterr() == ("", "")
