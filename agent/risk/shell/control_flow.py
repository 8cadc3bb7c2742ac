"""Follow groups, lists, pipelines, branches and loops: what may run, with what as its input, and in which state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.invocations.shown_secrets import leave_out_counted
from agent.risk.reader.tree import Branch, Case, Function, Group, Loop, Node, Pipeline, Sequence, Simple, Test
from agent.risk.reader.words import NUMBER, UNKNOWN, Output, Target, Word, bounded, join_taint
from agent.risk.shell import folders, streams
from agent.risk.shell.hazards import ReadBack, judge_filling, judge_loop
from agent.risk.shell.simple_commands import simple
from agent.risk.shell.state import Value, either_way

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_MAX_REPEATED = 3  # loops in loops


def command(walker: Walker, node: Node, stdin: Output | None) -> Output:
    """A command of any kind, with its redirections."""
    if isinstance(node, Simple):
        return simple(walker, node, stdin)
    if isinstance(node, Pipeline):
        return pipeline(walker, node, stdin)
    if node.redirects:
        place, given, outgoing = walker.place(node.start, node.end), stdin, walker.outgoing
        stdin, targets = folders.everywhere(
            walker, lambda: streams.redirects(walker, node.redirects, given, place, of_group=True)
        )
        output = _compound(walker, node, stdin)
        streams.keep_written(walker, targets, output)
        streams.feed_sinks(walker, targets, output)
        if walker.outgoing:
            from agent.risk.shell.descriptors import judge_written

            judge_written(walker, targets, output)
            walker.outgoing = outgoing
        return output
    return _compound(walker, node, stdin)


def _compound(walker: Walker, node: Node, stdin: Output | None) -> Output:
    if isinstance(node, Group):
        if not node.subshell:
            return sequence(walker, node.body, stdin)
        output = walker.isolated(node.body, stdin)
        if node.pipes:
            walker.expander.place = walker.place(node.start, node.end)
            walker.state.assign(node.pipes, Value(["63", "60"], NUMBER, array=True))
            walker.descriptors["63"] = output
            target = Target(">", "60", Word(node.pipes, *walker.expander.place))
            target.sinks = [node.body]  # reads what is written there
            walker.outgoing = {**walker.outgoing, "60": target}
        return output
    if isinstance(node, Branch):
        return branch(walker, node, stdin)
    if isinstance(node, Loop):
        return loop(walker, node, stdin)
    if isinstance(node, Case):
        return case(walker, node, stdin)
    if isinstance(node, Function):
        walker.state.functions[node.name] = node
        return "", ""
    if isinstance(node, Test):
        walker.expander.place = walker.place(node.start, node.end)
        walker.expander.join(node.parts)
        return "", ""
    return None, ""


def sequence(walker: Walker, node: Sequence, stdin: Output | None = None) -> Output:
    outputs: list[str] = []
    known = True
    taint = ""
    before: dict[str, Value] | None = None
    state = walker.state
    left, last = state.cwd, None
    opened = sure = folders.of(state)
    for joiner, command, background in node.items:
        _arrive(walker, joiner, left)
        left, reached, stayed = state.cwd, folders.of(state), state.stayed
        folders.step(state, joiner, last)
        if joiner in ("&&", "||"):
            if before is None:
                before, sure = dict(state.variables), reached if joiner == "||" else (*reached, *stayed)
                walker.work.spend(len(before) / 8)
        elif before is not None:
            state.variables = either_way(before, state.variables)
            folders.be_in(state, (*folders.of(state), *sure))
            before = None
        if before is None:
            opened = folders.of(state)
        doubtful = dict(state.variables) if joiner == "||" else None
        if joiner == "||":  # it runs where something before it has failed
            folders.be_in(state, (*reached, *stayed, *opened))
        began, own = folders.of(state), dict(state.variables) if background else {}
        walker.parallel += background
        text, found = walker.node(command, stdin)
        walker.parallel -= background
        if background:
            state.variables, state.stayed = own, ()
            folders.be_in(state, began)
        if doubtful is not None:
            state.variables = either_way(doubtful, state.variables, unset=True)
            if folders.leaves(command):  # so whatever failed before, nothing goes on
                sure = reached
            else:
                reached = (*reached, *folders.of(state))
            folders.be_in(state, reached)
        last = command
        taint = join_taint(taint, found)
        known = known and text is not None
        outputs.append(UNKNOWN + "\n" if text is None else text)
    folders.step(state, "", None)
    if before is not None:
        state.variables = either_way(before, state.variables)
        folders.be_in(state, (*folders.of(state), *sure))
    printed = "".join(outputs)
    return (printed if known or printed.strip(UNKNOWN + "\n ") else None), taint


def _arrive(walker: Walker, joiner: str, left: str) -> None:
    """Note that the command before went elsewhere for certain: `cd x && …` is in x, `cd x; …` may still be where it was."""
    state = walker.state
    if joiner == "&&":
        state.arrived = state.cwd if state.cwd != left or state.arrived == state.cwd else ""
    elif joiner != "||":
        state.arrived = ""


def pipeline(walker: Walker, node: Pipeline, stdin: Output | None) -> Output:
    flow = stdin
    last = len(node.commands) - 1
    walker.parallel += last > 0
    joined = ReadBack()
    first, printed = len(walker.findings), []
    for index, command in enumerate(node.commands):
        walker.joined = joined if isinstance(command, Simple) else None
        if last and not isinstance(command, Simple):
            saved = walker.state
            walker.work.spend(len(saved.variables) / 16)
            walker.state = walker.expander.state = saved.copy()
            flow = walker.node(command, flow)
            if walker.state.functions:  # what is only defined here may be called in ways that are not seen
                walker.finish()
            after, walker.state = walker.state, saved
            walker.expander.state = saved
            if index == last and saved.last_here:
                saved.variables = either_way(saved.variables, after.variables, unset=True)
        else:
            state = walker.state
            here, before = folders.of(state), dict(state.variables) if last else {}
            flow = walker.node(command, flow)
            if last and not (index == last and state.last_here):
                state.variables, state.stayed = before, ()
                folders.be_in(state, here)
        printed.append(walker.printed)
    walker.parallel -= last > 0
    if last and len(walker.findings) > first:
        leave_out_counted(walker, node.commands, printed, first)
    return flow or ("", "")


def branch(walker: Walker, node: Branch, stdin: Output | None) -> Output:
    ends: list[_End] = []
    for condition, body in node.arms:
        if condition is not None:
            sequence(walker, condition, stdin)
        ends.append(apart(walker, body, stdin))
    _settle(walker, ends, always=node.arms[-1][0] is None)
    return None, ""


_End = tuple[dict[str, Value], tuple[str, ...]]
"""Variables and folders at the end of a way."""


def apart(walker: Walker, body: Sequence, stdin: Output | None) -> _End:
    """Walk one of several ways; what the next way does not see of its end."""
    state = walker.state
    before, here = dict(state.variables), folders.of(state)
    walker.work.spend(len(before) / 8)
    sequence(walker, body, stdin)
    after = state.variables, folders.of(state)
    state.variables = before
    folders.be_in(state, here)
    return after


def _settle(walker: Walker, ends: list[_End], *, always: bool) -> None:
    """The state after one of several ways was gone, or, unless one `always` is, none."""
    state = walker.state
    if always:
        state.variables, places = ends.pop()
        folders.be_in(state, places)
    for end, places in ends:
        walker.work.spend(len(end) / 8)
        state.variables = either_way(end, state.variables, unset=True)
        folders.be_in(state, (*folders.of(state), *places))


def loop(walker: Walker, node: Loop, stdin: Output | None) -> Output:
    """One round, and a second one if the first leaves other variables behind than it found."""
    walker.looping += 1
    count, met = len(walker.findings), len(walker.programs.met)
    endless = judge_loop(walker, node, _head(walker, node, stdin))
    taint, changed = _round(walker, node, stdin)
    if endless:
        judge_filling(walker, node, walker.findings[count:])
    if changed and walker.looping <= _MAX_REPEATED:
        middle, ran = len(walker.findings), len(walker.programs.met)
        _head(walker, node, stdin)
        _round(walker, node, stdin)
        told = {(finding.rule, finding.level) for finding in walker.findings[count:middle]}
        walker.findings[middle:] = [
            found for found in walker.findings[middle:] if (found.rule, found.level) not in told
        ]
        if len(walker.findings) == middle:
            walker.programs.forget_repeated(met, ran)
    walker.looping -= 1
    return None, taint


def _head(walker: Walker, node: Loop, stdin: Output | None) -> list[str]:
    """Walk what decides about a round; the programs of it."""
    if node.parts:
        walker.expander.place = walker.place(node.start, node.end)
        walker.expander.join(node.parts)
    if node.condition is None:
        return []
    before = len(walker.programs.met)
    sequence(walker, node.condition, stdin)
    return [invocation.words[0].text for invocation, _ in walker.programs.met[before:]]


def _round(walker: Walker, node: Loop, stdin: Output | None) -> tuple[str, bool]:
    """The taint of what a round prints, and whether it changes variables. After it, it may not have happened."""
    before, began = dict(walker.state.variables), folders.of(walker.state)
    walker.work.spend(len(before) / 8)
    if node.name:
        value = _looped(walker, node)
        if node.name in walker.state.references:  # a reference goes through the variables that are named
            for text in value.texts:
                walker.refer(text, value.taint)
            walker.state.references[node.name] = value.texts[-1]
        else:
            walker.state.put(node.name, value)
        if value.texts != [UNKNOWN]:
            before[node.name] = value
    _, taint = sequence(walker, node.body, stdin)
    after, ended = walker.state.variables, folders.of(walker.state)
    walker.state.variables = either_way(before, after, unset=True)
    folders.be_in(walker.state, (*began, *ended))
    return taint, not set(ended) <= set(began) or any(
        before.get(name) is not value for name, value in after.items() if name != node.name
    )


def _looped(walker: Walker, node: Loop) -> Value:
    """The values that the variable of a loop goes through."""
    if node.values is None:
        given = walker.expander.lookup("@") or Value([UNKNOWN], "var")
        return Value(bounded(given.texts) or [UNKNOWN], given.taint)
    words = [word for item in node.values for word in walker.expander.fields(item, walker.place(item.start, item.end))]
    taint = ""
    for word in words:
        taint = join_taint(taint, "glob" if word.glob else word.taint)
    return Value(bounded(list(dict.fromkeys(word.text for word in words))) or [UNKNOWN], taint)


def case(walker: Walker, node: Case, stdin: Output | None) -> Output:
    walker.expander.text(node.subject, walker.place(node.subject.start, node.subject.end))
    ends: list[_End] = []
    for patterns, body in node.arms:
        for pattern in patterns:
            walker.expander.text(pattern, walker.place(pattern.start, pattern.end))
        ends.append(apart(walker, body, stdin))
    _settle(walker, ends, always=False)
    return None, ""
