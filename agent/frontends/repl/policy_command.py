"""`:policy`: the rules in force, and taking back one that was made at the prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent.frontends.rule_controller import RuleController
from agent.protocol.errors import InvalidRequest
from agent.text.shown import shown, shown_line

Ask = Callable[[str], Awaitable[bool]]
"""Puts a yes/no question to the person; anything but a clear yes is no."""

_TRUST = {
    "user": "yours",
    "session": "this session only",
    "safety": "--safety-policy, can only tighten",
    "site": "of this machine, can only tighten",
    "project": "of this folder, can only tighten",
}


def policy_text(rules: RuleController, cwd: str) -> str:
    """Every file that counts for commands in `cwd`, with its rules; which of them came from the prompt."""
    from agent.policy.matching import in_force
    from agent.policy.rule_text import limits, sentence

    policy = rules.policy(cwd)
    added = _added(rules)
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
        return f"no rules: every command is asked for by its level; yours would stand in {shown_line(rules.path, 200)}"
    if any(added.values()):
        lines.append("`:policy forget NAME` takes back a rule that was made at the prompt")
    return "\n".join(lines)


async def run_policy_command(
    rules: RuleController | None,
    argument: str,
    cwd: str,
    *,
    show: Callable[[str], Awaitable[None]],
    ask: Ask | None,
    tell: Callable[[str], None],
) -> None:
    """`:policy` and `:policy forget NAME`. Raises InvalidRequest; nothing is taken back without a yes."""
    if rules is None:
        raise InvalidRequest("there is no policy here")
    word, _, name = argument.partition(" ")
    name = name.strip()
    if not argument:
        await show(policy_text(rules, cwd))
    elif word == "forget" and name:
        await _forget(rules, name, ask, tell)
    else:
        raise InvalidRequest(":policy takes nothing, or `forget NAME`")


async def _forget(rules: RuleController, name: str, ask: Ask | None, tell: Callable[[str], None]) -> None:
    if ask is None:
        raise InvalidRequest("rules can be taken back only by a person at a terminal", hint=f"edit {rules.path}")
    added = _added(rules)
    of_session = name in added["session"]
    if not of_session and name not in added["user"]:
        raise InvalidRequest(
            f"no rule called {shown_line(name, 80)} was made at the prompt",
            hint=f"rules that you wrote yourself stand in {rules.path}",
        )
    where = "this session" if of_session else rules.path
    if not await ask(f"forget rule {name} of {shown(where)}?"):
        tell(f"rule {name} stays")
        return
    trouble = await rules.forget(name, of_session=of_session)
    tell(shown(trouble) if trouble else f"rule {name} is gone")


def _added(rules: RuleController) -> dict[str, tuple[str, ...]]:
    """Names of the rules that can be taken back, by trust."""
    from agent.policy.files import Unreadable, read_own_text
    from agent.policy.store import removable

    try:
        text = read_own_text(rules.path)
    except (OSError, Unreadable):
        text = ""
    of_session = tuple(rule.name for rule in rules.rules.file.rules)
    return {"user": removable(text), "session": of_session}
