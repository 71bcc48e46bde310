"""Questions whose answer is known, which show how far a chooser is to be believed.

They are about names of the terminology that are not labels, each hidden from its concept. Of half
of them the concept is among the choices, at any place; of the others it is taken out. They are
drawn the same way each time, so that their answers are asked for once for each index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from canonym.linking.second_look.questions import N_CHOICES, Choice, Question, choice_of
from canonym.text import normalise
from canonym.types import Name

if TYPE_CHECKING:
    from canonym.linking.pipeline import Pipeline

N_CONTROLS = 40
"""How many are asked at most."""

_DRAWN = 25  # names for each control: many are labels, or codes, or alone
_FEWEST_LETTERS = 5


class Control(NamedTuple):
    """A question and the place of the right choice, None where it was taken out."""

    question: Question
    right: int | None


def controls(pipeline: Pipeline) -> Iterator[Control]:
    """Yield up to `N_CONTROLS` questions about names of an index."""
    terminology, everything = pipeline.terminology, pipeline.filters.choose()
    rng = np.random.default_rng(0)
    n_drawn = min(N_CONTROLS * _DRAWN, terminology.n_names)
    drawn = terminology.names_at(rng.choice(terminology.n_names, n_drawn, replace=False))
    own = {name.text: name.concept_id for name in drawn if _is_telling(name)}
    texts = [text for text in own if _differs(text, terminology.concept(own[text]).label)]
    hits = pipeline.nearest(texts[:N_CONTROLS], N_CHOICES, everything)
    for n, (text, of_text) in enumerate(hits.items()):
        ids = [pipeline.concepts[hit.concept].id for hit in of_text]
        others = [id_ for id_ in ids if id_ != own[text]][: N_CHOICES - 1]
        choices, place = [choice_of(id_, terminology) for id_ in others], None
        if n % 2 == 0:
            place = int(rng.integers(len(choices) + 1))
            choices.insert(place, _without(choice_of(own[text], terminology), text))
        yield Control(Question(text, text, "", tuple(choices)), place)


def _is_telling(name: Name) -> bool:
    """Tell whether a name says in words what its concept is."""
    letters = sum(map(str.isalpha, name.text))
    return name.scope == "exact" and letters >= _FEWEST_LETTERS and not name.text.isupper()


def _differs(text: str, other: str) -> bool:
    return normalise(text) != normalise(other)


def _without(choice: Choice, text: str) -> Choice:
    return choice._replace(synonyms=tuple(name for name in choice.synonyms if _differs(name, text)))
