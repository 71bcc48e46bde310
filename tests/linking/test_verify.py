"""Damage to an index: noticed when it is opened, or by a comparison of every file."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import Linker, Terminology
from canonym.cli.failures import Unusable, reported
from canonym.encoders.subword import Subword
from canonym.errors import CanonymError, Mismatch, ReadError
from canonym.io.files import CHECKSUMS, MANIFEST
from canonym.linking.judge import JUDGE
from canonym.linking.verify import verify_index
from canonym.terminology.overlay import MARK, OVERLAY
from tests.linkers import concepts

RECORDS = concepts(
    "X:1|Myocardial infarction|heart attack",
    "X:2|Hip fracture|broken hip",
    "X:3|Diabetes mellitus",
)
MENTIONS = [("the big one", "X:1"), ("hip broke", "X:2"), ("sugar", "X:3")]
ASKED = ["heart atack", "hip broke", "Broken Hips", "diabetes", "big"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with every kind of file that building writes."""
    folder = tmp_path_factory.mktemp("verify") / "index"
    # As the shipped encoder, which has 16 MB that each test would copy and damage.
    table = np.random.default_rng(0).normal(size=(1 << 12, 16)).astype(np.float32)
    linker = Linker.build(
        Terminology.build(RECORDS),
        encoders=[Subword(table, rarity=0.5), "chargrams"],
        mentions=MENTIONS,
        search="D-T + OD-C",
        folder=folder,
    )
    linker.synonyms.add("cracked hip", "X:2")
    return folder


@pytest.fixture
def index(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "index")
    return tmp_path / "index"


def unsigned(index: Path) -> None:
    """Take the checksums away."""
    for file in index.rglob(CHECKSUMS):
        file.unlink()


def found(index: Path) -> dict[str, str]:
    return dict(verify_index(index).findings)


def use(index: Path) -> list[str | None]:
    """Open an index and link with it, as a command does; what it finds."""
    return [link.id for link in Linker.load(index).link(ASKED)]


def refused(index: Path) -> str:
    """Return the message with which a command refuses an index, "" where it is used."""
    try:
        with reported():
            use(index)
    except Unusable as error:
        return str(error)
    return ""


def damages(content: bytes) -> dict[str, bytes]:
    rng = random.Random(len(content))
    flipped = bytearray(content)
    flipped[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return {
        "truncated": content[: len(content) // 2],
        "empty": b"",
        "random": rng.randbytes(len(content)),
        "flipped": bytes(flipped),
    }


def files_of(index: Path) -> list[Path]:
    return [file for file in sorted(index.rglob("*")) if file.is_file() and file.stat().st_size]


def test_a_sound_index_has_no_findings(index: Path) -> None:
    assert verify_index(index) == ((), len(Linker.load(index).manifest["files"]) + 1, True)


def test_every_damage_is_found_by_the_comparison(index: Path) -> None:
    for file in files_of(index):
        name, whole = file.relative_to(index).as_posix(), file.read_bytes()
        if name in (OVERLAY, f"encoder-0/{CHECKSUMS}", f"encoder-1/{CHECKSUMS}"):
            continue  # the one has no checksum, the others are of no account here
        for kind, content in damages(whole).items():
            file.write_bytes(content)
            try:
                noticed = verify_index(index)
            except CanonymError:
                continue  # nothing can be compared
            finally:
                file.write_bytes(whole)
            assert noticed.findings or not noticed.checksums, (name, kind)
    assert not found(index)


@pytest.mark.parametrize("checksums", [True, False])
def test_no_damage_ends_in_a_traceback(index: Path, checksums: bool) -> None:
    if not checksums:
        unsigned(index)
    expected = use(index)
    for file in files_of(index):
        name, whole = file.relative_to(index).as_posix(), file.read_bytes()
        for kind, content in damages(whole).items():
            file.write_bytes(content)
            message = refused(index)
            file.write_bytes(whole)
            assert message or kind == "flipped" or name == f"index-0/{CHECKSUMS}", (name, kind)
    assert use(index) == expected


def test_a_missing_file_is_refused_and_found(index: Path) -> None:
    for name in Linker.load(index).manifest["files"]:
        (index / name).rename(index.parent / "aside")
        assert found(index).get(name) == "this file of the saved folder is missing", name
        assert "is missing" in refused(index), name
        (index.parent / "aside").rename(index / name)


def keys_of(value: Any, *path: str | int) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, one in inner:
        found.append((*path, key))
        if isinstance(one, dict | list):
            found += keys_of(one, *path, key)
    return found


@pytest.mark.parametrize("checksums", [True, False])
def test_a_manifest_with_other_values_is_refused(index: Path, checksums: bool) -> None:
    if not checksums:
        unsigned(index)
    manifest = index / MANIFEST
    text = manifest.read_text()
    # Without checksums these may have other values, or be left out.
    free = {"mentions", "search", "search_threshold", "name", "files", "sieves", "steps"}
    free |= {"rarity"}
    changes = (None, [], "x", "removed") if checksums else ([], "removed")
    for path, change in itertools.product(keys_of(json.loads(text)), changes):
        content = json.loads(text)
        place = content
        for key in path[:-1]:
            place = place[key]
        if change == "removed":
            del place[path[-1]]
        else:
            place[path[-1]] = change
        manifest.write_text(json.dumps(content))
        message = refused(index)
        assert message or (not checksums and free & set(path)), (path, change)
    manifest.write_text(text)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rows/concept_of_row.npy", lambda rows: rows + 2),
        ("rows/concept_of_row.npy", lambda rows: rows - 1),
        ("rows/concept_of_row.npy", lambda rows: rows.astype(np.float32)),
        ("rows/concept_of_row.npy", lambda rows: rows[:, None]),
        ("rows/scope_of_row.npy", lambda scopes: scopes + np.int8(100)),
        ("rows/id_rank.npy", lambda ranks: ranks[:-1]),
        ("sieve-verbatim/rows.npy", lambda rows: rows + 1),
        ("sieve-verbatim/keys.npy", lambda keys: keys.astype(np.int64)),
        ("learned/concepts.npy", lambda concepts: concepts + 9),
        ("learned/sieve-verbatim/rows.npy", lambda rows: rows + 1),
        ("means/OD/owners.npy", lambda owners: owners - 1),
        ("means/OD/owners.npy", lambda owners: owners[:-1]),
        ("index-0/vectors.npy", lambda vectors: vectors[:-1]),
        ("index-0/vectors.npy", lambda vectors: vectors.astype(np.float64)),
        ("index-1/indptr.npy", lambda starts: starts + 1),
        ("index-1/places.npy", lambda places: places - 1),
        ("index-1/n_columns.npy", lambda n: n - 1),
        ("speller/starts.npy", lambda starts: starts[:-1]),
        ("speller/starts.npy", lambda starts: -starts),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    index: Path, name: str, change: Callable[[Any], Any]
) -> None:
    unsigned(index)
    changed = change(np.load(index / name))
    assert changed.size, "nothing would be changed"
    np.save(index / name, changed)
    manifest = json.loads((index / MANIFEST).read_text())
    manifest["files"][name] = (index / name).stat().st_size
    (index / MANIFEST).write_text(json.dumps(manifest))
    assert "build the index again" in refused(index)


def test_a_terminology_changed_in_place_is_noticed(index: Path) -> None:
    path = index / "terminology.db"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE names SET text = 'heart attach' WHERE row = 1")
    connection.close()
    assert "checksum" in found(index)["terminology.db"]
    unsigned(index)
    assert "something else than what the index was built for" in found(index)["terminology.db"]
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM names WHERE row = 4")
    connection.close()
    with pytest.raises(ReadError, match="the names are not the 5 that were written"):
        Linker.load(index)


def test_an_added_name_changed_in_place_is_noticed(index: Path) -> None:
    path = index / OVERLAY
    path.write_bytes(path.read_bytes().replace(b"cracked hip", b"crackod hip"))
    assert found(index).keys() == {OVERLAY}
    assert "not what its digest says" in found(index)[OVERLAY]
    assert "not what its digest says" in refused(index)


def test_other_files_and_lost_ones_are_found(index: Path) -> None:
    (index / "notes.txt").touch()
    (index / OVERLAY).unlink()
    (index / JUDGE).write_text("{}")
    problems = found(index)
    assert problems.keys() == {"notes.txt", OVERLAY, JUDGE}
    assert problems["notes.txt"] == "is no file of this index"
    assert f"remove {index / OVERLAY}{MARK}" in problems[OVERLAY]
    assert "is damaged" in problems[JUDGE]


def test_an_index_without_checksums_opens(index: Path) -> None:
    unsigned(index)
    assert use(index)
    verified = verify_index(index)
    assert not verified.findings
    assert not verified.checksums


def test_what_is_no_index_is_refused(index: Path, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such folder"):
        verify_index(tmp_path / "nothing")
    with pytest.raises(Mismatch, match="a linker is expected"):
        verify_index(index / "encoder-0")
