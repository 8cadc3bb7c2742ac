"""The planner that needs no model: recipes, matched and filled here, and a loop that understands what its commands did."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from agent.lexicon.exit_answers import asks_about_last, succeeded
from agent.planner.facts.regular_file import beginning
from agent.planner.offline.answers import Answerer
from agent.planner.offline.goals import last_goal, split_pasted
from agent.planner.offline.recipes import AddRecipes
from agent.planner.offline.surroundings import Surroundings
from agent.planner.offline.system_tools import flavour_of, on_path
from agent.protocol.messages import EnvironmentFacts, GoalItem, HistoryItem, NoteItem, StepItem
from agent.protocol.ports import DeltaHandler
from agent.protocol.replies import Chat, Plan, PlannerReply, Reply
from agent.protocol.requests import PlannerRequest
from agent.waiting import computed

if TYPE_CHECKING:
    from agent.planner.offline.remembered import RememberedCommands

# What has to be there where a goal says by itself that it has steps; `clauses` looks more closely.
_IN_STEPS = re.compile(
    r"(?i)\b(?:then|after|next|finally|lastly|afterwards?|thereafter|subsequently|once|when)\b|\bhow\s+many\s+(?:there|they|lines\s+it)\b|[;\n]|[.)]\s"
)


class Worked(Struct, frozen=True, kw_only=True):
    """A request as the planner of one goal sees it: that of the step of a plan which is worked on, or the one that was made.

    `is_last`: all steps are done, and what is to be said of it is asked for.
    """

    request: PlannerRequest
    step: StepItem | None = None
    is_last: bool = False


def worked_on(request: PlannerRequest) -> Worked:
    """Find what the last item of the history that sets a task says: the goal, or a step of a plan, which is a goal of its own."""
    behind: list[HistoryItem] = []
    step: StepItem | None = None
    for item in reversed(request.history):
        if isinstance(item, GoalItem):
            if step is None:
                break
            environment = structs.replace(item.environment, cwd=step.cwd or item.environment.cwd)
            own = GoalItem(goal_id=item.goal_id, text=step.goal, environment=environment)
            is_last = bool(behind) and isinstance(behind[0], NoteItem) and step.number == step.total
            history = (own, *reversed(behind))
            return Worked(request=structs.replace(request, history=history), step=step, is_last=is_last)
        if isinstance(item, StepItem):
            step = step or item
        elif step is None:
            behind.append(item)
    return Worked(request=request)


def answer_in_steps(answerer: Answerer, worked: Worked, around: Surroundings) -> Reply:
    """The reply to it; a plan where only several steps do the goal."""
    request = worked.request
    reply = answerer.answer(request, around)
    goal, commands = last_goal(request.history)
    if goal is None:
        return reply
    if worked.step is None:
        if commands or goal.files or goal.context or not (isinstance(reply, Chat) or _IN_STEPS.search(goal.text)):
            return reply
        from agent.planner.offline.steps import (
            plan_or,  # for what may be no single command: not while the planner loads
        )

        return plan_or(reply, answerer, goal, around)
    if not isinstance(reply, Chat) or not commands or commands[-1].outcome != "ran":
        return reply
    reached = succeeded(commands[-1])
    if reached and worked.is_last:
        last = "" if reply.message.startswith("done") else f"; of its last step: {reply.message}"
        return Chat(message=f"done: the whole plan{last}", reached=True)
    return Chat(message=reply.message, reached=reached)


_USUAL = "find the 5 largest files in src and delete the copies"


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

    `remembered` is what the person accepted before; None where nothing is to be remembered. `add`: adds recipes that the person wrote.
    """

    def __init__(
        self,
        *,
        tools_present: Callable[[str], bool] = on_path,
        flavour: Callable[[str, str], str] = flavour_of,
        today: Callable[[], datetime.date] = datetime.date.today,
        running: Callable[[str], str] = running_process,
        remembered: Callable[[], RememberedCommands | None] = lambda: None,
        add: AddRecipes | None = None,
    ) -> None:
        self._tools_present = tools_present
        self._flavour = flavour
        self._today = today
        self._running = running
        self._remembered = remembered
        self._add = add
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
            self._answerer = Answerer(self._add)

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
        if isinstance(reply, Chat) and reply.message and request.stream:
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
