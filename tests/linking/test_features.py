"""Features of candidates: past annotations, names of a concept, mentions of a document."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import Concept, Document, Linker, Mention, Name, Relation, Terminology
from canonym.linking.decision import Draft
from canonym.linking.features import (
    COUNTED,
    SAME_CONCEPT,
    AnnotationCounts,
    Candidates,
    Compared,
    NameScores,
    candidate_features,
    compare_drafts,
    document_counts,
    feature_names,
    marginals,
    name_scores,
    no_counts,
)
from canonym.linking.search import BatchHits, ConceptHit
from canonym.types import SCOPES, SparseVectors

ALL, SHORTER, LONGER, OTHER = range(4)
LOG_2 = round(math.log(2), 6)  # as features are


def drafts_of(linker: Linker, *mentions: str, k: int = 5) -> tuple[list[Draft], BatchHits]:
    pipeline = linker.pipeline
    document = Document("1", "", tuple(map(Mention, mentions)))
    (drafts,), found = pipeline.draft([document], pipeline.request(k=k), {})
    return drafts, found


def scores_of(linker: Linker, mention: str, k: int = 5) -> tuple[Draft, NameScores]:
    (draft,), found = drafts_of(linker, mention, k=k)
    return draft, name_scores(Candidates([draft], found))


def empty_batch(linker: Linker) -> BatchHits:
    return linker.pipeline.batch(linker.pipeline.filters.choose())


def hit(concept: int, row: int, score: float, found_by: str = "search", **scores: float) -> Any:
    return ConceptHit(concept, row, score, scores, found_by)


# --- past annotations -----------------------------------------------------------------------------


def look(seen: AnnotationCounts, form: str, id: str, name: str) -> list[float]:
    (row,) = seen.look([form], [id], [name]).tolist()
    return list(row)


def test_annotations_are_counted_and_taken_back() -> None:
    seen = AnnotationCounts()
    for id_ in ("X:1", "X:1", "X:2"):
        seen.add("Tumours", [id_])
    assert look(seen, "tumor", "X:1", "growth") == pytest.approx(
        [math.log(3), 2 / 3, math.log(3), 0, 1]
    )
    seen.add("other", ["X:1"])
    assert look(seen, "tumor", "X:1", "other")[2:4] == [math.log(4), math.log(2)]
    seen.add("tumor", ["X:2"], -1)
    assert look(seen, "tumor", "X:2", "growth") == [0, 0, 0, 0, 1]
    pair, share, concept, *_ = look(seen, "never", "X:1", "never")
    assert (pair, concept) == (0, math.log(4))
    assert math.isnan(share)
    seen.add("other", ["Y:1"])
    assert look(seen, "never", "Y:9", "never")[-1] == pytest.approx(1 / 4)


def test_several_are_looked_up_as_each_by_itself() -> None:
    seen = AnnotationCounts()
    seen.add("tumour", ["X:1", "Y:2"])
    asked = ["tumor", "tumor", "never"], ["X:1", "Y:2", "Z:3"], ["growth", "tumor", "tumor"]
    rows = [look(seen, *one) for one in zip(*asked, strict=True)]
    assert seen.look(*asked).tolist() == [pytest.approx(row, nan_ok=True) for row in rows]
    nothing = AnnotationCounts()
    assert look(nothing, "tumor", "X:1", "tumor") == pytest.approx(
        [0, math.nan, 0, 0, math.nan], nan_ok=True
    )


# --- all names of a concept -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def linker() -> Linker:
    records = [
        Concept("X:1", "Myocardial infarction"),
        Name("heart attack", "X:1"),
        Name("cardiac infarct", "X:1"),
        Concept("X:2", "Panic attack"),
        *(Name(f"fever {number}", "X:3") for number in range(100)),
        Concept("X:3", "Fever"),
        Concept("X:4", "Breast cancer"),
        Concept("X:5", "Ovarian cancer"),
    ]
    return Linker.build(Terminology.build(records), encoders=["default", "chargrams"])


def dense(vectors: Any) -> np.ndarray:
    if not isinstance(vectors, SparseVectors):
        return np.asarray(vectors, dtype=np.float64)
    table = np.zeros((len(vectors.indptr) - 1, vectors.n_columns))
    for row, (start, end) in enumerate(zip(vectors.indptr, vectors.indptr[1:], strict=False)):
        table[row, vectors.indices[start:end]] = vectors.data[start:end]
    return table


def marginal_of(scores: np.ndarray) -> float:
    """Add the best three up; no two are equal."""
    best = sorted(scores.tolist(), reverse=True)[:3]
    return math.log(sum(math.exp(20 * score) for score in best)) / 20


def test_scores_of_names_are_cosines(linker: Linker) -> None:
    draft, scores = scores_of(linker, "heart attacks", k=2)
    assert [found.concept for found in draft.hits] == [0, 1]
    names = [name.text for name in linker.terminology.names("X:1")]
    fused = np.zeros(len(names))
    for column, encoder in enumerate(linker.pipeline.search.encoders):
        vectors = dense(encoder.encode(["heart attacks", *names]))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = vectors[1:] @ vectors[0]
        fused += cosines / 2
        assert scores.best[0, column] == pytest.approx(cosines.max(), abs=1e-3)
        assert scores.mean[0, column] == pytest.approx(cosines.mean(), abs=1e-3)
    assert scores.n_names.tolist() == [3, 1]
    assert scores.second[0] == pytest.approx(sorted(fused)[-2], abs=1e-3)
    assert scores.marginal[0] == pytest.approx(marginal_of(fused), abs=1e-3)
    assert math.isnan(scores.second[1])
    assert scores.best[1].tolist() == scores.mean[1].tolist()


def test_at_most_64_names_of_a_concept_are_compared(linker: Linker) -> None:
    draft, scores = scores_of(linker, "fever", k=1)
    assert [found.concept for found in draft.hits] == [2]
    assert scores.n_names.tolist() == [64]


def test_added_synonyms_count(tmp_path: Path) -> None:
    records = [Concept("X:1", "Myocardial infarction"), Concept("X:2", "Fever")]
    linker = Linker.build(
        Terminology.build(records, tmp_path / "t.db"), encoders=["default"], folder=tmp_path / "i"
    )
    counts = []
    for _ in range(2):
        draft, scores = scores_of(linker, "coronary")
        counts.append({one.concept: n for one, n in zip(draft.hits, scores.n_names, strict=True)})
        linker.add_synonym("coronary thrombosis", "X:1")
    assert counts == [{0: 1, 1: 1}, {0: 2, 1: 1}]


def test_parts_of_a_composite_mention_have_scores(linker: Linker) -> None:
    (draft,), found = drafts_of(linker, "breast and ovarian cancer")
    assert len(draft.parts) == 2
    for part in draft.parts:
        assert len(part.hits) > 1
        assert (name_scores(Candidates([part], found)).n_names >= 1).all()


def test_a_concept_without_names_has_no_scores(tmp_path: Path) -> None:
    records = [Concept("X:1", ""), Concept("X:2", "Fever"), Concept("X:3", "Ague")]
    linker = Linker.build(
        Terminology.build(records, tmp_path / "t.db"), encoders=["default"], folder=tmp_path / "i"
    )
    draft = Draft(Mention("fever"), "fever", tuple(hit(n, n - 1, 0.5) for n in range(3)))
    scores = name_scores(Candidates([draft], empty_batch(linker)))
    assert all(math.isnan(one) for one in (scores.n_names[0], scores.marginal[0]))
    assert np.isnan(scores.best[0]).all()
    assert scores.n_names[1:].tolist() == [1, 1]
    assert scores.best[1, 0] == pytest.approx(1, abs=1e-3)
    assert scores.best[2, 0] < scores.best[1, 0]


def test_nothing_found_has_no_scores(linker: Linker) -> None:
    (draft,), found = drafts_of(linker, "?")
    candidates = Candidates([draft], found)
    scores = name_scores(candidates)
    assert [len(values) for values in scores] == [0] * 5
    assert marginals(candidates, scores).shape == (0,)


def test_without_an_encoder_names_are_counted_only() -> None:
    plain = Linker.build(Terminology.build([Concept("X:1", "Fever")]), encoders=[])
    _, scores = scores_of(plain, "fever")
    assert scores.n_names.tolist() == [1]
    assert scores.best.shape == (1, 0)
    assert np.isnan(scores.marginal).all()


def test_marginals_are_unknown_where_the_mention_is_a_name(linker: Linker) -> None:
    found = empty_batch(linker)
    hits = (hit(0, 1, 0.9), hit(1, 3, 0.8, "verbatim"), hit(0, 2, 0.7), hit(0, 0, 0.6))
    draft = Draft(Mention("Heart attacks"), "Heart attacks", hits)
    unknown = np.full(4, math.nan)
    near = np.array([0.95, 0.95, 0.75, math.nan])
    scores = NameScores(unknown, unknown[:, None], unknown[:, None], near, unknown)
    near = marginals(Candidates([draft], found), scores)
    assert near.tolist()[2:] == [0.75, 0.6]
    assert np.isnan(near[:2]).all()


# --- other mentions of the document ---------------------------------------------------------------


def named(text: str, *concepts: int, nil: bool = False) -> Draft:
    hits = tuple(hit(concept, -1, 0.9 - place / 10) for place, concept in enumerate(concepts))
    return Draft(Mention(text), text, hits, nil=nil)


def beside(*drafts: Draft) -> list[list[list[int]]]:
    """Return how many mentions have each candidate first: all, shorter, longer, other."""
    marginal = [np.array([one.score for one in draft.hits]) for draft in drafts]
    counts = document_counts(drafts, marginal)
    return [np.rint(np.expm1(one)).astype(int).tolist() for one in counts]


A, B = 0, 1


def test_mentions_count_by_their_words() -> None:
    counts = beside(
        named("familial adenomatous polyposis", A, B),
        named("adenomatous polyposis", B),
        named("polyposis", B),
        named("attenuated familial adenomatous polyposis", B),
        named("polyposis of the colon", B),
        named("FAP", A),
    )
    of_a, of_b = counts[0]
    assert [of_a[SHORTER], of_b[SHORTER]] == [0, 2]
    assert [of_a[LONGER], of_b[LONGER]] == [0, 1]
    assert [of_a[OTHER], of_b[OTHER]] == [1, 1]
    assert [of_a[ALL], of_b[ALL]] == [1, 4]
    # For a shorter mention the same mentions are longer ones.
    assert counts[2][0][LONGER] == 3
    assert counts[2][0][OTHER] == 0


@pytest.mark.parametrize("other", ["polyposis adenomatous familial", "chorea"])
def test_the_same_words_in_another_order_are_another_name(other: str) -> None:
    counts = beside(named("familial adenomatous polyposis", A), named(other, A))
    assert counts[0] == [[1, 0, 0, 1]]


def test_a_form_counts_once_and_not_for_itself_and_a_nil_not_at_all() -> None:
    counts = beside(
        named("renal damage", A, B),
        named("renal damage", B),
        named("Renal-Damage", B),
        named("goat", B, nil=True),
        named("kidney injury", B),
        named("Kidney injury", B),
    )
    assert [of_concept[ALL] for of_concept in counts[0]] == [0, 1]
    # The first mention of a form stands for all of them.
    assert [of_concept[ALL] for of_concept in counts[4]] == [0]


def test_the_nearest_by_all_names_is_the_first_candidate() -> None:
    drafts = [named("renal damage", A, B), named("kidney injury", A, B)]
    (counts, _) = document_counts(drafts, [np.array([0.9, 0.8]), np.array([0.8, 0.9])])
    assert np.expm1(counts[:, ALL]).tolist() == pytest.approx([0, 1])
    (counts, _) = document_counts(drafts, [np.array([0.9, 0.8]), np.array([math.nan, 0.9])])
    assert np.expm1(counts[:, ALL]).tolist() == pytest.approx([1, 0])


def test_a_mention_alone_has_no_counts() -> None:
    drafts = [named("renal damage", A)] * 2
    for counts in document_counts(drafts, [np.array([0.9])] * 2):
        assert np.isnan(counts).all()
        assert counts.shape == no_counts(drafts[0]).shape == (1, 4)


# --- the features ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fevers() -> Linker:
    records = [
        Concept("X:1", "type 2 fever", types=("Sign or Symptom",)),
        Concept("X:2", "Fever", types=("Finding", "Disease")),
        Name("fever type 1", "X:2", scope="narrow"),
        Concept("X:3", "Type 2 Fever"),
        Relation("X:1", "is_a", "Y:1"),
        Concept("Y:1", "ague"),
        Relation("Y:1", "is_a", "Y:2"),
        Relation("X:2", "is_a", "Y:2"),
        Concept("Y:2", "heat"),
        # X:3 has no root above it.
        Relation("X:3", "is_a", "Y:3"),
        Concept("Y:3", "chill"),
        Relation("Y:3", "is_a", "X:3"),
    ]
    return Linker.build(Terminology.build(records), encoders=["chargrams"])


def rows_by_text(linker: Linker) -> dict[str, int]:
    return {name.text: row for row, name in enumerate(linker.terminology.iter_names())}


def fever_features(linker: Linker, mention: Mention) -> list[dict[str, float]]:
    rows = rows_by_text(linker)
    concept = linker.terminology.ordinal
    hits = (
        hit(concept("X:1"), rows["type 2 fever"], 0.9, e=0.7, f=0.9),
        hit(concept("X:2"), rows["fever type 1"], 0.6, "verbatim", e=0.8),
        hit(concept("X:3"), rows["Type 2 Fever"], 0.3),
    )
    unknown = math.nan
    scores = NameScores(
        n_names=np.array([3.0, unknown, unknown]),
        best=np.array([[0.75, unknown], [unknown, unknown], [unknown, unknown]]),
        mean=np.array([[0.5, unknown], [0.4, unknown], [unknown, unknown]]),
        marginal=np.full(3, unknown),
        second=np.array([0.6, 0.5, unknown]),
    )
    seen = AnnotationCounts()
    seen.add("type 1 fever", ["X:2"])
    draft = Draft(mention, "Type 1 fevers", hits)
    counts = np.array([[9, 1, 2, 3]] + [[unknown] * 4] * 2)
    candidates = Candidates([draft], empty_batch(linker))
    compared = Compared(candidates, scores, scores.marginal, counts)
    found = candidate_features(compared, seen, ["e", "f"])
    names = feature_names(["e", "f"])
    assert found.shape == (3, len(names))
    return [dict(zip(names, row.tolist(), strict=True)) for row in found]


def test_features_tell_candidates_apart(fevers: Linker) -> None:
    mention = Mention("Type 1 fevers", type="SpecificDisease or symptoms")
    first, second, third = fever_features(fevers, mention)
    assert [one["score behind the best"] for one in (first, second)] == [0, pytest.approx(-0.3)]
    assert [one["place"] for one in (first, second)] == [0, LOG_2]
    assert (first["sieve"], second["sieve"]) == (0, 3)
    assert (first["scope"], second["scope"]) == (SCOPES.index("label"), SCOPES.index("narrow"))
    assert (first["name is the label"], second["name is the label"]) == (1, 0)
    assert (first["numerals of the name"], second["numerals of the name"]) == (0, 1)
    assert second["words of the label"] == pytest.approx(1 / 3)
    assert first["concepts of that name"] == third["concepts of that name"] == LOG_2
    assert second["concepts of that name"] == 0
    assert (first["decisions"], second["decisions"]) == (0, LOG_2)
    assert (first["share of decisions"], second["share of decisions"]) == (0, 1)
    assert second["e behind the best"] == 0
    assert first["e behind the best"] == pytest.approx(-0.05)
    assert second["e mean behind the best"] == pytest.approx(-0.1)
    assert first["names"] == pytest.approx(math.log(3))
    assert second["second name behind the best"] == pytest.approx(-0.1)
    assert first["second name behind the first"] == pytest.approx(-0.3)
    assert math.isnan(third["second name"])
    assert math.isnan(third["e mean behind the best"])
    assert [one["name is the mention"] for one in (first, second, third)] == [0, 0, 0]
    assert math.isnan(second["f"])
    assert first["f"] == 0.9
    assert [one["depth"] for one in (first, second)] == pytest.approx([math.log(3), math.log(2)])
    assert second["depth below the first"] == pytest.approx(math.log(2 / 3))
    assert math.isnan(third["depth below the first"])
    assert [first[kind] for kind in COUNTED] == [1, 2, 3]
    assert SAME_CONCEPT not in first
    assert [one["type is the mention's"] for one in (first, second)] == [1, 0]
    assert math.isnan(third["type is the mention's"])


def test_a_mention_without_a_type_is_like_no_type(fevers: Linker) -> None:
    found = fever_features(fevers, Mention("x"))
    assert all(math.isnan(one["type is the mention's"]) for one in found)


def test_depths_are_those_of_the_hierarchy(linker: Linker) -> None:
    records = [
        *(Concept(f"X:{number}", f"fever {number}") for number in (1, 2, 3, 4)),
        Relation("X:1", "is_a", "X:2"),
        Relation("X:2", "is_a", "X:3"),
    ]
    deep = Linker.build(Terminology.build(records), encoders=["default"])
    column = feature_names(["e"]).index("depth")
    for one, wanted in ((deep, [math.log(3), math.log(2), 0, 0]), (linker, [math.nan] * 3)):
        (draft,), found = drafts_of(one, "fever", k=4)
        draft = draft._replace(hits=tuple(sorted(draft.hits)))
        compared = compare_drafts([[draft]], found)
        rows = candidate_features(compared, AnnotationCounts(), one.encoder_names)
        assert rows[:, column].tolist()[: len(wanted)] == pytest.approx(wanted, nan_ok=True)


def test_no_candidates_have_no_features(linker: Linker) -> None:
    (draft,), found = drafts_of(linker, "?")
    names = ["default", "chargrams"]
    rows = candidate_features(compare_drafts([[draft]], found), AnnotationCounts(), names)
    assert rows.shape == (0, len(feature_names(names)))


def test_a_batch_has_the_features_of_each_mention_by_itself(linker: Linker) -> None:
    linker.pipeline.names.snapshot()
    mentions = ["heart attacks", "breast and ovarian cancer", "?", "fevers 7", "panic"]
    drafts, found = drafts_of(linker, *mentions, k=20)
    documents = [drafts[:2], [drafts[2]], [], drafts[3:]]
    seen, encoders = AnnotationCounts(), linker.encoder_names
    seen.add("fever", ["X:3"])
    whole = compare_drafts(documents, found)
    features = candidate_features(whole, seen, encoders)
    alone = [compare_drafts([of_document], found) for of_document in documents]
    each = [candidate_features(one, seen, encoders) for one in alone]
    assert features.tobytes() == np.concatenate(each).tobytes()
    assert whole.counts.tobytes() == np.concatenate([one.counts for one in alone]).tobytes()
    parts = [candidate_features(one, seen, encoders) for one in whole.split()]
    assert features.tobytes() == np.concatenate(parts).tobytes()
    assert [one.candidates.drafts[0].string for one in whole.split()] == [
        *("heart attacks", "breast cancer", "ovarian cancer", "?", "fevers 7", "panic"),
    ]
