"""Confirm on terminals that cannot move the cursor: questions and typed lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.frontends.confirm.heading import heading, is_previewed, word_heading, write_heading
from agent.frontends.confirm.readings import as_alternative, numbered, others
from agent.frontends.live_rating import Rate
from agent.frontends.questions import read_plain_line
from agent.frontends.screen import Screen
from agent.frontends.wrapping import wrapped
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
from agent.text.shown import shown


@dataclass(frozen=True)
class PlainConfirmer:
    """Like `PromptConfirmer` without an editor: `y` runs what was shown, another text runs instead and is rated again, `r` rehearses.

    A number shows one of the alternatives, rated by `rate`, and asks again. `experience` is how such commands went, in a line.
    """

    screen: Screen
    rate: Rate | None = None
    experience: Callable[[str, str], str] = lambda command, cwd: ""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        """`y` approves, blank or `n` skips, `? words` is a remark, a number another command; anything else is the edited command."""
        choices = others(request) if request.kind == "command" and self.rate is not None else ()
        asked = request
        while True:
            answer = await self._ask(asked, choices=len(choices))
            if not isinstance(answer, int):
                return answer
            asked = request
            if answer and self.rate is not None:
                chosen = choices[answer - 1]
                asked = as_alternative(
                    request, chosen, self.rate(chosen.command, request.proposal.cwd, request.session)
                )

    async def _ask(self, request: ConfirmationRequest, *, choices: int) -> Confirmation | int:
        """One question. The number of an alternative, where that is the answer; 0 is the proposal itself."""
        is_write = request.kind == "write"
        if is_write and not is_previewed(request.preview):
            self.screen.say(shown(request.preview))  # there is no pager here, and nothing is written unseen
        columns = self.screen.columns
        if is_write:
            self.screen.say_all(write_heading(request, columns=columns))
        else:
            known = self.experience(request.proposal.command, request.proposal.cwd)
            self.screen.say_all(
                heading(request, columns=columns, rehearse_key="r", alternatives_key="", experience=known)
            )
        if not is_write:
            self.screen.say("$ " + shown(request.proposal.command if request.draft is None else request.draft))
            if choices:
                self.screen.say_all(wrapped(numbered(request), columns))
        rehearses = "" if request.rehearsal == "no" else "r rehearse · "
        command = request.proposal.command if request.draft is None else request.draft
        first = "0" if request.draft is not None else "1"
        numbers = first if first == str(choices) else f"{first}-{choices}"
        other = f"{numbers} another one · " if choices else ""
        ways = f"y run · {other}{rehearses}empty line skips · ? WORDS remark · or type another command"
        question = f"{request.proposal.command.partition('_')[0]}? [y/N]" if is_write else ways
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
        if choices and re.fullmatch("[0-9]", text) and int(text) <= choices:
            return int(text)
        if not text or text.lower() in ("n", "no"):
            return Skipped()
        return Remark(text=text[1:].strip()) if text.startswith("?") else Approved(command=text)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """What was typed, None at the end of input."""
        self.screen.say_all(word_heading(request, columns=self.screen.columns))
        return await read_plain_line(self.screen, "word")
