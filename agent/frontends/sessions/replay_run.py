"""`agent-shell sessions replay --run`: a session's commands again, each through the gate, as a new session that points to the old one."""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs

from agent.emitters.console import complain, print_rows
from agent.emitters.streams import Sink, sink_of
from agent.engine.plain_emitters import NullEmitter
from agent.frontends.confirm.questions import ask_words, asking_at
from agent.frontends.one_session import open_controller
from agent.frontends.screen import Screen
from agent.protocol.confinement import Confinement, strictest
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import CommandSummary, ExitCode, GoalStatus, RunOutcome
from agent.protocol.ports import Confirmer
from agent.protocol.records import LABEL
from agent.text.shown import shown, shown_line, shown_name
from agent.text.sizes import counted

if TYPE_CHECKING:
    from agent.audit.replay.steps import Step
    from agent.frontends.services import Services
    from agent.frontends.session_controller import SessionController
    from agent.recording.reader import SessionFile

_LISTED = 20
_AS_THEN, _DIFFERS, _NOT_RUN = "same", "different", "not run"


async def run_again(
    services: Services,
    session: SessionFile,
    *,
    goal: int = 0,
    first: int = 0,
    before: int = 0,
    keep_going: bool = False,
    sure: bool = False,
    out: Sink | None = None,
) -> int:
    """Run what ran then, in order: only goal `goal`, or from goal `first` on (they count from `before` + 1). Stops where an
    exit code is another than it was then, or where a command does not run, unless `keep_going`. `sure`: without the question at the
    beginning; each command is asked for as ever.

    0 where all ended as they did then, 1 where one did not, 5 refused, 6 not confirmed, 130 cancelled. Raises CoreError.
    """
    from agent.audit.queries.stories import records, replayed_origin
    from agent.audit.replay.steps import steps

    name = shown_name(session.session_id)
    numbered = (structs.replace(step, goal=before + step.goal) for step in steps(records(session, own=True)))
    found = [step for step in numbered if goal in (0, step.goal) and step.goal >= first]
    wanted = [step for step in found if not step.left_out]
    for step in found:
        if step.left_out:
            complain(f"left out: {shown_line(step.command, 60)} (goal {step.goal}: {step.left_out})", style="dim")
    if not wanted:
        complain(
            f"agent-shell: nothing of {name} can be run again"
            + (f" from goal {goal or first}" if goal or first else "")
        )
        return ExitCode.FAILED
    start = wanted[0].cwd if os.path.isdir(wanted[0].cwd) else None
    emitter = NullEmitter() if services.settings.json else None
    async with open_controller(services, emitter=emitter, origin=replayed_origin(session), cwd=start) as controller:
        again = _Again(controller, name, out or sink_of(sys.stdout))
        if controller.interactive and not sure and not await again.agreed(wanted):
            controller.tell("nothing was run")
            return ExitCode.DECLINED
        code = await again.run(wanted, keep_going=keep_going)
        return controller.signals.exit_code or code


@dataclass
class _Again:
    """Goes through the steps of one session, and says how each went."""

    controller: SessionController
    name: str
    out: Sink
    codes: list[int] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    async def agreed(self, wanted: list[Step]) -> bool:
        """Show what is coming and ask once; where questions cannot be asked, the one for each command is enough."""
        ask, _ = asking_at(self.controller.confirmer)
        if ask is None:
            return True
        for step in wanted[:_LISTED]:
            then = f"exit {step.exit_code} then"
            complain(f"  {step.goal:>3}  {shown_line(step.command, 90)}  ({then}, in {shown_name(step.cwd)})")
        if len(wanted) > _LISTED:
            complain(f"       and {len(wanted) - _LISTED:,} more")
        commands = "this command" if len(wanted) == 1 else f"these {len(wanted):,} commands"
        return await ask(f"run {commands} of {self.name} again?")

    async def run(self, wanted: list[Step], *, keep_going: bool) -> int:
        for place, step in enumerate(wanted, 1):
            self.controller.tell(f"{place}/{len(wanted)} · goal {step.goal} · exit {step.exit_code} then")
            outcome, now, word = await self._step(step)
            self._tell(step, now, outcome, word)
            self.counts[outcome] += 1
            stopped = self.controller.interrupted or self.controller.signals.ended_by is not None
            if stopped or (self.codes and self.codes[-1] == ExitCode.CANCELLED):
                self._hint(wanted, place, keep_going=True)
                return ExitCode.CANCELLED
            if outcome != _AS_THEN and not keep_going:
                self._hint(wanted, place, keep_going=False)
                break
        told = ", ".join(f"{count:,} {_WORDS[name]}" for name, count in self.counts.items())
        self.controller.tell(f"{self.counts.total():,} of {counted(len(wanted), 'command')} of {self.name}: {told}")
        return max(self.codes, default=ExitCode.DONE) if ExitCode.FAILED not in self.codes else ExitCode.FAILED

    def _hint(self, wanted: list[Step], place: int, *, keep_going: bool) -> None:
        rest = len(wanted) - place
        if rest:
            how = "" if keep_going else "; --keep-going continues anyway"
            self.controller.tell(f"stopped: {rest:,} not run again; --from {wanted[place].goal} begins there{how}")

    async def _step(self, step: Step) -> tuple[str, int | None, str]:
        """Sum a step up: how it went, its exit code now, and what is to be said."""
        if not os.path.isdir(step.cwd):
            return self._failed(ExitCode.FAILED, f"its folder is not there any more: {shown_name(step.cwd)}")
        command = step.command
        if step.has_label:
            edited = await self._edited(command)
            if edited is None:
                return self._failed(
                    ExitCode.DECLINED, "a secret of it is not in the log; it has to be edited by a person"
                )
            command = edited
        self._enter(step)
        given = UserInput(text=command, shell=True, private=step.private, unlisted=step.unlisted, origin="replay")
        done = await self.controller.send(given, rehearse="always" if step.via == "rehearsal" else None)
        return self._judged(step, done)

    def _judged(self, step: Step, done: RunOutcome) -> tuple[str, int | None, str]:
        ran = _ran(done)
        if ran is None:
            return self._failed(done.exit_code or ExitCode.FAILED, "")
        edited = ", of another text" if ran.run != step.command else ""
        if done.goal is not None and done.goal.status in (GoalStatus.HANDED_OFF, GoalStatus.INTERRUPTED):
            code = ExitCode.CANCELLED if done.goal.status is GoalStatus.INTERRUPTED else ExitCode.FAILED
            return self._failed(code, "it did not finish")
        if ran.exit_code == step.exit_code:
            return _AS_THEN, ran.exit_code, edited
        self.codes.append(ExitCode.FAILED)
        return _DIFFERS, ran.exit_code, edited

    def _failed(self, code: int, word: str) -> tuple[str, int | None, str]:
        self.codes.append(code)
        return _NOT_RUN, None, word

    def _enter(self, step: Step) -> None:
        """Go where it ran then, and confine it at least as it was confined then."""
        ctx = self.controller.ctx
        if ctx.cwd != step.cwd:
            enter: Any = getattr(ctx.executor, "enter", None)
            if enter is not None:
                enter(step.cwd)
        setting = cast(Confinement, self.controller.services.settings.confine)
        ctx.confine = strictest((setting, cast(Confinement, step.confine)))

    async def _edited(self, command: str) -> str | None:
        """The command as the person completes it, None where nobody is there or the label still stands in it."""
        if not self.controller.interactive:
            return None
        self.controller.tell(
            "a label stands in this command for a secret that is not in the log: put it in, or leave the line empty"
        )
        text = await complete(self.controller.confirmer, command, self.controller.services.settings.edit_mode)
        return text if text and text.strip() and LABEL not in text else None

    def _tell(self, step: Step, now: int | None, outcome: str, word: str) -> None:
        if self.controller.services.settings.json:
            row = {
                "goal": step.goal,
                "command": step.command,
                "cwd": step.cwd,
                "then": step.exit_code,
                "now": now,
                "outcome": outcome,
            }
            print_rows([row | ({"reason": word} if word and outcome == _NOT_RUN else {})], json=True, out=self.out)
        elif outcome == _DIFFERS:
            complain(f"different: exit {step.exit_code} then, {now} now{word}", style="yellow")
        elif outcome == _NOT_RUN and word:
            complain(f"not run: {shown(word)}", style="yellow")


_WORDS = {_AS_THEN: "ended as then", _DIFFERS: "ended differently", _NOT_RUN: "did not run"}


def _ran(done: RunOutcome) -> CommandSummary | None:
    """The command that ran, None where none did."""
    commands = done.goal.commands if done.goal is not None else ()
    return next((command for command in commands if command.outcome == "ran"), None)


async def complete(confirmer: Confirmer, command: str, edit_mode: str) -> str | None:
    """The text as the person leaves it, None for Ctrl-C, and where `confirmer` has no terminal. It is proposed, and not run, by that."""
    screen = getattr(confirmer, "screen", None)
    if not isinstance(screen, Screen):
        return None
    if not screen.dumb:
        return await ask_words(screen, "complete", edit_mode=edit_mode, text=command)
    screen.say(f"$ {shown(command)}")
    return await ask_words(screen, "the whole command")
