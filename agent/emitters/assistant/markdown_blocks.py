"""Cut growing Markdown into blocks that are finished and the one that still grows."""

from __future__ import annotations


def _first_end(text: str) -> int:
    """Where the first block ends, 0 if it may still grow.

    A block is finished by a blank line outside of a code fence, once the next line has begun and is not indented (an indented
    one may belong to a list item above).
    """
    fence = ""
    content = blank_before = False
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        if not fence and content and blank_before and line and not line[0].isspace():
            return at
        fence = _fence_after(line, fence)
        content = content or bool(line.strip())
        blank_before = not fence and not line.strip()
        if end < 0:
            break
        at = end + 1
    return 0


def blocks(text: str) -> list[str]:
    """The text cut into its blocks; joined they are the text again."""
    cut = []
    while at := _first_end(text):
        cut.append(text[:at])
        text = text[at:]
    return [*cut, text] if text else cut


def split_finished(text: str) -> int:
    """How many characters of `text` are blocks that nothing to come can change."""
    return sum(len(block) for block in blocks(text)[:-1])


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after `line`, "" for none."""
    stripped = line.lstrip(" ")
    if len(line) - len(stripped) > 3 and not fence:
        return fence
    mark = stripped[:1]
    if mark not in ("`", "~"):
        return fence
    run = stripped[: len(stripped) - len(stripped.lstrip(mark))]
    if len(run) < 3:
        return fence
    if not fence:
        return "" if mark == "`" and "`" in stripped[len(run) :] else run
    closes = mark == fence[0] and len(run) >= len(fence) and not stripped[len(run) :].strip()
    return "" if closes else fence


def has_markup(text: str) -> bool:
    """Whether Markdown would change how `text` looks; plain sentences need no renderer."""
    if any(mark in text for mark in "`*_#|~[<>\\"):
        return True
    return any(line.lstrip()[:2] in ("- ", "+ ", "--", "==") or _numbered(line) for line in text.split("\n"))


def _numbered(line: str) -> bool:
    head = line.lstrip()[:4]
    return head[:1].isdigit() and ("." in head or ")" in head)
