"""Synonyms and forbidden pairs: the file beside an index, and what linking makes of it."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import Concept, Linker, Mention, Name, Terminology, Xref
from canonym.encoders.static import StaticVectors
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.linking.settings import SEARCHES
from canonym.terminology.overlay import ADDED, MARK, OVERLAY, Overlay, OverlayContent, merge_into

# --- the file ------------------------------------------------------------------------------------


def added(*texts: str, id_: str = "X:1") -> OverlayContent:
    return OverlayContent(tuple(Name(text, id_, source=ADDED) for text in texts))


def barred(*pairs: tuple[str, str]) -> OverlayContent:
    return OverlayContent(forbidden=pairs)


def remove(overlay: Overlay) -> None:
    """Remove what was added on purpose: the file, and the mark that says that there was one."""
    overlay.path.unlink(missing_ok=True)
    overlay.path.with_name(OVERLAY + MARK).unlink(missing_ok=True)


@pytest.fixture
def overlay(tmp_path: Path) -> Overlay:
    return Overlay(tmp_path / "overlay.db")


def test_what_is_written_is_read_and_each_only_once(overlay: Overlay) -> None:
    assert overlay.read() == OverlayContent()
    assert not overlay.path.exists()
    assert overlay.write(added("a", "b")) == added("a", "b")
    assert overlay.write(added("b", "c")) == added("c")
    assert overlay.write(barred(("m", "X:2"), ("l", "X:1"))) == barred(("m", "X:2"), ("l", "X:1"))
    assert overlay.read() == added("a", "b", "c")._replace(forbidden=(("l", "X:1"), ("m", "X:2")))
    assert overlay.remove(added("b", "z")) == added("b")
    assert overlay.remove(added("b")) == OverlayContent()
    assert overlay.read().synonyms == added("a", "c").synonyms


def test_notes_stay_as_long_as_what_they_are_about(overlay: Overlay, tmp_path: Path) -> None:
    overlay.note({("a", "X:1"): "by Ann"})
    assert (overlay.notes(), overlay.path.exists()) == ({}, False)
    overlay.write(added("a", "b")._replace(forbidden=(("m", "X:2"),)))
    assert overlay.notes() == {}
    content = overlay.read()
    overlay.note({("a", "X:1"): "by Ann", ("m", "X:2"): "by Bob", ("z", "X:1"): "by nobody"})
    assert overlay.read() is content
    assert overlay.notes() == {("a", "X:1"): "by Ann", ("m", "X:2"): "by Bob"}
    overlay.copy(tmp_path / "copy.db")
    assert Overlay(tmp_path / "copy.db").notes() == overlay.notes()
    overlay.remove(added("a"))
    overlay.write(added("a"))
    assert overlay.notes() == {("m", "X:2"): "by Bob"}
    overlay.check()


def test_pairs_are_the_same_by_their_normal_form(overlay: Overlay) -> None:
    overlay.write(barred(("Heart attacks", "X:1")))
    assert overlay.write(barred(("heart attack", "X:1"))) == OverlayContent()
    assert overlay.remove(barred(("heart attack", "X:2"))) == OverlayContent()
    assert overlay.remove(barred(("HEART attack", "X:1"))) == barred(("Heart attacks", "X:1"))


def test_content_is_the_same_object_until_something_changes(overlay: Overlay) -> None:
    assert overlay.read() is overlay.read()
    overlay.write(added("a"))
    first = overlay.read()
    assert overlay.read() is first
    overlay.write(added("a"))  # nothing new
    assert overlay.read() is first
    Overlay(overlay.path).write(added("b"))
    assert overlay.read().synonyms == added("a", "b").synonyms
    remove(overlay)
    assert overlay.read() == OverlayContent()


def test_another_file_in_its_place_is_another_overlay(overlay: Overlay) -> None:
    for texts in (("a", "b"), ("y", "z"), ("a",)):
        remove(overlay)  # as many changes as before, often at the same place
        for text in texts:
            Overlay(overlay.path).write(added(text))
        assert overlay.read() == added(*texts)


def test_a_lost_file_is_noticed(overlay: Overlay, tmp_path: Path) -> None:
    overlay.write(added("a"))
    overlay.copy(tmp_path / "copy.db")
    overlay.path.unlink()
    uses = (overlay.read, overlay.check, lambda: overlay.write(added("b")))
    for use in uses:
        with pytest.raises(
            ReadError, match=r"overlay\.db: is missing or empty, and .* remove .*\.db\.added"
        ):
            use()
    assert not overlay.path.exists()
    overlay.path.touch()
    with pytest.raises(ReadError, match="is missing or empty"):
        overlay.read()
    (tmp_path / "copy.db").rename(overlay.path)
    assert overlay.read() == added("a")
    (tmp_path / "copy.db.added").unlink()  # copies have a mark as well
    remove(overlay)
    assert overlay.read() == OverlayContent()
    assert overlay.write(added("b")) == added("b")


def test_a_mark_that_was_removed_is_back_with_the_next_change(overlay: Overlay) -> None:
    mark = overlay.path.with_name(OVERLAY + MARK)
    overlay.write(added("a"))
    mark.unlink()
    assert Overlay(overlay.path).read() == added("a")
    overlay.write(added("a"))  # nothing new
    assert not mark.exists()
    overlay.write(added("b"))
    assert mark.exists()


def test_a_writer_killed_between_mark_and_change_blocks_nobody(overlay: Overlay) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; "
        "from canonym.terminology.overlay import *; "
        "from canonym.types import Name; touch = Path.touch; "
        "Path.touch = lambda path: (touch(path), os.kill(os.getpid(), signal.SIGKILL)); "
        "Overlay(Path(sys.argv[1])).write(OverlayContent((Name('a', 'X:1'),)))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(overlay.path)], check=False, timeout=60)
    assert done.returncode < 0
    assert overlay.path.with_name(OVERLAY + MARK).exists()
    assert overlay.read() == OverlayContent()
    assert overlay.write(added("b")) == added("b")
    assert overlay.read() == added("b")


def test_writers_do_not_lose_what_others_write(overlay: Overlay) -> None:
    def write(number: int) -> None:
        for each in range(5):
            Overlay(overlay.path).write(added(f"t{number} {each}"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    code = (
        "import sys; from pathlib import Path; from canonym.terminology.overlay import *; "
        "from canonym.types import Name; overlay = Overlay(Path(sys.argv[1])); "
        "[overlay.write(OverlayContent((Name(f'p {n}', 'X:1'),))) for n in range(5)]"
    )
    for thread in threads:
        thread.start()
    subprocess.run([sys.executable, "-c", code, str(overlay.path)], check=True, timeout=60)
    for thread in threads:
        thread.join()
    Overlay(overlay.path).check()
    assert {name.text for name in overlay.read().synonyms} == {
        *(f"t{number} {each}" for number in range(3) for each in range(5)),
        *(f"p {n}" for n in range(5)),
    }


# --- its digest -----------------------------------------------------------------------------------


def change_bytes(overlay: Overlay, old: bytes, new: bytes) -> None:
    content = overlay.path.read_bytes()
    assert old in content
    overlay.path.write_bytes(content.replace(old, new))


def change(overlay: Overlay, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(overlay.path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


CHANGES: dict[str, Callable[[Overlay], None]] = {
    # The name is in the index of the table too: SQLite would notice one of them alone.
    "bytes of a name": lambda overlay: change_bytes(overlay, b"widow", b"wjdow"),
    "bytes of a mention": lambda overlay: change_bytes(overlay, b"lump", b"lunp"),
    "bytes that are no text": lambda overlay: change_bytes(overlay, b"lump", b"lum\xff"),
    "name": lambda overlay: change(overlay, "UPDATE synonyms SET name = 'wjdow'"),
    "concept": lambda overlay: change(overlay, "UPDATE synonyms SET concept = 'X:2'"),
    "language": lambda overlay: change(overlay, "UPDATE synonyms SET language = 'eo'"),
    "row": lambda overlay: change(overlay, "DELETE FROM synonyms"),
    "pair": lambda overlay: change(overlay, "INSERT INTO forbidden VALUES ('lump', 'X:3')"),
    "digest": lambda overlay: change(overlay, "UPDATE digest SET value = 'xyz'"),
    "no digest": lambda overlay: change(overlay, "DELETE FROM digest"),
    "a name that is no text": lambda overlay: change(overlay, "UPDATE synonyms SET name = x'00'"),
    "no identity": lambda overlay: change(overlay, "DELETE FROM identity"),
    "no table": lambda overlay: change(overlay, "DROP TABLE digest"),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_changed_letter_is_noticed(overlay: Overlay, changed: str) -> None:
    overlay.write(added("widow")._replace(forbidden=(("lump", "X:2"),)))
    Overlay(overlay.path).check()
    CHANGES[changed](overlay)
    with pytest.raises(ReadError, match=r"overlay\.db: is damaged \(.*\); restore it"):
        Overlay(overlay.path).read()
    with pytest.raises(ReadError, match="is damaged"):
        overlay.check()  # though it had been read before


def test_damage_stays_visible_after_further_changes(overlay: Overlay) -> None:
    overlay.write(added("widow", "maker"))
    change(overlay, "UPDATE synonyms SET name = 'wjdow' WHERE name = 'widow'")
    overlay.write(added("lump"))
    overlay.remove(added("maker"))
    with pytest.raises(ReadError, match="its content is not what its digest says"):
        Overlay(overlay.path).read()


def test_the_digest_follows_every_change(overlay: Overlay) -> None:
    german = OverlayContent((Name("Tumor", "X:2", language="de"),))
    pairs = (("lump", "X:1"), ("Lumps", "X:2"))
    steps: tuple[Callable[[], OverlayContent], ...] = (
        lambda: overlay.write(added("a", "a", "b")),
        lambda: overlay.write(german),
        lambda: overlay.write(barred(*pairs, ("LUMP", "X:2"))),
        lambda: overlay.remove(OverlayContent((Name("Tumor", "X:2"),) * 2)),  # another language
        lambda: overlay.remove(barred(("lumps", "X:2"), ("lump", "X:2"))),
        lambda: overlay.remove(added("a", "c")),
    )
    for step in steps:
        step()
        Overlay(overlay.path).check()
    assert overlay.read() == added("b")._replace(forbidden=pairs[:1])


def test_a_file_of_another_version_is_refused(overlay: Overlay) -> None:
    overlay.write(added("widow"))
    change(overlay, f"PRAGMA application_id = {0x63616F31}")
    for use in (overlay.read, Overlay(overlay.path).check, lambda: overlay.write(added("maker"))):
        with pytest.raises(Mismatch, match="another version of canonym: use that one or a newer"):
            use()


def test_a_writer_waits_so_long(overlay: Overlay, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay.write(added("a"))
    monkeypatch.setattr("canonym.terminology.overlay._PATIENCE", 0.05)
    other = sqlite3.connect(overlay.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InvalidInput, match="written to by another process"):
        overlay.write(added("b"))
    assert overlay.read() == added("a")  # readers need not wait
    other.execute("ROLLBACK")
    other.close()
    assert overlay.write(added("b")) == added("b")


def test_a_change_is_whole_or_absent(overlay: Overlay) -> None:
    overlay.write(added("a"))
    wrong = Name("c", None)  # type: ignore[arg-type]
    with pytest.raises(ReadError):
        overlay.write(OverlayContent((Name("b", "X:1"), wrong)))
    assert overlay.read() == added("a")


def test_a_copy_is_as_it_was(overlay: Overlay, tmp_path: Path) -> None:
    overlay.copy(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    overlay.write(added("a"))
    overlay.copy(tmp_path / "copy.db")
    overlay.write(added("b"))
    assert Overlay(tmp_path / "copy.db").read() == added("a")


def test_other_files_are_refused(overlay: Overlay, tmp_path: Path) -> None:
    overlay.path.write_bytes(b"")
    assert overlay.read() == OverlayContent()  # about to be made
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE x (y)")
    with pytest.raises(ReadError, match="not a file of added"):
        Overlay(tmp_path / "other.db").read()
    (tmp_path / "text.db").write_text("no database, but long enough to be taken for one" * 50)
    with pytest.raises(ReadError, match="is damaged"):
        Overlay(tmp_path / "text.db").read()
    with sqlite3.connect(tmp_path / "newer.db") as newer:
        newer.execute(f"PRAGMA application_id = {0x63616F33}")
        newer.execute("CREATE TABLE x (y)")
    with pytest.raises(Mismatch, match="another version of canonym"):
        Overlay(tmp_path / "newer.db").read()
    with pytest.raises(OSError, match="unable to open"):
        Overlay(tmp_path / "missing" / "overlay.db").write(added("a"))


# --- linkers --------------------------------------------------------------------------------------

RECORDS = [
    Concept("X:1", "Myocardial infarction", types=("disease",), source="Hearts"),
    Name("heart attack", "X:1"),
    Concept("X:2", "Breast cancer", types=("disease", "neoplasm"), source="Tumours"),
    Concept("X:3", "Ovarian cancer", types=("disease", "neoplasm"), source="Tumours"),
    Concept("X:4", "Cancer", types=("neoplasm",), source="Tumours"),
    Concept("X:5", "Aspirin", types=("drug",), source="Drugs"),
    Concept("X:6", types=("sign",), source="Signs"),
    Xref("X:5", "X:500", kind="alternative"),
]
WORDS = sorted({word for r in RECORDS if isinstance(r, Name) for word in r.text.lower().split()})
WORDS += sorted(
    {word for r in RECORDS if isinstance(r, Concept) for word in r.label.lower().split()}
)
WORDS += ["widow", "maker", "big", "lump", "headache"]
BARE: dict[str, Any] = {"sieves": (), "spelling": False, "composites": False, "min_length": 1}


def vectors() -> StaticVectors:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((len(WORDS), 6)).astype(np.float32)
    return StaticVectors(list(WORDS), table)


def build(*further: Name, **options: Any) -> Linker:
    options = {"encoders": ["chargrams", vectors()], **options}
    return Linker.build(Terminology.build([*RECORDS, *further]), **options)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overlay") / "index"
    build(folder=folder)
    return folder


@pytest.fixture
def linker(built: Path, tmp_path: Path) -> Linker:
    return Linker.load(shutil.copytree(built, tmp_path / "index"))


def best(linker: Linker, *mentions: str, **options: Any) -> list[str | None]:
    return [link.id for link in linker.link(mentions, **options)]


# --- synonyms -------------------------------------------------------------------------------------


def test_a_synonym_is_found_by_sieves_and_search_and_goes_again(linker: Linker) -> None:
    before = linker.link(["the widow maker", "widow makers", "big widow maker"], k=6)
    assert linker.synonyms.add("Widow maker", "X:1")
    assert not linker.synonyms.add("Widow maker", "X:1")
    found = linker.link(["the widow maker", "widow makers", "big widow maker"], k=6)
    assert [link.id for link in found] == ["X:1"] * 3
    assert [link.candidates[0].sieve for link in found] == ["reordered", "normalised", "search"]
    top = found[2].candidates[0]
    assert (top.name, top.scope) == ("Widow maker", "exact")
    assert set(top.parts) == {"chargrams", "static"}
    assert min(top.parts.values()) > 0.5
    assert [(name.text, name.concept_id) for name in linker.synonyms] == [("Widow maker", "X:1")]
    linker.synonyms.remove("Widow maker", "X:1")
    assert not len(linker.synonyms)
    assert linker.link(["the widow maker", "widow makers", "big widow maker"], k=6) == before


@pytest.mark.parametrize("search", SEARCHES)
def test_added_is_as_if_it_had_been_there_always(search: str) -> None:
    """Whatever is searched: an index with a name added equals one that was built with it."""
    mentions = [("lump", "X:2"), ("big lump", "X:4")] if "D" in search else None
    # Where there are training mentions, added names count among these as well.
    more = [Name("big headache", "X:6"), Name("headache", "X:1"), Name("lump", "X:3")]
    with_them = None if mentions is None else mentions + [(n.text, n.concept_id) for n in more]
    built = build(*more, mentions=with_them, encoders=[vectors()], search=search, **BARE)
    taught = build(mentions=mentions, encoders=[vectors()], search=search, **BARE)
    assert taught.synonyms.update(more) == (3, 0)
    asked = ["headache", "big lump", "widow lump", "cancer maker", "heart headache"]
    for one, other in zip(taught.link(asked, k=6), built.link(asked, k=6), strict=True):
        assert {c.id: c.score for c in one.candidates} == pytest.approx(
            {c.id: c.score for c in other.candidates}, abs=1e-6
        )
    assert any(link.candidates for link in taught.link(asked))


def test_several_names_of_a_concept_are_added_at_once(linker: Linker) -> None:
    names = [Name(text, "X:1") for text in ("widow maker", "big headache", "heart attack")]
    assert linker.synonyms.update(names, [("lump", "X:2"), ("lump", "X:3")]) == (2, 2)
    assert [name.text for name in linker.synonyms] == ["widow maker", "big headache"]
    assert linker.synonyms.forbidden == (("lump", "X:2"), ("lump", "X:3"))
    assert linker.info()["added"] == {"synonyms": 2, "forbidden pairs": 2}


def test_a_concept_without_a_name_can_get_one(linker: Linker) -> None:
    linker.synonyms.add("headache", "X:6")
    assert best(linker, "headaches") == ["X:6"]
    assert best(linker, "headaches", types=["sign"], ids=["X:6", "X:5"]) == ["X:6"]


def test_alternative_ids_are_those_of_the_concept(linker: Linker) -> None:
    linker.synonyms.add("big lump", "X:500")
    assert best(linker, "big lump") == ["X:5"]
    linker.synonyms.remove("big lump", "X:500")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"types": ["drug"]}, "X:5"),
        ({"types": ["DISEASE"]}, "X:1"),
        ({"sources": ["drugs"]}, "X:5"),
        ({"ids": ["X:500"]}, "X:5"),
        ({"ids": ["X:1", "X:2"]}, "X:1"),
        ({"languages": ["en"]}, "X:1"),
    ],
)
@pytest.mark.parametrize("mention", ["widow maker", "big widow maker"])
def test_filters_stay_exact(
    linker: Linker, options: dict[str, Any], wanted: str, mention: str
) -> None:
    for id_ in ("X:1", "X:5"):
        linker.synonyms.add("widow maker", id_)
    linker.synonyms.add("big widow maker", "X:4", language="de")
    link = linker.link([mention], min_confidence=0, **options)[0]
    assert link.id == wanted
    assert link.candidates[0].name == "widow maker"


def test_names_that_are_there_anyway_are_not_added(linker: Linker) -> None:
    assert not linker.synonyms.add("heart attack", "X:1")
    assert not len(linker.synonyms)
    assert linker.synonyms.add("heart attack", "X:2")  # of another concept it is new
    assert {c.id for c in linker.link(["heart attack"])[0].candidates[:2]} == {"X:1", "X:2"}


def test_what_an_index_has_by_itself_is_not_removed(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match=r"in the terminology itself.*forbid it"):
        linker.synonyms.remove("heart attack", "X:1")
    with pytest.raises(InvalidInput, match="was not added"):
        linker.synonyms.remove("nothing", "X:1")
    learned = build(mentions=[("lump", "X:2")])
    assert not learned.synonyms.add("lump", "X:2")
    with pytest.raises(InvalidInput, match="a training mention of X:2"):
        learned.synonyms.remove("lump", "X:2")


@pytest.mark.parametrize(
    ("name", "id_", "told"),
    [
        ("...", "X:1", "no letter and no digit"),
        ("a\0b", "X:1", "no text"),
        ("\ud800a", "X:1", "no text"),
        ("lump", "X:9", "no concept has the id 'X:9'"),
        (7, "X:1", "a string is expected"),
        ("lump", None, "a string is expected"),
    ],
)
def test_what_cannot_be_used_changes_nothing(
    linker: Linker, name: Any, id_: Any, told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        linker.synonyms.update([Name("big lump", "X:1"), Name(name, id_)])
    with pytest.raises(InvalidInput, match=told):
        linker.synonyms.forbid(name, id_)
    assert not len(linker.synonyms)
    assert not (linker.folder / "overlay.db").exists()


def test_others_see_it_at_once(linker: Linker) -> None:
    other = Linker.load(linker.folder)
    stream = other.link_stream(["widow maker"] * 4, batch=2)
    assert next(stream).candidates[0].sieve == "search"
    code = (
        "import sys; from canonym import Linker; linker = Linker.load(sys.argv[1]); "
        "linker.synonyms.add('widow maker', 'X:1'); linker.synonyms.forbid('Cancer', 'X:4')"
    )
    subprocess.run([sys.executable, "-c", code, str(linker.folder)], check=True, timeout=60)
    sieves = [link.candidates[0].sieve for link in stream]
    assert sieves == ["search", "verbatim", "verbatim"]  # the second batch is new
    assert best(linker, "widow maker", "cancer")[0] == "X:1"
    assert best(linker, "cancer") != ["X:4"]


def test_threads_link_while_others_teach(linker: Linker) -> None:
    wrong: list[object] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            for link in linker.link(["heart attack", "widow maker"]):
                best = link.candidates[0]
                if (best.name, best.id) == ("heart attack", "X:1"):
                    continue
                if not (best.name == "widow maker" and best.id == "X:2") and best.sieve != "search":
                    wrong.append(link)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(10):
        linker.synonyms.add("widow maker", "X:2")
        linker.synonyms.add(f"big lump {turn}", "X:3")
        linker.synonyms.remove("widow maker", "X:2")
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(linker.synonyms) == 10


def test_the_fingerprint_follows(linker: Linker) -> None:
    first = linker.fingerprint
    linker.synonyms.add("lump", "X:2")
    second = linker.fingerprint
    linker.synonyms.forbid("lump", "X:2")
    assert len({first, second, linker.fingerprint}) == 3
    linker.synonyms.allow("lump", "X:2")
    assert linker.fingerprint == second
    linker.synonyms.remove("lump", "X:2")
    assert linker.fingerprint == first


# --- forbidden pairs ------------------------------------------------------------------------------


@pytest.mark.parametrize("mention", ["heart attack", "Heart attacks", "heart attak", "cancers"])
def test_a_forbidden_concept_is_never_found_and_all_else_stays(
    linker: Linker, mention: str
) -> None:
    others = ["myocardial infarction", "breast cancer", "heart", "ovarian"]
    before = linker.link([mention, *others], k=6)
    (ranked,) = [[c.id for c in before[0].candidates]]
    assert linker.synonyms.forbid(mention.upper(), ranked[0])
    assert not linker.synonyms.forbid(mention, ranked[0])
    after = linker.link([mention, *others], k=6)
    rest = after[0].candidates
    assert ranked[0] not in {c.id for c in rest}
    # What is left is what a filter without the concept leaves.
    ids = [f"X:{n}" for n in range(1, 7) if f"X:{n}" != ranked[0]]
    assert rest == linker.link([mention], k=6, ids=ids)[0].candidates
    assert after[1:] == before[1:]
    linker.synonyms.allow(mention, ranked[0])
    assert linker.link([mention, *others], k=6) == before


def test_a_pair_holds_for_the_parts_and_forms_of_a_mention(linker: Linker) -> None:
    composite = "breast and ovarian cancer"
    assert linker.link([composite])[0].ids == ("X:2", "X:3")
    linker.synonyms.forbid(composite, "X:3")
    link = linker.link([composite])[0]
    assert "X:3" not in {*link.ids, *(c.id for p in (link, *link.parts) for c in p.candidates)}
    assert best(linker, "ovarian cancer") == ["X:3"]
    linker.synonyms.allow(composite, "X:3")
    linker.synonyms.forbid("ovarian cancer", "X:3")  # a part of the composite mention
    for part in linker.link([composite])[0].parts:
        assert part.mention.text == "breast cancer" or "X:3" not in part.ids
    linker.synonyms.allow("ovarian cancer", "X:3")
    mention = Mention("OC", context="ovarian cancer (OC)")
    assert linker.link([mention])[0].id == "X:3"
    linker.synonyms.forbid("OC", "X:3")  # what was written, not only what it stands for
    assert linker.link([mention])[0].id != "X:3"
    linker.synonyms.allow("OC", "X:3")
    linker.synonyms.forbid("ovarian cancers", "X:3")
    assert linker.link([mention])[0].id != "X:3"


def test_allowing_what_is_not_forbidden_is_an_error(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="X:1 is not forbidden for 'lump'"):
        linker.synonyms.allow("lump", "X:1")
    linker.synonyms.forbid("lump", "X:500")
    assert linker.synonyms.forbidden == (("lump", "X:5"),)


def test_forbidding_reaches_added_names_and_other_targets() -> None:
    for search in ("OD-C", "D-T + OD-T", "O-C"):
        mentions = [("lump", "X:2")] if "D" in search else None
        linker = build(mentions=mentions, search=search)
        linker.synonyms.add("widow maker", "X:1")
        assert best(linker, "widow maker") == ["X:1"]
        linker.synonyms.forbid("widow maker", "X:1")
        assert all(c.id != "X:1" for c in linker.link(["widow maker"], k=6)[0].candidates)


# --- saving and folding ---------------------------------------------------------------------------


def test_saving_takes_it_along_and_overwriting_does_not_lose_it(
    linker: Linker, tmp_path: Path
) -> None:
    linker.synonyms.add("lump", "X:2")
    linker.save(tmp_path / "saved")
    linker.synonyms.add("big lump", "X:2")
    saved = Linker.load(tmp_path / "saved")
    assert [name.text for name in saved.synonyms] == ["lump"]
    with pytest.raises(InvalidInput, match=r"1 added synonyms and 0 .*would be lost"):
        build(folder=tmp_path / "saved", overwrite=True)
    with pytest.raises(InvalidInput, match="would be lost"):
        linker.save(tmp_path / "saved", overwrite=True)
    saved.synonyms.remove("lump", "X:2")
    linker.save(tmp_path / "saved", overwrite=True)
    assert len(Linker.load(tmp_path / "saved").synonyms) == 2


def test_folding_makes_names_of_synonyms(linker: Linker, tmp_path: Path) -> None:
    linker.synonyms.add("lump", "X:2")
    linker.synonyms.add("big lump", "X:500", language="de")
    linker.synonyms.forbid("cancer", "X:4")
    asked = ["lump", "big lumps", "cancer", "widow"]
    before = linker.link(asked, k=6)
    folded = build(fold=linker.folder, folder=tmp_path / "new")
    assert not len(folded.synonyms)
    assert folded.synonyms.forbidden == (("cancer", "X:4"),)
    assert [link.ids for link in folded.link(asked)] == [link.ids for link in before]
    names = folded.terminology.names("X:5")
    assert [(n.text, n.language, n.source) for n in names][-1] == ("big lump", "de", "added")
    assert folded.terminology.n_names == linker.terminology.n_names + 2
    assert folded.terminology.concept("X:1") == linker.terminology.concept("X:1")
    assert folded.terminology.resolve("X:500") == "X:5"
    # Names that were folded before are folded again, from the source as it is.
    again = build(fold=tmp_path / "new", folder=tmp_path / "new", overwrite=True)
    assert again.terminology.digest == folded.terminology.digest
    assert again.synonyms.forbidden == folded.synonyms.forbidden


def test_names_that_a_new_release_has_are_not_added_again(linker: Linker) -> None:
    linker.synonyms.add("lump", "X:2")
    newer = Terminology.build([*RECORDS, Name("lump", "X:2")])
    merged = merge_into(newer, linker.folder, newest=2)
    assert merged.terminology is newer
    assert merged.rest == OverlayContent()


def test_another_release_keeps_what_it_cannot_place(linker: Linker) -> None:
    linker.synonyms.add("lump", "X:2")
    linker.synonyms.add("widow maker", "X:1")
    linker.synonyms.forbid("lump", "X:2")
    newer = Terminology.build([r for r in RECORDS if "X:2" not in str(r)])
    folded, rest = merge_into(newer, linker.folder, newest=2)
    assert [(n.text, n.concept_id) for n in rest.synonyms] == [("lump", "X:2")]
    assert rest.forbidden == (("lump", "X:2"),)
    assert [n.text for n in folded.names("X:1")][-1] == "widow maker"
    kept = Linker.build(newer, encoders=["chargrams"], fold=linker.folder)
    assert [n.text for n in kept.synonyms] == ["lump"]
    assert best(kept, "widow maker") == ["X:1"]
    assert "X:2" not in {c.id for c in kept.link(["lump"], k=9)[0].candidates}


def test_without_anything_to_fold_the_terminology_is_the_same(linker: Linker) -> None:
    folded = merge_into(linker.terminology, linker.folder, newest=2)
    assert folded.terminology is linker.terminology
    with pytest.raises(InvalidInput, match="no such folder"):
        build(fold=linker.folder / "nowhere")


@pytest.mark.parametrize("search", SEARCHES)
def test_added_and_training_names_stand_beside_lists_as_beside_an_exact_index(
    search: str,
) -> None:
    mentions = [("the big one", "X:1")] if "D" in search else None
    answers = []
    for kind in ("exact", "ivf"):
        linker = Linker.build(
            Terminology.build(RECORDS),
            encoders=["default"],
            mentions=mentions,
            search=search,
            kind=kind,
        )
        assert linker.manifest["encoders"][0]["index"] == kind
        linker.synonyms.add("ticker trouble", "X:2")
        answers.append(linker.link(["big one", "tickers trouble", "myocardial infarct"], k=4))
    assert answers[0] == answers[1]
    assert answers[1][1].id == "X:2"


def test_names_of_before_still_work_and_say_what_to_write(linker: Linker) -> None:
    with pytest.warns(DeprecationWarning, match=r"add_synonym is linker\.synonyms\.add now"):
        assert linker.add_synonym("big lump", "X:1")
    with pytest.warns(DeprecationWarning, match=r"forbid is linker\.synonyms\.forbid now"):
        assert linker.forbid("lump", "X:2")
    with pytest.warns(DeprecationWarning, match=r"list\(linker\.synonyms\)"):
        assert [name.text for name in linker.synonyms()] == ["big lump"]
    with pytest.warns(DeprecationWarning, match=r"linker\.synonyms\.forbidden"):
        assert linker.forbidden() == (("lump", "X:2"),)
    with pytest.raises(AttributeError, match="no attribute 'add_names'"):
        linker.add_names()
