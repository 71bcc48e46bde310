"""Words that mean something else in another order, and dimensions in two ways of saying them."""

from __future__ import annotations

import pytest

from canonym.mentions.contrasts import against, differs_in_meaning


@pytest.mark.parametrize(
    ("mention", "name"),
    [
        ("Rod-cone dystrophy", "Cone-rod dystrophy"),
        ("rod cone dystrophy", "Cone-rod dystrophy"),
        ("clonic-tonic seizure", "Seizure, tonic-clonic"),
        ("pain due to surgery", "surgery due to pain"),
        ("3-alpha-hydroxy-5-beta-androstan-17-one", "17-beta-hydroxy-5-alpha-androstan-3-one"),
        ("2-chloro-4-nitrophenol", "4-chloro-2-nitrophenol"),
        ("grade 2 tumor, stage 3", "grade 3 tumor, stage 2"),
    ],
)
def test_another_order_is_another_thing(mention: str, name: str) -> None:
    assert differs_in_meaning(mention, name)
    assert against(mention, name).contradictions


@pytest.mark.parametrize(
    ("mention", "name"),
    [
        ("dystrophy, cone-rod", "Cone-rod dystrophy"),
        ("cone rod dystrophy", "Cone-rod dystrophy"),
        ("Eaton-Lambert syndrome", "Lambert-Eaton syndrome"),
        ("diabetes type 2 with CKD stage 3", "CKD stage 3 with diabetes type 2"),
        ("knee pain", "pain, knee"),
        ("aplasia/hypoplasia of the thumb", "hypoplasia/aplasia of the thumb"),
        ("2,4-dinitrophenol", "dinitrophenol, 2,4-"),
        ("stage 3 kidney disease", "kidney disease stage 3"),
    ],
)
def test_another_order_may_be_the_same_thing(mention: str, name: str) -> None:
    assert not differs_in_meaning(mention, name)
    assert not against(mention, name).contradictions


@pytest.mark.parametrize(
    ("mention", "name", "contradicts"),
    [
        ("decreased width of nose", "wide nose", True),
        ("wide nose", "decreased width of nose", True),
        ("increased length of toes", "short toes", True),
        ("reduced thickness of skin", "thickened skin", True),
        ("increased number of teeth", "few teeth", True),
        ("decreased width of nose", "narrow nose", False),
        ("width of nose", "wide nose", False),
    ],
)
def test_a_dimension_excludes_the_opposite_adjective(
    mention: str, name: str, contradicts: bool
) -> None:
    assert bool(against(mention, name).contradictions) is contradicts


@pytest.mark.parametrize(
    ("mention", "name"),
    [
        ("pleurisy without tuberculosis", "tuberculous pleurisy"),
        ("pleurisy without effusion or tuberculosis", "tuberculous pleurisy"),
        ("alcohol abuse", "alcohol dependence"),
        ("vestibular hyporeflexia", "vestibular areflexia"),
    ],
)
def test_what_excludes_each_other(mention: str, name: str) -> None:
    assert against(mention, name).contradictions
