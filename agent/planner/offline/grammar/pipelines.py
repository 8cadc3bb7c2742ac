"""Write steps on lines as the commands of one pipeline: neighbours that one command can do are put together."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.intent import Stage
from agent.planner.offline.grammar.linewords import line_command, with_letters

# What is in these is not lines.
_PACKED = re.compile(
    r"(?i)\.(tar|tgz|tbz2?|txz|zip|gz|bz2|xz|7z|rar|png|jpe?g|gif|pdf|mp[34]|bin|img|iso|docx?|xlsx?|db|sqlite)\Z"
)


def merged(stages: tuple[Stage, ...]) -> list[str]:
    """The commands of a pipeline, with neighbours that one command can do put together."""
    out: list[str] = []
    at = 0
    while at < len(stages):
        stage, then = stages[at], stages[at + 1] if at + 1 < len(stages) else None
        if (
            stage.op in ("match", "anchored", "regex")
            and then is not None
            and then.op == "count"
            and then.args == ("l",)
        ):
            letters = stage.args[0]
            if "o" not in letters:
                out.append(line_command(Stage(op=stage.op, args=(with_letters(letters, "c"), *stage.args[1:]))))
                at += 2
                continue
        if stage.op == "occurrences":
            out += [line_command(stage), "wc -l"]
        elif stage.op == "regex_o":
            out.append(f"grep -oE {shlex.quote(stage.args[0])}")
        else:
            out.append(line_command(stage))
        at += 1
    return out
