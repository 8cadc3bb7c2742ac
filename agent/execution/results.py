"""Build the result of a run that ended, or of one that could not start."""

from __future__ import annotations

import errno
import os
import re
from functools import partial

from agent.execution.channels import Ending
from agent.execution.output import HeadTail
from agent.execution.process_tree.helper import Launch, exit_code
from agent.execution.process_tree.limits import ended_for, failed_for
from agent.protocol.outcomes import CapturedStream, ExecutionResult, ExitCode

_COMPLAINT = re.compile(
    r"permission denied|not permitted|read-only|resol|network|connect|cannot (?:create|open|lock)|unable to (?:create|open|lock)",
    re.IGNORECASE,
)
CANNOT_RUN = 126
NOT_FOUND = 127
_LOST = 125
_ENDED = 137  # as by SIGKILL, whatever it made of our wish that it end


def failure(exit_code: int, text: str, *, cwd: str, notes: tuple[str, ...] = ()) -> ExecutionResult:
    """A result for what could not even start; nothing ran, so the shell state is untouched."""
    text += "\n"
    return ExecutionResult(
        exit_code=exit_code,
        stderr=CapturedStream(head=text, total_bytes=len(text.encode("utf-8", "replace"))),
        cwd_after=cwd,
        notes=notes,
    )


def refused(launch: Launch, text: str) -> ExecutionResult:
    """It was not even tried."""
    return failure(CANNOT_RUN, f"agent-shell: {text}", cwd=launch.cwd)


def not_started(launch: Launch, stage: str, number: int, text: str) -> ExecutionResult:
    """The guardian could not start it: in which step, for which errno, and what that step said."""
    reason = os.strerror(number) if number else "bad request"
    if stage == "sandbox":
        from agent.execution.confine.words import failed

        return refused(launch, failed(text, number))
    if stage == "chdir":
        return refused(launch, f"cannot enter {launch.cwd}: {reason}; nothing was run")
    if number == errno.E2BIG:
        too_long = "the environment and the command are too long for the system (E2BIG); unset or shorten a variable"
        return refused(launch, too_long)
    code = NOT_FOUND if number == errno.ENOENT else CANNOT_RUN
    return failure(code, f"agent-shell: cannot start {launch.argv[0]}: {reason}", cwd=launch.cwd)


def result_of(
    launch: Launch,
    ending: Ending,
    captures: dict[str, HeadTail],
    *,
    notes: tuple[str, ...],
    duration: float,
    stopped: bool,
) -> ExecutionResult:
    """Put the result together. `notes`: what is known so far; `stopped`: somebody asked for its end."""
    message = ending.message
    interrupted = stopped or ending.interrupted_by_key
    stdout, stderr = captures["stdout"].result(), captures["stderr"].result()
    result = partial(ExecutionResult, stdout=stdout, stderr=stderr, duration=duration)
    if message is None:
        note = "the process that watches the command was killed, so the command was ended too"
        return result(exit_code=_LOST, interrupted=interrupted, notes=(note,))
    if ending.kept or ending.suspended:
        return result(exit_code=0, state_kept=False, notes=notes)
    said = stderr.head + stderr.tail
    status = int(message["status"])
    code = exit_code(status)
    interrupted |= ending.saw_interrupt_key and code == ExitCode.CANCELLED
    if message["stuck"]:
        notes += (f"{message['stuck']} of its processes could not be ended (another user's, or stuck in the kernel)",)
    timed_out = bool(message["timed_out"])
    limit = "output" if ending.over_output else message["limit"]
    if limit == "rights":
        code = _ENDED
    elif limit:
        notes += (ended_for(limit, launch.limits),)
        code = _ENDED
    elif code and any(bound is not None for bound in launch.limits):
        notes += failed_for(launch.limits, exit_code=code, said=said)
    if timed_out:
        notes += (f"ended after its time-out of {launch.timeout:g} s",)
    # What a held command was refused and needed: what ended it, or what it fails for. The rest it could do without.
    missed = tuple(message.get("refused", ()))
    if limit == "rights":
        missed = missed[-1:]
    elif not code or not _COMPLAINT.search(said):
        missed = ()
    return result(
        exit_code=ExitCode.TIMEOUT if timed_out else code,
        signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        timed_out=timed_out,
        interrupted=interrupted and not timed_out,
        notes=notes,
        refused=missed,
    )
