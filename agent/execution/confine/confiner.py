"""Choose and prepare the confinement of a run by what was asked for and what works here, or say why it must not run."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property

from msgspec.structs import replace as with_fields

from agent.execution.confine import words
from agent.execution.confine.ladder import Ladder, RungChoice, parsed
from agent.execution.confine.plan import Plan, WriteFolders
from agent.execution.leftovers import taken_over
from agent.execution.private_files import PrivateFolder, ScratchFile, remove_abandoned
from agent.execution.process_tree.helper import Helper
from agent.execution.state import ShellState
from agent.protocol.approvals import ApprovedCommand
from agent.protocol.confinement import Confinement, Confining
from agent.protocol.decisions import RiskReport
from agent.protocol.outcomes import ExecutionResult


class Unconfinable(Exception):
    """This command cannot be confined as asked; the text says why and what to do. It must not run."""


@dataclass(frozen=True, kw_only=True)
class Confined:
    """One run: what the helper is told, and the folder that goes with it."""

    plan: Plan
    folder: PrivateFolder

    @property
    def variables(self) -> dict[str, str]:
        """Environment of this run only: temporary files go where they may be written."""
        return {} if self.plan.files == "all" else {"TMPDIR": self.folder.temporary}

    def file(self, content: bytes = b"") -> ScratchFile:
        """A file for the shell that a confined shell can reach. Raises OSError."""
        return self.folder.file(content)

    def left(self, after: ShellState, before: ShellState, bash: str) -> tuple[ShellState, tuple[str, ...]]:
        """The state that the command left, without what only this run had or what could run by itself; and notes. Blocking."""
        env = dict(after.env)
        for name, value in self.variables.items():
            if env.get(name) == value:
                del env[name]
                if name in before.env:
                    env[name] = before.env[name]
        return taken_over(replace(after, env=env), before, bash)

    def explained(self, result: ExecutionResult, command: ApprovedCommand, cwd: str) -> ExecutionResult:
        """`result` with what the confinement probably denied, and the narrowest way out."""
        notes = words.denied(result, command, self.plan, cwd=cwd)
        return with_fields(result, notes=(*result.notes, *notes)) if notes else result

    def close(self) -> None:
        self.folder.close()


class Confiner:
    """Finds out what can be had, and prepares runs. Methods may take some milliseconds; call them outside the event loop."""

    def __init__(self, helper: Helper, write_folders: WriteFolders) -> None:
        self._ladder = Ladder(helper)
        self._write_folders = write_folders

    @property
    def workspace(self) -> str:
        """The folder that stays writable, by its real path."""
        folder = self._write_folders.workspace
        return os.path.realpath(folder) if os.path.isabs(folder) else folder

    @cached_property
    def _swept(self) -> bool:
        remove_abandoned()
        return True

    def confining(self, mode: Confinement, report: RiskReport) -> Confining:
        """Say in words how a run of `report`'s command would be held now."""
        if mode == "off":
            return Confining()
        try:
            choice = self._choose(mode, self.workspace, report)
        except Unconfinable as error:
            reason, _, remedy = str(error).partition("\n")
            return Confining(mode=mode, workspace=self.workspace, reason=reason, remedy=remedy)
        how = words.held(choice.files, choice.network, choice.rung or "", self.workspace, choice.trial.landlock)
        return Confining(
            mode=mode,
            workspace=self.workspace,
            how=how,
            misses=choice.misses,
            also=tuple(self._also()),
            protected=tuple(map(os.path.realpath, self._write_folders.protected)),
        )

    def prepare(self, mode: Confinement, workspace: str, report: RiskReport) -> Confined:
        """The confinement of one run. Raises Unconfinable, and OSError where its folder cannot be made."""
        choice = self._choose(mode, workspace, report)
        assert choice.rung is not None
        writable: list[str] = []
        _ = self._swept
        folder = PrivateFolder()
        if choice.files != "all":
            writable.append(folder.path)
            if choice.files == "workspace":
                writable += [os.path.realpath(workspace), *self._also()]
        # Where pre-images of earlier runs may lie: undoing trusts what it finds there.
        journals = (os.path.join(place, f".agent-shell-{os.geteuid()}") for place in writable)
        protected = (*self._write_folders.protected, *filter(os.path.isdir, journals))
        plan = Plan(
            files=choice.files,
            network=choice.network,
            rung=choice.rung,
            writable=tuple(map(os.fsencode, writable)),
            protected=tuple(os.fsencode(os.path.realpath(path)) for path in protected),
        )
        return Confined(plan=plan, folder=folder)

    def _also(self) -> list[str]:
        folders = [os.path.realpath(os.path.expanduser(path)) for path in self._write_folders.also]
        return [path for path in folders if os.path.isdir(path)]

    def _choose(self, mode: Confinement, workspace: str, report: RiskReport) -> RungChoice:
        """The rung to stand on. Raises Unconfinable: a reason, and on a second line what could be done."""
        try:
            files, network = parsed(mode)
        except ValueError as error:
            raise Unconfinable(str(error)) from None
        if files == "workspace":
            self._check(workspace)
        choice = self._ladder.choose(files, network)
        if choice.rung is None:
            remedies = dict.fromkeys(words.remedy(trial.step) for _rung, trial in choice.failures)
            raise Unconfinable(f"{choice.reason}\n{'; or '.join(text for text in remedies if text)}")
        if not choice.trial.sudo and gains_rights(report):
            raise Unconfinable(
                "a program that gains other rights (sudo, su, doas …) cannot be confined\nrun this one command with --confine off"
            )
        if choice.rung == "landlock" and files == "workspace":  # which cannot take a folder out of one that it allows
            root = os.path.realpath(workspace).rstrip("/") + "/"
            for path in self._write_folders.protected:
                if os.path.realpath(path).startswith(root):
                    why = f"Landlock alone cannot keep {path} from being changed, which lies in the workspace"
                    raise Unconfinable(f"{why}\nstart in a project's folder")
        return choice

    def _check(self, workspace: str) -> None:
        if not os.path.isabs(workspace) or not os.path.isdir(workspace):
            raise Unconfinable(f"the workspace {workspace or '(none)'} is no folder")
        real = os.path.realpath(workspace)
        home = os.path.realpath(self._write_folders.home) if self._write_folders.home else ""
        if home and home == real:
            # .profile, .ssh, .gitconfig …: what is written there runs unconfined soon after.
            raise Unconfinable(
                "the workspace is your home folder, whose files run by themselves\nstart in a project's folder"
            )
        if real == "/" or (home and home.startswith(f"{real}/")):
            raise Unconfinable(f"{real} as the workspace would confine nothing\nstart in a project's folder")


def gains_rights(report: RiskReport) -> bool:
    """Tell whether a program of it becomes another user; changing the root only needs a right that it has, or has not."""
    return any(program.elevated and set(program.via) != {"chroot"} for program in report.programs)
