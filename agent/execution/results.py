"""Build the result of a run that ended, or of one that could not start."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence

from agent.execution.capture import HeadTail
from agent.execution.process_tree.launch import Launch
from agent.execution.process_tree.limits import ended_for, failed_for
from agent.execution.pump import Ending
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
        return refused(
            launch,
            "the environment and the command are too long for the system (E2BIG); unset or shorten a variable",
        )
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
    """How it ended. `notes`: what is known so far; `stopped`: somebody asked for its end."""
    message = ending.message
    interrupted = stopped or ending.interrupted_by_key
    if message is None:
        return ExecutionResult(
            exit_code=_LOST,
            stdout=captures["stdout"].result(),
            stderr=captures["stderr"].result(),
            duration=duration,
            interrupted=interrupted,
            notes=("the process that watches the command was killed, so the command was ended too",),
        )
    if ending.kept:
        return ExecutionResult(
            exit_code=0,
            stdout=captures["stdout"].result(),
            stderr=captures["stderr"].result(),
            duration=duration,
            state_kept=False,
            notes=notes,
        )
    status = int(message["status"])
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    code = os.WEXITSTATUS(status) if number is None else 128 + number
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
        said = captures["stderr"].result()
        notes += failed_for(launch.limits, exit_code=code, said=said.head + said.tail)
    if timed_out:
        notes += (f"ended after its time-out of {launch.timeout:g} s",)
    return ExecutionResult(
        exit_code=ExitCode.TIMEOUT if timed_out else code,
        signal=number,
        stdout=captures["stdout"].result(),
        stderr=captures["stderr"].result(),
        duration=duration,
        timed_out=timed_out,
        interrupted=interrupted and not timed_out,
        notes=notes,
        refused=_missed(message.get("refused", ()), code, captures["stderr"], ended=limit == "rights"),
    )


def _missed(refused: Sequence[str], code: int, stderr: HeadTail, *, ended: bool) -> tuple[str, ...]:
    """What a held command was refused and needed: what ended it, or what it fails for. The rest it could do without."""
    if not refused or not (ended or code):
        return ()
    if ended:
        return tuple(refused[-1:])
    said = stderr.result()
    return tuple(refused) if _COMPLAINT.search(said.head + said.tail) else ()
