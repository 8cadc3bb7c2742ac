"""One command of a session as an article: what was proposed, why it was rated so, who decided, what came of it."""

from __future__ import annotations

from agent.audit.story.model import CommandStory, Decision
from agent.emitters.export.html_changes import edit_block, rehearsal_block
from agent.emitters.export.html_output import output_block
from agent.emitters.export.html_text import clock, code, line, name, stamp
from agent.emitters.export.prompts import MARKS
from agent.emitters.story.words import took
from agent.protocol.decisions import Finding, Level
from agent.text.sizes import counted

_MOST_FINDINGS = 40
_OUTCOMES = {
    "ran": "ran", "skipped": "skipped", "declined": "declined", "refused": "refused by policy", "remark": "answered with a remark",
    "regenerate": "another one was asked for", "cancelled": "cancelled",
}  # fmt: skip
_BY = {"person": "the person", "approve-mode": "the approve mode", "policy": "policy", "nobody": "nobody was there"}


def command_article(command: CommandStory, number: int, *, full: bool) -> str:
    """The command under the anchor `c<number>`. `full` is false where the page has no more room for output and changes."""
    level = command.level or "unrated"
    kinds = " ".join(kinds_of(command))
    text = command.run or command.proposed
    parts = [
        f'<article class="cmd {level}" id="c{number}" data-kinds="{kinds}" aria-labelledby="t{number}">',
        f'<header><h3 id="t{number}" class="risk">{_level(command.level)}</h3>{_ending(command)}',
        f'<a class="self" href="#c{number}" aria-label="Link to command {number}">#{number}</a></header>',
        f'<p class="reason">{line(command.reason, 1_000)}</p>' if command.reason else "",
        f'<p class="reason dim">read as: {line(command.reading, 300)}</p>' if command.reading else "",
        f'<p class="reason dim">not used: {line(", ".join(command.unused), 300)}</p>' if command.unused else "",
        edit_block(command.proposed, command.run) if command.edited else f'<pre class="line">{code(text)}</pre>',
        _decided(command),
        _findings(command),
        *(rehearsal_block(story, full=full) for story in command.rehearsals[-5:]),
        output_block(command, full=full),
        *(f'<p class="note">{line(text)}</p>' for text in command.notes[:20]),
        _undo(command),
        "</article>",
    ]
    return "".join(parts)


def kinds_of(command: CommandStory) -> list[str]:
    """What the filters of the page find it by."""
    kinds = []
    if is_failed(command):
        kinds.append("failed")
    if command.level == Level.HIGH.value:
        kinds.append("high")
    if command.findings:
        kinds.append("findings")
    if command.edited:
        kinds.append("edited")
    if command.outcome == "refused":
        kinds.append("refused")
    return kinds


def is_failed(command: CommandStory) -> bool:
    """Whether it ran and did not end well."""
    return command.ran and (command.exit_code not in (0, None) or command.timed_out or command.interrupted)


def _level(level: str) -> str:
    if not level:
        return '<span aria-hidden="true">○</span> not rated'
    return f'<span aria-hidden="true">{MARKS[Level(level)]}</span> {level} risk'


def _ending(command: CommandStory) -> str:
    """Chips on the right: how it ended, how long it took."""
    chips = []
    if command.job:
        chips.append(("", f"goes on as job {command.job}"))
    elif command.ran and command.timed_out:
        chips.append(("bad", "timed out"))
    elif command.ran and command.interrupted:
        chips.append(("bad", "interrupted"))
    elif command.ran and command.exit_code is not None:
        bad = command.exit_code != 0
        chips.append(("bad" if bad else "good", f"exit {line(str(command.exit_code), 12)}"))
    elif not command.ran:
        style = "warn" if command.outcome in ("refused", "declined") else "quiet"
        chips.append((style, "written" if command.is_write and command.outcome == "ran" else _outcome(command)))
    if command.ran and command.duration:
        chips.append(("quiet", took(command.duration)))
    at = command.started or command.began
    time = f'<time datetime="{stamp(at)}">{clock(at)}</time>' if clock(at) else ""
    return "".join(f'<span class="chip {style}">{text}</span>' for style, text in chips) + time


def _outcome(command: CommandStory) -> str:
    if not command.decisions:
        return "not decided"
    return _OUTCOMES.get(command.outcome, line(command.outcome, 40))


def _decided(command: CommandStory) -> str:
    said = [_decision(decision) for decision in command.decisions[-8:]]
    if command.cwd:
        said.append(f"in <code>{name(command.cwd, 400)}</code>")
    if command.via == "rehearsal":
        said.append("made real from its rehearsal")
    if command.confine not in ("off", ""):
        said.append(f"confined: {line(command.confine, 60)}")
    if command.origin not in ("planner", "person", ""):
        said.append("asked for by a tool" if command.is_write else f"from {line(command.origin, 40)}")
    if command.origin == "person":
        said.append("typed by the person")
    return f'<p class="decided">{" · ".join(said)}</p>' if said else ""


def _decision(decision: Decision) -> str:
    by = _BY.get(decision.by, line(decision.by, 40))
    words = {"refused": "refused"}.get(decision.decision, line(decision.decision.replace("-", " "), 40))
    text = f"<b>{words}</b> by {by}" if decision.by != "nobody" else f"<b>{words}</b>: {by}"
    if decision.word_typed:
        text += ", word typed"
    if decision.safety_off:
        text += ', <span class="bad">safety off</span>'
    if decision.remark:
        text += f" (“{line(decision.remark, 300)}”)"
    return text


def _findings(command: CommandStory) -> str:
    rating = command.rating
    if rating is None:
        return ""
    findings, verdict = rating.report.findings, rating.verdict
    told = bool(verdict.reason) and not _is_built_in(verdict.rule)
    if not findings and not told:
        return ""
    rows = "".join(_finding(finding) for finding in findings[:_MOST_FINDINGS])
    left = len(findings) - _MOST_FINDINGS
    more = f'<p class="note">… and {counted(left, "more finding")}</p>' if left > 0 else ""
    policy = ""
    if told:
        policy = f'<p class="note">policy <code>{code(verdict.rule, 60)}</code>: {line(verdict.reason)}</p>'
    is_open = " open" if command.level in ("medium", "high") and len(findings) <= 6 else ""
    table = f'<ul class="findings">{rows}</ul>' if rows else ""
    title = counted(len(findings), "finding") if findings else "policy"
    return f'<details class="why"{is_open}><summary>{title}</summary>{table}{more}{policy}</details>'


def _is_built_in(rule: str) -> bool:
    """Rules that say nothing beyond the level and the state of safety."""
    return rule in ("default", "parse", "safety-off", "confine") or rule.startswith("level-")


def _finding(finding: Finding) -> str:
    level = finding.level.value
    effect = ""
    if finding.effect is not None:
        parts = [line(finding.effect.kind, 60), line(finding.effect.scope, 60)]
        if not finding.effect.reversible:
            parts.append("irreversible by itself")
        effect = f' <span class="dim">{" · ".join(part for part in parts if part)}</span>'
    safer = f'<br><span class="dim">safer:</span> <code>{code(finding.safer, 400)}</code>' if finding.safer else ""
    return (
        f'<li><span class="tag {level}">{level}</span> <span>{line(finding.reason, 600)}'
        f' <code class="rule">{code(finding.rule, 80)}</code>{effect}{safer}</span></li>'
    )


def _undo(command: CommandStory) -> str:
    if not command.undo_id:
        return ""
    said = {"undone": "was taken back", "committed": "was taken back, and done again"}.get(command.undo_state, "")
    key = f"<code>{code(command.undo_id, 80)}</code>"
    if said:
        return f'<p class="note undo">{said} (undo {key})</p>'
    return f'<p class="note undo">can be taken back: <code>agent-shell undo {code(command.undo_id, 80)}</code></p>'
