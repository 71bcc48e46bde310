"""The second look: where the judge is not sure, somebody else chooses among the first candidates.

That may be another encoder, a cross-encoder, or a language model. It sees a mention, the text
around it and the candidates, and may choose one of them or none; it never writes an id. Its choice
is evidence: how far it is to be believed it shows by questions whose answer is known (`controls`),
and Bayes' rule says how likely each candidate is right then (`weighing`). The likeliest of the
first and the chosen one goes first.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from canonym.encoders import SHIPPED
from canonym.encoders.hub import find_model
from canonym.errors import InvalidInput
from canonym.io.files import cache_folder
from canonym.linking.search import against_name
from canonym.linking.second_look.choosers import CrossEncoder, EncoderChooser, is_cross_encoder
from canonym.linking.second_look.controls import Control, controls
from canonym.linking.second_look.kept import VECTORS, Kept
from canonym.linking.second_look.language_model import LanguageModel, model_at, n_tokens
from canonym.linking.second_look.questions import (
    N_CHOICES,
    Answer,
    Chooser,
    Question,
    question_of,
)
from canonym.linking.second_look.weighing import Reliability, weighed
from canonym.linking.settings import IDS
from canonym.types import NO_ANSWER, SECOND_LOOK, Candidate, Link, Step

if TYPE_CHECKING:
    from canonym.linking.judge import Judge
    from canonym.linking.pipeline import Pipeline

__all__ = ["N_CHOICES", "SURE", "SecondLook", "open_second_look"]

SURE = 0.9
"""Nobody is asked about a link that is at least so likely to be right."""

FILE = "second-looks.db"
"""Name of the file of answers and vectors, in the folder of what can be made again."""

_log = logging.getLogger(__name__)


class SecondLook:
    """Asks a chooser about unsure links, and weighs what it says.

    Parameters
    ----------
    chooser : Chooser
        Whom to ask.
    answers : Kept
        Where answers are kept.
    """

    n_choices = N_CHOICES

    def __init__(self, chooser: Chooser, answers: Kept) -> None:
        self.chooser = chooser
        self._answers = answers
        self._shown: dict[str, Reliability] = {}
        self._is_announced = self._is_told = False

    def revise(
        self,
        links: Sequence[Link],
        confidences: Sequence[float | None],
        contexts: Sequence[str],
        pipeline: Pipeline,
        judge: Judge,
        share: float = 1.0,
    ) -> tuple[list[Link], list[float | None]]:
        """Return undivided links in the order of their candidates that counts now, and how sure.

        `contexts` are the texts around their mentions, and `share` is the part of a run that these
        links are. A link whose question has no answer stays as it is, with a step that says so.
        """
        revised, sure = [*links], [*confidences]
        unsure = [n for n, p in enumerate(sure) if p is not None and is_unsure(links[n], p)]
        if not unsure:
            return revised, sure
        questions = [question_of(links[n], contexts[n], pipeline.terminology) for n in unsure]
        digest = pipeline.terminology.digest
        known = [] if digest in self._shown else list(controls(pipeline))
        self._announce(questions, [control.question for control in known], len(links), share)
        reliability = self._shown.get(digest) or self._reliability(known, digest)
        answers = self.ask(questions)
        for n, answer in zip(unsure, answers, strict=True):
            revised[n], sure[n] = _revised(links[n], sure[n] or 0.0, answer, reliability, judge)
        self._tell([answer.problem for answer in answers if answer.problem])
        return revised, sure

    def reliability(self, pipeline: Pipeline) -> Reliability:
        """Return what the answers to questions about an index show whose answer is known."""
        return self._reliability(list(controls(pipeline)), pipeline.terminology.digest)

    def _reliability(self, known: Sequence[Control], digest: str) -> Reliability:
        """Return what is shown, and keep it unless nobody answered."""
        answers = self.ask([control.question for control in known])
        pairs = zip(answers, known, strict=True)
        told = [(answer.place, control.right) for answer, control in pairs if not answer.problem]
        reliability = Reliability.shown(
            [(place, right) for place, right in told if right is not None],
            [place for place, right in told if right is None],
        )
        if told or not known:
            self._shown[digest] = reliability
        return reliability

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Return the answer to each question: those on disk, and new ones, which are kept."""
        keys = [question.key(self.chooser.identity) for question in questions]
        known = {key: Answer(place) for key, place in self._answers.of(keys).items()}
        new = {key: q for key, q in zip(keys, questions, strict=True) if key not in known}
        waiting = list(new.items())
        for start in range(0, len(waiting), self.chooser.at_a_time):
            some = waiting[start : start + self.chooser.at_a_time]
            answers = self.chooser.answers([question for _, question in some])
            told: dict[str, int | None] = {}
            try:
                for (key, _), answer in zip(some, answers, strict=True):
                    known[key] = answer
                    if not answer.problem:
                        told[key] = answer.place
            finally:  # a stop keeps them too
                self._answers.add(told)
        return [known[key] for key in keys]

    def _announce(
        self,
        questions: Sequence[Question],
        known: Sequence[Question],
        n_mentions: int,
        share: float,
    ) -> None:
        """Say once how many questions are new, and how long, before they cost anything."""
        if self._is_announced or not isinstance(self.chooser, LanguageModel):
            return
        keys = {question.key(self.chooser.identity): question for question in (*questions, *known)}
        new = [keys[key] for key in keys.keys() - self._answers.of(keys).keys()]
        if not new:
            return
        self._is_announced = True
        of_known = {*known}.intersection(new)
        tokens, tokens_known = sum(map(n_tokens, new)), sum(map(n_tokens, of_known))
        counts = n_mentions, len(new) - len(of_known), tokens - tokens_known
        whole = "{:,.0f} names take {:,.0f} questions and {:,.0f} tokens".format(
            *(n / share for n in counts)
        )
        _log.warning(
            "The second look asks %s about %s of the first %s names%s: some %s tokens.%s",
            self.chooser.name,
            f"{counts[1]:,}",
            f"{n_mentions:,}",
            f", and about {len(of_known)} whose concept is known" if of_known else "",
            f"{tokens:,}",
            f" At this rate some {whole}." if share < 1 else "",
        )

    def _tell(self, problems: Sequence[str]) -> None:
        """Warn once that questions have no answer."""
        if problems and not self._is_told:
            self._is_told = True
            _log.warning(
                "The second look has no answer to %s questions so far (%s): their links stay as "
                "they were without it.",
                f"{len(problems):,}",
                problems[0],
            )


def is_unsure(link: Link, confidence: float) -> bool:
    """Tell whether somebody is asked about an undivided link."""
    if link.nil or not link.candidates or link.candidates[0].sieve == IDS:
        return False
    return confidence < SURE


def _revised(
    link: Link, confidence: float, answer: Answer, reliability: Reliability, judge: Judge
) -> tuple[Link, float]:
    """Return a link in the light of an answer, and how likely its best candidate is right.

    What bounds the confidence of a name bounds it still, whoever chose it.
    """
    best, place = link.candidates[0], answer.place
    if answer.problem:
        step = Step(SECOND_LOOK, best.label, f"{NO_ANSWER}{answer.problem}")
        return replace(link, steps=(*link.steps, step)), confidence
    likely = weighed(confidence, min(len(link.candidates), N_CHOICES), place, reliability).tolist()
    said = "none of them" if place is None else link.candidates[place].label
    link = replace(link, steps=(*link.steps, Step(SECOND_LOOK, best.label, said)))
    first = min(likely[0], judge.most(link))
    if not place:
        return link, first
    other = replace(link, candidates=_ahead(link, place))
    ahead = min(likely[place], judge.most(other))
    return (other, ahead) if ahead > first else (link, first)


def _ahead(link: Link, place: int) -> tuple[Candidate, ...]:
    """Put a candidate first, with what speaks against its name.

    Scores fall, so that those behind have at most its score.
    """
    first = link.candidates[place]
    others = [candidate for n, candidate in enumerate(link.candidates) if n != place]
    behind = (replace(other, score=min(other.score, first.score)) for other in others)
    against = against_name(link.searched or link.mention.text, first.name, lambda: first)
    context = {**first.context, SECOND_LOOK: 1.0}
    return (replace(first, against=against, context=context), *behind)


@functools.lru_cache(maxsize=4)
def open_second_look(spec: str) -> SecondLook:
    """Open a second look by a short description.

    ==============================  ===============================================================
    ``contextual``                  an encoder, by its name or folder, as `canonym.encoders` has it
    ``a/folder`` ``hf:owner/model`` a cross-encoder or an encoder of Hugging Face
    ``MODEL@http://HOST:PORT/v1``   a language model at an address that speaks OpenAI's protocol
    ==============================  ===============================================================

    Raises
    ------
    InvalidInput
        If the description fits none of these.
    MissingExtra
        If it needs an extra that is not installed.
    """
    if not isinstance(spec, str) or not spec.strip():
        raise InvalidInput(
            f"second_look is {spec!r:.80}; expected 'contextual', a folder, 'hf:OWNER/MODEL' or "
            "'MODEL@http://HOST:PORT/v1'"
        )
    file = cache_folder() / FILE
    answers = Kept(file)
    if named := model_at(spec):
        return SecondLook(LanguageModel(*named), answers)
    is_online = spec.startswith("hf:")
    folder = find_model(spec[3:], local_files_only=False) if is_online else Path(spec).expanduser()
    if spec not in SHIPPED and is_cross_encoder(folder):
        return SecondLook(CrossEncoder(folder), answers)
    try:
        return SecondLook(EncoderChooser(spec, Kept(file, VECTORS)), answers)
    except InvalidInput as error:
        raise InvalidInput(
            f"{error}. A second look may also be a cross-encoder, by its folder, or a language "
            "model, as in llama3.2@http://localhost:11434/v1"
        ) from error
