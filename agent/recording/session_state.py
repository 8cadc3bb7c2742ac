"""Read back from a log what its session was set to, as it was left."""

from __future__ import annotations

from agent.protocol.approvals import PendingApproval
from agent.protocol.events.command import ApprovalGiven, ApprovalRequested, CommandProposed
from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.known import Event
from agent.protocol.events.notices import CoreCommandFinished
from agent.protocol.events.session import RuleAdded, RuleRemoved, SessionChanged, SessionStarted
from agent.protocol.outcomes import GoalStatus

_LABEL = "[redacted:"


class SessionFold:
    """`settings`: the last value by key, of what was changed in the session. `rules`: names of those that count for it alone now,
    `rules_before`: that did so in the process before.

    `pending`: the question that the last goal was stopped at; None where it was answered, or a secret in the command is not kept. What a
    tool wanted to write is not gone on with: the planner is asked again.
    """

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.rules: tuple[str, ...] = ()
        self.rules_before: tuple[str, ...] = ()
        self.pending: PendingApproval | None = None
        self._goal = GoalStarted(goal="")
        self._proposed: dict[str, CommandProposed] = {}

    def take(self, event: Event) -> None:
        match event:
            case SessionChanged(key=key, to=to):
                self.settings[key] = to
            case RuleAdded(rules=rules, where="session"):
                self.rules += rules
            case RuleRemoved(rules=rules, where="session"):
                self.rules = tuple(name for name in self.rules if name not in rules)
            case SessionStarted():
                self.rules_before, self.rules = self.rules, ()
            case CoreCommandFinished():
                self._older(event)
            case GoalStarted():
                self.pending, self._goal, self._proposed = None, event, {}
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
                self.pending = None if _LABEL in command else known
            case ApprovalGiven(command_id=command_id) if command_id in self._proposed:
                self.pending = None
            case GoalFinished(status=status) if status != GoalStatus.INTERRUPTED.value:
                self.pending = None

    def _older(self, event: CoreCommandFinished) -> None:
        """How logs of earlier versions say it; newer ones have said it before, in the same words."""
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
