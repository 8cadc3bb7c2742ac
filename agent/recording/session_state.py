"""Read back from a log what its session was set to, as it was left."""

from __future__ import annotations

from agent.protocol.events import CoreCommandFinished, Event, RuleAdded, RuleRemoved, SessionChanged, SessionStarted


class SessionFold:
    """`settings`: the last value by key, of what was changed in the session. `rules`: names of those that count for it alone now,
    `rules_before`: that did so in the process before.
    """

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.rules: tuple[str, ...] = ()
        self.rules_before: tuple[str, ...] = ()

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
