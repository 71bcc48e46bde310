"""Words of everyday English beside acronyms that are spelt like them."""

import pytest

from canonym.mentions.contrasts import against

LABEL = "Some Acquired Disorder"


@pytest.mark.parametrize(
    ("mention", "name", "label"),
    [
        ("Mass", "MASS syndrome", "MASS syndrome"),
        ("mass", "MASS syndrome", LABEL),
        ("Long", "LONG syndrome", LABEL),
        ("charge", "CHARGE association", LABEL),
        ("hair", "HAIR-AN syndrome", LABEL),
        ("Sad", "SAD", "Seasonal affective disorder"),
        ("rings", "RING", "RING domain"),
        ("Coach", "COACH", "COACH syndrome"),
        ("all", "ALL", LABEL),
        ("sad", "SAD", LABEL),
        ("cold", "COLD", "Chronic obstructive lung disease"),
    ],
)
def test_a_word_is_no_acronym_that_is_spelt_like_it(mention: str, name: str, label: str) -> None:
    contrasts = against(mention, name, label=label).contradictions
    assert [contrast.kind for contrast in contrasts] == ["case"]


@pytest.mark.parametrize(
    ("mention", "name", "label"),
    [
        ("MASS", "MASS syndrome", LABEL),  # in capitals it may be the acronym
        ("mass syndrome", "MASS syndrome", LABEL),  # it says that it is one
        ("Leopard syndrome", "LEOPARD", LABEL),
        ("copd", "COPD", LABEL),  # no word
        ("adhd", "ADHD", LABEL),
        ("aids", "AIDS", LABEL),
        ("Aids", "AIDS", LABEL),
        ("anxiety", "ANXIETY", "Anxiety Disorders"),  # some names are in capitals
        ("wheezing", "WHEEZING", "Asthma"),
        ("serum", "ZINC, ELEVATED SERUM", "Zinc in blood"),
        ("cold", "COLD", ""),  # nothing tells that it is an acronym
        ("pain", "PAIN", "PAIN"),  # all names of the terminology are in capitals
        ("Mass", "MASS OF BREAST", "MASS OF BREAST"),
        ("Mass", "Mass of breast", LABEL),
        ("mass", "Mass", LABEL),
    ],
)
def test_what_may_mean_an_acronym_does_not_contradict(mention: str, name: str, label: str) -> None:
    assert against(mention, name, label=label).contradictions == ()


@pytest.mark.parametrize(
    ("mention", "name"),
    [
        ("LS, mitochondrial", "Mitochondrial metabolism disorders"),
        ("carpal calcification", "CARPAL CALCIFICATIONS N"),
    ],
)
def test_the_end_of_a_long_word_is_no_short_form(mention: str, name: str) -> None:
    kinds = {contrast.kind for contrast in against(mention, name).contradictions}
    assert "letter" not in kinds
