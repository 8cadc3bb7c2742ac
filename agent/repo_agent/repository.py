"""Ask git for the state of a repository: its settings, what differs from the last commit, and what stands in files and commits."""

from __future__ import annotations

import os
from asyncio import gather
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice

from agent.protocol.errors import IoError
from agent.repo_agent.branches import Branches
from agent.repo_agent.git import MOST

_KEPT_BY_GIT = ("branch.*", "lfs.*.access", "lfs.repositoryformatversion", "submodule.*.url", "submodule.*.active")
_AS_TEXT = ("-p", "-U0", "--text", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--dst-prefix=b/")
_MOST_PATHS = 500
_MOST_KNOWN = 2_000
"""Commits that fit on a command line; what others have is looked through once more."""
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


def changed_settings(then: Settings, now: Settings) -> str:
    """Return the names of those that are not what they were, as words; "" for none."""
    names = sorted(name for name in {*now, *then} if then.get(name) != now.get(name))
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


@dataclass(frozen=True)
class Change:
    """A path that differs from the last commit. `state`: the two letters of `git status`, "??" for a file that git does not know."""

    state: str
    path: str


class Repository(Branches):
    """The repository whose working tree has its top at `root`. Raises IoError where git fails."""

    async def changes(self) -> tuple[Change, ...]:
        """Return what differs from the last commit, untracked files included, ignored ones not; of submodules, only that they moved."""
        options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
        text = await self.asked("status", *options, quietly=await self.quietly())
        return tuple(Change(each[:2], each[3:]) for each in text.split("\0") if each)

    async def is_dirty(self) -> bool:
        """Tell whether anything differs from the last commit."""
        return bool(await self.changes())

    async def address(self, remote: str) -> str:
        """Return where pushes to that remote go, a line for each place."""
        return await self.line("remote", "get-url", "--push", "--all", "--", remote)

    async def settings(self) -> Settings:
        """Return the settings of git here by their names, those left out that git keeps itself as work goes on."""
        found: dict[str, tuple[str, ...]] = {}
        fields = iter((await self.asked("config", "--show-scope", "--includes", "--list", "-z")).split("\0"))
        for scope, setting in zip(fields, fields, strict=False):
            name, _, value = setting.partition("\n")
            if scope != "command" and not any(fnmatchcase(name, each) for each in _KEPT_BY_GIT):
                found[name] = (*found.get(name, ()), f"{scope} {value}")
        return found

    async def relative_address(self, remote: str) -> str:
        """Return an address of that remote which leads elsewhere from another folder, "" for none."""
        addresses = (await self.line("remote", "get-url", "--", remote), await self.address(remote))
        return next((each for each in addresses if not each.startswith("/") and ":" not in each.partition("/")[0]), "")

    async def has_identity(self) -> bool:
        """Tell whether git knows whose commits they would be."""
        return (await self.answer("var", "GIT_COMMITTER_IDENT"))[0] == 0

    async def signs_off(self) -> bool:
        """Tell whether the person vouches for their commits by a line in each."""
        return await self.line("config", "--type=bool", "--get", "format.signOff") == "true"

    async def text_at(self, revision: str, path: str) -> str | None:
        """The text of a file at a revision; None where there is no file of that name. Raises IoError for one that is too long."""
        code, text = await self.answer("cat-file", "blob", f"{revision}:{path}")
        whole = code == 0 and len(text.encode("utf-8", "replace")) < MOST
        if not whole and await self.line("cat-file", "-t", f"{revision}:{path}") == "blob":
            raise IoError(f"{path} cannot be read; it may have at most {MOST >> 20} MiB")
        return text if whole else None

    async def changed_files(self, base: str) -> tuple[str, ...]:
        """The paths that the commits since the work left `base` have changed."""
        options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
        text = await self.asked("diff", *options, f"{base}...HEAD", "--", quietly=await self.quietly())
        return tuple(sorted(filter(None, text.split("\0"))))

    async def added_lines(self, paths: Sequence[str], most: int) -> str:
        """Return how those files differ from the last commit, as far as git knows them, as a diff without context."""
        only = [f":(top,literal){path}" for path in paths] if len(paths) <= _MOST_PATHS else ()  # else all of them
        options = (*_AS_TEXT, "--ignore-submodules=dirty", "HEAD", "--", *only)
        return await self.asked("diff", *options, quietly=await self.quietly(), most=most)

    async def added_by_commits(self, tip: str, known: Iterable[str], most: int) -> str:
        """Return what each commit says and changes that `tip` has, and none of the `known` ones."""
        options = ("--no-show-signature", "--no-notes", "--cc", *_AS_TEXT, "--format=commit %h%n%B")
        ours = (tip, "--not", *islice(known, _MOST_KNOWN), "--")
        return await self.asked("log", *options, *ours, quietly=await self.quietly(), most=most)

    async def differing(self, commit: str) -> tuple[str, ...]:
        """Return the paths that differ in the working tree from that commit, untracked files included, ignored ones not."""
        options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
        changed, new = await gather(
            self.asked("diff", *options, commit, "--", quietly=await self.quietly()),
            self.asked("ls-files", "--others", "--exclude-standard", "-z"),
        )
        return tuple(sorted({*changed.split("\0"), *new.split("\0")} - {""}))

    async def unknown_files(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return which of these files are there and unknown to git, ignored ones included."""
        return tuple(filter(None, (await self.asked("ls-files", "--others", "-z", "--", *paths)).split("\0")))

    async def obstacle(self, branch: str) -> str:
        """Say what keeps work from being committed here, "" for nothing: a merge or the like in progress, a detached HEAD, no commits.

        `branch`: the one that is checked out, "" for none.
        """
        code, text = await self.answer("rev-parse", "--absolute-git-dir", "HEAD^{commit}")
        folder = text.removesuffix("\n").rpartition("\n")[0]
        for name, what in _OPERATIONS.items():
            if folder and os.path.lexists(os.path.join(folder, name)):
                return f"{what} is in progress in {self.root}"
        if code:
            return "the repository has no commits yet"
        return "" if branch else "no branch is checked out (detached HEAD)"

    async def common_folder(self) -> str:
        """The folder that all worktrees of the repository share."""
        return os.path.realpath(os.path.join(self.root, await self.line("rev-parse", "--git-common-dir")))
