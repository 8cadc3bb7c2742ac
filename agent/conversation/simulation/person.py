"""Play a person in an interview: it answers in its manner, and does what people do beside answering; or a model plays it."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from agent.conversation.framework.progress.questions import QuestionOrder
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.ports import Complete
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.simulation.people import Facts, MoveKind, Person, Ways, chance, one_of, spoken
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
_LONG_WORD = re.compile(r"[A-Za-z]{4,}")


class Utterance(Struct, frozen=True, kw_only=True):
    """Words of a person, with their meaning: values by field, with the words of each. `kind`: what it was instead of an answer.
    `changes`: the field that is told otherwise than before; `openly` where the person said that it is a correction.
    """

    text: str
    tells: dict[str, Any] = {}
    said: dict[str, str] = {}
    kind: MoveKind | None = None
    changes: str = ""
    openly: bool = False


class SimulatedPerson:
    """One person in one interview. `holds`: what is so for them by now; `told`: the fields of which they told all."""

    def __init__(self, config: EngineConfiguration, facts: Facts, manner: Person) -> None:
        self._config, self._facts, self.manner = config, facts, manner
        self.holds: dict[str, Any] = dict(facts.known)
        self.ever: dict[str, list[Any]] = {path: [value] for path, value in facts.known.items()}
        self.told: dict[str, int] = {}
        self._refused: set[str] = set()
        self._to_correct = self._moved = False
        self._turn = 0

    async def hear(self, reply: str, memory: WorkingMemory) -> Utterance | None:
        """Return what the person says to a reply; None where it leaves, since nothing is asked any more."""
        self._turn += 1
        form = QuestionOrder(memory, self._config)
        field = self._asked_in(reply, form)
        if self._to_correct:
            self._to_correct = False
            if (changed := self._change(Ways(says=("{name}: {fact}",)), openly=True)) is not None:
                return changed
        if field is None and not memory.asked and "?" not in reply:
            return None
        said = None if self._moved else self._beside(field, form)
        self._moved = said is not None
        if said is not None:
            return said
        field = field or self._config.field(memory.asked)
        return self._move("dont_know") if field is None else self._answer(field, form)

    def _asked_in(self, reply: str, form: QuestionOrder) -> FieldDefinition | None:
        """The field whose question stands last in what was said."""
        fields = self._config.extraction_schema.fields
        places = [
            (reply.rfind(question), len(question), at)
            for at, each in enumerate(fields)
            if (question := form.question(each))
        ]
        found = max((each for each in places if each[0] >= 0), default=None)
        return None if found is None else fields[found[2]]

    def _answer(self, field: FieldDefinition, form: QuestionOrder) -> Utterance:
        manner, path = self.manner, field.path
        if form.confirms(field):
            refuses = path not in self._refused and chance(manner.name, "refuses", path) < manner.refuses
            if refuses and self._can_change(""):
                self._refused.add(path)
                self._to_correct = True
                return self._telling({path: False}, one_of(manner.no, manner.name, path))
            return self._telling({path: True}, one_of(manner.yes, manner.name, path, self._turn))
        value = self.holds.get(path)
        if value is None or (not field.required and chance(manner.name, "lacks", path) < manner.lacks):
            return self._move("dont_know")
        fact = self._spoken(field)
        text = one_of(manner.answers, manner.name, path, self._turn).replace("{fact}", fact)
        tells, said = {path: value}, {path: fact}
        other = self._other(path, form) if self._does(manner.volunteers, "volunteers") else None
        if other is not None:
            more = self._spoken(other)
            way = one_of(manner.volunteers.says, manner.name, self._turn)
            text += "\n" + way.replace("{name}", other.display_name).replace("{fact}", more)
            tells[other.path], said[other.path] = self.holds[other.path], more
        return self._telling(tells, text, said)

    def _telling(self, tells: dict[str, Any], text: str, said: dict[str, str] | None = None, **more: Any) -> Utterance:
        self.told |= dict.fromkeys(tells, self._turn)
        return Utterance(text=text, tells=tells, said=said or dict.fromkeys(tells, text), **more)

    def _beside(self, field: FieldDefinition | None, form: QuestionOrder) -> Utterance | None:
        """Return what is said instead of an answer, where something is."""
        manner = self.manner
        if self._does(manner.corrects, "corrects") and (said := self._change(manner.corrects, openly=True)):
            return said
        if self._does(manner.contradicts, "contradicts") and (said := self._change(manner.contradicts, openly=False)):
            return said
        at = chance(manner.name, self._config.engine_id, "moves", self._turn)
        for each in manner.moves:
            at -= each.share
            if at < 0:
                other = self._other(field.path if field else "", form)
                return None if each.kind == "topic_switch" and other is None else self._move(each.kind, other)
        return None

    def _move(self, kind: MoveKind, other: FieldDefinition | None = None) -> Utterance:
        says = next((each.says for each in self.manner.moves if each.kind == kind), ("I don't know",))
        text = one_of(says, self.manner.name, kind, self._turn).replace("{turn}", str(self._turn))
        if other is not None:
            text = text.replace("{name}", other.display_name).replace("{path}", other.path)
        return Utterance(text=text, kind=kind)

    def _change(self, ways: Ways, *, openly: bool) -> Utterance | None:
        """Tell something otherwise than before: what a way names, else what was told last."""
        way = one_of(ways.says, self.manner.name, "change", self._turn)
        able = self._can_change("" if "{name}" in way else max(self.told, key=lambda each: self.told[each], default=""))
        if not able:
            return None
        path = able[int(chance(self.manner.name, "which", self._turn) * len(able))]
        field = self._config.field(path)
        assert field is not None
        old = self._spoken(field)
        self.holds[path] = value = self._facts.changed[path]
        self.ever[path].append(value)
        fact = self._spoken(field)
        text = way.replace("{name}", field.display_name).replace("{old}", old).replace("{fact}", fact)
        return self._telling({path: value}, text, {path: fact}, changes=path, openly=openly)

    def _can_change(self, only: str) -> list[str]:
        return [
            path
            for path in self.told
            if path in self._facts.changed and len(self.ever.get(path, ())) == 1 and only in ("", path)
        ]

    def _other(self, path: str, form: QuestionOrder) -> FieldDefinition | None:
        """A field that the person could tell of beside: one that was not told yet, and is no confirmation."""
        able = [
            each
            for each in self._config.extraction_schema.fields
            if each.path in self.holds and each.path not in self.told and each.path != path and not form.confirms(each)
        ]
        return able[int(chance(self.manner.name, "other", self._turn) * len(able))] if able else None

    def _does(self, ways: Ways, what: str) -> bool:
        return chance(self.manner.name, self._config.engine_id, what, self._turn) < ways.share

    def _spoken(self, field: FieldDefinition) -> str:
        text = spoken(field, self.holds[field.path], self.manner.separator)
        if "\n" in self.manner.separator and self.manner.separator in text:
            text = self.manner.separator + text  # a list begins on a line of its own
        return _LONG_WORD.sub(self._slipped, text)

    def _slipped(self, word: re.Match[str]) -> str:
        """Swap two letters in the middle of a word, of some words."""
        text = word[0]
        if chance(self.manner.name, "slips", text) >= self.manner.slips:
            return text
        return f"{text[:1]}{text[2]}{text[1]}{text[3:]}"


class PlayedPerson(SimulatedPerson):
    """Is played by a model, `complete`, which is told the manner and what the person knows. What it meant is nobody's to know, so what is
    told is measured by what it knew.
    """

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
