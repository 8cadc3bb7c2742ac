"""One session with everything in it that a picture of a session has to show, as records; and the same with hostile text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from agent.protocol.decisions import Effect, Finding, Level, RiskReport, Verdict
from agent.protocol.errors import ErrorInfo
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandProposed,
    CommandRated,
    CommandStarted,
    RehearsalFinished,
    RehearsalStarted,
    UndoFinished,
)
from agent.protocol.events.goal import (
    GoalFinished,
    GoalStarted,
    PlannerFinished,
    PlannerStarted,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.known import Event, UnknownEvent
from agent.protocol.events.session import (
    AssistantMessage,
    CoreCommandFinished,
    Failed,
    Notice,
    SessionFinished,
    SessionStarted,
    Warned,
)
from agent.protocol.outcomes import CapturedStream, ExecutionResult, Usage
from agent.protocol.records import Record
from agent.protocol.rehearsals import Change, FileState, Totals

BEGAN = datetime(2026, 3, 14, 9, 26, 53, 589793, tzinfo=UTC)
SESSION = "pictured-1"
CWD = "/home/ada/src/parser"
DIFF = """\
--- a/src/lexer.py
+++ b/src/lexer.py
@@ -10,7 +10,7 @@ def tokens(text):
     place = 0
     while place < len(text):
-        kind = classify(text[place])
+        kind = kind_of(text[place])
         place += 1
     return place
"""
_FILE = FileState(kind="file", mode=0o644, uid=1000, gid=1000, size=2_048, mtime=1)
CHANGES = (
    Change(path=f"{CWD}/src/lexer.py", op="modify", kind="file", before=_FILE, after=_FILE, diff=DIFF),
    Change(path=f"{CWD}/src/old.py", op="delete", kind="file", before=_FILE),
    Change(
        path=f"{CWD}/bin/run", op="create", kind="file", flags=("setuid",),
        after=FileState(kind="file", mode=0o4755, uid=0, gid=0, size=17_408, mtime=1),
    ),
)  # fmt: skip


class Session:
    """Records with a clock: each `add` takes `after` seconds."""

    def __init__(self, *, session: str = SESSION, began: datetime = BEGAN) -> None:
        self.records: list[Record] = []
        self._session = session
        self._now = began
        self._goal = ""
        self._goals = 0
        self._commands = 0

    def add(self, event: Event, after: float = 0.05) -> None:
        self._now += timedelta(seconds=after)
        time = self._now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self.records.append(
            Record(
                v=1, seq=len(self.records) + 1, time=time, session=self._session, run="r1", goal_id=self._goal, event=event
            )
        )  # fmt: skip

    def begin_goal(self, goal: str, *, origin: str = "goal", after: float = 2.0, private: bool = False) -> None:
        self._goals += 1
        self._goal = f"g{self._goals}"
        self.add(
            GoalStarted(
                goal=goal, origin=origin, cwd=CWD, planner="llm", model="small-1", approve="ask", private=private
            ),
            after,
        )

    def plan(self, *, took: float = 1.2, reply: str = "command") -> None:
        self.add(PlannerStarted(step=1, planner="llm", model="small-1"))
        usage = Usage(input_tokens=412, output_tokens=38, cost=0.0004)
        self.add(PlannerFinished(step=1, reply=reply, usage=usage, duration=took), took)

    def propose(
        self, command: str, level: Level = Level.LOW, *findings: Finding, reason: str = "", origin: str = "planner"
    ) -> str:
        self._commands += 1
        key = f"c{self._commands}"
        self.add(CommandProposed(command_id=key, command=command, origin=origin, reason=reason, cwd=CWD))
        self.rate(key, command, level, *findings)
        return key

    def rate(self, key: str, command: str, level: Level, *findings: Finding, stage: str = "proposed") -> None:
        report = RiskReport(command=command, level=level, findings=findings)
        action = "type" if level is Level.HIGH else "ask"
        self.add(CommandRated(command_id=key, stage=stage, report=report, verdict=Verdict(action=action)))

    def confirm(
        self, key: str, command: str, decision: str = "approved", *, by: str = "person", after: float = 1.5,
        remark: str = "", word: bool = False,
    ) -> None:  # fmt: skip
        self.add(
            CommandConfirmed(command_id=key, decision=decision, by=by, command=command, remark=remark, word_typed=word),
            after,
        )

    def run(
        self, key: str, command: str, *pieces: tuple[float, str, str], code: int = 0, took: float = 0.4, via: str = "",
        result: ExecutionResult | None = None, undo: str = "",
    ) -> None:  # fmt: skip
        self.add(CommandStarted(command_id=key, command=command, cwd=CWD, via=via))
        for offset, stream, data in pieces:
            self.add(CommandOutput(command_id=key, stream=stream, data=data, offset=offset), 0.01)  # type: ignore[arg-type]
        done = result or ExecutionResult(exit_code=code, duration=took, cwd_after=CWD)
        self.add(CommandFinished(command_id=key, exit_code=code, result=done, undo_id=undo), took)

    def end_goal(self, goal: str, status: str = "completed", code: int = 0, message: str = "") -> None:
        self.add(
            GoalFinished(
                goal=goal, status=status, exit_code=code, message=message, duration=2.5, steps=1, planner="llm",
                model="small-1", usage=Usage(input_tokens=412, output_tokens=38, cost=0.0004),
            )
        )  # fmt: skip
        self._goal = ""


def finding(rule: str, level: Level, reason: str, safer: str = "", kind: str = "delete") -> Finding:
    effect = Effect(kind=kind, scope="workspace", targets=("build",), reversible=False)
    return Finding(rule=rule, level=level, reason=reason, span=(0, 6), effect=effect, safer=safer)


def pictured() -> list[Record]:
    """A working morning: a simple command, an edit, a rehearsal made real, a refusal, a failure, a skip, a word, an answer."""
    made = Session()
    started = SessionStarted(session_id=SESSION, program="agent-shell 0.1.0", frontend="repl", cwd=CWD, pid=4711)
    made.add(started, 0)
    made.add(Notice(text="a newer policy file was read"))
    _simple(made)
    _edited(made)
    _rehearsed(made)
    _refused_and_failed(made)
    _high(made)
    _talk(made)
    made.add(SessionFinished(goals=8), 30)
    return made.records


def _simple(made: Session) -> None:
    goal = "which files here are the largest"
    made.begin_goal(goal)
    made.plan()
    command = "du -ah src | sort -rh | head -4"
    key = made.propose(command, reason="lists sizes and sorts them, largest first")
    made.confirm(key, command)
    made.run(
        key, command,
        (0.02, "stdout", "1.2M\tsrc\n"), (0.35, "stdout", "\x1b[1;34m804K\x1b[0m\tsrc/grammar\n\x1b[32m212K\x1b[0m\tsrc/lexer.py\n"),
        (0.38, "stderr", "du: cannot read directory 'src/private': Permission denied\n"),
    )  # fmt: skip
    made.end_goal(goal)


def _edited(made: Session) -> None:
    goal = "remove the build folder"
    made.begin_goal(goal, after=6.0)
    made.plan()
    why = finding("delete.recursive", Level.MEDIUM, "deletes a folder and all that is in it", "mv build /tmp")
    key = made.propose("rm -rf build", Level.MEDIUM, why, reason="the build folder can be made again")
    wanted = "rm -rf build/cache"
    made.rate(key, wanted, Level.MEDIUM, why, stage="edited")
    made.confirm(key, wanted, "edited", after=4.0)
    made.run(key, wanted, undo="6k2m9q")
    made.end_goal(goal)


def _rehearsed(made: Session) -> None:
    goal = "rename classify to kind_of everywhere"
    made.begin_goal(goal, after=4.0)
    made.plan()
    why = finding("write.in-place", Level.MEDIUM, "changes files in place", kind="overwrite")
    command = "sed -i 's/classify/kind_of/' src/*.py"
    key = made.propose(command, Level.MEDIUM, why)
    made.add(RehearsalStarted(command_id=key, command=command, cwd=CWD), 3.0)
    totals = Totals(created=1, modified=1, deleted=1, bytes_written=19_456, bytes_lost=2_048)
    made.add(
        RehearsalFinished(
            command_id=key, outcome="finished", exit_code=0, changes=CHANGES, totals=totals,
            not_shown=("network: it was off",),
        ),
        0.3,
    )  # fmt: skip
    made.confirm(key, command, after=5.0)
    made.run(key, command, via="rehearsal", undo="7n4d1x")
    made.end_goal(goal)
    made.add(UndoFinished(undo_id="7n4d1x", restored=3), 20.0)


def _refused_and_failed(made: Session) -> None:
    goal = "make the disk empty"
    made.begin_goal(goal)
    made.plan()
    why = finding("disk.whole", Level.HIGH, "writes over a whole disk; nothing on it can be had back", kind="overwrite")
    key = made.propose("dd if=/dev/zero of=/dev/sda", Level.HIGH, why)
    made.confirm(key, "", "refused", by="policy", after=0.02)
    made.end_goal(goal, "blocked_by_policy", 5, "policy does not allow that")
    goal = "make test"
    made.begin_goal(goal, origin="shell", after=3.0)
    key = made.propose(
        "make test", Level.MEDIUM, finding("run.make", Level.MEDIUM, "runs what a file says"), origin="person"
    )
    made.confirm(key, "make test", after=0.4)
    lines = "".join(f"tests/test_{number}.py \x1b[32mPASSED\x1b[0m\n" for number in range(14))
    made.run(
        key, "make test",
        (0.2, "stdout", lines), (1.1, "stdout", "\r 10%\r 55%\r100%\n\x1b[31;1mFAILED\x1b[0m tests/test_lexer.py::test_end\n"),
        (1.2, "stderr", "make: *** [Makefile:12: test] Error 1\n"),
        code=2, took=1.3,
        result=ExecutionResult(
            exit_code=2, duration=1.3, stdout=CapturedStream(tail="1 failed, 14 passed\n", total_bytes=90_000, dropped_bytes=70_123),
        ),
    )  # fmt: skip
    made.add(Warned(text="the same failure as before"))
    made.end_goal(goal, "failed", 1, "make test ended with exit 2")


def _high(made: Session) -> None:
    goal = "install the tool from its page"
    made.begin_goal(goal)
    made.plan()
    why = finding(
        "remote.code",
        Level.HIGH,
        "runs code from elsewhere without looking at it",
        "curl -o get.sh …; less get.sh",
        "run",
    )
    net = finding("network.fetch", Level.MEDIUM, "fetches from example.org", kind="network")
    command = "curl -fsSL https://example.org/get.sh | sh"
    key = made.propose(command, Level.HIGH, why, net)
    made.confirm(key, command, word=True, after=6.0)
    made.run(key, command, (0.5, "stdout", "installed ✓ 設定\n"))
    made.end_goal(goal)
    goal = "clean up after it"
    made.begin_goal(goal)
    made.plan()
    key = made.propose(
        "rm -rf ~/.cache/tool", Level.MEDIUM, finding("delete.recursive", Level.MEDIUM, "deletes a folder")
    )
    made.confirm(key, "", "skipped")
    made.end_goal(goal, "skipped", 6)


def _talk(made: Session) -> None:
    goal = "what is a lexer?"
    made.begin_goal(goal)
    made.plan(reply="tools")
    made.add(ToolStarted(call_id="t1", name="read_file", args={"path": "src/lexer.py"}))
    made.add(ToolFinished(call_id="t1", name="read_file", result="def tokens(text): …"))
    made.plan(reply="chat")
    text = "A **lexer** turns text into *tokens*.\n\n- `tokens(text)` is yours\n- it has 40 lines\n"
    made.add(AssistantMessage(text=text))
    made.end_goal(goal, "answered")
    made.add(CoreCommandFinished(command="Info", text="planner  llm\nmodel    small-1"), 4.0)
    made.add(UnknownEvent(type="moon.phase", data={"phase": "full"}))
    made.add(
        Failed(error=ErrorInfo(code="provider", message="the model does not answer", hint="see `agent-shell doctor`"))
    )


HOSTILE_TEXT = (
    "</script><script>alert(1)</script> <img src=x onerror=alert(1)> &lt;b&gt; ]]> --> '\"` "
    "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b[c\x1b[?1049h\x1b[2J\x1b[6n\u202eabc\u2066 \x00\x08\x9b31m \ud800 {{7*7}}"
)


def hostile() -> list[Record]:
    """The same shape with text in every place that wants to leave its place."""
    text = HOSTILE_TEXT
    made = Session(session="../../<h1>x")
    made.add(SessionStarted(session_id=text, program=text, frontend=text, cwd=text), 0)
    made.begin_goal(text)
    made.plan()
    why = Finding(
        rule=text,
        level=Level.HIGH,
        reason=text,
        span=(-5, 10**18),
        safer=text,
        effect=Effect(kind=text, scope=text, targets=(text,)),
    )
    key = made.propose(text, Level.HIGH, why, reason=text)
    made.rate(key, text + "2", Level.LOW, why, stage="edited")
    made.add(RehearsalStarted(command_id=key, command=text, cwd=text))
    change = Change(
        path=text,
        op="rename",
        kind="file",
        source=text,
        diff=text + "\n-</pre>\n+" + text,
        flags=(text,),
        before=_FILE,
        after=_FILE,
    )
    made.add(
        RehearsalFinished(
            command_id=key, outcome=text, exit_code=-1, changes=(change,) * 3, not_shown=(text,), reason=text, shell=(text,)
        )
    )  # fmt: skip
    made.confirm(key, text + "2", "edited", remark=text, word=True)
    result = ExecutionResult(
        exit_code=10**30,
        duration=1e300,
        cwd_after=text,
        notes=(text,),
        stderr=CapturedStream(tail=text, dropped_bytes=9),
    )
    made.run(
        key,
        text,
        (1e300, "stdout", text * 3),
        (-5.0, "stderr", "\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07"),
        result=result,
        undo=text,
    )
    made.add(AssistantMessage(text=text))
    made.add(ToolStarted(call_id=text, name=text, args={text: text}))
    made.add(ToolFinished(call_id=text, name=text, result=text, is_error=True))
    for event in (Notice(text=text), Warned(text=text), Failed(error=ErrorInfo(code=text, message=text, hint=text))):
        made.add(event)
    made.add(UndoFinished(undo_id=text, restored=-1, state=text))
    made.add(UnknownEvent(type=text, data={text: text}))
    made.end_goal(text, text, -1, text)
    return made.records


def many(count: int) -> Iterator[Record]:
    """A session of `count` commands, ten a goal."""
    made = Session()
    made.add(SessionStarted(session_id=SESSION, frontend="repl", cwd=CWD), 0)
    for number in range(count):
        if number % 10 == 0:
            made.begin_goal(f"goal number {number // 10}")
        command = f"echo line {number} && ls -la /srv/data/{number}"
        key = made.propose(command, (Level.LOW, Level.MEDIUM, Level.HIGH)[number % 3])
        made.confirm(key, command, by="approve-mode", after=0.01)
        made.run(key, command, (0.01, "stdout", f"line {number}\n" * 8), code=int(number % 17 == 0))
        if number % 10 == 9:
            made.end_goal(f"goal number {number // 10}")
        yield from made.records
        made.records.clear()


def taken_back(records: Iterable[object]) -> dict[str, str]:
    """The state of every run that these records say was taken back or done again, by undo id."""
    events = (record.event for record in records if isinstance(record, Record))
    return {event.undo_id: event.state for event in events if isinstance(event, UndoFinished)}
