"""Show a command in an editable prompt: its level, its preview and the keys, as the text changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples

from agent.frontends.confirm.enter_guard import EnterGuard
from agent.frontends.confirm.heading import does
from agent.frontends.confirm.keys import Action, confirm_bindings, select_slot, took_early
from agent.frontends.confirm.lexer import ShellLexer
from agent.frontends.confirm.readings import Cycle
from agent.frontends.line import prompt_command
from agent.frontends.live_rating import LiveRating, Rate
from agent.frontends.prompt_app import build_app, editor_rows, vi_letter
from agent.frontends.screen import Screen
from agent.frontends.wrapping import rows_of
from agent.policy.deciding import breach
from agent.policy.rehearsable import tells, writes
from agent.protocol.confirmations import ConfirmationRequest
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.ports import PreviewOf
from agent.protocol.rehearsals import Preview
from agent.risk.explain.sentence import sentence
from agent.text.shown import LEVEL_MARKS, shown_line

PAUSE = 0.25
"""Seconds without a key after which an edited text is previewed."""


class LivePreview:
    """`known`: of the text that stands there at first. `of` is None where nobody previews edits; then only `known` is shown."""

    def __init__(self, known: Preview | None, of: PreviewOf | None) -> None:
        self._of = of
        self._first: dict[str, Preview | None] = {} if known is None else {known.command: known}
        self._found = dict(self._first)
        self._text = ""
        self._task: asyncio.Task[None] | None = None
        self.on_change: Callable[[], None] = lambda: None

    def preview(self, text: str) -> Preview | None:
        """Tell what exactly `text` would do, None while, or where, that is not known."""
        return self._found.get(text)

    def is_pending(self, text: str) -> bool:
        """Tell whether it may still come."""
        return self._of is not None and text not in self._found and bool(text.strip())

    def update(self, text: str) -> None:
        """The prompt holds `text` now."""
        if text == self._text and self._task is not None:
            return
        self._text = text
        self._stop()
        if self.is_pending(text):
            self._task = asyncio.get_running_loop().create_task(self._follow(text))

    async def close(self) -> None:
        """Nothing is under way any more."""
        task = self._task
        self._stop()
        if task is not None:
            with suppress(Exception):  # what went wrong with a preview is no matter of the prompt
                await asyncio.wait({task})

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _follow(self, text: str) -> None:
        assert self._of is not None
        await asyncio.sleep(PAUSE)
        found = None
        with suppress(Exception):  # the gate says so itself before anything runs; here it only means that there is none
            found = await self._of(text)
        self._found = self._first | {text: found}  # the gate holds no more of them either
        self.on_change()


class CommandEditor:
    """One showing of the editable command."""

    def __init__(
        self,
        screen: Screen,
        rate: Rate,
        request: ConfirmationRequest,
        document: Document,
        *,
        edit_mode: str,
        makes_rules: bool,
        guard: EnterGuard,
        previews: LivePreview,
    ) -> None:
        self._request = request
        self._screen = screen
        self._columns, self._narrowed = screen.columns, False
        self._makes_rules = makes_rules
        self._original = request.proposal.command
        self._cycle = Cycle(request)
        self._guard = guard
        self._previews = previews
        self._first = "" if request.previewed is None else request.previewed.command
        self._on_screen = "" if request.previewed is None else request.previewed.preview_id
        self.seen = ""
        """The id of the preview of the text that stood on the screen when Enter was pressed."""
        self._rated = ""
        self.level_seen = False
        """Tells whether the level of the text stood on the screen when Enter was pressed."""
        self.buffer = Buffer(
            document=document,
            multiline=True,
            on_text_changed=lambda _: self._changed(),
        )
        select_slot(self.buffer, request.proposal.slots, text_from=0, select=edit_mode != "vi")
        from_planner = request.proposal.origin not in ("person", "replay", "alternative")
        self.app = build_app(
            screen,
            self.buffer,
            prefix=self._prefix,
            bindings=confirm_bindings(
                self._original,
                from_planner=from_planner,
                rehearses=request.rehearsal != "no",
                switches=bool(screen.typed_as),
                next_text=None if self._cycle.is_empty else self._cycle.step,
                slots=request.proposal.slots,
                guard=self._guard,
                on_enter=self._note_seen,
                set_aside=screen.set_aside,
            ),
            toolbar=self._toolbar,
            above=self._above,
            lexer=ShellLexer(request.proposal.slots),
            edit_mode=edit_mode,
            too_early=lambda text: took_early(self._guard, screen.set_aside, text),
        )
        self.app.after_render += lambda _: self._guard.painted()
        self.rating = LiveRating(
            rate, request.proposal.cwd, request.report, self.app.invalidate, session=request.session
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

    def _note_seen(self) -> bool:
        """Enter was pressed: it speaks of what stands on the screen now, not of what comes while the guard waits.

        It runs nothing where a command of the goal prompt stands, which a shell does not know.
        """
        preview = self._previews.preview(self.buffer.text)
        self.seen = preview.preview_id if preview is not None and preview.preview_id == self._on_screen else ""
        self.level_seen = self._rated == self.buffer.text
        return not self._ours()

    def _ours(self) -> str:
        text = self.buffer.text
        return "" if text == self._original else prompt_command(text)

    def _above(self) -> StyleAndTextTuples:
        """Show what an edited text would do; that of the first text stands above already."""
        text = self.buffer.text
        preview = self._previews.preview(text)
        self._narrowed = self._narrowed or self._screen.columns < self._columns
        if text == self._original and self._narrowed:
            return [*does(self._request)]  # terminals that break lines anew may scroll away what stood above
        if preview is not None:
            self._on_screen = preview.preview_id
            return [] if text == self._first else [("class:strong", preview.line)]
        if not self._says_above(text):
            return []
        report = self.rating.report(text)
        waits = report is None or self._previews.is_pending(text)
        return [("class:hint", "as edited: "), ("", "…" if waits or report is None else sentence(report).text)]

    def _says_above(self, text: str) -> bool:
        """Tell whether what an edited text does has to stand above it: what the first one would do does."""
        return bool(self._first and text.strip()) and text != self._first

    def _prefix(self, line: int, wrap: int) -> StyleAndTextTuples:
        if line or wrap:
            return [("class:hint", "  · " if wrap == 0 else "    ")]
        return [*self._badge(), ("class:arrow", " ❯ ")]

    def _badge(self) -> StyleAndTextTuples:
        """The level of exactly what stands in the editor, or that it is not known yet."""
        text = self.buffer.text
        level = self.rating.level(text)
        self._rated = text if level is not None else ""
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
        ours = self._ours()
        if ours:
            return [("class:warn", f" {ours} is for the goal prompt: Ctrl-C leads there · empty line skips")]
        refused = report is not None and not self._request.safety_off and breach(report) is not None
        first = "refused as it stands" if refused else f"Enter {enter}"
        words = f" {first} · empty line skips · Ctrl-C cancels · F1 more"
        level = self.rating.level(self.buffer.text)
        if self._makes_rules and level is not None and level is not Level.HIGH:
            words += " · F8 always"
        if not self._cycle.is_empty:
            words += " · F6 others"
        elif self._screen.typed_as:
            words += f" · F6 {'goal' if self._screen.typed_as == 'command' else 'command'}"
        if self._previews.preview(self.buffer.text) is not None:
            words += " · F9 changes"
        elif self._request.rehearsal != "no" and not (rehearses or refused) and (report is None or tells(report)):
            words += " · F9 rehearse"
        if self._screen.typed_as:
            words = f" {self._screen.typed_as} ·{words}"
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
        """Say why an edited text has its level; the reasons of the original stand above the prompt."""
        text = self.buffer.text
        report = self.rating.report(text) if text != self._original else None
        # The badge stands before the first row, which a long text scrolls out of sight.
        long = rows_of(text, self._screen.columns) > editor_rows(self._screen)
        badge: StyleAndTextTuples = [("", " "), *self._badge(), ("", " ·")] if long else []
        if report is None or not report.findings or (self._says_above(text) and self._previews.preview(text) is None):
            return badge
        level = report.level
        mark = "" if long else f"{LEVEL_MARKS[level]} "
        return [*badge, (f"class:{level.value}", f" {mark}{shown_line(report.findings[0].reason, 70)}"), ("", " ·")]
