"""Small talk and help: replies that need no command."""

from __future__ import annotations

import re

from agent.planner.offline.recipe_files import read_toml

_WHY = re.compile(
    r"(?i)\b(why (does|did|do|is|are|was|has|would)|what(?:'s| is| went| does)? (this |the )?(wrong|error|failure|fail|problem|mean)|"
    r"explain (this|the|these)|what does (this|it|that) mean|how (do|can|could|should) i fix (this|it|that)|fix (this|it)|"
    r"what (happened|failed))\b"
)


class Talk:
    """The table of talk.toml."""

    def __init__(self) -> None:
        data = read_toml("talk.toml")
        self._talks = [(entry["when"], entry["says"]) for entry in data["talk"]]
        self._help: str = data["help"]

    def answer(self, text: str) -> str | None:
        """Answer a greeting, a plea for help, thanks; None if the text is something else."""
        plain = re.sub(r"[\s]+", " ", re.sub(r"[!.,;:]+|(?<=\w)\?+", " ", text)).strip().lower()
        if not plain or len(plain) > 60:
            return None
        for pattern, says in self._talks:
            if re.fullmatch(pattern, plain):
                return self._help if says == "help" else says
        return None

    @staticmethod
    def asks_why(text: str) -> bool:
        """Tell whether the goal is a question about something that failed."""
        return bool(_WHY.search(text[:300]))
