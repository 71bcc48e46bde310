"""Fixtures shared by the whole suite."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

from tests.skips import counted

# The same examples everywhere, and no deadline: a busy machine is no defect.
hypothesis.settings.register_profile("canonym", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("canonym")


def _data_folder() -> Path | None:
    named = os.environ.get("CANONYM_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Do not count lines where much real data is read: it takes twice the time.

    Everything these tests run is run by others too, on small made-up data.
    """
    for item in items:
        if {"data", "packaged"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("no_cover")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Count what is skipped, and fail where that is for another reason than those allowed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a worker, whose tests the first process counts
        return
    reports = [one for one in reporter.stats.get("skipped", []) if isinstance(one.longrepr, tuple)]
    counts, others = counted(one.longrepr[2] for one in reports)
    if counts:
        kinds = (f"{n} for want of {what}" for what, n in counts.most_common())
        reporter.write_line(f"\n{counts.total()} tests are skipped: {'; '.join(kinds)}")
    if others:
        reporter.write_line(f"\nskipped for a reason that is not in tests/skips.py: {others[:5]}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora and terminologies; the test is skipped where it is absent."""
    folder = _data_folder()
    if folder is None:
        pytest.skip("needs the real corpora: set CANONYM_DATA to the folder that holds them")
    return folder


def clean_environment() -> dict[str, str]:
    """The environment without what would measure coverage in another process, and slow it down."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE_", "COV_CORE_"))}


def own_folders(folder: Path) -> dict[str, str]:
    """The variables that keep data and cache in a folder of the tests."""
    return {"CANONYM_DATA_HOME": str(folder), "CANONYM_CACHE": str(folder / "cache")}


@pytest.fixture(scope="session")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the index of ICD-10-CM in it, built once for all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "packaged"
    folder.mkdir(exist_ok=True)
    with (folder.parent / "packaged.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(folder.iterdir()):
            subprocess.run(
                [sys.executable, "-m", "canonym", "link", "--quiet", "heart attack"],
                env={**clean_environment(), **own_folders(folder)},
                stdout=subprocess.DEVNULL,
                check=True,
                timeout=300,
            )
    return folder
