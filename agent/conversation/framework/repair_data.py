"""Define the repairs of a conversation: what people do when it does not go as they want it to."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agent.conversation.framework.working_memory import WorkingMemory

RepairKind = Literal[
    "cancel",
    "impatience",
    "correction",
    "contradiction",
    "dont_know",
    "skip",
    "go_back",
    "repeat",
    "digression",
    "topic_switch",
    "off_topic",
]


class Repair(Struct, frozen=True, kw_only=True):
    """`rest`: what the message says beside it ("no, I meant *a mobile app*"); `about`: the fields that it concerns."""

    kind: RepairKind
    rest: str = ""
    about: tuple[str, ...] = ()


class Repaired(Struct, frozen=True, kw_only=True):
    """The state after a repair. `guidance` goes into the prompt; `reply`, where there is one, is the whole reply and no model is asked."""

    memory: WorkingMemory
    guidance: str = ""
    reply: str = ""
