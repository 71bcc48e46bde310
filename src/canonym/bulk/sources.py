"""Input of bulk runs: files of one kind, planned as shards of so many rows each.

A shard is a stretch of one file: bytes of a text file, rows of a Parquet file. So any process on
any machine can read its own, and the shards depend on the files and their size alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from canonym.errors import InvalidInput, Mismatch, ReadError, require
from canonym.io.encodings import without_surrogates
from canonym.io.tables import announced_delimiter, quoted_rows, unquoted

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_EXPECTED = "expected files that end in .csv, .tsv, .jsonl or .parquet, not compressed"
_WHAT = "linking files in bulk"
_VERSIONS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")
_BLOCK = 1 << 20  # bytes
_BLOCKS = 64  # of a file, which are hashed


class InputFile(NamedTuple):
    """A file, as `url` opens it, and what tells whether it has changed.

    `version` is a time or a tag. `content`, of a file of this machine, is a hash: of all its bytes,
    or of those blocks of a large one that lie between its beginning and its end.
    """

    name: str
    url: str
    size: int
    version: str
    content: str = ""

    def change(self, before: InputFile) -> str:
        """Say how a file has changed since `before`, or nothing if it has not."""
        if self.size != before.size:
            return f"has {self.size:,} bytes and had {before.size:,}"
        if self.content != before.content:
            return "has other content of the same size"
        # Between the blocks of a large file, only the time can tell.
        is_whole = self.content and self.size <= _BLOCKS * _BLOCK
        return "" if is_whole or self.version == before.version else "was written again"


class Shard(NamedTuple):
    """Rows of a file that make one file of the output.

    `start` and `end` are offsets in a text file, after `lines` lines; of a Parquet file they are 0.
    """

    number: int
    file: InputFile
    first_row: int
    rows: int
    start: int = 0
    end: int = 0
    lines: int = 0

    @property
    def name(self) -> str:
        """What the shard and its files are called."""
        return f"part-{self.number:06d}"


class Layout(NamedTuple):
    """What all files have in common; `types` are those of the columns of Parquet files."""

    kind: str
    columns: tuple[str, ...]
    delimiter: str = ""
    types: tuple[str, ...] = ()

    def __str__(self) -> str:
        typed = zip(self.columns, self.types, strict=True) if self.types else ()
        names = [f"{name}: {type_}" for name, type_ in typed] or self.columns
        cut = f", separated by {self.delimiter!r}" if self.delimiter else ""
        return f"the columns {', '.join(map(repr, names))}{cut}"


# --- finding files --------------------------------------------------------------------------------


def find_files(source: str) -> list[InputFile]:
    """Return the files that a path, folder, pattern or URL names, sorted; all of one kind.

    Of a folder, hidden files, those that begin with ``_`` and those of other kinds are left out.
    """
    fs, root = _file_system(source)
    base = root
    if fs.isfile(root):
        paths, base = [root], str(PurePosixPath(root).parent)
    elif fs.isdir(root):
        paths = [path for path in fs.find(root) if _is_data(path, root)]
    else:
        paths = [path for path in fs.glob(root) if fs.isfile(path)]
        while set(base) & set("*?["):
            base = str(PurePosixPath(base).parent)
    if not paths:
        raise ReadError(source, f"no such file, or no file in it; {_EXPECTED}")
    kinds = sorted({PurePosixPath(path).suffix.lower() for path in paths})
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise ReadError(source, f"a file ends in {unknown[0]!r}; {_EXPECTED}")
    if len({KINDS[kind] for kind in kinds}) > 1:
        raise ReadError(
            source,
            f"there are {' and '.join(kinds)} files; name those of one kind, as '*{kinds[0]}'",
        )
    files = [_described(fs, path, base) for path in sorted(paths)]
    if not _is_local(fs):  # a tag tells of the content, and reading takes long
        return files
    return [file._replace(content=_content(file.url, file.size)) for file in files]


def _file_system(source: str) -> tuple[Any, str]:
    fsspec = require("fsspec.core", _WHAT, "tables")
    try:
        fs, root = fsspec.url_to_fs(source)
    except ImportError as error:  # of the library of a protocol
        raise InvalidInput(f"{source}: {error}") from error
    except ValueError as error:
        raise InvalidInput(f"{source} is no path and no URL that can be read: {error}") from error
    return fs, str(root)


def _is_local(fs: Any) -> bool:
    return "file" in ([fs.protocol] if isinstance(fs.protocol, str) else fs.protocol)


def _is_data(path: str, root: str) -> bool:
    inside = PurePosixPath(path).relative_to(root)
    hidden = any(part.startswith((".", "_")) for part in inside.parts)
    return not hidden and inside.suffix.lower() in KINDS


def _described(fs: Any, path: str, base: str) -> InputFile:
    info = fs.info(path)
    version = next((str(info[key]) for key in _VERSIONS if info.get(key) is not None), "")
    name = str(PurePosixPath(path).relative_to(base)) if base else path
    url = path if _is_local(fs) else fs.unstrip_protocol(path)
    return InputFile(name, url, info["size"], version)


def _content(path: str, size: int) -> str:
    """Hash a file, or of a large one as many blocks as are read in a moment."""
    hashed = hashlib.sha256()
    with Path(path).open("rb") as stream:
        for n in range(_BLOCKS):
            start = n * _BLOCK if size <= _BLOCKS * _BLOCK else (size - _BLOCK) * n // (_BLOCKS - 1)
            stream.seek(start)
            hashed.update(stream.read(_BLOCK))
    return hashed.hexdigest()


@contextlib.contextmanager
def _opened(file: InputFile) -> Iterator[IO[bytes]]:
    """Open a file that is still the one that was found."""
    fs, path = _file_system(file.url)
    try:
        now = _described(fs, path, "")
    except FileNotFoundError as error:
        raise ReadError(file.url, "the file is gone") from error
    if (now.size, now.version) != (file.size, file.version):
        raise Mismatch(
            f"{file.url} has changed since the run began: start over with overwrite=True"
        )
    with fs.open(path, "rb") as stream:
        yield stream


# --- planning -------------------------------------------------------------------------------------


def plan(files: Sequence[InputFile], shard_rows: int) -> tuple[Layout, list[Shard]]:
    """Return what the files have in common, and their shards, of `shard_rows` rows at most.

    Text files are read once, for the rows have to be counted; of Parquet files only the footer is.
    """
    kind = KINDS[PurePosixPath(files[0].name).suffix.lower()]
    cut = {"parquet": _cut_parquet, "jsonl": _cut_json}.get(kind, _cut_table)
    cut_files = [cut(file, kind, shard_rows) for file in files]
    shards = [shard for _, of_file in cut_files for shard in of_file]
    if not shards:
        raise ReadError(files[0].url, "there are no rows in the input, so nothing to link")
    layout = cut_files[0][0]
    if kind == "jsonl":
        every = dict.fromkeys(
            name for layout_of_file, _ in cut_files for name in layout_of_file.columns
        )
        layout = layout._replace(columns=tuple(every))
    else:
        for file, (other, _) in zip(files, cut_files, strict=True):
            if other != layout:
                raise ReadError(
                    file.url, f"has {other}, and {files[0].name} has {layout}; give them one form"
                )
    if doubles := [name for name in layout.columns if layout.columns.count(name) > 1]:
        problem = f"several columns are named {doubles[0]!r}; rename all but one"
        raise ReadError(files[0].url, problem)
    return layout, [shard._replace(number=number) for number, shard in enumerate(shards)]


def _cut_parquet(file: InputFile, kind: str, shard_rows: int) -> tuple[Layout, list[Shard]]:
    with _parquet(file) as opened:
        schema, n = opened.schema_arrow, opened.metadata.num_rows
    layout = Layout(kind, tuple(schema.names), types=tuple(map(str, schema.types)))
    firsts = range(0, n, shard_rows)
    return layout, [Shard(0, file, first, min(shard_rows, n - first)) for first in firsts]


def _cut_table(file: InputFile, kind: str, shard_rows: int) -> tuple[Layout, list[Shard]]:
    with _opened(file) as stream:
        first = stream.readline()
        stream.seek(0)
        lines = _Lines(stream, file)
        named = announced_delimiter(first.decode("utf-8", "replace"))
        if named:
            next(iter(lines))
        elif kind == "csv":
            named = max(",;|\t", key=lambda it: first.count(it.encode()))
        layout = Layout(kind, (), named or "\t")
        header = next(_rows(lines, layout), [])
        if not any(header):
            raise ReadError(file.url, "a header with the names of the columns is expected", line=1)
        layout = layout._replace(columns=tuple(header))
        return layout, list(_cut(lines, _rows(lines, layout), file, shard_rows))


def _cut_json(file: InputFile, kind: str, shard_rows: int) -> tuple[Layout, list[Shard]]:
    columns: dict[str, None] = {}

    def rows(lines: _Lines) -> Iterator[None]:
        for line in lines:
            if not line.isspace():
                with contextlib.suppress(ValueError):  # told when its shard is read
                    columns.update(dict.fromkeys(_object(line)))
                yield

    with _opened(file) as stream:
        lines = _Lines(stream, file)
        shards = list(_cut(lines, rows(lines), file, shard_rows))
    return Layout(kind, tuple(columns)), shards


def _cut(
    lines: _Lines, rows: Iterable[object], file: InputFile, shard_rows: int
) -> Iterator[Shard]:
    """Yield the shards of a text file while its rows are read."""
    start, before, first, n = lines.position, lines.line, 0, 0
    for _ in rows:
        n += 1
        if n == shard_rows:
            yield Shard(0, file, first, n, start, lines.position, before)
            start, before, first, n = lines.position, lines.line, first + n, 0
    if n:
        yield Shard(0, file, first, n, start, lines.position, before)


# --- reading --------------------------------------------------------------------------------------


def read_shard(shard: Shard, layout: Layout) -> pa.Table:
    """Read the rows of a shard. Columns of text files are strings, as they stand in the file.

    In JSON lines a value that is no string becomes its JSON, and one that is missing becomes null.
    """
    arrow = require("pyarrow", _WHAT, "tables")
    if layout.kind == "parquet":
        return _read_parquet(shard)
    with _opened(shard.file) as stream:
        stream.seek(shard.start)
        content = io.BytesIO(stream.read(shard.end - shard.start))
    lines = _Lines(content, shard.file, shard.lines)
    read = _objects if layout.kind == "jsonl" else _cells
    rows = list(read(lines, layout))
    if len(rows) != shard.rows:
        raise ReadError(shard.file.url, f"{len(rows)} rows where {shard.rows} were counted before")
    columns = zip(*rows, strict=True) if layout.columns else ()
    arrays = [arrow.array(cells, type=arrow.large_string()) for cells in columns]
    return arrow.Table.from_arrays(arrays, names=list(layout.columns))


def no_rows(file: InputFile, layout: Layout) -> pa.Table:
    """Return a table with the columns of the shards and without rows."""
    arrow = require("pyarrow", _WHAT, "tables")
    if layout.kind == "parquet":
        with _parquet(file) as opened:
            return opened.schema_arrow.empty_table()
    return arrow.schema([(name, arrow.large_string()) for name in layout.columns]).empty_table()


def _read_parquet(shard: Shard) -> pa.Table:
    """Read the row groups that hold the rows, and no others."""
    arrow = require("pyarrow", _WHAT, "tables")
    with _parquet(shard.file) as opened:
        metadata = opened.metadata
        groups: list[int] = []
        first = n = 0  # first: of the first group
        for group in range(metadata.num_row_groups):
            rows = metadata.row_group(group).num_rows
            if n + rows > shard.first_row and n < shard.first_row + shard.rows:
                first = first if groups else n
                groups.append(group)
            n += rows
        try:
            table = opened.read_row_groups(groups, use_threads=False)
        except (arrow.ArrowException, OSError) as error:
            raise ReadError(shard.file.url, f"the Parquet file is damaged ({error})") from error
    return table.slice(shard.first_row - first, shard.rows)


@contextlib.contextmanager
def _parquet(file: InputFile) -> Iterator[Any]:
    arrow = require("pyarrow", _WHAT, "tables")
    parquet = require("pyarrow.parquet", _WHAT, "tables")
    with _opened(file) as stream:
        try:
            opened = parquet.ParquetFile(stream)
        except (arrow.ArrowException, OSError) as error:
            raise ReadError(
                file.url, f"is no whole Parquet file ({error}); write it again or leave it out"
            ) from error
        yield opened


class _Lines:
    """Lines of UTF-8 text, and where they end: `position` counts bytes and `line` lines."""

    def __init__(self, stream: IO[bytes], file: InputFile, line: int = 0) -> None:
        self._stream, self.path, self.line, self.position = stream, file.url, line, 0

    def __iter__(self) -> Iterator[str]:
        for raw in self._stream:
            self.line += 1
            self.position += len(raw)
            try:
                yield raw.decode("utf-8-sig" if self.line == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise self.error(f"is no UTF-8 ({error}); save the file as UTF-8") from error

    def error(self, problem: str) -> ReadError:
        """Return an error at the line that was read last."""
        return ReadError(self.path, problem, line=self.line)


def _rows(lines: _Lines, layout: Layout) -> Iterator[list[str]]:
    """Yield the cells of each row; lines without text are rows where there is one column."""
    single = len(layout.columns) == 1
    if layout.kind == "csv" or layout.delimiter != "\t":
        rows = quoted_rows(lines, lines.path, layout.delimiter, before=lines.line, blank=single)
        yield from (cells or [""] for cells, _ in rows)
        return
    for line in lines:
        text = line.rstrip("\r\n")
        if text or single:
            yield [unquoted(cell) for cell in text.split("\t")]


def _cells(lines: _Lines, layout: Layout) -> Iterator[list[str]]:
    width = len(layout.columns)
    for cells in _rows(lines, layout):
        if len(cells) != width:
            raise lines.error(f"the row has {len(cells)} cells, and the header has {width}")
        yield cells


def _objects(lines: _Lines, layout: Layout) -> Iterator[list[str | None]]:
    for line in lines:
        if line.isspace():
            continue
        try:
            content = _object(line)
        except ValueError as error:
            raise lines.error(f"is no JSON object on one line ({error})") from error
        yield [_text(content.get(name)) for name in layout.columns]


def _object(line: str) -> dict[str, Any]:
    """Read a line of JSON; its numbers are strings, as they are written."""
    try:
        content = json.loads(line, parse_float=str, parse_int=str)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(content, dict):
        raise ValueError(f"it is a {type(content).__name__}")
    if any(isinstance(value, list | dict) for value in content.values()):
        whole = json.loads(line)
        content |= {key: whole[key] for key, value in content.items() if not isinstance(value, str)}
    return {without_surrogates(name): value for name, value in content.items()}


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return without_surrogates(text)
