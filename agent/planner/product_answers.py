"""Answer what the product itself knows: what a command means, and what was run before."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.protocol.replies import Chat, Command, Reply

_MEANING = re.compile(
    r"(?is)\s*(?:please )?(?:explain|what (?P<asks>does|would))\s+(?:the command\s+)?"
    r"(?P<quote>[`'\"]?)(?P<command>[a-z][\w.+-]*\s.*?)(?P=quote)(?P<does>\s+(?:do|mean))?\s*\??\s*"
)
_RAN = re.compile(
    r"(?i)\s*(?:what|which)(?: commands?)? (?:did|have|had) i (?:run|ran|do|done|type|typed|use|used|execute|executed)"
    r"(?P<when> today| yesterday| this week| last week)?(?: here)?\s*\??\s*"
)
_ARTICLES = frozenset(("the", "a", "an", "this", "that", "my", "what", "why", "how", "in"))
# How old what is asked for may be, and from which day on it is too new.
_SINCE = {"today": "--since today", "yesterday": "--since yesterday --until yesterday", "week": "--since '1 week'"}


def answer_of_product(text: str, present: Callable[[str], bool]) -> Reply | None:
    """The explanation of a command, or where earlier ones are found; None for any other goal. `present`: whether a program is here."""
    asked = _MEANING.fullmatch(text)
    if asked is not None and bool(asked["asks"]) == bool(asked["does"]) and _is_command(asked["command"], present):
        return Chat(message=_explained(asked["command"].strip()))
    ran = _RAN.fullmatch(text)
    if ran is None:
        return None
    when = _SINCE.get((ran["when"] or "").rpartition(" ")[2].lower(), "")
    command = f"agent-shell sessions search {when}".rstrip()
    if present("agent-shell"):
        return Command(command=command, reason="searches the logs of your sessions", confidence=0.95)
    return Chat(message=f"`:history` lists what was done in this session; `{command}` searches all of them.")


def _is_command(text: str, present: Callable[[str], bool]) -> bool:
    """Tell whether a text is a command line rather than words: a program that is here, and something that no sentence has."""
    program, _, rest = text.strip().partition(" ")
    return present(program) and bool(
        re.search(r"[-|<>/.*$=~\d]|(?:\A|\s)[a-z]{2,4}f\s", rest) or len(rest.split()) == 1
    )


def _explained(command: str) -> str:
    """What a command means and how it is rated, as the explain key shows it."""
    from agent.risk.classifier import classify
    from agent.risk.explain.report import explain

    told = explain(classify(command))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", told)), default=0))
    return f"{fence}text\n{told}\n{fence}"
