"""Whether a finished message is the one that was streamed."""

from __future__ import annotations

_LABEL = "[redacted:"


def unseen_part(streamed: str, message: str) -> str | None:
    """What of `message` is not on the screen yet after `streamed` was shown; None where it is another message.

    White space at the ends does not count, and a secret that the message has as a label may have been streamed as it was.
    """
    seen, whole = streamed.strip(), message.strip()
    if whole == seen or (_LABEL in whole and _same_but_for_labels(seen, whole)):
        return ""
    return message[len(streamed) :] if message.startswith(streamed) else None


def _same_but_for_labels(seen: str, message: str) -> bool:
    """Whether the texts between the labels of `message` stand in `seen`, in order and with nothing before or after."""
    first, *rest = message.split(_LABEL)
    if not seen.startswith(first):
        return False
    at = len(first)
    for piece in rest:
        after = piece.partition("]")[2]
        place = seen.find(after, at) if after else len(seen)
        if place < 0:
            return False
        at = place + len(after)
    return at == len(seen)
