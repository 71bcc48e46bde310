"""The subword encoder against a sum of rows, and its file against damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import Concept, Linker, Name, Terminology
from canonym.encoders import hashing as tables
from canonym.encoders import make_encoder
from canonym.encoders.hashing import blocks, hash_features
from canonym.encoders.saved import map_tensors, write_tensors
from canonym.encoders.subword import NORMAL_STEPS, Subword
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.text import PLAIN, normalise

RNG = np.random.default_rng(7)
TABLE = RNG.normal(size=(1 << 10, 24)).astype(np.float32)
NAMES = ["Heart attack", "heart  ATTACK", "", "type II diabetes", "!?", "flu", "Crohn's diseases"]


@pytest.fixture(name="exact")
def make_exact() -> Subword:
    return Subword(TABLE)


@pytest.fixture(name="small")
def make_small(exact: Subword) -> Subword:
    return exact.quantised()


def naive_vector(name: str, table: np.ndarray, steps: tuple[str, ...] = NORMAL_STEPS) -> Any:
    _, buckets = hash_features([normalise(name, steps)], grams=(2, 5), n_bits=10)
    total = np.zeros(table.shape[1])
    for bucket in buckets:
        total += table[bucket]
    norm = np.linalg.norm(total)
    return total / norm if norm else total


@pytest.mark.parametrize("steps", [PLAIN, NORMAL_STEPS])
def test_a_vector_is_the_normalised_sum_of_rows(steps: tuple[str, ...]) -> None:
    encoder = Subword(TABLE, steps=steps)
    expected = np.stack([naive_vector(name, TABLE, steps) for name in NAMES])
    np.testing.assert_allclose(encoder.encode(NAMES), expected, atol=2e-6)


def test_a_quantised_table_is_scaled_by_column(small: Subword) -> None:
    assert small.table.dtype == np.int8
    scale = np.abs(TABLE).max(axis=0) / np.float32(127)
    np.testing.assert_array_equal(small.scale, scale)
    assert np.abs(small.table).max(axis=0).tolist() == [127] * 24
    rounded = small.table.astype(np.float64) * scale
    assert np.abs(rounded - TABLE).max() <= scale.max() / 2 * 1.001
    expected = np.stack([naive_vector(name, rounded) for name in NAMES])
    np.testing.assert_allclose(small.encode(NAMES), expected, atol=2e-6)
    assert small.quantised() is small


def test_a_column_of_zeros_can_be_quantised() -> None:
    table = np.array([[0, 1], [0, -2]], dtype=np.float32)
    small = Subword(table).quantised()
    assert small.scale is not None
    assert small.scale.tolist() == [1, np.float32(2) / np.float32(127)]
    assert small.table.tolist() == [[0, 64], [0, -127]]


def test_one_name_and_many_give_the_same_bits(small: Subword, exact: Subword) -> None:
    names = [f"{word} {number}" for number in range(450) for word in ("heart", "iron lung", "flu")]
    for encoder in (small, exact):
        together = encoder.encode(names)
        alone = np.concatenate([encoder.encode([name]) for name in names[::37]])
        np.testing.assert_array_equal(alone, together[::37])
        np.testing.assert_array_equal(encoder.encode(names[:100]), together[:100])


def test_blocks_and_threads_change_nothing(small: Subword, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"name {number} of {number % 7}" for number in range(600)]
    whole = small.encode(names)
    monkeypatch.setattr(tables, "_BLOCK_NAMES", 64)
    np.testing.assert_array_equal(small.encode(names), whole)


def test_equal_names_are_encoded_once(small: Subword, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    texts = Subword.texts
    monkeypatch.setattr(
        Subword, "texts", lambda self, names: seen.append(len(names)) or texts(self, names)
    )
    vectors = small.encode(["flu", "cold", "flu", "flu"])
    assert seen == [2]
    assert vectors.shape == (4, 24)
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert small.encode([]).shape == (0, 24)


def test_names_without_letters_are_zero_and_others_of_norm_one(small: Subword) -> None:
    norms = np.linalg.norm(small.encode(["", "?!", " \t", "flu", "\ud800", "a\x00b"]), axis=1)
    np.testing.assert_allclose(norms, [0, 0, 0, 1, norms[4], 1], atol=1e-6)
    assert norms[4] in (0, 1) or abs(norms[4] - 1) < 1e-6


def test_what_is_beyond_the_limit_is_left_out() -> None:
    encoder = Subword(TABLE, characters=12)
    both = encoder.encode(["heart attack", "heart attack and a million others" * 30_000])
    np.testing.assert_array_equal(both[0], both[1])


def test_features_are_rows_of_the_table(small: Subword) -> None:
    indptr, buckets = small.features(["Flu", "", "flu"])
    assert indptr.tolist() == [0, 11, 11, 22]
    assert buckets[:11].tolist() == buckets[11:].tolist()
    assert 0 <= buckets.min() <= buckets.max() < 1 << 10


def test_settings_make_the_encoder_again(small: Subword) -> None:
    again = Subword(small.table, scale=small.scale, **small.options())
    assert again.settings == small.settings
    assert small.settings == {
        "n_min": 2,
        "n_max": 5,
        "characters": 1000,
        "steps": list(NORMAL_STEPS),
        "buckets": 1024,
        "dimensions": 24,
        "dtype": "int8",
        "trained": {},
    }
    assert small.dimensions == 24
    assert repr(small) == "Subword(1024 buckets, 24 dimensions, int8)"


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("quantise", [True, False])
def test_saved_and_loaded_it_gives_the_same_bits(tmp_path: Path, quantise: bool) -> None:
    encoder = Subword(TABLE, characters=50, steps=PLAIN, trained={"seed": 3})
    encoder = encoder.quantised() if quantise else encoder
    encoder.save(tmp_path / "encoder")
    loaded = Subword.load(tmp_path / "encoder")
    assert loaded.settings == encoder.settings
    assert loaded.trained == {"seed": 3}
    np.testing.assert_array_equal(loaded.encode(NAMES), encoder.encode(NAMES))
    many = [f"name {number}" for number in range(600)]
    np.testing.assert_array_equal(loaded.encode(many), encoder.encode(many))
    loaded.save(tmp_path / "again")
    for file in ("encoder.json", "model.safetensors"):
        assert (tmp_path / "again" / file).read_bytes() == (
            tmp_path / "encoder" / file
        ).read_bytes()


def test_the_file_is_an_ordinary_safetensors_file(small: Subword, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    small.save(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    assert sorted(tensors) == ["scale", "table"]
    np.testing.assert_array_equal(tensors["table"], small.table)
    mapped = map_tensors(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(mapped["scale"], tensors["scale"])
    assert not mapped["table"].flags.writeable


def damage(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("place", [-1, -5000, 0, 7, 12, 40])
def test_a_flipped_byte_is_noticed(small: Subword, tmp_path: Path, place: int) -> None:
    small.save(tmp_path)
    damage(tmp_path / "model.safetensors", place)
    with pytest.raises(ReadError, match="save"):
        Subword.load(tmp_path)


@pytest.mark.parametrize("size", [0, 4, 8, 60, 2000, -1])
def test_a_truncated_file_is_noticed(small: Subword, tmp_path: Path, size: int) -> None:
    small.save(tmp_path)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ReadError, match=r"model\.safetensors"):
        Subword.load(tmp_path)


def test_a_missing_file_is_named(small: Subword, tmp_path: Path) -> None:
    small.save(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ReadError, match=r"model\.safetensors"):
        Subword.load(tmp_path)
    with pytest.raises(ReadError, match="no such folder"):
        Subword.load(tmp_path / "nowhere")


def test_other_tensors_are_refused(small: Subword, tmp_path: Path) -> None:
    small.save(tmp_path)
    write_tensors(tmp_path / "model.safetensors", {"weight": TABLE})
    with pytest.raises(ReadError, match=r"\['weight'\]"):
        Subword.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_min": 9}, ReadError, "n_min=9"),
        ({"colour": 1}, ReadError, "the encoder is damaged"),
        ({"steps": ["shout"]}, ReadError, "shout"),
        ({"buckets": 2048}, ReadError, "not those that encoder.json describes"),
    ],
)
def test_damaged_settings(
    small: Subword, tmp_path: Path, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    small.save(tmp_path)
    path = tmp_path / "encoder.json"
    content = json.loads(path.read_text("utf-8"))
    content["settings"] |= change
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(error, match=message):
        Subword.load(tmp_path)


def test_a_newer_or_another_encoder_is_refused(small: Subword, tmp_path: Path) -> None:
    small.save(tmp_path)
    path = tmp_path / "encoder.json"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(content | {"format": 99}), "utf-8")
    with pytest.raises(Mismatch, match="newer canonym"):
        Subword.load(tmp_path)
    path.write_text(json.dumps(content | {"kind": "static"}), "utf-8")
    with pytest.raises(Mismatch, match="static"):
        Subword.load(tmp_path)


# --- what cannot be used --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "scale", "message"),
    [
        (np.zeros((3, 2), np.float32), None, "power of two"),
        (np.zeros((1, 2), np.float32), None, "power of two"),
        (np.zeros(4, np.float32), None, "two dimensions"),
        (np.zeros((4, 0), np.float32), None, "at least one column"),
        (np.zeros((4, 2), np.float64), None, "float64"),
        (np.zeros((4, 2), np.int8), None, "no scale"),
        (np.zeros((4, 2), np.int8), np.ones(3, np.float32), "one value for each of its 2"),
        (np.zeros((4, 2), np.float32), np.ones(2, np.float32), "a float32 table none"),
    ],
)
def test_tables_that_cannot_be_used(table: Any, scale: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Subword(table, scale=scale)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_min": 1}, "n_min=1"),
        ({"n_min": 4, "n_max": 3}, "swap"),
        ({"characters": 0}, "characters=0"),
        ({"characters": 100_000}, "at most 8192"),
        ({"steps": ["shout"]}, "shout"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Subword(TABLE, **options)


def test_names_that_are_no_names(small: Subword) -> None:
    with pytest.raises(InvalidInput, match="put it in a list"):
        small.encode("flu")
    with pytest.raises(InvalidInput, match="name 1 is None"):
        small.encode(["flu", None])  # type: ignore[list-item]


# --- parts ----------------------------------------------------------------------------------------


def test_blocks_bound_names_and_characters() -> None:
    names = ["a" * 30_000, "b" * 30_000, "c" * 30_000, "d", ""]
    assert list(blocks(names, 40_000)) == [slice(0, 2), slice(2, 5)]
    assert list(blocks(names, 1000)) == [slice(0, 5)]
    assert list(blocks(["x" * 70_000] * 2, 70_000)) == [slice(0, 1), slice(1, 2)]
    assert list(blocks(["x"] * 4097, 10)) == [slice(0, 2048), slice(2048, 4096), slice(4096, 4097)]
    assert list(blocks([], 10)) == []


# --- rarity ---------------------------------------------------------------------------------------

NEURONS = [f"adult brain neuron {code}" for code in ("DL1", "DL2", "VM3", "PN4")]


@pytest.fixture(name="weighed")
def make_weighed(small: Subword) -> Subword:
    options = small.options() | {"rarity": 0.5}
    encoder = Subword(small.table, scale=small.scale, **options)
    return encoder.fit(iter([*NEURONS, "brain"]))


def test_weights_are_those_of_the_documentation(weighed: Subword, small: Subword) -> None:
    assert weighed.word_weights is not None
    words = {"adult": 4, "brain": 5, "neuron": 4, "dl1": 1, "dl2": 1, "vm3": 1, "pn4": 1}
    idf = {word: max(np.log(6 / (df + 1)), 0.3) for word, df in words.items()}
    mean = sum(idf[word] * df for word, df in words.items()) / sum(words.values())
    vectors = {}
    for name in ("brain dl1", "dl1"):
        total = np.zeros(24)
        for word in name.split():
            _, buckets = hash_features([word], grams=(2, 5), n_bits=10)
            weight = np.clip(np.rint(12 * (idf[word] / mean) ** 0.5), 1, 24)
            total += weight * small.table[buckets].astype(float).sum(axis=0)
        if " " in name:
            _, buckets = hash_features([name], grams=(2, 1), n_bits=10)
            total += 12 * small.table[buckets[-1]].astype(float)
        total *= small.scale
        vectors[name] = total / np.linalg.norm(total)
    np.testing.assert_allclose(weighed.encode(list(vectors)), list(vectors.values()), atol=1e-6)


def test_codes_part_names_that_share_frequent_words(weighed: Subword, small: Subword) -> None:
    def beside(encoder: Subword) -> float:
        one, other = encoder.encode(NEURONS[:2])
        return float(one @ other)

    assert beside(weighed) < beside(small) - 0.05
    unknown = weighed.encode(["adult brain neuron zebra"])
    assert np.isfinite(unknown).all()


def test_one_weighed_name_and_many_give_the_same_bits(
    weighed: Subword, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*NAMES, *NEURONS]
    one_by_one = np.concatenate([weighed.encode([name]) for name in names])
    monkeypatch.setattr("canonym.encoders.subword._MANY", 2)
    np.testing.assert_array_equal(weighed.encode(names), one_by_one)
    monkeypatch.setattr("canonym.encoders.subword._VERY_MANY", 2)
    np.testing.assert_array_equal(weighed.encode(names), one_by_one)


def test_saved_weights_are_opened_again(weighed: Subword, tmp_path: Path) -> None:
    weighed.save(tmp_path / "e")
    opened = Subword.load(tmp_path / "e")
    assert opened.rarity == 0.5
    np.testing.assert_array_equal(opened.encode(NEURONS), weighed.encode(NEURONS))
    for rarity in (0, 1):
        again = Subword.load(tmp_path / "e", rarity=rarity)
        assert (again.word_weights, again.waits_for_names) == (None, rarity > 0)
    # What is fitted lies beside the encoder, which is the same for every terminology.
    weighed.fit(["brain"]).save(tmp_path / "other")
    for name in ("encoder.json", "model.safetensors"):
        assert (tmp_path / "e" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    damaged = tmp_path / "other" / "words.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.raises(ReadError):
        Subword.load(tmp_path / "other")


def test_words_count_the_same_until_they_are_counted(
    small: Subword, exact: Subword, tmp_path: Path
) -> None:
    unfitted = Subword(small.table, scale=small.scale, rarity=1)
    assert unfitted.waits_for_names
    plain = Subword(small.table, scale=small.scale)
    np.testing.assert_array_equal(unfitted.encode(NEURONS), plain.encode(NEURONS))
    unfitted.save(tmp_path / "e")
    assert Subword.load(tmp_path / "e").waits_for_names
    assert np.isfinite(unfitted.fit(["", "!?"]).encode(NEURONS)).all()  # names without a word
    assert not unfitted.waits_for_names
    # A table of floats keeps its rarity for the one of 8 bits that it becomes.
    floats = Subword(exact.table, rarity=0.5)
    assert floats.fit(NEURONS).word_weights is None
    assert not floats.waits_for_names
    assert floats.quantised().waits_for_names
    assert small.fit(["flu"]) is small
    assert small.word_weights is None


def test_a_rarity_that_cannot_be_is_refused(small: Subword, exact: Subword) -> None:
    for rarity in (-0.1, 1.1, "x", True, float("nan")):
        with pytest.raises(InvalidInput, match="a number from 0 to 1 is expected"):
            Subword(small.table, scale=small.scale, rarity=rarity)  # type: ignore[arg-type]
    ones = np.ones(len(small.table), np.int8)
    for given in (
        {"table": small.table, "scale": small.scale, "rarity": 1, "word_weights": ones[:8]},
        {"table": small.table, "scale": small.scale, "word_weights": ones},
        {"table": exact.table, "rarity": 1, "word_weights": ones},
    ):
        with pytest.raises(InvalidInput, match="weights of words"):
            Subword(**given)


def test_an_index_is_fitted_to_its_names(tmp_path: Path) -> None:
    records = [
        record
        for n, name in enumerate(NEURONS)
        for record in (Concept(f"N:{n}", name), Name(f"neuron of type {name[-3:]}", f"N:{n}"))
    ]
    terminology = Terminology.build(records)
    linker = Linker.build(terminology, encoders=["default,rarity=1"], folder=tmp_path / "index")
    (link,) = linker.link(["neurons of a fly, kind VM3"])
    assert link.candidates[0].id == "N:2"
    again = Linker.build(
        terminology,
        encoders=["default,rarity=1"],
        folder=tmp_path / "two",
        reuse=tmp_path / "index",
    )
    assert again.link(["neurons of a fly, kind VM3"])[0].to_dict() == link.to_dict()
    assert linker.synonyms.add("the third one", "N:2")
    assert linker.link(["third one"])[0].id == "N:2"


def test_an_encoder_is_fitted_to_the_names_of_each_index(tmp_path: Path) -> None:
    encoder = make_encoder("default")
    for name in ("adult neuron", "larval muscle"):
        terminology = Terminology.build([Concept("X:1", name), Concept("X:2", "eye")])
        Linker.build(terminology, encoders=[encoder], folder=tmp_path / name)
        assert encoder.waits_for_names  # type: ignore[attr-defined]
        again = Linker.build(terminology, encoders=["default"])
        (one,), (other,) = (
            each.pipeline.search.encoders for each in (Linker.load(tmp_path / name), again)
        )
        np.testing.assert_array_equal(one.encoder.word_weights, other.encoder.word_weights)


def test_only_subword_encoders_weigh_words() -> None:
    assert make_encoder("multilingual,rarity=0.5").rarity == 0.5  # type: ignore[attr-defined]
    for spec in ("contextual,rarity=0.5", "default,n_min=1"):
        with pytest.raises(InvalidInput):
            make_encoder(spec)


def test_one_table_is_mapped_once(small: Subword, tmp_path: Path) -> None:
    for name in ("first", "second"):
        small.save(tmp_path / name)
    first, second = (Subword.load(tmp_path / name) for name in ("first", "second"))
    assert np.shares_memory(first.table, second.table)
    Subword(TABLE + 1).quantised().save(tmp_path / "third")
    third = Subword.load(tmp_path / "third")
    assert not np.shares_memory(first.table, third.table)
    assert (third.table == Subword(TABLE + 1).quantised().table).all()
