"""Follow words that may be one thing or another (`c=ls; true && c=rm; exec $c …`), and functions and aliases that the command defines."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from agent.risk.reader.tree import Function
from agent.risk.reader.words import MAX_FIELDS, NUMBER, UNKNOWN, Invocation, Output, Word, join_taint
from agent.risk.shell import builtins as shell_builtins
from agent.risk.shell import folders
from agent.risk.shell.judge import judge
from agent.risk.shell.state import ProgramFile
from agent.risk.tables.store import INTERPRETERS, WRAPPERS, may_be_command
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


Choices = list[list[Word]]
"""The values that one written word may have, each the arguments that it becomes."""

_MAX_READINGS = 64
_FEW_READINGS = 4
_RUN_WORDS = frozenset(("eval", "exec", "command", "builtin", "trap", ".", "source", "coproc", "time", "cd", "pushd"))
# Here an argument decides what the ones behind it mean, so that those of two values must not stand side by side.
_CARRIERS = (
    *WRAPPERS,
    *INTERPRETERS,
    "programs.remote_and_later:",
    "programs.containers:",
    "programs.network:behind_options",
)


def readings(words: list[Choices]) -> list[list[Word]]:
    """Every way to read a command that is worth judging; the last has all values of arguments side by side."""
    if {*map(len, words)} == {1}:
        return [[word for choices in words for word in choices[0]]]
    heads, arguments = words[0], words[1:]
    together = [_side_by_side(choices) for choices in arguments]
    joined = [[*head, *itertools.chain.from_iterable(together)] for head in heads]
    count = 1
    for choices in words:
        count *= len(choices)
    # Few are always told apart: side by side, two modes or two places to unpack to mean something else than each alone.
    if count > _FEW_READINGS and not any(_decides(head, arguments) for head in heads):
        return joined
    if count <= _MAX_READINGS:
        apart = [list(itertools.chain.from_iterable(chosen)) for chosen in itertools.product(*words)]
    else:  # each value at least once
        most = max(map(len, words))
        apart = [[w for choices in words for w in choices[index % len(choices)]] for index in range(most)]
    return apart + joined


def judge_readings(walker: Walker, invocation: Invocation, found: list[list[Word]], heads: int) -> Output:
    """Judge each reading: the last `heads` of them are told in full, of the others only what is worse or new."""
    before, start = len(walker.findings), folders.of(walker.state)
    ends: list[str] = []

    def judged(words: list[Word]) -> Output:
        folders.be_in(walker.state, start)
        output = walker.dispatch(invocation.read_as(words), direct=True)
        ends.extend(folders.of(walker.state))
        return output

    outputs = [judged(words) for words in found[:-heads] if words]
    apart, middle = len(ends), len(walker.findings)
    outputs.extend(judged(words) for words in found[-heads:] if words)
    folders.be_in(walker.state, ends[: apart or None] or start)
    if invocation.words[0].text == "set":
        walker.state.positional = None  # one of several lists
    folders.keep_worse(walker, before, middle)
    if not outputs:
        return "", ""
    taint = ""
    for _, one in outputs:
        taint = join_taint(taint, one)
    if all(map(_is_number, outputs)):
        return None, NUMBER
    texts = {text for text, _ in outputs}
    return (texts.pop() if len(texts) == 1 else None), taint


def _is_number(output: Output) -> bool:
    text, taint = output
    return taint == NUMBER or (text is not None and "".join(text.split()).isdigit())


def _side_by_side(choices: Choices) -> list[Word]:
    words = choices[0] if len(choices) == 1 else [word for choice in choices for word in choice]
    return words if len(words) <= MAX_FIELDS else [*words[:MAX_FIELDS], words[0].part(UNKNOWN)]


def _decides(head: list[Word], arguments: list[Choices]) -> bool:
    """Tell whether it matters which of its values an argument has: they are options, sub-commands, programs or code."""
    varying = [choices for choices in arguments if len(choices) > 1]
    if not varying:
        return False
    if not head:
        return True
    name = head[0].text.rpartition("/")[2]
    table = find_program(name)
    if name in _RUN_WORDS or (table is not None and (table.wrap or table.handler.startswith(_CARRIERS))):
        return True
    verbs = (
        {verb for rules in table.cases.values() for rule in rules for verb in rule.verbs} if table is not None else ()
    )
    return any(
        word.text.startswith("-") or word.text in verbs or may_be_command(word)
        for choices in varying
        for choice in choices
        for word in choice[:1]
    )
