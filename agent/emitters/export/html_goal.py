"""One goal as a section: what was asked, what the planner said, its commands, how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

from agent.audit.story.model import CommandStory, GoalStory, Mark, PlannerStep, Said, Step, ToolStory
from agent.emitters.export.html_command import command_article
from agent.emitters.export.html_markdown import markdown_html
from agent.emitters.export.html_text import clock, code, line, name, stamp, words
from agent.emitters.story.words import from_words, steps_of, took
from agent.protocol.replies import Usage
from agent.text.sizes import counted

_SIGNS = {"info": "·", "warning": "!", "error": "✗"}
_GOOD = ("completed", "answered", "handed_off")
_LONGEST_RESULT = 20_000


def status_style(status: str) -> str:
    """good, warn or bad."""
    if status in _GOOD:
        return "good"
    return "warn" if status in ("skipped", "cancelled", "interrupted") else "bad"


def goal_section(goal: GoalStory, number: int, first_command: int, *, full: bool) -> str:
    """The goal, or one part of it, under its `anchor`; its commands count from `first_command`."""
    key = anchor(goal, number)
    status = line(goal.status.replace("_", " "), 40)
    said = goal.goal if goal.origin != "shell" else f"!{goal.goal.removeprefix('!')}"
    message = ""
    if goal.message and goal.status not in _GOOD and not any(goal.message in text for text in _said(goal)):
        message = f'<p class="note">{words(goal.message, 1_000)}</p>'
    mono = ' class="mono"' if goal.origin == "shell" else ""
    part = f" <small>part {goal.part}</small>" if goal.part > 1 or goal.more else ""
    parts = [
        f'<section class="goal {status_style(goal.status)}" id="{key}" aria-labelledby="{key}-n {key}-h">',
        f'<header><p class="when"><a id="{key}-n" href="#{key}">Goal {number}</a>{part} {_time(goal.began)}</p>',
        f'<h2 id="{key}-h"{mono}>{words(said, 2_000)}</h2>',
        f'<p class="meta"><span class="chip {status_style(goal.status)}">{status}</span> {_meta(goal)}</p>',
        f"</header>{message}",
    ]
    at = first_command
    for step in steps_of(goal):
        parts.append(_step(step, at, full=full))
        at += isinstance(step, CommandStory)
    parts.append("</section>")
    return "".join(parts)


def _said(goal: GoalStory) -> Iterator[str]:
    """What the steps of the goal tell the person themselves."""
    for step in goal.steps:
        if isinstance(step, (Said, PlannerStep)):
            yield step.text


def anchor(goal: GoalStory, number: int) -> str:
    """The id of the section: `g3`, or `g3-2` for the second part of a very long goal."""
    return f"g{number}" if goal.part == 1 else f"g{number}-{goal.part}"


def mark_line(mark: Mark) -> str:
    """Something said between goals or in one."""
    sign = _SIGNS[mark.weight]
    return (
        f'<p class="mark {mark.weight}"><span class="sign" aria-hidden="true">{sign}</span>'
        f'<span><span class="kind">{line(mark.kind, 40)}</span> {words(mark.text, 2_000)}</span>{_time(mark.time)}</p>'
    )


def spent(usage: Usage) -> str:
    """Tokens and cost, "" where no model was asked."""
    tokens = usage.input_tokens + usage.output_tokens
    parts = [f"{'~' if usage.estimated else ''}{counted(tokens, 'token')}"] if tokens else []
    if usage.cost is not None:
        parts.append(f"${usage.cost:.4f}")
    return " · ".join(parts)


def _step(step: Step, number: int, *, full: bool) -> str:
    match step:
        case CommandStory():
            return command_article(step, number, full=full)
        case PlannerStep():
            return _planner(step)
        case Said(text=text):
            return f'<div class="said">{markdown_html(text)}</div>'
        case ToolStory():
            return _tool(step)
        case Mark():
            return mark_line(step)


def _meta(goal: GoalStory) -> str:
    planner = goal.planner + (f" {goal.model}" if goal.model and goal.model != goal.planner else "")
    parts = [
        line(from_words(goal), 100),
        took(goal.duration) if goal.duration else "",
        line(planner, 80),
        spent(goal.usage),
    ]
    if goal.commands:
        parts.append(counted(len(goal.commands), "command"))
    if goal.private:
        parts.append("private: kept from the planner")
    if goal.safety_off:
        parts.append('<span class="bad">safety off</span>')
    if goal.cwd:
        parts.append(f"<code>{name(goal.cwd, 300)}</code>")
    if goal.files:
        parts.append("with " + ", ".join(f"<code>{name(path, 100)}</code>" for path in goal.files[:10]))
    return '<span class="dim">' + " · ".join(part for part in parts if part) + "</span>"


def _planner(step: PlannerStep) -> str:
    facts = " · ".join(part for part in (line(step.model, 60), took(step.duration), spent(step.usage)) if part)
    if step.error is not None:
        return f'<p class="mark error"><span class="sign" aria-hidden="true">✗</span><span>{line(step.error.message, 1_000)}</span></p>'
    text = markdown_html(step.text) if step.text else ""
    raw = ""
    if step.raw and step.raw != step.text:
        raw = f'<pre class="raw" tabindex="0">{code(step.raw, _LONGEST_RESULT)}</pre>'
    summary = f'Planner: <span class="dim">{line(step.reply, 20)} · {facts}</span>'
    if raw:
        return f'<div class="said">{text}<details class="reply"><summary>{summary}</summary>{raw}</details></div>'
    return f'<div class="said">{text}<p class="by">{summary}</p></div>'


def _tool(step: ToolStory) -> str:
    arguments = _readable(step.args) if step.args else ""
    ending = "failed" if step.is_error else "" if step.finished else "not finished"
    chip = f' <span class="chip bad">{ending}</span>' if ending else ""
    files = "".join(f" <code>{name(path, 200)}</code>" for path in step.files_written[:20])
    return (
        f'<details class="tool"><summary>Tool <code>{code(step.name, 80)}</code>{chip}{files}</summary>'
        f'<pre class="raw" tabindex="0">{code(arguments, _LONGEST_RESULT)}</pre>'
        f'<pre class="raw" tabindex="0">{code(step.result, _LONGEST_RESULT)}</pre></details>'
    )


def _readable(args: dict[str, Any]) -> str:
    try:
        return dumps(args, indent=2, ensure_ascii=False)
    except RecursionError:
        return "nested too deeply to be shown here"


def _time(time: str) -> str:
    return f' <time datetime="{stamp(time)}">{clock(time)}</time>' if clock(time) else ""
