"""The component of spaCy: links of entities, names found, saved pipelines and documents."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Linker, Name, Terminology
from canonym.errors import InvalidInput, ReadError

spacy = pytest.importorskip("spacy", reason="spaCy is not installed (extra text)")

TEXT = "Wilson disease (WD) is no heart attack. Anna takes aspirin."


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    from canonym.integrations.spacy import register

    register()
    folder = tmp_path_factory.mktemp("spacy") / "index"
    records = [
        Concept("X:1", "Myocardial infarction", types=("Disease",)),
        Name("heart attack", "X:1"),
        Concept("X:2", "Wilson disease", types=("Disease",)),
        Concept("X:3", "Aspirin"),
    ]
    Linker.build(Terminology.build(records), encoders=["chargrams"], folder=folder)
    return str(folder)


def _pipeline(index: str, **config: Any) -> Any:
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "DISEASE", "pattern": "heart attack"},
            {"label": "PERSON", "pattern": "Anna"},
        ]
    )
    nlp.add_pipe("canonym", config={"index": index, **config})
    return nlp


def _found(doc: Any) -> list[tuple[str, str, str]]:
    return [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents]


def test_entities_of_any_recogniser_get_the_id_and_the_link(index: str) -> None:
    doc = _pipeline(index, labels=["DISEASE"])(TEXT)
    assert _found(doc) == [("heart attack", "DISEASE", "X:1"), ("Anna", "PERSON", "")]
    first, second = (ent._.canonym for ent in doc.ents)
    assert (first.id, first.label, first.candidates[0].sieve) == (
        *("X:1", "Myocardial infarction", "verbatim"),
    )
    assert (first.mention.start, first.mention.type) == (26, "DISEASE")
    assert second is None


def test_the_link_is_the_one_of_the_linker(index: str) -> None:
    doc = _pipeline(index, options={"k": 2})(TEXT)
    expected = Linker.load(index).link(["heart attack"], k=2)[0]
    assert doc.ents[0]._.canonym.candidates == expected.candidates


def test_names_are_found_where_no_entity_is(index: str) -> None:
    doc = _pipeline(index, annotate=True, label="THING", labels=["DISEASE"])(TEXT)
    assert _found(doc) == [
        ("Wilson disease", "Disease", "X:2"),
        ("WD", "Disease", "X:2"),
        ("heart attack", "DISEASE", "X:1"),
        ("Anna", "PERSON", ""),
        ("aspirin", "THING", "X:3"),
    ]
    assert doc.ents[1]._.canonym.steps[0].name == "abbreviation"


def test_the_status_of_entities_is_told(index: str) -> None:
    text = "No heart attack. His mother takes aspirin. Anna, heart attack."
    doc = _pipeline(index, annotate=True, labels=["DISEASE"])(text)
    first, aspirin, person, last = doc.ents
    assert first._.canonym_status == first._.canonym.status == ("negated",)
    assert first._.canonym_negated is True
    assert (aspirin._.canonym_status, aspirin._.canonym_negated) == (("family",), False)
    assert (person._.canonym_status, person._.canonym_negated) == ((), False)
    assert (last._.canonym_status, last.kb_id_) == ((), "X:1")


def test_a_group_of_spans_stands_beside_the_entities(index: str) -> None:
    doc = _pipeline(index, annotate=True, spans_key="concepts")(TEXT)
    assert [(one.text, one.kb_id_) for one in doc.spans["concepts"]] == [
        *(("Wilson disease", "X:2"), ("WD", "X:2"), ("heart attack", "X:1"), ("aspirin", "X:3")),
    ]
    assert [ent.kb_id_ for ent in doc.ents] == ["", ""]


def test_documents_go_through_in_batches(index: str) -> None:
    nlp = _pipeline(index, annotate=True)
    texts = ["aspirin", "", "a heart attack"] * 3
    docs = list(nlp.pipe(texts, batch_size=2))
    assert [_found(doc) for doc in docs] == [_found(nlp(text)) for text in texts]
    assert sum(len(doc.ents) for doc in docs) == 6


def test_a_saved_pipeline_opens_the_index_by_its_path(index: str, tmp_path: Path) -> None:
    nlp = _pipeline(index, annotate=True)
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert _found(again(TEXT)) == _found(nlp(TEXT))
    assert again.config["components"]["canonym"]["index"] == index


def test_links_are_saved_with_a_document(index: str) -> None:
    doc = _pipeline(index, annotate=True)(TEXT)
    again = spacy.tokens.Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert [ent._.canonym for ent in again.ents] == [ent._.canonym for ent in doc.ents]
    assert again.ents[0]._.canonym.id == "X:2"


def test_what_cannot_be_used_is_refused_when_it_is_added(index: str) -> None:
    with pytest.raises(ReadError):
        _pipeline("/nowhere")
    with pytest.raises(InvalidInput, match="no option 'top'"):
        _pipeline(index, options={"top": 3})


def test_spacy_finds_the_component_by_its_entry_point() -> None:
    import canonym.integrations.spacy as component

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    place = project["project"]["entry-points"]["spacy_factories"]["canonym"]
    module, _, attribute = place.partition(":")
    assert module == component.__name__
    assert getattr(component, attribute) is component.register()
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = component.other
