"""Format the heading of a confirmation: level, reasons, what would be safer. Pure: a request in, styled lines out."""

from __future__ import annotations

from agent.frontends.confirm.readings import place_line, reading_lines
from agent.frontends.screen import Fragments
from agent.frontends.wrapping import wrapped
from agent.gate.verdicts import writes
from agent.protocol.decisions import Confining, ConfirmationRequest, Level, RiskContext, RiskReport
from agent.text.shown import LEVEL_MARKS, shown, shown_line, shown_name, size_note

_SHOWN_FINDINGS = 4
_SHOWN_PREVIEW = 20
_SHOWN_WIDTH = 500
_SHOWN_ROWS = 12

_NO_CONTEXT = RiskContext()


def level_words(level: Level) -> str:
    """`▲ medium risk`: a mark and words, so that colour is never the only sign."""
    return f"{LEVEL_MARKS[level]} {level.value} risk"


def heading(
    request: ConfirmationRequest,
    *,
    fits: bool = True,
    columns: int = 0,
    rehearse_key: str = "F9",
    experience: str = "",
    alternatives_key: str = "F6",
) -> list[Fragments]:
    """Lines above the editable command, broken between words to `columns` (0: not at all). `fits`: the whole of the command
    can be seen at once. `rehearse_key`: what rehearses here. `experience`: how such commands went before.
    `alternatives_key`: what shows here what else the goal may mean.
    """
    report = request.report
    lines: list[Fragments] = place_line(request)
    if request.is_root and report.level is not Level.LOW:
        lines.append([("class:alert", "as root: "), ("", "this command can change the whole system")])
    if request.proposal.reason and request.proposal.reason != request.proposal.reading:
        lines.append([("class:hint", "why: "), ("", shown_line(request.proposal.reason))])
    lines += reading_lines(request, key=alternatives_key)
    if request.previewed is not None:
        lines.append([("class:strong", request.previewed.line)])
    lines += _findings(report, limit=_SHOWN_FINDINGS)
    lines += _confinement(request.confining)
    lines += [[("class:warn", shown_line(line))] for line in request.note.split("\n") if line]
    if request.verdict.reason and not _is_built_in(request.verdict.rule):
        rule = shown_line(request.verdict.rule, 60)
        lines.append([("class:hint", f"policy {rule}: {shown_line(request.verdict.reason)}")])
    if request.verdict.action == "type":
        lines.append([("class:hint", "Enter asks for a typed word before this runs")])
    lines += _ways_back(request, rehearse_key)
    if experience:
        lines.append([("class:hint", shown_line(experience))])
    big = size_note(request.proposal.command)
    if not fits:
        size = f"{big}, and only a part" if big else "only a part of it"
        lines.append([("class:warn", f"a long command: {size} fits below; F2 or the first Enter shows it all")])
    elif big:
        lines.append([("class:warn", f"a long command: {big}; F2 shows all of it")])
    if request.safety_off:
        lines.append([("class:alert", "safety is off: high-risk commands run without a typed word")])
    return wrapped(lines, columns)


def _ways_back(request: ConfirmationRequest, rehearse_key: str) -> list[Fragments]:
    """What can be done before this runs, and whether it could be taken back after."""
    lines: list[Fragments] = []
    if request.rehearsal == "auto" and writes(request.report):
        lines.append([("class:hint", "Enter rehearses it first: you see what it would change, and then decide")])
    elif request.rehearsal == "ask" and writes(request.report):
        lines.append(
            [
                ("class:strong", f"{rehearse_key} rehearses it"),
                ("class:hint", ": see what it would change, and nothing is changed"),
            ]
        )
    if request.undo:
        style = "class:warn" if request.undo.startswith("cannot") else "class:hint"
        words, _, why = request.undo.partition(": ")
        said_above = any(finding.reason == why for finding in request.report.findings[:_SHOWN_FINDINGS])
        lines.append([(style, shown_line(words if said_above else request.undo))])
    return lines


def _confinement(confining: Confining) -> list[Fragments]:
    """How it would be confined, and what that leaves open; or that it would not be, though it was asked for."""
    if confining.mode == "off":
        return []
    if confining.reason:
        lines: list[Fragments] = [[("class:alert", "not confined: "), ("", shown_line(confining.reason))]]
        if confining.remedy:
            lines.append([("class:hint", f"  to confine it: {shown_line(confining.remedy)}")])
        return lines
    lines = [[("class:hint", "confined: "), ("", shown_line(confining.how))]]
    if confining.misses:
        lines.append([("class:warn", f"  does not stop: {shown_line('; '.join(confining.misses))}")])
    return lines


def _is_built_in(rule: str) -> bool:
    """Rules that say nothing beyond the level and the state of safety, which are shown anyway."""
    return rule in ("default", "parse", "safety-off", "confine") or rule.startswith("level-")


def _findings(report: RiskReport, *, limit: int) -> list[Fragments]:
    style = f"class:{report.level.value}"
    first: Fragments = [(style, level_words(report.level))]
    rest = list(report.findings)
    if rest:
        first += [("", ": "), ("", shown_line(rest[0].reason))]
    elif report.parse != "ok":
        first += [("", ": the text could not be parsed completely")]
    lines = [first]
    if rest and rest[0].safer:
        lines.append([("class:hint", f"  safer: {shown_line(rest[0].safer)}")])
    for finding in rest[1:limit]:
        lines.append([(f"class:{finding.level.value}", f"  {finding.level.value}: "), ("", shown_line(finding.reason))])
    if len(rest) > limit:
        lines.append([("class:hint", f"  … {len(rest) - limit} more; F2 shows all")])
    return lines


def explanation(
    command: str, report: RiskReport, context: RiskContext = _NO_CONTEXT, *, columns: int = 0, undo: str = ""
) -> str:
    """Everything that is known about `command`, for the explain key: the whole text, and what each part of it means and does.

    `context` is what the rating was made with, `undo` says whether a run could be taken back.
    """
    from agent.risk.explain.report import WIDTH, explain

    width = columns - 1 if columns else WIDTH
    told = explain(report, width=width, context=context, undo=undo)
    if "\n" in command or len(shown(command)) > width - 2:  # shown in part there, and in full here
        return f"{shown(command)}\n\n{told}"
    return told


def word_heading(request: ConfirmationRequest, *, columns: int = 0) -> list[Fragments]:
    """Lines above the second prompt: why this one needs the word. The command stands there as it is, never wrapped by us."""
    lines = _findings(request.report, limit=_SHOWN_FINDINGS)
    lines = wrapped(
        [*lines, *([("class:warn", shown_line(line))] for line in request.note.split("\n") if line)], columns
    )
    # Line by line as it will run: on one line, what follows a comment would look like a part of it.
    first, *rest = _quoted(request.proposal.command, rows=_SHOWN_ROWS)
    lines.append([("class:hint", "will run: "), ("class:strong", first)])
    lines += [[("class:hint", "        · "), ("class:strong", line)] for line in rest]
    word = shown_line(request.verdict.word, 40)
    last: Fragments = [("", "type "), ("class:strong", word), ("", " to run it; anything else does not")]
    return lines + wrapped([last], columns)


def _quoted(text: str, *, rows: int) -> list[str]:
    """The first `rows` lines of `text`; whatever is left out is said."""
    given = text.split("\n")
    lines = [
        shown(line)
        if len(line) <= _SHOWN_WIDTH
        else f"{shown(line[:_SHOWN_WIDTH])} [… {len(line) - _SHOWN_WIDTH:,} more]"
        for line in given[:rows]
    ]
    return lines if len(given) <= rows else [*lines, f"[… {len(given) - rows:,} more lines]"]


def is_previewed(content: str) -> bool:
    """Tell whether `write_heading` shows all of `content`."""
    lines = content.split("\n")
    return len(lines) <= _SHOWN_PREVIEW and all(len(line) <= _SHOWN_WIDTH for line in lines)


def write_heading(request: ConfirmationRequest, *, columns: int = 0) -> list[Fragments]:
    """Lines above the question whether a tool may write a file."""
    lines = wrapped(_findings(request.report, limit=_SHOWN_FINDINGS), columns)
    for line in _quoted(request.preview, rows=_SHOWN_PREVIEW):
        lines.append([("class:hint", "  │ "), ("", line)])
    if request.note:
        lines += wrapped([[("class:warn", shown_name(request.note))]], columns)
    lines.append([("class:strong", shown_name(request.proposal.command))])
    return lines
