"""Ask the person at the terminal: the pre-filled, editable prompt, and the second one for the word."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples

from agent.frontends.confirm.editor import CommandEditor, LivePreview
from agent.frontends.confirm.enter_guard import EnterGuard
from agent.frontends.confirm.heading import (
    details,
    explanation,
    heading,
    is_previewed,
    must_read,
    must_say_root,
    word_heading,
    write_heading,
    write_verb,
)
from agent.frontends.confirm.keys import HELP, Action
from agent.frontends.confirm.questions import ask_line
from agent.frontends.external_programs import copy_text, edit_text, show_long
from agent.frontends.live_rating import Context, Rate, no_context
from agent.frontends.prompt_app import editor_rows
from agent.frontends.screen import Screen
from agent.frontends.services import RuleController
from agent.frontends.wrapping import rows_of, wrapped_text
from agent.policy.rehearsable import tells
from agent.protocol.confirmations import (
    Alternative,
    Approved,
    CancelGoal,
    Confirmation,
    ConfirmationRequest,
    Declined,
    Regenerate,
    Rehearse,
    Remark,
    Review,
    Skipped,
)
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.execution import Processes
from agent.protocol.ports import PreviewOf
from agent.protocol.rehearsals import Preview, Rehearsal
from agent.protocol.requests import NOT_GRANTED
from agent.text.shown import LEVEL_MARKS, shown


@dataclass(frozen=True)
class PromptConfirmer:
    """ports.Confirmer at a terminal. It never decides: no key, no time-out and no fault approves anything.

    `rate` colours the text while it is edited; the gate rates the answer again. `rules(session)` is where "always allow" puts rules.
    `context` is what `rate` holds a command in a folder against, for explanations; `undo_words(report, cwd)` says whether a run there
    could be taken back, `experience` how such commands went there, in a line.
    """

    screen: Screen
    processes: Processes
    environ: Mapping[str, str]
    rate: Rate
    edit_mode: str = "emacs"
    rules: Callable[[str], RuleController] | None = None
    context: Context = no_context
    experience: Callable[[str, str], str] = lambda command, cwd: ""
    undo_words: Callable[[RiskReport, str], str] = lambda report, cwd: ""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        """The person's answer; the end of input and a terminal that is gone cancel the goal."""
        begun = self.screen.set_aside_typed_ahead()
        if self.screen.dumb:
            from agent.frontends.confirm.plain_confirm import PlainConfirmer

            return await PlainConfirmer(self.screen, self.rate, self.experience).confirm(request)
        try:
            if request.kind == "write":
                return await self._confirm_write(request)
            return await self._confirm_command(request, begun=begun)
        except (EOFError, OSError):
            return CancelGoal()

    async def confirm_live(self, request: ConfirmationRequest, preview: PreviewOf) -> Confirmation:
        """As `confirm`, with a line that says what an edited text would do."""
        if self.screen.dumb or request.kind == "write":
            return await self.confirm(request)
        begun = self.screen.set_aside_typed_ahead()
        try:
            return await self._confirm_command(request, preview, begun=begun)
        except (EOFError, OSError):
            return CancelGoal()

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """Ask at the second prompt; None for Ctrl-C and end of input."""
        self.screen.set_aside_typed_ahead()
        if self.screen.dumb:
            from agent.frontends.confirm.plain_confirm import PlainConfirmer

            return await PlainConfirmer(self.screen).ask_word(request)
        try:
            said = self.screen.headed.get(request.proposal.command_id, ())
            self.screen.say_all(word_heading(request, columns=self.screen.columns, said=said))
            return await self._line([("class:high", f"{LEVEL_MARKS[Level.HIGH]} word "), ("class:arrow", "❯ ")])
        except (EOFError, OSError):
            return None

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        """Show what the rehearsal would change, and ask what to do with it; a terminal that is gone cancels the goal."""
        from agent.frontends.confirm.review import RehearsalReview

        review = RehearsalReview(self.screen, self.processes, self.environ, edit_mode=self.edit_mode)
        try:
            return await review.ask(request, rehearsal)
        except (EOFError, OSError):
            return CancelGoal()

    async def pick(self, choices: tuple[Alternative, ...]) -> int:
        """Ask for one of the choices, 0 for none."""
        from agent.frontends.confirm.picking import pick

        return await pick(self.screen, choices)

    async def _confirm_command(
        self, request: ConfirmationRequest, preview: PreviewOf | None = None, *, begun: bool
    ) -> Confirmation:
        """`begun`: text was being typed when the question came."""
        text = request.proposal.command if request.draft is None else request.draft
        cursor = len(text)
        says_root = must_say_root(request) and self.screen.tells("root")
        self.screen.headed = {request.proposal.command_id: must_read(request)}
        self.screen.say_all(
            heading(request, fits=self._fits(request, text), columns=self.screen.columns, says_root=says_root)
        )
        shown_whole = ""
        guard = EnterGuard(self.screen.dead_time, begun=begun, ask=self.screen.ask_terminal)
        previews = LivePreview(request.previewed, preview)
        while True:
            editor = CommandEditor(
                self.screen,
                self.rate,
                request,
                Document(text, cursor),
                edit_mode=self.edit_mode,
                makes_rules=self._makes_rules(request),
                guard=guard,
                previews=previews,
            )
            action = await editor.run()
            text, cursor = editor.buffer.text, editor.buffer.cursor_position
            match action:
                case Action.ACCEPT | Action.REHEARSE if not text.strip():
                    return Skipped()
                case Action.ACCEPT | Action.REHEARSE if left := request.proposal.unfilled(text):
                    self.screen.say(f"fill in {', '.join(left)} first; Tab goes there", "class:warn")
                case Action.ACCEPT | Action.REHEARSE if text != shown_whole and not self._fits(request, text):
                    # Nothing runs that could not have been seen: the rest of it may have stood above the editor's window.
                    shown_whole = text
                    await self._beside(Action.EXPLAIN, request, editor, text, cursor)
                    what = "F9 rehearses" if action is Action.REHEARSE else "Enter runs"
                    self.screen.say(f"this was all of it; {what} it now", "class:warn")
                case Action.ACCEPT:
                    unrated = not editor.level_seen and text not in (request.proposal.command, shown_whole)
                    return Approved(command=text, seen=editor.seen, unrated=unrated)
                case Action.REHEARSE if (previewed := previews.preview(text)) is not None:
                    await self._show_preview(previewed)
                case Action.REHEARSE:
                    return Rehearse(command=text)
                case Action.CANCEL | Action.SWITCH:
                    self.screen.switched = action is Action.SWITCH
                    return CancelGoal()
                case Action.REGENERATE:
                    return Regenerate()
                case Action.REMARK:
                    remark = await self._line([("class:strong", "remark to the planner "), ("class:arrow", "❯ ")])
                    if remark and remark.strip():
                        return Remark(text=remark.strip())
                case _:
                    shown_whole = text if action is Action.EXPLAIN else shown_whole
                    text, cursor = await self._beside(action, request, editor, text, cursor)

    async def _show_preview(self, preview: Preview) -> None:
        """All that it would change; the prompt comes back after it."""
        from agent.frontends.confirm.review import RehearsalView

        await RehearsalView(self.screen, self.processes, self.environ).show_all(preview.rehearsal)

    def _fits(self, request: ConfirmationRequest, text: str) -> bool:
        """Tell whether the person can see all of `text` at once in the editor. What they sent may be pasted, so it counts alike."""
        return rows_of(text, self.screen.columns) <= editor_rows(self.screen)

    async def _beside(
        self, action: Action, request: ConfirmationRequest, editor: CommandEditor, text: str, cursor: int
    ) -> tuple[str, int]:
        """Do what needs the terminal for itself and then comes back to the prompt."""
        if action is Action.HELP:
            known = self.experience(request.proposal.command, request.proposal.cwd)
            columns = self.screen.columns
            self.screen.say_all(details(request, experience=known, columns=columns, choices=True))
            self.screen.say(wrapped_text(_help(request), columns))
        elif action is Action.EXPLAIN:
            report = editor.rating.report(text) or self.rate(text, request.proposal.cwd, request.session)
            context = self.context(text, request.proposal.cwd, request.session)
            as_asked = text == (request.proposal.command if request.draft is None else request.draft)
            undo = request.undo if as_asked else await asyncio.to_thread(self.undo_words, report, request.proposal.cwd)
            told = explanation(text, report, context, columns=self.screen.columns, undo=undo)
            await show_long(told, self.screen, self.processes, self.environ)
            self.screen.discard_typed_ahead()  # keys meant for the pager
        elif action is Action.ALLOW:
            await self._allow(request, editor, text)
        elif action is Action.COPY:
            self.screen.say(await copy_text(text, self.screen, self.processes, self.environ), "class:hint")
        elif action is Action.EDITOR:
            text, trouble = await edit_text(text, self.processes, self.environ, name="command.sh")
            cursor = len(text)
            if trouble:
                self.screen.say(trouble, "class:warn")
            self.screen.discard_typed_ahead()
        return text, cursor

    def _makes_rules(self, request: ConfirmationRequest) -> bool:
        """Tell whether a rule could spare the person this question: not where what is published needs a grant."""
        return self.rules is not None and request.verdict.rule != NOT_GRANTED

    async def _allow(self, request: ConfirmationRequest, editor: CommandEditor, text: str) -> None:
        """Make a rule of what stands in the editor; the command goes on waiting."""
        if self.rules is None or not self._makes_rules(request):
            self.screen.say("rules cannot be made here", "class:warn")
            return
        from agent.frontends.confirm.allow_rule import AllowRule

        report = editor.rating.report(text) or self.rate(text, request.proposal.cwd, request.session)
        dialogue = AllowRule(self.screen, self.rules(request.session), self.processes, self.environ, self.edit_mode)
        await dialogue.run(request, report)
        self.screen.discard_typed_ahead()

    async def _confirm_write(self, request: ConfirmationRequest) -> Confirmation:
        self.screen.headed = {request.proposal.command_id: must_read(request)}
        self.screen.say_all(write_heading(request, columns=self.screen.columns))
        seen = is_previewed(request.preview)
        verb, what = write_verb(request)
        keys = "y/N, v: view all" if request.preview else "y/N"
        while True:
            answer = await self._line([("class:strong", f"{verb} this {what}? [{keys}] "), ("class:arrow", "❯ ")])
            match (answer or "").strip().lower():
                case "v" | "view":
                    await self._show_content(request)
                    seen = True
                case "y" | "yes" if not seen:
                    await self._show_content(request)
                    seen = True
                    self.screen.say(f"this was all of it; y {verb}s it now", "class:warn")
                case "y" | "yes":
                    return Approved(command=request.proposal.command)
                case _:
                    return CancelGoal() if answer is None else Declined()

    async def _line(self, prompt: StyleAndTextTuples) -> str | None:
        return await ask_line(self.screen, prompt, edit_mode=self.edit_mode)

    async def _show_content(self, request: ConfirmationRequest) -> None:
        await show_long(shown(request.preview), self.screen, self.processes, self.environ)
        self.screen.discard_typed_ahead()  # keys meant for the pager


def _help(request: ConfirmationRequest) -> str:
    """The keys, without the one that rehearses where that tells nothing."""
    offered = request.previewed is not None or (request.rehearsal != "no" and tells(request.report))
    lines = HELP.split("\n")
    return "\n".join(line for line in lines if offered or not line.startswith("F9 "))
