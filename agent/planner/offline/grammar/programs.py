"""List the programs a composed command needs besides those that every system has."""

from __future__ import annotations

import re

_SELDOM = re.compile(
    r"(?:\A|\| |-exec |; )(xxd|zip|rev|shuf|tac|bzip2|xz|tree|curl|jq|fold|unexpand|expand|zcat|nl)(?= |\Z)"
)


def programs(command: str) -> list[str]:
    """The programs of a command that may be missing."""
    return list(dict.fromkeys(_SELDOM.findall(command)))


# What only GNU's program of that name knows, of what is composed.
_GNU_ONLY = (
    ("find", r"\bfind\b[^|]*-(?:printf|newermt|regextype|readable|writable|samefile|lname)\b"),
    ("grep", r"\bgrep (?:-\S+ )*(?:-\w*P|--\w)"),
    ("sort", r"\bsort (?:-\S+ )*-\w*h"),
    ("date", r"\bdate (?:-\S+ )*-d '?[^\d@'\"]"),
    ("tar", r"\btar\b.* --null\b"),
    ("cut", r"\bcut\b[^|]* --\w"),
    ("ps", r"\bps\b[^|]* --\w"),
    ("ls", r"\bls\b[^|]* --\w"),
    ("du", r"\bdu\b[^|]* --\w"),
    ("cp", r"\bcp\b[^|]* --\w"),
    ("ln", r"\bln (?:-\S+ )*-\w*r"),
    ("mv", r"\bmv\b[^|]* --\w"),
    ("chmod", r"\bch(?:mod|own)\b[^|]* --reference"),
)


def only_gnu(command: str) -> list[str]:
    """The programs of a command that have to be GNU's for it."""
    return [program for program, pattern in _GNU_ONLY if re.search(pattern, command)]
