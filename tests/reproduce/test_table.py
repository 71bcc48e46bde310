"""Average ranks of systems over corpora."""

from __future__ import annotations

import pytest

from canonym import InvalidInput
from reproduce.table import rank_systems


def test_systems_are_ranked_over_the_corpora_whatever_their_order() -> None:
    figures = {
        "NCBI": {"O-T": 80.0, "O-C": 50.0, "D-T": 80.0},
        "BC5CDR": {"D-T": 70.0, "O-T": 75.0, "O-C": 72.0},
    }
    assert rank_systems(figures) == {"O-T": 1.25, "O-C": 2.5, "D-T": 2.25}


@pytest.mark.parametrize("without", ["NCBI", "BC5CDR"])
def test_a_system_without_a_figure_on_one_corpus_is_refused(without: str) -> None:
    figures = {corpus: {"O-T": 80.0, "O-C": 50.0} for corpus in ("NCBI", "BC5CDR")}
    del figures[without]["O-C"]
    with pytest.raises(InvalidInput, match=f"{without} has no figure of O-C"):
        rank_systems(figures)
