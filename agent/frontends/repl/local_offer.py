"""A model server that runs on this machine, offered to a person who has nothing configured."""

from __future__ import annotations

from agent.frontends.services import Services
from agent.frontends.shown import shown_line


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
