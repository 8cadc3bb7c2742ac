"""Commands in the person's own shell: its state from command to command, and what bash runs instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.app.policy import OTHER_SHELL, ProcessPolicies
from agent.config.settings import Settings
from agent.execution.shell_starting import find
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.decisions import Level, RiskContext, RiskReport
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import ExecutionResult
from agent.risk.classifier import classify
from tests.unit.execution.running import MakeRunner, Runner
from tests.unit.execution.shell_programs import PATH, needs

SHELLS = ["zsh", "fish", "sh"]
LOST = "directory and variables as this command left them could not be read back; the earlier ones stay"


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    needs(name)
    return name


def own(make_run: MakeRunner, shell: str, tmp_path: Path, **options: object) -> Runner:
    return make_run(own_shell=shell, env={"PATH": PATH, "HOME": str(tmp_path), "TERM": "dumb"}, **options)


def native(run: Runner, command: str) -> ExecutionResult:
    """A command that bash cannot read, confirmed with the typed word."""
    report = RiskReport(command=command, level=Level.HIGH, parse="failed")
    consent = Consent(by="person", word_typed=True)
    approved = ApprovedCommand(command_id="c1", command=command, report=report, consent=consent)
    return run.loop.run_until_complete(run.executor.execute(approved, None, CancellationToken()))


def test_it_is_that_shell(make_run: MakeRunner, shell: str, tmp_path: Path) -> None:
    run = own(make_run, shell, tmp_path)
    result = run(
        "readlink /proc/self/exe; ps -o comm= --ppid $PPID" if shell == "x" else "sh -c 'ps -o comm= -p $PPID'"
    )
    assert (result.stdout.head, result.notes, result.state_kept) == (f"{shell}\n", (), True)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("cd /usr", "pwd", "/usr"),
        ("export A='one two'", "sh -c 'printf %s \"$A\"'", "one two"),
        ("export A='it'; export B=\"$A\"", "sh -c 'echo $B'", "it"),
        ("umask 027", "sh -c umask", "0027"),
        ("cd /usr; exit 7", "pwd", "/usr"),
        ("cd /usr; sleep 0.01 &", "pwd", "/usr"),
        ("cd /usr; false", "pwd", "/usr"),
        ("cd /usr; /bin/ls -d / ", "pwd", "/usr"),
        ("cd /usr; nosuchprogram", "pwd", "/usr"),
        ("sh -c 'cd /usr'", "pwd", "@tmp"),
        ("export A=gone; export B=here", "unset A; sh -c 'echo $A.$B'", ".here"),
    ],
)
@pytest.mark.few(6)
def test_state_goes_from_one_command_to_the_next(
    make_run: MakeRunner, shell: str, tmp_path: Path, first: str, second: str, expected: str
) -> None:
    run = own(make_run, shell, tmp_path)
    result = run(first)
    notes = [note for note in result.notes if not (first.endswith("&") and "running in the background" in note)]
    assert (result.state_kept, notes) == (True, []), result
    assert run.out(second) == expected.replace("@tmp", str(tmp_path))


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_functions_and_aliases_stay_and_are_told_to_who_rates(make_run: MakeRunner, shell: str, tmp_path: Path) -> None:
    needs(shell)
    run = own(make_run, shell, tmp_path)
    run("alias ll='echo aliased'")
    native(run, "function f; echo in f $argv; end" if shell == "fish" else "f() echo in f $@")
    assert run.out("ll x; f y") == "aliased x\nin f y"
    assert run.out("f z") == "in f z"
    context = RiskContext(functions=run.executor.functions, aliases=run.executor.aliases)
    assert classify("ll", context).level is Level.MEDIUM
    assert ProcessPolicies(Settings(shell=shell), {}).classify("f y", context).level.rank >= Level.MEDIUM.rank


@pytest.mark.parametrize("command", ["kill -9 $$", "exec true"])
@pytest.mark.few(3)
def test_lost_state_is_said(make_run: MakeRunner, shell: str, tmp_path: Path, command: str) -> None:
    run = own(make_run, shell, tmp_path)
    result = native(run, command.replace("$$", "$fish_pid" if shell == "fish" else "$$"))
    assert (result.state_kept, result.notes[-1]) == (False, LOST)
    assert run.out("pwd") == str(tmp_path)


def test_the_two_shells_share_folder_and_variables(make_run: MakeRunner, shell: str, tmp_path: Path) -> None:
    run = own(make_run, shell, tmp_path)
    result = run("cd /usr; declare -x A=1; b() { echo bash; }")
    assert result.notes == (f"run by bash: {shell} may read 'declare' differently than it was rated",)
    assert run.out("pwd; sh -c 'echo $A'") == "/usr\n1"
    assert run("declare -F").stdout.head == "declare -f b\n"


@pytest.mark.parametrize(
    ("name", "source", "shown"),
    [
        ("zsh", "for x (a b) { print -l $x }", "a\nb"),
        ("zsh", "repeat 2 { echo again }", "again\nagain"),
        ("zsh", "print -r -- ${(U)HOME:t}x; if [[ -d / ]] echo short", None),
        ("fish", "if test -d /; echo yes; end", "yes"),
        ("fish", "for x in a b; echo $x; end", "a\nb"),
        ("fish", "set -gx LIST (printf 'a\\nb'); echo $LIST[2]", "b"),
    ],
)
@pytest.mark.few(3)
def test_what_bash_cannot_read_is_run_where_the_word_was_typed(
    make_run: MakeRunner, tmp_path: Path, name: str, source: str, shown: str | None
) -> None:
    needs(name)
    result = native(own(make_run, name, tmp_path), source)
    assert result.exit_code == 0, result
    assert shown is None or result.stdout.head.rstrip() == shown


def test_what_bash_cannot_read_is_not_run_by_another_shell_unasked(
    make_run: MakeRunner, shell: str, tmp_path: Path
) -> None:
    run = own(make_run, shell, tmp_path)
    text = "if test -d /; touch made; end"
    report = RiskReport(command=text, level=Level.MEDIUM, parse="partial")
    approved = ApprovedCommand(command_id="c1", command=text, report=report, consent=Consent(by="approve-mode"))
    result = run.loop.run_until_complete(run.executor.execute(approved, None, CancellationToken()))
    assert result.exit_code == 2
    assert result.notes[0].startswith("run by bash: ")
    assert not (tmp_path / "made").exists()


def test_code_in_patterns_and_suffix_aliases_do_not_act_later(make_run: MakeRunner, tmp_path: Path) -> None:
    """What a person may switch on in one command, with the typed word, is off again in the next, which is rated as bash."""
    needs("zsh")
    run = own(make_run, "zsh", tmp_path)
    (tmp_path / "a.txt").touch()
    native(
        run,
        "setopt extendedglob bareglobqual equals; alias -g X='; touch global'; alias -s txt='touch suffix;'; chpwd() { touch hook }",
    )
    run("cd .; echo X; ./a.txt; echo *")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt"]
    assert "chpwd" not in run.executor.functions


def test_functions_that_fish_calls_by_itself_are_not_kept(make_run: MakeRunner, tmp_path: Path) -> None:
    needs("fish")
    run = own(make_run, "fish", tmp_path)
    native(run, "function hook --on-variable PWD; touch /dev/null hooked; end; function kept; echo kept; end")
    run("cd /usr")
    assert run.out("kept") == "kept"
    assert "hook" not in run.executor.functions


def test_internals_are_invisible(make_run: MakeRunner, shell: str, tmp_path: Path) -> None:
    run = own(make_run, shell, tmp_path)
    names = {line.split("=", 1)[0] for line in run.out("env").splitlines()}
    assert names <= {
        "PATH",
        "HOME",
        "TERM",
        "AI_AGENT",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
        "LOGNAME",
        "USER",
        "LD_LIBRARY_PATH",
    }
    assert run.out("ls /proc/self/fd") == "0\n1\n2\n3"


def test_without_the_shell_bash_runs_everything_and_it_is_said_once(make_run: MakeRunner, tmp_path: Path) -> None:
    run = make_run(own_shell="fish", env={"PATH": str(tmp_path), "HOME": str(tmp_path)})
    result = run("echo $BASH_VERSION")
    assert result.stdout.head != "\n"
    assert result.notes == ("there is no fish here: bash runs every command",)
    assert run("echo").notes == ()


@pytest.mark.parametrize("setting", ["zsh", "fish"])
def test_what_bash_cannot_read_is_high(setting: str) -> None:
    rate = ProcessPolicies(Settings(shell=setting), {}).classify
    report = rate("for x (a b) echo $x", RiskContext())
    assert (report.level, report.findings[0].rule) == (Level.HIGH, OTHER_SHELL)
    assert rate("ls", RiskContext()) == classify("ls", RiskContext())


def test_auto_means_the_login_shell_where_it_is_one_of_these() -> None:
    assert find("auto", {"SHELL": "/bin/tcsh"}) == (None, "")
    assert find("auto", {"SHELL": "/bin/bash"}) == (None, "")
    assert find("auto", {}) == (None, "")
    shell, note = find("auto", {"SHELL": "/bin/sh"})
    assert shell is not None
    assert (shell.dialect.name, shell.program, note) == ("sh", "/bin/sh", "")


def test_a_fish_that_always_reads_its_configuration_is_not_used(tmp_path: Path) -> None:
    old = tmp_path / "fish"
    old.write_text('#!/bin/sh\n[ "$1" != --no-config ]\n')
    old.chmod(0o755)
    shell, note = find("fish", {"PATH": str(tmp_path)})
    assert shell is None
    assert note == f"{old} knows no --no-config (it came with fish 3.5): bash runs every command"


@pytest.mark.thorough
def test_folders_with_functions_are_not_taken_from_the_environment(make_run: MakeRunner, tmp_path: Path) -> None:
    needs("fish")
    (tmp_path / "la.fish").write_text("function la; touch made; end\n")
    run = own(make_run, "fish", tmp_path)
    run(f"export fish_function_path={tmp_path}")
    run("la")
    assert not (tmp_path / "made").exists()
