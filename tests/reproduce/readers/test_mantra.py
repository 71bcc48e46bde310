"""MANTRA's gold standard corpus."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from canonym import Concept, Terminology
from canonym.errors import ReadError
from canonym.evaluation.protocols import choose_protocol
from canonym.evaluation.run import evaluate_corpus
from canonym.types import Mention
from reproduce.readers.mantra import read_mantra

XML = Path(__file__).with_suffix(".xml").read_text("utf-8")


def written(place: Path, text: str = XML) -> Path:
    path = place / "Medline_GSC_de_man.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_units_become_documents_and_spans_mentions(tmp_path: Path) -> None:
    first, empty, last = read_mantra(written(tmp_path))
    assert first.text == "Fieber & Übelkeit nach Lachgas"
    assert (first.id, empty.id, last.id) == ("Medline.1.u1", "Medline.1.u2", "Medline.2")
    assert first.mentions == (
        Mention("Fieber", 0, 6, "DISO", ("C0015967",), "any", first.id),
        Mention("Übelkeit", 9, 17, "DISO", ("C0027497",), "any", first.id),
        Mention("Lachgas", 23, 30, "CHEM", ("C0028215", "C9999999"), "all", first.id),
    )
    assert empty.mentions == ()
    assert last.mentions == (Mention("Fieber", 0, 6, "", ("C0015967",), "any", last.id),)


def test_a_compressed_file_is_the_same(tmp_path: Path) -> None:
    packed = tmp_path / "one.xml.gz"
    packed.write_bytes(gzip.compress(XML.encode()))
    assert list(read_mantra(packed)) == list(read_mantra(written(tmp_path)))


def test_f1_counts_every_id_of_a_mention(tmp_path: Path) -> None:
    """Four ids are predicted and right; of the five gold ones that is one too few."""
    names = {
        **{"Fieber": "C0015967", "Übel": "C0027497"},
        **{"Lachgas": "C0028215", "Distickstoffmonoxid": "C9999999"},
    }
    run = evaluate_corpus(
        list(read_mantra(written(tmp_path))),
        terminology=Terminology.build([Concept(id_, name) for name, id_ in names.items()]),
        protocol=choose_protocol("plain"),
        metrics=("set-precision", "set-recall", "set-f1"),
    )
    found = [run.value(f"set-{what}", reading="complete") for what in ("precision", "recall", "f1")]
    assert found == pytest.approx([4 / 4, 4 / 5, 8 / 9])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('offset="9"', 'offset="8"', "line 7: unit 'Medline.1.u1': offsets 8-16 hold"),
        ('offset="23"', 'offset="30"', "are no span of the text"),
        ('len="8"', 'len="viele"', "the len 'viele' and the cui 'C0027497'; two whole numbers"),
        ('cui="C0027497"', "", "the cui None"),
        ("<text>Ohne Begriffe</text>", "", "a unit has no id or no text"),
        ("unit", "sentence", "holds no unit of text"),
        ("</Corpus>", "", "the XML is malformed or ends too early"),
    ],
)
def test_what_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        list(read_mantra(written(tmp_path, XML.replace(old, new))))
