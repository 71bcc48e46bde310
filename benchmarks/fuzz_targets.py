"""What is fuzzed: every reader, with small whole files of each of its formats.

Most of the whole files are those of the tests; ``fuzz_targets.toml`` names them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import click
import numpy as np

from canonym import Linker, Terminology, corpora
from canonym.cli.annotated import open_corpus
from canonym.cli.input import open_input
from canonym.encoders import load_encoder, save_encoder
from canonym.io.files import CHECKSUMS, MANIFEST
from canonym.io.journal import Journal
from canonym.io.streams import open_text
from canonym.io.tables import open_table
from canonym.jobs.input import Entry
from canonym.linking.evidence import EVIDENCE
from canonym.linking.judge import SHIPPED, Judge
from canonym.linking.verify import verify_index
from canonym.terminology import read_records
from canonym.terminology.overlay import OVERLAY
from canonym.training.loop.checkpoints import Checkpoint, read_newest, write_checkpoint
from canonym.types import Mention
from fuzz_mutation import (
    PACKERS,
    Change,
    mutate_json,
    mutate_member,
    mutate_packed,
    mutate_sqlite,
)
from record import settings_of  # finds the tests
from tests.contracts import test_encoder_contract as encoders
from tests.contracts.test_reader_contract import SOURCES, source_files
from tests.corpora import test_annotated_tables as annotated
from tests.corpora import test_bioc as bioc
from tests.corpora import test_concept_files as concepts
from tests.corpora import test_pubtator as pubtator
from tests.encoders import test_word_vectors as vectors
from tests.io.making import make_ods, make_xlsx, ods_row, with_shared_texts
from tests.linking.test_verify import ASKED, MENTIONS, RECORDS
from tests.reproduce.readers import test_trials as trials
from tests.terminology.readers import test_obo as obo

Read = Callable[[Path], object]
JSON = (mutate_json,)


class Case(NamedTuple):
    """Whole files, and how they are read.

    ``source`` is what ``read`` is given, ``files`` are those to be damaged. ``changes`` know the
    form of the content; ``is_changed`` says that reading changes the files.
    """

    source: Path
    files: dict[Path, bytes]
    read: Read
    changes: tuple[Change, ...] = ()
    is_changed: bool = False


Make = Callable[[Path], list[Case]]


def all_of(read: Callable[..., Iterable[object]], **options: Any) -> Read:
    """Read everything that a reader yields."""
    return lambda path: sum(1 for _ in read(path, **options))


def one_file(
    read: Read, *contents: str | bytes, suffix: str = "", changes: tuple[Change, ...] = ()
) -> Make:
    """A reader of one file, with the contents it may have."""

    def make(folder: Path) -> list[Case]:
        cases = []
        for number, content in enumerate(contents):
            path = folder / f"{number}{suffix}"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            cases.append(Case(path, {path: path.read_bytes()}, read, changes))
        return cases

    return make


def one_folder(read: Read, files: Mapping[str, str], changes: tuple[Change, ...] = ()) -> Make:
    """A reader of a folder of files."""

    def make(folder: Path) -> list[Case]:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        return [Case(folder, files_in(folder), read, changes)]

    return make


def files_in(folder: Path) -> dict[Path, bytes]:
    """The files of a folder that have content, the larger ones of an encoder left out."""
    found = {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
    return {file: content for file, content in found.items() if content}


def several(*makes: Make) -> Make:
    """The cases of several, each in a folder of its own."""

    def make(folder: Path) -> list[Case]:
        cases = []
        for number, each in enumerate(makes):
            (folder / str(number)).mkdir()
            cases += each(folder / str(number))
        return cases

    return make


# --- terminologies --------------------------------------------------------------------------------


def terminology(name: str, *more: str | bytes, changes: tuple[Change, ...] = ()) -> Make:
    """The reader of a format, with the source that it has in the tests, and further ones."""
    files, read = source_files(name, 2), all_of(read_records, format=name)
    if list(files) == [""]:
        return one_file(read, files[""], *more, changes=changes)
    return one_folder(read, files)


TREES = "descriptor_ui\ttree_number\nT:1\tC01\nT:2\tC01.100\n"


def tables(folder: Path) -> list[Case]:
    """The reader of tables, with columns found or named, and with a file of trees."""
    read = all_of(read_records, format="table")
    rows = source_files("table", 3)[""]
    csv = 'id,name,synonyms\nT:1,"hip, ""broken""",a|b\nT:2,"two\nlines",\n'
    named = {"id_column": "2", "name_column": "1", "header": False, "skip_incomplete": True}
    cases = one_file(read, rows, csv, csv.replace(",", ";"), source_files("table", 1)[""])(folder)
    bare = one_file(all_of(read_records, format="table", **named), "hip\tT:1\nrash\tT:2\n")
    table, trees = folder / "table", folder / "trees"
    table.write_text(rows)
    trees.write_text(TREES)
    with_trees = all_of(read_records, format="table", trees=trees, tree_types=True)
    (folder / "bare").mkdir()
    return [*cases, *bare(folder / "bare"), Case(table, {trees: TREES.encode()}, with_trees)]


def recognised(folder: Path) -> list[Case]:
    """Sources of every format, recognised by their content; half are made a terminology."""

    def build(path: Path) -> None:
        Terminology.build(read_records(path)).close()

    makes = [
        one_file(read, files[""]) if "" in files else one_folder(read, files)
        for files in (source_files(name, 2) for name in SOURCES)
        for read in (build, all_of(read_records))
    ]
    return several(*makes)(folder)


# --- tables and compressed files ------------------------------------------------------------------


def read_whole_table(path: Path, **form: Any) -> None:
    """Read every row of a table."""
    with open_table(path, **form) as table:
        for _ in table.rows:
            pass


def read_column(path: Path) -> None:
    """Read the mentions of one column."""
    with corpora.read_table(path, column="mention", context_column="context") as table:
        for _ in table:
            pass


def read_lines(path: Path) -> None:
    """Read the lines of a text file."""
    with open_text(path) as lines:
        for _ in lines:
            pass


def parquet(folder: Path) -> list[Case]:
    """Parquet files, read as a plain table, a terminology, and annotated mentions."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"id": ["D1", "D2"], "mention": ["hip", "rash"], "ids": [["D1"], []]})
    terms = pa.table({"id": ["D1", "D2"], "name": ["hip", "rash"]})
    cases = []
    for number, (rows, read) in enumerate(
        (
            (table, read_whole_table),
            (table, all_of(corpora.read_annotated_table)),
            (terms, all_of(read_records, format="table")),
        )
    ):
        written = io.BytesIO()
        pq.write_table(rows, written)
        cases += one_file(read, written.getvalue(), suffix=f"-{number}.parquet")(folder)
    return cases


def workbooks(folder: Path) -> list[Case]:
    """Workbooks of both forms, read as a terminology and as annotated mentions."""
    rows = [["id", "name", "mention", "ids"], ["D1", "hip", "hip", "D1"], [2, 1.5, True, None]]
    cells = "".join(
        ods_row(*(str(cell or "") for cell in row), repeated=1 + (row is rows[-1])) for row in rows
    )
    xlsx = make_xlsx(folder / "a.xlsx", {"one": rows, "two": [["x"], ["=1+1"]]})
    shared = with_shared_texts(make_xlsx(folder / "b.xlsx", {"one": rows}))
    ods = make_ods(folder / "a.ods", {"one": cells, "two": ods_row("x")}, hidden="two")
    return [
        case
        for path in (xlsx, shared, ods)
        for read in (all_of(read_records, format="table"), all_of(corpora.read_annotated_table))
        for case in [Case(path, {path: path.read_bytes()}, read, (mutate_member,))]
    ]


def packed(folder: Path) -> list[Case]:
    """Compressed text, damaged before and after it was compressed."""
    text = source_files("medic", 20)[""].encode()
    cases = one_file(read_lines, *(pack(text) for pack in PACKERS.values()))(folder)
    plain = Case(folder / "plain", {folder / "plain": text}, read_lines, (mutate_packed,) * 3)
    plain.source.write_bytes(text)
    return [*cases, plain, plain, plain]


# --- corpora and other input ----------------------------------------------------------------------

DOCUMENTS, JSON_MENTIONS = (
    Path(__file__).with_name(f"fuzz_{kind}.jsonl").read_text(encoding="utf-8")
    for kind in ("documents", "mentions")
)
BIOC_JSON = json.dumps({"documents": [{"id": 7, "passages": [bioc.passage()]}]})
STUDIES = json.dumps({"studies": [trials.STUDY]})
TRIAL_TABLE = "\t".join(trials.COLUMNS) + "\n" + "\t".join(trials.ROW) + "\n"
AACT = {f"{name}.txt": text for name, text in trials.AACT.items()}
CORPORA = (
    *(pubtator.TWO, bioc.XML, BIOC_JSON, concepts.LINES, DOCUMENTS, JSON_MENTIONS, annotated.CSV),
)
PACKED_GROUPS = PACKERS["gz"](b'{"D1": ["hip", "leg"]}')
WORD_VECTORS = (
    *(vectors.text_form(), vectors.text_form(header=False), vectors.binary_form()),
    vectors.fasttext_form(["heart", "flu"], vectors.VECTORS, n_buckets=2),
)


@contextmanager
def command() -> Iterator[None]:
    """Read as a command does, without its remarks on standard error."""
    with click.Context(click.Command("link")), redirect_stderr(io.StringIO()):
        yield


def read_input(path: Path) -> None:
    """Read a file as ``canonym link --file`` does."""
    with command(), open_input([], str(path)) as given:
        for _ in given.items:
            pass


def read_corpus(path: Path) -> None:
    """Read a corpus as ``canonym evaluate`` does."""
    with command():
        open_corpus(str(path))


RESUMED = [Entry(Mention(f"name {n}")) for n in range(4)]


def resume(target: Path) -> None:
    """Go on with an output file, as ``canonym link --resume`` does, and stop."""
    journal = Journal(target, {"k": 3, "fingerprint": "f"}, resume=True)
    try:
        for item in RESUMED:
            journal.skip(item)
        journal.check_skipped()
    finally:
        journal.stop()


def resumed(folder: Path) -> list[Case]:
    """An output file that was interrupted after three of four mentions."""
    target = folder / "out.tsv"
    journal = Journal(target, {"k": 3, "fingerprint": "f"}, resume=False)
    for item in RESUMED[:3]:
        journal.begin()
        journal.stream.write(f"{item}\n")
        journal.done(item, 1)
    journal.stop()
    return [Case(target, files_in(folder), resume, JSON, is_changed=True)]


# --- indexes and encoders -------------------------------------------------------------------------


class WrongAnswerError(Exception):
    """An index that is whole by its verification answers otherwise."""


def answers(folder: Path) -> list[object]:
    """Open an index and link with it."""
    linker = Linker.load(folder)
    return [(link.id, [one.id for one in link.candidates]) for link in linker.link(ASKED, k=3)]


def make_index(folder: Path, **options: Any) -> Path:
    """Build an index with every kind of file."""
    given: dict[str, Any] = {"encoders": ["chargrams"], "spelling": True}
    linker = Linker.build(Terminology.build(RECORDS), folder=folder, **given | options)
    linker.synonyms.add("cracked hip", "X:2")
    return folder


def indexes(folder: Path) -> Iterator[Path]:
    """Two small indexes: sparse with targets, and dense."""
    yield make_index(folder / "sparse", mentions=MENTIONS, search="D-T + OD-C")
    yield make_index(folder / "dense", encoders=[encoders.make_static_with_ngrams(folder)])


def verified(folder: Path) -> list[Case]:
    """Indexes with checksums: what passes the verification answers as before."""
    cases = []
    for index in indexes(folder):
        right = answers(index)

        def read(path: Path, right: list[object] = right) -> None:
            sound = not verify_index(path).findings
            if answers(path) != right and sound:
                raise WrongAnswerError

        files = files_in(index)
        del files[index / OVERLAY]
        cases.append(Case(index, files, read))
    return cases


def unsigned(folder: Path) -> list[Case]:
    """Indexes of an earlier version, without checksums: any answer, but no traceback."""
    cases = []
    for index in indexes(folder):
        for file in index.rglob(CHECKSUMS):
            file.unlink()
        files = files_in(index)
        for name in ("terminology.db", OVERLAY):
            del files[index / name]
        cases.append(Case(index, files, answers))
        texts = {file: files[file] for file in files if file.suffix == ".json"}
        cases.append(Case(index, texts, answers, JSON))
    return cases


def manifests(folder: Path) -> list[Case]:
    """The manifest and the checksums of an index, which verification looks at first."""
    index = make_index(folder / "index")
    files = {index / name: (index / name).read_bytes() for name in (MANIFEST, CHECKSUMS)}

    def read(path: Path) -> None:
        verify_index(path)
        answers(path)

    return [Case(index, files, read, JSON)]


def databases(folder: Path) -> list[Case]:
    """A terminology, with everything that is asked of one."""
    path = folder / "terminology.db"
    records = [*RECORDS, *read_records(obo_file(folder))]
    Terminology.build(records, path).close()

    def read(path: Path) -> None:
        with Terminology(path) as found:
            everything = [*found.iter_concepts(), *found.iter_names(), *found.iter_relations()]
            everything += [*found.iter_xrefs(), *found.iter_texts()]
            found.names("X:1")
            found.resolve("DEMO:11")
            found.concept("X:2")

    return [Case(path, {path: path.read_bytes()}, read, (mutate_sqlite,))]


def obo_file(folder: Path) -> Path:
    """An ontology with everything that a terminology can hold."""
    path = folder / "demo.obo"
    path.write_text(obo.ONTOLOGY)
    return path


def overlays(folder: Path) -> list[Case]:
    """The added names of an index."""
    index = make_index(folder / "index")
    path = index / OVERLAY
    return [Case(index, {path: path.read_bytes()}, answers, (mutate_sqlite,), is_changed=True)]


def judges(folder: Path) -> list[Case]:
    """The shipped judge, with its checksum and without."""

    def read(path: Path) -> None:
        opened = Judge.load(path)
        if opened is not None:
            opened.predict(np.zeros((2, len(EVIDENCE))))

    content = json.loads(SHIPPED.read_text())
    signed = one_file(read, SHIPPED.read_bytes(), suffix=SHIPPED.name, changes=JSON)(folder)
    content.pop("sha256", None)
    plain = [json.dumps(content)] * 3
    return [*signed, *one_file(read, *plain, suffix=f"-{SHIPPED.name}", changes=JSON)(folder)]


def saved(*makes: Callable[[Path], Any]) -> Make:
    """Saved encoders, with checksums and without."""

    def read(folder: Path) -> None:
        load_encoder(folder).encode(["heart attack", "flu 2", ""])

    def make(folder: Path) -> list[Case]:
        cases = []
        for number, one in enumerate(makes):
            for kind in ("signed", "unsigned"):
                place = folder / f"{kind}-{number}"
                save_encoder(one(folder), place)
                if kind == "unsigned":
                    for name in (MANIFEST, CHECKSUMS):
                        (place / name).unlink()
                files = files_in(place)
                cases += [Case(place, files, read)] * (1 if kind == "signed" else 3)
                texts = {file: text for file, text in files.items() if file.suffix == ".json"}
                cases.append(Case(place, texts, read, JSON))
        return cases

    return make


def checkpoints(folder: Path) -> list[Case]:
    """The checkpoints of a training run."""
    arrays = {"w": np.ones((2, 3), np.float32)}
    checkpoint = Checkpoint({"objective": "x"}, {"step": 3, "history": [1.5]}, arrays, arrays, None)
    write_checkpoint(folder, checkpoint, step=3)

    def read(path: Path) -> None:
        read_newest(path, notice=lambda _: None)

    return [Case(folder, files_in(folder), read, JSON)]


# --- all ------------------------------------------------------------------------------------------


def _value(text: Any) -> Any:
    """Return what a name behind ``@`` stands for, or a text without the line break before it."""
    if not isinstance(text, str):
        return text
    return resolve_name(text[1:]) if text.startswith("@") else text.removeprefix("\n")


def _contents(texts: Iterable[str]) -> Iterator[str | bytes]:
    for value in map(_value, texts):
        yield from value if isinstance(value, tuple) else (value,)


def _described(case: Mapping[str, Any]) -> Make:
    """Return what makes the files of an entry of ``fuzz_targets.toml``."""
    changes, contents = JSON if case.get("json") else (), [*_contents(case.get("contents", ()))]
    if "source" in case:
        return terminology(case["source"], *contents, changes=changes)
    read = (
        all_of(resolve_name(case["all"]), **case.get("options", {}))
        if "all" in case
        else resolve_name(case["read"])
    )
    if "folder" in case:
        files = _value(case["folder"])
        return one_folder(read, {name: _value(text) for name, text in files.items()}, changes)
    return one_file(read, *contents, changes=changes)


def _target(cases: Sequence[Mapping[str, Any]]) -> Make:
    def make(folder: Path) -> list[Case]:
        makes = [_described(case) for case in cases]
        return makes[0](folder) if len(makes) == 1 else several(*makes)(folder)

    return make


TARGETS: dict[str, Make] = {
    name: _target(cases) for name, cases in settings_of(__file__).items()
} | {
    "table": tables,
    "recognised": recognised,
    "parquet": parquet,
    "workbook": workbooks,
    "compressed": packed,
    "resume": resumed,
    "manifest": manifests,
    "index": verified,
    "index-unsigned": unsigned,
    "terminology-file": databases,
    "overlay": overlays,
    "judge": judges,
    "encoder-chargrams": saved(encoders.make_chargrams),
    "encoder-static": saved(encoders.make_static, encoders.make_static_with_ngrams),
    "encoder-subword": saved(encoders.make_subword, encoders.make_quantised_subword),
    "encoder-residual": saved(encoders.make_residual),
    "encoder-transformer": saved(encoders.make_transformer),
    "encoder-onnx": saved(encoders.make_onnx),
    "checkpoint": checkpoints,
}
"""Readers by name: a function that writes their whole files into a folder."""
