"""What to say about a command that ran, and the one correction to propose when it failed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from agent.planner.offline import fixes
from agent.planner.offline.recipes import RecipeEntry, read_toml
from agent.protocol.messages import CommandItem
from agent.protocol.replies import Chat, Command, Reply

_LINE_LIMIT = 500  # a log line can be a megabyte; what explains an error stands at its start
_LINES_LIMIT = 400
_GENERIC_ERROR = re.compile(
    r"(?i)(?:^|[\s\[:*])(?:error|fatal|failed|failure|panic(?:ked)?|exception|traceback|cannot|abort(?:ed)?)\b"
)
_CONTROL = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


class HasPrograms(Protocol):
    @property
    def present(self) -> Callable[[str], bool]: ...

    @property
    def is_root(self) -> bool: ...


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One known error; errors.toml tells what the keys mean."""

    id: str
    when: str
    says: str
    fix: str = ""
    command: str = ""
    edit: tuple[str, ...] = ()


class Diagnosis(Struct, frozen=True, kw_only=True):
    """A rule that matched, the line it matched, and what its groups caught."""

    rule: Rule
    line: str
    caught: dict[str, str]

    @property
    def sentence(self) -> str:
        """The rule's words with what was caught."""
        return re.sub(r"<(\w+)>", lambda match: self.caught.get(match[1]) or "it", self.rule.says)


class Aftermath:
    """The tables in repairs/."""

    def __init__(self) -> None:
        self._results: list[dict[str, Any]] | None = None
        self._rules: list[tuple[re.Pattern[str], Rule]] | None = None
        self._swaps: dict[str, Any] | None = None

    # --- success ---

    def succeeded(self, item: CommandItem) -> bool:
        """Exit code 0, or one that is an answer ("nothing matched")."""
        return item.exit_code == 0 or bool(self._answer(item))

    def _answer(self, item: CommandItem) -> str:
        """What a non-zero exit code means where it is no failure."""
        if self._results is None:
            self._results = read_toml("repairs", "results.toml")["result"]
        if item.exit_code in (0, None) or item.timed_out or item.interrupted:
            return ""
        programs = _deciding_programs(item.run or item.proposed)
        complaint = item.stderr.strip()
        for entry in self._results:
            if entry["exit"] != item.exit_code or not programs & set(entry["programs"]):
                continue
            partial = entry.get("partial")
            if partial is None and not complaint:
                return str(entry["says"])
            if (
                partial is not None
                and complaint
                and all(re.search(partial, line) for line in complaint.splitlines()[:50])
            ):
                return str(entry["says"])
        return ""

    def summary(self, item: CommandItem, entry: RecipeEntry | None) -> str:
        """One or two lines about a command that worked."""
        lines = [line for line in item.stdout.splitlines() if line.strip()]
        answer = self._answer(item)
        if answer and not lines:
            return answer
        after = f"; {answer}" if answer else ""
        if not lines and not item.stdout_dropped:
            if item.stderr.strip():
                return f"done; it wrote only messages: {_shown(item.stderr.strip().splitlines()[-1])}"
            if entry is not None and entry.done and "<" not in entry.done:
                return f"done: {entry.done}"
            return entry.nothing if entry is not None and entry.nothing else "done; it printed nothing"
        if item.stdout_dropped:
            return f"done; the output was long, {item.stdout_dropped} bytes of it are not kept here{after}"
        if len(lines) == 1:
            return f"done: {_shown(lines[0].strip())}{after}"
        return f"done: {len(lines)} lines of output{after}"

    # --- failure ---

    def repair(self, steps: list[CommandItem], alternatives: list[str], cwd: str, around: HasPrograms) -> Reply:
        """The obvious correction of the last step, once a goal; else the error in plain words."""
        item = steps[-1]
        tried = {command for step in steps for command in (step.proposed, step.run) if command}
        if item.timed_out:
            return Chat(message="it took longer than allowed and was ended; narrow it down, or raise --command-timeout")
        if item.interrupted:
            return Chat(message="it was interrupted; what it had done until then stays")
        said = item.stderr if item.stderr.strip() else item.stdout
        found = self.diagnose(said)
        failed_before = any(step.outcome == "ran" and step.exit_code not in (0, None) for step in steps[:-1])
        if found and not failed_before:
            command = self._correction(found[0], item, cwd, around) or (
                next((other for other in alternatives if other not in tried), "")
                if found[0].rule.id == "program.missing"
                else ""
            )
            if command and command not in tried:
                return Command(command=command, reason=found[0].sentence, confidence=0.8)
        return Chat(message=self._explanation(item, found, around))

    def _correction(self, found: Diagnosis, item: CommandItem, cwd: str, around: HasPrograms) -> str:
        command = item.run or item.proposed
        rule = found.rule
        if rule.edit:
            edited = re.sub(rule.edit[0], rule.edit[1], command, count=1)
            return edited if edited != command else ""
        if rule.command:
            return fixes.fill(rule.command, command, found.caught)
        if rule.fix == "other_program":
            if around.is_root and found.caught.get("name") == "sudo" and command.startswith("sudo "):
                return command.removeprefix("sudo ")
            return fixes.other_program(found.caught.get("name", ""), command, self._swap_table(), around.present)
        if rule.fix:
            return fixes.FIXES[rule.fix](found.caught, command, item.cwd or cwd, around.present)
        return ""

    def _explanation(self, item: CommandItem, found: list[Diagnosis], around: HasPrograms) -> str:
        code = item.exit_code
        if found:
            first = found[0]
            text = f"it failed (exit code {code}): {first.sentence}"
            if first.rule.id == "program.missing":
                text += f". {self.install_advice(first.caught.get('name', ''), around)}"
            return text
        lines = [line for line in (item.stderr.strip() or item.stdout.strip()).splitlines() if line.strip()]
        if code is not None and code > 128:
            return f"it was ended by signal {code - 128}"
        if lines:
            return f"it failed (exit code {code}); the last thing it said: {_shown(lines[-1].strip())}"
        return f"it failed with exit code {code} and said nothing about why"

    def diagnose(self, text: str) -> list[Diagnosis]:
        """Known errors in a text, in the order of the rules' lines, at most one of each rule."""
        found: dict[str, Diagnosis] = {}
        lines = text.splitlines()
        for raw in lines[:_LINES_LIMIT] + lines[_LINES_LIMIT:][-_LINES_LIMIT:]:
            line = _CONTROL.sub("", raw[:_LINE_LIMIT]).strip()
            for pattern, rule in self._known() if line else ():
                match = pattern.search(line)
                if match is None:
                    continue
                caught: dict[str, str] = {}
                for name, value in match.groupdict().items():
                    if value is not None:
                        caught.setdefault(name.rstrip("0123456789"), value)
                found.setdefault(rule.id, Diagnosis(rule=rule, line=line, caught=caught))
                break
        return list(found.values())

    def explain_text(self, text: str) -> str:
        """Why a build or a program failed, from what it printed."""
        found = self.diagnose(text)
        if found:
            out = [f"{_shown(item.line)}\n  -> {item.sentence}" for item in found[:3]]
            return "\n".join(out)
        lines = [_CONTROL.sub("", line[:_LINE_LIMIT]).strip() for line in text.splitlines()[-_LINES_LIMIT:]]
        errors = [line for line in lines if _GENERIC_ERROR.search(line)]
        if errors:
            shown = "\n".join(f"  {_shown(line)}" for line in errors[:3])
            return f"I do not know this error; these lines look like the reason:\n{shown}"
        return "I see no error in that text that I know; a model could read it in full"

    def install_advice(self, program: str, around: HasPrograms) -> str:
        """How a missing program can be had."""
        if program == "sudo":
            return "As root it works without `sudo`." if around.is_root else "It needs the rights of root: try `su -`."
        table = self._swap_table()
        package = table["package"].get(program, program)
        if not re.fullmatch(r"[\w.+-]{1,60}", package):
            return "Check the spelling."
        for manager, install in table["install"].items():
            if around.present(manager):
                words = install.removeprefix("sudo ") if around.is_root else install
                return f"If you want it: `{words} {package}`."
        return "No package manager that I know is here to install it with."

    def _swap_table(self) -> dict[str, Any]:
        if self._swaps is None:
            self._swaps = read_toml("repairs", "swaps.toml")
        return self._swaps

    def _known(self) -> list[tuple[re.Pattern[str], Rule]]:
        if self._rules is None:
            self._rules = [(re.compile(rule.when), rule) for rule in load_rules()]
        return self._rules


def load_rules() -> list[Rule]:
    """The rules of errors.toml. msgspec.ValidationError for a malformed one."""
    import msgspec

    return [msgspec.convert(entry, Rule) for entry in read_toml("repairs", "errors.toml")["rule"]]


def _deciding_programs(command: str) -> set[str]:
    """Programs whose exit code the command may have: the first word of its stages, with "git diff" as one."""
    programs: set[str] = set()
    for stage in re.split(r"\|\|?|&&|;", command):
        words = stage.split()
        while words and (words[0] in ("sudo", "env", "command", "nice", "time") or re.match(r"\w+=", words[0])):
            words = words[1:]
        if words:
            programs.add(words[0].rsplit("/", 1)[-1])
            programs.add(" ".join(words[:2]))
    return programs


def _shown(line: str) -> str:
    """A line of foreign text, harmless and short."""
    line = _CONTROL.sub("", line)
    return line if len(line) <= 200 else line[:199] + "…"
