"""Words of everyday English beside acronyms that are spelt like them."""

import pytest

from canonym.mentions.contrasts import against

CHRONIC = "A disease of the chest"


@pytest.mark.parametrize(
    ("mention", "name"),
    [
        ("Mass", "MASS syndrome"),
        ("mass", "MASS syndrome"),
        ("Long", "LONG syndrome"),
        ("charge", "CHARGE association"),
        ("hair", "HAIR-AN syndrome"),
        ("Sad", "SAD"),
        ("rings", "RING"),
        ("Coach", "COACH"),
        ("all", "ALL"),
    ],
)
def test_a_word_is_no_acronym_that_is_spelt_like_it(mention: str, name: str) -> None:
    contrasts = against(mention, name, label=CHRONIC).contradictions
    assert [contrast.kind for contrast in contrasts] == ["case"]


@pytest.mark.parametrize(
    ("mention", "name", "label"),
    [
        ("MASS", "MASS syndrome", CHRONIC),  # in capitals it may be the acronym
        ("mass syndrome", "MASS syndrome", CHRONIC),  # it says that it is one
        ("Leopard syndrome", "LEOPARD", CHRONIC),
        ("copd", "COPD", CHRONIC),  # no word
        ("adhd", "ADHD", CHRONIC),
        ("aids", "AIDS", CHRONIC),
        ("Aids", "AIDS", CHRONIC),
        ("pain", "PAIN", "PAIN"),  # all names of the terminology are in capitals
        ("Mass", "MASS OF BREAST", "MASS OF BREAST"),
        ("Mass", "Mass of breast", CHRONIC),
        ("mass", "Mass", CHRONIC),
    ],
)
def test_what_may_mean_an_acronym_does_not_contradict(mention: str, name: str, label: str) -> None:
    assert against(mention, name, label=label).contradictions == ()
