"""The judge: what links show, fitted probabilities, and links that are NIL for a low one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from canonym import (
    Candidate,
    Document,
    InvalidInput,
    Link,
    Linker,
    Mention,
    Mismatch,
    ReadError,
    Terminology,
)
from canonym.cli import main
from canonym.evaluation.certainty import ece
from canonym.linking import fitting
from canonym.linking.evidence import (
    BY_SIMILARITIES,
    EVIDENCE,
    Vocabulary,
    evidence_of,
    signs_of,
)
from canonym.linking.fitting import Observed, cross_fitted, judged, observe
from canonym.linking.judge import (
    ANY,
    JUDGE,
    MENTIONS,
    NONSENSE,
    Judge,
    fit_judge,
    shipped_judge,
)
from canonym.linking.judge import graded as graded_links
from canonym.mentions.prepare import Preparation
from canonym.ranking.additive_model import AdditiveModel, Curve
from canonym.types import Against, Contradiction, Step
from tests.linkers import concepts, linker_of
from tests.linking.bounds import CONTRADICTED

VOCABULARY = Vocabulary(lambda _: 1.0, 0.0)


def candidate(id_: str, score: float, sieve: str = "search", **parts: float) -> Candidate:
    return Candidate(id_, id_, score, id_, "exact", (), sieve, parts)


def grade(judge: Judge, links: Sequence[Link], min_confidence: float, k: int) -> list[Link]:
    parts = [part for link in links for part in (link.parts or (link,))]
    return graded_links(links, parts, judge.of(parts, VOCABULARY), min_confidence, k)


def graded(link: Link, min_confidence: float, k: int) -> Link:
    (whole,) = grade(by_similarity(), [link], min_confidence, k)
    return whole


def signs(link: Link) -> dict[str, float]:
    sieves = ("verbatim", "normalised", "reordered")
    of_candidates = ("shared", "alone", "contradicts")
    assert tuple(signs_of(link)) == ("score", "margin", "agreement", *sieves, *of_candidates)
    return signs_of(link)


def evidence(link: Link, vocabulary: Vocabulary = VOCABULARY) -> dict[str, float]:
    return dict(zip(EVIDENCE, evidence_of(link, vocabulary).tolist(), strict=True))


# --- evidence -------------------------------------------------------------------------------------


def test_signs_of_a_search() -> None:
    link = Link(
        Mention("x"),
        (
            candidate("A", 0.9, a=0.8, b=0.9, c=0.7),
            candidate("B", 0.6, a=0.9, b=0.5),
            candidate("C", 0.1),
        ),
    )
    assert signs(link) == pytest.approx(
        {
            "score": 0.9, "margin": 0.3, "agreement": 2 / 3, "verbatim": 0, "normalised": 0,
            "reordered": 0, "shared": 0, "alone": 0, "contradicts": 0,
        }
    )  # fmt: skip
    assert signs(Link(Mention("x"), link.candidates[:1])) == pytest.approx(
        {
            "score": 0.9, "margin": 0.9, "agreement": 1, "verbatim": 0, "normalised": 0,
            "reordered": 0, "shared": 0, "alone": 1, "contradicts": 0,
        }
    )  # fmt: skip


def test_signs_of_a_sieve() -> None:
    best = candidate("A", 0.99, "normalised", normalised=0.99)
    homonym = replace(candidate("B", 0.99, "normalised"), name="a")
    shown = signs(Link(Mention("x"), (best, homonym)))
    assert (shown["normalised"], shown["shared"], shown["margin"]) == (1, 1, 0)
    of_a_part = candidate("C", 0.99, "normalised")  # "breast cancer" of "history of breast cancer"
    assert signs(Link(Mention("x"), (best, of_a_part)))["shared"] == 0
    shown = signs(Link(Mention("x"), (best, candidate("B", 0.5, a=0.5))))
    assert (shown["shared"], shown["agreement"], shown["alone"]) == (0, 1, 0)


def found(mention: str, name: str, **more: Any) -> Link:
    first = Candidate("X:1", more.pop("label", name), 0.8, name, parts={"default": 0.8}, **more)
    return Link(Mention(mention), (first,), searched=mention)


def test_strings_show_what_they_share() -> None:
    against = Against(("bad",), ("of", "hip"), (), "close")
    shown = evidence(found("bad hips 2", "pain of hip", scope="broad", against=against))
    assert shown["words of the mention in the name"] == 0
    assert (shown["words"], shown["words of the name"], shown["length"]) == (3, 3, 10)
    assert (shown["words left over"], shown["words missing"]) == (1, 2)
    assert (shown["narrower or close"], shown["digits"], shown["label"]) == (1, 1, 1)
    assert 0 < shown["letters"] < 0.5
    same = evidence(found("hip pain", "hip pain", label="Coxalgia"))
    assert (same["words of the mention in the name"], same["letters"], same["label"]) == (1, 1, 0)
    assert evidence(found("HTN", "hypertension"))["short form"] == 1


def test_words_that_the_terminology_lacks_are_shown() -> None:
    link = found("hip quasar", "hip")
    shown = evidence(link, Vocabulary(lambda text: 0.25 if "quasar" in text else 1.0, 1.5))
    assert (shown["known letters"], shown["all known"], shown["density"]) == (0.25, 0, 1.5)
    assert shown["unknown letters"] == 0.75 * len("hipquasar")


def test_what_is_corrected_does_not_look_known() -> None:
    asked: list[str] = []

    def vocabulary_coverage(text: str) -> float:
        asked.append(text)
        return 1.0

    for step in ("correction", "abbreviation"):
        link = Link(
            Mention("swellling"),
            found("swelling", "swelling").candidates,
            searched="swelling",
            steps=(Step(step, "swellling", "swelling"),),
        )
        shown = evidence(link, Vocabulary(vocabulary_coverage, 0.0))
        assert shown["corrected"] == (step == "correction")
    assert asked == ["swellling", "swelling"]


def test_across_languages_words_and_letters_tell_nothing() -> None:
    first = Candidate("X:1", "hip", 0.6, "hip", parts={"default": 0.0, "multilingual": 0.6})
    other = Candidate("X:2", "leg", 0.5, "leg", parts={"default": 0.0, "multilingual": 0.5})
    shown = evidence(Link(Mention("hüfte"), (first, other), searched="hüfte"))
    assert (shown["rise"], shown["relative lead"]) == pytest.approx((0.6, 0.1))
    across = shown["similarity across languages"], shown["lead across languages"]
    assert across == pytest.approx((0.6, 0.1))
    for name in ("similarity", "lead", "letters", "known letters", "words missing"):
        assert math.isnan(shown[name])
    both = Candidate("X:1", "hip", 0.6, "hip", parts={"default": 0.4, "multilingual": 0.6})
    shown = evidence(Link(Mention("hip joint"), (both,), searched="hip joint"))
    assert (shown["similarity"], shown["letters"] > 0) == (0.6, True)
    assert math.isnan(shown["similarity across languages"])


def test_similarities_are_seen_beside_those_of_the_others() -> None:
    def shown(*scores: float, background: float = 0.0) -> tuple[float, float]:
        candidates = tuple(candidate(f"{n} of all", score) for n, score in enumerate(scores))
        vocabulary = VOCABULARY._replace(background=background)
        of_link = evidence(Link(Mention("x"), candidates), vocabulary)
        return of_link["rise"], of_link["relative lead"]

    eight = (0.9, 0.8, 0.7, 0.65, 0.65, 0.63, 0.61, 0.6)
    assert shown(*eight) == shown(*eight, 0.1) == pytest.approx((1 - 0.1 / 0.4**0.5, 0.25))
    # The same places on the scale of an encoder to which all strings are more alike.
    on_scale = [1 - (1 - score) / 4 for score in eight]
    assert shown(*on_scale, background=0.75) == pytest.approx(shown(*eight))
    assert shown(*[0.75] * 8, background=0.75) == (0, 0)
    # One of many near names may be another, but is not as far as what has nothing in common.
    assert 0 < shown(*[0.95] * 8, background=0.5)[0] < 0.9
    # In a short list the eighth may be anything.
    assert shown(*eight[:3]) == pytest.approx((0.9, 0.1))
    assert shown(*eight[:3], background=0.5) == pytest.approx((0.8, 0.2))
    assert shown(*eight, background=0.9) == pytest.approx((0, 1))


def test_euclidean_distances_are_seen_as_the_cosines_of_the_same_vectors() -> None:
    cosines = (0.9, 0.8, 0.7, 0.65, 0.65, 0.63, 0.61, 0.6)

    def shown(scores: list[float], vocabulary: Vocabulary) -> tuple[float, float]:
        candidates = tuple(candidate(f"{n} of all", score) for n, score in enumerate(scores))
        of_link = evidence(Link(Mention("x"), candidates), vocabulary)
        return of_link["rise"], of_link["relative lead"]

    nearness = [1 / (1 + math.sqrt(2 * (1 - cosine))) for cosine in (*cosines, 0.5)]
    by_distance = VOCABULARY._replace(background=nearness[-1], euclidean=True)
    by_cosine = VOCABULARY._replace(background=0.5)
    assert shown(nearness[:-1], by_distance) == pytest.approx(shown([*cosines], by_cosine))


# --- judges ---------------------------------------------------------------------------------------


def drawn(seed: int, n: int = 4000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Evidence, whether each link is right, and the probability of that."""
    rng = np.random.default_rng(seed)
    x = np.zeros((n, len(EVIDENCE)))
    x[:, 0], x[:, 1] = rng.random(n), rng.random(n) / 2
    p = 1 / (1 + np.exp(-(6 * x[:, 0] + 4 * x[:, 1] - 4)))
    return x, rng.random(n) < p, p


def test_a_fitted_probability_is_the_true_one() -> None:
    x, right, _ = drawn(0)
    other, true, p = drawn(1)
    judge = fit_judge(x, right, source=MENTIONS)
    assert (judge.n, judge.n_right) == (4000, int(right.sum()))
    probability = judge.predict(other)
    assert np.abs(probability - p).mean() < 0.03
    assert ece(probability, true) < 0.03
    assert (probability > 0).all()
    assert (probability < 1).all()


def test_a_few_links_change_a_judge_little_and_many_much() -> None:
    x, right, _ = drawn(0)
    start = fit_judge(x, right, source=MENTIONS)
    few = fit_judge(x[:25], ~right[:25], source=MENTIONS, start=start)
    many = fit_judge(x, ~right, source=MENTIONS, start=start)
    before = start.predict(x)
    assert np.abs(few.predict(x) - before).mean() < np.abs(many.predict(x) - before).mean() / 2
    assert np.corrcoef(many.predict(x), before)[0, 1] < -0.9


def test_weights_count_as_so_many_links() -> None:
    x, right, _ = drawn(0, 400)
    twice = fit_judge(np.concatenate([x, x]), np.tile(right, 2), source=MENTIONS)
    weighed = fit_judge(x, right, source=MENTIONS, weights=np.full(400, 2.0))
    assert twice.predict(x) == pytest.approx(weighed.predict(x), abs=1e-3)


def test_no_probability_is_certain_after_few_observations() -> None:
    x = np.zeros((30, len(EVIDENCE)))
    x[:, 0] = np.arange(30)
    judge = fit_judge(x, np.arange(30) >= 15, source=MENTIONS)
    assert judge.predict(x).min() >= 1 / 32
    assert judge.predict(x).max() <= 31 / 32


def test_a_judge_is_kept_in_json(tmp_path: Path) -> None:
    x, right, _ = drawn(0, 200)
    judge = fit_judge(x, right, source=MENTIONS)
    judge.save(tmp_path / "j.json")
    again = Judge.load(tmp_path / "j.json")
    assert again is not None
    assert again.predict(x).tolist() == judge.predict(x).tolist()
    assert again.to_dict() == judge.to_dict()
    assert Judge.load(tmp_path / "none.json") is None
    content = json.loads((tmp_path / "j.json").read_text())
    (tmp_path / "j.json").write_text(json.dumps({**content, "n": 5000}))
    with pytest.raises(ReadError, match="not what its checksum says"):
        Judge.load(tmp_path / "j.json")
    del content["sha256"]
    for change in ({"format": 99}, {"curves": content["curves"][1:]}):
        (tmp_path / "j.json").write_text(json.dumps({**content, **change}))
        with pytest.raises(Mismatch, match="another version"):
            Judge.load(tmp_path / "j.json")
    curve = content["curves"][0]
    changes: list[dict[str, Any]] = [
        *({"curves": "x"}, {"curves": [1.0]}, {"n": math.inf}, {"n_right": -1}),
        *({"source": "hearsay"}, {"source": None}),
        {"curves": [{**curve, "values": [math.nan]}, *content["curves"][1:]]},
        {"curves": [{**curve, "knots": [2.0, 1.0]}, *content["curves"][1:]]},
    ]
    for damage in ("{", "[]", "[" * 5000, *(json.dumps({**content, **one}) for one in changes)):
        (tmp_path / "j.json").write_text(damage)
        with pytest.raises(ReadError, match="is damaged"):
            Judge.load(tmp_path / "j.json")


def test_what_cannot_be_fitted_is_refused() -> None:
    x, right, _ = drawn(0, 30)
    with pytest.raises(InvalidInput, match="19 links are too few"):
        fit_judge(x[:19], right[:19], source=MENTIONS)


# --- links ----------------------------------------------------------------------------------------


def by_similarity() -> Judge:
    """A judge whose probability rises with the similarity: 0.5 at 0.5."""
    curves = [Curve(name, (0.0,), (0.0,), 0.0) for name in (*BY_SIMILARITIES, ANY)]
    curves[0] = Curve("similarity", (0.0, 1.0), (-5.0, 5.0), 0.0)
    return Judge(AdditiveModel(curves), 10**6, 5, MENTIONS, shipped_judge(["default"]).bounds)


def link_of(*scores: float, **more: Any) -> Link:
    return Link(Mention("x"), tuple(candidate(f"X:{s}", s) for s in scores), **more)


def test_a_link_gets_its_confidence_and_only_the_candidates_wanted() -> None:
    link = graded(link_of(0.7, 0.2), 0, 1)
    assert link.confidence == pytest.approx(1 / (1 + np.exp(-2)))
    assert len(link.candidates) == 1
    assert (link.nil, link.id) == (False, "X:0.7")
    assert graded(link_of(), 0.5, 1).confidence is None


def test_links_with_a_low_confidence_are_nil() -> None:
    assert graded(link_of(0.7), 0.85, 1).id == "X:0.7"
    low = graded(link_of(0.7), 0.9, 1)
    assert (low.id, low.nil) == (None, True)
    assert low.reason == "the confidence, 0.881, is below 0.9"
    already = graded(link_of(0.7, nil=True, reason="no"), 0.9, 1)
    assert already.reason == "no"


def test_a_composite_link_has_the_confidence_of_its_least_certain_part() -> None:
    parts = (link_of(0.9), link_of(0.6), link_of(nil=True, reason="nothing"))
    whole = graded(Link(Mention("x"), parts=parts), 0.8, 5)
    assert whole.confidence == pytest.approx(1 / (1 + np.exp(-1)))
    assert [part.nil for part in whole.parts] == [False, True, True]
    assert (whole.ids, whole.nil) == (("X:0.9",), False)
    none = graded(Link(Mention("x"), parts=parts[1:]), 0.8, 5)
    assert (none.nil, none.reason) == (True, "the confidence, 0.731, is below 0.8; nothing")
    assert graded(Link(Mention("x"), parts=parts[2:]), 0, 5).confidence is None


def test_a_batch_is_graded_as_each_link_by_itself() -> None:
    rng = np.random.default_rng(0)
    links = [link_of(*rng.random(n).tolist()) for n in (2, 1, 0, 5)]
    links += [Link(Mention("x"), parts=tuple(links)), *links[:2]]
    for judge in (by_similarity(), shipped_judge(["default"]), shipped_judge(["another"])):
        alone = [grade(judge, [link], 0.5, 1)[0] for link in links]
        assert grade(judge, links, 0.5, 1) == alone


def test_a_contradiction_is_at_most_even() -> None:
    against = Against((), (), (Contradiction("side", "left", "right"),), "related")
    link = found("left hip", "right hip", against=against)
    assert by_similarity().of([link], VOCABULARY) == [CONTRADICTED]


def test_links_and_parts_are_judged_by_their_concepts() -> None:
    one, two = link_of(0.9), link_of(0.8)
    both = Link(Mention("x"), parts=(one, two))
    assert [right for _, right in judged(one, ["X:0.9", "X:1"], "any")] == [True]
    assert [right for _, right in judged(one, ["X:1"], "any")] == [False]
    assert [right for _, right in judged(one, [], "nil")] == [False]
    assert [right for _, right in judged(one, ["X:0.9", "X:1"], "all")] == [False]
    assert [right for _, right in judged(both, ["X:0.8", "X:1"], "all")] == [False, True]
    assert list(judged(link_of(), ["X:1"], "any")) == []


# --- linkers --------------------------------------------------------------------------------------

KINDS = ("breast", "lung", "skin", "bone", "liver", "colon", "brain", "blood")
ORGANS = concepts(*(f"X:{n}|{kind} cancer|{kind} tumour" for n, kind in enumerate(KINDS)))


def corpus() -> list[Document]:
    """Names that are right, and names with another word that are wrong."""
    documents = []
    for number, kind in enumerate(KINDS):
        mentions = [
            Mention(f"{kind} cancer", type="D", ids=(f"X:{number}",)),
            Mention(f"cancers of the {kind}", type="D", ids=(f"{number}",)),
            Mention(f"{kind} trouble", type="D", ids=("X:99",)),
            Mention(f"{kind} thing", type="D", rule="nil"),
            Mention(f"{kind} unknown", type="D"),
            Mention(f"{kind} cancer", type="O", ids=("X:99",)),
        ]
        documents.append(Document(str(number), "", tuple(mentions)))
    return documents


@pytest.fixture
def linker(tmp_path: Path) -> Linker:
    return Linker.build(
        Terminology.build(ORGANS),
        encoders=["chargrams"],
        folder=tmp_path / "index",
        spelling=False,
    )


def test_a_linker_learns_its_confidence(linker: Linker) -> None:
    before = linker.fingerprint
    report = linker.fit_confidence(corpus(), types=["D"])
    assert report["links"] == 32
    assert report["right"] == 0.5
    assert 0 <= report["ece"] < 0.15
    assert report["right at 0.9"] == 1.0
    sure, unsure = linker.link(["breast cancer", "breast thing"], k=1)
    assert sure.confidence is not None
    assert unsure.confidence is not None
    assert sure.confidence > 0.9 > 0.5 > unsure.confidence
    assert len(sure.candidates) == 1
    assert [x.id for x in linker.link(["breast cancer", "breast thing"], min_confidence=0.9)] == [
        "X:0",
        None,
    ]
    # The same whatever k is, and after loading.
    assert linker.link(["breast cancer"], k=9)[0].confidence == sure.confidence
    again = Linker.load(linker.folder)
    assert again.link(["breast cancer"], k=1)[0] == sure
    assert again.fingerprint == linker.fingerprint != before
    assert again.info()["confidence"] == "adapted to 32 links of annotated mentions"


def test_a_copy_keeps_the_confidence(linker: Linker, tmp_path: Path) -> None:
    linker.fit_confidence(corpus(), types=["D"])
    linker.save(tmp_path / "copy")
    copy = Linker.load(tmp_path / "copy")
    assert copy.judge is not None
    assert copy.judge == linker.judge or copy.judge.to_dict() == linker.judge.to_dict()


def test_mentions_without_documents_are_documents_each(linker: Linker) -> None:
    mentions = [mention for document in corpus() for mention in document.mentions]
    seen = observe(linker.pipeline, mentions, types=["D"])
    assert len(seen.right) == 32
    assert seen.right.sum() == 16
    assert len(np.unique(seen.document)) == 32


def test_each_fold_is_predicted_from_the_others() -> None:
    x, right, _ = drawn(0, 300)
    document = np.repeat(np.arange(30), 10)
    seen = Observed(x, right, document)
    sure = cross_fitted(seen, shipped_judge(["another"]))
    changed = right.copy()
    changed[document == 7] = ~changed[document == 7]
    other = cross_fitted(Observed(x, changed, document), shipped_judge(["another"]))
    # The annotations of a document have no influence on the predictions for its own links.
    assert sure[document == 7].tolist() == other[document == 7].tolist()
    assert (sure != other).any()


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_a_confidence_is_a_probability(linker: Linker, wrong: float) -> None:
    with pytest.raises(InvalidInput, match="a probability is expected"):
        linker.link(["breast cancer"], min_confidence=wrong)


def test_a_corpus_that_cannot_be_used_is_refused(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="no mention is of the type 'Z'; there are D, O"):
        linker.fit_confidence(corpus(), types=["Z"])
    with pytest.raises(InvalidInput, match="no annotated mention has a candidate"):
        linker.fit_confidence([Mention("breast cancer")])
    with pytest.raises(InvalidInput, match="1 links are too few"):
        linker.fit_confidence([Mention("breast cancer", ids=("X:0",))])
    strange = [Mention("breast cancer", ids=("Z:1", "Z:2"), rule="any")] * 30
    with pytest.raises(InvalidInput, match=r"none of the 2 different ids .* such as 'Z:1'"):
        linker.fit_confidence(strange)
    assert not (linker.folder / JUDGE).exists()


# --- the judge that comes along -------------------------------------------------------------------


@pytest.fixture(scope="module")
def organs(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    return Linker.build(
        Terminology.build(ORGANS), folder=tmp_path_factory.mktemp("organs") / "index"
    )


def test_an_index_of_the_default_encoder_has_a_judge_at_once(organs: Linker) -> None:
    assert organs.judge is shipped_judge(["default"])
    assert organs.info()["confidence"] == "learned from many terminologies"
    assert not (organs.folder / JUDGE).exists()
    known, unknown = organs.link(["breast cancers", "asdfghjkl"])
    assert known.id == "X:0"
    assert known.confidence is not None
    assert known.confidence > 0.5
    assert unknown.id is None
    assert unknown.nil


@pytest.mark.parametrize("encoders", [["chargrams"], ["default", "chargrams"], ["multilingual"]])
def test_it_has_one_with_other_encoders_too(encoders: list[str], organs: Linker) -> None:
    linker = Linker.build(organs.terminology, encoders=encoders)
    assert linker.judge is shipped_judge(encoders)
    is_known = encoders == ["multilingual"]
    assert (linker.judge is shipped_judge(["default"])) is is_known
    assert linker.judge.n_candidates == (2 if is_known else 8)
    assert not (linker.folder / JUDGE).exists()
    known, unknown = linker.link(["breast cancers", "asdfghjkl"])
    assert (known.id, unknown.nil) == ("X:0", True)
    assert known.confidence is not None
    assert known.confidence > 0.5


def test_words_that_the_terminology_lacks_count_against_a_link(organs: Linker) -> None:
    known, unknown = organs.link(["breast cancers", "breast quasar"], k=1)
    assert known.candidates
    assert unknown.candidates
    assert known.confidence is not None
    assert unknown.confidence is not None
    assert known.confidence > unknown.confidence
    share = organs.pipeline.preparation.vocabulary_coverage
    assert (share("breast cancers"), share("qwzx bvtr"), share("12")) == (1.0, 0.0, 1.0)
    assert share("breast quasar") == pytest.approx(0.5)
    assert Preparation().vocabulary_coverage("quasar") == 1.0  # nothing is known of its words


def test_nonsense_is_nil_unless_everything_is_asked_for(organs: Linker) -> None:
    asked = ["tuesday afternoon", "wooden ladder", "el perro duerme"]
    links = organs.link(asked)
    assert [link.nil for link in links] == [True] * 3
    low = [link for link in links if link.candidates]
    assert low
    assert all(f"is below {NONSENSE:g}" in link.reason for link in low)
    shown = organs.link(asked, min_confidence=0)
    assert [link.nil for link in shown] == [not link.candidates for link in shown]
    assert [x.confidence for x in shown] == [x.confidence for x in links]


def test_mentions_that_predict_better_are_kept(organs: Linker) -> None:
    before = organs.fingerprint
    organs.fit_confidence([*corpus(), *corpus()], types=["D"])
    assert organs.judge is not None
    assert organs.judge.source == MENTIONS
    assert organs.fingerprint != before
    organs.fit_confidence()
    assert organs.judge is shipped_judge(["default"])
    assert organs.fingerprint == before
    assert Linker.load(organs.folder).judge is shipped_judge(["default"])


def test_mentions_that_predict_no_better_leave_what_was_learned(
    organs: Linker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    organs.fit_confidence([*corpus(), *corpus()], types=["D"])
    learned = organs.judge
    assert learned is not None
    monkeypatch.setattr(fitting, "cross_fitted", lambda seen, start: start.predict(seen.evidence))
    mentions = "".join(
        f"{n}|t|breast tumours\n{n}\t0\t14\tbreast tumours\tD\tX:0\n\n" for n in range(30)
    )
    (tmp_path / "same.pubtator").write_text(mentions)
    command = [
        "train",
        "confidence",
        str(tmp_path / "same.pubtator"),
        "--index",
        str(organs.folder),
    ]
    told = CliRunner().invoke(main, command)
    assert told.exit_code == 0, told.output
    assert "predicts its mentions no better: the judge stays." in told.output
    kept = Judge.load(organs.folder / JUDGE)
    assert kept is not None
    assert kept.to_dict() == learned.to_dict()
    organs.fit_confidence()


def test_without_a_corpus_the_index_goes_back_to_what_comes_along(organs: Linker) -> None:
    organs.fit_confidence([*corpus(), *corpus()], types=["D"])
    command = ["train", "confidence", "--index", str(organs.folder)]
    told = CliRunner().invoke(main, command)
    assert told.exit_code == 0, told.output
    assert re.search(r"^judge +learned from many terminologies$", told.stdout, re.MULTILINE)
    assert not (organs.folder / JUDGE).exists()
    assert organs.fit_confidence() == {}
    told = CliRunner().invoke(main, [*command, "--mention-type", "A"])
    assert told.exit_code == 2
    assert "expected with a corpus only" in told.output


def test_a_judge_of_another_source_is_refused(organs: Linker) -> None:
    organs.fit_confidence([*corpus(), *corpus()], types=["D"])
    content = json.loads((organs.folder / JUDGE).read_text(encoding="ascii"))
    del content["sha256"]
    (organs.folder / JUDGE).write_text(json.dumps({**content, "source": "x"}), encoding="ascii")
    with pytest.raises(ReadError, match="fit the confidence again, or remove the file"):
        Linker.load(organs.folder)
    organs.fit_confidence()


# --- how many candidates --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mention",
    ["heart attack", "heart attacks", "attack of the heart", "left hand pain", "hand ache", "cold"],
)
def test_the_number_of_candidates_changes_no_confidence(mention: str) -> None:
    hands = ("X:2|Pain of left hand", "X:3|Pain of right hand|right hand pain")
    others = ("X:4|Pain of hand|hand pain", "X:5|Common cold|cold", "X:6|Low temperature|cold")
    linker = linker_of(concepts("X:1|Myocardial infarction|heart attack", *hands, *others))
    (whole,) = linker.link([mention], k=6, min_confidence=0)
    for k in (1, 2, 3):
        (link,) = linker.link([mention], k=k, min_confidence=0)
        assert (link.confidence, link.candidates) == (whole.confidence, whole.candidates[:k])
