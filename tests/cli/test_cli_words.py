"""Messages and refused values in the words of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.cli.failures import as_options
from tests.cli.running import run
from tests.files import written
from tests.tables import cases


@cases("message", "flags", "expected")
def test_arguments_become_options(message: str, flags: tuple[str, ...], expected: str) -> None:
    assert expected in as_options(message, {flag: f"{flag} " for flag in flags})


@pytest.fixture
def latin(tmp_path: Path) -> Path:
    return written(tmp_path / "latin.tsv", "id\tname\nX:1\tSj\xf6gren\n".encode("latin-1"))


def test_the_encoding_is_an_option_where_there_is_one(latin: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "x.db")
    failed = run("import", latin, "-o", out, "--encoding", "utf-8", code=2).stderr
    assert "pass --encoding (often 'latin-1'" in failed
    assert "encoding=" not in failed
    link = ("link", "-f", str(latin), "-c", "name")
    failed = run(*link, "--input-option", "encoding=utf-8", code=2).stderr
    assert "pass --input-option encoding (often 'latin-1'" in failed
    latin.write_bytes("id\tname\nD1\tFièvre\nD2\tSjögren\n".encode() + b"D3\tfi\xe8vre\n")
    failed = run("import", latin, "-o", out, code=2).stderr
    assert "line 4: the line is not UTF-8, but the file has characters in UTF-8 (2" in failed
    assert "pass --encoding (often 'utf-8' or 'cp1252')" in failed
    failed = run("evaluate", latin, "-t", "icd10cm", code=2).stderr
    assert "repair the file, or save the file as UTF-8\n" in failed
    unknown = run("import", latin, "-o", out, "--encoding", "klingon", code=2).stderr
    assert "--encoding klingon is not known" in unknown


def test_an_encoding_that_is_found_is_named(latin: Path, tmp_path: Path) -> None:
    said = f"{latin} is not UTF-8 and is read as Windows-1252 (cp1252); if letters look wrong, "
    out = tmp_path / "x.db"
    done = run("import", latin, "-o", out)
    assert said + "name its encoding with --encoding.\n" in done.stderr
    assert "Sjögren" in run("terminology", "show", out, "X:1").stdout
    for option in (("--encoding", "latin-1"), ("--option", "encoding=latin-1")):
        given = run("import", latin, "-o", out, "--overwrite", *option)
        assert "Windows" not in given.stderr
    latin.write_bytes("X:1\tSj\xf6gren\n".encode("latin-1"))
    done = run("evaluate", latin, "--terminology", out, "--encoder", "chargrams")
    assert said + "save it as UTF-8.\n" in done.stderr


def test_overwrite_is_an_option(tmp_path: Path) -> None:
    source, out = tmp_path / "x.csv", tmp_path / "x.db"
    source.write_text("id,name\nX:1,hip\n")
    run("import", source, "-o", out, "-q")
    assert "replace it with --overwrite" in run("import", source, "-o", out, code=2).stderr


def test_a_delimiter_of_two_characters_is_refused(tmp_path: Path) -> None:
    source = written(tmp_path / "x.csv", "id,name\nX:1,hip\n")
    arguments = ("import", str(source), "-o", str(tmp_path / "x.db"), "--delimiter", "||")
    assert "one character is expected" in run(*arguments, code=2).stderr


def test_a_language_that_is_no_tag_is_refused(tmp_path: Path) -> None:
    source, index = tmp_path / "x.csv", str(tmp_path / "index")
    source.write_text("id,name\nX:1,hip\n")
    tag = ("--language", "not a tag!!")
    failed = run("import", source, "-o", tmp_path / "x.db", *tag, code=2)
    assert "a tag of BCP 47 is expected" in failed.stderr
    run("index", source, "-o", index, "-e", "chargrams", "-q")
    failed = run("synonyms", "add", "haunch", "X:1", "-i", index, *tag, code=2)
    assert "a tag of BCP 47 is expected" in failed.stderr
    names = written(tmp_path / "names.tsv", "haunch\tX:1\n")
    failed = run("synonyms", "import", names, "-i", index, *tag, code=2)
    assert "line 1: the language is 'not a tag!!'" in failed.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "x.db", "-o", "x", "--weight"),
        ("index", "x.db", "-o", "x", "--search-threshold"),
        ("evaluate", "x", "-t", "x", "--weight"),
        ("evaluate", "x", "-t", "x", "--min-confidence"),
        ("link", "x", "--min-score"),
        ("link", "x", "--min-confidence"),
    ],
)
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_numbers_are_finite(arguments: tuple[str, ...], value: str) -> None:
    failed = run(*arguments, value, code=2).stderr
    assert f"Invalid value for '{arguments[-1]}'" in failed


@pytest.mark.parametrize("arguments", [("link", "x"), ("evaluate", "x", "-t", "x")])
def test_the_number_of_candidates_is_limited(arguments: tuple[str, ...]) -> None:
    assert "1<=x<=1000" in run(*arguments, "-k", "1000000000", code=2).stderr


@pytest.mark.parametrize("typed", ["k=3", "a resume=True b", "format=tsv", "one_row=True"])
def test_what_a_user_has_written_is_repeated_as_it_is(typed: str) -> None:
    flags = {"-k": "-k ", "--resume": "--resume ", "--format": "--format ", "--one-row": ""}
    message = f"k=3.csv, line 1: no column '{typed}'; the columns are \"{typed}\""
    assert as_options(message, flags) == message
