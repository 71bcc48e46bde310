"""The way from a document to its links, stage by stage.

1. **Prepare** (`canonym.mentions`): write abbreviations out, split composite mentions, correct
   unknown words, explain a mention by the one before its bracket.
2. **Look up**: ids and sieves first; search for what no sieve knows, and to fill up to k.
3. **Decide**: the whole mention, its parts, or NIL.
4. **Homonyms**: between concepts of one name the context decides.
5. **Judge**: how likely it is that the first candidate is right, and NIL where it is not. What is
   likelier wrong is read clause by clause. Where the judge is not sure, somebody else may take a
   second look.

A batch holds whole documents, and sees the names of one moment.
"""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import length_hint
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

from canonym.io.heap import no_collection
from canonym.io.time_limit import check_time
from canonym.linking.background import together
from canonym.linking.book import open_book
from canonym.linking.codes import find_coded
from canonym.linking.decision import LookedUp, decide
from canonym.linking.division import by_parts, divide
from canonym.linking.evidence import Vocabulary
from canonym.linking.hits import (
    LOOKED_AT,
    ConceptHit,
    ConceptTable,
    Draft,
    KnownHits,
    StringHits,
    among_kin,
    at_most,
    by_letters,
    link_of,
    may_be_parts,
    near_rivals,
    undivided,
    why_none,
)
from canonym.linking.homonyms import (
    MOST_TIED,
    N_CANDIDATES,
    Homonyms,
    beside_readings,
    find_homonyms,
)
from canonym.linking.judge import Judge, check_confidence, graded
from canonym.linking.languages import choose_encoders
from canonym.linking.links import (
    KnownLinks,
    LinkOptions,
    Links,
    Repeats,
    check_abbreviations,
    check_options,
    contexts_of,
    with_book,
)
from canonym.linking.names import CurrentNames, Filter, Filters, Names, open_rows
from canonym.linking.search import BatchHits, Search, Sifted, load_encoders, sift
from canonym.linking.settings import TARGETS, Sieve, chosen_sieves, parse_search
from canonym.linking.spans import TextNames, open_text_names
from canonym.mentions.abbreviations import find_abbreviations
from canonym.mentions.aliases import find_aliases
from canonym.mentions.binomials import BINOMIALS, Binomials
from canonym.mentions.documents import batches_of
from canonym.mentions.prepare import Preparation
from canonym.mentions.prepared import Asked, How, Prepared, strings_of
from canonym.mentions.spelling import Speller
from canonym.rules import Book, using
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.text.characters import n_letters
from canonym.text.memo import LONGEST_STRING, strong_forms
from canonym.types import Document, Link, Mention

if TYPE_CHECKING:
    from canonym.linking.second_look import SecondLook

_log = logging.getLogger(__name__)
_NAMES = TARGETS["O-T"]
_NOTHING: frozenset[int] = frozenset()


class Request(NamedTuple):
    """The checked options of one call, its filter over rows, and its judge.

    A judge that is fitted during a call counts from the next call on.
    """

    k: int
    filter: Filter
    min_score: float | None
    min_confidence: float
    context: bool
    batch: int
    separator: str | None
    judge: Judge | None
    keep_negated: bool = False
    second_look: SecondLook | None = None
    n_documents: int = 0  # of the whole run; 0 where that is not known

    @property
    def n_kept(self) -> int:
        """How many candidates to keep; of those of a search a judge looks at several.

        A preferred one is looked for among more.
        """
        least = 1 if self.judge is None else self.judge.n_candidates
        if self.second_look is not None:
            least = max(least, self.second_look.n_choices)
        return max(self.k, N_CANDIDATES if self.filter.prefers else least)

    @property
    def enough(self) -> int:
        """How many concepts a sieve has to know so that a string is not searched as well."""
        return self.n_kept if self.filter.prefers else self.k


@dataclass
class Pipeline:
    """Everything that links: what an index folder holds, opened."""

    terminology: Terminology
    settings: Mapping[str, Any]
    preparation: Preparation
    names: CurrentNames
    filters: Filters
    sieves: Sequence[Sieve]
    search: Search
    concepts: ConceptTable
    homonyms: Homonyms
    known: KnownHits
    known_links: KnownLinks
    book: Book
    background: float
    judge: Judge | None = None
    second_look: str | None = None
    """Who takes a second look where a call names nobody."""
    text_names: TextNames | None = None
    """What finds names in texts, None where an index has no filter of phrases."""

    @classmethod
    def open(cls, folder: Path, manifest: Mapping[str, Any], terminology: Terminology) -> Self:
        """Open the folder of an index, memory-mapped."""
        settings = manifest["settings"]
        sieves = chosen_sieves(settings["sieves"])
        steps = parse_search(settings["search"])
        encoders = load_encoders(folder, manifest["encoders"])
        rows = open_rows(folder, terminology, sieves, manifest["encoders"])
        speller = Speller.load(folder / "speller") if settings["spelling"] else None
        organisms = folder / BINOMIALS
        binomials = Binomials.load(organisms) if organisms.is_dir() else None
        return cls(
            terminology,
            settings,
            Preparation(speller, settings["composites"], settings["trials"], binomials),
            CurrentNames.open(
                folder, manifest, rows, [encoder.encode for encoder in encoders], sieves, steps
            ),
            Filters(terminology, rows.ties, rows.retired),
            sieves,
            Search(
                encoders,
                steps,
                float(settings["search_threshold"]),
                exactly=manifest.get("fusion") == "exact",
                asked=choose_encoders([encoder.name for encoder in encoders], terminology, speller),
            ),
            ConceptTable(terminology),
            Homonyms(terminology),
            KnownHits(),
            KnownLinks(),
            open_book(folder),
            together(manifest["encoders"]),
            text_names=open_text_names(folder, helped=speller is not None),
        )

    def link_documents(
        self,
        documents: Iterable[Document],
        options: LinkOptions,
        abbreviations: Mapping[str, str] | None = None,
    ) -> Iterator[tuple[Document, Links]]:
        """Yield each document with its links, in order; see `canonym.Linker.link_documents`."""
        forms = check_abbreviations(abbreviations)
        request = self.request(**options)._replace(n_documents=length_hint(documents))
        batches = batches_of(documents, mentions=request.batch)
        return chain.from_iterable(self.link_batch(batch, request, forms) for batch in batches)

    def link_batch(
        self,
        documents: Sequence[Document],
        request: Request,
        abbreviations: Mapping[str, str],
        defined: Sequence[Mapping[str, str] | None] = (),
    ) -> Iterator[tuple[Document, Links]]:
        """Link whole documents, all of them against the names of one moment.

        `defined` are the abbreviations that each document defines, where they are known: all of
        them have a text then.
        """
        names = self.names.snapshot()
        is_new = abbreviations or request.second_look  # which keeps its answers itself
        known = {} if is_new else self.known_links.of(names, request)
        repeats = Repeats(documents, known)
        with using(self.book), no_collection():
            links = self._links(repeats.new, request, abbreviations, names, defined)
            if request.separator is None and self._is_unsure(links):
                links = by_parts(
                    links,
                    repeats.new,
                    lambda clauses: self._links(clauses, request, abbreviations, names),
                    lambda texts: self._read(texts, request, abbreviations, names),
                    request.min_confidence,
                )
            whole = with_book(self.grade(links, request, repeats.new, len(documents)), self.book)
        return repeats.links([Links(islice(whole, len(one.mentions))) for one in repeats.new])

    def _links(
        self,
        documents: Sequence[Document],
        request: Request,
        abbreviations: Mapping[str, str],
        names: Names,
        defined: Sequence[Mapping[str, str] | None] = (),
    ) -> list[Link]:
        """Link whole documents, with all candidates, and let the judge say how likely each is."""
        drafts, batch = self.draft(documents, request, abbreviations, defined, names)
        links = [link_of(draft, batch) for of_document in drafts for draft in of_document]
        if request.judge is None:
            return links
        parts = undivided(links)
        return graded(links, parts, request.judge.of(parts, self.vocabulary))

    def _is_unsure(self, links: Sequence[Link]) -> bool:
        """Tell whether some mention may say several things: no name is likely to fit it whole."""
        return self.preparation.composites and any(map(may_be_parts, undivided(links)))

    def _read(
        self, texts: Sequence[str], request: Request, forms: Mapping[str, str], names: Names
    ) -> list[list[Link]]:
        """Return the links of the names in each text."""
        if self.text_names is None:
            return [[] for _ in texts]
        batch = self.batch(request.filter, names)
        documents, readings = self.text_names.read(texts, forms, batch)
        links = iter(self._links(documents, request, forms, names, readings))
        return [list(islice(links, len(it.mentions))) for it in documents]

    def draft(
        self,
        documents: Sequence[Document],
        request: Request,
        abbreviations: Mapping[str, str],
        defined: Sequence[Mapping[str, str] | None] = (),
        names: Names | None = None,
    ) -> tuple[list[list[Draft]], BatchHits]:
        """Link documents up to their homonyms: the drafts of each, and all that was found."""
        batch = self.batch(request.filter, names)
        prepared = [
            self.prepare(document, abbreviations, known, request.separator)
            for document, known in zip(documents, defined or [None] * len(documents), strict=True)
        ]
        looked_up = self.look_up(documents, prepared, batch, request)
        drafts = [
            [
                self.decide(mention, of_mention, batch, request)
                for mention, of_mention in zip(document.mentions, of_document, strict=True)
            ]
            for document, of_document in zip(documents, looked_up, strict=True)
        ]
        if request.context or request.filter.prefers:
            drafts = self.choose_homonyms(documents, drafts, batch, context=request.context)
        drafts = [[among_kin(draft, batch) for draft in of_document] for of_document in drafts]
        return drafts, batch

    # --- stages ---------------------------------------------------------------------------------

    def request(self, **options: Unpack[LinkOptions]) -> Request:
        """Check the options of a call, and turn its filters into one over rows."""
        checked = check_options(options)
        row_filter = self.filters.choose(
            types=checked["types"],
            sources=checked["sources"],
            languages=checked["languages"],
            ids=checked["ids"],
            prefer=checked["prefer"],
            seed=checked["seed"],
        )
        return Request(
            checked["k"],
            row_filter,
            checked["min_score"],
            check_confidence(checked["min_confidence"]),
            # Ties that are broken at random are not broken by the context.
            checked["context"] and checked["seed"] is None,
            *(checked["batch"], checked["separator"], self.judge, checked["keep_negated"]),
            self._opened(checked["second_look"]),
        )

    def _opened(self, named: str | None) -> SecondLook | None:
        if (named := self.second_look if named is None else named) is None:
            return None
        from canonym.linking.second_look import open_second_look  # few links have one

        return open_second_look(named)

    def batch(self, row_filter: Filter, names: Names | None = None) -> BatchHits:
        """Begin a batch: no hits yet, and the names of this moment."""
        names = names or self.names.snapshot()
        return BatchHits(self.search, names, row_filter, self.concepts, self.sieves)

    def prepare(
        self,
        document: Document,
        abbreviations: Mapping[str, str],
        known: Mapping[str, str] | None = None,
        separator: str | None = None,
    ) -> list[Prepared]:
        """Turn the mentions of a document into strings to look up."""
        if known is None:
            known = self._abbreviations(document.text) if document.mentions else {}
        aliases = (
            find_aliases(document.mentions, document.text, defined=known) if document.text else {}
        )
        known = {**known, **abbreviations} if abbreviations else known
        # Mentions may share their context, which is searched once.
        contexts = dict.fromkeys(mention.context for mention in document.mentions)
        own = {text: {**self._abbreviations(text), **known} if text else known for text in contexts}
        return [
            self.preparation.prepare(
                mention.text,
                abbreviations=own[mention.context],
                ordered=abbreviations,
                alias=aliases.get((mention.text, mention.type), ""),
                around=(document.text, mention.context),
                separator=separator,
            )
            for mention in document.mentions
        ]

    def _abbreviations(self, text: str) -> Mapping[str, str]:
        if not text:
            return {}
        return find_abbreviations(text, engine=self.settings["abbreviations"])

    def look_up(
        self,
        documents: Sequence[Document],
        prepared: Sequence[Sequence[Prepared]],
        batch: BatchHits,
        request: Request,
    ) -> list[list[LookedUp]]:
        """Find the hits of every string of a batch, each string once; decide what mentions list.

        A forbidden pair holds for all strings of its mention: these are looked up together.
        """
        looked_up: list[dict[int, LookedUp]] = [{} for _ in documents]
        groups: dict[frozenset[int], list[tuple[int, int]]] = {}
        for at, document in enumerate(documents):
            for place, mention in enumerate(document.mentions):
                forbidden = batch.names.forbidden_for(mention.text)
                groups.setdefault(forbidden, []).append((at, place))
        for forbidden, places in groups.items():
            group = [prepared[at][place] for at, place in places]
            of_group = self._look_up_together(group, batch, forbidden, request)
            for (at, place), of_mention in zip(places, of_group, strict=True):
                looked_up[at][place] = of_mention
        _log.debug("looked up %d groups of strings of %d documents", len(groups), len(documents))
        return [[own[place] for place in range(len(own))] for own in looked_up]

    def _look_up_together(
        self,
        group: Sequence[Prepared],
        batch: BatchHits,
        forbidden: frozenset[int],
        request: Request,
    ) -> list[LookedUp]:
        """Look up the strings of mentions, and what they list once the sieves have told that.

        Each mention sees the hits of its own strings, looked up as it asks for them: what else is
        in the batch changes nothing.
        """

        def own_hits(strings: Sequence[Mapping[str, How]]) -> Iterator[dict[str, StringHits]]:
            asked = dict.fromkeys(chain.from_iterable(own.items() for own in strings))
            k, enough = request.n_kept, request.enough
            hits = self.find(asked, k, batch, forbidden=forbidden, enough=enough)
            self.concepts.read_ahead([hit for of_string in hits.values() for hit in of_string.hits])
            return ({text: hits[text, how] for text, how in own.items()} for own in strings)

        strings = [strings_of(prepared) for prepared in group]
        hits_of = [*own_hits(strings)]
        divided = [
            divide(prepared, own, batch) if prepared.may_list else prepared
            for prepared, own in zip(group, hits_of, strict=True)
        ]
        further = [
            {
                text: how
                for text, how in strings_of(prepared).items()
                if how < own.get(text, len(How))
            }
            if prepared.may_list
            else {}
            for prepared, own in zip(divided, strings, strict=True)
        ]
        return [
            LookedUp(prepared, {**own, **more} if more else own, forbidden)
            for prepared, own, more in zip(divided, hits_of, own_hits(further), strict=True)
        ]

    def find(
        self,
        strings: Iterable[Asked],
        k: int,
        batch: BatchHits,
        *,
        forbidden: frozenset[int] = _NOTHING,
        enough: int | None = None,
    ) -> dict[Asked, StringHits]:
        """Find up to k hits of distinct strings: ids and sieves first, then search.

        `forbidden` are concepts that none of the strings may find, beside those that a forbidden
        pair names for a string. Strings of which a sieve knows `enough` concepts, k by default, are
        not searched for.
        """
        enough = k if enough is None else enough
        groups: dict[frozenset[int], list[Asked]] = {}
        for asked in strings:
            groups.setdefault(forbidden | batch.names.forbidden_for(asked[0]), []).append(asked)
        hits: dict[Asked, StringHits] = {}
        for barred, group in groups.items():
            known = self.known.of(batch.names, batch.filter, (k, enough), barred)
            searched = {text for text, how in group if how == How.SEARCHED}
            new = [asked for asked in group if asked[1] or asked[0] not in known]
            fresh = self._find(new, k, batch, barred, enough)
            hits.update((asked, fresh.get(asked) or known[asked[0]]) for asked in group)
            known.update(
                (text, hits[text, How.SEARCHED])
                for text in searched - known.keys()
                if len(text) <= LONGEST_STRING
            )
        return hits

    def _find(
        self,
        asked: Sequence[Asked],
        k: int,
        batch: BatchHits,
        forbidden: frozenset[int],
        enough: int,
    ) -> dict[Asked, StringHits]:
        names, row_filter = batch.names, batch.filter
        filters = [
            names.filter(row_filter, step, forbidden, by_name=True) for step in self.search.steps
        ]
        strings = list(dict.fromkeys(string for string, _ in asked))
        plain = dict(zip(strings, normalise_all(strings, PLAIN), strict=True))
        sifted = sift(plain, self.sieves, names, filters, self.concepts)
        coded = self._coded(asked, sifted, batch, forbidden, k)
        shortest = int(self.settings["min_length"])
        searched = [
            string
            for string, how in asked
            if how == How.SEARCHED
            and plain[string]
            and string not in coded
            and (
                len(sifted[string][1]) < enough
                if string in sifted
                else n_letters(plain[string]) >= shortest
            )
        ]
        n = max(k, LOOKED_AT)
        nearest = self.search.search(searched, n, names, row_filter, forbidden, batch.encoded)
        rows = (hit.row for of_string in nearest.values() for hit in of_string)
        self.concepts.read_names(row for row in rows if 0 <= row < names.n_base)
        if self.sieves:  # without any, a search is what a paper describes
            by_letters(nearest, sifted, names, self.concepts)
        # Normal forms are made for all names at once, to be laid beside their strings one by one.
        near = (hit for of_string in nearest.values() for hit in near_rivals(of_string))
        strong_forms([*searched, *(batch.name(hit).text for hit in near)])
        hits: dict[Asked, StringHits] = {}
        for string, how in asked:
            if how != How.SIEVED and string in coded:
                hits[string, how] = coded[string]
                continue
            sieve, pairs = sifted.get(string, (None, []))
            name, score = ("search", 1.0) if sieve is None else (sieve.name, sieve.score)
            most = pairs[: max(k, MOST_TIED)]
            known = [ConceptHit(c, row, score, {name: score}, name) for c, row in most]
            taken = {concept for concept, _ in pairs}
            searched_for = nearest.get(string, ()) if how == How.SEARCHED else ()
            further = [hit for hit in searched_for if hit.concept not in taken]
            known, steps = batch.weigh_known(string, known, sieve)
            further = batch.weigh_searched(string, further[:n])
            if further and further[0].score > score:  # hits of a sieve stay ahead
                further = [at_most(hit, score) for hit in further]
            best = tuple([*known[:k], *further][:k])
            tied = tuple(known[:MOST_TIED]) if len(known) > 1 else ()
            reason = "" if best else why_none(plain[string], shortest)
            steps = batch.one_of_several(string, further) if sieve is None else steps
            hits[string, how] = StringHits(best, name, reason, tied, steps)
        return hits

    def _coded(
        self,
        asked: Sequence[Asked],
        sifted: Sifted,
        batch: BatchHits,
        forbidden: frozenset[int],
        k: int,
    ) -> dict[str, StringHits]:
        """Find the hits of the strings that are ids or codes; none in an index without sieves."""
        if not self.sieves:
            return {}
        codes = self.terminology.find_codes(
            dict.fromkeys(string for string, how in asked if how != How.SIEVED)
        )
        return find_coded(codes, sifted, batch, forbidden, k) if codes else {}

    def nearest(
        self, strings: Sequence[str], k: int, row_filter: Filter
    ) -> dict[str, list[ConceptHit]]:
        """Search the terminology's names alone, for whatever owns the rows of a filter.

        Owners are those of ``chosen.ties.concept_of_row``. Strings are distinct, none is empty.
        """
        if not strings or not self.search.encoders:
            return {}
        batch = self.batch(row_filter)
        indexes = batch.names.base.indexes
        vectors = batch.encoded.of(strings)
        hits = self.search.nearest(strings, vectors, k, indexes, row_filter, step=_NAMES)
        return dict(zip(strings, hits, strict=True))

    def decide(
        self, mention: Mention, looked_up: LookedUp, batch: BatchHits, request: Request
    ) -> Draft:
        """Decide for a mention: whole, parts, or NIL."""
        check_time()
        draft = decide(
            mention, *looked_up, batch, request.min_score, keep_negated=request.keep_negated
        )
        return beside_readings(draft, looked_up.hits_of, batch)

    def choose_homonyms(
        self,
        documents: Sequence[Document],
        drafts: Sequence[Sequence[Draft]],
        batch: BatchHits,
        *,
        context: bool = True,
    ) -> list[list[Draft]]:
        """Find all concepts of one name, in the order for which the context speaks, if it may."""
        flat = iter(find_homonyms([*chain.from_iterable(drafts)], batch))
        homonyms = [[next(flat) for _ in of_document] for of_document in drafts]
        return [
            self.homonyms.choose(document, of_document, batch, context=context)
            for document, of_document in zip(documents, homonyms, strict=True)
        ]

    def grade(
        self, links: list[Link], request: Request, documents: Sequence[Document], n: int
    ) -> list[Link]:
        """Let the judge say how likely it is that each link is right, if there is one.

        `documents` are those of the links, the different ones of `n`, for a second look.
        """
        judge, second_look = request.judge, request.second_look
        parts = undivided(links)
        confidences = [part.confidence for part in parts]
        if judge is not None and second_look is not None:
            around = contexts_of(links, documents)
            share = n / max(request.n_documents, n)
            parts, confidences = second_look.revise(parts, confidences, around, self, judge, share)
        return graded(links, parts, confidences, request.min_confidence, request.k)

    @functools.cached_property
    def vocabulary(self) -> Vocabulary:
        """What the judge knows of the terminology."""
        n_names, n_concepts = self.terminology.n_names, self.terminology.n_concepts
        density = math.log(max(n_names, 1) / max(n_concepts, 1))
        euclidean = all(one.similarity == "euclidean" for one in self.search.encoders)
        return Vocabulary(self.preparation.vocabulary_coverage, density, self.background, euclidean)
