"""`agent-shell work`: do the tasks of a repository, a cycle for each; `lint` checks its TASKS.md."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import asdict, replace

from agent.emitters.console import complain_about, print_rows, say
from agent.emitters.streams import sink_of
from agent.frontends.one_session import open_controller
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.frontends.work_cycles import CycleRuns, asked_in, needs_model, questions_at
from agent.protocol.errors import IoError
from agent.protocol.outcomes import ExitCode
from agent.repo_agent.modes import CycleResult, WorkOptions, work
from agent.repo_agent.open_questions import OpenQuestion
from agent.repo_agent.task_file import TaskFile, read_tasks
from agent.repo_agent.task_lint import lint
from agent.text.shown import shown_line
from agent.text.sizes import counted

_MOST_BYTES = 16 * 1024 * 1024


async def run_work(services: Services, options: WorkOptions) -> int:
    """Do cycles as `options` say; a question is put to the person, where one is there. The exit code. Raises CoreError."""
    repo = os.path.realpath(services.settings.cwd or os.getcwd())
    questions = await questions_at(services, repo)
    needs_model(services.engine.app.make_planner(None, None).name)
    asked = questions.load(options.task)
    session = asked_in(services, asked, options.answer)
    waits = asked is not None and not asked.answer and not options.answer and options.task is None
    async with open_controller(services, cwd=repo, profile="work", session=session) as controller:
        runs = CycleRuns(controller, repo, questions)
        if waits and asked is not None:
            runs.results.append(CycleResult(reason="question", task=asked.task))
            controller.tell(_reminder(asked))
        else:
            await work(runs.run, options)
        while (answer := await _answer(controller, runs)) and not controller.interrupted:
            await work(runs.run, replace(options, answer=answer))
        if len(runs.results) > 1 and not services.settings.json:
            say(_total(runs), sink_of(sys.stdout))
        return controller.signals.exit_code or runs.code


def _reminder(asked: OpenQuestion) -> str:
    return (
        f'? {asked.question}\n  task {asked.task} {asked.title} waits for the answer: agent-shell work --answer "…"\n'
        f"  without one: agent-shell work --task {asked.task}, or another task"
    )


async def _answer(controller: SessionController, runs: CycleRuns) -> str:
    """The person's answer to the question that the last cycle ended with; "" for none, or where it ended otherwise."""
    if (
        not runs.results
        or runs.results[-1].reason != "question"
        or not controller.interactive
        or controller.services.settings.json
    ):
        return ""
    from agent.frontends.confirm.questions import words_at

    ask = words_at(controller.confirmer)
    answer = await ask("answer, or Enter alone to answer later") if ask is not None else None
    return (answer or "").strip()


def _total(runs: CycleRuns) -> str:
    done = sum(each.reason == "complete" for each in runs.results)
    usage = runs.usage
    words = [counted(len(runs.results), "cycle"), f"{counted(done, 'task')} for review"]
    words += [f"{usage.input_tokens + usage.output_tokens:,} tokens"] if usage.input_tokens else []
    return " · ".join(words + ([f"${usage.cost:.4f}"] if usage.cost is not None else []))


def run_lint(path: str, *, json_output: bool) -> int:
    """Print the mistakes of a file, a line each, or what could be worked on; exit code 1 where there are any."""
    try:
        file = read_tasks(_text(path))
    except IoError as error:
        complain_about(error)
        return error.exit_code
    problems, out = lint(file), sink_of(sys.stdout)
    if json_output:
        print_rows([asdict(each) for each in problems], json=True, out=out)
    elif problems:
        for each in problems:
            say(shown_line(f"{path}:{each.line}: {each.text}"), out)
    else:
        say(shown_line(f"{path}: {_summary(file)}"), out)
    return ExitCode.FAILED if problems else ExitCode.DONE


def _summary(file: TaskFile) -> str:
    features = sum(len(each.features) for each in file.tasks)
    able = ", ".join(each.name for each in file.eligible)
    next_ones = f"next: {able}" if able else "none can be worked on now"
    return f"{counted(len(file.tasks), 'task')}, {counted(features, 'feature')}; {next_ones}"


def _text(path: str) -> str:
    """Read it as UTF-8, what is none of it kept. Raises IoError."""
    try:
        with open(path, "rb", opener=_without_waiting) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise IoError(f"cannot read {path}: it is no regular file")
            data = stream.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise IoError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > _MOST_BYTES:
        raise IoError(f"{path} is larger than {_MOST_BYTES >> 20} MiB")
    return data.decode("utf-8", "surrogateescape")


def _without_waiting(path: str, flags: int) -> int:
    """Open it, also where it is a pipe that nobody writes to."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
