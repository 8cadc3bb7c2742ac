"""Put a review beside the repository where no server takes pull requests: a branch with what was done and a REVIEW.md on top of it.

No hook and no program of the repository runs for that, no working tree is touched, and nothing is sent anywhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from agent.protocol.actions import OpenPullRequest, PullRequest
from agent.protocol.errors import IoError
from agent.protocol.execution import Processes
from agent.repo_agent.git import Git
from agent.repo_agent.messages import task_of
from agent.repo_agent.repository import Repository

FILE = "REVIEW.md"


@dataclass(frozen=True)
class LocalReviews:
    """`review/task-N` for `agent/task-N`. What it held before stays below what it holds now, so that it can be pushed without force."""

    processes: Processes

    async def open(self, action: OpenPullRequest) -> PullRequest:
        """Make the review branch, or bring it up to date. Raises IoError."""
        task = task_of(action.branch)
        if not task:
            raise IoError(f"{action.branch} is the branch of no task")
        branch = f"review/task-{task}"
        git = _Git(self.processes, action.root)
        tip = await git.must("rev-parse", "--verify", f"refs/heads/{action.branch}^{{commit}}")
        before = await self._before(git, branch)
        tree = await self._tree(git, tip, _text(action))
        done = before and tree == await git.must("rev-parse", f"{before}^{{tree}}")
        if not done:
            await self._free(action.root, branch)
            behind = bool(before) and await git.holds("merge-base", "--is-ancestor", tip, before)
            parents = [*(["-p", before] if before else []), *([] if behind else ["-p", tip])]
            commit = await git.must("commit-tree", tree, *parents, "-m", f"review: {action.title}")
            await git.must("update-ref", f"refs/heads/{branch}", commit)
        return PullRequest(url=f"{branch}:{FILE}", number=task, created=not before, push=branch)

    async def _free(self, root: str, branch: str) -> None:
        """Leave alone what somebody has checked out: their files would not be those of the branch any more."""
        for folder, checked_out in (await Repository(self.processes, root).worktrees()).items():
            if checked_out == branch:
                raise IoError(f"{branch} is checked out in {folder}", hint="switch to another branch there first")

    async def _before(self, git: _Git, branch: str) -> str:
        """Return the last commit of the review branch, of the one that a remote has where it is not here; "" for none."""
        ours, theirs = f"refs/heads/{branch}", f"refs/remotes/*/{branch}"
        return await git.must("for-each-ref", "--count=1", "--format=%(objectname)", ours, theirs)

    async def _tree(self, git: _Git, tip: str, text: str) -> str:
        """Return the files of `tip` and the review among them."""
        with TemporaryDirectory(prefix="agent-shell-") as folder:
            path = os.path.join(folder, FILE)
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:  # noqa: ASYNC230 - a short one
                file.write(text)
            blob = await git.must("hash-object", "-w", "--no-filters", "--", path)
            index = f"GIT_INDEX_FILE={os.path.join(folder, 'index')}"
            await git.must("read-tree", tip, variable=index)
            await git.must("update-index", "--add", "--cacheinfo", f"100644,{blob},{FILE}", variable=index)
            return await git.must("write-tree", variable=index)


class _Git(Git):
    async def must(self, *words: str, variable: str = "") -> str:
        """Return what git answers. Raises IoError."""
        code, text = await self.answer(*words, quietly=(variable,) if variable else ())
        if code:
            raise IoError(f"`git {words[0]}` failed in {self.root} (exit code {code}), so there is no review branch")
        return text.strip("\n")

    async def holds(self, *words: str) -> bool:
        """Tell whether git says yes."""
        return (await self.answer(*words))[0] == 0


def _text(action: OpenPullRequest) -> str:
    return (
        f"# {action.title}\n\nFor review: `{action.branch}`, to be merged into `{action.base}`. This file is on the branch of the review "
        f"only; merge `{action.branch}`.\n\n{action.body}"
    )
