"""Confirmation on terminals that cannot move the cursor: questions and typed lines."""

from __future__ import annotations

from dataclasses import dataclass

from agent.frontends.heading import heading, is_previewed, word_heading, write_heading
from agent.frontends.plain_line import read_plain_line
from agent.frontends.screen import Screen
from agent.frontends.shown import shown
from agent.protocol.decisions import (
    Approved,
    CancelGoal,
    Confirmation,
    ConfirmationRequest,
    Declined,
    Rehearse,
    Remark,
    Skipped,
)


@dataclass(frozen=True)
class PlainConfirmer:
    """Like `PromptConfirmer` without an editor: `y` runs what was shown, another text runs instead and is rated again, `r` rehearses."""

    screen: Screen

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        """`y` approves, blank or `n` skips, `? words` is a remark, anything else is the edited command."""
        is_write = request.kind == "write"
        if is_write and not is_previewed(request.preview):
            self.screen.say(shown(request.preview))  # there is no pager here, and nothing is written unseen
        columns = self.screen.columns
        above = (
            write_heading(request, columns=columns) if is_write else heading(request, columns=columns, rehearse_key="r")
        )
        self.screen.say_all(above)
        if not is_write:
            self.screen.say("$ " + shown(request.proposal.command if request.draft is None else request.draft))
        rehearses = "" if request.rehearsal == "no" else "r rehearse · "
        command = request.proposal.command if request.draft is None else request.draft
        ways = f"y run · {rehearses}blank skip · ? WORDS remark · or type another command"
        question = "write? [y/N]" if is_write else ways
        answer = await read_plain_line(self.screen, question)
        if answer is None:
            return CancelGoal()
        text = answer.strip()
        if text.lower() in ("y", "yes"):
            return Approved(command=command)
        if rehearses and text.lower() == "r":
            return Rehearse(command=command)
        if is_write:
            return Declined()
        if not text or text.lower() in ("n", "no"):
            return Skipped()
        return Remark(text=text[1:].strip()) if text.startswith("?") else Approved(command=text)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """What was typed, None at the end of input."""
        self.screen.say_all(word_heading(request, columns=self.screen.columns))
        return await read_plain_line(self.screen, "word")
