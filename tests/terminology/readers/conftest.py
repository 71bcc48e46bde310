"""The packaged terminology, which several files read."""

from __future__ import annotations

import pytest

from canonym.terminology.readers.icd10cm import read_icd10cm
from canonym.types import Record


@pytest.fixture(scope="session")
def icd10cm() -> list[Record]:
    """All records of ICD-10-CM, which no test changes."""
    return list(read_icd10cm())
