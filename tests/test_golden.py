"""Links that must not change: hand-written names and documents, in every order, with every option.

``python tests/test_golden.py`` writes the file again; only a wanted change of answers is a reason.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Document, Link, Linker, Mention, Name, Relation, Terminology
from canonym.linking.explanation import explain

FOLDER = Path(__file__).parent / "golden"
LINKS = FOLDER / "links.jsonl"


def _terminology(file: Path) -> Terminology:
    records: list[Concept | Name | Relation] = []
    with (FOLDER / "terms.tsv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            types = tuple(filter(None, row["types"].split("|")))
            records.append(
                Concept(row["id"], row["label"], row["definition"] or "", types, row["source"])
            )
            for synonym in filter(None, row["synonyms"].split("|")):
                text, _, language = synonym.partition("@")
                text, _, scope = text.partition(":")
                records.append(
                    Name(text, row["id"], scope=scope or "exact", language=language or "en")
                )
            if row["parents"]:
                records.append(Relation(row["id"], "is_a", row["parents"]))
    return Terminology.build(records, file)


def _documents(copies: int = 1) -> list[Document]:
    found = []
    for copy in range(copies):
        for one in json.loads((FOLDER / "documents.json").read_text(encoding="utf-8")):
            mentions, place, id_ = [], 0, f"{one['id']}-{copy}"
            for text, type_, ids in one["mentions"]:
                start = one["text"].index(text, place)
                place = start + len(text)
                gold = tuple(filter(None, ids.split("+")))
                rule = "all" if len(gold) > 1 else "any" if gold else "nil"
                mentions.append(Mention(text, start, place, type_, gold, rule, id_))
            found.append(Document(id_, one["text"], tuple(mentions)))
    return found


def _names() -> list[str]:
    return (FOLDER / "names.txt").read_text(encoding="utf-8").split("\n")[:-1]


def _contexts() -> list[Mention]:
    return [
        Mention("APC", context="APC slows clotting of the blood.", type="protein"),
        Mention("APC", context="Lymphocytes see antigens shown by an APC.", type="cell"),
        Mention("HPT", context="Primary hyperparathyroidism (HPT) of the neck."),
        Mention("cold", context="cold as a low temperature in winter"),
    ]


def _by_document(linker: Linker, **options: Any) -> Iterator[Link]:
    for _, links in linker.link_documents(_documents(), **options):
        yield from links


def _scenarios(folder: Path) -> Iterator[tuple[str, Iterator[Link]]]:
    terminology = _terminology(folder / "terms.db")
    number = itertools.count()

    def build(*encoders: str, **settings: Any) -> Linker:
        place = folder / f"index-{next(number)}"
        return Linker.build(terminology, encoders=encoders, folder=place, **settings)

    grams, default = build("chargrams"), build("default")
    both = build("default", "chargrams", weights=[1.0, 0.5])
    ids = [f"G:{n}" for n in range(1, 30, 2)]
    for name, linker in (("grams", grams), ("default", default), ("both", both)):
        yield f"{name}: documents", _by_document(linker, k=2)
        yield f"{name}: names", iter(linker.link(_names(), k=2))
    yield "no context", _by_document(grams, k=2, context=False)
    yield "batches of two", _by_document(default, k=2, batch=2)
    yield "seed", iter(grams.link(_names(), k=3, seed=3))
    yield "one candidate", iter(grams.link(_names(), k=1))
    yield "many candidates", iter(default.link(_names()[:4], k=50))
    yield "types", iter(default.link(_names(), k=2, types=["drug", "symptom"]))
    yield "sources", iter(grams.link(_names(), k=2, sources=["Tumours"]))
    yield "languages", iter(grams.link(_names(), k=2, languages=["es"]))
    yield "ids", _by_document(grams, k=2, ids=ids)
    yield "least score", _by_document(default, k=2, min_score=0.9)
    yield "contexts", iter(default.link(_contexts(), k=3))
    yield "abbreviations", iter(grams.link(["HPT"], abbreviations={"HPT": "hyperparathyroidism"}))
    bare = build("chargrams", trials=True, spelling=False, composites=False, sieves=["verbatim"])
    yield "bare", iter(bare.link(_names(), k=2))
    mentions = [one for document in _documents() for one in document.mentions]
    for search in ("D-T + OD-T", "OD-C"):
        taught = build("default", mentions=mentions, search=search)
        yield search, iter(taught.link(_names(), k=2))
    yield "O-C", iter(build("chargrams", search="O-C").link(_names(), k=2))

    grams.fit_confidence(_documents(copies=2))
    yield "confidence: documents", _by_document(grams, k=1, min_confidence=0.8)

    both.synonyms.add("the sugars", "G:16")
    both.synonyms.add("tumour of colon", "G:31")
    both.synonyms.forbid("heart attack", "G:1")
    both.synonyms.forbid("APC", "G:20")
    yield "overlay: documents", _by_document(both, k=2)
    yield "overlay: names", iter(both.link(["the sugars", "The Sugars!", "sugars", "apc"], k=2))
    later = build("chargrams", fold=both.folder)
    yield "folded in", iter(later.link(["the sugars", "heart attack", "apc"], k=2))


def _row(scenario: str, link: Link) -> dict[str, Any]:
    return {"scenario": scenario, **_trimmed(link.to_dict()), "explained": explain(link)}


def _trimmed(value: Any) -> Any:
    """Round numbers to what any machine computes alike, and leave out what is empty."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        left = {
            k: _trimmed(one) for k, one in value.items() if k not in ("start", "end", "document")
        }
        return {k: one for k, one in left.items() if one not in (None, "", [], {}, False)}
    return [_trimmed(one) for one in value] if isinstance(value, list | tuple) else value


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    for scenario, links in _scenarios(folder):
        for link in links:
            yield _row(scenario, link)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, abs_tol=2e-4)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LINKS.read_text(encoding="utf-8").splitlines()]


def test_no_link_and_no_explanation_has_changed(
    tmp_path: Path, expected: list[dict[str, Any]]
) -> None:
    found = list(_rows(tmp_path))
    assert len(found) == len(expected)
    changed = [
        f"{wanted['scenario']}: {wanted.get('mention', '')!r}: {_difference(wanted, one)}"
        for wanted, one in zip(expected, found, strict=True)
        if not _same(_without_digits(wanted), _without_digits(one))
    ]
    assert not changed, "\n".join(changed[:20])


def test_the_golden_links_hold_every_kind_of_answer(expected: list[dict[str, Any]]) -> None:
    has: dict[str, Callable[[dict[str, Any]], Any]] = {
        "several parts": lambda row: row.get("parts"),
        "NIL": lambda row: row.get("nil"),
        "a confidence": lambda row: "confidence" in row,
        "context": lambda row: any(one.get("context") for one in row.get("candidates", [])),
        "a correction": lambda row: any(
            step["name"] == "correction" for step in row.get("steps", [])
        ),
    }
    for what, holds in has.items():
        assert any(map(holds, expected)), f"no golden link has {what}"


def _without_digits(row: dict[str, Any]) -> dict[str, Any]:
    """Explanations repeat the numbers, which are compared with a tolerance where they stand."""
    lines = ["".join(c for c in line if not c.isdigit()) for line in row["explained"]]
    return {**row, "explained": lines}


def _difference(wanted: dict[str, Any], found: dict[str, Any]) -> str:
    keys = [key for key in {**wanted, **found} if not _same(wanted.get(key), found.get(key))]
    return "; ".join(f"{key}: {wanted.get(key)} became {found.get(key)}" for key in keys)[:400]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch, LINKS.open("w", encoding="utf-8") as stream:
        for row in _rows(Path(scratch)):
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
