"""``canonym import``: any terminology into one file."""

from __future__ import annotations

import time
from pathlib import Path

import click

from canonym.cli.description import counts, print_facts
from canonym.cli.input_encoding import found_encoding
from canonym.cli.options import keyword_options, overwrite_option, several, with_options
from canonym.cli.progress import counter
from canonym.cli.verbosity import is_quiet
from canonym.errors import InvalidInput
from canonym.io.places import check_outputs

_FLAGS = {
    "encoding": "Encoding of the source; found when left out, and named if it is not UTF-8.",
    "language": "Language of the names, or the language to take, as a tag such as en.",
    "version": "Version to record.",
    "delimiter": "Tables: what separates cells.",
    "sheet": "Workbooks: sheet to read; the first visible one when left out.",
    "header_row": "Workbooks: row that names the columns; found, below titles, when left out.",
    "id_column": "Tables: column of ids.",
    "name_column": "Tables: column of names.",
    "label_column": "Tables: column of labels (preferred names).",
    "synonym_column": "Tables: column of further names, joined by --separator.",
    "type_column": "Tables: column of types.",
    "language_column": "Tables: column of languages.",
    "definition_column": "Tables: column of definitions.",
    "parent_column": "Tables: column of ids of parents, joined by --separator.",
    "tree_column": "Tables: column of tree numbers such as C14.280, which tell the parents.",
    "trees": "Tables: a second table with the tree numbers.",
    "separator": "Tables: what joins several values in a cell.",
    "prefix": "Tables: what to put before ids, such as MESH:.",
}


@click.command("import")
@click.argument("source", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="File to write (NAME.db).")
@click.option(
    "--format", "format_", metavar="NAME", help="Format of the source; recognised when left out."
)
@overwrite_option
@with_options(
    *(
        click.option(f"--{name.replace('_', '-')}", name, help=text, metavar="TEXT")
        for name, text in _FLAGS.items()
    )
)
@click.option(
    "--replaced",
    metavar="FILE",
    help="Tab-separated table without a header: an id that was given up, and the one in its place. "
    "What the source has under the first goes to the second, and the first is still found.",
)
@several(
    "--translations",
    metavar="FILE",
    help="Names in other languages for concepts of the source: Babelon, a ROBOT template or a .po "
    "file.",
)
@several(
    "--option",
    "extra",
    metavar="KEY=VALUE",
    help="Any other option of the reader, see the documentation of the formats. Values are yes, "
    "no, none, numbers, text, or several joined by commas.",
)
def import_(
    source: str,
    output: str,
    format_: str | None,
    overwrite: bool,
    replaced: str | None,
    translations: tuple[str, ...],
    extra: tuple[str, ...],
    **flags: str | None,
) -> None:
    """Import SOURCE, a terminology in any format, into one file.

    SOURCE is a file or, for UMLS, RxNorm, SNOMED CT, Athena and MedDRA, a folder. Its format is
    recognised; gzip, xz, bzip2 and zip are read as they are. The report says what was read and what
    was left out, and the digest identifies the content.

    \b
    Formats that need no option:
      canonym import doid.obo -o doid.db
      canonym import CTD_diseases.tsv.gz -o ctd.db
      canonym import medic_06Jul2012.txt -o medic.db

    \b
    ICD-10-CM, which comes with canonym, and the everyday names of `canonym link`:
      canonym import icd10cm -o icd.db --option everyday=yes

    \b
    Tables, with the names of their columns:
      canonym import codes.csv -o codes.db --id-column code --name-column description
      canonym import codes.xlsx -o codes.db --sheet Codes --header-row 3
      canonym import terms.tsv -o mesh.db --trees tree_numbers.tsv --prefix MESH:

    \b
    MeSH with supplementary concepts that have become descriptors since:
      canonym import terms.tsv -o mesh.db --prefix MESH: --replaced promoted.tsv

    \b
    The names of an ontology in other languages too:
      canonym import hp.obo -o hp.db --translations hp-es.babelon.tsv

    \b
    A release of UMLS, in two languages:
      canonym import 2024AA/META -o umls.db --option languages=ENG,GER
    """
    from canonym.io.tables import is_binary
    from canonym.terminology.formats import FORMATS, import_terminology, recognise

    inputs = (source, replaced, *translations, flags.get("trees"))
    check_outputs({"-o": output}, inputs, overwrite=overwrite)
    if format_ is None:
        columns = [name for name, value in flags.items() if value and name.endswith("_column")]
        format_ = recognise(source, options=columns)
    if format_ not in FORMATS:
        raise InvalidInput(f"--format {format_} is unknown; use one of {', '.join(FORMATS)}")
    named = flags["encoding"] or any(pair.startswith("encoding=") for pair in extra)
    is_file = Path(source).is_file() and not is_binary(source)
    if "encoding" in FORMATS[format_].options and is_file and not named:
        flags["encoding"] = found_encoding(Path(source))
    options = keyword_options(FORMATS[format_].options, flags, extra, format=format_)
    began = time.monotonic()
    with counter("Importing", unit="records") as report:
        terminology = import_terminology(
            source,
            output,
            format=format_,
            overwrite=overwrite,
            progress=report,
            replaced=replaced,
            translations=translations,
            **options,
        )
    with terminology:
        if not is_quiet():
            facts = {"file": str(terminology.path), "format": format_, **counts(terminology)}
            print_facts(facts | {"time": f"{time.monotonic() - began:.1f} s"})
