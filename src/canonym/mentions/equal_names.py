"""Names whose normal forms are equal, or equal but for spaces, and that may differ all the same."""

from __future__ import annotations

from canonym.mentions.contrasts import differs_in_meaning
from canonym.mentions.letter_case import sentence_case
from canonym.mentions.marks import marks
from canonym.text.spaces import are_joints, ends_in_sign


def means_other(text: str, name: str) -> bool:
    """Tell whether a text of the same form means something else than a name.

    >>> means_other("proteinS", "Proteins"), means_other("CD4- T cell", "CD4+ T cell")
    (True, True)
    """
    if ends_in_sign(text) and not (ends_in_sign(name) or name.isupper()):
        return True
    return text != name and differs_in_meaning(text, name)


def is_spaced(text: str, name: str, form: str, of_name: str) -> bool:
    """Tell whether a text is a name but for spaces; their forms are.

    >>> is_spaced("heartattack", "Heart attack", "heartattack", "heart attack")
    True
    """
    return marks(text) == marks(name) and are_joints(form, of_name, text, name)


def writing_of(text: str, name: str) -> tuple[bool, bool]:
    """Tell whether a name differs by more than order, spaces and first letters, and at all.

    >>> writing_of("common cold", "Common Cold"), writing_of("COLD", "Cold")
    ((False, True), (True, True))
    """
    if text == name:
        return False, False
    return _words(text) != _words(name) and _letters(text).isdisjoint(_letters(name)), True


def _words(text: str) -> list[str]:
    return sorted(sentence_case(text).replace(",", " ").split())


def _letters(text: str) -> set[str]:
    return {"".join(written.split()) for written in (text, sentence_case(text))}
