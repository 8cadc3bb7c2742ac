"""`classify`: the rating of one command text. Pure; never raises."""

from __future__ import annotations

import gc
from typing import Literal

import agent.protocol  # noqa: F401  # before msgspec, which it loads in half of the time

# isort: split
import msgspec

from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskContext, RiskReport
from agent.risk.deception.findings import deceptions, far_right, names_hosts
from agent.risk.reader.cursor import MAX_LENGTH, BudgetError
from agent.risk.reader.syntax import Parser
from agent.risk.reader.words import PRIVATE
from agent.risk.reader.wordscan import MAX_HEREDOCS
from agent.risk.second_opinion import second_opinion
from agent.risk.shell.control_flow import sequence
from agent.risk.shell.walk import Walker
from agent.risk.shell.whole_command import context_findings
from agent.text.visible import make_visible

MAX_FINDINGS = 200
_LONG = 2_000
_ORDER = {Level.HIGH: 0, Level.MEDIUM: 1, Level.LOW: 2}
Parse = Literal["ok", "partial", "failed"]


def classify(command: str, context: RiskContext = RiskContext()) -> RiskReport:  # noqa: B008  # frozen data
    """Rate `command` as bash would run it in `context`.

    Anything can be given; what cannot be read comes back as `parse` partial or failed and is never low.
    """
    # A long text makes many objects, which live until it is rated: looking for garbage among them, and through all that the
    # program holds, would only cost time (a tenth, and pauses).
    paused = len(command) > _LONG and gc.isenabled()
    if paused:
        gc.disable()
    try:
        return _classify(command, context)
    except BudgetError as error:
        return _failed(command, f"{error}: not read to the end", ())
    except Exception as error:  # fail closed: a defect here must never let a command through
        return _failed(command, f"could not be rated ({type(error).__name__})", ())
    finally:
        if paused:
            gc.enable()


def _failed(command: str, reason: str, findings: tuple[Finding, ...]) -> RiskReport:
    finding = Finding(
        rule="parse.failed",
        level=Level.HIGH,
        reason=reason,
        span=(0, len(command)),
        effect=Effect(kind="unreadable", reversible=False),
    )
    return RiskReport(command=command, level=Level.HIGH, parse="failed", findings=(finding, *findings))


def _classify(command: str, context: RiskContext) -> RiskReport:
    if not command or command.isspace():
        return RiskReport(command=command, level=Level.LOW)
    hidden = deceptions(command)
    if len(command) > MAX_LENGTH:
        return _failed(command, f"longer than {MAX_LENGTH:,} characters: not read", hidden)
    if command.count("<<") > MAX_HEREDOCS * 3:
        return _failed(command, "more here-documents than can be followed", hidden)
    text = command
    if not command.isascii() or "\0" in command:
        text = PRIVATE.sub("\ufffd", command.replace("\0", "\ufffd"))
    parser = Parser(text)
    tree = parser.parse()
    findings = list(hidden)
    programs: tuple[ProgramRun, ...] = ()
    abandoned = cut = False
    # With variables of the session at hand, once without and once with their values: knowing them can only raise.
    for informed in (False, True) if _reads_any(text, context.exports) else (False,):
        walker = Walker(text, context, informed=informed)
        walker.ended(sequence(walker, tree))
        if walker.state.functions:
            walker.finish()
        findings.extend(_shifted(walker.findings, len(programs)))
        programs += walker.programs.report(len(programs))
        cut = cut or walker.programs.cut
        findings.extend(context_findings(text, tree, walker))
        if walker.session is not None:
            findings.extend(walker.session.reserved(text))
        abandoned = abandoned or walker.abandoned
        del walker.expander, walker.state  # which know it: gone at once, no garbage that has to be looked for
    findings.extend(_hidden_text(text, programs))
    parse: Parse = "ok"
    if parser.errors:
        parse = "failed" if parser.abandoned or not tree.items else "partial"
        findings.append(_parse_finding(parser.errors[0], parse, len(command)))
    if parse == "ok":
        doubt = second_opinion(text, parser)
        if doubt is not None:
            parse = "partial"
            findings.append(doubt)
    if abandoned and parse == "ok":
        parse = "partial"
    if parse != "ok":
        findings = [_raise(finding) for finding in findings]
    ordered = _order(findings)
    level = ordered[0].level if ordered else Level.LOW
    cut = cut or len(ordered) > MAX_FINDINGS
    return RiskReport(
        command=command, level=level, parse=parse, findings=ordered[:MAX_FINDINGS], programs=programs, cut=cut
    )


def _reads_any(text: str, exports: dict[str, str]) -> bool:
    """Tell whether values that the session has exported may matter. The last folder, which `cd` exports, does to who reads it alone."""
    return bool(exports) and any(name != "OLDPWD" or name in text or "$" in text for name in exports)


def _hidden_text(text: str, programs: tuple[ProgramRun, ...]) -> list[Finding]:
    """Find in a text that only the programs show names and addresses that look like others, and text that begins out of sight."""
    found = list(far_right(text, programs))
    if names_hosts(text, programs):
        from agent.risk.deception.hosts import host_findings

        found.extend(host_findings(programs))
    if not text.isascii():
        from agent.risk.deception.names import name_findings

        found.extend(name_findings(text, programs))
    return found


def _shifted(findings: list[Finding], first: int) -> list[Finding]:
    """Findings of a second walk, whose programs are reported behind `first` others."""
    if not first:
        return findings
    return [
        msgspec.structs.replace(finding, program=finding.program + first) if finding.program >= 0 else finding
        for finding in findings
    ]


def _parse_finding(error: tuple[int, str], parse: Parse, size: int) -> Finding:
    offset, message = error
    return Finding(
        rule=f"parse.{parse}",
        level=Level.HIGH if parse == "failed" else Level.MEDIUM,
        reason=f"is not a complete command: {message}",
        span=(min(offset, max(size - 1, 0)), size),
        effect=Effect(kind="unreadable", reversible=False),
    )


def _raise(finding: Finding) -> Finding:
    """In a text that was not understood to its end, what cannot be taken back is worse than it looks."""
    effect = finding.effect
    if finding.level is not Level.MEDIUM or effect is None or effect.reversible or effect.kind == "unreadable":
        return finding
    return msgspec.structs.replace(finding, level=Level.HIGH)


def _order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Worst first, each thing said once."""
    if not findings:
        return ()
    seen: set[tuple[str, tuple[int, int], str, bool]] = set()
    kept: list[Finding] = []
    if len(findings) == 1 and findings[0].reason.isprintable():
        return (findings[0],)
    if len(findings) > 1:  # of the same thing the worst is kept
        findings = sorted(findings, key=lambda one: _ORDER[one.level])
    for finding in findings:
        if not finding.reason.isprintable():  # a reason is one line, whatever the text holds that it quotes
            shown = make_visible(finding.reason).replace("\n", "⏎").replace("\t", " ")
            finding = msgspec.structs.replace(finding, reason=shown)  # noqa: PLW2901
        key = (finding.rule, finding.span, finding.reason, finding.program < 0)
        if key in seen:
            continue
        seen.add(key)
        kept.append(finding)
    # What takes a whole place comes first of all, so that no number of other findings hides it.
    kept.sort(key=lambda f: (_ORDER[f.level], f.effect is None or not f.effect.whole))
    return tuple(kept)
