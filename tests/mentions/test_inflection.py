"""Forms of one word, and words that only begin alike."""

from __future__ import annotations

import pytest

from canonym.mentions.inflection import are_inflected

FORMS = """
diabetes diabetic; occlusion occlusive; dystonia dystonic; metabolism metabolic; asthma asthmatic
dysplasia dysplastic; thrombus thrombotic; erythema erythematous; deficiency deficient
duodenum duodenal; neuron neuronal; pelvis pelvic; esophagus esophageal; delay delayed
hallucination hallucinatory; artery arterial; malignancy malignant; diabetes diabetisch
"""
OTHERS = """
perioral periocular; malleus malleolus; protein proteinuria; cardiac cardiotoxicity; oxidant oxidase
ependymoma ependymoblastoma; emetic emetine; hepatic hepatitis; thrombosis thromboembolism
prednisone prednisolone; cyclomen cyclomenol; retinal retirement; finger fingernail
"""


def _pairs(table: str) -> list[list[str]]:
    return [pair.split() for pair in table.strip().replace("\n", ";").split(";")]


@pytest.mark.parametrize(("word", "other"), _pairs(FORMS))
def test_forms_of_one_word(word: str, other: str) -> None:
    assert are_inflected(word, other)
    assert are_inflected(other, word)


@pytest.mark.parametrize(("word", "other"), _pairs(OTHERS))
def test_words_that_begin_alike_are_no_forms_of_one(word: str, other: str) -> None:
    assert not are_inflected(word, other)
    assert not are_inflected(other, word)
