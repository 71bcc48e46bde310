"""Names across languages, on a terminology made up for it."""

from __future__ import annotations

import math

import pytest

from canonym import Concept, InvalidInput, Linker, Name, Terminology
from canonym.evaluation import wilson
from reproduce.measures.crosslingual import crosslingual

RECORDS: list[Concept | Name] = [
    Concept("X:1", "malaria"),
    Name("malaria tropica", "X:1", language="de"),
    Name("paludisme", "X:1", language="fr"),
    Concept("X:2", "asthma"),
    Name("Asthma", "X:2", language="de"),
    Name("asthme", "X:2", language="fr"),
    Concept("X:3", "diabetes"),
    Name("Zuckerkrankheit", "X:3", language="de"),
    Concept("X:4", "sugar disease"),
    Name("Zucker", "X:4", language="de"),
    Concept("X:5", "Zuckerkrankheit"),  # an English name that equals a German one of another
    Concept("X:6", "only english"),
]


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(RECORDS), encoders=["chargrams"])


def test_both_directions_of_every_pair_are_measured(linker: Linker) -> None:
    found = {(one.source, one.target): one for one in crosslingual(linker)}
    assert set(found) == {(a, b) for a in ("de", "en", "fr") for b in ("de", "en", "fr") if a != b}
    english = found["en", "de"]
    # X:5 and X:6 have no German name; "diabetes" has nothing in common with "Zuckerkrankheit".
    assert (english.n, english.n_concepts, english.n_searched) == (4, 4, 4)
    assert english.n_same == 1
    assert english.accuracy[1].value == 0.5
    assert english.different[1] == wilson(1, 3)
    german = found["de", "en"]
    # "Zuckerkrankheit" finds X:5, whose English name it is, before X:3.
    assert german.n == 4
    assert german.n_searched == 6
    assert german.accuracy[1] == wilson(2, 4)
    assert german.accuracy[5].value >= german.accuracy[1].value
    french = found["fr", "de"]
    assert (french.n, french.n_same, french.accuracy[1].value) == (2, 0, 1.0)
    assert french.different == french.accuracy


def test_languages_cut_offs_and_draws_can_be_chosen(linker: Linker) -> None:
    some = crosslingual(linker, languages=["fr", "en"], k=[3, 1])
    assert [(one.source, one.target) for one in some] == [("fr", "en"), ("en", "fr")]
    assert list(some[0].accuracy) == [1, 3]
    assert some[0].accuracy[3].value == 1.0
    drawn = crosslingual(linker, languages=["en", "de"], most=2, seed=1)
    assert [one.n for one in drawn] == [2, 2]
    assert drawn == crosslingual(linker, languages=["en", "de"], most=2, seed=1)


def test_a_name_of_several_concepts_is_right_for_each() -> None:
    records = [
        Concept("X:1", "cold"),
        Name("rhume", "X:1", language="fr"),
        Concept("X:2", "cold"),
        Name("cold", "X:2", language="fr"),
    ]
    linker = Linker.build(Terminology.build(records), encoders=["chargrams"])
    (english, _) = crosslingual(linker, languages=["en", "fr"])
    assert (english.n, english.n_concepts, english.n_same) == (1, 2, 1)
    assert english.accuracy[1].value == 1.0
    assert all(math.isnan(number) for number in english.different[1])


def test_languages_without_a_common_concept_are_left_out() -> None:
    records = [Concept("X:1", "cold"), Concept("X:2"), Name("rhume", "X:2", language="fr")]
    linker = Linker.build(Terminology.build(records), encoders=["chargrams"])
    assert crosslingual(linker) == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"languages": ["en"]}, "names in en cross no border"),
        ({"languages": ["en", "pt"]}, "'pt' does not occur"),
        ({"k": []}, "at least 1"),
        ({"k": [0]}, "at least 1"),
        ({"most": 0}, "most is 0"),
    ],
)
def test_what_cannot_be_measured(linker: Linker, options: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        crosslingual(linker, **options)  # type: ignore[arg-type]


def test_one_language_or_no_encoder_is_refused() -> None:
    one = Terminology.build([Concept("X:1", "cold")])
    with pytest.raises(InvalidInput, match="names in en cross no border"):
        crosslingual(Linker.build(one, encoders=["chargrams"]))
    with pytest.raises(InvalidInput, match="no encoder"):
        crosslingual(Linker.build(Terminology.build(RECORDS), encoders=[]))
