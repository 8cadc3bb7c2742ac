"""`:policy`: the rules in force, and taking back one that was made at the prompt."""

from __future__ import annotations

import asyncio

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.protocol.events import RuleRemoved
from agent.text.shown import shown, shown_line

_TRUST = {
    "user": "yours",
    "session": "this session only",
    "safety": "--safety-policy, can only tighten",
    "site": "of this machine, can only tighten",
    "project": "of this folder, can only tighten",
}


def policy_text(context: CommandContext) -> str:
    """Every file that counts for commands in the session's folder, with its rules; which of them came from the prompt."""
    from agent.policy.matching import in_force
    from agent.policy.rule_text import limits, sentence

    cwd, path = context.session.cwd, context.services.policy_path
    policy = context.app.policy(cwd, context.session.rules)
    added = _added(context)
    lines: list[str] = []
    for file in policy.files:
        lines.append(f"{shown_line(file.path, 200)} ({_TRUST[file.trust]})")
        if file.error:
            lines.append(f"  cannot be used, so nothing runs unasked: {shown_line(file.error, 400)}")
        for rule in file.rules:
            mark = "" if in_force(rule, policy.place, cwd) != "no" else ", not now"
            made = ", made at the prompt" if rule.name in added.get(file.trust, ()) else ""
            lines.append(f"  {rule.name}: {shown_line(sentence(rule), 400)}")
            where = limits(rule, "in this folder" if file.trust == "project" else "everywhere")
            lines.append(f"      {shown_line(where, 200)}{mark}{made}")
            if rule.reason:
                lines.append(f"      because: {shown_line(rule.reason, 300)}")
        lines += [f"  {rule.name}: pattern {shown_line(rule.pattern, 200)}" for rule in file.patterns]
        if not file.rules and not file.patterns and not file.error:
            lines.append("  no rules")
    if not policy.files:
        return f"no rules: every command is asked for by its level; yours would stand in {shown_line(path, 200)}"
    if any(added.values()):
        lines.append("`:policy forget NAME` takes back a rule that was made at the prompt")
    return "\n".join(lines)


async def policy(context: CommandContext, arguments: str) -> DispatchOutcome:
    """`:policy` and `:policy forget NAME`. Raises InvalidRequest; nothing is taken back without a yes."""
    name = arguments.partition(" ")[2].strip()
    if name:
        await _forget(context, name)
    else:
        await context.person.show(policy_text(context))
    return DispatchOutcome()


async def _forget(context: CommandContext, name: str) -> None:
    """Take back a rule, recorded first. Raises InvalidRequest, RecordingError."""
    from agent.policy.model import OF_SESSION
    from agent.policy.store import forget_rule

    path, ask = context.services.policy_path, context.person.ask
    if ask is None:
        raise InvalidRequest("rules can be taken back only by a person at a terminal", hint=f"edit {path}")
    added = _added(context)
    of_session = name in added["session"]
    if not of_session and name not in added["user"]:
        raise InvalidRequest(
            f"no rule called {shown_line(name, 80)} was made at the prompt",
            hint=f"rules that you wrote yourself stand in {path}",
        )
    if not await ask(f"forget rule {name} of {shown('this session' if of_session else path)}?"):
        context.tell(f"rule {name} stays")
        return
    await context.record(RuleRemoved(rules=(name,), where=OF_SESSION if of_session else path))
    rules = context.session.rules
    trouble = rules.forget(name) if of_session else await asyncio.to_thread(forget_rule, path, name)
    context.tell(shown(trouble) if trouble else f"rule {name} is gone")


def _added(context: CommandContext) -> dict[str, tuple[str, ...]]:
    """Names of the rules that can be taken back, by trust."""
    from agent.policy.files import Unreadable, read_own_text
    from agent.policy.store import removable

    try:
        text = read_own_text(context.services.policy_path)
    except (OSError, Unreadable):
        text = ""
    of_session = tuple(rule.name for rule in context.session.rules.file.rules)
    return {"user": removable(text), "session": of_session}


def _usable(context: CommandContext, arguments: str) -> None:
    if not context.services.policy_path:
        raise InvalidState(expected="a policy", found="none")


def _nothing_or_forget(rest: str) -> str:
    word, _, name = rest.partition(" ")
    if rest and (word != "forget" or not name.strip()):
        raise InvalidRequest(":policy takes nothing, or `forget NAME`")
    return rest


COMMANDS = (
    Definition(
        names=("policy",),
        arguments="[forget NAME]",
        help="rules in force; take back one made at the prompt",
        examples=(":policy", ":policy forget build"),
        read=_nothing_or_forget,
        handle=policy,
        usable=_usable,
        choices=("forget",),
        order=120,
    ),
)
