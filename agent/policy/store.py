"""Keep rules made at the prompt: for the session, or in the person's own policy file until they are taken out again.

A rule from the prompt stands between two comment lines of ours; everything outside of them is the person's and is never touched.
Nothing here raises for what a file holds or a disk does: each function returns "" or why nothing was changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from agent.config.paths import make_folder
from agent.config.private_file import closing, replace_file
from agent.policy.files import MAX_BYTES, Unreadable, read_own_text

_BEGIN, _END = "# >>> added at the prompt", "# <<< added at the prompt"


def add_rules(path: str, text: str, *, date: str = "") -> str:
    """Append the rules of `text` (TOML with `[[rule]]` tables) to the file at `path`; "" or why nothing was written.

    The file gets mode 0600 and a missing folder 0700. A crash leaves the old file or the new one. What stands there already
    has to be TOML, and no rule in it may have a name that `text` uses.
    """
    return _rewrite(path, lambda before: appended(before, text, date=date), make=True)


def forget_rule(path: str, name: str) -> str:
    """Take the rule `name` out of the file at `path`; only one that was added at the prompt. "" or why it stays."""
    return _rewrite(path, lambda before: without(before, name), make=False)


def appended(before: str, text: str, *, date: str = "") -> str:
    """`before` with the rules of `text` below it, marked as ours. Raises ValueError."""
    known = rule_names(before, "the policy file")
    new = rule_names(text, "the new rule")
    if not new:
        raise ValueError("there is no [[rule]] in the text")
    if _BEGIN in text or _END in text:
        raise ValueError("the text holds a marker line of the policy file")
    for index, name in enumerate(new):
        if name in known or name in new[:index]:
            raise ValueError(f"there is a rule called {name!r} already; give this one another name")
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    title = f"{_BEGIN}{', ' + date if date else ''}"
    after = f"{before}{gap}{title}\n{text.strip()}\n{_END}\n"
    # Text may close a quote or a table that only the whole file shows, so the whole file is what is checked.
    if rule_names(after, "the policy file with the new rule") != [*known, *new]:
        raise ValueError("the rule does not fit below what the policy file holds")
    return after


def without(before: str, name: str) -> str:
    """`before` without the rule `name`. Raises ValueError where that is none of ours."""
    names = rule_names(before, "the policy file")
    if name not in names:
        raise ValueError(f"there is no rule called {name!r}")
    for start, end in _blocks(before):
        inner = before[start:end]
        if name not in rule_names(_inside(inner), "the policy file"):
            continue
        kept = _without_table(inner, name)
        above = before[:start].removesuffix("\n") if not kept else before[:start]
        after = above + kept + before[end:]
        if rule_names(after, "the policy file without the rule") != [other for other in names if other != name]:
            break
        return after
    raise ValueError(f"the rule {name!r} was not added at the prompt; take it out of the file by hand")


def removable(text: str) -> tuple[str, ...]:
    """Names of the rules that were added at the prompt; () for a text that is no TOML."""
    try:
        rule_names(text, "")
        return tuple(name for start, end in _blocks(text) for name in rule_names(_inside(text[start:end]), ""))
    except ValueError:
        return ()


def rule_names(text: str, what: str) -> list[str]:
    """Names of the `[[rule]]` tables, in order. Raises ValueError that begins with `what` for a text that is no TOML."""
    import tomllib

    try:
        found: Any = tomllib.loads(text).get("rule", [])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} cannot be read as TOML: {error or 'nested too deeply'}") from None
    if not isinstance(found, list) or not all(isinstance(rule, dict) for rule in found):
        raise ValueError(f"{what} has a `rule` that is no [[rule]] table")
    return [str(rule.get("name", "")) for rule in found]


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where our blocks begin and end, marker lines included."""
    for match in re.finditer(rf"^{_BEGIN}[^\n]*\n.*?^{_END}\n?", text, re.DOTALL | re.MULTILINE):
        yield match.span()


def _inside(block: str) -> str:
    return block.partition("\n")[2].rpartition(_END)[0]


def _without_table(block: str, name: str) -> str:
    """`block` without the `[[rule]]` of that name; "" where no other is left."""
    first, _, rest = block.partition("\n")
    inner, _, tail = rest.rpartition(_END)
    starts = [match.start() for match in re.finditer(r"^[ \t]*\[\[[ \t]*rule[ \t]*\]\]", inner, re.MULTILINE)]
    pieces = [inner[a:b] for a, b in zip(starts, [*starts[1:], len(inner)], strict=True)]
    kept = [piece for piece in pieces if rule_names(piece, "the rule") != [name]]
    if not kept:
        return ""
    return f"{first}\n{inner[: starts[0]]}{''.join(kept)}{_END}{tail}"


def _rewrite(path: str, change: Callable[[str], str], *, make: bool) -> str:
    """Read, change and replace in one go, against other processes that do the same."""
    target = os.path.realpath(path)  # a link stays one: people keep their settings elsewhere and link to them
    folder = os.path.dirname(target)
    try:
        if make:
            make_folder(folder)
        with _locked(folder) as locked:
            before = read_own_text(target)
            if before is None and not make:
                return f"there is no policy file at {path}"
            after = change(before or "")
            if len(after.encode("utf-8")) > MAX_BYTES:
                return f"{path} would be larger than {MAX_BYTES >> 10} kB"
            replace_file(target, after.encode())
            with suppress(OSError):  # some file systems cannot; the file itself is safe
                os.fsync(locked)
    except (ValueError, Unreadable) as error:
        return str(error)
    except OSError as error:
        return f"{path} could not be written: {error.strerror or error}"
    return ""


@contextmanager
def _locked(folder: str) -> Iterator[int]:
    import fcntl

    with closing(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as descriptor:
        with suppress(
            OSError
        ):  # a file system without locks: two sessions would have to add a rule in the same instant
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
