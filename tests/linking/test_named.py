"""Indexes by name, in the library and at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym import Concept, Linker, ReadError, Terminology
from canonym.linking.named import index_folder, index_names, is_index_name
from canonym.service import Settings
from tests.cli.running import run


def build(folder: Path, label: str) -> None:
    Linker.build(Terminology.build([Concept("X:1", label)]), folder=folder, encoders=["chargrams"])


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index with the name ``mine``, and an empty current folder."""
    monkeypatch.setenv("CANONYM_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "data" / "indexes" / "mine"
    folder.parent.mkdir(parents=True)
    build(folder, "common cold")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return folder


def test_names_stand_for_folders(named: Path) -> None:
    assert index_names() == ["icd10cm", "icd10cm-official", "mine"]
    assert index_folder("mine") == index_folder(Path("mine")) == named
    assert Linker.load("mine").link(["common cold"])[0].id == "X:1"


def test_what_lies_in_the_current_folder_wins(named: Path) -> None:
    assert is_index_name("mine")
    build(Path("mine"), "hay fever")
    assert not is_index_name("mine")
    assert index_folder("mine") == Path("mine")
    assert Linker.load("mine").terminology.concept("X:1").label == "hay fever"
    assert Linker.load(named).terminology.concept("X:1").label == "common cold"


def test_paths_are_no_names(named: Path) -> None:
    for path in (named, Path("sub") / "mine", named.parent / "other"):
        assert index_folder(path) == path


def test_an_unknown_name_lists_the_known_ones(named: Path) -> None:
    with pytest.raises(ReadError, match="the names are icd10cm, icd10cm-official, mine"):
        Linker.load("yours")
    assert named.is_dir()


@pytest.mark.usefixtures("named")
def test_an_index_is_folded_and_reused_by_its_name() -> None:
    Linker.load("mine").synonyms.add("the sniffles", "X:1")
    terminology = Terminology.build([Concept("X:1", "common cold")])
    folded = Linker.build(terminology, encoders=["chargrams"], fold="mine", reuse="mine")
    assert folded.link(["the sniffles"])[0].id == "X:1"


@pytest.mark.usefixtures("named")
def test_commands_take_names() -> None:
    run("synonyms", "add", "the sniffles", "X:1", "--index", "mine")
    assert "the sniffles" in run("synonyms", "list", "--index", "mine").stdout
    assert "X:1" in run("link", "the sniffles", "--index", "mine").stdout
    assert "X:1" in run("annotate", "--index", "mine", "-", input="A common cold.").stdout
    assert "index        mine" in run("info", "mine").stdout
    assert "name: mine" in run("info").stdout
    assert "common cold" in run("terminology", "show", "mine", "X:1").stdout
    assert "is sound" in run("index", "--verify", "mine").stdout
    Path("names.sssom.tsv").write_text(
        "subject_label\tpredicate_id\tobject_id\tmapping_justification\n"
        "a bad cold\tskos:exactMatch\tX:1\tsemapv:ManualMappingCuration\n"
    )
    run("review", "import", "names.sssom.tsv", "--index", "mine")
    assert len(Linker.load("mine").synonyms) == 2
    Path("corpus.tsv").write_text("id\tmention\nX:1\tcommon cold\n")
    report = run("evaluate", "corpus.tsv", "--index", "mine", "--protocol", "raw")
    assert "All mentions" in report.stdout
    run("map", "mine", "mine", "-o", "same.sssom.tsv")
    assert "X:1" in Path("same.sssom.tsv").read_text()


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    "command",
    [
        ("link", "cold", "--index", "yours"),
        ("synonyms", "list", "--index", "yours"),
        ("review", "import", "names.tsv", "--index", "yours"),
        ("train", "confidence", "--index", "yours"),
        ("evaluate", "corpus.tsv", "--index", "yours"),
        ("serve", "--index", "yours"),
        ("info", "yours"),
        ("terminology", "show", "yours"),
    ],
)
def test_commands_list_the_known_names(command: tuple[str, ...]) -> None:
    Path("corpus.tsv").write_text("id\tmention\nX:1\tcommon cold\n")
    refused = run(*command, code=2)
    assert "icd10cm, icd10cm-official, mine" in refused.stderr


def test_the_service_takes_names(named: Path) -> None:
    from canonym.service.served import Served

    ((name, folder),) = Settings(index=("cold=mine",)).folders().items()
    served = Served(name, folder)
    served.open()
    assert served.name == "cold"
    assert served.use(lambda opened: opened.linker.folder) == named
