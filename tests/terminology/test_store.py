"""A terminology opened for reading: look-ups, arrays, threads, damage."""

from __future__ import annotations

import gc
import random
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.terminology import Terminology
from canonym.terminology.sqlite_file import FORMAT
from canonym.types import Concept, Name, Record, Relation, Xref

RECORDS: list[Record] = [
    Concept("X:2", "influenza", "A flu.", ("Disease", "Infection"), "S", "1"),
    Name("flu", "X:2"),
    Name("Grippe", "X:2", "exact", "de", "T"),
    Concept("X:1", "heart", types=("Anatomy",), source="S", version="1"),
    Concept("X:3", "hearth", source="S", version="2", deprecated=True, replaced_by=("X:1",)),
    Concept("X:4", "nothing"),
    Relation("X:2", "is_a", "X:4"),
    Relation("X:2", "is_a", "X:1"),
    Relation("X:2", "finding_site", "X:1"),
    Relation("X:3", "is_a", "X:1"),
    Xref("X:1", "X:9", "alternative"),
    Xref("X:2", "X:9", "alternative"),
    Xref("X:4", "X:1", "alternative"),
    Xref("X:404", "X:7", "alternative"),
    Xref("X:1", "Y:1"),
]


@pytest.fixture(scope="module")
def terminology(tmp_path_factory: pytest.TempPathFactory) -> Terminology:
    return Terminology.build(RECORDS, tmp_path_factory.mktemp("store") / "small.db")


@pytest.fixture
def path(terminology: Terminology, tmp_path: Path) -> Path:
    copy = tmp_path / "copy.db"
    copy.write_bytes(terminology.path.read_bytes())
    return copy


# --- look-ups -------------------------------------------------------------------------------------


def test_counts_and_repr(terminology: Terminology) -> None:
    assert repr(terminology) == "<Terminology small.db: 4 concepts, 6 names>"
    assert terminology.types() == {"Anatomy": 1, "Disease": 1, "Infection": 1}
    assert terminology.languages() == {"de": 1, "en": 5}
    assert terminology.sources() == {("", ""): 1, ("S", "1"): 2, ("S", "2"): 1}
    assert (terminology.n_relations, terminology.n_xrefs) == (4, 5)
    assert len(terminology.digest) == 64


def test_concepts_are_found_by_id_and_alternative_id(terminology: Terminology) -> None:
    assert terminology.concept("X:2") == RECORDS[0]
    assert terminology.concept("X:3").replaced_by == ("X:1",)
    assert terminology.resolve("X:9") == "X:2"  # claimed by two: the first of them in order
    assert terminology.concept("X:9").id == "X:2"
    assert terminology.resolve("X:1") == "X:1"  # an id of its own comes before an alternative
    assert terminology.resolve("Y:1") is None  # a cross-reference is no other id
    assert terminology.resolve("X:7") is None  # the alternative of no concept
    assert terminology.resolve("") is None
    assert [concept.id for concept in terminology.concepts_at([3, 0])] == ["X:4", "X:2"]
    assert [concept.id for concept in terminology.concepts_at(np.array([1]))] == ["X:1"]


def test_unknown_ids_are_named_with_an_example(terminology: Terminology) -> None:
    with pytest.raises(InvalidInput, match=r"'X:5' in small.db; ids look like 'X:2'"):
        terminology.concept("X:5")
    with pytest.raises(InvalidInput, match="no concept has the id"):
        terminology.concept("\udcff")
    assert terminology.names("X:5") == ()
    assert terminology.names("\udcff") == ()
    assert terminology.parents("X:5") == ()
    with pytest.raises(InvalidInput, match="an id must be a string"):
        terminology.resolve(["X:1"])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="an id must be a string"):
        list(terminology.iter_relations(["is_a"]))  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [-1, 4, 2**70])
def test_ordinals_out_of_range(terminology: Terminology, number: int) -> None:
    with pytest.raises(InvalidInput, match=r"out of range: small.db has 4, counted from 0"):
        terminology.concepts_at([number])
    with pytest.raises(InvalidInput, match=r"out of range: small.db has 6, counted from 0"):
        terminology.names_at([number + 2 if number > 0 else number])


def test_names_in_row_order(terminology: Terminology) -> None:
    assert [name.text for name in terminology.names("X:9")] == ["influenza", "flu", "Grippe"]
    assert terminology.names("X:2")[2] == RECORDS[2]
    texts = ["influenza", "flu", "Grippe", "heart", "hearth", "nothing"]
    assert list(terminology.iter_texts(4)) == [texts[:4], texts[4:]]
    assert [name.text for name in terminology.names_at([4, 0, 4])] == [
        "hearth",
        "influenza",
        "hearth",
    ]


def test_arrays(terminology: Terminology) -> None:
    concepts = terminology.concept_of_row()
    assert (concepts.tolist(), concepts.dtype) == ([0, 0, 0, 1, 2, 3], np.int32)
    concepts[:] = 0  # the caller's own copy
    assert terminology.concept_of_row().tolist() == [0, 0, 0, 1, 2, 3]
    scopes = terminology.scope_of_row()
    assert (scopes.tolist(), scopes.dtype) == ([0, 1, 1, 0, 0, 0], np.int8)
    rank = terminology.id_rank()
    assert (rank.tolist(), rank.dtype) == ([1, 0, 2, 3], np.int32)


def test_relations(terminology: Terminology) -> None:
    assert list(terminology.iter_relations()) == [
        Relation("X:2", "finding_site", "X:1"),
        Relation("X:2", "is_a", "X:1"),
        Relation("X:2", "is_a", "X:4"),
        Relation("X:3", "is_a", "X:1"),
    ]
    assert [edge.tail for edge in terminology.iter_relations("is_a")] == ["X:1", "X:4", "X:1"]
    assert list(terminology.iter_relations("")) == []
    assert terminology.parents("X:2") == terminology.parents("X:9") == ("X:1", "X:4")
    assert terminology.children("X:1") == ("X:2", "X:3")
    assert terminology.children("X:2") == ()
    assert [(xref.concept_id, xref.target) for xref in terminology.iter_xrefs()] == [
        ("X:1", "X:9"),
        ("X:1", "Y:1"),
        ("X:2", "X:9"),
        ("X:4", "X:1"),
        ("X:404", "X:7"),
    ]


# --- filters --------------------------------------------------------------------------------------


def naive_mask(terminology: Terminology, **filters: tuple[str, ...]) -> list[bool]:
    def one_of(values: tuple[str, ...], given: tuple[str, ...]) -> bool:
        return bool({value.casefold() for value in values} & {each.casefold() for each in given})

    mask = []
    for name in terminology.iter_names():
        concept = terminology.concept(name.concept_id)
        mask.append(
            (not filters.get("types") or one_of(concept.types, filters["types"]))
            and (not filters.get("languages") or one_of((name.language,), filters["languages"]))
            and (
                not filters.get("sources")
                or one_of((concept.source, *filter(None, [name.source])), filters["sources"])
            )
            and (
                not filters.get("ids")
                or concept.id in {terminology.resolve(each) for each in filters["ids"]}
            )
        )
    return mask


def test_cross_references_of_one_concept(terminology: Terminology) -> None:
    assert terminology.xrefs("X:1") == (Xref("X:1", "X:9", "alternative"), Xref("X:1", "Y:1"))
    assert terminology.xrefs("X:9") == terminology.xrefs("X:2") != ()
    assert terminology.xrefs("nothing") == ()
    assert terminology.with_xref("Y:1") == ("X:1",)
    assert terminology.with_xref("X:9") == ()  # alternative ids are no cross-references


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"types": ("Disease",)},
        {"types": ("disease", "ANATOMY")},
        {"languages": ("DE",)},
        {"languages": ("de", "en")},
        {"sources": ("s",)},
        {"sources": ("t",)},
        {"sources": ("",)},
        {"sources": ("S", "")},
        {"ids": ("X:9", "X:4")},
        {"ids": ("X:1",), "types": ("Disease",)},
        {"types": ("Infection",), "languages": ("de",), "sources": ("T",), "ids": ("X:2",)},
    ],
)
def test_filters_are_exact(terminology: Terminology, filters: dict[str, tuple[str, ...]]) -> None:
    mask = terminology.rows_where(**filters)
    assert mask.dtype == np.bool_
    assert mask.tolist() == naive_mask(terminology, **filters)


def test_a_single_string_is_one_value(terminology: Terminology) -> None:
    assert terminology.rows_where(types="Disease").tolist() == [True] * 3 + [False] * 3
    assert terminology.rows_where(ids="X:4").tolist() == [False] * 5 + [True]


def test_deprecated_concepts_can_be_left_out(terminology: Terminology) -> None:
    assert terminology.rows_where(deprecated=False).tolist() == [True] * 4 + [False, True]
    assert terminology.rows_where(ids=["X:3"], deprecated=False).sum() == 0


def test_values_that_differ_in_case_are_all_meant(tmp_path: Path) -> None:
    terminology = Terminology.build(
        [Concept("X:1", "a", types=("Drug",)), Concept("X:2", "b", types=("DRUG",))],
        tmp_path / "case.db",
    )
    assert terminology.rows_where(types=["drug"]).tolist() == [True, True]


def test_unknown_values_are_named_with_close_ones(terminology: Terminology) -> None:
    with pytest.raises(
        InvalidInput, match=r"types: 'Diseas' does not occur in small.db; did you mean 'Disease'\?"
    ):
        terminology.rows_where(types=["Anatomy", "Diseas"])
    with pytest.raises(
        InvalidInput, match=r"sources: 'MeSH' does not .*; it has '', 'S', 'T'. List all with"
    ):
        terminology.rows_where(sources=["MeSH"])
    with pytest.raises(InvalidInput, match=r"languages: 'fr' .*canonym terminology show"):
        terminology.rows_where(languages=["fr"])
    with pytest.raises(
        InvalidInput,
        match=r"ids: 'Q:1', .*'Q:5' and 3 more of 9 are not in .*, whose ids look like 'X:2'",
    ):
        terminology.rows_where(ids=["X:1", *(f"Q:{i}" for i in range(1, 9))])
    plain = Terminology.build([Concept("X:1", "a")])
    with pytest.raises(InvalidInput, match="it has no types"):
        plain.rows_where(types=["Disease"])
    many = Terminology.build([Concept("X:1", "a", types=tuple(f"{i}" for i in range(40)))])
    with pytest.raises(InvalidInput, match="and 28 more"):
        many.rows_where(types=["Disease"])


def test_values_that_are_no_strings(terminology: Terminology) -> None:
    with pytest.raises(InvalidInput, match="types: 5 is no string"):
        terminology.rows_where(types=["Disease", 5])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="ids: None is no string"):
        terminology.rows_where(ids=[None])  # type: ignore[list-item]


def test_long_lists_of_ids(tmp_path: Path) -> None:
    records: list[Record] = [Concept(f"X:{i}", f"name {i}") for i in range(3000)]
    records += [Xref(f"X:{i}", f"Y:{i}", "alternative") for i in range(3000)]
    terminology = Terminology.build(records, tmp_path / "many.db")
    drawn = random.Random(0).sample(range(3000), 1700)
    wanted = np.zeros(3000, dtype=bool)
    wanted[drawn] = True
    ids = [f"{'X' if i % 2 else 'Y'}:{i}" for i in drawn]
    assert np.array_equal(terminology.rows_where(ids=ids), wanted)


# --- threads and closing --------------------------------------------------------------------------


def test_eight_threads_get_the_same_answers(terminology: Terminology) -> None:
    barrier = threading.Barrier(8)

    def ask(seed: int) -> list[object]:
        barrier.wait()
        answers: list[object] = []
        for i in range(60):
            answers.append(terminology.concept(f"X:{1 + (i + seed) % 4}").label)
            answers.append([name.text for name in terminology.iter_names()])
            answers.append(terminology.rows_where(types=["Disease"]).tolist())
        return sorted(map(str, answers))

    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(ask, range(8))
    assert all(other == first for other in others)


def test_threads_give_their_connections_back(path: Path) -> None:
    terminology = Terminology(path)
    for _ in range(5):
        thread = threading.Thread(target=terminology.concept, args=("X:1",))
        thread.start()
        thread.join()
    gc.collect()
    assert len(terminology._database._connections) == 1


def test_a_closed_terminology_says_so(path: Path) -> None:
    with Terminology(path) as terminology:
        names = terminology.iter_texts(1)
        next(names)
    for use in (lambda: terminology.concept("X:1"), lambda: next(names), terminology.types):
        with pytest.raises(InvalidInput, match="was closed; open it again"):
            use()
    assert terminology.n_names == 6


def test_a_file_replaced_while_open_is_noticed(path: Path) -> None:
    terminology = Terminology(path)
    Terminology.build([Concept("Z:1", "other")], path, overwrite=True)
    assert terminology.concept("X:1").label == "heart"  # this thread has the old file open
    problems: list[Exception] = []

    def look() -> None:
        try:
            terminology.concept("X:1")
        except Mismatch as error:
            problems.append(error)

    for _ in range(2):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        path.unlink(missing_ok=True)
        if problems and isinstance(problems[-1], Mismatch):
            break
    assert "was replaced by another file while it was open" in str(problems[0])


def test_a_file_that_has_gone_is_noticed(path: Path) -> None:
    terminology = Terminology(path)
    path.unlink()
    with ThreadPoolExecutor(1) as pool, pytest.raises(ReadError, match="has gone"):
        pool.submit(terminology.concept, "X:1").result()


# --- files that are none --------------------------------------------------------------------------


def test_paths_that_hold_no_terminology(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        Terminology(tmp_path / "missing.db")
    with pytest.raises(ReadError, match="not a file but a folder"):
        Terminology(tmp_path)
    with pytest.raises(ReadError, match="is no path"):
        Terminology("a\0b")
    with pytest.raises(ReadError, match="cannot be opened"):
        Terminology(tmp_path / ("x" * 300))
    for content in (b"", b"id\tname\n", b"SQLite format 3\0", bytes(range(256)) * 20):
        (tmp_path / "t.db").write_bytes(content)
        with pytest.raises(ReadError, match="not a terminology"):
            Terminology(tmp_path / "t.db")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE a (b)")
    other.commit()
    other.close()
    with pytest.raises(ReadError, match="a database, but not a terminology"):
        Terminology(tmp_path / "other.db")


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_newer_format_is_refused(path: Path) -> None:
    change(
        path,
        f"UPDATE meta SET value = {FORMAT + 1} WHERE key = 'format'",
        "DELETE FROM meta WHERE key = 'digest'",
    )
    with pytest.raises(Mismatch, match=rf"newer canonym \(format {FORMAT + 1}"):
        Terminology(path)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE meta",
        "DELETE FROM meta WHERE key = 'format'",
        "DELETE FROM meta WHERE key = 'digest'",
        "UPDATE meta SET value = '{' WHERE key = 'remarks'",
        "UPDATE meta SET value = '[1]' WHERE key = 'remarks'",
        "UPDATE meta SET value = '[1]' WHERE key = 'languages'",
        "UPDATE meta SET value = 'null' WHERE key = 'n_names'",
        "UPDATE meta SET value = '\"one\"' WHERE key = 'format'",
    ],
)
def test_damaged_meta_data(path: Path, statement: str) -> None:
    change(path, statement)
    with pytest.raises(ReadError, match="the terminology is damaged"):
        Terminology(path)


def test_a_file_without_its_languages_is_refused(path: Path) -> None:
    with Terminology(path) as terminology:
        assert sum(terminology.languages().values()) == terminology.n_names
    change(path, "DELETE FROM meta WHERE key = 'languages'")
    with pytest.raises(ReadError, match=r"damaged \('languages'\); .* import the source again"):
        Terminology(path)


def test_a_truncated_file_is_refused_at_once(path: Path) -> None:
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) // 2, 4096, 100):
        path.write_bytes(whole[:size])
        with pytest.raises(
            ReadError, match=f"has {size:,} bytes where {len(whole):,} were written"
        ):
            Terminology(path)


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("UPDATE concepts SET types = '[' WHERE id = 'X:1'", lambda t: t.concept("X:1")),
        ("UPDATE concepts SET types = 'null'", lambda t: t.concepts_at([0])),
        ("UPDATE concepts SET types = '3'", lambda t: list(t.iter_concepts())),
        ("UPDATE names SET scope = 9", lambda t: t.names("X:1")),
        ("UPDATE names SET scope = 'x'", lambda t: t.names_at([0])),
        (
            "UPDATE names SET text = CAST(x'ff' AS TEXT) WHERE row = 3",
            lambda t: list(t.iter_texts()),
        ),
        ("UPDATE concepts SET label = CAST(x'ff' AS TEXT)", lambda t: t.concepts_at([1])),
        ("DELETE FROM names WHERE row = 3", lambda t: t.concept_of_row()),
        ("DELETE FROM names WHERE row = 3", lambda t: t.names_at([3])),
        ("INSERT INTO names VALUES (9, 0, 'z', 0, '', '')", lambda t: t.scope_of_row()),
        ("INSERT INTO types VALUES ('T', 99)", lambda t: t.rows_where(types=["T"])),
        ("DROP TABLE types", lambda t: t.types()),
    ],
)
def test_damage_inside_is_a_read_error(path: Path, statement: str, use: object) -> None:
    change(path, statement)
    with pytest.raises(ReadError, match=r"copy\.db: the terminology is damaged"):
        use(Terminology(path))  # type: ignore[operator]


def test_random_damage_never_ends_in_another_error(path: Path) -> None:
    whole = path.read_bytes()
    rng = random.Random(0)
    refused = 0
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 40)):
            content[rng.randrange(100, len(content))] = rng.randrange(256)
        path.write_bytes(content)
        try:
            with Terminology(path) as terminology:
                list(terminology.iter_concepts())
                list(terminology.iter_names())
                list(terminology.iter_relations())
                terminology.concept_of_row()
                terminology.id_rank()
                terminology.concept("X:1")
                terminology.rows_where(types=["Disease"], languages=["en"], ids=["X:9"])
        except (InvalidInput, Mismatch):
            refused += 1
    assert refused > 30
