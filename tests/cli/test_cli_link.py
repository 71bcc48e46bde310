"""``canonym link``: inputs, outputs, options and failures, with a linker that is known by heart."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from canonym.errors import InvalidInput
from canonym.rules import shipped
from canonym.types import Candidate, Document, Link, Mention, Step
from tests.cli.running import link, rows

pytestmark = pytest.mark.usefixtures("linker")

KNOWN = {
    "heart attack": [("I21", "Acute myocardial infarction", 1.0), ("I22", "Subsequent", 0.5)],
    "broken hip": [("S72", "Fracture of femur", 0.9), ("S79", "Other injuries", 0.8)],
    "hip fracture": [("S72", "Fracture of femur", 0.7)],
}


class Linker:
    """Knows three names; remembers mentions and options."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.mentions: list[Mention] = []
        self.fingerprint = "f1"
        self.encoder_names: tuple[str, ...] = ("default",)
        preparation = SimpleNamespace(vocabulary_coverage=lambda text: float("insulin" in text))
        self.pipeline = SimpleNamespace(book=shipped(), preparation=preparation)

    def link_stream(
        self, mentions: Iterable[str | Mention], *, long: str = "", **options: Any
    ) -> Iterator[Link]:
        self.options = options
        if "Nonsense" in options["types"]:
            raise InvalidInput("type 'Nonsense' is unknown; expected one of A, B")
        stream = iter(mentions)
        while block := [m for _, m in zip(range(3), stream, strict=False)]:  # three at a time
            for mention in block:
                assert isinstance(mention, Mention)
                self.mentions.append(mention)
                yield self.one(mention, long)

    def one(self, mention: Mention, long: str = "") -> Link:
        if " and " in mention.text:
            parts = (self.one(Mention(text)) for text in mention.text.split(" and "))
            return Link(mention, parts=tuple(parts))
        text = long if mention.text == "FH" and long else mention.text
        steps = (Step("abbreviation", "FH", text),) if text != mention.text else ()
        candidates = tuple(
            Candidate(id_, label, score, text, "exact", ("T",), "verbatim", {"default": score})
            for id_, label, score in KNOWN.get(text, [])
        )[: self.options["k"]]
        low = self.options["min_score"]
        nil = not candidates or (low is not None and candidates[0].score < low)
        return Link(mention, candidates, nil, "no name is like it" if nil else "", text, steps)

    def link_documents(
        self, documents: Iterable[Document], **options: Any
    ) -> Iterator[tuple[Document, list[Link]]]:
        for document in documents:
            long = "hip fracture" if "hip fracture (FH)" in document.text else ""
            yield document, list(self.link_stream(document.mentions, long=long, **options))


@pytest.fixture
def linker(monkeypatch: pytest.MonkeyPatch) -> Linker:
    fake = Linker()
    opened: list[Any] = []

    def open_linker(
        index: str | None,
        *,
        everyday: bool,
        device: str | None,
    ) -> Linker:
        assert everyday
        assert device is None
        opened.append(index)
        return fake

    fake.opened = opened  # type: ignore[attr-defined]
    monkeypatch.setattr("canonym.cli.named_indexes.open_linker", open_linker)
    return fake


@pytest.fixture
def names(tmp_path: Path) -> Path:
    file = tmp_path / "names.txt"
    file.write_text("heart attack\n\nbroken hip\nnonsense\n")
    return file


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "visits.csv"
    file.write_text('visit,dx,note\n1,heart attack,"a, b"\n2,FH,hip fracture (FH)\n3,,\n')
    return file


PUBTATOR = """\
1|t|A hip fracture (FH)
1|a|FH and heart attack
1\t16\t18\tFH\tDisease\tD1
1\t20\t22\tFH\tChemical\tD2
1\t20\t39\tFH and heart attack\tDisease\tD1|D2

2|t|nothing here
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "corpus.txt"
    file.write_text(PUBTATOR)
    return file


# --- what goes in ---------------------------------------------------------------------------------


def test_names_as_arguments_are_a_tsv_in_a_pipe() -> None:
    found = rows(link("heart attack", "nonsense", "--columns", "all").stdout)
    assert [(r["row"], r["mention"], r["id"], r["score"], r["nil"]) for r in found] == [
        ("1", "heart attack", "I21", "1", "false"),
        ("2", "nonsense", "", "", "true"),
    ]
    assert found[0]["margin"] == "0.5"
    assert found[1]["reason"] == "no name is like it"


@pytest.mark.parametrize(
    ("encoders", "told"),
    [(("default",), True), (("multilingual",), True), (("multilingual", "universal"), False)],
)
def test_mentions_in_a_script_that_no_encoder_reads_are_told(
    linker: Linker, encoders: tuple[str, ...], told: bool
) -> None:
    linker.encoder_names = encoders
    done = link("heart attack", "грипп", "인플루엔자", "β-thalassaemia")
    assert ("2 mentions are in a language or a script" in done.stderr) == told
    assert "script" not in link("heart attack", "flu").stderr


@pytest.mark.parametrize(
    ("mention", "told"),
    [
        ("dolor de cabeza", True),
        ("Bluthochdruck und Gicht", True),
        ("Hüftfraktur", True),
        ("heart attack", False),
        ("frozen shoulder", False),
        ("not motivated to do anything", False),
        ("Müller's insulin", False),  # has a word of the terminology
    ],
)
def test_mentions_in_another_language_are_told(linker: Linker, mention: str, told: bool) -> None:
    assert ("1 mention is in a language" in link(mention).stderr) is told
    linker.encoder_names = ("default", "multilingual")
    assert "language" not in link(mention).stderr


def test_lines_of_a_file_keep_their_order_and_blank_lines(names: Path) -> None:
    found = rows(link("--file", names, "--columns", "all").stdout)
    assert [(r["row"], r["mention"], r["id"]) for r in found] == [
        ("1", "heart attack", "I21"),
        ("2", "", ""),
        ("3", "broken hip", "S72"),
        ("4", "nonsense", ""),
    ]


@pytest.mark.parametrize("arguments", [(), ("-",), ("--file", "-")])
def test_standard_input_is_read(arguments: tuple[str, ...]) -> None:
    found = rows(link(*arguments, input="\nbroken hip").stdout)
    assert [r["id"] for r in found] == ["", "S72"]


def test_a_column_of_a_table_with_its_context(linker: Linker, table: Path) -> None:
    arguments = ("--file", str(table), "--column", "dx")
    found = rows(link(*arguments, "--format", "csv").stdout, ",")
    assert [(r["visit"], r["dx"], r["note"], r["canonym_id"]) for r in found] == [
        ("1", "heart attack", "a, b", "I21"),
        ("2", "FH", "hip fracture (FH)", ""),
        ("3", "", "", ""),
    ]
    assert [m.context for m in linker.mentions] == ["", "", ""]
    link("--file", table, "--mention-column", "dx", "--context-column", "note")
    assert [m.context for m in linker.mentions[3:]] == ["a, b", "hip fracture (FH)", ""]


def test_a_delimiter_and_an_encoding_can_be_given(tmp_path: Path) -> None:
    file = tmp_path / "x.dat"
    file.write_bytes("a:b,c\n1:Sjögren\n".encode("latin-1"))
    arguments = ("--file", str(file), "--column", "b,c", "--delimiter", ":")
    result = link(*arguments, "--encoding", "latin-1", "--format", "tsv")
    assert rows(result.stdout_bytes.decode("latin-1"))[0]["b,c"] == "Sjögren"
    assert "not UTF-8 (byte" in link(*arguments, "--encoding", "utf-8", code=2).stderr
    assert "no column 'b,c'" in link(*arguments[:-2], "--encoding", "latin-1", code=2).stderr


def test_documents_are_recognised_and_their_abbreviations_used(corpus: Path) -> None:
    found = rows(link("--file", corpus, "--columns", "all").stdout)
    assert [
        (r["row"], r["document"], r["start"], r["type"], r["part"], r["id"]) for r in found
    ] == [
        ("1", "1", "16", "Disease", "", "S72"),
        ("2", "1", "20", "Chemical", "", "S72"),
        ("3", "1", "20", "Disease", "FH", ""),
        ("3", "1", "20", "Disease", "heart attack", "I21"),
    ]


def test_mentions_of_a_type_only(corpus: Path) -> None:
    found = rows(link("--file", corpus, "--mention-type", "Chemical").stdout)
    assert [(r["start"], r["type"]) for r in found] == [("20", "Chemical")]
    both = link("--file", corpus, "--mention-type", "Chemical", "--mention-type", "Disease")
    assert len(rows(both.stdout)) == 4
    failed = link("--file", corpus, "--mention-type", "disease", code=2)
    assert "no mention has the type 'disease'; the input has Chemical, Disease" in failed.stderr


def test_json_documents_and_json_mentions() -> None:
    text = json.dumps({"id": 7, "text": "a broken hip", "mentions": [{"start": 2, "end": 12}]})
    assert [r["document"] for r in rows(link(input=text).stdout)] == ["7"]
    text = '{"mention": "broken hip", "type": "D"}\n{"mention": "heart attack"}\n'
    assert [r["id"] for r in rows(link(input=text).stdout)] == ["S72", "I21"]
    typed = link("--mention-type", "D", input=text)
    assert [r["id"] for r in rows(typed.stdout)] == ["S72"]
    assert "line 1: no JSON" in link(input='{"mention": broken\n', code=2).stderr
    assert "found 1;" in link("--input-format", "jsonl", input="[1]\n", code=2).stderr


def test_a_json_list_of_names_mentions_or_documents(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    for content in (
        '["broken hip", "heart attack"]',
        '[\n  "broken hip",\n  "heart attack"\n]\n',
        '\ufeff[{"mention": "broken hip"}, {"id": 1, "mention": "heart attack"}]',
        '[{"id": 7, "text": "a broken hip", "mentions": [{"start": 2, "end": 12}]},\n'
        ' {"text": "heart attack", "mentions": [{"start": 0, "end": 12}]}]',
    ):
        file.write_text(content, encoding="utf-8")
        assert [r["id"] for r in rows(link("--file", file).stdout)] == ["S72", "I21"], content
        assert [r["id"] for r in rows(link(input=content).stdout)] == ["S72", "I21"]


def test_the_kind_of_input_can_be_given(corpus: Path) -> None:
    found = rows(link("--file", corpus, "--input-format", "lines").stdout)
    assert found[0]["mention"] == "1|t|A hip fracture (FH)"
    failed = link("--input-format", "pubtator", input="broken hip\n", code=2)
    assert "standard input, line 1: a document begins with" in failed.stderr


def test_documents_without_mentions_get_a_note() -> None:
    result = link(input="1|t|nothing here\n")
    assert "no annotated mentions" in result.stderr
    assert rows(result.stdout) == []
    assert link("--quiet", input="1|t|nothing here\n").stderr == ""


def test_the_name_of_a_file_is_looked_up_but_noted(names: Path) -> None:
    assert f"use --file {names}" in link(names).stderr
    assert link(names, "-q").stderr == ""


# --- what comes out -------------------------------------------------------------------------------


def test_json_lines() -> None:
    result = link("heart attack", "broken hip and nonsense", "--format", "jsonl")
    first, second = map(json.loads, result.stdout.splitlines())
    assert [c["id"] for c in first["candidates"]] == ["I21", "I22"]
    assert first["ids"] == ["I21"]
    assert [part["ids"] for part in second["parts"]] == [["S72"], []]
    one = json.loads(link("heart attack", "--format", "jsonl", "-k", "1").stdout)
    assert [c["id"] for c in one["candidates"]] == ["I21"]
    assert one["margin"] == 0.5


def test_json_lines_keep_the_columns(table: Path) -> None:
    result = link("--file", table, "--column", "dx", "--format", "jsonl")
    first = json.loads(result.stdout.splitlines()[0])
    assert first["input"] == {"visit": "1", "dx": "heart attack", "note": "a, b"}


def test_a_table_for_people() -> None:
    result = link("heart attack", "broken hip and nonsense", "-k", "1", "--format", "table")
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[0].split() == ["mention", "id", "label", "score", "matched", "name"]
    assert lines[2].split("  ")[0].strip() == "heart attack"
    assert "I21" in lines[2]
    assert "1.000" in lines[2]
    assert "(2 parts)" in lines[3]
    assert lines[4].strip().startswith("+ broken hip")
    assert "NIL" in lines[5]
    assert "no name is like it" in lines[5]


def test_long_input_is_many_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonym.cli.output._BLOCK", 2)
    result = link("--format", "table", *["heart attack"] * 3, "x" * 1000 + "\x1b[31m")
    assert result.stdout.count("matched name") == 2
    assert "\x1b" not in result.stdout
    assert "…" in result.stdout
    assert link("--format", "table", input="1|t|nothing\n", code=0).stdout == ""


def test_parquet_in_a_file_and_in_a_pipe(tmp_path: Path) -> None:
    from pyarrow import parquet

    file = tmp_path / "x.parquet"
    link("heart attack", "-o", file)
    assert parquet.read_table(file)["id"].to_pylist() == ["I21", "I22"]
    piped = link("heart attack", "--format", "parquet", "-k", "1").stdout_bytes
    assert parquet.read_table(io.BytesIO(piped))["id"].to_pylist() == ["I21"]


def test_pubtator_with_the_ids_filled_in(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pubtator"
    link("--file", corpus, "-o", out, "--mention-type", "Disease")
    assert out.read_text() == (
        "1|t|A hip fracture (FH)\n1|a|FH and heart attack\n1\t16\t18\tFH\tDisease\tS72\n"
        "1\t20\t39\tFH and heart attack\tDisease\tI21\n\n2|t|nothing here\n\n"
    )
    nil = link("--format", "pubtator", input="1|t|hip\n1\t0\t3\thip\tT\tD1\n").stdout
    assert nil.splitlines()[1].endswith("\t-1")
    assert "goes with documents" in link("hip", "--format", "pubtator", code=2).stderr
    explained = link("--file", corpus, "--format", "pubtator", "--explain", code=2)
    assert "no place for explanations" in explained.stderr


def test_the_suffix_of_the_output_says_the_format(tmp_path: Path) -> None:
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
        file = tmp_path / f"x{suffix}"
        result = link("heart attack", "-o", file)
        assert rows(file.read_text(), delimiter)[0]["id"] == "I21"
        assert f"1 mention is in {file}" in result.stderr
        assert result.stdout == ""
    link("heart attack", "-o", tmp_path / "x.jsonl")
    assert json.loads((tmp_path / "x.jsonl").read_text())["ids"] == ["I21"]
    assert "names no format" in link("x", "-o", tmp_path / "x.txt", code=2).stderr
    link("heart attack", "-o", tmp_path / "x.txt", "--format", "table")
    assert "I21" in (tmp_path / "x.txt").read_text()
    assert sorted(f.name for f in tmp_path.iterdir()) == ["x.csv", "x.jsonl", "x.tsv", "x.txt"]


def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    assert "does not exist" in link("x", "-o", tmp_path / "no" / "x.tsv", code=2).stderr
    (tmp_path / "x.tsv").mkdir()
    assert "is a folder" in link("x", "-o", tmp_path / "x.tsv", code=2).stderr


def test_a_column_called_as_one_of_ours_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("dx,canonym_id\nbroken hip,1\n")
    out = tmp_path / "out.csv"
    failed = link("--file", file, "--column", "dx", "-o", out, code=2)
    assert "'canonym_id' already" in failed.stderr
    assert sorted(f.name for f in tmp_path.iterdir()) == ["x.csv"]


# --- options --------------------------------------------------------------------------------------


def test_options_reach_the_linker(linker: Linker, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("# wanted\nI21\n\nS72\n")
    link(
        *("x", "-k", "7", "--type", "A", "--type", "B", "--source", "S", "--language", "de"),
        *("--ids", ids, "--prefer", "A", "--prefer", "human", "--min-score", "0.25"),
        *("--seed", "3"),
        *("--min-confidence", "0.5", "--no-context", "--workers", "3", "--keep-negated"),
        *("--index", "some-index"),
    )
    assert linker.options == {
        "k": 7,
        "types": ("A", "B"),
        "sources": ("S",),
        "languages": ("de",),
        "ids": ("I21", "S72"),
        "prefer": ("A", "human"),
        "min_score": 0.25,
        "min_confidence": 0.5,
        "keep_negated": True,
        "separator": None,
        "seed": 3,
        "second_look": None,
        "context": False,
        "workers": 3,
    }
    assert linker.opened == ["some-index"]  # type: ignore[attr-defined]


def test_min_score_makes_nil() -> None:
    assert rows(link("broken hip", "--min-score", "0.95").stdout)[0]["id"] == ""
    assert rows(link("broken hip", "--min-score", "0.85").stdout)[0]["id"] == "S72"


def test_k_is_the_number_of_rows() -> None:
    assert len(rows(link("heart attack").stdout)) == 1
    found = rows(link("heart attack", "-k", "2").stdout)
    assert [(r["rank"], r["id"]) for r in found] == [("1", "I21"), ("2", "I22")]


def test_an_explanation_says_why() -> None:
    result = link("heart attack", "hip fracture", "nonsense", "--explain", "--format", "table")
    text = result.stdout
    assert "matched name: 'heart attack' (exact)" in text
    assert "score: 1.0000 (default 1.0000)" in text
    assert "runner-up: I22 'Subsequent' by 'heart attack' 0.5000; margin 0.5000" in text
    assert "normal forms: 'heart attack' of the mention, 'heart attack' of the name" in text
    assert "runner-up: none" in text
    assert "no concept: no name is like it" in text
    found = rows(link("heart attack", "--explain").stdout)
    assert found[0]["explanation"].startswith("matched name: 'heart attack' (exact); ")
    assert json.loads(link("x", "--explain", "--format", "jsonl").stdout)["explanation"]


def test_an_explanation_of_parts_and_of_preparation(corpus: Path) -> None:
    found = rows(link("--file", corpus, "--explain").stdout)
    assert "step: abbreviation turned 'FH' into 'hip fracture'" in found[0]["explanation"]
    assert "looked up: 'hip fracture'" in found[0]["explanation"]
    assert "composite: 2 parts" in found[2]["explanation"]
    assert "'heart attack': matched name" in found[2]["explanation"]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "input", "problem"),
    [
        (("x", "--file", "y"), None, "names and --file are both given"),
        (("x", "--column", "y"), None, "describe a file"),
        (("x", "--input-format", "lines"), None, "describe a file"),
        (("x", "--context-column", "y"), None, "go with --column"),
        (("--delimiter", ";"), "x\n", "go with --column"),
        (("--delimiter", ";;", "--column", "x"), "x\n", "one character"),
        (("--column", "y"), '{"x": "hip"}\n', "has the keys 'x'; call the key"),
        (("--column", "y", "--input-format", "jsonl"), "{}\n", "--column goes with tables"),
        (("--input-format", "table"), "a,b\n", "needs --column; standard input has 'a', 'b'"),
        ((), "a\tb\n1\t2\n", "is a table: name the column to link with --column"),
        (("--column", "c"), "a,b\n1,2\n", "no column 'c'; the columns are 'a', 'b'"),
        (("--column", "a"), "a,b\n1\n", "line 2: 1 cells where the header names 2 columns"),
        (("--column", "a", "--mention-type", "x"), "a,b\n1,2\n", "not with tables"),
        ((), "", "standard input: holds nothing"),
        ((), "\n \n", "nothing but blank lines"),
        ((), b"\xff\xfea", "is not"),
        (("--encoding", "utf-8"), b"abc\xe9\n", "the line is not UTF-8 (byte 0xe9)"),
        ((), "\xe4\n".encode() + b"abc\xe9\n", "line 2: the line is not UTF-8 (byte 0xe9)"),
        ((), b"a\0b\n", "NUL character"),
        (("--file", "missing.txt"), None, "no such file"),
        (("--encoding", "klingon", "--file", "missing.txt"), None, "klingon"),
        (("x", "--type", "Nonsense"), None, "expected one of A, B"),
        (("x", "--ids", "missing.txt"), None, "no such file"),
        (("x", "-k", "0"), None, "0 is not in the range"),
        (("x", "--min-score", "1.5"), None, "not in the range"),
        (("x", "--min-score", "nan"), None, "not a number"),
        (("x", "--resume"), None, "--resume needs a file"),
        (("x", "--format", "xml"), None, "'xml' is not one of"),
        (("--file", "."), None, "is a folder without a corpus"),
    ],
)
def test_what_cannot_be_used_is_refused(
    arguments: tuple[str, ...],
    input: str | bytes | None,
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = link(*arguments, input=input, code=2)
    assert problem in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_a_table_without_a_column_is_refused_with_its_columns(tmp_path: Path, suffix: str) -> None:
    import gzip

    file = tmp_path / f"x{suffix}"
    text = b"only one column\nbroken hip\n"
    file.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    failed = link("--file", file, code=2)
    assert "it has 'only one column'" in failed.stderr
    assert len(rows(link("--file", file, "--input-format", "lines").stdout)) == 2


def test_a_file_without_ids_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("# none\n\n")
    assert "holds no ids" in link("x", "--ids", tmp_path / "ids", code=2).stderr


def test_strange_mentions_pass() -> None:
    text = json.dumps({"mention": "a\0b\ud800"}) + "\n" + json.dumps({"mention": "x" * 1_000_000})
    assert [r["id"] for r in rows(link(input=text).stdout)] == ["", ""]
    assert [json.loads(x)["nil"] for x in link("--format", "jsonl", input=text).stdout.splitlines()]
    assert "NIL" in link("--format", "table", input=text).stdout


# --- corpora --------------------------------------------------------------------------------------

BIOC = """<?xml version="1.0"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><document><id>7</id><passage><offset>0</offset><text>A broken hip.</text>
<annotation id="a"><infon key="type">Disease</infon><location offset="2" length="10"/>
<text>broken hip</text></annotation></passage></document></collection>
"""
BROKEN_HIP = {
    "id": "a",
    "infons": {"type": "Disease"},
    "text": "broken hip",
    "locations": [{"offset": 2, "length": 10}],
}
PASSAGE = {"offset": 0, "text": "A broken hip.", "annotations": [BROKEN_HIP]}
CORPORA = {
    "x.xml": BIOC,
    "x.json": json.dumps({"documents": [{"id": "7", "passages": [PASSAGE]}]}, indent=1),
    "x.concept": "7||2||12||Disease||broken hip||D1\n",
}


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("piped", [False, True])
def test_corpora_are_recognised_and_linked(tmp_path: Path, name: str, piped: bool) -> None:
    file = tmp_path / name
    file.write_text(CORPORA[name])
    done = link(input=CORPORA[name]) if piped else link("--file", file)
    assert [(r["document"], r["start"], r["mention"], r["id"]) for r in rows(done.stdout)] == [
        ("7", "2", "broken hip", "S72")
    ]


def test_a_bioc_corpus_becomes_pubtator(tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    file.write_text(BIOC)
    written = link("--file", file, "--format", "pubtator").stdout
    assert written == "7|t|A broken hip.\n7\t2\t12\tbroken hip\tDisease\tS72\n\n"


def test_a_brat_folder_and_one_of_its_files_are_linked(tmp_path: Path) -> None:
    (tmp_path / "7.txt").write_text("broken left hip")
    (tmp_path / "7.ann").write_text("T1\tDisease 0 6;12 15\tbroken hip\n")
    for place in (tmp_path, tmp_path / "7.ann"):
        assert [r["id"] for r in rows(link("--file", place).stdout)] == ["S72"]
    written = link("--file", tmp_path, "--format", "pubtator").stdout
    assert written.splitlines()[1] == "7\t0\t15\tbroken left hip\tDisease\tS72"


def test_tables_of_annotated_mentions_are_named(tmp_path: Path) -> None:
    file = tmp_path / "x.tsv"
    file.write_text("D1\tbroken hip\n")
    assert "--input-format cadec" in link("--file", file, code=2).stderr
    assert [r["id"] for r in rows(link("-f", file, "--input-format", "cadec").stdout)] == ["S72"]
    file.write_text("document\tmention\tids\n7\tbroken hip\tD1\n")
    assert "--input-format columns" in link("--file", file, code=2).stderr
    found = rows(link("-f", file, "--input-format", "columns").stdout)
    assert [(r["document"], r["id"]) for r in found] == [("7", "S72")]


def test_a_parquet_file_of_annotated_mentions_is_linked(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    file = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"mention": ["broken hip"], "ids": ["D1"]}), file)
    assert [r["id"] for r in rows(link("--file", file).stdout)] == ["S72"]


@pytest.mark.parametrize(
    "content",
    [
        '{\n "resourceType": "Bundle"}\n',
        "<!DOCTYPE html>\n<p>x</p>\n",
        '<?xml version="1.0"?>\n<x/>\n',
        "[\n 1]\n",
        '[["hip"]]\n',
    ],
)
def test_markup_is_no_list_of_names(content: str) -> None:
    failed = link(input=content, code=2).stderr
    assert "no list of names" in failed
    assert "--input-format lines" in failed
    assert link("--input-format", "lines", input=content).stdout


def test_binary_files_are_no_list_of_names(tmp_path: Path) -> None:
    import gzip
    import sqlite3

    file = tmp_path / "x.txt"
    sqlite3.connect(file).execute("CREATE TABLE x (y)").connection.close()
    assert "is a SQLite database" in link("-f", file, code=2).stderr
    file.write_bytes(gzip.compress(b"\x7fELF\0\0"))
    assert "NUL character" in link("-f", file, code=2).stderr
    assert "decompress it" in link(input=gzip.compress(b"hip\n"), code=2).stderr


def test_names_may_begin_with_brackets() -> None:
    assert len(rows(link(input="<5 % burn\n[18F]FDG\n").stdout)) == 2
    assert link(input='"broken hip\nhip"\n').stdout.count("\n") == 3
    assert len(rows(link(input="[18F]FDG\n[1]benzopyran\n").stdout)) == 2


@pytest.mark.parametrize(
    "name",
    [
        *("[ ] gout", "[x] gout", "[] gout", "[?] gout", "[1] gout", "[gout]", "[[gout]]"),
        *("[-] gout", '["acute"] gout', '["acute" gout]', "[{gout}]", "[null] gout"),
        *("[gout, asthma]", "[ ]gout", "{gout}", "{ gout }", "{} gout", "{{gout}}", "{1} gout"),
        *('{"gout"}', '{"gout', "{'gout': 1}"),
        *("\ufeff[ ] gout", " [ ] gout", "{gout", "[gout"),
    ],
)
def test_names_in_brackets_that_cannot_be_json_are_read(name: str, tmp_path: Path) -> None:
    content = f"{name}\nbroken hip\n"
    (tmp_path / "x.txt").write_text(content, encoding="utf-8")
    for result in (link(input=content), link("--file", tmp_path / "x.txt")):
        assert [row["mention"] for row in rows(result.stdout)] == [
            name.removeprefix("\ufeff"), "broken hip",
        ]  # fmt: skip


def test_errors_of_a_piped_corpus_name_standard_input() -> None:
    failed = link(input=BIOC.replace('offset="2"', 'offset="3"'), code=2)
    assert "standard input, line 4" in failed.stderr


@pytest.mark.parametrize(("given", "separator"), [("|", "|"), ("\\n", "\n"), ("\\t", "\t")])
def test_a_separator_of_the_table_is_handed_on(linker: Linker, given: str, separator: str) -> None:
    assert link("heart attack", "--separator", given).exit_code == 0
    assert linker.options["separator"] == separator
