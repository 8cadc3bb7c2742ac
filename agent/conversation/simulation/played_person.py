"""Have a model play a person in an interview: it is told the manner and what the person knows, and reads what the interviewer says."""

from __future__ import annotations

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import Complete
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.simulation.facts import Facts, spoken
from agent.conversation.simulation.people import Person
from agent.conversation.simulation.person import SimulatedPerson, Utterance
from agent.planner.untrusted import clean, data_block

_PROMPT = """You play a person in an interview, to try out the interviewer. You are somebody who {about}.
Answer what you are asked in one to three sentences, in the manner of that person and in the first person. What you know stands below; of
anything else you say that you do not know. Say "{leave}" and nothing else when nothing is asked of you any more.
What you know:
{known}
"""
_LEAVE = "goodbye"
_MOST_FACT = 200  # characters
_LONGEST = 4_000


class PlayedPerson(SimulatedPerson):
    """`complete` is the model that plays it; what it meant is nobody's to know, so what is told is measured by what it knew."""

    def __init__(self, config: EngineConfiguration, facts: Facts, manner: Person, complete: Complete) -> None:
        super().__init__(config, facts, manner)
        self._complete = complete
        known = [(config.field(path), value) for path, value in facts.known.items()]
        self._known = "\n".join(
            f"- {each.display_name}: {spoken(each, value, '; ')[:_MOST_FACT]}" for each, value in known if each
        )

    async def hear(self, reply: str, memory: WorkingMemory) -> Utterance | None:
        prompt = _PROMPT.format(about=self.manner.about, leave=_LEAVE, known=self._known)
        asked = data_block("interviewer", clean(reply))
        said = (await self._complete(f"{prompt}The interviewer says:\n{asked}\nYou say:", None)).strip()[:_LONGEST]
        return None if said.strip(" .!").casefold() in ("", _LEAVE) else Utterance(text=said)
