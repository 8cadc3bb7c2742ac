"""Comment on a command that ran, and propose the one correction when it failed."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping
from typing import Any

from agent.lexicon.exit_answers import answer_of, deciding_programs
from agent.planner.offline.diagnosing import Diagnoser, Diagnosis, shortened_lines, shown
from agent.planner.offline.fixing.failure import NOTHING, Failure, Fix
from agent.planner.offline.installing import HasPrograms, install_advice
from agent.planner.offline.recipe_files import RecipeEntry, read_toml
from agent.planner.offline.referring import changes_files
from agent.protocol.messages import CommandItem
from agent.protocol.replies import Chat, Command, Reply

_NOTE_LIMIT = 300
_GENERIC_ERROR = re.compile(
    r"(?i)(?:^|[\s\[:*])(?:error|fatal|failed|failure|panic(?:ked)?|exception|traceback|cannot|abort(?:ed)?)\b"
)
# These print a line of names above what they found, and nothing else where they found nothing.
_TABLES = re.compile(r"(?:sudo )?(?:ss|ps|lsof|netstat|docker|podman|kubectl)\b[^|]*\Z")
_KILLS_FOUND = re.compile(r"\bkill\b[^|;&()]*\$\(([^)]*)\)")
_PORT = re.compile(r":(\d{1,5})\b")
# A fixed command would run in another folder than the one that failed.
_ELSEWHERE = re.compile(r"(?:^|[;&(]\s*)(?:cd|pushd)\s|\s-C\s|\s--git-dir|\s--work-tree|\bssh\s")


class AfterRun:
    """The tables in repairs/, each read when it is needed first."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ
        self._exits: list[dict[str, Any]] | None = None
        self._diagnoser: Diagnoser | None = None

    # --- success ---

    def summary(self, item: CommandItem, entry: RecipeEntry | None) -> str:
        """One or two lines about a command that worked."""
        lines = [line for line in item.stdout.splitlines() if line.strip()]
        answer = answer_of(item)
        if answer and not lines:
            return answer
        after = f"; {answer}" if answer else ""
        if not lines and not item.stdout_dropped:
            if item.stderr.strip():
                return f"done; it wrote only messages: {shown(item.stderr.strip().splitlines()[-1])}"
            if entry is not None and entry.done and "<" not in entry.done:
                return f"done: {entry.done}"
            searched = entry is not None and entry.nothing and not changes_files(item.run or item.proposed)
            return entry.nothing if entry is not None and searched else "done; it printed nothing"
        if item.stdout_dropped:
            return f"done; the output was long, {item.stdout_dropped} bytes of it are not kept here{after}"
        if entry is not None and entry.nothing and len(lines) == 1 and _is_header(lines[0], item.run or item.proposed):
            return entry.nothing
        if len(lines) == 1:
            return f"done: {shown(lines[0].strip())}{after}"
        return f"done: {len(lines)} lines of output{after}"

    # --- failure ---

    def repair(self, steps: list[CommandItem], alternatives: list[str], cwd: str, around: HasPrograms) -> Reply:
        """The obvious correction of the last step, once a goal; else the error in plain words."""
        item = steps[-1]
        tried = {command for step in steps for command in (step.proposed, step.run) if command}
        if item.timed_out:
            return Chat(
                message="narrow it down, or give it longer: `command_timeout` in the settings (`:config`), or `--command-timeout`"
            )
        if item.interrupted:
            return Chat(message="what it had done until then stays")
        nobody = _nobody_to_end(item)
        if nobody:
            return Chat(message=nobody)
        found = self.diagnose(_said(item), item.run or item.proposed)
        fix = self._fix(found[0], item, cwd, around) if found else NOTHING
        failed_before = any(step.outcome == "ran" and step.exit_code not in (0, None) for step in steps[:-1])
        if found and not failed_before:
            command = fix.command or (
                next((other for other in alternatives if other not in tried), "")
                if found[0].rule.id == "program.missing"
                else ""
            )
            if command and command not in tried:
                return Command(command=command, reason=_with_note(found[0].sentence, fix), confidence=0.8)
        return Chat(message=self._explanation(item, found, fix, around))

    def _fix(self, found: Diagnosis, item: CommandItem, cwd: str, around: HasPrograms) -> Fix:
        # Not with the planner: most goals see no failure.
        from agent.planner.offline.fixes import FIXES, fill

        command = item.run or item.proposed
        rule = found.rule
        if rule.edit:
            edited = re.sub(rule.edit[0], rule.edit[1], command, count=1)
            return Fix(command=edited) if edited != command else NOTHING
        if rule.command and _ELSEWHERE.search(command):
            return Fix(note=f"`{rule.command}` there" if "<" not in rule.command else "")
        if rule.command:
            proposed = fill(rule.command, command, found.caught)
            # What would look into it has to be here: no `lsof` where there is none.
            return (
                Fix(command=proposed)
                if rule.command.startswith("<") or around.present(proposed.split(" ")[0])
                else NOTHING
            )
        if not rule.fix:
            return NOTHING
        failure = Failure(
            command=command,
            cwd=item.cwd or cwd,
            caught=found.caught,
            said=_said(item),
            present=around.present,
            is_root=around.is_root,
        )
        return FIXES[rule.fix](failure)

    def _explanation(self, item: CommandItem, found: list[Diagnosis], fix: Fix, around: HasPrograms) -> str:
        code = item.exit_code
        if found:
            first = found[0]
            text = f"failed: {_with_note(first.sentence, fix)}"
            if first.rule.id == "program.missing":
                text += f". {install_advice(first.caught.get('name', ''), around)}"
            return text
        meaning = self.exit_meaning(item)
        if code is not None and 128 < code <= 192:
            return f"it was ended by {_signal_name(code - 128)}" + (f": {meaning}" if meaning else "")
        lines = [line for line in shortened_lines(_said(item)) if line]
        about = self._about_language() if lines else ""
        if meaning:
            return f"failed: {meaning}{about}"
        return f"failed: {shown(lines[-1])}{about}" if lines else "failed: it said nothing about why"

    def exit_meaning(self, item: CommandItem) -> str:
        """Say what an exit code means by itself, of these programs or of any; "" where it says nothing."""
        if self._exits is None:
            self._exits = read_toml("repairs", "exits.toml")["exit"]
        programs = deciding_programs(item.run or item.proposed)
        for entry in self._exits:
            if entry["code"] == item.exit_code and ("programs" not in entry or programs & set(entry["programs"])):
                return str(entry["says"])
        return ""

    def _about_language(self) -> str:
        """A hint where programs speak another language than the rules do."""
        language = next(
            (self._environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if self._environ.get(name)), ""
        )
        if not language or re.match(r"(?:C|POSIX|en)(?![a-z])", language):
            return ""
        return ". I know the English messages only; with LC_ALL=C.UTF-8 before it, a command speaks English"

    def diagnose(self, text: str, command: str = "") -> list[Diagnosis]:
        """Known errors in a text, at most one of each rule; what `command` is given is what said it."""
        if self._diagnoser is None:
            self._diagnoser = Diagnoser()
        return self._diagnoser.diagnose(text, command)

    def explain_text(self, text: str) -> str:
        """Explain why a build or a program failed, from what it printed."""
        found = self.diagnose(text)
        if found:
            out = [f"{shown(item.line)}\n  -> {item.sentence}" for item in found[:3]]
            return "\n".join(out)
        errors = [line for line in shortened_lines(text) if _GENERIC_ERROR.search(line)]
        if errors:
            lines = "\n".join(f"  {shown(line)}" for line in errors[:3])
            return f"I do not know this error; these lines look like the reason:\n{lines}"
        return "I see no error in that text that I know; a model could read it in full"


def _nobody_to_end(item: CommandItem) -> str:
    """Words for a `kill` whose processes another command was to find, which found none; "" for anything else."""
    ends = _KILLS_FOUND.search(item.run or item.proposed)
    if ends is None or "usage" not in item.stderr:
        return ""
    port = _PORT.search(ends[1])
    return (
        f"nothing listens on port {port[1]}, so there was nothing to end"
        if port
        else "there was no such process to end"
    )


def _said(item: CommandItem) -> str:
    """Take what a command wrote about its failure: its errors, or its output where there are none."""
    return item.stderr if item.stderr.strip() else item.stdout


def _with_note(sentence: str, fix: Fix) -> str:
    return f"{sentence}; {shown(fix.note[:_NOTE_LIMIT])}" if fix.note else sentence


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _is_header(line: str, command: str) -> bool:
    return _TABLES.match(command) is not None and len(line.split()) > 2 and not re.search(r"\d", line)
