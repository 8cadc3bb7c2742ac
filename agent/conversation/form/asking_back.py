"""Tell a question about what was asked from an answer to it, and answer it with what the configuration says of the field."""

from __future__ import annotations

from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.talk.reply_sentences import sentences
from agent.text.vocabulary import SMALL_WORDS, words

_MOST_WORDS = 20
_OF_TALK = frozenset(
    "answer ask asked asking exactly example examples explain give here know like mean meaning means need one ones question say sorry such "
    "tell understand want word".split()
)


def asks_back(message: str, field: FieldDefinition) -> bool:
    """Tell whether a message only asks, and for nothing but what the question itself is about.

    A question with words of its own ("How does it work offline?") is an answer where somebody wants to know what is open.
    """
    parts = list(sentences(message))
    if not parts or not all(each.asks for each in parts) or sum(each.words for each in parts) > _MOST_WORDS:
        return False
    asked = {*words(field.question), *words(field.display_name), *words(field.description)}
    return all(word in SMALL_WORDS or word in _OF_TALK or word in asked for word in words(message))


def explained(field: FieldDefinition, config: EngineConfiguration) -> list[str]:
    """Return lines about a field: its description, and what it is asked for."""
    owed = next((each for each in config.obligations if field.path in each.fields), None)
    needed = owed.required if owed else field.required
    why = (
        f"It is asked because the result needs it: {owed.description}."
        if owed
        else "It is asked because the result needs it."
    )
    return [
        f"{field.display_name}: {field.description}",
        why if needed else "It may stay open: “skip” leaves it out.",
    ]
