"""Make text fit to stand in a prompt: that of others cleaned, and fenced by a mark it cannot forge; ours read; all cut to the context."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

from agent.text.lazy_pattern import lazily
from agent.text.visible import well_formed

LOW_WATER = 0.6  # after a cut the history fills this much of its budget, so that the next cut is some turns away
HEAD_SHARE = 0.4  # of a text that must be cut; its end, where errors stand, gets the rest


def weight(text: str) -> float:
    """Estimated tokens: four ASCII characters a token, two UTF-8 bytes a token for everything else."""
    if text.isascii():
        return len(text) / 4
    other = len(text.encode("utf-8", "replace")) - len(text.encode("ascii", "ignore"))
    return (len(text.encode("ascii", "ignore"))) / 4 + other / 2


def estimate_tokens(text: str) -> int:
    """`weight`, rounded up."""
    return -int(-weight(text) // 1)


def clip(text: str, max_tokens: int) -> str:
    """`text` with its middle left out so that about `max_tokens` remain; says how much is missing. The end is always kept."""
    if weight(text) <= max_tokens:
        return text
    room = max(max_tokens - 12, 4)  # the line that tells of the cut
    lines = text.split("\n")
    head = _take(lines, room * HEAD_SHARE)
    tail = _take(lines[len(head) :][::-1], room * (1 - HEAD_SHARE))[::-1]
    left = lines[len(head) : len(lines) - len(tail)]
    missing = sum(len(line) + 1 for line in left) - 1
    spare_head = room * HEAD_SHARE - _sum(head)
    spare_tail = room * (1 - HEAD_SHARE) - _sum(tail)
    if left and not head:  # one long line fills everything: cut inside it
        head = [_cut(left[0], spare_head)]
        missing -= len(head[0])
    if left and not tail:
        tail = [_cut(left[-1][::-1], spare_tail)[::-1]]
        missing -= len(tail[0])
    count = f"{len(left):,} lines, " if len(left) > 1 else ""
    return "\n".join([*head, f"[… {count}{max(missing, 0):,} characters left out …]", *tail])


def _take(lines: Sequence[str], room: float) -> list[str]:
    taken: list[str] = []
    for line in lines:
        room -= weight(line) + 0.25
        if room < 0:
            break
        taken.append(line)
    return taken


def _sum(lines: Sequence[str]) -> float:
    return sum(weight(line) + 0.25 for line in lines)


def _cut(text: str, room: float) -> str:
    size = int(room * 4)
    while size > 0 and weight(text[:size]) > room:
        size = size * 4 // 5
    return text[: max(size, 0)]


class Sized(NamedTuple):
    """One history item for `window`: what it is, and the tokens of its messages."""

    kind: Literal["goal", "reply", "other"]
    tokens: int


def window(items: Sequence[Sized], budget: int, *, digest_tokens: int) -> int:
    """Index of the first item that is still shown in full; everything before it is condensed.

    A fold over the whole history, so that the same history always gives the same cut and a longer one moves it only when
    the budget is passed (hysteresis: then down to LOW_WATER of it). Cuts lie before goals and replies only, and the last
    turn always stays. A cut inside a goal keeps the goal's own message, which is counted.
    """
    cut = goal_at = 0
    shown = 0
    for at, item in enumerate(items):
        shown += item.tokens
        if item.kind == "goal":
            goal_at = at
        if shown + _fixed(items, cut, goal_at, digest_tokens) <= budget:
            continue
        candidate, rest = cut, shown
        best, best_rest = cut, shown
        while candidate < at:
            rest -= items[candidate].tokens
            candidate += 1
            if items[candidate].kind == "other":
                continue
            best, best_rest = candidate, rest
            if rest + _fixed(items, candidate, goal_at, digest_tokens) <= budget * LOW_WATER:
                break
        cut, shown = best, best_rest
    return cut


def _fixed(items: Sequence[Sized], cut: int, goal_at: int, digest_tokens: int) -> int:
    """Tokens of what stands before the cut's remainder: the digest, and the goal the cut lies in."""
    if cut == 0:
        return 0
    return digest_tokens + (items[goal_at].tokens if cut > goal_at else 0)


_FOLDER = os.path.join(os.path.dirname(__file__), "prompts")


_TERMINAL_SEQUENCE = lazily(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]"
)
_CONTROL = lazily(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_INVISIBLE = lazily(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_TEMPLATE_TOKEN = lazily(
    r"<[|\uff5c][^\s<>]{1,40}[|\uff5c]>|</?s>|<</?SYS>>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>"
    r"|</?(?:think|thinking|tool_call|tool_response|data-[0-9a-f]{12})\b|\[/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]"
    r"|(?m:^\[host\])"
)


@cache
def prompt_text(name: str) -> str:
    """The text of `prompts/NAME.md`, without surrounding newlines."""
    with open(os.path.join(_FOLDER, f"{name}.md"), encoding="utf-8") as file:
        return file.read().strip()


def clean(text: str) -> str:
    """`text` without terminal sequences, with invisible characters made visible and chat-template tokens broken.

    Terminal sequences say nothing to a model; progress lines that overwrite themselves keep their last state; bidi and
    zero-width characters, which hide instructions from people, show as <U+202E>; tokens such as `<|im_start|>`, which some
    servers would take for the start of another message, lose their first character's meaning.
    """
    text = well_formed(text)
    if "\x1b" in text or "\x9b" in text:
        text = _TERMINAL_SEQUENCE.sub("", text)
    if "\r" in text:
        # what a terminal would show of a line that goes back to its beginning
        text = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    if not text.isascii() or _CONTROL.search(text):
        text = _CONTROL.sub("", text)
        text = _INVISIBLE.sub(lambda match: f"<U+{ord(match.group()):04X}>", text)
    if "<" in text or "[" in text:
        text = _TEMPLATE_TOKEN.sub(
            lambda match: ("&lt;" if match.group()[0] == "<" else "&#91;") + match.group()[1:], text
        )
    return text


def one_line(text: str, limit: int = 200) -> str:
    """`text` cleaned, on one line, at most `limit` characters."""
    flat = " ".join(clean(text[: 4 * limit]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def data_block(source: str, text: str) -> str:
    """`text` between marks that carry an id which does not occur in it. Equal input gives equal marks."""
    mark = _mark(source, text)
    shown = one_line(source, 120).replace('"', "'").replace("<", "(").replace(">", ")")
    return f'<data-{mark} source="{shown}">\n{text}\n</data-{mark}>'


def _mark(source: str, text: str) -> str:
    import hashlib

    digest = hashlib.blake2b(f"{source}\0{text}".encode("utf-8", "surrogatepass"), digest_size=6)
    while digest.hexdigest() in text:  # somebody found a text that holds its own mark
        digest.update(b"again")
    return digest.hexdigest()
