"""Definitions that consumer health text gives of names."""

from __future__ import annotations

from models.definitions import Definition, defined_in, shorten


def test_what_a_passage_says_of_the_name_it_begins_with() -> None:
    passages = [
        "The Flu (influenza) is a contagious illness of the airways. It comes in winter.",
        "Summary : Ulcers are the sores that remain open for weeks and months.",
        "What is the flu ?",
        "What are the symptoms of flu ?",
        "Colds is a word of several concepts, so that nobody knows which one is meant.",
        "Grippe is an old word that is no name of anything here at all.",
        "Flu is a word.",
        "Flu happens to people who have met somebody who has it.",
    ]
    names = {"flu": 3, "ulcer": 5, "cold": None}
    assert list(defined_in(passages, names)) == [
        Definition("a contagious illness of the airways. It comes in winter.", 3),
        Definition("the sores that remain open for weeks and months.", 5),
    ]


def test_definitions_are_shortened_in_whole_words() -> None:
    text = shorten("word " * 100)
    assert len(text) <= 240
    assert set(text.split()) == {"word"}
    assert shorten("w" * 300) == ""
