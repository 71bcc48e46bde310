"""Building: order, merging, bounded memory, bad records, crashes and full disks."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.terminology import Terminology, writer
from canonym.terminology.sqlite_file import BATCH
from canonym.types import SCOPES, Concept, Name, Record, Relation, Xref
from tests.conftest import clean_environment

HEART = [
    Concept("MESH:D009203", "Myocardial Infarction", types=("C", "Diseases"), source="MeSH"),
    Name("heart attack", "MESH:D009203"),
    Concept("MESH:D006333", "Heart Failure", "Too weak.", ("Diseases",), "MeSH", "2024"),
    Name("cardiac failure", "MESH:D006333", "narrow", "en", "CHV"),
    Name("MI", "MESH:D009203", "abbreviation"),
    Name("Herzinfarkt", "MESH:D009203", "exact", "de"),
    Relation("MESH:D009203", "is_a", "MESH:D017202"),
    Relation("MESH:D006333", "is_a", "MESH:D006331"),
    Xref("MESH:D009203", "ICD10CM:I21"),
    Xref("MESH:D009203", "MESH:D000001", "alternative"),
]


def build(records: list[Record]) -> Terminology:
    return Terminology.build(records)


# --- what is stored -------------------------------------------------------------------------------


def test_rows_keep_the_order_of_the_records() -> None:
    terminology = build(HEART)
    assert [name.text for name in terminology.iter_names()] == [
        "Myocardial Infarction",
        "heart attack",
        "Heart Failure",
        "cardiac failure",
        "MI",
        "Herzinfarkt",
    ]
    assert terminology.concept_of_row().tolist() == [0, 0, 1, 1, 0, 0]
    assert [SCOPES[scope] for scope in terminology.scope_of_row()] == [
        "label",
        "exact",
        "label",
        "narrow",
        "abbreviation",
        "exact",
    ]
    assert terminology.names_at([3, 5]) == [
        Name("cardiac failure", "MESH:D006333", "narrow", "en", "CHV"),
        Name("Herzinfarkt", "MESH:D009203", "exact", "de"),
    ]
    assert list(terminology.iter_concepts()) == [HEART[0], HEART[2]]
    assert (terminology.n_concepts, terminology.n_names) == (2, 6)
    assert (terminology.n_relations, terminology.n_xrefs) == (2, 2)
    assert terminology.remarks == {}


def test_equal_names_of_a_concept_are_stored_once_and_counted() -> None:
    terminology = build(
        [
            Concept("X:1", "flu"),
            Name("flu", "X:1"),
            Name(" flu ", "X:1", "related"),
            Name("flu", "X:1", language="de"),
            Name("Flu", "X:1"),
            Concept("X:2", "flu"),
        ]
    )
    assert [
        (name.text, name.concept_id, name.scope, name.language) for name in terminology.iter_names()
    ] == [
        ("flu", "X:1", "label", "en"),
        ("flu", "X:1", "exact", "de"),
        ("Flu", "X:1", "exact", "en"),
        ("flu", "X:2", "label", "en"),
    ]
    assert terminology.remarks == {"repeated names stored once": 2}


def test_a_label_that_comes_late_raises_the_scope_of_the_name_it_meets() -> None:
    terminology = build(
        [Name("flu", "X:1", "related"), Name("grippe", "X:1"), Concept("X:1", "flu")]
    )
    assert [(name.text, name.scope) for name in terminology.names("X:1")] == [
        ("flu", "label"),
        ("grippe", "exact"),
    ]
    assert terminology.concept("X:1").label == "flu"
    assert terminology.remarks == {"repeated names stored once": 1}


def test_a_concept_without_a_label_takes_its_best_name() -> None:
    terminology = build(
        [
            Concept("X:1"),
            Name("first", "X:1", "related"),
            Name("second", "X:1"),
            Name("third", "X:1"),
            Concept("X:2"),
            Name("said", "X:2"),
            Name("chosen", "X:2", "label", "fr"),
            Concept("X:3"),
        ]
    )
    assert [concept.label for concept in terminology.iter_concepts()] == ["second", "chosen", ""]
    assert [name.scope for name in terminology.names("X:1")] == ["related", "label", "exact"]
    assert [name.scope for name in terminology.names("X:2")] == ["exact", "label"]


def test_only_the_row_that_became_the_label_changes_its_scope() -> None:
    terminology = build(
        [
            Name("aids", "X:1", "related", "fr"),
            Name("aids", "X:1", "exact", "en"),
            Concept("X:2", "b"),
        ]
    )
    assert [name.scope for name in terminology.names("X:1")] == ["related", "label"]


def test_concepts_made_from_names_alone_are_remarked_unless_they_come_later() -> None:
    terminology = build([Name("a", "X:1"), Name("b", "X:2"), Concept("X:2", "c", source="S")])
    assert terminology.remarks == {"concepts made from names alone": 1}
    assert [concept.id for concept in terminology.iter_concepts()] == ["X:1", "X:2"]
    assert terminology.concept("X:1") == Concept("X:1", "a")
    assert terminology.concept("X:2") == Concept("X:2", "c", source="S")


def test_ids_defined_twice_are_merged_and_remarked() -> None:
    terminology = build(
        [
            Concept("X:1", "flu", "", ("a", "b"), "S", "", False, ("X:8",)),
            Concept("X:1", "grippe", "An illness.", ("b", "c"), "T", "2", True, ("X:8", "X:9")),
            Concept("X:1", " flu "),
        ]
    )
    assert terminology.concept("X:1") == Concept(
        "X:1", "flu", "An illness.", ("a", "b", "c"), "S", "2", True, ("X:8", "X:9")
    )
    assert [(name.text, name.scope) for name in terminology.names("X:1")] == [
        ("flu", "label"),
        ("grippe", "exact"),
    ]
    assert terminology.types() == {"a": 1, "b": 1, "c": 1}
    assert terminology.remarks == {
        "ids defined more than once (merged)": 2,
        "repeated names stored once": 1,
    }


def test_names_of_only_whitespace_are_left_out_and_counted() -> None:
    terminology = build(
        [Concept("X:1", "  "), Name("\t", "X:1"), Name("a", "X:1"), Concept("X:1", " ")]
    )
    assert [name.text for name in terminology.iter_names()] == ["a"]
    assert terminology.concept("X:1").label == "a"
    assert terminology.remarks["empty names left out"] == 3


def test_types_are_counted_once_per_concept() -> None:
    assert build([Concept("X:1", "a", types=("T", "T", "U"))]).types() == {"T": 1, "U": 1}


def test_types_may_be_any_iterable_of_strings_but_not_one_string() -> None:
    assert build([Concept("X:1", "a", types=["T"])]).concept("X:1").types == ("T",)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="not the one string 'Disease'"):
        build([Concept("X:1", "a", types="Disease")])  # type: ignore[arg-type]


# --- the digest -----------------------------------------------------------------------------------


def test_the_digest_depends_on_the_content_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    first = Terminology.build(HEART, tmp_path / "a.db")
    second = Terminology.build(iter(HEART), tmp_path / "elsewhere" / "b.db")
    assert first.digest == second.digest
    assert first.path.read_bytes() == second.path.read_bytes()
    repeated = build([*HEART, HEART[1]])  # the same content, written in another way
    assert repeated.digest == first.digest


def test_the_digest_is_the_same_on_every_machine() -> None:
    # Changing it makes every saved index useless: only together with the format number.
    assert build(HEART).digest == (
        "9ab5e56e30d54107267ca5c53bafa20e467e6d33339c80d781645adf8988c81c"
    )


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    script = """
        import sys
        from canonym import Concept, Name
        from canonym.terminology import Terminology
        records = [Concept(f"X:{i}", f"name {i}", types=("a", "b", f"{i % 9}")) for i in range(900)]
        records += [Name(f"other {i}", f"X:{i * 7 % 1000}") for i in range(5000)]
        Terminology.build(records, sys.argv[1])
        """
    for name in ("a.db", "b.db"):  # with different hashes of strings
        run_script(script, tmp_path / name).communicate(timeout=60)
    assert (tmp_path / "a.db").read_bytes() == (tmp_path / "b.db").read_bytes()


def naive_digest(terminology: Terminology) -> str:
    """The digest as its definition says, for terminologies of one batch without odd characters."""
    concepts, names = list(terminology.iter_concepts()), list(terminology.iter_names())
    ordinals = {concept.id: str(i) for i, concept in enumerate(concepts)}
    whole = hashlib.sha256()

    def piece(kind: str, n: int, text: str) -> None:
        whole.update(f"{kind} {n} {len(text.encode())}\n".encode() + text.encode())

    def plain(value: object) -> str:
        return str(int(value)) if isinstance(value, bool) else str(value)

    whole.update(b"concepts\n")
    for column in Concept.__slots__:
        values = [getattr(concept, column) for concept in concepts]
        texts = [json.dumps(v) if isinstance(v, tuple) else plain(v) for v in values]
        piece(column, len(concepts), "\x1f".join(texts))
    whole.update(b"names\n")
    piece("concept", len(names), "\x1f".join(ordinals[name.concept_id] for name in names))
    piece("text", len(names), "\x1f".join(name.text for name in names))
    piece("scope", len(names), "\x1f".join(str(SCOPES.index(name.scope)) for name in names))
    piece("language", len(names), "\x1f".join(name.language for name in names))
    piece("source", len(names), "\x1f".join(name.source for name in names))
    for kind, rows in (
        ("relations", [[r.head, r.relation, r.tail] for r in terminology.iter_relations()]),
        ("xrefs", [[x.concept_id, x.kind, x.target] for x in terminology.iter_xrefs()]),
    ):
        whole.update(f"{kind}\n".encode())
        piece("rows", len(rows), json.dumps(rows, ensure_ascii=False))
    return whole.hexdigest()


def test_the_digest_is_what_its_definition_says() -> None:
    terminology = build(HEART)
    assert terminology.digest == naive_digest(terminology)


def test_values_with_the_separator_of_the_digest_are_kept_apart() -> None:
    tricky = ["a\x1fb", "a", "b", "a\x1f", "\x1fb", "a\0b", "a\0c"]
    digests = set()
    for first in tricky:
        for second in tricky:
            if first.strip() != second.strip():
                records = [Concept("X:1"), Name(first, "X:1"), Name(second, "X:1")]
                terminology = build(records)
                texts = [name.text for name in terminology.iter_names()]
                assert texts == [first.strip(), second.strip()]
                digests.add((terminology.digest, *texts))
    assert len({digest for digest, *_ in digests}) == len({tuple(rest) for _, *rest in digests})


def test_a_text_too_long_to_be_joined_is_digested_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = writer.Writer.finish

    def limited(self: writer.Writer) -> None:
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 3000)
        plain(self)

    monkeypatch.setattr(writer.Writer, "finish", limited)
    long = [Concept(f"X:{i}", f"{i}" * 500) for i in range(8)]
    other = [*long[:7], Concept("X:7", "8" * 500)]
    assert build(long).digest == build(long).digest != build(other).digest


@pytest.mark.parametrize(
    "records",
    [
        [Concept("X:1", "a"), Concept("X:2", "b")],
        [Concept("X:2", "b"), Concept("X:1", "a")],
        [Concept("X:1", "a"), Concept("X:2", "b"), Name("c", "X:2")],
        [Concept("X:1", "a"), Concept("X:2", "b"), Name("c", "X:2", "narrow")],
        [Concept("X:1", "a"), Concept("X:2", "b"), Name("c", "X:2", language="de")],
        [Concept("X:1", "a"), Concept("X:2", "b"), Name("c", "X:2", source="S")],
        [Concept("X:1", "a", "definition"), Concept("X:2", "b")],
        [Concept("X:1", "a", deprecated=True), Concept("X:2", "b")],
        [Concept("X:1", "a"), Concept("X:2", "b"), Relation("X:1", "is_a", "X:2")],
        [Concept("X:1", "a"), Concept("X:2", "b"), Relation("X:1", "part_of", "X:2")],
        [Concept("X:1", "a"), Concept("X:2", "b"), Xref("X:1", "X:2")],
        [Concept("X:1", "a"), Concept("X:2", "b"), Xref("X:1", "X:2", "alternative")],
    ],
)
def test_the_digest_changes_with_everything_that_is_stored(records: list[Record]) -> None:
    seen = _DIGESTS.setdefault(build(records).digest, records)
    assert seen is records


_DIGESTS: dict[str, list[Record]] = {}


# --- any records at all ---------------------------------------------------------------------------

TEXTS = st.sampled_from(["a", "b", "B", " a ", "", " ", "é", "a\0b", "x" * 300, "Σ"])
IDS = st.sampled_from(["X:1", "X:2", "X:3", "Y 4", "ä"])
MANY = st.lists(st.sampled_from(["t", "u", "v"]), max_size=2).map(tuple)
RECORDS = st.lists(
    st.one_of(
        st.builds(Concept, IDS, TEXTS, TEXTS, MANY, TEXTS, TEXTS, st.booleans(), MANY),
        st.builds(
            Name, TEXTS, IDS, st.sampled_from(SCOPES), st.sampled_from(["en", "de", ""]), TEXTS
        ),
        st.builds(Relation, IDS, st.sampled_from(["is_a", "of"]), IDS),
        st.builds(Xref, IDS, IDS, st.sampled_from(["xref", "alternative"])),
    ),
    max_size=25,
)


def model(records: list[Record]) -> tuple[list[Concept], list[Name], list[Relation], list[Xref]]:
    """Content of a terminology of these records, by a naive model."""
    concepts: dict[str, Concept] = {}
    names: dict[tuple[str, str, str], Name] = {}

    def add(name: Name) -> None:
        text = name.text.strip()
        key = (name.concept_id, text, name.language)
        if not text:
            return
        if key in names:
            scope = min(names[key].scope, name.scope, key=SCOPES.index)
            names[key] = Name(text, name.concept_id, scope, name.language, names[key].source)
        else:
            names[key] = Name(text, name.concept_id, name.scope, name.language, name.source)

    for record in records:
        if isinstance(record, Concept):
            old = concepts.get(record.id, Concept(record.id))
            label = old.label or record.label.strip()
            concepts[record.id] = Concept(
                record.id,
                label,
                old.definition or record.definition,
                tuple(dict.fromkeys(old.types + record.types))
                if record.id in concepts
                else record.types,
                old.source or record.source,
                old.version or record.version,
                old.deprecated or record.deprecated,
                tuple(dict.fromkeys(old.replaced_by + record.replaced_by))
                if record.id in concepts
                else record.replaced_by,
            )
            scope = "label" if label == record.label.strip() else "exact"
            add(Name(record.label, record.id, scope, "en"))
        elif isinstance(record, Name):
            concepts.setdefault(record.concept_id, Concept(record.concept_id))
            add(record)
    for id_, concept in concepts.items():
        own = [key for key in names if key[0] == id_]
        if not concept.label and own:
            best = min(own, key=lambda key: SCOPES.index(names[key].scope))
            name = names[best]
            names[best] = Name(name.text, id_, "label", name.language, name.source)
            concepts[id_] = Concept(
                id_, name.text, *(getattr(concept, each) for each in Concept.__slots__[2:])
            )
    relations = {record for record in records if isinstance(record, Relation)}
    xrefs = {record for record in records if isinstance(record, Xref)}
    return (
        list(concepts.values()),
        list(names.values()),
        sorted(relations, key=lambda each: (each.head, each.relation, each.tail)),
        sorted(xrefs, key=lambda each: (each.concept_id, each.kind, each.target)),
    )


@given(RECORDS, st.sampled_from([2, 5, 400_000]), st.sampled_from([1, 20, 900]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_reading_back_gives_what_a_naive_model_holds(
    records: list[Record], cached: int, together: int
) -> None:
    concepts, names, relations, xrefs = model(records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "_CACHED_CONCEPTS", cached)
        patch.setattr(writer, "_VARIABLES", together)
        if not names:
            with pytest.raises(InvalidInput, match="and no names"):
                build(records)
            return
        terminology = build(records)
    with terminology:
        assert list(terminology.iter_concepts()) == concepts
        assert list(terminology.iter_names()) == names
        assert list(terminology.iter_relations()) == relations
        assert list(terminology.iter_xrefs()) == xrefs
        for concept in concepts:
            own = tuple(name for name in names if name.concept_id == concept.id)
            assert terminology.names(concept.id) == own
            assert terminology.concept(concept.id) == concept


def test_more_concepts_than_the_cache_holds_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def records() -> list[Record]:
        made: list[Record] = [Concept(f"X:{i}", f"name {i}") for i in range(500)]
        made += [Name(f"other {i}", f"X:{i * 7 % 500}") for i in range(1000)]
        made += [Concept(f"X:{i * 3 % 600}", "again", f"definition {i}") for i in range(300)]
        return made

    expected = build(records())
    monkeypatch.setattr(writer, "_CACHED_CONCEPTS", 10)
    evicting = build(records())
    assert evicting.digest == expected.digest
    assert evicting.remarks == expected.remarks


def test_an_id_that_only_looks_like_one_met_before_is_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer.Seen, "add", lambda *_: True)
    terminology = build(HEART)
    assert terminology.digest == build(HEART).digest
    assert terminology.n_concepts == 2


# --- bad records ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (Concept("", "flu"), "a concept without an id"),
        (Concept(" ", "flu"), "a concept without an id"),
        (Name("flu", ""), "its id is empty"),
        (Name("flu", "X:1", language="en_US"), "the language is 'en_US'; a tag of BCP 47 is"),
        (Name("flu", "X:1", language="a language"), "a tag of BCP 47 is expected, such as en"),
        (Name("flu", "X:1", "synonym"), "expected one of label, exact"),
        (Concept("X:\ud800", "flu"), "lone surrogate"),
        (Name("flu", "X:\ud800"), "lone surrogate"),
        (Name("fl\udcffu", "X:1"), "text of a name .* lone surrogate"),
        (Concept("X:1", "fl\udcffu"), "label of a concept .* lone surrogate"),
        (Concept("X:1", "flu", types=("a\udcff",)), "lone surrogate"),
        (Relation("X:1", "is_a", "\udcff"), "tail of a relation .* lone surrogate"),
        (Xref("X:1", "\udcff"), "target of a cross-reference .* lone surrogate"),
        (Name(None, "X:1"), "cannot be used"),  # type: ignore[arg-type]
        (Name("flu", None), "cannot be used"),  # type: ignore[arg-type]
        (Concept(None, "flu"), "cannot be used"),  # type: ignore[arg-type]
        (Concept("X:1", None), "cannot be used"),  # type: ignore[arg-type]
        (Concept("X:1", "flu", None), "definition of the concept .* not NoneType"),  # type: ignore[arg-type]
        (Name("flu", "X:1", language=None), "the language is None; a tag of BCP 47"),  # type: ignore[arg-type]
        (Name("flu", ["X:1"]), "cannot be used"),  # type: ignore[arg-type]
        (Relation("X:1", "is_a", None), "tail of the relation .* not NoneType"),  # type: ignore[arg-type]
        (Xref("X:1", b"X:2"), "target of the cross-reference .* not bytes"),  # type: ignore[arg-type]
        (("X:1", "flu"), "not of tuple"),
        (None, "not of NoneType"),
    ],
)
def test_a_record_that_cannot_be_used_is_named(
    tmp_path: Path, record: Record, message: str
) -> None:
    path = tmp_path / "new.db"
    with pytest.raises(InvalidInput, match=message):
        Terminology.build([Concept("Y:1", "fine"), record], path)
    assert list(tmp_path.iterdir()) == []


def test_a_terminology_without_names_is_refused(tmp_path: Path) -> None:
    for records in ([], [Concept("X:1")], [Relation("X:1", "is_a", "X:2")]):
        with pytest.raises(InvalidInput, match="and no names; nothing could be found by name"):
            Terminology.build(records, tmp_path / "new.db")
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_reader_passes_through_and_leaves_nothing(tmp_path: Path) -> None:
    def records() -> object:
        yield Concept("X:1", "flu")
        raise sqlite3.OperationalError("of the reader, not of the writer")

    with pytest.raises(sqlite3.OperationalError, match="of the reader"):
        Terminology.build(records(), tmp_path / "new.db")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


# --- the file -------------------------------------------------------------------------------------


def test_an_existing_file_is_replaced_only_when_allowed(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    first = Terminology.build(HEART, path).digest
    with pytest.raises(InvalidInput, match="exists already"):
        Terminology.build([Concept("X:1", "flu")], path)
    assert Terminology(path).digest == first
    assert Terminology.build([Concept("X:1", "flu")], path, overwrite=True).digest != first
    assert Terminology.build(HEART, path, overwrite=True).digest == first


def test_a_failed_build_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    Terminology.build(HEART, path)
    with pytest.raises(InvalidInput, match="no names"):
        Terminology.build([], path, overwrite=True)
    assert Terminology(path).n_names == 6
    assert [each.name for each in tmp_path.iterdir()] == ["t.db"]


def test_the_folder_must_exist_and_the_path_not_be_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist; create it first"):
        Terminology.build(HEART, tmp_path / "missing" / "t.db")
    with pytest.raises(InvalidInput, match="is a folder"):
        Terminology.build(HEART, tmp_path)


def test_paths_with_odd_characters_work(tmp_path: Path) -> None:
    path = tmp_path / "a?b#c%20 ä.db"
    Terminology.build(HEART, path)
    assert Terminology(str(path)).n_names == 6


def test_progress_is_reported_per_batch(tmp_path: Path) -> None:
    told: list[int] = []
    records = [Concept("X:1", "flu"), *(Name(f"flu {i}", "X:1") for i in range(BATCH))]
    Terminology.build(records, tmp_path / "t.db", progress=told.append)
    assert told == [BATCH, BATCH + 1]


def test_a_temporary_terminology_goes_with_its_object(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    terminology = Terminology.build(HEART)
    folder = terminology.path.parent
    assert folder.parent == tmp_path
    assert terminology.n_names == 6
    del terminology
    assert not folder.exists()
    with pytest.raises(InvalidInput):
        Terminology.build([])
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_from_a_temporary_terminology_keeps_it() -> None:
    assert len(list(Terminology.build(HEART).iter_names())) == 6
    assert len(list(Terminology.build(HEART).iter_concepts())) == 2


def run_script(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    )


def test_a_process_killed_while_building_leaves_nothing_that_opens(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    process = run_script(
        """
        import sys, time
        from canonym import Concept
        from canonym.terminology import Terminology
        def records():
            for i in range(10**9):
                yield Concept(f"X:{i}", f"name {i}")
                if i == 50_000:
                    print("writing", flush=True)
                    time.sleep(60)
        Terminology.build(records(), sys.argv[1])
        """,
        path,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    leftovers = [each.name for each in tmp_path.iterdir()]
    assert len(leftovers) == 1
    assert leftovers[0].startswith(".t.db.partial-")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not path.exists()
    assert [each.name for each in tmp_path.iterdir()] == leftovers  # it had no chance to clean up
    Terminology.build(HEART, path)
    assert [each.name for each in tmp_path.iterdir()] == ["t.db"]
    assert Terminology(path).n_names == 6


def test_a_full_disk_is_explained_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.db"
    Terminology.build(HEART, path)
    plain = writer.Writer.__init__

    def small_disk(self: writer.Writer, path: Path, target: Path) -> None:
        plain(self, path, target)
        self.connection.execute("PRAGMA max_page_count = 40")

    monkeypatch.setattr(writer.Writer, "__init__", small_disk)
    records = [Concept(f"X:{i}", f"a name of some length {i}") for i in range(5000)]
    with pytest.raises(InvalidInput, match=r"is the disk full.*Nothing was changed"):
        Terminology.build(records, path, overwrite=True)
    assert Terminology(path).n_names == 6
    assert [each.name for each in tmp_path.iterdir()] == ["t.db"]


def test_a_file_that_cannot_be_made_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(InvalidInput, match=r"t\.db could not be created \(unable to open"):
        Terminology.build(HEART, tmp_path / "t.db")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_while_a_concept_is_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = writer.Writer.run

    def fail(self: writer.Writer, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        if sql.startswith("SELECT ordinal"):
            sql, values = "SELECT * FROM nowhere", ()
        return plain(self, sql, values)

    monkeypatch.setattr(writer.Writer, "run", fail)
    monkeypatch.setattr(writer.Seen, "add", lambda *_: True)
    with pytest.raises(InvalidInput, match=r"could not be written \(no such table"):
        build([Concept("X:1", "flu")])


def test_a_disk_that_fills_up_for_good(tmp_path: Path) -> None:
    # A limit on the size of files is the nearest thing to a full disk that needs no privileges.
    process = run_script(
        """
        import resource, signal, sys
        from canonym import Concept, InvalidInput
        from canonym.terminology import Terminology
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))
        try:
            Terminology.build((Concept(f"X:{i}", f"name {i}") for i in range(60_000)), sys.argv[1])
        except InvalidInput as error:
            print(error)
        """,
        tmp_path / "t.db",
    )
    output, _ = process.communicate(timeout=120)
    assert "is the disk full" in output
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_terminology(tmp_path: Path) -> None:
    script = """
        import resource, sys
        from canonym import Concept, Name
        from canonym.terminology import Terminology, writer
        writer._CACHED_CONCEPTS, writer._CACHED_KIB = 1000, 8 << 10
        def records(n):
            for i in range(n):
                yield Concept(f"X:{i}", f"the label of concept number {i}", "definition " * 20)
            for i in range(0, n, 3):
                yield Name(f"another name of concept number {i}", f"X:{i}")
        Terminology.build(records(1000), sys.argv[1] + ".small")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        terminology = Terminology.build(records(int(sys.argv[2])), sys.argv[1])
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(terminology.n_names, terminology.path.stat().st_size, (after - before) * 1024)
        """
    output, _ = run_script(script, tmp_path / "t.db", 150_000).communicate(timeout=300)
    n_names, size, grown = map(int, output.split())
    assert n_names == 200_000
    assert size > 60 << 20
    # The page cache is 8 MiB here and the table of ids met 16, besides a batch of records.
    assert grown < 45 << 20, f"grew by {grown >> 20} MiB"


@pytest.mark.parametrize("gap", ["\t", "\n", "\r\n", " \t ", "\u2028", "\x85\v"])
def test_names_stand_on_one_line(gap: str) -> None:
    text = f"heart{gap}attack{gap}"
    terminology = build([Concept("X:1", text), Name(f" {text}", "X:1", scope="broad")])
    assert terminology.concept("X:1").label == "heart attack"
    assert {name.text for name in terminology.iter_names()} == {"heart attack"}
    assert (
        terminology.digest
        == build(
            [Concept("X:1", "heart attack"), Name("heart attack", "X:1", scope="broad")]
        ).digest
    )
