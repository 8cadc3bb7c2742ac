"""Judge a simple command: its assignments, the readings of its words, its redirections, and what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.reader.tree import Simple
from agent.risk.reader.words import Invocation, Output, Target, join_taint
from agent.risk.shell import assignments, folders, streams
from agent.risk.shell.alternatives import judge_readings, readings
from agent.risk.shell.hazards import ReadBack

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def simple(walker: Walker, node: Simple, stdin: Output | None) -> Output:
    return folders.everywhere(walker, lambda: _here(walker, node, stdin))


def _here(walker: Walker, node: Simple, stdin: Output | None) -> Output:
    place = walker.place(node.start, node.end)
    walker.incoming, walker.words = stdin or (None, ""), node.words
    around, reading, walker.joined = walker.reading, walker.joined or ReadBack(), None
    environment = assignments.evaluate_assignments(walker, node.assignments, place)
    choices = [walker.expander.variants(item, walker.place(item.start, item.end)) for item in node.words]
    found = readings(choices) if choices else []
    targets: list[Target] = []
    outgoing = walker.outgoing
    if node.redirects:
        stdin, targets = streams.redirects(walker, node.redirects, stdin, place)
    if not any(found):
        assignments.keep_assignments(walker, environment, place)
        if any(target.operator in ("<", "<&") for target in targets):
            return None, join_taint("file", stdin[1] if stdin else "")  # $(<file)
        return "", ""
    invocation = Invocation(found[-1], place[0], place[1], cwd=walker.state.cwd, stdin=stdin)
    invocation.redirects = targets
    invocation.environment = [(name, word) for name, word, _ in environment]
    if walker.outer is not None:
        invocation.environment = [*walker.outer.environment, *invocation.environment]
        invocation.via = walker.outer.via
        invocation.remote = walker.outer.remote
        invocation.elevated = walker.outer.elevated
    if environment:
        from agent.risk.invocations.environment import judge_environment

        own = [(name, word) for name, word, _ in environment]
        judge_environment(walker, own, place, elevated=invocation.elevated)
    assigned = [item.parts[0][1] for item in node.words[1:] if item.parts and item.parts[0][0] == "assign"]
    arrays = [one for one in assigned if one.array]  # declare -a name=(…)
    walker.declared = {array.name for array in arrays}
    reading.redirected(targets, walker.state.cwd)
    walker.reading = reading
    plain = len(found) == 1
    output = (
        walker.dispatch(invocation, direct=True)
        if plain
        else judge_readings(walker, invocation, found, len(choices[0]))
    )
    walker.reading = around
    walker.printed = output
    reading.judge(walker)
    streams.feed_sinks(walker, targets, output)
    if walker.outgoing:
        from agent.risk.shell.descriptors import judge_written

        judge_written(walker, targets, output)
        if targets and all(word.text != "exec" for word in invocation.words[:2]):
            walker.outgoing = outgoing
    if arrays:
        assignments.keep_assignments(walker, assignments.evaluate_assignments(walker, arrays, place), place)
    if targets and any(streams.takes_output(target) for target in targets):
        streams.judge_stored(walker, invocation, targets, output)
        return "", ""
    return output
