"""The default linker, counted items, and progress that nobody watches."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import click
import pytest

from canonym.cli.progress import Lines, activity, counter, stages
from canonym.jobs.input import Input, count_items
from tests.cli.running import run
from tests.files import written


def test_without_an_index_the_default_linker_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    from canonym.linker import Linker
    from canonym.types import Link, Mention

    class Default:
        fingerprint = "x"
        encoder_names = ("default",)

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
    file = written(tmp_path / "x.txt", "1|t|a\n1|a|b\n\n2|t|c\n")
    assert count_items(str(file), documents) == 2
    assert count_items(str(file), names) == 4
    file.write_text('{"text": 1}\n{"text": 2}\n')
    assert count_items(str(file), documents) == 2
    file.write_text('["a",\n"b"]\n')
    assert count_items(str(file), names._replace(kind="jsonl")) is None
    packed = written(tmp_path / "x.txt.gz", gzip.compress(b"a\n"))
    assert count_items(str(packed), names) is None
    assert count_items(str(tmp_path), documents._replace(kind="brat")) is None


def test_little_work_shows_nothing_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with counter("Counting", unit="sheep") as report:
        report(1)
    with stages() as staged:
        staged("Sleeping", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_a_line_comes_every_30_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 100.0
    lines = Lines("names", clock=lambda: now)
    lines.beat()
    for now, done in ((129.0, 5), (130.0, 1500), (131.0, 1600), (160.0, 1700)):  # noqa: B007
        lines.show("Indexing", done, 2000)
        lines.beat()
    now = 190.0  # nothing was reported since
    lines.beat()
    assert capsys.readouterr().err.splitlines() == [
        "Indexing: 1,500 of 2,000 names, 30 s",
        "Indexing: 1,700 of 2,000 names, 60 s",
        "Indexing: 1,700 of 2,000 names, 90 s",
    ]


def test_stages_have_units_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    now = 100.0
    lines = Lines({"Training": "steps", "Sampling": "names"}, clock=lambda: now)
    for now, stage in ((130.0, "Training"), (160.0, "Sampling"), (190.0, "Else")):  # noqa: B007
        lines.show(stage, 5, 70)
        lines.beat()
    assert capsys.readouterr().err.splitlines() == [
        "Training: 5 of 70 steps, 30 s",
        "Sampling: 5 of 70 names, 60 s",
        "Else: 90 s",
    ]


def test_short_stages_in_a_row_are_no_long_silence(capsys: pytest.CaptureFixture[str]) -> None:
    now = 100.0
    with click.Context(click.Command("x")) as command:
        reading = Lines("", clock=lambda: now, told=command.meta)
        now = 125.0
        reading.beat()
        sampling = Lines("", clock=lambda: now, told=command.meta)
        sampling.show("Sampling", 0, None)
        now = 131.0
        sampling.beat()
    assert capsys.readouterr().err == "Sampling: 6 s\n"


def test_displays_of_a_command_share_the_time_of_the_last_line() -> None:
    with click.Context(click.Command("x")) as command:
        with activity("Reading"):
            pass
        (first,) = command.meta.values()
        with activity("Sampling"):
            pass
        assert list(command.meta.values()) == [first]


@pytest.mark.parametrize("quiet", [False, True])
def test_lines_of_the_inner_of_two_activities(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], quiet: bool
) -> None:
    # The outer one may print between the ends of both: long enough for a machine that stalls.
    monkeypatch.setattr("canonym.cli.progress._EVERY", 0.3)
    monkeypatch.setattr("canonym.cli.progress.is_quiet", lambda: quiet)
    with activity("Outer"), activity("Inner"):
        time.sleep(0.7)
    found = capsys.readouterr().err
    assert ("Inner: 0 s" in found) is not quiet
    assert "Outer" not in found
