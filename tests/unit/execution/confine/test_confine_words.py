"""Reasons, remedies and promises in words; trials that could not be made; and where nothing is to be had."""

from __future__ import annotations

import asyncio
import errno
import sys

import pytest

from agent.execution import system_calls
from agent.execution.confine import call_filter, ladder, words
from agent.execution.confine.plan import Plan, decoded
from agent.execution.diagnosis import diagnose
from agent.execution.process_tree.helper import Helper
from agent.execution.supervision import spawning
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from tests.support.each import each


@each(
    ("step", "number", "text"),
    [
        ("unshare", errno.EPERM, "user namespaces are forbidden here (EPERM"),
        ("unshare", errno.ENOSPC, "sysctl user.max_user_namespaces"),
        ("unshare", errno.EMFILE, "unshare: "),
        ("uid_map", errno.EPERM, "AppArmor on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns"),
        ("setgroups", errno.EACCES, "EPERM at uid_map"),
        ("private", errno.EACCES, "mounts cannot be changed in a namespace here (private: EACCES)"),
        ("read-only", errno.ENOSYS, "before 5.12"),
        ("landlock", errno.ENOSYS, "no Landlock"),
        ("landlock", errno.EOPNOTSUPP, "switched off"),
        ("seccomp", errno.EINVAL, "no filter of system calls"),
        ("check", 0, "had no effect"),
        ("/srv/ws", errno.EBUSY, "/srv/ws: Device or resource busy"),
        ("", 0, "unknown"),
    ],
)
def test_why_it_cannot_be_had(step, number, text):
    assert text in words.reason(step, number)


def test_every_reason_of_a_policy_has_a_remedy():
    for step in (
        "unshare",
        "uid_map",
        "gid_map",
        "setgroups",
        "private",
        "copy",
        "read-only",
        "landlock",
        "seccomp",
        "loopback",
    ):
        assert words.remedy(step)
    assert words.remedy("check") == ""


def test_what_is_promised():
    assert (
        words.held("workspace", False, "namespaces", "/w", 7)
        == "writes only in /w, no network (by namespaces and Landlock)"
    )
    assert words.held("read-only", True, "namespaces", "/w", 0) == "writes nothing (by namespaces)"
    assert words.misses("workspace", True, "namespaces", 7) == ()
    assert words.misses("workspace", True, "namespaces", 5) == ("signals to your other processes",)


@each(
    "broken",
    [
        {"files": "everything"},
        {"rung": "hope"},
        {"network": "yes"},
        {"writable": None},
    ],
)
def test_a_plan_that_is_not_whole_is_none(broken):
    plan = Plan(files="workspace", network=True, rung="namespaces", writable=(b"/a\xff",), protected=(b"/a/b",))
    assert decoded(plan.encoded()) == plan
    with pytest.raises((ValueError, KeyError, TypeError)):
        decoded({**plan.encoded(), **broken})
    with pytest.raises(KeyError):
        decoded({"kind": "confine"})


def test_an_unknown_kind_of_sandbox_is_an_error():
    with pytest.raises(spawning.SandboxError, match="unknown kind"):
        spawning.enter({"kind": "wishful"}, -1)


def test_where_it_is_not_linux_nothing_is_promised(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    choice = ladder.Ladder(Helper()).choose("workspace", True)
    assert choice.rung is None
    assert choice.reason == "darwin has no confinement that agent-shell could use"


def test_a_trial_that_could_not_be_made_is_made_again(monkeypatch):
    helper = Helper()
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    made = ladder.Ladder(helper)
    first = made.trial("all", False, "landlock")
    assert (first.works, first.tried) == (False, False)
    monkeypatch.undo()
    try:
        assert made.trial("all", False, "landlock").tried
    finally:
        helper.close()


def test_a_processor_that_is_not_known_gets_no_filter(monkeypatch):
    monkeypatch.setattr(system_calls, "machine", lambda: "riscv64")
    with pytest.raises(OSError, match="seccomp"):
        call_filter.program(files=True, network=True, own=True, truncation=False)


def test_both_processors_get_a_filter_that_ends(monkeypatch):
    for machine in ("x86_64", "aarch64"):
        monkeypatch.setattr(system_calls, "machine", lambda machine=machine: machine)
        for flags in range(16):
            files, network, own, truncation = (bool(flags >> bit & 1) for bit in range(4))
            lines = call_filter.program(files=files, network=network, own=own, truncation=truncation)
            for place, (code, yes, no, _constant) in enumerate(lines):
                if code & 7 == 5:  # every jump lands inside
                    assert place + 1 + max(yes, no) < len(lines)
            assert lines[-1] == (0x06, 0, 0, 0x7FFF0000)
            assert len(lines) < 4096


def denied(err: str, code: int = 1, command: str = "x", cwd: str = "/tmp") -> tuple[str, ...]:
    plan = Plan(files="workspace", network=True, rung="namespaces", writable=(b"/nowhere/ws",))
    approved = ApprovedCommand(
        command_id="c",
        command=command,
        report=RiskReport(command=command, level=Level.LOW),
        consent=Consent(by="person"),
        confine="workspace",
    )
    result = ExecutionResult(exit_code=code, stderr=CapturedStream(head=err))
    return words.denied(result, approved, plan, cwd=cwd)


@each(
    "err",
    [
        "cat: '\0': Permission denied",
        "x: '/proc/1/root/etc': Permission denied",
        "x: /" + "a/" * 5000 + ": Read-only file system",
        "x: '" + "\ud800" + "': Read-only file system",
        "x: ~nobody-at-all/x: Permission denied",
        "'" * 3000 + "Permission denied",
        "Permission denied",
    ],
)
def test_hostile_messages_break_nothing(err):
    assert all(isinstance(note, str) for note in denied(err))


def test_only_what_was_named_and_lies_outside():
    assert denied("touch: cannot touch '/etc/new': Read-only file system") != ()
    assert denied("touch: cannot touch '/etc/new': Read-only file system", code=0) == ()
    assert denied("touch: cannot touch '/nowhere/ws/x': Permission denied") == ()
    assert denied("cat: /no/such/folder/x: Permission denied") == ()
    (note,) = denied("bash: line 1: ../etc/new: Read-only file system")
    assert "writing /etc/new was denied" in note


def test_doctor_explains_each_thing_it_tried(tmp_path):
    rows = asyncio.run(diagnose(cwd=str(tmp_path), env={"PATH": "/usr/bin:/bin"}, state_dir=str(tmp_path / "state")))
    assert [row.name for row in rows] == ["confinement", "network off", "lock", "rehearsal", "undo", "limits"]
    assert all(row.found for row in rows)
    assert not any(row.state == "broken" for row in rows)
