"""Give each task a worktree of its own, from the newest state of the remote, and never lose what is in one.

The person's own checkout is not touched. Worktrees stay until all that is in them is committed and pushed.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from shlex import quote

from agent.config.paths import make_folder
from agent.protocol.errors import IoError
from agent.protocol.messages import CommandItem
from agent.repo_agent import git
from agent.repo_agent.branches import Base, TaskBranch
from agent.repo_agent.marks import Marks
from agent.repo_agent.messages import branch_of
from agent.repo_agent.repository import Repository
from agent.repo_agent.workplace import Doors, Workplace
from agent.text.shown import shown_line

_LONGEST = 8_000  # characters of what a command said
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
"""Variables that a hook of git has, and others hardly ever."""


@dataclass(eq=False)
class Worktrees:
    """The worktrees of one repository. `repository` is the person's checkout, `state` the folder in which the program keeps its state."""

    repository: Repository
    state: str
    _found: str = ""
    _there: dict[str, str] | None = None
    _base: Base | None = None

    async def fetch(self, doors: Doors) -> None:
        """Bring the newest state of the remote here, if there is one. Raises IoError where that fails, and for a relative address."""
        remote = await self.repository.remote()
        if remote:
            if address := await self.repository.relative_address(remote):
                place = os.path.normpath(os.path.join(self.repository.root, address))
                why = (
                    f"the address of {remote}, {shown_line(address)}, is relative, and leads elsewhere from a worktree"
                )
                raise IoError(
                    why, hint=f"make it absolute: git remote set-url {quote(remote)} {shown_line(quote(place))}"
                )
            item = await doors.run(git.fetch(remote), reason="the newest state, before work begins")
            _require(item, f"{remote} could not be fetched")
            self._there, self._base = await self.repository.fetched(), None

    async def base(self) -> tuple[Base, dict[str, str]]:
        """Return where work begins, and the branches of the remote, each with its commit. Raises IoError where there is nothing."""
        if self._base is not None:
            return self._base, self._there or {}
        base = await self.repository.base()
        if not base.remote:
            self._base = replace(base, commit=await self.repository.head())
            return self._base, {}
        if self._there is None:
            self._there = await self.repository.branches_at(base.remote)
        if base.branch not in self._there:
            hint = f"git remote set-head {quote(base.remote)} -a"
            raise IoError(f"{base.remote} has no branch {shown_line(base.branch)}, its default one here", hint=hint)
        self._base = replace(base, commit=self._there[base.branch])
        return self._base, self._there

    async def prepare(self, task: int, doors: Doors) -> Workplace:
        """Return the worktree of a task to work in, made where it is not there yet. Raises IoError where something is in the way."""
        for name in filter(os.environ.get, _ELSEWHERE):
            raise IoError(f"{name} is set, by which git would work in another place", hint=f"unset {name}")
        here, branch = self.repository, branch_of(task)
        base, there = await self.base()
        address = await here.address(base.remote) if base.remote else ""
        folder = await self.folder(task)
        known = await here.worktrees()
        at = next((path for path, checked_out in known.items() if checked_out == branch), "")
        if at and os.path.realpath(at) != folder:
            raise IoError(f"{branch} is checked out in {at}", hint="switch to another branch there first")
        inside, marks = Repository(here.processes, folder, here.protected), await self.marks(task)
        prepared = Workplace(
            task=task,
            repository=inside,
            branch=branch,
            base=base.commit,
            base_branch=base.branch,
            remote=base.remote,
            there=dict(there),
            address=address,
            marks=marks,
            resumed=os.path.lexists(os.path.join(folder, ".git")),
        )
        if not prepared.resumed:
            await self._make(folder, branch, base, marks, doors, forget=folder in known)
            prepared.settings = await inside.settings()
            return prepared
        if await inside.common_folder() != await here.common_folder():
            raise IoError(f"{folder} is in the way: it is no worktree of {here.root}")
        found = await inside.branch()
        if found != branch:
            why = await inside.obstacle(found) or f"{found} is checked out there"
            raise IoError(f"{folder} cannot be gone on with: {why}", hint=f"put {branch} back there by hand")
        prepared.left, prepared.settings = await inside.changes(), await inside.settings()
        return prepared

    async def tidy(self, done: Collection[int], doors: Doors) -> None:
        """Remove the worktrees of tasks that are done, each unless something in it could be lost."""
        place = await self._place()
        for path in await self.repository.worktrees():
            folder, name = os.path.split(path)
            if folder == place and name in {f"task-{task}" for task in done}:
                with suppress(IoError):
                    await self.remove(int(name.removeprefix("task-")), doors)

    async def remove(self, task: int, doors: Doors) -> None:
        """Remove the worktree of a task, not its branch. Raises IoError where something in it is in no commit, or on this machine only."""
        folder, branch = await self.folder(task), branch_of(task)
        inside = Repository(self.repository.processes, folder)
        if await inside.is_dirty():
            raise IoError(f"{folder} has changes that are in no commit; it stays")
        base, there = await self.base()
        places = filter(None, (base.commit, there.get(branch)))
        kept = [ahead[0] == 0 for place in places if (ahead := await inside.ahead_behind(place))]
        if base.remote and not any(kept):
            raise IoError(f"{branch} has commits that were not pushed; {folder} stays")
        item = await doors.run(git.remove_worktree(folder), reason="its task is done, and nothing is lost with it")
        _require(item, f"{folder} could not be removed")

    async def folder(self, task: int) -> str:
        """Return the folder of a task's worktree, which need not be there yet."""
        return os.path.join(await self._place(), f"task-{task}")

    async def marks(self, task: int) -> Marks:
        """Return what is kept of the work on a task."""
        return Marks(os.path.join(await self.kept(), f"task-{task}"))

    async def kept(self) -> str:
        """Return the folder in which that is kept, of all tasks: in the state, where no command may write."""
        folder = os.path.join(self.state, "work", os.path.basename(await self._place()))
        try:
            make_folder(folder)
        except OSError as error:
            raise IoError(f"cannot make {folder}: {error.strerror}") from error
        return folder

    async def branches(self) -> tuple[TaskBranch, ...]:
        """Return the branches of tasks, here and at the remote."""
        return await self.repository.task_branches((await self.base())[0].remote)

    async def submitted(self) -> frozenset[int]:
        """Return the tasks that wait for their review: nothing was done on their branches since they were submitted.

        Where a branch is here, only what was kept here counts: its last commit may have got no further than the push.
        """
        found = set[int]()
        branches = await self.branches()
        local = {each.task for each in branches if not each.remote}
        for each in branches:
            if (await self.marks(each.task)).last == each.tip or (
                each.remote and each.submitted and each.task not in local
            ):
                found.add(each.task)
        return frozenset(found)

    async def _place(self) -> str:
        """Return the folder of all of them, for us alone."""
        if self._found:
            return self._found
        common = await self.repository.common_folder()
        name = os.path.basename(os.path.dirname(common) if common.endswith("/.git") else common) or "repository"
        key = sha256(os.fsencode(common)).hexdigest()[:8]
        place = os.path.join(worktrees_beside(self.state), f"{name}-{key}")
        os.makedirs(place, mode=0o700, exist_ok=True)
        for folder in (os.path.dirname(place), place):
            os.chmod(folder, 0o700)
        self._found = place
        return place

    async def _make(self, folder: str, branch: str, base: Base, marks: Marks, doors: Doors, *, forget: bool) -> None:
        if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
            raise IoError(f"{folder} is in the way", hint="move it elsewhere")
        if forget:  # somebody removed the folder, and git still counts it as one
            _require(await doors.run(git.FORGET_WORKTREES), "git could not forget an old worktree")
        if await self.repository.tip(branch):
            text = git.add_worktree(folder, branch)
        else:
            begun = (self._there or {}).get(branch, "")
            text = git.add_worktree(folder, branch, new_from=begun or base.commit)
            marks.begin(begun)
        item = await doors.run(text, reason=f"a folder of its own for {branch}")
        _require(item, f"no worktree could be made at {folder}")


def worktrees_beside(state: str) -> str:
    """Return the folder of all worktrees: beside the state, in which no command may write."""
    return f"{os.path.realpath(state)}-worktrees"


def said_by(item: CommandItem) -> str:
    """Return what a command that failed said, its end where it is long; or why it did not run."""
    if item.outcome != "ran":
        return f"it did not run ({item.outcome}){f': {item.remark}' if item.remark else ''}"
    text = "\n".join(filter(None, (item.stdout.strip(), item.stderr.strip())))
    return (
        f"exit code {item.exit_code}{': ' if text else ''}{text if len(text) <= _LONGEST else f'…{text[-_LONGEST:]}'}"
    )


def succeeded(item: CommandItem) -> bool:
    """Tell whether a command ran to a good end."""
    return item.outcome == "ran" and item.exit_code == 0 and not item.timed_out and not item.interrupted


def _require(item: CommandItem, what: str) -> None:
    if not succeeded(item):
        raise IoError(f"{what}: {said_by(item)}")
