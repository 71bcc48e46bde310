"""Short forms that documents define: their long forms are looked up, unless they are names."""

from __future__ import annotations

import pytest

from canonym import Concept, Document, Linker, Mention, Name, Terminology
from canonym.mentions.abbreviations import without_own_short_forms
from tests.linkers import linker_of
from tests.tables import cases

SURE = 0.8

# Symbol, and further names of the gene.
GENES = [
    ("STK11", ["LKB1", "serine/threonine kinase 11"]),
    ("SERPINE1", ["PAI-1", "serpin family E member 1"]),
    ("MAP3K7", ["TAK1", "mitogen-activated protein kinase kinase kinase 7"]),
    ("TP53", ["p53", "tumor protein p53"]),
    ("PTGS2", ["COX-2", "prostaglandin-endoperoxide synthase 2"]),
    ("CCL2", ["MCP-1", "C-C motif chemokine ligand 2"]),
    ("ERBB2", ["HER2", "erb-b2 receptor tyrosine kinase 2"]),
    ("KDR", ["VEGFR2", "kinase insert domain receptor"]),
    ("SLC2A4", ["GLUT4", "solute carrier family 2 member 4"]),
    ("SLC2A8", ["GLUT8", "solute carrier family 2 member 8"]),
    ("ATP2A2", ["SERCA2", "ATPase Ca2+ transporting 2"]),
    ("MAP3K5", ["ASK1", "mitogen-activated protein kinase kinase kinase 5"]),
    ("PTPN1", ["PTP1B", "protein tyrosine phosphatase non-receptor type 1"]),
    ("TNFRSF10B", ["DR5", "TNF receptor superfamily member 10b"]),
    ("PROM1", ["CD133", "prominin 1"]),
    ("POU5F1", ["OCT4", "POU class 5 homeobox 1"]),
    ("ABCG2", ["BCRP", "ATP binding cassette subfamily G member 2", "breast cancer transporter"]),
    ("SLC11A2", ["DMT1", "solute carrier family 11 member 2"]),
    ("TNFSF10", ["TRAIL", "TNF superfamily member 10", "apoptosis inducing ligand"]),
    ("TNFRSF10A", ["DR4", "TRAIL receptor 1"]),
    ("BBC3", ["PUMA", "BCL2 binding component 3", "modulator of apoptosis"]),
    ("BACE1", ["beta-secretase 1"]),
    ("TARDBP", ["TDP-43", "TAR DNA binding protein"]),
    ("HSPA5", ["GRP78", "heat shock protein family A member 5"]),
    ("HMOX1", ["HO-1", "heme oxygenase 1"]),
    ("PTPN11", ["SHP2", "protein tyrosine phosphatase non-receptor type 11"]),
    ("PPTC7", ["protein phosphatase targeting COQ7"]),
    ("ICAM1", ["CD54", "intercellular adhesion molecule 1"]),
    ("ABCB1", ["MDR1", "ATP binding cassette subfamily B member 1"]),
    ("ABCB4", ["MDR3", "ATP binding cassette subfamily B member 4", "multiple drug resistance 3"]),
    ("DLG4", ["PSD95", "discs large MAGUK scaffold protein 4"]),
    ("CD274", ["PD-L1", "CD274 molecule"]),
    ("KEAP1", ["kelch like ECH associated protein 1"]),
    ("SQSTM1", ["p62", "sequestosome 1"]),
    ("RELA", ["p65", "RELA proto-oncogene, NF-kB subunit"]),
    ("AREG", ["AR", "amphiregulin"]),
    ("GRN", ["GEP", "granulin precursor"]),
]


@pytest.fixture(scope="module")
def linker() -> Linker:
    records = [Concept(f"GENE:{symbol}", symbol) for symbol, _ in GENES]
    names = [Name(name, f"GENE:{symbol}") for symbol, more in GENES for name in more]
    return Linker.build(Terminology.build([*records, *names]), abbreviations="schwartz-hearst")


def document(short: str, long: str) -> Document:
    text = f"We studied {long} ({short}). Without {short} they died."
    start = text.rindex(short)
    return Document("1", text, (Mention(short, start, start + len(short)),))


@cases("short", "long", "symbol")
def test_a_short_form_that_is_a_name_stays(
    linker: Linker, short: str, long: str, symbol: str
) -> None:
    (link,) = linker.link_document(document(short, long))
    assert link.id == f"GENE:{symbol}"
    if not any(step.name == "abbreviation" for step in link.steps):
        assert link.searched == short
        assert link.candidates[0].sieve == "verbatim"


def test_it_stays_without_a_step(linker: Linker) -> None:
    (link,) = linker.link_document(document("LKB1", "liver kinase B1"), k=3)
    assert (link.searched, link.candidates[0].name) == ("LKB1", "LKB1")
    assert [step.name for step in link.steps] == ["case"]
    assert len(link.candidates) == 3


@cases("short", "long", "symbol")
def test_elsewhere_the_long_form_is_looked_up(
    linker: Linker, short: str, long: str, symbol: str
) -> None:
    given = document(short, "something else")
    linked = linker.pipeline.link_batch(
        [given], linker.pipeline.request(k=1), {}, defined=[{short: long}]
    )
    ((_, links),) = linked
    assert links[0].id == f"GENE:{symbol}"
    assert links[0].steps[0].name == "abbreviation"


def test_what_the_caller_defines_is_looked_up(linker: Linker) -> None:
    given = [document("LKB1", "liver kinase B1")]
    linked = linker.pipeline.link_documents(given, {}, {"LKB1": "liver kinase B1"})
    ((_, links),) = linked
    assert (links[0].searched, links[0].steps[0].name) == ("liver kinase B1", "abbreviation")


EXPLAINED = [
    Concept("D:1", "Chronic kidney disease, stage 3"),
    *(Concept("D:2", "Kidney disorder, lasting"), Name("Chronic kidney disease", "D:2")),
    *(Concept("D:3", "Gastrointestinal hemorrhage"), Concept("D:4", "Atrioventricular block")),
    *(Concept("D:5", "STK11"), Name("LKB1", "D:5"), Concept("D:6", "Deficiency of G6PD (DOG)")),
    *(Concept("D:7", "G6PD"), Concept("D:8", "Glucose-6-phosphate dehydrogenase deficiency")),
]


@cases("mention", "id")
def test_a_short_form_that_a_mention_explains_says_nothing_more(mention: str, id: str) -> None:
    (link,) = linker_of(EXPLAINED).link([mention])
    assert link.id == id
    assert link.candidates[0].sieve in ("verbatim", "normalised", "reordered")
    assert link.confidence is not None
    assert link.confidence > SURE


@cases("text")
def test_what_no_words_spell_stays(text: str) -> None:
    assert without_own_short_forms(text) == (text, "")
