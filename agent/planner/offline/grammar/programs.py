"""Which programs a composed command needs besides those that every system has."""

from __future__ import annotations

import re

_SELDOM = re.compile(
    r"(?:\A|\| |-exec |; )(xxd|zip|rev|shuf|tac|bzip2|xz|tree|curl|jq|fold|unexpand|expand|zcat|nl)(?= |\Z)"
)


def programs(command: str) -> list[str]:
    """The programs of a command that may be missing."""
    return list(dict.fromkeys(_SELDOM.findall(command)))
