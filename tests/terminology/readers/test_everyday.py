"""The bundled everyday names and their reader."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from canonym.errors import ReadError
from canonym.terminology import Terminology
from canonym.terminology.readers.everyday import SOURCE, read_everyday
from canonym.text import STRONG, normalise
from canonym.text.memo import MemoNormaliser
from canonym.types import Concept, Name, Record

ROOT = Path(__file__).parents[3]
FILE = ROOT / "src" / "canonym" / "models" / "everyday" / "names.tsv"
# ICD-10-CM says them of another category too, and people mean this one.
ELSEWHERE = {"anorexia", "hearing aids"}


@pytest.fixture(scope="module")
def names() -> list[Name]:
    return list(read_everyday())


@pytest.fixture(scope="module")
def official(icd10cm: list[Record]) -> dict[str, set[str]]:
    """Return what ICD-10-CM says of every category and code: normal forms, by id."""
    names = [
        (record.id, record.label)
        if isinstance(record, Concept)
        else (record.concept_id, record.text)
        for record in icd10cm
        if isinstance(record, Concept | Name)
    ]
    said: dict[str, set[str]] = defaultdict(set)
    forms = MemoNormaliser(STRONG)(text for _, text in names)
    for (id_, _), form in zip(names, forms, strict=True):
        said[id_].add(form)
    return said


def _write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(("name\tcode\tscope", *lines)) + "\n", encoding="utf-8")
    return path


def test_a_few_that_everybody_knows(names: list[Name]) -> None:
    known = {name.text: name for name in names}
    assert known["pink eye"] == Name("pink eye", "ICD10CM:H10", "exact", "en", SOURCE)
    expected = {
        "mini stroke": "G45",
        "sugar diabetes": "E11",
        "water on the knee": "M25",
        "throwing up": "R11",
        "can't sleep": "G47",
        "heart skipping beats": "R00",
        "broken collarbone": "S42",
        "twisted ankle": "S93",
        "shiner": "S00",
        "flu shot": "Z23",
        "pap smear": "Z12",
        "cancer of the womb": "C55",
    }
    assert {text: known[text].concept_id[8:11] for text in expected} == expected


def test_there_are_many_from_all_chapters(names: list[Name]) -> None:
    assert len(names) >= 1_500
    letters = Counter(name.concept_id.removeprefix("ICD10CM:")[0] for name in names)
    assert set(letters) == set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert {name.source for name in names} == {SOURCE}
    assert {name.language for name in names} == {"en"}
    assert {name.scope for name in names} == {"exact", "narrow", "broad", "related"}


def test_every_code_exists(names: list[Name], official: dict[str, set[str]]) -> None:
    assert len(official) > 90_000
    assert [name for name in names if name.concept_id not in official] == []


def test_no_name_is_there_twice(names: list[Name]) -> None:
    forms = Counter(normalise(name.text, STRONG) for name in names)
    assert "" not in forms
    assert [form for form, times in forms.items() if times > 1] == []


def test_no_name_is_one_of_icd10cm(names: list[Name], official: dict[str, set[str]]) -> None:
    categories: dict[str, set[str]] = defaultdict(set)
    for id_, forms in official.items():
        if len(id_) >= 11 and "-" not in id_:  # no chapter, no block
            for form in forms:
                categories[form].add(id_[:11])
    elsewhere = set()
    for name in names:
        said_of = categories.get(normalise(name.text, STRONG), set())
        assert name.concept_id[:11] not in said_of, f"{name.text} is in ICD-10-CM"
        if said_of:
            elsewhere.add(name.text)
    assert elsewhere == ELSEWHERE


def test_the_file_is_sorted_and_clean() -> None:
    header, *lines = FILE.read_text(encoding="utf-8").splitlines()
    assert header == "name\tcode\tscope"
    cells = [tuple(line.split("\t")) for line in lines]
    assert cells == sorted(cells, key=lambda row: (row[1], row[0]))
    assert [row for row in cells if any(cell != " ".join(cell.split()) for cell in row)] == []


def test_the_wheel_contains_it() -> None:
    from hatchling.builders.wheel import WheelBuilder

    packed = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert "canonym/models/default/canonym.json" in packed
    assert {f"canonym/models/everyday/{name}" for name in ("names.tsv", "NOTICE.md")} <= packed


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text("scope\tname\tcode\nnarrow\t the pip \tA09\n\nexact\tgut rot\tK52.9\n")
    assert list(read_everyday(path)) == [
        Name("the pip", "ICD10CM:A09", "narrow", source=SOURCE),
        Name("gut rot", "ICD10CM:K52.9", "exact", source=SOURCE),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gut rot\tK52.9", "line 3: 2 cells where 3 were expected"),
        ("\tK52.9\texact", "line 3: the name of K52.9 is empty"),
        ("\t\texact", "the name of a code is empty"),
        ("gut rot\tK529\texact", "'K529' is not written like an ICD-10-CM category or code"),
        ("gut rot\tA00-A09\texact", "'A00-A09' is not written like"),
        ("gut rot\tK52.9\tlabel", "'label' is no scope of a name: use exact, narrow"),
        ("gut rot\tK52.9\t", "'' is no scope"),
    ],
)
def test_a_row_that_cannot_be_used(tmp_path: Path, line: str, message: str) -> None:
    path = _write(tmp_path / "own.tsv", "the pip\tA09\texact", line)
    with pytest.raises(ReadError, match=message.replace("(", r"\(")):
        list(read_everyday(path))


@pytest.mark.parametrize("content", ["name\tcode\tkind\npip\tA09\texact\n", "\n"])
def test_a_missing_column(tmp_path: Path, content: str) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(content)
    with pytest.raises(ReadError, match=r"no column .*'scope'"):
        list(read_everyday(path))


def test_they_join_the_concepts_they_name(tmp_path: Path, names: list[Name]) -> None:
    def records() -> Iterator[Concept | Name]:
        yield Concept("ICD10CM:H10", "Conjunctivitis")
        yield from (name for name in names if name.concept_id == "ICD10CM:H10")

    with Terminology.build(records(), tmp_path / "eyes.db") as terminology:
        found = {name.text: name.source for name in terminology.names("ICD10CM:H10")}
    assert found["Conjunctivitis"] != SOURCE
    assert found["pink eye"] == SOURCE


def test_names_of_codes_that_a_release_lacks_can_be_left_out(tmp_path: Path) -> None:
    path = _write(tmp_path / "own.tsv", "the pip\tA09\texact", "gut rot\tK52.99\texact")
    known = {"ICD10CM:A09"}
    assert [name.text for name in read_everyday(path, known=known)] == ["the pip"]
    assert [name.text for name in read_everyday(path)] == ["the pip", "gut rot"]
