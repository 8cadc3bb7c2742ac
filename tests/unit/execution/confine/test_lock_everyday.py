"""Everyday low commands behave as without the lock: the same exit code and output, as root and as a user."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.execution.confine.test_lock_hostile import Throwaway

COMMANDS = tuple(Path(__file__).parents[3].joinpath("everyday_commands.txt").read_text().splitlines())
# What tells of the machine as it is just now: compared by its exit code, and by whether anything was written.
MOVING = re.compile(
    r"\b(ps|top|ss|netstat|lsof|pstree|pgrep|pidof|fuser|free|vmstat|uptime|w|df|du|dmesg|ip|arp|time|date|lscpu|systemctl|mktemp|loadavg|meminfo|cpuinfo"
    r"|net/dev|urandom|shuf|rand|findmnt|mount|mounts|who|last|users"
    r"|ls -l|ls -la|ls -lah|stat|stty|tty|blkid|lsblk|nohup|ls /proc/1|proc/self/fd|set)\b"
)
MADE = """
git config --global user.name n; git config --global user.email e@x; git config --global init.defaultBranch main
git init -q {0}/origin; cd {0}/origin; echo was it a > file; echo 3 b >> file; echo x > other; echo '*.pyc' > .gitignore
git add .; git commit -qm one; git clone -q . {0}/ws; echo n >> file; git commit -qam two; cd {0}/ws
git switch -qc side; echo s > side; git add side; git commit -qm side; git switch -q main
seq 600 | split -l1 -a3 - loose; ls loose* | git hash-object -w --stdin-paths; rm loose*; ls .git/objects/17/*
echo more >> other; echo '{{"a":1}}' > data.json; tar cf a.tar file; tar czf a.tgz file; gzip -c file > a.gz
bzip2 -c file > a.bz2; touch file
python3 -c "import sqlite3; c = sqlite3.connect('db'); c.execute('create table t(x)'); c.commit()"
"""


def outputs(world: Throwaway, commands: tuple[str, ...], *, free: bool) -> list[list[str]]:
    """Exit code and output of each command, in a world that is made anew."""
    for folder in (world.workspace, world.base / "origin", world.home):
        shutil.rmtree(folder, ignore_errors=True)
    world.home.mkdir()
    world.environ |= {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}
    world.environ |= {f"GIT_{who}_DATE": "2020-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")}
    subprocess.run(["bash", "-ec", MADE.format(world.base)], env=world.environ, check=True, capture_output=True)
    world.own()
    return world.run(list(commands), together=True, free=free)


def plain(text: str) -> str:
    return re.sub(r"[0-9a-f]{7,}|\d+", "N", text)


@pytest.fixture(params=["root", "user"])
def world(request):
    if not hasattr(os, "memfd_create") or (request.param == "root" and os.geteuid() != 0):
        pytest.skip("only root can be held as root")
    made = Throwaway(request.param)
    yield made
    shutil.rmtree(made.base)


@pytest.mark.parametrize(
    "world, every",
    [("user", 30), *(pytest.param(who, 1, marks=pytest.mark.thorough) for who in ("root", "user"))],
    indirect=["world"],
)
def test_they_do_what_they_always_do(world, every):
    commands = COMMANDS[::every]
    free, held = outputs(world, commands, free=True), outputs(world, commands, free=False)
    wrong = []
    for command, (text, code), (held_text, held_code) in zip(commands, free, held, strict=True):
        same = bool(text) == bool(held_text) if MOVING.search(command) else plain(text) == plain(held_text)
        if code != held_code or not same:
            wrong.append((command, code, held_code, text[-300:], held_text[-300:]))
    assert wrong == []
    assert len(COMMANDS) >= 300
