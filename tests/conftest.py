"""Fixtures shared by the whole suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def _data_folder() -> Path | None:
    named = os.environ.get("CANONYM_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora and terminologies; the test is skipped where it is absent."""
    folder = _data_folder()
    if folder is None:
        pytest.skip("needs the real corpora: set CANONYM_DATA to the folder that holds them")
    return folder
