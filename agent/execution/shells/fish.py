"""fish: directory, exported variables, umask, and functions (aliases are functions there). No configuration is read.

Functions that fish calls by itself (`--on-event` and its like) are not kept.
"""

from __future__ import annotations

import re

from agent.execution.shells.dialect import END, UNREADABLE, Dump
from agent.execution.shells.same_meaning import difference
from agent.execution.state import Definitions, ShellState

_DUMP = r"""function __agent_shell_exit --on-event fish_exit
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
_PLACES = "set -g fish_function_path $__fish_data_dir/functions; set -g fish_complete_path\n"
_HEADER = re.compile(r"function\s+(\S+)(.*)")
_WORD = re.compile(r"[A-Za-z][\w.-]*")


class Fish:
    """See `dialect.Dialect`."""

    name = "fish"

    def script(self, state: ShellState, dump: Dump, text: str) -> str:
        own = state.others.get(self.name, Definitions())
        umask = f"umask {state.umask}\n" if state.umask else ""
        words = " ".join(sorted(set(_WORD.findall(f"{text}\n{own.functions}"))))
        places = {"ENV": dump.env_program, "END": END, "PATH": dump.path, "WORDS": words}
        hook = re.sub(r"\b(ENV|END|PATH|WORDS)\b", lambda match: places[match[0]], _DUMP)
        return f"{_PLACES}{own.functions}\n{umask}{hook}"

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
    header, _, rest = source.strip().partition("\n")
    match = _HEADER.match(header)
    name = match[1].strip("'\"") if match else "unknown"
    lines = [line.strip() for line in rest.split("\n") if line.strip() not in ("", "end")]
    body = lines[0].removesuffix("$argv").rstrip("; ") if len(lines) == 1 else ""
    if body and not difference("fish", body):
        return f'{name} () \n{{ {body} "$@"; }}'
    return f'{name} () \n{{ eval "${UNREADABLE}"; }}'
