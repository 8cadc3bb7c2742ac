"""Ask the person whom a confirmer asks: yes or no, or one of some letters."""

from __future__ import annotations

from agent.commands.context import AskLetter, AskYes
from agent.frontends.screen import Screen
from agent.protocol.ports import Confirmer


def asking_at(confirmer: Confirmer) -> tuple[AskYes | None, AskLetter | None]:
    """The questions at the terminal that `confirmer` asks at; nothing where there is none."""
    screen = getattr(confirmer, "screen", None)
    if not isinstance(screen, Screen):
        return None, None

    async def ask(question: str) -> bool:
        from agent.frontends.questions import ask_yes

        return await ask_yes(screen, question)

    async def choose(about: str, question: str, letters: str) -> str:
        from agent.frontends.questions import ask_letter

        screen.say(about, "class:warn")
        return await ask_letter(screen, question, letters)

    return ask, choose
