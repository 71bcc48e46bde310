"""BioSyn's concept files: prepared mentions and their ids, without the texts.

One mention a line, ``document||start|end||type||mention||ids``, also with ``start||end``. Ids are
read as in `canonym.corpora.gold`. The mentions are prepared by BioSyn: lower case, without
punctuation, with abbreviations spelt out. A composite was split only where the gold has several
ids. Offsets are those of the original mention in the document, which the file does not hold.

References
----------
Sung, Jeon, Lee and Kang (2020), Biomedical Entity Representations with Synonym Marginalization.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from canonym.corpora.gold import parse_ids
from canonym.corpora.offsets import whole_number
from canonym.errors import ReadError
from canonym.io.streams import TextStream, open_text
from canonym.io.tables import filled_parts
from canonym.types import Mention


def read_concepts(path: str | Path, *, encoding: str = "utf-8") -> Iterator[Mention]:
    """Read a ``.concept`` file, plain or compressed, or all those of a folder.

    Parameters
    ----------
    path : str or Path
        The file; or a folder, whose ``*.concept`` files are read in the order of their names. An
        empty file of a folder is a document without mentions.
    encoding : str
        Encoding of the text.

    Yields
    ------
    Mention
        In the order of the file; offsets are those of the document.

    Raises
    ------
    ReadError
        If a line has not its five columns, offsets are wrong, a mention is empty, or there is no
        mention at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "test.concept"
    >>> _ = file.write_text("7||0|10||Disease||broken hip||D006620\\n")
    >>> [(mention.text, mention.ids) for mention in read_concepts(file)]
    [('broken hip', ('D006620',))]
    """
    path = Path(path)
    files = sorted(path.glob("*.concept")) if path.is_dir() else [path]
    n = 0
    for file in files:
        if path.is_dir() and not file.stat().st_size:
            continue
        with open_text(file, encoding=encoding) as stream:
            for mention in _parse(stream):
                yield mention
                n += 1
    if not n:
        raise ReadError(
            path, f"holds no mention ({len(files)} .concept files): one a line was expected"
        )


def _parse(stream: TextStream) -> Iterator[Mention]:
    for line in stream:
        if not line.strip():
            continue
        cells = line.rstrip("\n").split("||")
        if len(cells) == 5:
            cells[1:2] = cells[1].split("|")
        if len(cells) != 6:
            raise stream.error(
                f"'document||start|end||type||mention||ids' was expected, found {line[:60]!r}"
            )
        document, start, end, type_, text, written = (cell.strip() for cell in cells)
        span = whole_number(start), whole_number(end)
        if span[0] is None or span[1] is None or span[0] >= span[1]:
            raise stream.error(f"offsets {start[:20]!r} and {end[:20]!r} are no span")
        if not text:
            raise stream.error(f"the mention of document {document!r} is empty")
        ids, rule = parse_ids(written)
        yield Mention(text, *span, type_, ids, rule, document)


def mention_parts(mention: Mention) -> tuple[str, ...]:
    """Return the parts of a composite mention of a concept file: one string, or one per part.

    Their number need not be that of the ids.

    >>> mention_parts(Mention("breast cancer|ovarian cancer"))
    ('breast cancer', 'ovarian cancer')
    """
    return tuple(filled_parts(mention.text.replace("+", "|"))) or (mention.text,)
