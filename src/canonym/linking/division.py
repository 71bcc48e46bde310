"""Items of a list: the pieces of a mention that are, by the names that sieves know of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from canonym.linking.hits import NEAR, SIEVE_STEPS, NamesOfHits, StringHits, is_name
from canonym.linking.settings import IDS
from canonym.mentions.english import LEAST, is_english
from canonym.mentions.lists import is_code, items_of, may_stand_alone, qualifies, words_of
from canonym.mentions.prepared import Part, Prepared, Use
from canonym.mentions.told import status_of_listed
from canonym.regex import regex
from canonym.text.words import words_of_kind
from canonym.types import Step

_SENTENCES = regex(r"(?:[^\W\d_]{3}|[A-Z]{2})\.\s+[A-Z]|\s(?:->|-->|=>|\u2192|//)\s")
"""What parts things and stands in no name: the end of a sentence, an arrow, a slash twice."""


def divide(prepared: Prepared, hits_of: Mapping[str, StringHits], names: NamesOfHits) -> Prepared:
    """Return a mention that may list names with those that it lists, by what sieves know.

    A mention that a sieve knows is no list. Between separators that stand in names as well, all
    that is listed is a name; between others, anything. Where the syntax of a composite mention
    gives names too, as in "breast and ovarian cancer", these count.
    """
    items = tuple(
        divide(item, hits_of, names) if item.may_list else item for item in prepared.items
    )
    if prepared.is_cut:
        return prepared._replace(items=items)
    if hits_of[prepared.whole.text].sieve == IDS:
        return prepared._replace(items=(), listing=None, names={})  # "M10.9 | gout" is one thing
    if is_name(prepared.whole, hits_of):
        if items and prepared.is_sure and _only_reads_alike(prepared, hits_of, names):
            return prepared._replace(items=items)
        return prepared._replace(items=(), listing=None, names={})
    if items and (prepared.is_sure or _are_items(prepared, items, hits_of, names)):
        return prepared._replace(items=items)
    return _with_listed(prepared, hits_of)


def _only_reads_alike(
    prepared: Prepared, hits_of: Mapping[str, StringHits], names: NamesOfHits
) -> bool:
    """Tell whether a sieve knows a list only because it reads no separators.

    "migraine; headache" are two names, though "migraine headache" is one.
    """
    hits = hits_of[prepared.whole.text].hits[:1]
    known = all(is_name(item.whole, hits_of) for item in prepared.items)
    return known and not any(items_of(names.name(hit).text) for hit in hits)


def _are_items(
    prepared: Prepared,
    items: Sequence[Prepared],
    hits_of: Mapping[str, StringHits],
    names: NamesOfHits,
) -> bool:
    """Tell whether lines or clauses are items of a list, and not a name with a break in it."""
    unknown = [
        item for item in items if not (item.items or item.listed or is_name(item.whole, hits_of))
    ]
    if prepared.needs_all:
        if items[0].text.lower() in words_of_kind("head of a relation"):
            return False  # "infection with herpes virus" is one thing
        texts = [item.whole.text for item in unknown]
        near = (hits_of[text].score >= NEAR and not _is_remark(text) for text in texts)
        return all(near) and not _is_together(prepared.whole, items, hits_of, names)
    if any(qualifies(item.text) for item in items[1:] if not item.whole.stated):
        return False  # "asthma - allergic"
    if not unknown:
        return True
    if len(unknown) == len(items):
        return all(is_code(item.text) for item in unknown)
    if _SENTENCES.search(prepared.whole.text):
        return True
    if hits_of[prepared.whole.text].score >= NEAR:
        return False
    # "not at target" denies nothing that anybody has.
    remarks = (_is_remark(item.whole.text) for item in unknown if item.whole.status)
    return not any(remarks) and all(may_stand_alone(item.text) for item in unknown)


def _is_together(
    whole: Part, items: Sequence[Prepared], hits_of: Mapping[str, StringHits], names: NamesOfHits
) -> bool:
    """Tell whether a name near the whole has words of each item: *hip fracture in osteoporosis*."""
    read = [step.after for step in (*whole.ways(Use.NEAR), *whole.ways(Use.KNOWN))]
    near = [names.name(hit).text for text in (whole.text, *read) for hit in hits_of[text].hits[:1]]
    said = frozenset[str]().union(*map(words_of, near))
    parts = [
        frozenset[str]().union(*map(words_of, _called(item, hits_of, names))) for item in items
    ]
    own = [part - frozenset[str]().union(*(o for o in parts if o is not part)) for part in parts]
    return all(not part.isdisjoint(said) for part in own)


def _called(item: Prepared, hits_of: Mapping[str, StringHits], names: NamesOfHits) -> Iterator[str]:
    """Yield an item as it is written, and what the concepts that sieves know for it are called."""
    yield item.whole.text
    for text in (item.whole.text, *(step.after for step, _ in item.whole.readings)):
        if hits_of[text].sieve in SIEVE_STEPS:
            yield from (name for hit in hits_of[text].hits[:1] for name in names.texts(hit))


def _is_remark(text: str) -> bool:
    """Tell whether a text has words of everyday English alone, and short ones."""
    return all(len(word) < LEAST or is_english(word) for word in text.split()) and text.islower()


def _with_listed(prepared: Prepared, hits_of: Mapping[str, StringHits]) -> Prepared:
    """Add the names that a mention lists, none where it does not."""
    whole = prepared.whole
    listing, names = prepared.listing, prepared.names
    prepared = prepared._replace(items=(), names={})
    if listing is None:
        return prepared
    if len(prepared.parts) > 1 and all(is_name(part, hits_of) for part in prepared.parts):
        return prepared
    cut = listing.cut(lambda text: is_name(names[text], hits_of))
    if cut is None:
        return prepared
    steps = (*whole.steps, Step("list", whole.text, " | ".join(cut.names)))
    said = status_of_listed(whole, [listing.places.get(name) for name in cut.names])
    listed = tuple(
        part._replace(steps=steps, status=part.status if part.stated else own)
        for part, own in zip(map(names.__getitem__, cut.names), said, strict=True)
    )
    return prepared._replace(listed=listed, is_near=cut.is_near)
