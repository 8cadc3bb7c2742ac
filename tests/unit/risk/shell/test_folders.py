"""The folders a command may run in: all that bash really runs it in are among those that it is judged in, and the worst one counts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.planner.facts.path_facts import Watch, path_facts
from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import tries

HOME = RiskContext(cwd="/home/u", home="/home/u", workspace="/home/u")
EMPTY = "rm -rf ./*"

MAYBE = [
    "if false; then cd /tmp/q; fi; {}",
    "if true; then :; else cd /tmp/q; fi; {}",
    "case a in b) cd /tmp/q;; esac; {}",
    "while false; do cd /tmp/q; done; {}",
    "for x in *.none; do cd /tmp/q; done; {}",
    "false && cd /tmp/q; {}",
    "true || cd /tmp/q; {}",
    "[ -d /tmp/q ] && cd /tmp/q; {}",
    "cd /tmp/q || true; {}",
    "cd /tmp/q || {}",
    "cd /tmp/q && false || {}",
    "cd /tmp/q & {}",
    "cd /tmp/q | true; {}",
    "cd /tmp/q; {}",
    "eval 'cd /tmp/q'; {}",
    "go() {{ cd /tmp/q; }}; go; {}",
    "for d in /tmp/q ~; do cd $d; {}; done",
    "for d in /tmp/q ~; do (cd $d && {}); done",
    "for d in /tmp/{{1,2,3,4,5,6}} ~; do cd $d && {}; done",
    'd=/tmp/q; [ -n "$X" ] && d=~; cd $d && {}',
    "cd /tmp/q; if true; then {}; fi",
    "if cd /tmp/q; then cd ~; fi; {}",
    "pushd /tmp/q && popd && {}",
    "cd /tmp; pushd ~ && pushd /tmp/q && popd && {}",
    "pushd /tmp/q && pushd && {}",
    "cd /tmp && pushd /tmp/q; DIRSTACK[1]=~; popd; {}",
]
THERE = [
    "cd /tmp/q && {}",
    "cd /tmp/q || exit; {}",
    "cd /tmp/q || {{ echo no; exit 1; }}; {}",
    "cd /tmp && cd q && {}",
    "for d in /tmp/q /tmp/r; do cd $d && {}; done",
    "time cd /tmp/q && {}",
]


@each("line", MAYBE)
def test_what_may_still_run_where_it_was_is_rated_there(line: str) -> None:
    assert classify(EMPTY, HOME).level == "high"
    assert classify(line.format(EMPTY), HOME).level == "high"


@each("line", THERE)
def test_what_surely_went_elsewhere_is_rated_there(line: str) -> None:
    assert classify(line.format(EMPTY), HOME).level == "medium"


def test_a_variable_may_stand_for_a_folder_that_is_not_there() -> None:
    assert classify("shopt -s cdable_vars; far=~; cd far && " + EMPTY, HOME).level == "high"


def test_a_folder_that_is_there_is_gone_to(tmp_path: Path) -> None:
    home = RiskContext(cwd=str(tmp_path), home=str(tmp_path), workspace=str(tmp_path))
    for line, folder, level in (
        ("cd sub; echo x > .bashrc", "sub", "medium"),
        ("cd missing; echo x > .bashrc", "sub", "high"),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        facts = path_facts(line, home, watch=Watch(60))
        context = RiskContext(cwd=home.cwd, home=home.home, workspace=home.workspace, facts=facts)
        assert classify(line, context).level == level, line


LEAVES = [
    "cd a",
    "cd b",
    "cd none",
    "cd a/b",
    "cd ..",
    "true",
    "false",
    "pwd",
    "pushd a >/dev/null",
    "pushd b >/dev/null",
    "pushd >/dev/null",
    "pushd +1 >/dev/null",
    "popd >/dev/null",
    "cd",
    'cd "$d"',
    "d=b",
    "d=a",
]
AROUND = [
    "{0}; {1}", "{0} && {1}", "{0} || {1}", "{{ {0}; {1}; }}", "({0}; {1})", "if {0}; then {1}; else {2}; fi", "if {0}; then {1}; fi",
    "case x in y) {0};; *) {1};; esac", "for d in a b; do {0}; {1}; done", "for i in 1; do {0}; done; {1}", "{0} | cat; {1}",
    "{0} & wait; {1}", "f() {{ {0}; }}; f; {1}", "while {0}; do {1}; break; done", "eval '{0}' && {1}", "! {0}; {1}",
]  # fmt: skip
PARTS = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.builds(lambda form, *parts: form.format(*parts), st.sampled_from(AROUND), inner, inner, inner),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("tree").resolve() / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "b" / "a").mkdir(parents=True)
    return top


@settings(max_examples=tries(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=PARTS)
def test_all_that_bash_goes_to_is_told(tree: Path, line: str) -> None:
    text = f"d=a; {line}; pwd"
    if "'" in line.replace("eval '", "").replace("' &&", ""):
        return
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=tree,
        env={"HOME": str(tree), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    real = {one for one in done.stdout.splitlines() if one.startswith("/")}
    report = classify(text, RiskContext(cwd=str(tree), home=str(tree), workspace=str(tree)))
    judged = {run.cwd for run in report.programs if run.words == ("pwd",)}
    assert report.cut or "\0" in judged or real <= judged, (text, real - judged, judged)
