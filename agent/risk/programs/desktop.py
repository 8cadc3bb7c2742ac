"""Judge programs of a desktop: those that open a file with whatever it is for, and the command prompt of Windows (WSL, Wine)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.names import names, pattern, patterns
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_DOCUMENTS = names("desktop.documents")
_ADDRESSES = names("desktop.addresses")
_FOLDERS = names("desktop.folders")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?!\\)")
_TERMINALS = re.compile(r"(?i)term|konsole|xfce4-terminal|kitty|alacritty|warp|ghostty|script editor")
_AS_TEXT = ("-e", "-t", "-f", "-R", "--reveal", "-h")  # of macOS: in the editor, or only shown where it lies


def opener(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """xdg-open, open and their like: an address, a folder or a document is shown; whatever else may be run."""
    _judge_opened(walker, invocation, args, args.operands)
    return None


def gio(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """gio open FILE; everything else is as the table says."""
    if args.operands and args.operands[0].text == "open":
        _judge_opened(walker, invocation, args, args.operands[1:])
    return None


def _judge_opened(walker: Walker, invocation: Invocation, args: Args, words: list[Word]) -> None:
    application = args.value("-a")
    if application is not None and ("/" in application.text or not application.known):
        words = [*words, application]
    elif args.has(*_AS_TEXT) and application is None:
        return
    told = application is not None and _TERMINALS.search(application.text) is not None
    run = [word for word in words if told or _may_run(walker, invocation, word)]
    fetched = [word for word in run if walker.fetched(word.text, invocation.cwd)]
    if fetched:
        walker.add("run-remote", fetched, invocation.place)
    elif run:
        reason = "opens {targets}, which the desktop may run rather than show"
        walker.add("run", run, invocation.place, reason=reason, rule="run.opened")


def _may_run(walker: Walker, invocation: Invocation, word: Word) -> bool:
    """Tell whether what is opened is neither an address for a browser, nor a folder, nor a document by its name."""
    text = word.text
    scheme = _SCHEME.match(text)
    if scheme is not None and scheme[1].lower() != "file":
        return scheme[1].lower() not in _ADDRESSES
    if scheme is not None:
        text = re.sub(r"^file:(?://[^/]*)?", "", unquote(text))
    name = text.rstrip("/").rpartition("/")[2]
    facts = walker.rater.context.facts.get(absolute(text, invocation.cwd), ())
    if "dir" in facts:
        return name.lower().endswith((".app", ".command"))
    stem, dot, ending = name.rpartition(".")
    if dot and stem.strip("."):
        return ending.lower() not in _DOCUMENTS
    return not (name in _FOLDERS or name == walker.state.home.rpartition("/")[2] or text.endswith("/"))


_READS, _EFFECTS = pattern("command_prompt.reads", re.I), patterns("command_prompt.effects", re.I)


def command_prompt(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """cmd.exe /c LINE: commands of Windows, told apart by `&` and `|`."""
    texts = [word.text for word in invocation.words[1:]]
    at = next((at for at, text in enumerate(texts) if re.match(r"//?[ckr]", text, re.I)), None)
    if at is None:
        line = (invocation.stdin or (None, ""))[0]
    else:
        line = " ".join([re.sub(r"^//?[ckr]", "", texts[at], flags=re.I), *texts[at + 1 :]])
    if not line or not judge_windows(walker, invocation, line):
        walker.add("run", [Word("commands of Windows", *invocation.place)], invocation.place, rule="run.windows")
    return None, ""


_WHERE_IT_LIES = re.compile(r"^(?:(?:\S*\\)?cmd(?:\.exe)?\s+/[ckr]\s+)?(?:\S*\\)?(\S+?)(?:\.exe|\.com)?(?=\s|$)", re.I)


def judge_windows(walker: Walker, invocation: Invocation, line: str) -> bool:
    """Findings for commands of Windows, told apart by `&` and `|`; tells whether all of them only show something."""
    pieces = [_WHERE_IT_LIES.sub(r"\1", piece.strip().strip('"(@ '), count=1) for piece in re.split(r"[&|\n]+", line)]
    for command in pieces:
        for kind, sign in _EFFECTS.items():
            if sign.match(command):
                walker.add(kind, [], invocation.place, rule=f"{kind}.windows")
        if not _READS.match(command) and re.match(r"(?:powershell|pwsh|wsl|bash|curl)(?:\.exe)?\s", command, re.I):
            walker.script(command.replace("\\", "/"), invocation.place, invocation)
    return all(not command or _READS.match(command) for command in pieces)


def windows_program(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """A program of Windows by its name, as WSL, Wine (that of its first word) and PowerShell start it."""
    if (
        not judge_windows(walker, invocation, windows_line(invocation, int(table.name == "wine")))
        or table.name == "wine"
    ):
        walker.add("run", invocation.words[:1], invocation.place, rule="run.windows")
    return None, ""


def windows_line(invocation: Invocation, first: int = 0) -> str:
    """The words from the program on as the command prompt would be given them, that by its plain name."""
    texts = [word.text for word in invocation.words[first:]]
    return " ".join([text.rpartition("/")[2] for text in texts[:1]] + texts[1:])
