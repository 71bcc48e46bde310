"""Tables of the package: tab-separated rows in a file beside the module that reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def packaged_rows(module: str) -> Iterator[list[str]]:
    """Yield the rows of the table ``NAME.tsv`` beside a module ``NAME.py``, without its header."""
    lines = Path(module).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    return (line.split("\t") for line in lines[1:])
