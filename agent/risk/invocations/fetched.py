"""Remember what a command fetches from elsewhere, by the programs that bring it and the names it gets, and find what runs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding
from agent.risk.invocations.confidential import picks_private
from agent.risk.invocations.start_files import WRITING, judge_put
from agent.risk.invocations.written_code import MODULE, RUN
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN, Invocation, Output, join_taint
from agent.risk.tables.names import members, names, pattern
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

PRINTS = members("sources.prints")
SAVES = members("sources.saves")
_UNNAMED = members("sources.unnamed")
_UPLOADS, _COPYING, _NAMING = (names(f"sources.{kind}") for kind in ("uploads", "copies", "naming"))
_CLONES = frozenset(("clone", "checkout", "co"))
_PROGRAM = LazyPattern(
    r"([\w-]+)(?:@[^/]*|\.git|\.tgz|[-\d.]*\.(?:tar\.\w+|whl|zip))?/?$"
)  # that a package most likely brings
_COPIES = ("copy-to", "send")  # of scp, rsync and clients of stores, where they bring something here
_ADDRESS = LazyPattern(r"://|^[\w.-]+@[\w.-]+:|^[\w-]+(?:\.[\w-]+)*:(?!:)")  # of a repository elsewhere
_PIECES = LazyPattern(r"[\s;,'\"()<>|&]+")
_OPENS = LazyPattern(r"(?i)(?:g?open|create|file|pipe):([^,:]+)")  # of socat
_A_NAME = LazyPattern(r"[\w./~@%+*:-]{1,200}")
_MOST = 16
_FIRST = 5  # words in which a sub-command is looked for


def _prints_far(name: str, invocation: Invocation) -> bool:
    """Tell whether what a program prints comes from another machine."""
    if name == "git":
        return any(pattern("sources.elsewhere").search(word.text) for word in invocation.words[1:])
    return _is_told(PRINTS.get(name), invocation)


def with_origin(name: str, invocation: Invocation, output: Output) -> Output:
    """The output of a program, with the origin that its name, and what it is asked for, say."""
    text, taint = output
    taint = join_taint(taint, "net") if _prints_far(name, invocation) else taint
    return text, join_taint(taint, "private") if text is None and picks_private(name, invocation) else taint


def _is_told(verbs: frozenset[str] | None, invocation: Invocation) -> bool:
    return verbs is not None and not verbs.isdisjoint(["*", *[word.text for word in invocation.words[1:_FIRST]]])


def keep_fetched(walker: Walker, name: str, invocation: Invocation, found: list[Finding]) -> None:
    """Remember the files and folders in which a program leaves what comes from elsewhere."""
    if found:
        keep_fetched_folders(walker, invocation, found)
        judge_put(walker, invocation, found)
    if UNKNOWN in invocation.cwd:
        return
    if _is_told(SAVES.get(name), invocation):
        _keep_saved(walker, name, invocation)
    stdin = invocation.stdin
    if found and (
        (stdin is not None and "net" in stdin[1]) or "net" in " ".join([word.taint for word in invocation.words])
    ):
        for one in found:
            if one.effect is not None and one.effect.kind in WRITING:
                walker.downloads |= {absolute(text, invocation.cwd) for text in one.effect.targets}


def _keep_saved(walker: Walker, name: str, invocation: Invocation) -> None:
    from agent.risk.paths.fetched_names import FAR, keep_named

    words = invocation.words[1:]
    texts = list(_named(word.text for word in words))
    typed = (invocation.stdin or ("", ""))[0]
    if typed and len(typed) < 5_000:
        texts += _named(typed.split("\n"))
    verbs = {word.text for word in words[:_FIRST]}
    operands = [word.text for word in words if not word.text.startswith("-")]
    brings = bool({"get", "mget", "reget"}.intersection(texts))
    if not brings and (
        not _UPLOADS.isdisjoint(texts)
        or (not _COPYING.isdisjoint(verbs) and operands and FAR.search(operands[-1]) is not None)
    ):
        return
    walker.work.spend(len(texts))
    keep_named(walker, texts, invocation.cwd)
    told = {word.text.partition("=")[0] for word in words}
    if _is_told(_UNNAMED.get(name), invocation) and _NAMING.isdisjoint(told):
        walker.downloads.add(f"{invocation.cwd}/")


def _named(texts: Iterator[str] | list[str]) -> Iterator[str]:
    """Each word that may name a file or an address: operands, values of options, and the words of a text in a client's own language."""
    for text in texts:
        for piece in _PIECES.split(text) if re.search(r"[\s;]", text) else (text,):
            if piece[:1] == "-":
                given = piece.partition("=")[2] if piece[:2] == "--" else piece[2:]
            else:
                opened = _OPENS.match(piece)
                given = opened[1] if opened else piece
                if "=" in piece and "://" not in piece:
                    yield piece.partition("=")[2]
            if "://" in given or _A_NAME.fullmatch(given):
                yield given


def keep_fetched_folders(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """Remember where a download is unpacked, what is cloned and copied from elsewhere: all below it is code from elsewhere."""
    cwd, home = invocation.cwd, walker.rater.scopes.home
    for one in found:
        kind = one.effect.kind if one.effect is not None else ""
        if kind == "package-install":
            texts = [
                word.text for word in invocation.words[1:] if _ADDRESS.search(word.text) or MODULE.fullmatch(word.text)
            ]
            walker.downloads |= {f"/usr/local/bin/{named[1]}" for text in texts if (named := _PROGRAM.search(text))}
        if kind not in ("vcs-change", "extract", *_COPIES) or UNKNOWN in cwd:
            continue
        operands = [word for word in invocation.words[1:] if not word.text.startswith("-")]
        if kind in _COPIES and len(operands) > 1 and not _ADDRESS.search(operands[-1].text):
            there = operands[-1].text.rstrip("/")
            names = {word.text.rstrip("/").rpartition("/")[2] for word in operands[:-1] if _ADDRESS.search(word.text)}
            below = {f"{there}/{name.rpartition(':')[2]}" for name in names}
            walker.downloads |= {
                f"{absolute(path, cwd)}/" for path in (below if there == "." else below | {there} if names else ())
            }
        if kind == "vcs-change" and not _CLONES.isdisjoint(word.text for word in operands[:2]):
            far = [word for word in operands if _ADDRESS.search(word.text)] or operands[
                2:3
            ]  # `gh repo clone owner/name`
            if far and (operands[0].text == "repo" or _ADDRESS.search(far[0].text)):
                name = far[0].text.rstrip("/").rpartition("/")[2].removesuffix(".git")
                walker.downloads.add(f"{absolute(name if operands[-1] is far[0] else operands[-1].text, cwd)}/")
        elif one.effect is not None and kind == "extract":
            piped = invocation.stdin is not None and "net" in invocation.stdin[1].split()
            if piped or any(walker.fetched(word.text, cwd) for word in invocation.words[1:]):
                places = [f"{home}{text[1:]}" if text[:1] == "~" else text for text in one.effect.targets]
                folders = {f"{absolute(text, cwd)}/" for text in places if not walker.fetched(text, cwd)}
                walker.downloads |= folders or ({f"{cwd}/"} if len(found) == 1 else set())


def judge_fetched(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """A program of any language (`java -jar a.jar`, `go run a.go`) that this command fetches, with whatever is behind it.

    A package that it installs is one as well: it brings programs, and what runs as it is installed.
    """
    if any(one.effect is not None and one.effect.kind == "package-install" for one in found):
        words = [word for word in invocation.words[1:] if walker.fetched(word.text, invocation.cwd)]
        if words:
            reason = "installs {targets}, which this command fetches from elsewhere"
            walker.add("run-remote", words, invocation.place, reason=reason, rule="package-install.fetched")
    if not any(one.rule == "run.subcommand" or (one.effect is not None and one.effect.kind in RUN) for one in found):
        return
    operands = [word for word in invocation.words[1:] if not word.text.startswith("-")][:2]
    for word in operands:
        plain = "." not in word.text.rpartition("/")[2].lstrip(".")  # a name that says nothing of what it holds
        if (plain or pattern("runners.program").search(word.text)) and walker.fetched(word.text, invocation.cwd):
            walker.add("run-remote", [word], invocation.place)
        if "." in word.text or "/" in word.text:
            break
