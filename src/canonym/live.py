"""The names of an index that is taught while it is in use."""

from __future__ import annotations

import threading

from canonym.blocks import BlockBuilder
from canonym.overlay import Overlay, OverlayContent
from canonym.spaces import Names
from canonym.text import STRONG, normalise

__all__ = ["LiveNames"]


class LiveNames:
    """All names of an index, brought up to date whenever they are asked for.

    Parameters
    ----------
    overlay : Overlay
        What was added to the index.
    built : Names
        What was there when it was built.
    builder : BlockBuilder
        Makes blocks of added names.
    """

    def __init__(self, overlay: Overlay, built: Names, builder: BlockBuilder) -> None:
        self.overlay = overlay
        self._built = self._names = built
        self._builder = builder
        self._renewing = threading.Lock()
        self._seen = OverlayContent()
        self._ordinals: dict[str, int | None] = {}

    def now(self) -> Names:
        """Return all names as they are at this moment; the same object until something changes."""
        if self.overlay.read() is not self._seen:
            with self._renewing:
                content = self.overlay.read()
                if content is not self._seen:
                    self._names = self._renewed(content)
                    self._seen = content
        return self._names

    def learned_texts(self, concept_id: str) -> set[str]:
        """Return the names of a concept that are training mentions."""
        learned = () if self._built.learned is None else self._built.learned.names
        return {name.text for name in learned if name.concept_id == concept_id}

    def _renewed(self, content: OverlayContent) -> Names:
        names, ordinals = [], []
        for name in content.synonyms:
            ordinal = self._ordinal(name.concept_id)
            if ordinal is not None:
                names.append(name)
                ordinals.append(ordinal)
        forbidden: dict[str, frozenset[int]] = {}
        for mention, id_ in content.forbidden:
            ordinal, form = self._ordinal(id_), normalise(mention, STRONG)
            if ordinal is not None:
                forbidden[form] = forbidden.get(form, frozenset()) | {ordinal}
        if not names and not forbidden:
            return self._built
        return self._built.with_added(
            self._builder.build(names, ordinals) if names else None, forbidden
        )

    def _ordinal(self, id_: str) -> int | None:
        """Return the place of a concept, None for one of another release of the terminology."""
        if id_ not in self._ordinals:
            self._ordinals[id_] = self._built.base.terminology.ordinal(id_)
        return self._ordinals[id_]
