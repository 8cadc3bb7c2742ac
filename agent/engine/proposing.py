"""From a command that somebody wants run to what became of it: guard, gate, guard again, and what that means for the goal."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from agent.engine.budget import Budget
from agent.engine.context import AppState, RequestContext
from agent.engine.guard import RepeatGuard
from agent.engine.stream import EventStream
from agent.engine.summary import GoalEnded, goes_on
from agent.gate.gate import Gate
from agent.gate.verdicts import Judges, rate
from agent.protocol.confinement import strictest
from agent.protocol.decisions import PlanPlace, Proposal
from agent.protocol.errors import PlannerError
from agent.protocol.events import PlannerNoted, Warned
from agent.protocol.messages import CommandItem, NoteItem
from agent.protocol.outcomes import ExitCode, GoalStatus
from agent.protocol.ports import Confirmer
from agent.protocol.replies import Command
from agent.protocol.requests import RunOptions
from agent.waiting import computed


class Proposer:
    """The commands of one goal. `items` is what became of each; `place` is where in a plan the next ones stand."""

    def __init__(
        self, app: AppState, ctx: RequestContext, options: RunOptions, *, stream: EventStream, confirmer: Confirmer,
        budget: Budget,
    ) -> None:  # fmt: skip
        self._app = app
        self._ctx = ctx
        self._options = options
        self._stream = stream
        self._budget = budget
        self.guard = RepeatGuard()
        self._judges = Judges(
            app.classify,
            app.decide,
            app.facts,
            ctx.redactor,
            lambda: app.open_stream_redaction(ctx.redactor),
            app.is_root,
            policy=lambda cwd: app.policy(cwd, ctx.rules),
            rules_due=app.rules_due,
            rules_seen=app.rules_seen,
            changed=app.changed,
            rate_action=app.rate_action,
        )
        self.gate = Gate(
            self._judges,
            executor=ctx.executor,
            confirmer=confirmer,
            events=stream,
            # An embedding program's options say nothing of what the person set for the session.
            approval=replace(options.approval, confine=strictest((options.approval.confine, ctx.confine))),
            cancel=options.cancel,
            max_chars=options.limits.max_command_chars,
            rehearser=ctx.rehearser,
            checkpoints=ctx.checkpoints,
            performer=app.performer,
            session=ctx.session_id,
        )
        self.items: list[CommandItem] = []
        self.place: PlanPlace | None = None
        self._skips = 0
        self._commands = 0

    async def note(self, text: str) -> None:
        """A line of the host's for the planner."""
        await self._stream.send(PlannerNoted(text=text))
        self._ctx.history.append(NoteItem(text=text))

    async def level(self, command: str) -> str:
        """How `command` would be rated now. Only to be looked at: the gate rates it when it is proposed."""
        report, _ = await computed(partial(rate, self._judges, command, self._ctx.cwd, self._ctx.executor))
        return report.level.value

    async def own(self, command: str, *, origin: str, private: bool) -> CommandItem:
        """The person's own command. A private one stays out of the history."""
        item = await self._through_gate(Command(command=command), origin=origin)
        self.items.append(item)
        if not private:
            self._ctx.history.append(item)
        return item

    async def planned(self, reply: Command, call_id: str = "") -> CommandItem:
        """A planner's command: guard, gate, guard again; the item is in the history when this returns."""
        command = reply.command
        words = await computed(partial(self._app.normal_form, command))
        before = self.guard.before(words, self._ctx.cwd)
        if before.kind == "error":
            raise PlannerError(before.text, hint="say what should be done differently")
        if before.kind == "note":
            await self.note(before.text)
        item = await self._through_gate(reply, origin="planner", call_id=call_id)
        self.items.append(item)
        self._ctx.history.append(item)
        if item.outcome == "ran":
            run_words = words if item.run == command else await computed(partial(self._app.normal_form, item.run))
            output = f"{item.stdout}\n{item.stderr}"
            note = self.guard.after(run_words, item.cwd, item.exit_code or 0, output, item.interrupted)
            if note:
                await self.note(note)
        return item

    async def _through_gate(self, reply: Command, *, origin: str, call_id: str = "") -> CommandItem:
        self._commands += 1
        self._ctx.last_command = reply.command
        if origin == "planner":
            self._ctx.last_alternatives = reply.alternatives
        self.gate.timeout = self._budget.command_timeout
        proposal = Proposal(
            command_id=f"{self._stream.goal_id}.{self._commands}",
            command=reply.command,
            origin=origin,
            reason=reply.reason,
            cwd=self._ctx.cwd,
            call_id=call_id,
            opinion=reply.opinion,
            reading=reply.reading,
            unused=reply.unused,
            alternatives=reply.alternatives,
            place=self.place,
            look=reply.look,
        )
        return await self.gate.run(proposal)

    async def react(self, item: CommandItem) -> None:
        """What a command's fate means for the goal: go on (return) or end it."""
        if item.remark == "dry run":
            raise GoalEnded(GoalStatus.ANSWERED, "dry run: nothing was run")
        if item.job:
            raise GoalEnded(GoalStatus.HANDED_OFF, goes_on(item))
        if item.interrupted:
            raise GoalEnded(GoalStatus.INTERRUPTED, "interrupted")
        if item.outcome == "cancelled":
            raise GoalEnded(GoalStatus.CANCELLED, "cancelled")
        if item.outcome == "declined" and not self._options.approval.interactive:
            raise GoalEnded(GoalStatus.SKIPPED, item.remark)
        if item.outcome in ("skipped", "declined"):
            await self._skipped(item)
            return
        if item.outcome == "refused":
            refused = [other for other in self.items if other.outcome == "refused"]
            await self._stream.send(Warned(text=f"not run: {item.remark}"))
            if len(refused) >= 2:
                raise GoalEnded(GoalStatus.BLOCKED_BY_POLICY, item.remark)
            return
        self._skips = 0
        self._budget.check()

    async def _skipped(self, item: CommandItem) -> None:
        """Once, the planner may offer something else; but what comes after a step of a plan counts on it."""
        if self.place is not None:
            raise GoalEnded(GoalStatus.SKIPPED, f"step {self.place.number} of the plan was {item.outcome}")
        self._skips += 1
        if self._skips >= 2:
            raise GoalEnded(GoalStatus.CANCELLED, "two skips in a row", exit_code=ExitCode.DECLINED)
