"""Judge the ways out that many programs share: text for a shell, a program, a file of code, a library."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.gtfobins.effects import add_effect
from agent.risk.invocations.environment import from_elsewhere, is_trusted, others_may_change
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN, Invocation, Word, runs_only
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

Kind = Callable[["Walker", Invocation, Word], None]
"""Judges of an option's value, one for each kind."""


_USUAL = ("ssh", "rsync", "vim", "vi", "nano", "emacs", "gzip", "python3", "python")


def runs(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Rate the program that an option names, which is run: high where others could have put it there."""
    name = invocation.words[0].text.rpartition("/")[2]
    program = word.text.lstrip("|! ").partition(" ")[0]
    level = Level.HIGH if others_may_change(walker, program) else None
    walker.add("run", [word], invocation.place, level=level, reason=f"has {name} run {{targets}}", rule="escape.run")
    if '"' in word.text or "'" in word.text:
        texts(walker, invocation, word)


_XONSH = LazyPattern(r"[$!][\[(]((?:[^\])$!]|[$!](?![\[(]))*)[\])]")  # a command, in the midst of Python
_NU_SAVES = LazyPattern(r"\|\s*save\b(?:\s+-[-\w]+)*\s*")


def texts(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Code or a template in a language that is not read: each text in it that reads as a command; high counts."""
    from agent.risk.inline.programs import commands_in
    from agent.risk.invocations.open_places import raise_open

    before = len(walker.findings)
    for text in islice(commands_in(word.text), _MOST_TEXTS):
        read = f"{text} sh" if text.rstrip()[-1:] == "|" else text  # `source "command|"`: what it prints is obeyed
        walker.script(read, invocation.place, invocation)
    raise_open(walker, None, before)
    walker.findings[before:] = [
        found for found in walker.findings[before:] if found.level is Level.HIGH and not found.rule.startswith(_UNREAD)
    ]


def templates(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Templates among the words, whose functions may run what they are given: `{{ output "sh" "-c" "…" }}`."""
    for other in invocation.words[1:]:
        if "{{" in other.text or "{%" in other.text:
            texts(walker, invocation, other)


_MOST_TEXTS = 20
_UNREAD = ("run-opaque", "parse", "unreadable")


def shell_text(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text.strip():
        name = invocation.words[0].text.rpartition("/")[2]
        text = _XONSH.sub(r"(\1)", word.text) if name == "xonsh" else word.text
        text = _NU_SAVES.sub("| tee ", text) if name == "nu" else text
        walker.script(text, invocation.place, invocation)
        runs(walker, invocation, word)


def argv(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A program with its words; a plain `ssh` is what such options are for."""
    pieces = word.text.replace(",", " ").split()
    if not pieces or runs_only(pieces[0], _USUAL):
        return
    walker.script(word.text.replace(",", " "), invocation.place, invocation)
    apart = [word.part(piece) for piece in word.text.split(",")]
    if any(" " in piece.text for piece in apart[1:]):  # `gcc -wrapper sh,-c,'code of several words'`
        walker.dispatch(invocation.inner(apart, invocation.words[0].text))
    runs(walker, invocation, word)


def rest(walker: Walker, invocation: Invocation, word: Word) -> None:
    texts = [other.text for other in invocation.words]
    rest = invocation.words[texts.index(word.text) :] if word.text in texts else []
    while rest and rest[0].text.startswith("-"):
        rest = rest[1:]
    if rest:
        walker.dispatch(invocation.inner(rest, invocation.words[0].text))
        runs(walker, invocation, rest[0])


def file(walker: Walker, invocation: Invocation, word: Word) -> None:
    from agent.risk.invocations.shells import program_file

    if word.text and word.text not in ("NONE", "/dev/null"):
        program_file(walker, invocation, word)


def path(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A name is one of the program's own; a path is a file of code."""
    if "/" in word.text or not word.known:
        file(walker, invocation, word)


def load(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Code from a file or a folder: high where others could have put it there."""
    if word.text and not is_trusted(walker, word.text):
        loaded(walker, invocation, word, "loads code from {targets}")


_ADDRESS = LazyPattern(r"(?:https?|ftps?|s3|expect|phar)://", re.I)


def loaded(walker: Walker, invocation: Invocation, word: Word, reason: str) -> None:
    fetched = _ADDRESS.match(word.text) is not None
    level = Level.HIGH if fetched or from_elsewhere(walker, word, [word.text]) else None
    walker.add("run", [word], invocation.place, level=level, reason=reason, rule="escape.load")


def library(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Machine code or a module from a file; a bare name is looked up where such things are installed."""
    if "/" in word.text or word.text.endswith((".so", ".dylib")) or not word.known:
        load(walker, invocation, word)


def bang(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Commands of ftp and its like: `!command` runs it here."""
    for command in word.text.replace(";", "\n").splitlines():
        if command.strip().startswith("!"):
            shell_text(walker, invocation, word.part(command.strip()[1:]))


def each_file(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`rg --pre PROGRAM` gives PROGRAM each file that it searches, as find's `-exec` does."""
    found = Word(".", *invocation.place, taint="all")
    walker.dispatch(invocation.inner([word, found], invocation.words[0].text))


def every_line(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`rush 'rm {}'` runs the text for each line of its input; another program of this name has no such text."""
    words = invocation.words[1:]
    while words and words[0].text.startswith("-"):
        words = words[2 if words[0].text in ("-i", "-j", "-d", "-D", "-n", "-r", "-R", "-t", "-T", "-v", "-J") else 1 :]
    text = " ".join(other.text for other in words)
    if " " in text and ("{" in text or " " in words[0].text):
        walker.script(re.sub(r"\{[^{} ]*\}", UNKNOWN, text), invocation.place, invocation)
        runs(walker, invocation, words[0])


def python_code(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`uv run … -`: Python code on standard input."""
    *others, last = invocation.words
    if last.text == "-" and "run" in [other.text for other in others]:
        walker.dispatch(invocation.inner([word.part("python3"), last], "uv"))


def typed(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Code on standard input of something that compiles or interprets it."""
    text, taint = invocation.stdin or ("", "")
    if text and text.strip(UNKNOWN + " \n"):
        from agent.risk.inline import code as inline_code

        inline_code.judge(walker, invocation, text, word.text.rpartition("/")[2], taint)


def saved(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text:
        walker.downloads.add(absolute(word.text, invocation.cwd))


def saves(walker: Walker, invocation: Invocation, word: Word) -> None:
    """The names under which a downloader keeps what it fetches."""
    for other in invocation.words[1:]:
        if not other.text.startswith("-"):
            name = other.text.partition("?")[0].rstrip("/")
            walker.downloads.add(absolute(name.rpartition("/")[2] if "://" in name else name, invocation.cwd))


def shell_of_its_own(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`screen`, `tmux`, `script file`: without a command they open the person's shell."""
    words = invocation.words[1:]
    if word.text.rpartition("/")[2] == "script":
        plain = not any(re.match(r"-\w*c|--command|--version|--help|-V|-h$", other.text) for other in words)
    else:
        plain = not words or (len(words) == 2 and words[0].text in ("-S", "-L"))
    if plain:
        add_effect(walker, invocation, word, "opened")


def typed_bangs(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Lines on standard input of programs that run `!command`; in those of an editor, `w file` writes."""
    text, _ = invocation.stdin or ("", "")
    for line in (text or "").splitlines()[:200]:
        found = re.match(r"\s*[:%\d,$.]*\s*(?:r|w|e|read|write|shell|platform shell)?\s*!\s*(\S.*)", line)
        if found:
            shell_text(walker, invocation, word.part(found.group(1)))
        elif (saved := re.match(r"\s*[:%\d,$.]*\s*w[q!]?\s+([/~.\w][^\s!]*)\s*$", line)) and word.text.rpartition("/")[
            2
        ] in ("ed", "red", "ex"):
            walker.add(
                "write", [word.part(saved.group(1))], invocation.place, invocation=invocation, rule="editor.write"
            )


def piped(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`-o '|command'`: where a file is expected, a command may stand."""
    if word.text.lstrip()[:1] in ("|", "!"):
        shell_text(walker, invocation, word.part(word.text.lstrip()[1:]))


def read_first(walker: Walker, invocation: Invocation, word: Word) -> None:
    operands = [other for other in invocation.words[1:] if not other.text.startswith("-")]
    walker.add("read", operands[:1], invocation.place, invocation=invocation)


def written(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text not in ("", "-"):
        walker.add("write", [word], invocation.place, invocation=invocation)
