"""Effects of rules on texts: an example has that of its rule, a counter-example has not.

The mention that is asked about stands in square brackets: ``denies [asthma]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from canonym.errors import InvalidInput
from canonym.mentions.binomials import genus_steps
from canonym.mentions.clauses import related
from canonym.mentions.clinical import LISTS, TEXTS, usual_reading
from canonym.mentions.composites import patterns
from canonym.mentions.contrasts import apart_by
from canonym.mentions.drug_lines import drug_line, without_salt
from canonym.mentions.english import is_ordinary, qualifying_forms
from canonym.mentions.false_names import section_titles
from canonym.mentions.flags import FLAGS, with_flags
from canonym.mentions.headings import completed
from canonym.mentions.measurements import finding_name
from canonym.mentions.phrasings import WORDING, rephrased
from canonym.mentions.readings import clinical_readings, has_usual
from canonym.mentions.shorthand import write_out
from canonym.mentions.species import species_in
from canonym.mentions.specimens import specimen_of
from canonym.mentions.spread import cancer_and_sites
from canonym.mentions.status import read_status, split_at_turn, unsaid_operation
from canonym.rules import Rule, current, phrase_expression
from canonym.text import STRONG, normalise
from canonym.text.qualifiers import (
    BROADER,
    QUALIFIERS,
    is_finding,
    qualified,
    without_heading,
    without_lead_in,
)
from canonym.text.words import plural
from canonym.types import OTHER_READINGS, USUAL_READING, Mention, Step


def acts(rule: Rule, text: str) -> bool:
    """Tell whether a rule of the book that counts has its effect on a text.

    Raises
    ------
    InvalidInput
        If the text has no mention in brackets where the kind of the rule needs one.
    """
    return _EFFECTS.get(rule.kind, _is_form)(rule, text)


def _flags(text: str) -> tuple[str, ...]:
    start = text.rfind("[")  # a box may stand before it
    end = text.find("]", start) - 1
    if not 0 <= start < end:
        raise InvalidInput(f"{text!r} has no mention in brackets; expected one as in 'no [fever]'")
    plain = text[:start] + text[start + 1 : end + 1] + text[end + 2 :]
    (mention,) = with_flags(plain, [Mention(plain[start:end], start, end)])
    return mention.flags or ()


def _gives(rule: Rule, text: str) -> bool:
    """Tell whether the mention has the flags of a rule."""
    return set(_flags(text)).issuperset(rule.means.split())


def _spares(rule: Rule, text: str) -> bool:
    """Tell whether none of the flags of a rule reaches the mention; without any, no flag at all."""
    flags = _flags(text)
    return not flags or (bool(rule.means) and set(flags).isdisjoint(rule.means.split()))


def _qualifies(_: Rule, text: str) -> bool:
    """Tell whether all words of a text qualify a name."""
    return all(normalise(word, STRONG) in qualifying_forms() for word in text.split())


def _reads(rule: Rule, text: str) -> bool:
    """Tell whether a text has the reading of a rule, where the rule counts."""
    in_list = rule.where != TEXTS and rule.means in usual_reading(text)
    return in_list or (rule.where != LISTS and rule.means in clinical_readings(text).values())


def _finds(_: Rule, text: str) -> bool:
    return bool(finding_name(text))


def _excludes(rule: Rule, text: str) -> bool:
    """Tell whether two phrases with a bar between them have words that exclude each other."""
    if text.count(" | ") != 1:
        raise InvalidInput(f"{text!r} of {rule.id!r} is not two phrases with ' | ' between them")
    first, second = text.split(" | ")
    return apart_by(first.split(), second.split()) is not None


def _rewrites(rule: Rule, text: str) -> bool:
    return re.sub(rule.form, rule.means, text) != text


def _ends_so(rule: Rule, text: str) -> bool:
    return re.search(rf"(?:{rule.form})$", text, re.IGNORECASE) is not None


def _is_form(rule: Rule, text: str) -> bool:
    return text == rule.form


_AS_EXPRESSION = (
    "measure|circumstance|isoform|classified|drug unit|per what|schedule|route|short route|"
    "arm of a trial|kind of intervention|foreign function word|combination"
)
_EFFECTS: Mapping[str, Callable[[Rule, str], bool]] = {
    "cue": _gives,
    "turn": _spares,
    "no cue": _spares,
    "course": lambda _, text: len(split_at_turn(f"possible asthma, now {text}")) == 1,
    "sign": lambda rule, text: _gives(rule, text) if rule.means in FLAGS else not _flags(text),
    "ordinary word": lambda _, text: is_ordinary(text),
    "qualifying word": _qualifies,
    "title of a section": lambda _, text: bool(section_titles(text)),
    "species": lambda rule, text: rule.means in species_in(text),
    "reading": _reads,
    "one of several": lambda rule, text: clinical_readings(text).get(rule.form) == rule.means,
    "no usual reading": lambda _, text: not has_usual(text),
    "altered": lambda _, text: bool(read_status(text).flags),
    "result": lambda _, text: bool(usual_reading(text)),
    **dict.fromkeys(("spelling", "plural", "counted", "part in other letters"), _rewrites),
    **dict.fromkeys(("ending in other letters", "owner", "owned", "not an owner"), _rewrites),
    "irregular plural": lambda rule, text: plural(text) == rule.means,
    "no plural": lambda rule, text: text == rule.form == plural(text),
    **dict.fromkeys(_AS_EXPRESSION.split("|"), _ends_so),
    "operation": lambda _, text: unsaid_operation(text, "") != "",
    "organism": lambda rule, text: rule.form in (step.after for step in genus_steps(text)),
    "part of the body": lambda _, text: write_out(text).startswith("right "),
    "shorthand": lambda rule, text: rule.means in write_out(text),
    "part of a composite": lambda rule, text: bool(patterns()[rule.where].fullmatch(text)),
    "health": lambda _, text: not read_status(text).flags,
    "lasting": lambda _, text: read_status(text).flags == ("historical",),
    "specimen": lambda rule, text: specimen_of(text) == rule.means,
    "lead-in": lambda _, text: {without_lead_in(text), without_heading(text)} != {text},
    "relation": lambda _, text: len(related(text)) > 1,
    "spread": lambda _, text: cancer_and_sites(text) != (),
    "heading of its items": lambda _, text: completed(text) != (),
    "tag": lambda _, text: qualified(text) is not None,
    "finding": lambda _, text: is_finding(text),
    "drug form": lambda _, text: drug_line(text) is not None,
    "salt": lambda _, text: without_salt(text) != text,
    "named by its salt": lambda _, text: without_salt(text) == text,
    "wording": lambda rule, text: any(rule == other for other, _ in rephrased(text)),
    **dict.fromkeys(("in blood", "measured", "in urine", "inflamed"), _finds),
    **dict.fromkeys(("opposite", "species of a name", "prefix"), _excludes),
}


# Of which kinds the rules behind a step are, by its name.
_BEHIND: Mapping[str, Sequence[str]] = {
    "shorthand": ("shorthand",),
    "finding": ("in blood", "measured", "in urine", "inflamed"),
    "status": ("cue",),
    USUAL_READING: ("reading", "one of several"),
    OTHER_READINGS: ("one of several",),
    QUALIFIERS: ("lead-in", "tag"),
    BROADER: ("tag",),
    "drug line": ("drug form", "salt"),
}


def rules_behind(step: Step) -> list[str]:
    """Return the ids of the rules that made a step, by the words that they take or give.

    >>> rules_behind(Step("usual reading", "HTN", "hypertension"))
    ['readings.HTN']
    """
    if step.name == WORDING:
        return [rule.id for rule, others in rephrased(step.before) if step.after in others]
    rules = (rule for kind in _BEHIND.get(step.name, ()) for rule in current().of_kind(kind))
    return [rule.id for rule in rules if _made(rule, step)]


def _made(rule: Rule, step: Step) -> bool:
    """Tell whether a step has a rule's words before it and not behind, or its meaning behind."""
    before, form = step.before, rule.form
    if "(" not in form and "*" not in form and form.casefold() not in before.casefold():
        return False
    case = "" if rule.kind in ("reading", "one of several") else "(?i)"
    words = re.compile(rf"{case}(?<!\w)(?:{phrase_expression(form)})(?!\w)")
    if words.search(before) is None or words.search(step.after) is not None:
        return False
    return rule.kind in ("cue", "lead-in", "tag", "drug form", "salt") or rule.means in step.after
