"""Begin a cycle: fetch, choose the task, go to its worktree, and tell the model what it is for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from functools import partial
from shlex import quote
from typing import IO

from agent.engine.goal import Goal
from agent.engine.strategy import Ending
from agent.planner.facts.git_facts import repository_of
from agent.protocol.errors import CoreError, InvalidState, IoError, NotFound
from agent.repo_agent.calls import CallDoors, tasks_here
from agent.repo_agent.marks import new_place
from agent.repo_agent.open_questions import OpenQuestions
from agent.repo_agent.repository import Repository, changed_settings
from agent.repo_agent.root import root_of, text_in
from agent.repo_agent.task_file import Entry, Status, TaskFile, read_tasks
from agent.repo_agent.test_runner import runner_words
from agent.repo_agent.workplace import TASK_FILE, Progress, Workplace
from agent.repo_agent.worktrees import Worktrees, said_by, succeeded, worktrees_beside

_MOST_TASK_TEXT = 20_000


async def begin(goal: Goal) -> Workplace | Ending | str:
    """Return the place to work in, the ending that somebody chose meanwhile, or in words why there is no task. Raises CoreError."""
    processes, state = goal.app.processes, goal.app.state_dir
    if processes is None:
        raise InvalidState(expected="a session that may ask git", found="one that runs no programs")
    top = repository_of(goal.ctx.base or goal.ctx.cwd)
    if not top:
        raise InvalidState(expected="a git repository", found=goal.ctx.base, hint="--repo names its folder")
    doors, original, held = CallDoors(goal, os.path.realpath(top), ""), "", None
    repository = Repository(processes, os.path.realpath(top))
    try:
        if not await repository.has_identity():
            hint = "git config --global user.name and user.email set them"
            raise InvalidState(expected="a name and an address for commits", found="none in git's settings", hint=hint)
        then = goal.options.cycle.settings
        if then is not None and (names := changed_settings(then, await repository.settings())):
            hint = "`git config --list --show-origin` shows them; where they are as they should be, start anew"
            raise IoError(f"git's settings are not what they were when the run began: {names}", hint=hint)
        if goal.options.cycle.rehearse:
            common = await repository.common_folder()
            doors = CallDoors(goal, repository.root, "", anywhere=True)
            repository, held = await _copied(repository, doors, state)
            original = os.path.dirname(common)
            state, doors = f"{repository.root}-state", CallDoors(goal, repository.root, "")
        worktrees = Worktrees(repository, state)
        await worktrees.fetch(doors)
        base, _ = await worktrees.base()
        text = await repository.text_at(base.commit, TASK_FILE)
        if text is None:
            raise NotFound("file", f"{TASK_FILE} on {base.branch}", hint="docs/repo-agent.md says what stands in it")
        file = read_tasks(text)
        if goal.options.approval.mode == "medium" and not goal.options.cycle.rehearse:  # then nobody is asked about it
            done = [each.task for each in file.tasks if each.status is Status.DONE]
            await worktrees.tidy(done, CallDoors(goal, repository.root, ""))
        chosen = await _chosen(file, goal.options.cycle.task, worktrees)
        if isinstance(chosen, str):
            _forget(repository, original)
            return chosen
        entry, claim = chosen
        place = await worktrees.prepare(entry.task, doors)
    except CoreError:
        _forget(repository, original)
        if doors.ended is not None:
            return doors.ended
        raise
    place.title, place.pull_requests = entry.title, goal.app.pull_requests
    place.questions = OpenQuestions(await worktrees.kept())
    place.copied, place.original, place.held = repository.root if original else "", original, held
    place.sign_off, place.claim, place.redact = await repository.signs_off(), claim, goal.ctx.redactor.redact
    place.progress = await _progress(place)
    return place


def _forget(repository: Repository, original: str) -> None:
    """Remove the copy of a rehearsal that came to nothing."""
    if original:
        shutil.rmtree(os.path.dirname(repository.root), ignore_errors=True)


async def _chosen(file: TaskFile, wanted: int | None, worktrees: Worktrees) -> tuple[Entry, IO[str]] | str:
    """Return the task to work on, claimed, or in words why there is none. Raises NotFound and InvalidState for one that was asked for."""
    submitted = await worktrees.submitted()
    if wanted is not None:
        entry = file.find(wanted)
        if entry is None:
            raise NotFound("task", str(wanted))
        if wanted in submitted:
            raise _unable(f"task {wanted} waits for its review")
        if entry not in file.eligible:
            raise _unable(_why_not(file, entry))
        claim = (await worktrees.marks(wanted)).claim()
        if claim is None:
            raise _unable(f"another process works on task {wanted}")
        return entry, claim
    able = [each for each in file.eligible if each.task not in submitted]
    begun = {each.task for each in await worktrees.branches()}
    for each in sorted(able, key=lambda each: each.task not in begun):  # the first in the file, unless one was begun
        if (claim := (await worktrees.marks(each.task)).claim()) is not None:
            return each, claim
    if able:
        others = "another process works" if len(able) == 1 else "other processes work"
        return f"no task can be worked on: {others} on {_named(able)}"
    if file.eligible:
        wait = "waits for its review" if len(file.eligible) == 1 else "wait for their reviews"
        return f"no task can be worked on: {_named(file.eligible)} {wait}"
    why = "each one in it is done, blocked, or depends on others" if file.tasks else "there is none in it"
    return f"no task of {TASK_FILE} can be worked on: {why}"


def _unable(why: str) -> InvalidState:
    return InvalidState(expected="a task to work on", found=why, message=why)


def _why_not(file: TaskFile, entry: Entry) -> str:
    """Say why a task cannot be worked on."""
    if entry.status not in (Status.TODO, Status.DOING):
        return f"task {entry.task} is {'waiting for its review' if entry.status is Status.REVIEW else entry.status}"
    done = {each.task for each in file.tasks if each.status is Status.DONE}
    left = [str(each) for each in entry.depends if each not in done]
    return (
        f"task {entry.task} waits for {_listed(left)}"
        if left
        else f"a task that {entry.task} depends on is there twice"
    )


def _named(tasks: Sequence[Entry]) -> str:
    return f"task{'s' if len(tasks) > 1 else ''} {_listed([str(each.task) for each in tasks])}"


async def _copied(repository: Repository, doors: CallDoors, state: str) -> tuple[Repository, IO[str]]:
    """Copy the repository for a rehearsal: it has the same base, and no remote that anything could be pushed to.

    As long as what comes with it is open, the copy counts as one that is in use.
    """
    base = await repository.base()
    folder, held = new_place(worktrees_beside(state))
    top, there, branch = quote(repository.root), quote(folder), quote(base.branch)
    item = await doors.run(
        f"git init --quiet -- {there} && git -C {there} fetch --quiet --tags -- {top} {quote(base.revision)}"
        f" && git -C {there} checkout --quiet -B {branch} FETCH_HEAD",
        reason="a copy to rehearse in; nothing of it comes back",
    )
    if not succeeded(item):
        shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
        raise IoError(f"the repository could not be copied: {said_by(item)}")
    return Repository(repository.processes, os.path.realpath(folder), repository.protected), held


async def _progress(place: Workplace) -> Progress:
    """Return how far earlier cycles have come: features that have their commit, and changes that no test has seen."""
    commits = await place.features_done()
    progress = Progress(calls=1, features=list(dict.fromkeys(each.number for each in commits)))
    if place.left or commits:
        progress.changes = progress.calls
    progress.untestable = not runner_words(partial(text_in, root_of(place.root)))
    return progress


def brief(place: Workplace) -> str:
    """Tell the model what its cycle is for, and where it stands."""
    entry = tasks_here(place).find(place.task)
    lines = [
        f"This cycle is for task {place.task}: {place.title}. Its part of {TASK_FILE}:",
        "",
        _text_of(place, entry),
        "",
    ]
    lines.append(
        f"You are in a worktree of its own, on the branch {place.branch}, which began from {place.base_branch}."
    )
    if place.progress.features:
        lines.append(
            f"These features have their commit already: {', '.join(f'{place.task}.{each}' for each in place.progress.features)}."
        )
    if place.left:
        lines.append(f"Earlier work that is in no commit yet: {_listed([each.path for each in place.left])}.")
    if place.progress.untestable:
        lines.append("Nothing says how the repository is tested: run_tests finds no tests.")
    asked = place.questions.load(place.task) if place.questions is not None else None
    if asked is not None and asked.answer:
        lines += [f"You asked in an earlier cycle: {asked.question}", f"The person's answer: {asked.answer}"]
    return "\n".join(lines)


def _text_of(place: Workplace, entry: Entry | None) -> str:
    """Return the lines of a task, up to the next one."""
    file = tasks_here(place)
    if entry is None:
        return "(it is not there any more)"
    later = [each.line for each in file.tasks if each.line > entry.line]
    text = "\n".join(file.lines[entry.line : min(later, default=len(file.lines))]).strip()
    return text if len(text) <= _MOST_TASK_TEXT else f"{text[:_MOST_TASK_TEXT]}\n…"


def _listed(paths: Sequence[str], most: int = 20) -> str:
    more = f" and {len(paths) - most:,} more" if len(paths) > most else ""
    return ", ".join(paths[:most]) + more
