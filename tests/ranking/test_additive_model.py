"""A model is a sum of curves: what it scores, what it learns, what it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

from canonym.errors import InvalidInput
from canonym.ranking import additive_model as fitting
from canonym.ranking.additive_model import AdditiveModel, Curve, fit_additive_model

LEAD = Curve("lead", (0.0, 1.0, 3.0), (0.0, 2.0, 3.0), -1.0)
LABEL = Curve("label", (0.0, 1.0), (0.0, 0.5), 0.0)


def test_the_score_is_the_sum_of_the_curves() -> None:
    model = AdditiveModel([LEAD, LABEL])
    features = np.array([[[0.5, 1], [2, 0]], [[-9, np.nan], [np.nan, 1]]], dtype=np.float32)
    assert model.score(features).tolist() == [[1.5, 2.5], [0.0, -0.5]]
    assert model.score(features).dtype == np.float32
    assert model.worth(features[0, 0]).tolist() == [1.0, 0.5]
    assert model.names == ("lead", "label")


def test_curves_are_straight_between_knots_and_level_beyond() -> None:
    rng = np.random.default_rng(0)
    curves = [
        Curve(str(n), tuple(np.sort(rng.normal(size=n)).tolist()), tuple(rng.normal(size=n)), 7.0)
        for n in (1, 2, 6, 4)
    ]
    features = rng.normal(size=(500, 4))
    for column, curve in enumerate(curves):
        features[::5, column] = rng.choice(curve.knots, size=100)
    features[:3] = [[np.inf], [-np.inf], [np.nan]]
    expected = np.stack(
        [np.interp(features[:, n], c.knots, c.values) for n, c in enumerate(curves)], axis=1
    )
    expected[2] = 7
    assert AdditiveModel(curves).worth(features).tobytes() == expected.tobytes()


def test_shares_come_with_the_largest_first() -> None:
    model = AdditiveModel([LABEL, LEAD])
    named = model.named(model.worth(np.array([[1.0, np.nan], [0.0, 0.0]])))
    assert list(named[0].items()) == [("lead", -1.0), ("label", 0.5)]
    assert [list(one) == sorted(one, key=lambda n: (-abs(one[n]), n)) for one in named] == [
        True
    ] * 2


def test_weights_count_mentions() -> None:
    rng = np.random.default_rng(3)
    features, gold = rng.random((6, 3, 2)), np.eye(3, dtype=bool)[rng.integers(0, 3, 6)]
    times = np.array([1, 3, 1, 2, 1, 1])
    again = np.repeat(np.arange(6), times)
    weighed = fit_additive_model(features, gold, ["a", "b"], weights=times)
    repeated = fit_additive_model(features[again], gold[again], ["a", "b"])
    at = rng.random((5, 2))
    np.testing.assert_allclose(weighed.score(at), repeated.score(at), atol=1e-4)
    assert (
        np.abs(weighed.score(at) - fit_additive_model(features, gold, ["a", "b"]).score(at)).max()
        > 0
    )
    for wrong in ([1.0], [-1.0] * 6, [float("nan")] * 6):
        with pytest.raises(InvalidInput, match="a number for each, 0 or more"):
            fit_additive_model(features, gold, ["a", "b"], weights=wrong)


@pytest.mark.parametrize(
    "curve",
    [
        Curve("a", (), (), 0),
        Curve("a", (0, 0), (1, 2), 0),
        Curve("a", (0, 1), (1,), 0),
        Curve("a", (0,), (float("nan"),), 0),
        Curve("a", (0,), (1,), float("inf")),
    ],
)
def test_curves_that_are_none(curve: Curve) -> None:
    with pytest.raises(InvalidInput, match="curve of 'a'"):
        AdditiveModel([curve])


def test_features_of_another_width_and_names_given_twice() -> None:
    with pytest.raises(InvalidInput, match="expected 2"):
        AdditiveModel([LEAD, LABEL]).score(np.zeros((3, 5)))
    with pytest.raises(InvalidInput, match="more than once"):
        AdditiveModel([LEAD, LEAD])


# --- fitting --------------------------------------------------------------------------------------


def sample(seed: int, n: int = 300, k: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Draw candidates; the right one has its first feature nearest to 0.5."""
    rng = np.random.default_rng(seed)
    features = rng.random((n, k, 2)).astype(np.float32)
    gold = np.zeros((n, k), dtype=bool)
    gold[np.arange(n), np.abs(features[..., 0] - 0.5).argmin(axis=1)] = True
    return features, gold


def accuracy(model: AdditiveModel, features: np.ndarray, gold: np.ndarray) -> float:
    best = model.score(features).argmax(axis=1)
    return float(gold[np.arange(len(gold)), best].mean())


def test_a_curve_learns_what_no_weight_could() -> None:
    model = fit_additive_model(*sample(0), ["near the middle", "noise"])
    assert accuracy(model, *sample(1)) > 0.75  # chance is 0.17
    middle, noise = model.worth(np.linspace([0, 0], [1, 1], 5)).T
    assert middle[2] > middle[0] + 2
    assert middle[2] > middle[4] + 2
    assert np.ptp(noise) < np.ptp(middle) / 4


def test_the_same_input_gives_the_same_model() -> None:
    assert (
        fit_additive_model(*sample(0), "ab").curves == fit_additive_model(*sample(0), "ab").curves
    )


def test_several_right_candidates_share_the_mass() -> None:
    features = np.array([[[0.0], [0.0], [1.0]]] * 20)
    gold = np.array([[True, True, False]] * 20)
    model = fit_additive_model(features, gold, ["a"], ridge=1e-3, smoothness=0)
    scores = model.score(features)[0]
    assert scores[0] == scores[1] > scores[2] + 3


def test_missing_values_and_missing_candidates() -> None:
    features = np.array([[[np.nan], [0.3], [9.0]], [[np.nan], [0.7], [9.0]]])
    gold = np.array([[True, False, True]] * 2)
    there = np.array([[True, True, False]] * 2)
    model = fit_additive_model(features, gold, ["a"], there=there)
    (curve,) = model.curves
    (known,) = model.worth(np.array([0.3]))
    assert curve.missing > known
    assert max(curve.knots) < 9  # what is not there plays no role
    never = fit_additive_model(np.full((1, 2, 1), np.nan), np.array([[True, False]]), ["a"])
    assert never.curves[0].knots == (0.0,)


def test_few_decisions_change_a_model_little_and_many_a_lot() -> None:
    start = fit_additive_model(*sample(0), ["a", "b"])
    features, gold = sample(2)
    gold = np.zeros_like(gold)
    gold[np.arange(len(gold)), features[..., 1].argmax(axis=1)] = True  # quite another taste
    few = fit_additive_model(features[:1], gold[:1], ["a", "b"], start=start)
    many = fit_additive_model(features, gold, ["a", "b"], start=start)
    assert few.curves[0].knots == start.curves[0].knots
    assert accuracy(few, *sample(1)) > 0.8
    assert accuracy(many, features, gold) > 0.85 > accuracy(few, features, gold)


@given(st.integers(0, 1000), st.floats(0, 3), st.floats(0.01, 3))
def test_the_gradient_is_that_of_the_loss(seed: int, smoothness: float, ridge: float) -> None:
    rng = np.random.default_rng(seed)
    features = rng.random((4, 3, 2)).round(1)
    features[rng.random(features.shape) < 0.2] = np.nan
    gold = rng.random((4, 3)) < 0.4
    gold[:, 0] = True
    there = gold | (rng.random((4, 3)) < 0.7)
    found = []

    def keep(loss, origin, **_):  # type: ignore[no-untyped-def]
        found.append(loss)
        return origin

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "minimise", keep)
        rows = features[there]
        grids = [fitting._quantiles(rows[:, i], 4) for i in range(2)]
        origin = rng.normal(size=sum(len(grid) + 1 for grid in grids))
        design = fitting._design(rows, grids)
        times = rng.random(4)
        fitting._minimise(design, gold, there, times, origin, grids, smoothness, ridge, 9)
    (loss,) = found
    at = origin + rng.normal(size=len(origin))
    assert check_grad(lambda w: loss(w)[0], lambda w: loss(w)[1], at) < 1e-4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["a"]}, "features of shape"),
        ({"gold": np.zeros((2, 2), dtype=bool)}, "nothing can be learned"),
        ({"gold": np.ones((2, 2), dtype=bool)}, "nothing can be learned"),
        ({"gold": np.ones((2, 3), dtype=bool)}, "features of shape"),
        ({"there": np.ones((2, 3), dtype=bool)}, "features of shape"),
        ({"knots": 1}, "knots=1"),
        ({"ridge": 0}, "ridge=0"),
        ({"smoothness": -1}, "smoothness=-1"),
        ({"iterations": 0}, "iterations=0"),
    ],
)
def test_bad_input(change: dict[str, object], message: str) -> None:
    given_ = {
        "features": np.zeros((2, 2, 2)),
        "gold": np.eye(2, dtype=bool),
        "names": ["a", "b"],
        **change,
    }
    with pytest.raises(InvalidInput, match=message):
        fit_additive_model(**given_)  # type: ignore[arg-type]
