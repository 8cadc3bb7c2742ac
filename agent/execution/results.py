"""Build the result of a run that ended, or of one that could not start, and take over the shell state that it left."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from msgspec.structs import replace as with_fields

from agent.config.paths import follows_folder
from agent.execution.output import HeadTail
from agent.execution.process_tree import wire
from agent.execution.process_tree.helper import Launch, exit_code
from agent.execution.process_tree.limits import ended_for, failed_for
from agent.execution.state import ShellState
from agent.protocol.outcomes import TIME_OUT_NOTE, CapturedStream, ExecutionResult, ExitCode

_COMPLAINT = re.compile(
    r"permission denied|not permitted|read-only|resol|network|connect|cannot (?:create|open|lock)|unable to (?:create|open|lock)",
    re.IGNORECASE,
)
CANNOT_RUN = 126
NOT_FOUND = 127
_LOST = 125
_ENDED = 137  # as by SIGKILL, whatever it made of our wish that it end


@dataclass
class Ending:
    """The end of a run: the guardian's last message (None: the guardian was lost), and read ends that a background job holds.

    `over_output`: it wrote more than it may. `kept`: it did not end, the guardian goes on with it in the background.
    `suspended`: the program that owns the terminal stopped for Ctrl-Z, and can be brought back with the same channels.
    `unread`: what was typed, and the command ended without reading it.
    `interrupted_by_key`: we stopped it for Ctrl-C; `saw_interrupt_key`: a program that owns the terminal got the key.
    """

    message: wire.Message | None = None
    held: list[int] = field(default_factory=list)
    interrupted_by_key: bool = False
    saw_interrupt_key: bool = False
    sink_failure: str = ""
    kept: bool = False
    suspended: bool = False
    over_output: bool = False
    unread: str = field(default="", repr=False)


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
        notes += (f"{TIME_OUT_NOTE}{launch.timeout:g} s",)
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


STATE_NOT_KEPT = "directory and variables as this command left them could not be read back; the earlier ones stay"
_NO_BASH = "there is no bash here: /bin/sh runs each command, and directory and variables are not kept"


class KeptState:
    """`now`: what the next command begins with; `first`: as the session began."""

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        variables = {_as_utf8(name): _as_utf8(value) for name, value in {**env, "AI_AGENT": "agent-shell"}.items()}
        self.first = self.now = ShellState(cwd=os.path.abspath(cwd), env=variables)

    @property
    def exports(self) -> dict[str, str]:
        """Exported variables that commands of this session set or changed, and a PATH that follows the working folder."""
        env = self.now.env
        changed = {name: value for name, value in env.items() if self.first.env.get(name) != value}
        path = env.get("PATH", "")
        return changed | {"PATH": path} if follows_folder(path) else changed

    def enter(self, folder: str) -> None:
        self.now = replace(self.now, cwd=os.path.abspath(folder))

    def take_over(self, after: ShellState) -> None:
        self.now = after

    def unrunnable(self, command: str, *, leave: bool = True) -> ExecutionResult | None:
        """A result for text that no process can be given, and for a folder that is gone, which is left then.

        Not by a rehearsal: the command that it is of may run next, and was rated for the folder that is gone.
        """
        notes: tuple[str, ...] = ()
        if "\0" in command:
            why = "the command holds a NUL character, which no program can be given"
        elif re.search("[\ud800-\udc7f\udd00-\udfff]", command):
            why = "the command contains a lone surrogate, which is not valid Unicode"
        elif not os.path.isdir(self.now.cwd):
            # Never run it elsewhere instead: it was rated and confirmed for this folder.
            why = f"the folder {self.now.cwd} is gone"
            notes = (self._leave_lost_folder(),) if leave else ()
        else:
            return None
        return failure(CANNOT_RUN, f"agent-shell: {why}; nothing was run", cwd=self.now.cwd, notes=notes)

    def adopt(self, result: ExecutionResult, after: ShellState | None, *, has_state: bool) -> ExecutionResult:
        """Take over what the command left, or say that the old state stays."""
        notes = result.notes
        nothing_ran = bool(result.cwd_after)
        kept = after is not None or nothing_ran
        if after is not None:
            self.now = after
        elif not nothing_ran and not result.job and not result.refused:
            notes += (STATE_NOT_KEPT if has_state else _NO_BASH,)
        if not os.path.isdir(self.now.cwd):
            notes += (self._leave_lost_folder(),)
        return with_fields(result, cwd_after=self.now.cwd, state_kept=kept, notes=notes)

    def _leave_lost_folder(self) -> str:
        """Move the state to the nearest folder that still exists; the note says so."""
        gone = folder = self.now.cwd
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        self.now = replace(self.now, cwd=folder)
        return f"the folder {gone} is gone; the next command would run in {folder}"


def _as_utf8(text: str) -> str:
    """Text of the system with undecodable bytes as surrogates, whatever its locale."""
    return os.fsencode(text).decode("utf-8", "surrogateescape")
