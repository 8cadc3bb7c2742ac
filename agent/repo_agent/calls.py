"""Run the tool calls of one reply: in order, each checked against the definition of done, the rest skipped after a change that failed."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import partial
from typing import Literal

from agent.engine.goal import Goal
from agent.engine.proposing import react
from agent.engine.strategy import Ending
from agent.engine.tool_calls import answer, run_tool
from agent.protocol.actions import FileAction, OpenPullRequest, Performed
from agent.protocol.errors import InvalidRequest, PlannerError
from agent.protocol.messages import CommandItem, ToolCall
from agent.protocol.outcomes import ExitCode, GoalStatus
from agent.protocol.ports import ToolResult
from agent.protocol.replies import Command, ToolCalls
from agent.repo_agent.root import root_of, text_in
from agent.repo_agent.task_file import Entry, Status, TaskFile, read_tasks
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.tools.registry import TOOLS, tool_named
from agent.repo_agent.workplace import TASK_FILE, Workplace, changed_since

_SUBMITTED = (Status.REVIEW, Status.DONE)
_UNTESTED = "the tests have not passed since the last change: call run_tests, and mend what fails"


async def violation(name: str, arguments: Arguments, place: Workplace) -> str:
    """Say in words for a model what has to come before this call; "" where it may be done."""
    match name:
        case "finish_feature":
            return await _of_feature(arguments.task_id, arguments.feature_id, place)  # type: ignore[attr-defined]
        case "submit_for_review":
            return await _of_submission(arguments.task_id, place)  # type: ignore[attr-defined]
        case "finish":
            return _of_end(arguments.reason, place)  # type: ignore[attr-defined]
    return ""


def tasks_here(place: Workplace) -> TaskFile:
    """Read the task file of the worktree; an empty one where there is none."""
    return read_tasks(text_in(root_of(place.root), TASK_FILE) or "")


async def _recount(place: Workplace) -> None:
    """Forget features whose commits are on the branch no more."""
    there = {each.number for each in await place.features_done()}
    place.progress.features[:] = [each for each in place.progress.features if each in there]


async def _of_feature(task: int, feature: int, place: Workplace) -> str:
    if task != place.task:
        return f"this cycle is for task {place.task}, not for task {task}"
    entry = tasks_here(place).find(task)
    known = [each.feature for each in entry.features] if entry is not None else []
    if known and feature not in known:
        return f"task {task} has no feature {feature}; its features are {', '.join(f'{task}.{each}' for each in known)}"
    if feature in place.progress.features:
        await _recount(place)
    if feature in place.progress.features:
        return f"feature {task}.{feature} has its commit already"
    return await _untested(place)


async def _of_submission(task: int, place: Workplace) -> str:
    if task != place.task:
        return f"this cycle is for task {place.task}, not for task {task}"
    entry = tasks_here(place).find(task)
    if entry is None:
        return f"task {task} is not in {TASK_FILE} any more; put it back, with its new status"
    before = read_tasks(await place.repository.text_at(place.base, TASK_FILE) or "").find(task)
    if entry.status not in _SUBMITTED or (before is not None and before.status is entry.status):
        return f"the status of task {task} in {TASK_FILE} is still {entry.status}: set it to review (or done) by write_file first"
    if before is not None and (lost := _lost(before, entry)):
        return (
            f"put back in {TASK_FILE} what it has on {place.base_branch or 'the base'}: {'; '.join(lost[:10])}. Only statuses may change, "
            f"and a person alone drops a feature"
        )
    await _recount(place)
    missing = _without_commit(entry, place)
    if missing:
        return f"finish_feature has made no commit for {', '.join(missing)}"
    return await _untested(place)


async def _untested(place: Workplace) -> str:
    """Say that the files are not those that the tests passed for, "" where they are."""
    progress = place.progress
    if progress.untestable:
        return ""
    if not progress.is_green:
        return _UNTESTED
    if progress.tree is None:
        return ""
    changed = await changed_since(place.repository, progress.tree)
    hint = "is not what it was when they began; what the tests themselves write belongs into .gitignore"
    return f"{_UNTESTED} ({changed} {hint})" if changed else ""


def _lost(before: Entry, now: Entry) -> list[str]:
    """Return what was asked for on the base, and is not asked for any more: features, what they are, and acceptance."""
    here = {(each.task, each.feature): each for each in (*reversed(now.features), now)}
    lost = []
    for each in (before, *before.features):
        found = here.get((each.task, each.feature))
        if found is None or found.title != each.title:
            lost.append(f"{each.name} {each.title}")
        elif found.status is Status.DROPPED is not each.status:
            lost.append(f"{each.name} {each.title} ({each.status}, not dropped)")
        kept = found.acceptance if found is not None else []
        lost += [f"acceptance of {each.name}: {line}" for line in each.acceptance if line not in kept]
    return lost


def _without_commit(entry: Entry, place: Workplace) -> list[str]:
    """Return the names of features that were neither committed nor dropped."""
    return [
        each.name
        for each in entry.features
        if each.feature not in place.progress.features and each.status is not Status.DROPPED
    ]


def _of_end(reason: str, place: Workplace) -> str:
    progress = place.progress
    if progress.submitted and progress.submitted > progress.changes:
        return ""
    if reason == "no_tasks":
        return f"task {place.task} can be worked on; where it cannot be done, say why with ask_question"
    if progress.submitted:
        return "files were changed after submit_for_review: run_tests and submit_for_review again"
    return "submit_for_review comes before finish; where the task cannot be done, say why with ask_question"


_MOST_VIOLATIONS = 6
"""In a row, before a model that does not heed the definition of done is stopped."""


@dataclass(eq=False)
class CallDoors:
    """tools.definition.Doors: the goal's gate for one call, with the shell in the worktree.

    `anywhere`: git may change other repositories than that, too. `ended`: how the goal ended by what became of a change (nobody was there
    to agree, a person turned two down in a row, Ctrl-C).
    """

    goal: Goal
    root: str
    call_id: str
    anywhere: bool = False
    ended: Ending | None = None

    async def perform(self, action: FileAction | OpenPullRequest) -> Performed:
        came = await self.goal.gate.for_call(self.call_id).perform(action)
        if came.outcome == "ran":
            self.goal.skips = 0
        elif came.outcome == "cancelled" or self.goal.options.cancel.cancelled:
            self.ended = Ending(GoalStatus.CANCELLED, "cancelled")
        elif came.outcome == "declined" and not self.goal.options.approval.interactive:
            self.ended = Ending(GoalStatus.SKIPPED, came.remark)
        elif came.outcome in ("declined", "skipped"):
            self.goal.skips += 1
            if self.goal.skips > 1:
                self.ended = Ending(GoalStatus.CANCELLED, "two changes in a row were turned down", ExitCode.DECLINED)
        return came

    async def run(self, command: str, *, reason: str = "", grant: str = "") -> CommandItem:
        if self.goal.ctx.cwd != self.root:
            command = f"cd -- {shlex.quote(self.root)} && {command}"
        reply = Command(command=command, reason=reason)
        item = await self.goal.run(
            reply, origin="tool", call_id=self.call_id, grant=grant, within="" if self.anywhere else self.root
        )
        self.ended = await react(self.goal, item) or self.ended  # a call may run several
        return item


@dataclass(eq=False)
class CallRunner:
    """Runs the calls of one cycle. `ask`: "each" has a person agree to every call, also to one that only reads."""

    goal: Goal
    place: Workplace
    ask: Literal["each", "changes"] = "changes"

    async def run(self, reply: ToolCalls) -> Ending | None:
        """Run them; how the goal ended by one of them, None where it goes on.

        Raises PlannerError for a model that does not heed what it is told, BudgetExceeded, RecordingError, Cancelled.
        """
        goal, progress = self.goal, self.place.progress
        ended: Ending | None = None
        stopped = ""
        for call in reply.calls:
            if stopped:
                await answer(goal, call, ToolResult(content=f"skipped: {stopped}", is_error=True))
                continue
            goal.tool_calls += 1
            progress.calls += 1
            tool, doors = tool_named(call.name), CallDoors(goal, self.place.root, call.id)
            work = partial(self._called, call, tool, doors)
            result = await run_tool(goal, call, work, state=f"{progress.changes} {progress.green}")
            progress.changed(*result.files_written)
            if progress.violations > _MOST_VIOLATIONS:
                raise PlannerError(f"the model does not heed what its work still lacks: {result.content}")
            if result.is_error and (tool is None or tool.effect is not Effect.READS):
                stopped = f"{call.name} failed"
            ended = doors.ended
            if progress.ended is not None or ended is not None:
                stopped = "this cycle has ended"
        if not reply.calls:
            await self._idle()
        return ended

    async def _called(self, call: ToolCall, tool: ToolDefinition | None, doors: CallDoors) -> ToolResult:
        if tool is None:
            known = ", ".join(TOOLS)
            return ToolResult(content=f"there is no tool called {call.name!r}; the tools are: {known}", is_error=True)
        try:
            arguments = tool.read(call.arguments)
        except InvalidRequest as error:
            return ToolResult(content=error.message, is_error=True)
        missing = await violation(tool.name, arguments, self.place)
        if missing:
            self.place.progress.violations += 1
            return ToolResult(content=f"not done: {missing}", is_error=True)
        self.place.progress.violations = 0
        if self.ask == "each" and tool.effect in (Effect.READS, Effect.TELLS) and not await self._agreed(call):
            return ToolResult(content="the person did not agree to this call", is_error=True)
        return await tool.run(arguments, self.place, doors)

    async def _agreed(self, call: ToolCall) -> bool:
        text = f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}"
        return await self.goal.gate.agree(call.id, text)

    async def _idle(self) -> None:
        """Tell a model that called nothing. Raises PlannerError for a monologue."""
        idle = self.goal.guard.idle()
        if idle.kind == "error":
            raise PlannerError(idle.text)
        await self.goal.note(
            "Nothing was called. Go on with calls; `ask_question` puts a question, `finish` ends the cycle."
        )
