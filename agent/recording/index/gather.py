"""Gather what the index keeps of a session, line by line. The state can be stored at any line and taken up again at the next one."""

from __future__ import annotations

from typing import Any

from agent.recording.index.values import (
    COMMAND_KEPT,
    COMMANDS_KEPT,
    FAILURES,
    GOAL_KEPT,
    MESSAGES_KEPT,
    RANKS,
    STOPS,
    Command,
    Goal,
    Session,
)
from agent.recording.line import STAMP_LENGTH, Line, as_written, kept, microseconds, real, whole


class Gatherer:
    """Takes the lines of one session. What is complete is in `done` until it is taken from there."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.done: list[Goal] = []

    def take(self, line: Line | None) -> None:
        """The next line of the log, None for one that is none."""
        session = self.session
        if line is None:
            session.bad_lines += 1
            return
        stamp = line.time
        if len(stamp) != STAMP_LENGTH or stamp[26] != "Z":
            stamp = line.time = as_written(stamp)
        # Stamps sort as the times do, and reading them costs. That a log was scrubbed is nothing that was done in the session.
        if stamp > session.latest and line.type != "log.scrubbed":
            session.latest = stamp
        if not session.began:
            session.began = microseconds(stamp) or 0
        handler = _HANDLERS.get(line.type)
        if handler is not None:
            handler(self, line)

    def _at(self, line: Line) -> int:
        """Return when it was written; where that cannot be read, the latest time before."""
        at = microseconds(line.time)
        return at if at is not None else self.session.ended

    def _session_started(self, line: Line) -> None:
        self.session.cwd = self.session.cwd or kept(line.cwd, GOAL_KEPT)
        self.session.frontend = self.session.frontend or kept(line.frontend, 40)
        self.session.finished = False

    def _session_finished(self, line: Line) -> None:
        self._close("interrupted")
        self.session.finished = True

    def _session_named(self, line: Line) -> None:
        self.session.name = kept(line.name, 200)

    def _compressed(self, line: Line) -> None:
        session, usage = self.session, line.usage
        if usage is not None:
            session.tokens = whole(session.tokens + whole(usage.input_tokens) + whole(usage.output_tokens))
            if usage.cost is not None:
                session.cost = (session.cost or 0.0) + real(usage.cost)

    def _session_pruned(self, line: Line) -> None:
        session = self.session
        session.status, session.goals, session.finished = "pruned", max(0, whole(line.goals)), True
        session.began = microseconds(line.began) or session.began
        session.latest = as_written(line.ended) if microseconds(line.ended) is not None else session.latest

    def _goal_started(self, line: Line) -> None:
        self._close("interrupted")
        session, at = self.session, self._at(line)
        session.finished = False
        session.goal = session.goal or kept(line.goal, GOAL_KEPT)
        session.goals += 1
        session.open = Goal(
            goal_id=kept(line.goal_id, 100),
            at=at,
            seq=whole(line.seq),
            goal=kept(line.goal, GOAL_KEPT),
            origin=kept(str(line.origin), 40) if isinstance(line.origin, str) else "goal",
            cwd=kept(line.cwd, GOAL_KEPT) or session.cwd,
            planner=kept(line.planner, 100),
            model=kept(line.model, 100),
            private=line.private or line.unlisted,
            commands=[],
            last=line.time,
        )

    def _goal_finished(self, line: Line) -> None:
        goal = self._of(line)
        if goal is None:
            return
        goal.exit_code = whole(line.exit_code)
        goal.message = kept(line.message, MESSAGES_KEPT)
        goal.duration = real(line.duration)
        goal.steps = whole(line.steps)
        goal.planner, goal.model = kept(line.planner, 100) or goal.planner, kept(line.model, 100) or goal.model
        if line.usage is not None and (line.usage.input_tokens or line.usage.output_tokens or line.usage.cost):
            goal.tokens_in, goal.tokens_out = whole(line.usage.input_tokens), whole(line.usage.output_tokens)
            goal.cost = None if line.usage.cost is None else real(line.usage.cost)
        self._close(kept(line.status, 40) or "interrupted")

    def _close(self, status: str) -> None:
        session, goal = self.session, self.session.open
        if goal is None:
            return
        goal.status = status
        if goal.exit_code is None:
            goal.duration = max(0, (microseconds(goal.last) or goal.at) - goal.at) / 1e6
        session.open = None
        session.status = status
        session.failed += status in FAILURES
        session.stopped += status in STOPS
        session.edited += goal.edited
        session.commands += len(goal.commands) + goal.more
        session.risk = max(session.risk, goal.risk)
        session.duration += goal.duration
        session.tokens = whole(session.tokens + goal.tokens_in + goal.tokens_out)
        if goal.cost is not None:
            session.cost = (session.cost or 0.0) + goal.cost
        self.done.append(goal)

    def _of(self, line: Line) -> Goal | None:
        goal = self.session.open
        return goal if goal is not None and goal.goal_id == line.goal_id[:100] else None

    def _planner_finished(self, line: Line) -> None:
        goal = self._of(line)
        if goal is None:
            return
        goal.last = line.time
        if line.usage is not None:
            goal.tokens_in = whole(goal.tokens_in + whole(line.usage.input_tokens))
            goal.tokens_out = whole(goal.tokens_out + whole(line.usage.output_tokens))
            if line.usage.cost is not None:
                goal.cost = real((goal.cost or 0.0) + real(line.usage.cost))

    def _message(self, line: Line) -> None:
        goal = self._of(line)
        if goal is not None and len(goal.messages) < MESSAGES_KEPT:
            goal.last = line.time
            goal.messages += kept(line.text, MESSAGES_KEPT - len(goal.messages)) + "\n"

    def _proposed(self, line: Line) -> None:
        goal = self._of(line)
        if goal is None:
            return
        goal.last = line.time
        if len(goal.commands) >= COMMANDS_KEPT:
            goal.more += 1
            return
        goal.commands.append(
            Command(
                command_id=kept(line.command_id, 100),
                proposed=kept(line.command, COMMAND_KEPT),
                origin=kept(line.origin, 40) if isinstance(line.origin, str) else "",
                cwd=kept(line.cwd, GOAL_KEPT) or goal.cwd,
                began=line.time,
                at=self._at(line),
            )
        )

    def _command(self, line: Line) -> Command | None:
        goal = self._of(line)
        if goal is None:
            return None
        goal.last = line.time
        for command in reversed(goal.commands):
            if command.command_id == line.command_id[:100]:
                return command
        return None

    def _of_command(self, line: Line) -> None:
        command = self._command(line)
        if command is None:
            return
        match line.type:  # of hostile lines no more than has its place in a row
            case "command.rated" if line.report is not None:
                command.risk = max(command.risk, RANKS.get(line.report.level, 0))
                line.report.level = kept(line.report.level, 10)
            case "command.confirmed":
                line.command, line.remark = kept(line.command, COMMAND_KEPT), ""
                line.decision, line.by = kept(line.decision, 40), kept(line.by, 40)
            case "command.started":
                line.command, line.cwd = kept(line.command, COMMAND_KEPT), kept(line.cwd, GOAL_KEPT)
                line.via, line.confine = "rehearsal" if line.via == "rehearsal" else "", "off"
                command.at = self._at(line)
            case "command.finished":
                result, line.exit_code, line.undo_id = line.result, whole(line.exit_code), ""
                result.duration, result.job, result.signal = real(result.duration), whole(result.job), None
                result.cwd_after, result.notes, result.refused = "", (), ()
        command.take(line.type, line, line.time)


_HANDLERS: dict[str, Any] = {
    "session.started": Gatherer._session_started,
    "session.finished": Gatherer._session_finished,
    "session.named": Gatherer._session_named,
    "compression.finished": Gatherer._compressed,
    "session.pruned": Gatherer._session_pruned,
    "goal.started": Gatherer._goal_started,
    "goal.finished": Gatherer._goal_finished,
    "planner.finished": Gatherer._planner_finished,
    "assistant.message": Gatherer._message,
    "command.proposed": Gatherer._proposed,
    "command.rated": Gatherer._of_command,
    "command.confirmed": Gatherer._of_command,
    "command.started": Gatherer._of_command,
    "command.output": Gatherer._of_command,
    "command.finished": Gatherer._of_command,
}
