"""Read TASKS.md: tasks and their features, with status, dependencies and acceptance, and where each of that stands.

The grammar is in docs/repo-agent.md. Whatever is no task stays text that nobody looks at; lines are those between "\\n", so that they can
be put together again to the byte. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """The state of a task or a feature. Its value is what stands in the file."""

    TODO = "todo"
    DOING = "in progress"
    REVIEW = "review"
    DONE = "done"
    BLOCKED = "blocked"
    DROPPED = "dropped"


BOXES = {
    Status.TODO: " ",
    Status.DOING: "~",
    Status.REVIEW: "?",
    Status.DONE: "x",
    Status.BLOCKED: "!",
    Status.DROPPED: "-",
}
"""The character between the brackets of a box."""

_OF_BOX = {box: status for status, box in BOXES.items()} | {"X": Status.DONE, "/": Status.DOING}
_WORDS = {
    Status.TODO: ("todo", "to do", "to-do", "open", "new", "planned", "pending", "ready", "not started"),
    Status.DOING: ("in progress", "in-progress", "started", "doing", "active", "wip", "ongoing"),
    Status.REVIEW: ("review", "in review", "for review", "submitted"),
    Status.DONE: ("done", "complete", "completed", "closed", "finished", "merged"),
    Status.BLOCKED: ("blocked", "waiting", "on hold"),
    Status.DROPPED: ("dropped", "cancelled", "canceled", "rejected", "skipped", "wontfix"),
}
_OF_WORD = {word: status for status, words in _WORDS.items() for word in words}
_STATUS = re.compile(rf"[^\w\n]*({'|'.join(sorted(map(re.escape, _OF_WORD), key=len, reverse=True))})(?!\w)", re.I)

_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])[ \t]+(.*)")
_BOX = re.compile(r"\[(.)\][ \t]+")
_NUMBER = re.compile(
    r"[*_`~]{0,3}(?P<word>(?:task|feature)[ \t]+)?#?(?P<task>\d{1,9})(?:\.(?P<feature>\d{1,9}))?"
    r"(?P<end>[.:)][*_`]{0,3}|[ \t]*[–—]|[ \t]+-(?=[ \t])|[*_`]{1,3}[.:)]?)?(?=\s|$)(?P<title>.*)",
    re.I,
)
_FIELD = re.compile(
    r"[*_]{0,3}(status|depends(?: on)?|dependencies|requires|blocked by|acceptance(?: criteria)?|done when)"
    r"[*_]{0,3}[ \t]*:[*_]{0,3}[ \t]*(.*)",
    re.I,
)
_FIELD_WIDTH = 40
"""Characters in which a field has its colon, emphasis and marks of lists included."""
_ACCEPTANCE = re.compile(r"acceptance(?: criteria)?|done when", re.I)
_NONE = re.compile(r"[-–—\s]*|(?:none|nothing|n/a)\.?", re.I)
_TASK_WITHOUT_NUMBER = re.compile(r"(?:task|feature)\s*[:–—-]", re.I)


@dataclass(frozen=True)
class Problem:
    """A mistake in the file. `line` counts from 1."""

    line: int
    text: str


@dataclass(eq=False)
class Entry:
    """A task, or a feature of it where `feature` is not 0 (10.1 is feature 1 of task 10). Lines count from 0.

    `box` is the column of the character between the brackets, `word` the line of the status with the columns of its word.
    """

    task: int
    feature: int
    title: str
    line: int
    indent: int
    box: int | None = None
    word: tuple[int, int, int] | None = None
    boxed: Status | None = None
    worded: Status | None = None
    depends: tuple[int, ...] = ()
    acceptance: list[str] = field(default_factory=list)
    features: list[Entry] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The number as a person writes it."""
        return f"{self.task}.{self.feature}" if self.feature else str(self.task)

    @property
    def status(self) -> Status:
        """The word counts before the box; without both, a task of which each feature is done or dropped is done."""
        if self.worded or self.boxed:
            return self.worded or self.boxed or Status.TODO
        ended = self.features and all(each.status in (Status.DONE, Status.DROPPED) for each in self.features)
        return Status.DONE if ended else Status.TODO


@dataclass(frozen=True)
class TaskFile:
    """A file that was read. `lines` joined with a line feed are its text again; `problems` are those that reading it met."""

    lines: tuple[str, ...]
    tasks: tuple[Entry, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def entries(self) -> Iterator[Entry]:
        """Yield each task, followed by its features."""
        for task in self.tasks:
            yield task
            yield from task.features

    def find(self, task: int, feature: int = 0) -> Entry | None:
        """Return the first of that number, None for none."""
        return next((each for each in self.entries if (each.task, each.feature) == (task, feature)), None)

    @property
    def eligible(self) -> tuple[Entry, ...]:
        """Return the tasks that can be worked on, in the order to take them: begun ones first, else as they stand in the file.

        Every task that one depends on has to be done; one that is not there never is.
        """
        done = {each.task for each in self.tasks if each.status is Status.DONE}
        done -= {each.task for each in self.tasks if each.status is not Status.DONE}  # a number that is there twice
        able = [
            each
            for each in self.tasks
            if each.status in (Status.TODO, Status.DOING) and all(other in done for other in each.depends)
        ]
        return tuple(sorted(able, key=lambda each: each.status is not Status.DOING))


def read_tasks(text: str) -> TaskFile:
    """Read the text of a TASKS.md."""
    return _Reader(tuple(text.split("\n"))).read()


class _Reader:
    """One reading. `current` is the entry that fields belong to, `accepting` the one whose acceptance is being listed."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self._lines = lines
        self._tasks: list[Entry] = []
        self._problems: list[Problem] = []
        self._task: Entry | None = None
        self._current: Entry | None = None
        self._accepting: Entry | None = None
        self._hidden = ""  # what ends the fence or the comment that we are in

    def read(self) -> TaskFile:
        for number, line in enumerate(self._lines):
            bare = line.lstrip(" \t\ufeff")
            if not bare or bare == "\r" or ((self._hidden or bare[0] in "`~<") and self._skipped(bare)):
                continue
            if bare[0] in "#-*+" and self._entry(number, line, bare):
                continue
            if self._current is not None and (":" in bare[:_FIELD_WIDTH] or self._accepting is not None):
                self._text(number, line, bare)
        return TaskFile(self._lines, tuple(self._tasks), tuple(self._problems))

    def _skipped(self, bare: str) -> bool:
        """Tell whether the line is in a block of code or a comment, or begins or ends one."""
        if self._hidden:
            ended = self._hidden in bare if self._hidden == "-->" else bare.startswith(self._hidden)
            if ended:
                self._hidden = ""
            return True
        if bare.startswith(("```", "~~~")):
            self._hidden = bare[:3]
        elif bare.startswith("<!--"):
            self._hidden = "" if "-->" in bare else "-->"
        else:
            return False
        return True

    def _entry(self, number: int, line: str, bare: str) -> bool:
        """Take the line as the first one of a task or a feature, or as a heading that ends one."""
        heading = _HEADING.match(bare) if bare[0] == "#" else None
        item = _ITEM.match(bare) if heading is None else None
        opened = heading or item
        if opened is None:
            return False
        at = len(line) - len(bare) + opened.start(1)
        box = _BOX.match(line, at)
        named = _NUMBER.match(line, box.end() if box else at)
        if named is None or not (heading or box) or not (named["feature"] or named["end"] or named["word"]):
            return heading is not None and self._heading(number, opened[1])
        entry = Entry(
            task=int(named["task"]),
            feature=int(named["feature"] or 0),
            title=named["title"].strip(" \t\r*_`#–—-"),
            line=number,
            indent=-1 if heading else len(line) - len(bare),
        )
        if box is not None:
            entry.box, entry.boxed = box.start(1), _OF_BOX.get(box[1])
            if entry.boxed is None:
                self._problem(number, f"the box of {entry.name} holds {box[1]!r}; known are {_boxes()}")
        self._add(entry)
        return True

    def _add(self, entry: Entry) -> None:
        self._current, self._accepting = entry, None
        if not entry.feature:
            self._task = entry
            self._tasks.append(entry)
        elif self._task is None:
            self._problem(entry.line, f"feature {entry.name} stands before any task")
        else:
            if entry.task != self._task.task:
                self._problem(entry.line, f"feature {entry.name} stands under task {self._task.name}")
            self._task.features.append(entry)

    def _heading(self, number: int, text: str) -> bool:
        """Take a heading that is no task: acceptance of the one above, or the end of it."""
        title = text.strip(" \t\r#:*_")
        self._accepting = None
        if self._current is not None and _ACCEPTANCE.fullmatch(title):
            self._accepting = self._current = self._task
            return True
        if _TASK_WITHOUT_NUMBER.match(title):
            self._problem(number, f"a task without a number: {title}")
        if self._lines[number].lstrip("\ufeff").startswith(("# ", "## ")):
            self._task = self._current = None
        return True

    def _text(self, number: int, line: str, bare: str) -> None:
        """Take the line as a field of the current entry, as an item of its acceptance, or as nothing."""
        item = _ITEM.match(bare)
        start = len(line) - len(bare) + (item.start(1) if item else 0)
        said = _FIELD.match(line, start) if bare[0] not in "|>" else None
        if said is None:
            if item is None:
                self._accepting = None
            elif self._accepting is not None:
                self._accepting.acceptance.append(_BOX.sub("", item[1], count=1).strip())
            return
        entry = self._current
        assert entry is not None
        if entry.feature and 0 <= entry.indent >= len(line) - len(bare):  # it stands as far left: it is the task's
            entry = self._task or entry
        self._accepting = None
        name, value = said[1].lower(), said[2].strip()
        if name == "status":
            self._status(entry, number, said)
        elif _ACCEPTANCE.fullmatch(name):
            self._accepting = entry
            entry.acceptance += [value] if value else []
        elif not _NONE.fullmatch(value):
            numbers = [int(each) for each in re.findall(r"(?<![\w.])#?(\d{1,9})(?![\w.]*\w)", value)]
            if not numbers:
                self._problem(number, f"{entry.name} depends on {value!r}, which is no number of a task")
            entry.depends += tuple(each for each in numbers if each not in entry.depends)

    def _status(self, entry: Entry, number: int, said: re.Match[str]) -> None:
        found = _STATUS.match(said.string, said.start(2))
        if entry.word is not None:
            self._problem(number, f"{entry.name} has a second status")
        elif found is None:
            value = said[2].strip()
            self._problem(number, f"{entry.name} has the status {value!r}; known are {', '.join(Status)}")
        else:
            entry.word = (number, *found.span(1))
            entry.worded = _OF_WORD[found[1].lower()]

    def _problem(self, number: int, text: str) -> None:
        self._problems.append(Problem(number + 1, text))


def _boxes() -> str:
    return " ".join(f"[{box}]" for box in BOXES.values())
