"""A column of an Arrow batch, linked row by row."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym import Concept, InvalidInput, Link, Linker, Mention, Name, Terminology
from canonym.bulk import batch as batch_module
from canonym.bulk import link_batch, link_schema, link_table
from canonym.export.rows import RESULT_COLUMNS
from canonym.linker import as_linker

ONE_ROW = [name for name in RESULT_COLUMNS if name != "rank"]
FORMATS = Path(__file__).parents[2] / "docs" / "formats" / "links.md"
RECORDS = [
    Concept("X:1", "Myocardial infarction", types=("disease",)),
    Name("heart attack", "X:1"),
    Concept("X:3", "Breast cancer", types=("disease", "neoplasm")),
    Concept("X:4", "Ovarian cancer", types=("disease", "neoplasm")),
    Concept("X:5", "Chronic obstructive pulmonary disease"),
    Concept("X:6", "Copper poisoning"),
]
MENTIONS = [
    "heart attack", "Heart attacks", "brest cancre", "breast and ovarian cancer", "xyzzy", "?",
    "COBPD", "ovarian tumour",
]  # fmt: skip


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(RECORDS), encoders=["chargrams"])


def rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 6)


def result(link: Link) -> dict[str, Any]:
    """What a row holds of a link, written down naively."""
    if link.parts:
        return together(link)
    best = link.candidates[0] if link.id else None
    return {
        "part": "",
        "id": link.id,
        "code": link.id.removeprefix("X:") if link.id else None,
        "label": link.label,
        "score": rounded(best.score) if best else None,
        "name": best.name if best else None,
        "scope": best.scope if best else None,
        "sieve": best.sieve if best else None,
        "types": list(best.types) if best else [],
        "margin": rounded(link.margin) if best else None,
        "confidence": rounded(link.confidence) if best else None,
        "nil": link.nil,
        "reason": link.reason,
        "searched": link.searched,
        "status": ",".join(link.status),
        "left_over": " ".join(best.against.left_over) if best else "",
    }


def together(link: Link) -> dict[str, Any]:
    """What a row holds of a composite link whose parts all have a concept."""
    parts = [result(part) for part in link.parts]
    joined = {
        name: "|".join(part[name] for part in parts)
        for name in ("id", "code", "label", "name", "scope", "sieve", "searched")
    }
    return parts[0] | joined | {
        "part": "|".join(part.mention.text for part in link.parts),
        "score": min(part["score"] for part in parts),
        "margin": min(part["margin"] for part in parts),
        "types": ["disease", "neoplasm"],
    }  # fmt: skip


def row(link: Link) -> dict[str, Any]:
    whole = {**result(link), "ids": list(link.ids)}
    return {f"canonym_{name}": value for name, value in whole.items()}


def links(batch: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = batch.select(link_schema().names).to_pylist()
    return found


def batch_of(texts: Iterable[str | None], **columns: Any) -> pa.RecordBatch:
    return pa.record_batch({"dx": pa.array(list(texts), pa.string()), **columns})


# --- rows -----------------------------------------------------------------------------------------


def test_a_row_is_the_link_of_its_mention(linker: Linker) -> None:
    linked = link_batch(linker, batch_of(MENTIONS), "dx")
    assert links(linked) == [row(linker.link([mention])[0]) for mention in MENTIONS]


def test_a_composite_mention_has_its_parts_in_one_row(linker: Linker) -> None:
    (found,) = links(link_batch(linker, batch_of(["breast and ovarian cancer"]), "dx"))
    assert (found["canonym_id"], found["canonym_nil"]) == ("X:3|X:4", False)
    assert found["canonym_part"] == "breast cancer|ovarian cancer"
    assert found["canonym_ids"] == ["X:3", "X:4"]


def test_parts_without_any_concept_give_nulls(
    linker: Linker, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = tuple(Link(Mention(text), nil=True, reason="unknown") for text in ("xyz", "zyx"))
    link = Link(Mention("xyz and zyx"), nil=True, reason="no part was found", parts=parts)
    monkeypatch.setattr(Linker, "link_stream", lambda *_, **__: iter([link]))
    (found,) = links(link_batch(linker, batch_of(["xyz and zyx"]), "dx"))
    nulls = {name.removeprefix("canonym_") for name, cell in found.items() if cell is None}
    assert nulls == {
        *("id", "code", "label", "score", "name", "scope", "sieve", "margin", "confidence"),
    }
    assert (found["canonym_part"], found["canonym_nil"]) == ("xyz|zyx", True)
    assert found["canonym_reason"] == "no part was found; unknown"


@pytest.mark.parametrize("cell", [None, "", " \t\n", "NaN", " NULL"])
def test_an_empty_cell_gives_a_row_with_the_reason_empty(linker: Linker, cell: str | None) -> None:
    (found,) = links(link_batch(linker, batch_of([cell]), "dx"))
    held = {name: value for name, value in found.items() if value is not None}
    assert held == {
        "canonym_part": "", "canonym_types": [], "canonym_nil": True,
        "canonym_reason": "empty", "canonym_searched": "", "canonym_status": "",
        "canonym_left_over": "", "canonym_ids": [],
    }  # fmt: skip


def test_the_other_columns_and_their_metadata_are_kept(linker: Linker) -> None:
    given_ = pa.schema(
        [pa.field("n", pa.int8(), nullable=False), pa.field("dx", pa.string(), metadata={"a": "b"})]
    )
    batch = pa.record_batch([pa.array([1, 2], pa.int8()), ["?", None]], schema=given_)
    batch = batch.replace_schema_metadata({"from": "the ward"})
    linked = link_batch(linker, batch, "dx")
    assert linked.select(["n", "dx"]).equals(batch, check_metadata=True)
    whole = [*given_, *link_schema()]
    assert linked.schema.equals(pa.schema(whole, {"from": "the ward"}), check_metadata=True)


def test_the_context_of_a_row_writes_its_abbreviations_out(linker: Linker) -> None:
    note = "Known chronic obstructive pulmonary disease (COBPD)."
    batch = batch_of(["COBPD", "COBPD", "COBPD"], note=[note, None, ""])
    linked = link_batch(linker, batch, "dx", context_column="note")
    alone = row(linker.link(["COBPD"])[0])
    assert links(linked) == [row(linker.link([Mention("COBPD", context=note)])[0]), alone, alone]
    assert links(linked)[0]["canonym_id"] == "X:5"
    assert alone["canonym_id"] != "X:5"


def test_given_abbreviations_and_options_count(linker: Linker) -> None:
    batch = batch_of(["HA"])
    (found,) = links(link_batch(linker, batch, "dx", abbreviations={"HA": "heart attack"}))
    assert found["canonym_id"] == "X:1"
    weak = batch_of(["brest tumours"])
    (found,) = links(link_batch(linker, weak, "dx", min_score=0.99))
    assert found["canonym_id"] is None
    assert found["canonym_reason"].endswith("is below 0.99")
    (found,) = links(link_batch(linker, batch_of(["heart attack"]), "dx", k=1))
    assert found["canonym_margin"] is None


def test_equal_mentions_are_linked_once(linker: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    stream = Linker.link_stream

    def counted(self: Linker, mentions: Iterable[Mention], **options: Any) -> Any:
        kept = list(mentions)
        seen.extend(mention.text for mention in kept)
        return stream(self, kept, **options)

    monkeypatch.setattr(Linker, "link_stream", counted)
    chunks = [["heart attack", "COBPD", None], ["COBPD", "heart attack"]]
    table = pa.table({"dx": pa.chunked_array(chunks)})
    linked = link_table(linker, table, "dx")
    assert seen == ["heart attack", "COBPD"]
    assert linked["canonym_id"].to_pylist()[0] == linked["canonym_id"].to_pylist()[4] == "X:1"


def test_a_long_table_is_linked_in_pieces(linker: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"dx": MENTIONS})
    whole = link_table(linker, table, "dx")
    monkeypatch.setattr(batch_module, "_ROWS", 3)
    pieces = link_table(linker, table, "dx")
    assert [len(chunk) for chunk in pieces["canonym_id"].chunks] == [3, 3, 2]
    assert pieces.equals(whole)


# --- one schema, whatever the batch ---------------------------------------------------------------


def test_the_schema_is_the_documented_one() -> None:
    section = FORMATS.read_text(encoding="utf-8").split("## A row each")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `(canonym_\w+)` \| `([^`]+)` \|", section, re.MULTILINE)
    real = [(field.name, str(field.type)) for field in link_schema()]
    plain = [(name, re.sub(r"\b(item|element): ", "", type_)) for name, type_ in real]
    assert documented == plain
    assert [name for name, _ in real] == [f"canonym_{name}" for name in (*ONE_ROW, "ids")]


def test_columns_of_the_result_are_chosen(linker: Linker) -> None:
    table = pa.table({"canonym_score": [1, 2], "dx": ["heart attack", None]})
    linked = link_table(linker, table, "dx", columns=["label", "canonym_id", "ids"])
    assert linked.schema.names == [
        *table.schema.names,
        "canonym_label",
        "canonym_id",
        "canonym_ids",
    ]
    assert link_schema(["all"]) == link_schema()
    for columns, says in ((["lable"], "did you mean 'label'"), (["xyz"], "there are part, id")):
        with pytest.raises(InvalidInput, match=says):
            link_table(linker, table, "dx", columns=columns)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(["heart attack", None], pa.large_string()),
        pa.array(["heart attack", None], pa.string_view()),
        pa.array(["heart attack", None]).dictionary_encode(),
        pa.array(["heart attack", None], pa.large_string()).dictionary_encode(),
    ],
    ids=lambda cells: str(cells.type),
)
def test_strings_of_every_kind_give_the_same(linker: Linker, cells: pa.Array) -> None:
    linked = link_batch(linker, pa.record_batch({"dx": cells}), "dx")
    assert linked.schema.field("dx").type == cells.type
    assert links(linked) == links(link_batch(linker, batch_of(["heart attack", None]), "dx"))


@pytest.mark.parametrize("n", [0, 2])
def test_rows_without_text_and_no_rows_have_the_schema(linker: Linker, n: int) -> None:
    table = pa.table({"dx": pa.nulls(n)})
    linked = link_table(linker, table, "dx")
    assert linked.schema == pa.schema([*table.schema, *link_schema()])
    assert linked["canonym_reason"].to_pylist() == ["empty"] * n


@given(
    st.lists(st.tuples(st.sampled_from([*MENTIONS, None, ""]), st.sampled_from(["", "a (COBPD)"]))),
    st.lists(st.integers(0, 12)),
    st.randoms(),
)
def test_cuts_and_order_of_batches_change_no_row(
    linker: Linker, cells: list[tuple[str | None, str]], cuts: list[int], random: Any
) -> None:
    batch = batch_of([text for text, _ in cells], note=pa.array([c for _, c in cells], pa.string()))
    whole = links(link_batch(linker, batch, "dx", context_column="note"))
    ends = sorted({min(cut, len(cells)) for cut in cuts} | {0, len(cells)})
    pieces = list(itertools.pairwise(ends))
    random.shuffle(pieces)
    for start, end in pieces:
        piece = batch.slice(start, end - start)
        assert links(link_batch(linker, piece, "dx", context_column="note")) == whole[start:end]


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"a": ["x"], "b": ["y"]}, {}, "no column 'dx'; the columns are: 'a', 'b'"),
        ({}, {}, "no column 'dx'; the columns are: none"),
        ({"dx": ["x"]}, {"context_column": "note"}, "no column 'note'"),
        ({"dx": [1]}, {}, "the column 'dx' holds int64; expected strings"),
        ({"dx": [["x"]]}, {}, "holds list<"),
        ({"dx": [b"x"]}, {}, "holds binary"),
        ({"dx": pa.array([1, 2]).dictionary_encode()}, {}, "holds dictionary<values=int64"),
        ({"dx": ["x"], "note": [1.5]}, {"context_column": "note"}, "'note' holds double"),
        ({"dx": ["x"], "canonym_nil": [1]}, {}, "has the column 'canonym_nil' already"),
        ({"dx": ["x"]}, {"kk": 3}, "there is no option 'kk'"),
        ({"dx": pa.array([], pa.string())}, {"types": ["drug"]}, "types: 'drug' does not occur"),
    ],
)
def test_what_does_not_fit_is_refused(
    linker: Linker, columns: dict[str, Any], options: Any, message: str
) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        link_batch(linker, pa.record_batch(columns), "dx", **options)


def test_two_columns_of_the_name_are_refused(linker: Linker) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(["x"])] * 2, ["dx", "dx"])
    with pytest.raises(InvalidInput, match="2 columns are named 'dx'"):
        link_batch(linker, batch, "dx")


def test_a_linker_is_opened_from_its_folder(linker: Linker, tmp_path: Path) -> None:
    linker.save(tmp_path / "saved")
    assert as_linker(linker) is linker
    for folder in (tmp_path / "saved", str(tmp_path / "saved")):
        assert as_linker(folder).fingerprint == linker.fingerprint
    with pytest.raises(InvalidInput, match="linker is 3; expected a Linker, or the folder"):
        as_linker(3)  # type: ignore[arg-type]
