"""Docstrings mark code by ``::``, as numpydoc does; Markdown needs the indented block alone."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ALONE = re.compile(r"^[ \t]*::[ \t]*\n", re.MULTILINE)
_TRAILING = re.compile(r"::([ \t]*\n[ \t]*\n)")


class LiteralBlocks(griffe.Extension):
    """Remove the mark before the docstrings are parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            text = _ALONE.sub("", obj.docstring.value)
            obj.docstring.value = _TRAILING.sub(r":\1", text)
