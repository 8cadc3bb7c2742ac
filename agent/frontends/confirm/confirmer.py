"""Ask the person at the terminal: the pre-filled, editable prompt, and the second one for the word."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples

from agent.frontends.confirm.enter_guard import EnterGuard
from agent.frontends.confirm.heading import (
    details,
    explanation,
    heading,
    is_previewed,
    must_say_root,
    word_heading,
    write_heading,
)
from agent.frontends.confirm.keys import HELP, Action, confirm_bindings, select_slot
from agent.frontends.confirm.lexer import ShellLexer
from agent.frontends.confirm.readings import Cycle
from agent.frontends.external_programs import copy_text, edit_text, show_long
from agent.frontends.live_preview import LivePreview
from agent.frontends.live_rating import Context, LiveRating, Rate, no_context
from agent.frontends.prompt_app import build_app, editor_rows, vi_letter
from agent.frontends.questions import ask_line
from agent.frontends.rule_controller import RuleController
from agent.frontends.screen import Screen
from agent.frontends.wrapping import rows_of, wrapped_text
from agent.gate.verdicts import tells, writes
from agent.protocol.decisions import (
    Alternative,
    Approved,
    CancelGoal,
    Confirmation,
    ConfirmationRequest,
    Declined,
    Level,
    Regenerate,
    Rehearse,
    Remark,
    Review,
    RiskReport,
    Skipped,
)
from agent.protocol.ports import PreviewOf, Processes
from agent.protocol.rehearsals import Preview, Rehearsal
from agent.text.shown import LEVEL_MARKS, shown, shown_line


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
        self.screen.set_aside_typed_ahead()
        if self.screen.dumb:
            from agent.frontends.confirm.plain_confirm import PlainConfirmer

            return await PlainConfirmer(self.screen, self.rate, self.experience).confirm(request)
        try:
            if request.kind == "write":
                return await self._confirm_write(request)
            return await self._confirm_command(request)
        except (EOFError, OSError):
            return CancelGoal()

    async def confirm_live(self, request: ConfirmationRequest, preview: PreviewOf) -> Confirmation:
        """As `confirm`, with a line that says what an edited text would do."""
        if self.screen.dumb or request.kind == "write":
            return await self.confirm(request)
        self.screen.set_aside_typed_ahead()
        try:
            return await self._confirm_command(request, preview)
        except (EOFError, OSError):
            return CancelGoal()

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """What was typed at the second prompt, None for Ctrl-C and end of input."""
        self.screen.set_aside_typed_ahead()
        if self.screen.dumb:
            from agent.frontends.confirm.plain_confirm import PlainConfirmer

            return await PlainConfirmer(self.screen).ask_word(request)
        try:
            self.screen.say_all(word_heading(request, columns=self.screen.columns))
            return await self._line([("class:high", f"{LEVEL_MARKS[Level.HIGH]} word "), ("class:arrow", "❯ ")])
        except (EOFError, OSError):
            return None

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        """What the rehearsal would change, and what the person wants done with it; a terminal that is gone cancels the goal."""
        from agent.frontends.confirm.review import RehearsalReview

        review = RehearsalReview(self.screen, self.processes, self.environ, edit_mode=self.edit_mode)
        try:
            return await review.ask(request, rehearsal)
        except (EOFError, OSError):
            return CancelGoal()

    async def pick(self, choices: tuple[Alternative, ...]) -> int:
        """Which of the choices is meant, 0 for none."""
        from agent.frontends.confirm.picking import pick

        return await pick(self.screen, choices)

    async def _confirm_command(self, request: ConfirmationRequest, preview: PreviewOf | None = None) -> Confirmation:
        text = request.proposal.command if request.draft is None else request.draft
        cursor = len(text)
        says_root = must_say_root(request) and self.screen.tells("root")
        self.screen.say_all(
            heading(request, fits=self._fits(request, text), columns=self.screen.columns, says_root=says_root)
        )
        shown_whole = ""
        guard = EnterGuard(self.screen.dead_time)
        previews = LivePreview(request.previewed, preview)
        while True:
            editor = _Editor(self, request, text, cursor, guard=guard, previews=previews)
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
                    return Approved(command=text, seen=editor.seen(text))
                case Action.REHEARSE if (previewed := previews.preview(text)) is not None:
                    await self._show_preview(previewed)
                case Action.REHEARSE:
                    return Rehearse(command=text)
                case Action.CANCEL:
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
        self, action: Action, request: ConfirmationRequest, editor: _Editor, text: str, cursor: int
    ) -> tuple[str, int]:
        """What needs the terminal for itself and then comes back to the prompt."""
        if action is Action.HELP:
            known = self.experience(request.proposal.command, request.proposal.cwd)
            columns = self.screen.columns
            self.screen.say_all(details(request, experience=known, columns=columns, choices=True))
            self.screen.say(wrapped_text(HELP, columns))
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

    async def _allow(self, request: ConfirmationRequest, editor: _Editor, text: str) -> None:
        """Make a rule of what stands in the editor; the command goes on waiting."""
        if self.rules is None:
            self.screen.say("rules cannot be made here", "class:warn")
            return
        from agent.frontends.confirm.allow_rule import AllowRule

        report = editor.rating.report(text) or self.rate(text, request.proposal.cwd, request.session)
        dialogue = AllowRule(self.screen, self.rules(request.session), self.processes, self.environ, self.edit_mode)
        await dialogue.run(request, report)
        self.screen.discard_typed_ahead()

    async def _confirm_write(self, request: ConfirmationRequest) -> Confirmation:
        self.screen.say_all(write_heading(request, columns=self.screen.columns))
        seen = is_previewed(request.preview)
        verb = request.proposal.command.partition("_")[0]
        while True:
            answer = await self._line(
                [("class:strong", f"{verb} this file? [y/N, v: view all] "), ("class:arrow", "❯ ")]
            )
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


class _Editor:
    """One showing of the editable command."""

    def __init__(
        self,
        owner: PromptConfirmer,
        request: ConfirmationRequest,
        text: str,
        cursor: int,
        *,
        guard: EnterGuard,
        previews: LivePreview,
    ) -> None:
        self._request = request
        self._screen = owner.screen
        self._makes_rules = owner.rules is not None
        self._original = request.proposal.command
        self._cycle = Cycle(request)
        self._guard = guard
        self._previews = previews
        self._first = "" if request.previewed is None else request.previewed.command
        self._on_screen = "" if request.previewed is None else request.previewed.preview_id
        self.buffer = Buffer(
            document=Document(text, cursor),
            multiline=True,
            on_text_changed=lambda _: self._changed(),
        )
        select_slot(self.buffer, request.proposal.slots, text_from=0, select=owner.edit_mode != "vi")
        from_planner = request.proposal.origin not in ("person", "replay", "alternative")
        self.app = build_app(
            owner.screen,
            self.buffer,
            prefix=self._prefix,
            bindings=confirm_bindings(
                self._original,
                from_planner=from_planner,
                rehearses=request.rehearsal != "no",
                next_text=None if self._cycle.is_empty else self._cycle.step,
                slots=request.proposal.slots,
                guard=self._guard,
                set_aside=owner.screen.set_aside,
            ),
            toolbar=self._toolbar,
            above=self._above,
            lexer=ShellLexer(request.proposal.slots),
            edit_mode=owner.edit_mode,
        )
        self.app.after_render += lambda _: self._guard.painted()
        self.rating = LiveRating(
            owner.rate, request.proposal.cwd, request.report, self.app.invalidate, session=request.session
        )

    def _changed(self) -> None:
        self._guard.other_key()
        self._follow()

    async def run(self) -> Action:
        """Edit until a key decides."""
        self._previews.on_change = self.app.invalidate
        try:
            action: Action = await self.app.run_async(handle_sigint=False, pre_run=self._follow)
        finally:
            self._guard.other_key()
            await self._previews.close()
            await self.rating.close()
        return action

    def _follow(self) -> None:
        self.rating.update(self.buffer.text)
        self._previews.update(self.buffer.text)

    def seen(self, text: str) -> str:
        """The id of the preview of `text`, where that has stood on the screen."""
        preview = self._previews.preview(text)
        return preview.preview_id if preview is not None and preview.preview_id == self._on_screen else ""

    def _above(self) -> StyleAndTextTuples:
        """What an edited text would do; that of the first text stands above already."""
        text = self.buffer.text
        preview = self._previews.preview(text)
        if preview is not None:
            self._on_screen = preview.preview_id
            return [] if text == self._first else [("class:strong", preview.line)]
        if not self._first or not text.strip():
            return []
        waits = self._previews.is_pending(text)
        return [("class:hint", "as edited: …" if waits else "as edited: what it would do is only known when it runs")]

    def _prefix(self, line: int, wrap: int) -> StyleAndTextTuples:
        if line or wrap:
            return [("class:hint", "  · " if wrap == 0 else "    ")]
        return [*self._badge(), ("class:arrow", " ❯ ")]

    def _badge(self) -> StyleAndTextTuples:
        """The level of exactly what stands in the editor, or that it is not known yet."""
        text = self.buffer.text
        level = self.rating.level(text)
        if not text.strip():
            badge: StyleAndTextTuples = [("class:unrated", "skip")]
        elif level is None:
            badge = [("class:unrated", "? not rated")]
        elif text == self._request.report.command and text == self._original:
            badge = [(f"class:{level.value}", LEVEL_MARKS[level])]  # the line above has the word
        else:
            badge = [(f"class:{level.value}", f"{LEVEL_MARKS[level]} {level.value}")]
        if text != self._original:
            badge.append(("class:edited", " another" if self._cycle.words(text) else " edited"))
        return badge

    def _toolbar(self) -> StyleAndTextTuples:
        report = self.rating.report(self.buffer.text)
        rehearses = self._rehearses_first()
        enter = "rehearses" if rehearses else "asks for the word" if self._asks_word(report) else "runs"
        words = f" Enter {enter} · empty line skips · Ctrl-C cancels · F1 more"
        level = self.rating.level(self.buffer.text)
        if self._makes_rules and level is not None and level is not Level.HIGH:
            words += " · F8 always"
        if not self._cycle.is_empty:
            words += " · F6 others"
        if self._previews.preview(self.buffer.text) is not None:
            words += " · F9 changes"
        elif self._request.rehearsal != "no" and not rehearses and (report is None or tells(report)):
            words += " · F9 rehearse"
        if self._request.safety_off:
            words = " SAFETY OFF ·" + words
        other = self._cycle.words(self.buffer.text)
        which: StyleAndTextTuples = [("class:strong", f" {other} "), ("", "·")] if other else []
        return [*which, *self._live_reason(), ("", words + vi_letter(self.app))]

    def _asks_word(self, report: RiskReport | None) -> bool:
        """Tell whether a word has to be typed after Enter: policy said so of the proposal; of an edit, the gate decides anew."""
        return self._request.verdict.action == "type" and report is not None and report.level is Level.HIGH

    def _rehearses_first(self) -> bool:
        """Tell whether Enter rehearses what stands in the editor; the gate decides the same way, of its own rating."""
        report = self.rating.report(self.buffer.text)
        return self._request.rehearsal == "auto" and (report is None or writes(report))

    def _live_reason(self) -> StyleAndTextTuples:
        """Why an edited text has its level; the reasons of the original stand above the prompt."""
        text = self.buffer.text
        report = self.rating.report(text) if text != self._original else None
        # The badge stands before the first row, which a long text scrolls out of sight.
        long = rows_of(text, self._screen.columns) > editor_rows(self._screen)
        badge: StyleAndTextTuples = [("", " "), *self._badge(), ("", " ·")] if long else []
        if report is None or not report.findings:
            return badge
        level = report.level
        mark = "" if long else f"{LEVEL_MARKS[level]} "
        return [*badge, (f"class:{level.value}", f" {mark}{shown_line(report.findings[0].reason, 70)}"), ("", " ·")]
