"""Files that tests write."""

from __future__ import annotations

from pathlib import Path


def written(path: Path, content: str | bytes) -> Path:
    """Write a file, in UTF-8 if it is a text, and return its path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
