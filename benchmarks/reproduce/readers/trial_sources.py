"""Clinical trials of any source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from canonym.errors import ReadError
from canonym.io.streams import open_bytes
from canonym.types import Document

from .aact import is_aact, read_aact
from .trials import Trial, read_trials_json, read_trials_table, read_trials_xml


def read_trials(path: str | Path) -> Iterator[Trial]:
    """Read trials of any source: XML, JSON, a table, or an export of AACT.

    A folder is AACT's if it has its files, else its XML is read before JSON. Raises `ReadError` if
    there is no such file or folder, or its reader raises one.
    """
    path = Path(path)
    if not path.exists():
        raise ReadError(path, "there is no such file or folder")
    if is_aact(path):
        return read_aact(path)
    if path.is_dir():
        in_json = next(path.rglob("*.xml"), None) is None
        return read_trials_json(path) if in_json else read_trials_xml(path)
    with open_bytes(path) as source:
        first = source.read(64).lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")[:1]
    if first == b"<":
        return read_trials_xml(path)
    return read_trials_json(path) if first in (b"{", b"[") else read_trials_table(path)


def read_trial_documents(path: str | Path) -> Iterator[Document]:
    """Read the documents of trials of any source, as `read_trials` does."""
    return (trial.document for trial in read_trials(path))
