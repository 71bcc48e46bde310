"""Choosers on this machine: an encoder, and a cross-encoder that was taught here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.linking.second_look import choosers
from canonym.linking.second_look.choosers import (
    CrossEncoder,
    EncoderChooser,
    described,
    is_cross_encoder,
    mention_of,
)
from canonym.linking.second_look.kept import VECTORS, Kept
from canonym.linking.second_look.questions import Choice, Question
from canonym.types import Float32Array

COLOURS = ("red", "green", "blue", "black", "white")


def question(read: str, *labels: str, context: str = "") -> Question:
    return Question(read, read, context, tuple(Choice(label) for label in labels))


class Letters:
    """Counts letters, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, names: Sequence[str]) -> Float32Array:
        self.asked += names
        return np.array([[name.count(c) for c in "abcdefgh"] for name in names], np.float32)


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> Letters:
    encoder = Letters()
    monkeypatch.setattr(choosers, "make_encoder", lambda _: encoder)
    return encoder


def places(chooser: EncoderChooser | CrossEncoder, *asked: Question) -> list[int | None]:
    return [answer.place for answer in chooser.answers(asked)]


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize(
    ("asked", "place"),
    [
        (question("abc", "hgf", "cab", "abd"), 1),
        (question("hg", "hgh", "a"), 0),
        (Question("abc", "abc", "", (Choice("abd"), Choice("hhh", ("cba",)))), 1),  # a synonym
        (question("ab", "ba", "ab"), 0),  # the first of equal ones
    ],
)
def test_an_encoder_chooses_the_nearest_name(asked: Question, place: int) -> None:
    assert places(EncoderChooser("letters"), asked) == [place]


def test_names_of_an_earlier_run_are_not_read_again(letters: Letters, tmp_path: Path) -> None:
    file = tmp_path / "kept.db"
    asked = question("abc", "hgf", "\ud800ab", "abd"), question("hg", "hgh", "a")
    first = places(EncoderChooser("letters", Kept(file, VECTORS)), *asked)
    letters.asked.clear()
    again = EncoderChooser("letters", Kept(file, VECTORS))
    assert places(again, *asked, question("b", "a", "bbb")) == [*first, 1]
    # Mentions are not kept: what is in them may be somebody's own.
    assert letters.asked == ["a name", "abc", "b", "bbb", "hg"]
    assert places(EncoderChooser("others", Kept(file, VECTORS)), *asked) == first
    assert len(letters.asked) == 5 + 8


def test_names_are_read_once(letters: Letters, monkeypatch: pytest.MonkeyPatch) -> None:
    chooser = EncoderChooser("letters")
    asked = question("a", "b", "c"), question("a", "c", "d")
    assert places(chooser, *asked) == places(chooser, *asked)
    assert sorted(letters.asked) == ["a", "a name", "b", "c", "d"]
    monkeypatch.setattr(choosers, "_MOST_VECTORS", 4)
    places(chooser, question("e", "a"))
    places(chooser, question("a", "b"))
    assert letters.asked[5:] == ["e", "b"]


@pytest.mark.usefixtures("letters")
def test_an_encoder_that_was_trained_anew_is_another(tmp_path: Path) -> None:
    before = EncoderChooser(str(tmp_path)).identity
    (tmp_path / "weights").write_text("1")
    first = EncoderChooser(str(tmp_path)).identity
    (tmp_path / "weights").write_text("12")
    assert len({before, first, EncoderChooser(str(tmp_path)).identity}) == 3


# --- cross-encoders -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer, which learned that red is right."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("cross-encoder")
    words = [*COLOURS, "is", "here", "a", "kind", "thing", ";", "(", ")", ".", ","]
    vocab = {
        word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    }
    tokenizer = transformers.BertTokenizerFast(vocab=vocab)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocab), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, num_labels=1,
        hidden_dropout_prob=0, attention_probs_dropout_prob=0,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config)
    pairs = [(a, b) for a in COLOURS for b in COLOURS]
    inputs = tokenizer(
        [a for a, _ in pairs], [b for _, b in pairs], return_tensors="pt", padding=True
    )
    right = torch.tensor([float(b == "red") for _, b in pairs])
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(40):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            model(**inputs).logits[:, 0], right, pos_weight=torch.tensor(4.0)
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.save_pretrained(folder)
    return folder


def test_a_cross_encoder_chooses_what_it_rates_highest(taught: Path) -> None:
    assert is_cross_encoder(taught)
    asked = [question("a thing", *COLOURS[n:], *COLOURS[:n]) for n in range(len(COLOURS))]
    assert places(CrossEncoder(taught), *asked) == [0, 4, 3, 2, 1]


def test_company_changes_no_answer(taught: Path) -> None:
    chooser = CrossEncoder(taught)
    asked = [question(colour, *COLOURS[: n + 1]) for n, colour in enumerate(COLOURS)]
    assert [places(chooser, one)[0] for one in asked] == places(chooser, *asked)


def test_it_reads_context_synonyms_and_parents() -> None:
    one = Question(
        "MI", "heart attack", "He had one.", (Choice("Infarction", ("MI",), ("Ischemia",)),)
    )
    assert mention_of(one) == "heart attack. He had one."
    assert described(one, 0) == "Infarction; MI (Ischemia)"


def test_other_weights_have_another_identity(taught: Path, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(taught)
    model.classifier.bias.data += 1
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(taught).save_pretrained(tmp_path)
    assert CrossEncoder(taught).identity != CrossEncoder(tmp_path).identity


def test_a_classifier_of_several_classes_is_refused(taught: Path, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.from_pretrained(taught, num_labels=3)
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(taught).save_pretrained(tmp_path)
    with pytest.raises(InvalidInput, match=r"has 3 outputs; expected a cross-encoder, which rates"):
        CrossEncoder(tmp_path)


def test_a_damaged_folder_is_told(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    config = {"architectures": ["BertForSequenceClassification"], "model_type": "bert"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert is_cross_encoder(tmp_path)
    with pytest.raises(ReadError, match="transformers cannot read it"):
        CrossEncoder(tmp_path)


def test_an_encoder_is_not_a_cross_encoder(tmp_path: Path) -> None:
    assert not is_cross_encoder(tmp_path)
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    assert not is_cross_encoder(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    assert not is_cross_encoder(tmp_path)
