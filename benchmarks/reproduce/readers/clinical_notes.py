"""Clinical notes with annotations beside them, in columns between two bars: MCN and ShARe/CLEF.

::

    train/train_note/7.txt   Pain in the left arm and leg.
    train/train_norm/7.norm  N000||C0030196||0||16||25||28
    train/train_file_list.txt

    reports/7.txt            Pain in the left arm and leg.
    gold/7.pipe.txt          7.txt||Disease_Disorder||CUI-less||0||16||25||28

The first is MCN, track 3 of n2c2 2019; the second is task 1 of ShARe/CLEF eHealth 2013. A mention
in pieces has a start and an end for each. Offsets count code points, line ends included.

References
----------
Luo, Sun and Rumshisky (2019), MCN: a comprehensive corpus for medical concept normalization.
Suominen et al. (2013), Overview of the ShARe/CLEF eHealth evaluation lab 2013.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from canonym.corpora.gold import parse_ids
from canonym.corpora.offsets import PIECES, Piece, join_pieces, pieces_problem, whole_number
from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_text, read_text
from canonym.types import Document, Mention

_MCN = "id||cui||start||end"
_SHARE = "file||type||cui||start||end"
_HIDDEN = "unk"  # stands for every id in the test part of MCN that participants got
_PIPES = (".pipe", ".pipe.txt")


def read_mcn(
    path: str | Path, *, pieces: str = "join", encoding: str = "utf-8"
) -> Iterator[Document]:
    """Read the notes of MCN, track 3 of n2c2 2019, one at a time.

    `path` is a folder that holds notes and ``.norm`` files, in sub-folders or beside each other,
    such as ``train``; or one ``.norm`` file with its note beside it. Mentions in several pieces
    are treated by `pieces`, one of `canonym.corpora.offsets.PIECES`. Documents come in the order
    of ``*_file_list.txt``, and of their names without one. The id is the name of the note without
    its ending. ``CUI-less`` is no concept, ``unk`` an unknown one. Raises `ReadError` if a note is
    missing, two files annotate it, a line is malformed, or offsets are no spans.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "7.txt").write_text("Pain in the left arm and leg.")
    >>> _ = (folder / "7.norm").write_text("N000||C0030196||0||16||25||28\\n")
    >>> [(mention.text, mention.ids) for mention in next(read_mcn(folder)).mentions]
    [('Pain in the left leg', ('C0030196',))]
    """
    release = _Release(Path(path), (".norm",), pieces, encoding)
    for name, file in release.annotated().items():
        text = release.text(file, name)
        rows = release.rows(file, _MCN)
        mentions = (release.mention(file, row, text, name, "") for row in rows)
        yield Document(name, text, tuple(mentions))


def read_share(
    path: str | Path, *, pieces: str = "join", encoding: str = "utf-8"
) -> Iterator[Document]:
    """Read the reports of ShARe/CLEF eHealth 2013, task 1, one at a time.

    `path` is a folder that holds reports and ``.pipe`` or ``.pipe.txt`` files, in sub-folders or
    beside each other; or one such file with its reports beside it. Documents come in the order of
    the files of annotations, and of the lines in them. The id is the name of the report without
    ``.txt``. An empty file is a report without mentions. Options and errors are those of
    `read_mcn`.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "7.txt").write_text("A broken hip.")
    >>> _ = (folder / "7.pipe.txt").write_text("7.txt||Disease_Disorder||C0019557||2||12\\n")
    >>> [(mention.text, mention.ids) for mention in next(read_share(folder)).mentions]
    [('broken hip', ('C0019557',))]
    """
    release = _Release(Path(path), _PIPES, pieces, encoding)
    seen: dict[str, Path] = {}
    for name, file in release.annotated().items():
        reports: dict[str, list[_Row]] = {}
        for row in release.rows(file, _SHARE):
            reports.setdefault(row.cells[0].removesuffix(".txt"), []).append(row)
        for report, rows in (reports or {name: []}).items():
            if report in seen:
                raise _annotated_twice(report, seen[report], file)
            seen[report] = file
            text = release.text(file, report)
            mentions = (release.mention(file, row, text, report, row.cells[1]) for row in rows)
            yield Document(report, text, tuple(mentions))


class _Row:
    """One line of annotations: what comes before its offsets, and its pieces in rising order."""

    def __init__(self, path: Path, line: str, number: int, layout: str) -> None:
        cells = [cell.strip() for cell in line.rstrip("\n").split("||")]
        head = layout.count("||") - 1
        offsets = [whole_number(cell) for cell in cells[head:]]
        known = [offset for offset in offsets if offset is not None]
        if not known or len(known) % 2 or len(known) < len(offsets) or not cells[0]:
            raise ReadError(
                path, f"'{layout}[||start||end ...]' was expected, found {line[:60]!r}", line=number
            )
        self.number = number
        self.cells = cells[:head]
        self.pieces: list[Piece] = sorted(zip(known[::2], known[1::2], strict=True))


class _Release:
    """The files of a release: notes, and annotations with one of some endings."""

    def __init__(self, path: Path, endings: tuple[str, ...], pieces: str, encoding: str) -> None:
        if pieces not in PIECES:
            raise InvalidInput(f"pieces={pieces!r} is not known; use one of {', '.join(PIECES)}")
        if not path.exists():
            raise ReadError(path, "there is no such file or folder")
        self.path, self.endings, self.pieces, self.encoding = path, endings, pieces, encoding
        self.root = path if path.is_dir() else path.parent
        files = sorted(self.root.rglob("*") if path.is_dir() else self.root.glob("*"))
        self.files = [file for file in files if file.is_file()]
        self.notes: dict[str, list[Path]] = {}
        for file in self.files:
            if file.suffix == ".txt" and not file.name.endswith(endings):
                self.notes.setdefault(file.stem, []).append(file)

    def annotated(self) -> dict[str, Path]:
        """Return the files of annotations by the names of their notes, in order."""
        files_of: dict[str, Path] = {}
        whole = self.path.is_dir()
        for file in self.files if whole else [self.path]:
            ending = next((end for end in self.endings if file.name.endswith(end)), None)
            if ending or not whole:
                name = file.name.removesuffix(ending or "")
                if name in files_of:
                    raise _annotated_twice(name, files_of[name], file)
                files_of[name] = file
        if not files_of:
            raise ReadError(self.path, f"holds no file that ends in {' or '.join(self.endings)}")
        listed = self._listed()
        if missing := [name for name in listed if name not in files_of]:
            raise ReadError(
                self.path, f"its list of files names {missing[0]!r}, which has no annotations"
            )
        return {name: files_of[name] for name in dict.fromkeys((*listed, *files_of))}

    def _listed(self) -> list[str]:
        if not self.path.is_dir():
            return []
        listed = []
        for file in self.files:
            if file.name.endswith("_file_list.txt"):
                with open_text(file, encoding=self.encoding) as lines:
                    listed += [line.strip() for line in lines if line.strip()]
        return listed

    def text(self, file: Path, name: str) -> str:
        files = self.notes.get(name, [])
        if len(files) != 1:
            where = f"{len(files)} files {name}.txt are" if files else f"no file {name}.txt is"
            raise ReadError(
                file,
                f"{where} in {self.root}: name the folder that holds each note once, and its "
                "annotations",
            )
        return read_text(files[0], encoding=self.encoding)

    def rows(self, file: Path, layout: str) -> Iterator[_Row]:
        if not file.stat().st_size:
            return
        with open_text(file, encoding=self.encoding) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _Row(file, line, number, layout)

    def mention(self, file: Path, row: _Row, text: str, name: str, type_: str) -> Mention:
        problem = pieces_problem(text, row.pieces)
        if problem:
            raise ReadError(file, problem, line=row.number)
        cui = row.cells[-1]
        ids, rule = parse_ids("" if cui.lower() == _HIDDEN else cui)
        words = join_pieces(text, row.pieces, how=self.pieces)
        return Mention(words, row.pieces[0][0], row.pieces[-1][1], type_, ids, rule, name)


def _annotated_twice(name: str, first: Path, second: Path) -> ReadError:
    return ReadError(
        second,
        f"annotates {name!r}, as {first} does: name a folder that holds one of the two",
    )
