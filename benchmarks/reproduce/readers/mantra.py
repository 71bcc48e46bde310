"""MANTRA's gold standard corpus: titles, drug labels and patents in five languages, in XML.

``docs/formats/corpora.md`` lists the elements that are read. One span with several concepts is
written as several annotations; here it is one mention with all of their ids.

References
----------
Kors et al. (2015), A multilingual gold-standard corpus for biomedical concept recognition: the
Mantra GSC.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from canonym.corpora.offsets import span_problem, whole_number
from canonym.errors import ReadError
from canonym.io.xml import Element, read_numbered_elements
from canonym.types import Document, Mention


def read_mantra(path: str | Path) -> Iterator[Document]:
    """Read the units of text of a file of the corpus, plain or compressed.

    Each language has a file, such as ``Medline_GSC_fr_man.xml``. A document is a unit, with its
    mentions in the order of the file. The type of a mention is the semantic group, such as
    ``DISO``. Several ids of one span have the rule ``"all"``, with which ``set-f1`` is the measure
    of the corpus. Raises `ReadError` if the file is no such XML, a span does not hold its text, or
    there is no unit.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "Medline_GSC_de_man.xml"
    >>> _ = file.write_text('''<Corpus><document id="d1"><unit id="d1.u1"><text>Hohes Fieber</text>
    ... <e id="d1.u1.e1" cui="C0015967" grp="DISO" offset="6" len="6">Fieber</e></unit></document>
    ... </Corpus>''')
    >>> [(one.text, one.ids, one.type) for one in next(read_mantra(file)).mentions]
    [('Fieber', ('C0015967',), 'DISO')]
    """
    n = 0
    for element in read_numbered_elements(path, ("document",)):
        for unit in element.iterfind("unit"):
            yield _document(path, unit, element)
            n += 1
    if not n:
        raise ReadError(path, "holds no unit of text: <document> with <unit> elements was expected")


def _document(path: str | Path, unit: Any, parent: Element) -> Document:
    id_ = unit.get("id") or parent.get("id")
    text = unit.findtext("text")
    if not id_ or text is None:
        raise ReadError(path, "a unit has no id or no text", line=unit.line)
    annotations: dict[tuple[int, int], tuple[str, dict[str, None]]] = {}
    for annotation in unit.iterfind("e"):
        offset, length = (whole_number(annotation.get(key) or "") for key in ("offset", "len"))
        cui = (annotation.get("cui") or "").strip()
        if offset is None or length is None or not cui:
            raise ReadError(
                path,
                f"unit {id_!r}: an annotation has the offset {annotation.get('offset')!r}, the len "
                f"{annotation.get('len')!r} and the cui {annotation.get('cui')!r}; two whole "
                "numbers and an id are expected",
                line=annotation.line,
            )
        span = (offset, offset + length)
        if problem := span_problem(text, *span, annotation.text or None):
            raise ReadError(path, f"unit {id_!r}: {problem}", line=annotation.line)
        annotations.setdefault(span, (annotation.get("grp") or "", {}))[1][cui] = None
    mentions = (
        Mention(text[a:b], a, b, type_, tuple(ids), "all" if len(ids) > 1 else "any", id_)
        for (a, b), (type_, ids) in annotations.items()
    )
    return Document(id_, text, tuple(mentions))
