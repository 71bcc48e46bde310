"""Gold ids and mentions in pieces: the rules that all readers of corpora share."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.corpora.gold import parse_ids, written_ids
from canonym.corpora.offsets import join_pieces, mention_pieces, pieces_problem
from canonym.corpora.pubtator import parse_pubtator, read_pubtator
from canonym.errors import InvalidInput
from canonym.types import Mention
from tests.tables import cases

KNEE = "pain in the left and right knee"


@cases("written", "ids", "rule")
def test_ids_are_read_as_written(written: str, ids: tuple[str, ...], rule: str) -> None:
    assert parse_ids(written) == (ids, rule)


@pytest.mark.parametrize("written", ["D1", "D1+D2", "D1,D2", "D1|-1", "-1|-1", "-1", "nil", ""])
def test_pubtator_reads_ids_the_same_way(written: str) -> None:
    block = ["7|t|hip", f"7\t0\t3\thip\tDisease\t{written}"]
    (mention,) = next(parse_pubtator(block, "x")).mentions
    assert (mention.ids, mention.rule) == parse_ids(written)


def test_further_separators_of_a_composite() -> None:
    assert parse_ids("1;2|3", composite="|;") == (("1", "2", "3"), "all")
    assert parse_ids("1;2") == (("1;2",), "any")
    assert parse_ids("1;", composite="|;") == (("1",), "any")


@pytest.mark.parametrize("written", ["D1", "D1,D2", "D1|D2", "D1|-1", "-1", ""])
def test_written_ids_are_read_back(written: str) -> None:
    ids, rule = parse_ids(written)
    assert written_ids(Mention("x", ids=ids, rule=rule)) == written


@pytest.mark.parametrize("id_", ["a|b", "a+b", "a,b", " "])
def test_an_id_with_a_separator_is_not_written(id_: str) -> None:
    with pytest.raises(InvalidInput, match="JSONL"):
        written_ids(Mention("x", ids=(id_,)))


def test_a_combination_is_written_as_a_composite() -> None:
    ids, rule = parse_ids("D1+D2")
    assert written_ids(Mention("x", ids=ids, rule=rule)) == "D1|D2"


def test_pieces_are_joined_and_found_again() -> None:
    pieces = [(0, 11), (21, 31)]
    text = join_pieces(KNEE, pieces)
    assert text == "pain in the right knee"
    assert join_pieces(KNEE, pieces, how="cover") == KNEE
    assert mention_pieces(KNEE, Mention(text, 0, 31)) == pieces
    assert mention_pieces(KNEE, Mention(KNEE, 0, 31)) == [(0, 31)]
    assert mention_pieces("a\nb", Mention("a b", 0, 3)) == [(0, 3)]


def test_the_last_word_is_where_the_mention_ends() -> None:
    assert mention_pieces("knee or left knee", Mention("or knee", 5, 17)) == [(5, 7), (13, 17)]


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        (Mention("knee"), "no offsets"),
        (Mention("knee", 0, 99), "no span"),
        (Mention("hip", 0, 31), "hold"),
        (Mention("in knee", 0, 31), "hold"),
        (Mention("pain elbow knee", 0, 31), "hold"),
        (Mention("pain left knee", 0, 16), "hold"),
    ],
)
def test_missing_pieces(mention: Mention, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        mention_pieces(KNEE, mention)


@pytest.mark.parametrize(
    ("pieces", "written", "message"),
    [
        ([], None, "no offsets"),
        ([(0, 4)], "pain", None),
        ([(0, 4)], "hip", "hold 'pain'"),
        ([(0, 4), (3, 7)], None, "overlap"),
        ([(0, 4), (30, 40)], None, "no span"),
        ([(0, 4), (27, 31)], None, None),
        ([(0, 4), (27, 31)], "pain knee", None),
        ([(0, 4), (27, 31)], "painknee", None),
        ([(0, 4), (27, 31)], KNEE, None),
        ([(0, 4), (27, 31)], "pain hip", "pieces 0-4, 27-31 hold 'pain knee'"),
    ],
)
def test_problems_of_pieces(
    pieces: list[tuple[int, int]], written: str | None, message: str | None
) -> None:
    problem = pieces_problem(KNEE, pieces, written)
    assert problem is None if message is None else message in str(problem)


def test_what_the_signs_of_the_ncbi_corpus_mean(data: Path) -> None:
    composed: list[tuple[str, ...]] = []
    for part in ("train", "dev", "test"):
        for document in read_pubtator(data / "ncbi-disease" / f"{part}.pubtator"):
            for mention in document.mentions:
                assert not any("+" in id_ or "|" in id_ for id_ in mention.ids)
                assert (mention.rule == "all") == (len(mention.ids) > 1)
                if mention.text == "inherited muscle disorder":
                    composed.append(mention.ids)
    assert composed == [("D009135", "D030342")]
