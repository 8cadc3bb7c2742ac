"""Run cycles of the repo agent for a front end: each in a session of its own, and what it came to, as its events tell it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from msgspec import structs

from agent.emitters.console import Noticing
from agent.engine.context import RequestContext
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.planner.facts.git_facts import repository_of
from agent.protocol.errors import ConfigError, InvalidState
from agent.protocol.events.goal import CycleFinished, CycleStarted, GoalFinished
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import ExitCode, RunOutcome, Usage, add_usage
from agent.protocol.ports import Emitter
from agent.protocol.records import Record
from agent.protocol.requests import CycleOptions, RunOptions
from agent.repo_agent.modes import CycleResult, WorkOptions
from agent.repo_agent.open_questions import OpenQuestion, OpenQuestions, questions_of
from agent.repo_agent.repository import Repository, Settings
from agent.text.shown import shown_line

_COMMAND_SECONDS = 1_800.0
"""The time that a command has in a cycle, tests included, where the settings say nothing: nobody may be there to end it."""
_STEPS = 150
"""Replies of the model in a cycle, where the settings say nothing: a task takes more of them than a goal."""
_CODES = {
    "complete": ExitCode.DONE,
    "one_plan": ExitCode.DONE,
    "no_tasks": ExitCode.DONE,
    "question": ExitCode.NOT_UNDERSTOOD,
    "budget": ExitCode.FAILED,
}


def needs_model(planner: str) -> None:
    """Raises ConfigError for a planner that calls no tools."""
    if planner == "offline":
        raise ConfigError(
            "working on a repository needs a model, and none is set; the offline planner calls no tools",
            hint="`agent-shell models` lists those of this machine; or set a key, as OPENROUTER_API_KEY, and --model NAME",
        )


class CycleWatch(Noticing):
    """An emitter around another one that keeps how the cycle ended, and what the model's calls used."""

    def __init__(self, inner: Emitter) -> None:
        super().__init__(inner)
        self.finished: CycleFinished | None = None
        self.usage = Usage()

    async def emit(self, record: Record) -> None:
        match record.event:
            case CycleStarted():
                self.finished = None
            case CycleFinished():
                self.finished = record.event
            case GoalFinished(usage=usage):
                self.usage = add_usage(self.usage, usage)
        await super().emit(record)


class CycleRuns:
    """Does one cycle after the other at `controller`, whose session is the first one's. `repo`: a folder of the repository."""

    def __init__(self, controller: SessionController, repo: str, questions: OpenQuestions) -> None:
        self._watch = CycleWatch(controller.emitter)
        controller.emitter = self._watch
        self._controller = controller
        self._repo = repo
        self._questions = questions
        self._settings: Settings | None = None
        self._outcome: RunOutcome | None = None
        self.results: list[CycleResult] = []

    @property
    def usage(self) -> Usage:
        """Sum up what the model's calls of all of them used."""
        return self._watch.usage

    async def run(self, options: WorkOptions) -> CycleResult:
        """One cycle with what `options` say; an answer goes on where the question was put. Raises CoreError."""
        controller = self._controller
        asked = self._questions.load(options.task) if options.answer else None
        if asked is not None and not options.dry_run:  # before the run, which may fail: the next one is told it, too
            self._questions.keep(structs.replace(asked, answer=controller.ctx.redactor.redact(options.answer)))
        here = asked is not None and asked.session == controller.ctx.session_id
        if self._outcome is not None and not here:
            await controller.adopt(await open_session(controller, self._repo), "switched")
        options = replace(options, task=asked.task) if asked is not None else options
        if self._settings is None:  # a later cycle must not take for given what an earlier one has changed
            self._settings = await settings_at(controller.services, self._repo)
        steps = 0 if "max_steps" in controller.services.loaded.origins else _STEPS
        controller.adjust = partial(_adjusted, options=options, settings=self._settings, steps=steps)
        self._watch.finished, before = None, self._watch.usage.cost or 0.0
        self._outcome = await controller.send(UserInput.from_text(_words(options, asked, here=here)))
        result = self._result(self._outcome, (self._watch.usage.cost or 0.0) - before)
        self.results.append(result)
        return result

    def _result(self, outcome: RunOutcome, spent: float) -> CycleResult:
        ended, session = self._watch.finished, self._controller.ctx.session_id
        if ended is None:
            said = outcome.goal.message if outcome.goal is not None else ""
            stopped = outcome.exit_code == ExitCode.CANCELLED
            return CycleResult(reason="cancelled" if stopped else "failed", text=said, session_id=session, spent=spent)
        return CycleResult(
            reason=ended.reason,  # type: ignore[arg-type]  # the log's word for it
            task=ended.task or None,
            text=ended.text,
            url=ended.url,
            features=tuple(f"{ended.task}.{each}" for each in ended.features),
            passed=ended.passed,
            total=ended.total,
            files=ended.files,
            session_id=session,
            worktree=ended.worktree,
            spent=spent,
        )

    @property
    def code(self) -> int:
        """The exit code for how the last one ended."""
        if not self.results:
            return ExitCode.DONE
        known = _CODES.get(self.results[-1].reason)
        return known if known is not None else (self._outcome.exit_code if self._outcome else 0) or ExitCode.FAILED


async def questions_at(services: Services, folder: str) -> OpenQuestions:
    """The questions of the repository around `folder`. Raises InvalidState where there is none."""
    top = repository_of(folder)
    if not top:
        raise InvalidState(
            expected="a git repository", found=f"{shown_line(folder)}, which is in none", hint="--repo names one"
        )
    return await questions_of(services.processes, top, services.engine.app.state_dir)


async def settings_at(services: Services, folder: str) -> Settings:
    """Git's settings in the repository around `folder`. Raises CoreError."""
    return await Repository(services.processes, repository_of(folder)).settings()


def asked_in(services: Services, asked: OpenQuestion | None, answer: str) -> str | None:
    """The session to go on in with an `answer`, None for a new one. Raises InvalidState where nothing was asked."""
    if not answer:
        return None
    if asked is None:
        raise InvalidState(expected="a question that waits for its answer", found="none")
    return asked.session if services.session_is_there(asked.session) else None


async def open_session(controller: SessionController, repo: str, session: str | None = None) -> RequestContext:
    """A session for one cycle. Raises CoreError."""
    return await controller.services.opened("cli", session, cwd=repo, attended=controller.interactive, profile="work")


async def cycle_beside(controller: SessionController, argument: str) -> RunOutcome:
    """One cycle in a session beside the one that the front end goes on in; `argument`: "N ANSWER". Raises CoreError."""
    before, services = controller.ctx, controller.services
    number, _, answer = argument.partition(" ")
    needs_model(before.planner.name)
    questions = await questions_at(services, before.cwd)
    asked = questions.load(int(number)) if number else None
    session = asked_in(services, asked, answer.strip())
    ctx = await open_session(controller, before.cwd, session)
    worker = controller.beside(ctx, controller.emitter)
    try:
        await worker.take_choices(before)
        runs = CycleRuns(worker, before.cwd, questions)
        await runs.run(WorkOptions(task=int(number) if number else None, answer=answer.strip()))
    finally:
        await worker.close()
    controller.interrupted = worker.interrupted
    return RunOutcome(request_id="", session_id=worker.ctx.session_id, exit_code=runs.code)


def _words(options: WorkOptions, asked: OpenQuestion | None, *, here: bool) -> str:
    """Return what the model is told first. `here`: the question stands in the session already."""
    if asked is not None and not here:
        return f"You asked: {asked.question}\nThe answer: {options.answer}"
    return options.answer or f"work on {f'task {options.task}' if options.task else 'the next task'}"


def _adjusted(given: RunOptions, *, options: WorkOptions, settings: Settings, steps: int) -> RunOptions:
    """The options of a run with those of the cycle; `settings`: those of git when it began; `steps`: so many replies, not what is usual.

    A reply is a plan with calls, which nobody reads as it comes.
    """
    cycle = CycleOptions(
        task=options.task, one_plan=options.one_plan, ask=options.ask, rehearse=options.dry_run, settings=settings
    )
    seconds = options.seconds or given.limits.time_budget
    return structs.replace(
        given,
        cycle=cycle,
        limits=structs.replace(
            given.limits,
            cost_budget=options.cost,
            time_budget=seconds,
            max_steps=steps or given.limits.max_steps,
            command_timeout=given.limits.command_timeout or _COMMAND_SECONDS,
        ),
        approval=structs.replace(given.approval, grants=tuple(sorted(options.grants))),
        stream=False,
    )
