"""Decide what of a session is as it was left when it is resumed, and say it in a line; and give one that is opened its agent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs

from agent.config.settings import Settings
from agent.config.table import BY_NAME
from agent.protocol.confinement import is_as_strict
from agent.protocol.errors import ConfigError, CoreError, NotFound

if TYPE_CHECKING:
    from agent.app.process import Process
    from agent.commands.context import Change
    from agent.library.agents import ActiveAgent
    from agent.protocol.confinement import Confinement
    from agent.protocol.ports import Planner, Redactor
    from agent.protocol.todos import Todo
    from agent.recording.past import Past

_FROM_STRICT = {"approve": ("ask", "low", "medium"), "rehearse": ("auto", "preview", "ask", "off")}
_OF_PROCESS = "it counted only until that process ended"


class Resumed:
    """`settings` with what is restored; `planner` and `model` are to be made anew, None where they stay as configured.

    `attended`: somebody sees it. `is_sound`: nothing but this program wrote the log; asked where that decides, since all of it is read.
    """

    def __init__(
        self,
        settings: Settings,
        origins: Mapping[str, str],
        past: Past | None,
        *,
        attended: bool,
        is_sound: Callable[[], bool],
    ) -> None:
        self.settings = settings
        self.planner: tuple[str, str] | None = None
        self._kept: list[str] = []
        self._dropped: list[str] = []
        self._attended, self._is_sound = attended, is_sound
        if past is None:
            return
        left = past.settings
        for key in ("approve", "confine", "rehearse", "tty", "role", "rag", "agent"):
            value = left.get(key)
            if value is not None and value != (getattr(settings, key) or ""):
                self._take(key, value, given=origins.get(key) == "command line")
        if "command line" not in (origins.get("planner"), origins.get("model")) and left.get("planner"):
            self.planner = (left["planner"], left.get("model", ""))
        if left.get("safety") == "off" and not settings.safety_off:
            self._dropped.append(f"safety off ({_OF_PROCESS})")
        if past.rules:
            many = "1 rule" if len(past.rules) == 1 else f"{len(past.rules):,} rules"
            self._dropped.append(f"{many} made for the session alone")

    def keep(self, words: str) -> None:
        """Say that this is as it was."""
        self._kept.append(words)

    def drop(self, words: str) -> None:
        """Say that this is not."""
        self._dropped.append(words)

    @property
    def words(self) -> str:
        """Say what is as it was left, and what is not; "" where there is nothing to say."""
        kept = f"as it was left: {', '.join(self._kept)}" if self._kept else ""
        dropped = f"not as it was left: {', '.join(self._dropped)}" if self._dropped else ""
        return "; ".join(filter(None, (kept, dropped)))

    def doubt(self) -> str:
        """Say why what loosens is not restored, "" where it may be."""
        if not self._attended:
            return "nobody is there to see it"
        return "" if self._is_sound() else "the log was changed by something else"

    def _take(self, key: str, value: str, *, given: bool) -> None:
        now = getattr(self.settings, key)
        choices = BY_NAME[key].choices
        said = f"{key} {value}" if value else f"no {key}"
        if given:
            return
        if choices and value not in choices:
            self.drop(f"{said} (no such choice)")
        elif _is_looser(key, value, now) and (doubt := self.doubt()):
            self.drop(f"{said} (it is looser than {now}, and {doubt})")
        else:
            changed: dict[str, Any] = {key: value or None}
            self.settings = structs.replace(self.settings, **changed)
            if key not in ("role", "rag", "agent"):  # these have to be found first
                self.keep(said)


def _is_looser(key: str, value: str, now: str) -> bool:
    """Tell whether `value` asks or holds back less than what counts now."""
    if key == "confine":
        return not is_as_strict(cast("Confinement", value), cast("Confinement", now))
    order = _FROM_STRICT.get(key, ())
    return value in order and order.index(value) > order.index(now)


@dataclass(frozen=True)
class OpenedAgent:
    """`settings`: what the session is opened with; `was`: how it was set before its agent (role, rag, planner and model by name).

    `model`: what it plans with, "" for what is configured.
    """

    process: Process
    agent: ActiveAgent
    settings: Settings
    was: dict[str, str]
    model: str = ""

    @classmethod
    def of(cls, process: Process, settings: Settings, chosen: Collection[str] = ()) -> OpenedAgent:
        """The agent of the settings; a rag or a model on the command line, or among what was `chosen`, counts before its own.

        Raises CoreError.
        """
        from agent.library.agents import agent_words
        from agent.library.macros import split_words

        name, _, values = agent_words(split_words(settings.agent or ""))
        read = process.library.agents.load(name)
        active = read.active(values)
        was = {"role": settings.role or "", "rag": settings.rag or ""}
        by_hand = {key for key in ("rag", "planner", "model") if process.origins.get(key) == "command line"}
        by_hand |= set(chosen)
        settings = structs.replace(settings, agent=active.words)
        if read.rag and "rag" not in by_hand:
            settings = structs.replace(settings, rag=read.rag)
        model = "" if by_hand & {"planner", "model"} else read.model
        return cls(process, active, settings, was, model)

    @classmethod
    def resumed(cls, resumed: Resumed, past: Past, process: Process, redactor: Redactor) -> OpenedAgent | None:
        """The agent that the session was left with, None for none and where it can be had no more, which is said."""
        words = resumed.settings.agent
        try:
            found = cls.of(process, resumed.settings, past.settings) if words else None
            if found is not None and found.model:
                planner = found.planner(None, redactor)
                resumed.planner = (planner.name, planner.model)  # looked at like any that a session was left with
        except CoreError as error:
            resumed.settings = structs.replace(resumed.settings, agent=None)
            resumed.drop(error.message)
            return None
        resumed.keep(f"agent {words}" if words else "no agent")
        if found is None:
            return None
        resumed.settings = found.settings
        return replace(found, was=past.before_agent or found.was)

    def planner(self, configured: Planner | None, redactor: Redactor) -> Planner:
        """Make the planner of its goals. Raises NotFound, ConfigError."""
        from agent.commands.models import planner_with

        make = self.process.planners.make
        if self.model:
            return planner_with(make, self.model, redactor)
        return configured or make(None, None, redactor)

    def todo(self, past: Past | None, resumed: Resumed, folder: str) -> tuple[Todo, ...]:
        """The list of the session, where it was this agent's, else the one that the agent has kept. Raises IoError."""
        from agent.protocol.todos import counted_open, todos_in

        if past is not None and past.settings.get("agent") == self.agent.words:
            todo = todos_in(past.settings.get("todo", ""))
            if todo:
                resumed.keep(counted_open(todo))
            return todo
        return self.process.library.kept_todos(self.agent.name, folder)

    def before(self, configured: Planner, redactor: Redactor) -> tuple[Change, ...]:
        """The changes that leaving it makes, without what cannot be had any more, or is a planner elsewhere that was chosen by hand."""
        from agent.commands.models import to_planner
        from agent.commands.rags import to_rag
        from agent.commands.roles import to_role

        process = self.process
        changes: list[Change] = []
        role, rag, planner = self.was.get("role", ""), self.was.get("rag", ""), configured
        with suppress(CoreError):
            changes.append(to_role(role, process.role_text(role) if role else ""))
        with suppress(CoreError):
            changes.append(to_rag(rag, process.rags.open(rag) if rag else None))
        name, model = self.was.get("planner", configured.name), self.was.get("model", configured.model)
        if (name, model) != (configured.name, configured.model):
            with suppress(NotFound, ConfigError):
                found = process.planners.make(name, model or None, redactor)
                planner = found if process.planners.stays_here(found) else configured
        return (*changes, *to_planner(planner))
