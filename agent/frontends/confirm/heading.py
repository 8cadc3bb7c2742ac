"""Format the heading of a confirmation: what the command does, and what matters most about it. Pure: a request in, styled lines out."""

from __future__ import annotations

from collections.abc import Sequence

from agent.frontends.confirm.readings import numbered, place_line, place_mark, reading_lines, unused_words
from agent.frontends.screen import Fragments
from agent.frontends.wrapping import cells, wrapped
from agent.policy.rehearsable import tells
from agent.protocol.confinement import Confining
from agent.protocol.confirmations import ConfirmationRequest
from agent.protocol.decisions import Level, RiskContext, RiskReport, each_once
from agent.protocol.requests import NOT_GRANTED
from agent.risk.explain.sentence import sentence
from agent.text.shown import LEVEL_MARKS, shown, shown_line, shown_name, size_note

_SHOWN_PREVIEW = 20
_SHOWN_WIDTH = 500
_SHOWN_ROWS = 12

_NO_CONTEXT = RiskContext()
_NO_UNDO = "cannot be undone: "


def level_words(level: Level) -> str:
    """`▲ medium`: a mark and a word, so that colour is never the only sign."""
    return f"{LEVEL_MARKS[level]} {level.value}"


def heading(
    request: ConfirmationRequest,
    *,
    fits: bool = True,
    columns: int = 0,
    rehearse_key: str = "F9",
    all_key: str = "F2",
    says_root: bool = False,
) -> list[Fragments]:
    """The lines above the editable command: what it does; and below that, only where there is something, what matters most.

    They are broken between words to `columns` (0: not at all). `fits`: the whole of the command can be seen at once. `says_root`:
    it has not been said yet that it runs as root. `rehearse_key` and `all_key`: what rehearses here, and what shows all of a long command.
    """
    notes = _must_see(request, fits=fits, all_key=all_key, says_root=says_root)
    room = max(columns - 1, 0) or 100
    second: Fragments = []
    for note in [*notes, *_worth_saying(request, rehearse_key)]:
        is_note = note in notes
        together = [*second, ("class:hint", " · "), *note] if second else note
        if second and not is_note and cells("".join(text for _, text in together)) > room:
            continue
        second = together
    return wrapped([does(request), second] if second else [does(request)], columns)


def must_read(request: ConfirmationRequest) -> list[Fragments]:
    """Say what it does, and what the gate notes on it: above the first question, and of that for the word what was not said before."""
    return [does(request), *([("class:warn", shown_line(line))] for line in request.note.split("\n") if line)]


def does(request: ConfirmationRequest) -> Fragments:
    """`▲ medium · moves 3 files in this folder`, or what a rehearsal of it would do."""
    report = request.report
    first: Fragments = place_mark(request)
    said = sentence(report).text if request.previewed is None else shown_line(request.previewed.line)
    first += [(f"class:{report.level.value}", level_words(report.level)), ("", f" · {said}")]
    return first


def _must_see(request: ConfirmationRequest, *, fits: bool, all_key: str, says_root: bool) -> list[Fragments]:
    """List what never gives way to anything else."""
    notes = must_read(request)[1:]
    if request.proposal.secrets:
        notes.append([("class:warn", f"it gets {', '.join(request.proposal.secrets)} of the vault")])
    if request.report.parse != "ok":
        notes.append([("class:warn", "not read completely: it may do more than this says")])
    big = size_note(request.proposal.command if request.draft is None else request.draft)
    if not fits:
        what = f"{big}, and only a part fits" if big else "only a part of it fits"
        notes.append([("class:warn", f"long command: {what} below; {all_key} or the first Enter shows it all")])
    elif big:
        notes.append([("class:warn", f"long command: {big}; {all_key} shows all of it")])
    if request.confining.mode != "off" and request.confining.reason:
        notes.append([("class:alert", "not confined: "), ("", shown_line(request.confining.reason))])
    if request.verdict.reason and not _is_built_in(request.verdict.rule):
        whose = "" if request.verdict.rule == NOT_GRANTED else "your policy: "
        notes.append([("class:warn", f"{whose}{shown_line(request.verdict.reason)}")])
    if request.safety_off:
        notes.append([("class:alert", "safety is off: high risk runs without a typed word")])
    if says_root and must_say_root(request):
        notes.append([("class:alert", "runs as root")])
    return notes


def must_say_root(request: ConfirmationRequest) -> bool:
    """Tell whether that it runs as root makes a difference. It is said once: the prompt for goals has it all the time."""
    return request.is_root and request.report.level is not Level.LOW


def _worth_saying(request: ConfirmationRequest, rehearse_key: str) -> list[Fragments]:
    """List what is said where there is room, the most important first."""
    report = request.report
    told: list[Fragments] = []
    safer = next((finding.safer for finding in report.findings if finding.safer), "")
    if safer and report.level is Level.HIGH:
        told.append([("class:hint", f"safer: {shown_line(safer)}")])
    unused = unused_words(request)
    if unused:
        told.append([("class:warn", unused)])
    undo = "" if request.previewed is not None and request.previewed.exact else _no_way_back(request, rehearse_key)
    if undo:
        told.append([("class:warn", undo)])
    if safer and undo and report.level is not Level.HIGH:
        told.append([("class:hint", f"safer: {shown_line(safer)}")])
    return told


def _no_way_back(request: ConfirmationRequest, rehearse_key: str) -> str:
    """Say why it could not be taken back; "" where it could, or where nothing would be lost."""
    if request.undo.startswith(_NO_UNDO):
        offered = request.rehearsal != "no" and tells(request.report)
        if request.report.level is Level.LOW or (offered and request.rehearsal == "auto"):
            return ""
        return undo_line(request, rehearse_key)
    _, _, lost = request.undo.partition("; cannot take back: ")
    return f"undo cannot take back: {shown_line(lost)}" if lost else ""


def undo_line(request: ConfirmationRequest, rehearse_key: str = "F9") -> str:
    """Say what undo keeps; of what it keeps nothing of, why, and that a rehearsal would, where one tells something."""
    why = request.undo.removeprefix(_NO_UNDO)
    if why != request.undo and request.rehearsal in ("off", "ask") and tells(request.report):
        return f"undo only after a rehearsal ({rehearse_key}): {shown_line(why)}"
    return shown_line(request.undo)


def details(
    request: ConfirmationRequest,
    *,
    experience: str = "",
    columns: int = 0,
    choices: bool = False,
    rehearse_key: str = "F9",
) -> list[Fragments]:
    """All that is known and does not stand above the command: how it was read, each finding, policy, confinement, undo.

    `experience`: how such commands went before. `choices`: with the other commands that the goal may mean.
    """
    proposal = request.proposal
    lines: list[Fragments] = place_line(request)
    if proposal.reason and proposal.reason != proposal.reading:
        lines.append([("class:hint", "why: "), ("", shown_line(proposal.reason))])
    lines += reading_lines(request)
    for finding in each_once(request.report.findings):
        lines.append([(f"class:{finding.level.value}", f"{finding.level.value}: "), ("", shown_line(finding.reason))])
        if finding.safer:
            lines.append([("class:hint", f"  safer: {shown_line(finding.safer)}")])
    lines += _confinement(request.confining)
    if request.verdict.reason and not _is_built_in(request.verdict.rule):
        rule = shown_line(request.verdict.rule, 60)
        lines.append([("class:hint", f"policy {rule}: {shown_line(request.verdict.reason)}")])
    if request.undo:
        lines.append([("class:hint", undo_line(request, rehearse_key))])
    if experience:
        lines.append([("class:hint", shown_line(experience))])
    if choices:
        lines += numbered(request)
    return wrapped(lines, columns)


def _confinement(confining: Confining) -> list[Fragments]:
    """Say how it would be confined, and what that leaves open; or that it would not be, though it was asked for."""
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


def word_heading(request: ConfirmationRequest, *, columns: int = 0, said: Sequence[Fragments] = ()) -> list[Fragments]:
    """Lines above the second prompt: why this one needs the word. The command stands there as it is, never wrapped by us.

    `said`: what of `must_read` stands above the first question, and not again here.
    """
    lines = wrapped([line for line in must_read(request) if line not in said], columns)
    # Line by line as it will run: on one line, what follows a comment would look like a part of it.
    first, *rest = _quoted(request.proposal.command, rows=_SHOWN_ROWS)
    lines.append([("class:hint", "will run: "), ("class:strong", first)])
    lines += [[("class:hint", "        · "), ("class:strong", line)] for line in rest]
    word = shown_line(request.verdict.word, 40)
    last: Fragments = [("", "type "), ("class:strong", word), ("", " to run it; anything else cancels")]
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


def write_verb(request: ConfirmationRequest) -> tuple[str, str]:
    """Return what a yes does to what, in words: ("write", "file"). A call of a tool that is only asked about is carried out."""
    verb, _, what = request.proposal.command.partition(" ")[0].partition("_")
    return (verb, what.replace("_", " ")) if what in ("file", "folder", "pull_request") else ("make", "call")


_OF_DIFFS = {"+": "class:low", "-": "class:high"}


def write_heading(request: ConfirmationRequest, *, columns: int = 0) -> list[Fragments]:
    """Lines above the question whether a tool may write a file."""
    done = does(request)
    lines = wrapped([done], columns)
    styles = _OF_DIFFS if request.preview.startswith("--- before\n") else {}
    for line in _quoted(request.preview, rows=_SHOWN_PREVIEW) if request.preview else ():
        lines.append([("class:hint", "  │ "), (styles.get(line[:1], ""), line)])
    if request.note:
        lines += wrapped([[("class:warn", shown_name(request.note))]], columns)
    command = shown_name(request.proposal.command)
    place = command.partition(" ")[2]
    if not place or place not in "".join(text for _, text in done):  # a long path is not said twice
        lines.append([("class:strong", command)])
    return lines
