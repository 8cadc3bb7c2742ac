"""Table of telemetry fields for each type of event: numbers, words of ours, and words of others. The table of docs/telemetry.md."""

from __future__ import annotations

import re
from functools import cache

from agent.protocol.events import (
    AssistantMessage,
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandProposed,
    CommandRated,
    CommandStarted,
    CompressionFinished,
    ContinueTriggered,
    CoreCommandFinished,
    Event,
    Failed,
    GoalFinished,
    GoalStarted,
    JobFinished,
    JobStarted,
    LogScrubbed,
    Notice,
    PlanFinished,
    PlannerFinished,
    PlannerNoted,
    PlannerStarted,
    PlanProposed,
    PlanStepped,
    RehearsalFinished,
    RehearsalStarted,
    RunFinished,
    SessionFinished,
    SessionNamed,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    UndoFinished,
    Warned,
)
from agent.protocol.replies import Usage

FLAT = str | int | float | bool | None
_LONGEST = 4_000  # characters of one text
_MOST_RULES = 20
_TEXTS: dict[type, tuple[str, ...]] = {
    SessionStarted: ("cwd",),
    SessionNamed: ("name",),
    GoalStarted: ("goal", "cwd"),
    GoalFinished: ("goal", "message"),
    PlannerFinished: ("raw",),
    ToolFinished: ("result",),
    CommandProposed: ("command", "reason", "cwd"),
    CommandConfirmed: ("command", "remark"),
    CommandStarted: ("command", "cwd"),
    CommandOutput: ("data",),
    RehearsalStarted: ("command", "cwd"),
    JobStarted: ("command",),
    JobFinished: ("command",),
    PlanProposed: ("message",),
    PlanStepped: ("goal", "command", "cwd"),
    PlanFinished: ("reason",),
    **dict.fromkeys((AssistantMessage, PlannerNoted, Notice, Warned), ("text",)),
}


def fields(event: Event) -> dict[str, FLAT]:
    """Without a word that a person, a model or a program has chosen: those that should be words of ours are checked."""
    match event:
        case GoalStarted():
            return {
                "origin": _word(event.origin), "planner": _word(event.planner), "model": _model(event.model),
                "approve": _word(event.approve), "safety_off": event.safety_off, "private": event.private,
                "goal_chars": len(event.goal), "files": len(event.files), "context": len(event.context),
            }  # fmt: skip
        case GoalFinished():
            return _goal_finished(event)
        case PlannerStarted(step=step):
            return {"step": step, "planner": _word(event.planner), "model": _model(event.model)}
        case PlannerFinished():
            return {
                "step": event.step, "reply": _word(event.reply), "model": _model(event.model), "duration": event.duration,
                "error": _word(event.error.code) if event.error else "", **_usage(event.usage),
            }  # fmt: skip
        case PlanProposed(plan=plan, planned=planned, done=done):
            known = sum(bool(step.command) for step in planned)
            return {"plan": plan, "plan_steps": len(planned), "commands": known, "done": done}
        case PlanStepped(plan=plan, step=step, total=total):
            return {"plan": plan, "step": step, "total": total, "state": _word(event.state)}
        case PlanFinished(plan=plan, done=done, total=total):
            return {"plan": plan, "outcome": _word(event.outcome), "done": done, "total": total}
        case AssistantMessage(text=text) | PlannerNoted(text=text) | Notice(text=text) | Warned(text=text):
            return {"chars": len(text)}
        case ToolStarted(name=name):
            return {"tool": _word(name)}
        case ToolFinished():
            written = len(event.files_written)
            return {
                "tool": _word(event.name), "is_error": event.is_error, "chars": len(event.result), "files_written": written,
            }  # fmt: skip
        case Failed(error=error):
            return {"code": _word(error.code), "retryable": error.retryable}
    return _of_command(event) or _of_session(event)


def texts(event: Event) -> dict[str, FLAT]:
    """The words of people, models and programs; long ones are cut."""
    told = {name: getattr(event, name) for name in _TEXTS.get(type(event), ())}
    match event:
        case CommandRated(report=report):
            told = {"command": report.command, "reason": report.findings[0].reason if report.findings else ""}
        case CommandFinished(result=result):
            told = {"stdout_tail": result.stdout.tail, "stderr_tail": result.stderr.tail, "cwd_after": result.cwd_after}
        case Failed(error=error):
            told = {"message": error.message, "hint": error.hint}
    return {key: text if len(text) <= _LONGEST else text[:_LONGEST] + "…" for key, text in told.items()}


def _goal_finished(event: GoalFinished) -> dict[str, FLAT]:
    commands = [command for command in event.commands if isinstance(command, dict)]
    return {
        "status": _word(event.status), "exit_code": event.exit_code, "duration": event.duration, "steps": event.steps,
        "commands": len(commands),
        "ran": sum(command.get("outcome", "ran") == "ran" for command in commands),
        "edited": sum(command.get("edited") is True for command in commands),
        "planner": _word(event.planner), "model": _model(event.model), **_usage(event.usage),
    }  # fmt: skip


def _of_command(event: Event) -> dict[str, FLAT]:
    match event:
        case CommandProposed():
            return {
                "command_id": _id(event.command_id), "origin": _word(event.origin), "command_chars": len(event.command),
            }  # fmt: skip
        case CommandRated(report=report, verdict=verdict):
            rules = dict.fromkeys(_word(finding.rule) for finding in report.findings[:_MOST_RULES])
            return {
                "command_id": _id(event.command_id), "stage": _word(event.stage), "level": report.level.value,
                "findings": len(report.findings), "rules": ",".join(filter(None, rules)), "verdict": verdict.action,
            }  # fmt: skip
        case CommandConfirmed():
            return {
                "command_id": _id(event.command_id), "decision": _word(event.decision), "by": _word(event.by),
                "word_typed": event.word_typed, "safety_off": event.safety_off,
            }  # fmt: skip
        case CommandStarted():
            return {
                "command_id": _id(event.command_id),
                "via": _word(event.via),
                "confine": _confinement(event.confine),
            }
        case CommandOutput():
            return {
                "command_id": _id(event.command_id), "stream": event.stream, "chars": len(event.data), "offset": event.offset,
            }  # fmt: skip
        case CommandFinished(result=result):
            return {
                "command_id": _id(event.command_id), "exit_code": event.exit_code, "signal": result.signal,
                "duration": result.duration, "timed_out": result.timed_out, "interrupted": result.interrupted,
                "stdout_bytes": result.stdout.total_bytes, "stderr_bytes": result.stderr.total_bytes,
                "job": result.job, "can_undo": bool(event.undo_id), "conflict": event.conflict,
            }  # fmt: skip
        case RehearsalStarted(command_id=command_id, network=network):
            return {"command_id": _id(command_id), "network": network}
        case RehearsalFinished(totals=totals):
            return {
                "command_id": _id(event.command_id), "outcome": _word(event.outcome), "exit_code": event.exit_code,
                "created": totals.created, "modified": totals.modified, "deleted": totals.deleted, "meta": totals.meta,
                "renamed": totals.renamed, "retyped": totals.retyped, "bytes_written": totals.bytes_written,
                "bytes_lost": totals.bytes_lost,
            }  # fmt: skip
    return {}


def _of_session(event: Event) -> dict[str, FLAT]:
    match event:
        case SessionStarted():
            return {
                "program": _program(event.program), "frontend": _word(event.frontend), "is_root": event.is_root,
                "safety_off": event.safety_off, "resumed": event.resumed,
            }  # fmt: skip
        case SessionFinished():
            return {"reason": _word(event.reason), "goals": event.goals}
        case RunFinished(outcome=outcome):
            return {
                "exit_code": outcome.exit_code, "turns": outcome.turns, "tool_calls": outcome.tool_call_count,
                "compressed": outcome.compressed, "error": _word(outcome.error_code),
            }  # fmt: skip
        case UndoFinished():
            return {"restored": event.restored, "skipped": len(event.skipped), "state": _word(event.state)}
        case JobStarted(job_id=job_id, how=how):
            return {"job_id": job_id, "how": _word(how)}
        case JobFinished():
            return {"job_id": event.job_id, "outcome": _word(event.outcome), "exit_code": event.exit_code}
        case CoreCommandFinished(command=command):
            return {"command": _word(command)}
        case ContinueTriggered(count=count, remaining_todos=left):
            return {"count": count, "remaining_todos": left}
        case CompressionFinished(tokens_saved=saved):
            return {"tokens_saved": saved}
        case LogScrubbed(secrets=secrets, lines=lines):
            return {"secrets": sum(secrets.values()), "lines": lines}
    return {}


def _usage(usage: Usage) -> dict[str, FLAT]:
    return {
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cached_tokens": usage.cached_tokens,
        "cost": usage.cost, "estimated": usage.estimated,
    }  # fmt: skip


@cache
def _ours() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)


def _word(text: str) -> str:
    """A name from a closed list, or of a planner or tool that is configured; "other" for what cannot be one."""
    return text if not text or _ours().fullmatch(text) else "other"


def _id(command_id: str) -> str:
    """Ids that the engine made; those of a tool's calls are a model's, or even paths."""
    return command_id if re.fullmatch(r"[0-9a-f]{8,32}\.[0-9]{1,6}", command_id) else "other"


def _model(text: str) -> str:
    return text if not text or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:/@+-]{0,127}", text, re.ASCII) else "other"


def _confinement(text: str) -> str:
    return text if re.fullmatch(r"[a-z-]{1,20}(?:,[a-z-]{1,20})?", text) else "other"


def _program(text: str) -> str:
    return text if not text or re.fullmatch(r"[a-z-]{1,20} [0-9A-Za-z.+-]{1,20}", text) else "other"
