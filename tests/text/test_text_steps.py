"""Each step of the normalisation, alone."""

from __future__ import annotations

import pytest

from canonym.text import STEPS, words
from tests.tables import cases, tables

NO_NUMERALS = (
    "i|v|x|hepatitis c|type c|type d|fragile x|46 xx|xxx syndrome|via|iva|vib|mix|civil|"
    "iiii|vv|type|type a|mucopolysaccharidosis i|vitamin d|xiphoid|ii2|type il"
)

PLURALS = (
    "carcinomas:carcinoma neuropathies:neuropathy diagnoses:diagnosis toes:toe eyes:eye "
    "metastases:metastasis carcinomata:carcinoma arthritides:arthritis diseases:disease "
    "viruses:virus abscesses:abscess phosphatases:phosphatase causes:cause doses:dose "
    "overdoses:overdose candidiases:candidiasis thromboses:thrombosis analyses:analysis "
    "prostheses:prosthesis headaches:headache rashes:rash complexes:complex apcs:apc "
    "paralyses:paralysis epiphyses:epiphysis thrombi:thrombus vertebrae:vertebra "
    "diverticulas:diverticulum lipomatas:lipoma bacteria:bacterium feet:foot men:man "
    "ova:ovum kidneys:kidney viruses:virus abuses:abuse sinuses:sinus synapses:synapse "
    "pulses:pulse varices:varix tornadoes:tornado crises:crisis"
)

NO_PLURALS = (
    "diabetes herpes rabies ascites abscess virus measles mumps pus gas lens scabies "
    "caries series species pancreas pelvis illness syphilis lupus aids sars feces biceps "
    "hydrops pseudomonas penis chagas shingles rickets ms as is carcinoma neuropathy ovum "
    "human Carcinomas t4s"
)

SPELLINGS = (
    "oedema:edema haemorrhage:hemorrhage anaemia:anemia tumour:tumor oesophagus:esophagus "
    "leukaemia:leukemia leucaemia:leukemia ischaemic:ischemic diarrhoea:diarrhea "
    "dyspnoea:dyspnea coeliac:celiac foetal:fetal paediatric:pediatric faeces:feces "
    "orthopaedic:orthopedic aetiology:etiology anaesthesia:anesthesia fibre:fiber "
    "gynaecology:gynecology gynaecomastia:gynecomastia caesarean:cesarean naevus:nevus "
    "behaviour:behavior sulphate:sulfate leucocyte:leukocyte generalised:generalized "
    "hospitalisation:hospitalization paralysed:paralyzed aneurism:aneurysm alfa:alpha "
    "gastrooesophageal:gastroesophageal oestrogen:estrogen lymphoedema:lymphedema "
    "centre:center goitre:goiter disc:disk manoeuvre:maneuver sensitised:sensitized "
    "randomised:randomized polymyoedema:polymyoedema"
)

AMERICAN = (
    "gastroesophageal angioedema tracheoesophageal exercise raised compromised arise "
    "phrase lyses disease analyses extraembryonic praecox hour sour leucine leucovorin "
    "four acre genre wise noise coenzyme aerobic Tumour tumour1"
)


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        *tables(__file__)["step"],
        # What is half a character cannot stand in a file.
        ("width", "a\x00b\x7fc\ud800d", "abcd"),
        ("width", "\ud83d\ude00a", "a"),
    ],
)
def test_step(step, before, after):
    assert STEPS[step](before) == after


@cases("before", "after")
def test_numerals_are_read(before, after):
    assert words.numerals(before) == after


@pytest.mark.parametrize(
    "same",
    NO_NUMERALS.split("|"),
)
def test_numerals_are_not_invented(same):
    assert words.numerals(same) == same


@pytest.mark.parametrize(
    ("before", "after"),
    [pair.split(":") for pair in PLURALS.split(" ")],
)
def test_plurals_become_singular(before, after):
    assert words.plural(before) == after


@pytest.mark.parametrize(
    "same",
    NO_PLURALS.split(" "),
)
def test_what_only_looks_like_a_plural_stays(same):
    assert words.plural(same) == same


@pytest.mark.parametrize(
    ("british", "american"),
    [pair.split(":") for pair in SPELLINGS.split(" ")],
)
def test_british_spelling_becomes_american(british, american):
    assert words.spelling(british) == american


@pytest.mark.parametrize(
    "same",
    AMERICAN.split(" "),
)
def test_american_words_stay(same):
    assert words.spelling(same) == same
