"""Load in the background while the person types the first line: what the first goal needs, and what could be offered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial

from prompt_toolkit.application.run_in_terminal import run_in_terminal

from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.text.shown import shown_line


def left_open_line(services: Services, session: str) -> str:
    """The offer of a goal that a crash left open, once; "" where there is none."""
    if services.settings.session_id:
        return ""  # the person knows where they want to go on
    found = services.left_open(session)
    if found is None or not services.first_offer(found):
        return ""
    goal = f"«{shown_line(found.goal, 60)}»" if found.goal else "what was private"
    return (
        f"session {found.session_id} ended without warning in the middle of {goal}: :resume continues, or ignore this"
    )


class BehindFirstFrame:
    """`say_hint` shows a line above the prompt. Nothing here is waited for, but for what the first goal needs anyway."""

    def __init__(self, controller: SessionController, say_hint: Callable[[str], None]) -> None:
        self._controller = controller
        self._services = controller.services
        self._say_hint = say_hint
        self._warming: threading.Thread | None = None
        self._offering: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Load what the first goal needs, and look for a local model where none was chosen, or for a goal that was left open."""
        services, session = self._services, self._controller.ctx
        look: Callable[[], Awaitable[str]] = partial(asyncio.to_thread, left_open_line, services, session.session_id)
        if services.first_run:
            look = partial(local_offer, services, session.planner.name)
        self._offering = asyncio.get_running_loop().create_task(self._offer(look))

        def work() -> None:
            try:
                import agent.frontends.confirm.confirmer  # the confirmation is what comes next
                import agent.frontends.typed.reading  # noqa: F401  # and what is typed is read

                self._services.warm()
            except Exception:  # whatever it is, it shows where it matters
                return

        self._warming = threading.Thread(target=work, name="warm", daemon=True)
        self._warming.start()

    async def warm_enough(self) -> None:
        """The parser serves one thread at a time, so the first goal waits for the warming to end."""
        if self._warming is not None:
            await asyncio.to_thread(self._warming.join, 5.0)
            self._warming = None

    async def _offer(self, look: Callable[[], Awaitable[str]]) -> None:
        """Say what `look` finds, if anything. Not a moment of the first frame is spent on it."""
        try:
            text = await look()
        except Exception:  # an offer is a courtesy; what other programs answer must not disturb anybody
            return
        if text:
            await run_in_terminal(lambda: self._say_hint(text))


async def local_offer(services: Services, planner: str) -> str:
    """One line that names a server found on loopback and how to use it; "" where there is none or a choice was made."""
    if planner != "offline" or services.settings.planner not in ("auto", ""):
        return ""
    from agent.providers.discover import discover

    for server in await discover():
        if server.models:
            model = f"{server.provider}:{shown_line(server.models[0], 80)}"
            return (
                f"{server.title} runs on this machine; to plan with it, type  :models use {model}  "
                f"(in this session alone: :model {model})"
            )
    return ""
