"""Nobody is there to ask."""

from __future__ import annotations

from agent.protocol.decisions import Confirmation, ConfirmationRequest, Declined, Discard, Review
from agent.protocol.rehearsals import Rehearsal


class UnattendedConfirmer:
    """ports.Confirmer without a person: everything that needs one is declined."""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        return Declined(unattended=True)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        return None

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        return Discard()
