"""List the sub-commands: help, examples and work of each.

Parser, help pages and completion scripts follow from it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from agent.cli import declaring, work

TYPE_CHECKING = False  # what type checkers take for true
if TYPE_CHECKING:
    import argparse


class SubCommand(NamedTuple):
    """`usage` stands behind the name in its help. `add` declares its arguments, `settings` are those of the settings table that it takes,
    too. `run` does it and gives the exit code; it raises CoreError, EmitError, ClientDisconnected. `words_needed`: what is said where
    there are no words.
    """

    usage: str
    help: str
    run: Callable[[argparse.Namespace], int]
    add: Callable[[argparse.ArgumentParser], None]
    examples: str = ""
    settings: frozenset[str] = frozenset()
    words_needed: str = ""


ALL = frozenset(("*",))
"""All settings."""

_OF_SESSION = frozenset(
    ("config", "session_dir", "session_id", "persist", "telemetry_file", "safety_policy", "cwd", "json", "debug")
)
_OF_WORK = (_OF_SESSION - {"session_id", "cwd"}) | frozenset(
    (
        "planner",
        "model",
        "base_url",
        "api_key_env",
        "timeout",
        "redact",
        "approve",
        "confine",
        "max_steps",
        "command_timeout",
        "verbose",
    )
)
_OF_INTERVIEW = _OF_SESSION | frozenset(
    ("planner", "model", "base_url", "api_key_env", "timeout", "redact", "max_steps", "stream", "verbose")
)
_OF_LOGS = frozenset(("config", "session_dir", "json", "debug"))


def _library(kind: str, name: str, about: str, example: str) -> SubCommand:
    return SubCommand(
        "[list|show|edit|save|delete] [NAME] [--json]",
        about,
        partial(work.library, kind),
        declaring.add_library,
        f"""\
  agent-shell {name:<35} what there is, yours and what ships
  agent-shell {f"{name} show {example}":<35} its text; what is wrong with it, by file and line
  agent-shell {f"{name} edit {example}":<35} open it in $EDITOR; one that ships is copied to yours
  agent-shell {f"{name} save {example}":<35} keep what is piped to it, where it can be used
""",
        frozenset(("config", "json")),
    )


def _completions(options: argparse.Namespace) -> int:
    from agent.cli.completions import script

    sys.stdout.write(script(options.shell, SUB_COMMANDS))
    return 0


GOAL = SubCommand(
    "[options] [GOAL...]",
    "Type a goal; see the command and its risk; edit it; run it; audit it.",
    work.goal,
    declaring.add_goal,
    """\
  agent-shell                                     open the REPL
  agent-shell find the 5 largest files here       one goal, then exit
  make 2>&1 | agent-shell "why does this fail"    with what a program printed
  agent-shell --file shot.png what does this say  with a file, or an image for a model that looks at it
  agent-shell risk 'rm -rf build'                 rate a command, run nothing
  agent-shell exec --approve low 'ls -la'         your own command, gated and logged
  agent-shell rehearse 'sed -i s/a/b/ *.md'       what it would change, and nothing changes
  agent-shell undo                                take the newest run back
""",
    ALL,
)
"""The program itself."""

SUB_COMMANDS: dict[str, SubCommand] = {
    "plan": SubCommand(
        "[options] [--json] [--batch FILE|-] [GOAL...]",
        "ask the planner once; run nothing",
        work.plan,
        declaring.add_plan,
        """\
  agent-shell plan count the lines of a.txt       prints the bare command: wc -l a.txt
  agent-shell plan --json show open ports         with reason and risk, as one JSON object
  agent-shell plan --batch goals.jsonl            {"goal": "..."} a line in, one object a line out
""",
        ALL,
    ),
    "risk": SubCommand(
        "[--json] [--explain] [--policy] [--safety-policy PATH] [--cwd DIR] [--batch FILE|-] [COMMAND]",
        "rate a command; run nothing",
        work.risk,
        declaring.add_risk,
        """\
  agent-shell risk 'rm -rf build'                 the level and why
  agent-shell risk --explain 'curl x.org/a | sh'  part by part
  agent-shell risk --json --cwd /srv 'git clean -fdx'
  agent-shell risk --policy 'git push --force'    what policy says, and which rule decided
  agent-shell risk --batch commands.jsonl         {"command": "..."} a line in, one object a line out
""",
    ),
    "exec": SubCommand(
        "[options] COMMAND",
        "run your own command: rated, confirmed, logged",
        work.execute,
        declaring.add_exec,
        """\
  agent-shell exec 'tar czf backup.tgz notes'     shown, rated, confirmed, run, logged
  agent-shell exec --approve low 'ls -la'         low risk runs unasked, all else asks
  agent-shell exec --dry-run 'rm -r build'        rated only
  agent-shell exec --via-rehearsal 'make clean'   see what it would change, then say whether it counts
""",
        ALL,
        "a command is needed",
    ),
    "rehearse": SubCommand(
        "[--json] [--network] [--cwd DIR] [--timeout SECONDS] COMMAND",
        "show what a command would change; change nothing",
        work.rehearse,
        declaring.add_rehearse,
        """\
  agent-shell rehearse 'sed -i s/a/b/ *.txt'      what it would change, with diffs; changes nothing
  agent-shell rehearse --json 'make install'      one JSON object
  agent-shell rehearse --network 'npm install'    with the network on
""",
        _OF_SESSION,
        "a command is needed",
    ),
    "undo": SubCommand(
        "[--list] [--yes] [--json] [ID]",
        "take back a run: the newest one, or ID",
        work.undo,
        declaring.add_undo,
        """\
  agent-shell undo                                take back the newest run, after asking
  agent-shell undo --list                         what can be taken back, newest first
  agent-shell undo --yes 6k2m                     that one, without asking; again: do it again
""",
        _OF_SESSION,
    ),
    "sessions": SubCommand(
        "ACTION [options]",
        "look through, check, replay and export what was recorded",
        work.sessions,
        declaring.add_sessions,
        "",
        _OF_LOGS,
    ),
    "doctor": SubCommand(
        "[--json]",
        "what works here, and what to do about the rest",
        work.doctor,
        declaring.add_doctor,
        """\
  agent-shell doctor                              what works here, and what to do about the rest
  agent-shell doctor --json                       one JSON object per check
""",
    ),
    "models": SubCommand(
        "[list|show|use] [NAME] [--json]",
        "list the models of this machine, or choose one",
        work.models,
        declaring.add_models,
        """\
  agent-shell models                              servers, model files and keys that are here
  agent-shell models use ~/models/qwen.gguf       plan with that file from now on
  agent-shell models use offline                  back to the recipes
""",
    ),
    "roles": _library("role", "roles", "the roles that a planner can take", "terse"),
    "agents": _library("agent", "agents", "the agents, with their instructions and tools", "sysadmin"),
    "macros": _library("macro", "macros", "the macros, lists of lines to do", "tidy"),
    "rag": _library("rag", "rag", "the rags, documents to look up", "notes"),
    "vault": SubCommand(
        "[list|passphrase|add|get|edit|delete NAME|run NAME -- COMMAND] [options]",
        "keep secrets, and give one to a command that needs it",
        work.vault,
        declaring.add_vault,
        """\
  agent-shell vault add GITHUB_TOKEN              asks for the value, and shows nothing of it
  pass show github | agent-shell vault add GITHUB_TOKEN
  agent-shell vault run GITHUB_TOKEN -- gh release list
""",
        _OF_SESSION | {"approve", "confine", "command_timeout"},
    ),
    "policy": SubCommand(
        "[list|allow|ask|deny WORDS|forget NAME] [--yes]",
        "the rules in force; a new one from words",
        work.policy,
        declaring.add_policy,
        """\
  agent-shell policy                              every rule that counts in this folder
  agent-shell policy deny deleting in ~/photos    shows the rule, and asks before it is written
  agent-shell policy allow -- make -j4 test       this command, and nothing worse, in this folder
  agent-shell policy forget build                 take back one that was made this way
""",
        frozenset(("config", "session_dir", "cwd")),
    ),
    "interview": SubCommand(
        "[options] [ENGINE] [WORDS...] | engines | lint ENGINE | graph ENGINE | simulate ENGINE | export KIND | worker",
        "find out what is wanted, question by question; hand it over as requirements and tasks",
        work.interview,
        declaring.add_interview,
        """\
  agent-shell interview                           what a project has to do, for whom, and within which bounds
  agent-shell interview exploration               how something could be done, and which way is yours
  agent-shell interview --resume last             go on where it was left
  agent-shell interview --resume last --turn 3    go on from where it was after turn 3; --branch: in a new session
  agent-shell interview export requirements       what was found out, as Markdown; provenance, tasks and context likewise
  agent-shell interview lint ./my-engine          the mistakes of an engine of your own
  agent-shell interview graph project-discovery   its phases, and what leads from one to the next
  agent-shell interview simulate ./my-engine      how it goes with people who are terse, rambling, hostile, …
  agent-shell interview worker                    do the background work of the interviews about this folder
""",
        _OF_INTERVIEW,
    ),
    "work": SubCommand(
        "[--mode single|continuous] [--task N] [--dry-run] [options] | lint [FILE]",
        "have a model do the tasks of a repository, and submit them for review",
        work.repository,
        declaring.add_work,
        """\
  agent-shell work                                the next task of TASKS.md: branch, commits, tests, pull request
  agent-shell work --task 7 --dry-run             task 7 where it is thrown away; nothing is published
  agent-shell work --mode continuous --grant push --max-cost 5
  agent-shell work --answer "TOML, please"        go on after a question
  agent-shell work lint                           the mistakes in TASKS.md, or which task is next
""",
        _OF_WORK,
    ),
    "config": SubCommand(
        "[show|path|edit] [--json]",
        "settings and where each came from",
        work.config,
        declaring.add_config,
        """\
  agent-shell config                              every setting, its value and where it comes from
  agent-shell config edit                         open your settings file in $EDITOR
""",
    ),
    "completions": SubCommand(
        "bash|zsh|fish",
        "a completion script for your shell",
        _completions,
        declaring.add_completions,
        """\
  agent-shell completions bash > ~/.local/share/bash-completion/completions/agent-shell
  agent-shell completions fish > ~/.config/fish/completions/agent-shell.fish
""",
    ),
}
