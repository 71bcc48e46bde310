"""Every search of Xu and Bethard (2021) against a naive one, and what surrounds it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import Concept, InvalidInput, Link, Linker, Mention, Name, ReadError, Terminology, Xref
from canonym.encoders import load_encoder
from canonym.encoders.static import StaticVectors
from canonym.linking.settings import SEARCHES, TARGETS, parse_search
from tests.linkers import concepts

# Words that do not contradict each other, as those with numbers do.
WORDS = [f"w{chr(ord('a') + number)}" for number in range(24)]
BARE: dict[str, Any] = {"sieves": (), "spelling": False, "composites": False, "min_length": 1}


@pytest.fixture(scope="module", autouse=True)
def cleared() -> Iterator[None]:
    """Let linkers go with the module, not with the interpreter."""
    yield
    built.cache_clear()
    terminology.cache_clear()


def draw(rng: np.random.Generator, n: int) -> list[str]:
    return [" ".join(rng.choice(WORDS, size=rng.integers(1, 4), replace=False)) for _ in range(n)]


@functools.cache
def world() -> tuple[StaticVectors, dict[str, list[str]], list[tuple[str, str]], list[str]]:
    """An encoder, names by concept, training mentions with their concepts, and test mentions."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((len(WORDS), 5)).astype(np.float32)
    ids = [f"X:{number}" for number in range(20)]
    names = {id_: list(dict.fromkeys(draw(rng, int(rng.integers(1, 5))))) for id_ in ids}
    mentions = [(text, str(rng.choice(ids[:12]))) for text in draw(rng, 30)]
    mentions += [(names["X:3"][0], "X:3"), (names["X:4"][0], "X:5"), mentions[0]]
    return StaticVectors(WORDS, vectors), names, mentions, [*draw(rng, 40), mentions[1][0]]


@functools.cache
def terminology() -> Terminology:
    lines = ("|".join([id_, *texts]) for id_, texts in world()[1].items())
    return Terminology.build(concepts(*lines))


def texts_of(part: str) -> dict[str, list[str]]:
    """The distinct texts of every concept in a part: T(c) of the paper."""
    _, names, mentions, _ = world()
    found: dict[str, dict[str, None]] = {}
    for id_, texts in names.items() if "O" in part else ():
        found.setdefault(id_, {}).update(dict.fromkeys(texts))
    for text, id_ in mentions if "D" in part else ():
        found.setdefault(id_, {})[text] = None
    return {id_: list(texts) for id_, texts in found.items()}


def naive_step(mention: str, target: str) -> dict[str, float]:
    """The score of every concept, by the equations of section 3.2."""
    encoder = world()[0]
    part, kind = target.split("-")
    query = encoder.encode([mention])[0].astype(float)
    scores = {}
    for id_, texts in texts_of(part).items():
        vectors = encoder.encode(texts).astype(float)
        compared = vectors.mean(axis=0, keepdims=True) if kind == "C" else vectors
        lengths = np.linalg.norm(compared, axis=1) * np.linalg.norm(query)
        scores[id_] = float((compared @ query / lengths).max())
    return scores


def naive(
    mention: str, search: str, threshold: float, only: set[str] | None = None
) -> list[tuple[str, float, str]]:
    steps = search.split(" + ")
    found: list[tuple[str, float, str]] = []
    for step in steps:
        least = 0.0 if step == steps[-1] else threshold
        ranked = sorted(naive_step(mention, step).items(), key=lambda pair: -pair[1])
        for id_, score in ranked:
            if (
                (only is None or id_ in only)
                and score > 0
                and score >= least
                and id_ not in {one for one, _, _ in found}
            ):
                most = found[-1][1] if found else score
                found.append((id_, min(score, most), step))
    return found


@functools.cache
def built(search: str, threshold: float = 0.95) -> Linker:
    mentions = world()[2] if "D" in search else None
    return Linker.build(
        terminology(),
        encoders=[world()[0]],
        mentions=mentions,
        search=search,
        search_threshold=threshold,
        **BARE,
    )


def same(link: Link, wanted: list[tuple[str, float, str]]) -> None:
    """Compare scores in order, and concepts with their scores: equal ones may change places."""
    scores = [candidate.score for candidate in link.candidates]
    np.testing.assert_allclose(scores, [score for _, score, _ in wanted], atol=1e-6)
    assert {c.id: c.score for c in link.candidates} == pytest.approx(
        {id_: score for id_, score, _ in wanted}, abs=1e-6
    )


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_is_the_naive_one(search: str) -> None:
    threshold = 0.9
    linker = built(search, threshold)
    mentions = world()[3]
    deciding = set()
    for mention, link in zip(mentions, linker.link(mentions, k=20), strict=True):
        wanted = naive(mention, search, threshold)
        same(link, wanted)
        step = "search" if search == "O-T" else wanted[0][2]
        assert link.candidates[0].sieve == step
        deciding.add(step)
    assert len(deciding) == (2 if "+" in search else 1)


def test_there_are_six_targets_and_eight_sieves() -> None:
    assert list(TARGETS) == ["O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C"]
    assert len(SEARCHES) == len(set(SEARCHES)) == 14
    for search in SEARCHES:
        assert " + ".join(target.name for target in parse_search(search.lower())) == search


@pytest.mark.parametrize("wrong", ["", "T-O", "O-T + D-T", "D-T + D-C", "D-T + OD-T + O-T", "O"])
def test_other_searches_are_refused(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="there is no search"):
        parse_search(wrong)


def test_the_threshold_decides_which_step_does() -> None:
    mention = world()[2][1][0]
    low, high = built("D-T + OD-C", -1.0), built("D-T + OD-C", 1.0)
    assert low.link(["wb wc"])[0].candidates[0].sieve == "D-T"
    assert high.link(["wb wc"])[0].candidates[0].sieve == "OD-C"
    assert built("D-T + OD-C").link([mention])[0].candidates[0].sieve == "D-T"


def test_a_mean_is_shown_by_the_label() -> None:
    link = built("O-C").link(["wb wc"])[0]
    assert all((c.name, c.scope) == (c.label, "label") for c in link.candidates)
    assert len({c.id for c in link.candidates}) == len(link.candidates)


def test_filters_reach_every_target() -> None:
    for search in ("OD-T", "OD-C", "D-T + O-C"):
        linker = built(search)
        for link in linker.link(world()[3], k=20, ids=["X:2", "X:15"]):
            same(link, naive(link.mention.text, search, 0.95, {"X:2", "X:15"}))


def test_a_search_is_saved(tmp_path: Path) -> None:
    linker = built("D-C + OD-T")
    linker.save(tmp_path / "saved")
    again = Linker.load(tmp_path / "saved")
    assert again.settings["search"] == "D-C + OD-T"
    assert again.manifest["mentions"]["given"] == 33
    assert again.manifest["mentions"]["names"] == len({*world()[2]})
    assert again.link(world()[3]) == linker.link(world()[3])
    (tmp_path / "saved" / "learned" / "texts.json").write_text("[]" + " " * 2000)
    with pytest.raises(ReadError):
        Linker.load(tmp_path / "saved")


@pytest.mark.parametrize(
    ("inner", "name"),
    [("learned", "concepts.npy"), ("learned", "texts.json"), ("means/OD", "owners.npy")],
)
def test_damage_is_told(tmp_path: Path, inner: str, name: str) -> None:
    built("D-T + OD-C").save(tmp_path / "saved")
    file = tmp_path / "saved" / inner / name
    file.write_bytes(b"\0" * file.stat().st_size)
    with pytest.raises(ReadError, match=r"build (it|the index) again"):
        Linker.load(tmp_path / "saved")


# --- beside the paper -----------------------------------------------------------------------------

RECORDS = [
    Concept("MESH:D1", "Myocardial infarction"),
    Name("heart attack", "MESH:D1"),
    Name("MI", "MESH:D1", scope="abbreviation"),
    Concept("MESH:D2", "Mitral insufficiency"),
    Xref("MESH:D2", "OMIM:7", kind="alternative"),
]


def small(mentions: list[Any], **options: Any) -> Linker:
    return Linker.build(
        Terminology.build(RECORDS), encoders=["chargrams"], mentions=mentions, **options
    )


def test_training_mentions_are_looked_up_first() -> None:
    linker = small([("MI", "D2"), ("mitral regurgitation", ["OMIM:7"])])
    assert linker.settings["search"] == "D-T + OD-T"
    found = linker.link(["mi", "Mitral regurgitations", "heart attack"])
    assert [link.id for link in found] == ["MESH:D2", "MESH:D2", "MESH:D1"]
    assert [link.candidates[0].sieve for link in found] == ["verbatim", "normalised", "verbatim"]
    assert found[1].candidates[0].name == "mitral regurgitation"
    plain = small([("MI", "D2")], search="OD-T").link(["mi"])[0]
    assert [c.id for c in plain.candidates] == ["MESH:D2", "MESH:D1"]  # exact before abbreviation


def test_what_becomes_of_training_mentions_is_counted() -> None:
    linker = small(
        [
            Mention("heart attack", ids=("D1",)),
            Mention("infarct or leak", ids=("D1", "D2"), rule="all"),
            Mention("a leak", ids=("D2", "D9")),
            Mention("something", rule="nil"),
            ("...", "D1"),
            ("elsewhere", "D9"),
            (" a leak ", ("MESH:D2",)),
        ]
    )
    assert linker.manifest["mentions"] == {
        "given": 7,
        "names": 2,
        "composite": 1,
        "without a concept": 2,
        "unknown": 1,
    }


def test_mentions_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(InvalidInput, match="looks at training mentions"):
        Linker.build(Terminology.build(RECORDS), encoders=["chargrams"], search="D-T")
    with pytest.raises(InvalidInput, match="does not look at them"):
        small([("MI", "D2")], search="O-C")
    with pytest.raises(InvalidInput, match="of 1 training mentions none has"):
        small([("MI", "D9")])
    for wrong in ("MI", ("MI", 7), ("MI",), (3, "D1"), ("MI", [1])):
        with pytest.raises(InvalidInput, match="a pair of its text and its ids"):
            small([wrong])
    for threshold in (1.5, "high"):
        with pytest.raises(InvalidInput, match="search_threshold is"):
            small([("MI", "D2")], search_threshold=threshold)


def test_sparse_vectors_are_averaged_as_well() -> None:
    texts = ["leaking valve", "valve of the heart leaks"]
    mentions = [(text, "D2") for text in texts]
    linker = small(mentions, search="D-C", **BARE)
    (link,) = linker.link(["leaking heart valve"])
    encoder = load_encoder(linker.folder / "encoder-0")
    query, *names = np.array([dense(encoder.encode([t])) for t in (link.mention.text, *texts)])
    mean = np.mean(names, axis=0)
    assert [c.id for c in link.candidates] == ["MESH:D2"]
    assert link.score == pytest.approx(query @ mean / np.linalg.norm(mean), abs=1e-6)


def dense(vectors: Any) -> np.ndarray:
    table = np.zeros(vectors.n_columns)
    table[vectors.indices] = vectors.data
    return table
