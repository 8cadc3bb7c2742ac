"""Remember the names under which what comes from elsewhere lies here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.paths.absolute import absolute
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

FAR = LazyPattern(r"://|^[\w.-]+@[\w.-]+:|^[\w-]+(?:\.[\w-]+)*:(?!:)|^//")
_MOST = 16


def keep_named(walker: Walker, texts: list[str], cwd: str) -> None:
    """Remember each path in `texts`, the names at the end of addresses, and those names in each folder that is named."""
    far = [text for text in texts if FAR.search(text)]
    near = [text for text in texts if not FAR.search(text)][:_MOST]
    bases = {re.split(r"[?#]", text)[0].rstrip("/").rpartition("/")[2].rpartition(":")[2] for text in far[:_MOST]}
    bases |= {text.rstrip("/").rpartition("/")[2] for text in near}
    names = [base for base in bases if base not in ("", ".", "..")][:_MOST]
    home = walker.rater.scopes.home
    walker.downloads |= {absolute(base, cwd) for base in names}
    for text in near:
        place = absolute(text, cwd)
        walker.downloads |= {place, *(f"{place.rstrip('/')}/{base}" for base in names)}
        if (
            place not in ("/", home)
            and not walker.rater.scopes.is_temp(place)
            and not f"{cwd}/".startswith(f"{place}/")
        ):
            walker.downloads.add(f"{place}/")
