"""An index with encoders for English and for several languages: which is asked for what."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym import Linker
from canonym.encoders.universal import Universal
from canonym.linker import unread
from canonym.linking.languages import choose_encoders, reads
from canonym.terminology import Terminology
from canonym.terminology.sqlite_file import Database
from canonym.types import Candidate, Concept, Link, Mention, Name
from tests.tables import cases

NAMES = ("Knee pain", "Hip pain", "Hip fracture", "Fracture of the knee", "Heart attack")
BOTH = ("default", "multilingual")
ALL = (*BOTH, "universal")


@functools.cache
def build(*further: Name, encoders: tuple[str, ...] = BOTH, **settings: bool) -> Linker:
    concepts = [Concept(f"X:{n}", name) for n, name in enumerate(NAMES)]
    terminology = Terminology.build([*concepts, *further])
    return Linker.build(terminology, encoders=encoders, spelling=settings.get("spelling", True))


@pytest.fixture(scope="module", autouse=True)
def _forget() -> Iterator[None]:
    yield
    build.cache_clear()


@pytest.fixture(scope="module")
def linker() -> Linker:
    return build()


@pytest.fixture(scope="module")
def three() -> Linker:
    return build(encoders=ALL)


def asked(linker: Linker, *strings: str) -> list[set[str]]:
    """Return the encoders that are asked for each string."""
    pipeline = linker.pipeline
    names = [one.name for one in pipeline.search.encoders]
    choice = choose_encoders(names, linker.terminology, pipeline.preparation.speller)
    assert choice is not None
    columns = choice(strings).T.tolist()
    return [{n for n, weight in zip(names, each, strict=True) if weight} for each in columns]


def test_known_words_are_asked_of_the_english_encoder(linker: Linker) -> None:
    known, foreign = linker.link(["hip bone pain", "dolor de rodilla"], k=1)
    assert [link.id for link in (known, foreign)] == ["X:1", "X:0"]
    for link, encoder in ((known, "default"), (foreign, "multilingual")):
        (best,) = link.candidates
        assert set(best.parts) == set(BOTH)
        assert best.score == pytest.approx(best.parts[encoder], abs=1e-6)
        assert sum(score == 0 for score in best.parts.values()) == 1
    assert linker.link(["dolor de rodilla"], k=1)[0].candidates == foreign.candidates


def test_weights_of_a_batch_follow_the_strings(linker: Linker) -> None:
    pipeline, strings = linker.pipeline, ["hip pain", "dolor", "knee dolor de la"]
    found = pipeline.batch(pipeline.filters.choose())
    english, other = pipeline.search.scales(strings, found.encoded.of(strings))
    assert english is not None
    assert other is not None
    assert english.tolist() == [1, 0, 0]
    assert other.tolist() == [0, 1, 1]


def test_a_script_is_asked_of_the_encoders_that_read_it(three: Linker) -> None:
    assert asked(three, "hip pain", "dolor de rodilla", "боль в колене", "膝の痛み") == [
        {"default"},
        {"multilingual", "universal"},
        {"universal"},
        {"multilingual", "universal"},
    ]
    russian, spanish = three.link(["боль в колене", "dolor de rodilla"], k=1)
    assert [russian.id, spanish.id] == ["X:0", "X:0"]
    (best,) = russian.candidates
    assert best.score == pytest.approx(best.parts["universal"], abs=1e-6)


@cases("string", "encoder")
def test_function_words_tell_a_language_whose_other_words_are_known(
    linker: Linker, string: str, encoder: str
) -> None:
    assert asked(linker, string) == [{encoder}]


@cases("encoder", "read", "unread")
def test_scripts(encoder: str, read: tuple[str, ...], unread: tuple[str, ...]) -> None:
    assert [reads(encoder, text) for text in (*read, *unread)] == [
        *(True for _ in read),
        *(False for _ in unread),
    ]


def test_of_encoders_of_several_languages_the_smaller_one_is_asked_for_english() -> None:
    two = build(encoders=("multilingual", "universal"))
    assert asked(two, "hip pain", "천식", "dolor") == [
        {"multilingual"},
        {"universal"},
        {"multilingual", "universal"},
    ]


def test_the_universal_encoder_counts_half_beside_another(three: Linker) -> None:
    weights = [one.weight for one in three.pipeline.search.encoders]
    assert weights == [1, 1, 0.5]
    (best,) = three.link(["dolor de cadera"], k=1)[0].candidates
    both = (best.parts["multilingual"] + 0.5 * best.parts["universal"]) / 1.5
    assert best.score == pytest.approx(both, abs=1e-6)


def test_what_is_not_asked_is_not_encoded(three: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: object, texts: list[str]) -> None:
        raise AssertionError(texts)

    monkeypatch.setattr(Universal, "_embed", never)
    assert three.link(["sore hips"], k=1)[0].id == "X:1"


def test_a_terminology_in_several_languages_tells_by_the_script_alone() -> None:
    spanish = Name("dolor de rodilla", "X:0", language="es")
    assert not build(spanish).pipeline.search.is_scaled
    assert build(Name("sore knee", "X:0", language="en-GB")).pipeline.search.is_scaled
    assert asked(build(spanish, encoders=ALL), "hip pain", "천식") == [
        set(ALL),
        {"default", "universal"},
    ]


@pytest.mark.parametrize(
    "encoders", [("default",), ("multilingual",), ("universal",), ("default", "chargrams")]
)
def test_other_encoders_are_summed(encoders: tuple[str, ...]) -> None:
    assert not build(encoders=encoders).pipeline.search.is_scaled


def test_without_words_nothing_tells_english(linker: Linker) -> None:
    assert not build(spelling=False).pipeline.search.is_scaled
    assert choose_encoders(BOTH, linker.terminology, None) is None


@pytest.mark.parametrize("fixture", ["linker", "three"])
def test_it_holds_after_loading(
    fixture: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    linker = request.getfixturevalue(fixture)
    linker.save(tmp_path / "index")
    strings = ["sore knees", "fractura de cadera", "перелом бедра"]
    assert list(Linker.load(tmp_path / "index").link(strings)) == list(linker.link(strings))


@pytest.mark.parametrize("encoders", [("default",), BOTH])
def test_an_index_opens_without_reading_its_names(
    encoders: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    linker = build(encoders=encoders)
    statements: list[str] = []
    run = Database.batches

    def noted(self: Database, sql: str, *rest: Any) -> Any:
        statements.append(sql)
        return run(self, sql, *rest)

    monkeypatch.setattr(Database, "batches", noted)
    Linker.load(linker.folder)
    assert statements
    assert not any("FROM names" in statement for statement in statements)


def test_a_linker_says_once_that_it_hardly_reads_a_language(
    caplog: pytest.LogCaptureFixture,
) -> None:
    linker = Linker.load(build(encoders=("default",)).folder)  # which has said nothing yet
    links = linker.link(["heart attack", "dolor de cabeza", "грипп"])
    assert [link.mention.text for link in unread(linker, links)] == ["dolor de cabeza", "грипп"]
    (said,) = caplog.messages
    assert said.startswith("'dolor de cabeza' is in a language")
    assert "multilingual" in said
    linker.link(["fractura de la cadera"])
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(
    ("score", "sieve", "told"),
    [(0.5, "search", True), (0.95, "search", False), (0.5, "verbatim", False)],
)
def test_near_and_equal_names_are_not_guesses(score: float, sieve: str, told: bool) -> None:
    best = Candidate("K29", "Gastritis", score, "gastritis", "exact", (), sieve, {"default": score})
    link = Link(Mention("грипп"), (best,))
    assert unread(build(encoders=("default",)), [link]) == ([link] if told else [])
