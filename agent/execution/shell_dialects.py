"""Say in each shell's own language how its state survives from command to command, and read what it left. No start-up file is read."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from typing import Protocol

from agent.execution.state import END, Definitions, ShellState, fields_of, is_state, kept_environment

UNREADABLE = "CODE_OF_ANOTHER_SHELL"
"""The variable that stands for what cannot be said in bash."""


@dataclass(frozen=True, kw_only=True)
class Dump:
    """A file that a command leaves its state in, and the program that prints the environment."""

    path: str
    env_program: str


class Dialect(Protocol):
    """One shell's language. Texts are its own source."""

    @property
    def name(self) -> str: ...

    def script(self, state: ShellState, dump: Dump, text: str) -> str:
        """A file that restores `state`, has the next one dumped at exit, and (where `argv` does not) runs `text`."""

    def argv(self, program: str, script_path: str, text: str) -> tuple[str, ...]:
        """Words that run `text` with that script."""

    def definitions(self, fields: list[str]) -> tuple[Definitions, list[str]]:
        """From the fields of a dump behind directory and umask: what was defined, and the environment."""

    def in_bash(self, definitions: Definitions) -> tuple[str, str]:
        """Functions and aliases as bash source, for the rating; what cannot be said in bash evaluates `$UNREADABLE`."""


def parse(dialect: Dialect, dump: bytes, before: ShellState) -> ShellState | None:
    """Read a dump; None where it is missing or cut short. Definitions of other shells stay as they were."""
    fields = fields_of(dump)
    try:
        cwd, umask = fields[:2]
        definitions, variables = dialect.definitions(fields[2:])
    except (ValueError, IndexError):
        return None
    umask = umask.strip()
    if not is_state(cwd, umask):
        return None
    others = {**before.others, dialect.name: definitions}
    return replace(before, cwd=cwd, umask=umask, env=kept_environment(variables, before.env), others=others)


# --- sh ---

# Only an empty file is written to: see the comment in `agent.execution.state`.
_SH_TRAP = (
    r'test -f "PATH" && test ! -s "PATH" && '
    r'{ printf "%s\0" "$PWD"; umask; printf "\0"; ENV -0 && printf "\0%s\0" END; } >|"PATH" 2>/dev/null'
)


class Sh:
    """Directory, exported variables and umask."""

    name = "sh"

    def script(self, state: ShellState, dump: Dump, text: str) -> str:
        umask = f"umask {state.umask}\n" if state.umask else ""
        return f"{umask}trap {shlex.quote(_filled(_SH_TRAP, dump))} EXIT\neval {shlex.quote(text)}\n"

    def argv(self, program: str, script_path: str, text: str) -> tuple[str, ...]:
        return (program, "-c", f". {script_path}")

    def definitions(self, fields: list[str]) -> tuple[Definitions, list[str]]:
        return Definitions(), fields

    def in_bash(self, definitions: Definitions) -> tuple[str, str]:
        return "", ""


def _filled(source: str, dump: Dump, **more: str) -> str:
    places = {"ENV": dump.env_program, "END": END, "PATH": dump.path, **more}
    return re.sub(rf"\b({'|'.join(places)})\b", lambda match: places[match[0]], source)


# --- zsh ---

_ZSH_OPTIONS = (
    "allexport", "noclobber", "nullglob", "nonomatch", "noglob", "pipefail", "globdots", "shwordsplit", "numericglobsort",
)  # fmt: skip
# Called by zsh itself, when a folder is entered, a program is missing or a signal comes.
_ZSH_HOOKS = (
    "chpwd periodic precmd preexec zshaddhistory zshexit zsh_directory_name command_not_found_handler TRAPEXIT TRAPDEBUG TRAPZERR TRAPERR "
    "TRAPINT TRAPHUP TRAPQUIT TRAPTERM TRAPCHLD TRAPUSR1 TRAPUSR2 TRAPALRM TRAPPIPE TRAPWINCH TRAPTSTP TRAPCONT"
)
# What would make zsh run something that nobody can see in a line: `=name`, code in patterns, aliases in the middle of a line.
_ZSH_SAFE = (
    "setopt no_equals no_bare_glob_qual no_extended_glob no_multios sh_nullcmd no_alias_func_def no_rc_expand_param"
)
_ZSH_TRAP = (
    r"{ \builtin unsetopt xtrace verbose errexit nounset; \builtin unalias -as; "
    r"\builtin unfunction HOOKS; } >/dev/null 2>&1; "
    r'\builtin test -f "PATH" && \builtin test ! -s "PATH" && '
    r'{ \builtin printf "%s\0" "$PWD"; \builtin umask; \builtin printf "\0"; '
    r'\builtin setopt; \builtin printf "\0"; \builtin alias -rL; \builtin printf "\0"; '
    r'\builtin functions; \builtin printf "\0"; ENV -0 && \builtin printf "\0%s\0" END; } >|"PATH" 2>/dev/null'
)


class Zsh:
    """The same, functions, aliases, and the options that are a matter of taste; no functions that are called by themselves (`chpwd`)."""

    name = "zsh"

    def script(self, state: ShellState, dump: Dump, text: str) -> str:
        own = state.others.get(self.name, Definitions())
        options = [line for line in own.options.split() if line in _ZSH_OPTIONS]
        lines = [
            _ZSH_SAFE,
            f"setopt {' '.join(options)}" if options else "",
            "unalias -a",
            own.functions,
            own.aliases,
            f"umask {state.umask}" if state.umask else "",
            f"trap {shlex.quote(_filled(_ZSH_TRAP, dump, HOOKS=_ZSH_HOOKS))} EXIT",
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


# --- fish ---

_FISH_EXIT = r"""function __agent_shell_exit --on-event fish_exit
    builtin test -f 'PATH'; and builtin test ! -s 'PATH'; or return
    begin
        builtin printf '%s\0' $PWD
        umask
        builtin printf '\0'
        # Asking where a function comes from would load it, so those that fish brings are told by their files; they can
        # only have been redefined by a command that says their names.
        set -l brought (builtin string replace -r '.*/(.*)\.fish$' '$1' -- $__fish_data_dir/functions/*.fish)
        set -l names
        for name in (builtin functions --all --names | builtin string split ,)
            builtin string match -qr '^(__agent_shell_|__fish_|fish_)' -- $name; and continue
            builtin contains -- $name $brought; and not builtin contains -- $name WORDS; and continue
            builtin string match -q -- "$__fish_data_dir*" (builtin functions --details $name); or set -a names $name
        end
        builtin printf '%s\0' (builtin count $names)
        for name in $names
            builtin printf '%s\0' $name
            builtin functions --no-details $name | builtin string collect --allow-empty
            builtin printf '\0'
        end
        command ENV -0
        and builtin printf '\0%s\0' END
    end >'PATH' 2>/dev/null
end
"""
_FISH_PLACES = "set -g fish_function_path $__fish_data_dir/functions; set -g fish_complete_path\n"


class Fish:
    """As sh, and functions (aliases are functions there) but for those that fish calls by itself (`--on-event` and its like)."""

    name = "fish"

    def script(self, state: ShellState, dump: Dump, text: str) -> str:
        own = state.others.get(self.name, Definitions())
        umask = f"umask {state.umask}\n" if state.umask else ""
        words = " ".join(sorted(set(re.findall(r"[A-Za-z][\w.-]*", f"{text}\n{own.functions}"))))
        return f"{_FISH_PLACES}{own.functions}\n{umask}{_filled(_FISH_EXIT, dump, WORDS=words)}"

    def argv(self, program: str, script_path: str, text: str) -> tuple[str, ...]:
        return (program, "--no-config", "-C", f"source {script_path}", "-c", text)

    def definitions(self, fields: list[str]) -> tuple[Definitions, list[str]]:
        count = int(fields[0])
        pairs = fields[1 : 1 + 2 * count]
        if len(pairs) != 2 * count:
            raise ValueError("a dump of fewer functions than it says")
        sources = [source.strip() for source in pairs[1::2] if " --on-" not in source.strip().split("\n", 1)[0]]
        return Definitions(functions="\n".join(sources)), fields[1 + 2 * count :]

    def in_bash(self, definitions: Definitions) -> tuple[str, str]:
        sources = re.split(r"^(?=function )", definitions.functions, flags=re.MULTILINE)
        return "\n".join(_as_bash(source) for source in sources if source.strip()), ""


def _as_bash(source: str) -> str:
    """A function as bash source: one plain command as it is (what `alias` makes), anything else as an unknown."""
    from agent.execution.same_meaning import difference

    header, _, rest = source.strip().partition("\n")
    match = re.match(r"function\s+(\S+)(.*)", header)
    name = match[1].strip("'\"") if match else "unknown"
    lines = [line.strip() for line in rest.split("\n") if line.strip() not in ("", "end")]
    body = lines[0].removesuffix("$argv").rstrip("; ") if len(lines) == 1 else ""
    if body and not difference("fish", body):
        return f'{name} () \n{{ {body} "$@"; }}'
    return f'{name} () \n{{ eval "${UNREADABLE}"; }}'


DIALECTS: dict[str, Dialect] = {"sh": Sh(), "zsh": Zsh(), "fish": Fish()}
