"""zsh: directory, exported variables, umask, functions, aliases, and the options that are a matter of taste.

No start-up file is read. What would make zsh run something that nobody can see in a line stays off and is not kept:
`=name`, code in patterns, aliases in the middle of a line, and functions that are called by themselves (`chpwd`).
"""

from __future__ import annotations

import re
import shlex

from agent.execution.shells.dialect import END, Dump
from agent.execution.state import Definitions, ShellState

_KEPT_OPTIONS = frozenset(
    (
        "allexport",
        "noclobber",
        "nullglob",
        "nonomatch",
        "noglob",
        "pipefail",
        "globdots",
        "shwordsplit",
        "numericglobsort",
    )
)
# Called by zsh itself, when a folder is entered or a program is missing.
HOOKS = (
    *(
        "chpwd",
        "periodic",
        "precmd",
        "preexec",
        "zshaddhistory",
        "zshexit",
        "zsh_directory_name",
        "command_not_found_handler",
    ),
    *(
        "TRAPEXIT",
        "TRAPDEBUG",
        "TRAPZERR",
        "TRAPERR",
        "TRAPINT",
        "TRAPHUP",
        "TRAPQUIT",
        "TRAPTERM",
        "TRAPCHLD",
        "TRAPUSR1",
    ),
    *("TRAPUSR2", "TRAPALRM", "TRAPPIPE", "TRAPWINCH", "TRAPTSTP", "TRAPCONT"),
)
_SAFE = "setopt no_equals no_bare_glob_qual no_extended_glob no_multios sh_nullcmd no_alias_func_def no_rc_expand_param"
_TRAP = (
    r"{ \builtin unsetopt xtrace verbose errexit nounset; \builtin unalias -as; "
    r"\builtin unfunction HOOKS; } >/dev/null 2>&1; "
    r'\builtin test -f "PATH" && \builtin test ! -s "PATH" && '
    r'{ \builtin printf "%s\0" "$PWD"; \builtin umask; \builtin printf "\0"; '
    r'\builtin setopt; \builtin printf "\0"; \builtin alias -rL; \builtin printf "\0"; '
    r'\builtin functions; \builtin printf "\0"; ENV -0 && \builtin printf "\0%s\0" END; } >|"PATH" 2>/dev/null'
)


class Zsh:
    """See `dialect.Dialect`."""

    name = "zsh"

    def script(self, state: ShellState, dump: Dump, text: str) -> str:
        own = state.others.get(self.name, Definitions())
        options = [line for line in own.options.split() if line in _KEPT_OPTIONS]
        trap = _TRAP.replace("HOOKS", " ".join(HOOKS)).replace("ENV", dump.env_program)
        trap = trap.replace("END", END).replace("PATH", dump.path)
        lines = [
            _SAFE,
            f"setopt {' '.join(options)}" if options else "",
            "unalias -a",
            own.functions,
            own.aliases,
            f"umask {state.umask}" if state.umask else "",
            f"trap {shlex.quote(trap)} EXIT",
            f"eval {shlex.quote(text)}",
        ]
        return "\n".join(line for line in lines if line) + "\n"

    def argv(self, program: str, script_path: str, text: str) -> tuple[str, ...]:
        return (program, "-f", "-c", f". {script_path}")

    def definitions(self, fields: list[str]) -> tuple[Definitions, list[str]]:
        options, aliases, functions, *variables = fields
        return Definitions(options=options, aliases=aliases, functions=functions), variables

    def in_bash(self, definitions: Definitions) -> tuple[str, str]:
        # As bash prints them: the bracket on a line of its own.
        return re.sub(r"^(\S+) \(\) \{$", r"\1 () \n{", definitions.functions, flags=re.MULTILINE), definitions.aliases
