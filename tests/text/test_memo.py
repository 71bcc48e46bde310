"""Remembering words gives what normalising whole names gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.encoders.subword import NORMAL_STEPS
from canonym.errors import InvalidInput
from canonym.text import PLAIN, STRONG, UNORDERED, memo, normalise
from canonym.text.memo import KnownForms, MemoNormaliser

STEPS = (PLAIN, STRONG, UNORDERED)
NAMES = [
    "Haemorrhagic oedemas of the Tumours, type II",
    "Crohn’s diseases",
    "",
    "  ?! ",
    "β-thalassaemias",
    "men-2b women",
    "\ud800 caries\x00",
]


IDEOGRAPHS = (*PLAIN, "ideographs", *NORMAL_STEPS[len(PLAIN) :])


@pytest.mark.parametrize(
    "steps", [PLAIN, STRONG, UNORDERED, NORMAL_STEPS, IDEOGRAPHS, ("spelling", "case")]
)
def test_equal_to_normalising_each_name(steps: tuple[str, ...]) -> None:
    expected = [normalise(name, steps) for name in NAMES]
    normaliser = MemoNormaliser(steps)
    assert normaliser(NAMES) == expected
    assert normaliser(iter(NAMES)) == expected  # from memory
    assert normaliser(NAMES, [normalise(name) for name in NAMES]) == expected


@given(
    st.lists(st.text(max_size=30), max_size=3), st.sampled_from([*STEPS, NORMAL_STEPS, IDEOGRAPHS])
)
def test_equal_for_any_text(names: list[str], steps: tuple[str, ...]) -> None:
    expected = [normalise(name, steps) for name in names]
    assert MemoNormaliser(steps)(names) == expected
    known = KnownForms(steps)
    assert [known(names), known(names)] == [expected] * 2
    assert [known([name]) for name in names] == [[form] for form in expected]


@given(st.lists(st.text(alphabet="2sbeta-'`_ &\t\x01,Xß", max_size=12), max_size=4))
def test_equal_where_the_strong_form_begins(names: list[str]) -> None:
    assert MemoNormaliser(STRONG)(names) == [normalise(name, STRONG) for name in names]


@given(st.lists(st.sampled_from(["2", "beta", "-", "'", "s", " ", "x", "_", "\x01"])).map("".join))
def test_equal_for_glued_letters_and_lone_s(name: str) -> None:
    assert MemoNormaliser(STRONG)([name]) == [normalise(name, STRONG)]


WORDS = ["crohn", "s", "disease", "type", "ii", "iv", "i", "xxxix", "iiib", "x", "β", "men", "vb"]


@given(st.lists(st.lists(st.sampled_from(WORDS)).map(" ".join), max_size=3))
def test_steps_that_change_few_names_change_the_same(names: list[str]) -> None:
    assert MemoNormaliser(NORMAL_STEPS)(names) == [normalise(name, NORMAL_STEPS) for name in names]


def test_known_forms_are_forgotten_before_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memo, "_KEPT", 2)
    known = KnownForms(PLAIN)
    for names in (["A", "B"], ["C"], ["D", "E", "F", "D"], ["A"]):
        assert known(names) == [name.lower() for name in names]
        assert len(known._known) <= max(2, len(set(names)))


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "_KEPT", 2)
    words = memo._Words(("plural",))
    long = "x" * 60 + "omas"
    assert list(words.apply([f"{long} tumors lesions", "cysts"])) == [
        f"{'x' * 60}oma tumor lesion",
        "cyst",
    ]
    assert dict(words) == {"tumors": "tumor", "lesions": "lesion"}


def test_an_unknown_step_is_reported() -> None:
    with pytest.raises(InvalidInput, match="shout"):
        MemoNormaliser(("case", "shout"))
