"""Formats that another package reads: joined by their entry points, or a message without it."""

from __future__ import annotations

import importlib.metadata
import json
import tomllib
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from canonym.cli.annotated import GROUP, open_corpus
from canonym.cli.input import open_input
from canonym.cli.texts import open_texts
from canonym.errors import InvalidInput, ReadError
from canonym.types import Document
from reproduce import readers
from tests.cli.running import run
from tests.reproduce.readers import test_clinical_notes as clinical_notes
from tests.reproduce.readers import test_mantra as mantra
from tests.reproduce.readers import test_tac as tac

PROJECT = Path(readers.__file__).with_name("pyproject.toml")
XML_TRIAL = """<clinical_study><id_info><nct_id>NCT1</nct_id></id_info>
<brief_title>A trial</brief_title><condition>broken hip</condition></clinical_study>
"""
JSON_TRIAL = json.dumps(
    {
        "protocolSection": {
            "identificationModule": {"nctId": "NCT1", "briefTitle": "A trial"},
            "conditionsModule": {"conditions": ["broken hip"]},
        }
    }
)


def read_lines(path: Path, *, encoding: str) -> list[Document]:
    """Read a document a line."""
    return [Document(line, line) for line in path.read_text(encoding).splitlines()]


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the entry points of the readers beside the package, and two of a third party."""
    project = tomllib.loads(PROJECT.read_text().replace("canonym_readers", "reproduce.readers"))
    places = {
        **project["project"]["entry-points"][GROUP],
        "lines-of-text": f"{__name__}:read_lines",
        "broken": "no_such_package:read",
    }
    known = EntryPoints(EntryPoint(name, place, GROUP) for name, place in places.items())

    def entry_points(**chosen: str) -> EntryPoints:
        return known.select(**chosen)

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


RELEASES = [
    ("mcn", "7.norm", clinical_notes.MCN),
    ("share", "7.pipe.txt", clinical_notes.SHARE),
    ("tac", "ABC.xml", {"ABC.xml": tac.XML}),
    ("mantra", "Medline_GSC_de_man.xml", {"Medline_GSC_de_man.xml": mantra.XML}),
]


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize(("format", "file", "files"), RELEASES)
def test_releases_are_recognised(
    tmp_path: Path, format: str, file: str, files: dict[str, str]
) -> None:
    clinical_notes.written(tmp_path, {"release/" + name: text for name, text in files.items()})
    place = tmp_path / "release"
    corpus = open_corpus(str(place / file if format == "mantra" else place))
    assert corpus.format == format
    assert any(mention.ids for document in corpus.documents for mention in document.mentions)
    (name,) = (n for n in files if n.endswith(file))
    alone = tmp_path / "alone"
    clinical_notes.written(alone, {"7.txt": clinical_notes.NOTE, file: files[name]})
    single = open_corpus(str(alone / file))
    assert single.format == format
    assert single.documents[0] in corpus.documents


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize("content", [XML_TRIAL, JSON_TRIAL])
def test_trials_are_linked_and_not_measured(tmp_path: Path, content: str) -> None:
    file = tmp_path / "trial"
    file.write_text(content)
    for open_any in (lambda: open_input((), str(file)), lambda: open_texts(str(file))):
        with open_any() as source:
            assert (source.kind, source.documents) == ("trials", True)
            (document,) = source.items
            assert isinstance(document, Document)
            assert (document.id, [m.text for m in document.mentions]) == ("NCT1", ["broken hip"])
    for format in (None, "trials"):
        with pytest.raises(ReadError, match="whose mentions have no ids: `canonym link` links"):
            open_corpus(str(file), format=format)


@pytest.mark.usefixtures("joined")
def test_a_reader_gets_the_encoding_that_it_takes(tmp_path: Path) -> None:
    file = tmp_path / "texts"
    file.write_bytes("Müde\n".encode("cp1252"))
    with open_input((), str(file), kind="lines-of-text", encoding="cp1252") as source:
        assert list(source.items) == [Document("Müde", "Müde")]
    with pytest.raises(InvalidInput, match="'broken' of another package cannot be loaded"):
        open_corpus(str(file), format="broken")


@pytest.mark.usefixtures("joined")
def test_the_command_line_names_joined_formats(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("")
    refused = run("evaluate", str(file), "--format", "tak", code=2).stderr
    assert "no reader of the format 'tak' is installed; there are pubtator" in said(refused)
    assert "columns, broken, lines-of-text, mantra, mcn, share, tac, trials" in said(refused)
    taken = run("evaluate", str(file), "--format", "tac", code=2).stderr
    assert "name what to link to" in taken


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("7.norm", "N000||C0019557||2||8||14||17\n"),
        ("7.pipe", "7.txt||Disease_Disorder||C0019557||2||8\n"),
        ("ABC.xml", tac.XML),
        ("units.xml", mantra.XML),
        ("trial.xml", XML_TRIAL),
        ("trial.json", JSON_TRIAL),
    ],
)
def test_without_the_readers_a_file_is_not_read_as_names(
    tmp_path: Path, name: str, content: str
) -> None:
    file = tmp_path / name
    file.write_text(content)
    for command in (("link", "--file", str(file)), ("annotate", str(file))):
        failed = run(*command, code=2)
        assert "is installed; there are pubtator, bioc" in said(failed.stderr)
        assert "pip install benchmarks/reproduce/readers" in said(failed.stderr)
        assert not failed.stdout
    for command in (
        ("link", "--file", str(file), "--input-format", "mcn"),
        ("annotate", str(file), "--input-format", "mcn"),
        ("evaluate", str(file), "--format", "mcn"),
    ):
        assert "no reader of the format 'mcn' is installed; there are" in said(
            run(*command, code=2).stderr
        )


def said(text: str) -> str:
    """Return a message without the line ends of the terminal."""
    return " ".join(text.split())
