from __future__ import annotations

import gc
import multiprocessing
import operator
import os
import pickle
import shutil
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from canonym import (
    Concept,
    Document,
    InvalidInput,
    Linker,
    LinkOptions,
    Mention,
    Mismatch,
    Name,
    ReadError,
    Terminology,
    Xref,
)
from canonym.io.files import CHECKSUMS, MANIFEST
from canonym.linking.manifest import read_index_manifest
from canonym.types import Record, Step
from tests.linkers import concepts, contents

RECORDS = [
    Concept("X:1", "Myocardial infarction", types=("disease",), source="Hearts"),
    Name("heart attack", "X:1"),
    Name("infarction of the heart muscle", "X:1"),
    Name("MI", "X:1", scope="abbreviation"),
    Name("infarto de miocardio", "X:1", language="es"),
    Concept("X:2", "Hyperparathyroidism, primary", types=("disease",), source="Glands"),
    Name("primary hyperparathyroidism", "X:2"),
    Concept("X:3", "Breast cancer", types=("disease", "neoplasm"), source="Tumours"),
    Concept("X:4", "Ovarian cancer", types=("disease", "neoplasm"), source="Tumours"),
    Name("cancer of the ovary", "X:4"),
    Concept("X:5", "Aspirin", types=("drug",), source="Drugs"),
    Name("acetylsalicylic acid", "X:5"),
    Xref("X:5", "X:500", kind="alternative"),
    Concept("X:6", "Cold", types=("disease",), source="Airways"),
    Concept("X:7", "Cold", types=("feeling",), source="Senses"),
    Name("cold", "X:0"),
    Concept("X:0", "Low temperature", types=("feeling",), source="Senses"),
]


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    return Terminology.build(RECORDS)


@pytest.fixture(scope="module")
def linker(terminology: Terminology) -> Linker:
    return Linker.build(terminology, encoders=["chargrams"])


def ids(linker: Linker, *mentions: str | Mention, **options: Any) -> list[str | None]:
    return [link.id for link in linker.link(mentions, **options)]


# --- the way of a mention -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mention", "id_", "sieve"),
    [
        ("heart attack", "X:1", "verbatim"),
        ("HEART-ATTACK", "X:1", "verbatim"),
        ("Heart attacks", "X:1", "normalised"),
        ("infarction, myocardial", "X:1", "reordered"),
        ("mi", "X:1", "verbatim"),
        ("cardial infarct", "X:1", "search"),
    ],
)
def test_the_first_sieve_that_finds_a_name_decides(
    linker: Linker, mention: str, id_: str, sieve: str
) -> None:
    link = linker.link([mention])[0]
    assert (link.id, link.candidates[0].sieve, link.nil) == (id_, sieve, False)


@pytest.mark.parametrize(
    ("label", "answer"),
    [("pair of lungs", "T:1"), ("respiratory system", "T:1"), ("Lung groups", "T:2")],
)
def test_an_odd_plural_gives_way_to_the_label_in_the_singular(label: str, answer: str) -> None:
    names: list[Record] = [Concept("T:1", "lung"), Concept("T:2", label), Name("lungs", "T:2")]
    (link,) = Linker.build(Terminology.build(names), encoders=[]).link(["Lungs"])
    assert link.id == answer
    assert link.candidates[0].sieve == ("normalised" if answer == "T:1" else "verbatim")


def test_a_synonym_in_the_singular_and_one_of_the_user_give_way_to_no_label() -> None:
    names: list[Record] = [Concept("T:1", "lungs"), Concept("T:2", "organ"), Name("lung", "T:2")]
    linker = Linker.build(Terminology.build(names), encoders=[])
    assert linker.link(["lung"])[0].id == "T:2"
    linker = Linker.build(
        Terminology.build([Concept("T:1", "lung"), Concept("T:2", "organ")]), encoders=[]
    )
    linker.synonyms.add("lungs", "T:2")
    assert linker.link(["lungs"])[0].id == "T:2"


def test_scores_fall_down_the_list_and_the_sieve_stays_ahead(linker: Linker) -> None:
    for mention in ("cancers breast", "breast cancer", "breast cancers", "brest cancre"):
        link = linker.link([mention], k=6)[0]
        scores = [candidate.score for candidate in link.candidates]
        assert scores == sorted(scores, reverse=True)
        assert link.id == "X:3"
        assert len({candidate.id for candidate in link.candidates}) == len(link.candidates)
        assert link.margin == pytest.approx(scores[0] - scores[1])


def test_a_candidate_explains_itself(linker: Linker) -> None:
    link = linker.link(["acetylsalicylic acids"])[0]
    best, runner_up = link.candidates[:2]
    assert (best.id, best.label, best.name, best.scope) == (
        "X:5", "Aspirin", "acetylsalicylic acid", "exact",
    )  # fmt: skip
    assert best.types == ("drug",)
    assert best.parts == {"normalised": best.score}
    assert set(runner_up.parts) == {"chargrams"}
    assert link.to_dict()["candidates"][0]["name"] == "acetylsalicylic acid"


def test_equal_names_go_by_scope_then_id(linker: Linker) -> None:
    link = linker.link(["cold"])[0]
    assert [candidate.id for candidate in link.candidates[:3]] == ["X:6", "X:7", "X:0"]


def test_ties_are_broken_at_random_for_a_seed(linker: Linker) -> None:
    first = [ids(linker, "cold", seed=seed, k=1)[0] for seed in range(12)]
    assert set(first) == {"X:6", "X:7", "X:0"}
    assert first == [ids(linker, "cold", seed=seed, k=1)[0] for seed in range(12)]


def test_a_link_says_which_steps_of_normalisation_fired(linker: Linker) -> None:
    assert [step.name for step in linker.link(["Heart attacks"])[0].steps] == ["case", "plural"]
    assert linker.link(["heart attack"])[0].steps == ()


def test_k_limits_the_candidates(linker: Linker) -> None:
    for k in (1, 2, 7):
        for link in linker.link(["cold", "carcinoma of breast"], k=k):
            assert 1 <= len(link.candidates) <= k


@pytest.mark.parametrize("mention", ["", "   ", "!?…", "\x00", "\ud800"])
def test_nothing_to_look_up_is_nil(linker: Linker, mention: str) -> None:
    link = linker.link([mention])[0]
    assert link.nil
    assert link.ids == ()
    assert "no letters or digits" in link.reason


def test_two_letters_are_looked_up_but_not_searched(
    linker: Linker, terminology: Terminology
) -> None:
    link = linker.link(["ba"])[0]
    assert link.nil
    assert "too few to search" in link.reason
    assert ids(linker, "MI") == ["X:1"]
    short = Linker.build(terminology, encoders=["chargrams"], min_length=0)
    assert short.link(["ba"], min_confidence=0)[0].id
    assert "too few" not in linker.link(["黄疸"])[0].reason  # an ideograph is a word


def test_other_scripts_and_great_lengths_are_answered(linker: Linker) -> None:
    links = linker.link(["心肌梗死", "инфаркт", "heart attack " * 80_000, "9" * 50])
    assert len(links) == 4
    assert links[0].nil
    assert "in common" in links[0].reason or "too few" in links[0].reason


def test_a_low_score_is_nil_when_asked(linker: Linker) -> None:
    best = linker.link(["cardial infarct"])[0]
    assert best.score is not None
    nil = linker.link(["cardial infarct"], min_score=best.score + 0.01)[0]
    assert nil.nil
    assert f"below {best.score + 0.01:g}" in nil.reason
    assert nil.candidates == best.candidates
    assert not linker.link(["cardial infarct"], min_score=best.score - 0.01)[0].nil


# --- filters --------------------------------------------------------------------------------------


def test_filters_apply_before_ranking(linker: Linker) -> None:
    assert ids(linker, "cold", types=["feeling"]) == ["X:7"]
    assert ids(linker, "breast cancer", types=["drug"], k=1, min_confidence=0) == ["X:5"]
    assert ids(linker, "heart attack", sources=["Tumours"], k=1) != ["X:1"]
    assert ids(linker, "heart attack", ids=["X:4"], min_confidence=0) == ["X:4"]
    assert ids(linker, "aspirin", ids=["X:500"]) == ["X:5"]
    found = linker.link(["infarto de miocardio"], languages=["en"])[0].candidates[0]
    assert found.name != "infarto de miocardio"
    every = linker.link(["cancer"], types=["neoplasm"], k=5)[0]
    assert {candidate.id for candidate in every.candidates} == {"X:3", "X:4"}


def test_unknown_filters_are_refused_at_once(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="drog"):
        linker.link_stream(["cold"], types=["drog"])
    with pytest.raises(InvalidInput, match="X:99"):
        linker.link_stream(["cold"], ids=["X:99"])


def test_the_last_filters_are_remembered_and_no_more(linker: Linker) -> None:
    for i in range(40):
        linker.link(["cold"], ids=[f"X:{i % 8}"], k=1, types=["disease"] if i % 3 else [])
    assert 1 <= len(linker.pipeline.filters._known) <= 16


# --- preparation ----------------------------------------------------------------------------------


def test_abbreviations_come_from_the_document(linker: Linker) -> None:
    text = "Primary hyperparathyroidism (PHPTH) is common. PHPTH raises calcium."
    start = text.rindex("PHPTH")
    document = Document("d", text, (Mention("PHPTH", start, start + 5),))
    link = linker.link_document(document)[0]
    assert link.id == "X:2"
    assert link.steps
    assert ids(linker, Mention("PHPTH", context=text)) == ["X:2"]
    assert ids(linker, "PHPTH", abbreviations={"PHPTH": "primary hyperparathyroidism"}) == ["X:2"]
    assert linker.link(["PHPTH"])[0].candidates[0].sieve == "search"
    assert link.candidates[0].sieve == "verbatim"


def test_documents_come_out_in_order_with_their_own_abbreviations(linker: Linker) -> None:
    def document(name: str, *mentions: str) -> Document:
        return Document(name, f"{name} (AB) AB", tuple(Mention(text) for text in mentions))

    documents = [
        document("none"),
        document("aortic bleeding", "AB", "cold"),
        document("none"),
        document("acetylsalicylic balm", "AB"),
        document("none"),
    ]
    for batch in (1, 2, 1024):
        answered = list(linker.link_documents(iter(documents), k=1, batch=batch))
        assert [one for one, _ in answered] == documents
        assert [len(links) for _, links in answered] == [0, 2, 0, 1, 0]
        assert [links[0].searched for _, links in answered if links] == [
            "aortic bleeding", "acetylsalicylic balm",
        ]  # fmt: skip
    assert linker.link_document(documents[0]).to_dicts() == []


def test_composites_are_split_where_the_parts_are_names(
    linker: Linker, terminology: Terminology
) -> None:
    link = linker.link(["breast and ovarian cancer"])[0]
    assert link.ids == ("X:3", "X:4")
    assert link.id is None
    assert [part.searched for part in link.parts] == ["breast cancer", "ovarian cancer"]
    assert link.to_dict()["parts"][1]["ids"] == ["X:4"]
    whole = Linker.build(terminology, encoders=["chargrams"], composites=False)
    assert whole.link(["breast and ovarian cancer"])[0].parts == ()


def test_parts_that_are_one_concept_are_not_split(linker: Linker) -> None:
    link = linker.link(["breast and mammary cancer"], ids=["X:3"])[0]
    assert (link.parts, link.id) == ((), "X:3")


def test_a_composite_of_unknown_parts_is_nil(linker: Linker) -> None:
    link = linker.link(["breasts and ovarians cancers"], min_score=1)[0]
    assert link.nil
    assert link.reason == "no part was found"
    assert link.ids == ()


def test_a_known_name_is_never_split() -> None:
    records = [*RECORDS, Concept("X:8", "Breast and ovarian cancer")]
    linker = Linker.build(Terminology.build(records), encoders=["chargrams"])
    assert linker.link(["breast and ovarian cancer"])[0].ids == ("X:8",)


def test_a_short_word_is_guessed_where_the_whole_is_then_a_name(tmp_path: Path) -> None:
    hearts = ("A:1|Heart attack", "A:2|Heart failure", "A:3|Panic attack")
    bones = ("A:4|Bone pain", "A:5|Bone mass", "A:6|Cone pain", "A:7|Cone mass")
    terminology = Terminology.build(concepts(*hearts, *bones))
    linker = Linker.build(terminology, encoders=["chargrams"], folder=tmp_path / "index")
    asked = ["heart atack", "heart atacks", "atack of panic fear", "sone pain", "heart attack"]
    guessed, plural, unnamed, doubtful, known = linker.link(asked)
    assert (guessed.id, guessed.searched, guessed.score) == ("A:1", "heart attack", 1.0)
    assert guessed.steps[0] == Step("correction", "heart atack", "heart attack")
    assert (plural.id, plural.searched) == ("A:1", "heart attack")
    assert unnamed.searched == "atack of panic fear"
    assert (doubtful.searched, doubtful.candidates[0].sieve) == ("sone pain", "search")
    assert known.steps == ()
    without = Linker.build(terminology, encoders=["chargrams"], spelling=False)
    assert without.link(["heart atack"])[0].searched == "heart atack"


def test_spelling_is_corrected_from_the_terminology(
    linker: Linker, terminology: Terminology
) -> None:
    link = linker.link(["myocardial infraction"])[0]
    assert (link.id, link.searched) == ("X:1", "myocardial infarction")
    without = Linker.build(terminology, encoders=["chargrams"], spelling=False)
    assert without.link(["myocardial infraction"])[0].searched == "myocardial infraction"


# --- encoders -------------------------------------------------------------------------------------


def test_several_encoders_are_fused_by_weight(terminology: Terminology, tmp_path: Path) -> None:
    words = tmp_path / "words.vec"
    words.write_text("3 2\ncardial 1 0\ninfarct 0 1\ninfarction 0.5 1\n")
    both = Linker.build(terminology, encoders=["chargrams", f"static:{words}"], weights=[3, 1])
    assert both.info()["encoders"][1]["weight"] == 1
    link = both.link(["cardial infarct"])[0]
    best = link.candidates[0]
    assert list(best.parts) == ["chargrams", "static"]
    assert best.score == pytest.approx((3 * best.parts["chargrams"] + best.parts["static"]) / 4)


def test_sieves_can_be_left_out(terminology: Terminology) -> None:
    bare = Linker.build(terminology, encoders=["chargrams"], sieves=[])
    best = bare.link(["heart attack"])[0].candidates[0]
    assert (best.id, best.sieve, best.score) == ("X:1", "search", pytest.approx(1))
    verbatim = Linker.build(terminology, encoders=[], sieves=["verbatim"])
    assert ids(verbatim, "heart attack", "heart attacks") == ["X:1", None]
    with pytest.raises(InvalidInput, match="no sieve 'gold'"):
        Linker.build(terminology, encoders=[], sieves=["gold"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"speling": False}, "there is no setting 'speling'; there are spelling, composites"),
        ({"abbreviations": "gpt"}, "there is no engine 'gpt' for abbreviations; there are auto"),
        ({"min_length": "x"}, "min_length is 'x'; expected a number of characters"),
        ({"min_length": -1}, "min_length is -1"),
        ({"search_threshold": float("nan")}, "search_threshold is nan; a cosine"),
    ],
)
def test_wrong_settings_are_refused_and_leave_nothing(
    terminology: Terminology, tmp_path: Path, settings: Any, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Linker.build(terminology, encoders=[], folder=tmp_path / "index", **settings)
    assert list(tmp_path.iterdir()) == []


def test_two_encoders_of_a_kind_are_told_apart(terminology: Terminology) -> None:
    both = Linker.build(terminology, encoders=["chargrams", "chargrams:2-3"])
    assert list(both.link(["cardial infarct"])[0].candidates[0].parts) == [
        "chargrams", "chargrams 2",
    ]  # fmt: skip


def test_without_encoders_the_sieves_decide_alone(terminology: Terminology) -> None:
    sieves = Linker.build(terminology, encoders=[])
    assert ids(sieves, "Heart attacks", "cardial infarct") == ["X:1", None]


@pytest.mark.parametrize(
    ("encoders", "weights", "message"),
    [
        (["chargrams"], [1, 2], "2 weights were given for 1 encoders"),
        (["chargrams"], [0], "not all of them 0"),
        (["chargrams"], [-1], "the weights are -1"),
        (["chargrams"], [float("nan")], "the weights are nan"),
        (["chargrams", "chargrams:2-3"], [1, float("inf")], "the weights are 1, inf"),
        (["no such thing"], None, "no such thing"),
    ],
)
def test_wrong_encoders_are_refused_and_leave_nothing(
    terminology: Terminology,
    tmp_path: Path,
    encoders: list[str],
    weights: list[float] | None,
    message: str,
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Linker.build(terminology, encoders=encoders, weights=weights, folder=tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


# --- batches, threads, order ----------------------------------------------------------------------


def test_batches_change_nothing(linker: Linker) -> None:
    mentions = ["cold", "", "brest cancre", "breast and ovarian cancer", "cold", "mi", "aspirine"]
    whole = linker.link(mentions)
    assert list(linker.link_stream(mentions, batch=2)) == list(whole)
    assert [linker.link([mention])[0] for mention in mentions] == list(whole)


def test_a_stream_is_answered_as_it_comes(linker: Linker) -> None:
    taken = 0

    def mentions() -> Any:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield "cold"

    stream = linker.link_stream(mentions(), batch=10)
    next(stream)
    assert taken == 10


def test_threads_get_the_answers_of_one(linker: Linker) -> None:
    mentions = ["cold", "brest cancre", "heart attacks", "ovarian tumour"] * 5
    expected = linker.link(mentions)
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(linker.link(mentions))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert all(answer == expected for answer in answers)


def test_links_are_a_sequence(linker: Linker) -> None:
    links = linker.link(["cold", "xyzzy", "breast and ovarian cancer"] * 5)
    assert len(links[:3]) == 3
    assert links[:3] == links[3:6]
    assert links != list(links)
    shown = repr(links)
    assert "'cold' -> X:6 (Cold)" in shown
    assert "X:3, X:4" in shown
    assert "5 more" in shown
    assert repr(linker.link(["?"])).splitlines() == [
        "<1 links>", "  '?' -> NIL (nothing to look up: no letters or digits are left)",
    ]  # fmt: skip
    assert len(links.to_dicts()) == 15
    assert links.to_arrow().num_rows >= 15
    assert len(links.to_pandas()) == links.to_arrow().num_rows


@pytest.mark.parametrize("given", ["cold", [3], [b"cold"]])
def test_what_is_no_mention_is_refused(linker: Linker, given: Any) -> None:
    with pytest.raises(InvalidInput, match=r"expected a list|a mention is a string"):
        linker.link(given)


def test_missing_values_of_a_data_frame_are_empty_mentions(linker: Linker) -> None:
    import numpy as np
    import pandas

    missing = [None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT]
    links = linker.link([*missing, "cold"])  # type: ignore[list-item]
    assert [link.mention.text for link in links] == ["", "", "", "", "", "cold"]
    assert [link.nil for link in links] == [True] * 5 + [False]
    assert links[0].reason == "nothing to look up: no letters or digits are left"
    frame = pandas.DataFrame({"dx": ["cold", None]})
    assert [link.nil for link in linker.link(frame["dx"])] == [False, True]
    with pytest.raises(InvalidInput, match=r"not float \(1.5\)"):
        linker.link([1.5])  # type: ignore[list-item]


def test_no_candidates_wanted_is_refused(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="k is 0"):
        linker.link(["cold"], k=0)


# --- saved and opened -----------------------------------------------------------------------------


def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        terminology = Terminology.build(RECORDS, tmp_path / f"{name}.db")
        Linker.build(terminology, encoders=["chargrams"], folder=tmp_path / name)
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert one.keys() == two.keys()
    assert [file for file in one if one[file] != two[file]] == []


def test_saved_and_loaded_it_answers_the_same(linker: Linker, tmp_path: Path) -> None:
    mentions = ["cold", "brest cancre", "breast and ovarian cancer", "PHPT"]
    linker.save(tmp_path / "index")
    loaded = Linker.load(tmp_path / "index")
    assert loaded.link(mentions) == linker.link(mentions)
    assert loaded.fingerprint == linker.fingerprint
    info = loaded.info()
    assert info["terminology"]["n_concepts"] == 8
    assert info["encoders"][0]["name"] == "chargrams"
    with pytest.raises(InvalidInput, match="exists already"):
        linker.save(tmp_path / "index")
    linker.save(tmp_path / "index", overwrite=True)
    assert loaded.link(mentions) == linker.link(mentions)


class Own(Linker):
    """A class of somebody else."""


def test_a_linker_is_pickled_by_its_folder(
    terminology: Terminology, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Linker.build(terminology, encoders=["chargrams"], folder=tmp_path / "index")
    monkeypatch.chdir(tmp_path)
    linker = Own.load("index")
    linker.synonyms.add("the big one", "X:1")
    mentions = ["cold", "the big one", "brest cancre", "breast and ovarian cancer"]
    links, fingerprint, pickled = linker.link(mentions), linker.fingerprint, pickle.dumps(linker)
    assert len(pickled) < 1000
    monkeypatch.chdir("/")
    again = pickle.loads(pickled)
    assert type(again) is Own
    assert again.folder == tmp_path / "index"
    assert again.fingerprint == fingerprint
    assert again.link(mentions) == links
    again.synonyms.add("the little one", "X:1")
    monkeypatch.chdir(tmp_path)
    assert ids(linker, "the little one") == ["X:1"]


def test_a_pickled_linker_keeps_a_terminology_that_it_was_given(
    linker: Linker, terminology: Terminology, tmp_path: Path
) -> None:
    linker.save(tmp_path / "index")
    given = Linker.load(tmp_path / "index", terminology=terminology)
    own = Linker.load(tmp_path / "index")
    paths = [pickle.loads(pickle.dumps(one)).terminology.path for one in (given, own)]
    assert paths == [terminology.path.absolute(), tmp_path / "index" / "terminology.db"]


def test_a_linker_links_in_other_processes(linker: Linker) -> None:
    mentions = ["cold", "brest cancre", "breast and ovarian cancer", ""]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        found = pool.submit(operator.methodcaller("link", mentions, k=3), linker).result(120)
    assert found == linker.link(mentions, k=3)


def test_a_temporary_linker_leaves_nothing_behind(terminology: Terminology) -> None:
    linker = Linker.build(terminology, encoders=["chargrams"])
    folder = linker.folder
    assert folder.is_dir()
    del linker
    gc.collect()
    assert not folder.exists()


def test_another_terminology_is_refused(linker: Linker, tmp_path: Path) -> None:
    linker.save(tmp_path / "index")
    same = Terminology.build(RECORDS)
    assert Linker.load(tmp_path / "index", terminology=same).link(["cold"])[0].id == "X:6"
    other = Terminology.build(RECORDS[:3])
    with pytest.raises(Mismatch, match="build the index again"):
        Linker.load(tmp_path / "index", terminology=other)
    other.close()
    shutil.copy(other.path, tmp_path / "index" / "terminology.db")
    with pytest.raises((Mismatch, ReadError)):
        Linker.load(tmp_path / "index")


def test_an_index_that_another_process_replaces_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [ReadError(tmp_path / "index" / "bags", "this file is missing")]

    def read(*args: Any, **options: Any) -> Any:
        if failures:
            raise failures.pop()
        return read_index_manifest(*args, **options)

    monkeypatch.setattr("canonym.linker.read_index_manifest", read)
    linker = Linker.build(Terminology.build(RECORDS), folder=tmp_path / "index")
    assert not failures
    assert linker.link(["cold"])[0].id


def test_a_newer_or_damaged_index_is_refused(linker: Linker, tmp_path: Path) -> None:
    linker.save(tmp_path / "index")
    manifest = tmp_path / "index" / MANIFEST
    text = manifest.read_text()
    manifest.write_text(text.replace('"format": 2', '"format": 99'))
    with pytest.raises(Mismatch, match="newer canonym"):
        Linker.load(tmp_path / "index")
    manifest.write_text(text)
    for file in contents(tmp_path / "index"):
        if file in (MANIFEST, CHECKSUMS, f"encoder-0/{CHECKSUMS}"):
            continue
        path = tmp_path / "index" / file
        whole = path.read_bytes()
        path.write_bytes(whole[:-1])
        with pytest.raises(ReadError, match="damaged"):
            Linker.load(tmp_path / "index")
        path.write_bytes(whole)
    with pytest.raises(ReadError, match="no such folder"):
        Linker.load(tmp_path / "nowhere")


def test_a_kill_in_the_middle_leaves_the_old_index_or_none(
    terminology: Terminology, tmp_path: Path
) -> None:
    folder = tmp_path / "index"

    def build(killed_at: str) -> None:
        def progress(stage: str, _done: int, _total: int) -> None:
            if stage == killed_at:
                os.kill(os.getpid(), signal.SIGKILL)

        Linker.build(
            Terminology(terminology.path), encoders=["chargrams"], folder=folder,
            overwrite=True, progress=progress,
        )  # fmt: skip

    def run(stage: str) -> int:
        process = multiprocessing.get_context("fork").Process(target=build, args=(stage,))
        process.start()
        process.join()
        return process.exitcode or 0

    assert run("chargrams vectors") < 0
    assert not folder.exists()
    assert run("never") == 0
    before = contents(folder)
    assert list(tmp_path.iterdir()) == [folder]  # what the kill left behind is gone
    assert run("counting") < 0
    assert contents(folder) == before
    assert Linker.load(folder).link(["cold"])[0].id == "X:6"


def test_progress_reaches_the_end_of_every_stage(terminology: Terminology) -> None:
    seen: dict[str, tuple[int, int]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        seen[stage] = (done, total)

    Linker.build(terminology, encoders=["chargrams"], progress=progress)
    assert {"normal forms", "counting", "chargrams vectors"} <= set(seen)
    assert all(done == total for done, total in seen.values())


def test_deprecated_concepts_are_answered_by_what_is_in_their_place(tmp_path: Path) -> None:
    terminology = Terminology.build(
        [
            Concept("X:1", "hip joint", types=("joint",)),
            Concept("X:2", "articulatio coxae", deprecated=True, replaced_by=("X:1",)),
            Concept("X:3", "coxal vapours", deprecated=True),
            Concept("X:4", "knee"),
        ]
    )
    linker = Linker.build(terminology, encoders=["chargrams"], folder=tmp_path / "index")
    for reopened in (linker, Linker.load(tmp_path / "index")):
        links = reopened.link(["articulatio coxae", "articulatio coxa", "coxal vapours"], k=4)
        assert [link.id for link in links[:2]] == ["X:1", "X:1"]
        assert links[0].candidates[0].sieve == "verbatim"
        assert links[0].candidates[0].name == "articulatio coxae"
        found = {one.id for link in links for one in link.candidates}
        assert found <= {"X:1", "X:4"}
        assert [link.id for link in reopened.link(["coxal vapours"], ids=["X:3"])] == [None]
        filtered = reopened.link(["coxal vapours"], types=["joint"], min_confidence=0)
        assert [link.id for link in filtered] == ["X:1"]


def test_a_linker_says_how_it_is_opened() -> None:
    for given in ("folder", None, 3):
        with pytest.raises(InvalidInput, match=r"open an index with Linker\.load"):
            Linker(given)  # type: ignore[arg-type]


# --- looking up -----------------------------------------------------------------------------------


def test_concepts_are_found_by_words_of_their_names(linker: Linker) -> None:
    first, second = linker.search("cancer")
    assert [(hit.id, hit.name) for hit in (first, second)] == [
        ("X:3", "Breast cancer"),
        ("X:4", "Ovarian cancer"),
    ]
    assert (first.label, first.score, first.types) == (
        "Breast cancer",
        0.5,
        ("disease", "neoplasm"),
    )
    assert [hit.id for hit in linker.search("ovary cancers")] == ["X:4"]
    assert [hit.id for hit in linker.search("cold", types=["Feeling"])] == ["X:7", "X:0"]
    assert [hit.id for hit in linker.search("infarct", k=1)] == ["X:1"]
    assert linker.search("nothing like it") == linker.search("") == []
    with pytest.raises(InvalidInput, match="k is 0"):
        linker.search("cold", k=0)
    with pytest.raises(InvalidInput, match="'Mood' does not occur"):
        linker.search("cold", types=["Mood"])


def test_names_that_were_added_are_found_first(tmp_path: Path, terminology: Terminology) -> None:
    linker = Linker.build(terminology, encoders=[], folder=tmp_path / "index")
    linker.synonyms.add("ache of the ovary with cancer", "X:3")
    found = linker.search("ovary cancer")
    assert [(hit.id, hit.name) for hit in found] == [
        ("X:3", "ache of the ovary with cancer"),
        ("X:4", "cancer of the ovary"),
    ]


@pytest.mark.parametrize("code", ["X:5", "x:5", "X_5", " X:5", "X:500"])
def test_a_concept_is_looked_up_by_any_spelling_of_its_id(linker: Linker, code: str) -> None:
    assert linker.concept(code).label == linker.terminology.concept(code).label == "Aspirin"


@pytest.mark.parametrize("code", ["X:99", "nothing", "", None])
def test_an_unknown_id_is_told(linker: Linker, code: Any) -> None:
    with pytest.raises(InvalidInput, match="no concept has the id"):
        linker.concept(code)


def test_a_link_explains_itself(linker: Linker) -> None:
    (link,) = linker.link(["severe heart attacks"])
    lines = link.explain()
    assert "matched name: 'heart attack' (exact)" in lines
    assert any(line.startswith("runner-up:") for line in lines)


def test_help_says_what_each_option_means() -> None:
    for function in (Linker.link, Linker.annotate, Linker.link_documents):
        said = function.__doc__ or ""
        for option in LinkOptions.__annotations__:
            assert f"\n{option}" in said or f", {option}" in said, option
        assert "Mentions whose link is right with a smaller probability are NIL" in said
