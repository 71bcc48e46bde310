"""The encoding of what a command reads: found, and named where it is not plain UTF-8."""

from __future__ import annotations

from pathlib import Path

import click

from canonym.cli.key_options import typed_as
from canonym.cli.progress import note
from canonym.io.encodings import WINDOWS
from canonym.io.streams import detect_encoding


def found_encoding(path: Path, *, shown: Path | None = None) -> str:
    """Return the encoding of a text file, and name it if it is not UTF-8; messages say `shown`."""
    encoding = detect_encoding(path)
    tell_encoding(shown or path, encoding)
    return encoding


def tell_encoding(path: Path, encoding: str) -> None:
    """Remark on an encoding that was found and is not UTF-8."""
    if encoding == WINDOWS:
        options = click.get_current_context().command.params
        typed = [typed_as(option) for option in options if "--encoding" in option.opts]
        advice = f"name its encoding with {typed[0].strip(' =')}" if typed else "save it as UTF-8"
        note(
            f"{path} is not UTF-8 and is read as Windows-1252 ({WINDOWS}); if letters look wrong, "
            f"{advice}."
        )
    elif encoding != "utf-8":
        note(f"{path} is read as {encoding.upper()}, which its byte order mark announces.")
