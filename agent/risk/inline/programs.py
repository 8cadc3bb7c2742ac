"""Judge the programs that inline code starts, and each text in it that may be a command by a way that nobody has listed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.files import judge_deletions
from agent.risk.inline.origins import first, tell_cut
from agent.risk.inline.texts import joined, listed, q_quoted, sign
from agent.risk.reader.expansions import decode_ansi_c
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word
from agent.risk.tables.store import program as find_program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_FIRST_WORD = LazyPattern(r"\s*(?:[|!>-]{1,2}\s*)?(?:[A-Za-z_]\w*=\S*\s+)*\\?([\w./+-]+)[ \t]+\S")
_LONG_BRACKETS = LazyPattern(r"\[(=*)\[(.{1,2000}?)\]\1\]", re.S)
_LITERALS = LazyPattern(r"%[qQwWx]?(?:\(([^)]*)\)|\{([^}]*)\}|\[([^\]]*)\]|<([^>]*)>|\|([^|]*)\|)")
_WORDS_IN_ANGLES = LazyPattern(r"(?<![\w<])<([\w./-]+(?:[ \t]+[^<>\s]+){1,20})[ \t]*>")
_WORD_LISTS = LazyPattern(  # `["rm" "-rf" "x"]`, with or without commas
    r"""(?:'[\w./~*$:=@%+-]{1,200}'|"[\w./~*$:=@%+-]{1,200}")(?:[\s,]{1,9}(?:'[^'\\\n]{1,200}'|"[^"\\\n]{1,200}")){1,20}"""
)
_RUNS_TEXT = LazyPattern(r"-[a-zA-Z]?[cex]|--(?:[\w-]*-)?(?:command|cmd|exec|execute|eval|run|shell|script|hook)")
_MORE_WORDS = LazyPattern(r"[\s,]+[$@\w(]")
_HOLE = LazyPattern(r"#\{[^{}]*\}|\{\$[^{}]*\}|(?<![+\w%])%[sdr](?!\w)")
_FORMAT_HOLE = LazyPattern(r"(?<![$\\{])\{[^{},\s]*\}(?!\})")
_FORMATS = LazyPattern(r"""\b(?:[rb]?f|fr|s)['"]|\.format\b|format!|\$['"]""")
_ITS_OWN = ("find", "fd", "xargs", "parallel", "awk")  # where braces are a placeholder or code
_LONGEST = 2_000
_DEEPEST = 3
_MOST_WORDS = 20
_LONGEST_INPUT = 20_000
_BARE = LazyPattern(r"[\w\s.,:/@=+-]*")  # without anything that could quote
_CALLED = LazyPattern(r"""\(\s*(['"])([A-Za-z_]\w{2,40})\1\s*\)\s*\(|\[\s*(['"])([A-Za-z_]\w{2,40})\3\s*\]\s*\(""")
_GIVING_AWAY = ("runs", "delete", "eval", "kill", "dynamic")
_NAME = LazyPattern(r"[A-Za-z_][\w.]*")
_STARTS = frozenset(("eval", "exec", "source", "command", "builtin", "trap"))


def judge_suspects(walker: Walker, invocation: Invocation, code: str) -> None:
    """Findings for texts that would be dangerous as commands, and for names that are put together of pieces."""
    whole, _ = joined(code)
    seen: set[str] = set()
    for text in first(walker, invocation, _commands(whole, _DEEPEST)):
        if text not in seen:
            seen.add(text)
            guessing, walker.programs.guessing = walker.programs.guessing, True
            suspect_text(walker, invocation, text)
            walker.programs.guessing = guessing
    if whole != code and _hides_a_name(code, whole):
        reason = "puts the name of what it calls together, which hides it"
        walker.add("run-opaque", [], invocation.place, reason=reason, rule="inline.put-together")


def _hides_a_name(code: str, whole: str) -> bool:
    """Tell whether the code gives itself away, or calls what a text names, only once its texts are put together."""
    return bool(_named(whole) - _named(code)) or len(_CALLED.findall(whole)) > len(_CALLED.findall(code))


def _named(code: str) -> set[str]:
    """The names by which code gives away that it starts programs, deletes or evaluates."""
    found = (match.group() for given in _GIVING_AWAY for match in sign(given).finditer(code))
    return {name[0] for text in found if (name := _NAME.search(text))}


# What makes a text a command in a language that is not read, and the times in front of one for cron.
_MARKED = LazyPattern(
    r"\A\s*(?:%pipe%|[<|!]\s?|@(?:reboot|hourly|daily|weekly|monthly|yearly|annually|midnight)\s+|(?:[\d*][\d*/,-]*\s+){5})"
)
_PIPES = LazyPattern(r"%pipe%([^()]*)")


def _commands(code: str, depth: int) -> Iterator[str]:
    """The texts in `code` that begin like a command, and those within its texts."""
    for text in _texts(code):
        if (" " not in text and "\t" not in text) or len(text) >= _LONGEST:
            continue
        plain = _MARKED.sub("", decode_ansi_c(text) if "\\" in text else text, count=1)
        if is_like_command(plain):
            yield filled(plain, code, begun=True)
        if depth > 1 and plain != code:
            yield from _commands(plain, depth - 1)


def filled(text: str, code: str, *, begun: bool = False) -> str:
    """The command with an unknown part for each that the code puts into it, or behind it: `f"rm -rf {x}"`, `"rm -rf " + x`.

    `begun`: words that are no more than a program and options are the beginning of a command: `paste("rm -rf", x)`.
    """
    if "{" in text or "%" in text:
        text = _HOLE.sub(UNKNOWN, text)
        if "{" in text and _FORMATS.search(code) and not any(name in text for name in _ITS_OWN):
            text = _FORMAT_HOLE.sub(UNKNOWN, text)
    words = text.split()
    is_cut = text[-1:].isspace() or (begun and len(words) > 1 and all(word[0] == "-" for word in words[1:]))
    return f"{text.rstrip()} {UNKNOWN}" if is_cut else text


def is_like_command(text: str) -> bool:
    """Tell whether a text begins with the name of a program that is known, and more behind it."""
    found = _FIRST_WORD.match(text)
    return found is not None and (found[1] in _STARTS or find_program(found[1].rpartition("/")[2]) is not None)


def commands_in(code: str) -> Iterator[str]:
    """The texts in code of a language that is not read that begin like a command."""
    return _commands(joined(code)[0], _DEEPEST)


def _texts(code: str) -> Iterator[str]:
    for match in _PIPES.finditer(code) if "%pipe%" in code else ():
        yield match[1]
    for match in sign("text").finditer(code):
        yield match.group("s")
    if "[[" in code or "[=" in code:
        for match in _LONG_BRACKETS.finditer(code):
            yield match[2]
    if "%" in code:
        for match in _LITERALS.finditer(code):
            yield next(filter(None, match.groups()), "")
    if "q" in code:
        yield from q_quoted(code)
    for match in _WORDS_IN_ANGLES.finditer(code) if "<" in code else ():
        yield match[1]
    for match in _WORD_LISTS.finditer(code):
        more = " " if _MORE_WORDS.match(code, match.end()) else ""
        yield " ".join(found.group("s") for found in sign("text").finditer(match.group())) + more


def judge_given_texts(walker: Walker, invocation: Invocation) -> None:
    """Judge the texts that an unknown program is given or reads as in any code: they may be code in a language of its own."""
    given = [word.text for word in invocation.words[1:_MOST_WORDS] if not _BARE.fullmatch(word.text)]
    for ahead, word in pairwise(invocation.words[:_MOST_WORDS]):  # `-c 'rm -rf ~'`, `--exec='rm -rf ~'`
        option, _, value = word.text.partition("=")
        text = word.text if _RUNS_TEXT.fullmatch(ahead.text) else value if _RUNS_TEXT.fullmatch(option) else ""
        if " " in text and is_like_command(text):
            suspect_text(walker, invocation, text)
    read = (invocation.stdin or ("", ""))[0] or ""
    known = [walker.files.read(word, invocation.cwd) for word in invocation.words[1:_MOST_WORDS]]
    given += [content[0] for content in known if content is not None and content[0]]
    for text in (*given, *([read] if len(read) < _LONGEST_INPUT else [])):
        if " " in text or "," in text:
            judge_suspects(walker, invocation, text)
        if '"' in text or "'" in text:
            before = len(walker.findings)
            judge_deletions(walker, invocation, text, "")
            walker.findings[before:] = [found for found in walker.findings[before:] if found.level is Level.HIGH]


_LONGEST_LIST = 2_000  # characters


def starts_programs(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """Judge the programs that the code starts, as it stands and with its texts put together."""
    _shell_outs(walker, invocation, code, language)
    whole, cut = joined(code)
    if cut:
        tell_cut(walker, invocation)
    if whole != code:
        walker.work.spend(10 + 2 * len(code))
        _shell_outs(walker, invocation, whole, language)
        judge_deletions(walker, invocation, whole, language)


def _executed_lists(code: str) -> Iterator[str]:
    """The insides of the lists that are executed, each looked up from its end: so the openers that end nowhere cost nothing."""
    for end in sign("executed").finditer(code):
        before = code[max(0, end.start() - _LONGEST_LIST) : end.start()]
        for inside in (before.rpartition("]")[2], before):  # the second where a word of the list has a bracket in it
            opener = re.search(r"\[(?=\s*['\"])", inside)
            if opener is not None:
                yield inside[opener.end() :]
                break


def _started(code: str, language: str, program: str) -> Iterator[str]:
    """The commands that code starts, by the calls that do so in its language."""
    yield from (match.group("s") for match in sign("shell").finditer(code))
    for match in sign("backtick").finditer(code):
        yield next(group for group in match.groups() if group)
    if language == "expect" or program in ("tclsh", "wish", "jimsh"):
        for text in re.findall(r"(?:spawn|exec|system)\s+(?:-\w+\s+)*([^\n;]+)", code):
            yield re.sub(r"\{([^{}]*)\}", lambda braced: shlex.quote(braced[1]), text)  # what Tcl quotes with
    yield from listed(code)
    if language in ("gnuplot", "ghci"):
        yield from (match[1] for match in sign("escapes").finditer(code))
    for words in (*(match.group(1) for match in sign("list").finditer(code)), *_executed_lists(code)):
        items = [m.group("s") for m in sign("text").finditer(words)]
        if len(items) > 1:
            yield " ".join(items) + (" " if re.search(r"[$@\w]", sign("text").sub("", words)) else "")


def _shell_outs(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    texts = list(_started(code, language, invocation.words[0].text.rpartition("/")[2]))
    found = fetched = False
    for text in first(walker, invocation, iter(texts)):
        if text in ("child_process", "fs", "os", "fileutils", "w", "r"):
            continue
        found = True
        plain = text.replace("\\'", "'").replace('\\"', '"').replace("\\n", "\n")
        fetched |= "net" in walker.script(filled(plain, code), invocation.place, invocation)[1].split()
    if language == "perl":
        for text in first(walker, invocation, iter(q_quoted(code))):
            suspect_text(walker, invocation, text)
    for match in first(
        walker, invocation, sign("text").finditer(code)
    ):  # whatever the call is named, its text gives it away
        text = match.group("s")
        if " " in text and 4 < len(text) < 2_000 and text not in texts:
            fetched |= "net" in suspect_text(walker, invocation, filled(text, code, begun=True))[1].split()
    if sign("evaluates").search(code) or (fetched and sign("runs_output").search(code)):
        reason = f"evaluates what a program that it starts {'fetches' if fetched else 'prints'}"
        kind = "run-remote" if fetched else "run-opaque"
        walker.add(kind, [], invocation.place, reason=reason, rule="inline.fetched" if fetched else "inline.printed")
    reason = (
        "starts other programs from inline code" if found else "starts programs that cannot be seen from inline code"
    )
    walker.add("run", [Word("other programs", *invocation.place)], invocation.place, reason=reason, rule="inline.runs")


def suspect_text(walker: Walker, invocation: Invocation, text: str) -> Output:
    """Judge a string that may be a command: only high counts, and not that it is no shell. Returns what it would print."""
    before = len(walker.findings)
    output = walker.script(text.strip(" |"), invocation.place, invocation)
    walker.findings[before:] = [
        f
        for f in walker.findings[before:]
        if f.level is Level.HIGH and not f.rule.startswith(("run-opaque", "parse", "unreadable"))
    ]
    return output
