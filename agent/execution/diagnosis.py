"""Test what this machine can confine, rehearse, take back and limit: found by doing it, for `agent-shell doctor`."""

from __future__ import annotations

import os
import shutil
import tempfile

from agent.execution.confine import words
from agent.execution.confine.ladder import RUNGS, Ladder
from agent.execution.confine.lock.preparing import Holder
from agent.execution.confine.plan import Files, WriteFolders
from agent.execution.executor import ShellExecutor
from agent.execution.overlay.places import base_for
from agent.execution.process_tree import cgroups
from agent.execution.process_tree.helper import Helper
from agent.execution.rehearsal.budget import RehearsalSettings
from agent.protocol.approvals import ApprovedRehearsal, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.errors import CoreError
from agent.protocol.execution import CancellationToken, Capability
from agent.waiting import in_thread

_MEANS = {"namespaces": "namespaces", "landlock": "Landlock alone"}


async def diagnose(*, cwd: str, env: dict[str, str], state_dir: str) -> tuple[Capability, ...]:
    """A row each for confinement, network, the lock, rehearsal, undo and limits. Never raises."""
    return (
        *await in_thread(_confinement),
        await _rehearsal(cwd, env, state_dir),
        await in_thread(lambda: _undo(cwd, state_dir)),
        await in_thread(_limits),
    )


def _confinement() -> tuple[Capability, ...]:
    helper = Helper()
    try:
        ladder = Ladder(helper)
        files = _rungs("confinement", ladder, "workspace", network=True)
        return files, _rungs("network off", ladder, "all", network=False), _lock(helper)
    except OSError as error:
        why = f"cannot be tried: {error.strerror or error}"
        return (Capability(name="confinement", state="broken", found=why),)
    finally:
        helper.close()


def _lock(helper: Helper) -> Capability:
    trial = Holder(helper, WriteFolders(workspace="/")).trial
    if trial.works:
        found = "what runs unasked is held to its rating by a system-call filter"
        return Capability(name="lock", state="ok", found=found if trial.sudo else f"{found}; not for sudo")
    found = f"none, so only read-only commands run unasked ({trial.reason})"
    return Capability(name="lock", state="note", found=found, advice=words.remedy(trial.step))


def _rungs(name: str, ladder: Ladder, files: Files, *, network: bool) -> Capability:
    """Every rung with what became of it; the best that works decides."""
    choice = ladder.choose(files, network)
    failed = [(rung, ladder.trial(files, network, rung)) for rung in RUNGS]
    failed = [(rung, trial) for rung, trial in failed if not trial.works]
    remedies = dict.fromkeys(words.remedy(trial.step) for _rung, trial in failed)
    advice = "; or ".join(text for text in remedies if text)
    means = _MEANS if files != "all" else {"namespaces": "namespaces", "landlock": "a filter of system calls"}
    reasons = "; ".join(f"no {means[rung]}: {trial.reason}" for rung, trial in failed)
    if choice.rung is None:
        found = f"none, so what is to be confined asks or does not run ({reasons})"
        return Capability(name=name, state="note", found=found, advice=advice)
    best = choice.rung == "namespaces"
    found = means[choice.rung]
    if best and choice.trial.landlock:
        found += f" and Landlock (version {choice.trial.landlock})"
    found += "" if choice.trial.sudo else "; not for sudo"
    if choice.misses:
        found += f"; does not stop: {', '.join(choice.misses)}"
    found += f" ({reasons})" if reasons else ""
    return Capability(name=name, state="ok" if best else "note", found=found, advice="" if best else advice)


async def _rehearsal(cwd: str, env: dict[str, str], state_dir: str) -> Capability:
    """A rehearsal of `true` where one works."""
    executor = ShellExecutor(cwd=cwd, env=env, rehearsals=RehearsalSettings(state_dir=state_dir))
    report = RiskReport(command="true", level=Level.LOW)
    command = ApprovedRehearsal(
        command_id="doctor", command="true", report=report, consent=Consent(by="person"), timeout=10.0
    )
    try:
        rehearsal = await executor.rehearse(command, None, CancellationToken())
        code = rehearsal.result.exit_code
        await executor.discard(rehearsal)
    except CoreError as error:
        return Capability(name="rehearsal", state="note", found=error.message, advice=error.hint)
    except Exception as error:  # whatever it is, the person reads it here and not as a traceback
        return Capability(name="rehearsal", state="broken", found=f"{type(error).__name__}: {error}")
    finally:
        await executor.close()
    if code:
        return Capability(name="rehearsal", state="broken", found=f"`true` ended with {code} in a rehearsal")
    who = "of everything" if os.geteuid() == 0 else "of what is yours; the rest is read-only in it"
    return Capability(name="rehearsal", state="ok", found=f"an overlay {who}")


def _undo(cwd: str, state_dir: str) -> Capability:
    """Try to make the folder that a journal of the working folder would lie in."""
    try:
        base = base_for(os.fsencode(os.path.realpath(cwd)), os.fsencode(state_dir))
        with tempfile.TemporaryDirectory(dir=os.fsdecode(base.folder), prefix="doctor-"):
            free = shutil.disk_usage(base.folder).free
    except OSError as error:
        why = f"no folder for journals: {error.strerror or error}"
        return Capability(name="undo", state="broken", found=why, advice=f"make {state_dir} writable for you")
    place = os.fsdecode(base.folder)
    if free < 50_000_000:
        found = f"{place}: the disk is nearly full"
        return Capability(name="undo", state="note", found=found, advice="free some space")
    if not base.same_file_system:
        found = f"{place}, which is another file system than the working folder: what is replaced is copied"
        return Capability(name="undo", state="note", found=found)
    return Capability(name="undo", state="ok", found=place)


def _limits() -> Capability:
    group = cgroups.make(limits=True)
    taken: tuple[str, ...] = ()
    if group is not None:
        taken = group.limit(memory=1 << 40, processes=1 << 20)
        group.remove(within=1.0)
    if len(taken) == 2:
        return Capability(name="limits", state="ok", found="memory and processes of a command by control group")
    found = "memory and processes are counted while a command runs, and fenced for each process (processes: for each user, not for root)"
    advice = "a delegated cgroup v2 with the controllers memory and pids, as `systemd-run --user --scope -p Delegate=yes` gives"
    return Capability(name="limits", state="note", found=found, advice=advice)
