"""Every event variant at least once, with what comes before it; and a record around an event."""

from __future__ import annotations

from msgspec.structs import replace

from agent.protocol.confirmations import Alternative
from agent.protocol.decisions import Effect, Finding, Level, RiskReport, Verdict
from agent.protocol.errors import ErrorInfo
from agent.protocol.events.command import (
    ApprovalGiven,
    ApprovalRequested,
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandProposed,
    CommandRated,
    CommandStarted,
    JobFinished,
    JobStarted,
    RehearsalFinished,
    RehearsalStarted,
    UndoFinished,
    UndoStarted,
)
from agent.protocol.events.goal import (
    CompressionFinished,
    CompressionStarted,
    ContinueTriggered,
    CycleFinished,
    CyclePlanned,
    CycleStarted,
    GoalFinished,
    GoalStarted,
    PlanFinished,
    PlannerFinished,
    PlannerNoted,
    PlannerStarted,
    PlanProposed,
    PlanStepped,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.interview import (
    FieldExtracted,
    HandedOver,
    InterviewStarted,
    InterviewStepped,
    InterviewTurned,
    InterviewWentBack,
    SidebarShown,
)
from agent.protocol.events.known import Event, UnknownEvent
from agent.protocol.events.session import (
    AssistantDelta,
    AssistantMessage,
    AssistantThought,
    ChoiceMade,
    ChoicesOffered,
    CoreCommandFinished,
    Failed,
    LibraryChanged,
    LogContinued,
    LogRepaired,
    LogRotated,
    LogScrubbed,
    MemoryForgotten,
    Notice,
    RuleAdded,
    RuleRemoved,
    SessionChanged,
    SessionFinished,
    SessionNamed,
    SessionPruned,
    SessionStarted,
    Warned,
)
from agent.protocol.outcomes import WORD_NOT_TYPED, ExecutionResult, RunOutcome, Usage
from agent.protocol.records import Record
from agent.protocol.rehearsals import Change, Conflict, FileState, Totals
from agent.protocol.replies import PlanStep

MODES = {
    "colour terminal": {},
    "terminal without colour": {"color": False},
    "no terminal": {"tty": False, "color": False, "show_commands": True},
    "verbose": {"verbose_tool_calls": True, "show_commands": True},
}
FINDING = Finding(
    rule="delete.recursive", level=Level.MEDIUM, reason="deletes a folder and all that is in it", span=(0, 12),
    effect=Effect(kind="delete"),
)  # fmt: skip
REPORT = RiskReport(command="rm -rf build", level=Level.MEDIUM, findings=(FINDING,))
RATED = CommandRated(command_id="c", stage="proposed", report=REPORT, verdict=Verdict(action="ask"))
PLAN = PlanProposed(
    plan=1,
    planned=(
        PlanStep(goal="make a folder out", command="mkdir -p out"),
        PlanStep(goal="copy all pdf files into it", command="cp -- *.pdf out/"),
        PlanStep(goal="list it"),
    ),
    message="I take three steps.",
    levels=("low", "medium", ""),
)
PROPOSED = CommandProposed(command_id="c", command="rm -rf build")
STARTED = CommandStarted(command_id="c", command="rm -rf build")


_FILE = FileState(kind="file", mode=0o644, uid=0, gid=0, size=8, mtime=1)
_TREE = FileState(kind="dir", mode=0o755, uid=0, gid=0, entries=12, total_bytes=3_400)
CHANGES = (
    Change(path="/work/build", op="delete", kind="dir", before=_TREE),
    Change(
        path="/work/a",
        op="modify",
        kind="file",
        before=_FILE,
        after=replace(_FILE, size=1_200, mode=0o4755),
        flags=("setuid",),
    ),
    Change(path="/work/b", op="rename", kind="file", source="/work/old", before=_FILE, after=_FILE),
    Change(path="/work/c", op="meta", kind="file", before=_FILE, after=replace(_FILE, uid=1000)),
    Change(path="/etc/d", op="create", kind="link", after=replace(_FILE, kind="link", target="/x")),
    Change(path="/work/e", op="type", kind="dir", before=_FILE, after=replace(_TREE, entries=0)),
)
HOSTILE = (
    Change(path="/work/a\n\x1b[31mb", op="create", kind="file", after=_FILE, flags=("world-writable",)),
    Change(path="/work/l", op="create", kind="link", after=replace(_FILE, kind="link", target="\x1b]52;c;x\x07")),
)
REHEARSED = RehearsalFinished(
    command_id="c", outcome="finished", exit_code=0, changes=CHANGES, more=2, not_shown=("network: curl wanted it",),
    totals=Totals(created=1, modified=1, deleted=1, meta=1, renamed=1, retyped=1, bytes_written=1_208, bytes_lost=3_400),
)  # fmt: skip


def confirmed(decision: str, by: str, command: str = "") -> CommandConfirmed:
    return CommandConfirmed(command_id="c", decision=decision, by=by, command=command)


def finished(code: int, **result: object) -> CommandFinished:
    return CommandFinished(command_id="c", exit_code=code, result=ExecutionResult(exit_code=code, **result))


def goal(status: str, code: int, **more: object) -> GoalFinished:
    return GoalFinished(goal="g", status=status, exit_code=code, duration=1.25, **more)


CYCLE = CycleStarted(
    task=10, title="Read settings", branch="agent/task-10", worktree="/state/worktrees/repo-10", base="4be1c09"
)  # fmt: skip
WORKED: tuple[Event, ...] = (
    CYCLE,
    CyclePlanned(plan="Read the parser, add the key, test.", calls=("write_file", "run_tests", "finish_feature", "finish")),
    ToolStarted(call_id="1", name="write_file", args={"path": "src/settings.py", "content": "x\n"}),
    ToolFinished(call_id="1", name="write_file", result="wrote 2 characters to src/settings.py"),
    ToolStarted(call_id="2", name="run_tests"),
    ToolFinished(call_id="2", name="run_tests", result='{"ok": false, "exit_code": 1, "passed": 10, "total": 12}', is_error=True),
    ToolStarted(call_id="3", name="finish_feature"),
    ToolFinished(call_id="3", name="finish_feature", result="skipped: run_tests failed", is_error=True),
    ToolStarted(call_id="4", name="finish"),
    ToolFinished(call_id="4", name="finish", result="skipped: run_tests failed", is_error=True),
    ToolStarted(call_id="5", name="finish_feature", args={"task_id": 10, "feature_id": 1, "title": "Read TOML"}),
    ToolFinished(call_id="5", name="finish_feature", result="feature 10.1 is committed as 3f1c2aa; pushed to origin"),
)  # fmt: skip
WORK_DONE = GoalFinished(
    goal="task 10", status="completed", exit_code=0, commands=[{"outcome": "ran", "duration": 2.5}],
    usage=Usage(input_tokens=9_000, output_tokens=800, cost=0.0421),
)  # fmt: skip

# A name beginning with the event's type, and the events; the last one is the one to look at.
CASES: dict[str, list[Event]] = {
    "session.started": [SessionStarted(session_id="s")],
    "session.finished": [SessionFinished()],
    "session.pruned": [SessionPruned(before="0" * 64, events=12, bytes=3_400, goals=2, reason="older than 90 days")],
    "log.repaired": [LogRepaired(line=7, bytes=12, hash="0" * 64, text="line 7 was cut short")],
    "log.rotated": [LogRotated(next="2026-01-01-a~2.jsonl")],
    "log.continued": [LogContinued(segment=2, previous="2026-01-01-a.jsonl")],
    "log.scrubbed": [LogScrubbed(secrets={"aws-key-id": 2}, lines=1, first_line=3, before="0" * 64)],
    "run.started": [RunStarted(request_id="r")],
    "run.finished": [RunFinished(outcome=RunOutcome(request_id="r"))],
    "goal.started": [GoalStarted(goal="list files")],
    "goal.finished": [
        PlannerFinished(step=1, reply="command", duration=0.25),
        goal("completed", 0, commands=[{"outcome": "ran", "duration": 0.5}, {"outcome": "ran", "duration": 0.25}]),
    ],
    "goal.finished-answered": [
        PlannerFinished(step=1, reply="chat", duration=0.75), AssistantMessage(text="hi"), goal("answered", 0, message="hi"),
    ],
    "goal.finished-failed": [
        goal("failed", 2, commands=[{"outcome": "ran"}, {"outcome": "ran"}], message="it failed",
             usage=Usage(input_tokens=1200, output_tokens=34, cost=0.00123))
    ],
    "goal.finished-skipped": [goal("cancelled", 6, message="two skips in a row", commands=[{"outcome": "skipped"}] * 2)],
    "goal.finished-word-not-typed": [
        PROPOSED, RATED, confirmed("declined", "person", "rm -rf build"),
        goal("skipped", 6, message=WORD_NOT_TYPED, commands=[{"outcome": "declined", "run": "rm -rf build"}]),
    ],
    "goal.finished-planner-error": [
        Failed(error=ErrorInfo(code="planner", message="no reply")), goal("planner_error", 4, message="no reply"),
    ],
    "goal.finished-cut-off": [AssistantDelta(text="I was about to"), goal("interrupted", 130, message="interrupted")],
    "planner.started": [PlannerStarted(step=1, planner="openrouter", model="m")],
    "planner.finished": [PlannerStarted(step=1), PlannerFinished(step=1, reply="command")],
    "plan.proposed": [PLAN],
    "plan.proposed-again": [replace(PLAN, done=1, message="")],
    "plan.proposed-hostile": [
        PlanProposed(
            plan=1,
            planned=(PlanStep(goal="a\x1b[2Jb\u202e", command="echo \x1b]0;x\x07\nrm -rf ~"),),
            message="\x1b[31mred",
            levels=("\x1b[1mhigh",),
        )
    ],
    "plan.step": [PLAN, PlanStepped(plan=1, step=1, total=3, goal="make a folder out", state="begun")],
    "plan.step-unseen": [
        PLAN,
        PlanStepped(plan=1, step=1, total=3, goal="make a folder out", state="begun", command="mkdir -p out"),
        CommandProposed(command_id="c", command="mkdir -p out"),
        CommandConfirmed(command_id="c", decision="approved", by="approve-mode"),
        CommandStarted(command_id="c", command="mkdir -p out"),
    ],
    "plan.finished": [PLAN, PlanFinished(plan=1, outcome="done", done=3, total=3)],
    "plan.finished-stopped": [
        PLAN,
        PlanFinished(plan=1, outcome="stopped", done=1, total=3, left=("copy the pdf files", "list it\x1b[2J"), reason="cancelled"),
    ],
    "planner.noted": [PlannerNoted(text="do not repeat")],
    "assistant.delta": [AssistantDelta(text="Hello, wor")],
    "assistant.thought": [AssistantThought(text="The person")],
    "assistant.thought-answered": [
        AssistantThought(text="\nThe person wants\n"), AssistantThought(text="\x1b[2Jfiles."), AssistantDelta(text="Here"),
    ],
    "assistant.message": [AssistantMessage(text="Hello, world.")],
    "assistant.message-streamed": [
        AssistantDelta(text="Hello, "), AssistantDelta(text="world."), AssistantMessage(text="Hello, world."), Notice(text="next"),
    ],
    "assistant.message-repaired": [AssistantDelta(text="Helo"), AssistantMessage(text="Something else."), Notice(text="next")],
    "assistant.message-hostile": [AssistantMessage(text="\x1b]0;title\x07\x1b[2Jdone\r\u202egnp.exe — ✅️ 完了。\x9b31m")],
    "choices.offered": [AssistantMessage(text="1. ls"), ChoicesOffered(choices=(Alternative(command="ls \x1b[2J"),))],
    "choice.made": [ChoiceMade(number=1)],
    "tool.started": [ToolStarted(call_id="1", name="read_file\x1b[31m", args={"path": "a"})],
    "tool.finished": [ToolStarted(call_id="1", name="t"), ToolFinished(call_id="1", name="t", result="line one\nline two")],
    "tool.finished-error": [ToolFinished(call_id="1", name="t", result="no such file", is_error=True)],
    "cycle.started": [CYCLE],
    "cycle.started-resumed": [replace(CYCLE, resumed=True)],
    "cycle.started-hostile": [CycleStarted(task=1, title="a\x1b[2J\u202eb", branch="x\x07", worktree="/w\n\x1b]0;x\x07")],
    "cycle.planned": [CYCLE, CyclePlanned(plan="Read the parser.\nAdd \x1b[1mthe key.", calls=("write_file", "run_tests"))],
    "cycle.finished": [*WORKED, CycleFinished(
        reason="complete", task=10, url="https://example.org/pull/3", passed=12, total=12,
        features=(1, 2), files=("src/settings.py", "TASKS.md"), test_setup=("Makefile",),
        pushed_elsewhere=("agent/task-10",)), WORK_DONE],
    "cycle.finished-question": [CYCLE, CycleFinished(
        reason="question", task=10, text="JSON or TOML?\x1b[2J", files=("a.py",)), WORK_DONE],
    "cycle.finished-failed": [*WORKED, CycleFinished(
        reason="failed", task=10, text="the tests stay red", worktree="/state/w"),
        WORK_DONE],
    "cycle.finished-none": [CycleStarted(task=0), CycleFinished(reason="no_tasks")],
    "cycle.finished-hostile": [CYCLE, CycleFinished(
        reason="complete", task=10, url="\x1b]8;;http://x\x07", files=("\x9b31m\n",), test_setup=("\x9b31m\n",),
        pushed_elsewhere=("\x9b31m\n",)),
        WORK_DONE],
    "command.proposed": [PROPOSED],
    "command.rated": [PROPOSED, RATED],
    "approval.requested": (
        ApprovalRequested(
            approval_id="1", command_id="c", kind="command", command="rm a", level="medium", answers=("approved",)
        ),
    ),
    "approval.given": (ApprovalGiven(approval_id="1", command_id="c", answer="approved"),),
    "command.confirmed": [PROPOSED, RATED, confirmed("approved", "person", "rm -rf build")],
    "command.confirmed-refused": [PROPOSED, RATED, confirmed("refused", "policy")],
    "command.confirmed-unattended": [PROPOSED, RATED, confirmed("declined", "nobody")],
    "command.confirmed-dry-run": [PROPOSED, RATED, confirmed("dry-run", "policy")],
    "command.confirmed-skipped": [PROPOSED, RATED, confirmed("skipped", "person")],
    "command.confirmed-word-not-typed": [PROPOSED, RATED, confirmed("declined", "person", "rm -rf build")],
    "command.started": [PROPOSED, RATED, confirmed("approved", "person", "rm -rf build"), STARTED],
    "command.started-unseen": [PROPOSED, RATED, confirmed("approved", "approve-mode", "rm -rf build"), STARTED],
    "command.started-hostile": [
        confirmed("approved", "approve-mode"), CommandStarted(command_id="c", command="echo \x1b[8mhidden\r\nrm \u202ex\u200b"),
    ],
    "command.output": [CommandOutput(command_id="c", stream="stdout", data="never shown twice", offset=0.1)],
    "command.finished": [STARTED, finished(0, duration=0.5)],
    "command.finished-exit": [finished(2, duration=0.04)],
    "command.finished-time-out": [finished(124, duration=65.0, timed_out=True)],
    "command.finished-interrupted": [finished(130, duration=3.21, interrupted=True, signal=2)],
    "command.finished-killed": [finished(137, duration=3.21, signal=9)],
    "job.started": [JobStarted(job_id=1, pid=42, command_id="c", command="make -j8", how="sent", log_path="/state/jobs/x.log")],
    "job.finished": [JobFinished(job_id=1, outcome="ended", command="make \x1b[31m-j8", exit_code=2, note="not all kept")],
    "job.finished-left": [JobFinished(job_id=1, outcome="left", command="serve")],
    "job.finished-killed": [JobFinished(job_id=2, outcome="killed", command="sleep 9", exit_code=143)],
    "command.finished-undo": [STARTED, CommandFinished(command_id="c", exit_code=0, result=ExecutionResult(exit_code=0), undo_id="6k2m")],
    "command.finished-conflict": [
        CommandFinished(command_id="c", exit_code=126, result=ExecutionResult(exit_code=126), conflict=True)
    ],
    "rehearsal.started": [RehearsalStarted(command_id="c", command="rm -rf build", cwd="/work")],
    "rehearsal.started-network": [RehearsalStarted(command_id="c", command="curl x", cwd="/work", network=True)],
    "rehearsal.finished": [REHEARSED],
    "rehearsal.started-preview": [RehearsalStarted(command_id="c", command="mv a b", cwd="/work", preview=True)],
    "command.confirmed-rehearsed-unseen": [
        PROPOSED, RATED, RehearsalStarted(command_id="c", command="rm -rf build", cwd="/work"), REHEARSED,
        confirmed("approved", "approve-mode", "rm -rf build"),
    ],
    "command.confirmed-rehearsed-hostile": [
        PROPOSED, RATED, RehearsalFinished(command_id="c", outcome="failed", exit_code=1, changes=HOSTILE, not_shown=("\x1b[2Jx",),
                                           reason="over \x9b31m budget"), confirmed("declined", "nobody"),
    ],
    "undo.started": [UndoStarted(undo_id="6k2m", command="rm \x1b[31mnew")],
    "undo.finished-not": [UndoFinished(undo_id="6k2m", restored=0, state="committed", reason="the \x1b[2J disk is full")],
    "session.changed": [SessionChanged(key="safety", before="on", to="off")],
    "rule.added": [RuleAdded(rules=("rm-build",), where="session", text="[[rule]]\n\x1b]0;x\x07")],
    "rule.removed": [RuleRemoved(rules=("rm-build",), where="/home/me/policy.toml", reason="no room")],
    "library.changed": [LibraryChanged(kind="role", name="rev\x1b[31miewer", path="/home/me/roles/reviewer.md")],
    "memory.forgotten": [MemoryForgotten(commands=3, since="2026-03-04T10:20:30Z")],
    "undo.finished": [UndoFinished(undo_id="6k2m", restored=3)],
    "undo.finished-resumed": [
        UndoFinished(undo_id="6k2m", restored=2, resumed="it was interrupted while being undone, and finished later")
    ],
    "undo.finished-again": [UndoFinished(undo_id="6k2m", restored=1, state="committed")],
    "undo.finished-hostile": [
        UndoFinished(undo_id="6k2m", restored=2, skipped=(Conflict(path="/work/a\x1b]0;x\x07\nb", reason="changed \u202esince"),))
    ],
    "interview.started": [InterviewStarted(engine="exploration", version="1.0.0", name="Exploration", state={"turnNumber": 0})],
    "interview.stepped": [InterviewStepped(turn=1, number=2, step="extraction", values={"fields": 2})],
    "interview.stepped-failed": [
        InterviewStepped(turn=1, number=2, step="extraction", outcome="failed", detail="openrouter: 500\x1b[2J")
    ],
    "interview.extracted": [
        FieldExtracted(turn=1, engine="exploration", path="initialState.need", value="a shop", confidence=0.8, evidence="I need a shop")
    ],
    "interview.turned": [InterviewTurned(
        turn=1, phase="OPENING", completeness=0.34, label="Getting\x1b[2J started", learnt=("Need", "a", "b", "c"),
        difference={"turnNumber": [1], "extraction": {"initialState.need": [{"value": "a shop"}]}},
        steps={"telemetry": {"values": {"turn": 1}}})],
    "interview.turned-of-earlier-versions": [InterviewTurned(
        turn=1, phase="OPENING", completeness=0.34, changes={"turnNumber": 1}, extraction={"initialState.need": {"value": "a shop"}},
        sidebar={"phaseIndicator": {"currentPhase": "OPENING", "label": "Getting\x1b[2J started"}}, learnt=("Need", "a", "b", "c"))],
    "interview.sidebar": [SidebarShown(turn=1, sidebar={"phaseIndicator": {"currentPhase": "OPENING", "label": "Getting started"}})],
    "interview.turned-same-phase": [
        InterviewTurned(turn=1, phase="OPENING", completeness=0.3), InterviewTurned(turn=2, phase="OPENING", completeness=2.0, ready=True)
    ],
    "interview.went_back": [InterviewWentBack(turn=2, goal="g2", state={"turnNumber": 2})],
    "interview.handed_over": [
        HandedOver(source="exploration", target="project-discovery", reason="a decision was made\x1b]0;x\x07")
    ],
    "core_command.finished": [CoreCommandFinished(command="Info", text="planner  offline\nsafety   on")],
    "continue.triggered": [ContinueTriggered(count=2, max=5, remaining_todos=3)],
    "compression.started": [CompressionStarted()],
    "compression.finished": [CompressionFinished(tokens_saved=100)],
    "session.named": [SessionNamed(name="Tidy\nthe \x1b[31mhouse")],
    "notice": [Notice(text="a background process still runs")],
    "warning": [Warned(text="running as root")],
    "error": [Failed(error=ErrorInfo(code="provider", message="openrouter: 401", hint="set OPENROUTER_API_KEY"))],
    "error-cancelled": [Failed(error=ErrorInfo(code="cancelled", message="cancelled"))],
    "unknown": [UnknownEvent("new.event", {"x": 1})],
}  # fmt: skip


def as_record(event: Event) -> Record:
    """`event` in an envelope."""
    return Record(v=1, seq=1, time="2026-03-04T10:20:30.000000Z", session="s", run="r", goal_id="g", event=event)
