"""What the judge that comes with canonym lets the confidence of a link be at least and at most."""

from canonym.linking.judge import shipped_judge

_BOUNDS = {bound.condition: bound for bound in shipped_judge(["default"]).bounds}

CONTRADICTED = _BOUNDS["contradicts"].most
LONE_SLIP = _BOUNDS["lone slip"].most
SAME_WORDS = _BOUNDS["small words alone"].least
UNUSUAL, USUAL = _BOUNDS["unusual"].most, _BOUNDS["usual of several"].most
