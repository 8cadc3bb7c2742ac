"""Summarize how a goal ended: pure functions over its history items."""

from __future__ import annotations

from msgspec.structs import replace

from agent.engine.strategy import Ending
from agent.protocol.errors import BudgetExceeded, Cancelled, CoreError, OtherError, PlannerError, ProviderError
from agent.protocol.messages import CommandItem
from agent.protocol.outcomes import WORD_NOT_TYPED, CommandSummary, GoalStatus
from agent.recording.lifecycle import summary_of

_CAP = 16_384  # characters of an output's head and of its tail in `goal.finished`


def status_after_chat(items: list[CommandItem], reached: bool | None = None, *, lacks: str = "") -> GoalStatus:
    """A chat reply ended the goal: completed if the last command that ran succeeded, failed if it failed, or if nothing ran because a
    program is missing that the goal `lacks`, not understood where nothing ran and the reply says that its goal is not `reached`.

    Some exit codes are answers (grep's 1), and a command that became a job has none yet: then it was answered.
    """
    ran = [item for item in items if item.outcome == "ran"]
    if ran:
        last = ran[-1]
        if last.exit_code == 0:
            return GoalStatus.COMPLETED
        return GoalStatus.ANSWERED if last.job or _is_answer(last) else GoalStatus.FAILED
    if items and items[-1].outcome == "refused":
        return GoalStatus.BLOCKED_BY_POLICY
    if items and items[-1].outcome in ("skipped", "declined") and items[-1].remark != "dry run":
        return GoalStatus.SKIPPED
    if lacks:
        return GoalStatus.FAILED
    return GoalStatus.NOT_UNDERSTOOD if reached is False else GoalStatus.ANSWERED


def _is_answer(item: CommandItem) -> bool:
    from agent.lexicon.exit_answers import answer_of

    return item.exit_code is None or bool(answer_of(item))


def status_of_direct(item: CommandItem) -> GoalStatus:
    """The person's own command (`!cmd`, exec): its fate is the goal's."""
    if item.outcome == "ran":
        if item.job:
            return GoalStatus.HANDED_OFF
        if item.interrupted:
            return GoalStatus.INTERRUPTED
        if item.timed_out:
            return GoalStatus.BUDGET_EXHAUSTED
        return GoalStatus.COMPLETED if item.exit_code == 0 else GoalStatus.FAILED
    if item.remark == "dry run":
        return GoalStatus.ANSWERED
    by_outcome = {"refused": GoalStatus.BLOCKED_BY_POLICY, "cancelled": GoalStatus.CANCELLED}
    return by_outcome.get(item.outcome, GoalStatus.SKIPPED)


def not_run(item: CommandItem) -> str:
    """Say why a command did not run; "" where its outcome says it all."""
    if item.outcome == "declined" and item.run:  # it was confirmed, and then the second prompt was not
        return WORD_NOT_TYPED
    return goes_on(item) if item.job else item.remark


def goes_on(item: CommandItem) -> str:
    """Say of a goal that ends that its command runs on."""
    return f"it continues in the background as job {item.job}"


def message_after_chat(items: list[CommandItem], message: str) -> str:
    """Choose the message of a goal that a chat reply ended: that nothing ran for want of the word outweighs the chat."""
    skipped = items and status_after_chat(items) is GoalStatus.SKIPPED
    return WORD_NOT_TYPED if skipped and not_run(items[-1]) == WORD_NOT_TYPED else message


def command_summary(item: CommandItem) -> CommandSummary:
    """Sum up one command for `goal.finished`: outputs capped."""
    summary = summary_of(item)
    return replace(
        summary, stdout=capped(summary.stdout), stderr=capped(summary.stderr), duration=round(summary.duration, 6)
    )


def capped(text: str) -> str:
    """Head and tail of a long text, with a line that says how much is left out."""
    if len(text) <= 2 * _CAP + 100:
        return text
    return f"{text[:_CAP]}\n[… {len(text) - 2 * _CAP:,} characters left out …]\n{text[-_CAP:]}"


def ended_by(error: Exception) -> tuple[Ending, CoreError]:
    """The ending that stands for an error, and the error as it is recorded and shown."""
    if not isinstance(error, CoreError):
        error = OtherError(f"unexpected {type(error).__name__}: {error}", hint="run again with --debug for details")
    status, exit_code = GoalStatus.FAILED, error.exit_code
    if isinstance(error, Cancelled):
        by_person = error.message in ("interrupted", "cancelled")
        status = GoalStatus.INTERRUPTED if by_person else GoalStatus.CANCELLED
    elif isinstance(error, (PlannerError, ProviderError)):
        status = GoalStatus.PLANNER_ERROR
    elif isinstance(error, BudgetExceeded):
        status = GoalStatus.BUDGET_EXHAUSTED
    return Ending(status, error.message, exit_code), error
