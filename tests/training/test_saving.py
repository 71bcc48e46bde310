"""A trained encoder on disk: others load it, and it says how it was made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import canonym
from canonym import Concept, Document, Linker, Mention, Name, Terminology
from canonym.encoders import load_encoder, make_encoder
from canonym.encoders.hub import Comparison
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.evaluation.run import evaluate_corpus
from canonym.io.files import read_manifest
from canonym.training.dev_score import DevAccuracy
from canonym.training.loop.fit import Fitted, fit
from canonym.training.loop.save import save_trained
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.residual_head import ResidualModule


@pytest.fixture(scope="module")
def trained(request: Any) -> tuple[Any, Fitted]:
    from sys import modules

    small = modules["small_run"]
    module = small.make_module(pooling="mean")
    settings = FitSettings(epochs=2, learning_rate=1e-3)
    fitted = fit(
        module, small.Synonyms(), settings=settings, dev_score=small.dev_score, device="cpu",
        data={"terminology": "ab" * 32},
    )  # fmt: skip
    assert request
    return module, fitted


def test_others_load_it_without_canonym(
    trained: tuple[Any, Fitted], names: list[str], tmp_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer
    from transformers import AutoModel, AutoTokenizer

    module, fitted = trained
    save_trained(tmp_path / "made", module, fitted)
    expected = module.encode(names)
    np.testing.assert_allclose(load_encoder(tmp_path / "made").encode(names), expected, atol=1e-6)
    foreign = SentenceTransformer(str(tmp_path / "made"), device="cpu")
    np.testing.assert_allclose(foreign.encode(names), expected, atol=1e-5)
    tokens = AutoTokenizer.from_pretrained(tmp_path / "made")(names[:1], return_tensors="pt")
    hidden = AutoModel.from_pretrained(tmp_path / "made").eval()(**tokens).last_hidden_state
    vector = hidden[0].mean(dim=0).detach().numpy()
    np.testing.assert_allclose(vector / np.linalg.norm(vector), expected[0], atol=1e-5)


def test_it_says_how_it_was_made(trained: tuple[Any, Fitted], tmp_path: Path) -> None:
    module, fitted = trained
    save_trained(
        tmp_path / "made", module, fitted, paper="Some (2020)", data={"names": 90}, dev="share"
    )
    manifest = read_manifest(tmp_path / "made", kind="encoder", newest=1)
    facts = manifest["training"]
    assert facts["objective"] == "synonyms"
    assert facts["objective_settings"] == {"batch": 8, "batches": 5}
    assert facts["settings"]["learning_rate"] == 1e-3
    assert facts["settings"]["seed"] == 0
    assert facts["data"] == {"terminology": "ab" * 32}
    assert facts["counts"] == {"names": 90}
    assert facts["version"] == canonym.__version__
    assert facts["epochs"] == [record._asdict() for record in fitted.epochs]
    assert facts["commit"] is None or len(facts["commit"]) == 40
    extra = {name for name in manifest["files"] if name.startswith("extra")}
    assert extra == {"extra.safetensors"}
    card = (tmp_path / "made" / "README.md").read_text()
    assert card.startswith("---\ntags:\n")
    assert "Some (2020)" in card
    assert "| epoch | steps | mean loss | share |" in card
    for record in fitted.epochs:
        assert f"| {record.step} | {record.mean_loss:.4f} | {record.dev:.4f} |" in card
    assert f"those of epoch {(fitted.kept or 0) + 1}, chosen" in card
    assert "| `batch` | 8 |" in card
    assert "| names | 90 |" in card
    assert str(tmp_path) not in card + json.dumps(manifest)
    save_trained(tmp_path / "again", module, fitted, data={"names": 90})
    plain = (tmp_path / "again" / "README.md").read_text()
    assert "after" not in plain.split("## Measured")[0]
    with pytest.raises(InvalidInput, match="exists already"):
        save_trained(tmp_path / "made", module, fitted)
    save_trained(tmp_path / "made", module, fitted._replace(kept=None), overwrite=True)
    card = (tmp_path / "made" / "README.md").read_text()
    assert "those of the last step" in card
    assert "Training rests on products of matrices in single precision: another kind of" in card


def test_a_head_is_saved_with_what_is_under_it(trained: tuple[Any, Fitted], tmp_path: Path) -> None:
    base = Subword(np.random.default_rng(0).normal(size=(256, 12)).astype(np.float32))
    module = ResidualModule(base, hidden=8)
    save_trained(tmp_path / "head", module, trained[1]._replace(extra={}))
    opened = make_encoder(tmp_path / "head")
    np.testing.assert_array_equal(opened.encode(["flu"]), module.encode(["flu"]))
    assert not (tmp_path / "head" / "extra.safetensors").exists()
    assert "sentence" not in (tmp_path / "head" / "README.md").read_text()


def test_only_what_can_be_opened_again_is_saved(
    trained: tuple[Any, Fitted], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, fitted = trained
    monkeypatch.setattr(type(module), "to_encoder", lambda _: object())
    with pytest.raises(InvalidInput, match="object is no known encoder and could not be opened"):
        save_trained(tmp_path / "made", module, fitted)
    assert not list(tmp_path.iterdir())


def test_an_index_takes_it(trained: tuple[Any, Fitted], tmp_path: Path) -> None:
    save_trained(tmp_path / "made", *trained)
    content = Terminology.build([Concept("X:1", "heart attack"), Concept("X:2", "hip pain")])
    linker = Linker.build(content, encoders=[str(tmp_path / "made")])
    assert linker.link(["pain of the hip"], min_confidence=0)[0].id == "X:2"


@pytest.mark.parametrize("failure", ["no checkout", "no git", "git fails"])
def test_the_commit_is_said_where_there_is_one(
    failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from canonym.training.loop import save as saving

    module = tmp_path / "src" / "canonym" / "training" / "saving.py"
    monkeypatch.setattr(saving, "__file__", str(module))
    if failure != "no checkout":
        (tmp_path / ".git").mkdir()
    if failure == "no git":
        monkeypatch.setenv("PATH", "")
    assert saving._commit() is None


# --- the dev score --------------------------------------------------------------------------------

CONCEPTS = {
    "D1": ["Heart attack", "acute heart pain"],
    "D2": ["Influenza", "flu", "chronic flu"],
    "D3": ["hip fracture", "Left-hip pain"],
    "D4": ["renal pain", "chronic renal attack"],
}


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    records: list[Any] = []
    for id_, (label, *others) in CONCEPTS.items():
        records += [Concept(f"MESH:{id_}", label), *(Name(n, f"MESH:{id_}") for n in others)]
    return Terminology.build(records)


def document(number: int, *mentions: tuple[str, tuple[str, ...]]) -> Document:
    text, found = "", []
    for words, ids in mentions:
        rule = "all" if len(ids) > 1 else "any"
        start = len(text)
        found.append(Mention(words, start, start + len(words), "Disease", ids, rule))
        text += words + ". "
    return Document(str(number), text, tuple(found))


DEV = [
    document(1, ("heart attacks", ("D1",)), ("acute flu", ("D2",)), ("flu", ("D1",))),
    document(2, ("hip pain and renal pain", ("D3", "D4")), ("Pain", ("D9",))),
    document(3, ("left fracture", ("D3",)), ("renal", ("D1",)), ("CRA", ("D4",))),
]
TRAIN = [document(7, ("renal", ("D1",)), ("cra", ("D4",)))]


@pytest.mark.parametrize("training", [[], TRAIN], ids=["alone", "with training"])
@pytest.mark.parametrize("kind", ["subword", "transformer"])
def test_it_is_the_accuracy_of_the_evaluation(
    training: list[Document], kind: str, terminology: Terminology, make_module: Callable[..., Any]
) -> None:
    table = np.random.default_rng(3).normal(size=(4096, 24)).astype(np.float32)
    encoder: Any = Subword(table)
    steps: dict[str, Any] = {"steps": ()}
    if kind != "subword":
        encoder, steps = make_module().to_encoder(), {}
    score = DevAccuracy(DEV, terminology, training=training, **steps)
    run = evaluate_corpus(
        DEV, terminology=terminology, encoders=[encoder], protocol="biosyn", training=training
    )
    assert score.n_mentions == len(run.questions) == 7
    assert score(encoder.encode) == run.value("accuracy@1")
    assert 0 < score(encoder.encode) < 1


@pytest.mark.parametrize("similarity", ["cosine", "inner", "euclidean"])
def test_it_compares_as_the_encoder_is_searched(
    similarity: str, terminology: Terminology, make_module: Callable[..., Any]
) -> None:
    module = make_module()
    encoder = module.to_encoder()
    encoder.compare_by(Comparison(similarity, similarity == "cosine", 0.0))
    score = DevAccuracy(DEV, terminology, searched=lambda: {"similarity": similarity})
    run = evaluate_corpus(DEV, terminology=terminology, encoders=[encoder], protocol="biosyn")
    assert score(module.encode) == run.value("accuracy@1")


@pytest.mark.parametrize("weight", [0.5, 40.0])
@pytest.mark.parametrize("training", [[], TRAIN], ids=["alone", "with training"])
def test_it_sums_with_the_ngrams_that_are_saved(
    weight: float,
    training: list[Document],
    terminology: Terminology,
    make_module: Callable[..., Any],
) -> None:
    module = make_module()
    encoder = module.to_encoder()
    encoder.compare_by(Comparison("inner", False, weight))
    searched = {"similarity": "inner", "sparse_weight": weight}
    score = DevAccuracy(
        DEV, terminology, training=training, searched=lambda: searched, notice=lambda _: None
    )
    run = evaluate_corpus(
        DEV, terminology=terminology, encoders=[encoder], protocol="biosyn", training=training
    )
    assert score(module.encode) == run.value("accuracy@1")


def test_ngrams_do_not_hide_that_the_encoder_has_fallen_apart(terminology: Terminology) -> None:
    searched: dict[str, Any] = {"similarity": "inner", "sparse_weight": 1000.0}
    notices: list[str] = []
    dev = [document(1, *((text, ("D2",)) for text in ("flus", "influenzas", "chronic flus")))]
    score = DevAccuracy(dev, terminology, searched=lambda: searched, notice=notices.append)

    def collapsed(names: Any, **_: Any) -> np.ndarray:
        return np.ones((len(names), 4), np.float32)

    assert score(collapsed) == 1
    assert len(notices) == 1
    assert notices[0].startswith(
        "the encoder alone finds 0.0 % of the dev mentions, character n-grams alone 100.0 %"
    )
    searched["sparse_weight"] = 0.0
    assert score(collapsed) == 0
    assert len(notices) == 1


def test_wrong_answers_lower_it(terminology: Terminology) -> None:
    score = DevAccuracy([document(1, ("flu", ("D2",)), ("Heart attack", ("D1",)))], terminology)
    places = {"flu": 0, "heart attack": 1}

    def encode(names: Any, *, wrong: str = "") -> np.ndarray:
        rows = [places.get(name, 2) if name != wrong else 3 for name in names]
        return np.eye(4, dtype=np.float32)[rows]

    assert score(encode) == 1
    hidden = iter([0, 1])
    assert score(lambda names: encode(names, wrong="flu" if next(hidden) else "")) == 0.5


def test_nothing_to_score_is_said(terminology: Terminology, small: ModuleType) -> None:
    with pytest.raises(InvalidInput, match="leaves no mention to score"):
        DevAccuracy([document(1, ("flu", ("D99",)))], terminology)
    with pytest.raises(InvalidInput, match="no mention is of the type"):
        DevAccuracy(DEV, terminology, types=["Chemical"])
    assert small
