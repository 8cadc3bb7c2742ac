"""Recognise questions about what has happened ("was a.txt deleted?"): they are no orders to do it."""

from __future__ import annotations

from agent.lexicon.words import Token

_ASKING = frozenset({"is", "are", "was", "were", "has", "have", "had", "did"})
# Doing these changes something; having been done they are a state.
_DOING = frozenset({
    "delete", "kill", "create", "move", "copy", "rename", "replace", "compress", "extract", "restart", "reload",
    "upgrade", "uninstall", "undo", "convert", "encrypt", "decrypt", "push", "reset", "drop", "start", "enable",
    "disable", "mount", "unmount", "lock", "unlock", "stash", "apply", "discard", "first",
})  # fmt: skip


def asked_about(tokens: list[Token]) -> set[str]:
    """The concepts of verbs that a question only asks about; empty for goals that are no questions.

    Such a word ends in "ed", so that "is there a way to delete it" is still an order.
    """
    if not tokens or tokens[0].quoted or tokens[0].low not in _ASKING:
        return set()
    done = {token.concept for token in tokens if not token.quoted and token.low.endswith("ed")} & _DOING
    said = {token.concept for token in tokens if not token.quoted and not token.low.endswith("ed")}
    return done - said
