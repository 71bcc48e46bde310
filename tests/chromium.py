"""A headless Chromium that the system has, for tests of pages."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Start the browser; a test without playwright or Chromium is skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium is installed")
    root = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=root)
        yield browser
        browser.close()
