"""Tell what a command changes from its text: deleting, moving, writing ..., and where its output goes."""

from __future__ import annotations

import re
import shlex

from agent.text.lazy_pattern import LazyPattern

_START = r"(?:\A|[\n;|&({]\s*|-exec(?:dir)? |-ok |xargs (?:-\S+ (?:\d+ |\{\} )?)*|sudo (?:-\S+ )*|\bdo |\bthen |\bsh -c '|&& )"
_PROGRAMS = {
    "delete": r"rm|rmdir|unlink|shred",
    "move": r"mv|rename|git mv",
    "copy": r"cp|rsync|scp|install|ln -f\w*",
    "mode": r"chmod|setfacl",
    "owner": r"chown|chgrp",
    "empty": r"truncate",
    "kill": r"kill|pkill|killall",
    "create": r"mkdir|touch|ln|mktemp|mkfifo|split|csplit",
    "pack": r"zip|gzip|bzip2|xz|zstd|7z|tar (?:--\w+ )*-?\w*[cru]\w*|tar --delete",
    "unpack": r"unzip|gunzip|bunzip2|unxz|tar (?:--\w+ )*-?x\w*",
    "edit": r"sed (?:-\S+ )*(?:-\w*i\S*|--in-place\S*)|perl (?:-\S+ )*-\w*i|sort (?:-\S+ )*-o|dos2unix|ex|patch",
    "repository": r"git (?:-\S+ )*(?:add|am|apply|bisect|checkout|cherry-pick|clean|clone|commit|fetch|gc|init"
    r"|merge|mv|pull|push|rebase"
    r"|reset|restore|revert|rm|stash(?! list| show)|switch|branch -[dDmMcf]|branch [\w.']\S*|tag -[dafs]|tag [\w.']\S*)",
    "system": r"apt-get|apt|dnf|yum|pacman|brew|pip3?|python3? -m pip|npm|cargo|systemctl|service|docker|crontab|reboot"
    r"|shutdown|poweroff|mount"
    r"|umount|useradd|userdel|usermod|passwd|kubectl|snap|gem|mkfs\S*|dd",
    "fetch": r"wget|curl (?:-\S+ )*(?:-\w*[oOT]|--output|--remote-name|-X|-d)",
}


def _beginnings(programs: str) -> frozenset[str]:
    """Texts of which one begins every alternative; letters of alternatives inside a group may be among them, and do no harm."""
    found = (re.match(r"(?:[a-z0-9-](?!\?))+", one) for one in re.split(r"\|(?![^([]*[)\]])", programs))
    return frozenset(match[0] for match in found if match)


_OPERATIONS = {name: LazyPattern(rf"{_START}(?:{programs})(?![\w.=/-])") for name, programs in _PROGRAMS.items()}
# How the programs of an operation begin: a command without any of these texts needs no expression.
_BEGINNINGS = {name: _beginnings(programs) for name, programs in _PROGRAMS.items()}
_TO_THE_SCREEN = LazyPattern(
    r"\b(?:gzip|bzip2|xz|gunzip|zstd)\b[^|;&]* -\w*[cdltv]\w*c?\b|\bunzip -\w*[lptvZ]|\b7z l\b|\b(?:pip3?|npm"
    r"|apt|brew|docker(?: system)?|systemctl|crontab|snap"
    r"|gem|kubectl|cargo|service|dnf|yum|pacman)\b \S*?(?:list|show|status|search|freeze|-l|outdated|info|ps"
    r"|images|logs|tree|view"
    r"|policy|is-\w+|df|diff|version|cat|inspect|stats|top|port|metadata|ls|get|describe|-Q\w*)\b"
)
_LOOKS = LazyPattern(r"\brsync -(?:\w*n|-dry-run)|\bkill -l\b|\bcurl\b.*(?:-o /dev/null)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_REDIRECT = LazyPattern(r"(?<![0-9<>=-])(>>?)\s*('[^']*'|\"[^\"]*\"|[^\s;|&()<>]+)")
_TEE = LazyPattern(r"\|\s*(?:sudo )?tee (-a )?('[^']*'|\"[^\"]*\"|[^\s;|&()<>-][^\s;|&()<>]*)")


def shell_words(command: str) -> list[str]:
    """The words of a command as a shell has them; parted at blanks where a quote is not closed."""
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def unquoted(word: str) -> str:
    """A shell word without quotes around it."""
    return word[1:-1] if len(word) > 1 and word[0] in "'\"" and word[-1] == word[0] else word


def redirections(command: str) -> list[tuple[str, str]]:
    """Files that output goes to, as (">" or ">>", path); what only throws output away is none."""
    masked = _QUOTED.sub(lambda found: found[0][0] + "\x01" * (len(found[0]) - 2) + found[0][-1], command)
    out = [
        (match[1], unquoted(command[match.start(2) : match.end(2)]))
        for match in _REDIRECT.finditer(masked)
        if match.end(2) <= len(command)
    ]
    out += [
        (">>" if match[1] else ">", unquoted(command[match.start(2) : match.end(2)])) for match in _TEE.finditer(masked)
    ]
    return [(kind, path) for kind, path in out if path not in ("/dev/null", "/dev/stderr", "/dev/stdout")]


def operations(command: str) -> frozenset[str]:
    """Name the operations by which a command changes something; empty where it only reads."""
    found = {
        name
        for name, pattern in _OPERATIONS.items()
        if any(beginning in command for beginning in _BEGINNINGS[name]) and pattern.search(command)
    }
    if re.search(r"(?:\s)-delete\b", command) and "find " in command:
        found.add("delete")
    if found & {"pack", "unpack", "system"} and _TO_THE_SCREEN.search(command):
        found -= {"pack", "unpack", "system"}
    if _LOOKS.search(command):
        found -= {"copy", "kill", "fetch"}
    if found == {"repository"} and re.match(r"git fetch\b[^;|]*&& git log\b", command):
        found.clear()  # it brings news, and changes nothing of the person's
    for kind, _ in redirections(command):
        found.add("append" if kind == ">>" else "write")
    return frozenset(found)
