"""The planner that needs no model: recipes, matched and filled here, and a loop that understands what its commands did."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.lexicon.exit_answers import asks_about_last
from agent.planner.facts.regular_file import beginning
from agent.planner.offline.answers import Answerer
from agent.planner.offline.goals import last_goal, split_pasted
from agent.planner.offline.surroundings import Surroundings
from agent.planner.offline.system_tools import flavour_of, on_path
from agent.planner.offline.worked import answer_in_steps, worked_on
from agent.protocol.messages import EnvironmentFacts, GoalItem
from agent.protocol.ports import DeltaHandler
from agent.protocol.replies import Chat, Plan, PlannerReply, Reply
from agent.protocol.requests import PlannerRequest
from agent.waiting import computed

_USUAL = "find the 5 largest files in src and delete the copies"

if TYPE_CHECKING:
    from agent.planner.offline.remembered import RememberedCommands


def running_process(name: str) -> str:
    """The name of a process that runs now and is called `name`, in whatever case; "" for none, and without /proc."""
    wanted = name.casefold()
    try:
        numbers = [entry for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return ""
    for number in numbers:
        try:
            with open(f"/proc/{number}/comm", encoding="utf-8", errors="replace") as file:
                found = file.read().rstrip("\n")
        except OSError:  # it has ended meanwhile
            continue
        if found.casefold() == wanted:
            return found
    return ""


class OfflinePlanner:
    """Implements `ports.Planner` without network and without state: everything it needs is in the request.

    `remembered` is what the person accepted before; None where nothing is to be remembered.
    """

    def __init__(
        self,
        *,
        tools_present: Callable[[str], bool] = on_path,
        flavour: Callable[[str, str], str] = flavour_of,
        today: Callable[[], datetime.date] = datetime.date.today,
        running: Callable[[str], str] = running_process,
        remembered: Callable[[], RememberedCommands | None] = lambda: None,
    ) -> None:
        self._tools_present = tools_present
        self._flavour = flavour
        self._today = today
        self._running = running
        self._remembered = remembered
        self._answerer: Answerer | None = None

    @property
    def name(self) -> str:
        return "offline"

    @property
    def model(self) -> str:
        return ""

    def load(self) -> None:
        """Read the data files now instead of with the first goal."""
        if self._answerer is None:
            self._answerer = Answerer()

    def warm(self) -> None:
        """Load, and read a goal that nobody gave, so that what most goals need is imported and compiled. Looks at nothing around."""
        self.load()
        assert self._answerer is not None
        around = Surroundings(present=lambda name: True, today=self._today(), exists=lambda path: False)
        goal = GoalItem(goal_id="warm", text=_USUAL, environment=EnvironmentFacts(os="Linux"))
        self._answerer.answer(PlannerRequest(history=(goal,)), around)

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        """Answer the last goal of the history. Never raises for what a person typed."""
        reply = await computed(lambda: self.answer(request))
        if isinstance(reply, Chat) and request.stream:
            await on_delta(reply.message)
        return PlannerReply(reply=reply, raw=encode_reply(reply), model="")

    def answer(self, request: PlannerRequest) -> Reply:
        """The reply itself, without the event loop."""
        self.load()
        assert self._answerer is not None
        # Programs are looked up once a reply: people install things between goals.
        known: dict[str, bool] = {}

        def present(name: str) -> bool:
            if name not in known:
                known[name] = self._tools_present(name)
            return known[name]

        around = Surroundings(
            present=present,
            today=self._today(),
            exists=_exists,
            running=self._running,
            flavour=self._flavour,
            peek=_peek,
        )
        worked = worked_on(request)
        return self._with_remembered(answer_in_steps(self._answerer, worked, around), worked.request, around)

    def _with_remembered(self, reply: Reply, request: PlannerRequest, around: Surroundings) -> Reply:
        """The reply to a new goal with what is remembered; what comes after a command is about that command."""
        goal, steps = last_goal(request.history)
        remembered = self._remembered() if goal is not None and not steps else None
        if goal is None or remembered is None or split_pasted(goal)[1] or asks_about_last(goal.text):
            return reply
        cwd = goal.environment.cwd or os.getcwd()
        return remembered.beside(
            reply, goal.text, cwd, today=around.today, present=around.present, exists=around.exists
        )


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # an embedded NUL
        return False


def _peek(path: str) -> str:
    """The first 64 KiB of a plain text file; "" for anything else. Never waits, as a pipe would make it."""
    try:
        # What the kernel makes up is no text, and reading it may do something; a link may lead there, too.
        if os.path.realpath(path).startswith(("/proc/", "/sys/", "/dev/")):
            return ""
    except (OSError, ValueError):
        return ""
    data = beginning(path, 65_536)
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def encode_reply(reply: Reply) -> str:
    """The reply as a model would have written it, for logs and later model turns."""
    import msgspec

    if isinstance(reply, Chat):
        more = {"reached": reply.reached, "lacks": reply.lacks or None}
        told = {
            "mode": "chat",
            "message": reply.message,
            **{key: said for key, said in more.items() if said is not None},
        }
        return msgspec.json.encode(told).decode()
    if isinstance(reply, Plan):
        steps = [{"goal": step.goal, "command": step.command} for step in reply.steps]
        return msgspec.json.encode({"mode": "plan", "message": reply.message, "steps": steps}).decode()
    command = getattr(reply, "command", "")
    return msgspec.json.encode({"mode": "command", "command": command}).decode()
