"""Words that say whether a mention is negated, past, doubtful, feared or of the family.

One table for running text (`canonym.mentions.flags`) and for the mentions of a list
(`canonym.mentions.status`). A cue stands before what it speaks of ("denies fever") or after it
("fever: none"). Some words look like a cue and say nothing ("gram negative"); others end the reach
of the cues before them ("but"). All are of English.

The kinds follow NegEx and ConText, and the guidelines of ICD-10-CM for what counts as uncertain:
"consistent with" and "compatible with" do. "ruled out" negates, "rule out" doubts. "resolved" is of
the past. "in remission" is no cue: it tells how a disease runs, and terminologies name it.

References
----------
Chapman et al. (2001), A simple algorithm for identifying negated findings and diseases in discharge
summaries. Harkema et al. (2009), ConText: an algorithm for determining negation, experiencer, and
temporal status from clinical reports.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from canonym.regex import regex

FLAGS: tuple[str, ...] = ("negated", "historical", "hypothetical", "family", "uncertain")
"""All flags, in the order in which a mention has them."""

SIDES: tuple[str, ...] = ("before", "after")
"""Where a cue may stand, as seen from the mention."""

RELATIVE = (
    "(half-|step|)(brother|brothers|sister|sisters)|aunt|aunts|cousin|cousins|dad|"
    "daughter|daughters|father|(grand|great-grand)(father|mother|parent|parents)|grandma|grandpa|"
    "husband|mom|mother|mum|nephew|niece|parent|parents|partner|relative|relatives|sibling|siblings|"
    "son|sons|spouse|twin|uncle|uncles|wife"
)
_INFORMANT = (
    "mom|mum|mother|dad|father|parent|parents|son|daughter|grandma|grandmother|sister|husband|"
    "partner|spouse|wife"
)
_WHOSE = "her|his|the|their|the patient's|patient's|pt's|both|one|a|my"
_AGE = "teens|twenties|thirties|forties|fifties|sixties"
_SPEAKS = (
    "(is |are |was |were |)(afraid|concerned|worried)|admits|admitted|asked|asks|believes|brings|"
    "brought|called|calls|complains|confirms|describes|feels|felt|gave|gives|noted|notes|noticed|"
    "notices|observed|reported|reports|said|saw|says|stated|states|thinks|thought|tried|wants"
)
_SEEN = (
    "appreciated|confirmed|demonstrated|detected|evident|found|heard|identified|noted|observed|"
    "palpable|palpated|present|reported|seen|visualized"
)
_NOT = "cannot|can not|can't|could not|couldn't"
_DAY = "day|days|few|month|several|two|three|24|48|week|weekend|hour|hours"
_TURNED = str.maketrans("()", ")(")
_WORD = regex(r"\w+")
_GLUED_BEFORE = regex(r"\w-")
_GLUED_BEHIND = regex(r"-\w")


class Rule(NamedTuple):
    """What a cue says, of which side, and how far it reaches.

    `flags` are of `FLAGS`. `before` is how far a cue reaches that stands before a mention, `after`
    the same of one behind it: ``"sentence"``, ``"clause"`` (to a comma or "with"), ``"next"`` (a
    few words), ``"last"`` (it has to end its clause), or ``""`` where it does not stand so.
    `in_lists` are the sides on which the cue counts in a list; `ends` are the flags that it stops.
    """

    flags: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    in_lists: tuple[str, ...] = SIDES
    ends: tuple[str, ...] = ()


class Cue(NamedTuple):
    """A place in a text with the rule of the words there."""

    start: int
    end: int
    words: str
    rule: Rule


def _rules() -> Iterator[tuple[Rule, str]]:
    """Yield every rule with its phrases: ``;`` between them, choices in brackets, 0 for a digit."""
    yield from _negated()
    yield from _past()
    yield from _hypothetical()
    yield from _family()
    yield from _uncertain()
    turns = "although;but;however;nevertheless;though;yet;except;except for;apart from;aside from"
    yield Rule(ends=FLAGS), f"{turns};other than;whereas;while"
    yield Rule(ends=("negated", "uncertain", "hypothetical")), "because;because of;due to;since"
    yield Rule(ends=("negated", "uncertain")), "secondary to;complains of;c/o;presents with;p/w"
    now = "admitted;complains of;c/o;current;currently;now;today;tonight"
    presents = "presented;presenting;presents;presents with;p/w;here (for|with)"
    yield Rule(ends=("historical",)), f"{now};{presents}"
    yield Rule(ends=("family",)), "he;she;(the |)(patient|pt)"
    yield Rule(ends=("family", "historical")), "who (presents|presented|is presenting)"


def _negated() -> Iterator[tuple[Rule, str]]:
    negated = ("negated",)
    yield (
        Rule(negated, "sentence"),
        """
        no; not; without; w/o; denies; (is|was|were|are) negative for; denied; deny; denying;
        never; never had; negative for; neg for; (patient|pt|she|he) (denies|denied|deny);
        absence of; free (of|from); ruled out for; rules out; no longer has;
        no (clinical |radiographic |)(evidence|sign|signs|symptoms) of; no (known |)history of;
        no h/o; no hx of; no hx; not (have|having|develop|had);
        (patient |pt |she |he |)(do|does|did)(n't| not) have; (is|was)(n't| not);
        (patient |pt |she |he |)(has|have|had)(n't| not) had; (unlikely|not likely) to (be|have);
        neither
    """,
    )
    yield (
        Rule(negated, "sentence", in_lists=()),
        """
        exclude; excludes; excluding; lack of; lacked; lacking; lacks; nor; none of; nil;
        unlikely; nothing (suggests|to suggest);
        (does|do|did|is|was|were|are|has|have|had|would)n't;
        (fails|failed|fail) to (reveal|show|demonstrate); unremarkable for; absent; cannot see;
        negative (history|exam|workup|work-up|study|imaging|screen|test) (of|for);
        exclusion criteria( include| included| are| were|)
    """,
    )
    yield Rule(negated, "sentence", "sentence"), "excluded;ruled out"
    yield (
        Rule(negated, after="sentence"),
        f"""
        absent; neg; negative; none; is negative; (was|were|are|came back|comes back) negative;
        denies; (was |were |is |has been |have been |)ruled out; not ({_SEEN}); denied; unlikely;
        (is|are|was|were) no longer (present|seen);
        never; (is |was |considered |seems |thought |)unlikely; (was|were|is|are) not ({_SEEN});
        (has|have|had) not been ({_SEEN});
        (was |were |is |are |will be |has been |have been |)excluded
    """,
    )
    yield Rule(negated, after="next"), "no"
    yield Rule(negated, after="last"), "free"
    # Of a drug or a food, not of a patient.
    yield Rule(), "(alcohol|cfc|dairy|gluten|lactose|latex|preservative|sugar) free"
    relation = f"({_INFORMANT}) (denies|denied|deny)"
    yield Rule(negated, "sentence"), relation
    yield Rule(("negated", "family"), "sentence"), f"(her|his) {relation}"
    yield (
        Rule(),
        """
        gram negative; gram neg; gram-negative; rh negative; false negative; triple negative;
        negative (pressure|symptoms|affect|feedback|inotropic); not only; not necessarily;
        no (better|worse|worsening|improvement|relief|response|increase|decrease|change|further);
        no (doubt|one|difference|contraindication|acute distress);
        without (change|treatment|help);
        not (stop|improve|improving|improved|resolve|resolved|respond|itch|smoke|smoked|help);
        not (take|taken|taking|use|using);
        not (controlled|well controlled|tolerate|better|otherwise specified|elsewhere classified);
        not (limited|due) to; would not have; no longer; without (radiation|medication);
        (a|b|ab|o) (negative|neg); no. 0; no. 00; rh neg; coombs negative
    """,
    )


def _past() -> Iterator[tuple[Rule, str]]:
    past = ("historical",)
    yield (
        Rule(past, "sentence"),
        """
        h/o; hx; hx of; hx.; hx. of; hist of; history of; childhood history of;
        (known |remote |prior |previous |past |strong |)history of;
        (past |)(medical|surgical) (history|hx)( of|); past (history|hx)( of|); pmh; pmhx; psh;
        (pmh|pmhx)( of| (significant|notable|positive) for); now resolved;
        personal (history|hx) of; previous; previously; prior; prior episode of; past; s/p;
        status post; status-post; recovered from; former; history of (a|an|the|prior)
    """,
    )
    yield (
        Rule(past, "sentence", in_lists=()),
        """
        history; earlier; childhood; remote; anamnesis; used to have; hospitali(s|z)ed for;
        years ago; decades ago
    """,
    )
    yield Rule(past, "next"), "resolved;old"
    yield Rule(past, after="last"), "old;remote;prior"
    yield (
        Rule(past, after="sentence"),
        """
        (is |has |have |had |now |)resolved( last (week|month)| (0|00) (day|days|week|weeks) ago|);
        resolved; history of; by history; hx; h/o;
        in the past; previously;
        as (a|an) (child|teenager|adolescent|boy|girl|infant|baby|kid|toddler|newborn|student);
        long ago; in 0000;
        (0 |00 |a |one |two |three |several |many |few |some |a few |)(month|months|year) ago;
        (0 |00 |a |one |two |three |several |many |few |some |a few |)(years|yr|yrs|decades) ago;
        (in|as of) (january|february|march|april|may|june) 0000;
        (in|as of) (july|august|september|october|november|december) 0000
    """,
    )
    yield (
        Rule(past, after="sentence", in_lists=()),
        f"""
        (in|during) (childhood|infancy|adolescence); last (month|year); when (he|she|i) was;
        (months|years) (before|earlier); in (her|his|my) ({_AGE});
        (in|during|with) (her|a|the) (first|second|third|last|previous|prior) pregnancy
    """,
    )
    yield (
        Rule(),
        f"""
        history and physical; (history|hx) of (present|presenting) (illness|complaint);
        history taking; history was; past (the|work|due|pointing|medical practice); prior to;
        past (0 |00 |)({_DAY}); (not|never) (yet |)resolved; (has|have|had|is) not resolved;
        (year|years|yr|yo|y/o|month|months|week|weeks|day|days) old;
        old (age|man|woman|male|female|boy|girl|lady|gentleman); prior authorization;
        previous (visit|note|exam|day|week|night)
    """,
    )


def _hypothetical() -> Iterator[tuple[Rule, str]]:
    hypothetical = ("hypothetical",)
    yield (
        Rule(hypothetical, "sentence"),
        """
        (at |)(increased |high |)risk (for|of); (watch|monitor|precautions) for;
        screening for; screen for;
        prevention of; to prevent; to avoid; prophylaxis (against|for);
        in (the |)(case|event) of
    """,
    )
    yield (
        Rule(hypothetical, "sentence", in_lists=()),
        """
        if; any new; (as needed|prn) for; call (|911 |us |your doctor )(for|when|if);
        look out for; report any; return (immediately |promptly |)(to|for|when|if);
        return precautions; seek (care|help|attention|treatment) (for|when|if);
        (let us know|tell us|come back|phone|phone us) (when|if); warning signs of; unless;
        whenever; (should|would) (there be|you have|you notice); be alert for;
        (look|looking) for signs of; educated about; counsel(l|)ed (on|about)
    """,
    )
    yield Rule(hypothetical, after="sentence", in_lists=()), "to recur"
    # Drugs are taken as needed, and only what they are taken for is hypothetical: see `flags`.
    yield Rule(hypothetical, "sentence", "sentence", in_lists=()), "prn"
    yield Rule(hypothetical, after="sentence", in_lists=()), "as needed;if needed;when needed"
    yield Rule(hypothetical, "sentence", in_lists=()), "should"
    yield (
        Rule(),
        """
        as if; even if; if not; if (he|she|they|i) had not; not sure if; unsure if; unclear if;
        (return|returns|returned) to (baseline|normal|work|school); risk factor for;
        should (be|have)
    """,
    )


def _family() -> Iterator[tuple[Rule, str]]:
    family = ("family",)
    history = "((family|familial|fam|fam.) (history|hx|h/o)|famhx)"
    follows = (
        "( of| for|)",
        "( is|) (positive|significant|notable|remarkable|pertinent) for",
        " (includes|with|shows)",
    )
    yield (
        Rule(family, "sentence"),
        ";".join(
            f"(known |strong |positive |significant |){of}{rest}"
            for of in (history, "fhx")
            for rest in follows
        ),
    )
    yield Rule(family, "sentence"), "(strong |)fh (of|positive for|significant for)"
    yield Rule(family, "sentence", in_lists=()), "fh"
    yield (
        Rule(("negated", "family"), "sentence"),
        f"""
        (negative|no|denies|denied|without|no known|denies any|no significant) {history}( of| for|);
        (no|denies|negative|neg) (fhx|fh)( of| for|); (no one|nobody) in (the|her|his) family
    """,
    )
    yield Rule(family, after="sentence"), f"{history};fhx"
    yield (
        Rule(family, after="sentence"),
        f"""
        (runs |run |)in (the|his|her) family; (runs|run) in family;
        in ({_WHOSE}) ({RELATIVE}); in ({RELATIVE});
        on (the|his|her) (maternal|paternal|mother's|father's) side
    """,
    )
    has = "with|w/|has|had|have|having|died of|died from|diagnosed with|suffered from"
    yield (
        Rule(family, "sentence"),
        f"""
        ({_WHOSE}) ({RELATIVE}) ({has}); ({RELATIVE}) ({has}|deceased from|passed from);
        (maternal|paternal) ({RELATIVE}) ({has}); (maternal|paternal) ({RELATIVE})
    """,
    )
    yield Rule(family, "sentence", in_lists=()), f"({RELATIVE});maternal;paternal"
    with_whom = "accompanied by|by|called|for|from|informed|lives with|per|to|told|via|with|asked"
    yield (
        Rule(),
        f"""
        ({RELATIVE}) ({_SPEAKS}); ({RELATIVE}) of;
        ({RELATIVE}) (is|are) (present|here|at bedside);
        ({with_whom}) ({_INFORMANT}|daughters|sons|siblings|brother);
        ({with_whom}) ({_WHOSE}) ({RELATIVE}); (the|this|a|an|other) twin;
        (is|was) likely (due|related) to
    """,
    )


def _uncertain() -> Iterator[tuple[Rule, str]]:
    uncertain = ("uncertain",)
    yield (
        Rule(uncertain, "clause"),
        """
        poss; poss.; prob; prob.; susp; susp.; possible/probable; possible; possibly; probable;
        probably; suspected; suspect; suspects; questionable; query; (most |very |)likely;
        presumed; presumably; doubt; doubtful; maybe; perhaps
    """,
    )
    yield (
        Rule(uncertain, "sentence"),
        f"""
        r/o; rule out; rule-out; s/o; c/f; not (excluded|ruled out); ruling out;
        (to|need to|trying to) (rule out|exclude);
        (high |low |clinical |)suspicion (for|of); low (likelihood|probability) of;
        (appear|appears|appeared|felt|thought) to (be|have|represent);
        suspicious for; question of; questionable for;
        ({_NOT}|unable to) (exclude|rule out|completely exclude|entirely exclude|r/o);
        (concern|concerns|concerning) (for|about); worrisome for; worry for;
        (may|might|could) (be|have|represent|indicate|reflect|suggest); consistent with; c/w;
        compatible with; suggestive of;
        (working|tentative|provisional|presumptive) diagnosis( of|);
        (differential|ddx|d/dx|differential diagnosis)( includes| of|);
        (evaluate|eval|evaluation|work-up|workup|work up) for;
        (not sure|unsure|unclear|not clear) (if|whether); equivocal for; still to rule out
    """,
    )
    yield Rule(uncertain, "sentence", in_lists=()), "suggest;suggests;suggesting;presumptive"
    yield (
        Rule(uncertain, after="sentence"),
        f"""
        (is|are|was|were) (suspected|possible|probable|questionable); suspected (by|clinically|on);
        ({_NOT}) be (|completely |entirely |definitely )(excluded|ruled out);
        (has |have |is |was |were |)not (been |yet been |yet |)(excluded|ruled out);
        to be (ruled out|excluded);
        (is|are|remains) (in the differential|a possibility|a consideration|being considered)
    """,
    )
    yield (
        Rule(uncertain, after="last"),
        "likely;is likely;presumed;suspected;possible;probable;questionable;r/o",
    )
    yield Rule(uncertain, before="clause", after="clause"), "vs;vs.;versus"
    yield Rule(), "graft (versus|vs|vs.) host;host (versus|vs|vs.) graft;more likely than"


class _Phrases(NamedTuple):
    """The phrases of a rule as one expression."""

    expression: re.Pattern[str]
    rule: Rule


@functools.cache
def _table() -> dict[str, list[_Phrases]]:
    """Return what may begin with a word: the rules with such a phrase."""
    table: dict[str, list[_Phrases]] = {}
    for rule, phrases in _rules():
        # The longest first: the first that fits counts.
        longest = sorted(phrases.split(";"), key=_length, reverse=True)
        written = "|".join(map(_expression, longest))
        known = _Phrases(re.compile(rf"(?:{written})(?!\w)", re.IGNORECASE), rule)
        for word in dict.fromkeys(word for phrase in longest for word in _first_words(phrase)):
            table.setdefault(word, []).append(known)
    return table


@functools.cache
def first_words() -> tuple[str, ...]:
    """Return the words with which a cue before a mention may begin, and relatives."""
    return _outer_words(lambda rule: bool(rule.flags and rule.before), _first_words)


@functools.cache
def last_words() -> tuple[str, ...]:
    """Return the words with which a cue behind a mention may end; a year is ``\\d\\d\\d\\d``."""
    return _outer_words(lambda rule: bool(rule.flags and rule.after and rule.in_lists), _last_words)


def _outer_words(
    counts: Callable[[Rule], bool], words_of: Callable[[str], Iterable[str]]
) -> tuple[str, ...]:
    words = {
        word.replace("0", r"\d")
        for rule, phrases in _rules()
        if counts(rule)
        for phrase in phrases.split(";")
        for word in words_of(phrase)
    }
    return tuple(sorted(words))


def _last_words(phrase: str) -> Iterator[str]:
    """Yield the words that a phrase with choices may end with."""
    turned = phrase[::-1].translate(_TURNED)
    return (word[::-1] for word in _first_words(turned))


def _length(phrase: str) -> tuple[int, int]:
    return len(phrase.split()), len(phrase.strip())


def _expression(phrase: str) -> str:
    """Return a phrase with choices in round brackets as an expression; 0 is any digit."""
    written = phrase.strip().replace(".", r"\.").replace("(", "(?:").replace("0", r"\d")
    return re.sub(" +", r"\\s+", written)


def _first_words(phrase: str) -> Iterator[str]:
    """Yield the words that a phrase with choices may begin with.

    >>> [*_first_words("(the |)(no|any) risk")]
    ['the', 'no', 'any']
    """
    plain = re.match(r"[^\w(]*(\w+)(?![\w(])", phrase)
    if plain is not None:
        yield plain[1]
        return
    start = phrase.index("(")
    depth, end = 0, start
    for end in range(start, len(phrase)):
        depth += {"(": 1, ")": -1}.get(phrase[end], 0)
        if not depth:
            break
    for choice in _choices(phrase[start + 1 : end]):
        yield from _first_words(phrase[:start] + choice + phrase[end + 1 :])


def _choices(listed: str) -> Iterator[str]:
    """Yield the choices between bars that are in no further brackets."""
    depth = begin = 0
    for place, character in enumerate(listed):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "|" and not depth:
            yield listed[begin:place]
            begin = place + 1
    yield listed[begin:]


@functools.cache
def _both(first: Rule, second: Rule) -> Rule:
    """Join two rules of one phrase: "excluded" may stand on either side."""
    return Rule(
        tuple(dict.fromkeys((*first.flags, *second.flags))),
        first.before or second.before,
        first.after or second.after,
        tuple(
            side
            for side in SIDES
            if any(getattr(rule, side) and side in rule.in_lists for rule in (first, second))
        ),
        tuple(dict.fromkeys((*first.ends, *second.ends))),
    )


def find_cues(text: str) -> list[Cue]:
    """Return the cues of a text in order; none overlap, and the longest phrase counts.

    What hangs together with a word by a hyphen is none: *no-reflow*, *HER2-negative*.

    >>> [(cue.words, cue.rule.flags) for cue in find_cues("No h/o asthma, possible no-reflow")]
    [('no h/o', ('negated',)), ('possible', ('uncertain',))]
    """
    table, cues, end = _table(), [], 0
    for word in _WORD.finditer(text):
        first = "0" * len(word[0]) if word[0].isdecimal() else word[0].lower()
        if word.start() < end or (several := table.get(first)) is None:
            continue
        cue = _longest(text, word.start(), several)
        if cue is not None:
            cues.append(cue)
            end = cue.end
    return cues


def _longest(text: str, start: int, several: Iterable[_Phrases]) -> Cue | None:
    end, rule = start, Rule()
    for known in several:
        match = known.expression.match(text, start)
        if match is not None and match.end() >= end:
            rule = _both(rule, known.rule) if match.end() == end else known.rule
            end = match.end()
    if end == start or _is_glued(text, start, end):
        return None
    return Cue(start, end, " ".join(text[start:end].lower().split()), rule)


def _is_glued(text: str, start: int, end: int) -> bool:
    """Tell whether a hyphen ties a stretch to the word beside it."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    if text[start:end].lower() == "free":  # "seizure-free"
        before = ""
    return bool(_GLUED_BEFORE.fullmatch(before) or _GLUED_BEHIND.fullmatch(after))
