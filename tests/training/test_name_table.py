"""The names and mentions that training works on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from canonym import Concept, Document, InvalidInput, Mention, Name, Terminology, Xref
from canonym.training.sampling.mentions import SEVERAL, training_mentions
from canonym.training.sampling.name_table import NameTable


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    return Terminology.build(
        [
            Concept("MESH:D1", "Breast Cancer"),
            Name("breast cancer", "MESH:D1"),
            Name("mammary tumour", "MESH:D1"),
            Name("lump", "MESH:D1", scope="related"),
            Concept("MESH:D2", "Ovarian cancer"),
            Name("MI", "MESH:D2"),
            Concept("MESH:D3", "Wilson disease"),
            Name("MI", "MESH:D3"),
            Xref("MESH:D3", "OMIM:444444", "alternative"),
            Concept("MESH:D4"),
        ]
    )


def names_of(table: NameTable, id_: str) -> list[str]:
    ordinal = table.ordinal(id_)
    assert ordinal is not None
    return [table.texts[name] for name in table.names.of(ordinal)]


def test_a_table_has_every_string_once_with_all_its_concepts(terminology: Terminology) -> None:
    table = NameTable.from_terminology(terminology)
    assert names_of(table, "MESH:D1") == ["Breast Cancer", "breast cancer", "mammary tumour"]
    shared = table.number("MI")
    assert shared is not None
    assert [table.ids[c] for c in table.concepts.of(shared)] == ["MESH:D2", "MESH:D3"]
    assert (table.n_concepts, table.n_names) == (4, 6)
    assert len(set(table.texts)) == table.n_names
    assert names_of(table, "OMIM:444444") == names_of(table, "MESH:D3")
    assert table.ordinal("MESH:D9") is None
    assert table.number("lump") is None
    assert repr(table) == "<NameTable: 4 concepts, 6 names>"


def test_strings_are_prepared_and_scopes_chosen(terminology: Terminology) -> None:
    table = NameTable.from_terminology(
        terminology, preparation="biosyn", scopes=("label", "exact", "related")
    )
    assert names_of(table, "MESH:D1") == ["breast cancer", "mammary tumour", "lump"]
    with pytest.raises(InvalidInput, match="no scope 'close'; there are label, exact"):
        NameTable.from_terminology(terminology, scopes=("close",))
    with pytest.raises(InvalidInput, match="no preparation 'upper'; there are 'biosyn', 'none'"):
        NameTable.from_terminology(terminology, preparation="upper")
    with pytest.raises(InvalidInput, match="no names to train on"):
        NameTable.from_terminology(terminology, scopes=("broad",))


def test_pairs_and_further_names_keep_their_numbers(terminology: Terminology) -> None:
    table = NameTable.from_terminology(terminology)
    names, concepts = table.pairs()
    assert len(names) == 7
    assert {(table.texts[n], table.ids[c]) for n, c in zip(names, concepts, strict=True)} == {
        (table.texts[name], id_)
        for id_ in table.ids
        for name in table.names.of(table.ids.index(id_))
    }
    more = table.with_names([("new", 3), ("MI", 0)])
    assert more.texts == (*table.texts, "new")
    assert names_of(more, "MESH:D4") == ["new"]
    assert "MI" in names_of(more, "MESH:D1")
    assert more.ordinal("OMIM:444444") == 2


def test_mentions_are_linked_and_unknown_ones_counted(terminology: Terminology) -> None:
    table = NameTable.from_terminology(terminology, preparation="biosyn")
    found = table.link(
        [
            ("Tumour!", ["MESH:D2", "MESH:D1", "MESH:D9"]),
            ("tumour", {"OMIM:444444"}),
            ("gone", ["MESH:D9"]),
            ("nameless", ["MESH:D4"]),
            ("!!", ["MESH:D1"]),
        ]
    )
    assert found.texts == ("tumour",)
    assert found.text_of.tolist() == [0, 0]
    assert [found.concepts.of(i) for i in range(found.n_mentions)] == [[0, 1], [2]]
    assert found.n_left_out == 3


def test_mentions_of_another_terminology_are_an_error(terminology: Terminology) -> None:
    table = NameTable.from_terminology(terminology)
    with pytest.raises(
        InvalidInput, match=r"none of 2 training mentions .*'X:1', where ids look like 'MESH:D1'"
    ):
        table.link([("a", ["X:1"]), ("b", [])])
    with pytest.raises(InvalidInput, match="no training mentions"):
        table.link([])
    with pytest.raises(InvalidInput, match="'MESH:D1'; a list of ids is expected"):
        table.link([("a", "MESH:D1")])


# --- mentions of a corpus -------------------------------------------------------------------------


def document(id_: str, *mentions: Mention, text: str = "") -> Document:
    stamped = tuple(replace(one, document_id=id_) for one in mentions)
    return Document(id_, text or " ; ".join(m.text for m in mentions), stamped)


def mention(text: str, *ids: str, rule: str = "any", type: str = "Disease") -> Mention:
    return Mention(text, 0, len(text), type, ids, rule)


CORPUS = [
    document("1", mention("WD", "D3"), text="Wilson disease (WD) is rare."),
    document(
        "2",
        mention("Breast-Cancer", "D1"),
        mention("breast and ovarian cancer", "D1", "D2", rule="all"),
        mention("either", "D1", "D2"),
        mention("cough", "D7"),
        mention("--", "D1"),
        mention("aspirin", "D3", type="Chemical"),
        mention("breast cancer", "D1"),
    ),
]


def test_training_mentions_are_prepared_as_the_evaluation_does(terminology: Terminology) -> None:
    found = training_mentions(CORPUS, terminology, types=["Disease"], engine="schwartz-hearst")
    one, two = frozenset({"MESH:D1"}), frozenset({"MESH:D1", "MESH:D2"})
    assert found.pairs == (
        ("wilson disease", frozenset({"MESH:D3"})),
        ("breast cancer", one),
        ("either", two),
        ("breast cancer", one),
    )
    assert found.dropped == {
        "with an id that the terminology does not have": 1,
        SEVERAL: 1,
        "of which nothing is left when prepared": 1,
    }
    once = training_mentions([*CORPUS, CORPUS[0]], terminology, types=["Disease"], distinct=True)
    assert once.pairs == found.pairs[:3]
    assert found.documents == ("1", "2", "2", "2")
    assert once.documents == ("1", "2", "2")


def test_strings_can_stay_as_they_are_written(terminology: Terminology) -> None:
    found = training_mentions(CORPUS, terminology, protocol="plain", corrections={})
    assert found.pairs[:2] == (
        ("WD", frozenset({"MESH:D3"})),
        ("Breast-Cancer", frozenset({"MESH:D1"})),
    )
    assert "aspirin" in [text for text, _ in found.pairs]


def test_a_corpus_without_training_mentions_says_why(terminology: Terminology) -> None:
    other = [document("1", mention("cough", "D7"), mention("none", "-1"))]
    with pytest.raises(InvalidInput, match="leaves no mention to train on: 1 with an id"):
        training_mentions(other, terminology)
    with pytest.raises(InvalidInput, match="'raw' leaves strings to the linker"):
        training_mentions(CORPUS, terminology, protocol="raw")


def test_training_mentions_of_a_real_corpus(data: object) -> None:
    from pathlib import Path

    from canonym.corpora.pubtator import read_pubtator
    from canonym.terminology.readers.medic import read_medic

    assert isinstance(data, Path)
    documents = list(read_pubtator(data / "ncbi-disease" / "train.pubtator"))[:20]
    medic = Terminology.build(read_medic(data / "medic-2012" / "medic_06Jul2012.txt"))
    found = training_mentions(documents, medic, engine="schwartz-hearst")
    n_mentions = sum(len(d.mentions) for d in documents)
    assert len(found.pairs) + sum(found.dropped.values()) == n_mentions
    assert len(found.pairs) > 0.8 * n_mentions
    table = NameTable.from_terminology(medic, preparation="biosyn")
    linked = table.link(found.pairs)
    assert linked.n_left_out == 0
    assert np.unique(linked.concepts.ends).size > 10
