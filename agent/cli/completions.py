"""Write completion scripts for bash, zsh and fish, from the settings table and the sub-commands: they cannot go stale."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping

from agent.cli.declaring import declare
from agent.config.session_actions import ACTIONS
from agent.config.table import SETTINGS, Setting

TYPE_CHECKING = False  # what type checkers take for true
if TYPE_CHECKING:
    from agent.cli.sub_commands import SubCommand

_NAMING = "roles|agents|macros|rag|vault"
_LISTED = {"role": "roles", "agent": "agents", "rag": "rag"}
"""Settings whose values a sub-command lists."""
_NAMES = r"2>/dev/null | cut -d\" -f4"
"""Behind its words, it prints the names that such a sub-command lists."""
_FILES = {"config", "session_dir", "telemetry_file", "safety_policy", "cwd", "file", "ca_file"}


def script(shell: str, table: Mapping[str, SubCommand]) -> str:
    """The script for `shell`. Raises ValueError for one that is not known."""
    makers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in makers:
        raise ValueError(f"no completion script for {shell!r}")
    return makers[shell](table)


def _words(table: Mapping[str, SubCommand]) -> dict[str, tuple[str, ...]]:
    """List what each sub-command takes that does not take all settings, and each action: the words of its arguments, and its options."""
    takes = {name: _taken_by(each) for name, each in table.items() if "*" not in each.settings}
    return takes | {f"sessions {name}": _taken_by(table["sessions"], name) for name in ACTIONS}


def _taken_by(row: SubCommand, action: str = "") -> tuple[str, ...]:
    parser = ArgumentParser()
    declare(parser, row.settings, row.add, action)
    words = [str(word) for action in parser._actions for word in action.choices or () if not action.option_strings]
    return (*words, *(option for action in parser._actions for option in action.option_strings[-1:]))


def _cases(table: Mapping[str, SubCommand], offer: str) -> str:
    """The branches of a `case` of bash and zsh; behind an action of `sessions` it is `sessions:ACTION`. `offer` takes the words."""
    words = {name.replace(" ", ":"): " ".join(each) for name, each in _words(table).items()}
    words["sessions*"] = words.pop("sessions")  # last: it takes whatever no action is
    return "\n".join(f"    {name}) {offer.format(each)}; return ;;" for name, each in words.items())


def _flags() -> list[Setting]:
    given = [setting for setting in SETTINGS if setting.flag]
    off = [(setting.name, setting.flag, setting.off_flag) for setting in given if setting.off_flag]
    return [*given, *(Setting(name=name, kind="bool", flag=short, help=f"{flag} off") for name, flag, short in off)]


def _planners() -> tuple[str, ...]:
    from agent.providers.catalog import load_catalog

    return ("auto", "offline", *load_catalog().entries)


def _values(setting: Setting) -> tuple[str, ...]:
    """List what may stand after a flag, where that is a closed list (or nearly so)."""
    return _planners() if setting.name == "planner" else setting.choices


def _bash(table: Mapping[str, SubCommand]) -> str:
    flags = " ".join(str(setting.flag) for setting in _flags())
    choices = "\n".join(
        f"    {setting.flag}) COMPREPLY=($(compgen -W '{' '.join(_values(setting))}' -- \"$cur\")); return ;;"
        for setting in _flags()
        if _values(setting)
    )
    listed = "\n".join(
        f'    --{name}) COMPREPLY=($(compgen -W "$("${{COMP_WORDS[0]}}" {sub} list --json {_NAMES})" -- "$cur")); return ;;'
        for name, sub in _LISTED.items()
    )
    files = "|".join(str(setting.flag) for setting in _flags() if setting.name in _FILES)
    valued = "|".join(str(setting.flag) for setting in _flags() if setting.kind != "bool")
    special = _cases(table, """COMPREPLY=($(compgen -W '{}' -- "$cur"))""")
    return f"""\
# bash completion for agent-shell; add to ~/.bashrc:  source <(agent-shell completions bash)
_agent_shell() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  COMPREPLY=()
  case $prev in
{choices}
{listed}
    {files}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  local sub= i=1  # the first word that is no option and no value of one
  while (( i < COMP_CWORD )); do
    case ${{COMP_WORDS[i]}} in
      {valued}) [[ ${{COMP_WORDS[i+1]}} == = ]] && ((i++)); ((i += 2)) ;;
      -*) ((i++)) ;;
      *) sub=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  [[ $sub == sessions ]] && (( i + 1 < COMP_CWORD )) && sub+=:${{COMP_WORDS[i+1]}}
  if [[ $sub == @({_NAMING}) && $cur != -* ]] && (( i + 2 == COMP_CWORD )); then
    COMPREPLY=($(compgen -W "$("${{COMP_WORDS[0]}}" "$sub" list --json {_NAMES})" -- "$cur")); return
  fi
  case $sub in
{special}
  esac
  local own=
  [[ $sub == exec ]] && own=--via-rehearsal
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "{flags} --help --version $own" -- "$cur"))
  elif [[ -z $sub && $i -eq $COMP_CWORD ]]; then
    COMPREPLY=($(compgen -W '{" ".join(table)}' -- "$cur"))
  fi
}}
complete -o default -F _agent_shell agent-shell agent_shell.py
"""


def _zsh(table: Mapping[str, SubCommand]) -> str:
    lines = []
    for setting in _flags():
        text = _plain(setting.help)
        if setting.kind == "bool":
            lines.append(f"    '{setting.flag}[{text}]'")
            continue
        values = f"({' '.join(_values(setting))})" if _values(setting) else "_files" if setting.name in _FILES else ""
        if setting.name in _LISTED:
            values = f"{{compadd -- $(agent-shell {_LISTED[setting.name]} list --json {_NAMES})}}"
        lines.append(f"    '{setting.flag}[{text}]:{setting.name}:{values}'")
    lines.append("    '--via-rehearsal[exec only, rehearse it first]'")
    names = "\n".join(f"    '{name}:{_plain(each.help)}'" for name, each in table.items())
    options = " \\\n".join(lines)
    valued = "|".join(str(setting.flag) for setting in _flags() if setting.kind != "bool")
    special = _cases(table, "compadd -- {}")
    return f"""\
#compdef agent-shell agent_shell.py
# zsh completion for agent-shell; save as _agent-shell in a folder of $fpath
_agent_shell() {{
  local -a commands
  commands=(
{names}
  )
  local sub= i=2  # the first word that is no option and no value of one
  while (( i < CURRENT )); do
    case $words[i] in
      {valued}) (( i += 2 )) ;;
      -*) (( i += 1 )) ;;
      *) sub=$words[i]; break ;;
    esac
  done
  [[ $sub == sessions ]] && (( i + 1 < CURRENT )) && sub+=:$words[i+1]
  if [[ $sub == ({_NAMING}) && $PREFIX != -* ]] && (( i + 2 == CURRENT )); then
    compadd -- $("$words[1]" $sub list --json {_NAMES}); return
  fi
  case $sub in
{special}
  esac
  if [[ -z $sub && $PREFIX != -* ]] && (( i == CURRENT )); then
    _describe 'sub-command' commands
    return
  fi
  _arguments -s \\
{options} \\
    '*::goal:_files'
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _agent_shell "$@"; else compdef _agent_shell agent-shell agent_shell.py; fi
"""


def _fish(table: Mapping[str, SubCommand]) -> str:
    lines = ["# fish completion for agent-shell; save as ~/.config/fish/completions/agent-shell.fish"]
    for name, each in table.items():
        lines.append(f"complete -c agent-shell -n __fish_use_subcommand -a {name} -d '{_plain(each.help)}'")
    for setting in _flags():
        line = f"complete -c agent-shell -l {str(setting.flag)[2:]} -d '{_plain(setting.help)}'"
        if _values(setting):
            line += f" -x -a '{' '.join(_values(setting))}'"
        elif setting.name in _LISTED:
            line += f" -x -a '(agent-shell {_LISTED[setting.name]} list --json {_NAMES})'"
        elif setting.kind != "bool":
            line += " -r" if setting.name in _FILES else " -x"
        lines.append(line)
    via = "complete -c agent-shell -n '__fish_seen_subcommand_from exec' -l via-rehearsal -d 'rehearse it first'"
    lines.append(via)
    for name in _NAMING.split("|"):
        actions = "__fish_seen_subcommand_from show edit save get add run delete"
        ask = f"(agent-shell {name} list --json {_NAMES})"
        lines.append(f"complete -c agent-shell -f -n '__fish_seen_subcommand_from {name}; and {actions}' -a '{ask}'")
    for name, words in _words(table).items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
        lines.append(f"complete -c agent-shell -f -n '{seen}' -a '{' '.join(words)}'")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Help without what would end a quoted word or mean something to zsh's specification language."""
    return "".join(char for char in text if char not in "'[]:\\")
