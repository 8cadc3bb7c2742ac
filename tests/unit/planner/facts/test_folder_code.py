"""What a folder has programs run: real repositories with real settings, of worktrees and submodules too."""

from __future__ import annotations

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


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose folder `bin` is the first of PATH, with programs of its own."""
    folder = tmp_path / "project"
    (folder / "bin").mkdir(parents=True)
    for name in ("ls", "git", "own-tool"):
        (folder / "bin" / name).write_text("#!/bin/sh\n")
        (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:/usr/local/bin:/usr/bin:/bin")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return folder


def test_a_program_of_the_project_in_place_of_the_systems_is_the_projects_code(placed: Path) -> None:
    assert rated("ls", placed) == "medium"
    assert rated("true && git log | cat", placed) == "medium"
    assert rated("cat x", placed) == "low"
    assert rated("/bin/ls", placed) == "low"


def test_a_link_to_the_systems_program_is_that(placed: Path) -> None:
    (placed / "bin" / "ls").unlink()
    (placed / "bin" / "ls").symlink_to("/bin/true")
    assert rated("ls", placed) == "low"


def test_an_environment_that_was_activated_is_the_persons_own(placed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(placed))
    assert rated("ls", placed) == "low"


def test_a_folder_that_others_can_fill(placed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = placed.parent / "elsewhere"
    (placed / "bin").rename(elsewhere)
    monkeypatch.setenv("PATH", f"{elsewhere}:/usr/bin:/bin")
    for mode, level in ((0o755, "low"), (0o777, "medium"), (0o757, "medium"), (0o1777, "medium")):
        elsewhere.chmod(mode)
        assert rated("ls", placed) == level, oct(mode)
