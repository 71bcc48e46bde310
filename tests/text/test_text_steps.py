"""Each step of the normalisation, alone."""

from __future__ import annotations

import pytest

from canonym.text import STEPS, words
from tests.tables import cases

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
        ("entities", "Gunther&apos;s &amp; Co &#945; &#x41;", "Gunther's & Co α A"),
        ("entities", "R&D; AT&T", "R&D; AT&T"),
        ("quotes", "Crohn’s ‘x’ 5′ o´clock back`tick ŉ", "Crohn's 'x' 5' o'clock back'tick 'n"),
        ("quotes", "“a” «b» ″", '"a" "b" "'),
        ("dashes", "a–b—c‐d‑e−f", "a-b-c-d-e-f"),
        ("dashes", "カタカナー", "カタカナー"),
        ("width", "Ｈｅａｒｔ", "Heart"),
        ("width", "fi\u00adbro\u200bsis\ufeff", "fibrosis"),
        ("width", "a\x00b\x7fc\ud800d", "abcd"),
        ("width", "\ud83d\ude00a", "a"),
        ("width", "RiaSTAP™ x℠", "RiaSTAP  x "),
        ("ions", "free Ca2+, Ca(2+), Ca++ or Ca+2", "free calcium, calcium, calcium or calcium"),
        ("ions", "Na+/K+-ATPase", "sodium/potassium-ATPase"),
        ("ions", "Na+K+ ATPase", "sodium potassium ATPase"),
        ("ions", "NH4+ and H(+)", "ammonium and proton"),
        (
            "ions",
            "CA2, CD4+, vitamin K+D, K+1, ca2+, MgCa2+",
            "CA2, CD4+, vitamin K+D, K+1, ca2+, MgCa2+",
        ),
        ("width", "H₂O Ca²⁺ ½", "H2O Ca2+ 1⁄2"),
        ("width", "a\tb\nc", "a\tb\nc"),
        ("width", "❤\ufe0f", "❤"),
        ("case", "HeArT", "heart"),
        ("case", "Straße", "strasse"),
        ("case", "TNF-ß", "tnf-β"),
        ("case", "ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("accents", "Ménière Sjögren", "Meniere Sjogren"),
        ("accents", "Bjørn Łódź Ægir œdème ð", "Bjorn Lodz AEgir oedeme d"),
        ("accents", "ガン", "ガン"),
        ("accents", "йод", "йод"),
        ("accents", "İ", "I"),
        ("greek", "α-synuclein", " alpha -synuclein"),
        ("greek", "5α-reductase", "5 alpha -reductase"),
        ("greek", "5alpha-reductase", "5 alpha-reductase"),
        ("greek", "alpha1-antitrypsin", "alpha 1-antitrypsin"),
        ("greek", "αβγ νόσος", "αβγ νόσος"),
        ("greek", "ϐ", "ϐ"),
        ("greek", "alphabet 1alphabet", "alphabet 1alphabet"),
        ("greek", "Δ", " delta "),
        ("possessive", "parkinson's disease", "parkinson disease"),
        ("possessive", "parkinson's", "parkinson"),
        ("possessive", "crohn s", "crohn"),
        ("possessive", "crohn s s disease", "crohn disease"),
        ("possessive", "bell s-palsies", "bell-palsies"),
        ("possessive", "cyclic s-oxides (s)-isomer", "cyclic s-oxides (s)-isomer"),
        ("possessive", "proteins' s", "proteins' s"),
        ("possessive", "protein s deficiency", "protein s deficiency"),
        ("possessive", "protein's", "protein"),
        ("possessive", "graves' disease", "graves' disease"),
        ("possessive", "hb s", "hb s"),
        ("possessive", "cats s1", "cats s1"),
        ("punctuation", "non-small-cell (a/b)", "non small cell  a b "),
        ("punctuation", "1.5 mg", "1 5 mg"),
        ("punctuation", "心、肺。€5", "心 肺  5"),
        ("whitespace", " a \t b\u3000c\x1cd ", "a b c d"),
        ("fillers", "cancer of the breast", "cancer breast"),
        ("fillers", "the", "the"),
        ("inversion", "Abdomen, Acute", "Acute Abdomen"),
        ("inversion", "Carcinoma, Squamous Cell, Oral", "Oral Squamous Cell Carcinoma"),
        ("inversion", "2,4-dinitrophenol", "2,4-dinitrophenol"),
        ("inversion", "Abdomen, ", "Abdomen"),
        ("order", "breast cancer  acute", "acute breast cancer"),
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
