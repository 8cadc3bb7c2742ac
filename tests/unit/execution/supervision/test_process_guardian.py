"""What a command leaves behind may end, or not be seen, at the moment when its guardian looks for its name."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent.execution.process_tree import wire
from agent.execution.process_tree.helper import Launch
from agent.execution.process_tree.tree import RUNGS

# The guardian of one command, with the tree that stands in the first argument instead of the usual one.
GUARDIAN = """
import json, os, sys, time
from agent.execution.process_tree.tree import Tree
from agent.execution.supervision import process_guardian

class EndsBefore(Tree):
    def first(self):
        for pid in self.members():
            os.kill(pid, 9)
        while self.members():
            time.sleep(0.002)
        return super().first()

class Hidden(Tree):
    def first(self):
        return 0

process_guardian.Tree = {"ends before": EndsBefore, "hidden": Hidden}[sys.argv[1]]
process_guardian.ProcessGuardian(json.loads(sys.argv[2]), [int(word) for word in sys.argv[3:]]).run()
"""


@contextmanager
def guarded(tree: str, rung: str) -> Iterator[tuple[socket.socket, subprocess.Popen[bytes]]]:
    """Start a command that leaves a process behind; our end of the control socket, and the guardian."""
    command = ("/bin/sh", "-c", "trap '' TERM; sleep 1000 >/dev/null 2>&1 &")
    launch = Launch(
        argv=command, env=dict(os.environ), cwd="/", terminal=False, pass_through=False, inherit_stdin=False,
        timeout=None, grace=0.2, head_bytes=100, tail_bytes=100, strays=rung,
    )  # fmt: skip
    request = json.dumps(launch.request(tty=False, background="keep"))
    ours, theirs = socket.socketpair()
    streams = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
    fds = [theirs.fileno(), *streams]
    guardian = subprocess.Popen(
        [sys.executable, "-c", GUARDIAN, tree, request, *map(str, fds)], pass_fds=fds, start_new_session=True
    )
    theirs.close()
    for fd in streams:
        os.close(fd)
    ours.settimeout(30)
    try:
        yield ours, guardian
    finally:
        ours.close()
        guardian.kill()  # the command's processes are told by the kernel, or are ended already
        guardian.wait()


def said(control: socket.socket) -> wire.Message | None:
    received = wire.receive(control)
    return None if received is None else received[0]


@pytest.mark.few(1)
@pytest.mark.parametrize("rung", RUNGS)
def test_what_ended_before_it_got_a_name_is_no_job(rung: str) -> None:
    with guarded("ends before", rung) as (control, guardian):
        started, exited = said(control), said(control)
        assert started is not None and started["event"] == "started"
        assert exited is not None
        assert (exited["event"], exited["status"], exited["background"], exited["first"]) == ("exited", 0, False, 0)
        assert said(control) is None  # nobody is watched to the end
        assert guardian.wait(60) == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("rung", RUNGS)
def test_what_lives_but_is_not_seen_is_a_job_and_can_be_ended(rung: str) -> None:
    with guarded("hidden", rung) as (control, guardian):
        said(control)
        exited = said(control)
        assert exited is not None
        assert (exited["event"], exited["background"], exited["first"]) == ("exited", True, 0)
        wire.send(control, {"op": "stop"})
        ended = said(control)
        assert ended is not None
        assert (ended["event"], ended["stopped"], ended["stuck"]) == ("ended", True, 0)
        assert guardian.wait(60) == 0
