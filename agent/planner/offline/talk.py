"""Small talk and help: replies that need no command."""

from __future__ import annotations

import re

from agent.planner.offline.recipe_files import read_toml

HELP_TEXT = """Type a goal in plain words; I turn it into a command, without a model. For example:
  - find the 5 largest files under this folder
  - files larger than 10 MB changed in the last week in ~/Downloads
  - delete all .tmp files older than 7 days
  - replace 'foo' with 'bar' in notes.txt
  - find all python files containing TODO except in node_modules
  - unpack foo.tar.gz into /tmp/x
  - what is listening on port 8080
  - show the git log

Filters combine: type, name, size, age, owner, content, folder, "except in ...". docs/recipes.md lists everything.
For anything else, configure a model: `agent-shell doctor` tells how. `:help` lists the commands of the prompt."""

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
        self._outcomes: dict[str, str] = data["outcomes"]

    def answer(self, text: str) -> str | None:
        """Answer a greeting, a plea for help, thanks; None if the text is something else."""
        plain = re.sub(r"[\s]+", " ", re.sub(r"[!.,;:]+|(?<=\w)\?+", " ", text)).strip().lower()
        if not plain or len(plain) > 60:
            return None
        for pattern, says in self._talks:
            if re.fullmatch(pattern, plain):
                return HELP_TEXT if says == "help" else says
        return None

    @staticmethod
    def asks_why(text: str) -> bool:
        """Tell whether the goal is a question about something that failed."""
        return bool(_WHY.search(text[:300]))

    def outcome(self, outcome: str) -> str:
        """Say something about a command that was not run."""
        return self._outcomes.get(outcome, "nothing was run")
