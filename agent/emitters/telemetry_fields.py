"""Tell of each event what a dashboard may know: counts, durations, statuses; no word of a person, a model or a program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any

from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandProposed,
    CommandRated,
    CommandStarted,
    JobFinished,
    JobStarted,
    RehearsalFinished,
    RehearsalStarted,
    UndoFinished,
    UndoStarted,
)
from agent.protocol.events.goal import (
    CompressionFinished,
    ContinueTriggered,
    CycleFinished,
    CyclePlanned,
    CycleStarted,
    GoalFinished,
    GoalStarted,
    PlanFinished,
    PlannerFinished,
    PlannerNoted,
    PlannerStarted,
    PlanProposed,
    PlanStepped,
    RunFinished,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.interview import (
    FieldExtracted,
    HandedOver,
    InterviewStarted,
    InterviewStepped,
    InterviewTurned,
    InterviewWentBack,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import (
    AssistantMessage,
    CoreCommandFinished,
    Failed,
    LibraryChanged,
    LogScrubbed,
    MemoryForgotten,
    Notice,
    RuleAdded,
    RuleRemoved,
    SessionChanged,
    SessionFinished,
    SessionStarted,
    Warned,
)
from agent.text.lazy_pattern import lazily

FLAT = str | int | float | bool | None
_MOST_RULES = 20
_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "cache_written_tokens", "reasoning_tokens")
_USAGE = " ".join(f"{name}::usage.{name}" for name in (*_COUNTS, "cost", "estimated"))
_TOTALS = ("created", "modified", "deleted", "meta", "renamed", "retyped", "bytes_written", "bytes_lost")
_FIELDS: dict[type, str] = {
    SessionStarted: "program:program frontend:word is_root safety_off resumed",
    SessionFinished: "reason:word goals",
    SessionChanged: "key:word by:word",
    **dict.fromkeys((RuleAdded, RuleRemoved), "rules:len of_session:for_session:where"),
    MemoryForgotten: "commands",
    LibraryChanged: "kind:word how:word",
    UndoStarted: "state:word",
    RunFinished: (
        "exit_code::outcome.exit_code turns::outcome.turns tool_calls::outcome.tool_call_count compressed::outcome.compressed "
        "error:word:outcome.error_code"
    ),
    GoalStarted: (
        "origin:word planner:word model:model approve:word safety_off private goal_chars:len:goal files:len context:len"
    ),
    GoalFinished: (
        f"status:word exit_code duration steps commands:objects ran:ran:commands edited:edited:commands planner:word model:model {_USAGE}"
    ),
    PlannerStarted: "step planner:word model:model",
    PlannerFinished: f"step reply:word model:model duration error:code {_USAGE}",
    PlanProposed: "plan plan_steps:len:planned commands:known:planned done",
    PlanStepped: "plan step total state:word",
    PlanFinished: "plan outcome:word done total",
    ToolStarted: "tool:word:name",
    ToolFinished: "tool:word:name is_error chars:len:result files_written:len",
    InterviewStarted: "engine:word",
    InterviewStepped: "turn number step:word outcome:word",
    FieldExtracted: "turn engine:word confidence how:word",
    InterviewTurned: "turn completeness ready learnt:len",
    InterviewWentBack: "turn",
    HandedOver: "source:word target:word",
    CycleStarted: "task resumed rehearse features:len",
    CyclePlanned: "calls:len",
    CycleFinished: "reason:word task features:len passed total files:len test_setup:len",
    CommandProposed: "command_id:id origin:word command_chars:len:command",
    CommandRated: (
        "command_id:id stage:word level::report.level.value findings:len:report.findings rules:rules:report.findings "
        "verdict::verdict.action"
    ),
    CommandConfirmed: "command_id:id decision:word by:word word_typed safety_off",
    CommandStarted: "command_id:id via:word confine:confinement",
    CommandOutput: "command_id:id stream chars:len:data offset",
    CommandFinished: (
        "command_id:id exit_code signal::result.signal duration::result.duration timed_out::result.timed_out "
        "interrupted::result.interrupted stdout_bytes::result.stdout.total_bytes stderr_bytes::result.stderr.total_bytes "
        "job::result.job can_undo:bool:undo_id conflict"
    ),
    RehearsalStarted: "command_id:id network preview",
    RehearsalFinished: (
        f"command_id:id outcome:word exit_code preview {' '.join(f'{name}::totals.{name}' for name in _TOTALS)}"
    ),
    UndoFinished: "restored skipped:len state:word",
    JobStarted: "job_id how:word",
    JobFinished: "job_id outcome:word exit_code",
    CoreCommandFinished: "command:word",
    ContinueTriggered: "count remaining_todos",
    CompressionFinished: "tokens_saved",
    LogScrubbed: "secrets:sum lines",
    Failed: "code:word:error.code retryable::error.retryable",
    **dict.fromkeys((AssistantMessage, PlannerNoted, Notice, Warned), "chars:len:text"),
}
"""Type of event -> `field`, `field:kind` or `field:kind:attribute`, blanks between. `kind`: one of `_KINDS`, "" for the value itself."""
_OURS = lazily(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)


def fields(event: Event) -> dict[str, FLAT]:
    """Without a word that a person, a model or a program has chosen: those that should be words of ours are checked."""
    return {name: kind(value(event)) for name, kind, value in _fields_of(type(event))}


@cache
def _fields_of(kind: type) -> list[tuple[str, Callable[[Any], FLAT], Callable[[Any], Any]]]:
    parts = (field.split(":") for field in _FIELDS.get(kind, "").split())
    return [
        (name, _KINDS[rest[0] if rest else ""], attrgetter(rest[1] if len(rest) > 1 else name)) for name, *rest in parts
    ]


def _objects(commands: Iterable[Any]) -> list[dict[str, Any]]:
    return [command for command in commands if isinstance(command, dict)]


def _rules(findings: Iterable[Any]) -> str:
    return ",".join(filter(None, dict.fromkeys(_word(finding.rule) for finding in list(findings)[:_MOST_RULES])))


def _word(text: str) -> str:
    """A name from a closed list, or of a planner or tool that is configured; "other" for what cannot be one."""
    return text if not text or _OURS.fullmatch(text) else "other"


def _id(command_id: str) -> str:
    """Ids that the engine made; those of a tool's calls are a model's, or even paths."""
    return command_id if re.fullmatch(r"[0-9a-f]{8,32}\.[0-9]{1,6}", command_id) else "other"


def _model(text: str) -> str:
    return text if not text or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:/@+-]{0,127}", text, re.ASCII) else "other"


def _confinement(text: str) -> str:
    return text if re.fullmatch(r"[a-z-]{1,20}(?:,[a-z-]{1,20})?", text) else "other"


def _program(text: str) -> str:
    return text if not text or re.fullmatch(r"[a-z-]{1,20} [0-9A-Za-z.+-]{1,20}", text) else "other"


_KINDS: dict[str, Callable[[Any], FLAT]] = {
    "": lambda value: value,
    "bool": bool,
    "code": lambda error: _word(error.code) if error else "",
    "confinement": _confinement,
    "edited": lambda commands: sum(command.get("edited") is True for command in _objects(commands)),
    "for_session": lambda where: where == "session",
    "id": _id,
    "known": lambda planned: sum(bool(step.command) for step in planned),
    "len": len,
    "model": _model,
    "objects": lambda commands: len(_objects(commands)),
    "program": _program,
    "ran": lambda commands: sum(command.get("outcome", "ran") == "ran" for command in _objects(commands)),
    "rules": _rules,
    "sum": lambda counts: sum(counts.values()),
    "word": _word,
}
