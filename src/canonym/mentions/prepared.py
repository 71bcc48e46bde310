"""A mention that is ready to be looked up: its parts, and all that each may be read as."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from canonym.mentions.lists import Listing
from canonym.mentions.status import Stated
from canonym.types import Step

ABBREVIATION = "abbreviation"
"""Name of the step that writes an abbreviation out, or takes off one that a mention explains."""

DRUG_LINE = "drug line"
"""Name of the step from a drug line to the names in it."""

SHORT_FORM = "short form"
"""Name of the step back to a mention as it was before its abbreviations were written out."""

TOLD = "told"
"""Name of the step to a name among words that tell of it."""


class How(enum.IntEnum):
    """How a string is looked up, the most first; ids are asked for but with `SIEVED`."""

    SEARCHED = 0
    LISTED = 1
    SIEVED = 2


Asked = tuple[str, How]
"""A string that is looked up, and how."""


class Use(enum.Enum):
    """When a reading counts rather than its text, which no sieve knows."""

    NEAR = "a name is nearer to it"
    KNOWN = "a sieve knows it"
    SOLE = "sieves know no other concept among all such readings"
    GLOSS = "the document explains the text by it"


class Reading(NamedTuple):
    """Another string that a text may be read as: the last step to it, and when it counts.

    The step begins at the text, or at a reading before, and its name is the kind of reading.
    """

    step: Step
    use: Use


_SEARCHED = (Use.NEAR, Use.GLOSS)


class Part(NamedTuple):
    """A string to look up.

    `text` is tried first and its `readings` after it, those of a use in their order. `steps` tell
    how the mention became `text`.

    `status` is what words said that `text` no longer has. `stated` is then the text with them, and
    other wordings of it. Where one of these is a name that says the same, it is meant, and what it
    says is no status. `told` is what the words around a name say of it, where it is read by the
    step `TOLD`.
    """

    text: str
    readings: tuple[Reading, ...] = ()
    steps: tuple[Step, ...] = ()
    status: tuple[str, ...] = ()
    stated: tuple[Stated, ...] = ()
    told: tuple[str, ...] = ()

    def ways(self, *uses: Use) -> list[Step]:
        """Return the steps to the readings of some uses."""
        return [step for step, use in self.readings if use in uses]

    @property
    def strings(self) -> Iterator[Asked]:
        """Every string that is looked up, and how; the two first wordings are searched."""
        yield self.text, How.SEARCHED
        for step, use in self.readings:
            yield step.after, How.SEARCHED if use in _SEARCHED else How.SIEVED
        for place, stated in enumerate(self.stated):
            yield stated.text, How.SEARCHED if place < 2 else How.SIEVED


class Prepared(NamedTuple):
    """A mention ready to be looked up.

    `whole` is the mention in one piece; `parts` are its pieces if it looks composite, else the
    whole alone. The look-up decides whether to split.

    `items` are what the mention lists between separators that stand in no name. With `is_cut` they
    are the answer whatever is found, with `is_sure` where no sieve knows the whole. `listing` is
    what it may list between others, and `names` its candidates, looked up in the sieves alone. The
    look-up takes `listed` from them. `text` is the mention as it stands in its list.
    """

    whole: Part
    parts: tuple[Part, ...]
    items: tuple[Prepared, ...] = ()
    is_sure: bool = False
    is_cut: bool = False
    listing: Listing | None = None
    names: Mapping[str, Part] = {}  # never changed
    listed: tuple[Part, ...] = ()
    text: str = ""

    @property
    def may_list(self) -> bool:
        """Whether the look-up has to tell what the mention lists."""
        return bool(self.items) or self.listing is not None


def strings_of(prepared: Prepared) -> dict[str, How]:
    """Return every string that is looked up for a mention, and how.

    What it may list is looked up in ids and sieves: whether a mention lists it depends on that.
    """
    strings: dict[str, How] = {}
    for part, most in _parts_of(prepared):
        for text, how in part.strings:
            how = max(how, most)
            if how < strings.get(text, len(How)):
                strings[text] = how
    return strings


def _parts_of(prepared: Prepared) -> Iterator[tuple[Part, How]]:
    """Yield the whole, its parts if there are several, all items, and all that it may list."""
    yield prepared.whole, How.SEARCHED
    several = prepared.parts if len(prepared.parts) > 1 else ()
    for part in (*several, *prepared.listed):
        yield part, How.SEARCHED
    for part in prepared.names.values():
        yield part, How.LISTED
    for item in prepared.items:
        yield from _parts_of(item)
