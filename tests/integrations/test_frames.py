"""pandas, polars and DuckDB give what `Linker.link` gives, row by row."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from canonym import Concept, InvalidInput, Linker, Name, Terminology
from canonym.bulk import link_batch, link_schema, link_table
from canonym.integrations import duckdb as in_duckdb
from canonym.integrations import pandas as with_pandas
from canonym.integrations import polars as with_polars
from canonym.integrations.duckdb import register

NAMES = link_schema().names
FIELDS = [name.removeprefix("canonym_") for name in NAMES]
TEXTS = ["heart attack", None, "breast and ovarian cancer", "brest cancre", "?", "", "heart attack"]
NOTE = "Known chronic obstructive pulmonary disease (COBPD)."


@pytest.fixture(scope="module")
def linker() -> Linker:
    records = [
        Concept("X:1", "Myocardial infarction", types=("disease",)),
        Name("heart attack", "X:1"),
        Concept("X:3", "Breast cancer", types=("disease", "neoplasm")),
        Concept("X:4", "Ovarian cancer"),
        Concept("X:5", "Chronic obstructive pulmonary disease"),
        Concept("X:6", "Copper poisoning"),
    ]
    return Linker.build(Terminology.build(records), encoders=["chargrams"])


@pytest.fixture(scope="module")
def expected(linker: Linker) -> list[dict[str, Any]]:
    """The rows of `TEXTS` in Arrow, which `tests/bulk` compares with `Linker.link`."""
    found = link_table(linker, pa.table({"dx": TEXTS}), "dx").select(NAMES).to_pylist()
    assert [row["canonym_ids"] for row in found] == [
        [] if not text else list(linker.link([text])[0].ids) for text in TEXTS
    ]
    return found


def plain(value: Any) -> Any:
    """Turn what pandas makes of Arrow values back into Python's own."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [plain(one) for one in value]
    return None if value is pd.NA or (isinstance(value, float) and math.isnan(value)) else value


# --- pandas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype=object),
        pd.Series([math.nan if text is None else text for text in TEXTS], dtype=object),
        pd.Series(TEXTS, dtype="string"),
        pd.Series(TEXTS, dtype="category"),
        pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    ],
    ids=["str", "object", "NaN", "string", "category", "arrow"],
)
def test_pandas_gives_the_links_of_the_linker(
    linker: Linker, expected: list[dict[str, Any]], cells: pd.Series[Any]
) -> None:
    linked = with_pandas.link_column(pd.DataFrame({"dx": cells}), "dx", linker)
    found = linked[NAMES].to_dict(orient="records")
    assert [{name: plain(cell) for name, cell in row.items()} for row in found] == expected


def test_pandas_keeps_index_types_and_the_given_table(linker: Linker) -> None:
    frame = pd.DataFrame(
        {
            "dx": pd.Categorical(["heart attack", None, "?"]),
            "n": pd.array([1, None, 3], dtype="Int8"),
            "when": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
            7: [True, False, True],
        },
        index=pd.Index(["b", "a", "b"], name="visit"),  # with doubles, and out of order
    )
    before = frame.copy(deep=True)
    linked = with_pandas.link_column(frame, "dx", linker)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(linked[["dx", "n", "when", 7]], before)
    assert list(linked.columns) == [*frame.columns, *NAMES]
    assert list(linked["canonym_id"].dropna()) == ["X:1"]


def test_pandas_takes_context_numbered_columns_and_options(linker: Linker) -> None:
    frame = pd.DataFrame({0: ["COBPD", "brest tumours"], 1: [NOTE, None]})
    linked = with_pandas.link_column(frame, 0, linker, context_column=1, min_score=0.99)
    assert plain(linked["canonym_id"].to_numpy()) == ["X:5", None]
    named = with_pandas.link_column(
        frame, 0, linker.folder, abbreviations={"COBPD": "heart attack"}
    )
    assert named["canonym_id"][0] == "X:1"


def test_pandas_reads_a_column_without_any_text(linker: Linker) -> None:
    frame = pd.DataFrame({"dx": [math.nan, math.nan]})  # what an empty column of a CSV file becomes
    assert list(with_pandas.link_column(frame, "dx", linker)["canonym_reason"]) == ["empty"] * 2
    none = with_pandas.link_column(frame[:0], "dx", linker)
    assert (len(none), list(none.columns)) == (0, ["dx", *NAMES])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": ["x"], 3: [1]}), "no column 'dx'; the columns are: 'a', 3"),
        (pd.DataFrame({"dx": [1.5, None]}), "'dx' holds double; expected strings"),
        (pd.DataFrame({"dx": ["x", 1.5]}), "'dx' holds more than strings"),
        (pd.DataFrame({"dx": pd.Series(["\ud800"], dtype=object)}), "holds more than strings"),
        (pd.DataFrame({"dx": ["x"], "canonym_id": [1]}), "has the column 'canonym_id' already"),
        (pd.DataFrame([["x", "y"]], columns=["dx", "dx"]), "2 columns are named 'dx'"),
        (pd.DataFrame([["x"]], columns=pd.MultiIndex.from_tuples([("dx", "a")])), "have 2 levels"),
        (pd.Series(["x"], name="dx"), "Series was given; expected a pandas.DataFrame"),
    ],
)
def test_pandas_refuses_what_does_not_fit(linker: Linker, frame: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        with_pandas.link_column(frame, "dx", linker)


# --- polars ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "type_", [pl.String, pl.Categorical, pl.Enum(sorted({*filter(None, TEXTS)}))]
)
@pytest.mark.parametrize("lazy", [False, True])
def test_polars_gives_the_links_of_the_linker(
    linker: Linker, expected: list[dict[str, Any]], type_: Any, lazy: bool
) -> None:
    texts = [text or None for text in TEXTS]  # an enumeration has no blank string
    frame = pl.DataFrame({"n": range(len(texts)), "dx": pl.Series(texts, dtype=type_)})
    linked = with_polars.link_column(frame.lazy() if lazy else frame, "dx", linker)
    whole = linked.collect() if isinstance(linked, pl.LazyFrame) else linked
    assert linked.collect_schema() == whole.schema
    assert whole.select("n", "dx").equals(frame)
    assert whole.select(NAMES).to_dicts() == expected


def test_a_lazy_frame_links_what_is_collected(
    linker: Linker, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    def counted(linker: Linker, table: pa.Table, column: str, **options: Any) -> pa.Table:
        seen.extend(table[column].to_pylist())
        return link_table(linker, table, column, **options)

    monkeypatch.setattr(with_polars, "link_table", counted)
    frame = pl.LazyFrame({"n": [1, 2, 3], "dx": ["heart attack", "ovarian cancer", "?"]})
    linked = with_polars.link_column(frame, "dx", linker)
    assert linked.filter(pl.col("n") == 2).collect()["canonym_id"].to_list() == ["X:4"]
    assert seen == ["ovarian cancer"]
    found = linked.filter(pl.col("canonym_nil")).select("n", "canonym_reason")
    assert found.collect(engine="streaming")["n"].to_list() == [3]


def test_polars_links_in_an_expression(linker: Linker, expected: list[dict[str, Any]]) -> None:
    frame = pl.DataFrame({"dx": TEXTS})
    found = frame.select(with_polars.link("dx", linker)).unnest("dx")
    assert found.columns == FIELDS
    assert found.rows() == [tuple(row.values()) for row in expected]


def test_polars_takes_context_and_options(linker: Linker) -> None:
    frame = pl.DataFrame({"dx": ["COBPD", "brest tumours"], "note": [NOTE, None]})
    linked = with_polars.link_column(
        frame, "dx", linker, context_column="note", ids=iter(["X:3", "X:5"]), min_score=0.99
    )
    assert linked["canonym_id"].to_list() == ["X:5", None]
    named = with_polars.link_column(frame, "dx", linker, abbreviations={"COBPD": "heart attack"})
    assert named["canonym_id"][0] == "X:1"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["x"]}, "no column 'dx'; the columns are: 'a'"),
        ({"dx": [1]}, "'dx' holds int64; expected strings"),
        ({"dx": ["x"], "canonym_id": [1]}, "has the column 'canonym_id' already"),
    ],
)
@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame])
def test_polars_refuses_what_does_not_fit(
    linker: Linker, columns: dict[str, Any], message: str, kind: Any
) -> None:
    with pytest.raises(InvalidInput, match=message):
        with_polars.link_column(kind(columns), "dx", linker)


def test_polars_refuses_what_is_no_frame(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match=r"Series was given; expected a polars\.DataFrame"):
        with_polars.link_column(pl.Series(["x"]), "dx", linker)  # type: ignore[type-var]


# --- DuckDB ---------------------------------------------------------------------------------------


@pytest.fixture
def connection() -> Any:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 4")
        yield connection


def test_frames_get_the_columns_that_are_asked_for(linker: Linker) -> None:
    texts = {"dx": ["heart attack", None]}
    wanted = ["dx", "canonym_label", "canonym_id"]
    how = {"linker": linker, "columns": ["label", "id"]}
    assert list(with_pandas.link_column(pd.DataFrame(texts), "dx", **how).columns) == wanted
    frame = pl.DataFrame(texts)
    assert with_polars.link_column(frame, "dx", **how).columns == wanted
    lazy = with_polars.link_column(frame.lazy(), "dx", **how)
    assert lazy.collect_schema().names() == wanted
    assert lazy.collect()["canonym_id"].to_list() == ["X:1", None]


def test_duckdb_gives_the_links_of_the_linker(
    linker: Linker, expected: list[dict[str, Any]], connection: Any
) -> None:
    register(connection, linker)
    connection.register("visits", pa.table({"n": range(len(TEXTS)), "dx": TEXTS}))
    query = "SELECT unnest(link) FROM (SELECT n, canonym(dx) AS link FROM visits) ORDER BY n"
    cursor = connection.execute(query)
    assert [column[0] for column in cursor.description] == FIELDS
    assert cursor.fetchall() == [tuple(row.values()) for row in expected]


def test_duckdb_gives_a_struct_for_null(linker: Linker, connection: Any) -> None:
    register(connection, linker)
    query = "SELECT canonym(NULL).id, canonym(NULL).reason, canonym('heart attack').label"
    assert connection.sql(query).fetchall() == [(None, "empty", "Myocardial infarction")]


def test_duckdb_links_once_for_several_fields(
    linker: Linker, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def counted(linker: Linker, batch: pa.RecordBatch, /, column: str, **options: Any) -> Any:
        calls.append(batch.num_rows)
        return link_batch(linker, batch, column, **options)

    monkeypatch.setattr(in_duckdb, "link_batch", counted)
    register(connection, linker)
    calls.clear()
    connection.register("visits", pa.table({"dx": TEXTS}))
    query = "SELECT canonym(dx).id, canonym(dx).label, canonym(dx).ids FROM visits"
    assert len(connection.sql(query).fetchall()) == len(TEXTS)
    assert calls == [len(set(TEXTS))]


def test_duckdb_links_a_mention_once(
    linker: Linker, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked: list[str] = []
    stream = Linker.link_stream

    def counted(self: Linker, mentions: Any, **options: Any) -> Any:
        texts = list(mentions)
        linked.extend(mention.text for mention in texts)
        return stream(self, iter(texts), **options)

    monkeypatch.setattr(Linker, "link_stream", counted)
    register(connection, linker, "once")
    query = "SELECT once('heart attack ' || (range % 3)).id AS id FROM range(10000)"
    before = connection.sql(query).fetchall()
    assert sorted(linked) == ["heart attack 0", "heart attack 1", "heart attack 2"]
    linker.synonyms.add("heart attack 1", "X:3")
    after = connection.sql(query).fetchall()
    assert (before[1], after[1], len(linked)) != (after[1], after[1], 3)
    assert after[1] == ("X:3",)
    linker.synonyms.remove("heart attack 1", "X:3")


def test_duckdb_links_many_rows_on_several_threads(linker: Linker, connection: Any) -> None:
    register(connection, linker)
    connection.execute(
        "CREATE TABLE visits AS SELECT CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'heart attack' "
        "ELSE 'ovarian cancer' END AS dx FROM range(300_000) AS rows(i)"
    )
    query = "SELECT canonym(dx).id AS id, count(*) FROM visits GROUP BY id ORDER BY id"
    assert connection.sql(query).fetchall() == [("X:1", 100_000), ("X:4", 100_000), (None, 100_000)]


def test_duckdb_takes_context_options_and_names(linker: Linker, connection: Any) -> None:
    register(connection, linker, "in_note", with_context=True)
    register(connection, linker, "strict", min_score=0.99, ids=iter(["X:3"]))
    register(connection, linker.folder, "named", abbreviations={"HA": "heart attack"})
    query = (
        "SELECT in_note('COBPD', $note).id, in_note('COBPD', NULL).id, strict('brest tumours').id, "
        "strict('heart attack').id, strict('breast cancer').id, named('HA').id"
    )
    (found,) = connection.execute(query, {"note": NOTE}).fetchall()
    alone = linker.link(["COBPD"])[0].id
    assert alone != "X:5"
    assert found == ("X:5", alone, None, None, "X:3", "X:1")


def test_duckdb_refuses_what_does_not_fit(linker: Linker, connection: Any) -> None:
    register(connection, linker)
    with pytest.raises(InvalidInput, match=r"'canonym' cannot be registered .*remove_function"):
        register(connection, linker)
    with pytest.raises(InvalidInput, match="there is no option 'kk'"):
        register(connection, linker, "other", kk=3)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="types: 'drug' does not occur"):
        register(connection, linker, "other", types=["drug"])
    connection.remove_function("canonym")
    register(connection, linker)
    with pytest.raises(duckdb.BinderException, match="No function matches"):
        connection.sql("SELECT canonym(3)")
