"""Variants of names: conventions by table, swaps by a small terminology."""

from __future__ import annotations

import numpy as np
import pytest

from models.synonyms import WordSwaps, icd_variants, without_residue


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Fracture of hip NOS", "Fracture of hip"),
        ("Pneumonia, unspecified", "Pneumonia"),
        ("Unspecified fever", "fever"),
        ("Pneumonia, unspecified organism", "Pneumonia"),
        (
            "Burn, unspecified degree, of the very long left hand",
            "Burn, unspecified degree, of the very long left hand",
        ),
        ("Stone (disorder)", "Stone"),
        ("Pain NOS (disorder)", "Pain"),
        ("NOS", "NOS"),
        ("unspecified ", "unspecified "),
        ("Unspecified part of neck", "part of neck"),
        ("Fracture of unspecified part of neck", "Fracture of unspecified part of neck"),
        ("Kronos", "Kronos"),
    ],
)
def test_residue_is_cut_off(name: str, expected: str) -> None:
    assert without_residue(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Varicella [chickenpox]", ["Varicella", "chickenpox"]),
        ("Congenital varicella [chickenpox]", ["Congenital varicella", "Congenital chickenpox"]),
        (
            "Human immunodeficiency virus [HIV] disease",
            ["Human immunodeficiency virus disease", "HIV disease"],
        ),
        ("hypertension (arterial) (benign)", ["hypertension"]),
        ("Essential (primary) hypertension", ["Essential hypertension"]),
        ("Diabetes (type 1)", []),
        ("Fever", []),
        ("(all)", []),
    ],
)
def test_conventions_of_icd(name: str, expected: list[str]) -> None:
    assert list(icd_variants(name)) == expected


def words(*names: str) -> list[tuple[str, ...]]:
    return [tuple(sorted(name.split())) for name in names]


NAMES = words(
    "kidney stone", "renal stone",
    "kidney failure", "renal failure",
    "acute nephritis", "chronic nephritis",
    "acute gout", "chronic gout",
    "acute hives", "chronic hives",
    "chronic hepatitis", "acute hepatitis",
)  # fmt: skip
CONCEPTS = np.array([0, 0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 7])


def test_a_swap_holds_more_often_than_not() -> None:
    swaps = WordSwaps(NAMES, CONCEPTS)
    assert dict(swaps.swaps) == {"kidney": ["renal"], "renal": ["kidney"]}
    assert swaps.counts == {("kidney", "renal"): 2, ("acute", "chronic"): 2}
    assert WordSwaps(NAMES, CONCEPTS, share=0.5).swaps["acute"] == ["chronic"]


def test_concepts_of_different_sources_are_no_contrast() -> None:
    sources = np.array([1, 1, 1, 2, 1, 1, 1, 2])
    assert WordSwaps(NAMES, CONCEPTS, sources).swaps["acute"] == ["chronic"]
    same = np.ones(8, int)
    assert "acute" not in WordSwaps(NAMES, CONCEPTS, same).swaps


def test_rare_sightings_of_common_words_do_not_count() -> None:
    names = [
        *NAMES,
        *words(*(f"renal x{n}" for n in range(60)), *(f"kidney y{n}" for n in range(60))),
    ]
    concepts = np.concatenate((CONCEPTS, np.arange(120) + 10))
    assert not WordSwaps(names, concepts).swaps
    assert WordSwaps(names, concepts, rate=0.01).swaps["renal"] == ["kidney"]
    assert not WordSwaps(NAMES, CONCEPTS, least=3).swaps


def test_long_names_and_short_words_are_passed_over() -> None:
    names = words("a b c d e kidney", "a b c d e renal", "ox x", "ox y", "ox1 zz", "ox2 zz", "lone")
    assert not WordSwaps(names * 2, np.array([0, 0, 1, 1, 2, 2, 3, 5, 5, 6, 6, 7, 7, 8])).counts


def test_variants_swap_one_word_commonest_first() -> None:
    names = [
        *NAMES,
        *words("stone pain", "stone ache", "back pain", "back ache", "ear pain", "ear ache"),
    ]
    concepts = np.concatenate((CONCEPTS, [10, 10, 11, 11, 12, 12]))
    swaps = WordSwaps(names, concepts)
    assert swaps.variants("renal colic pain") == ["renal colic ache", "kidney colic pain"]
    assert swaps.variants("pain or ache") == []
    assert swaps.variants("gout") == []
