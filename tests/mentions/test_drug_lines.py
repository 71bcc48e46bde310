"""What shows that a mention is a drug line, and the names in it."""

from __future__ import annotations

import csv
import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.drug_lines import drug_line, is_drug_line, is_same_line
from tests.tables import cases


@cases("line", "drugs")
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


@cases("one", "other", "same")
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
