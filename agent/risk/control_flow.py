"""Pipelines, branches and loops: what may run, with what as its input, and in which state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.endless import judge_loop
from agent.risk.invocation import Output
from agent.risk.read_back import ReadBack
from agent.risk.state import Value
from agent.risk.tree import Branch, Case, Loop, Pipeline, Simple
from agent.risk.words import UNKNOWN, bounded, join_taint

if TYPE_CHECKING:
    from agent.risk.walk import Walker


def pipeline(walker: Walker, node: Pipeline, stdin: Output | None) -> Output:
    flow = stdin
    last = len(node.commands) - 1
    walker.parallel += last > 0
    joined = ReadBack()
    for command in node.commands:
        walker.joined = joined if isinstance(command, Simple) else None
        if last and not isinstance(command, Simple):
            saved = walker.state
            walker.work.spend(len(saved.variables) / 16)
            walker.state = walker.expander.state = saved.copy()
            flow = walker.node(command, flow)
            if walker.state.functions:  # what is only defined here may be called in ways that are not seen
                walker.finish()
            walker.state = walker.expander.state = saved
        else:
            flow = walker.node(command, flow)
    walker.parallel -= last > 0
    return flow or ("", "")


def branch(walker: Walker, node: Branch, stdin: Output | None) -> Output:
    for index, (condition, body) in enumerate(node.arms):
        if condition is not None:
            walker.state.maybe += index > 0
            walker.sequence(condition, stdin)
            walker.state.maybe -= index > 0
        walker.state.maybe += 1
        walker.sequence(body, stdin)
        walker.state.maybe -= 1
    return None, ""


def loop(walker: Walker, node: Loop, stdin: Output | None) -> Output:
    if node.parts:
        walker.expander.place = walker.place(node.start, node.end)
        walker.expander.join(node.parts)
    conditions: list[str] = []
    if node.condition is not None:
        before = len(walker.programs.met)
        walker.sequence(node.condition, stdin)
        conditions = [invocation.words[0].text for invocation, _ in walker.programs.met[before:]]
    judge_loop(walker, node, conditions)
    if node.name:
        if node.values is None:
            value = Value([UNKNOWN], "var")
        else:
            words = [
                word
                for item in node.values
                for word in walker.expander.fields(item, walker.place(item.start, item.end))
            ]
            taint = ""
            for word in words:
                taint = join_taint(taint, "glob" if word.glob else word.taint)
            value = Value(bounded(list(dict.fromkeys(word.text for word in words))) or [UNKNOWN], taint)
        walker.state.variables[node.name] = value
    walker.state.maybe += 1
    _, taint = walker.sequence(node.body, stdin)
    walker.state.maybe -= 1
    return None, taint


def case(walker: Walker, node: Case, stdin: Output | None) -> Output:
    walker.expander.text(node.subject, walker.place(node.subject.start, node.subject.end))
    walker.state.maybe += 1
    for patterns, body in node.arms:
        for pattern in patterns:
            walker.expander.text(pattern, walker.place(pattern.start, pattern.end))
        walker.sequence(body, stdin)
    walker.state.maybe -= 1
    return None, ""
