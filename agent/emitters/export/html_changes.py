"""Render the changes of a rehearsal, and texts before and after an edit, as HTML."""

from __future__ import annotations

from difflib import SequenceMatcher

from agent.audit.story.model import RehearsalStory
from agent.emitters.export.html_text import code, line, name
from agent.emitters.rehearsal_text import totals_words
from agent.protocol.rehearsals import Change, FileState
from agent.text.sizes import counted, size_words

_MARKS = {
    "create": ("+", "new"), "modify": ("~", "changed"), "delete": ("−", "deleted"),
    "meta": ("*", "mode, owner or time"), "rename": ("→", "renamed"), "type": ("!", "another kind"),
}  # fmt: skip
_MOST_CHANGES = 300
_MOST_DIFF_LINES = 400
_MOST_DIFFS = 40
_SEEN_LINES = 22  # what is longer scrolls in its box, and must be reached by keys
_LONGEST_LINE = 1_000
_LONGEST_EDIT = 4_000


def rehearsal_block(story: RehearsalStory, *, full: bool) -> str:
    """One rehearsal: how it ended, each change, each diff."""
    ended = "" if story.exit_code is None else f" · exit {story.exit_code}"
    count = len(story.changes) + story.more
    said = counted(count, "change") if count else "no changes"
    totals = totals_words(story.totals)
    summary = f"Rehearsed{ended} · {said}" + (f' <span class="dim">{totals}</span>' if totals else "")
    if story.outcome not in ("finished", ""):
        summary += f' <span class="warn">{line(story.outcome, 40)}</span>'
    parts = []
    if story.reason:
        parts.append(f'<p class="note warn">{line(story.reason)}</p>')
    if full:
        parts += _changes(story)
    elif story.changes:
        parts.append('<p class="note">the changes are left out here: the page would be too large</p>')
    parts += [f'<p class="note">{_not_shown(text)}</p>' for text in story.not_shown[:10]]
    parts += [f'<p class="note">left in the shell: {line(text)}</p>' for text in story.shell[:10]]
    is_open = " open" if count <= 12 else ""
    return f'<details class="rehearsal"{is_open}><summary>{summary}</summary>{"".join(parts)}</details>'


def _not_shown(text: str) -> str:
    """What this rehearsal could not show, or what none shows, which says so itself."""
    return line(text) if text.startswith("not part of any rehearsal") else f"not shown by the rehearsal: {line(text)}"


def _changes(story: RehearsalStory) -> list[str]:
    rows = []
    diffs = 0
    for change in story.changes[:_MOST_CHANGES]:
        diff = ""
        if change.diff and diffs < _MOST_DIFFS:
            diffs += 1
            diff = _diff(change.diff)
        rows.append(f"<li>{_change(change, story.cwd)}{diff}</li>")
    left = len(story.changes) + story.more - len(rows)
    if left > 0:
        rows.append(f'<li class="dim">… and {counted(left, "more change")}</li>')
    return [f'<ul class="changes">{"".join(rows)}</ul>'] if rows else []


def _change(change: Change, cwd: str) -> str:
    mark, word = _MARKS[change.op]
    place = _place(change.path, cwd) + ("/" if change.kind == "dir" else "")
    if change.op == "rename":
        place = f"{_place(change.source, cwd)} → {place}"
    flags = "".join(f' <span class="flag">{line(flag, 40)}</span>' for flag in change.flags[:8])
    return (
        f'<span class="op op-{change.op}" title="{word}"><span aria-hidden="true">{mark}</span>'
        f'<span class="sr">{word}: </span></span> <code>{place}</code> <span class="dim">{_size(change)}</span>{flags}'
    )


def _size(change: Change) -> str:
    parts = [_state(state) for state in (change.before, change.after) if state is not None]
    same = len(parts) == 2 and parts[0] == parts[1]
    shown = parts[0] if same else " → ".join(parts)
    if change.before is not None and change.after is not None and change.before.mode != change.after.mode:
        shown += f", mode {change.before.mode:04o} → {change.after.mode:04o}"
    return shown


def _state(state: FileState) -> str:
    if state.kind == "link":
        return f"link to {name(state.target, 200)}"
    if state.kind == "dir":
        return f"folder, {counted(state.entries, 'entry') if state.entries == 1 else f'{state.entries:,} entries'}"
    return size_words(state.size) if state.kind == "file" else state.kind


def _place(path: str, cwd: str) -> str:
    below = cwd.rstrip("/") + "/"
    return name(path[len(below) :] if cwd and path.startswith(below) and len(path) > len(below) else path)


def _diff(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    shown = []
    for raw in lines[:_MOST_DIFF_LINES]:
        kind = "head" if raw.startswith(("+++", "---")) else {"@": "at", "+": "ins", "-": "del"}.get(raw[:1], "same")
        shown.append(f'<span class="d-{kind}">{code(raw, _LONGEST_LINE) or " "}</span>')
    if len(lines) > _MOST_DIFF_LINES:
        shown.append(f'<span class="d-at">… {len(lines) - _MOST_DIFF_LINES:,} more lines</span>')
    reach = ' tabindex="0" role="group" aria-label="Difference"' if len(shown) > _SEEN_LINES else ""
    return f'<pre class="diff"{reach}>{"".join(shown)}</pre>'


def edit_block(before: str, after: str) -> str:
    """A command as it was proposed and as the person made it, what differs marked."""
    if max(len(before), len(after)) > _LONGEST_EDIT:
        old, new = code(before), code(after)
    else:
        old, new = _marked(before, after)
    return (
        '<dl class="edit"><dt>proposed</dt>'
        f'<dd><pre class="d-del">{old}</pre></dd><dt>edited to</dt><dd><pre class="d-ins">{new}</pre></dd></dl>'
    )


def _marked(before: str, after: str) -> tuple[str, str]:
    old, new = [], []
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        gone, come = code(before[i1:i2]), code(after[j1:j2])
        if kind == "equal":
            old.append(gone)
            new.append(come)
            continue
        if gone:
            old.append(f"<del>{gone}</del>")
        if come:
            new.append(f"<ins>{come}</ins>")
    return "".join(old), "".join(new)
