"""An index that is served: opened, followed when its folder is replaced, searched by prefix."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from canonym import Concept, Linker, Name
from canonym.errors import Mismatch, ReadError
from canonym.linking.judge import JUDGE, MENTIONS, shipped_judge
from canonym.service.served import Opened, Served
from tests.logs import Log
from tests.service.conftest import RECORDS, build


@pytest.fixture
def folder(index: Path, tmp_path: Path) -> Path:
    """A copy of the small index, to be changed."""
    return Path(shutil.copytree(index, tmp_path / "index"))


@pytest.fixture
def opened(index: Path) -> Opened:
    """The small index, opened."""
    served = Served("small", index)
    served.open()
    return served.use(lambda opened: opened)


def _link(opened: Opened) -> str:
    """Return the name that is nearest to one which only the new index has."""
    return opened.linker.link(["coronary"])[0].candidates[0].name


def test_a_concept_stands_below_all_above_it_and_not_below_itself(opened: Opened) -> None:
    for id_, other, expected in (
        ("X:3", "X:2", True),
        ("X:3", "X:0", True),
        ("X:2", "X:3", False),
        ("X:3", "X:3", False),
        ("X:4", "X:2", False),
        ("X:5", "X:0", False),
    ):
        assert opened.is_below(id_, other) is expected


def test_a_replaced_index_is_used_from_the_next_request_on(folder: Path) -> None:
    served = Served("small", folder)
    served.open()
    first = served.use(lambda opened: opened)
    assert served.use(lambda opened: opened) is first
    assert served.use(_link) != "coronary"
    build(folder, [*RECORDS, Name("coronary", "X:1")], overwrite=True)
    assert served.use(_link) == "coronary"


def test_another_judge_of_the_same_index_is_used_too(folder: Path) -> None:
    served = Served("small", folder)
    served.open()

    def fingerprint(opened: Opened) -> str:
        return opened.linker.fingerprint

    before = served.use(fingerprint)
    replace(shipped_judge(["chargrams"]), source=MENTIONS).save(folder / JUDGE)
    after = served.use(fingerprint)
    assert after == Linker.load(folder).fingerprint != before
    (folder / JUDGE).unlink()
    assert served.use(fingerprint) == before


def test_work_during_which_the_index_is_replaced_is_done_again(folder: Path) -> None:
    served = Served("small", folder)
    served.open()
    met = []

    def work(opened: Opened) -> str:
        met.append(opened)
        if len(met) == 1:
            build(folder, [*RECORDS, Name("coronary", "X:1")], overwrite=True)
        return _link(opened)

    assert served.use(work) == "coronary"
    assert len(met) == 2


def test_work_that_fails_between_two_indexes_waits_for_the_second(folder: Path) -> None:
    served = Served("small", folder)
    served.open()
    aside = folder.with_name("aside")
    met = []

    def work(opened: Opened) -> str:
        met.append(opened)
        if len(met) == 1:
            folder.rename(aside)
            opened.terminology.close()
            raise FileNotFoundError(str(folder))
        if len(met) == 2:
            aside.rename(folder)
            (folder / "canonym.json").touch()
            raise ReadError(folder, "has gone")
        return _link(opened)

    assert served.use(work) != "coronary"
    assert len(met) == 3
    assert met[0] is met[1] is not met[2]


def test_work_that_fails_because_of_a_replacement_is_done_again(folder: Path) -> None:
    served = Served("small", folder)
    served.open()
    met = []

    def work(opened: Opened) -> str:
        met.append(opened)
        if len(met) == 1:
            build(folder, [*RECORDS, Name("coronary", "X:1")], overwrite=True)
            # A new thread opens the file of names by its path, which is another one now.
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(opened.terminology.concept, "X:1").result().label
        return _link(opened)

    assert served.use(work) == "coronary"
    assert len(met) == 2


def test_what_cannot_be_opened_leaves_the_old_index_in_use(folder: Path, caplog: Log) -> None:
    served = Served("small", folder)
    served.open()
    manifest = (folder / "canonym.json").read_text()
    (folder / "canonym.json").write_text("{")
    assert served.use(lambda opened: opened.linker.link(["heart attack"])[0].id) == "X:1"
    assert "cannot be opened; the old one stays" in caplog.text
    (folder / "canonym.json").unlink()
    assert served.use(lambda opened: opened.linker.link(["heart attack"])[0].id) == "X:1"
    (folder / "canonym.json").write_text(manifest)
    assert served.use(_link) != "coronary"


def test_an_index_that_is_missing_at_first_is_an_error(tmp_path: Path) -> None:
    served = Served("small", tmp_path / "none")
    with pytest.raises(ReadError):
        served.open()
    assert not served.is_open


def test_a_mismatch_without_a_replacement_is_an_error(index: Path) -> None:
    served = Served("small", index)
    served.open()

    def work(_: Opened) -> None:
        raise Mismatch("two things")

    with pytest.raises(Mismatch, match="two things"):
        served.use(work)


def test_names_are_searched_by_their_beginning(opened: Opened) -> None:
    def found(prefix: str, limit: int = 10) -> list[tuple[str, str]]:
        return [(concept.id, name) for concept, name in opened.search(prefix, limit)]

    assert found("Heart") == [("X:1", "heart attack")]
    assert found("cold") == [("X:4", "cold"), ("X:5", "cold")]
    assert found("cold", 1) == [("X:4", "cold")]
    assert found("COLD  temp") == [("X:5", "Cold temperature")]
    assert found("h") == [("X:6", "Hip fracture"), ("X:1", "Herzinfarkt")]
    assert found("X:3") == [("X:3", "Type 2 diabetes mellitus")]
    assert found("D434") == [("X:3", "Type 2 diabetes mellitus")]
    assert found("?!") == found("nothing of the kind") == []


def test_enough_concepts_are_found_where_one_has_many_names(tmp_path: Path) -> None:
    names = [Name(f"heart {number}", "Y:1") for number in range(40)]
    records = [Concept("Y:1", "heart"), *names, Concept("Y:2", "heart of a longer name")]
    build(tmp_path / "index", records)
    served = Served("many", tmp_path / "index")
    served.open()
    found = served.use(lambda opened: opened.search("heart", 2))
    assert [concept.id for concept, _ in found] == ["Y:1", "Y:2"]
    assert [concept.id for concept, _ in served.use(lambda o: o.search("heart 1", 5))] == ["Y:1"]


def test_added_names_are_searched_too(folder: Path) -> None:
    served = Served("small", folder)
    served.open()
    served.use(lambda opened: opened.linker.synonyms.add("the big one", "X:1"))
    assert served.use(lambda o: [name for _, name in o.search("big", 5)]) == []
    assert served.use(lambda o: [name for _, name in o.search("the b", 5)]) == ["the big one"]
    assert served.use(lambda o: o.names("X:1"))[-1].text == "the big one"


def test_sorted_names_are_kept_where_that_is_possible(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "cache"))
    Served("small", index).open()
    (kept,) = (tmp_path / "cache").iterdir()
    assert {file.name for file in kept.iterdir()} == {"rows.npy", "ranks.npy"}
    (tmp_path / "file").touch()
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "file"))
    served = Served("small", index)
    served.open()
    assert len(served.use(lambda opened: opened.search("heart", 5))) == 1
