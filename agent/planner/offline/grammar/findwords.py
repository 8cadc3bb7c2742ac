"""Write a set of files as a `find` command, or as the options of `grep -r`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from agent.planner.offline.grammar.intent import Containing, Files
from agent.planner.offline.values import Value, quote_path

MEANING = re.compile(r"[\\.*^$\[\]]")


def root_words(files: Files) -> str:
    """The places to look in, as shell words."""
    return " ".join(quote_path(root.text) for root in files.roots) or "."


def find_words(files: Files, *, with_content: bool = True, inner_only: bool = False) -> str:
    """`find` with all conditions and no action. `inner_only` leaves the folder out that is searched itself."""
    parts = ["find", root_words(files)]
    min_depth = files.min_depth or ("1" if inner_only and files.type in ("d", "any", "") else "")
    if min_depth:
        parts += ["-mindepth", min_depth]
    if files.max_depth:
        parts += ["-maxdepth", files.max_depth]
    if len(files.type) == 1:
        parts += ["-type", files.type]
    parts += name_tests(files.names, nocase=files.nocase and not files.content)
    test = "-iname" if files.nocase and not files.content else "-name"
    parts += [part.replace("{name}", test) if part.startswith("{name}") else part for part in files.tests]
    for folder in files.excluded:
        parts += ["-not", "-path", shlex.quote(folder_glob(folder))]
    if with_content:
        for condition in files.content:
            negation = "-not " if condition.negated else ""
            parts.append(f"{negation}-exec grep -q{grep_words(condition, files.nocase, files.word)} {{}} \\;")
    return " ".join(parts)


def name_tests(names: Sequence[str], *, nocase: bool) -> list[str]:
    """The words of `find` for any of some names."""
    tests = [f"-{'i' * nocase}name {shlex.quote(name)}" for name in names]
    return ["\\(", " -o ".join(tests), "\\)"] if len(tests) > 1 else tests


def folder_glob(folder: str) -> str:
    """The -path pattern of everything below a folder, wherever it is."""
    literal = re.sub(r"([*?\[\]\\])", r"\\\1", folder.removeprefix("./").removeprefix("~/"))
    return f"{literal}/*" if literal.startswith("/") else f"*/{literal}/*"


def grep_words(condition: Containing, nocase: bool, word: bool = False, more: str = "") -> str:
    """Option letters and pattern of a grep, to follow `grep -`; letters come first, without a dash."""
    letters = more + ("i" if nocase else "") + ("w" if word else "")
    texts = condition.texts
    if condition.regex:
        letters += "E"
    elif len(texts) > 1 and all(re.fullmatch(r"[\w ,:-]+", text) for text in texts):
        return f"{letters}E {shlex.quote('|'.join(texts))}"
    elif any(MEANING.search(text) or "\n" in text for text in texts):
        letters += "F"
    if len(texts) > 1 or texts[0].startswith("-"):
        return f"{letters} {' '.join('-e ' + shlex.quote(text) for text in texts)}"
    return f"{letters} {shlex.quote(texts[0])}"


def greppable(files: Files) -> bool:
    """Tell whether `grep -r` alone finds the same files."""
    return (
        files.type in ("", "f", "any")
        and not files.tests
        and not files.max_depth
        and not files.min_depth
        and all("/" not in folder for folder in files.excluded)
    )


def grep_filters(files: Files) -> str:
    """--include and --exclude-dir for a set that is greppable."""
    words = [f" --include={shlex.quote(name)}" for name in files.names]
    words += [f" --exclude-dir={shlex.quote(folder)}" for folder in files.excluded]
    return "".join(words)


def with_filters(grep: str, files: Files) -> str:
    """A `grep -letters PATTERN` with the filters between letters and pattern, where people write them."""
    letters, _, pattern = grep.removeprefix("grep ").partition(" ")
    return f"grep {letters}{grep_filters(files)} {pattern} {root_words(files)}"


def dashed(words: str) -> str:
    """The words of `grep_words` with the dash that the letters need."""
    return f"-{words}" if not words.startswith(" ") else words[1:]


def paths(values: tuple[Value, ...]) -> str:
    """Several given files as shell words."""
    return " ".join(value.render() for value in values)
