"""Linking by inner products, Euclidean distances, and BioSyn's sum, against all pairs."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import Concept, Linker, Name, Terminology
from canonym.cli import main
from canonym.encoders import make_encoder
from canonym.errors import InvalidInput, ReadError
from tests.encoders.conftest import make_tiny_bert
from tests.linkers import concepts

WORDS = ["heart", "attack", "flu", "pain", "hip", "left", "renal", "acute", "bone", "skin"]
MENTIONS = ["haert atack", "acute bonepain", "lef hip", "renal skinn flu", "hearts", "flu pains"]
PLAIN: dict[str, Any] = {"sieves": (), "spelling": False, "composites": False}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: Any) -> Path:
    import torch

    folder = make_tiny_bert(tmp_path_factory.mktemp("similarity") / "bert")
    # Longer by a bias of its last layer, so that lengths differ and products are all above 0.
    from transformers import BertModel

    model = BertModel.from_pretrained(folder)
    with torch.no_grad():
        model.encoder.layer[-1].output.LayerNorm.weight.mul_(torch.linspace(0.2, 2, 16))
        model.encoder.layer[-1].output.LayerNorm.bias.add_(1.0)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def biosyn(bert: Path, tmp_path_factory: Any) -> Path:
    import shutil

    import torch

    folder = Path(shutil.copytree(bert, tmp_path_factory.mktemp("similarity") / "biosyn"))
    torch.save(torch.nn.Parameter(torch.tensor([40.0])), folder / "sparse_weight.pt")
    return folder


@pytest.fixture(scope="module")
def names() -> list[str]:
    return [" ".join(words) for words in itertools.permutations(WORDS, 3)][::2]


@pytest.fixture(scope="module")
def terminology(names: list[str]) -> Terminology:
    return Terminology.build(Concept(f"X:{n:04}", name) for n, name in enumerate(names))


def raw_scores(spec: Path, names: list[str], mentions: list[str]) -> tuple[np.ndarray, np.ndarray]:
    encoder = make_encoder(spec, normalise=False)
    return (
        np.asarray(encoder.encode(mentions), np.float64),
        np.asarray(encoder.encode(names), np.float64),
    )


def found(linker: Linker, k: int = 5) -> tuple[list[list[str]], np.ndarray]:
    links = linker.link(MENTIONS, k=k)
    ids = [[one.id for one in link.candidates] for link in links]
    return ids, np.array([[one.score for one in link.candidates] for link in links])


def ranked(scores: np.ndarray, k: int = 5) -> list[list[str]]:
    order = np.argsort(-scores.astype(np.float32), axis=1, kind="stable")[:, :k]
    return [[f"X:{n:04}" for n in row] for row in order]


def test_inner_products(bert: Path, names: list[str], terminology: Terminology) -> None:
    linker = Linker.build(terminology, encoders=[f"{bert},similarity=inner"], **PLAIN)
    queries, rows = raw_scores(bert, names, MENTIONS)
    scores = queries @ rows.T / (queries * queries).sum(axis=1, keepdims=True)
    ids, given = found(linker)
    assert ids == ranked(scores)
    best = -np.sort(-scores, axis=1)[:, :5]
    assert (best > 1).any()
    # No candidate is shown to be better than the mention itself; the order is that of the search.
    np.testing.assert_allclose(given, np.minimum(best, 1), rtol=1e-5)
    parts = [
        [one.parts["transformer"] for one in link.candidates] for link in linker.link(MENTIONS)
    ]
    np.testing.assert_allclose(parts, best, rtol=1e-5)
    assert linker.manifest["encoders"][0]["index"] == "inner"
    assert linker.manifest["encoders"][0]["similarity"] == "inner"
    assert "fusion" not in linker.manifest


def test_euclidean_distances(bert: Path, names: list[str], terminology: Terminology) -> None:
    linker = Linker.build(terminology, encoders=[f"{bert},similarity=euclidean"], **PLAIN)
    queries, rows = raw_scores(bert, names, MENTIONS)
    scores = 1 / (1 + np.linalg.norm(queries[:, None] - rows[None], axis=2))
    ids, given = found(linker)
    assert ids == ranked(scores)
    np.testing.assert_allclose(given, -np.sort(-scores, axis=1)[:, :5], rtol=1e-5)


def test_each_finds_something_else(bert: Path, terminology: Terminology) -> None:
    first = {
        similarity: found(
            Linker.build(terminology, encoders=[f"{bert},similarity={similarity}"], **PLAIN)
        )[0]
        for similarity in ("cosine", "inner", "euclidean")
    }
    assert first["cosine"] != first["inner"] != first["euclidean"] != first["cosine"]


def test_vectors_that_keep_their_lengths_are_compared_by_cosine(
    bert: Path, terminology: Terminology
) -> None:
    usual, longer = (
        Linker.build(terminology, encoders=[f"{bert},normalise={word}"], **PLAIN)
        for word in ("true", "false")
    )
    ids, scores = found(usual)
    same, close = found(longer)
    np.testing.assert_allclose(scores, close, atol=1e-6)
    assert same == ids


def biosyn_scores(folder: Path, names: list[str], weight: float) -> np.ndarray:
    """``S(m, n) / S(m, m)`` of all pairs."""
    queries, rows = raw_scores(folder, names, MENTIONS)
    grams: Any = make_encoder("chargrams").fit(names)  # type: ignore[attr-defined]

    def dense(vectors: Any) -> np.ndarray:
        table = np.zeros((vectors.n_rows, vectors.n_columns))
        owner = np.repeat(np.arange(vectors.n_rows), np.diff(vectors.indptr))
        table[owner, vectors.indices] = vectors.data
        return table

    sparse = dense(grams.encode(MENTIONS)) @ dense(grams.encode(names)).T
    own = (queries * queries).sum(axis=1, keepdims=True)
    return (queries @ rows.T + weight * sparse) / (own + weight)


def test_biosyns_sum_is_searched_in_all_names(
    biosyn: Path, names: list[str], terminology: Terminology
) -> None:
    linker = Linker.build(terminology, encoders=[str(biosyn)], **PLAIN)
    assert [one["name"] for one in linker.manifest["encoders"]] == ["transformer", "chargrams"]
    assert [one["weight"] for one in linker.manifest["encoders"]] == [1.0, 40.0]
    assert linker.manifest["fusion"] == "exact"
    scores = biosyn_scores(biosyn, names, 40.0)
    ids, given = found(linker)
    assert ids == ranked(scores)
    np.testing.assert_allclose(given, -np.sort(-scores, axis=1)[:, :5], rtol=1e-5)
    best = linker.link([MENTIONS[0]])[0].candidates[0]
    assert sorted(best.parts) == ["chargrams", "transformer"]


def test_weights_that_are_given_count(biosyn: Path, terminology: Terminology) -> None:
    alone = Linker.build(terminology, encoders=[str(biosyn)], weights=[1], **PLAIN)
    assert [one["name"] for one in alone.manifest["encoders"]] == ["transformer"]
    both = Linker.build(terminology, encoders=[str(biosyn), "chargrams"], weights=[1, 3], **PLAIN)
    assert [one["weight"] for one in both.manifest["encoders"]] == [1.0, 3.0]
    assert both.manifest["fusion"] == "exact"
    named = Linker.build(terminology, encoders=[str(biosyn), "chargrams"], **PLAIN)
    assert [one["weight"] for one in named.manifest["encoders"]] == [1.0, 40.0]


@pytest.mark.parametrize("similarity", ["inner", "euclidean"])
def test_added_names_and_filters(bert: Path, terminology: Terminology, similarity: str) -> None:
    linker = Linker.build(terminology, encoders=[f"{bert},similarity={similarity}"], **PLAIN)
    ids = ["X:0007", "X:0100"]
    assert {one.id for one in linker.link(["haert atack"], ids=ids, k=9)[0].candidates} == set(ids)
    linker.synonyms.update([Name("haert atack", "X:0100")])
    # By inner products longer vectors may be nearer than the mention itself.
    (same,) = linker.link(["haert atack"], ids=["X:0100"])[0].candidates
    assert same.name == "haert atack"
    assert same.parts["transformer"] == pytest.approx(1, abs=1e-6)


def test_means_of_concepts(bert: Path) -> None:
    names = {"X:1": ["heart attack", "flu"], "X:2": ["hip pain", "bone", "skin"]}
    terminology = Terminology.build(
        concepts(*("|".join([id_, *texts]) for id_, texts in names.items()))
    )
    spec = f"{bert},similarity=euclidean"
    linker = Linker.build(terminology, encoders=[spec], search="O-C", **PLAIN)
    query = raw_scores(bert, ["flu"], ["renal"])[0]
    expected = {
        id_: 1 / (1 + np.linalg.norm(query - raw_scores(bert, texts, ["a"])[1].mean(axis=0)))
        for id_, texts in names.items()
    }
    scores = {one.id: one.score for one in linker.link(["renal"], k=2)[0].candidates}
    assert scores == pytest.approx(expected, rel=1e-5)


def test_an_exact_match_stays_ahead(biosyn: Path, terminology: Terminology) -> None:
    linker = Linker.build(terminology, encoders=[str(biosyn)])
    link = linker.link(["heart attack flu"], k=3)[0]
    assert link.candidates[0].score == 1
    assert all(one.score <= 1 for one in link.candidates)
    assert link.candidates[0].name == "heart attack flu"


def test_lists_are_for_cosines(bert: Path, terminology: Terminology) -> None:
    with pytest.raises(InvalidInput, match="kind is 'ivf', and an encoder compares its vectors by"):
        Linker.build(terminology, encoders=[f"{bert},similarity=inner"], kind="ivf")


def test_opened_again_and_damaged(biosyn: Path, terminology: Terminology, tmp_path: Path) -> None:
    built = Linker.build(terminology, encoders=[str(biosyn)], folder=tmp_path / "index", **PLAIN)
    assert found(Linker.load(tmp_path / "index"))[0] == found(built)[0]
    path = tmp_path / "index" / "canonym.json"
    manifest = json.loads(path.read_text())
    for change in (
        {"fusion": "some"},
        {"encoders": [manifest["encoders"][0] | {"similarity": "x"}]},
    ):
        path.write_text(json.dumps(manifest | change))
        with pytest.raises(ReadError, match="the manifest is damaged"):
            Linker.load(tmp_path / "index")


def test_on_the_command_line(
    biosyn: Path, names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"X:{n:04}\t{name}\n" for n, name in enumerate(names[:40]))
    (tmp_path / "names.tsv").write_text("id\tname\n" + rows)
    out = str(tmp_path / "index")
    given = ["index", str(tmp_path / "names.tsv"), "-o", out]
    main([*given, "--encoder", f"{biosyn},pooling=mean"], standalone_mode=False)
    manifest = json.loads((tmp_path / "index" / "canonym.json").read_text())
    assert manifest["fusion"] == "exact"
    settings = json.loads((tmp_path / "index" / "encoder-0" / "encoder.json").read_text())
    assert settings["settings"]["pooling"] == "mean"
    capsys.readouterr()
    main(["link", "--index", out, "--explain", "haert atack"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "transformer 0." in shown or "transformer 1." in shown
    assert "chargrams 0." in shown
