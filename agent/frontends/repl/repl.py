"""Run the REPL: read a line, do it, show it, again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from agent.config.load import trouble_in
from agent.config.paths import state_dir
from agent.emitters.paint import use_theme
from agent.frontends.confirm.tty_confirm import LateConfirmer
from agent.frontends.line import Goal, Leave, Line, Nothing, OwnCommand, parse_line
from agent.frontends.opening_words import follow_up_tip, logs_in_clone, opening_lines, welcome
from agent.frontends.repl.background_loading import BehindFirstFrame, left_open_line
from agent.frontends.repl.goal_history import GoalHistory, HistoryController
from agent.frontends.repl.goal_prompt import GoalPrompt
from agent.frontends.repl.toolbar import prompt_marks, toolbar_text
from agent.frontends.screen import Screen, open_screen
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.frontends.signals import EndingProcesses, Signals
from agent.frontends.wrapping import wrapped, wrapped_text
from agent.protocol.commands import IncludeFiles
from agent.protocol.errors import CoreError
from agent.protocol.outcomes import FrontendRequest, GoalStatus, GoalSummary
from agent.text.shown import shown, shown_line
from agent.waiting import in_thread

if TYPE_CHECKING:
    from agent.frontends.repl.interview_mode import InterviewMode
    from agent.frontends.typed.reading import Typed


async def run_repl(services: Services, screen: Screen | None = None) -> int:
    """Run until the person leaves; the exit code (0, or 128 + the signal that ended it)."""
    settings = services.settings
    screen = screen or open_screen(theme=settings.theme)
    services.hand_unread(screen.set_aside)
    signals = Signals()
    services = structs.replace(services, processes=EndingProcesses(services.processes, signals))
    named, is_new = await in_thread(partial(_named, services)) if settings.session_id else (None, False)
    controller = SessionController(
        services=services,
        ctx=await services.opened("repl", named, terminal=services.has_terminal, attended=True),
        emitter=services.make_emitter(at_prompt=True),
        confirmer=LateConfirmer(screen, services),
        signals=signals,
        tell=screen.tell,
        interactive=True,
    )
    repl = Repl(controller, screen, named_anew=is_new)
    with signals.installed():
        try:
            await repl.loop()
        finally:
            await repl.close("closed" if signals.ended_by is None else signals.ended_by.name.lower())
            await services.shutdown()
    return signals.exit_code or 0


def _named(services: Services) -> tuple[str, bool]:
    """The session that `--session-id` means, and whether it is a new one. Raises CoreError."""
    named = services.choose_session(services.settings.session_id, attended=True)
    return named, not services.session_is_there(named)


class Repl:
    """The loop and what a line does. `named_anew`: the session that was asked for by name was not there before."""

    def __init__(self, controller: SessionController, screen: Screen, *, named_anew: bool = False) -> None:
        self._named_anew = named_anew
        self._told = False
        self._title = ""
        self._controller = controller
        controller.show = self._show
        self._screen = screen
        self._services = controller.services
        self._environ = controller.services.loaded.environ
        self._behind = BehindFirstFrame(controller, self._say_hint)
        self._prompt = None if screen.dumb else self._goal_prompt()
        self._interviews: InterviewMode | None = None

    async def close(self, reason: str) -> None:
        if self._interviews is not None:
            await self._interviews.close(reason)
        await self._controller.close(reason)

    def _goal_prompt(self) -> GoalPrompt:
        controller = self._controller
        path = os.path.join(state_dir(self._environ), "history.jsonl")
        history = GoalHistory(path, lambda text: controller.ctx.redactor.redact(text))  # noqa: PLW0108 - `ctx` changes
        return GoalPrompt(
            self._screen,
            history,
            toolbar=lambda: toolbar_text(controller.ctx, self._environ.get("HOME", "")),
            marks=lambda: prompt_marks(is_root=self._services.is_root, safety_off=controller.ctx.safety_off),
            cwd=lambda: controller.ctx.cwd,
            edit_mode=controller.services.settings.edit_mode,
            after_first_render=self._behind.begin,
            search=HistoryController(self._screen, controller.services, history, lambda: controller.ctx.cwd).open,
            services=lambda: controller.services.engine.app.services,
            read_typed=self._typed,
        )

    async def loop(self) -> None:
        """Lines until the end; nothing a line does ends the loop, only the person and signals do."""
        self._greet()
        while self._controller.signals.ended_by is None:
            try:
                await self._controller.record_jobs()
                text = await self._read()
                self._controller.signals.line_begins()
                if (text is None or await self._do(text)) and await self._may_leave():
                    return
            except CoreError as error:
                if error.terminal_message():
                    from agent.emitters.describe import error_lines

                    self._screen.tell(error_lines(error.info(), color=False, at_prompt=True), "class:alert")
            except OSError:
                return  # the terminal is gone

    async def _may_leave(self) -> bool:
        """Tell whether nothing that still runs keeps the person here. Nobody is asked where a signal ends us: jobs are left alone."""
        if self._controller.signals.ended_by is not None or not self._controller.jobs.running():
            return True

        from agent.frontends.confirm.questions import ask_words

        choose = partial(ask_words, self._screen)
        try:
            return await self._controller.jobs.ask_before_leaving(choose, self._controller.tell) == "go"
        except EOFError:
            return True  # the terminal is gone

    def _greet(self) -> None:
        settings = self._services.settings
        if self._services.is_root:
            self._screen.tells("root")
        self._screen.say_all(
            welcome(
                first_run=self._services.first_run,
                is_root=self._services.is_root,
                safety_off=settings.safety_off,
                columns=self._screen.columns,
                logs=logs_in_clone(settings),
            )
        )
        self._say(self._services.loaded.warnings, "class:warn")
        if settings.session_id:
            self._say(opening_lines(self._controller.ctx, new=self._named_anew))
        if self._prompt is None:  # else it is said when the first frame stands
            self._say_hint(left_open_line(self._services, self._controller.ctx.session_id))

    def _say_hint(self, text: str) -> None:
        self._say([text] if text else [])

    def _say(self, lines: Sequence[str], style: str = "class:hint") -> None:
        self._screen.say_all(wrapped([[(style, shown(line))] for line in lines], self._screen.columns))

    async def _read(self) -> str | None:
        if self._controller.signals.ended_by is not None:
            return None  # it came since the last line was done
        if self._prompt is None:
            from agent.frontends.confirm.questions import read_plain_goal

            return await read_plain_goal(self._screen, self._controller.signals)
        with self._controller.signals.ending_prompt(self._prompt.leave):
            return await self._prompt.read()

    async def _do(self, text: str) -> bool:
        """Act on a line; True where it was good-bye. Raises CoreError."""
        line = parse_line(text)
        self._title = shown_line(text, 40) if text.startswith(":") else ""
        await self._behind.warm_enough()
        return await (self._do_typed(line) if isinstance(line, Goal) else self._do_line(line))

    async def _do_typed(self, goal: Goal) -> bool:
        """Act on a goal, or on a command that was typed like one; as the other thing, where the person switches it at its confirmation."""
        from agent.frontends.typed.reading import decided

        screen = self._screen
        chosen = self._prompt.chosen if self._prompt is not None else ""
        line = decided(goal, self._controller.meanings(), chosen)
        while True:
            is_command = isinstance(line, OwnCommand)
            can_switch = is_command or self._typed(goal.text).kind in ("command", "unsure")
            screen.typed_as = ("command" if is_command else "goal") if can_switch else ""
            screen.switched = False
            try:
                left = await self._do_line(line)
            finally:
                screen.typed_as = ""
            if left or not screen.switched:
                return left
            line = decided(goal, self._controller.meanings(), "goal" if is_command else "command")
            if isinstance(line, OwnCommand):
                line = structs.replace(line, asked=True)  # one key has switched it, and another one runs it

    async def _do_line(self, line: Line) -> bool:
        if isinstance(line, OwnCommand) and self._prompt is not None and not self._prompt.shown_whole:
            line = structs.replace(line, asked=True)  # a part of it may never have been on the screen
        if isinstance(line, Nothing | Leave):
            return isinstance(line, Leave)
        await self._attach_files()
        given = self._interviews.take_context() if self._interviews and isinstance(line, Goal) else ()
        outcome = await self._controller.run(line, context=given)
        self._tell_of_follow_ups(outcome.goal)
        if outcome.frontend_request is not None:
            await self._beside(outcome.frontend_request)
        return False

    def _typed(self, text: str) -> Typed:
        from agent.frontends.typed.reading import read_typed

        return read_typed(text, self._controller.meanings())

    def _tell_of_follow_ups(self, goal: GoalSummary | None) -> None:
        """Once, to who is new here: after a search, which is what most often is gone on from."""
        if self._told or not self._services.first_run or goal is None or goal.status is not GoalStatus.COMPLETED:
            return
        tip = next(filter(None, map(follow_up_tip, goal.commands)), "")
        if tip:
            self._told = True
            self._say_hint(tip)

    async def _attach_files(self) -> None:
        """`--file` belongs to the first goal."""
        files, ctx = self._services.settings.file, self._controller.ctx
        if files and not (ctx.goals or ctx.pending_files or ctx.pending_media):
            await self._controller.send(None, IncludeFiles(files))

    async def _show(self, text: str) -> None:
        from agent.frontends.external_programs import show_long

        text = wrapped_text(shown(text), self._screen.columns)
        await show_long(text, self._screen, self._services.processes, self._environ, title=self._title)

    async def _beside(self, request: FrontendRequest) -> None:
        """Edit a file, copy a text, do a cycle of work …, as a core command asked for."""
        from agent.frontends.external_programs import copy_text, open_page

        said = ""
        if request.action == "edit":
            said = await self._edit_settings(request.argument)
        elif request.action == "work":
            from agent.frontends.work_cycles import cycle_beside

            await cycle_beside(self._controller, request.argument)
        elif request.action == "interview":
            await self._interview(request.argument)
        elif request.action == "story":
            from agent.frontends.sessions.show import story_text

            path = self._controller.ctx.recorder.path  # told as `sessions show` does; to be read only
            await self._show(await in_thread(partial(story_text, self._services, path)))
        elif request.action == "theme":
            self._screen.theme = request.argument
            use_theme(request.argument)
        elif request.action == "copy":
            said = await copy_text(request.argument, self._screen, self._services.processes, self._environ)
        elif request.action == "open":
            await open_page(request.argument, self._services.processes, self._environ)
            await self._controller.send(None, request.command)
        if said:
            self._screen.tell(said, "class:hint")

    async def _interview(self, argument: str) -> None:
        """Raises CoreError."""
        if self._interviews is None:
            from agent.frontends.repl.interview_mode import InterviewMode

            self._interviews = InterviewMode(self._controller, self._screen, self._do_beside)
        await self._interviews.talk(argument)

    async def _do_beside(self, text: str, asked: bool) -> bool:
        """Do a line that was typed in an interview; as `_do`. Raises CoreError."""
        line = parse_line(text)
        self._title = shown_line(text, 40) if text.startswith(":") else ""
        if asked and isinstance(line, OwnCommand):
            line = structs.replace(line, asked=True)
        return await self._do_line(line)

    async def _edit_settings(self, path: str) -> str:
        """Edit the person's settings, a new file with the commented template; what went wrong, or is wrong with it now."""
        from agent.config.write_user import begin_file
        from agent.frontends.external_programs import edit_file

        try:
            begin_file(path)
        except OSError as error:
            return f"cannot create {path}: {error.strerror or error}"
        said = await edit_file(path, self._services.processes, self._environ)
        return said or trouble_in(path) or "settings count from the next start; `:set` changes some for this session"
