"""Why a test may be skipped: what a plain development install need not have.

A skip for another reason fails the run, for it is a test that nobody runs any more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

ALLOWED: dict[str, str] = {
    # What `make clients` installs: a gigabyte.
    r"needs OpenRefine": "OpenRefine",
    r"no Chromium is installed": "Chromium",
    r"needs ray": "Ray, of 190 MB",
    r"needs pyspark|Spark needs Java": "PySpark, of 480 MB, and Java",
    r"needs the package sssom": "sssom, with sixty packages of which one changes pytest",
    r"needs [\w-]+(, [\w-]+)*$|: needs [\w-]+|is not installed": "an optional package",
    # What only some machines have.
    r"PostgreSQL is not installed": "PostgreSQL",
    r"this machine has (no|a) GPU": "the other kind of machine",
    r"needs the real corpora": "data that may not be passed on",
    r"needs the schemas of the Reconciliation API": "files beside the repository",
    r"these settings choose no other kernels": "a processor with other kernels",
    r"needs /dev/full|needs a POSIX shell|this system has no fork": "a POSIX system",
    r"could not import '(resource|fcntl)'": "a POSIX system",
    r"not a git checkout": "a checkout",
    # Cases of a contract that do not apply.
    r"the front door may name any part": "two modules without a layer",
}
"""Reasons, as regular expressions, and what is missing."""


def missing(reason: str) -> str | None:
    """Return what is missing where a test was skipped for a reason, None for one not allowed."""
    return next((what for pattern, what in ALLOWED.items() if re.search(pattern, reason)), None)


def counted(reasons: Iterable[str]) -> tuple[Counter[str], list[str]]:
    """Count skipped tests by what is missing, and list the reasons that are not allowed."""
    counts: Counter[str] = Counter()
    others: list[str] = []
    for reason in reasons:
        what = missing(reason)
        if what is None:
            others.append(reason)
        else:
            counts[what] += 1
    return counts, others
