"""Write a rule that tightens from a few words: `deny deleting in ~/photos`, `ask git push`."""

from __future__ import annotations

import re
import shlex

from agent.policy.model import Action, OptionTest, Rule

_DOINGS: dict[str, tuple[str, ...]] = {
    "deleting": ("delete", "delete-empty", "shred", "truncate", "discard", "discard-one"),
    "writing": ("create", "write", "append", "modify", "copy-to", "move", "link", "extract", "truncate", "download"),
    "changing": ("write", "append", "modify", "copy-to", "move", "extract", "truncate", "delete", "shred", "chmod", "chown"),
    "sending": ("send", "send-secret", "push", "force-push", "publish"),
    "downloading": ("download", "run-remote", "run-package"),
    "installing": ("package-install",),
    "removing-packages": ("package-remove", "package-core"),
    "killing": ("kill", "kill-wide"),
    "elevating": ("elevate", "elevate-shell"),
    "reading-secrets": ("secret", "send-secret"),
    "unknown": ("run-unknown",),
}  # fmt: skip
"""Deeds of a command, as people say them, and the effects that each means (docs/effects.md)."""
DOINGS = tuple(_DOINGS)


def rule_from_words(action: Action, text: str, *, taken: tuple[str, ...] = ()) -> Rule:
    """A rule about all that does something (one of `DOINGS`), or about a program and its first words; `in PATH...` at the end limits it.

    `taken`: names that are used already. Raises ValueError, saying what is missing.
    """
    words = shlex.split(text)
    at = len(words) - 1 - words[::-1].index("in") if "in" in words else len(words)
    what, paths = words[:at], tuple(words[at + 1 :])
    if not what or (at < len(words) and not paths):
        raise ValueError(f"name a command, or one of {', '.join(DOINGS)}; then, if you like, `in` and a folder")
    for path in paths:
        if not path.startswith(("/", "~/", "./")):
            raise ValueError(f"{path}: a path begins with /, ~/ or ./ (this workspace)")
    if what[0] in _DOINGS and len(what) > 1:
        raise ValueError(f"{what[0]} says what is done, so only `in` and a folder may follow")
    effects = _DOINGS.get(what[0], ())
    return Rule(
        name=free_name(f"{action} {' '.join(what)}{' in ' if paths else ''}{' '.join(paths)}", taken),
        action=action,
        program=("*",) if effects else (what[0],),
        words=tuple((word,) for word in what[1:] if not word.startswith("-")),
        options=OptionTest(all=tuple(word for word in what[1:] if word.startswith("-"))),
        paths=paths,
        effects=effects,
    )


def free_name(words: str, taken: tuple[str, ...]) -> str:
    """A name for a rule made of `words`, not one of `taken`."""
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:40].strip("-") or "rule"
    name, number = slug, 2
    while name in taken:
        name, number = f"{slug}-{number}", number + 1
    return name
