"""Follow the folders that a command may run in: behind a way that may not have been gone, and a `cd` that fails or has several values.

The worst of them counts. Facts tell which folders are there, so that a `cd` goes to them for certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from agent.risk.paths.absolute import absolute
from agent.risk.reader.tree import Group, Node, Pipeline, Simple
from agent.risk.reader.words import UNKNOWN, Invocation
from agent.risk.tables.store import may_be_command

if TYPE_CHECKING:
    from agent.risk.shell.state import State
    from agent.risk.shell.walk import Walker

_Judged = TypeVar("_Judged")
_MOST = 8
_GO = frozenset(("cd", "pushd", "popd"))
_LEAVE = frozenset(("exit", "return", "break", "continue", "exec"))


def of(state: State) -> tuple[str, ...]:
    """Return all of them, the likeliest first."""
    return (state.cwd, *state.elsewhere)


def be_in(state: State, folders: Iterable[str]) -> None:
    """Say where the next command may run; of more than can be followed any may be it."""
    state.cwd, *others = dict.fromkeys(folders)
    state.elsewhere = tuple(others) if len(others) <= _MOST else (*others[:_MOST], UNKNOWN)


def step(state: State, joiner: str, before: Node | None) -> None:
    """Go on behind `joiner` and the command before it, which may have failed to go elsewhere."""
    if (state.stayed or state.elsewhere) and (joiner != "&&" or before is None or _first_word(before) not in _GO):
        be_in(state, (*of(state), *state.stayed))
    state.stayed = ()


def everywhere(walker: Walker, act: Callable[[], _Judged]) -> _Judged:
    """Judge a command in each folder: the likeliest is told in full, of the others only what is worse or new."""
    state = walker.state
    if not state.elsewhere:
        return act()
    here, *others = of(state)
    variables, stack, before = state.variables, state.stack, len(walker.findings)
    ends: list[str] = []
    for folder in others:
        walker.work.spend(len(variables) / 8)
        state.cwd, state.elsewhere, state.variables, state.stack = folder, (), dict(variables), stack
        act()
        ends += of(state)
    middle = len(walker.findings)
    state.cwd, state.elsewhere, state.variables, state.stack = here, (), variables, stack
    output = act()
    if state.stack != stack:  # from which of them it went
        state.stack = tuple(UNKNOWN for _ in state.stack)
    be_in(state, (*of(state), *ends))
    keep_worse(walker, before, middle)
    return output


def keep_worse(walker: Walker, start: int, end: int) -> None:
    """Keep of some findings those that are worse than all behind them, or of a rule that is not among those."""
    told = walker.findings[end:]
    worst = max((finding.level.rank for finding in told), default=0)
    rules = {finding.rule for finding in told}
    walker.findings[start:end] = [
        finding
        for finding in walker.findings[start:end]
        if finding.level.rank > worst or (finding.level.rank and finding.rule not in rules)
    ]


_FEWEST = 4  # program, option, folder, what it runs
_OPTIONS = frozenset(
    ("--chdir", "--cd", "--wd", "--workdir", "--working-directory", "--directory", "--cwd", "--chroot")
)
_BEGIN = frozenset(option[:3] for option in _OPTIONS)
_LETTERS = {
    "env": ("-C",), "sudo": ("-D", "-R"), "git": ("-C",), "make": ("-C",), "gmake": ("-C",), "ninja": ("-C",), "pnpm": ("-C",),
    "poetry": ("-C",), "tmux": ("-c",), "daemonize": ("-c",), "start-stop-daemon": ("-d",), "just": ("-d",),
}  # fmt: skip


def enter(invocation: Invocation, name: str) -> None:
    """Set in which folder a program runs what it is given, where an option says so: `env -C /`, `systemd-run --working-directory=/`."""
    if len(invocation.words) < _FEWEST:
        return
    letters = _LETTERS.get(name, ())
    if not letters and not any([word.text[:3] in _BEGIN for word in invocation.words]):  # noqa: C419 - quicker than a generator
        return
    for word, following in pairwise([*invocation.words[1:], invocation.words[0]]):
        if word.text != "run" and may_be_command(word):  # what stands behind is its own
            return
        option, equals, value = word.text.partition("=")
        if option in _OPTIONS or word.text in letters:
            folder = value if equals else following.text
            invocation.inside = absolute(folder, invocation.cwd) if UNKNOWN not in folder + invocation.cwd else UNKNOWN
            return
        if word.text[:1] == "-" and word.text[:2] in letters:
            invocation.inside = (
                absolute(word.text[2:], invocation.cwd) if UNKNOWN not in word.text + invocation.cwd else UNKNOWN
            )
            return


def leaves(node: Node) -> bool:
    """Tell whether nothing of this list runs behind a command: `exit`, or a group that ends so."""
    while isinstance(node, Group) and not node.subshell and node.body.items:
        node = node.body.items[-1][1]
    return _first_word(node) in _LEAVE


def _first_word(node: Node) -> str | None:
    while isinstance(node, Pipeline) and len(node.commands) == 1 and not node.negated:
        node = node.commands[0]
    return node.words[0].literal() if isinstance(node, Simple) and node.words else None
