"""Collect every text that a log proposes, rates or runs, with what was decided about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from agent.audit.reclassify.lines import Line, Trouble, read_lines

Stage = str
"""proposed, edited (the person changed the text), or run (a text that was run though nobody had rated it)."""

_MOST_OPEN = 64
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
    """What was said and done. `level` and `verdict` are "" where the text was not rated; `decision` is "" where nobody decided."""

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


def read_texts(paths: Iterable[str], trouble: Trouble) -> Iterator[Text]:
    """Every text of one session, whose log lies in `paths`, in the order in which they came. Raises IoError."""
    fold = _Fold()
    for path in paths:
        for line in read_lines(path, trouble):
            yield from fold.take(line)
    yield from fold.rest()


class _Rated(Struct):
    text: str
    stage: Stage
    level: str = ""
    verdict: str = ""
    rule: str = ""
    reason: str = ""
    known: bytes = b""
    carried: bytes = b""


class _Command(Struct):
    """One proposal while its lines are read."""

    line: Line
    home: str
    is_root: bool
    approve: str
    safety_off: bool
    rated: list[_Rated] = []
    decision: str = ""
    by: str = ""
    confirmed: str = ""
    ran: list[str] = []

    def rate(self, line: Line) -> None:
        report, verdict = line.report, line.verdict
        if report is None or verdict is None:
            return
        findings = bytes(report.findings)
        carried = findings if any(rule in findings for rule in _CARRIED) else b""
        known = bytes(line.known)
        found = _Rated(
            text=report.command or self.line.command,
            stage="edited" if line.stage == "edited" else "proposed",
            level=report.level,
            verdict=verdict.action,
            rule=verdict.rule,
            reason=verdict.reason,
            known=known if known.startswith(b"{") else b"",
            carried=carried,
        )
        if self.rated and self.rated[-1].text == found.text:  # asked again about the same text
            found.stage = self.rated[-1].stage
            self.rated[-1] = found
        elif len(self.rated) < _MOST_OPEN:
            self.rated.append(found)

    def texts(self) -> Iterator[Text]:
        if not self.rated:
            self.rated.append(_Rated(self.line.command, "proposed"))
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
            safety_off=self.safety_off,
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
        """What is still open."""
        commands, self._open = self._open, {}
        for command in commands.values():
            yield from command.texts()

    def _begin(self, line: Line) -> _Command:
        command = _Command(line, self._home, self._is_root, self._approve, self._safety_off)
        self._open[line.command_id] = command
        return command

    def _of_command(self, line: Line) -> None:
        command = self._open.get(line.command_id)
        if command is None:  # a log that lost its proposal: what was run is judged all the same
            if line.type != "command.started" or len(self._open) >= _MOST_OPEN:
                return
            command = self._begin(line)
        if line.type == "command.rated":
            command.rate(line)
        elif line.type == "command.confirmed":
            command.decision, command.by, command.confirmed = line.decision, line.by, line.command
        elif line.command not in command.ran and len(command.ran) < _MOST_OPEN:
            command.ran.append(line.command)
