"""Text of strangers inside Markdown (GitHub's kind): it stays text, and cannot get out of where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.emitters.paint import safe

# What begins a construct anywhere in a line: emphasis, code, links, images, HTML, tables, mentions, references, addresses, math.
_ACTING = re.compile(r"[\\`*_\[\]<>|~&#@:$!]|(?<=[wW]{3})\.")
_LONGEST = 300


def inline(text: str, limit: int = _LONGEST) -> str:
    """`text` on one line, with everything escaped that Markdown or a terminal would act on. Not for the beginning of a line."""
    line = safe(" ".join(text[: limit * 4].split()))
    line = line if len(line) <= limit else line[: limit - 1] + "…"
    return _ACTING.sub(lambda match: "\\" + match[0], line)


def code(text: str, limit: int = _LONGEST) -> str:
    """`text` on one line as a code span, also in a cell of a table."""
    line = safe(text[: limit * 2]).replace("\n", "␊").replace("\t", "␉")
    line = (line if len(line) <= limit else line[: limit - 1] + "…").replace("|", "\\|")
    if not line.strip():
        return "` `" if line else ""
    ticks = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith(("`", " ")) or line.endswith(("`", " ")) else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def block(text: str, language: str = "text") -> str:
    """`text` (safe already) in a fence that it cannot close."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}\n"


def table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; cells must be `inline` or `code`."""
    names = list(heading)
    lines = [_row(names), _row("---" for _ in names), *(_row(cells) for cells in rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
