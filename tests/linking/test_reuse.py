"""An index built with the help of an earlier one is, byte by byte, the index built without it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym.encoders.chargrams import CharGrams
from canonym.encoders.residual import Residual
from canonym.encoders.static import StaticVectors
from canonym.encoders.subword import Subword
from canonym.errors import CanonymError, InvalidInput, ReadError
from canonym.io.files import CHECKSUMS
from canonym.linker import Linker
from canonym.linking import build as building
from canonym.terminology import Terminology
from canonym.types import Concept, Encoder, Name
from tests.cli.running import run
from tests.linkers import contents

WORDS = ["heart", "attack", "Panic", "β-cell", "failure", "of", "hips", "2", "II", "left", "!"]


def _subword() -> Subword:
    table = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    return Subword(table)


def _static() -> StaticVectors:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3, 6)).astype(np.float32)
    buckets = rng.normal(size=(64, 6)).astype(np.float32)
    return StaticVectors(["heart", "attack", "2"], vectors, buckets=buckets, n_min=3, n_max=5)


def _residual() -> Residual:
    rng = np.random.default_rng(1)
    shapes = {
        "hidden.weight": (40, 8),
        "hidden.bias": (40,),
        "output.weight": (8, 40),
        "output.bias": (8,),
    }
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return Residual(_subword(), weights)


ENCODERS: dict[str, Callable[[], list[str | Encoder]]] = {
    "no encoder": lambda: [],
    "subword": lambda: [_subword()],
    "quantised subword": lambda: [_subword().quantised()],
    "subword that weighs words": lambda: [Subword(_subword().table, rarity=0.5).quantised()],
    "static": lambda: [_static()],
    "fitted chargrams": lambda: [CharGrams().fit(WORDS)],
    "chargrams yet to be fitted": lambda: [_subword(), "chargrams"],
}


def _names(chance: random.Random, n: int) -> list[tuple[str, str]]:
    """Make up names, some of several concepts, some repeated, some without a letter."""
    return [
        (" ".join(chance.choices(WORDS, k=chance.randint(1, 4))), f"X:{chance.randint(1, n // 2)}")
        for _ in range(n)
    ]


def _changed(chance: random.Random, names: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Remove, rename, add and reorder some names; let some be of other concepts."""
    kept = [pair for pair in names if chance.random() > 0.1]
    for place in chance.sample(range(len(kept)), 8):
        text, concept = kept[place]
        kept[place] = chance.choice([(f"{text} new", concept), (text, "X:1"), (text, "Y:1")])
    kept += _names(chance, 9)
    if chance.random() < 0.5:
        chance.shuffle(kept)
    return kept


def _terminology(names: list[tuple[str, str]], path: Path) -> Terminology:
    return Terminology.build((Name(text, concept) for text, concept in names), path)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ENCODERS)
def test_every_byte_is_that_of_a_whole_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, seed: int
) -> None:
    chance = random.Random(seed)
    names = _names(chance, 80)
    old, new = (tmp_path / name for name in ("old.db", "new.db"))
    options: dict[str, Any] = {"kind": ("exact", "ivf")[seed % 2]}
    Linker.build(
        _terminology(names, old), folder=tmp_path / "old", encoders=ENCODERS[kind](), **options
    )
    later = _terminology(_changed(chance, names), new)
    Linker.build(later, folder=tmp_path / "whole", encoders=ENCODERS[kind](), **options)
    monkeypatch.setattr(building, "_BATCH", 7)
    if seed == 3:  # what is fitted anew is encoded in a process of its own
        monkeypatch.setattr(building, "_MANY", 10)
    Linker.build(
        later, folder=tmp_path / "new", encoders=ENCODERS[kind](), reuse=tmp_path / "old", **options
    )
    assert contents(tmp_path / "new") == contents(tmp_path / "whole")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """An index of three names, whose vectors and words are then used."""
    records = [Concept("X:1", "Heart attack"), Concept("X:2", "Hip fracture"), Name("Hip", "X:2")]
    terminology = Terminology.build(records, tmp_path / "old.db")
    Linker.build(terminology, folder=tmp_path / "old", encoders=[_subword()])
    return tmp_path / "old"


def _reuse(old: Path, *encoders: str | Encoder, **options: Any) -> dict[str, tuple[int, int]]:
    """Build an index of two of the names and a new one; return the last report of every stage."""
    told: dict[str, tuple[int, int]] = {}

    def report(stage: str, done: int, total: int) -> None:
        told[stage] = done, total

    records = [Concept("X:1", "Heart attack"), Concept("X:3", "Flu"), Name("Hip", "X:3")]
    terminology = Terminology.build(records, old.parent / "new.db", overwrite=True)
    given: dict[str, Any] = {"folder": old.parent / "new", "reuse": old, "progress": report}
    Linker.build(terminology, encoders=encoders, **given | options)
    return told


def test_only_new_names_are_encoded_and_normalised(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    encode = Subword.encode

    def remember(self: Subword, names: list[str]) -> Any:
        encoded.extend(names)
        return encode(self, names)

    encoder = _subword()
    monkeypatch.setattr(Subword, "encode", remember)
    told = _reuse(old, encoder)
    # What is asked of any index, everyday names, is encoded again.
    assert [name for name in encoded if name in ("Heart attack", "Flu", "Hip")] == ["Flu"]
    assert told["subword vectors reused"] == (2, 3)
    assert told["subword vectors"] == told["normal forms"] == (3, 3)


@pytest.mark.parametrize("lacking", [{"spelling": False}, {"sieves": ["verbatim"]}])
def test_what_the_earlier_index_lacks_is_made(
    tmp_path: Path, old: Path, lacking: dict[str, Any]
) -> None:
    with Terminology(tmp_path / "old.db") as terminology:
        Linker.build(terminology, folder=tmp_path / "less", encoders=[_subword()], **lacking)
    _reuse(old, _subword())
    _reuse(tmp_path / "less", _subword(), folder=tmp_path / "other")
    assert contents(tmp_path / "other") == contents(tmp_path / "new")


def _refused(old: Path, *encoders: str | Encoder, **options: Any) -> CanonymError:
    with pytest.raises(CanonymError) as caught:
        _reuse(old, *encoders, **options)
    assert not (old.parent / "new").exists()
    return caught.value


def test_an_index_of_another_encoder_is_refused(old: Path) -> None:
    for encoders in ((_subword().quantised(),), (_subword(), _static())):
        error = _refused(old, *encoders)
        assert isinstance(error, InvalidInput)
        assert "has other encoders (subword), or of other versions or options" in str(error)


def test_an_encoder_whose_batch_changes_its_bits_is_refused(old: Path) -> None:
    with Terminology(old.parent / "old.db") as terminology:
        Linker.build(terminology, folder=old.parent / "residual", encoders=[_residual()])
    error = _refused(old.parent / "residual", _residual())
    assert "vectors of Residual depend, in their last digits, on the names" in str(error)


@pytest.mark.parametrize(
    "name",
    [
        "terminology.db",
        "index-0/vectors.npy",
        "sieve-verbatim/keys.npy",
        "speller/counts.npy",
        "encoder-0/model.safetensors",
    ],
)
def test_a_damaged_index_is_refused(old: Path, name: str) -> None:
    whole = (old / name).read_bytes()
    (old / name).unlink()  # it may be a link
    (old / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    error = _refused(old, _subword())
    assert isinstance(error, ReadError)
    assert f"{name}: " in str(error)
    assert "is damaged" in str(error)


def test_an_index_without_checksums_is_refused(old: Path) -> None:
    (old / CHECKSUMS).unlink()
    assert "has no checksums" in str(_refused(old, _subword()))


def test_no_index_and_the_output_itself_are_refused(old: Path) -> None:
    assert "no such folder" in str(_refused(old.parent / "none", _subword()))
    before = contents(old)
    error = _refused(old, _subword(), folder=old, overwrite=True)
    assert "is to be replaced, and nothing can be taken over from it" in str(error)
    assert contents(old) == before


def test_an_index_of_an_earlier_format_is_refused(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "FORMAT", 3)
    assert "was built by an earlier canonym (format 2" in str(_refused(old, _subword()))


def test_the_command_says_what_was_reused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,name\nX:1,heart attack\nX:2,hip fracture\n")
    (tmp_path / "b.csv").write_text("id,name\nX:1,heart attack\nX:2,broken hip\nX:2,hip fracture\n")
    a, b, again = (str(tmp_path / name) for name in ("a", "b", "again"))
    run("index", "-q", f"{a}.csv", "-o", a)
    text = run("index", f"{b}.csv", "-o", b, "--reuse", a).stdout
    assert "reused       subword: none, fitted to each version; 3 encoded\n" in text
    run("index", "-q", f"{b}.csv", "-o", again)
    assert contents(tmp_path / "b") == contents(tmp_path / "again")
    plain, more = (str(tmp_path / name) for name in ("plain", "more"))
    run("index", "-q", f"{a}.csv", "-o", plain, "-e", "default,rarity=0")
    text = run("index", f"{b}.csv", "-o", more, "--reuse", plain, "-e", "default,rarity=0").stdout
    assert "reused       subword: 2 names; 1 encoded\n" in text
    refused = run("index", f"{b}.csv", "-o", a, "--reuse", a, "--overwrite", code=2)
    assert "nothing can be taken over from it" in refused.stderr
    refused = run("index", f"{b}.csv", "-o", f"{b}2", "--reuse", a, "-e", "chargrams", code=2)
    assert "has other encoders (default), or of other versions or options" in refused.stderr
