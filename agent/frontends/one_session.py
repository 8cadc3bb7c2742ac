"""Open one session for a piece of work without a prompt, and leave it in order."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial

from agent.emitters.console import Noticing, complain, say_prose
from agent.frontends.confirm.tty_confirm import confirmer_for
from agent.frontends.opening_words import opening_lines
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.frontends.signals import Signals
from agent.protocol.outcomes import Origin
from agent.protocol.ports import Confirmer, Emitter
from agent.text.shown import shown
from agent.waiting import in_thread


@asynccontextmanager
async def open_controller(
    services: Services,
    *,
    emitter: Emitter | None = None,
    confirmer: Confirmer | None = None,
    origin: Origin | None = None,
    cwd: str | None = None,
    profile: str = "",
    session: str | None = None,
) -> AsyncIterator[SessionController]:
    """A session with its confirmer and signals, closed in order whatever happens.

    `emitter`: instead of the one for this terminal. `confirmer`: asks instead of the person, who then counts as not there.
    `origin`: the session is a new one that was made from this other one. It starts in `cwd`; `profile`: how its goals
    are pursued. `session`: the one to go on in, instead of what the settings say.
    """
    for warning in services.loaded.warnings:
        complain(f"agent-shell: {shown(warning)}", style="yellow")
    if session is None and origin is None:
        session = await in_thread(partial(_session_of, services))
    is_new = (
        session is not None and sys.stderr.isatty() and not await in_thread(partial(services.session_is_there, session))
    )
    signals = Signals()
    someone = nullcontext((confirmer, False)) if confirmer is not None else confirmer_for(services)
    with someone as (asked, interactive), signals.installed():
        controller = SessionController(
            services=services,
            ctx=await services.opened(
                "cli",
                session,
                cwd=cwd,
                origin=origin,
                terminal=services.has_terminal and not profile,
                attended=interactive,
                profile=profile,
            ),
            emitter=emitter or Noticing(services.make_emitter()),
            confirmer=asked,
            signals=signals,
            tell=lambda text: complain(shown(text)),
            interactive=interactive,
            frontend="cli",
            show=_show,
        )
        if (
            interactive and controller.ctx.rehearse == "preview"
        ):  # the question comes soon, and waits for no more than 0.3 seconds
            threading.Thread(target=services.warm_shells, name="warm", daemon=True).start()
        told = controller.ctx.notes or controller.ctx.restored
        if not profile and (
            is_new or session != services.settings.session_id or told
        ):  # which one that is must be seen
            for line in opening_lines(controller.ctx, new=is_new) if session else ():
                complain(f"agent-shell: {line}", style="dim" if is_new else "")
        try:
            yield controller
        finally:
            await controller.close("closed" if signals.ended_by is None else signals.ended_by.name.lower())
            await services.shutdown()


async def _show(text: str) -> None:
    say_prose(shown(text))


def _session_of(services: Services) -> str | None:
    """The session that `--session-id` means. Nobody may be there to see which one it is. Raises CoreError."""
    wanted = services.settings.session_id
    return services.choose_session(wanted, attended=False) if wanted else None
