"""Export what an interview found out, by the name of the kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agent.conversation.exports.planner_context import planner_context
from agent.conversation.exports.provenance import provenance
from agent.conversation.exports.requirements import requirements
from agent.conversation.exports.tasks_file import tasks_file
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.protocol.errors import NotFound
from agent.protocol.events.interview import FieldExtracted

Log = Sequence[FieldExtracted]
_KINDS: Mapping[str, Callable[[WorkingMemory, EngineConfiguration, Log], str]] = {
    "requirements": lambda memory, config, log: requirements(memory, config),
    "provenance": provenance,
    "tasks": lambda memory, config, log: tasks_file(memory, config),
    "context": lambda memory, config, log: planner_context(memory, config),
}
EXPORTS = tuple(_KINDS)


def export(kind: str, memory: WorkingMemory, config: EngineConfiguration, log: Log = ()) -> str:
    """Return the text. `log`: what was understood in the interview. Raises NotFound for a kind that there is not."""
    if kind not in _KINDS:
        raise NotFound("export", kind, hint=f"there are {', '.join(EXPORTS)}")
    return _KINDS[kind](memory, config, log)
