"""A better order of candidates: what it is taken from, how it is learned, what it changes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

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
    ReadError,
    Terminology,
)
from canonym.cli import main
from canonym.cli.explanation import explain
from canonym.linking.confidence import CONFIDENCE
from canonym.linking.features import SIMILARITY, Decisions, candidate_features, feature_names
from canonym.linking.reranker import RERANKER, Reranker, open_order, shipped_file
from canonym.ranking.additive_model import AdditiveModel, Curve
from canonym.types import SCOPES

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


def candidate(id_: str, score: float, name: str = "a b", **more: object) -> Candidate:
    return Candidate(id_, more.pop("label", name), score, name, **more)  # type: ignore[arg-type]


# --- decisions and features -----------------------------------------------------------------------


def test_decisions_are_counted_and_taken_back() -> None:
    seen = Decisions()
    for id_ in ("X:1", "X:1", "X:2"):
        seen.add("Tumours", [id_])
    assert seen.look("tumor", "X:1", "growth") == pytest.approx(
        (math.log(3), 2 / 3, math.log(3), 0, 1)
    )
    seen.add("other", ["X:1"])
    assert seen.look("tumor", "X:1", "other")[2:4] == (math.log(4), math.log(2))
    seen.add("tumor", ["X:2"], -1)
    assert seen.look("tumor", "X:2", "growth") == (0, 0, 0, 0, 1)
    pair, share, concept, *_ = seen.look("never", "X:1", "never")
    assert (pair, concept) == (0, math.log(4))
    assert math.isnan(share)
    seen.add("other", ["Y:1"])
    assert seen.look("never", "Y:9", "never")[-1] == pytest.approx(1 / 4)
    assert math.isnan(Decisions().look("never", "X:1", "never")[-1])


def test_features_say_what_tells_candidates_apart() -> None:
    seen = Decisions()
    seen.add("type 1 fever", ["X:2"])
    names = feature_names(["e", "f"])
    candidates = (
        candidate(
            "X:1", 0.9, "type 2 fever", sieve="search", parts={"e": 0.7, "f": 0.9},
            near={"e": 0.75, "e mean": 0.5, "second": 0.6, "names": 3.0, "depth": math.log(3)},
            types=("Sign or Symptom",),
        ),
        candidate(
            "X:2", 0.6, "fever type 1", label="Fever", scope="narrow", sieve="verbatim",
            parts={"e": 0.8}, near={"e mean": 0.4, "second": 0.5, "depth": math.log(2)},
            types=("Finding", "Disease"),
        ),
        candidate("X:3", 0.3, "Type 2 Fever"),
    )  # fmt: skip
    mention = Mention("Type 1 fevers", type="SpecificDisease or symptoms")
    rows = candidate_features(Link(mention, candidates, searched="Type 1 fevers"), seen, ["e", "f"])
    assert rows.shape == (3, len(names))
    first, second, third = (dict(zip(names, row.tolist(), strict=True)) for row in rows)
    assert [one["score behind the best"] for one in (first, second)] == [0, pytest.approx(-0.3)]
    assert [one["place"] for one in (first, second)] == [0, math.log(2)]
    assert (first["sieve"], second["sieve"]) == (0, 3)
    assert (first["scope"], second["scope"]) == (SCOPES.index("exact"), SCOPES.index("narrow"))
    assert (first["name is the label"], second["name is the label"]) == (1, 0)
    assert (first["numerals of the name"], second["numerals of the name"]) == (0, 1)
    assert second["words of the label"] == pytest.approx(1 / 3)
    assert first["concepts of that name"] == third["concepts of that name"] == math.log(2)
    assert second["concepts of that name"] == 0
    assert (first["decisions"], second["decisions"]) == (0, math.log(2))
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
    assert [one["depth"] for one in (first, second)] == [math.log(3), math.log(2)]
    assert second["depth below the first"] == pytest.approx(math.log(2 / 3))
    assert math.isnan(third["depth below the first"])
    assert [one["type is the mention's"] for one in (first, second)] == [1, 0]
    assert math.isnan(third["type is the mention's"])
    untyped = Link(Mention("x"), candidates, searched="x")
    assert np.isnan(
        candidate_features(untyped, seen, [])[:, names.index("type is the mention's")]
    ).all()
    assert candidate_features(Link(Mention("x")), seen, ["e"]).shape == (
        0,
        len(feature_names(["e"])),
    )


# --- a model --------------------------------------------------------------------------------------


def by_place(sign: float) -> Reranker:
    """Make a re-ranker that goes by the place alone."""
    curves = [
        Curve(name, (0.0, 1.0), (0.0, sign if name == "place" else 0.0), 0.0)
        for name in feature_names(["e"])
    ]
    return Reranker(AdditiveModel(curves), Decisions(), ("e",))


def test_candidates_get_a_new_order_and_shares() -> None:
    link = Link(
        Mention("m"),
        tuple(candidate(f"X:{i}", 0.9 - i / 10, parts={"e": 0.5}) for i in range(3)),
        searched="m",
    )
    turned = by_place(9.0).apply(link, 2)
    assert [one.id for one in turned.candidates] == ["X:2", "X:1"]
    assert turned.candidates[0].score > turned.candidates[1].score
    assert turned.candidates[1].parts == {SIMILARITY: 0.8, "e": 0.5}
    whole = by_place(9.0).apply(link, 3).candidates
    assert sum(one.score for one in whole) == pytest.approx(1)
    # Beyond its last knot a curve is level.
    assert [one.worth["place"] for one in whole[:2]] == [9, pytest.approx(9 * math.log(2))]
    assert not whole[2].worth
    kept = by_place(0.0).apply(link, 3)
    assert [one.id for one in kept.candidates] == ["X:0", "X:1", "X:2"]
    nothing = Link(Mention("m"), (), True, "no name")
    assert by_place(1.0).apply(nothing, 3) == nothing
    split = Link(Mention("m"), parts=(link, nothing))
    assert by_place(9.0).apply(split, 2).parts == (turned, nothing)


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
    assert linker.info()["re-ranker"] == {"features": len(feature_names(["x"])), "decisions": 80}
    line = explain(after[0])[-1]
    assert line.startswith("re-ranked: first rather than the runner-up by ")
    assert Linker.load(linker.folder).link(asked, k=2) == after
    assert "worth" in after[0].to_dict()["candidates"][0]
    assert "worth" not in before[0].to_dict()["candidates"][0]


def test_a_confidence_of_before_is_removed(linker: Linker) -> None:
    linker.fit_confidence(corpus())
    assert (linker.folder / CONFIDENCE).exists()
    linker.fit_reranker(corpus())
    assert linker.confidence is None
    assert not (linker.folder / CONFIDENCE).exists()
    assert Linker.load(linker.folder).confidence is None
    linker.fit_confidence(corpus())
    link = linker.link(["bad hip pain"], k=1)[0]
    assert len(link.candidates) == 1
    assert link.confidence is not None
    # What is fitted again starts from the plain order.
    report = linker.fit_reranker(corpus())
    assert report["right before"] < 0.1


def test_two_fits_give_the_same_bytes(linker: Linker) -> None:
    path = linker.folder / RERANKER
    linker.fit_reranker(corpus())
    first = path.read_bytes()
    linker.fit_reranker(corpus())
    assert path.read_bytes() == first


def test_composite_mentions_teach_by_their_parts(linker: Linker) -> None:
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


def test_what_cannot_be_learned_from(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="8 annotated mentions have the right concept"):
        linker.fit_reranker(corpus(1))
    with pytest.raises(InvalidInput, match="none of the 1 different ids"):
        linker.fit_reranker([Mention("bad hip pain", ids=("Y:1",))])
    with pytest.raises(InvalidInput, match="no mention is of the type 'Gene'"):
        linker.fit_reranker(corpus(), types=["Gene"])
    assert not (linker.folder / RERANKER).exists()


def test_damaged_files_are_told(linker: Linker) -> None:
    linker.fit_reranker(corpus())
    path = linker.folder / RERANKER
    content = json.loads(path.read_text())
    for change, error, said in (
        ({"format": 99}, Mismatch, "another version"),
        ({"encoders": ["default"]}, Mismatch, "other encoders"),
        ({"curves": content["curves"][1:]}, Mismatch, "another version"),
        ({"curves": [{}]}, ReadError, "is damaged"),
        ({"decisions": 3}, ReadError, "is damaged"),
    ):
        path.write_text(json.dumps({**content, **change}))
        with pytest.raises(error, match=said):
            Linker.load(linker.folder)
    path.write_bytes(b"\xff")
    with pytest.raises(ReadError, match="fit the re-ranker again"):
        Linker.load(linker.folder)


def test_scores_are_sums_of_worths() -> None:
    model = by_place(2.0).model
    features = np.random.default_rng(0).random((3, 4, len(model.curves)))
    assert np.allclose(model.score(features), model.worth(features).sum(axis=-1))


def test_the_command(linker: Linker, tmp_path: Path) -> None:
    rows = [f"{m.text}\t{m.ids[0]}" for document in corpus() for m in document.mentions]
    (tmp_path / "train.tsv").write_text("\n".join(["mention\tids", *rows]) + "\n")
    asked = ["train", "reranker", str(tmp_path / "train.tsv"), "--index", str(linker.folder)]
    found = CliRunner().invoke(main, asked)
    assert found.exit_code == 0, found.output
    assert "right before    0.0 %" in found.output.replace("  0.0", "    0.0").replace(
        "      ", "    "
    )
    assert "right among 20" in found.output
    assert Linker.load(linker.folder).link(["bad hip pain"])[0].id == "N:pain-hip"
    assert CliRunner().invoke(main, [*asked, "--quiet"]).output == ""


# --- one that was fitted before -------------------------------------------------------------------


def test_a_re_ranker_of_another_index_is_taken(
    linker: Linker, terminology: Terminology, tmp_path: Path
) -> None:
    linker.fit_reranker(corpus())
    other = Linker.build(
        terminology, encoders=["chargrams"], folder=tmp_path / "other", spelling=False
    )
    other.fit_confidence(corpus())
    other.use_order(linker.folder / RERANKER)
    assert other.confidence is None
    assert not (other.folder / CONFIDENCE).exists()
    asked = ["bad hip pain"]
    assert Linker.load(other.folder).link(asked) == linker.link(asked)


def test_what_is_no_re_ranker_is_refused(linker: Linker, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no file 'nowhere'"):
        linker.use_order("nowhere")
    with pytest.raises(InvalidInput, match="for the encoders chargrams; there are some for"):
        linker.use_order("fitted")
    path = tmp_path / "two.json"
    by_place(1.0).save(path)
    with pytest.raises(Mismatch, match="for other encoders"):
        linker.use_order(path)
    assert linker.reranker is None


def test_encoders_can_be_called_otherwise() -> None:
    found = by_place(1.0).renamed(["default"])
    assert found.encoders == ("default",)
    assert found.model.names == feature_names(["default"])
    assert found.digest != by_place(1.0).digest
    with pytest.raises(InvalidInput, match="2 names were given for 1 encoders"):
        by_place(1.0).renamed(["a", "b"])


@pytest.mark.parametrize("encoders", [["default"], ["default", "contextual"]])
def test_those_that_come_along_can_be_opened(encoders: list[str]) -> None:
    found = open_order("fitted", encoders)
    assert found.model.names == feature_names(encoders)
    assert not found.decisions.pairs
    assert shipped_file(encoders).stat().st_size < 100_000


def test_an_index_is_made_with_a_re_ranker(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("id,name\nX:1,hip pain\nX:2,knee pain\n")
    asked = ["index", str(tmp_path / "names.csv"), "-o", str(tmp_path / "made")]
    found = CliRunner().invoke(main, [*asked, "--reranker", "default"])
    assert found.exit_code == 0, found.output
    link = Linker.load(tmp_path / "made").link(["pain of the hip"])[0]
    assert link.id == "X:1"
    assert sum(one.score for one in link.candidates) == pytest.approx(1)
    found = CliRunner().invoke(main, [*asked, "--overwrite", "--reranker", "nowhere"])
    assert found.exit_code == 2
    assert "there is no file 'nowhere'" in found.output
    assert Linker.load(tmp_path / "made").reranker is not None
