"""`canonym annotate`: texts and corpora in, tables, JSON lines and corpora out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from canonym import Concept, Linker, Name, Terminology
from canonym.cli.texts import open_texts
from canonym.corpora import read_bioc, read_brat, read_pubtator
from canonym.errors import InvalidInput
from tests.cli.running import command, in_terminal, rows, run

TEXT = "He had a heart attack.\r\nWilson disease (WD): WD is rare."


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("annotate") / "index"
    records = [
        Concept("X:1", "Myocardial infarction", types=("Disease",)),
        Name("heart attack", "X:1"),
        Concept("X:2", "Wilson disease", types=("Disease",)),
        Concept("X:3", "Aspirin", types=("Drug",)),
    ]
    Linker.build(Terminology.build(records), encoders=["chargrams"], folder=folder)
    return str(folder)


@pytest.fixture
def note(tmp_path: Path) -> Path:
    (tmp_path / "note.txt").write_bytes(TEXT.encode())
    return tmp_path / "note.txt"


def _annotate(index: str, *arguments: object, **given: object) -> list[dict[str, object]]:
    result = run("annotate", "-i", index, *map(str, arguments), **given)  # type: ignore[arg-type]
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_text_becomes_json_lines_with_offsets_of_the_file(index: str, note: Path) -> None:
    found = _annotate(index, note)
    assert [(one["mention"], one["ids"], one["type"]) for one in found] == [
        ("heart attack", ["X:1"], "Disease"),
        *[(mention, ["X:2"], "Disease") for mention in ("Wilson disease", "WD", "WD")],
    ]
    assert [TEXT[one["start"] : one["end"]] for one in found] == [  # type: ignore[misc]
        one["mention"] for one in found
    ]
    assert {one["document"] for one in found} == {"note"}


def test_standard_input_is_read_like_a_file(index: str) -> None:
    for name in ((), ("-",)):
        (one,) = _annotate(index, *name, input="an aspirin")
        assert (one["start"], one["end"], one["document"]) == (3, 10, "text")


def test_a_text_a_line_is_a_document_each(index: str) -> None:
    found = _annotate(index, "--input-format", "lines", input="aspirin\n\nan aspirin\n")
    assert [(one["document"], one["start"]) for one in found] == [("1", 0), ("3", 3)]


def test_a_folder_of_texts_has_a_document_for_each_file(index: str, tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.txt").write_text("aspirin", encoding="utf-8")
    assert [one["document"] for one in _annotate(index, tmp_path)] == ["a", "b"]


def test_a_corpus_comes_back_with_what_was_found(index: str, tmp_path: Path) -> None:
    given, out = tmp_path / "in.pubtator", tmp_path / "out.pubtator"
    given.write_text(
        "7|t|Aspirin\n7|a|in Wilson disease\n7\t8\t10\tin\tX\tX:9\n\n", encoding="utf-8"
    )
    run("annotate", given, "-i", index, "-o", out)
    (document,) = read_pubtator(out)
    assert [(m.start, m.text, m.type, m.ids) for m in document.mentions] == [
        (0, "Aspirin", "Drug", ("X:3",)),
        (11, "Wilson disease", "Disease", ("X:2",)),
    ]
    for suffix in ("xml", "json"):
        bioc = tmp_path / f"out.{suffix}"
        run("annotate", out, "-i", index, "-o", bioc)
        assert [one.mentions for one in read_bioc(bioc)] == [document.mentions]
        again = run("annotate", bioc, "-i", index, "--format", "pubtator")
        assert again.stdout == out.read_text(encoding="utf-8")
        from_pipe = run("annotate", "-i", index, "--format", "pubtator", input=bioc.read_bytes())
        assert from_pipe.stdout == again.stdout


def test_a_table_has_the_columns_of_links(index: str, note: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.tsv"
    result = run("annotate", note, "-i", index, "-o", out)
    assert f"4 mentions in 1 text, written to {out}" in result.stderr
    first = rows(out.read_text(encoding="utf-8"))[0]
    assert (first["document"], first["start"], first["id"]) == ("note", "9", "X:1")


def test_a_terminal_gets_a_table_with_places(index: str, note: Path) -> None:
    shown = in_terminal(command("annotate", str(note), "-i", index))
    assert "place" in shown
    assert "note 9–21" in shown
    assert "Myocardial infarction" in shown


def test_filters_and_candidates_are_chosen(index: str, tmp_path: Path) -> None:
    text = "aspirin, heart attack"
    (one,) = _annotate(index, "--type", "drug", input=text)
    assert one["mention"] == "aspirin"
    (tmp_path / "ids").write_text("X:1\n", encoding="utf-8")
    (one,) = _annotate(index, "--ids", tmp_path / "ids", "-k", "2", input=text)
    assert one["mention"] == "heart attack"


def test_workers_write_the_same(index: str, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("aspirin\nheart attack\n" * 3, encoding="utf-8")
    arguments = ("annotate", str(tmp_path / "lines"), "-i", index, "--input-format", "lines")
    assert run(*arguments, "--workers", "2").stdout == run(*arguments).stdout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("nowhere.txt",), "there is no such file"),
        (("{folder}/empty.txt",), "is empty"),
        (("{folder}/page.html",), "give --input-format text if it is text"),
        (("{folder}/zero.bin",), "NUL"),
        (("{note}", "-o", "{folder}/x.xlsx"), "annotations are written as"),
        (("{note}", "-o", "{note}", "--format", "tsv"), "is an input as well"),
        (("{note}", "-o", "{folder}/empty.txt", "--format", "tsv"), "--overwrite"),
        (("{note}", "--type", "Nothing"), "Nothing"),
        (("{note}", "--encoding", "klingon"), "klingon"),
        (("{folder}/mentions.jsonl",), "without a text around them"),
        (("{folder}/sub",), "is a folder without a corpus"),
    ],
)
def test_what_cannot_be_used_is_named(
    index: str, note: Path, tmp_path: Path, given: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "page.html").write_text("<html><body>x</body></html>")
    (tmp_path / "zero.bin").write_bytes(b"a\0b")
    (tmp_path / "mentions.jsonl").write_text('{"mention": "aspirin"}\n')
    (tmp_path / "sub").mkdir()
    filled = [one.format(folder=tmp_path, note=note) for one in given]
    result = run("annotate", *filled, "-i", index, code=2)
    assert message in result.stderr, result.stderr
    assert note.read_bytes() == TEXT.encode()


def test_a_text_without_names_is_remarked_on(index: str) -> None:
    result = run("annotate", "-i", index, input="nothing here")
    assert (result.stdout, result.stderr.strip()) == ("", "0 mentions in 1 text.")


def test_a_terminal_without_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("canonym.cli.texts.sys", SimpleNamespace(stdin=terminal))
    with pytest.raises(InvalidInput, match="name a file, or pipe something in"), open_texts(None):
        pass


def test_the_status_is_a_column_and_a_field(index: str) -> None:
    found = _annotate(index, input="No aspirin. Heart attack.")
    assert [one["status"] for one in found] == [["negated"], []]
    table = run("annotate", "-i", index, "--format", "table", input="No aspirin.").stdout
    head, _, row, *_ = table.splitlines()
    assert head.split()[:4] == ["place", "mention", "status", "id"]
    assert row.split()[:5] == ["text", "3–10", "aspirin", "negated", "X:3"]


def test_the_status_is_in_a_table_for_programs(index: str, tmp_path: Path) -> None:
    out = tmp_path / "found.tsv"
    run("annotate", "-i", index, "-o", out, input="No aspirin. Heart attack.")
    head, *rows = (line.split("\t") for line in out.read_text(encoding="utf-8").splitlines())
    cells = [dict(zip(head, row, strict=True)) for row in rows]
    assert [(one["status"], one["id"] != "") for one in cells] == [("negated", True), ("", True)]


def test_the_status_is_in_bioc(index: str, tmp_path: Path) -> None:
    out = tmp_path / "found.xml"
    run("annotate", "-i", index, "-o", out, input="No aspirin. Heart attack.")
    assert out.read_text(encoding="utf-8").count('<infon key="status">negated</infon>') == 1


def test_brat_has_two_files_for_each_text(index: str, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("No aspirin.\nHeart attack.", encoding="utf-8")
    (folder / "b.txt").write_text("Nothing.", encoding="utf-8")
    out = tmp_path / "marked"
    run("annotate", "-i", index, folder, "--format", "brat", "-o", out)
    assert sorted(file.name for file in out.iterdir()) == ["a.ann", "a.txt", "b.ann", "b.txt"]
    assert (out / "a.txt").read_bytes() == (folder / "a.txt").read_bytes()
    lines = (out / "a.ann").read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t")[2] == "aspirin"
    assert "A1\tNegated T1" in lines
    back = {document.id: document for document in read_brat(out)}
    assert [mention.ids for mention in back["a"].mentions] == [("X:3",), ("X:1",)]
    assert back["b"].mentions == ()


def test_brat_without_a_folder_is_refused(index: str) -> None:
    message = run("annotate", "-i", index, "--format", "brat", input="aspirin", code=2).stderr
    assert "name it with -o" in message


def test_the_page_marks_mentions_with_concept_and_status(index: str, tmp_path: Path) -> None:
    page, out = tmp_path / "page.html", tmp_path / "found.jsonl"
    text = "No aspirin <b>. Heart attack."
    run("annotate", "-i", index, "-o", out, "--html", page, input=text)
    html = page.read_text(encoding="utf-8")
    assert "No <mark " in html
    assert ">aspirin<small>X:3</small><em>negated</em></mark> &lt;b&gt;. <mark" in html
    assert "http" not in html.replace("charset", "")
    assert html.endswith("</html>\n")
    assert out.read_text(encoding="utf-8").count("\n") == 2
    message = run("annotate", "-i", index, "--html", page, input=text, code=2).stderr
    assert "exists" in message
    assert html == page.read_text(encoding="utf-8")


def test_the_page_is_no_input_and_no_other_output(index: str, note: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.jsonl"
    given = ("annotate", "-i", index, str(note), "-o", str(out), "--html")
    for path in (note, out):
        before = note.read_bytes()
        assert run(*given, path, "--overwrite", code=2).stderr
        assert note.read_bytes() == before


def test_half_a_character_is_written_as_the_remark_says(index: str, tmp_path: Path) -> None:
    lines = tmp_path / "in.jsonl"
    lines.write_text(json.dumps({"id": "a\udfff", "text": "\ud800 heart attack"}) + "\n")
    bioc = tmp_path / "in.json"
    passage = {"offset": 0, "text": "\ud800 heart attack", "annotations": []}
    bioc.write_text(json.dumps({"documents": [{"id": "a\udfff", "passages": [passage]}]}))
    for file in (lines, bioc):
        result = run("annotate", "-i", index, file, "--format", "jsonl")
        assert ("becomes U+FFFD" in result.stderr) == (file == lines)
        assert "\\ud" not in result.stdout
        (mention,) = map(json.loads, result.stdout.splitlines())
        assert (mention["document"], mention["start"]) == ("a\ufffd", 2)


def test_a_text_with_grave_accents_is_in_no_output(index: str) -> None:
    pytest.importorskip("pyab3p")
    text = "`secret` He had a `heart attack` (`HA`). And `secret` aspirin (ASP)."
    done = subprocess.run(
        command("annotate", "-i", index), input=text, capture_output=True, text=True, check=True
    )
    mentions = [json.loads(line)["mention"] for line in done.stdout.splitlines()]
    assert "heart attack" in mentions
    assert "secret" not in done.stdout + done.stderr
