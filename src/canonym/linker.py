"""The linker: a terminology, indexed, and everything that links mentions to it."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, Unpack

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import MANIFEST, file_digest, write_folder
from canonym.linking.annotation import Annotator
from canonym.linking.book import check_rules, describe_rules
from canonym.linking.build import FORMAT, MEMORY, Progress, build_index
from canonym.linking.extra_names import TrainingMention
from canonym.linking.judge import COMES_ALONG, JUDGE, Judge, open_judge
from canonym.linking.languages import is_unread
from canonym.linking.links import LinkOptions, Links, as_documents, as_text, shows_options
from canonym.linking.manifest import read_index_manifest
from canonym.linking.named import DEFAULT, OFFICIAL, PACKAGED, index_folder, is_index_name
from canonym.linking.parallel import annotate_texts, link_in_processes
from canonym.linking.pipeline import Pipeline
from canonym.linking.settings import Settings
from canonym.linking.synonyms import Synonyms, find_by_words
from canonym.terminology import Terminology
from canonym.terminology.overlay import OVERLAY, Overlay, OverlayContent, check_overlay
from canonym.types import Candidate, Concept, Document, Encoder, Link, Mention
from canonym.types.html import html_table

__all__ = ["LinkOptions", "Linker", "Links", "Settings", "Synonyms", "unread"]

_NEAR = 0.9  # what is so near is not a guess: гастрит is read as gastritis
_log = logging.getLogger(__name__)

# Names of before, which the next release does not take.
_MOVED = {
    "add_synonym": "add",
    "teach": "update",
    "remove_synonym": "remove",
    "forbid": "forbid",
    "allow": "allow",
    "forbidden": "forbidden",
}


class Linker:
    """Finds the concepts of a terminology that names stand for.

    Made by `build`, `load` or `default`. Safe to use from several threads. Everything large is
    memory-mapped and shared between processes; pickling a linker sends the path of its folder.

    Parameters
    ----------
    folder : Path
        A saved linker.
    terminology : Terminology, optional
        Use this one instead of the copy in the folder.

    Examples
    --------
    >>> from canonym import Concept, Linker, Name, Terminology
    >>> records = [Concept("X:1", "Myocardial infarction"), Name("heart attack", "X:1")]
    >>> linker = Linker.build(Terminology.build(records), encoders=["chargrams"])
    >>> link = linker.link(["Heart Attacks"])[0]
    >>> link.id, link.label, link.candidates[0].sieve
    ('X:1', 'Myocardial infarction', 'normalised')
    """

    def __init__(self, folder: Path, *, terminology: Terminology | None = None) -> None:
        if not isinstance(folder, Path):
            raise InvalidInput(
                f"Linker({folder!r:.80}): open an index with Linker.load(…), and make one of a "
                "terminology with Linker.build(…)"
            )
        self.folder = folder
        self.manifest = read_index_manifest(folder, newest=FORMAT)
        self.terminology = terminology or Terminology(folder / "terminology.db")
        digest = self.manifest["terminology"]["digest"]
        if self.terminology.digest != digest:
            raise Mismatch(
                f"the index {folder} was built for the terminology {digest[:12]}…, but "
                f"{self.terminology.path} is {self.terminology.digest[:12]}…; build the index again"
            )
        self.settings: dict[str, Any] = self.manifest["settings"]
        self.pipeline = Pipeline.open(folder, self.manifest, self.terminology)
        self.annotator = Annotator(self.pipeline)
        self.judge = open_judge(self.folder, self.encoder_names)
        self._told_language = False
        self._finalizer: weakref.finalize[Any, Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process may have another current folder.
        paths = self.folder.absolute(), self.terminology.path.absolute()
        return _reopened, (type(self), *paths)

    # --- making and opening ---------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        terminology: Terminology,
        *,
        encoders: Sequence[str | Encoder] = ("default",),
        weights: Sequence[float] | None = None,
        folder: str | Path | None = None,
        overwrite: bool = False,
        mentions: Iterable[TrainingMention] | None = None,
        fold: str | Path | None = None,
        kind: str = "auto",
        memory: int | str = MEMORY,
        reuse: str | Path | None = None,
        rules: str | Path | None = None,
        progress: Progress | None = None,
        **settings: Unpack[Settings],
    ) -> Linker:
        """Index a terminology.

        Parameters
        ----------
        terminology : Terminology
            Its concepts are linked to.
        encoders : sequence of str or Encoder
            ``"default"`` (the embedded one), ``"chargrams"``, a saved encoder's folder, …; several
            are fused. Without any, only the sieves find concepts.
        weights : sequence of float, optional
            One per encoder. Without them 1 each, 0.5 of ``"universal"``, and BioSyn adds n-grams.
        folder : str or Path, optional
            Where to save; by default a temporary folder that is removed with the object.
        overwrite : bool
            Whether an existing index may be replaced.
        mentions : iterable of Mention or (str, str or sequence of str), optional
            Training mentions: their names are searched too, ``search="D-T + OD-T"`` by default.
        fold : str or Path, optional
            An index of the terminology, or of another release of it: the synonyms that were added
            to it become names of this one, and its forbidden pairs are kept.
        kind : str
            Of the index over dense vectors: ``"exact"``; ``"ivf"``, which misses about one nearest
            name in a hundred; or ``"auto"``, which is ``"ivf"`` from a million names on.
        memory : int or str
            What sorting may hold at once, such as ``"4GB"``; the rest waits in files.
        reuse : str or Path, optional
            An index of an earlier version, with the same encoders: names that it has are not
            prepared again, and only encoders that are fitted encode them. The result is the same.
        rules : str or Path, optional
            A table of rules of your own, kept with the index: see the guide to them.
        progress : Progress, optional
            Called with the stage, the names done and their number.
        **settings
            How mentions are prepared and looked up; see `Settings`.

        Raises
        ------
        InvalidInput
            If an encoder, search or kind is unknown, or what else is given does not fit.
        """
        fold, reuse = (index and _folder_of(index, progress) for index in (fold, reuse))
        if folder is not None and overwrite:
            check_overlay(folder, fold)
        if rules is not None:
            check_rules(rules)
        target, temporary = build_index(
            terminology,
            folder,
            encoders=encoders,
            weights=weights,
            overwrite=overwrite,
            mentions=mentions,
            fold=fold,
            kind=kind,
            memory=memory,
            reuse=reuse,
            rules=rules,
            progress=progress,
            settings=settings,
        )
        try:
            linker = cls(target)
        except ReadError:  # another process was about to put its own there
            linker = cls(target)
        if temporary:
            linker._finalizer = weakref.finalize(linker, shutil.rmtree, temporary, True)
        return linker

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        terminology: Terminology | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Open a saved linker, memory-mapped.

        Parameters
        ----------
        folder : str or Path
            Made by `save`, by ``build(folder=…)`` or by ``canonym index``. Or the name of an index,
            such as ``"icd10cm"``; a folder of that name in the current one wins.
        terminology : Terminology, optional
            Use this one instead of the copy in the folder; it must have the same content.
        progress : Progress, optional
            Reports on the index of ICD-10-CM while that is built, at its first use.

        Raises
        ------
        ReadError
            If the folder is missing or damaged, or there is no such name.
        Mismatch
            If it was made by a newer version, or for another terminology.
        """
        return cls(_folder_of(folder, progress), terminology=terminology)

    @classmethod
    def default(cls, *, everyday: bool = True, progress: Progress | None = None) -> Self:
        """Open the linker of the packaged terminology, ICD-10-CM.

        With `everyday` it knows everyday names as well ("pink eye"): names of the source
        ``"canonym everyday names"``, which are no coding advice. The first call builds it, in
        seconds, in the folder of the user's data (`canonym.io.files.data_folder`). An upgrade
        builds it again; what was added stays.
        """
        return cls(_packaged(DEFAULT if everyday else OFFICIAL, progress))

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the linker to a folder that `load` opens; it appears whole or not at all."""
        if overwrite:
            check_overlay(folder, self.folder)
        with write_folder(folder, overwrite=overwrite) as partial:
            # SQLite copies its files that may be written to meanwhile.
            left = shutil.ignore_patterns(f"{OVERLAY}*")
            shutil.copytree(self.folder, partial, dirs_exist_ok=True, ignore=left)
            self._overlay.copy(partial / OVERLAY)

    # --- linking --------------------------------------------------------------------------------

    @shows_options()
    def link(
        self,
        mentions: Iterable[str | Mention | None],
        *,
        abbreviations: Mapping[str, str] | None = None,
        **options: Unpack[LinkOptions],
    ) -> Links:
        """Link mentions to concepts, one link per mention, in order.

        Parameters
        ----------
        mentions : iterable of str or Mention
            A `Mention.context` is searched for abbreviations. None, NaN and the missing values of
            pandas are mentions without a text, and NIL. One string is an error: put it in a list.
        abbreviations : mapping of str to str, optional
            Short forms and their long forms.
        **options
            See `LinkOptions`.

        Raises
        ------
        InvalidInput
            If an option is unknown or out of range, a filter names something that the terminology
            does not have, or mentions are not strings.
        NotTrained
            If there is a least confidence, and the index has no judge.
        """
        links = Links(self.link_stream(mentions, abbreviations=abbreviations, **options))
        if not self._told_language and (guesses := unread(self, links)):
            self._told_language = True
            _log.warning(
                "%r is in a language or a script that the encoders of this index (%s) hardly know: "
                "its link is a guess, or NIL. An index with the encoder multilingual reads more; "
                "canonym.linker.unread(linker, links) gives all such links.",
                guesses[0].mention.text[:40],
                ", ".join(self.encoder_names),
            )
        return links

    @shows_options()
    def link_stream(
        self,
        mentions: Iterable[str | Mention | None],
        *,
        abbreviations: Mapping[str, str] | None = None,
        **options: Unpack[LinkOptions],
    ) -> Iterator[Link]:
        """Link a stream of mentions in constant memory, in order; takes what `link` takes."""
        linked = self._way(options)(as_documents(mentions), options, abbreviations)
        return (links[0] for _, links in linked)

    @shows_options()
    def link_document(self, document: Document, **options: Unpack[LinkOptions]) -> Links:
        """Link the mentions of one document; see `link_documents`."""
        return next(self.link_documents([document], **options))[1]

    @shows_options()
    def link_documents(
        self, documents: Iterable[Document], **options: Unpack[LinkOptions]
    ) -> Iterator[tuple[Document, Links]]:
        """Link the mentions of documents, in order and in constant memory.

        Abbreviations are written out as their document defines them. A mention in brackets behind
        another one may be looked up as that, and the other way round, see
        `canonym.mentions.aliases`. Where a name belongs to several concepts, the text and the other
        mentions of the document decide between them, unless ``context=False``. See `LinkOptions`.
        """
        return self._way(options)(documents, options)

    @shows_options(k=1)
    def annotate(
        self,
        text: str | Document,
        *,
        abbreviations: Mapping[str, str] | None = None,
        **options: Unpack[LinkOptions],
    ) -> Links:
        """Find the names of the terminology in a text; link each with the text as its context.

        Found are the longest stretches of words that `link` knows without a search, in any
        spelling, inflection and order of words, and short forms that the text defines.

        Parameters
        ----------
        text : str or Document
            Mentions that a document has are left out.
        abbreviations : mapping of str to str, optional
            Short forms and their long forms, beside those that the text defines.
        **options
            See `LinkOptions`; `k` is 1 by default here.

        Returns
        -------
        Links
            In the order of the text; none overlap, none is NIL. Mentions have offsets and a type.
            ``link.status`` and ``link.mention.flags`` say which are negated, historical,
            hypothetical, of the family or uncertain, in English; see `canonym.mentions.flags`.
            Negated mentions keep their concept.

        Raises
        ------
        InvalidInput
            If it is no text, or an option is unknown or out of range.

        Examples
        --------
        >>> from canonym import Concept, Terminology
        >>> linker = Linker.build(Terminology.build([Concept("X:1", "Wilson disease")]))
        >>> links = linker.annotate("Wilson's disease (WD) is rare.")
        >>> [(link.mention.start, link.id) for link in links]
        [(0, 'X:1'), (18, 'X:1')]
        """
        annotated = self.annotate_documents([as_text(text)], abbreviations=abbreviations, **options)
        return next(annotated)[1]

    @shows_options(k=1)
    def annotate_documents(
        self,
        documents: Iterable[str | Document],
        *,
        abbreviations: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        **options: Unpack[LinkOptions],
    ) -> Iterator[tuple[Document, Links]]:
        """Yield documents with the mentions in their texts, and their links; see `annotate`.

        `progress` reports on the names of an index without the sieve `reordered`, which are read
        first.
        """
        return annotate_texts(self, documents, options, abbreviations, progress)

    def _way(self, options: LinkOptions) -> Callable[..., Iterator[tuple[Document, Links]]]:
        alone = options.get("workers", 1) == 1
        return self.pipeline.link_documents if alone else partial(link_in_processes, self)

    # --- looking up -----------------------------------------------------------------------------

    def concept(self, id: str) -> Concept:
        """Look up the concept that an id or a code names: ``"I10"``, ``"icd10cm i10"``."""
        return self.terminology.concept(id)

    def search(self, words: str, *, k: int = 10, types: Sequence[str] = ()) -> list[Candidate]:
        """Find at most `k` concepts, of these `types`, by words of their names; nothing is decided.

        All words are in the `name` of a candidate, in any order and inflection, the last maybe as
        its beginning, and its score is their share of it. Names that were added come first, then
        those of these words alone, then labels, then others, short ones before long ones.

        >>> from canonym import Concept, Terminology
        >>> linker = Linker.build(Terminology.build([Concept("X:1", "Acute nephritis")]))
        >>> [(candidate.id, candidate.label) for candidate in linker.search("nephr")]
        [('X:1', 'Acute nephritis')]
        """
        return find_by_words(self.terminology, self.synonyms, words, k=k, types=types)

    # --- synonyms and forbidden pairs -----------------------------------------------------------

    @property
    def synonyms(self) -> Synonyms:
        """The names that were added, and the pairs that are forbidden; see `Synonyms`."""
        return Synonyms(self.terminology, self.pipeline.names)

    def __getattr__(self, name: str) -> Any:
        if name not in _MOVED:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warnings.warn(f"{name} is linker.synonyms.{_MOVED[name]} now", DeprecationWarning, 2)
        moved = getattr(self.synonyms, _MOVED[name])
        return moved if callable(moved) else lambda: moved

    # --- learning from annotated mentions -------------------------------------------------------

    def fit_confidence(
        self, corpus: Iterable[Document | Mention] | None = None, *, types: Sequence[str] = ()
    ) -> dict[str, float]:
        """Adapt the judge, which says how likely links are right, and keep it with the index.

        No index needs this: the judge that comes with canonym knows the links of any encoder.
        Mentions like those to be linked make it better. If they do not, the judge that the index
        has stays.

        Parameters
        ----------
        corpus : iterable of Document or Mention, optional
            Annotated, and not those the index was built with: they are too easy. Without one, the
            index goes back to the judge that comes with canonym, and nothing is reported.
        types : sequence of str
            Only mentions of these types.

        Returns
        -------
        dict of str to float
            ``links``: how many were asked; ``right``: the share of them that is right; ``ece``: the
            expected calibration error where each fifth of the documents is predicted from the
            others; ``answered at 0.9`` and ``right at 0.9``: the share of links with at least that
            confidence, and how many of those are right (NaN if there are none).

        Raises
        ------
        InvalidInput
            If there is no such type, or fewer than 20 mentions have a candidate.
        """
        from canonym.linking.fitting import fit_confidence

        judge, report = fit_confidence(self.pipeline, corpus, types=types)
        if judge.source == COMES_ALONG:
            (self.folder / JUDGE).unlink(missing_ok=True)
        else:
            judge.save(self.folder / JUDGE)
        self.judge = judge
        return report

    # --- description ----------------------------------------------------------------------------

    def info(self) -> dict[str, Any]:
        """Describe the linker: its terminology, encoders, settings and judge."""
        content = self._overlay.read()
        added = {"synonyms": len(content.synonyms), "forbidden pairs": len(content.forbidden)}
        sources = [" ".join(filter(None, pair)) for pair in self.terminology.sources()]
        return {
            "folder": str(self.folder),
            "fingerprint": self._fingerprint(content),
            **{key: self.manifest[key] for key in ("format", "encoders", "settings")},
            **({"fusion": self.manifest["fusion"]} if "fusion" in self.manifest else {}),
            **({"added": added} if any(added.values()) else {}),
            **describe_rules(self.folder),
            **({"confidence": self.judge.facts()} if self.judge else {}),
            "terminology": {
                **self.manifest["terminology"],
                "sources": [source for source in sources if source],
            },
        }

    def _facts(self) -> dict[str, str]:
        """Return terminology, concepts, names and encoders, in a few words for consoles."""
        info = self.info()
        terminology = info["terminology"]
        return {
            "terminology": " + ".join(terminology["sources"]) or info["folder"],
            "concepts": f"{terminology['n_concepts']:,}",
            "names": f"{terminology['n_names']:,}",
            "encoders": " + ".join(self.encoder_names) or "none",
        }

    def __repr__(self) -> str:
        facts = (f"{name}: {value}" for name, value in self._facts().items())
        return f"<{type(self).__name__}, {', '.join(facts)}>"

    def _repr_html_(self) -> str:
        return html_table(self._facts().items())

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the manifest and of what was added: changes with all that links depend on."""
        return self._fingerprint(self._overlay.read())

    def _fingerprint(self, content: OverlayContent) -> str:
        digest = file_digest(self.folder / MANIFEST)
        if content == OverlayContent() and self.judge is None:
            return digest
        names = [[name.text, name.concept_id, name.language] for name in content.synonyms]
        fitted = self.judge and self.judge.to_dict()
        whole = json.dumps([digest, names, content.forbidden, fitted])
        return hashlib.sha256(whole.encode("ascii")).hexdigest()

    @property
    def encoder_names(self) -> tuple[str, ...]:
        """Names of the encoders, among the parts of a candidate's score."""
        return tuple(encoder["name"] for encoder in self.manifest["encoders"])

    @property
    def judge(self) -> Judge | None:
        """What says how likely a link is right; None where nothing has learned that."""
        return self.pipeline.judge

    @judge.setter
    def judge(self, judge: Judge | None) -> None:
        self.pipeline.judge = judge

    @property
    def _overlay(self) -> Overlay:
        return self.pipeline.names.overlay


def as_linker(linker_or_folder: Linker | str | Path | None) -> Linker:
    """Return a linker for a linker, for the folder of an index, or for None: the default one."""
    if linker_or_folder is None:
        return Linker.default()
    if isinstance(linker_or_folder, Linker):
        return linker_or_folder
    if isinstance(linker_or_folder, str | Path):
        return Linker.load(linker_or_folder)
    raise InvalidInput(
        f"linker is {linker_or_folder!r:.80}; expected a Linker, or the folder of an index, such "
        "as linker='my-index'"
    )


def _folder_of(index: str | Path, progress: Progress | None) -> Path:
    """Return the folder of an index, for its path or its name; a packaged one is built."""
    if str(index) in PACKAGED and is_index_name(index):
        return _packaged(str(index), progress)
    return index_folder(index)


def _packaged(name: str, progress: Progress | None) -> Path:
    from canonym.linking.default import packaged_index

    return packaged_index(name, progress)


def _reopened(cls: type[Linker], folder: Path, terminology: Path) -> Linker:
    own = terminology == folder / "terminology.db"
    return cls(folder, terminology=None if own else Terminology(terminology))


def unread(linker: Linker, links: Iterable[Link]) -> list[Link]:
    """Return the links that are guesses, for no encoder of the index reads the mention.

    It is in a script that they have hardly seen, or is NIL and looks like another language.
    """
    encoders = linker.encoder_names
    guesses = filter(_is_guess, links) if encoders else ()

    def coverage(text: str) -> float:
        return linker.pipeline.preparation.vocabulary_coverage(text)

    return [link for link in guesses if is_unread(link, encoders, coverage)]


def _is_guess(link: Link) -> bool:
    best = next(iter(link.candidates), None)
    return best is None or (best.sieve == "search" and best.score < _NEAR)
