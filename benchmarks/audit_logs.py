"""Synthetic session logs: many goals through the real encoding, each log with a valid chain. The same seed gives the same bytes.

    python -m benchmarks.audit_logs FOLDER --goals 100000

A log is what a person's session looks like: goals in plain words and `!commands`, answers, failures, edits, refusals, labels of secrets,
private goals, a crash now and then. About 25 goals a session, 11 events and 6 kB a goal.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import structs

from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskReport, Verdict
from agent.protocol.errors import ErrorInfo
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandProposed,
    CommandRated,
    CommandStarted,
)
from agent.protocol.events.goal import (
    GoalStarted,
    PlannerFinished,
    PlannerStarted,
    RunFinished,
    RunStarted,
    goal_finished,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantMessage, SessionFinished, SessionStarted
from agent.protocol.messages import EnvironmentFacts
from agent.protocol.outcomes import (
    EXIT_CODE_OF_STATUS,
    CapturedStream,
    CommandSummary,
    ExecutionResult,
    GoalStatus,
    GoalSummary,
    RunOutcome,
    Usage,
)
from agent.protocol.records import Record, encode
from benchmarks.audit_words import CASES, FOLDERS, MODELS, NAMES, Case

FIRST_HASH = "0" * 64
UNTIL = 1_793_491_200  # 2026-11-01T00:00:00Z


@dataclass
class Written:
    """What `write_sessions` has written."""

    sessions: int = 0
    goals: int = 0
    commands: int = 0
    events: int = 0
    bytes: int = 0


def write_sessions(
    folder: str,
    *,
    goals: int,
    seed: int = 0,
    goals_per_session: int = 25,
    days: int = 365,
    until: int = UNTIL,
    crashes: float = 0.01,
) -> Written:
    """Write logs with `goals` goals into `folder` (made, 0700), the last one at `until` (seconds since the epoch) at the latest.

    `crashes`: the share of sessions that end without `session.finished`, in the middle of a goal.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    dice = random.Random(seed)
    written = Written()
    begins = (until - days * 86_400) * 1_000_000
    sessions = max(1, round(goals / goals_per_session))
    for number in range(sessions):
        count = _share(goals - written.goals, sessions - number, dice)
        if not count:
            continue
        at = begins + days * 86_400_000_000 * number // sessions + dice.randrange(3_600_000_000)
        log = _Log(dice, min(at, until * 1_000_000 - 3_600_000_000))
        data = log.session(count, crashed=dice.random() < crashes)
        path = os.path.join(folder, f"{_iso(log.began)[:10]}-{log.session_id}.jsonl")
        with open(path, "wb", opener=_private) as file:
            file.write(data)
        written.sessions += 1
        written.goals += count
        written.commands += log.commands
        written.events += log.seq
        written.bytes += len(data)
    return written


def _share(left: int, sessions: int, dice: random.Random) -> int:
    """How many of the goals that are left this session gets: all of the rest in the last one."""
    if sessions == 1:
        return left
    mean = left / sessions
    return min(left, max(1, int(dice.triangular(1, 2 * mean, mean))))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _iso(microseconds: int) -> str:
    seconds, rest = divmod(microseconds, 1_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:06d}Z"


class _Log:
    """One session while it is made up."""

    def __init__(self, dice: random.Random, began: int) -> None:
        self.began = began
        self.session_id = f"{_iso(began)[11:19].replace(':', '')}-{dice.getrandbits(30):08x}"
        self.seq = 0
        self.commands = 0
        self._dice = dice
        self._now = began
        self._prev = FIRST_HASH
        self._lines: list[bytes] = []
        self._run = ""
        self._goal = ""
        self._cwd = dice.choice(FOLDERS)
        self._planner, self._model, self._price = dice.choice(MODELS)

    def session(self, goals: int, *, crashed: bool) -> bytes:
        self._add(
            SessionStarted(
                session_id=self.session_id, program="agent-shell 0.1.0", frontend="repl", cwd=self._cwd, pid=4242
            )
        )
        for number in range(goals):
            self._now += self._dice.randrange(2_000_000, 90_000_000)
            self._one_goal(cut=crashed and number == goals - 1)
        if not crashed:
            self._add(SessionFinished(reason="closed", goals=goals))
        return b"".join(self._lines)

    def _add(self, event: Event, *, after: float = 0.0004) -> None:
        """One record, `after` seconds after the one before."""
        self.seq += 1
        self._now += int(after * 1e6)
        record = Record(
            v=1, seq=self.seq, time=_iso(self._now), session=self.session_id, run=self._run, goal_id=self._goal,
            event=event, prev=self._prev,
        )  # fmt: skip
        line = encode(record)
        self._prev = hashlib.sha256(line[:-1]).hexdigest()
        self._lines.append(line)

    def _id(self, bits: int) -> str:
        return f"{self._dice.getrandbits(bits):0{bits // 4}x}"

    def _one_goal(self, *, cut: bool) -> None:
        dice = self._dice
        case = dice.choice(CASES)
        name, number = dice.choice(NAMES), dice.randrange(1, 10_000)
        own = dice.random() < 0.2 and bool(case.command)
        command = case.command.format(name=name, number=number)
        words = command if own else case.goal.format(name=name, number=number)
        self._run, self._goal = self._id(64), ""
        began = self._now
        self._add(RunStarted(request_id=self._run, session_id=self.session_id))
        self._goal = self._id(48)
        self._add(
            GoalStarted(
                goal=words, origin="shell" if own else "goal", cwd=self._cwd, planner=self._planner, model=self._model,
                environment=None if own else _surroundings(self._cwd), private=dice.random() < 0.01,
            ),
            after=0.01,
        )  # fmt: skip
        summary = GoalSummary(goal_id=self._goal, goal=words, status=GoalStatus.COMPLETED, exit_code=0)
        for part in self._steps(case, command, own=own, name=name, number=number, cut=cut):
            summary = part
        if cut:
            return
        took = round((self._now - began) / 1e6, 6)
        summary = structs.replace(summary, goal=words, planner=self._planner, model=self._model, duration=took)
        self._add(goal_finished(summary))
        outcome = RunOutcome(
            request_id=self._run, session_id=self.session_id, exit_code=summary.exit_code, goal=summary,
            final_message=summary.message or None, turns=summary.steps,
        )  # fmt: skip
        self._goal, run = "", RunFinished(outcome=outcome)
        self._add(run)
        self._run = ""

    def _steps(
        self, case: Case, command: str, *, own: bool, name: str, number: int, cut: bool
    ) -> Iterator[GoalSummary]:
        """The events between start and end of a goal; the last thing that is yielded is its summary."""
        usage, steps = Usage(), 0
        if not own:
            steps, usage = 1, self._planned(1, case, command)
            if not usage.output_tokens and self._price is not None:
                error = "the model's server answered 529 overloaded"
                yield self._summary(GoalStatus.PLANNER_ERROR, (), error, usage, steps)
                return
        if not command:
            text = case.answer.format(name=name, number=number)
            self._add(AssistantMessage(text=text))
            yield self._summary(GoalStatus.ANSWERED, (), text, usage, steps)
            return
        ran = self._command(case, command, own=own, name=name, number=number, cut=cut)
        if ran is None:
            return
        status, message = _status_of(ran)
        if not own and status is GoalStatus.COMPLETED:
            self._add(AssistantMessage(text=case.answer.format(name=name, number=number)))
            message = case.answer.format(name=name, number=number)
        yield self._summary(status, (ran,), message, usage, steps)

    def _planned(self, step: int, case: Case, command: str) -> Usage:
        dice = self._dice
        self._add(PlannerStarted(step=step, planner=self._planner, model=self._model))
        took = dice.uniform(0.3, 4.0) if self._price is not None else 0.04
        if self._price is not None and dice.random() < 0.02:
            error = ErrorInfo(code="provider", message="the model's server answered 529 overloaded")
            self._add(PlannerFinished(step=step, reply="error", duration=took, error=error), after=took)
            return Usage()
        spent = (dice.randrange(900, 6000), dice.randrange(20, 300)) if self._price is not None else (0, 0)
        cost = round(spent[0] * (self._price or 0) + spent[1] * 5 * (self._price or 0), 8)
        usage = Usage(input_tokens=spent[0], output_tokens=spent[1], cost=cost if self._price is not None else None)
        reply = "command" if command else "chat"
        raw = f'{{"mode":"{reply}","{"command" if command else "message"}":"{(command or case.answer)[:60]}"}}'
        done = PlannerFinished(step=step, reply=reply, raw=raw, model=self._model, usage=usage, duration=took)
        self._add(done, after=took)
        return usage

    def _command(
        self, case: Case, command: str, *, own: bool, name: str, number: int, cut: bool
    ) -> CommandSummary | None:
        """One command from its proposal to its end, None where the log is cut while it runs."""
        dice = self._dice
        self.commands += 1
        command_id = f"{self._goal}.1"
        origin = "person" if own else "planner"
        self._add(
            CommandProposed(
                command_id=command_id, command=command, origin=origin, reason=case.goal.format(name=name, number=number),
                cwd=self._cwd,
            )
        )  # fmt: skip
        level = Level(case.level)
        self._add(_rated(command_id, "proposed", command, case, self._cwd), after=0.02)
        decision, by, run = _decided(dice, level, command)
        if decision == "edited":
            self._add(_rated(command_id, "edited", run, case, self._cwd), after=dice.uniform(1, 20))
        asked = dice.uniform(0.5, 15) if by == "person" else 0.0003
        confirmed = CommandConfirmed(
            command_id=command_id, decision=decision, by=by, command=run, word_typed=level is Level.HIGH and bool(run)
        )
        self._add(confirmed, after=asked)
        summary = CommandSummary(
            command_id=command_id, proposed=command, run=run, outcome="ran" if run else decision, origin=origin,
            risk=case.level, edited=bool(run) and run != command,
        )  # fmt: skip
        if not run:
            return summary
        self._add(CommandStarted(command_id=command_id, command=run, cwd=self._cwd))
        if cut:
            return None
        return self._ran(case, summary, name=name, number=number)

    def _ran(self, case: Case, summary: CommandSummary, *, name: str, number: int) -> CommandSummary:
        dice = self._dice
        code = case.exit_code if case.exit_code and dice.random() < 0.3 else 0
        output = (case.error if code else case.output).format(name=name, number=number)
        if "\n" in output and not code:
            output *= dice.randrange(1, 6)
        took = dice.expovariate(2.0)
        stream = "stderr" if code else "stdout"
        if output:
            self._add(
                CommandOutput(command_id=summary.command_id, stream=stream, data=output, offset=round(took, 3)),  # type: ignore[arg-type]
                after=took,
            )
        size, none = CapturedStream(total_bytes=len(output.encode())), CapturedStream()
        result = ExecutionResult(
            exit_code=code,
            stdout=none if code else size,
            stderr=size if code else none,
            duration=took,
            cwd_after=self._cwd,
        )
        self._add(CommandFinished(command_id=summary.command_id, exit_code=code, result=result))
        return structs.replace(
            summary,
            exit_code=code,
            duration=round(took, 6),
            stdout="" if code else output,
            stderr=output if code else "",
        )

    def _summary(
        self,
        status: GoalStatus,
        ran: tuple[CommandSummary, ...],
        message: str,
        usage: Usage,
        steps: int,
    ) -> GoalSummary:
        return GoalSummary(
            goal_id=self._goal, goal="", status=status, exit_code=EXIT_CODE_OF_STATUS[status], message=message,
            commands=ran, messages=(message,) if message and status is not GoalStatus.PLANNER_ERROR else (), usage=usage,
            steps=steps,
        )  # fmt: skip


def _status_of(ran: CommandSummary) -> tuple[GoalStatus, str]:
    if ran.outcome == "refused":
        return GoalStatus.BLOCKED_BY_POLICY, "policy refuses this command"
    if ran.outcome != "ran":
        return GoalStatus.SKIPPED, ""
    return (GoalStatus.FAILED if ran.exit_code else GoalStatus.COMPLETED), ""


def _decided(dice: random.Random, level: Level, command: str) -> tuple[str, str, str]:
    """Decision, by whom, and the command that runs ("" for none)."""
    roll = dice.random()
    if level is Level.LOW and roll < 0.6:
        return "approved", "approve-mode", command
    if level is Level.HIGH and roll < 0.05:
        return "refused", "policy", ""
    if roll < 0.08:
        return "declined", "nobody", ""
    if roll < 0.13:
        return "skipped", "person", ""
    if roll < 0.25:
        return "edited", "person", f"{command} --verbose"
    return "approved", "person", command


def _rated(command_id: str, stage: str, command: str, case: Case, cwd: str) -> CommandRated:
    level = Level(case.level)
    words = tuple(command.split(" "))
    findings: tuple[Finding, ...] = ()
    if case.rule:
        findings = (
            Finding(
                rule=case.rule, level=level, reason=case.reason, span=(0, len(command)), program=0,
                effect=Effect(kind=case.rule.partition(".")[0], scope="workspace", targets=words[-1:]),
            ),
        )  # fmt: skip
    program = ProgramRun(words=words, span=(0, len(command)), cwd=cwd, level=level)
    report = RiskReport(command=command, level=level, findings=findings, programs=(program,))
    action = {"low": "allow", "medium": "ask", "high": "type"}[case.level]
    verdict = Verdict(action=action, reason=f"{case.level} risk", rule=f"level-{case.level}")  # type: ignore[arg-type]
    return CommandRated(command_id=command_id, stage=stage, report=report, verdict=verdict)


def _surroundings(cwd: str) -> EnvironmentFacts:
    return EnvironmentFacts(
        cwd=cwd, os="Debian GNU/Linux 12", shell="bash", home="/home/user", tools=("git", "make", "curl")
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Write synthetic session logs.")
    parser.add_argument("folder")
    parser.add_argument("--goals", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.process_time()
    print(
        write_sessions(options.folder, goals=options.goals, seed=options.seed), f"{time.process_time() - began:.1f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
