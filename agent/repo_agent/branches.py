"""Ask git for branches: the one that work begins from, those of tasks, and how they stand to each other and to the remote."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agent.protocol.errors import IoError
from agent.repo_agent.git import Git
from agent.repo_agent.messages import FEATURE, SUBMITTED, TASK, own_branch, task_of

PROTECTED = ("main", "master", "develop", "trunk", "production", "release", "release/*", "gh-pages")
"""Branches that nothing is committed to or pushed to, beside the default branch of the remote. `*` stands for anything."""
_REMOTES = r"^(remote\..*\.url|branch\..*\.remote)$"
"""Settings by which the remotes are known, and which of them a branch follows."""
_FETCHED = re.compile(r"([0-9a-f]{40,64})\t(?:not-for-merge)?\tbranch '(.+)' of ")


@dataclass(frozen=True)
class Base:
    """The branch that work begins from and is to be merged into, at `remote` ("" for none).

    `revision` is how git names what is known of it here; `commit` is what that was when work began, whatever becomes of the name.
    """

    branch: str
    revision: str
    remote: str = ""
    commit: str = ""


@dataclass(frozen=True)
class TaskBranch:
    """A branch of a task. `remote`: as the remote has it; `submitted`: its last commit says that it was submitted for review."""

    task: int
    name: str
    remote: bool
    tip: str
    submitted: bool


@dataclass(frozen=True)
class FeatureCommit:
    """The commit of a feature ("10.1")."""

    feature: str
    subject: str
    commit: str

    @property
    def number(self) -> int:
        """The feature's number in its task, 0 for none."""
        number = self.feature.rpartition(".")[2]
        return int(number) if number.isascii() and number.isdigit() else 0


@dataclass(frozen=True, eq=False)
class Branches(Git):
    """The branches of a repository. `protected`: patterns of those that nothing is committed to. Raises IoError where git fails."""

    protected: tuple[str, ...] = PROTECTED

    async def head(self) -> str:
        """The commit that is checked out, "" before the first one."""
        return await self.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    async def tip(self, branch: str) -> str:
        """The last commit of a branch of this repository, "" where there is none of that name."""
        return await self.line("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")

    async def branch(self) -> str:
        """The branch that is checked out, also before its first commit; "" for a detached HEAD."""
        return await self.line("symbolic-ref", "--quiet", "--short", "HEAD")

    async def remote(self) -> str:
        """The name of the remote: that of the branch, "origin", or the only one; "" for none."""
        return await self._remote_of(await self.branch())

    async def base(self) -> Base:
        """The default branch of the remote as it was fetched last; without a remote the branch that is checked out.

        Raises IoError where there is nothing to begin from.
        """
        ours = await self.branch()
        remote = await self._remote_of(ours)
        if not remote:
            if not await self.head():
                raise IoError("the repository has no commits yet", hint="make a first commit")
            return Base(ours or "HEAD", f"refs/heads/{ours}" if ours else "HEAD")
        prefix = f"refs/remotes/{remote}/"
        text = await self.asked("for-each-ref", "--format=%(refname) %(symref)", prefix)
        there = dict(line.split(" ", 1) for line in text.splitlines())
        for ref in (there.get(f"{prefix}HEAD", ""), f"{prefix}main", f"{prefix}master", f"{prefix}{ours}"):
            branch = ref.removeprefix(prefix)
            if ref in there and branch != "HEAD" and not (own_branch(branch) or branch.startswith("review/task-")):
                return Base(branch, ref, remote)
        raise IoError(
            f"the default branch of {remote} is not known here",
            hint=f"`git fetch {remote}` and `git remote set-head {remote} -a` ask for it",
        )

    async def branches_at(self, remote: str) -> dict[str, str]:
        """Return the branches that a remote is known to have, each with its commit."""
        prefix = f"refs/remotes/{remote}/"
        text = await self.asked("for-each-ref", "--format=%(objectname) %(refname)", prefix)
        pairs = (line.split(" ", 1) for line in text.splitlines())
        return {ref.removeprefix(prefix): commit for commit, ref in pairs if ref != f"{prefix}HEAD"}

    async def fetched(self) -> dict[str, str]:
        """Return the branches that the last fetch brought here, each with its commit: no name, which a command could have moved."""
        path = os.path.join(self.root, await self.line("rev-parse", "--git-path", "FETCH_HEAD"))
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:  # noqa: ASYNC230 - a short one
                found = (_FETCHED.match(line) for line in file)
                return {each[2]: each[1] for each in found if each is not None}
        except OSError as error:
            raise IoError(f"cannot read {path}: {error.strerror}") from error

    async def _remote_of(self, branch: str) -> str:
        code, text = await self.answer("config", "-z", "--get-regexp", _REMOTES)
        if code not in (0, 1):
            raise IoError("git cannot read the configuration of the repository")
        pairs = [each.partition("\n") for each in text.split("\0") if each]
        names = sorted({key[len("remote.") : -len(".url")] for key, _, _ in pairs if key.startswith("remote.")})
        ours = next((value for key, _, value in reversed(pairs) if key == f"branch.{branch}.remote"), "")
        return next((name for name in (ours, "origin", *names) if name in names), "")

    async def is_protected(self, branch: str) -> bool:
        """Tell whether nothing is committed or pushed to that branch."""
        if not branch or any(fnmatchcase(branch, pattern) for pattern in self.protected):
            return True
        if own_branch(branch):
            return False
        try:
            return (await self.base()).branch == branch
        except IoError:
            return False

    async def task_branches(self, remote: str) -> tuple[TaskBranch, ...]:
        """Every branch of a task that is known here, local ones first; those of no remote where that is ""."""
        found = []
        prefixes = ["refs/heads/", *([f"refs/remotes/{remote}/"] if remote else [])]
        shape = f"--format=%(refname)%00%(objectname)%00{_trailer(SUBMITTED, 'contents:')}"
        text = await self.asked("for-each-ref", shape, *(f"{each}agent" for each in prefixes))
        for line in text.splitlines():
            ref, tip, said = line.split("\0")
            for prefix in prefixes:
                name = ref.removeprefix(prefix)
                if ref.startswith(prefix) and (task := task_of(name)):
                    submitted = said.strip() == name
                    found.append(TaskBranch(task, name, prefix != prefixes[0], tip, submitted))
        return tuple(found)

    async def feature_commits(self, base: str, task: int, tip: str = "HEAD") -> tuple[FeatureCommit, ...]:
        """The commits of features of a task since `base`, eldest first, as far as they change a file."""
        shape = f"--format=%H%x00%s%x00{_trailer(TASK)}%x00{_trailer(FEATURE)}"
        options = ("--no-show-signature", "--reverse", "--no-notes", "--no-merges", "--full-history")
        text = await self.asked("log", *options, shape, f"{base}..{tip}", "--", ".", quietly=await self.quietly())
        rows = (line.split("\0") for line in text.splitlines() if line.count("\0") == 3)
        return tuple(FeatureCommit(row[3], row[1], row[0]) for row in rows if row[2] == str(task) and row[3])

    async def ahead_behind(self, other: str) -> tuple[int, int] | None:
        """Return how many commits HEAD has that `other` has not, and the other way round; None where there is no such revision."""
        code, text = await self.answer("rev-list", "--left-right", "--count", f"HEAD...{other}", "--")
        if code:
            return None
        ours, theirs = text.split()
        return int(ours), int(theirs)

    async def conflicts(self, other: str) -> tuple[str, ...]:
        """The files in which merging `other` into HEAD would conflict. Nothing is merged. Needs git 2.38; an elder one finds none."""
        code, text = await self.answer(
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            "HEAD",
            other,
            quietly=await self.quietly(),
        )
        return tuple(each for each in text.split("\0")[1:] if each) if code == 1 else ()

    async def worktrees(self) -> dict[str, str]:
        """The worktrees of the repository: their folders, each with the branch that is checked out there, "" for none."""
        found, folder = dict[str, str](), ""
        for line in (await self.asked("worktree", "list", "--porcelain", "-z")).split("\0"):
            key, _, value = line.partition(" ")
            if key == "worktree":
                folder = value
                found[folder] = ""
            elif key == "branch":
                found[folder] = value.removeprefix("refs/heads/")
        return found


def _trailer(key: str, of: str = "") -> str:
    """Return how git is asked for the values of a trailer of a commit."""
    return f"%({of}trailers:key={key},valueonly,separator=%x20)"
