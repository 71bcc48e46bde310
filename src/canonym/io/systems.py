"""Systems of codes: how their ids, prefixes and addresses are written, as rows of a table."""

from __future__ import annotations

import re
from typing import NamedTuple

from canonym.io.packaged import packaged_rows
from canonym.regex import regex


class System(NamedTuple):
    """A row of ``systems.tsv``; several values of a cell are separated by spaces.

    `family` is one word for all spellings of the prefix, `prefix` the one that canonym writes. As
    prefixes count `other_prefixes` as well, and `other_words`, in small letters and digits alone,
    are of the same family. `form` is the pattern of a local id, `vocabularies` are names of UMLS
    and OMOP in small letters. Addresses begin with `written`, and those with one of `read` after
    the scheme are known.
    """

    family: str
    prefix: str
    other_prefixes: str
    other_words: str
    form: str
    vocabularies: str
    written: str
    read: str


SYSTEMS: tuple[System, ...] = tuple(System(*row) for row in packaged_rows(__file__))
"""The systems that are known, in the order of their families."""

FORMS = {system.family: regex(system.form, re.IGNORECASE) for system in SYSTEMS if system.form}
"""Forms of local ids, by family."""
