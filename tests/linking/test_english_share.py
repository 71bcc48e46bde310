"""An index with an encoder for English and one for several languages: which is asked for what."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym import Linker
from canonym.linking.search import english_share
from canonym.terminology import Terminology
from canonym.types import Concept, Name

NAMES = ("Knee pain", "Hip pain", "Hip fracture", "Fracture of the knee", "Heart attack")
BOTH = ("default", "multilingual")


def build(*further: Name, encoders: tuple[str, ...] = BOTH, **settings: bool) -> Linker:
    concepts = [Concept(f"X:{n}", name) for n, name in enumerate(NAMES)]
    terminology = Terminology.build([*concepts, *further])
    return Linker.build(terminology, encoders=encoders, spelling=settings.get("spelling", True))


@pytest.fixture(scope="module")
def linker() -> Linker:
    return build()


def test_known_words_are_asked_of_the_english_encoder(linker: Linker) -> None:
    known, foreign = linker.link(["hip bone pain", "dolor de rodilla"], k=1)
    assert [link.id for link in (known, foreign)] == ["X:1", "X:0"]
    for link, encoder in ((known, "default"), (foreign, "multilingual")):
        (best,) = link.candidates
        assert set(best.parts) == set(BOTH)
        assert best.score == pytest.approx(best.parts[encoder], abs=1e-6)
    assert linker.link(["dolor de rodilla"], k=1)[0].candidates == foreign.candidates


def test_weights_of_a_batch_follow_the_strings(linker: Linker) -> None:
    pipeline, strings = linker.pipeline, ["hip pain", "dolor", "knee dolor de la"]
    found = pipeline.batch(pipeline.filters.choose())
    english, other = pipeline.search.scales(strings, found.encoded.of(strings))
    assert english is not None
    assert other is not None
    assert english.tolist() == [1, 0, 0]
    assert other.tolist() == [0, 1, 1]


def test_a_terminology_in_several_languages_cannot_tell() -> None:
    linker = build(Name("dolor de rodilla", "X:0", language="es"))
    assert not linker.pipeline.search.is_scaled
    tagged = build(Name("sore knee", "X:0", language="en-GB"))
    assert tagged.pipeline.search.is_scaled


@pytest.mark.parametrize("encoders", [("default",), ("multilingual",), ("default", "chargrams")])
def test_other_encoders_are_summed(encoders: tuple[str, ...]) -> None:
    assert not build(encoders=encoders).pipeline.search.is_scaled


def test_without_words_nothing_tells(linker: Linker) -> None:
    assert not build(spelling=False).pipeline.search.is_scaled
    encoders = linker.pipeline.search.encoders
    assert english_share(encoders, linker.terminology, None) is None


def test_it_holds_after_loading(linker: Linker) -> None:
    again = Linker.load(Path(linker.folder))
    strings = ["sore knees", "fractura de cadera"]
    assert list(again.link(strings)) == list(linker.link(strings))
