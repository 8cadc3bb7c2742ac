"""Read commands of ed, ex and vim for what they reach outside the text that is edited.

Commands that only move, show or change the text in memory are known by name; so are those that write it, run something or
load code. Any other, and every expression that calls more than a few plain functions, counts as not understood.
"""

from __future__ import annotations

import re

from msgspec import Struct

_LANGUAGES = {"py": "python", "py3": "python", "python": "python", "python3": "python", "pyx": "python", "pythonx": "python",
              "lua": "lua", "perl": "perl", "ruby": "ruby", "rub": "ruby", "tcl": "tclsh", "mz": "racket"}  # fmt: skip
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
# As vim's manual writes them: what is in brackets may be left out.
_PLAIN = """q[uit] qa[ll] quita[ll] cq[uit] p[rint] P[rint] nu[mber] l[ist] d[elete] j[oin] m[ove] t co[py] y[ank] pu[t] u[ndo]
red[o] ma[rk] k noh[lsearch] sy[ntax] colo[rscheme] hi[ghlight] n[ext] prev[ious] fir[st] la[st] b[uffer] bn[ext] bp[revious] ls
files ju[mps] marks reg[isters] ve[rsion] h[elp] filet[ype] ret[ab] sor[t] fo[ld] foldo[pen] foldc[lose] le[ft] ri[ght] ce[nter]
star[tinsert] stopi[nsert] res[ize] on[ly] clo[se] difft[his] diffo[ff] diffu[pdate] tabn[ext] tabp[revious] tabo[nly] winc[md] H z"""
_OPENS = "e[dit] ex vi[sual] vie[w] f[ile] sp[lit] vs[plit] new vne[w] tabe[dit] tabnew E r[ead] bad[d] arga[dd] ar[gs] fin[d]"
_WRITES = "w[rite] wq x[it] exi[t] wa[ll] wqa[ll] xa[ll] up[date] wn[ext] sav[eas] W"
_SHELLS = "sh[ell] ter[minal]"
_LOADS = "so[urce] ru[ntime] luaf[ile] pyf[ile] py3f[ile] pyxf[ile] rubyf[ile] tclf[ile] mzf[ile] lo[adview] pa[ckadd]"
_MODIFIERS = """sil[ent] keepa[lt] kee[pmarks] keepj[umps] keepp[atterns] noa[utocmd] nos[wapfile] vert[ical] bo[tright] to[pleft]
tab conf[irm] lockm[arks]"""
_SETTINGS = """nu number rnu relativenumber wrap list ic ignorecase scs smartcase hls hlsearch is incsearch paste ro readonly ma
modifiable syn syntax ft filetype ff fileformat fenc fileencoding enc encoding bin binary eol endofline fixeol bomb tw textwidth ts
tabstop sw shiftwidth sts softtabstop et expandtab ai autoindent si smartindent cc colorcolumn cul cursorline cuc cursorcolumn so
scrolloff ls laststatus ru ruler sc showcmd smd showmode bg background mouse cp compatible tgc termguicolors spell scb scrollbind fdm
foldmethod fdl foldlevel fen foldenable swf swapfile vb visualbell magic gd gdefault ws wrapscan more lz lazyredraw lbr linebreak"""
_FUNCTIONS = """line col getline len strlen cursor search match matchstr toupper tolower printf string split join range abs min max
empty exists has strftime localtime fnamemodify expand bufname setline append substitute repeat trim nr2char char2nr get type"""
_SETTING = re.compile(r"(?:no|inv)?([a-z]+)[!?&]?(?:[-+^]?[=:](?:\\.|\S)*)?")
_CALLED = re.compile(r"([\w.#:&@>-]*[\w\])])\s*\(")
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


def _is(name: str, group: str) -> bool:
    """Whether `name` is one of the commands, or may stand for it."""
    for entry in group.split():
        short, _, rest = entry.partition("[")
        if name.startswith(short) and (short + rest.rstrip("]")).startswith(name):
            return True
    return False


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
    if name in _LANGUAGES:
        found.code.append((_LANGUAGES[name], argument))
        return ""
    if _is(name, _MODIFIERS):
        return argument
    if _is(name, "exe[cute]") and (quoted := re.fullmatch(r"(['\"])((?:(?!\1).)*)\1", argument)):
        read_ex(quoted[2], found, depth + 1)
        return ""
    if _is(name, "norm[al]"):
        found.unread = argument[:40] if _NORMAL_RUNS.search(argument) else ""
        return ""
    if _is(name, "g[lobal]") or _is(name, "v[global]"):
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
    if (_is(name, "r[ead]") or _is(name, "w[rite]") or name in ("e", "E")) and re.match(r"\s*!", behind):
        found.commands.append(behind.strip()[1:].strip())
        return ""
    argument, _, rest = behind.partition("|")
    argument = argument.strip()
    if "`" in argument and not _is(name, _PLAIN):
        found.unread = argument[:40]
    elif _is(name, _WRITES):
        file = argument.removeprefix(">>").strip()
        found.writes.append(file or found.opened)
    elif _is(name, _SHELLS):
        found.shell = True
        if argument:
            found.commands.append(argument)
    elif _is(name, _LOADS):
        found.files.append(argument)
    elif _is(name, _OPENS):
        if not _is(name, "r[ead]") and argument and argument[0] not in "#%+":
            found.opened = argument
    elif _is(name, "se[t]") or _is(name, "setl[ocal]"):
        if not all((one := _SETTING.fullmatch(word)) and one[1] in _SETTINGS.split() for word in argument.split()):
            found.unread = f"set {argument[:40]}"
    elif name in ("ec", "echo", "echom", "echomsg", "let", "call", "cal", "eval", "if", "else", "endif", "en"):
        _expression(argument, found)
    elif not _is(name, _PLAIN):
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
        found.deeds.append(_as_command(done[1], [part.strip() for part in done[2].split(",")]))
    bare = re.sub(r"'(?:[^']|'')*'|\"(?:\\.|[^\"\\])*\"", "''", text)
    unknown = [
        name
        for name in _CALLED.findall(bare)
        if name not in _FUNCTIONS.split() and (name not in _DEEDS or not found.deeds)
    ]
    if unknown:
        found.unread = f"{unknown[0]}()"


def _as_command(function: str, arguments: list[str]) -> str:
    """The command of the shell that does to files what the function does; a name that is put together stays unknown."""
    paths = [_path(one) for one in arguments]
    if function == "delete":
        flags = paths[1] if len(paths) > 1 else ""
        return f"rm -r {paths[0]}" if "r" in flags else f"rm {paths[0]}"
    if function == "writefile":
        paths = paths[1:2]
    return " ".join((_DEEDS[function], *paths[:2]))


def _path(argument: str) -> str:
    """What stands for the argument in a command."""
    inside = re.fullmatch(r"(?:expand|fnameescape|fnamemodify|glob)\((.*)\)", argument)
    text = inside[1].split(",")[0].strip() if inside else argument
    quoted = re.fullmatch(r"'([^'\n]*)'|\"([^\"\\\n]*)\"", text)
    if quoted is not None:
        plain = quoted[1] or quoted[2] or ""
        return re.sub(r"[^\w./~$*-]", lambda sign: "\\" + sign[0], plain)
    return f'"{text}"' if re.fullmatch(r"\$\w+", text) else '"$unknown"'
