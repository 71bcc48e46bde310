"""The nouns: what they refuse, what they derive, what they become as plain data."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from canonym.types import (
    SCOPES,
    Candidate,
    Concept,
    Document,
    Encoder,
    Hits,
    Link,
    Mention,
    Name,
    Relation,
    SparseVectors,
    Step,
    Xref,
)

FIRST = Candidate("X:1", "flu", 0.9, "grippe")
SECOND = Candidate("X:2", "cold", 0.6, "common cold", "exact", ("Disease",), "search", {"a": 0.6})


@pytest.mark.parametrize(
    "noun",
    [Concept("X:1"), Name("flu", "X:1"), Relation("X:1", "is_a", "X:2"), Xref("X:1", "Y:1"),
     Mention("flu"), Document("1", "flu"), FIRST, Link(Mention("flu"))],
)  # fmt: skip
def test_nouns_cannot_be_changed(noun: object) -> None:
    field = dataclasses.fields(noun)[0].name  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(noun, field, "other")


def test_defaults() -> None:
    assert Name("flu", "X:1") == Name("flu", "X:1", "exact", "en", "")
    assert Concept("X:1") == Concept("X:1", "", "", (), "", "", False, ())
    assert Xref("X:1", "Y:1").kind == "xref"
    assert Mention("flu").rule == "any"
    assert SCOPES[0] == "label"
    assert len(set(SCOPES)) == len(SCOPES)


def test_a_link_is_its_best_candidate() -> None:
    link = Link(Mention("flu"), (FIRST, SECOND))
    assert (link.id, link.ids, link.label, link.score) == ("X:1", ("X:1",), "flu", 0.9)
    assert link.margin == pytest.approx(0.3)
    assert Link(Mention("flu"), (FIRST,)).margin is None


def test_a_nil_link_has_no_id_but_keeps_its_candidates() -> None:
    link = Link(Mention("flu"), (FIRST, SECOND), nil=True, reason="score below 0.95")
    assert (link.id, link.ids, link.label) == (None, (), None)
    assert (link.score, link.margin) == (0.9, pytest.approx(0.3))
    empty = Link(Mention("?"))
    assert (empty.id, empty.ids, empty.label, empty.score, empty.margin) == (
        None,
        (),
        None,
        None,
        None,
    )


def test_a_composite_link_has_the_ids_of_its_parts() -> None:
    parts = (
        Link(Mention("flu"), (FIRST,)),
        Link(Mention("?"), nil=True),
        Link(Mention("cold"), (SECOND,)),
    )
    link = Link(Mention("flu and cold"), parts=parts)
    assert (link.id, link.ids) == (None, ("X:1", "X:2"))


def test_a_link_as_plain_data() -> None:
    link = Link(
        Mention("flu & cold", 3, 13, "Disease", document_id="d"),
        searched="flu cold",
        steps=(Step("punctuation", "flu & cold", "flu cold"),),
        parts=(Link(Mention("cold"), (SECOND,)),),
    )
    plain = json.loads(json.dumps(link.to_dict()))
    assert plain == {
        "mention": "flu & cold", "start": 3, "end": 13, "type": "Disease", "document": "d",
        "ids": ["X:2"], "nil": False, "reason": "", "searched": "flu cold",
        "confidence": None, "status": [],
        "steps": [{"name": "punctuation", "before": "flu & cold", "after": "flu cold"}],
        "candidates": [],
        "parts": [{
            "mention": "cold", "start": None, "end": None, "type": "", "document": "",
            "ids": ["X:2"], "nil": False, "reason": "", "searched": "", "steps": [],
            "confidence": None, "status": [],
            "candidates": [{
                "id": "X:2", "label": "cold", "score": 0.6, "name": "common cold",
                "scope": "exact", "types": ["Disease"], "sieve": "search", "parts": {"a": 0.6},
            }],
            "parts": [],
        }],
    }  # fmt: skip


def test_arrays() -> None:
    hits = Hits(np.zeros((2, 3), np.int32), np.ones((2, 3), np.float32))
    rows, scores = hits
    assert rows.shape == scores.shape == (2, 3)
    sparse = SparseVectors(
        np.array([0, 1, 3]), np.array([2, 0, 1], np.int32), np.ones(3, np.float32), 4
    )
    assert (sparse.n_rows, sparse.n_columns) == (2, 4)


def test_whatever_encodes_is_an_encoder() -> None:
    class Length:
        def encode(self, names: list[str]) -> np.ndarray:
            return np.array([[len(name)] for name in names], dtype=np.float32)

    assert isinstance(Length(), Encoder)
    assert not isinstance(object(), Encoder)
