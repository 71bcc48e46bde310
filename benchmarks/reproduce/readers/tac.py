"""Drug labels of TAC 2017, adverse drug reactions: an XML file for each label.

::

    <Label drug="ABC" track="TAC2017_ADR">
      <Text><Section name="warnings" id="S1">Liver or kidney damage.</Section></Text>
      <Mentions>
        <Mention id="M1" section="S1" type="AdverseReaction" start="0,16" len="5,6"
                 str="Liver damage"/>
      </Mentions>
      <Relations/>
      <Reactions>
        <Reaction id="AR1" str="liver damage">
          <Normalization id="AR1.N1" meddra_pt="Liver injury" meddra_pt_id="10067125"/>
        </Reaction>
      </Reactions>
    </Label>

Ids belong to the reactions of a label, not to its mentions: a mention has those of the reaction
with its words, in any case. Mentions without one, such as severities and negated reactions, have no
known id.

References
----------
Roberts, Demner-Fushman and Tonning (2017), Overview of the TAC 2017 adverse reaction extraction
from drug labels track. Sung et al. (2020) link its mentions to MedDRA's preferred terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from canonym.corpora.gold import parse_ids
from canonym.corpora.offsets import PIECES, Piece, join_pieces, pieces_problem, whole_number
from canonym.errors import InvalidInput, ReadError
from canonym.io.xml import Element, read_numbered_elements
from canonym.types import Document, Mention

TERMS: tuple[str, ...] = ("pt", "llt")
"""Levels of MedDRA: preferred terms, and lowest-level terms where the label has one."""

_UNMAPPED = "unmapped"


class _Section(NamedTuple):
    text: str
    start: int


def read_tac(path: str | Path, *, terms: str = "pt", pieces: str = "join") -> Iterator[Document]:
    """Read the drug labels of TAC 2017 with their adverse reactions, one at a time.

    `path` is one label, or a folder, whose ``.xml`` files are read in the order of their names.
    `terms` is one of `TERMS`; mentions in several pieces are treated by `pieces`, one of
    `canonym.corpora.offsets.PIECES`. The id of a document is the drug, its text the sections with
    a line end between. A reaction of several terms is a composite; one that MedDRA has no term for
    has no concept. Raises `ReadError` if a file is no label, or a mention, a section or a reaction
    is malformed.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ABC.xml"
    >>> _ = file.write_text(
    ...     '<Label drug="ABC"><Text><Section name="warnings" id="S1">Severe rash.</Section></Text>'
    ...     '<Mentions><Mention id="M1" section="S1" type="AdverseReaction" start="7" len="4" '
    ...     'str="rash"/></Mentions><Relations/><Reactions><Reaction id="AR1" str="rash">'
    ...     '<Normalization id="AR1.N1" meddra_pt="Rash" meddra_pt_id="10037844"/>'
    ...     '</Reaction></Reactions></Label>'
    ... )
    >>> [(mention.text, mention.ids) for mention in next(read_tac(file)).mentions]
    [('rash', ('10037844',))]
    """
    if terms not in TERMS or pieces not in PIECES:
        raise InvalidInput(
            f"terms={terms!r}, pieces={pieces!r}: use one of {', '.join(TERMS)} and one of "
            f"{', '.join(PIECES)}"
        )
    path = Path(path)
    files = sorted(path.rglob("*.xml")) if path.is_dir() else [path]
    if not files:
        raise ReadError(path, "holds no .xml file: a label in each was expected")
    for file in files:
        n = 0
        for label in read_numbered_elements(file, {"Label"}):
            yield _Label(file, label).document(terms, pieces)
            n += 1
        if not n:
            raise ReadError(file, "has no <Label>, which the drug labels of TAC 2017 have")


class _Label:
    """One label, whose parts are checked as they are read."""

    def __init__(self, path: Path, label: Element) -> None:
        self.path = path
        self.label = label
        self.drug = self.attribute(label, "drug")

    def error(self, element: Element, problem: str) -> ReadError:
        return ReadError(self.path, problem, line=element.line)

    def attribute(self, element: Element, name: str) -> str:
        value = element.get(name, "").strip()
        if not value:
            raise self.error(element, f"<{element.tag}> has no {name}=, which is expected")
        return value

    def all(self, way: str) -> Iterator[Element]:
        """Yield the elements at a path below the label."""
        yield from (element for element in self.label.findall(way) if isinstance(element, Element))

    def document(self, terms: str, pieces: str) -> Document:
        sections: dict[str, _Section] = {}
        texts: list[str] = []
        for element in self.all("Text/Section"):
            id_, text = self.attribute(element, "id"), element.text or ""
            if id_ in sections:
                raise self.error(element, f"the id {id_} was used by a section above")
            sections[id_] = _Section(text, sum(len(above) + 1 for above in texts))
            texts.append(text)
        whole = "\n".join(texts)
        gold = self.reactions(terms)
        mentions = []
        for element in self.all("Mentions/Mention"):
            spans = self.spans(element, sections)
            words = join_pieces(whole, spans)
            ids, rule = gold.get(_folded(element.get("str") or words), ((), "any"))
            text = join_pieces(whole, spans, how=pieces)
            type_ = self.attribute(element, "type")
            mentions.append(Mention(text, spans[0][0], spans[-1][1], type_, ids, rule, self.drug))
        return Document(self.drug, whole, tuple(mentions))

    def spans(self, element: Element, sections: dict[str, _Section]) -> list[Piece]:
        """Return the pieces of a mention, counted from the beginning of the document."""
        name = self.attribute(element, "section")
        if name not in sections:
            raise self.error(element, f"the mention is in section {name}, which the label lacks")
        starts, lengths = (
            [whole_number(number.strip()) for number in self.attribute(element, key).split(",")]
            for key in ("start", "len")
        )
        spans = sorted(
            (start, start + length)
            for start, length in zip(starts, lengths, strict=False)
            if start is not None and length is not None
        )
        if not len(spans) == len(starts) == len(lengths):
            raise self.error(
                element,
                f"start={element.get('start', '')[:20]!r} and len={element.get('len', '')[:20]!r} "
                "are not equally many whole numbers",
            )
        section = sections[name]
        problem = pieces_problem(section.text, spans, element.get("str"))
        if problem:
            raise self.error(element, f"section {name}: {problem}")
        return [(section.start + start, section.start + end) for start, end in spans]

    def reactions(self, terms: str) -> dict[str, tuple[tuple[str, ...], str]]:
        """Return the ids of each reaction of the label, and their rule."""
        ids_of = {}
        for reaction in self.all("Reactions/Reaction"):
            ids = [
                self.id_of(element, terms)
                for element in reaction
                if isinstance(element, Element) and element.tag == "Normalization"
            ]
            ids_of[_folded(self.attribute(reaction, "str"))] = parse_ids(
                "|".join(dict.fromkeys(ids))
            )
        return ids_of

    def id_of(self, element: Element, terms: str) -> str:
        if element.get("flag") == _UNMAPPED:
            return "-1"
        llt = element.get("meddra_llt_id", "").strip() if terms == "llt" else ""
        return llt or self.attribute(element, "meddra_pt_id")


def _folded(words: str) -> str:
    return " ".join(words.lower().split())
