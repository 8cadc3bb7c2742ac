"""What inline code does to files: deletions, writes, devices, and secrets that it reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.limits import first
from agent.risk.inline.patterns import patterns
from agent.risk.inline.reading import HOME, Reading
from agent.risk.invocations.invocation import Invocation
from agent.risk.shell.words import UNKNOWN, Word
from agent.risk.tables.scopes import PSEUDO_HOME, is_secret

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_GLOBBED = re.compile(
    r"""\b(?:unlink|rmtree|remove_tree|rm_rf?)\b[\s(]*(?:glob|<|Dir(?:\.glob|\[)|glob\.glob)?[\s(<\["']*((?:/|~)[\w./~]*\*[\w.*]*)"""
)


def below_home(walker: Walker, path: str) -> str:
    """The path, with the person's home for a `~` in front."""
    return (walker.state.home or PSEUDO_HOME) + path[1:] if path == HOME or path.startswith(HOME + "/") else path


def judge_deeds(walker: Walker, invocation: Invocation, reading: Reading, before: int) -> None:
    """What the reader of a language saw done to known paths, where no finding from `before` on tells that already."""
    told = {text for found in walker.findings[before:] if found.effect for text in found.effect.targets}
    for deed in reading.deeds:
        path = below_home(walker, deed.path)
        if deed.path not in told or path != deed.path:
            word = Word(path, *invocation.place)
            rule = "" if deed.kind == "read" else f"inline.{deed.kind}"
            level = Level.HIGH if deed.kind == "delete" and deed.deep else None
            walker.add(
                deed.kind, [word], invocation.place, recursive=deed.deep, level=level, rule=rule, invocation=invocation
            )


def judge_deletions(walker: Walker, invocation: Invocation, code: str) -> None:
    for match in re.finditer(r"['\"]([^'\"\n]{1,300})['\"]\s*\)\s*\.\s*deleteDir\b", code):  # new File("x").deleteDir()
        word = Word(match.group(1), *invocation.place)
        walker.add(
            "delete",
            [word],
            invocation.place,
            recursive=True,
            invocation=invocation,
            level=Level.HIGH,
            rule="inline.delete",
        )
    signs = patterns()
    for found in first(walker, invocation, _GLOBBED.finditer(code)):
        word = Word(below_home(walker, found.group(1)), *invocation.place, glob=True)
        walker.add("delete", [word], invocation.place, recursive=True, invocation=invocation, rule="inline.delete")
    matches = list(first(walker, invocation, signs["delete"].finditer(code)))
    if not matches:
        return
    only_a_word = "fs" not in code and _only_a_word(code)
    all_of_it = bool(signs["all"].search(code)) or "recursive: true" in code or "recursive:true" in code
    paths = [m.group("s") for m in signs["string"].finditer(code) if m.group("s")[:1] in ("/", "~")]
    for match in matches:
        name = match.group().split("(")[0].strip()
        if (
            name in ("rm", "rmdir", "unlink")
            and match.group("arg") is None
            and only_a_word
            and not (name != "rm" and match.start() and code[match.start() - 1] == ".")
        ):
            continue
        deep = all_of_it or bool(signs["deep"].search(match.group()))
        target = match.group("s") if match.group("arg") else paths[0] if paths else UNKNOWN
        word = Word(below_home(walker, target or "."), *invocation.place, taint="" if match.group("arg") else "var")
        level = Level.HIGH if deep and match.group("arg") else None
        walker.add(
            "delete", [word], invocation.place, recursive=deep, invocation=invocation, level=level, rule="inline.delete"
        )


def _only_a_word(code: str) -> bool:
    """Whether `rm` in the code is just a word."""
    return not re.search(r"\b(?:rm|rmdir|unlink)\s*[(\s]\s*[$@\w]", code)


def judge_files(walker: Walker, invocation: Invocation, code: str, network: bool) -> None:
    signs = patterns()
    place = invocation.place
    if signs["device"].search(code):
        walker.add("device-write", [], place)
    if signs["write"].search(code):
        words = [
            Word(below_home(walker, m.group("s")), *place)
            for m in first(walker, invocation, signs["write_path"].finditer(code))
        ]
        words = [w for w in words if "{" not in w.text] or [Word(UNKNOWN, *place, taint="var")]
        walker.add("write", words, place, invocation=invocation, rule="inline.write")
    secrets = [m for m in signs["secret"].findall(code) if is_secret(m)]
    if secrets or signs["environment"].search(code):
        words = [Word(text, *place) for text in secrets]
        walker.add("send-secret" if network else "secret", words, place, rule="inline.secret")
