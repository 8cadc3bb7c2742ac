"""Decide about a command: its rating, what policy says of it, and the words for that. Nothing here asks or runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.policy.model import Policy
from agent.policy.shown_once import Showing
from agent.protocol.actions import Action
from agent.protocol.approvals import Rights
from agent.protocol.confinement import Confining
from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport, Verdict
from agent.protocol.events.command import Known
from agent.protocol.execution import Executor
from agent.protocol.outcomes import NO_TERMINAL
from agent.protocol.ports import Facts, Redactor, RiskClassifier, StreamRedaction
from agent.protocol.requests import Approval

DecideFunction = Callable[[RiskReport, Approval, Policy], Verdict]
Look = Callable[[str, str], RiskContext]
"""The context of a command, or of another text, in a folder."""
Changed = Callable[[RiskClassifier, Look, RiskReport, RiskContext, Executor | None], str]


def rate_action(action: Action, context: RiskContext) -> RiskReport:
    """The rating of a change of files by the classifier's own tables, which the first frame does not wait for."""
    from agent.risk import file_actions

    return file_actions.rate_action(action, context)


class Judges(Struct, frozen=True, eq=False):
    """All that decides: how to rate, what policy says, what is known about the system.

    `policy(cwd)` is what the policy files say now, for a command in that folder; asked anew at every decision. `rules_due(cwd)` is what
    the person has to see before it counts, `rules_seen` is told when it stood on the screen. `changed` looks again right before a run.
    `lacking`: options that its programs do not have here, in words.
    """

    classify: RiskClassifier
    decide: DecideFunction
    facts: Facts
    redactor: Redactor
    open_stream_redaction: Callable[[], StreamRedaction]
    is_root: bool = False
    policy: Callable[[str], Policy] = lambda cwd: Policy()
    rules_due: Callable[[str], Showing | None] = lambda cwd: None
    rules_seen: Callable[[Showing], None] = lambda showing: None
    changed: Changed = lambda *given: what_changed(*given)  # noqa: PLW0108 - defined further down
    rate_action: Callable[[Action, RiskContext], RiskReport] = rate_action
    lacking: Callable[[RiskReport], str] = lambda report: ""


FREE = Confining()
"""Nothing is asked for, so nothing is denied."""


class Rated(Struct, frozen=True):
    """One text with its rating, what that was held against, what policy says of it, and how it would be confined.

    `changed`: what was not any more as an earlier rating of the same text had found it. `rights`: to which it is held
    where it runs unasked, None where nothing holds it. `policy`: what was in force, None where that could not be looked up.
    `lacks`: options that its programs do not have here, in words.
    """

    command: str
    report: RiskReport
    verdict: Verdict
    confining: Confining = FREE
    context: RiskContext | None = None
    changed: str = ""
    rights: Rights | None = None
    policy: Policy | None = None
    lacks: str = ""


def with_session(context: RiskContext, executor: Executor | None) -> RiskContext:
    """`context` with what earlier commands left in the executor's shell: what they redefined means something else now."""
    if executor is None:
        return context
    return replace(context, functions=executor.functions, aliases=executor.aliases, exports=executor.exports)


def rate(
    judges: Judges, command: str, cwd: str, executor: Executor | None = None
) -> tuple[RiskReport, RiskContext | None]:
    """Rate `command` as `executor` would run it now, and what that was held against; a classifier that crashes rates it high."""
    context = None
    try:
        context = with_session(judges.facts.risk_context(command, cwd), executor)
        return judges.classify(command, context), context
    except Exception as error:  # fail closed, whatever went wrong
        return failed_rating(command, error), context


def failed_rating(command: str, error: Exception) -> RiskReport:
    """The rating of what could not be rated."""
    reason = f"the classifier failed ({type(error).__name__}), so this command is not rated"
    finding = Finding(rule="classifier.failed", level=Level.HIGH, reason=reason, span=(0, len(command)))
    return RiskReport(command=command, level=Level.HIGH, parse="failed", findings=(finding,))


def what_changed(
    classify: RiskClassifier, look: Look, report: RiskReport, then: RiskContext, executor: Executor | None
) -> str:
    """Say what of all that `report` was held against is not as it was `then`, in words; "" for nothing that matters to it."""
    try:
        now = with_session(look(report.command, then.cwd), executor)
        words = change_words(then, now)
        if not words and now.facts != then.facts and classify(report.command, now).level.rank > report.level.rank:
            words = "there is more to lose"
    except Exception as error:  # fail closed, whatever went wrong
        return f"what it depends on could not be checked again ({type(error).__name__})"
    return words


_MOST_SESSION_TEXT = 8_192
"""Characters of functions, aliases and variables that a record of a rating keeps."""


def known(context: RiskContext | None) -> Known | None:
    """The context as the log keeps it, None where there was none."""
    if context is None:
        return None
    exports = sum(len(name) + len(value) for name, value in context.exports.items())
    partial = len(context.functions) + len(context.aliases) + exports > _MOST_SESSION_TEXT
    return Known(
        cwd=context.cwd,
        home=context.home,
        workspace=context.workspace,
        is_root=context.is_root,
        facts=context.facts,
        functions="" if partial else context.functions,
        aliases="" if partial else context.aliases,
        exports={} if partial else context.exports,
        partial=partial,
    )


def allowed_by(verdict: Verdict) -> Literal["approve-mode", "policy"]:
    """Return who let a command run unasked."""
    return "approve-mode" if verdict.rule.startswith("approve-") else "policy"


def told(verdict: Verdict) -> str:
    """Say which rule let a command run, for log and screen; "" for the approve mode."""
    return "" if allowed_by(verdict) == "approve-mode" else f"allowed by {verdict.rule}"


def unattended(verdict: Verdict) -> str:
    """Nobody was there; and who wanted somebody, where it was not just the level under the approve mode."""
    by_level = verdict.rule in ("", "default") or verdict.rule.startswith("level-")
    return NO_TERMINAL + ("" if by_level else f": {verdict.reason} [{verdict.rule}]")


def refusal(verdict: Verdict) -> str:
    """Say why policy refuses, with the rule's name."""
    reason = verdict.reason or "refused by policy"
    return f"{reason} [{verdict.rule}]" if verdict.rule not in ("", "default") else reason


_COUNTED = frozenset(("entries", "bytes", "more", "changed", "stashes", "many"))
"""Facts that only count: they matter where they make the rating worse, and files that grow do not."""
_MOST_TOLD = 3
_JUST_WRITTEN = 2
"""Parts of an identity besides which one says that the file was written to only just now."""


def change_words(then: RiskContext, now: RiskContext) -> str:
    """Say what is another thing now than it was then, "" for nothing. What is no longer known about a path is no change."""
    told = list(dict.fromkeys(_changes(then, now)))
    more = f" and {len(told) - _MOST_TOLD:,} more" if len(told) > _MOST_TOLD else ""
    return ", ".join(told[:_MOST_TOLD]) + more


def _changes(then: RiskContext, now: RiskContext) -> Iterator[str]:
    for name, said in (("functions", "functions"), ("aliases", "aliases"), ("exports", "variables")):
        if getattr(then, name) != getattr(now, name):
            yield f"the shell's {said} changed"
    if then.workspace != now.workspace:
        yield "the workspace changed"
    for path in dict.fromkeys((*now.facts, *then.files, *now.files)):
        known = then.facts.get(path, ())
        new = [fact for fact in now.facts.get(path, ()) if fact not in known and fact.partition("=")[0] not in _COUNTED]
        before, after = then.files.get(path), now.files.get(path)
        if new or _differ(before, after):
            yield f"{_shown(path, now.cwd)} {_became(new, before, after)}"


def _differ(before: str | None, after: str | None) -> bool:
    """Tell whether contents are others, or were written to only just now, which they may be again at any moment."""
    if before is None or after is None:
        return before != after
    then, now = before.split("\0"), after.split("\0")
    return then[0] != now[0] or (len(now) > _JUST_WRITTEN and then[1] != now[1])


def changed_meanwhile(files: Mapping[str, str], since: int, cwd: str) -> str:
    """Say which of the code that a rating stood on was replaced or written to after `since` (ns); "" for none of it. Blocks."""
    told = [
        _shown(path, cwd)
        for path, known in files.items()
        if known.startswith("code ") and _is_other(path, known, since)
    ]
    more = f" and {len(told) - _MOST_TOLD:,} more" if len(told) > _MOST_TOLD else ""
    return f"{', '.join(told[:_MOST_TOLD])}{more} changed as it ran: what ran may not be what was rated" if told else ""


def _is_other(path: str, known: str, since: int) -> bool:
    try:
        now = os.stat(path)
    except OSError:
        return True
    identity = known.split("\0")[1].split(":")
    return identity[:2] != [f"{now.st_dev}", f"{now.st_ino}"] or (
        identity[-1] != f"{now.st_ctime_ns}" and now.st_ctime_ns >= since
    )


def _became(new: list[str], before: str | None, after: str | None) -> str:
    leads = next((fact.partition("=")[2] for fact in new if fact.startswith(("to=", "at="))), "")
    if leads:
        return f"leads to {leads} now"
    if after is not None and after.startswith("program "):
        return f"is {after.removeprefix('program ')} now"
    if "missing" in new or (after is None and before is not None):
        return "is gone"
    if not new and before is None:
        return "is new"
    if not new and before is not None and after is not None and before.split("\0")[0] == after.split("\0")[0]:
        return "was written to just now"
    if not new and after is not None and not after.startswith("folder "):
        return "has other contents"
    return "is not what it was"


def _shown(path: str, cwd: str) -> str:
    return "this folder" if path == cwd else path.removeprefix(os.path.join(cwd, "")) if cwd else path
