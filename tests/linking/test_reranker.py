"""Orders of candidates: by all names of a concept, fitted to annotations, or from a file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from canonym import (
    Concept,
    Document,
    InvalidInput,
    Linker,
    Mention,
    Mismatch,
    Name,
    ReadError,
    Terminology,
)
from canonym.cli import main
from canonym.cli.explanation import explain
from canonym.evaluation.run import evaluate_corpus
from canonym.linking import reranker
from canonym.linking.decision import Draft
from canonym.linking.features import (
    SAME_CONCEPT,
    AnnotationCounts,
    Candidates,
    Compared,
    NameScores,
    compare_drafts,
    document_counts,
    feature_names,
    marginals,
)
from canonym.linking.reranker import (
    ORDERS,
    RERANKER,
    Reranker,
    open_order,
    shipped_file,
)
from canonym.linking.search import ConceptHit
from canonym.ranking.additive_model import AdditiveModel, Curve
from canonym.types.links import SIMILARITY

PLACES = ["hip", "knee", "hand", "foot", "back", "neck", "wrist", "ankle", "chest", "elbow"]
SIGNS = ["pain", "ache", "fracture", "swelling"]


@pytest.fixture(scope="module")
def terminology(tmp_path_factory: pytest.TempPathFactory) -> Terminology:
    """Every place has an old concept and a new one, with names that are as near to a mention."""
    records: list[Concept | Name] = []
    for sign in SIGNS:
        for place in PLACES:
            new = f"N:{sign}-{place}"
            records += [Concept(f"A:{sign}-{place}", f"old {place} {sign}")]
            records += [Concept(new, f"new {place} {sign}"), Name(f"{sign} of {place}", new)]
    return Terminology.build(records, tmp_path_factory.mktemp("terms") / "x.db")


def corpus(n: int = 10) -> list[Document]:
    """Annotators always mean the new concept, though the old one goes first in a tie."""
    return [
        Document(
            str(number),
            "",
            tuple(
                Mention(f"bad {place} {sign}", ids=(f"N:{sign}-{place}",), document_id=str(number))
                for sign in SIGNS
            ),
        )
        for number in range(n)
        for place in [PLACES[number % len(PLACES)]]
    ] * 2


@pytest.fixture
def linker(terminology: Terminology, tmp_path: Path) -> Linker:
    return Linker.build(
        terminology, encoders=["chargrams"], folder=tmp_path / "index", spelling=False
    )


# --- hand-placed candidates -----------------------------------------------------------------------


def by_place(sign: float) -> Reranker:
    """Make a re-ranker that goes by the place alone."""
    curves = [
        Curve(name, (0.0, 1.0), (0.0, sign if name == "place" else 0.0), 0.0)
        for name in feature_names(["e"])
    ]
    return Reranker(AdditiveModel(curves), AnnotationCounts(), ("e",))


def test_candidates_get_a_new_order_and_shares() -> None:
    hits = tuple(ConceptHit(n, n, 0.9 - n / 10, {"e": 0.5}, "search") for n in range(3))
    draft = Draft(Mention("m"), "m", hits)
    candidates, names = Candidates([draft], Any), feature_names(["e"])
    features = np.zeros((3, len(names)))
    features[:, names.index("place")] = np.log1p(np.arange(3))
    (turned,) = by_place(9.0).order_hits(candidates, features, 2)
    assert [one.concept for one in turned.hits] == [2, 1]
    assert turned.hits[0].score > turned.hits[1].score
    assert turned.hits[1].scores == {SIMILARITY: 0.8, "e": 0.5}
    whole = by_place(9.0).order_hits(candidates, features, 3)[0].hits
    assert sum(one.score for one in whole) == pytest.approx(1)
    # Beyond its last knot a curve is level.
    contributions = [one.contributions["place"] for one in whole[:2]]
    assert contributions == [9, pytest.approx(9 * math.log(2))]
    assert not whole[2].contributions
    (kept,) = by_place(0.0).order_hits(candidates, features, 3)
    assert [one.concept for one in kept.hits] == [0, 1, 2]
    nothing = Draft(Mention("m"), "m", (), True, "no name")
    between = Candidates([nothing, draft, nothing, draft], Any)
    both = np.concatenate([features, features])
    assert by_place(9.0).order_hits(between, both, 2) == [nothing, turned, nothing, turned]
    assert by_place(1.0).order_hits(Candidates([nothing], Any), features[:0], 3) == [nothing]


def test_scores_are_sums_of_worths() -> None:
    model = by_place(2.0).model
    features = np.random.default_rng(0).random((3, 4, len(model.curves)))
    assert np.allclose(model.score(features), model.worth(features).sum(axis=-1))


# --- the marginal order ---------------------------------------------------------------------------

STRAY, MEANT = "X:1", "X:2"
ASKED = "chronic severe pain of the hip joint"


@pytest.fixture(scope="module")
def coxalgia() -> Terminology:
    """One concept has a stray name that is nearest, the other three that are nearly as near."""
    names = [f"{ASKED} {tail}" for tail in ("bo", "my", "we")]
    return Terminology.build(
        [
            Concept(STRAY, "gout"),
            Name(f"{ASKED} a", STRAY),
            Concept(MEANT, "coxalgia"),
            *(Name(name, MEANT) for name in names),
            Concept("X:3", "influenza"),
        ]
    )


@pytest.fixture(scope="module")
def letters() -> Linker:
    """Four concepts with one name each; a name is its row."""
    records = [Concept(f"L:{number}", letter) for number, letter in enumerate("abcm")]
    return Linker.build(Terminology.build(records), encoders=[])


def ranked(
    linker: Linker,
    near: dict[str, float],
    k: int = 3,
    sieved: str = "",
    mentions: tuple[Any, ...] = (),
) -> list[ConceptHit]:
    """Order the candidates of the mention "m" by hand-placed marginal scores.

    Each of `mentions`, in the same document, is its text and the candidate that is first.
    """
    found = linker.pipeline.batch(linker.pipeline.filters.choose())
    places = ["abcm".index(letter) for letter in near]
    hits = tuple(
        ConceptHit(place, place, 0.5, {}, "verbatim" if letter in sieved else "search")
        for letter, place in zip(near, places, strict=True)
    )
    draft = Draft(Mention("m"), "m", hits)
    unknown = np.full(len(hits), math.nan)
    both = unknown[:, None]
    scores = NameScores(unknown, both, both, np.array(list(near.values())), unknown)
    candidates = Candidates([draft], found)
    marginal = marginals(candidates, scores)
    others = [
        Draft(Mention(text), text, (hits[list(near).index(first)],)) for text, first in mentions
    ]
    counts = document_counts([draft, *others], [marginal, *[np.ones(1)] * len(others)])[0]
    order = Reranker.marginal(["e"])
    features = order.features(Compared(candidates, scores, marginal, counts))
    return list(order.order_hits(candidates, features, k)[0].hits)


def letters_of(hits: list[ConceptHit]) -> str:
    return "".join("abcm"[hit.concept] for hit in hits)


def test_shares_are_the_marginal_probabilities(letters: Linker) -> None:
    hits = ranked(letters, {"a": 0.8, "b": 0.9, "c": 0.85}, 2)
    mass = [math.exp(20 * near) for near in (0.9, 0.85, 0.8)]
    assert letters_of(hits) == "bc"
    assert [one.score for one in hits] == pytest.approx([m / sum(mass) for m in mass[:2]])
    assert hits[0].scores == {SIMILARITY: 0.5}
    assert {k: v for k, v in hits[0].contributions.items() if v} == pytest.approx({"marginal": 18})


def test_what_a_sieve_found_stays_first_and_in_its_order(letters: Linker) -> None:
    hits = ranked(letters, {"a": 0.7, "b": 0.9, "c": 1.05}, sieved="ab")
    assert letters_of(hits) == "abc"
    assert [one.score for one in hits] == pytest.approx([0.5, 0.5, 0])


def test_a_candidate_whose_name_is_the_mention_stays_first(letters: Linker) -> None:
    assert letters_of(ranked(letters, {"a": 0.99, "m": 0.9}, 1)) == "m"


def test_other_mentions_of_a_document_multiply_the_probability(letters: Linker) -> None:
    near = {"a": 0.8, "b": 0.79}
    assert letters_of(ranked(letters, near)) == "ab"
    hits = ranked(letters, near, mentions=(("one", "b"), ("two", "b")))
    assert letters_of(hits) == "ba"
    assert hits[0].score / hits[1].score == pytest.approx(3 * math.exp(20 * -0.01))
    assert hits[0].contributions[SAME_CONCEPT] == pytest.approx(math.log(3))


def test_a_linker_looks_at_the_document(coxalgia: Terminology) -> None:
    linker = Linker.build(coxalgia, encoders=["chargrams"], spelling=False)
    linker.use_order("marginal")
    text = f"coxalgia, and {ASKED} a x"
    asked = Mention(f"{ASKED} a x", 14, len(text))
    document = Document("1", text, (Mention("coxalgia", 0, 8), asked))
    alone = linker.link([asked])[0]
    together = linker.link_document(document)[1]
    share = {one.id: one.score for one in alone.candidates}
    beside = {one.id: one.score for one in together.candidates}
    doubled = 2 * share[MEANT] / (1 + share[MEANT])
    assert beside[MEANT] == pytest.approx(doubled)
    assert linker.link_document(document, context=False)[1] == alone


def test_a_linker_goes_by_all_names(coxalgia: Terminology, tmp_path: Path) -> None:
    linker = Linker.build(
        coxalgia, encoders=["chargrams"], folder=tmp_path / "index", spelling=False
    )
    asked = [ASKED, "coxalgia"]
    before = linker.link(asked)
    assert [link.id for link in before] == [STRAY, MEANT]
    linker.use_order("marginal")
    after = linker.link(asked)
    assert [link.id for link in after] == [MEANT, MEANT]
    assert sum(one.score for one in after[0].candidates) == pytest.approx(1)
    assert after[1].candidates[0].score == pytest.approx(1)
    assert (linker.order, linker.info()["order"]) == ("marginal", "marginal")
    assert Linker.load(linker.folder).link(asked) == after
    built = Linker.build(coxalgia, encoders=["chargrams"], spelling=False, order="marginal")
    assert built.link(asked) == after
    linker.use_order("nearest")
    assert linker.link(asked) == before
    assert not (linker.folder / RERANKER).exists()


def test_the_marginal_order_goes_with_encoders_of_other_names(tmp_path: Path) -> None:
    order = Reranker.marginal(["a"]).renamed(["b"])
    order.save(tmp_path / RERANKER)
    again = Reranker.load(tmp_path / RERANKER, encoders=["b"])
    assert again is not None
    assert again.by_names
    assert again.encoders == ("b",)
    assert again.digest == order.digest == Reranker.marginal(["a"]).digest


def test_an_evaluation_names_the_order(coxalgia: Terminology) -> None:
    document = Document("1", "", (Mention(ASKED, ids=(MEANT,)),))
    options: dict[str, Any] = {"terminology": coxalgia, "encoders": ["chargrams"]}
    assert evaluate_corpus([document], **options).value("accuracy@1") == 0
    run = evaluate_corpus([document], order="marginal", **options)
    assert run.value("accuracy@1") == 1
    assert run.notes[0].endswith("their names, and by what the other mentions of a document find")
    run = evaluate_corpus([document], order="marginal", context=False, **options)
    assert run.value("accuracy@1") == 1
    assert run.notes == ("the 20 nearest concepts were put in order by all of their names",)


def test_the_marginal_order_on_the_command_line(tmp_path: Path) -> None:
    tails = {STRAY: ["a"], MEANT: ["bo", "my", "we"]}
    lines = [f"{id_},{ASKED} {tail}" for id_, those in tails.items() for tail in those]
    (tmp_path / "names.csv").write_text("\n".join(["id,name", *lines, ""]))
    index = str(tmp_path / "made")
    asked = ["index", str(tmp_path / "names.csv"), "-o", index, "--encoder", "chargrams"]
    assert CliRunner().invoke(main, [*asked, "--order", "marginal"]).exit_code == 0
    linked = ["link", "--index", index, "--format", "jsonl", ASKED]
    found = CliRunner().invoke(main, linked)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout.splitlines()[0])["ids"] == [MEANT]


# --- a fitted order -------------------------------------------------------------------------------


def test_a_linker_learns_what_annotators_prefer(linker: Linker) -> None:
    asked = ["bad hip pain", "bad heel pain"]
    before = linker.link(asked, k=2)
    assert before[0].id == "A:pain-hip"
    fingerprint = linker.fingerprint
    report = linker.fit_reranker(corpus())
    assert report["links"] == 80
    assert report["right before"] < 0.1
    assert report["right after"] > 0.9
    assert report["among the candidates"] == 1
    after = linker.link(asked, k=2)
    assert after[0].id == "N:pain-hip"
    assert len(after[0].candidates) == 2
    assert 0.5 < after[0].candidates[0].score <= 1
    assert after[0].candidates[0].parts.keys() == {SIMILARITY, "chargrams"}
    assert linker.fingerprint != fingerprint
    assert linker.info()["re-ranker"] == {
        "features": len(feature_names(["x"])), "annotations": 80,
    }  # fmt: skip
    line = explain(after[0])[-1]
    assert line.startswith("re-ranked: first rather than the runner-up by ")
    assert Linker.load(linker.folder).link(asked, k=2) == after
    assert "worth" in after[0].to_dict()["candidates"][0]
    assert "worth" not in before[0].to_dict()["candidates"][0]


def test_another_order_keeps_what_the_judge_learned(linker: Linker) -> None:
    linker.fit_confidence(corpus())
    linker.fit_reranker(corpus())
    assert linker.judge is not None
    kept = Linker.load(linker.folder).judge
    assert kept is not None
    assert kept.to_dict() == linker.judge.to_dict()
    link = linker.link(["bad hip pain"], k=1)[0]
    assert len(link.candidates) == 1
    assert link.confidence is not None
    # A second fit starts from the nearest order.
    report = linker.fit_reranker(corpus())
    assert report["right before"] < 0.1


def test_two_fits_give_the_same_bytes(linker: Linker) -> None:
    path = linker.folder / RERANKER
    linker.fit_reranker(corpus())
    first = path.read_bytes()
    linker.fit_reranker(corpus())
    assert path.read_bytes() == first


def test_composite_mentions_are_learned_from_by_their_parts(linker: Linker) -> None:
    both = Mention("hip and knee pain", ids=("N:pain-hip", "N:pain-knee"), rule="all")
    assert linker.link([both])[0].parts
    plain = linker.fit_reranker(corpus())["links"]
    assert linker.fit_reranker([*corpus(), Document("c", "", (both,))])["links"] == plain + 2
    whole = Mention("bad fever", ids=("N:pain-hip", "N:pain-knee"), rule="all")
    assert linker.fit_reranker([*corpus(), Document("d", "", (whole,))])["links"] == plain


def test_mentions_of_one_document_are_held_out_one_by_one(linker: Linker) -> None:
    mentions = tuple(mention for document in corpus() for mention in document.mentions)
    report = linker.fit_reranker([Document("one", "", mentions)])
    assert report["links"] == 80
    assert report["right before"] < 0.1 < 0.9 < report["right after"]


def test_a_corpus_that_cannot_be_learned_from_is_refused(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="8 annotated mentions have the right concept"):
        linker.fit_reranker(corpus(1))
    with pytest.raises(InvalidInput, match="none of the 1 different ids"):
        linker.fit_reranker([Mention("bad hip pain", ids=("Y:1",))])
    with pytest.raises(InvalidInput, match="no mention is of the type 'Gene'"):
        linker.fit_reranker(corpus(), types=["Gene"])
    assert not (linker.folder / RERANKER).exists()


def test_the_command(linker: Linker, tmp_path: Path) -> None:
    rows = [f"{m.text}\t{m.ids[0]}" for document in corpus() for m in document.mentions]
    (tmp_path / "train.tsv").write_text("\n".join(["mention\tids", *rows]) + "\n")
    asked = ["train", "reranker", str(tmp_path / "train.tsv"), "--index", str(linker.folder)]
    found = CliRunner().invoke(main, asked)
    assert found.exit_code == 0, found.output
    assert "right before 0.0 %" in " ".join(found.output.split())
    assert "right among 20" in found.output
    assert Linker.load(linker.folder).link(["bad hip pain"])[0].id == "N:pain-hip"
    assert CliRunner().invoke(main, [*asked, "--quiet"]).output == ""


# --- files ----------------------------------------------------------------------------------------


def test_damaged_files_are_named(linker: Linker) -> None:
    linker.fit_reranker(corpus())
    path = linker.folder / RERANKER
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "decisions": {}}))
    with pytest.raises(ReadError, match="not what its checksum says"):
        Linker.load(linker.folder)
    del content["sha256"]  # as earlier versions wrote it
    for change, error, message in (
        ({"format": 99}, Mismatch, "another version"),
        ({"encoders": ["default"]}, Mismatch, "other encoders"),
        ({"curves": content["curves"][1:]}, Mismatch, "another version"),
        ({"curves": [{}]}, ReadError, "is damaged"),
        ({"decisions": 3}, ReadError, "is damaged"),
        ({"decisions": {"hip": {"X:1": -2}}}, ReadError, "is damaged .-2 is no number of mentions"),
        ({"decisions": {"hip": {"X:1": math.inf}}}, ReadError, "inf is no number of mentions"),
        ({"decisions": {"hip": {"X:1": 10**400}}}, ReadError, "is no number of mentions"),
        ({"curves": [{**content["curves"][0], "missing": 10**400}]}, ReadError, "is damaged"),
    ):
        path.write_text(json.dumps({**content, **change}))
        with pytest.raises(error, match=message):
            Linker.load(linker.folder)
    path.write_text("[" * 5000)
    with pytest.raises(ReadError, match="nested too deeply"):
        Linker.load(linker.folder)
    path.write_bytes(b"\xff")
    with pytest.raises(ReadError, match="fit the re-ranker again"):
        Linker.load(linker.folder)


def test_a_re_ranker_of_another_index_is_used(
    linker: Linker, terminology: Terminology, tmp_path: Path
) -> None:
    linker.fit_reranker(corpus())
    other = Linker.build(
        terminology, encoders=["chargrams"], folder=tmp_path / "other", spelling=False
    )
    other.use_order(linker.folder / RERANKER)
    asked = ["bad hip pain"]
    assert Linker.load(other.folder).link(asked) == linker.link(asked)


def test_unknown_orders_are_refused(linker: Linker, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the order is 'nowhere'; expected nearest, marginal"):
        linker.use_order("nowhere")
    with pytest.raises(InvalidInput, match="for the encoders chargrams; there are some for"):
        linker.use_order("fitted")
    path = tmp_path / "two.json"
    by_place(1.0).save(path)
    with pytest.raises(Mismatch, match="for other encoders"):
        linker.use_order(path)
    assert linker.reranker is None


@pytest.mark.parametrize(("old", "new"), [("default", "fitted"), ("collective", "marginal")])
def test_old_words_for_an_order_are_answered_with_the_new(
    linker: Linker, coxalgia: Terminology, tmp_path: Path, old: str, new: str
) -> None:
    message = f"the order '{old}' is called '{new}' now; expected nearest, marginal, fitted"
    with pytest.raises(InvalidInput, match=message):
        linker.use_order(old)
    with pytest.raises(InvalidInput, match=message):
        Linker.build(coxalgia, encoders=[], order=old, folder=tmp_path / "never")
    assert not (tmp_path / "never").exists()


def test_encoders_can_be_called_otherwise() -> None:
    found = by_place(1.0).renamed(["default"])
    assert found.encoders == ("default",)
    assert found.model.names == feature_names(["default"])
    assert found.digest != by_place(1.0).digest
    with pytest.raises(InvalidInput, match="2 names were given for 1 encoders"):
        by_place(1.0).renamed(["a", "b"])


@pytest.mark.parametrize("encoders", [["default"], ["default", "contextual"]])
def test_shipped_re_rankers_can_be_opened(encoders: list[str]) -> None:
    found = open_order("fitted", encoders)
    assert found is not None
    assert found.model.names == feature_names(encoders)
    assert not found.annotations.pairs
    assert shipped_file(encoders).stat().st_size < 100_000


def test_an_order_that_does_not_fit_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    told: list[str] = []
    terminology = Terminology.build([Concept("X:1", "hip")])
    Reranker.marginal(["default"]).save(tmp_path / "other.json")
    for order, error, message in (
        ("fitted", InvalidInput, "no re-ranker is shipped for the encoders chargrams; there are"),
        (tmp_path / "other.json", Mismatch, "or for other encoders"),
    ):
        with pytest.raises(error, match=message):
            Linker.build(
                terminology,
                encoders=["chargrams"],
                order=order,
                folder=tmp_path / "index",
                progress=lambda stage, _done, _total: told.append(stage),
            )
    assert told == []


def test_an_index_is_built_with_a_fitted_order(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("id,name\nX:1,hip pain\nX:2,knee pain\n")
    asked = ["index", str(tmp_path / "names.csv"), "-o", str(tmp_path / "made")]
    found = CliRunner().invoke(main, [*asked, "--order", "fitted"])
    assert found.exit_code == 0, found.output
    linker = Linker.load(tmp_path / "made")
    link = linker.link(["pain of the hip"])[0]
    assert link.id == "X:1"
    assert sum(one.score for one in link.candidates) == pytest.approx(1)
    assert link.confidence is not None  # shipped with the order
    found = CliRunner().invoke(main, [*asked, "--overwrite", "--order", "nowhere"])
    assert found.exit_code == 2
    assert "nowhere" in found.output
    assert Linker.load(tmp_path / "made").reranker is not None


# --- batches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["marginal", "fitted"])
@pytest.mark.parametrize("context", [True, False])
def test_a_batch_is_ordered_as_each_document_by_itself(
    terminology: Terminology,
    tmp_path: Path,
    order: str,
    context: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    linker = Linker.build(terminology, encoders=["default"], folder=tmp_path / "index")
    linker.use_order(order)
    pairs = [("hip and knee pain", "hip ache"), ("?",), (), ("bad hand", "foot swelling", "elbow")]
    documents = [Document("1", "", tuple(map(Mention, pair))) for pair in pairs]
    together = list(linker.link_documents(documents, context=context))
    alone = [pair for each in documents for pair in linker.link_documents([each], context=context)]
    assert together == alone
    monkeypatch.setattr(reranker, "_BLOCK_HITS", 1)
    assert list(linker.link_documents(documents, context=context)) == together


# --- composite mentions ---------------------------------------------------------------------------


@pytest.mark.parametrize("order", [*ORDERS, "fitted here"])
def test_parts_of_composite_mentions_are_put_in_order_each(
    terminology: Terminology, tmp_path: Path, order: str
) -> None:
    encoder = "chargrams" if order == "fitted here" else "default"
    linker = Linker.build(
        terminology, encoders=[encoder], folder=tmp_path / "index", spelling=False
    )
    if order == "fitted here":
        linker.fit_reranker(corpus())
    else:
        linker.use_order(order)
    mention = "hip and knee pain"
    (whole,) = linker.link([mention], k=20, context=False)
    assert whole.candidates == ()
    assert [part.mention.text for part in whole.parts] == ["hip pain", "knee pain"]
    # Parts stand beside each other, with a context and without, like mentions of a document.
    pair = Document("1", "", (Mention("hip pain"), Mention("knee pain")))
    both = linker.link_document(pair, k=20)
    assert [part.candidates for part in whole.parts] == [link.candidates for link in both]
    assert linker.link([mention], k=20)[0].parts == whole.parts
    for part in whole.parts:
        scores = [one.score for one in part.candidates]
        assert scores == sorted(scores, reverse=True)
        if order != "nearest":
            assert sum(scores) == pytest.approx(1)
            assert len(part.candidates) == 20
    pipeline = linker.pipeline
    document = Document("1", "", (Mention(mention), Mention("hip ache"), Mention("?")))
    (drafts,), found = pipeline.draft([document], pipeline.request(), {})
    compared = compare_drafts([drafts], found)
    strings = [draft.string for draft in compared.candidates.drafts]
    assert strings == ["hip pain", "knee pain", "hip ache", "?"]
    assert not np.isnan(compared.counts).any()
    # Without the context a mention has its parts alone beside it.
    *parts, ache, nothing = compare_drafts([[draft] for draft in drafts], found).split()
    for one, other in zip(parts, compare_drafts([drafts[:1]], found).split(), strict=True):
        assert np.array_equal(one.counts, other.counts)
        assert not np.isnan(one.counts).any()
    assert np.isnan(ache.counts).all()
    assert nothing.counts.shape == (0, 4)
