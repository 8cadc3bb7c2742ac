"""A confined command has no effect on other processes of the person: as root and as a user, on both rungs, for each kind of call."""

from __future__ import annotations

import json
import os

import pytest

from tests.support.confined_world import ConfinedWorld, need

# Everything asks for what is so already, of the process above: where a call succeeds, it could have changed something.
TRIES = """
import ctypes, json, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
other, own = int(open(f"/proc/{os.getppid()}/stat").read().rsplit(")")[1].split()[1]), os.getpid()
from agent.execution.system_calls import number
def call(name, *words):
    ctypes.set_errno(0)
    return libc.syscall(number(name), *[ctypes.c_long(word) if isinstance(word, int) else word for word in words]) != -1
def limits(pid):
    try: resource.prlimit(pid, resource.RLIMIT_CORE, resource.prlimit(pid, resource.RLIMIT_CORE)); return True
    except OSError: return False
def signalled(pid):
    try: os.kill(pid, signal.SIGCONT); return True
    except OSError: return False
mask, parameter, attributes = ctypes.create_string_buffer(128), ctypes.create_string_buffer(4), ctypes.create_string_buffer(48)
attributes[0] = 48
libc.syscall(number("sched_setaffinity") + 1, own, 128, mask)
priority = os.getpriority(os.PRIO_PROCESS, 0)
def tries(pid):
    return {
        "prlimit": limits(pid), "signal": signalled(pid),
        "affinity": call("sched_setaffinity", pid, 8, mask), "scheduler": call("sched_setscheduler", pid, 0, parameter),
        "parameters": call("sched_setparam", pid, parameter), "attributes": call("sched_setattr", pid, attributes, 0),
        "priority": call("setpriority", 0, pid, priority), "io": call("ioprio_set", 1, pid, 0),
    }
print(json.dumps({
    "others": tries(other),
    "itself": tries(0),
    "sets": {
        "user": call("setpriority", 2, 0, priority), "group": call("setpriority", 1, 0, priority),
        "io of user": call("ioprio_set", 3, 0, 0),
    },
    "keys": {"add": call("add_key", b"user", b"agent-shell-test", b"x", 1, -3), "session": call("keyctl", 0, -3, 0)},
    "core": call("prctl", 62, 2, other, 0, 0) or ctypes.get_errno() != 1,
    "half": call("prlimit64", other, 4, 1 << 32, 0) or ctypes.get_errno() != 1,
}))
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("who", ["root", "user"])
@pytest.mark.parametrize("rung", ["namespaces", "landlock"])
@pytest.mark.parametrize("mode", ["workspace", "no-network"])
def test_nothing_reaches_another_process(who, rung, mode):
    if who == "root" and os.geteuid() != 0:
        pytest.skip("only root can be confined as root")
    world = ConfinedWorld(who, without={"unshare": "EPERM"} if rung == "landlock" else {})
    try:
        need(world, mode, "")
        (world.workspace / "tries.py").write_text(TRIES)
        root = os.path.dirname(
            os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
        )
        ran = world.one(mode, f"PYTHONPATH={root} python3 tries.py")
        told = json.loads(ran.out or ran.err)
    finally:
        world.remove()
    assert [name for name, went in told["others"].items() if went] == []
    assert [name for name, went in told["itself"].items() if not went and name not in ("attributes", "signal")] == []
    assert not any(told["sets"].values()) and not any(told["keys"].values()) and not told["half"] and not told["core"]
