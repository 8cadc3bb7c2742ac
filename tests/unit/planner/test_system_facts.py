"""Facts about the machine; a hostile repository must not get anything run."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.planner.facts.facts import SystemFacts
from agent.planner.facts.git_facts import git_summary, repository_of, summarise, workspace_of
from tests.support.each import each
from tests.support.needs import needing

needs_git = needing("git")


class RealProcesses:
    """Runs what it is asked to; the short time limits are for people, not for a busy test machine."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, ...]] = []

    async def run_attached(self, argv: tuple[str, ...]) -> int:
        raise AssertionError("facts need no terminal")

    async def capture(
        self, argv: tuple[str, ...], *, cwd: str = "", timeout: float = 5.0, most: int = 0
    ) -> tuple[int, str]:
        assert timeout <= 0.3
        self.ran.append(argv)
        done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout


class BrokenProcesses(RealProcesses):
    def __init__(self, code: int | None) -> None:
        super().__init__()
        self.code = code

    async def capture(
        self, argv: tuple[str, ...], *, cwd: str = "", timeout: float = 5.0, most: int = 0
    ) -> tuple[int, str]:
        if self.code is None:
            raise TimeoutError
        return self.code, ""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    git(folder, "add", "a.txt")
    git(folder, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "first")
    return folder


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, timeout=60)


def summary(folder: Path) -> str:
    return asyncio.run(git_summary(RealProcesses(), str(folder)))


@needs_git
def test_branch_and_state(repo: Path):
    assert summary(repo) == "branch main, clean"
    (repo / "a.txt").write_text("two\n")
    (repo / "new.txt").write_text("x")
    (repo / "sub").mkdir()
    assert summary(repo / "sub") == "branch main, 1 changed, 1 untracked"
    git(repo, "checkout", "-q", "--detach")
    assert summary(repo) == "no branch (detached HEAD), 1 changed, 1 untracked"


@needs_git
def test_asking_changes_nothing(repo: Path):
    index = repo / ".git" / "index"
    os.utime(repo / "a.txt", (1, 1))
    before = index.read_bytes()
    summary(repo)
    assert index.read_bytes() == before


ATTACKS = (
    "core.fsmonitor",
    "filter.x.clean",
    "filter.x.process",
    "filter.a=b.clean",
    "included",
    "worktree config",
    "hooks",
    "lazy fetch",
)


def prepare(attack: str, repo: Path, tmp_path: Path) -> Path:
    """Make `repo` hostile; the file returned appears when its program is run."""
    marker = tmp_path / "marker"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {marker}\n{'exit 1' if attack == 'lazy fetch' else 'cat'}\n")
    script.chmod(0o755)
    (repo / ".gitattributes").write_text(f"*.txt filter={'a=b' if '=' in attack else 'x'}\n")
    if attack == "included":
        (repo / "extra").write_text(f'[core]\n\tfsmonitor = {script}\n[filter "x"]\n\tclean = {script}\n')
        git(repo, "config", "include.path", "../extra")
    elif attack == "worktree config":
        git(repo, "config", "extensions.worktreeConfig", "true")
        git(repo, "config", "--worktree", "filter.x.clean", str(script))
    elif attack == "hooks":
        hooks = repo / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        shutil.copy(script, hooks / "post-index-change")
    elif attack == "lazy fetch":  # a missing object is fetched through a "transport" that the repository names
        shown = subprocess.run(
            ["git", "rev-parse", "HEAD^{tree}"], cwd=repo, check=True, capture_output=True, text=True
        )
        tree = shown.stdout.strip()
        for key, value in (
            ("core.repositoryformatversion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", f"ext::{script}"),
            ("protocol.ext.allow", "always"),
        ):
            git(repo, "config", key, value)
        (repo / "b.txt").write_text("x")
        git(repo, "-c", "filter.x.clean=", "add", "b.txt")
        (repo / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    else:
        git(repo, "config", attack, str(script))
    # Same size, other content and time: git has to look inside. With the same content, it also writes the time down, and runs that hook.
    if attack != "hooks":
        (repo / "a.txt").write_text("two\n")
    os.utime(repo / "a.txt", (1_000_000_000, 1_000_000_000))
    assert not marker.exists()
    return marker


@pytest.mark.few(4)
@needs_git
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_repository_runs_nothing(repo: Path, tmp_path: Path, attack: str):
    marker = prepare(attack, repo, tmp_path)
    assert summary(repo).startswith("branch main")
    assert not marker.exists()


@pytest.mark.few(3)
@needs_git
@pytest.mark.parametrize("attack", ATTACKS)
def test_without_hardening_the_same_repositories_do_run_it(repo: Path, tmp_path: Path, attack: str):
    marker = prepare(attack, repo, tmp_path)
    subprocess.run(["git", "status"], cwd=repo, capture_output=True, timeout=60)
    assert marker.exists()


@needs_git
def test_a_filter_of_the_repository_costs_the_state_but_not_the_branch(repo: Path):
    git(repo, "config", "filter.x.clean", "cat")
    assert summary(repo) == "branch main"


@needs_git
def test_git_that_is_missing_slow_or_angry_leaves_the_branch(repo: Path):
    for code in (127, 124, 128, None):
        assert asyncio.run(git_summary(BrokenProcesses(code), str(repo))) == "branch main"


def test_outside_a_repository_git_is_not_even_started(tmp_path: Path):
    processes = RealProcesses()
    assert asyncio.run(git_summary(processes, str(tmp_path))) == ""
    assert processes.ran == []


@each(
    ("text", "expected"),
    [
        ("## main\n", "branch main, clean"),
        (
            "## main...origin/main [ahead 2, behind 1]\n M a\n?? b\n?? c\n",
            "branch main (ahead 2, behind 1), 1 changed, 2 untracked",
        ),
        ("## No commits yet on trunk\n", "branch trunk, clean"),
        ("## HEAD (no branch)\n", "no branch (detached HEAD), clean"),
        ("", "branch unknown, clean"),
    ],
)
def test_summarise(text: str, expected: str):
    assert summarise(text) == expected


def test_an_empty_git_folder_is_no_repository(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    assert repository_of(str(tmp_path)) != str(tmp_path)
    (tmp_path / ".git").rmdir()
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert repository_of(str(tmp_path)) != str(tmp_path)


@needs_git
def test_the_workspace_is_the_repository_unless_that_bounds_nothing(repo: Path, tmp_path: Path):
    inside = repo / "deep" / "er"
    inside.mkdir(parents=True)
    assert workspace_of(str(inside), str(tmp_path / "home")) == str(repo)
    assert workspace_of(str(inside), str(repo)) == str(inside)
    assert workspace_of(str(inside), str(repo / "home")) == str(inside)
    assert workspace_of(str(tmp_path), "/nowhere") == str(tmp_path)


def test_environment_holds_no_secret_and_knows_the_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shims = tmp_path / "bin"
    shims.mkdir()
    for name in ("bash", "jq", "not-on-the-list"):
        (shims / name).write_text("#!/bin/sh\n")
        (shims / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(shims))
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-very-secret")
    facts = SystemFacts()
    seen = asyncio.run(facts.environment(str(tmp_path)))
    assert seen.tools == ("jq",)
    assert (seen.shell, seen.cwd, seen.git) == ("bash", str(tmp_path), "")
    assert os.uname().machine in seen.os
    assert len(seen.date) == 10
    assert "sk-very-secret" not in repr(seen)
    (shims / "jq").unlink()
    assert asyncio.run(facts.environment(str(tmp_path))).tools == ("jq",)
    monkeypatch.setenv("PATH", f"{shims}:/nonexistent")
    assert asyncio.run(facts.environment(str(tmp_path))).tools == ()


@needs_git
def test_environment_and_risk_context_together(repo: Path):
    facts = SystemFacts(RealProcesses())
    assert asyncio.run(facts.environment(str(repo))).git == "branch main, clean"
    context = facts.risk_context("rm a.txt missing.txt", str(repo))
    assert (context.cwd, context.workspace, context.is_root) == (str(repo), str(repo), os.geteuid() == 0)
    assert context.home == os.environ["HOME"]
    assert context.facts[f"{repo}/a.txt"] == ("file", "entries=1", "bytes=4")
    assert context.facts[f"{repo}/missing.txt"] == ("missing",)
