"""Read a line of a log for its few fields that count: whatever else it may hold costs next to nothing. A log is hostile input."""

from __future__ import annotations

import calendar
import math
import re
import time
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from agent.struct_types import built

EMPTY = msgspec.Raw(b"")
MOST_NUMBER = 2**53
STAMP_LENGTH = 27
_LONGEST_STAMP = 64


class Report(Struct):
    """A rating; `findings` and `programs` as they stand there."""

    command: str = ""
    level: str = ""
    findings: msgspec.Raw = EMPTY
    programs: msgspec.Raw = EMPTY


class Verdict(Struct):
    """The decision of policy."""

    action: str = ""
    rule: str = ""
    reason: str = ""


class Usage(Struct):
    """Tokens and dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


class Environment(Struct):
    """The facts about the machine that a planner was told."""

    home: str = ""


class Stream(Struct, frozen=True):
    """One output stream of a command that ended: what stood in no `command.output`."""

    head: str = ""
    tail: str = ""
    total_bytes: int = 0


class Result(Struct):
    """The end of a command. `duration` in seconds."""

    stdout: Stream = Stream()
    stderr: Stream = Stream()
    duration: float = 0.0
    signal: int | None = None
    timed_out: bool = False
    interrupted: bool = False
    cwd_after: str = ""
    job: int = 0
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class Line(Struct):
    """The fields of all events that readers of many logs look at; each event has some of them, under the names of `protocol.events`."""

    type: str = ""
    seq: int = 0
    time: str = ""
    session: str = ""
    goal_id: str = ""
    goal: str = ""
    goals: int = 0
    origin: Any = None
    cwd: str = ""
    frontend: str = ""
    program: str = ""
    is_root: bool = False
    environment: Environment | None = None
    planner: str = ""
    model: str = ""
    approve: str = "ask"
    private: bool = False
    unlisted: bool = False
    status: str = ""
    exit_code: int | None = None
    message: str = ""
    text: str = ""
    usage: Usage | None = None
    duration: float = 0.0
    steps: int = 0
    name: str = ""
    reason: str = ""
    began: str = ""
    ended: str = ""
    command_id: str = ""
    command: str = ""
    report: Report | None = None
    verdict: Verdict | None = None
    known: msgspec.Raw = EMPTY
    stage: str = ""
    decision: str = ""
    by: str = ""
    remark: str = ""
    word_typed: bool = False
    safety_off: bool = False
    via: str = ""
    confine: str = "off"
    timeout: float | None = None
    stream: str = ""
    data: Any = None
    result: Any = None
    conflict: bool = False
    undo_id: str = ""


@cache
def _decoder() -> msgspec.json.Decoder[Line]:
    return msgspec.json.Decoder(built(Line))


def read_line(line: bytes) -> Line | None:
    """The line, None for what is no JSON object. A field of another type than ours counts as absent: newer versions may have such."""
    try:
        found: Line | None = _decoder().decode(line)
    except msgspec.ValidationError:
        found = _lenient(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if found is not None and found.type == "command.finished":
        found.result = _result(found.result)
    return found


def _lenient(line: bytes) -> Line | None:
    try:
        data = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    fitting: dict[str, Any] = {}
    for field in msgspec.structs.fields(Line):
        try:
            if field.name in data:
                fitting[field.name] = msgspec.json.decode(data[field.name], type=built(field.type))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
    return Line(**fitting)


def _result(data: Any) -> Result:
    """The result of a `command.finished`; what is none of ours counts as absent."""
    try:
        return msgspec.convert(data, built(Result))
    except (msgspec.ValidationError, RecursionError):
        return Result()


# The envelope as we write it, up to the type: most lines can be passed by without looking further.
HEAD = re.compile(
    rb'\{"v":\d{1,4},"seq":\d{1,15},"time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)","session":"[\w.-]{1,64}","run":"\w{0,64}",'
    rb'"goal_id":"(\w{0,64})",(?:"prev":"\w{64}",)?"type":"([a-z_.]{1,40})"'
)
"""Groups: time, goal's id, type."""


def whole(number: int | None) -> int:
    """A number that every database can hold."""
    return max(-MOST_NUMBER, min(number or 0, MOST_NUMBER))


def real(number: float | None) -> float:
    """A finite number, not below nothing: durations and costs."""
    return min(max(float(number), 0.0), 1e15) if number is not None and math.isfinite(number) else 0.0


def kept(text: str, limit: int) -> str:
    """The first `limit` characters, without what a database or a separator cannot do with: NUL, lone surrogates, \\x1e."""
    text = text[:limit]
    if text.isascii():
        return text.replace("\x00", "\ufffd").replace("\x1e", " ") if "\x00" in text or "\x1e" in text else text
    text = text.replace("\x00", "\ufffd").replace("\x1e", " ")
    return text.encode("utf-8", "replace").decode("utf-8")


_DAYS: dict[str, int] = {}
_OTHER_FORMS = r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))"


def microseconds(stamp: str) -> int | None:
    """Since the epoch, for a `time` of a log; None for anything else, and for a time that does not say its offset.

    This program writes `2026-11-22T07:49:31.552971Z`; others may write less of a fraction, or another offset than UTC's.
    """
    stamp = as_written(stamp)
    day = stamp[:10]
    try:
        begins = _DAYS.get(day)
        if begins is None:
            begins = _begin_of(day)
        hour, minute, second, fraction = stamp[11:13], stamp[14:16], stamp[17:19], stamp[20:26]
        if stamp[10:20:3] != "T::." or not (hour + minute + second + fraction).isdigit():
            return None
        if hour > "23" or minute > "59":
            return None
        return max(0, (begins + int(hour) * 3600 + int(minute) * 60 + int(second)) * 1_000_000 + int(fraction))
    except (ValueError, OverflowError):
        return None


def as_written(stamp: str) -> str:
    """A time of RFC 3339 in the form that this program writes, in which texts sort as the times do; "" for what is none.

    What has that form's length and end already comes back as it is, whatever else it holds.
    """
    if len(stamp) == STAMP_LENGTH and stamp[26] == "Z" and stamp.isascii():
        return stamp
    found = re.fullmatch(_OTHER_FORMS, stamp, re.ASCII) if len(stamp) <= _LONGEST_STAMP else None
    if found is None:
        return ""
    day, clock, fraction, sign, hours, minutes = found.groups()
    shifted = f"{day}T{clock}.{(fraction or '')[:6]:0<6}Z"
    if not sign:
        return shifted
    if hours > "23" or minutes > "59" or (at := microseconds(shifted)) is None:
        return ""
    seconds, rest = divmod(at, 1_000_000)
    seconds -= (int(hours) * 3600 + int(minutes) * 60) * (1 if sign == "+" else -1)
    try:
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(max(seconds, 0)))}.{rest:06d}Z"
    except (ValueError, OverflowError, OSError):
        return ""


def _begin_of(day: str) -> int:
    """Seconds since the epoch. Parsing is dear, and a log has few days. Raises ValueError, OverflowError."""
    begins = calendar.timegm(time.strptime(day, "%Y-%m-%d"))
    if len(_DAYS) > 10_000:
        _DAYS.clear()
    _DAYS[day] = begins
    return begins
