"""Damaged files of every format: a few for each reader; ``benchmarks/fuzz.py`` takes many more."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import Inputs
from fuzz_targets import TARGETS

SLOW = {"index", "index-unsigned", "manifest", "recognised", "terminology-file"}
SLOW |= {"encoder-transformer", "encoder-onnx"}
EXTRAS = {"owl": "rdflib", "recognised": "rdflib", "parquet": "pyarrow"}
EXTRAS |= {"checkpoint": "safetensors", "encoder-transformer": "transformers"}
EXTRAS |= {"encoder-onnx": "onnx", "workbook": "openpyxl"}
READERS = sorted(TARGETS.keys() - {"encoder-transformer"})


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_file_is_read_or_refused(reader: str, tmp_path: Path) -> None:
    if reader in EXTRAS:
        pytest.importorskip(EXTRAS[reader])
    inputs = Inputs(reader, tmp_path, seed=1)
    for case in inputs.cases:
        case.read(case.source)
    found = Counter(inputs.run(number) for number in range(12 if reader in SLOW else 100))
    assert {outcome for outcome, _ in found} <= {"read", "refused"}, found
    assert found["refused", ""]


def test_what_is_no_message_is_a_fault(tmp_path: Path) -> None:
    inputs = Inputs("relations", tmp_path, seed=1)

    def read(_: Path) -> object:
        raise RecursionError

    inputs.cases = [case._replace(read=read) for case in inputs.cases]
    outcome, where = inputs.run(0)
    assert outcome == "fault"
    assert where.startswith("RecursionError at contracts/test_fuzz.py:")


def test_an_input_is_made_again_from_its_number(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        inputs = Inputs("jsonl", tmp_path / name, seed=3)
        made.append([inputs.write(number)[1].read_bytes() for number in range(50)])
    assert made[0] == made[1]
    assert len(set(made[0])) > 45
