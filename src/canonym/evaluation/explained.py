"""Mentions looked up as what their document explains them by, where that is found better."""

from __future__ import annotations

from dataclasses import replace

from canonym.evaluation.dictionary import Dictionary
from canonym.evaluation.questions import Asked
from canonym.mentions.glosses import LEAST_GAIN

__all__ = ["as_explained"]


def as_explained(asked: Asked, dictionary: Dictionary) -> Asked:
    """Replace the strings of questions that have a gloss by it, where it has a nearer name.

    Parameters
    ----------
    asked : Asked
        Questions; one without a gloss stays as it is.
    dictionary : Dictionary
        What is searched.

    Returns
    -------
    Asked
        The same questions in the same order. A string whose gloss is found no better stays.
    """
    strings = {text for one in asked.questions if one.gloss for text in (*one.parts, one.gloss)}
    if not strings:
        return asked
    found = dictionary.find_names(strings, 1)
    near = {text: names[0].score if names else float("-inf") for text, names in found.items()}
    return asked._replace(
        questions=tuple(
            replace(one, parts=(one.gloss,))
            if one.gloss and near[one.gloss] > near[one.parts[0]] + LEAST_GAIN
            else one
            for one in asked.questions
        )
    )
