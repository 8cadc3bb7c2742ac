"""`agent-shell risk`: rate commands, run nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import msgspec

from agent.protocol.decisions import RiskContext, RiskReport, each_once
from agent.protocol.outcomes import ExitCode
from agent.risk.classifier import classify
from agent.text.shown import json_line
from agent.text.visible import make_visible

if TYPE_CHECKING:
    from agent.frontends.subcommands.risk_policy import Held

Report = dict[str, Any]


def report_object(report: RiskReport) -> Report:
    """The JSON shape of a report; keys are a contract."""
    findings = []
    for finding in report.findings:
        item = _told(finding, "rule", "level", "reason", "span")
        if finding.effect is not None:
            item["effect"] = _told(finding.effect, "kind", "scope", "targets", "reversible")
        findings.append(item | _told(finding, "safer") if finding.safer else item)
    return _told(report, "command", "level", "parse") | {"findings": findings}


def _told(value: object, *names: str) -> Report:
    return {name: msgspec.to_builtins(getattr(value, name)) for name in names}


def context_for(cwd: str | None) -> RiskContext:
    """Facts for `--cwd DIR`: the folder, the git top level above it, the home. None of them without it."""
    if cwd is None:
        return RiskContext()
    folder = os.path.abspath(os.path.expanduser(cwd))
    workspace = folder
    probe = folder
    while True:
        if os.path.exists(os.path.join(probe, ".git")):
            workspace = probe
            break
        above = os.path.dirname(probe)
        if above == probe:
            break
        probe = above
    home = os.path.expanduser("~")
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return RiskContext(cwd=folder, home=home if home.startswith("/") else "", workspace=workspace, is_root=is_root)


def run_risk(
    *,
    command: str | None,
    json_output: bool,
    explain: bool,
    policy: bool,
    cwd: str | None,
    batch: str | None,
    stdin: IO[str],
    write: Callable[[str], None],
    warn: Callable[[str], None],
    width: int = 0,
    held: Held | None = None,
    undo_words: Callable[[RiskReport, str], str] = lambda report, cwd: "",
) -> int:
    """Rate one command, or a batch of JSON lines. Returns the exit code.

    `write` and `warn` take lines without their end. `width`: columns of the terminal, 0 where there is none.
    Without COMMAND and `--batch` the command is read from `stdin`. `held` is what `--policy` and `--safety-policy` hold it against.
    `undo_words` tells with `--explain`, and a folder to look at, whether a run there could be taken back.
    """
    if cwd is not None and not os.path.isdir(os.path.expanduser(cwd)):
        warn(f"--cwd: {cwd} is not a folder")
        return ExitCode.USAGE
    context = context_for(cwd)
    rating = _Rating(context, cwd, held, policy=policy)
    if batch is not None:
        return _batch(batch, stdin, rating, write=write, warn=warn)
    if command is None:
        if stdin.isatty():
            warn("give a command to rate, for example: agent-shell risk 'rm -rf build'")
            return ExitCode.USAGE
        command = stdin.read().removesuffix("\n")
        if not command.strip():  # a script whose first half failed must not read "low" here
            warn("no command came on standard input")
            return ExitCode.USAGE
    report = rating.of(command)
    if json_output:
        value = rating.told(report)
        if explain:
            from agent.risk.explain.report import explanation

            value["explanation"] = explanation(report, rating.context(command))
        write(json_line(value))
        return ExitCode.DONE
    if explain:
        from agent.risk.explain.report import WIDTH
        from agent.risk.explain.report import explain as explain_report

        undo = undo_words(report, context.cwd) if cwd is not None else ""
        write(explain_report(report, width=width or WIDTH, context=rating.context(command), undo=undo))
    else:
        _write_findings(report, write)
    if policy:
        for line in rating.lines(command):
            write(line)
    return ExitCode.DONE


def _write_findings(report: RiskReport, write: Callable[[str], None]) -> None:
    write(report.level.value + ("" if report.parse == "ok" else f" (parse: {report.parse})"))
    for finding in each_once(report.findings)[:8]:
        write(f"  {finding.level.value}: {make_visible(finding.reason)}  [{finding.rule}]")
        if finding.safer:
            write(f"    safer: {finding.safer}")


class _Rating:
    """The rating of one call: in which context, and with what said about policy."""

    def __init__(self, context: RiskContext, cwd: str | None, held: Held | None, *, policy: bool) -> None:
        self._context = context
        self._cwd = cwd
        self._policy = policy
        self._held = held

    def context(self, command: str) -> RiskContext:
        """With `--cwd` also what the paths in the command are right now."""
        if self._cwd is None:
            return self._context
        from agent.planner.facts.path_facts import path_facts

        return msgspec.structs.replace(self._context, facts=path_facts(command, self._context))

    def of(self, command: str) -> RiskReport:
        report = classify(command, self.context(command))
        if self._held is None:
            return report
        from agent.policy.patterns import raised

        return raised(report, self._held.policy(self._context.cwd).files)

    def told(self, report: RiskReport) -> Report:
        value = report_object(report)
        if self._policy:
            from agent.frontends.subcommands.risk_policy import Held, account, account_object

            value["policy"] = account_object(account(report.command, self._held or Held(), self._cwd))
        return value

    def lines(self, command: str) -> list[str]:
        from agent.frontends.subcommands.risk_policy import Held, account, account_lines

        return account_lines(account(command, self._held or Held(), self._cwd))


def _batch(
    source: str, stdin: IO[str], rating: _Rating, *, write: Callable[[str], None], warn: Callable[[str], None]
) -> int:
    """JSON lines in, JSON lines out, in order and in constant memory."""
    if source == "-":
        return _rate_lines(stdin, rating, write=write)
    try:
        with open(source, encoding="utf-8", errors="surrogateescape") as file:
            return _rate_lines(file, rating, write=write)
    except OSError as error:
        warn(f"--batch: {source} cannot be read: {error.strerror or error}")
        return ExitCode.USAGE


def _rate_lines(lines: IO[str], rating: _Rating, *, write: Callable[[str], None]) -> int:
    failed = False
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        row, problem = _decode(line)
        if row is None:
            failed = True
            write(json_line({"error": f"line {number}: {problem}"}))
            continue
        write(json_line({**row, **rating.told(rating.of(row["command"]))}))
    return ExitCode.USAGE if failed else ExitCode.DONE


def _decode(line: str) -> tuple[Report | None, str]:
    """One line as an object with a text under "command", or what is wrong with it."""
    try:
        row = msgspec.json.decode(line.encode())
    except (msgspec.DecodeError, UnicodeEncodeError):
        try:  # JSON may escape lone surrogates, which the strict decoder refuses
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            return None, f'no JSON, each line is an object such as {{"command": "ls"}}: {error}'[:200]
    except RecursionError:
        return None, "nested too deep"
    if not isinstance(row, dict):
        return None, "not an object"
    if not isinstance(row.get("command"), str):
        return None, '"command" is missing or no text'
    return row, ""
