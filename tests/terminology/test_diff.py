"""Differences between versions: by hand, against a naive model, and in bounded memory."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput, ReadError
from canonym.terminology import Terminology, diff
from canonym.terminology.diff import KINDS, Change, Difference, compare
from canonym.types import Concept, Name, Record, Relation, Xref


def difference(old: list[Record], new: list[Record]) -> Difference:
    return compare(Terminology.build(old), Terminology.build(new))


def changes(old: list[Record], new: list[Record]) -> list[Change]:
    found = difference(old, new)
    every = list(found.changes())
    assert len(every) == sum(found.counts.values())
    assert list(found.counts) == list(KINDS)
    return every


BASE: list[Record] = [
    Concept("X:1", "infection"),
    Concept("X:2", "flu"),
    Name("grippe", "X:2"),
    Concept("X:3", "cold"),
    Name("coryza", "X:3"),
    Relation("X:2", "is_a", "X:1"),
    Relation("X:3", "is_a", "X:1"),
]


def test_nothing_changed() -> None:
    found = difference(BASE, list(reversed(BASE)))
    assert list(found.changes()) == []
    assert repr(found) == "<Difference: none>"


def test_added_and_retired_concepts() -> None:
    new = [*BASE[:3], Concept("X:4", "fever"), Name("pyrexia", "X:4"), BASE[5]]
    assert changes(BASE, new) == [
        Change("added", "X:4", "fever", "", "", ""),
        Change("retired", "X:3", "cold", "", "", "absent"),
    ]
    found = difference(BASE, new)
    assert repr(found) == "<Difference: 1 added, 1 retired>"


def test_deprecated_and_restored_concepts() -> None:
    new = [Concept("X:3", "cold", deprecated=True), *BASE]
    assert changes(BASE, new) == [Change("retired", "X:3", "cold", "", "", "deprecated")]
    assert changes(new, BASE) == [Change("restored", "X:3", "cold", "", "", "")]
    assert changes(new, new) == []
    assert changes(new, BASE[:3] + BASE[5:6])[0].after == "absent"


def test_merged_as_an_alternative_id() -> None:
    new: list[Record] = [
        *BASE[:3],
        Name("cold", "X:2"),
        Name("coryza", "X:2"),
        Xref("X:2", "X:3", "alternative"),
        BASE[5],
    ]
    # Its names and its place are where it went: nothing more to report.
    assert changes(BASE, new) == [Change("merged", "X:3", "cold", "", "X:3", "X:2")]
    assert changes(BASE, [each for each in new if each != Name("coryza", "X:2")]) == [
        Change("merged", "X:3", "cold", "", "X:3", "X:2"),
        Change("name removed", "X:2", "flu", "coryza", "X:3", ""),
    ]


def test_merged_by_deprecation_with_a_successor() -> None:
    gone = Concept("X:3", "cold", deprecated=True, replaced_by=("X:404", "X:9", "X:2"))
    new = [*BASE, gone, Concept("X:9", "x", deprecated=True)]
    old = [*BASE, Concept("X:9", "x", deprecated=True)]
    assert changes(old, new) == [Change("merged", "X:3", "cold", "", "X:3", "X:2")]
    assert changes(new, new) == []  # it was merged before
    # A successor by its alternative id, and an obsolete label.
    obsolete = Concept("X:3", "obsolete cold", deprecated=True, replaced_by=("X:22",))
    merged = [*BASE[:3], obsolete, *BASE[4:], Xref("X:2", "X:22", "alternative")]
    found = changes(BASE, merged)
    assert found[0] == Change("merged", "X:3", "cold", "", "X:3", "X:2")
    assert {change.kind for change in found[1:]} == {"name removed"}
    # Without a current successor it is retired.
    lost = [*BASE, Concept("X:3", deprecated=True, replaced_by=("X:404",))]
    assert [change.kind for change in changes(BASE, lost)] == ["retired"]


def test_renamed_concepts() -> None:
    new = [*BASE[:1], Concept("X:2", "influenza"), Name("flu", "X:2"), *BASE[2:]]
    assert changes(BASE, new) == [
        Change("renamed", "X:2", "influenza", "", "flu", "influenza"),
        Change("name added", "X:2", "influenza", "influenza", "", ""),
    ]


def test_names_added_removed_and_moved() -> None:
    new = [
        *BASE[:2],
        Name("grip", "X:2"),
        Name("coryza", "X:2"),
        Concept("X:3", "cold"),
        Concept("X:5", "sneeze"),
        Name("grippe", "X:5"),
        *BASE[5:],
    ]
    assert changes(BASE, new) == [
        Change("added", "X:5", "sneeze", "", "", ""),
        Change("name added", "X:2", "flu", "grip", "", ""),
        Change("name moved", "X:2", "flu", "coryza", "X:3", "X:2"),
        Change("name moved", "X:5", "sneeze", "grippe", "X:2", "X:5"),
    ]
    assert [change for change in changes(new, BASE) if change.kind.startswith("name")] == [
        Change("name removed", "X:2", "flu", "grip", "X:2", ""),
        Change("name moved", "X:2", "flu", "grippe", "X:5", "X:2"),
        Change("name moved", "X:3", "cold", "coryza", "X:2", "X:3"),
    ]


def test_a_change_of_scope_or_language_is_no_change_of_names() -> None:
    new = [*BASE, Name("grippe", "X:2", "related", "fr")]
    assert changes(BASE, new) == changes(new, BASE) == []


def test_all_ids_changed() -> None:
    new: list[Record] = [Concept("Y:1", "infection"), Concept("Y:2", "flu"), Name("grippe", "Y:2")]
    found = difference(BASE, new)
    assert found.counts["added"] == 2
    assert found.counts["retired"] == 3
    assert [
        (change.name, change.before, change.after) for change in found.changes("name moved")
    ] == [
        ("infection", "X:1", "Y:1"),
        ("flu", "X:2", "Y:2"),
        ("grippe", "X:2", "Y:2"),
    ]


def test_moved_in_the_hierarchy() -> None:
    new = [*BASE[:6], Relation("X:3", "is_a", "X:2"), Relation("X:1", "part_of", "X:2")]
    assert changes(BASE, new) == [
        Change("parent added", "X:3", "cold", "", "", "X:2"),
        Change("parent removed", "X:3", "cold", "", "X:1", ""),
    ]


def test_a_parent_that_was_merged_is_the_same_parent() -> None:
    old = [*BASE, Relation("X:2", "is_a", "X:3"), Relation("X:2", "is_a", "X:404")]
    new: list[Record] = [
        Concept("X:1", "infection"),
        Name("cold", "X:1"),
        Name("coryza", "X:1"),
        Xref("X:1", "X:3", "alternative"),
        *BASE[1:3],
        Relation("X:2", "is_a", "X:3"),  # written with the id that is an alternative now
        Relation("X:2", "is_a", "X:404"),
    ]
    assert [change.kind for change in changes(old, new)] == ["merged"]


def test_a_child_merged_into_its_parent_is_no_change_of_parents() -> None:
    old: list[Record] = [*BASE, Concept("X:6", "swine flu"), Relation("X:6", "is_a", "X:2")]
    new: list[Record] = [*BASE, Name("swine flu", "X:2"), Xref("X:2", "X:6", "alternative")]
    assert [change.kind for change in changes(old, new)] == ["merged"]
    # And a parent merged into its child leaves no edge to report.
    down: list[Record] = [Concept("X:6", "swine flu"), Name("flu", "X:6"), Name("grippe", "X:6")]
    down += [BASE[0], *BASE[3:5], BASE[6], Xref("X:6", "X:2", "alternative")]
    assert [change.kind for change in changes(old, down)] == ["merged"]


# --- a naive model --------------------------------------------------------------------------------

IDS = ("X:1", "X:2", "X:3", "X:4")
TERMINOLOGIES = st.builds(
    lambda concepts, names, edges: [
        Concept("Z:0", "always"),
        *(
            Concept(id_, label, deprecated=bool(successors), replaced_by=successors)
            for id_, label, successors in concepts
        ),
        *(Name(text, id_) for text, id_ in names if id_ in {each[0] for each in concepts}),
        *(Relation(child, "is_a", parent) for child, parent in edges),
    ],
    st.lists(
        st.tuples(
            st.sampled_from(IDS),
            st.sampled_from("abc"),
            st.one_of(st.just(()), st.just(()), st.tuples(st.sampled_from(IDS))),
        ),
        max_size=4,
        unique_by=lambda each: each[0],
    ),
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(IDS)), max_size=6),
    st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)), max_size=3),
)


def naive_changes(old: Terminology, new: Terminology) -> set[tuple[str, ...]]:
    """Kind, id, name, before and after of every change, in the plainest way."""
    before = {concept.id: concept for concept in old.iter_concepts()}
    after = {concept.id: concept for concept in new.iter_concepts()}
    targets: dict[str, str] = {}
    for id_, concept in after.items():
        if id_ in before and concept.deprecated and not before[id_].deprecated:
            current = [s for s in concept.replaced_by if s in after and not after[s].deprecated]
            targets.update({id_: current[0]} if current else {})
    found: set[tuple[str, ...]] = set()
    for id_ in before.keys() | after.keys():
        if id_ not in before:
            found.add(("added", id_, "", "", ""))
        elif id_ not in after:
            found.add(("retired", id_, "", "", "absent"))
        elif id_ in targets:
            found.add(("merged", id_, "", id_, targets[id_]))
        else:
            if after[id_].deprecated and not before[id_].deprecated:
                found.add(("retired", id_, "", "", "deprecated"))
            if before[id_].deprecated and not after[id_].deprecated:
                found.add(("restored", id_, "", "", ""))
            if before[id_].label != after[id_].label:
                found.add(("renamed", id_, "", before[id_].label, after[id_].label))
    became = {id_: {each for each in (id_, targets.get(id_)) if each in after} for id_ in before}
    had = {(id_, name.text) for id_ in before for name in old.names(id_)}
    has = {(id_, name.text) for id_ in after for name in new.names(id_)}
    lost = {(id_, text) for id_, text in had if not any((n, text) in has for n in became[id_])}
    gained = {
        (id_, text)
        for id_, text in has
        if not any((o, text) in had for o in before if id_ in became[o])
    }
    moved = {(o, n, text) for o, text in lost for n, other in gained if text == other}
    found |= {("name moved", n, text, o, n) for o, n, text in moved}
    kept = {id_ for id_ in before if id_ in after and id_ not in targets}
    found |= {
        ("name added", id_, text, "", "")
        for id_, text in gained
        if id_ in kept and not any((id_, text) == (n, t) for _, n, t in moved)
    }
    found |= {
        ("name removed", targets.get(id_, id_), text, id_, "")
        for id_, text in lost
        if id_ in after and not any((id_, text) == (o, t) for o, _, t in moved)
    }
    for id_ in kept:
        was = {parent: became.get(parent) or {parent} for parent in old.parents(id_)}
        now = set(new.parents(id_))
        for parent in now:
            if not any(parent in each for each in was.values()):
                found.add(("parent added", id_, "", "", parent))
        for parent, each in was.items():
            mine = each - {id_} if parent != id_ else each
            if mine and not mine & now:
                found.add(("parent removed", id_, "", parent, ""))
    return found


@given(TERMINOLOGIES, TERMINOLOGIES)
@settings(max_examples=40, deadline=None)
def test_a_naive_model_agrees(old: list[Record], new: list[Record]) -> None:
    with Terminology.build(old) as first, Terminology.build(new) as second:
        found = list(compare(first, second).changes())
        expected = naive_changes(first, second)
    plain = [(change.kind, change.id, *change[3:]) for change in found]
    assert len(set(plain)) == len(plain)
    assert set(plain) == expected


# --- lists, JSON, TSV -----------------------------------------------------------------------------


def test_kinds_and_limits() -> None:
    new = [*BASE[:1], *(Concept(f"Y:{i}", f"name {i}") for i in range(5))]
    found = difference(BASE, new)
    assert [change.id for change in found.changes("added", limit=2)] == ["Y:0", "Y:1"]
    assert [change.id for change in found.changes("retired")] == ["X:2", "X:3"]
    assert [change.kind for change in found.changes(limit=1)] == ["added", "retired"]
    with pytest.raises(InvalidInput, match="kind='new' is unknown; use one of added, retired"):
        found.changes("new")


def test_as_plain_data() -> None:
    found = difference(BASE, [*BASE, Concept("X:9", "new")])
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["counts"]["added"] == 1
    assert plain["counts"]["merged"] == 0
    assert plain["changes"] == [
        {"kind": "added", "id": "X:9", "label": "new", "name": "", "before": "", "after": ""}
    ]
    assert plain["old"]["n_concepts"] == 3
    assert plain["new"]["n_names"] == 6
    assert plain["old"]["file"] == "terminology.db"
    assert len(plain["new"]["digest"]) == 64
    assert found.to_dict(limit=0)["changes"] == []


def test_as_a_table(tmp_path: Path) -> None:
    found = difference(BASE, [*BASE[:6], Name('a "b"\tc', "X:2"), BASE[6]])
    path = tmp_path / "changes.tsv"
    found.write_tsv(path)
    assert path.read_text(encoding="utf-8") == (
        'kind\tid\tlabel\tname\tbefore\tafter\nname added\tX:2\tflu\t"a ""b"" c"\t\t\n'
    )
    with pytest.raises(InvalidInput, match="exists already"):
        found.write_tsv(path)
    found.write_tsv(path, overwrite=True)


# --- bad input ------------------------------------------------------------------------------------


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    Terminology.build([Concept(f"X:{i}", f"name {i}") for i in range(2000)], path)
    content = bytearray(path.read_bytes())
    content[4096 * 3 :] = bytes(len(content) - 4096 * 3)
    with Terminology(path) as whole:
        path.write_bytes(content)
        with pytest.raises(ReadError, match="is damaged"):
            compare(Terminology.build(BASE), whole)


def test_a_missing_table_or_a_full_disk_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.db"
    Terminology.build(BASE, path)
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE relations")
    connection.commit()
    connection.close()
    with pytest.raises(InvalidInput, match=r"could not be compared \(no such table"):
        compare(Terminology.build(BASE), Terminology(path))
    full = tmp_path / "full.sql"
    full.write_text("PRAGMA max_page_count = 3;" + diff._QUERIES.read_text())
    monkeypatch.setattr(diff, "_QUERIES", full)
    with pytest.raises(InvalidInput, match="is the disk for temporary files full"):
        compare(Terminology.build(BASE), Terminology.build(BASE))


def test_closed_terminologies_are_refused() -> None:
    old, new = Terminology.build(BASE), Terminology.build(BASE)
    new.close()
    with pytest.raises(InvalidInput, match="was closed"):
        compare(old, new)
