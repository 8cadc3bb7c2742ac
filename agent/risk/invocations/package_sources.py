"""Judge where runners of packages get what they run: by its name from a registry, or from an address or a stranger's repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import Word
from agent.risk.tables.options import Args
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_NODE = ("-p", "--package")
_PYTHON = ("--spec", "--from", "--with", "--with-editable", "--with-requirements")
_RUNNERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # sub-commands that run a package ("" is none at all), and options that name one
    **dict.fromkeys(("npx", "bunx", "pnpx", "dlx"), (("",), _NODE)),
    "npm": (("exec", "x", "create", "init", "innit"), _NODE),
    **dict.fromkeys(("pnpm", "yarn"), (("dlx", "exec", "create"), _NODE)),
    "bun": (("x", "create", "run"), _NODE),
    "deno": (("run", "serve", "test", "bench", "x", "create"), ()),
    "pipx": (("run",), _PYTHON),
    "uvx": (("",), _PYTHON),
    "uv": (("run", "x", "tool"), _PYTHON),
    "nix": (("run", "shell", "develop", "bundle"), ("-f", "--file", "--expr", "--override-input")),
    **dict.fromkeys(("nix-shell", "nix-build"), (("",), ("-I", "--expr"))),
    "go": (("run",), ()),
    **dict.fromkeys(
        ("jbang", "groovy", "scala-cli", "kotlin", "earthly", "cookiecutter", "copier", "amm"), (("",), ())
    ),
    "ansible-pull": (("",), ("-U", "--url")),
    "dagger": (("call", "run", "core"), ("-m", "--mod")),
}
_SECOND = frozenset(
    ("run", "copy", "update", "tool")
)  # a word more in front of the package: `uv tool run x`, `copier copy x y`
_ADDRESS = LazyPattern(
    r"(?:git\+|hg\+|tarball\+)?(?:https?|ssh|git|ftp)://(?!localhost\b|127\.|\[::1\])|git@[\w.-]+:"
    r"|(?:github|gitlab|bitbucket|gist|sourcehut|flake|gh|gl|bb|git):(?!NixOS/)[^/\s]*/?\w|[\w.+-]+ ?@ ?(?:git\+|https?://)",
)
_REPOSITORY = LazyPattern(r"(?!\.|@)[\w.-]+/[\w.-]+(?:#.*)?")  # npm takes `user/name` from GitHub
_MODULE = LazyPattern(
    r"(?!golang\.org/x/)[\w-]+(?:\.[\w-]+)+/[^\s@]+@\S+"
)  # of Go, with a version: fetched for this run
_HOSTED = LazyPattern(r"[\w-]+(?:\.[\w-]+)+/[\w.-]+/.*")
_OWN = LazyPattern(r"https://(?:jsr\.io|deno\.land/std|registry\.npmjs\.org|files\.pythonhosted\.org|pypi\.org)[@/]")


def judge_package_source(walker: Walker, invocation: Invocation, args: Args) -> None:
    """A finding where what is run is named by an address, or by whose repository it is."""
    name = invocation.words[0].text.rpartition("/")[2]
    runner = _RUNNERS.get(name)
    if runner is None:
        return
    verbs, options = runner
    operands = args.operands
    if verbs != ("",):
        if not operands or operands[0].text not in verbs:
            return
        operands = operands[1:]
    while operands and operands[0].text in _SECOND:
        operands = operands[1:]
    named = [*operands[:1], *args.values(*options)]
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
    return "net" in word.taint or (_ADDRESS.match(text) is not None and _OWN.match(text) is None)
