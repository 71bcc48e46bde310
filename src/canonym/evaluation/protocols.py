"""Protocols: the rules of an evaluation.

A number without its protocol says nothing. On the same mentions and with the same system, the
choices below move accuracy by twenty points. `PROTOCOLS` has five of them.

=============  ================  ============  ===========  ====================================
protocol       looked up         dictionary    composites   mentions
=============  ================  ============  ===========  ====================================
``biosyn``     prepared strings  + training    gold / text  with an id in the dictionary
``refined``    prepared strings  + training    gold / text  and not in the training data, once
``zero-shot``  prepared strings  alone         gold / text  and of a concept not in the training
``plain``      text as written   alone         never        with an id in the dictionary
``raw``        text and span     alone         the linker   all, NIL included
=============  ================  ============  ===========  ====================================

Every answer has three readings:

``lenient``
    BioSyn's rule. *Names* are ranked: distinct strings with the ids of all their concepts. A part
    is right if its top name carries any id of the mention, a mention if all its parts are. The rule
    forgives homonyms: a name of ten concepts counts for each of them.
``strict``
    *Concepts* are ranked by their best name, ties by label and then by id. A part is right if the
    top concept is one of the mention's.
``complete``
    As strict, and the parts have to match the concepts of a composite mention one to one. The only
    reading of ``raw``.

References
----------
Sung, Jeon, Lee and Kang (2020), Biomedical Entity Representations with Synonym Marginalization.
Miftahutdinov et al. (2021), Drug and Disease Interpretation Learning with Biomedical Entity
Representation Transformer. Tutubalina et al. (2020), Fair Evaluation in Concept Normalization.
Yuan et al. (2020), CODER, section 4.4.1: ``plain``, on the folds of CADEC and PsyTar.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from canonym.errors import InvalidInput

READINGS: tuple[str, ...] = ("lenient", "strict", "complete")
"""Readings of the answers, from the most forgiving to the least."""

SAME: dict[str, str] = {
    "text": "two mentions are the same when their texts are",
    "pair": "two mentions are the same when their texts and their concepts are: the rule that "
    "gives the published sizes",
}
"""Ways in which two mentions are compared: by text, or by text and ids."""

SPLITS: dict[str, str] = {
    "gold": "a mention is split only if the gold has several ids for it, and then by its text: "
    "this leans on the gold, as BioSyn's released code does",
    "text": "a mention is split if its text alone says so",
    "file": "mentions are prepared already, and split at the bars in the file",
    "written": "mentions and names are compared as they are written; a mention is split only if "
    "the gold has several ids for it, and then by its text, which leans on the gold",
    "none": "mentions and names are compared as they are written, and no mention is split",
    "linker": "the linker splits a mention, or does not",
}
"""Ways of splitting composite mentions."""

_KEEP: dict[str, str] = {
    "known": "mentions are dropped unless every id they have is in the terminology",
    "refined": "of those, mentions are dropped if their prepared text is in the training data, or "
    "repeats that of an earlier one",
    "zero-shot": "of those, mentions are dropped if any of their concepts is in the training data",
    "all": "no mention is dropped; one without a concept is right if called NIL, and one with an "
    "unknown id is always wrong",
}


@dataclass(frozen=True, slots=True)
class Protocol:
    """The rules of an evaluation; made by `choose_protocol`.

    Parameters
    ----------
    name : str
        A key of `PROTOCOLS`.
    split : str
        How composite mentions are split, a key of `SPLITS`.
    keep : str
        The mentions to keep: ``"known"``, ``"refined"``, ``"zero-shot"`` or ``"all"``.
    merge : bool
        Whether the texts of training mentions become names of the terminology.
    readings : tuple of str
        Of `READINGS`. Published numbers compare with the first.
    same : str
        The rule of ``"refined"`` for equal mentions, one of `SAME`.
    glosses : bool
        Whether a mention may be looked up by its explanation in the document, as a linker does. The
        published protocols do not. See `canonym.mentions.aliases`.
    """

    name: str
    split: str
    keep: str
    merge: bool
    readings: tuple[str, ...] = READINGS
    same: str = "pair"
    glosses: bool = False

    @property
    def prepared(self) -> bool:
        """Whether the protocol prepares strings, and not the linker."""
        return self.split != "linker"

    @property
    def as_written(self) -> bool:
        """Whether encoders get mentions and names letter for letter."""
        return self.split in {"none", "written"}

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules as sentences for the report, in the order in which they apply."""
        rules = []
        if self.split in {"gold", "text"}:
            rules.append(
                "abbreviations that the document defines are written out as words between spaces; "
                "mentions and names are in lower case, without punctuation"
            )
        if self.glosses:
            rules.append(
                "a mention in brackets is looked up as the one before it if that finds a nearer "
                "name, and the other way round; the published protocols do not do this"
            )
        rules.append(SPLITS[self.split])
        if self.prepared:
            rules.append(_KEEP["known"])
        if self.keep != "known":
            rules.append(_KEEP[self.keep])
        if self.keep == "refined":
            rules.append(SAME[self.same])
        rules.append(
            "training mentions are names of their concepts: train for dev, train and dev for test"
            if self.merge
            else "the terminology is searched without training mentions"
        )
        if self.prepared:
            rules.append("neither sieves nor spelling: names are ranked by similarity")
        if "lenient" in self.readings:
            rules.append(
                "lenient: right when the top name of every part carries any id of the mention"
            )
            rules.append(
                "strict: right when the top concept of every part is one of the mention's; ties by "
                "label, then by id"
            )
        rules.append(
            "complete: right when the top concepts of the parts are the mention's, one to one"
        )
        return tuple(rules)

    def to_dict(self) -> dict[str, Any]:
        """Return the protocol and its rules as plain dicts and lists."""
        return {**asdict(self), "readings": list(self.readings), "rules": list(self.rules)}


PROTOCOLS: dict[str, Protocol] = {
    "biosyn": Protocol("biosyn", split="gold", keep="known", merge=True),
    "refined": Protocol("refined", split="gold", keep="refined", merge=True),
    "zero-shot": Protocol("zero-shot", split="gold", keep="zero-shot", merge=False),
    "plain": Protocol("plain", split="none", keep="known", merge=False),
    "raw": Protocol("raw", split="linker", keep="all", merge=False, readings=("complete",)),
}
"""The protocols by name, each in the variant that was published."""


def choose_protocol(
    protocol: str | Protocol,
    *,
    split: str | None = None,
    same: str | None = None,
    glosses: bool = False,
) -> Protocol:
    """Return a protocol, or a variant of it.

    Parameters
    ----------
    protocol : str or Protocol
        A key of `PROTOCOLS`.
    split : str, optional
        Another way of splitting composite mentions: ``"gold"``, ``"text"``, ``"file"``, or
        ``"written"`` and ``"none"``, which leave strings as they are written.
    same : str, optional
        Another rule for equal mentions of ``refined``: ``"text"``, or ``"pair"``, which is the
        published one.
    glosses : bool
        Whether mentions may be looked up by their explanations in the document.

    Returns
    -------
    Protocol
        The protocol, or its variant.

    Raises
    ------
    InvalidInput
        If there is no such protocol, or it has no such variant.

    Examples
    --------
    >>> choose_protocol("biosyn", split="text").split
    'text'
    """
    if isinstance(protocol, str):
        if protocol not in PROTOCOLS:
            raise InvalidInput(
                f"there is no protocol {protocol!r}; there are {', '.join(PROTOCOLS)}"
            )
        protocol = PROTOCOLS[protocol]
    if split is not None and split != protocol.split:
        allowed = [name for name in SPLITS if name != "linker"] if protocol.prepared else []
        if split not in allowed:
            raise InvalidInput(
                f"the protocol {protocol.name!r} cannot split by {split!r}; "
                + (f"it can by {', '.join(allowed)}" if allowed else "the linker does it")
            )
        protocol = replace(protocol, split=split)
    if same is not None:
        if protocol.keep != "refined" or same not in SAME:
            raise InvalidInput(
                f"same={same!r} is no variant of the protocol {protocol.name!r}; only 'refined' "
                f"has one, {' or '.join(map(repr, SAME))}"
            )
        protocol = replace(protocol, same=same)
    if glosses:
        if protocol.split not in {"gold", "text"}:
            raise InvalidInput(
                "glosses are for protocols that prepare the mentions of documents; "
                f"{protocol.name!r} "
                + (
                    "leaves that to the linker"
                    if protocol.split == "linker"
                    else "takes them as is"
                )
            )
        protocol = replace(protocol, glosses=True)
    return protocol
