"""Commit and push a feature, submit a task for review (the only tools that publish anything), and end a cycle."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from agent.protocol.errors import CoreError
from agent.protocol.ports import ToolResult
from agent.repo_agent import messages
from agent.repo_agent.publication import NotPublished, Publication
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.workplace import Doors, Workplace

Number = Annotated[int, Meta(ge=1, le=999_999_999)]


class FinishFeature(Arguments, frozen=True, kw_only=True):
    """`feature_id`: of 10.1 it is 1."""

    task_id: Number
    feature_id: Number
    title: str
    message: str = ""


class SubmitForReview(Arguments, frozen=True, kw_only=True):
    task_id: Number
    task_title: str


async def finish_feature(arguments: FinishFeature, place: Workplace, doors: Doors) -> ToolResult:
    """One commit for the feature, pushed. A feature that was committed before, and not pushed, is pushed."""
    task, feature = arguments.task_id, arguments.feature_id
    name = f"{task}.{feature}"
    try:
        publication = Publication(place, doors)
        await publication.check(task)
        text = messages.feature_message(task, feature, arguments.title, arguments.message)
        made = await publication.commit(text)
        commit = await place.repository.head()
        if made and place.marks is not None:
            place.marks.feature(name, commit)
        elif not made and name not in [each.feature for each in await place.features_done()]:
            raise NotPublished(
                f"there is nothing to commit for feature {name}: no file differs. Only this tool's own commits count; "
                f"one that was made otherwise can be taken back by `git reset --soft HEAD^`"
            )
        pushed = await publication.push(place.branch)
    except (NotPublished, CoreError) as error:
        return _failed(error)
    if feature not in place.progress.features:
        place.progress.features.append(feature)
    where = f"pushed to {place.remote}" if pushed else "there is no remote to push to"
    return ToolResult(content=f"feature {name} is committed as {commit[:12]}; {where}")


async def submit_for_review(arguments: SubmitForReview, place: Workplace, doors: Doors) -> ToolResult:
    """Commit what is left, push, and open a pull request; where it is open, its text is written anew."""
    try:
        publication = Publication(place, doors)
        if place.pull_requests is None:
            raise NotPublished("this session opens no pull requests")
        await publication.check(arguments.task_id)
        repository = place.repository
        await publication.fetch()
        await publication.commit(messages.submit_message(place.task, arguments.task_title))
        ahead = await repository.ahead_behind(place.base)
        if ahead is not None and not ahead[0]:
            raise NotPublished("there is nothing to submit: no commit was made")
        await publication.check_merge()
        await publication.push(place.branch)
        opened = await publication.open(place.pull_requests, arguments.task_title)
        if opened.push:
            await publication.push(opened.push)
        if place.marks is not None:
            place.marks.submitted(await repository.head())
    except (NotPublished, CoreError) as error:
        return _failed(error)
    place.progress.submitted, place.progress.url = max(1, place.progress.calls), opened.url
    what = "opened" if opened.created else "was open, and its text is new"
    return ToolResult(content=f"pull request {opened.number or ''}".rstrip() + f" {what}: {opened.url}")


def _failed(error: Exception) -> ToolResult:
    return ToolResult(content=error.terminal_message() if isinstance(error, CoreError) else str(error), is_error=True)


TOOLS = (
    ToolDefinition("finish_feature", FinishFeature, Effect.PUBLISHES, finish_feature),
    ToolDefinition("submit_for_review", SubmitForReview, Effect.PUBLISHES, submit_for_review),
)


class AskQuestion(Arguments, frozen=True, kw_only=True):
    question_text: str


class Finish(Arguments, frozen=True, kw_only=True):
    reason: Literal["done", "no_tasks"] = "done"


class SessionComplete(Arguments, frozen=True, kw_only=True):
    message: str = ""


async def ask_question(arguments: AskQuestion, place: Workplace, doors: Doors) -> ToolResult:
    """Halt the cycle with a question."""
    question = arguments.question_text.strip()
    if not question:
        return ToolResult(content="`question_text` must not be empty", is_error=True)
    place.progress.ended, place.progress.words = "question", question
    return ToolResult(content="asked; the answer begins your next turn")


async def finish(arguments: Finish, place: Workplace, doors: Doors) -> ToolResult:
    """End the cycle; whether it is done was checked before."""
    place.progress.ended = "no_tasks" if arguments.reason == "no_tasks" else "complete"
    return ToolResult(content="this cycle is done")


async def session_complete(arguments: SessionComplete, place: Workplace, doors: Doors) -> ToolResult:
    """Do nothing: a session is no cycle."""
    return ToolResult(content="noted; `finish` ends this cycle")


SESSION_COMPLETE = ToolDefinition("session_complete", SessionComplete, Effect.TELLS, session_complete)
SIGNALS = (
    ToolDefinition("ask_question", AskQuestion, Effect.TELLS, ask_question),
    ToolDefinition("finish", Finish, Effect.TELLS, finish),
)
