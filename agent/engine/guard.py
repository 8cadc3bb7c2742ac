"""Notice a planner that goes round in circles with one goal: it is told so, then stopped.

Pure bookkeeping over (normal form, directory). The engine asks `before` when something is proposed, and reports with
`after` when it ran; a `before` without an `after` means that the person or policy kept it from running.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Literal, NamedTuple

FAILURES_BEFORE_ERROR = 2  # the second identical failure brings a note, the third proposal an error
SAME_RESULTS_BEFORE_NOTE = 2  # runs in a row that showed nothing new
SAME_RESULTS_BEFORE_ERROR = 4
SAME_FAILURE_TEXT_BEFORE_NOTE = 3  # the same failure from differing commands
IDLE_BEFORE_NOTE = 3  # replies or proposals in a row of which nothing ran
IDLE_BEFORE_ERROR = 6  # replies without a person in the loop
UNRUN_BEFORE_ERROR = 12  # proposals that a person or policy turned down: a person who steers by remarks gets more room
UNWANTED_BEFORE_ERROR = 3  # the same command offered again although it was not run

Words = tuple[str, ...]
Key = tuple[Words, str]


class GuardVerdict(NamedTuple):
    """The guard's answer. `note` is for the planner (and worth showing to the person), `error` ends the goal."""

    kind: Literal["ok", "note", "error"] = "ok"
    text: str = ""


OK = GuardVerdict()


class RepeatGuard:
    """One goal's memory of what was proposed, what failed and what brought nothing new."""

    def __init__(self) -> None:
        self._failures: Counter[Key] = Counter()
        self._unwanted: Counter[Key] = Counter()
        self._seen: set[tuple[Key, int, str]] = set()
        self._recent: list[tuple[Key, bool]] = []  # the last four runs, with whether each failed
        self._stale: list[Key] = []  # the runs in a row that showed nothing new
        self._failure_text: tuple[str, int] = ("", 0)
        self._pending: Key | None = None
        self._idle = 0
        self._unrun = 0

    def before(self, words: Words, cwd: str) -> GuardVerdict:
        """Judge a proposal before anybody sees it. On `error` nothing may run: the goal ends with a PlannerError."""
        key = (words, cwd)
        self._settle()
        verdict = self._judge(key)
        if verdict.kind != "error":
            self._pending = key
        return verdict

    def after(self, words: Words, cwd: str, exit_code: int, output: str, interrupted: bool) -> str | None:
        """Learn from a run; returns a note for the planner, or None. An interrupted run teaches nothing."""
        key = (words, cwd)
        self._pending = None
        self._idle = self._unrun = 0
        if interrupted:
            return None
        failed = exit_code != 0
        self._unwanted.pop(key, None)
        self._recent = [*self._recent[-3:], (key, failed)]
        mark = fingerprint(output)
        same = self._note_same(key, exit_code, mark)
        if not failed:
            self._failures.pop(key, None)
            self._failure_text = ("", 0)
            return same
        self._failures[key] += 1
        text = self._note_failure_text(mark)
        if self._alternates():
            return (
                "two commands take turns and both keep failing; trying either once more will not help. "
                "Find out why they fail, take another way, or say in chat what stands in the way."
            )
        if self._failures[key] >= FAILURES_BEFORE_ERROR:
            return (
                f"this command has now failed {self._failures[key]} times in the same directory (exit code {exit_code}). "
                "Do not repeat it: proposing it again ends the goal. Change the approach, or explain in chat."
            )
        return same or text

    def idle(self) -> GuardVerdict:
        """Report a reply that ran nothing at all (no calls, or calls without effect); judges a monologue."""
        self._settle()
        self._idle += 1
        return self._judge_idle()

    def _settle(self) -> None:
        """A proposal that was followed by no run was turned down."""
        if self._pending is not None:
            self._unwanted[self._pending] += 1
            self._unrun += 1
        self._pending = None

    def _judge(self, key: Key) -> GuardVerdict:
        failures = self._failures[key]
        if failures >= FAILURES_BEFORE_ERROR:
            return GuardVerdict(
                "error",
                f"the planner proposes a command for the {_ordinal(failures + 1)} time that failed {failures} times",
            )
        if len(self._stale) >= SAME_RESULTS_BEFORE_ERROR and key in self._stale:
            return GuardVerdict("error", "the planner repeats commands whose results do not change any more")
        if self._unwanted[key] >= UNWANTED_BEFORE_ERROR:
            return GuardVerdict(
                "error", f"the planner proposes a command again that was turned down {self._unwanted[key]} times"
            )
        idle = self._judge_idle()
        if idle.kind != "ok":
            return idle
        if failures:
            return GuardVerdict("note", "the same command failed before in this goal")
        if self._unwanted[key]:
            return GuardVerdict("note", "the same command was proposed before in this goal and was not run")
        return OK

    def _judge_idle(self) -> GuardVerdict:
        nothing = self._idle + self._unrun
        if self._idle >= IDLE_BEFORE_ERROR or nothing >= UNRUN_BEFORE_ERROR:
            return GuardVerdict(
                "error", f"nothing was run in the last {nothing} replies; the planner makes no progress"
            )
        if nothing >= IDLE_BEFORE_NOTE:
            return GuardVerdict(
                "note",
                f"the last {nothing} replies ran nothing. Propose something that differs in kind, "
                "or end the goal with a chat reply that says what is missing.",
            )
        return OK

    def _note_same(self, key: Key, exit_code: int, mark: str) -> str | None:
        """Count runs whose command, exit code and output were all seen before: loops of any length end here."""
        seen = (key, exit_code, mark)
        if seen not in self._seen:
            self._seen.add(seen)
            self._stale = []
            return None
        self._stale.append(key)
        if len(self._stale) < SAME_RESULTS_BEFORE_NOTE:
            return None
        return (
            f"the last {len(self._stale)} runs repeated earlier commands and showed the same results. "
            "There is nothing new to learn from them: go on to the next step, or answer in chat."
        )

    def _note_failure_text(self, mark: str) -> str | None:
        """Notice one failure behind differing commands; a silent failure is no evidence of that."""
        if not mark:
            return None
        text, count = self._failure_text
        self._failure_text = (mark, count + 1 if mark == text else 1)
        if self._failure_text[1] < SAME_FAILURE_TEXT_BEFORE_NOTE:
            return None
        return (
            f"the last {self._failure_text[1]} failures gave the same message although the commands differ. "
            "Treat its cause instead of varying the command."
        )

    def _alternates(self) -> bool:
        """A/B/A/B, all failed."""
        if len(self._recent) < 4 or not all(failed for _, failed in self._recent):
            return False
        a, b, c, d = (key for key, _ in self._recent)
        return a == c and b == d and a != b


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


_KEPT = 32_768  # characters from either end; what differs only in the middle of a flood counts as the same

# Order matters: longer shapes first, so that their parts are not taken for something smaller.
_PATTERNS: tuple[tuple[str, str], ...] = (
    (r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)", ""),  # terminal colours and titles
    (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?", "<time>"),
    (
        r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +)?(?:\d{1,2} )?"
        r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? +(?:\d{1,2},? +)?"
        r"(?:\d\d:\d\d(?::\d\d(?:\.\d+)?)?|\d{4})(?: +(?:AM|PM))?(?: +[A-Z]{3,4})?(?: +\d{4})?\b",
        "<time>",
    ),
    (r"\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?[AaPp][Mm])?\b", "<time>"),
    (r"\b1\d{9}(?:\d{3}|\.\d{1,9})?\b", "<time>"),  # seconds or milliseconds since 1970
    (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "<id>"),
    (r"\b0x[0-9a-fA-F]+\b", "<address>"),
    (r"/tmp/[\w.-]+", "<temporary>"),  # noqa: S108 - a pattern, no file is opened
    (r"(?i)\b(?:pid|process|job|ppid|tid|thread)(?:[ =:#]{1,3}|\[)\d+\]?", "<pid>"),
    (r"(?<=\w)\[\d+\](?=:)|(?m:^)\[\d+\]", "<pid>"),  # syslog's name[123]: and the shell's [1] 4711
    (r"\b\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b", "<duration>"),
    (r"(?i)\b(attempt|try|retry|retries|iteration|request|seq|sequence|round|step|run)(?:[ =:#]{1,3})\d+", r"\1 <n>"),
    (r"#\d+\b", "#<n>"),
    (r"\b\d+(?:\.\d+)? ?%", "<n>%"),
    (r"[ \t]+", " "),
)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in _PATTERNS)


def normalise(output: str) -> str:
    """`output` with everything that changes from run to run replaced by a name for it. Bounded work for any input."""
    if len(output) > 2 * _KEPT:
        output = output[:_KEPT] + "\n" + output[-_KEPT:]
    for pattern, replacement in _compiled():
        output = pattern.sub(replacement, output)
    return "\n".join(line.rstrip() for line in output.strip().splitlines())


def fingerprint(output: str) -> str:
    """A short text that is equal for outputs that are the same in this sense; empty for empty output."""
    text = normalise(output)
    if not text:
        return ""
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
