"""What a repository has git run: real ones with real settings, of worktrees and submodules too, wherever a command reaches them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent.planner.facts.path_facts import Watch, path_facts
from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from tests.support.each import each


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def rated(command: str, folder: Path) -> str:
    context = RiskContext(cwd=str(folder), home="/home/nobody", workspace=str(folder))
    facts = path_facts(command, context, watch=Watch(60))
    return classify(
        command, RiskContext(cwd=str(folder), home="/home/nobody", workspace=str(folder), facts=facts)
    ).level.value


RUNNING = [
    ("core.fsmonitor", "./x"), ("diff.x.textconv", "./x"), ("filter.x.clean", "./x"), ("core.pager", "./x"), ("core.sshCommand", "./x"),
    ("diff.external", "sh -c ./x"), ("include.path", "../x"), ("credential.helper", "!./x"), ("core.pager", "less; ./x"),
]  # fmt: skip
USUAL = [
    ("core.fsmonitor", "true"), ("core.pager", "less -R"), ("core.sshCommand", "ssh -i ~/.ssh/id_work"), ("user.name", "T"),
    ("filter.lfs.clean", "git-lfs clean -- %f"), ("core.hooksPath", ".husky/_"), ("alias.lg", "log --oneline"),
    ("credential.helper", "store"),
    ("remote.origin.url", "https://x.example/y"),
]  # fmt: skip


@each(("name", "value"), RUNNING)
def test_settings_that_run_something_are_said(name: str, value: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    git(folder, "init", "-q")
    git(folder, "config", name, value)
    for command in (
        "git status",
        "git log -p",
        "cd . && git diff",
        f"git -C {folder} status",
        f"git --git-dir={folder}/.git log",
    ):
        assert rated(command, folder) == "medium", command
    assert rated(f"git -C {folder} status", Path("/")) == "medium"
    assert rated("ls", folder) == "low"


@each(("name", "value"), USUAL)
def test_usual_settings_are_not(name: str, value: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("usual")
    git(folder, "init", "-q")
    git(folder, "config", name, value)
    assert rated("git status", folder) == "low"


@pytest.mark.thorough
def test_worktrees_and_submodules_have_settings_elsewhere(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(repo, "worktree", "add", "-q", str(other))
    assert rated("git status", other) == "low"
    git(repo, "config", "core.fsmonitor", "./x")
    assert rated("git status", other) == "medium"
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "submodule", "add", "-q", str(repo), "sub")
    assert rated("git status", outer / "sub") == "low"
    git(outer / "sub", "config", "diff.x.command", "./x")
    assert rated("git status", outer / "sub") == "medium"


def test_a_configuration_that_cannot_be_read_is_doubted(repo: Path) -> None:
    (repo / ".git" / "config").write_text("[core]\n" + "# filler\n" * 10_000)
    assert rated("git status", repo) == "medium"


def test_a_bare_repository_among_the_files_is_one_for_git(repo: Path) -> None:
    """`HEAD`, `objects` and `refs` can be committed: who goes into that folder has git obey the `config` beside them."""
    inner = repo / "fixtures/x"
    git(repo, "init", "-q", "--bare", str(inner))
    assert rated("git status", inner) == "low"
    git(inner, "config", "core.fsmonitor", "./x")
    for command in ("cd fixtures/x && git status", "git -C fixtures/x status", "cd fixtures/x/refs; git log"):
        assert rated(command, repo) == "medium", command
    assert rated("git status", repo / "fixtures") == "low"


@each(
    "command", ["GIT_DIR=other/.git git status", "export GIT_DIR=other/.git; git log", "env GIT_COMMON_DIR=x git log"]
)
def test_a_repository_that_a_variable_names_is_doubted(command: str, repo: Path) -> None:
    assert rated(command, repo) == "medium"


def _worktree_settings(repo: Path, program: str) -> None:
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(repo, "config", "--worktree", "core.fsmonitor", program)


def _included(repo: Path, program: str) -> None:
    git(repo, "config", "include.path", "../inc")
    git(repo, "config", "-f", "inc", "core.fsmonitor", program)


def _embedded(repo: Path, program: str, name: str = "sub") -> None:
    inner = repo / name
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "first")
    git(repo, "add", name)
    git(inner, "config", "core.fsmonitor", program)


def _deep(repo: Path, program: str) -> None:
    _embedded(repo, "")
    _embedded(repo / "sub", program, "deep")


def _compressed(repo: Path, program: str) -> None:
    git(repo, "config", "index.version", "4")
    _embedded(repo, program)


def _split(repo: Path, program: str) -> None:
    _embedded(repo, program)
    git(repo, "update-index", "--split-index")


def _hook(repo: Path, program: str, folder: str = ".git/hooks") -> None:
    (repo / folder).mkdir(exist_ok=True)
    (repo / folder / "post-index-change").write_text(f"#!/bin/sh\n{program}\n")
    (repo / folder / "post-index-change").chmod(0o755)
    (repo / "f").write_text("x")
    git(repo, "add", "f")
    os.utime(repo / "f", (1, 1))


def _hook_elsewhere(repo: Path, program: str) -> None:
    git(repo, "config", "core.hooksPath", ".husky")
    _hook(repo, program, ".husky")


def _elsewhere(repo: Path, program: str) -> None:
    _embedded(repo, program)
    git(repo, "config", "core.worktree", str(repo))


WAYS = [
    _worktree_settings,
    _included,
    _embedded,
    _deep,
    _compressed,
    _split,
    _hook,
    _hook_elsewhere,
    _elsewhere,
]


@pytest.mark.few(4)
@pytest.mark.parametrize("way", WAYS)
def test_what_git_status_runs_of_a_repository_is_said(way, repo: Path, tmp_path: Path) -> None:
    assert rated("git status", repo) == "low"
    ran = tmp_path / "ran"
    way(repo, f"touch {ran}; false")
    assert rated("git status", repo) == "medium"
    assert rated("git fetch", repo) == "medium"
    git(repo, "status")
    assert ran.exists()  # else this shows nothing


def test_usual_hooks_and_submodules_are_not(repo: Path) -> None:
    for name in ("pre-commit", "post-checkout", "pre-push"):
        (repo / ".git" / "hooks" / name).write_text("#!/bin/sh\n")
        (repo / ".git" / "hooks" / name).chmod(0o755)
    _embedded(repo, "")
    assert rated("git status", repo) == "low"


def test_a_configuration_that_is_no_file_is_doubted_and_not_waited_for(repo: Path) -> None:
    (repo / ".git" / "config").unlink()
    os.mkfifo(repo / ".git" / "config")
    assert rated("git status", repo) == "medium"


# Commands that reach the repositories below the folder: {}/ is one of them.
REACHING = [
    'for d in */; do git -C "$d" status; done',
    "for d in *; do git -C $d log -1; done",
    'for d in */; do (cd "$d" && git status); done',
    'for d in */; do cd "$d"; git status; cd ..; done',
    "git -C * status",
    "cd */ && git status",
    "for d in */.git; do git --git-dir=$d log; done",
    'for d in ./*/; do git -C "$d" log -1; done',
    "for d in good bad; do (cd $d; git diff); done",
    "f() { cd $1; git status; }; for x in *; do f $x; done",
    "for d in {good,bad}; do pushd $d; git status; popd; done",
    "if [ -d bad ]; then cd bad; fi; git status",
    "cd none || cd bad; git status",
    "select d in */; do git -C $d status; done",
    "git -C ba[cd] status",
    "(cd .. && for d in */*/; do git -C $d status; done)",
]
UNSEEN = [
    'for d in $(ls); do git -C "$d" status; done',
    "ls | while read d; do git -C $d status; done",
    "read d; git -C $d status",
    "find . -name .git -execdir git status \\;",
    "find . -type d -exec git -C {} status \\;",
    "ls -d */ | xargs -I{} git -C {} status",
    'cd "$X" && git status',
    "fd -t d -x git -C {} status",
    "for d; do git -C $d status; done",
    'git --git-dir="$X" log',
    "find . -type d | while read d; do cd $d; git status; cd -; done",
]


@pytest.fixture
def several(tmp_path: Path) -> Path:
    folder = tmp_path / "several"
    for name in ("good", "bad"):
        (folder / name).mkdir(parents=True)
        git(folder / name, "init", "-q")
    return folder


def test_a_loop_over_folders_is_looked_at_in_each(several: Path) -> None:
    said = {command: rated(command, several) for command in REACHING}
    assert {command for command, level in said.items() if level != "low"} == set()
    git(several / "bad", "config", "core.fsmonitor", "./x")
    said = {command: rated(command, several) for command in REACHING}
    assert {command for command, level in said.items() if level != "medium"} == set()


@each("command", UNSEEN)
def test_a_repository_that_is_only_known_when_it_runs_is_doubted(command: str) -> None:
    assert rated(command, Path("/nowhere")) == "medium"


def test_of_more_folders_than_are_looked_at_any_may_be_hostile(several: Path) -> None:
    for number in range(70):
        (several / f"n{number}").mkdir()
    assert rated('for d in */; do git -C "$d" status; done', several) == "medium"


def test_the_same_holds_for_other_programs_that_heed_their_folder(several: Path) -> None:
    lines = ['for d in */; do (cd "$d"; python3 -c "print(1)"); done', 'for d in */; do (cd "$d"; Rscript -e 1); done']
    assert [rated(line, several) for line in lines] == ["low", rated("Rscript -e 1", several)]
    (several / "bad" / "json.py").write_text("")
    (several / "bad" / ".Rprofile").write_text("")
    assert [rated(line, several) for line in lines] == ["medium", "medium"]
    assert rated('cd "$X" && python3 -c "print(1)"', several) == "medium"
