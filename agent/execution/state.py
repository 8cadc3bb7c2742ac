"""Carry the shell state from command to command, by bash text that reads and writes it.

Every command is its own `bash -c`. Bash first sources the file named by BASH_ENV: our preamble, which restores options,
functions, aliases and umask and sets an EXIT trap; the command itself is untouched, so that messages and line numbers
are those of a plain `bash -c`. The trap dumps the state to a file that only we see. It is a file and never a pipe,
because a background job would keep a pipe open. A command that is killed, calls exec or sets its own EXIT trap leaves no
end mark: then the old state stays, and the result says so. Only `set -v` shows the trap: bash prints it as it is read.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

END = "agent-shell-state-end"
LONGEST_ARGUMENT = 120_000
"""Bytes: a single argument may have 128 KiB on Linux; longer commands are read from a file instead."""
# Options such as errexit or nounset would end every later command; these are the ones that are a matter of taste.
_KEPT_OPTIONS = (" allexport", " braceexpand", " hashall", " noclobber", " noglob", " physical", " pipefail")
_UNSETTABLE_SHOPTS = ("login_shell", "restricted_shell", "syslog_history")
_UNSEEN_SHOPTS = ("-s cdable_vars", "-s nocaseglob")  # a later line would go elsewhere, or match more, than it says
# Set by each shell itself; restoring them would only confuse it.
_OWN_VARIABLES = ("_", "SHLVL", "PWD")

# What bash prints of itself. A command can write its state itself, and every line of it is run before the next one.
_UMASK = re.compile(r"[0-7]{1,4}")
_SHOPT = re.compile(r"shopt -[su] \w+")
_OPTION = re.compile(r"set [+-]o [\w-]+")
_ALIASES = re.compile(r"""(?:alias (?:-- )?(?!\#)[^\s'"`\\;&|<>()$=/]+=(?:'[^']*'|\\')*\n)*""")
# Functions by these names would be called by our own lines: at each command, where nobody sees them.
_OURS = re.compile(r"^(?:function )?(?:builtin|/\S*) \(\)", re.MULTILINE)

# Backslashes keep aliases out, `builtin` keeps functions out. First comes what would make the trap itself noisy. A command that went to the
# background may end after us: then the path is gone, or in the worst case a file of whoever got our pid, and that is not empty.
_TRAP = (
    "{ \\builtin set +xveuT; \\builtin trap - DEBUG ERR; "
    '\\builtin test -f "@PATH@" && \\builtin test ! -s "@PATH@" && '
    '{ \\builtin printf "%s\\0" "$PWD"; \\builtin umask; \\builtin printf "\\0"; '
    '\\builtin shopt -p; \\builtin printf "\\0"; \\builtin set +o; \\builtin printf "\\0"; '
    '\\builtin alias -p; \\builtin printf "\\0"; \\builtin declare -f; \\builtin printf "\\0"; '
    '@ENV@ -0 && \\builtin printf "\\0%s\\0" @END@; } >|"@PATH@"; } 1@NOWHERE@ 2>&1'
)
# Writing to what is open for reading only fails without a word, and whoever holds the command to its rating is not asked to open it. Other
# C libraries than those of Linux would keep what could not be written, and try again.
_NOWHERE = "</dev/null" if sys.platform == "linux" else ">/dev/null"


@dataclass(frozen=True, kw_only=True)
class Definitions:
    """Definitions that commands made in another shell than bash, as its own source."""

    options: str = ""
    aliases: str = ""
    functions: str = ""


@dataclass(frozen=True, kw_only=True)
class ShellState:
    """The state that one command leaves to the next. Texts are bash source as bash itself printed it, undecodable bytes as surrogates.

    `others`: by name of a shell, what was defined there.
    """

    cwd: str
    env: Mapping[str, str]
    umask: str = ""
    shopts: str = "shopt -s expand_aliases"
    options: str = ""
    aliases: str = ""
    functions: str = ""
    others: Mapping[str, Definitions] = field(default_factory=dict)


def preamble(state: ShellState, dump_path: str, env_program: str) -> str:
    """Bash source that restores `state` and dumps the next one to `dump_path` at exit."""
    user_bash_env = state.env.get("BASH_ENV")
    posix = state.env.get("POSIXLY_CORRECT")
    trap = _TRAP.replace("@ENV@", env_program).replace("@END@", END).replace("@NOWHERE@", _NOWHERE)
    trap = trap.replace("@PATH@", dump_path)
    lines = [
        "\\builtin unset BASH_ENV"
        if user_bash_env is None
        else f"\\builtin export BASH_ENV={shlex.quote(user_bash_env)}",
        "{ :",
        *(f"\\builtin {line}" for line in state.shopts.splitlines() if not _needless(line)),
        *(f"\\builtin {line}" for line in state.options.splitlines() if line.endswith(_KEPT_OPTIONS)),
        f"}} 2{_NOWHERE}",
        state.functions,
        state.aliases,
        f"\\builtin umask {state.umask}" if state.umask else "",
        f"\\builtin trap '{trap}' EXIT",
        f"\\builtin export POSIXLY_CORRECT={shlex.quote(posix)}" if posix is not None else "",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _needless(shopt: str) -> bool:
    """Tell whether to leave out a line of `shopt -p`: it cannot be set, or switching it off makes a variable (BASH_COMPAT)."""
    return shopt.endswith(_UNSETTABLE_SHOPTS) or shopt.startswith("shopt -u compat")


def launch_env(state: ShellState, preamble_path: str) -> dict[str, str]:
    """The environment to start bash with; a POSIXLY_CORRECT is set by the preamble, since bash would skip that then."""
    env = {name: value for name, value in state.env.items() if name != "POSIXLY_CORRECT"}
    env["PWD"] = state.cwd
    if preamble_path:
        env["BASH_ENV"] = preamble_path
    return env


def parse(dump: bytes, before: ShellState) -> ShellState | None:
    """Read a dump; None where it is missing or cut short, which means that the state was lost."""
    fields = fields_of(dump)
    if len(fields) < 6:
        return None
    cwd, umask, shopts, options, aliases, functions, *variables = fields
    umask = umask.strip()
    if not is_state(cwd, umask) or not _ALIASES.fullmatch(aliases) or _OURS.search(functions):
        return None
    return ShellState(
        cwd=cwd,
        env=kept_environment(variables, before.env),
        umask=umask,
        shopts="\n".join(
            line for line in shopts.splitlines() if _SHOPT.fullmatch(line) and not line.endswith(_UNSEEN_SHOPTS)
        ),
        options="\n".join(line for line in options.splitlines() if _OPTION.fullmatch(line)),
        aliases=aliases,
        functions=functions,
        others=before.others,
    )


def fields_of(dump: bytes) -> list[str]:
    """The fields of a dump, none where it is missing or cut short."""
    end = f"\0{END}\0".encode("ascii")
    return dump.removesuffix(end).decode("utf-8", "surrogateescape").split("\0") if dump.endswith(end) else []


def is_state(cwd: str, umask: str) -> bool:
    """Tell whether these can be what a shell said of itself, and not what a command wrote in its place."""
    return cwd.startswith("/") and _UMASK.fullmatch(umask) is not None


def kept_environment(variables: list[str], before: Mapping[str, str]) -> dict[str, str]:
    """The environment that `env` printed, with the variables that each shell sets by itself as they were."""
    env = dict(variable.split("=", 1) for variable in variables if "=" in variable)
    own = {name: before[name] for name in _OWN_VARIABLES if name in before}
    return {name: value for name, value in env.items() if name not in _OWN_VARIABLES} | own


def to_bytes(text: str) -> bytes:
    """Text with undecodable bytes as surrogates, as it was."""
    return text.encode("utf-8", "surrogateescape")
