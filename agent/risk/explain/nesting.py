"""Find what a program runs in turn: commands that stand in its own words, and texts that it reads as shell code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.explain.layout import Part
from agent.risk.explain.shell import Frame, sequence
from agent.risk.reader.cursor import BudgetError
from agent.risk.reader.syntax import Parser
from agent.risk.tables.store import table_name

if TYPE_CHECKING:
    from agent.risk.explain.programs import Explainer

MAX_SCRIPT = 20_000  # characters of a text that are read
_UNKNOWN = "…"
_RUNS = {
    "sudo": "as another user:", "doas": "as another user:",
    "pkexec": "as another user:", "run0": "as another user:",
    "xargs": "with what comes in as words:", "parallel": "once for each item:",
    "find": "for what it finds:", "fd": "for what it finds:", "watch": "again and again:",
    "env": "in this environment:", "timeout": "for this long at most:", "nohup": "and goes on after logout:",
    "nice": "with lower priority:", "time": "and measures:", "ssh": "on the other machine:",
    "docker": "inside the container:", "podman": "inside the container:", "kubectl": "inside the container:",
}  # fmt: skip


def running(program: str, parts: list[Part], otherwise: str = "", *, guess: bool = False) -> Part:
    """Tell what `program` runs and how, or `otherwise` where there is nothing special to say about this wrapper.

    `guess`: it may not do so at all.
    """
    if guess:
        return Part(text="may run:", parts=parts)
    meaning = _RUNS.get(table_name(program.rpartition("/")[2]), otherwise)
    return Part(text="runs" if meaning else "runs:", meaning=meaning, parts=parts)


def all_below(explainer: Explainer, index: int) -> set[int]:
    """All programs that `index` starts, directly or not."""
    found: set[int] = set()
    queue = [index]
    while queue:
        for child in explainer.children.get(queue.pop(), []):
            if child not in found:
                found.add(child)
                queue.append(child)
    return found


def wrapped_programs(explainer: Explainer, index: int) -> tuple[list[tuple[int, int]], set[int]]:
    """Programs that stand in the words of `index`: each with the position of its name; and all positions they take."""
    outer = explainer.programs[index]
    words = outer.words
    found: list[tuple[int, int]] = []
    taken: set[int] = set()
    begin = 1
    for child in explainer.children.get(index, []):
        run = explainer.programs[child]
        if child in explainer.used or run.span != outer.span or "stdin" in run.via[len(outer.via) :]:
            continue
        start = next((at for at in range(begin, len(words)) if words[at] == run.words[0]), -1)
        if start < 0 or (len(run.words) > 1 and start + 1 == len(words) and run.words[1] != _UNKNOWN):
            continue
        end = start
        while end < len(words) and end - start < len(run.words) and _same(words[end], run.words[end - start]):
            end += 1
        found.append((child, start))
        taken.update(range(start, end))
        begin = end
    return found, taken


def _same(outer: str, inner: str) -> bool:
    """Tell whether a wrapper's word became this word: itself, or with an item put in."""
    return outer == inner or "{" in outer or _UNKNOWN in inner


def script_parts(explainer: Explainer, index: int, frame: Frame | None, given: list[str]) -> list[Part]:
    """Programs that `index` starts and that do not stand in its words: the text that they come from, as a tree.

    `given`: what it has as standard input, as far as that is known.
    """
    rest = [child for child in explainer.children.get(index, []) if child not in explainer.used]
    if not rest:
        return []
    parts: list[Part] = []
    run = explainer.programs[index]
    for text in [*run.words[1:], *given]:
        if not any(_name(explainer, child) in text for child in rest):
            continue
        body = _script(explainer, text[:MAX_SCRIPT], index, frame)
        if body:
            parts.append(running(run.words[0], body, "this as shell commands:"))
        rest = [child for child in rest if child not in explainer.used]
        if not rest:
            return parts
    left = [part for child in rest if child not in explainer.used for part in explainer.program(child, [], [])]
    once = [part for at, part in enumerate(left) if part not in left[:at]]  # the same in two ways is told once
    return [*parts, Part(text="runs as well:" if parts else "runs:", parts=once)]


def _name(explainer: Explainer, index: int) -> str:
    words = explainer.programs[index].words
    return words[0].rpartition("/")[2] if words else ""


def _script(explainer: Explainer, text: str, index: int, frame: Frame | None) -> list[Part]:
    """The parts of a text, nothing where it starts none of the programs."""
    run = explainer.programs[index]
    shift = None
    if frame is not None and frame.shift is not None:
        found = explainer.report.command.find(text, run.span[0], run.span[1])
        shift = found if found >= 0 else None
    before = len(explainer.used)
    try:
        body = sequence(explainer, Parser(text).parse(), Frame(text, shift, index, run.span))
    except BudgetError:
        return []
    return body if len(explainer.used) > before else []
