"""Variables that programs obey: one rule for every way to set them, whatever they are called."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.decisions import RiskContext, RiskReport
from agent.risk.classifier import classify
from agent.risk.tables.store import FOLDER
from agent.risk.tables.store import program as find_program
from agent.risk.tables.variables import KINDS, compile_variables, variables
from tests.support.each import each
from tests.support.tries import tries

TABLE = tomllib.loads((Path(FOLDER) / "variables.toml").read_text())
WAYS = {
    "prefix": "{set} {run}",
    "prefix in a shell": "{set} bash -c {quoted}",
    "prefix of eval": "{set} eval {quoted}",
    "prefix of a wrapper": "{set} timeout 5 nice {run}",
    "prefix of a function": "f() {{ {run}; }}; {set} f",
    "env": "env {set} {run}",
    "env -S": "env -S {line}",
    "env behind xargs": "echo | xargs env {set} {run}",
    "export": "export {set}; {run}",
    "export later": "{set}; export {name}; {run}",
    "export before": "export {name}; {set}; {run}",
    "declare": "declare -x {set}; {run}",
    "typeset": "typeset -gx {set}; {run}",
    "set -a": "set -a; {set}; {run}",
    "set -o": "set -eo allexport; {set}; {run}",
    "in a shell": "bash -c {exported}",
    "shell -a": "sh -ac {assigned}",
    "env -": "env - {set} {run}",
    "read": "read {name} <<< {value}; export {name}; {run}",
}
PROGRAMS = [
    "git status",
    "npm ls",
    "python3 -c 'print(1)'",
    "node -p 1",
    "kubectl get pods",
    "man ls",
]
READERS = ["ls -l", "sort names", "wc -l names", "date", "grep x names", "stat names", "diff a b", "ps aux"]
LOADS = [
    ("LD_PRELOAD", "./hook.so"), ("PYTHONPATH", "src"), ("NODE_OPTIONS", "--require ./hook.js"), ("PERL5OPT", "-Mhook"),
    ("BASH_ENV", "./start"), ("GIT_SSH_COMMAND", "./ssh"), ("PAGER", "./page"), ("GIT_EXTERNAL_DIFF", "./diff"), ("HOME", "./home"),
    ("OPENSSL_CONF", "./ssl"), ("XDG_CONFIG_HOME", "config"), ("RUSTC_WRAPPER", "./wrap"), ("CC", "./cc"), ("MAKEFLAGS", "-f other"),
    ("MAVEN_OPTS", "-javaagent:a.jar"), ("INPUT_HOOK", "./hook"), ("SOMERC", "./rc"), ("PIP_INDEX_URL", "https://index.example"),
    ("DYLD_INSERT_LIBRARIES", "a.dylib"), ("GIT_NOBODY_KNOWS", "1"), ("NOBODY_KNOWS", "./it"), ("NOBODY_KNOWS", "two words"),
]  # fmt: skip
HARMLESS = [
    ("LANG", "C"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("NO_COLOR", "1"), ("COLUMNS", "80"), ("PAGER", "less -R"), ("EDITOR", "vim"),
    ("GIT_PAGER", "cat"), ("HTTPS_PROXY", "http://proxy:3128"), ("DEBIAN_FRONTEND", "noninteractive"), ("PYTHONUNBUFFERED", "1"),
    ("NODE_ENV", "production"), ("AWS_PROFILE", "dev"), ("CFLAGS", "-O2 -g"), ("CC", "clang"), ("NOBODY_KNOWS", "1"), ("DEBUG", "true"),
    ("XDG_CONFIG_HOME", "/home/me/.config"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("SOME_TOKEN", "abc/def"), ("GIT_TRACE", "2"),
]  # fmt: skip


def rated(command: str, exports: dict[str, str] | None = None) -> RiskReport:
    return classify(
        command, RiskContext(cwd="/home/me/p", home="/home/me", workspace="/home/me/p", exports=exports or {})
    )


def levels(name: str, value: str, run: str) -> dict[str, str]:
    """The level by each way to set a variable before `run`."""
    given = f"{name}={shlex.quote(value)}"
    exported = shlex.quote(f"export {given}; {run}")
    parts = {
        "set": given,
        "name": name,
        "run": run,
        "quoted": shlex.quote(run),
        "exported": exported,
        "value": shlex.quote(value),
    }
    parts["assigned"] = shlex.quote(f"{given}; {run}")
    found = {way: rated(text.format(line=shlex.quote(f"{given} {run}"), **parts)).level for way, text in WAYS.items()}
    return {**found, "session": rated(run, {name: value}).level}


@pytest.mark.few(1)
@each("run", PROGRAMS, parts=3)
def test_what_loads_is_no_way_low(run: str) -> None:
    for name, value in LOADS:
        found = levels(name, value, run)
        if not variables().obeys(run.split(maxsplit=1)[0], name):  # set by an earlier command, for another program
            del found["session"]
        assert [way for way, level in found.items() if level != "medium"] == [], name


@pytest.mark.few(1)
@each("run", PROGRAMS, parts=3)
def test_what_is_harmless_is_low_each_way(run: str) -> None:
    for name, value in HARMLESS:
        assert [way for way, level in levels(name, value, run).items() if level != "low"] == [], (name, value)


@each("run", READERS)
def test_programs_that_obey_none_stay_low(run: str) -> None:
    for name in ("NOBODY_KNOWS", "X_HOOK", "XDG_CONFIG_HOME", "PIP_INDEX_URL", "GIT_TRACE", "GIT_NOBODY_KNOWS"):
        assert [way for way, level in levels(name, "/tmp/x", run).items() if level != "low"] == [], name
    assert rated(f"HOME=/tmp/x {run}").level == "low"
    assert rated(run, {"PAGER": "rm -rf ~", "PYTHONPATH": "/tmp/x"}).level == "low"


@each(
    ("name", "value"),
    [
        ("LD_PRELOAD", "/tmp/hook.so"),
        ("PYTHONPATH", "/tmp/mods"),
        ("HOME", "/tmp/home"),
        ("GIT_EXTERNAL_DIFF", "/tmp/diff"),
        ("NODE_OPTIONS", "--require /tmp/hook.js"),
        ("GIT_EXTERNAL_DIFF", "rm -rf ~"),
        ("GIT_CONFIG_PARAMETERS", "'core.pager=rm -rf ~'"),
        ("GIT_TRACE", "/etc/motd"),
    ],
)
def test_what_others_may_change_or_what_destroys_is_high_each_way(name: str, value: str) -> None:
    found = levels(name, value, "git log")
    assert [way for way, level in found.items() if level != "high" and (way, level) != ("session", "medium")] == []


@settings(max_examples=tries(60), deadline=None)
@given(
    st.from_regex(r"[A-Z][A-Z0-9]{2,8}_[B-FH-KMOQV-Z]{4,8}", fullmatch=True),
    st.sampled_from(["./it", "/srv/it", "a:b", "it --now", "it.so", "http://it"]),
    st.sampled_from(["git status", "npm ls", "docker ps", "terraform plan"]),
)
def test_an_unknown_name_is_low_only_before_a_reader(name: str, value: str, run: str) -> None:
    if variables().kind(name) != "harmless":
        assert rated(f"{name}={shlex.quote(value)} {run}").level != "low"
        assert rated(f"export {name}={shlex.quote(value)}; {run}").level != "low"
    assert rated(f"{name}={shlex.quote(value)} ls").level == "low"
    assert rated(f"{name}={shlex.quote(value)}; {run}").level == "low"  # nobody sees it


def test_many_exports_before_many_programs_are_read_to_the_end() -> None:
    exports = " ".join(f"SET_{number}=./it" for number in range(40))
    report = rated(f"export {exports}\n" + "git status\n" * 40)
    assert (report.level, report.parse) == ("medium", "ok")


@each(
    ("name", "value", "level"),
    [
        ("GIT_DIR", ".git", "low"),
        ("GIT_DIR", "../other/.git", "medium"),
        ("KUBECONFIG", "./.kube/config", "medium"),
        ("KUBECONFIG", "/home/me/.kube/config", "low"),
        ("PYTHONPATH", "/usr/lib/mods", "low"),
        ("PYTHONPATH", "/usr/lib/mods:", "medium"),
        ("PYTHONPATH", "/proc/self/cwd/mods", "medium"),
        ("XDG_CONFIG_HOME", "test", "medium"),
        ("HOME", "1", "medium"),
        ("HOME", "/home/me", "low"),
        ("CC", "/usr/bin/gcc -m32", "low"),
        ("CC", "gcc -B./tools", "medium"),
        ("GIT_SSH_COMMAND", "ssh -i ~/.ssh/deploy -o IdentitiesOnly=yes", "low"),
        ("GIT_SSH_COMMAND", "ssh -o ProxyCommand=./proxy", "medium"),
        ("PAGER", "./less", "medium"),
        ("PAGER", "/tmp/less", "high"),
    ],
)
def test_whose_files_they_are_decides(name: str, value: str, level: str) -> None:
    assert rated(f"{name}={shlex.quote(value)} git status").level == level


@each(
    ("name", "harmless", "loading"),
    [
        ("MAKEFLAGS", "-j8 -k", "-fother"),
        ("CFLAGS", "-O2 -g -Wall -Iinclude -DX=1", "-fplugin=./x.so"),
        ("LDFLAGS", "-L/opt/lib", "-fuse-ld=./ld"),
        ("RUSTFLAGS", "-C target-cpu=native -D warnings", "-C linker=./ld"),
        ("TAR_OPTIONS", "--warning=none", "-Fs"),
        ("NODE_OPTIONS", "--max-old-space-size=4096 --no-warnings", "-rx"),
        ("JAVA_TOOL_OPTIONS", "-Xmx2g -XX:+UseG1GC", "-XX:OnError=id"),
        ("PYTHONWARNINGS", "ignore::DeprecationWarning", "ignore::mine.Warning"),
        ("RUBYOPT", "-w", "-rx"),
        ("GOFLAGS", "-mod=mod -v", "-toolexec=x"),
        ("FZF_DEFAULT_OPTS", "--height 40% --layout=reverse --border", "--preview id"),
        ("LESS", "-FRX", "+!id"),
        ("ASAN_OPTIONS", "detect_leaks=0:verbosity=1", "log_path=/etc/x"),
    ],
)
def test_options_that_only_say_how_are_told_from_those_that_load(name: str, harmless: str, loading: str) -> None:
    assert rated(f"{name}={shlex.quote(harmless)} git status").level == "low"
    assert rated(f"{name}={shlex.quote(loading)} git status").level != "low"


@each("kind", KINDS)
def test_each_name_is_of_its_section(kind: str) -> None:
    for name in TABLE[kind]["names"].split():
        assert variables().kind(name) == kind or "*" in name


def test_programs_that_are_said_to_obey_none_are_known() -> None:
    for names in TABLE["programs"].values():
        assert [name for name in names.split() if find_program(name) is None] == []


def test_a_table_with_a_mistake_is_not_compiled() -> None:
    with pytest.raises(ValueError, match="named twice"):
        compile_variables({**TABLE, "harmless": {"names": "PAGER"}})
    with pytest.raises(ValueError, match="unknown section"):
        compile_variables({**TABLE, "other": {}})
