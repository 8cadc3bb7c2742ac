"""Import the confirmation prompt when there is something to confirm: the first frame does without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.frontends.screen import Screen
from agent.frontends.services import Services
from agent.protocol.decisions import Alternative, Confirmation, ConfirmationRequest, Review
from agent.protocol.ports import PreviewOf
from agent.protocol.rehearsals import Rehearsal

if TYPE_CHECKING:
    from agent.frontends.confirm.confirmer import PromptConfirmer


class LateConfirmer:
    """ports.Confirmer, Reviewer and Picker."""

    def __init__(self, screen: Screen, services: Services) -> None:
        self.screen = screen
        self._services = services

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        return await self._prompt().confirm(request)

    async def confirm_live(self, request: ConfirmationRequest, preview: PreviewOf) -> Confirmation:
        return await self._prompt().confirm_live(request, preview)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        return await self._prompt().ask_word(request)

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        return await self._prompt().review(request, rehearsal)

    async def pick(self, choices: tuple[Alternative, ...]) -> int:
        return await self._prompt().pick(choices)

    def _prompt(self) -> PromptConfirmer:
        from agent.frontends.confirm.confirmer import PromptConfirmer

        services = self._services
        return PromptConfirmer(
            self.screen,
            services.processes,
            services.loaded.environ,
            services.rate,
            edit_mode=services.settings.edit_mode,
            rules=services.rules,
            context=services.context,
            experience=services.experience,
            undo_words=services.undo_words,
        )
