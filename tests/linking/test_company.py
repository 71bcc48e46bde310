"""A row depends on its text alone: batches, orders and companions change no digit of a link."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from canonym import Linker, Terminology
from canonym.bulk.batch import link_table
from canonym.linking.hits import KnownHits
from canonym.linking.links import KnownLinks
from tests.linkers import concepts

RECORDS = concepts(
    "ICD10CM:I10|Essential (primary) hypertension|hypertension|HTN",
    "ICD10CM:E11.9|Type 2 diabetes mellitus without complications",
    "ICD10CM:E11.65|Type 2 diabetes mellitus with hyperglycemia",
    "ICD10CM:E11|Type 2 diabetes mellitus|adult-onset diabetes",
    "ICD10CM:J45|Asthma|bronchial asthma",
    "ICD10CM:M10.9|Gout, unspecified|gouty arthritis",
    "ICD10CM:B59|Pneumocystosis|pneumocystis pneumonia",
    "ICD10CM:F19.1|Phencyclidine abuse|PCP",
    "ICD10CM:G35|Multiple sclerosis",
    "ICD10CM:I05.0|Rheumatic mitral stenosis|mitral stenosis",
    "ICD10CM:D51.0|Vitamin B12 deficiency anemia|B12 deficiency",
    "ICD10CM:R50.9|Fever, unspecified|pyrexia",
    "ICD10CM:Z82.5|Family history of asthma",
)
CODES = (
    *("I10", "E11.65", "e119", "ICD-10 J45", "ICD10CM:M10.9", "E11.999", "B12", "G35", "I05.0"),
    *("J45 - asthma", "gout (M10.9)", "I10 asthma", "Z99.9"),
)
NAMES = (
    *("asthma", "gout", "fever", "hypertensoin", "bronchial asthma", "diabetes type 2", "migraine"),
    *("HTN", "PCP", "MS", "severe MS", "B12 deficiency", "mitral stenosis", "T2DM", "asthmas"),
    *("pneumocystis pneumonia", "multiple sclerosis", "phencyclidine abuse", "gouty arthrits"),
)
STATUSES = (
    "no {}",
    "h/o {}",
    "FHx {}",
    "?{}",
    "{} - neg",
    "r/o {}",
    "possible {}",
    "-{}",
    "s/p {}",
)
JOINTS = (", ", " and ", "; ", "/", " + ", "\n", " & ", " ", " or ", " | ", ",")


def drawn(rng: random.Random) -> list[str]:
    """Return a cell and what is in it."""
    pieces = rng.sample((*CODES, *NAMES), rng.randint(1, 3))
    said = [rng.choice((*STATUSES, "{}", "{}", "{}")).format(piece) for piece in pieces]
    return [rng.choice(JOINTS).join(said), *said, *pieces]


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(RECORDS))


def links_of(linker: Linker, cells: list[str], **options: Any) -> list[dict[str, Any]]:
    """Link cells by a linker that remembers nothing."""
    linker.pipeline.known, linker.pipeline.known_links = KnownHits(), KnownLinks()
    return linker.link(cells, **options).to_dicts()


def test_companions_orders_and_batches_change_no_digit(linker: Linker) -> None:
    rng = random.Random(20)
    for _ in range(25):
        cells = [text for _ in range(8) for text in drawn(rng)]
        together = links_of(linker, cells)
        rng.shuffle(order := [*range(len(cells))])
        shuffled = links_of(linker, [cells[at] for at in order], batch=rng.choice((1, 3, 16)))
        assert [together[at] for at in order] == shuffled
        alone = rng.sample(range(len(cells)), 8)
        assert [links_of(linker, [cells[at]])[0] for at in alone] == [together[at] for at in alone]


@pytest.mark.parametrize(
    "cell",
    [
        *("E11.65, I10", "E11.65 and I10", "E11.65/I10", "E11.65 I10", "E11.65; I10"),
        *("ICD10CM:E11.65, I10", "E1165 + i10", "(E11.65) and (I10)", "E11.65, I10, E11.65"),
    ],
)
def test_codes_in_a_cell_are_the_codes(linker: Linker, cell: str) -> None:
    ids = ["ICD10CM:E11.65", "ICD10CM:I10"]
    (alone,) = links_of(linker, [cell])
    assert [part["candidates"][0]["id"] for part in alone["parts"]][:2] == ids
    beside = links_of(linker, ["E11.65", cell, "I10", "asthma"])
    assert beside[1] == alone


def test_what_only_looks_like_codes_is_no_list(linker: Linker) -> None:
    for cell in ("B12 C3", "2019 2020", "COVID19 asthma", "T2 N1"):
        assert links_of(linker, [cell])[0]["parts"] == []


def test_rewrites_are_not_read_as_codes(linker: Linker) -> None:
    # "G-35" is written out as "G35", which is a code where it stands as a mention.
    alone = links_of(linker, ["G-35"])[0]
    assert links_of(linker, ["G35", "G-35", "I10"])[1] == alone


def test_a_table_may_be_cut_anywhere(linker: Linker) -> None:
    rng = random.Random(7)
    cells = [text for _ in range(12) for text in drawn(rng)]
    whole = link_table(linker, pa.table({"dx": cells}), "dx")
    rows = [link_table(linker, pa.table({"dx": [cell]}), "dx") for cell in cells]
    assert pa.concat_tables(rows).equals(whole.combine_chunks())
