"""Hold an interview at a terminal, or with the lines of standard input: a prompt, the commands beside it, and the way on from it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec.structs import replace

from agent.audit.queries.interviews import extractions
from agent.conversation.exports.kinds import EXPORTS, export
from agent.conversation.exports.provenance import why
from agent.conversation.framework.handoff.exits import PLANNER, REPO_AGENT
from agent.conversation.framework.state.working_memory import WorkingMemory, create_empty_working_memory
from agent.conversation.opening import opening, sidebar_of
from agent.conversation.registry.loading import Engine
from agent.conversation.shipped import registry
from agent.conversation.state_record import read_state
from agent.emitters.console import complain_about, print_rows, say
from agent.emitters.interview_lines import panel
from agent.emitters.streams import sink_of
from agent.frontends.confirm.questions import asking_at, words_at
from agent.frontends.piped import read_lines
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import CoreError, InvalidRequest, NotFound
from agent.protocol.events.interview import FieldExtracted
from agent.protocol.messages import ContextBlock, UserInput
from agent.protocol.outcomes import ExitCode, RunOutcome
from agent.protocol.requests import RunOptions

HELP = """\
Answer in your own words. "skip", "I don't know", "go back", "repeat" and corrections are understood, too.
  :panel              what is known, how surely, and what is missing
  :why FIELD          where a value comes from
  :export KIND        requirements, provenance, tasks or context
  :go [TARGET]        hand over to another engine, the planner or the repo-agent
  :help  exit         Ctrl-D leaves, too; everything is kept"""
_LEAVE = ("exit", "quit", ":q", ":quit", ":exit")


@dataclass(eq=False)
class Conversation:
    """The interview of the session at `controller`. `engine_id`: the engine that begins it, where the session has none yet."""

    controller: SessionController
    engine_id: str
    code: int = ExitCode.DONE
    _offered: list[str] = field(default_factory=list)

    async def run(self, first: str) -> int:
        """Talk until the person leaves or the interview has handed over to what is no engine. The exit code."""
        self.controller.adjust = partial(_adjusted, engine=self.engine_id, accept="")
        self._tell(opening(self.engine(), self.memory(), names=first == ""))
        if first:
            await self._send(first)
        ask = words_at(self.controller.confirmer, clears=True) if self.controller.interactive else None
        if ask is not None:
            await self._at_the_prompt(ask)
            self.code = ExitCode.DONE  # a mistake on the way was mended by the person who left
        elif not first and not sys.stdin.isatty():
            await self._piped()
        self._tell(self._way_back())
        return self.controller.signals.exit_code or self.code

    def _way_back(self) -> str:
        """Say how to go on later; "" where nothing was said, or nothing is left to say."""
        if not self.controller.interactive or not self.memory().turn_number or self.memory().ended:
            return ""
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

    async def _at_the_prompt(self, ask: Callable[[str], Awaitable[str | None]]) -> None:
        while not self.memory().ended and self.controller.signals.ended_by is None:
            line = await ask("you")
            if line is None or line.strip().lower() in _LEAVE:
                return
            await self._line(line.strip())

    async def _piped(self) -> None:
        with self.controller.signals.stopping() as stopped:
            async for text in read_lines(sys.stdin.fileno(), stopped):
                if text.strip().lower() in _LEAVE or self.memory().ended:
                    break
                await self._line(text.strip())
            if stopped():
                self.code = ExitCode.CANCELLED

    async def _line(self, line: str) -> None:
        try:
            if line.startswith(":"):
                await self._command(*line[1:].partition(" ")[::2])
            elif line:
                await self._send(line)
        except CoreError as error:
            self.code = error.exit_code
            complain_about(error)

    async def _send(self, text: str) -> None:
        outcome = await self.controller.send(UserInput.from_text(text))
        self.code = outcome.exit_code
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
        elif await ask(f"Enough is known. Hand over to {_name(report.target)} now?"):
            await self._go(report.target)
        else:
            self._tell(f"`:go {report.target}` does it later")

    async def _command(self, name: str, rest: str) -> None:
        """Raises CoreError."""
        memory, engine = self.memory(), self.engine()
        match name:
            case "panel":
                self._show_panel(sidebar_of(engine, memory), memory.completeness.overall)
            case "why":
                self._answer(name, "\n".join(why(memory, engine.config, rest.strip(), self._log())))
            case "export":
                self._answer(name, export(rest.strip() or EXPORTS[0], memory, engine.config, self._log()))
            case "go":
                await self._go(rest.strip() or memory.offered or _missing_target(engine))
            case "help":
                self._answer(name, HELP)
            case _:
                raise NotFound("command", f":{name}", hint=":help lists them")

    def _show_panel(self, sidebar: dict[str, Any], completeness: float) -> None:
        out = sink_of(sys.stdout)
        if self.controller.services.settings.json:
            print_rows([{"command": "panel", "sidebar": sidebar}], json=True, out=out)
        else:
            say(panel(sidebar, completeness, color=out.color), out)

    async def _go(self, target: str) -> None:
        """Hand over, and go on there: another engine in this session, the planner in one of its own. Raises CoreError."""
        controller, before, engine = self.controller, self.memory(), self.engine()
        controller.adjust = partial(_adjusted, engine=self.engine_id, accept=target)
        try:
            outcome = await controller.send(UserInput.from_text(f"go on with {_name(target)}"))
        finally:
            controller.adjust = partial(_adjusted, engine=self.engine_id, accept="")
        self.code = outcome.exit_code
        if outcome.exit_code == ExitCode.DONE and target == PLANNER:
            await self._plan(export("context", before, engine.config))

    async def _plan(self, known: str) -> None:
        """Give the planner a first goal with what is known, in a session of its own."""
        controller = self.controller
        ask = words_at(controller.confirmer) if controller.interactive else None
        goal = await ask("what shall the planner do first? Enter alone: nothing yet") if ask is not None else ""
        if not (goal or "").strip():
            known_by = f"agent-shell interview export context{self._named()} --resume {controller.ctx.session_id}"
            self._tell(f"`{known_by}` prints what the planner is to know")
            return
        before, controller.adjust = controller.ctx, lambda options: options
        opened = await controller.services.opened(
            "cli", None, cwd=before.cwd, terminal=controller.services.has_terminal, attended=controller.interactive
        )
        await controller.adopt(opened, "switched")
        block = ContextBlock(label="requirements from the interview", text=known)
        outcome = await controller.send(replace(UserInput.from_text((goal or "").strip()), context=(block,)))
        self.code = outcome.exit_code

    def _tell(self, text: str) -> None:
        if text and not self.controller.services.settings.json:
            self.controller.tell(text)

    def _answer(self, command: str, text: str) -> None:
        """Tell what a command found; with --json as an object of its own."""
        if self.controller.services.settings.json:
            print_rows([{"command": command, "text": text}], json=True, out=sink_of(sys.stdout))
        else:
            self.controller.tell(text)


def _adjusted(given: RunOptions, *, engine: str, accept: str) -> RunOptions:
    return replace(given, interview=replace(given.interview, engine=engine, accept=accept))


def _name(target: str) -> str:
    return {PLANNER: "the planner", REPO_AGENT: "the repository agent (TASKS.md)"}.get(target, target)


def _missing_target(engine: Engine) -> str:
    """Raises InvalidRequest: nothing was offered yet, and nobody is handed over to somewhere by chance."""
    targets = [each.target_engine for each in engine.config.exit_transitions]
    known = f"{engine.config.name} hands over to {', '.join(targets)}" if targets else "nobody takes over from here"
    raise InvalidRequest("hand over to whom?", hint=f":go TARGET; {known}")
