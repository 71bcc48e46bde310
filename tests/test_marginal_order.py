"""Candidates in the order of all their names together."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonym import Concept, Document, Linker, Mention, Name, Terminology
from canonym.cli import main
from canonym.evaluation.run import evaluate_corpus
from canonym.linking.features import COMPANY, with_company
from canonym.linking.reranker import RERANKER, Reranker
from canonym.types import Candidate, Link

STRAY, MEANT = "X:1", "X:2"
ASKED = "chronic severe pain of the hip joint"


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    """One concept has a stray name that is nearest, the other three that are nearly as near."""
    names = [f"{ASKED} {tail}" for tail in ("bo", "my", "we")]
    return Terminology.build(
        [
            Concept(STRAY, "gout"),
            Name(f"{ASKED} a", STRAY),
            Concept(MEANT, "coxalgia"),
            *(Name(name, MEANT) for name in names),
            Concept("X:3", "influenza"),
        ]
    )


def of(marginals: dict[str, float], **sieves: str) -> Link:
    candidates = tuple(
        Candidate(id_, id_, 0.5, id_, sieve=sieves.get(id_, "search"), near={"marginal": near})
        for id_, near in marginals.items()
    )
    return Link(Mention("m"), candidates, searched="m")


def test_shares_are_the_marginal_probabilities() -> None:
    link = Reranker.marginal(["e"]).apply(of({"a": 0.8, "b": 0.9, "c": 0.85}), 2)
    mass = [math.exp(20 * near) for near in (0.9, 0.85, 0.8)]
    assert [one.id for one in link.candidates] == ["b", "c"]
    assert [one.score for one in link.candidates] == pytest.approx(
        [m / sum(mass) for m in mass[:2]]
    )
    assert link.candidates[0].parts == {"similarity": 0.5}
    assert link.candidates[0].worth == pytest.approx({"marginal": 18})


def test_what_a_sieve_found_stays_first_and_in_its_order() -> None:
    link = of({"a": 0.7, "b": 0.9, "c": 1.05}, a="verbatim", b="verbatim")
    found = Reranker.marginal(["e"]).apply(link, 3).candidates
    assert [one.id for one in found] == ["a", "b", "c"]
    assert [one.score for one in found] == pytest.approx([0.5, 0.5, 0])


def test_a_candidate_whose_name_is_the_mention_stays_first() -> None:
    link = of({"a": 0.99, "m": 0.9})
    assert Reranker.marginal(["e"]).apply(link, 1).candidates[0].id == "m"


def test_other_mentions_of_a_document_multiply_the_probability() -> None:
    link = of({"a": 0.8, "b": 0.79})
    beside = [replace(of({"b": 0.9, "a": 0.1}), searched=text) for text in ("one", "two")]
    told = with_company([link, *beside])[0]
    ranked = Reranker.marginal(["e"]).apply(told, 2).candidates
    assert [one.id for one in ranked] == ["b", "a"]
    assert ranked[0].score / ranked[1].score == pytest.approx(3 * math.exp(20 * -0.01))
    assert ranked[0].worth[COMPANY] == pytest.approx(math.log(3))


def test_a_linker_looks_at_the_document(terminology: Terminology) -> None:
    linker = Linker.build(terminology, encoders=["chargrams"], spelling=False)
    linker.use_order("marginal")
    text = f"coxalgia, and {ASKED} a x"
    asked = Mention(f"{ASKED} a x", 14, len(text))
    document = Document("1", text, (Mention("coxalgia", 0, 8), asked))
    alone = linker.link([asked])[0]
    together = linker.link_document(document)[1]
    share = {one.id: one.score for one in alone.candidates}
    beside = {one.id: one.score for one in together.candidates}
    doubled = 2 * share[MEANT] / (1 + share[MEANT])
    assert beside[MEANT] == pytest.approx(doubled)
    assert linker.link_document(document, context=False)[1] == alone


def test_a_linker_goes_by_all_names(terminology: Terminology, tmp_path: Path) -> None:
    linker = Linker.build(
        terminology, encoders=["chargrams"], folder=tmp_path / "index", spelling=False
    )
    asked = [ASKED, "coxalgia"]
    before = linker.link(asked)
    assert [link.id for link in before] == [STRAY, MEANT]
    linker.use_order("marginal")
    after = linker.link(asked)
    assert [link.id for link in after] == [MEANT, MEANT]
    assert sum(one.score for one in after[0].candidates) == pytest.approx(1)
    assert after[1].candidates[0].score == pytest.approx(1)
    assert linker.info()["re-ranker"] == {"order": "marginal"}
    assert Linker.load(linker.folder).link(asked) == after
    # Made with it, an index links alike.
    made = Linker.build(terminology, encoders=["chargrams"], spelling=False, reranker="marginal")
    assert made.link(asked) == after


@pytest.mark.parametrize("kind", ["marginal", "collective"])
def test_it_goes_with_encoders_of_other_names(kind: str, tmp_path: Path) -> None:
    order = Reranker.marginal(["a"]).renamed(["b"])
    order.save(tmp_path / RERANKER)
    again = Reranker.load(tmp_path / RERANKER, encoders=["b"])
    assert again is not None
    assert again.by_names
    assert again.encoders == ("b",)
    assert again.digest == order.digest == Reranker.marginal(["a"]).digest


def test_an_evaluation_says_what_the_order_is(terminology: Terminology) -> None:
    document = Document("1", "", (Mention(ASKED, ids=(MEANT,)),))
    options = {"terminology": terminology, "encoders": ["chargrams"]}
    assert evaluate_corpus([document], **options).value("accuracy@1") == 0
    run = evaluate_corpus([document], reranker="marginal", **options)
    assert run.value("accuracy@1") == 1
    assert run.notes == ("the 20 nearest concepts were put in order by all of their names",)
    run = evaluate_corpus([document], reranker="collective", **options)
    assert run.value("accuracy@1") == 1
    assert run.notes[0].endswith("their names, and by what the other mentions of a document find")


def test_on_the_command_line(tmp_path: Path) -> None:
    tails = {STRAY: ["a"], MEANT: ["bo", "my", "we"]}
    lines = [f"{id_},{ASKED} {tail}" for id_, those in tails.items() for tail in those]
    (tmp_path / "names.csv").write_text("\n".join(["id,name", *lines, ""]))
    index = str(tmp_path / "made")
    asked = ["index", str(tmp_path / "names.csv"), "-o", index, "--encoder", "chargrams"]
    assert CliRunner().invoke(main, [*asked, "--reranker", "marginal"]).exit_code == 0
    linked = ["link", "--index", index, "--format", "jsonl", ASKED]
    found = CliRunner().invoke(main, linked)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout.splitlines()[0])["ids"] == [MEANT]
