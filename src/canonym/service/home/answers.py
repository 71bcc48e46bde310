"""Views of links and concepts: plain values for the templates of the pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from canonym.exchange.mappings import mappings_of
from canonym.service.served import Opened
from canonym.terminology.readers.everyday import SOURCE as EVERYDAY
from canonym.text import STEPS
from canonym.types import OPEN, Candidate, Link

RELATIONS = {
    "equal": ("same", "the concept is what the name says"),
    "close": ("close", "the concept is near to what the name says, and may be another"),
    "broader": ("broader", "the concept is wider than what the name says"),
    "narrower": ("narrower", "the concept is narrower than what the name says"),
    "related": ("related", "the concept has to do with what the name says, and is not the same"),
}
"""What the concept is to the name: a word, and what that means."""

_SIEVES = {
    "id": "what you typed is its code",
    "verbatim": "“{name}” is {scope} of it",
    "normalised": "“{name}”, {scope} of it, is the same but for its form",
    "reordered": "“{name}”, {scope} of it, has the same words in another order",
    "bare": "“{name}”, {scope} of it, has the same words but for qualifiers",
}
_SCOPES = {
    "label": "the label",
    "exact": "a name",
    "broad": "a wider name",
    "narrow": "a narrower name",
    "related": "a related name",
    "abbreviation": "a short form",
}
_REMARKS = {"broad": "wider", "narrow": "narrower", "abbreviation": "short form"}
_FEW = 8  # names or children
_OTHERS = 5  # candidates beside the best


def address(terminology: str, id: str) -> str:
    """Return the address of the page of a concept."""
    return f"/concepts/{quote(terminology)}/{quote(id, safe=':')}"


def percent(share: float | None) -> str:
    """Return a probability in percent; never 0 or 100, for nothing is certain."""
    if share is None:
        return ""
    rounded = round(100 * share)
    return "over 99 %" if rounded > 99 else "under 1 %" if rounded < 1 else f"{rounded} %"


class Views:
    """Views of links and concepts of one opened index, which is served as `name`."""

    def __init__(self, opened: Opened, name: str, least: float) -> None:
        self._opened = opened
        self._terminology = opened.terminology
        self._name = name
        self._least = least

    # --- links ------------------------------------------------------------------------------------

    def link(self, link: Link, *, n: int = 1, whole: bool = True) -> dict[str, Any]:
        """Return what a page says of a link; `n` is how often the name was there."""
        parts = [self.link(part, whole=whole) for part in link.parts]
        doubts = {part["doubt"] for part in parts} or {self._doubt(link)}
        best = link.candidates[0] if link.candidates and link.id is not None else None
        others = link.candidates[1:] if best else link.candidates
        return {
            "mention": link.mention.text,
            "n": n,
            "doubt": doubts.pop() if len(doubts) == 1 else "check",
            "relation": self._relation(link),
            "confidence": percent(link.confidence) if best else "",
            "share": link.confidence if best else None,
            "score": best and f"{best.score:.2f}",
            "status": list(link.status),
            "reason": link.reason,
            "best": best and self.concept(best.id, whole=whole),
            "why": list(self._why(link, best)) if best else [],
            "against": _contradictions(best) if best else [],
            "others": [self._other(other) for other in others[:_OTHERS]],
            "parts": parts,
        }

    def _doubt(self, link: Link) -> str:
        if link.id is None:
            return "none"
        best = link.candidates[0]
        steps = {step.name for step in link.steps}
        open_ = link.status or best.against.contradictions or OPEN.keys() & steps
        likely = not open_ and (link.confidence or 0.0) >= self._least
        return "likely" if likely and not self._terminology.concept(best.id).deprecated else "check"

    def _relation(self, link: Link) -> tuple[str, str] | None:
        if link.parts or link.id is None:
            return None
        mapping = next(mappings_of(link), None)
        return RELATIONS.get(mapping.supported) if mapping else None

    def _why(self, link: Link, best: Candidate) -> Iterator[str]:
        how = [step.name for step in link.steps if step.name not in (*STEPS, *OPEN)]
        if link.searched not in ("", link.mention.text):
            by = f" ({', '.join(dict.fromkeys(how))})" if how else ""
            yield f"read as “{link.searched}”{by}"
        yield _matched(best)
        for step in link.steps:
            if step.name in OPEN:
                yield f"“{step.before}” {OPEN[step.name]}: {step.after}"
        names = self._terminology.names(best.id)
        if any(name.text == best.name and name.source == EVERYDAY for name in names):
            yield "an everyday name that canonym knows; the terminology does not have it"
        if best.sieve not in ("id", "verbatim"):
            yield from _words(best)
        if best.context:
            n = sum(bool(candidate.context) for candidate in link.candidates)
            yield f"{n} concepts have this name; the words around it decided"

    def _other(self, candidate: Candidate) -> dict[str, Any]:
        relation = RELATIONS[candidate.against.relation][0]
        return {
            **self._known(candidate.id),
            "name": candidate.name if candidate.name != candidate.label else "",
            "score": f"{candidate.score:.2f}",
            "relation": "" if relation == "same" else relation,
            "against": _contradictions(candidate),
        }

    # --- concepts ---------------------------------------------------------------------------------

    def _known(self, id: str) -> dict[str, Any]:
        """Return what a link to a concept needs; one beyond the terminology has no address."""
        known = self._terminology.resolve(id)
        if known is None:
            return {"id": id, "label": id, "href": ""}
        label = self._terminology.concept(known).label or known
        return {"id": known, "label": label, "href": address(self._name, known)}

    def _all_known(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        return [self._known(id_) for id_ in ids]

    def concept(self, id: str, *, whole: bool = True, most: int = _FEW) -> dict[str, Any]:
        """Return a concept: its place in the hierarchy, and of what is many the first `most`."""
        known = self._known(id)
        if not known["href"]:
            return {**known, "path": [], "names": [], "children": [], "more": {}}
        concept = self._terminology.concept(known["id"])
        above = self._opened.path(concept.id)[:-1]
        view = {
            **known,
            "path": self._all_known(above),
            "types": list(concept.types),
            "definition": concept.definition,
            "deprecated": concept.deprecated,
            "replaced_by": self._all_known(concept.replaced_by),
        }
        if not whole:
            return view
        names = self._names(concept.id, concept.label)
        children = self._terminology.children(concept.id)
        return {
            **view,
            "names": names[:most],
            "children": self._all_known(children[:most]),
            "more": {"names": len(names) - most, "children": len(children) - most},
        }

    def _names(self, id: str, label: str) -> list[dict[str, str]]:
        """Return the other names of a concept, each once, with what has to be said of it."""
        added: dict[str, dict[str, str]] = {}
        for name in self._opened.names(id):
            remarks = (
                [] if name.scope in ("label", "exact") else [_REMARKS.get(name.scope, name.scope)]
            )
            if name.source == EVERYDAY:
                remarks.append("everyday")
            if name.text != label:
                language = name.language if name.language not in ("", "en") else ""
                added.setdefault(
                    name.text,
                    {"text": name.text, "language": language, "remark": ", ".join(remarks)},
                )
        return [*added.values()]

    def page(self, id: str) -> dict[str, Any]:
        """Return all that the page of a concept shows."""
        concept = self._terminology.concept(id)
        parents = self._terminology.parents(concept.id)
        xrefs = self._terminology.xrefs(concept.id)
        return {
            **self.concept(concept.id, most=100),
            "parents": self._all_known(parents),
            "alternative_ids": [xref.target for xref in xrefs if xref.kind == "alternative"],
            "xrefs": [xref.target for xref in xrefs if xref.kind != "alternative"],
            "source": " ".join(filter(None, (concept.source, concept.version))),
        }

    def beginning(self, prefix: str, shown: set[str]) -> list[dict[str, Any]]:
        """Return concepts with a name that begins so, but for those that are shown already."""
        hits = self._opened.search(prefix, _FEW)
        return [
            {**self._known(concept.id), "name": name if name != concept.label else ""}
            for concept, name in hits
            if concept.id not in shown
        ]


def _matched(best: Candidate) -> str:
    scope = _SCOPES.get(best.scope, "a name")
    if best.sieve in _SIEVES:
        return _SIEVES[best.sieve].format(name=best.name, scope=scope)
    return f"no name is the same; “{best.name}” is the most similar ({best.score:.2f})"


def _words(candidate: Candidate) -> Iterator[str]:
    for words, what in (
        (candidate.against.left_over, "only what was asked has"),
        (candidate.against.missing, "only the name has"),
    ):
        if words:
            yield f"{what}: {', '.join(words)}"


def _contradictions(candidate: Candidate) -> list[str]:
    return [
        f"contradiction of {kind}: asked is {_quoted(mention)}, the name has {_quoted(name)}"
        for kind, mention, name in candidate.against.contradictions
    ]


def _quoted(words: str) -> str:
    return f"“{words}”" if words else "nothing of it"


def summary(views: Sequence[Mapping[str, Any]]) -> str:
    """Return how many names are likely right, to be checked, and without a concept."""
    counts = dict.fromkeys(("likely", "check", "none"), 0)
    for view in views:
        counts[view["doubt"]] += 1
    words = {"likely": "likely right", "check": "to check", "none": "without a concept"}
    return ", ".join(f"{n:,} {words[doubt]}" for doubt, n in counts.items() if n)
