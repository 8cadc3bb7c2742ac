"""Put a story in words: times, decisions, endings. All of it safe to look at; nothing is painted yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from agent.audit.story.model import CommandStory, Decision, GoalStory, Mark, SessionBegan, Step
from agent.emitters.paint import MARKS, safe_line, wrapped
from agent.protocol.outcomes import Usage
from agent.text.shown import shown_name
from agent.text.sizes import counted, seconds

_BY = {"person": "by a person", "policy": "by policy", "nobody": "nobody was there to ask"}
_LONGEST_NAME = 200
_LOOSER = ("approve", "confine", "rehearse")
_USUAL = ("ask", "off", "")


def local(time: str) -> datetime | None:
    """A record's time in the zone of who reads it, None where it is no time."""
    try:
        return datetime.fromisoformat(time).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def day(time: str) -> str:
    """`Sun Nov 22 2026, 07:56:01 CET`."""
    at = local(time)
    return f"{at:%a %b %-d %Y, %H:%M:%S %Z}".rstrip() if at else safe_line(time, 40)


def took(duration: float) -> str:
    """A duration, as far as it can be one."""
    return seconds(duration) if 0 <= duration < 1e9 else "an impossible time"


def clock(time: str, since: str = "") -> str:
    """`07:56:03`, with the date before it where that is not the one of `since`."""
    at, before = local(time), local(since)
    if at is None:
        return safe_line(time, 40)
    same = before is not None and at.date() == before.date()
    return f"{at:%H:%M:%S}" if same else f"{at:%b %-d %Y, %H:%M:%S}"


def began_words(began: SessionBegan, before: SessionBegan | None = None) -> list[str]:
    """Tell who opened the log, when and where; of that, what is not as it was `before`."""
    words = [
        (day(began.time), None),
        (safe_line(began.program, 60), before and safe_line(before.program, 60)),
        (safe_line(began.frontend, 20), before and safe_line(before.frontend, 20)),
        (f"in {name(began.cwd)}" if began.cwd else "", before and f"in {name(before.cwd)}"),
        ("as root" if began.is_root else "", "as root" if before and before.is_root else ""),
    ]
    shown = [word for word, earlier in words if word and word != earlier]
    shown += [
        safe_line(f"{key} {began.settings[key]}", 40) for key in _LOOSER if began.settings.get(key, "ask") not in _USUAL
    ]
    return shown + (["safety off"] if began.safety_off else [])


def origin_words(began: SessionBegan) -> str:
    """Say which session this one came from, and what of it belongs to this one; "" for none."""
    origin = began.origin
    if origin is None:
        return ""
    session = safe_line(origin.session, 80)
    if origin.how == "replay":
        return f"runs commands of session {session} again"
    why = {"retry": " to retry a goal", "undo-turn": " to leave out a goal"}.get(origin.how, "")
    return f"branched from session {session}{why}, after its record {origin.seq:,}"


def from_words(goal: GoalStory) -> str:
    """Say whose goal it is, where the session that is told only took it over; "" for its own."""
    return f"from session {safe_line(goal.taken_from, 80)}" if goal.taken_from else ""


def steps_of(goal: GoalStory) -> Iterator[Step]:
    """The steps of a goal without warnings that only say what one of its commands tells already."""
    told = {note for command in goal.commands for note in command.notes}
    told |= {f"not run: {each.remark}" for command in goal.commands for each in command.decisions if each.remark}
    for step in goal.steps:
        if not (isinstance(step, Mark) and step.weight == "warning" and step.text in told):
            yield step


def goal_words(goal: GoalStory, since: str, folder: str = "") -> list[str]:
    """List what stands under the goal, after its status. `folder`: the one that was named last."""
    words = [from_words(goal)] if goal.taken_from else []
    if goal.duration:
        words.append(took(goal.duration))
    words.append(clock(goal.began, since))
    words += {"shell": ["own command"], "goal": []}.get(goal.origin, [safe_line(goal.origin, 40)])
    if goal.planner_calls:
        model = f" ({safe_line(goal.model, 80)})" if goal.model else ""
        words.append(f"planner {safe_line(goal.planner, 60)}{model}")
    words += usage_words(goal.usage)
    words += [f"in {name(goal.cwd)}"] if goal.cwd and goal.cwd != folder else []
    words += ["private"] if goal.private else []
    words += ["safety off"] if goal.safety_off else []
    if goal.files or goal.context:
        given = ", ".join(name(text) for text in (*goal.files, *goal.context)[:5])
        words.append(f"with {given}")
    return words


def usage_words(usage: Usage) -> list[str]:
    """Tokens and money, where there are any."""
    tokens = usage.input_tokens + usage.output_tokens
    words = [f"{'~' if usage.estimated else ''}{counted(tokens, 'token')}"] if tokens else []
    return words + ([f"${usage.cost:.4f}"] if usage.cost is not None else [])


def decided_words(command: CommandStory, approve: str = "") -> str:
    """Say who decided what: `approved by a person, the word was typed`. `approve`: the approve mode of the goal."""
    decision = command.last_decision
    if decision is None:
        return "nobody decided"
    words = _decision(decision, command, approve)
    remark = f": {safe_line(decision.remark, 300)}" if decision.remark and _says_more(decision) else ""
    typed = ", the word was typed" if decision.word_typed else ""
    return words + typed + (", safety off" if decision.safety_off else "") + remark


def from_whom(command: CommandStory) -> str:
    """Tell whose command it is, "" for the planner's."""
    if command.origin in ("planner", ""):
        return ""
    if command.is_write:
        return "asked for by a tool"
    return "typed by the person" if command.origin == "person" else f"from {command.origin}"


def _says_more(decision: Decision) -> bool:
    """Tell whether the remark is more than what the decision itself says."""
    return decision.by != "nobody" and decision.decision != "dry-run"


def _decision(decision: Decision, command: CommandStory, approve: str) -> str:
    by = _BY.get(decision.by, safe_line(decision.by, 40))
    match decision.decision:
        case "approved" | "edited":
            what = "edited and approved" if command.edited else "approved"
            if command.is_write:
                what = "allowed"
            mode = f" (--approve {safe_line(approve, 20)})" if approve not in ("", "ask") else ""
            if command.origin == "person":  # of commands of one's own another setting says which are asked about
                mode = f", {from_whom(command)}"
            return f"{what} unasked{mode}" if decision.by == "approve-mode" else f"{what} {by}"
        case "declined" if decision.by == "nobody":
            return f"not run: {by}"
        case "declined":
            return "not run: the word was not typed" if decision.command else f"declined {by}"
        case "refused":
            return f"refused {by}"
        case "dry-run":
            return "not run: dry run"
        case "remark":
            return f"answered with a remark {by}"
        case "regenerate":
            return f"another one was asked for {by}"
        case "cancelled":
            return f"the goal was stopped here {by}"
    return f"{safe_line(decision.decision, 40)} {by}"


def ending_words(command: CommandStory) -> tuple[str, str]:
    """Say how the run ended, and in what style; "" where it did not run."""
    if not command.ran:
        return "", ""
    after = f" after {took(command.duration)}" if command.duration else ""
    if command.job:
        return f"continues in the background as job {command.job}{after}", "cyan"
    if command.timed_out:
        return f"{MARKS['red']} timed out{after}", "red"
    if command.interrupted and command.exit_code is None:
        return f"{MARKS['yellow']} its ending is not in the log", "yellow"
    if command.interrupted:
        return f"{MARKS['yellow']} interrupted{after}", "yellow"
    if command.signal is not None:
        return f"{MARKS['red']} killed by signal {command.signal}{after}", "red"
    style = "green" if command.exit_code == 0 else "red"
    return f"{MARKS[style]} exit {command.exit_code}{after}", style


def undo_words(command: CommandStory) -> str:
    """Say how to take it back, or that this was done."""
    if not command.undo_id:
        return ""
    undo_id = safe_line(command.undo_id, 80)
    if command.undo_state == "undone":
        return f"taken back later ({undo_id})"
    if command.undo_state == "committed":
        return f"taken back and done again ({undo_id})"
    return f"undo: agent-shell undo {undo_id}"


def name(text: str) -> str:
    """A path or another name, whole as far as it is of ordinary length, on one line."""
    cut = text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
    return shown_name(cut)


def flowed(parts: Sequence[tuple[str, str]], width: int) -> Iterator[list[tuple[str, str]]]:
    """Pieces of (text, style), safe already, as lines of such pieces; text is broken as `wrapped` does it."""
    text = "".join(piece for piece, _ in parts)
    at = 0
    for line in wrapped(text, width):
        start = text.find(line, at) if line else at
        at = start + len(line)
        pieces, begin = [], 0
        for piece, style in parts:
            inside = text[max(start, begin) : min(at, begin + len(piece))]
            if inside and max(start, begin) < min(at, begin + len(piece)):
                pieces.append((inside, style))
            begin += len(piece)
        yield pieces
