"""Names that say so much more or less than a mention that they mean something else."""

from __future__ import annotations

import pytest

from canonym.mentions.additions import names_another
from canonym.mentions.contrasts import against

# A mention, and the name of another thing.
OTHERS = """
fibrinogen                  | Deficiency of factor I (fibrinogen)
ascorbic acid               | Ascorbic acid deficiency
E. coli                     | E coli infections
Mansonella                  | Infection due to Mansonella
venomous snake              | venomous snake bite
vestibule of mouth          | Malignant neoplasm of vestibule of mouth
septal cartilage            | Dislocation of septal cartilage
mammography                 | Mammographic density
heart assist device         | Presence of heart assist device
inner ear                   | Diseases of inner ear
chromosome segregation      | Abnormality of chromosome segregation
ECG                         | Abnormal electrocardiogram [ECG] [EKG]
visceral leishmaniasis      | Tegumentary leishmaniasis susceptibility
malaria                     | Malaria, resistance to
MRI                         | nonspecific abnormal findings on magnetic resonance imaging [MRI][NMR]
abnormality of epiglottis   | Epiglottitis
anomaly of the tonsil       | Tonsillitis
pseudoscleroderma           | Pseudosclerosis
leukoderma                  | Leukosis
surface electromyography    | Abnormal electromyogram [EMG]
blink reflex                | Deficient blink reflex
hypotonia                   | Congenital hypotonia
esotropia                   | Intermittent esotropia
laryngopharyngitis          | Acute laryngopharyngitis
neoplasm of anus            | cancer of the anus
appendiceal neoplasm        | Malignant appendiceal neoplasm
dysferlin                   | Dysferlinopathy
cryoglobulin                | Cryoglobulinemia
arthrosis                   | Arthritis
R-ibuprofen                 | Ibuprofen
Gaucher disease type 3      | Gaucher disease
MODY 3                      | MODY
mesenteric artery           | Mesenteric artery dissection
coumadin                    | on Coumadin
strangulation               | by strangulation
"""
# A mention, and a name that may well be meant.
SAME = """
wrist pain                  | Pain in wrist
on coumadin                 | on Coumadin
liver disease               | Disease of liver
Helicobacter pylori         | Helicobacter pylori [H. pylori] as the cause of diseases
weakness                    | Muscular weakness
type 2 diabetes             | Type 2 diabetes mellitus
Crohn                       | Crohn disease
Riley-Day syndrome          | Familial dysautonomia [Riley-Day]
MEN 2B                      | Multiple endocrine neoplasia [MEN] type IIB
melanoma                    | Malignant melanoma
COPD with exacerbation      | COPD with (acute) exacerbation
intravascular coagulation   | Intravascular coagulation [defibrination syndrome]
kidney disease              | Kidney dysplasia
renal tumor                 | Kidney neoplasm
clavulanate                 | Clavulanic acid
candidiasis                 | Candidosis
deafness                    | Hearing loss
severe asthma               | Asthma
asthma                      | Asthma (disorder)
sepsis                      | Sepsis, unspecified organism
carcinomsa                  | Carcinoma
type B hepatitis            | Hepatitis B
"""


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.split("|")] for row in table.strip().splitlines()]


@pytest.mark.parametrize(("mention", "name"), _rows(OTHERS))
def test_a_name_that_says_more_may_mean_another_thing(mention: str, name: str) -> None:
    assert names_another(against(mention, name), name)


@pytest.mark.parametrize(("mention", "name"), _rows(SAME))
def test_a_name_in_other_words_means_the_same(mention: str, name: str) -> None:
    assert not names_another(against(mention, name), name)
