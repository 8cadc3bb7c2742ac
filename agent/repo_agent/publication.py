"""Commit, push and open a pull request for a task, each only where nothing speaks against it."""

from __future__ import annotations

from dataclasses import dataclass

from agent.policy.grants import push_text
from agent.protocol.actions import OpenPullRequest, PullRequest
from agent.protocol.ports import PullRequests
from agent.repo_agent import git, messages, secret_check
from agent.repo_agent.repository import changed_settings
from agent.repo_agent.task_file import Entry, read_tasks
from agent.repo_agent.test_settings import test_setup
from agent.repo_agent.workplace import TASK_FILE, Doors, Workplace
from agent.repo_agent.worktrees import said_by, succeeded
from agent.risk.paths.secret_paths import is_secret
from agent.text.sizes import counted


class NotPublished(Exception):
    """Says why it came to nothing, for the model."""


@dataclass(frozen=True)
class Publication:
    """All that one call commits and pushes. Raises NotPublished."""

    place: Workplace
    doors: Doors

    async def check(self, task: int) -> None:
        """Refuse what must not be committed here."""
        place = self.place
        if task != place.task:
            raise NotPublished(f"this cycle is for task {place.task}, not for task {task}")
        branch = await self.place.repository.branch()
        why = await self.place.repository.obstacle(branch)
        if why or branch != place.branch:
            raise NotPublished(why or f"{branch} is checked out and not {place.branch}: switch back to it first")
        if await self.place.repository.is_protected(branch):
            raise NotPublished(f"{branch} is protected: nothing is committed to it or pushed to it here")
        await self._check_settings()

    async def _check_settings(self) -> None:
        """Refuse to go on with settings of git that have changed: they may name programs, and places to push to."""
        then = self.place.settings
        names = changed_settings(then, await self.place.repository.settings()) if then is not None else ""
        if names:
            raise NotPublished(
                f"git's settings are not what they were when the cycle began: {names}. Put them back as they were; nothing is "
                f"committed or pushed before"
            )

    async def commit(self, message: str) -> bool:
        """Commit all that differs; False where nothing does."""
        changes = await self.place.repository.changes()
        if not changes:
            return False
        secret = [each.path for each in changes if each.state == "??" and is_secret(f"/{each.path}")]
        if secret:
            raise NotPublished(f"{', '.join(secret[:5])} may hold secrets: add it to .gitignore, or delete it")
        nested = [each.path for each in changes if each.state == "??" and each.path.endswith("/")]
        if nested:
            raise NotPublished(
                f"{', '.join(nested[:5])} is a repository of its own: add it to .gitignore, or delete it"
            )
        if self.place.redact(message) != message:
            raise NotPublished("the message holds what looks like a secret: say it without")
        found = await secret_check.in_changes(self.place.repository, changes, self.place.redact)
        _refuse_secrets(found, "nothing was committed")
        item = await self.doors.run(
            git.commit(message, sign_off=self.place.sign_off), reason="one commit of all that differs"
        )
        if not succeeded(item):
            raise NotPublished(f"nothing was committed: {said_by(item)}")
        return True

    async def push(self, branch: str) -> bool:
        """Push a branch; False where there is no remote."""
        await self._check_settings()
        place, remote = self.place, self.place.remote
        address = await self.place.repository.address(remote) if remote and place.settings is None else place.address
        if address != place.address:
            raise NotPublished("pushes would go elsewhere than when the cycle began: put the remote back as it was")
        if not remote:
            return False
        tip = await self.place.repository.tip(branch)
        _refuse_secrets(await self._secrets(tip), f"{branch} was not pushed")
        item = await self.doors.run(
            push_text(remote, branch), reason=f"others see {branch}, and it is kept", grant="push"
        )
        if not succeeded(item):
            why = await self._rejected(remote, branch) if item.outcome == "ran" else ""
            raise NotPublished(f"{branch} was not pushed: {why}{said_by(item)}")
        left = place.there.get(branch) or (place.marks.left_at(branch) if place.marks is not None else "")
        if not git.was_left_at(left, tip, item.stderr) and branch not in place.progress.pushed_elsewhere:
            place.progress.pushed_elsewhere.append(branch)
        place.there[branch] = tip
        if place.marks is not None:
            place.marks.pushed(branch, tip)
        return True

    async def _secrets(self, tip: str) -> tuple[str, ...]:
        """Return the files by which a commit would bring the remote a secret that it has not got."""
        place = self.place
        found = await secret_check.in_commits(self.place.repository, tip, self._known, place.redact)
        if found:  # the model may have brought in what others have pushed since
            await self.fetch()
            found = await secret_check.in_commits(self.place.repository, tip, self._known, place.redact)
        return found

    @property
    def _known(self) -> tuple[str, ...]:
        """The commits that the remote has for sure, those first that most of the others go back to."""
        place = self.place
        near = (place.there.get(each, "") for each in (place.base_branch, place.branch))
        return tuple(dict.fromkeys(filter(None, (place.base, *near, *place.there.values()))))

    async def _rejected(self, remote: str, branch: str) -> str:
        """Say what the remote has that is not here, where that is why."""
        item = await self.doors.run(git.fetch(remote), reason="why the push was rejected")
        theirs = (await self.place.repository.fetched()).get(branch, "") if succeeded(item) else ""
        there = await self.place.repository.ahead_behind(theirs) if theirs else None
        if not there or not there[1]:
            return ""
        return (
            f"{remote}/{branch} has {counted(there[1], 'commit')} not here, and nothing is forced. Look at them with "
            f"`git log HEAD..{remote}/{branch}`, rebase or merge by run_command, test, and call this tool again. "
        )

    async def fetch(self) -> None:
        """Bring the newest state of the remote here. What was left elsewhere than it is now was moved by something else."""
        place = self.place
        if not place.remote:
            return
        await self._check_settings()
        item = await self.doors.run(git.fetch(place.remote), reason="the newest state of what is to be merged into")
        if not succeeded(item):
            raise NotPublished(f"{place.remote} could not be fetched: {said_by(item)}")
        there = await self.place.repository.fetched()
        if place.base_branch not in there:
            raise NotPublished(f"{place.remote} has no branch {place.base_branch} any more")
        if (
            there.get(place.branch, "") != place.there.get(place.branch, "")
            and place.branch not in place.progress.pushed_elsewhere
        ):
            place.progress.pushed_elsewhere.append(place.branch)
        place.there, place.base = there, there[place.base_branch]

    async def check_merge(self) -> None:
        """Refuse what would conflict with what has become of the base since."""
        place = self.place
        name = f"{place.remote}/{place.base_branch}" if place.remote else place.base_branch
        conflicts = await self.place.repository.conflicts(place.base if place.remote else f"refs/heads/{name}")
        if conflicts:
            raise NotPublished(
                f"merging with {name} would conflict in {', '.join(conflicts[:20])}: look at `git diff HEAD...{name}`, "
                f"merge or rebase by run_command, run the tests, and submit again"
            )

    async def open(self, pull_requests: PullRequests, title: str) -> PullRequest:
        """Open the pull request, with the proof in its text."""
        place = self.place
        action = OpenPullRequest(
            root=place.root,
            where=pull_requests.place(place.address.partition("\n")[0]),
            branch=place.branch,
            base=place.base_branch,
            title=messages.pull_request_title(place.task, title),
            body=messages.pull_request_body(place.task, title, await self._proof()),
        )
        done = await self.doors.perform(action)
        if done.pull_request is None:
            raise NotPublished(f"no pull request was opened ({done.outcome}): {done.remark}")
        return done.pull_request

    async def _proof(self) -> messages.Proof:
        progress = self.place.progress
        features = await self.place.features_done()
        files = await self.place.repository.changed_files(self.place.base)
        progress.test_setup = await test_setup(self.place, committed=files)
        entry = read_tasks(await self.place.repository.text_at("HEAD", TASK_FILE) or "").find(self.place.task)
        return messages.Proof(
            tests=messages.words_on_tests(
                untestable=progress.untestable, green=progress.is_green, passed=progress.passed, total=progress.total
            ),
            features=[(each.feature, each.subject, each.commit) for each in features],
            files=files,
            acceptance=_acceptance(entry),
            test_setup=progress.test_setup,
            pushed_elsewhere=progress.pushed_elsewhere,
            elsewhere=self.place.marks.begun if self.place.marks is not None else "",
        )


def _acceptance(task: Entry | None) -> list[str]:
    """Return what a task asks for, followed by what its features do."""
    if task is None:
        return []
    return [*task.acceptance, *(f"{each.name}: {line}" for each in task.features for line in each.acceptance)]


def _refuse_secrets(files: tuple[str, ...], what: str) -> None:
    if files:
        names = ", ".join(each or "the message of a commit" for each in files[:5])
        raise NotPublished(
            f"{what}: {names} would carry what looks like a secret. Take it out, of commits too (`git reset --soft`), or ask the person"
        )
