"""Run one command from launch to result, in the thread that calls `run_command`."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from msgspec.structs import replace as with_fields

from agent.execution import terminal as terminals
from agent.execution.job_handing import Handing
from agent.execution.job_table import JobTable, Suspended
from agent.execution.output import Channels, HeadTail
from agent.execution.process_tree import wire
from agent.execution.process_tree.helper import Helper, Launch
from agent.execution.pump import Pump
from agent.execution.results import Ending, not_started, refused, result_of
from agent.protocol.execution import CancellationToken, OutputSink
from agent.protocol.outcomes import ExecutionResult, ExitCode
from agent.waiting import in_thread

PIPE_SIZE = 1 << 20
_F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", None)


class RunningCommand:
    """One launch. `stop` may be called from any thread, at any time.

    What it leaves in the background becomes one of `jobs`; without, it is ended with the command. `on_unread` gets what was typed
    meanwhile and not read.
    """

    def __init__(
        self,
        launch: Launch,
        helper: Helper,
        sink: OutputSink | None,
        jobs: JobTable | None = None,
        on_unread: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._on_unread = on_unread
        self._launch = launch
        self._helper = helper
        self._sink = sink
        self._ours, self._theirs = socket.socketpair()
        self._handing = Handing(jobs, launch, self._ours) if jobs is not None else None
        self._brings_back = jobs is not None and jobs.brings_back
        self._watched: wire.Message = {}
        self._stopped = False
        self._session = 0

    def stop(self) -> None:
        """Begin the ladder INT, TERM, KILL, or take its next step. Never blocks."""
        if self._handing is not None and self._handing.done:
            return  # it is a job now, and not ended by what ends its goal
        self._stopped = True
        with suppress(OSError):  # it has ended already
            wire.send(self._ours, {"op": "stop"})
        self._wake()

    def _wake(self) -> None:
        """Have what is to end the command run, though the command may have stopped it."""
        self._helper.wake()
        if self._session:
            with suppress(OSError):  # it has ended
                os.kill(self._session, signal.SIGCONT)

    async def finished(self, cancel: CancellationToken) -> ExecutionResult:
        """Run it in a thread; cancelling the token stops the command, cancelling the task stops it and goes on up."""
        unsubscribe = cancel.subscribe(self.stop)
        task = asyncio.ensure_future(in_thread(self.run))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self.stop()
            await asyncio.wait([task])
            raise
        finally:
            unsubscribe()

    def run(self) -> ExecutionResult:
        launch = self._launch
        if self._stopped:  # cancelled between the answer and the start: then not even its first step may happen
            self._ours.close()
            self._theirs.close()
            note = "it was cancelled before it began; nothing was run"
            return ExecutionResult(exit_code=ExitCode.CANCELLED, interrupted=True, cwd_after=launch.cwd, notes=(note,))
        started = time.monotonic()
        real = self._real_terminal()
        # A full-screen program's first bytes say nothing; its last ones may hold an error.
        head = 0 if launch.pass_through and real is not None else launch.head_bytes
        captures = {
            "stdout": HeadTail(head, launch.tail_bytes),
            "stderr": HeadTail(launch.head_bytes, launch.tail_bytes),
        }
        handing = self._handing
        ours: list[int] = []
        try:
            given: list[int] = []
            try:
                channels = self._open(real, ours, given)
            except OSError as error:
                for fd in given:
                    os.close(fd)
                return refused(launch, f"no pipe or terminal can be made here: {error.strerror or error}")
            failed = self._start(channels, given)
            if failed is not None:
                return failed
            pump = Pump(channels, captures, self._sink, None if handing is None else handing.ask)
            if real is not None:
                self._on_unread(real.take(raw_output=channels.pass_through))
            used = True
            try:
                ending = pump.run()
                used = pump.used_terminal
            finally:
                if real is not None:
                    real.give_back(used=used)
                    real = None
            if ending.unread:
                self._on_unread(ending.unread)
            job, notes = self._leave_background(ending, Suspended(channels, captures, launch.limits))
            if ending.sink_failure:
                notes += (f"its output could not be shown: {ending.sink_failure}",)
            if ending.message is None:
                self._sweep_after_loss()
            duration = time.monotonic() - started
            result = result_of(launch, ending, captures, notes=notes, duration=duration, stopped=self._stopped)
            return with_fields(result, job=job)
        finally:
            if real is not None:
                os.close(real.fd)
            self._let_go(ours)

    def _let_go(self, ours: list[int]) -> None:
        if self._handing is not None:
            self._handing.close()
        if self._handing is None or not self._handing.done:
            self._ours.close()
        self._theirs.close()
        if self._handing is None or not self._handing.keeps_terminal:
            for fd in ours:
                os.close(fd)

    def _real_terminal(self) -> terminals.RealTerminal | None:
        if not self._launch.terminal:
            return None
        try:
            return terminals.RealTerminal()
        except OSError:
            return None  # none, or we are in its background: then the command has none either

    def _open(self, real: terminals.RealTerminal | None, ours: list[int], given: list[int]) -> Channels:
        """Make pipes and PTY: our ends go to `ours`, stdin, stdout and stderr for the command to `given`."""
        pass_through = self._launch.pass_through and real is not None
        screen = self._launch.screen and real is not None and not pass_through
        channels = Channels(control=self._ours, outputs={}, real=real, pass_through=pass_through, screen=screen)
        channels.output_limit, channels.wake = self._launch.limits.output, self._wake
        if real is not None:
            master, slave = terminals.open_pty(
                real, keep_suspend_key=pass_through and self._brings_back, bare_newlines=screen
            )
            ours.append(master)
            given.append(slave)
            channels.master = master
        elif self._launch.inherit_stdin:
            given.append(os.dup(0))
        elif self._launch.silent_stdin:
            read_end, write_end = os.pipe()
            ours.append(write_end)
            given.append(read_end)
        else:
            given.append(os.open(os.devnull, os.O_RDONLY))
        for stream in ("stdout", "stderr"):
            if pass_through or (screen and stream == "stdout"):
                given.append(os.dup(given[0]))
                continue
            read_end, write_end = os.pipe()
            ours.append(read_end)
            given.append(write_end)
            channels.outputs[read_end] = stream
            if _F_SETPIPE_SZ is not None:
                with suppress(OSError):  # over the user's limit for pipes; it works with small ones too
                    fcntl.fcntl(write_end, _F_SETPIPE_SZ, PIPE_SIZE)
        return channels

    def _start(self, channels: Channels, given: list[int]) -> ExecutionResult | None:
        """Have the helper start it; a result where it could not. Closes what was given away."""
        launch = self._launch
        master = () if channels.master is None else (channels.master,)
        background: Literal["end", "keep"] = "end" if self._handing is None else "keep"
        request = launch.request(tty=bool(master), background=background, suspends=self._brings_back)
        try:
            self._session = self._helper.request(request, (self._theirs.fileno(), *given, *master))
            self._theirs.close()
            answer = wire.receive(self._ours)
        except OSError as error:
            return refused(launch, f"no process can be started here: {error.strerror or error}")
        finally:
            for fd in given:
                os.close(fd)
        if answer is not None and answer[0]["event"] == "failed":
            return not_started(launch, answer[0]["stage"], answer[0]["errno"], answer[0]["text"])
        self._watched = answer[0] if answer is not None else {}
        return None  # without an answer the guardian was killed, perhaps by the command: the pump will see that

    def _leave_background(self, ending: Ending, terminal: Suspended) -> tuple[int, tuple[str, ...]]:
        """Keep alive what goes on, as a job. Under which number the command itself does (0: it ended), and what to say of it."""
        message, handing = ending.message, self._handing
        if message is None:
            return 0, ()
        if ending.kept and handing is not None:
            return handing.sent(self._watched)
        if ending.suspended and handing is not None:
            return handing.suspended(self._watched, terminal)
        if message["ended_with_it"]:
            return 0, ("what it left in the background was ended with it",)
        if message["background"] and handing is not None:
            return 0, handing.left(self._watched, int(message["first"]), tuple(ending.held))
        if not ending.held:
            return 0, ()
        with suppress(OSError):  # then whoever has it gets SIGPIPE when it writes, as after closing a terminal window
            self._helper.request({"op": "drain"}, tuple(ending.held))
        return 0, ("a background process still holds the output; what it writes from now on is not shown",)

    def _sweep_after_loss(self) -> None:
        """End what a killed guardian can no longer end: its group, else its session (which daemons leave)."""
        from agent.execution.process_tree.cgroups import groups_of
        from agent.execution.process_tree.tree import GONE_WITHIN, descendants, kill_all

        for group in groups_of(self._session):  # it may have been killed before it said anything
            group.kill()
            kill_all(group.members)
            group.remove(GONE_WITHIN)
        for pid in descendants(self._session):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
