"""The writers of formats of mappings, by what is chosen beside the links or decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, NamedTuple

from canonym.errors import InvalidInput
from canonym.exchange.fhir import ConceptMapWriter
from canonym.exchange.mappings import Codes, Origin
from canonym.exchange.omop import LONGEST_VOCABULARY, SourceMapWriter, StandardConcepts, UsagiWriter
from canonym.exchange.sssom import SssomWriter
from canonym.export.rows import check_unique
from canonym.terminology import Terminology

MappingWriter = ConceptMapWriter | SourceMapWriter | SssomWriter | UsagiWriter


class Choices(NamedTuple):
    """What an exchange format needs beside the links or decisions."""

    code_column: str = ""  # of the table, with the code of a mention
    frequency_column: str = ""  # of the table: how often a mention occurs
    source_vocabulary: str = ""  # the source_vocabulary_id of source_to_concept_map
    domains: Sequence[str] = ()  # only targets of these domains there; all by default
    fhir_version: str = "R4"  # or "R5"
    mapping_set_id: str = ""  # address of the mapping set
    license: str = ""  # address of its licence
    date: str = ""  # the day of the run as 2024-12-31, empty for none

    def codes(self, columns: Sequence[str]) -> Codes:
        """Return where codes and frequencies are among the columns of a table."""
        names = (self.code_column, self.frequency_column)
        return Codes(*(list(columns).index(name) if name else None for name in names))


def mapping_writer(
    stream: IO[str],
    format: str,
    origin: Origin,
    choices: Choices,
    *,
    terminology: Terminology | None,
    columns: Sequence[str] = (),
    mention_column: str = "",
    codes: Codes = Codes(),  # noqa: B008 - it cannot be changed
    title: str = "",
    reviewed: bool = False,
) -> MappingWriter:
    """Return the writer of ``sssom``, ``usagi``, ``omop`` or ``fhir``.

    Only OMOP needs the `terminology`. Usagi gets the `columns` of the table that are not chosen.
    Raises `InvalidInput` if OMOP lacks a terminology or a vocabulary, or several columns have one
    name for Usagi.
    """
    address = choices.mapping_set_id
    if format == "sssom":
        return SssomWriter(
            stream,
            origin,
            mapping_set_id=address,
            license=choices.license,
            title=title,
            reviewed=reviewed,
        )
    if format == "fhir":
        version = choices.fhir_version
        return ConceptMapWriter(
            stream, origin, version=version, url=address, title=title, codes=codes
        )
    if format == "usagi":
        check_unique(columns)
        used = {mention_column, choices.code_column, choices.frequency_column}
        further = {name: at for at, name in enumerate(columns) if name not in used}
        return UsagiWriter(stream, origin, columns=further, codes=codes)
    vocabulary = choices.source_vocabulary
    if not 0 < len(vocabulary) <= LONGEST_VOCABULARY:
        raise InvalidInput(
            "omop needs a source vocabulary, a name of 1 to "
            f"{LONGEST_VOCABULARY} characters; it is {vocabulary[:60]!r}"
        )
    if terminology is None:
        raise InvalidInput("omop needs the index that the list was linked with: pass --index")
    return SourceMapWriter(
        stream,
        origin,
        vocabulary=vocabulary,
        standard=StandardConcepts(terminology),
        domains=choices.domains,
        codes=codes,
    )
