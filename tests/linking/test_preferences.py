"""Of concepts that share a name, the preferred ones go first; nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from canonym import Concept, Document, InvalidInput, Linker, Mention, Name, Terminology
from canonym.cli import main
from canonym.evaluation.run import evaluate_corpus
from canonym.linking.explanation import explain
from canonym.linking.homonyms import MOST_TIED
from canonym.linking.links import LinkOptions

N_OTHERS = MOST_TIED + 10
RECORDS = [
    Concept("G:1", "Tp53", types=("gene", "Mus musculus"), source="A"),
    Name("p53", "G:1"),
    Name("transformation related protein", "G:1"),
    Concept("G:2", "TP53", types=("gene", "Homo sapiens"), source="B"),
    Name("p53", "G:2"),
    Name("Li-Fraumeni antigen", "G:2"),
    Concept("H:3", "protein p53 (zebrafish)", types=("protein",), source="B"),
    Name("p53", "H:3"),
    Name("swimming antigen", "H:3"),
    Concept("H:4", "p53 pathway", types=("process",), source="B"),
    # More concepts of a name than are compared.
    *(Concept(f"X:{n:03}", f"kinase of {n}", types=("gene",)) for n in range(N_OTHERS)),
    *(Name("crk", f"X:{n:03}") for n in range(N_OTHERS)),
    Concept("Y:1", "Crk kinase", types=("gene", "Danio rerio")),
    Name("crk", "Y:1"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("preferences") / "index"
    Linker.build(Terminology.build(RECORDS), folder=folder)
    return folder


@pytest.fixture(scope="module")
def linker(folder: Path) -> Linker:
    return Linker.load(folder)


def ids(linker: Linker, text: str, **options: object) -> list[str]:
    chosen: LinkOptions = {"k": 3, **options}  # type: ignore[typeddict-item]
    return [one.id for one in linker.link([text], **chosen)[0].candidates]


@pytest.mark.parametrize("context", [True, False])
@pytest.mark.parametrize(
    ("prefer", "expected"),
    [
        ([], ["G:1", "G:2", "H:3"]),
        (["Homo sapiens"], ["G:2", "G:1", "H:3"]),
        (["human"], ["G:2", "G:1", "H:3"]),
        (["zebrafish"], ["H:3", "G:1", "G:2"]),
        (["PROTEIN"], ["H:3", "G:1", "G:2"]),
        (["B"], ["G:2", "H:3", "G:1"]),
        (["H:"], ["H:3", "G:1", "G:2"]),
        (["gene", "B"], ["G:2", "G:1", "H:3"]),
        (["B", "protein"], ["H:3", "G:2", "G:1"]),
        (["process"], ["G:1", "G:2", "H:3"]),  # has another name
    ],
)
def test_concepts_of_one_name(
    linker: Linker, prefer: list[str], expected: list[str], context: bool
) -> None:
    assert ids(linker, "p53", prefer=prefer, context=context) == expected
    assert ids(linker, "p53", prefer=prefer, context=context, k=1) == expected[:1]
    assert ids(linker, "p53 pathway", prefer=prefer, context=context)[0] == "H:4"


@pytest.mark.parametrize("context", [True, False])
def test_a_preferred_concept_is_found_among_very_many(linker: Linker, context: bool) -> None:
    assert ids(linker, "crk", context=context)[0] == "X:000"
    assert ids(linker, "crk", context=context, prefer=["Danio rerio"])[0] == "Y:1"
    text = "Loss of crk in zebrafish."
    (link,) = linker.link([Mention("crk", context=text)], prefer=["species"])
    assert link.id == "Y:1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Loss of p53 in mice.", "G:1"),
        ("Patients had lost p53.", "G:2"),
        ("Fish were kept. Zebrafish without p53 were compared with patients.", "H:3"),
        ("Loss of p53 is common.", "G:2"),  # what is preferred otherwise
    ],
)
def test_the_text_names_the_species(linker: Linker, text: str, expected: str) -> None:
    start = text.index("p53")
    document = Document("d", text, (Mention("p53", start, start + 3),))
    assert linker.link_document(document, prefer=["species", "human"])[0].id == expected
    (link,) = linker.link([Mention("p53", context=text)], prefer=["species", "human"])
    assert link.id == expected
    assert "preferred +" in "; ".join(explain(link))


@pytest.mark.parametrize(("mention", "expected"), [("human p53", "G:2"), ("zebrafish p53", "H:3")])
def test_the_mention_names_the_species(linker: Linker, mention: str, expected: str) -> None:
    assert ids(linker, mention, prefer=["species"], k=1) == [expected]


def test_a_seed_breaks_only_the_ties_that_are_left(linker: Linker) -> None:
    firsts = [ids(linker, "p53", prefer=["gene"], seed=seed) for seed in range(20)]
    assert {one[0] for one in firsts} == {"G:1", "G:2"}
    assert {one[2] for one in firsts} == {"H:3"}


def test_other_names_keep_their_links(linker: Linker) -> None:
    names = ["Li-Fraumeni", "swimming antigens", "kinase of 7", "pathway of p53"]
    plain = [link.to_dict() for link in linker.link(names)]
    assert [link.to_dict() for link in linker.link(names, prefer=["process"])] == plain


@pytest.mark.parametrize("prefer", ["gene", [1], [None]])
def test_a_preference_is_a_list_of_strings(linker: Linker, prefer: object) -> None:
    with pytest.raises(InvalidInput, match="prefer"):
        ids(linker, "p53", prefer=prefer)


def test_what_no_concept_is_of(linker: Linker) -> None:
    with pytest.raises(InvalidInput, match="'hamster'; expected a type, a source, a prefix") as got:
        ids(linker, "p53", prefer=["hamster"])
    assert "'Homo sapiens'" in str(got.value)
    assert "sources 'A', 'B'" in str(got.value)
    for wanted in ("Z:", "rat", ""):
        with pytest.raises(InvalidInput, match="no concept of"):
            ids(linker, "p53", prefer=[wanted])
    bare = Linker.build(Terminology.build([Concept("1", "cold")]), encoders=[])
    with pytest.raises(InvalidInput, match=r"or a species. It has none$"):
        bare.link(["cold"], prefer=["MESH:"])
    with pytest.raises(InvalidInput, match="at most 30"):
        ids(linker, "p53", prefer=["gene"] * 31)


@pytest.mark.parametrize("options", [{"context": False}, {"seed": 1}])
def test_the_species_of_a_text_needs_the_text(linker: Linker, options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="the context of mentions is left out"):
        ids(linker, "p53", prefer=["species"], **options)


def test_on_the_command_line(folder: Path) -> None:
    options = ["link", "--index", str(folder), "-k", "1", "--format", "jsonl"]
    found = CliRunner().invoke(main, [*options, "--prefer", "human", "p53"])
    assert found.exit_code == 0
    assert '"G:2"' in found.output
    found = CliRunner().invoke(main, [*options, "--prefer", "people of old", "p53"])
    assert found.exit_code == 2
    assert "expected a type, a source, a prefix of ids" in found.output


def test_an_evaluation_prefers_as_well(linker: Linker) -> None:
    documents = [Document("1", "p53", (Mention("p53", 0, 3, ids=("G:2",)),))]
    for prefer, right in (((), 0), (("human",), 1)):
        run = evaluate_corpus(documents, linker=linker, protocol="raw", prefer=prefer)
        assert run.value("accuracy@1") == right
        assert run.fingerprints["prefer"] == list(prefer)
    with pytest.raises(InvalidInput, match="not with 'biosyn'"):
        evaluate_corpus(documents, linker=linker, protocol="biosyn", prefer=["human"])


RECEPTORS = [
    Concept("M:1", "Il6ra", types=("gene", "Mus musculus")),
    Name("interleukin 6 receptor, alpha", "M:1"),
    Concept("M:2", "Il6st", types=("gene", "Mus musculus")),
    Name("interleukin 6 signal transducer", "M:2"),
    Concept("M:3", "Wnk9", types=("gene", "Mus musculus")),
    Name("lysine deficient kinase nine", "M:3"),
    Concept("H:1", "IL6R", types=("gene", "Homo sapiens")),
    Name("interleukin-6 receptor subunit alpha", "H:1"),
    Name("IL6RA", "H:1"),
    Concept("H:2", "IL11RA", types=("gene", "Homo sapiens")),
    Name("interleukin 11 receptor subunit alpha", "H:2"),
    Concept("H:3", "WNK4", types=("gene", "Homo sapiens")),
    Name("lysine deficient kinase four", "H:3"),
]


@pytest.fixture(scope="module", params=["default", "chargrams"])
def receptors(request: pytest.FixtureRequest) -> Linker:
    """With the judge that comes along, and without any."""
    return Linker.build(Terminology.build(RECEPTORS), encoders=[request.param])


@pytest.mark.parametrize("k", [1, 3])
def test_a_searched_name_is_that_of_the_preferred_species(receptors: Linker, k: int) -> None:
    mention = "interleukin 6 receptor alpha"  # verbatim that of the mouse
    assert ids(receptors, mention, k=k)[0] == "M:1"
    (link,) = receptors.link([mention], prefer=["human"], k=k)
    assert link.id == "H:1"
    assert not link.nil
    assert len(link.candidates) == k
    assert [one.score for one in link.candidates] == sorted(
        (one.score for one in link.candidates), reverse=True
    )
    context = Mention(mention, context="The interleukin 6 receptor alpha of patients was low.")
    assert receptors.link([context], prefer=["species"], k=k)[0].id == "H:1"
    context = Mention(mention, context="The interleukin 6 receptor alpha of mice was low.")
    assert receptors.link([context], prefer=["species", "human"], k=k)[0].id == "M:1"


def test_only_a_namesake_goes_before_a_nearer_name(receptors: Linker) -> None:
    assert ids(receptors, "lysine deficient kinase nine", prefer=["human"])[0] == "M:3"
    assert ids(receptors, "interleukin 6 signal transducer", prefer=["human"])[0] == "M:2"


def test_what_gives_way_is_no_rival(receptors: Linker) -> None:
    mention = "interleukin-6 receptor subunit alpha"  # verbatim that of the human
    plain, human = (receptors.link([mention], prefer=p)[0] for p in ([], ["human"]))
    assert plain.id == human.id == "H:1"
    if receptors.judge is not None:
        assert (human.confidence or 0) >= (plain.confidence or 1)
