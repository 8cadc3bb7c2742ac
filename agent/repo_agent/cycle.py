"""Pursue one cycle of work on a task: begin it, ask the model and run its calls until the work is done or cannot go on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from agent.engine.goal import Goal
from agent.engine.goal_loop import ask
from agent.engine.strategy import Ending
from agent.engine.summary import ended_by
from agent.protocol.errors import InvalidState
from agent.protocol.events.goal import CycleFinished, CyclePlanned, CycleStarted
from agent.protocol.outcomes import GoalStatus
from agent.protocol.replies import Chat, ToolCalls
from agent.repo_agent.beginning import begin, brief
from agent.repo_agent.calls import CallRunner, tasks_here
from agent.repo_agent.open_questions import OpenQuestion
from agent.repo_agent.tools.definition import prompt
from agent.repo_agent.tools.registry import TOOLS
from agent.repo_agent.workplace import Workplace

_REASONS = {
    GoalStatus.BUDGET_EXHAUSTED: "budget",
    GoalStatus.CANCELLED: "cancelled",
    GoalStatus.INTERRUPTED: "cancelled",
    GoalStatus.SKIPPED: "cancelled",
}


@dataclass(frozen=True)
class RepoAgent:
    """strategy.TurnStrategy: one cycle of the repo agent."""

    async def pursue(self, goal: Goal) -> Ending:
        if goal.ctx.planner.name == "offline":
            hint = "choose one with --planner and --model; `agent-shell models` shows what there is"
            raise InvalidState(expected="a planner that asks a model", found="the offline planner", hint=hint)
        begun = await begin(goal)
        if isinstance(begun, Ending):
            return begun
        if isinstance(begun, str):
            await goal.events.send(CycleStarted(task=0))
            await goal.events.send(CycleFinished(reason="no_tasks", text=begun))
            return Ending(GoalStatus.ANSWERED, begun)
        place, rehearse = begun, goal.options.cycle.rehearse
        await goal.events.send(
            CycleStarted(
                task=place.task,
                title=place.title,
                branch=place.branch,
                base=place.base_branch,
                worktree=place.root,
                resumed=place.resumed,
                rehearse=rehearse,
                features=_titles(place),
            )
        )
        reason, ending = "cancelled", Ending(GoalStatus.INTERRUPTED, "interrupted")
        try:
            reason, ending = await self._work(goal, place)
        except Exception as error:
            ending, _ = ended_by(error)
            reason = _REASONS.get(ending.status, "failed")
            raise
        finally:
            await goal.events.send_if_possible(_finished(goal, place, reason, ending.message))
            if place.claim is not None:
                place.claim.close()
            if rehearse:
                shutil.rmtree(os.path.dirname(place.copied), ignore_errors=True)
        return ending

    async def _work(self, goal: Goal, place: Workplace) -> tuple[str, Ending]:
        """Ask and run until the cycle ends: the reason for the log, and the ending of the goal."""
        await goal.note(brief(place))
        options, specs = goal.options.cycle, tuple(tool.spec for tool in TOOLS.values())
        runner = CallRunner(goal, place, options.ask)
        while True:
            reply = (await ask(goal, tools=specs, instructions=prompt("system"))).reply
            calls = reply if isinstance(reply, ToolCalls) else ToolCalls(calls=())
            plan = reply.message if isinstance(reply, Chat) else calls.plan or calls.text
            await goal.events.send(CyclePlanned(plan=plan, calls=tuple(call.name for call in calls.calls)))
            ended = await runner.run(calls)
            if place.progress.ended is not None:
                return place.progress.ended, await _end(goal, place)
            if ended is not None:
                return _REASONS.get(ended.status, "failed"), ended
            if options.one_plan:
                return "one_plan", Ending(GoalStatus.COMPLETED, "the calls of one plan were carried out")


async def _end(goal: Goal, place: Workplace) -> Ending:
    """Keep the question; or forget that of the task, which is done."""
    progress = place.progress
    questions = None if goal.options.cycle.rehearse else place.questions
    if progress.ended == "question":
        goal.asked = True
        question = OpenQuestion(
            session=goal.ctx.session_id,
            task=place.task,
            title=place.title,
            question=goal.ctx.redactor.redact(progress.words),
            worktree=place.root,
        )
        if questions is not None:
            questions.keep(question)
        return Ending(GoalStatus.ANSWERED, progress.words)
    goal.done = True
    if questions is not None:
        questions.clear(place.task)
    return Ending(GoalStatus.COMPLETED, f"task {place.task} waits for its review")


def _titles(place: Workplace) -> tuple[str, ...]:
    """Return the features that have their commit, each with its title in the task file."""
    file = tasks_here(place)
    found = ((each, file.find(place.task, each)) for each in place.progress.features)
    return tuple(f"{place.task}.{each} {entry.title if entry is not None else ''}".rstrip() for each, entry in found)


def _files(place: Workplace, written: Sequence[str]) -> tuple[str, ...]:
    """Return files as the worktree has them, each once: a command may name them by their whole paths."""
    inside = f"{place.root}/"
    return tuple(dict.fromkeys(each.removeprefix(inside) for each in written))


def _finished(goal: Goal, place: Workplace, reason: str, text: str) -> CycleFinished:
    progress, redact = place.progress, goal.ctx.redactor.redact
    return CycleFinished(
        reason=reason,
        task=place.task,
        text=redact(text),
        url=redact(progress.url),
        features=tuple(progress.features),
        passed=progress.passed,
        total=progress.total,
        files=_files(place, goal.files_written),
        test_setup=tuple(map(redact, progress.test_setup)),
        pushed_elsewhere=tuple(progress.pushed_elsewhere),
        worktree=place.root,
    )
