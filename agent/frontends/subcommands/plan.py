"""`agent-shell plan`: ask the planner once and run nothing."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import nullcontext
from typing import Any, BinaryIO

from agent.emitters.console import complain, complain_about, say
from agent.frontends.services import Services
from agent.protocol.errors import CoreError, InvalidRequest, IoError
from agent.protocol.messages import Attached, GoalItem, HistoryItem
from agent.protocol.outcomes import ExitCode
from agent.protocol.ports import Planner
from agent.protocol.replies import Chat, Command, Plan, PlannerReply, PlanStep, ToolCalls
from agent.protocol.requests import PlannerRequest
from agent.text.shown import json_line, shown

_MAX_LINE = 4_000_000


async def run_plan(services: Services, *, goal: str, batch: str | None = None) -> int:
    """Print the plan for `goal`, or for each `{"goal": …}` line of the file `batch` (`-`: standard input). The exit code.

    Without `--json`: the bare command on stdout, tool calls as JSON; a chat reply goes to stderr and stdout stays empty.
    """
    try:
        if batch is not None:
            return await _batch(services, batch)
        if not goal.strip():
            raise InvalidRequest("give a goal to plan", hint='as in: agent-shell plan "count the lines of a.txt"')
        planner = services.engine.app.make_planner(None, None)
        answer = await _ask(services, planner, goal)
        if services.settings.json:
            say(json_line(_as_object(services, goal, answer)))
        else:
            _print_bare(answer)
        missed = isinstance(answer.reply, Chat) and answer.reply.reached is False
        return ExitCode.NOT_UNDERSTOOD if missed else ExitCode.DONE
    except CoreError as error:
        complain_about(error)
        return error.exit_code
    finally:
        await services.shutdown()


async def _ask(services: Services, planner: Planner, goal: str) -> PlannerReply:
    app, settings = services.engine.app, services.settings
    cwd = os.path.abspath(settings.cwd or os.getcwd())
    text = app.redactor.redact(goal)
    environment = await app.facts.environment(cwd)
    item = GoalItem(goal_id="plan", text=text, environment=environment, **_given(settings.file, cwd))
    history: tuple[HistoryItem, ...] = (item,)
    request = PlannerRequest(history=history, stream=False, code_only=settings.code)
    return await planner.plan(request, _ignore)


def _given(paths: tuple[str, ...], cwd: str) -> dict[str, Any]:
    """The files of a goal, and its images."""
    if not paths:
        return {}
    from agent.commands.planner_input import read_files

    files, media = read_files(paths, cwd)
    return {"files": files, "media": tuple(map(Attached.of, media))}


async def _ignore(text: str, /, *, thought: bool = False) -> None:
    """Deltas are not shown."""


def _print_bare(answer: PlannerReply) -> None:
    match answer.reply:
        case Command(command=command):
            say(command if not sys.stdout.isatty() else shown(command))
        case Plan(steps=steps):
            for step in steps:
                text = step.command or f"# {step.goal}"
                say(text if not sys.stdout.isatty() else shown(text))
        case Chat(message=message):
            complain(shown(message))
        case ToolCalls(calls=calls):
            for call in calls:
                say(json_line({"name": call.name, "arguments": call.arguments}))


def _as_object(services: Services, goal: str, answer: PlannerReply) -> dict[str, Any]:
    """The object of docs/cli.md, without keys that do not apply."""
    out: dict[str, Any] = {"goal": goal}
    match answer.reply:
        case Chat(message=message, choices=choices):
            out |= {"mode": "chat", "message": message}
            out |= {"choices": choices} if choices else {}
        case Command() as reply:
            out |= {"mode": "command", "command": reply.command}
            out |= {"message": reply.reason} if reply.reason else {}
            out |= {"risk": _risk(services, reply), **_beside(reply)}
            out |= {"confidence": reply.confidence} if reply.confidence is not None else {}
        case Plan() as reply:
            out |= {"mode": "plan", "message": reply.message} if reply.message else {"mode": "plan"}
            out["plan"] = [_step_object(services, step) for step in reply.steps]
            out |= {"confidence": reply.confidence} if reply.confidence is not None else {}
        case ToolCalls() as reply:
            out["mode"] = "plan" if reply.plan else "tools"
            out |= {"plan": reply.plan} if reply.plan else {}
            out |= {"message": reply.text} if reply.text else {}
            out["tool_calls"] = reply.calls
    return out


def _step_object(services: Services, step: PlanStep) -> dict[str, Any]:
    """One step of a plan: its command, with the risk as it looks before the steps before it have run, where it is known already."""
    out: dict[str, Any] = {"goal": step.goal}
    if step.command:
        out |= {"command": step.command}
        out |= {"message": step.reason} if step.reason else {}
        out |= {"risk": _risk(services, step), **_beside(step)}
    return out


def _risk(services: Services, reply: Command | PlanStep) -> dict[str, Any]:
    from agent.frontends.subcommands.risk import report_object
    from agent.risk.analysers import opinion_findings, raised

    report = services.rate(reply.command, os.path.abspath(services.settings.cwd or os.getcwd()))
    return report_object(raised(report, opinion_findings(reply.opinion, reply.command)))


def _beside(reply: Command | PlanStep) -> dict[str, Any]:
    """Tell how the goal was read, what the command leaves out of it, and what else it may mean."""
    found = {"reading": reply.reading, "unused": reply.unused, "alternatives": reply.alternatives}
    return {key: value for key, value in found.items() if value}


async def _batch(services: Services, path: str) -> int:
    """One line out for each line in, in order; a bad line or a failed goal gives `{"error": …}` and exit code 2 at the end."""
    planner = services.engine.app.make_planner(None, None)
    bad = False
    with _open(path) as file:
        while True:
            line = await asyncio.to_thread(file.readline, _MAX_LINE)
            if not line:
                break
            if not line.strip():
                continue
            try:
                given = _goal_of(line)
                answer = await _ask(services, planner, given["goal"])
                out = given | _as_object(services, given["goal"], answer)
            except CoreError as error:
                bad = True
                out = {"error": error.message}
            say(json_line(out))
    return ExitCode.USAGE if bad else ExitCode.DONE


def _goal_of(line: bytes) -> dict[str, Any]:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidRequest("not a JSON object") from None
    if not isinstance(given, dict) or not isinstance(given.get("goal"), str) or not given["goal"].strip():
        raise InvalidRequest('expected an object with a text "goal"')
    return given


def _open(path: str) -> Any:
    if path == "-":
        stdin: BinaryIO = sys.stdin.buffer
        return nullcontext(stdin)
    try:
        return open(path, "rb")
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror}") from None
