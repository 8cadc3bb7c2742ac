"""Functions and aliases that the command itself defines: a use of one is judged by its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.reader.invocation import Invocation, Output
from agent.risk.reader.tree import Function
from agent.risk.shell import builtins as shell_builtins
from agent.risk.shell.judge import judge
from agent.risk.shell.state import ProgramFile
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

MAX_CALLS = 8


def dispatch_here(walker: Walker, invocation: Invocation, *, direct: bool) -> Output:
    """As `dispatch`, knowing only what this command itself defines."""
    name = invocation.words[0].text
    state = walker.state
    if direct and (state.functions or state.aliases):
        function = state.functions.get(name)
        alias = state.aliases.get(name)
        if isinstance(function, Function):
            output = call(walker, name, function, invocation)
        elif alias is not None and name not in walker.calls and _expands(alias, invocation):
            output = expand_alias(walker, name, alias, invocation)
        else:
            return judge(walker, invocation)
        if find_program(name) is not None and len(walker.calls) < MAX_CALLS:
            judge(walker, invocation)
        return output
    return judge(walker, invocation)


def _expands(alias: str, invocation: Invocation) -> bool:
    return not invocation.words[0].quoted or isinstance(alias, ProgramFile)


def expand_alias(walker: Walker, name: str, alias: str, invocation: Invocation) -> Output:
    walker.calls.append(name)
    rest = " ".join(shell_builtins.quote(word.text) for word in invocation.words[1:])
    output = walker.script(f"{alias} {rest}", invocation.place, invocation, invocation.stdin, same_shell=True)
    walker.calls.pop()
    return output


def call(walker: Walker, name: str, function: Function, invocation: Invocation) -> Output:
    """Walk a function's body with its arguments; not again from inside itself."""
    walker.called.add(name)
    if function in walker.active:
        started = walker.side_by_side[walker.active.index(function)]
        if walker.parallel > started:  # it goes on beside the copy of itself that it starts
            walker.add("fork-bomb", [], invocation.place, rule="fork-bomb.function")
        return None, ""
    if len(walker.calls) > MAX_CALLS:
        return None, ""
    saved, outer = walker.state.positional, walker.outer
    if invocation.environment:
        walker.outer = invocation
    walker.state.positional = invocation.words[1:]
    walker.calls.append(name)
    walker.active.append(function)
    walker.side_by_side.append(walker.parallel)
    try:
        return walker.node(function.body, invocation.stdin)
    finally:
        walker.active.pop()
        walker.side_by_side.pop()
        walker.calls.pop()
        walker.state.positional, walker.outer = saved, outer
