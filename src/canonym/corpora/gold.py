"""Gold ids as corpora write them.

===============  ====================  =========  ==============================================
ids as written   `Mention.ids`         `rule`     meaning
===============  ====================  =========  ==============================================
``D1``           ``("D1",)``           ``any``    one concept
``D1,D2``        ``("D1", "D2")``      ``any``    alternatives: each id alone is right
``D1|D2``        ``("D1", "D2")``      ``all``    composite: the mention stands for every id
``D1+D2``        ``("D1", "D2")``      ``all``    combination: only the ids together say it
``D1|-1``        ``("D1", "-1")``      ``all``    composite, one of whose parts has no concept
``-1``           ``()``                ``nil``    the annotators found no concept
nothing          ``()``                ``any``    unknown
===============  ====================  =========  ==============================================

Notes
-----
The NCBI disease corpus has both signs. ``|`` lists the concepts of a mention ("breast and ovarian
cancer"), ``+`` puts one meaning together from several concepts ("inherited muscle disorder" is a
muscular disease and a genetic one); 32 mentions of its train and dev parts have a plus, none of
its test part. Neither allows a choice. A few mentions have a bar where the text reads like a
choice ("hemophilia"); nothing in the file tells these apart. The comma is an addition of canonym.

References
----------
Doğan, Leaman and Lu (2014), NCBI disease corpus. Arbabi et al. call the two aggregate and composed.
"""

from __future__ import annotations

from canonym.errors import InvalidInput
from canonym.io.tables import filled_parts
from canonym.types import Mention

NO_CONCEPT: tuple[str, ...] = (
    *("-1", "-", "nil", "cui-less", "cui_less", "cuiless"),
    *("concept-less", "concept_less", "conceptless"),
)
"""Ids that corpora write, in any case, where the annotators found no concept."""


RULES: tuple[str, ...] = ("any", "all", "nil")
"""Values of `Mention.rule`."""


def parse_ids(written: str, *, composite: str = "|") -> tuple[tuple[str, ...], str]:
    """Read the ids of one mention, and the rule (``"any"``, ``"all"`` or ``"nil"``) that joins
    them.

    Each character of `composite` separates the parts of a composite, beside the plus.

    >>> parse_ids("D001943|D010051")
    (('D001943', 'D010051'), 'all')
    """
    for further in (*composite[1:], "+"):
        written = written.replace(further, composite[0])
    for separator, rule in ((composite[0], "all"), (",", "any")):
        if separator in written:
            return _ruled(tuple(filled_parts(written, separator)), rule)
    return _ruled((written.strip(),) if written.strip() else (), "any")


def _ruled(ids: tuple[str, ...], rule: str) -> tuple[tuple[str, ...], str]:
    if not ids:
        return (), "any"
    if all(id_.lower() in NO_CONCEPT for id_ in ids):
        return (), "nil"
    # A separator at the end leaves one id, which is no composite.
    return ids, rule if len(ids) > 1 else "any"


def written_ids(mention: Mention) -> str:
    """Write the ids of a mention in one cell; `parse_ids` reads them back.

    An empty id, or one with a bar, a plus or a comma, is refused.
    """
    for id_ in mention.ids:
        if not id_.strip() or any(separator in id_ for separator in "|+,"):
            raise InvalidInput(
                f"the id {id_[:60]!r} of mention {mention.text[:60]!r} is empty or holds a "
                "separator of ids (one of | + ,); write JSONL instead"
            )
    if mention.ids:
        return ("|" if mention.rule == "all" else ",").join(mention.ids)
    return "-1" if mention.rule == "nil" else ""
