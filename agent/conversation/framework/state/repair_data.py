"""Define the repairs of a conversation: what people do when it does not go as they want it to."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agent.conversation.framework.state.working_memory import WorkingMemory

RepairKind = Literal[
    "cancel",
    "impatience",
    "correction",
    "contradiction",
    "dont_know",
    "skip",
    "go_back",
    "repeat",
    "question",
    "digression",
    "topic_switch",
    "off_topic",
]


REPAIR = "@repair"
"""The key below which an extraction says, beside the fields, that a message is no answer but one of `UNDERSTOOD`."""
UNDERSTOOD: dict[RepairKind, str] = {
    "dont_know": "the person does not know, or is not sure yet",
    "skip": "the person does not want to answer this",
    "repeat": "the person did not understand the question",
    "question": "the person asks something back: what the question means, why it is asked, or what you know about the matter",
    "go_back": "the person wants to go back to something earlier",
    "correction": "the person says that something was understood wrongly",
    "impatience": "the person wants to be done with questions",
    "topic_switch": "the person wants to talk about something else of the matter",
    "off_topic": "it has nothing to do with the matter",
}
"""The repairs that a model may name. To end it all takes the person's own words."""
ASK_AGAIN: tuple[RepairKind, ...] = ("go_back", "repeat", "question")
"""The repairs after which the last question is put once more."""


class Repair(Struct, frozen=True, kw_only=True):
    """`about`: the fields that it concerns."""

    kind: RepairKind
    about: tuple[str, ...] = ()


class Repaired(Struct, frozen=True, kw_only=True):
    """The state after a repair. `guidance` goes into the prompt, so nothing that a person said is in it; `reply`, where there is one, is
    the whole reply and no model is asked.
    """

    memory: WorkingMemory
    guidance: str = ""
    reply: str = ""
