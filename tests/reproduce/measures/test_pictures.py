"""Pictures: what is drawn, where it lands, and that the same seed gives the same file."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from canonym import Concept, InvalidInput, Linker, Name, Terminology
from canonym.types import SparseVectors
from reproduce.measures.pictures import (
    Shown,
    choose_names,
    encode_names,
    lay_out,
    make_picture,
    write_picture,
)
from reproduce.tools import tool

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ("fever", "rash", "cough", "itch", "chill")


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    records: list[Concept | Name] = []
    for number, word in enumerate(WORDS):
        types = ("Sign", "Heat") if word == "fever" else ("Sign",) if number < 3 else ("Skin",)
        records.append(Concept(f"X:{number}", f"{word} disease", types=types))
        records += [Name(f"{word} {end}", f"X:{number}") for end in ("syndrome", "attack")]
    records.append(Concept("X:9", "lonely", types=("Skin",)))
    return Terminology.build(records)


@pytest.fixture(scope="module")
def linker(terminology: Terminology) -> Linker:
    return Linker.build(terminology, encoders=["chargrams"])


def test_several_names_of_each_concept_are_drawn(terminology: Terminology) -> None:
    shown = choose_names(terminology, names=2, seed=4)
    assert {one.group for one in shown} == {f"{word} disease" for word in WORDS}
    assert len(shown) == 2 * len(WORDS)  # the concept with one name is left out
    for one in shown:
        assert one.name in {name.text for name in terminology.names(one.concept)}
    assert shown == choose_names(terminology, names=2, seed=4)
    assert shown != choose_names(terminology, names=2, seed=5)
    assert len(choose_names(terminology, concepts=2)) == 6
    assert {one.concept for one in choose_names(terminology, types=["skin"])} == {"X:3", "X:4"}
    assert {one.concept for one in choose_names(terminology, ids=["X:1"])} == {"X:1"}


def test_concepts_with_many_names_go_first() -> None:
    records: list[Concept | Name] = []
    for number in range(8):
        records.append(Concept(f"X:{number}", f"label {number}"))
        n = 4 if number in {2, 5} else 1
        records += [Name(f"name {number} {i}", f"X:{number}") for i in range(n)]
    terminology = Terminology.build(records)
    chosen = {one.concept for one in choose_names(terminology, concepts=2)}
    assert chosen == {"X:2", "X:5"}
    assert len({one.concept for one in choose_names(terminology, concepts=3, names=2)}) == 3


def test_labels_of_each_type_are_drawn_once(terminology: Terminology) -> None:
    shown = choose_names(terminology, by="type")
    assert [(one.name, one.group) for one in shown] == [
        ("fever disease", "Sign"),
        ("rash disease", "Sign"),
        ("cough disease", "Sign"),
        ("itch disease", "Skin"),
        ("chill disease", "Skin"),
        ("lonely", "Skin"),
    ]
    first = choose_names(terminology, by="type", types=["Heat", "Sign"])
    assert [one.group for one in first] == ["Heat", "Sign", "Sign"]
    assert [one.concept for one in first] == ["X:0", "X:1", "X:2"]
    one_each = choose_names(terminology, by="type", concepts=1, seed=1)
    assert len({one.group for one in one_each}) == len({one.concept for one in one_each})
    assert len(one_each) in {2, 3}  # a concept of two types is drawn for the first


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"by": "colour"}, "'colour'; 'concept' or 'type'"),
        ({"names": 1}, "of 1 names"),
        ({"concepts": 0}, "0 concepts"),
        ({"types": ["Gene"]}, "'Gene' does not occur"),
        ({"ids": ["Y:1"]}, "'Y:1'"),
    ],
)
def test_what_cannot_be_drawn(
    terminology: Terminology, options: dict[str, object], problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        choose_names(terminology, **options)  # type: ignore[arg-type]


def test_without_types_nothing_is_coloured_by_them() -> None:
    with pytest.raises(InvalidInput, match="colour by concept"):
        choose_names(Terminology.build([Concept("X:1", "a")]), by="type")


def clusters() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    rng = np.random.default_rng(1)
    centres = np.repeat(np.eye(3, 8, dtype=np.float32), 7, axis=0)
    return centres + 0.02 * rng.standard_normal(centres.shape).astype(np.float32)


def test_clusters_stay_together() -> None:
    vectors = clusters()
    points = lay_out(vectors * np.linspace(1, 9, len(vectors))[:, None], seed=2)
    assert points.shape == (21, 2)
    owner = np.repeat(np.arange(3), 7)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (owner[distances.argmin(axis=1)] == owner).all()
    assert np.array_equal(points, lay_out(vectors * np.linspace(1, 9, 21)[:, None], seed=2))


def test_sparse_vectors_are_laid_out_like_dense_ones() -> None:
    dense = np.float32([[1, 0, 0, 2], [1, 0, 0, 1], [0, 0, 3, 0], [0, 0, 1, 1], [0, 0, 0, 0]])
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))])
    sparse = SparseVectors(indptr, columns.astype(np.int32), dense[rows, columns], 4)
    assert np.allclose(lay_out(sparse), lay_out(dense[:, [0, 2, 3]]))


@pytest.mark.parametrize(
    ("vectors", "options", "problem"),
    [
        (np.eye(3), {}, "3 names make no picture"),
        (np.full((5, 2), np.nan), {}, "not finite"),
        (np.eye(5), {"method": "pca"}, "'pca'; there are tsne, umap"),
        (np.eye(5), {"perplexity": 5}, "the perplexity is 5; expected at least 1 and less than 5"),
        (np.eye(5), {"perplexity": 0.5}, "0.5"),
    ],
)
def test_what_cannot_be_laid_out(
    vectors: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    options: dict[str, object],
    problem: str,
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        lay_out(vectors, **options)  # type: ignore[arg-type]


def test_umap_is_used_or_its_package_is_named() -> None:
    try:
        import umap  # noqa: F401
    except ImportError:
        with pytest.raises(InvalidInput, match="pip install umap-learn"):
            lay_out(clusters(), method="umap")
    else:
        assert lay_out(clusters(), method="umap").shape == (21, 2)


def test_names_are_encoded_as_the_index_was(linker: Linker) -> None:
    found = encode_names(linker, ["Fever-Disease", "fever disease"])
    assert found.data[: found.indptr[1]].tolist() == found.data[found.indptr[1] :].tolist()
    with pytest.raises(InvalidInput, match="the index has 1 encoders; there is no number 1"):
        encode_names(linker, ["x"], encoder=1)


def test_names_and_vectors_belong_together() -> None:
    with pytest.raises(InvalidInput, match="1 names have 5 vectors"):
        make_picture([Shown("a", "X:1", "a")], np.eye(5))


def test_a_file_has_every_name_and_the_same_bytes(linker: Linker, tmp_path: Path) -> None:
    shown = choose_names(linker.terminology)
    picture = make_picture(shown, encode_names(linker, [one.name for one in shown]))
    for name in ("one.svg", "two.svg", "one.png"):
        write_picture(picture, tmp_path / name, title="Signs & skin")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    tree = ET.parse(tmp_path / "one.svg")
    titles = [title.text for title in tree.iter(f"{SVG}title")]
    assert titles == [f"{one.name} ({one.concept})" for one in shown]
    texts = {text.text for text in tree.iter(f"{SVG}text")}
    assert {"Signs & skin", "Names by concept", "fever disease"} <= texts
    with pytest.raises(InvalidInput, match=r"has to end in \.svg or \.png"):
        write_picture(picture, tmp_path / "one.pdf")


def test_long_lists_of_groups_are_cut_and_said(tmp_path: Path) -> None:
    shown = [Shown(f"name {i}", f"X:{i // 2}", f"group {i // 2}") for i in range(60)]
    rng = np.random.default_rng(0)
    write_picture(make_picture(shown, rng.random((60, 4))), tmp_path / "many.svg")
    texts = [text.text for text in ET.parse(tmp_path / "many.svg").iter(f"{SVG}text")]
    assert "Names by concept, 24 of 30" in texts
    assert sum(str(text).startswith("group ") for text in texts) == 24


def test_the_command_draws(linker: Linker, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    index = str(linker.folder)
    runner = CliRunner()

    def draw(*arguments: str) -> tuple[int, str]:
        found = runner.invoke(tool("picture"), ["--index", index, *arguments])
        return found.exit_code, found.stderr

    code, said = draw("-o", str(tmp_path / "a.svg"), "--by", "type", "--title", "Mine")
    assert (code, said) == (0, f"6 names in 2 groups: {tmp_path / 'a.svg'}.\n")
    assert "Mine" in (tmp_path / "a.svg").read_text()
    (tmp_path / "ids.txt").write_text("X:0\nX:1\nX:2\n")
    seeds = {}
    for seed in ("1", "2"):
        file = tmp_path / f"{seed}.svg"
        options = ["--ids", str(tmp_path / "ids.txt"), "--names", "2", "--seed", seed]
        assert draw("-o", str(file), "-q", *options) == (0, "")
        seeds[seed] = file.read_bytes()
    assert seeds["1"] != seeds["2"]
    assert draw("-o", "x.gif")[0] == 2
    assert draw("-o", str(tmp_path / "gone" / "x.svg"))[0] == 2
    assert draw("-o", str(tmp_path / "b.svg"), "--type", "Gene")[0] == 2
    assert not (tmp_path / "b.svg").exists()


def test_nothing_is_drawn_without_matplotlib(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import numpy as np\n"
        "from canonym import InvalidInput\n"
        "from reproduce.measures.pictures import write_picture\n"
        "from reproduce.measures.pictures import Picture, Shown\n"
        "shown = (Shown('a', 'X', 'a'),)\n"
        "picture = Picture(shown, np.zeros((1, 2)), 'concept', 'tsne', 0)\n"
        "try: write_picture(picture, 'a.svg')\n"
        "except InvalidInput as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "pip install matplotlib" in done.stdout
    assert not any(tmp_path.iterdir())
