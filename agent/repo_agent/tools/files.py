"""Read files of the repository for a model, and write them as it says, whole or by a unified diff, in the encoding and with the line ends
that they have.

All of a diff is tried before the first file is changed; each file is an action of the gate.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from agent.planner.untrusted import clip, weight
from agent.protocol import actions
from agent.protocol.actions import DeleteFile
from agent.protocol.errors import InvalidRequest
from agent.protocol.ports import ToolResult
from agent.repo_agent.patches import NOTHING, FilePatch, patched, patches_in
from agent.repo_agent.root import MOST_TEXT, Text, decoded, read_text, read_up_to, root_of
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.workplace import Doors, Workplace
from agent.text.sizes import counted, size_words
from agent.tools.root import Place, Root, done, refused

_MOST_FILES = 40
_MOST_TOKENS = 10_000
"""Of one result; a planner gives it no more than a little over that."""
_FEWEST_TOKENS = 100
_MOST_READ = 4 << 20
_MOST_END = 1 << 16
"""Bytes of each end of a file that is longer than is read."""
_LINES = re.compile(r"(.+):(\d{1,9})-(\d{1,9})")
_LABEL = re.compile(r"\[redacted:[\w.-]+:[0-9a-f]{4}\]")


class WriteFile(Arguments, frozen=True):
    path: str
    content: str


class RetrieveContextFiles(Arguments, frozen=True):
    paths: list[str]


async def write_file(arguments: WriteFile, place: Workplace, doors: Doors) -> ToolResult:
    """Have a file written, new or over what is there."""
    if len(arguments.content) > MOST_TEXT:
        return refused(f"{len(arguments.content):,} characters are more than the {MOST_TEXT:,} that can be reviewed")
    root, before = root_of(place.root), Text("")
    target = root.place(arguments.path)
    if target.kind not in ("missing", "file") or not target.relative:
        return refused(f"{target.relative or '.'} is no file ({target.kind})")
    if target.kind == "file":
        target, before = read_text(root, arguments.path)
    return await write(target, before, before.dressed(arguments.content), doors)


async def write(target: Place, before: Text, content: str, doors: Doors) -> ToolResult:
    """Have `content` put into a file that holds `before`."""
    relative = target.relative
    labels = set(_LABEL.findall(content)) - set(_LABEL.findall(before.text))
    if labels:
        return refused(f"{relative}: {min(labels)} stands for a secret that is not shown; use apply_patch around it")
    if target.kind == "file" and content == before.mark + before.text:
        return ToolResult(content=f"{relative} holds just that already; nothing was written")
    action = actions.WriteFile(path=target.path, content=content, encoding=before.encoding)
    kept = [
        *(["CRLF line ends"] if before.newline == "\r\n" else []),
        *([f"{before.encoding.upper()} with a byte order mark"] if before.mark else []),
    ]
    said = f"wrote {counted(len(content), 'character')} to {relative}"
    return await done(action, doors, f"{said}; kept its {' and '.join(kept)}" if kept else said, relative)


async def retrieve_context_files(arguments: RetrieveContextFiles, place: Workplace, doors: Doors) -> ToolResult:
    """Return what files hold, of long ones the beginning and the end."""
    paths = list(dict.fromkeys(arguments.paths))
    if not 0 < len(paths) <= _MOST_FILES:
        return refused(f"name between 1 and {_MOST_FILES} paths")
    root, mark, failed = root_of(place.root), secrets.token_hex(3), list[str]()
    read = dict[str, tuple[str, str]]()
    for path in paths:
        try:
            read[path] = _shown(root, path)
        except InvalidRequest as error:
            failed.append(f"[{mark} not read] {error.message}")
    shares = _shares({path: weight(text) for path, (_, text) in read.items()})
    parts = [f"[{mark} file {name}]\n{clip(text, shares[path])}\n[{mark} end]" for path, (name, text) in read.items()]
    return ToolResult(content="\n".join(parts + failed), is_error=not read)


def _shares(weights: dict[str, float]) -> dict[str, int]:
    """Share the tokens of one result out among files: what short ones leave is for long ones."""
    left, shares = float(_MOST_TOKENS), dict[str, int]()
    for count, path in enumerate(sorted(weights, key=lambda each: weights[each])):
        shares[path] = max(int(left / (len(weights) - count)), _FEWEST_TOKENS)
        left -= min(weights[path], shares[path])
    return shares


def _shown(root: Root, path: str) -> tuple[str, str]:
    """The name of a file with what is to know of it, and its text, or the lines that the path names."""
    asked = _LINES.fullmatch(path)
    if asked and root.place(path, follow=True).kind == "missing":
        path = asked[1]
    else:
        asked = None
    with root.opened(path) as (fd, place):
        data = read_up_to(fd, _MOST_READ)
        start = max(len(data), place.size - _MOST_END)
        end = read_up_to(fd, _MOST_END, start)
    if end:
        if b"\0" in data or asked:
            raise InvalidRequest(f"{place.relative} ({size_words(place.size)}) is {'too long' if asked else 'no text'}")
        left = f"\n[… {start - _MOST_END:,} bytes left out …]\n"
        whole = data[:_MOST_END].decode("utf-8", "replace") + left + end.decode("utf-8", "replace")
        return f"{place.relative}, {size_words(place.size)}", whole
    try:
        text = decoded(data)
    except InvalidRequest as error:
        raise InvalidRequest(f"{place.relative} ({size_words(place.size)}) {error.message}") from None
    kind = "" if text.encoding == "utf-8" else f", {text.encoding.upper()}"
    lines = text.text.splitlines(keepends=True)
    if asked is None:
        return f"{place.relative}, {counted(len(lines), 'line')}{kind}", text.text
    first, last = max(int(asked[2]), 1), min(int(asked[3]), len(lines))
    if first > last:
        raise InvalidRequest(
            f"{place.relative} has {counted(len(lines), 'line')}, none of them is {asked[2]}-{asked[3]}"
        )
    return f"{place.relative}, lines {first}-{last} of {len(lines):,}{kind}", "".join(lines[first - 1 : last])


FILES = (
    ToolDefinition("write_file", WriteFile, Effect.WRITES, write_file),
    ToolDefinition("retrieve_context_files", RetrieveContextFiles, Effect.READS, retrieve_context_files),
)


class ApplyPatch(Arguments, frozen=True):
    patch: str


@dataclass(frozen=True)
class _Change:
    """The new state of one file: `text` is all of it, None where it goes."""

    place: Place
    before: Text
    text: str | None
    said: str

    async def made(self, doors: Doors) -> ToolResult:
        if self.text is None:
            return await done(DeleteFile(path=self.place.path), doors, self.said, self.place.relative)
        return await write(self.place, self.before, self.text, doors)


async def apply_patch(arguments: ApplyPatch, place: Workplace, doors: Doors) -> ToolResult:
    """Change the files as it says. After one that was not changed, the others are left."""
    if len(arguments.patch) > MOST_TEXT:
        return refused(f"a patch has at most {MOST_TEXT:,} characters")
    root = root_of(place.root)
    changes = [_change(root, each) for each in patches_in(arguments.patch)]
    if len({change.place.path for change in changes}) < len(changes):
        return refused("the patch has the same file twice; put all hunks of a file below one head")
    told, written = list[str](), list[str]()
    for change in changes:
        result = await change.made(doors)
        if result.is_error:
            told.append(f"{change.place.relative}: {result.content}")
            left = [each.place.relative for each in changes[len(told) :]]
            told += [f"not changed: {', '.join(left)}"] if left else []
            return ToolResult(content="\n".join(told), is_error=True, files_written=tuple(written))
        told.append(change.said)
        written += result.files_written
    return ToolResult(content="\n".join(told), files_written=tuple(written))


def _change(root: Root, patch: FilePatch) -> _Change:
    if patch.old == NOTHING:
        place = root.place(patch.path)
        if place.kind != "missing":
            raise InvalidRequest(f"{place.relative or '.'} is there already; the patch takes it for new")
        return _Change(place, Text(""), patched("", patch), f"created {place.relative}")
    if root.place(patch.path).kind == "link":
        raise InvalidRequest(f"{patch.path} is a link; a patch changes files")
    place, before = read_text(root, patch.path)
    text = patched(before.text, patch, before.newline or "\n")
    if patch.new == NOTHING:
        if text:
            raise InvalidRequest(f"the patch deletes {place.relative}, but leaves lines of it")
        return _Change(place, before, None, f"deleted {place.relative}")
    return _Change(place, before, before.mark + text, f"changed {place.relative} ({counted(len(patch.hunks), 'hunk')})")


PATCHING = (ToolDefinition("apply_patch", ApplyPatch, Effect.WRITES, apply_patch),)
