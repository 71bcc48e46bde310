"""``canonym link`` of a table: what goes in comes out, with columns added."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from canonym.export import COLUMNS
from canonym.types import Candidate, Link, Mention
from tests.cli.running import link, rows
from tests.tables import cases

pytestmark = pytest.mark.usefixtures("linker")


class Linker:
    """Finds every mention but ???, and the parts of those with "und"; stops at `stop_at`."""

    def __init__(self) -> None:
        self.stop_at: str | None = None
        self.label = "=Label"
        self.fingerprint = "f1"
        self.encoder_names = ("default",)
        preparation = SimpleNamespace(vocabulary_coverage=lambda _: 1.0)
        self.pipeline = SimpleNamespace(preparation=preparation)
        self.mentions: list[str] = []

    def link_stream(self, mentions: Iterable[Mention], **_: Any) -> Iterator[Link]:
        for mention in mentions:
            if mention.text == self.stop_at:
                raise KeyboardInterrupt
            self.mentions.append(mention.text)
            yield self.one(mention)

    def one(self, mention: Mention) -> Link:
        text = mention.text
        if " und " in text:
            return Link(mention, parts=tuple(self.one(Mention(one)) for one in text.split(" und ")))
        if not text.strip() or text == "???":
            return Link(mention, nil=True, reason="nothing to look up", searched=text)
        score = 1 / len(text)
        found = (Candidate("X:1", self.label, score, text, "exact", ("T",), "verbatim"),)
        return Link(mention, (*found, Candidate("X:2", "other", score / 2, text)), searched=text)


@pytest.fixture
def linker(monkeypatch: pytest.MonkeyPatch) -> Linker:
    fake = Linker()
    monkeypatch.setattr("canonym.cli.named_indexes.open_linker", lambda *_, **__: fake)
    return fake


def linked(tmp_path: Path, content: bytes, *arguments: str, name: str = "out.csv") -> bytes:
    """Link the column dx of a file; return what is written."""
    (tmp_path / "in.csv").write_bytes(content)
    place = ("--file", str(tmp_path / "in.csv"), "--column", "dx", "-o", str(tmp_path / name))
    link(*place, "--overwrite", *(() if name.endswith("jsonl") else ALL), *arguments)
    return (tmp_path / name).read_bytes()


ALL = ("--columns", "all")


def without_ours(written: str, delimiter: str, n: int) -> str:
    """Cut the added columns off, of cells without delimiters and line ends."""
    lines = written.splitlines(keepends=True)
    ends = (line[len(line.rstrip("\r\n")) :] for line in lines)
    return "".join(
        delimiter.join(line.split(delimiter)[:n]) + end
        for line, end in zip(lines, ends, strict=True)
    )


# --- the form of the table ------------------------------------------------------------------------

GERMAN = 'Nr;dx;"Größe"\r\n"1";Gürtelrose;-5\r\n2;"Sjögren";""\r\n3;;+49 17\r\n'


@pytest.mark.parametrize("delimiter", [";", ",", "|", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_a_table_comes_out_as_it_went_in(
    tmp_path: Path, delimiter: str, encoding: str, end: str, last: bool
) -> None:
    text = GERMAN.replace(";", delimiter).replace("\r\n", end)
    text = text if last else text.removesuffix(end)
    name = "out.tsv" if delimiter == "\t" else "out.csv"
    written = linked(tmp_path, text.encode(encoding), name=name)
    assert written.startswith(b"\xff\xfe") == (encoding == "utf-16")
    assert written.startswith(b"\xef\xbb\xbf") == (encoding == "utf-8-sig")
    found = written.decode(encoding)
    assert without_ours(found, delimiter, 3) == text
    first = found.split(end)[1].split(delimiter)[3:]
    assert first[:7] == ["1", "", "1", "X:1", "'=Label", "0.1", "Gürtelrose"]
    rest = ["exact", "verbatim", "T", "0.05", "", "false", "", "Gürtelrose", "", "1", ""]
    assert first[7:] == rest


def test_a_pipe_gets_the_same_bytes_as_a_file(tmp_path: Path) -> None:
    content = GERMAN.encode("cp1252")
    whole = linked(tmp_path, content)
    from_file = link("--file", tmp_path / "in.csv", "--column", "dx", *ALL)
    assert from_file.stdout_bytes == whole
    piped = link("--column", "dx", *ALL, input=content)
    assert piped.stdout_bytes == whole
    assert piped.stderr.startswith("standard input is not UTF-8 and is read as Windows-1252")
    given = link("--column", "dx", "--encoding", "cp1252", *ALL, input=content)
    assert given.stdout_bytes == whole
    assert "Windows" not in given.stderr


@pytest.mark.parametrize(("encoding", "given"), [("utf-8", "utf-8-sig"), ("utf-16-le", "utf-16")])
def test_a_mark_that_was_not_there_is_not_written(
    tmp_path: Path, encoding: str, given: str
) -> None:
    written = linked(tmp_path, GERMAN.encode(encoding), "--encoding", given)
    assert without_ours(written.decode(encoding), ";", 3) == GERMAN


def test_line_ends_inside_cells_and_mixed_ones_are_kept(tmp_path: Path) -> None:
    text = 'dx,note\r\nhip,"a\nb"\nknee,"c\r\nd"\r\n'
    written = linked(tmp_path, text.encode()).decode()
    assert written.startswith("dx,note,canonym_row,")
    assert '\r\nhip,"a\nb",1,' in written
    assert '\nknee,"c\r\nd",2,' in written
    assert written.endswith("\r\n")
    assert written.count("\r\n") == 3


def test_where_all_cells_are_quoted_the_new_ones_are(tmp_path: Path) -> None:
    lines = linked(tmp_path, b'"id","dx"\n"1","hip"\n').decode().splitlines()
    assert lines[0].startswith('"id","dx","canonym_row","canonym_part",')
    assert lines[1].startswith('"1","hip","1","","1","X:1",')
    lines = linked(tmp_path, b'id,"dx"\n"1","hip"\n').decode().splitlines()
    assert lines[0].startswith('id,"dx",canonym_row,')
    assert lines[1].startswith('"1","hip",1,,1,X:1,')


def test_new_cells_are_quoted_where_the_delimiter_is_in_them(
    linker: Linker, tmp_path: Path
) -> None:
    linker.label = 'hip; "left"'
    written = linked(tmp_path, b"id;dx\n1;hip\n").decode()
    assert ';X:1;"hip; ""left""";' in written
    linker.label = "hip, left"
    assert ";X:1;hip, left;" in linked(tmp_path, b"id;dx\n1;hip\n").decode()


def test_another_format_has_another_delimiter_and_the_rest_stays(tmp_path: Path) -> None:
    written = linked(tmp_path, b'id;dx\r\n"1";"h\xfcp;x"', name="out.tsv")
    assert written.split(b"\tcanonym_row")[0] == b"id\tdx"
    assert b"\r\n1\th\xfcp;x\t1\t" in written
    assert written.endswith(b"h\xfcp;x\t\t1\t")
    written = linked(tmp_path, b'id\tdx\n1\t6" tear, left\n', name="out.csv")
    assert written.startswith(b"id,dx,canonym_row")
    assert b'\n1,"6"" tear, left",1,' in written
    assert linked(tmp_path, b"id|dx\n1|hip\n").startswith(b"id|dx|canonym_row|")


def test_the_encoding_of_the_output_can_be_chosen(tmp_path: Path) -> None:
    content = GERMAN.encode("cp1252")
    written = linked(tmp_path, content, "--output-encoding", "utf-8-sig")
    assert without_ours(written.decode("utf-8-sig"), ";", 3) == GERMAN
    assert written.startswith(b"\xef\xbb\xbfNr;")
    plain = linked(tmp_path, GERMAN.encode("utf-8-sig"), "--output-encoding", "utf-8")
    assert plain.startswith(b"Nr;")
    names = link("hüp", "--output-encoding", "latin-1", "--format", "csv").stdout_bytes
    assert b",h\xfcp," in names


def test_what_the_encoding_cannot_write_is_named(linker: Linker, tmp_path: Path) -> None:
    linker.label = "α-thalassaemia"
    (tmp_path / "in.csv").write_bytes("dx\nhip\nhüp\n".encode("cp1252"))
    place = ("--file", str(tmp_path / "in.csv"), "--column", "dx", "-o", str(tmp_path / "o.csv"))
    failed = link(*place, code=2).stderr
    assert "'α' in " in failed
    assert "cannot be written in cp1252" in failed
    assert "--format-option encoding=utf-8-sig" in failed
    assert [file.name for file in tmp_path.iterdir()] == ["in.csv"]
    assert (
        "thalassaemia" in linked(tmp_path, b"dx\nh\xfcp\n", "--output-encoding", "utf-8").decode()
    )
    (tmp_path / "in.csv").write_text("α,dx\n")
    assert "'α' in" in link(*place, "--output-encoding", "cp1252", code=2).stderr


@cases("arguments", "problem")
def test_options_that_make_no_sense_are_refused(arguments: tuple[str, ...], problem: str) -> None:
    assert problem in link("hip", *arguments, code=2).stderr


# --- encodings that are found ---------------------------------------------------------------------


def test_an_encoding_that_is_found_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    for encoding, said in (
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("cp1252", f"{file} is not UTF-8 and is read as Windows-1252 (cp1252); if letters look "
                   "wrong, name its encoding with --input-option encoding.\n"),
        ("utf-16", f"{file} is read as UTF-16-LE, which its byte order mark announces.\n"),
    ):  # fmt: skip
        file.write_bytes("dx\nSjögren\n".encode(encoding))
        assert link("--file", file, "--column", "dx").stderr == said
        assert link("--file", file, "--column", "dx", "-q").stderr == ""


def test_lines_of_names_are_windows_1252_too(linker: Linker, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_bytes("hip\nSjögren\n".encode("cp1252"))
    for done in (link("--file", file), link(input=file.read_bytes())):
        assert rows(done.stdout)[1]["mention"] == "Sjögren"
        assert "is read as Windows-1252" in done.stderr
    assert linker.mentions[-1] == "Sjögren"


def test_a_stream_that_turns_out_late_is_named_at_the_end(
    linker: Linker, monkeypatch: pytest.MonkeyPatch
) -> None:
    del linker
    monkeypatch.setattr("canonym.io.streams._BLOCK", 16)
    done = link(input=b"hip\n" * 20 + b"h\xfcp\n")
    assert rows(done.stdout)[-1]["mention"] == "hüp"
    assert done.stderr.count("is read as Windows-1252") == 1


def test_a_corpus_of_lines_is_windows_1252_too(tmp_path: Path) -> None:
    file = tmp_path / "x.concept"
    file.write_bytes("7||0||7||D||Sjögren||D1\n".encode("cp1252"))
    done = link("--file", file)
    assert rows(done.stdout)[0]["mention"] == "Sjögren"
    assert f"{file} is not UTF-8" in done.stderr
    piped = link(input=file.read_bytes())
    assert rows(piped.stdout)[0]["mention"] == "Sjögren"
    assert "standard input is not UTF-8" in piped.stderr


def test_a_damaged_table_is_refused_from_a_file_and_a_pipe(tmp_path: Path) -> None:
    content = "dx\nà\né\n".encode() + b"\xe9\n"
    (tmp_path / "x.csv").write_bytes(content)
    failed = link("--file", tmp_path / "x.csv", "--column", "dx", code=2).stderr
    assert "x.csv, line 4: the line is not UTF-8, but the file has characters in UTF-8" in failed
    piped = link("--column", "dx", input=content, code=2).stderr
    assert "standard input, line 4: the line is not UTF-8, but" in piped
    assert "standard input: is empty" in link("--column", "dx", input=b"", code=2).stderr


# --- titles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_above_the_header_stay(tmp_path: Path, end: str) -> None:
    text = end.join(("Ward 7", "", 'Printed;"2024"', 'n;"dx"', "1;hip", "")).encode()
    for before in (b"", b"sep=;" + end.encode()):
        written = linked(tmp_path, before + text, "--columns", "code")
        added = (before + text).replace(b'n;"dx"', b'n;"dx";canonym_code')
        assert written == added.replace(b"1;hip", b"1;hip;1")
    assert linked(tmp_path, text, "--columns", "code", name="out.tsv").startswith(b"n\tdx\t")
    failed = link("--file", tmp_path / "in.csv", "--column", "dz", code=2).stderr
    assert "line 1: no column 'dz'" in failed
    (tmp_path / "in.csv").write_bytes(text.replace(b"1;hip", b"1;hip;2"))
    failed = link("--file", tmp_path / "in.csv", "--column", "dx", code=2).stderr
    assert "line 5: 3 cells where the header names 2 columns" in failed


# --- formulas -------------------------------------------------------------------------------------


def test_texts_of_ours_are_guarded_and_cells_of_the_input_are_not(
    linker: Linker, tmp_path: Path
) -> None:
    text = "n,dx\n-5,+hip\n=1+1,@hip\n"
    found = list(csv.DictReader(io.StringIO(linked(tmp_path, text.encode()).decode())))
    assert [(row["n"], row["dx"]) for row in found] == [("-5", "+hip"), ("=1+1", "@hip")]
    assert [row["canonym_label"] for row in found] == ["'=Label"] * 2
    assert [row["canonym_name"] for row in found] == ["'+hip", "'@hip"]
    assert [row["canonym_searched"] for row in found] == ["'+hip", "'@hip"]
    linker.label = "-Label"
    found = rows(linked(tmp_path, text.encode(), "--no-formula-guard").decode(), ",")
    assert [row["canonym_label"] for row in found] == ["-Label"] * 2


def test_mentions_that_are_echoed_are_guarded() -> None:
    text = json.dumps({"mention": "=cmd|' /C calc'!A0", "document": "-7"}) + "\n"
    (found,) = rows(link(*ALL, input=text).stdout)
    assert (found["mention"], found["document"]) == ("'=cmd|' /C calc'!A0", "'-7")
    (found,) = rows(link("--no-formula-guard", *ALL, input=text).stdout)
    assert (found["mention"], found["document"]) == ("=cmd|' /C calc'!A0", "-7")
    explained = rows(link("--", "-hip").stdout)
    assert explained[0]["mention"] == "'-hip"
    assert json.loads(link("--format", "jsonl", "--", "-hip").stdout)["mention"] == "-hip"


# --- rows without a mention -----------------------------------------------------------------------

EMPTY = "n,dx\n1,hip\n2,\n3,  \n4,NaN\n5,NA\n"


def test_rows_without_a_mention_are_kept_and_counted(linker: Linker, tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    (tmp_path / "x.csv").write_text(EMPTY)
    done = link("--file", tmp_path / "x.csv", "--column", "dx", "-o", out)
    assert [
        (row["n"], row["dx"], row["canonym_id"], row["canonym_reason"])
        for row in rows(out.read_text(), ",")
    ] == [
        ("1", "hip", "X:1", ""),
        ("2", "", "", "empty"),
        ("3", "  ", "", "empty"),
        ("4", "NaN", "", "empty"),
        ("5", "NA", "X:1", ""),
    ]
    assert done.stderr == f"5 mentions are in {out}.\n3 rows without a mention.\n"
    assert linker.mentions == ["hip", "", "  ", "", "NA"]


SKIP = ("--format-option", "skip-empty=yes")


def test_rows_without_a_mention_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(EMPTY)
    done = link("--file", tmp_path / "x.csv", "--column", "dx", *SKIP, *ALL)
    assert [(row["n"], row["canonym_row"]) for row in rows(done.stdout, ",")] == [
        ("1", "1"),
        ("5", "2"),
    ]
    assert done.stderr == "3 rows without a mention, left out.\n"
    lines = link(*SKIP, input="hip\n\nhip\n")
    assert (len(rows(lines.stdout)), lines.stderr) == (2, "1 row without a mention, left out.\n")
    failed = link(*SKIP, input="1|t|nothing\n", code=2).stderr
    assert "--format-option skip-empty goes with names, lines and tables" in failed


def test_blank_lines_of_a_table_with_one_column_are_rows(tmp_path: Path) -> None:
    written = linked(tmp_path, b"dx\nhip\n\nknee\n").decode().splitlines()
    assert [line.split(",")[:2] for line in written[1:]] == [
        ["hip", "1"],
        ["", "2"],
        ["knee", "3"],
    ]


# --- composite mentions ---------------------------------------------------------------------------


def test_parts_have_a_row_each_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"n,dx\r\n1,a und bb")
    done = link("--file", tmp_path / "x.csv", "--column", "dx")
    text = done.stdout_bytes.decode()
    assert text.count("\r\n") == 2
    assert not text.endswith("\n")  # neither did the input
    assert [row["canonym_part"] for row in rows(text, ",")] == ["a", "bb"]
    assert "--one-row writes one row for each" in done.stderr


def test_parts_can_share_a_row() -> None:
    text = "n,dx\n1,a und ??? und bb\n2,hip\n3,??? und ???\n"
    done = link("--one-row", "--column", "dx", *ALL, input=text)
    first, second, third = rows(done.stdout, ",")
    assert first["canonym_part"] == "a|???|bb"
    assert first["canonym_id"] == "X:1||X:1"
    assert first["canonym_label"] == "'=Label||=Label"
    assert (first["canonym_score"], first["canonym_margin"]) == ("0.5", "0.25")
    assert (first["canonym_rank"], first["canonym_types"]) == ("1", "T")
    assert (first["canonym_nil"], first["canonym_reason"]) == ("false", "nothing to look up")
    assert (second["canonym_id"], second["canonym_part"]) == ("X:1", "")
    assert (third["canonym_id"], third["canonym_rank"]) == ("", "")
    assert done.stderr == ""


def test_parts_share_a_row_in_parquet(tmp_path: Path) -> None:
    from pyarrow import parquet

    file = tmp_path / "x.parquet"
    link("hip", "a und bb", "--one-row", "-o", file)
    table = parquet.read_table(file)
    assert table["id"].to_pylist() == ["X:1", "X:1|X:1"]
    assert table["score"].to_pylist() == [0.333333, 0.5]


# --- which columns --------------------------------------------------------------------------------

FEW = ["id", "code", "label", "confidence", "status", "left_over", "reason"]
ROWS = ["row", "part", "rank"]


def test_a_table_has_a_few_columns_and_others_by_name(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("n,dx\n1,a und ???\n")
    table = ("--file", str(file), "--column", "dx")
    first, second = rows(link(*table).stdout, ",")
    assert list(first) == ["n", "dx", *(f"canonym_{name}" for name in ROWS + FEW)]
    assert (first["canonym_id"], first["canonym_code"]) == ("X:1", "1")
    assert second["canonym_reason"] == "nothing to look up"
    (whole,) = rows(link(*table, "--one-row").stdout, ",")
    assert list(whole) == ["n", "dx", *(f"canonym_{name}" for name in FEW)]
    assert (whole["canonym_code"], whole["canonym_left_over"]) == ("1|", "???")
    chosen = link(*table, "--one-row", "--columns", "score, canonym_code").stdout.splitlines()
    assert chosen == ["n,dx,canonym_score,canonym_code", "1,a und ???,1,1|"]
    alternatives = link(*table, "-k", "2").stdout.splitlines()[0].split(",")[2:]
    expected = [*ROWS, *FEW[:3], "score", *FEW[3:]]
    assert alternatives == [f"canonym_{name}" for name in expected]


def test_lists_have_all_columns_in_the_places_of_before() -> None:
    names = link("hip").stdout.splitlines()[0].split("\t")
    assert names == link("hip", "--columns", "all").stdout.splitlines()[0].split("\t") == [*COLUMNS]
    assert [names.index(name) for name in ("mention", "id", "confidence", "status")] == [
        5,
        8,
        16,
        20,
    ]
    assert names[21:] == ["code", "left_over"]


@cases("columns", "problem")
def test_columns_that_are_not_there_are_named(columns: str, problem: str) -> None:
    assert problem in link("hip", "--columns", columns, code=2).stderr.replace("\n", " ")
    refused = link("hip", "--columns", "id", "--format", "jsonl", code=2).stderr
    assert "--columns goes with --format tsv, csv, parquet, xlsx, not jsonl" in refused


# --- a run that was stopped -----------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    "arguments",
    [(), ("--skip-empty", "--one-row", "--no-formula-guard", "--output-encoding", "utf-16")],
)
def test_a_stopped_run_goes_on_to_the_same_bytes(
    linker: Linker, tmp_path: Path, encoding: str, arguments: tuple[str, ...]
) -> None:
    cells = ["hüp", "", "a und b", "NaN", "=x", "stop", "knee"]
    text = '"dx";"n"' + "".join(f'\r\n"{cell}";"{n}"' for n, cell in enumerate(cells))
    whole = linked(tmp_path, text.encode(encoding), *arguments)
    out = tmp_path / "again.csv"
    place = ("--file", str(tmp_path / "in.csv"), "--column", "dx", "-o", str(out), *arguments)
    linker.stop_at = "stop"
    link(*place, *ALL, code=130)
    linker.stop_at = None
    linker.mentions.clear()
    assert "another --columns" in link(*place, "--resume", code=2).stderr
    link(*place, *ALL, "--resume")
    assert linker.mentions == ["stop", "knee"]
    assert out.read_bytes() == whole


@cases("change", "problem")
def test_a_stopped_run_does_not_go_on_with_other_options(
    linker: Linker, tmp_path: Path, change: tuple[str, ...], problem: str
) -> None:
    (tmp_path / "x.csv").write_bytes(b"dx\nh\xfcp\nstop\n")
    place = ("--file", str(tmp_path / "x.csv"), "--column", "dx", "-o", str(tmp_path / "o.csv"))
    linker.stop_at = "stop"
    link(*place, code=130)
    assert problem in link(*place, "--resume", *change, code=2).stderr


# --- a first line that names the delimiter --------------------------------------------------------


@cases("line", "delimiter")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_line_that_names_the_delimiter_comes_back(
    tmp_path: Path, linker: Linker, line: str, delimiter: str, end: str, mark: bytes
) -> None:
    given = end.join([line, f"id{delimiter}dx", f"1{delimiter}hip", ""])
    written = linked(tmp_path, mark + given.encode()).removeprefix(mark).decode()
    first, rest = written.split(end, 1)
    assert first == line
    assert linker.mentions == ["hip"]
    assert [row[:2] for row in csv.reader(io.StringIO(rest), delimiter=delimiter)] == [
        ["id", "dx"], ["1", "hip"],
    ]  # fmt: skip
    again = linked(tmp_path, mark + given.encode(), name="again.csv")
    assert again.startswith(mark + line.encode())
    assert again.count(b"\xef\xbb\xbf") == bool(mark)


@pytest.mark.parametrize("line", ["sep=\\t", "sep=\t", '"sep=\t"'])
def test_a_line_that_names_tabs_comes_back_in_tsv(tmp_path: Path, line: str) -> None:
    given = f"{line}\nid\tdx\n1\thip\n".encode()
    assert linked(tmp_path, given, name="out.tsv").decode().startswith(f"{line}\nid\tdx\t")
    assert linked(tmp_path, given, name="out.csv").decode().startswith("id,dx,")


def test_another_delimiter_needs_no_line_that_names_it(tmp_path: Path) -> None:
    given = b"sep=;\nid;dx\n1;hip\n"
    assert linked(tmp_path, given, name="out.tsv").startswith(b"id\tdx\t")
    assert linked(tmp_path, given, name="out.jsonl").startswith(b"{")
    assert b"sep=" not in linked(tmp_path, b"sep=,\nid;dx\n1;hip\n", "--delimiter", ";")


def test_columns_are_named_behind_the_line(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("sep=;\nid;dx\n1;hip\n")
    result = link("--file", tmp_path / "in.csv", code=2)
    assert "'id', 'dx'" in result.stderr
