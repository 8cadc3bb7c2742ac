"""A sentence about a calculation with the columns of one file, as a command."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.asked.subject import subject_of
from agent.planner.offline.sentences import Sentence
from agent.planner.offline.values import quote_path

_MOST = 300  # characters
_JSON = re.compile(r"\.(?:jsonl?|ndjson|ya?ml|xml|html?)\b", re.IGNORECASE)


def reckoned(sentence: Sentence) -> tuple[str, str] | None:
    """The command and how the sentence was read; None where a word of it is not understood."""
    if (
        len(sentence.text) > _MOST
        or "." not in sentence.text
        or set(sentence.text) & set("\0\2\4#{}")
        or _JSON.search(sentence.text)
    ):
        return None
    subject = subject_of(sentence.text, sentence.scene)
    if subject is None or subject.inplace:
        return None
    from agent.planner.offline.grammar.reckoned.command import command_of
    from agent.planner.offline.grammar.reckoned.reading import Reckoning

    reading = Reckoning(subject)
    wish = None if reading.columns.table.settings else reading.reckon()
    if wish is None:
        return None
    command = command_of(wish, subject.path)
    if not command:
        return None
    if subject.sink:
        command = f"{command} > {quote_path(subject.sink)}"
    return command, f"{wish.way} · {wish.value or 'lines'} · {subject.path}"
