"""Explain shell syntax: lists, pipelines, compound commands; programs are left to `programs`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.risk.explain.layout import Part, one_line
from agent.risk.reader.tree import Branch, Case, Function, Group, Loop, Node, Pipeline, Sequence, Simple, Test, WordNode
from agent.risk.reader.tree import Part as WordPart

if TYPE_CHECKING:
    from agent.risk.explain.programs import Explainer

_TIME = re.compile(r"(?:^|[\s;&|(])time(?:\s+-p)?\s+$")
_HEAD = 80
_MAX_WORD_NESTING = 30


class Frame(Struct):
    """A text that is read as shell, and who runs it. `shift`: its offset in the whole command, None where it has none."""

    text: str
    shift: int | None
    parent: int
    place: tuple[int, int]

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        return None if self.shift is None else (start + self.shift, end + self.shift)

    def written(self, start: int, end: int, limit: int = _HEAD) -> str:
        return one_line(self.text[start:end].strip(), limit)


def sequence(explainer: Explainer, node: Sequence, frame: Frame) -> list[Part]:
    """Commands one after another, with what joins them."""
    parts: list[Part] = []
    end = node.start
    for joiner, command, background in node.items:
        if parts and explainer.budget.left <= 0:
            explainer.budget.left_out += 1
            continue
        gap = frame.text[end : command.start]
        if joiner == "&&":
            parts.append(Part(text="&&", meaning="then, only if that worked:"))
        elif joiner == "||":
            parts.append(Part(text="||", meaning="or, if that failed:"))
        elif parts and ";" in gap.partition("\n")[0]:
            parts.append(Part(text=";", meaning="and then:"))
        if _TIME.search(frame.text[: command.start][-20:]):
            parts.append(Part(text="time", meaning="measures how long it takes:"))
        parts.extend(command_parts(explainer, command, frame))
        if background:
            parts.append(Part(text="&", meaning="the shell does not wait for it"))
        end = command.end
    return parts


def command_parts(explainer: Explainer, node: Node, frame: Frame) -> list[Part]:
    """One command of any kind."""
    if not explainer.budget.take():
        return []
    explainer.budget.depth += 1
    try:
        if isinstance(node, Simple):
            return explainer.simple(node, frame)
        if isinstance(node, Pipeline):
            return _pipeline(explainer, node, frame)
        parts = _compound(explainer, node, frame)
        for redirect in node.redirects:
            parts.append(explainer.redirect(redirect, frame))
        return parts
    finally:
        explainer.budget.depth -= 1


def _pipeline(explainer: Explainer, node: Pipeline, frame: Frame) -> list[Part]:
    parts: list[Part] = []
    if node.negated:
        parts.append(Part(text="!", meaning="success counts as failure, and failure as success:"))
    end = node.start
    for index, command in enumerate(node.commands):
        if index:
            both = "|&" in frame.text[end : command.start]
            what = "what it prints, and its error messages, go into:" if both else "what it prints goes into:"
            parts.append(Part(text="|&" if both else "|", meaning=what))
        parts.extend(command_parts(explainer, command, frame))
        end = command.end
    return parts


def _compound(explainer: Explainer, node: Node, frame: Frame) -> list[Part]:
    span = frame.span(node.start, node.end)
    if isinstance(node, Group):
        return [_group(explainer, node, frame, span)]
    if isinstance(node, Branch):
        return _branch(explainer, node, frame)
    if isinstance(node, Loop):
        return _loop(explainer, node, frame)
    if isinstance(node, Case):
        return [_case(explainer, node, frame, span)]
    if isinstance(node, Function):
        explainer.functions.add(node.name)
        body = command_parts(explainer, node.body, frame)
        name = one_line(node.name, 40)
        return [
            Part(
                text=f"{name}()",
                meaning=f"makes the function {name}, which does this when called:",
                span=span,
                parts=body,
            )
        ]
    if isinstance(node, Test):
        text = frame.written(node.start, node.end)
        meaning = "calculates" if text.startswith("((") else "tests a condition; changes nothing"
        return [Part(text=text, meaning=meaning, span=span, parts=substitutions(explainer, node.parts, frame))]
    return []


def _group(explainer: Explainer, node: Group, frame: Frame, span: tuple[int, int] | None) -> Part:
    body = sequence(explainer, node.body, frame)
    if frame.text.startswith("coproc", node.start):
        return Part(text="coproc", meaning="runs this beside the shell, connected by pipes:", span=span, parts=body)
    if node.subshell:
        return Part(
            text="( … )",
            meaning="in a shell of its own, whose folder and variables end with it:",
            span=span,
            parts=body,
        )
    return Part(text="{ … }", meaning="together:", span=span, parts=body)


def _branch(explainer: Explainer, node: Branch, frame: Frame) -> list[Part]:
    parts: list[Part] = []
    for index, (condition, body) in enumerate(node.arms):
        if condition is None:
            parts.append(Part(text="else", meaning="otherwise:", parts=sequence(explainer, body, frame)))
            continue
        text, meaning = ("elif", "otherwise, if this works:") if index else ("if", "if this works:")
        parts.append(Part(text=text, meaning=meaning, parts=sequence(explainer, condition, frame)))
        parts.append(Part(text="then", meaning="do this:", parts=sequence(explainer, body, frame)))
    return parts


def _loop(explainer: Explainer, node: Loop, frame: Frame) -> list[Part]:
    if node.condition is not None:
        until = frame.text.startswith("until", node.start)
        condition = sequence(explainer, node.condition, frame)
        body = sequence(explainer, node.body, frame)
        if until:
            return [
                Part(text="until", meaning="again and again, until this works:", parts=condition),
                Part(text="do", meaning="do this:", parts=body),
            ]
        return [
            Part(text="while", meaning="as long as this works:", parts=condition),
            Part(text="do", meaning="do this:", parts=body),
        ]
    span = frame.span(node.start, node.end)
    select = frame.text.startswith("select", node.start)
    if node.name:
        values = node.values
        shown = " ".join(frame.written(word.start, word.end, 40) for word in (values or [])[:8])
        more = " …" if values and len(values) > 8 else ""
        name = one_line(node.name, 30)
        text = f"{'select' if select else 'for'} {name}" + (f" in {shown}{more}" if values is not None else "")
        each = "for each of these" if values is not None else "for each argument"
        meaning = f"asks for one of these, as ${name}:" if select else f"{each}, as ${name}:"
        head = [part for word in values or [] for part in substitutions(explainer, word.parts, frame)]
    else:
        text, meaning = "for (( … ))", "again and again, counting:"
        head = substitutions(explainer, node.parts, frame)
    return [Part(text=text, meaning=meaning, span=span, parts=[*head, *sequence(explainer, node.body, frame)])]


def _case(explainer: Explainer, node: Case, frame: Frame, span: tuple[int, int] | None) -> Part:
    subject = frame.written(node.subject.start, node.subject.end, 40)
    arms = substitutions(explainer, node.subject.parts, frame)
    for patterns, body in node.arms:
        if explainer.budget.left <= 0:
            explainer.budget.left_out += 1
            continue
        shown = "|".join(frame.written(word.start, word.end, 30) for word in patterns[:6])
        meaning = "in every other case:" if shown == "*" else "if it looks like this:"
        arms.append(Part(text=f"{shown})", meaning=meaning, parts=sequence(explainer, body, frame)))
    return Part(text=f"case {subject}", meaning=f"looks at what {subject} is:", span=span, parts=arms)


def substitutions(explainer: Explainer, parts: list[WordPart], frame: Frame, depth: int = 0) -> list[Part]:
    """Commands inside words: `$( … )`, backticks, `<( … )`, also inside `${x:-…}` and arithmetic."""
    found: list[Part] = []
    if depth > _MAX_WORD_NESTING:
        return found
    for part in parts:
        kind = part[0]
        if kind == "cmd":
            found.append(_nested(explainer, part[1], frame, "$( … )", "is replaced by what this prints:"))
        elif kind == "proc":
            way = "<( … )" if part[2] == "<" else ">( … )"
            meaning = (
                "a file name from which this output is read:"
                if part[2] == "<"
                else "a file name whose content goes into:"
            )
            found.append(_nested(explainer, part[1], frame, way, meaning))
        elif kind == "var" and part[3]:
            found.extend(substitutions(explainer, part[3], frame, depth + 1))
        elif kind == "arith":
            found.extend(substitutions(explainer, part[1], frame, depth + 1))
        elif kind == "assign":
            for word in part[1].values:
                found.extend(substitutions(explainer, word.parts, frame, depth + 1))
    return found


def _nested(explainer: Explainer, body: Sequence, frame: Frame, text: str, meaning: str) -> Part:
    explainer.budget.depth += 1
    try:
        return Part(text=text, meaning=meaning, parts=sequence(explainer, body, frame))
    finally:
        explainer.budget.depth -= 1


def literal(word: WordNode) -> str:
    """The word's text as far as it stands there, `…` for the rest."""
    return "".join(str(part[1]) if part[0] == "lit" else "…" for part in word.parts)
