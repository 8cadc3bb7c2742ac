"""When are two outputs the same? When they differ only in what changes by itself: times, pids, addresses, counters."""

from __future__ import annotations

import re
from functools import cache

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
