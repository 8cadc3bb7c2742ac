"""Ask before an undo: whether, and what to do about each file that was changed since."""

from __future__ import annotations

from agent.emitters.rehearsal_text import name
from agent.frontends.questions import ask_letter, ask_yes
from agent.frontends.screen import Screen
from agent.frontends.undo_controller import AskChoice, AskYes
from agent.protocol.ports import Confirmer
from agent.protocol.rehearsals import Conflict, UndoChoice

_CHOICES: dict[str, UndoChoice] = {"s": "skip", "t": "force", "x": "stop", "": "stop"}


def asking_at(confirmer: Confirmer) -> tuple[AskYes | None, AskChoice | None]:
    """The questions at the terminal that `confirmer` asks at; nothing where there is none."""
    screen = getattr(confirmer, "screen", None)
    return (yes_at(screen), choice_at(screen)) if isinstance(screen, Screen) else (None, None)


def yes_at(screen: Screen) -> AskYes:
    """A yes/no question at `screen`."""

    async def ask(question: str) -> bool:
        return await ask_yes(screen, question)

    return ask


def choice_at(screen: Screen) -> AskChoice:
    """The question about one changed file, at `screen`."""

    async def choose(conflict: Conflict) -> UndoChoice:
        screen.say(f"{name(conflict.path)}: {name(conflict.reason)}", "class:warn")
        question = "s leave it as it is · t take it back anyway · x stop, take nothing back"
        return _CHOICES[await ask_letter(screen, question, "stx")]

    return choose
