"""Read unified diffs as models write them, and apply them to texts: by what lines say, with their numbers as a hint. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.protocol.errors import InvalidRequest

_HUNK = re.compile(r"@@(?: -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@|(?: .*)?$)")
_UNTOLD = ("rename from ", "rename to ", "copy from ", "GIT binary patch", "Binary files ")
_MODES = ("old mode ", "new mode ", "new file mode 1007", "new file mode 120")
NOTHING = "/dev/null"


@dataclass
class Hunk:
    """Lines with their sign (" ", "-", "+"). `start`: the line of the file, 0 where it is not told. `bare`: sides ("-", "+") whose last
    line has no end."""

    start: int = 0
    lines: list[tuple[str, str]] = field(default_factory=list)
    bare: set[str] = field(default_factory=set)

    def side(self, sign: str) -> list[str]:
        """Return the lines before ("-") or after ("+") it."""
        return [text for each, text in self.lines if each in (" ", sign)]


@dataclass
class FilePatch:
    """A change of one file. `old` or `new` is NOTHING for one that comes or goes."""

    old: str
    new: str
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The path that it is about."""
        return self.old if self.new == NOTHING else self.new


def patches_in(text: str) -> list[FilePatch]:
    """Read a diff. Raises InvalidRequest, in words that tell a model what to mend."""
    lines = text.replace("\r\n", "\n").split("\n")
    found: list[FilePatch] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line == "-- ":  # what follows is the signature of a mail
            break
        if line.startswith(_UNTOLD):
            raise InvalidRequest(f"{line.split(' /')[0]!r}: a patch changes lines; for renames there is rename_files")
        if line.startswith(_MODES):
            raise InvalidRequest(
                f"{line!r}: a patch changes lines; leave that one out, and use chmod or ln by run_command"
            )
        if _begins_file(lines, at):
            found.append(_file(line, lines[at + 1]))
            at += 2
        elif found and (head := _HUNK.match(line)):
            hunk, at = _hunk(head, lines, at + 1)
            found[-1].hunks.append(hunk)
        elif line.strip() and found and not line.startswith(("diff ", "index ", "new file ", "deleted file ", "```")):
            raise InvalidRequest(f"line {at + 1} of the patch belongs to no hunk: {line[:80]!r}")
        else:
            at += 1
    if not found or not all(each.hunks for each in found):
        raise InvalidRequest(
            "a patch has `--- a/PATH`, `+++ b/PATH` and hunks that begin with `@@ -LINE,COUNT +LINE,COUNT @@`"
        )
    return found


def _begins_file(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _file(old: str, new: str) -> FilePatch:
    names = [line[4:].split("\t")[0].rstrip() for line in (old, new)]
    if any(name.startswith('"') for name in names):
        raise InvalidRequest("a path in quotes cannot be read; write it as it is")
    if all(name == NOTHING or name.startswith(sign) for name, sign in zip(names, ("a/", "b/"), strict=True)):
        names = [name if name == NOTHING else name[2:] for name in names]
    if NOTHING not in names and names[0] != names[1]:
        raise InvalidRequest(f"{names[0]!r} is not {names[1]!r}: for renames there is rename_files")
    return FilePatch(names[0], names[1])


def _hunk(head: re.Match[str], lines: list[str], at: int) -> tuple[Hunk, int]:
    """Read as many lines as its head says, and more or fewer where that is plainly wrong; return the place behind it, too."""
    hunk = Hunk(int(head[1] or 0))
    left = {"-": int(head[2] or 1), "+": int(head[3] or 1)} if head[1] else {"-": 0, "+": 0}
    while at < len(lines):
        line, counting = lines[at], left["-"] > 0 or left["+"] > 0
        if line.startswith("\\"):
            last = hunk.lines[-1][0] if hunk.lines else " "
            hunk.bare |= {"-", "+"} if last == " " else {last}
        elif _ends_hunk(lines, at, counting=counting):
            break
        elif line[:1] in (" ", "-", "+") or (not line and (counting or not head[1]) and any(lines[at:])):
            sign = line[:1] or " "
            hunk.lines.append((sign, line[1:]))
            for each in left:
                left[each] -= sign in (" ", each)
        else:
            break
        at += 1
    if not any(sign in ("-", "+") for sign, _ in hunk.lines):
        raise InvalidRequest("a hunk changes nothing: its lines begin with a space, `-` or `+`")
    return hunk, at


def _ends_hunk(lines: list[str], at: int, *, counting: bool) -> bool:
    """Tell whether something else begins: a hunk, a file, or the signature below a patch in a mail."""
    if lines[at].startswith(("@@", "diff --git ")):
        return True
    if _begins_file(lines, at):
        return not counting or "".join(lines[at + 2 : at + 3]).startswith("@@")
    return not counting and lines[at] == "-- "


def patched(text: str, patch: FilePatch, newline: str = "\n") -> str:
    """Apply it to the text of a file. Lines that stay keep their ends. Raises InvalidRequest where a hunk does not fit."""
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    done: list[str] = []
    at = 0
    for number, hunk in enumerate(patch.hunks, 1):
        place = _place(lines, at, hunk, f"hunk {number} of {patch.path}")
        done += lines[at:place]
        at = place
        for sign, line in hunk.lines:
            if sign == "+":
                done.append(line + newline)
            else:
                done += lines[at : at + 1] if sign == " " else []
                at += 1
        if "+" in hunk.bare and done:
            done[-1] = done[-1].rstrip("\r\n")
    done += lines[at:]
    return "".join(_ended(line, newline) for line in done[:-1]) + (done[-1] if done else "")


def _ended(line: str, newline: str) -> str:
    return line if line.endswith("\n") else line + newline


def _place(lines: list[str], at: int, hunk: Hunk, name: str) -> int:
    """Find where it fits: at its own line, else at the one place that there is."""
    old = hunk.side("-")
    if not old:
        if hunk.start > len(lines) or hunk.start < at:
            raise InvalidRequest(f"{name} has no lines to tell its place by, and the file has no line {hunk.start}")
        return hunk.start
    shape: Callable[[str], str]
    for shape in (lambda line: line.rstrip("\r\n"), str.rstrip):
        wanted, there = [shape(line) for line in old], [shape(line) for line in lines]
        fits = [
            n
            for n in range(at, len(there) - len(wanted) + 1)
            if there[n] == wanted[0] and there[n : n + len(wanted)] == wanted
        ]
        if hunk.start - 1 in fits:
            return hunk.start - 1
        if len(fits) == 1:
            return fits[0]
        if fits:
            where = ", ".join(str(n + 1) for n in fits[:5])
            raise InvalidRequest(f"{name} fits at lines {where}; give more lines around it, or the right number")
    raise InvalidRequest(f"{name} does not fit; {_nearest(lines, at, hunk, old)}")


def _nearest(lines: list[str], at: int, hunk: Hunk, old: list[str]) -> str:
    """Say what stands where it should be."""
    start = next((n for n in range(at, len(lines)) if lines[n].strip() == old[0].strip()), hunk.start - 1)
    for n, line in enumerate(old):
        there = lines[start + n].rstrip("\r\n") if 0 <= start + n < len(lines) else None
        if there is None or there.rstrip() != line.rstrip():
            said = "the file ends before it" if there is None else f"the file has {there[:120]!r}"
            return f"it wants {line[:120]!r} at line {max(start + n, 0) + 1}, and {said}"
    return "read the file again"
