"""Read commands of ed, ex and vim for what they reach outside the text that is edited.

Commands that only move, show or change the text in memory are known by name; so are those that write it, run something or
load code. Any other, and every expression that calls more than a few plain functions, counts as not understood.
"""

from __future__ import annotations

import re
import shlex

from msgspec import Struct

from agent.risk.tables.names import names

_LANGUAGES = {"py": "python", "py3": "python", "python": "python", "python3": "python", "pyx": "python", "pythonx": "python",
              "lua": "lua", "luado": "lua", "perl": "perl", "ruby": "ruby", "rub": "ruby", "tcl": "tclsh", "mz": "racket"}  # fmt: skip
_CALLS = re.compile(
    r"\b(?:system|systemlist|term_start|job_start|jobstart|termopen)\s*\(\s*\[?\s*(?:'((?:[^']|'')+)'|\"((?:[^\"\\\\]|\\\\.)+)\")",
    re.S,
)
_DEEDS = {
    "delete": "rm",
    "rename": "mv",
    "writefile": ": >",
    "setfperm": "chmod u+w",
    "mkdir": "mkdir",
    "filecopy": "cp",
}
_DONE = re.compile(rf"\b({'|'.join(_DEEDS)})\s*\(((?:[^()]|\([^()]*\))*)\)")
_PLAIN = names("ex.plain")
_OPENS = names("ex.opens")
_WRITES = names("ex.writes")
_LOADS = names("ex.loads")
_MODIFIERS = names("ex.modifiers")
_SETTINGS = names("ex.settings")
_FUNCTIONS = names("ex.functions")
_SETTING = re.compile(r"(?:no|inv)?([a-z]+)[!?&]?(?:[-+^]?[=:](?:\\.|\S)*)?")
_CALLED = re.compile(r"(?<![\w.#:&@>-])([\w.#:&@>-]*[\w\])])\s*\(")
_RANGE = re.compile(r"(?:[%*\s:]|\d+|[.$,;+-]|'[\w<>\[\]]|\\[/?&]|[/?](?:\\.|[^\\/?\n])*(?:[/?]|$))*")
_NORMAL_RUNS = re.compile(r"[:!@QZK=\x00-\x1a\x1c-\x1f]|g[xF]")


class ExScript(Struct):
    """`commands` for a shell; `deeds`: what functions do to files, as commands of a shell; `writes`: files, "" for the one that is edited;
    `code`: (language, text); `files` of commands."""

    commands: list[str] = []
    deeds: list[str] = []
    writes: list[str] = []
    code: list[tuple[str, str]] = []
    files: list[str] = []
    shell: bool = False
    unread: str = ""
    opened: str = ""


def _is(name: str, *commands: str) -> bool:
    """Tell whether `name` is one of the commands, or may stand for it."""
    parts = (entry.partition("[") for entry in commands)
    return any(name.startswith(short) and (short + rest.rstrip("]")).startswith(name) for short, _, rest in parts)


def read_script(text: str) -> ExScript:
    """Lines of commands, as a file or standard input gives them; text behind a, i and c ends with a line that is a dot."""
    found = ExScript()
    lines = iter(re.sub(r"\\\n", "\n", text).splitlines())
    for line in lines:
        if re.fullmatch(r"[:%\d,.$;+\s-]*(?:a|i|c|append|insert|change)!?\s*", line):
            for inner in lines:
                if inner == ".":
                    break
        else:
            read_ex(line, found)
    return found


def read_ex(text: str, found: ExScript, depth: int = 0) -> ExScript:
    """One line of commands, joined by `|`; what it reaches is added to `found`."""
    rest = text.strip()
    while rest:
        rest = rest[_RANGE.match(rest).end() :]  # type: ignore[union-attr]  # it matches nothing, too
        name = re.match(r"[A-Za-z]+3?", rest)
        if depth > 8:
            found.unread, rest = rest[:40], ""
        elif rest[:1] in ("", '"', "|"):
            rest = rest[1:] if rest[:1] == "|" else ""
        elif rest[0] in "=<>&~#":
            rest = rest.lstrip("=<>&~# ")
        elif rest[0] == "!":
            found.commands.append(rest[1:].strip())
            rest = ""
        elif name is None:
            found.unread, rest = rest[:40], ""
        else:
            rest = _command(name[0], rest, found, depth)
    return found


def _command(name: str, text: str, found: ExScript, depth: int) -> str:
    """Reads one command; what is left of the line comes back."""
    behind = text[len(name) :].lstrip("!")
    argument = behind.strip()
    if name in ("lua", "luado"):
        _read_lua(argument, found, depth)
    if name in _LANGUAGES:
        found.code.append((_LANGUAGES[name], argument))
        return ""
    if _is(name, *_MODIFIERS):
        return argument
    if _is(name, "exe[cute]") and (quoted := re.fullmatch(r"(['\"])((?:(?!\1).)*)\1", argument)):
        read_ex(quoted[2], found, depth + 1)
        return ""
    if _is(name, "norm[al]"):
        if _NORMAL_RUNS.search(argument):
            found.unread = argument[:40]
        return ""
    if _is(name, "g[lobal]", "v[global]"):
        inside = re.match(r"([^\w\s|\"])(?:\\.|(?!\1).)*(?:\1|$)", behind, re.S)
        if inside is None:
            found.unread = text[:40]
            return ""
        return behind[inside.end() :] or "p"
    if _is(name, "s[ubstitute]") or (name[0] == "s" and behind[:1] and not behind[0].isalnum() and len(name) == 1):
        return _substitution(behind, found)
    return _simple(name, behind, found)


def _simple(name: str, behind: str, found: ExScript) -> str:
    """A command whose argument ends at `|`."""
    if (_is(name, "r[ead]", "w[rite]") or name in ("e", "E")) and re.match(r"\s*!", behind):
        found.commands.append(behind.strip()[1:].strip())
        return ""
    argument, _, rest = behind.partition("|")
    argument = argument.strip()
    if "`" in argument and not _is(name, *_PLAIN):
        found.unread = argument[:40]
    elif _is(name, *_WRITES):
        file = argument.removeprefix(">>").strip()
        found.writes.append(file or found.opened)
    elif _is(name, "sh[ell]", "ter[minal]"):
        found.shell = True
        if argument:
            found.commands.append(argument)
    elif _is(name, *_LOADS):
        found.files.append(argument)
    elif _is(name, *_OPENS):
        if not _is(name, "r[ead]") and argument and argument[0] not in "#%+":
            found.opened = argument
    elif _is(name, "se[t]", "setl[ocal]"):
        if not all((one := _SETTING.fullmatch(word)) and one[1] in _SETTINGS for word in argument.split()):
            found.unread = f"set {argument[:40]}"
    elif name in ("ec", "echo", "echom", "echomsg", "let", "call", "cal", "eval", "if", "else", "endif", "en"):
        _expression(argument, found)
    elif not _is(name, *_PLAIN):
        found.unread = f"{name} {argument}"[:40]
    return rest


def _substitution(text: str, found: ExScript) -> str:
    inside = re.match(
        r"\s*([^\w\s|\"\\])(?:\\.|(?!\1).)*(?:\1((?:\\.|(?!\1).)*)(?:\1|$)|$)[&cegiInp#lr\d\s]*", text, re.S
    )
    if inside is None:
        return text.lstrip("&cegiInp#lr0123456789 ")
    if (inside[2] or "").startswith("\\="):
        _expression(inside[2], found)
    return text[inside.end() :]


def _expression(text: str, found: ExScript) -> None:
    for call in _CALLS.finditer(text):
        found.commands.append((call[1] or "").replace("''", "'") or (call[2] or "").replace('\\"', '"'))
    for done in _DONE.finditer(text):
        found.deeds.append(_as_command(done[1], _arguments(done[2])))
    bare = re.sub(r"'(?:[^']|'')*'|\"(?:\\.|[^\"\\])*\"", "''", text)
    unknown = [
        name for name in _CALLED.findall(bare) if name not in _FUNCTIONS and (name not in _DEEDS or not found.deeds)
    ]
    if unknown:
        found.unread = f"{unknown[0]}()"


_LUA_COMMANDS = re.compile(
    r"\bvim\.(?:cmd(?:\.\w+)?|command|api\.nvim_(?:command|exec2?)|fn\.execute)\s*\(?\s*(?:'([^'\n]*)'|\"((?:\\.|[^\"\\\n])*)\"|\[\[(.*?)(?:\]\]|\Z))",
    re.S,
)
_LUA_LISTS = re.compile(r"\b(?:vim\.system|system|systemlist|jobstart|spawn)\s*\(\s*\{([^{}]*)\}")
_LUA_DEEDS = {
    "rm": "delete",
    "fs_unlink": "delete",
    "fs_rmdir": "delete",
    "fs_rename": "rename",
    "fs_copyfile": "filecopy",
}
_LUA_DONE = re.compile(
    rf"\b(?:vim\.fs\.|(?:vim\.)?(?:uv|loop)\.)({'|'.join(_LUA_DEEDS)})\s*\(((?:[^()]|\([^()]*\))*)\)"
)


def _read_lua(code: str, found: ExScript, depth: int) -> None:
    """Read what Lua has the editor do: its commands, and its functions, which are those of Vim script."""
    for command in _LUA_COMMANDS.finditer(code):
        text = re.sub(r"\\(.)", r"\1", command[2]) if command[2] else command[1] or command[3] or ""
        inner = read_ex(text, ExScript(opened=found.opened), depth + 1)
        found.commands += inner.commands
        found.deeds += inner.deeds
        found.code += inner.code
    for words in _LUA_LISTS.finditer(code):
        found.commands.append(shlex.join(a or b for a, b in re.findall(r"'([^']*)'|\"([^\"]*)\"", words[1])))
    for done in _LUA_DONE.finditer(code):
        arguments = _arguments(done[2])
        deep = "recursive" in done[2]
        found.deeds.append(_as_command(_LUA_DEEDS[done[1]], [arguments[0], "'rf'"] if deep else arguments))
    called = ExScript()
    _expression(re.sub(r"\bvim\.(?:fn|call)\.", "", code), called)
    found.commands += called.commands
    found.deeds += called.deeds


_ARGUMENT = re.compile(r"(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\([^()]*\)|\[\[[^\[\]]*\]\]|[^,])+", re.S)


def _arguments(text: str) -> list[str]:
    """The arguments of a call, which commas part but for those within texts and brackets."""
    return [part.strip() for part in _ARGUMENT.findall(text)] or [""]


def _as_command(function: str, arguments: list[str]) -> str:
    """The command of the shell that does to files what the function does; a name that is put together stays unknown."""
    paths = [_path(one) for one in arguments]
    if function == "delete":
        flags = paths[1] if len(paths) > 1 else ""
        return f"rm -r {paths[0]}" if "r" in flags or "$" in flags else f"rm {paths[0]}"
    if function == "writefile":
        paths = paths[1:2]
    return " ".join((_DEEDS[function], *paths[:2]))


_HOME = re.compile(
    r"\bvim\.env\.(\w+)|\b(?:os\.)?(?:getenv|environ)\(\s*['\"](\w+)['\"]\s*\)|\b(?:vim\.)?(?:uv|loop)\.os_(home)dir\(\)"
)
_JOINS = re.compile(r"'[^']*'|\"[^\"]*\"|(\.\.?)")  # texts, within which dots join nothing


def _path(argument: str) -> str:
    """The path that the argument of a command stands for, also where it is put together of several pieces."""
    plain = _HOME.sub(lambda named: f"${(named[1] or named[2] or named[3]).upper()}", argument)
    plain, pieces, at = plain.replace("vim.fs.normalize", "expand"), [], 0
    for found in _JOINS.finditer(plain):
        if found[1]:
            pieces.append(plain[at : found.start()])
            at = found.end()
    return "".join(_piece(piece) for piece in (*pieces, plain[at:]))


def _piece(argument: str) -> str:
    inside = re.fullmatch(r"(?:expand|fnameescape|fnamemodify|glob|resolve|simplify)\((.*)\)", argument.strip(), re.S)
    text = inside[1].split(",")[0].strip() if inside else argument.strip()
    quoted = re.fullmatch(r"'([^'\n]*)'|\"([^\"\\\n]*)\"|\[\[([^\]\n]*)\]\]", text)
    if quoted is not None:
        plain = quoted[1] or quoted[2] or quoted[3] or ""
        return re.sub(r"[^\w./~$*-]", lambda sign: "\\" + sign[0], plain)
    return f'"{text}"' if re.fullmatch(r"\$\w+", text) else '"$unknown"'
