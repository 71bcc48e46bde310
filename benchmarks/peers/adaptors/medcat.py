"""MedCAT, untrained: the names in its database of concepts, found by its own recogniser.

Its tokenizer is the one of regular expressions, for the other needs a model of spaCy, which is a
download. Without training nothing chooses between the concepts of a name: they come as they are.
"""

from __future__ import annotations

from typing import Any

REQUIREMENTS = ["medcat==2.9.0"]
PACKAGES = ["medcat"]


def build(names: list[tuple[str, str]]) -> Any:
    """Make the database of concepts; the first name of a concept is its primary one."""
    import logging

    import pandas
    from medcat.cat import CAT
    from medcat.config import Config
    from medcat.model_creation.cdb_maker import CDBMaker
    from medcat.vocab import Vocab

    config = Config()
    config.general.log_level = logging.ERROR
    config.general.nlp.provider = "regex"
    config.components.linking.comp_name = "no_action"
    met: set[str] = set()
    rows = []
    for text, id_ in names:
        rows.append((id_, text, "A" if id_ in met else "P"))
        met.add(id_)
    table = pandas.DataFrame(rows, columns=["cui", "name", "name_status"])
    database = CDBMaker(config).prepare_csvs([table])
    return CAT(database, Vocab(), config)


def candidates(index: Any, mentions: list[str]) -> list[Any]:
    """Return the concepts of the longest name that is found in each mention."""
    found = []
    for mention in mentions:
        names = index(mention).ner_ents
        longest = max(names, key=lambda one: len(one.base.text), default=None)
        if longest is None:
            found.append([])
            continue
        text = longest.detected_name.replace("~", " ")
        found.append([(text, id_) for id_ in longest.link_candidates])
    return found
