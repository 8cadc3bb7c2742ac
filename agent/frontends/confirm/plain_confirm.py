"""Confirm on terminals that cannot move the cursor: questions and typed lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.frontends.confirm.heading import (
    details,
    heading,
    is_previewed,
    must_read,
    must_say_root,
    word_heading,
    write_heading,
    write_verb,
)
from agent.frontends.confirm.questions import read_plain_line
from agent.frontends.confirm.readings import as_alternative, as_edited, others
from agent.frontends.line import prompt_command
from agent.frontends.live_rating import Rate
from agent.frontends.screen import Screen
from agent.policy.rehearsable import tells, writes
from agent.protocol.confirmations import (
    Approved,
    CancelGoal,
    Confirmation,
    ConfirmationRequest,
    Declined,
    Rehearse,
    Remark,
    Skipped,
)
from agent.protocol.rehearsals import Preview
from agent.text.shown import shown

_MORE = -1


@dataclass(frozen=True)
class PlainConfirmer:
    """Like `PromptConfirmer` without an editor: `y` runs what was shown, another text takes its place.

    `r` rehearses; `?` shows all that is known. Another text, and a number for one of the alternatives, are shown with their own level by
    `rate`, and asked for: a line may have been meant for something else. `experience` is
    how such commands went, in a line.
    """

    screen: Screen
    rate: Rate | None = None
    experience: Callable[[str, str], str] = lambda command, cwd: ""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        """`y` approves, an empty line or `n` skips, `? words` is a remark; anything else takes the place of the command."""
        choices = others(request) if request.kind == "command" and self.rate is not None else ()
        asked = request
        while True:
            answer = await self._ask(asked, choices=len(choices))
            if isinstance(answer, str) and self.rate is not None:
                asked = as_edited(request, answer, self.rate(answer, request.proposal.cwd, request.session))
                continue
            if not isinstance(answer, int):
                return Approved(command=answer) if isinstance(answer, str) else answer
            if answer == _MORE:
                known = self.experience(asked.proposal.command, asked.proposal.cwd)
                columns = self.screen.columns
                self.screen.say_all(
                    details(asked, experience=known, columns=columns, choices=bool(choices), rehearse_key="r")
                )
                continue
            asked = request
            if answer and self.rate is not None:
                chosen = choices[answer - 1]
                asked = as_alternative(
                    request, chosen, self.rate(chosen.command, request.proposal.cwd, request.session)
                )

    async def _ask(self, request: ConfirmationRequest, *, choices: int) -> Confirmation | int | str:
        """One question. The number of an alternative, where that is the answer; 0 is the proposal itself, _MORE all that is known.
        A text is another command.
        """
        is_write = request.kind == "write"
        if is_write and not is_previewed(request.preview):
            self.screen.say(shown(request.preview))  # there is no pager here, and nothing is written unseen
        columns = self.screen.columns
        self.screen.headed = {request.proposal.command_id: must_read(request)}
        command = request.proposal.command if request.draft is None else request.draft
        if is_write:
            self.screen.say_all(write_heading(request, columns=columns))
        else:
            says_root = must_say_root(request) and self.screen.tells("root")
            lines = heading(request, columns=columns, rehearse_key="r", all_key="?", says_root=says_root)
            self.screen.say_all([*lines, [("", "$ " + shown(command))]])
        question = f"{' this '.join(write_verb(request))}? [y/N]" if is_write else _ways(request, choices)
        answer = await read_plain_line(self.screen, question)
        if answer is None:
            return CancelGoal()
        text = answer.strip()
        if text.lower() in ("y", "yes"):
            return request.as_shown
        if request.previewed is not None and text.lower() == "r":
            self._show_changes(request.previewed)
            return await self._ask(request, choices=choices)
        if request.rehearsal != "no" and text.lower() == "r":
            return Rehearse(command=command)
        if is_write:
            return Declined()
        if text == "?":
            return _MORE
        if choices and re.fullmatch("[0-9]", text) and int(text) <= choices:
            return int(text)
        if not text or text.lower() in ("n", "no"):
            return Skipped()
        ours = prompt_command(text)
        if ours:
            self.screen.say(f"{ours} is for the goal prompt: an empty line leads there", "class:warn")
            return await self._ask(request, choices=choices)
        return Remark(text=text[1:].strip()) if text.startswith("?") else text

    def _show_changes(self, previewed: Preview) -> None:
        from agent.emitters.rehearsal_text import all_lines, of_any
        from agent.frontends.confirm.review import fragments

        lines = all_lines(previewed.rehearsal, known=self.screen.told)
        self.screen.told.update(of_any(previewed.rehearsal))
        self.screen.say_all([fragments(line) for line in lines])

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """Ask for the word; None at the end of input."""
        said = self.screen.headed.get(request.proposal.command_id, ())
        self.screen.say_all(word_heading(request, columns=self.screen.columns, said=said))
        return await read_plain_line(self.screen, "word")


def _ways(request: ConfirmationRequest, choices: int) -> str:
    """List what can be typed: `y runs it · empty line skips · ? more · or type another command`."""
    rehearses = request.rehearsal != "no" and tells(request.report)
    at_once = request.rehearsal == "auto" and writes(request.report)
    ways = ["y rehearses it" if at_once else "y asks for the word" if request.verdict.action == "type" else "y runs it"]
    if request.previewed is not None:
        ways.append("r shows the changes")
    elif rehearses and not at_once:
        ways.append("r rehearses it")
    if choices:
        first = "0" if request.draft is not None else "1"
        ways.append(f"{first if first == str(choices) else f'{first}-{choices}'} another one")
    return " · ".join([*ways, "empty line skips", "? more", "or type another command"])
