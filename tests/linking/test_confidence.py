"""Confidence: features of links, fitted models, and links that are NIL for a low one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import (
    Candidate,
    Concept,
    Document,
    InvalidInput,
    Link,
    Linker,
    Mention,
    Mismatch,
    Name,
    NotTrained,
    ReadError,
    Terminology,
)
from canonym.evaluation.calibration import ece
from canonym.linking.confidence import (
    FEATURES,
    METHODS,
    Confidence,
    Observed,
    confidence_features,
    fit_model,
)
from canonym.linking.fitting import cross_fitted, judged, observe
from canonym.ranking.probability import Isotonic, Logistic
from canonym.types.links import SIMILARITY


def candidate(id_: str, score: float, sieve: str = "search", **parts: float) -> Candidate:
    return Candidate(id_, id_, score, id_, "exact", (), sieve, parts)


def graded(link: Link, min_confidence: float | None, k: int) -> Link:
    (found,) = by_score().grade([link], min_confidence, k)
    return found


def features(link: Link) -> dict[str, float]:
    return dict(zip(FEATURES, confidence_features(link).tolist(), strict=True))


# --- features -------------------------------------------------------------------------------------


def test_features_of_a_search() -> None:
    link = Link(
        Mention("x"),
        (
            candidate("A", 0.9, a=0.8, b=0.9, c=0.7),
            candidate("B", 0.6, a=0.9, b=0.5),
            candidate("C", 0.1),
        ),
    )
    assert features(link) == pytest.approx(
        {
            "score": 0.9, "margin": 0.3, "agreement": 2 / 3, "verbatim": 0, "normalised": 0,
            "reordered": 0, "shared": 0, "alone": 0, "similarity": 0.9, "contradicts": 0,
        }
    )  # fmt: skip
    assert features(Link(Mention("x"), link.candidates[:1])) == pytest.approx(
        {
            "score": 0.9, "margin": 0.9, "agreement": 1, "verbatim": 0, "normalised": 0,
            "reordered": 0, "shared": 0, "alone": 1, "similarity": 0.9, "contradicts": 0,
        }
    )  # fmt: skip


def test_a_re_ranked_link_has_its_similarity_as_well() -> None:
    first = Candidate("A", "A", 0.7, "A", parts={SIMILARITY: 0.4, "a": 0.4})
    found = features(Link(Mention("x"), (first, candidate("B", 0.2))))
    assert (found["score"], found["similarity"]) == (0.7, 0.4)


def test_features_of_a_sieve() -> None:
    best = candidate("A", 0.99, "normalised", normalised=0.99)
    found = features(Link(Mention("x"), (best, candidate("B", 0.99, "normalised"))))
    assert (found["normalised"], found["shared"], found["margin"]) == (1, 1, 0)
    found = features(Link(Mention("x"), (best, candidate("B", 0.5, a=0.5))))
    assert (found["shared"], found["agreement"], found["alone"]) == (0, 1, 0)


# --- models ---------------------------------------------------------------------------------------


def drawn(seed: int, n: int = 4000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, whether each link is right, and the probability of that."""
    rng = np.random.default_rng(seed)
    x = np.zeros((n, len(FEATURES)))
    x[:, 0], x[:, 1] = rng.random(n), rng.random(n) / 2
    p = 1 / (1 + np.exp(-(6 * x[:, 0] + 4 * x[:, 1] - 4)))
    return x, rng.random(n) < p, p


@pytest.mark.parametrize("method", METHODS)
def test_a_fitted_probability_is_the_true_one(method: str) -> None:
    x, right, _ = drawn(0)
    other, true, p = drawn(1)
    model = fit_model(x, right, method=method)
    assert (model.method, model.n, model.n_right) == (method, 4000, int(right.sum()))
    found = model.predict(other)
    assert np.abs(found - p).mean() < 0.03
    assert ece(found, true) < 0.03
    assert (found > 0).all()
    assert (found < 1).all()


def test_no_probability_is_certain_after_few_observations() -> None:
    x = np.zeros((30, len(FEATURES)))
    x[:, 0] = np.arange(30)
    model = fit_model(x, np.arange(30) >= 15, method="isotonic")
    assert model.predict(x)[[0, -1]] == pytest.approx([1 / 32, 31 / 32])


def test_a_model_is_kept_in_json(tmp_path: Path) -> None:
    x, right, _ = drawn(0, 200)
    for method in METHODS:
        model = fit_model(x, right, method=method)
        model.save(tmp_path / "c.json")
        again = Confidence.load(tmp_path / "c.json")
        assert again is not None
        assert again.predict(x).tolist() == model.predict(x).tolist()
        assert again.to_dict() == model.to_dict()
    assert Confidence.load(tmp_path / "none.json") is None
    content = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps({**content, "intercept": 0.5}))
    with pytest.raises(ReadError, match="not what its checksum says"):
        Confidence.load(tmp_path / "c.json")
    del content["sha256"]  # as earlier versions wrote it
    (tmp_path / "c.json").write_text(json.dumps({**content, "features": ["score"]}))
    with pytest.raises(Mismatch, match="another version"):
        Confidence.load(tmp_path / "c.json")
    content |= {"knots": [1.0, 2.0], "values": [0.0, 1.0]}
    changes: list[dict[str, Any]] = [
        *({"weights": "x"}, {"weights": [1.0]}, {"intercept": 10**400}, {"n": math.inf}),
        *({"n_right": -1}, {"knots": []}, {"knots": [2, 1], "values": [0, 1]}, {"values": [1]}),
        {"intercept": math.nan},
    ]
    for damage in ("{", "[]", "[" * 5000, *(json.dumps({**content, **one}) for one in changes)):
        (tmp_path / "c.json").write_text(damage)
        with pytest.raises(ReadError, match="is damaged"):
            Confidence.load(tmp_path / "c.json")


def test_what_cannot_be_fitted_is_refused() -> None:
    x, right, _ = drawn(0, 30)
    with pytest.raises(InvalidInput, match="there is no method 'beta'"):
        fit_model(x, right, method="beta")
    with pytest.raises(InvalidInput, match="19 links are too few"):
        fit_model(x[:19], right[:19])


# --- links ----------------------------------------------------------------------------------------


def by_score() -> Confidence:
    """A confidence that rises with the score: 0.5 at 0.5."""
    weights = np.zeros(len(FEATURES))
    weights[0] = 10
    return Confidence(Logistic(weights, -5.0), None, 10**6, 5)


def link_of(*scores: float, **more: Any) -> Link:
    return Link(Mention("x"), tuple(candidate(f"X:{s}", s) for s in scores), **more)


def test_a_link_gets_its_confidence_and_only_the_candidates_wanted() -> None:
    link = graded(link_of(0.7, 0.2), None, 1)
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
    assert graded(Link(Mention("x"), parts=parts[2:]), None, 5).confidence is None


def test_a_batch_is_graded_as_each_link_by_itself() -> None:
    rng = np.random.default_rng(0)
    links = [link_of(*rng.random(n).tolist()) for n in (2, 1, 0, 5)]
    links += [Link(Mention("x"), parts=tuple(links)), *links[:2]]
    logistic = Logistic(rng.standard_normal(len(FEATURES)), 0.1)
    for isotonic in (None, Isotonic(np.array([-1.0, 1.0]), np.array([0.1, 0.9]))):
        known = Confidence(logistic, isotonic, 100, 50)
        alone = [known.grade([link], 0.5, 1)[0] for link in links]
        assert known.grade(links, 0.5, 1) == alone


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
    records = [
        record
        for number, kind in enumerate(KINDS)
        for record in (
            Concept(f"X:{number}", f"{kind} cancer"),
            Name(f"{kind} tumour", f"X:{number}"),
        )
    ]
    return Linker.build(
        Terminology.build(records),
        encoders=["chargrams"],
        folder=tmp_path / "index",
        spelling=False,
    )


def test_a_linker_learns_its_confidence(linker: Linker) -> None:
    before = linker.fingerprint
    assert linker.link(["breast cancer"])[0].confidence is None
    with pytest.raises(NotTrained, match=r"fit-confidence --index FOLDER"):
        linker.link(["breast cancer"], min_confidence=0.9)
    report = linker.fit_confidence(corpus(), types=["D"])
    assert report["links"] == 32
    assert report["right"] == 0.5
    assert 0 <= report["ece"] < 0.15
    assert report["right at 0.9"] == 1.0
    sure, unsure = linker.link(["breast cancer", "breast thing"], k=1)
    assert sure.confidence is not None
    assert unsure.confidence is not None
    assert sure.confidence > 0.9 > 0.1 > unsure.confidence
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
    assert again.info()["confidence"] == {
        "method": "isotonic",
        "fitted to": "32 links of annotated mentions",
    }


def test_a_copy_keeps_the_confidence(linker: Linker, tmp_path: Path) -> None:
    linker.fit_confidence(corpus(), types=["D"], method="platt")
    linker.save(tmp_path / "copy")
    copy = Linker.load(tmp_path / "copy")
    assert copy.confidence is not None
    assert copy.confidence.method == "platt"


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
    sure = cross_fitted(seen, method="platt")
    changed = right.copy()
    changed[document == 7] = ~changed[document == 7]
    other = cross_fitted(Observed(x, changed, document), method="platt")
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
    assert not (linker.folder / "confidence.json").exists()
