"""Check a call against the definition of done: changes, green tests, a commit for each feature, the status, submission, the end."""

from __future__ import annotations

from agent.repo_agent.root import root_of, text_in
from agent.repo_agent.task_file import Entry, Status, TaskFile, read_tasks
from agent.repo_agent.tested_tree import changed_since
from agent.repo_agent.tools.definition import Arguments
from agent.repo_agent.workplace import TASK_FILE, Workplace

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
