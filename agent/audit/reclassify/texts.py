"""Collect every text that a log proposes, rates or runs, with what was decided about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from agent.recording.chained_lines import log_lines
from agent.recording.lifecycle import Lifecycle
from agent.recording.line import HEAD, Line, read_line

Stage = str
"""proposed, edited (the person changed the text), or run (a text that was run though nobody had rated it)."""

_MOST_OPEN = 64
_WANTED = frozenset(
    {
        b"session.started", b"goal.started", b"goal.finished", b"command.proposed", b"command.rated", b"command.confirmed",
        b"command.started",
    }
)  # fmt: skip
# Reasons for a level that are no part of the text: they stay what they were. The last one came from the shell of then.
_CARRIED = (b'"opinion.planner"', b'"confine"', b'"shell.other"')


class Case(Struct, frozen=True, array_like=True):
    """A text with all that its rating depends on. `known`, `carried`: JSON of a `Known`, and of findings that count beside it."""

    text: str
    cwd: str = ""
    home: str = ""
    is_root: bool = False
    origin: str = "planner"
    session: str = ""
    approve: str = "ask"
    safety_off: bool = False
    interactive: bool = True
    held_back: str = ""
    known: bytes = b""
    carried: bytes = b""


class Then(Struct, frozen=True):
    """A text as it was judged then. `level` and `verdict` are "" where it was not rated; `decision` is "" where nobody decided."""

    level: str = ""
    verdict: str = ""
    rule: str = ""
    decision: str = ""
    by: str = ""
    ran: bool = False


class Text(Struct, frozen=True):
    """One text of one command. `time` is when it was proposed (UTC)."""

    session: str
    time: str
    goal_id: str
    command_id: str
    stage: Stage
    case: Case
    then: Then


class Trouble(Struct):
    """Lines that could not be read: how many, and where the first of them is."""

    lines: int = 0
    first: str = ""

    def note(self, path: str, number: int) -> None:
        self.lines += 1
        self.first = self.first or f"{path}:{number}"


def read_texts(paths: Iterable[str], trouble: Trouble) -> Iterator[Text]:
    """Every text of one session, whose log lies in `paths`, in the order in which they came. Raises IoError."""
    fold = _Fold()
    for path in paths:
        for line in _lines(path, trouble):
            yield from fold.take(line)
    yield from fold.rest()


def _lines(path: str, trouble: Trouble) -> Iterator[Line]:
    """The lines of one file that tell what was judged, in order; what cannot be read is counted in `trouble`. Raises IoError."""
    head = HEAD.match
    for number, line in enumerate(log_lines(path), 1):
        found = head(line) if line is not None else None
        if found is not None and found[3] not in _WANTED:
            continue
        read = read_line(line) if line is not None else None
        if read is None or (read.type == "command.rated" and read.report is None):
            trouble.note(path, number)
        else:
            yield read


class _Rated(Struct):
    text: str
    stage: Stage
    level: str = ""
    verdict: str = ""
    rule: str = ""
    reason: str = ""
    known: bytes = b""
    carried: bytes = b""


class _Command(Lifecycle, kw_only=True):
    """One proposal while its lines are read."""

    line: Line
    home: str
    is_root: bool
    approve: str
    of_safety_off: bool
    rated: list[_Rated] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)

    def rate(self, line: Line) -> None:
        report, verdict = line.report, line.verdict
        if report is None or verdict is None:
            return
        findings, known = bytes(report.findings), bytes(line.known)
        found = _Rated(
            text=report.command or self.proposed,
            stage="edited" if line.stage == "edited" else "proposed",
            level=report.level,
            verdict=verdict.action,
            rule=verdict.rule,
            reason=verdict.reason,
            known=known if known.startswith(b"{") else b"",
            carried=findings if any(rule in findings for rule in _CARRIED) else b"",
        )
        if self.rated and self.rated[-1].text == found.text:  # asked again about the same text
            found.stage = self.rated[-1].stage
            self.rated[-1] = found
        elif len(self.rated) < _MOST_OPEN:
            self.rated.append(found)

    def texts(self) -> Iterator[Text]:
        if not self.rated:
            self.rated.append(_Rated(self.proposed, "proposed"))
        known = {rated.text for rated in self.rated}
        self.rated += [_Rated(text, "run") for text in dict.fromkeys(self.ran) if text not in known]
        last = max((at for at, rated in enumerate(self.rated) if rated.stage != "run"), default=0)
        for at, rated in enumerate(self.rated):
            yield self._text(rated, superseded=at < last)

    def _text(self, rated: _Rated, *, superseded: bool) -> Text:
        line = self.line
        decision, by = ("edited", "person") if superseded else (self.decision, self.by)
        # Whether somebody was there stands nowhere; with safety off it makes a difference.
        alone = (
            by == "nobody" or rated.rule == "safety-off-unattended" or rated.reason.endswith("nobody is there to ask")
        )
        case = Case(
            text=rated.text,
            cwd=line.cwd,
            home=self.home,
            is_root=self.is_root,
            origin=line.origin if isinstance(line.origin, str) else "planner",
            session=line.session,
            approve=self.approve,
            safety_off=self.of_safety_off,
            interactive=not alone,
            held_back=rated.verdict if rated.rule == "confine" else "",
            known=rated.known,
            carried=rated.carried,
        )
        then = Then(rated.level, rated.verdict, rated.rule, decision, by, rated.text in self.ran)
        return Text(line.session, line.time, line.goal_id, line.command_id, rated.stage, case, then)


class _Fold:
    """The lines of one session."""

    def __init__(self) -> None:
        self._home = ""
        self._is_root = False
        self._approve = "ask"
        self._safety_off = False
        self._open: dict[str, _Command] = {}

    def take(self, line: Line) -> Iterator[Text]:
        match line.type:
            case "session.started":
                self._is_root = line.is_root
                yield from self.rest()
            case "goal.started":
                self._approve, self._safety_off = line.approve, line.safety_off
                if line.environment is not None and line.environment.home:
                    self._home = line.environment.home
                yield from self.rest()
            case "goal.finished":
                yield from self.rest()
            case "command.proposed":
                if line.command_id in self._open:
                    yield from self._open.pop(line.command_id).texts()
                while len(self._open) >= _MOST_OPEN:
                    yield from self._open.pop(next(iter(self._open))).texts()
                self._begin(line)
            case "command.rated" | "command.confirmed" | "command.started":
                self._of_command(line)

    def rest(self) -> Iterator[Text]:
        """Hand out what is still open."""
        commands, self._open = self._open, {}
        for command in commands.values():
            yield from command.texts()

    def _begin(self, line: Line) -> _Command:
        command = self._open[line.command_id] = _Command(
            command_id=line.command_id,
            proposed=line.command,
            line=line,
            home=self._home,
            is_root=self._is_root,
            approve=self._approve,
            of_safety_off=self._safety_off,
        )
        return command

    def _of_command(self, line: Line) -> None:
        command = self._open.get(line.command_id)
        if command is None:  # a log that lost its proposal: what was run is judged all the same
            if line.type != "command.started" or len(self._open) >= _MOST_OPEN:
                return
            command = self._begin(line)
        command.take(line.type, line, line.time)
        if line.type == "command.rated":
            command.rate(line)
        elif line.type == "command.started" and line.command not in command.ran and len(command.ran) < _MOST_OPEN:
            command.ran.append(line.command)
