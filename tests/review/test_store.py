"""The store of reviews: nothing is lost, whoever writes at the same time."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from canonym import Linker
from canonym.errors import InvalidInput, ReadError
from canonym.review.database import Unreachable
from canonym.review.export import export_review
from canonym.review.models import Workbook
from canonym.review.queues import same_words
from canonym.review.store import Absent, Conflict, Given, Store, decided_ids
from canonym.review.table import as_table
from tests.review.conftest import decide, item_of, review_of

MI = {"id": "X:1", "label": "Myocardial infarction", "relation": "equal", "parents": []}


def test_a_mention_with_its_context_is_decided_once_for_all_rows(store: Store) -> None:
    rows = [["cold", "winter", "2"], ["cold", "winter", "3"], ["cold", "nose", "1"], ["", "", "9"]]
    table = as_table(
        ["text", "near", "n"], rows, column="text", context_column="near", frequency_column="n"
    )
    review = store.create("colds", "small", table, who="ann")
    found = [entry.item for entry in store.entries(review)]
    assert [(one.mention, one.context, one.frequency) for one in found] == [
        ("cold", "winter", 5),
        ("cold", "nose", 1),
    ]
    assert [(row.cells, entry and entry.item.id) for row, entry in store.rows(review)] == [
        (rows[0], found[0].id),
        (rows[1], found[0].id),
        (rows[2], found[1].id),
        (rows[3], None),
    ]


def test_the_queue_begins_with_doubt_and_then_with_what_is_frequent(
    store: Store, linker: Linker
) -> None:
    mentions = ["heart attack", "broken hip", "broken hip", "diabetic melitus thing"]
    review = review_of(store, mentions, linker)
    queue, total, _ = store.queue(review)
    assert total == 3
    frequency = {one.item.mention: one.item.frequency for one in queue}
    assert frequency == {"diabetic melitus thing": 1, "broken hip": 2, "heart attack": 1}
    assert queue[0].item.mention == "diabetic melitus thing"
    sureness = [(one.item.confidence, -one.item.frequency) for one in queue]
    assert sureness == sorted(sureness)


def test_what_has_no_proposal_comes_last_and_rubbish_after_all_else(
    store: Store, linker: Linker
) -> None:
    mentions = ["??", "no heart attack", "heart attack", "broken hip", "broken hip"]
    review = review_of(store, mentions, linker)
    queue = [one.item for one in store.queue(review)[0]]
    shown = [one.mention for one in queue]
    assert {*shown[:2]} == {"broken hip", "heart attack"}
    assert shown[2:] == ["no heart attack", "??"]
    assert [one.confidence < 0 for one in queue] == [False, False, True, True]
    assert store.acceptable(review, 0.01)["items"] == 2


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        ("frequency", ["broken hip", "heart attack", "Cold"]),
        ("row", ["heart attack", "broken hip", "Cold"]),
        ("text", ["broken hip", "Cold", "heart attack"]),
    ],
)
def test_a_queue_is_sorted_as_somebody_likes(
    store: Store, linker: Linker, order: str, shown: list[str]
) -> None:
    review = review_of(store, ["heart attack", "broken hip", "Cold", "broken hip"], linker)
    assert [one.item.mention for one in store.queue(review, order=order)[0]] == shown


def test_a_queue_is_searched_and_read_in_pages(store: Store, linker: Linker) -> None:
    review = review_of(store, ["100% hip", "1000 hips", "broken hip"], linker)
    found, total, _ = store.queue(review, text="0%")
    assert (total, found[0].item.mention) == (1, "100% hip")
    whole = [one.item.id for one in store.queue(review)[0]]
    pages = [store.queue(review, offset=at, limit=1)[0][0].item.id for at in range(3)]
    assert pages == whole


def test_a_decision_from_an_old_version_is_a_conflict_and_changes_nothing(store: Store) -> None:
    review = review_of(store, ["heart attack"])
    seen = item_of(store, review, "heart attack").item
    store.decide(seen.id, Given("link", (MI,)), version=seen.version, who="ann")
    with pytest.raises(Conflict, match="somebody else changed this item"):
        store.decide(seen.id, Given("nil"), version=seen.version, who="bob")
    item, decision, history = store.item(seen.id)
    assert decision is not None
    assert (item.state, decision.who, decision.concepts) == ("linked", "ann", [MI])
    assert len(history) == 1


def test_of_many_at_once_one_writes_and_all_others_are_told(store: Store) -> None:
    review = review_of(store, ["heart attack"])
    seen = item_of(store, review, "heart attack").item
    outcomes: list[str] = []

    def decide(who: str) -> None:
        try:
            store.decide(seen.id, Given("nil"), version=seen.version, who=who)
            outcomes.append("written")
        except Conflict:
            outcomes.append("conflict")

    threads = [threading.Thread(target=decide, args=(f"r{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["conflict"] * 7 + ["written"]
    assert len(store.item(seen.id).history) == 1


def test_undo_returns_to_the_decision_before_and_keeps_all_of_them(store: Store) -> None:
    review = review_of(store, ["heart attack"])
    id_ = item_of(store, review, "heart attack").item.id
    states = []
    for given in (
        Given("link", (MI,)),
        Given("comment", comment="sure?"),
        Given("nil"),
        Given("undo"),
        Given("undo"),
    ):
        item = store.decide(id_, given, version=len(states) + 1, who="ann").item
        states.append((item.state, item.version))
    assert states == [("linked", 2), ("linked", 3), ("nil", 4), ("linked", 5), ("open", 6)]
    kinds = [one.kind for one in store.item(id_).history]
    assert kinds == ["link", "comment", "nil", "undo", "undo"]
    with pytest.raises(InvalidInput, match="nothing to undo"):
        store.decide(id_, Given("undo"), version=6, who="ann")
    assert store.item(id_).item.version == 6


def test_decisions_cannot_be_changed_or_removed(store: Store) -> None:
    review = review_of(store, ["heart attack"])
    id_ = item_of(store, review, "heart attack").item.id
    store.decide(id_, Given("nil"), version=1, who="ann")
    for sql in ("UPDATE decisions SET who = 'eve'", "DELETE FROM decisions"):
        with (
            pytest.raises(DatabaseError, match="decisions are only ever added"),
            store._writer.begin() as connection,
        ):
            connection.execute(text(sql))
    assert store.item(id_).history[0].who == "ann"


def test_all_that_is_sure_enough_is_accepted_with_the_errors_to_expect(
    store: Store, linker: Linker
) -> None:
    mentions = ["heart attack", "heart attacks", "broken hip", "zzz qqq"]
    review = review_of(store, mentions, linker)
    sure = [one.item.confidence for one in store.queue(review)[0] if one.item.confidence >= 0.5]
    found = store.acceptable(review, 0.5)
    assert (found["items"], found["rows"]) == (3, 3)
    assert found["errors"] == pytest.approx(sum(1 - one for one in sure))
    with pytest.raises(InvalidInput, match="3 items are here now, and not 4"):
        store.accept_above(review, 0.5, expected=4, who="ann")
    assert store.progress(review)["items"]["accepted"] == 0
    before, n, _ = store.queue(review, least=0.5)
    assert (n, [one.item.confidence for one in before]) == (3, sorted(sure))
    left = before[0].item
    assert store.accept_above(review, 0.5, without=[left.id], expected=2, who="ann") == 2
    assert store.queue(review, least=0.5)[0][0].item.id == left.id
    assert store.accept_above(review, 0.5, expected=1, who="ann") == 1
    assert store.progress(review)["items"] == {
        **{"open": 1, "reopened": 0, "flagged": 0},
        **{"accepted": 3, "linked": 0, "nil": 0},
    }
    decision = item_of(store, review, "broken hip").decision
    assert decision is not None
    assert [one["id"] for one in decision.concepts] == ["X:4"]


_WRITER = """
import sys
from canonym.review.store import Given, Store
store = Store(sys.argv[1])
item, version = int(sys.argv[2]), 1
while True:
    store.decide(item, Given("comment", comment=str(version)), version=version, who="ann")
    version += 1
    print(version, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill(place: str, opened: Callable[[str], Store]) -> None:
    store = opened(place)
    id_ = item_of(store, review_of(store, ["heart attack"]), "heart attack").item.id
    command = [sys.executable, "-c", _WRITER, place, str(id_)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline() for _ in range(20)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += writer.stdout.readlines()
    last = int([line for line in acknowledged if line.endswith("\n")][-1])
    item, _, history = opened(place).item(id_)
    assert item.version in (last, last + 1)  # it may have died before it could say so
    assert [one.version for one in history] == list(range(2, item.version + 1))


def test_a_place_that_is_no_database_of_reviews_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("these are notes, and no database at all" * 100)
    with pytest.raises(ReadError, match="cannot be used as a database of reviews"):
        Store(str(other))
    assert other.read_text().startswith("these are notes")
    with pytest.raises(InvalidInput, match=r"begins with mysql://; a file, or an address"):
        Store("mysql://localhost/x")
    with pytest.raises(ReadError, match="cannot be used") as caught:
        Store("postgresql://ann:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)


def test_several_processes_may_open_a_new_database_at_once(place: str) -> None:
    code = "import sys; from canonym.review.store import Store; Store(sys.argv[1]).close()"
    started = [subprocess.Popen([sys.executable, "-c", code, place]) for _ in range(3)]
    assert [one.wait(timeout=60) for one in started] == [0, 0, 0]


@pytest.fixture
def powerless() -> Iterator[Path]:
    """A folder that may only be read, by somebody who is not allowed everything."""
    with tempfile.TemporaryDirectory(prefix="canonym-ro-") as folder:
        try:
            yield Path(folder)
        finally:
            os.seteuid(os.getuid())
            Path(folder).chmod(0o755)


def _read_only(folder: Path) -> None:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)


def test_a_connection_in_use_is_closed_when_it_comes_back_to_a_closed_store(
    place: str, opened: Callable[[str], Store]
) -> None:
    store = opened(place)
    with store._engine.connect() as used:
        before = used.connection.dbapi_connection
        store.close()
    with store._engine.connect() as later:  # as of a thread that still has this store
        after = later.connection.dbapi_connection
    for connection in (before, after):
        with pytest.raises(Exception, match="closed"):
            connection.cursor().execute("SELECT 1")


def test_a_database_that_may_only_be_read_is_read(powerless: Path, linker: Linker) -> None:
    place = powerless / "reviews.db"
    with Store(str(place)) as store:
        review = review_of(store, ["heart attack", "cold"], linker)
    _read_only(powerless)
    with Store(str(place)) as store:
        table = b"".join(export_review(store, review, "csv")).decode()
        assert [line.partition(",")[0] for line in table.splitlines()] == [
            *("mention", "heart attack", "cold"),
        ]
        item = item_of(store, review, "cold").item
        with pytest.raises(Unreachable, match="readonly"):
            store.decide(item.id, Given("nil"), version=item.version, who="ann")
    assert [one.name for one in powerless.iterdir()] == ["reviews.db"]


def test_one_that_is_read_while_others_write_is_up_to_date(powerless: Path, linker: Linker) -> None:
    place = powerless / "reviews.db"
    with Store(str(place)) as store:
        review = review_of(store, ["cold"], linker)
        writer = sqlite3.connect(place)  # which keeps the log of changes open
        writer.execute("UPDATE items SET state = 'nil'")
        writer.commit()
        _read_only(powerless)
        try:
            with Store(str(place)) as reading:
                assert reading.progress(review)["items"]["nil"] == 1
        finally:
            os.seteuid(os.getuid())
            writer.close()


def test_one_of_another_release_that_may_only_be_read_is_refused(powerless: Path) -> None:
    place = powerless / "reviews.db"
    Store(str(place)).close()
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    connection.close()
    _read_only(powerless)
    with pytest.raises(ReadError, match="it has the tables 0000, and 0005 are expected"):
        Store(str(place))


def test_a_doubted_mention_is_not_decided_with_a_certain_one(store: Store, linker: Linker) -> None:
    review = review_of(store, ["?broken hip", "broken hip", "hip, broken"], linker)
    doubted, certain, turned = (one.item for one in store.entries(review))
    assert [one.id for one in store.alike(certain.id)] == [turned.id, doubted.id]
    assert same_words(certain, turned)
    assert not same_words(certain, doubted)


def test_what_a_person_decided_last_is_taken_back_together(store: Store, linker: Linker) -> None:
    review = review_of(store, ["heart attack", "broken hip", "common cold", "zzz"], linker)
    with pytest.raises(InvalidInput, match="nothing here that could be undone"):
        store.undo_last(review, "ann")
    decide(store, review, "zzz", Given("nil"))
    n = store.acceptable(review, 0.1)["items"]
    assert store.accept_above(review, 0.1, expected=n, who="ann") == n == 3
    other = item_of(store, review, "broken hip").item
    store.decide(other.id, Given("nil"), version=other.version, who="bob")
    store.decide(other.id, Given("comment", comment="sure"), version=other.version + 1, who="ann")
    assert [item.mention for item in store.undo_last(review, "ann")] == [
        "heart attack",
        "common cold",
    ]
    states = {one.item.mention: one.item.state for one in store.entries(review)}
    assert states == {
        **{"heart attack": "open", "common cold": "open", "broken hip": "nil", "zzz": "nil"}
    }
    assert [item.mention for item in store.undo_last(review, "ann")] == ["zzz"]
    with pytest.raises(InvalidInput, match="nothing here that could be undone"):
        store.undo_last(review, "ann")
    # What Bob takes back counts again as Ann left it.
    assert [item.state for item in store.undo_last(review, "bob")] == ["accepted"]
    assert [item.state for item in store.undo_last(review, "ann")] == ["open"]


def test_each_is_linked_to_what_is_proposed_for_it(store: Store, linker: Linker) -> None:
    review = review_of(store, ["heart attack", "broken hip", "zzz"], linker)
    entries = {one.item.mention: one.item for one in store.entries(review)}
    hip, heart, other = (entries[one] for one in ("broken hip", "heart attack", "zzz"))
    also = {hip.id: hip.version}
    with pytest.raises(InvalidInput, match="nothing is proposed for 'zzz'"):
        store.decide(other.id, Given("link"), version=other.version, who="ann", also=also)
    store.decide(heart.id, Given("link"), version=heart.version, who="ann", also=also)
    ids = {}
    for one in store.entries(review):
        ids[one.item.mention] = decided_ids(one.decision)
    assert ids == {"heart attack": ["X:1"], "broken hip": ["X:4"], "zzz": []}
    assert [item.id for item in store.undo_last(review, "ann")] == sorted([heart.id, hip.id])


def test_a_queue_is_sorted_both_ways_and_says_how_many_are_alike(
    store: Store, linker: Linker
) -> None:
    mentions = ["heart attack", "myocardial infarction", "broken hip", "zzz", "qqq"]
    review = review_of(store, mentions, linker)
    for order in ("doubt", "frequency", "row", "text", "state", "confidence", "concept"):
        up = [one.item.id for one in store.queue(review, order=order)[0]]
        pages = [
            store.queue(review, order=order, descending=True, offset=at, limit=2)[0]
            for at in (0, 2, 4, 6)
        ]
        assert [one.item.id for page in pages for one in page] == up[::-1], order
    entries, _, alike = store.queue(review, order="concept")
    assert [one.item.concept for one in entries] == ["X:1", "X:1", "X:4", "", ""]
    assert alike == {"X:1": 2, "X:4": 1, "": 2}


def test_the_other_columns_of_an_item_are_counted(store: Store) -> None:
    rows = [["cold", "winter", ward] for ward in ("ED", "MED", "ED", "A", "B", "C", "ED")]
    table = as_table(["text", "near", "ward"], rows, column="text", context_column="near")
    store.create("colds", "small", table, who="ann")
    assert [*map(list, store.values(store.item(1).item)[0]["values"])] == [
        ["ED", 3],
        ["MED", 1],
        ["A", 1],
        ["B", 1],
    ]
    assert store.values(store.item(1).item)[0]["different"] == 5


def test_a_deleted_review_is_only_hidden(store: Store) -> None:
    first, second = (review_of(store, ["cold"]) for _ in range(2))
    store.change(first, shelf="deleted")
    store.change(second, shelf="archived", name="Old")
    assert [(one.name, one.shelf) for one in store.reviews()] == [("Old", "archived")]
    store.change(first, shelf="")
    assert [one.id for one in store.reviews()] == [second, first]


@pytest.mark.parametrize("revision", ["0001", "0006"])
def test_a_database_of_another_version_is_refused(tmp_path: Path, revision: str) -> None:
    place = tmp_path / "reviews.db"
    Store(str(place)).close()
    with contextlib.closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        connection.commit()
    with pytest.raises(ReadError, match=f"the tables {revision}, and 0005 are expected: it was"):
        Store(str(place))


def test_a_workbook_is_kept_as_it_was(store: Store) -> None:
    table = as_table(["mention"], [["cold"]])
    content = bytes(range(256))
    workbook = Workbook(content=content, sheet="a", header_row=None)
    review = store.create("a list", "small", table, who="ann", workbook=workbook)
    kept = store.workbook(review)
    assert kept is not None
    assert (kept.content, kept.sheet, kept.header_row) == (content, "a", None)
    assert store.workbook(review_of(store, ["cold"])) is None


# --- what may mean the same -----------------------------------------------------------------------

HEARTS = ["heart attack", "Heart-Attacks", "attack of the heart", "heart attack, bad", "broken hip"]


def test_what_has_the_same_proposal_is_alike_and_the_same_words_come_first(
    store: Store, linker: Linker
) -> None:
    review = review_of(store, [*HEARTS, "??", "!", "no heart attack"], linker)
    item = item_of(store, review, "heart attack").item
    alike = store.alike(item.id)
    assert {one.mention for one in alike} == {*HEARTS[1:4]}
    assert alike[0].mention == "Heart-Attacks"
    same = [same_words(item, one) for one in alike]
    assert same[0]
    assert same == sorted(same, reverse=True)
    rubbish = item_of(store, review, "??").item
    assert store.alike(rubbish.id)[0].mention == "!"
    assert {one.mention for one in store.alike(rubbish.id)} == {"!", "no heart attack"}
    store.decide(alike[0].id, Given("nil"), version=alike[0].version, who="ann")
    assert alike[0].id not in [one.id for one in store.alike(item.id)]
    assert store.alike(alike[0].id) == []


def test_a_list_that_is_not_linked_has_nothing_alike(store: Store) -> None:
    review = review_of(store, HEARTS)
    assert store.alike(item_of(store, review, "heart attack").item.id) == []


def test_several_are_decided_at_once_each_with_its_own_history(
    store: Store, linker: Linker
) -> None:
    review = review_of(store, HEARTS, linker)
    item = item_of(store, review, "heart attack").item
    also = {one.id: one.version for one in store.alike(item.id)}
    assert len(also) == 3
    given = Given("link", (MI,), "all the same")
    now = store.decide(item.id, given, version=item.version, who="ann", also=also)
    assert (now.item.id, now.item.state) == (item.id, "linked")
    for mention in HEARTS[:4]:
        entry = item_of(store, review, mention)
        assert [(one.kind, one.who, one.comment) for one in entry.history] == [
            ("link", "ann", "all the same")
        ]
    assert store.progress(review)["items"] == {
        **dict.fromkeys(("reopened", "flagged", "accepted", "nil"), 0), "linked": 4, "open": 1,
    }  # fmt: skip
    other = item_of(store, review, "Heart-Attacks").item
    store.decide(other.id, Given("undo"), version=other.version, who="bob")
    assert store.progress(review)["items"]["open"] == 2


def test_of_several_that_are_decided_at_once_all_are_as_they_were_seen_or_none_is_changed(
    store: Store, linker: Linker
) -> None:
    review, another = (review_of(store, HEARTS, linker) for _ in range(2))
    item, other = (item_of(store, review, one).item for one in HEARTS[:2])
    foreign = item_of(store, another, "heart attack").item
    store.decide(other.id, Given("flag"), version=other.version, who="bob")
    given = Given("link", (MI,))
    with pytest.raises(Conflict) as conflict:
        store.decide(
            item.id, given, version=item.version, who="ann", also={other.id: other.version}
        )
    assert conflict.value.item_id == other.id
    for missing in (foreign.id, 2**31 - 1):
        with pytest.raises(Absent):
            store.decide(item.id, given, version=item.version, who="ann", also={missing: 2})
    assert store.item(item.id).history == ()
    assert store.item(foreign.id).history == ()
