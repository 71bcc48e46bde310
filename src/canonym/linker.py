"""The whole way on one page: a mention is prepared, looked up, searched, ranked, decided.

1. **Prepare** (`canonym.mentions`): abbreviations of the document are written out, a composite
   mention gets its parts, unknown words a spelling from the terminology's own vocabulary, a mention
   in brackets the one before the bracket.
2. **Sieves**: the string as it stands, then in normal form, then with its words in any order. The
   first that finds a name decides.
3. **Search**: otherwise, and to fill up to `k`, every encoder proposes rows, the union is scored by
   all of them, and concepts are ranked by their best row.
4. **Decide**: the best candidate, or NIL with the reason. Between concepts of the same name the
   context decides (`canonym.linking.homonyms`).
"""

from __future__ import annotations

import functools
import itertools
import shutil
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from canonym.curation import Curated
from canonym.errors import InvalidInput
from canonym.io.files import read_manifest
from canonym.linking.build import FORMAT, Progress, build_linker
from canonym.linking.confidence import check_confidence
from canonym.linking.decision import as_mention
from canonym.linking.extra_names import LearnedName, learn_names, with_search
from canonym.linking.homonyms import Decided
from canonym.linking.links import Links, regrouped
from canonym.linking.overlay import Folded, check_overlay, fold_in
from canonym.linking.pipeline import Finish, answer_block, settled
from canonym.linking.reranker import check_order, install_order
from canonym.linking.settings import Settings
from canonym.mentions.abbreviations import find_abbreviations
from canonym.mentions.glosses import find_glosses
from canonym.mentions.prepare import Prepared
from canonym.opened import Opened
from canonym.taught import Taught
from canonym.terminology import Terminology
from canonym.types import Document, Encoder, Link, Mention

__all__ = ["Linker", "Links"]

_Pair = tuple[Mention, Mapping[str, str], str]  # with its abbreviations, and its gloss or ""


class Linker(Opened, Curated, Taught):
    """Finds the concepts of a terminology that names stand for.

    Made by `build`, `load` or `default`. Safe to use from several threads; everything large is
    memory-mapped and shared between processes.

    Examples
    --------
    >>> from canonym import Concept, Linker, Name, Terminology
    >>> records = [Concept("X:1", "Myocardial infarction"), Name("heart attack", "X:1")]
    >>> linker = Linker.build(Terminology.build(records), encoders=["chargrams"])
    >>> link = linker.link(["Heart Attacks"])[0]
    >>> link.id, link.label, link.candidates[0].sieve
    ('X:1', 'Myocardial infarction', 'normalised')
    """

    @classmethod
    def build(
        cls,
        terminology: Terminology,
        *,
        encoders: Sequence[str | Encoder] = ("default",),
        weights: Sequence[float] | None = None,
        folder: str | Path | None = None,
        overwrite: bool = False,
        mentions: Iterable[LearnedName] | None = None,
        fold: str | Path | None = None,
        order: str | Path = "nearest",
        progress: Progress | None = None,
        **settings: Unpack[Settings],
    ) -> Linker:
        """Index a terminology.

        Parameters
        ----------
        terminology : Terminology
            What is linked to.
        encoders : sequence of str or Encoder
            ``"default"`` (the embedded one), ``"chargrams"``, a saved encoder's folder, …; several
            are fused. None at all leaves the sieves.
        weights : sequence of float, optional
            One per encoder, 1 each by default.
        folder : str or Path, optional
            Where to save; a temporary folder that goes with the object by default.
        overwrite : bool
            Whether an existing index may be replaced.
        mentions : iterable of Mention or (str, str or sequence of str), optional
            Training mentions: their names are searched as well, ``search="D-T + OD-T"`` unless
            another of `canonym.linking.targets.SEARCHES` is named.
        fold : str or Path, optional
            An index of the terminology, or of another release of it: the synonyms that were added
            to it become names of this one, and its forbidden pairs are taken along.
        order : str or Path
            Of candidates, as `use_order` takes it.
        progress : Progress, optional
            Called with the stage, the names done and their number.
        **settings
            How mentions are prepared and looked up; see `canonym.linking.settings.Settings`.

        Raises
        ------
        InvalidInput
            If an encoder, a search or a re-ranker is unknown, or weights or mentions do not fit.
        """
        if folder is not None and overwrite:
            check_overlay(folder, fold)
        check_order(order)
        learned = None if mentions is None else learn_names(terminology, mentions)
        folded = Folded(terminology)
        if fold is not None:
            folded = fold_in(terminology, fold, newest=FORMAT)
        target, temporary = build_linker(
            folded.terminology,
            folder,
            overwrite=overwrite,
            encoders=encoders,
            weights=weights,
            settings=with_search(settings, learned),
            learned=learned,
            finish=functools.partial(_finish, folded, order),
            progress=progress,
        )
        linker = cls(target)
        if temporary:
            linker._finalizer = weakref.finalize(
                linker, shutil.rmtree, temporary, ignore_errors=True
            )
        return linker

    @classmethod
    def default(cls, *, everyday: bool = True, progress: Progress | None = None) -> Linker:
        """Open the linker of the packaged terminology, ICD-10-CM.

        With `everyday` it knows what people say as well ("pink eye"): names of the source
        ``"canonym everyday names"``, which are no coding advice. It is built at the first call, in
        seconds, and kept in the cache folder (`canonym.io.files.cache_folder`).
        """
        from canonym.linking.default import open_default

        return open_default(progress, everyday=everyday)

    def link(self, mentions: Iterable[str | Mention], **options: Any) -> Links:
        """Link mentions; see `link_stream` for the options.

        Returns one link per mention, in order. A single string is an error: put it in a list.
        """
        return Links(self.link_stream(mentions, **options))

    def link_document(self, document: Document, **options: Any) -> Links:
        """Link the mentions of a document, its abbreviations written out."""
        return next(self.link_documents([document], **options))[1]

    def link_documents(
        self, documents: Iterable[Document], **options: Any
    ) -> Iterator[tuple[Document, Links]]:
        """Link the mentions of documents, the abbreviations of each written out in its mentions.

        A mention in brackets behind another one may be looked up as that, and the other way round,
        see `canonym.mentions.glosses`. Documents are read as they are needed and come out in order;
        see `link_stream` for the options. Where a name belongs to several concepts, the text and
        the other mentions of the document decide between them, and a re-ranker looks at what those
        stand for, unless ``context=False``.
        """
        waiting: deque[Document] = deque()
        unsettled: deque[Document] = deque()

        def mentions() -> Iterator[_Pair]:
            for document in documents:
                waiting.append(document)
                if document.mentions:
                    unsettled.append(document)
                found = self._abbreviations(document.text) if document.mentions else {}
                glosses = find_glosses(document.mentions, document.text, defined=found)
                for one in document.mentions:
                    yield one, found, glosses.get((one.text, one.type), "")

        return regrouped(self._link_pairs(mentions(), unsettled, **options), waiting)

    def link_stream(
        self,
        mentions: Iterable[str | Mention],
        *,
        abbreviations: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Iterator[Link]:
        """Link a stream of mentions in constant memory, in order.

        Parameters
        ----------
        mentions : iterable of str or Mention
            What to link. A `Mention.context` is searched for abbreviations.
        abbreviations : mapping of str to str, optional
            Short forms and their long forms.
        k : int
            Candidates wanted per mention, at least 1; 5 by default.
        types, sources, languages : sequence of str
            Only concepts of these types and sources, and names of these languages, applied before
            ranking.
        ids : iterable of str
            Only these concepts.
        min_score : float, optional
            Mentions whose best candidate scores less are NIL; the candidates are still returned.
        min_confidence : float, optional
            Mentions whose link is right with a smaller probability than this are NIL; the linker
            has to know how sure it is, see `fit_confidence`.
        seed : int, optional
            Break ties between equal scores at random, as Xu & Bethard (2021) do, the same way for
            the same seed. By default the more trusted scope goes first (a label), then the id.
        context : bool
            Whether the surroundings of a mention (`Mention.context` and `Mention.type`; the text
            and the other mentions of a document) choose between concepts of the same name; true
            by default. Not with a seed.
        batch : int
            Mentions handled at once, 1,024 by default.

        Raises
        ------
        InvalidInput
            If `k` is less than 1, a filter names what the terminology has not, or mentions are not
            strings.
        NotTrained
            If there is a least confidence, and the linker does not know how sure it is.
        """
        if isinstance(mentions, str):
            raise InvalidInput(
                f"one string was given ({mentions!r:.80}); expected a list of them: link([name])"
            )
        known = abbreviations or {}
        pairs = ((as_mention(mention), known, "") for mention in mentions)
        return self._link_pairs(pairs, **options)

    def _link_pairs(
        self,
        pairs: Iterator[_Pair],
        documents: deque[Document] | None = None,
        *,
        k: int = 5,
        types: Sequence[str] = (),
        sources: Sequence[str] = (),
        languages: Sequence[str] = (),
        ids: Iterable[str] = (),
        min_score: float | None = None,
        min_confidence: float | None = None,
        seed: int | None = None,
        context: bool = True,
        batch: int = 1024,
    ) -> Iterator[Link]:
        if k < 1:
            raise InvalidInput(f"k is {k}; expected the number of candidates wanted, at least 1")
        check_confidence(self.confidence, min_confidence)
        chosen = self.lookup.filters.choose(
            types=types, sources=sources, languages=languages, ids=ids, seed=seed
        )

        finish = Finish(self.lookup, k, self.reranker, self.confidence, min_confidence)
        ties = context and seed is None

        def decided() -> Iterator[Decided]:
            while block := list(itertools.islice(pairs, batch)):
                prepared = [(one[0], self._prepare(*one)) for one in block]
                yield from answer_block(
                    self.lookup, prepared, finish.wanted, chosen, min_score, ties=ties
                )

        together = (
            settled(decided(), self.contexts, documents)
            if ties
            else ([one.link] for one in decided())
        )
        return itertools.chain.from_iterable(map(finish.apply, together))

    def _prepare(self, mention: Mention, known: Mapping[str, str], gloss: str) -> Prepared:
        if mention.context:
            known = {**self._abbreviations(mention.context), **known}
        return self.preparation.prepare(mention.text, abbreviations=known, gloss=gloss)

    def _abbreviations(self, text: str) -> Mapping[str, str]:
        return find_abbreviations(text, engine=self.settings["abbreviations"])


def _finish(folded: Folded, order: str | Path, folder: Path) -> None:
    folded.finish(folder)
    if str(order) != "nearest":
        described = read_manifest(folder, kind="linker", newest=FORMAT)["encoders"]
        install_order(order, [one["name"] for one in described], folder)
