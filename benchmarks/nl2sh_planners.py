"""Asks a planner for the command of a goal, as the REPL would, in the task's own folder."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.nl2sh_sandbox import HOME

if TYPE_CHECKING:
    from agent.retrieval.manuals import Manuals


@dataclass(frozen=True)
class Answer:
    """What came: `command` is "" where words came instead of one. `trouble`: what it failed with.

    `seconds` and `cpu` are those of the call: what a person waits, and what of it is work of this process.
    """

    command: str = ""
    confidence: float | None = None
    message: str = ""
    seconds: float = 0.0
    cpu: float = 0.0
    trouble: str = ""


class Asked:
    """One planner, built as the program builds it, without memory of what its person ran."""

    def __init__(self, name: str, model: str, base_url: str, private: str, *, manuals: Manuals | None = None) -> None:
        """`private`: an empty folder for what the planner may keep. Raises CoreErrors for what cannot be had.

        `manuals`: those against which a model's options are held.
        """
        from agent.app.planners import PlannerChoice
        from agent.config.load import load_settings
        from agent.redaction.redactor import SecretRedactor

        environ = {**os.environ, "XDG_STATE_HOME": private, "XDG_DATA_HOME": private, "AGENT_SESSION_DIR": private}
        flags = {"planner": name, "model": model or None, "base_url": base_url or None}
        loaded = load_settings({key: value for key, value in flags.items() if value}, environ, cwd=private)
        self._loop = asyncio.new_event_loop()
        self._choice = PlannerChoice(loaded, SecretRedactor(), manuals=None if manuals is None else lambda: manuals)
        self._planner = self._choice.make(name, model or None)
        started = time.process_time()
        built: Any = getattr(self._planner, "built", lambda: self._planner)()
        if hasattr(built, "load"):
            built.load()
        self.load_seconds = time.process_time() - started

    def ask(self, goal: str, home: str, cwd: str) -> Answer:
        """The answer to `goal` for a person whose home is `home` and who is in its folder `cwd`."""
        from agent.protocol.errors import CoreError
        from agent.protocol.messages import GoalItem
        from agent.protocol.requests import PlannerRequest

        with _standing_in(home, cwd) as place:
            item = GoalItem(goal_id="g", text=goal, environment=_environment(home, place))
            started, worked = time.perf_counter(), time.process_time()
            try:
                reply = self._loop.run_until_complete(
                    self._planner.plan(PlannerRequest(history=(item,), stream=False), _ignore)
                ).reply
            except CoreError as problem:
                return Answer(seconds=time.perf_counter() - started, trouble=str(problem))
            seconds, cpu = time.perf_counter() - started, time.process_time() - worked
        command, confidence, message = _command_of(reply)
        return Answer(command.replace(home, HOME), confidence, message, seconds, cpu)

    def close(self) -> None:
        self._loop.run_until_complete(self._choice.aclose())
        self._loop.close()


def _command_of(reply: Any) -> tuple[str, float | None, str]:
    """Command, confidence and words of a reply. A plan whose steps are all known is one command line; tool calls are no answer."""
    steps = getattr(reply, "steps", None)
    if steps is not None:
        commands = [step.command for step in steps]
        known = bool(commands) and all(commands)
        return (" && ".join(commands) if known else ""), reply.confidence, reply.message
    return getattr(reply, "command", ""), getattr(reply, "confidence", None), getattr(reply, "message", "")


def _environment(home: str, place: str) -> Any:
    from agent.protocol.messages import EnvironmentFacts

    git = "branch main" if os.path.isdir(os.path.join(place, ".git")) else ""
    return EnvironmentFacts(os="Linux", shell="bash", cwd=place, home=home, git=git, is_root=False)


@contextmanager
def _standing_in(home: str, cwd: str) -> Iterator[str]:
    """This process in the task's folder, with its home: planners look whether the names of a goal exist."""
    before: tuple[str, Mapping[str, str]] = (os.getcwd(), dict(os.environ))
    place = os.path.join(home, cwd)
    os.environ["HOME"] = home
    os.chdir(place)
    try:
        yield place
    finally:
        os.chdir(before[0])
        if "HOME" in before[1]:
            os.environ["HOME"] = before[1]["HOME"]
        else:
            del os.environ["HOME"]


async def _ignore(text: str) -> None:
    """Chat pieces are not shown."""
