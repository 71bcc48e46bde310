"""Word vectors from running text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from canonym import InvalidInput, ReadError
from canonym.encoders import load_encoder, make_encoder
from canonym.encoders.static import StaticVectors
from reproduce.tools import tool
from reproduce.word_vectors import train_word_vectors, write_vec

SENTENCES = ["The heart attack hurt.", "A knee fracture hurt!", "Heart failure, knee pain."]
SMALL = {"dimensions": 8, "epochs": 2, "min_count": 1, "buckets": 50}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(SENTENCES * 5) + "\n\n")
    return path


@pytest.fixture
def gensim() -> None:
    pytest.importorskip("gensim", reason="needs gensim")


@pytest.mark.usefixtures("gensim")
def test_fasttext_gives_every_word_the_vector_it_has_there(text: Path) -> None:
    from gensim.models import FastText

    found = train_word_vectors([text], **SMALL, seed=3)
    assert found.encode(["Heart attack", "never-seen"]).shape == (2, 8)
    assert np.linalg.norm(found.encode(["cardiac"])) == pytest.approx(1)
    lines = [s.lower().translate(str.maketrans("", "", ".,!")).split() for s in SENTENCES * 5]
    same = FastText(
        lines, vector_size=8, epochs=2, min_count=1, bucket=50, sg=1, seed=3, workers=1,
        alpha=0.05, min_alpha=0.05 / 1e4, min_n=3, max_n=6, negative=5, window=5,
    )  # fmt: skip
    assert found.words == same.wv.index_to_key
    for word in ("heart", "fracture"):
        assert found.word_vector(word) == pytest.approx(same.wv[word], abs=1e-6)
    # An unknown word is its n-grams; gensim adds them up in the same way.
    unknown = same.wv["heartache"]
    assert found.encode(["heartache"])[0] == pytest.approx(
        unknown / np.linalg.norm(unknown), abs=1e-5
    )


@pytest.mark.usefixtures("gensim")
def test_the_same_seed_gives_the_same_vectors(text: Path) -> None:
    told: list[tuple[int, int]] = []
    runs = [
        train_word_vectors(
            [text], **SMALL, kind="word2vec", seed=seed, progress=lambda *one: told.append(one)
        )
        for seed in (1, 1, 2)
    ]
    assert np.array_equal(runs[0].vectors, runs[1].vectors)
    assert not np.array_equal(runs[0].vectors, runs[2].vectors)
    assert told == [(1, 2), (2, 2)] * 3
    assert not len(runs[0].buckets)
    assert runs[0].word_vector("none").tolist() == [0.0] * 8


@pytest.mark.usefixtures("gensim")
def test_the_file_is_read_back(text: Path) -> None:
    trained = train_word_vectors([text, text], **SMALL)
    write_vec(trained, text.with_suffix(".vec"))
    read = make_encoder(text.with_suffix(".vec"))
    assert isinstance(read, StaticVectors)
    assert read.words == trained.words
    known = ["heart", "knee"]
    assert read.encode(known) == pytest.approx(trained.encode(known), abs=1e-5)


@pytest.mark.usefixtures("gensim")
def test_the_command_writes_a_file_or_a_folder(text: Path) -> None:
    folder = text.parent

    def run(*arguments: str) -> tuple[int, str]:
        small = ("--dimensions", "8", "--epochs", "1", "--min-count", "1", "--buckets", "30")
        result = CliRunner().invoke(tool("word-vectors"), [*arguments, *small])
        return result.exit_code, result.output

    code, said = run(str(text), "-o", str(folder / "w.vec"))
    assert code == 0
    assert "n-gram vectors  0" in said
    assert (folder / "w.vec").read_text().startswith("9 8\n")
    assert run(str(text), "-o", str(folder / "w"), "-q") == (0, "")
    assert len(load_encoder(folder / "w").buckets) == 30
    assert "exists already" in run(str(text), "-o", str(folder / "w"))[1]
    assert run(str(text), "-o", str(folder / "w"), "--overwrite", "--kind", "word2vec")[0] == 0
    assert not len(load_encoder(folder / "w").buckets)
    assert "create it first" in run(str(text), "-o", str(folder / "no" / "w"))[1]
    code, said = run(str(folder / "none.txt"), "-o", str(folder / "x.vec"))
    assert code == 2
    assert "none.txt" in said
    assert not (folder / "x.vec").exists()


@pytest.mark.usefixtures("gensim")
def test_what_text_cannot_be_trained_on(text: Path) -> None:
    with pytest.raises(InvalidInput, match="no word occurs 99 times"):
        train_word_vectors([text], min_count=99)
    with pytest.raises(ReadError):
        train_word_vectors([text.with_name("none")])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "glove"}, "kind"),
        ({"dimensions": 0}, "dimensions"),
        ({"n_min": 4, "n_max": 3}, "n_max"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_out_of_range(options: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        train_word_vectors([], **options)  # type: ignore[arg-type]


def test_without_gensim_the_line_that_installs_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    with pytest.raises(InvalidInput, match="pip install gensim"):
        train_word_vectors([])
