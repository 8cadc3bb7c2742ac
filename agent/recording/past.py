"""Choose the session that `--session-id` and `:session` mean, and fold the past of one that is resumed.

The past is that of its log, and of those that it was branched from.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from agent.protocol.approvals import PendingApproval
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.events.command import ApprovalGiven, ApprovalRequested, CommandFinished, CommandProposed
from agent.protocol.events.goal import GoalFinished, GoalStarted, PlanFinished, PlanProposed, PlanStepped
from agent.protocol.events.interview import InterviewStarted, InterviewTurned, InterviewWentBack
from agent.protocol.events.known import Event
from agent.protocol.events.session import (
    CoreCommandFinished,
    RuleAdded,
    RuleRemoved,
    SessionChanged,
    SessionNamed,
    SessionStarted,
)
from agent.protocol.messages import HistoryItem
from agent.protocol.outcomes import GoalStatus, GoalSummary
from agent.protocol.records import LABEL
from agent.protocol.replies import Plan, PlanLeft
from agent.recording.branching import lineage_of, records
from agent.recording.fold import GoalsFold, HistoryFold
from agent.recording.interview_turns import folded
from agent.recording.naming import check_id
from agent.recording.reader import SessionFile, has_goals, list_sessions
from agent.text.lazy_pattern import lazily

LAST = ("last", "-1")
_SHORTEST = 3
_MOST_NAMED = 6


# Ids that we made up, and their beginnings.
_OWN_ID = lazily(r"[0-9]{1,6}|[0-9]{6}-[0-9a-z]{0,6}")


class Choice(Struct, frozen=True):
    """`session_id` is what to open. `found` is the session of that id, None where it is a new one; `said` as it was written."""

    session_id: str
    found: SessionFile | None
    said: str

    @property
    def guessed(self) -> bool:
        """Tell whether the person did not write the whole id."""
        return self.found is not None and self.said != self.session_id


def choose_session(folder: str, wanted: str, *, attended: bool, besides: str = "") -> Choice:
    """The session that `wanted` names. Raises InvalidRequest, NotFound, IoError.

    Where nobody sees which one it is (`attended` false), the beginning of a name that a person chose means a new session of that name: a
    script that names its sessions job-1 and job-10 must not find the one in the other. `besides`: the session that is open, which is not
    the last one; neither is one in which nothing was asked for.
    """
    sessions = list_sessions(folder)
    exact = [session for session in sessions if session.session_id == wanted]
    if exact:
        return Choice(wanted, exact[-1], wanted)
    if wanted in LAST:
        others = [session for session in sessions if session.session_id != besides]
        in_order = sorted(others, key=lambda session: session.by_writing, reverse=True)
        newest = next((session for session in in_order if has_goals(session)), None)
        if newest is None:
            raise NotFound("session", wanted, hint=f"there is no other one with a goal; logs go to {folder}")
        return Choice(newest.session_id, newest, wanted)
    check_id(wanted)
    ours = _OWN_ID.fullmatch(wanted) is not None
    begins = {session.session_id for session in sessions if session.session_id.startswith(wanted)}
    fits = sorted(each for each in begins if attended or (ours and _OWN_ID.fullmatch(each)))
    if not fits or len(wanted) < _SHORTEST:
        return Choice(wanted, None, wanted)
    if len(fits) > 1:
        more = f" and {len(fits) - _MOST_NAMED:,} more" if len(fits) > _MOST_NAMED else ""
        hint = f"say which one: {', '.join(fits[-_MOST_NAMED:])}{more}"
        raise InvalidRequest(f"{len(fits):,} sessions begin with {wanted}", hint=hint)
    (found,) = fits
    return Choice(found, [session for session in sessions if session.session_id == found][-1], wanted)


class SessionFold:
    """`settings`: the last value by key, of what was changed in the session, and the agent that it began with. `before_agent`: what it was
    set to when an agent was taken in it. `rules`: names of those that count for it alone now, `rules_before`: that did so in the process
    before.

    `interview`: the state of the interview that the session is.
    `pending`: the question that the last goal was stopped at; None where it was answered, or a secret in the command is not kept. What a
    tool wanted to write is not resumed: the planner is asked again.
    """

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.before_agent: dict[str, str] = {}
        self._started: dict[str, str] = {}
        self.rules: tuple[str, ...] = ()
        self.rules_before: tuple[str, ...] = ()
        self.pending: PendingApproval | None = None
        self.name = ""
        self.listed: list[str] = []
        self.interview: dict[str, Any] = {}
        self._goal = GoalStarted(goal="")
        self._proposed: dict[str, CommandProposed] = {}

    def take(self, event: Event) -> None:
        match event:
            case SessionStarted() | SessionChanged() | RuleAdded(where="session") | RuleRemoved(where="session"):
                self._set(event)
            case CoreCommandFinished():
                self._older(event)
            case InterviewStarted() | InterviewTurned():
                self.interview = folded(self.interview, event)
            case InterviewWentBack(state=state):
                self.interview = state
            case GoalStarted():
                self.pending, self._goal, self._proposed = None, event, {}
                if event.origin == "goal" and not (event.private or event.unlisted):
                    self.listed.append(event.goal)
            case CommandProposed(command_id=command_id) if event.origin != "tool":
                self._proposed[command_id] = event
            case ApprovalRequested(command_id=command_id, command=command) if command_id in self._proposed:
                of = self._proposed[command_id]
                known = PendingApproval(
                    command=command,
                    reason=of.reason,
                    own=self._goal.origin == "shell",
                    slots=of.slots or (),
                    private=self._goal.private,
                    unlisted=self._goal.unlisted,
                )
                self.pending = None if LABEL in command else known
            case ApprovalGiven(command_id=command_id) if command_id in self._proposed:
                self.pending = None
            case GoalFinished(status=status) if status != GoalStatus.INTERRUPTED.value:
                self.pending = None

    def _set(self, event: SessionStarted | SessionChanged | RuleAdded | RuleRemoved) -> None:
        match event:
            case SessionStarted(settings=settings):
                self._started = settings
                for key in ("agent", "todo"):
                    if settings.get(key):
                        self.settings.setdefault(key, settings[key])
                self.rules_before, self.rules = self.rules, ()
            case SessionChanged(key=key, to=to):
                if key == "agent" and not self.settings.get(key):
                    self.before_agent = self._started | self.settings
                self.settings[key] = to
            case RuleAdded(rules=rules):
                self.rules += rules
            case RuleRemoved(rules=rules):
                self.rules = tuple(name for name in self.rules if name not in rules)

    def _older(self, event: CoreCommandFinished) -> None:
        """Take it from logs of earlier versions; newer ones have said it before, in the same words."""
        data = {key: value for key, value in event.data.items() if isinstance(value, str)}
        match event.command, data:
            case "SetModel", {"planner": planner, "model": model}:
                self.settings |= {"planner": planner, "model": model}
            case "Set", {"key": "planner", "value": planner} if planner != self.settings.get("planner"):
                self.settings |= {"planner": planner, "model": ""}
            case "Set", {"key": ("approve" | "confine") as key, "value": value}:
                self.settings[key] = value
            case "UseRole", {"role": role}:
                self.settings["role"] = role
            case "ExitRole", _:
                self.settings["role"] = ""


class Past(Struct, frozen=True):
    """`history` is what the planner was told, `notes` say what of it is lost, `plan` was left before its end.

    `settings` is what the session was set to, where that was changed in it; `rules` the names of those that its last process made for it
    alone; `before_agent` what it was set to when its agent was taken;
    `pending` the question that its last goal was stopped at. `name` is its own, `listed` are the goals in words that are no secret.
    """

    history: tuple[HistoryItem, ...] = ()
    goals: tuple[GoalSummary, ...] = ()
    notes: tuple[str, ...] = ()
    plan: PlanLeft | None = None
    settings: dict[str, str] = {}
    rules: tuple[str, ...] = ()
    pending: PendingApproval | None = None
    name: str = ""
    listed: tuple[str, ...] = ()
    before_agent: dict[str, str] = {}
    interview: dict[str, Any] = {}


def past_of(path: str) -> Past:
    """The past of the session whose log begins in the file at `path`, which the process that goes on with it has opened. Raises IoError."""
    line = lineage_of(path)
    told, asked, plans, left = HistoryFold(), GoalsFold(), PlanFold(), SessionFold()
    own = line.parts[-1].session.session_id
    for record in records(line):
        told.take(record)
        asked.take(record)
        plans.take(record.event)
        left.take(record.event)
        if isinstance(record.event, SessionNamed) and record.session == own:  # a branch is another session
            left.name = record.event.name
    return Past(
        told.done(),
        asked.done(),
        line.notes,
        plans.left,
        left.settings,
        left.rules_before,
        left.pending,
        left.name,
        tuple(left.listed),
        left.before_agent,
        left.interview,
    )


class PlanFold:
    """The last plan is `left` if it was stopped or a crash cut it off; None where it is done, and where there is none.

    A step whose command had ended well when a crash came counts as done. A command with a label in the place of a secret is left out: the
    planner is asked for that step again.
    """

    def __init__(self) -> None:
        self.left: PlanLeft | None = None
        self._goal = ""
        self._begun = 0  # the step whose own command has not ended yet

    def take(self, event: Event) -> None:
        match event:
            case GoalStarted(goal=goal):
                self._goal = goal
            case PlanProposed(planned=planned, message=message, done=done):
                known = (structs.replace(step, command="") if LABEL in step.command else step for step in planned)
                plan = Plan(message=message, steps=tuple(known))
                self.left = PlanLeft(goal=self._goal, plan=plan, done=min(done, len(planned)))
            case PlanStepped(state="begun", step=step):
                self._begun = step if event.command else 0
                self._moved(event.cwd)
            case PlanStepped(state="done", step=step):
                self._done(step, event.cwd)
            case CommandFinished(exit_code=code, result=result) if self._begun:
                step, self._begun = self._begun, 0
                if code == 0 and not (event.conflict or result.job or result.interrupted):
                    self._done(step, result.cwd_after)
            case PlanFinished(outcome="done" | "replaced" | "dry-run"):
                self.left = None

    def _done(self, step: int, cwd: str) -> None:
        if self.left is not None and step <= len(self.left.plan.steps):
            self.left = structs.replace(self.left, done=step)
            self._moved(cwd)

    def _moved(self, cwd: str) -> None:
        if self.left is not None and cwd:
            self.left = structs.replace(self.left, cwd=cwd)
