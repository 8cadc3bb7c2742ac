"""`agent-shell rehearse`: run a command over an overlay, show what it would change, change nothing."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from agent.emitters.console import complain, print_rows, say
from agent.emitters.rehearsal_text import all_lines, plain
from agent.emitters.streams import sink_of
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
from agent.engine.plain_emitters import NullEmitter
from agent.frontends.confirm.tty_confirm import UnattendedConfirmer
from agent.frontends.line import OwnCommand
from agent.frontends.one_session import open_controller
from agent.frontends.services import Services
from agent.protocol.confirmations import ConfirmationRequest, Discard, Review
from agent.protocol.outcomes import ExitCode, joined
from agent.protocol.ports import Emitter
from agent.protocol.rehearsals import Change, Rehearsal
from agent.text.shown import shown


class NeverCommits(UnattendedConfirmer):
    """Looks at the rehearsal, and never commits."""

    def __init__(self) -> None:
        self.seen: Rehearsal | None = None

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        self.seen = rehearsal
        return Discard()


async def run_rehearse(services: Services, command: str, *, network: bool = False) -> int:
    """The command's own exit code in the rehearsal; 5 where policy refuses it, 1 where it could not be rehearsed. Raises CoreError."""
    as_json = services.settings.json
    emitter: Emitter = NullEmitter() if as_json else TerminalEmitter(TerminalEmitterOptions(summary=False))
    confirmer = NeverCommits()
    async with open_controller(services, emitter=emitter, confirmer=confirmer) as controller:
        outcome = await controller.run(OwnCommand(command), rehearse="only", network=network)
        interrupted = controller.signals.exit_code or (ExitCode.CANCELLED if controller.interrupted else None)
    seen = confirmer.seen
    if seen is None:
        said = outcome.goal.message if outcome.goal is not None else outcome.error_code
        complain(f"agent-shell: {shown(said or 'it was not rehearsed')}")
        failed = ExitCode.FAILED if outcome.exit_code in (ExitCode.DECLINED, ExitCode.DONE) else outcome.exit_code
        return interrupted or failed
    if as_json:
        print_rows([rehearsal_object(seen, network=network)], json=True, out=sink_of(sys.stdout))
    else:
        _print(seen)
    return interrupted or seen.result.exit_code


def _print(seen: Rehearsal) -> None:
    lines = all_lines(seen, offered=False)
    out = sink_of(sys.stdout)
    say(plain(lines, color=out.color), out)


def rehearsal_object(seen: Rehearsal, *, network: bool) -> dict[str, Any]:
    """The JSON shape of a rehearsal; keys are a contract."""
    value: dict[str, Any] = {
        "command": seen.command,
        "cwd": seen.cwd,
        "exit_code": seen.result.exit_code,
        "stdout": joined(seen.result.stdout),
        "stderr": joined(seen.result.stderr),
        "duration": seen.result.duration,
        "network": network,
        "changes": [_change_object(change) for change in seen.changes],
        "more": seen.more,
        "totals": msgspec.to_builtins(seen.totals),
        "not_shown": list(seen.not_shown),
    }
    if seen.obstacle:
        value["obstacle"] = seen.obstacle
    return value


def _change_object(change: Change) -> dict[str, Any]:
    value: dict[str, Any] = {"path": change.path, "op": change.op, "kind": change.kind}
    if change.source:
        value["from"] = change.source
    for name, state in (("before", change.before), ("after", change.after)):
        if state is not None:
            value[name] = {"kind": state.kind, "mode": state.mode, "uid": state.uid, "gid": state.gid,
                           **msgspec.to_builtins(state)}  # fmt: skip
    if change.diff:
        value["diff"] = change.diff
    if change.flags:
        value["flags"] = list(change.flags)
    return value
