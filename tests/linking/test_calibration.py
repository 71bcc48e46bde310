"""A confidence without annotations: what is asked, and what is learned from it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from canonym import Linker
from canonym.cli import main
from canonym.errors import InvalidInput
from canonym.linking import calibration
from canonym.linking.calibration import observe_terminology
from canonym.linking.fitting import fit_confidence
from canonym.linking.judge import EVIDENCE, JUDGE, MENTIONS, OWN_NAMES, Judge
from canonym.mentions.prepare import Preparation
from canonym.rules import shipped
from canonym.terminology import Terminology
from canonym.text import normalise
from canonym.types import Concept, Mention, Name

SIGNS = ("fracture", "inflammation", "tumour", "pain", "swelling", "haemorrhage", "paralysis")
PLACES = ("hip", "knee", "hand", "foot", "skull", "lung", "kidney", "liver", "tongue", "larynx")
SIDES = ("left", "right", "upper", "lower")


def records(n_sides: int = len(SIDES)) -> list[Concept | Name]:
    found: list[Concept | Name] = []
    for sign in SIGNS:
        for place in PLACES:
            for side in SIDES[:n_sides]:
                id_ = f"X:{len(found)}"
                found.append(Concept(id_, f"{sign} of the {side} {place}"))
                found.append(Name(f"{side} {place} {sign}", id_))
                found.append(Name(f"{sign}, {side} {place}", id_))
    return found


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    folder = tmp_path_factory.mktemp("asked")
    return Linker.build(Terminology.build(records()), folder=folder / "index")


@pytest.fixture(scope="module")
def ngrams(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    """An index of an encoder that the judge that comes along does not know."""
    folder = tmp_path_factory.mktemp("ngrams")
    return Linker.build(
        Terminology.build(records()), encoders=["chargrams"], folder=folder / "index"
    )


def test_names_and_concepts_are_taken_out(linker: Linker) -> None:
    terminology = linker.terminology
    whole = linker.pipeline.filters.choose()
    asked = calibration._held_out(terminology, whole, np.random.default_rng(3))
    assert len(asked.texts) == len(asked.ids) <= terminology.n_concepts // 10
    assert asked.filter.allowed is not None
    left = {
        (name.concept_id, normalise(name.text))
        for name in terminology.names_at(np.flatnonzero(asked.filter.allowed))
    }
    assert asked.filter.n_rows == int(asked.filter.allowed.sum())
    for text, id_ in zip(asked.texts, asked.ids, strict=True):
        assert normalise(text) not in {form for _, form in left}
        assert not id_ or any(concept == id_ for concept, _ in left)
    absent = asked.ids.count("")
    assert 1 <= absent <= 3
    assert asked.filter.n_concepts == terminology.n_concepts - absent


def test_deprecated_concepts_are_not_asked_for(tmp_path: Path) -> None:
    old = [Concept(f"Y:{n}", f"vapours {n}", deprecated=True) for n in range(300)]
    old += [
        Concept(f"Z:{n}", f"spleen {n}", deprecated=True, replaced_by=(f"X:{3 * n}",))
        for n in range(200)
    ]
    linker = Linker.build(Terminology.build([*records(), *old]), folder=tmp_path / "index")
    whole = linker.pipeline.filters.choose()
    asked = [*calibration._questions(linker.pipeline, np.random.default_rng(0), 0)][:2]
    assert all("vapours" not in text for questions in asked for text in questions.texts)
    assert {id_[:1] for questions in asked for id_ in questions.ids} <= {"X", ""}
    assert any("spleen" in text for text in asked[1].texts)
    assert asked[0].filter.allowed is not None
    assert whole.allowed is not None
    assert not (asked[0].filter.allowed & ~whole.allowed).any()


def test_a_terminology_tells_its_own_names_from_strangers(ngrams: Linker) -> None:
    fitted, report = fit_confidence(ngrams.pipeline, None)
    assert fitted.source == OWN_NAMES
    assert fitted.to_dict() == fit_confidence(ngrams.pipeline, None)[0].to_dict()
    assert report["links"] == fitted.n > 300
    assert report["ece"] < 0.1
    seen = observe_terminology(ngrams.pipeline)
    assert seen.evidence.shape == (fitted.n, len(EVIDENCE))
    assert 0.3 < seen.right.mean() < 1


def test_words_that_the_terminology_lacks_count_against_a_link(linker: Linker) -> None:
    known, unknown = linker.link(["left knee pain", "left knee quasar"], k=1)
    assert known.candidates
    assert unknown.candidates
    assert known.confidence is not None
    assert unknown.confidence is not None
    assert known.confidence > unknown.confidence
    share = linker.pipeline.preparation.vocabulary_coverage
    assert (share("left knees"), share("qwzx bvtr"), share("12")) == (1.0, 0.0, 1.0)
    assert share("left quasar") == pytest.approx(0.4)
    assert Preparation().vocabulary_coverage("quasar") == 1.0  # nothing is known of its words


def test_names_are_asked_misspelt_too(linker: Linker) -> None:
    taken_out, asked, misspelt, *_ = calibration._questions(
        linker.pipeline, np.random.default_rng(0), 0
    )
    assert len(misspelt.texts) == len(misspelt.ids) > 5
    assert set(misspelt.ids) <= set(asked.ids)
    assert len(misspelt.texts) == int(0.4 * len(taken_out.texts))
    same = sum(text in asked.texts for text in misspelt.texts)  # an edit may put the same letter
    assert same <= 1
    rng = random.Random(0)
    edits = {calibration.misspelt("abcdefgh", rng) for _ in range(300)}
    assert {len(text) for text in edits} == {7, 8}
    assert {"abdcefgh", "abcdefh"} <= edits
    assert all(text[0] == "a" for text in edits)


def test_siblings_that_are_no_names_are_asked_for_and_are_nothing(linker: Linker) -> None:
    *_, siblings, _ = calibration._questions(linker.pipeline, np.random.default_rng(0), 0)
    names = {name.text for name in linker.terminology.iter_names()}
    assert siblings.texts
    assert set(siblings.ids) == {""}
    assert names.isdisjoint(siblings.texts)


def test_it_is_kept_and_makes_nonsense_nil(ngrams: Linker) -> None:
    assert ngrams.fit_confidence()["right"] > 0.3
    again = Linker.load(ngrams.folder)
    assert again.judge is not None
    known = ["left knee pain", "pains of the left knee"]
    unknown = ["asdfghjkl", "theatre play", "el perro duerme", "qwzx bvtr"]
    links = list(again.link([*known, *unknown]))
    assert [link.nil for link in links] == [False, False, True, True, True, True]
    assert all(link.confidence is not None for link in links if link.candidates)
    kept = Judge.load(ngrams.folder / JUDGE)
    assert kept is not None
    assert (kept.source, kept.annotated) == (OWN_NAMES, False)
    assert kept.facts().endswith("links of its own names")
    with pytest.raises(InvalidInput, match="expected with a corpus only"):
        ngrams.fit_confidence(types=["Disease"])
    names = ngrams.terminology.names_at(range(60))
    annotated = [Mention(f"the {name.text}", ids=(name.concept_id,)) for name in names]
    ngrams.fit_confidence(annotated)
    assert ngrams.judge is not None
    assert (ngrams.judge.source, ngrams.judge.annotated) == (MENTIONS, True)


def test_too_few_names_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "unrelated_phrases", lambda *_, **__: ["asdf"])
    one = Terminology.build([Concept("X:1", "hip")])
    small = Linker.build(one, encoders=["chargrams"], folder=tmp_path / "index")
    with pytest.raises(InvalidInput, match="1 concepts have a name that can be taken out"):
        small.fit_confidence()
    assert not (tmp_path / "index" / JUDGE).exists()


def test_strangers_are_the_same_every_time_and_not_repeated() -> None:
    one = calibration.unrelated_phrases(5, seed=1)
    assert (
        one == calibration.unrelated_phrases(5, seed=1) != calibration.unrelated_phrases(5, seed=2)
    )
    phrases = [rule.form for rule in shipped().rules if rule.kind.endswith(" phrase")]
    assert len({*phrases}) == len(phrases) > 200
    assert all(text == text.strip() and text for text in one)
    assert all(len(word) >= 4 for pair in calibration.word_pairs(50) for word in pair.split())


def test_the_command_needs_no_corpus(linker: Linker, ngrams: Linker) -> None:
    for of, learned in ((linker, "from many terminologies"), (ngrams, "to ")):
        folder = str(of.folder)
        told = CliRunner().invoke(main, ["train", "confidence", "--index", folder])
        assert told.exit_code == 0, told.output
        assert "asked              the terminology itself" in told.output
        assert learned in told.output
        asked = ["link", "--index", folder, "--format", "jsonl", "asdfghjkl", "left hip pain"]
        rows = CliRunner().invoke(main, asked).stdout.splitlines()
        assert [json.loads(row)["nil"] for row in rows] == [True, False]
        told = CliRunner().invoke(
            main, ["train", "confidence", "--index", folder, "--mention-type", "A"]
        )
        assert told.exit_code == 2
        assert "expected with a corpus only" in told.output


def test_a_least_confidence_lets_the_index_learn_it_once(ngrams: Linker) -> None:
    (ngrams.folder / JUDGE).unlink(missing_ok=True)
    asked = ["link", "--index", str(ngrams.folder), "--min-confidence", "0.25", "asdfghjkl"]
    first = CliRunner().invoke(main, asked)
    assert first.exit_code == 0, first.output
    assert "learned how sure its links are, from " in first.stderr
    assert "the confidence, 0.0" in first.stdout
    again = CliRunner().invoke(main, asked)
    assert again.stdout == first.stdout
    assert "learned" not in again.stderr


def test_an_index_of_other_encoders_learns_it_at_once(tmp_path: Path) -> None:
    def index(name: str, *options: str) -> tuple[str, Path]:
        out = tmp_path / name
        told = CliRunner().invoke(main, ["index", str(table), "-o", str(out), *options])
        assert told.exit_code == 0, told.output
        return told.output, out

    table = tmp_path / "names.csv"
    pairs = [
        (one.id, one.label) if isinstance(one, Concept) else (one.concept_id, one.text)
        for one in records()
    ]
    table.write_text("id,name\n" + "".join(f'{id_},"{text}"\n' for id_, text in pairs))
    text, out = index("a", "--encoder", "chargrams")
    assert "links of its own names" in text
    kept = Judge.load(out / JUDGE)
    assert kept is not None
    assert kept.source == OWN_NAMES
    text, out = index("b")
    assert "learned from many terminologies" in text
    assert not (out / JUDGE).exists()
    table.write_text("id,name\n1,hip\n2,knee\n")
    text, out = index("c", "--encoder", "chargrams")  # too few to ask
    assert "its own names" not in text
    assert not (out / JUDGE).exists()
