"""Relation classification: splits, baselines, and training against torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.types import Relation
from reproduce.measures.relations import (
    By,
    choose_triplets,
    evaluate_relations,
    finetuned,
    frozen,
    is_test_pair,
    split_triplets,
)


def _world(n: int = 600) -> tuple[dict[str, np.ndarray], list[Relation]]:
    """Concepts whose first two numbers say the relation: treats, causes or neither."""
    rng = np.random.default_rng(0)
    vectors = {f"C{i}": rng.normal(size=6) for i in range(200)}
    pairs = {tuple(rng.choice(200, 2, replace=False).tolist()) for _ in range(n)}
    triplets = []
    for h, t in sorted(pairs):
        total = vectors[f"C{h}"][0] + vectors[f"C{t}"][1]
        relation = "treats" if total > 0.7 else "causes" if total < -0.7 else "none"
        triplets.append(Relation(f"C{h}", relation, f"C{t}"))
    return vectors, triplets


VECTORS, TRIPLETS = _world()


def test_vectors_that_know_the_relation_beat_the_baselines() -> None:
    fit = frozen(VECTORS, learning_rate=0.05, batch_size=64)
    found = evaluate_relations(fit, TRIPLETS)
    assert found.accuracy > 0.9 > found.majority + 0.3
    assert found.low < found.accuracy < found.high
    assert found.n_test == round(0.2 * len(TRIPLETS)) == len(found.predicted) == len(found.test)
    assert found.n_train + found.n_test == len(TRIPLETS)
    right = sum(said == one.relation for said, one in zip(found.predicted, found.test, strict=True))
    assert found.accuracy == right / found.n_test
    assert found == evaluate_relations(fit, TRIPLETS)
    assert found.test != evaluate_relations(fit, TRIPLETS, seed=1).test


def test_vectors_that_know_nothing_do_not() -> None:
    rng = np.random.default_rng(1)
    noise = {id_: rng.normal(size=6) for id_ in VECTORS}
    found = evaluate_relations(frozen(noise, learning_rate=0.05), TRIPLETS, by="head")
    assert found.accuracy < found.majority + 0.1


def test_baselines_by_hand() -> None:
    triplets = [Relation(f"h{i}", "r" if i % 4 else "s", "t") for i in range(100)]

    def fit(train: Sequence[Relation], rng: np.random.Generator) -> Any:
        assert isinstance(rng, np.random.Generator)
        counts = Counter(one.relation for one in train)

        def classify(test: Sequence[Relation]) -> list[str]:
            assert {one.relation for one in test} == {""}  # nothing to look up
            return [counts.most_common(1)[0][0]] * len(test)

        return classify

    found = evaluate_relations(fit, triplets)
    share = sum(one.relation == "r" for one in found.test) / 20
    train = (75 - 20 * share) / 80
    assert found.accuracy == found.majority == share
    assert found.chance == pytest.approx(train * share + (1 - train) * (1 - share))


def test_a_concept_without_a_vector_gets_the_mean() -> None:
    # Heads tell the relation by sign; the mean of all vectors is +1.
    vectors = {"a": [2.0], "b": [-1.0], "c": [2.0]}
    triplets = [Relation("a", "r", "c"), Relation("b", "s", "c")]

    def classify(vectors: dict[str, list[float]], *heads: str) -> list[str]:
        classifier = frozen(vectors, epochs=3000, learning_rate=0.05)(
            triplets, np.random.default_rng(0)
        )
        return list(classifier([Relation(head, "", "c") for head in heads]))

    assert classify(vectors, "?", "b", "a") == ["r", "s", "r"]
    low = {"a": [2.0], "b": [-8.0], "c": [2.0]}  # mean −4/3, and half way is −3
    assert classify(low, "?") == ["r"]
    assert classify({**low, "d": [-32.0]}, "?") == ["s"]  # mean −9


def test_split_is_random_and_whole() -> None:
    train, test = split_triplets([*TRIPLETS, TRIPLETS[0]], rng=3)
    assert len(test) == round(0.2 * len(TRIPLETS))
    assert not set(train) & set(test)
    assert set(train) | set(test) == set(TRIPLETS)
    order = {one: i for i, one in enumerate(TRIPLETS)}
    assert [order[one] for one in test] == sorted(order[one] for one in test)
    assert (train, test) == split_triplets(TRIPLETS, rng=np.random.default_rng(3))
    assert test != split_triplets(TRIPLETS, rng=4)[1]


def test_split_by_head_shares_no_head() -> None:
    train, test = split_triplets(TRIPLETS, by="head")
    assert not {one.head for one in train} & {one.head for one in test}
    assert 0 <= len(test) - round(0.2 * len(TRIPLETS)) < 10


def test_split_by_pair_depends_on_both_ids_alone() -> None:
    test = split_triplets(TRIPLETS, by="pair")[1]
    assert set(test) == {one for one in TRIPLETS if is_test_pair(one)}
    assert len(test) == pytest.approx(0.2 * len(TRIPLETS), rel=0.2)
    turned = [Relation(one.tail, "back", one.head) for one in reversed(TRIPLETS)]
    back = split_triplets(turned, by="pair", rng=5)[1]
    assert {(one.tail, one.head) for one in back} == {(one.head, one.tail) for one in test}


def test_chosen_triplets_are_limited_and_turned_one_way() -> None:
    few = [Relation("C1", "seldom", f"C{i}") for i in range(4)]
    chosen = choose_triplets([*TRIPLETS, *few, *few], most=50)
    back = [
        Relation(one.tail, one.relation.removeprefix("inverse of "), one.head)
        if one.relation.startswith("inverse of ")
        else one
        for one in chosen
    ]
    sizes = dict.fromkeys(("treats", "causes", "none"), 50)
    assert Counter(one.relation for one in back) == {**sizes, "seldom": 4}
    assert back == [one for one in [*TRIPLETS, *few] if one in set(back)]
    n_turned = sum(one != other for one, other in zip(chosen, back, strict=True))
    assert 0.35 < n_turned / len(chosen) < 0.65
    assert chosen == choose_triplets([*TRIPLETS, *few], most=50)
    assert chosen != choose_triplets([*TRIPLETS, *few], most=50, rng=1)
    assert len(choose_triplets(TRIPLETS)) == len(TRIPLETS)


def test_types_alone_do_not_tell_the_direction() -> None:
    vectors = {f"{kind}{i}": np.eye(2)["ab".index(kind)] for kind in "ab" for i in range(40)}
    triplets = [Relation(f"a{i}", "is_a", f"a{j}") for i in range(40) for j in range(i)]
    triplets += [Relation(f"a{i}", "treats", f"b{j}") for i in range(40) for j in range(20)]
    fit = frozen(vectors, learning_rate=0.05)
    assert evaluate_relations(fit, triplets, by="pair").accuracy == 1
    found = evaluate_relations(fit, choose_triplets(triplets), by="pair")
    ways = {"is_a", "inverse of is_a"}
    assert found.mistakes
    assert all(set(pair) == ways for pair in found.mistakes)
    assert sum(found.mistakes.values()) == round((1 - found.accuracy) * found.n_test)


@pytest.mark.parametrize(
    ("triplets", "by"),
    [
        (TRIPLETS[:1], "triplet"),
        ([], "triplet"),
        ([Relation("h", "r", "a"), Relation("h", "s", "b")], "head"),
    ],
)
def test_splits_that_are_refused(triplets: list[Relation], by: By) -> None:
    with pytest.raises(InvalidInput, match="one side empty"):
        split_triplets(triplets, by=by)


def test_what_else_is_refused() -> None:
    with pytest.raises(InvalidInput, match="all training triplets have the relation 'r'"):
        evaluate_relations(frozen(VECTORS), [Relation(f"C{i}", "r", "C0") for i in range(9)])
    with pytest.raises(InvalidInput, match="says 1 relations for 20"):
        evaluate_relations(lambda *_: lambda _: ["treats"], TRIPLETS[:100])
    with pytest.raises(InvalidInput, match="no vectors"):
        frozen({})
    with pytest.raises(InvalidInput, match="the vectors have the shapes"):
        frozen({"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(InvalidInput, match="the vectors have the shapes"):
        frozen({"a": [[1.0]]})
    for option in ("epochs", "batch_size", "learning_rate"):
        with pytest.raises(InvalidInput, match=f"{option} is 0"):
            frozen(VECTORS, **{option: 0})  # type: ignore[arg-type]


def test_training_takes_the_steps_of_torch() -> None:
    torch = pytest.importorskip("torch")
    names = [f"C{i}" for i in range(200)]
    train = [one for one in TRIPLETS if one.relation != "none"][:90]
    layer = torch.nn.Linear(12, 2).double()
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.01)

    def inputs(triplets: list[Relation]) -> Any:
        rows = [np.concatenate([VECTORS[one.head], VECTORS[one.tail]]) for one in triplets]
        return torch.from_numpy(np.array(rows))

    targets = torch.tensor([int(one.relation == "treats") for one in train])
    for _ in range(30):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(layer(inputs(train)), targets).backward()
        optimiser.step()
    fit = frozen(VECTORS, epochs=30, batch_size=90, learning_rate=0.01)
    asked = [Relation(head, "", tail) for head in names[:60] for tail in names[:60]]
    found = fit(train, np.random.default_rng(0))(asked)
    theirs = layer(inputs(asked)).argmax(dim=1).tolist()
    assert found == [("causes", "treats")[i] for i in theirs]
    assert {"causes", "treats"} == set(found)


def test_large_vectors_do_not_overflow() -> None:
    vectors = {"a": [1e4], "b": [-1e4], "c": [0.0]}
    triplets = [Relation("a", "r", "c"), Relation("b", "s", "c")]
    classify = frozen(vectors, epochs=20, learning_rate=1.0)(triplets, np.random.default_rng(0))
    assert list(classify(triplets)) == ["r", "s"]


# --- fine-tuned -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of one layer that reads letters."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bert")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += [mark + letter for letter in "abcdefghij" for mark in ("", "##")]
    vocab = {piece: n for n, piece in enumerate(pieces)}
    transformers.BertTokenizerFast(vocab=vocab).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def test_a_fine_tuned_encoder_learns_the_relation(bert: Path) -> None:
    from canonym.encoders.transformer import Transformer

    rng = np.random.default_rng(0)
    names = {f"C{i}": "".join(rng.choice(list("ABCDEFGHIJ"), 4)) for i in range(60)}
    triplets = [
        Relation(f"C{h}", "first" if names[f"C{h}"][0] < "F" else "second", f"C{t}")
        for h, t in sorted({tuple(rng.integers(0, 60, 2).tolist()) for _ in range(120)})
    ]

    def make() -> Transformer:
        encoder = Transformer(bert, pooling="mean", device="cpu")
        encoder.lowercase = True
        return encoder

    fit = finetuned(make, names, epochs=12, batch_size=16, learning_rate=5e-3)
    found = evaluate_relations(fit, triplets)
    assert found.accuracy > found.majority + 0.2
    assert found == evaluate_relations(fit, triplets)
    with pytest.raises(InvalidInput, match="the concept 'C0' has no name"):
        evaluate_relations(finetuned(make, {}, epochs=1), [*triplets[:30]])
