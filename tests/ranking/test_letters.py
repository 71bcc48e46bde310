"""Words that differ by their endings, and names that a mention is a part of."""

from __future__ import annotations

import pytest

from canonym.ranking.letters import COUPLED, DERIVED, LETTERED, gain, is_derived, most_gain

DERIVATIONS = """
genetic:gene genomic:genome allelic:allele exonic:exon intronic:intron deleted:deletion
deleting:deletion inverted:inversion silencing:silencer chromosomal:chromosome telomeric:telomere
haplotypic:haplotype lymphocytic:lymphocyte neuronal:neuron epithelial:epithelium thymic:thymus
embryonic:embryo cortical:cortex thoracic:thorax placental:placenta muscular:muscle pelvic:pelvis
cirrhotic:cirrhosis metastatic:metastasis allergic:allergy diabetic:diabetes atrial:atrium
ventricular:ventricle arterial:artery hippocampal:hippocampus periosteal:periosteum manic:mania
ischemic:ischemia hypertensive:hypertension obese:obesity
"""
DIFFERENT = """
hepatic:hepatitis lactic:lactase thyroid:thyroiditis neural:neuralgia glucose:glucosamine
gastric:gastrin gastric:gastritis renal:renin biomet:biometal uric:urine cardiac:carditis
allelic:gene peptic:peptide arsenic:arsenate nephric:nephritis arthritic:arthralgia
"""


@pytest.mark.parametrize("pair", DERIVATIONS.split())
def test_a_word_and_the_noun_that_it_comes_from(pair: str) -> None:
    word, noun = pair.split(":")
    assert is_derived(word, noun)
    assert gain(word, noun) == DERIVED


@pytest.mark.parametrize("pair", DIFFERENT.split())
def test_words_that_only_begin_alike(pair: str) -> None:
    word, noun = pair.split(":")
    assert not is_derived(word, noun)


@pytest.mark.parametrize(
    ("mention", "name", "expected"),
    [
        ("syncope", "syncope and collapse", COUPLED),
        ("blindness", "blindness and low vision", COUPLED),
        ("hypernatremia", "hyperosmolality and hypernatremia", COUPLED),
        ("syncope", "heat syncope", 0.0),
        ("deafness", "congenital deafness and myopia", 0.0),
        ("alpha cell", "pancreatic alpha cell", LETTERED),
        ("a cell", "pancreatic a cell", LETTERED),
        ("delta cell", "gamma delta t cell", 0.0),
        ("alpha cell", "alpha beta t cell", 0.0),
        ("l glutamate", "l arginine l glutamate", 0.0),
        ("l threonate", "calcium l threonate", 0.0),
        ("stem cell", "embryonic stem cell", 0.0),
        ("", "gene", 0.0),
        ("gene", "", 0.0),
    ],
)
def test_what_a_name_gains(mention: str, name: str, expected: float) -> None:
    assert gain(mention, name) == expected
    assert gain(mention, name) <= most_gain(mention)
