"""Wire execution: shells, jobs, rehearsals, undo. Nothing of it is imported before a command runs or somebody asks what can be undone."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.app.lazy_ports import LazyJobs, NothingKept
from agent.config.load import Loaded
from agent.config.paths import config_dir, state_dir
from agent.config.settings import Settings

if TYPE_CHECKING:
    from agent.app.lazy_ports import Shell
    from agent.execution.confine.plan import WriteFolders
    from agent.execution.job_table import JobTable
    from agent.execution.rehearsal.budget import RehearsalSettings
    from agent.protocol.decisions import RiskReport
    from agent.protocol.execution import Capability, Checkpoints, UndoStore


class ProcessExecution:
    """Builds executors, jobs, rehearsals and undo of a process's sessions, as its settings say."""

    def __init__(self, loaded: Loaded, secret: Callable[[str], str] = str) -> None:
        self._loaded = loaded
        self._environ = loaded.environ
        self._settings = loaded.settings
        self._secret = secret
        self._swept = False
        self._on_unread: Callable[[str], None] = lambda text: None

    def hand_unread(self, to: Callable[[str], None]) -> None:
        """Hand there from now on what is typed while a command runs that does not read."""
        self._on_unread = to

    def jobs(self, *, brings_back: bool) -> LazyJobs:
        """A table for the jobs of the sessions that follow each other at one front end. `brings_back`: it has a `:fg`."""

        def build() -> JobTable:
            from agent.execution.job_table import JobTable

            folder = os.path.join(state_dir(self._environ), "jobs") if self._settings.persist else None
            return JobTable(folder, brings_back=brings_back)

        return LazyJobs(build)

    def make_executor(
        self, settings: Settings, cwd: str, jobs: JobTable, redact: Callable[[str], str], *, terminal: bool
    ) -> Shell:
        """The shell of one session, which starts in `cwd`. `terminal`: its commands may use that of this process."""
        from agent.execution.executor import ShellExecutor
        from agent.execution.process_tree.limits import RunLimits
        from agent.execution.rehearsal.scratches import sweep_all

        if not self._swept:  # a rehearsal that was killed leaves its folder, and nobody may rehearse again for long
            self._swept = True
            sweep_all(cwd, state_dir(self._environ))
        return ShellExecutor(
            cwd=cwd,
            env=dict(self._environ),
            terminal="tty" if terminal else "none",
            stdin="null",
            jobs=jobs,
            write_folders=self._write_folders(settings, cwd),
            rehearsals=self._rehearsals(settings, redact),
            limits=RunLimits(
                output=settings.limit_output,
                memory=settings.limit_memory,
                file_size=settings.limit_file_size,
                processes=settings.limit_processes,
            ),
            own_shell=settings.shell,
            on_unread=self._on_unread,
            secret=self._secret,
            tty=settings.tty,  # type: ignore[arg-type]  # checked against the choices of the setting
        )

    def _rehearsals(self, settings: Settings, redact: Callable[[str], str]) -> RehearsalSettings:
        from agent.execution.rehearsal.budget import Budget, RehearsalSettings

        return RehearsalSettings(
            state_dir=state_dir(self._environ),
            budget=Budget(
                files=settings.rehearsal_files, bytes=settings.rehearsal_bytes, seconds=settings.rehearsal_seconds
            ),
            redact=redact,
            keep_bytes=settings.undo_keep_bytes,
            keep_days=settings.undo_keep_days,
        )

    def make_checkpoints(self, redact: Callable[[str], str]) -> Checkpoints:
        """Build what keeps pre-images of a session's direct runs."""
        if not self._settings.persist:
            return NothingKept()
        from agent.execution.journal.preimage import PreImages

        return PreImages(state_dir(self._environ), redact=redact)

    def undo_words(self, report: RiskReport, cwd: str) -> str:
        """Tell whether a run in `cwd` could be taken back, as its confirmation does; "" where it changes nothing."""
        from agent.gate.direct_runs import planned, undo_words

        return undo_words(planned(self.make_checkpoints(str), report, cwd), cwd)

    def undo_store(self) -> UndoStore:
        """The runs that can be taken back, of every session."""
        from agent.execution.journal.store import Journals

        settings = self._settings
        return Journals(
            state_dir(self._environ), keep_bytes=settings.undo_keep_bytes, keep_days=settings.undo_keep_days
        )

    async def diagnose(self) -> tuple[Capability, ...]:
        """Try what confinement, rehearsal, undo and limits can do here."""
        from agent.execution.diagnosis import diagnose

        environ = self._environ
        cwd = os.path.abspath(self._settings.cwd or os.getcwd())
        return await diagnose(cwd=cwd, env=dict(environ), state_dir=state_dir(environ))

    def _write_folders(self, settings: Settings, cwd: str) -> WriteFolders:
        """List folders that confined commands of a session that starts in `cwd` may write to: `cd` does not widen it."""
        from agent.execution.confine.plan import WriteFolders
        from agent.planner.facts.git_facts import workspace_of

        environ, home = self._environ, os.path.expanduser("~")
        return WriteFolders(
            workspace=workspace_of(cwd, home),
            also=settings.confine_write,
            protected=(config_dir(environ), state_dir(environ), os.path.abspath(self._loaded.session_dir)),
            home=home,
        )
