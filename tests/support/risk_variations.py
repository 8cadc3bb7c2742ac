"""Ways to write a command differently that must never lower its rating: each keeps what would run, or adds to it."""

from __future__ import annotations

import base64
import json
import random
import re
from pathlib import Path

from agent.risk.classifier import classify
from tests.support.risk_rewriting import Variation, nodes, rewritings

TESTS = Path(__file__).resolve().parents[1]


def single_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# --- around the whole command ---

# {} stands for the command, on lines of its own where a comment or here-document in it would eat what follows.
GROUPS = {
    "subshell": "(\n{}\n)",
    "group": "{{\n{}\n}}",
    "if": "if true; then\n{}\nfi",
    "else": "if false; then :; else\n{}\nfi",
    "condition": "if\n{}\nthen :; fi",
    "for": "for __i in 1 2; do\n{}\ndone",
    "while": "while true; do\n{}\ndone",
    "until": "until\n{}\ndo :; done",
    "case": "case a in a)\n{}\n;; esac",
    "function": "__f() {{\n{}\n}}; __f",
    "function word": "function __f {{\n{}\n}}\n__f",
    "subshell function": "__f() (\n{}\n)\n__f",
    "not": "! {{\n{}\n}}",
    "background": "{{\n{}\n}} &",
    "after ls": "ls -la\n{}",
    "before ls": "{}\nls -la",
    "after and": "true && {{\n{}\n}}",
    "after or": "false || {{\n{}\n}}",
    "before or": "{{\n{}\n}} || true",
    "between": "pwd; date\n{}\necho done; id",
    "into cat": "{{\n{}\n}} | cat",
    "into null": "{{\n{}\n}} > /dev/null 2>&1",
    "behind a comment": "# nothing bad\n{}",
    "before a comment": "{}\n# nothing bad",
    "value": "__x=$(\n{}\n)",
    "argument": 'echo "$(\n{}\n)"',
    "unquoted argument": "echo $(\n{}\n)",
    "backquoted heredoc": "cat <<__A\n$(\n{}\n)\n__A",
    "process substitution": "cat <(\n{}\n)",
    "output substitution": "echo > >(\n{}\n)",
    "test": '[[ -n "$(\n{}\n)" ]]',
    "arithmetic": "(( $(\n{}\n) + 1 ))",
    "default": '__x="${{__y:-$(\n{}\n)}}"',
    "coproc": "coproc {{\n{}\n}}",
    "time": "time {{\n{}\n}}",
    "stderr": "{{\n{}\n}} 2>/dev/null",
    "blank lines": "\n\n  {}\n\n",
    "set": "set -e\n{}",
    "nested": "( {{ (\n{}\n) }} )".replace(") }}", "); }}"),
    "nested if": "if true; then if true; then\n{}\nfi; fi",
    "select": "select __i in a; do\n{}\ndone",
    "elif": "if false; then :; elif true; then\n{}\nfi",
    "loop head": "for __i in $(\n{}\n); do :; done",
    "case subject": "case $(\n{}\n) in *) ;; esac",
    "array": "__a=($(\n{}\n))",
    "arithmetic for": "for ((__i=0; __i<1; __i++)); do\n{}\ndone",
}

# {} stands for the command as one quoted word.
CODE = {
    "bash -c": "bash -c {}",
    "sh -c": "sh -c {}",
    "bash -ec": "bash -ec {}",
    "eval": "eval {}",
    "sudo bash -c": "sudo bash -c {}",
    "nohup": "nohup bash -c {}",
    "timeout": "timeout 5 bash -c {}",
    "env": "env A=1 bash -c {}",
    "nice": "nice -n 5 bash -c {}",
    "exec": "exec bash -c {}",
    "command": "command eval {}",
    "builtin": "builtin eval {}",
    "setsid": "setsid bash -c {}",
    "trap": "trap {} EXIT",
    "here-string": "bash <<< {}",
    "echo into bash": "echo {} | bash",
    "printf into sh": "printf '%s\\n' {} | bash",
    "process file": "bash <(printf '%s\\n' {})",
    "source": "source <(printf '%s\\n' {})",
    "su": "su -c {}",
    "variable": '__x={}; eval "$__x"',
    "variable, bash": '__x={}; bash -c "$__x"',
    "array element": '__x=({}); eval "${{__x[0]}}"',
    "xargs": "printf '%s' {} | xargs -0 bash -c",
    "function": '__f() {{ eval "$1"; }}; __f {}',
    "positional": 'set -- {}; eval "$1"',
    "file": "echo {} > __a.sh; bash __a.sh",
    "find": "find . -maxdepth 0 -exec bash -c {} \\;",
    "default": "eval ${{__x:-{}}}",
    "docker": "docker exec c bash -c {}",
    "tmux": "tmux new -d {}",
    "ssh": "ssh host {}",
    "flock": "flock /tmp/l -c {}",
    "script": "script -qc {} /dev/null",
    "stdbuf": "stdbuf -oL bash -c {}",
    "watch": "watch {}",
    "busybox": "busybox sh -c {}",
    "env -S": "env bash -c {}",
    "indirect": '__x={}; __y=__x; eval "${{!__y}}"',
    "positional of bash": "bash -c 'eval \"$1\"' _ {}",
    "read": 'read -r __x <<< {}; eval "$__x"',
    "echo substitution": 'eval "$(echo {})"',
    "cat heredoc": "eval \"$(cat <<'__A'\n{{}}\n__A\n)\"",
    "heredoc": "bash <<'__A'\n{{}}\n__A",
    "rev": None,
    "base64": None,
    "hex": None,
}


def _encoded(name: str, text: str) -> str | None:
    if name == "base64":
        return f"echo {base64.b64encode(text.encode(errors='surrogatepass')).decode()} | base64 -d | bash"
    if name == "hex":
        return f"echo {text.encode(errors='surrogatepass').hex()} | xxd -r -p | bash"
    if "\n" in text:
        return None
    return f"echo {single_quoted(text[::-1])} | rev | bash"


def _grouped(name: str) -> Variation:
    def vary(text: str, _: random.Random) -> str | None:
        return None if "__A" in GROUPS[name] and "__A" in text else GROUPS[name].format(text)

    return vary


def _coded(name: str) -> Variation:
    template = CODE[name]

    def vary(text: str, _: random.Random) -> str | None:
        if template is None:
            return _encoded(name, text)
        if name == "find" and "{}" in text:
            return None  # find puts names there
        if "__A" in template and "__A" in text:
            return None  # the here-document inside would end the one outside
        if "{{}}" in template:
            return template.replace("{{}}", text)
        if name in ("read", "default") and ("\n" in text or "}" in text or "'" in text):
            return None
        return template.format(single_quoted(text))

    return vary


def variations() -> dict[str, Variation]:
    """Every variation by name."""
    found: dict[str, Variation] = {f"in {name}": _grouped(name) for name in GROUPS}
    found.update((f"as code: {name}", _coded(name)) for name in CODE)
    found.update(rewritings())
    return found


def originals() -> list[str]:
    """Commands of our own sets that can be read without error."""
    commands: dict[str, None] = {}
    for path in sorted(TESTS.glob("risk_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            commands[json.loads(line)["command"]] = None
    return [
        command
        for command in commands
        if len(command) < 400 and command.strip() and "\0" not in command and nodes(command)
    ]


_POSITIONAL = re.compile(r"\$\{?[!#]?[0-9@*]|\bshift\b")
_DEFINES = re.compile(r"\balias\b")


# What opens a shell or a session for a person does nothing where nothing comes in.
_EMPTY_INPUT = frozenset(("in output substitution", "as code: xargs", "' </dev/null' behind"))
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "fish"))
_WAITS_FOR_INPUT = frozenset(("elevate-shell", "run.shell", "run.interactive", "db.session", "run.stdin", "db.stdin"))


def excluded(name: str, command: str) -> bool:
    """Whether a variation would change what the command does, so that a lower rating may be right."""
    # What is an unknown parameter alone is empty or given inside a function or `bash -c`; aliases count from the next line
    # on, and not at all in a script.
    if _POSITIONAL.search(command) or _DEFINES.search(command):
        return True
    if name not in _EMPTY_INPUT:
        return False
    report = classify(command)
    if any(f.rule in _WAITS_FOR_INPUT or f.rule.startswith("elevate-shell") for f in report.findings):
        return True
    return any(
        p.words[0].rpartition("/")[2] in _SHELLS and all(w[:1] in "-+" for w in p.words[1:]) for p in report.programs
    )
