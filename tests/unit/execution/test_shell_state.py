"""What survives from command to command, and what is said when it does not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.protocol.approvals import ApprovedRehearsal, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.errors import RehearsalUnavailable
from agent.protocol.execution import CancellationToken
from tests.support.tries import tries
from tests.unit.execution.running import MakeRunner, Marker, Runner


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("cd /usr", "pwd", "/usr"),
        ("cd /usr; cd /etc", "cd - ", "/usr"),
        ("export A='one\ntwo \"q\" $x'", 'echo "$A"', 'one\ntwo "q" $x'),
        ("export A=1", "unset A; echo ${A-gone}", "gone"),
        ('f() { echo "f:$1"; }', "f x", "f:x"),
        ("alias hi='echo hello'", "hi there", "hello there"),
        ("shopt -s extglob nullglob", "shopt -q nullglob && echo on", "on"),
        (
            "shopt -s cdable_vars nocaseglob; export far=/usr",
            "cd far 2>/dev/null || echo stays; shopt -q nocaseglob || echo off",
            "stays\noff",
        ),
        ("set -o pipefail", "false | true; echo $?", "1"),
        ("umask 027", "umask", "0027"),
        ("export -f nothing 2>/dev/null; f() { echo exported; }; export -f f", "bash -c f", "exported"),
        ("exit 7", "echo alive", "alive"),
        ("set -e; set -u; set -x; false", "false; echo $nope here", "here"),
        ("(cd /usr)", "pwd -P", "@tmp"),
        ("cd /usr | cat", "pwd -P", "@tmp"),
        ("if ((", "echo alive", "alive"),
        ("unset PATH", "echo alive", "alive"),
        ("readonly R=1; export R", "echo $R", "1"),
        ("exec 3>&- 10>&- 63>&- 255>&-; cd /usr", "pwd", "/usr"),
        ("exec >&- 2>&-; cd /usr", "pwd", "/usr"),
        ("trap 'echo debug' DEBUG; cd /usr", "pwd", "/usr"),
        ("printf() { :; }; declare() { :; }; cd /usr", "pwd", "/usr"),
        ("cd /usr; kill -INT $$", "pwd", "/usr"),
        ("export BASH_ENV=/nowhere", "echo $BASH_ENV", "/nowhere"),
        ("export POSIXLY_CORRECT=1; cd /usr", "echo $POSIXLY_CORRECT; pwd", "1\n/usr"),
        ("export LC_ALL=C; export B=$'\\xff'", 'printf %s "$B" | od -An -tx1', " ff"),
        ("cd /usr; sleep 0.01 &", "pwd", "/usr"),
    ],
)
@pytest.mark.few(5)
def test_state_goes_from_one_command_to_the_next(
    run: Runner, tmp_path: Path, first: str, second: str, expected: str
) -> None:
    result = run(first)
    assert result.state_kept, result
    assert run.out(second) == expected.replace("@tmp", str(tmp_path))


@pytest.mark.parametrize(
    "command",
    [
        "cd /usr; exec true",
        "cd /usr; kill -9 $$",
        "trap 'echo bye' EXIT; cd /usr",
        "set -n; cd /usr",
        "cd /usr; exec -a x env true",
    ],
)
def test_lost_state_is_said_and_the_old_one_stays(run: Runner, tmp_path: Path, command: str) -> None:
    run("export KEEP=1")
    result = run(command)

    assert (result.state_kept, result.cwd_after) == (False, str(tmp_path))
    assert "could not be read back" in result.notes[-1]
    assert run.out("pwd; echo $KEEP") == f"{tmp_path}\n1"


def test_the_own_exit_trap_of_a_command_runs(run: Runner) -> None:
    assert run("trap 'echo bye' EXIT; echo hi").stdout.head == "hi\nbye\n"


def test_internals_are_invisible_to_the_child(run: Runner, marker: Marker) -> None:
    names = {line.split("=", 1)[0] for line in run.out("env").splitlines()}
    assert names == {"PATH", "HOME", "AI_AGENT", "PWD", "SHLVL", "_", marker.name}
    run("cd /usr")
    assert {line.split("=", 1)[0] for line in run.out("env").splitlines()} == names | {"OLDPWD"}
    assert run.out("ls /proc/self/fd") == "0\n1\n2\n3"  # 3 is the folder that ls reads
    assert run.out("tr '\\0' ' ' < /proc/$$/cmdline; :").endswith("-c tr '\\0' ' ' < /proc/$$/cmdline; : ")
    assert run.out("declare -F") == ""


def test_messages_are_those_of_a_plain_bash(run: Runner) -> None:
    assert run("nosuchprogram\nnosuchother").stderr.head == (
        "bash: line 1: nosuchprogram: command not found\nbash: line 2: nosuchother: command not found\n".replace(
            "bash", shutil.which("bash") or "bash"
        )
    )


@pytest.mark.parametrize(
    "command",
    [
        "set -x; true",
        "trap 'echo debug' DEBUG; true",
        "trap 'echo err' ERR; false",
        "set -eu; echo $nope",
        "set -T; trap 'echo debug' DEBUG; f() { true; }; f",
        "shopt -s extdebug; false",
    ],
)
def test_the_trap_of_ours_adds_nothing_to_the_output(run: Runner, command: str) -> None:
    bare = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    result = run(command)
    assert result.stdout.head == bare.stdout
    assert result.stderr.head.replace(shutil.which("bash") or "", "bash") == bare.stderr
    assert result.exit_code == bare.returncode


def test_shell_level_does_not_climb(run: Runner) -> None:
    assert len({run.out("echo $SHLVL") for _ in range(3)}) == 1


def test_a_deleted_folder_is_left_with_a_note(run: Runner, tmp_path: Path) -> None:
    result = run("mkdir gone; cd gone; rmdir ../gone")
    assert result.cwd_after == str(tmp_path)
    assert f"the folder {tmp_path}/gone is gone" in result.notes[-1]


def test_nothing_runs_where_the_folder_vanished_before_the_command(run: Runner, tmp_path: Path) -> None:
    run("mkdir gone; cd gone")
    (tmp_path / "gone").rmdir()
    result = run("touch ../should-not-exist")
    assert (result.exit_code, result.cwd_after) == (126, str(tmp_path))
    assert "is gone; nothing was run" in result.stderr.head
    assert os.listdir(tmp_path) == []
    assert run.out("pwd") == str(tmp_path)


def test_a_rehearsal_in_a_vanished_folder_does_not_move_the_run_that_follows(run: Runner, tmp_path: Path) -> None:
    run("mkdir gone; cd gone")
    (tmp_path / "gone").rmdir()
    report = RiskReport(command="touch stray", level=Level.LOW)
    rehearsal = ApprovedRehearsal(command_id="c1", command="touch stray", report=report, consent=Consent(by="policy"))
    with pytest.raises(RehearsalUnavailable, match="is gone"):
        run.loop.run_until_complete(run.executor.rehearse(rehearsal, None, CancellationToken()))
    assert "is gone; nothing was run" in run("touch stray").stderr.head
    assert os.listdir(tmp_path) == []


def test_a_variable_too_long_for_the_system_is_not_kept(run: Runner) -> None:
    result = run("export LONG=$(head -c 200000 /dev/zero | tr '\\0' x); echo ${#LONG}")
    assert (result.stdout.head, result.state_kept) == ("200000\n", False)
    assert run.out("echo ${#LONG}") == "0"


def test_without_bash_there_is_sh_and_a_note(make_run: MakeRunner) -> None:
    run = make_run(shell="/bin/sh")
    result = run("cd /usr; pwd")
    assert (result.stdout.head, result.state_kept) == ("/usr\n", False)
    assert "no bash" in result.notes[0]


def test_state_without_memory_files(monkeypatch: pytest.MonkeyPatch, run: Runner, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert run("cd /usr; export A=1").state_kept
    assert run.out("echo $PWD $A") == "/usr 1"
    assert os.listdir(tmp_path) == []


def test_definitions_are_there_for_whoever_rates_the_next_command(run: Runner) -> None:
    run("alias ls='echo not ls'; cat() { echo not cat; }; export A=1")
    assert "alias ls='echo not ls'" in run.executor.aliases
    assert "not cat" in run.executor.functions
    assert run.executor.env["A"] == "1"


@pytest.mark.thorough
@settings(max_examples=tries(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80).map(lambda data: data.replace(b"\0", b"")))
def test_any_value_makes_the_round_trip(run: Runner, value: bytes) -> None:
    octal = "".join(f"\\{byte:03o}" for byte in value)
    run(f"export V=$'{octal}'")
    shown = run.out('printf %s "$V" | od -An -v -tx1 | tr -d " \\n"')
    assert shown == value.hex()
