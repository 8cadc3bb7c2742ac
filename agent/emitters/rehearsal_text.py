"""Format the changes of a rehearsal as lines for people: pure, and everything from files made safe to look at.

A line is a list of (style, text); styles are those of `paint`, "" for none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence, Set

from agent.emitters.paint import paint
from agent.protocol.rehearsals import Change, FileState, Rehearsal, Totals
from agent.text.shown import shown, shown_name
from agent.text.sizes import counted, size_words

Line = list[tuple[str, str]]

_MARKS = {
    "create": ("+", "green"), "modify": ("~", "yellow"), "delete": ("-", "red"),
    "meta": ("*", "cyan"), "rename": (">", "cyan"), "type": ("!", "yellow"),
}  # fmt: skip
_KINDS = {"dir": "folder", "fifo": "named pipe"}
_DIFF_STYLES = (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))
_LONGEST = 400
_NEVER_SHOWN = "not part of any rehearsal"
_FLAGS = {"many-names": "hard link", "group-lost": "loses its group, which a real run may keep"}
_FOLDED_FROM = 6
"""New entries below a new folder that are still listed one by one."""
_ORDER = {"delete": 0, "type": 1, "modify": 2, "rename": 3, "create": 4, "meta": 5}
"""The order of kinds: what is lost comes first."""
_LOST = ("delete", "type")
_SHOWN_CHANGES = 30
_SHOWN_DIFF = 60


def rehearsal_lines(
    rehearsal: Rehearsal, *, offered: bool = True, known: Set[str] = frozenset(), limit: int | None = None
) -> list[Line]:
    """Tell how much it would change, each change, and then what it cannot show.

    `offered`: it may be made real. `known`: what was said before of all rehearsals, and is not said again. `limit`: as of `change_lines`.
    """
    changes = change_lines(rehearsal.changes, cwd=rehearsal.cwd, more=rehearsal.more, limit=limit)
    return [_headline(rehearsal), *changes, *_remarks(rehearsal, offered=offered), *_caveats(rehearsal, known)]


def all_lines(rehearsal: Rehearsal, *, offered: bool = True, known: Set[str] = frozenset()) -> list[Line]:
    """All that it would change, with every diff."""
    return [
        *rehearsal_lines(rehearsal, offered=offered, known=known),
        *diff_lines(rehearsal.changes, cwd=rehearsal.cwd),
    ]


def _headline(rehearsal: Rehearsal) -> Line:
    code = f"exit {rehearsal.result.exit_code}"
    if not rehearsal.changes and not rehearsal.more:
        said = "no change was seen" if rehearsal.obstacle else "it would change nothing"
        return [("bold", said), ("", f": rehearsed, {code}")]
    totals = rehearsal.totals
    parts = [totals_words(totals)] if totals_words(totals) else []
    if totals.bytes_lost:
        parts.append(f"would lose {size_words(totals.bytes_lost)}")
    if totals.bytes_written:
        parts.append(f"would write {size_words(totals.bytes_written)}")
    count = counted(len(rehearsal.changes) + rehearsal.more, "change")
    return [("bold", f"{count} rehearsed, nothing was changed"), ("", f": {' · '.join([*parts, code])}")]


def _remarks(rehearsal: Rehearsal, *, offered: bool) -> Iterator[Line]:
    """Say what there is to say about making it real."""
    code = rehearsal.result.exit_code
    if offered and code != 0 and not rehearsal.obstacle and (rehearsal.changes or rehearsal.more):
        yield [("yellow", f"it failed in the rehearsal (exit {code}); it can be committed all the same")]
    if rehearsal.obstacle:
        yield [("red", f"cannot be committed: {shown_name(rehearsal.obstacle)}")]
    if offered and rehearsal.shell and not rehearsal.obstacle:
        yield [("yellow", f"also in the shell: {shown_name('; '.join(rehearsal.shell))}")]


def _caveats(rehearsal: Rehearsal, known: Set[str]) -> Iterator[Line]:
    """Make what this rehearsal could not show stand out; what none here shows is one line, once."""
    general = of_any(rehearsal)
    yield from ([("yellow", f"not shown: {shown_name(text)}")] for text in rehearsal.not_shown if text not in general)
    told = [
        shown_name(text.removeprefix(_NEVER_SHOWN).lstrip(": "))
        for text in rehearsal.not_shown
        if text in general - known
    ]
    if told:
        yield [("dim", f"Not isolated: {'; '.join(told)}")]


def of_any(rehearsal: Rehearsal) -> frozenset[str]:
    """Pick what it cannot show because no rehearsal here can."""
    return frozenset(text for text in rehearsal.not_shown if text.startswith(_NEVER_SHOWN))


def change_lines(changes: Sequence[Change], *, cwd: str, more: int = 0, limit: int | None = None) -> list[Line]:
    """A line a change, what is lost first; folder trees that are new are folded into one. With a `limit` about so many.

    What is deleted or becomes something else is always named: one by one, or where that is too much by the folders that it is in.
    Changes that deserve a second look are never folded away. Of the others it is said how many are missing.
    """
    ordered = in_order(changes)
    lost = [change for change in ordered if change.op in _LOST]
    lines = _lost_lines(lost, cwd, limit)
    folded = _folded(ordered[len(lost) :])
    if limit is not None and len(folded) > max(limit - len(lines), 1):
        folded.sort(key=lambda pair: not pair[0].flags)
        folded = folded[: max(limit - len(lines), 1)]
        folded.sort(key=lambda pair: (_ORDER[pair[0].op], pair[0].path))
    lines += [_change_line(change, below, cwd) for change, below in folded]
    left = len(changes) - len(lost) + more - sum(1 + len(below) for _, below in folded)
    if left > 0:
        lines.append([("dim", f"  … and {left:,} more changes")])
    return lines


def in_order(changes: Iterable[Change]) -> list[Change]:
    """Sort: what is lost first, then what is changed, then what is new; by path."""
    return sorted(changes, key=lambda change: (_ORDER[change.op], change.path))


def _lost_lines(lost: Sequence[Change], cwd: str, limit: int | None) -> list[Line]:
    """A line for each, or for each folder that they are in, as deep as `limit` lines allow; flagged ones stay alone."""
    if limit is None or len(lost) <= limit:
        return [_change_line(change, [], cwd) for change in lost]
    alone = [change for change in lost if change.flags][:limit]
    others = [change for change in lost if not change.flags or change not in alone]
    depth = max(change.path.count("/") for change in others)
    groups: dict[tuple[str, str], list[Change]] = {}
    for deep in range(depth, 0, -1):
        groups = {}
        for change in others:
            groups.setdefault((change.op, "/".join(os.path.dirname(change.path).split("/")[:deep])), []).append(change)
        if len(groups) <= limit:
            break
    lines = [_change_line(change, [], cwd) for change in alone]
    for (op, folder), inside in groups.items():
        mark, style = _MARKS[op]
        states = [change.before for change in inside if change.before is not None]
        size = size_words(sum(state.total_bytes or state.size for state in states))
        what = "files and folders" if any(change.kind == "dir" for change in inside) else "files"
        lines.append(
            [(style, f"  {mark} "), ("", f"{place(folder or '/', cwd)}/"), ("dim", f"  {len(inside):,} {what}, {size}")]
        )
    return lines


def changes_text(changes: Sequence[Change], cwd: str) -> str:
    """Changes with their diffs as plain text, as much as is looked at before a question."""
    diffs = diff_lines(changes, cwd=cwd)
    lines = [*change_lines(changes, cwd=cwd, limit=_SHOWN_CHANGES), *diffs[:_SHOWN_DIFF]]
    if len(diffs) > _SHOWN_DIFF:
        lines.append([("dim", f"   … and {len(diffs) - _SHOWN_DIFF:,} more lines of diffs")])
    return plain(lines, color=False)


def diff_lines(changes: Iterable[Change], *, cwd: str) -> list[Line]:
    """The unified diffs, painted; control characters made visible, long lines cut."""
    lines: list[Line] = []
    for change in in_order(changes):
        if not change.diff:
            continue
        lines.append([("bold", f"── {place(change.path, cwd)}")])
        lines += [_diff_line(line) for line in change.diff.rstrip("\n").split("\n")]
    return lines


def plain(lines: Iterable[Line], *, color: bool) -> str:
    """Lines as one text, with SGR colours or without."""
    return "\n".join(
        "".join(paint(text, style, color=color) if style else text for style, text in line) for line in lines
    )


def totals_words(totals: Totals) -> str:
    """`1 deleted, 2 modified, 3 created`; "" for none."""
    rows = (
        (totals.deleted, "deleted"),
        (totals.retyped, "of another kind"),
        (totals.modified, "modified"),
        (totals.renamed, "renamed"),
        (totals.created, "created"),
        (totals.meta, "with other mode, owner or time"),
    )
    return ", ".join(f"{count:,} {words}" for count, words in rows if count)


def _folded(changes: Sequence[Change]) -> list[tuple[Change, list[Change]]]:
    """Changes with those that they stand for: what is new below a new folder, where that is much and nothing to look at twice."""
    below: dict[str, list[Change]] = {}
    tops = [change.path for change in changes if change.op == "create" and change.kind == "dir"]
    folders = set(tops)
    for change in changes:
        top = _top_of(change.path, folders) if change.op == "create" and not change.flags else ""
        if top:
            below.setdefault(top, []).append(change)
    hidden = {id(change) for top in below.values() if len(top) > _FOLDED_FROM for change in top}
    listed = []
    for change in changes:
        if id(change) in hidden:
            continue
        inside = below.get(change.path, []) if change.path in folders else []
        listed.append((change, inside if len(inside) > _FOLDED_FROM else []))
    return listed


def _top_of(path: str, folders: set[str]) -> str:
    """The outermost new folder above `path`."""
    top, above = "", os.path.dirname(path)
    while above not in ("", "/"):
        if above in folders:
            top = above
        above = os.path.dirname(above)
    return top


def _change_line(change: Change, below: list[Change], cwd: str) -> Line:
    mark, style = _MARKS[change.op]
    where = place(change.path, cwd) + ("/" if change.kind == "dir" else "")
    if change.op == "rename":
        where = f"{place(change.source, cwd)} → {where}"
    line: Line = [(style, f"  {mark} "), ("", where)]
    more = details(change, below)
    if more:
        line.append(("dim", f"  {more}"))
    if change.flags:
        line.append(("red", f"  [{', '.join(shown_name(_FLAGS.get(flag, flag)) for flag in change.flags)}]"))
    return line


def details(change: Change, below: Sequence[Change] = ()) -> str:
    """Describe the new state, or what of it differs. `below`: changes inside of it that are not told one by one."""
    before, after = change.before, change.after
    if change.op == "create" and after is not None:
        if below:
            size = sum(inner.after.size for inner in below if inner.after is not None and inner.kind == "file")
            return f"new folder with {len(below):,} entries, {size_words(size)}"
        return _what(after)
    if change.op == "delete" and before is not None:
        return _what(before)
    if before is None or after is None:
        return ""
    parts = []
    if change.op == "type":
        parts.append(f"{_kind(before)} → {_what(after)}")
    elif before.kind == "link" and before.target != after.target:
        parts.append(f"→ {shown_name(before.target)} becomes → {shown_name(after.target)}")
    elif change.op in ("modify", "rename"):
        same = before.size == after.size
        parts.append(size_words(after.size) if same else f"{size_words(before.size)} → {size_words(after.size)}")
    return ", ".join([*parts, *_meta(before, after, alone=change.op == "meta")])


def _meta(before: FileState, after: FileState, *, alone: bool) -> list[str]:
    parts = []
    if before.mode != after.mode:
        parts.append(f"mode {before.mode:04o} → {after.mode:04o}")
    if (before.uid, before.gid) != (after.uid, after.gid):
        parts.append(f"owner {before.uid}:{before.gid} → {after.uid}:{after.gid}")
    if before.xattrs != after.xattrs:
        parts.append("extended attributes")
    if alone and not parts:
        parts.append("time" if before.mtime != after.mtime else "attributes")
    return parts


def _what(state: FileState) -> str:
    if state.kind == "link":
        return f"link → {shown_name(state.target)}"
    if state.kind == "dir":
        if not state.entries:
            return "folder"
        entries = "1 entry" if state.entries == 1 else f"{state.entries:,} entries"
        return f"folder with {entries}, {size_words(state.total_bytes)}"
    return size_words(state.size) if state.kind == "file" else _kind(state)


def _kind(state: FileState) -> str:
    return _KINDS.get(state.kind, state.kind)


def _diff_line(line: str) -> Line:
    text = shown(line[:_LONGEST]).replace("\r", "␍")
    if len(line) > _LONGEST:
        text += f" [… {len(line) - _LONGEST:,} more]"
    style = next((style for start, style in _DIFF_STYLES if line.startswith(start)), "")
    return [(style, f"   {text}")]


def place(path: str, cwd: str) -> str:
    """`path` as seen from `cwd` where it lies below it."""
    below = cwd.rstrip("/") + "/"
    inside = bool(cwd) and path.startswith(below) and len(path) > len(below)
    return shown_name(path[len(below) :] if inside else path)
