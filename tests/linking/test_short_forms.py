"""Short forms that documents define: their long forms are looked up, unless they are names."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym import Concept, Document, Linker, Mention, Name, Terminology
from canonym.mentions.abbreviations import without_own_short_forms

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

# A document's short and long form, and the gene.
DEFINED = [
    ("LKB1", "liver kinase B1", "STK11"),
    ("PAI-1", "plasminogen activator inhibitor type 1", "SERPINE1"),
    ("TAK1", "TGF-beta-activated kinase 1", "MAP3K7"),
    ("p53", "protein of 53 kDa", "TP53"),
    ("COX-2", "cyclooxygenase type 2", "PTGS2"),
    ("MCP-1", "monocyte chemoattractant protein 1", "CCL2"),
    ("HER2", "human epidermal growth factor receptor 2", "ERBB2"),
    ("VEGFR2", "vascular endothelial growth factor receptor 2", "KDR"),
    ("GLUT4", "glucose transporter 4", "SLC2A4"),
    ("SERCA2", "sarcoendoplasmic reticulum calcium ATPase 2", "ATP2A2"),
    ("ASK1", "apoptosis signal-regulating kinase 1", "MAP3K5"),
    ("PTP1B", "protein tyrosine phosphatase 1B", "PTPN1"),
    ("DR5", "death receptor 5", "TNFRSF10B"),
    ("CD133", "cluster of differentiation 133", "PROM1"),
    ("OCT4", "octamer-binding transcription factor 4", "POU5F1"),
    ("BCRP", "breast cancer resistance protein", "ABCG2"),
    ("DMT1", "divalent metal transporter 1", "SLC11A2"),
    ("TRAIL", "TNF-related apoptosis-inducing ligand", "TNFSF10"),
    ("PUMA", "p53 upregulated modulator of apoptosis", "BBC3"),
    ("BACE1", "beta-site APP cleaving enzyme 1", "BACE1"),
    ("TDP-43", "TAR DNA-binding protein of 43 kDa", "TARDBP"),
    ("GRP78", "glucose-regulated protein 78", "HSPA5"),
    ("HO-1", "haem oxygenase type 1", "HMOX1"),
    ("SHP2", "Src homology phosphatase 2", "PTPN11"),
    ("MDR1", "multiple drug resistance 1", "ABCB1"),
    ("PSD95", "postsynaptic density protein 95", "DLG4"),
    ("PD-L1", "programmed death ligand 1", "CD274"),
    ("KEAP1", "Kelch-like ECH-associated protein 1", "KEAP1"),
    ("p62", "nucleoporin-like protein 62", "SQSTM1"),
    ("p65", "protein of 65 kDa", "RELA"),
    ("CD54", "cluster of differentiation 54", "ICAM1"),
    ("MDR3", "multidrug resistance protein 3", "ABCB4"),
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


@pytest.mark.parametrize(("short", "long", "symbol"), DEFINED)
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


@pytest.mark.parametrize(
    ("short", "long", "symbol"),
    [
        ("AR", "sequestosome 1 proteins", "SQSTM1"),  # too short to stand for itself
        ("GEP", "prominin 1 protein", "PROM1"),  # a gene of other words
        ("PUMA", "granulin precursor", "GRN"),  # a sieve knows the long form
        ("TAK1", "heme oxygenase 1", "HMOX1"),
        ("GX9", "kelch like ECH associated proteins 1", "KEAP1"),  # no name
    ],
)
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


@pytest.mark.parametrize(
    ("mention", "id"),
    [
        ("chronic kidney disease (CKD) stage 3", "D:1"),
        ("chronic kidney disease [CKD]", "D:2"),
        ("chronic kidney disease (ckd)", "D:2"),
        ("CKD (chronic kidney disease)", "D:2"),
        ("CKD - chronic kidney disease", "D:2"),
        ("chronic kidney disease: CKD", "D:2"),
        ("chronic kidney disease/CKD", "D:2"),
        ("gastrointestinal (GI) hemorrhage", "D:3"),
        ("atrioventricular (AV) block", "D:4"),
        ("liver kinase B1 (LKB1)", "D:5"),  # known by its short form alone
        ("deficiency of G6PD (DOG)", "D:6"),  # as it is written
        ("glucose-6-phosphate dehydrogenase (G6PD) deficiency", "D:8"),
    ],
)
def test_a_short_form_that_a_mention_explains_says_nothing_more(
    tmp_path: Path, mention: str, id: str
) -> None:
    linker = Linker.build(Terminology.build(EXPLAINED), folder=tmp_path / "index")
    (link,) = linker.link([mention])
    assert link.id == id
    assert link.candidates[0].sieve in ("verbatim", "normalised", "reordered")
    assert link.confidence is not None
    assert link.confidence > SURE


@pytest.mark.parametrize(
    "text",
    [
        "hepatitis (HBV)",
        "TB - meningitis",
        "fracture (femur)",
        "A/B",
        "left - LE",
        "DM: foot ulcer",
    ],
)
def test_what_no_words_spell_stays(text: str) -> None:
    assert without_own_short_forms(text) == (text, "")
