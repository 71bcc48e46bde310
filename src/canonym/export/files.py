"""Links written to a file or a stream in one call."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from canonym.errors import InvalidInput
from canonym.export.arrow import ParquetWriter
from canonym.export.writers import DelimitedWriter, JsonLinesWriter, LinkWriter
from canonym.io.files import write_file
from canonym.types import Link

__all__ = ["FORMATS", "format_of", "write_links"]

FORMATS: dict[str, tuple[str, ...]] = {
    "tsv": (".tsv", ".tab"),
    "csv": (".csv",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
"""Formats by name, each with the suffixes that stand for it."""


def format_of(path: str | Path) -> str:
    """Return the name of the format that a file's suffix stands for.

    Raises
    ------
    InvalidInput
        If it stands for none.
    """
    suffix = Path(path).suffix.lower()
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    known = ", ".join(itertools.chain.from_iterable(FORMATS.values()))
    raise InvalidInput(
        f"{path}: the suffix names no format; use one of {known}, or name the format"
    )


def write_links(
    links: Iterable[Link],
    target: str | Path | IO[Any],
    *,
    format: str | None = None,
    k: int | None = None,
) -> int:
    """Write links to a file or a stream.

    Parameters
    ----------
    links : iterable of Link
        Taken one at a time: any number fits.
    target : str, Path or stream
        A path is written whole or not at all. A stream takes text, for Parquet bytes.
    format : str, optional
        A key of `FORMATS`; by default what the suffix of the path stands for.
    k : int, optional
        Most candidates of a mention, all by default.

    Returns
    -------
    int
        Number of links written.

    Raises
    ------
    InvalidInput
        If the format is unknown.
    MissingExtra
        If Parquet is asked for and pyarrow is not installed.
    """
    is_path = isinstance(target, str | Path)
    if format is None:
        if not is_path:
            raise InvalidInput("a stream has no suffix: name the format")
        format = format_of(str(target))
    if format not in FORMATS:
        raise InvalidInput(f"format={format!r} is unknown; expected one of {', '.join(FORMATS)}")
    n = 0
    with contextlib.ExitStack() as stack:
        stream: Any = target
        if is_path:
            partial = stack.enter_context(write_file(str(target)))
            if format == "parquet":
                stream = stack.enter_context(partial.open("wb"))
            else:
                stream = stack.enter_context(partial.open("w", encoding="utf-8", newline=""))
        writer: LinkWriter
        if format == "parquet":
            writer = ParquetWriter(stream, k=k)
        elif format == "jsonl":
            writer = JsonLinesWriter(stream, k=k)
        else:
            writer = DelimitedWriter(stream, delimiter="\t" if format == "tsv" else ",", k=k)
        for link in links:
            writer.write(link)
            n += 1
        writer.close()
    return n
