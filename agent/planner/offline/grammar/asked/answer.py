"""A sentence about the lines of one file, as a command."""

from __future__ import annotations

from agent.planner.offline.grammar.asked.subject import subject_of
from agent.planner.offline.sentences import Sentence

_MOST = 300  # characters


def asked_of_lines(sentence: Sentence) -> tuple[str, str] | None:
    """The command and how the sentence was read; None where a word of it is not understood.

    The command is "" for what was understood, and nothing here can do: whoever reads less of it would do something else.
    """
    if len(sentence.text) > _MOST or "\0" in sentence.text or "\x02" in sentence.text:
        return None
    subject = subject_of(sentence.text, sentence.scene)
    if subject is None:
        return None
    from agent.planner.offline.grammar.asked.edits import edited

    command = edited(subject)
    if command:
        return command, f"change · lines · {subject.path}"
    if subject.inplace:
        return None
    from agent.planner.offline.grammar.asked.command import beyond_us, command_of
    from agent.planner.offline.grammar.asked.request import Peeling

    asked = Peeling(subject).run()
    if asked is None:
        return None
    if beyond_us(asked):
        return "", ""
    command = command_of(asked)
    if not command:
        return None
    return command, f"{asked.mode} · {asked.head} · {subject.path}"
