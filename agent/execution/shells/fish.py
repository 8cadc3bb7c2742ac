"""fish: directory, exported variables, umask, and functions (aliases are functions there). No configuration is read.

Functions that fish calls by itself (`--on-event` and its like) are not kept.
"""

from __future__ import annotations

import re

from agent.execution.shells.dialect import END, Dump
from agent.execution.state import Definitions, ShellState

_DUMP = r"""function __agent_shell_exit --on-event fish_exit
    begin
        builtin printf '%s\0' $PWD
        umask
        builtin printf '\0'
        set -l names
        for name in (builtin functions --all --names | builtin string split ,)
            builtin string match -q '__agent_shell_*' -- $name; and continue
            set -l where (builtin functions --details $name)
            builtin string match -q -- "$__fish_data_dir*" $where; or test $where = n/a; or set -a names $name
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
_HEADER = re.compile(r"function\s+(\S+)(.*)")
_SIMPLE = re.compile(r"[\w ./=,:+@%-]+")


class Fish:
    """See `dialect.Dialect`."""

    name = "fish"

    def script(self, state: ShellState, dump: Dump, text: str) -> str:
        own = state.others.get(self.name, Definitions())
        umask = f"umask {state.umask}\n" if state.umask else ""
        hook = _DUMP.replace("ENV", dump.env_program).replace("END", END).replace("PATH", dump.path)
        return f"{own.functions}\n{umask}{hook}"

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
    if body and _SIMPLE.fullmatch(body):
        return f'{name} () {{ {body} "$@"; }}'
    return f'{name} () {{ eval "$FISH_CODE_OF_AN_EARLIER_COMMAND"; }}'
