"""Tests are skipped for the reasons of a list alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.skips import counted, missing


@pytest.mark.parametrize(
    ("reason", "what"),
    [
        ("Skipped: no Chromium is installed", "Chromium"),
        ("Skipped: this machine has no GPU for torch", "the other kind of machine"),
        ("Skipped: could not import 'fcntl': No module named 'fcntl'", "a POSIX system"),
        ("Skipped: could not import 'torch': No module named 'torch'", None),
        ("Skipped: flaky", None),
    ],
)
def test_a_reason_is_allowed_or_not(reason: str, what: str | None) -> None:
    assert missing(reason) == what
    counts, others = counted([reason, reason])
    assert (dict(counts), others) == (({what: 2}, []) if what else ({}, [reason, reason]))


def test_a_skip_for_another_reason_fails_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n"
        "def test_it():\n    pytest.skip('no Chromium is installed')\n\n"
        "def test_other():\n    pytest.skip('flaky')\n"
    )
    root = Path(__file__).parents[1]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
    ]
    ended = subprocess.run(
        [*command, "-c", str(root / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=root, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ended.returncode == 1, ended.stdout
    assert "1 tests are skipped: 1 for want of Chromium" in ended.stdout
    assert "a reason that is not in tests/skips.py: ['Skipped: flaky']" in ended.stdout
