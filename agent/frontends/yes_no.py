"""Questions that a letter answers, on any terminal. Keys typed before the question was on the screen never count."""

from __future__ import annotations

from agent.frontends.screen import Screen


async def ask_yes(screen: Screen, question: str) -> bool:
    """Whether the person says yes; Enter alone, Ctrl-C and the end of input are no."""
    answer = await ask_words(screen, f"{question} [y/N]")
    return (answer or "").strip().lower() in ("y", "yes")


async def ask_letter(screen: Screen, question: str, letters: str) -> str:
    """One of `letters`, asked for until it is one; "" for Ctrl-C and the end of input."""
    while True:
        answer = await ask_words(screen, question)
        if answer is None:
            return ""
        letter = answer.strip().lower()
        if len(letter) == 1 and letter in letters:
            return letter


async def ask_words(screen: Screen, question: str) -> str | None:
    """One line of text; None for Ctrl-C and the end of input. `question` must be safe to print."""
    screen.discard_typed_ahead()
    if screen.dumb:
        from agent.frontends.plain_line import read_plain_line

        return await read_plain_line(screen, question)
    from agent.frontends.questions import ask_line

    try:
        return await ask_line(screen, [("class:strong", f"{question} "), ("class:arrow", "❯ ")])
    except (EOFError, OSError):
        return None
