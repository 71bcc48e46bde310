"""Items linked and written, in constant memory; and a table linked in one call."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from operator import length_hint
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from canonym.errors import InvalidInput, check_types
from canonym.export.writers import FORMATS
from canonym.io.journal import is_finished
from canonym.io.places import check_paths
from canonym.jobs.input import Entry, Input, Item, TableOptions, count_items, of_types, open_table
from canonym.jobs.output import (
    Layout,
    Output,
    check_output,
    check_workbook,
    format_for,
    layout_of,
    open_output,
)
from canonym.linker import Linker, LinkOptions, as_linker, unread
from canonym.linking.links import Counted, check_options, recorded, unanswered
from canonym.types import Link, Mention

__all__ = ["Summary", "link_table"]

_LOG = logging.getLogger(__name__)


class Summary(NamedTuple):
    """What a job has done.

    Attributes
    ----------
    mentions : int
        Mentions in the output, with those that an interrupted run had linked; 0 where the output
        was finished before.
    empty : int
        Rows of the input without a mention.
    composite : int
        Mentions with several parts that were linked now.
    unread : int
        Mentions in a script or a language that no encoder of the index has learned, linked now:
        their links are guesses.
    first_unread : str
        The first of them.
    unanswered : int
        Mentions of which a second look told nothing, linked now.
    first_problem : str
        Why, of the first of them.
    """

    mentions: int = 0
    empty: int = 0
    composite: int = 0
    unread: int = 0
    first_unread: str = ""
    unanswered: int = 0
    first_problem: str = ""


class ItemOptions(NamedTuple):
    """Which items are linked: annotated mentions of some types, rows with a mention or all."""

    mention_types: Sequence[str] = ()
    skip_empty: bool = False


def link_table(
    linker: Linker | str | Path | None,
    source: str | Path,
    out: str | Path,
    *,
    column: str,
    context_column: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
    format: str | None = None,
    output_encoding: str | None = None,
    columns: Sequence[str] | None = None,
    one_row: bool = False,
    explain: bool = False,
    skip_empty: bool = False,
    formula_guard: bool = True,
    overwrite: bool = False,
    resume: bool = False,
    progress: Callable[[str, int, int | None], None] | None = None,
    **options: Unpack[LinkOptions],
) -> Summary:
    """Link a column of a table file; write the table with the links in new columns.

    Does what ``canonym link --file SOURCE --column COLUMN -o OUT`` does, to the same bytes:
    delimiter, encoding, line ends and quotes of text are kept, and a workbook is copied with
    everything in it. Memory is constant, but for workbooks, which are written at the end.

    Parameters
    ----------
    linker : Linker, str or Path, or None
        A linker, the folder or the name of an index, or None for ICD-10-CM.
    source : str or Path
        CSV, TSV or other delimited text with a header, plain or compressed; or a workbook (.xlsx,
        .ods).
    out : str or Path
        The file to write, which is whole or absent.
    column : str
        The column with the mentions.
    context_column : str, optional
        A column with text around the mention, to look for abbreviations.
    delimiter, encoding : str, optional
        Of delimited text; found by default. An encoding other than UTF-8 is logged.
    sheet : str, optional
        Sheet of a workbook; by default the first that is visible.
    header_row : int, optional
        Row of the sheet that names the columns, from 1; by default found below titles.
    format : str, optional
        ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"parquet"`` or ``"xlsx"``; by default as the suffix of
        `out` says.
    output_encoding : str, optional
        Of CSV and TSV; by default that of the source.
    columns : sequence of str, optional
        Which columns of the result to write, without their prefix, or ``["all"]``: see
        `canonym.export.COLUMNS`. By default those that most people need; Parquet has all.
    one_row : bool
        Whether the parts of a composite mention share a row, as they always do in workbooks.
    explain : bool
        Whether there is a column with an explanation of each link.
    skip_empty : bool
        Whether rows without a mention are left out.
    formula_guard : bool
        Whether texts of the result that a spreadsheet may take for a formula are written behind an
        apostrophe in CSV and TSV.
    overwrite : bool
        Whether a file that exists may be replaced.
    resume : bool
        Whether to go on where a call with the same arguments was interrupted; what it has done is
        in ``OUT.partial``. Workbooks and Parquet cannot be resumed, and a finished `out` is left.
    progress : function of a str, an int and an int or None, optional
        Called with the stage, the rows done, and the lines of the source where they can be counted.
    **options
        See `LinkOptions`. `k` is 1 by default for CSV, TSV and workbooks, else 5.

    Returns
    -------
    Summary
        Counts of mentions.

    Raises
    ------
    InvalidInput
        If an argument or the source cannot be used, or `out` is the source, or exists and is
        neither replaced nor resumed.
    Mismatch
        If the interrupted call had other arguments, another index or another source.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from canonym import Concept, Linker, Terminology, link_table
    >>> linker = Linker.build(Terminology.build([Concept("X:1", "Asthma")]), encoders=["chargrams"])
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "visits.csv").write_text('"visit";"dx"\\n"1";"asthmas"\\n')
    >>> link_table(linker, folder / "visits.csv", folder / "linked.csv", column="dx").mentions
    1
    >>> print((folder / "linked.csv").read_text()[:61])
    "visit";"dx";"canonym_row";"canonym_part";"canonym_rank";"can
    """
    check_paths(source, out=out)
    table = TableOptions(column, context_column, delimiter, sheet, header_row)
    check_types(str, "the name of a column", column=column)
    check_types(str | None, "the name of a column", context_column=context_column)
    texts = {"delimiter": delimiter, "sheet": sheet, "encoding": encoding}
    check_types(str | None, "a string", **texts, output_encoding=output_encoding)
    check_types(Integral | None, "a whole number", header_row=header_row)
    flags = {"explain": explain, "one_row": one_row, "formula_guard": formula_guard}
    others = {"skip_empty": skip_empty, "overwrite": overwrite, "resume": resume}
    check_types(bool, "True or False", **flags, **others)
    check_types(Callable | None, "a function", progress=progress)
    checked = check_options(options)
    format = format_for(out) if format is None else format
    if format not in (*FORMATS, "xlsx"):
        raise InvalidInput(f"format={format!r} is unknown; use one of {', '.join(FORMATS)}, xlsx")
    inputs = (str(source), str(linker) if isinstance(linker, str | Path) else None)
    check_output(out, format, inputs, overwrite=overwrite, resume=resume)
    if resume and is_finished(out):
        _LOG.info("%s is finished: there is nothing to do", out)
        return Summary()
    with open_table(Path(source), table, encoding) as content:
        k = options.get("k")
        written: dict[str, Any] = {"output_encoding": output_encoding, "keys": columns, **flags}
        layout = layout_of(content, format, k, **written)
        check_workbook(format, str(out), layout.sheet)
        opened = as_linker(linker)
        layout = layout.of_linker(opened)
        checked["k"] = runner_up(layout.k)
        of_items = ItemOptions(skip_empty=skip_empty)
        settings = settings_of(opened, layout, checked, of_items, table)
        total = count_items(source, content) if progress else None

        def report(done: int) -> None:
            if progress:
                progress("Linking", done, total)

        with open_output(out, layout, settings, overwrite=overwrite, resume=resume) as output:
            return link_items(opened, content, output, checked, of_items, report)


def runner_up(k: int) -> int:
    """Return how many candidates `k` take: the margin needs a second one."""
    return max(k, 2)


def link_items(
    linker: Linker,
    content: Input,
    out: Output,
    options: Mapping[str, Any],
    of_items: ItemOptions,
    report: Callable[[int], None] = lambda _: None,
) -> Summary:
    """Link items and write their links, in order; leave out those that `out` has already.

    `options` are those of `canonym.LinkOptions`, and `report` gets the number of items done.
    """
    detailed = _LOG.isEnabledFor(logging.DEBUG)
    empty = composite = n_unread = lacking = 0
    first = first_problem = ""

    def to_link() -> Iterator[Item]:
        nonlocal empty
        for item in of_types(content.items, of_items.mention_types):
            blank = isinstance(item, Entry) and item.is_blank
            empty += blank
            if not (blank and of_items.skip_empty):
                yield item

    with contextlib.closing(_link(linker, content, out.remaining(to_link()), options)) as linked:
        for n, (item, links) in enumerate(linked, start=out.n_items + 1):
            for link in links:
                if detailed:
                    says = ", ".join(link.ids) or f"NIL, {link.reason}"
                    _LOG.debug("%r: %s", link.mention.text, says)
                composite += bool(link.parts)
                if unread(linker, [link]):
                    n_unread += 1
                    first = first or link.mention.text
                if problem := unanswered(link):
                    lacking += 1
                    first_problem = first_problem or problem
            out.write(item, links)
            report(n)
    return Summary(out.n_links, empty, composite, n_unread, first, lacking, first_problem)


def settings_of(
    linker: Linker,
    layout: Layout,
    options: Mapping[str, Any],
    of_items: ItemOptions,
    table: TableOptions,
) -> dict[str, Any]:
    """Return everything the output depends on beside the input, JSON-able."""
    settings = {
        **recorded(linker.fingerprint, options),
        "header": layout.columns,
        "columns": list(layout.keys),
        **table._asdict(),
        "mention types": list(of_items.mention_types),
        "format": layout.format,
        "k": layout.k,
        "explain": layout.explain,
        "one_row": layout.one_row,
        "skip_empty": of_items.skip_empty,
        "formula_guard": layout.formula_guard,
    }
    for name, value in layout.style._asdict().items():
        settings[f"{name.replace('_', ' ')} of the output"] = value
    _LOG.debug("Settings: %s", settings)
    return settings


def _link(
    linker: Linker, content: Input, items: Iterable[Any], options: Mapping[str, Any]
) -> Generator[tuple[Item, Sequence[Link]]]:
    """Yield each item with its links, in order."""
    n = _n_items(content) if options.get("second_look") else 0
    if content.documents:
        yield from linker.link_documents(Counted(items, n), **options)
        return
    waiting: deque[Entry] = deque()  # as many as the linker takes at once

    def mentions() -> Iterator[Mention]:
        for entry in items:
            waiting.append(entry)
            yield entry.mention

    for link in linker.link_stream(Counted(mentions(), n), **options):
        entry = waiting.popleft()
        yield entry, (replace(link, nil=True, reason="empty") if entry.is_blank else link,)


def _n_items(content: Input) -> int:
    """Return how many items there are, about, or 0 where only reading them would tell."""
    counted = content.source and content.source.is_file() and count_items(content.source, content)
    return counted or length_hint(content.items)
