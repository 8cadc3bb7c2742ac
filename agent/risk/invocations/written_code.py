"""Judge code that a command writes or fetches itself, and that a program then runs, loads or finds, and where runners get packages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.names import members, pattern
from agent.risk.tables.options import Args
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_VERBS = members("runners.verbs")  # sub-commands that run a package; none where it stands at once
_OPTIONS = members("runners.options")  # options that name one
_SECOND = ("run", "copy", "update", "tool")  # a word more in front of the package: `uv tool run x`, `copier copy x y`
_REPOSITORY = LazyPattern(r"(?!\.|@)[\w.-]+/[\w.-]+(?:#.*)?")  # npm takes `user/name` from GitHub
_MODULE = LazyPattern(
    r"(?!golang\.org/x/)[\w-]+(?:\.[\w-]+)+/[^\s@]+@\S+"
)  # of Go, with a version: fetched for this run
_HOSTED = LazyPattern(r"[\w-]+(?:\.[\w-]+)+/[\w.-]+/.*")
_OWN = LazyPattern(r"https://(?:jsr\.io|deno\.land/std|registry\.npmjs\.org|files\.pythonhosted\.org|pypi\.org)[@/]")


def judge_package_source(walker: Walker, invocation: Invocation, args: Args) -> None:
    """A finding where what is run is named by an address, or by whose repository it is."""
    name = invocation.words[0].text.rpartition("/")[2]
    verbs = _VERBS.get(name)
    if verbs is None:
        return
    operands = args.operands
    if verbs:
        if not operands or operands[0].text not in verbs:
            return
        operands = operands[1:]
    while operands and operands[0].text in _SECOND:
        operands = operands[1:]
    named = [*operands[:1], *args.values(*_OPTIONS.get(name, ()))]
    far = [word for word in named if _is_far(name, word)]
    if far:
        reason = "fetches code from {targets} and runs it"
        walker.add("run-remote", far, invocation.place, reason=reason, rule="run-remote.package")


def _is_far(name: str, word: Word) -> bool:
    text = word.text
    if name == "go":
        return _MODULE.fullmatch(text) is not None
    if name in ("dagger", "earthly") and _HOSTED.fullmatch(text):
        return True
    if name in ("npx", "bunx", "pnpx", "dlx", "npm", "pnpm", "yarn") and _REPOSITORY.fullmatch(text):
        return True
    return "net" in word.taint or (pattern("runners.address").match(text) is not None and _OWN.match(text) is None)


_CLONES = frozenset(("clone", "checkout", "co"))
_PROGRAM = LazyPattern(
    r"([\w-]+)(?:@[^/]*|\.git|\.tgz|[-\d.]*\.(?:tar\.\w+|whl|zip))?/?$"
)  # that a package most likely brings
_COPIES = ("copy-to", "send")  # of scp, rsync and clients of stores, where they bring something here
_ADDRESS = LazyPattern(r"://|^[\w.-]+@[\w.-]+:|^[\w-]+(?:\.[\w-]+)*:(?!:)")  # of a repository elsewhere


_SUFFIXES = {
    "python": (".py", "/__init__.py", "/__main__.py"), "node": (".js", ".cjs", ".mjs", "/index.js"), "ruby": (".rb",),
    "perl": (".pm", ".pl"), "php": (".php", ".inc"), "lua": (".lua",), "tclsh": (".tcl",), "Rscript": (".R",),
}  # fmt: skip
_RUN = frozenset(("run", "run-unknown"))
_NAMED = LazyPattern(r"[\w./-]+")
_MOST_NAMES = 400


def judge_language(walker: Walker, invocation: Invocation, code: str, language: str, taint: str = "") -> None:
    """Code of another language than the shell's; its readers are loaded only where there is some."""
    from agent.risk.inline.code import judge

    judge(walker, invocation, code, language, taint)


def judge_loaded(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """Files that code names, or Python's modules that they hide, which this command has written or fetched: high counts."""
    written = walker.files.written()
    if (not written and not walker.downloads) or UNKNOWN in invocation.cwd:
        return
    suffixes = _SUFFIXES.get(language, ())
    names = _NAMED.findall(code)[:_MOST_NAMES]
    stems = {absolute(name, invocation.cwd) for name in names}
    if language == "python":
        stems |= {absolute(name.replace(".", "/"), invocation.cwd) for name in names}
        stems |= {absolute(name, invocation.cwd) for name in sys.stdlib_module_names}
    modules = {f"{stem}{suffix}" for stem in stems for suffix in suffixes} | {
        stem for stem in stems if stem.endswith(suffixes or ("\0",))
    }
    for path in sorted(walker.downloads & modules):
        walker.add("run-remote", [Word(path, *invocation.place)], invocation.place)
    for path, (text, taint) in written.items():
        if text and text != code and path in modules | stems:
            judge_text(walker, invocation, text, taint, language)


def judge_later(walker: Walker, invocation: Invocation, text: str) -> None:
    """Lines that will run later, by whom nobody looks on: from a folder where everybody may put things, high."""
    before = len(walker.findings)
    walker.script(text, invocation.place, invocation)
    run = [one.effect for one in walker.findings[before:] if one.effect is not None and one.effect.kind in _RUN]
    paths = [path for effect in run for path in effect.targets if walker.rater.scopes.public(absolute(path, "/"))]
    if paths:
        reason = "has {targets} run later, which others could have written by then"
        words = [Word(path, *invocation.place) for path in paths]
        walker.add("persist", words, invocation.place, level=Level.HIGH, reason=reason, rule="persist.open")


def judge_text(walker: Walker, invocation: Invocation, text: str, taint: str, language: str) -> None:
    """Judge the text of a file that is loaded: only that it is high, since loading it at all is told already."""
    before = len(walker.findings)
    judge_language(walker, invocation, text, language, taint)
    walker.findings[before:] = [found for found in walker.findings[before:] if found.level is Level.HIGH]


def keep_fetched_folders(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """Remember where a download is unpacked, what is cloned and copied from elsewhere: all below it is code from elsewhere."""
    cwd, home = invocation.cwd, walker.rater.scopes.home
    for one in found:
        kind = one.effect.kind if one.effect is not None else ""
        if kind == "package-install":
            texts = [
                word.text for word in invocation.words[1:] if _ADDRESS.search(word.text) or _MODULE.fullmatch(word.text)
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
    if not any(one.rule == "run.subcommand" or (one.effect is not None and one.effect.kind in _RUN) for one in found):
        return
    operands = [word for word in invocation.words[1:] if not word.text.startswith("-")][:2]
    for word in operands:
        if pattern("runners.program").search(word.text) and walker.fetched(word.text, invocation.cwd):
            walker.add("run-remote", [word], invocation.place)
        if "." in word.text or "/" in word.text:
            break
