"""Judge editors and pagers: opening a file is fine; commands on the line, in files and on standard input are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.origins import feed_findings
from agent.risk.invocations.shells import program_file
from agent.risk.invocations.written_code import judge_language, judge_text
from agent.risk.programs.ex_commands import ExScript, read_ex, read_script
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word, runs_only
from agent.risk.tables.options import Args, split_args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_COMMANDS = ("-c", "--cmd", "--remote-send", "--remote-expr")
_FETCHES = re.compile(r"\burl-(?:insert|retrieve|copy)|\b(?:https?|ftp)://")  # into what is evaluated next
_CODE_FILES = ("-S", "-u", "-U", "-l")
_WRITTEN = ("-w", "-W", "-i", "--startuptime", "--verbose-file")
_NO_FILES = ("NONE", "NORC", "DEFAULTS", "/dev/null")


def editor(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """nano, emacs and their like; emacs' code is judged as a way out."""
    for word in args.values("-l", "--load", "-load", "-script", "--script", "-x", "-L", "--init-directory"):
        program_file(walker, invocation, word)
    for word in args.values("-f", "--funcall", "-funcall"):
        walker.add("run", [word], invocation.place, reason="has the editor run {targets}", rule="editor.function")
        texts = args.values("--eval", "-eval", "-e", "--execute", "-execute")
        if word.text.startswith(("eval-", "load", "emacs-lisp-")) and any(_FETCHES.search(text.text) for text in texts):
            walker.add("run-remote", [word], invocation.place, rule="editor.fetched")
    _opened(walker, invocation, args.operands)
    return None, ""


def vi(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """ed, ex, vim and their like."""
    name = invocation.words[0].text.rpartition("/")[2]
    if table.name != "ed":
        args = split_args([_verbosity(word) for word in invocation.words[1:]], table)
    files = [word for word in args.operands if not word.text.startswith("+")]
    if args.has("-s") and table.name != "ed" and name != "ex" and not args.has("-e", "-E"):
        for word in files[:1]:  # keys, as if they were typed
            program_file(walker, invocation, word)
        files = files[1:]
    for word in args.values(*_CODE_FILES):
        if word.text not in _NO_FILES:
            program_file(walker, invocation, word)
    text = (invocation.stdin or ("", ""))[0]
    if text and any(word.text in ("-", "/dev/stdin") for word in args.values("-l")):  # a script in Lua
        code = f"lua {text}"
        judge_ex(walker, invocation, read_ex(code, ExScript(), 0), Word(code, *invocation.place), [])
    for option in _WRITTEN:
        words = [word for word in args.values(option) if word.text not in _NO_FILES and not word.text.isdigit()]
        walker.add("write", words, invocation.place, invocation=invocation) if words else None
    commands = args.values(*_COMMANDS) + [
        word.part(word.text[1:]) for word in args.operands if word.text.startswith("+")
    ]
    found = ExScript()
    for word in commands:
        judge_ex(walker, invocation, read_ex(re.sub(r"<CR>|<Esc>", "", word.text), found, 0), word, files)
        found = ExScript(opened=found.opened)
    for word in files if table.name == "ed" else []:
        if word.text.startswith("!"):
            judge_ex(walker, invocation, ExScript(commands=[word.text[1:]]), word, [])
    if not any(word.text == "-" for word in files) or table.name == "ed" or name == "ex":
        _typed(walker, invocation, [word for word in files if word.text != "-"])
    _opened(walker, invocation, files)
    return None, ""


def _verbosity(word: Word) -> Word:
    """`-V9FILE` writes what vim does to FILE."""
    found = re.fullmatch(r"-V\d*(.*)", word.text, re.S)
    return word if found is None else word.part(f"--verbose-file={found[1]}" if found[1] else "-V")


def _typed(walker: Walker, invocation: Invocation, files: list[Word]) -> None:
    """Commands on standard input."""
    if invocation.stdin is None:
        return
    text, taint = invocation.stdin
    if text is None or UNKNOWN in text:
        feed_findings(walker, invocation, text, taint)
    if text:
        judge_ex(walker, invocation, read_script(text), Word("what comes in", *invocation.place), files)
        _judge_deleted(walker, invocation, text)


def judge_ex(walker: Walker, invocation: Invocation, found: ExScript, word: Word, files: list[Word]) -> None:
    """Findings for commands of ex."""
    place = invocation.place
    for command in found.commands:
        walker.script(command, place, invocation)
    for deed in found.deeds:
        walker.script(deed, place, invocation)
    for language, code in found.code:
        judge_language(walker, invocation, code, language, word.taint)
    for file in found.files:
        program_file(
            walker, invocation, word.part(found.opened if file == "%" and found.opened else file or "Session.vim")
        )
    if found.unread:
        judge_text(walker, invocation, word.text, word.taint, "vim")
    if found.shell:
        walker.add("shell-escape", [], place)
    for name in found.writes:
        words = [word.part(name)] if name else files
        if words:
            walker.add("modify", words, place, invocation=invocation, rule="editor.write")
    if found.unread or found.code:
        _judge_deleted(walker, invocation, word.text)
    if found.unread or UNKNOWN in word.text:
        reason = f"has the editor do something unknown: {found.unread or word.text}".replace(UNKNOWN, "…")
        walker.add("run", [word], place, reason=reason, rule="editor.command")
    elif found.commands or found.code:
        walker.add("run", [word], place, reason="has the editor run a command", rule="editor.execute")


_DELETING = re.compile(r"\b(?:delete|remove|rm|rmdir|rmtree|unlink|fs_(?:unlink|rmdir|rename))\b")
_PLACES = re.compile(r"(?<=['\"\[])(?:~|/|\$HOME)[\w./~-]*(?=['\"\]\\])|\$HOME\b")


def _judge_deleted(walker: Walker, invocation: Invocation, code: str) -> None:
    """Judge places that code names which is not understood, and which names a function that deletes, however it is called: high counts."""
    if _DELETING.search(code):
        before = len(walker.findings)
        for place in dict.fromkeys(_PLACES.findall(code)[:20]):
            walker.script(f"rm -r {place}", invocation.place, invocation)
        walker.findings[before:] = [one for one in walker.findings[before:] if one.level is Level.HIGH]


def _opened(walker: Walker, invocation: Invocation, files: list[Word]) -> None:
    for word in files:
        if not word.text.startswith("+"):
            walker.add("read", [word], invocation.place, invocation=invocation)
    if invocation.elevated and any(
        walker.rater.scopes.of(word, invocation.cwd) in ("system", "account", "schedule") for word in files
    ):
        walker.add("modify", files, invocation.place, level=Level.MEDIUM, invocation=invocation)


def pager(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """less +'!command', man -P command."""
    for word in invocation.words[1:]:
        if word.text.startswith("+!") or word.text.startswith("+|"):
            walker.script(word.text[2:], invocation.place, invocation)
            walker.add("run", [word], invocation.place, reason="has the pager run a command", rule="pager.execute")
    for word in args.values(*table.script):
        if not runs_only(word.text, ("less", "cat", "more", "most", "bat")):
            walker.script(word.text, invocation.place, invocation)
    return None
