"""Commits and undoes in real executors, and is killed or starved while it does; a script, started as whoever is to rehearse.

Arguments: what to do, a folder to work in, a state folder. Standard output: one JSON object. `crash`: SIGKILL after each thing that a
commit and an undo do, and what the next start made of it. `rivals`: two rehearsals of one file, both to be committed. `full`:
the disk is filled before a commit and before an undo.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from agent.execution.executor import ShellExecutor
from agent.execution.journal import store
from agent.execution.journal.store import Journals
from agent.execution.rehearsal.budget import RehearsalSettings
from agent.protocol.approvals import ApprovedCommand, ApprovedRehearsal, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.errors import CoreError
from agent.protocol.execution import CancellationToken
from agent.protocol.rehearsals import Rehearsal
from tests.support.processes import killed_after
from tests.support.tree_operations import differences, listing

BEFORE = (
    "mkdir -p again gone/deep; echo a > a; echo o > again/o; echo d > gone/deep/d; echo t > type; echo m > mode; "
    "touch -d 2000-01-01 . gone a"
)
BUSY = (
    "echo more >> a; rm -r again; mkdir again; echo n > again/n; rm -r gone; rm type; mkdir type; echo x > type/x; chmod 600 mode; "
    "mkdir -p new/er; echo y > new/er/y; ln -s a link"
)


class Shell:
    """One executor, and what it is asked."""

    def __init__(self, work: str, state: str) -> None:
        self.executor = ShellExecutor(
            cwd=work,
            env={"PATH": os.environ["PATH"], "HOME": work},
            grace=0.2,
            rehearsals=RehearsalSettings(state_dir=state),
        )

    async def rehearse(self, text: str) -> Rehearsal:
        rehearsal = await self.executor.rehearse(ApprovedRehearsal(**facts(text)), None, CancellationToken())
        assert not rehearsal.obstacle, rehearsal.obstacle
        return rehearsal

    async def commit(self, rehearsal: Rehearsal) -> str:
        return (await self.executor.commit(rehearsal, ApprovedCommand(**facts(rehearsal.command)))).undo_id

    async def run(self, text: str) -> None:
        assert (await self.executor.execute(ApprovedCommand(**facts(text)), None, CancellationToken())).exit_code == 0


def facts(text: str) -> dict[str, Any]:
    report = RiskReport(command=text, level=Level.LOW)
    return {"command_id": "c", "command": text, "report": report, "consent": Consent(by="person")}


async def crash(work: str, state: str) -> dict[str, Any]:
    """How often each was killed, and every difference from the trees between which it goes."""
    shell = Shell(work, state)
    await shell.run(BEFORE)
    real = os.fsencode(work)
    before = listing(real)
    wrong: list[str] = []
    committing = 0
    while True:
        rehearsal = await shell.rehearse(BUSY)
        ended = killed_after(committing + 1, functools.partial(_publish, shell, rehearsal))
        await shell.executor.discard(rehearsal)
        entries = Journals(state).entries()  # the next start
        found = listing(real)
        if not ended:
            break
        committing += 1
        wrong += [
            f"{entry.undo_id} is {entry.state}" for entry in entries if entry.state not in ("undone", "committed")
        ]
        if entries and entries[0].state == "committed":
            Journals(state).turn(entries[0].undo_id)  # it came to its end
            found = listing(real)
        wrong += differences(before, found)
    after, undo_id = found, entries[0].undo_id
    undoing = [0, 0]
    for turn, (there, back) in enumerate(((before, after), (after, before))):
        while killed_after(undoing[turn] + 1, lambda watch: Journals(state, watch=watch).turn(undo_id)):
            undoing[turn] += 1
            Journals(state).entries()
            wrong += differences(there, listing(real))
            Journals(state).turn(undo_id)
            wrong += differences(back, listing(real))
    wrong += differences(after, listing(real))
    await shell.executor.close()
    return {"committing": committing, "undoing": undoing, "wrong": wrong, "names": sorted(after)}


def _publish(shell: Shell, rehearsal: Rehearsal, watch: Callable[[str], None]) -> None:
    """What `commit` does to files, watched."""
    rehearser = shell.executor._rehearser
    store.Journals = functools.partial(Journals, watch=watch)  # type: ignore[misc, assignment]
    rehearser._commit(rehearser._held[rehearsal.rehearsal_id], ApprovedCommand(**facts(rehearsal.command)), "s")


async def rivals(work: str, state: str) -> dict[str, Any]:
    """What the first and the second of two commits came to."""
    one, two = Shell(work, state), Shell(work, state)
    await one.run("echo 0 > f")
    rehearsals = [await shell.rehearse(f"echo {name} >> f; : > {name}") for shell, name in ((one, "one"), (two, "two"))]
    said: dict[str, Any] = {"first": await one.commit(rehearsals[0])}
    try:
        await two.commit(rehearsals[1])
    except CoreError as error:
        said |= {"error": error.code, "message": error.message}
    said["names"], said["content"] = sorted(os.listdir(work)), _read(work, "f")
    Journals(state).turn(said["first"])
    said["undone"] = _read(work, "f")
    for shell in (one, two):
        await shell.executor.close()
    return said


async def full(work: str, state: str) -> dict[str, Any]:
    """What a commit and an undo say and leave on a full disk, and once there is room again."""
    shell = Shell(work, state)
    await shell.run("echo old > f; mkdir d; echo x > d/x; chmod 600 d/x")
    real = os.fsencode(work)
    before = listing(real)
    rehearsal = await shell.rehearse("echo new > f; rm -r d; mkdir n; echo y > n/y")
    fill(state)
    said: dict[str, Any] = {}
    try:
        await shell.commit(rehearsal)
    except CoreError as error:
        said |= {"error": error.code, "message": error.message}
    said["nothing done"] = differences(before, listing(real))
    await shell.executor.discard(rehearsal)
    os.unlink(f"{state}/filler")
    undo_id = await shell.commit(await shell.rehearse(rehearsal.command))
    after = listing(real)
    fill(state)
    try:
        Journals(state).turn(undo_id)
        there, back = before, after
    except CoreError as error:
        said["undo"] = error.message
        there, back = after, before
    said["one of two"] = differences(there, listing(real))
    os.unlink(f"{state}/filler")
    Journals(state).turn(undo_id)
    said["turned"] = differences(back, listing(real))
    await shell.executor.close()
    return said


def fill(folder: str) -> None:
    with open(f"{folder}/filler", "wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def _read(folder: str, name: str) -> str:
    with open(os.path.join(folder, name)) as file:
        return file.read()


if __name__ == "__main__":
    json.dump(asyncio.run({"crash": crash, "rivals": rivals, "full": full}[sys.argv[1]](*sys.argv[2:])), sys.stdout)
