"""Ask git about a repository, in a way in which a hostile one cannot make git run anything.

What may be configured in the repository itself and would be run (hooks, monitors, filters, merge drivers, ssh commands) is switched off,
and nothing here uses the network.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agent.planner.facts.git_facts import HARDENED
from agent.protocol.errors import IoError
from agent.protocol.execution import Processes
from agent.repo_agent.messages import FEATURE, SUBMITTED, TASK, own_branch, task_of

PROTECTED = ("main", "master", "develop", "trunk", "production", "release", "release/*", "gh-pages")
"""Branches that nothing is committed to or pushed to, beside the default branch of the remote. `*` stands for anything."""

_TIMEOUT = 30.0
_MOST = 1 << 20
_RUNS = r"^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver)$"
"""Settings that name programs which comparing or merging files would run, or that want them."""
_KEPT_BY_GIT = ("branch.*", "lfs.*.access", "lfs.repositoryformatversion", "submodule.*.url", "submodule.*.active")
_AS_TEXT = ("-p", "-U0", "--text", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--dst-prefix=b/")
_OPERATIONS = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


Settings = Mapping[str, tuple[str, ...]]
"""Settings of git by their names, each with its scopes and values."""


@dataclass(frozen=True)
class Change:
    """A path that differs from the last commit. `state`: the two letters of `git status`, "??" for a file that git does not know."""

    state: str
    path: str


@dataclass(frozen=True)
class Base:
    """The branch that work begins from and is to be merged into; `revision` is how git names what is known of it here."""

    branch: str
    revision: str


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


@dataclass(frozen=True, eq=False)
class Repository:
    """The repository whose working tree has its top at `root`. `protected`: patterns of branches. Raises IoError where git fails."""

    processes: Processes
    root: str
    protected: tuple[str, ...] = PROTECTED

    async def head(self) -> str:
        """The commit that is checked out, "" before the first one."""
        return await self._line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    async def branch(self) -> str:
        """The branch that is checked out, also before its first commit; "" for a detached HEAD."""
        return await self._line("symbolic-ref", "--quiet", "--short", "HEAD")

    async def changes(self) -> tuple[Change, ...]:
        """Return what differs from the last commit, untracked files included, ignored ones not; of submodules, only that they moved."""
        options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
        text = await self._asked("status", *options, quietly=await self._quietly())
        return tuple(Change(each[:2], each[3:]) for each in text.split("\0") if each)

    async def is_dirty(self) -> bool:
        """Tell whether anything differs from the last commit."""
        return bool(await self.changes())

    async def remote(self) -> str:
        """The name of the remote: that of the branch, "origin", or the only one; "" for none."""
        names = (await self._asked("remote")).split()
        ours = await self._line("config", "--get", f"branch.{await self.branch()}.remote")
        for name in (ours, "origin", *names[:1]):
            if name in names:
                return name
        return ""

    async def address(self, remote: str) -> str:
        """Return where pushes to that remote go, a line for each place."""
        return await self._line("remote", "get-url", "--push", "--all", "--", remote)

    async def settings(self) -> Settings:
        """Return the settings of git here by their names, those left out that git keeps itself as work goes on."""
        found: dict[str, tuple[str, ...]] = {}
        fields = iter((await self._asked("config", "--show-scope", "--includes", "--list", "-z")).split("\0"))
        for scope, setting in zip(fields, fields, strict=False):
            name, _, value = setting.partition("\n")
            if scope != "command" and not any(fnmatchcase(name, each) for each in _KEPT_BY_GIT):
                found[name] = (*found.get(name, ()), f"{scope} {value}")
        return found

    async def relative_address(self, remote: str) -> str:
        """Return an address of that remote which leads elsewhere from another folder, "" for none."""
        addresses = (await self._line("remote", "get-url", "--", remote), await self.address(remote))
        return next((each for each in addresses if not each.startswith("/") and ":" not in each.partition("/")[0]), "")

    async def has_identity(self) -> bool:
        """Tell whether git knows whose commits they would be."""
        return (await self._git("var", "GIT_COMMITTER_IDENT"))[0] == 0

    async def signs_off(self) -> bool:
        """Tell whether the person vouches for their commits by a line in each."""
        return await self._line("config", "--type=bool", "--get", "format.signOff") == "true"

    async def base(self) -> Base:
        """The default branch of the remote as it was fetched last; without a remote the branch that is checked out.

        Raises IoError where there is nothing to begin from.
        """
        remote = await self.remote()
        if not remote:
            branch = await self.branch()
            if not await self.head():
                raise IoError("the repository has no commits yet", hint="make a first commit")
            return Base(branch or "HEAD", f"refs/heads/{branch}" if branch else "HEAD")
        prefix = f"refs/remotes/{remote}/"
        head = await self._line("symbolic-ref", "--quiet", f"{prefix}HEAD")
        there = (await self._asked("for-each-ref", "--format=%(refname)", prefix)).split()
        ours = await self.branch()
        for ref in (head, f"{prefix}main", f"{prefix}master", f"{prefix}{ours}"):
            if ref in there and ref != f"{prefix}HEAD":
                return Base(ref.removeprefix(prefix), ref)
        raise IoError(
            f"the default branch of {remote} is not known here",
            hint=f"`git fetch {remote}` and `git remote set-head {remote} -a` ask for it",
        )

    async def text_at(self, revision: str, path: str) -> str | None:
        """The text of a file at a revision; None where there is no file of that name. Raises IoError for one that is too long."""
        code, text = await self._git("cat-file", "blob", f"{revision}:{path}")
        whole = code == 0 and len(text.encode("utf-8", "replace")) < _MOST
        if not whole and await self._line("cat-file", "-t", f"{revision}:{path}") == "blob":
            raise IoError(f"{path} cannot be read; it may have at most {_MOST >> 20} MiB")
        return text if whole else None

    async def changed_files(self, base: str) -> tuple[str, ...]:
        """The paths that the commits since the work left `base` have changed."""
        options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
        text = await self._asked("diff", *options, f"{base}...HEAD", "--", quietly=await self._quietly())
        return tuple(sorted(filter(None, text.split("\0"))))

    async def added_lines(self, most: int) -> str:
        """Return how files that git knows differ from the last commit, as a diff without context."""
        options = (*_AS_TEXT, "--ignore-submodules=dirty", "HEAD", "--")
        return await self._asked("diff", *options, quietly=await self._quietly(), most=most)

    async def added_by_commits(self, remote: str, most: int) -> str:
        """Return what each commit says and changes that no branch of the remote is known to have."""
        options = ("--no-show-signature", "--no-notes", "--cc", *_AS_TEXT, "--format=commit %h%n%B")
        ours = ("HEAD", "--not", f"--remotes={remote}", "--")
        return await self._asked("log", *options, *ours, quietly=await self._quietly(), most=most)

    async def differing(self, commit: str) -> tuple[str, ...]:
        """Return the paths that differ in the working tree from that commit, untracked files included, ignored ones not."""
        options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
        text = await self._asked("diff", *options, commit, "--", quietly=await self._quietly())
        text += await self._asked("ls-files", "--others", "--exclude-standard", "-z")
        return tuple(sorted(set(filter(None, text.split("\0")))))

    async def unknown_files(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return which of these files are there and unknown to git, ignored ones included."""
        return tuple(filter(None, (await self._asked("ls-files", "--others", "-z", "--", *paths)).split("\0")))

    async def task_branches(self) -> tuple[TaskBranch, ...]:
        """Every branch of a task that is known here, local ones first."""
        remote, found = await self.remote(), []
        prefixes = ["refs/heads/", *([f"refs/remotes/{remote}/"] if remote else [])]
        shape = f"--format=%(refname)%00%(objectname)%00{_trailer(SUBMITTED, 'contents:')}"
        text = await self._asked("for-each-ref", shape, *(f"{each}agent" for each in prefixes))
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
        text = await self._asked("log", *options, shape, f"{base}..{tip}", "--", ".", quietly=await self._quietly())
        rows = (line.split("\0") for line in text.splitlines() if line.count("\0") == 3)
        return tuple(FeatureCommit(row[3], row[1], row[0]) for row in rows if row[2] == str(task) and row[3])

    async def is_protected(self, branch: str) -> bool:
        """Tell whether nothing is committed or pushed to that branch."""
        if not branch or any(fnmatchcase(branch, pattern) for pattern in self.protected):
            return True
        try:
            return (await self.base()).branch == branch and not own_branch(branch)
        except IoError:
            return False

    async def obstacle(self) -> str:
        """Say what keeps work from being committed here, "" for nothing: a merge or the like in progress, a detached HEAD, no commits."""
        folder = await self._line("rev-parse", "--absolute-git-dir")
        for name, what in _OPERATIONS.items():
            if folder and os.path.lexists(os.path.join(folder, name)):
                return f"{what} is in progress in {self.root}"
        if not await self.head():
            return "the repository has no commits yet"
        return "" if await self.branch() else "no branch is checked out (detached HEAD)"

    async def ahead_behind(self, other: str) -> tuple[int, int] | None:
        """Return how many commits HEAD has that `other` has not, and the other way round; None where there is no such revision."""
        code, text = await self._git("rev-list", "--left-right", "--count", f"HEAD...{other}", "--")
        if code:
            return None
        ours, theirs = text.split()
        return int(ours), int(theirs)

    async def conflicts(self, other: str) -> tuple[str, ...]:
        """The files in which merging `other` into HEAD would conflict. Nothing is merged. Needs git 2.38; an elder one finds none."""
        code, text = await self._git(
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            "HEAD",
            other,
            quietly=await self._quietly(),
        )
        return tuple(each for each in text.split("\0")[1:] if each) if code == 1 else ()

    async def worktrees(self) -> dict[str, str]:
        """The worktrees of the repository: their folders, each with the branch that is checked out there, "" for none."""
        found, folder = dict[str, str](), ""
        for line in (await self._asked("worktree", "list", "--porcelain", "-z")).split("\0"):
            key, _, value = line.partition(" ")
            if key == "worktree":
                folder = value
                found[folder] = ""
            elif key == "branch":
                found[folder] = value.removeprefix("refs/heads/")
        return found

    async def common_folder(self) -> str:
        """The folder that all worktrees of the repository share."""
        return os.path.realpath(os.path.join(self.root, await self._line("rev-parse", "--git-common-dir")))

    async def _quietly(self) -> tuple[str, ...]:
        """Words that switch off the programs which the repository itself names for comparing and merging."""
        options = ("--show-scope", "--name-only", "--includes", "-z", "--get-regexp", _RUNS)
        code, text = await self._git("config", *options)
        if code not in (0, 1):
            raise IoError("git cannot read the configuration of the repository")
        return switched_off(text.split("\0"))

    async def _line(self, *words: str) -> str:
        code, text = await self._git(*words)
        return text.strip("\n") if code == 0 else ""

    async def _asked(self, *words: str, quietly: tuple[str, ...] = (), most: int = _MOST) -> str:
        code, text = await self._git(*words, quietly=quietly, most=most)
        if most != _MOST and len(text.encode()) >= most:
            raise IoError(
                f"`git {words[0]}` tells of more than {most:,} bytes that have changed, too much to look through"
            )
        if code:
            hint = f"`git -C {self.root} {words[0]}` says why; what is very large, or takes very long, is given up"
            raise IoError(f"`git {words[0]}` failed in {self.root} (exit code {code})", hint=hint)
        return text

    async def _git(self, *words: str, quietly: tuple[str, ...] = (), most: int = _MOST) -> tuple[int, str]:
        argv = (HARDENED[0], *quietly, *HARDENED[1:], *words)
        return await self.processes.capture(argv, cwd=self.root, timeout=_TIMEOUT, most=most)


def _trailer(key: str, of: str = "") -> str:
    """Return how git is asked for the values of a trailer of a commit."""
    return f"%({of}trailers:key={key},valueonly,separator=%x20)"


def switched_off(scoped: Iterable[str]) -> tuple[str, ...]:
    """Return variables that overrule settings; `scoped` are scopes, each followed by the name of a setting. The person's own stay."""
    each = iter(scoped)
    names = [name for scope, name in zip(each, each, strict=False) if scope not in ("system", "global")]
    values = []
    for number, name in enumerate(dict.fromkeys(names)):
        off = (
            "false" if name.endswith((".driver", ".required")) else ""
        )  # a driver that fails leaves a conflict to be seen
        values += [f"GIT_CONFIG_KEY_{number}={name}", f"GIT_CONFIG_VALUE_{number}={off}"]
    return (f"GIT_CONFIG_COUNT={len(values) // 2}", *values) if values else ()
