"""Short names of organisms, drug lines, and what web pages leave in a text, from end to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym import Concept, Document, Linker, Mention, Name, Terminology
from canonym.exchange.auto_accept import can_auto_accept
from canonym.types import Link


def _linker(folder: Path, names: str) -> Linker:
    """An index of names, a line each; synonyms stand behind bars, the label is the id."""
    records: list[Concept | Name] = []
    for line in names.strip().splitlines():
        label, *synonyms = line.strip().split("|")
        records.append(Concept(label, label))
        records += [Name(synonym, label) for synonym in synonyms]
    return Linker.build(Terminology.build(records, folder / "terms.db"))


def _ids(link: Link) -> str:
    return "|".join(part.id or "NIL" for part in link.parts) or link.id or "NIL"


# --- organisms ------------------------------------------------------------------------------------

ORGANISMS = """
    Helicobacter pylori
    Pylorus
    Campylobacter jejuni
    Jejunum
    Streptococcus pneumoniae
    Klebsiella pneumoniae
    Streptococcus pyogenes
    Staphylococcus aureus|golden staph
    Staphylococcus epidermidis
    Escherichia coli
    Entamoeba coli
    Colitis
    Clostridioides difficile|Clostridium difficile
    Caenorhabditis elegans
    Cunninghamella elegans
    Toxoplasma gondii
    T cell
    Mycobacterium leprae
    Leprosy
    Plasmodium vivax
    P. vivax MSP1
    Pseudomonas aeruginosa
    Haemophilus influenzae
    Influenza
    Neisseria gonorrhoeae
    Treponema pallidum
    Globus pallidus
    Bartonella henselae
    Aspergillus fumigatus
    Candida albicans
    Albinism
    Saccharomyces cerevisiae
    Borrelia burgdorferi
    Trypanosoma cruzi
    Artemisia vulgaris
    Proteus vulgaris
    Phaseolus vulgaris
    Bordetella pertussis
    Listeria monocytogenes
    Tissierella praeacuta
"""


@pytest.fixture(scope="module")
def organisms(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    return _linker(tmp_path_factory.mktemp("organisms"), ORGANISMS)


@pytest.mark.parametrize(
    ("mention", "organism"),
    [
        ("H. pylori", "Helicobacter pylori"),
        ("H pylori", "Helicobacter pylori"),
        ("H.pylori", "Helicobacter pylori"),
        ("H. PYLORI", "Helicobacter pylori"),
        ("h. pylori", "Helicobacter pylori"),
        ("<i>H. pylori</i>", "Helicobacter pylori"),
        ("C. jejuni", "Campylobacter jejuni"),
        ("Campy. jejuni", "Campylobacter jejuni"),
        ("S. pneumoniae", "Streptococcus pneumoniae"),
        ("Strep pneumoniae", "Streptococcus pneumoniae"),
        ("Strep. pneumoniae", "Streptococcus pneumoniae"),
        ("K. pneumoniae", "Klebsiella pneumoniae"),
        ("K. pneumonia", "Klebsiella pneumoniae"),
        ("Kleb pneumoniae", "Klebsiella pneumoniae"),
        ("strep pyogenes", "Streptococcus pyogenes"),
        ("S.aureus", "Staphylococcus aureus"),
        ("Staph. aureus", "Staphylococcus aureus"),
        ("Staph aureus", "Staphylococcus aureus"),
        ("staph epidermidis", "Staphylococcus epidermidis"),
        ("S. epidermidis", "Staphylococcus epidermidis"),
        ("C. difficile", "Clostridioides difficile"),
        ("C difficile", "Clostridioides difficile"),
        ("C. diff", "Clostridioides difficile"),
        ("C diff", "Clostridioides difficile"),
        ("T. gondii", "Toxoplasma gondii"),
        ("Toxo. gondii", "Toxoplasma gondii"),
        ("M. leprae", "Mycobacterium leprae"),
        ("P. vivax", "Plasmodium vivax"),
        ("Ps. aeruginosa", "Pseudomonas aeruginosa"),
        ("P. aeruginosa", "Pseudomonas aeruginosa"),
        ("H. influenza", "Haemophilus influenzae"),
        ("N. gonorrhoeae", "Neisseria gonorrhoeae"),
        ("T. pallidum", "Treponema pallidum"),
        ("B. henselae", "Bartonella henselae"),
        ("A. fumigatus", "Aspergillus fumigatus"),
        ("C. albicans", "Candida albicans"),
        ("S. cerevisiae", "Saccharomyces cerevisiae"),
        ("B. burgdorferi", "Borrelia burgdorferi"),
        ("T. cruzi", "Trypanosoma cruzi"),
        ("A. vulgaris", "Artemisia vulgaris"),
        ("T. praeacuta", "Tissierella praeacuta"),  # in no list but the terminology's
        ("L. monocytogenes", "Listeria monocytogenes"),
        (
            "H. pylori, C. jejuni and T. cruzi",
            "Helicobacter pylori|Campylobacter jejuni|Trypanosoma cruzi",
        ),
        # As it is written it stays.
        ("P. vivax MSP1", "P. vivax MSP1"),
        ("Helicobacter pylori", "Helicobacter pylori"),
        ("golden staph", "Staphylococcus aureus"),
        ("T cell", "T cell"),
        ("Pylorus", "Pylorus"),
    ],
)
def test_organisms_by_initial_and_epithet(organisms: Linker, mention: str, organism: str) -> None:
    assert _ids(organisms.link([mention])[0]) == organism


@pytest.mark.parametrize(
    ("mention", "first", "other"),
    [
        ("E. coli", "Escherichia coli", "Entamoeba coli"),
        ("E coli", "Escherichia coli", "Entamoeba coli"),
        ("C. elegans", "Caenorhabditis elegans", "Cunninghamella elegans"),
        ("P. vulgaris", "Proteus vulgaris", "Phaseolus vulgaris"),
    ],
)
def test_several_genera_are_homonyms(
    organisms: Linker, mention: str, first: str, other: str
) -> None:
    link = organisms.link([mention], k=3)[0]
    assert [one.id for one in link.candidates[:2]] == [first, other]
    assert not can_auto_accept(link)
    (only,) = organisms.link([mention], k=1)[0].candidates
    assert only.id == first


@pytest.mark.parametrize(
    ("mention", "text", "organism"),
    [
        ("E. coli", "Entamoeba coli is harmless. E. coli was seen in stool.", "Entamoeba coli"),
        ("E. coli", "Escherichia coli (strain K12). E. coli grew.", "Escherichia coli"),
        (
            "C. elegans",
            "Moulds such as Cunninghamella grew. C. elegans was cultured.",
            "Cunninghamella elegans",
        ),
        (
            "P. vulgaris",
            "Seeds of Phaseolus were sown, and P. vulgaris grew.",
            "Phaseolus vulgaris",
        ),
        # An organism of the text that is not there is not replaced by another one.
        ("S. pneumoniae", "Salmonella pneumoniae was isolated; S. pneumoniae grew.", "NIL"),
    ],
)
def test_the_text_writes_the_genus_out(
    organisms: Linker, mention: str, text: str, organism: str
) -> None:
    found = Mention(mention, text.rindex(mention), text.rindex(mention) + len(mention))
    ((_, links),) = organisms.link_documents([Document("1", text, (found,))])
    assert _ids(links[0]) == organism
    assert _ids(organisms.link([Mention(mention, context=text)])[0]) == _ids(links[0])


DISEASES = """
    Helicobacter pylori infection
    Pyloric stenosis
    Escherichia coli meningitis
    Meningitis
    Clostridium difficile colitis
    E. cuniculi encephalitis
    P. vivax malaria
    Acne vulgaris
    Tinea capitis
    Systemic lupus erythematosus
    Myasthenia gravis
    Mycoplasma pneumonia
    Hepatitis B virus infection
    Vitamin A deficiency
    Coagulation factor V deficiency
    Glucose-6-phosphate dehydrogenase deficiency
    Left ventricular hypertrophy
    T-cell lymphoma
    B lymphoblastic leukemia
"""


@pytest.fixture(scope="module")
def diseases(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    return _linker(tmp_path_factory.mktemp("diseases"), DISEASES)


@pytest.mark.parametrize(
    ("mention", "disease"),
    [
        ("H. pylori infection", "Helicobacter pylori infection"),
        ("infections, H. pylori", "Helicobacter pylori infection"),
        ("E. coli meningitis", "Escherichia coli meningitis"),
        ("C. diff colitis", "Clostridium difficile colitis"),
        ("c difficile colitis", "Clostridium difficile colitis"),
        ("Plasmodium vivax malaria", "P. vivax malaria"),
        ("Encephalitozoon cuniculi encephalitis", "E. cuniculi encephalitis"),
        ("M. gravis", "Myasthenia gravis"),
        ("Hepatitis B virus infection", "Hepatitis B virus infection"),
        ("vitamin A deficiency", "Vitamin A deficiency"),
        ("B lymphoblastic leukaemia", "B lymphoblastic leukemia"),
        ("mycoplasma pneumonia", "Mycoplasma pneumonia"),
        ("acne vulgaris", "Acne vulgaris"),
        ("factor V deficiency", "Coagulation factor V deficiency"),
    ],
)
def test_organisms_in_names_of_diseases(diseases: Linker, mention: str, disease: str) -> None:
    assert _ids(diseases.link([mention])[0]) == disease


@pytest.mark.parametrize(
    "mention", ["H. pylori", "M. leprae", "C. jejuni", "S. aureus", "P. falciparum", "T. gondii"]
)
def test_an_organism_that_is_not_there_is_nothing_else(tmp_path: Path, mention: str) -> None:
    anatomy = _linker(tmp_path, "Pylorus\nJejunum\nLeprosy\nAureole\nFalx\nGonad")
    link = anatomy.link([mention])[0]
    assert link.nil
    assert link.reason == f"no name has the genus or the epithet of {mention!r}"


def test_the_step_is_recorded(organisms: Linker) -> None:
    link = organisms.link(["Staph. aureus"])[0]
    step = link.steps[0]
    assert (step.name, step.before, step.after) == (
        "genus",
        "Staph. aureus",
        "Staphylococcus aureus",
    )
    assert not can_auto_accept(organisms.link(["C. elegans"], k=2)[0])


def test_names_of_an_index_taken_over_are_read_again(tmp_path: Path) -> None:
    one = Terminology.build([Concept("1", "Tissierella praeacuta")], tmp_path / "one.db")
    both = [Concept("1", "Tissierella praeacuta"), Concept("2", "Blautia producta")]
    two = Terminology.build(both, tmp_path / "two.db")
    Linker.build(one, folder=tmp_path / "one")
    again = Linker.build(two, folder=tmp_path / "again")
    assert [_ids(link) for link in again.link(["T. praeacuta", "B. producta"])] == ["1", "2"]
    reused = Linker.build(two, folder=tmp_path / "reused", reuse=tmp_path / "one")
    assert [_ids(link) for link in reused.link(["T. praeacuta", "B. producta"])] == ["1", "2"]
    files = sorted(path.name for path in (tmp_path / "again" / "binomials").iterdir())
    for name in files:
        same = (tmp_path / folder / "binomials" / name for folder in ("again", "reused"))
        assert len({path.read_bytes() for path in same}) == 1


# --- drug lines -----------------------------------------------------------------------------------

DRUGS = """
    Metformin|Metformin hydrochloride
    Acetaminophen|Paracetamol
    Aspirin
    Ibuprofen|Ibuprofen sodium
    Atorvastatin
    Lipitor
    Omeprazole
    Amoxicillin
    Clavulanate
    Enoxaparin sodium
    Insulin glargine
    Sumatriptan
    Albuterol|Salbutamol
    Hydrocortisone
    Clotrimazole
    Amlodipine
    Benazepril hydrochloride
    Losartan
    Hydrochlorothiazide
    Lisinopril
    Cyanocobalamin|Vitamin B12
    Heparin
    Fentanyl
    Prednisone
    Latanoprost
    Fluorouracil|5-fluorouracil
    Potassium chloride
    Penicillin G
    Serotonin|5-HT
    Calcitriol|1,25-dihydroxyvitamin D3
    Lactated Ringer's solution
    Testosterone gel
    Blood
    Joint capsule
    Hemoglobin A1c
    Glucose
    Warfarin
    Maple
"""


@pytest.fixture(scope="module")
def drugs(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    return _linker(tmp_path_factory.mktemp("drugs"), DRUGS)


@pytest.mark.parametrize(
    ("mention", "drug"),
    [
        ("METFORMIN /00082702/", "Metformin"),
        ("PARACETAMOL (00020001)", "Acetaminophen"),
        ("ASPIRIN {00002701}", "Aspirin"),
        ("IBUPROFEN [00109201]", "Ibuprofen"),
        ("IBUPROFEN /00109201001/", "Ibuprofen"),
        ("Aspirin (000027.01.001)", "Aspirin"),
        ("Ibuprofen 600 mg tab", "Ibuprofen"),
        ("metformin 500mg bid", "Metformin"),
        ("0.4 ML enoxaparin sodium 100 MG/ML Prefilled Syringe", "Enoxaparin sodium"),
        ("24 HR metformin hydrochloride 500 MG Extended Release Oral Tablet", "Metformin"),
        ("atorvastatin 20 MG Oral Tablet [Lipitor]", "Atorvastatin"),
        ("Omeprazole 20mg gastro-resistant capsules", "Omeprazole"),
        ("Amoxicillin 250mg/5ml oral suspension sugar free", "Amoxicillin"),
        ("3 ML insulin glargine 100 UNT/ML Pen Injector [Lantus]", "Insulin glargine"),
        ("hydrocortisone 10 MG/ML Topical Cream", "Hydrocortisone"),
        ("1 ACTUAT sumatriptan 20 MG Nasal Spray", "Sumatriptan"),
        ("200 ACTUAT albuterol 0.09 MG/ACTUAT Metered Dose Inhaler", "Albuterol"),
        ("Salbutamol 100micrograms/dose inhaler CFC free", "Albuterol"),
        ("Aspirin 75mg dispersible tablets sugar free", "Aspirin"),
        ("Metformin 500mg modified-release tablets", "Metformin"),
        ("Paracetamol 500mg tablets (Hill & Sons Pharmaceuticals Ltd)", "Acetaminophen"),
        ("vitamin B12 1000 mcg injection", "Cyanocobalamin"),
        ("clotrimazole 1% cream", "Clotrimazole"),
        ("latanoprost 0.005% eye drops", "Latanoprost"),
        ("heparin 5,000 units/ml solution for injection", "Heparin"),
        ("fentanyl 0.025 MG/HR Transdermal System", "Fentanyl"),
        ("take 1 tablet prednisone 5 mg by mouth twice daily", "Prednisone"),
        ("5-fluorouracil 500 mg", "Fluorouracil"),
        ("potassium chloride 20 mEq", "Potassium chloride"),
        ("penicillin G 5 million units", "Penicillin G"),
        ("warfarin 5mg PO qd", "Warfarin"),
        ("warfarin tabs", "Warfarin"),
        ("albuterol prn", "Albuterol"),
        ("Ibuprofin 400 mg tablets", "Ibuprofen"),
        ("lactated Ringer's solution 500 ml", "Lactated Ringer's solution"),
        ("testosterone gel 50 mg", "Testosterone gel"),
        (
            "amlodipine 5 MG / benazepril hydrochloride 10 MG Oral Capsule",
            "Amlodipine|Benazepril hydrochloride",
        ),
        ("amoxicillin/clavulanate 875/125 mg", "Amoxicillin|Clavulanate"),
        ("losartan-hydrochlorothiazide 50-12.5 mg tablet", "Losartan|Hydrochlorothiazide"),
        ("aspirin 81 mg, lisinopril 10 mg, metformin 500 mg", "Aspirin|Lisinopril|Metformin"),
        ("aspirin 81 mg + atorvastatin 40 mg", "Aspirin|Atorvastatin"),
        ("hydrocortisone 1% and clotrimazole cream", "Hydrocortisone|Clotrimazole"),
        # Numbers and words that are parts of names.
        ("vitamin B12", "Cyanocobalamin"),
        ("5-HT", "Serotonin"),
        ("1,25-dihydroxyvitamin D3", "Calcitriol"),
        ("hemoglobin A1c", "Hemoglobin A1c"),
        ("joint capsule", "Joint capsule"),
    ],
)
def test_drug_lines(drugs: Linker, mention: str, drug: str) -> None:
    assert _ids(drugs.link([mention])[0]) == drug


@pytest.mark.parametrize(
    "mention",
    [
        "epidural blood patch",
        "glucose 180 mg/dl",
        "glucose > 10 mmol",
        "maple syrup urine disease",
        "aspirin 75",
        "aspirin-exacerbated respiratory disease",
    ],
)
def test_what_is_no_drug_line_is_not_cleaned(drugs: Linker, mention: str) -> None:
    link = drugs.link([mention])[0]
    assert all(step.name != "drug line" for step in link.steps)
    assert not any(one.sieve == "verbatim" for one in link.candidates)


STRENGTHS = """
    Ibuprofen
    Ibuprofen 600 MG Oral Tablet
    Ibuprofen 800 MG Oral Tablet
    Amlodipine
    Benazepril
    Amlodipine 5 MG / benazepril 10 MG Oral Capsule
    Codeine / paracetamol
    Codeine
    Paracetamol
"""


@pytest.mark.parametrize(
    ("mention", "concept"),
    [
        ("Ibuprofen 600 MG Oral Tablet", "Ibuprofen 600 MG Oral Tablet"),
        ("ibuprofen 600 MG oral tablets", "Ibuprofen 600 MG Oral Tablet"),
        ("ibuprofen 600mg tab", "Ibuprofen 600 MG Oral Tablet"),
        ("ibuprofen 800mg tab", "Ibuprofen 800 MG Oral Tablet"),
        ("ibuprofen 200mg tab", "Ibuprofen"),  # no other strength
        (
            "amlodipine 5 MG / benazepril 10 MG Oral Capsule",
            "Amlodipine 5 MG / benazepril 10 MG Oral Capsule",
        ),
        (
            "amlodipine 5 mg / benazepril 10 mg cap",
            "Amlodipine 5 MG / benazepril 10 MG Oral Capsule",
        ),
        ("amlodipine 2.5 mg / benazepril 10 mg cap", "Amlodipine|Benazepril"),
        ("paracetamol 500 mg / codeine 30 mg tablets", "Codeine / paracetamol"),
    ],
)
def test_names_with_a_strength_win(tmp_path: Path, mention: str, concept: str) -> None:
    assert _ids(_linker(tmp_path, STRENGTHS).link([mention])[0]) == concept


def test_steps_of_a_drug_line_are_recorded(drugs: Linker) -> None:
    link = drugs.link(["Ibuprofin 400 mg tablets"])[0]
    assert [step[:3] for step in link.steps[:2]] == [
        ("drug line", "Ibuprofin 400 mg tablets", "Ibuprofin"),
        ("correction", "Ibuprofin", "ibuprofen"),
    ]
    link = drugs.link(["amoxicillin/clavulanate 875/125 mg"])[0]
    steps = link.parts[0].steps[:2]
    assert [step.name for step in steps] == ["drug line", "composite"]
    assert steps[1].after == "amoxicillin | clavulanate"
    brand = drugs.link(["quxatinib 20 MG Oral Tablet [Lipitor]"])[0]
    assert (brand.id, brand.steps[0].name) == ("Lipitor", "drug line")


# --- web pages ------------------------------------------------------------------------------------

WRITTEN = """
    Ménière disease
    Sjögren syndrome
    Behçet syndrome
    H2O2
    Graves disease
    β-thalassemia
    Interferon-γ
    Crohn’s disease
    Guillain-Barré syndrome
    Helicobacter pylori
    p < 0.05
    Pneumonia & sepsis
    CO2
    naïve T cell
    Waldenström macroglobulinemia
    Löffler syndrome
    H-2D
    Ca2+ channel
    Pneumonia
    Fever
    Ohtahara&nbsp;syndrome
    M&uuml;llerian duct
    Kawasaki<sup>1</sup> disease
    HÃ¼rthle cell
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    return _linker(tmp_path_factory.mktemp("written"), WRITTEN)


@pytest.mark.parametrize(
    ("mention", "concept"),
    [
        ("M&eacute;ni&egrave;re's disease", "Ménière disease"),
        ("Me&#769;nie&#768;re disease", "Ménière disease"),
        ("MÃ©niÃ¨re disease", "Ménière disease"),
        ("MÃƒÂ©niÃƒÂ¨re disease", "Ménière disease"),
        ("Sj&ouml;gren syndrome", "Sjögren syndrome"),
        ("Sj&#246;gren syndrome", "Sjögren syndrome"),
        ("Sj&amp;ouml;gren syndrome", "Sjögren syndrome"),
        ("SjÃ¶gren syndrome", "Sjögren syndrome"),
        ("<b>Sjögren</b>&nbsp;syndrome", "Sjögren syndrome"),
        ("Beh&ccedil;et syndrome", "Behçet syndrome"),
        ("BehÃ§et syndrome", "Behçet syndrome"),
        ("H<sub>2</sub>O<sub>2</sub>", "H2O2"),
        ("H<SUB>2</SUB>O<SUB>2</SUB>", "H2O2"),
        ("CO<sub>2</sub>", "CO2"),
        ("&beta;-thalassemia", "β-thalassemia"),
        ("&#946;-thalassemia", "β-thalassemia"),
        ("&#x3b2;-thalassemia", "β-thalassemia"),
        ("Î²-thalassemia", "β-thalassemia"),
        ("interferon-&gamma;", "Interferon-γ"),
        ("interferon-Î³", "Interferon-γ"),
        ("Crohn&rsquo;s disease", "Crohn’s disease"),
        ("Crohn&#39;s disease", "Crohn’s disease"),
        ("Crohnâ€™s disease", "Crohn’s disease"),
        ("Crohnâ\x80\x99s disease", "Crohn’s disease"),
        ("CrohnÃ¢â‚¬â„¢s disease", "Crohn’s disease"),
        ("Guillain&ndash;Barr&eacute; syndrome", "Guillain-Barré syndrome"),
        ("Guillainâ€“BarrÃ© syndrome", "Guillain-Barré syndrome"),
        ("<i>Helicobacter pylori</i>", "Helicobacter pylori"),
        ("&lt;i&gt;Helicobacter pylori&lt;/i&gt;", "Helicobacter pylori"),
        ("<i>H. pylori</i>", "Helicobacter pylori"),
        ("na&iuml;ve T cell", "naïve T cell"),
        ("naÃ¯ve T cell", "naïve T cell"),
        ("WaldenstrÃ¶m macroglobulinemia", "Waldenström macroglobulinemia"),
        ("L&ouml;ffler syndrome", "Löffler syndrome"),
        ("Ca<sup>2+</sup> channel", "Ca2+ channel"),
        ('<span class="x">Graves</span> disease', "Graves disease"),
        ("Graves<br/>disease", "Graves disease"),
        ("p &lt; 0.05", "p < 0.05"),
        ("Pneumonia &amp; sepsis", "Pneumonia & sepsis"),
        # The names of a terminology have been on web pages too.
        ("Ohtahara syndrome", "Ohtahara&nbsp;syndrome"),
        ("Müllerian duct", "M&uuml;llerian duct"),
        ("MÃ¼llerian duct", "M&uuml;llerian duct"),
        ("Hürthle cell", "HÃ¼rthle cell"),
        ("Kawasaki1 disease", "Kawasaki<sup>1</sup> disease"),
    ],
)
def test_what_web_pages_leave(written: Linker, mention: str, concept: str) -> None:
    link = written.link([mention])[0]
    assert _ids(link) == concept
    assert link.candidates[0].sieve != "search"


def test_what_is_undone_is_recorded(written: Linker) -> None:
    link = written.link(["<i>MÃ©ni&egrave;re</i> disease"])[0]
    assert [step.name for step in link.steps[:3]] == ["entities", "markup", "encoding"]
    assert link.searched == "Ménière disease"
    assert can_auto_accept(written.link(["SjÃ¶gren syndrome"], k=2)[0])
