"""Rehearse commands of one shell: run over an overlay, held until somebody decides, made real or thrown away (port `Rehearser`)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from msgspec import structs
from msgspec.structs import replace as with_fields

from agent.execution import state as shell_state
from agent.execution.leftovers import change_words, taken_over
from agent.execution.overlay.model import Layer, Step
from agent.execution.overlay.reader import GONE, TRIES, read_steps
from agent.execution.process_tree.helper import Helper, Launch
from agent.execution.process_tree.limits import ENDED
from agent.execution.rehearsal import not_shown, scratches
from agent.execution.rehearsal.budget import PREVIEW, Budget, RehearsalSettings
from agent.execution.rehearsal.not_shown import Trouble, otherwise_for_real, refused, refused_in_reality, unavailable
from agent.execution.rehearsal.planning import Ran, Sandbox
from agent.execution.results import STATE_NOT_KEPT, KeptState
from agent.execution.run import RunningCommand
from agent.execution.sandbox.reports import STATE
from agent.execution.shell_starting import Shells
from agent.execution.state import ShellState
from agent.protocol.approvals import ApprovedCommand, ApprovedRehearsal
from agent.protocol.errors import CommitFailed, InvalidRequest, NotFound, RehearsalConflict, RehearsalUnavailable
from agent.protocol.execution import CancellationToken, OutputSink
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Committed, Conflict, Rehearsal
from agent.text.shown import shown_line
from agent.waiting import completed, in_thread


@dataclass(frozen=True)
class _Held:
    rehearsal: Rehearsal
    sandbox: Sandbox
    layers: tuple[Layer, ...]
    steps: Sequence[Step]
    before: ShellState
    after: ShellState | None


class Rehearser:
    """One per shell, whose state (`kept`), programs (`shells`) and helper it uses.

    `template`: a launch of a text but for words, environment and sandbox.
    """

    def __init__(
        self,
        kept: KeptState,
        shells: Shells,
        helper: Helper,
        template: Callable[[ApprovedRehearsal], Launch],
        settings: RehearsalSettings,
    ) -> None:
        self._kept = kept
        self._shells = shells
        self._helper = helper
        self._template = template
        self._settings = settings
        self._held: dict[str, _Held] = {}
        self._removing: set[asyncio.Future[None]] = set()
        self._kinds = ["root", "user"] if os.geteuid() == 0 else ["user"]
        self._swept: set[bytes] = set()
        self._count = 0

    async def rehearse(
        self, command: ApprovedRehearsal, sink: OutputSink | None, cancel: CancellationToken
    ) -> Rehearsal:
        """Run it so that nothing changes. Raises RehearsalUnavailable where that cannot be done here."""
        troubles: list[Trouble] = []
        for kind in tuple(self._kinds):
            try:
                # Whoever is cancelled meanwhile leaves nothing behind that nobody knows of.
                (sandbox, launch), cancelled = await completed(partial(self._prepared, kind, command))
            except OSError as error:
                troubles.append(Trouble(f"scratch {os.fsdecode(error.filename or '')}", error.errno or 0))
                continue
            try:
                if cancelled is not None:
                    raise cancelled
                result = await RunningCommand(launch, self._helper, sink).finished(cancel)
                rehearsal, cancelled = await completed(partial(self._read, sandbox, result, command))
                if cancelled is not None:
                    raise cancelled
            except BaseException:
                self._held = {key: held for key, held in self._held.items() if held.sandbox is not sandbox}
                await in_thread(sandbox.scratch.remove)
                raise
            if isinstance(rehearsal, Rehearsal):
                self._kinds = [kind]  # what works is known now: no other layout need be tried again
                return rehearsal
            troubles.append(rehearsal)
            await in_thread(sandbox.scratch.remove)
        raise unavailable(troubles)

    async def commit(self, rehearsal: Rehearsal, command: ApprovedCommand, *, session: str = "") -> Committed:
        """Make the changes real, all or none, and take over the shell state that the command left.

        Raises RehearsalConflict (something changed since; nothing was applied), CommitFailed, NotFound and InvalidRequest. After the
        first two the rehearsal is gone.
        """
        held = self._held.get(rehearsal.rehearsal_id)
        if held is None:
            raise NotFound("rehearsal", rehearsal.rehearsal_id)
        if command.command != held.rehearsal.command:
            raise InvalidRequest("what was approved is not what was rehearsed")
        if held.rehearsal.obstacle:
            raise CommitFailed(f"this rehearsal cannot be committed: {held.rehearsal.obstacle}")
        if self._kept.now is not held.before:
            await self.discard(rehearsal)
            where = held.before.cwd
            changed = Conflict(path=where, reason="the shell's folder, variables or functions are not what they were")
            raise RehearsalConflict(f"conflict: {where}: {changed.reason}", conflicts=(changed,))
        done = Committed(undo_id="", changes=0)
        if held.steps:
            try:
                done = await in_thread(partial(self._commit, held, command, session))
            except BaseException:
                await self.discard(rehearsal)  # what it held may have been moved already
                raise
        if held.after is not None:
            self._kept.take_over(held.after)
        del self._held[rehearsal.rehearsal_id]
        removing = asyncio.ensure_future(in_thread(held.sandbox.scratch.remove))  # nobody has to wait for that
        self._removing.add(removing)
        removing.add_done_callback(self._removing.discard)
        return done

    async def discard(self, rehearsal: Rehearsal) -> None:
        """Forget it, and free what it holds."""
        held = self._held.pop(rehearsal.rehearsal_id, None)
        if held is not None:
            await in_thread(held.sandbox.scratch.remove)

    async def close(self) -> None:
        """Discard all that nobody decided about."""
        for held in tuple(self._held.values()):
            await self.discard(held.rehearsal)
        await asyncio.gather(*self._removing)

    def _prepared(self, kind: str, command: ApprovedRehearsal) -> tuple[Sandbox, Launch]:
        """`_prepare`, and again where something that was planned with was unmounted or removed meanwhile."""
        for _ in range(TRIES - 1):
            try:
                return self._prepare(kind, command)
            except OSError as error:
                if error.errno not in GONE:
                    raise
        return self._prepare(kind, command)

    def _prepare(self, kind: str, command: ApprovedRehearsal) -> tuple[Sandbox, Launch]:
        """Plan the sandbox and the launch in it; blocking. Raises OSError where no scratch can be made, and RehearsalUnavailable."""
        bash, env_program = self._shells.find(), self._shells.env_program
        if not bash.endswith("bash") or not env_program:
            raise RehearsalUnavailable(
                "a rehearsal needs bash and env, and they are not both here", hint="install bash and coreutils"
            )
        state = self._kept.now
        home = state.env.get("HOME", "")
        sandbox = Sandbox(
            kind,
            cwd=state.cwd,
            home=home if os.path.isabs(home) else "",
            state_dir=self._settings.state_dir,
            budget=self._budget(command),
            network=command.network,
        )
        sandbox.spec.silent = command.preview
        # What another process of ours left when it was killed goes now; what is still locked is somebody's.
        for base in {base.folder for base in sandbox.bases.values()} - self._swept:
            self._swept.add(base)
            scratches.sweep(base)
        return sandbox, self._launch(sandbox, command, bash, env_program)

    def _launch(self, sandbox: Sandbox, command: ApprovedRehearsal, bash: str, env_program: str) -> Launch:
        state = self._kept.now
        source = shell_state.preamble(state, sandbox.put(STATE, b""), env_program)
        preamble = sandbox.put(b"start", shell_state.to_bytes(source))
        text = command.command
        data = shell_state.to_bytes(text)
        if len(data) > shell_state.LONGEST_ARGUMENT:
            text = f'eval "$(cat {sandbox.put(b"command", data)})"'
        return replace(
            self._template(command),
            argv=(bash, "-c", text),
            env=shell_state.launch_env(state, preamble),
            inherit_stdin=False,
            timeout=command.timeout if command.timeout is not None else self._budget(command).seconds,
            sandbox=asdict(sandbox.spec),
        )

    def _budget(self, command: ApprovedRehearsal) -> Budget:
        return PREVIEW if command.preview else self._settings.budget

    def _read(self, sandbox: Sandbox, result: ExecutionResult, command: ApprovedRehearsal) -> Rehearsal | Trouble:
        """The rehearsal, held from now on, or what of its sandbox could not be had; blocking."""
        ran = sandbox.collect()
        if ran.failure and not result.interrupted:
            said = shown_line(result.stderr.head.removeprefix("agent-shell: ").strip(), 200)
            return Trouble(*ran.failure, said="" if any(ran.failure) else said)
        before = self._kept.now
        after = shell_state.parse(ran.dump, before)
        left_out: tuple[str, ...] = (STATE_NOT_KEPT,)
        if after is not None:
            after, left_out = taken_over(after, before, self._shells.find())
        notes = (*result.notes, *left_out)
        result = with_fields(
            result, cwd_after=after.cwd if after else before.cwd, state_kept=after is not None, notes=notes
        )
        budget = self._budget(command)
        read = read_steps(ran.layers, limit_files=2 * budget.files + 100, limit_bytes=min(budget.bytes, 1 << 30))
        from agent.execution.rehearsal import present

        changes, totals, more = present.present(read)
        user = sandbox.spec.layout == "user"
        remarks = (
            *read.remarks,
            *not_shown.not_made_real(changes),
            *refused(command.report, result, before.cwd, user=user),
        )
        self._count += 1
        rehearsal = Rehearsal(
            rehearsal_id=f"{sandbox.scratch.name.decode('ascii')}-{self._count}",
            command=command.command,
            cwd=before.cwd,
            result=result,
            changes=changes,
            totals=totals,
            more=more,
            not_shown=not_shown.lines(
                ran.reports,
                sandbox.layout,
                user=user,
                network=command.network,
                elevated=any(program.elevated for program in command.report.programs),
                remarks=remarks,
            ),
            obstacle=self._obstacle(ran, result, budget)
            or read.obstacle
            or (refused_in_reality(read.steps) if user else "")
            or (
                otherwise_for_real(command.report, ran.reports, sandbox.layout, remarks, before.cwd)
                if command.preview
                else ""
            ),
            shell=change_words(before, after) if after is not None else (),
        )
        self._held[rehearsal.rehearsal_id] = _Held(rehearsal, sandbox, ran.layers, read.steps, before, after)
        return rehearsal

    def _obstacle(self, ran: Ran, result: ExecutionResult, budget: Budget) -> str:
        if reached := ran.said("budget"):
            return budget.exceeded(str(reached["what"]))
        for note in result.notes:
            if note.startswith(ENDED):
                return f"{note.removeprefix(ENDED)}, and was ended, so this is not all that it would do"
        if result.timed_out:
            return "it was ended after its time-out, so this is not all that it would do"
        if result.interrupted:
            return "it was interrupted, so this is not all that it would do"
        if ran.said("ended") is None:
            return "the process that guards the rehearsal was ended, or had no room for its report, so this is not all that it would do"
        return ""

    def _commit(self, held: _Held, command: ApprovedCommand, session: str) -> Committed:
        from agent.execution.journal.records import Entry, now
        from agent.execution.journal.store import Journals

        settings = self._settings
        journals = Journals(settings.state_dir, keep_bytes=settings.keep_bytes, keep_days=settings.keep_days)
        text, cwd = settings.redact(command.command), held.rehearsal.cwd
        run = Entry("", now(), text, cwd, session=session, command_id=command.command_id)
        try:
            done = journals.commit(held.layers, held.steps, run)
        except (RehearsalConflict, CommitFailed) as error:
            error.resumed = journals.take_resumed()
            raise
        return structs.replace(done, resumed=journals.take_resumed())
