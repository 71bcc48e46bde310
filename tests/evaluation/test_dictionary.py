"""The dictionary of an evaluation against a search of all names."""

from __future__ import annotations

import random

import pytest

from canonym import Concept, InvalidInput, Name, Relation, Terminology
from canonym.encoders.chargrams import CharGrams
from canonym.evaluation.dictionary import (
    TRAINING,
    Dictionary,
    build_dictionary,
    dictionary_records,
)

RECORDS = [
    Concept("X:3", "Cold", definition="a feeling"),
    Concept("X:1", "Common cold"),
    Name("COLD", "X:1"),
    Name("cold (disease)", "X:1"),
    Concept("X:2", "Fever"),
    Name("cold", "X:2", scope="related"),
    Name("!!!", "X:2"),
    Relation("X:1", "is_a", "X:2"),
]
LEARNED = [("ague", "X:2"), ("cold", "X:1"), ("cold fever", "X:2")]


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    return Terminology.build(RECORDS)


@pytest.fixture(scope="module")
def dictionary(terminology: Terminology) -> Dictionary:
    return build_dictionary(terminology, LEARNED)


def test_names_are_in_normal_form_and_learned_ones_are_marked(terminology: Terminology) -> None:
    found = Terminology.build(dictionary_records(terminology, LEARNED))
    assert [(name.text, name.concept_id, name.scope) for name in found.iter_names()] == [
        ("cold", "X:3", "label"),
        ("common cold", "X:1", "label"),
        ("cold", "X:1", "exact"),
        ("cold disease", "X:1", "exact"),
        ("fever", "X:2", "label"),
        ("cold", "X:2", "related"),
        ("ague", "X:2", "exact"),
        ("cold fever", "X:2", "exact"),
    ]
    assert [name.text for name in found.iter_names() if name.source == TRAINING] == [
        *("ague", "cold fever")
    ]


def test_a_name_carries_all_its_concepts_labels_first(dictionary: Dictionary) -> None:
    assert dictionary.concepts_named("cold") == ("X:3", "X:1", "X:2")
    assert dictionary.concepts_named("nothing") == ()


def test_names_are_distinct_strings(dictionary: Dictionary) -> None:
    names = dictionary.find_names(["cold", "cold", ""], 20)
    assert list(names) == ["cold", ""]
    assert names[""] == ()
    assert names["cold"][0].text == "cold"
    assert names["cold"][0].ids == ("X:3", "X:1", "X:2")
    assert names["cold"][0].score == pytest.approx(1, abs=1e-6)
    texts = [name.text for name in names["cold"]]
    assert sorted(texts) == sorted({*texts})
    scores = [name.score for name in names["cold"]]
    assert scores == sorted(scores, reverse=True)


def test_concepts_are_ranked_by_their_best_name(dictionary: Dictionary) -> None:
    found = dictionary.find_concepts(["cold", "agues"], 3)
    assert [(one.id, one.name) for one in found["cold"]] == [
        *(("X:3", "cold"), ("X:1", "cold"), ("X:2", "cold"))
    ]
    assert (found["agues"][0].id, found["agues"][0].name) == ("X:2", "ague")


def test_without_encoders_a_string_finds_its_equal(terminology: Terminology) -> None:
    verbatim = build_dictionary(terminology, LEARNED, encoders=())
    assert verbatim.find_names(["cold", "colds"], 5)["colds"] == ()
    assert verbatim.find_names(["cold"], 5)["cold"] == (("cold", ("X:3", "X:1", "X:2"), 1.0),)
    assert [c.id for c in verbatim.find_concepts(["cold"], 2)["cold"]] == ["X:3", "X:1"]
    names, concepts = verbatim.find(["cold", "colds"], 2)["colds"]
    assert (names, concepts) == ((), ())


def test_one_search_finds_what_two_would() -> None:
    # Few letters make many ties, and concepts with many names make the wide search too narrow.
    draw = random.Random(7)

    def word() -> str:
        return "".join(draw.choice("abc") for _ in range(draw.randint(1, 5)))

    records: list[Concept | Name] = []
    for i in range(40):
        records.append(Concept(f"X:{i}", word()))
        records += [Name(word(), f"X:{i % 9}") for _ in range(12)]
    dictionary = build_dictionary(Terminology.build(records), encoders=[CharGrams(n_max=1)])
    strings = [word() for _ in range(60)]
    for k in (1, 2, 3):
        names, concepts = dictionary.find_names(strings, k), dictionary.find_concepts(strings, k)
        assert dictionary.find(strings, k) == {s: (names[s], concepts[s]) for s in strings}


@pytest.mark.parametrize("k", [1, 2, 5])
def test_of_equal_scores_the_string_itself_comes_first(k: int) -> None:
    # The default encoder takes a plural for the same as its singular.
    records = [
        Concept("X:1", "Alcohols"),
        Concept("X:2", "Ethanol"),
        Concept("X:3", "Glutamate"),
        Name("fever", "X:1"),
    ]
    dictionary = build_dictionary(
        Terminology.build(records), [("alcohol", "X:2")], encoders=["default"]
    )
    for text, id_, other in (("alcohol", "X:2", "alcohols"), ("alcohols", "X:1", "alcohol")):
        names, concepts = dictionary.find([text], k)[text]
        assert [name.text for name in names[:2]] == [text, other][:k]
        assert names[0].score == pytest.approx(1, abs=1e-6)
        assert (concepts[0].id, concepts[0].name) == (id_, text)
        assert len(concepts) == min(k, 3)
        assert concepts == dictionary.find_concepts([text], k)[text]
        assert names == dictionary.find_names([text], k)[text]
    assert dictionary.find_names(["glutamates"], k)["glutamates"][0].text == "glutamate"


def test_names_against_a_naive_ranking(dictionary: Dictionary) -> None:
    names = [n.text for n in dictionary.linker.terminology.iter_names()]
    encoder = CharGrams().fit(names)
    distinct = list(dict.fromkeys(names))

    def dense(texts: list[str]) -> list[dict[int, float]]:
        found = encoder.encode(texts)
        return [
            dict(zip(found.indices[a:b].tolist(), found.data[a:b].tolist(), strict=True))
            for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)
        ]

    query = dense(["could feever"])[0]
    scores = [sum(query.get(i, 0) * x for i, x in one.items()) for one in dense(distinct)]
    wanted = sorted(range(len(distinct)), key=lambda i: -scores[i])[:4]
    found = dictionary.find_names(["could feever"], 4)["could feever"]
    assert [name.text for name in found] == [distinct[i] for i in wanted]
    assert [name.score for name in found] == pytest.approx([scores[i] for i in wanted], abs=1e-6)


def test_at_least_one_candidate_is_wanted(dictionary: Dictionary) -> None:
    for find in (dictionary.find_names, dictionary.find_concepts, dictionary.find):
        with pytest.raises(InvalidInput, match="k is 0"):
            find(["cold"], 0)
