"""Adapts pages and docstrings for the site; `mkdocs.yml` names this file."""

from __future__ import annotations

import re
from typing import Any

import griffe

_FILE = re.compile(r"^<!-- file: (?P<name>[^\n]+?) -->\n```[\w-]*$", re.MULTILINE)
_CONSOLE = re.compile(r"^```console$", re.MULTILINE)
_ALONE = re.compile(r"^[ \t]*::[ \t]*\n", re.MULTILINE)
_TRAILING = re.compile(r"::([ \t]*\n[ \t]*\n)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show the name of the file that a reader should write a block to.

    Blocks with a prompt and its output get no button to copy them.
    """
    markdown = _FILE.sub(r'```text title="\g<name>"', markdown)
    return _CONSOLE.sub("``` { .console .no-copy }", markdown)


class LiteralBlocks(griffe.Extension):
    """Remove ``::`` from docstrings: in Markdown, indentation alone marks code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            text = _ALONE.sub("", obj.docstring.value)
            obj.docstring.value = _TRAILING.sub(r":\1", text)
