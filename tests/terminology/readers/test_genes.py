"""The reader of genes."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.errors import ReadError
from canonym.terminology import recognise
from canonym.terminology.readers.genes import read_genes
from canonym.types import Concept, Name, Record, Xref

NCBI = (
    "#tax_id\tGeneID\tSymbol\tSynonyms\tdbXrefs\tdescription\ttype_of_gene\t"
    "Full_name_from_nomenclature_authority\tOther_designations\n"
)
HGNC = (
    "hgnc_id\tsymbol\tname\tlocus_group\tstatus\talias_symbol\talias_name\tprev_symbol\tprev_name\t"
    "entrez_id\tensembl_gene_id\tomim_id\n"
)


def read(path: Path, text: str) -> list[Record]:
    path.write_text(text, encoding="utf-8")
    assert recognise(path) == "genes"
    return list(read_genes(path, version="2026"))


def test_genes_of_ncbi(tmp_path: Path) -> None:
    rows = (
        "9606\t7157\tTP53\tBCC7|P53|TP53\tMIM:191170|HGNC:HGNC:11998|Ensembl:ENSG00000141510|"
        "AllianceGenome:HGNC:11998\ttumor protein p53\tprotein-coding\ttumor protein p53\t"
        "antigen NY-CO-13|P53\n"
        "10090\t22059\tTrp53\t-\t-\t-\t-\t-\t-\n"
        "9606\t3\tNEWENTRY\t-\t-\tRecord to support submission\tother\t-\t-\n"
    )
    id_, mouse = "NCBIGene:7157", "NCBIGene:22059"
    of = {"source": "NCBI Gene", "version": "2026"}
    assert read(tmp_path / "a.gene_info", NCBI + rows) == [
        Concept(id_, "TP53", types=("protein-coding", "NCBITaxon:9606"), **of),
        Name("tumor protein p53", id_),
        Name("BCC7", id_),
        Name("P53", id_),
        Name("antigen NY-CO-13", id_, "related"),
        Xref(id_, "OMIM:191170"),
        Xref(id_, "HGNC:11998"),
        Xref(id_, "ENSEMBL:ENSG00000141510"),
        Xref(id_, "AllianceGenome:HGNC:11998"),
        Concept(mouse, "Trp53", types=("NCBITaxon:10090",), **of),
    ]


def test_genes_of_hgnc(tmp_path: Path) -> None:
    rows = (
        'HGNC:5\tA1BG\talpha-1-B glycoprotein\tprotein-coding gene\tApproved\t"A1B|GAB"\t\t\t'
        '"old name|5\' name"\t1\tENSG00000121410\t138670|1\n'
        "HGNC:6\tOLD\twithdrawn\t\tEntry Withdrawn\t\t\tOLDER\t\t\t\t\n"
    )
    types, of = ("protein-coding gene", "NCBITaxon:9606"), {"source": "HGNC", "version": "2026"}
    assert read(tmp_path / "hgnc.txt", HGNC + rows) == [
        Concept("HGNC:5", "A1BG", types=types, **of),
        Name("alpha-1-B glycoprotein", "HGNC:5"),
        Name("A1B", "HGNC:5"),
        Name("GAB", "HGNC:5"),
        Name("old name", "HGNC:5"),
        Name("5' name", "HGNC:5"),
        Xref("HGNC:5", "NCBIGene:1"),
        Xref("HGNC:5", "ENSEMBL:ENSG00000121410"),
        Xref("HGNC:5", "OMIM:138670"),
        Xref("HGNC:5", "OMIM:1"),
        Concept("HGNC:6", "OLD", types=("NCBITaxon:9606",), deprecated=True, **of),
        Name("withdrawn", "HGNC:6"),
        Name("OLDER", "HGNC:6"),
    ]


@pytest.mark.parametrize(
    ("text", "phrase", "line"),
    [
        (NCBI.replace("Synonyms", "Other"), "no column 'Synonyms'", 1),
        (HGNC.replace("status", "state"), "no column 'status'", 1),
        ("a\tb\n", "no column 'tax_id', 'GeneID'", 1),
        (NCBI, "no rows", 1),
        (NCBI + "9606\t1\tA\n", "3 cells where the header has 9", 2),
        (NCBI + "9606\t-\tA\t-\t-\t-\t-\t-\t-\n", "the id of the gene is empty", 2),
    ],
)
def test_malformed_files(tmp_path: Path, text: str, phrase: str, line: int) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(ReadError, match=phrase) as caught:
        list(read_genes(path))
    assert caught.value.line == line


def test_the_human_genes(data: Path) -> None:
    records = list(read_genes(data / "genes" / "Homo_sapiens.protein-coding.gene_info.gz"))
    concepts = {one.id: one for one in records if isinstance(one, Concept)}
    assert len(concepts) == 19_675
    assert concepts["NCBIGene:7157"].label == "TP53"
    assert not [one for one in records if isinstance(one, Name) and one.text in ("-", "")]
