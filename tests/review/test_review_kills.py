"""The benchmark of killed reviews: it notices what is lost, half written or out of order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from canonym.review.models import Decision, Item
from canonym.review.store import Entry
from review_kills import Ledger, Sent, problems_of

LINK = [{"id": "D:1"}]
WHOLE = (("link", LINK, None), ("nil", [], 1), ("comment", [], 2), ("undo", [], 2))


def _history(*given: tuple[str, list[dict[str, str]], int | None]) -> list[Decision]:
    return [
        Decision(
            id=n, item_id=1, version=n + 2, kind=kind, concepts=concepts, comment=f"c{n}",
            fingerprint="", who="Ann", made=0.0, before=before,
        )
        for n, (kind, concepts, before) in enumerate(given, start=1)
    ]  # fmt: skip


def _problems(history: Sequence[Decision], state: str = "linked", n: int = 4) -> list[str]:
    """Return what is said of a history where the first `n` of `WHOLE` were acknowledged."""
    ledger = Ledger()
    for number, (kind, concepts, _) in enumerate(WHOLE, start=1):
        ids = tuple(one["id"] for one in concepts)
        sent = Sent(1, number + 2, kind, ids, f"c{number}", "Ann")
        ledger.begin(sent)
        ledger.note(sent, 200 if number <= n else None)
    item = Item(id=1, state=state, version=history[-1].version)
    return problems_of([Entry(item, history[0], tuple(history))], ledger)


def test_what_is_whole_is_no_problem() -> None:
    assert _problems(_history(*WHOLE)) == []
    # The last one may be lost, or there, if nobody was told.
    assert _problems(_history(*WHOLE), n=3) == []


def _lost(history: list[Decision]) -> list[Decision]:
    return history[:-1]


def _gap(history: list[Decision]) -> list[Decision]:
    return [history[0], *history[2:]]


def _half(history: list[Decision]) -> list[Decision]:
    history[0].concepts = []
    return history


def _twice(history: list[Decision]) -> list[Decision]:
    history[2].comment = "c4"
    return history


def _astray(history: list[Decision]) -> list[Decision]:
    history[3].before = 1
    return history


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_lost, "lost: Sent(item=1, version=6, kind='undo'"),
        (_gap, "the history has a gap: [3, 5, 6] of 6"),
        (_half, "half written: Sent(item=1, version=3, kind='link', ids=()"),
        (_twice, "'c4' is there twice"),
        (_astray, "'c4' comes after 1, and 2 counted then"),
    ],
)
def test_damage_is_noticed(damage: Callable[[list[Decision]], list[Decision]], said: str) -> None:
    assert any(said in one for one in _problems(damage(_history(*WHOLE))))


def test_a_state_that_is_not_that_of_the_history_is_noticed() -> None:
    said = _problems(_history(*WHOLE), state="nil")
    assert said == ["item 1 is nil, and its history says linked"]
