"""Names of a terminology that show what may be asked: well known ones, which link to themselves."""

from __future__ import annotations

from canonym.linker import Linker
from canonym.regex import regex
from canonym.types import Name

_LOOKED_AT = 3000
_TRIED = 40
_SHOWN = 6
_PLAIN = regex(r"[^\W\d_][a-z]{3,}([ -][a-z]{2,}){0,2}")
_LONGEST = 32


def examples_of(linker: Linker) -> list[str]:
    """Return a few names; fewer where a terminology has no plain ones.

    Names are taken evenly from the whole terminology. Those of concepts with many names go first,
    as concepts that people speak of have. Each is tried, so that an example never finds nothing.
    """
    terminology = linker.terminology
    step = max(1, terminology.n_names // _LOOKED_AT)
    names = terminology.names_at(range(0, terminology.n_names, step))
    plain = [name for name in names if _is_plain(name)]
    known: dict[str, tuple[int, str]] = {}
    for name in plain:
        if not terminology.concept(name.concept_id).deprecated:
            known.setdefault(name.concept_id, (len(terminology.names(name.concept_id)), name.text))
    best = sorted(known, key=lambda id_: (-known[id_][0], id_))[:_TRIED]
    texts = [known[id_][1] for id_ in best]
    links = linker.link(texts, k=1) if texts else []
    good = [link.mention.text for id_, link in zip(best, links, strict=True) if link.id == id_]
    return list(dict.fromkeys(good))[:_SHOWN]


def _is_plain(name: Name) -> bool:
    return (
        len(name.text) <= _LONGEST
        and name.scope in ("label", "exact")
        and name.language in ("", "en")
        and bool(_PLAIN.fullmatch(name.text))
    )
