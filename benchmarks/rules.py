"""What each mechanism that reads mentions and texts brings: all of them are switched off in turn.

`mechanisms` has the mechanisms, `rule_questions` what is asked: mentions of corpora, three jobs
that people did by hand, our own lists, drugs, names of HPO, pairs of names of two concepts, names
in texts, and sentences with flags. Everything is linked with the default encoder.

All is linked once, while each mechanism tells where it gives something else than nothing. Then each
is switched off, and what it told of is linked again. Counted is what changes: the first candidate,
NIL, a confidence of 0.9 or more, or the status. Gained is what is right with the mechanism alone,
lost what is right without it alone. A wrong link at 0.9 or more is avoided by the mechanism or made
by it. The share of the processor is that of the mechanism, with all that it calls, in 3,000
mentions of diseases.

    python benchmarks/rules.py                         all, to ``results/rules.json``
    python benchmarks/rules.py --only mentions.terse   some, printed
    python benchmarks/rules.py --indexes FOLDER        where indexes are kept for the next run
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

from canonym import Linker
from canonym.linking.hits import KnownHits
from canonym.linking.links import KnownLinks
from canonym.linking.search import Search
from canonym.mentions import flags
from canonym.types import Link
from mechanisms import Mechanism, forget, mechanisms, switched_off, watched
from record import data_folder, parser, save
from rule_questions import CORPORA, MEDIC, Asked, Question, read_all

SURE = 0.9
_SAMPLES = 3
_PROFILED = 3_000
_BATCH = 500


class Outcome(NamedTuple):
    """What a linker says of a mention, and whether it is right."""

    text: str
    answer: tuple[str, ...]
    nil: bool
    sure: bool
    status: tuple[str, ...]
    right: bool

    @property
    def is_sure_and_wrong(self) -> bool:
        """Whether it is stated with confidence, and wrong."""
        return self.sure and not self.nil and not self.right


Outcomes = dict[Any, Outcome]
"""The outcomes of a question, by the place of the mention."""


def outcome_of(link: Link, *, right: bool) -> Outcome:
    """Return what a link says."""
    parts = link.parts or (link,)
    answer = tuple(part.candidates[0].id if part.candidates else "" for part in parts)
    status = tuple(" ".join(part.status) for part in parts)
    sure = (link.confidence or 0.0) >= SURE
    return Outcome(link.mention.text, answer, link.nil, sure, status, right)


def ask(questions: Sequence[Question], linkers: Mapping[str, Linker]) -> Iterator[Outcomes]:
    """Yield the outcomes of questions, in order."""
    outcomes: dict[int, Outcomes] = {}
    groups: dict[tuple[str, str], list[int]] = {}
    for at, question in enumerate(questions):
        groups.setdefault((question.way, question.linker), []).append(at)
    for (way, name), places in groups.items():
        own = [questions[at] for at in places]
        outcomes.update(zip(places, _WAYS[way](own, linkers.get(name)), strict=True))
    yield from (outcomes[at] for at in range(len(questions)))


def ask_each(questions: Sequence[Question], linkers: Mapping[str, Linker]) -> list[Outcomes]:
    """Return the outcomes of questions; what cannot be linked without a mechanism has an error."""
    try:
        return list(ask(questions, linkers))
    except Exception as error:  # anything may rely on the mechanism
        if len(questions) == 1:
            n = (
                range(len(questions[0].rights))
                if questions[0].way == "mentions"
                else questions[0].gold
            )
            texts = [mention.text for mention in questions[0].document.mentions]
            reason = (f"{type(error).__name__}: {error}",)
            failed = Outcome(texts[0] if texts else "", reason, True, False, (), right=False)
            return [dict.fromkeys(n, failed)]
        half = len(questions) // 2
        return [*ask_each(questions[:half], linkers), *ask_each(questions[half:], linkers)]


def _link(questions: Sequence[Question], linker: Linker) -> Iterator[Outcomes]:
    linked = linker.link_documents([question.document for question in questions], k=1)
    for question, (_, links) in zip(questions, linked, strict=True):
        pairs = zip(links, question.rights, strict=True)
        yield {n: outcome_of(link, right=right(link)) for n, (link, right) in enumerate(pairs)}


def _annotate(questions: Sequence[Question], linker: Linker) -> Iterator[Outcomes]:
    """Find names; what is not annotated is right where nothing is found."""
    texts = linker.annotate_documents([question.document for question in questions])
    for question, (_, links) in zip(questions, texts, strict=True):
        outcomes = {}
        for link in links:
            span = link.mention.start, link.mention.end
            right = span in question.gold and question.gold[span](link)
            outcomes[span] = outcome_of(link, right=right)
        text = question.document.text
        for span in question.gold.keys() - outcomes.keys():
            outcomes[span] = Outcome(text[slice(*span)], (), True, False, (), right=False)
        yield outcomes


def _flag(questions: Sequence[Question], _: Linker | None) -> Iterator[Outcomes]:
    for question in questions:
        (mention,) = flags.with_flags(question.document.text, question.document.mentions)
        status = mention.flags or ()
        right = set(status) == set(question.gold)
        yield {0: Outcome(question.document.text, (), False, False, status, right)}


_WAYS: Mapping[str, Callable[[Sequence[Question], Any], Iterator[Outcomes]]] = {
    "mentions": _link,
    "texts": _annotate,
    "flags": _flag,
}


# --- memory ---------------------------------------------------------------------------------------


@contextmanager
def remembered_search() -> Iterator[None]:
    """Search for a string once: what is nearest to it depends on no mechanism."""
    search, known = Search.search, dict[tuple[int, int], dict[str, list[Any]]]()

    def remembering(
        self: Search, strings: Sequence[str], k: int, *args: Any
    ) -> dict[str, list[Any]]:
        own = known.setdefault((id(self), k), {})
        new = [string for string in strings if string not in own]
        if new:
            own.update(search(self, new, k, *args))
        return {string: list(own[string]) for string in strings if string in own}

    with patch.object(Search, "search", remembering):
        yield


def renew(linkers: Iterable[Linker]) -> None:
    """Let linkers know nothing of what they linked."""
    for linker in linkers:
        pipeline = linker.pipeline
        pipeline.known, pipeline.known_links = KnownHits(), KnownLinks()
        if (speller := pipeline.preparation.speller) is not None:
            speller.__init__(speller._arrays, speller._folder)  # type: ignore[misc]
        if (names := linker.pipeline.text_names) is not None:
            names._known = (None, None, {})


# --- measuring ------------------------------------------------------------------------------------


def baseline(asked: Asked) -> tuple[list[Outcomes], dict[str, list[int]]]:
    """Return the outcomes of all questions, and for each mechanism those that it told of."""
    told: set[str] = set()
    outcomes: list[Outcomes] = []
    places: dict[str, list[int]] = {}
    with watched(told.add):
        for at, question in enumerate(asked.questions):
            if question.linker:
                renew([asked.linkers[question.linker]])
            forget()
            told.clear()
            outcomes += ask([question], asked.linkers)
            for id in told:
                places.setdefault(id, []).append(at)
            if at % 2_000 == 0:
                print(f"{at:,} of {len(asked.questions):,} documents", flush=True)
    return outcomes, places


def compare(
    questions: Sequence[Question], before: Sequence[Outcomes], after: Sequence[Outcomes]
) -> dict[str, Any]:
    """Count what a mechanism changes; `after` is without it."""
    counts: Counter[str] = Counter()
    by_group: dict[str, Counter[str]] = {}
    samples: dict[str, list[str]] = {"gained": [], "lost": [], "changed": []}
    for question, with_it, without in zip(questions, before, after, strict=True):
        for place in dict.fromkeys((*with_it, *without)):
            other = with_it.get(place) or without[place]
            # What is found in a text on one side only: nothing was there to be found.
            nothing = Outcome(other.text, (), True, False, (), right=True)
            here, there = with_it.get(place, nothing), without.get(place, nothing)
            if here[1:] == there[1:]:
                continue
            kind = "gained" if here.right > there.right else "changed"
            kind = "lost" if there.right > here.right else kind
            group = by_group.setdefault(question.group, Counter())
            for counted in (counts, group):
                counted["changed"] += 1
                counted[kind] += kind != "changed"
                counted["made"] += here.is_sure_and_wrong > there.is_sure_and_wrong
                counted["avoided"] += there.is_sure_and_wrong > here.is_sure_and_wrong
                counted["first"] += here.answer != there.answer
                counted["nil"] += here.nil != there.nil
                counted["sure"] += here.sure != there.sure
                counted["status"] += here.status != there.status
            if here.text not in samples[kind] and len(here.text) < 80:
                samples[kind].append(here.text)
    columns = ("changed", "gained", "lost", "avoided", "made", "first", "nil", "sure", "status")
    shown = [text for kind in ("gained", "lost", "changed") for text in samples[kind][:_SAMPLES]]
    return {
        **{column: counts[column] for column in columns},
        "by group": {
            group: [own[column] for column in columns[:5]] for group, own in by_group.items()
        },
        "samples": shown[:_SAMPLES],
    }


def measure(
    asked: Asked,
    outcomes: Sequence[Outcomes],
    places: Mapping[str, Sequence[int]],
    mechanism: Mechanism,
) -> dict[str, Any]:
    """Switch a mechanism off, and link again what it told of."""
    own = places.get(mechanism.id, ())
    questions = [asked.questions[at] for at in own]
    before = [outcomes[at] for at in own]
    after: list[Outcomes] = []
    with switched_off(mechanism):
        renew(asked.linkers.values())
        for start in range(0, len(questions), _BATCH):
            after += ask_each(questions[start : start + _BATCH], asked.linkers)
    return {
        "rule": mechanism.id,
        "says": mechanism.says,
        "lines": mechanism.n_lines,
        "documents": len(own),
        **compare(questions, before, after),
    }


def shares(asked: Asked) -> dict[str, float]:
    """Return the share of the processor of each mechanism that is a function, in percent."""
    texts = [
        mention.text
        for question in asked.questions
        if question.linker == MEDIC and question.way == "mentions"
        for mention in question.document.mentions
    ]
    texts = [*dict.fromkeys(texts)][:_PROFILED]
    linker = asked.linkers[MEDIC]
    linker.link(texts[:50])
    renew([linker])
    forget()
    profile = cProfile.Profile()
    profile.runcall(linker.link, texts)
    stats = pstats.Stats(profile)
    spent = {place: row[3] for place, row in stats.stats.items()}  # type: ignore[attr-defined]
    whole = stats.total_tt  # type: ignore[attr-defined]
    found = {}
    for mechanism in mechanisms():
        if (code := mechanism.code) is not None:
            seconds = spent.get((code.co_filename, code.co_firstlineno, code.co_name), 0.0)
            found[mechanism.id] = round(100 * seconds / whole, 2)
    return found


def main() -> None:
    """Link everything, then without each mechanism, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--only", default="", metavar="PREFIX", help="of the ids of mechanisms")
    arguments.add_argument("--indexes", type=Path, metavar="FOLDER", help="keep indexes there")
    options, data, begun = arguments.parse_args(), data_folder(), time.process_time()
    with TemporaryDirectory() as scratch:
        asked = read_all(data, options.indexes or Path(scratch))
        spent = shares(asked)
        with remembered_search():
            outcomes, places = baseline(asked)
            groups = groups_of(asked, outcomes)
            for group in groups:
                print(*group.values(), flush=True)
            rows = []
            for mechanism in mechanisms():
                if mechanism.id.startswith(options.only):
                    row = measure(asked, outcomes, places, mechanism)
                    rows.append({**row, "processor %": spent.get(mechanism.id)})
                    print(*list(rows[-1].values())[:1], *list(rows[-1].values())[2:], flush=True)
    print(f"{time.process_time() - begun:.0f} s of processor time")
    if not options.only:
        files = [data / folder / "dev.pubtator" for _, folder, _, _ in CORPORA[:2]]
        content = {"groups": groups, "rows": rows}
        save("rules", content, packages=("numpy", "simple-icd-10-cm"), data=files)


def groups_of(asked: Asked, outcomes: Sequence[Outcomes]) -> list[dict[str, Any]]:
    """Return how many mentions of each source are right with all mechanisms."""
    counts: dict[tuple[str, str], list[int]] = {}
    for question, own in zip(asked.questions, outcomes, strict=True):
        n = counts.setdefault((question.group, question.source), [0, 0, 0])
        n[0] += len(own)
        n[1] += sum(outcome.right for outcome in own.values())
        n[2] += sum(outcome.is_sure_and_wrong for outcome in own.values())
    return [
        {"group": group, "source": source, "n": n, "right": right, "sure and wrong": wrong}
        for (group, source), (n, right, wrong) in counts.items()
    ]


if __name__ == "__main__":
    main()
