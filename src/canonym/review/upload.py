"""Reading an upload in a process that may take no more than its share of memory and time.

``python -m canonym.review.upload FOLDER NAME LAYOUT`` reads ``FOLDER/upload`` and writes its rows
into ``FOLDER/rows``, a JSON list a line, the header first, and the names of its sheets into
``FOLDER/sheets``. The layout is a JSON list, of `canonym.review.table.Layout`. What is wrong with
it goes to standard output. Standard input stays open for as long as somebody waits.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from pathlib import Path

from canonym.errors import CanonymError
from canonym.io.workbooks import sheet_names
from canonym.review.table import Layout, read_upload

UPLOAD, ROWS, SHEETS = "upload", "rows", "sheets"
SECONDS = 120
_MEMORY = 1 << 30
_NICE = 2  # requests that take no time go first


def main(folder: Path, name: str, layout: Layout) -> None:
    """Read an upload; end early where whoever asked for it has ended."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    _limit()
    try:
        with (folder / ROWS).open("w", encoding="utf-8") as stream:
            for row in read_upload(folder / UPLOAD, name, layout):
                stream.write(json.dumps(row) + "\n")
        sheets = sheet_names(folder / UPLOAD)  # what is wrong with it was said above, by its name
        (folder / SHEETS).write_text(json.dumps(sheets), encoding="utf-8")
    except CanonymError as error:
        problem = str(error)
    except MemoryError:
        problem = f"{name or 'the text'} takes more than 1 GB of memory to read; review a part"
    else:
        return
    sys.stdout.write(json.dumps(problem))


def _end_with_input() -> None:
    """Wait for the end of standard input, which nothing is written to."""
    sys.stdin.read()
    os._exit(1)


def _limit() -> None:
    with contextlib.suppress(AttributeError, OSError):  # Windows has no such number
        os.nice(_NICE)
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no limits
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # where nobody stops it
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Layout(*json.loads(sys.argv[3])))
