"""Tables of an id and a mention: CADEC, PsyTar, AskAPatient, TwADR-L.

No header, tab-separated, one mention a line: id and mention, or id, name of the concept (ignored)
and mention. Ids are read as in `canonym.corpora.gold`. A folder of folds holds one folder per fold
with ``train.txt``, ``test.txt`` and perhaps ``dev.txt`` (or ``valid`` or ``validation``), or files
like ``AskAPatient.fold-0.train.txt``. ``standard.txt`` lists the target ids and names; it is read
as a terminology, by the reader of tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from canonym.corpora.gold import parse_ids
from canonym.errors import ReadError
from canonym.io.streams import open_text
from canonym.regex import regex
from canonym.types import Mention

_PARTS = {"train": "train", "test": "test"} | dict.fromkeys(("dev", "valid", "validation"), "dev")
_FOLD_FILE = regex(r"(?P<fold>.*fold[-_.]?\d+)[-_.](?P<part>[a-z]+)\.(?:txt|tsv)", re.I)


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold of a cross-validation: its mentions, empty where it has no such file.

    `name` is that of its folder, or the beginning of its files' names; `targets` is its list of
    target concepts (``standard.txt``).
    """

    name: str
    train: tuple[Mention, ...] = ()
    dev: tuple[Mention, ...] = ()
    test: tuple[Mention, ...] = ()
    targets: Path | None = None


def read_mention_table(
    path: str | Path, *, type: str = "", encoding: str = "utf-8"
) -> Iterator[Mention]:
    """Read a table of ids and mentions, plain or compressed.

    Parameters
    ----------
    path : str or Path
        The file.
    type : str
        Type of the mentions.
    encoding : str
        Encoding of the text; AskAPatient is ``"latin-1"``.

    Yields
    ------
    Mention
        In the order of the file, without offsets.

    Raises
    ------
    ReadError
        If a line has neither two nor three columns or another number than the first, or an id or a
        mention is empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "test.txt"
    >>> _ = file.write_text("271782001\\tbit drowsy\\n")
    >>> [(mention.text, mention.ids) for mention in read_mention_table(file)]
    [('bit drowsy', ('271782001',))]
    """
    width = 0
    with open_text(path, encoding=encoding) as stream:
        for line in stream:
            if not line.strip():
                continue
            cells = [cell.strip() for cell in line.rstrip("\n").split("\t")]
            width = width or len(cells)
            if len(cells) not in (2, 3) or len(cells) != width:
                raise stream.error(
                    f"{len(cells)} columns; id and mention were expected, or id, name and mention, "
                    "tab-separated and alike in every line"
                )
            if not cells[0] or not cells[-1]:
                raise stream.error("the id or the mention is empty")
            ids, rule = parse_ids(cells[0])
            yield Mention(cells[-1], type=type, ids=ids, rule=rule)
    if not width:
        raise ReadError(path, "holds no mention: 'id<tab>mention' was expected")


def read_folds(folder: str | Path, *, type: str = "", encoding: str = "utf-8") -> Iterator[Fold]:
    """Read the folds of a cross-validation, in the order of their numbers.

    Parameters
    ----------
    folder : str or Path
        A folder of folds, see the module.
    type : str
        Type of the mentions.
    encoding : str
        Encoding of the text.

    Raises
    ------
    ReadError
        If there is no fold, a fold has no test mentions or two files for one part, or a file cannot
        be read.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ReadError(folder, "is no folder; one with a folder or files per fold was expected")
    files_of: dict[str, dict[str, Path]] = {}
    for file in sorted((*folder.rglob("*.txt"), *folder.rglob("*.tsv"))):
        match = _FOLD_FILE.fullmatch(file.name)
        name = match["fold"] if match else file.parent.name
        part = match["part"].lower() if match else file.stem.lower()
        kind = "targets" if part == "standard" else _PARTS.get(part)
        if kind is None:
            continue  # a readme, or something else that is no part of a fold
        if kind in files_of.setdefault(name, {}):
            raise ReadError(file, f"is a second file of {kind} mentions for the fold {name}")
        files_of[name][kind] = file
    if not files_of:
        raise ReadError(folder, "holds no fold: train.txt and test.txt in a folder per fold")
    for name in sorted(files_of, key=_natural):
        files = files_of[name]
        if "test" not in files:
            raise ReadError(folder, f"the fold {name} has no file of test mentions")
        parts = {
            part: tuple(read_mention_table(file, type=type, encoding=encoding))
            for part, file in files.items()
            if part != "targets"
        }
        yield Fold(name, **parts, targets=files.get("targets"))


def _natural(name: str) -> list[tuple[int, str]]:
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)
    ]
