"""Hold an interview: at a terminal by itself, as a mode of the REPL, or with the lines of standard input."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from prompt_toolkit.completion import Completion

from agent.audit.queries.interviews import extractions
from agent.conversation.exports.requirements import EXPORTS, export, why
from agent.conversation.framework.handoff.exits import PLANNER, REPO_AGENT
from agent.conversation.framework.state.working_memory import WorkingMemory, create_empty_working_memory
from agent.conversation.registry.loading import Engine
from agent.conversation.registry.registry import registry
from agent.conversation.state_record import read_state
from agent.emitters.console import complain_about, print_rows, say_prose
from agent.emitters.interview_lines import panel
from agent.emitters.streams import sink_of
from agent.frontends.confirm.questions import asking_at
from agent.frontends.interview import typed
from agent.frontends.interview.earlier import go_back, opening, prepare_database
from agent.frontends.interview.handing_over import adjusted, missing_target, name_of, plan_first
from agent.frontends.interview.side_panel import PANEL_KEY, PanelSwitch, sidebar_of
from agent.frontends.piped import read_lines
from agent.frontends.screen import Fragments, Screen
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import CoreError, InvalidRequest, NotFound
from agent.protocol.events.interview import FieldExtracted
from agent.protocol.messages import ReplyItem, UserInput
from agent.protocol.outcomes import ExitCode, RunOutcome
from agent.protocol.replies import usage_text
from agent.text.shown import shown_line
from agent.waiting import beside

if TYPE_CHECKING:
    from agent.frontends.repl.interview_mode import AnswerPrompt, InterviewMode

_ANSWERS = "answers are lines of standard input"
_READING = 0.5  # seconds in which the prompt is drawn, and somebody reads what stands above it


@dataclass(eq=False)
class Conversation:
    """The interview of the session at `controller`. `engine_id`: the engine that begins it, where the session has none yet; `repl`: the
    one that it is a mode of. `then`: the interview that is wanted in place of this one, None for none.
    """

    controller: SessionController
    engine_id: str
    new_prompt: Callable[[Conversation, Screen], AnswerPrompt]
    switch: PanelSwitch = field(default_factory=PanelSwitch)
    repl: InterviewMode | None = None
    code: int = ExitCode.DONE
    then: str | None = None
    _offered: list[str] = field(default_factory=list)
    _prompt: AnswerPrompt | None = None

    def __post_init__(self) -> None:
        self.controller.adjust = partial(adjusted, engine=self.engine_id, accept="")

    async def run(self, first: str) -> int:
        """Talk until the person leaves or the interview has handed over to what is no engine. The exit code."""
        screen = getattr(self.controller.confirmer, "screen", None)
        if self.controller.interactive and isinstance(screen, Screen):
            await self.talk(screen, first)
        else:
            self._open(first)
            if first:
                await self._send(first)
            elif not sys.stdin.isatty():
                await self._piped()
        return self.controller.signals.exit_code or self.code

    async def talk(self, screen: Screen, first: str = "") -> None:
        """Ask at `screen` until the person leaves, or there is nothing left to ask. Raises OSError where it is gone."""
        self.then = None
        self.switch.screen = screen
        prompt = self._prompt = self._prompt or self.new_prompt(self, screen)
        self._open(first)
        if first:
            await self._send(first)
        else:
            later = partial(prepare_database, self.controller.services)
            asyncio.get_running_loop().call_later(_READING, beside, later)
        signals = self.controller.signals
        while not self.memory().ended and signals.ended_by is None:
            if self.repl is not None:
                await self.repl.begin_line()
            line = await prompt.read()
            signals.line_begins()
            if line is None or typed.is_leaving(line) or await self._line(line.strip()):
                break
        self.code = ExitCode.DONE  # a mistake on the way was mended by the person who left
        if self.then is None:
            self._tell(self._way_back())

    def _open(self, first: str) -> None:
        self._tell(self._opening(names=first == ""))

    def _opening(self, *, names: bool) -> str:
        """Say what it is, or where it stands; `names`: with the question that is open."""
        ctx = self.controller.ctx
        asked = next((each.text for each in reversed(ctx.history) if isinstance(each, ReplyItem)), "")
        last = asked if ctx.planner.name != "offline" else ""  # a form asks its question alone
        return opening(self.engine(), self.memory(), names=names, last=last).rstrip()

    def toolbar(self) -> str:
        """`project-discovery · offline · :help · F3: panel · exit: back to your goals`."""
        planner = self.controller.ctx.planner
        model = planner.model if planner.model and planner.model != planner.name else ""
        parts = [self.engine().config.engine_id, f"{planner.name} {shown_line(model, 40)}".rstrip(), ":help"]
        parts += [f"{PANEL_KEY.upper()}: panel"] if self.switch.has_room else []
        parts.append("exit: back to your goals" if self.repl is not None else "exit")
        return " · ".join(filter(None, (*parts, usage_text(self.controller.ctx.usage))))

    def panel(self, columns: int, rows: int) -> list[Fragments]:
        """Lay it out for a terminal of that size; none where it is not to stand there."""
        return self.switch.laid(self.controller.ctx.interview, self.engine, self.memory, columns=columns, rows=rows)

    def completions(self, name: str, rest: str | None) -> Iterable[Completion]:
        """Complete `:name`, or the `rest` after it."""
        services = self.controller.services.engine.app.services if self.repl is not None else None
        return typed.completions(name, rest, self.engine().config, services=services)

    def _way_back(self) -> str:
        """Say how to go on later; "" where nothing was said, or nothing is left to say."""
        if not self.controller.interactive or not self.memory().turn_number or self.memory().ended:
            return ""
        if self.repl is not None:
            return "kept: `:interview` goes on with it"
        return f"kept: agent-shell interview{self._named()} --resume {self.controller.ctx.session_id}"

    def _named(self) -> str:
        """The folder of an engine of one's own, which has to be named again."""
        engine = self.engine()
        return "" if engine.package else f" {shlex.quote(str(engine.folder))}"

    def engine(self) -> Engine:
        state = self.controller.ctx.interview
        return registry().get(str(state.get("engineId") or self.engine_id))

    def memory(self) -> WorkingMemory:
        """Return the state of the interview, an empty one before it began. Raises CoreError."""
        state = self.controller.ctx.interview
        return read_state(state) if state else create_empty_working_memory(self.engine().config, "", "")

    def _log(self) -> tuple[FieldExtracted, ...]:
        """Return what was understood so far, nothing where no log is kept. Raises IoError."""
        path = self.controller.ctx.recorder.path
        return extractions(path, self.memory().engine_id) if path else ()

    async def _piped(self) -> None:
        read = bool(self.memory().ended)
        with self.controller.signals.stopping() as stopped:
            async for text in read_lines(sys.stdin.fileno(), stopped):
                read = True
                if typed.is_leaving(text) or self.memory().ended:
                    break
                await self._line(text.strip())
            if stopped():
                self.code = ExitCode.CANCELLED
            elif not read:
                self.code = ExitCode.DECLINED
                complain_about(InvalidRequest("nobody answered: standard input was empty", hint=_ANSWERS))

    async def _line(self, line: str) -> bool:
        """Do what a line says; True where it leads away from here."""
        try:
            name, rest = typed.command_in(line)
            if name in typed.COMMANDS:
                await self._command(name, rest)
            elif self.repl is not None and (name or line.startswith("!")):
                return await self._around(name, rest, line)
            elif name:
                raise NotFound("command", f":{name}", hint=":help lists them")
            elif line:
                await self._send(line)
        except CoreError as error:
            self.code = error.exit_code
            complain_about(error, at_prompt=self.repl is not None)
        return False

    async def _around(self, name: str, rest: str, line: str) -> bool:
        """Raises CoreError."""
        assert self.repl is not None
        if name == "interview":
            self.then = rest
            return True
        return await self.repl.do(line, asked=self._prompt is not None and not self._prompt.shown_whole)

    async def _send(self, text: str) -> None:
        outcome = await self.controller.send(UserInput.from_text(text))
        self.code = outcome.exit_code
        if outcome.exit_code == ExitCode.CANCELLED and self.controller.interactive:
            self._tell("stopped; that answer was not taken in")
        await self._offer(outcome)

    async def _offer(self, outcome: RunOutcome) -> None:
        """Tell of the way on that is open now, and ask for it once."""
        report = outcome.interview
        if report is None or not report.target or report.handoff or report.target in self._offered:
            return
        self._offered.append(report.target)
        ask, _ = asking_at(self.controller.confirmer)
        if ask is None or not self.controller.interactive:
            self._tell(f"enough is known to go on: :go {report.target}")
        elif await ask(f"Enough is known. Hand over to {name_of(report.target)} now?"):
            await self._go(report.target)
        else:
            self._tell(f"`:go {report.target}` does it later")

    async def _command(self, name: str, rest: str) -> None:
        """Raises CoreError."""
        memory, engine = self.memory(), self.engine()
        match name:
            case "panel":
                self._switch_panel(rest, memory, engine)
            case "why":
                await self._answer(name, "\n".join(why(memory, engine.config, rest, self._log())))
            case "export":
                await self._answer(name, export(rest or EXPORTS[0], memory, engine.config, self._log()))
            case "back":
                await self._back(rest, memory.turn_number)
            case "go":
                await self._go(rest or memory.offered or missing_target(engine))
            case "help" if rest and self.repl is not None and rest.lstrip(":") not in typed.COMMANDS:
                await self.repl.do(f":help {rest}", asked=True)
            case "help":
                await self._answer(name, typed.help_text(in_repl=self.repl is not None))

    def _switch_panel(self, rest: str, memory: WorkingMemory, engine: Engine) -> None:
        """Raises InvalidRequest."""
        if rest in ("on", "off"):
            self.switch.wanted = rest == "on"
            if self.switch.wanted and not self.switch.has_room:
                self._tell("it stands there when the window is wider and higher; `:panel` prints it")
        elif rest:
            raise InvalidRequest(f"the panel can be on or off, not {rest!r}", hint="`:panel` alone prints it")
        else:
            out, sidebar = sink_of(sys.stdout), sidebar_of(engine, memory)
            if self.controller.services.settings.json:
                print_rows([{"command": "panel", "sidebar": sidebar}], json=True, out=out)
            else:
                say_prose(panel(sidebar, memory.completeness.overall, color=out.color), out)

    async def _back(self, rest: str, last: int) -> None:
        """Go on from where it was after an earlier turn. Raises CoreError."""
        number = int(rest) if rest.isascii() and rest.isdigit() and len(rest) < 9 else -1
        if rest and number < 0:
            raise InvalidRequest(":back takes the number of a turn", hint=f"this is turn {last}")
        told = await go_back(self.controller, number if rest else max(last - 1, 0))
        self._offered.clear()
        await self._answer("back", "\n".join(filter(None, (told, self._opening(names=True)))))

    async def _go(self, target: str) -> None:
        """Hand over, and go on there: another engine in this session, the planner where goals are typed. Raises CoreError."""
        controller, before, engine = self.controller, self.memory(), self.engine()
        controller.adjust = partial(adjusted, engine=self.engine_id, accept=target)
        try:
            wish = UserInput.from_text(
                f"go on with {name_of(target)}"
            )  # nobody's words: no session is named after them
            outcome = await controller.send(replace(wish, unlisted=True))
        finally:
            controller.adjust = partial(adjusted, engine=self.engine_id, accept="")
        self.code = outcome.exit_code
        if outcome.exit_code != ExitCode.DONE:
            return
        if target == REPO_AGENT and self.memory().ended:
            self._tell(f"`{':work' if self.repl is not None else 'agent-shell work'}` does the first of its tasks")
        elif target == PLANNER:
            known = export("context", before, engine.config)
            if self.repl is not None:
                self.repl.know(known)
            elif (code := await plan_first(controller, known)) is not None:
                self.code = code
            else:
                known_by = f"agent-shell interview export context{self._named()} --resume {controller.ctx.session_id}"
                self._tell(f"`{known_by}` prints what the planner is to know")

    def _tell(self, text: str) -> None:
        if text and not self.controller.services.settings.json:
            self.controller.tell(text)

    async def _answer(self, command: str, text: str) -> None:
        """Show what a command found; with --json as an object of its own."""
        if self.controller.services.settings.json:
            print_rows([{"command": command, "text": text}], json=True, out=sink_of(sys.stdout))
        elif self.controller.show is not None:
            await self.controller.show(text)
