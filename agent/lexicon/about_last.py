"""Goals that are about the command before them, and mean nothing without it."""

from __future__ import annotations

import re

_THAT = r"(?:it|this|that|the\ (?:last\ )?(?:command|error|failure))"
_ABOUT_LAST = re.compile(
    rf"""(?:(?:so|and|but|ok(?:ay)?,?|please)\ )?(?:
            why | why\ not | why\ (?:did|does|has|is|was)(?:\ not|n't)?\ {_THAT}(?:\ (?:just|not))*(?:\ \w+(?:\ wrong)?)?
          | what(?:'s|\ is|\ was|\ went)\ (?:wrong|the\ (?:error|problem|failure|matter))(?:\ (?:with|there|here|{_THAT}))*
          | what\ (?:happened|failed) | what\ (?:does|did)\ {_THAT}\ mean | explain\ {_THAT} | that\ (?:failed|did\ not\ work|didn't\ work)
          | (?:can\ you\ |could\ you\ )?(?:fix|correct|repair)\ {_THAT} | how\ (?:do|can|could|should)\ i\ (?:fix|correct|repair)\ {_THAT}
        )(?:\ please)?[\s?!.]*""",
    re.IGNORECASE | re.VERBOSE,
)


def asks_about_last(text: str) -> bool:
    """Tell whether a goal is about the command before it and nothing else: "why did that fail", "fix it"."""
    return len(text) <= 80 and _ABOUT_LAST.fullmatch(text.strip()) is not None
