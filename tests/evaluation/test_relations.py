from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.evaluation.similarity.relations import (
    Softmax,
    evaluate_relations,
    fit_softmax,
    frozen,
    loss_and_gradient,
    read_triplets,
    split_triplets,
)
from canonym.types import Relation


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


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "lbfgs"},
        {"solver": "adam", "learning_rate": 0.05, "batch_size": 64},
    ],
)
def test_vectors_that_know_the_relation_beat_the_baselines(options: dict[str, Any]) -> None:
    found = evaluate_relations(frozen(VECTORS, **options), TRIPLETS)
    assert found.accuracy > 0.9 > found.majority + 0.3
    assert found.low < found.accuracy < found.high
    assert found.n_test == round(0.2 * len(TRIPLETS)) == len(found.predicted) == len(found.test)
    assert found.n_train + found.n_test == len(TRIPLETS)
    right = sum(said == one.relation for said, one in zip(found.predicted, found.test, strict=True))
    assert found.accuracy == right / found.n_test
    assert found == evaluate_relations(frozen(VECTORS, **options), TRIPLETS)
    assert found.test != evaluate_relations(frozen(VECTORS, **options), TRIPLETS, seed=1).test


def test_vectors_that_know_nothing_do_not() -> None:
    rng = np.random.default_rng(1)
    noise = {id_: rng.normal(size=6) for id_ in VECTORS}
    found = evaluate_relations(frozen(noise, solver="lbfgs"), TRIPLETS, by_head=True)
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
    classify = frozen(vectors, solver="lbfgs")(triplets, np.random.default_rng(0))
    tested = [Relation("?", "", "c"), Relation("b", "", "c"), Relation("a", "", "?")]
    assert list(classify(tested)) == ["r", "s", "r"]
    low = {"a": [2.0], "b": [-8.0], "c": [2.0]}  # mean −4/3, and half way is −3
    classify = frozen(low, solver="lbfgs")(triplets, np.random.default_rng(0))
    assert list(classify(tested[:1])) == ["r"]
    deep = {**low, "d": [-32.0]}  # mean −9
    classify = frozen(deep, solver="lbfgs")(triplets, np.random.default_rng(0))
    assert list(classify(tested[:1])) == ["s"]


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
    train, test = split_triplets(TRIPLETS, by_head=True)
    assert not {one.head for one in train} & {one.head for one in test}
    assert 0 <= len(test) - round(0.2 * len(TRIPLETS)) < 10


@pytest.mark.parametrize(
    ("triplets", "options", "said"),
    [
        (TRIPLETS, {"test_share": 0.0}, "test_share is 0.0"),
        (TRIPLETS, {"test_share": 1}, "test_share is 1"),
        (TRIPLETS[:1], {}, "one side empty"),
        ([], {}, "one side empty"),
        ([Relation("h", "r", "a"), Relation("h", "s", "b")], {"by_head": True}, "one side empty"),
    ],
)
def test_splits_that_are_refused(
    triplets: list[Relation], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        split_triplets(triplets, **options)


def test_what_else_is_refused() -> None:
    rng = np.random.default_rng(0)
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
    for option in ("epochs", "batch_size", "learning_rate", "penalty"):
        with pytest.raises(InvalidInput, match=f"{option} is 0"):
            frozen(VECTORS, **{option: 0})(TRIPLETS, rng)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no solver 'sgd'"):
        frozen(VECTORS, solver="sgd")(TRIPLETS, rng)


# --- softmax --------------------------------------------------------------------------------------


def test_gradient_is_that_of_the_loss() -> None:
    from scipy.optimize import approx_fprime

    rng = np.random.default_rng(0)
    features, targets = rng.normal(size=(9, 4)), rng.integers(0, 3, 9)
    flat = rng.normal(size=15)

    def model(numbers: np.ndarray) -> Softmax:
        return Softmax(numbers[:12].reshape(4, 3), numbers[12:])

    def loss(numbers: np.ndarray) -> float:
        return loss_and_gradient(model(numbers), features, targets, penalty=0.3)[0]

    gradient = loss_and_gradient(model(flat), features, targets, penalty=0.3)[1]
    expected = approx_fprime(flat, loss, 1e-7)
    assert np.concatenate([part.ravel() for part in gradient]) == pytest.approx(expected, abs=1e-5)
    # By the definition, one row at a time.
    logits = features @ model(flat).weights + model(flat).bias
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    naive = np.mean([-np.log(row[y]) for row, y in zip(shares, targets, strict=True)])
    assert loss(flat) == pytest.approx(naive + 0.3 * (flat[:12] ** 2).sum() / 2)


def test_large_inputs_do_not_overflow() -> None:
    model = Softmax(np.array([[1e4, -1e4]]), np.zeros(2))
    loss, gradient = loss_and_gradient(model, np.array([[1.0], [-1.0]]), np.array([0, 0]))
    assert loss == pytest.approx(1e4)
    assert np.isfinite(gradient.weights).all()


def test_lbfgs_finds_the_optimum_of_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    features, targets = rng.normal(size=(200, 5)), rng.integers(0, 3, 200)
    model = fit_softmax(features, targets, 3, solver="lbfgs", penalty=0.01, rng=0)
    theirs = linear_model.LogisticRegression(C=1 / (0.01 * 200), tol=1e-8, max_iter=1000)
    theirs.fit(features, targets)
    weights = model.weights - model.weights.mean(axis=1, keepdims=True)
    assert weights == pytest.approx(theirs.coef_.T, abs=1e-3)


def test_adam_takes_the_steps_of_torch() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    features, targets = rng.normal(size=(20, 4)), rng.integers(0, 3, 20)
    ours = fit_softmax(features, targets, 3, epochs=30, batch_size=99, learning_rate=0.01, rng=0)
    layer = torch.nn.Linear(4, 3).double()
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.01)
    for _ in range(30):
        optimiser.zero_grad()
        logits = layer(torch.from_numpy(features))
        torch.nn.functional.cross_entropy(logits, torch.from_numpy(targets)).backward()
        optimiser.step()
    assert ours.weights == pytest.approx(layer.weight.detach().numpy().T, abs=1e-9)
    assert ours.bias == pytest.approx(layer.bias.detach().numpy(), abs=1e-9)


# --- reading --------------------------------------------------------------------------------------


def test_triplets_are_read_from_any_table(tmp_path: Path) -> None:
    path = tmp_path / "drugs.csv"
    path.write_text('drug,name,how,disease\nD1,"a, b",treats,X\nD2,c, causes ,Y\nD1,d,treats,X\n')
    assert read_triplets(path, head="drug", relation="how", tail="disease") == [
        Relation("D1", "treats", "X"),
        Relation("D2", "causes", "Y"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("head\trelation\ttail\n", "a header but no triplets"),
        ("head\ttail\nA\tB\n", "0 columns are named 'relation'"),
        ("head\trelation\ttail\ttail\nA\tr\tB\tC\n", "2 columns are named 'tail'"),
        ("relation\ttail\nr\tB\n", "no column 'head'"),
        ("head\trelation\ttail\nA\t \tB\n", "row 1 after the header has an empty cell"),
    ],
)
def test_damaged_tables_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "triplets.tsv"
    path.write_text(text)
    with pytest.raises(ReadError, match=said):
        read_triplets(path)


def test_released_triplets(data: Path) -> None:
    path = data / "relations" / "drugbank-doid-indications.tsv.gz"
    found = read_triplets(path, head="drugbank_id", relation="resource", tail="doid_code")
    assert Relation("DB00091", "medi_lps", "DOID:0014667") in found


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
    from canonym.evaluation.similarity.finetuning import finetuned

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
