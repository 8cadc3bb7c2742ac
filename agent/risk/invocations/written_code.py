"""Judge code that a command writes or fetches itself, and that a program then runs, loads or finds, and where runners get packages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
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
MODULE = LazyPattern(
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
        return MODULE.fullmatch(text) is not None
    if name in ("dagger", "earthly") and _HOSTED.fullmatch(text):
        return True
    if name in ("npx", "bunx", "pnpx", "dlx", "npm", "pnpm", "yarn") and _REPOSITORY.fullmatch(text):
        return True
    return "net" in word.taint or (pattern("runners.address").match(text) is not None and _OWN.match(text) is None)


_SUFFIXES = {
    "python": (".py", "/__init__.py", "/__main__.py"), "node": (".js", ".cjs", ".mjs", "/index.js"), "ruby": (".rb",),
    "perl": (".pm", ".pl"), "php": (".php", ".inc"), "lua": (".lua",), "tclsh": (".tcl",), "Rscript": (".R",),
}  # fmt: skip
RUN = frozenset(("run", "run-unknown"))
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
    run = [one.effect for one in walker.findings[before:] if one.effect is not None and one.effect.kind in RUN]
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
