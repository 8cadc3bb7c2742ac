"""Apply a unified diff for a model: all of it is tried before the first file is changed, each file an action of the gate."""

from __future__ import annotations

from dataclasses import dataclass

from agent.protocol.actions import DeleteFile
from agent.protocol.errors import InvalidRequest
from agent.protocol.ports import ToolResult
from agent.repo_agent.patches import NOTHING, FilePatch, patched, patches_in
from agent.repo_agent.root import MOST_TEXT, Text, read_text, root_of
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.tools.files import write
from agent.repo_agent.workplace import Doors, Workplace
from agent.text.sizes import counted
from agent.tools.root import Place, Root, done, refused


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
