"""Slips that people make, and words that a terminology lacks."""

from __future__ import annotations

import pytest

from canonym.mentions.slips import is_likely_slip

SLIPS = """
amoxicilin | amoxicillin
tonsilitis | tonsillitis
pnuemonia | pneumonia
diabetus | diabetes
disitis | discitis
warfrin | warfarin
gastritus | gastritis
ibuprofin | ibuprofen
hypertensoin | hypertension
diskitis | discitis
diabitis | diabetes
hypertention | hypertension
concution | concussion
hemmorhage | hemorrhage
hemmorhoids | hemorrhoids
neumonia | pneumonia
soriasis | psoriasis
myofacial pain | myofascial pain
abducens nerve injury | abducent nerve injury
hart attack | heart attack
chest plain | chest pain
diahrea | diarrhea
schizofrenia | schizophrenia
rhuematoid | rheumatoid
carbamezipine | carbamazepine
metastase | metastases
migrane | migraine
hipertension | hypertension
abductoin | abduction
oedama | oedema
weight increased | weight increase
alzhiemers disease | alzheimer disease
angiotension ii | angiotensin ii
"""
WORDS = """
lanoxin | lanolin
coumadin | coumarin
digitonin | digitoxin
enema | edema
fusaric acid | fumaric acid
dystonin | dystonia
epistasis | epistaxis
elevator | levator
shale | scale
fibrosis | fibroids
malaria | malacia
unclear cataract | nuclear cataract
serious otitis media | serous otitis media
injection of the urinary tract | infection of the urinary tract
sucrase | sucrose
ethanal | ethanol
dimethylamine | diethylamine
costs | cysts
hbcag | hbsag
strike | stroke
anura | aura
ketose | ketosis
hypertensin | hypertension
hypertension | hypertensin
hemolysins | hemolysis
myocytes | myositis
exocytosis | exostosis
ureteritis | urethritis
microgyria | macrogyria
hemithorax | hemothorax
aduction of the upper arm | abduction of the upper arm
hypkalemia | hypokalemia
peroral | perioral
"""


def _pairs(table: str) -> list[list[str]]:
    return [line.split(" | ") for line in table.strip().splitlines()]


@pytest.mark.parametrize(("written", "meant"), _pairs(SLIPS))
def test_what_is_left_out_doubled_swapped_or_sounds_alike_is_a_slip(
    written: str, meant: str
) -> None:
    assert is_likely_slip(written, meant)


@pytest.mark.parametrize(("written", "meant"), _pairs(WORDS))
def test_another_consonant_or_beginning_or_a_word_of_english_is_none(
    written: str, meant: str
) -> None:
    assert not is_likely_slip(written, meant)
