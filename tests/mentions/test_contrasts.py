"""What speaks against a name: pairs of every kind, and pairs that say the same."""

from __future__ import annotations

import pytest

from canonym.mentions.contrasts import NOTHING, against, differs_in_meaning
from canonym.mentions.marks import marks
from tests.tables import cases

CONTRADICTIONS = """
opposite   | off coumadin                  | on Coumadin
sign       | K ↓                           | K ↑
sign       | ↓ bilirubin                   | ↑ bilirubin
sign       | WBC ⇩                         | WBC ⇧
sign       | ♂ pseudohermaphroditism       | ♀ pseudohermaphroditism
opposite   | low bilirubin                 | ↑ bilirubin
opposite   | Potassium ▲                   | decreased potassium
sign       | CD4−T cell                   | CD4+ T cell
sign       | Hepatitis B surface antigen - | Hepatitis B surface antigen +
sign       | Grade 1- reflex               | Grade 1+ reflex
sign       | CD4neg T cells                | CD4+ T cell
sign       | CD4lo T cell                  | CD4hi T cell
number     | Hemoglobin 15 g/dL            | Hemoglobin 1.5 g/dL
number     | 125-dihydroxyvitamin D        | 1,25-dihydroxyvitamin D
number     | Tumor 5 cm                    | Tumor 0.5 cm
ratio      | AV block 1:2                  | AV block 2:1
ratio      | AV block 21                   | AV block 2:1
ratio      | A/E ratio                     | E/A ratio
order      | Pancreatitis due to diabetes  | Diabetes due to pancreatitis
order      | Hypertension secondary to kidney disease | Kidney disease secondary to hypertension
order      | Venous to arterial shunt      | Arterial to venous shunt
order      | Depression more than anxiety  | Anxiety more than depression
order      | Mother of diabetic infant     | Infant of diabetic mother
order      | Right > left asymmetry        | Left > right asymmetry
order      | my back hurts                 | hurt my back
order      | our feet hurt                 | hurt our feet
order      | burning my stomach            | my stomach burning
order      | her eye twisted               | twisted her eye
opposite   | rt bundle branch block        | Left bundle branch block
opposite   | R bundle branch block         | Left bundle branch block
opposite   | dup(5q)                       | del(5q)
letter     | BRAF p.V600K                  | BRAF p.V600E
letter     | 5-HT2C agonist                | 5-HT2A agonist
prefix     | citalopram                    | Escitalopram
prefix     | ofloxacin                     | Levofloxacin
prefix     | adrenaline                    | Noradrenaline
sign        | PD-L1+ lung cancer            | PD-L1- lung cancer
sign        | ER-positive carcinoma         | ER- carcinoma
sign        | Gram -ve sepsis               | Gram-positive sepsis
sign        | (+)-catechin                  | (−)-catechin
sign        | (±)-epibatidine               | (-)-epibatidine
sign        | CD8⁺ T lymphocyte             | CD8− T lymphocyte
sign        | CD3+CD4- cell                 | CD3+CD4+ cell
sign        | HIV positive                  | HIV negative
sign        | Rh+ blood group               | Rh- blood group
comparison  | ejection fraction < 40        | ejection fraction > 40
comparison  | LDL ≥ 190                     | LDL ≤ 190
comparison  | age 65                        | age > 65
number      | interleukin 4                 | interleukin 5
number      | CD19 B cell                   | CD20 B cell
number      | chromosome 15q deletion       | chromosome 17q deletion
number      | spastic paraplegia 31         | spastic paraplegia 3
number      | Usher syndrome type IIA       | Usher syndrome type IIC
number      | stage I lymphoma              | stage II lymphoma
number      | grade three astrocytoma       | grade 4 astrocytoma
number      | first metatarsal              | second metatarsal
number      | BRCA1                         | BRCA2
number      | mucolipidosis III             | mucolipidosis IV
number      | translocation t(15;17)        | translocation t(11;17)
letter      | hemophilia A                  | hemophilia B
letter      | hepatitis delta               | hepatitis B
letter      | vitamin K deficiency          | vitamin E deficiency
letter      | apolipoprotein A              | apolipoprotein C
letter      | interferon α                  | interferon β
side        | left ventricular failure      | right ventricular failure
side        | bilateral deafness            | unilateral deafness
side        | right hip fracture            | fracture of left hip
opposite    | benign thymoma                | malignant thymoma
opposite    | chronic pancreatitis          | acute pancreatitis
opposite    | maternal uniparental disomy   | paternal uniparental disomy
opposite    | autosomal dominant ataxia     | autosomal recessive ataxia
opposite    | upper eyelid                  | lower eyelid
opposite    | increased bone density        | decreased bone density
opposite    | posterior uveitis             | anterior uveitis
opposite    | primary amenorrhea            | secondary amenorrhea
opposite    | congenital hypothyroidism     | acquired hypothyroidism
opposite    | distal myopathy               | proximal myopathy
opposite    | systolic murmur               | diastolic murmur
opposite    | open angle glaucoma           | closed angle glaucoma
opposite    | mild intellectual disability  | severe intellectual disability
opposite    | male infertility              | female infertility
opposite    | bacterial meningitis          | viral meningitis
opposite    | low calcium                   | hypercalcemia
opposite    | complete heart block          | partial heart block
prefix      | hyperthyroidism               | hypothyroidism
prefix      | prenatal death                | postnatal death
prefix      | microglossia                  | macroglossia
prefix      | intracranial pressure         | extracranial pressure
prefix      | tachycardia                   | bradycardia
prefix      | homozygous beta thalassemia   | heterozygous beta thalassemia
prefix      | neutropenia                   | neutrophilia
prefix      | typical absence               | atypical absence
prefix      | symptomatic gallstones        | asymptomatic gallstones
prefix      | supraventricular tachycardia  | subventricular tachycardia
prefix      | monosaturated                 | polysaturated
prefix      | pseudoretinitis pigmentosa    | retinitis pigmentosa
prefix      | preeclampsia                  | eclampsia
prefix      | paratyphoid fever             | typhoid fever
prefix      | thyrotroph adenoma            | thyroid adenoma
prefix      | antepartum haemorrhage        | post-partum haemorrhage
prefix      | femoral retroversion          | femoral anteversion
prefix      | intradural hematoma           | epidural hematoma
prefix      | mercurous chloride            | mercuric chloride
opposite    | coronary vein dissection      | coronary artery dissection
opposite    | narrow nasal bridge           | wide nasal bridge
opposite    | thick cortices                | thin cortices
opposite    | small sylvian cistern         | enlarged sylvian cistern
opposite    | increased vibration sense     | impaired vibration sense
opposite    | glutathione excess            | glutathione deficiency
opposite    | low cortisol                  | cortisol excess
opposite    | low cortisol                  | too much cortisol
opposite    | vancomycin-sensitive cocci    | vancomycin-resistant cocci
prime       | 5'-deoxyadenosine             | 5-deoxyadenosine
prime       | 3'-UTR                        | 3-UTR
prime       | N,N′-diphenyl                 | N,N-diphenyl
percent     | dextrose 5%                   | dextrose 5
negation    | no jaundice                   | Jaundice
negation    | denies nausea                 | Nausea
negation    | absence of menses             | Menses
negation    | free of pain                  | Pain
negation    | negative for malaria          | Malaria
negation    | COPD - not in exacerbation    | COPD with exacerbation
negation    | leukemia, not in remission    | leukemia in remission
negation    | hydrocephalus absent          | Hydrocephalus
negation    | sepsis ruled out              | Sepsis
negation    | ulcer without perforation     | ulcer with perforation
negation    | non-small cell carcinoma      | small cell carcinoma
negation    | smile                         | Absent smile
specimen    | glucose, urine                | glucose in blood
specimen    | CSF protein                   | serum protein
specimen    | potassium, serum              | urine potassium
species     | mouse hemoglobin              | human hemoglobin
species     | bovine insulin                | porcine insulin
karyotype   | 46,XX gonadal dysgenesis      | 46,XY gonadal dysgenesis
karyotype   | XXY male                      | XYY male
opposite    | normal ECG                    | Abnormal ECG
case        | MG                            | Mg
case        | can                           | CAN
case        | PGs                           | PGS
prefix      | eclampsia                     | Pre-eclampsia
prefix      | seizure                       | pseudo-seizure
prefix      | anal abscess                  | peri-anal abscess
prefix      | adjuvant therapy              | Neo-adjuvant therapy
prefix      | aortic node                   | Para-aortic node
prefix      | menopausal osteoporosis       | Post-menopausal osteoporosis
prefix      | traumatic seizure             | post-traumatic seizure
prefix      | natal care                    | pre-natal care
"""

AGREEMENTS = """
Her2                           | HER2
post-operative pain            | postoperative pain
para-aortic node               | paraaortic node
sub-acute pain                 | subacute pain
mTOR                           | MTOR
TNFa                           | TNFA
HBA1C                          | HbA1c
Shh                            | SHH
heart attack                   | Heart-Attack
HER2+ tumor                    | HER2-positive tumour
Ca2+ channel                   | calcium channel
collagen type I                | Collagen, Type 1
grade three glioma             | glioma grade 3
Crohn's disease                | Crohn disease
kidney failure                 | renal failure
α-cell                         | alpha cell
no speech                      | Absent speech
renal agenesis                 | absence of kidney
copd                           | COPD
FEVER                          | Fever
Covid-19                       | COVID-19
type 2 diabetes                | diabetes mellitus type II
breast cancer, left            | cancer of left breast
low potassium                  | hypokalemia
vitaminD                       | vitamin D
asthma + eczema                | asthma and eczema
NAD+ kinase                    | NAD kinase
non-toxic goiter               | Nontoxic goiter
pre-term labor                 | Preterm labor, unspecified
"""

RELATIONS = """
broader  | severe asthma                 | Asthma
broader  | recurrent urinary infection   | urinary infection
broader  | left knee pain                | knee pain
broader  | fever in children             | Fever
broader  | syncope                       | Syncope and collapse
broader  | Usher syndrome type 2         | Usher syndrome
broader  | mitomycin A                   | Mitomycin
narrower | asthma                        | Severe asthma
narrower | type 2 diabetes               | Type 2 diabetes mellitus without complications
narrower | menthol                       | (-)-menthol
narrower | hepatitis                     | Hepatitis A
narrower | inner ear                     | Diseases of inner ear
narrower | inner ear                     | Inner ear abnormality
narrower | heart                         | Heart Diseases
narrower | insulin                       | on insulin
narrower | child                         | with child
equal    | a fever                       | Fever
equal    | sepsis                        | Sepsis, unspecified organism
equal    | my finger was cut             | was cut my finger
equal    | pain in my back               | Pain in my back
equal    | His bundle                    | Bundle of His
equal    | gout                          | Gout (disorder)
equal    | Crohn                         | Crohn disease
equal    | angina                        | Angina pectoris
equal    | type 2 diabetes               | Type 2 diabetes mellitus
equal    | post-partum depression        | Postpartum depression
equal    | n,n'-dimethylurea             | N,N'-dimethylurea
equal    | factor deficiency due to liver deficiency | Factor deficiency due to liver deficiency
equal    | fracture of neck of femur     | neck of femur fracture
equal    | right > left asymmetry        | Right>left asymmetry
equal    | 10,000 units                  | 10000 units
equal    | hyperkalemia -                | Hyperkalemia
close    | prednisone                    | Prednisolone
close    | periocular dermatitis         | Perioral dermatitis
close    | malleus fracture              | Malleolus fracture
close    | selenate                      | Selenite
close    | plasminogen                   | Plasmin
close    | lipomatosis                   | Lipoma
close    | thrombocytopenia              | Thrombocytosis
close    | kidney failure                | Renal failure
close    | ocular hypertension           | blind hypertensive eye
related  | left knee pain                | right knee pain
"""


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.split("|")] for row in table.strip().splitlines()]


@pytest.mark.parametrize(("kind", "mention", "name"), _rows(CONTRADICTIONS))
def test_a_contradiction_is_told_by_its_kind_both_ways(kind: str, mention: str, name: str) -> None:
    for one, other in ((mention, name), (name, mention)):
        opposed = against(one, other)
        assert kind in {each.kind for each in opposed.contradictions}
        assert opposed.relation == "related"


@pytest.mark.parametrize(("mention", "name"), _rows(AGREEMENTS))
def test_other_words_for_the_same_do_not_contradict(mention: str, name: str) -> None:
    for one, other in ((mention, name), (name, mention)):
        assert against(one, other).contradictions == ()


@pytest.mark.parametrize(("relation", "mention", "name"), _rows(RELATIONS))
def test_words_too_many_and_too_few_say_what_the_concept_is(
    relation: str, mention: str, name: str
) -> None:
    assert against(mention, name).relation == relation


def test_the_same_string_has_nothing_against_it() -> None:
    assert against("HER2- (±)", "HER2- (±)") is NOTHING
    assert against("", "") is NOTHING


def test_the_case_of_gene_symbols_counts_where_there_are_species() -> None:
    assert against("PTEN", "Pten").contradictions == ()
    assert [each.kind for each in against("PTEN", "Pten", case_counts=True).contradictions] == [
        "case"
    ]


def test_marks_are_what_normal_forms_lose() -> None:
    assert marks("plain words, (with) brackets") == ()
    assert marks("HER2+") == marks("HER2 positive") != marks("HER2-")
    assert marks("BMI ≥ 30") == marks("BMI >= 30")
    assert differs_in_meaning("Gram + rods", "Gram - rods")
    assert not differs_in_meaning("Crohn's disease", "Crohns disease")


@cases("mention", "name", "contradicts")
def test_a_capital_s_at_the_end_of_a_short_form_is_one_of_its_letters(
    mention: str, name: str, contradicts: bool
) -> None:
    kinds = [contradiction.kind for contradiction in against(mention, name).contradictions]
    assert kinds == (["letter"] if contradicts else [])


@pytest.mark.parametrize("mention", ["mild ID", "mild xyz", "headache, mild"])
def test_qualifiers_alone_are_no_name_of_what_they_qualify(mention: str) -> None:
    (contradiction,) = against(mention, "Mild").contradictions
    assert (contradiction.kind, contradiction.name) == ("head", "mild")
    for same in ("mild severity", "mildly", "of mild degree", "Mild"):
        assert not against(same, "Mild").contradictions
    assert not against("mild asthma", "Asthma, mild").contradictions
    assert not against(mention, "...").contradictions  # a name without words


@cases("mention", "name")
def test_a_prefix_of_time_may_be_a_preposition(mention: str, name: str) -> None:
    assert not against(mention, name).contradictions
    assert not against(name, mention).contradictions
