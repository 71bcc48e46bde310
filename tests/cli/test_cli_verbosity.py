"""``--quiet`` and ``--verbose``, which every command has."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import click
import pytest

from canonym.cli.verbosity import is_quiet, with_verbosity
from tests.cli.running import command, every_command, in_terminal, run

TABLE = "id,name\nD:1,Myocardial infarction\nD:1,Heart attack\nD:2,Migraine\n"
LINE = re.compile(r"\d\d:\d\d:\d\d (INFO|DEBUG) canonym\.[a-z_.]+: .+")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    (tmp_path / "x.csv").write_text(TABLE)
    run("index", tmp_path / "x.csv", "-o", tmp_path / "index", "-e", "chargrams", "-q")
    return tmp_path / "index"


def test_every_command_has_both_options_once() -> None:
    found = dict(every_command())
    assert len(found) > 20
    for words, one in found.items():
        flags = [flag for option in one.params for flag in option.opts]
        for flag in ("-q", "--quiet", "-v", "--verbose"):
            assert flags.count(flag) == 1, (words, flag)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("link", "heart attack", "--index", "INDEX"), "Linking: 1 mentions"),
        (("index", "TABLE", "-o", "NEW", "-e", "chargrams"), "Wrote "),
        (("import", "TABLE", "-o", "NEW"), "Importing: 3 records"),
        (("synonyms", "list", "--index", "INDEX"), "runs canonym synonyms list"),
        (("terminology", "show", "TABLE"), "Reading: 3 records"),
        (("info", "INDEX"), "runs canonym info"),
    ],
)
def test_verbose_logs_to_standard_error(
    index: Path, tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    places = {"INDEX": str(index), "TABLE": str(tmp_path / "x.csv"), "NEW": str(tmp_path / "new")}
    given = [places.get(argument, argument) for argument in arguments]
    plain = run(*given)
    again = (*given, "--overwrite") if "NEW" in arguments else given
    verbose = run(*again, "-v")
    assert re.sub(r"time +\S+ s", "", verbose.stdout) == re.sub(r"time +\S+ s", "", plain.stdout)
    lines = [line for line in verbose.stderr.splitlines() if line not in plain.stderr]
    assert lines
    assert all(LINE.fullmatch(line) for line in lines), lines
    assert expected in verbose.stderr
    assert "Took" in lines[-1]
    assert "DEBUG" not in verbose.stderr
    assert "INFO" not in plain.stderr


def test_twice_verbose_logs_details(index: Path) -> None:
    given = ("link", "heart attack", "xyzzy!", "--index", str(index), "--min-score", "0.9")
    once, twice = run(*given, "--verbose").stderr, run(*given, "-vv").stderr
    assert "'heart attack': D:1" in twice
    assert "'xyzzy!': NIL, " in twice
    assert "'min_score': 0.9" in twice
    assert "'heart attack'" not in once
    assert len(twice.splitlines()) > len(once.splitlines())


def test_the_options_may_stand_before_the_command(index: Path, tmp_path: Path) -> None:
    out = ("-o", str(tmp_path / "x.tsv"), "--overwrite")
    given = ("link", "heart attack", "--index", str(index), *out)
    assert "1 mention is in" in run(*given).stderr
    assert run("--quiet", *given).stderr == ""
    source = ("import", str(tmp_path / "x.csv"), "-o", str(tmp_path / "x.db"), "--overwrite")
    assert "digest" in run(*source).stdout
    assert run("-q", *source).output == ""
    assert "INFO" in run("-v", *given).stderr
    assert "DEBUG" in run("-v", *given, "-v").stderr


def test_quiet_hides_notes_and_reports_but_no_failure(index: Path, tmp_path: Path) -> None:
    add = ("synonyms", "add", "megrim", "D:2", "--index", str(index))
    assert run(*add).stderr == ""
    assert "already" in run(*add).stderr
    assert run(*add, "-q").stderr == ""
    make = ("index", str(tmp_path / "x.csv"), "-e", "chargrams", "-o", str(tmp_path / "new"))
    assert "fingerprint" in run(*make).stdout
    assert run(*make, "--overwrite", "-q").output == ""
    assert "exists already" in run(*make, "-q", code=2).stderr


def test_quiet_and_verbose_hide_notes_and_log(index: Path, tmp_path: Path) -> None:
    given = ("link", "heart attack", "--index", str(index), "-o", str(tmp_path / "x.tsv"))
    expected = run(*given, "-q", "-v").stderr
    assert "INFO" in expected
    assert "1 mention is in" not in expected


def test_warnings_of_the_library_are_shown_unless_quiet(index: Path) -> None:
    text = "1|t|heart attack\n1\t0\t12\theart attack\tD\tD:1\n\n" * 2
    given = ("link", "--index", str(index))
    expected = run(*given, input=text).stderr
    assert expected.startswith("WARNING: standard input, line ")
    assert "the document id 1 was met before" in expected
    assert run(*given, "-q", input=text).stderr == ""


def test_the_log_shows_only_what_can_be_printed(index: Path) -> None:
    expected = run("link", "a\x1b[31m b", "--index", index, "-vv").stderr
    assert "\x1b" not in expected


def test_nothing_of_the_log_is_left_afterwards(index: Path) -> None:
    for flag in ("-q", "-v"):
        run("info", index, flag)
        assert logging.getLogger("canonym").handlers == []
        assert logging.getLogger("canonym").level == logging.NOTSET
    assert not is_quiet()


def test_a_terminal_gets_the_log_beside_the_bars(index: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("heart attack\n" * 50)
    out = ("-o", str(tmp_path / "x.tsv"), "--overwrite")
    given = ("link", "--index", str(index), "--file", str(names), *out)
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", in_terminal(command(*given, "-v"), columns=200))
    assert "50 of 50 mentions" in shown
    assert re.search(r"INFO +canonym\.cli\.input: Reading .*names\.txt\s+as", shown)
    assert "INFO" not in in_terminal(command(*given), columns=120)


# --- what the function of a command is given ------------------------------------------------------


def given_to(function: Any, *options: click.Option) -> Any:
    """Run a command with --quiet and return the keyword arguments of its function."""
    made = with_verbosity(click.Command("x", callback=function, params=list(options)))
    assert with_verbosity(made) is made
    return made.main(["--quiet", "-v"], standalone_mode=False)
