"""Compile a regular expression when it is first used: the first rating of a process pays for few of them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class LazyPattern:
    """As `re.compile(text, flags)`; methods of the compiled pattern become attributes at the first use of one."""

    def __init__(self, text: str | bytes, flags: int = 0) -> None:
        self._source: tuple[Any, int] = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for method in ("search", "match", "fullmatch", "sub", "split", "finditer", "findall", "pattern"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazily(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A `LazyPattern`, typed as the pattern that it becomes."""
    return cast("re.Pattern[AnyStr]", LazyPattern(text, flags))
