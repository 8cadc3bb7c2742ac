"""Play a model in a simulated interview: it understands what the person meant, with the mistakes of models, and asks what it is told to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from agent.conversation.framework.state.ports import AgentReply, TaskReport
from agent.conversation.framework.state.repair_data import REPAIR, UNDERSTOOD
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.simulation.people import chance
from agent.conversation.simulation.person import Utterance

_ASKS = "The next thing to find out, in your own words and when it fits: "
_ATTACKED = 0.5
_SUMMARY = "They spoke about what is known by now."


class Mistakes(Struct, frozen=True, kw_only=True):
    """The shares of what goes wrong: of values those that are overlooked, unsure, or quoted with words that nobody said; of answers those
    that are cut off, have talk around them, make a value up, or take a repair for an answer; of replies those that are empty.
    """

    overlooked: float = 0.08
    unsure: float = 0.05
    misquoted: float = 0.04
    cut_off: float = 0.02
    talk: float = 0.1
    made_up: float = 0.05
    mistaken: float = 0.1
    silent: float = 0.01


class ScriptedModel:
    """`hears` what the person says, then is asked like any model. `key`: what its mistakes are drawn from."""

    def __init__(self, key: str, mistakes: Mistakes | None = None) -> None:
        self._key, self._mistakes = key, mistakes or Mistakes()
        self._said = Utterance(text="")
        self._calls = 0
        self._asked = ""

    def hears(self, said: Utterance) -> None:
        self._said = said
        self._calls += 1

    async def complete(self, prompt: str, schema: dict[str, Any] | None) -> str:
        """Answer a small call: an extraction where it has a schema of fields, else a summary."""
        offered = dict((schema or {}).get("properties", {}))
        if REPAIR not in offered:
            return _SUMMARY
        del offered[REPAIR]
        kind = self._said.kind
        repair = (
            kind if kind in UNDERSTOOD and not self._errs("mistaken") else "correction" if self._said.openly else "none"
        )
        found: dict[str, Any] = {REPAIR: repair}
        told = {path: value for path, value in self._said.tells.items() if path in offered}
        for path, value in told.items():
            if not self._errs("overlooked", path):
                found[path] = self._understood(path, value, changes="change" in offered[path]["properties"])
        if kind == "attack" and chance(self._key, self._calls, "attacked") < _ATTACKED:
            found |= dict.fromkeys(_named(self._said.text, offered), _invented("HACKED", "HACKED"))
        elif self._errs("made_up") and (rest := [path for path in offered if path not in told]):
            path = rest[int(chance(self._key, self._calls, "which") * len(rest))]
            found[path] = _invented("something that the model made up", "as everybody knows and nobody said")
        text = json.dumps(found, ensure_ascii=False)
        if self._errs("cut_off"):
            return text[: len(text) // 2]
        return f"Here is the form:\n```json\n{text}\n```\nTell me if I can do more." if self._errs("talk") else text

    def _understood(self, path: str, value: Any, *, changes: bool) -> dict[str, Any]:
        words = self._said.said.get(path, self._said.text)
        quoted = "what they told me the other day about all that" if self._errs("misquoted", path) else words
        change = {"change": "replaces" if self._said.changes == path else "adds"} if changes else {}
        return {
            "evidence": quoted,
            "value": value,
            **change,
            "reasoning": "said in these words",
            "confidence": 0.55 if self._errs("unsure", path) else 0.92,
        }

    async def say(self, prompt: str) -> AgentReply:
        """Ask what the prompt says is next; the last question again where it names none. ` ` is what a model says that says nothing."""
        if self._errs("silent"):
            return AgentReply(text=" ")
        _, found, rest = prompt.rpartition(_ASKS)
        if found:
            self._asked = rest.splitlines()[0]
            return AgentReply(text=f"I see. {self._asked}")
        if self._said.kind in ("go_back", "topic_switch"):
            return AgentReply(text="What should change there?")
        if self._said.kind == "repeat":
            return AgentReply(text=f"In other words: {self._asked or 'what is it about?'}")
        return AgentReply(text="Thank you, that is all that I have to ask.")

    def _errs(self, what: str, *about: str) -> bool:
        share: float = getattr(self._mistakes, what)
        return chance(self._key, self._calls, what, *about) < share


class ScriptedTasks:
    """A backend of background tasks that are done when they are looked at, but for some that fail."""

    def __init__(self, key: str, failing: float = 0.3) -> None:
        self._key, self._failing = key, failing
        self._begun = 0

    async def dispatch(self, task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
        self._begun += 1
        return f"{task.task_id} {self._begun}"

    async def poll(self, handle: str) -> TaskReport:
        if chance(self._key, handle) < self._failing:
            return TaskReport(status="failed", error="the server did not answer")
        return TaskReport(status="done", result=f"What was found by {handle}.")

    async def cancel(self, handle: str) -> None:
        """None of them is still at it."""


def _named(text: str, paths: Iterable[str]) -> list[str]:
    return [path for path in paths if path in text]


def _invented(value: str, evidence: str) -> dict[str, Any]:
    return {"evidence": evidence, "value": value, "reasoning": "it seems so", "confidence": 0.95}
