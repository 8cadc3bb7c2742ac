"""`:policy`: the rules in force, a new one from words, and taking back one that was made at the prompt."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.errors import InvalidRequest, InvalidState, IoError
from agent.protocol.events.session import RuleAdded, RuleRemoved
from agent.text.shown import shown, shown_line

if TYPE_CHECKING:
    from agent.policy.model import Rule

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
    """`:policy`, `:policy forget NAME`, `:policy allow|ask|deny WORDS`. Raises InvalidRequest; nothing changes without a yes."""
    word, _, rest = arguments.partition(" ")
    if not rest:
        await context.person.show(policy_text(context))
    elif word == "forget":
        await _forget(context, rest.strip())
    else:
        await _add(context, word, rest.strip())
    return DispatchOutcome()


async def _add(context: CommandContext, action: str, text: str) -> None:
    """Make a rule from words, shown and agreed to, recorded first. Raises InvalidRequest, RecordingError, IoError."""
    from agent.policy.parse import parse_policy
    from agent.policy.rule_text import as_toml, limits, sentence
    from agent.policy.store import add_rules

    path, ask, cwd = context.services.policy_path, context.person.ask, context.session.cwd
    if ask is None:
        raise InvalidRequest("rules can be made only by a person at a terminal", hint=f"edit {path}")
    rules = _allowing(context, text) if action == "allow" else _tightening(context, action, text)
    made = as_toml(rules)
    parsed = parse_policy(
        made, path="the rule", trust="user", home=context.app.policy(cwd, context.session.rules).place.home
    )
    if parsed.error:
        raise InvalidRequest(f"this is not a rule: {shown_line(parsed.error, 300)}")
    for rule in parsed.rules:
        context.tell(f"{rule.name}: {shown_line(sentence(rule), 500)}; {shown_line(limits(rule), 200)}")
    if not await ask(f"add {'this rule' if len(parsed.rules) == 1 else 'these rules'} to {shown(path)}?"):
        context.tell("no rule was made")
        return
    names = tuple(rule.name for rule in parsed.rules)
    await context.record(RuleAdded(rules=names, where=path, text=made))
    trouble = await asyncio.to_thread(add_rules, path, made)
    if trouble:
        await context.record(RuleRemoved(rules=names, where=path, reason=trouble))
        raise IoError(f"no rule was made: {shown(trouble)}")
    context.tell(f"`:policy forget {names[0]}` takes it back")


def _taken(context: CommandContext) -> tuple[str, ...]:
    policy = context.app.policy(context.session.cwd, context.session.rules)
    return tuple(rule.name for file in policy.files for rule in file.rules)


def _tightening(context: CommandContext, action: str, text: str) -> tuple[Rule, ...]:
    from agent.policy.proposing import rule_from_words

    try:
        return (rule_from_words("deny" if action == "deny" else "ask", text, taken=_taken(context)),)
    except ValueError as error:
        raise InvalidRequest(str(error), hint="`:policy deny deleting in ~/photos`, `:policy ask git push`") from None


def _allowing(context: CommandContext, command: str) -> tuple[Rule, ...]:
    """Rules that cover this command and nothing worse, in this workspace: only a rated command says what is let through."""
    from agent.policy.proposing import propose

    session = context.session
    place = context.app.policy(session.cwd, session.rules).place
    report = context.services.rate(command, session.cwd, session.session_id)
    offer = propose(report, place, mode=session.approve, taken=_taken(context), exact=True)
    if offer.reason:
        raise InvalidRequest(f"this cannot be allowed in advance: {shown_line(offer.reason, 300)}")
    return tuple(replace(rule, workspace=place.workspace) for rule in offer.rules)


async def _forget(context: CommandContext, name: str) -> None:
    """Take back a rule, recorded first. Raises InvalidRequest, RecordingError, IoError."""
    from agent.policy.model import OF_SESSION
    from agent.policy.rule_text import as_toml
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
    if trouble:
        files = context.app.policy(context.session.cwd, rules).files
        still = tuple(rule for file in files if file.trust == "user" for rule in file.rules if rule.name == name)
        if still:
            await context.record(RuleAdded(rules=(name,), where=path, text=as_toml(still)))
        raise IoError(f"rule {name} stays: {shown(trouble)}")
    context.tell(f"rule {name} is gone")


def _added(context: CommandContext) -> dict[str, tuple[str, ...]]:
    """Names of the rules that can be taken back, by trust."""
    from agent.policy.files import Unreadable, read_own_text
    from agent.policy.store import removable

    try:
        text = read_own_text(context.services.policy_path) or ""
    except (OSError, Unreadable):
        text = ""
    of_session = tuple(rule.name for rule in context.session.rules.file.rules)
    return {"user": removable(text), "session": of_session}


def _usable(context: CommandContext, arguments: str) -> None:
    if not context.services.policy_path:
        raise InvalidState(expected="a policy", found="none")


_WORDS = ("forget", "allow", "ask", "deny")


def _words(rest: str) -> str:
    word, _, more = rest.partition(" ")
    if rest and (word not in _WORDS or not more.strip()):
        raise InvalidRequest(":policy takes nothing, `forget NAME`, or `allow|ask|deny` and what")
    return rest


COMMANDS = (
    Definition(
        names=("policy",),
        arguments="[forget NAME|allow|ask|deny WORDS]",
        help="rules in force; a new one from words; take back one made here",
        examples=(
            ":policy",
            ":policy deny deleting in ~/photos",
            ":policy ask git push",
            ":policy allow make test",
            ":policy forget build",
        ),
        read=_words,
        handle=policy,
        usable=_usable,
        choices=_WORDS,
    ),
)
