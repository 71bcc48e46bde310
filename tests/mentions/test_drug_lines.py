"""What shows that a mention is a drug line, and the names in it."""

from __future__ import annotations

import csv
import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.drug_lines import drug_line, is_drug_line, is_same_line


@pytest.mark.parametrize(
    ("line", "drugs"),
    [
        ("gabapentin 300 tid", "gabapentin"),
        ("quetiapine 25 qhs", "quetiapine"),
        ("bupropion XL 150", "bupropion"),
        ("nifedipine ER 30", "nifedipine"),
        ("omeprazole 20 mg DR capsule", "omeprazole"),
        ("ondansetron ODT 4mg", "ondansetron"),
        ("albuterol HFA inhaler 2 puffs prn", "albuterol"),
        ("fluticasone 2 sprays daily", "fluticasone"),
        ("warfarin 5 mg as directed", "warfarin"),
        ("lorazepam 0.5 mg prn anxiety", "lorazepam"),
        ("trazodone 50 qhs prn sleep", "trazodone"),
        ("oxycodone 5 mg prn for pain", "oxycodone"),
        ("timolol 0.5% ophth soln", "timolol"),
        ("METFORMIN /00082702/", "METFORMIN"),
        ("/00082702/ METFORMIN", "METFORMIN"),
        ("PARACETAMOL (00020001)", "PARACETAMOL"),
        ("IBUPROFEN [00109201]", "IBUPROFEN"),
        ("IBUPROFEN [ 00109201001 ]", "IBUPROFEN"),
        ("ASPIRIN {00002701}", "ASPIRIN"),
        ("ASPIRIN |00002701|", "ASPIRIN"),
        ("Aspirin (000027.01.001)", "Aspirin"),
        ("24 HR metformin 500 MG Extended Release Oral Tablet", "metformin"),
        ("0.4 ML enoxaparin sodium 100 MG/ML Prefilled Syringe", "enoxaparin sodium"),
        ("0.4 ML enoxaparin sodium 100 MG/ML Prefilled Syringe [Lovenox]", "enoxaparin sodium"),
        ("3 ML insulin glargine 100 UNT/ML Pen Injector [Lantus]", "insulin glargine"),
        ("hydrocortisone 10 MG/ML Topical Cream", "hydrocortisone"),
        ("ondansetron 2 MG/ML Injectable Solution", "ondansetron"),
        ("1 ACTUAT sumatriptan 20 MG Nasal Spray", "sumatriptan"),
        ("NDA020503 200 ACTUAT albuterol 0.09 MG/ACTUAT Metered Dose Inhaler", "albuterol"),
        ("72 HR fentanyl 0.025 MG/HR Transdermal System", "fentanyl"),
        ("ondansetron 4 MG Disintegrating Oral Tablet", "ondansetron"),
        ("Omeprazole 20mg gastro-resistant capsules", "Omeprazole"),
        ("Amoxicillin 250mg/5ml oral suspension sugar free", "Amoxicillin"),
        ("Aspirin 75mg dispersible tablets sugar free", "Aspirin"),
        ("Metformin 500mg modified-release tablets", "Metformin"),
        ("Salbutamol 100micrograms/dose inhaler CFC free", "Salbutamol"),
        (
            "Adrenaline 500micrograms/0.5ml (1 in 1,000) solution for injection ampoules",
            "Adrenaline",
        ),
        (
            "Insulin glargine 100units/ml solution for injection 3ml pre-filled disposable devices",
            "Insulin glargine",
        ),
        ("Ibuprofen 600 mg tab", "Ibuprofen"),
        ("metformin hcl 500mg bid", "metformin hcl"),
        ("metoprolol ER 25 mg", "metoprolol"),
        ("nitroglycerin 0.4 mg SL", "nitroglycerin"),
        ("furosemide 40 mg IV", "furosemide"),
        ("amoxicillin/clavulanate 875/125 mg", "amoxicillin|clavulanate"),
        ("oxycodone-acetaminophen 5-325 mg tablet", "oxycodone|acetaminophen"),
        ("ipratropium/albuterol inhaler", "ipratropium|albuterol"),
        ("amlodipine 5 MG / benazepril 10 MG Oral Capsule", "amlodipine|benazepril"),
        ("A-drug 5 MG / B-drug 10 MG / C-drug 2 MG Oral Tablet", "A-drug|B-drug|C-drug"),
        ("aspirin 81 mg; lisinopril 10 mg", "aspirin|lisinopril"),
        ("aspirin 81 mg\nlisinopril 10 mg", "aspirin|lisinopril"),
        ("penicillin G 5 million units", "penicillin G"),
        ("vitamin D3 5000 IU", "vitamin D3"),
        ("vitamin B12 1000 mcg", "vitamin B12"),
        ("5-fluorouracil 500 mg", "5-fluorouracil"),
        ("omega-3 1 g", "omega-3"),
        ("co-trimoxazole 960 mg tablets", "co-trimoxazole"),
        ("clotrimazole 1% cream", "clotrimazole"),
        ("timolol eye drops", "timolol"),
        ("ferrous sulfate tablets", "ferrous sulfate"),
        ("potassium chloride 20 mEq", "potassium chloride"),
        ("cefazolin 1 G", "cefazolin"),
        ("radiotherapy 50 Gy", "radiotherapy"),
        ("insulin 10 u", "insulin"),
        ("albuterol prn", "albuterol"),
        ("warfarin 5mg PO qd", "warfarin"),
        ("take 1 tablet metoprolol 25 mg by mouth twice daily", "metoprolol"),
    ],
)
def test_names_in_drug_lines(line: str, drugs: str) -> None:
    found = drug_line(line)
    assert found is not None
    assert found.drugs == tuple(drugs.split("|"))


_NO_LINES = (
    "vitamin B12|type 2|5-HT|10 mg|hemoglobin A1c|factor 8|COVID-19|1.25-dihydroxyvitamin"
    "|1,25-dihydroxyvitamin D3|aspirin|aspirin 75|glucose 180 mg/dl|potassium 5.5 mEq/L"
    "|TSH 5 mIU/L|albumin/creatinine ratio 300 mg/g|hemoglobin 7 g/dL|ALT 100 U/L"
    "|vitamin D 20 ng/mL|birth weight < 1500 g|birth weight less than 2500 g"
    "|joint capsule|internal capsule|lens capsule|epidural blood patch|patch test"
    "|gel electrophoresis|maple syrup urine disease|ice cream|testosterone gel|eye patch"
    "|central nervous system|intramuscular injection|oral cancer|oral white patch"
    "|eye drops|prefilled syringe|tablet|inhaler|vaginal ring|nasal polyps|drop attacks"
    "|BID protein|ER positive breast cancer|SR protein|protein 4.1G|stage 2 breast cancer"
    "|IL-2|p53|interleukin 10|CD4|HLA-B27|chromosome 5|46,XX|trisomy 21|grade 3 toxicity"
    "|blood pressure 120/80|burn 20%|ejection fraction 40%|tumor 3 cm|headache (12345)"
    "|dermatitis due to eye drops|2 mg/kg|sustained attention|2-week-old|T1N0M0|H1N1"
    "|angiotensin 1-7|omega-3 fatty acids|coenzyme Q10|carbon 14|no tablets|"
)


@pytest.mark.parametrize("text", _NO_LINES.split("|"))
def test_no_drug_lines(text: str) -> None:
    assert drug_line(text) is None


def test_other_writings() -> None:
    line = drug_line("garlic powder 100 mg tablets [Kwai]")
    assert line is not None
    assert line.formed == ("garlic powder tablets", "garlic powder")
    assert (line.whole, line.brand) == ("garlic", "Kwai")
    line = drug_line("lactated Ringer's solution 500 ml")
    assert line is not None
    assert line.formed[0] == "lactated Ringer's solution"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("ibuprofen 600mg tab", "Ibuprofen 600 MG Oral Tablet", True),
        ("a-drug 5 mg / b-drug 10 mg", "B-drug 10 MG / A-drug 5 MG Oral Tablet", True),
        ("insulin 1,000 units", "insulin 1000 UNT", True),
        ("ibuprofen 600mg tab", "Ibuprofen 800 MG Oral Tablet", False),
        ("ibuprofen 600mg tab", "Aspirin 600 MG Oral Tablet", False),
        ("ibuprofen 600mg tab", "Ibuprofen", False),
        ("ibuprofen", "ibuprofen", False),
    ],
)
def test_same_lines(one: str, other: str, same: bool) -> None:
    assert is_same_line(one, other) == same == is_same_line(other, one)


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_string(text: str) -> None:
    line = drug_line(text)
    assert line is None or (all(line.drugs) and is_drug_line(text))


@pytest.mark.parametrize("unit", ["1", "1,", "1 mg ", "5 mg / a ", "oral ", "tab, ", "( ", "1-"])
def test_time_grows_with_length_only(unit: str) -> None:
    start = time.perf_counter()
    drug_line(unit * (300 // len(unit)))
    assert is_drug_line("x" * 100_000) is False
    assert time.perf_counter() - start < 2


def test_names_of_drugs_are_no_drug_lines(data) -> None:  # type: ignore[no-untyped-def]
    path = data / "drugbank-vocabulary" / "drugbank_vocabulary.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        names = [row["Common name"] for row in csv.DictReader(lines)]
    lines_among = [name for name in names if drug_line(name)]
    assert len(names) > 10_000
    assert len(lines_among) < 0.001 * len(names)
