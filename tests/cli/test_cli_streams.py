"""Standard streams that are closed or full, and output that goes to the input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import command, run

FULL = Path("/dev/full")
CLOSED = "standard output or input is closed"
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell"),
    pytest.mark.usefixtures("here"),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.tsv").write_text("id\tname\nT:1\tgout\nT:2\tasthma\n")
    run("index", "t.tsv", "-o", "ix", "-e", "chargrams", "-q")


def shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = f'"$@" {redirection}'
    return subprocess.run(
        ["sh", "-c", script, "sh", *command(*arguments)],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


LINK = ("link", "gout", "--index", "ix")


@pytest.mark.parametrize(
    ("redirection", "arguments", "code", "message"),
    [
        (">&-", LINK, 1, CLOSED),
        (">&-", ("info", "ix"), 1, CLOSED),
        (">&-", ("link", "--help"), 1, CLOSED),
        ("<&-", ("link", "--index", "ix"), 1, CLOSED),
        (">&- 2>&- <&-", LINK, 1, ""),
        ("2>&-", ("link", "gout", "--index", "nothing"), 2, ""),
        (">&-", (*LINK, "-o", "out.tsv"), 0, "1 mention is in out.tsv"),
    ],
)
def test_closed_streams(
    redirection: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = shell(redirection, *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert message in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("link", "--help"), LINK])
def test_a_full_standard_output_is_named(arguments: tuple[str, ...]) -> None:
    done = shell(">/dev/full", *arguments)
    assert (done.returncode, done.stderr) == (
        1, "Error: standard output: No space left on device\n",
    )  # fmt: skip


@pytest.mark.parametrize("redirection", ["2>&-", "<&-", "2>/dev/full"])
def test_links_are_written_without_the_other_streams(redirection: str) -> None:
    if "full" in redirection and not FULL.exists():
        pytest.skip("needs /dev/full")
    done = shell(redirection, *LINK)
    assert (done.returncode, done.stdout.count("T:1")) == (0, 1)


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_standard_error_keeps_the_exit_code() -> None:
    assert shell("2>/dev/full", "link", "gout", "--index", "nothing").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "redirection"),
    [
        (("link", "--index", "ix", "--file", "x"), ">>x"),
        (("link", "--index", "ix"), "<x >>x"),
        (("link", "--index", "ix", "-"), "<x >>x"),
        (("annotate", "--index", "ix", "x"), ">>x"),
    ],
)
def test_output_that_goes_to_the_input_is_refused(
    arguments: tuple[str, ...], redirection: str
) -> None:
    Path("x").write_text("gout\nasthma\n")
    done = shell(redirection, *arguments)
    assert done.returncode == 2
    assert "standard output goes to" in done.stderr
    assert Path("x").read_text() == "gout\nasthma\n"


def test_output_may_go_to_a_file_that_is_no_input() -> None:
    Path("x").write_text("gout\nasthma\n")
    assert shell(">>x", *LINK).returncode == 0


def test_links_in_a_circle_are_messages() -> None:
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    place = ("-o", "a", "--overwrite")
    assert "a is a link that leads nowhere" in run("index", "t.tsv", *place, code=2).output
    for arguments in (("link", "gout", "--index", "a"), ("link", "--index", "ix", "--file", "a")):
        run(*arguments, code=2)
    run(*LINK, *place, "--format", "tsv")
    assert "T:1" in Path("a").read_text()
