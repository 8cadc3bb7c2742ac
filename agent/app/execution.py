"""Execution, wired: part of the composition root. Nothing of it is imported before a command runs or somebody asks what can be undone."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from agent.app.lazy_ports import NothingKept
from agent.config.load import Loaded

if TYPE_CHECKING:
    from agent.app.lazy_ports import Shell
    from agent.execution.confine.plan import WriteFolders
    from agent.execution.jobs.table import JobTable
    from agent.execution.process_tree.limits import RunLimits
    from agent.execution.rehearsal.budget import RehearsalSettings
    from agent.protocol.capabilities import Capability
    from agent.protocol.ports import Checkpoints, UndoStore
    from agent.redaction.redactor import SecretRedactor


class ProcessExecution:
    """Executors, jobs, rehearsals and undo of one process, as its settings say."""

    def __init__(self, loaded: Loaded, redactor: SecretRedactor) -> None:
        self._loaded = loaded
        self._settings = loaded.settings
        self._redactor = redactor
        self.jobs: JobTable | None = None

    def make_executor(self, cwd: str) -> Shell:
        """The shell of one session, which starts in `cwd`."""
        from agent.config.paths import state_dir
        from agent.execution.executor import ShellExecutor
        from agent.execution.jobs.table import JobTable

        if self.jobs is None:  # one for all sessions: a job outlives the session that started it
            folder = os.path.join(state_dir(self._loaded.environ), "jobs")
            self.jobs = JobTable(folder if self._settings.persist else None)

        terminal = sys.stdin.isatty() and sys.stdout.isatty() and not self._settings.json
        return ShellExecutor(
            cwd=cwd,
            env=dict(self._loaded.environ),
            terminal="tty" if terminal else "none",
            stdin="null",
            jobs=self.jobs,
            write_folders=self._write_folders(cwd),
            rehearsals=self._rehearsals(),
            limits=self._limits(),
            own_shell=self._settings.shell,
            tty=self._settings.tty,  # type: ignore[arg-type]  # checked against the choices of the setting
        )

    def _rehearsals(self) -> RehearsalSettings:
        from agent.config.paths import state_dir
        from agent.execution.rehearsal.budget import Budget, RehearsalSettings

        settings = self._settings
        return RehearsalSettings(
            state_dir=state_dir(self._loaded.environ),
            budget=Budget(
                files=settings.rehearsal_files, bytes=settings.rehearsal_bytes, seconds=settings.rehearsal_seconds
            ),
            redact=self._redactor.redact,
            keep_bytes=settings.undo_keep_bytes,
            keep_days=settings.undo_keep_days,
        )

    def make_checkpoints(self) -> Checkpoints:
        """What keeps pre-images of direct runs."""
        if not self._settings.persist:
            return NothingKept()
        from agent.config.paths import state_dir
        from agent.execution.journal.preimage import PreImages

        return PreImages(state_dir(self._loaded.environ), redact=self._redactor.redact)

    def undo_store(self) -> UndoStore:
        """The runs that can be taken back, of every session."""
        from agent.config.paths import state_dir
        from agent.execution.journal.store import Journals

        settings = self._settings
        return Journals(
            state_dir(self._loaded.environ), keep_bytes=settings.undo_keep_bytes, keep_days=settings.undo_keep_days
        )

    async def diagnose(self) -> tuple[Capability, ...]:
        """What confinement, rehearsal, undo and limits find here."""
        from agent.config.paths import state_dir
        from agent.execution.diagnosis import diagnose

        environ = self._loaded.environ
        cwd = os.path.abspath(self._settings.cwd or os.getcwd())
        return await diagnose(cwd=cwd, env=dict(environ), state_dir=state_dir(environ))

    def _limits(self) -> RunLimits:
        from agent.execution.process_tree.limits import RunLimits

        settings = self._settings
        return RunLimits(
            output=settings.limit_output,
            memory=settings.limit_memory,
            file_size=settings.limit_file_size,
            processes=settings.limit_processes,
        )

    def _write_folders(self, cwd: str) -> WriteFolders:
        """Where confined commands of a session that starts in `cwd` may write: `cd` does not widen it."""
        from agent.config.paths import config_dir, default_session_dir, state_dir
        from agent.execution.confine.plan import WriteFolders
        from agent.planner.facts.git_facts import workspace_of

        environ, home = self._loaded.environ, os.path.expanduser("~")
        sessions = self._settings.session_dir or default_session_dir(environ)
        return WriteFolders(
            workspace=workspace_of(cwd, home),
            also=self._settings.confine_write,
            protected=(config_dir(environ), state_dir(environ), os.path.abspath(sessions)),
            home=home,
        )
