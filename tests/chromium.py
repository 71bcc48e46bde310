"""A headless Chromium that the system has, for tests of pages."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# The shell has no window to draw, and takes a third less of the processor.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Start the browser; a test without playwright or Chromium is skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = next(filter(None, map(shutil.which, _NAMES)), None)
    if executable is None:
        pytest.skip("no Chromium is installed")
    root = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=root)
        yield browser
        browser.close()


@contextlib.contextmanager
def pages(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open pages; an error in a script, or something against the policy, fails the test."""
    errors: list[str] = []
    contexts = []

    def open_page(address: str, **options: Any) -> Any:
        contexts.append(browser.new_context(**options))
        contexts[-1].set_default_timeout(30_000)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda one: "Content Security" in one.text and errors.append(one.text))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def check_page(page: Any) -> None:
    """Fail where axe finds a fault of accessibility, or a page is wider than its window."""
    spec = importlib.util.find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        pytest.skip("axe-playwright-python is not installed")
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    # What is sound is not asked for, nor selectors of elements: both take longer than the faults.
    options = "{resultTypes: ['violations'], selectors: false}"
    violations = page.evaluate(f"axe.run({options}).then(found => found.violations)")
    faults = [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in violations]
    assert not faults, faults
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"], width
