"""Concepts of one name are put in order by the text around the mention; nothing else changes."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from canonym import Concept, Document, InvalidInput, Linker, Mention, Name, Relation, Terminology
from canonym.cli import main
from canonym.linking.explanation import explain
from canonym.linking.homonyms import AHEAD, ANYWAY, EVIDENCE, TRUSTED, WEIGHTS, kinship, weigh
from canonym.mentions.readings import common_readings
from canonym.types import Link
from tests.linkers import concepts, linker_of

RECORDS = [
    Concept(
        "T:1", "Cold Temperature", types=("Phenomenon",),
        definition="An absence of warmth or heat, or a temperature below an accustomed norm.",
    ),
    Name("cold", "T:1"),
    Name("freezing", "T:1"),
    Concept(
        "T:2", "Common Cold", types=("Disease or Syndrome",),
        definition="A catarrh of the nose and throat, with nasal congestion, cough and sneezing.",
    ),
    Name("cold", "T:2"),
    Name("acute coryza", "T:2"),
    Concept(
        "T:3", "Chronic Obstructive Lung Disease", types=("Disease or Syndrome",),
        definition="Airflow limitation of smokers; emphysema and chronic bronchitis.",
    ),
    Name("COLD", "T:3", scope="abbreviation"),
    Name("COPD", "T:3"),
    Concept("T:4", "Multiple Sclerosis"),
    Name("MS", "T:4", scope="abbreviation"),
    Name("disseminated sclerosis", "T:4"),
    Concept("T:5", "Mitral Stenosis"),
    Name("MS", "T:5", scope="abbreviation"),
    Name("mitral valve stenosis", "T:5"),
    Concept("T:10", "Mass Spectrometry", types=("Technique",)),
    Name("MS", "T:10", scope="abbreviation"),
    Name("spectrum analysis of ions", "T:10"),
    Concept("T:6", "Optic neuritis"),
    Concept("T:7", "Uhthoff phenomenon"),
    Relation("T:7", "is_a", "T:4"),
    Relation("T:6", "is_a", "T:8"),
    Relation("T:4", "is_a", "T:8"),
    Relation("T:8", "is_a", "T:6"),
    Concept("T:8", "Demyelination"),
    Concept("D:1", "thrombotic", types=("x",)),
    Concept("D:2", "thrombotic", types=("y",)),
    Concept("D:3", "aortic stenosis", types=("x",)),
    Concept("D:4", "aortic stenosis", types=("y",)),
    Concept("P:1", "plain", types=("y",)),
    Concept("P:2", "simple", types=("y",)),
]  # fmt: skip

COLD = {
    "Animals were kept in the cold at a temperature of 4 degrees.": "T:1",
    "He had a cold last week, with a cough and much sneezing.": "T:2",
    "Smokers with severe cold had emphysema and airflow limitation.": "T:3",
}
MS = {
    "Her mother had disseminated sclerosis, and she has MS.": "T:4",
    "MS was treated by replacing the mitral valve.": "T:5",
    "Peptides were found by chromatography and MS of ions, spectrum by spectrum.": "T:10",
}


@pytest.fixture(scope="module")
def terminology(tmp_path_factory: pytest.TempPathFactory) -> Terminology:
    return Terminology.build(RECORDS, tmp_path_factory.mktemp("terms") / "x.db")


@pytest.fixture(scope="module")
def linker(terminology: Terminology, tmp_path_factory: pytest.TempPathFactory) -> Linker:
    return Linker.build(
        terminology, folder=tmp_path_factory.mktemp("index") / "i", abbreviations="schwartz-hearst"
    )


def document(text: str, *mentions: str, types: Sequence[str] = ()) -> Document:
    found = [
        Mention(each, text.index(each), text.index(each) + len(each), type=type_, document_id="1")
        for each, type_ in itertools.zip_longest(mentions, types, fillvalue="")
    ]
    return Document("1", text, tuple(found))


def bare(link: Link) -> Link:
    return replace(link, candidates=tuple(replace(one, context={}) for one in link.candidates))


# --- what decides ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "id_", "mention"),
    [(*pair, name) for name, cases in (("cold", COLD), ("MS", MS)) for pair in cases.items()],
)
def test_the_text_decides_between_concepts_of_one_name(
    linker: Linker, text: str, id_: str, mention: str
) -> None:
    asked = document(text, mention)
    (link,) = linker.link_document(asked)
    assert link.id == id_
    context = Mention(mention, context=text)
    assert linker.link([context])[0].candidates == link.candidates
    # Without the text it is the same concept whatever the text.
    (plain,) = linker.link_document(asked, context=False)
    assert plain.id == ("T:1" if mention == "cold" else "T:10")
    assert {one.id for one in plain.candidates} == {one.id for one in link.candidates}


def test_the_sum_says_what_decided(linker: Linker) -> None:
    text = next(text for text, id_ in MS.items() if id_ == "T:4")
    (link,) = linker.link_document(document(text, "MS"))
    told = [one.context for one in link.candidates if one.context]
    assert [list(one) for one in told] == [[*EVIDENCE, *AHEAD]] * 3
    sums = [sum(one.values()) for one in told]
    assert sums == sorted(sums, reverse=True)
    assert [one.context.get("first anyway") for one in link.candidates].index(ANYWAY) > 0
    line = next(line for line in explain(link) if line.startswith("context: "))
    assert line.startswith("context: 3 concepts are called 'MS'; rather than T:")
    assert "document +" in line
    assert link.to_dict()["candidates"][0]["context"] == link.candidates[0].context
    plain = linker.link_document(document(text, "MS"), context=False)[0]
    assert "context" not in plain.to_dict()["candidates"][0]
    assert not any(line.startswith("context") for line in explain(plain))


def test_a_concept_of_the_hierarchy_near_by_decides(linker: Linker) -> None:
    asked = document("Uhthoff phenomenon. MS.", "Uhthoff phenomenon", "MS")
    links = linker.link_document(asked)
    assert [link.id for link in links] == ["T:7", "T:4"]
    told = {one.id: one.context["hierarchy"] for one in links[1].candidates if one.context}
    assert told["T:4"] > 0 == told["T:5"] == told["T:10"]
    # Cycles in a hierarchy do no harm, and a sibling counts less than a child.
    beside = linker.link_document(document("Optic neuritis. MS.", "Optic neuritis", "MS"))[1]
    assert next(one for one in beside.candidates if one.id == "T:4").context["hierarchy"] > 0


def test_the_type_of_the_mention_decides(linker: Linker) -> None:
    text = "It was cold."
    assert linker.link_document(document(text, "cold"))[0].id == "T:1"
    (link,) = linker.link_document(document(text, "cold", types=["Disease"]))
    assert link.id == "T:2"
    assert linker.link([Mention("cold", type="disease")])[0].id == "T:2"
    assert linker.link([Mention("MS", type="Technique")])[0].id == "T:10"


def test_types_of_other_mentions_decide_those_of_the_same_type_first(linker: Linker) -> None:
    text = "thrombotic, plain and cold"
    assert linker.link_document(document(text, "thrombotic"))[0].id == "D:1"
    assert linker.link_document(document(text, "thrombotic", "plain"))[0].id == "D:2"
    types = ("A", "B", "A")
    asked = document("thrombotic, plain, freezing", "thrombotic", "plain", "freezing", types=types)
    told = linker.link_document(asked)[0].candidates
    # Of type A there is "freezing" alone, and that is of neither of the two types.
    assert [one.context for one in told if one.id in {"D:1", "D:2"}] == [{}, {}]


def test_tied_concepts_beyond_the_candidates_wanted_count(linker: Linker) -> None:
    for text, id_ in COLD.items():
        (one,) = linker.link_document(document(text, "cold"), k=1)
        assert [each.id for each in one.candidates] == [id_]


def test_a_name_that_a_search_found_is_tied_as_well(linker: Linker) -> None:
    for options in ({"k": 1}, {"k": 5}):
        links = linker.link_document(
            document("thrombotics type, plain", "thrombotics type", "plain"), **options
        )
        assert links[0].candidates[0].sieve == "search"
        assert links[0].candidates[0].id == "D:2"
        assert links[0].candidates[0].context
    plain = linker.link(["thrombotics type"], min_confidence=0)[0]
    assert plain.id == "D:1"
    assert plain.score == links[0].score


# --- what stays -----------------------------------------------------------------------------------

UNTIED = [
    "Common Cold", "coryza", "freezing", "mitral valve stenoses", "optic nerve inflammation",
    "Demyelination", "no such thing", "?", "", "neuritis and demyelination",
]  # fmt: skip


@pytest.mark.parametrize("encoders", [["default"], ["chargrams"], ["default", "chargrams"], []])
def test_links_without_ties_are_identical(
    terminology: Terminology, tmp_path: Path, encoders: list[str]
) -> None:
    linker = Linker.build(terminology, encoders=encoders, folder=tmp_path / "index")
    text = ". ".join([*UNTIED, *COLD, *MS])
    mentions = tuple(Mention(each, type="Disease", context=text) for each in UNTIED)
    for k in (1, 3, 20):
        asked = [Document("1", text, mentions), Document("2", "", ()), Document("3", "", mentions)]
        with_, without = (
            list(linker.link_documents(asked, k=k, context=context, batch=4))
            for context in (True, False)
        )
        assert with_ == without
        assert linker.link(mentions, k=k) == linker.link(mentions, k=k, context=False)


def test_ties_are_left_alone_where_nothing_is_known(linker: Linker) -> None:
    for mention in ("cold", "MS", "thrombotic"):
        with_, without = linker.link([mention])[0], linker.link([mention], context=False)[0]
        assert with_ == without


def test_a_context_changes_the_order_of_the_tied_alone(linker: Linker) -> None:
    for text in (*COLD, *MS):
        asked = document(text, "cold" if text in COLD else "MS")
        (with_,) = linker.link_document(asked, k=8)
        (without,) = linker.link_document(asked, k=8, context=False)
        assert with_.candidates[3:] == without.candidates[3:]
        assert with_.candidates[3:]
        assert sorted(one.id for one in bare(with_).candidates[:3]) == sorted(
            one.id for one in without.candidates[:3]
        )
        assert [one.score for one in with_.candidates] == [one.score for one in without.candidates]


def test_a_seed_breaks_ties_at_random_whatever_the_context(linker: Linker) -> None:
    text = next(iter(COLD))
    found = {linker.link_document(document(text, "cold"), seed=seed)[0].id for seed in range(20)}
    assert found == {"T:1", "T:2", "T:3"}


def test_batches_and_other_documents_change_nothing(linker: Linker) -> None:
    asked = [document(text, "cold") for text in COLD] + [document(text, "MS") for text in MS]
    asked.insert(2, Document("empty", "nothing"))
    one_by_one = [(each, linker.link_document(each)) for each in asked]
    for batch in (1, 2, 1024):
        assert list(linker.link_documents(asked, batch=batch)) == one_by_one
    assert list(linker.link_documents(reversed(asked))) == one_by_one[::-1]


def test_filters_and_forbidden_concepts_are_obeyed(terminology: Terminology) -> None:
    linker = Linker.build(terminology)
    text = next(text for text, id_ in COLD.items() if id_ == "T:3")
    asked = document(text, "cold")
    assert linker.link_document(asked, ids=["T:1", "T:2"])[0].id in {"T:1", "T:2"}
    linker.synonyms.forbid("cold", "T:3")
    (link,) = linker.link_document(asked)
    assert {one.id for one in link.candidates if one.context} == {"T:1", "T:2"}
    searched = document("thrombotics type, plain", "thrombotics type", "plain")
    linker.synonyms.forbid("thrombotics type", "D:2")
    assert linker.link_document(searched)[0].candidates[0].id == "D:1"
    assert linker.link_document(searched, ids=["D:1", "P:1"])[0].candidates[0].context == {}


def test_parts_of_a_composite_mention_are_settled_each(linker: Linker) -> None:
    mention = "aortic and mitral stenosis"
    asked = document(f"{mention}, plain", mention, "plain")
    with_, without = (linker.link_document(asked, context=given)[0] for given in (True, False))
    assert with_.parts
    assert (without.ids, with_.ids) == (("D:3", "T:5"), ("D:4", "T:5"))
    assert with_.parts[1] == without.parts[1]


# --- the sum of the evidence ----------------------------------------------------------------------

NONE = [0.0] * len(EVIDENCE)


def only(kind: str, value: float) -> list[float]:
    return [value if kind == one else 0.0 for one in EVIDENCE]


@pytest.mark.parametrize("kind", EVIDENCE)
def test_every_kind_of_evidence_can_put_another_concept_first(kind: str) -> None:
    enough = (ANYWAY + 0.01) / WEIGHTS[EVIDENCE.index(kind)]
    found = weigh([NONE, only(kind, enough), NONE])
    assert found is not None
    worth, order = found
    assert order == [1, 0, 2]
    assert worth.shape == (3, len(EVIDENCE) + 2)
    assert worth[1].sum() == pytest.approx(ANYWAY + 0.01 + TRUSTED)
    assert worth[0].tolist() == [*NONE, TRUSTED, ANYWAY]
    little = weigh([NONE, only(kind, 0.9 * ANYWAY / WEIGHTS[EVIDENCE.index(kind)]), NONE])
    assert little is not None
    assert little[1] == [0, 1, 2]


def test_a_less_trusted_scope_needs_more() -> None:
    evidence = [NONE, only("types", (ANYWAY + TRUSTED / 2) / WEIGHTS[EVIDENCE.index("types")])]
    alike, other = weigh(evidence), weigh(evidence, trusted=[True, False])
    assert alike is not None
    assert other is not None
    assert (alike[1], other[1]) == ([1, 0], [0, 1])


def test_nothing_is_said_where_all_evidence_is_the_same() -> None:
    assert weigh([NONE, NONE], trusted=[True, False]) is None
    assert weigh([[0.3, math.nan, 0, 1]] * 3) is None
    assert weigh([only("types", 1)]) is None
    assert weigh(np.empty((0, len(EVIDENCE)))) is None


def test_what_is_not_known_is_the_mean_of_what_is() -> None:
    found = weigh([[math.nan, 0, 0, 0], [0.2, 0, 0, 0], [0.6, 0, 0, 0]], weights=[1, 1, 1, 1])
    assert found is not None
    assert found[0][:, 0] == pytest.approx([0.4, 0.2, 0.6])
    # Of one concept alone it is known: then it tells it from nothing.
    assert weigh([[math.nan, 0, 0, 0], [0.6, 0, 0, 0]]) is None


def test_equal_scores_keep_their_order() -> None:
    found = weigh([NONE, only("types", 0.5), only("types", 0.5 + 1e-9), only("types", 1)])
    assert found is not None
    assert found[1] == [3, 1, 2, 0]


def test_evidence_of_another_shape_is_refused() -> None:
    for evidence, trusted in (([[0.0, 1.0]], None), ([0.0] * 4, None), ([NONE, NONE], [True])):
        with pytest.raises(InvalidInput, match="a row for each concept"):
            weigh(evidence, trusted=trusted)


def test_the_nearest_of_others_counts() -> None:
    above = {"a": 0, "b": 1, "c": 2}
    assert kinship(above, [{"a": 0, "b": 1}]) == 1
    assert kinship(above, [{"b": 0, "c": 1}]) == 1 / 2
    assert kinship(above, [{"z": 0}, {"x": 0, "y": 1, "c": 2}, {"w": 0, "b": 3}]) == 1 / 5
    assert kinship(above, [{"z": 0}]) == 0
    assert kinship(above, []) == 0


# --- the command ----------------------------------------------------------------------------------


def test_the_command_has_a_switch_and_says_what_decided(linker: Linker, tmp_path: Path) -> None:
    text, id_ = list(COLD.items())[1]
    start = text.index("cold")
    corpus = tmp_path / "x.pubtator"
    corpus.write_text(f"1|t|{text}\n1|a|\n1\t{start}\t{start + 4}\tcold\tDisease\tX\n\n")
    found = {}
    for switch in ("", "--no-context"):
        options = ["link", "-q", "-i", str(linker.folder), "-f", str(corpus), "--explain"]
        result = CliRunner().invoke(
            main, [*options, "--format", "jsonl", *([switch] if switch else [])]
        )
        assert result.exit_code == 0, result.output
        found[switch] = json.loads(result.output)
    assert (found[""]["ids"], found["--no-context"]["ids"]) == ([id_], ["T:1"])
    assert "context: 3 concepts are called 'cold'" in found[""]["explanation"]
    assert "context: " not in json.dumps(found["--no-context"])


def test_the_text_around_many_homonyms_is_read_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from canonym.linking import homonyms

    terminology = Terminology.build(
        [
            Concept("T:1", "Common cold", "An infection of the nose.", types=("Disease",)),
            Name("rhigosis", "T:1"),
            Concept("T:2", "Cold temperature", "Air or water without heat.", types=("State",)),
            Name("rhigosis", "T:2"),
        ]
    )
    linker, calls, read = Linker.build(terminology, encoders=[]), [], homonyms.phrases

    def counted(text: str) -> list[str]:
        calls.append(text)
        return read(text)

    monkeypatch.setattr(homonyms, "phrases", counted)
    links = linker.annotate("An infection of the nose: " + "rhigosis " * 300)
    assert {link.id for link in links} == {"T:1"}
    assert len(links) == 300
    assert len(calls) < 10


RARE = concepts(
    "R:1|Dowling-Degos disease|DDD",
    "R:2|Osteitis deformans|PDB|Paget disease of bone",
    "R:3|Arthroophthalmopathy|AOM",
)


@pytest.mark.parametrize(("short", "most"), [("DDD", 0.25), ("AOM", 0.25), ("PDB", 1)])
def test_a_rare_synonym_that_usually_stands_for_another_is_doubted(short: str, most: float) -> None:
    known = [Concept(f"K:{n}", text) for n, text in enumerate(common_readings())]
    (link,) = linker_of([*RARE, *known]).link([short])
    assert link.id == {"DDD": "R:1", "PDB": "R:2", "AOM": "R:3"}[short]
    assert (link.confidence or 0) <= most
    assert (link.confidence or 0) > 0.9 or most < 1


def test_a_symbol_is_a_name_where_no_reading_of_notes_is_known() -> None:
    (link,) = Linker.build(Terminology.build(RARE)).link(["AOM"])
    assert (link.id, (link.confidence or 0) > 0.9) == ("R:3", True)


def test_what_notes_seldom_mean_is_not_certain_even_where_nothing_else_is_known() -> None:
    records = [Concept("X:1", "Charcot-Marie-Tooth disease"), Name("CMT", "X:1")]
    (link,) = Linker.build(Terminology.build(records)).link(["CMT"])
    assert link.id == "X:1"
    assert (link.confidence or 0) <= 0.5
    assert link.steps[-1] == ("other readings", "CMT", "cervical motion tenderness")


def test_capitals_of_one_short_form_do_not_contradict() -> None:
    records = [Concept("X:1", "Atrial fibrillation"), Name("AFib", "X:1"), Concept("X:2", "DVT")]
    for link in Linker.build(Terminology.build(records)).link(["AFIB", "Afib", "DVTS"]):
        assert (link.confidence or 0) > 0.9


def test_a_terminology_s_own_concept_goes_before_one_that_it_took() -> None:
    records = [Concept("B:1", "gout"), Concept("B:2", "asthma"), Concept("A:9", "Asthma")]
    terminology = Terminology.build(records)
    assert terminology.home() == (1, 3)
    links = Linker.build(terminology, encoders=["chargrams"]).link(["Asthma", "asthma"])
    assert [link.id for link in links] == ["B:2", "B:2"]
    assert Terminology.build([Concept("1", "gout"), Concept("2", "asthma")]).home() == (0, 0)
